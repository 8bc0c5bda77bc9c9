//! What rays have beside a tile: heights of cells, and walls.

use super::bundle::{Frame, Record, packed};
use super::walls::meets;
use crate::build::error::{BuildError, Limit};
use crate::build::lattice::Wall;
use crate::image::decode::{Sharing, Spot, TileView};
use hardpan::format::bundle::{
    HEAD, Head, MEDIUM, MEDIUM_REACH, MEDIUM_RELIEF_LOG2, NARROW, NARROW_REACH, TRIANGLES, VERTEX_LIMIT, WIDE,
};
use hardpan::format::rays::{Extents, RAYS_MAGIC, RaysRecord, RaysTile, Walls, wall};
use hardpan::format::{ALIGN, Attribute, MAX_PALETTE, Node, PALETTE, ROOT, Tile, TileRecord, block};
use hardpan_shaders::sort::morton;
use zerocopy::{FromZeros, IntoBytes};

/// How many walls are looked at for the next place in a bundle.
const CANDIDATES: usize = 64;
/// Words from which walls of a block start.
const WALLS_ALIGN: usize = 4;

/// The blob of a tile with these walls, whose height fields have these heights.
pub fn blob(
    head: &Tile,
    tile: &[u32],
    tile_log2: u32,
    walls: &[&Wall],
    posts: [i32; 2],
) -> Result<Vec<u32>, BuildError> {
    let mut record = TileRecord::new_zeroed();
    (record.x, record.y) = (head.x, head.y);
    let tile = TileView::alone(&record, head, tile);
    let mut palette: Vec<(u16, u16)> = walls.iter().map(|w| (w.material, w.source)).collect();
    palette.sort_unstable();
    palette.dedup();
    if palette.len() > MAX_PALETTE {
        return Err(Limit::Attributes { pairs: palette.len(), most: MAX_PALETTE, tile_log2: None }.into());
    }
    let [x, y] = [head.x, head.y].map(|v| i64::from(v) << tile_log2);
    let frame = Frame::of(x, y, tile_log2);
    let (records, places) = bundles(walls, &palette, frame);

    let mut words = vec![0u32; PALETTE];
    for &(material, source) in &palette {
        words.extend(Attribute { material, source, flags: 0 }.words());
    }
    words.resize(words.len().next_multiple_of(block::WORDS), 0);
    let (records_at, blocks) = (words.len(), tile.block_count());
    words.resize(records_at + RaysRecord::WORDS * blocks as usize, 0);
    let mut fault = None;
    let ends = |i: u32| {
        let c = walls[i as usize].corners;
        [0, 1].map(|end| {
            [0, 1].map(|axis| {
                let of = c.map(|p| i64::from(p[axis]));
                if end == 0 { of.into_iter().min() } else { of.into_iter().max() }.unwrap_or_default()
            })
        })
    };
    let by = Sharing { ends: &ends, meets: &|i, low, size| meets(&walls[i as usize].corners, low, size) };
    tile.share((0..walls.len() as u32).collect(), &by, &mut |spot, _, _, some| {
        let Spot::Block(cells, number) = spot else {
            debug_assert!(some.is_empty(), "a wall without a block");
            return;
        };
        let mut heights = [NOTHING; block::CELLS];
        let mut wall_heights = [NOTHING; block::CELLS];
        let mut named: [Vec<(u32, u16)>; block::CELLS] = Default::default();
        for cell in 0..block::CELLS {
            if cells.is_node() {
                break;
            }
            let has_patches =
                cells.ground(cell, |corners| corners.iter().for_each(|p| widen(&mut heights[cell], p[2])));
            if has_patches {
                posts.iter().for_each(|z| widen(&mut heights[cell], *z));
            }
            let (low, size) = cells.square(cell);
            for &i in some.iter().filter(|i| meets(&walls[**i as usize].corners, low, size)) {
                walls[i as usize].corners.iter().for_each(|p| widen(&mut wall_heights[cell], p[2]));
                let (bundle, part) = places[i as usize];
                named[cell].push((bundle, 1 << part));
            }
        }
        let (base, unit, extents) = extents(&heights);
        let mut record = RaysRecord { base, unit, walls: 0, reserved: 0, extents };
        if named.iter().any(|n| !n.is_empty()) {
            words.resize(words.len().next_multiple_of(WALLS_ALIGN), 0);
            record.walls = words.len() as u32;
            match block_walls(&wall_heights, named) {
                Some(more) => words.extend(more),
                None => fault = Some(Limit::Walls),
            }
        }
        let record: [u32; RaysRecord::WORDS] = zerocopy::transmute!(record);
        words[records_at + RaysRecord::WORDS * number as usize..][..RaysRecord::WORDS].copy_from_slice(&record);
    });
    if let Some(limit) = fault {
        return Err(limit.into());
    }
    words.resize(words.len().next_multiple_of(ALIGN / 4), 0);
    let mut node = Node::new_zeroed();
    (node.base, node.shift) = (frame.base, frame.shift);
    (node.bundles, node.bundle_count) = ((words.len() / (ALIGN / 4)) as u32, records.len() as u32);
    let node: [u32; 8] = zerocopy::transmute!(node);
    words[ROOT..][..8].copy_from_slice(&node);
    words.extend(records.as_bytes().as_chunks().0.iter().map(|word| u32::from_ne_bytes(*word)));
    let mut own = RaysTile::new_zeroed();
    (own.magic, own.index, own.x, own.y) = (RAYS_MAGIC, head.index, head.x, head.y);
    (own.words, own.palette_len) = (words.len() as u32, palette.len() as u32);
    (own.records, own.blocks) = (records_at as u32, blocks);
    walls.iter().for_each(|w| own.references[w.kind as usize - 1] += 1);
    let own: [u32; 32] = zerocopy::transmute!(own);
    words[..32].copy_from_slice(&own);
    Ok(words)
}

/// Heights of nothing.
const NOTHING: [i32; 2] = [i32::MAX, i32::MIN];

fn widen(heights: &mut [i32; 2], z: i32) {
    *heights = [heights[0].min(z), heights[1].max(z)];
}

/// Base, log2 of the unit, and the bytes of heights.
fn extents(heights: &[[i32; 2]; block::CELLS]) -> (i32, u32, Extents) {
    let [low, high] = heights.iter().fold(NOTHING, |a, b| [a[0].min(b[0]), a[1].max(b[1])]);
    if low > high {
        return (0, 0, Extents { cells: [Extents::NOTHING; block::CELLS] });
    }
    let (base, span) = (i64::from(low), i64::from(high) - i64::from(low));
    let unit = (0..).find(|unit| span <= 255 << unit).unwrap_or(0);
    let bytes = |[low, high]: [i32; 2]| match low > high {
        true => Extents::NOTHING,
        false => {
            let up = (1i64 << unit) - 1;
            [(i64::from(low) - base) >> unit, (i64::from(high) - base + up) >> unit].map(|v| v as u8)
        }
    };
    (low, unit, Extents { cells: heights.map(bytes) })
}

/// The walls of a block; none if they are too many.
fn block_walls(heights: &[[i32; 2]; block::CELLS], mut named: [Vec<(u32, u16)>; block::CELLS]) -> Option<Vec<u32>> {
    let first = named.iter().flatten().map(|(bundle, _)| *bundle).min()?;
    let mut ends = [0u16; block::CELLS];
    let mut rest = Vec::new();
    for (end, cell) in ends.iter_mut().zip(&mut named) {
        cell.sort_unstable();
        for run in cell.chunk_by(|a, b| a.0 == b.0) {
            let mask = run.iter().fold(0, |all, (_, mask)| all | mask);
            rest.push(wall::of(u16::try_from(run[0].0 - first).ok()?, mask));
        }
        *end = u16::try_from(rest.len()).ok()?;
    }
    let (base, unit, extents) = extents(heights);
    (first < 1 << 24).then_some(())?;
    let head: [u32; Walls::WORDS] =
        zerocopy::transmute!(Walls { base, unit_and_first: unit | first << 8, extents, ends });
    Some(head.into_iter().chain(rest).collect())
}

/// The class of bundles that a wall fits, and what all of one bundle have in common with it.
fn class(w: &Wall, frame: Frame) -> u16 {
    let span = |axis: usize| {
        let of = w.corners.map(|p| i64::from(p[axis]));
        of.iter().max().unwrap_or(&0) - of.iter().min().unwrap_or(&0)
    };
    let slack = 1i64 << frame.shift;
    let reach = (1i64 << (15 + frame.shift)) - slack;
    let far = |p: &[i32; 3]| (0..2).any(|i| (i64::from(p[i]) - i64::from(frame.base[i])).abs() >= reach);
    let plan = span(0).max(span(1)) + slack;
    let fits = |class| plan <= spans(class, frame)[0] && span(2) <= spans(class, frame)[1];
    match () {
        () if w.corners.iter().any(far) => WIDE,
        () if fits(NARROW) => NARROW,
        () if fits(MEDIUM) => MEDIUM,
        () => WIDE,
    }
}

/// Most extents of a bundle of a class, in plan and height.
fn spans(class: u16, frame: Frame) -> [i64; 2] {
    let slack = 1i64 << frame.shift;
    match class {
        NARROW => [i64::from(NARROW_REACH) - slack, i64::from(u16::MAX)],
        MEDIUM => [i64::from(MEDIUM_REACH) - slack, (1 << MEDIUM_RELIEF_LOG2) - 1],
        _ => [i64::MAX; 2],
    }
}

/// Bundles of walls, and where each wall went: bundle and place.
fn bundles(walls: &[&Wall], palette: &[(u16, u16)], frame: Frame) -> (Vec<Record>, Vec<(u32, u8)>) {
    let key = |i: &u32| {
        let w = walls[*i as usize];
        let attribute = palette.binary_search(&(w.material, w.source)).unwrap_or_default() as u8;
        let middle = |axis: usize| {
            let sum: i64 = w.corners.iter().map(|p| i64::from(p[axis])).sum();
            (sum / 3 - i64::from(frame.base[axis]) + (1 << 32)) as u64 >> 4
        };
        (w.kind, attribute, class(w, frame), morton(middle(0), middle(1)), *i)
    };
    let mut order: Vec<u32> = (0..walls.len() as u32).collect();
    order.sort_by_cached_key(key);
    let (mut records, mut places) = (Vec::new(), vec![(0, 0); walls.len()]);
    let common = |i: &u32| {
        let (kind, attribute, class, ..) = key(i);
        (kind, attribute, class)
    };
    for run in order.chunk_by(|a, b| common(a) == common(b)) {
        let (kind, attribute, class) = common(&run[0]);
        let mut left: Vec<u32> = run.iter().rev().copied().collect();
        while !left.is_empty() {
            let members = gathered(walls, &mut left, class, frame);
            let mut parts = vec![(members, class)];
            while let Some((mut members, class)) = parts.pop() {
                let (points, corners) = points(walls, &members);
                match packed(class, frame, &points, &corners, attribute) {
                    Some(mut record) => {
                        record[HEAD] = Head(record[HEAD]).of_kind(kind as u16).0;
                        (0..).zip(&members).for_each(|(part, i)| places[*i as usize] = (records.len() as u32, part));
                        records.push(record);
                    }
                    None if members.len() > 1 => {
                        let rest = members.split_off(members.len() / 2);
                        parts.extend([(rest, class), (members, class)]);
                    }
                    None => parts.push((members, (class + 1).min(WIDE))),
                }
            }
        }
    }
    (records, places)
}

/// Takes the next bundle's walls from the end of what is left: first the last, then the nearest that need the fewest
/// new vertices.
fn gathered(walls: &[&Wall], left: &mut Vec<u32>, class: u16, frame: Frame) -> Vec<u32> {
    let [plan, relief] = spans(class, frame);
    let (mut members, mut points): (Vec<u32>, Vec<[i32; 3]>) = (Vec::new(), Vec::new());
    let mut ends = [[i64::MAX; 3], [i64::MIN; 3]];
    let with = |ends: [[i64; 3]; 2], w: &Wall| {
        w.corners.iter().fold(ends, |[low, high], p| {
            let p = p.map(i64::from);
            [[0, 1, 2].map(|k| low[k].min(p[k])), [0, 1, 2].map(|k| high[k].max(p[k]))]
        })
    };
    while members.len() < TRIANGLES {
        let from = left.len().saturating_sub(CANDIDATES);
        let mut best: Option<(usize, usize)> = None;
        for at in (from..left.len()).rev() {
            let w = walls[left[at] as usize];
            let new = w.corners.iter().filter(|p| !points.contains(p)).count();
            if points.len() + new > VERTEX_LIMIT[usize::from(class).min(2)]
                || best.is_some_and(|(least, _)| least <= new)
            {
                continue;
            }
            let [low, high] = with(ends, w);
            let fits = high[0] - low[0] <= plan && high[1] - low[1] <= plan && high[2] - low[2] <= relief;
            if fits || members.is_empty() {
                best = Some((new, at));
            }
            if new == 0 || members.is_empty() {
                break;
            }
        }
        let Some((_, at)) = best else { break };
        let i = left.remove(at);
        ends = with(ends, walls[i as usize]);
        for p in walls[i as usize].corners {
            if !points.contains(&p) {
                points.push(p);
            }
        }
        members.push(i);
    }
    members
}

/// The points of walls, each once, and which are their corners.
fn points(walls: &[&Wall], members: &[u32]) -> (Vec<[i32; 3]>, Vec<[u8; 3]>) {
    let mut points: Vec<[i32; 3]> = Vec::new();
    let mut number = |p: [i32; 3]| {
        let at = points.iter().position(|q| *q == p).unwrap_or_else(|| {
            points.push(p);
            points.len() - 1
        });
        at as u8
    };
    let corners = members.iter().map(|i| walls[*i as usize].corners.map(&mut number)).collect();
    (points, corners)
}
