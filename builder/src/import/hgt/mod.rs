//! SRTM tiles: heights in whole metres at the posts of one degree, named after the south-western one.

use super::ImportError;
use super::heights::{Affine, HeightGrid, Plane, damaged};
use std::path::Path;

/// What stands for no height.
const VOID: i16 = -32_768;
/// Posts along a side: of three arc seconds, and of one.
const SIDES: [usize; 2] = [1201, 3601];
/// Bytes of the largest tile.
pub const MAX_BYTES: u64 = 2 * 3601 * 3601;

/// The longitude and latitude in a name as `N48W125.hgt`.
fn corner(name: &str) -> Option<[f64; 2]> {
    let name = name.to_ascii_uppercase();
    let (north, rest) = name.split_at_checked(1)?;
    let (latitude, rest) = rest.split_at_checked(2)?;
    let (east, rest) = rest.split_at_checked(1)?;
    let longitude = rest.get(..3)?;
    let number = |digits: &str, most: u32| {
        let number = digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse::<u32>().ok())??;
        (number <= most).then_some(f64::from(number))
    };
    let latitude = number(latitude, 90)? * if north == "N" { 1.0 } else { -1.0 };
    let longitude = number(longitude, 180)? * if east == "E" { 1.0 } else { -1.0 };
    (matches!(north, "N" | "S") && matches!(east, "E" | "W")).then_some([longitude, latitude])
}

/// Reads the bytes of a tile of this name.
pub fn read(bytes: &[u8], name: &str, path: &Path) -> Result<HeightGrid, ImportError> {
    let Some(side) = SIDES.into_iter().find(|side| 2 * side * side == bytes.len()) else {
        let lengths = SIDES.map(|side| (2 * side * side).to_string()).join(" or ");
        return Err(damaged(path, format!("a tile of SRTM has {lengths} bytes, and this one has {}", bytes.len())));
    };
    let Some([west, south]) = corner(name) else {
        let cause = format!("the name of a tile says where it lies, as N48W125.hgt, and this one is called {name:?}");
        return Err(ImportError::input(path, cause, "give it the name that it came with"));
    };
    let heights = bytes.chunks_exact(2).map(|b| i16::from_be_bytes([b[0], b[1]]));
    let heights = heights.map(f64::from).collect();
    let pitch = 1.0 / (side - 1) as f64;
    Ok(HeightGrid {
        format: "hgt",
        columns: side,
        rows: side,
        heights,
        place: Some(Affine::north_up([west, south + 1.0], [pitch; 2])),
        plane: Plane::Code(4326),
        void: Some(VOID.into()),
        ..HeightGrid::default()
    })
}
