//! What a map shows: all maps of an image, each drawn from the kernel's answers.

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
use crate::names::suggestion;

/// What a map shows.
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

/// A map in words: its name, its title, what it shows, and other words for it.
struct About {
    name: &'static str,
    title: &'static str,
    help: &'static str,
    words: &'static [&'static str],
}

impl Map {
    pub const ALL: [Map; 9] =
        [Map::Relief, Map::Slope, Map::Layers, Map::Leaves, Map::Materials, Map::Mu, Map::Cost, Map::Error, Map::Holes];

    /// The map of a name, or an error with the nearest name and all names.
    pub fn named(name: &str) -> Result<Map, String> {
        let word = name.trim().to_lowercase();
        let all = || Map::ALL.into_iter().map(Map::name);
        if let Some(map) = Map::ALL.into_iter().find(|m| m.name() == word) {
            return Ok(map);
        }
        let one = word.strip_suffix('s').unwrap_or(&word);
        let meant = match Map::ALL.into_iter().find(|map| map.about().words.contains(&one)) {
            Some(map) => format!(" (did you mean {:?}?)", map.name()),
            None => suggestion(&word, all()),
        };
        Err(format!("there is no such map{meant}; there are {}, or all", all().collect::<Vec<_>>().join(", ")))
    }

    fn about(self) -> About {
        let about = |name, title, help, words| About { name, title, help, words };
        match self {
            Map::Relief => about(
                "relief",
                "Relief of the highest ground",
                "Shaded relief, coloured by height",
                &["height", "elevation", "hillshade", "dem", "terrain", "z"],
            ),
            Map::Slope => about(
                "slope",
                "Slope of the highest ground",
                "How steep the highest ground is, from 0 to 45 degrees in every picture",
                &["steepness", "gradient", "grade", "incline"],
            ),
            Map::Layers => about(
                "layers",
                "Ground heights over a place",
                "How many ground heights lie over a place",
                &["layer", "bridge", "overlap", "stack"],
            ),
            Map::Leaves => about(
                "leaves",
                "Leaves that answer",
                "Which bundle or patch block answers",
                &["leaf", "bundle", "block", "triangle"],
            ),
            Map::Materials => about(
                "materials",
                "Materials of the highest ground",
                "The material of the highest ground, in colours that go by names",
                &["material", "surface", "texture"],
            ),
            Map::Mu => about(
                "mu",
                "Friction of the highest ground",
                "Its friction, from 0 to 1.2 in every picture",
                &["friction", "grip"],
            ),
            Map::Cost => about(
                "cost",
                "Cost of a query",
                "How many tests a query takes, beside the stated bound",
                &["test", "time", "bound"],
            ),
            Map::Error => {
                about("error", "Stated error in height", "The error that the image states", &["accuracy", "precision"])
            }
            Map::Holes => about(
                "holes",
                "Holes and open edges",
                "Places without ground that ground surrounds, gaps, and open edges, the largest with numbers",
                &["hole", "gap", "edge", "crack", "seam"],
            ),
        }
    }

    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// What it shows, for help.
    pub fn help(self) -> &'static str {
        self.about().help
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

/// What is asked of a map beside what it shows.
#[derive(Clone, Copy, Default)]
pub struct Wish {
    /// The ends of its scale.
    pub range: Option<[f64; 2]>,
    /// How wide a gap may be in the map of holes, metres.
    pub max_gap: Option<f64>,
    /// How high a step may be that is not shown on the map holes, metres; none are shown without it.
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
    frame(drawn, &format!("{}: {name}", map.about().title), view)
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
