//! Mistakes of a program, and damaged images: an error code each, never a crash.

use super::*;
use hardpan::{Terrain, VerifyError, format::section};
use hardpan_builder::demo::fixtures;
use verification::bytes::Aligned;

/// Steps of a proof as the program takes them.
fn steps(terrain: &Terrain, bitmap: &mut [u8]) -> usize {
    let mut verifier = terrain.verifier();
    assert_eq!(verifier.step(0, bitmap), Ok(false));
    let mut count = 2;
    while verifier.step(256, bitmap) == Ok(false) {
        count += 1;
    }
    count
}

#[test]
fn by_18_bad_input_through_c_is_an_error_and_no_crash() {
    let (image, path) = image("bad", &fixtures::flat());
    let terrain = Terrain::open(&image).unwrap();
    // a bit of the tile that has (20, 20)
    let place = terrain.closest([20.0, 20.0, 5.0]).hit.place[0] as usize * 128;
    let tiles = terrain.section(section::TILES).unwrap();
    let at = tiles.as_ptr() as usize - image.as_ptr() as usize + place + 200;
    let mut broken = Aligned::new(&image);
    broken[at] ^= 16;
    let broken_path = path.with_extension("broken");
    fs::write(&broken_path, &broken[..]).unwrap();
    let damaged = Terrain::open(&broken).unwrap();
    let Err(hardpan::OpenError::Content(VerifyError::TileDamaged(tile))) = Terrain::open_verified(&broken) else {
        panic!("the tile is not damaged")
    };
    let wanted = format!("{}\n{}\n", steps(&terrain, &mut []), steps(&damaged, &mut [0; 16]));
    let number = tile.to_string();
    let got = run(&compile("bad", &source("bad.c"), &[]), &[&path, &broken_path, Path::new(&number)], &[]);
    assert_eq!(got, wanted);
}
