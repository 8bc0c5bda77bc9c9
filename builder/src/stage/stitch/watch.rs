//! Where something may be to mend: where nothing has changed since all was looked at, there is nothing.

use super::super::ground::Ground;
use super::super::near::{Lines, Points};
use super::super::region::{Flat, Region, ends_of};
use super::edges::Edges;
use super::{View, flat};
use crate::Near;
use rayon::prelude::*;

pub enum Watch {
    All,
    /// Near these places, seen from above.
    Near(Vec<[i32; 3]>),
}

impl Watch {
    /// These places, too.
    pub fn extend(&mut self, places: &[[i32; 3]]) {
        if let Watch::Near(all) = self {
            all.extend(places);
        }
    }

    /// The triangles that have an open side there.
    pub fn faces(&self, View { ground, edges, near, .. }: View) -> Vec<u32> {
        self.faces_of(ground, edges, near)
    }

    fn faces_of(&self, ground: &Ground, edges: &Edges, near: Near) -> Vec<u32> {
        let Watch::Near(places) = self else { return edges.open_faces().collect() };
        let mut places: Vec<[i32; 3]> = places.iter().copied().map(flat).collect();
        places.sort_unstable();
        places.dedup();
        let region = Region::new(&places.iter().map(|p| reach(*p, near.plan)).collect::<Vec<_>>());
        let points = Points::new(places, Near { plan: near.plan, height: 0 });
        let lines = Lines::new(&points);
        let is_near = |&i: &u32| {
            let v = ground.faces[i as usize].v;
            edges.open_sides(i).any(|k| {
                let mut met = false;
                if !region.may_meet(ends_of(&ground.corners([v[k], v[(k + 1) % 3]]))) {
                    return false; // as mostly
                }
                lines.along(ground.corners([v[k], v[(k + 1) % 3]]).map(flat), |_| {
                    met = true;
                    false
                });
                met
            })
        };
        edges.open_faces().collect::<Vec<_>>().into_par_iter().filter(is_near).collect()
    }
}

/// The square around a place.
fn reach([x, y, _]: [i32; 3], far: u32) -> Flat {
    [-1, 1].map(|side| [x, y].map(|v| i64::from(v) + side * i64::from(far)))
}

/// How many times the threshold around a place vertices may lie to count for what is mended there: theirs and that of their neighbours.
const AROUND: u32 = 4;

/// The open vertices that count for what may be to mend where these watches look; none if they look everywhere.
pub fn vertices(watches: &[Watch; 2], ground: &Ground, edges: &Edges, near: Near) -> Option<Vec<u32>> {
    let mut places = Vec::new();
    for watch in watches {
        let Watch::Near(some) = watch else { return None };
        places.extend(some.iter().copied().map(flat));
    }
    // the ends of sides that may be divided there
    let mut all: Vec<u32> = watches
        .iter()
        .flat_map(|watch| watch.faces_of(ground, edges, near))
        .flat_map(|i| {
            edges.open_sides(i).flat_map(move |k| [k, (k + 1) % 3]).map(move |k| ground.faces[i as usize].v[k])
        })
        .collect();
    places.extend(all.iter().map(|v| flat(ground.vertices[*v as usize])));
    places.sort_unstable();
    places.dedup();
    let far = near.plan.saturating_mul(AROUND);
    let region = Region::new(&places.iter().map(|p| reach(*p, far)).collect::<Vec<_>>());
    let points = Points::new(places, Near { plan: far, height: 0 });
    let close = |v: &u32| {
        let (mut met, place) = (false, ground.vertices[*v as usize]);
        if !region.may_meet(ends_of(&[place])) {
            return false; // as mostly
        }
        points.about(flat(place), |_| {
            met = true;
            false
        });
        met
    };
    all.par_extend((0..ground.vertices.len() as u32).into_par_iter().filter(|v| edges.is_open_at(*v) && close(v)));
    all.sort_unstable();
    all.dedup();
    Some(all)
}
