//! Triangles that reach beyond one tile: every tile that such a triangle meets holds it.
//!
//! None of them is kept. A tile adds a number for each that it holds, of triangle and tile; the tile of the least
//! corner takes away those of the triangle and all tiles that it meets. Where each is held as it must be, nothing is
//! left. A number is 128 bits of a SHA-256 that begins with the identity, which depends on every byte of every tile: an
//! image where something is wrong and nothing is left can only be found by trying.

use crate::verify::tile::plan::Tri;
use crate::verify::tile::{self, View};
use crate::verify::{Fault, Faults, MAX_PLACES};
use hardpan::{Terrain, format::TileRecord};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a triangle in a bundle of sixteen: more triangles than that no tiles can hold.
const EACH: u64 = 8;

/// The sum of all tiles.
pub struct Ledger {
    keyed: Sha256,
    log2: u32,
    /// Tiles that the triangles so far meet, and the most that can hold them.
    met: AtomicU64,
    most: u64,
}

impl Ledger {
    pub fn new(terrain: &Terrain) -> Ledger {
        let h = terrain.header();
        let keyed = Sha256::new().chain_update(h.identity).chain_update(h.identity); // a whole block
        Ledger { keyed, log2: h.tile_log2, met: AtomicU64::new(0), most: h.total_len / EACH }
    }

    /// The tile's part of the sum, from its triangles; all tiles together give 0.
    pub fn add(&self, view: &View, mut held: Vec<Tri>) -> u128 {
        held.sort_unstable();
        held.dedup(); // what it holds twice counts once
        let here = view.rect.low.map(|v| v >> self.log2);
        let mut sum = 0u128;
        for tri in held {
            sum = sum.wrapping_add(self.number(&tri, here));
            if view.is_home(&tri) && !self.is_full() {
                let mut met = 0;
                tile::tiles_met(&tri, self.log2, |tile| {
                    sum = sum.wrapping_sub(self.number(&tri, tile));
                    met += 1;
                    met <= self.most
                });
                self.met.fetch_add(met, Ordering::Relaxed);
            }
        }
        sum
    }

    /// Whether the triangles meet more tiles than can hold them: then nobody looked at all.
    pub fn is_full(&self) -> bool {
        self.met.load(Ordering::Relaxed) > self.most
    }

    fn number(&self, tri: &Tri, tile: [i64; 2]) -> u128 {
        let tile = tile.map(|v| v as u32);
        let corners = [tri.x, tri.y, tri.z].map(|axis| axis.map(|v| v as u32));
        let mut bytes = [0; 48];
        let words = corners.iter().flatten().chain([&tri.attribute]).chain(&tile);
        bytes.chunks_exact_mut(4).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
        let sum = self.keyed.clone().chain_update(bytes).finalize();
        u128::from_le_bytes(*sum.first_chunk().expect("32 bytes"))
    }
}

/// A triangle that reaches beyond its tile, as one of the tiles that hold it has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    tri: Tri,
    /// Whether the tile holds its least corner.
    home: bool,
    tile: u32,
}

/// Names the triangles that are not held as they must be, of which there are some.
pub fn name(terrain: &Terrain, table: &[TileRecord], faults: &mut Faults) {
    let log2 = terrain.header().tile_log2;
    let of_tile = |(index, record): (usize, &TileRecord)| {
        let view = View::new(terrain, index as u32, record)?;
        let held = |tri: Tri| Held { tri: tri.canonical(), home: view.is_home(&tri), tile: index as u32 };
        Some(tile::crossing(&view).into_iter().map(held).collect::<Vec<_>>())
    };
    let mut all: Vec<Held> = table.par_iter().enumerate().filter_map(of_tile).flatten().collect();
    all.par_sort_unstable();
    all.dedup();
    let before = faults.count;
    for held in all.chunk_by(|a, b| a.tri == b.tri) {
        let mut meets = 0;
        if held.iter().any(|h| h.home) {
            tile::tiles_met(&held[0].tri, log2, |_| {
                meets += 1;
                true
            });
        }
        if meets == held.len() {
            continue;
        }
        let [x, y, z] = held[0].tri.corner(0);
        let named = held.iter().take(MAX_PLACES).filter_map(|h| table.get(h.tile as usize));
        let mut tiles: Vec<String> = named.map(|r| format!("({}, {})", r.x, r.y)).collect();
        tiles.extend((held.len() > MAX_PLACES).then(|| "...".into()));
        let tiles = tiles.join(" ");
        let what = match meets {
            0 => {
                format!(
                    "a triangle is not held by the tile of its least corner, lattice ({x}, {y}, {z}); it is by {tiles}"
                )
            }
            _ => format!(
                "a triangle with its least corner at lattice ({x}, {y}, {z}) meets {meets} tiles and is held by {}: {tiles}",
                held.len()
            ),
        };
        faults.add(Fault::new(Some(held[0].tile), Some([x.into(), y.into()]), what));
    }
    if faults.count == before {
        faults.say("a triangle that reaches beyond its tile is not held by every tile that it meets");
    }
}
