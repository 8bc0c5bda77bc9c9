//! The words about two images.

use std::io::Write;

use serde_json::Value;

use super::super::{Done, counted, decimal, few, grouped, shown};
use crate::compare::{Count, Difference, Fact, FirstByte, Ground, Kind, Largest, MAX_CROSSINGS, MaterialChange};
use crate::util::text::micrometres;

/// Pairs of materials that the table shows, those at most places first.
const SHOWN: usize = 10;

/// Kinds in the order of the lines: the first word, the rest, and how it is called along edges.
const KINDS: [(Kind, &str, &str, &str); 8] = [
    (Kind::Lost, "lost", "ground", "lost"),
    (Kind::Gained, "gained", "ground", "gained"),
    (Kind::MuHigher, "friction", "mu higher", "of higher mu"),
    (Kind::MuLower, "friction", "mu lower", "of lower mu"),
    (Kind::RrHigher, "rolling", "rr higher", "of higher rr"),
    (Kind::RrLower, "rolling", "rr lower", "of lower rr"),
    (Kind::GainHigher, "gain", "higher", "of higher gain"),
    (Kind::GainLower, "gain", "lower", "of lower gain"),
];

pub fn print(d: &Difference, drawn: bool, out: &mut impl Write) -> Done {
    writeln!(out, "{}", verdict(d))?;
    for identity in d.identity.iter().take(if d.identity[0] == d.identity[1] { 1 } else { 2 }) {
        writeln!(out, "identity     {identity}")?;
    }
    for Fact { name, first, second } in &d.facts {
        writeln!(out, "{name:<12} {first} -> {second}")?;
    }
    print_names(d, out)?;
    if let Some(ground) = &d.ground {
        print_places(ground, drawn, out)?;
        print_heights(ground, out)?;
        if ground.shared > 0 {
            print_kinds(ground, out)?;
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

/// The first line.
fn verdict(d: &Difference) -> String {
    let Some(ground) = &d.ground else { return "equal: the same identity, the same content".into() };
    let places = counted(ground.places, "place");
    if d.alike == Some(true) {
        return format!("alike: at none of {places} asked does the ground differ by more than the tolerance");
    }
    if !ground.same() || KINDS.iter().any(|(kind, ..)| ground.counts[*kind].places > 0) {
        return "different".into();
    }
    // the ground is the same: what else is other
    let sources = !d.sources.lost.is_empty() || !d.sources.gained.is_empty();
    let names = [(!d.materials.same(), "materials"), (sources, "sources")];
    let names = names.into_iter().filter(|(other, _)| *other).map(|(_, name)| name);
    let facts = d.facts.iter().filter(|fact| !fact.is_length()).map(|fact| fact.name);
    let mut all: Vec<String> = names.chain(facts).map(String::from).collect();
    if all.is_empty() {
        all.extend(d.first_byte.iter().map(|first| format!("bytes of {}", first.section)));
    }
    let within = if ground.tolerance > 0.0 { format!(" to {} m", decimal(ground.tolerance)) } else { String::new() };
    let count = all.len() as u64;
    format!("different: the ground is alike{within} at all {places} asked; other: {}", few(all.into_iter(), count))
}

/// Sources and materials.
fn print_names(d: &Difference, out: &mut impl Write) -> Done {
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
    // 1, not 1.0
    let written = |value: &Value| value.as_f64().map_or_else(|| value.to_string(), decimal);
    for of_one in m.values.chunk_by(|p, q| p.name == q.name).take(SHOWN) {
        let values = of_one.iter().map(|p| format!("{} {} -> {}", p.field, written(&p.from), written(&p.to)));
        writeln!(out, "material     {:?}: {}", of_one[0].name, values.collect::<Vec<_>>().join(", "))?;
    }
    more(m.changed.len(), "other material", out)
}

/// That there are more than the table shows.
fn more(all: usize, what: &str, out: &mut impl Write) -> Done {
    if all > SHOWN {
        writeln!(out, "             and {}; all: --json", counted((all - SHOWN) as u64, what))?;
    }
    Ok(())
}

fn print_places(g: &Ground, drawn: bool, out: &mut impl Write) -> Done {
    let pixels = if drawn { "in all pixels, " } else { "" };
    let pitch = if g.grid < 0.001 { format!("{:.3} mm", 1e3 * g.grid) } else { format!("{:.3} m", g.grid) };
    writeln!(
        out,
        "ground       {}: vertices, middles of triangles, crossings of edges that only one has, beside edges where only one ends, {pixels}and one in each square of {pitch}, by which areas are counted",
        counted(g.places, "place")
    )?;
    if !g.crossings.all {
        let most = grouped(MAX_CROSSINGS as u64);
        writeln!(
            out,
            "crossings    not all crossings of edges are included: there are more than {most}, or they lie too close together"
        )?;
    }
    Ok(())
}

fn print_heights(g: &Ground, out: &mut impl Write) -> Done {
    let said = match g.largest {
        None if g.apart() => "no place has ground in both; they do not lie over each other".into(),
        None if g.tolerance > 0.0 => format!("no change of more than {} m there", g.tolerance),
        None => "no change there".into(),
        Some(Largest { at, from, to }) => {
            let [x, y, low, high] = [at[0], at[1], from, to].map(micrometres);
            let by = to - from;
            format!("other {}, at most by {by:+.6} m: at {x},{y} from {low} to {high}", lies(&g.counts[Kind::Height]))
        }
    };
    writeln!(out, "heights      {said}")?;
    Ok(())
}

/// Ground lost and gained and other materials; what lies along edges alone comes last.
fn print_kinds(g: &Ground, out: &mut impl Write) -> Done {
    for (kind, what, of, _) in KINDS {
        let count = &g.counts[kind];
        if count.is_wide() {
            writeln!(out, "{what:<12} {of} {}, {}", lies(count), first(count))?;
        }
    }
    let (wide, thin): (Vec<_>, Vec<_>) = g.materials.iter().partition(|m| m.count.is_wide());
    for MaterialChange { from, to, count } in wide.iter().take(SHOWN) {
        writeln!(out, "material     {from:?} -> {to:?} {}, {}", lies(count), first(count))?;
    }
    more(wide.len(), "other pair", out)?;
    let mut other = Count::default();
    thin.iter().for_each(|m| other.join(&m.count));
    let all = KINDS.map(|(kind, .., what)| (what, g.counts[kind]));
    let thin: Vec<String> = all
        .into_iter()
        .chain([("of another material", other)])
        .filter(|(_, count)| count.is_thin())
        .map(|(what, count)| format!("{what} at {}, {}", counted(count.places, "place"), first(&count)))
        .collect();
    if !thin.is_empty() {
        writeln!(out, "no area      {}: along edges, or narrower than the grid's squares", thin.join("; "))?;
    }
    Ok(())
}

/// `at 1,109 places, about 551 m2, x -5 to 5, y -50 to 50`.
fn lies(count: &Count) -> String {
    let [low, high] = count.extent.unwrap_or_default().map(|p| p.map(micrometres));
    let area = match count.area {
        0.0 => "no area by the grid".into(),
        area => format!("about {} m2", four_digits(area)),
    };
    let places = counted(count.places, "place");
    format!("at {places}, {area}, x {} to {}, y {} to {}", low[0], high[0], low[1], high[1])
}

/// `the first -5,-49,6`.
fn first(count: &Count) -> String {
    let [x, y, z] = count.first.unwrap_or_default().map(micrometres);
    format!("the first {x},{y},{z}")
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
