//! One answer step by step, as values.

use hardpan::{Terrain, Trace};
use hardpan_builder::util::steps::Steps;
use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};

/// The steps of [`Terrain::explain`], each a tuple that begins with its kind; and their cost.
pub fn steps<'py>(py: Python<'py>, t: &Terrain, p: [f64; 3]) -> PyResult<Bound<'py, PyDict>> {
    let mut seen = Vec::new();
    t.explain(p, |step| seen.push(step));
    let steps = PyList::empty(py);
    for step in seen {
        match step {
            Trace::Node { log2 } => {
                let side = Steps::of(t.header()).power(log2);
                steps.append(("node", side))
            }
            Trace::Words { words, lines } => steps.append(("cell", words, lines)),
            Trace::Leaf { record, lines } => steps.append(("leaf", record, lines)),
            Trace::Long { record } => steps.append(("long block", record, 1)),
            Trace::Test { record, part, covered } => steps.append(("test", record, part, covered)),
            Trace::Candidate(hit) => {
                let (material, source) = (t.material_name(hit.material), t.source_name(hit.source));
                steps.append(("candidate", t.z_f64(&hit), material, source, hit.leaf.name()))
            }
        }?;
    }
    let (_, cost) = t.closest_costed(p);
    let all = PyDict::new(py);
    all.set_item("steps", steps)?;
    all.set_item("cost", (cost.nodes, cost.leaves, cost.tests, cost.lines))?;
    Ok(all)
}
