//! Whether a file's numbers were rounded to single precision, far from their zero.

use std::path::Path;

use crate::report::{Code, Finding, Quantity, Severity};
use crate::scene::{Scene, Triangle};
use crate::settings::frame::Transform;

use super::{Part, parts, plan};
use crate::util::text::{decimal, grouped};

/// Metres by which places may be rounded unseen.
const FINE: f64 = 0.001;
/// Numbers that are looked at at least, and the share of them that is an odd multiple of the step: half of them where a
/// place was rounded to it, none where it was on coarser steps before.
const MIN_NUMBERS: u64 = 20;
const ODD: f64 = 0.25;
/// The share of lost triangles from which on they were not meant.
const LOST: f64 = 0.1;
/// How near to a number of single precision, in steps, a file's number is that was written from one with some decimals.
const WRITTEN: f64 = 0.125;
/// Steps, in the file's numbers, on which no grid of places lies by itself.
const UNMEANT: f64 = 0.125;

/// From a number to the next one of single precision, away from zero.
fn step_at(v: f64) -> f64 {
    let size = v.abs() as f32;
    f64::from(size.next_up()) - f64::from(size)
}

/// The finding of a scene that was made in memory: its metres are judged as the numbers of one file.
pub fn of_scene(scene: &Scene) -> Option<Finding> {
    let largest = scene.positions.as_flattened().iter().fold(0.0f64, |most, v| most.max(v.abs()));
    if step_at(largest) <= FINE {
        return None; // nearly always, and without a look at the triangles
    }
    let name = match &scene.sources[..] {
        [only] => only,
        _ => "",
    };
    let all = parts(scene, &[Path::new(name)], &[Transform::NONE], &[scene.triangles.len()]);
    let part = all.first()?;
    Some(Rounded::of(part)?.finding(part))
}

/// Places that were rounded.
#[derive(Debug, PartialEq)]
pub struct Rounded {
    /// The widest step between two of them, metres.
    step: f64,
    /// The number of the file that is farthest from zero.
    farthest: f64,
    /// Whether some are on steps on which nobody measures: others may be as they were meant.
    sure: bool,
    /// Triangles that have no plan area and are no larger than rounding makes such, and all.
    lost: [u64; 2],
}

impl Rounded {
    /// If all places of some triangles are so, and rounding made them so.
    pub fn of(part: &Part) -> Option<Self> {
        let frame = part.frame;
        let triangles: Vec<&Triangle> = part.measured().collect();
        let metres = [0, 1, 2].map(|axis| frame.metres(axis)).into_iter().fold(0.0, f64::max);
        let largest = triangles.iter().flat_map(|t| part.own(t.v[0])).fold(0.0f64, |most, v| most.max(v.abs()));
        if step_at(largest) * metres <= FINE {
            return None; // as mostly: all steps are fine
        }
        let mut farthest = 0.0f64;
        // of each axis the numbers with wide steps, and of those the odd multiples of their step
        let (mut axes, mut sure) = ([[0u64; 2]; 3], false);
        for t in &triangles {
            for (v, axis) in part.own(t.v[0]).into_iter().zip(&mut axes) {
                let step = step_at(v);
                if step * metres <= FINE {
                    continue;
                }
                let (nearest, odd) = (v as f32, (v as f32).to_bits() & 1 == 1);
                if (f64::from(nearest) - v).abs() > WRITTEN * step {
                    return None;
                }
                *axis = [axis[0] + 1, axis[1] + u64::from(odd)];
                sure |= step <= UNMEANT && odd;
                farthest = farthest.max(v.abs());
            }
        }
        let mut axes = axes.iter().filter(|[all, _]| *all >= MIN_NUMBERS).peekable();
        axes.peek()?;
        let plan = plan(frame.upright());
        let step = step_at(farthest);
        let corners = |t: &Triangle| t.v.map(|v| part.own(v).map(|v| f64::from(v as f32)));
        let lost = triangles.iter().filter(|t| is_lost(corners(t), plan, step)).count();
        let found = Rounded { step: step * metres, farthest, sure, lost: [lost, triangles.len()].map(|n| n as u64) };
        let is_odd = |[all, odd]: &[u64; 2]| *odd as f64 >= ODD * *all as f64;
        // a grid lies on odd multiples of all steps if it was rounded to each, and off the widest if others are finer
        let is_finer = |v: f64| step_at(v) * metres > FINE && (v / step).fract() != 0.0;
        let off = triangles.iter().filter(|t| plan.iter().any(|k| is_finer(part.own(t.v[0])[*k]))).count();
        let is_rounded = axes.all(is_odd) || off as f64 >= ODD * triangles.len() as f64 || found.loses();
        is_rounded.then_some(found)
    }

    /// Whether so many triangles are lost that they were not meant so.
    fn loses(&self) -> bool {
        let [lost, all] = self.lost;
        lost as f64 >= LOST * all as f64
    }

    /// Whether most triangles are lost.
    pub fn loses_most(&self) -> bool {
        2 * self.lost[0] > self.lost[1]
    }

    /// A note where the numbers may be as they were meant.
    pub fn finding(&self, part: &Part) -> Finding {
        let step = match self.step < 0.1 {
            true => format!("{} mm", decimal((self.step * 1e4).round() / 10.0)),
            false => format!("{} m", decimal((self.step * 1e4).round() / 1e4)),
        };
        let [lost, all] = self.lost;
        let ground = match self.loses() {
            true => format!("{} of {} triangles lost their plan area by that", grouped(lost), grouped(all)),
            false => "ground may be off by half of that".into(),
        };
        let text = format!(
            "all its numbers are of single precision, which so far from zero (up to {}) has steps of {step}: {ground}",
            grouped(self.farthest as u64)
        );
        let severity = if self.sure || self.loses() { Severity::Warning } else { Severity::Note };
        let value = |name, value, unit| Quantity { name, value, unit };
        let counts = [("lost", lost), ("triangles", all)].map(|(name, n)| value(name, n as f64, ""));
        let values = vec![value("step", self.step, "m"), value("farthest", self.farthest, ""), counts[0], counts[1]];
        Finding { values, ..part.finding(Code::Precision, severity, text, Code::Precision.hint()) }
    }
}

/// Whether a triangle lies upright, or is none, and may have had an area before its corners were rounded to such steps:
/// it is no larger than two of them whichever way. Walls are larger.
fn is_lost([a, b, c]: [[f64; 3]; 3], [x, y]: [usize; 2], step: f64) -> bool {
    let is_small = (0..3).all(|k| a[k].max(b[k]).max(c[k]) - a[k].min(b[k]).min(c[k]) <= 2.0 * step);
    is_small && (b[x] - a[x]) * (c[y] - a[y]) == (b[y] - a[y]) * (c[x] - a[x])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Frame, Import, Unit, read_obj};
    use std::path::Path;

    /// A grid of places, each written by `number`, read in a frame.
    fn grid(number: impl Fn(f64) -> String, [x0, y0]: [f64; 2], side: f64, frame: Frame) -> Import {
        let at = |i: u32| f64::from(i) * side;
        let vertices = (0..400u32).map(|i| format!("v {} {} 0\n", number(x0 + at(i % 20)), number(y0 + at(i / 20))));
        let face = |i: u32| format!("f {} {} {}\n", i + 1, i + 2, i + 21);
        let faces = (0..380).filter(|i| i % 20 < 19).map(face);
        let text: String = vertices.chain(faces).collect();
        read_obj(text.as_bytes(), Path::new("a.obj"), &frame).unwrap()
    }

    /// The finding for such a number.
    fn judged(number: impl Fn(f64) -> String, at: [f64; 2], side: f64, frame: Frame) -> Option<Rounded> {
        let read = grid(number, at, side, frame);
        Rounded::of(&parts(&read.scene, &[Path::new("a.obj")], &read.frames, &read.triangles)[0])
    }

    #[test]
    fn by_18_a_build_from_memory_says_of_its_scene_what_is_said_of_a_file() {
        let utm = [690_000.0, 5_334_000.0];
        let single: fn(f64) -> String = |v| (v as f32).to_string();
        let plain: fn(f64) -> String = |v| v.to_string();
        for (number, at, lost) in [(single, utm, Some(171.0)), (plain, utm, None), (single, [690.0, 5334.0], None)] {
            let read = grid(number, at, 0.25, Frame::default());
            let of_file = crate::check::source(&read.scene, &read.frames, &read.triangles, &[Path::new("a.obj")]);
            let of_file = of_file.into_iter().find(|f| f.code == Code::Precision);
            let of_scene =
                crate::build::build(&read.scene, &crate::options::Options::default()).unwrap().report.precision;
            assert_eq!(of_scene.as_ref().and_then(|f| f.value("lost")), lost);
            assert_eq!(of_scene.as_ref().map(|f| &f.subject), lost.map(|_| &read.scene.sources[0]));
            let alike = |f: Finding| Finding { subject: String::new(), ..f };
            assert_eq!(of_scene.map(alike), of_file.map(alike));
        }
    }

    #[test]
    fn what_rounding_took_is_told_from_walls() {
        let single = |v: f64| (v as f32).to_string();
        let turned = Frame { rotate: 30.0, ..Frame::default() };
        let utm = [690_000.0, 5_334_000.0];
        // of rows a quarter of a metre apart 9 fall onto the row before
        for (side, frame, lost) in [(0.25, Frame::default(), 171), (0.25, turned, 171), (1.25, turned, 0)] {
            let found = judged(single, utm, side, frame).unwrap();
            assert_eq!((found.sure, found.lost, found.loses()), (false, [lost, 361], lost > 0));
        }
        // of rows half a metre apart each second one, wherever they lie
        for posts in [[531_306.25, 4_387_340.75], [4_468_000.25, 5_330_000.25]] {
            assert!(judged(single, posts, 0.5, Frame::default()).unwrap().loses_most());
        }
        // what stands upright and is larger is a wall
        let [low, far, high] = [[0.0; 3], [1.5, 0.0, 0.0], [0.0, 0.0, 1.5]];
        assert!(!is_lost([low, far, high], [0, 1], 0.5) && !is_lost([low, low, high], [0, 1], 0.5));
        assert!(is_lost([low, low, [0.0, 0.5, 0.5]], [0, 1], 0.5));
    }

    #[test]
    fn only_what_was_rounded_is_told() {
        let single: fn(f64) -> String = |v| format!("{:.6}", v as f32);
        let short: fn(f64) -> String = |v| format!("{:.3}", v as f32);
        let plain: fn(f64) -> String = |v| v.to_string();
        let shortest: fn(f64) -> String = |v| (v as f32).to_string();
        let tenths: fn(f64) -> String = |v| format!("{v:.1}");
        let utm = [500_123.3, 4_649_776.7];
        let posts = [531_306.25, 4_387_340.75];
        for (number, at, side, told) in [
            (single, utm, 0.7, Some((0.5, true))),
            (short, utm, 0.7, Some((0.5, true))),
            (plain, utm, 0.7, None),
            // whole metres and halves are as they were meant
            (plain, [500_000.0, 4_649_776.0], 1.0, None),
            (plain, [500_000.0, 9_649_776.0], 1.0, None),
            // on steps that may be meant
            (plain, [9_000_000.0, 12_000_000.0], 1.0, Some((1.0, false))),
            (plain, [4_468_000.0, 5_330_000.5], 0.5, Some((0.5, false))),
            // of a grid that lies on the steps along x
            (shortest, [690_000.0, 5_334_000.0], 1.25, Some((0.5, false))),
            // posts in the middle of cells, which the steps round to even multiples: those along x are finer
            (plain, posts, 0.5, None),
            (shortest, posts, 1.0, Some((0.5, false))),
            // tenths are as near to single precision as one has digits
            (tenths, [155_000.3, 463_000.7], 0.7, None),
            // near zero nothing is lost
            (single, [12_000.3, 900.7], 0.7, None),
        ] {
            let found = judged(number, at, side, Frame::default()).map(|r| (r.step, r.sure));
            assert_eq!(found, told, "{at:?} {side}");
        }
        // a file's own axes and unit count, however it was turned and moved
        let turned = Frame { unit: Some(Unit::Cm), rotate: 30.0, translate: [1e6, 2e6, 0.0], ..Frame::default() };
        let found = judged(single, utm.map(|v| v * 100.0), 71.3, turned).map(|r| (r.step, r.sure));
        assert_eq!(found, Some((0.32, false)));
    }
}
