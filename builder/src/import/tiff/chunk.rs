//! Strips and tiles: unpacked, with the predictor taken back, as numbers.

use flate2::{Decompress, FlushDecompress, Status};
use std::ops::Range;
use weezl::{BitOrder, LzwStatus, decode::Configuration};

/// What a sample is, and how many bytes or bits it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    Packed(u32),
    Unsigned(usize),
    Signed(usize),
    Float(usize),
}

impl Sample {
    /// Bytes of a row of so many.
    pub fn row_bytes(self, samples: usize) -> usize {
        match self {
            Sample::Packed(bits) => (samples * bits as usize).div_ceil(8),
            Sample::Unsigned(size) | Sample::Signed(size) | Sample::Float(size) => samples * size,
        }
    }

    fn size(self) -> Option<usize> {
        match self {
            Sample::Packed(_) => None,
            Sample::Unsigned(size) | Sample::Signed(size) | Sample::Float(size) => Some(size),
        }
    }

    /// The numbers of a band in a row. `native`: the bytes are little-endian by now; `big`: else they are big-endian.
    pub fn values(self, row: &[u8], native: bool, big: bool, band: usize, bands: usize, to: &mut [f64]) {
        if let Sample::Packed(bits) = self {
            for (i, to) in to.iter_mut().enumerate() {
                let at = (i * bands + band) * bits as usize;
                let byte = row.get(at / 8).copied().unwrap_or(0);
                *to = f64::from(byte >> (8 - bits as usize - at % 8) & ((1u16 << bits) - 1) as u8);
            }
            return;
        }
        let size = self.size().unwrap_or(1);
        let big = big && !native;
        for (own, to) in row.chunks_exact(size).skip(band).step_by(bands).zip(to) {
            let mut bytes = [0u8; 8];
            bytes[..size].copy_from_slice(own);
            if big {
                bytes[..size].reverse();
            }
            let bits = u64::from_le_bytes(bytes);
            *to = match self {
                Sample::Float(4) => f64::from(f32::from_bits(bits as u32)),
                Sample::Float(_) => f64::from_bits(bits),
                Sample::Signed(size) => (((bits << (64 - 8 * size)) as i64) >> (64 - 8 * size)) as f64,
                _ => bits as f64,
            };
        }
    }
}

/// How an image stands in its file.
pub struct Layout {
    pub columns: usize,
    pub rows: usize,
    pub bands: usize,
    pub sample: Sample,
    /// Columns and rows of a strip or tile.
    pub chunk: [usize; 2],
    pub is_tiled: bool,
    pub compression: u64,
    pub predictor: u64,
    /// Bands stand one behind the other.
    pub planar: bool,
    pub offsets: Vec<u64>,
    pub counts: Vec<u64>,
    /// Big-endian.
    pub big: bool,
}

impl Layout {
    /// A part of the image without its borders of empty strips or tiles; none if it has no others.
    pub fn with_data(&self, part: [Range<usize>; 2]) -> Option<[Range<usize>; 2]> {
        let [width, height] = self.chunk;
        let across = self.columns.div_ceil(width);
        let down = self.rows.div_ceil(height);
        let shared = |own: Range<usize>, part: &Range<usize>| own.start.max(part.start)..own.end.min(part.end);
        let has_data = self.counts.iter().take(across * down).enumerate().filter(|(_, count)| **count != 0);
        let places = has_data.filter_map(|(number, _)| {
            let (i, j) = (number % across, number / across);
            let x = shared(i * width..(i + 1) * width, &part[0]);
            let y = shared(j * height..(j + 1) * height, &part[1]);
            (!x.is_empty() && !y.is_empty()).then_some([x, y])
        });
        let wider = |a: Range<usize>, b: Range<usize>| a.start.min(b.start)..a.end.max(b.end);
        places.reduce(|[a, b], [c, d]| [wider(a, c), wider(b, d)]).filter(|all| all.iter().all(|r| r.len() > 1))
    }

    /// Whether taking back the predictor leaves little-endian numbers.
    pub fn is_native(&self) -> bool {
        self.predictor != 1
    }
}

/// Why a strip or tile cannot be unpacked.
pub enum Fault {
    /// The method is not known.
    Method,
    /// It ends after so many bytes.
    Short(usize),
    Broken(String),
}

/// Unpacks bytes until there are enough.
pub fn decode(method: u64, from: &[u8], to: &mut [u8]) -> Result<(), Fault> {
    let found = match method {
        1 => {
            let found = from.len().min(to.len());
            to[..found].copy_from_slice(&from[..found]);
            found
        }
        5 => lzw(from, to)?,
        8 | 32_946 => inflate(from, to)?,
        32_773 => packbits(from, to),
        _ => return Err(Fault::Method),
    };
    if found < to.len() { Err(Fault::Short(found)) } else { Ok(()) }
}

/// Writers may leave out the end code: what counts is that there is enough.
fn lzw(from: &[u8], to: &mut [u8]) -> Result<usize, Fault> {
    let mut decoder = Configuration::with_tiff_size_switch(BitOrder::Msb, 8).build();
    let (mut read, mut written) = (0, 0);
    while written < to.len() {
        let step = decoder.decode_bytes(&from[read..], &mut to[written..]);
        (read, written) = (read + step.consumed_in, written + step.consumed_out);
        match step.status {
            Ok(LzwStatus::Ok) if step.consumed_in + step.consumed_out > 0 => {}
            Ok(_) => break,
            Err(e) => return Err(Fault::Broken(e.to_string())),
        }
    }
    Ok(written)
}

fn inflate(from: &[u8], to: &mut [u8]) -> Result<usize, Fault> {
    let mut decoder = Decompress::new(true);
    loop {
        let (read, written) = (decoder.total_in() as usize, decoder.total_out() as usize);
        if written == to.len() {
            return Ok(written);
        }
        let status = decoder.decompress(&from[read..], &mut to[written..], FlushDecompress::Finish);
        let moved = decoder.total_out() as usize > written || decoder.total_in() as usize > read;
        match status {
            Ok(Status::Ok | Status::BufError) if moved => {}
            Ok(_) => return Ok(decoder.total_out() as usize),
            Err(e) => return Err(Fault::Broken(e.to_string())),
        }
    }
}

fn packbits(from: &[u8], to: &mut [u8]) -> usize {
    let (mut at, mut end) = (0, 0);
    while let Some(&head) = from.get(at).filter(|_| end < to.len()) {
        at += 1;
        match head as i8 {
            -128 => {}
            count @ 0.. => {
                let own = &from[at..(at + count as usize + 1).min(from.len())];
                let fits = own.len().min(to.len() - end);
                to[end..end + fits].copy_from_slice(&own[..fits]);
                (at, end) = (at + own.len(), end + fits);
                if own.len() < count as usize + 1 {
                    break;
                }
            }
            count => {
                let Some(&byte) = from.get(at) else { break };
                let fits = (1 - isize::from(count)) as usize;
                let fits = fits.min(to.len() - end);
                to[end..end + fits].fill(byte);
                (at, end) = (at + 1, end + fits);
            }
        }
    }
    end
}

/// Takes back what a predictor did to the rows of a strip or tile; says whether it is known. Numbers are little-endian
/// then.
pub fn unpredict(layout: &Layout, chunk: &mut [u8], row_bytes: usize, bands: usize) -> bool {
    match (layout.predictor, layout.sample) {
        (1, _) => true,
        (2, sample) => {
            let (Some(size), false) = (sample.size(), matches!(sample, Sample::Packed(_))) else { return false };
            for row in chunk.chunks_exact_mut(row_bytes) {
                if layout.big {
                    row.chunks_exact_mut(size).for_each(<[u8]>::reverse);
                }
                let step = size * bands;
                for i in (step..row.len()).step_by(size) {
                    let mut numbers = [[0u8; 8]; 2];
                    numbers[0][..size].copy_from_slice(&row[i - step..][..size]);
                    numbers[1][..size].copy_from_slice(&row[i..][..size]);
                    let [before, own] = numbers.map(u64::from_le_bytes);
                    row[i..i + size].copy_from_slice(&before.wrapping_add(own).to_le_bytes()[..size]);
                }
            }
            true
        }
        (3, Sample::Float(size)) => {
            let mut plain = vec![0u8; row_bytes];
            for row in chunk.chunks_exact_mut(row_bytes) {
                for i in bands..row.len() {
                    row[i] = row[i].wrapping_add(row[i - bands]);
                }
                // the most significant bytes of all numbers come first
                let count = row_bytes / size;
                for (i, number) in plain.chunks_exact_mut(size).enumerate() {
                    number.iter_mut().enumerate().for_each(|(k, byte)| *byte = row[(size - 1 - k) * count + i]);
                }
                row.copy_from_slice(&plain);
            }
            true
        }
        _ => false,
    }
}
