//! The builder: what a build, `verify` and reading a file take, and how far from their sources images are.

use crate::image;
use crate::scenes::Mesh;
use hardpan::Terrain;
use hardpan_builder::import::{self, Frame, Unit, Up};
use hardpan_builder::{Options, Report, Scene, Verify, build, repair, verify};
use rayon::ThreadPoolBuilder;
use std::fmt::Write as _;
use std::time::Instant;
use verification::{obj, seams};

/// Time and memory of one build.
pub struct Taken {
    /// CPU seconds of the build with the kernel's verification.
    pub build: f64,
    /// CPU seconds of `verify`.
    pub verify: f64,
    /// The most memory beside the scene, bytes.
    pub peak: u64,
    pub report: Report,
}

/// Builds a scene in one thread.
pub fn take(given: &Scene) -> Taken {
    let alone = ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    alone.install(|| {
        let memory = reset_peak();
        let start = cpu_seconds();
        let built = build(given, &Options::default()).expect("a scene that can be built");
        Terrain::open_verified(&built.image).expect("an image that verifies");
        let build = cpu_seconds() - start;
        let peak = status("VmHWM").saturating_sub(memory);
        let start = cpu_seconds();
        assert!(verify(&built.image, &Verify::default()).expect("an image just built").passed());
        Taken { build, verify: cpu_seconds() - start, peak, report: built.report }
    })
}

/// A mesh as an OBJ file, read so often: its bytes, and seconds of wall time on all cores, the first time left out.
pub fn parse(mesh: &Mesh, rounds: usize) -> (usize, Vec<f64>) {
    let mut text = String::new();
    mesh.positions.iter().for_each(|[x, y, z]| writeln!(text, "v {x} {y} {z}").expect("a string"));
    let corners = mesh.triangles.iter().map(|v| v.map(|v| v + 1));
    corners.for_each(|[a, b, c]| writeln!(text, "f {a} {b} {c}").expect("a string"));
    let file = std::env::temp_dir().join(format!("hardpan-{}.obj", std::process::id()));
    std::fs::write(&file, &text).expect("room for a file");
    let read = || {
        let start = Instant::now();
        let read = import::read(&[&file], &Frame::default()).expect("an OBJ file");
        assert_eq!(read.scene.triangles.len(), mesh.triangles.len());
        start.elapsed().as_secs_f64()
    };
    let seconds = (0..=rounds).map(|_| read()).skip(1).collect();
    let _ = std::fs::remove_file(&file);
    (text.len(), seconds)
}

/// Real files below the folder of real data: their names in the bars, axes and units.
const FILES: [(&str, &str, Up, Unit); 4] = [
    ("samurai_monastry", "city/samurai_monastry.obj", Up::Y, Unit::M),
    ("3dfier_innerbuffer_05", "city/3dfier_innerbuffer_05.obj", Up::Z, Unit::M),
    ("zdm2", "city/zdm2.obj", Up::Y, Unit::M),
    ("cloverleaf", "roads/cloverleaf.obj", Up::Z, Unit::In),
];

/// Those whose errors have bars, with the hills; and those whose open edges have.
pub const NEAR: [&str; 3] = ["hills1m", FILES[1].0, FILES[3].0];
pub const STITCHED: [&str; 4] = [FILES[0].0, FILES[1].0, FILES[2].0, FILES[3].0];

/// The scene of such a name, or why it is not there.
pub fn scene(name: &str) -> Result<Scene, String> {
    let Some((_, file, up, unit)) = FILES.iter().find(|f| f.0 == name) else {
        let scene = crate::scenes::SCENES.iter().find(|s| s.name == name).expect("one of the scenes");
        return Ok(image::scene(&scene.mesh()));
    };
    let frame = Frame { up: Some(*up), unit: Some(*unit), ..Frame::default() };
    let read = import::read(&[obj::data().join(file)], &frame);
    read.map(|read| read.scene).map_err(|e| format!("HARDPAN_DATA: {e}"))
}

/// Errors that a build reports.
pub fn report(scene: &Scene) -> Report {
    build(scene, &Options::default()).expect("a scene that can be built").report
}

/// How many edges are open before and after stitching whose ends lie within its threshold of others.
pub fn open_edges(scene: &Scene) -> [usize; 2] {
    let near = Options::default().stitch.expect("stitching by default");
    let seams = |options: &Options| {
        let ground = repair(scene, options).expect("a scene that can be built").0;
        seams::seams(&seams::triangles(&ground), near.plan.into(), near.height.into()).len()
    };
    [seams(&Options { stitch: None, ..Options::default() }), seams(&Options::default())]
}

/// CPU time of all threads so far.
fn cpu_seconds() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is valid for the call to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
}

/// A line of this process's status, in bytes; zero where the system has none.
fn status(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status.lines().find_map(|l| l.strip_prefix(line)?.strip_prefix(':')?.trim().strip_suffix(" kB"));
    1024 * kib.and_then(|k| k.parse::<u64>().ok()).unwrap_or(0)
}

/// Lets the peak start again at the memory in use, and says how much that is. What was freed before is given back
/// first: a build would take it again unseen.
fn reset_peak() -> u64 {
    #[cfg(target_env = "gnu")]
    // SAFETY: it touches nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
    let _ = std::fs::write("/proc/self/clear_refs", "5"); // elsewhere the peak is that of the whole run
    status("VmRSS")
}
