//! The map of how far an image is from points of another tool.

use hardpan::Terrain;
use serde_json::Value;

use crate::compare::{Met, Point};

use super::{
    changes::{Heights, LOST},
    colour::{Colour, NOTHING},
    frame::{Drawn, Key, Sheet, frame, magnitude},
    maps::{canvas, of_tops},
    relief::{light, lit},
    view::View,
};

/// Ground where no point lies: darker than points without a difference.
const GROUND: Colour = [140, 142, 144];
/// How far a dot reaches about its pixel, in pixels of a picture of ordinary size.
const REACH: usize = 2;

/// A map that is not drawn yet.
pub struct Dots {
    pub view: View,
    /// The largest difference in each pixel, infinite where a point has no ground.
    dots: Vec<Option<f64>>,
}

impl Dots {
    pub fn new(view: View) -> Self {
        Dots { view, dots: vec![None; view.width * view.height] }
    }

    /// Takes in some points and what is there.
    pub fn see(&mut self, points: &[Point], met: &[Met]) {
        for (point, met) in points.iter().zip(met) {
            let [x, y, reference] = point.at;
            let dot = match met {
                Met::Ground { z, .. } => z - reference,
                Met::NoGround | Met::NotInImage => f64::INFINITY,
                Met::NoNumber | Met::Damaged => continue,
            };
            if self.view.has([x, y]) {
                let (at, size) = (self.view.place(x, y), [self.view.width, self.view.height]);
                let [column, row] = [0, 1].map(|i| (at[i] as usize).min(size[i] - 1));
                let old = &mut self.dots[row * self.view.width + column];
                if old.is_none_or(|old| dot.abs() > old.abs()) {
                    *old = Some(dot);
                }
            }
        }
    }

    /// Draws the points over the ground, the worst last; `range` is where the colours end.
    pub fn draw(self, terrain: &Terrain, range: Option<[f64; 2]>, title: &str) -> Sheet {
        let Dots { view, dots } = self;
        let mut all: Vec<(usize, f64)> = dots.iter().enumerate().filter_map(|(i, dot)| Some((i, (*dot)?))).collect();
        all.sort_by(|p, q| p.1.abs().total_cmp(&q.1.abs()));
        let heights = Heights::new(all.iter().map(|dot| dot.1).filter(|off| off.is_finite()), range);
        let tops = of_tops(terrain, &view, |hit| lit(GROUND, light(terrain.slope_f64(hit))));
        let mut ground = canvas(&view, &tops, |colour| *colour);
        let reach = (REACH * magnitude(&view)) as f64 + 0.5;
        for (i, off) in &all {
            let colour = if off.is_finite() { heights.colour(*off) } else { LOST };
            ground.disc([i % view.width, i / view.width].map(|v| v as f64 + 0.5), reach, colour);
        }
        let any = |off| all.iter().any(|dot| dot.1 == off);
        let mut keys = heights.keys(any(0.0).then_some("no difference"));
        keys.extend(any(f64::INFINITY).then(|| Key::Box(LOST, "points without ground".into())));
        keys.push(Key::Box(GROUND, "ground without points".into()));
        keys.push(Key::Box(NOTHING, "no ground".into()));
        let mut notes = vec!["the worst point in each pixel, as a dot; the highest ground beneath".into()];
        notes.extend(all.is_empty().then(|| "no point lies here".into()));
        notes.extend(heights.told().map(|told| format!("the image less the reference: {told} here")));
        let drawn = Drawn { ground, keys, notes, details: Vec::new(), facts: Value::Null };
        frame(drawn, &format!("Differences: {title}"), &view)
    }
}
