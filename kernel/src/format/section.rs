//! The kinds of sections, and what those outside the tiles hold.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `[Material]`.
pub const MATERIALS: u32 = 1;
/// UTF-8 names.
pub const NAMES: u32 = 2;
/// `[Source]`.
pub const SOURCES: u32 = 3;
/// `[u32]`: one entry a page, row by row.
pub const DIRECTORY: u32 = 4;
/// `[u32]`: one entry a tile slot of each page that is present.
pub const PAGES: u32 = 5;
/// `[TileRecord]`, in Morton order.
pub const TILE_TABLE: u32 = 6;
/// The tiles.
pub const TILES: u32 = 7;
/// Where the content came from; outside the identity.
pub const PROVENANCE: u32 = 8;
/// Data for rays beside the tiles: see [`rays`](super::rays). An image may leave it out.
pub const RAYS: u32 = 9;
/// [`Crs`](super::Crs), and its names: where on earth the image lies. No reader knows the kinds below yet.
pub const CRS: u32 = 10;
/// Number of normals at vertices.
pub const NORMALS: u32 = 11;
/// Number of scenes placed several times.
pub const INSTANCES: u32 = 12;
/// Number of values over the ground.
pub const OVERLAY: u32 = 13;
/// Number of what rays hit and wheels do not stand on.
pub const OBSTACLES: u32 = 14;
/// Flag: a reader that does not know this kind must refuse the image.
pub const MUST_UNDERSTAND: u32 = 1;
/// Flag: part of the identity.
pub const CONTENT: u32 = 2;

/// Entry of a kind of section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: &'static str,
    /// Its flags: what a writer gives it, and a section that a reader understands must have.
    pub flags: u32,
    /// Whether this crate reads it, or only knows its number.
    pub understood: bool,
    /// Whether each image has it.
    pub required: bool,
    /// Whether a height, slope, status or friction depends on it.
    pub answers: bool,
}

impl Kind {
    /// One that each image has, as part of its content.
    const fn content(number: u32, name: &'static str, answers: bool) -> Kind {
        Kind { number, name, flags: MUST_UNDERSTAND | CONTENT, understood: true, required: true, answers }
    }

    /// One that has its number and nothing else yet.
    const fn numbered(number: u32, name: &'static str) -> Kind {
        Kind { number, name, flags: CONTENT, understood: false, required: false, answers: false }
    }
}

/// All kinds, in the order in which a builder writes them. Nothing else names a kind by its number.
pub const KINDS: [Kind; 14] = [
    Kind::content(MATERIALS, "materials", true),
    Kind::content(NAMES, "names", false),
    Kind::content(SOURCES, "sources", false),
    Kind::content(DIRECTORY, "directory", true),
    Kind::content(PAGES, "pages", true),
    Kind::content(TILE_TABLE, "tile table", true),
    Kind::content(TILES, "tiles", true),
    Kind { number: PROVENANCE, name: "provenance", flags: 0, understood: true, required: true, answers: false },
    Kind { number: RAYS, name: "rays", flags: CONTENT, understood: true, required: false, answers: false },
    Kind { number: CRS, name: "crs", flags: CONTENT, understood: true, required: false, answers: false },
    Kind::numbered(NORMALS, "normals"),
    Kind::numbered(INSTANCES, "instances"),
    Kind::numbered(OVERLAY, "overlay"),
    Kind::numbered(OBSTACLES, "obstacles"),
];

/// The entry of a kind, if it is known.
pub fn kind(number: u32) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.number == number)
}

/// The name of a kind, if it has one.
pub fn name(number: u32) -> Option<&'static str> {
    kind(number).map(|kind| kind.name)
}

/// The bit of a kind in a word for all; none from 32 on.
pub const fn bit(number: u32) -> u32 {
    if number < 32 { 1 << number } else { 0 }
}

/// The bits of the kinds that this crate reads.
pub const UNDERSTOOD: u32 = bits(&KINDS, 0);
/// The bits of the kinds that each image has.
pub const REQUIRED: u32 = bits(&KINDS, 1);
/// The bits of the kinds on which answers depend.
pub const ANSWERS: u32 = bits(&KINDS, 2);

const fn bits(kinds: &[Kind], of: usize) -> u32 {
    match kinds {
        [] => 0,
        [kind, rest @ ..] => {
            let is = [kind.understood, kind.required, kind.answers][of];
            bits(rest, of) | if is { bit(kind.number) } else { 0 }
        }
    }
}

/// Entries of directory and pages. 0 and all ones are never valid: blank and erased memory read as damage.
pub mod slot {
    /// Covered by the image, and without ground.
    pub const EMPTY: u32 = 1;
    /// Not covered by this image.
    pub const NOT_IN_IMAGE: u32 = 2;
    /// Something a newer reader knows.
    pub const NOT_UNDERSTOOD: u32 = 3;
    /// First value that is a reference: a page's number, or a tile's place in 128-byte units, plus this.
    pub const FIRST: u32 = 16;

    /// The entry that refers to a page of this number, or to a tile at this place.
    pub const fn to(reference: u32) -> Option<u32> {
        match FIRST.checked_add(reference) {
            Some(entry) if entry != u32::MAX => Some(entry),
            _ => None,
        }
    }

    /// The reference of an entry, if it has one.
    #[inline(always)]
    pub const fn reference(entry: u32) -> Option<u32> {
        let from = entry.wrapping_sub(FIRST);
        if from < u32::MAX - FIRST { Some(from) } else { None }
    }

    /// Whether the entry may stand in an image.
    pub const fn is_valid(entry: u32) -> bool {
        matches!(entry, EMPTY..=NOT_UNDERSTOOD) || reference(entry).is_some()
    }
}

/// One entry of the section table.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Section {
    /// A kind of this module, or zero for an unused place.
    pub kind: u32,
    /// [`MUST_UNDERSTAND`] and [`CONTENT`].
    pub flags: u32,
    /// From the image's start, a multiple of 128.
    pub offset: u64,
    /// In bytes, without padding.
    pub len: u64,
    /// CRC-32 of the bytes; zero for `TILES`, whose tiles have their own.
    pub crc: u32,
    /// Zero.
    pub reserved: u32,
    /// SHA-256 of the bytes; of the tile digests, in order, for `TILES`.
    pub digest: [u8; 32],
}

impl Section {
    /// Whether the place in the table is in use.
    pub const fn is_used(&self) -> bool {
        self.kind != 0
    }

    /// Whether a reader that does not know the kind must refuse the image.
    pub const fn must_be_understood(&self) -> bool {
        self.flags & MUST_UNDERSTAND != 0
    }

    /// Whether its digest is part of the identity.
    pub const fn is_content(&self) -> bool {
        self.flags & CONTENT != 0
    }
}

/// Surface types with a meaning of their own; all other numbers are the user's.
pub mod surface {
    /// Dry pavement.
    pub const DRY: u16 = 0;
    /// Wet pavement.
    pub const WET: u16 = 1;
    /// Grass.
    pub const GRASS: u16 = 2;
    /// Dirt.
    pub const DIRT: u16 = 3;
    /// Gravel.
    pub const GRAVEL: u16 = 4;
    /// Rumble strip.
    pub const RUMBLE_STRIP: u16 = 5;
    /// Ice.
    pub const ICE: u16 = 16;
    /// Snow.
    pub const SNOW: u16 = 17;
    /// Clay, whose cone index counts.
    pub const CLAY: u16 = 18;
    /// Sand, whose cone index counts.
    pub const SAND: u16 = 19;
    /// Cone index of clay and sand where none is stated, PSI.
    pub const CONE_INDEX: f64 = 250.0;
    /// The names that people type.
    pub const NAMES: [(&str, u16); 10] = [
        ("dry", DRY),
        ("wet", WET),
        ("grass", GRASS),
        ("dirt", DIRT),
        ("gravel", GRAVEL),
        ("rumble_strip", RUMBLE_STRIP),
        ("ice", ICE),
        ("snow", SNOW),
        ("clay", CLAY),
        ("sand", SAND),
    ];
}

/// One material.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Material {
    /// Friction coefficient.
    pub mu: f64,
    /// Rolling resistance, as a factor.
    pub rolling: f64,
    /// Gain, as a factor.
    pub gain: f64,
    /// Cone index, PSI; zero if not stated.
    pub cone_index: f64,
    /// Name: offset in `NAMES`.
    pub name: u32,
    /// Name: length in bytes.
    pub name_len: u16,
    /// Surface type: one of [`surface`], or another number of the user.
    pub surface: u16,
    /// Class bits for masks.
    pub class_mask: u32,
    /// Label for sensors.
    pub label: u32,
    /// Bit 0: obstacle; bit 1: friction only.
    pub flags: u32,
    /// Which of coincident surfaces stays, and which answers at one height: the highest.
    pub priority: i32,
    /// Its ground hides that of lower precedence, if the image has [`feature::PRECEDENCE`](super::feature::PRECEDENCE).
    pub precedence: i16,
    /// Zero.
    pub reserved: [u16; 3],
}

impl Material {
    /// [`Material::flags`]: wheels do not stand on it.
    pub const OBSTACLE: u32 = 1;
    /// [`Material::flags`]: it has no height of its own, and gives friction, type and name to the ground right below
    /// it.
    pub const FRICTION_ONLY: u32 = 2;

    /// Whether it is an obstacle.
    pub const fn is_obstacle(&self) -> bool {
        self.flags & Self::OBSTACLE != 0
    }

    /// Whether it gives friction alone.
    pub const fn is_friction_only(&self) -> bool {
        self.flags & Self::FRICTION_ONLY != 0
    }
}

/// Where triangles came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Source {
    /// Name: offset in `NAMES`.
    pub name: u32,
    /// Name: length in bytes.
    pub name_len: u32,
    /// Zero until it is used; for the builder: no reader needs it.
    pub precedence: i16,
    /// Zero.
    pub reserved: [u16; 3],
}

/// Where a tile lies, and its checks.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct TileRecord {
    /// From the start of `TILES`, a multiple of 128.
    pub offset: u64,
    /// In bytes, a multiple of 128.
    pub len: u64,
    /// CRC-32 of the bytes.
    pub crc: u32,
    /// Tile number in x.
    pub x: i32,
    /// Tile number in y.
    pub y: i32,
    /// Zero.
    pub reserved: u32,
    /// SHA-256 of the bytes.
    pub digest: [u8; 32],
}

const _: () = {
    assert!(size_of::<Section>() == 64);
    assert!(size_of::<Material>() == 64);
    assert!(size_of::<Source>() == 16);
    assert!(size_of::<TileRecord>() == 64);
};
