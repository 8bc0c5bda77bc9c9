//! Why an image cannot be opened or proven.

use crate::format::section;
use core::fmt;

/// Why bytes are not an image that this kernel reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// The bytes do not start at a multiple of 128.
    Misaligned,
    /// Shorter than a head, or than the length that the head states.
    Truncated,
    /// The first bytes are not an image's.
    NotAnImage,
    /// Blank or erased memory: all zeros or all ones.
    Blank,
    /// Written for a newer reader, or with a feature that must be understood and is not.
    TooNew,
    /// The format version is no longer read.
    TooOld(u16),
    /// It has a section of this kind, which must be understood and is not.
    NotUnderstood(u32),
    /// The head does not match its checksum.
    HeadDamaged,
    /// The head states what no builder writes.
    HeadInvalid,
    /// It has triangles whose products need 128 bits, and the feature `wide` is off.
    Wide,
    /// It has ground that hides other ground, or materials that give friction alone, and the feature `precedence` is
    /// off.
    Precedence,
    /// The content does not verify.
    Content(VerifyError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooOld(version) => return write!(f, "format version {version}: build it again"),
            Self::NotUnderstood(kind) => {
                let name = section::name(*kind).unwrap_or("unknown");
                return write!(f, "the image needs a newer reader: section kind {kind} ({name}) must be understood");
            }
            Self::Misaligned => {
                "the image must start at an address that is a multiple of 128 (use include_image! or aligned memory)"
            }
            Self::Truncated => "the image is cut short",
            Self::NotAnImage => "these bytes are not a terrain image",
            Self::Blank => "blank memory: no image was written here",
            Self::TooNew => "the image needs a newer reader",
            Self::Wide => {
                "the image has wide triangles (wide_tests), and this kernel is built without its feature wide"
            }
            Self::Precedence => {
                "the image has precedence or friction-only materials, and this kernel is built without its feature precedence"
            }
            Self::HeadDamaged => "the head of the image is damaged (its checksum differs)",
            Self::HeadInvalid => "the head of the image contradicts itself",
            Self::Content(e) => return e.fmt(f),
        })
    }
}

impl core::error::Error for OpenError {}

/// A fault of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyError {
    /// The head does not match its checksum: it has decayed since it was opened.
    HeadDamaged,
    /// The head holds what no builder writes.
    HeadInvalid,
    /// A section's bytes do not match its checksum: the least kind, if there are several;
    /// [`Verifier::damaged_sections`](crate::Verifier::damaged_sections) has all.
    SectionDamaged(u32),
    /// A section contradicts the head, or holds what no builder writes.
    SectionInvalid(u32),
    /// Bytes between or behind sections are not zero.
    Padding,
    /// A tile's bytes do not match its checksum.
    TileDamaged(u32),
    /// A tile holds what no builder writes.
    TileInvalid(u32),
    /// A place in a tile costs more than the image states.
    BoundExceeded(u32),
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeadDamaged => f.write_str("the head is damaged (its checksum differs)"),
            Self::SectionDamaged(k) => write!(f, "section {k} is damaged (its checksum differs)"),
            Self::HeadInvalid => f.write_str("the head holds what no builder writes"),
            Self::SectionInvalid(k) => write!(f, "section {k} contradicts the head"),
            Self::Padding => f.write_str("bytes outside the sections are not zero"),
            Self::TileDamaged(t) => write!(f, "tile {t} is damaged (its checksum differs)"),
            Self::TileInvalid(t) => write!(f, "tile {t} contradicts itself"),
            Self::BoundExceeded(t) => write!(f, "tile {t} costs more than the image states"),
        }
    }
}

impl core::error::Error for VerifyError {}
