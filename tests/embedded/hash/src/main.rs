//! `hash DIR NAME` prints the hashes of the answers to DIR/NAME.queries on DIR/NAME.hpan, as the boards do.

use hardpan::Terrain;
use probe::{KINDS, Queries};
use std::{env, fs, path::Path};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// Memory that is aligned as an image needs it.
#[derive(Clone, FromBytes, IntoBytes, Immutable)]
#[repr(C, align(128))]
struct Block([u8; 128]);

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let [dir, name] = &args[..] else { panic!("hash DIR NAME") };
    let read = |extension| fs::read(Path::new(dir).join(name).with_extension(extension)).unwrap();
    let (bytes, queries) = (read("hpan"), read("queries"));
    let mut blocks = vec![Block::new_zeroed(); bytes.len().div_ceil(128)];
    let image = &mut blocks.as_mut_bytes()[..bytes.len()];
    image.copy_from_slice(&bytes);
    let (terrain, queries) = (Terrain::open(image).unwrap(), Queries::read(&queries).unwrap());
    assert!(probe::opens_only(image));
    for (kind, name) in KINDS.iter().enumerate() {
        println!("hash {name} {:016x}", probe::hash(&terrain, &queries, kind));
    }
}
