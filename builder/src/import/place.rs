//! Sources that stand at several places: listed ones, and those drawn at random on the ground of others.

use std::{collections::HashMap, path::Path};

use super::{Import, ImportError, MAX_VERTICES, report::Count, too_many};
use crate::scene::{HeightField, Triangle};
use crate::settings::frame::{Frame, Native, Transform, Unit, Up};
use crate::settings::placement::Scatter;
use crate::settings::{Obstacle, SourceFile};
use crate::util::dice::Dice;
use crate::util::text::{bounded, counted, grouped};
use hardpan_shaders::sort::mix;

/// The most that sources may come to.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// What stands several times.
    pub copies: Limit,
    /// All of it.
    pub all: Limit,
}

/// The most that something may come to; by default there is no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limit {
    /// Triangles.
    pub triangles: Option<u64>,
    /// Bytes that building them may take.
    pub memory: Option<u64>,
}

impl Default for Budget {
    fn default() -> Self {
        let copies = Limit { triangles: Some(2_000_000), memory: None };
        Budget { copies, all: Limit::default() }
    }
}

impl Budget {
    /// Whatever it takes.
    pub const NONE: Budget =
        Budget { copies: Limit { triangles: None, memory: None }, all: Limit { triangles: None, memory: None } };

    /// Stops at more than may be: of copies, and of all. `thin` says how there would be less.
    pub(super) fn holds(&self, path: &Path, copies: &Placed, all: u64, thin: &str) -> Result<(), ImportError> {
        self.copies.holds(path, &format!("{} come to", counted(copies.places, "place")), copies, thin)?;
        self.all.holds(path, "all sources come to", &Placed { places: 0, triangles: all }, "leave something out")
    }
}

impl Limit {
    fn holds(&self, path: &Path, what: &str, sum: &Placed, thin: &str) -> Result<(), ImportError> {
        let (most, then) = match *self {
            Limit { triangles: Some(most), .. } if sum.triangles > most => {
                (grouped(most), format!("allow more: --max-triangles {}", sum.triangles))
            }
            Limit { memory: Some(most), .. } if sum.bytes() > most => {
                (format!("{} MiB", grouped(most >> 20)), "allow more with --memory".into())
            }
            _ => return Ok(()),
        };
        Err(ImportError::input(path, format!("{what} {sum}; {most} are the most"), format!("{thin}, or {then}")))
    }
}

/// Places and triangles of placed sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// How often any source stands somewhere.
    pub places: u64,
    /// Triangles of all places.
    pub triangles: u64,
}

/// Bytes that a triangle takes while its image is built, about.
const BYTES: u64 = 250;
/// Triangles that are built in a second, about.
const A_SECOND: u64 = 400_000;

/// How a file has fewer copies.
#[cfg_attr(not(feature = "fbx"), allow(dead_code))] // formats with copies may be left out
pub(super) const FEWER: &str = "place its objects fewer times";

impl Placed {
    /// Adds what stands so many times: what stands once is no copy.
    #[cfg_attr(not(feature = "fbx"), allow(dead_code))] // formats with copies may be left out
    pub(super) fn add(&mut self, times: u64, triangles: u64) {
        if times > 1 {
            self.places = self.places.saturating_add(times);
            self.triangles = self.triangles.saturating_add(triangles.saturating_mul(times));
        }
    }

    /// Bytes that building them takes, about.
    pub fn bytes(&self) -> u64 {
        self.triangles.saturating_mul(BYTES)
    }

    /// Seconds that building them takes, about.
    pub fn seconds(&self) -> u64 {
        self.triangles.div_ceil(A_SECOND)
    }
}

/// `4,000,000 triangles, about 954 MiB and 10 s to build`.
impl std::fmt::Display for Placed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (triangles, mib) = (counted(self.triangles, "triangle"), grouped(self.bytes().div_ceil(1 << 20)));
        write!(f, "{triangles}, about {mib} MiB and {} s to build", grouped(self.seconds()))
    }
}

/// Whether a source stands otherwise than once, as it lies.
pub fn is_placed(source: &SourceFile) -> bool {
    !source.placed.is_empty() || source.scatter.is_some()
}

fn places(source: &SourceFile) -> u64 {
    source.placed.len() as u64 + source.scatter.as_ref().map_or(0, |s| u64::from(s.number))
}

/// Puts every source at its places.
pub fn place(parts: &mut [Import], sources: &[(&Path, &SourceFile)], budget: &Budget) -> Result<Placed, ImportError> {
    let boxes = parts.iter_mut().zip(sources).filter(|(_, (_, s))| s.obstacle == Some(Obstacle::Box));
    boxes.for_each(|(part, _)| boxed(part));
    // what stands once is no more than it is
    let each = || parts.iter().zip(sources).filter(|(_, (_, s))| places(s) > 1 || s.scatter.is_some());
    let of = |part: &Import, source: &SourceFile| (part.scene.triangles.len() as u64).saturating_mul(places(source));
    let all = Placed {
        places: each().map(|(_, (_, source))| places(source)).sum(),
        triangles: each().fold(0, |sum: u64, (part, (_, source))| sum.saturating_add(of(part, source))),
    };
    let every = |(part, (_, source)): (&Import, &(&Path, &SourceFile))| {
        (part.scene.triangles.len() as u64).saturating_mul(if is_placed(source) { places(source) } else { 1 })
    };
    let whole = parts.iter().zip(sources).map(every).fold(0, u64::saturating_add);
    let worst = each().max_by_key(|(part, (_, source))| of(part, source)).map(|(_, (path, source))| (path, *source));
    let thin = match worst {
        Some((_, SourceFile { scatter: Some(_), .. })) => "draw fewer of it (number)",
        _ => "place fewer of it",
    };
    let thin = format!("{thin}, let boxes stand for it (obstacle = \"box\"), leave it out (include = false)");
    if let Some((path, _)) = worst.or(sources.first().map(|(path, source)| (path, *source))) {
        budget.holds(path, &all, whole, &thin)?;
    }
    // what a file places itself was held to the budget by its reader
    let own = parts.iter().zip(sources).filter(|(_, (_, s))| !(places(s) > 1 || s.scatter.is_some()));
    let own = own.map(|(part, _)| part.copies);
    let all = own.fold(all, |sum, own| Placed {
        places: sum.places + own.places,
        triangles: sum.triangles.saturating_add(own.triangles),
    });
    for (part, (path, source)) in parts.iter_mut().zip(sources).filter(|(_, (_, s))| is_placed(s)) {
        if !part.scene.fields.is_empty() {
            let cause = "a grid of heights lies where it lies, and is not placed several times";
            return Err(ImportError::input(path, cause, "move it with translate"));
        }
        let listed: Vec<(Transform, bool)> = source.placed.iter().map(|p| (p.transform(), p.mirrors())).collect();
        if source.scatter.is_none() {
            stand(part, path, &listed, places(source))?;
        }
    }
    for i in 0..parts.len() {
        let (path, source) = sources[i];
        let Some(scatter) = &source.scatter else { continue };
        let ground = Surface::new(parts, sources, scatter);
        let drawn = draw(path, scatter, &ground)?;
        let listed = source.placed.iter().map(|p| (p.transform(), p.mirrors()));
        let all: Vec<(Transform, bool)> = listed.chain(drawn.into_iter().map(|t| (t, false))).collect();
        stand(&mut parts[i], path, &all, places(source))?;
    }
    Ok(all)
}

/// Puts a box in the place of a mesh, as wide as it is along each axis, with the material of its first face.
fn boxed(part: &mut Import) {
    let scene = &mut part.scene;
    let Some(first) = scene.triangles.first().copied() else { return };
    let none = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    let corners = scene.triangles.iter().flat_map(|t| t.v).map(|v| scene.positions[v as usize]);
    let [low, high] = corners.fold(none, |[low, high], p| {
        [[0, 1, 2].map(|k| f64::min(low[k], p[k])), [0, 1, 2].map(|k| f64::max(high[k], p[k]))]
    });
    // bit k of a corner's number says which end of axis k it has
    scene.positions = (0..8).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { high[k] } else { low[k] })).collect();
    let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [1, 3, 7, 5], [3, 2, 6, 7], [2, 0, 4, 6]];
    let each = sides.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
    scene.triangles = each.map(|v| Triangle { v, ..first }).collect();
    super::forget_unused(scene);
    part.copies = Placed::default();
    (part.triangles, part.vertices) = (vec![scene.triangles.len()], vec![scene.positions.len()]);
    for file in &mut part.report.files {
        file.used.push(Count { what: "boxes", count: 1, first_line: None, objects: None, note: None });
    }
}

/// Copies what a file has to its places.
fn stand(part: &mut Import, path: &Path, at: &[(Transform, bool)], count: u64) -> Result<(), ImportError> {
    let scene = &mut part.scene;
    let (positions, triangles) = (std::mem::take(&mut scene.positions), std::mem::take(&mut scene.triangles));
    if positions.len().saturating_mul(at.len()) > MAX_VERTICES {
        return Err(too_many(path, "all places together have more than 4,294,967,293 vertices"));
    }
    for (transform, mirrors) in at {
        let base = scene.positions.len() as u32;
        scene.positions.extend(positions.iter().map(|p| transform.apply(*p)));
        scene.triangles.extend(triangles.iter().map(|t| {
            let [a, b, c] = t.v.map(|v| v + base);
            Triangle { v: if *mirrors { [a, c, b] } else { [a, b, c] }, ..*t }
        }));
    }
    if scene.triangles.is_empty() {
        // a source that stands nowhere names nothing
        (scene.materials, scene.sources) = Default::default();
    }
    (part.triangles, part.vertices) = (vec![scene.triangles.len()], vec![scene.positions.len()]);
    for file in &mut part.report.files {
        file.used.push(Count { what: "places", count, first_line: None, objects: None, note: None });
    }
    Ok(())
}

/// Ground that things are put on: the highest of some triangles.
struct Surface<'a> {
    parts: Vec<&'a Import>,
    low: [f64; 2],
    cell: f64,
    columns: usize,
    rows: usize,
    /// Triangles by cell: number of the part, and of its triangle.
    cells: Vec<Vec<(u32, u32)>>,
}

impl<'a> Surface<'a> {
    fn new(parts: &'a [Import], sources: &[(&Path, &SourceFile)], scatter: &Scatter) -> Self {
        let is_named = |s: &SourceFile| scatter.on.iter().any(|on| s.name.as_ref() == Some(on) || s.file == *on);
        let is_ground = |s: &SourceFile| {
            let is_on = if scatter.on.is_empty() { !s.is_obstacle() } else { is_named(s) };
            is_on && s.include != Some(false) && s.scatter.is_none()
        };
        let parts: Vec<&Import> =
            parts.iter().zip(sources).filter(|(_, (_, s))| is_ground(s)).map(|(p, _)| p).collect();
        let ends = |axis: usize| {
            let all = scatter.polygon.iter().map(|p| p[axis]);
            all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)])
        };
        let [x, y] = [ends(0), ends(1)];
        let mut near = Vec::new();
        for (p, part) in parts.iter().enumerate() {
            for (i, t) in part.scene.triangles.iter().enumerate() {
                let [a, b] = bounds(part, t);
                if a[0] <= x[1] && b[0] >= x[0] && a[1] <= y[1] && b[1] >= y[0] {
                    near.push((p as u32, i as u32));
                }
            }
        }
        // large triangles lie in many cells
        let mut side = (near.len() as f64).sqrt().ceil().clamp(1.0, 2048.0);
        let grid = |side: f64| {
            let cell = (f64::max(x[1] - x[0], y[1] - y[0]) / side).max(1e-9);
            let count = |[low, high]: [f64; 2]| ((high - low) / cell) as usize + 1;
            Surface {
                parts: parts.clone(),
                low: [x[0], y[0]],
                cell,
                columns: count(x),
                rows: count(y),
                cells: Vec::new(),
            }
        };
        let most = 64 * near.len() + 1_000_000;
        let mut all = grid(side);
        while side > 1.0 && near.iter().map(|one| all.count(*one)).sum::<usize>() > most {
            side = (side / 2.0).floor();
            all = grid(side);
        }
        all.cells = vec![Vec::new(); all.columns * all.rows];
        for (p, i) in near {
            let [[from, below], [to, above]] = all.cells_of((p, i));
            for row in below..=above {
                (from..=to).for_each(|column| all.cells[row * all.columns + column].push((p, i)));
            }
        }
        all
    }

    /// Least and greatest cells that a triangle may lie in.
    fn cells_of(&self, (p, i): (u32, u32)) -> [[usize; 2]; 2] {
        let part = self.parts[p as usize];
        bounds(part, &part.scene.triangles[i as usize]).map(|at| self.cell_of(at))
    }

    /// How many they are.
    fn count(&self, one: (u32, u32)) -> usize {
        let [[from, below], [to, above]] = self.cells_of(one);
        (to - from + 1) * (above - below + 1)
    }

    /// Column and row of the cell of a place, or of the nearest cell.
    fn cell_of(&self, at: [f64; 2]) -> [usize; 2] {
        let along =
            |axis: usize, count: usize| (((at[axis] - self.low[axis]) / self.cell).max(0.0) as usize).min(count - 1);
        [along(0, self.columns), along(1, self.rows)]
    }

    /// The highest ground at a place.
    fn height(&self, at: [f64; 2]) -> Option<f64> {
        let [column, row] = self.cell_of(at);
        let all = self.cells[row * self.columns + column].iter().filter_map(|(p, i)| {
            let scene = &self.parts[*p as usize].scene;
            height(scene.triangles[*i as usize].v.map(|v| scene.positions[v as usize]), at)
        });
        let fields = self.parts.iter().flat_map(|part| &part.scene.fields).filter_map(|field| on_field(field, at));
        all.chain(fields)
            .fold(None, |most: Option<f64>, z| Some(most.map_or(z, |most| if z > most { z } else { most })))
    }
}

/// Least and greatest x and y of a triangle.
fn bounds(part: &Import, t: &Triangle) -> [[f64; 2]; 2] {
    let corners = t.v.map(|v| part.scene.positions[v as usize]);
    let ends = |axis: usize| {
        let [a, b, c] = corners.map(|p| p[axis]);
        [a.min(b).min(c), a.max(b).max(c)]
    };
    let [x, y] = [ends(0), ends(1)];
    [[x[0], y[0]], [x[1], y[1]]]
}

/// The height of a triangle at a place within it.
fn height([a, b, c]: [[f64; 3]; 3], [x, y]: [f64; 2]) -> Option<f64> {
    let side = |p: [f64; 3], q: [f64; 3]| (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]);
    let [u, v, w] = [side(b, c), side(c, a), side(a, b)];
    let sum = u + v + w;
    let within = (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
    (within && sum != 0.0).then(|| (u * a[2] + v * b[2] + w * c[2]) / sum)
}

/// The height of a field at a place, bilinear between its posts.
fn on_field(field: &HeightField, at: [f64; 2]) -> Option<f64> {
    let along = |axis: usize, posts: usize| {
        let v = (at[axis] - field.origin[axis]) / field.pitch;
        let last = posts.checked_sub(2)? as f64;
        let cell = v.floor().min(last);
        (v >= 0.0 && v <= last + 1.0).then_some((cell as usize, v - cell))
    };
    let ((column, u), (row, v)) = (along(0, field.columns)?, along(1, field.rows)?);
    let post = |c: usize, r: usize| field.heights.get((row + r) * field.columns + column + c).copied();
    let [a, b, c, d] = [post(0, 0)?, post(1, 0)?, post(0, 1)?, post(1, 1)?];
    let z = (a * (1.0 - u) + b * u) * (1.0 - v) + (c * (1.0 - u) + d * u) * v;
    (!z.is_nan()).then_some(z)
}

/// Tries in vain, one after the other, after which there is no room.
const TRIES: u32 = 100_000;

/// Draws places of a source.
fn draw(path: &Path, scatter: &Scatter, ground: &Surface) -> Result<Vec<Transform>, ImportError> {
    let mut dice = Dice(mix(u64::from(scatter.seed)));
    let ends = |axis: usize| {
        let all = scatter.polygon.iter().map(|p| p[axis]);
        all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)])
    };
    let [x, y] = [ends(0), ends(1)];
    let mut room = Room { apart: scatter.spacing, taken: HashMap::new() };
    let mut drawn = Vec::with_capacity(scatter.number as usize);
    let (mut tries, mut over_ground) = (0, false);
    while drawn.len() < scatter.number as usize {
        let at = [x, y].map(|[low, high]| low + (high - low) * dice.unit());
        let found = if inside(&scatter.polygon, at) { ground.height(at) } else { None };
        over_ground |= found.is_some();
        let Some(z) = found.filter(|_| room.take(at)) else {
            tries += 1;
            if tries == TRIES {
                return Err(no_room(path, scatter, drawn.len(), over_ground));
            }
            continue;
        };
        tries = 0;
        let turn = 360.0 * dice.unit();
        let factors: Vec<f64> = scatter.scale.iter().map(|[low, high]| low + (high - low) * dice.unit()).collect();
        let scale = if let [x, y, z] = factors[..] { [x, y, z] } else { [factors[0]; 3] };
        let [dx, dy, dz] = scatter.offset;
        let frame = Frame { scale, rotate: turn, translate: [at[0] + dx, at[1] + dy, z + dz], ..Frame::default() };
        drawn.push(frame.transform(&Native::silent(Up::Z, Unit::M)));
    }
    Ok(drawn)
}

fn no_room(path: &Path, scatter: &Scatter, drawn: usize, over_ground: bool) -> ImportError {
    let wanted = counted(scatter.number, "place");
    if !over_ground {
        let on =
            if scatter.on.is_empty() { "any source".into() } else { format!("{:?}", bounded(&scatter.on.join(", "))) };
        let cause = format!("no ground of {on} was found within the polygon, where {wanted} should be drawn");
        return ImportError::input(path, cause, "give a polygon over the ground");
    }
    let cause = format!("there was room for {} of {wanted}, {} m apart", grouped(drawn as u64), scatter.spacing);
    ImportError::input(path, cause, "draw fewer, allow less space between them, or give a larger polygon")
}

/// Whether a place lies in a polygon, by the count of edges to its east.
fn inside(polygon: &[[f64; 2]], [x, y]: [f64; 2]) -> bool {
    let next = polygon.iter().cycle().skip(1);
    polygon.iter().zip(next).fold(false, |is, (a, b)| {
        let crosses = (a[1] > y) != (b[1] > y) && x < (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]) + a[0];
        is ^ crosses
    })
}

/// Places that are taken, by squares of the least distance.
struct Room {
    apart: f64,
    taken: HashMap<[i64; 2], Vec<[f64; 2]>>,
}

impl Room {
    /// Takes a place, if none that is taken lies too near.
    fn take(&mut self, at: [f64; 2]) -> bool {
        if self.apart == 0.0 {
            return true;
        }
        let [column, row] = at.map(|v| (v / self.apart).floor() as i64);
        let near = (-1..=1).flat_map(|i| (-1..=1).map(move |j| [column.saturating_add(i), row.saturating_add(j)]));
        let is_near = |p: &[f64; 2]| {
            let [dx, dy] = [p[0] - at[0], p[1] - at[1]];
            dx * dx + dy * dy < self.apart * self.apart
        };
        let mut others = near.filter_map(|cell| self.taken.get(&cell)).flatten();
        if others.any(is_near) {
            return false;
        }
        self.taken.entry([column, row]).or_default().push(at);
        true
    }
}
