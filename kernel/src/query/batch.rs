//! Many places at once, with cache misses overlapped.

use crate::format;
use crate::hit::{Answer, Status};
use crate::index::Leaf;
use crate::open::Terrain;
use crate::point::{GridPoint, IntoPoint, Point};

/// Points of a batch that go down the index together.
const STAGE: usize = 32;

/// How far a point of a batch has come.
#[derive(Clone, Copy)]
enum Way {
    Tile(usize),
    Leaf(Leaf),
}

impl<'a> Terrain<'a> {
    /// [`Terrain::closest`] for many points: the same answers, with cache misses overlapped.
    ///
    /// Answers as many as the shorter of the two slices holds, and says how many.
    pub fn closest_batch<P: IntoPoint>(&self, points: &[P], answers: &mut [Answer]) -> usize {
        let count = points.len().min(answers.len());
        let mut at = 0;
        while let (Some(points @ [_, ..]), Some(answers)) =
            (points.get(at..count.min(at + STAGE)), answers.get_mut(at..))
        {
            self.closest_stage(points, answers);
            at += points.len();
        }
        count
    }

    /// At most `STAGE` points. Between the steps the words that the next one reads are touched, nothing else, so that
    /// their cache misses overlap.
    fn closest_stage<P: IntoPoint>(&self, points: &[P], answers: &mut [Answer]) {
        let options = self.options();
        let mut ways: [Option<(Point, GridPoint, Way)>; STAGE] = [None; STAGE];
        let mut words = [[0; 4]; STAGE];
        for ((way, p), (a, w)) in ways.iter_mut().zip(points).zip(answers.iter_mut().zip(&mut words)) {
            let p = self.point(*p);
            let Some((p, place)) = p.and_then(|p| Some((p, self.place(p)?))) else {
                *a = self.miss(Status::NotInImage, p, &options, &mut ());
                continue;
            };
            match self.tile_of(place, &mut ()) {
                Ok(tile) => {
                    let to = self.entry(tile, place);
                    w[0] = to;
                    *way = Some((p, place, Way::Tile(tile)));
                }
                Err(status) => *a = self.miss(status, Some(p), &options, &mut ()),
            }
        }
        self.touch(words.iter().flat_map(|w| w.first()));
        for (way, w) in ways.iter().zip(&mut words) {
            if let Some((_, _, Way::Tile(tile))) = way {
                w[0] = self.behind(*tile, w[0]);
            }
        }
        self.touch(words.iter().flat_map(|w| w.first()));
        for ((way, a), w) in ways.iter_mut().zip(answers.iter_mut()).zip(&mut words) {
            let Some((p, place, Way::Tile(tile))) = *way else { continue };
            match self.descend(tile, tile.wrapping_add(format::ROOT), place, &mut ()) {
                Ok(leaf) => {
                    *w = self.first_words(&leaf);
                    *way = Some((p, place, Way::Leaf(leaf)));
                }
                Err(status) => {
                    *a = self.miss(status, Some(p), &options, &mut ());
                    *way = None;
                }
            }
        }
        self.touch(words.as_flattened());
        for (way, a) in ways.iter().zip(answers) {
            if let Some((p, place, Way::Leaf(leaf))) = way {
                let search = self.around(*p, options.windows);
                *a = self.answer(*p, *place, leaf, &search, &options, &mut ());
            }
        }
    }

    /// Reads words of the image, in a loop so short that many reads are under way at once.
    #[inline(always)]
    fn touch<'w>(&self, words: impl IntoIterator<Item = &'w usize>) {
        let read = |sum: u32, at: &usize| sum ^ self.words.get(*at).copied().unwrap_or(0);
        core::hint::black_box(words.into_iter().fold(0, read));
    }
}
