//! What is said of two images: text and JSON.

use std::io::Write;

use serde::Serialize;
use serde_json::Value;

use super::{
    super::{Done, counted, decimal, few, grouped, shown},
    edges::MOST as CROSSINGS,
    facts::{BYTES, Fact, FirstByte, Materials, NO_GROUND, Sources, WINDOWS},
    ground::{Count, Ground, Largest, MaterialChange},
    moved::{Moved, Raised, Rounded},
};

/// Pairs of materials that the table shows, those at most places first.
const SHOWN: usize = 10;

#[derive(Serialize)]
pub struct Difference {
    pub equal: bool,
    /// Whether they are alike within the tolerance, if there is one.
    pub alike: Option<bool>,
    pub identity: [String; 2],
    /// Whether the second is the first one, moved or in another unit.
    pub moved: Option<Moved>,
    /// Facts that differ.
    pub facts: Vec<Fact>,
    pub sources: Sources,
    /// Names of materials that are only in one image, or have other properties.
    pub materials: Materials,
    pub first_byte: Option<FirstByte>,
    pub ground: Option<Ground>,
    /// Where it was drawn, if it was: its pixels were asked too.
    pub picture: Option<Value>,
}

impl Difference {
    /// Whether nothing differs on the ground, but heights within the tolerance.
    pub fn alike(&self) -> bool {
        let answers = |fact: &Fact| matches!(fact.name, WINDOWS | NO_GROUND);
        let same = self.ground.as_ref().is_some_and(Ground::same);
        self.equal || self.materials.same() && !self.facts.iter().any(answers) && same
    }

    /// Why images differ that have the same ground: `the ground is alike at all 1,109 places asked; other: error`.
    fn beside_ground(&self) -> Option<String> {
        let g = self.ground.as_ref().filter(|g| g.same() && g.same_properties())?;
        let sources = !self.sources.lost.is_empty() || !self.sources.gained.is_empty();
        let names = [(!self.materials.same(), "materials"), (sources, "sources")];
        let names = names.into_iter().filter(|(other, _)| *other).map(|(_, name)| name);
        let mut all: Vec<String> = names
            .chain(self.facts.iter().map(|fact| fact.name).filter(|name| *name != BYTES))
            .map(String::from)
            .collect();
        if all.is_empty() {
            all.extend(self.first_byte.iter().map(|first| format!("bytes of {}", first.section)));
        }
        let places = counted(g.places, "place");
        let within = if g.tolerance > 0.0 { format!(" to {} m", decimal(g.tolerance)) } else { String::new() };
        let count = all.len() as u64;
        let pass = if self.alike() { " (--tolerance 0 passes over that)" } else { "" };
        Some(format!("the ground is alike{within} at all {places} asked; other: {}{pass}", few(all.into_iter(), count)))
    }
}

impl Count {
    /// `at 1,109 places, about 551 m2, x -5 to 5, y -50 to 50`.
    fn lies(&self) -> String {
        let [low, high] = self.extent.unwrap_or_default().map(|p| p.map(short));
        let area = match self.area {
            0.0 => "no area by the grid".into(),
            area => format!("about {} m2", four_digits(area)),
        };
        let places = counted(self.places, "place");
        format!("at {places}, {area}, x {} to {}, y {} to {}", low[0], high[0], low[1], high[1])
    }

    /// The same, and `, the first -5,-49,6`.
    fn said(&self) -> String {
        let [x, y, z] = self.first.unwrap_or_default().map(short);
        format!("{}, the first {x},{y},{z}", self.lies())
    }
}

/// Metres to a micrometre, in as few digits as that takes.
pub fn short(v: f64) -> f64 {
    (v * 1e6).round() / 1e6 + 0.0
}

/// Four digits that count, and the point: 24,690, 12.48.
fn four_digits(v: f64) -> String {
    let digits = (3.0 - v.abs().log10().floor()).clamp(-12.0, 12.0) as i32;
    let unit = 10f64.powi(-digits);
    let rounded = (v / unit).round() * unit;
    if rounded >= 1000.0 {
        grouped(rounded.round() as u64)
    } else {
        decimal(format!("{rounded:.*}", digits as usize).parse().unwrap_or(rounded))
    }
}

/// A property as tables have it: 1, not 1.0.
fn written(value: &Value) -> String {
    value.as_f64().map_or_else(|| value.to_string(), decimal)
}

pub fn print(d: &Difference, out: &mut impl Write) -> Done {
    let places = || counted(d.ground.as_ref().map_or(0, |g| g.places), "place");
    let said = match (d.equal, d.alike) {
        (true, _) => "equal: the same identity, the same content".into(),
        (_, Some(true)) => {
            format!("alike: at none of {} asked does the ground differ by more than the tolerance", places())
        }
        _ => {
            let raised = |g: &Ground| g.raised.as_ref().map(Raised::said).or(g.rounded.as_ref().map(Rounded::said));
            let how = d.moved.as_ref().map(Moved::said).or_else(|| d.ground.as_ref().and_then(raised));
            let how = how.or_else(|| d.beside_ground());
            how.map_or("different".into(), |how| format!("different: {how}"))
        }
    };
    writeln!(out, "{said}")?;
    for identity in d.identity.iter().take(if d.identity[0] == d.identity[1] { 1 } else { 2 }) {
        writeln!(out, "identity     {identity}")?;
    }
    for Fact { name, first, second } in &d.facts {
        writeln!(out, "{name:<12} {first} -> {second}")?;
    }
    let names = |what: &str, names: &[String], make: fn(&str) -> String| match names {
        [] => None,
        names => Some(format!("{what}: {}", few(names.iter().map(|n| make(n)), names.len() as u64))),
    };
    let s = &d.sources;
    let changes = [names("lost", &s.lost, shown), names("gained", &s.gained, shown)];
    let changes: Vec<String> = changes.into_iter().flatten().collect();
    if !changes.is_empty() {
        let [first, second] = s.count.map(|n| grouped(n as u64));
        writeln!(out, "sources      {first} -> {second}; {}", changes.join("; "))?;
    }
    let quoted = |name: &str| format!("{name:?}");
    let m = &d.materials;
    for line in [names("lost", &m.lost, quoted), names("gained", &m.gained, quoted)].into_iter().flatten() {
        writeln!(out, "materials    {line}")?;
    }
    for of_one in m.values.chunk_by(|p, q| p.name == q.name).take(SHOWN) {
        let values: Vec<String> =
            of_one.iter().map(|p| format!("{} {} -> {}", p.field, written(&p.from), written(&p.to))).collect();
        writeln!(out, "material     {:?}: {}", of_one[0].name, values.join(", "))?;
    }
    if m.changed.len() > SHOWN {
        let more = counted((m.changed.len() - SHOWN) as u64, "other material");
        writeln!(out, "             and {more}; all: --json")?;
    }
    if let Some(g) = &d.ground {
        writeln!(
            out,
            "ground       {}: vertices, middles of triangles, crossings of edges that only one has, beside edges where only one ends, {}and one in each square of {}, by which areas are counted",
            places(),
            if d.picture.is_some() { "in all pixels, " } else { "" },
            if g.grid < 0.001 { format!("{:.3} mm", 1e3 * g.grid) } else { format!("{:.3} m", g.grid) }
        )?;
        if !g.crossings.all {
            let most = grouped(CROSSINGS as u64);
            writeln!(
                out,
                "crossings    not all of edges are among them: there are more than {most}, or they lie too crowded to be found"
            )?;
        }
        match &g.largest {
            None if g.shared == 0 => {
                writeln!(out, "heights      no place has ground in both; they do not lie over each other")?;
            }
            Some(Largest { at: [x, y], from, to }) => writeln!(
                out,
                "heights      other {}, at most by {:+.6} m: at {},{} from {} to {}",
                g.changed.lies(),
                to - from,
                short(*x),
                short(*y),
                short(*from),
                short(*to)
            )?,
            None if g.tolerance > 0.0 => writeln!(out, "heights      no change of more than {} m there", g.tolerance)?,
            None => writeln!(out, "heights      no change there")?,
        }
        let lines = [
            ("lost", "ground", &g.lost),
            ("gained", "ground", &g.gained),
            ("friction", "mu higher", &g.mu_higher),
            ("friction", "mu lower", &g.mu_lower),
            ("rolling", "rr higher", &g.rr_higher),
            ("rolling", "rr lower", &g.rr_lower),
            ("gain", "higher", &g.gain_higher),
            ("gain", "lower", &g.gain_lower),
        ];
        for (what, of, count) in lines {
            if count.wide() && g.shared > 0 {
                writeln!(out, "{what:<12} {of} {}", count.said())?;
            }
        }
        let (wide, thin): (Vec<_>, Vec<_>) = g.materials.iter().partition(|m| m.count.wide());
        for MaterialChange { from, to, count } in wide.iter().take(SHOWN) {
            writeln!(out, "material     {from:?} -> {to:?} {}", count.said())?;
        }
        if wide.len() > SHOWN {
            writeln!(out, "             and {}; all: --json", counted((wide.len() - SHOWN) as u64, "other pair"))?;
        }
        let mut other = Count::default();
        thin.iter().for_each(|m| other.join(&m.count));
        let thin = [
            ("lost", &g.lost),
            ("gained", &g.gained),
            ("of higher mu", &g.mu_higher),
            ("of lower mu", &g.mu_lower),
            ("of higher rr", &g.rr_higher),
            ("of lower rr", &g.rr_lower),
            ("of higher gain", &g.gain_higher),
            ("of lower gain", &g.gain_lower),
            ("of another material", &other),
        ];
        let thin = thin.into_iter().filter(|(_, count)| count.places > 0 && !count.wide() && g.shared > 0);
        let thin: Vec<String> = thin
            .map(|(what, count)| {
                let [x, y, z] = count.first.unwrap_or_default().map(short);
                format!("{what} at {}, the first {x},{y},{z}", counted(count.places, "place"))
            })
            .collect();
        if !thin.is_empty() {
            writeln!(out, "no area      {}: along edges, or narrower than the grid's squares", thin.join("; "))?;
        }
    }
    match &d.first_byte {
        Some(FirstByte { offset, section, content }) => {
            let kind = if *content { "content" } else { "no content" };
            writeln!(out, "bytes        differ from {} on: {section}, {kind}", grouped(*offset))?;
        }
        None => writeln!(out, "bytes        equal")?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_count() {
        let areas = [24_689.53, 999.96, 999.94, 12.4812, 10.000_000_1, 0.000_123_456, 1e9];
        let said = ["24,690", "1,000", "999.9", "12.48", "10", "0.0001235", "1,000,000,000"];
        assert_eq!(areas.map(four_digits), said);
    }
}
