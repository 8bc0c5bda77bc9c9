//! Steps of a search, for those who count or explain it.

use crate::hit::{Cost, Hit};

/// Steps of a search; see [`Terrain::explain`](crate::Terrain::explain).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trace {
    /// A directory, page or node was read, whose entries are squares of 2^`log2` plan steps.
    Node {
        /// log2 of an entry's side.
        log2: u32,
    },
    /// The words of a cell were read.
    Words {
        /// Bundles and patches that may cover the place.
        words: u32,
        /// 64-byte lines of the words.
        lines: u32,
    },
    /// A bundle or a patch block was read.
    Leaf {
        /// Which, in units of its size from the image's start.
        record: usize,
        /// 64-byte lines.
        lines: u32,
    },
    /// A triangle was tested, or a patch interpolated.
    Test {
        /// The bundle.
        record: usize,
        /// The triangle.
        part: u32,
        /// Whether it covers the place.
        covered: bool,
    },
    /// A surface over the place, within the windows or not.
    Candidate(Hit),
}

/// Watches a search. Unused, it compiles away.
pub(crate) trait Observer {
    const COUNTS: bool;
    fn see(&mut self, t: Trace);
}

impl Observer for () {
    const COUNTS: bool = false;
    #[inline(always)]
    fn see(&mut self, _: Trace) {}
}

impl Observer for Cost {
    const COUNTS: bool = true;
    #[inline(always)]
    fn see(&mut self, t: Trace) {
        match t {
            Trace::Node { .. } => self.nodes = self.nodes.wrapping_add(1),
            Trace::Words { lines, .. } => self.lines = self.lines.wrapping_add(lines),
            Trace::Leaf { lines, .. } => {
                self.leaves = self.leaves.wrapping_add(1);
                self.lines = self.lines.wrapping_add(lines);
            }
            Trace::Test { .. } => self.tests = self.tests.wrapping_add(1),
            Trace::Candidate(_) => {}
        }
    }
}

pub(crate) struct Watch<F>(pub F);

impl<F: FnMut(Trace)> Observer for Watch<F> {
    const COUNTS: bool = true;
    fn see(&mut self, t: Trace) {
        (self.0)(t);
    }
}
