//! The table of formats: how each is recognised, and what reads it or what to do instead.
//!
//! A new format is a folder beside this file, and one entry here.

use std::path::Path;

#[cfg(feature = "heights")]
use super::heights;
use super::{Frame, Import, ImportError, ImportErrorKind, Next, crg, obj, place::Budget, ply, stl};

/// One format of files.
pub struct Format {
    /// Its name in reports, in small letters.
    pub name: &'static str,
    /// How names of its files end, in small letters; the first is what to type.
    pub endings: &'static [&'static str],
    /// Whether a file is of this format by its content, whatever its name is.
    pub signature: fn(&Head) -> bool,
    /// The treatment of such a file.
    pub then: Then,
}

/// The beginning of a file, before it is read.
pub struct Head {
    /// Its first bytes, at most [`Head::LENGTH`].
    pub bytes: Vec<u8>,
    /// How many it has in all.
    pub length: u64,
}

impl Head {
    /// Bytes that a signature may look at.
    pub const LENGTH: u64 = 64;
}

/// The treatment of a file.
pub enum Then {
    /// It is read.
    Read(Reader),
    /// It is refused.
    Refuse(Refusal),
}

/// Reads a file. Its scene has triangles, height fields, or both.
pub type Reader = fn(&Given) -> Result<Import, ImportError>;

/// A file to read, and what was said of it.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// The file.
    pub path: &'a Path,
    /// Its axes, its unit, and where it goes.
    pub frame: &'a Frame,
    /// The most that it may come to.
    pub budget: &'a Budget,
}

/// Why files of a format are not read, and what to do. Both texts are made of the file's ending, or else of the
/// format's name.
pub struct Refusal {
    /// Who can help.
    pub kind: ImportErrorKind,
    /// The cause.
    pub cause: fn(&str) -> String,
    /// The remedy.
    pub recipe: fn(&str) -> String,
    /// The next step.
    pub next: Option<Next>,
}

/// All formats. The first whose signature fits has a file; where none fits, the one that has its ending.
pub static FORMATS: &[Format] = &[
    // what is read, in the order in which help names it
    Format { name: "obj", endings: &["obj"], signature: NONE, then: Then::Read(|g| obj::read(g.path, g.frame)) },
    Format {
        name: "fbx",
        endings: &["fbx"],
        signature: |head| head.begins(b"Kaydara FBX Binary") || head.begins(b"; FBX"),
        #[cfg(feature = "fbx")]
        then: Then::Read(|g| super::fbx::read(g.path, g.frame, g.budget)),
        #[cfg(not(feature = "fbx"))]
        then: Then::Refuse(unsupported(
            |_| "this hardpan is built without the feature \"fbx\": build it with that, or export Wavefront OBJ".into(),
            Next::Build,
        )),
    },
    #[cfg(feature = "heights")]
    Format {
        name: "hgt",
        endings: &["hgt"],
        signature: NONE,
        then: Then::Read(|g| heights::import(g, |bytes, name, path, _| super::hgt::read(bytes, name, path))),
    },
    #[cfg(feature = "heights")]
    Format {
        name: "tif",
        endings: &["tif", "tiff"],
        signature: |head| [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"].iter().any(|magic| head.begins(*magic)),
        then: Then::Read(|g| heights::import(g, |bytes, _, path, window| super::tiff::read(bytes, path, window))),
    },
    #[cfg(feature = "heights")]
    Format {
        name: "asc",
        endings: &["asc"],
        signature: NONE,
        then: Then::Read(|g| heights::import(g, |bytes, _, path, _| super::esri_ascii::read(bytes, path))),
    },
    #[cfg(feature = "heights")]
    Format {
        name: "xyz",
        endings: &["xyz"],
        signature: NONE,
        then: Then::Read(|g| heights::import(g, |bytes, _, path, _| super::xyz::read(bytes, path))),
    },
    #[cfg(feature = "heights")]
    Format {
        name: "png",
        endings: &["png"],
        signature: |head| head.begins(b"\x89PNG\r\n\x1A\n"),
        then: Then::Read(|g| heights::import(g, |bytes, _, path, _| super::png::read(bytes, path))),
    },
    #[cfg(feature = "heights")]
    Format {
        name: "bmp",
        endings: &["bmp"],
        signature: NONE,
        then: Then::Read(|g| heights::import(g, |bytes, _, path, _| super::bmp::read(bytes, path))),
    },
    #[cfg(feature = "heights")]
    Format {
        name: "zip",
        endings: &["zip"],
        signature: |head| head.begins(b"PK\x03\x04"),
        then: Then::Read(|g| heights::import(g, heights::in_zip)),
    },
    Format {
        name: "gltf",
        endings: &["gltf", "glb"],
        signature: |head| head.begins(b"glTF"),
        #[cfg(feature = "json")]
        then: Then::Read(|g| super::gltf::read(g.path, g.frame, g.budget)),
        #[cfg(not(feature = "json"))]
        then: Then::Refuse(unsupported(through_assimp, Next::BuildUpY)),
    },
    Format {
        name: "ply",
        endings: &["ply"],
        signature: |head| head.begins(b"ply\n") || head.begins(b"ply\r"),
        then: Then::Read(|g| ply::read(g.path, g.frame)),
    },
    // a binary one may begin as a text does, and with any other word
    Format { name: "stl", endings: &["stl"], signature: NONE, then: Then::Read(|g| stl::read(g.path, g.frame)) },
    Format {
        name: "crg",
        endings: &["crg"],
        signature: |head| head.begins(b"$CT") || head.begins(b"$ROAD_CRG"),
        then: Then::Read(|g| crg::read(g.path, g.frame, None)),
    },
    // what is no source
    Format {
        name: "hpan",
        endings: &[],
        signature: |head| head.begins(&hardpan::format::MAGIC),
        then: Then::Refuse(Refusal {
            kind: ImportErrorKind::Input,
            cause: |_| "this is a terrain image already".into(),
            recipe: |_| "look at it".into(),
            next: Some(Next::Look),
        }),
    },
    Format {
        name: "no hpan",
        endings: &["hpan"],
        signature: NONE,
        then: Then::Refuse(Refusal {
            kind: ImportErrorKind::Input,
            cause: |_| "this has the name of a terrain image, and is none".into(),
            recipe: |_| "name a mesh, FILE.obj, or make the image again".into(),
            next: None,
        }),
    },
    Format {
        name: "toml",
        endings: &["toml"],
        signature: NONE,
        then: Then::Refuse(Refusal {
            kind: ImportErrorKind::Input,
            cause: |_| "these are settings, and no mesh".into(),
            recipe: |_| "build by them".into(),
            next: Some(Next::BuildBy),
        }),
    },
    refused("json", &["json"], NONE, Next::BuildBy, |_| {
        "name a scene of MAVS alone; or, if these are settings, build by them".into()
    }),
    refused("vstu", &["vstu", "tdf"], NONE, Next::BuildMeshBy, |_| "name it beside the mesh".into()),
    Format {
        name: "mtl",
        endings: &["mtl"],
        signature: NONE,
        then: Then::Refuse(Refusal {
            cause: |_| "a material library has no mesh and is not read".into(),
            ..unsupported(|_| "name the mesh that uses it".into(), Next::Build)
        }),
    },
    // meshes
    refused("mesh", &["dae", "3ds", "x3d", "off"], NONE, Next::BuildUp, through_assimp),
    refused("scene", &["blend", "wrl", "usd", "usda", "usdc", "usdz"], NONE, Next::Build, |_| {
        format!("open it in Blender and {EXPORT}")
    }),
    refused("cad", &["step", "stp", "iges", "igs", "ifc", "brep"], NONE, Next::BuildMillimetres, |_| {
        "open it in FreeCAD and export Alias Mesh (.obj)".into()
    }),
    // heights and points
    refused("raster", RASTERS, NONE, Next::Build, |kind| {
        format!("{POINTS} FILE.{kind} FILE.xyz; leave out those without data; {TRIANGULATE}")
    }),
    refused(
        "map",
        &["shp", "geojson", "gpkg", "kml", "kmz", "gml", "fgb", "gdb", "mif", "tab", "dxf", "dwg"],
        NONE,
        Next::Build,
        |_| {
            let hint = "interpolate the heights of its contours or points in QGIS (Processing, Interpolation, TIN), saved as FILE.tif";
            format!("{hint}; {POINTS} FILE.tif FILE.xyz; {TRIANGULATE}")
        },
    ),
    refused("points", POINT_FILES, NONE, Next::Build, |_| TRIANGULATE.into()),
    // roads and simulators
    refused("osm", &["osm", "pbf"], NONE, Next::BuildUp, |_| {
        "open it in OSM2World and export Wavefront OBJ (without heights of the land its ground is flat)".into()
    }),
    refused("xodr", &["xodr"], NONE, Next::Build, |_| {
        format!("import it as OpenDRIVE in an editor of roads, and {EXPORT}")
    }),
    refused("par", &["par", "cpar"], NONE, Next::BuildPar, |_| "build the terrain that it names alone".into()),
    refused("vsterrain", &["vsterrain"], NONE, Next::Build, |_| {
        "only the VehicleSim tools know what is in it; write it as OBJ with their VS Terrain Utility (Generate OBJ, without cells, pins and origin)".into()
    }),
    refused("sdf", &["sdf", "urdf", "world"], NONE, Next::Build, |_| "build the meshes that it names".into()),
    refused("vprp", &["vprp"], NONE, Next::QueryAlong, |_| {
        "write time, x and y of its places as CSV, and ask an image for the ground along it".into()
    }),
    // what holds files, or stands in place of one
    #[cfg(not(feature = "heights"))]
    refused("zip", &["zip"], |head| head.begins(b"PK\x03\x04"), Next::Build, |_| "unpack it".into()),
    refused("gz", &["gz"], |head| head.begins(b"\x1F\x8B"), Next::Build, |_| "unpack it".into()),
    refused("archive", &["rar", "7z"], NONE, Next::Build, |_| "unpack it".into()),
    Format {
        name: "lfs",
        endings: &["lfs"],
        signature: |head| head.begins(b"version https://git-lfs"),
        then: Then::Refuse(Refusal {
            kind: ImportErrorKind::Unsupported,
            cause: |_| "the pointer that Git LFS leaves in place of a file is not read".into(),
            recipe: |_| "get the file: git lfs pull".into(),
            next: None,
        }),
    },
    Format {
        name: "html",
        endings: &["html"],
        signature: |head| head.begins(b"<!DOCTYPE html") || head.begins(b"<html"),
        then: Then::Refuse(Refusal {
            kind: ImportErrorKind::Unsupported,
            cause: |_| "this is a web page, and such are not read".into(),
            recipe: |_| "download the file itself".into(),
            next: None,
        }),
    },
    Format {
        name: "nameless",
        endings: &[""],
        signature: NONE,
        then: Then::Refuse(Refusal {
            cause: |_| "files without an extension are not read".into(),
            ..unsupported(
                |_| {
                    let endings: Vec<String> = read().map(|format| format!(".{}", format.endings[0])).collect();
                    format!("let its name say what it is ({}), or {EXPORT}", endings.join(", "))
                },
                Next::Build,
            )
        }),
    },
];

/// Endings of heights that are not read.
const RASTERS: &[&str] = if cfg!(feature = "heights") {
    &["img", "vrt", "dem", "dt0", "dt1", "dt2", "jp2", "bt", "ter", "jpg", "jpeg", "exr", "raw", "r16"]
} else {
    &[
        "tif", "tiff", "asc", "img", "vrt", "dem", "dt0", "dt1", "dt2", "jp2", "bt", "ter", "hgt", "png", "bmp", "jpg",
        "jpeg", "exr", "raw", "r16",
    ]
};

/// Endings of points that are not read.
const POINT_FILES: &[&str] = if cfg!(feature = "heights") {
    &["las", "laz", "e57", "pcd", "pts", "csv", "txt"]
} else {
    &["las", "laz", "e57", "pcd", "xyz", "pts", "csv", "txt"]
};

/// Every other file.
static OTHER: Refusal = unsupported(|_| format!("in the program that made it, {EXPORT}"), Next::Build);

/// The signature of a format that has none.
const NONE: fn(&Head) -> bool = |_| false;
/// How programs export what is read; an OBJ says no axis, and most programs write it y up.
const EXPORT: &str =
    if cfg!(feature = "fbx") { "export FBX, or Wavefront OBJ with z up" } else { "export Wavefront OBJ with z up" };
/// The recipe that makes points of a raster by GDAL.
const POINTS: &str = "make points of its heights, in metres: gdal_translate -of XYZ";
/// How points become a mesh.
const TRIANGULATE: &str =
    "make a mesh of the points in CloudCompare (Edit, Mesh, Delaunay 2.5D, XY plane; save as OBJ)";

fn through_assimp(kind: &str) -> String {
    format!("assimp export FILE.{kind} FILE.obj; or open it in Blender and {EXPORT}")
}

const fn refused(
    name: &'static str,
    endings: &'static [&'static str],
    signature: fn(&Head) -> bool,
    next: Next,
    recipe: fn(&str) -> String,
) -> Format {
    Format { name, endings, signature, then: Then::Refuse(unsupported(recipe, next)) }
}

const fn unsupported(recipe: fn(&str) -> String, next: Next) -> Refusal {
    Refusal { kind: ImportErrorKind::Unsupported, cause: not_read, recipe, next: Some(next) }
}

fn not_read(kind: &str) -> String {
    match kind {
        kind if kind.chars().all(|c| c.is_ascii_alphanumeric()) && kind.len() < 9 => {
            format!("{kind} files are not read")
        }
        _ => "files of this kind are not read".into(),
    }
}

impl Head {
    fn begins(&self, with: &[u8]) -> bool {
        self.bytes.starts_with(with)
    }
}

/// Formats that are read.
pub fn read() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| matches!(format.then, Then::Read(_)))
}

/// Their names in capitals, as help has them: `OBJ or FBX`.
pub fn names() -> String {
    either(read().map(|format| format.name.to_ascii_uppercase()))
}

/// Names of such files, as an error has them: `FILE.obj or FILE.fbx`.
pub fn files() -> String {
    either(read().map(|format| format!("FILE.{}", format.endings[0])))
}

/// `a`, `a or b`, `a, b or c`.
fn either(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    match &words[..] {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => words.concat(),
    }
}

/// The format of a file, by its content first and its ending second, and a word for it.
fn format(path: &Path, head: &Head) -> (Option<&'static Format>, String) {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let by_content = FORMATS.iter().find(|format| (format.signature)(head));
    let by_ending = || FORMATS.iter().find(|format| format.endings.contains(&&*ending));
    let kind = by_content.map_or(ending.clone(), |format| format.name.into());
    (by_content.or_else(by_ending), kind)
}

/// Whether a file is of the format of this name.
pub(super) fn is(name: &str, path: &Path, head: &Head) -> bool {
    format(path, head).0.is_some_and(|format| format.name == name)
}

/// The reader of a file.
pub(super) fn reader(path: &Path, head: &Head) -> Result<Reader, ImportError> {
    let (format, kind) = format(path, head);
    let refusal = match format.map(|format| &format.then) {
        Some(Then::Read(reader)) => return Ok(*reader),
        Some(Then::Refuse(refusal)) => refusal,
        None => &OTHER,
    };
    let error = ImportError::new(refusal.kind, path, (refusal.cause)(&kind), (refusal.recipe)(&kind));
    Err(ImportError { next: refusal.next, ..error })
}

#[cfg(all(test, not(feature = "fbx")))]
mod tests {
    use super::*;

    #[test]
    fn without_its_feature_fbx_is_refused_with_a_recipe() {
        let why = |name: &str, bytes: &[u8]| {
            let head = Head { bytes: bytes.into(), length: bytes.len() as u64 };
            reader(Path::new(name), &head).unwrap_err()
        };
        let fbx = why("a.fbx", b"Kaydara FBX Binary  ");
        assert_eq!(fbx.kind, ImportErrorKind::Unsupported);
        assert!(fbx.to_string().contains("fbx files are not read") && fbx.hint.contains("\"fbx\""), "{fbx}");
        assert!(!why("a.skp", b"").hint.contains("FBX"));
    }
}
