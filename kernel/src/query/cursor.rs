//! What a wheel or a foot remembers from one query to the next.

use crate::format::{Node, block, word};
use crate::hit::{Answer, Hit, LeafKind, Status};
use crate::index::Leaf;
use crate::leaf::bundle::{Bundle, Held};
use crate::open::Terrain;
use crate::point::{GridPoint, IntoPoint};
use crate::search::{Rank, Search};

/// Remembers the last cell and the last triangle, so that the next query beside them starts there. It changes no answer
/// of an image that verifies. Of damaged nodes a walk from the root and one from the middle may tell different things.
///
/// A cursor that was used on another image is noticed and started afresh.
#[derive(Clone, Copy, Default)]
pub struct Cursor {
    /// Where the image lies, how long it is, and its head's checksum, which covers the identity.
    image: [usize; 3],
    spot: Option<Spot>,
    held: Option<(Held, Hit)>,
}

/// A leaf, and the rectangle of places for which it holds.
#[derive(Clone, Copy)]
struct Spot {
    leaf: Leaf,
    low: [i32; 2],
    log2: [u32; 2],
}

impl Spot {
    #[inline(always)]
    fn holds(&self, p: GridPoint, log2: [u32; 2]) -> bool {
        (p.x ^ self.low[0]) as u32 >> (log2[0] & 31) == 0 && (p.y ^ self.low[1]) as u32 >> (log2[1] & 31) == 0
    }
}

impl Cursor {
    /// An empty cursor.
    pub const fn new() -> Self {
        Cursor { image: [0; 3], spot: None, held: None }
    }

    /// The answer, if the place lies inside the triangle of the last one and nothing else can be there.
    #[inline(always)]
    pub(crate) fn held(&self, t: &Terrain, p: GridPoint, search: &Search) -> Option<Hit> {
        let spot = self.spot.as_ref()?;
        let (held, hit) = self.held.as_ref()?;
        if !spot.holds(p, spot.log2) || !self.is_of(t) {
            return None;
        }
        let z = held.height(p, &hit.normal)?;
        let rank = search.rank(z);
        (rank != Rank::NONE).then(|| Hit { z: z.wrapping_add(t.zero_z()), reach: rank.reach(), ..*hit })
    }

    /// The leaf of a place: the last one, or found from its node, or from the root.
    #[inline(always)]
    pub(crate) fn leaf(&mut self, t: &Terrain, p: GridPoint) -> Result<Leaf, Status> {
        if self.is_of(t)
            && let Some(spot) = &self.spot
        {
            if spot.holds(p, spot.log2) {
                return Ok(spot.leaf);
            }
            let Leaf { tile, node: at, .. } = spot.leaf;
            let whole = |n: &Node| {
                let ([ex, ey], [sx, sy]) = (n.entry_log2.map(u32::from), n.side_log2.map(u32::from));
                [ex + sx, ey + sy]
            };
            if t.node(at).is_some_and(|node| spot.holds(p, whole(node))) {
                let leaf = t.descend(tile, at, p, &mut ())?;
                self.keep(t, p, leaf);
                return Ok(leaf);
            }
        }
        let leaf = t.locate(p, &mut ())?;
        self.keep(t, p, leaf);
        Ok(leaf)
    }

    #[inline(always)]
    fn keep(&mut self, t: &Terrain, p: GridPoint, leaf: Leaf) {
        self.image = image(t);
        self.held = None;
        self.spot = t.node(leaf.node).map(|node| {
            let [x, y] = node.entry_log2.map(u32::from);
            let cells = if leaf.cell == Leaf::PATCH { [0; 2] } else { block::CELLS_LOG2 };
            Spot { leaf, low: [p.x, p.y], log2: [x.wrapping_sub(cells[0]), y.wrapping_sub(cells[1])] }
        });
    }

    /// Remembers the triangle of an answer, if a place inside it can have no other.
    #[inline(always)]
    pub(crate) fn hold(&mut self, t: &Terrain, leaf: &Leaf, answer: &Answer) {
        self.held = None;
        if !answer.found() || answer.hit.leaf != LeafKind::Bundle {
            return;
        }
        let sole = t.block(leaf.at).is_some_and(|b| word::has_sheet(b[(leaf.cell & 7) as usize]));
        let record = (leaf.tile / 32).wrapping_add(answer.hit.place[1] as usize);
        if let (true, Some(words), Some(node)) = (sole, t.bundles.get(record), t.node(leaf.node)) {
            let held = Bundle { words, record, node }.held(answer.hit.place[2]);
            self.held = held.map(|h| (h, answer.hit));
        }
    }

    #[inline(always)]
    fn is_of(&self, t: &Terrain) -> bool {
        self.image == image(t) && t.damage.is_empty()
    }
}

#[inline(always)]
fn image(t: &Terrain) -> [usize; 3] {
    [t.bytes.as_ptr() as usize, t.bytes.len(), t.header.head_crc as usize]
}

impl<'a> Terrain<'a> {
    /// [`Terrain::closest`] for points that lie close to each other: the same answers, faster.
    #[inline]
    pub fn closest_cursor(&self, p: impl IntoPoint, cursor: &mut Cursor) -> Answer {
        let options = self.options();
        let Some(p) = self.point(p) else {
            return self.miss(Status::NotInImage, None, &options, &mut ());
        };
        let Some(place) = self.place(p) else {
            return self.miss(Status::NotInImage, Some(p), &options, &mut ());
        };
        let search = self.around(p, options.windows);
        if let Some(hit) = cursor.held(self, place, &search) {
            return Answer { status: Status::Found, hit };
        }
        let leaf = match cursor.leaf(self, place) {
            Ok(leaf) => leaf,
            Err(status) => return self.miss(status, Some(p), &options, &mut ()),
        };
        let answer = self.answer(p, place, &leaf, &search, &options, &mut ());
        cursor.hold(self, &leaf, &answer);
        answer
    }
}
