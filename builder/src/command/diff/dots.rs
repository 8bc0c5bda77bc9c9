//! The map of how far an image is from points of another tool.

use hardpan::Terrain;
use serde_json::Value;

use super::drawing::{HIGHER, LOST, LOWER, SAME, between, of_change, side, signed};
use crate::compare::{Met, Point};
use crate::draw::{
    canvas::Canvas,
    colour::{Colour, NOTHING},
    frame::{Drawn, Key, Sheet, frame, magnitude},
    relief::{light, lit},
    scale::Scale,
    view::View,
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
        let seen = off.fold([0.0; 2], |[low, high]: [f64; 2], v| [low.min(v), high.max(v)]);
        let most = seen[1].max(-seen[0]);
        let scale = Scale::new(Some(range.unwrap_or([-most, most])), seen);
        let colour = |dot: Dot| match dot {
            Dot::Off(difference) => of_change(scale.ends, difference),
            Dot::Missing => LOST,
        };
        let pixels = view.rows(NOTHING, |row, out| {
            for (a, to) in view.tops(terrain, row).iter().zip(out).filter(|(a, _)| a.found()) {
                *to = lit(GROUND, light(terrain.slope_f64(&a.hit)));
            }
        });
        let mut ground = Canvas { width: view.width, height: view.height, pixels };
        let mut all: Vec<(usize, Dot)> = dots.iter().enumerate().filter_map(|(i, dot)| Some((i, (*dot)?))).collect();
        all.sort_by(|p, q| p.1.size().total_cmp(&q.1.size()));
        let reach = (REACH * magnitude(&view)) as f64 + 0.5;
        for (i, dot) in &all {
            let at = [i % view.width, i / view.width].map(|v| v as f64 + 0.5);
            ground.disc(at, reach, colour(*dot));
        }
        let any = |what: fn(&Dot) -> bool| all.iter().any(|(_, dot)| what(dot));
        let [low_told, high_told] = scale.labels(signed);
        let change = |v| of_change(scale.ends, v);
        let mut keys = Vec::new();
        if seen[0] < 0.0 || scale.ends[0] < 0.0 && range.is_some() {
            keys.push(side(scale.ends[0].min(0.0), low_told, change, LOWER));
        }
        if any(|dot| *dot == Dot::Off(0.0)) {
            keys.push(Key::Box(SAME, "no difference".into()));
        }
        if seen[1] > 0.0 || scale.ends[1] > 0.0 && range.is_some() {
            keys.push(side(scale.ends[1].max(0.0), high_told, change, HIGHER));
        }
        if any(|dot| *dot == Dot::Missing) {
            keys.push(Key::Box(LOST, "points without ground".into()));
        }
        keys.push(Key::Box(GROUND, "ground without points".into()));
        keys.push(Key::Box(NOTHING, "no ground".into()));
        let mut notes = vec!["the worst point in each pixel, as a dot; the highest ground beneath".into()];
        if all.is_empty() {
            notes.push("no point lies here".into());
        }
        if most > 0.0 {
            notes.push(format!("the image less the reference: {} here", between(seen, signed)));
        }
        let drawn = Drawn { ground, keys, notes, details: Vec::new(), facts: Value::Null };
        frame(drawn, &format!("Differences: {title}"), &view)
    }
}
