//! Files as memory: the one place with unsafe code.
#![allow(unsafe_code)]

use memmap2::Mmap;
use std::{fs::File, io};

/// Maps a file that is only read.
///
/// Nothing is read before it is looked at, and the system may drop what was read and read it again, so a file may be
/// larger than memory. In return nobody may shorten the file meanwhile: on Unix the system would end the program with
/// SIGBUS. Nor should anybody write to it: what was checked would no longer be what is there. Hardpan itself only ever
/// replaces an image by renaming a whole new one over it, which leaves an open one as it is.
pub fn file(file: &File) -> io::Result<Mmap> {
    // SAFETY: the map is only read, as bytes of which every value is valid, through the bounds-checked slice of its
    // length. A file that changes while it is mapped breaks the promise of a shared slice that its bytes stay; see
    // above for who could do so, and what is done against it: `hardpan` writes no file in place.
    unsafe { Mmap::map(file) }
}
