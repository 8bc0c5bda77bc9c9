//! Counts the instructions of every query on an emulated board and hashes the answers.
//!
//! The image and the queries are loaded beside the firmware, as they would be flashed. Lines on the console: `count
//! NAME MIN MEAN MAX`, `stack NAME BYTES`, `worst NAME x y z nodes leaves tests lines`, `bound nodes leaves tests lines
//! wide`, `sample nodes leaves tests lines INSTRUCTIONS` of each `closest` that is timed, `held` of all others, and
//! `hash KIND VALUE`. Exit codes: 0 fine, 2 no queries, 3 no image, 4 something else opens too, 98 a call needs more
//! stack than is looked at.
#![no_std]
#![no_main]

mod board;

use core::hint::black_box;
use core::slice;
use hardpan::format::{fallback, section};
use hardpan::{
    Answer, Cost, Cursor, Field, FieldGround, Fixed, Hit, Layers, Options, Point, Ray, RayAnswer, RayOptions,
    RayStatus, Terrain,
};
use probe::{BATCH, BLANK, KINDS, LAYERS, Queries, UNANSWERED, ask};
use semihosting::{println, process::exit};

/// What a call gets, prepared outside the count.
struct Input<'a> {
    image: &'a [u8],
    terrain: Terrain<'a>,
    point: Point,
    metres: [f64; 3],
    single: [f32; 3],
    fixed: [Fixed; 3],
    /// East of the image's bounds, and what answers there with the ground at the border.
    beyond: Point,
    extend: Options,
    hit: Hit,
    /// The field at the point, if it is the only ground there.
    field: Option<Field<'a>>,
    wheel: Ray,
    level: Ray,
}

/// Where calls write.
struct Output {
    opened: bool,
    answer: Answer,
    ground: Option<FieldGround>,
    layers: Option<Layers>,
    hits: [Hit; LAYERS],
    cursor: Cursor,
    slope: [f32; 2],
    normal: [f32; 3],
    damage: [u8; 64],
    /// The last points.
    points: [Point; BATCH],
    answers: [Answer; BATCH],
    ray: RayAnswer,
}

type Call = fn(&Input, &mut Output);

/// Whether rays are asked; see `build.rs`.
const RAYS: bool = cfg!(rays);

/// Counted calls: `verify` is the first step, `closest_batch` one of 32 points, `layers_1` has room for one of them,
/// `field_height` and `field_ground` are asked of the handle, where there is one,
/// `closest_extend` one point beyond the bounds, answered with the ground at the border.
const CALLS: [(&str, Call); 19] = [
    ("open", |i, o| o.opened = Terrain::open(i.image).is_ok()),
    ("closest", |i, o| o.answer = ask::closest(&i.terrain, i.point)),
    ("closest_cursor", |i, o| o.answer = ask::closest_cursor(&i.terrain, i.point, &mut o.cursor)),
    ("closest_fixed", |i, o| o.answer = ask::closest_fixed(&i.terrain, i.fixed)),
    ("closest_f64", |i, o| o.answer = ask::closest_f64(&i.terrain, i.metres)),
    ("closest_f32", |i, o| o.answer = ask::closest_f32(&i.terrain, i.single)),
    ("closest_damage", |i, o| o.answer = ask::closest_damage(&i.terrain, i.point, &o.damage)),
    ("closest_batch", |i, o| _ = ask::closest_batch(&i.terrain, &o.points, &mut o.answers)),
    ("closest_extend", |i, o| o.answer = ask::closest_extend(&i.terrain, i.beyond, &i.extend)),
    ("below", |i, o| o.answer = ask::below(&i.terrain, i.point)),
    ("segment", |i, o| o.answer = ask::segment(&i.terrain, i.point, 1 << 28)),
    ("layers", |i, o| o.layers = Some(ask::layers(&i.terrain, i.point, &mut o.hits))),
    ("layers_1", |i, o| o.layers = Some(ask::layers(&i.terrain, i.point, &mut o.hits[..1]))),
    ("slope_f32", |i, o| o.slope = i.terrain.slope_f32(&i.hit)),
    ("normal_f32", |i, o| o.normal = i.terrain.normal_f32(&i.hit)),
    ("material", |i, o| o.slope[0] = i.terrain.material(&i.hit).mu as f32),
    ("field_height", |i, o| {
        o.answer.hit.z = i.field.as_ref().and_then(|field| ask::field_height(field, i.point)).unwrap_or(0)
    }),
    ("field_ground", |i, o| o.ground = i.field.as_ref().and_then(|field| ask::field_ground(field, i.point))),
    ("verify", |i, o| o.opened = i.terrain.verifier().step(1024, &mut o.damage).is_ok()),
];

/// Rays of 2 m that lean by 7 degrees, as those of a wheel do, and level ones of 5 m; both from half a metre above.
const RAY_CALLS: &[(&str, Call)] = if RAYS {
    &[
        ("ray_wheel", |i, o| o.ray = ask::raycast(&i.terrain, i.wheel, &RayOptions::default())),
        ("ray_level", |i, o| o.ray = ask::raycast(&i.terrain, i.level, &RayOptions::default())),
    ]
} else {
    &[]
};

/// Ticks of one call through an opaque pointer.
#[inline(never)]
fn ticks(call: Call, input: &Input, output: &mut Output) -> u32 {
    let call = black_box(call);
    let start = board::now();
    call(input, output);
    board::since(start)
}

/// Seven degrees off the vertical.
const LEANING: [f64; 3] = [0.0975, 0.0731, -0.9925];

/// Of how many timed places one has its stack measured.
const STACKS: usize = 3;

/// Counts the steps of a verification by 256 bytes, all but the first, what they take together a byte of the tiles, and
/// the stack of all of them.
fn steps(terrain: &Terrain, clock: &board::Clock, own: u32, damage: &mut [u8]) {
    let mut verifier = terrain.verifier();
    let mut more = verifier.step(0, damage) == Ok(false);
    let (mut least, mut most, mut sum, mut steps) = (u32::MAX, 0, 0u64, 0u64);
    while more {
        let start = board::now();
        more = verifier.step(256, damage) == Ok(false);
        let count = clock.instructions(board::since(start) - own);
        (least, most, sum, steps) = (least.min(count), most.max(count), sum + u64::from(count), steps + 1);
    }
    let mut verifier = terrain.verifier();
    let stack = board::stack(|| while black_box(&mut verifier).step(256, damage) == Ok(false) {});
    println!("stack verify_256 {stack}");
    let tiles = terrain.section(section::TILES).map_or(1, |tiles| tiles.len() as u64);
    let (mean, byte) = (10 * sum / steps.max(1), 10 * sum / tiles);
    println!("count verify_256 {least} {}.{} {most}", mean / 10, mean % 10);
    println!("count verify_byte 0 {}.{} {}", byte / 10, byte % 10, sum.div_ceil(tiles));
}

fn main() -> ! {
    let clock = board::Clock::start();
    // SAFETY: the memory map reserves both regions and nothing writes to them.
    let [image, queries] = board::regions().map(|(at, len)| unsafe { slice::from_raw_parts(at, len) });
    let Some(queries) = Queries::read(queries) else { exit(2) };
    let Some(image) = image.get(..queries.image_len) else { exit(3) };
    let Ok(terrain) = Terrain::open(image) else { exit(3) };
    if queries.traced {
        for i in 0..queries.len() {
            black_box(ask::closest(&terrain, queries.point(i)));
        }
        exit(0)
    }
    if !probe::opens_only(image) {
        exit(4)
    }
    if cfg!(counts) {
        counts(image, &queries, &terrain, &clock);
    }
    for (kind, name) in KINDS.iter().enumerate().filter(|(_, name)| RAYS || **name != "rays") {
        println!("hash {name} {:016x}", probe::hash_of::<RAYS>(&terrain, &queries, kind));
    }
    exit(0)
}

/// Instructions, stack and cost of every call.
fn counts(image: &[u8], queries: &Queries, terrain: &Terrain, clock: &board::Clock) {
    let (east, extend) =
        (terrain.bounds()[1][0] + 1.0, Options { fallback: fallback::EDGE_EXTEND, ..terrain.options() });
    let input = |i: usize| {
        let point = queries.point(i);
        let (metres, fixed) = (queries.metres(point), queries.fixed(point));
        let single = metres.map(|c| c as f32);
        let beyond = terrain.point([east, metres[1], metres[2]]).unwrap_or(point);
        let (hit, field) = (ask::closest(terrain, point).hit, terrain.field(point));
        let ray = |direction, length| {
            let ray = terrain.ray_from([metres[0], metres[1], metres[2] + 0.5], direction, length);
            ray.unwrap_or(Ray { from: point, to: point })
        };
        let (wheel, level) = if RAYS {
            (ray(LEANING, 2.0), ray([0.8, 0.6, 0.0], 5.0))
        } else {
            (Ray { from: point, to: point }, Ray { from: point, to: point })
        };
        Input { image, terrain: *terrain, point, metres, single, fixed, beyond, extend, hit, field, wheel, level }
    };
    let mut output = Output {
        opened: false,
        answer: UNANSWERED,
        ground: None,
        layers: None,
        hits: [BLANK; LAYERS],
        cursor: Cursor::new(),
        slope: [0.0; 2],
        normal: [0.0; 3],
        damage: [0; 64],
        points: [Point::default(); BATCH],
        answers: [UNANSWERED; BATCH],
        ray: RayAnswer::of(RayStatus::NoLength),
    };
    let nothing: Call = |_, _| {};
    let first = input(0);
    let own = ticks(nothing, &first, &mut output);
    let own_stack = board::stack(|| black_box(nothing)(&first, &mut output));
    for (name, call) in CALLS.iter().chain(RAY_CALLS).copied() {
        if name.starts_with("field") && first.field.is_none() {
            continue;
        }
        let (mut least, mut most, mut sum, mut worst) = (u32::MAX, 0, 0u64, 0);
        for i in 0..queries.timed {
            let input = input(i);
            output.points[i % BATCH] = input.point;
            let count = clock.instructions(ticks(call, &input, &mut output) - own);
            if i < queries.uniform {
                least = least.min(count);
                sum += u64::from(count);
            }
            if count > most {
                (most, worst) = (count, i);
            }
            if name == "closest" {
                let Cost { nodes, leaves, tests, lines } = ask::closest_costed(terrain, input.point).1;
                println!("sample {nodes} {leaves} {tests} {lines} {count}");
            }
        }
        if name == "closest" {
            for i in queries.timed..queries.len() {
                let input = input(i);
                let count = clock.instructions(ticks(call, &input, &mut output) - own);
                let Cost { nodes, leaves, tests, lines } = ask::closest_costed(terrain, input.point).1;
                println!("held {nodes} {leaves} {tests} {lines} {count}");
            }
        }
        let tenths = 10 * sum / queries.uniform as u64;
        let kind = if name.starts_with("ray_") { "ray" } else { "count" };
        println!("{kind} {name} {least} {}.{} {most}", tenths / 10, tenths % 10);
        let Point { x, y, z } = queries.point(worst);
        let Cost { nodes, leaves, tests, lines } = ask::closest_costed(terrain, queries.point(worst)).1;
        println!("worst {name} {x} {y} {z} {nodes} {leaves} {tests} {lines}");
        let stack = |i: usize| {
            let input = input(i);
            output.points[i % BATCH] = input.point;
            board::stack(|| black_box(call)(&input, &mut output)).saturating_sub(own_stack)
        };
        println!("stack {name} {}", (0..queries.timed).step_by(STACKS).chain([worst]).map(stack).max().unwrap_or(0));
    }
    steps(terrain, clock, own, &mut output.damage);
    let Cost { nodes, leaves, tests, lines } = terrain.bound();
    println!("bound {nodes} {leaves} {tests} {lines} {}", terrain.header().wide_tests);
}
