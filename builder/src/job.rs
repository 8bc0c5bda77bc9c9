//! A build whose tiles are made apart from each other.

use crate::mesh::{self, Mesh};
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
    use crate::{Split, fixtures};

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
