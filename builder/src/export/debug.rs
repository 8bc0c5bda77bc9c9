//! An OBJ to look at: the ground as the kernel sees it, the cells of its index as boxes, pins where queries find
//! ground, and the axes at the zero. It is not for building: the sides of a box would be ground.
//!
//! A height field is drawn with two triangles for each of its cells, whose corners are the posts. Inside a cell the
//! kernel's ground is bilinear, and no farther from the triangles than a quarter of what the sums of opposite corners
//! differ by.
//!
//! A cell of the index is what no node divides: a leaf, as they are counted. Its box has the square of the cell, and
//! goes from the lowest to the highest ground in that square, and 1/64 of its shorter side farther either way: a box
//! around level ground would have no room else. Where a cell holds no heights, those of its tile count. The group of a
//! box is `cell_` and its number, from 1 on. Its colour tells how many triangles the cell names; of a height field that
//! counts as the cells of it that one query reads, 1 or 4.
//!
//! A pin is asked of the kernel from above: it stands on the topmost ground, along the normal, and has a quarter of the
//! distance between pins along x or along y, whichever is less. Pins stand at the middles of equal parts of the
//! ground's extent.

use super::Obj;
use crate::image::decode;
use crate::image::decode::{Field, Leaf, TileView};
use crate::import::keeps_name;
use crate::util::exact::exp2;
use crate::util::steps::Steps;
use hardpan::{Answer, Point, Terrain, format::FRACTION};
use std::{
    collections::HashSet,
    io::{self, Write},
};

/// The parts of the OBJ beside the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Debug {
    /// A box for each cell of the index.
    pub cells: bool,
    /// How many pins along x and along y; none if either is 0.
    pub pins: [u32; 2],
    /// Length of the axes at the zero, metres; none if it is 0.
    pub origin: f64,
}

/// How such an OBJ begins.
pub const HEAD: &str = "# The ground as the kernel sees it, to look at and not to build from";

impl Debug {
    /// Cells, and ten by ten pins.
    pub const USUAL: Self = Debug { cells: true, pins: [10; 2], origin: 0.0 };
}

/// Counts of the written OBJ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Triangles of the ground, two for a cell of a height field.
    pub triangles: u64,
    /// Boxes.
    pub cells: u64,
    /// Pins that found ground.
    pub pins: u64,
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

/// Materials of lines: names and colours.
const LINES: [(&str, [f64; 3]); 4] =
    [("Pin", [1.0, 0.0, 0.0]), ("AxisX", [1.0, 0.0, 0.0]), ("AxisY", [0.0, 0.8, 0.0]), ("AxisZ", [0.0, 0.2, 1.0])];

/// How much a box hides: the ground is seen through it.
const OPACITY: f64 = 0.25;

/// The colour of a cell with this many triangles, each counted once.
pub fn colour(triangles: u32) -> &'static Colour {
    COLOURS.iter().find(|(_, most, _)| triangles <= *most).unwrap_or(&COLOURS[6])
}

/// How many cells an image has: boxes.
pub fn cells(t: &Terrain) -> u64 {
    decode::tiles(t).map(|tile| tile.leaf_count()).sum()
}

/// Writes the OBJ of a verified image; `library` is the name of the file that [`write_library`] writes.
pub fn write(t: &Terrain, debug: &Debug, library: &str, out: &mut impl Write) -> io::Result<()> {
    Drawing::new(t).write(debug, library, out).map(drop)
}

/// The image data behind an OBJ, as far as it takes memory.
pub struct Drawing<'a> {
    ground: Obj<'a>,
    names: Names,
}

impl<'a> Drawing<'a> {
    /// Reads a verified image.
    pub fn new(t: &'a Terrain<'a>) -> Self {
        Drawing { ground: Obj::ground(t), names: Names::new(t) }
    }

    /// Writes the OBJ, as [`write()`] does.
    pub fn write(&self, debug: &Debug, library: &str, out: &mut impl Write) -> io::Result<Drawn> {
        let mut sheet = Sheet { t: self.ground.t, out, vertices: 0, drawn: Drawn::default() };
        sheet.ground(self, library)?;
        if debug.cells {
            sheet.cells()?;
        }
        if !debug.pins.contains(&0) {
            sheet.pins(debug.pins)?;
        }
        if debug.origin > 0.0 {
            sheet.axes(debug.origin)?;
        }
        Ok(sheet.drawn)
    }
}

/// Writes the materials: greys for the ground, the colours of boxes, through which the ground is seen, and those of
/// lines.
pub fn write_library(t: &Terrain, out: &mut impl Write) -> io::Result<()> {
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
    Ok(())
}

/// Names of materials and sources of the ground: as in the image, unless an OBJ cannot hold them or they are taken.
struct Names {
    materials: Vec<String>,
    sources: Vec<String>,
}

impl Names {
    fn material(&self, m: u16) -> &str {
        self.materials.get(usize::from(m)).map_or("", |name| name)
    }

    fn source(&self, s: u16) -> &str {
        self.sources.get(usize::from(s)).map_or("", |name| name)
    }

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

/// An OBJ that is being written.
struct Sheet<'a, W: Write> {
    t: &'a Terrain<'a>,
    out: W,
    /// Vertices written.
    vertices: u64,
    drawn: Drawn,
}

impl<W: Write> Sheet<'_, W> {
    fn ground(&mut self, Drawing { ground, names }: &Drawing, library: &str) -> io::Result<()> {
        let identity: String = self.t.identity().iter().map(|b| format!("{b:02x}")).collect();
        writeln!(self.out, "{HEAD}; metres, z up")?;
        writeln!(self.out, "# identity {identity}\nmtllib {library}")?;
        ground.write_vertices(&mut self.out)?;
        self.vertices = ground.vertices.len() as u64;
        self.drawn.triangles = ground.triangles.len() as u64;
        ground.write_faces(|m| names.material(m), |s| names.source(s), &mut self.out)?;
        self.fields(names)
    }

    /// Cells of height fields, as two triangles each.
    fn fields(&mut self, names: &Names) -> io::Result<()> {
        let mut written = Ok(());
        for tile in decode::tiles(self.t) {
            let mut rows = Rows::default();
            tile.raster(|field, cell, heights| {
                if written.is_ok() {
                    written = self.field(names, &tile, &mut rows, field, cell, heights);
                }
            });
        }
        written
    }

    fn field(
        &mut self,
        names: &Names,
        tile: &TileView,
        rows: &mut Rows,
        field: &Field,
        cell: [u32; 2],
        heights: [i64; 4],
    ) -> io::Result<()> {
        if rows.start(field.patch.place, cell[1])
            && let Some(a) = tile.palette().get(usize::from(field.patch.attribute))
        {
            writeln!(self.out, "o {}\nusemtl {}", names.source(a.source), names.material(a.material))?;
        }
        let mut corners = [0; 4];
        for (k, corner) in corners.iter_mut().enumerate() {
            let post = [cell[0] + k as u32 % 2, cell[1] + k as u32 / 2];
            let known = rows.post(post);
            if known.is_none_or(|(_, height)| height != heights[k]) {
                let [x, y] = [0, 1].map(|axis| self.query_steps(axis, field.step(axis, post[axis])));
                self.vertex([x, y, self.query_steps(2, heights[k])])?;
                *known = Some((self.vertices, heights[k]));
            }
            *corner = known.map_or(0, |v| v.0);
        }
        self.drawn.triangles += 2;
        let [a, b, c, d] = corners;
        writeln!(self.out, "f {a} {b} {d}\nf {a} {d} {c}")
    }

    /// Query steps from the origin along an axis, as metres.
    fn query_steps(&self, axis: usize, q: i64) -> f64 {
        Steps::of(self.t.header()).query_place(axis, q)
    }

    fn cells(&mut self) -> io::Result<()> {
        writeln!(self.out, "o cells")?;
        let (t, mut written) = (self.t, Ok(()));
        for tile in decode::tiles(t) {
            tile.filled(|leaf| {
                if written.is_ok() {
                    written = self.cell(&tile, &leaf);
                }
            });
        }
        written
    }

    fn cell(&mut self, tile: &TileView, leaf: &Leaf) -> io::Result<()> {
        let (h, name) = (self.t.header(), colour(leaf.references).0);
        let all = || [tile.head.min_z, tile.head.max_z].map(|z| i64::from(z) << FRACTION);
        let [low, high] = heights(leaf).unwrap_or_else(all);
        self.drawn.cells += 1;
        let room = exp2(leaf.log2[0].min(leaf.log2[1]) as i32 - 6 + h.xy_log2);
        let plan = |i: usize| [leaf.low[i], leaf.low[i] + (1 << leaf.log2[i])].map(|v| Steps::of(h).place(i, v));
        let (x, y) = (plan(0), plan(1));
        let z = [self.query_steps(2, low) - room, self.query_steps(2, high) + room];
        writeln!(self.out, "g cell_{}\nusemtl {name}", self.drawn.cells)?;
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
                self.drawn.pins += 1;
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

/// The lowest and the highest ground of a leaf in its square, query steps from the origin, rounded outwards; none if it
/// has none.
fn heights(leaf: &Leaf) -> Option<[i64; 2]> {
    let (mut ends, mut all) = ([i64::MAX, i64::MIN], [i64::MAX, i64::MIN]);
    let widen = |ends: &mut [i64; 2], low: i64, high: i64| *ends = [ends[0].min(low), ends[1].max(high)];
    for corners in leaf.triangles {
        let mut part: Vec<[f64; 3]> = corners.iter().map(|c| c.map(f64::from)).collect();
        for axis in 0..2 {
            let (low, size) = (leaf.low[axis] as f64, (1i64 << leaf.log2[axis]) as f64);
            part = cut(&part, axis, low, 1.0);
            part = cut(&part, axis, low + size, -1.0);
        }
        for [.., z] in part {
            let z = z * exp2(FRACTION as i32);
            widen(&mut ends, z.floor() as i64, z.ceil() as i64);
        }
        for z in corners.map(|c| i64::from(c[2]) << FRACTION) {
            widen(&mut all, z, z);
        }
    }
    for field in leaf.fields {
        let met = |axis: usize| {
            let cells = field.cells(axis, leaf.low[axis], 1 << leaf.log2[axis]);
            cells.start.saturating_sub(1)..cells.end // the one before reaches into the square
        };
        let (x, y) = (met(0), met(1));
        for z in y.flat_map(|j| x.clone().map(move |i| [i, j])).filter_map(|cell| field.cell(cell)).flatten() {
            widen(&mut ends, z, z);
        }
    }
    // of a triangle that only touches the square rounding may leave nothing
    [ends, all].into_iter().find(|ends| ends[0] <= ends[1])
}

/// Two rows of posts of a part of a height field: their vertices and heights.
#[derive(Default)]
struct Rows {
    /// Which part, and which row of cells between the two.
    at: Option<(u32, u32)>,
    rows: [Vec<Option<(u64, i64)>>; 2],
}

impl Rows {
    /// Goes to a row of cells; says whether it is another part.
    fn start(&mut self, place: u32, row: u32) -> bool {
        let other = self.at.is_none_or(|at| at.0 != place);
        if self.at != Some((place, row)) {
            let next = !other && self.at.is_some_and(|at| at.1 + 1 == row);
            self.rows.swap(0, 1);
            self.rows[1].fill(None);
            if !next {
                self.rows[0].fill(None);
            }
            self.at = Some((place, row));
        }
        other
    }

    /// A post beside the row.
    fn post(&mut self, [i, j]: [u32; 2]) -> &mut Option<(u64, i64)> {
        let row = &mut self.rows[usize::from(self.at.is_some_and(|at| at.1 < j))];
        let i = i as usize;
        if row.len() <= i {
            row.resize(i + 1, None);
        }
        &mut row[i]
    }
}

/// The part of a polygon on one side of a line across an axis: `side` is 1 for the part beyond it, -1 for the rest.
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
