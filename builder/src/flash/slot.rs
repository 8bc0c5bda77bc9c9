//! The record of a slot: the last bytes of a half of a partition, written after its image.

/// Bytes of a record.
pub const RECORD_LEN: usize = 128;

const MAGIC: [u8; 8] = *b"HPANSLOT";

/// Magic, sequence, length and CRC-32 of the image; zeros; the CRC-32 of all that. Numbers are little-endian.
pub fn record(image: &[u8], sequence: u32) -> [u8; RECORD_LEN] {
    let mut record = [0; RECORD_LEN];
    let mut put = |at: usize, bytes: &[u8]| record[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &MAGIC);
    put(8, &sequence.to_le_bytes());
    put(12, &(image.len() as u32).to_le_bytes());
    put(16, &crc32fast::hash(image).to_le_bytes());
    let crc = crc32fast::hash(&record[..RECORD_LEN - 4]);
    record[RECORD_LEN - 4..].copy_from_slice(&crc.to_le_bytes());
    record
}
