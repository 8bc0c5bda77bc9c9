//! parry3d: the collision library of the Rust physics engines, f32.

use crate::scenes::Mesh;
use crate::{Peer, Query, Surface, two_rays};
use parry3d::math::Vector;
use parry3d::query::{Ray, RayCast};
use parry3d::shape::{CompositeShapeRef, TriMesh};
use std::cell::Cell;

pub struct Parry(TriMesh);

fn vertical(q: &Query, sign: f64) -> Ray {
    let [x, y, z] = q.at.map(|v| v as f32);
    Ray::new(Vector::new(x, y, z), Vector::new(0.0, 0.0, sign as f32))
}

impl Parry {
    pub fn new(mesh: &Mesh) -> Parry {
        let positions = mesh.positions.iter().map(|p| Vector::new(p[0], p[1], p[2])).collect();
        Parry(TriMesh::new(positions, mesh.triangles.clone()).expect("a mesh that parry3d accepts"))
    }
}

impl Peer for Parry {
    #[inline(always)]
    fn closest(&self, q: &Query) -> Option<Surface> {
        two_rays(q, |sign, reach| {
            let (id, t) = CompositeShapeRef(&self.0).cast_local_ray(&vertical(q, sign), reach as f32, false)?;
            let n = self.0.triangle(id).scaled_normal();
            Some(Surface { z: q.at[2] + sign * f64::from(t), slope: [-n.x / n.z, -n.y / n.z].map(f64::from) })
        })
    }

    fn layers(&self, q: &Query) -> (usize, f64) {
        // A test that never accepts visits every leaf on the way.
        let ray = vertical(q, -1.0);
        let found = Cell::new((0, 0.0));
        self.0.bvh().cast_ray(&ray, q.reach as f32, |triangle, _| {
            if let Some(t) = self.0.triangle(triangle).cast_local_ray(&ray, q.reach as f32, false) {
                let (n, sum) = found.get();
                found.set((n + 1, sum + q.at[2] - f64::from(t)));
            }
            None
        });
        found.get()
    }

    fn bytes(&self) -> usize {
        self.0.heap_memory_size()
    }
}
