//! Answers where there is no ground.

use crate::format::{FRACTION, Header, fallback};
use crate::hit::{Answer, Hit, Status};
use crate::open::Terrain;
use crate::point::Point;
use crate::query::Options;
use crate::trace::Observer;

impl<'a> Terrain<'a> {
    /// The answer where there is no ground: every value comes from the policy and the defaults.
    #[cold]
    #[inline(never)]
    pub(crate) fn miss<O: Observer>(&self, status: Status, p: Option<Point>, options: &Options, o: &mut O) -> Answer {
        let h = self.header;
        let bottom = h.origin[2].wrapping_add(h.min[2].into()) << FRACTION;
        let (status, z) = match (options.fallback, p) {
            (fallback::DEFAULT | fallback::MISS, _) => (status, h.default_z),
            (fallback::EDGE_EXTEND, Some(p)) => match self.edge_height(p, options, o) {
                Ok(z) => (status, z.unwrap_or(bottom)),
                // what is not believed at the border is not told beyond it
                Err(Status::Damaged) => (Status::Damaged, bottom),
                Err(_) => (status, bottom),
            },
            _ => (status, bottom),
        };
        Answer { status, hit: Hit { z, ..Hit::NONE } }
    }

    /// Beyond the bounds, where nothing was searched yet: the height at their nearest place, if there is ground.
    fn edge_height<O: Observer>(&self, p: Point, options: &Options, o: &mut O) -> Result<Option<i64>, Status> {
        let Header { origin: [ox, oy, _], min: [x, y, _], max: [mx, my, _], .. } = *self.header;
        let at = |origin: i64, bound: i32| origin.wrapping_add(bound.into()) << FRACTION;
        let near = Point { x: p.x.max(at(ox, x)).min(at(ox, mx)), y: p.y.max(at(oy, y)).min(at(oy, my)), z: p.z };
        let Some(place) = self.place(near).filter(|_| near != p) else {
            return Ok(None);
        };
        let leaf = self.locate(place, o)?;
        Ok(self.best(&leaf, place, &self.around(p, options.windows), o)?.map(|hit| hit.z))
    }
}
