//! Differences of two images in facts, names and bytes.

use std::{collections::BTreeMap, ops::Range};

use crate::image::{info, rays};
use crate::options::Rays;
use crate::util::steps::Steps;
use crate::util::text::{costs, fallback, grouped, micrometres, section_name};
use hardpan::{Terrain, format::CONTENT_HEADER};
use serde::Serialize;
use serde_json::Value;

/// A fact of the one image and of the other.
#[derive(Debug, Serialize)]
pub struct Fact {
    pub name: &'static str,
    pub first: String,
    pub second: String,
}

/// Facts that decide answers, wherever the ground lies.
const WINDOWS: &str = "windows";
const NO_GROUND: &str = "no ground";
/// How long the image is.
const BYTES: &str = "bytes";

impl Fact {
    /// Whether it decides answers, wherever the ground lies.
    pub fn decides_answers(&self) -> bool {
        [WINDOWS, NO_GROUND].contains(&self.name)
    }

    /// Whether it is the length of the image.
    pub fn is_length(&self) -> bool {
        self.name == BYTES
    }
}

/// How many sources either image has, and names that only one has.
#[derive(Debug, Serialize)]
pub struct Sources {
    pub count: [usize; 2],
    pub lost: Vec<String>,
    pub gained: Vec<String>,
}

/// Materials by name.
#[derive(Debug, Serialize)]
pub struct Materials {
    pub lost: Vec<String>,
    pub gained: Vec<String>,
    pub changed: Vec<String>,
    /// Properties of materials that changed.
    pub values: Vec<Property>,
}

impl Materials {
    /// Whether they are the same by name and by all that they have.
    pub fn same(&self) -> bool {
        self.lost.is_empty() && self.gained.is_empty() && self.values.is_empty()
    }
}

/// A property of a material in the one image and in the other.
#[derive(Debug, Serialize)]
pub struct Property {
    pub name: String,
    pub field: String,
    pub from: Value,
    pub to: Value,
}

/// The first byte that differs.
#[derive(Debug, Serialize)]
pub struct FirstByte {
    pub offset: u64,
    pub section: &'static str,
    /// Whether the identity covers it.
    pub content: bool,
}

/// The content header and the bytes of every content section.
pub fn content_of<'a>(t: &Terrain<'a>) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    let (bytes, sections) = (t.bytes(), &t.header().sections);
    let content = sections.iter().filter(|s| s.is_content());
    std::iter::once(&bytes[CONTENT_HEADER]).chain(content.map(|s| &bytes[s.offset as usize..][..s.len as usize]))
}

pub fn first_byte(a: &Terrain, b: &Terrain) -> Option<FirstByte> {
    let (x, y) = (a.bytes(), b.bytes());
    // the head's checksum and the identity follow from everything else: they are named only if nothing else is
    let differs = |range: Range<usize>| x[range.clone()].iter().zip(&y[range]).position(|(p, q)| p != q);
    let (head, least) = (hardpan::format::HEAD_LEN, x.len().min(y.len()));
    let offset = differs(CONTENT_HEADER)
        .map(|i| i + CONTENT_HEADER.start)
        .or_else(|| differs(head..least).map(|i| i + head))
        .or_else(|| (x.len() != y.len()).then_some(least))
        .or_else(|| differs(0..least))?;
    let within = |s: &&hardpan::format::Section| {
        (s.offset..s.offset + s.len.next_multiple_of(hardpan::format::ALIGN as u64)).contains(&(offset as u64))
    };
    let of =
        |t: &Terrain| t.header().sections.iter().filter(|s| s.is_used()).find(within).map(|s| (s.kind, s.is_content()));
    let (section, content) = match of(a).or(of(b)) {
        _ if CONTENT_HEADER.contains(&offset) => ("content header", true),
        Some((kind, content)) => (section_name(kind), content),
        None => ("head", false),
    };
    Some(FirstByte { offset: offset as u64, section, content })
}

pub fn facts(a: &Terrain, b: &Terrain) -> Vec<Fact> {
    let of = |t: &Terrain| {
        let (h, [low, high], bound) = (t.header(), t.bounds(), t.bound());
        let metres = |z: i64| Steps::of(h).query_height(z);
        let extent = |i: usize| format!("{} to {} m", micrometres(low[i]), micrometres(high[i]));
        [
            ("x", extent(0)),
            ("y", extent(1)),
            ("z", extent(2)),
            ("lattice", format!("2^{} m, 2^{} m", h.xy_log2, h.z_log2)),
            ("triangles", grouped(h.triangles)),
            ("heights", grouped(h.patch_blocks)),
            ("tiles", format!("{} of 2^{} steps", grouped(h.tile_count.into()), h.tile_log2)),
            ("references", grouped(h.references)),
            ("bundles", grouped(h.bundles)),
            ("wide tests", grouped(h.wide_tests.into())),
            (BYTES, grouped(h.total_len)),
            ("layer bound", grouped(t.max_layers().into())),
            ("query cost", costs(&bound)),
            (WINDOWS, {
                let band = match t.has_precedence() {
                    true => format!(", precedence {} m", metres(h.precedence_band)),
                    false => String::new(),
                };
                let [near, far, merge] = [h.near, h.far, h.layer_merge].map(metres);
                format!("near {near} m, far {far} m, merge {merge} m{band}")
            }),
            (
                NO_GROUND,
                format!(
                    "{}; z {} m, mu {}, rr {}, gain {}",
                    fallback(h.fallback),
                    metres(h.default_z),
                    h.default_mu,
                    h.default_rolling,
                    h.default_gain
                ),
            ),
            ("for rays", rays(t)),
            ("error", format!("{:.9} m, {:.9} m", h.error_plan, h.error_height)),
        ]
    };
    of(a)
        .into_iter()
        .zip(of(b))
        .filter(|(p, q)| p.1 != q.1)
        .map(|((name, first), (_, second))| Fact { name, first, second })
        .collect()
}

/// Its part for rays.
fn rays(t: &Terrain) -> String {
    match rays::head(t) {
        None => "nothing".into(),
        Some(_) if rays::stored(t) == Rays::Extents => "heights of cells".into(),
        Some(head) => format!("{} ceilings, {} obstacles", grouped(head.triangles[0]), grouped(head.triangles[1])),
    }
}

/// The names in one that are not in the other.
fn only<T>(one: &BTreeMap<String, T>, other: &BTreeMap<String, T>) -> Vec<String> {
    one.keys().filter(|name| !other.contains_key(*name)).cloned().collect()
}

pub fn sources(a: &Terrain, b: &Terrain) -> Sources {
    let of = |t: &Terrain| (0..t.source_count()).map(|i| (t.source_name(i as u16).into(), ())).collect();
    let [p, q]: [BTreeMap<String, ()>; 2] = [of(a), of(b)];
    Sources { count: [a, b].map(Terrain::source_count), lost: only(&p, &q), gained: only(&q, &p) }
}

pub fn materials(a: &Terrain, b: &Terrain) -> Materials {
    let of = |t: &Terrain| -> BTreeMap<String, Value> {
        let Ok(Value::Array(all)) = serde_json::to_value(info::materials(t)) else { return BTreeMap::new() };
        all.into_iter().map(|m| (m["name"].as_str().unwrap_or_default().into(), m)).collect()
    };
    let (a, b) = (of(a), of(b));
    let mut values = Vec::new();
    for (name, m) in &a {
        for (field, from) in m.as_object().into_iter().flatten() {
            if let Some(to) = b.get(name).map(|other| &other[field]).filter(|to| *to != from) {
                values.push(Property { name: name.clone(), field: field.clone(), from: from.clone(), to: to.clone() });
            }
        }
    }
    let changed = values.chunk_by(|p, q| p.name == q.name).map(|of_one| of_one[0].name.clone()).collect();
    Materials { lost: only(&a, &b), gained: only(&b, &a), changed, values }
}
