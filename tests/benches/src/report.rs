//! The bars, and what was measured against them.

use crate::builder::{NEAR, STITCHED};
use crate::timing::Times;
use crate::union::MESHES;
use std::fmt::{self, Write as _};
use std::{fs, io, path::Path};

#[derive(Clone, Copy)]
pub enum Goal {
    /// At least (bar, stretch).
    Least(f64, f64),
    /// At most (bar, stretch).
    Most(f64, f64),
}
use Goal::{Least, Most};

/// The measurements, the scene of each, and its goal.
pub const BARS: &[(&str, &str, Goal)] = &[
    (SINGLE, "hills1m", Least(3.0, 5.0)),
    (SINGLE, "city", Least(3.0, 5.0)),
    (SINGLE, "strip", Least(2.0, 4.0)),
    (BATCH, "hills1m", Least(5.0, 8.0)),
    (BATCH, "hills10m", Least(6.0, 9.0)),
    (WHEEL, "hills1m", Least(4.0, 8.0)),
    (WHEEL, "city", Least(4.0, 6.0)),
    (WHEEL, "strip", Least(3.0, 6.0)),
    (WHEEL_GRID, "hills1m", Least(1.3, 1.3)),
    (FLOOR, "hills1m", Least(1.7, 3.0)),
    (FLOOR, "city", Least(1.7, 3.0)),
    (FLOOR, "strip", Least(1.7, 3.0)),
    (LAYERS, "hills1m", Least(2.0, 4.0)),
    (LAYERS, "city", Least(2.0, 4.0)),
    (LAYERS, "strip", Least(2.0, 4.0)),
    (RAYS_1, "hills1m", Least(1.1, 1.6)),
    (RAYS_5, "hills1m", Least(1.0, 1.4)),
    (RAYS_5, "city", Least(0.5, 0.75)),
    (RAYS_100, "hills1m", Least(0.5, 0.8)),
    (RAYS_100, "city", Least(0.22, 0.35)),
    (SWEPT, "hills1m", Least(1.2, 1.5)),
    (SWEPT, "city", Least(1.2, 1.5)),
    (SWEPT, "strip", Least(1.2, 1.5)),
    (BYTES, "hills1m", Most(16.0, 12.0)),
    (BYTES, "city", Most(17.0, 14.0)),
    (BYTES, "strip", Most(18.0, 14.0)),
    (BYTES, "hills100k", Most(24.0, 16.0)),
    (LINES, "hills1m", Most(4.0, 3.0)),
    (LINES, "strip", Most(8.0, 4.0)),
    (LINES_GROWTH, "hills10m", Most(1.2, 1.1)),
    (TESTS_GROWTH, "hills10m", Most(1.2, 1.1)),
    (BOUND_TESTS, "hills1m", Most(6.0, 4.0)),
    (BOUND_TESTS, "strip", Most(10.0, 6.0)),
    (BOUND_TESTS, "city", Most(20.0, 8.0)),
    (BOUND_LINES, "hills1m", Most(6.0, 4.0)),
    (BOUND_LINES, "strip", Most(10.0, 6.0)),
    (BOUND_LINES, "city", Most(20.0, 8.0)),
    (PATCH, "patch", Most(3.0, 1.5)),
    (C_CLOSEST, "hills1m", Most(1.1, 1.05)),
    (C_CALLBACK, "hills1m", Most(1.1, 1.05)),
    (MISSES, MESHES[0], Most(0.0, 0.0)),
    (MISSES, MESHES[1], Most(0.0, 0.0)),
    (MISSES, MESHES[2], Most(0.0, 0.0)),
    (MISSES, MESHES[3], Most(0.0, 0.0)),
    (MISSES, MESHES[4], Most(0.0, 0.0)),
    (MISSES, MESHES[5], Most(0.0, 0.0)),
    (M4_WORST, "one sheet", Most(800.0, 400.0)),
    (M4_WORST, "proving ground", Most(1500.0, 800.0)),
    (M4_DECODE, "heights", Most(80.0, 64.0)),
    (M4_HEIGHT, "heights", Most(150.0, 100.0)),
    (BUILD, "hills1m", Least(2.0, 4.0)),
    (BUILD, "city", Least(2.0, 4.0)),
    (BUILD, "strip", Least(2.0, 4.0)),
    (VERIFY, "hills1m", Least(3.0, 10.0)),
    (VERIFY, "city", Least(3.0, 10.0)),
    (VERIFY, "strip", Least(3.0, 10.0)),
    (PEAK, "hills1m", Most(150.0, 60.0)),
    (PEAK, "city", Most(150.0, 60.0)),
    (PEAK, "strip", Most(150.0, 60.0)),
    (PARSE, "hills1m", Least(150.0, 400.0)),
    (PLAN_ERROR, NEAR[0], Most(0.18, 0.09)),
    (PLAN_ERROR, NEAR[1], Most(0.18, 0.09)),
    (PLAN_ERROR, NEAR[2], Most(0.18, 0.09)),
    (HEIGHT_ERROR, NEAR[0], Most(0.01, 0.005)),
    (HEIGHT_ERROR, NEAR[1], Most(0.01, 0.005)),
    (HEIGHT_ERROR, NEAR[2], Most(0.01, 0.005)),
    (P999, NEAR[0], Most(0.1, 0.05)),
    (P999, NEAR[1], Most(0.1, 0.05)),
    (P999, NEAR[2], Most(0.1, 0.05)),
    (OPEN, STITCHED[0], Most(0.0, 0.0)),
    (OPEN, STITCHED[1], Most(0.0, 0.0)),
    (OPEN, STITCHED[2], Most(0.0, 0.0)),
    (OPEN, STITCHED[3], Most(0.0, 0.0)),
];

pub const SINGLE: &str = "closest, single calls: times faster than Embree";
pub const BATCH: &str = "closest, batches of 64: times faster than Embree";
pub const WHEEL: &str = "wheels, with cursors: times faster than Embree";
pub const WHEEL_GRID: &str = "wheels, with cursors: times faster than grid64";
pub const FLOOR: &str = "p99.9 floor, single calls: times better than Embree";
pub const LAYERS: &str = "layers: times faster than Embree's all hits";
pub const RAYS_1: &str = "rays of 1 m: times faster than Embree";
pub const RAYS_5: &str = "rays of 5 m: times faster than Embree";
pub const RAYS_100: &str = "rays of 100 m: times faster than Embree";
pub const SWEPT: &str = "after an L1+L2 sweep, median: times better than Embree";
pub const BYTES: &str = "bytes per triangle";
pub const LINES: &str = "64-byte lines beyond root and nodes, mean";
pub const TESTS: &str = "tests, mean";
pub const LINES_GROWTH: &str = "lines, mean: times those of hills10k";
pub const TESTS_GROWTH: &str = "tests, mean: times those of hills10k";
pub const BOUND_TESTS: &str = "stated bound / mean, tests";
pub const BOUND_LINES: &str = "stated bound / mean, lines";
pub const PATCH: &str = "patch query, 1 M cells: times the time of a bilinear look-up";
pub const PATCH_BATCH: &str = "patch query, batches of 64: times the time of a bilinear look-up";
pub const C_CLOSEST: &str = "closest through C: times the time of the call in Rust";
pub const C_CALLBACK: &str = "VehicleSim's callback: times the time of the call in Rust";
pub const MISSES: &str = "misses on corners and 255 points of every edge, of the closed union";
pub const M4_WORST: &str = "closest, Cortex-M4F: instructions, worst";
pub const M4_MEAN: &str = "closest, Cortex-M4F: instructions, mean";
pub const M4_DECODE: &str = "patch, Cortex-M4F: instructions of a block's decode, worst";
pub const M4_HEIGHT: &str = "patch, Cortex-M4F: instructions of closest, worst";
pub const BUILD: &str = "build, verified by the kernel: million triangles per CPU-second";
pub const VERIFY: &str = "verify: million triangles per CPU-second";
pub const PEAK: &str = "build: peak memory beside the scene, bytes per triangle";
pub const PARSE: &str = "reading an OBJ file on all cores, warm: MB/s";
pub const PLAN_ERROR: &str = "stated error against the source in plan, mm";
pub const HEIGHT_ERROR: &str = "stated error against the source in height, mm";
pub const P999: &str = "error straight up or down, 99.9 % of the plan area, mm";
pub const OPEN: &str = "open edges left within the stitch threshold";

/// One figure.
pub struct Figure {
    pub what: &'static str,
    pub scene: &'static str,
    pub value: f64,
    /// The figures that it was formed from.
    pub from: String,
}

/// How long one contestant took over one workload.
#[derive(Clone)]
pub struct Timing {
    pub scene: &'static str,
    pub workload: &'static str,
    pub times: Times,
    /// Nanoseconds: the 99.9th percentile of single queries, each the best of some.
    pub floor: Option<f64>,
    /// Nanoseconds: the median of single queries after a sweep of the caches.
    pub swept: Option<f64>,
}

fn optional(ns: Option<f64>) -> String {
    ns.map_or(String::new(), |v| format!("{v:.0}"))
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [low, high] = self.times.range();
        let (range, floor, swept) = (format!("{low:.1}..{high:.1}"), optional(self.floor), optional(self.swept));
        write!(f, "{:22} {:7.1} {range:>17} {floor:>7} {swept:>7}", self.times.name, self.times.median())
    }
}

#[derive(Default)]
pub struct Report {
    pub figures: Vec<Figure>,
    pub timings: Vec<Timing>,
    /// Why a scene, or a figure of all scenes, is not there.
    pub reasons: Vec<(&'static str, String)>,
    /// Wrong answers and exceeded bounds: they void every speed.
    pub faults: Vec<String>,
}

struct Row([String; 7]);

impl Report {
    pub fn add(&mut self, what: &'static str, scene: &'static str, value: f64, from: String) {
        self.figures.push(Figure { what, scene, value, from });
    }

    /// Says why a scene, or a figure of all scenes, will not be there.
    pub fn without(&mut self, what_or_scene: &'static str, why: &str) {
        self.reasons.push((what_or_scene, why.into()));
    }

    fn figure(&self, what: &str, scene: &str) -> Option<&Figure> {
        self.figures.iter().find(|f| f.what == what && f.scene == scene)
    }

    pub fn value(&self, what: &str, scene: &str) -> Option<f64> {
        self.figure(what, scene).map(|f| f.value)
    }

    fn rows(&self) -> Vec<Row> {
        let number = |v: f64| if v > 0.0 && v < 0.1 { format!("{v:.3}") } else { format!("{v:.2}") };
        let barred = BARS.iter().map(|&(what, scene, goal)| {
            let (sign, bar, stretch) = match goal {
                Least(bar, stretch) => (">=", bar, stretch),
                Most(bar, stretch) => ("<=", bar, stretch),
            };
            let limits = [bar, stretch].map(|limit| format!("{sign} {limit}"));
            let row = |from: &str, value: String, verdict: &str| {
                let [bar, stretch] = limits;
                Row([what.into(), scene.into(), from.into(), value, bar, stretch, verdict.into()])
            };
            let Some(figure) = self.figure(what, scene) else {
                let reason = self.reasons.iter().find(|r| r.0 == scene || r.0 == what);
                return row(reason.map_or("not asked for", |r| &r.1), "-".into(), "not measured");
            };
            let reached = |limit: f64| {
                if let Least(..) = goal { figure.value >= limit } else { figure.value <= limit }
            };
            let verdict = match () {
                _ if reached(stretch) => "stretch",
                _ if reached(bar) => "met",
                _ => "MISSED",
            };
            row(&figure.from, number(figure.value), verdict)
        });
        let unbarred = self.figures.iter().filter(|f| !BARS.iter().any(|b| b.0 == f.what && b.1 == f.scene));
        let unbarred = unbarred.map(|f| {
            Row([f.what.into(), f.scene.into(), f.from.clone(), number(f.value), "-".into(), "-".into(), String::new()])
        });
        barred.chain(unbarred).collect()
    }

    /// Tables for people and for spreadsheets.
    pub fn record(&self, folder: &Path, circumstances: &str) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("bars.md"), format!("# Bars\n\n{circumstances}\n\n{self}"))?;
        let mut csv = String::from("what,scene,from,value,bar,stretch,verdict\n");
        for Row(cells) in self.rows() {
            let quoted = cells.map(|c| format!("\"{c}\""));
            csv.push_str(&quoted.join(","));
            csv.push('\n');
        }
        fs::write(folder.join("bars.csv"), csv)?;
        let mut csv = String::from("scene,workload,who,ns_median,ns_min,ns_max,ns_p999_floor,ns_swept\n");
        for t in &self.timings {
            let ([low, high], median) = (t.times.range(), t.times.median());
            let (floor, swept) = (optional(t.floor), optional(t.swept));
            let who = format!("{},{},\"{}\"", t.scene, t.workload, t.times.name);
            writeln!(csv, "{who},{median:.1},{low:.1},{high:.1},{floor},{swept}").expect("a string");
        }
        fs::write(folder.join("times.csv"), csv)
    }
}

/// A markdown table with its columns in line.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut rows = vec![Row(["what", "scene", "from", "measured", "bar", "stretch", ""].map(String::from))];
        rows.extend(self.rows());
        let width: [usize; 7] = std::array::from_fn(|c| rows.iter().map(|r| r.0[c].chars().count()).max().unwrap_or(0));
        for (i, Row(cells)) in rows.iter().enumerate() {
            for (cell, width) in cells.iter().zip(width) {
                write!(f, "| {cell:width$} ")?;
            }
            writeln!(f, "|")?;
            if i == 0 {
                for width in width {
                    write!(f, "|{}", "-".repeat(width + 2))?;
                }
                writeln!(f, "|")?;
            }
        }
        let not_run = BARS.iter().filter(|b| self.value(b.0, b.1).is_none()).count();
        if not_run > 0 {
            writeln!(f, "\n{not_run} of {} bars were not measured in this run.", BARS.len())?;
        }
        for fault in &self.faults {
            writeln!(f, "\nFAULT: {fault}")?;
        }
        Ok(())
    }
}
