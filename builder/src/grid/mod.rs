//! Heights of the ground on squares: a grid over a mesh or an image.
//!
//! A mesh is sampled as it would stand in its image, so both give one grid. Heights at centres come from the stage
//! `heights`, those of fields and of ground with precedence from the kernel; both are the exact ones, rounded once.
//! Hidden ground has no heights. What holds of a whole square, `over` finds.
//!
//! ```
//! use hardpan_builder::grid::{Rule, Sampler};
//! use hardpan_builder::{Options, demo::fixtures};
//!
//! let stages = hardpan_shaders::Cpu::new();
//! let (ground, _) = Sampler::of_scene(&fixtures::bridge(), &Options::default(), &stages).unwrap();
//! let squares = ground.squares(10.0).unwrap();
//! let grid = ground.grid(&squares, Rule::Highest, &stages, &mut |_| ()).unwrap();
//! assert_eq!((squares.columns, squares.rows, squares.centre([0, 0])), (10, 10, [-45.0, -45.0]));
//! assert_eq!((grid.at([0, 0]), grid.at([4, 0])), (Some(0.0), Some(6.0))); // the border of the deck is ground
//! ```

mod estimate;
mod fit;
mod oracle;
mod over;
mod raster;
#[cfg(feature = "command")]
mod tiff;
#[cfg(feature = "command")]
pub mod write;

pub use estimate::{Estimate, Places, machine_memory};
pub use fit::{Fitted, fitted};
pub use oracle::Differs;
pub use raster::{FieldPosts, Fit};

use crate::build::error::{BuildError, Limit, NoSample};
use crate::build::lattice::{Mesh, NO_BOX, widened};
use crate::build::stage::error_quantiles::upright;
use crate::build::{build, job};
use crate::image::{Image, as_source, decode};
use crate::options::Options;
use crate::report::Report;
use crate::scene::{Material, Scene, features};
use crate::util::exact::exp2;
use crate::util::text::decimal;
use hardpan::format::FRACTION;
use hardpan::{Answer, Hit, Point, Reach, Terrain};
use hardpan_shaders::sort::lists;
use hardpan_shaders::{Face, Ground, NONE, Pick, Posts, Stages};
use rayon::prelude::*;
use std::{collections::BTreeSet, fmt, ops::Range, str::FromStr};

/// Most squares of a grid.
pub const MAX_SQUARES: u64 = 1 << 31;
/// About how many squares are done at once.
const STRIP: usize = 1 << 21;
/// Rows of a strip are so many times a whole number, as the stage takes them.
const BAND: usize = 16;

/// Which height a square has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// The highest at its centre.
    Highest,
    /// The lowest at its centre.
    Lowest,
    /// The highest at its centre that is not above this, metres.
    HighestBelow(f64),
    /// The nearest to this at its centre, metres; of two the lower one.
    Nearest(f64),
    /// The least of all ground over it, its border included.
    CellLeast,
    /// The greatest of all ground over it, its border included.
    CellGreatest,
    /// The mean of all ground over it, by plan area; where sheets lie over each other each counts.
    CellMean,
}

impl Rule {
    /// Whether all of a square counts, and not its centre alone.
    pub fn is_of_cells(self) -> bool {
        matches!(self, Rule::CellLeast | Rule::CellGreatest | Rule::CellMean)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::HighestBelow(z) => write!(f, "highest-below={}", decimal(*z)),
            Rule::Nearest(z) => write!(f, "nearest={}", decimal(*z)),
            plain => f.write_str(PLAIN.iter().find(|(_, rule)| rule == plain).map_or("", |(name, _)| name)),
        }
    }
}

/// Rules without a height, by name.
const PLAIN: [(&str, Rule); 5] = [
    ("highest", Rule::Highest),
    ("lowest", Rule::Lowest),
    ("cell-least", Rule::CellLeast),
    ("cell-greatest", Rule::CellGreatest),
    ("cell-mean", Rule::CellMean),
];

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, rule)) = PLAIN.iter().find(|(name, _)| *name == text) {
            return Ok(*rule);
        }
        let (name, z) = text.split_once('=').unwrap_or((text, ""));
        let of: fn(f64) -> Rule = match name {
            "highest-below" => Rule::HighestBelow,
            "nearest" => Rule::Nearest,
            _ => {
                let plain = PLAIN.map(|(name, _)| name).join(", ");
                return Err(format!("rules are {plain}, highest-below=Z and nearest=Z"));
            }
        };
        let z = z.parse().ok().filter(|z: &f64| z.abs() < 1e12);
        z.map(of).ok_or_else(|| format!("it needs a height in metres, as in {name}=3"))
    }
}

/// Where the squares of a grid lie.
#[derive(Clone, Debug, PartialEq)]
pub struct Squares {
    /// Least and greatest x and y of the ground, metres; the first square has its corner at the least.
    pub extent: [[f64; 2]; 2],
    /// Side of a square, metres.
    pub cell: f64,
    /// Squares from west to east.
    pub columns: usize,
    /// Squares from south to north.
    pub rows: usize,
    /// Resolution of the extent, metres.
    known: f64,
}

impl Squares {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.columns * self.rows
    }

    /// Each of them, row by row from the south: column and row.
    pub fn all(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        let Squares { columns, rows, .. } = *self;
        (0..rows).flat_map(move |row| (0..columns).map(move |column| [column, row]))
    }

    /// The centre along an axis.
    pub fn along(&self, axis: usize, i: usize) -> f64 {
        self.extent[0][axis] + (i as f64 + 0.5) * self.cell
    }

    /// The centre of a square: column and row.
    pub fn centre(&self, [column, row]: [usize; 2]) -> [f64; 2] {
        [self.along(0, column), self.along(1, row)]
    }

    /// Whether a square reaches beyond the extent of the ground, by more than that is known to.
    pub fn is_partial(&self, at: [usize; 2]) -> bool {
        (0..2).any(|k| self.reaches_beyond(k, at[k]))
    }

    /// Whether squares of a column or row do so along its axis.
    pub fn reaches_beyond(&self, axis: usize, i: usize) -> bool {
        self.extent[0][axis] + (i as f64 + 1.0) * self.cell - self.extent[1][axis] >= self.known
    }
}

/// Output of heights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// An array or a table with one for each place.
    Grid,
    /// The same with all of each place.
    Stack,
    /// An image with a field.
    Field,
}

/// Rows of a strip.
fn strip_rows(columns: usize) -> usize {
    (STRIP / columns.max(1)).div_ceil(BAND).max(2) * BAND
}

/// Heights on squares.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Where they lie.
    pub squares: Squares,
    /// Metres, row by row from the south; NaN where there is no ground.
    pub heights: Vec<f64>,
}

impl Grid {
    /// The height of a square: column and row.
    pub fn at(&self, [column, row]: [usize; 2]) -> Option<f64> {
        Some(self.heights[row * self.squares.columns + column]).filter(|z| !z.is_nan())
    }

    /// The square over a place, if there is one.
    pub fn over(&self, place: [f64; 2]) -> Option<[usize; 2]> {
        let Squares { extent, cell, columns, rows, .. } = &self.squares;
        let number = |k: usize| (place[k] - extent[0][k]) / cell;
        let within = |v: f64, most: usize| (v >= 0.0 && v < most as f64).then_some(v as usize);
        Some([within(number(0), *columns)?, within(number(1), *rows)?])
    }

    /// How many squares have ground, and the least and greatest height.
    pub fn facts(&self) -> (u64, Option<[f64; 2]>) {
        let ground = || self.heights.par_iter().copied().filter(|z| !z.is_nan());
        let ends = ground().map(|z| [z; 2]).reduce_with(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        (ground().count() as u64, ends)
    }
}

/// All heights at the centre of each square, highest first.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Where they lie.
    pub squares: Squares,
    /// Where those of each square start, row by row from the south; last how many there are.
    pub starts: Vec<u64>,
    /// Metres.
    pub heights: Vec<f64>,
}

impl Stack {
    /// The heights of a square: column and row.
    pub fn at(&self, [column, row]: [usize; 2]) -> &[f64] {
        let i = row * self.squares.columns + column;
        &self.heights[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// The most heights of a square.
    pub fn most(&self) -> u64 {
        self.starts.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0)
    }
}

/// Heights of squares: one of each, or all.
pub enum Heights {
    One(Grid),
    All(Stack),
}

impl Heights {
    /// Where they lie.
    pub fn squares(&self) -> &Squares {
        match self {
            Heights::One(grid) => &grid.squares,
            Heights::All(stack) => &stack.squares,
        }
    }

    /// Those of a square, column and row, highest first.
    pub fn at(&self, at: [usize; 2]) -> &[f64] {
        match self {
            Heights::One(grid) => {
                grid.at(at).map_or(&[], |_| &grid.heights[at[1] * grid.squares.columns + at[0]..][..1])
            }
            Heights::All(stack) => stack.at(at),
        }
    }

    /// How many squares have ground, the least and greatest height, and the most heights of a square.
    pub fn facts(&self) -> (u64, Option<[f64; 2]>, u64) {
        match self {
            Heights::One(grid) => {
                let (with, ends) = grid.facts();
                (with, ends, u64::from(with > 0))
            }
            Heights::All(stack) => {
                let with = stack.starts.windows(2).filter(|w| w[1] > w[0]).count() as u64;
                let ends = stack.heights.iter().map(|z| [*z; 2]).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
                (with, ends, stack.most())
            }
        }
    }
}

/// An image whose heights the kernel finds: the stages know no fields of heights and no precedence.
#[allow(clippy::large_enum_variant)] // one of them is made, once
enum Asked<'a> {
    Lent(Terrain<'a>),
    Own(Image),
}

/// Ground that grids are sampled from.
pub struct Sampler<'a> {
    vertices: Vec<[i32; 3]>,
    faces: Vec<Face>,
    /// The origin in steps, and log2 of the steps in metres.
    origin: [i64; 3],
    step: [i32; 2],
    asked: Option<Asked<'a>>,
    /// Least and greatest coordinates of the ground in steps from the origin.
    bounds: [[i32; 3]; 2],
    /// Heights closer than this to the one above them are one layer: query steps.
    merge: i64,
    materials: Vec<Material>,
    /// Numbers of those of the ground.
    used: BTreeSet<u16>,
    sources: Vec<String>,
    /// Places on the source, metres.
    places: Vec<[f64; 3]>,
}

impl<'a> Sampler<'a> {
    /// The ground of a scene, as its image would have it.
    pub fn of_scene(scene: &Scene, options: &Options, stages: &dyn Stages) -> Result<(Self, Report), BuildError> {
        let used: BTreeSet<u16> = scene.triangles.iter().map(|t| t.material).collect();
        if !scene.fields.is_empty() || features(&materials_of(&scene.materials, &used)) != 0 {
            let built = build(scene, options)?;
            let t = Terrain::open(&built.image).map_err(|e| BuildError::Scene(e.to_string()))?;
            let ground = Sampler::of_mesh_in(&t);
            return Ok((Sampler { asked: Some(Asked::Own(built.image)), ..ground }, built.report));
        }
        let (mesh, report) = job::mesh(scene, options, stages)?;
        let merge = (options.layer_merge * exp2(FRACTION as i32 - options.z_log2)).round_ties_even() as i64;
        Ok((Sampler::of_mesh(mesh, merge), report))
    }

    fn of_mesh(mesh: Mesh, merge: i64) -> Self {
        let Mesh { vertices, faces, origin, step, bounds, materials, sources, places, .. } = mesh;
        let used = faces.iter().map(|f| f.material).collect();
        Sampler { vertices, faces, origin, step, asked: None, bounds, merge, materials, used, sources, places }
    }

    /// The ground of a verified image.
    pub fn of_image(t: &Terrain<'a>) -> Self {
        let asked = (t.header().patch_blocks > 0 || t.has_precedence()).then_some(Asked::Lent(*t));
        Sampler { asked, ..Sampler::of_mesh_in(t) }
    }

    /// The same of its triangles alone, as if none were hidden.
    fn of_mesh_in(t: &Terrain) -> Self {
        let h = t.header();
        let (vertices, faces) = decode::mesh(t);
        let of_patches = decode::tiles(t).flat_map(|tile| {
            let palette = tile.palette();
            tile.patches().iter().filter_map(|p| palette.get(usize::from(p.attribute))).map(|a| a.material)
        });
        let used = faces.iter().map(|f| f.material).chain(of_patches).collect();
        let materials = (0..t.materials().len()).map(|m| as_source::material(t, m as u16)).collect();
        let sources = (0..t.source_count()).map(|s| t.source_name(s as u16).into()).collect();
        let (bounds, merge) = ([h.min, h.max], h.layer_merge);
        let (origin, step, places) = (h.origin, [h.xy_log2, h.z_log2], Vec::new());
        Sampler { vertices, faces, origin, step, asked: None, bounds, merge, materials, used, sources, places }
    }

    /// How many triangles there are.
    pub fn triangles(&self) -> usize {
        self.faces.len()
    }

    /// Whether some of the ground is fields of heights.
    fn has_fields(&self) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.terrain().header().patch_blocks > 0)
    }

    /// Whether some of the ground hides other ground, or gives friction alone.
    fn has_precedence(&self) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.terrain().has_precedence())
    }

    /// Leaves out triangles of which a corner is above a height, metres, or with `all` every corner; says how many. The
    /// height is rounded as corners are. None may be left: then there is no ground.
    ///
    /// # Errors
    ///
    /// [`BuildError::Sample`] for an image with fields of heights, which have no corners, or with precedence.
    pub fn ignore_above(&mut self, height: f64, all: bool) -> Result<usize, BuildError> {
        if self.has_fields() {
            return Err(BuildError::Sample(NoSample::FacesOfFields));
        }
        if self.has_precedence() {
            return Err(BuildError::Sample(NoSample::FacesOfPrecedence));
        }
        let most = self.lattice_height(height);
        let before = self.faces.len();
        let Sampler { vertices, faces, .. } = self;
        faces.retain(|f| {
            let mut above = f.v.iter().map(|v| i64::from(vertices[*v as usize][2]) > most);
            if all { !above.all(|a| a) } else { !above.any(|a| a) }
        });
        let gone = before - faces.len();
        if gone > 0 {
            self.used = self.faces.iter().map(|f| f.material).collect();
            self.places.clear(); // some lie on what is left out
            let corners = self.faces.par_iter().flat_map_iter(|f| f.v).map(|v| [self.vertices[v as usize]; 2]);
            self.bounds = corners.reduce(|| NO_BOX, widened);
        }
        Ok(gone)
    }

    /// A height on the lattice, as corners are rounded: steps from the origin.
    fn lattice_height(&self, metres: f64) -> i64 {
        // far beyond the domain all heights are alike
        const FAR: i64 = 1 << 40;
        ((metres * exp2(-self.step[1])).round_ties_even() as i64).saturating_sub(self.origin[2]).clamp(-FAR, FAR)
    }

    /// Squares of such a side over the extent of the ground, from its least corner on: as many as it takes along each
    /// axis. The extent is known to a lattice step, and that of fields, which an image states rounded outwards, to
    /// four; so what reaches less into a further square makes none.
    ///
    /// # Errors
    ///
    /// [`BuildError::Empty`] without ground, [`BuildError::Limit`] if they are too small or too many.
    pub fn squares(&self, cell: f64) -> Result<Squares, BuildError> {
        let step = exp2(self.step[0]);
        let [low, high] = self.bounds;
        if self.faces.is_empty() && self.asked.is_none() {
            return Err(BuildError::Empty);
        }
        let metres = |v: i32, k: usize| (self.origin[k] + i64::from(v)) as f64 * step;
        let extent = [low, high].map(|v| [metres(v[0], 0), metres(v[1], 1)]);
        let sides = [0, 1].map(|k| extent[1][k] - extent[0][k]);
        if !(cell > 0.0 && cell.is_finite()) {
            return Err(BuildError::Option("the side of a square is above 0 m".into()));
        }
        if cell < step {
            return Err(Limit::SmallSquares { side: cell, step }.into());
        }
        let known = if self.has_fields() { 4.0 * step } else { step };
        let count = sides.map(|side| ((side - known) / cell).floor() + 1.0);
        if count[0] * count[1] > MAX_SQUARES as f64 {
            let least = (sides[0] * sides[1] / MAX_SQUARES as f64).sqrt();
            // two digits, rounded up, as the nearest number to what is typed
            let tens = least.log10().floor() as i32 - 1;
            let digits = (least / 10f64.powi(tens)).ceil();
            let side = format!("{digits}e{tens}").parse().unwrap_or(least);
            return Err(Limit::Squares { count: count.map(|n| n as u64), most: MAX_SQUARES, side }.into());
        }
        let [columns, rows] = count.map(|n| (n as usize).max(1));
        Ok(Squares { extent, cell, columns, rows, known })
    }

    /// Squares within a stated extent, [x, y, x, y]: `cell` goes into it a whole number of times each way. What lies
    /// outside is left out.
    ///
    /// # Errors
    ///
    /// [`BuildError::Empty`] without ground, [`BuildError::Option`] if the extent takes no whole number of squares,
    /// [`BuildError::Limit`] if they are too small or too many.
    pub fn squares_in(&self, [x0, y0, x1, y1]: [f64; 4], cell: f64) -> Result<Squares, BuildError> {
        self.squares(cell.max(1.0).max((x1 - x0).max(y1 - y0)))?;
        let step = exp2(self.step[0]);
        if cell < step {
            return Err(Limit::SmallSquares { side: cell, step }.into());
        }
        let count = [(x1 - x0) / cell, (y1 - y0) / cell].map(|n| (n, n.round()));
        if count.iter().any(|(n, whole)| !(*whole >= 1.0 && (n - whole).abs() < 1e-6 * whole.max(1.0))) {
            let [x, y] = [x1 - x0, y1 - y0].map(decimal);
            let text = format!("squares of {} m do not go into {x} by {y} m a whole number of times", decimal(cell));
            return Err(BuildError::Option(text));
        }
        let [columns, rows] = count.map(|(_, whole)| whole);
        if columns * rows > MAX_SQUARES as f64 {
            let side = ((x1 - x0) * (y1 - y0) / MAX_SQUARES as f64).sqrt();
            return Err(Limit::Squares { count: [columns as u64, rows as u64], most: MAX_SQUARES, side }.into());
        }
        let [columns, rows] = [columns as usize, rows as usize];
        Ok(Squares { extent: [[x0, y0], [x1, y1]], cell, columns, rows, known: step })
    }

    /// Bytes of heights at so many columns and rows, of the mesh, which is there, and of all arrays that are made while
    /// they are sampled and made something of: the most that is there at once, as far as it can be known.
    pub fn memory(&self, [columns, rows]: [usize; 2], hits: f64, made: Made) -> [u64; 3] {
        let (count, faces) = (columns as u64 * rows as u64, self.faces.len() as u64);
        let strip = (columns * strip_rows(columns).min(rows)) as u64;
        // of all heights those of one strip, and what was before them
        let each = |bytes: f64| (hits * bytes) as u64;
        let share = strip as f64 / count.max(1) as f64;
        let heights = if made == Made::Stack { 8 * count + each(8.0) } else { 8 * count };
        // mesh, what each face is listed in, and a strip's heights and owners
        let sampled = match made {
            // hits as they are found and sorted
            Made::Stack => heights + 12 * strip + each(30.0 * share),
            _ => heights + 12 * strip,
        };
        // blocks, tiles of them, and the image of these, which is then read again
        let packed = if made == Made::Field { heights + 14 * count } else { 0 };
        let mesh = 12 * self.vertices.len() as u64 + 16 * faces;
        [heights, mesh, (sampled + 32 * faces).max(packed)]
    }

    /// About how many hits places so far apart have: how often they lie under the plan of a triangle.
    pub fn hits(&self, apart: f64) -> f64 {
        self.hits_of(&self.faces, apart * exp2(-self.step[0]))
    }

    /// The same of some triangles, for places so many lattice steps apart.
    fn hits_of(&self, faces: &[Face], steps: f64) -> f64 {
        let area = |f: &Face| {
            let [a, b, c] = f.v.map(|v| self.vertices[v as usize].map(f64::from));
            (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        };
        faces.iter().map(area).sum::<f64>() / 2.0 / (steps * steps)
    }

    /// A place along an axis on the query grid, from the origin: rounded once, half to even.
    fn query(&self, axis: usize, metres: f64) -> i64 {
        let scaled = metres * exp2(FRACTION as i32 - self.step[0]);
        scaled.round_ties_even() as i64 - (self.origin[axis] << FRACTION)
    }

    /// Where posts are asked for: those that lie less than a lattice step beyond the extent, which is known to a step,
    /// at its border.
    pub fn inside(&self, posts: &FieldPosts) -> [Vec<f64>; 2] {
        let step = exp2(self.step[0]);
        [(0, &posts.x), (1, &posts.y)].map(|(k, along)| {
            let [low, high] = self.bounds.map(|v| (self.origin[k] + i64::from(v[k])) as f64 * step);
            let inside = |v: &f64| if low - step < *v && *v < high + step { v.clamp(low, high) } else { *v };
            along.iter().map(inside).collect()
        })
    }

    /// Places along both axes, which ascend.
    fn places(&self, xs: &[f64], ys: &[f64]) -> [Vec<i64>; 2] {
        [(0, xs), (1, ys)].map(|(axis, all)| all.iter().map(|v| self.query(axis, *v)).collect())
    }

    fn ground(&self) -> Ground<'_> {
        Ground { vertices: &self.vertices, faces: &self.faces }
    }

    /// A height of a stage in metres.
    fn metres(&self, z: i64) -> f64 {
        (z + (self.origin[2] << FRACTION)) as f64 * exp2(self.step[1] - FRACTION as i32)
    }

    fn pick(&self, rule: Rule) -> Pick {
        match rule {
            Rule::Lowest => Pick::Lowest,
            Rule::HighestBelow(z) => Pick::HighestUpTo(self.lattice_height(z) << FRACTION),
            Rule::Nearest(z) => Pick::NearestTo(self.lattice_height(z) << FRACTION),
            _ => Pick::Highest,
        }
    }

    /// Whether this ground can be sampled by a rule, none of all heights, and compared with the oracle.
    ///
    /// # Errors
    ///
    /// [`BuildError::Sample`] for an image with fields of heights or precedence and a rule of whole squares or the
    /// oracle, which know triangles alone, and for the oracle and a rule of whole squares, as it asks at centres.
    pub fn check(&self, rule: Option<Rule>, oracle: bool) -> Result<(), BuildError> {
        let of_cells = rule.is_some_and(Rule::is_of_cells);
        Err(BuildError::Sample(match (self.has_fields(), self.has_precedence(), of_cells, oracle) {
            (true, _, true, _) => NoSample::SquaresOfFields,
            (true, _, _, true) => NoSample::OracleOfFields,
            (_, true, true, _) => NoSample::SquaresOfPrecedence,
            (_, true, _, true) => NoSample::OracleOfPrecedence,
            (_, _, true, true) => NoSample::OracleOfSquares,
            _ => return Ok(()),
        }))
    }

    /// The heights of squares; `tell` hears which share of the rows is done, up to 1.
    ///
    /// # Errors
    ///
    /// As of [`check`](Self::check).
    pub fn grid(
        &self,
        squares: &Squares,
        rule: Rule,
        stages: &dyn Stages,
        tell: &mut dyn FnMut(f64),
    ) -> Result<Grid, BuildError> {
        self.check(Some(rule), false)?;
        if rule.is_of_cells() {
            return Ok(Grid { heights: self.over_cells(squares, rule, tell), squares: squares.clone() });
        }
        let FieldPosts { x, y, .. } = squares.posts();
        Ok(Grid { heights: self.at_posts(&x, &y, rule, stages, tell), squares: squares.clone() })
    }

    /// [`grid`](Self::grid) by a rule, [`stack`](Self::stack) without one.
    ///
    /// # Errors
    ///
    /// As of [`check`](Self::check).
    pub fn heights(
        &self,
        squares: &Squares,
        rule: Option<Rule>,
        stages: &dyn Stages,
        tell: &mut dyn FnMut(f64),
    ) -> Result<Heights, BuildError> {
        match rule {
            Some(rule) => self.grid(squares, rule, stages, tell).map(Heights::One),
            None => Ok(Heights::All(self.stack(squares, stages, tell))),
        }
    }

    /// Heights at posts, which ascend along both axes: row by row from the south, NaN where there is no ground.
    pub fn at_posts(
        &self,
        xs: &[f64],
        ys: &[f64],
        rule: Rule,
        stages: &dyn Stages,
        tell: &mut dyn FnMut(f64),
    ) -> Vec<f64> {
        let mut heights = vec![f64::NAN; xs.len() * ys.len()];
        let [x, y] = self.places(xs, ys);
        let pick = self.pick(rule);
        if let Some(asked) = &self.asked {
            let t = asked.terrain();
            for rows in strips(x.len(), y.len()) {
                let out = &mut heights[rows.start * x.len()..rows.end * x.len()];
                out.par_chunks_mut(x.len()).zip(&y[rows.clone()]).for_each(|(out, y)| {
                    out.iter_mut().zip(&x).for_each(|(out, x)| *out = self.ask(&t, [*x, *y], pick));
                });
                tell(rows.end as f64 / y.len() as f64);
            }
            return heights;
        }
        self.by_strips([&y, &y], x.len(), |rows, faces| {
            let posts = Posts { x: &x, y: &y[rows.clone()] };
            let found = stages.heights(Ground { faces, ..self.ground() }, posts, pick);
            let out = &mut heights[rows.start * x.len()..rows.end * x.len()];
            let all = out.par_iter_mut().zip(&found.z).zip(&found.owner);
            all.filter(|(_, owner)| **owner != NONE).for_each(|((out, z), _)| *out = self.metres(*z));
            tell(rows.end as f64 / y.len() as f64);
        });
        heights
    }

    /// All heights at the centres of squares, those that are one layer once, as an image lists them.
    pub fn stack(&self, squares: &Squares, stages: &dyn Stages, tell: &mut dyn FnMut(f64)) -> Stack {
        let posts = squares.posts();
        let [x, y] = self.places(&posts.x, &posts.y);
        let (mut starts, mut heights) = (vec![0u64], Vec::new());
        if let Some(asked) = &self.asked {
            let t = asked.terrain();
            for (row, y) in y.iter().enumerate() {
                let all_at = |room: &mut Vec<Hit>, x: &i64| self.all_at(&t, [*x, *y], room);
                for all in x.par_iter().map_init(|| vec![Hit::NONE; 16], all_at).collect::<Vec<_>>() {
                    heights.extend(all);
                    starts.push(heights.len() as u64);
                }
                tell((row + 1) as f64 / squares.rows as f64);
            }
        } else {
            self.by_strips([&y, &y], x.len(), |rows, faces| {
                let posts = Posts { x: &x, y: &y[rows.clone()] };
                let found = stages.layers(Ground { faces, ..self.ground() }, posts);
                for run in found.starts.windows(2) {
                    let mut last = None;
                    for z in &found.z[run[0] as usize..run[1] as usize] {
                        if last.is_none_or(|last| last - z >= self.merge) {
                            heights.push(self.metres(*z));
                            last = Some(*z);
                        }
                    }
                    starts.push(heights.len() as u64);
                }
                tell(rows.end as f64 / y.len() as f64);
            });
        }
        Stack { squares: squares.clone(), starts, heights }
    }

    /// Calls `work` with the rows of each strip and the triangles that may lie over them, in their order. Told is from
    /// where to where each row goes.
    fn by_strips(&self, [low, high]: [&[i64]; 2], columns: usize, mut work: impl FnMut(Range<usize>, &[Face])) {
        let all: Vec<Range<usize>> = strips(columns, low.len()).collect();
        if all.len() < 2 {
            return all.into_iter().for_each(|rows| work(rows, &self.faces));
        }
        let ends: Vec<[i64; 2]> = all.iter().map(|r| [low[r.start], high[r.end - 1]]).collect();
        let (starts, numbers) = self.listed(&self.faces, &ends);
        for (rows, run) in all.into_iter().zip(starts.windows(2)) {
            let of = &numbers[run[0] as usize..run[1] as usize];
            let faces: Vec<Face> = of.iter().map(|i| self.faces[*i as usize]).collect();
            work(rows, &faces);
        }
    }

    /// Which triangles reach into each of some ranges along y, which ascend: where those of each start, and their
    /// numbers.
    fn listed(&self, faces: &[Face], ends: &[[i64; 2]]) -> (Vec<u32>, Vec<u32>) {
        let meets = |f: &Face| {
            let v = f.v.map(|v| i64::from(self.vertices[v as usize][1]) << FRACTION);
            let (low, high) = (v[0].min(v[1]).min(v[2]), v[0].max(v[1]).max(v[2]));
            ends.partition_point(|e| e[1] < low)..ends.partition_point(|e| e[0] <= high)
        };
        let met: Vec<Range<usize>> = faces.par_iter().map(meets).collect();
        let pairs = met.iter().zip(0u32..).flat_map(|(all, i)| all.clone().map(move |k| (k as u32, i)));
        lists(ends.len(), pairs)
    }

    /// A place of the query grid in the source's frame, at a height from the origin.
    fn point(&self, [x, y]: [i64; 2], z: i64) -> Point {
        let [a, b, c] = self.origin.map(|o| o << FRACTION);
        Point { x: x + a, y: y + b, z: z + c }
    }

    /// Answer of the kernel at a place.
    fn ask(&self, t: &Terrain, at: [i64; 2], pick: Pick) -> f64 {
        const FAR: i64 = 1 << 42; // farther than any height lies from another
        let options = upright();
        let [low, high] = self.bounds.map(|v| i64::from(v[2]) << FRACTION);
        let (above, below) = (high + (1 << FRACTION), low - (1 << FRACTION));
        let nearest = |z: i64| t.closest_with(self.point(at, z.clamp(below, above)), &options);
        let answer: Answer = match pick {
            Pick::Highest => nearest(above),
            Pick::Lowest => nearest(below),
            Pick::NearestTo(z) => nearest(z),
            Pick::HighestUpTo(z) if z < below => return f64::NAN,
            Pick::HighestUpTo(z) => t.segment(self.point(at, z.min(above)), FAR),
        };
        if answer.found() { t.z_f64(&answer.hit) } else { f64::NAN }
    }

    /// All ground that the kernel lists at a place and that is not hidden. `room` grows to what is there, whatever the
    /// head states.
    fn all_at(&self, t: &Terrain, at: [i64; 2], room: &mut Vec<Hit>) -> Vec<f64> {
        let mut found = t.layers(self.point(at, 0), room);
        if found.total > room.len() {
            room.resize(found.total.min(decode::ROOM), Hit::NONE);
            found = t.layers(self.point(at, 0), room);
        }
        room[..found.written].iter().filter(|hit| hit.reach != Reach::Hidden).map(|hit| t.z_f64(hit)).collect()
    }
}

impl Asked<'_> {
    fn terrain(&self) -> Terrain<'_> {
        match self {
            Asked::Lent(t) => *t,
            Asked::Own(image) => Terrain::open(image).expect("an image that was opened when it was built"),
        }
    }
}

/// Those materials that are used.
fn materials_of(all: &[Material], used: &BTreeSet<u16>) -> Vec<Material> {
    used.iter().filter_map(|m| all.get(usize::from(*m)).cloned()).collect()
}

/// Rows of strips, from the south.
fn strips(columns: usize, rows: usize) -> impl Iterator<Item = Range<usize>> {
    let each = strip_rows(columns);
    (0..rows).step_by(each).map(move |first| first..(first + each).min(rows))
}
