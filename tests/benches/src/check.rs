//! Answers are held against the reference before anything is timed.

use crate::Query;
use crate::grid::Reference;
use std::fmt;

/// Heights may differ by this much, in metres: rounding of f32 at 5 km, or of Hardpan's lattice on a slope.
pub const TOLERANCE: f64 = 0.001;
/// Beside a kerb a rounded mesh may give its other side: so far away, in metres, the answer has to be right.
const BESIDE: f64 = 0.001;

/// How a structure's answers compare with the reference.
#[derive(Default)]
pub struct Agreement {
    pub asked: usize,
    /// Largest difference among the answers that agree.
    pub worst: f64,
    /// Right for a point within `BESIDE`, or for a surface as near as the other.
    pub beside: usize,
    pub wrong: Vec<String>,
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Agreement { asked, worst, beside, wrong } = self;
        write!(
            f,
            "{asked} asked, {beside} beside an edge, {} wrong, others within {:.3} mm",
            wrong.len(),
            worst * 1e3
        )?;
        wrong.iter().take(3).try_for_each(|w| write!(f, "\n      {w}"))
    }
}

fn around([x, y, z]: [f64; 3]) -> impl Iterator<Item = [f64; 3]> {
    const S: f64 = std::f64::consts::FRAC_1_SQRT_2;
    let ring = [(1.0, 0.0), (S, S), (0.0, 1.0), (-S, S), (-1.0, 0.0), (-S, -S), (0.0, -1.0), (S, -S)];
    [0.5, 1.0].into_iter().flat_map(move |r| ring.map(|(dx, dy)| [x + dx * r * BESIDE, y + dy * r * BESIDE, z]))
}

/// Nearest heights.
pub fn closest(reference: &Reference, queries: &[Query], answer: impl Fn(&Query) -> Option<f64>) -> Agreement {
    let mut agreement = Agreement { asked: queries.len(), ..Agreement::default() };
    for q in queries {
        let (expected, got) = (reference.closest(q.at), answer(q));
        let difference = |expected: Option<f64>| match (expected, got) {
            (Some(a), Some(b)) => (a - b).abs(),
            (None, None) => 0.0,
            _ => f64::INFINITY,
        };
        let as_near = |at: [f64; 3]| {
            let (Some(expected), Some(got)) = (reference.closest(at), got) else {
                return false;
            };
            let further = (got - at[2]).abs() - (expected - at[2]).abs();
            further.abs() <= TOLERANCE && reference.heights(at[0], at[1]).iter().any(|z| (z - got).abs() <= TOLERANCE)
        };
        if difference(expected) <= TOLERANCE {
            agreement.worst = agreement.worst.max(difference(expected));
        } else if as_near(q.at) || around(q.at).any(|p| difference(reference.closest(p)) <= TOLERANCE || as_near(p)) {
            agreement.beside += 1;
        } else {
            agreement.wrong.push(format!("at {:?}: {got:?}, expected {expected:?}", q.at));
        }
    }
    agreement
}

/// All heights, highest first, those within `merge` of each other once.
pub fn layers(reference: &Reference, queries: &[Query], merge: f64, answer: impl Fn(&Query) -> Vec<f64>) -> Agreement {
    let expected = |at: [f64; 3]| {
        let mut z = reference.heights(at[0], at[1]);
        z.reverse();
        z.dedup_by(|low, high| *high - *low <= merge);
        z
    };
    let difference = |a: &[f64], b: &[f64]| match a.len() == b.len() {
        true => a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max),
        false => f64::INFINITY,
    };
    let mut agreement = Agreement { asked: queries.len(), ..Agreement::default() };
    for q in queries {
        let (all, got) = (expected(q.at), answer(q));
        let d = difference(&all, &got);
        if d <= TOLERANCE {
            agreement.worst = agreement.worst.max(d);
        } else if around(q.at).any(|p| difference(&expected(p), &got) <= TOLERANCE) {
            agreement.beside += 1;
        } else {
            agreement.wrong.push(format!("at {:?}: {got:?}, expected {all:?}", q.at));
        }
    }
    agreement
}
