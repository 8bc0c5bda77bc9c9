//! A height field, found once: for the innermost loop of a small controller.

use crate::format::{Attribute, FRACTION, Patch};
use crate::hit::Normal;
use crate::index::Leaf;
use crate::open::Terrain;
use crate::point::Point;

/// A height field on the square around one place, where it is the only ground.
///
/// [`Terrain::closest`] walks the index for each place. A `Field` keeps the end of that walk, so each height costs a
/// third of the instructions. Inside the square its heights and normals have the bits of [`Terrain::closest`]. Outside
/// it, and where the field has no height, it has no answer: ask [`Terrain::closest`], and [`Terrain::field`] again.
///
/// ```
/// use hardpan::{Field, Point, Terrain};
///
/// /// The height at a place, by the field that the last place had.
/// fn height<'a>(terrain: &Terrain<'a>, field: &mut Option<Field<'a>>, p: Point) -> Option<i64> {
///     if let Some(z) = field.as_ref().and_then(|field| field.height(p)) {
///         return Some(z);
///     }
///     *field = terrain.field(p);
///     let answer = terrain.closest(p);
///     answer.found().then_some(answer.hit.z)
/// }
/// # let image = hardpan::include_image!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/bridge.hpan"));
/// # let terrain = Terrain::open(image).unwrap();
/// # assert!(height(&terrain, &mut None, terrain.point([0.0, 0.0, 5.0]).unwrap()).is_some());
/// ```
#[derive(Clone, Copy)]
pub struct Field<'a> {
    terrain: Terrain<'a>,
    patch: &'a Patch,
    attribute: Attribute,
    /// The tile's first word.
    tile: usize,
    /// The field's first post, in query steps from the frame's zero.
    from: [i64; 2],
    /// Low corner of the square, in query steps from there.
    low: [i64; 2],
    /// Query steps of a side.
    size: [u64; 2],
}

/// The ground of a field at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldGround {
    /// Height in 2^-8 of the height step, from the source frame's zero.
    pub z: i64,
    /// The normal, in lattice units.
    pub normal: Normal,
}

impl<'a> Terrain<'a> {
    /// The field around a place; `None` where anything else is ground too, and where there is no field. The height of
    /// `p` does not matter.
    pub fn field(&self, p: Point) -> Option<Field<'a>> {
        let place = self.place(p)?;
        let leaf = self.locate(place, &mut ()).ok()?;
        if leaf.cell != Leaf::PATCH {
            return None;
        }
        let (patch, node) = (self.patch(leaf.at)?, self.node(leaf.node)?);
        let attribute = self.attribute(leaf.tile, patch.attribute);
        let log2 = node.entry_log2.map(|log2| u32::from(log2) & 31);
        let corner = |v: i32, log2: u32, from: i64| (i64::from(v >> log2 << log2) << FRACTION).wrapping_sub(from);
        let low = [corner(place.x, log2[0], patch.from(0)), corner(place.y, log2[1], patch.from(1))];
        let from = self.first_post(patch);
        let size = log2.map(|log2| 1 << (log2.wrapping_add(FRACTION) & 63));
        Some(Field { terrain: *self, patch, attribute, tile: leaf.tile, from, low, size })
    }
}

impl Field<'_> {
    /// Height at a place, in 2^-8 of the height step from the source frame's zero.
    #[inline(always)]
    pub fn height(&self, p: Point) -> Option<i64> {
        self.ground(p).map(|ground| ground.z)
    }

    /// Height and normal at a place. The height of `p` does not matter.
    #[inline(always)]
    pub fn ground(&self, p: Point) -> Option<FieldGround> {
        let d = [p.x.wrapping_sub(self.from[0]), p.y.wrapping_sub(self.from[1])];
        let [x, y] = [d[0].wrapping_sub(self.low[0]), d[1].wrapping_sub(self.low[1])];
        if x as u64 >= self.size[0] || y as u64 >= self.size[1] {
            return None;
        }
        let found = self.terrain.patch_over(self.tile, self.patch, d, &mut ()).ok()??;
        Some(FieldGround { z: found.z.wrapping_add(self.terrain.zero_z()), normal: found.normal })
    }

    /// Index of its material.
    pub fn material(&self) -> u16 {
        self.attribute.material
    }

    /// Index of its source.
    pub fn source(&self) -> u16 {
        self.attribute.source
    }
}
