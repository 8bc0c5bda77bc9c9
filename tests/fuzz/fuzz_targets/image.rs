//! Any bytes as an image, their checksums as found, then mended: all that can be asked ends without a panic, and all
//! but cursors agree, cursors too if the image verifies. `tests/fuzz.sh SECONDS` makes seeds and runs.
#![no_main]

use hardpan::{Point, Terrain};
use libfuzzer_sys::fuzz_target;
use verification::bytes::{Aligned, exercise, extreme_points, mend_all, mend_head};

/// Places within the stated bounds, by the last bytes (an image ends where its head says, so they may lie behind it),
/// and a few far from any ground.
fn places(image: &[u8]) -> Vec<Point> {
    let (low, high, origin) = Terrain::open(image)
        .map_or_else(|_| Default::default(), |t| (t.header().min, t.header().max, t.header().origin));
    let at = |k: usize, share: &[u8]| {
        let share = i64::from(u16::from_le_bytes([share[2 * k], share[2 * k + 1]]));
        let (low, high) = (i64::from(low[k]), i64::from(high[k]));
        ((origin[k] + low) << 8).wrapping_add(((high - low) * share) >> 8)
    };
    let within = image[image.len().saturating_sub(48)..].chunks_exact(6).map(|c| Point {
        x: at(0, c),
        y: at(1, c),
        z: at(2, c),
    });
    within.chain(extreme_points().into_iter().step_by(67)).collect()
}

fuzz_target!(|data: &[u8]| {
    let mut image = Aligned::new(data);
    for mend in [|_: &mut [u8]| (), mend_head, mend_all] {
        mend(&mut image);
        exercise(&image, &places(&image));
    }
});
