//! Exports for a WebAssembly host, which copies the two blobs in and asks for the hashes.

use super::{Queries, hash, opens_only};
use hardpan::Terrain;

const ROOM: usize = 4 << 20;

#[repr(align(128))]
struct Room(#[expect(dead_code, reason = "only its address is used")] [u8; ROOM]);

static mut IMAGE: Room = Room([0; ROOM]);
static mut QUERIES: Room = Room([0; ROOM]);

#[unsafe(no_mangle)]
extern "C" fn image() -> *mut u8 {
    &raw mut IMAGE as *mut u8
}

#[unsafe(no_mangle)]
extern "C" fn queries() -> *mut u8 {
    &raw mut QUERIES as *mut u8
}

/// The hash of one kind, or 0 for a bad image.
#[unsafe(no_mangle)]
extern "C" fn hash_of(kind: usize) -> u64 {
    // SAFETY: one thread, and the host writes only between calls.
    let [image, queries] = [image(), queries()].map(|p| unsafe { core::slice::from_raw_parts(p as *const u8, ROOM) });
    let Some(queries) = Queries::read(queries) else { return 0 };
    let image = &image[..queries.image_len];
    match Terrain::open(image) {
        Ok(terrain) if opens_only(image) => hash(&terrain, &queries, kind),
        _ => 0,
    }
}
