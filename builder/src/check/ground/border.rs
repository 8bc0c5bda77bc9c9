//! Where ground ends: the edges with ground on one side alone, and which of them lie beside another.

use crate::image::decode;
use crate::image::decode::TileView;
use hardpan::Terrain;
use hashbrown::HashMap;
use rayon::prelude::*;

use super::layer_pair::Owner;

/// Where ground ends.
pub struct Border {
    /// Edges that one triangle alone uses.
    pub open: Vec<Edge>,
    /// Edges of several triangles, all on one side of it in plan.
    pub folds: Vec<Edge>,
}

/// An edge with ground on one side in plan.
pub struct Edge {
    /// Lattice steps from the origin.
    pub ends: Ends,
    /// Metres, in plan.
    pub plan: [[f64; 2]; 2],
    /// Heights of its ends, metres.
    pub z: [f64; 2],
    /// In plan to its right or left, away from its triangles, of length 1.
    pub away: [f64; 2],
    /// Whose ground ends there.
    pub owner: Owner,
    /// Whether that is steeper than 60 degrees: no wheel stands on it.
    pub is_steep: bool,
}

/// Length in plan.
pub fn span([a, b]: [[f64; 2]; 2]) -> f64 {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    (dx * dx + dy * dy).sqrt()
}

impl Border {
    pub fn of(t: &Terrain) -> Self {
        Self::new(t, Ending::of(t))
    }

    pub fn new(t: &Terrain, Ending(mut ends): Ending) -> Self {
        let h = t.header();
        let [step, rise] = [h.xy_log2, h.z_log2].map(|log2| f64::exp2(f64::from(log2)));
        ends.par_sort_unstable_by_key(|(ends, _)| *ends);
        let metres = |p: [i32; 3]| [0, 1].map(|i| (h.origin[i] + i64::from(p[i])) as f64 * step);
        let edge = |ends: Ends, Users { third, left, owner, .. }: Users| {
            let z = ends.map(|p| (h.origin[2] + i64::from(p[2])) as f64 * rise);
            let plan = ends.map(metres);
            let ([a, b], length) = (plan, span(plan));
            let [dx, dy] = [b[0] - a[0], b[1] - a[1]];
            let away = if left { [dy, -dx] } else { [-dy, dx] }.map(|v| if length > 0.0 { v / length } else { 0.0 });
            let [u, v] = [ends[1], third].map(|p| [0, 1, 2].map(|i| f64::from(p[i]) - f64::from(ends[0][i])));
            let across = [1, 2, 0].map(|i| u[i] * v[(i + 1) % 3] - u[(i + 1) % 3] * v[i]);
            // steps in height are another length than those in plan
            let flat = across[2] * step / rise;
            let is_steep = across[0] * across[0] + across[1] * across[1] > 3.0 * flat * flat;
            Edge { ends, plan, z, away, owner, is_steep }
        };
        let (mut open, mut folds) = (Vec::new(), Vec::new());
        for (ends, users) in ends {
            if users.several { &mut folds } else { &mut open }.push(edge(ends, users));
        }
        Border { open, folds }
    }
}

/// The edges of a [`Border`], in no order.
pub struct Ending(Vec<(Ends, Users)>);

impl Ending {
    pub fn of(t: &Terrain) -> Self {
        let log2 = t.header().tile_log2;
        let tiles: Vec<TileView> = decode::tiles(t).collect();
        Ending(tiles.par_iter().flat_map_iter(|t| ends(t, log2)).collect())
    }

    /// How many of them are open.
    pub fn open(&self) -> u64 {
        self.0.iter().filter(|(_, users)| !users.several).count() as u64
    }
}

/// Which triangles use an edge.
#[derive(Clone, Copy)]
struct Users {
    /// The third corner of one of them.
    third: [i32; 3],
    /// Whether there are others.
    several: bool,
    /// Whether some lie to its left, and to its right, in plan.
    left: bool,
    right: bool,
    owner: Owner,
}

/// The ends of an edge, the least first, lattice steps from the origin.
type Ends = [[i32; 3]; 2];

/// Edges at which ground ends, in no order, whose least end is in a tile. The tile holds all that meet there.
fn ends(tile: &TileView, log2: u32) -> Vec<(Ends, Users)> {
    let here = |p: [i32; 3]| [p[0] >> log2, p[1] >> log2] == [tile.head.x, tile.head.y];
    let triangles: usize = tile.bundles().map(|bundle| bundle.triangles()).sum();
    let mut edges: HashMap<Ends, Users> = HashMap::with_capacity(3 * triangles / 2);
    for bundle in tile.bundles() {
        let attribute = tile.palette().get(usize::from(bundle.attribute()));
        let owner = attribute.map(Owner::in_palette).unwrap_or_default();
        for [a, b, c] in (0..bundle.triangles()).map(|i| bundle.corners(i)) {
            for [p, q, third] in [[a, b, c], [b, c, a], [c, a, b]] {
                let left = p < q; // triangles turn to the left
                let ends = if left { [p, q] } else { [q, p] };
                if here(ends[0]) {
                    let known = edges.entry(ends).or_insert(Users { third, several: false, left, right: !left, owner });
                    // several leaves may hold a triangle
                    known.several |= known.third != third;
                    (known.left, known.right) = (known.left | left, known.right | !left);
                }
            }
        }
    }
    edges.into_iter().filter(|(_, users)| !(users.left && users.right)).collect()
}

impl Edge {
    /// A place on it, at a share of its length.
    pub fn on(&self, share: f64) -> [f64; 3] {
        let [a, b] = self.plan;
        let between = |a: f64, b: f64| a + (b - a) * share;
        [between(a[0], b[0]), between(a[1], b[1]), between(self.z[0], self.z[1])]
    }

    /// Its part from one share of its length to another, in plan.
    pub fn part(&self, shares: [f64; 2]) -> [[f64; 2]; 2] {
        shares.map(|share| self.on(share)).map(|[x, y, _]| [x, y])
    }
}
