//! Triangles of one sheet overlap none of each other.

use super::decode::Content;
use super::walk::Member;
use crate::verify::tile::plan::boxes_overlap;
use hashbrown::HashMap;

/// Triangles of a sheet from which on it is crowded.
pub(super) const MIN_CROWDED: usize = 17;

/// Whether none of a few triangles overlaps another: boxes first, all at once.
pub(super) fn all_apart<const SMALL: bool>(content: &Content, sheet: &[Member]) -> bool {
    sheet.iter().enumerate().all(|(i, a)| {
        let mut near = 0u32;
        for (j, b) in sheet[..i].iter().enumerate() {
            let known = (a.proof == b.proof) & (a.proof != 0);
            near |= u32::from(boxes_overlap(a.bounds, b.bounds) & !known) << j;
        }
        let tri = &content.tris[a.number as usize];
        while near != 0 {
            let b = &sheet[near.trailing_zeros() as usize];
            if tri.overlaps::<SMALL>(&content.tris[b.number as usize]) {
                return false;
            }
            near &= near - 1;
        }
        true
    })
}

/// Proves those of a sheet apart that meet in the vertex that most of them have: sorted by their directions from there,
/// each ends before the next begins. They get the number of that proof; says whether they did.
pub(super) fn fan(content: &Content, sheet: &mut [Member], proof: u32) -> bool {
    let tri = |member: &Member| &content.tris[member.number as usize];
    let mut counts: HashMap<[i32; 2], u32> = HashMap::new();
    for (t, k) in sheet.iter().map(tri).flat_map(|t| [0, 1, 2].map(|k| (t, k))) {
        *counts.entry([t.x[k], t.y[k]]).or_default() += 1;
    }
    let Some((&vertex, _)) = counts.iter().max_by_key(|(vertex, count)| (**count, **vertex)) else { return false };
    // of each the directions in which it begins and ends, counter-clockwise
    let mut spokes: Vec<([[i64; 2]; 2], usize)> = Vec::new();
    for (i, t) in sheet.iter().map(tri).enumerate() {
        let Some(k) = (0..3).find(|&k| [t.x[k], t.y[k]] == vertex) else { continue };
        let way = |n: usize| [t.x[n % 3], t.y[n % 3]].map(i64::from);
        let from = vertex.map(i64::from);
        spokes.push(([k + 1, k + 2].map(|n| [way(n)[0] - from[0], way(n)[1] - from[1]]), i));
    }
    let cross = |a: [i64; 2], b: [i64; 2]| i128::from(a[0]) * i128::from(b[1]) - i128::from(a[1]) * i128::from(b[0]);
    let south = |d: [i64; 2]| d[1] < 0 || d[1] == 0 && d[0] < 0;
    let order = |a: [i64; 2], b: [i64; 2]| south(a).cmp(&south(b)).then(0.cmp(&cross(a, b)));
    spokes.sort_unstable_by(|([a, _], _), ([b, _], _)| order(*a, *b));
    let apart = spokes.iter().zip(spokes.iter().cycle().skip(1)).all(|(([from, to], _), ([next, _], _))| {
        let turn = cross(*from, *next);
        let same = turn == 0 && south(*from) == south(*next);
        turn < 0 || turn == 0 && !same || turn > 0 && cross(*to, *next) >= 0
    });
    if apart && spokes.len() > 1 {
        spokes.iter().for_each(|(_, i)| sheet[*i].proof = proof);
    }
    apart && spokes.len() > 1
}

/// Why it is not proven that triangles of a sheet lie apart.
#[derive(Debug, PartialEq)]
pub(super) enum Unproven {
    /// Two overlap, and this is a corner of the first.
    Overlap([i32; 3]),
    /// There are too many pairs to compare.
    Crowded,
}

impl Unproven {
    pub(super) fn text(&self) -> String {
        match self {
            Unproven::Overlap([x, y, z]) => {
                format!("two triangles of one sheet overlap; the first has a corner at lattice ({x}, {y}, {z})")
            }
            Unproven::Crowded => "too many long and thin triangles lie side by side here to be proven apart".into(),
        }
    }
}

/// Whether a triangle overlaps none of others, but for those that are proven not to; so many pairs may still be
/// compared.
pub(super) fn apart<const SMALL: bool>(
    content: &Content,
    left: &mut u64,
    one: &Member,
    others: &[Member],
) -> Result<(), Unproven> {
    let tri = &content.tris[one.number as usize];
    *left = left.saturating_sub(others.len() as u64);
    if *left == 0 {
        return Err(Unproven::Crowded);
    }
    let overlaps = |other: &Member| {
        let known = one.proof != 0 && one.proof == other.proof;
        !known && boxes_overlap(one.bounds, other.bounds) && tri.overlaps::<SMALL>(&content.tris[other.number as usize])
    };
    if others.iter().any(overlaps) {
        return Err(Unproven::Overlap(tri.corner(0)));
    }
    Ok(())
}
