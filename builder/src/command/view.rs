//! Maps, windows, sizes and scales of pictures as they are typed.

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::length::metres;
use crate::draw::{
    maps::{Map, Numbers},
    view::{MAX_PIXELS, MIN_SIDE, View, Window, extent},
};

/// The ends of a map's scale, as they are typed; without a map, of the only one that has a scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    map: Option<Map>,
    ends: [f64; 2],
}

/// Names of maps as they are typed, each one map or all.
pub fn maps() -> impl TypedValueParser<Value = Vec<Map>> {
    let each = Map::ALL.map(|map| PossibleValue::new(map.name()).help(map.entry().shows)).into_iter();
    let all = PossibleValue::new("all").help("Every one of these");
    PossibleValuesParser::new(each.chain([all])).map(|name| match named(&name) {
        Some(map) => vec![map],
        None => Map::ALL.to_vec(),
    })
}

fn named(name: &str) -> Option<Map> {
    Map::ALL.into_iter().find(|map| map.name() == name)
}

/// Beyond every image, and so near that widths of windows are numbers.
const FARTHEST: f64 = 1e15;
/// How far the ends of a scale that is typed are apart at least: legends show that much of a millimetre.
pub const FINEST: f64 = 1e-5;
/// The view of a picture of ground within these bounds.
pub fn view(
    bounds: [[f64; 3]; 2],
    window: Option<Window>,
    size: Option<[Option<usize>; 2]>,
    per_metre: Option<f64>,
) -> Result<View, String> {
    let view = View::asked(bounds, window, size, per_metre)
        .map_err(|e| format!("{e}; give a smaller --size or --window, or fewer pixels --per-metre"))?;
    if !view.meets(bounds) {
        let lies = extent(bounds);
        return Err(format!(
            "--window shows none of the ground, which lies at {lies}; give a part of that, or leave it out"
        ));
    }
    Ok(view)
}

/// The note on a picture without ground.
pub fn barren(bounds: [[f64; 3]; 2]) -> String {
    format!("no ground is met in the picture; it lies at {}", extent(bounds))
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let window: [f64; 4] =
            numbers(text).ok_or("four numbers with commas between them, x0,y0,x1,y1, none beyond 1e15 m")?;
        let [width, height] = [0, 1].map(|i| window[i + 2] - window[i]);
        if !(width > 0.0 && height > 0.0) {
            Err("x0 must be below x1, and y0 below y1".into())
        } else if width.min(height) < MIN_SIDE {
            Err(format!("a window is {MIN_SIDE} m wide and high at least, and this one {width} by {height} m"))
        } else {
            Ok(Window(window))
        }
    }
}

pub fn size(text: &str) -> Result<[Option<usize>; 2], String> {
    let number = |t: &str| match t.trim().parse() {
        Ok(n) if (1..=MAX_PIXELS[0]).contains(&n) => Ok(Some(n)),
        _ => Err(format!("a width, or width and height as 640x480, of 1 to {} pixels each", MAX_PIXELS[0])),
    };
    match text.split_once('x') {
        Some((w, h)) => Ok([number(w)?, number(h)?]),
        None => Ok([number(text)?, None]),
    }
}

pub fn per_metre(text: &str) -> Result<f64, String> {
    let sane = |v: &f64| (1e-9..=1e9).contains(v);
    text.parse().ok().filter(sane).ok_or_else(|| "must be a number above zero, from 1e-9 to 1e9".into())
}

pub fn height(text: &str) -> Result<f64, String> {
    metres(text).ok_or_else(|| "must be a height in metres, or with a unit, as in 5cm".into())
}

/// `LOW,HIGH` or `MAP=LOW,HIGH`.
pub fn range(text: &str) -> Result<Range, String> {
    let (map, ends) = match text.split_once('=') {
        Some((name, ends)) => (Some(named(name).ok_or(format!("no map is called {name:?}"))?), ends),
        None => (None, text),
    };
    let ends: [f64; 2] =
        numbers(ends).ok_or("the ends of a scale, LOW,HIGH, or of one of several maps, such as mu=0,1")?;
    if ends[1] - ends[0] < FINEST {
        return Err("LOW must be below HIGH, by 0.00001 at least".into());
    }
    Ok(Range { map, ends })
}

/// Numbers with commas between them.
pub fn numbers<const N: usize>(text: &str) -> Option<[f64; N]> {
    let each = text.split(',').map(|n| n.trim().parse().ok().filter(|v: &f64| v.abs() <= FARTHEST));
    each.collect::<Option<Vec<f64>>>()?.try_into().ok()
}

/// The range of each of some maps.
pub fn ranges(maps: &[Map], typed: &[Range]) -> Result<Vec<Option<[f64; 2]>>, String> {
    let with: Vec<Map> = maps.iter().copied().filter(|m| m.entry().scale != Numbers::None).collect();
    let mut all = vec![None; maps.len()];
    for Range { map, ends } in typed {
        let map = match (map, &with[..]) {
            (Some(map), all) if all.contains(map) => *map,
            (None, [only]) => *only,
            _ => {
                let names: Vec<&str> = with.iter().map(|m| m.name()).collect();
                let names = if names.is_empty() { "none".into() } else { names.join(", ") };
                return Err(format!("--range MAP=LOW,HIGH needs a map that is drawn and has a scale; here: {names}"));
            }
        };
        let range =
            maps.iter().zip(&mut all).find(|(other, _)| **other == map).and_then(|(_, range)| range.replace(*ends));
        if range.is_some() {
            return Err(format!("--range gives the ends of the scale of {} twice; give them once", map.name()));
        }
        if map.entry().scale == Numbers::Counts && ends.iter().any(|v| v.fract() != 0.0 || !(0.0..=1e6).contains(v)) {
            let name = map.name();
            return Err(format!("the map {name} shows counts: its --range takes whole numbers from 0 to 1000000"));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_and_sizes() {
        assert_eq!(" -1,2.5,3,4".parse(), Ok(Window([-1.0, 2.5, 3.0, 4.0])));
        for bad in ["", "1,2,3", "1,2,1,4", "1,2,3,nan", "1,2,3,4,5"] {
            assert!(bad.parse::<Window>().is_err(), "{bad}");
        }
        assert_eq!(size("640x480"), Ok([Some(640), Some(480)]));
        assert_eq!(size("640"), Ok([Some(640), None]));
        assert!(["0", "x", "640x", "70000", "-1"].iter().all(|bad| size(bad).is_err()));
    }
}
