//! The shaders: their texts, entry points and parameters. A graphics card is not needed to read them.

/// Threads of a group.
pub const GROUP: u64 = 256;
/// Numbers that a group sums up, and records that it sorts.
pub const SCAN_BLOCK: u64 = 2048;
pub const SORT_BLOCK: u64 = 4096;

/// A shader module: its texts, one behind the other, and where its parameters lie.
#[derive(Debug)]
pub struct Module {
    pub name: &'static str,
    pub parts: &'static [&'static str],
    pub kernels: &'static [Kernel],
    pub fields: &'static [(&'static str, usize)],
    pub size: usize,
}

impl Module {
    pub fn text(&self) -> String {
        self.parts.join("\n")
    }
}

/// An entry point, and the bindings that it reads and writes, in the order in which they are given.
#[derive(Debug)]
pub struct Kernel {
    pub entry: &'static str,
    pub read: &'static [u32],
    pub write: &'static [u32],
}

/// Parameters as a shader reads them.
macro_rules! params {
    ($name:ident { $($field:ident: $of:ty),* $(,)? }) => {
        #[derive(Clone, Copy, Debug, Default)]
        #[cfg_attr(feature = "wgpu", derive(bytemuck::Pod, bytemuck::Zeroable))]
        #[repr(C)]
        pub struct $name { $(pub $field: $of),* }

        impl $name {
            const FIELDS: &'static [(&'static str, usize)] =
                &[$((stringify!($field), std::mem::offset_of!($name, $field))),*];
        }
    };
}

params!(Scan { count: u32, unused_a: u32, unused_b: u32, unused_c: u32 });
params!(Sort { count: u32, blocks: u32, word: u32, shift: u32 });
params!(Records { count: u32, word: u32, value: u32, unused_a: u32, key: [u32; 4] });
params!(Number { count: u32, unused_a: u32, unused_b: u32, unused_c: u32 });
params!(Squares { items: u32, candidates: u32, log2: u32, unused_a: u32 });
params!(Cells { items: u32, candidates: u32, unused_a: u32, unused_b: u32 });
params!(Heights {
    items: u32,
    candidates: u32,
    columns: u32,
    pick: u32,
    other: [u32; 2],
    unused_a: u32,
    unused_b: u32
});

const COMMON: &str = include_str!("common.wgsl");
const U64: &str = include_str!("u64.wgsl");
const EXPAND: &str = include_str!("expand.wgsl");
const PLAN: &str = include_str!("plan.wgsl");

macro_rules! module {
    ($name:literal, $params:ident, [$($part:expr),*], [$(($entry:literal, $read:expr, $write:expr)),* $(,)?]) => {
        Module {
            name: $name,
            parts: &[COMMON, $($part,)* include_str!(concat!($name, ".wgsl"))],
            kernels: &[$(Kernel { entry: $entry, read: &$read, write: &$write }),*],
            fields: $params::FIELDS,
            size: size_of::<$params>(),
        }
    };
}

/// All modules.
pub const MODULES: &[Module] = &[
    module!("scan", Scan, [], [("scan", [], [1, 2]), ("add_totals", [], [1, 2])]),
    module!("sort", Sort, [], [("count_digits", [1], [3]), ("scatter", [1], [2, 3])]),
    module!(
        "records",
        Records,
        [],
        [
            ("fill", [], [3]),
            ("mark_firsts", [1], [2]),
            ("list_firsts", [], [2, 3]),
            ("keep_firsts", [1], [2, 4]),
            ("column", [1], [3]),
        ]
    ),
    module!("number", Number, [], [("number_points", [1], [2])]),
    module!("squares", Squares, [U64, EXPAND, PLAN], [("meet_squares", [1, 2], [3]), ("list_squares", [1, 2], [3, 4])]),
    module!(
        "cells",
        Cells,
        [U64, EXPAND, PLAN],
        [("meet_cells", [1, 2, 3], [4, 5]), ("list_cells", [1, 2, 3], [4, 5, 6])]
    ),
    module!(
        "heights",
        Heights,
        [U64, EXPAND],
        [
            ("hit_best", [1, 2, 3], [4, 5, 6]),
            ("best_low", [], [4, 5, 6, 7]),
            ("best_owner", [1, 2], [4, 5, 6, 7, 8]),
            ("hit_all", [1, 2, 3], [4, 5, 9]),
            ("list_hits", [1, 2], [4, 5, 9, 10]),
        ]
    ),
];
