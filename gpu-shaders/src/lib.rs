//! The data-parallel stages of the Hardpan builder.
//!
//! A stage is a function from arrays to arrays. Each exists twice: on the CPU ([`Cpu`], which every build runs) and,
//! with the feature `wgpu`, in compute shaders (`Gpu`). Both give the same arrays to the bit: all numbers are integers,
//! and every output is an exact function of the input that knows no order, chunk or device.
//!
//! | stage | from | to |
//! | --- | --- | --- |
//! | [`number`](Stages::number) | points | their order, and which lie on one place |
//! | [`squares`](Stages::squares) | triangles | which squares of the plan each meets |
//! | [`cells`](Stages::cells) | triangles and grids | which cells each meets, and whose middles it covers |
//! | [`heights`](Stages::heights), [`layers`](Stages::layers) | triangles and places | the ground at each place |
//!
//! ```
//! use hardpan_shaders::{Cpu, Face, Ground, Pick, Posts, Stages};
//!
//! // lattice steps; one triangle, counter-clockwise
//! let vertices = [[0, 0, 0], [64, 0, 0], [0, 64, 64]];
//! let faces = [Face { v: [0, 1, 2], material: 0, source: 0 }];
//! let ground = Ground { vertices: &vertices, faces: &faces };
//! // places on the query grid, 256 to a step
//! let posts = Posts { x: &[16 * 256], y: &[16 * 256, 63 * 256] };
//! let heights = Cpu::new().heights(ground, posts, Pick::Highest);
//! assert_eq!((heights.z[0], heights.owner[0]), (16 * 256, 0));
//! assert_eq!(heights.owner[1], hardpan_shaders::NONE);
//! ```
#![forbid(unsafe_code)]

mod cpu;
#[cfg(feature = "wgpu")]
pub mod gpu;
mod mix;
pub mod plan;
pub mod sort;
#[doc(hidden)]
pub mod wgsl;
mod work;

pub use cpu::Cpu;
pub use cpu::cells::members;
#[cfg(feature = "wgpu")]
pub use gpu::Gpu;

/// A triangle on the lattice: 16 bytes, as shaders read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
pub struct Face {
    /// Vertex numbers.
    pub v: [u32; 3],
    /// Material number.
    pub material: u16,
    /// Source number.
    pub source: u16,
}

impl Face {
    /// A triangle that is nowhere: its corners are no vertices.
    pub fn is_outside(&self) -> bool {
        self.v[0] == NONE
    }

    /// Numbers that order faces as they are ordered.
    pub fn key(&self) -> [u32; 4] {
        let [a, b, c] = self.v;
        [a, b, c, u32::from(self.material) << 16 | u32::from(self.source)]
    }

    /// The face of such numbers.
    pub fn of_key([a, b, c, kind]: [u32; 4]) -> Face {
        Face { v: [a, b, c], material: (kind >> 16) as u16, source: kind as u16 }
    }
}

/// Triangles, counter-clockwise in plan and with plan area above zero.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// Lattice steps from the origin.
    pub vertices: &'a [[i32; 3]],
    /// Numbers of vertices, each below their count.
    pub faces: &'a [Face],
}

impl Ground<'_> {
    /// The corners of a triangle.
    #[inline]
    pub fn corners(&self, face: u32) -> [[i32; 3]; 3] {
        self.faces[face as usize].v.map(|v| self.vertices[v as usize])
    }
}

/// Points in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbered {
    /// Numbers of the points, ascending by x, y, z, then by number.
    pub order: Vec<u32>,
    /// Where in `order` the points of each place start; last how many points there are.
    pub starts: Vec<u32>,
}

/// Which triangles meet each square of the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Squares {
    /// Column and row of the squares that triangles meet, ascending by [`sort::morton`] of both plus 2^31.
    pub squares: Vec<[i32; 2]>,
    /// Where in `faces` those of each square start; last how many there are.
    pub starts: Vec<u32>,
    /// Numbers of triangles, ascending for each square.
    pub faces: Vec<u32>,
}

/// A rectangle of blocks of 4 by 2 cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Its least corner, steps.
    pub low: [i64; 2],
    /// log2 of a block's sides in steps: at least 2 and 1.
    pub block_log2: [u32; 2],
    /// log2 of the count of blocks along x and y, at most 8.
    pub side_log2: [u32; 2],
}

/// A triangle in a block of cells: cell k lies in column `k & 3` and row `k >> 2` of the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// The block: row times columns plus column.
    pub block: u32,
    /// Where the triangle stands in the list that was given.
    pub at: u32,
    /// Bit k: it meets cell k.
    pub met: u8,
    /// Bit k: it covers the middle of cell k.
    pub central: u8,
}

/// Places of a grid on the query grid: 2^-8 of lattice steps from the origin.
#[derive(Clone, Copy, Debug)]
pub struct Posts<'a> {
    /// Columns, ascending, each once.
    pub x: &'a [i64],
    /// Rows, ascending, each once.
    pub y: &'a [i64],
}

/// Which of several heights at a place counts: in 2^-8 of height steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The greatest.
    Highest,
    /// The least.
    Lowest,
    /// The greatest that is not above this.
    HighestUpTo(i64),
    /// The nearest to this, of two the lower one.
    NearestTo(i64),
}

/// No triangle.
pub const NONE: u32 = u32::MAX;

/// One height at each place, row by row from the least y.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heights {
    /// Height in 2^-8 of steps: the exact one, rounded once, half-even. Zero where there is none.
    pub z: Vec<i64>,
    /// The triangle: of those of equal height the first. [`NONE`] where there is none.
    pub owner: Vec<u32>,
}

/// All heights at each place, row by row from the least y.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    /// Where those of each place start; last how many there are.
    pub starts: Vec<u64>,
    /// Heights as of [`Heights`], descending, each once.
    pub z: Vec<i64>,
    /// The first of triangles of equal height.
    pub owner: Vec<u32>,
}

/// The stages on a backend.
pub trait Stages: Sync {
    /// Name of the device, in one line.
    fn name(&self) -> String;

    /// Sorts points: offsets from some least corner. At most 2^32 - 2 of them.
    fn number(&self, points: &[[u32; 3]]) -> Numbered;

    /// Which squares of side 2^`log2` steps each triangle meets, by [`plan::Plan::meets`].
    fn squares(&self, ground: Ground, log2: u32) -> Squares;

    /// Which cells of some grids triangles meet and cover the middles of, by [`plan::Under::cells`]: of each grid the
    /// numbers of its triangles. The members of each come block by block, and in a block as the triangles were given.
    fn cells(&self, ground: Ground, grids: &[(Blocks, &[u32])]) -> Vec<Vec<Member>>;

    /// The same of one grid and so many triangles that are in plan already. None if it is better asked with others.
    fn cells_in_plan(&self, _: &Blocks, _: usize, _: &mut dyn Iterator<Item = plan::Plan>) -> Option<Vec<Member>> {
        None
    }

    /// About how many triangles [`cells`](Self::cells) should be given at once, and by one thread at a time. None if
    /// many threads may as well give it one grid each.
    fn cells_at_once(&self) -> Option<usize>;

    /// One height at each place.
    fn heights(&self, ground: Ground, posts: Posts, pick: Pick) -> Heights;

    /// All heights at each place.
    fn layers(&self, ground: Ground, posts: Posts) -> Layers;

    /// Work so far, a line for each stage that ran.
    fn work(&self) -> Vec<Work>;
}

/// Work of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Name of the stage.
    pub stage: &'static str,
    /// Whether it ran on a device.
    pub device: bool,
    /// Chunks that it took.
    pub chunks: u64,
    /// Chunks that the device failed at, and the CPU did again.
    pub redone: u64,
    /// Items that the CPU did by rule, because shaders do not take them.
    pub on_host: u64,
    /// Items given.
    pub items: u64,
    /// Wall time in seconds; of calls at the same time the sum.
    pub seconds: f64,
    /// Bytes to the device and back.
    pub bytes: u64,
}
