//! Autodesk FBX, binary or text, of any version that the library `ufbx` takes apart.
//!
//! The library hands over what the file states: objects, properties, meshes. Where things stand, in metres, is computed
//! here (see [`node`]), so that no C compiler decides a bit of it. The library is called through safe functions, on bytes
//! in memory, with its own allocator and a limit, without files, threads or callbacks but one that notes a number.

mod node;
mod place;

use std::{io::Read as _, path::Path};

use ufbx::{
    Allocator, AllocatorOpts, ErrorType, FileFormat, IndexErrorHandling, LoadOpts, Mesh, Node, Progress, ProgressCb,
    ProgressResult, SceneRoot, SubdivisionDisplayMode, WarningType,
};

use super::{
    FileReport, Frame, Import, ImportError, ImportErrorKind, ImportReport, MOST_SOURCES, MOST_VERTICES, NO_NAME, Names,
    Place, Unit, Up, file_name, forget_unused,
    frame::{Axes, Native, Transform},
    number_sources, plain,
    polygon::{Cut, Cutter, too_long},
    report::{Tally, Thing},
    text::{Watched, quoted},
    too_many,
};
use crate::{Scene, Triangle};

/// What the format has it when a file says nothing.
const NATIVE: Native = Native::silent(Up::Y, Unit::Cm);
/// Bytes of an object's name with those that it stands in.
const LONGEST_NAME: usize = 4_096;
/// Objects in objects.
const DEEPEST: u32 = 1_000;
/// Bytes that the library may take, twice, for any file, and for each byte of one: arrays are packed, and may claim to be huge.
const MEMORY: [usize; 2] = [256 << 20, 64];
const AGAIN: &str = "export it again, or as Wavefront OBJ";

/// Reads a file.
pub fn read(path: &Path, frame: &Frame) -> Result<Import, ImportError> {
    let mut bytes = whole(path)?;
    let fbx = parse(path, &mut bytes)?;
    let native = native(&fbx);
    let transform = frame.transform(&native);
    let mut report = FileReport {
        file: file_name(path),
        format: "fbx",
        bytes: bytes.len() as u64,
        lines: if fbx.metadata.ascii { lines(&bytes) } else { 0 },
        frame: transform.to_string(),
        assumed: match (native.says_axes || frame.up.is_some(), native.says_unit || frame.unit.is_some()) {
            (true, true) => None,
            (false, true) => Some("axes"),
            (true, false) => Some("unit"),
            (false, false) => Some("axes and unit"),
        },
        ..FileReport::default()
    };
    drop(bytes);
    let mut tally = Tally::default();
    remark(&fbx, &mut tally);
    let scene = assemble(path, &fbx, &transform, &mut tally)?;
    tally.into(&scene, &mut report);
    Ok(Import { scene, frames: vec![transform], report: ImportReport { files: vec![report] } })
}

/// All bytes of a file that stays as it is meanwhile.
fn whole(path: &Path) -> Result<Vec<u8>, ImportError> {
    let io = |e| ImportError::io(path, &e);
    let mut watched = Watched::open(path)?;
    let mut bytes = Vec::new();
    let size = usize::try_from(watched.len()).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(size).map_err(|_| no_memory(path, "this file"))?;
    watched.file.read_to_end(&mut bytes).map_err(io)?;
    watched.unchanged()?;
    Ok(bytes)
}

fn no_memory(path: &Path, what: &str) -> ImportError {
    let cause = format!("there is not enough memory for {what}");
    ImportError::new(ImportErrorKind::Machine, path, cause, "leave something out, or use a machine with more")
}

fn lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Has the library take a file apart, without lists of edges: for each entry it would go back over a whole face.
fn parse(path: &Path, bytes: &mut [u8]) -> Result<SceneRoot, ImportError> {
    let whole = place::check(bytes).map_err(|place| no_text(path, bytes).unwrap_or_else(|| broken(path, place)))?;
    for at in whole.edges {
        bytes[at] = b'e'; // a name that means nothing
    }
    // a text may end in bytes that are none
    let records = if place::is_binary(bytes) { bytes.len() } else { whole.end as usize };
    let bytes = &bytes[..records];
    load(bytes, ProgressCb::Unset).map_err(|error| why(path, bytes, whole.end, error))
}

/// That a file is neither a binary FBX nor a text at all, if so.
fn no_text(path: &Path, bytes: &[u8]) -> Option<ImportError> {
    if bytes.is_empty() {
        return Some(ImportError { place: Place::Byte(0), ..ImportError::input(path, "the file is empty", AGAIN) });
    }
    // zero bytes and 0x1A are how some texts end
    let text = bytes.trim_ascii_end();
    let length = text.iter().rposition(|b| !matches!(b, 0 | 0x1A)).map_or(0, |last| last + 1);
    let odd = |b: &u8| matches!(b, 0..=8 | 14..=25 | 27..=31);
    let at = text[..length].iter().position(odd).filter(|_| !place::is_binary(bytes))?;
    let cause = "this is no text, and the file does not begin as a binary FBX does";
    let error = ImportError::input(path, cause, "check what kind of file it is, or copy it again");
    Some(ImportError { place: Place::Byte(at as u64), ..error })
}

fn broken(path: &Path, at: place::Broken) -> ImportError {
    let error = ImportError::input(path, at.what, "copy the file again, or export it again");
    ImportError { place: Place::Byte(at.byte), ..error }
}

fn load(bytes: &[u8], progress_cb: ProgressCb) -> Result<SceneRoot, ErrorType> {
    let memory_limit = MEMORY[0].saturating_add(bytes.len().saturating_mul(MEMORY[1]));
    let allocator = || AllocatorOpts { allocator: Allocator::Libc, memory_limit, ..AllocatorOpts::default() };
    let options = LoadOpts {
        temp_allocator: allocator(),
        result_allocator: allocator(),
        file_format: FileFormat::Fbx,
        ignore_embedded: true,
        skip_mesh_parts: true,
        skip_skin_vertices: true,
        index_error_handling: IndexErrorHandling::NoIndex,
        node_depth_limit: DEEPEST,
        progress_cb,
        progress_interval_hint: 1,
        ..LoadOpts::default()
    };
    ufbx::load_memory(bytes, options).map_err(|e| e.type_)
}

/// Why the library could not take a file apart whose records end at `end`, and where it stopped.
fn why(path: &Path, bytes: &[u8], end: u64, error: ErrorType) -> ImportError {
    let input = |place, cause: String, hint: &str| ImportError { place, ..ImportError::input(path, cause, hint) };
    match error {
        ErrorType::OutOfMemory => return no_memory(path, "what is in it"),
        ErrorType::MemoryLimit => {
            let cause = "its arrays claim far more memory than a file of its size can fill";
            return input(Place::File, cause.into(), AGAIN);
        }
        ErrorType::NodeDepthLimit => {
            let cause = format!("objects lie more than {DEEPEST} deep in each other");
            return input(Place::File, cause, "take them out of their groups in a mesh editor");
        }
        _ => {}
    }
    if let Some(error) = no_text(path, bytes) {
        return error;
    }
    if error == ErrorType::UnsupportedVersion {
        let cause = "this version of FBX is not read";
        return ImportError::new(
            ImportErrorKind::Unsupported,
            path,
            cause,
            "save it as FBX 2013 or newer, or as Wavefront OBJ",
        );
    }
    // once more, watched
    let mut stopped = 0;
    let mut watch = |p: &Progress| {
        stopped = p.bytes_read;
        ProgressResult::Continue
    };
    let again = load(bytes, ProgressCb::Mut(&mut watch));
    match error {
        ErrorType::UnrecognizedFileFormat => input(
            Place::Byte(0),
            "this is neither a binary FBX nor one in text".into(),
            "check what kind of file it is",
        ),
        _ if again.is_err() && stopped < end => {
            let cause = "reading stops here: what stands at this place, or just before it, is not as FBX has it".into();
            input(Place::Byte(stopped), cause, AGAIN)
        }
        _ => {
            let cause = "its records can be read, but what they say contradicts itself, as when faces have corners that are not there, or objects lie in each other";
            input(Place::File, cause.into(), AGAIN)
        }
    }
}

/// Axes and unit, as far as the file says them.
fn native(fbx: &ufbx::Scene) -> Native {
    let known = |axis| {
        use ufbx::CoordinateAxis::{NegativeX, NegativeY, NegativeZ, PositiveX, PositiveY, PositiveZ};
        [PositiveX, PositiveY, PositiveZ, NegativeX, NegativeY, NegativeZ]
            .iter()
            .position(|known| *known == axis)
            .map(|i| Up::ALL[i])
    };
    let axes = fbx.settings.axes;
    let axes = match (known(axes.right), known(axes.front), known(axes.up)) {
        (Some(right), Some(front), Some(up)) => Axes::new(right, front, up),
        _ => None,
    };
    let unit = fbx.settings.props.find_prop("UnitScaleFactor").map(|p| p.value_vec4.x);
    let unit = unit.filter(|size| size.is_finite() && *size > 0.0);
    Native {
        axes: axes.unwrap_or(NATIVE.axes),
        unit: unit.map_or(NATIVE.unit, Unit::of_centimetres),
        says_axes: axes.is_some(),
        says_unit: unit.is_some(),
    }
}

/// Counts what is no mesh, and what the library passed over.
fn remark(fbx: &ufbx::Scene, tally: &mut Tally) {
    let lists = [
        (Thing::FreeForm, fbx.nurbs_curves.len() + fbx.nurbs_surfaces.len() + fbx.procedural_geometries.len()),
        (Thing::PointsAndLines, fbx.line_curves.len()),
        (Thing::NoMesh, fbx.cameras.len() + fbx.stereo_cameras.len() + fbx.lights.len() + fbx.bones.len()),
        (Thing::Unplaced, fbx.meshes.iter().filter(|m| m.element.instances.is_empty()).count()),
    ];
    lists.iter().for_each(|&(thing, count)| tally.add(thing, count as u64));
    for warning in &fbx.metadata.warnings {
        let thing = match warning.type_ {
            WarningType::BadUnicode => Thing::Replaced,
            WarningType::TruncatedArray
            | WarningType::MissingGeometryData
            | WarningType::MissingPolygonMapping
            | WarningType::BadElementConnectedToRoot
            | WarningType::DuplicateObjectId => Thing::Damaged,
            _ => continue,
        };
        tally.add(thing, warning.count as u64);
    }
    for mesh in &fbx.meshes {
        tally.add(Thing::Normals, mesh.vertex_normal.values.len() as u64);
        tally.add(Thing::TextureCoordinates, mesh.uv_sets.iter().map(|s| s.vertex_uv.values.len() as u64).sum());
        tally.add(Thing::Colours, mesh.color_sets.iter().map(|s| s.vertex_color.values.len() as u64).sum());
    }
}

/// A mesh where an object has it.
struct Piece<'a> {
    mesh: &'a Mesh,
    node: &'a Node,
    place: &'a node::Placed,
    source: u32,
}

/// Meshes as triangles: in the order of the file, once for each object that has them.
fn assemble(path: &Path, fbx: &ufbx::Scene, transform: &Transform, tally: &mut Tally) -> Result<Scene, ImportError> {
    let places = node::place(fbx);
    let long = || {
        let cause = format!("an object's name, with those that it stands in, is longer than {LONGEST_NAME} bytes");
        ImportError::input(path, cause, "take it out of its groups in a mesh editor, or give shorter names")
    };
    let mut sources = Names::default();
    let mut pieces = Vec::new();
    let (mut vertices, mut triangles) = (0, 0);
    for mesh in &fbx.meshes {
        for node in &mesh.element.instances {
            let Some(place) = places.get(node.element.typed_id as usize) else { continue };
            if place.hidden || place.coarse {
                tally.add(if place.hidden { Thing::Hidden } else { Thing::Coarse }, 1);
                continue;
            }
            let smooth = matches!(
                mesh.subdivision_display_mode,
                SubdivisionDisplayMode::HullAndSmooth | SubdivisionDisplayMode::Smooth
            );
            tally.add(Thing::Instances, 1);
            tally.add(Thing::Smooth, smooth.into());
            tally.add(Thing::Skinned, (!mesh.all_deformers.is_empty()).into());
            tally.add(Thing::Moving, place.moving.into());
            pieces.push(Piece { mesh, node, place, source: sources.number(&name(node).ok_or_else(long)?) });
            (vertices, triangles) = (vertices + mesh.vertices.len(), triangles + mesh.num_triangles);
        }
    }
    if vertices > MOST_VERTICES {
        return Err(too_many(path, "more than 4,294,967,293 vertices"));
    }
    let (names, source_number) = number_sources(sources.list.iter().map(String::as_str));
    tally.add(Thing::Others, sources.list.len().saturating_sub(MOST_SOURCES) as u64);
    let mut scene = Scene { sources: names, ..Scene::default() };
    let room = scene.positions.try_reserve_exact(vertices).and(scene.triangles.try_reserve(triangles));
    room.map_err(|_| no_memory(path, &format!("{vertices} vertices and {triangles} triangles")))?;
    let mut materials = Names::default();
    for piece in pieces {
        let source = source_number[piece.source as usize];
        faces(path, &piece, source, transform, &mut materials, &mut scene, tally)?;
    }
    if materials.list.len() > usize::from(u16::MAX) {
        return Err(too_many(path, "more than 65,535 materials"));
    }
    if scene.triangles.is_empty() {
        return Err(nothing(path, fbx, tally));
    }
    // positions of faces that were left out must not reach the builder as numbers
    scene.positions.iter_mut().filter(|p| p.iter().any(|v| !v.is_finite())).for_each(|p| *p = [0.0; 3]);
    scene.materials = materials.list.iter().map(|n| plain(n)).collect();
    forget_unused(&mut scene);
    Ok(scene)
}

/// Names from the outermost object to this one, with `/` between them; blanks as an OBJ can say them. None if it is too long.
fn name(node: &Node) -> Option<String> {
    let mut names = Vec::new();
    let mut at = Some(node);
    let mut length = 0;
    while let Some(node) = at.filter(|n| !n.is_root) {
        length += node.element.name.len() + 1;
        if length > LONGEST_NAME + 1 {
            return None;
        }
        names.push(words(&node.element.name));
        at = node.parent.as_deref();
    }
    names.retain(|n| !n.is_empty());
    names.reverse();
    Some(if names.is_empty() { NO_NAME.into() } else { names.join("/") })
}

/// A name with one blank between its words.
fn words(name: &str) -> String {
    name.split(|c: char| c.is_whitespace() || c == '\0').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Adds the triangles of a piece.
fn faces(
    path: &Path,
    piece: &Piece,
    source: u16,
    transform: &Transform,
    materials: &mut Names,
    scene: &mut Scene,
    tally: &mut Tally,
) -> Result<(), ImportError> {
    let Piece { mesh, node, place, .. } = piece;
    let base = scene.positions.len();
    scene.positions.extend(mesh.vertices.iter().map(|v| transform.apply(place.geometry.apply([v.x, v.y, v.z]))));
    let Scene { positions, triangles, .. } = scene;
    let positions = &positions[base..];
    let mirrored = place.geometry.mirrors() != transform.mirrors();
    // an object may have other materials than its mesh
    let count = mesh.materials.len().max(node.materials.len());
    let named = (0..count).map(|i| node.materials.get(i).or(mesh.materials.get(i)).map_or("", |m| &m.element.name));
    let numbers: Vec<u32> =
        named.map(words).map(|n| materials.number(if n.is_empty() { NO_NAME } else { &n })).collect();
    let fault = |cause: String, hint: &str| {
        let cause = format!("object {}: {cause}", quoted(name(node).unwrap_or_default().as_bytes()));
        Err(ImportError::input(path, cause, hint))
    };
    let (mut cutter, mut ring) = (Cutter::default(), Vec::new());
    for (i, face) in mesh.faces.iter().enumerate() {
        let range = face.index_begin as usize..face.index_begin as usize + face.num_indices as usize;
        let corners = mesh.vertex_indices.get(range).unwrap_or_default();
        if mesh.face_hole.get(i) == Some(&true) {
            tally.add(Thing::Holes, 1);
            continue;
        }
        let at = |v: u32| positions[v as usize];
        let is_there = |v: u32| positions.get(v as usize).is_some_and(|p| p.iter().all(|v| v.is_finite()));
        if !corners.iter().all(|&v| is_there(v)) {
            tally.add(Thing::NotFinite, 1);
            continue;
        }
        let number = mesh.face_material.get(i).and_then(|&m| numbers.get(m as usize)).copied();
        let material = number.unwrap_or_else(|| materials.number(NO_NAME)) as u16;
        let mut emit = |[a, b, c]: [usize; 3]| {
            let v = if mirrored { [a, c, b] } else { [a, b, c] }.map(|k| corners[k] + base as u32);
            triangles.push(Triangle { v, material, source });
        };
        match corners.len() {
            0..=2 => {
                tally.add(Thing::Small, 1);
                continue;
            }
            3 => emit([0, 1, 2]),
            corner_count => {
                ring.clear();
                ring.extend(corners.iter().map(|&v| at(v)));
                match cutter.cut(&ring, emit) {
                    Cut::Whole => {}
                    Cut::Crossing => tally.add(Thing::Crossing, 1),
                    Cut::TooLong => {
                        let cause = format!("face {i} {}", too_long(corner_count));
                        return fault(cause, "cut it into smaller ones in a mesh editor");
                    }
                }
                tally.add(Thing::Polygons, 1);
            }
        }
        tally.add(Thing::Faces, 1);
    }
    Ok(())
}

/// Why there is nothing to build.
fn nothing(path: &Path, fbx: &ufbx::Scene, tally: &Tally) -> ImportError {
    let counted = [
        (tally.count(Thing::Small), "faces have fewer than three corners"),
        (tally.count(Thing::NotFinite), "faces have a corner that is not a finite number"),
        (tally.count(Thing::Hidden), "objects with a mesh are hidden"),
        (tally.count(Thing::Coarse), "objects stand for others from afar"),
        (tally.count(Thing::Holes), "faces are marked as holes"),
        (tally.count(Thing::Unplaced), "meshes belong to no object"),
        (tally.count(Thing::FreeForm), "surfaces or curves are free-form"),
    ];
    let counted: Vec<String> = counted.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let why = if counted.is_empty() {
        format!(" ({} objects)", fbx.nodes.len() - 1)
    } else {
        format!(" ({})", counted.join(", "))
    };
    ImportError::input(
        path,
        format!("there are no faces in this file{why}"),
        "export the objects as meshes, and show those that are hidden",
    )
}
