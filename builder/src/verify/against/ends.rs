//! Where the ground of an image ends, and the ground of its source did not: slits inside it, which no error explains
//! however close the ground on their sides is.
//!
//! An edge with triangles on one side only ends the ground as far as no other triangle lies just beside it. A place of
//! such an end in the image that is farther in plan than the stated error from all ends of the source, rounded to the
//! same lattice, is lost ground, if the source has some beside it. A step is an end if it is larger than half a metre
//! in the image, and than half of that in the source: what is between is none that was lost. Ground is at every height
//! that it has within the stated error in plan: so a wall narrower than that is no step, and what the image has at one
//! of the wall's heights takes its place.

use super::SLACK;
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use rstar::{AABB, RTree, primitives::GeomWithData, primitives::Rectangle};

type Point = [f64; 3];
type Tree = RTree<GeomWithData<Rectangle<Point>, usize>>;

/// An edge, and parts of it.
type Parts = ([Point; 2], Vec<[f64; 2]>);

/// Metres.
const STEP: f64 = 0.5;
/// Shorter parts of an edge do not count.
const MIN_PART: f64 = 1e-9;
/// Most boxes of one edge.
const BOXES: f64 = 16.0;

/// Ends of an image that the source has not.
#[derive(Clone, Debug, Default)]
pub struct Slits {
    /// Ends along edges that the source has not, which were asked about.
    pub ends: u64,
    /// Those that are farther from all of the source than stated, somewhere.
    pub lost: u64,
    /// The longest of them: its middle, and how long it is in plan, metres.
    pub longest: Option<(Point, f64)>,
}

/// A part of an edge, in parts of its length, with ground to the left of it.
struct End {
    line: [Point; 2],
    part: [f64; 2],
}

/// Looks for slits: in an image that states such an error in plan, of a source.
pub fn slits(image: &[[Point; 3]], source: &[[Point; 3]], stated: f64) -> Slits {
    let reach = stated + SLACK;
    // an edge that the source has as well is none of the image's making, and what was lost beside it has edges of its
    // own
    let kept: HashSet<Line> = open(source).iter().map(|l| l.map(bits)).collect();
    let ends = ends(image, |l| !kept.contains(&l.map(bits)), None, [STEP, reach]);
    let near = tree(ends.iter().flat_map(|e| boxes(e.line, reach, 2.0 * STEP)).map(|b| (0, b)));
    let borders = self::ends(source, |_| true, Some(&near), [STEP / 2.0, reach]);
    let near = tree(borders.iter().enumerate().flat_map(|(i, e)| boxes(e.line, 0.0, 0.0).map(move |b| (i, b))));
    let far = |end: End| {
        let some = boxes(end.line, reach, STEP).flat_map(|b| near.locate_in_envelope_intersecting(b));
        let excused = some.filter_map(|b| end.within(&borders[b.data], reach)).collect();
        let left = without(end.part, excused);
        (!left.is_empty()).then_some((end.line, left))
    };
    let count = ends.len() as u64;
    let far: Vec<Parts> = ends.into_par_iter().filter_map(far).collect();
    // what the image has besides may end anywhere: the source must have ground there
    let near = tree(far.iter().enumerate().flat_map(|(i, (line, _))| boxes(*line, 0.0, STEP).map(move |b| (i, b))));
    let on = |t: &[Point; 3]| {
        let mut some: Vec<usize> = near.locate_in_envelope_intersecting(AABB::from_points(t)).map(|b| b.data).collect();
        some.sort_unstable();
        some.dedup();
        let t = anticlockwise(t);
        let of = |i: usize| {
            let over = Over::new(&t, far[i].0, reach);
            Some((i, over, over.holds(heights(far[i].0), STEP / 2.0)?))
        };
        some.into_iter().filter_map(of).collect::<Vec<_>>()
    };
    let on: Vec<(usize, Over, [f64; 2])> = source.par_iter().flat_map_iter(on).collect();
    let places = replaced(image, &on, &far);
    let mut ground = vec![Vec::new(); far.len()];
    for ((i, _, part), places) in on.into_iter().zip(places) {
        ground[i].extend(without(part, places));
    }
    let lost = |((line, left), ground): (&Parts, &Vec<[f64; 2]>)| {
        let none = without([0.0, 1.0], ground.clone());
        let left = left.iter().flat_map(|part| without(*part, none.clone()));
        let longest = left.max_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0])))?;
        let [a, b] = longest.map(|s| End { line: *line, part: longest }.at(s));
        let length = (b[0] - a[0]).hypot(b[1] - a[1]);
        // rounding in f64 is no slit
        (length > SLACK).then(|| ([0, 1, 2].map(|k| (a[k] + b[k]) / 2.0), length))
    };
    let all: Vec<(Point, f64)> = far.par_iter().zip(&ground).filter_map(lost).collect();
    let order = |a: &(Point, f64), b: &(Point, f64)| {
        a.1.total_cmp(&b.1).then_with(|| b.0.map(f64::to_bits).cmp(&a.0.map(f64::to_bits)))
    };
    Slits { ends: count, lost: all.len() as u64, longest: all.into_iter().max_by(order) }
}

impl End {
    fn at(&self, s: f64) -> Point {
        let [a, b] = self.line;
        [0, 1, 2].map(|k| a[k] + s * (b[k] - a[k]))
    }

    /// Which part of its edge lies within so many metres of another end in plan.
    fn within(&self, other: &End, reach: f64) -> Option<[f64; 2]> {
        let [a, b] = self.line;
        let d = [b[0] - a[0], b[1] - a[1]];
        let length = d[0].hypot(d[1]);
        let [(u, v), (x, y)] = other.part.map(|s| {
            let p = other.at(s);
            let w = [p[0] - a[0], p[1] - a[1]];
            ((w[0] * d[0] + w[1] * d[1]) / length, (d[0] * w[1] - d[1] * w[0]) / length)
        });
        // a disc that runs along the other from one end to the other covers most where it starts, ends, comes near,
        // leaves, or where its rim runs along it
        let (along, off) = (x - u, y - v);
        let rim = reach * along / along.hypot(off);
        let turns = [-reach, reach, -rim, rim].map(|at| (at - v) / off);
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for s in turns.into_iter().chain([0.0, 1.0]).filter(|s| (0.0..=1.0).contains(s)) {
            let (at, off) = (u + s * along, v + s * off);
            if off.abs() <= reach * (1.0 + MIN_PART) {
                let half = (reach * reach - off * off).max(0.0).sqrt();
                (from, to) = (from.min(at - half), to.max(at + half));
            }
        }
        (from < to).then_some([from / length, to / length])
    }
}

/// The ends of ground along edges that are meant, in some boxes or anywhere: such a step is one, with such an error in
/// plan.
fn ends(
    all: &[[Point; 3]],
    is_meant: impl Fn(&[Point; 2]) -> bool,
    inside: Option<&Tree>,
    [step, reach]: [f64; 2],
) -> Vec<End> {
    let is_inside = |box_: AABB<Point>| inside.is_none_or(|t| t.locate_in_envelope_intersecting(box_).next().is_some());
    let some: Vec<[Point; 3]> =
        all.par_iter().filter(|t| is_inside(AABB::from_points(*t))).map(anticlockwise).collect();
    let mut open = open(&some);
    open.retain(|line| is_meant(line) && is_inside(AABB::from_points(line)));
    let near = tree(open.iter().flat_map(|l| boxes(*l, 0.0, step)).map(|b| (0, b)));
    let beside: Vec<&[Point; 3]> = some
        .par_iter()
        .filter(|t| near.locate_in_envelope_intersecting(AABB::from_points(*t)).next().is_some())
        .collect();
    let near = tree(beside.iter().enumerate().map(|(i, t)| (i, AABB::from_points(*t))));
    let parts = |line: &[Point; 2]| {
        let some = boxes(*line, 0.0, step).flat_map(|b| near.locate_in_envelope_intersecting(b));
        let covered =
            some.filter_map(|b| Over::new(beside[b.data], *line, reach).holds(heights(*line), step)).collect();
        without([0.0, 1.0], covered).into_iter().map(|part| End { line: *line, part }).collect::<Vec<_>>()
    };
    open.par_iter().flat_map_iter(parts).collect()
}

type Line = [[u64; 3]; 2];

fn bits(p: Point) -> [u64; 3] {
    p.map(|v| (v + 0.0).to_bits())
}

/// Edges with triangles on one side only, each from end to end with that to its left.
fn open(all: &[[Point; 3]]) -> Vec<[Point; 2]> {
    let some: Vec<[Point; 3]> = all.iter().map(anticlockwise).collect();
    // whether there are triangles to the left of the way from the lesser end, and to the right
    let mut edges: HashMap<Line, [bool; 2]> = HashMap::with_capacity(some.len() * 3 / 2);
    let sides = |t: &[Point; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let key = |[a, b]: [Point; 2]| {
        let [a, b] = [bits(a), bits(b)];
        (if a < b { [a, b] } else { [b, a] }, usize::from(a > b))
    };
    for line in some.iter().flat_map(sides) {
        let (edge, way) = key(line);
        edges.entry(edge).or_default()[way] = true;
    }
    let mut open: Vec<[Point; 2]> = some.iter().flat_map(sides).filter(|l| edges[&key(*l).0] != [true; 2]).collect();
    drop(edges);
    open.sort_unstable_by_key(|l| l.map(bits));
    open.dedup();
    open
}

fn anticlockwise(t: &[Point; 3]) -> [Point; 3] {
    if turn(t[0], t[1], t[2]) > 0.0 { *t } else { [t[0], t[2], t[1]] }
}

/// Twice the area of a triangle in plan, its sign exact.
fn turn(a: Point, b: Point, c: Point) -> f64 {
    let [a, b, c] = [a, b, c].map(|p| robust::Coord { x: p[0], y: p[1] });
    robust::orient2d(a, b, c)
}

/// For each piece of the source's ground beside a line: where the image has ground at heights that this has within the
/// error in plan.
fn replaced(image: &[[Point; 3]], on: &[(usize, Over, [f64; 2])], far: &[Parts]) -> Vec<Vec<[f64; 2]>> {
    let steep = on.iter().enumerate().filter(|(_, (_, over, _))| over.slack > STEP / 2.0);
    let near = tree(steep.flat_map(|(k, (i, over, _))| {
        let [low, high] = over.range;
        boxes(far[*i].0, 0.0, 0.0).map(move |b| {
            let at = |p: Point, z: f64| [p[0], p[1], z];
            (k, AABB::from_corners(at(b.lower(), low - STEP), at(b.upper(), high + STEP)))
        })
    }));
    let of = |t: &[Point; 3]| {
        let some = near.locate_in_envelope_intersecting(AABB::from_points(t)).map(|b| b.data).collect::<HashSet<_>>();
        let t = anticlockwise(t);
        let part = |k: usize| {
            let (i, over, _) = &on[k];
            let own = Over::new(&t, far[*i].0, 0.0);
            let part = Over { part: own.part, ..*over }.holds(own.heights, STEP)?;
            Some((k, part))
        };
        some.into_iter().filter_map(part).collect::<Vec<_>>()
    };
    let mut places = vec![Vec::new(); on.len()];
    for (k, part) in image.par_iter().flat_map_iter(of).collect::<Vec<_>>() {
        places[k].push(part);
    }
    places
}

/// A triangle, anticlockwise, along a line.
#[derive(Clone, Copy)]
struct Over {
    /// Where it lies just to the right of the line.
    part: [f64; 2],
    /// Its plane at the ends of the line.
    heights: [f64; 2],
    /// How much higher or lower it is within the error in plan, and its lowest and highest corner.
    slack: f64,
    range: [f64; 2],
}

impl Over {
    fn new(t: &[Point; 3], [a, b]: [Point; 2], reach: f64) -> Over {
        let mut part = [0.0f64, 1.0];
        for k in 0..3 {
            let (p, q) = (t[k], t[(k + 1) % 3]);
            let [mut at_start, mut at_end] = [turn(p, q, a), turn(p, q, b)];
            if at_start == 0.0 && at_end == 0.0 && (q[0] - p[0]) * (b[0] - a[0]) + (q[1] - p[1]) * (b[1] - a[1]) > 0.0 {
                [at_start, at_end] = [-1.0; 2]; // along the line, and to the left of it
            }
            cut(&mut part, at_start, at_end);
        }
        let area = turn(t[0], t[1], t[2]);
        let height = |p: Point| {
            let parts = [turn(t[1], t[2], p), turn(t[2], t[0], p), turn(t[0], t[1], p)];
            p[2] + (0..3).map(|k| parts[k] / area * (t[k][2] - p[2])).sum::<f64>()
        };
        let [u, v] = [t[1], t[2]].map(|p| [0, 1, 2].map(|k| p[k] - t[0][k]));
        let slope = (u[1] * v[2] - u[2] * v[1]).hypot(u[2] * v[0] - u[0] * v[2]) / area;
        let [z0, z1, z2] = t.map(|p| p[2]);
        let range = [z0.min(z1).min(z2), z0.max(z1).max(z2)];
        Over { part, heights: [height(a), height(b)], slack: slope * reach, range }
    }

    /// Along which part it has, within the error in plan, such a height, at most a step higher or lower.
    fn holds(&self, heights: [f64; 2], step: f64) -> Option<[f64; 2]> {
        let (mut part, [low, high], most) = (self.part, self.range, step + self.slack);
        let mut keep = |least: f64, of: [f64; 2]| cut(&mut part, of[0] - least, of[1] - least);
        let over = [0, 1].map(|k| self.heights[k] - heights[k]);
        keep(-most, over);
        keep(-most, over.map(|v| -v));
        keep(low - step, heights);
        keep(-high - step, heights.map(|z| -z));
        (part[1] - part[0] > MIN_PART).then_some(part)
    }
}

/// Cuts from a part where what is linear along the line is below zero.
fn cut(part: &mut [f64; 2], at_start: f64, at_end: f64) {
    if at_start < 0.0 && at_end < 0.0 {
        *part = [1.0, 0.0];
    } else if at_start < 0.0 {
        part[0] = part[0].max(at_start / (at_start - at_end));
    } else if at_end < 0.0 {
        part[1] = part[1].min(at_start / (at_start - at_end));
    }
}

fn heights(line: [Point; 2]) -> [f64; 2] {
    line.map(|p| p[2])
}

/// The rest of a part without others.
fn without([mut from, to]: [f64; 2], mut others: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    others.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]));
    let mut left = Vec::new();
    for [start, end] in others.into_iter().chain([[to; 2]]) {
        if start.min(to) - from > MIN_PART {
            left.push([from, start.min(to)]);
        }
        from = from.max(end);
    }
    left
}

fn tree(boxes: impl Iterator<Item = (usize, AABB<Point>)>) -> Tree {
    RTree::bulk_load(boxes.map(|(i, b)| GeomWithData::new(Rectangle::from_aabb(b), i)).collect())
}

/// Boxes around the parts of a line, so many metres larger in plan and in height: one around a slanted line would hold
/// much else.
fn boxes([a, b]: [Point; 2], plan: f64, height: f64) -> impl Iterator<Item = AABB<Point>> {
    let larger = [plan, plan, height];
    let mut slant = [0, 1, 2].map(|k| (b[k] - a[k]).abs());
    slant.sort_unstable_by(f64::total_cmp);
    let count = slant[1].ceil().clamp(1.0, BOXES);
    (0..count as usize).map(move |i| {
        let at = |i: usize, k: usize| a[k] + (b[k] - a[k]) * i as f64 / count;
        let low = [0, 1, 2].map(|k| at(i, k).min(at(i + 1, k)) - larger[k] - SLACK);
        let high = [0, 1, 2].map(|k| at(i, k).max(at(i + 1, k)) + larger[k] + SLACK);
        AABB::from_corners(low, high)
    })
}
