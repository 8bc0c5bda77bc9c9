//! Spots of a picture: pixels that are linked.

use std::cmp::Reverse;

use super::view::View;
use crate::check::ground::gaps::SLENDER;

/// Pixels that are linked, by a side or a corner.
pub struct Spot {
    /// The middle of that pixel of it which is nearest to its own middle, metres.
    pub at: [f64; 2],
    /// The pixels, row by row.
    pub set: Vec<usize>,
    /// How far it reaches from there, pixels.
    pub reach: f64,
}

impl Spot {
    /// A spot of these pixels, which are sorted row by row.
    fn of(view: &View, set: Vec<usize>) -> Self {
        let (width, count) = (view.width, set.len());
        let sum = set.iter().fold([0u64; 2], |s, i| [s[0] + (i % width) as u64, s[1] + (i / width) as u64]);
        let middle = sum.map(|s| s as f64 / count as f64);
        let off = |i: usize, [x, y]: [f64; 2]| {
            let (dx, dy) = ((i % width) as f64 - x, (i / width) as f64 - y);
            (dx * dx + dy * dy).sqrt()
        };
        let nearest = set.iter().copied().min_by(|&a, &b| off(a, middle).total_cmp(&off(b, middle))).unwrap_or(0);
        let (column, row) = (nearest % width, nearest / width);
        let reach = set.iter().map(|&i| off(i, [column as f64, row as f64])).fold(0.0, f64::max);
        Spot { at: view.middle(column, row), set, reach }
    }

    /// How far it goes from west to east and from south to north, to a pixel, metres.
    pub fn size(&self, view: &View) -> [f64; 2] {
        let across = |way: fn(usize, usize) -> usize| {
            let ends =
                self.set.iter().map(|i| way(*i, view.width)).fold([usize::MAX, 0], |[a, b], v| [a.min(v), b.max(v)]);
            (ends[1] - ends[0] + 1) as f64 / view.per_metre
        };
        [across(|i, wide| i % wide), across(|i, wide| i / wide)]
    }

    /// How wide and how long it is, to a pixel, metres, if it is slender and runs aslant, so that its size says little.
    pub fn askew(&self, view: &View) -> Option<[f64; 2]> {
        let places = || self.set.iter().map(|i| [i % view.width, i / view.width].map(|v| v as f64));
        let middle = places().fold([0.0; 2], |m, p| [0, 1].map(|i| m[i] + p[i] / self.set.len() as f64));
        let [xx, yy, xy] = places().fold([0.0; 3], |[xx, yy, xy], p| {
            let [x, y] = [0, 1].map(|i| p[i] - middle[i]);
            [xx + x * x, yy + y * y, xy + x * y]
        });
        let (sin, cos) = ((2.0 * xy).atan2(xx - yy) / 2.0).sin_cos();
        let [wide, long] = [[-sin, cos], [cos, sin]].map(|[ux, uy]| {
            let ends = places()
                .map(|[x, y]| ux * x + uy * y)
                .fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| [a.min(v), b.max(v)]);
            (ends[1] - ends[0] + 1.0) / view.per_metre
        });
        let [x, y] = self.size(view);
        (long >= SLENDER * wide && 2.0 * wide * long < x * y).then_some([wide, long])
    }
}

/// Whether pixels without ground are linked to the picture's border, and all others without.
pub fn enclosed<T>(view: &View, all: &[Option<T>]) -> (bool, Vec<usize>) {
    let (width, height) = (view.width, view.height);
    let mut met: Vec<bool> = all.iter().map(Option::is_some).collect();
    let border = (0..width).flat_map(|x| [x, (height - 1) * width + x]);
    let border = border.chain((0..height).flat_map(|y| [y * width, y * width + width - 1]));
    let outside = !linked(view, &mut met, border).is_empty();
    (outside, (0..met.len()).filter(|&i| !met[i]).collect())
}

/// The pixels that some are linked to by others that were not met, and those themselves.
fn linked(view: &View, met: &mut [bool], first: impl Iterator<Item = usize>) -> Vec<usize> {
    let (width, height) = (view.width, view.height);
    let mut set = Vec::new();
    let mut next: Vec<usize> = first.collect();
    while let Some(i) = next.pop() {
        if met[i] {
            continue;
        }
        met[i] = true;
        set.push(i);
        let (x, y) = (i % width, i / width);
        let columns = x.saturating_sub(1)..=(x + 1).min(width - 1);
        let rows = y.saturating_sub(1)..=(y + 1).min(height - 1);
        next.extend(rows.flat_map(|y| columns.clone().map(move |x| y * width + x)).filter(|&j| !met[j]));
    }
    set
}

/// All sets of linked pixels that were not met, largest first.
pub fn spots(view: &View, met: &mut [bool]) -> Vec<Spot> {
    let mut all: Vec<Spot> = Vec::new();
    for i in 0..met.len() {
        let mut set = linked(view, met, std::iter::once(i));
        if set.is_empty() {
            continue;
        }
        set.sort_unstable();
        all.push(Spot::of(view, set));
    }
    all.sort_by_key(|h| Reverse(h.set.len()));
    all
}

/// Width of lines and the reach of what is small in a picture, pixels.
pub fn fine(view: &View) -> [f64; 2] {
    let wide = ((view.width.max(view.height) + 400) / 800).max(1) as f64;
    [wide, 6.0 * wide]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::ground::pairs::ALL;

    #[test]
    fn what_touches_the_border_is_no_hole() {
        let view = View { west: 0.0, north: 0.0, per_metre: 1.0, width: 8, height: 6, heights: ALL };
        // linked by corners: a bay to the border, a diagonal crack to itself
        let rows = ["########", "#.##.###", "##.##.##", "#.####.#", ".####.##", "########"];
        let all: Vec<Option<()>> = rows.concat().chars().map(|c| (c == '#').then_some(())).collect();
        let (outside, seen) = enclosed(&view, &all);
        assert!(outside);
        assert_eq!(seen, [12, 21, 30, 37]);
        let holes = |hollow: &[usize]| {
            let mut met: Vec<bool> = (0..all.len()).map(|i| !hollow.contains(&i)).collect();
            spots(&view, &mut met)
        };
        assert_eq!(holes(&seen).iter().map(|h| h.set.len()).collect::<Vec<_>>(), [4]);
        // a pixel of the hole itself, nearest to the mean of all
        assert_eq!(holes(&seen)[0].at, [5.5, -2.5]);
        let mut inside = all.clone();
        inside[32] = Some(());
        let (outside, seen) = enclosed(&view, &inside);
        assert_eq!((outside, holes(&seen).iter().map(|h| h.set.len()).collect::<Vec<_>>()), (false, vec![4, 3]));
        let whole = vec![Some(()); all.len()];
        assert!(matches!(enclosed(&view, &whole), (false, none) if none.is_empty()));
    }
}
