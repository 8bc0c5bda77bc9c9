//! Walls: ceilings and obstacles, kept beside the ground, whose vertices and edges they follow through its repairs.
//!
//! A wall shares places with the ground. Where a repair moves such a place, or draws an edge that both have to a path,
//! the wall does the same: so no slit opens between a kerb's top and its face. What repairs of the ground leave upright
//! becomes a wall.

use super::clean::is_line;
use super::ground::{Place, Step, Trail};
use crate::build::lattice::Wall;
use crate::scene::{Material, WallKind};
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::collections::HashMap as Tiles;

/// Walls after the repairs of the ground: ascending, one of coincident ones, none with its corners on a line.
pub fn settled(walls: Vec<Wall>, Trail(steps): Trail, materials: &[Material]) -> Vec<Wall> {
    let mut walls = if steps.is_empty() { walls } else { follow(walls, steps) };
    walls.retain(|w| !is_line(w.corners));
    walls.iter_mut().for_each(|w| {
        let least = (0..3).min_by_key(|k| w.corners[*k]).unwrap_or_default();
        w.corners.rotate_left(least);
    });
    let rank = |w: &Wall| (w.corners, Reverse(materials[usize::from(w.material)].priority), *w);
    walls.sort_unstable_by_key(rank);
    walls.dedup_by(|next, kept| next.corners == kept.corners);
    walls
}

/// Does to walls what was done to the ground at their places.
fn follow(mut walls: Vec<Wall>, steps: Vec<Step>) -> Vec<Wall> {
    let mut at: HashMap<Place, Vec<u32>> = HashMap::new();
    for (i, w) in walls.iter().enumerate() {
        w.corners.iter().for_each(|p| at.entry(*p).or_default().push(i as u32));
    }
    let add = |walls: &mut Vec<Wall>, at: &mut HashMap<Place, Vec<u32>>, w: Wall| {
        w.corners.iter().for_each(|p| at.entry(*p).or_default().push(walls.len() as u32));
        walls.push(w);
    };
    for step in steps {
        match step {
            Step::Moved(from, to) => {
                let Some(some) = at.remove(&from) else { continue };
                for i in some {
                    let corners = &mut walls[i as usize].corners;
                    if corners.contains(&from) {
                        corners.iter_mut().filter(|p| **p == from).for_each(|p| *p = to);
                        at.entry(to).or_default().push(i);
                    }
                }
            }
            Step::Drawn(path) => {
                let [a, b] = [path[0], path[path.len() - 1]];
                let has = |i: &u32| [a, b].iter().all(|p| walls[*i as usize].corners.contains(p));
                let mut some: Vec<u32> = at.get(&a).into_iter().flatten().copied().filter(has).collect();
                some.dedup();
                for i in some {
                    let wall = walls[i as usize];
                    let k = (0..3).find(|k| ![a, b].contains(&wall.corners[*k]));
                    let Some(k) = k.filter(|_| a != b) else { continue };
                    let is_along = wall.corners[(k + 1) % 3] == a;
                    let mut parts = path.windows(2).map(|two| {
                        let [p, q] = if is_along { [two[0], two[1]] } else { [two[1], two[0]] };
                        Wall { corners: [wall.corners[k], p, q], ..wall }
                    });
                    let first = parts.next().expect("two places");
                    let rest: Vec<Wall> = parts.collect();
                    // in the place of the whole, whose corners know it
                    walls[i as usize] = first;
                    first.corners.iter().for_each(|p| at.entry(*p).or_default().push(i));
                    rest.into_iter().for_each(|w| add(&mut walls, &mut at, w));
                }
            }
            Step::Upright(corners, face) => {
                let (material, source) = (face.material, face.source);
                add(&mut walls, &mut at, Wall { corners, kind: WallKind::Obstacle, material, source });
            }
        }
    }
    walls
}

/// Whether the closed plan of a wall may meet the rectangle from `low` of this size, whose right and upper borders
/// belong to its neighbours: where it does it says so, and it may where it lies less than a step off.
pub fn meets(corners: &[[i32; 3]; 3], low: [i64; 2], size: [i64; 2]) -> bool {
    let high = [low[0] + size[0], low[1] + size[1]];
    let p = corners.map(|c| [i64::from(c[0]), i64::from(c[1])]);
    let outside = |i: usize| p.iter().all(|c| c[i] < low[i]) || p.iter().all(|c| c[i] >= high[i]);
    if outside(0) || outside(1) {
        return false;
    }
    let side = |a: [i64; 2], b: [i64; 2], c: [i64; 2]| {
        let d = |p: [i64; 2], i: usize| i128::from(p[i]) - i128::from(a[i]);
        (d(b, 0) * d(c, 1) - d(b, 1) * d(c, 0)).signum()
    };
    let square = [low, [high[0], low[1]], high, [low[0], high[1]]];
    (0..3).all(|k| {
        let [a, b, c] = [p[k], p[(k + 1) % 3], p[(k + 2) % 3]];
        let own = side(a, b, c);
        let all = |sign: i128| square.iter().all(|q| side(a, b, *q) == sign);
        // without plan area it is a line, off which the square may lie to either side
        if own == 0 { !all(1) && !all(-1) } else { !all(-own) }
    })
}

/// Which walls each tile of this side holds, ascending.
pub fn by_tile(walls: &[Wall], tile_log2: u32) -> Tiles<[i32; 2], Vec<u32>> {
    let mut all: Tiles<[i32; 2], Vec<u32>> = Tiles::new();
    let s = 1i64 << tile_log2;
    for (i, w) in (0..).zip(walls) {
        let range = |axis: usize| {
            let of = w.corners.map(|c| c[axis] >> tile_log2);
            of[0].min(of[1]).min(of[2])..=of[0].max(of[1]).max(of[2])
        };
        for y in range(1) {
            for x in range(0).filter(|x| meets(&w.corners, [i64::from(*x) * s, i64::from(y) * s], [s; 2])) {
                all.entry([x, y]).or_default().push(i);
            }
        }
    }
    all
}

/// The box of walls; none of no walls.
pub fn extent(walls: &[Wall]) -> Option<[[i32; 3]; 2]> {
    let boxes = walls.iter().flat_map(|w| w.corners).map(|p| [p; 2]);
    boxes.reduce(crate::build::lattice::widened)
}
