//! Heights of the ground at the places of a grid, by bands of rows and by triangles.

use super::ops::{RECORD, between};
use super::run::{Failure, Run, Words};
use super::{Costs, Gpu, Items, MANY, some};
use crate::cpu::heights::{Axis, STEP_LOG2, step};
use crate::sort::lists;
use crate::wgsl;
use crate::{Ground, Heights, Layers, NONE, Pick, Posts, cpu};
use rayon::prelude::*;
use std::ops::Range;

const BEST: Costs = Costs { item: 60, item_in_one: 52, candidate: 16, candidate_in_one: 8 };
const ALL: Costs = Costs { item: 60, item_in_one: 52, candidate: 72, candidate_in_one: 16 };
/// Bytes of device memory for a place.
const PLACE: u64 = 12;
/// Above all heights, as the shader has it.
const TOP: i64 = 1 << 41;

pub fn heights(gpu: &Gpu, ground: Ground, posts: Posts, pick: Pick) -> Heights {
    let columns = posts.x.len();
    let plan = Plan::new(gpu, ground, posts);
    let mut all = Heights { z: vec![0; columns * posts.y.len()], owner: vec![NONE; columns * posts.y.len()] };
    plan.each_chunk(gpu, BEST, |rows, faces| {
        let band = Posts { y: &posts.y[rows.clone()], ..posts };
        let on_device = |run: &mut Run| best(run, band, pick, &plan.items(rows.clone(), faces, ground));
        let on_host = || heights_of(ground, band, pick, &faces.iter().map(|(f, _)| *f).collect::<Vec<_>>());
        merge(&mut all, rows.start * columns, &gpu.chunk("heights", on_device, on_host), pick);
    });
    if !plan.rest.is_empty() {
        gpu.by_rule("heights", plan.rest.len());
        merge(&mut all, 0, &heights_of(ground, posts, pick, &plan.rest), pick);
    }
    all
}

/// The same of some triangles on the CPU.
fn heights_of(ground: Ground, posts: Posts, pick: Pick, faces: &[u32]) -> Heights {
    let some = some(ground, faces);
    let mut made = cpu::heights::heights(Ground { faces: &some, ..ground }, posts, pick);
    made.owner.par_iter_mut().filter(|f| **f != NONE).for_each(|f| *f = faces[*f as usize]);
    made
}

/// The key whose least value wins, as the shader has it.
fn key(z: i64, pick: Pick) -> i64 {
    match pick {
        Pick::Highest | Pick::HighestUpTo(_) => TOP - z,
        Pick::Lowest => TOP + z,
        Pick::NearestTo(_) => {
            let away = other(pick) - z;
            away.abs() << 1 | i64::from(away < 0)
        }
    }
}

fn height(key: i64, pick: Pick) -> i64 {
    match pick {
        Pick::Highest | Pick::HighestUpTo(_) => TOP - key,
        Pick::Lowest => key - TOP,
        Pick::NearestTo(_) if key & 1 == 1 => other(pick) + (key >> 1),
        Pick::NearestTo(_) => other(pick) - (key >> 1),
    }
}

/// The height that others are compared with. Those above or below all others may be moved nearer.
fn other(pick: Pick) -> i64 {
    match pick {
        Pick::Highest | Pick::Lowest => 0,
        Pick::HighestUpTo(z) | Pick::NearestTo(z) => z.clamp(-2 * TOP, 2 * TOP),
    }
}

/// Puts heights of other triangles, from some place on, among those that are there.
fn merge(all: &mut Heights, first: usize, more: &Heights, pick: Pick) {
    let those = all.z[first..].par_iter_mut().zip(&mut all.owner[first..]);
    those.zip(more.z.par_iter().zip(&more.owner)).for_each(|((z, owner), (new_z, new_owner))| {
        let rank = |z: i64, owner: u32| (key(z, pick), owner);
        if *new_owner != NONE && (*owner == NONE || rank(*new_z, *new_owner) < rank(*z, *owner)) {
            (*z, *owner) = (*new_z, *new_owner);
        }
    });
}

pub fn layers(gpu: &Gpu, ground: Ground, posts: Posts) -> Layers {
    let columns = posts.x.len();
    let plan = Plan::new(gpu, ground, posts);
    // by band
    let mut parts: Vec<Vec<Vec<Hit>>> = plan.bands().map(|_| Vec::new()).collect();
    plan.each_chunk(gpu, ALL, |rows, faces| {
        let band = Posts { y: &posts.y[rows.clone()], ..posts };
        let on_device = |run: &mut Run| all(run, band, &plan.items(rows.clone(), faces, ground));
        let on_host = || layers_of(ground, band, &faces.iter().map(|(f, _)| *f).collect::<Vec<_>>());
        parts[rows.start / plan.band].push(gpu.chunk("layers", on_device, on_host));
    });
    if !plan.rest.is_empty() {
        gpu.by_rule("layers", plan.rest.len());
        for (rows, parts) in plan.bands().zip(&mut parts) {
            parts.push(layers_of(ground, Posts { y: &posts.y[rows], ..posts }, &plan.rest));
        }
    }
    let bands: Vec<Vec<Hit>> = parts.into_par_iter().map(joined).collect();
    let mut counts = vec![0; columns * posts.y.len()];
    for (rows, hits) in plan.bands().zip(&bands) {
        hits.iter().for_each(|hit| counts[rows.start * columns + hit.place as usize] += 1);
    }
    let (starts, hits) = (cpu::heights::starts(&counts), || bands.iter().flatten());
    Layers { starts, z: hits().map(|h| h.z()).collect(), owner: hits().map(|h| h.owner).collect() }
}

/// A height at a place, in the order of layers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Hit {
    place: u32,
    key: i64,
    owner: u32,
}

impl Hit {
    fn z(&self) -> i64 {
        height(self.key, Pick::Highest)
    }
}

/// The same of some triangles on the CPU.
fn layers_of(ground: Ground, posts: Posts, faces: &[u32]) -> Vec<Hit> {
    let some = some(ground, faces);
    let made = cpu::heights::layers(Ground { faces: &some, ..ground }, posts);
    let hits = |(place, run): (u32, &[u64])| {
        let hit = |k: usize| {
            let (z, owner) = (made.z[k], faces[made.owner[k] as usize]);
            Hit { place, key: key(z, Pick::Highest), owner }
        };
        (run[0] as usize..run[1] as usize).map(hit).collect::<Vec<_>>()
    };
    (0..).zip(made.starts.windows(2)).flat_map(hits).collect()
}

fn joined(mut parts: Vec<Vec<Hit>>) -> Vec<Hit> {
    if parts.len() <= 1 {
        return parts.pop().unwrap_or_default();
    }
    let mut all = parts.concat();
    all.sort_unstable();
    all.dedup_by_key(|hit| (hit.place, hit.key));
    all
}

/// Places under the boxes of triangles.
struct Plan {
    /// Columns and rows of each.
    boxes: Vec<[Range<u32>; 2]>,
    /// Triangles that the CPU does.
    rest: Vec<u32>,
    /// Rows that go together, and all.
    band: usize,
    rows: usize,
    /// Triangles of each band.
    starts: Vec<u32>,
    faces: Vec<u32>,
}

impl Plan {
    fn new(gpu: &Gpu, ground: Ground, posts: Posts) -> Plan {
        let (columns, rows) = (posts.x.len(), posts.y.len());
        let (x, y) = (Axis::new(posts.x), Axis::new(posts.y));
        let under = |face: u32| {
            let corners = ground.corners(face);
            let within = |axis: &Axis, i: usize| {
                let v = corners.map(|c| c[i]);
                let places = axis.within(step(v[0].min(v[1]).min(v[2])), step(v[0].max(v[1]).max(v[2])));
                places.start as u32..places.end as u32
            };
            let of = [within(&x, 0), within(&y, 1)];
            let many = of.iter().map(|r| r.len() as u64).product::<u64>();
            (of, many > 0 && (many > MANY || !fits(corners)))
        };
        let all: Vec<([Range<u32>; 2], bool)> = (0..ground.faces.len() as u32).into_par_iter().map(under).collect();
        let rest = all.iter().zip(0..).filter(|((_, is_rest), _)| *is_rest).map(|(_, face)| face).collect();
        let nothing = || [0..0, 0..0];
        let boxes: Vec<_> = all.into_par_iter().map(|(of, is_rest)| if is_rest { nothing() } else { of }).collect();
        // a quarter of the memory is for places
        let band = (gpu.most(4 * PLACE, 8) / columns.max(1)).clamp(1, rows.max(1));
        let bands = |of: &[Range<u32>; 2]| {
            let [x, y] = of.clone().map(|r| r.start as usize..r.end as usize);
            if x.is_empty() || y.is_empty() { 0..0 } else { y.start / band..y.end.div_ceil(band) }
        };
        let pairs = boxes.iter().zip(0u32..).flat_map(|(of, face)| bands(of).map(move |band| (band as u32, face)));
        let (starts, faces) = lists(rows.div_ceil(band), pairs);
        Plan { boxes, rest, band, rows, starts, faces }
    }

    /// The rows of each band.
    fn bands(&self) -> impl Iterator<Item = Range<usize>> {
        (0..self.rows.div_ceil(self.band)).map(|k| k * self.band..((k + 1) * self.band).min(self.rows))
    }

    /// The rows of a band under a triangle's box, and the number of their places.
    fn rows(&self, face: u32, rows: &Range<usize>) -> (Range<u32>, u32) {
        let [x, y] = &self.boxes[face as usize];
        let y = y.start.max(rows.start as u32)..y.end.min(rows.end as u32);
        let many = (x.len() * y.len()) as u32;
        (y, many)
    }

    /// Calls `run` with the rows of each band, and of its triangles as many as fit the memory: with the count of their
    /// candidates.
    fn each_chunk(&self, gpu: &Gpu, costs: Costs, mut run: impl FnMut(Range<usize>, &[(u32, u32)])) {
        for (k, rows) in self.bands().enumerate() {
            let faces = &self.faces[self.starts[k] as usize..self.starts[k + 1] as usize];
            let with: Vec<(u32, u32)> = faces.par_iter().map(|f| (*f, self.rows(*f, &rows).1)).collect();
            let counts: Vec<u32> = with.par_iter().map(|(_, many)| *many).collect();
            gpu.cut(&counts, costs).into_iter().for_each(|range| run(rows.clone(), &with[range]));
        }
    }

    fn items(&self, rows: Range<usize>, faces: &[(u32, u32)], ground: Ground) -> Items {
        let item = |(face, many): &(u32, u32)| {
            let [a, b, c] = ground.corners(*face);
            let x = &self.boxes[*face as usize][0];
            let row = self.rows(*face, &rows).0.start - rows.start as u32;
            let [column, row, columns, face] = [x.start, row, x.len() as u32, *face].map(|v| v as i32);
            let words = [a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2], column, row, columns, face];
            (words, *many)
        };
        Items::of(faces.par_iter().map(item).collect())
    }
}

/// Whether all products fit 64 bits.
fn fits(corners: [[i32; 3]; 3]) -> bool {
    let bits = |k: usize| {
        let v = corners.map(|c| i64::from(c[k]));
        64 - (v[0].max(v[1]).max(v[2]) - v[0].min(v[1]).min(v[2])).leading_zeros()
    };
    // two sums of two products of a place, an extent and a height each
    2 * bits(0).max(bits(1)) + bits(2) + STEP_LOG2 + 3 < 63
}

/// The beginning of both kinds of chunk: parameters, triangles, starts, places, and room for where candidates hit and
/// their keys.
fn begin(run: &mut Run, posts: Posts, pick: Pick, items: &Items) -> Result<(wgsl::Heights, [Words; 5]), Failure> {
    let pair = |v: i64| [v as u32, (v >> 32) as u32];
    let params = wgsl::Heights {
        items: items.count() as u32,
        candidates: items.candidates() as u32,
        columns: posts.x.len() as u32,
        pick: match pick {
            Pick::Highest => 0,
            Pick::Lowest => 1,
            Pick::HighestUpTo(_) => 2,
            Pick::NearestTo(_) => 3,
        },
        other: pair(other(pick)),
        ..wgsl::Heights::default()
    };
    let axes: Vec<[u32; 2]> = posts.x.iter().chain(posts.y).map(|v| pair(*v)).collect();
    let given = run.upload(&items.words)?;
    let starts = run.upload(&items.starts)?;
    let axes = run.upload(&axes)?;
    let places = run.room(items.candidates())?;
    let keys = run.room(2 * items.candidates())?;
    Ok((params, [given, starts, axes, places, keys]))
}

fn best(run: &mut Run, posts: Posts, pick: Pick, items: &Items) -> Result<Heights, Failure> {
    let count = (posts.x.len() * posts.y.len()) as u64;
    let (params, [given, starts, axes, places, keys]) = begin(run, posts, pick, items)?;
    let high = run.filled(count, u32::MAX)?;
    let low = run.filled(count, u32::MAX)?;
    let owner = run.filled(count, NONE)?;
    let all = items.candidates();
    run.dispatch("hit_best", params, &[&given, &starts, &axes, &places, &keys, &high], all);
    run.dispatch("best_low", params, &[&places, &keys, &high, &low], all);
    run.dispatch("best_owner", params, &[&given, &starts, &places, &keys, &high, &low, &owner], all);
    let back = run.download(&[(&high, 0, count), (&low, 0, count), (&owner, 0, count)])?;
    let [high, low, owner] = <[Vec<u32>; 3]>::try_from(back).expect("as many as asked for");
    let z = high.par_iter().zip(&low).zip(&owner).map(|((high, low), owner)| {
        let key = (u64::from(*high) << 32 | u64::from(*low)) as i64;
        if *owner == NONE { 0 } else { height(key, pick) }
    });
    Ok(Heights { z: z.collect(), owner })
}

fn all(run: &mut Run, posts: Posts, items: &Items) -> Result<Vec<Hit>, Failure> {
    let heights = items.words.par_chunks_exact(13).map(|w| (w[2].min(w[5]).min(w[8]), w[2].max(w[5]).max(w[8])));
    let (least, most) = heights.reduce(|| (i32::MAX, i32::MIN), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    let (params, [given, starts, axes, places, keys]) = begin(run, posts, Pick::Highest, items)?;
    let hits = run.room(items.candidates() + 1)?;
    run.dispatch("hit_all", params, &[&given, &starts, &axes, &places, &keys, &hits], hits.count);
    run.scan(&hits)?;
    let count = run.last(&hits)?;
    let records = run.room(RECORD * count)?;
    let buffers = [&given, &starts, &places, &keys, &hits, &records];
    run.dispatch("list_hits", params, &buffers, items.candidates());
    [places, keys, hits].into_iter().for_each(|words| run.release(words));
    let vary = between(key(step(least), Pick::Highest) as u64, key(step(most), Pick::Highest) as u64);
    let of_places = between(0, (posts.x.len() * posts.y.len()) as u64 - 1) as u32;
    let records = run.sort(records, &[(2, vary as u32), (1, (vary >> 32) as u32), (0, of_places)])?;
    let (firsts, count) = run.firsts(&records, [true, true, true, false])?;
    let kept = run.kept(&records, &firsts, count)?;
    let back = run.download(&[(&kept, 0, RECORD * count)])?;
    let records: &[[u32; 4]] = bytemuck::cast_slice(&back[0]);
    let hit = |r: &[u32; 4]| Hit { place: r[0], key: (u64::from(r[1]) << 32 | u64::from(r[2])) as i64, owner: r[3] };
    Ok(records.par_iter().map(hit).collect())
}
