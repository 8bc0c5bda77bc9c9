//! Triangles of materials that give friction alone, and the places of them that have no ground below.

use crate::build::lattice::Mesh;
use crate::report::Bare;
use crate::util::exact::exp2;
use hardpan::Terrain;
use rayon::prelude::*;

/// Number of a material, and corners in metres.
type Paint = (u16, [[f64; 3]; 3]);

/// All triangles that give friction alone.
pub fn paints(mesh: &Mesh) -> Vec<Paint> {
    let steps = [mesh.step[0], mesh.step[0], mesh.step[1]].map(exp2);
    let place =
        |v: u32| [0, 1, 2].map(|k| (mesh.origin[k] + i64::from(mesh.vertices[v as usize][k])) as f64 * steps[k]);
    let is_paint = |m: u16| mesh.materials[usize::from(m)].friction_only;
    mesh.faces.iter().filter(|f| is_paint(f.material)).map(|f| (f.material, f.v.map(place))).collect()
}

/// Which of them have no ground at their middle or just within a corner.
pub fn bare(t: &Terrain, paints: &[Paint]) -> Option<Bare> {
    let h = t.header();
    let length = h.precedence_band.saturating_add(h.layer_merge);
    let above = h.layer_merge as f64 * exp2(h.z_log2 - 8);
    let has_ground = |[x, y, z]: &[f64; 3]| t.segment([*x, *y, z + above], length).found();
    let first = |(material, corners): &Paint| {
        let middle = [0, 1, 2].map(|k| corners.iter().map(|c| c[k]).sum::<f64>() / 3.0);
        let within = corners.map(|c| [0, 1, 2].map(|k| c[k] + (middle[k] - c[k]) / 16.0));
        let at = [middle].into_iter().chain(within).find(|p| !has_ground(p))?;
        Some((*material, at))
    };
    let all: Vec<(u16, [f64; 3])> = paints.par_iter().filter_map(first).collect();
    let &(material, at) = all.first()?;
    Some(Bare { triangles: all.len() as u64, material: t.material_name(material).into(), at })
}
