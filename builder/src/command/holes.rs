//! The map of holes: places without ground that ground surrounds, open edges, and gaps along them too narrow for a pixel.

use std::{cmp::Reverse, collections::HashMap};

use hardpan::Terrain;
use hardpan_builder::read;
use rayon::prelude::*;
use serde_json::json;

use super::{
    canvas::{Canvas, Colour, NOTHING, within},
    counted, grouped,
    maps::{Drawn, Key, canvas, metres, number, of_tops, slight},
    relief::{View, light, lit},
};

/// A place without ground that ground surrounds.
const HOLE: Colour = [0, 114, 178];
/// An open edge.
const EDGE: Colour = [213, 94, 0];
/// Holes and gaps of each kind that are listed, in words and for programs.
const LISTED: [usize; 2] = [8, 1000];

/// Pixels without ground that are linked, side by side, and not to the picture's border.
struct Hole {
    /// The middle of that pixel of it which is nearest to its own middle, metres.
    at: [f64; 2],
    pixels: u64,
    /// How far it reaches from there, pixels.
    reach: f64,
}

/// No ground beside open edges, and ground again so soon that pixels may not show it.
struct Gap {
    /// Where it is widest, in its middle, metres.
    at: [f64; 2],
    /// Metres there, across the edge.
    width: f64,
    /// From the west, south, east and north of the places that were met, metres.
    span: [f64; 4],
}

/// An edge that one triangle alone uses, as far as the picture shows it.
struct Edge {
    /// Lattice steps from the origin.
    ends: [[i32; 3]; 2],
    /// Metres, in plan.
    plan: [[f64; 2]; 2],
    /// To its right or left, away from its triangle, of length 1.
    away: [f64; 2],
    /// Parts of it, from 0 to 1, that are in the picture.
    seen: [f64; 2],
}

pub fn holes(t: &Terrain, view: &View) -> Drawn {
    let all = of_tops(t, view, |hit| light(t.slope_f64(hit)));
    let mut ground = canvas(view, &all, |light| lit([200; 3], slight(*light)));
    let (outside, holes) = enclosed(view, &all, |i| ground.pixels[i] = HOLE);
    let edges = open_edges(t, view);
    let length = edges.iter().fold(0.0, |sum, e| sum + span(e.plan) * (e.seen[1] - e.seen[0]));
    let length = (length * 1e6).round() / 1e6; // less than what the border's rounding adds
    let gaps = gaps(t, view, &ground, &edges);
    mark(&mut ground, view, &edges, &holes, &gaps);

    let mut keys = vec![Key::Box(HOLE, "no ground, with ground all around; ringed where small".into())];
    if outside {
        keys.push(Key::Box(NOTHING, "no ground".into()));
    }
    keys.push(Key::Line(EDGE, "edges of one triangle alone".into()));
    let square = |pixels: u64| pixels as f64 / (view.per_metre * view.per_metre);
    let area = square(holes.iter().map(|h| h.pixels).sum());
    let pixel = metres(1.0 / view.per_metre);
    let seen = match holes.len() as u64 {
        0 => format!("no enclosed hole seen at {pixel} a pixel"),
        n => format!("{} seen at {pixel} a pixel, {} m2", counted(n, "enclosed hole"), number(area)),
    };
    let narrow = match gaps.len() as u64 {
        0 => "no narrower gap met along the open edges".into(),
        n => format!("{} met along the open edges", counted(n, "narrower gap")),
    };
    let mut notes = vec![
        format!("{seen}; {narrow}"),
        format!("{} here, {} long", counted(edges.len() as u64, "open edge"), metres(length)),
    ];
    if t.header().patch_blocks > 0 {
        notes.push("an edge beside a field of heights is open too, for its neighbour is no triangle".into());
    }
    // so many digits that the place is in what it is of
    let at = |[x, y]: [f64; 2], size: f64| {
        let decimals = (2.0 - size.log10()).ceil().clamp(0.0, 9.0) as usize;
        format!("{:.decimals$},{:.decimals$}", x + 0.0, y + 0.0)
    };
    let holes_told =
        holes.iter().map(|h| format!("hole of {} m2 at {}", number(square(h.pixels)), at(h.at, 1.0 / view.per_metre)));
    let gaps_told = gaps
        .iter()
        .map(|g| format!("gap {} wide, {} long at {}", metres(g.width), metres(g.length()), at(g.at, g.width)));
    let details = listed(holes_told).chain(listed(gaps_told)).collect();
    let facts = json!({
        "enclosed_holes": holes.len(), "enclosed_area": area,
        "holes": holes.iter().take(LISTED[1]).map(|h| json!({ "at": h.at, "area": square(h.pixels) })).collect::<Vec<_>>(),
        "narrow_gaps": gaps.len(),
        "gaps": gaps.iter().take(LISTED[1])
            .map(|g| json!({ "at": g.at, "width": g.width, "length": g.length() })).collect::<Vec<_>>(),
        "open_edges": edges.len(), "open_length": length,
    });
    Drawn { ground, keys, notes, details, facts }
}

/// The first of them, and how many follow.
fn listed(lines: impl ExactSizeIterator<Item = String>) -> impl Iterator<Item = String> {
    let rest = lines.len().saturating_sub(LISTED[0]) as u64;
    let rest = (rest > 0).then(|| format!("and {} smaller", grouped(rest)));
    lines.take(LISTED[0]).chain(rest)
}

/// Whether pixels without ground are linked to the picture's border, and all other sets of them, largest first; `see` gets
/// every pixel of those.
fn enclosed<T>(view: &View, all: &[Option<T>], mut see: impl FnMut(usize)) -> (bool, Vec<Hole>) {
    let (width, height) = (view.width, view.height);
    let mut met = vec![false; all.len()];
    let mut linked = |first: &mut dyn Iterator<Item = usize>| {
        let mut set = Vec::new();
        let mut next: Vec<usize> = first.collect();
        while let Some(i) = next.pop() {
            if met[i] || all[i].is_some() {
                continue;
            }
            met[i] = true;
            set.push(i);
            let x = i % width;
            next.extend((x > 0).then(|| i - 1));
            next.extend((x + 1 < width).then_some(i + 1));
            next.extend(i.checked_sub(width));
            next.extend(Some(i + width).filter(|&below| below < all.len()));
        }
        set
    };
    let border = (0..width).flat_map(|x| [x, (height - 1) * width + x]);
    let outside = !linked(&mut border.chain((0..height).flat_map(|y| [y * width, y * width + width - 1]))).is_empty();
    let mut holes: Vec<Hole> = Vec::new();
    for i in (0..all.len()).filter(|&i| all[i].is_none()) {
        let mut set = linked(&mut std::iter::once(i));
        if set.is_empty() {
            continue;
        }
        set.sort_unstable();
        set.iter().copied().for_each(&mut see);
        let count = set.len();
        let sum = set.iter().fold([0u64; 2], |s, i| [s[0] + (i % width) as u64, s[1] + (i / width) as u64]);
        let middle = sum.map(|s| s as f64 / count as f64);
        let off = |i: usize, [x, y]: [f64; 2]| {
            let (dx, dy) = ((i % width) as f64 - x, (i / width) as f64 - y);
            (dx * dx + dy * dy).sqrt()
        };
        let nearest = set.iter().copied().min_by(|&a, &b| off(a, middle).total_cmp(&off(b, middle))).unwrap_or(i);
        let (column, row) = (nearest % width, nearest / width);
        let from = [column as f64, row as f64];
        let reach = set.iter().map(|&i| off(i, from)).fold(0.0, f64::max);
        holes.push(Hole { at: view.middle(column, row), pixels: count as u64, reach });
    }
    holes.sort_by_key(|h| Reverse(h.pixels));
    (outside, holes)
}

fn span([a, b]: [[f64; 2]; 2]) -> f64 {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    (dx * dx + dy * dy).sqrt()
}

/// The edges that one triangle alone uses, of those that the picture shows a part of.
fn open_edges(t: &Terrain, view: &View) -> Vec<Edge> {
    let h = t.header();
    let [step, rise] = [h.xy_log2, h.z_log2].map(|log2| f64::exp2(f64::from(log2)));
    let mut edges: Vec<([[i32; 3]; 2], [i32; 3])> = Vec::new();
    for s in read::triangles(t) {
        let [a, b, c] = s.corners;
        edges.extend([[a, b, c], [b, c, a], [c, a, b]].map(|[p, q, r]| ([p.min(q), p.max(q)], r)));
    }
    edges.par_sort_unstable();
    let open = edges.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() == 1).map(|run| run[0]);
    open.filter_map(|(ends, third)| {
        let z = ends.map(|p| (h.origin[2] + i64::from(p[2])) as f64 * rise);
        if z[0].max(z[1]) < view.heights[0] || z[0].min(z[1]) > view.heights[1] {
            return None;
        }
        let metres = |p: [i32; 3]| [0, 1].map(|i| (h.origin[i] + i64::from(p[i])) as f64 * step);
        let plan = ends.map(metres);
        // what lies on the picture's border is in it, however its place is rounded
        let seen = within(
            plan.map(|[x, y]| view.place(x, y).map(|v| v + 1e-6)),
            [view.width, view.height].map(|n| n as f64 + 2e-6),
        )?;
        let ([a, b], c) = (plan, metres(third));
        let (dx, dy, length) = (b[0] - a[0], b[1] - a[1], span(plan));
        let left = dx * (c[1] - a[1]) - dy * (c[0] - a[0]) > 0.0;
        let away = if left { [dy, -dx] } else { [-dy, dx] }.map(|v| if length > 0.0 { v / length } else { 0.0 });
        Some(Edge { ends, plan, away, seen })
    })
    .collect()
}

/// Places of an edge beside which ground is asked for.
const PLACES: usize = 8;
/// Halvings by which a width is found.
const HALVINGS: usize = 8;

/// Gaps that no pixel shows, longest first; those whose edges share a corner are one.
fn gaps(t: &Terrain, view: &View, drawn: &Canvas, edges: &[Edge]) -> Vec<Gap> {
    let hair = f64::exp2(f64::from(t.header().xy_log2));
    // how wide a gap may be that no pixel shows, if there is room for one: none where a hole is seen, and half a pixel where ground ends
    let most = |p: [f64; 2]| {
        let [x, y] = view.place(p[0], p[1]).map(|v| v.floor() as i64);
        let at = |x: i64, y: i64| {
            let inside = (0..view.width as i64).contains(&x) && (0..view.height as i64).contains(&y);
            inside.then(|| drawn.pixels[y as usize * view.width + x as usize])
        };
        let hole = |(i, j): (i64, i64)| at(x + i, y + j) == Some(HOLE);
        let pixels = if at(x, y)? == NOTHING { 0.5 } else { 1.5 };
        let seen = (-1..=1).flat_map(|j| (-1..=1).map(move |i| (i, j))).any(hole);
        (!seen).then_some(pixels / view.per_metre)
    };
    // of an edge: how wide the gap beside it is at some places
    let beside = |e: &Edge| -> Vec<([f64; 2], f64)> {
        let [a, b] = e.plan;
        let on = |k: usize| [0, 1].map(|i| a[i] + (b[i] - a[i]) * (k as f64 + 0.5) / PLACES as f64);
        let off = |p: [f64; 2], by: f64| [0, 1].map(|i| p[i] + e.away[i] * by);
        let places: Vec<[f64; 2]> = (0..PLACES).map(on).filter(|p| most(off(*p, hair)).is_some()).collect();
        let asked: Vec<[f64; 2]> = places.iter().map(|p| off(*p, hair)).collect();
        let bare = view.highest(t, &asked).into_iter().map(|answer| !answer.found());
        let wide = |p: [f64; 2]| {
            let ground = |by: f64| view.highest(t, &[off(p, by)])[0].found();
            let most = most(off(p, hair))?;
            let (mut bare, mut met) = (hair, 2.0 * hair);
            while met < most && !ground(met) {
                (bare, met) = (met, 2.0 * met);
            }
            if met >= most {
                return None;
            }
            for _ in 0..HALVINGS {
                let half = (bare + met) / 2.0;
                if ground(half) { met = half } else { bare = half }
            }
            Some((off(p, bare / 2.0), bare))
        };
        places.into_iter().zip(bare).filter(|(_, bare)| *bare).filter_map(|(p, _)| wide(p)).collect()
    };
    let found: Vec<_> = edges.par_iter().map(|e| (e.ends, beside(e))).filter(|(_, met)| !met.is_empty()).collect();

    // one set for all edges that are linked by corners
    let mut numbers: HashMap<[i32; 3], usize> = HashMap::new();
    let mut heads: Vec<usize> = Vec::new();
    fn head(heads: &mut [usize], mut i: usize) -> usize {
        while heads[i] != i {
            heads[i] = heads[heads[i]];
            i = heads[i];
        }
        i
    }
    for (ends, _) in &found {
        let [a, b] = ends.map(|p| {
            *numbers.entry(p).or_insert_with(|| {
                heads.push(heads.len());
                heads.len() - 1
            })
        });
        let (a, b) = (head(&mut heads, a), head(&mut heads, b));
        heads[a.max(b)] = a.min(b);
    }
    let mut gaps: HashMap<usize, Gap> = HashMap::new();
    for (ends, met) in &found {
        let of = head(&mut heads, numbers[&ends[0]]);
        for &(at, width) in met {
            let gap = gaps.entry(of).or_insert(Gap { at, width, span: [at[0], at[1], at[0], at[1]] });
            if width > gap.width {
                (gap.at, gap.width) = (at, width);
            }
            let [w, s, e, n] = gap.span;
            gap.span = [w.min(at[0]), s.min(at[1]), e.max(at[0]), n.max(at[1])];
        }
    }
    let mut gaps: Vec<Gap> = gaps.into_values().collect();
    gaps.sort_by(|a, b| b.length().total_cmp(&a.length()).then(a.at.map(f64::to_bits).cmp(&b.at.map(f64::to_bits))));
    gaps
}

impl Gap {
    /// Metres between its ends, about.
    fn length(&self) -> f64 {
        let [w, s, e, n] = self.span;
        span([[w, s], [e, n]])
    }
}

/// Draws edges, and rings about what is small and listed.
fn mark(canvas: &mut Canvas, view: &View, edges: &[Edge], holes: &[Hole], gaps: &[Gap]) {
    let large = view.width.max(view.height);
    let wide = ((large + 400) / 800).max(1);
    for e in edges {
        let [a, b] = e.plan.map(|[x, y]| view.place(x, y));
        canvas.line(a, b, wide, EDGE);
    }
    let small = 6.0 * wide as f64;
    let holes = holes.iter().take(LISTED[0]).filter(|h| h.reach < small).map(|h| h.at);
    for [x, y] in holes.chain(gaps.iter().take(LISTED[0]).map(|g| g.at)) {
        canvas.ring(view.place(x, y), small + 4.0 * wide as f64, 1.5 * wide as f64, HOLE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::relief::ALL;

    #[test]
    fn what_touches_the_border_is_no_hole() {
        let view = View { west: 0.0, north: 0.0, per_metre: 1.0, width: 7, height: 5, heights: ALL };
        let rows = ["#######", "#..##.#", "##.#..#", "#.##.##", "#.#####"];
        let all: Vec<Option<()>> = rows.concat().chars().map(|c| (c == '#').then_some(())).collect();
        let mut seen = Vec::new();
        let (outside, holes) = enclosed(&view, &all, |i| seen.push(i));
        assert!(outside);
        assert_eq!(holes.iter().map(|h| h.pixels).collect::<Vec<_>>(), [4, 3]);
        // a pixel of the hole itself, nearest to the mean of all, and of two the first
        assert_eq!(holes.iter().map(|h| h.at).collect::<Vec<_>>(), [[4.5, -2.5], [2.5, -1.5]]);
        assert_eq!(seen, [8, 9, 16, 12, 18, 19, 25]);
        let whole = vec![Some(()); all.len()];
        assert!(matches!(enclosed(&view, &whole, |_| ()), (false, none) if none.is_empty()));
    }
}
