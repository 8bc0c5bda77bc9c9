//! How a triangle is divided at what lies beside its open edges.

use super::super::ground::bearable;
use super::super::neighbours::{Beside, beside};
use super::super::weld::covered;
use super::fan::{FAN, Fan, NEEDLES, fan, has_room};
use super::{Search, View, farthest, length};
use crate::util::exact::area2;
use smallvec::SmallVec;
use std::cell::LazyCell;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::iter::once;

/// Vertices that lie closer along a side, in steps, make needles whatever is done.
const CLOSE: u128 = 5;

/// A point that a side is to run through.
#[derive(Clone, Copy)]
pub struct Met {
    /// Where it lies beside the side.
    pub place: Beside,
    /// An open vertex.
    pub w: u32,
    /// The point above or below it, at the height of the side, if the side runs through that.
    pub level: Option<[i32; 3]>,
}

/// How a triangle is to be divided.
pub struct Split {
    pub fan: Fan,
    /// How far places of it are moved.
    pub by: [f64; 2],
    /// The part that is upright and goes.
    pub upright: Option<Upright>,
}

impl Split {
    /// The farthest that something of it is moved.
    pub fn most(&self) -> [f64; 2] {
        self.upright.map_or(self.by, |part| part.by)
    }
}

/// A part of a triangle that goes: others hold an edge or two beside it.
#[derive(Clone, Copy)]
pub struct Upright {
    pub v: [u32; 3],
    /// How far it is moved.
    pub by: [f64; 2],
}

/// Vertices beside the open edges of triangles that these cannot be divided at.
#[derive(Clone, Copy, Default)]
pub struct Left {
    pub is_any: bool,
    /// How many; at a fold for one of its triangles.
    pub count: u64,
}

impl Left {
    fn add(&mut self, vertices: u64, counts: bool) {
        self.is_any |= vertices > 0;
        self.count += if counts { vertices } else { 0 };
    }
}

/// A triangle that may be divided now.
pub struct Cut<'a, S> {
    pub face: u32,
    pub search: &'a S,
    pub view: View<'a>,
}

impl<S: Search> Cut<'_, S> {
    /// How it is divided, if it is; and which vertices beside its open edges cannot be had.
    pub fn split(&self) -> (Option<Split>, Left) {
        let open: SmallVec<[_; 3]> = self.open_sides().into_iter().map(|k| (k, self.beside(k))).collect();
        if open.iter().all(|(_, met)| met.as_ref().is_some_and(Vec::is_empty)) {
            return (None, Left::default()); // as mostly
        }
        // rows along one side of several with many vertices would leave slivers at the others: those are halved until
        // each part has one such side at most; a vertex counts at the longest
        let mut seen = HashSet::new();
        let mut many = Vec::new();
        for (k, met) in &open {
            let met = met.as_deref().unwrap_or_default();
            if met.len() > FAN && !self.is_close(*k, met) && met.iter().filter(|m| seen.insert(m.w)).count() > FAN {
                many.push(*k);
            }
        }
        let mut left = Left::default();
        for (k, met) in open {
            let Some(met) = met else {
                left.add(S::CROWD, self.is_first(k)); // a crowd counts once
                continue;
            };
            left.add(met.len() as u64, self.is_first(k));
            let halved = if many.len() > 1 && many.contains(&k) { self.halve(k, &met) } else { None };
            if let Some(split) = halved.or_else(|| self.meet(k, met)) {
                return (Some(split), left);
            }
        }
        (None, left)
    }

    /// Whether no triangle with a smaller number has the side.
    fn is_first(&self, k: usize) -> bool {
        let ([a, b, _], edges) = (self.at_side(k), self.view.edges);
        !edges.is_fold(self.face, k) || edges.faces(a, b).all(|i| i >= self.face)
    }

    fn corners(&self) -> [u32; 3] {
        self.view.ground.faces[self.face as usize].v
    }

    /// The corners from a side on.
    pub fn at_side(&self, k: usize) -> [u32; 3] {
        [0, 1, 2].map(|i| self.corners()[(k + i) % 3])
    }

    /// How far it was moved so far.
    pub fn moved(&self) -> [f64; 2] {
        self.view.ground.by(&self.corners())
    }

    /// Which of its sides are open between vertices of the boundary, the longest first.
    pub fn open_sides(&self) -> SmallVec<[usize; 3]> {
        let View { edges, boundary, .. } = self.view;
        let known = |k: &usize| {
            (S::FOLDS || !edges.is_fold(self.face, *k))
                && self.at_side(*k)[..2].iter().all(|&v| boundary.number(v).is_some())
        };
        let mut sides: SmallVec<[usize; 3]> = edges.open_sides(self.face).filter(known).collect();
        if sides.len() > 1 {
            sides.sort_by_key(|&k| (Reverse(self.length(k)), self.view.ground.corners(self.at_side(k))));
        }
        sides
    }

    /// The points beside a side; none if there is a crowd at its ends or along it.
    pub fn beside(&self, k: usize) -> Option<Vec<Met>> {
        let View { ground, edges, boundary, near } = self.view;
        let (v, [a, b, _]) = (self.corners(), self.at_side(k));
        if [a, b].into_iter().any(|w| boundary.number(w).is_some_and(|n| self.search.is_crowded(n))) {
            return None;
        }
        let is_fold = edges.is_fold(self.face, k);
        if is_fold && edges.is_heap([a, b]) {
            return None;
        }
        const MAX_TRIED: usize = 4;
        let room = LazyCell::new(|| MAX_TRIED + (self.length(k).isqrt() / u128::from(near.plan.max(1))) as usize);
        let fits = |n: usize| n <= MAX_TRIED || n <= *room;
        let counts = |n: usize| !v.contains(&boundary.vertices[n]) && edges.is_open_at(boundary.vertices[n]);
        let mut met = self.search.along([a, b], self.view, counts, fits)?;
        if is_fold && !met.is_empty() {
            let corners: SmallVec<[u32; 9]> = edges.faces(a, b).flat_map(|i| ground.faces[i as usize].v).collect();
            met.retain(|m| !corners.contains(&m.w));
        }
        Some(met)
    }

    /// Where what lies beside a side is.
    fn at(&self, met: &Met) -> [i32; 3] {
        self.view.ground.vertices[met.w as usize]
    }

    /// Squared length of a side.
    fn length(&self, k: usize) -> u128 {
        let [a, b, _] = self.at_side(k);
        length(self.view.ground, [a, b])
    }

    /// Whether vertices lie as close along a side as rounding is.
    fn is_close(&self, k: usize, met: &[Met]) -> bool {
        (met.len() as u128 * CLOSE).pow(2) > self.length(k)
    }

    /// In two, at the vertex nearest to the middle of a side.
    fn halve(&self, k: usize, met: &[Met]) -> Option<Split> {
        let middle = self.length(k) as i128 / 2;
        let central = met.iter().min_by_key(|m| ((m.place.along - middle).abs(), self.at(m)))?;
        self.through(k, &[*central], false)
    }

    /// Along a side through all that can be had at once, or else one.
    fn meet(&self, k: usize, mut met: Vec<Met>) -> Option<Split> {
        let halve = |met: &[Met]| {
            // half as many may have fewer rows; one by one they would be a fan as well
            let may = !self.is_close(k, met) && has_room(self.at_side(k), self.view.ground, self.view.near);
            if may { self.halve(k, met) } else { None }
        };
        met.sort_by_key(|m| (m.place.along, m.place.off.abs(), self.at(m)));
        met.dedup_by_key(|m| m.place.along);
        if let Some(split) = self.through(k, &met, false) {
            return Some(split);
        }
        if met.len() > NEEDLES {
            return halve(&met);
        }
        met.sort_by_key(|m| (m.place.off.abs(), self.at(m)));
        let one = |upright| met.iter().find_map(|m| self.through(k, std::slice::from_ref(m), upright));
        let other = || met.iter().filter(|m| m.level.is_none()).find_map(|m| self.other(k, m.w));
        let filled = || met.first().and_then(|m| self.filled(k, m));
        one(false).or_else(other).or_else(|| one(true)).or_else(filled)
    }

    /// With a sliver beside it, between a side and a point at its height.
    fn filled(&self, k: usize, met: &Met) -> Option<Split> {
        let ground = self.view.ground;
        let (level, by) = (met.level?, met.place.by);
        let [a, b, _] = self.at_side(k);
        let made = ground.vertices.len() as u32;
        let fan =
            Fan { path: vec![a, made, b], points: vec![level], parts: vec![self.corners(), [a, made, b]], off: 0.0 };
        bearable(self.moved(), by, farthest::<S>(ground)).then_some(Split { fan, by, upright: None })
    }

    /// At a vertex that lies exactly on another side.
    fn other(&self, k: usize, w: u32) -> Option<Split> {
        [(k + 1) % 3, (k + 2) % 3].into_iter().find_map(|k| {
            let [a, b, _] = self.at_side(k);
            let place =
                beside(self.view.ground.vertices[w as usize], self.view.ground.corners([a, b]), self.view.near)?;
            if place.off == 0 { self.through(k, &[Met { place, w, level: None }], false) } else { None }
        })
    }

    /// Along a side through these, if that is sound.
    fn through(&self, k: usize, met: &[Met], upright: bool) -> Option<Split> {
        let View { ground, near, .. } = self.view;
        let [a, b, apex] = self.at_side(k);
        let [from, to, top] = ground.corners([a, b, apex]);
        let is_level = met.iter().any(|m| m.level.is_some());
        let sound = |places: &[[i32; 3]], is_plain: bool| {
            let most = super::distance(from, to).0;
            let mut areas = places.windows(2).map(|pair| area2(pair[0], pair[1], top));
            places.windows(2).all(|pair| super::distance(pair[0], pair[1]).0 < most)
                && match is_plain {
                    true if is_level => !upright && areas.all(|area| area > 0),
                    true => areas.filter(|area| *area == 0).count() == usize::from(upright),
                    false => !upright,
                }
        };
        // few make a plain fan: mostly that tells what cannot be had
        let place = |m: &Met| m.level.unwrap_or_else(|| self.at(m));
        let few = met.len() <= FAN;
        if few {
            let places: SmallVec<[_; FAN + 2]> = once(from).chain(met.iter().map(place)).chain(once(to)).collect();
            if !sound(&places, true) {
                return None;
            }
        }
        let by = met.iter().fold([0f64; 2], |m, met| [m[0].max(met.place.by[0]), m[1].max(met.place.by[1])]);
        let long = (self.length(k) as f64).sqrt();
        let mut levels = Vec::new();
        let mut path = vec![(a, 0.0)];
        for m in met {
            let level = m.level.map(|p| {
                levels.push(p);
                (ground.vertices.len() + levels.len() - 1) as u32
            });
            path.push((level.unwrap_or(m.w), m.place.along as f64 / long));
        }
        path.push((b, long));
        let fan = fan(path, levels, apex, ground, near)?;
        let by = [by[0], by[1].max(fan.off)];
        if !few {
            let places: Vec<[i32; 3]> = fan.path.iter().map(|v| fan.place(*v, ground)).collect();
            if !sound(&places, fan.is_plain()) {
                return None;
            }
        }
        let upright = match met {
            [one] if upright => {
                let end = if area2(from, self.at(one), top) == 0 { a } else { b };
                let part = [end, one.w, apex];
                let off = self.off(part, one.w, apex)?;
                Some(Upright { v: part, by: [0, 1].map(|i| by[i] + off[i]) })
            }
            _ => None,
        };
        let split = Split { fan, by, upright };
        bearable(self.moved(), split.most(), farthest::<S>(ground)).then_some(split)
    }

    /// How far an upright part lies off the edges of other triangles; it has a side of this one, and one of its other
    /// part.
    fn off(&self, part: [u32; 3], w: u32, apex: u32) -> Option<[f64; 2]> {
        let View { ground, edges, near, .. } = self.view;
        covered(ground, part, near, |a, b| match [a, b].map(|p| p == w) {
            [false, false] => edges.users(a, b) > 1,
            _ => a == apex || b == apex || edges.users(a, b) > 0,
        })
    }
}
