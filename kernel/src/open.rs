//! Opening an image, and what can be asked without a search.

use crate::error::OpenError;
use crate::format::rays::Rays;
use crate::format::{
    self, Attribute, Crs, HEAD_CRC, Header, Material, Node, Patch, Section, Source, Tile, TileRecord, block, section,
};
use crate::hit::{Cost, Hit, Windows};
use crate::point::{Fixed, IntoPoint, Point, exp2};
use zerocopy::FromBytes;

/// A terrain image, checked and ready for queries. It borrows the bytes and copies nothing.
#[derive(Clone, Copy)]
pub struct Terrain<'a> {
    pub(crate) header: &'a Header,
    pub(crate) bytes: &'a [u8],
    /// The whole image as words, and as bundles.
    pub(crate) words: &'a [u32],
    pub(crate) bundles: &'a [[u32; format::bundle::WORDS]],
    pub(crate) directory: &'a [u32],
    pub(crate) pages: &'a [u32],
    pub(crate) table: &'a [TileRecord],
    pub(crate) materials: &'a [Material],
    pub(crate) sources: &'a [Source],
    pub(crate) names: &'a [u8],
    /// First tile, in 128-byte units from the image's start.
    pub(crate) tiles_at: usize,
    /// Low corner of the bounds in query steps from the frame's zero, and their size.
    pub(crate) low: [i64; 2],
    pub(crate) span: [u64; 2],
    /// A bit a tile: set means damaged.
    pub(crate) damage: &'a [u8],
    /// Data for rays beside the tiles, if the image has it.
    pub(crate) rays: Option<Rays<'a>>,
    /// The one leaf of an image that is one part of a height field and nothing else.
    pub(crate) sole: Option<Sole<'a>>,
}

/// A height field that is all ground of an image.
#[derive(Clone, Copy)]
pub(crate) struct Sole<'a> {
    pub patch: &'a Patch,
    pub attribute: Attribute,
    /// Words of its tile and of its record.
    pub tile: usize,
    pub at: usize,
    /// Its first post, in query steps from the frame's zero.
    pub from: [i64; 2],
}

/// Many bytes at a time where 16 KiB of tables are no matter.
pub(crate) type Tables = crc::Table<{ if cfg!(target_pointer_width = "64") { 16 } else { 1 } }>;
pub(crate) static CRC: crc::Crc<u32, Tables> = crc::Crc::<u32, Tables>::new(&crc::CRC_32_ISO_HDLC);

/// The checksum of a head, without itself.
pub(crate) fn head_crc(head: &[u8]) -> u32 {
    let mut digest = CRC.digest();
    digest.update(head.get(..HEAD_CRC.start).unwrap_or(&[]));
    digest.update(&[0; HEAD_CRC.end - HEAD_CRC.start]);
    digest.update(head.get(HEAD_CRC.end..).unwrap_or(&[]));
    digest.finalize()
}

impl<'a> Terrain<'a> {
    /// Opens an image after checking its head: constant time, whatever the image's size.
    ///
    /// Bytes beyond the stated length are ignored, so a whole flash region may be passed. The content is not looked at:
    /// a flipped bit there may give a wrong answer, though never a panic; [`Terrain::open_verified`] or
    /// [`Terrain::verifier`] find it.
    pub fn open(bytes: &'a [u8]) -> Result<Self, OpenError> {
        let head = bytes.get(..format::HEAD_LEN).ok_or(OpenError::Truncated)?;
        if !(bytes.as_ptr() as usize).is_multiple_of(format::ALIGN) {
            return Err(OpenError::Misaligned);
        }
        let header = Header::ref_from_bytes(head).map_err(|_| OpenError::Misaligned)?;
        if header.magic != format::MAGIC {
            let blank = header.magic == [0; 8] || header.magic == [0xFF; 8];
            return Err(if blank { OpenError::Blank } else { OpenError::NotAnImage });
        }
        if header.version < format::MIN_VERSION {
            // an older head is shorter, and says how long it is
            let whole = head.get(..header.head_len as usize).is_some_and(|own| head_crc(own) == header.head_crc);
            return Err(match header.version {
                _ if !whole => OpenError::HeadDamaged,
                0 => OpenError::HeadInvalid,
                version => OpenError::TooOld(version),
            });
        }
        if header.least_reader > format::VERSION {
            return Err(OpenError::TooNew);
        }
        if header.head_len as usize != format::HEAD_LEN {
            return Err(OpenError::HeadInvalid);
        }
        if head_crc(head) != header.head_crc {
            return Err(OpenError::HeadDamaged);
        }
        if header.version < format::FIELDS_VERSION && header.patch_blocks > 0 {
            return Err(OpenError::TooOld(header.version));
        }
        if header.must_understand & !format::feature::UNDERSTOOD != 0 {
            return Err(OpenError::TooNew);
        }
        let total = usize::try_from(header.total_len).map_err(|_| OpenError::Truncated)?;
        let bytes = bytes.get(..total).ok_or(OpenError::Truncated)?;
        if !header_is_sane(header) {
            return Err(OpenError::HeadInvalid);
        }
        if header.must_understand != 0 && !cfg!(feature = "precedence") {
            return Err(OpenError::Precedence);
        }
        if header.wide_tests > 0 && !cfg!(feature = "wide") {
            return Err(OpenError::Wide);
        }
        for s in header.sections.iter().filter(|s| s.is_used()) {
            body_of(bytes, s).ok_or(OpenError::HeadInvalid)?;
            if s.must_be_understood() && section::UNDERSTOOD & section::bit(s.kind) == 0 {
                return Err(OpenError::NotUnderstood(s.kind));
            }
        }
        let body = |kind| section_of(header, kind).and_then(|s| body_of(bytes, s)).unwrap_or(&[]);
        let tiles_at = section_of(header, section::TILES).map_or(0, |s| s.offset as usize / format::ALIGN);
        let invalid = |_| OpenError::HeadInvalid;
        let ([ox, oy, _], [x, y, _], [mx, my, _]) = (header.origin, header.min, header.max);
        let terrain = Terrain {
            header,
            bytes,
            words: <[u32]>::ref_from_bytes(bytes).map_err(|_| OpenError::HeadInvalid)?,
            bundles: <[[u32; format::bundle::WORDS]]>::ref_from_bytes(bytes).map_err(|_| OpenError::HeadInvalid)?,
            directory: <[u32]>::ref_from_bytes(body(section::DIRECTORY)).map_err(|_| OpenError::HeadInvalid)?,
            pages: <[u32]>::ref_from_bytes(body(section::PAGES)).map_err(|_| OpenError::HeadInvalid)?,
            table: <[TileRecord]>::ref_from_bytes(body(section::TILE_TABLE)).map_err(|_| OpenError::HeadInvalid)?,
            materials: <[Material]>::ref_from_bytes(body(section::MATERIALS)).map_err(|_| OpenError::HeadInvalid)?,
            sources: <[Source]>::ref_from_bytes(body(section::SOURCES)).map_err(|_| OpenError::HeadInvalid)?,
            names: body(section::NAMES),
            tiles_at,
            low: [ox + i64::from(x), oy + i64::from(y)].map(|low| low << format::FRACTION),
            span: [mx.abs_diff(x), my.abs_diff(y)].map(|span| u64::from(span) << format::FRACTION),
            damage: &[],
            rays: match section_of(header, section::RAYS) {
                None => None,
                Some(s) => {
                    let bytes = body_of(bytes, s).ok_or(OpenError::HeadInvalid)?;
                    Some(Rays::new(header, bytes, s.offset as usize / 4).ok_or(OpenError::HeadInvalid)?)
                }
            },
            sole: None,
        };
        let pages = u64::from(header.page_count[0]) * u64::from(header.page_count[1]);
        if terrain.directory.len() as u64 != pages
            || terrain.table.len() != header.tile_count as usize
            || terrain.materials.is_empty()
            || terrain.sources.is_empty()
        {
            return Err(invalid(()));
        }
        Ok(Terrain { sole: terrain.sole_patch(), ..terrain })
    }

    /// Lets queries on the tiles marked in `bitmap` (bit `i % 8` of byte `i / 8` for tile `i`) answer
    /// [`Status::Damaged`](crate::Status::Damaged).
    ///
    /// Tiles beyond its end count as sound. With a bitmap that is not empty a [`Cursor`](crate::Cursor) starts at the
    /// root each time.
    pub fn with_damage(self, bitmap: &'a [u8]) -> Self {
        Terrain { damage: bitmap, sole: self.sole.filter(|_| bitmap.is_empty()), ..self }
    }

    /// The same without what the image has for rays, which then see the ground alone: where that is damaged.
    pub fn without_rays(self) -> Self {
        Terrain { rays: None, ..self }
    }

    /// The head of the image.
    pub fn header(&self) -> &'a Header {
        self.header
    }

    /// The bytes of the image, without what followed it.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// SHA-256 of the content.
    pub fn identity(&self) -> [u8; 32] {
        self.header.identity
    }

    /// The stated worst cost of any vertical query.
    pub fn bound(&self) -> Cost {
        let [nodes, leaves, tests, lines] = self.header.bound;
        Cost { nodes, leaves, tests, lines }
    }

    /// The stated upper bound of layers over any place; most images have fewer.
    pub fn max_layers(&self) -> u32 {
        self.header.max_layers
    }

    /// Least and greatest coordinates of the ground in metres, each rounded to nearest.
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        let h = self.header;
        let [ox, oy, oz] = h.origin;
        let corner = |[x, y, z]: [i32; 3]| {
            let at = |o: i64, v: i32, step| o.wrapping_add(v.into()) as f64 * exp2(step);
            [at(ox, x, h.xy_log2), at(oy, y, h.xy_log2), at(oz, z, h.z_log2)]
        };
        [corner(h.min), corner(h.max)]
    }

    /// The windows that the image proposes.
    pub fn windows(&self) -> Windows {
        Windows { near: self.header.near, far: self.header.far }
    }

    /// Height of the origin in query steps.
    #[inline(always)]
    pub(crate) fn zero_z(&self) -> i64 {
        self.header.origin[2] << format::FRACTION
    }

    /// Rounds a position to the query grid; `None` if it is not finite or far beyond any image.
    #[inline(always)]
    pub fn point(&self, p: impl IntoPoint) -> Option<Point> {
        let f = format::FRACTION as i32;
        p.into_point(self.header.xy_log2 - f, self.header.z_log2 - f)
    }

    /// Height in metres, rounded to nearest, ties to even.
    pub fn z_f64(&self, hit: &Hit) -> f64 {
        hit.z as f64 * exp2(self.header.z_log2 - format::FRACTION as i32)
    }

    /// Height in metres, rounded towards minus infinity where the height grid is finer than 2^-24 m.
    pub fn z_fixed(&self, hit: &Hit) -> Fixed {
        let shift = self.header.z_log2 - format::FRACTION as i32 + 24;
        Fixed::from_bits(if shift >= 0 { hit.z.wrapping_shl(shift as u32) } else { hit.z >> (-shift).min(63) })
    }

    /// dz/dx and dz/dy, each one division of rounded integers and an exact scaling.
    pub fn slope_f64(&self, hit: &Hit) -> [f64; 2] {
        self.ratios_f64(hit, [hit.normal.x.wrapping_neg(), hit.normal.y.wrapping_neg()])
    }

    /// dz/dx and dz/dy: each component rounded to f32, then one division.
    pub fn slope_f32(&self, hit: &Hit) -> [f32; 2] {
        self.ratios_f32(hit, [hit.normal.x.wrapping_neg(), hit.normal.y.wrapping_neg()])
    }

    /// The upward unit normal, from what [`Terrain::slope_f64`] is of.
    pub fn normal_f64(&self, hit: &Hit) -> [f64; 3] {
        let [x, y] = self.ratios_f64(hit, [hit.normal.x, hit.normal.y]);
        let r = 1.0 / libm::sqrt(x * x + y * y + 1.0);
        [x * r, y * r, r]
    }

    /// The upward unit normal, from what [`Terrain::slope_f32`] is of.
    pub fn normal_f32(&self, hit: &Hit) -> [f32; 3] {
        let [x, y] = self.ratios_f32(hit, [hit.normal.x, hit.normal.y]);
        let r = 1.0 / libm::sqrtf(x * x + y * y + 1.0);
        [x * r, y * r, r]
    }

    /// Components over the normal's upward one, in metres; level is 0, never -0.
    #[inline(always)]
    fn ratios_f64(&self, hit: &Hit, components: [i64; 2]) -> [f64; 2] {
        let scale = exp2(self.header.z_log2 - self.header.xy_log2);
        let up = if hit.normal.z > 0 { hit.normal.z as f64 } else { 1.0 };
        [components[0] as f64 / up * scale, components[1] as f64 / up * scale]
    }

    /// As [`Terrain::ratios_f64`].
    #[inline(always)]
    fn ratios_f32(&self, hit: &Hit, components: [i64; 2]) -> [f32; 2] {
        let scale = f32::from_bits(((127 + self.header.z_log2 - self.header.xy_log2) as u32) << 23);
        let up = if hit.normal.z > 0 { hit.normal.z as f32 } else { 1.0 };
        [components[0] as f32 / up * scale, components[1] as f32 / up * scale]
    }

    /// All materials.
    pub fn materials(&self) -> &'a [Material] {
        self.materials
    }

    /// The material of a hit; one without a name, all zero, where there is no ground: [`Terrain::surface`] then has the
    /// defaults.
    pub fn material(&self, hit: &Hit) -> &'a Material {
        const NONE: &Material = &Material {
            mu: 0.0,
            rolling: 0.0,
            gain: 0.0,
            cone_index: 0.0,
            name: 0,
            name_len: 0,
            surface: 0,
            class_mask: 0,
            label: 0,
            flags: 0,
            priority: 0,
            precedence: 0,
            reserved: [0; 3],
        };
        self.materials.get(usize::from(hit.material)).unwrap_or(NONE)
    }

    /// Friction, rolling resistance and gain of an answer: of its material, or the defaults where there is no ground.
    pub fn surface(&self, answer: &crate::hit::Answer) -> [f64; 3] {
        if answer.found() {
            let m = self.material(&answer.hit);
            [m.mu, m.rolling, m.gain]
        } else {
            [self.header.default_mu, self.header.default_rolling, self.header.default_gain]
        }
    }

    /// [`Terrain::surface`], each number rounded to f32.
    pub fn surface_f32(&self, answer: &crate::hit::Answer) -> [f32; 3] {
        self.surface(answer).map(|v| v as f32)
    }

    /// The name of a material; empty if there is none or it is not UTF-8.
    pub fn material_name(&self, material: u16) -> &'a str {
        self.materials.get(usize::from(material)).map_or("", |m| self.name(m.name, m.name_len.into()))
    }

    /// The name of a source; empty if there is none or it is not UTF-8.
    pub fn source_name(&self, source: u16) -> &'a str {
        self.sources.get(usize::from(source)).map_or("", |s| self.name(s.name, s.name_len))
    }

    /// Number of sources.
    pub fn source_count(&self) -> usize {
        self.sources.len()
    }

    fn name(&self, at: u32, len: u32) -> &'a str {
        let bytes = self.names.get(at as usize..).and_then(|b| b.get(..len as usize));
        bytes.and_then(|b| core::str::from_utf8(b).ok()).unwrap_or("")
    }

    /// Where on earth the image lies, if that is recorded: the record, and the names of the plane system, of its datum
    /// and of the vertical system. An empty name is not known.
    pub fn crs(&self) -> Option<(&'a Crs, [&'a str; 3])> {
        let (crs, names) = Crs::ref_from_prefix(self.section(section::CRS)?).ok()?;
        let (name, names) = names.split_at_checked(crs.name_len.into())?;
        let (datum, names) = names.split_at_checked(crs.datum_len.into())?;
        let (vertical, []) = names.split_at_checked(crs.vertical_len.into())? else { return None };
        let [Ok(name), Ok(datum), Ok(vertical)] = [name, datum, vertical].map(core::str::from_utf8) else {
            return None;
        };
        crs.is_sane().then_some((crs, [name, datum, vertical]))
    }

    /// The bytes of a section, if the image has it.
    pub fn section(&self, kind: u32) -> Option<&'a [u8]> {
        body_of(self.bytes, section_of(self.header, kind)?)
    }

    /// `N` words of the image.
    #[inline(always)]
    pub(crate) fn chunk<const N: usize>(&self, at: usize) -> Option<&'a [u32; N]> {
        self.words.get(at..)?.first_chunk()
    }

    #[inline(always)]
    pub(crate) fn node(&self, at: usize) -> Option<&'a Node> {
        let words: &[u32; 8] = self.chunk(at)?;
        Some(zerocopy::transmute_ref!(words))
    }

    #[inline(always)]
    pub(crate) fn block(&self, at: usize) -> Option<&'a [u32; block::WORDS]> {
        self.chunk(at)
    }

    pub(crate) fn tile(&self, at: usize) -> Option<&'a Tile> {
        let words = self.words.get(at..at.checked_add(32)?)?;
        Tile::ref_from_bytes(zerocopy::IntoBytes::as_bytes(words)).ok()
    }

    #[inline(always)]
    pub(crate) fn patch(&self, at: usize) -> Option<&'a Patch> {
        let words = self.words.as_chunks::<16>().0.get(at / 16)?;
        Some(zerocopy::transmute_ref!(words))
    }
}

/// The place of a kind in the section table.
fn section_of(header: &Header, kind: u32) -> Option<&Section> {
    header.sections.iter().find(|s| s.kind == kind && s.is_used())
}

/// The bytes of a section.
pub(crate) fn body_of<'a>(bytes: &'a [u8], s: &Section) -> Option<&'a [u8]> {
    let at = usize::try_from(s.offset).ok()?;
    if !at.is_multiple_of(format::ALIGN) || at < format::HEAD_LEN {
        return None;
    }
    bytes.get(at..)?.get(..usize::try_from(s.len).ok()?)
}

/// Checks that arithmetic of queries relies on. Everything else is checked where it is read.
fn header_is_sane(h: &Header) -> bool {
    let small = |v: i64| v.unsigned_abs() < 1 << 52;
    h.total_len.is_multiple_of(format::ALIGN as u64)
        && (-40..=10).contains(&h.xy_log2)
        && (-40..=10).contains(&h.z_log2)
        && (h.z_log2 - h.xy_log2).abs() <= 32
        && h.origin.iter().all(|&o| small(o))
        && h.min.iter().zip(&h.max).all(|(a, b)| a <= b)
        && (4..=31).contains(&h.tile_log2)
        && h.page_log2 <= 8
        && h.page_count.iter().all(|&n| (1..=1 << 16).contains(&n))
        && [h.near, h.far, h.layer_merge, h.precedence_band].iter().all(|&w| (0..1 << 52).contains(&w))
        && small(h.default_z)
        && h.fallback <= format::fallback::EDGE_EXTEND
        && h.no_height_rule <= format::no_height::NEAREST
        && [&h.bound].into_iter().chain(&h.ray_bound).chain(&h.tyre_bound).flatten().all(|&b| b <= format::MAX_BOUND)
        // the pages hold the bounds
        && h.min.iter().zip(&h.max).zip(h.page_min.iter().zip(&h.page_count)).all(|((&low, &high), (&first, &count))| {
            let page = |v: i32| (v >> h.tile_log2 >> h.page_log2).wrapping_sub(first) as u32;
            page(low) < count && page(high) < count && page(low) <= page(high)
        })
}
