//! An image in memory, aligned as the kernel needs it.

use crate::util::mmap;
use hardpan::format::MAGIC;
use memmap2::{Mmap, MmapMut};
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

    /// Reads a whole file, or all that a pipe gives; of a pipe that gives no image only the start.
    pub fn read(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::read_from(File::open(path)?)
    }

    fn read_from(mut file: File) -> io::Result<Self> {
        let data = file.metadata()?;
        if !data.is_file() || data.len() == 0 {
            let mut bytes = Vec::new();
            file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut bytes)?;
            if bytes == MAGIC {
                file.read_to_end(&mut bytes)?;
            }
            return Self::copy_of(&bytes);
        }
        let len = usize::try_from(data.len()).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
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

/// An image file, open for queries: mapped, so that it may be larger than memory; what cannot be mapped, such as a
/// pipe, is read as a whole.
///
/// While it is open the file must neither be written to nor shortened; a mapped file that is cut short ends the
/// program. To replace an image, write another file and rename it.
pub enum ImageFile {
    /// A regular file.
    Mapped(Mmap),
    /// Anything else.
    Read(Image),
}

impl ImageFile {
    /// Opens a file. Its bytes are not checked.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = File::open(path)?;
        let data = file.metadata()?;
        match mmap::file(&file) {
            Ok(map) if data.is_file() && data.len() > 0 => Ok(Self::Mapped(map)),
            // no file system must offer maps
            _ => Image::read_from(file).map(Self::Read),
        }
    }
}

impl Deref for ImageFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Read(image) => image,
        }
    }
}
