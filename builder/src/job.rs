//! A build whose tiles are made apart from each other.

use crate::cost::Refused;
use crate::mesh::{self, Mesh};
use crate::split::Rule;
use crate::tile::{Blob, Side, Tiling};
use crate::{BuildError, Built, Options, Provenance, Report, Scene, pack, shares};
use rayon::prelude::*;
use std::sync::atomic::AtomicU64;

/// A scene on its way into an image: all that needs the whole of it is done, and each tile can be made by itself, in any
/// order and on any thread or machine that has the same scene and options.
///
/// ```
/// use hardpan_builder::{Job, Options, build, fixtures};
///
/// let (scene, options) = (fixtures::town(1), Options::default());
/// let job = Job::new(&scene, &options).unwrap();
/// let tiles = (0..job.tiles()).rev().map(|index| job.tile(index).unwrap()).collect();
/// assert!(job.image(tiles, None).unwrap().image[..] == build(&scene, &options).unwrap().image[..]);
/// ```
pub struct Job {
    mesh: Mesh,
    options: Options,
    tiling: Tiling,
    report: Report,
}

/// A tile that a [`Job`] made.
pub struct FinishedTile(Blob);

impl Job {
    /// Quantises and repairs a scene, and finds out which tiles it takes.
    pub fn new(scene: &Scene, options: &Options) -> Result<Job, BuildError> {
        options.check()?;
        let mut report = Report::default();
        let mut mesh = mesh::ground(scene, options, &mut report)?;
        let side = match options.tile_log2 {
            Some(_) => Side::of(&mesh, mesh.tile_log2),
            None => Side::near(&mesh, mesh.tile_log2),
        };
        mesh.tile_log2 = side.log2;
        let tiling = Tiling::new(&mesh, side, options)?;
        if let Some(split) = options.split {
            let asked = AtomicU64::new(0);
            let foresee = |index| tiling.foresee(&mesh, index, &Rule::new(split, &mesh, &asked));
            (0..tiling.count()).into_par_iter().try_for_each(foresee)?;
        }
        Ok(Job { mesh, options: options.clone(), tiling, report })
    }

    /// How many tiles there are.
    pub fn tiles(&self) -> usize {
        self.tiling.count()
    }

    /// Makes a tile, from 0 on and below [`tiles`](Self::tiles).
    ///
    /// # Errors
    ///
    /// An error tells of this tile alone; there is no image then, and others may have errors of their own.
    /// [`BuildError::Cost`] has the worst place in this tile, and what is enough for it. Of several such errors the worst place is by
    /// [`Crowd::worse`](crate::Crowd::worse), and enough for the scene are the most tests and the most lines of all tiles;
    /// [`build`](crate::build) tells that.
    /// [`BuildError::Limit`] if its ground does not fit a tile, or by a [`Split`](crate::Split) takes more index than all may.
    ///
    /// # Panics
    ///
    /// If there is no such tile.
    pub fn tile(&self, index: usize) -> Result<FinishedTile, BuildError> {
        let made = self.tiling.build(&self.mesh, index, &AtomicU64::new(0))?;
        made.map(FinishedTile).map_err(|refused| self.refusal(refused))
    }

    /// Makes all tiles.
    pub(crate) fn all(&self) -> Result<Vec<FinishedTile>, BuildError> {
        let asked = AtomicU64::new(0);
        let tile = |index| self.tiling.build(&self.mesh, index, &asked);
        let made: Vec<_> = (0..self.tiles()).into_par_iter().map(tile).collect::<Result<_, _>>()?;
        match made.iter().filter_map(|tile| tile.as_ref().err().copied()).reduce(Refused::and) {
            Some(refused) => Err(self.refusal(refused)),
            None => Ok(made.into_iter().flatten().map(FinishedTile).collect()),
        }
    }

    /// That what was built costs more than it may.
    fn refusal(&self, Refused { worst, enough }: Refused) -> BuildError {
        let most = self.options.max_cost.expect("nothing is refused without a limit");
        BuildError::Cost { worst, most, enough }
    }

    /// The image of all tiles, each given once, in any order. They may come from other jobs of the same scene and options.
    ///
    /// # Errors
    ///
    /// [`BuildError::Scene`] if a tile is missing or given twice. [`BuildError::Limit`] if all together do not fit the format or
    /// memory, or by a [`Split`](crate::Split) take more index than they may.
    pub fn image(self, tiles: Vec<FinishedTile>, provenance: Option<&Provenance>) -> Result<Built, BuildError> {
        let Job { mut mesh, options, tiling, mut report } = self;
        let mut tiles: Vec<Blob> = tiles.into_iter().map(|t| t.0).collect();
        tiles.sort_by_key(|t| t.head.index);
        if tiles.len() != tiling.count() || tiles.iter().zip(0..).any(|(t, index)| t.head.index != index) {
            let text = format!("an image of this scene takes each of its {} tiles once", tiling.count());
            return Err(BuildError::Scene(text));
        }
        if let Some(split) = options.split {
            split.allows(tiles.iter().map(|t| t.asked).sum(), mesh.faces.len())?;
        }
        // the tiles have all of it
        drop((tiling, std::mem::take(&mut mesh.vertices), std::mem::take(&mut mesh.faces)));
        let provenance = provenance.map_or_else(Provenance::plain, |p| p.text(&options, &mesh.materials));
        let image = pack::pack(&mesh, &options, tiles, provenance.as_bytes(), &mut report)?;
        if let Ok(terrain) = hardpan::Terrain::open(&image) {
            report.shares = shares::measure(&terrain, &mesh.places);
        }
        Ok(Built { image, report })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Material, Split, Triangle, fixtures, mesh::mix};

    /// Grids of so many square cells along a square, half a metre above each other, and so high waves in them. Of some of these
    /// cells, by a seed, one in four is missing or cut the other way.
    fn stack(side: f64, cells: u32, sheets: u32, waves: f64, seed: Option<u64>) -> Scene {
        let mut scene =
            Scene { materials: vec![Material::new("m", 0.8)], sources: vec!["s".into()], ..Scene::default() };
        let mut random = seed;
        let mut is_one_in = |n| {
            random = random.map(mix);
            random.is_some_and(|bits| bits.is_multiple_of(n))
        };
        for k in 0..sheets {
            let (first, torn) = (scene.positions.len() as u32, is_one_in(3));
            for [i, j] in (0..=cells).flat_map(|j| (0..=cells).map(move |i| [i, j])) {
                let [x, y] = [i, j].map(|v| side * f64::from(v) / f64::from(cells));
                let wave = if is_one_in(5) { 0.7 } else { 1.0 } * waves * ((1.7 * x).sin() + (1.3 * y).cos());
                scene.positions.push([x, y, f64::from(k) / 2.0 + wave]);
            }
            for [i, j] in (0..cells).flat_map(|j| (0..cells).map(move |i| [i, j])) {
                let [a, b, c, d] =
                    [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]].map(|[i, j]| first + j * (cells + 1) + i);
                let halves = if is_one_in(4) { [[a, b, d], [b, c, d]] } else { [[a, b, c], [a, c, d]] };
                let missing = torn && is_one_in(4);
                let halves = halves.into_iter().skip(usize::from(missing));
                scene.triangles.extend(halves.map(|v| Triangle { v, material: 0, source: 0 }));
            }
        }
        scene
    }

    /// The bytes that are foreseen of a rule in all tiles, which are no more than it asks for in each, and those.
    fn foreseen(scene: &Scene, split: Split, tile_log2: Option<u8>) -> [u64; 2] {
        let job = Job::new(scene, &Options { split: Some(split), tile_log2, ..Options::default() }).unwrap();
        let foreseen = |index| {
            let all = AtomicU64::new(0);
            let rule = Rule::new(split, &job.mesh, &all);
            job.tiling.foresee(&job.mesh, index, &rule).unwrap();
            rule.asked.into_inner()
        };
        let least: Vec<u64> = (0..job.tiles()).map(foreseen).collect();
        let asked: Vec<u64> = job.all().unwrap().iter().map(|tile| tile.0.asked).collect();
        assert!(least.iter().zip(&asked).all(|(least, asked)| least <= asked), "{least:?} {asked:?}");
        [least, asked].map(|all| all.iter().sum::<u64>())
    }

    /// What is foreseen of a rule is no more than it asks for, and of ground in stacks not much less, however finely that is divided.
    #[test]
    fn what_a_rule_asks_for_is_foreseen() {
        for (cells, waves) in [(1, 0.0), (7, 0.0), (16, 0.0), (12, 0.2)] {
            let [least, asked] = foreseen(&stack(6.0, cells, 20, waves, None), Split::DEFAULT, None);
            assert!(least > asked / 10 * 9, "{cells} {waves}: {least} of {asked}");
            let far = stack(1000.0, cells, 20, waves, None);
            let far = Job::new(&far, &Options { split: Some(Split::DEFAULT), ..Options::default() });
            assert!(matches!(far.err(), Some(BuildError::Limit(text)) if text.contains("more than 256 MiB of index")));
        }
        foreseen(&stack(0.3, 1, 20, 0.0, None), Split::DENSE, None);
        foreseen(&fixtures::town(1), Split::DEFAULT, None);
    }

    /// It is no more of whatever heap: torn, with waves, of few sheets and of many, in tiles of any size, by any rule.
    #[test]
    fn nothing_is_foreseen_that_is_not_asked_for() {
        let (mut seed, mut some) = (1, 0);
        for case in 0..60 {
            let mut random = |n: u64| {
                seed = mix(seed);
                seed % n
            };
            let rule = Split {
                depth_tolerance: random(9) as u32,
                bundle_size: 1 + random(6) as u32,
                bundle_increase: [0.0, 0.5, 2.0][random(3) as usize],
                min_volume: [0.002, 0.01, 0.1][random(3) as usize],
                volume_increase: random(3) as f64,
            };
            let (cells, sheets, waves) = (1 + random(12) as u32, 2 + random(14) as u32, 0.1 * random(8) as f64);
            let tile = [None, Some(11), Some(13)][random(3) as usize];
            let (scene, rule, tile) = match case % 6 {
                5 => {
                    (fixtures::soup(case), Split { bundle_size: 20 + rule.bundle_size, min_volume: 20.0, ..rule }, None)
                }
                _ => (stack(2.5, cells, sheets, waves, Some(case + 1)), rule, tile),
            };
            let [least, _] = foreseen(&scene, rule, tile);
            some += usize::from(least > 0);
        }
        assert!(some > 30, "{some}");
    }

    /// However often and wherever tiles are made, a rule has asked for what they take, and may ask for so much in all.
    #[test]
    fn what_a_rule_asks_for_is_what_tiles_take() {
        let options = Options { split: Some(Split::DENSE), tile_log2: Some(15), ..Options::default() };
        let image = |each: Option<u64>| {
            let job = Job::new(&fixtures::town(1), &options).unwrap();
            let (mut tiles, again) = (job.all().ok().unwrap(), job.all().ok().unwrap());
            let sum = |tiles: &[FinishedTile], of: fn(&Blob) -> u64| tiles.iter().map(|t| of(&t.0)).sum::<u64>();
            let [asked, index] = [sum(&tiles, |b| b.asked), sum(&tiles, |b| b.index_bytes)];
            assert!(tiles.len() > 3 && asked == sum(&again, |b| b.asked), "{asked} of {} tiles", tiles.len());
            // about what they have: the rest is their heads and palettes
            assert!(asked > index / 2 && asked < index * 5 / 4, "{asked} of {index}");
            let shares = each.into_iter().flat_map(|each| [each; 2].into_iter().chain(std::iter::repeat(0)));
            tiles.iter_mut().zip(shares).for_each(|(tile, share)| tile.0.asked = share);
            job.image(tiles, None).map(|built| built.image.len())
        };
        let whole = image(None);
        assert!(whole.is_ok() && image(Some(128 << 20)) == whole);
        assert!(matches!(image(Some((128 << 20) + 1)), Err(BuildError::Limit(text)) if text.contains("preset dense")));
    }
}
