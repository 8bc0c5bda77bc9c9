//! Gaps: ground ends along an open edge and begins again beside it.

#[cfg(feature = "json")]
use serde_json::{Value, json};

use hardpan::Terrain;

use crate::report::{Code, Finding, Quantity};
use crate::scene::Scene;
use crate::util::text::{METRE, counted, grouped, in_unit, metres, unit};

use super::border::{Border, Edge, Ending, span};
use super::pairs::{ALL, Ask, Met, Run, ends, middle, pairs, places};
use super::{Limits, length};

/// No ground along open edges, and ground again at the other side.
pub struct Gap {
    /// Where it is wide, in its middle across and along, metres.
    pub at: [f64; 3],
    /// Metres about that place, across the edge and along it, in which there is no ground.
    room: f64,
    /// Metres where it is widest, whichever way it is narrower there.
    pub width: f64,
    /// It goes on, and is wider there than is asked for.
    pub wider: bool,
    /// Metres along it, about: of two edges that face each other half of each, of a hole half of its rim without its
    /// width.
    pub length: f64,
    /// Metres by which one side of it is higher than the other at most.
    pub rise: f64,
    /// Ways along it in plan, metres.
    pub ways: Vec<Vec<[f64; 2]>>,
    /// Parts of edges beside it in plan, metres.
    pub edges: Vec<[[f64; 2]; 2]>,
}

/// Gaps, or holes, that are listed in words and for programs.
pub const LISTED: [usize; 2] = [8, 1000];
/// How many times as long as wide a gap is at least that grows wider than is asked for: less is a corner.
pub const SLENDER: f64 = 4.0;
/// A difference of height that is not told, metres.
const LEVEL: f64 = 0.001;

impl Gap {
    /// From runs along so many metres. Nothing if it is a jag or a corner; what edges go all around, or lies all around
    /// them, is none.
    pub fn of(runs: &[&Run], length: f64, ring: bool, hair: f64) -> Option<Self> {
        let met: Vec<&Met> = runs.iter().flat_map(|run| &run.met).collect();
        let plan = |[x, y, _]: [f64; 3]| [x, y];
        let middles = met.iter().map(|m| plan(m.middle()));
        let width = met.iter().fold(0.0, |most: f64, m| most.max(m.width));
        let best = middle(&met, hair, |m| plan(m.middle()), |m| m.room)?;
        let wider = runs.iter().any(|run| run.wider);
        let gap = Gap {
            at: best.middle(),
            room: best.room,
            width,
            wider,
            length: if ring { (length - width).max(width) } else { length },
            rise: met.iter().fold(0.0, |most: f64, m| most.max((m.to[2] - m.at[2]).abs())),
            ways: runs.iter().map(|run| run.way()).collect(),
            edges: runs.iter().map(|run| run.part()).collect(),
        };
        let slender = if runs.iter().any(|run| run.widens) { SLENDER } else { 1.0 };
        (ring || ends(middles).map_or(0.0, span) >= slender * width).then_some(gap)
    }

    /// As a value.
    pub fn finding(&self) -> Finding {
        let wider = Quantity { name: "wider", value: f64::from(u8::from(self.wider)), unit: "" };
        let values = vec![length("width", self.width), length("length", self.length), length("rise", self.rise), wider];
        Finding { place: Some(self.at), values, ..Code::Gap.finding(self.told()) }
    }

    /// In words, with a place to query: all in the unit of its width, but lengths from 1 m on in metres.
    pub fn told(&self) -> String {
        let more = if self.wider { " or more" } else { "" };
        let short = unit(self.width);
        let (width, rise) = (in_unit(self.width, short), in_unit(self.rise, short));
        let long = in_unit(self.length, if unit(self.length).0 <= 1.0 { METRE } else { short });
        let level = if self.rise < LEVEL { String::new() } else { format!(", one side up to {rise} higher") };
        format!("gap {width}{more} wide, {long} long{level} at {}", place(&self.at, self.room))
    }
}

/// Places of open edges beside which a build looks, or as many as there are triangles: about a second's work.
const PLACES: u64 = 400_000;

/// Gaps beside the open edges of an image, as far as a build looks.
pub struct OfBuild {
    edges: u64,
    /// None if nobody looked, because that takes long.
    gaps: Option<Vec<Gap>>,
}

/// Looks for gaps as `check` does, where that is quickly done; `open` is how many edges are open, if that is known.
pub fn of_build(t: &Terrain, scene: Option<&Scene>, open: Option<u64>) -> OfBuild {
    let most = PLACES.max(t.header().triangles);
    let are_many = |edges: &u64| 8 * edges > most;
    if let Some(edges) = open.filter(are_many) {
        return OfBuild { edges, gaps: None };
    }
    let ending = Ending::of(t);
    let edges = ending.open();
    if are_many(&edges) {
        return OfBuild { edges, gaps: None };
    }
    let border = Border::new(t, ending);
    let open: Vec<&Edge> = border.open.iter().collect();
    let Limits { gap, step, .. } = Limits::default();
    let ask = Ask { heights: ALL, reach: gap, gap: |_| Some(gap), step, scene };
    OfBuild { edges, gaps: (places(&open) <= most).then(|| pairs(t, &border, &open, &ask).gaps) }
}

impl OfBuild {
    /// For programs.
    #[cfg(feature = "json")]
    pub fn facts(&self) -> Value {
        let first = self.gaps.as_deref().map(facts);
        let found = self.gaps.as_ref().map(Vec::len);
        json!({ "max_gap": Limits::default().gap, "open_edges": self.edges, "found": found, "first": first })
    }

    /// One line: what was looked for, and how many there are.
    pub fn sum(&self) -> String {
        let (edges, most) = (counted(self.edges, "open edge"), metres(Limits::default().gap));
        match self.gaps.as_ref().map(Vec::len) {
            None => format!("beside {edges}: gaps of up to {most} not looked for"),
            Some(0) => format!("beside {edges}: no gaps of up to {most}"),
            Some(n) => format!("beside {edges}: {} of up to {most}", counted(n as u64, "gap")),
        }
    }

    /// The widest; none if there is none.
    pub fn text(&self) -> Option<String> {
        let gaps = self.gaps.as_deref()?;
        let widest = gaps.first()?.told();
        Some(match gaps.len() as u64 {
            1 => format!("beside open edges there is a {widest}"),
            n => format!("{} beside open edges, the widest a {widest}", counted(n, "gap")),
        })
    }
}

/// For programs: the first of them.
#[cfg(feature = "json")]
pub fn facts(gaps: &[Gap]) -> Value {
    gaps.iter()
        .take(LISTED[1])
        .map(|g| json!({ "at": g.at, "width": g.width, "wider": g.wider, "length": g.length, "rise": g.rise }))
        .collect()
}

/// A place in something of a size, in so many digits that it is in it.
pub fn place(at: &[f64], size: f64) -> String {
    let decimals = (2.0 - size.log10()).ceil().clamp(0.0, 9.0) as usize;
    at.iter().map(|v| format!("{:.decimals$}", v + 0.0)).collect::<Vec<_>>().join(",")
}

/// The first of them, and how many follow, which are so, as "no wider".
pub fn listed(lines: impl ExactSizeIterator<Item = String>, less: &str) -> impl Iterator<Item = String> {
    let rest = lines.len().saturating_sub(LISTED[0]) as u64;
    lines.take(LISTED[0]).chain((rest > 0).then(|| format!("and {} {less}", grouped(rest))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_told_in_one_unit() {
        let told = |[width, length, rise]: [f64; 3]| {
            let (at, room) = ([1.0, 2.0, 3.0], 0.1);
            Gap { at, room, width, wider: false, length, rise, ways: Vec::new(), edges: Vec::new() }.told()
        };
        assert_eq!(told([0.9996, 1.0, 0.0]), "gap 1 m wide, 1 m long at 1.000,2.000,3.000");
        for (sizes, words) in [
            ([0.0721, 0.543, 0.00198], "gap 7.21 cm wide, 54.3 cm long, one side up to 0.198 cm higher at "),
            ([0.00123, 0.543, 0.2], "gap 1.23 mm wide, 543 mm long, one side up to 200 mm higher at "),
            ([0.4, 0.9996, 0.0], "gap 40 cm wide, 1 m long at "),
            ([2.0, 1234.0, 0.2], "gap 2 m wide, 1230 m long, one side up to 0.2 m higher at "),
        ] {
            assert!(told(sizes).starts_with(words), "{}", told(sizes));
        }
    }
}
