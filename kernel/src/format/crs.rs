//! Where on earth an image lies: its coordinate reference system.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The record of section `CRS`; behind it stand, in UTF-8, the name of the plane system, that of its datum, and that of
/// the heights.
///
/// Easting and northing of a place are its x and y less `shift`, and its height in the vertical system is z less that
/// of `shift`.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Crs {
    /// How easting and northing follow from longitude and latitude: one of the methods.
    pub method: u32,
    /// EPSG code of the plane system; zero if it has none.
    pub code: u32,
    /// EPSG code of the vertical system; zero if it has none, or is not known.
    pub vertical_code: u32,
    /// Who stated the plane system: one of [`says`](Self::says).
    pub says: u8,
    /// Who stated the vertical system: the same.
    pub vertical_says: u8,
    /// Bytes of the name of the plane system.
    pub name_len: u16,
    /// Bytes of the name of its datum.
    pub datum_len: u16,
    /// Bytes of the name of the vertical system; without one it is unknown.
    pub vertical_len: u16,
    /// Zero.
    pub reserved0: u32,
    /// Equatorial radius of the ellipsoid, metres; zero if it is not known.
    pub radius: f64,
    /// 1 / flattening; zero of a sphere.
    pub inverse_flattening: f64,
    /// Longitude of the projection's zero, degrees.
    pub longitude: f64,
    /// Latitude of the projection's zero, degrees.
    pub latitude: f64,
    /// Scale on the central meridian.
    pub scale: f64,
    /// Easting and northing of the projection's zero, metres.
    pub zero: [f64; 2],
    /// Way by which places were moved, metres.
    pub shift: [f64; 3],
    /// Zero.
    pub reserved1: [u64; 3],
}

impl Crs {
    /// [`Crs::method`]: nobody knows, or it is another one than these; there is no way to longitude and latitude.
    pub const UNKNOWN: u32 = 0;
    /// [`Crs::method`]: transverse Mercator.
    pub const TRANSVERSE_MERCATOR: u32 = 1;
    /// [`Crs::says`]: nobody.
    pub const NOBODY: u8 = 0;
    /// [`Crs::says`]: a file that the image was built from.
    pub const FILE: u8 = 1;
    /// [`Crs::says`]: the user.
    pub const USER: u8 = 2;
    /// [`Crs::says`]: the builder, about the middle of the files.
    pub const BUILDER: u8 = 3;

    /// Whether a record can be: numbers are numbers, and what is reserved is zero.
    pub fn is_sane(&self) -> bool {
        let Crs { radius, inverse_flattening, longitude, latitude, scale, zero: [e, n], shift: [x, y, z], .. } = *self;
        let all = [radius, inverse_flattening, longitude, latitude, scale, e, n, x, y, z];
        let projects = self.method == Self::TRANSVERSE_MERCATOR;
        all.iter().all(|v| v.is_finite())
            && (!projects || radius > 0.0 && scale > 0.0)
            && self.method <= Self::TRANSVERSE_MERCATOR
            && self.says <= Self::BUILDER
            && self.vertical_says <= Self::USER
            && self.reserved0 == 0
            && self.reserved1 == [0; 3]
    }
}

const _: () = {
    assert!(size_of::<Crs>() == 128);
};
