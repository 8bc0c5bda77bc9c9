//! A relief with markers and dots, for a report.

use hardpan::Terrain;

use super::{
    canvas::Canvas,
    colour::{Colour, WHITE},
    frame::frame,
    heights::relief,
    view::View,
};

/// Pixels of the longer side of the ground: with its frame the picture is no wider than 900.
const LONGER: f64 = 760.0;
/// What a marker is.
const MARKER: Colour = [213, 0, 50];
/// How far a marker reaches, pixels.
const REACH: f64 = 6.0;
/// And a dot.
const DOT: f64 = 2.0;

/// The relief of all ground, with a marker and its number at each place, and a dot at each other one; the first lie on top. Places
/// beside the picture have none.
pub fn overview(terrain: &Terrain, places: &[([f64; 3], usize)], others: &[[f64; 3]]) -> Canvas {
    marked(terrain, places, others, LONGER)
}

fn marked(terrain: &Terrain, places: &[([f64; 3], usize)], others: &[[f64; 3]], longer: f64) -> Canvas {
    let view = View::whole(terrain, longer);
    let mut drawn = relief(terrain, &view, None);
    for [x, y, _] in others.iter().filter(|[x, y, _]| view.has([*x, *y])) {
        drawn.ground.disc(view.place(*x, *y), DOT, MARKER);
    }
    let shown = places.iter().rev().filter(|([x, y, _], _)| view.has([*x, *y]));
    for ([x, y, _], number) in shown {
        let at = view.place(*x, *y);
        drawn.ground.disc(at, REACH, WHITE);
        drawn.ground.disc(at, REACH - 2.0, MARKER);
        drawn.ground.label(at, REACH, &number.to_string(), 1);
    }
    frame(drawn, "Overview of the ground", &view).canvas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, build, fixtures};

    #[test]
    fn markers_lie_at_their_places() {
        let built = build(&fixtures::ramp(), &Options::default()).unwrap();
        let terrain = Terrain::open(&built.image).unwrap();
        let ([low, high], longer) = (terrain.bounds(), 100.0);
        let marks = |place: [f64; 3]| -> Vec<[f64; 2]> {
            let canvas = marked(&terrain, &[(place, 1)], &[], longer);
            let red = (0..canvas.pixels.len()).filter(|i| canvas.pixels[*i] == MARKER);
            red.map(|i| [i % canvas.width, i / canvas.width].map(|v| v as f64)).collect()
        };
        let mean = |all: &[[f64; 2]]| [0, 1].map(|i| all.iter().map(|p| p[i]).sum::<f64>() / all.len() as f64);
        // a quarter and three quarters of the way from the north-west to the south-east
        let at = |share: f64| [low[0] + share * (high[0] - low[0]), high[1] + share * (low[1] - high[1]), 0.0];
        let [first, second] = [0.25, 0.75].map(|share| marks(at(share)));
        assert!(first.len() > 30, "{first:?}");
        let ([x0, y0], [x1, y1]) = (mean(&first), mean(&second));
        assert!((x1 - x0 - longer / 2.0).abs() < 1.0 && (y1 - y0 - longer / 2.0).abs() < 1.0, "{x0} {y0} {x1} {y1}");
        assert!(marks([high[0] + 1e3, 0.0, 0.0]).is_empty());
    }
}
