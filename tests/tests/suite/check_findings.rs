//! Analyses of an image against what the scene's triangles say.

use std::collections::{BTreeSet, HashMap};

use crate::common::{as_given, hills};
use hardpan::Terrain;
use hardpan_builder::{
    Code, Finding, Options, Scene, build,
    check::ground::{buried, spikes},
    import::{self, Frame},
};
use verification::{obj::trial, random::Random};

fn read(name: &str) -> Option<Scene> {
    Some(import::read(&[trial(name)?], &Frame::default()).unwrap().scene)
}

fn spikes_of(scene: &Scene, options: &Options) -> Vec<Finding> {
    let built = build(scene, options).unwrap();
    spikes::spikes(&Terrain::open_verified(&built.image).unwrap(), spikes::LIMIT)
}

/// A spike: its vertex that is farthest off, height over the ring, number of vertices in that, and height of its
/// steepest edge.
type Spike = (usize, f64, usize, f64);

/// Connected parts of some vertices, along edges that may be used.
fn together(
    among: &BTreeSet<usize>,
    edges: &BTreeSet<[usize; 2]>,
    uses: impl Fn([usize; 2]) -> bool,
) -> Vec<BTreeSet<usize>> {
    let mut left = among.clone();
    let mut parts = Vec::new();
    while let Some(first) = left.pop_first() {
        let (mut part, mut open) = (BTreeSet::from([first]), vec![first]);
        while let Some(v) = open.pop() {
            let others = edges.iter().filter(|e| e.contains(&v) && uses(**e)).map(|e| e[0] + e[1] - v);
            let new: Vec<usize> = others.filter(|other| left.remove(other)).collect();
            part.extend(&new);
            open.extend(new);
        }
        parts.push(part);
    }
    parts
}

/// Spikes by the words of their definition, from the triangles of a scene whose vertices are joined by number.
fn truth(scene: &Scene) -> Vec<Spike> {
    let z = |v: usize| scene.positions[v][2];
    let faces: Vec<[usize; 3]> = scene.triangles.iter().map(|t| t.v.map(|v| v as usize)).collect();
    let sides = |v: &[usize; 3]| [0, 1, 2].map(|k| [v[k].min(v[(k + 1) % 3]), v[k].max(v[(k + 1) % 3])]);
    let edges: BTreeSet<[usize; 2]> = faces.iter().flat_map(sides).collect();
    let steep = |[a, b]: [usize; 2]| (z(a) - z(b)).abs() > 3.0;
    let all: BTreeSet<usize> = faces.iter().flatten().copied().collect();
    let spike = |group: &BTreeSet<usize>| {
        let own = |v: &usize| group.contains(v);
        let fan: Vec<&[usize; 3]> = faces.iter().filter(|f| f.iter().any(own)).collect();
        let ring: BTreeSet<usize> = fan.iter().flat_map(|f| **f).filter(|v| !own(v)).collect();
        let around: BTreeSet<[usize; 2]> = fan.iter().flat_map(|f| sides(f)).filter(|e| !e.iter().any(own)).collect();
        let ends = |of: &BTreeSet<usize>| {
            of.iter().map(|&v| z(v)).fold([f64::MAX, f64::MIN], |[a, b], z| [a.min(z), b.max(z)])
        };
        let ([low, high], [ring_low, ring_high]) = (ends(group), ends(&ring));
        let height = (low - ring_high).max(0.0) + (high - ring_low).min(0.0);
        let step = around.iter().map(|&[a, b]| (z(a) - z(b)).abs()).fold(0.0, f64::max);
        let beyond = |e: &&[usize; 2]| faces.iter().any(|f| !f.iter().any(own) && sides(f).contains(e));
        let shared = around.iter().filter(beyond).count();
        let is = height.abs() > 3.0 && height.abs() > 5.0 * step && ring.len() >= 3 && 2 * shared >= around.len();
        let top = group.iter().copied().max_by(|a, b| (z(*a) * height).total_cmp(&(z(*b) * height)))?;
        is.then_some((top, height, ring.len(), step))
    };
    let few = |group: &BTreeSet<usize>| group.len() <= 16;
    let alone: Vec<BTreeSet<usize>> = together(&all, &edges, |e| !steep(e)).into_iter().filter(few).collect();
    let mut spikes: Vec<Spike> = alone.iter().filter_map(spike).collect();
    // and such that lie beside each other
    let rest: BTreeSet<usize> = alone.iter().filter(|group| spike(group).is_none()).flatten().copied().collect();
    let joined = together(&rest, &edges, |_| true);
    spikes.extend(joined.iter().filter(|group| few(group) && !alone.contains(group)).filter_map(spike));
    spikes.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    spikes
}

/// Holds findings against the truth, the worst first.
fn same(found: &[Finding], truth: &[Spike], scene: &Scene) {
    assert_eq!(found.len(), truth.len(), "{found:?}\n{truth:?}");
    for (finding, &(v, height, neighbours, step)) in found.iter().zip(truth) {
        assert_eq!(finding.code, Code::Spike);
        let (place, true_place) = (finding.place.unwrap(), scene.positions[v]);
        assert!((0..3).all(|i| (place[i] - true_place[i]).abs() < 1e-3), "{place:?} {true_place:?}");
        let near = |name, truth: f64| (finding.value(name).unwrap() - truth).abs() < 1e-3;
        assert!(near("height", height) && near("neighbours", neighbours as f64) && near("step", step), "{finding:?}");
    }
}

#[test]
fn by_15_the_spikes_of_trials_are_found() {
    for name in ["down_35m", "one_zero_at_412m", "up_180m", "up_4m"] {
        let Some(scene) = read(&format!("spikes/{name}.obj")) else { return };
        let truth = truth(&scene);
        assert_eq!(truth.len(), 1, "{name}");
        same(&spikes_of(&scene, &Options::default()), &truth, &scene);
    }
}

#[test]
fn by_15_planted_spikes_are_found_and_no_others() {
    let (mut r, mut planted, mut found) = (Random(15), 0, 0);
    for round in 0..12 {
        let mut scene = hills(24, 1.0);
        for _ in 0..12 {
            let v = r.below(scene.positions.len());
            // some are too low, and some are beside each other
            scene.positions[v][2] += r.within(-40 * 128, 40 * 128) as f64 / 128.0;
            planted += 1;
        }
        // tiles of 4 m, 64 m and more
        let options = Options { tile_log2: [Some(14), Some(18), None][round % 3], ..as_given() };
        let truth = truth(&scene);
        found += truth.len();
        same(&spikes_of(&scene, &options), &truth, &scene);
    }
    assert!(found > planted / 4 && found < planted, "{found} of {planted}");
}

/// Heights of a material at places so far apart, by their numbers.
fn heights(scene: &Scene, material: &str, apart: f64) -> HashMap<[i64; 2], f64> {
    let mut all = HashMap::new();
    for t in scene.triangles.iter().filter(|t| scene.materials[usize::from(t.material)].name == material) {
        let [a, b, c] = t.v.map(|v| scene.positions[v as usize]);
        let area =
            |p: [f64; 2], q: [f64; 2], r: [f64; 2]| (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
        let [pa, pb, pc] = [a, b, c].map(|[x, y, _]| [x, y]);
        let ends = |i: usize| [a[i].min(b[i]).min(c[i]), a[i].max(b[i]).max(c[i])].map(|v| (v / apart) as i64);
        let ([x0, x1], [y0, y1]) = (ends(0), ends(1));
        for (i, j) in (x0 - 1..=x1 + 1).flat_map(|i| (y0 - 1..=y1 + 1).map(move |j| (i, j))) {
            let p = [i, j].map(|k| (k as f64 + 0.5) * apart);
            let shares = [area(pb, pc, p), area(pc, pa, p), area(pa, pb, p)].map(|v| v / area(pa, pb, pc));
            if shares.iter().all(|v| *v >= 0.0) {
                all.insert([i, j], shares[0] * a[2] + shares[1] * b[2] + shares[2] * c[2]);
            }
        }
    }
    all
}

#[test]
fn by_15_the_buried_road_of_trials_is_found() {
    const APART: f64 = 0.05;
    let Some(scene) = read("buried_road/poke.obj") else { return };
    let [land, road] = ["Grass", "Asphalt"].map(|name| heights(&scene, name, APART));
    let above: Vec<f64> = road.iter().filter_map(|(p, z)| Some(land.get(p)? - z)).collect();
    let area = |far: &dyn Fn(f64) -> bool| above.iter().filter(|v| far(**v)).count() as f64 * APART * APART;
    let built = build(&scene, &Options::default()).unwrap();
    let found = buried::buried(&Terrain::open_verified(&built.image).unwrap(), buried::LIMIT).unwrap();
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!((finding.code, &*finding.subject), (Code::BuriedRoad, "Grass"));
    let near = |name, truth: f64, by: f64| {
        let value = finding.value(name).unwrap();
        assert!((value - truth).abs() < by, "{name} {value}, not {truth}");
    };
    near("area", area(&|v| v > 0.01), 1.0);
    near("below", area(&|v| v < -0.01), 1.0);
    near("height", above.iter().copied().fold(0.0, f64::max), 0.002);
    let [x, y, z] = finding.place.unwrap();
    let key = [x, y].map(|v| (v / APART).floor() as i64);
    assert!((land[&key] - z).abs() < 0.005 && land[&key] - road[&key] > 0.23, "{:?}", finding.place);
}
