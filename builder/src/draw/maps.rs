//! All maps of an image, each drawn from the kernel's answers.

use hardpan::{Hit, Terrain};

use super::{
    canvas::Canvas,
    colour::{Colour, NOTHING},
    costs,
    frame::{Key, Sheet, frame, no_ground},
    heights,
    holes::holes,
    materials,
    view::View,
};

/// A kind of map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    Relief,
    Slope,
    Layers,
    Leaves,
    Materials,
    Mu,
    Cost,
    Error,
    Holes,
}

impl Map {
    pub const ALL: [Map; 9] =
        [Map::Relief, Map::Slope, Map::Layers, Map::Leaves, Map::Materials, Map::Mu, Map::Cost, Map::Error, Map::Holes];

    /// Its name, its title, and what it shows.
    fn words(self) -> [&'static str; 3] {
        match self {
            Map::Relief => ["relief", "Relief of the highest ground", "Shaded relief, coloured by height"],
            Map::Slope => [
                "slope",
                "Slope of the highest ground",
                "How steep the highest ground is, from 0 to 45 degrees in every picture",
            ],
            Map::Layers => ["layers", "Ground heights over a place", "How many ground heights lie over a place"],
            Map::Leaves => ["leaves", "Leaves that answer", "Which bundle or patch block answers"],
            Map::Materials => [
                "materials",
                "Materials of the highest ground",
                "The material of the highest ground, in colours that go by names",
            ],
            Map::Mu => ["mu", "Friction of the highest ground", "Its friction, from 0 to 1.2 in every picture"],
            Map::Cost => ["cost", "Cost of a query", "How many tests a query takes, beside the stated bound"],
            Map::Error => ["error", "Stated error in height", "The error that the image states"],
            Map::Holes => [
                "holes",
                "Holes and open edges",
                "Places without ground that ground surrounds, gaps, and open edges, the largest with numbers",
            ],
        }
    }

    pub fn name(self) -> &'static str {
        self.words()[0]
    }

    /// Its line in the help.
    pub fn help(self) -> &'static str {
        self.words()[2]
    }

    /// Whether its colours are numbers.
    pub fn has_scale(self) -> bool {
        !matches!(self, Map::Leaves | Map::Materials | Map::Holes)
    }

    /// Whether those are counts.
    pub fn counts(self) -> bool {
        matches!(self, Map::Layers | Map::Cost)
    }
}

/// Options of a map.
#[derive(Clone, Copy, Default)]
pub struct Wish {
    /// The ends of its scale.
    pub range: Option<[f64; 2]>,
    /// How wide a gap may be in the map of holes, metres.
    pub max_gap: Option<f64>,
    /// Steps higher than this are shown on the map holes, metres; without it none are.
    pub max_step: Option<f64>,
}

/// Draws a map of a verified image.
pub fn draw(t: &Terrain, map: Map, view: &View, wish: Wish, name: &str) -> Sheet {
    let Wish { range, max_gap, max_step } = wish;
    let drawn = match map {
        Map::Relief => heights::relief(t, view, range),
        Map::Slope => heights::slope(t, view, range),
        Map::Layers => costs::layers(t, view, range),
        Map::Leaves => costs::leaves(t, view),
        Map::Materials => materials::materials(t, view),
        Map::Mu => heights::friction(t, view, range),
        Map::Cost => costs::cost(t, view, range),
        Map::Error => heights::error(t, view, range),
        Map::Holes => holes(t, view, max_gap, max_step),
    };
    frame(drawn, &format!("{}: {name}", map.words()[1]), view)
}

/// Every pixel from the highest ground in its middle.
pub fn of_tops<T: Clone + Send + Sync>(t: &Terrain, view: &View, make: impl Fn(&Hit) -> T + Sync) -> Vec<Option<T>> {
    view.rows(None, |row, out| {
        for (a, to) in view.tops(t, row).iter().zip(out).filter(|(a, _)| a.found()) {
            *to = Some(make(&a.hit));
        }
    })
}

pub fn canvas<T>(view: &View, all: &[Option<T>], colour: impl Fn(&T) -> Colour) -> Canvas {
    let pixels = all.iter().map(|v| v.as_ref().map_or(NOTHING, &colour)).collect();
    Canvas { width: view.width, height: view.height, pixels }
}

/// The key of places without ground, if there are any.
pub fn nothing<T>(view: &View, all: &[Option<T>]) -> Option<Key> {
    all.iter().any(Option::is_none).then(|| no_ground(view))
}

/// Least and greatest of numbers, if there are any.
pub fn ends<T: PartialOrd + Copy>(all: impl Iterator<Item = T>) -> Option<[T; 2]> {
    all.map(|v| [v; 2]).reduce(|[low, high], [v, _]| [if v < low { v } else { low }, if v > high { v } else { high }])
}
