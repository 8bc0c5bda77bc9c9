//! A field of heights that keeps a size and an error: its posts and its tolerance are found by trying.
//!
//! Ways from post to post are tried from the widest on: 1, 2, 3, 4, 6, 8, 12 … posts of a field, as many metres over a
//! mesh, and halves of these. The error is that of the posts themselves first, and what is left of it is the tolerance
//! with which they are stored. Each try is a whole image, whose bytes are counted and whose posts are read back.
//!
//! A bilinear cell differs from a triangle or another cell most at corners and along edges. So the error is the
//! largest of all: at posts, and along edges of triangles between borders of cells.

use super::{FieldPosts, Rule, Sampler};
use crate::build::error::{BuildError, Tried, Unfit};
use crate::build::stage::error_quantiles;
use crate::build::stage::raster::least_tolerance;
use crate::build::{Built, build_recorded};
use crate::image::decode;
use crate::image::provenance::Provenance;
use crate::options::{Options, SourceError};
use crate::report::Report;
use crate::scene::{HeightField, Material, Scene};
use crate::settings::FitTo;
use crate::util::exact::exp2;
use crate::util::text::counted;
use hardpan::Terrain;
use hardpan_shaders::Stages;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, Ordering as Memory};

/// Most posts over a mesh, and most along an axis.
const MAX_POSTS: u64 = 1 << 22;
const LONGEST: u64 = 1 << 20;
/// Lattice steps that posts over a mesh lie apart at least.
const LEAST_STEPS: f64 = 16.0;

/// An image that keeps what was asked for, and its numbers.
pub struct Fitted {
    pub built: Built,
    pub tried: Tried,
}

/// The source of a field.
enum Ground<'a> {
    Posts(&'a HeightField),
    Mesh(Box<Sampler<'a>>),
}

/// Posts as they are sampled.
struct Sampled {
    /// With the posts that ground at its border needs.
    field: HeightField,
    /// Which of them lie over ground.
    known: Vec<bool>,
}

/// The largest error of some places.
#[derive(Clone, Copy, Default)]
struct Measured {
    places: u64,
    worst: f64,
    at: [f64; 3],
}

impl Measured {
    fn see(&mut self, off: f64, at: [f64; 3]) {
        *self = self.join(Measured { places: 1, worst: off, at });
    }

    /// Of equal errors that at the least place counts, so that no order matters.
    fn join(self, other: Measured) -> Measured {
        let places = self.places + other.places;
        let order = self.worst.total_cmp(&other.worst);
        let order = order.then(other.at.partial_cmp(&self.at).unwrap_or(Ordering::Equal));
        let one = if self.places == 0 || (other.places > 0 && order == Ordering::Less) { other } else { self };
        Measured { places, ..one }
    }

    fn within(self, limit: f64) -> Option<Measured> {
        (self.places == 0 || self.worst <= limit).then_some(self)
    }
}

/// Heights at the corners of a cell, and its south-western corner in cells.
struct Cell {
    corners: [f64; 4],
    at: [f64; 2],
}

impl Cell {
    fn height(&self, u: [f64; 2]) -> f64 {
        let [s, t] = [0, 1].map(|k| u[k] - self.at[k]);
        let [a, b, c, d] = self.corners;
        (a + (b - a) * s) * (1.0 - t) + (c + (d - c) * s) * t
    }
}

/// A place in cells of a field.
fn along(field: &HeightField, place: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|k| (place[k] - field.origin[k]) / field.pitch)
}

/// Numbers of the cells that touch a place, within what rounding moves a field.
fn touching(field: &HeightField, u: [f64; 2]) -> impl Iterator<Item = [usize; 2]> + use<> {
    let hair = 1e-6 + exp2(-19) / field.pitch;
    let near = move |v: f64| [(v - hair).floor(), (v + hair).floor()];
    let most = [field.columns - 1, field.rows - 1].map(|n| n as f64);
    let all = near(u[1]).into_iter().flat_map(move |j| near(u[0]).map(|i| [i, j]));
    all.filter(move |c| (0..2).all(|k| (0.0..most[k]).contains(&c[k]))).map(|c| c.map(|v| v as usize))
}

/// The corners of a cell with heights at all of them.
fn corners(field: &HeightField, [i, j]: [usize; 2]) -> Option<[f64; 4]> {
    let south = j * field.columns + i;
    let all = [south, south + 1, south + field.columns, south + field.columns + 1].map(|n| field.heights[n]);
    all.iter().all(|z| !z.is_nan()).then_some(all)
}

/// The cell over a place, and the place in its field.
fn over(fields: &[HeightField], place: [f64; 2]) -> Option<(Cell, [f64; 2], &HeightField)> {
    fields.iter().find_map(|field| {
        let u = along(field, place);
        let cell = |c| Some(Cell { corners: corners(field, c)?, at: c.map(|v| v as f64) });
        touching(field, u).find_map(cell).map(|cell| (cell, u, field))
    })
}

/// Height of some fields over a place.
fn height(fields: &[HeightField], place: [f64; 2]) -> Option<f64> {
    over(fields, place).map(|(cell, u, _)| cell.height(u))
}

/// Calls `see` with both ends, as shares, of each part of an edge between borders of cells.
fn parts(field: &HeightField, [p, q]: [[f64; 3]; 2], cuts: &mut Vec<f64>, mut see: impl FnMut(f64, f64)) {
    cuts.clear();
    cuts.extend([0.0, 1.0]);
    let [a, b] = [p, q].map(|v| along(field, [v[0], v[1]]));
    for k in 0..2 {
        let (low, high) = (a[k].min(b[k]), a[k].max(b[k]));
        let borders = (low.floor() as i64 + 1)..(high.ceil() as i64);
        cuts.extend(borders.map(|n| (n as f64 - a[k]) / (b[k] - a[k])).filter(|t| *t > 0.0 && *t < 1.0));
    }
    cuts.sort_unstable_by(f64::total_cmp);
    cuts.windows(2).filter(|w| w[0] < w[1]).for_each(|w| see(w[0], w[1]));
}

fn on([p, q]: [[f64; 3]; 2], t: f64) -> [f64; 3] {
    [0, 1, 2].map(|k| p[k] + (q[k] - p[k]) * t)
}

/// How far fields are from an edge: over a cell that is a square function, which three heights give.
fn edge(fields: &[HeightField], ends: [[f64; 3]; 2], cuts: &mut Vec<f64>, found: &mut Measured) {
    parts(&fields[0], ends, cuts, |from, to| {
        let middle = on(ends, (from + to) / 2.0);
        let Some((cell, _, field)) = over(fields, [middle[0], middle[1]]) else {
            return found.see(f64::INFINITY, middle);
        };
        let place = |t: f64| on(ends, from + (to - from) * t);
        let off = |p: [f64; 3]| cell.height(along(field, [p[0], p[1]])) - p[2];
        let [start, half, end] = [place(0.0), middle, place(1.0)].map(off);
        found.see(start.abs(), place(0.0));
        found.see(end.abs(), place(1.0));
        let (square, linear) = (2.0 * (start + end) - 4.0 * half, 4.0 * half - 3.0 * start - end);
        let top = -linear / (2.0 * square);
        if top > 0.0 && top < 1.0 {
            let top = place(top);
            found.see(off(top).abs(), top);
        }
    });
}

impl Ground<'_> {
    /// Ways from post to post, the widest first: of a field so many of its posts, of a mesh metres.
    fn ladder(&self) -> Result<Vec<f64>, BuildError> {
        let widest = match self {
            Ground::Posts(field) => (field.columns.max(field.rows) - 1) as f64,
            Ground::Mesh(ground) => {
                // the extent in squares of any side
                let [low, high] = ground.squares(1e6)?.extent;
                (high[0] - low[0]).max(high[1] - low[1])
            }
        };
        let all = (-20..=40).rev().flat_map(|e| [1.5 * exp2(e), exp2(e)]).filter(|v| *v <= widest);
        Ok(match self {
            Ground::Posts(_) => all.filter(|v| v.fract() == 0.0).collect(),
            Ground::Mesh(ground) => {
                let least = LEAST_STEPS * exp2(ground.step[0]);
                all.filter(|v| *v >= least).collect()
            }
        })
    }

    /// Posts so far apart; none if they are too many.
    fn sampled(&self, way: f64, stages: &dyn Stages) -> Result<Option<Sampled>, BuildError> {
        match self {
            Ground::Posts(field) => Ok(Some(thinned(field, way as usize))),
            Ground::Mesh(ground) => ground.sampled(way, stages),
        }
    }

    /// The largest error of fields; none if it is more than a limit.
    fn error(&self, fields: &[HeightField], sampled: &Sampled, limit: f64) -> Option<Measured> {
        let join = |a: Measured, b: Measured| Some(a.join(b));
        let post = |of: &HeightField, n: usize| {
            let [x, y] = [n % of.columns, n / of.columns].map(|v| v as f64 * of.pitch);
            [of.origin[0] + x, of.origin[1] + y, of.heights[n]]
        };
        let posts = |of: &HeightField, is_ground: &(dyn Fn(usize) -> bool + Sync)| {
            let row = |j: usize| {
                let mut found = Measured::default();
                for n in (j * of.columns..(j + 1) * of.columns).filter(|n| is_ground(*n)) {
                    let p = post(of, n);
                    let off = height(fields, [p[0], p[1]]).map_or(f64::INFINITY, |z| (z - p[2]).abs());
                    found.see(off, p);
                }
                found.within(limit)
            };
            (0..of.rows).into_par_iter().map(row).try_reduce(Measured::default, join)
        };
        if fields.is_empty() {
            return Measured { places: 1, worst: f64::INFINITY, at: [0.0; 3] }.within(limit);
        }
        match self {
            Ground::Posts(field) => posts(field, &|n| {
                let (i, j) = (n % field.columns, n / field.columns);
                let around = [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().filter(|(a, b)| i >= *a && j >= *b);
                let mut cells = around.map(|(a, b)| [i - a, j - b]);
                cells.any(|c| c[0] + 1 < field.columns && c[1] + 1 < field.rows && corners(field, c).is_some())
            }),
            Ground::Mesh(ground) => {
                let at_posts = posts(&sampled.field, &|n| sampled.known[n])?;
                let faces = |some: &[hardpan_shaders::Face]| {
                    let (mut found, mut cuts) = (Measured::default(), Vec::new());
                    for [a, b, c] in some.iter().map(|f| f.v.map(|v| ground.corner(v))) {
                        [[a, b], [b, c], [c, a]].into_iter().for_each(|e| edge(fields, e, &mut cuts, &mut found));
                    }
                    found.within(limit)
                };
                let along = ground.faces.par_chunks(256).map(faces).try_reduce(Measured::default, join)?;
                Some(at_posts.join(along))
            }
        }
    }
}

impl Sampler<'_> {
    /// A vertex in metres.
    fn corner(&self, v: u32) -> [f64; 3] {
        let steps = [self.step[0], self.step[0], self.step[1]].map(exp2);
        let at = self.vertices[v as usize];
        [0, 1, 2].map(|k| (self.origin[k] + i64::from(at[k])) as f64 * steps[k])
    }

    fn sampled(&self, pitch: f64, stages: &dyn Stages) -> Result<Option<Sampled>, BuildError> {
        let [low, high] = self.squares(1e6)?.extent;
        let numbers = [0, 1].map(|k| [(low[k] / pitch).floor() as i64, (high[k] / pitch).ceil() as i64]);
        let count = numbers.map(|[first, last]| (last - first + 1) as u64);
        if count[0].saturating_mul(count[1]) > MAX_POSTS || count[0].max(count[1]) > LONGEST {
            return Ok(None);
        }
        let [columns, rows] = count.map(|n| n as usize);
        let origin = numbers.map(|n| n[0] as f64 * pitch);
        // posts, and places half way between them
        let halves = |k: usize, n: usize| (0..2 * n - 1).map(|i| origin[k] + i as f64 * pitch / 2.0).collect();
        let twice = FieldPosts { x: halves(0, columns), y: halves(1, rows), pitch: pitch / 2.0 };
        let [x, y] = self.inside(&twice);
        let all = self.at_posts(&x, &y, Rule::Highest, stages, &mut |_| ());
        let half = |i: usize, j: usize| all[j * (2 * columns - 1) + i];
        let heights = (0..columns * rows).map(|n| half(n % columns * 2, n / columns * 2)).collect();
        let field = HeightField { origin, pitch, columns, rows, heights, ..HeightField::default() };
        let needed: Vec<AtomicBool> = field.heights.iter().map(|_| AtomicBool::new(false)).collect();
        self.faces.par_chunks(256).for_each(|some| {
            let mut cuts = Vec::new();
            for [a, b, c] in some.iter().map(|f| f.v.map(|v| self.corner(v))) {
                for ends in [[a, b], [b, c], [c, a]] {
                    parts(&field, ends, &mut cuts, |from, to| {
                        let p = on(ends, (from + to) / 2.0);
                        let u = along(&field, [p[0], p[1]]);
                        if touching(&field, u).all(|c| corners(&field, c).is_none()) {
                            let cell = touching(&field, u).next().into_iter();
                            cell.flat_map(|c| posts_of(columns, c))
                                .for_each(|n| needed[n].store(true, Memory::Relaxed));
                        }
                    });
                }
            }
        });
        let needed: Vec<usize> = (0..needed.len()).filter(|n| needed[*n].load(Memory::Relaxed)).collect();
        Ok(Some(completed(field, needed, half)))
    }
}

/// The posts of a cell.
fn posts_of(columns: usize, [i, j]: [usize; 2]) -> [usize; 4] {
    let south = j * columns + i;
    [south, south + 1, south + columns, south + columns + 1]
}

/// Every so many-th post of a field, from its first on.
fn thinned(field: &HeightField, each: usize) -> Sampled {
    let [columns, rows] = [field.columns, field.rows].map(|n| (n - 1).div_ceil(each) + 1);
    let pitch = field.pitch * each as f64;
    let source = |i: usize, j: usize| match i < field.columns && j < field.rows {
        true => field.heights[j * field.columns + i],
        false => f64::NAN,
    };
    let heights = (0..columns * rows).map(|n| source(n % columns * each, n / columns * each)).collect();
    let thin = HeightField { pitch, columns, rows, heights, blocks: None, ..shape(field) };
    let mut needed = vec![false; columns * rows];
    for (i, j) in (0..field.rows - 1).flat_map(|j| (0..field.columns - 1).map(move |i| (i, j))) {
        if corners(field, [i, j]).is_some() {
            posts_of(columns, [i / each, j / each]).into_iter().for_each(|n| needed[n] = true);
        }
    }
    let needed = (0..needed.len()).filter(|n| needed[*n]).collect();
    let whole = std::slice::from_ref(field);
    let half = |i: usize, j: usize| {
        let at = [(0, i), (1, j)].map(|(k, n)| field.origin[k] + (n * each) as f64 / 2.0 * field.pitch);
        height(whole, at).unwrap_or(f64::NAN)
    };
    completed(thin, needed, half)
}

/// A field without its heights.
fn shape(field: &HeightField) -> HeightField {
    let HeightField { origin, pitch, columns, rows, material, source, tolerance, .. } = *field;
    HeightField { origin, pitch, columns, rows, material, source, tolerance, heights: Vec::new(), blocks: None }
}

/// Gives heights to posts that lie over no ground and are needed by ground beside them: ground goes on straight, from
/// its height half way to the post or else from the next post but one. `half` is the ground at places half as far away.
fn completed(mut field: HeightField, needed: Vec<usize>, half: impl Fn(usize, usize) -> f64 + Sync) -> Sampled {
    let known: Vec<bool> = field.heights.iter().map(|z| !z.is_nan()).collect();
    let (columns, rows) = (field.columns as i64, field.rows as i64);
    let mut left: Vec<usize> = needed.into_iter().filter(|n| !known[*n]).collect();
    let mut is_first = true;
    while !left.is_empty() {
        let at = |i: i64, j: i64| match (0..columns).contains(&i) && (0..rows).contains(&j) {
            true => field.heights[(j * columns + i) as usize],
            false => f64::NAN,
        };
        let mean = |all: &mut dyn Iterator<Item = f64>| {
            let (sum, count) = all.filter(|z| !z.is_nan()).fold((0.0, 0.0), |(sum, n), z| (sum + z, n + 1.0));
            if count > 0.0 { sum / count } else { f64::NAN }
        };
        let straight = |i: i64, j: i64, [dx, dy]: [i64; 2]| {
            let next = at(i + dx, j + dy);
            let middle = half((2 * i + dx) as usize, (2 * j + dy) as usize);
            let other = at(i + 2 * dx, j + 2 * dy);
            if !middle.is_nan() {
                2.0 * middle - next
            } else if !other.is_nan() {
                2.0 * next - other
            } else {
                next
            }
        };
        let found: Vec<f64> = left
            .par_iter()
            .map(|n| {
                let (i, j) = (*n as i64 % columns, *n as i64 / columns);
                let ways = [[-1, 0], [1, 0], [0, -1], [0, 1]];
                if is_first {
                    let beside = ways.into_iter().filter(|[dx, dy]| !at(i + dx, j + dy).is_nan());
                    return mean(&mut beside.map(|way| straight(i, j, way)));
                }
                let corners = [[-1, -1], [1, -1], [-1, 1], [1, 1]];
                let planes = corners.map(|[dx, dy]| at(i + dx, j) + at(i, j + dy) - at(i + dx, j + dy));
                let plane = mean(&mut planes.into_iter());
                let around = ways.into_iter().chain(corners);
                if plane.is_nan() { mean(&mut around.map(|[dx, dy]| at(i + dx, j + dy))) } else { plane }
            })
            .collect();
        let before = left.len();
        let mut rest = Vec::new();
        for (n, z) in left.into_iter().zip(found) {
            if z.is_nan() { rest.push(n) } else { field.heights[n] = z }
        }
        // what has nothing beside it has no height: ground there is lost, and the error without end
        if rest.len() == before && !is_first {
            break;
        }
        (left, is_first) = (rest, false);
    }
    Sampled { field, known }
}

/// Searches a field for a scene.
struct Search<'a> {
    ground: Ground<'a>,
    /// Materials and sources of the field.
    scene: Scene,
    options: &'a Options,
    /// Error of the source itself, in plan and height, metres.
    source_error: [f64; 2],
    provenance: Option<&'a Provenance>,
    stages: &'a dyn Stages,
}

/// Posts so far apart, and their own error.
struct Step {
    sampled: Sampled,
    own: Measured,
    /// The least tolerance with which the format holds them.
    least: f64,
}

impl Search<'_> {
    /// Posts so far apart; none if the format cannot hold them, or their error is more than a limit.
    fn step(&self, way: f64, limit: f64) -> Result<Option<Step>, BuildError> {
        let Some(sampled) = self.ground.sampled(way, self.stages)? else { return Ok(None) };
        if sampled.field.columns < 2 || sampled.field.rows < 2 {
            return Ok(None);
        }
        let own = self.ground.error(std::slice::from_ref(&sampled.field), &sampled, limit);
        let Some(own) = own.filter(|own| own.worst.is_finite()) else { return Ok(None) };
        let least = least_tolerance(&sampled.field, self.options.z_log2);
        Ok(Some(Step { sampled, own, least }))
    }

    /// The image of posts that are stored with an error; none if the format cannot hold it.
    fn built(&self, step: &Step, tolerance: f64) -> Result<Option<Fitted>, BuildError> {
        let Step { sampled, own, .. } = step;
        let rest = [self.source_error[0], self.source_error[1] + own.worst];
        let source_error = Some(SourceError { rest, side: 1.0, squares: Vec::new() });
        let options = Options { source_error, ..self.options.clone() };
        let field = HeightField { tolerance, ..sampled.field.clone() };
        let (pitch, posts) = (field.pitch, field.heights.iter().filter(|z| !z.is_nan()).count() as u64);
        let scene = Scene { fields: vec![field], ..self.scene.clone() };
        let built = match build_recorded(&scene, &options, self.provenance) {
            Err(BuildError::Limit(_)) => return Ok(None),
            built => built?,
        };
        let t = Terrain::open(&built.image).map_err(|e| BuildError::Scene(e.to_string()))?;
        let Some(found) = self.ground.error(&decode::fields(&t), sampled, f64::INFINITY) else { return Ok(None) };
        let (bytes, stated) = (built.image.len() as u64, t.header().error_height);
        let beyond = posts - sampled.known.iter().filter(|known| **known).count() as u64;
        let Measured { places, worst: error, at } = found;
        let tried = Tried { bytes, pitch, tolerance, posts, beyond, error, at, places, stated };
        Ok(Some(Fitted { built, tried }))
    }

    /// The smallest image that keeps an error, or the least error that can be kept. From the first that keeps it on,
    /// narrower posts are tried until an image is twice as large as the smallest.
    fn smallest(&self, most: f64) -> Result<Result<Fitted, Option<Tried>>, BuildError> {
        let (mut best, mut least): (Option<(Fitted, Step)>, Option<Step>) = (None, None);
        for way in self.ground.ladder()? {
            // an error that is no less is of no use
            let less = |l: &Step| (l.own.worst * (1.0 - 1e-9)).max(most);
            let limit = if best.is_some() { most } else { least.as_ref().map_or(f64::INFINITY, less) };
            let Some(step) = self.step(way, limit)? else { continue };
            let Some(made) = self.keeping(&step, most)? else {
                if best.is_none() && least.as_ref().is_none_or(|l| step.own.worst < l.own.worst) {
                    least = Some(step);
                }
                continue;
            };
            match &best {
                Some((best, _)) if made.tried.bytes > 2 * best.tried.bytes => break,
                Some((best, _)) if made.tried.bytes >= best.tried.bytes => {}
                _ => best = Some((made, step)),
            }
        }
        let Some((best, step)) = best else {
            let least = least.map(|step| self.built(&step, step.least)).transpose()?.flatten();
            return Ok(Err(least.map(|made| made.tried)));
        };
        self.finer(&step, best).map(Ok)
    }

    /// The image of posts, with the tolerance that an error leaves them; none if it leaves too little.
    fn keeping(&self, step: &Step, most: f64) -> Result<Option<Fitted>, BuildError> {
        // a height step is for rounding
        let left = most - self.source_error[1] - step.own.worst - exp2(self.options.z_log2);
        let mut tolerance = left.max(step.least);
        loop {
            let made = self.built(step, tolerance)?;
            if let Some(made) = made.filter(|made| made.tried.stated <= most && made.tried.error <= most) {
                return Ok(Some(made));
            }
            if tolerance <= step.least {
                return Ok(None);
            }
            tolerance = (tolerance / 2.0).max(step.least);
        }
    }

    /// The same posts with half the tolerance, as often as that takes no more bytes.
    fn finer(&self, step: &Step, mut made: Fitted) -> Result<Fitted, BuildError> {
        loop {
            let half = (made.tried.tolerance / 2.0).max(step.least);
            let next = if half < made.tried.tolerance { self.built(step, half)? } else { None };
            match next.filter(|next| next.tried.bytes <= made.tried.bytes) {
                Some(next) => made = next,
                None => return Ok(made),
            }
        }
    }

    /// The least error in so many bytes, or the smallest image. At each step the tolerance is doubled until the image
    /// has no more; narrower posts are not tried where that does not help.
    fn nearest(&self, size: u64) -> Result<Result<Fitted, Option<Tried>>, BuildError> {
        let (mut best, mut smallest): (Option<Fitted>, Option<Tried>) = (None, None);
        for way in self.ground.ladder()? {
            let limit = best.as_ref().map_or(f64::INFINITY, |best| best.tried.error);
            let Some(step) = self.step(way, limit)? else { continue };
            let heights = step.sampled.field.heights.iter().filter(|z| !z.is_nan());
            let [low, high] = heights.fold([f64::MAX, f64::MIN], |[low, high], z| [low.min(*z), high.max(*z)]);
            let most = best.as_ref().map_or(high - low, |best| best.tried.error);
            let mut tolerance = step.least;
            let fits = loop {
                if let Some(made) = self.built(&step, tolerance)? {
                    if smallest.is_none_or(|least| made.tried.bytes < least.bytes) {
                        smallest = Some(made.tried);
                    }
                    if made.tried.bytes <= size {
                        if best.as_ref().is_none_or(|best| made.tried.error < best.tried.error) {
                            best = Some(made);
                        }
                        break true;
                    }
                }
                tolerance = (2.0 * tolerance).max(exp2(self.options.z_log2));
                if tolerance > most {
                    break false;
                }
            };
            if !fits {
                break;
            }
        }
        Ok(best.ok_or(smallest))
    }
}

/// The image of a field of heights over a scene that keeps a size, an error, or both: of several the smallest, and
/// without an error the one that is off least. `height_error` is how far the scene is off its files, metres. What the
/// mesh was repaired by stands in the report, and the material of its field is recorded.
///
/// # Errors
///
/// [`BuildError::Fit`] if there is none, with what can be had. [`BuildError::Scene`] for a scene that is neither one
/// height field nor triangles alone.
pub fn fitted(
    scene: &Scene,
    options: &Options,
    to: &FitTo,
    height_error: f64,
    provenance: Option<&mut Provenance>,
    stages: &dyn Stages,
) -> Result<Fitted, BuildError> {
    let of_field = || Scene { materials: scene.materials.clone(), sources: scene.sources.clone(), ..Scene::default() };
    let (ground, of, mesh, error, material) = match (&scene.fields[..], scene.triangles.is_empty()) {
        ([field], true) => (Ground::Posts(field), of_field(), None, [0.0, height_error], None),
        ([], false) => {
            let (ground, report) = Sampler::of_scene(scene, options, stages)?;
            let material = ground.material(to.material.as_deref())?;
            let half = [options.xy_log2, options.z_log2].map(|log2| exp2(log2 - 1));
            let moved = [0, 1].map(|i| report.stitch.moved[i].max(report.weld.moved[i]));
            let error = [half[0] * std::f64::consts::SQRT_2 + moved[0], half[1] + moved[1]];
            let sources = vec![ground.sources.join(", ")];
            let name = material.name.clone();
            let materials = vec![Material { include: true, obstacle: false, undersides: None, ..material }];
            let of = Scene { materials, sources, ..Scene::default() };
            (Ground::Mesh(Box::new(ground)), of, Some(report), error, Some(name))
        }
        (fields, _) => {
            let [fields, triangles] = [(fields.len(), "height field"), (scene.triangles.len(), "triangle")]
                .map(|(n, one)| counted(n as u64, one));
            let text = format!(
                "only one field of heights, or triangles alone, keep a size or an error, and here are {fields} and {triangles}; build them apart, and merge the images"
            );
            return Err(BuildError::Scene(text));
        }
    };
    let provenance = provenance.map(|provenance| {
        if let (Some(fit), Some(name)) = (&mut provenance.settings.fit, material) {
            fit.material = Some(name);
        }
        &*provenance
    });
    let search = Search { ground, scene: of, options, source_error: error, provenance, stages };
    let unfit = |least_size, least_error| {
        let FitTo { size, max_error, .. } = *to;
        BuildError::Fit(Box::new(Unfit { size, max_error, least_size, least_error }))
    };
    let within = |size: Option<u64>| -> Result<Option<Tried>, BuildError> {
        let nearest = size.map(|size| search.nearest(size)).transpose()?;
        Ok(nearest.and_then(Result::ok).map(|made| made.tried))
    };
    let mut fitted = match (to.max_error, to.size) {
        (Some(most), size) => match search.smallest(most)? {
            Ok(made) if size.is_none_or(|size| made.tried.bytes <= size) => made,
            Ok(made) => return Err(unfit(Some(made.tried), within(size)?)),
            Err(least) => {
                let within = if size.is_some() { within(size)? } else { least };
                return Err(unfit(None, within));
            }
        },
        (None, size) => search.nearest(size.unwrap_or(u64::MAX))?.map_err(|least| unfit(least, None))?,
    };
    if let (Some(mesh), Ground::Mesh(ground)) = (mesh, &search.ground) {
        let t = Terrain::open(&fitted.built.image).map_err(|e| BuildError::Scene(e.to_string()))?;
        let error_quantiles = error_quantiles::measure(&t, &ground.places);
        let Report { posts, packed, .. } = std::mem::take(&mut fitted.built.report);
        fitted.built.report = Report { error_quantiles, posts, packed, ..mesh };
    }
    Ok(fitted)
}
