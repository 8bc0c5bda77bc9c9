//! What a build takes: CPU time with the kernel's verification, and peak memory beyond the scene; and the CPU time of `verify`:
//! `builds [SCENE...]`.

use benchmarks::image;
use benchmarks::scenes::SCENES;
use hardpan::Terrain;
use hardpan_builder::{Options, Verify, build, verify};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if let Some(n) = names.iter().find(|n| SCENES.iter().all(|s| s.name != n.as_str())) {
        eprintln!("usage: builds [SCENE...]; no scene is called {n:?}, only {}", SCENES.map(|s| s.name).join(" "));
        return ExitCode::from(2);
    }
    println!(
        "scene          triangles  wall s   CPU s  Mtri/CPU-s  peak B/triangle  image B/triangle  verify Mtri/CPU-s"
    );
    for scene in SCENES.iter().filter(|s| names.is_empty() || names.iter().any(|n| n == s.name)) {
        let given = image::scene(&scene.mesh());
        let before = reset_peak();
        let (cpu, clock) = (cpu_seconds(), Instant::now());
        let built = build(&given, &Options::default()).expect("a scene that can be built");
        Terrain::open_verified(&built.image).expect("an image that verifies");
        let (wall, cpu) = (clock.elapsed().as_secs_f64(), cpu_seconds() - cpu);
        let (peak, n) = (memory("VmHWM").saturating_sub(before), given.triangles.len() as f64);
        let start = cpu_seconds();
        assert!(verify(&built.image, &Verify::default()).expect("an image just built").passed());
        let verifying = cpu_seconds() - start;
        println!(
            "{:<12} {n:>11} {wall:>7.2} {cpu:>7.2} {:>11.2} {:>16.0} {:>17.1} {:>18.2}",
            scene.name,
            n / cpu / 1e6,
            peak as f64 / n,
            built.image.len() as f64 / n,
            n / verifying / 1e6
        );
    }
    ExitCode::SUCCESS
}

/// CPU time of all threads so far.
fn cpu_seconds() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is valid for the call to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
}

/// A line of this process's status, in bytes; zero where the system has none.
fn memory(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status.lines().find_map(|l| l.strip_prefix(line)?.strip_prefix(':')?.trim().strip_suffix(" kB"));
    1024 * kib.and_then(|k| k.parse::<u64>().ok()).unwrap_or(0)
}

/// Lets the peak start again at the memory in use, and says how much that is. What was freed before is given back first: a
/// build would take it again unseen.
fn reset_peak() -> u64 {
    #[cfg(target_env = "gnu")]
    // SAFETY: it touches nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
    let _ = std::fs::write("/proc/self/clear_refs", "5"); // elsewhere the peak is that of the whole run
    memory("VmRSS")
}
