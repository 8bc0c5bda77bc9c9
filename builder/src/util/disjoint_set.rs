//! Disjoint sets: what hangs together.

/// For each element an earlier one of the same part, or itself.
#[derive(Default)]
pub struct DisjointSet(Vec<u32>);

impl DisjointSet {
    /// So many, each alone.
    pub fn new(count: usize) -> DisjointSet {
        DisjointSet((0..count as u32).collect())
    }

    /// Adds one that hangs together with none so far.
    pub fn add(&mut self) -> u32 {
        let number = self.0.len() as u32;
        self.0.push(number);
        number
    }

    /// The first of its part.
    #[inline]
    pub fn of(&mut self, mut number: u32) -> u32 {
        let DisjointSet(before) = self;
        while before[number as usize] != number {
            before[number as usize] = before[before[number as usize] as usize];
            number = before[number as usize];
        }
        number
    }

    /// For each element the first of its part.
    pub fn firsts(self) -> Vec<u32> {
        let DisjointSet(mut before) = self;
        for number in 0..before.len() {
            before[number] = before[before[number] as usize]; // which comes before it, and has its first already
        }
        before
    }

    /// Joins the parts of two elements.
    #[inline]
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
