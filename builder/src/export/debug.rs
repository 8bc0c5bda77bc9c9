//! An OBJ to look at: the ground as the kernel sees it, the cells of its index as boxes, pins where queries find ground, and the
//! axes at the zero. It is not for building: the sides of a box would be ground.
//!
//! A cell is a block of the image, which no node divides: what `hardpan info --leaves` counts. Its box has the square of the block, and
//! goes from the lowest to the highest ground of its triangles in that square, and 1/64 of its shorter side farther either way:
//! a box around level ground would have no room else. The group of a box is `cell_` and its number, from 1 on.
//!
//! A pin is asked of the kernel from above: it stands on the topmost ground, along the normal, and has a quarter of the distance between
//! pins along x or along y, whichever is less. Pins stand at the middles of equal parts of the ground's extent.

use super::Obj;
use crate::import::keeps_name;
use crate::lattice::exp2;
use crate::read::{self, Block};
use hardpan::{Answer, Point, Terrain, format::FRACTION};
use std::{
    collections::HashSet,
    io::{self, BufWriter, ErrorKind, Write},
};

/// What the OBJ holds beside the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Debug {
    /// A box for each cell of the index.
    pub cells: bool,
    /// How many pins along x and along y; none if either is 0.
    pub pins: [u32; 2],
    /// Length of the axes at the zero, metres; none if it is 0.
    pub origin: f64,
}

/// A colour of boxes: name, most triangles of a cell, and red, green and blue from 0 to 1.
pub type Colour = (&'static str, u32, [f64; 3]);

/// The colours of VS Terrain.
pub const COLOURS: [Colour; 7] = [
    ("White", 10, [1.0, 1.0, 1.0]),
    ("Green", 15, [0.0, 0.8, 0.0]),
    ("Blue", 20, [0.0, 0.2, 1.0]),
    ("Teal", 25, [0.0, 0.7, 0.7]),
    ("Yellow", 40, [1.0, 0.9, 0.0]),
    ("Purple", 60, [0.6, 0.0, 0.8]),
    ("Red", u32::MAX, [1.0, 0.0, 0.0]),
];

/// What is drawn as lines: names of materials, and their colours.
const LINES: [(&str, [f64; 3]); 4] =
    [("Pin", [1.0, 0.0, 0.0]), ("AxisX", [1.0, 0.0, 0.0]), ("AxisY", [0.0, 0.8, 0.0]), ("AxisZ", [0.0, 0.2, 1.0])];

/// How much a box hides: the ground is seen through it.
const OPACITY: f64 = 0.25;

/// The colour of a cell that names so many triangles, each counted once.
pub fn colour(triangles: u32) -> &'static Colour {
    COLOURS.iter().find(|(_, most, _)| triangles <= *most).unwrap_or(&COLOURS[6])
}

/// How many cells an image has: boxes.
pub fn cells(t: &Terrain) -> u64 {
    let mut count = 0;
    read::tiles(t).for_each(|tile| tile.blocks(|_| count += 1));
    count
}

/// Writes the OBJ of a verified image; `library` is the name of the file that [`write_library`] writes. An image of heights is an
/// error of the kind `Unsupported`.
pub fn write(t: &Terrain, debug: &Debug, library: &str, out: &mut impl Write) -> io::Result<()> {
    if t.header().patch_blocks > 0 {
        return Err(io::Error::new(ErrorKind::Unsupported, super::NoObj::Fields(t.header().patch_blocks)));
    }
    let mut sheet = Sheet { t, out: BufWriter::new(out), vertices: 0 };
    sheet.ground(library)?;
    if debug.cells {
        sheet.cells()?;
    }
    if !debug.pins.contains(&0) {
        sheet.pins(debug.pins)?;
    }
    if debug.origin > 0.0 {
        sheet.axes(debug.origin)?;
    }
    sheet.out.flush()
}

/// Writes the materials: greys for the ground, the colours of boxes, through which the ground is seen, and those of lines.
pub fn write_library(t: &Terrain, out: &mut impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let mut material = |name: &str, [r, g, b]: [f64; 3]| writeln!(out, "newmtl {name}\nKd {r:.3} {g:.3} {b:.3}");
    for (name, m) in Names::new(t).materials.iter().zip(0u64..) {
        material(name, [0.4 + (m * 159 % 256) as f64 / 640.0; 3])?; // neighbours differ
    }
    for (name, colour) in LINES {
        material(name, colour)?;
    }
    for (name, _, [r, g, b]) in COLOURS {
        writeln!(out, "newmtl {name}\nKd {r:.3} {g:.3} {b:.3}\nd {OPACITY}")?;
    }
    out.flush()
}

/// What materials and sources of the ground are called: as in the image, but for those that no OBJ can say, or that are taken.
struct Names {
    materials: Vec<String>,
    sources: Vec<String>,
}

impl Names {
    fn new(t: &Terrain) -> Self {
        let own: Vec<&str> = super::materials(t).collect();
        let reserved = COLOURS.iter().map(|c| c.0).chain(LINES.iter().map(|l| l.0));
        let mut taken: HashSet<String> = reserved.map(String::from).collect();
        let stays: Vec<bool> = own.iter().map(|name| keeps_name(name) && taken.insert(name.to_string())).collect();
        let mut fresh = |name: &str, m: usize| {
            let mut name = if keeps_name(name) { name.to_string() } else { format!("material {m}") };
            while !taken.insert(name.clone()) {
                name += " of the ground";
            }
            name
        };
        let called = |(m, (name, stays)): (usize, (&&str, bool))| if stays { name.to_string() } else { fresh(name, m) };
        let materials = own.iter().zip(stays).enumerate().map(called).collect();
        let source = |(s, name): (usize, &str)| if keeps_name(name) { name.into() } else { format!("source {s}") };
        Names { materials, sources: super::sources(t).enumerate().map(source).collect() }
    }
}

/// The OBJ as far as it is written.
struct Sheet<'a, W: Write> {
    t: &'a Terrain<'a>,
    out: W,
    /// Vertices so far.
    vertices: u64,
}

impl<W: Write> Sheet<'_, W> {
    fn ground(&mut self, library: &str) -> io::Result<()> {
        let (ground, names) = (Obj::ground(self.t), Names::new(self.t));
        let identity: String = self.t.identity().iter().map(|b| format!("{b:02x}")).collect();
        writeln!(self.out, "# The ground as the kernel sees it, to look at and not to build from; metres, z up")?;
        writeln!(self.out, "# identity {identity}\nmtllib {library}")?;
        ground.write_vertices(&mut self.out)?;
        self.vertices = ground.vertices.len() as u64;
        let material = |m: u16| names.materials[usize::from(m)].as_str();
        ground.write_faces(material, |s| names.sources[usize::from(s)].as_str(), &mut self.out)
    }

    fn cells(&mut self) -> io::Result<()> {
        writeln!(self.out, "o cells")?;
        let (t, mut number, mut written) = (self.t, 0u64, Ok(()));
        for tile in read::tiles(t) {
            tile.filled(|block, triangles| {
                number += 1;
                if written.is_ok() {
                    written = self.cell(number, &block, triangles);
                }
            });
        }
        written
    }

    fn cell(&mut self, number: u64, block: &Block, triangles: &[[[i32; 3]; 3]]) -> io::Result<()> {
        let (h, name) = (self.t.header(), colour(block.triangles).0);
        let [low, high] = heights(block, triangles);
        let room = exp2(block.log2[0].min(block.log2[1]) as i32 - 6 + h.xy_log2);
        let plan = |i: usize| {
            [block.low[i], block.low[i] + (1 << block.log2[i])].map(|v| (h.origin[i] + v) as f64 * exp2(h.xy_log2))
        };
        let height = |v: i64| (h.origin[2] + v) as f64 * exp2(h.z_log2);
        let (x, y, z) = (plan(0), plan(1), [height(low) - room, height(high) + room]);
        writeln!(self.out, "g cell_{number}\nusemtl {name}")?;
        for k in 0..8 {
            self.vertex([x[k & 1], y[k >> 1 & 1], z[k >> 2]])?;
        }
        let first = self.vertices - 7;
        for [a, b, c, d] in SIDES.map(|side| side.map(|k| first + k)) {
            writeln!(self.out, "f {a} {b} {c} {d}")?;
        }
        Ok(())
    }

    fn pins(&mut self, [wide, deep]: [u32; 2]) -> io::Result<()> {
        let (t, h) = (self.t, self.t.header());
        let [low, high] = t.bounds();
        let part = |i: usize, n: u32| (high[i] - low[i]) / f64::from(n);
        let length = part(0, wide).min(part(1, deep)) / 4.0;
        writeln!(self.out, "o pins\ng pins\nusemtl Pin")?;
        for j in 0..deep {
            for i in 0..wide {
                let foot = Point { x: middle(t, 0, i, wide), y: middle(t, 1, j, deep), z: 0 };
                let Some(answer) = topmost(t, foot) else { continue };
                let place = |v: i64| v as f64 * exp2(h.xy_log2 - FRACTION as i32);
                let foot = [place(foot.x), place(foot.y), t.z_f64(&answer.hit)];
                let normal = t.normal_f64(&answer.hit);
                self.line(foot, [0, 1, 2].map(|k| foot[k] + length * normal[k]))?;
            }
        }
        Ok(())
    }

    fn axes(&mut self, size: f64) -> io::Result<()> {
        writeln!(self.out, "o origin\ng origin")?;
        for (axis, (name, _)) in LINES[1..].iter().enumerate() {
            writeln!(self.out, "usemtl {name}")?;
            self.line([0.0; 3], [0, 1, 2].map(|k| if k == axis { size } else { 0.0 }))?;
        }
        Ok(())
    }

    fn vertex(&mut self, [x, y, z]: [f64; 3]) -> io::Result<()> {
        self.vertices += 1;
        writeln!(self.out, "v {x} {y} {z}")
    }

    fn line(&mut self, from: [f64; 3], to: [f64; 3]) -> io::Result<()> {
        self.vertex(from)?;
        self.vertex(to)?;
        writeln!(self.out, "l {} {}", self.vertices - 1, self.vertices)
    }
}

/// Sides of a box, counter-clockwise from outside: corner k lies east if bit 0 is set, north if bit 1, up if bit 2.
const SIDES: [[u64; 4]; 6] = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [3, 2, 6, 7], [2, 0, 4, 6], [1, 3, 7, 5]];

/// The middle of part `k` of `n` of the ground's extent along an axis, on the query grid.
fn middle(t: &Terrain, axis: usize, k: u32, n: u32) -> i64 {
    let (h, half) = (t.header(), i128::from(2 * u64::from(k) + 1));
    let extent = i128::from(h.max[axis]) - i128::from(h.min[axis]);
    let within = (extent << FRACTION) * half / (2 * i128::from(n));
    ((h.origin[axis] + i64::from(h.min[axis])) << FRACTION) + within as i64
}

/// The topmost ground over a place.
fn topmost(t: &Terrain, place: Point) -> Option<Answer> {
    let h = t.header();
    let above = (h.origin[2] + i64::from(h.max[2]) + 1) << FRACTION;
    let all = (i64::from(h.max[2]) - i64::from(h.min[2]) + 2) << FRACTION;
    Some(t.segment(Point { z: above, ..place }, all)).filter(Answer::found)
}

/// The lowest and the highest ground of a block in its square, height steps from the origin, rounded outwards.
fn heights(block: &Block, triangles: &[[[i32; 3]; 3]]) -> [i64; 2] {
    let (mut ends, mut all) = ([f64::INFINITY, f64::NEG_INFINITY], [i64::MAX, i64::MIN]);
    for corners in triangles {
        let mut part: Vec<[f64; 3]> = corners.iter().map(|c| c.map(f64::from)).collect();
        for axis in 0..2 {
            let (low, size) = (block.low[axis] as f64, (1i64 << block.log2[axis]) as f64);
            part = cut(&part, axis, low, 1.0);
            part = cut(&part, axis, low + size, -1.0);
        }
        for [.., z] in part {
            ends = [ends[0].min(z), ends[1].max(z)];
        }
        for z in corners.map(|c| i64::from(c[2])) {
            all = [all[0].min(z), all[1].max(z)];
        }
    }
    // of a triangle that only touches the square rounding may leave nothing
    if ends[0] > ends[1] { all } else { [ends[0].floor() as i64, ends[1].ceil() as i64] }
}

/// What of a polygon lies on one side of a line across an axis: `side` is 1 for what lies beyond it, -1 for the rest.
fn cut(part: &[[f64; 3]], axis: usize, line: f64, side: f64) -> Vec<[f64; 3]> {
    let mut kept = Vec::with_capacity(part.len() + 1);
    for (k, a) in part.iter().enumerate() {
        let b = &part[(k + 1) % part.len()];
        let [da, db] = [a, b].map(|p| (p[axis] - line) * side);
        if da >= 0.0 {
            kept.push(*a);
        }
        if da * db < 0.0 {
            let share = da / (da - db);
            let mut p = [0, 1, 2].map(|i| a[i] + share * (b[i] - a[i]));
            p[axis] = line;
            kept.push(p);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vt_109_colours_at_each_edge() {
        let named =
            [(1, "White"), (10, "White"), (11, "Green"), (15, "Green"), (16, "Blue"), (20, "Blue"), (21, "Teal")];
        let rest = [(25, "Teal"), (26, "Yellow"), (40, "Yellow"), (41, "Purple"), (60, "Purple"), (61, "Red")];
        for (triangles, name) in named.into_iter().chain(rest).chain([(u32::MAX, "Red")]) {
            assert_eq!(colour(triangles).0, name, "{triangles}");
        }
    }
}
