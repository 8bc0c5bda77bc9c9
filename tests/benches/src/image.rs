//! Hardpan as one of the peers, and its images of the scenes.

use crate::scenes::Mesh;
use crate::{Peer, Query, Sight, Surface};
use hardpan::{Answer, Hit, RayOptions, Terrain};
use hardpan_builder::{Built, HeightField, Material, Options, Scene, Triangle, Undersides, build};
use std::cell::RefCell;

fn one_material() -> Scene {
    Scene { materials: vec![Material::new("ground", 0.9)], sources: vec!["scene".into()], ..Scene::default() }
}

pub fn scene(mesh: &Mesh) -> Scene {
    Scene {
        positions: mesh.positions.iter().map(|p| p.map(f64::from)).collect(),
        triangles: mesh.triangles.iter().map(|&v| Triangle { v, ..Triangle::default() }).collect(),
        ..one_material()
    }
}

pub fn field(field: HeightField) -> Scene {
    Scene { fields: vec![field], ..one_material() }
}

/// An image of the scene as it is given, for its peers get the same triangles: nothing is repaired.
pub fn image(scene: &Scene) -> Built {
    let options = Options { undersides: Undersides::Ground, stitch: None, ..Options::default() };
    build(scene, &options).expect("a scene that can be built")
}

/// A terrain, and room for the layers of one place.
pub struct Hardpan<'a> {
    pub terrain: Terrain<'a>,
    room: RefCell<Vec<Hit>>,
}

impl<'a> Hardpan<'a> {
    pub fn new(image: &'a [u8]) -> Self {
        let terrain = Terrain::open(image).expect("an image just built");
        let blank = terrain.closest([f64::NAN; 3]).hit;
        Hardpan { terrain, room: RefCell::new(vec![blank; terrain.max_layers() as usize]) }
    }

    #[inline(always)]
    pub fn surface(&self, answer: &Answer) -> Option<Surface> {
        answer
            .found()
            .then(|| Surface { z: self.terrain.z_f64(&answer.hit), slope: self.terrain.slope_f64(&answer.hit) })
    }

    /// Heights closer than this, in metres, are one layer.
    pub fn layer_merge(&self) -> f64 {
        let header = self.terrain.header();
        header.layer_merge as f64 * f64::from(header.z_log2 - 8).exp2()
    }

    /// How far the first surface on a ray is.
    #[inline(always)]
    pub fn sight(&self, s: &Sight) -> Option<f64> {
        let ray = self.terrain.ray_from(s.from, s.direction, s.length).ok()?;
        let answer = self.terrain.raycast(ray, &RayOptions::default());
        answer.found().then_some(s.length * answer.hit.t)
    }

    /// The heights over a place, highest first.
    pub fn heights(&self, at: [f64; 3]) -> Vec<f64> {
        let mut room = self.room.borrow_mut();
        let found = self.terrain.layers(at, &mut room);
        room[..found.written].iter().map(|hit| self.terrain.z_f64(hit)).collect()
    }
}

impl Peer for Hardpan<'_> {
    #[inline(always)]
    fn closest(&self, q: &Query) -> Option<Surface> {
        self.surface(&self.terrain.closest(q.at))
    }

    #[inline(always)]
    fn layers(&self, q: &Query) -> (usize, f64) {
        let mut room = self.room.borrow_mut();
        let found = self.terrain.layers(q.at, &mut room);
        (found.total, room[..found.written].iter().map(|hit| self.terrain.z_f64(hit)).sum())
    }

    fn bytes(&self) -> usize {
        self.terrain.bytes().len()
    }
}
