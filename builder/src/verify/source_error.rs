//! How far an image is from its source, measured both ways in f64 metres, with code of its own.
//!
//! An error is a pair (h, v): within h in plan of every point of one surface lies a point of the other that is at most v higher
//! or lower. It is measured at every corner, in the middle of every edge and triangle, at seeded places that are spread evenly over the plan, and
//! again in the triangles that were worst. And where the image's ground [ends](super::ends), the source's must.

use super::ends::{Slits, slits};
use super::fields::{FieldError, Fields};
use super::plan::Tri;
use super::shells;
use super::tile::{View, home_triangles};
use crate::options::{Fallback, Options, Undersides};
use crate::scene::{Material, Scene};
use hardpan::format::{TileRecord, section};
use hardpan::{Terrain, Windows};
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use smallvec::SmallVec;
use std::collections::BTreeSet;
use zerocopy::FromBytes;

/// What f64 and the answer's own rounding may add to an error, metres.
pub const SLACK: f64 = 1e-7;
/// Places that are tried again in each of the worst triangles.
const AGAIN: usize = 256;
/// How many of them.
const WORST: usize = 16;
/// Places that are told.
const TOLD: usize = 8;
/// Degrees from a limit, or from upright, within which rounding may decide what is too steep.
const DOUBT: f64 = 1e-5;
/// Triangle tests that the kernel may take for each place of the source, on average; if it takes more, it is asked in every so many-th
/// triangle.
const TESTS: u64 = 128;
/// Triangles in whose middle it is asked how many it takes.
const TRIED: usize = 1 << 10;
/// How far beyond the stated error in plan a surface is looked for, in doublings.
const FARTHER: u32 = 12;

pub type Point = [f64; 3];
/// Error in plan and in height that each tile states, metres, by its numbers in x and y.
type TileErrors = HashMap<[i64; 2], [f64; 2]>;

/// A place and how far the other surface is from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// Where, metres.
    pub at: Point,
    /// Error in height, metres, within the stated error in plan; infinite if nothing is there.
    pub height: f64,
    /// Error in height, metres, that the tile of the place states.
    pub stated: f64,
    /// Error in plan, metres, at which the stated error in height suffices; infinite if that is more than 4,096 times the stated one.
    pub plan: f64,
}

impl Spot {
    /// Whether the error in height is larger than stated.
    pub fn exceeds(&self) -> bool {
        self.height > self.stated + SLACK
    }

    /// Its place, to be compared.
    fn key(&self) -> [u64; 3] {
        self.at.map(|v| (v + 0.0).to_bits()) // one zero
    }

    /// How bad it is: how far the error in height is above the stated one, if it is, then the error, metres.
    fn size(&self) -> [f64; 2] {
        [if self.exceeds() { self.height - self.stated } else { 0.0 }, self.height]
    }
}

/// One surface measured against the other.
#[derive(Clone, Debug, Default)]
pub struct SurfaceError {
    /// Places that were measured.
    pub places: u64,
    /// Places with a larger error than stated.
    pub exceeded: u64,
    /// Those of them that have nothing of the other surface within the stated error in plan: lost or gained ground.
    pub missing: u64,
    /// Of places that have some those farthest above what their tile states first, then those with the largest error, each another
    /// place of another triangle.
    pub worst: Vec<Spot>,
    /// Of places that have none those farthest from ground at their height first, each another place of another triangle.
    pub farthest: Vec<Spot>,
    /// Largest error in height, metres, of places that have some.
    pub height: f64,
    /// Shares of the plan area, 50, 99 and 99.9 %, with at most this error straight up or down, metres.
    pub quantiles: [f64; 3],
    /// Triangles in whose middle the other surface is of other materials alone, by their names: none where it has nothing there.
    pub other: OtherMaterial,
}

impl SurfaceError {
    /// Places with a larger error than stated, where the other surface is at another height.
    pub fn moved(&self) -> u64 {
        self.exceeded - self.missing
    }
}

/// Source triangles without ground of their own, for one reason.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// Why.
    pub cause: &'static str,
    /// How many.
    pub triangles: u64,
    /// Their area in plan, square metres.
    pub plan_area: f64,
    /// The first of them: its first corner.
    pub first: Option<Point>,
}

/// What a comparison found.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// Error that the head states, in plan and in height, metres.
    pub stated: [f64; 2],
    /// The source, from which the image is measured: what was lost.
    pub source: SurfaceError,
    /// The image, from which the source is measured: what was gained.
    pub image: SurfaceError,
    /// Source triangles that the image has no ground for, by cause.
    pub lost: Vec<LeftOut>,
    /// Where the image's ground ends inside the source's.
    pub slits: Slits,
    /// How far its height fields are from the source, if it has any.
    pub fields: Option<FieldError>,
}

/// Triangles of another material than the other surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtherMaterial {
    /// How many.
    pub triangles: u64,
    /// The first of them, by the place of its middle: that, and the names of its material and of one of the other surface.
    pub first: Option<(Point, String, String)>,
}

impl Agreement {
    /// Whether no place has a larger error than the image states for its tile, no triangle another material, and no ground a slit.
    pub fn holds(&self) -> bool {
        self.slits.lost == 0 && [&self.source, &self.image].iter().all(|side| side.exceeded + side.other.triangles == 0)
    }
}

/// Measures an image against its source, in about `samples` places spread over the plan, and in corners and edges.
///
/// The image must be proven. `rules` say which triangles are no ground: undersides, and those that are too steep. Patches count where the source's heights are asked for, and not the other way round.
///
/// The kernel is asked what lies straight above and below places of the source; where its answers take more than 128 tests on average, in
/// every so many-th triangle, and else the image's triangles are.
pub fn source_error(terrain: &Terrain, scene: &Scene, rules: &Options, samples: usize) -> Agreement {
    let h = terrain.header();
    let (image, errors) = image_of(terrain);
    let Sorted { kept, stays, lost } = sort_out(terrain, scene, rules);
    let (kept, of): (Vec<_>, Vec<_>) = kept.into_iter().unzip();
    let stated = |p: &Point| -> [f64; 2] {
        let tile = |i: usize| (((p[i] * 2f64.powi(-h.xy_log2)).round_ties_even() as i64) - h.origin[i]) >> h.tile_log2;
        errors.get(&[tile(0), tile(1)]).copied().unwrap_or([h.error_plan, h.error_height])
    };
    let ground = scene.triangles.iter().zip(stays);
    let all = ground.filter_map(|(t, material)| Some((t.v.map(|v| scene.positions[v as usize]), material?)));
    let all = all.filter(|(t, _)| t.iter().flatten().all(|v| v.is_finite())).collect();
    let (image, all) = (Surface::new(image), Surface::new(all));
    let fallback = Fallback::Miss as u32;
    let options = hardpan::Options { windows: Windows { near: i64::MAX >> 2, far: i64::MAX >> 2 }, fallback };
    let every = every(terrain, &kept);
    let ask = |number: usize, p: &Point| {
        if !number.is_multiple_of(every) {
            return image.nearest(p, 0.0);
        }
        let answer = terrain.closest_with(*p, &options);
        answer.found().then(|| (terrain.z_f64(&answer.hit) - p[2]).abs())
    };
    let none = |_, p: &Point| all.nearest(p, 0.0);
    let name = |m: u16| terrain.material_name(m);
    let source_name = |m: u16| scene.materials[usize::from(m)].name.as_str();
    // what of an image lies within an error of a place may be of another tile, and is itself off by what that one states
    let around = |p: &Point, there: &[u16]| {
        let [plan, height] = stated(p);
        let near = all.materials(p, [plan + h.error_plan, height + h.error_height]);
        near.iter().any(|&n| there.iter().any(|&m| name(m) == source_name(n)))
    };
    let steps = [h.xy_log2, h.xy_log2, h.z_log2].map(|l| 2f64.powi(l));
    let rounded = |t: &[Point; 3]| t.map(|c| [0, 1, 2].map(|i| (c[i] / steps[i]).round_ties_even() * steps[i]));
    let on_lattice: Vec<[Point; 3]> = kept.par_iter().map(rounded).collect();
    let slits = slits(&image.triangles, &on_lattice, h.error_plan);
    drop(on_lattice);
    Agreement {
        slits,
        fields: Fields::new(terrain).map(|fields| fields.error(&kept, &all, samples, h.error_plan)),
        stated: [h.error_plan, h.error_height],
        source: SurfaceError {
            other: other((&kept, &of), &image, &stated, [&source_name, &name], &around),
            ..side(&kept, samples, &stated, &ask, &image)
        },
        image: SurfaceError {
            other: other((&image.triangles, &image.of), &all, &stated, [&name, &source_name], &|_, _| false),
            ..side(&image.triangles, samples, &stated, &none, &all)
        },
        lost,
    }
}

/// In every so many-th of these triangles the kernel is asked: as its answers there cost.
fn every(terrain: &Terrain, triangles: &[[Point; 3]]) -> usize {
    let some = triangles.iter().step_by(triangles.len().div_ceil(TRIED).max(1));
    let tests: u64 = some.clone().map(|t| u64::from(terrain.closest_costed(centre(t)).1.tests)).sum();
    tests.div_ceil(TESTS * some.count().max(1) as u64).max(1) as usize
}

/// Which triangles, of these materials, are of another one than all that a surface has in their middle, by the names of both, unless
/// those are allowed there.
fn other<'a>(
    (triangles, of): (&[[Point; 3]], &[u16]),
    surface: &Surface,
    stated: &(dyn Fn(&Point) -> [f64; 2] + Sync),
    [name, name_there]: [&(dyn Fn(u16) -> &'a str + Sync); 2],
    allowed: &(dyn Fn(&Point, &[u16]) -> bool + Sync),
) -> OtherMaterial {
    let those = triangles.par_iter().zip(of).filter_map(|(t, &material)| {
        let p = centre(t);
        let there = surface.materials(&p, stated(&p));
        let least = there.iter().map(|&m| name_there(m)).min()?;
        let is_other = there.iter().all(|&m| name_there(m) != name(material)) && !allowed(&p, &there);
        is_other.then(|| (p, name(material), least))
    });
    let order = |a: &(Point, &'a str, &'a str), b: &(Point, &'a str, &'a str)| {
        a.0.map(f64::to_bits).cmp(&b.0.map(f64::to_bits)).then_with(|| (a.1, a.2).cmp(&(b.1, b.2)))
    };
    let (triangles, first) = those
        .map(|one| (1, Some(one)))
        .reduce(|| (0, None), |a, b| (a.0 + b.0, [a.1, b.1].into_iter().flatten().min_by(order)));
    OtherMaterial { triangles, first: first.map(|(p, here, there)| (p, here.into(), there.into())) }
}

fn centre([a, b, c]: &[Point; 3]) -> Point {
    [0, 1, 2].map(|i| (a[i] + b[i] + c[i]) / 3.0)
}

/// The image's triangles in metres, each once, with their materials, and what each tile states.
fn image_of(terrain: &Terrain) -> (Vec<([Point; 3], u16)>, TileErrors) {
    let h = terrain.header();
    let table = <[TileRecord]>::ref_from_bytes(terrain.section(section::TILE_TABLE).unwrap_or(&[])).unwrap_or(&[]);
    let step = [h.xy_log2, h.xy_log2, h.z_log2].map(|l| 2f64.powi(l));
    let parts: Vec<_> = table
        .par_iter()
        .enumerate()
        .filter_map(|(index, record)| View::new(terrain, index as u32, record))
        .map(|view| {
            let metres = |c: [i32; 3]| [0, 1, 2].map(|i| (h.origin[i] + i64::from(c[i])) as f64 * step[i]);
            let placed = |t: &Tri| ([0, 1, 2].map(|k| metres(t.corner(k))), t.attribute as u16);
            (
                home_triangles(&view).iter().map(placed).collect::<Vec<_>>(),
                ([view.head.x.into(), view.head.y.into()], view.head.error),
            )
        })
        .collect();
    let errors = parts.iter().map(|p| p.1).collect();
    (parts.into_iter().flat_map(|p| p.0).collect(), errors)
}

/// What becomes of the source's triangles.
struct Sorted {
    /// Those that must have ground, of coincident ones the first, with the materials that stay there.
    kept: Vec<([Point; 3], u16)>,
    /// Of each triangle that settings do not leave out beyond doubt the material that stays there: its own where no other ground is
    /// coincident.
    stays: Vec<Option<u16>>,
    /// Those that are not kept, by cause.
    lost: Vec<LeftOut>,
}

/// Sorts out which triangles of the source must have ground. Of coincident ones the material of highest priority stays, then one that
/// looks up, then the first by name.
fn sort_out(terrain: &Terrain, scene: &Scene, rules: &Options) -> Sorted {
    let h = terrain.header();
    let causes = [
        "vertical",
        "collapsed",
        "duplicate",
        "excluded material",
        "obstacle",
        "outside the domain",
        "underside",
        "steeper than the limit",
    ];
    let mut lost = causes.map(|cause| LeftOut { cause, triangles: 0, plan_area: 0.0, first: None });
    // the first at each place, by its number among those that are kept, and which of them is at the place of each triangle
    let mut first: HashMap<[[i64; 3]; 3], u32> = HashMap::with_capacity(scene.triangles.len());
    let mut at = vec![None; scene.triangles.len()];
    let mut left_out = vec![false; scene.triangles.len()];
    let mut kept: Vec<([Point; 3], u16)> = Vec::with_capacity(scene.triangles.len());
    let stays = |a: (bool, u16), b: (bool, u16)| {
        let [p, q] = [a, b].map(|(_, m)| &scene.materials[usize::from(m)]);
        let is_first = q.priority.cmp(&p.priority).then(a.0.cmp(&b.0)).then_with(|| p.name.cmp(&q.name)).is_le();
        if is_first { a } else { b }
    };
    // of those that are kept whether they look down
    let mut backs: Vec<bool> = Vec::with_capacity(scene.triangles.len());
    let scale = [-h.xy_log2, -h.xy_log2, -h.z_log2].map(|l| 2f64.powi(l));
    let corners: Vec<[Point; 3]> = scene.triangles.iter().map(|t| t.v.map(|v| scene.positions[v as usize])).collect();
    let steps = |c: &[Point; 3]| {
        let steps = c.map(|c| [0, 1, 2].map(|i| (c[i] * scale[i]).round_ties_even() - h.origin[i] as f64));
        let inside = steps.iter().flatten().all(|v| (-2147483648.0..=2147483647.0).contains(v));
        inside.then(|| steps.map(|c| c.map(|v| v as i64)))
    };
    let steps: Vec<Option<[[i64; 3]; 3]>> = corners.par_iter().map(steps).collect();
    let undersides = |m: &Material| m.undersides.unwrap_or(rules.undersides);
    let is_asked = scene.materials.iter().any(|m| undersides(m) == Undersides::Auto);
    let inside_out = if is_asked { shells::inside_out(scene, &steps) } else { Vec::new() };
    for (i, t) in scene.triangles.iter().enumerate() {
        let c = corners[i];
        let m = &scene.materials[usize::from(t.material)];
        let [p0, p1, p2] = c.map(|[x, y, _]| robust::Coord { x, y });
        let facing = robust::orient2d(p0, p1, p2);
        let cause = match &steps[i] {
            _ if !m.include => Some(3),
            _ if m.obstacle => Some(4),
            None => Some(5),
            Some(q) => flatness(q).or_else(|| {
                // rounding must not decide
                let down = if facing != 0.0 { facing < 0.0 } else { exact_area(q) < 0 };
                let underside = match undersides(m) {
                    Undersides::Ground => false,
                    Undersides::Ceiling => down,
                    Undersides::Auto => {
                        inside_out.get(i).copied().flatten().is_some_and(|inside_out| inside_out != down)
                    }
                };
                let mut q = *q;
                q.sort_unstable();
                match rules.max_slope {
                    _ if underside => Some(6),
                    Some(most) if slope(&c) > (most + 7.3e-7).min(90f64.next_down()) => Some(7), // at the limit all stays
                    _ => {
                        let next = kept.len() as u32;
                        let number = *first.entry(q).or_insert(next);
                        at[i] = Some(number);
                        (number != next).then_some(2)
                    }
                }
            }),
        };
        let Some(cause) = cause else {
            kept.push((c, t.material));
            backs.push(facing < 0.0);
            continue;
        };
        if let Some(number) = at[i] {
            let (material, back) = (&mut kept[number as usize].1, &mut backs[number as usize]);
            (*back, *material) = stays((*back, *material), (facing < 0.0, t.material));
        }
        left_out[i] = match cause {
            3 | 4 => true,
            // what is closed depends on how files are named
            6 => undersides(m) == Undersides::Ceiling,
            // and what is steep, close to a limit or upright, on rounding
            7 => rules.max_slope.is_some_and(|most| (most + DOUBT..90.0 - DOUBT).contains(&slope(&c))),
            _ => false,
        };
        let lost = &mut lost[cause];
        lost.triangles += 1;
        lost.plan_area += plan_area(&c).abs();
        lost.first.get_or_insert(c[0]);
    }
    let there = |at: Option<u32>| at.map(|number| kept[number as usize].1);
    let all = at.into_iter().zip(left_out).zip(&scene.triangles);
    let stays = all.map(|((at, out), t)| if out { None } else { there(at).or(Some(t.material)) }).collect();
    Sorted { kept, stays, lost: lost.into() }
}

/// Twice the area in plan on the lattice, above zero if anticlockwise.
fn exact_area(q: &[[i64; 3]; 3]) -> i128 {
    let d = |k: usize, i: usize| i128::from(q[k][i] - q[0][i]);
    d(1, 0) * d(2, 1) - d(1, 1) * d(2, 0)
}

/// In degrees.
fn slope([a, b, c]: &[Point; 3]) -> f64 {
    let (u, v) = ([0, 1, 2].map(|i| b[i] - a[i]), [0, 1, 2].map(|i| c[i] - a[i]));
    let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    n[0].hypot(n[1]).atan2(n[2].abs()).to_degrees()
}

/// Whether three lattice points have no area in plan: 0 if they stand upright, 1 if they lie on a line.
fn flatness(q: &[[i64; 3]; 3]) -> Option<usize> {
    let d = |k: usize, i: usize| i128::from(q[k][i] - q[0][i]);
    let normal = |i: usize, j: usize| d(1, i) * d(2, j) - d(1, j) * d(2, i);
    match [normal(0, 1), normal(1, 2), normal(2, 0)] {
        [0, 0, 0] => Some(1),
        [0, ..] => Some(0),
        _ => None,
    }
}

/// Above zero if anticlockwise.
fn plan_area([a, b, c]: &[Point; 3]) -> f64 {
    ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2.0
}

/// SplitMix64, as numbers from 0 to 1.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A place in a triangle, evenly spread.
    fn within(&mut self, t: &[Point; 3]) -> Point {
        let (mut u, mut v) = (self.next(), self.next());
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        at(t, u, v)
    }
}

fn at([a, b, c]: &[Point; 3], u: f64, v: f64) -> Point {
    [0, 1, 2].map(|i| a[i] + u * (b[i] - a[i]) + v * (c[i] - a[i]))
}

/// Places of a triangle that are measured however small it is: neighbours have the very same corners and middles.
pub fn fixed(t: &[Point; 3]) -> [Point; 7] {
    let [a, b, c] = *t;
    let middle = |p: Point, q: Point| [0, 1, 2].map(|i| (p[i] + q[i]) / 2.0);
    [a, b, c, middle(a, b), middle(a, c), middle(b, c), centre(t)]
}

/// About `samples` seeded places, spread evenly over the plan of these triangles: those in the triangle of a number.
pub fn spread(triangles: &[[Point; 3]], samples: usize) -> impl Fn(usize, &[Point; 3]) -> Spread + Sync + use<> {
    let area: f64 = triangles.iter().map(|t| plan_area(t).abs()).sum();
    move |number, t| {
        let mut random = Random(number as u64);
        let share = if area > 0.0 { plan_area(t).abs() / area * samples as f64 } else { 0.0 };
        let left = (share + random.next()) as usize;
        Spread { triangle: *t, random, left }
    }
}

/// Seeded places in a triangle.
pub struct Spread {
    triangle: [Point; 3],
    random: Random,
    left: usize,
}

impl Iterator for Spread {
    type Item = Point;

    fn next(&mut self) -> Option<Point> {
        self.left = self.left.checked_sub(1)?;
        Some(self.random.within(&self.triangle))
    }
}

/// What 50, 99 and 99.9 % of these have at most; zero if there are none.
pub fn quantiles(mut all: Vec<f32>) -> [f64; 3] {
    all.sort_unstable_by(f32::total_cmp);
    [0.5, 0.99, 0.999].map(|share| {
        let last = all.len().saturating_sub(1);
        all.get(((share * all.len() as f64) as usize).min(last)).copied().unwrap_or(0.0).into()
    })
}

/// What places of a triangle have.
#[derive(Default)]
struct Part {
    places: u64,
    exceeded: u64,
    missing: u64,
    /// Of those that have something of the other surface in plan, and of those that have nothing.
    worst: Option<Spot>,
    farthest: Option<Spot>,
    height: f64,
    /// Errors straight up or down, at evenly spread places.
    straight: Vec<f32>,
}

impl Part {
    fn see(&mut self, spot: Spot) {
        self.places += 1;
        self.exceeded += u64::from(spot.exceeds());
        if spot.height.is_finite() {
            self.height = self.height.max(spot.height);
            if self.worst.is_none_or(|w| spot.size() > w.size()) {
                self.worst = Some(spot);
            }
        } else {
            self.missing += 1;
            if self.farthest.is_none_or(|f| spot.plan > f.plan) {
                self.farthest = Some(spot);
            }
        }
    }
}

/// The spots of most `size`, each at another place, and the numbers of their triangles; of equals the lower number first.
fn most(
    parts: &[Part],
    of: fn(&Part) -> Option<Spot>,
    size: fn(&Spot) -> [f64; 2],
    count: usize,
) -> Vec<(usize, Spot)> {
    let mut all: Vec<(usize, Spot)> = parts.iter().enumerate().filter_map(|(i, p)| Some((i, of(p)?))).collect();
    let order = |a: [f64; 2], b: [f64; 2]| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1]));
    all.sort_unstable_by(|a, b| order(size(&b.1), size(&a.1)).then(a.0.cmp(&b.0)));
    let mut seen = HashSet::new();
    all.into_iter().filter(|(_, spot)| seen.insert(spot.key())).take(count).collect()
}

/// Measures triangles against a surface. `straight` is the error straight up or down, if anything is there, at a place of the triangle
/// of a number.
fn side(
    triangles: &[[Point; 3]],
    samples: usize,
    stated: &(dyn Fn(&Point) -> [f64; 2] + Sync),
    straight: &(dyn Fn(usize, &Point) -> Option<f64> + Sync),
    surface: &Surface,
) -> SurfaceError {
    let spread = spread(triangles, samples);
    let measure = |number: usize, p: Point| -> (Spot, f64) {
        let [h, v] = stated(&p);
        let up = straight(number, &p).unwrap_or(f64::INFINITY);
        let height = if up <= v { up } else { surface.nearest(&p, h + SLACK).map_or(up, |near| near.min(up)) };
        let spot = Spot { at: p, height, stated: v, plan: h };
        if !spot.exceeds() {
            return (spot, up);
        }
        let farther = |k: &u32| h * f64::from(1u32 << k);
        let found = (1..=FARTHER).find(|k| surface.nearest(&p, farther(k)).is_some_and(|near| near <= v + SLACK));
        (Spot { plan: found.map_or(f64::INFINITY, |k| farther(&k)), ..spot }, up)
    };
    let mut parts: Vec<Part> = triangles
        .par_iter()
        .enumerate()
        .map(|(number, t)| {
            let mut part = Part::default();
            fixed(t).into_iter().for_each(|p| part.see(measure(number, p).0));
            for p in spread(number, t) {
                let (spot, up) = measure(number, p);
                part.see(spot);
                part.straight.push(up as f32);
            }
            part
        })
        .collect();
    let worst = |parts: &[Part], count| most(parts, |p| p.worst, Spot::size, count);
    let farthest = |parts: &[Part], count| most(parts, |p| p.farthest, |s| [s.plan, 0.0], count);
    let again: BTreeSet<usize> = [worst(&parts, WORST), farthest(&parts, WORST)].concat().iter().map(|w| w.0).collect();
    for number in again {
        let mut random = Random(!(number as u64));
        (0..AGAIN).for_each(|_| parts[number].see(measure(number, random.within(&triangles[number])).0));
    }
    let spots = |list: Vec<(usize, Spot)>| list.into_iter().map(|w| w.1).collect();
    let mut side = SurfaceError {
        worst: spots(worst(&parts, TOLD)),
        farthest: spots(farthest(&parts, TOLD)),
        ..SurfaceError::default()
    };
    let mut all = Vec::new();
    for part in parts {
        side.places += part.places;
        side.exceeded += part.exceeded;
        side.missing += part.missing;
        side.height = side.height.max(part.height);
        all.extend(part.straight);
    }
    side.quantiles = quantiles(all);
    side
}

/// A box in space: least corner and greatest.
type Box6 = [Point; 2];

/// The box of a triangle.
fn box_of([a, b, c]: &[Point; 3]) -> Box6 {
    [[0, 1, 2].map(|i| a[i].min(b[i]).min(c[i])), [0, 1, 2].map(|i| a[i].max(b[i]).max(c[i]))]
}

/// The box of some boxes.
fn joined(boxes: impl Iterator<Item = Box6>) -> Box6 {
    let none = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    boxes.fold(none, |[low, high], b| [[0, 1, 2].map(|i| low[i].min(b[0][i])), [0, 1, 2].map(|i| high[i].max(b[1][i]))])
}

/// How far above or below a box `p` lies, if that lies within `reach` of it in plan.
fn off([low, high]: &Box6, p: &Point, reach: f64) -> Option<f64> {
    let apart = (0..2).any(|i| p[i] < low[i] - reach || p[i] > high[i] + reach);
    (!apart).then(|| (low[2] - p[2]).max(p[2] - high[2]).max(0.0))
}

/// Triangles, with their materials, in a tree of boxes.
pub struct Surface {
    triangles: Vec<[Point; 3]>,
    /// The material of each.
    of: Vec<u16>,
    /// From the leaves of four triangles up, each level half as many.
    levels: Vec<Vec<Box6>>,
}

impl Surface {
    fn new(mut triangles: Vec<([Point; 3], u16)>) -> Self {
        let [low, high] = joined(triangles.iter().map(|(t, _)| box_of(t)));
        let side = (0..3).map(|i| high[i] - low[i]).fold(f64::MIN_POSITIVE, f64::max);
        // along a curve through the cells of a cube
        triangles.par_sort_by_cached_key(|(t, _)| {
            let [least, most] = box_of(t);
            let part = [0, 1, 2].map(|i| (((least[i] + most[i]) / 2.0 - low[i]) / side * 65535.0) as u64);
            (0..48).fold(0, |key, bit| key | (part[bit % 3] >> (bit / 3) & 1) << bit)
        });
        let (triangles, of): (Vec<_>, Vec<_>) = triangles.into_iter().unzip();
        let mut levels = Vec::new();
        let mut level: Vec<Box6> = triangles.chunks(4).map(|c| joined(c.iter().map(box_of))).collect();
        while level.len() > 1 {
            let next = level.chunks(2).map(|c| joined(c.iter().copied())).collect();
            levels.push(std::mem::replace(&mut level, next));
        }
        levels.push(level);
        Surface { triangles, of, levels }
    }

    /// The least difference in height to a point of the surface within `reach` of `p` in plan.
    pub fn nearest(&self, p: &Point, reach: f64) -> Option<f64> {
        let mut best = f64::INFINITY;
        self.each(p, reach, f64::INFINITY, |t, _| {
            best = rise(t, p, reach).map_or(best, |v| best.min(v));
            best
        });
        best.is_finite().then_some(best)
    }

    /// The materials of what lies within an error of `p`, in plan and in height.
    fn materials(&self, p: &Point, [plan, height]: [f64; 2]) -> Vec<u16> {
        let mut all = Vec::new();
        let [plan, height] = [plan, height].map(|reach| reach + SLACK);
        self.each(p, plan, height, |t, m| {
            if !all.contains(&m) && rise(t, p, plan).is_some_and(|off| off <= height) {
                all.push(m);
            }
            height
        });
        all
    }

    /// Calls `see` with the triangles, and their materials, that may lie within `reach` of `p` in plan and within `height` in height,
    /// which becomes what it gives back: those that may be near first.
    fn each(&self, p: &Point, reach: f64, mut height: f64, mut see: impl FnMut(&[Point; 3], u16) -> f64) {
        let mut next: SmallVec<[(f64, usize, usize); 32]> = SmallVec::new();
        next.push((0.0, self.levels.len() - 1, 0));
        while let Some((least, level, i)) = next.pop() {
            if least > height {
                continue;
            }
            if level > 0 {
                let below = &self.levels[level - 1];
                let of = |i: usize| Some((off(below.get(i)?, p, reach)?, level - 1, i));
                let (mut near, mut far) = (of(2 * i), of(2 * i + 1));
                if near.zip(far).is_some_and(|(a, b)| a.0 > b.0) {
                    std::mem::swap(&mut near, &mut far);
                }
                [far, near].into_iter().flatten().for_each(|one| next.push(one));
                continue;
            }
            for (t, m) in self.triangles[4 * i..].iter().zip(&self.of[4 * i..]).take(4) {
                if off(&box_of(t), p, reach).is_some_and(|off| off <= height) {
                    height = see(t, *m);
                }
            }
        }
    }
}

/// The least difference in height between `p` and the part of a triangle within `reach` of it in plan.
///
/// That part is convex and its height linear, so its heights are those between its lowest and its highest corner: ends of
/// edges cut by the circle, or the places of the circle that lie straight up and down the slope.
fn rise(t: &[Point; 3], p: &Point, reach: f64) -> Option<f64> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut take = |z: f64| (low, high) = (low.min(z), high.max(z));
    let q = t.map(|c| [c[0] - p[0], c[1] - p[1], c[2] - p[2]]);
    for k in 0..3 {
        let (a, b) = (q[k], q[(k + 1) % 3]);
        let d = [0, 1, 2].map(|i| b[i] - a[i]);
        // |a + s d| <= reach: half a chord to either side of the foot of the perpendicular
        let (dd, ad) = (d[0] * d[0] + d[1] * d[1], a[0] * d[0] + a[1] * d[1]);
        if dd == 0.0 {
            if a[0] * a[0] + a[1] * a[1] <= reach * reach {
                take(a[2]);
                take(b[2]);
            }
            continue;
        }
        let across = (a[0] * d[1] - a[1] * d[0]) * (a[0] * d[1] - a[1] * d[0]) / dd;
        if across > reach * reach {
            continue;
        }
        let (foot, half) = (-ad / dd, ((reach * reach - across) / dd).sqrt());
        let (from, to) = ((foot - half).max(0.0), (foot + half).min(1.0));
        if from <= to {
            take(a[2] + from * d[2]);
            take(a[2] + to * d[2]);
        }
    }
    // the plane through the corners
    let (u, v) = ([0, 1, 2].map(|i| q[1][i] - q[0][i]), [0, 1, 2].map(|i| q[2][i] - q[0][i]));
    let up = u[0] * v[1] - u[1] * v[0];
    if up != 0.0 {
        let slope = [(u[2] * v[1] - u[1] * v[2]) / up, (u[0] * v[2] - u[2] * v[0]) / up];
        let steep = (slope[0] * slope[0] + slope[1] * slope[1]).sqrt();
        let way = if steep > 0.0 { [slope[0] / steep, slope[1] / steep] } else { [0.0; 2] };
        for r in [-reach, 0.0, reach] {
            let place = [way[0] * r - q[0][0], way[1] * r - q[0][1]];
            let s = (place[0] * v[1] - place[1] * v[0]) / up;
            let w = (u[0] * place[1] - u[1] * place[0]) / up;
            if s >= 0.0 && w >= 0.0 && s + w <= 1.0 {
                take(q[0][2] + s * u[2] + w * v[2]);
            }
        }
    }
    if low > high {
        None
    } else if low <= 0.0 && high >= 0.0 {
        Some(0.0)
    } else {
        Some(low.abs().min(high.abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_within_reach() {
        let t = [[0.0, 0.0, 0.0], [10.0, 0.0, 10.0], [0.0, 10.0, 0.0]];
        let near = |p, reach| rise(&t, &p, reach);
        assert_eq!(near([2.0, 2.0, 2.0], 0.0), Some(0.0));
        assert!((near([2.0, 2.0, 3.0], 0.0).unwrap() - 1.0).abs() < 1e-12);
        assert!((near([2.0, 2.0, 3.0], 0.5).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(near([2.0, 2.0, 3.0], 1.5), Some(0.0));
        assert_eq!(near([-1.0, 2.0, 0.0], 0.5), None);
        assert_eq!(near([-1.0, 2.0, -3.0], 1.0), Some(3.0));
        let wall = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 8.0]];
        assert_eq!(rise(&wall, &[0.0, 1.0, 4.0], 1.0), Some(0.0));
        assert_eq!(rise(&wall, &[0.0, 1.0, 9.0], 1.0), Some(1.0));
        // however long the edges are
        let far: [Point; 3] = [[-4e5, 1e5, 300.0], [5e5, 2e5, -700.0], [1e5, -5e5, 40.0]];
        let on = |s: f64, off: f64| {
            let d = [0, 1, 2].map(|i| far[1][i] - far[0][i]);
            let length = (d[0] * d[0] + d[1] * d[1]).sqrt();
            let [x, y, z] = [0, 1, 2].map(|i| far[0][i] + s * d[i]);
            [x - off * d[1] / length, y + off * d[0] / length, z]
        };
        for k in 1..1000 {
            let s = k as f64 / 1000.0;
            assert!(rise(&far, &on(s, 1.6e-4), 1.7e-4).is_some_and(|v| v < 1e-6), "{s}");
            assert_eq!(rise(&far, &on(s, 1.8e-4), 1.7e-4), None, "{s}");
        }
        let surface = Surface::new(vec![(t, 0), (wall, 0)]);
        assert_eq!(surface.nearest(&[3.0, 3.0, 3.0], 0.0), Some(0.0));
        assert_eq!(surface.nearest(&[30.0, 3.0, 3.0], 0.0), None);
        assert_eq!(Surface::new(vec![]).nearest(&[0.0; 3], 1.0), None);
    }

    /// However triangles lie above each other.
    #[test]
    fn nearest_is_as_by_asking_all() {
        let mut random = Random(5);
        let (mut near, mut apart, mut some) = (0, 0, 0);
        for case in 0..60 {
            let [wide, high, large] = [[1.0, 500.0, 1.0], [100.0, 3.0, 9.0], [30.0, 30.0, 4.0]][case % 3];
            let mut at = |middle: Point, size: f64| middle.map(|v| v + size * (random.next() - 0.5));
            let triangles: Vec<([Point; 3], u16)> = (0..case as u16 * 5)
                .map(|i| {
                    let middle = at([0.5; 3], 1.0);
                    let middle = [middle[0] * wide, middle[1] * wide, middle[2] * high];
                    ([0; 3].map(|_| at(middle, large)), i % 3)
                })
                .collect();
            let surface = Surface::new(triangles.clone());
            for k in 0..200 {
                let place = at([0.5; 3], 1.2);
                let p = [place[0] * wide, place[1] * wide, place[2] * high];
                let reach = [0.0, 0.1, 2.0][k % 3];
                let all = || triangles.iter().filter_map(|(t, m)| Some((rise(t, &p, reach)?, *m)));
                let least = all().map(|(v, _)| v).min_by(f64::total_cmp);
                assert_eq!(surface.nearest(&p, reach), least, "{case}: {p:?} {reach}");
                near += u32::from(least.is_some());
                apart += u32::from(least.is_none());
                let (found, height) = (surface.materials(&p, [reach, 1.0]), 1.0 + SLACK);
                let all = triangles.iter().filter_map(|(t, m)| Some((rise(t, &p, reach + SLACK)?, *m)));
                let expected: BTreeSet<u16> = all.filter(|(v, _)| *v <= height).map(|(_, m)| m).collect();
                some += expected.len();
                assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected, "{case}: {p:?} {reach}");
            }
        }
        assert!(near > 3000 && apart > 3000 && some > 1000, "{near} {apart} {some}");
    }
}
