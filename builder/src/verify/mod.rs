//! Proving an image from its own bytes.
//!
//! The kernel's verifier checks sums, structure and stated costs. What is here adds the digests and the identity, the
//! tables, the counts, and what queries rely on: that every place over a triangle finds it (*cover*), that the sheets
//! whose rest a query passes over hold no second surface (*sheets*), and where open edges leave a gap narrower than the
//! stitch threshold (*seams*). Nothing here is the builder's: bytes are read by the tables of `FORMAT.md`, and the
//! geometry is written anew.
//!
//! **Cover** is proven in whole cells. Each triangle of a tile is carried down the tile's nodes to every cell that it
//! meets, by an exact test of a closed triangle against a half-open rectangle; the cell must name it. A triangle that
//! reaches beyond its tile must be held by every tile that it meets. So a query at any place of the closed union reads
//! a word that names each triangle over the place, unless a sheet's rest is passed over.
//!
//! **Sheets**: no two triangles of a sheet overlap, so behind a hit inside one of them its sheet has nothing over the
//! place. They are compared in pairs, but for those that are proven to overlap none of the tile
//! ([`tile::non_overlap`]). Where a cell is said to be surrounded by one sheet, every edge that runs through it has one
//! triangle on either side, with the same corners: around each place of the cell they close without a step, and one of
//! them owns it.
//!
//! **Fields**: parts of a height field meet, in a tile and from tile to tile ([`fields`]).

mod against;
mod costs;
mod fields;
mod rays;
mod seams;
mod tile;

use crate::util::text::{costs, counted, fault, section_label};
use seams::crossings::{self, Ledger};

pub use against::{Agreement, Difference, FieldError, LeftOut, OtherMaterial, Slits, Spot, SurfaceError, source_error};
use hardpan::format::{ALIGN, CONTENT_HEADER, Material, TileRecord, section, slot};
use hardpan::{OpenError, Terrain, VerifyError};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use tile::View;
use zerocopy::FromBytes;

/// How many places of a check are reported.
const MAX_PLACES: usize = 8;
/// A fault, and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Number of the tile.
    pub tile: Option<u32>,
    /// Place: in metres from the source frame's zero once it is part of a [`Check`].
    pub at: Option<[f64; 2]>,
    /// The fault.
    pub what: String,
    /// So much lies there that it cannot be proven: nothing is known to be false.
    pub crowded: bool,
}

impl Fault {
    fn new(tile: Option<u32>, at: Option<[f64; 2]>, what: impl Into<String>) -> Self {
        Fault { tile, at, what: what.into(), crowded: false }
    }
}

/// Faults of one kind: how many, and the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// How many.
    pub count: u64,
    /// The first of them, by tile.
    pub first: Vec<Fault>,
}

impl Faults {
    fn add(&mut self, fault: Fault) {
        self.count += 1;
        if self.first.len() < MAX_PLACES {
            self.first.push(fault);
        }
    }

    fn say(&mut self, what: impl Into<String>) {
        self.add(Fault::new(None, None, what));
    }

    fn join(&mut self, other: Faults) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.truncate(MAX_PLACES);
    }
}

/// A note on the end of an image if it looks like erased flash.
pub fn erased(terrain: &Terrain) -> Option<String> {
    let bytes = terrain.bytes();
    let count = bytes.iter().rev().take_while(|b| **b == 0xFF).count();
    let from = bytes.len() - count;
    (count >= ALIGN).then(|| format!("all from byte {from} on is as in erased flash: it was not written to its end"))
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Proven.
    Pass,
    /// Something to know that contradicts no claim of the image.
    Note,
    /// The image is not what it claims.
    Fail,
    /// Not looked at, because an earlier check failed.
    Skipped,
}

/// One check.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// How it ended.
    pub outcome: Outcome,
    /// Subject of the check, or the reason why it did not run.
    pub looked_at: String,
    /// The faults.
    pub faults: Faults,
}

/// Result of an image.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// All checks, in their order.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// Whether every claim holds.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|c| matches!(c.outcome, Outcome::Pass | Outcome::Note))
    }

    /// The first check that failed.
    pub fn failed(&self) -> Option<&Check> {
        self.checks.iter().find(|c| c.outcome == Outcome::Fail)
    }

    /// A check by its name.
    pub fn check(&self, name: &str) -> Option<&Check> {
        self.checks.iter().find(|c| c.name == name)
    }
}

/// How an image is verified.
#[derive(Clone, Copy, Default)]
pub struct Verify<'a> {
    /// Ask the kernel at every vertex and at the 255 grid points of every edge as well.
    pub exhaustive: bool,
    /// Gaps narrower than the stitch threshold are a fault, not a note.
    pub no_seams: bool,
    /// Told now and then how many bytes of tiles are done.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
}

/// Tiles that are proven before what came of them is added up.
const AT_ONCE: usize = 1 << 12;

/// Result of one tile.
#[derive(Default)]
struct Outcomes {
    kernel: Option<VerifyError>,
    digest: bool,
    proof: tile::Proof,
    /// Sum that the tile adds to the [`Ledger`].
    crossings: u128,
    seams: seams::Seams,
    border: seams::Border,
    /// Bundles and references that it states, and its error.
    sums: [u64; 2],
    error: [f64; 2],
}

/// Results of all tiles, in their order.
#[derive(Default)]
struct Totals {
    /// Faults from the kernel's verifier: checksums, structure, bounds.
    kernel: [Faults; 3],
    /// Some tiles could not be read.
    broken: bool,
    digests: Faults,
    cover: Faults,
    sheets: Faults,
    counts: Faults,
    edges: Faults,
    attributes: BTreeSet<u32>,
    triangles: u64,
    patch_blocks: u64,
    cells: u64,
    points: u64,
    bundles: u64,
    references: u64,
    bounds: Option<[[i32; 3]; 2]>,
    crossings: u128,
    seams: seams::Seams,
    border: seams::Border,
    error: [f64; 2],
}

impl Totals {
    fn add(&mut self, index: u32, o: Outcomes) {
        if let Some(e) = o.kernel {
            let (kind, tile) = match e {
                VerifyError::TileDamaged(t) => (0, Some(t)),
                VerifyError::BoundExceeded(t) => (2, Some(t)),
                VerifyError::TileInvalid(t) => (1, Some(t)),
                _ => (1, None),
            };
            self.kernel[kind].add(Fault::new(tile, None, fault(e)));
            self.broken |= matches!(e, VerifyError::TileDamaged(_) | VerifyError::TileInvalid(_));
        }
        if !o.digest {
            self.digests.add(Fault::new(Some(index), None, "its SHA-256 differs from the stated digest"));
        }
        let p = o.proof;
        self.cover.join(p.cover);
        self.sheets.join(p.sheets);
        self.counts.join(p.counts);
        self.edges.join(p.edges);
        self.attributes.extend(p.attributes);
        self.triangles += p.triangles;
        self.patch_blocks += p.patch_blocks;
        self.cells += p.cells;
        self.points += p.points;
        self.bundles += o.sums[0];
        self.references += o.sums[1];
        self.bounds = self.bounds.into_iter().chain(p.bounds).reduce(tile::widened);
        self.crossings = self.crossings.wrapping_add(o.crossings);
        self.seams.join(o.seams);
        self.border.join(o.border);
        self.error = [0, 1].map(|i| self.error[i].max(o.error[i]));
    }
}

/// Proves an image. An error says that the bytes cannot be opened at all; whatever else is wrong is in the verdict.
///
/// Tiles are proven side by side by rayon's threads, each once, in memory of the size of a tile: the bytes may be a map
/// of a file that is larger than memory. What is kept of all tiles is their open edges near their borders.
pub fn verify(bytes: &[u8], options: &Verify) -> Result<Verdict, OpenError> {
    let terrain = Terrain::open(bytes)?;
    let mut v = Verifying { terrain, options, checks: Vec::new() };
    if let Err(e) = terrain.verify_sections() {
        v.sections_failed(e);
    } else {
        v.all();
    }
    Ok(Verdict { checks: v.checks })
}

struct Verifying<'a> {
    terrain: Terrain<'a>,
    options: &'a Verify<'a>,
    checks: Vec<Check>,
}

impl Verifying<'_> {
    fn check(&mut self, name: &'static str, looked_at: String, mut faults: Faults, bad: Outcome) {
        let h = self.terrain.header();
        let metres = |v: f64, i: usize| (v + h.origin[i] as f64) * 2f64.powi(h.xy_log2);
        for at in faults.first.iter_mut().filter_map(|f| f.at.as_mut()) {
            *at = [metres(at[0], 0), metres(at[1], 1)];
        }
        let outcome = if faults.count == 0 { Outcome::Pass } else { bad };
        self.checks.push(Check { name, outcome, looked_at, faults });
    }

    fn skip(&mut self, name: &'static str) {
        let looked_at = "not looked at, because an earlier check failed".into();
        self.checks.push(Check { name, outcome: Outcome::Skipped, looked_at, faults: Faults::default() });
    }

    fn sections_failed(&mut self, e: VerifyError) {
        let sections = self.terrain.header().sections.iter().filter(|s| ![0, section::TILES].contains(&s.kind));
        let mut sums = Faults::default();
        let mut looked_at = String::from("head and sections");
        let mut listed = e != VerifyError::HeadDamaged;
        for s in sections.filter(|s| self.terrain.section(s.kind).is_none_or(|body| crc32fast::hash(body) != s.crc)) {
            sums.say(fault(VerifyError::SectionDamaged(s.kind)));
            listed &= s.kind != section::TILE_TABLE;
        }
        if e == VerifyError::HeadDamaged {
            sums.say(fault(e));
        }
        if listed {
            // of a file that was written in part tiles are others, too
            let table = tile::table(&self.terrain);
            let whole = |(index, record): (u32, &TileRecord)| {
                View::new(&self.terrain, index, record).is_some_and(|view| view.is_whole(record))
            };
            for (index, _) in (0..).zip(table).filter(|tile| !whole(*tile)) {
                sums.add(Fault::new(Some(index), None, fault(VerifyError::TileDamaged(index))));
            }
            looked_at = format!("head, sections and {}", counted(table.len() as u64, "tile"));
        }
        if let Some(what) = erased(&self.terrain) {
            sums.say(what);
        }
        let structure = (!matches!(e, VerifyError::HeadDamaged | VerifyError::SectionDamaged(_))).then(|| {
            let mut faults = Faults::default();
            faults.say(fault(e));
            faults
        });
        self.check("checksums", looked_at, sums, Outcome::Fail);
        match structure {
            Some(faults) => self.check("structure", "head and sections".into(), faults, Outcome::Fail),
            None => self.skip("structure"),
        }
        for name in ["bounds", "digests", "tables", "counts", "cover", "sheets", "seams"] {
            self.skip(name);
        }
    }

    fn all(&mut self) {
        let table = tile::table(&self.terrain);
        let (done, ledger) = (AtomicU64::new(0), Ledger::new(&self.terrain));
        let mut totals = Totals::default();
        for (chunk, records) in table.chunks(AT_ONCE).enumerate() {
            let first = chunk * AT_ONCE;
            let of_tile = |(i, record): (usize, &TileRecord)| {
                let outcome = self.tile((first + i) as u32, record, &ledger);
                if let Some(progress) = self.options.progress {
                    progress(done.fetch_add(record.len, Ordering::Relaxed) + record.len);
                }
                outcome
            };
            let outcomes: Vec<Outcomes> = records.par_iter().enumerate().map(of_tile).collect();
            outcomes.into_iter().zip(first..).for_each(|(outcome, index)| totals.add(index as u32, outcome));
        }
        if !totals.broken {
            totals.kernel[2].join(costs::check(&self.terrain));
        }
        self.kernel(table.len(), &mut totals);
        self.digests(table, &mut totals);
        self.tables(&totals);
        self.proofs(table, totals, &ledger);
    }

    fn tile(&self, index: u32, record: &TileRecord, ledger: &Ledger) -> Outcomes {
        let Some(view) = View::new(&self.terrain, index, record) else {
            return Outcomes { kernel: Some(VerifyError::TileInvalid(index)), ..Outcomes::default() };
        };
        let whole = view.is_whole(record);
        let damaged = || Err(VerifyError::TileDamaged(index));
        let h = view.head;
        let sums = [h.bundle_count, h.references].map(u64::from);
        let follow = || {
            let kernel = if whole { self.terrain.verify_tile(index) } else { damaged() }.err();
            let mut outcome = Outcomes { kernel, sums, error: h.error, ..Outcomes::default() };
            // a tile of which only the stated costs are wrong has been followed to its end
            if kernel.is_none() || matches!(kernel, Some(VerifyError::BoundExceeded(_))) {
                outcome.proof = tile::prove(&self.terrain, &view, self.options.exhaustive);
                outcome.crossings = ledger.add(&view, std::mem::take(&mut outcome.proof.crossings));
                let open = std::mem::take(&mut outcome.proof.open);
                let links = std::mem::take(&mut outcome.proof.links);
                outcome.seams = seams::of_tile(&view.rect, &open, &links, &mut outcome.border);
            }
            outcome
        };
        let digest = || Sha256::digest(zerocopy::IntoBytes::as_bytes(view.words)).as_slice() == record.digest;
        let (outcome, digest) = rayon::join(follow, digest);
        Outcomes { digest, ..outcome }
    }

    /// Faults from the kernel's verifier, by kind.
    fn kernel(&mut self, tiles: usize, totals: &mut Totals) {
        let all = format!("head, sections and {}", counted(tiles as u64, "tile"));
        for (name, faults) in ["checksums", "structure", "bounds"].into_iter().zip(std::mem::take(&mut totals.kernel)) {
            let looked_at = if name == "bounds" { self.bounds() } else { all.clone() };
            self.check(name, looked_at, faults, Outcome::Fail);
        }
    }

    fn bounds(&self) -> String {
        format!("{}, {}", costs(&self.terrain.bound()), counted(self.terrain.max_layers(), "layer"))
    }

    fn digests(&mut self, table: &[TileRecord], totals: &mut Totals) {
        let (h, mut faults) = (self.terrain.header(), Faults::default());
        let mut identity = Sha256::new();
        identity.update(&self.terrain.bytes()[CONTENT_HEADER]);
        let mut digests = Sha256::new();
        table.iter().for_each(|r| digests.update(r.digest));
        let tiles: [u8; 32] = digests.finalize().into();
        for s in h.sections.iter().filter(|s| s.is_used()) {
            let digest: [u8; 32] = match s.kind {
                section::TILES => tiles,
                kind => Sha256::digest(self.terrain.section(kind).unwrap_or(&[])).into(),
            };
            if digest != s.digest {
                faults.say(format!("section {}: its SHA-256 differs from the stated digest", section_label(s.kind)));
            }
            if s.is_content() {
                identity.update(s.kind.to_le_bytes());
                identity.update(s.digest);
            }
        }
        faults.join(std::mem::take(&mut totals.digests));
        if identity.finalize().as_slice() != h.identity {
            faults.say("the identity is not that of head and digests");
        }
        self.check(
            "digests",
            format!("identity, sections and {}", counted(table.len() as u64, "tile")),
            faults,
            Outcome::Fail,
        );
    }

    fn tables(&mut self, totals: &Totals) {
        let (t, mut faults) = (self.terrain, Faults::default());
        let materials: &[Material] = t.materials();
        let mut ordered = |what: &str, names: &mut dyn Iterator<Item = &str>| {
            let mut last: Option<&str> = None;
            for (i, name) in names.enumerate() {
                if last.is_some_and(|last| last >= name) {
                    faults.say(format!("{what} {i} ({name:?}) is not behind the one before it by name"));
                }
                last = Some(name);
            }
        };
        ordered("material", &mut (0..materials.len()).map(|m| t.material_name(m as u16)));
        ordered("source", &mut (0..t.source_count()).map(|s| t.source_name(s as u16)));
        let h = t.header();
        let defaults = [("mu", h.default_mu), ("rr", h.default_rolling), ("gain", h.default_gain)];
        for (what, value) in defaults.into_iter().filter(|(_, value)| *value < 0.0) {
            faults.say(format!("the head has a default {what} of {value}, below 0"));
        }
        for (axis, origin, log2) in [("x", 0, h.xy_log2), ("y", 1, h.xy_log2), ("z", 2, h.z_log2)] {
            // 4,096 m in steps of 2^log2 m
            if h.origin[origin] % (1 << (12 - log2).clamp(0, 48)) != 0 {
                faults.say(format!("the origin's {axis}, {} steps, is no multiple of 4096 m", h.origin[origin]));
            }
        }
        for (i, m) in materials.iter().enumerate() {
            let factors = [("mu", m.mu), ("rr", m.rolling), ("gain", m.gain), ("cone index", m.cone_index)];
            for (what, value) in factors.into_iter().filter(|(_, value)| *value < 0.0) {
                faults.say(format!("material {i} ({:?}) has a {what} of {value}, below 0", t.material_name(i as u16)));
            }
        }
        let mut used = [vec![false; materials.len()], vec![false; t.source_count()]];
        for pair in &totals.attributes {
            for (used, number) in used.iter_mut().zip([pair & 0xFFFF, pair >> 16]) {
                if let Some(u) = used.get_mut(number as usize) {
                    *u = true;
                }
            }
        }
        let [m, s] = used.map(|u| u.iter().filter(|u| **u).count());
        let looked_at = format!(
            "{}, {m} of them on the ground, and {}, {s} of them",
            counted(materials.len() as u64, "material"),
            counted(t.source_count() as u64, "source")
        );
        self.check("tables", looked_at, faults, Outcome::Fail);
    }

    /// Counts, cover, sheets, seams and, if asked for, edges.
    fn proofs(&mut self, table: &[TileRecord], totals: Totals, ledger: &Ledger) {
        let h = self.terrain.header();
        let Totals { mut cover, sheets, mut counts, edges, triangles, patch_blocks, cells, points, .. } = totals;
        if totals.broken {
            self.check("cover", "the tiles that are whole".into(), cover, Outcome::Fail);
            self.check("sheets", "the tiles that are whole".into(), sheets, Outcome::Fail);
            self.skip("counts");
            return self.skip("seams");
        }
        if ledger.is_full() {
            cover.say("its triangles reach over more tiles than can be held: no builder makes tiles so small");
        } else if totals.crossings != 0 {
            crossings::name(&self.terrain, table, &mut cover);
        }
        for (what, stated, there) in [
            ("triangles", h.triangles, triangles),
            ("bundles", h.bundles, totals.bundles),
            ("references", h.references, totals.references),
            ("patch blocks", h.patch_blocks, patch_blocks),
        ] {
            if stated != there {
                counts.say(format!("{stated} {what} stated, {there} there"));
            }
        }
        if let Some([low, high]) = totals.bounds
            && (low, high) != (h.min, h.max)
            && self.is_whole()
        {
            counts
                .say(format!("the bounds are {low:?} to {high:?} in lattice steps, {:?} to {:?} stated", h.min, h.max));
        }
        if totals.error[0] > h.error_plan || totals.error[1] > h.error_height {
            counts.say("a tile states a larger error than the head");
        }
        let [triangles, cells] = [counted(triangles, "triangle"), counted(cells, "cell")];
        let blocks = counted(patch_blocks, "patch block");
        self.check("counts", format!("{triangles}, {blocks}"), counts, Outcome::Fail);
        self.check("cover", format!("{triangles} over {cells}"), cover, Outcome::Fail);
        self.check("sheets", cells, sheets, Outcome::Fail);
        if let Some(Check { name, looked_at, faults, .. }) = rays::check(&self.terrain) {
            self.check(name, looked_at, faults, Outcome::Fail);
        }
        if let Some(Check { name, looked_at, faults, .. }) = fields::check(&self.terrain, self.is_whole()) {
            self.check(name, looked_at, faults, Outcome::Fail);
        }
        self.seams(totals.seams, totals.border);
        if self.options.exhaustive {
            self.check(
                "edges",
                format!("{} on edges, asked one by one", counted(points, "place")),
                edges,
                Outcome::Fail,
            );
        }
    }

    /// Whether directory and pages say of no place that it is not in this image: then its bounds are those of what it
    /// holds.
    fn is_whole(&self) -> bool {
        [section::DIRECTORY, section::PAGES].iter().all(|&kind| {
            let slots = <[u32]>::ref_from_bytes(self.terrain.section(kind).unwrap_or(&[])).unwrap_or(&[]);
            !slots.iter().any(|s| [slot::NOT_IN_IMAGE, slot::NOT_UNDERSTOOD].contains(s))
        })
    }

    fn seams(&mut self, mut found: seams::Seams, mut border: seams::Border) {
        border.ends.sort_unstable();
        border.ends.dedup();
        found.join(seams::search(&border.edges, &border.links, &border.ends));
        let mut faults = Faults { count: found.count, first: Vec::new() };
        let h = self.terrain.header();
        for [x, y, z] in found.first {
            let z = (h.origin[2] + i64::from(z)) as f64 * 2f64.powi(h.z_log2);
            let what = format!("an open edge ends within the stitch threshold of another, at z {z:.3}");
            faults.first.push(Fault::new(None, Some([x.into(), y.into()]), what));
        }
        let [plan, height] = [seams::STITCH_PLAN, seams::STITCH_HEIGHT];
        let mut looked_at = format!("open edges within {plan} steps in plan and {height} in height of each other");
        if found.unfinished {
            looked_at += "; too many to compare all";
            if faults.count == 0 {
                faults.say("open edges lie too close side by side to say that none ends at another");
            }
        }
        let bad = if self.options.no_seams { Outcome::Fail } else { Outcome::Note };
        self.check("seams", looked_at, faults, bad);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build;
    use crate::demo::fixtures;
    use crate::options::Options;

    #[test]
    fn nobody_says_that_there_are_no_seams_who_has_not_compared_all() {
        let built = build(&fixtures::town(1), &Options::default()).unwrap();
        for (unfinished, no_seams, outcome) in [
            (false, false, Outcome::Pass),
            (false, true, Outcome::Pass),
            (true, false, Outcome::Note),
            (true, true, Outcome::Fail),
        ] {
            let options = Verify { no_seams, ..Verify::default() };
            let terrain = Terrain::open(&built.image).unwrap();
            let mut verifying = Verifying { terrain, options: &options, checks: Vec::new() };
            verifying.seams(seams::Seams { unfinished, ..Default::default() }, seams::Border::default());
            let [check] = &verifying.checks[..] else { panic!("{:?}", verifying.checks) };
            assert_eq!(check.outcome, outcome, "{check:?}");
            assert_eq!(check.looked_at.contains("too many to compare all"), unfinished);
        }
    }
}
