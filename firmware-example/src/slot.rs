//! The two slots of a partition: halves, each with an image and, in its last 128 bytes, a record of it, which is
//! written last. `hardpan flash --slot` writes them.

use hardpan::heapless::Vec;

const RECORD: usize = 128;
const MAGIC: &[u8] = b"HPANSLOT";

/// Bytes that may hold an image.
pub struct Candidate {
    pub name: &'static str,
    pub bytes: &'static [u8],
}

enum Record {
    Absent,
    Damaged,
    Sound { sequence: u32, len: usize },
}

/// CRC-32, bit by bit: it is of 124 bytes.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    })
}

fn record(half: &[u8]) -> Record {
    let Some((image, record)) = half.split_last_chunk::<RECORD>() else { return Record::Absent };
    let word = |at: usize| {
        let bytes = record.get(at..).and_then(|rest| rest.first_chunk::<4>());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    };
    let (Some(head), Some(summed)) = (record.get(..MAGIC.len()), record.get(..RECORD - 4)) else {
        return Record::Absent;
    };
    let (sequence, len) = (word(8), word(12) as usize);
    match head == MAGIC {
        false => Record::Absent,
        true if crc(summed) == word(RECORD - 4) && len <= image.len() => Record::Sound { sequence, len },
        true => Record::Damaged,
    }
}

/// What to try, the best first: sound slots by their sequence, of equal ones a. A partition without any record is one
/// image.
pub fn candidates(flash: &'static [u8]) -> Vec<Candidate, 2> {
    let (a, b) = flash.split_at_checked(flash.len() / 2).unwrap_or((flash, &[]));
    let records = [record(a), record(b)];
    let mut all = Vec::new();
    if matches!(records, [Record::Absent, Record::Absent]) {
        _ = all.push(Candidate { name: "image", bytes: flash });
        return all;
    }
    let mut sequences: [Option<u32>; 2] = [None; 2];
    for ((name, record), sequence) in ["slot a", "slot b"].into_iter().zip(&records).zip(&mut sequences) {
        match record {
            Record::Absent => say!("{name}: no record"),
            Record::Damaged => say!("{name}: its record is damaged"),
            Record::Sound { sequence: number, .. } => {
                say!("{name}: sequence {number}");
                *sequence = Some(*number);
            }
        }
    }
    let slot = |name, half: &'static [u8], record: &Record| match record {
        Record::Sound { len, .. } => half.get(..*len).map(|bytes| Candidate { name, bytes }),
        _ => None,
    };
    let [of_a, of_b] = records;
    let (a, b) = (slot("slot a", a, &of_a), slot("slot b", b, &of_b));
    let b_first = sequences[1] > sequences[0];
    for candidate in if b_first { [b, a] } else { [a, b] }.into_iter().flatten() {
        _ = all.push(candidate);
    }
    all
}
