//! STL, binary or text.
//!
//! A file is binary if its length is that of as many facets as it states, whatever its first word is; else it is text.

use std::path::Path;

use super::{
    FileReport, Frame, Import, ImportError, MAX_VERTICES, NO_NAME, Names, Place, Unit, Up, bytes, file_name,
    forget_unused, number_sources, plain,
    polygon::Cutter,
    report::{Tally, Thing},
    text::{self, ZEROS, quoted},
    too_many,
};
use crate::scene::{Scene, Triangle};
use crate::settings::frame::{Native, Transform};
use crate::util::text::{counted, grouped};

/// Axes and unit of an STL, which states neither.
const NATIVE: Native = Native::silent(Up::Z, Unit::M);
/// Bytes before the first facet, and of a facet.
const HEAD: usize = 84;
const FACET: usize = 50;
const AGAIN: &str = "copy the file again, or export it again";

/// Reads a file.
pub fn read(path: &Path, frame: &Frame) -> Result<Import, ImportError> {
    read_bytes(&bytes::whole(path)?, path, frame)
}

/// Reads what is to be a file.
pub fn read_bytes(bytes: &[u8], path: &Path, frame: &Frame) -> Result<Import, ImportError> {
    let transform = frame.transform(&NATIVE);
    let mut tally = Tally::default();
    let is_text = kind(bytes, path)? == Kind::Text;
    let mut scene = if is_text {
        of_text(bytes, path, &transform, &mut tally)?
    } else {
        of_binary(bytes, path, &transform, &mut tally)?
    };
    if scene.triangles.is_empty() {
        return Err(tally.nothing(path, "export the mesh with its facets"));
    }
    forget_unused(&mut scene);
    let mut report = FileReport {
        file: file_name(path),
        format: "stl",
        bytes: bytes.len() as u64,
        lines: if is_text { bytes::lines(bytes) } else { 0 },
        frame: transform.to_string(),
        ..FileReport::default()
    };
    tally.into(&scene, &mut report);
    Ok(Import::of(path, scene, transform, report))
}

#[derive(PartialEq, Eq)]
enum Kind {
    Binary,
    Text,
}

/// Whether a file is text, or why it is neither.
fn kind(bytes: &[u8], path: &Path) -> Result<Kind, ImportError> {
    let stated = bytes::at::<4>(bytes, HEAD - 4).map(|n| u64::from(u32::from_le_bytes(n)));
    if stated.is_some_and(|n| HEAD as u64 + FACET as u64 * n == bytes.len() as u64) {
        return Ok(Kind::Binary);
    }
    let early = &bytes[..bytes.len().min(4096)];
    let has = |word: &[u8]| early.windows(word.len()).any(|w| w.eq_ignore_ascii_case(word));
    if has(b"facet") || has(b"endsolid") {
        return Ok(Kind::Text);
    }
    if bytes.is_empty() {
        return Err(ImportError::input(path, "the file is empty", AGAIN));
    }
    if bytes.iter().all(|b| *b == 0) {
        return Err(ImportError::input(path, ZEROS[0], ZEROS[1]));
    }
    match stated {
        Some(n) => {
            let held = grouped(((bytes.len() - HEAD) / FACET) as u64);
            let cause = format!("it states {}, and has room for {held}", counted(n, "facet"));
            let error = ImportError::input(path, cause, AGAIN);
            Err(ImportError { place: Place::Byte(HEAD as u64 - 4), ..error })
        }
        None => Err(ImportError::input(
            path,
            "this is neither a binary STL nor one in text",
            "check what kind of file it is",
        )),
    }
}

fn of_binary(bytes: &[u8], path: &Path, transform: &Transform, tally: &mut Tally) -> Result<Scene, ImportError> {
    let facets = bytes[HEAD..].chunks_exact(FACET);
    if facets.len() * 3 > MAX_VERTICES {
        return Err(too_many(path, "more than 1,431,655,764 facets"));
    }
    let mut scene =
        Scene { materials: plain(path, &[NO_NAME.into()])?, sources: vec![NO_NAME.into()], ..Scene::default() };
    let room = scene.positions.try_reserve_exact(3 * facets.len()).and(scene.triangles.try_reserve_exact(facets.len()));
    room.map_err(|_| bytes::no_memory(path, &counted(facets.len() as u64, "facet")))?;
    for facet in facets {
        let number = |i: usize| bytes::at(facet, 4 * i).map_or(f64::NAN, |b| f64::from(f32::from_le_bytes(b)));
        let corners = [3, 6, 9].map(|i| [number(i), number(i + 1), number(i + 2)]);
        tally.add(Thing::Normals, 1);
        // some programs keep a colour there
        tally.add(Thing::Colours, u64::from(facet[FACET - 2..] != [0, 0]));
        if corners.iter().flatten().any(|v| !v.is_finite()) {
            tally.add(Thing::NotFinite, 1);
            continue;
        }
        let next = scene.positions.len() as u32;
        scene.positions.extend(corners.map(|p| transform.apply(p)));
        scene.triangles.push(Triangle { v: [next, next + 1, next + 2], material: 0, source: 0 });
        tally.add(Thing::Faces, 1);
    }
    Ok(scene)
}

fn of_text(bytes: &[u8], path: &Path, transform: &Transform, tally: &mut Tally) -> Result<Scene, ImportError> {
    let mut scene = Scene { materials: plain(path, &[NO_NAME.into()])?, ..Scene::default() };
    let mut names = Names::default();
    let mut solid = names.number(NO_NAME).unwrap_or_default();
    let mut cutter = Cutter::default();
    // the numbers of names, for each triangle
    let mut of: Vec<u32> = Vec::new();
    // where the facet began that has not ended, and its first corner
    let mut open: Option<(u64, usize)> = None;
    let mut line = 0;
    let fault = |line: u64, cause: String, hint: &str| {
        Err(ImportError { place: Place::Line(line), ..ImportError::input(path, cause, hint) })
    };
    // a text without LF has CR at the ends of its lines
    let end = if bytes.contains(&b'\n') { b'\n' } else { b'\r' };
    for text in bytes.split(|b| *b == end) {
        line += 1;
        let mut words = text.split(|b| b.is_ascii_whitespace() || *b == 0).filter(|word| !word.is_empty());
        let Some(first) = words.next() else { continue };
        match &first.to_ascii_lowercase()[..] {
            b"solid" => {
                let name = text::name(&words.collect::<Vec<_>>().join(&b' ')).into_owned();
                let name = if name.is_empty() { NO_NAME } else { &name };
                solid = names.number(name).ok_or_else(|| Names::too_long(path))?;
            }
            b"facet" => {
                if let Some((began, _)) = open {
                    return fault(line, format!("a facet begins within that of line {began}"), AGAIN);
                }
                tally.add(Thing::Normals, 1);
                open = Some((line, scene.positions.len()));
            }
            b"vertex" => {
                let mut point = [0.0; 3];
                for v in &mut point {
                    let Some(word) = words.next() else {
                        return fault(line, "a vertex has three numbers".into(), AGAIN);
                    };
                    let Ok(number) = fast_float2::parse::<f64, _>(word) else {
                        return fault(line, format!("{} is not a number", quoted(word)), AGAIN);
                    };
                    *v = number;
                }
                if open.is_none() {
                    return fault(line, "a vertex stands outside of a facet".into(), AGAIN);
                }
                if scene.positions.len() == MAX_VERTICES {
                    return Err(too_many(path, "more than 4,294,967,293 vertices"));
                }
                scene.positions.push(transform.apply(point));
            }
            b"endfacet" => {
                let Some((_, from)) = open.take() else {
                    return fault(line, "a facet ends that did not begin".into(), AGAIN);
                };
                if scene.positions[from..].iter().flatten().any(|v| !v.is_finite()) {
                    tally.see(Thing::NotFinite, line);
                    scene.positions.truncate(from);
                    continue;
                }
                let corners: Vec<u32> = (from as u32..scene.positions.len() as u32).collect();
                let Scene { positions, triangles, .. } = &mut scene;
                let emit = |v| {
                    triangles.push(Triangle { v, material: 0, source: 0 });
                    of.push(solid);
                };
                if let Err((cause, hint)) = cutter.face(&corners, positions, |thing| tally.see(thing, line), emit) {
                    return fault(line, format!("a facet {cause}"), hint);
                }
            }
            b"outer" | b"endloop" | b"endsolid" => {}
            other => {
                let cause = format!("{} begins no line of an STL", quoted(other));
                return fault(line, cause, AGAIN);
            }
        }
    }
    if let Some((began, _)) = open {
        return fault(began, "this facet has no end: the file is cut off".into(), AGAIN);
    }
    let (sources, numbers) = number_sources(names.list.iter().map(AsRef::as_ref));
    scene.sources = sources;
    scene.triangles.iter_mut().zip(of).for_each(|(t, name)| t.source = numbers[name as usize]);
    Ok(scene)
}
