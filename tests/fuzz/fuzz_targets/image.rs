//! Arbitrary bytes as an image, its head's checksum mended: everything that can be asked must end without a panic.
#![no_main]

use hardpan::Point;
use libfuzzer_sys::fuzz_target;
use verification::bytes::{Aligned, exercise, extreme_points, mend_head};

fuzz_target!(|data: &[u8]| {
    // The last bytes choose where to ask.
    let (image, places) = data.split_at(data.len().saturating_sub(24 * 4));
    let mut points: Vec<Point> = places
        .chunks_exact(24)
        .map(|c| {
            let at = |k: usize| c[8 * k..8 * k + 8].iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b));
            Point { x: at(0) >> 20, y: at(1) >> 20, z: at(2) >> 16 }
        })
        .collect();
    points.extend(extreme_points().into_iter().step_by(37));
    let mut image = Aligned::new(image);
    exercise(&image, &points);
    mend_head(&mut image);
    exercise(&image, &points);
});
