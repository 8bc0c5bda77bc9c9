//! Bytes that a builder did not write.

use crate::common::{as_given, curb_and_patch, hills, image};
use hardpan::format::{self, section};
use hardpan::{OpenError, Point, Status, Terrain, VerifyError};
use hardpan_builder::demo::{fixtures, proving_ground};
use hardpan_builder::{Fallback, HeightField, Options, Scene, build};
use std::ops::Range;
use verification::bytes::{Aligned, Opened, exercise, extreme_points, mend_all, mend_head};
use verification::oracle::Oracle;
use verification::random::{Random, points};

fn small_scenes() -> Vec<(&'static str, Scene)> {
    vec![("bridge", fixtures::bridge()), ("curb and patch", curb_and_patch()), ("soup", fixtures::soup(60))]
}

#[test]
fn by_06_no_flipped_content_bit_verifies() {
    for (name, scene) in small_scenes() {
        let mut bytes = Aligned::new(&image(&scene));
        Terrain::open_verified(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        let provenance = Terrain::open(&bytes)
            .unwrap()
            .header()
            .sections
            .iter()
            .find(|s| s.kind == format::section::PROVENANCE)
            .map(|s| s.offset..s.offset + s.len);
        // Every bit of the head; of the rest one bit of every byte, or of as many as there is time for.
        let stride = bytes.len().div_ceil(12_000) | 1;
        let places = (0..format::HEAD_LEN).chain((format::HEAD_LEN..bytes.len()).step_by(stride));
        for at in places {
            if provenance.as_ref().is_some_and(|p| p.contains(&(at as u64))) {
                continue;
            }
            for bit in if at < format::HEAD_LEN { 0..8 } else { at % 8..at % 8 + 1 } {
                bytes[at] ^= 1 << bit;
                assert!(Terrain::open_verified(&bytes).is_err(), "{name}: bit {bit} of byte {at} of {}", bytes.len());
                bytes[at] ^= 1 << bit;
            }
        }
        Terrain::open_verified(&bytes).unwrap();
    }
}

/// Forged rather than damaged: the head's checksum is right, and what it states is not.
#[test]
fn by_01_understated_costs_and_filled_reserves_do_not_verify() {
    let at = |field: *const u8, head: &format::Header| field.addr() - std::ptr::from_ref(head).addr();
    for (name, scene) in small_scenes() {
        let mut bytes = Aligned::new(&image(&scene));
        let t = Terrain::open(&bytes).unwrap();
        let h = t.header();
        let bound = at(h.bound.as_ptr().cast(), h);
        let layers = at(std::ptr::from_ref(&h.max_layers).cast(), h);
        let reserved = [
            at(std::ptr::from_ref(&h.reserved0).cast(), h),
            at(h.reserved2.as_ptr(), h),
            at(h.reserved2.as_ptr(), h) + h.reserved2.len() - 1,
            at(std::ptr::from_ref(&h.sections[0].reserved).cast(), h),
        ];
        for field in [bound, bound + 4, bound + 8, bound + 12, layers] {
            let stated = u32::from_le_bytes(bytes[field..field + 4].try_into().unwrap());
            bytes[field..field + 4].copy_from_slice(&(stated - 1).to_le_bytes());
            mend_head(&mut bytes);
            assert!(Terrain::open_verified(&bytes).is_err(), "{name}: head byte {field} states {stated} - 1");
            bytes[field..field + 4].copy_from_slice(&stated.to_le_bytes());
        }
        for field in reserved {
            bytes[field] ^= 0x40;
            mend_head(&mut bytes);
            assert!(Terrain::open_verified(&bytes).is_err(), "{name}: reserved byte {field} is not zero");
            bytes[field] ^= 0x40;
        }
        mend_head(&mut bytes);
        Terrain::open_verified(&bytes).unwrap();
    }
}

#[test]
fn by_06_found_no_ground_or_damaged() {
    let scene = hills(300, 1.0);
    let clean = image(&scene);
    let mut bytes = Aligned::new(&clean);
    let whole = Terrain::open(&clean).unwrap();
    let asked = points(&Oracle::new(&scene), 20_000, 6);
    let truth: Vec<_> = asked.iter().map(|&p| whole.closest(p)).collect();
    let count = whole.header().tile_count as usize;
    assert!(count >= 4, "{count} tiles");
    let victim = count / 2;
    let place = tile(&whole, victim);

    for at in [place.start + 3, place.start + place.len() / 2, place.end - 1] {
        bytes[at] ^= 0x10;
        let t = Terrain::open(&bytes).expect("the head is whole");
        assert!(matches!(Terrain::open_verified(&bytes), Err(OpenError::Content(_))));
        // In slices, as between control ticks.
        let mut bitmap = vec![0u8; count.div_ceil(8)];
        let mut verifier = t.verifier();
        let mut slices = 0;
        let verdict = loop {
            slices += 1;
            assert!(slices < 100_000, "it never ends");
            match verifier.step(4096, &mut bitmap) {
                Ok(false) => {}
                end => break end,
            }
        };
        assert_eq!(
            verdict,
            Err(VerifyError::TileDamaged(victim as u32)),
            "everything is checked, then the first error told"
        );
        assert!(slices > 1, "one slice for {} bytes", bytes.len());
        let marked: Vec<usize> = (0..count).filter(|i| bitmap[i / 8] >> (i % 8) & 1 == 1).collect();
        assert_eq!(marked, [victim]);
        let guarded = t.with_damage(&bitmap);
        let mut damaged = 0;
        for (&p, truth) in asked.iter().zip(&truth) {
            let a = guarded.closest(p);
            if a.status == Status::Damaged {
                damaged += 1;
                assert_eq!(guarded.below(p).status, Status::Damaged);
                assert_eq!(guarded.closest_cursor(p, &mut hardpan::Cursor::new()), a);
            } else {
                assert_eq!(a, *truth, "{p:?} lies in a whole tile");
            }
        }
        assert!(damaged > 0 && damaged < asked.len() / 2, "{damaged} damaged");
        bytes[at] ^= 0x10;
    }
}

/// A fault outside the tiles comes in the first step, costs no other step anything, and hides no tile.
#[test]
fn a_damaged_section_is_told_at_once_and_the_tiles_are_checked_all_the_same() {
    let clean = image(&hills(300, 1.0));
    let whole = Terrain::open(&clean).unwrap();
    let section = |kind| whole.header().sections.iter().find(|s| s.kind == kind).unwrap();
    let tile = section(format::section::TILES).offset as usize + 3;
    for kind in [format::section::MATERIALS, format::section::PAGES, format::section::PROVENANCE] {
        let mut bytes = Aligned::new(&clean);
        bytes[section(kind).offset as usize] ^= 1;
        bytes[tile] ^= 1;
        let t = Terrain::open(&bytes).unwrap();
        let mut bitmap = vec![0u8; (t.header().tile_count as usize).div_ceil(8)];
        let mut verifier = t.verifier();
        let told = Err(VerifyError::SectionDamaged(kind));
        assert_eq!(verifier.step(256, &mut bitmap), told);
        assert_eq!(verifier.step(256, &mut bitmap), Ok(false), "of {} bytes a few are checked", bytes.len());
        let end = (0..100_000).map(|_| verifier.step(4096, &mut bitmap)).find(|end| *end != Ok(false));
        assert_eq!(end, Some(told), "the first error");
        assert_eq!(bitmap[0] & 1, 1, "the first tile is damaged too");
        assert!(matches!(Terrain::open_verified(&bytes), Err(OpenError::Content(_))));
    }
}

/// One step tells every section that is damaged, whatever others are.
#[test]
fn every_damaged_section_is_told() {
    let clean = image(&hills(300, 1.0));
    let whole = Terrain::open(&clean).unwrap();
    let offset = |kind| whole.header().sections.iter().find(|s| s.kind == kind).unwrap().offset as usize;
    let kinds = section::KINDS.iter().filter(|k| k.required && k.number != section::TILES);
    let kinds: Vec<u32> = kinds.map(|k| k.number).collect();
    for chosen in 0..1u32 << kinds.len() {
        let damaged: Vec<u32> = (0..).zip(&kinds).filter(|(i, _)| chosen >> i & 1 == 1).map(|(_, &k)| k).collect();
        let mut bytes = Aligned::new(&clean);
        damaged.iter().for_each(|&kind| bytes[offset(kind)] ^= 1);
        bytes[offset(section::TILES) + 3] ^= 1;
        let t = Terrain::open(&bytes).unwrap();
        let mut bitmap = vec![0u8; (t.header().tile_count as usize).div_ceil(8)];
        let mut verifier = t.verifier();
        assert_eq!(verifier.damaged_sections(), 0, "nothing is known yet");
        let first = verifier.step(0, &mut bitmap);
        assert_eq!(verifier.damaged_sections(), damaged.iter().fold(0, |bits, kind| bits | 1 << kind));
        assert_eq!(first, damaged.first().map_or(Ok(false), |&kind| Err(VerifyError::SectionDamaged(kind))));
        while verifier.step(1 << 16, &mut bitmap) == Ok(false) {}
        assert_eq!(bitmap[0] & 1, 1, "the tile has its bit");
        assert_eq!(verifier.damaged_sections(), damaged.iter().fold(0, |bits, kind| bits | 1 << kind));
    }
}

/// Whatever a damaged tile says of itself, also that it is another one, no query over it is answered.
#[test]
fn by_06_a_damaged_tile_is_not_believed() {
    let scene = hills(300, 1.0);
    let clean = image(&scene);
    let whole = Terrain::open(&clean).unwrap();
    let asked = points(&Oracle::new(&scene), 3_000, 6);
    let count = whole.header().tile_count as usize;
    let victim = count / 2;
    let place = tile(&whole, victim);
    let (offset, len) = (place.start, place.len());
    let head =
        <format::Tile as zerocopy::FromBytes>::ref_from_bytes(&clean[offset..offset + size_of::<format::Tile>()]);
    let head = head.unwrap();
    assert_eq!(head.index as usize, victim);
    let index = offset + (std::ptr::from_ref(&head.index).addr() - std::ptr::from_ref(head).addr());
    let mut all = Vec::new();
    let numbers = [0, 1, victim as u32 - 1, victim as u32 + 1, count as u32, count as u32 + 7, 1 << 31, u32::MAX];
    for number in numbers {
        let mut bytes = Aligned::new(&clean);
        bytes[index..index + 4].copy_from_slice(&number.to_le_bytes());
        all.push(bytes);
    }
    for (from, to, with) in [(0, len, 0xFF), (0, len, 0), (0, 128, 0xFF), (len / 2, len, 0xFF), (64, len, 0x55)] {
        let mut bytes = Aligned::new(&clean);
        bytes[offset + from..offset + to].fill(with);
        all.push(bytes);
    }
    for bytes in all {
        let t = Terrain::open(&bytes).unwrap();
        let mut bitmap = vec![0u8; count.div_ceil(8)];
        assert!(verified(&t, &mut bitmap).usable());
        let marked: Vec<usize> = (0..count).filter(|i| bitmap[i / 8] >> (i % 8) & 1 == 1).collect();
        assert_eq!(marked, [victim]);
        let lost = answers_hold(&t, &whole, &asked, &bitmap);
        assert!(lost > 0 && lost < asked.len() / 2, "{lost}");
    }
}

/// Beyond the bounds `edge-extend` tells no height of a border that is not believed.
#[test]
fn by_06_a_damaged_border_is_not_extended() {
    let options = Options { fallback: Fallback::EdgeExtend, ..as_given() };
    let clean = build(&hills(300, 1.0), &options).unwrap().image;
    let whole = Terrain::open(&clean).unwrap();
    let [low, high] = whole.bounds();
    let beyond = |i: usize| {
        let along = |axis: usize| low[axis] + (high[axis] - low[axis]) * i as f64 / 500.0;
        [[along(0), low[1] - 1.0], [along(0), high[1] + 1.0], [low[0] - 1.0, along(1)], [high[0] + 1.0, along(1)]]
    };
    let asked: Vec<Point> = (0..=500).flat_map(beyond).map(|[x, y]| whole.point([x, y, low[2]]).unwrap()).collect();
    assert!(asked.iter().all(|&p| whole.closest(p).status == Status::NotInImage));
    let count = whole.header().tile_count as usize;
    let mut lost = 0;
    for victim in 0..count {
        let mut bytes = Aligned::new(&clean);
        bytes[tile(&whole, victim).start + 7] ^= 1;
        let t = Terrain::open(&bytes).unwrap();
        let mut bitmap = vec![0u8; count.div_ceil(8)];
        assert!(verified(&t, &mut bitmap).usable());
        lost += answers_hold(&t, &whole, &asked, &bitmap);
    }
    // each lies off one tile, or off the corner of two
    assert!((asked.len()..asked.len() + count * 4).contains(&lost), "{lost} of {}", asked.len());
}

/// Decay of the head after it was opened is found too.
#[test]
fn by_06_a_head_that_decays_is_told() {
    use hardpan_builder::ImageFile;
    use std::{fs, io::Write, path::Path};
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("decays.hpan");
    let clean = image(&fixtures::bridge());
    fs::write(&place, &clean[..]).unwrap();
    let file = ImageFile::open(&place).unwrap();
    let t = Terrain::open(&file).unwrap();
    assert_eq!(t.verifier().step(usize::MAX, &mut []), Ok(true));
    // the file is mapped: what is written into it is seen
    let write = |at: usize, byte: u8| {
        use std::io::{Seek, SeekFrom};
        let mut file = fs::File::options().write(true).open(&place).unwrap();
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(&[byte]).unwrap();
    };
    for at in (0..format::HEAD_LEN).step_by(7) {
        write(at, clean[at] ^ 0x10);
        let mut verifier = t.verifier();
        assert_eq!(verifier.step(0, &mut [0; 8]), Err(VerifyError::HeadDamaged), "byte {at}");
        assert!(!verifier.usable() && verifier.damaged_sections() & 1 == 1);
        write(at, clean[at]);
        assert_eq!(t.verifier().step(usize::MAX, &mut []), Ok(true));
    }
}

/// The bytes of a tile count about twice: for its checksum, and for what they mean.
#[test]
fn steps_of_a_proof_are_as_many_as_is_said() {
    let field = HeightField {
        origin: [-100.0, -100.0],
        pitch: 0.5,
        columns: 401,
        rows: 401,
        heights: (0..401 * 401).map(|i| f64::from(i % 401 % 7 + i / 401 % 5) / 50.0).collect(),
        material: 0,
        source: 0,
        tolerance: 0.01,
        ..HeightField::default()
    };
    let field = Scene { positions: vec![], triangles: vec![], fields: vec![field], ..fixtures::flat() };
    for (name, scene, most) in
        [("demo", proving_ground::scene(), 2.2), ("hills", hills(200, 1.0), 2.2), ("field", field, 3.0)]
    {
        let image = build(&scene, &Options::default()).unwrap().image;
        let t = Terrain::open(&image).unwrap();
        let mut bitmap = vec![0; (t.header().tile_count as usize).div_ceil(8)];
        for max_bytes in [256, 1024] {
            let mut verifier = t.verifier();
            let mut steps = 1;
            while verifier.step(max_bytes, &mut bitmap) == Ok(false) {
                steps += 1;
            }
            let share = (steps * max_bytes) as f64 / image.len() as f64;
            println!("{name}: {steps} steps of {max_bytes} for {} bytes, {share:.2}", image.len());
            assert!((1.0..=most).contains(&share), "{name}, {max_bytes}: {share}");
        }
        assert!(bitmap.iter().all(|&byte| byte == 0));
    }
}

/// Where a tile lies in an image: its record begins with its offset among the tiles and its length.
fn tile(t: &Terrain, number: usize) -> Range<usize> {
    let tiles = t.header().sections.iter().find(|s| s.kind == section::TILES).unwrap().offset as usize;
    let record = &t.section(section::TILE_TABLE).unwrap()[64 * number..];
    let field = |k: usize| u64::from_le_bytes(record[8 * k..][..8].try_into().unwrap()) as usize;
    tiles + field(0)..tiles + field(0) + field(1)
}

/// Steps a verifier to its end, with a bitmap of as many bytes as asked for.
fn verified<'a>(t: &Terrain<'a>, bitmap: &mut [u8]) -> hardpan::Verifier<'a> {
    let mut verifier = t.verifier();
    assert!(!verifier.usable(), "nothing is known yet");
    // what is wrong with sections comes at once; the tiles follow
    let _ = verifier.step(0, bitmap);
    while verifier.step(4096, bitmap) == Ok(false) {}
    verifier
}

/// All that answers depend on: as of the whole image, or damaged.
fn answers_hold(t: &Terrain, whole: &Terrain, asked: &[Point], bitmap: &[u8]) -> usize {
    let guarded = t.with_damage(bitmap);
    let mut damaged = 0;
    for &p in asked {
        let (a, truth) = (guarded.closest(p), whole.closest(p));
        if a.status == Status::Damaged {
            damaged += 1;
        } else {
            assert_eq!((a, guarded.surface(&a)), (truth, whole.surface(&truth)), "{p:?}");
        }
    }
    damaged
}

/// Flash that was erased and written up to some place: every damaged section and tile is told, and where the verifier
/// says that answers can be relied on they can.
#[test]
fn by_06_half_written_flash_is_told_section_by_section() {
    let scene = hills(300, 1.0);
    let clean = image(&scene);
    let whole = Terrain::open(&clean).unwrap();
    let asked = points(&Oracle::new(&scene), 300, 8);
    let sections = || whole.header().sections.iter().filter(|s| s.kind != 0);
    let count = whole.header().tile_count as usize;
    let places: Vec<Range<usize>> = (0..count).map(|k| tile(&whole, k)).collect();
    let ends = sections().flat_map(|s| [s.offset, s.offset + s.len]).map(|at| at as usize);
    let cuts = (1..40).map(|i| clean.len() * i / 40).chain(ends).filter(|&at| at >= format::HEAD_LEN);
    let (mut usable, mut lost) = (0, 0);
    for cut in cuts {
        let mut bytes = Aligned::new(&clean);
        bytes[cut..].fill(0xFF);
        let t = Terrain::open(&bytes).unwrap();
        let differs = |from: usize, len: usize| bytes[from..from + len] != clean[from..from + len];
        let mut bitmap = vec![0u8; count.div_ceil(8)];
        let verifier = verified(&t, &mut bitmap);
        let kinds = sections().filter(|s| s.kind != section::TILES && differs(s.offset as usize, s.len as usize));
        let kinds = kinds.fold(0, |bits, s| bits | 1 << s.kind);
        assert_eq!(verifier.damaged_sections(), kinds, "from {cut} of {}", clean.len());
        let index = [section::MATERIALS, section::DIRECTORY, section::PAGES, section::TILE_TABLE];
        assert_eq!(verifier.usable(), index.iter().all(|k| kinds >> k & 1 == 0), "from {cut}");
        if verifier.usable() {
            usable += 1;
            for (tile, place) in places.iter().enumerate() {
                let marked = bitmap[tile / 8] >> (tile % 8) & 1 == 1;
                assert_eq!(marked, differs(place.start, place.len()), "tile {tile}, from {cut}");
            }
            lost += answers_hold(&t, &whole, &asked, &bitmap);
        }
    }
    assert!(usable > 30 && lost > 1000, "{usable}, {lost}");
}

/// Names, sources, provenance and what lies between sections cost no answer; everything else outside the tiles costs
/// all.
#[test]
fn by_06_only_what_answers_depend_on_ends_them() {
    let scene = hills(300, 1.0);
    let clean = image(&scene);
    let whole = Terrain::open(&clean).unwrap();
    let asked = points(&Oracle::new(&scene), 300, 9);
    let count = whole.header().tile_count as usize;
    let sections = whole.header().sections.iter().filter(|s| ![0, section::TILES].contains(&s.kind));
    let places = sections.clone().map(|s| (s.offset as usize, s.kind));
    let gaps = sections.map(|s| (s.offset + s.len) as usize).filter(|at| !at.is_multiple_of(128)).map(|at| (at, 0));
    for (at, kind) in places.chain(gaps) {
        let mut bytes = Aligned::new(&clean);
        bytes[at] ^= 0x80;
        let t = Terrain::open(&bytes).unwrap();
        assert!(Terrain::open_verified(&bytes).is_err());
        let mut bitmap = vec![0u8; count.div_ceil(8)];
        let usable = verified(&t, &mut bitmap).usable();
        let harmless = [0, section::NAMES, section::SOURCES, section::PROVENANCE].contains(&kind);
        assert_eq!(usable, harmless, "section {kind}");
        if usable {
            assert_eq!(answers_hold(&t, &whole, &asked, &bitmap), 0);
        }
    }
    assert!(verified(&whole, &mut vec![0; count.div_ceil(8)]).usable());
    // a damaged tile that has no bit
    let mut bytes = Aligned::new(&clean);
    let table = whole.section(section::TILES).unwrap();
    bytes[table.as_ptr().addr() - clean.as_ptr().addr() + table.len() - 1] ^= 1;
    let t = Terrain::open(&bytes).unwrap();
    assert!(!verified(&t, &mut []).usable());
    assert!(verified(&t, &mut vec![0; count.div_ceil(8)]).usable());
}

/// A list whose length is damaged is not counted beyond the image.
#[test]
fn no_more_words_are_counted_than_there_are() {
    let clean = image(&fixtures::soup(60));
    let tiles = Terrain::open(&clean).unwrap().section(section::TILES).unwrap();
    let start = tiles.as_ptr().addr() - clean.as_ptr().addr();
    let asked = points(&Oracle::new(&fixtures::soup(60)), 10, 4);
    let mut bytes = Aligned::new(&clean);
    let mut met = 0;
    for at in (start..start + tiles.len()).step_by(4) {
        bytes[at..at + 4].copy_from_slice(&0x000F_FFFFu32.to_le_bytes());
        let t = Terrain::open(&bytes).unwrap();
        for &p in &asked {
            t.explain(p, |step| {
                if let hardpan::Trace::Words { words, lines } = step {
                    met = met.max(lines as usize);
                    assert!(8 * words as usize <= bytes.len() + 8 && 64 * lines as usize <= bytes.len() + 64);
                }
            });
        }
        bytes[at..at + 4].copy_from_slice(&clean[at..at + 4]);
    }
    assert!(met > 100, "no damaged length was met: {met}");
}

#[test]
fn a_cursor_sees_damage_that_was_found_later() {
    let bytes = image(&fixtures::flat());
    let t = Terrain::open(&bytes).unwrap();
    let mut cursor = hardpan::Cursor::new();
    let p = Point { x: 5, y: 5, z: 0 };
    assert!(t.closest_cursor(p, &mut cursor).found());
    let all = vec![0xFF; t.header().tile_count as usize / 8 + 1];
    let damaged = t.with_damage(&all);
    assert_eq!(damaged.closest(p).status, Status::Damaged);
    assert_eq!(damaged.closest_cursor(p, &mut cursor).status, Status::Damaged);
    assert!(t.closest_cursor(p, &mut cursor).found());
}

#[test]
fn what_is_no_image_says_why() {
    let bytes = image(&fixtures::curb());
    let copy = |change: fn(&mut [u8])| {
        let mut b = Aligned::new(&bytes);
        change(&mut b);
        Terrain::open(&b).err()
    };
    assert_eq!(copy(|_| ()), None);
    assert_eq!(copy(|b| b[0] = b'h'), Some(OpenError::NotAnImage));
    assert_eq!(copy(|b| b.fill(0)), Some(OpenError::Blank));
    assert_eq!(copy(|b| b.fill(0xFF)), Some(OpenError::Blank));
    assert_eq!(copy(|b| b[300] ^= 1), Some(OpenError::HeadDamaged));
    assert_eq!(copy(|b| b[10] = 4), Some(OpenError::TooNew));
    // no version at all is no newer one
    assert_eq!(copy(|b| b[8..].fill(0)), Some(OpenError::HeadDamaged));
    assert_eq!(copy(|b| b[8] = 0), Some(OpenError::HeadDamaged));
    let mut none = Aligned::new(&bytes);
    none[8] = 0;
    mend_head(&mut none);
    assert_eq!(Terrain::open(&none).err(), Some(OpenError::HeadInvalid));
    // an image of version 1 has a head of its own length, and is named
    let mut old = Aligned::new(&bytes);
    (old[8], old[10]) = (1, 1);
    assert_eq!(Terrain::open(&old).err(), Some(OpenError::HeadDamaged));
    mend_head(&mut old);
    assert_eq!(Terrain::open(&old).err(), Some(OpenError::TooOld(1)));
    assert_eq!(OpenError::TooOld(1).to_string(), "format version 1: build it again");
    old[12..16].copy_from_slice(&1024u32.to_le_bytes());
    old[24..28].fill(0);
    let crc = crate::handmade::crc32(&old[..1024]);
    old[24..28].copy_from_slice(&crc.to_le_bytes());
    assert_eq!(Terrain::open_verified(&old).err(), Some(OpenError::TooOld(1)));
    for len in (0..bytes.len()).step_by(61) {
        assert_eq!(Terrain::open(&Aligned::new(&bytes[..len])).err(), Some(OpenError::Truncated), "{len} bytes");
    }
    let mut shifted = Aligned::new(&[&[0], &bytes[..]].concat());
    assert_eq!(Terrain::open(&shifted[1..]).err(), Some(OpenError::Misaligned));
    // A whole flash region: what follows the image is no part of it.
    shifted = Aligned::new(&[&bytes[..], &[0xFF; 999]].concat());
    assert_eq!(Terrain::open_verified(&shifted).unwrap().bytes().len(), bytes.len());
}

#[test]
fn mutated_bytes_never_panic_and_always_end() {
    let mut opened = 0;
    let mut r = Random(2026);
    for (name, scene) in small_scenes() {
        let clean = image(&scene);
        let mut asked = points(&Oracle::new(&scene), 24, 4);
        asked.extend(extreme_points().into_iter().step_by(41));
        let mut bytes = Aligned::new(&clean);
        assert_eq!(exercise(&bytes, &asked), Opened::Verified, "{name}");
        for _ in 0..1500 {
            let in_head = r.below(4) == 0;
            let mut touched = Vec::new();
            for _ in 0..1 + r.below(6) {
                let at = if in_head {
                    8 + r.below(format::HEAD_LEN - 8)
                } else {
                    format::HEAD_LEN + r.below(bytes.len() - format::HEAD_LEN)
                };
                let word = at & !3;
                match r.below(5) {
                    0 => bytes[at] ^= 1 << r.below(8),
                    1 => bytes[at] = r.bits() as u8,
                    2 => bytes[word..word + 4].copy_from_slice(&(r.bits() as u32).to_le_bytes()),
                    3 => bytes[word..word + 4].fill([0, 0xFF, 0x7F, 0x80][r.below(4)]),
                    _ => {
                        let from = r.below(bytes.len() - 4) & !3;
                        bytes.copy_within(from..from + 4, word);
                    }
                }
                touched.push(word);
            }
            mend_head(&mut bytes);
            opened += usize::from(exercise(&bytes, &asked) != Opened::No);
            for word in touched.into_iter().chain([24]) {
                bytes[word..word + 4].copy_from_slice(&clean[word..word + 4]);
            }
        }
        assert!(bytes[..] == clean[..]);
    }
    assert!(opened > 2500, "only {opened} of 4500 opened: the queries were hardly tried");
}

/// Forged tiles whose checksums are right: what still verifies costs no more, and holds no more layers, than it states.
#[test]
fn what_verifies_keeps_its_word() {
    let (mut verified, mut refused) = (0, 0);
    let mut r = Random(77);
    for (name, scene) in small_scenes() {
        let clean = image(&scene);
        let mut asked = points(&Oracle::new(&scene), 24, 5);
        asked.extend(extreme_points().into_iter().step_by(97));
        let mut bytes = Aligned::new(&clean);
        let tiles = Terrain::open(&clean).unwrap().section(format::section::TILES).unwrap();
        let start = tiles.as_ptr().addr() - clean.as_ptr().addr();
        for _ in 0..400 {
            for _ in 0..1 + r.below(2) {
                let at = start + r.below(tiles.len());
                match r.below(3) {
                    0 => bytes[at] ^= 1 << r.below(8),
                    1 => bytes[at] = bytes[at].wrapping_add(1),
                    _ => bytes[at] = clean[start + r.below(tiles.len())],
                }
            }
            mend_all(&mut bytes);
            match exercise(&bytes, &asked) {
                Opened::Verified => verified += 1,
                Opened::Unproven => refused += 1,
                Opened::No => panic!("{name}: the head is whole"),
            }
            bytes.copy_from_slice(&clean);
        }
    }
    assert!(verified > 100 && refused > 100, "{verified} verified, {refused} refused");
}

#[test]
fn noise_behind_a_good_head_never_panics() {
    let scene = fixtures::bridge();
    let clean = image(&scene);
    let asked = points(&Oracle::new(&scene), 10, 4);
    let mut r = Random(7);
    for _ in 0..300 {
        let mut bytes = Aligned::new(&clean);
        for b in &mut bytes[format::HEAD_LEN..] {
            *b = r.bits() as u8;
        }
        exercise(&bytes, &asked);
        // And a good index over noise in the tiles.
        let tiles = Terrain::open(&clean)
            .unwrap()
            .header()
            .sections
            .iter()
            .find(|s| s.kind == format::section::TILES)
            .unwrap()
            .offset as usize;
        bytes[..tiles + 128].copy_from_slice(&clean[..tiles + 128]);
        exercise(&bytes, &asked);
    }
}
