//! An image in memory, aligned as the kernel needs it.

use std::{fs::File, io, io::Read, ops::Deref, path::Path};
use zerocopy::{FromZeros, IntoBytes};

#[derive(Clone, Copy, zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)]
#[repr(C, align(128))]
struct Line([u8; hardpan::format::ALIGN]);

/// The bytes of an image, starting at a multiple of 128.
pub struct Image {
    lines: Vec<Line>,
    len: usize,
}

impl Image {
    /// Zeros.
    pub(crate) fn zeroed(len: usize) -> Self {
        let lines = vec![Line::new_zeroed(); len.div_ceil(size_of::<Line>())];
        Image { lines, len }
    }

    /// An aligned copy of bytes.
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut image = Self::zeroed(bytes.len());
        image.bytes_mut().copy_from_slice(bytes);
        image
    }

    /// Reads a whole file.
    pub fn read(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let len = file.metadata()?.len();
        let len = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let mut image = Self::zeroed(len);
        file.read_exact(image.bytes_mut())?;
        Ok(image)
    }

    /// The bytes, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.lines.as_mut_slice().as_mut_bytes()[..self.len]
    }
}

impl Deref for Image {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.lines.as_bytes()[..self.len]
    }
}
