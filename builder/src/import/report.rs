//! Counts of a file: used, ignored, repaired and refused.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{ImportError, text::quoted};
use crate::scene::Scene;
use crate::util::text::{MAX_LISTED, counted, few, shown};

/// Report of files on their way into a scene.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// One for each file, in the order given.
    pub files: Vec<FileReport>,
}

/// Report of one file. Lists have only what occurs, in a fixed order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// Its name, without folders.
    pub file: String,
    /// "obj" or "fbx".
    pub format: &'static str,
    /// Its size.
    pub bytes: u64,
    /// Its lines, if it is text.
    pub lines: u64,
    /// Which of its axes became x, y and z, and its unit: `x, -z, y in 1/100 m`.
    pub frame: String,
    /// Assumption in place of a statement that nobody made.
    pub assumed: Option<&'static str>,
    /// Parts that went into the scene.
    pub used: Vec<Count>,
    /// Parts that ground has no use for.
    pub ignored: Vec<Count>,
    /// Faulty parts that were used nevertheless.
    pub repaired: Vec<Count>,
    /// Parts that could not be used.
    pub refused: Vec<Count>,
    /// Material libraries that the file names.
    pub libraries: Vec<Library>,
    /// Further notes for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// How often one thing occurred.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// A key of small letters and underscores.
    pub what: &'static str,
    /// How often.
    pub count: u64,
    /// The line where it occurred first, if it has one.
    pub first_line: Option<u64>,
    /// Names of left-out objects and of materials that nothing defines.
    #[serde(flatten)]
    pub objects: Option<Objects>,
    /// Words for people, to stand before the count, if it deserves some.
    #[serde(skip)]
    pub note: Option<&'static str>,
}

/// Objects or materials.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Objects {
    /// Triangles of all.
    pub triangles: u64,
    /// Names of the first few, in the order of the file.
    pub names: Vec<String>,
}

/// A material library that a file names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Library {
    /// As named.
    pub name: String,
    /// Where.
    pub line: u64,
    /// How many materials it defines; none if it could not be read.
    pub materials: Option<u64>,
    /// Why it could not be read.
    pub problem: Option<String>,
    /// The file itself, if it is there.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

impl ImportReport {
    /// Material libraries that were read beside the files, or should have been.
    pub fn libraries(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().flat_map(|file| &file.libraries).filter_map(|library| library.file.as_ref())
    }

    /// Sentences on axes and units that no file says, each naming its file: a frame may say them.
    pub fn assumptions(&self) -> Vec<String> {
        let each = self.files.iter().filter_map(|file| Some((file, file.assumed?)));
        each.map(|(f, what)| format!("{}: says nothing of its {what}; taken as {}", f.file, f.frame)).collect()
    }

    /// Sentences on what else people should know, each naming its file.
    pub fn notes(&self) -> Vec<String> {
        self.files.iter().flat_map(FileReport::notes).collect()
    }

    /// Sentences on ground that is missing now, each naming its file.
    pub fn warnings(&self) -> Vec<String> {
        let each = |file: &FileReport| {
            let own = file.warnings.iter().map(|text| format!("{}: {text}", file.file));
            file.counts(true).chain(own).collect::<Vec<_>>()
        };
        self.files.iter().flat_map(each).collect()
    }
}

impl FileReport {
    /// Sentences on counts, of what is ground and lost, or of the rest.
    fn counts(&self, lost: bool) -> impl Iterator<Item = String> {
        let counts = [&self.used, &self.ignored, &self.repaired, &self.refused].into_iter().flatten();
        let counts = counts.filter(move |c| [NOT_FINITE, CUT, CROSSING].contains(&c.what) == lost);
        counts.filter_map(|c| {
            let place = c.first_line.map(|n| format!(" (first at line {n})")).unwrap_or_default();
            let objects = c.objects.as_ref().map(|o| {
                let names = o.names.iter().map(|n| format!("\"{}\"", shown(n)));
                format!(" ({}): {}", counted(o.triangles, "triangle"), few(names, c.count))
            });
            Some(format!("{}: {}: {}{place}{}", self.file, c.note?, c.count, objects.unwrap_or_default()))
        })
    }

    /// Sentences on libraries that were not read, and on counts.
    fn notes(&self) -> Vec<String> {
        let libraries = self.libraries.iter().filter_map(|l| {
            let problem = l.problem.as_ref()?;
            Some(format!("{}: line {}: material library {}: {problem}", self.file, l.line, quoted(l.name.as_bytes())))
        });
        libraries.chain(self.counts(false)).collect()
    }
}

/// Keys of [`Thing::NotFinite`], [`Thing::Cut`] and [`Thing::Crossing`].
const NOT_FINITE: &str = "faces_not_finite";
const CUT: &str = "cut_off";
const CROSSING: &str = "polygons_crossing";

/// Things that are counted, each with what becomes of it, its key and its note.
macro_rules! things {
    ($($thing:ident $fate:ident $key:literal $note:expr;)*) => {
        #[derive(Clone, Copy)]
        #[cfg_attr(not(feature = "fbx"), allow(dead_code))] // things that an OBJ has not
        pub(crate) enum Thing { $($thing),* }

        const THINGS: &[(Fate, &str, Option<&str>)] = &[$((Fate::$fate, $key, $note)),*];
    };
}

#[derive(Clone, Copy)]
enum Fate {
    Used,
    Ignored,
    Repaired,
    Refused,
}

things! {
    Vertices Used "vertices" None;
    Faces Used "faces" None;
    Triangles Used "triangles" None;
    Materials Used "materials" None;
    Sources Used "sources" None;
    Instances Used "instances" None;
    Skinned Used "deformed" Some("meshes with a skin, blend shapes or a cache, used without them");
    Smooth Used "subdivision" Some("meshes to be smoothed by subdivision, used as they are before that");
    Moving Used "animated" Some("objects that move, used where they stand without their animation");
    Normals Ignored "normals" None;
    TextureCoordinates Ignored "texture_coordinates" None;
    Textures Ignored "textures" None;
    Colours Ignored "vertex_colours_and_weights" None;
    PointsAndLines Ignored "points_and_lines" Some("points and lines left out");
    FreeForm Ignored "free_form" Some("free-form curves and surfaces left out (export them as meshes to have them)");
    Hidden Ignored "hidden" Some("hidden objects with a mesh left out");
    Coarse Ignored "coarser_detail" Some("objects left out that stand for others from afar");
    Holes Ignored "holes" Some("faces left out that are marked as holes");
    Unplaced Ignored "meshes_without_object" Some("meshes left out that no object has");
    NoMesh Ignored "cameras_lights_and_bones" None;
    Includes Ignored "includes" Some("calls of other files left out (name those files too)");
    HeadLines Ignored "unknown_head_lines" Some("lines of the head left out that no PLY has");
    Unknown Ignored "unknown" Some("lines left out that are no OBJ statements");
    Unended Repaired "last_line_without_end" Some("last line without its end (the file may be cut off there, and a face in it lack corners; if so, export it again)");
    Cut Repaired "cut_off" Some("last line that is cut off (export the file again; if it is whole, give it its line's end)");
    Continued Repaired "continued_lines" None;
    Polygons Repaired "polygons" None;
    Names Repaired "names_not_utf8" None;
    Others Repaired "sources_beyond_limit" Some("objects beyond those that an image can name, now in the source \"others\"");
    Damaged Repaired "damaged" Some("damaged parts that were passed over");
    Undefined Repaired "materials_undefined" Some("materials used that no material library defines");
    Redefined Repaired "materials_redefined" Some("materials defined more than once");
    Small Refused "faces_below_three_corners" Some("faces left out that have fewer than three corners");
    Folded Refused "faces_folded" Some("faces left out that have no inside, as their edges go out and back");
    NotFinite Refused "faces_not_finite" Some("faces left out that have a corner that is not a finite number");
    Crossing Refused "polygons_crossing" Some("faces that cross themselves, as if their corners came in another order; filled as well as can be, and ground may be missing");
}

/// Counts of things, with the line of each one's first.
#[derive(Clone)]
pub(crate) struct Tally {
    counts: [(u64, Option<u64>); THINGS.len()],
    objects: BTreeMap<usize, Objects>,
}

impl Default for Tally {
    fn default() -> Self {
        Tally { counts: [(0, None); THINGS.len()], objects: BTreeMap::new() }
    }
}

impl Tally {
    /// One at a line.
    pub fn see(&mut self, thing: Thing, line: u64) {
        let (count, first) = &mut self.counts[thing as usize];
        *count += 1;
        *first = first.or(Some(line));
    }

    /// Some without a place.
    pub fn add(&mut self, thing: Thing, count: u64) {
        self.counts[thing as usize].0 += count;
    }

    /// One object or material with triangles.
    pub fn name(&mut self, thing: Thing, name: &str, triangles: u64) {
        self.add(thing, 1);
        let objects = self.objects.entry(thing as usize).or_default();
        objects.triangles += triangles;
        if objects.names.len() < MAX_LISTED {
            objects.names.push(name.into());
        }
    }

    /// The error of a file that gives no triangle, with what of it was left out.
    pub fn nothing(&self, path: &Path, hint: &str) -> ImportError {
        let left =
            THINGS.iter().zip(self.counts).filter(|((fate, ..), _)| matches!(fate, Fate::Ignored | Fate::Refused));
        let why =
            left.filter_map(|((.., note), (count, _))| Some(format!("{}: {count}", (*note).filter(|_| count > 0)?)));
        let why: Vec<String> = why.collect();
        let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
        ImportError::input(path, format!("there are no faces to build from{why}"), hint)
    }

    /// Adds the counts of what follows, whose lines begin after `line`.
    pub fn append(&mut self, next: &Tally, line: u64) {
        for ((count, first), (more, at)) in self.counts.iter_mut().zip(&next.counts) {
            *count += more;
            *first = first.or(at.map(|n| n + line));
        }
    }

    /// Adds what is in a scene, and fills the lists of a report.
    pub fn into(mut self, scene: &Scene, report: &mut FileReport) {
        for (thing, count) in [
            (Thing::Vertices, scene.positions.len()),
            (Thing::Triangles, scene.triangles.len()),
            (Thing::Materials, scene.materials.len()),
            (Thing::Sources, scene.sources.len()),
        ] {
            self.add(thing, count as u64);
        }
        for (thing, (&(fate, what, note), (count, first_line))) in THINGS.iter().zip(self.counts).enumerate() {
            if count > 0 {
                let list = match fate {
                    Fate::Used => &mut report.used,
                    Fate::Ignored => &mut report.ignored,
                    Fate::Repaired => &mut report.repaired,
                    Fate::Refused => &mut report.refused,
                };
                list.push(Count { what, count, first_line, objects: self.objects.remove(&thing), note });
            }
        }
    }
}
