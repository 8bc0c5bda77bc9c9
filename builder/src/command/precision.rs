//! Whether a file's numbers were rounded to single precision, far from their zero.

use std::path::Path;

use crate::Triangle;

use super::{decimal, grouped, named, note, part::Part, report::Report};

/// Metres by which places may be rounded unseen.
const FINE: f64 = 0.001;
/// Numbers that are looked at at least, and the share of them that is an odd multiple of the step: half of them where a place was rounded to
/// it, none where it was on coarser steps before.
const FEW: u64 = 20;
const ODD: f64 = 0.25;

/// The share of lost triangles from which on they were not meant.
const LOST: f64 = 0.1;

/// How near to a number of single precision, in steps, a file's number is that was written from one, with some decimals.
const WRITTEN: f64 = 0.125;

/// From a number to the next one of single precision, away from zero.
fn step(v: f64) -> f64 {
    let size = v.abs() as f32;
    f64::from(size.next_up()) - f64::from(size)
}

/// Warns of files whose places are all numbers of single precision where that has steps of more than a millimetre, or notes it where
/// they may be as they were meant or somebody says so.
/// Gives back whether all files have lost most triangles: what is left says nothing of how they lie.
pub fn warn(parts: &[Part], report: &mut Report) -> bool {
    let found: Vec<(&Part, Rounded)> = parts.iter().filter_map(|part| Some((part, rounded(part)?))).collect();
    let (doubted, plain): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, r)| r.sure || r.loses());
    plain.into_iter().for_each(|(part, r)| note(r.told(part.file)));
    let all = doubted.len() == parts.len();
    let most = all && doubted.iter().all(|(_, Rounded { lost: [lost, all], .. })| 2 * lost > *all);
    for (part, r) in doubted {
        match part.unmeant(all) {
            Some(meant) => report.warn(r.told(part.file) + &meant),
            None => note(r.told(part.file)),
        }
    }
    most
}

/// Places that were rounded.
#[derive(Debug, PartialEq)]
struct Rounded {
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
    /// Whether so many triangles are lost that they were not meant so.
    fn loses(&self) -> bool {
        let [lost, all] = self.lost;
        lost as f64 >= LOST * all as f64
    }

    fn told(&self, file: &Path) -> String {
        let step = if self.step < 0.1 {
            format!("{} mm", decimal((self.step * 1e4).round() / 10.0))
        } else {
            format!("{} m", decimal((self.step * 1e4).round() / 1e4))
        };
        let [lost, all] = self.lost.map(grouped);
        let ground = match self.loses() {
            true => format!("{lost} of {all} triangles have no plan area by that, and ground may be off by half of it"),
            false if self.sure => "ground may be off by half of that".into(),
            false => "if they were rounded, ground may be off by half of that".into(),
        };
        format!(
            "{}: all its numbers are of single precision, which so far from zero (up to {}) has steps of {step}: {ground}; export it nearer to zero, or from where it has double precision",
            named(file),
            grouped(self.farthest as u64)
        )
    }
}

/// What is known of an axis, of numbers with wide steps.
#[derive(Clone, Copy, Default)]
struct Axis {
    all: u64,
    /// Odd multiples of the step among them.
    odd: u64,
    /// Whether some of these are odd multiples of a small step.
    telling: bool,
}

/// Steps, in the file's numbers, on which no grid of places lies by itself.
const UNMEANT: f64 = 0.125;

/// If all places of some triangles are so, and rounding made them so.
fn rounded(part: &Part) -> Option<Rounded> {
    let frame = part.frame;
    let triangles: Vec<&Triangle> = part.measured().collect();
    let metres = [0, 1, 2].map(|axis| frame.metres(axis)).into_iter().fold(0.0, f64::max);
    let largest = triangles.iter().flat_map(|t| part.own(t.v[0])).fold(0.0f64, |most, v| most.max(v.abs()));
    if step(largest) * metres <= FINE {
        return None; // as mostly: all steps are fine
    }
    let mut farthest = 0.0f64;
    let mut axes = [Axis::default(); 3];
    for t in &triangles {
        for (v, axis) in part.own(t.v[0]).into_iter().zip(&mut axes) {
            let step = step(v);
            if step * metres <= FINE {
                continue;
            }
            if (f64::from(v as f32) - v).abs() > WRITTEN * step {
                return None;
            }
            let odd = (v as f32).to_bits() & 1 == 1;
            axis.all += 1;
            axis.odd += u64::from(odd);
            axis.telling |= step <= UNMEANT && odd;
            farthest = farthest.max(v.abs());
        }
    }
    let axes: Vec<Axis> = axes.into_iter().filter(|axis| axis.all >= FEW).collect();
    if axes.is_empty() {
        return None;
    }
    let [base, top] = [0.0, 1.0].map(|z| frame.back([0.0, 0.0, z]));
    let upright = |k: usize| (0..3).all(|i| (top[k] - base[k]).abs() >= (top[i] - base[i]).abs());
    let plan: Vec<usize> = (0..3).filter(|k| !upright(*k)).collect();
    let widest = step(farthest);
    let corners = |t: &Triangle| t.v.map(|v| part.own(v).map(|v| f64::from(v as f32)));
    let lost = triangles.iter().filter(|t| is_lost(corners(t), &plan, widest)).count();
    let sure = axes.iter().any(|axis| axis.telling);
    let found = Rounded { step: widest * metres, farthest, sure, lost: [lost, triangles.len()].map(|n| n as u64) };
    let is_odd = |axis: &Axis| axis.odd as f64 >= ODD * axis.all as f64;
    // a grid lies on odd multiples of all steps if it was rounded to each, and off the widest if others are finer
    let is_finer = |v: f64| step(v) * metres > FINE && (v / widest).fract() != 0.0;
    let off = triangles.iter().filter(|t| plan.iter().any(|&k| is_finer(part.own(t.v[0])[k]))).count();
    let is_rounded = axes.iter().all(is_odd) || off as f64 >= ODD * triangles.len() as f64 || found.loses();
    is_rounded.then_some(found)
}

/// Whether a triangle lies upright, or is none, and may have had an area before its corners were rounded to such steps: it is no larger
/// than two of them whichever way. Walls are larger.
fn is_lost([a, b, c]: [[f64; 3]; 3], plan: &[usize], step: f64) -> bool {
    let &[x, y] = plan else { return false };
    let is_small = (0..3).all(|k| a[k].max(b[k]).max(c[k]) - a[k].min(b[k]).min(c[k]) <= 2.0 * step);
    is_small && (b[x] - a[x]) * (c[y] - a[y]) == (b[y] - a[y]) * (c[x] - a[x])
}

#[cfg(test)]
mod tests {
    use super::{super::part::parts, *};
    use crate::import::{Frame, Unit, read_obj};

    /// What is said of a grid of places, each written by `number`, read in a frame.
    fn judged(number: impl Fn(f64) -> String, [x0, y0]: [f64; 2], side: f64, frame: Frame) -> Option<Rounded> {
        let at = |i: u32| f64::from(i) * side;
        let vertices = (0..400u32).map(|i| format!("v {} {} 0\n", number(x0 + at(i % 20)), number(y0 + at(i / 20))));
        let face = |i: u32| format!("f {} {} {}\n", i + 1, i + 2, i + 21);
        let faces = (0..380).filter(|i| i % 20 < 19).map(face);
        let text: String = vertices.chain(faces).collect();
        let read = read_obj(text.as_bytes(), Path::new("a.obj"), &frame).unwrap();
        let file = std::iter::once((Path::new("a.obj"), Default::default()));
        rounded(&parts(&read.scene, file, &read.frames, &read.triangles)[0])
    }

    #[test]
    fn what_rounding_took_is_told_from_walls() {
        let single = |v: f64| (v as f32).to_string();
        let lost = |at: [f64; 2], side: f64, frame: Frame| {
            let r = judged(single, at, side, frame).unwrap();
            assert!(!r.sure);
            (r.lost, r.loses())
        };
        let utm = [690_000.0, 5_334_000.0];
        // of rows a quarter of a metre apart 9 fall onto the row before
        assert_eq!(lost(utm, 0.25, Frame::default()), ([171, 361], true));
        assert_eq!(lost(utm, 0.25, Frame { rotate: 30.0, ..Frame::default() }), ([171, 361], true));
        assert_eq!(lost(utm, 1.25, Frame::default()), ([0, 361], false));
        // of rows half a metre apart each second one, wherever they lie
        for posts in [[531_306.25, 4_387_340.75], [4_468_000.25, 5_330_000.25]] {
            let ([lost, all], loses) = lost(posts, 0.5, Frame::default());
            assert!(loses && 2 * lost > all, "{lost} of {all}");
        }
        // what stands upright and is larger is a wall
        let [low, far, high] = [[0.0; 3], [1.5, 0.0, 0.0], [0.0, 0.0, 1.5]];
        for (corners, lost) in
            [([low, far, high], false), ([low, low, high], false), ([low, low, [0.0, 0.5, 0.5]], true)]
        {
            assert_eq!(is_lost(corners, &[0, 1], 0.5), lost, "{corners:?}");
        }
    }

    #[test]
    fn only_what_was_rounded_is_told() {
        let single = |v: f64| format!("{:.6}", v as f32);
        let utm = [500_123.3, 4_649_776.7];
        let plain = Frame::default();
        let told = |r: Option<Rounded>| r.map(|r| (r.step, r.sure));
        assert_eq!(told(judged(single, utm, 0.7, plain)), Some((0.5, true)));
        assert_eq!(judged(|v| v.to_string(), utm, 0.7, plain), None);
        assert_eq!(judged(|v| format!("{v:.2}"), utm, 0.7, plain), None);
        // whole metres and halves are as they were meant
        assert_eq!(judged(|v| v.to_string(), [500_000.0, 4_649_776.0], 1.0, plain), None);
        assert_eq!(judged(|v| v.to_string(), [500_000.0, 9_649_776.0], 1.0, plain), None);
        // on steps that may be meant
        let whole = |v: f64| v.to_string();
        assert_eq!(told(judged(whole, [9_000_000.0, 12_000_000.0], 1.0, plain)), Some((1.0, false)));
        assert_eq!(told(judged(whole, [4_468_000.0, 5_330_000.5], 0.5, plain)), Some((0.5, false)));
        let mm = Frame { unit: Some(Unit::Mm), ..plain };
        assert_eq!(told(judged(whole, [20_000_000.0, 20_000_002.0], 2.0, mm)), Some((0.002, false)));
        // of a grid that lies on the steps along x
        let shortest = |v: f64| (v as f32).to_string();
        for side in [0.25, 1.25] {
            assert_eq!(told(judged(shortest, [690_000.0, 5_334_000.0], side, plain)), Some((0.5, false)), "{side}");
        }
        // posts in the middle of cells, which the steps round to even multiples: those along x are finer
        let posts = [531_306.25, 4_387_340.75];
        assert_eq!(judged(|v| v.to_string(), posts, 0.5, plain), None);
        for side in [0.5, 1.0] {
            assert_eq!(told(judged(shortest, posts, side, plain)), Some((0.5, false)), "{side}");
        }
        // tenths are as near to single precision as one has digits
        assert_eq!(judged(|v| format!("{v:.1}"), [155_000.3, 463_000.7], 0.7, plain), None);
        // other ways to write what was rounded
        for digits in [3, 4, 9] {
            let short = move |v: f64| format!("{:.digits$}", v as f32);
            assert_eq!(told(judged(short, utm, 0.7, plain)), Some((0.5, true)), "{digits}");
        }
        // near zero nothing is lost
        assert_eq!(judged(single, [12_000.3, 900.7], 0.7, plain), None);
        // a file's own axes and unit count, however it was turned and moved
        let turned = Frame { unit: Some(Unit::Cm), rotate: 30.0, translate: [1e6, 2e6, 0.0], ..plain };
        assert_eq!(told(judged(single, utm.map(|v| v * 100.0), 71.3, turned)), Some((0.32, false)));
    }
}
