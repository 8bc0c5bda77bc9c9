//! The edges of a tile's triangles: which two triangles lie at one, which are open, and what hangs together.

use super::plan::{Box4, Rect, Tri};
use crate::util::disjoint_set::DisjointSet;
use hardpan_shaders::sort::mix;
use hashbrown::DefaultHashBuilder;
use std::hash::BuildHasher;
use std::ops::Range;

/// How many triangles of an edge lie on one side of it, if they are no more than [`MAX`](users::MAX) and none lies on
/// the other; else:
mod users {
    /// Another has it as the first of them.
    pub const LATER: u8 = 0;
    pub const ONE: u8 = 1;
    pub const MAX: u8 = crate::report::Repair::MAX_NEIGHBOURS as u8;
    /// One lies on each side.
    pub const PAIR: u8 = 254;
    pub const MANY: u8 = 255;
}

/// A node's rectangle in which only the triangles of its bundles may lie: if others do, its cells do not name them, and
/// the tile fails.
pub struct Own {
    /// Where the node stands.
    pub node: usize,
    pub rect: Rect,
    /// Where the numbers stand of its triangles, those that reach beyond it included.
    pub places: Range<usize>,
    /// Among which are those that lie in it.
    pub tris: Range<u32>,
}

impl Own {
    /// Whether a triangle, of these bounds, lies in it.
    pub fn holds(&self, t: u32, bounds: Box4) -> bool {
        self.tris.contains(&t) && self.rect.holds_box(bounds)
    }
}

/// For each triangle bits for its edges: bit k for that from corner k.
pub struct Edges {
    /// Just one other triangle lies there, on its other side.
    pub paired: Vec<u8>,
    /// All triangles that have it lie on one side, and are no heap.
    pub open: Vec<u8>,
    /// Other triangles have it, and it is not paired.
    pub crowded: Vec<u8>,
    /// Parts that are connected at paired edges.
    parts: DisjointSet,
}

impl Edges {
    /// Edges of triangles and their boxes; by the rectangles of nodes, no two of which overlap, if there are any.
    pub fn new(tris: &[Tri], boxes: &[Box4], own: &[Own], numbers: &[u32]) -> Edges {
        let none = || vec![0; tris.len()];
        let edges = Edges { paired: none(), open: none(), crowded: none(), parts: DisjointSet::new(tris.len()) };
        let mut search = Search { tris, key: key(), edges };
        if own.is_empty() {
            search.pair(tris.len(), |i| (i as u32, 7));
            return search.edges;
        }
        // all that have an edge in a rectangle are among those there, or the tile fails for another reason; in memory
        // of the size of a cache
        let (mut known, mut some) = (vec![0u8; tris.len()], Vec::new());
        for Own { rect, places, .. } in own {
            some.clear();
            for &t in numbers[places.clone()].iter().filter(|t| **t != u32::MAX) {
                let tri = &tris[t as usize];
                let here = if rect.holds_box(boxes[t as usize]) {
                    7
                } else {
                    let [a, b, c] = [0, 1, 2].map(|k| rect.holds_box([tri.x[k], tri.y[k], tri.x[k], tri.y[k]]));
                    u8::from(a & b) | u8::from(b & c) << 1 | u8::from(c & a) << 2
                };
                let new = here & !known[t as usize];
                known[t as usize] |= here;
                some.extend((new != 0).then_some((t, new)));
            }
            search.pair(some.len(), |i| some[i]);
        }
        some.clear();
        some.extend((0..).zip(&known).filter(|(_, known)| **known != 7).map(|(t, known)| (t, 7 & !known)));
        search.pair(some.len(), |i| some[i]);
        search.edges
    }

    /// Of each triangle a bit for each edge that as many have on one side as on the other, with the same ends in plan:
    /// the paired ones, and such as kerbs have, one above the other. And the part of each triangle, by one of it: at
    /// each such edge as many of a part lie on one side as on the other.
    pub fn balanced(&mut self, tris: &[Tri]) -> (Vec<u8>, Vec<u32>) {
        let (mut balanced, mut parts) = (self.paired.clone(), std::mem::take(&mut self.parts));
        // ends as one number, the height of the lesser, the number, and whether it runs from the lesser to the greater
        let mut loose: Vec<(u128, i32, u32, bool)> = Vec::new();
        let place = |t: &Tri, k: usize| u64::from(t.x[k] as u32) << 32 | u64::from(t.y[k] as u32);
        for (i, (t, paired)) in tris.iter().zip(&balanced).enumerate().filter(|(_, (_, p))| **p != 7) {
            for (k, n) in [(0, 1), (1, 2), (2, 0)].into_iter().filter(|(k, _)| paired >> k & 1 == 0) {
                let (a, b) = (place(t, k), place(t, n));
                let ends = u128::from(a.min(b)) << 64 | u128::from(a.max(b));
                loose.push((ends, t.z[if a < b { k } else { n }], (3 * i + k) as u32, a < b));
            }
        }
        loose.sort_unstable();
        for edges in loose.chunk_by(|a, b| a.0 == b.0) {
            let [there, back] = [true, false].map(|way| edges.iter().filter(move |e| e.3 == way).map(|e| e.2));
            if 2 * there.clone().count() == edges.len() {
                edges.iter().for_each(|e| balanced[e.2 as usize / 3] |= 1 << (e.2 % 3));
                there.zip(back).for_each(|(a, b)| parts.join(a / 3, b / 3));
            }
        }
        (balanced, parts.firsts())
    }
}

/// A search for the other triangles at edges.
struct Search<'a> {
    tris: &'a [Tri],
    key: [u64; 2],
    edges: Edges,
}

impl Search<'_> {
    /// Looks at edges of so many triangles, given their numbers, with a bit for each edge that counts, and tells of
    /// them.
    #[inline]
    fn pair(&mut self, count: usize, item: impl Fn(usize) -> (u32, u8)) {
        let (tris, key) = (self.tris, self.key);
        let tri = |i: usize| &tris[item(i).0 as usize];
        let size = (6 * count).next_power_of_two();
        let mut slots = vec![0u32; size];
        // of the first edge at its place the second, of all others the first
        let mut users = vec![users::LATER; 3 * count];
        let mut other = vec![0u32; 3 * count];
        let mut all_paired = true;
        // memory is waited for once for several triangles: what stood in a slot before, stands there still
        const AHEAD: usize = 8;
        let (mut places, mut before) = ([[0usize; 3]; AHEAD], [[0u32; 3]; AHEAD]);
        for from in (0..count).step_by(AHEAD) {
            let some = from..count.min(from + AHEAD);
            for (places, i) in places.iter_mut().zip(some.clone()) {
                let [a, b, c] = [0, 1, 2].map(|k| hash(key, tri(i).corner(k)));
                // the same from either end
                *places = [[a, b], [b, c], [c, a]].map(|[a, b]| a.wrapping_add(b) & (size - 1));
            }
            for (before, places) in before.iter_mut().zip(&places) {
                *before = places.map(|at| slots[at]);
            }
            for (i, (places, before)) in some.zip(places.iter().zip(&before)) {
                let (t, here) = (tri(i), item(i).1);
                for (k, n) in [(0, 1), (1, 2), (2, 0)].into_iter().filter(|(k, _)| here >> k & 1 == 1) {
                    let (e, a, b) = (3 * i + k, t.corner(k), t.corner(n));
                    let (mut at, mut there) = (places[k], before[k]);
                    if there == 0 {
                        there = slots[at];
                    }
                    loop {
                        let Some(first) = (there as usize).checked_sub(1) else {
                            slots[at] = e as u32 + 1;
                            users[e] = users::ONE;
                            break;
                        };
                        let t = tri(first / 3);
                        let (c, d) = (t.corner(first % 3), t.corner((first % 3 + 1) % 3));
                        let turned = (a, b) == (d, c);
                        if turned || (a, b) == (c, d) {
                            users[first] = match users[first] {
                                users::ONE if turned => users::PAIR,
                                some @ users::ONE..users::MAX if !turned => some + 1,
                                _ => users::MANY,
                            };
                            all_paired &= users[first] == users::PAIR;
                            (other[first], other[e]) = (e as u32, first as u32);
                            break;
                        }
                        at = (at + 1) & (size - 1);
                        there = slots[at];
                    }
                }
            }
        }
        let Edges { paired, open, crowded, parts } = &mut self.edges;
        for i in 0..count {
            let (t, here) = item(i);
            for k in (0..3).filter(|k| here >> k & 1 == 1) {
                let (e, t, bit) = (3 * i + k, t as usize, 1 << k);
                match users[e] {
                    users::ONE => open[t] |= bit,
                    users::PAIR => {
                        let other = other[e] as usize;
                        let beside = item(other / 3).0;
                        paired[t] |= bit;
                        paired[beside as usize] |= 1 << (other % 3);
                        parts.join(t as u32, beside);
                    }
                    _ if all_paired => {}
                    of => {
                        let of = if of == users::LATER { users[other[e] as usize] } else { of };
                        open[t] |= if of <= users::MAX { bit } else { 0 };
                        crowded[t] |= if of == users::PAIR { 0 } else { bit };
                    }
                }
            }
        }
    }
}

/// A number of a place. With a key of its own each time no mesh can be made for it; and its bits are all over in sums
/// of two as well, whatever stands in rows or stacks.
#[inline]
fn hash([k, l]: [u64; 2], [x, y, z]: [i32; 3]) -> usize {
    let [x, y, z] = [x, y, z].map(|v| u64::from(v as u32));
    mix(mix(k ^ (x << 32 | y)) ^ l ^ z) as usize
}

/// Numbers that nobody knows before.
fn key() -> [u64; 2] {
    let random = DefaultHashBuilder::default();
    [0, 1].map(|n| mix(random.hash_one(n)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Edges one above the other, and such as have a middle in common, do not come to stand in the same slots.
    #[test]
    fn edges_are_spread() {
        const SLOTS: usize = 1 << 15;
        let key = key();
        let most = |edge: &dyn Fn(i32) -> [[i32; 3]; 2]| {
            let mut counts = vec![0; SLOTS];
            for [a, b] in (0..SLOTS as i32).map(edge) {
                counts[hash(key, a).wrapping_add(hash(key, b)) & (SLOTS - 1)] += 1;
            }
            counts.into_iter().max().unwrap()
        };
        // at random a slot has eight of them, or nine
        for (k, step) in (0..).zip([1, 2, 655, 1 << 8, 1 << 12, 1 << 16]) {
            let stack =
                most(&|i| [[40_960 + 7 * k, 8192, i.wrapping_mul(step)], [40_448, 8192 * k - 3, i.wrapping_mul(step)]]);
            let fan = most(&|i| {
                let [x, y] = [i % 128 * step, i / 128 * step];
                [[x, y, 9], [-x - 1, -y - 1, 9]]
            });
            assert!(stack < 24 && fan < 24, "{step}: {stack}, {fan}");
        }
    }

    fn tri(c: [[i32; 3]; 3]) -> Tri {
        Tri { x: c.map(|c| c[0]), y: c.map(|c| c[1]), z: c.map(|c| c[2]), attribute: 0 }
    }

    /// Open, paired, crowded edges of each, and which came first of what hangs together.
    fn told(mut edges: Edges, tris: &[Tri]) -> Vec<([u8; 3], u32)> {
        let bits: Vec<_> = (0..tris.len()).map(|i| [edges.open[i], edges.paired[i], edges.crowded[i]]).collect();
        bits.into_iter().zip(edges.balanced(tris).1).collect()
    }

    #[test]
    fn edges_with_all_triangles_on_one_side_are_open() {
        let (a, b, c, d) = ([0, 0, 0], [100, 0, 0], [50, 90, 0], [50, -90, 0]);
        let (north, south, over) = (tri([a, b, c]), tri([a, d, b]), tri([a, b, [50, 90, 40]]));
        let told =
            |tris: &[Tri]| told(Edges::new(tris, &[], &[], &[]), tris).into_iter().map(|t| t.0).collect::<Vec<_>>();
        assert_eq!(told(&[north, south]), [[0b110, 0b001, 0], [0b011, 0b100, 0]]);
        assert_eq!(told(&[north, over]), [[0b111, 0, 0b001]; 2]);
        assert_eq!(told(&[north, north, north]), [[0b111, 0, 0b111]; 3]);
        let stack = |n: i32| (0..n).map(|i| tri([a, b, [50, 90, i]])).collect::<Vec<_>>();
        assert!(told(&stack(64)).iter().all(|t| *t == [0b111, 0, 0b001]));
        assert!(told(&stack(65)).iter().all(|t| *t == [0b110, 0, 0b001]), "a heap");
        for order in [[north, over, south], [north, south, over], [south, north, over]] {
            let open = |t: &Tri| if (t.x, t.y, t.z) == (south.x, south.y, south.z) { 0b100 } else { 0b001 };
            assert_eq!(told(&order), order.map(|t| [0b111 - open(&t), 0, open(&t)]), "one on the other side");
        }
    }

    /// By rectangles the same is found as at once, whoever stands in several of them.
    #[test]
    fn edges_are_told_by_rectangles_as_at_once() {
        let mut seed = 5;
        let mut random = |n: u64| {
            seed = mix(seed);
            (seed % n) as i32
        };
        let (mut halves, mut heaps) = (0, 0);
        for case in 0..200 {
            // few places, so that triangles share edges, and some are there twice
            let spread = [4, 6, 9][case % 3];
            let mut tris = Vec::new();
            while tris.len() < 60 {
                let c = [0; 3].map(|_| [100 * random(spread), 100 * random(spread), 7 * random(2)]);
                let t = tri(c);
                tris.extend(t.is_counter_clockwise().then_some(t));
            }
            let rects = [[0, 0], [400, 0], [0, 400], [400, 400]].map(|low| Rect { low, size: [400, 400] });
            let boxes: Vec<Box4> = tris.iter().map(Tri::bounds).collect();
            let (mut numbers, mut own) = (Vec::new(), Vec::new());
            for rect in &rects[..4 - case % 2] {
                let from = numbers.len();
                let those = (0..).zip(&tris).filter(|(_, t)| t.meets::<true>(t.bounds(), rect));
                numbers.extend(those.map(|(i, _): (u32, _)| i));
                numbers.extend([u32::MAX; 3]);
                own.push(Own { node: 0, rect: *rect, places: from..numbers.len(), tris: 0..0 });
            }
            let at_once = told(Edges::new(&tris, &[], &[], &[]), &tris);
            assert_eq!(told(Edges::new(&tris, &boxes, &own, &numbers), &tris), at_once, "{case}");
            halves += at_once.iter().filter(|(bits, _)| bits[1] != 0).count();
            heaps += at_once.iter().filter(|(bits, _)| bits[2] != 0).count();
        }
        assert!(halves > 500 && heaps > 500, "{halves} {heaps}");
    }

    /// A road and a plate over it, as many on either side of each inner edge: each is a part, kerbs in them or not.
    #[test]
    fn what_hangs_together_has_one_over_another_at_kerbs() {
        let square = |x: i32, z: i32| {
            let p = |i: i32, j: i32| [100 * (x + i), 100 * j, z];
            [tri([p(0, 0), p(1, 0), p(0, 1)]), tri([p(0, 1), p(1, 0), p(1, 1)])]
        };
        // over the kerb of the road the plate has one, too
        let heights = [[0, 500], [0, 500], [15, 540], [15, 540]];
        let tris: Vec<Tri> = (0..).zip(heights).flat_map(|(x, z)| z.map(|z| square(x, z))).flatten().collect();
        let (balanced, parts) = Edges::new(&tris, &[], &[], &[]).balanced(&tris);
        assert_eq!(parts, [0, 0, 2, 2].repeat(4));
        let inner: u32 = balanced.iter().map(|b| b.count_ones()).sum();
        assert_eq!(inner, 2 * 2 * (4 + 3), "diagonals, and edges between squares");
    }
}
