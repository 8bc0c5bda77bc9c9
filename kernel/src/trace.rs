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
    /// A patch block named a long one, which was read: another 64-byte line.
    Long {
        /// Which, in units of its size from the image's start.
        record: usize,
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

/// Watches a search.
pub(crate) trait Observer {
    /// Nobody can ask.
    const PLAIN: bool;
    /// Whether anybody asked: else what is seen need not be worked out.
    fn counts(&self) -> bool;
    fn see(&mut self, t: Trace);
}

/// Nobody watches: it compiles away.
impl Observer for () {
    const PLAIN: bool = true;
    #[inline(always)]
    fn counts(&self) -> bool {
        false
    }
    #[inline(always)]
    fn see(&mut self, _: Trace) {}
}

impl Cost {
    fn add(&mut self, t: &Trace) {
        match *t {
            Trace::Node { .. } => self.nodes = self.nodes.wrapping_add(1),
            Trace::Words { lines, .. } => self.lines = self.lines.wrapping_add(lines),
            Trace::Leaf { lines, .. } => {
                self.leaves = self.leaves.wrapping_add(1);
                self.lines = self.lines.wrapping_add(lines);
            }
            Trace::Long { .. } => self.lines = self.lines.wrapping_add(1),
            Trace::Test { .. } => self.tests = self.tests.wrapping_add(1),
            Trace::Candidate(_) => {}
        }
    }
}

/// Counts a search, tells of it, or does nothing, as it is asked when it runs: so one copy of a search serves all.
#[derive(Default)]
pub(crate) struct Log<'o> {
    wanted: bool,
    pub cost: Cost,
    tell: Option<&'o mut dyn FnMut(Trace)>,
}

impl<'o> Log<'o> {
    /// Counts.
    pub fn counting() -> Self {
        Log { wanted: true, ..Log::default() }
    }

    /// Tells every step.
    pub fn telling(tell: &'o mut dyn FnMut(Trace)) -> Self {
        Log { wanted: true, tell: Some(tell), ..Log::default() }
    }

    #[cold]
    #[inline(never)]
    fn note(&mut self, t: Trace) {
        self.cost.add(&t);
        if let Some(tell) = &mut self.tell {
            tell(t);
        }
    }
}

impl Observer for Log<'_> {
    const PLAIN: bool = false;
    #[inline(always)]
    fn counts(&self) -> bool {
        self.wanted
    }
    #[inline(always)]
    fn see(&mut self, t: Trace) {
        if self.wanted {
            self.note(t);
        }
    }
}
