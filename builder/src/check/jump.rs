//! Jumps of a drive that states no heights: the highest ground answers, so a road under a bridge is left at its edge.

use crate::report::{Code, Finding, Quantity};
use crate::util::text::decimal;
use hardpan::{Answer, Hit, Terrain};

/// Changes of height that are no more than this are no jumps, metres.
pub const MIN_CHANGE: f64 = 0.5;

/// A place without a height of its own, and that of the highest ground there.
#[derive(Clone, Copy)]
struct Place {
    at: [f64; 2],
    z: f64,
    line: u64,
}

/// Jumps from each place of a wheel to its next.
#[derive(Default)]
pub struct Jumps {
    /// Where each wheel was last.
    last: Vec<Option<Place>>,
    count: u64,
    largest: f64,
    first: Option<[Place; 2]>,
    space: Vec<Hit>,
}

impl Jumps {
    /// Takes the next place of a wheel, which is on this line, and what answered there. A place with a height, or
    /// without ground, has none to jump from.
    pub fn go(&mut self, t: &Terrain, wheel: usize, [x, y]: [f64; 2], z: Option<f64>, answer: &Answer, line: u64) {
        self.last.resize(self.last.len().max(wheel + 1), None);
        let now = (z.is_none() && answer.found()).then(|| Place { at: [x, y], z: t.z_f64(&answer.hit), line });
        if let Some((before, now)) = std::mem::replace(&mut self.last[wheel], now).zip(now) {
            let change = (now.z - before.z).abs();
            if change > MIN_CHANGE && (self.is_nearer(t, before, now) || self.is_nearer(t, now, before)) {
                self.count += 1;
                self.largest = self.largest.max(change);
                self.first.get_or_insert([before, now]);
            }
        }
    }

    /// Whether other ground of a place lies nearer to the height of another than what answered.
    fn is_nearer(&mut self, t: &Terrain, place: Place, other: Place) -> bool {
        if self.space.is_empty() {
            self.space = crate::image::decode::room(t);
        }
        let [x, y] = place.at;
        let layers = t.layers([x, y, 0.0], &mut self.space);
        let off = |z: f64| (z - other.z).abs();
        self.space[..layers.written].iter().any(|hit| off(t.z_f64(hit)) < off(place.z))
    }

    /// All of them, if there are any; the place is the first to which the drive jumped.
    pub fn finding(&self) -> Option<Finding> {
        let [before, now] = self.first?;
        let [from, to] = [before.z, now.z].map(|z| decimal((z * 1e3).round() / 1e3 + 0.0));
        let count = crate::util::text::counted(self.count, "jump");
        let text = format!(
            "{count} from one deck to another, the first from line {} to {}: from {from} to {to} m in height",
            before.line, now.line
        );
        let values = vec![
            Quantity { name: "count", value: self.count as f64, unit: "" },
            Quantity { name: "height", value: now.z - before.z, unit: "m" },
            Quantity { name: "largest", value: self.largest, unit: "m" },
        ];
        let place = Some([now.at[0], now.at[1], now.z]);
        Some(Finding { place, values, ..Code::Jump.finding(text) })
    }
}
