//! The queries.

use crate::ffi::{self, In, Out};
use crate::hpan_error::{self, *};
use crate::image::{hpan_view, run};
use crate::types::*;
use core::ffi::c_void;
use hardpan::{Answer, Cost, IntoPoint, Options, Terrain, Trace, Windows};

/// One question, one answer. The position is rounded first, so that all kinds of positions share one question.
#[inline(always)]
fn ask(
    view: In<hpan_view>,
    p: impl IntoPoint,
    answer: Out<hpan_answer>,
    question: impl FnOnce(&Terrain, &hpan_point) -> Answer,
) -> hpan_error {
    run(|| {
        let view = view.open()?;
        let answer = answer.answer()?;
        let p = hpan_point::of(view.terrain(), p);
        view.ask(&p, |t, p| _ = answer.write(question(t, p)));
        Ok(())
    })
}

/// The one question of most callers: one copy for all, and for damaged images.
#[inline(never)]
fn closest(t: &Terrain, p: &hpan_point) -> Answer {
    t.closest(*p)
}

/// The ground nearest to a point, straight above or below it: near window first, then far below, then far above.
///
/// Metres: x east, y north, z up. Any numbers may be given: what is not finite, or beyond the image, is answered
/// `HPAN_NOT_IN_IMAGE`, and the hit is filled by the fall-back. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`,
/// `_ALIGNMENT`. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest(view: In<hpan_view>, x: f64, y: f64, z: f64, answer: Out<hpan_answer>) -> hpan_error {
    ask(view, [x, y, z], answer, closest)
}

/// `hpan_closest` of single-precision metres, widened exactly. Errors and threads: as `hpan_closest`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_f32(
    view: In<hpan_view>,
    x: f32,
    y: f32,
    z: f32,
    answer: Out<hpan_answer>,
) -> hpan_error {
    ask(view, [x, y, z], answer, closest)
}

/// `hpan_closest` of metres in 2^-24, for cores without doubles. Errors and threads: as `hpan_closest`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_fixed(
    view: In<hpan_view>,
    x: i64,
    y: i64,
    z: i64,
    answer: Out<hpan_answer>,
) -> hpan_error {
    ask(view, FixedPoint([x, y, z]), answer, closest)
}

/// `hpan_closest` of a point of `hpan_point_f64` or its kin. Errors and threads: as `hpan_closest`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_at(view: In<hpan_view>, point: In<hpan_point>, answer: Out<hpan_answer>) -> hpan_error {
    at(point, |p| ask(view, p, answer, closest))
}

/// A question at a point that C owns.
fn at(point: In<hpan_point>, question: impl FnOnce(hpan_point) -> hpan_error) -> hpan_error {
    match point.get() {
        Ok(&p) => question(p),
        Err(e) => e,
    }
}

/// `hpan_closest` with windows and fall-back of the caller's.
///
/// Errors: as `hpan_closest`, and `HPAN_ERROR_OPTION` for a negative window or an unknown fall-back. Threads: any
/// number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_with(
    view: In<hpan_view>,
    x: f64,
    y: f64,
    z: f64,
    options: In<hpan_options>,
    answer: Out<hpan_answer>,
) -> hpan_error {
    with(view, [x, y, z], options, answer)
}

/// `hpan_closest_with` of a point of `hpan_point_f64` or its kin. Errors and threads: as `hpan_closest_with`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_with_at(
    view: In<hpan_view>,
    point: In<hpan_point>,
    options: In<hpan_options>,
    answer: Out<hpan_answer>,
) -> hpan_error {
    at(point, |p| with(view, p, options, answer))
}

fn with(view: In<hpan_view>, p: impl IntoPoint, options: In<hpan_options>, answer: Out<hpan_answer>) -> hpan_error {
    match options.get() {
        Ok(&hpan_options { near_steps: near, far_steps: far, fallback }) => {
            if near < 0 || far < 0 || fallback > hpan_fallback::HPAN_EDGE_EXTEND as u32 {
                return HPAN_ERROR_OPTION;
            }
            let options = Options { windows: Windows { near, far }, fallback };
            ask(view, p, answer, |t, &p| t.closest_with(p, &options))
        }
        Err(e) => e,
    }
}

/// `hpan_closest` and what it cost. Errors and threads: as `hpan_closest`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_costed(
    view: In<hpan_view>,
    x: f64,
    y: f64,
    z: f64,
    answer: Out<hpan_answer>,
    cost: Out<hpan_cost>,
) -> hpan_error {
    costed(view, [x, y, z], answer, cost)
}

/// `hpan_closest_costed` of a point of `hpan_point_f64` or its kin. Errors and threads: as `hpan_closest`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_costed_at(
    view: In<hpan_view>,
    point: In<hpan_point>,
    answer: Out<hpan_answer>,
    cost: Out<hpan_cost>,
) -> hpan_error {
    at(point, |p| costed(view, p, answer, cost))
}

fn costed(view: In<hpan_view>, p: impl IntoPoint, answer: Out<hpan_answer>, cost: Out<hpan_cost>) -> hpan_error {
    let mut counted = Cost::default();
    let error = ask(view, p, answer, |t, &p| {
        let (answer, cost) = t.closest_costed(p);
        counted = cost;
        answer
    });
    if error != HPAN_OK {
        return error;
    }
    run(|| cost.put(counted.into()))
}

/// `hpan_closest`, telling every step to `see`, which gets `user` back and must not keep `trace`.
///
/// Errors: as `hpan_closest`, and `HPAN_ERROR_NULL` without a function. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_explain(
    view: In<hpan_view>,
    x: f64,
    y: f64,
    z: f64,
    see: Option<extern "C" fn(trace: Out<hpan_trace>, user: Out<c_void>)>,
    user: Out<c_void>,
    answer: Out<hpan_answer>,
) -> hpan_error {
    let Some(see) = see else { return HPAN_ERROR_NULL };
    ask(view, [x, y, z], answer, |t, &p| {
        t.explain(p, |step| {
            let mut trace = trace(step);
            see(Out::lend(&mut trace), user.again());
        })
    })
}

/// A step as C sees it.
fn trace(step: Trace) -> hpan_trace {
    let hit = (&hardpan::Hit::NONE).into();
    let none = hpan_trace { kind: 0, log2: 0, words: 0, lines: 0, record: 0, part: 0, covered: 0, hit };
    match step {
        Trace::Node { log2 } => hpan_trace { kind: hpan_trace_kind::HPAN_TRACE_NODE as u32, log2, ..none },
        Trace::Words { words, lines } => {
            hpan_trace { kind: hpan_trace_kind::HPAN_TRACE_WORDS as u32, words, lines, ..none }
        }
        Trace::Leaf { record, lines } => {
            hpan_trace { kind: hpan_trace_kind::HPAN_TRACE_LEAF as u32, record: record as u64, lines, ..none }
        }
        Trace::Long { record } => {
            hpan_trace { kind: hpan_trace_kind::HPAN_TRACE_LONG as u32, record: record as u64, lines: 1, ..none }
        }
        Trace::Test { record, part, covered } => hpan_trace {
            kind: hpan_trace_kind::HPAN_TRACE_TEST as u32,
            record: record as u64,
            part,
            covered: covered.into(),
            ..none
        },
        Trace::Candidate(hit) => {
            hpan_trace { kind: hpan_trace_kind::HPAN_TRACE_CANDIDATE as u32, hit: (&hit).into(), ..none }
        }
    }
}

/// The first ground going down from a point, within the image's far window. Units, errors and threads: as
/// `hpan_closest`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_below(view: In<hpan_view>, x: f64, y: f64, z: f64, answer: Out<hpan_answer>) -> hpan_error {
    ask(view, [x, y, z], answer, |t, &p| t.below(p))
}

/// `hpan_below` of a point of `hpan_point_f64` or its kin. Errors and threads: as `hpan_closest`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_below_at(view: In<hpan_view>, point: In<hpan_point>, answer: Out<hpan_answer>) -> hpan_error {
    at(point, |p| ask(view, p, answer, |t, &p| t.below(p)))
}

/// The first ground going down from a point, at most `length` metres below it; none if that is negative or NaN.
///
/// Units, errors and threads: as `hpan_closest`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_segment(
    view: In<hpan_view>,
    x: f64,
    y: f64,
    z: f64,
    length: f64,
    answer: Out<hpan_answer>,
) -> hpan_error {
    ask(view, [x, y, z], answer, |t, &p| t.segment_m(p, length))
}

/// `hpan_segment` of a point of `hpan_point_f64` or its kin and a length in 2^-8 of the height step (`hpan_steps`).
///
/// Errors and threads: as `hpan_closest`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_segment_at(
    view: In<hpan_view>,
    point: In<hpan_point>,
    length: i64,
    answer: Out<hpan_answer>,
) -> hpan_error {
    at(point, |p| ask(view, p, answer, |t, &p| t.segment(p, length)))
}

/// All ground heights over a place, x and y in metres, highest first, into `hits` of `room` elements.
///
/// If that is too little it holds the highest, and `found` says how many there are. `hits` may be null if `room` is 0.
/// Errors: as `hpan_closest`, and `HPAN_ERROR_COUNT`. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_layers(
    view: In<hpan_view>,
    x: f64,
    y: f64,
    hits: Out<hpan_hit>,
    room: usize,
    found: Out<hpan_layers_found>,
) -> hpan_error {
    layers(view, [x, y, 0.0], hits, room, found)
}

/// `hpan_layers` of a point of `hpan_point_f64` or its kin, whose height does not matter. Errors and threads: as
/// `hpan_layers`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_layers_at(
    view: In<hpan_view>,
    point: In<hpan_point>,
    hits: Out<hpan_hit>,
    room: usize,
    found: Out<hpan_layers_found>,
) -> hpan_error {
    at(point, |p| layers(view, p, hits, room, found))
}

fn layers(
    view: In<hpan_view>,
    p: impl IntoPoint,
    hits: Out<hpan_hit>,
    room: usize,
    found: Out<hpan_layers_found>,
) -> hpan_error {
    run(|| {
        let view = view.open()?;
        let hits = hits.hits(room)?;
        found.put(view.ask(&p, |t, &p| t.layers(p, hits)).into())
    })
}

/// Points of a batch that the kernel takes at a time.
const STAGE: usize = 32;

/// Answers all points, stage by stage.
fn batch<P: IntoPoint>(view: In<hpan_view>, points: &[P], answers: Out<hpan_answer>) -> Result<(), hpan_error> {
    let view = view.open()?;
    let answers = answers.answers(points.len())?;
    view.ask(&(), |t, ()| {
        for (points, answers) in points.chunks(STAGE).zip(answers.chunks_mut(STAGE)) {
            t.closest_batch(points, ffi::blank(answers));
        }
    });
    Ok(())
}

/// `hpan_closest` for many points, x, y, z of each in metres: the same answers, faster, for their cache misses overlap.
///
/// `points` has 3 x `count` numbers and `answers` room for `count`; they must not overlap, and may be null if `count`
/// is 0. Errors: as `hpan_closest`, and `HPAN_ERROR_COUNT` for 2^31 or more. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_batch(
    view: In<hpan_view>,
    points: In<f64>,
    count: usize,
    answers: Out<hpan_answer>,
) -> hpan_error {
    run(|| batch(view, points.triples(count)?, answers))
}

/// `hpan_closest_batch` of single-precision metres. Errors and threads: as `hpan_closest_batch`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_batch_f32(
    view: In<hpan_view>,
    points: In<f32>,
    count: usize,
    answers: Out<hpan_answer>,
) -> hpan_error {
    run(|| batch(view, points.triples(count)?, answers))
}

/// `hpan_closest_batch` of points of `hpan_point_f64` or its kin. Errors and threads: as `hpan_closest_batch`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_batch_at(
    view: In<hpan_view>,
    points: In<hpan_point>,
    count: usize,
    answers: Out<hpan_answer>,
) -> hpan_error {
    run(|| batch(view, points.many(count)?, answers))
}
