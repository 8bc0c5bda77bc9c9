//! In place of Embree, where it is not installed.

use crate::scenes::Mesh;
use crate::{Peer, Query, Sight, Surface};
use std::marker::PhantomData;

pub struct Embree<'a>(std::convert::Infallible, PhantomData<&'a Mesh>);

impl<'a> Embree<'a> {
    pub fn new(_: &'a Mesh, _: bool) -> Option<Embree<'a>> {
        None
    }

    pub fn sight(&self, _: &Sight) -> Option<f64> {
        match self.0 {}
    }
}

impl Peer for Embree<'_> {
    fn closest(&self, _: &Query) -> Option<Surface> {
        match self.0 {}
    }

    fn layers(&self, _: &Query) -> (usize, f64) {
        match self.0 {}
    }

    fn bytes(&self) -> usize {
        match self.0 {}
    }
}
