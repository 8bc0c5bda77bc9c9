//! Tiles and tables into one image.

use super::bound::Tables;
use super::partition::{page_log2, squares};
use super::tile::Blob;
use super::walls;
use crate::build::error::{BuildError, Limit};
use crate::build::lattice::Mesh;
use crate::image::Image;
use crate::options::{Georeference, Options, Rays};
use crate::report::Packed;
use crate::scene::features;
use crate::util::exact::exp2;
use hardpan::format::bundle;
use hardpan::format::rays::{KINDS, RaysHead, TABLE, kind_bit};
use hardpan::format::{self, Header, Material, Section, Source, TileRecord, section, slot, surface};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use zerocopy::{FromZeros, IntoBytes};

/// As stated, or the default of clay and sand (MAVS: 250 PSI).
fn cone_index(m: &crate::scene::Material) -> f64 {
    let counts = [surface::CLAY, surface::SAND].contains(&m.surface);
    if m.cone_index == 0.0 && counts { surface::CONE_INDEX } else { m.cone_index }
}

/// Lays out an image of so many triangles.
pub fn pack(
    mesh: &Mesh,
    options: &Options,
    tiles: Vec<Blob>,
    provenance: &[u8],
    triangles: u64,
) -> Result<(Image, Packed), BuildError> {
    let mut names = Vec::new();
    let mut name = |s: &str| {
        let at = names.len() as u32;
        names.extend_from_slice(s.as_bytes());
        (at, s.len())
    };
    let materials: Vec<Material> = mesh
        .materials
        .iter()
        .map(|m| {
            let (at, len) = name(&m.name);
            let name_len = u16::try_from(len).map_err(|_| Limit::LongName)?;
            Ok(Material {
                mu: m.mu,
                rolling: m.rr,
                gain: m.gain,
                cone_index: cone_index(m),
                name: at,
                name_len,
                surface: m.surface,
                class_mask: m.class_mask,
                label: m.label,
                flags: if m.obstacle { Material::OBSTACLE } else { 0 }
                    | if m.friction_only && m.is_ground() { Material::FRICTION_ONLY } else { 0 },
                priority: m.priority,
                precedence: m.precedence,
                reserved: [0; 3],
            })
        })
        .collect::<Result<_, BuildError>>()?;
    let sources: Vec<Source> = mesh
        .sources
        .iter()
        .map(|s| {
            let (at, len) = name(s);
            Source { name: at, name_len: len as u32, precedence: 0, reserved: [0; 3] }
        })
        .collect();

    let mut table = Vec::with_capacity(tiles.len());
    let mut at = 0u64;
    let checks: Vec<(u32, [u8; 32])> = tiles
        .par_iter()
        .map(|t| rayon::join(|| crc32fast::hash(t.bytes()), || Sha256::digest(t.bytes()).into()))
        .collect();
    let mut digests = Sha256::new();
    for (t, (crc, digest)) in tiles.iter().zip(checks) {
        table.push(TileRecord { offset: at, len: t.bytes().len() as u64, crc, x: t.x, y: t.y, reserved: 0, digest });
        at += t.bytes().len() as u64;
        digests.update(digest);
    }
    let tiles_digest: [u8; 32] = digests.finalize().into();
    let root = root(mesh, &tiles, &table)?;
    // with precedence each ground on the way is asked for what hides it, which the tables do not count
    let mut tables = match options.bounds && features(&mesh.materials) == 0 {
        true => Tables::new(&tiles, mesh.tile_log2, options),
        false => Tables::default(),
    };
    if !mesh.fields.is_empty() {
        // the parts of a field in one square are not summed up exactly: nothing is stated
        tables.tyre = Default::default();
    }
    let rays = rays(mesh, options, &tiles, &tables);

    let crs = options.crs.as_ref().map(Georeference::bytes);
    let body = |kind: u32| match kind {
        section::MATERIALS => materials.as_bytes(),
        section::NAMES => &names,
        section::SOURCES => sources.as_bytes(),
        section::DIRECTORY => root.directory.as_bytes(),
        section::PAGES => root.pages.as_bytes(),
        section::TILE_TABLE => table.as_bytes(),
        section::PROVENANCE => provenance,
        section::RAYS => &rays,
        section::CRS => crs.as_deref().unwrap_or_default(),
        kind => unreachable!("section kind {kind} is not written"),
    };
    let mut sections = [Section::default(); format::SECTIONS];
    let mut offset = format::HEAD_LEN as u64;
    let is_written = |kind: &&section::Kind| match kind.number {
        section::RAYS => !rays.is_empty(),
        section::CRS => crs.is_some(),
        _ => kind.required,
    };
    for (place, kind) in sections.iter_mut().zip(section::KINDS.iter().filter(is_written)) {
        let (len, crc, digest) = match kind.number {
            section::TILES => (at, 0, tiles_digest),
            number => {
                let body = body(number);
                (body.len() as u64, crc32fast::hash(body), Sha256::digest(body).into())
            }
        };
        *place = Section { kind: kind.number, flags: kind.flags, offset, len, crc, reserved: 0, digest };
        offset = (offset + len).next_multiple_of(format::ALIGN as u64);
    }
    let total = offset;

    let mut header = Header::new_zeroed();
    header.magic = format::MAGIC;
    header.version = format::VERSION;
    header.head_len = format::HEAD_LEN as u32;
    header.total_len = total;
    fill(&mut header, mesh, options, &tiles, triangles);
    header.least_reader = if header.patch_blocks > 0 { format::FIELDS_VERSION } else { format::MIN_VERSION };
    (header.ray_bound, header.tyre_bound) = (tables.ray, tables.tyre);
    header.page_min = root.min;
    header.page_count = root.count;
    header.sections = sections;
    let mut identity = Sha256::new();
    identity.update(&header.as_bytes()[format::CONTENT_HEADER]);
    for s in sections.iter().filter(|s| s.is_content()) {
        identity.update(s.kind.to_le_bytes());
        identity.update(s.digest);
    }
    header.identity = identity.finalize().into();
    header.head_crc = crc32fast::hash(header.as_bytes());

    let len = usize::try_from(total).map_err(|_| Limit::Memory { bytes: None, why: String::new() })?;
    let mut image = Image::zeroed(len).map_err(|e| Limit::Memory { bytes: Some(len), why: e.to_string() })?;
    let bytes = image.bytes_mut();
    bytes[..format::HEAD_LEN].copy_from_slice(header.as_bytes());
    let (mut rest, mut from) = (&mut bytes[format::HEAD_LEN..], format::HEAD_LEN as u64);
    let mut tiles_bytes: &mut [u8] = &mut [];
    for s in sections.iter().filter(|s| s.is_used()) {
        let (own, behind) = rest.split_at_mut((s.offset + s.len - from) as usize);
        let own = &mut own[(s.offset - from) as usize..];
        match s.kind {
            section::TILES => tiles_bytes = own,
            kind => own.copy_from_slice(body(kind)),
        }
        (rest, from) = (behind, s.offset + s.len);
    }
    // tiles lie one behind the other
    let mut rest = tiles_bytes;
    let mut places = Vec::with_capacity(tiles.len());
    for t in &tiles {
        let (own, others) = rest.split_at_mut(t.bytes().len());
        places.push((t, own));
        rest = others;
    }
    places.into_par_iter().for_each(|(t, own)| own.copy_from_slice(t.bytes()));
    let packed = counts(&header, &tiles);
    Ok((image, packed))
}

/// The section for rays; empty if the image has none.
fn rays(mesh: &Mesh, options: &Options, tiles: &[Blob], tables: &Tables) -> Vec<u8> {
    if options.rays() == Rays::None {
        return Vec::new();
    }
    let mut head = RaysHead::new_zeroed();
    head.tiles = tiles.len() as u32;
    head.kinds = kind_bit(bundle::GROUND);
    if options.rays() == Rays::All {
        head.kinds = KINDS;
    }
    mesh.walls.iter().for_each(|w| head.triangles[w.kind as usize - 1] += 1);
    [head.min, head.max] = walls::extent(&mesh.walls).unwrap_or_default();
    let bundles = |t: &Blob| u64::from(t.rays[format::ROOT + std::mem::offset_of!(format::Node, bundle_count) / 4]);
    head.bundles = tiles.iter().map(bundles).sum();
    head.ray_bound = tables.all;
    let mut at = (TABLE + size_of::<TileRecord>() * tiles.len()).next_multiple_of(format::ALIGN) as u64;
    let checks = tiles.par_iter().map(|t| {
        let bytes = t.rays.as_bytes();
        (crc32fast::hash(bytes), <[u8; 32]>::from(Sha256::digest(bytes)))
    });
    let checks: Vec<(u32, [u8; 32])> = checks.collect();
    let mut bytes = head.as_bytes().to_vec();
    for (t, (crc, digest)) in tiles.iter().zip(checks) {
        let len = t.rays.as_bytes().len() as u64;
        let record = TileRecord { offset: at, len, crc, x: t.x, y: t.y, reserved: 0, digest };
        bytes.extend(record.as_bytes());
        at += len;
    }
    bytes.resize(bytes.len().next_multiple_of(format::ALIGN), 0);
    tiles.iter().for_each(|t| bytes.extend(t.rays.as_bytes()));
    bytes
}

fn fill(h: &mut Header, mesh: &Mesh, options: &Options, tiles: &[Blob], triangles: u64) {
    let z_steps = |v: f64| (v * exp2(8 - options.z_log2)).round_ties_even() as i64;
    let sum = |f: fn(&Blob) -> u64| tiles.iter().map(f).sum::<u64>();
    let most = |f: fn(&Blob) -> u32| tiles.iter().map(f).max().unwrap_or(0);
    (h.xy_log2, h.z_log2) = (options.xy_log2, options.z_log2);
    h.origin = mesh.origin;
    [h.min, h.max] = mesh.bounds;
    (h.tile_log2, h.page_log2) = (mesh.tile_log2, page_log2(mesh, tiles.len()));
    h.tile_count = tiles.len() as u32;
    h.max_layers = most(|t| t.head.max_layers);
    h.triangles = triangles;
    h.bundles = sum(|t| t.head.bundle_count.into());
    h.patch_blocks = sum(|t| t.patch_blocks);
    h.references = sum(|t| t.head.references.into());
    h.near = z_steps(options.near);
    h.far = z_steps(options.far);
    h.layer_merge = z_steps(options.layer_merge);
    h.must_understand = features(&mesh.materials);
    if h.must_understand != 0 {
        h.precedence_band = z_steps(options.precedence_band).max(1);
    }
    h.default_z = z_steps(options.default_z);
    (h.default_mu, h.default_rolling, h.default_gain) = (options.default_mu, options.default_rr, options.default_gain);
    h.fallback = options.fallback as u32;
    h.wide_tests = most(|t| t.wide_tests);
    h.bound = super::bound::vertical(tiles);
    let moved = mesh.moved.iter().map(|m| m.1);
    let source = mesh.source_error(tiles.iter().map(|t| [t.x, t.y]));
    let source = source.map(|all| all.values().fold([0f64; 2], |m, e| [m[0].max(e[0]), m[1].max(e[1])]));
    let error = mesh.error(moved, mesh.fields.iter(), source);
    [h.error_plan, h.error_height] = [0, 1].map(|i| error[i].max(options.least_error[i]));
}

/// The counts of an image.
fn counts(h: &Header, tiles: &[Blob]) -> Packed {
    let sum = |f: fn(&Blob) -> u64| tiles.iter().map(f).sum::<u64>();
    Packed {
        error: [h.error_plan, h.error_height],
        tiles: tiles.len() as u64,
        nodes: sum(|t| t.nodes),
        bundles: h.bundles,
        references: h.references,
        patch_blocks: h.patch_blocks,
        index_bytes: sum(|t| t.index_bytes),
        leaf_bytes: sum(|t| t.bytes().len() as u64 - u64::from(t.head.bundles) * 128),
        image_bytes: h.total_len,
    }
}

struct Root {
    min: [i32; 2],
    count: [u32; 2],
    directory: Vec<u32>,
    pages: Vec<u32>,
}

/// Directory and pages: the only place that knows where tiles are. They hold the bounds, of which the greatest, rounded
/// up, may be a step beyond the last tile.
fn root(mesh: &Mesh, tiles: &[Blob], table: &[TileRecord]) -> Result<Root, BuildError> {
    let page_log2 = page_log2(mesh, tiles.len());
    let page = |t: &Blob| [t.x >> page_log2, t.y >> page_log2];
    let (min, count) = squares(mesh, mesh.tile_log2, page_log2);
    let side = 1usize << page_log2;
    let mut directory = vec![slot::EMPTY; count[0] as usize * count[1] as usize];
    let mut pages: Vec<u32> = Vec::new();
    for (t, r) in tiles.iter().zip(table) {
        let [px, py] = page(t);
        let at = (py - min[1]) as usize * count[0] as usize + (px - min[0]) as usize;
        if directory[at] == slot::EMPTY {
            directory[at] = slot::to((pages.len() / (side * side)) as u32).ok_or(Limit::ImageBytes)?;
            pages.resize(pages.len() + side * side, slot::EMPTY);
        }
        let page = slot::reference(directory[at]).map_or(0, |page| page as usize) * side * side;
        let in_page = [t.x, t.y].map(|v| v as usize & (side - 1));
        let place = u32::try_from(r.offset / format::ALIGN as u64).ok().and_then(slot::to).ok_or(Limit::ImageBytes)?;
        pages[page + in_page[1] * side + in_page[0]] = place;
    }
    Ok(Root { min, count, directory, pages })
}
