//! Scenes of MAVS, the simulator of Mississippi State University, as settings.
//!
//! A scene is JSON. Its surfaces become ground, its objects obstacles; [`KEYS`] says what becomes of each key.

mod angles;
mod keys;
mod paths;
mod trail;
mod tree;

pub use self::angles::Angles;
pub use self::keys::{Fate, Holds, KEYS};
use self::keys::{Seen, check, numbers, ranges};
use self::paths::{Folders, Note};
use super::frame::Up;
use super::marks::Trail;
use super::placement::{Placement, Scatter};
use super::{FirstRow, Obstacle, PartRule, Scale, Settings, SettingsError, SourceFile};
use crate::util::text::{bounded, bounded_text, counted};
use hardpan::format::surface;
use serde_json::{Map, Value};
use std::{
    collections::HashMap,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

/// Options that are typed beside a scene.
#[derive(Clone, Debug, Default)]
pub struct Typed {
    /// The unit of turns; by default as the scene's turns show.
    pub angles: Option<Angles>,
    /// The folder of meshes, instead of what the scene says.
    pub mesh_dir: Option<PathBuf>,
    /// The folder of data, in which meshes lie in `scenes/meshes`; by default the one above the scene's folder.
    pub data_dir: Option<PathBuf>,
    /// Another number draws other places.
    pub seed: u32,
    /// What becomes of objects; by default obstacles.
    pub objects: Objects,
    /// Trails are bands of materials.
    pub trails: bool,
    /// The first frame of an animation is an obstacle.
    pub first_frame: bool,
}

/// What becomes of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objects {
    /// They are obstacles.
    #[default]
    Obstacles,
    /// They are obstacles for which boxes stand.
    Boxes,
    /// They are ground, too.
    Drivable,
}

impl Objects {
    fn obstacle(self) -> Option<Obstacle> {
        match self {
            Objects::Obstacles => Some(Obstacle::Yes),
            Objects::Boxes => Some(Obstacle::Box),
            Objects::Drivable => None,
        }
    }
}

/// A scene as settings, and what is to be said of it.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// The settings that build the scene. Files are as a program finds them from where it runs.
    pub settings: Settings,
    /// The same files, in the same order.
    pub files: Vec<PathBuf>,
    /// Sentences that are good to know.
    pub notes: Vec<String>,
    /// Sentences on things that may not be as meant.
    pub warnings: Vec<String>,
    /// Keys that are not used, by their paths.
    pub unused: Vec<String>,
    /// Keys that nobody knows, by their paths.
    pub unknown: Vec<String>,
}

/// A kind of file of MAVS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A scene.
    Scene,
    /// Another one, and what that is.
    Other(&'static str),
}

/// Keys by which a file is known, and what it is.
const MARKS: [(&str, Kind); 18] = [
    ("Surface Mesh", Kind::Scene),
    ("Layered Surface", Kind::Scene),
    ("Objects", Kind::Scene),
    ("PathToMeshes", Kind::Scene),
    ("Object Labels", Kind::Scene),
    ("Animations", Kind::Scene),
    ("Potholes", Kind::Scene),
    ("Label Colors", Kind::Other("a list of labels")),
    ("Labels", Kind::Other("a list of labels")),
    ("Soil Layer", Kind::Other("a list of texture layers")),
    ("Grass Layer", Kind::Other("a list of texture layers")),
    ("Chassis", Kind::Other("a vehicle")),
    ("Axles", Kind::Other("a vehicle")),
    ("Sensors", Kind::Other("a list of sensors")),
    ("Sensor Vehicle", Kind::Other("a simulation")),
    ("Environment", Kind::Other("a simulation or its weather")),
    ("Waypoints", Kind::Other("a list of waypoints")),
    ("Heightmap", Kind::Scene),
];

/// The kind of a text, if it looks like a file of MAVS.
pub fn kind(text: &str) -> Option<Kind> {
    let begins = text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
    let is_there = |(key, _): &&(&str, Kind)| text.contains(&format!("\"{key}\""));
    MARKS.iter().find(is_there).filter(|_| begins).map(|(_, kind)| *kind)
}

/// Materials of surfaces: word, type, and mu by default, which settings may state otherwise.
pub const MATERIALS: [(&str, u16, f64); 6] = [
    ("dry", surface::DRY, 0.9),
    ("wet", surface::WET, 0.6),
    ("ice", surface::ICE, 0.1),
    ("snow", surface::SNOW, 0.3),
    ("clay", surface::CLAY, 0.5),
    ("sand", surface::SAND, 0.5),
];

/// Behaviours of animations.
const BEHAVIOURS: [&str; 3] = ["wander", "circle", "straight"];

/// Reads a scene that lies at a place.
pub fn read(text: &str, place: &Path, typed: &Typed) -> Result<Read, SettingsError> {
    let (tree, twice) = tree::parse(text).map_err(|e| super::json::of_json(text, &e))?;
    let wrong = |text: String| SettingsError::at(None, bounded_text(text));
    let top = tree.as_object().ok_or_else(|| wrong("a scene is an object, { ... }".into()))?;
    let mut seen = Seen::default();
    check(top, "", "", &mut seen).map_err(wrong)?;
    let mut found = Vec::new();
    turns(top, "", &mut found);
    let (angles, said) = match typed.angles {
        Some(angles) => (angles, None),
        None => angles::decide(&found)?,
    };
    let stated = text_of(top, "PathToMeshes");
    let whole = flag(top, "UseFullPaths");
    let folders = Folders::new(place, stated, typed.mesh_dir.as_deref(), typed.data_dir.as_deref(), whole);
    let mut scene =
        Scene { typed, angles, folders, labels: Labels::default(), looked: Vec::new(), read: Read::default() };
    scene.read.notes.extend(said);
    scene.read.warnings.extend(twice.iter().map(|at| format!("{at} stands twice in one object; the last counts")));
    scene.labels(top);
    scene.all(top).map_err(wrong)?;
    let Scene { looked, mut read, .. } = scene;
    for note in looked {
        match note {
            Note::Note(text) => read.notes.push(text),
            Note::Warning(text) => read.warnings.push(text),
        }
    }
    (read.unused, read.unknown) = (seen.unused, seen.unknown);
    read.settings.check(|_, _, _| None)?;
    Ok(read)
}

/// All turns of a tree, each with its place.
fn turns(object: &Map<String, Value>, path: &str, found: &mut Vec<(String, f64)>) {
    for (key, value) in object {
        let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value {
            _ if key == "YawPitchRoll" => {
                let all = numbers::<3>(value).unwrap_or_default();
                found.extend(all.into_iter().enumerate().map(|(i, v)| (format!("{at}[{i}]"), v)));
            }
            Value::Object(inner) => turns(inner, &at, found),
            Value::Array(all) => {
                for (i, inner) in all.iter().enumerate() {
                    if let Some(inner) = inner.as_object() {
                        turns(inner, &format!("{at}[{i}]"), found);
                    }
                }
            }
            _ => {}
        }
    }
}

fn text_of<'v>(object: &'v Map<String, Value>, key: &str) -> Option<&'v str> {
    object.get(key)?.as_str()
}

fn flag(object: &Map<String, Value>, key: &str) -> bool {
    object.get(key).and_then(Value::as_bool).unwrap_or(false)
}

fn number(object: &Map<String, Value>, key: &str) -> Option<f64> {
    object.get(key)?.as_f64()
}

fn triple(object: &Map<String, Value>, key: &str) -> Option<[f64; 3]> {
    object.get(key).and_then(numbers::<3>)
}

fn objects<'v>(object: &'v Map<String, Value>, key: &str) -> impl Iterator<Item = (usize, &'v Map<String, Value>)> {
    let all = object.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    all.iter().enumerate().filter_map(|(i, v)| Some((i, v.as_object()?)))
}

/// Labels of meshes and groups.
#[derive(Default)]
struct Labels {
    of: HashMap<String, u32>,
    /// Names that are no meshes, in order.
    groups: Vec<(String, u32)>,
}

struct Scene<'a> {
    typed: &'a Typed,
    angles: Angles,
    folders: Folders,
    labels: Labels,
    /// Where files were found.
    looked: Vec<Note>,
    read: Read,
}

impl Scene<'_> {
    /// Reads the list of labels, if it is there.
    fn labels(&mut self, top: &Map<String, Value>) {
        let Some(name) = text_of(top, "Object Labels") else { return };
        let read = self.folders.mesh(name, false, &mut self.looked).and_then(|place| {
            let text = fs::read_to_string(&place).map_err(|e| e.to_string())?;
            serde_json::from_str::<Value>(&text).map_err(|e| e.to_string())
        });
        let tree = match read {
            Ok(tree) => tree,
            Err(why) => {
                self.read.notes.push(format!("Object Labels: {why}; nothing has a label"));
                return;
            }
        };
        let all = |key: &str| tree.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let number = |entry: &Value| {
            let number = entry.get("Label Number")?.as_u64()?;
            Some((entry.get("Label")?.as_str()?.to_owned(), u32::try_from(number).ok()?))
        };
        let numbers: HashMap<String, u32> = all("Label Colors").iter().filter_map(number).collect();
        for pair in all("Labels") {
            let [Some(name), Some(label)] = [0, 1].map(|i| pair.get(i).and_then(Value::as_str)) else { continue };
            let Some(&number) = numbers.get(label) else { continue };
            if !name.contains('.') {
                self.labels.groups.push((name.into(), number));
            }
            self.labels.of.insert(name.replace('\\', "/"), number);
        }
    }

    fn all(&mut self, top: &Map<String, Value>) -> Result<(), String> {
        let empty = Map::new();
        let layered = top.get("Layered Surface").and_then(Value::as_object).unwrap_or(&empty);
        let surfaces = objects(top, "Surface Mesh").count();
        if layered.contains_key("Heightmap") {
            let source = self.heightmap(layered, "Layered Surface", [0.0; 3])?;
            self.read.settings.sources.push(source);
            if surfaces > 0 {
                let text = "the ground is that of Layered Surface.Heightmap; Surface Mesh is not used beside it";
                self.read.notes.push(text.into());
            }
        } else if surfaces > 0 {
            for (i, surface) in objects(top, "Surface Mesh") {
                self.surface(surface, &format!("Surface Mesh[{i}]"))?;
            }
            if layered.contains_key("Mesh") {
                self.read
                    .notes
                    .push("the ground is that of Surface Mesh; Layered Surface.Mesh is not used beside it".into());
            }
        } else if layered.contains_key("Mesh") {
            self.surface(layered, "Layered Surface")?;
            self.read.notes.push("the ground is that of Layered Surface.Mesh: there is no Surface Mesh".into());
        }
        let first_is_ground = self.read.files.is_empty();
        let grounds: Vec<String> = self.read.settings.sources.iter().map(|s| s.file.clone()).collect();
        for (i, object) in objects(top, "Objects") {
            let is_ground = first_is_ground && i == 0;
            if is_ground {
                self.read.notes.push("the ground is Objects[0]: there is no Surface Mesh".into());
            }
            let by_group = flag(top, "Label By Group") || flag(object, "Label By Group");
            let on = if self.typed.objects == Objects::Drivable && !first_is_ground { &grounds[..] } else { &[] };
            self.object(object, i, is_ground, by_group, on)?;
        }
        if self.read.files.is_empty() {
            let hint = "add a Surface Mesh or a Layered Surface with a Mesh or a Heightmap, or Objects";
            return Err(match top.contains_key("Heightmap") {
                true => format!("a Heightmap by itself is no ground; {hint}"),
                false => format!("there is no ground: {hint}"),
            });
        }
        if let Some(trail) = layered.get("Trail").and_then(Value::as_object) {
            self.trail(trail)?;
        }
        if let Some(name) = text_of(top, "Potholes") {
            let place = self.folders.data(name).or_else(|_| self.folders.mesh(name, false, &mut self.looked));
            let place = place.map_err(|why| format!("Potholes: {why}"))?;
            self.read.settings.potholes = trail::potholes(&place).map_err(|why| format!("Potholes: {why}"))?;
        }
        for (i, animation) in objects(top, "Animations") {
            let word = text_of(animation, "Behavior").unwrap_or(BEHAVIOURS[0]);
            if !BEHAVIOURS.contains(&word) {
                let text =
                    format!("Animations[{i}].Behavior is {:?}, and {} are known", bounded(word), BEHAVIOURS.join(", "));
                self.read.warnings.push(text);
            }
        }
        if self.typed.first_frame {
            for (i, animation) in objects(top, "Animations") {
                self.animation(animation, &format!("Animations[{i}]"))?;
            }
        }
        Ok(())
    }

    /// A map of heights, its middle at zero and its first row in the south: grey 128 is the height 0.
    fn heightmap(&mut self, own: &Map<String, Value>, at: &str, position: [f64; 3]) -> Result<SourceFile, String> {
        let turned = triple(own, "YawPitchRoll").is_some_and(|turns| turns != [0.0; 3]);
        let flags = ["Rotate Y to Z", "Rotate X to Y", "Rotate Y to X"].map(|key| (key, flag(own, key)));
        let scaled = triple(own, "Scale").is_some_and(|scale| scale != [1.0; 3]);
        let all = flags.into_iter().chain([("YawPitchRoll", turned), ("Scale", scaled)]);
        if let Some((key, _)) = all.into_iter().find(|(_, is)| *is) {
            let hint = "a map of heights takes Position, and in its Heightmap Resolution and Scale";
            return Err(format!("{at}.{key}: {hint}; leave {key} out, or make a mesh of the map"));
        }
        if own.contains_key("Mesh") {
            self.read.notes.push(format!("{at}.Mesh is not used: there is a Heightmap"));
        }
        let at = format!("{at}.Heightmap");
        let own = own.get("Heightmap").and_then(Value::as_object).ok_or_else(|| format!("{at} is no object"))?;
        let map = text_of(own, "Map").filter(|name| !name.is_empty());
        let map = map.ok_or_else(|| format!("{at} has no Map; name a picture"))?;
        let place = self.folders.mesh(map, false, &mut self.looked).map_err(|why| format!("{at}.Map: {why}"))?;
        if !is_picture(&place) {
            return Err(format!("{at}.Map: {} is no picture; name a BMP, a PNG or a TIFF", bounded(map)));
        }
        let (cell, step) = (number(own, "Resolution").unwrap_or(1.0), number(own, "Scale").unwrap_or(0.1));
        if !(cell > 0.0 && cell < 1e6) {
            return Err(format!("{at}.Resolution is {cell}; write a number of metres above 0"));
        }
        if step == 0.0 {
            return Err(format!("{at}.Scale is 0; write the metres of a step of grey"));
        }
        let source = SourceFile {
            file: place.to_string_lossy().into_owned(),
            cell: Some(cell),
            height_scale: Some(step),
            height_zero: Some(-128.0 * step),
            first_row: Some(FirstRow::South),
            centred: Some(true),
            translate: Some(position).filter(|p| *p != [0.0; 3]),
            ..SourceFile::default()
        };
        self.read.files.push(place);
        Ok(source)
    }

    /// A source for a mesh, with what turns its axes.
    fn source(&mut self, own: &Map<String, Value>, at: &str, first: bool) -> Result<SourceFile, String> {
        let mesh = text_of(own, "Mesh").filter(|name| !name.is_empty());
        let mesh = mesh.ok_or_else(|| format!("{at} has no Mesh; name a file"))?;
        let place = self.folders.mesh(mesh, first, &mut self.looked).map_err(|why| format!("{at}.Mesh: {why}"))?;
        let quarters = i32::from(flag(own, "Rotate X to Y")) - i32::from(flag(own, "Rotate Y to X"));
        let source = SourceFile {
            file: place.to_string_lossy().into_owned(),
            up: Some(if flag(own, "Rotate Y to Z") { Up::Y } else { Up::Z }),
            unit: Some(super::Unit::M),
            yaw_deg: (quarters != 0).then(|| f64::from(90 * quarters)),
            label: self.labels.of.get(&mesh.replace('\\', "/")).copied(),
            ..SourceFile::default()
        };
        self.read.files.push(place);
        Ok(source)
    }

    fn placement(&self, own: &Map<String, Value>) -> Placement {
        let turns = triple(own, "YawPitchRoll").unwrap_or_default();
        let [yaw, pitch, roll] = turns.map(|v| self.angles.degrees(v));
        let turn = |v: f64| (v != 0.0).then_some(v);
        Placement {
            scale: triple(own, "Scale").filter(|s| *s != [1.0; 3]).map(Scale::Each),
            roll_deg: turn(roll),
            pitch_deg: turn(pitch),
            yaw_deg: turn(yaw),
            at: triple(own, "Position").filter(|p| *p != [0.0; 3]).map(|p| p.map(|v| v + 0.0)),
        }
    }

    fn surface(&mut self, own: &Map<String, Value>, at: &str) -> Result<(), String> {
        let mut source = if own.contains_key("Heightmap") {
            self.heightmap(own, at, triple(own, "Position").unwrap_or_default())?
        } else {
            let source = self.source(own, at, at.starts_with("Surface"))?;
            SourceFile { placed: vec![self.placement(own)], ..source }
        };
        let word = text_of(own, "Material").unwrap_or_default();
        if let Some((_, kind, mu)) = MATERIALS.iter().find(|(name, ..)| *name == word) {
            (source.surface_type, source.mu) = (Some(*kind), Some(*mu));
        } else if !word.is_empty() {
            let all: Vec<&str> = MATERIALS.iter().map(|(name, ..)| *name).collect();
            return Err(format!("{at}.Material is {:?}; write one of {}", bounded(word), all.join(", ")));
        }
        if [surface::CLAY, surface::SAND].map(Some).contains(&source.surface_type) {
            source.cone_index = number(own, "Cone Index");
        }
        self.read.settings.sources.push(source);
        Ok(())
    }

    fn object(
        &mut self,
        own: &Map<String, Value>,
        i: usize,
        is_ground: bool,
        by_group: bool,
        on: &[String],
    ) -> Result<(), String> {
        let at = format!("Objects[{i}]");
        let mut source = self.source(own, &at, false)?;
        source.obstacle = self.typed.objects.obstacle().filter(|_| !is_ground);
        source.placed = objects(own, "Instances").map(|(_, own)| self.placement(own)).collect();
        if let Some(random) = own.get("Random").and_then(Value::as_object) {
            source.scatter = Some(self.random(random, &at, i, on)?);
        }
        if source.placed.is_empty() && source.scatter.is_none() {
            self.read.warnings.push(format!("{at} has neither Instances nor Random, so it stands nowhere"));
            source.include = Some(false);
        }
        if by_group {
            let file = Path::new(&source.file).file_name().map(|n| n.to_string_lossy().into_owned());
            for (group, label) in self.labels.groups.clone() {
                let (file, optional) = (file.clone(), Some(true));
                let (object, label) = (Some(group), Some(label));
                self.read.settings.rules.push(PartRule { file, object, label, optional, ..PartRule::default() });
            }
        }
        if let Some(library) = text_of(own, "Material")
            && let Err(why) = self.folders.mesh(library, false, &mut self.looked)
        {
            self.read.notes.push(format!("{at}.Material: {why}; materials have the names that the mesh gives them"));
        }
        self.read.settings.sources.push(source);
        Ok(())
    }

    fn random(&mut self, own: &Map<String, Value>, at: &str, i: usize, on: &[String]) -> Result<Scatter, String> {
        let missing = |key: &str| format!("{at}.Random has no {key}; add it");
        let number = number(own, "Number").ok_or_else(|| missing("Number"))?;
        let polygon = own.get("Polygon").and_then(Value::as_array).ok_or_else(|| missing("Polygon"))?;
        let polygon: Vec<[f64; 2]> = polygon.iter().filter_map(numbers::<2>).collect();
        if !is_convex(&polygon) {
            self.read.notes.push(format!("{at}.Random.Polygon is not convex; places lie within it as it is"));
        }
        let spacing = self::number(own, "Minimum Spacing").unwrap_or(0.0);
        Ok(Scatter {
            number: number as u32,
            polygon,
            scale: own.get("Scale").and_then(ranges).unwrap_or_else(|| vec![[1.0; 2]]),
            offset: triple(own, "Offset").unwrap_or_default().map(|v| v + 0.0),
            spacing,
            on: on.to_vec(),
            seed: self.typed.seed.wrapping_add(i as u32),
        })
    }

    /// A trail for each of its paths.
    fn trail(&mut self, own: &Map<String, Value>) -> Result<(), String> {
        let at = "Layered Surface.Trail";
        let paths: Vec<&str> = match own.get("Path") {
            Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(one)) => vec![one],
            _ => Vec::new(),
        };
        if !self.typed.trails {
            let count = counted(paths.len() as u64, "path");
            self.read.notes.push(format!("{at} of {count} is not used; --trails as-material makes bands of it"));
            return Ok(());
        }
        let width = |key: &str| number(own, key).ok_or_else(|| format!("{at} has no {key}; add it"));
        let (width, track_width, wheelbase) = (width("Trail Width")?, width("Track Width")?, width("Wheelbase")?);
        for (i, path) in paths.iter().enumerate() {
            let at = if paths.len() > 1 { format!("{at}.Path[{i}]") } else { format!("{at}.Path") };
            let place = self.folders.data(path).map_err(|why| format!("{at}: {why}"))?;
            let (poses, points) = trail::path(&place).map_err(|why| format!("{at}: {why}"))?;
            self.read.notes.push(format!(
                "{at}: {}, as {}",
                counted(poses, "pose"),
                counted(points.len() as u64, "point")
            ));
            self.read.settings.trails.push(Trail { width, track_width, wheelbase, points });
        }
        Ok(())
    }

    /// The first frame of an animation, as an obstacle.
    fn animation(&mut self, own: &Map<String, Value>, at: &str) -> Result<(), String> {
        let list = text_of(own, "Frame List").ok_or_else(|| format!("{at} has no Frame List; name a file"))?;
        let list = self.folders.mesh(list, false, &mut self.looked).map_err(|why| format!("{at}.Frame List: {why}"))?;
        let text = fs::read_to_string(&list).map_err(|e| format!("{at}.Frame List: {e}"))?;
        let first = text.lines().map(str::trim).find(|line| !line.is_empty());
        let first = first.ok_or_else(|| format!("{at}.Frame List names no frame"))?;
        let folder = text_of(own, "Animation Folder").unwrap_or_default();
        let mut mesh = own.clone();
        mesh.insert("Mesh".into(), format!("{folder}/{first}").into());
        let mut source = self.source(&mesh, at, false)?;
        source.obstacle = self.typed.objects.obstacle();
        let size = number(own, "Mesh Scale").unwrap_or(1.0);
        source.placed = vec![Placement {
            scale: (size != 1.0).then_some(Scale::All(size)),
            yaw_deg: number(own, "Initial Heading").map(|v| Angles::Rad.degrees(v)),
            at: triple(own, "Initial Position"),
            ..Placement::default()
        }];
        self.read.settings.sources.push(source);
        Ok(())
    }
}

/// Whether a file begins as a BMP, a PNG or a TIFF.
fn is_picture(place: &Path) -> bool {
    let mut head = [0; 4];
    let read = fs::File::open(place).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && (head.starts_with(b"BM") || [b"\x89PNG", b"II*\0", b"MM\0*"].contains(&&head))
}

/// Whether all corners of a polygon turn one way.
fn is_convex(polygon: &[[f64; 2]]) -> bool {
    let n = polygon.len();
    let turn = |i: usize| {
        let [a, b, c] = [0, 1, 2].map(|k| polygon[(i + k) % n]);
        (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
    };
    (0..n).all(|i| turn(i) >= 0.0) || (0..n).all(|i| turn(i) <= 0.0)
}
