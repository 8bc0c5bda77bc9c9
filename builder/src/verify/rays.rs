//! What rays rely on: that heights of cells hold all that the cells name, and that every square that a ceiling or an
//! obstacle meets names it, in every tile that it meets.

use super::{Check, Fault, Faults, Outcome};
use crate::image::decode::{self, Sharing, Spot, TileView};
use crate::image::rays::{self, TileRays, Wall};
use crate::util::text::counted;
use hardpan::Terrain;
use hardpan::format::{block, rays::wall};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// What came of one tile.
#[derive(Default)]
struct Found {
    faults: Faults,
    /// Walls that lie in it alone, and those that reach beyond it.
    own: Vec<Wall>,
    beyond: Vec<Wall>,
    bundles: u64,
    cells: u64,
}

/// Proves the section, if there is one; places of faults are in lattice steps from the origin.
pub fn check(t: &Terrain) -> Option<Check> {
    let head = rays::head(t)?;
    let tiles: Vec<(TileView, TileRays)> = decode::tiles(t).zip(rays::tiles(t)).collect();
    let each: Vec<Found> =
        tiles.par_iter().enumerate().map(|(i, (tile, rays))| of_tile(t, tile, rays, i as u32)).collect();
    let (mut faults, mut walls, mut bundles, mut cells) = (Faults::default(), Vec::new(), 0, 0);
    if tiles.len() != t.header().tile_count as usize {
        faults.say("it has no part for some tiles");
    }
    let mut beyond: HashSet<([i32; 2], Wall)> = HashSet::new();
    for (found, (tile, _)) in each.into_iter().zip(&tiles) {
        faults.join(found.faults);
        (bundles, cells) = (bundles + found.bundles, cells + found.cells);
        walls.extend(found.own);
        beyond.extend(found.beyond.iter().map(|w| ([tile.record.x, tile.record.y], *w)));
        walls.extend(found.beyond);
    }
    walls.sort_unstable();
    walls.dedup();
    let log2 = t.header().tile_log2;
    let reaching: HashSet<Wall> = beyond.iter().map(|(_, w)| *w).collect();
    for w in reaching {
        let [low, high] = ends(&w.corners).map(|p| p.map(|v| v >> log2));
        let tiles = (low[1]..=high[1]).flat_map(|y| (low[0]..=high[0]).map(move |x| [x, y]));
        for at in tiles.filter(|at| meets(&w.corners, at.map(|v| v << log2), [1 << log2; 2])) {
            if !beyond.contains(&(at.map(|v| v as i32), w)) {
                faults.add(Fault::new(None, Some(place(&w)), "a tile that a wall meets does not hold it"));
            }
        }
    }
    let count = |kind: usize| walls.iter().filter(|w| w.kind as usize == kind).count() as u64;
    let there = [count(1), count(2)];
    for (what, stated, there) in [
        ("ceilings", head.triangles[0], there[0]),
        ("obstacles", head.triangles[1], there[1]),
        ("bundles for rays", head.bundles, bundles),
    ] {
        if stated != there {
            faults.say(format!("{stated} {what} stated, {there} there"));
        }
    }
    let points = || walls.iter().flat_map(|w| w.corners);
    let end = |most: bool| {
        let pick = |a: [i32; 3], b: [i32; 3]| [0, 1, 2].map(|k| if most { a[k].max(b[k]) } else { a[k].min(b[k]) });
        points().reduce(pick).unwrap_or_default()
    };
    if [head.min, head.max] != [end(false), end(true)] {
        faults.say("the stated box of ceilings and obstacles is another one than theirs");
    }
    let looked_at =
        format!("{}, {} over {}", counted(there[0], "ceiling"), counted(there[1], "obstacle"), counted(cells, "cell"));
    let outcome = if faults.count == 0 { Outcome::Pass } else { Outcome::Fail };
    Some(Check { name: "rays", outcome, looked_at, faults })
}

fn of_tile(t: &Terrain, tile: &TileView, rays: &TileRays, index: u32) -> Found {
    let mut found = Found::default();
    let mut wrong = |at: Option<[f64; 2]>, what: &str| found.faults.add(Fault::new(Some(index), at, what));
    let record = rays.record;
    if crc32fast::hash(rays.bytes()) != record.crc {
        wrong(None, "its part for rays does not match its checksum");
    }
    if Sha256::digest(rays.bytes()).as_slice() != record.digest {
        wrong(None, "the SHA-256 of its part for rays differs from the stated digest");
    }
    let bundles = rays.walls();
    let placed = |(bundle, walls): (u32, &Vec<Wall>)| {
        (0u32..).zip(walls.clone()).map(move |(part, w)| (w, bundle, part)).collect::<Vec<_>>()
    };
    let all: Vec<(Wall, u32, u32)> = (0u32..).zip(&bundles).flat_map(placed).collect();
    let references = [1, 2].map(|kind| all.iter().filter(|(w, ..)| w.kind as u32 == kind).count() as u32);
    if references != rays.head.references {
        wrong(None, "it has another number of ceilings or obstacles than its head says");
    }
    let mut cells_seen = 0;
    let ends_of = |i: u32| ends(&all[i as usize].0.corners);
    let by = Sharing { ends: &ends_of, meets: &|i, low, size| meets(&all[i as usize].0.corners, low, size) };
    tile.share((0..all.len() as u32).collect(), &by, &mut |spot, low, _, some| {
        let at = Some(low.map(|v| v as f64));
        let Spot::Block(cells, number) = spot else {
            if !some.is_empty() {
                wrong(at, "a wall stands where no block is");
            }
            return;
        };
        let Some(record) = rays.block(number) else { return wrong(at, "a block has no record") };
        let walls = rays.block_walls(record);
        if cells.is_node() {
            return;
        }
        for cell in 0..block::CELLS {
            cells_seen += 1;
            let (low, size) = cells.square(cell);
            let at = Some(low.map(|v| v as f64));
            let [least, most] = record.heights(cell as u32);
            let (mut is_held, mut is_none) = (true, true);
            let has_patches = cells.ground(cell, |corners| {
                is_none = false;
                is_held &= corners.iter().all(|p| (least..=most).contains(&i64::from(p[2])));
            });
            is_none &= !has_patches;
            if !is_held || (has_patches && least > most) {
                wrong(at, "ground lies beyond the heights of its cell");
            }
            if is_none && least <= most {
                wrong(at, "a cell without ground has heights");
            }
            let words = walls.map_or(&[][..], |(own, words)| {
                let [from, to] = own.words_of(cell as u32);
                words.get(from..to).unwrap_or_default()
            });
            for i in some.iter().filter(|i| meets(&all[**i as usize].0.corners, low, size)) {
                let (w, bundle, part) = &all[*i as usize];
                let Some((own, _)) = walls else {
                    wrong(at, "a cell that a wall meets does not name it");
                    continue;
                };
                let names =
                    |word: &u32| own.first() + wall::number(*word) == *bundle && wall::mask(*word) >> part & 1 == 1;
                if !words.iter().any(names) {
                    wrong(at, "a cell that a wall meets does not name it");
                }
                let [least, most] = own.heights(cell as u32);
                if !w.corners.iter().all(|p| (least..=most).contains(&i64::from(p[2]))) {
                    wrong(at, "a wall lies beyond the heights of its cell");
                }
            }
        }
    });
    found.cells = cells_seen;
    found.bundles = bundles.len() as u64;
    let log2 = t.header().tile_log2;
    let (low, side) = ([tile.record.x, tile.record.y].map(|v| i64::from(v) << log2), 1i64 << log2);
    for (w, ..) in all {
        let [a, b] = ends(&w.corners);
        let is_inside = (0..2).all(|i| a[i] >= low[i] && b[i] < low[i] + side);
        if is_inside { found.own.push(w) } else { found.beyond.push(w) }
    }
    found
}

fn place(w: &Wall) -> [f64; 2] {
    [0, 1].map(|i| f64::from(w.corners[0][i]))
}

/// Least and greatest plan coordinates.
fn ends(corners: &[[i32; 3]; 3]) -> [[i64; 2]; 2] {
    let of = |i: usize| corners.map(|p| i64::from(p[i]));
    let [x, y] = [of(0), of(1)];
    [[x[0].min(x[1]).min(x[2]), y[0].min(y[1]).min(y[2])], [x[0].max(x[1]).max(x[2]), y[0].max(y[1]).max(y[2])]]
}

/// Whether the closed plan of a triangle, which may be a line or a point, has a point in a half-open rectangle; or only
/// touches that at a corner that is not its own.
fn meets(corners: &[[i32; 3]; 3], low: [i64; 2], size: [i64; 2]) -> bool {
    let high = [low[0] + size[0], low[1] + size[1]];
    let [least, most] = ends(corners);
    if (0..2).any(|i| most[i] < low[i] || least[i] >= high[i]) {
        return false;
    }
    let p = corners.map(|c| [i64::from(c[0]), i64::from(c[1])]);
    let cross = |a: [i64; 2], b: [i64; 2], q: [i64; 2]| {
        let d = |q: [i64; 2], i: usize| i128::from(q[i]) - i128::from(a[i]);
        d(b, 0) * d(q, 1) - d(b, 1) * d(q, 0)
    };
    let area = cross(p[0], p[1], p[2]);
    let square = [low, [high[0], low[1]], high, [low[0], high[1]]];
    // a line along a side of the triangle that leaves the rectangle's own points, all but what its right and upper
    // borders have, outside
    let parts = |a: [i64; 2], b: [i64; 2], inside: i128| {
        let sides = square.map(|q| cross(a, b, q) * inside);
        // the lower left corner is its own; the others only bound it
        sides[0] < 0 && sides.iter().all(|s| *s <= 0)
    };
    !(0..3).any(|k| {
        let (a, b) = (p[k], p[(k + 1) % 3]);
        match area.signum() {
            0 => a != b && (parts(a, b, 1) || parts(a, b, -1)),
            sign => parts(a, b, sign),
        }
    })
}
