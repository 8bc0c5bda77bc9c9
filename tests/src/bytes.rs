//! Bytes that are not what a builder wrote, and everything that can be asked of them.

use hardpan::{
    Answer, Cost, Cursor, Hit, Options, Point, Ray, RayOptions, RayStatus, Status, Terrain, Windows, format,
};
use std::ops::{Deref, DerefMut};

/// Bytes at a multiple of 128, as images lie.
pub struct Aligned {
    store: Vec<u8>,
    from: usize,
    len: usize,
}

impl Aligned {
    pub fn new(bytes: &[u8]) -> Aligned {
        let store = vec![0; bytes.len() + format::ALIGN];
        let from = store.as_ptr().align_offset(format::ALIGN);
        let mut aligned = Aligned { store, from, len: bytes.len() };
        aligned.copy_from_slice(bytes);
        aligned
    }
}

impl Deref for Aligned {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.store[self.from..self.from + self.len]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.store[self.from..self.from + self.len]
    }
}

/// Makes the head's checksum right again, so that what is wrong in the head is looked at.
pub fn mend_head(image: &mut [u8]) {
    if image.len() >= format::HEAD_LEN {
        image[format::HEAD_CRC].fill(0);
        let crc = crc32(&image[..format::HEAD_LEN]);
        image[format::HEAD_CRC].copy_from_slice(&crc.to_le_bytes());
    }
}

/// Makes every checksum right again, of tiles, sections and head, so that what they guard is looked at.
pub fn mend_all(image: &mut [u8]) {
    if image.len() < format::HEAD_LEN {
        return;
    }
    let number = |bytes: &[u8], at: usize| -> Option<usize> {
        Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?) as usize)
    };
    let body = |bytes: &[u8], at: usize, len: usize| Some(at..at.checked_add(len)?).filter(|r| r.end <= bytes.len());
    let section = |bytes: &[u8], k: usize| -> Option<(usize, u32, std::ops::Range<usize>)> {
        let at = format::SECTION_TABLE + 64 * k;
        let kind = number(bytes, at)? as u32;
        Some((at, kind, body(bytes, number(bytes, at + 8)?, number(bytes, at + 16)?)?))
    };
    let find = |bytes: &[u8], kind| (0..format::SECTIONS).filter_map(|k| section(bytes, k)).find(|s| s.1 == kind);
    if let (Some((_, _, table)), Some((_, _, tiles))) =
        (find(image, format::section::TILE_TABLE), find(image, format::section::TILES))
    {
        for record in table.step_by(64) {
            let (Some(at), Some(len)) = (number(image, record), number(image, record + 8)) else { continue };
            if let Some(tile) = tiles.start.checked_add(at).and_then(|at| body(image, at, len))
                && record + 20 <= image.len()
            {
                let crc = crc32(&image[tile]);
                image[record + 16..record + 20].copy_from_slice(&crc.to_le_bytes());
            }
        }
    }
    for k in 0..format::SECTIONS {
        if let Some((at, kind, body)) = section(image, k)
            && kind != format::section::TILES
            && kind != 0
        {
            let crc = crc32(&image[body]);
            image[at + 24..at + 28].copy_from_slice(&crc.to_le_bytes());
        }
    }
    mend_head(image);
}

/// The image with one more section behind all others; sums, digest and identity are right.
pub fn with_section(image: &[u8], kind: u32, flags: u32, body: &[u8]) -> Aligned {
    let sha256 = |bytes: &[u8]| -> Vec<u8> {
        let hex = hardpan_builder::Input::digest("", bytes).unwrap().sha256;
        (0..32).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()
    };
    let from = image.len();
    let mut bytes = Aligned::new(&vec![0; (from + body.len()).next_multiple_of(format::ALIGN)]);
    bytes[..from].copy_from_slice(image);
    bytes[from..from + body.len()].copy_from_slice(body);
    let total = bytes.len() as u64;
    bytes[16..24].copy_from_slice(&total.to_le_bytes());
    let kind_at = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let places: Vec<usize> = (0..format::SECTIONS).map(|k| format::SECTION_TABLE + 64 * k).collect();
    let at = *places.iter().find(|at| kind_at(&bytes, **at) == 0).expect("a place is free");
    bytes[at..at + 4].copy_from_slice(&kind.to_le_bytes());
    bytes[at + 4..at + 8].copy_from_slice(&flags.to_le_bytes());
    bytes[at + 8..at + 16].copy_from_slice(&(from as u64).to_le_bytes());
    bytes[at + 16..at + 24].copy_from_slice(&(body.len() as u64).to_le_bytes());
    bytes[at + 32..at + 64].copy_from_slice(&sha256(body));
    let mut identity = bytes[format::CONTENT_HEADER].to_vec();
    for at in places.into_iter().filter(|at| bytes[at + 4] & 2 != 0) {
        identity.extend_from_slice(&bytes[at..at + 4]);
        identity.extend_from_slice(&bytes[at + 32..at + 64]);
    }
    bytes[32..64].copy_from_slice(&sha256(&identity));
    mend_all(&mut bytes);
    bytes
}

/// CRC-32 (ISO-HDLC), a bit at a time.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &b| {
        (0..8).fold(crc ^ u32::from(b), |c: u32, _| (c >> 1) ^ (0xedb8_8320 & (c & 1).wrapping_neg()))
    })
}

/// An answer for slices to start from.
pub const BLANK: Answer = Answer { status: Status::LimitReached, hit: Hit::NONE };

/// Outcome of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opened {
    No,
    Unproven,
    Verified,
}

/// Opens whatever it is given and asks everything of it. If it verifies, its costs and layers must be as it states.
pub fn exercise(bytes: &[u8], points: &[Point]) -> Opened {
    let Ok(terrain) = Terrain::open(bytes) else {
        assert!(Terrain::open_verified(bytes).is_err(), "verified although it does not open");
        return Opened::No;
    };
    let verified = Terrain::open_verified(bytes).is_ok();
    let _ = (terrain.bounds(), terrain.bound(), terrain.max_layers(), terrain.identity(), terrain.bytes().len());
    for m in 0..terrain.materials().len().min(300) as u16 + 1 {
        let _ = (terrain.material_name(m).len(), terrain.source_name(m).len());
    }
    let mut bitmap = vec![0; (terrain.header().tile_count as usize).min(1 << 16) / 8 + 1];
    let mut verifier = terrain.verifier();
    for _ in 0..8 {
        if !matches!(verifier.step(1 << 12, &mut bitmap), Ok(false)) {
            break;
        }
    }
    ask(&terrain, points, verified);
    ask(&terrain.with_damage(&bitmap), &points[..points.len().min(4)], false);
    if verified { Opened::Verified } else { Opened::Unproven }
}

fn ask(terrain: &Terrain<'_>, points: &[Point], verified: bool) {
    for (pair, &other) in points.windows(2).zip(points.iter().rev()) {
        let steps = |p: Point, q: Point| Ray { from: p, to: q };
        // from place to place, and from each a short and a long way
        let p = pair[0];
        let beside = |x: i64, y: i64, z: i64| {
            steps(p, Point { x: p.x.wrapping_add(x), y: p.y.wrapping_add(y), z: p.z.wrapping_add(z) })
        };
        let down = beside(0, 0, -(1 << 30));
        let short = beside(5 << 20, -(3 << 20), -(1 << 24));
        for ray in [steps(p, pair[1]), steps(p, other), down, short, beside(-(1 << 30), 1 << 29, 1)] {
            let options = RayOptions { limit: 4000, ..RayOptions::default() };
            let (answer, _) = terrain.raycast_costed(ray, &options);
            assert!(answer == terrain.raycast(ray, &options), "{ray:?}: {answer:?}");
            assert!(!verified || answer.status != RayStatus::Damaged, "verified, along {ray:?}");
            let next = RayOptions { after: Some(answer.hit.t), front_only: true, classes: 1, ..options };
            let _ = (terrain.raycast(ray, &next), terrain.face_normal_f64(&answer.hit), terrain.metres(answer.hit.at));
        }
        let _ = (terrain.clearance(p).free(), terrain.layers_of(p, 1, &mut [BLANK.hit; 3]).total);
    }
    let mut cursor = Cursor::new();
    let mut few = [BLANK.hit; 3];
    let mut many = [BLANK.hit; 40];
    let mut answers = vec![BLANK; points.len()];
    terrain.closest_batch(points, &mut answers);
    for (&p, batched) in points.iter().zip(&answers) {
        let answer = terrain.closest(p);
        let _ = (terrain.z_f64(&answer.hit), terrain.z_fixed(&answer.hit), terrain.material(&answer.hit).mu);
        let _ = (terrain.slope_f64(&answer.hit), terrain.slope_f32(&answer.hit), terrain.surface(&answer));
        let _ = (terrain.normal_f64(&answer.hit), terrain.normal_f32(&answer.hit));
        let _ =
            (terrain.below(p), terrain.segment(p, i64::MAX), terrain.segment(p, i64::MIN), terrain.segment_m(p, 1.5));
        let (costed, cost) = terrain.closest_costed(p);
        let mut steps = 0u64;
        let explained = terrain.explain(p, |_| steps += 1);
        assert_eq!([costed, explained, *batched], [answer; 3], "costed, explained and in a batch at {p:?}");
        let by_cursor = terrain.closest_cursor(p, &mut cursor);
        assert!(!verified || by_cursor == answer, "by cursor {by_cursor:?}, else {answer:?} at {p:?}");
        for windows in [Windows { near: i64::MAX, far: i64::MAX }, Windows { near: i64::MIN, far: -1 }] {
            for fallback in 0..5 {
                let _ = terrain.closest_with(p, &Options { windows, fallback });
            }
        }
        for space in [&mut few[..], &mut many[..], &mut []] {
            let layers = terrain.layers(p, space);
            assert!(layers.written <= space.len() && layers.written <= layers.total);
            assert!(!verified || layers.total <= terrain.max_layers() as usize, "{layers:?} at {p:?}");
        }
        if verified {
            let Cost { nodes, leaves, tests, lines } = terrain.bound();
            let within = cost.nodes <= nodes && cost.leaves <= leaves && cost.tests <= tests && cost.lines <= lines;
            assert!(within, "{cost:?} at {p:?} exceeds the stated {:?}", terrain.bound());
            assert_ne!(answer.status, Status::Damaged, "verified, at {p:?}");
        }
    }
}

/// Places that no arithmetic may stumble over.
pub fn extreme_points() -> Vec<Point> {
    let ends = [i64::MIN, i64::MIN + 1, -(1 << 62), -(1 << 39), -1, 0, 1, (1 << 39) - 1, 1 << 39, 1 << 62, i64::MAX];
    let mut points = Vec::new();
    for (i, &x) in ends.iter().enumerate() {
        for &z in &ends {
            points.push(Point { x, y: ends[(3 * i + 1) % ends.len()], z });
            points.push(Point { x: 0, y: x, z });
            points.push(Point { x: 0, y: 0, z });
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mended_is_as_built() {
        let built = hardpan_builder::build(&hardpan_builder::demo::fixtures::curb(), &Default::default()).unwrap();
        let mut image = Aligned::new(&built.image);
        mend_all(&mut image);
        assert!(image[..] == built.image[..]);
        // Another name, and another height somewhere in a tile.
        let names = Terrain::open(&image).unwrap().header().sections[1].offset as usize;
        image[names] ^= 1;
        assert!(Terrain::open_verified(&image).is_err());
        mend_all(&mut image);
        assert!(Terrain::open_verified(&image).is_ok());
    }

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
