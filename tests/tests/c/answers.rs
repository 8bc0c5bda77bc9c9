//! Every answer through C is the kernel's, to the bit.

use super::*;
use hardpan::{
    Answer, Cost, Cursor, Fixed, Hit, IntoPoint, Kinds, Options, Point, RayAnswer, RayOptions, Surface, Terrain, Trace,
    Windows,
};
use hardpan_builder::HeightField;
use hardpan_builder::demo::fixtures;
use std::fmt::Write as _;
use verification::random::Random;

/// Room for layers and points of a batch, as in the program.
const ROOM: usize = 5;
const BATCH: usize = 70;

fn hit(h: &Hit) -> String {
    let (n, [a, b, c]) = (h.normal, h.place);
    let (leaf, reach) = (h.leaf as u8, h.reach as u8);
    format!(" {} {} {} {} {} {} {leaf} {reach} {a} {b} {c}", h.z, n.x, n.y, n.z, h.material, h.source)
}

fn answer(name: &str, a: &Answer) -> String {
    format!("{name} {}{}\n", a.status as u8, hit(&a.hit))
}

fn doubles(values: &[f64]) -> String {
    values.iter().map(|v| format!(" {:016x}", v.to_bits())).collect()
}

fn floats(values: &[f32]) -> String {
    values.iter().map(|v| format!(" {:08x}", v.to_bits())).collect()
}

fn facts(t: &Terrain) -> String {
    let (h, b) = (t.header(), t.bound());
    let default = t.z_f64(&Hit { z: h.default_z, ..Hit::NONE });
    let mut to = format!(
        "facts {} {} {} {} {} {} {} {} {} {} {} {} {}{}\n",
        h.total_len,
        h.triangles,
        h.xy_log2,
        h.z_log2,
        h.tile_count,
        t.materials().len(),
        t.source_count(),
        h.max_layers,
        b.nodes,
        b.leaves,
        b.tests,
        b.lines,
        h.wide_tests,
        doubles(&[h.error_plan, h.error_height, default, h.default_mu, h.default_rolling, h.default_gain])
    );
    let identity: String = t.identity().iter().map(|b| format!("{b:02x}")).collect();
    let [low, high] = t.bounds();
    let bounds: Vec<f64> = low.iter().zip(&high).flat_map(|(a, b)| [*a, *b]).collect();
    to += &format!("identity {identity}\nbounds{}\n", doubles(&bounds));
    for (i, m) in t.materials().iter().enumerate() {
        let name = t.material_name(i as u16);
        let values = doubles(&[m.mu, m.rolling, m.gain, m.cone_index]);
        let (mask, label, priority, surface, obstacle) = (m.class_mask, m.label, m.priority, m.surface, m.flags & 1);
        to += &format!("material {name} {i}{values} {mask} {label} {priority} {surface} {obstacle}\n");
    }
    for i in 0..t.source_count() {
        to += &format!("source {}\n", t.source_name(i as u16));
    }
    to
}

fn point(t: &Terrain, p: impl IntoPoint) -> String {
    match t.point(p) {
        Some(Point { x, y, z }) => format!("point 0 {x} {y} {z}\n"),
        None => format!("point 9 {0} {0} {0}\n", i64::MIN),
    }
}

fn values(t: &Terrain, a: &Answer) -> String {
    let h = &a.hit;
    let [mu, rolling, gain] = t.surface(a);
    let ([dx, dy], [nx, ny, nz], z) = (t.slope_f64(h), t.normal_f64(h), t.z_f64(h));
    let all = [z, dx, dy, nx, ny, nz, mu, rolling, gain, z, dx, dy, mu, rolling, gain];
    let few = [&t.slope_f32(h)[..], &t.normal_f32(h), &t.surface_f32(a)].concat();
    format!("leaf {}\nvalues {}{}{}\n", h.leaf.name(), t.z_fixed(h).to_bits(), doubles(&all), floats(&few))
}

fn trace(step: &Trace) -> String {
    let [mut kind, mut log2, mut words, mut lines, mut part, mut of] = [0u32; 6];
    let (mut at, mut h) = (0, Hit::NONE);
    match *step {
        Trace::Node { log2: l } => log2 = l,
        Trace::Words { words: w, lines: l } => (kind, words, lines) = (1, w, l),
        Trace::Leaf { record, lines: l } => (kind, at, lines) = (2, record, l),
        Trace::Test { record, part: p, covered } => (kind, at, part, of) = (3, record, p, covered.into()),
        Trace::Candidate(hit) => (kind, h) = (4, hit),
        Trace::Long { record } => (kind, at, lines) = (5, record, 1),
    }
    format!("trace {kind} {log2} {words} {lines} {at} {part} {of}{}\n", hit(&h))
}

fn layers(t: &Terrain, [x, y, z]: [f64; 3]) -> String {
    let mut to = String::new();
    for room in [0, ROOM - 1] {
        for p in [[x, y, 0.0], [x, y, z]] {
            let mut hits = [Hit::NONE; ROOM];
            let found = t.layers(p, &mut hits[..room]);
            let all: String = hits.iter().take(found.written).map(hit).collect();
            to += &format!("layers {} {} {}{all}\n", found.status as u8, found.written, found.total);
        }
    }
    to
}

fn ray(name: &str, t: &Terrain, a: &RayAnswer) -> String {
    let h = &a.hit;
    let (kind, leaf, back, start) = (h.kind as u8, h.leaf as u8, u8::from(h.back), u8::from(h.at_start));
    let mut to = format!("{name} {} {kind} {leaf} {back} {start} {} {}", a.status as u8, h.material, h.source);
    to += &doubles(&[h.t]);
    for i in 0..3 {
        to += &format!("{} {}", doubles(&[t.metres(h.at)[i], t.face_normal_f64(h)[i]]), h.place[i]);
    }
    to + "\n"
}

fn rays(t: &Terrain, [x, y, z]: [f64; 3], length: f64) -> String {
    let all = [([0.0, 0.0, -1.0], length), ([1.0, 0.25, -0.125], length), ([-x, -y, -z], 50.0)];
    let some =
        RayOptions { kinds: Kinds::GROUND, front_only: true, after: Some(0.125), limit: 9, ..RayOptions::default() };
    let cast = |(direction, length), options: &RayOptions| match t.ray_from([x, y, z], direction, length) {
        Ok(ray) => t.raycast(ray, options),
        Err(status) => RayAnswer::of(status),
    };
    let none = RayOptions::default();
    let mut to = String::new();
    for (i, of) in all.into_iter().enumerate() {
        to += &ray("raycast", t, &cast(of, if i == 1 { &some } else { &none }));
    }
    for of in all {
        to += &ray("rays", t, &cast(of, &none));
    }
    let found = t.clearance([x, y, z]);
    to += &answer("clearance", &found.ground);
    to += &ray("above", t, &found.above);
    to += &format!("free{}\n", doubles(&[t.free_f64(&found).unwrap_or(-1.0)]));
    to + &answer("closest_of", &t.closest_of([x, y, z], 2, &t.options()))
}

fn callback(t: &Terrain, p: [f64; 3]) -> String {
    let [a, b] = [p, p.map(|v| f64::from(v as f32))].map(|p| t.ground(p));
    let few = [b.z, b.slope[0], b.slope[1], b.mu, b.rolling].map(|v| v as f32);
    let all = doubles(&[a.z, a.slope[0], a.slope[1], a.mu, a.rolling]);
    format!("vs {}{all} {}{}\n", u8::from(a.found), u8::from(b.found), floats(&few))
}

/// The output that the program must print.
fn expected(t: &Terrain, queries: &[[f64; 4]]) -> String {
    let mut to = facts(t);
    let mut cursors = [Cursor::new(); 4];
    for &[x, y, z, length] in queries {
        let (p, f) = ([x, y, z], [x, y, z].map(|v| v as f32));
        let fits = |v: f64| v.is_finite() && v.abs() < 1e9;
        let i = p.map(|v| Fixed::from_bits(if fits(v) { (v * 16_777_216.0) as i64 } else { i64::MAX }));
        to += &[point(t, p), point(t, f), point(t, i)].concat();
        to += &answer("closest", &t.closest(p));
        to += &values(t, &t.closest(p));
        to += &answer("closest_f32", &t.closest(f));
        to += &answer("closest_fixed", &t.closest(i));
        to += &answer("closest_at", &t.closest(p));
        let Options { windows: Windows { near, far }, fallback } = t.options();
        let steps = t.point([0.0, 0.0, length]).map(|p| p.z);
        to += &format!("options {near} {far} {fallback}\n");
        to += &format!("steps {} {}\n", if steps.is_some() { 0 } else { 9 }, steps.unwrap_or(0));
        for fallback in 0..4 {
            let options = Options { windows: Windows { near: near / 16, far: far / 512 }, fallback };
            to += &answer("closest_with", &t.closest_with(p, &options));
            to += &answer("closest_with_at", &t.closest_with(p, &options));
        }
        let (costed, Cost { nodes, leaves, tests, lines }) = t.closest_costed(p);
        for name in ["costed", "costed_at"] {
            to += &format!("{}cost {nodes} {leaves} {tests} {lines}\n", answer(name, &costed));
        }
        let mut traces = 0;
        let explained = t.explain(p, |step| {
            traces += 1;
            to += &trace(&step);
        });
        _ = writeln!(to, "{}traces {traces}", answer("explain", &explained));
        to += &answer("below", &t.below(p));
        to += &answer("below_at", &t.below(p));
        to += &answer("segment", &t.segment_m(p, length));
        to += &answer("segment_at", &t.segment(p, steps.unwrap_or(0)));
        let [a, b, c, d] = &mut cursors;
        to += &answer("cursor", &t.closest_cursor(p, a));
        to += &answer("cursor_f32", &t.closest_cursor(f, b));
        to += &answer("cursor_fixed", &t.closest_cursor(i, c));
        to += &answer("cursor_at", &t.closest_cursor(p, d));
        to += &layers(t, p);
        to += &rays(t, p, length);
        to += &callback(t, p);
    }
    let points: Vec<[f64; 3]> = queries.iter().take(BATCH).map(|&[x, y, z, _]| [x, y, z]).collect();
    for kind in 0..3 {
        for &p in &points {
            let a = if kind == 1 { t.closest(p.map(|v| v as f32)) } else { t.closest(p) };
            to += &answer("batch", &a);
        }
    }
    to
}

/// Places in and about an image, some of them no places at all.
fn queries(t: &Terrain, seed: u64, count: usize) -> Vec<[f64; 4]> {
    let [low, high] = t.bounds();
    let mut random = Random(seed);
    let mut all: Vec<[f64; 4]> = (0..count)
        .map(|_| {
            let mut at = |k: usize, beyond: f64| {
                let part = random.below(1_000_001) as f64 / 1e6;
                low[k] - beyond + part * (high[k] - low[k] + 2.0 * beyond)
            };
            let (x, y, z) = (at(0, 2.0), at(1, 2.0), at(2, 3.0));
            [x, y, z, random.below(20_000) as f64 / 1000.0]
        })
        .collect();
    for v in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e300, -1e18, 4e9, f64::MIN_POSITIVE, -0.0] {
        all.extend([
            [v, low[1], low[2], 1.0],
            [low[0], v, high[2], 1.0],
            [low[0], high[1], v, 1.0],
            [0.0, 0.0, 5.0, v],
        ]);
    }
    // a wheel's path: cursors start where they were
    let step = |k: usize, i: usize| low[k] + (high[k] - low[k]) * i as f64 / 64.0;
    all.extend((0..64).map(|i| [step(0, i), step(1, i), high[2] + 1.0, 9.0]));
    all
}

#[test]
fn by_18_c_answers_are_those_of_rust_to_the_bit() {
    let program = compile("answers", &source("answers.c"), &[]);
    let mut curb = fixtures::curb();
    curb.fields.push(HeightField {
        origin: [-4.0, -4.0],
        pitch: 0.5,
        columns: 17,
        rows: 17,
        heights: (0..17 * 17).map(|i| if i == 40 { f64::NAN } else { (i % 7) as f64 / 10.0 + 8.0 }).collect(),
        material: 1,
        source: 0,
        tolerance: 0.001,
        ..HeightField::default()
    });
    let few = env::var_os("HARDPAN_RUN").is_some();
    let scenes = [
        ("bridge", fixtures::bridge()),
        ("hole", fixtures::hole()),
        ("mats", fixtures::mats()),
        ("ramp", fixtures::ramp()),
        ("curb", curb),
    ];
    for (name, scene) in scenes {
        let (image, path) = image(name, &scene);
        let terrain = Terrain::open(&image).unwrap();
        let queries = queries(&terrain, 7, if few { 40 } else { 500 });
        let input: Vec<u8> = queries.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
        let (got, wanted) = (run(&program, &[&path], &input), expected(&terrain, &queries));
        for (i, (got, wanted)) in got.lines().zip(wanted.lines()).enumerate() {
            assert_eq!(got, wanted, "{name}, line {i}");
        }
        assert_eq!(got.lines().count(), wanted.lines().count(), "{name}");
        assert!(wanted.matches("closest 0 ").count() > 60, "{name}: too few places have ground");
        for (leaf, there) in [("mesh", true), ("field", name == "curb"), ("none", true)] {
            assert_eq!(got.contains(&format!("\nleaf {leaf}\n")), there, "{name} has answers of {leaf}");
        }
    }
}
