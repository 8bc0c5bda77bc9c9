//! Open vertices, and what lies within the threshold of an open edge among them.

use super::super::ground::Ground;
use super::super::neighbours::{Counted, Lines, beside};
use super::super::weld::{Joins, joins};
use super::cut::Met;
use super::edges::Edges;
use super::{Search, View};
use crate::options::Near;

/// The ends of open edges.
pub struct BoundaryVertices {
    /// By their places.
    pub vertices: Vec<u32>,
    /// Where they are.
    pub points: Counted,
    /// For each vertex of the mesh its number among them, or [`INNER`].
    numbers: Vec<u32>,
}

/// A vertex that ends no open edge.
const INNER: u32 = u32::MAX;

impl BoundaryVertices {
    pub fn new(ground: &Ground, edges: &Edges, near: Near) -> BoundaryVertices {
        let all = ground.vertices.iter().copied().zip(0..);
        let mut open: Vec<([i32; 3], u32)> = all.filter(|(_, v)| edges.is_open_at(*v)).collect();
        open.sort(); // mostly sorted already
        let mut numbers = vec![INNER; ground.vertices.len()];
        open.iter().zip(0..).for_each(|(&(_, v), n)| numbers[v as usize] = n);
        let (places, vertices) = open.into_iter().unzip();
        BoundaryVertices { points: Counted::new(places, near), vertices, numbers }
    }

    /// The number of a vertex among those of the boundary.
    pub fn number(&self, v: u32) -> Option<usize> {
        // points that were made since are not in it
        let number = self.numbers.get(v as usize).copied().unwrap_or(INNER);
        (number != INNER).then_some(number as usize)
    }

    /// Which of its vertices are to be joined.
    pub fn joins(&self, View { ground, edges, .. }: View) -> Joins {
        joins(ground, &self.vertices, &self.points, Some(|a, b| edges.users(a, b) > 0))
    }
}

/// Gaps in space.
pub struct Seams<'a> {
    points: &'a Counted,
    lines: Lines<'a>,
}

impl<'a> Seams<'a> {
    pub fn new(boundary: &'a BoundaryVertices) -> Self {
        Seams { points: &boundary.points, lines: Lines::new(&boundary.points) }
    }
}

impl Search for Seams<'_> {
    const KIND: usize = 0;
    const FOLDS: bool = true;
    const CROWD: u64 = 1;
    const SHARE: f64 = 1.0;

    fn is_crowded(&self, n: usize) -> bool {
        self.points.is_crowded(n as u32)
    }

    fn along(
        &self,
        side: [u32; 2],
        View { ground, boundary, .. }: View,
        counts: impl Fn(usize) -> bool,
        fits: impl Fn(usize) -> bool,
    ) -> Option<Vec<Met>> {
        let line = ground.corners(side);
        let mut met = Vec::new();
        self.lines.along(line, |i| {
            if counts(i as usize)
                && let Some(place) = beside(self.points.point(i), line, self.points.near)
            {
                met.push(Met { place, w: boundary.vertices[i as usize], level: None });
            }
            fits(met.len())
        });
        fits(met.len()).then_some(met)
    }
}
