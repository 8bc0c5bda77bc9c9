//! A relief in the colours of its materials, with the tracks of wheels.

use hardpan::Terrain;
use serde_json::Value;

use super::{
    canvas::Canvas,
    colour::{Colour, mix},
    frame::{Drawn, Key, frame, no_ground},
    heights::SUN,
    materials::colours,
    relief::relief,
    view::View,
};

/// Tracks on the ground that is seen, and under it.
const TRACKS: [Colour; 2] = [[255, 220, 60], [90, 215, 255]];

pub struct Tracks<'t> {
    terrain: &'t Terrain<'t>,
    view: View,
    colours: Vec<Colour>,
    ground: Canvas,
}

impl<'t> Tracks<'t> {
    pub fn new(terrain: &'t Terrain<'t>, view: View) -> Self {
        let colours = colours(terrain);
        let ground = relief(terrain, &view, 2, |a| colours[usize::from(a.hit.material)]);
        Tracks { terrain, view, colours, ground }
    }

    /// Draws a place of a wheel.
    pub fn wheel(&mut self, at: [f64; 2], under: bool) {
        let [column, row] = self.view.place(at[0], at[1]).map(|v| v.floor() as i64);
        if let Some(pixel) = self.ground.pixel(column, row) {
            *pixel = mix(*pixel, TRACKS[usize::from(under)], 0.5);
        }
    }

    /// With its frame.
    pub fn framed(self, title: &str) -> Canvas {
        let name = |m: usize| self.terrain.material_name(m as u16).to_string();
        let mut keys: Vec<Key> = self.colours.iter().enumerate().map(|(m, c)| Key::Box(*c, name(m))).collect();
        keys.push(no_ground(&self.view));
        keys.push(Key::Box(TRACKS[0], "wheels".into()));
        keys.push(Key::Box(TRACKS[1], "wheels under other ground".into()));
        let (notes, details) = (vec![SUN.into()], Vec::new());
        let drawn = Drawn { ground: self.ground, keys, notes, details, facts: Value::Null };
        frame(drawn, &format!("Relief and tracks: {title}"), &self.view).canvas
    }
}
