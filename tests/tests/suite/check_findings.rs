//! Analyses of an image against what the scene's triangles say.

use std::collections::{BTreeMap, BTreeSet, HashMap};

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

/// A spike: its vertex, height over the nearest neighbour, number of neighbours, and height of the steepest edge around it.
type Spike = (usize, f64, usize, f64);

/// Spikes by the words of their definition, from the triangles of a scene whose vertices are joined by number.
fn truth(scene: &Scene) -> Vec<Spike> {
    let z = |v: usize| scene.positions[v][2];
    let mut rings: BTreeMap<usize, BTreeSet<[usize; 2]>> = BTreeMap::new();
    let mut users: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for t in &scene.triangles {
        let v = t.v.map(|v| v as usize);
        for k in 0..3 {
            let (a, b) = (v[(k + 1) % 3], v[(k + 2) % 3]);
            rings.entry(v[k]).or_default().insert([a.min(b), a.max(b)]);
            *users.entry([a.min(b), a.max(b)]).or_default() += 1;
        }
    }
    let spike = |(v, ring): (usize, BTreeSet<[usize; 2]>)| {
        let neighbours: BTreeSet<usize> = ring.iter().flatten().copied().collect();
        let nearest = neighbours.iter().map(|&n| z(v) - z(n)).min_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
        let one_side = neighbours.iter().all(|&n| (z(v) - z(n)) * nearest > 0.0);
        let step = ring.iter().map(|&[a, b]| (z(a) - z(b)).abs()).fold(0.0, f64::max);
        let shared = ring.iter().filter(|edge| users[*edge] > 1).count();
        let is = one_side && nearest.abs() > 3.0 && nearest.abs() > 5.0 * step;
        (is && neighbours.len() >= 3 && 2 * shared >= ring.len()).then_some((v, nearest, neighbours.len(), step))
    };
    let mut all: Vec<Spike> = rings.into_iter().filter_map(spike).collect();
    all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    all
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
