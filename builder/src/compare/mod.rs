//! Differences of two images, and of an image from points of another tool.
//!
//! ```
//! use hardpan_builder::{Options, build, compare, demo::fixtures};
//!
//! let scene = fixtures::bridge();
//! let mut raised = scene.clone();
//! let corner = raised.positions.iter_mut().find(|p| **p == [5.0, 50.0, 6.0]).unwrap();
//! corner[2] = 6.25;
//! let images = [&scene, &raised].map(|scene| build(scene, &Options::default()).unwrap().image);
//! let [old, new] = [0, 1].map(|i| hardpan::Terrain::open(&images[i]).unwrap());
//!
//! let difference = compare::images(&old, &new, &compare::Options::default()).unwrap();
//! let largest = difference.ground.unwrap().largest.unwrap();
//! assert_eq!((largest.at, largest.from, largest.to), ([5.0, 50.0], 6.0, 6.25));
//! ```
//!
//! [`Comparison`] takes points.

mod edges;
mod facts;
mod ground;
mod pairs;
mod places;
mod points;

pub use self::{
    edges::{Found, MAX_CROSSINGS},
    facts::{Fact, FirstByte, Materials, Property, Sources},
    ground::{Count, Counts, Ground, Largest, MaterialChange, Seen, Watch},
    pairs::{Kind, Kinds},
    places::TooMany,
    points::{Compared, Comparison, Differences, Met, Off, Point, SHARES, WORST},
};

use crate::util::text::hex;
use hardpan::Terrain;
use serde::Serialize;

/// How two images are compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Heights that differ by at most this count as equal, metres. Without it every change counts, and
    /// [`Difference::alike`] is `None`.
    pub tolerance: Option<f64>,
    /// Side of the squares by which areas are counted, metres; without it 1/500 of the longer side.
    pub grid: Option<f64>,
}

/// The differences of two images.
#[derive(Debug, Serialize)]
pub struct Difference {
    /// Whether identity and content are the same.
    pub equal: bool,
    /// Whether they are alike within the tolerance, if there is one.
    pub alike: Option<bool>,
    /// In hexadecimal digits.
    pub identity: [String; 2],
    /// Facts that differ.
    pub facts: Vec<Fact>,
    pub sources: Sources,
    pub materials: Materials,
    pub first_byte: Option<FirstByte>,
    /// None if they are equal.
    pub ground: Option<Ground>,
}

/// Compares two verified images.
pub fn images(first: &Terrain, second: &Terrain, options: &Options) -> Result<Difference, TooMany> {
    watched(first, second, options, None)
}

/// Compares two verified images, also at the places of `watch`, which sees what lies at every place.
pub fn watched(
    first: &Terrain,
    second: &Terrain,
    options: &Options,
    watch: Option<&dyn Watch>,
) -> Result<Difference, TooMany> {
    let equal = first.identity() == second.identity() && facts::content_of(first).eq(facts::content_of(second));
    let ground = (!equal).then(|| ground::ground([first, second], options, watch)).transpose()?;
    let mut difference = Difference {
        equal,
        alike: None,
        identity: [first, second].map(|t| hex(&t.identity())),
        facts: facts::facts(first, second),
        sources: facts::sources(first, second),
        materials: facts::materials(first, second),
        first_byte: facts::first_byte(first, second),
        ground,
    };
    difference.alike = options.tolerance.map(|_| difference.has_same_ground());
    Ok(difference)
}

impl Difference {
    /// Whether nothing differs on the ground, but heights within the tolerance.
    fn has_same_ground(&self) -> bool {
        let same = self.ground.as_ref().is_some_and(Ground::same);
        self.equal || same && self.materials.same() && !self.facts.iter().any(|fact| fact.decides_answers())
    }
}
