//! Vertical queries that see materials of some classes alone: what a car may use, where a pedestrian may walk.

use crate::hit::{Answer, Hit, Layers, Reach, Status};
use crate::open::Terrain;
use crate::point::{IntoPoint, Point};
use crate::query::Options;
use crate::search::Search;
use crate::trace::Log;

impl<'a> Terrain<'a> {
    /// [`Terrain::closest_with`], of ground whose material has one of the classes; zero asks for none in particular.
    ///
    /// Ground without classes is seen by zero alone. Ground that precedence hides is not seen, whatever hides it.
    pub fn closest_of(&self, p: impl IntoPoint, classes: u32, options: &Options) -> Answer {
        let Some(p) = self.point(p) else { return self.miss(Status::NotInImage, None, options, &mut ()) };
        match self.vertical(p, &self.around(p, options.windows), classes) {
            Ok(Some(hit)) => Answer { status: Status::Found, hit },
            Ok(None) => self.miss(Status::NoGround, Some(p), options, &mut ()),
            Err(status) => self.miss(status, Some(p), options, &mut ()),
        }
    }

    /// [`Terrain::segment`], of ground whose material has one of the classes; zero asks for none in particular.
    pub fn segment_of(&self, p: impl IntoPoint, length: i64, classes: u32) -> Answer {
        let options = &self.options();
        let Some(p) = self.point(p) else { return self.miss(Status::NotInImage, None, options, &mut ()) };
        match self.vertical(p, &self.search(p, self.header.near, length, -1), classes) {
            Ok(Some(hit)) => Answer { status: Status::Found, hit },
            Ok(None) => self.miss(Status::NoGround, Some(p), options, &mut ()),
            Err(status) => self.miss(status, Some(p), options, &mut ()),
        }
    }

    /// The best of the surfaces over a place whose materials have one of the classes.
    fn vertical(&self, p: Point, search: &Search, classes: u32) -> Result<Option<Hit>, Status> {
        let place = self.place(p).ok_or(Status::NotInImage)?;
        let o = &mut Log::default();
        let leaf = self.locate(place, o)?;
        self.best_of_class(&leaf, place, search, classes, o)
    }

    /// [`Terrain::layers`], of ground whose material has one of the classes; zero asks for none in particular.
    pub fn layers_of(&self, p: impl IntoPoint, classes: u32, out: &mut [Hit]) -> Layers {
        if classes == 0 {
            return self.layers(p, out);
        }
        let none = |status| Layers { status, written: 0, total: 0 };
        let Some(place) = self.point(p).and_then(|p| self.place(p)) else { return none(Status::NotInImage) };
        let leaf = match self.locate(place, &mut ()) {
            Ok(leaf) => leaf,
            Err(status) => return none(status),
        };
        if self.has_precedence() {
            return self.shown_layers(&leaf, place, classes, out).unwrap_or_else(none);
        }
        let (mut top, mut total) = (Search::HIGHEST, 0usize);
        loop {
            let search = Search { z: top, near: -1, below: i64::MAX, above: -1 };
            let hit = match self.best_of_class(&leaf, place, &search, classes, &mut Log::default()) {
                Ok(Some(hit)) => hit,
                Ok(None) => break,
                Err(status) => return none(status),
            };
            if let Some(to) = out.get_mut(total) {
                *to = Hit { reach: Reach::Near, ..hit };
            }
            total = total.saturating_add(1);
            top = hit.z.wrapping_sub(self.zero_z()).wrapping_sub(self.header.layer_merge.max(1));
        }
        let status = if total > 0 { Status::Found } else { Status::NoGround };
        Layers { status, written: total.min(out.len()), total }
    }
}
