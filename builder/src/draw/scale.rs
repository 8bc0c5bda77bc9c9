//! The scale of a map: numbers between two ends, or counts in classes.

use super::{
    colour::{Colour, WHITE, mix, scale},
    letters::Size,
};

/// The colours of heights, friction and errors.
pub struct Scale {
    pub ends: [f64; 2],
    /// Least and greatest number in the picture.
    seen: [f64; 2],
}

/// A scale in a legend.
pub struct Bar {
    /// From its low end to its high one, a pixel each.
    pub colours: Vec<Colour>,
    /// Labels of its ends, with the values beyond them.
    pub ends: [String; 2],
    /// Pixels from its low end, and the number there.
    pub ticks: Vec<(f64, String)>,
}

/// Pixels of a bar.
pub const LONG: usize = 240;

/// Counts, few or many in one colour.
pub struct Classes {
    /// The lowest count of each class, ascending.
    first: Vec<u32>,
    /// The highest count of the last class; greater ones lie beyond the scale.
    last: u32,
    /// Least and greatest count in the picture.
    seen: [u32; 2],
}

/// Most classes of a legend.
const CLASSES: usize = 10;

impl Scale {
    /// From end to end, or over the values of the picture.
    pub fn new(asked: Option<[f64; 2]>, seen: [f64; 2]) -> Self {
        Scale { ends: asked.unwrap_or(seen), seen }
    }

    pub fn colour(&self, v: f64) -> Colour {
        let [low, high] = self.ends;
        scale(if high > low { (v - low) / (high - low) } else { 0.5 })
    }

    /// Its colours, as strong as they are drawn, with round numbers between its ends. `end` labels the ends and `tick`
    /// the others, with at least this many decimals.
    pub fn bar(&self, strength: f64, end: impl Fn(f64) -> String, tick: impl Fn(f64, usize) -> String) -> Bar {
        let colour = |i: usize| mix(WHITE, scale(i as f64 / (LONG - 1) as f64), strength);
        let mut ticks = ticks(self.ends, LONG as f64, tick, room);
        // not at its very ends, whose numbers stand beside it
        ticks.retain(|(at, _)| (0.01..0.99).contains(&(at / LONG as f64)));
        Bar { colours: (0..LONG).map(colour).collect(), ends: self.labels(end), ticks }
    }

    /// Labels of its ends, and a note if values lie beyond them.
    pub fn labels(&self, number: impl Fn(f64) -> String) -> [String; 2] {
        let ([low, high], [least, most]) = (self.ends, self.seen);
        let [low_label, high_label, least_label, most_label] = [low, high, least, most].map(number);
        [
            if least < low { format!("{low_label} and below, to {least_label}") } else { low_label },
            if most > high { format!("{high_label} and above, to {most_label}") } else { high_label },
        ]
    }
}

/// A number with this many decimals.
pub fn decimals(v: f64, decimals: usize) -> String {
    format!("{v:.decimals$}")
}

/// Round numbers between two ends, with their pixels from the low end of a bar of this length. The steps are the finest
/// of 1, 2 or 5 that leave room for each label.
pub fn ticks(
    [low, high]: [f64; 2],
    long: f64,
    label: impl Fn(f64, usize) -> String,
    room: impl Fn(&str) -> f64,
) -> Vec<(f64, String)> {
    if high <= low {
        return Vec::new();
    }
    let least = ((high - low) / long).log10().floor() as i32;
    let steps = (least..least + 5).flat_map(|ten| [1.0, 2.0, 5.0].map(|n| (n * 10f64.powi(ten), ten)));
    let mut each = steps.map(|(step, ten)| -> Vec<(f64, String)> {
        let first = (low / step - 1e-9).ceil();
        let values = (0..10 * (long as usize + 2)).map(|i| (first + i as f64) * step + 0.0);
        let inside = values.take_while(|v| *v <= high + 1e-9 * step);
        let share = |v: f64| ((v - low) / (high - low)).clamp(0.0, 1.0);
        inside.map(|v| (share(v) * long, label(v, usize::try_from(-ten).unwrap_or(0)))).collect()
    });
    each.find(|ticks| apart(ticks, &room)).unwrap_or_default()
}

/// Room for the label of a tick on a bar, pixels.
pub fn room(label: &str) -> f64 {
    (Size::Text.width(label) + Size::Text.width("0")) as f64
}

/// Whether labels at ticks, in order, leave each other room.
pub fn apart(ticks: &[(f64, String)], room: impl Fn(&str) -> f64) -> bool {
    ticks.windows(2).all(|two| {
        let [(a, left), (b, right)] = two else { return true };
        b - a >= (room(left) + room(right)) / 2.0
    })
}

impl Classes {
    /// A scale of counts: the range that was asked for, or from `low` over the counts of the picture.
    pub fn new(asked: Option<[f64; 2]>, low: u32, seen: [u32; 2]) -> Self {
        let [mut next, last] = asked.map_or([low.min(seen[0]), seen[1]], |ends| ends.map(|v| v as u32));
        let mut first = Vec::new();
        // each class is larger than the one before by the factor that fits, and by at least one
        while next <= last {
            first.push(next);
            let left = CLASSES + 1 - first.len();
            let times = ((f64::from(last) + 1.0) / f64::from(next.max(1))).powf(1.0 / left as f64);
            next = ((f64::from(next) * times).round() as u32).max(next + 1);
        }
        Classes { first, last, seen }
    }

    /// Which class a count is in, and how many there are.
    pub fn of(&self, n: u32) -> (usize, usize) {
        (self.first.partition_point(|first| *first <= n).saturating_sub(1), self.first.len())
    }

    /// The lowest count of each class, and its label; the last label has the unit, singular or plural.
    pub fn labels(&self, [one, many]: [&str; 2]) -> Vec<(u32, String)> {
        let ends = self.first.iter().skip(1).map(|next| next - 1).chain([self.last]);
        let all = self.first.iter().zip(ends).enumerate().map(|(i, (&from, to))| {
            let mut text = if from == to { from.to_string() } else { format!("{from} to {to}") };
            if i == 0 && self.seen[0] < from {
                text = format!("{to} and less");
            }
            if i + 1 == self.first.len() && self.seen[1] > to {
                text = format!("{from} and more, to {}", self.seen[1]);
            }
            if i + 1 == self.first.len() {
                text = format!("{text} {}", if text == "1" { one } else { many });
            }
            (from, text)
        });
        all.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_every_count_once() {
        for (low, high) in
            [(0, 0), (1, 1), (0, 9), (1, 10), (30, 39), (0, 10), (1, 12), (0, 41), (1, 4096), (7, 1_000_000)]
        {
            let classes = Classes::new(None, low, [low, high]);
            let labels: Vec<_> =
                classes.labels(["", ""]).into_iter().map(|(n, text)| (n, text.trim_end().to_string())).collect();
            assert!(labels.len() <= CLASSES && labels[0].0 == low, "{labels:?}");
            if high - low < CLASSES as u32 {
                assert_eq!(labels, (low..=high).map(|n| (n, n.to_string())).collect::<Vec<_>>());
            }
            let mut next = low;
            for (i, (from, text)) in labels.iter().enumerate() {
                let to = text.split_once(" to ").map_or(text.as_str(), |t| t.1).parse().unwrap();
                assert_eq!((*from, classes.of(*from).0, classes.of(to).0), (next, i, i), "{labels:?}");
                next = to + 1;
            }
            assert_eq!(next, high + 1, "{labels:?}");
        }
        let labels = |range: [f64; 2], seen| {
            Classes::new(Some(range), 0, seen).labels(["test", "tests"]).into_iter().map(|t| t.1)
        };
        assert_eq!(labels([2.0, 4.0], [1, 9]).collect::<Vec<_>>(), ["2 and less", "3", "4 and more, to 9 tests"]);
        assert_eq!(labels([2.0, 4.0], [2, 4]).collect::<Vec<_>>(), ["2", "3", "4 tests"]);
    }

    #[test]
    fn ticks_are_round_and_leave_room() {
        let ticks = |ends| Scale::new(Some(ends), ends).bar(1.0, |v| v.to_string(), decimals).ticks;
        let labels = |ends| ticks(ends).into_iter().map(|t| t.1).collect::<Vec<_>>().join(" ");
        assert_eq!(labels([0.0, 1.2]), "0.2 0.4 0.6 0.8 1.0");
        assert_eq!(labels([-1.3, 2.1]), "-1.0 -0.5 0.0 0.5 1.0 1.5 2.0");
        assert_eq!(labels([2.5, 2.5]), "");
        let (at, _) = ticks([0.0, 1.2])[2];
        assert!((at - LONG as f64 / 2.0).abs() < 1e-9, "{at}");
        for ends in
            [[0.0, 1e-5], [-1e15, 1e15], [1e15, 1e15 + 1.0], [1234.56, 1234.97], [-0.03, 8848.9], [99.0, 1001.0]]
        {
            let ticks = ticks(ends);
            assert!(apart(&ticks, room) && (1..=12).contains(&ticks.len()) || ends[0] == 1e15, "{ends:?} {ticks:?}");
        }
    }

    #[test]
    fn scales_say_what_lies_beyond_them() {
        let labels = |asked, seen| Scale::new(asked, seen).labels(|v| v.to_string());
        assert_eq!(labels(None, [1.0, 2.0]), ["1", "2"]);
        assert_eq!(labels(Some([0.0, 3.0]), [1.0, 2.0]), ["0", "3"]);
        assert_eq!(labels(Some([1.5, 1.6]), [1.0, 2.0]), ["1.5 and below, to 1", "1.6 and above, to 2"]);
        let fixed = Scale::new(Some([0.0, 2.0]), [5.0, 5.0]);
        assert_eq!([-1.0, 0.0, 1.0, 2.0, 7.0].map(|v| fixed.colour(v)), [0.0, 0.0, 0.5, 1.0, 1.0].map(scale));
    }
}
