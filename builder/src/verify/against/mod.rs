//! How far an image is from its source, measured both ways in f64 metres, with code of its own.
//!
//! An error is a pair (h, v): within h in plan of every point of one surface lies a point of the other that is at most
//! v higher or lower. It is measured at every corner, in the middle of every edge and triangle, at seeded places that
//! are spread evenly over the plan, and again in the triangles that were worst. And where the image's ground
//! [ends](super::ends), the source's must.

mod ends;
mod fields;
mod ground;
mod samples;
mod shells;
mod surface;

use crate::options::{Fallback, Options};
use crate::scene::Scene;
use crate::verify::tile::plan::Tri;
use crate::verify::tile::{View, home_triangles};
pub use ends::Slits;
use ends::slits;
use fields::Fields;
pub use fields::{Difference, FieldError};
use ground::{Sorted, sort_out};
use hardpan::format::{TileRecord, section};
use hardpan::{Hit, Terrain, Windows};
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
pub use samples::Random;
pub use samples::fixed;
pub use samples::quantiles;
pub use samples::spread;
use std::collections::BTreeSet;
pub use surface::Surface;
use zerocopy::FromBytes;

/// Slack for f64 and the answer's own rounding in an error, metres.
pub const SLACK: f64 = 1e-7;
/// Places that are tried again in each of the worst triangles.
const AGAIN: usize = 256;
/// How many of them.
const WORST: usize = 16;
/// Least posts that are compared.
const POSTS: usize = 1 << 16;
/// Places that are reported.
const MAX_PLACES: usize = 8;
/// Degrees from a limit, or from upright, within which rounding may decide what is too steep.
const DOUBT: f64 = 1e-5;
/// Triangle tests that the kernel may take for each place of the source, on average; if it takes more, it is asked in
/// every so many-th triangle.
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
    /// Error in plan, metres, at which the stated error in height suffices; infinite if that is more than 4,096 times
    /// the stated one.
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
    /// Places with ground: first those farthest above the error that their tile states, then those with the largest
    /// error, each another place of another triangle.
    pub worst: Vec<Spot>,
    /// Places without ground: those farthest from ground at their height first, each another place of another triangle.
    pub farthest: Vec<Spot>,
    /// Largest error in height, metres, of places that have some.
    pub height: f64,
    /// Shares of the plan area, 50, 99 and 99.9 %, with at most this error straight up or down, metres.
    pub quantiles: [f64; 3],
    /// Triangles in whose middle the other surface is of other materials alone, by their names: none where it has
    /// nothing there.
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

/// Results of a comparison.
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
    /// The first of them, by the place of its middle: that, and the names of its material and of one of the other
    /// surface.
    pub first: Option<(Point, String, String)>,
}

impl Agreement {
    /// Whether no place has a larger error than the image states for its tile, no triangle another material, and no
    /// ground a slit.
    pub fn holds(&self) -> bool {
        self.slits.lost == 0 && [&self.source, &self.image].iter().all(|side| side.exceeded + side.other.triangles == 0)
    }
}

/// Measures an image against its source, in about `samples` places spread over the plan, and in corners and edges.
/// With no samples in corners alone: those of heights are their posts, between which a source is no triangle.
///
/// The image must be proven. `rules` say which triangles are no ground: undersides, and those that are too steep.
/// Patches count where the source's heights are asked for, and not the other way round.
///
/// The kernel is asked what lies straight above and below places of the source; where its answers take more than 128
/// tests on average, in every so many-th triangle, and else the image's triangles are.
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
        // what is hidden is there all the same
        if terrain.has_precedence() {
            let listed = if h.patch_blocks > 0 { nearest_layer(terrain, p) } else { None };
            return image.nearest(p, 0.0).into_iter().chain(listed).reduce(f64::min);
        }
        if !number.is_multiple_of(every) {
            return image.nearest(p, 0.0);
        }
        let answer = terrain.closest_with(*p, &options);
        answer.found().then(|| (terrain.z_f64(&answer.hit) - p[2]).abs())
    };
    let none = |_, p: &Point| all.nearest(p, 0.0);
    let name = |m: u16| terrain.material_name(m);
    let source_name = |m: u16| scene.materials[usize::from(m)].name.as_str();
    // what of an image lies within an error of a place may be of another tile, and is itself off by what that one
    // states
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
        fields: Fields::new(terrain).map(|fields| fields.error(&kept, &all, samples.max(POSTS), h.error_plan)),
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

/// Least difference in height to a layer over a place, hidden ones too.
fn nearest_layer(terrain: &Terrain, p: &Point) -> Option<f64> {
    let mut room = [Hit::NONE; 64];
    let found = terrain.layers(*p, &mut room);
    room[..found.written].iter().map(|hit| (terrain.z_f64(hit) - p[2]).abs()).reduce(f64::min)
}

/// In every so many-th of these triangles the kernel is asked: as its answers there cost.
fn every(terrain: &Terrain, triangles: &[[Point; 3]]) -> usize {
    let some = triangles.iter().step_by(triangles.len().div_ceil(TRIED).max(1));
    let tests: u64 = some.clone().map(|t| u64::from(terrain.closest_costed(centre(t)).1.tests)).sum();
    tests.div_ceil(TESTS * some.count().max(1) as u64).max(1) as usize
}

/// Which triangles, of these materials, are of another one than all that a surface has in their middle, by the names of
/// both, unless those are allowed there.
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

/// Above zero if anticlockwise.
fn plan_area([a, b, c]: &[Point; 3]) -> f64 {
    ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2.0
}

/// Results at the places of a triangle.
#[derive(Default)]
struct Part {
    places: u64,
    exceeded: u64,
    missing: u64,
    /// The worst place with the other surface in plan, and the worst without.
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

/// The spots of most `size`, each at another place, and the numbers of their triangles; of equals the lower number
/// first.
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

/// Measures triangles against a surface. `straight` is the error straight up or down, if anything is there, at a place
/// of the triangle of a number.
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
            let places = if samples == 0 { &fixed(t)[..3] } else { &fixed(t)[..] };
            places.iter().for_each(|p| part.see(measure(number, *p).0));
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
        let again = if samples == 0 { 0 } else { AGAIN };
        (0..again).for_each(|_| parts[number].see(measure(number, random.within(&triangles[number])).0));
    }
    let spots = |list: Vec<(usize, Spot)>| list.into_iter().map(|w| w.1).collect();
    let mut side = SurfaceError {
        worst: spots(worst(&parts, MAX_PLACES)),
        farthest: spots(farthest(&parts, MAX_PLACES)),
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

#[cfg(test)]
mod tests {
    use super::surface::rise;
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
