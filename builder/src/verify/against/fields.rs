//! How far an image's height fields are from their source: at posts, and apart from that between posts.
//!
//! Posts are measured from the image, and the ground between them from the source's places, straight up or down.

use super::{Point, Random, SLACK, Surface, fixed, quantiles, spread};
use crate::image::decode::{self, Field};
use hardpan::Terrain;
use hardpan::format::FRACTION;
use hashbrown::HashMap;
use rayon::prelude::*;

/// Cells by which a place may be off its cell, for rounding.
const HAIR: f64 = 1e-6;

/// Places of one kind, and how far the other surface is from them, straight up or down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// Places that were measured.
    pub count: u64,
    /// Those of them that have nothing of the source above or below.
    pub missing: u64,
    /// Differences that 50, 99 and 99.9 % of the places have at most, metres.
    /// Between posts they are of the evenly spread places alone.
    pub quantiles: [f64; 3],
    /// The place with the largest difference, and that, metres.
    pub worst: Option<(Point, f64)>,
}

impl Difference {
    fn see(&mut self, at: Point, off: f64) {
        self.count += 1;
        if !off.is_finite() {
            self.missing += 1;
        } else if self.worst.is_none_or(|(_, worst)| off > worst) {
            self.worst = Some((at, off));
        }
    }
}

/// How far height fields are from their source.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// At posts, as they are stored: all of them, or a seeded share where tiles have more cells than there are samples.
    pub posts: Difference,
    /// At places of the source that lie in a cell with ground, and on no post within the stated error in plan.
    pub between: Difference,
}

/// The part of a height field that a tile holds.
struct Part<'a> {
    field: Field<'a>,
    /// Query steps in a cell, and the query step at which the first cell begins, in x and y.
    pitch: f64,
    first: [f64; 2],
}

impl<'a> Part<'a> {
    fn new(field: Field<'a>) -> Self {
        let patch = field.patch;
        let pitch = 2f64.powi(64) / patch.cells_a_step() as f64;
        let first = [0, 1].map(|i| patch.from(i) as f64 + f64::from(patch.first[i]) * pitch);
        Part { field, pitch, first }
    }

    /// Heights of a cell's corners in query steps, south-west, south-east, north-west and north-east, if all have one.
    fn corners(&self, cell: [u32; 2]) -> Option<[f64; 4]> {
        self.field.cell(cell).map(|corners| corners.map(|z| z as f64))
    }

    /// The height over a place in query steps, and how far the next post is in plan; none where no cell has ground.
    fn over(&self, q: [f64; 2]) -> Option<(f64, f64)> {
        let u = [0, 1].map(|i| (q[i] - self.first[i]) / self.pitch);
        // on a border either cell may be the one with ground
        let near = |v: f64| [(v - HAIR).floor(), (v + HAIR).floor()];
        let cells = near(u[1]).into_iter().flat_map(|j| near(u[0]).map(|i| [i, j]));
        let inside = |c: &[f64; 2]| (0..2).all(|i| (0.0..f64::from(self.field.patch.cells[i])).contains(&c[i]));
        cells.filter(inside).find_map(|[i, j]| {
            let [a, b, c, d] = self.corners([i as u32, j as u32])?;
            let (s, t) = (u[0] - i, u[1] - j);
            let z = (a + (b - a) * s) * (1.0 - t) + (c + (d - c) * s) * t;
            Some((z, (u[0] - u[0].round()).hypot(u[1] - u[1].round()) * self.pitch))
        })
    }
}

/// The parts of height fields, by the numbers of their tile in x and y.
pub struct Fields<'a> {
    tiles: HashMap<[i64; 2], Vec<Part<'a>>>,
    log2: u32,
    /// Query steps that the zero of the source lies from the origin, and metres of one.
    origin: [f64; 3],
    step: [f64; 3],
}

impl<'a> Fields<'a> {
    /// Those of an image that is proven, if it has any.
    pub fn new(terrain: &Terrain<'a>) -> Option<Self> {
        let h = terrain.header();
        let one = 2f64.powi(FRACTION as i32);
        let step = [h.xy_log2, h.xy_log2, h.z_log2].map(|l| 2f64.powi(l) / one);
        let origin = h.origin.map(|v| v as f64 * one);
        let with_fields = decode::tiles(terrain).filter(|tile| tile.head.patch_count > 0);
        let parts =
            with_fields.map(|tile| ([tile.head.x.into(), tile.head.y.into()], tile.fields().map(Part::new).collect()));
        let tiles: HashMap<[i64; 2], Vec<Part>> = parts.collect();
        (!tiles.is_empty()).then_some(Fields { tiles, log2: h.tile_log2 + FRACTION, origin, step })
    }

    /// How far a field is above or below a place, and how far its next post is in plan, metres; none without a field.
    fn off(&self, p: &Point) -> Option<[f64; 2]> {
        let q = [0, 1, 2].map(|i| p[i] / self.step[i] - self.origin[i]);
        let tile = [q[0], q[1]].map(|v| (v.round_ties_even() as i64) >> self.log2);
        let off = |part: &Part| {
            let (z, post) = part.over([q[0], q[1]])?;
            Some([(z - q[2]).abs() * self.step[2], post * self.step[0]])
        };
        self.tiles.get(&tile)?.iter().filter_map(off).min_by(|a, b| a[0].total_cmp(&b[0]))
    }

    /// About so many posts of cells with ground, each once, in a fixed order.
    fn posts(&self, count: usize) -> Vec<Point> {
        let all: f64 =
            self.tiles.values().flatten().map(|p| p.field.patch.cells.map(f64::from).iter().product::<f64>()).sum();
        let share = count as f64 / all;
        let mut posts: Vec<[i64; 3]> = Vec::new();
        for part in self.tiles.values().flatten() {
            let [columns, rows] = part.field.patch.cells;
            for cell in (0..rows).flat_map(|j| (0..columns).map(move |i| [i, j])) {
                let Some(corners) = part.corners(cell) else { continue };
                for (k, z) in (0..).zip(corners) {
                    let at = |i: usize, more: u32| part.first[i] + f64::from(cell[i] + more) * part.pitch;
                    let [x, y] = [at(0, k & 1), at(1, k >> 1)].map(|v| v.round_ties_even() as i64);
                    let seed = (x as u64).rotate_left(32) ^ y as u64;
                    if Random(seed).next() < share {
                        posts.push([x, y, z as i64]);
                    }
                }
            }
        }
        posts.sort_unstable();
        posts.dedup();
        let metres = |c: [i64; 3]| [0, 1, 2].map(|i| (c[i] as f64 + self.origin[i]) * self.step[i]);
        posts.into_iter().map(metres).collect()
    }

    /// Measures posts, about `samples`, against all ground of the source, and these triangles between posts.
    /// A place lies on a post that is within `plan` metres of it.
    pub fn error(&self, triangles: &[[Point; 3]], all: &Surface, samples: usize, plan: f64) -> FieldError {
        let mut posts = Difference::default();
        let measured: Vec<(Point, f64)> = self
            .posts(samples)
            .into_par_iter()
            .map(|p| {
                // a post on the rim may be rounded off the ground
                let off = all.nearest(&p, 0.0).or_else(|| all.nearest(&p, plan + SLACK));
                (p, off.unwrap_or(f64::INFINITY))
            })
            .collect();
        measured.iter().for_each(|&(p, off)| posts.see(p, off));
        posts.quantiles = quantiles(measured.into_iter().map(|(_, off)| off as f32).collect());

        let mut between = Difference::default();
        let off = |p: Point| self.off(&p).filter(|[_, post]| *post > plan + SLACK).map(|[off, _]| (p, off));
        let spread = spread(triangles, samples);
        let parts: Vec<(Difference, Vec<f32>)> = triangles
            .par_iter()
            .enumerate()
            .map(|(number, t)| {
                let (mut part, mut straight) = (Difference::default(), Vec::new());
                fixed(t).into_iter().filter_map(off).for_each(|(p, off)| part.see(p, off));
                for (p, off) in spread(number, t).filter_map(off) {
                    part.see(p, off);
                    straight.push(off as f32);
                }
                (part, straight)
            })
            .collect();
        let mut straight = Vec::new();
        for (part, offs) in parts {
            between.count += part.count;
            if let Some((p, off)) = part.worst.filter(|w| between.worst.is_none_or(|worst| w.1 > worst.1)) {
                between.worst = Some((p, off));
            }
            straight.extend(offs);
        }
        between.quantiles = quantiles(straight);
        FieldError { posts, between }
    }
}
