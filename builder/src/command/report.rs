//! Report of `build --report`: one JSON object, whose shape `builder/report.schema.json` states.

use crate::image::provenance::Input;
use crate::import::ImportReport;
use crate::report::{Finding, Repair, Severity};
use crate::settings::Applied;
use crate::settings::factors::Factors;
use crate::settings::mavs;
use crate::util::text::{counted, few, first, hex, shown};
use hardpan::Terrain;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::{
    io::{self, Write},
    path::Path,
};

use super::{Done, Failure, findings::worded, named, note, warn};

/// The shape's number: it changes when a key changes its meaning or goes.
const VERSION: u32 = 2;
/// How every report begins.
pub const START: &[u8] = b"{\n  \"report\": ";

/// Results of a build, as far as it came.
#[derive(Default, Serialize)]
pub struct Report {
    report: u32,
    tool: &'static str,
    /// Whether the image stands at its place.
    done: bool,
    /// Why not.
    error: Option<Value>,
    /// Name of the image, without folders.
    pub output: String,
    pub inputs: Vec<Input>,
    pub import: ImportReport,
    /// In words.
    pub warnings: Vec<String>,
    /// Findings of analyses, as values.
    pub findings: Vec<Finding>,
    #[serde(skip)]
    notes: Vec<String>,
    /// That the image was drawn, and into what.
    #[serde(skip)]
    pub drawn: Option<String>,
    /// How many warnings are printed.
    #[serde(skip)]
    printed: usize,
    materials: Materials,
    /// Triangles and height posts on their way from scene to image.
    ground: Option<Fates>,
    image: Option<Value>,
    /// Where the data-parallel stages ran, and what they took.
    pub backend: Option<Value>,
    /// Open edges, and gaps beside them, if they were looked for.
    pub gaps: Option<Value>,
    /// Factors for the friction of all materials.
    pub factors: Option<Factors>,
    /// Keys of a scene that are not used, or not known.
    scene: Option<Value>,
    /// How well an image of heights fits its mesh.
    pub raster: Option<Value>,
    /// A field of heights that keeps a size or an error.
    pub fit: Option<Value>,
    pub seconds: Seconds,
    /// Whether it is not to be written: its file and the image's would be one, or it may be one of the sources.
    #[serde(skip)]
    pub withheld: bool,
}

/// Materials that settings and scene do not agree about; names are of the image's ground, and of all the scene before
/// there is an image.
#[derive(Default, Serialize)]
pub struct Materials {
    unlisted: Vec<String>,
    plain: Vec<String>,
    plain_rr: Vec<String>,
    plain_gain: Vec<String>,
    idle: Vec<String>,
}

/// Counts by key; all keys are there, whatever their count.
#[derive(Default, Serialize)]
pub struct Fates {
    used: Map<String, Value>,
    ignored: Map<String, Value>,
    repaired: Map<String, Value>,
    refused: Map<String, Value>,
    /// How far repairs moved the ground, metres.
    moved: Value,
    /// Sources of what is refused, those that lose most first.
    outliers: Vec<Value>,
}

/// Wall time of the stages.
#[derive(Clone, Copy, Default, Serialize)]
pub struct Seconds {
    pub read: f64,
    pub build: f64,
    pub look: f64,
    pub verify: f64,
}

/// Makes an image and says what there is to say of it, with `json` as a report; `rest` is the command that lists all
/// warnings.
pub fn reported(
    json: bool,
    rest: &str,
    out: &mut impl Write,
    make: impl FnOnce(&mut dyn Write, &mut Report) -> Done,
) -> Done {
    let mut report = Report::default();
    let end = if json { make(&mut io::sink(), &mut report) } else { make(out, &mut report) };
    report.print(rest);
    if json {
        out.write_all(report.text(end.as_ref().map(drop)).as_bytes())?;
    }
    end
}

/// Lines of warnings and notes that a build prints.
const MAX_LINES: usize = 4;
/// Keys that a line lists.
const LISTED: usize = 50;

fn counts<const N: usize>(counts: [(&str, u64); N]) -> Map<String, Value> {
    counts.into_iter().map(|(key, n)| (key.into(), n.into())).collect()
}

fn moved(repair: &Repair) -> Value {
    json!({ "plan": repair.moved[0], "height": repair.moved[1] })
}

impl Fates {
    fn new(r: &crate::report::Report) -> Self {
        Fates {
            used: counts([("triangles", r.triangles), ("posts", r.posts)]),
            ignored: counts([
                ("excluded", r.left_out.excluded),
                ("obstacles", r.left_out.obstacles),
                ("vertical", r.left_out.vertical),
                ("ceilings", r.left_out.ceilings),
                ("steep", r.left_out.steep),
                ("duplicates", r.duplicates),
            ]),
            repaired: counts([
                ("collapsed", r.left_out.collapsed),
                ("welded_vertices", r.weld.joined),
                ("weld_collapsed", r.weld.collapsed),
                ("weld_duplicates", r.weld.duplicates),
                ("weld_left", r.weld.left),
                ("weld_crowded", r.weld.crowded),
                ("stitched_vertices", r.stitch.joined),
                ("stitch_collapsed", r.stitch.collapsed),
                ("stitch_duplicates", r.stitch.duplicates),
                ("stitch_divided", r.stitch.divided),
                ("stitch_added", r.stitch.added),
                ("stitch_upright", r.stitch.upright),
                ("stitch_nudged", r.stitch.nudged),
                ("gaps_left", r.stitch.left),
                ("slits_left", r.stitch.slits),
                ("stitch_crowded", r.stitch.crowded),
            ]),
            refused: counts([("outside", r.outside)]),
            moved: json!({ "weld": moved(&r.weld), "stitch": moved(&r.stitch) }),
            outliers: r
                .outliers
                .iter()
                .map(|o| json!({ "source": o.source, "triangles": o.triangles, "of": o.of, "at": o.at }))
                .collect(),
        }
    }
}

impl Report {
    /// Keeps a warning.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }

    /// Keeps a note, which no JSON has.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Keeps what a scene has that shows nowhere else.
    pub fn scene(&mut self, file: &Path, read: &mavs::Read) {
        let who = named(file);
        read.warnings.iter().for_each(|text| self.warn(format!("{who}: {}", shown(text))));
        if !read.unknown.is_empty() {
            let names = read.unknown.iter().map(|name| shown(name));
            let list = first(names, read.unknown.len() as u64, LISTED);
            self.warn(format!("{who}: keys that are not known: {list}"));
        }
        read.notes.iter().for_each(|text| self.note(format!("{who}: {}", shown(text))));
        if !read.unused.is_empty() {
            let list = few(read.unused.iter().map(|name| shown(name)), read.unused.len() as u64);
            self.note(format!("{who}: keys that are not used: {list}"));
        }
        self.scene = Some(json!({ "unknown": read.unknown, "unused": read.unused, "notes": read.notes }));
    }

    /// Keeps findings, each in words under the name of what was read.
    pub fn find(&mut self, who: &str, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            let line = format!("{who}: {}", worded(&finding, false));
            match finding.severity {
                Severity::Note => self.note(line),
                _ => self.warn(line),
            }
            self.findings.push(finding);
        }
    }

    /// Prints the first warnings and notes, once; `rest` is the command that lists all.
    pub fn print(&mut self, rest: &str) {
        let warnings = self.warnings[self.printed..].iter().map(|text| (true, text));
        let lines: Vec<(bool, &String)> = warnings.chain(self.notes.iter().map(|text| (false, text))).collect();
        let shown = if lines.len() > MAX_LINES { MAX_LINES - 1 } else { lines.len() };
        lines[..shown].iter().for_each(|(warns, text)| if *warns { warn(text) } else { note(text) });
        let more = (lines.len() - shown) as u64;
        if more > 0 {
            note(format!("{}; to list them: {rest}", counted(more, "more line")));
        }
        self.printed = self.warnings.len();
        self.notes.clear();
    }

    pub fn settle(&mut self, applied: &Applied) {
        let Applied { unlisted, plain, plain_rr, plain_gain, idle, .. } = applied.clone();
        self.materials = Materials { unlisted, plain, plain_rr, plain_gain, idle };
    }

    pub fn describe(&mut self, t: &Terrain, built: &crate::report::Report) {
        self.ground = Some(Fates::new(built));
        let (h, [low, high], bound) = (t.header(), t.bounds(), t.bound());
        let [p50, p99, p999] = built.error_quantiles.height;
        let shares = json!({ "places": built.error_quantiles.places, "p50": p50, "p99": p99, "p999": p999 });
        self.image = Some(json!({
            "identity": hex(&t.identity()),
            "bytes": h.total_len,
            "index_bytes": built.packed.index_bytes,
            "leaf_bytes": built.packed.leaf_bytes,
            "triangles": h.triangles,
            "references": h.references,
            "bundles": h.bundles,
            "patch_blocks": h.patch_blocks,
            "tiles": h.tile_count,
            "nodes": built.packed.nodes,
            "max_layers": t.max_layers(),
            "bounds": { "min": low, "max": high },
            "bound": { "nodes": bound.nodes, "leaves": bound.leaves, "tests": bound.tests, "lines": bound.lines },
            "error": { "plan": h.error_plan, "height": h.error_height, "shares": shares },
        }));
    }

    /// As text, with how it ended.
    pub fn text(&mut self, end: Result<(), &Failure>) -> String {
        (self.report, self.tool) = (VERSION, concat!("hardpan ", env!("CARGO_PKG_VERSION")));
        self.done = end.is_ok();
        self.error = end.err().map(|e| json!({ "exit": e.code(), "text": e.to_string() }));
        serde_json::to_string_pretty(self).expect("names, numbers and lists") + "\n"
    }
}
