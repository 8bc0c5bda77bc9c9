//! Answers step by step.

use std::io::{self, Write};

use crate::image::decode;
use crate::query::Ask;
use crate::query::table::meant;
use crate::util::steps::Steps;
use hardpan::{LeafKind, Reach, Status, Terrain, Trace};

use super::{
    super::{costs, counted, decimal, shown},
    sheet::{Row, Sheet},
};

/// Each answer step by step.
pub struct Explained<'t, 'a, W> {
    pub terrain: &'t Terrain<'a>,
    pub out: W,
    /// Number of the column wheel among the others.
    pub wheel: Option<usize>,
}

impl<W: Write> Sheet for Explained<'_, '_, W> {
    fn row(&mut self, r: &Row) -> io::Result<()> {
        let wheel = self.wheel.and_then(|k| r.fields().nth(k)).map(meant);
        explain(self.terrain, r.ask, wheel.as_deref().map(str::trim), &mut self.out)
    }

    fn foot(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Every step of the search, the heights it weighed, and the rule that chose.
fn explain(t: &Terrain, ask: &Ask, wheel: Option<&str>, out: &mut impl Write) -> io::Result<()> {
    let answer = ask.answer(t);
    let from = ask.z.unwrap_or_else(|| t.z_f64(&answer.hit));
    let mut steps = Vec::new();
    t.explain(ask.place(from), |step| steps.push(step));

    let [x, y] = [ask.x, ask.y].map(decimal);
    let question = match (ask.z.map(decimal), ask.length.map(decimal)) {
        (None, _) => format!("highest ground at {x}, {y}"),
        (Some(z), None) => format!("ground closest to {x}, {y}, {z}"),
        (Some(z), Some(length)) => format!("first ground at most {length} m below {x}, {y}, {z}"),
    };
    writeln!(out, "{question}")?;
    wheel.map_or(Ok(()), |wheel| writeln!(out, "  wheel      {}", shown(wheel)))?;
    let (mut cost, mut candidates) = (hardpan::Cost::default(), Vec::new());
    for step in steps {
        match step {
            Trace::Node { log2 } => {
                cost.nodes += 1;
                writeln!(out, "  node       entries of {} m", Steps::of(t.header()).power(log2))?;
            }
            Trace::Words { words, lines } => {
                cost.lines += lines;
                let lines = counted(lines, "line");
                writeln!(out, "  cell       {} may lie over the place, {lines}", counted(words, "leaf"))?;
            }
            Trace::Leaf { record, lines } => {
                cost.leaves += 1;
                cost.lines += lines;
                let held = decode::leaf(t, record, lines).map(|leaf| {
                    let what = leaf.triangles.map_or(LeafKind::Patch.name().into(), |n| counted(n as u64, "triangle"));
                    let [material, source] = [t.material_name(leaf.material), t.source_name(leaf.source)].map(shown);
                    format!("{what}, {material} of {source}, ")
                });
                let held = held.unwrap_or_default();
                writeln!(out, "  leaf       {record}: {held}{}", counted(lines, "line"))?;
            }
            Trace::Long { record } => {
                cost.lines += 1;
                writeln!(out, "  long block {record}: 1 line")?;
            }
            Trace::Test { part, covered, .. } => {
                cost.tests += 1;
                writeln!(out, "    test     {part}: {}", if covered { "covers the place" } else { "beside it" })?;
            }
            Trace::Candidate(hit) => candidates.push(hit),
        }
    }
    // where its triangles meet, a surface is one candidate
    let surface = |hit: &hardpan::Hit| (-hit.z, hit.material, hit.source);
    candidates.sort_by_key(surface);
    candidates.dedup_by_key(|hit| surface(hit));
    for hit in &candidates {
        writeln!(
            out,
            "  candidate  z {:.6}  {}, {} of {}{}",
            t.z_f64(hit),
            hit.leaf.name(),
            shown(t.material_name(hit.material)),
            shown(t.source_name(hit.source)),
            if t.is_hidden(ask.place(from), hit) { ", hidden by ground of higher precedence" } else { "" }
        )?;
    }
    let near = Steps::of(t.header()).query_height(t.header().near);
    let rule = match (answer.status, ask.z, ask.length) {
        (Status::Found, None, _) => "the highest".to_string(),
        (Status::Found, _, Some(_)) => "the first going down".to_string(),
        (Status::Found, ..) => match answer.hit.reach {
            Reach::Near => format!("the nearest within {near} m, above or below; of two equally near the lower"),
            Reach::FarBelow => format!("nothing within {near} m; the highest below"),
            _ => format!("nothing within {near} m or below; the lowest above"),
        },
        (status, ..) => status.name().to_string(),
    };
    match answer.found() {
        true => writeln!(out, "  answer     z {:.6}: {rule}", t.z_f64(&answer.hit))?,
        false => writeln!(out, "  answer     none: {rule}")?,
    }
    let bound = t.bound();
    writeln!(
        out,
        "  cost       {}; stated for this image: at most {}, {}, {}, {}",
        costs(&cost),
        bound.nodes,
        bound.leaves,
        bound.tests,
        bound.lines
    )
}
