//! Results of queries, and a check that all ways of asking agree.

use hardpan::{Answer, Cost, Cursor, Hit, Status, Terrain};

use super::{BATCH, Fault};

/// Results of queries.
#[derive(Default)]
pub struct Found {
    /// The greatest count of each kind.
    pub most: Cost,
    /// The query with most tests, and among those most lines.
    pub costliest: Cost,
    pub place: [f64; 3],
    pub no_ground: u64,
    pub not_in_image: u64,
}

impl Found {
    /// Asks in every way, and says where two differ.
    pub fn check(&mut self, t: &Terrain, points: &[[f64; 3]]) -> Result<(), Fault> {
        let mut answers = [Answer { status: Status::NoGround, hit: Hit::NONE }; BATCH];
        let mut cursor = Cursor::new();
        for points in points.chunks(BATCH) {
            t.closest_batch(points, &mut answers);
            for (p, batched) in points.iter().zip(&answers) {
                let (answer, cost) = t.closest_costed(*p);
                if answer != *batched || answer != t.closest(*p) || answer != t.closest_cursor(*p, &mut cursor) {
                    return Err(Fault::Differ(*p));
                }
                self.no_ground += u64::from(answer.status == Status::NoGround);
                self.not_in_image += u64::from(answer.status == Status::NotInImage);
                let key = |c: &Cost| [c.tests, c.lines, c.leaves, c.nodes];
                if key(&cost) > key(&self.costliest) {
                    (self.costliest, self.place) = (cost, *p);
                }
                self.most = Cost {
                    nodes: self.most.nodes.max(cost.nodes),
                    leaves: self.most.leaves.max(cost.leaves),
                    tests: self.most.tests.max(cost.tests),
                    lines: self.most.lines.max(cost.lines),
                };
            }
        }
        Ok(())
    }

    pub fn misses(&self) -> u64 {
        self.no_ground + self.not_in_image
    }
}
