//! Whether one image is the other one moved, or in another unit, or raised by one height.

use hardpan::Terrain;
use serde::Serialize;

use super::{
    super::{decimal, query::room},
    places::{middle, plan},
    verdict::short,
};

/// Where all of the first image lies in the second: so many times its coordinates, and so much farther.
#[derive(Debug, PartialEq, Serialize)]
pub struct Moved {
    pub times: f64,
    pub by: [f64; 3],
}

/// One height by which ground changed wherever it did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Raised {
    /// Metres; below zero it is lowered.
    pub by: f64,
    /// How much of the ground that both have did.
    pub share: f64,
}

/// Units that are taken for metres or for each other, and what they are.
const UNITS: [(f64, &str); 7] = [
    (1000.0, "a slip between metres and millimetres?"),
    (100.0, "a slip between metres and centimetres?"),
    (10.0, "a slip between centimetres and millimetres?"),
    (0.3048, "a slip between metres and feet?"),
    (0.0254, "a slip between metres and inches?"),
    (0.9144, "a slip between metres and yards?"),
    (1609.344, "a slip between metres and miles?"),
];

/// Lattice steps by which places of the same ground may differ.
const STEPS: f64 = 2.0;
/// Triangles that are looked at, how much of their ground must lie where it is said, and how many heights there must be.
const LOOKS: usize = 2000;
const MOST: f64 = 0.95;
const FEW: usize = 20;

impl Moved {
    /// If extents differ so, and nearly all ground too.
    pub fn of(a: &Terrain, b: &Terrain) -> Option<Self> {
        let steps = |t: &Terrain| {
            [t.header().xy_log2, t.header().xy_log2, t.header().z_log2].map(|log2| f64::exp2(log2.into()))
        };
        let ([low, high], [to_low, to_high]) = (a.bounds(), b.bounds());
        let (size, to_size) = ([0, 1, 2].map(|i| high[i] - low[i]), [0, 1, 2].map(|i| to_high[i] - to_low[i]));
        let off = |times: f64, i: usize| STEPS * (times * steps(a)[i] + steps(b)[i]);
        let near = |i: usize, from: f64, to: f64, times: f64| (to - times * from).abs() <= off(times, i);
        let longest = if size[0] >= size[1] { 0 } else { 1 };
        let moved = if (0..3).all(|i| near(i, size[i], to_size[i], 1.0)) {
            Moved { times: 1.0, by: [0, 1, 2].map(|i| ((to_low[i] - low[i]) + (to_high[i] - high[i])) / 2.0) }
        } else {
            let times = to_size[longest] / size[longest];
            let known = UNITS.iter().flat_map(|(unit, _)| [*unit, 1.0 / unit]);
            let times =
                known.into_iter().find(|unit| near(longest, size[longest], to_size[longest], *unit)).unwrap_or(times);
            Moved { times, by: [0.0; 3] }
        };
        let Moved { times, by } = moved;
        let all =
            (0..3).all(|i| near(i, low[i], to_low[i] - by[i], times) && near(i, high[i], to_high[i] - by[i], times));
        // straight up only is a height that changed
        let elsewhere = times != 1.0 || (0..2).any(|i| by[i].abs() > off(1.0, i));
        (times.is_finite() && times > 0.0 && all && elsewhere && moved.holds(a, b, [off(times, 0), off(times, 2)]))
            .then_some(moved)
    }

    /// Whether nearly all ground of the middles of triangles lies where it should, or so little beside it.
    fn holds(&self, a: &Terrain, b: &Terrain, [beside, above]: [f64; 2]) -> bool {
        let triangles = plan(a);
        let [mut hits, mut others] = [a, b].map(room);
        let (mut all, mut right) = (0, 0);
        for corners in triangles.iter().step_by(triangles.len().div_ceil(LOOKS).max(1)) {
            let [x, y] = middle(corners);
            let from = a.layers([x, y, 0.0], &mut hits).written;
            let to = b.layers([self.times * x + self.by[0], self.times * y + self.by[1], 0.0], &mut others).written;
            for hit in &hits[..from] {
                let z = self.times * a.z_f64(hit) + self.by[2];
                let [sx, sy] = a.slope_f64(hit);
                let slack = above + beside * (sx.abs() + sy.abs());
                all += 1;
                right += usize::from(others[..to].iter().any(|other| (b.z_f64(other) - z).abs() <= slack));
            }
        }
        all >= FEW && right as f64 >= MOST * all as f64
    }

    /// `all is moved by 0.002,0.001,0 m`.
    pub fn said(&self) -> String {
        if self.times == 1.0 {
            let [x, y, z] = self.by.map(short);
            return format!("all is moved by {x},{y},{z} m");
        }
        let near = |unit: f64| (self.times / unit - 1.0).abs() < 1e-12;
        let unit = UNITS.iter().find(|(unit, _)| near(*unit) || near(1.0 / unit));
        let times = decimal(format!("{:.6e}", self.times).parse().unwrap_or(self.times));
        format!("all is {times} times as large{}", unit.map_or(String::new(), |(_, slip)| format!(", {slip}")))
    }
}

impl Raised {
    /// Of the changes of height of ground in both images, in whatever order, if nearly all that are any are the same, by a step or a tenth.
    pub fn of(mut rises: Vec<f64>, tolerance: f64, step: f64) -> Option<Self> {
        let all = rises.len();
        rises.retain(|rise| rise.abs() > tolerance);
        if rises.len() < FEW {
            return None;
        }
        rises.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| rises[((rises.len() - 1) as f64 * share).round() as usize];
        let by = at(0.5);
        let one = [0.05, 0.95].into_iter().all(|share| (at(share) - by).abs() <= step.max(by.abs() / 10.0));
        // less may be what rounding makes of ground
        (one && by.abs() > 3.0 * step).then(|| Raised { by, share: rises.len() as f64 / all as f64 })
    }

    /// `raised by 0.020 m everywhere`.
    pub fn said(&self) -> String {
        let way = if self.by > 0.0 { "raised" } else { "lowered" };
        let size = self.by.abs();
        let by = if size < 0.01 { format!("{size:.6}") } else { format!("{size:.3}") };
        let share = self.share * 100.0;
        match self.share >= MOST {
            true => format!("{way} by {by} m everywhere"),
            false => format!("{way} by {by} m wherever heights are other, {share:.3} % of the ground"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_height_is_a_rise() {
        let step = 2f64.powi(-16);
        let raised = |rises: Vec<f64>| Raised::of(rises, 0.0, step);
        let all = raised((0..1000).map(|i| 0.02 + f64::from(i % 3) * 1e-6).collect()).unwrap();
        assert_eq!(all.said(), "raised by 0.020 m everywhere");
        let some = raised((0..1000).map(|i| if i % 4 == 0 { -0.0055 } else { 0.0 }).collect()).unwrap();
        assert_eq!(some.said(), "lowered by 0.005500 m wherever heights are other, 25.000 % of the ground");
        // a slope, rises and falls, too few, rounding
        assert_eq!(raised((0..1000).map(|i| f64::from(i) * 1e-3).collect()), None);
        assert_eq!(raised((0..1000).map(|i| if i % 2 == 0 { 0.02 } else { -0.02 }).collect()), None);
        assert_eq!(raised(vec![0.02; FEW - 1]), None);
        assert_eq!(raised(vec![2.0 * step; 1000]), None);
    }
}
