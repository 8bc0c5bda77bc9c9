//! The most that a ray, or what a wheel asks, can cost anywhere in an image: by tables of its head.

use crate::format::{RAY_METRES, TYRE_METRES};
use crate::hit::Cost;
use crate::open::Terrain;
use crate::query::contact::{Method, Tyre};
use crate::query::ray::MAX_RAY_METRES;

/// So many times a row of a table.
fn times(row: [u32; 4], count: u32) -> Option<Cost> {
    let [nodes, leaves, tests, lines] = row.map(|n| n.saturating_mul(count));
    (row != [0; 4]).then_some(Cost { nodes, leaves, tests, lines })
}

/// How many lengths of this size reach so far.
fn pieces(length: f64, size: f64) -> u32 {
    libm::ceil(length / size) as u32
}

/// The most of a ray by a table.
fn of_ray(table: &[[u32; 4]; 4], length: f64) -> Option<Cost> {
    let is_length = length > 0.0 && length <= MAX_RAY_METRES;
    if !is_length {
        return None;
    }
    let mut sizes = RAY_METRES.iter().zip(table);
    match sizes.find(|(metres, _)| length <= f64::from(**metres)) {
        Some((_, row)) => times(*row, 1),
        None => times(table[3], pieces(length, f64::from(RAY_METRES[3]))),
    }
}

impl Terrain<'_> {
    /// The most that a ray of so many metres costs on this image, whatever it sees.
    ///
    /// It is what the image states of the next greater length of 1, 5, 20 and 100 m. A longer ray has as many times
    /// that of 100 m as it has begun. None if nothing is stated, or no ray has that length.
    pub fn ray_bound(&self, length: f64) -> Option<Cost> {
        of_ray(self.rays.map_or(&self.header.ray_bound, |rays| &rays.head.ray_bound), length)
    }

    /// The same of rays that see [`Kinds::GROUND`](crate::Kinds::GROUND) alone.
    pub fn ground_ray_bound(&self, length: f64) -> Option<Cost> {
        of_ray(&self.header.ray_bound, length)
    }

    /// The most that reading all squares costs that a tyre of a length and width meets, in whatever direction it
    /// stands.
    ///
    /// It is what the image states of 0.6 x 0.25 m, or of 1.2 x 0.5 m. A larger one is laid out with the latter. None
    /// if nothing is stated, or there is no such tyre.
    pub fn tyre_bound(&self, length: f64, width: f64) -> Option<Cost> {
        let sound = |v: f64| v > 0.0 && v <= 200.0;
        if !sound(length) || !sound(width) {
            return None;
        }
        let mut sizes = TYRE_METRES.iter().zip(&self.header.tyre_bound);
        match sizes.find(|([l, w], _)| length <= *l && width <= *w) {
            Some((_, row)) => times(*row, 1),
            None => {
                let [l, w] = TYRE_METRES[1];
                times(self.header.tyre_bound[1], pieces(length, l).saturating_mul(pieces(width, w)))
            }
        }
    }

    /// The most that [`Terrain::contact`] costs with this tyre.
    ///
    /// Each of its points has that of a ray over the ground, as far as the tyre reaches; each of its columns that of a
    /// vertical query. None if nothing is stated, as of strips, or there is no such tyre.
    pub fn contact_bound(&self, tyre: &Tyre) -> Option<Cost> {
        match tyre.method {
            Method::Points(points) => {
                let [above, below] = tyre.reach.unwrap_or([0.5 * tyre.radius, tyre.radius + 2.0]);
                let Cost { nodes, leaves, tests, lines } = self.ground_ray_bound(above + below)?;
                times([nodes, leaves, tests, lines], u32::try_from(points.len().max(1)).unwrap_or(u32::MAX))
            }
            Method::Columns(lattice) => times(self.header.bound, lattice as u32),
            Method::Strips { .. } => None,
        }
    }
}
