//! The map of materials, and the colour of each.

use std::collections::BTreeMap;

use hardpan::Terrain;
use serde_json::json;

use super::{
    colour::{Colour, INK, OTHERS, WHITE, mix},
    frame::{Drawn, Key},
    letters::drawn,
    maps::{canvas, nothing, of_tops},
    relief::{light, lit, slight},
    view::View,
};
use crate::util::text::{counted, cut, shown};

/// Colours that people expect, by how a word of the name begins. The first that fits counts.
const EXPECTED: [(&[&str], Colour); 14] = [
    (&["snow"], [248, 250, 255]),
    (&["ice"], [205, 228, 240]),
    (&["water", "lake", "river", "pond"], [104, 160, 208]),
    (&["paint", "marking", "stripe"], [238, 234, 216]),
    (&["grass", "lawn", "meadow", "turf"], [132, 170, 92]),
    (&["tree", "forest", "bush", "hedge"], [84, 128, 80]),
    (&["sand"], [222, 204, 154]),
    (&["gravel", "grit"], [180, 166, 140]),
    (&["earth", "soil", "dirt", "mud", "clay"], [152, 118, 86]),
    (&["brick", "setts", "cobble", "paving"], [176, 120, 92]),
    (&["tile"], [142, 176, 188]),
    (&["metal", "steel", "iron", "rail"], [124, 138, 158]),
    (&["concrete", "cement", "kerb", "curb", "sidewalk"], [192, 190, 184]),
    (&["asphalt", "tarmac", "bitumen", "road", "pavement"], [106, 108, 112]),
];
/// Calm colours for all other names.
const CALM: [Colour; 8] = [
    [146, 162, 204],
    [210, 160, 190],
    [224, 164, 132],
    [128, 184, 172],
    [186, 180, 216],
    [204, 190, 120],
    [166, 186, 142],
    [200, 148, 148],
];
/// How much lighter, or with a sign darker, each next material is whose name has the same colour.
const TONES: [f64; 7] = [0.0, 0.35, -0.25, 0.55, -0.4, 0.7, -0.52];
/// Most materials of a legend: the others of a picture have one colour together.
const MAX_LEGEND: usize = 14;

/// A colour for each material of an image, by its name: those that people expect, or calm ones.
pub fn colours(t: &Terrain) -> Vec<Colour> {
    let mut before: BTreeMap<Colour, usize> = BTreeMap::new();
    let tone = |m: usize| {
        let colour = named(t.material_name(m as u16));
        let count = before.entry(colour).or_default();
        let tone = TONES[*count % TONES.len()];
        *count += 1;
        mix(colour, if tone < 0.0 { INK } else { WHITE }, tone.abs())
    };
    (0..t.materials().len()).map(tone).collect()
}

/// The colour of a name.
fn named(name: &str) -> Colour {
    // words end where letters do, and before capitals
    let mut words = String::new();
    let mut low = false;
    for c in name.chars() {
        words.extend((low && c.is_uppercase()).then_some(' '));
        low = c.is_lowercase();
        words.extend(c.to_lowercase().map(|c| if c.is_alphabetic() { c } else { ' ' }));
    }
    let begins = |with: &&str| words.split(' ').any(|word| word.starts_with(with));
    match EXPECTED.iter().find(|(with, _)| with.iter().any(begins)) {
        Some((_, colour)) => *colour,
        // FNV-1a, without the bits that it mixes least
        None => {
            let hash = name.bytes().fold(0x811C_9DC5, |h: u32, byte| (h ^ u32::from(byte)).wrapping_mul(0x0100_0193));
            CALM[(hash >> 10) as usize % CALM.len()]
        }
    }
}

/// Names of materials as a legend has them: in letters that can be drawn, and short; those that would read the same
/// with their number, from 1.
fn names(t: &Terrain) -> Vec<String> {
    let each = (0..t.materials().len()).map(|m| drawn(&shown(t.material_name(m as u16))).into_owned());
    cut(&each.collect::<Vec<_>>(), NAME_MOST)
}

/// The names that are drawn in other letters, as they are drawn and as they are.
pub fn respelt(t: &Terrain) -> Vec<[String; 2]> {
    let each = names(t).into_iter().enumerate().map(|(m, legend)| [legend, shown(t.material_name(m as u16))]);
    each.filter(|[_, name]| drawn(name) != *name).collect()
}

pub fn materials(t: &Terrain, view: &View) -> Drawn {
    let all = of_tops(t, view, |hit| (hit.material, light(t.slope_f64(hit)) as f32));
    let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
    all.iter().flatten().for_each(|m| *counts.entry(m.0).or_default() += 1);
    let found: usize = counts.values().sum();
    let mut ranked: Vec<(u16, usize)> = counts.into_iter().collect();
    ranked.sort_by_key(|(m, n)| (std::cmp::Reverse(*n), *m));
    let (most, rest) = ranked.split_at(ranked.len().min(MAX_LEGEND));
    let (mut colours, names) = (colours(t), names(t));
    rest.iter().for_each(|(m, _)| colours[usize::from(*m)] = OTHERS);
    let share = |n: usize| match n as f64 * 100.0 / found as f64 {
        share if share < 0.05 => "< 0.1 %".into(),
        share => format!("{share:.1} %"),
    };
    let key =
        |(m, n): &(u16, usize)| Key::Box(colours[usize::from(*m)], format!("{} {}", names[usize::from(*m)], share(*n)));
    let mut keys: Vec<Key> = most.iter().map(key).collect();
    if !rest.is_empty() {
        let n = rest.iter().map(|r| r.1).sum();
        keys.push(Key::Box(OTHERS, format!("{} {}", counted(rest.len() as u64, "other"), share(n))));
    }
    keys.extend(nothing(view, &all));
    let facts: Vec<_> = ranked.iter().map(|(m, n)| json!({ "material": t.material_name(*m), "pixels": n })).collect();
    // a hint of the relief, so slight that the colours stay those of the legend
    let ground = canvas(view, &all, |(m, light)| lit(colours[usize::from(*m)], slight(f64::from(*light))));
    let notes = vec![format!("{} of {} seen here", ranked.len(), counted(t.materials().len() as u64, "material"))];
    Drawn { ground, keys, notes, details: Vec::new(), facts: json!({ "materials": facts }) }
}

/// Letters of a name in a legend.
const NAME_MOST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::colour::NOTHING;

    #[test]
    fn names_have_the_colours_that_people_expect() {
        let same = [
            ["Asphalt", "road_01"],
            ["wet asphalt", "ASPHALT"],
            ["matGrass", "long-grass 2"],
            ["RoadMarking", "white paint"],
            ["river", "Water"],
            ["Dirt", "soil"],
        ];
        same.iter().for_each(|[a, b]| assert_eq!(named(a), named(b), "{a} {b}"));
        let [r, g, b] = named("Grass");
        assert!(g > r && g > b);
        let [r, g, b] = named("Water");
        assert!(b > g && g > r);
        let grey = |name| named(name).into_iter().max().unwrap() - named(name).into_iter().min().unwrap() < 12;
        assert!(grey("Asphalt") && grey("Concrete") && named("Asphalt")[0] < named("Concrete")[0]);
        assert!(named("Snow").iter().all(|c| *c > 240));
        // a word within a word says nothing
        assert!(CALM.contains(&named("Office")) && CALM.contains(&named("thousand")));
        assert!(!EXPECTED.iter().map(|e| e.1).chain(CALM).any(|c| c == NOTHING));
    }
}
