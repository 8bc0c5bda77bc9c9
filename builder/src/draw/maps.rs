//! All maps of an image, each drawn from the kernel's answers.

use hardpan::{Hit, Terrain};

use super::{
    canvas::Canvas,
    colour::{Colour, NOTHING},
    costs,
    frame::{Drawn, Key, Sheet, frame, no_ground},
    heights,
    holes::holes,
    materials,
    view::View,
};

/// Entry of a kind of map.
pub struct MapEntry {
    pub name: &'static str,
    pub title: &'static str,
    /// Line of the help.
    pub shows: &'static str,
    pub scale: Numbers,
    pub draw: fn(&Terrain, &View, &Wish) -> Drawn,
}

/// Scale of a map's colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// No numbers.
    None,
    /// Numbers on a scale, whose ends may be typed.
    Scale,
    /// Whole numbers on a scale.
    Counts,
}

/// The kinds of maps and their entries.
macro_rules! maps {
    ($($map:ident $name:literal $title:literal $shows:literal $scale:ident $draw:expr;)*) => {
        /// A kind of map.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Map { $($map),* }

        const MAPS: &[MapEntry] = &[$(MapEntry {
            name: $name,
            title: $title,
            shows: $shows,
            scale: Numbers::$scale,
            draw: $draw,
        }),*];

        impl Map {
            pub const ALL: [Map; MAPS.len()] = [$(Map::$map),*];
        }
    };
}

// a new map is an entry here, and a file in the folder maps/ if it is large
maps! {
    Relief "relief" "Relief of the highest ground" "Shaded relief, coloured by height"
        Scale |t, view, wish| heights::relief(t, view, wish.range);
    Slope "slope" "Slope of the highest ground" "How steep the highest ground is, from 0 to 45 degrees in every picture"
        Scale |t, view, wish| heights::slope(t, view, wish.range);
    Layers "layers" "Ground heights over a place" "How many ground heights lie over a place"
        Counts |t, view, wish| costs::layers(t, view, wish.range);
    Leaves "leaves" "Leaves that answer" "Which bundle or patch block answers"
        None |t, view, _| costs::leaves(t, view);
    Materials "materials" "Materials of the highest ground"
        "The material of the highest ground, in colours that go by names"
        None |t, view, _| materials::materials(t, view);
    Mu "mu" "Friction of the highest ground" "Its friction, from 0 to 1.2 in every picture"
        Scale |t, view, wish| heights::friction(t, view, wish.range);
    Cost "cost" "Cost of a query" "How many tests a query takes, beside the stated bound"
        Counts |t, view, wish| costs::cost(t, view, wish.range);
    Error "error" "Stated error in height" "The error that the image states"
        Scale |t, view, wish| heights::error(t, view, wish.range);
    Holes "holes" "Holes and open edges"
        "Places without ground that ground surrounds, gaps, and open edges, the largest with numbers"
        None |t, view, wish| holes(t, view, wish.max_gap, wish.max_step);
}

impl Map {
    /// Its entry in the table.
    pub fn entry(self) -> &'static MapEntry {
        &MAPS[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.entry().name
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
    let MapEntry { title, draw, .. } = map.entry();
    frame(draw(t, view, &wish), &format!("{title}: {name}"), view)
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
