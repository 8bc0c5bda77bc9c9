//! Checks of everything outside the tiles: the head, the order of sections, materials, names, sources, pages.

use super::{is_error, zero};
use crate::error::VerifyError;
use crate::format::{self, Material, Section, section, slot};
use crate::open::{CRC, Terrain, body_of, head_crc};
use zerocopy::IntoBytes;

/// Results outside the tiles.
pub(super) struct Outside {
    /// A bit for each kind of section whose checksum differs.
    pub damaged: u32,
    /// See [`Verifier::usable`].
    pub usable: bool,
    pub error: Option<VerifyError>,
}

pub(super) fn sections(t: &Terrain) -> Outside {
    let differs = |s: &&Section| {
        s.is_used() && s.kind != section::TILES && body_of(t.bytes, s).map(|b| CRC.checksum(b)) != Some(s.crc)
    };
    // the head may have decayed since it was opened
    let head = t.bytes.get(..format::HEAD_LEN).is_none_or(|head| head_crc(head) != t.header.head_crc);
    let (mut damaged, mut least) = (u32::from(head), u32::MAX);
    for s in t.header.sections.iter().filter(differs) {
        (damaged, least) = (damaged | 1 << s.kind.min(31), least.min(s.kind));
    }
    let structure = structure(t, damaged);
    let error = match damaged {
        0 => structure.and_then(|()| padding(t)).err(),
        _ if head => Some(VerifyError::HeadDamaged),
        _ => Some(VerifyError::SectionDamaged(least)),
    };
    let answers = section::ANSWERS | 1; // and the head
    let is_sound = structure.is_ok() || structure == Err(super::rays::INVALID);
    Outside { damaged, usable: damaged & answers == 0 && is_sound, error }
}

/// Head, order of the sections, and what they hold, but for names if they or sources are damaged.
fn structure(t: &Terrain, damaged: u32) -> Result<(), VerifyError> {
    let h = t.header;
    let invalid = VerifyError::SectionInvalid;
    let numbers = [h.default_mu, h.default_rolling, h.default_gain];
    let errors = [h.error_plan, h.error_height];
    if h.reserved0 != 0
        || h.reserved1 != 0
        || t.has_precedence() != (h.precedence_band > 0)
        || h.wide_tests > h.bound[2]
        || !zero(&h.reserved2)
        || !numbers.iter().all(|v| v.is_finite())
        || !errors.iter().all(is_error)
        || u64::from(h.max_layers) > h.references.saturating_add(h.patch_blocks)
    {
        return Err(VerifyError::HeadInvalid);
    }
    let mut end = format::HEAD_LEN as u64;
    let mut seen = 0u32;
    for s in &h.sections {
        if !s.is_used() {
            if !zero(s.as_bytes()) {
                return Err(VerifyError::HeadInvalid);
            }
            continue;
        }
        // what is not understood may be content, and is otherwise passed over
        let flags = match section::kind(s.kind) {
            Some(kind) if kind.understood => s.flags == kind.flags,
            _ => s.flags & !section::CONTENT == 0,
        };
        let twice = h.sections.iter().filter(|other| other.kind == s.kind).count() > 1;
        if twice || !flags || s.reserved != 0 || s.offset != end || (s.kind == section::TILES && s.crc != 0) {
            return Err(invalid(s.kind));
        }
        seen |= section::bit(s.kind);
        end = after(s).ok_or(invalid(s.kind))?.end;
    }
    if end != h.total_len || seen & section::REQUIRED != section::REQUIRED {
        return Err(VerifyError::HeadInvalid);
    }
    materials_and_names(t, damaged)?;
    root(t)?;
    if t.section(section::CRS).is_some() && damaged >> section::CRS & 1 == 0 && t.crs().is_none() {
        return Err(invalid(section::CRS));
    }
    tables(t)?;
    if damaged >> section::RAYS & 1 == 1 { Ok(()) } else { super::rays::outside(t) }
}

/// Stated costs of rays and tyres are possible: none is less than that of a vertical query, or of a shorter one.
fn tables(t: &Terrain) -> Result<(), VerifyError> {
    let h = t.header;
    if grow(h.bound, &h.ray_bound) && grow(h.bound, &h.tyre_bound) { Ok(()) } else { Err(VerifyError::HeadInvalid) }
}

/// No stated row of a table is less than the one before it.
pub(super) fn grow(least: [u32; 4], table: &[[u32; 4]]) -> bool {
    let mut before = least;
    table.iter().filter(|row| **row != [0; 4]).all(|row| {
        let grows = row.iter().zip(before).all(|(n, least)| *n >= least);
        before = *row;
        grows
    })
}

/// The bytes from a section to the next multiple of 128.
fn after(s: &Section) -> Option<core::ops::Range<u64>> {
    let end = s.offset.saturating_add(s.len);
    Some(end..end.checked_next_multiple_of(format::ALIGN as u64)?)
}

/// Sections follow each other with zeros up to the next multiple of 128.
fn padding(t: &Terrain) -> Result<(), VerifyError> {
    let gaps = t.header.sections.iter().filter(|s| s.is_used()).map(after);
    let bytes = |gap: core::ops::Range<u64>| t.bytes.get(gap.start as usize..gap.end as usize);
    let clean = gaps.map(|gap| gap.and_then(bytes)).all(|bytes| bytes.is_some_and(zero));
    if clean { Ok(()) } else { Err(VerifyError::Padding) }
}

fn materials_and_names(t: &Terrain, damaged: u32) -> Result<(), VerifyError> {
    let named = |at: u32, len: usize| {
        let bytes = t.names.get(at as usize..).and_then(|b| b.get(..len));
        bytes.is_some_and(|b| damaged >> section::NAMES & 1 == 1 || core::str::from_utf8(b).is_ok())
    };
    for m in t.materials {
        let numbers = [m.mu, m.rolling, m.gain, m.cone_index];
        if m.reserved != [0; 3]
            || m.flags & !(Material::OBSTACLE | Material::FRICTION_ONLY) != 0
            || (m.is_friction_only() && t.header.must_understand & format::feature::FRICTION_ONLY == 0)
            || !named(m.name, m.name_len.into())
            || !numbers.iter().all(|v| v.is_finite())
        {
            return Err(VerifyError::SectionInvalid(section::MATERIALS));
        }
    }
    let sound = damaged >> section::SOURCES & 1 == 0;
    if sound && t.sources.iter().any(|s| s.reserved != [0; 3] || !named(s.name, s.name_len as usize)) {
        return Err(VerifyError::SectionInvalid(section::SOURCES));
    }
    Ok(())
}

/// Every tile of the table stands once in the pages, at its own place, in Morton order and without gaps.
fn root(t: &Terrain) -> Result<(), VerifyError> {
    let h = t.header;
    let slots = 1usize << (2 * h.page_log2);
    let is_slot = |s: &u32| slot::is_valid(*s);
    let pages = t.pages.len() >> (2 * h.page_log2);
    if t.pages.len() != pages << (2 * h.page_log2) || !t.pages.iter().all(is_slot) {
        return Err(VerifyError::SectionInvalid(section::PAGES));
    }
    let mut next = slot::FIRST;
    let mut listed = t.directory.iter().filter(|&&s| s >= slot::FIRST).count();
    if listed != pages || !t.directory.iter().all(is_slot) {
        return Err(VerifyError::SectionInvalid(section::DIRECTORY));
    }
    // in tile order, pages are numbered as they first appear
    let mut offset = 0u64;
    let mut last = None;
    for r in t.table {
        let invalid = VerifyError::SectionInvalid(section::TILE_TABLE);
        let key = morton(r.x, r.y);
        if r.offset != offset
            || r.reserved != 0
            || r.len < 256
            || r.len % format::ALIGN as u64 != 0
            || last >= Some(key)
        {
            return Err(invalid);
        }
        last = Some(key);
        let column = i64::from(r.x >> h.page_log2) - i64::from(h.page_min[0]);
        let row = i64::from(r.y >> h.page_log2) - i64::from(h.page_min[1]);
        let [columns, rows] = h.page_count.map(i64::from);
        if column < 0 || column >= columns || row < 0 || row >= rows {
            return Err(invalid);
        }
        let directory = t.directory.get((row as usize).wrapping_mul(columns as usize).wrapping_add(column as usize));
        let &number = directory.ok_or(invalid)?;
        if number < slot::FIRST || number > next {
            return Err(VerifyError::SectionInvalid(section::DIRECTORY));
        }
        next = next.max(number.saturating_add(1));
        let mask = (1i64 << h.page_log2) - 1;
        let within = ((i64::from(r.y) & mask) << h.page_log2 | (i64::from(r.x) & mask)) as usize;
        let place = t.pages.get(((number - slot::FIRST) as usize).wrapping_mul(slots).wrapping_add(within));
        let unit = offset / format::ALIGN as u64 + u64::from(slot::FIRST);
        if place.map(|&p| u64::from(p)) != Some(unit) {
            return Err(VerifyError::SectionInvalid(section::PAGES));
        }
        offset = offset.saturating_add(r.len);
    }
    listed = t.pages.iter().filter(|&&s| s >= slot::FIRST).count();
    let tiles = t.section(section::TILES).map_or(0, |b| b.len() as u64);
    if listed != t.table.len() || offset != tiles {
        return Err(VerifyError::SectionInvalid(section::TILES));
    }
    Ok(())
}

fn morton(x: i32, y: i32) -> u64 {
    let spread = |v: i32| {
        let mut v = u64::from(v as u32 ^ 1 << 31);
        let masks = [
            0x0000_FFFF_0000_FFFF,
            0x00FF_00FF_00FF_00FF,
            0x0F0F_0F0F_0F0F_0F0F,
            0x3333_3333_3333_3333,
            0x5555_5555_5555_5555,
        ];
        for (i, mask) in masks.into_iter().enumerate() {
            v = (v | v << (16 >> i)) & mask;
        }
        v
    };
    spread(x) | spread(y) << 1
}
