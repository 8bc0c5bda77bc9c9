//! An image of one field of heights over a mesh.

use super::{MAX_SQUARES, Sampler, Squares};
use crate::build::error::{BuildError, Limit};
use crate::build::stage::error_quantiles;
use crate::build::stage::raster::least_tolerance;
use crate::build::{Built, build_recorded};
use crate::image::provenance::Provenance;
use crate::options::Options;
use crate::report::ErrorQuantiles;
use crate::scene::{HeightField, Material, Scene};
use crate::util::exact::exp2;
use crate::util::text::{few, suggestion};
use hardpan::Terrain;
use rayon::prelude::*;

/// Most posts along an axis.
const LONGEST: usize = 1 << 20;

/// Where the posts of a field lie.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldPosts {
    /// Columns and rows, ascending, metres.
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    /// Way from one to the next, metres.
    pub pitch: f64,
}

/// How well a field fits the mesh that it was made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fit {
    /// Posts with ground, and how many of them the image has no ground at: none of their four cells has ground at all
    /// its posts.
    pub posts: u64,
    pub lost: u64,
    /// The largest error at a post that the image has, metres, and the one that it states.
    pub worst: f64,
    pub stated: f64,
    /// Error at places all over the mesh.
    pub error_quantiles: ErrorQuantiles,
}

impl Squares {
    /// Posts at the centres.
    pub fn posts(&self) -> FieldPosts {
        let along = |axis: usize, count: usize| (0..count).map(|i| self.along(axis, i)).collect();
        FieldPosts { x: along(0, self.columns), y: along(1, self.rows), pitch: self.cell }
    }
}

impl Sampler<'_> {
    /// Posts at multiples of a pitch, from the last that is not beyond the extent of the ground to the first that is.
    ///
    /// # Errors
    ///
    /// As of [`squares`](Self::squares).
    pub fn multiples(&self, pitch: f64) -> Result<FieldPosts, BuildError> {
        let Squares { extent: [low, high], .. } = self.squares(pitch)?;
        let numbers = |k: usize| [(low[k] / pitch).floor() as i64, (high[k] / pitch).ceil() as i64];
        let [x, y] = [numbers(0), numbers(1)];
        if (x[1] - x[0] + 1) as u64 * (y[1] - y[0] + 1) as u64 > MAX_SQUARES {
            return Err(Limit::Posts { most: MAX_SQUARES }.into());
        }
        let along = |[first, last]: [i64; 2]| (first..=last).map(|i| i as f64 * pitch).collect();
        Ok(FieldPosts { x: along(x), y: along(y), pitch })
    }

    /// The material of a field over this ground: the one of this name, or that of all triangles.
    ///
    /// # Errors
    ///
    /// [`BuildError::Scene`] if there is none of this name, [`BuildError::Materials`] if there are several and no name.
    pub fn material(&self, name: Option<&str>) -> Result<Material, BuildError> {
        let used = self.used.iter().map(|m| &self.materials[usize::from(*m)]);
        let all: Vec<&Material> = used.filter(|m| !m.friction_only).collect();
        let found = match (name, &all[..]) {
            (Some(name), _) => self.materials.iter().find(|m| m.name == name).ok_or_else(|| {
                let near = suggestion(name, self.materials.iter().map(|m| m.name.as_str()));
                let names = few(all.iter().map(|m| format!("{:?}", m.name)), all.len() as u64);
                BuildError::Scene(format!("no material is called {name:?}{near}; the ground is of {names}"))
            }),
            (None, [only]) => Ok(*only),
            (None, _) => Err(BuildError::Materials(all.iter().map(|m| m.name.clone()).collect())),
        };
        found.cloned()
    }

    /// An image of heights at posts, row by row from the south and NaN where there is no ground, as
    /// [`at_posts`](Self::at_posts) gives them. Rows and columns without ground at the border are left off. `tolerance`
    /// is the error at a post that is allowed, metres; by default the least with which the format holds the field.
    pub fn image(
        &self,
        posts: FieldPosts,
        heights: Vec<f64>,
        material: &Material,
        tolerance: Option<f64>,
        options: &Options,
        provenance: Option<&Provenance>,
    ) -> Result<(Built, Fit), BuildError> {
        let (mut field, posts) = trimmed(posts, heights)?;
        field.tolerance = tolerance.unwrap_or_else(|| least_tolerance(&field, options.z_log2));
        let material = Material { include: true, obstacle: false, undersides: None, ..material.clone() };
        let sources = vec![self.sources.join(", ")];
        let scene = Scene { materials: vec![material], sources, fields: vec![field], ..Scene::default() };
        let mut built = build_recorded(&scene, options, provenance)?;
        let t = Terrain::open(&built.image).map_err(|e| BuildError::Scene(e.to_string()))?;
        let mut fit = self.fit(&t, &posts, &scene.fields[0].heights);
        fit.error_quantiles = error_quantiles::measure(&t, &self.places);
        built.report.error_quantiles = fit.error_quantiles.clone();
        Ok((built, fit))
    }

    /// How far an image is from heights at posts.
    fn fit(&self, t: &Terrain, posts: &FieldPosts, heights: &[f64]) -> Fit {
        let options = error_quantiles::upright();
        let [x, y] = self.places(&posts.x, &posts.y);
        let scale = exp2(8 - self.step[1]);
        let row = |(row, y): (usize, &i64)| {
            let mut fit = Fit::default();
            for (x, z) in x.iter().zip(&heights[row * x.len()..]).filter(|(_, z)| !z.is_nan()) {
                let from = (z * scale) as i64 - (self.origin[2] << 8);
                let answer = t.closest_with(self.point([*x, *y], from), &options);
                fit.posts += 1;
                match answer.found() {
                    true => fit.worst = fit.worst.max((t.z_f64(&answer.hit) - z).abs()),
                    false => fit.lost += 1,
                }
            }
            fit
        };
        let join = |a: Fit, b: Fit| Fit {
            posts: a.posts + b.posts,
            lost: a.lost + b.lost,
            worst: a.worst.max(b.worst),
            ..Fit::default()
        };
        let fit = y.par_iter().enumerate().map(|(i, y)| row((i, y))).reduce(Fit::default, join);
        Fit { stated: t.header().error_height, ..fit }
    }
}

/// A field of posts without those rows and columns at its border that have no ground, and those posts.
fn trimmed(posts: FieldPosts, mut heights: Vec<f64>) -> Result<(HeightField, FieldPosts), BuildError> {
    let wide = posts.x.len();
    let mut columns: Option<[usize; 2]> = None;
    let mut rows: Option<[usize; 2]> = None;
    for (row, line) in heights.chunks_exact(wide).enumerate() {
        let Some(first) = line.iter().position(|z| !z.is_nan()) else { continue };
        let last = line.iter().rposition(|z| !z.is_nan()).unwrap_or(first);
        let [low, high] = columns.unwrap_or([first, last]);
        columns = Some([low.min(first), high.max(last)]);
        rows = Some([rows.map_or(row, |r| r[0]), row]);
    }
    let (Some([west, east]), Some([south, north])) = (columns, rows) else { return Err(BuildError::Empty) };
    let [columns, rows] = [east - west + 1, north - south + 1];
    if columns < 2 || rows < 2 {
        let text = "a field of heights needs two rows and two columns of posts with ground; take a smaller distance";
        return Err(BuildError::Scene(text.into()));
    }
    if columns.max(rows) > LONGEST {
        return Err(Limit::FieldLength { posts: columns.max(rows) as u64, most: LONGEST as u64 }.into());
    }
    // in place, as fields are large: what is kept moves towards the first
    for row in 0..rows {
        let from = (south + row) * wide + west;
        heights.copy_within(from..from + columns, row * columns);
    }
    heights.truncate(rows * columns);
    let [x, y] = [posts.x[west..=east].to_vec(), posts.y[south..=north].to_vec()];
    let posts = FieldPosts { x, y, ..posts };
    let origin = [posts.x[0], posts.y[0]];
    Ok((HeightField { origin, pitch: posts.pitch, columns, rows, heights, ..HeightField::default() }, posts))
}
