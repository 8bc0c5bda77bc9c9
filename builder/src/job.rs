//! A build whose tiles are made apart from each other.

use crate::mesh::{self, Mesh};
use crate::split::Rule;
use crate::tile::{self, Blob, Tiling};
use crate::{BuildError, Built, Crowd, MaxCost, Options, Provenance, Report, Scene, pack, shares};
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
        if options.tile_log2.is_none() {
            mesh.tile_log2 = tile::side(&mesh, mesh.tile_log2);
        }
        let tiling = Tiling::new(&mesh, options)?;
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

    /// Makes a tile, from 0 to [`tiles`](Self::tiles).
    ///
    /// # Panics
    ///
    /// If there is no such tile.
    pub fn tile(&self, index: usize) -> Result<FinishedTile, BuildError> {
        self.tiling.build(&self.mesh, index, &AtomicU64::new(0)).map(FinishedTile)
    }

    /// Makes all tiles.
    pub(crate) fn all(&self) -> Result<Vec<FinishedTile>, BuildError> {
        let asked = AtomicU64::new(0);
        let tile = |index| self.tiling.build(&self.mesh, index, &asked).map(FinishedTile);
        (0..self.tiles()).into_par_iter().map(tile).collect()
    }

    /// The image of all tiles, each given once, in any order. They may come from other jobs of the same scene and options.
    pub fn image(self, tiles: Vec<FinishedTile>, provenance: Option<&Provenance>) -> Result<Built, BuildError> {
        let Job { mesh, options, mut tiling, mut report } = self;
        let mut tiles: Vec<Blob> = tiles.into_iter().map(|t| t.0).collect();
        tiles.sort_by_key(|t| t.head.index);
        if tiles.len() != tiling.count() || tiles.iter().zip(0..).any(|(t, index)| t.head.index != index) {
            let text = format!("an image of this scene takes each of its {} tiles once", tiling.count());
            return Err(BuildError::Scene(text));
        }
        if let Some(split) = options.split {
            split.allows(tiles.iter().map(|t| t.asked).sum(), mesh.faces.len())?;
        }
        if let Some(most) = options.max_cost {
            affordable(&mesh, &mut tiling, &tiles, most)?;
        }
        drop(tiling);
        let provenance = provenance.map_or_else(Provenance::plain, |p| p.text(&options, &mesh.materials));
        let image = pack::pack(&mesh, &options, tiles, provenance.as_bytes(), &mut report)?;
        if let Ok(terrain) = hardpan::Terrain::open(&image) {
            report.shares = shares::measure(&terrain, &mesh.places);
        }
        Ok(Built { image, report })
    }
}

/// Fails with the place that costs most of those that cost more than they may, and with what is enough, for the tiles were made with that.
fn affordable(mesh: &Mesh, tiling: &mut Tiling, tiles: &[Blob], most: MaxCost) -> Result<(), BuildError> {
    let of = |t: &Blob| Some((t.head.index as usize, t.crowd?));
    let mut crowded: Vec<(usize, (Crowd, [u32; 2]))> = tiles.iter().filter_map(of).collect();
    let (mut costliest, mut enough) = (None::<Crowd>, most);
    while let Some(worst) = crowded.iter().map(|(_, (crowd, _))| *crowd).reduce(Crowd::worse) {
        costliest = Some(costliest.map_or(worst, |crowd| crowd.worse(worst)));
        for (_, (_, [tests, lines])) in &crowded {
            enough.tests = enough.tests.max(*tests);
            enough.lines = enough.lines.map(|most| most.max(*lines));
        }
        tiling.allow(enough);
        let again = crowded.par_iter().map(|(index, _)| tiling.build(mesh, *index, &AtomicU64::new(0)).map(|t| of(&t)));
        crowded = again.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    }
    costliest.map_or(Ok(()), |worst| Err(BuildError::Cost { worst, most, enough }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Material, Split, Triangle, fixtures};

    /// What is foreseen of a rule is no more than it asks for, and of ground in stacks not much less.
    #[test]
    fn what_a_rule_asks_for_is_foreseen() {
        let stack = |side: f64| {
            let mut scene =
                Scene { materials: vec![Material::new("m", 0.8)], sources: vec!["s".into()], ..Scene::default() };
            for k in 0..20 {
                let z = f64::from(k) / 2.0;
                scene.positions.extend([[0.0, 0.0, z], [side, 0.0, z], [side, side, z], [0.0, side, z]]);
                let corners = [[0, 1, 2], [0, 2, 3]].map(|v| v.map(|v| 4 * k + v));
                scene.triangles.extend(corners.map(|v| Triangle { v, material: 0, source: 0 }));
            }
            scene
        };
        let sums = |scene: &Scene, split: Split| {
            let job = Job::new(scene, &Options { split: Some(split), ..Options::default() }).unwrap();
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
        };
        let [least, asked] = sums(&stack(20.0), Split::DEFAULT);
        assert!(least > asked / 2, "{least} of {asked}");
        sums(&stack(1.0), Split::DENSE);
        sums(&fixtures::town(1), Split::DEFAULT);
        let far = Job::new(&stack(1000.0), &Options { split: Some(Split::DEFAULT), ..Options::default() });
        assert!(matches!(far.err(), Some(BuildError::Limit(text)) if text.contains("more than 256 MiB of index")));
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
