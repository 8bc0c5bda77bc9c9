//! Places that are asked: evenly, over the ground, and where it costs most.

use std::cmp::Reverse;

use crate::image::decode;
use crate::image::decode::{Column, TileView};
use crate::util::dice::Dice;
use hardpan::{Cost, Hit, Terrain, format::FRACTION};
use rayon::prelude::*;

use super::CHUNK;

/// Where queries go.
pub enum Places {
    Uniform([[f64; 3]; 2]),
    /// Columns with the areas of all up to each, and room for layers.
    Area(Vec<(Column, f64)>, Vec<Hit>),
    /// The same ones again and again, from a number on.
    Round(Vec<[f64; 3]>, usize),
}

/// Places in columns that are tried for one with ground.
const DRAWS: usize = 100_000;

impl Places {
    /// The next `count` places; none if ground could not be met.
    pub fn fill(&mut self, t: &Terrain, count: usize, dice: &mut Dice, points: &mut Vec<[f64; 3]>) -> Option<()> {
        points.clear();
        for _ in 0..count {
            points.push(match self {
                Places::Uniform([low, high]) => [0, 1, 2].map(|i| low[i] + (high[i] - low[i]) * dice.unit()),
                Places::Area(columns, room) => (0..DRAWS).find_map(|_| {
                    let at = dice.unit() * columns.last()?.1;
                    let column = &columns[columns.partition_point(|c| c.1 <= at).min(columns.len() - 1)].0;
                    let [x, y] = inside(t, column, dice);
                    let layers = t.layers([x, y, 0.0], room);
                    let hit = room[..layers.written].get(dice.below(layers.written.max(1)))?;
                    Some([x, y, t.z_f64(hit)])
                })?,
                Places::Round(places, next) => {
                    let place = *places.get(*next)?;
                    *next = (*next + 1) % places.len();
                    place
                }
            });
        }
        Some(())
    }
}

/// A place in a column, in metres.
fn inside(t: &Terrain, column: &Column, dice: &mut Dice) -> [f64; 2] {
    let h = t.header();
    [0, 1].map(|i| {
        let low = (h.origin[i] + column.low[i]) as f64;
        (low + column.size[i] as f64 * dice.unit()) * 2f64.powi(h.xy_log2)
    })
}

pub fn area(t: &Terrain) -> Places {
    let mut columns = Vec::new();
    let mut sum = 0.0;
    for tile in decode::tiles(t) {
        tile.columns(|c| {
            sum += c.size[0] as f64 * c.size[1] as f64;
            columns.push((c, sum));
        });
    }
    Places::Area(columns, decode::room(t))
}

/// A kind of cost, and how many columns are visited for it.
type Kind = (usize, fn(&Cost) -> u32);

const WORST: [Kind; 4] = [(256, |c| c.tests), (16, |c| c.lines), (16, |c| c.leaves), (16, |c| c.nodes)];

/// Places and posts that are tried in a column.
const TRIES: usize = 64;

const POSTS: usize = 4096;

/// Places of the plan uniform from which each kind's climbs start.
const FROM_UNIFORM: usize = 16;

/// Where random places begin.
pub const SEED: u64 = 1;

/// The costliest places. Each is the end of a climb: from one of the costliest columns, or from one of as many places
/// as the plan uniform asks. Columns cost at least half as much as the costliest of their kind. The costliest place of
/// each kind comes first.
pub fn worst(t: &Terrain, queries: u64) -> Vec<[f64; 3]> {
    let (mut dice, [low, high]) = (Dice(2), t.bounds());
    let tiles: Vec<TileView> = decode::tiles(t).collect();
    let mut all: Vec<(Column, usize)> = Vec::new();
    tiles.iter().enumerate().for_each(|(i, tile)| tile.columns(|c| all.push((c, i))));
    let cost = |place: [f64; 3]| t.closest_costed(place).1;
    let mut places: [Vec<(u32, [f64; 3])>; WORST.len()] = Default::default();
    for (((count, kind), mut starts), places) in WORST.into_iter().zip(uniform_worst(t, queries)).zip(&mut places) {
        all.sort_unstable_by_key(|(c, _)| (Reverse(kind(&c.cost)), Reverse(c.cost.tests), c.low[1], c.low[0]));
        let columns = &all[..count.min(all.len())];
        let half = columns.first().map_or(0, |(c, _)| kind(&c.cost).div_ceil(2));
        for (column, tile) in columns.iter().take_while(|(c, _)| kind(&c.cost) >= half) {
            let mut tried: Vec<[f64; 2]> = (0..TRIES).map(|_| inside(t, column, &mut dice)).collect();
            tried.extend(posts(t, &tiles[*tile], column).take(POSTS));
            let mut at = |[x, y]: [f64; 2]| {
                let place = [x, y, low[2] + (high[2] - low[2]) * dice.unit()];
                (kind(&cost(place)), place)
            };
            starts.extend(tried.into_iter().map(&mut at).max_by_key(|(cost, _)| *cost));
        }
        places.extend(starts.into_iter().map(|start| climbed(t, start, |place| kind(&cost(place)))));
        places.sort_by_key(|(cost, _)| Reverse(*cost));
    }
    let longest = places.iter().map(Vec::len).max().unwrap_or(0);
    let round = |i: usize| places.iter().filter_map(move |all| all.get(i).map(|(_, place)| *place));
    (0..longest).flat_map(round).collect()
}

/// For each kind the costliest of the places that the plan uniform asks, with what they cost.
fn uniform_worst(t: &Terrain, queries: u64) -> [Vec<(u32, [f64; 3])>; WORST.len()] {
    let (mut places, mut dice, mut points) = (Places::Uniform(t.bounds()), Dice(SEED), Vec::new());
    let mut found: [Vec<(u32, [f64; 3])>; WORST.len()] = Default::default();
    let mut left = queries;
    while left > 0 && places.fill(t, left.min(CHUNK) as usize, &mut dice, &mut points).is_some() {
        left -= points.len() as u64;
        let costs: Vec<Cost> = points.par_iter().map(|p| t.closest_costed(*p).1).collect();
        for ((_, kind), found) in WORST.into_iter().zip(&mut found) {
            found.extend(costs.iter().zip(&points).map(|(cost, place)| (kind(cost), *place)));
            found.sort_by_key(|(cost, _)| Reverse(*cost));
            found.truncate(FROM_UNIFORM);
        }
    }
    found
}

/// Goes from a place to costlier ones nearby, in steps of a metre first and half as long wherever none helps.
fn climbed(t: &Terrain, start: (u32, [f64; 3]), cost: impl Fn([f64; 3]) -> u32) -> (u32, [f64; 3]) {
    let (mut most, mut at) = start;
    let least = f64::exp2(f64::from(t.header().xy_log2));
    let mut step = 1.0;
    while step >= least {
        let around = [[1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]];
        let near = around.map(|[i, j]| [at[0] + f64::from(i) * step, at[1] + f64::from(j) * step, at[2]]);
        match near.into_iter().map(|p| (cost(p), p)).max_by_key(|(cost, _)| *cost).filter(|(cost, _)| *cost > most) {
            Some(better) => (most, at) = better,
            None => step /= 2.0,
        }
    }
    (most, at)
}

/// Posts in a column of such fields as lack some, in metres: queries there read up to four cells.
fn posts(t: &Terrain, tile: &TileView, column: &Column) -> impl Iterator<Item = [f64; 2]> {
    let (h, column) = (t.header(), *column);
    tile.patches().iter().filter(|p| p.voids != 0).flat_map(move |p| {
        // positions along an axis in 2^-64 cells, as the format has them, and back
        let rate = i128::from(p.cells_a_step());
        let along = |i: usize| {
            let cells = |steps: i64| ((i128::from(steps) << FRACTION) - i128::from(p.from(i))) * rate;
            let (first, last) = (i128::from(p.first[i]), i128::from(p.first[i]) + i128::from(p.cells[i]));
            let low = (cells(column.low[i]) >> 64).max(first);
            let high = (cells(column.low[i] + column.size[i]) >> 64).min(last);
            (low..=high).map(move |post| {
                let q = -(-(post << 64)).div_euclid(rate); // at it or just behind
                let at = (i128::from(h.origin[i]) << FRACTION) + i128::from(p.from(i)) + q;
                at as f64 * 2f64.powi(h.xy_log2 - FRACTION as i32)
            })
        };
        let across = along(0);
        along(1).flat_map(move |y| across.clone().map(move |x| [x, y]))
    })
}
