//! A relief with coloured dots, for a report that lays its own markers over it.

use hardpan::Terrain;

use super::{canvas::Canvas, colour::Colour, frame::frame, heights::relief, view::View};

/// Pixels of the longer side of the ground: with its frame the picture is no wider than 900.
const LONGER: f64 = 760.0;
/// How far a dot reaches, pixels.
const DOT: f64 = 2.0;

/// A picture of all ground.
pub struct Overview {
    pub canvas: Canvas,
    view: View,
    /// Left and top of the ground in the picture.
    at: [usize; 2],
}

impl Overview {
    /// The pixel of a place, from the left and the top of the picture, if the ground there is shown.
    pub fn pixel(&self, [x, y]: [f64; 2]) -> Option<[f64; 2]> {
        let [across, down] = self.view.place(x, y);
        self.view.has([x, y]).then_some([across + self.at[0] as f64, down + self.at[1] as f64])
    }
}

/// The relief of all ground with a dot of a colour at each place that it shows; the first lie on top.
pub fn overview(terrain: &Terrain, dots: &[([f64; 3], Colour)]) -> Overview {
    dotted(terrain, dots, LONGER)
}

fn dotted(terrain: &Terrain, dots: &[([f64; 3], Colour)], longer: f64) -> Overview {
    let view = View::whole(terrain, longer);
    let mut drawn = relief(terrain, &view, None);
    for ([x, y, _], colour) in dots.iter().rev().filter(|([x, y, _], _)| view.has([*x, *y])) {
        drawn.ground.disc(view.place(*x, *y), DOT, *colour);
    }
    let sheet = frame(drawn, "Overview of the ground", &view);
    Overview { canvas: sheet.canvas, view, at: sheet.at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build;
    use crate::demo::fixtures;
    use crate::options::Options;

    #[test]
    fn dots_lie_at_their_places() {
        let built = build(&fixtures::ramp(), &Options::default()).unwrap();
        let terrain = Terrain::open(&built.image).unwrap();
        let ([low, high], red) = (terrain.bounds(), [213, 0, 50]);
        // the mean of the pixels of a dot, and where the picture says that its place is
        let dot = |place: [f64; 3]| {
            let overview = dotted(&terrain, &[(place, red)], 100.0);
            let Canvas { width, pixels, .. } = &overview.canvas;
            let red: Vec<usize> = (0..pixels.len()).filter(|i| pixels[*i] == red).collect();
            let mean = |of: fn(usize, usize) -> usize| {
                red.iter().map(|i| of(*i, *width) as f64 + 0.5).sum::<f64>() / red.len() as f64
            };
            (red.len(), [mean(|i, wide| i % wide), mean(|i, wide| i / wide)], overview.pixel([place[0], place[1]]))
        };
        for share in [0.25, 0.75] {
            // from the north-west to the south-east
            let place = [low[0] + share * (high[0] - low[0]), high[1] + share * (low[1] - high[1]), 0.0];
            let (count, mean, pixel) = dot(place);
            let pixel = pixel.unwrap();
            assert!(count > 8 && (0..2).all(|i| (mean[i] - pixel[i]).abs() <= 0.5), "{count}: {mean:?} {pixel:?}");
        }
        let (count, _, pixel) = dot([high[0] + 1e3, 0.0, 0.0]);
        assert_eq!((count, pixel), (0, None));
    }
}
