//! Facing: which triangles are undersides.
//!
//! Real files wind at will, so a source's winding is trusted only if the source is exactly closed: on the lattice,
//! every directed edge of its triangles once and its opposite once. The sign of its volume then says which way
//! its triangles look. Of anything else every triangle is ground.

use super::{Face, area2, edge};
use crate::{Material, Options, Scene, Undersides};

/// Whether each triangle looks down; empty if none does. Facing is that of the source, before rounding.
pub fn ceilings(
    scene: &Scene,
    vertices: &[[i32; 3]],
    faces: &[Face],
    materials: &[Material],
    options: &Options,
) -> Vec<bool> {
    let rules: Vec<Undersides> = materials.iter().map(|m| m.undersides.unwrap_or(options.undersides)).collect();
    let turned = if rules.contains(&Undersides::Auto) { turned(vertices, faces) } else { Vec::new() };
    if turned.iter().all(Option::is_none) && !rules.contains(&Undersides::Ceiling) {
        return Vec::new();
    }
    let down = |(i, f): (usize, &Face)| {
        let turned = match rules[usize::from(f.material)] {
            Undersides::Ground => None,
            Undersides::Ceiling => Some(false),
            Undersides::Auto => turned.get(usize::from(f.source)).copied().flatten(),
        };
        !f.is_outside() && turned.is_some_and(|turned| turned != looks_down(scene, vertices, i, f))
    };
    faces.iter().enumerate().map(down).collect()
}

/// Of each closed source whether it is inside out.
fn turned(vertices: &[[i32; 3]], faces: &[Face]) -> Vec<Option<bool>> {
    let sources = faces.iter().map(|f| usize::from(f.source) + 1).max().unwrap_or(0);
    // opposite edges cancel out; what remains proves a source open
    let mut sums = vec![0u64; sources];
    for f in faces {
        let sum = &mut sums[usize::from(f.source)];
        if f.is_outside() {
            *sum = sum.wrapping_add(ODD);
            continue;
        }
        for (a, b) in edges(f) {
            // quickly: sums of others come to zero as well, but seldom, and are looked at closely
            let h = edge(a, b).wrapping_mul(ODD);
            let h = h ^ h >> 32;
            *sum = if a < b { sum.wrapping_add(h) } else { sum.wrapping_sub(h) };
        }
    }
    let mut turned = vec![None; sources];
    let mut paired = Vec::new();
    for f in faces.iter().filter(|f| !f.is_outside() && sums[usize::from(f.source)] == 0) {
        paired.extend(edges(f).map(|(a, b)| (f.source, edge(a, b), a < b)));
    }
    paired.sort_unstable();
    for source in paired.chunk_by(|a, b| a.0 == b.0) {
        if source.chunk_by(|a, b| a.1 == b.1).all(|run| matches!(run, [a, b] if a.2 != b.2)) {
            turned[usize::from(source[0].0)] = Some(false);
        }
    }
    let mut volumes = vec![0i128; sources];
    for f in faces.iter().filter(|f| !f.is_outside() && turned[usize::from(f.source)].is_some()) {
        let [a, b, c] = f.v.map(|v| vertices[v as usize].map(i128::from));
        // sums beyond i128 wrap, and the whole, which is small, comes out right
        let minor = |i: usize, j: usize| b[i] * c[j] - b[j] * c[i];
        let six = a[0] * minor(1, 2) + a[1] * minor(2, 0) + a[2] * minor(0, 1);
        volumes[usize::from(f.source)] = volumes[usize::from(f.source)].wrapping_add(six);
    }
    for (t, volume) in turned.iter_mut().zip(volumes) {
        *t = t.filter(|_| volume != 0).map(|_| volume < 0);
    }
    turned
}

/// Any odd number with bits all over, which a triangle outside the domain adds to its source, too: no few of them cancel out.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Directed edges; none of a triangle with two equal corners, for its neighbours share them.
fn edges(f: &Face) -> impl Iterator<Item = (u32, u32)> {
    let [a, b, c] = f.v;
    let flat = a == b || b == c || c == a;
    [(a, b), (b, c), (c, a)].into_iter().filter(move |_| !flat)
}

/// A mix of 64 bits (the finaliser of SplitMix64).
pub fn mix(v: u64) -> u64 {
    let v = v.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let v = (v ^ v >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let v = (v ^ v >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    v ^ v >> 31
}

/// Whether a triangle of the scene is clockwise in plan, by its positions in a fixed order of corners;
/// by its lattice points if that is undecided.
fn looks_down(scene: &Scene, vertices: &[[i32; 3]], i: usize, f: &Face) -> bool {
    let mut p = scene.triangles[i].v.map(|v| scene.positions[v as usize]);
    let mut odd = false;
    for (i, j) in [(0, 1), (1, 2), (0, 1)] {
        let before = |k: usize| p[i][k].total_cmp(&p[j][k]);
        if before(0).then(before(1)).then(before(2)).is_gt() {
            p.swap(i, j);
            odd = !odd;
        }
    }
    let area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
    if area == 0.0 {
        let [a, b, c] = f.v.map(|v| vertices[v as usize]);
        return area2(a, b, c) < 0;
    }
    (area < 0.0) != odd
}
