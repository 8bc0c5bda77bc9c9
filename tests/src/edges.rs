//! Points that stand for the closed union of triangles: both ends of every edge, and the 255 grid points between them.

use crate::bytes::BLANK;
use crate::oracle::{Oracle, Q};
use hardpan::{Answer, Point, Status, Terrain};
use rayon::prelude::*;

/// Lattice coordinates of both ends, in order.
pub type Edge = [[i64; 3]; 2];

/// The edges of all triangles with plan area, each once, in order.
pub struct Edges {
    pub all: Vec<Edge>,
    /// How many have one triangle only.
    pub border: usize,
}

impl Edges {
    pub fn of(oracle: &Oracle) -> Edges {
        let of_triangle = |i| {
            let [a, b, c] = oracle.triangle(i); // corners are sorted
            [[a, b], [a, c], [b, c]]
        };
        let mut all: Vec<Edge> = (0..oracle.len()).flat_map(of_triangle).collect();
        all.par_sort_unstable();
        let border = all.chunk_by(|a, b| a == b).filter(|same| same.len() == 1).count();
        all.dedup();
        Edges { all, border }
    }
}

/// The points of an edge on the query grid, every `step`th of 256, both ends included if `step` divides 256.
pub fn points([a, b]: Edge, step: usize) -> impl Iterator<Item = Point> {
    (0..=Q).step_by(step).map(move |j| {
        let [x, y, z] = [0, 1, 2].map(|k| a[k] * Q + j * (b[k] - a[k]));
        Point { x, y, z }
    })
}

/// Whether an answer is the ground at the very place that was asked about.
pub fn lands(answer: &Answer, p: Point) -> bool {
    answer.status == Status::Found && answer.hit.z == p.z
}

/// Results at the points of edges.
#[derive(Default)]
pub struct Tally {
    pub points: u64,
    pub misses: u64,
    /// The first miss, in words.
    pub first: Option<String>,
}

impl Tally {
    fn and(self, other: Tally) -> Tally {
        Tally {
            points: self.points + other.points,
            misses: self.misses + other.misses,
            first: self.first.or(other.first),
        }
    }
}

/// Asks `closest_batch` about all points of all edges, on all cores.
pub fn tally(terrain: Terrain, edges: &[Edge]) -> Tally {
    let of_edges = |edges: &[Edge]| {
        let points: Vec<Point> = edges.iter().flat_map(|&e| points(e, 1)).collect();
        let mut answers = vec![BLANK; points.len()];
        terrain.closest_batch(&points, &mut answers);
        let mut tally = Tally { points: points.len() as u64, ..Tally::default() };
        for (answer, p) in answers.iter().zip(&points).filter(|(a, p)| !lands(a, **p)) {
            tally.misses += 1;
            tally.first.get_or_insert_with(|| format!("{p:?}: {answer:?}"));
        }
        tally
    };
    // `reduce` keeps the order of the chunks
    edges.par_chunks(64).map(of_edges).reduce(Tally::default, Tally::and)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardpan_builder::demo::fixtures;
    use hardpan_builder::{Options, build};

    #[test]
    fn edges_of_a_square_and_what_misses_beside_it() {
        let scene = fixtures::flat();
        let edges = Edges::of(&Oracle::new(&scene));
        assert_eq!((edges.all.len(), edges.border), (5, 4));
        let image = build(&scene, &Options::default()).unwrap().image;
        let terrain = Terrain::open(&image).unwrap();
        let whole = tally(terrain, &edges.all);
        assert_eq!((whole.points, whole.misses), (5 * 257, 0));
        // an edge that leaves the ground after its first point
        let [a, b] = edges.all[0];
        let away = [a, [0, 1, 2].map(|k| 2 * a[k] - b[k])];
        let gone = tally(terrain, &[edges.all[0], away]);
        assert_eq!((gone.points, gone.misses), (2 * 257, 256));
        assert!(gone.first.unwrap().contains("NotInImage"));
    }
}
