//! An image in memory, aligned as the kernel needs it.

use memmap2::MmapMut;
use std::{fs::File, io, io::Read, ops::Deref, path::Path};

/// The bytes of an image, at the start of a page of memory.
///
/// Linux is asked for large pages: a query far from the last one waits for the page table too.
pub struct Image {
    memory: MmapMut,
    len: usize,
}

impl Image {
    /// Zeros.
    pub(crate) fn zeroed(len: usize) -> io::Result<Self> {
        let memory = MmapMut::map_anon(len.max(1))?;
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage); // a system without them refuses, and nothing is lost
        Ok(Image { memory, len })
    }

    /// An aligned copy of bytes.
    pub fn copy_of(bytes: &[u8]) -> io::Result<Self> {
        let mut image = Self::zeroed(bytes.len())?;
        image.bytes_mut().copy_from_slice(bytes);
        Ok(image)
    }

    /// Reads a whole file.
    pub fn read(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let len = file.metadata()?.len();
        let len = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let mut image = Self::zeroed(len)?;
        file.read_exact(image.bytes_mut())?;
        Ok(image)
    }

    /// The bytes, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[..self.len]
    }
}

impl Deref for Image {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[..self.len]
    }
}
