//! glTF 2.0 and GLB: meshes where nodes put them, with the names of nodes and materials.

mod accessor;
mod container;
mod tree;

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    rc::Rc,
};

use self::accessor::Source;
use self::tree::{Mesh, Node, Primitive, Root};
use super::{
    FileReport, Frame, Import, ImportError, ImportErrorKind, Library, MAX_SOURCES, MAX_VERTICES, NO_NAME, Names, Next,
    Place, Unit, Up, bytes, file_name, forget_unused, number_sources,
    place::{Budget, FEWER, Placed},
    plain,
    report::{Tally, Thing},
    too_many,
};
use crate::scene::{Scene, Triangle};
use crate::settings::frame::{Native, Transform};
use crate::util::text::{bounded, grouped};

const AGAIN: &str = "copy the file again, or export it again";
/// Objects of the JSON: one takes hundreds of bytes, and three of the file.
const MAX_OBJECTS: usize = 4_000_000;
/// How a file has fewer triangles than its bytes can hold once.
const FEWER_LISTS: &str = "use its lists of vertices fewer times";
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
pub fn read(path: &Path, frame: &Frame, budget: &Budget) -> Result<Import, ImportError> {
    let whole = bytes::whole(path)?;
    let (text, own) = container::parts(&whole, path)?;
    if memchr::memchr_iter(b'{', text).count() > MAX_OBJECTS {
        let cause = format!("its JSON has more than {} objects", grouped(MAX_OBJECTS as u64));
        return Err(ImportError::input(path, cause, "join meshes and nodes in a mesh editor, or split the file"));
    }
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
    let (buffers, files, held) = container::buffers(&root, own, path)?;
    let transform = frame.transform(&native());
    let mut tally = Tally::default();
    tally.add(Thing::Moving, root.animations.len() as u64);
    let source = Source { root: &root, buffers: &buffers };
    let copies = count(path, &root, held, budget)?;
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
    Ok(Import { copies, ..Import::of(path, scene, transform, report) })
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
    if let Some(m) = node.matrix.as_deref() {
        return [0, 1, 2].map(|i| [m[i], m[4 + i], m[8 + i], m[12 + i]]);
    }
    let [x, y, z, w] = node.rotation.as_deref().copied().unwrap_or([0.0, 0.0, 0.0, 1.0]);
    let turn = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ];
    let scale = node.scale.as_deref().copied().unwrap_or([1.0; 3]);
    let way = node.translation.as_deref().copied().unwrap_or_default();
    [0, 1, 2].map(|i| [turn[i][0] * scale[0], turn[i][1] * scale[1], turn[i][2] * scale[2], way[i]])
}

/// The outermost nodes.
fn tops(root: &Root) -> Vec<usize> {
    if let Some(scene) = root.scenes.get(root.scene.unwrap_or(0)) {
        return scene.nodes.clone();
    }
    let mut inner = vec![false; root.nodes.len()];
    for &child in root.nodes.iter().flat_map(|n| &n.children) {
        if let Some(is) = inner.get_mut(child) {
            *is = true;
        }
    }
    (0..inner.len()).filter(|&i| !inner[i]).collect()
}

/// Triangles of a mesh, as its accessors state them. A primitive counts as one, whatever it has, and so do three
/// vertices.
fn size(root: &Root, mesh: &Mesh) -> u64 {
    let count = |number: usize| root.accessors.get(number).map_or(0, |a| a.count);
    let (mut triangles, mut vertices) = (0u64, 0u64);
    let mut known = HashSet::new();
    for primitive in &mesh.primitives {
        let place = primitive.attributes.get("POSITION").copied();
        let own = place.map_or(0, count);
        let corners = primitive.indices.map_or(own, count);
        let mode = primitive.mode.unwrap_or(4);
        let faces = if mode == 4 { corners / 3 } else { corners.saturating_sub(2) };
        triangles = triangles.saturating_add(if mode < 4 { 1 } else { faces.max(1) });
        if mode >= 4 && place.is_some_and(|place| known.insert(place)) {
            vertices = vertices.saturating_add(own);
        }
    }
    triangles.max(vertices / 3)
}

/// What stands several times, of a file whose buffers have so many bytes. All that nodes place is held to the budget.
fn count(path: &Path, root: &Root, held: u64, budget: &Budget) -> Result<Placed, ImportError> {
    let wrong = |cause: String| ImportError::input(path, cause, AGAIN);
    let mut times = vec![0u64; root.meshes.len()];
    let mut seen = vec![false; root.nodes.len()];
    let mut stack = tops(root);
    while let Some(i) = stack.pop() {
        let node = root.nodes.get(i).ok_or_else(|| wrong(format!("nodes[{i}] is not there")))?;
        if std::mem::replace(&mut seen[i], true) {
            return Err(wrong(format!("nodes[{i}] stands in two nodes, or in itself")));
        }
        stack.extend(&node.children);
        if let Some(number) = node.mesh {
            *times.get_mut(number).ok_or_else(|| wrong(format!("meshes[{number}] is not there")))? += 1;
        }
    }
    let (mut copies, mut all) = (Placed::default(), Placed::default());
    for (mesh, times) in root.meshes.iter().zip(times) {
        let own = size(root, mesh);
        copies.add(times, own);
        all.places = all.places.saturating_add(times.saturating_mul(mesh.primitives.len() as u64));
        all.triangles = all.triangles.saturating_add(own.saturating_mul(times));
    }
    // a triangle that is no copy takes a byte at least: for more, primitives share their lists
    let (copies, fewer) = if all.places > 1 && all.triangles > held { (all, FEWER_LISTS) } else { (copies, FEWER) };
    budget.holds(path, &copies, all.triangles, fewer)?;
    Ok(copies)
}

/// Meshes as triangles, in the order of a walk over the nodes.
fn assemble(path: &Path, source: &Source, transform: &Transform, tally: &mut Tally) -> Result<Scene, ImportError> {
    let root = source.root;
    let wrong = |cause: String| ImportError::input(path, cause, AGAIN);
    let mut used = vec![false; root.meshes.len()];
    let (mut sources, mut materials) = (Names::default(), Names::default());
    let mut of: Vec<u32> = Vec::new();
    let mut scene = Scene::default();
    // each with the transform and the name of what it stands in
    let nowhere: Rc<str> = "".into();
    let mut stack: Vec<(usize, Matrix, Rc<str>)> =
        tops(root).into_iter().rev().map(|i| (i, NO_MOVE, nowhere.clone())).collect();
    while let Some((i, above, outer)) = stack.pop() {
        let node = &root.nodes[i];
        let matrix = product(&above, &own(node));
        let name = inner_name(&outer, node.name.as_deref()).ok_or_else(|| {
            let cause = format!("a node's name, with those that it stands in, is longer than {LONGEST_NAME} bytes");
            ImportError::input(path, cause, "give shorter names in a mesh editor")
        })?;
        stack.extend(node.children.iter().rev().map(|&child| (child, matrix, name.clone())));
        let Some(number) = node.mesh else { continue };
        let mesh = &root.meshes[number];
        used[number] = true;
        tally.add(Thing::Instances, 1);
        let deformed = node.skin.is_some() || mesh.primitives.iter().any(|p| !p.targets.is_empty());
        tally.add(Thing::Skinned, deformed.into());
        let own = || mesh.name.as_deref().map(words).filter(|own| !own.is_empty() && own.len() <= LONGEST_NAME);
        let name = if name.is_empty() { own().map_or(NO_NAME.into(), Rc::from) } else { name };
        let object = sources.number(&name).ok_or_else(|| Names::too_long(path))?;
        // primitives of a mesh may share vertices
        let mut known = HashMap::new();
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
            faces(source, primitive, &matrix, transform, material as u16, &mut known, &mut scene, tally).map_err(at)?;
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

/// The name of a node with those that it stands in, with `/` between them. None if it is too long.
fn inner_name(outer: &Rc<str>, own: Option<&str>) -> Option<Rc<str>> {
    let own = own.map(words).filter(|own| !own.is_empty());
    let name = match own {
        None => outer.clone(),
        Some(own) if outer.is_empty() => own.into(),
        Some(own) => format!("{outer}/{own}").into(),
    };
    (name.len() <= LONGEST_NAME).then_some(name)
}

/// A name with one blank between its words.
fn words(name: &str) -> String {
    name.split(|c: char| c.is_whitespace() || c == '\0').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Adds the triangles of a primitive.
#[allow(clippy::too_many_arguments)] // what is read, and where it goes
fn faces(
    source: &Source,
    primitive: &Primitive,
    matrix: &Matrix,
    transform: &Transform,
    material: u16,
    known: &mut HashMap<usize, (u32, usize)>,
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
    let &number = primitive.attributes.get("POSITION").ok_or("it has no POSITION")?;
    let (base, vertices) = match known.get(&number) {
        Some(known) => *known,
        None => {
            let places = source.places(number)?;
            let base = scene.positions.len() as u32;
            if scene.positions.len() + places.len() > MAX_VERTICES {
                return Err("with it there are more than 4,294,967,293 vertices".into());
            }
            scene.positions.try_reserve(places.len()).map_err(|_| "there is not enough memory for it")?;
            scene.positions.extend(places.iter().map(|p| transform.apply(apply(matrix, *p))));
            known.insert(number, (base, places.len()));
            (base, places.len())
        }
    };
    let indices = match primitive.indices {
        Some(number) => source.indices(number, vertices)?,
        None => (0..vertices as u32).collect(),
    };
    scene.triangles.try_reserve(indices.len() / 3).map_err(|_| "there is not enough memory for it")?;
    let count = |name: &str| primitive.attributes.keys().filter(|key| key.starts_with(name)).count() * vertices;
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
