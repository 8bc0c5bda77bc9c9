//! The ground on the lattice: what stages hand on, and exact tools for it.

pub use crate::image::rays::Wall;
use crate::options::SourceError;
use crate::scene::{HeightField, Material};
use crate::util::exact::{area2, exp2};
pub use hardpan_shaders::Face;
use std::collections::HashMap;

/// A height field of the scene, with materials and sources renumbered and its plan zero on the query grid.
#[derive(Clone, Debug)]
pub struct Field {
    /// Query steps from the origin.
    pub zero: [i64; 2],
    /// The field without its heights, which stay in the scene.
    pub field: HeightField,
    /// What storing it changes at most, in plan and height, metres.
    pub fit: [f64; 2],
}

/// The ground on the lattice.
pub struct Mesh {
    /// Steps from the origin, ascending.
    pub vertices: Vec<[i32; 3]>,
    /// Ascending, each once.
    pub faces: Vec<Face>,
    /// How far weld and stitch moved a face, in steps of plan and height: ascending by face, none for those that
    /// stayed.
    pub moved: Vec<(u32, [f64; 2])>,
    /// Places on the source at which the error against it is measured, metres.
    pub places: Vec<[f64; 3]>,
    /// Height fields.
    pub fields: Vec<Field>,
    /// By name.
    pub materials: Vec<Material>,
    /// By name.
    pub sources: Vec<String>,
    /// The origin in steps.
    pub origin: [i64; 3],
    /// log2 of a tile's side in steps.
    pub tile_log2: u32,
    /// log2 of the steps in metres.
    pub step: [i32; 2],
    /// Least and greatest coordinates of mesh and fields, in steps from the origin.
    pub bounds: [[i32; 3]; 2],
    /// Whether every position of the scene was a lattice point, and every post of an image.
    pub exact: bool,
    /// Error of the scene itself.
    pub source_error: Option<SourceError>,
    /// Ceilings and obstacles: ascending, each once.
    pub walls: Vec<Wall>,
}

impl Mesh {
    /// Error against the source in plan and height, metres: half a step of rounding, the farthest of these moves, and
    /// the fit of these fields. Fields are not repaired, but the sum is simple and above both. What the source itself
    /// is off by, if it is said, comes on top, and then rounding counts only where there was any.
    pub fn error<'a>(
        &self,
        moved: impl Iterator<Item = [f64; 2]>,
        fields: impl Iterator<Item = &'a Field>,
        source: Option<[f64; 2]>,
    ) -> [f64; 2] {
        let most = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
        let moved = moved.fold([0.0; 2], most);
        let fit = fields.map(|f| f.fit).fold([0.0; 2], most);
        let half = self.step.map(|log2| if self.exact && source.is_some() { 0.0 } else { exp2(log2 - 1) });
        let own = [
            (half[0] + fit[0]) * std::f64::consts::SQRT_2 + moved[0] * exp2(self.step[0]),
            half[1] + fit[1] + moved[1] * exp2(self.step[1]),
        ];
        let source = source.unwrap_or_default();
        [0, 1].map(|i| source[i] + own[i])
    }

    /// Error of the scene itself in each of these tiles, and the largest; none if nothing states it.
    pub fn source_error(&self, tiles: impl Iterator<Item = [i32; 2]>) -> Option<HashMap<[i32; 2], [f64; 2]>> {
        let known = self.source_error.as_ref()?;
        let mut all: HashMap<[i32; 2], [f64; 2]> = tiles.map(|at| (at, known.rest)).collect();
        for &[x, y, plan, height] in &known.squares {
            let scale = exp2(-self.step[0]);
            // saturating: beyond the domain there are no tiles
            let step = |v: f64, i: usize| (v * scale).round_ties_even() as i64 - self.origin[i];
            let low = [step(x, 0), step(y, 1)].map(|v| v >> self.tile_log2);
            let high = [step(x + known.side, 0), step(y + known.side, 1)].map(|v| (v - 1) >> self.tile_log2);
            let inside = |at: &[i32; 2]| (0..2).all(|i| (low[i]..=high[i]).contains(&i64::from(at[i])));
            let mut raise = |most: &mut [f64; 2]| *most = [most[0].max(plan), most[1].max(height)];
            if low == high {
                all.get_mut(&low.map(|v| v as i32)).into_iter().for_each(&mut raise);
            } else {
                all.iter_mut().filter(|(at, _)| inside(at)).for_each(|(_, most)| raise(most));
            }
        }
        Some(all)
    }
}

/// The box of no places.
pub const NO_BOX: [[i32; 3]; 2] = [[i32::MAX; 3], [i32::MIN; 3]];

/// The box of two boxes.
pub fn widened<T: Copy + Ord, const N: usize>(a: [[T; N]; 2], b: [[T; N]; 2]) -> [[T; N]; 2] {
    [std::array::from_fn(|i| a[0][i].min(b[0][i])), std::array::from_fn(|i| a[1][i].max(b[1][i]))]
}

/// Corners counter-clockwise in plan, the least first; none without plan area.
pub fn oriented(v: [u32; 3], vertices: &[[i32; 3]]) -> Option<[u32; 3]> {
    let [a, b, c] = v.map(|i| vertices[i as usize]);
    upward(v, area2(a, b, c))
}

/// The same of corners with twice this plan area, positive if they are counter-clockwise.
pub fn upward(mut v: [u32; 3], area: i128) -> Option<[u32; 3]> {
    if area < 0 {
        v.swap(1, 2);
    }
    (area != 0).then(|| least_first(v))
}

/// Corners in the same sense of turning, the least first.
pub fn least_first(v: [u32; 3]) -> [u32; 3] {
    let [a, b, c] = v;
    if a < b && a < c {
        v
    } else if b < c {
        [b, c, a]
    } else {
        [c, a, b]
    }
}

/// An edge, whatever its direction.
pub fn edge(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}
