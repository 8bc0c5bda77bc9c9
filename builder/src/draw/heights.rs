//! Maps whose colours are numbers on a scale: height, slope, friction, stated error.

use std::collections::HashMap;

use hardpan::Terrain;
use serde_json::json;

use super::{
    colour::{WHITE, mix},
    frame::{Drawn, Key, no_ground},
    maps::{canvas, ends, nothing, of_tops},
    relief::Seen,
    scale::{Scale, decimals},
    view::View,
};
use crate::image::decode;
use crate::util::steps::Steps;
use crate::util::text::{counted, decimal, metres};

/// How strong the colours of heights are in a relief.
pub const TINT: f64 = 0.6;
/// The scales of friction and of slope, in degrees, in every picture, so that two can be compared.
const FRICTION: [f64; 2] = [0.0, 1.2];
const SLOPE: [f64; 2] = [0.0, 45.0];
/// The note under every relief.
pub const SUN: &str = "sun in the north-west; slopes drawn 1.3 times as steep";

pub fn relief(t: &Terrain, view: &View, range: Option<[f64; 2]>) -> Drawn {
    let fine = if view.width * view.height > 1 << 22 { 1 } else { 2 };
    let seen = Seen::new(t, view, fine, |_| ());
    let scale = Scale::new(range, seen.heights.unwrap_or_default());
    let tint = |z: f64| mix(WHITE, scale.colour(z), TINT);
    let ground = seen.draw(|z, ()| tint(z));
    let [low, high] = scale.ends;
    let level = level(high - low);
    let mut keys = match seen.heights {
        None => Vec::new(),
        Some(_) if low == high => vec![Key::Box(tint(low), format!("flat, at {}", level(low)))],
        Some(_) => vec![Key::Bar(scale.bar(TINT, level, decimals))],
    };
    keys.extend(seen.gaps().then(|| no_ground(view)));
    let facts = json!({ "heights": seen.heights, "range": scale.ends });
    Drawn { ground, keys, notes: vec![SUN.into()], details: Vec::new(), facts }
}

/// Heights to the centimetre, or finer if the ends of a range would look the same.
fn level(range: f64) -> impl Fn(f64) -> String {
    let decimals = if range > 0.0 { (1.0 - range.log10()).ceil().clamp(2.0, 7.0) as usize } else { 2 };
    move |z| format!("{:.decimals$} m", z + 0.0)
}

pub fn slope(t: &Terrain, view: &View, range: Option<[f64; 2]>) -> Drawn {
    let all = of_tops(t, view, |hit| {
        let [x, y] = t.slope_f64(hit);
        x.hypot(y).atan().to_degrees()
    });
    let seen = ends(all.iter().flatten().copied()).unwrap_or_default();
    let scale = Scale::new(Some(range.unwrap_or(SLOPE)), seen);
    let mut keys = vec![Key::Bar(scale.bar(1.0, degrees, decimals))];
    keys.extend(nothing(view, &all));
    let notes = vec![format!("{} to {} here", degrees(seen[0]), degrees(seen[1]))];
    let facts = json!({ "degrees": seen, "range": scale.ends });
    Drawn { ground: canvas(view, &all, |v| scale.colour(*v)), keys, notes, details: Vec::new(), facts }
}

fn degrees(v: f64) -> String {
    format!("{}\u{b0}", decimal((v * 100.0).round() / 100.0))
}

pub fn friction(t: &Terrain, view: &View, range: Option<[f64; 2]>) -> Drawn {
    let all = of_tops(t, view, |hit| t.material(hit).mu);
    let mut values: Vec<f64> = all.iter().flatten().copied().collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let seen = [values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0)];
    let scale = Scale::new(Some(range.unwrap_or(FRICTION)), seen);
    let mut keys = vec![Key::Bar(scale.bar(1.0, |v| format!("mu {}", decimal(v)), decimals))];
    if values.len() <= 10 {
        keys.extend(values.iter().map(|&v| Key::Box(scale.colour(v), decimal(v))));
    }
    keys.extend(nothing(view, &all));
    let notes = vec![format!("{} of mu seen here", counted(values.len() as u64, "value"))];
    let facts = json!({ "mu": seen, "values": values.len(), "range": scale.ends });
    Drawn { ground: canvas(view, &all, |v| scale.colour(*v)), keys, notes, details: Vec::new(), facts }
}

pub fn error(t: &Terrain, view: &View, range: Option<[f64; 2]>) -> Drawn {
    let h = t.header();
    let stated: HashMap<[i64; 2], [f64; 2]> =
        decode::tiles(t).map(|tile| ([tile.head.x.into(), tile.head.y.into()], tile.head.error)).collect();
    let step = Steps::of(h).plan;
    let all: Vec<Option<[f64; 2]>> = view.rows(None, |row, out| {
        let tops = view.tops(t, row);
        for ((column, to), _) in out.iter_mut().enumerate().zip(&tops).filter(|(_, a)| a.found()) {
            let at = view.middle(column, row);
            let tile = [0, 1].map(|i| ((at[i] / step).floor() as i64 - h.origin[i]) >> h.tile_log2);
            *to = stated.get(&tile).copied();
        }
    });
    let [height, plan] = [1, 0].map(|i| ends(all.iter().flatten().map(|e| e[i])).unwrap_or_default());
    let scale = Scale::new(range, height);
    let mut keys = match scale.ends {
        [low, high] if low == high => vec![Key::Box(scale.colour(low), format!("{} everywhere", metres(low)))],
        _ => vec![Key::Bar(scale.bar(1.0, metres, |v, _| metres(v)))],
    };
    keys.extend(nothing(view, &all));
    let notes = vec![format!(
        "of each tile against its source: here up to {} in height and {} in plan",
        metres(height[1]),
        metres(plan[1])
    )];
    let facts =
        json!({ "height": height, "plan": plan, "stated": [h.error_plan, h.error_height], "range": scale.ends });
    let ground = canvas(view, &all, |e| scale.colour(e[1]));
    Drawn { ground, keys, notes, details: Vec::new(), facts }
}
