//! Maps of what answers and what it costs: layers, leaves, tests.

use std::collections::{BTreeMap, HashSet};

use hardpan::{Hit, LeafKind, Terrain};
use serde_json::json;

use super::{
    colour::{CATEGORIES, NOTHING, WHITE, mix, scale},
    frame::{Drawn, Key},
    maps::{canvas, ends, nothing, of_tops},
    relief::{light, lit, slight},
    scale::Classes,
    view::View,
};
use crate::util::text::counted;

pub fn layers(t: &Terrain, view: &View, range: Option<[f64; 2]>) -> Drawn {
    let room = t.max_layers().clamp(1, 4096) as usize;
    let all: Vec<Option<(u32, f32)>> = view.rows(None, |row, out| {
        let mut hits = vec![Hit::NONE; room];
        for (column, to) in out.iter_mut().enumerate() {
            let [x, y] = view.middle(column, row);
            let layers = t.layers([x, y, 0.0], &mut hits);
            let counts = |hit: &&Hit| (view.heights[0]..=view.heights[1]).contains(&t.z_f64(hit));
            let mut counted = hits[..layers.written].iter().filter(counts);
            let first = counted.next();
            let hidden = layers.total - layers.written; // none, but of more than there is room for
            *to = first.map(|hit| ((1 + counted.count() + hidden) as u32, light(t.slope_f64(hit)) as f32));
        }
    });
    let numbers = || all.iter().flatten().map(|(n, _)| *n);
    let [least, most] = ends(numbers()).unwrap_or([1, 1]);
    let classes = Classes::new(range, 1, [least, most]);
    // one height is grey, unless it shares a class
    let alone = range.is_none() || classes.of(1) != classes.of(2);
    let colour = |n: u32| match classes.of(n) {
        _ if n == 1 && alone => [206; 3],
        (class, count) => scale(1.0 - class as f64 / (count.max(2) - 1) as f64),
    };
    let mut keys: Vec<Key> =
        classes.labels(["height", "heights"]).into_iter().map(|(n, text)| Key::Box(colour(n), text)).collect();
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    numbers().for_each(|n| *counts.entry(n).or_default() += 1);
    let counts: Vec<_> = counts.iter().map(|(n, pixels)| json!({ "layers": n, "pixels": pixels })).collect();
    keys.extend(nothing(view, &all));
    let notes = vec![format!("at most {most} here; the image's upper bound is {}", t.max_layers())];
    let facts = json!({ "counts": counts, "most": most, "stated": t.max_layers() });
    let ground = canvas(view, &all, |(n, light)| lit(colour(*n), slight(f64::from(*light))));
    Drawn { ground, keys, notes, details: Vec::new(), facts }
}

pub fn leaves(t: &Terrain, view: &View) -> Drawn {
    let all = of_tops(t, view, |hit| match hit.leaf {
        LeafKind::Patch => (true, [hit.place[0], hit.place[1], hit.place[2]]),
        _ => (false, [hit.place[0], hit.place[1], 0]),
    });
    let colour = |&(patch, place): &(bool, [u32; 3])| {
        let mixed =
            place.iter().fold(0u64, |h, v| (h ^ u64::from(*v)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29));
        let (hue, tone) = (CATEGORIES[(mixed >> 8) as usize % CATEGORIES.len()], (mixed >> 32) % 4);
        match patch {
            true => [90 + 40 * tone as u8; 3],
            false => mix(hue, WHITE, 0.18 * tone as f64),
        }
    };
    let mut seen: [HashSet<[u32; 3]>; 2] = Default::default();
    for (patch, place) in all.iter().flatten() {
        seen[usize::from(*patch)].insert(*place);
    }
    let [bundles, blocks] = seen.map(|s| s.len() as u64);
    let mut keys = Vec::new();
    if bundles > 0 {
        keys.push(Key::Box(CATEGORIES[1], "bundles of up to 16 triangles, each in one colour".into()));
    }
    if blocks > 0 {
        keys.push(Key::Box([130; 3], "blocks of heights, each in one grey".into()));
    }
    keys.extend(nothing(view, &all));
    let [bundles_text, blocks_text] = [counted(bundles, "bundle"), counted(blocks, "block")];
    let notes = vec![format!("{bundles_text} and {blocks_text} of heights answer here")];
    Drawn {
        ground: canvas(view, &all, colour),
        keys,
        notes,
        details: Vec::new(),
        facts: json!({ "bundles": bundles, "patch_blocks": blocks }),
    }
}

pub fn cost(t: &Terrain, view: &View, range: Option<[f64; 2]>) -> Drawn {
    let above = t.bounds()[1][2] + 1.0;
    let all: Vec<Option<[u32; 2]>> = view.rows(None, |row, out| {
        for (column, to) in out.iter_mut().enumerate() {
            let [x, y] = view.middle(column, row);
            let (_, cost) = t.closest_costed([x, y, above]);
            *to = (cost.leaves > 0).then_some([cost.tests, cost.lines]);
        }
    });
    let bound = t.bound();
    let [tests, lines] = [0, 1].map(|i| ends(all.iter().flatten().map(|c| c[i])).unwrap_or_default());
    let count = all.iter().flatten().count().max(1) as f64;
    let mean = all.iter().flatten().map(|c| f64::from(c[0])).sum::<f64>() / count;
    let classes = Classes::new(range, 0, tests);
    let colour = |tests: u32| {
        let (class, count) = classes.of(tests);
        scale(class as f64 / (count.max(2) - 1) as f64)
    };
    let mut keys: Vec<Key> =
        classes.labels(["test", "tests"]).into_iter().map(|(n, text)| Key::Box(colour(n), text)).collect();
    if all.iter().any(Option::is_none) {
        keys.push(Key::Box(NOTHING, "no leaf to read".into()));
    }
    let notes = vec![
        format!("at most {} tests here, {mean:.1} in the mean; stated for the whole image: {}", tests[1], bound.tests),
        format!("at most {} lines of 64 bytes here; stated: {}", lines[1], bound.lines),
    ];
    let facts = json!({
        "tests": tests[1], "lines": lines[1], "mean_tests": mean, "stated_tests": bound.tests, "stated_lines": bound.lines,
    });
    let ground = canvas(view, &all, |c| colour(c[0]));
    Drawn { ground, keys, notes, details: Vec::new(), facts }
}
