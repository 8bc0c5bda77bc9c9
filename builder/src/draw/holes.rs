//! The map of holes: places without ground that ground surrounds, open edges, and gaps along them.

use std::cmp::Reverse;

use hardpan::Terrain;
use serde_json::{Value, json};

use crate::{
    check::{
        border::{Border, Edge, span},
        gaps::{self, Gap, LISTED, SLENDER, listed},
        steps::{self, Step},
        walk::Walk,
    },
    names::{counted, grouped, metres},
};

use super::{
    canvas::{Canvas, Colour, NOTHING, within},
    maps::{Drawn, Key, canvas, magnitude, no_ground, no_ground_told, of_tops, slight},
    relief::{View, light, lit},
};

/// A place without ground that ground surrounds.
const HOLE: Colour = [0, 114, 178];
/// An open edge.
const EDGE: Colour = [213, 94, 0];
/// A step.
const STEP: Colour = [170, 51, 119];
/// How wide a gap may be, where nothing is said, metres.
const WIDE: f64 = 0.25;

/// Pixels that are linked, by a side or a corner.
pub struct Spot {
    /// The middle of that pixel of it which is nearest to its own middle, metres.
    pub at: [f64; 2],
    /// The pixels, row by row.
    pub set: Vec<usize>,
    /// How far it reaches from there, pixels.
    pub reach: f64,
}

/// `max_gap` is how wide a gap may be, in metres. Without it a quarter of a metre, or what pixels may not show, if that is more.
/// With `max_step` steps of more than that are shown too.
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
    let walk = Walk::new(t, &border, &edges, view.heights, widest.max(steps::BESIDE));
    let crowded = walk.crowded("gaps", gaps::FEWEST, true);
    let gaps = if crowded.is_none() { gaps::gaps(&walk, |p| most(p, view, &ground, max_gap)) } else { Vec::new() };
    let (filled, mut met) = (along(view, &gaps), vec![true; view.width * view.height]);
    hollow.iter().for_each(|&i| met[i] = false);
    // what is a gap is told as that
    let is_gap = |hole: &Spot| hole.set.iter().all(|&i| filled[i]);
    let (slits, holes): (Vec<Spot>, Vec<Spot>) = spots(view, &mut met).into_iter().partition(is_gap);
    let besides = if slits.is_empty() { "" } else { " besides gaps" };
    let steps = max_step.map(|least| steps::steps(&walk, least, None, |p| view.has(p)));
    let found_steps = steps.as_ref().and_then(|s| s.as_deref().ok()).unwrap_or_default();
    let rings = mark(&mut ground, view, &edges, &holes, &gaps, found_steps);

    let mut keys = vec![Key::Box(HOLE, format!("{}, with ground all around", no_ground_told(view)))];
    if rings {
        keys.push(Key::Ring(HOLE, "around a gap or a small hole".into()));
    }
    if !found_steps.is_empty() {
        keys.push(Key::Ring(STEP, "around a step, where it is highest".into()));
    }
    if outside {
        keys.push(no_ground(view));
    }
    let marked = [(HOLE, "gaps", gaps.is_empty()), (STEP, "steps", found_steps.is_empty())];
    let marked = marked.into_iter().filter(|(_, _, none)| !none);
    let marked: Vec<Key> = marked.map(|(colour, what, _)| Key::Line(colour, format!("edges of {what}"))).collect();
    let other = if marked.is_empty() { "" } else { "other " };
    keys.extend(marked);
    keys.push(Key::Line(EDGE, format!("{other}edges of one triangle alone")));
    let pixel = metres(1.0 / view.per_metre);
    let seen = match holes.len() as u64 {
        0 => "no enclosed hole".into(),
        n => counted(n, "enclosed hole"),
    };
    let narrow = match gaps.len() {
        _ if crowded.is_some() => "too crowded to look for gaps".into(),
        n => looked(&format!("gaps of up to {}", metres(widest)), n),
    };
    let mut notes = vec![
        format!("{seen}{besides} seen at {pixel} a pixel; {narrow}"),
        format!("{} here, {} long", counted(edges.len() as u64, "open edge"), metres(length)),
    ];
    match (&steps, max_step) {
        (Some(Err(_)), _) => notes.push("too crowded to look for steps".into()),
        (Some(Ok(steps)), Some(least)) => {
            let kind = format!("steps down of {} to {}", metres(least), metres(steps::DECK));
            notes.push(looked(&kind, steps.len()));
        }
        _ => {}
    }
    if t.header().patch_blocks > 0 {
        notes.push("an edge beside a field of heights is open too, for its neighbour is no triangle".into());
    }
    let hole_told = |h: &Spot| {
        let size = match h.askew(view).map(|size| size.map(metres)) {
            Some([wide, long]) => format!("{wide} wide, {long} long"),
            None => h.size(view).map(metres).join(" by "),
        };
        format!("hole {size} at {}", gaps::place(&h.at, 1.0 / view.per_metre))
    };
    let [hole_first, gap_first, step_first] = firsts(&holes, &gaps);
    let details: Vec<String> = listed(numbered(hole_first, &holes, hole_told), "no larger")
        .chain(listed(numbered(gap_first, &gaps, Gap::told), "no wider"))
        .chain(listed(numbered(step_first, found_steps, |s| s.told(t)), "no higher"))
        .collect();
    if !details.is_empty() {
        notes.push("numbers are those of the list that the command prints".into());
    }
    let hole = |h: &Spot| {
        let [width, length] = h.askew(view).map_or([None; 2], |size| size.map(Some));
        json!({ "at": h.at, "size": h.size(view), "width": width, "length": length, "pixels": h.set.len() })
    };
    let listed_holes: Vec<Value> = holes.iter().take(LISTED[1]).map(hole).collect();
    let mut facts = json!({
        "enclosed_holes": holes.len(), "holes": listed_holes,
        "max_gap": widest, "narrow_gaps": crowded.is_none().then_some(gaps.len()), "gaps": gaps::facts(&gaps),
        "open_edges": edges.len(), "open_length": length,
    });
    if let (Some(steps), Some(least)) = (&steps, max_step) {
        facts["max_step"] = least.into();
        facts["steps"] = steps.as_ref().map_or(Value::Null, |steps| steps.len().into());
        facts["first_steps"] = steps::facts(found_steps, t);
    }
    Drawn { ground, keys, notes, details, facts }
}

/// What was looked for along the open edges, and how many there are.
fn looked(kind: &str, found: usize) -> String {
    let found = if found == 0 { "none".into() } else { grouped(found as u64) };
    format!("{kind} looked for along the open edges: {found}")
}

/// The numbers of the first hole, gap and step: only those have one that are listed in words.
fn firsts(holes: &[Spot], gaps: &[Gap]) -> [usize; 3] {
    let [holes, gaps] = [holes.len(), gaps.len()].map(|n| n.min(LISTED[0]));
    [1, 1 + holes, 1 + holes + gaps]
}

/// In words, each with its number.
fn numbered<T>(first: usize, all: &[T], told: impl Fn(&T) -> String) -> impl ExactSizeIterator<Item = String> {
    all.iter().enumerate().map(move |(i, one)| format!("{}: {}", first + i, told(one)))
}

/// From which share of an edge to which the picture shows it, if it does.
fn part(e: &Edge, view: &View) -> Option<[f64; 2]> {
    if e.z[0].max(e.z[1]) < view.heights[0] || e.z[0].min(e.z[1]) > view.heights[1] {
        return None;
    }
    // what lies on the picture's border is in it, however its place is rounded
    within(e.plan.map(|[x, y]| view.place(x, y).map(|v| v + 1e-6)), [view.width, view.height].map(|n| n as f64 + 2e-6))
}

/// How wide a gap at a place of the picture may be. Where nothing is said, so wide that no pixel may show it, if there is room for
/// one: half a pixel where ground ends.
fn most(p: [f64; 2], view: &View, drawn: &Canvas, max_gap: Option<f64>) -> Option<f64> {
    let [x, y] = view.place(p[0], p[1]).map(|v| v.floor() as i64);
    let inside = (0..view.width as i64).contains(&x) && (0..view.height as i64).contains(&y);
    let here = inside.then(|| drawn.pixels[y as usize * view.width + x as usize])?;
    let pixels = if here == NOTHING { 0.5 } else { 1.5 };
    Some(max_gap.unwrap_or(WIDE.max(pixels / view.per_metre)))
}

/// Whether pixels without ground are linked to the picture's border, and all others without.
fn enclosed<T>(view: &View, all: &[Option<T>]) -> (bool, Vec<usize>) {
    let (width, height) = (view.width, view.height);
    let mut met: Vec<bool> = all.iter().map(Option::is_some).collect();
    let border = (0..width).flat_map(|x| [x, (height - 1) * width + x]);
    let border = border.chain((0..height).flat_map(|y| [y * width, y * width + width - 1]));
    let outside = !linked(view, &mut met, border).is_empty();
    (outside, (0..met.len()).filter(|&i| !met[i]).collect())
}

/// Which pixels lie along gaps: their middles no farther from the gap's than half of its width, and half a pixel.
fn along(view: &View, gaps: &[Gap]) -> Vec<bool> {
    let (width, height) = (view.width, view.height);
    if gaps.is_empty() {
        return vec![false; width * height];
    }
    // places along the middles, how far a gap reaches from there, and for each pixel which of them reaches farthest over it
    let mut places: Vec<([f64; 2], f64)> = vec![([0.0; 2], f64::NEG_INFINITY)];
    let mut nearest = vec![0u32; width * height];
    let over = |i: usize, ([x, y], reach): ([f64; 2], f64)| {
        reach - ((i % width) as f64 + 0.5 - x).hypot((i / width) as f64 + 0.5 - y)
    };
    for (gap, way) in gaps.iter().flat_map(|gap| gap.ways.iter().map(move |way| (gap, way))) {
        for [a, b] in way.windows(2).map(|part| [part[0], part[1]].map(|[x, y]| view.place(x, y))) {
            let parts = (4.0 * span([a, b])).ceil().max(1.0) as usize;
            for k in 0..=parts {
                let [x, y] = [0, 1].map(|i| a[i] + (b[i] - a[i]) * k as f64 / parts as f64);
                if (0.0..width as f64).contains(&x) && (0.0..height as f64).contains(&y) {
                    let i = y as usize * width + x as usize;
                    let place = ([x, y], gap.width / 2.0 * view.per_metre + 0.5);
                    if over(i, place) > over(i, places[nearest[i] as usize]) {
                        nearest[i] = places.len() as u32;
                        places.push(place);
                    }
                }
            }
        }
    }
    let mut pass = |i: usize, [dx, dy]: [isize; 2]| {
        let [x, y] = [(i % width).wrapping_add_signed(dx), (i / width).wrapping_add_signed(dy)];
        if x < width && y < height {
            let other = nearest[y * width + x];
            if over(i, places[other as usize]) > over(i, places[nearest[i] as usize]) {
                nearest[i] = other;
            }
        }
    };
    // from the pixels before each, row by row, and then from those behind it
    const BEFORE: [[isize; 2]; 4] = [[-1, 0], [-1, -1], [0, -1], [1, -1]];
    for i in 0..width * height {
        BEFORE.into_iter().for_each(|by| pass(i, by));
    }
    for i in (0..width * height).rev() {
        BEFORE.into_iter().for_each(|[dx, dy]| pass(i, [-dx, -dy]));
    }
    nearest.into_iter().enumerate().map(|(i, n)| over(i, places[n as usize]) >= 0.0).collect()
}

/// The pixels that some are linked to by others that were not met, and those themselves.
fn linked(view: &View, met: &mut [bool], first: impl Iterator<Item = usize>) -> Vec<usize> {
    let (width, height) = (view.width, view.height);
    let mut set = Vec::new();
    let mut next: Vec<usize> = first.collect();
    while let Some(i) = next.pop() {
        if met[i] {
            continue;
        }
        met[i] = true;
        set.push(i);
        let (x, y) = (i % width, i / width);
        let columns = x.saturating_sub(1)..=(x + 1).min(width - 1);
        let rows = y.saturating_sub(1)..=(y + 1).min(height - 1);
        next.extend(rows.flat_map(|y| columns.clone().map(move |x| y * width + x)).filter(|&j| !met[j]));
    }
    set
}

impl Spot {
    /// Of pixels row by row.
    fn of(view: &View, set: Vec<usize>) -> Self {
        let (width, count) = (view.width, set.len());
        let sum = set.iter().fold([0u64; 2], |s, i| [s[0] + (i % width) as u64, s[1] + (i / width) as u64]);
        let middle = sum.map(|s| s as f64 / count as f64);
        let off = |i: usize, [x, y]: [f64; 2]| {
            let (dx, dy) = ((i % width) as f64 - x, (i / width) as f64 - y);
            (dx * dx + dy * dy).sqrt()
        };
        let nearest = set.iter().copied().min_by(|&a, &b| off(a, middle).total_cmp(&off(b, middle))).unwrap_or(0);
        let (column, row) = (nearest % width, nearest / width);
        let reach = set.iter().map(|&i| off(i, [column as f64, row as f64])).fold(0.0, f64::max);
        Spot { at: view.middle(column, row), set, reach }
    }

    /// How far it goes from west to east and from south to north, to a pixel, metres.
    fn size(&self, view: &View) -> [f64; 2] {
        let across = |way: fn(usize, usize) -> usize| {
            let ends =
                self.set.iter().map(|i| way(*i, view.width)).fold([usize::MAX, 0], |[a, b], v| [a.min(v), b.max(v)]);
            (ends[1] - ends[0] + 1) as f64 / view.per_metre
        };
        [across(|i, wide| i % wide), across(|i, wide| i / wide)]
    }

    /// How wide and how long it is, to a pixel, metres, if it is slender and runs aslant, so that its size says little.
    fn askew(&self, view: &View) -> Option<[f64; 2]> {
        let places = || self.set.iter().map(|i| [i % view.width, i / view.width].map(|v| v as f64));
        let middle = places().fold([0.0; 2], |m, p| [0, 1].map(|i| m[i] + p[i] / self.set.len() as f64));
        let [xx, yy, xy] = places().fold([0.0; 3], |[xx, yy, xy], p| {
            let [x, y] = [0, 1].map(|i| p[i] - middle[i]);
            [xx + x * x, yy + y * y, xy + x * y]
        });
        let (sin, cos) = ((2.0 * xy).atan2(xx - yy) / 2.0).sin_cos();
        let [wide, long] = [[-sin, cos], [cos, sin]].map(|[ux, uy]| {
            let ends = places()
                .map(|[x, y]| ux * x + uy * y)
                .fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| [a.min(v), b.max(v)]);
            (ends[1] - ends[0] + 1.0) / view.per_metre
        });
        let [x, y] = self.size(view);
        (long >= SLENDER * wide && 2.0 * wide * long < x * y).then_some([wide, long])
    }
}

/// All sets of linked pixels that were not met, largest first.
pub fn spots(view: &View, met: &mut [bool]) -> Vec<Spot> {
    let mut all: Vec<Spot> = Vec::new();
    for i in 0..met.len() {
        let mut set = linked(view, met, std::iter::once(i));
        if set.is_empty() {
            continue;
        }
        set.sort_unstable();
        all.push(Spot::of(view, set));
    }
    all.sort_by_key(|h| Reverse(h.set.len()));
    all
}

/// Width of lines and the reach of what is small in a picture, pixels.
pub fn fine(view: &View) -> [f64; 2] {
    let wide = ((view.width.max(view.height) + 400) / 800).max(1) as f64;
    [wide, 6.0 * wide]
}

/// Draws edges, those of gaps and steps on top, rings about what is small, and the numbers of what is listed in words; whether there are
/// rings about gaps and holes.
fn mark(canvas: &mut Canvas, view: &View, edges: &[&Edge], holes: &[Spot], gaps: &[Gap], steps: &[Step]) -> bool {
    let [wide, small] = fine(view);
    let mut line = |plan: [[f64; 2]; 2], wide: f64, colour| {
        let [a, b] = plan.map(|[x, y]| view.place(x, y));
        canvas.line(a, b, wide as usize, colour);
    };
    edges.iter().for_each(|e| line(e.plan, wide, EDGE));
    // so wide that nothing of those shows beside them
    gaps.iter().flat_map(|gap| &gap.edges).for_each(|part| line(*part, wide + 2.0, HOLE));
    steps.iter().flat_map(|step| &step.edges).for_each(|part| line(*part, wide + 2.0, STEP));
    let plan = |at: [f64; 3]| [at[0], at[1]];
    // each with how far it reaches
    let holes: Vec<([f64; 2], f64)> = holes.iter().map(|h| (h.at, h.reach)).collect();
    let gaps: Vec<([f64; 2], f64)> = gaps.iter().map(|g| (plan(g.at), 0.0)).collect();
    let steps: Vec<([f64; 2], f64)> = steps.iter().map(|s| (plan(s.over.at), 0.0)).collect();
    let all = [(&holes, HOLE), (&gaps, HOLE), (&steps, STEP)];
    for (marks, colour) in all {
        let ringed = marks.iter().filter(|(_, reach)| *reach < small);
        ringed.for_each(|([x, y], _)| canvas.ring(view.place(*x, *y), small, 1.5 * wide, colour));
    }
    // beside it, or in the middle of a large hole
    let times = magnitude(view);
    let listed = all.into_iter().flat_map(|(marks, _)| marks.iter().take(LISTED[0]));
    for (i, ([x, y], reach)) in listed.enumerate() {
        let [x, y] = view.place(*x, *y);
        let beside = if *reach < 4.0 * small { reach.max(small) } else { 0.0 };
        canvas.label([x, y], beside, &(i + 1).to_string(), times);
    }
    holes.iter().chain(&gaps).any(|(_, reach)| *reach < small)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::walk::ALL;

    #[test]
    fn what_touches_the_border_is_no_hole() {
        let view = View { west: 0.0, north: 0.0, per_metre: 1.0, width: 8, height: 6, heights: ALL };
        // linked by corners: a bay to the border, a diagonal crack to itself
        let rows = ["########", "#.##.###", "##.##.##", "#.####.#", ".####.##", "########"];
        let all: Vec<Option<()>> = rows.concat().chars().map(|c| (c == '#').then_some(())).collect();
        let (outside, seen) = enclosed(&view, &all);
        assert!(outside);
        assert_eq!(seen, [12, 21, 30, 37]);
        let holes = |hollow: &[usize]| {
            let mut met: Vec<bool> = (0..all.len()).map(|i| !hollow.contains(&i)).collect();
            spots(&view, &mut met)
        };
        assert_eq!(holes(&seen).iter().map(|h| h.set.len()).collect::<Vec<_>>(), [4]);
        // a pixel of the hole itself, nearest to the mean of all
        assert_eq!(holes(&seen)[0].at, [5.5, -2.5]);
        let mut inside = all.clone();
        inside[32] = Some(());
        let (outside, seen) = enclosed(&view, &inside);
        assert_eq!((outside, holes(&seen).iter().map(|h| h.set.len()).collect::<Vec<_>>()), (false, vec![4, 3]));
        let whole = vec![Some(()); all.len()];
        assert!(matches!(enclosed(&view, &whole), (false, none) if none.is_empty()));
    }
}
