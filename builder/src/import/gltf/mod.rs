//! glTF 2.0 and GLB: meshes where nodes put them, with the names of nodes and materials.

mod accessor;
mod container;
mod tree;

use std::path::{Path, PathBuf};

use self::accessor::Source;
use self::tree::{Node, Primitive, Root};
use super::{
    FileReport, Frame, Import, ImportError, ImportErrorKind, Library, MAX_SOURCES, MAX_VERTICES, NO_NAME, Names, Next,
    Place, Unit, Up, bytes, file_name, forget_unused, number_sources, plain,
    report::{Tally, Thing},
    too_many,
};
use crate::scene::{Scene, Triangle};
use crate::settings::frame::{Native, Transform};
use crate::util::text::{bounded, grouped};

const AGAIN: &str = "copy the file again, or export it again";
/// Bytes of a node's name with those that it stands in.
const LONGEST_NAME: usize = 4_096;

/// As the format has it.
fn native() -> Native {
    Native { says_axes: true, says_unit: true, ..Native::silent(Up::Y, Unit::M) }
}

/// Extensions without which a ground is the same, by how their names begin.
const NEEDLESS: [&str; 9] = [
    "KHR_materials_",
    "KHR_texture_",
    "EXT_texture_",
    "MSFT_texture_",
    "MSFT_packing_",
    "KHR_lights_",
    "EXT_lights_",
    "KHR_audio",
    "KHR_xmp",
];
/// Those that are read.
const KNOWN: [&str; 1] = ["KHR_mesh_quantization"];

/// Reads a file.
pub fn read(path: &Path, frame: &Frame) -> Result<Import, ImportError> {
    let whole = bytes::whole(path)?;
    let (text, own) = container::parts(&whole, path)?;
    let root: Root = serde_json::from_slice(text).map_err(|e| {
        let place = if own.is_some() || text.len() != whole.len() { Place::File } else { Place::Line(e.line() as u64) };
        let message = e.to_string();
        let cause = message.rsplit_once(" at line ").map_or(&*message, |(cause, _)| cause);
        ImportError { place, ..ImportError::input(path, format!("its JSON: {}", bounded(cause)), AGAIN) }
    })?;
    let is_needed = |name: &&String| !KNOWN.contains(&&***name) && !NEEDLESS.iter().any(|n| name.starts_with(n));
    if let Some(name) = root.extensions_required.iter().find(is_needed) {
        let cause = format!("it needs the extension {:?}, which is not read", bounded(name));
        let hint = "export it without (in Blender: without compression)";
        let error = ImportError::new(ImportErrorKind::Unsupported, path, cause, hint);
        return Err(ImportError { next: Some(Next::Build), ..error });
    }
    let (buffers, files) = container::buffers(&root, own, path)?;
    let transform = frame.transform(&native());
    let mut tally = Tally::default();
    tally.add(Thing::Moving, root.animations.len() as u64);
    let source = Source { root: &root, buffers: &buffers };
    let mut scene = assemble(path, &source, &transform, &mut tally)?;
    if scene.triangles.is_empty() {
        return Err(tally.nothing(path, "export the objects as meshes, each with a node in the scene"));
    }
    forget_unused(&mut scene);
    let library =
        |file: PathBuf| Library { name: file_name(&file), line: 0, materials: None, problem: None, file: Some(file) };
    let mut report = FileReport {
        file: file_name(path),
        format: "gltf",
        bytes: whole.len() as u64,
        lines: 0,
        frame: transform.to_string(),
        libraries: files.into_iter().map(library).collect(),
        ..FileReport::default()
    };
    tally.into(&scene, &mut report);
    Ok(Import::of(path, scene, transform, report))
}

/// Rows of three numbers and a way: what a node does to its children.
type Matrix = [[f64; 4]; 3];

const NO_MOVE: Matrix = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

/// First `b`, then `a`.
fn product(a: &Matrix, b: &Matrix) -> Matrix {
    [0, 1, 2].map(|i| {
        [0, 1, 2, 3].map(|j| {
            let sum = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
            if j == 3 { sum + a[i][3] } else { sum }
        })
    })
}

fn apply(m: &Matrix, p: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| m[i][0] * p[0] + m[i][1] * p[1] + m[i][2] * p[2] + m[i][3])
}

/// Whether it turns right-handed axes into left-handed ones.
fn mirrors(m: &Matrix) -> bool {
    let [a, b, c] = m;
    let minor = |j: usize, k: usize| b[j] * c[k] - b[k] * c[j];
    a[0] * minor(1, 2) - a[1] * minor(0, 2) + a[2] * minor(0, 1) < 0.0
}

/// The transform of a node: a matrix, or scale, turn and way, in this order.
fn own(node: &Node) -> Matrix {
    if let Some(m) = node.matrix {
        return [0, 1, 2].map(|i| [m[i], m[4 + i], m[8 + i], m[12 + i]]);
    }
    let [x, y, z, w] = node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
    let turn = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ];
    let (scale, way) = (node.scale.unwrap_or([1.0; 3]), node.translation.unwrap_or_default());
    [0, 1, 2].map(|i| [turn[i][0] * scale[0], turn[i][1] * scale[1], turn[i][2] * scale[2], way[i]])
}

/// Meshes as triangles, in the order of a walk over the nodes.
fn assemble(path: &Path, source: &Source, transform: &Transform, tally: &mut Tally) -> Result<Scene, ImportError> {
    let root = source.root;
    let wrong = |cause: String| ImportError::input(path, cause, AGAIN);
    let tops: Vec<usize> = match root.scenes.get(root.scene.unwrap_or(0)) {
        Some(scene) => scene.nodes.clone(),
        None => {
            let mut inner = vec![false; root.nodes.len()];
            for &child in root.nodes.iter().flat_map(|n| &n.children) {
                if let Some(is) = inner.get_mut(child) {
                    *is = true;
                }
            }
            (0..inner.len()).filter(|&i| !inner[i]).collect()
        }
    };
    let mut seen = vec![false; root.nodes.len()];
    let mut parents: Vec<Option<usize>> = vec![None; root.nodes.len()];
    let mut used = vec![false; root.meshes.len()];
    let (mut sources, mut materials) = (Names::default(), Names::default());
    let mut of: Vec<u32> = Vec::new();
    let mut scene = Scene::default();
    let mut stack: Vec<(usize, Matrix)> = tops.into_iter().rev().map(|i| (i, NO_MOVE)).collect();
    while let Some((i, above)) = stack.pop() {
        let node = root.nodes.get(i).ok_or_else(|| wrong(format!("nodes[{i}] is not there")))?;
        if std::mem::replace(&mut seen[i], true) {
            return Err(wrong(format!("nodes[{i}] stands in two nodes, or in itself")));
        }
        let matrix = product(&above, &own(node));
        for &child in node.children.iter().rev() {
            if let Some(parent) = parents.get_mut(child) {
                *parent = Some(i);
            }
            stack.push((child, matrix));
        }
        let Some(number) = node.mesh else { continue };
        let mesh = root.meshes.get(number).ok_or_else(|| wrong(format!("meshes[{number}] is not there")))?;
        used[number] = true;
        tally.add(Thing::Instances, 1);
        let deformed = node.skin.is_some() || mesh.primitives.iter().any(|p| !p.targets.is_empty());
        tally.add(Thing::Skinned, deformed.into());
        let name = name(root, &parents, i, mesh.name.as_deref()).ok_or_else(|| {
            let cause = format!("a node's name, with those that it stands in, is longer than {LONGEST_NAME} bytes");
            ImportError::input(path, cause, "give shorter names in a mesh editor")
        })?;
        let object = sources.number(&name).ok_or_else(|| Names::too_long(path))?;
        for (p, primitive) in mesh.primitives.iter().enumerate() {
            let at = |cause: String| wrong(format!("meshes[{number}].primitives[{p}]: {cause}"));
            let material = match primitive.material {
                None => NO_NAME,
                Some(m) => {
                    let found = root.materials.get(m).ok_or_else(|| at(format!("materials[{m}] is not there")))?;
                    found.name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or(NO_NAME)
                }
            };
            let material = materials.number(&words(material)).ok_or_else(|| Names::too_long(path))?;
            if material > u32::from(u16::MAX) {
                return Err(too_many(path, "more than 65,535 materials"));
            }
            let before = scene.triangles.len();
            faces(source, primitive, &matrix, transform, material as u16, &mut scene, tally).map_err(at)?;
            if scene.positions.len() > MAX_VERTICES {
                return Err(too_many(path, "more than 4,294,967,293 vertices"));
            }
            of.resize(of.len() + scene.triangles.len() - before, object);
        }
    }
    tally.add(Thing::Unplaced, used.iter().filter(|used| !**used).count() as u64);
    tally.add(Thing::Others, sources.list.len().saturating_sub(MAX_SOURCES) as u64);
    let (names, numbers) = number_sources(sources.list.iter().map(AsRef::as_ref));
    scene.triangles.iter_mut().zip(of).for_each(|(t, object)| t.source = numbers[object as usize]);
    scene.sources = names;
    scene.materials = plain(path, &materials.list)?;
    Ok(scene)
}

/// Names from the outermost node to this one, with `/` between them; the mesh's where no node has one.
fn name(root: &Root, parents: &[Option<usize>], node: usize, mesh: Option<&str>) -> Option<String> {
    let (mut names, mut length, mut at) = (Vec::new(), 0, Some(node));
    while let Some(i) = at {
        let name = root.nodes[i].name.as_deref().map(words).filter(|name| !name.is_empty());
        length += name.as_ref().map_or(0, |name| name.len() + 1);
        if length > LONGEST_NAME + 1 {
            return None;
        }
        names.extend(name);
        at = parents[i];
    }
    names.reverse();
    let mesh = || mesh.map(words).filter(|name| !name.is_empty() && name.len() <= LONGEST_NAME);
    Some(if names.is_empty() { mesh().unwrap_or_else(|| NO_NAME.into()) } else { names.join("/") })
}

/// A name with one blank between its words.
fn words(name: &str) -> String {
    name.split(|c: char| c.is_whitespace() || c == '\0').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Most vertices of all nodes together, and most triangles with the corners of one primitive: less than a gigabyte.
const MAX_COUNT: u64 = 1 << 25;

/// Adds the triangles of a primitive.
fn faces(
    source: &Source,
    primitive: &Primitive,
    matrix: &Matrix,
    transform: &Transform,
    material: u16,
    scene: &mut Scene,
    tally: &mut Tally,
) -> Result<(), String> {
    let mode = primitive.mode.unwrap_or(4);
    if mode < 4 {
        tally.add(Thing::PointsAndLines, 1);
        return Ok(());
    }
    if mode > 6 {
        return Err(format!("its mode {mode} is unknown"));
    }
    let &places = primitive.attributes.get("POSITION").ok_or("it has no POSITION")?;
    // counted before they are read: a short file may name one accessor again and again
    let stated = |number: usize| source.root.accessors.get(number).map_or(0, |accessor| accessor.count);
    let vertices = (scene.positions.len() as u64).saturating_add(stated(places));
    let corners = (scene.triangles.len() as u64).saturating_add(primitive.indices.map_or(0, stated));
    if vertices.max(corners) > MAX_COUNT {
        let found = grouped(vertices.max(corners));
        return Err(format!(
            "with those before it that are {found} vertices or corners, and {} are the most",
            grouped(MAX_COUNT)
        ));
    }
    let places = source.places(places)?;
    let indices = match primitive.indices {
        Some(number) => source.indices(number, places.len())?,
        None => (0..places.len() as u32).collect(),
    };
    let base = scene.positions.len() as u32;
    let room = scene.positions.try_reserve(places.len()).and(scene.triangles.try_reserve(indices.len()));
    room.map_err(|_| "there is not enough memory for it")?;
    scene.positions.extend(places.iter().map(|p| transform.apply(apply(matrix, *p))));
    let count = |name: &str| primitive.attributes.keys().filter(|key| key.starts_with(name)).count() * places.len();
    tally.add(Thing::Normals, count("NORMAL") as u64);
    tally.add(Thing::TextureCoordinates, count("TEXCOORD") as u64);
    tally.add(Thing::Colours, count("COLOR") as u64);
    let is_finite = |v: u32| scene.positions[(base + v) as usize].iter().all(|v| v.is_finite());
    let turned = mirrors(matrix);
    let mut all = Vec::new();
    match mode {
        4 => {
            tally.add(Thing::Small, u64::from(indices.len() % 3 != 0));
            all.extend(indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]));
        }
        5 => all.extend(
            indices
                .windows(3)
                .enumerate()
                .map(|(i, t)| if i % 2 == 0 { [t[0], t[1], t[2]] } else { [t[1], t[0], t[2]] }),
        ),
        _ => {
            if let [first, rest @ ..] = &indices[..] {
                all.extend(rest.windows(2).map(|t| [*first, t[0], t[1]]));
            }
        }
    }
    for [a, b, c] in all {
        // a strip may stand still to turn
        if mode == 5 && (a == b || b == c || c == a) {
            continue;
        }
        if ![a, b, c].into_iter().all(is_finite) {
            tally.add(Thing::NotFinite, 1);
            continue;
        }
        let v = if turned { [a, c, b] } else { [a, b, c] }.map(|v| v + base);
        scene.triangles.push(Triangle { v, material, source: 0 });
        tally.add(Thing::Faces, 1);
    }
    Ok(())
}
