//! The map of how far an image is from points of another tool.

use hardpan::Terrain;
use serde_json::Value;

use crate::compare::{Met, Point};

use super::{
    canvas::{Canvas, Colour, NOTHING},
    changes::{Heights, LOST},
    maps::{self, Drawn, Key, Sheet, frame},
    relief::{View, light, lit},
};

/// Ground where no point lies: darker than points without a difference.
const GROUND: Colour = [140, 142, 144];
/// How far a dot reaches about its pixel, in pixels of a picture of ordinary size.
const REACH: usize = 2;

/// The worst point in a pixel.
#[derive(Clone, Copy, PartialEq)]
enum Dot {
    Off(f64),
    /// There is no ground.
    Missing,
}

impl Dot {
    /// What is drawn above what.
    fn size(self) -> f64 {
        match self {
            Dot::Off(difference) => difference.abs(),
            Dot::Missing => f64::INFINITY,
        }
    }
}

/// A map that is not drawn yet; of points in one pixel the worst is kept.
pub struct Dots {
    pub view: View,
    dots: Vec<Option<Dot>>,
}

impl Dots {
    pub fn new(view: View) -> Self {
        Dots { view, dots: vec![None; view.width * view.height] }
    }

    /// Takes in some points and what is there.
    pub fn see(&mut self, points: &[Point], met: &[Met]) {
        for (point, met) in points.iter().zip(met) {
            let dot = match met {
                Met::Ground { z, .. } => Dot::Off(z - point.at[2]),
                Met::NoGround | Met::NotInImage => Dot::Missing,
                Met::NoNumber | Met::Damaged => continue,
            };
            let place = [point.at[0], point.at[1]];
            if self.view.has(place) {
                let at = self.view.place(place[0], place[1]);
                let [column, row] =
                    [(at[0], self.view.width), (at[1], self.view.height)].map(|(at, size)| (at as usize).min(size - 1));
                let old = &mut self.dots[row * self.view.width + column];
                if old.is_none_or(|old| dot.size() > old.size()) {
                    *old = Some(dot);
                }
            }
        }
    }

    /// Draws the points over the ground, the worst last; `range` is where the colours end.
    pub fn draw(self, terrain: &Terrain, range: Option<[f64; 2]>, title: &str) -> Sheet {
        let Dots { view, dots } = self;
        let off = dots.iter().flatten().filter_map(|dot| if let Dot::Off(v) = dot { Some(*v) } else { None });
        let heights = Heights::new(off, range);
        let tops = maps::of_tops(terrain, &view, |hit| lit(GROUND, light(terrain.slope_f64(hit))));
        let mut ground = maps::canvas(&view, &tops, |colour| *colour);
        let mut all: Vec<(usize, Dot)> = dots.iter().enumerate().filter_map(|(i, dot)| Some((i, (*dot)?))).collect();
        all.sort_by(|p, q| p.1.size().total_cmp(&q.1.size()));
        let reach = (REACH * maps::magnitude(&view)) as i64;
        for (i, dot) in &all {
            let colour = if let Dot::Off(off) = dot { heights.colour(*off) } else { LOST };
            disc(&mut ground, [i % view.width, i / view.width].map(|v| v as i64), reach, colour);
        }
        let any = |what| all.iter().any(|(_, dot)| *dot == what);
        let mut keys = heights.keys(any(Dot::Off(0.0)).then_some("no difference"));
        keys.extend(any(Dot::Missing).then(|| Key::Box(LOST, "points without ground".into())));
        keys.push(Key::Box(GROUND, "ground without points".into()));
        keys.push(Key::Box(NOTHING, "no ground".into()));
        let mut notes = vec!["the worst point in each pixel, as a dot; the highest ground beneath".into()];
        notes.extend(all.is_empty().then(|| "no point lies here".into()));
        notes.extend(heights.told().map(|told| format!("the image less the reference: {told} here")));
        let drawn = Drawn { ground, keys, notes, details: Vec::new(), facts: Value::Null };
        frame(drawn, &format!("Differences: {title}"), &view)
    }
}

fn disc(canvas: &mut Canvas, [x, y]: [i64; 2], reach: i64, colour: Colour) {
    for (dx, dy) in (-reach..=reach).flat_map(|dx| (-reach..=reach).map(move |dy| (dx, dy))) {
        if dx * dx + dy * dy <= reach * reach
            && let Some(pixel) = canvas.pixel(x + dx, y + dy)
        {
            *pixel = colour;
        }
    }
}
