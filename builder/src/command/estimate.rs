//! States the cost of sampling before it begins, and refuses what the memory does not hold.

use std::path::Path;

use crate::grid::{Estimate, Places, machine_memory};
use serde_json::json;

use super::{Done, Failure, grouped, named, note, tell::Tell};

/// Stops at what the machine cannot hold; `then` is what to type.
pub fn allowed(estimate: &Estimate, name: &Path, then: &str) -> Done {
    let Some(there) = machine_memory().filter(|there| estimate.memory_bytes > *there) else { return Ok(()) };
    let [needed, there] = [estimate.memory_bytes, there].map(bytes);
    let text = format!("this takes {needed} of memory, and there are {there}; {then}");
    Err(Failure::Machine(format!("{}: {text}", named(name))))
}

/// `what` names the places and how far they are apart.
pub fn say(estimate: &Estimate, places: &Places, what: &str, tell: &Tell) {
    let Places { columns, rows, apart, .. } = places;
    if tell.is_json() {
        let mut facts = json!(estimate);
        (facts["columns"], facts["rows"], facts["cell"]) = (json!(columns), json!(rows), json!(apart));
        return tell.line(&json!({ "estimate": facts }));
    }
    let [heights, all] = [estimate.heights_bytes, estimate.memory_bytes].map(bytes);
    let [columns, rows] = [columns, rows].map(|n| grouped(*n as u64));
    let time = if estimate.seconds < 0.095 { 2 } else { 1 };
    let seconds = estimate.seconds.max(0.01);
    note(format!("{columns} x {rows} {what}; memory: heights {heights}, in all {all}; time: about {seconds:.time$} s"));
}

/// Bytes as people read them.
fn bytes(n: u64) -> String {
    match n {
        0..10_240 => format!("{n} bytes"),
        10_240..1_048_576 => format!("{:.1} KiB", n as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", n as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", n as f64 / 1_073_741_824.0),
    }
}
