//! Autodesk FBX, binary or text, of any version that the library `ufbx` takes apart.
//!
//! The library hands over what the file states: objects, properties, meshes. Where things stand, in metres, is computed
//! here (see [`node`]), so that no C compiler decides a bit of it. The library is called through safe functions, on
//! bytes in memory, with its own allocator and a limit, without files, threads or callbacks but one that notes a
//! number.

mod node;
mod place;

use std::{collections::HashMap, path::Path};

use ufbx::{
    Allocator, AllocatorOpts, Element, ErrorType, FileFormat, IndexErrorHandling, LoadOpts, Mesh, Node, Progress,
    ProgressCb, ProgressResult, SceneRoot, SubdivisionDisplayMode, WarningType,
};

use super::{
    FileReport, Frame, Import, ImportError, ImportErrorKind, MAX_SOURCES, MAX_VERTICES, NO_NAME, Names, Next, Place,
    Unit, Up,
    bytes::{lines, no_memory, whole},
    file_name, forget_unused, number_sources,
    place::{self as places, Budget, Placed},
    plain,
    polygon::Cutter,
    report::{Tally, Thing},
    text::{self, ZEROS, quoted},
    too_many,
};
use crate::scene::{Scene, Triangle};
use crate::settings::frame::{Axes, Native, Transform};
use crate::util::text::{counted, grouped};

/// Frame of a file that states none.
const NATIVE: Native = Native::silent(Up::Y, Unit::Cm);
/// Bytes of an object's name with those that it stands in.
const LONGEST_NAME: usize = 4_096;
/// Objects in objects.
const DEEPEST: u32 = 1_000;
/// Bytes that the library may take, twice, for any file, and for each byte of one: arrays are packed, and may claim to
/// be huge.
const MEMORY: [usize; 2] = [256 << 20, 64];
/// How a text begins.
const TEXT: &[u8] = b"; FBX";
const AGAIN: &str = "export it again, or as Wavefront OBJ";

/// Reads a file.
pub fn read(path: &Path, frame: &Frame, budget: &Budget) -> Result<Import, ImportError> {
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
    let (scene, copies) = assemble(path, &fbx, &transform, budget, &mut tally)?;
    tally.into(&scene, &mut report);
    Ok(Import { copies, ..Import::of(path, scene, transform, report) })
}

/// Has the library take a file apart, without lists of edges: for each entry it would go back over a whole face.
fn parse(path: &Path, bytes: &mut [u8]) -> Result<SceneRoot, ImportError> {
    let whole = place::check(bytes).map_err(|place| other(path, bytes).unwrap_or_else(|| broken(path, place)))?;
    if let Some(list) = &whole.miscounted {
        return Err(miscounted(path, bytes, list));
    }
    for at in whole.edges {
        bytes[at] = b'e'; // a name that means nothing
    }
    // a text may end in bytes that are none
    let records = if place::is_binary(bytes) { bytes.len() } else { whole.end as usize };
    let bytes = &bytes[..records];
    load(bytes, whole.foreign, ProgressCb::Unset).map_err(|error| why(path, bytes, whole.end, error))
}

/// That a file is no FBX at all, if so.
fn other(path: &Path, bytes: &[u8]) -> Option<ImportError> {
    let first =
        |cause: &str, hint: &str| Some(ImportError { place: Place::Byte(0), ..ImportError::input(path, cause, hint) });
    if bytes.is_empty() {
        return first("the file is empty", AGAIN);
    }
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        return first("this is text in UTF-16", "save it in UTF-8");
    }
    if bytes.iter().all(|&b| b == 0) {
        return first(ZEROS[0], ZEROS[1]);
    }
    // zero bytes and 0x1A are how some texts end
    let text = bytes.trim_ascii_end();
    let length = text.iter().rposition(|b| !matches!(b, 0 | 0x1A)).map_or(0, |last| last + 1);
    let odd = |b: &u8| matches!(b, 0..=8 | 14..=25 | 27..=31);
    let at = text[..length].iter().position(odd).filter(|_| !place::is_binary(bytes) && !bytes.starts_with(TEXT))?;
    let cause = "this is no text, and the file does not begin as a binary FBX does";
    let error = ImportError::input(path, cause, "check what kind of file it is, or copy it again");
    Some(ImportError { place: Place::Byte(at as u64), ..error })
}

fn broken(path: &Path, at: place::Broken) -> ImportError {
    let error = ImportError::input(path, at.what, "copy the file again, or export it again");
    ImportError { place: Place::Byte(at.byte), ..error }
}

/// That a list of a text is not as long as it states.
fn miscounted(path: &Path, bytes: &[u8], list: &place::Miscounted) -> ImportError {
    let place::Miscounted { at, name, stated, held } = list;
    let cause = format!("the list {name} states {} and holds {}", counted(*stated, "number"), grouped(*held));
    let place = Place::Line(lines(&bytes[..*at]) + 1);
    ImportError { place, ..ImportError::input(path, cause, "export it again, or as binary FBX") }
}

/// `records`: with the records that the file has, as [`spelled`] needs them.
fn load(bytes: &[u8], records: bool, progress_cb: ProgressCb) -> Result<SceneRoot, ErrorType> {
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
        retain_dom: records,
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
    if let Some(error) = other(path, bytes) {
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
    let again = load(bytes, false, ProgressCb::Mut(&mut watch));
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
        _ if memchr::memmem::find(bytes, b"Open Asset Import Library").is_some() => {
            let cause = "assimp wrote it, and leaves out records by which lists in it end";
            let hint = "have it write Wavefront OBJ: assimp export SOURCE FILE.obj";
            let error = ImportError::new(ImportErrorKind::Unsupported, path, cause, hint);
            ImportError { next: Some(Next::BuildUp), ..error }
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
        use WarningType::{
            BadElementConnectedToRoot, DuplicateObjectId, MissingGeometryData, MissingPolygonMapping, TruncatedArray,
        };
        if let BadElementConnectedToRoot
        | DuplicateObjectId
        | MissingGeometryData
        | MissingPolygonMapping
        | TruncatedArray = warning.type_
        {
            tally.add(Thing::Damaged, warning.count as u64);
        }
    }
    for mesh in &fbx.meshes {
        tally.add(Thing::Normals, mesh.vertex_normal.values.len() as u64);
        tally.add(Thing::TextureCoordinates, mesh.uv_sets.iter().map(|s| s.vertex_uv.values.len() as u64).sum());
        tally.add(Thing::Colours, mesh.color_sets.iter().map(|s| s.vertex_color.values.len() as u64).sum());
    }
}

/// Names of objects and materials that are not UTF-8, by the element's number: the library has U+FFFD for what is not,
/// so that names may become one; the file's records have them whole.
fn spelled(fbx: &ufbx::Scene, tally: &mut Tally) -> HashMap<u32, String> {
    const LOST: char = '\u{FFFD}';
    let rest = |name: &str| name.replace(LOST, "");
    let elements = fbx.nodes.iter().map(|n| &n.element).chain(fbx.materials.iter().map(|m| &m.element));
    let mut all = HashMap::new();
    for element in elements.filter(|e| e.name.contains(LOST)) {
        let texts = element.dom_node.iter().flat_map(|record| &record.values).map(|value| &*value.value_blob);
        // of a text `Model::name`, of bytes `name, 0, 1, Model`
        let names = texts.flat_map(|text| {
            let at = |mark: &[u8; 2]| text.windows(2).position(|pair| pair == mark);
            [at(b"::").map(|at| &text[at + 2..]), at(b"\0\x01").map(|at| &text[..at]), Some(text)]
        });
        let is_it = |name: &&[u8]| rest(&String::from_utf8_lossy(name)) == rest(&element.name);
        if let Some(name) = names.flatten().find(is_it) {
            tally.add(Thing::Names, 1);
            all.insert(element.element_id, text::name(name).into_owned());
        }
    }
    all
}

/// A mesh where an object has it.
struct Piece<'a> {
    mesh: &'a Mesh,
    node: &'a Node,
    place: &'a node::Placed,
    source: u32,
}

/// Meshes as triangles: in the order of the file, once for each object that has them.
fn assemble(
    path: &Path,
    fbx: &ufbx::Scene,
    transform: &Transform,
    budget: &Budget,
    tally: &mut Tally,
) -> Result<(Scene, Placed), ImportError> {
    let places = node::place(fbx);
    let mut copies = Placed::default();
    let long = || {
        let cause = format!("an object's name, with those that it stands in, is longer than {LONGEST_NAME} bytes");
        ImportError::input(path, cause, "take it out of its groups in a mesh editor, or give shorter names")
    };
    let spelled = spelled(fbx, tally);
    let (mut sources, mut materials) = (Names::default(), Materials::of(fbx, &spelled));
    let mut pieces = Vec::new();
    let (mut vertices, mut triangles) = (0, 0);
    for mesh in &fbx.meshes {
        let times = pieces.len();
        for node in &mesh.element.instances {
            let Some(place) = places.get(node.element.typed_id as usize) else { continue };
            let name = name(node, &spelled).ok_or_else(long)?;
            if place.hidden || place.coarse {
                let thing = if place.hidden { Thing::Hidden } else { Thing::Coarse };
                tally.name(thing, &name, mesh.num_triangles as u64);
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
            pieces.push(Piece {
                mesh,
                node,
                place,
                source: sources.number(&name).ok_or_else(|| Names::too_long(path))?,
            });
            (vertices, triangles) = (vertices + mesh.vertices.len(), triangles + mesh.num_triangles);
        }
        copies.add((pieces.len() - times) as u64, mesh.num_triangles as u64);
    }
    budget.holds(path, &copies, triangles as u64, places::FEWER)?;
    if vertices > MAX_VERTICES {
        return Err(too_many(path, "more than 4,294,967,293 vertices"));
    }
    let (names, source_number) = number_sources(sources.list.iter().map(AsRef::as_ref));
    tally.add(Thing::Others, sources.list.len().saturating_sub(MAX_SOURCES) as u64);
    let mut scene = Scene { sources: names, ..Scene::default() };
    let room = scene.positions.try_reserve_exact(vertices).and(scene.triangles.try_reserve(triangles));
    room.map_err(|_| {
        no_memory(
            path,
            &format!("{} and {}", counted(vertices as u64, "vertex"), counted(triangles as u64, "triangle")),
        )
    })?;
    for piece in pieces {
        let source = source_number[piece.source as usize];
        faces(path, &piece, source, transform, &mut materials, &mut scene, tally)?;
    }
    let materials = materials.names.list;
    scene.materials = plain(path, &materials)?;
    if scene.triangles.is_empty() {
        return Err(tally.nothing(path, "export the objects as meshes, and show those that are hidden"));
    }
    forget_unused(&mut scene);
    Ok((scene, copies))
}

/// Names from the outermost object to this one, with `/` between them; blanks as an OBJ can say them. None if it is too
/// long.
fn name(node: &Node, spelled: &HashMap<u32, String>) -> Option<String> {
    let mut names = Vec::new();
    let mut at = Some(node);
    let mut length = 0;
    while let Some(node) = at.filter(|n| !n.is_root) {
        let name = called(&node.element, spelled);
        length += name.len() + 1;
        if length > LONGEST_NAME + 1 {
            return None;
        }
        names.push(words(name));
        at = node.parent.as_deref();
    }
    names.retain(|n| !n.is_empty());
    names.reverse();
    Some(if names.is_empty() { NO_NAME.into() } else { names.join("/") })
}

fn called<'a>(element: &'a Element, spelled: &'a HashMap<u32, String>) -> &'a str {
    spelled.get(&element.element_id).map_or(&element.name, String::as_str)
}

/// A name with one blank between its words.
fn words(name: &str) -> String {
    name.split(|c: char| c.is_whitespace() || c == '\0').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Materials that faces have, numbered as they are met.
struct Materials<'a> {
    names: Names,
    /// By the library's number of a material.
    numbers: Vec<Option<u32>>,
    spelled: &'a HashMap<u32, String>,
}

impl<'a> Materials<'a> {
    fn of(fbx: &ufbx::Scene, spelled: &'a HashMap<u32, String>) -> Self {
        Materials { names: Names::default(), numbers: vec![None; fbx.materials.len()], spelled }
    }

    fn number(&mut self, material: Option<&ufbx::Material>) -> Option<u32> {
        let Some(element) = material.map(|m| &m.element) else { return self.names.number(NO_NAME) };
        let known = &mut self.numbers[element.typed_id as usize];
        if known.is_none() {
            let name = words(called(element, self.spelled));
            *known = self.names.number(if name.is_empty() { NO_NAME } else { &name });
        }
        *known
    }
}

/// Adds the triangles of a piece.
fn faces(
    path: &Path,
    piece: &Piece,
    source: u16,
    transform: &Transform,
    materials: &mut Materials,
    scene: &mut Scene,
    tally: &mut Tally,
) -> Result<(), ImportError> {
    let Piece { mesh, node, place, .. } = piece;
    let base = scene.positions.len();
    scene.positions.extend(mesh.vertices.iter().map(|v| transform.apply(place.geometry.apply([v.x, v.y, v.z]))));
    let Scene { positions, triangles, .. } = scene;
    let positions = &positions[base..];
    let mirrored = place.geometry.mirrors() != transform.mirrors();
    let mut cutter = Cutter::default();
    for (i, face) in mesh.faces.iter().enumerate() {
        let range = face.index_begin as usize..face.index_begin as usize + face.num_indices as usize;
        let corners = mesh.vertex_indices.get(range).unwrap_or_default();
        if mesh.face_hole.get(i) == Some(&true) {
            tally.add(Thing::Holes, 1);
            continue;
        }
        let is_there = |v: u32| positions.get(v as usize).is_some_and(|p| p.iter().all(|v| v.is_finite()));
        if !corners.iter().all(|&v| is_there(v)) {
            tally.add(Thing::NotFinite, 1);
            continue;
        }
        // an object may have other materials than its mesh
        let slot = mesh.face_material.get(i).map(|&m| m as usize);
        let material = slot.and_then(|m| node.materials.get(m).or(mesh.materials.get(m)));
        let material = materials.number(material.map(|m| &**m)).ok_or_else(|| Names::too_long(path))? as u16;
        let emit = |[a, b, c]: [u32; 3]| {
            let v = if mirrored { [a, c, b] } else { [a, b, c] }.map(|v| v + base as u32);
            triangles.push(Triangle { v, material, source });
        };
        cutter.face(corners, positions, |thing| tally.add(thing, 1), emit).map_err(|(cause, hint)| {
            let object = quoted(name(node, materials.spelled).unwrap_or_default().as_bytes());
            ImportError::input(path, format!("object {object}: face {i} {cause}"), hint)
        })?;
    }
    Ok(())
}
