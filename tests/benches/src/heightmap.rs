//! The cheapest useful look-up there is: bilinear heights in f32, one layer, z and slope.

use crate::{Query, Surface, scenes};

pub struct Heightmap {
    low: [f64; 2],
    per_metre: [f64; 2],
    size: [usize; 2],
    posts: Vec<f32>,
}

impl Heightmap {
    /// `size` posts over `low..high`.
    pub fn new(low: [f64; 2], high: [f64; 2], size: [usize; 2], z: impl Fn(f64, f64) -> f64) -> Heightmap {
        let pitch = [0, 1].map(|a| (high[a] - low[a]) / (size[a] - 1) as f64);
        let posts = (0..size[0] * size[1])
            .map(|k| z(low[0] + (k % size[0]) as f64 * pitch[0], low[1] + (k / size[0]) as f64 * pitch[1]) as f32)
            .collect();
        Heightmap { low, per_metre: pitch.map(|p| 1.0 / p), size, posts }
    }

    /// The hills, in so many cells.
    pub fn hills(columns: usize, rows: usize) -> Heightmap {
        Heightmap::new([-1000.0; 2], [1000.0; 2], [columns + 1, rows + 1], |x, y| scenes::hills(x + 1000.0, y + 1000.0))
    }

    /// Heights, row by row from the south.
    pub fn posts(&self) -> impl Iterator<Item = f32> {
        self.posts.iter().copied()
    }

    #[inline(always)]
    pub fn at(&self, q: &Query) -> Surface {
        let [u, v] = [0, 1].map(|a| (q.at[a] - self.low[a]) * self.per_metre[a]);
        let i = u.clamp(0.0, (self.size[0] - 2) as f64) as usize;
        let j = v.clamp(0.0, (self.size[1] - 2) as f64) as usize;
        let (u, v) = ((u - i as f64) as f32, (v - j as f64) as f32);
        let k = j * self.size[0] + i;
        let [sw, se] = [self.posts[k], self.posts[k + 1]];
        let [nw, ne] = [self.posts[k + self.size[0]], self.posts[k + self.size[0] + 1]];
        let (south, north) = (sw + (se - sw) * u, nw + (ne - nw) * u);
        let east = (se - sw) + ((ne - nw) - (se - sw)) * v;
        Surface {
            z: (south + (north - south) * v).into(),
            slope: [f64::from(east) * self.per_metre[0], f64::from(north - south) * self.per_metre[1]],
        }
    }
}
