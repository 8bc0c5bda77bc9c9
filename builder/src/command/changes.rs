//! The map of what differs between two images.

use hardpan::Terrain;
use serde_json::Value;

use super::{
    canvas::{Canvas, Colour, NOTHING, Paint, mix},
    diff::{Over, over},
    maps::{self, Drawn, Key, Window, frame, metres},
    query::room,
};

/// From lower over unchanged to higher: as light on either side, and told apart by the colour-blind.
const LOWER: Colour = [5, 72, 150];
const SAME: Colour = [242, 242, 242];
const HIGHER: Colour = [168, 72, 0];
const LOST: Colour = [44, 40, 48];
const GAINED: Colour = [240, 228, 66];
/// How strong the least change is drawn.
const LEAST: f64 = 0.2;

/// What a pixel shows: the largest change of height over it, and what else there is.
#[derive(Clone, Copy, Default)]
struct Seen {
    ground: bool,
    change: f64,
    lost: bool,
    gained: bool,
    /// Another material, or other friction.
    other: bool,
}

/// Draws what differs, seen from above, over all layers; heights that differ by no more than `tolerance` metres are the same.
pub fn draw(a: &Terrain, b: &Terrain, tolerance: f64, title: &str) -> Result<Canvas, String> {
    let ([low, high], [l, h]) = (a.bounds(), b.bounds());
    let window = [low[0].min(l[0]), low[1].min(l[1]), high[0].max(h[0]), high[1].max(h[1])];
    let view = maps::view(a, Some(Window(window)), None, None)?;
    let factors = |t: &Terrain, m: u16| t.materials().get(usize::from(m)).map(|m| [m.mu, m.rolling, m.gain]);
    let all: Vec<Seen> = view.rows(Seen::default(), |row, out| {
        let mut space = [room(a), room(b)];
        for (column, seen) in out.iter_mut().enumerate() {
            over([a, b], view.middle(column, row), &mut space, |over| {
                seen.ground = true;
                match over {
                    Over::Lost(_) => seen.lost = true,
                    Over::Gained(_) => seen.gained = true,
                    Over::Both { from, to, hits: [p, q] } => {
                        let change = to - from;
                        if change.abs() > tolerance.max(seen.change.abs()) {
                            seen.change = change;
                        }
                        let [p, q] = [p.material, q.material];
                        seen.other |= a.material_name(p) != b.material_name(q) || factors(a, p) != factors(b, q);
                    }
                }
            });
        }
    });
    let ends = all.iter().fold([0.0; 2], |[low, high]: [f64; 2], s| [low.min(s.change), high.max(s.change)]);
    let most = ends[1].max(-ends[0]);
    let of_change = |change: f64| match change {
        0.0 => SAME,
        // few places change much: the square root leaves more of the scale to the others
        c => mix(SAME, if c > 0.0 { HIGHER } else { LOWER }, LEAST + (1.0 - LEAST) * (c.abs() / most).sqrt()),
    };
    let times = maps::magnitude(&view);
    let paint = |i: usize, seen: &Seen| {
        let colour = match seen {
            Seen { ground: false, .. } => return NOTHING,
            Seen { lost: true, .. } => LOST,
            Seen { gained: true, .. } => GAINED,
            Seen { change, .. } => of_change(*change),
        };
        Paint { colour, striped: seen.other }.at(i % view.width, i / view.width, times)
    };
    let pixels = all.iter().enumerate().map(|(i, seen)| paint(i, seen)).collect();
    let any = |what: fn(&Seen) -> bool| all.iter().any(what);
    let mut keys = Vec::new();
    for share in [-1.0, -0.25, 0.0, 0.25, 1.0] {
        let change = share * most;
        match change {
            0.0 if share != 0.0 => {}
            0.0 => keys.push(Key::Box(SAME, "unchanged".into())),
            c if ends[0] < 0.0 && c < 0.0 || ends[1] > 0.0 && c > 0.0 => {
                keys.push(Key::Box(of_change(c), signed(c)));
            }
            _ => {}
        }
    }
    for (there, key) in [
        (any(|s| s.lost), Key::Box(LOST, "ground lost".into())),
        (any(|s| s.gained), Key::Box(GAINED, "ground gained".into())),
        (any(|s| s.other), Key::Paint(Paint { colour: SAME, striped: true }, "other material or friction".into())),
        (any(|s| !s.ground), Key::Box(NOTHING, "no ground in either".into())),
    ] {
        keys.extend(there.then_some(key));
    }
    let mut notes = vec!["the largest change over each pixel, whichever layer has it".into()];
    if most > 0.0 {
        let [low, high] = ends.map(signed);
        notes.push(format!("heights change by {low} to {high} here"));
    }
    if tolerance > 0.0 {
        notes.push(format!("heights that differ by no more than {} count as unchanged", metres(tolerance)));
    }
    let ground = Canvas { width: view.width, height: view.height, pixels };
    let drawn = Drawn { ground, keys, notes, details: Vec::new(), facts: Value::Null };
    Ok(frame(drawn, &format!("Changes: {title}"), &view).canvas)
}

fn signed(change: f64) -> String {
    format!("{}{}", if change > 0.0 { "+" } else { "" }, metres(change))
}
