//! Exact instruction counts on an emulated Cortex-M4F, by `tests/embedded`.

use std::path::Path;
use std::process::{Command, Stdio};

/// Instructions of one call on one of the emulator's scenes.
pub struct Count {
    pub scene: String,
    pub call: String,
    pub mean: f64,
    pub worst: f64,
}

/// Builds for the board and runs; or says why not.
pub fn counts() -> Result<Vec<Count>, String> {
    const SCRIPT: &str = "tests/embedded/run.sh";
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(SCRIPT));
    command.arg("--counts").stdin(Stdio::null()).stderr(Stdio::inherit());
    // flags for this machine's processor are not for the board's
    let run = command.env_remove("RUSTFLAGS").output().map_err(|e| format!("{SCRIPT}: {e}"))?;
    let text = String::from_utf8_lossy(&run.stdout);
    if let Some(reason) = text.lines().find_map(|l| l.strip_prefix("skipped, because ")) {
        return Err(reason.into());
    }
    let counts: Vec<Count> = text.lines().filter_map(count).collect();
    match run.status.success() && !counts.is_empty() {
        true => Ok(counts),
        false => Err(format!("{SCRIPT} --counts ended with {}", run.status)),
    }
}

/// `count SCENE CALL LEAST MEAN MOST`.
fn count(line: &str) -> Option<Count> {
    let ["count", scene, call, _, mean, worst] = line.split_whitespace().collect::<Vec<_>>()[..] else { return None };
    Some(Count { scene: scene.into(), call: call.into(), mean: mean.parse().ok()?, worst: worst.parse().ok()? })
}
