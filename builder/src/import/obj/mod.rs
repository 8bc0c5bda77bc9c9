//! Wavefront OBJ.
//!
//! The file is read in blocks, whose parts are parsed in parallel; what a part cannot know (vertices and names that
//! stand before it) is filled in when all of them are there. So neither threads nor the sizes of parts show in
//! the scene. Real files hold much that a strict reader stumbles over; [`super::report`] lists what is passed over.

mod parse;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    hash::Hash,
    path::Path,
    rc::Rc,
};

use self::parse::{BACK, Fault, HUGE, Piece, What, ZERO, parse};
use super::{
    FileReport, Frame, Import, ImportError, Library, MAX_SOURCES, MAX_VERTICES, NO_NAME, Names, Place, Unit, Up,
    file_name, forget_unused, mtl, number_sources, plain,
    polygon::Cutter,
    report::{Tally, Thing},
    text::{BLOCK, Text, parts},
    too_many,
};
use crate::scene::{Scene, Triangle};
use crate::settings::frame::Native;

/// Frame of an OBJ whose numbers nobody described.
const NATIVE: Native = Native::silent(Up::Z, Unit::M);
/// Bytes that are parsed at once.
const PART: usize = 512 << 10;

/// Reads a file.
pub fn read(path: &Path, frame: &Frame) -> Result<Import, ImportError> {
    read_in_parts(path, Text::open(path, BLOCK)?, frame, PART)
}

/// Reads what is to be a file.
pub fn read_bytes(bytes: &[u8], path: &Path, frame: &Frame) -> Result<Import, ImportError> {
    read_in_parts(path, Text::of(bytes, path, BLOCK)?, frame, PART)
}

fn read_in_parts(path: &Path, mut text: Text, frame: &Frame, part: usize) -> Result<Import, ImportError> {
    let transform = frame.transform(&NATIVE);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut positions: Vec<[f64; 3]> = Vec::new();
    let mut lines = 0;
    let mut unended = false;
    let mut now = text.next()?;
    while let Some(block) = now {
        unended = is_unended(&block);
        let parts = parts(&block, part);
        let (next, parsed) = rayon::join(
            || text.next(),
            || parts.par_iter().map(|p| parse(p, &transform)).collect::<Vec<Result<Piece, Fault>>>(),
        );
        for piece in parsed {
            // a file that is being written is no bad file
            let mut piece = piece.or_else(|fault| text.unchanged().and(Err(at(path, lines, fault))))?;
            lines += u64::from(piece.lines);
            if positions.len() + piece.positions.len() > MAX_VERTICES {
                return Err(too_many(path, "more than 4,294,967,293 vertices"));
            }
            piece.base = positions.len() as u32;
            positions.append(&mut std::mem::take(&mut piece.positions));
            pieces.push(piece);
        }
        now = next?;
    }
    text.unchanged()?;

    let mut report = FileReport {
        file: file_name(path),
        format: "obj",
        bytes: text.len(),
        lines,
        frame: transform.to_string(),
        ..FileReport::default()
    };
    let mut tally = Tally::default();
    let mut statements: Vec<(u64, String)> = Vec::new();
    let mut before = 0;
    for piece in &mut pieces {
        tally.append(&piece.tally, before);
        statements.extend(piece.libraries.drain(..).map(|(line, s)| (before + u64::from(line) + 1, s)));
        before += u64::from(piece.lines);
    }
    if unended {
        tally.see(if is_short(pieces.last()) { Thing::Cut } else { Thing::Unended }, lines + 1);
    }
    positions.shrink_to_fit();
    let mut scene = assemble(path, pieces, positions, &mut tally)?;
    if transform.mirrors() {
        // what looks up in the file looks up in the scene
        scene.triangles.par_iter_mut().for_each(|t| t.v.swap(1, 2));
    }
    libraries(path, statements, &scene, &mut report, &mut tally);
    tally.into(&scene, &mut report);
    Ok(Import::of(path, scene, transform, report))
}

/// Whether a text ends with a statement without a line's end: it may be cut off there.
fn is_unended(block: &[u8]) -> bool {
    let last = block.rsplit(|b| matches!(b, b'\n' | b'\r')).next().unwrap_or_default();
    // zeros and other marks of an end are no statement
    last.iter().find(|b| **b > b' ').is_some_and(|first| *first != b'#')
}

/// Whether a last line without its end is a face of fewer than three corners.
fn is_short(last: Option<&Piece>) -> bool {
    let face = last.and_then(|p| Some((p, p.faces.split_last()?)));
    face.is_some_and(|(p, (face, before))| face.line == p.lines && face.end - before.last().map_or(0, |f| f.end) < 3)
}

/// The error of a line, `lines` lines after the file's first.
fn at(path: &Path, lines: u64, fault: Fault) -> ImportError {
    let place = Place::Line(lines + u64::from(fault.line) + 1);
    ImportError { place, ..ImportError::input(path, fault.cause, fault.hint) }
}

/// From a face of a piece on: numbers of material and source.
type Run = (u32, [u32; 2]);

/// Joins the pieces, whose positions are all there.
fn assemble(
    path: &Path,
    pieces: Vec<Piece>,
    positions: Vec<[f64; 3]>,
    tally: &mut Tally,
) -> Result<Scene, ImportError> {
    let not_finite = pieces.iter().any(|p| p.not_finite);
    let Named { materials, sources, runs } = name(&pieces).ok_or_else(|| Names::too_long(path))?;
    let materials = plain(path, &materials)?;
    let (names, source_number) = number_sources(sources.iter().map(AsRef::as_ref));
    tally.add(Thing::Others, sources.len().saturating_sub(MAX_SOURCES) as u64);
    let mut triangles: Vec<Triangle> = Vec::with_capacity(pieces.iter().map(|p| p.faces.len()).sum());
    let mut lines = 0;
    let mut work = pieces.into_iter().zip(runs);
    loop {
        let some: Vec<_> = work.by_ref().take(4 * rayon::current_num_threads()).collect();
        if some.is_empty() {
            break;
        }
        let cut: Vec<_> = some
            .into_par_iter()
            .map(|(piece, runs)| (piece.lines, faces(piece, &runs, &positions, not_finite, &source_number)))
            .collect();
        for (count, cut) in cut {
            let (more, counts) = cut.map_err(|fault| at(path, lines, fault))?;
            triangles.extend(more);
            tally.append(&counts, lines);
            lines += u64::from(count);
        }
    }
    if triangles.is_empty() {
        let hint = "export the mesh with its faces (f lines); of points one is made in CloudCompare (Edit, Mesh, Delaunay 2.5D)";
        return Err(tally.nothing(path, hint));
    }
    let mut scene = Scene { positions, triangles, materials, sources: names, ..Scene::default() };
    forget_unused(&mut scene);
    Ok(scene)
}

/// Names of all materials and sources, and of each piece the runs of faces that have them.
struct Named {
    materials: Vec<Rc<str>>,
    sources: Vec<Rc<str>>,
    runs: Vec<Vec<Run>>,
}

/// Gives faces their names.
///
/// A source is `object/group`; the one alone where there is no other, or both are the same. An object ends the group
/// before it. None where [`Names`] end.
fn name(pieces: &[Piece]) -> Option<Named> {
    let [mut words, mut materials, mut sources] = <[Names; 3]>::default();
    let none = words.number("")?;
    let [mut object, mut group, mut material] = [none; 3];
    // what words came to: they are read once, however often they change
    let (mut material_of, mut source_of) = (HashMap::new(), HashMap::new());
    let runs = pieces.iter().map(|piece| {
        let mut runs: Vec<Run> = Vec::new();
        let mut changes = piece.changes.iter().peekable();
        let mut from = 0;
        loop {
            while let Some(change) = changes.next_if(|c| c.face == from) {
                let word = words.number(&change.name)?;
                match change.what {
                    What::Object => (object, group) = (word, none),
                    What::Group => group = word,
                    What::Material => material = word,
                }
            }
            if from as usize == piece.faces.len() {
                return Some(runs);
            }
            let word = |number: u32| &*words.list[number as usize];
            let material = known(&mut material_of, material, || {
                materials.number(if material == none { NO_NAME } else { word(material) })
            })?;
            let source = known(&mut source_of, (object, group), || match (word(object), word(group)) {
                ("", "") => sources.number(NO_NAME),
                (one, "") | ("", one) => sources.number(one),
                (one, other) if one == other => sources.number(one),
                (object, group) => sources.number(&format!("{object}/{group}")),
            })?;
            runs.push((from, [material, source]));
            from = changes.peek().map_or(piece.faces.len() as u32, |c| c.face);
        }
    });
    let runs = runs.collect::<Option<_>>()?;
    Some(Named { materials: materials.list, sources: sources.list, runs })
}

/// The number of a key in a map, new or not.
fn known<K: Eq + Hash>(map: &mut HashMap<K, u32>, key: K, new: impl FnOnce() -> Option<u32>) -> Option<u32> {
    Some(match map.entry(key) {
        Entry::Occupied(known) => *known.get(),
        Entry::Vacant(place) => *place.insert(new()?),
    })
}

/// The triangles of a piece.
fn faces(
    mut piece: Piece,
    runs: &[Run],
    positions: &[[f64; 3]],
    not_finite: bool,
    source_number: &[u16],
) -> Result<(Vec<Triangle>, Tally), Fault> {
    for &i in &piece.relative {
        let v = &mut piece.corners[i as usize];
        *v = u32::try_from(i64::from(piece.base) + i64::from(*v as i32)).unwrap_or(BACK);
    }
    let mut triangles = Vec::with_capacity(piece.faces.len());
    let mut tally = Tally::default();
    let mut cutter = Cutter::default();
    let mut runs = runs.iter().peekable();
    let mut run = [0; 2];
    let mut start = 0;
    for (i, face) in piece.faces.iter().enumerate() {
        if let Some((_, names)) = runs.next_if(|r| r.0 as usize == i) {
            run = *names;
        }
        let (material, source) = (run[0] as u16, source_number[run[1] as usize]);
        let corners = &piece.corners[start..face.end as usize];
        start = face.end as usize;
        if let Some(v) = corners.iter().find(|&&v| v as usize >= positions.len()) {
            let hint = match *v {
                ZERO => "vertices are numbered from 1 on; export the mesh again",
                _ => "export the mesh again; a part may be missing",
            };
            let cause = match *v {
                BACK => "a face counts back beyond the first vertex".into(),
                HUGE => "a face names a vertex beyond all that can be counted".into(),
                v => format!("a face names vertex {}, and the file has 1 to {}", v.wrapping_add(1), positions.len()),
            };
            return Err(Fault { line: face.line, cause, hint });
        }
        let line = u64::from(face.line) + 1;
        if not_finite && corners.iter().any(|&v| positions[v as usize].iter().any(|v| !v.is_finite())) {
            tally.see(Thing::NotFinite, line);
            continue;
        }
        let emit = |v| triangles.push(Triangle { v, material, source });
        let fault = |(cause, hint)| Fault { line: face.line, cause: format!("a face {cause}"), hint };
        cutter.face(corners, positions, |thing| tally.see(thing, line), emit).map_err(fault)?;
    }
    Ok((triangles, tally))
}

/// Looks the used materials up in the libraries that the file names.
fn libraries(path: &Path, statements: Vec<(u64, String)>, scene: &Scene, report: &mut FileReport, tally: &mut Tally) {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut seen = HashSet::new();
    let mut defined = mtl::Library::default();
    for (line, statement) in statements.into_iter().filter(|(_, s)| !s.is_empty()) {
        for (name, file) in mtl::files(&statement, folder) {
            if seen.insert(name.clone()) {
                let there = file.as_ref().ok_or_else(|| "it is not there, and is not needed".into());
                let read = there.and_then(|f| defined.add(f));
                let (materials, problem) = read.map_or_else(|why| (None, Some(why)), |n| (Some(n), None));
                report.libraries.push(Library { name, line, materials, problem, file });
            }
        }
    }
    tally.add(Thing::Redefined, defined.again);
    defined.textures.iter().for_each(|name| tally.name(Thing::Textures, name, 0));
    if report.libraries.iter().any(|l| l.materials.is_some()) {
        let mut triangles = vec![0; scene.materials.len()];
        scene.triangles.iter().for_each(|t| triangles[usize::from(t.material)] += 1);
        let undefined = |m: &crate::scene::Material| m.name != NO_NAME && !defined.names.contains(&m.name);
        for (m, triangles) in scene.materials.iter().zip(triangles).filter(|(m, _)| undefined(m)) {
            tally.name(Thing::Undefined, &m.name, triangles);
        }
    }
}
