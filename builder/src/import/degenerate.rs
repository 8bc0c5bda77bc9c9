//! Triangles so degenerate that no image of them could be proven: better known from the mesh than when a gigabyte and a
//! minute are gone.

use super::{ImportError, Next, polygon::turn};
use crate::build::stage::clean::{is_steep, rise};
use crate::build::stage::facing;
use crate::build::stage::quantise::quantise;
use crate::options::Options;
use crate::scene::{Material, Scene, Triangle};
use crate::util::text::{bounded, few, grouped, named};
use hardpan_shaders::Cpu;
use rayon::prelude::*;
use std::{cmp::Reverse, ops::Range, path::Path};

/// Triangles that may meet in one vertex.
const MAX_IN_A_FAN: u32 = 8_192;
/// A step of the default lattice in plan, metres.
const STEP: f64 = 1.0 / 4096.0;
/// A sliver is so many times as long as wide.
const SLIM: f64 = 256.0;
/// A square that no more slivers meet is divided no further: an image may have as many in one place.
const MAX_SLIVERS: usize = 256;
/// Nor is one with such a side, metres.
const FINEST: f64 = 64.0 * STEP;
/// The square of the length of a triangle that no image has room for, metres.
const FAR: f64 = 1e18;
/// How often slivers may meet squares: all of them, or if that is more each on average.
const MEETINGS: [usize; 2] = [1 << 23, 64];

/// Degenerate parts of a scene, the remedy, and the material to leave out instead, if there is one.
pub struct Degenerate {
    cause: String,
    hint: &'static str,
    material: Option<String>,
}

impl Degenerate {
    /// An error of a file.
    pub fn error(self, file: &Path) -> ImportError {
        let Degenerate { cause, hint, material } = self;
        match material {
            None => ImportError::input(file, cause, hint),
            Some(name) => {
                let or = format!(
                    "where {name:?} is no ground, leave it out before any pattern: include = false in its own [[material]]"
                );
                let error = ImportError::input(file, cause, format!("{hint}; {or}"));
                ImportError { next: Some(Next::Settings), ..error }
            }
        }
    }
}

/// Fans of ground triangles of a file that meet in one vertex. `numbered`: vertices of it are known by their numbers.
pub fn fan(ground: &Ground, triangles: Range<usize>, vertices: Range<usize>, numbered: bool) -> Option<Degenerate> {
    let (at, count) = ground.fan(triangles.clone(), vertices.clone())?;
    let vertex = vertices.start + at;
    let [x, y, z] = ground.scene.positions[vertex];
    let which = if numbered { format!("vertex {} ", at + 1) } else { String::new() };
    let cause = format!(
        "{} triangles meet in one vertex, {which}at ({x:.3}, {y:.3}, {z:.3}) in metres, and {} are the most",
        grouped(count.into()),
        grouped(MAX_IN_A_FAN.into())
    );
    let around = ground.among(triangles).filter(|t| t.v.contains(&(vertex as u32))).map(|t| t.material);
    let hint = "divide such fans by rings around their middle in a mesh editor";
    Some(Degenerate { cause, hint, material: ground.to_leave_out(around) })
}

/// Long and thin ground triangles that lie close side by side, and the number of the file that has most of them. It
/// gets the files and where the triangles of each end. It looks at each file by itself, and then where several lie.
pub fn slivers(ground: &Ground, files: &[(&Path, usize)]) -> Option<(usize, Degenerate)> {
    let thin = ground.slivers(files);
    let crowded = |thin, mixed| Some((thin, Squares::over(thin, mixed).err()?.worst));
    let alone = thin.chunk_by(|a, b| a.file == b.file).find_map(|thin| crowded(thin, false));
    let (thin, worst) = alone.or_else(|| crowded(&thin, true))?;
    let met = || thin.iter().filter(|s| meets(&s.plan, worst.low, worst.side));
    let mut counts = vec![0; files.len()];
    met().for_each(|s| counts[s.file as usize] += 1);
    let file = (0..files.len()).max_by_key(|&file| (counts[file], Reverse(file)))?;
    let others: Vec<usize> = (0..files.len()).filter(|&other| other != file && counts[other] > 0).collect();
    let of = match others.len() {
        0 => String::new(),
        n => format!(" of this and {}", few(others.iter().map(|&other| named(files[other].0)), n as u64)),
    };
    let [x, y] = worst.low.map(|v| v + worst.side / 2.0);
    let cause = format!(
        "{} triangles{of} are more than {SLIM} times as long as wide, and lie too close side by side to be proven apart: {} at ({x:.3}, {y:.3}) in metres, and so on; squares of at most {MAX_SLIVERS} of them would be met more than {} times",
        grouped(thin.iter().filter(|s| counts[s.file as usize] > 0).count() as u64),
        grouped(worst.slivers as u64),
        grouped(Squares::most(thin.len()) as u64),
    );
    let hint = "cut them across in a mesh editor, and faces of very many corners into smaller ones";
    Some((file, Degenerate { cause, hint, material: ground.to_leave_out(met().map(|s| s.material)) }))
}

/// For each triangle of a scene whether it is an underside; empty if none is, or if the scene cannot be built.
pub fn ceilings(scene: &Scene, options: &Options) -> Vec<bool> {
    let lattice = options
        .check()
        .map_err(crate::build::error::BuildError::from)
        .and_then(|()| quantise(scene, options, &Cpu::new()));
    lattice.map_or_else(|_| Vec::new(), |l| facing::ceilings(scene, &l.vertices, &l.faces, &l.materials, options))
}

/// A scene, and which of its triangles are ground.
pub struct Ground<'a> {
    scene: &'a Scene,
    /// For each material whether it can be.
    materials: Vec<bool>,
    /// It rises no more in a metre of plan.
    rise: Option<f64>,
    /// For each triangle whether it is an underside; empty if none is.
    ceilings: Vec<bool>,
}

impl<'a> Ground<'a> {
    /// By settings; undersides are ground, too.
    pub fn new(scene: &'a Scene, rules: &Options) -> Self {
        let materials = scene.materials.iter().map(Material::is_ground).collect();
        Ground { scene, materials, rise: rules.max_slope.map(rise), ceilings: Vec::new() }
    }

    /// The same without undersides.
    pub fn without(self, ceilings: Vec<bool>) -> Self {
        Ground { ceilings, ..self }
    }

    /// Whether a triangle is, of this number.
    fn is(&self, number: usize, t: &Triangle) -> bool {
        let is_too_steep = |rise| {
            let corners = t.v.map(|v| self.scene.positions[v as usize]);
            corners.as_flattened().iter().all(|v| v.is_finite()) && is_steep(corners, rise)
        };
        self.materials[usize::from(t.material)]
            && self.ceilings.get(number) != Some(&true)
            && !self.rise.is_some_and(is_too_steep)
    }

    /// All that are, of triangles of these numbers.
    fn among(&self, triangles: Range<usize>) -> impl Iterator<Item = &'a Triangle> {
        let all = self.scene.triangles[triangles.clone()].iter();
        triangles.zip(all).filter(|(number, t)| self.is(*number, t)).map(|(_, t)| t)
    }

    /// The one of these materials that most triangles have, if there is other ground.
    fn to_leave_out(&self, materials: impl Iterator<Item = u16>) -> Option<String> {
        let mut counts = vec![0u64; self.materials.len()];
        materials.for_each(|m| counts[usize::from(m)] += 1);
        let most = (0..counts.len()).max_by_key(|&m| (counts[m], Reverse(m)));
        let others = |m: &usize| self.among(0..self.scene.triangles.len()).any(|t| usize::from(t.material) != *m);
        most.filter(others).map(|most| bounded(&self.scene.materials[most].name).into_owned())
    }

    /// Corners in plan, and the squares of the longest side and of twice the area; of those alone that are at least a
    /// step of the default lattice wide.
    fn wide(&self, v: [u32; 3]) -> Option<([[f64; 2]; 3], f64, f64)> {
        let corners = v.map(|v| self.scene.positions[v as usize]).map(|[x, y, _]| [x, y]);
        let [a, b, c] = corners;
        let square = |p: [f64; 2], q: [f64; 2]| (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]);
        let longest = square(a, b).max(square(b, c)).max(square(c, a));
        let double = turn(a, b, c);
        (double * double > longest * (STEP * STEP)).then_some((corners, longest, double * double))
    }

    /// The first of these vertices, which are all of the triangles, in which more meet than can be proven apart, and
    /// how many. Those that stand upright, are less than a step of the default lattice wide, or are there already, do
    /// not count.
    fn fan(&self, triangles: Range<usize>, vertices: Range<usize>) -> Option<(usize, u32)> {
        let ground = || self.among(triangles.clone());
        let mut count = vec![0u32; vertices.len()];
        let at = |v: u32| v as usize - vertices.start;
        ground().for_each(|t| t.v.iter().for_each(|&v| count[at(v)] += 1));
        if count.iter().all(|&n| n <= MAX_IN_A_FAN) {
            return None;
        }
        let crowded = |v: &[u32; 3]| v.iter().any(|&v| count[at(v)] > MAX_IN_A_FAN);
        let mut triangles: Vec<[u32; 3]> =
            ground().map(|t| t.v).filter(crowded).filter(|v| self.wide(*v).is_some()).collect();
        triangles.iter_mut().for_each(|v| v.sort_unstable());
        triangles.par_sort_unstable();
        triangles.dedup();
        count.fill(0);
        triangles.iter().flatten().for_each(|&v| count[at(v)] += 1);
        let vertex = count.iter().position(|&n| n > MAX_IN_A_FAN)?;
        Some((vertex, count[vertex]))
    }

    /// The corners of one that is much longer than wide.
    fn slim(&self, t: &Triangle) -> Option<Plan> {
        let (corners, longest, double) = self.wide(t.v)?;
        (longest < FAR && longest * longest > SLIM * SLIM * double).then_some(corners)
    }

    /// All that are, in the order of the files, given where the triangles of each end.
    fn slivers(&self, files: &[(&Path, usize)]) -> Vec<Sliver> {
        let turned = |[a, b, c]: Plan| if turn(a, b, c) < 0.0 { [a, c, b] } else { [a, b, c] };
        let ground = self.scene.triangles.par_iter().enumerate().filter(|(i, t)| self.is(*i, t));
        let sliver = |(i, t): (usize, &Triangle)| {
            let file = files.partition_point(|(_, end)| *end <= i) as u32;
            self.slim(t).map(|plan| Sliver { plan: turned(plan), file, material: t.material })
        };
        ground.filter_map(sliver).collect()
    }
}

/// A triangle in plan.
type Plan = [[f64; 2]; 3];

/// A triangle much longer than wide.
#[derive(Clone, Copy)]
struct Sliver {
    /// Runs counter-clockwise.
    plan: Plan,
    /// The number of the file that it is from.
    file: u32,
    material: u16,
}

/// A division of the plan.
#[derive(Debug)]
struct Squares {
    /// How often slivers may still meet squares.
    left: usize,
    /// Whether squares that slivers of one file alone meet are let be.
    mixed: bool,
    /// That of the most slivers.
    worst: Square,
}

/// So many slivers meet a square.
#[derive(Debug, Default)]
struct Square {
    slivers: usize,
    /// Its corner of least coordinates, metres.
    low: [f64; 2],
    side: f64,
}

impl Squares {
    /// How often so many slivers may meet squares.
    fn most(slivers: usize) -> usize {
        MEETINGS[0].max(MEETINGS[1] * slivers)
    }

    /// Divides the plan until each square has [`MAX_SLIVERS`] slivers; an error, as far as it came, if that takes too
    /// many squares. `mixed`: where those of several files lie.
    fn over(thin: &[Sliver], mixed: bool) -> Result<Self, Self> {
        let corners = || thin.iter().flat_map(|s| s.plan);
        let far = |of: fn(f64, f64) -> f64, start: f64| [0, 1].map(|i| corners().fold(start, |m, p| of(m, p[i])));
        let (low, high) = (far(f64::min, f64::INFINITY), far(f64::max, f64::NEG_INFINITY));
        let mut squares = Squares { left: Self::most(thin.len()), mixed, worst: Square::default() };
        match squares.divide(thin, low, (high[0] - low[0]).max(high[1] - low[1])) {
            Some(()) => Ok(squares),
            None => Err(squares),
        }
    }

    /// None if it takes too many.
    fn divide(&mut self, slivers: &[Sliver], low: [f64; 2], side: f64) -> Option<()> {
        if self.mixed && slivers.iter().all(|s| s.file == slivers[0].file) {
            return Some(());
        }
        let half = side / 2.0;
        if slivers.len() <= MAX_SLIVERS || side <= FINEST {
            if slivers.len() > self.worst.slivers {
                self.worst = Square { slivers: slivers.len(), low, side };
            }
            self.left = self.left.checked_sub(slivers.len())?;
            return Some(());
        }
        [[0.0, 0.0], [half, 0.0], [0.0, half], [half, half]].into_iter().try_for_each(|[x, y]| {
            let low = [low[0] + x, low[1] + y];
            let met: Vec<_> = slivers.iter().copied().filter(|s| meets(&s.plan, low, half)).collect();
            self.divide(&met, low, half)
        })
    }
}

/// Whether a triangle that runs counter-clockwise meets a square.
fn meets(t: &Plan, low: [f64; 2], side: f64) -> bool {
    let high = low.map(|v| v + side);
    let beside = |i: usize| t.iter().all(|p| p[i] < low[i]) || t.iter().all(|p| p[i] > high[i]);
    let beyond = |k: usize| {
        let (a, b) = (t[k], t[(k + 1) % 3]);
        let inner = [a[1] - b[1], b[0] - a[0]];
        let most = |i: usize| inner[i] * (if inner[i] > 0.0 { high[i] } else { low[i] } - a[i]);
        most(0) + most(1) < 0.0
    };
    !(0..2).any(beside) && !(0..3).any(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strips of so many metres by so many, side by side with a gap between them or none.
    fn strips(count: u32, [long, wide]: [f64; 2], gap: f64) -> Scene {
        let mut scene = Scene { materials: vec![Material::new("m", 0.8)], ..Scene::default() };
        for i in 0..count {
            let x = f64::from(i) * (wide + gap);
            scene.positions.extend([[x, 0.0, 0.0], [x + wide, 0.0, 0.0], [x + wide, long, 0.0], [x, long, 0.0]]);
            for v in [[0, 1, 2], [0, 3, 2]] {
                scene.triangles.push(Triangle { v: v.map(|v| 4 * i + v), ..Triangle::default() });
            }
        }
        scene
    }

    #[test]
    fn slivers_are_degenerate_where_many_lie_side_by_side() {
        // and how often slivers meet squares at most; none: until no more is allowed
        for (scene, work) in [
            (strips(100, [10_000.0, 0.05], 0.0), Some(200)),
            (strips(2_000, [10_000.0, 0.05], 0.0), Some(8_100_000)),
            (strips(4_000, [5_000.0, 0.005], 0.005), None),
            (strips(4_000, [5_000.0, 0.005], 100.0), Some(8_000)),
            (strips(10_000, [1_000.0, 0.005], 0.0), None),
            (strips(100_000, [10.0, 0.01], 0.0), Some(2_300_000)),
            (strips(0, [1.0, 1.0], 0.0), Some(0)),
        ] {
            let all = [(Path::new("a.obj"), scene.triangles.len())];
            let is_crowded = slivers(&Ground::new(&scene, &Options::default()), &all).is_some();
            let thin = Ground::new(&scene, &Options::default()).slivers(&all);
            let divided = Squares::over(&thin, false);
            assert_eq!(is_crowded, work.is_none(), "{divided:?}");
            match (&divided, work) {
                (Ok(squares), Some(work)) => assert!(Squares::most(thin.len()) - squares.left <= work, "{squares:?}"),
                (Err(squares), None) => assert!(squares.left < MAX_SLIVERS, "{squares:?}"),
                _ => panic!("{} slivers: {divided:?}", thin.len()),
            }
        }
        // far away, and where numbers end
        let mut scene = strips(10_000, [1_000.0, 0.005], 0.0);
        scene.positions.iter_mut().for_each(|p| p[0] += 1e9);
        let all = [(Path::new("a.obj"), scene.triangles.len())];
        assert!(slivers(&Ground::new(&scene, &Options::default()), &all).is_some());
        for most in [1e150, 1e300] {
            scene.positions.iter_mut().for_each(|p| p[1] = p[1].signum() * most);
            slivers(&Ground::new(&scene, &Options::default()), &all); // ends
        }
    }
}
