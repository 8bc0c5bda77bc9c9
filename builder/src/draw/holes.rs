//! The map of holes: places without ground that ground surrounds, open edges, and gaps along them.

use hardpan::Terrain;
use serde_json::{Value, json};

use super::{
    canvas::{Canvas, near, within},
    colour::{Colour, NOTHING},
    frame::{Drawn, Key, magnitude, no_ground, no_ground_label},
    maps::{canvas, of_tops},
    relief::{light, lit, slight},
    spots::{Spot, enclosed, fine, spots},
    view::View,
};
use crate::check;
use crate::check::ground::border::{Border, Edge, span};
use crate::check::ground::gaps::{Gap, LISTED, listed};
use crate::check::ground::pairs::{Ask, Pairs, pairs};
use crate::check::ground::steps::Step;
use crate::check::ground::{gaps, steps};
use crate::util::text::{counted, grouped, metres};

/// A place without ground that ground surrounds.
const HOLE: Colour = [0, 114, 178];
/// An open edge.
const EDGE: Colour = [213, 94, 0];
/// A step.
const STEP: Colour = [170, 51, 119];

/// A place in the picture, and the reach of its mark, pixels.
type Mark = ([f64; 2], f64);
/// How wide a gap may be by default, metres.
const WIDE: f64 = 0.25;

/// Holes, gaps and open edges of a view.
struct Found<'a> {
    edges: Vec<&'a Edge>,
    /// Metres of open edges in the picture.
    length: f64,
    /// Gaps are looked for up to this width, metres.
    widest: f64,
    gaps: Vec<Gap>,
    /// Steps above the limit, if they are asked for.
    steps: Option<(f64, Vec<Step>)>,
    /// Where edges were too crowded to look at all.
    skipped: Option<String>,
    /// Holes that are not gaps.
    holes: Vec<Spot>,
    /// Whether a gap shows as a hole.
    slits: bool,
    /// Whether pixels without ground reach the border of the picture.
    outside: bool,
}

/// `max_gap` is how wide a gap may be, in metres. Without it a quarter of a metre, or what pixels may not show, if that
/// is more. With `max_step` steps of more than that are shown too.
pub fn holes(t: &Terrain, view: &View, max_gap: Option<f64>, max_step: Option<f64>) -> Drawn {
    let all = of_tops(t, view, |hit| light(t.slope_f64(hit)));
    let mut ground = canvas(view, &all, |light| lit([200; 3], slight(*light)));
    let (outside, hollow) = enclosed(view, &all);
    hollow.iter().for_each(|&i| ground.pixels[i] = HOLE);
    let border = Border::of(t);
    let seen = border.open.iter().filter_map(|e| Some((e, part(e, view)?)));
    let (edges, parts): (Vec<&Edge>, Vec<[f64; 2]>) = seen.unzip();
    let length = edges.iter().zip(parts).fold(0.0, |sum, (e, part)| sum + span(e.plan) * (part[1] - part[0]));
    let length = (length * 1e6).round() / 1e6; // less than what the border's rounding adds
    let widest = max_gap.unwrap_or(WIDE.max(1.5 / view.per_metre));
    let ask = Ask {
        heights: view.heights,
        reach: widest.max(check::ground::NEAR),
        gap: |p| most(p, view, &ground, max_gap),
        step: max_step.unwrap_or(f64::INFINITY),
        scene: None,
    };
    let Pairs { gaps, steps, skipped } = pairs(t, &border, &edges, &ask);
    let (filled, mut met) = (along(view, &gaps), vec![true; all.len()]);
    hollow.iter().for_each(|&i| met[i] = false);
    // a gap does not count as a hole as well
    let is_gap = |hole: &Spot| hole.set.iter().all(|&i| filled[i]);
    let (slits, holes): (Vec<Spot>, Vec<Spot>) = spots(view, &mut met).into_iter().partition(is_gap);
    let steps = max_step.map(|least| (least, steps));
    let found = Found { edges, length, widest, gaps, steps, skipped, holes, slits: !slits.is_empty(), outside };
    let counts = found.mark(&mut ground, view);
    let (keys, notes, details) = (found.keys(view, counts), found.notes(t, view), found.lines(t, view));
    Drawn { ground, keys, notes, details, facts: found.facts(t, view) }
}

impl Found<'_> {
    fn steps(&self) -> &[Step] {
        self.steps.as_ref().map_or(&[], |(_, steps)| steps)
    }

    /// Draws edges, those of gaps and steps on top; then a ring about what is small and listed, a dot at what is small
    /// and not, and the numbers of the list. The counts are rings and dots of holes and gaps, and those of steps.
    fn mark(&self, canvas: &mut Canvas, view: &View) -> [[usize; 2]; 2] {
        let [wide, small] = fine(view);
        let mut line = |plan: [[f64; 2]; 2], wide: f64, colour| {
            let [a, b] = plan.map(|[x, y]| view.place(x, y));
            canvas.line(a, b, wide as usize, colour);
        };
        self.edges.iter().for_each(|e| line(e.plan, wide, EDGE));
        // wide enough to cover the lines beneath
        self.gaps.iter().flat_map(|gap| &gap.edges).for_each(|part| line(*part, wide + 2.0, HOLE));
        self.steps().iter().flat_map(|step| &step.edges).for_each(|part| line(*part, wide + 2.0, STEP));
        // each with how far it reaches
        let of = |[x, y, _]: [f64; 3]| (view.place(x, y), 0.0);
        let holes = self.holes.iter().map(|h| (view.place(h.at[0], h.at[1]), h.reach)).collect();
        let gaps = self.gaps.iter().map(|g| of(g.at)).collect();
        let steps = self.steps().iter().map(|s| of(s.over.at)).collect();
        let all: [(usize, Vec<Mark>); 3] = [(0, holes), (0, gaps), (1, steps)];
        let mut counts = [[0; 2]; 2];
        for (kind, places) in &all {
            let colour = [HOLE, STEP][*kind];
            for (i, (at, _)) in places.iter().enumerate().filter(|(_, (_, reach))| *reach < small) {
                match i < LISTED[0] {
                    true => canvas.ring(*at, small, 1.5 * wide, colour),
                    false => canvas.disc(*at, small / 2.0, colour),
                }
                counts[*kind][usize::from(i >= LISTED[0])] += 1;
            }
        }
        // beside it, or in the middle of a large hole
        let listed = all.iter().flat_map(|(_, places)| places.iter().take(LISTED[0]));
        for (i, (at, reach)) in listed.enumerate() {
            let beside = if *reach < 4.0 * small { reach.max(small) } else { 0.0 };
            canvas.label(*at, beside, &(i + 1).to_string(), magnitude(view));
        }
        counts
    }

    fn keys(&self, view: &View, counts: [[usize; 2]; 2]) -> Vec<Key> {
        let mut keys = vec![Key::Box(HOLE, format!("{}, with ground all around", no_ground_label(view)))];
        let kinds = [(HOLE, "gaps and small holes"), (STEP, "steps")];
        for ([rings, dots], (colour, kind)) in counts.into_iter().zip(kinds) {
            keys.extend((rings > 0).then(|| Key::Ring(colour, format!("{kind} of the list"))));
            keys.extend((dots > 0).then(|| Key::Dot(colour, format!("{} other {kind}", grouped(dots as u64)))));
        }
        keys.extend(self.outside.then(|| no_ground(view)));
        keys.extend((!self.gaps.is_empty()).then(|| Key::Line(HOLE, "edges of gaps".into())));
        keys.extend((!self.steps().is_empty()).then(|| Key::Line(STEP, "edges of steps".into())));
        keys.push(Key::Line(EDGE, "open edges".into()));
        keys
    }

    fn notes(&self, t: &Terrain, view: &View) -> Vec<String> {
        let pixel = metres(1.0 / view.per_metre);
        let seen = match self.holes.len() as u64 {
            0 => "no enclosed hole".into(),
            n => counted(n, "enclosed hole"),
        };
        let besides = if self.slits { " besides gaps" } else { "" };
        let narrow = looked(&format!("gaps of up to {}", metres(self.widest)), self.gaps.len());
        let mut notes = vec![
            format!("{seen}{besides} seen at {pixel} a pixel; {narrow}"),
            format!("{} here, {} long", counted(self.edges.len() as u64, "open edge"), metres(self.length)),
        ];
        let stepped = |(least, steps): &(f64, Vec<Step>)| {
            looked(&format!("steps down of more than {}", metres(*least)), steps.len())
        };
        notes.extend(self.steps.as_ref().map(stepped));
        notes.extend(self.skipped.clone());
        if t.header().patch_blocks > 0 {
            notes.push("an edge beside a field of heights is open too, for its neighbour is no triangle".into());
        }
        notes
    }

    /// A line for each that has a number.
    fn lines(&self, t: &Terrain, view: &View) -> Vec<String> {
        let hole = |h: &Spot| {
            let size = match h.askew(view).map(|size| size.map(metres)) {
                Some([wide, long]) => format!("{wide} wide, {long} long"),
                None => h.size(view).map(metres).join(" by "),
            };
            format!("hole {size} at {}", gaps::place(&h.at, 1.0 / view.per_metre))
        };
        let [holes, gaps] = [self.holes.len(), self.gaps.len()].map(|n| n.min(LISTED[0]));
        listed(numbered(1, &self.holes, hole), "no larger")
            .chain(listed(numbered(1 + holes, &self.gaps, Gap::told), "no wider"))
            .chain(listed(numbered(1 + holes + gaps, self.steps(), |s| s.told(t)), "no higher"))
            .collect()
    }

    fn facts(&self, t: &Terrain, view: &View) -> Value {
        let hole = |h: &Spot| {
            let [width, length] = h.askew(view).map_or([None; 2], |size| size.map(Some));
            json!({ "at": h.at, "size": h.size(view), "width": width, "length": length, "pixels": h.set.len() })
        };
        let listed: Vec<Value> = self.holes.iter().take(LISTED[1]).map(hole).collect();
        let mut facts = json!({
            "enclosed_holes": self.holes.len(), "holes": listed, "max_gap": self.widest,
            "narrow_gaps": self.gaps.len(), "gaps": gaps::facts(&self.gaps),
            "open_edges": self.edges.len(), "open_length": self.length,
        });
        if let Some((least, steps)) = &self.steps {
            facts["max_step"] = (*least).into();
            facts["steps"] = steps.len().into();
            facts["first_steps"] = steps::facts(self.steps(), t);
        }
        facts
    }
}

/// The searches along the open edges, and the number of edges.
fn looked(kind: &str, found: usize) -> String {
    let found = if found == 0 { "none".into() } else { grouped(found as u64) };
    format!("{kind} looked for along the open edges: {found}")
}

/// In words, each with its number.
fn numbered<T>(first: usize, all: &[T], text: impl Fn(&T) -> String) -> impl ExactSizeIterator<Item = String> {
    all.iter().enumerate().map(move |(i, one)| format!("{}: {}", first + i, text(one)))
}

/// The shares of an edge between which the picture shows it.
fn part(e: &Edge, view: &View) -> Option<[f64; 2]> {
    if e.z[0].max(e.z[1]) < view.heights[0] || e.z[0].min(e.z[1]) > view.heights[1] {
        return None;
    }
    // a place on the picture's border counts as inside, whichever way it rounds
    within(e.plan.map(|[x, y]| view.place(x, y).map(|v| v + 1e-6)), [view.width, view.height].map(|n| n as f64 + 2e-6))
}

/// How wide a gap at a place of the picture may be. By default so wide that no pixel may show it, if there is room for
/// one: half a pixel where ground ends.
fn most(p: [f64; 2], view: &View, drawn: &Canvas, max_gap: Option<f64>) -> Option<f64> {
    let [x, y] = view.place(p[0], p[1]).map(|v| v.floor() as i64);
    let inside = (0..view.width as i64).contains(&x) && (0..view.height as i64).contains(&y);
    let here = inside.then(|| drawn.pixels[y as usize * view.width + x as usize])?;
    let pixels = if here == NOTHING { 0.5 } else { 1.5 };
    Some(max_gap.unwrap_or(WIDE.max(pixels / view.per_metre)))
}

/// Which pixels lie along gaps: their middles no farther from the gap's than half of its width, and half a pixel.
fn along(view: &View, gaps: &[Gap]) -> Vec<bool> {
    let mut filled = vec![false; view.width * view.height];
    for (gap, way) in gaps.iter().flat_map(|gap| gap.ways.iter().map(move |way| (gap, way))) {
        let reach = gap.width / 2.0 * view.per_metre + 0.5;
        for leg in way.windows(2).map(|leg| [leg[0], leg[1]].map(|[x, y]| view.place(x, y))) {
            near([view.width, view.height], leg, reach).for_each(|(i, _)| filled[i] = true);
        }
    }
    filled
}
