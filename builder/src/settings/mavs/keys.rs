//! The keys of a scene: what each holds, and what becomes of it.

use crate::util::text::{bounded, suggestion};
use serde_json::{Map, Value};

/// The values that a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// An object.
    Object,
    /// A list of objects.
    Objects,
    /// A list of objects, or the name of a file.
    ObjectsOrText,
    /// Text.
    Text,
    /// Text, or a list of texts.
    Texts,
    /// A number.
    Number,
    /// A whole number of 0 or more.
    Count,
    /// true or false.
    Flag,
    /// Three numbers.
    Triple,
    /// Three numbers of which none is 0.
    Factors,
    /// Three or more pairs of numbers.
    Polygon,
    /// The least and the greatest factor, or three such pairs.
    Range,
    /// Whatever there is.
    Anything,
}

/// Whether a key is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It shows in the image, or in how files are found.
    Used,
    /// Its type is checked, and it is listed in the report.
    Listed,
}

use Fate::{Listed, Used};
use Holds::{
    Anything, Count, Factors, Flag, Number, Object, Objects, ObjectsOrText, Polygon, Range, Text, Texts, Triple,
};

/// Every key that is known, by its path, and what it holds.
pub const KEYS: &[(&str, Holds, Fate)] = &[
    ("PathToMeshes", Text, Used),
    ("UseFullPaths", Flag, Used),
    ("Object Labels", Text, Used),
    ("Label By Group", Flag, Used),
    ("Surface Mesh", Objects, Used),
    ("Surface Mesh[].Mesh", Text, Used),
    ("Surface Mesh[].Heightmap", Object, Used),
    ("Surface Mesh[].Heightmap.Map", Text, Used),
    ("Surface Mesh[].Heightmap.Resolution", Number, Used),
    ("Surface Mesh[].Heightmap.Scale", Number, Used),
    ("Surface Mesh[].Rotate Y to Z", Flag, Used),
    ("Surface Mesh[].Rotate X to Y", Flag, Used),
    ("Surface Mesh[].Rotate Y to X", Flag, Used),
    ("Surface Mesh[].YawPitchRoll", Triple, Used),
    ("Surface Mesh[].Position", Triple, Used),
    ("Surface Mesh[].Scale", Factors, Used),
    ("Surface Mesh[].Material", Text, Used),
    ("Surface Mesh[].Cone Index", Number, Used),
    ("Layered Surface", Object, Used),
    ("Layered Surface.Mesh", Text, Used),
    ("Layered Surface.Scale", Factors, Used),
    ("Layered Surface.Heightmap", Object, Used),
    ("Layered Surface.Heightmap.Map", Text, Used),
    ("Layered Surface.Heightmap.Resolution", Number, Used),
    ("Layered Surface.Heightmap.Scale", Number, Used),
    ("Layered Surface.Trail", Object, Used),
    ("Layered Surface.Trail.Trail Width", Number, Used),
    ("Layered Surface.Trail.Track Width", Number, Used),
    ("Layered Surface.Trail.Wheelbase", Number, Used),
    ("Layered Surface.Trail.Path", Texts, Used),
    ("Layered Surface.Layers", Text, Listed),
    ("Objects", Objects, Used),
    ("Objects[].Mesh", Text, Used),
    ("Objects[].Rotate Y to Z", Flag, Used),
    ("Objects[].Rotate X to Y", Flag, Used),
    ("Objects[].Rotate Y to X", Flag, Used),
    ("Objects[].Smooth Normals", Flag, Listed),
    ("Objects[].Material", Text, Used),
    ("Objects[].Label By Group", Flag, Used),
    ("Objects[].Scale", Anything, Listed),
    ("Objects[].Instances", Objects, Used),
    ("Objects[].Instances[].YawPitchRoll", Triple, Used),
    ("Objects[].Instances[].Position", Triple, Used),
    ("Objects[].Instances[].Scale", Factors, Used),
    ("Objects[].Random", Object, Used),
    ("Objects[].Random.Offset", Triple, Used),
    ("Objects[].Random.Number", Count, Used),
    ("Objects[].Random.Polygon", Polygon, Used),
    ("Objects[].Random.Scale", Range, Used),
    ("Objects[].Random.Minimum Spacing", Number, Used),
    ("Potholes", Text, Used),
    ("Animations", ObjectsOrText, Listed),
    ("Animations[].Animation Folder", Text, Listed),
    ("Animations[].Frame List", Text, Listed),
    ("Animations[].Behavior", Text, Listed),
    ("Animations[].Path", Text, Listed),
    ("Animations[].Mesh Scale", Number, Listed),
    ("Animations[].Rotate Y to X", Flag, Listed),
    ("Animations[].Rotate Y to Z", Flag, Listed),
    ("Animations[].Initial Position", Triple, Listed),
    ("Animations[].Initial Heading", Number, Listed),
    ("Animations[].Frame Rate", Number, Listed),
    ("Animations[].Speed", Number, Listed),
    ("VegOverrideFile", Text, Listed),
    ("Vegetation Distribution", Anything, Listed),
    ("Scale Multiplier", Number, Listed),
    ("_comment", Anything, Listed),
];

/// Keys that a walk over a scene tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Keys that are not used, by their paths.
    pub unused: Vec<String>,
    /// Keys that nobody knows, each with its nearest spelling.
    pub unknown: Vec<String>,
}

/// Looks at every key of an object. An error says which one holds something else than it should.
pub fn check(object: &Map<String, Value>, path: &str, general: &str, seen: &mut Seen) -> Result<(), String> {
    let dot = |path: &str| if path.is_empty() { String::new() } else { format!("{path}.") };
    let (path, general) = (dot(path), dot(general));
    let own = |known: &'static str| known.strip_prefix(&general).filter(|rest| !rest.contains('.'));
    for (key, value) in object {
        let at = format!("{path}{}", bounded(key));
        let entry = KEYS.iter().find(|(known, ..)| own(known) == Some(key));
        let Some((known, holds, fate)) = entry else {
            let near = suggestion(key, KEYS.iter().filter_map(|(known, ..)| own(known)));
            seen.unknown.push(format!("{at}{near}"));
            continue;
        };
        // what is switched off says nothing
        if *fate == Listed && *value != Value::Bool(false) {
            seen.unused.push(at.clone());
        }
        if !is(value, *holds) {
            return Err(format!("{at} is {}; write {}", kind(value), wanted(*holds)));
        }
        let list = format!("{known}[]");
        match value {
            Value::Object(inner) if *holds == Object => check(inner, &at, known, seen)?,
            Value::Array(all) if matches!(holds, Objects | ObjectsOrText) => {
                for (i, inner) in all.iter().enumerate() {
                    let at = format!("{at}[{i}]");
                    let inner = inner
                        .as_object()
                        .ok_or_else(|| format!("{at} is {}; write an object, {{ ... }}", kind(inner)))?;
                    check(inner, &at, &list, seen)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// So many finite numbers.
pub fn numbers<const N: usize>(value: &Value) -> Option<[f64; N]> {
    let all: Vec<f64> = value.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
    all.try_into().ok()
}

/// Ranges of factors: one, or three.
pub fn ranges(value: &Value) -> Option<Vec<[f64; 2]>> {
    let all = match numbers::<2>(value) {
        Some(one) => vec![one],
        None => value.as_array()?.iter().map(numbers::<2>).collect::<Option<_>>()?,
    };
    let is_range = |[low, high]: &[f64; 2]| *low > 0.0 && low <= high;
    ([1, 3].contains(&all.len()) && all.iter().all(is_range)).then_some(all)
}

fn is(value: &Value, holds: Holds) -> bool {
    let pairs =
        |v: &Value| v.as_array().is_some_and(|all| all.len() >= 3 && all.iter().all(|p| numbers::<2>(p).is_some()));
    match holds {
        Object => value.is_object(),
        Objects => value.is_array(),
        ObjectsOrText => value.is_array() || value.is_string(),
        Text => value.is_string(),
        Texts => value.is_string() || value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
        Number => value.is_number(),
        Count => value.as_f64().is_some_and(|v| v >= 0.0 && v.fract() == 0.0 && v <= f64::from(u32::MAX)),
        Flag => value.is_boolean(),
        Triple => numbers::<3>(value).is_some(),
        Factors => numbers::<3>(value).is_some_and(|all| all.iter().all(|v| *v != 0.0)),
        Polygon => pairs(value),
        Range => ranges(value).is_some(),
        Anything => true,
    }
}

fn wanted(holds: Holds) -> &'static str {
    match holds {
        Object => "an object, { ... }",
        Objects => "a list of objects, [{ ... }]",
        ObjectsOrText => "a list of objects, [{ ... }], or the name of a file",
        Text => "text in quotation marks",
        Texts => "text in quotation marks, or a list of texts",
        Number => "a number",
        Count => "a whole number of 0 or more",
        Flag => "true or false",
        Triple => "a list of three numbers",
        Factors => "a list of three numbers other than 0",
        Polygon => "a list of three or more pairs of numbers, [[0, 0], [9, 0], [9, 9]]",
        Range => "the least and the greatest factor above 0, [0.5, 2], or three such pairs",
        Anything => "anything",
    }
}

/// A value for who wrote it.
pub fn kind(v: &Value) -> String {
    match v {
        Value::Array(all) if all.iter().all(Value::is_number) && all.len() < 9 => bounded(&v.to_string()).into(),
        Value::Array(all) => format!("a list of {}", all.len()),
        Value::Object(_) => "an object".into(),
        Value::String(text) => format!("the text {:?}", bounded(text)),
        other => bounded(&other.to_string()).into(),
    }
}
