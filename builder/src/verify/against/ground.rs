//! Which triangles of a source are ground, decided apart from the builder.

use super::{DOUBT, LeftOut, Point, plan_area, shells};
use crate::options::{Options, Undersides};
use crate::scene::{Material, Scene};
use hardpan::Terrain;
use hashbrown::HashMap;
use rayon::prelude::*;

/// Outcome of the source's triangles.
pub(super) struct Sorted {
    /// Those that must have ground, of coincident ones the first, with the materials that stay there.
    pub(super) kept: Vec<([Point; 3], u16)>,
    /// For each triangle that settings certainly keep, the material that stays there: its own where no other ground is
    /// coincident.
    pub(super) stays: Vec<Option<u16>>,
    /// Those that are not kept, by cause.
    pub(super) lost: Vec<LeftOut>,
}

/// Sorts out which triangles of the source must have ground. Of coincident ones the material of highest precedence and
/// priority stays, then one that looks up, then the first by name.
pub(super) fn sort_out(terrain: &Terrain, scene: &Scene, rules: &Options) -> Sorted {
    let h = terrain.header();
    let causes = [
        "vertical",
        "collapsed",
        "duplicate",
        "excluded material",
        "obstacle",
        "outside the domain",
        "underside",
        "steeper than the limit",
    ];
    let mut lost = causes.map(|cause| LeftOut { cause, triangles: 0, plan_area: 0.0, first: None });
    // the first at each place, by its number among those that are kept, and which of them is at the place of each
    // triangle
    let mut first: HashMap<([[i64; 3]; 3], bool), u32> = HashMap::with_capacity(scene.triangles.len());
    let mut at = vec![None; scene.triangles.len()];
    let mut left_out = vec![false; scene.triangles.len()];
    let mut kept: Vec<([Point; 3], u16)> = Vec::with_capacity(scene.triangles.len());
    let stays = |a: (bool, u16), b: (bool, u16)| {
        let [p, q] = [a, b].map(|(_, m)| &scene.materials[usize::from(m)]);
        let is_first = q.standing().cmp(&p.standing()).then(a.0.cmp(&b.0)).then_with(|| p.name.cmp(&q.name)).is_le();
        if is_first { a } else { b }
    };
    // of those that are kept whether they look down
    let mut backs: Vec<bool> = Vec::with_capacity(scene.triangles.len());
    let scale = [-h.xy_log2, -h.xy_log2, -h.z_log2].map(|l| 2f64.powi(l));
    let corners: Vec<[Point; 3]> = scene.triangles.iter().map(|t| t.v.map(|v| scene.positions[v as usize])).collect();
    let steps = |c: &[Point; 3]| {
        let steps = c.map(|c| [0, 1, 2].map(|i| (c[i] * scale[i]).round_ties_even() - h.origin[i] as f64));
        let inside = steps.iter().flatten().all(|v| (-2147483648.0..=2147483647.0).contains(v));
        inside.then(|| steps.map(|c| c.map(|v| v as i64)))
    };
    let steps: Vec<Option<[[i64; 3]; 3]>> = corners.par_iter().map(steps).collect();
    let undersides = |m: &Material| m.undersides.unwrap_or(rules.undersides);
    let is_asked = scene.materials.iter().any(|m| undersides(m) == Undersides::Auto);
    let inside_out = if is_asked { shells::inside_out(scene, &steps) } else { Vec::new() };
    for (i, t) in scene.triangles.iter().enumerate() {
        let c = corners[i];
        let m = &scene.materials[usize::from(t.material)];
        let [p0, p1, p2] = c.map(|[x, y, _]| robust::Coord { x, y });
        let facing = robust::orient2d(p0, p1, p2);
        let cause = match &steps[i] {
            _ if !m.include => Some(3),
            _ if m.obstacle => Some(4),
            None => Some(5),
            Some(q) => flatness(q).or_else(|| {
                // rounding must not decide
                let down = if facing != 0.0 { facing < 0.0 } else { exact_area(q) < 0 };
                let underside = match undersides(m) {
                    Undersides::Ground => false,
                    Undersides::Ceiling => down,
                    Undersides::Auto => {
                        inside_out.get(i).copied().flatten().is_some_and(|inside_out| inside_out != down)
                    }
                };
                let mut q = *q;
                q.sort_unstable();
                match rules.max_slope {
                    _ if underside => Some(6),
                    Some(most) if slope(&c) > (most + 7.3e-7).min(90f64.next_down()) => Some(7), // at the limit all stays
                    _ => {
                        let next = kept.len() as u32;
                        let number = *first.entry((q, m.friction_only)).or_insert(next);
                        at[i] = Some(number);
                        (number != next).then_some(2)
                    }
                }
            }),
        };
        let Some(cause) = cause else {
            kept.push((c, t.material));
            backs.push(facing < 0.0);
            continue;
        };
        if let Some(number) = at[i] {
            let (material, back) = (&mut kept[number as usize].1, &mut backs[number as usize]);
            (*back, *material) = stays((*back, *material), (facing < 0.0, t.material));
        }
        left_out[i] = match cause {
            3 | 4 => true,
            // what is closed depends on how files are named
            6 => undersides(m) == Undersides::Ceiling,
            // and what is steep, close to a limit or upright, on rounding
            7 => rules.max_slope.is_some_and(|most| (most + DOUBT..90.0 - DOUBT).contains(&slope(&c))),
            _ => false,
        };
        let lost = &mut lost[cause];
        lost.triangles += 1;
        lost.plan_area += plan_area(&c).abs();
        lost.first.get_or_insert(c[0]);
    }
    let there = |at: Option<u32>| at.map(|number| kept[number as usize].1);
    let all = at.into_iter().zip(left_out).zip(&scene.triangles);
    let stays = all.map(|((at, out), t)| if out { None } else { there(at).or(Some(t.material)) }).collect();
    Sorted { kept, stays, lost: lost.into() }
}

/// Twice the area in plan on the lattice, above zero if anticlockwise.
pub(super) fn exact_area(q: &[[i64; 3]; 3]) -> i128 {
    let d = |k: usize, i: usize| i128::from(q[k][i] - q[0][i]);
    d(1, 0) * d(2, 1) - d(1, 1) * d(2, 0)
}

/// In degrees.
pub(super) fn slope([a, b, c]: &[Point; 3]) -> f64 {
    let (u, v) = ([0, 1, 2].map(|i| b[i] - a[i]), [0, 1, 2].map(|i| c[i] - a[i]));
    let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    n[0].hypot(n[1]).atan2(n[2].abs()).to_degrees()
}

/// Whether three lattice points have no area in plan: 0 if they stand upright, 1 if they lie on a line.
pub(super) fn flatness(q: &[[i64; 3]; 3]) -> Option<usize> {
    let d = |k: usize, i: usize| i128::from(q[k][i] - q[0][i]);
    let normal = |i: usize, j: usize| d(1, i) * d(2, j) - d(1, j) * d(2, i);
    match [normal(0, 1), normal(1, 2), normal(2, 0)] {
        [0, 0, 0] => Some(1),
        [0, ..] => Some(0),
        _ => None,
    }
}
