//! Where something may be to mend: where nothing has changed since all was looked at, there is nothing.

use super::super::neighbours::{Lines, Points};
use super::super::region::{Region, ends_of, wider};
use super::{View, flat};
use crate::options::Near;
use rayon::prelude::*;

pub enum DirtyRegion {
    All,
    /// Near these places, seen from above.
    Near(Vec<[i32; 3]>),
}

impl DirtyRegion {
    /// These places, too.
    pub fn extend(&mut self, places: &[[i32; 3]]) {
        if let DirtyRegion::Near(all) = self {
            all.extend(places);
        }
    }

    /// The triangles that have an open side there.
    pub fn faces(&self, View { ground, edges, near, .. }: View) -> Vec<u32> {
        let DirtyRegion::Near(places) = self else { return edges.open_faces().collect() };
        let mut places: Vec<[i32; 3]> = places.iter().copied().map(flat).collect();
        places.sort_unstable();
        places.dedup();
        let around: Vec<_> = places.iter().map(|p| wider(ends_of(&[*p]), i64::from(near.plan))).collect();
        let region = Region::new(&around);
        let points = Points::new(places, Near { plan: near.plan, height: 0 });
        let lines = Lines::new(&points);
        let is_near = |&i: &u32| {
            let v = ground.faces[i as usize].v;
            edges.open_sides(i).any(|k| {
                let (mut met, line) = (false, ground.corners([v[k], v[(k + 1) % 3]]).map(flat));
                if !region.may_meet(ends_of(&line)) {
                    return false;
                }
                lines.along(line, |_| {
                    met = true;
                    false
                });
                met
            })
        };
        edges.open_faces().collect::<Vec<_>>().into_par_iter().filter(is_near).collect()
    }
}
