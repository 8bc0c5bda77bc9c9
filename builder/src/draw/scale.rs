//! What the colours of a map stand for: numbers between two ends, or counts in classes.

use super::{
    canvas::{Colour, Size, WHITE, mix, scale},
    maps::Map,
};

/// The ends of a map's scale, as they are typed; without a map, of the only one that has a scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    map: Option<Map>,
    ends: [f64; 2],
}

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
    /// What those are, and what lies beyond them.
    pub ends: [String; 2],
    /// Pixels from its low end, and the number there.
    pub ticks: Vec<(f64, String)>,
}

/// Pixels of a bar.
pub const LONG: usize = 240;

/// Counts, few or many in one colour.
pub struct Classes {
    /// The least of each, ascending.
    first: Vec<u32>,
    /// The greatest of the last, but for what lies beyond the scale.
    last: u32,
    /// Least and greatest count in the picture.
    seen: [u32; 2],
}

/// How far the ends of a scale that is typed are apart at least: legends show that much of a millimetre.
pub const FINEST: f64 = 1e-5;
/// Most classes of a legend.
const CLASSES: usize = 10;

/// `LOW,HIGH` or `MAP=LOW,HIGH`.
pub fn typed(text: &str) -> Result<Range, String> {
    let (map, ends) = match text.split_once('=') {
        Some((name, ends)) => (Some(Map::named(name)?), ends),
        None => (None, text),
    };
    let ends = pair(ends).ok_or("the ends of a scale, LOW,HIGH, or of one of several maps, such as mu=0,1")?;
    if ends[1] - ends[0] < FINEST {
        return Err("LOW must be below HIGH, by 0.00001 at least".into());
    }
    if let Some(map) = map.filter(|m| !m.has_scale()) {
        return Err(format!("the map {} has no scale; {} have", map.name(), scaled()));
    }
    Ok(Range { map, ends })
}

/// Two numbers with a comma between them.
pub fn pair(text: &str) -> Option<[f64; 2]> {
    let numbers: Option<Vec<f64>> =
        text.split(',').map(|n| n.trim().parse().ok().filter(|v: &f64| v.abs() <= 1e15)).collect();
    numbers?.try_into().ok()
}

/// The maps with a scale.
fn scaled() -> String {
    let names: Vec<&str> = Map::ALL.into_iter().filter(|m| m.has_scale()).map(Map::name).collect();
    names.join(", ")
}

/// The range of each of some maps.
pub fn ranges(maps: &[Map], typed: &[Range]) -> Result<Vec<Option<[f64; 2]>>, String> {
    let with: Vec<Map> = maps.iter().copied().filter(|m| m.has_scale()).collect();
    let mut all = vec![None; maps.len()];
    for Range { map, ends } in typed {
        let map = match (map, &with[..]) {
            (Some(map), _) => *map,
            (None, [only]) => *only,
            (None, []) => return Err(format!("no map here has a scale for --range; {} have", scaled())),
            (None, many) => {
                let each: Vec<String> =
                    many.iter().map(|m| format!("--range {}={},{}", m.name(), ends[0], ends[1])).collect();
                return Err(format!("several maps have a scale; say which: {}", each.join(" or ")));
            }
        };
        let name = map.name();
        let Some(at) = maps.iter().position(|m| *m == map) else {
            return Err(format!("--range is for {name}, which is not drawn; add --map {name}"));
        };
        if all[at].replace(*ends).is_some() {
            return Err(format!("--range says twice where the scale of {name} ends; say it once"));
        }
        if map.counts() && ends.iter().any(|v| v.fract() != 0.0 || !(0.0..=1e6).contains(v)) {
            return Err(format!("the map {name} counts: its --range is of whole numbers from 0 to 1000000"));
        }
    }
    Ok(all)
}

impl Scale {
    /// From end to end, or as far as the picture goes.
    pub fn new(asked: Option<[f64; 2]>, seen: [f64; 2]) -> Self {
        Scale { ends: asked.unwrap_or(seen), seen }
    }

    pub fn colour(&self, v: f64) -> Colour {
        let [low, high] = self.ends;
        scale(if high > low { (v - low) / (high - low) } else { 0.5 })
    }

    /// Its colours, as strong as they are drawn, with round numbers between its ends: `end` tells those, `tick` others, in so many
    /// decimals at least.
    pub fn bar(&self, strength: f64, end: impl Fn(f64) -> String, tick: impl Fn(f64, usize) -> String) -> Bar {
        let colour = |i: usize| mix(WHITE, scale(i as f64 / (LONG - 1) as f64), strength);
        let [low, high] = self.ends;
        let ticks = |step: f64, decimals: usize| -> Vec<(f64, String)> {
            let first = (low / step).floor();
            let values = (0..=LONG).map(|i| (first + i as f64) * step + 0.0).take_while(|v| *v < high);
            let inside = values.filter(|v| *v > low).map(|v| ((v - low) / (high - low), tick(v, decimals)));
            // not at its very ends, whose numbers stand beside it
            inside
                .filter(|(share, _)| (0.01..0.99).contains(share))
                .map(|(share, t)| (share * LONG as f64, t))
                .collect()
        };
        let least = ((high - low) / LONG as f64).log10().floor();
        let steps = (0..4).flat_map(|i| [1.0, 2.0, 5.0].map(|n| (n, least as i32 + i)));
        let mut each = steps.map(|(n, ten)| ticks(n * 10f64.powi(ten), usize::try_from(-ten).unwrap_or(0)));
        Bar {
            colours: (0..LONG).map(colour).collect(),
            ends: self.told(end),
            ticks: if high > low { each.find(|ticks| apart(ticks)).unwrap_or_default() } else { Vec::new() },
        }
    }

    /// What its ends are, and what lies beyond them.
    pub fn told(&self, number: impl Fn(f64) -> String) -> [String; 2] {
        let ([low, high], [least, most]) = (self.ends, self.seen);
        let [low_told, high_told, least_told, most_told] = [low, high, least, most].map(number);
        [
            if least < low { format!("{low_told} and below, to {least_told}") } else { low_told },
            if most > high { format!("{high_told} and above, to {most_told}") } else { high_told },
        ]
    }
}

/// Whether numbers at ticks, in order, leave room between each two.
pub fn apart(ticks: &[(f64, String)]) -> bool {
    let wide = |text: &str| Size::Text.width(text) as f64;
    ticks.windows(2).all(|two| {
        let [(a, left), (b, right)] = two else { return true };
        b - a >= (wide(left) + wide(right)) / 2.0 + wide("0")
    })
}

impl Classes {
    /// Of counts from the first to the last that was asked for, or as far as the picture goes from `low`.
    pub fn new(asked: Option<[f64; 2]>, low: u32, seen: [u32; 2]) -> Self {
        let [mut next, last] = asked.map_or([low.min(seen[0]), seen[1]], |ends| ends.map(|v| v as u32));
        let mut first = Vec::new();
        // each as much larger than the one before as it takes, by one at least
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

    /// The least count of each class, and what it holds; the last says of what, one or many.
    pub fn told(&self, [one, many]: [&str; 2]) -> Vec<(u32, String)> {
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
            let told: Vec<_> =
                classes.told(["", ""]).into_iter().map(|(n, text)| (n, text.trim_end().to_string())).collect();
            assert!(told.len() <= CLASSES && told[0].0 == low, "{told:?}");
            if high - low < CLASSES as u32 {
                assert_eq!(told, (low..=high).map(|n| (n, n.to_string())).collect::<Vec<_>>());
            }
            let mut next = low;
            for (i, (from, text)) in told.iter().enumerate() {
                let to = text.split_once(" to ").map_or(text.as_str(), |t| t.1).parse().unwrap();
                assert_eq!((*from, classes.of(*from).0, classes.of(to).0), (next, i, i), "{told:?}");
                next = to + 1;
            }
            assert_eq!(next, high + 1, "{told:?}");
        }
        let told =
            |range: [f64; 2], seen| Classes::new(Some(range), 0, seen).told(["test", "tests"]).into_iter().map(|t| t.1);
        assert_eq!(told([2.0, 4.0], [1, 9]).collect::<Vec<_>>(), ["2 and less", "3", "4 and more, to 9 tests"]);
        assert_eq!(told([2.0, 4.0], [2, 4]).collect::<Vec<_>>(), ["2", "3", "4 tests"]);
    }

    #[test]
    fn ticks_are_round_and_leave_room() {
        let ticks = |ends| {
            let tick = |v: f64, decimals: usize| format!("{v:.decimals$}");
            Scale::new(Some(ends), ends).bar(1.0, |v| v.to_string(), tick).ticks
        };
        let told = |ends| ticks(ends).into_iter().map(|t| t.1).collect::<Vec<_>>().join(" ");
        assert_eq!(told([0.0, 1.2]), "0.2 0.4 0.6 0.8 1.0");
        assert_eq!(told([-1.3, 2.1]), "-1.0 -0.5 0.0 0.5 1.0 1.5 2.0");
        assert_eq!(told([2.5, 2.5]), "");
        let (at, _) = ticks([0.0, 1.2])[2];
        assert!((at - LONG as f64 / 2.0).abs() < 1e-9, "{at}");
        for ends in
            [[0.0, 1e-5], [-1e15, 1e15], [1e15, 1e15 + 1.0], [1234.56, 1234.97], [-0.03, 8848.9], [99.0, 1001.0]]
        {
            let ticks = ticks(ends);
            assert!(apart(&ticks) && (1..=12).contains(&ticks.len()) || ends[0] == 1e15, "{ends:?} {ticks:?}");
        }
    }

    #[test]
    fn scales_say_what_lies_beyond_them() {
        let told = |asked, seen| Scale::new(asked, seen).told(|v| v.to_string());
        assert_eq!(told(None, [1.0, 2.0]), ["1", "2"]);
        assert_eq!(told(Some([0.0, 3.0]), [1.0, 2.0]), ["0", "3"]);
        assert_eq!(told(Some([1.5, 1.6]), [1.0, 2.0]), ["1.5 and below, to 1", "1.6 and above, to 2"]);
        let fixed = Scale::new(Some([0.0, 2.0]), [5.0, 5.0]);
        assert_eq!([-1.0, 0.0, 1.0, 2.0, 7.0].map(|v| fixed.colour(v)), [0.0, 0.0, 0.5, 1.0, 1.0].map(scale));
    }
}
