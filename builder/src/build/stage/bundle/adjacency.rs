//! Which triangles share an edge.

use super::Tri;
use super::grow::NONE;
use hardpan_shaders::sort::lists;

/// log2 of the vertices that [`number`] keeps together.
pub(super) const PAGE_LOG2: u32 = 6;

/// Numbers the corners of triangles from zero on, and says how many there are.
pub(super) fn number(tris: &mut [Tri]) -> usize {
    let [first, last] = tris.iter().flat_map(|t| t.v).fold([u32::MAX, 0], |[a, b], v| [a.min(v), b.max(v)]);
    let first = first.min(last);
    // vertices ascend by place, so those of a square come in runs, which may lie far from each other: only what is near
    // them is kept, and where
    let mut pages = vec![NONE; ((last - first) >> PAGE_LOG2) as usize + 1];
    let mut number = Vec::new();
    let mut count = 0;
    let mut local = |v: u32| {
        let page = &mut pages[((v - first) >> PAGE_LOG2) as usize];
        if *page == NONE {
            *page = number.len() as u32;
            number.resize(number.len() + (1 << PAGE_LOG2), NONE);
        }
        let n = &mut number[(*page + ((v - first) & ((1 << PAGE_LOG2) - 1))) as usize];
        if *n == NONE {
            *n = count;
            count += 1;
        }
        *n
    };
    tris.iter_mut().flat_map(|t| &mut t.v).for_each(|v| *v = local(*v));
    count as usize
}

/// Across an edge that a triangle does not share with just one other, which runs along it the other way.
pub const ALONE: u32 = u32::MAX;

/// Across the edge from each corner of each triangle the one other that shares it, or [`ALONE`].
pub fn neighbours(tris: &[Tri]) -> Vec<[u32; 3]> {
    let mut tris = tris.to_vec();
    let vertices = number(&mut tris);
    beside(&tris, vertices)
}

/// The same of triangles with so many vertices, numbered from zero on.
pub(super) fn beside(tris: &[Tri], vertices: usize) -> Vec<[u32; 3]> {
    // edges by their lesser end: the greater one, whose they are, and whether they run towards it
    let edges = tris.iter().map(|t| t.v).enumerate().flat_map(|(t, n)| {
        (0..3).map(move |k| {
            let (a, b) = (n[k], n[if k == 2 { 0 } else { k + 1 }]);
            (a.min(b), (a.max(b), ((3 * t + k) as u32) << 1 | u32::from(a < b)))
        })
    });
    let (starts, edges) = lists(vertices, edges);
    let mut beside = vec![[ALONE; 3]; tris.len()];
    let mut set = |edge: u32, to: u32| beside[edge as usize / 6][edge as usize / 2 % 3] = to;
    // of each greater end the lesser one that had it last, and the first two edges between them
    let mut known = vec![(NONE, 0, None); vertices];
    for (lesser, ends) in (0..).zip(starts[..=vertices].windows(2)) {
        for &(greater, edge) in &edges[ends[0] as usize..ends[1] as usize] {
            let known = &mut known[greater as usize];
            match *known {
                (before, ..) if before != lesser => *known = (lesser, edge, None),
                (_, first, None) => {
                    known.2 = Some(edge);
                    if (first ^ edge) & 1 == 1 {
                        set(first, edge / 6);
                        set(edge, first / 6);
                    }
                }
                (_, first, Some(second)) => [first, second].map(|edge| set(edge, ALONE)).into_iter().collect(),
            }
        }
    }
    beside
}
