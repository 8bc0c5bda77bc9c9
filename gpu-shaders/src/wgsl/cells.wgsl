// Cells of grids under triangles: a candidate is a triangle and a block under its box.
// Places are steps from the grid's least corner; all are within 2^29 and a cell of it.

struct Params {
    items: u32,
    candidates: u32,
    unused_a: u32,
    unused_b: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
// Of each triangle x and y of its corners, the first column and row of blocks under its box, the columns, where it stands in its grid's
// list, and the number of its grid.
@group(0) @binding(1) var<storage, read> items: array<i32>;
@group(0) @binding(2) var<storage, read> starts: array<u32>;
// Of each grid log2 of a cell's sides, of the columns of blocks, and the key of its first block.
@group(0) @binding(3) var<storage, read> grids: array<vec4<u32>>;
// The cells met and those whose middles are covered, eight bits each.
@group(0) @binding(4) var<storage, read_write> found: array<u32>;
// One for each candidate that has any, else zero, and a zero behind them; later how many of those stand before.
@group(0) @binding(5) var<storage, read_write> met: array<u32>;
@group(0) @binding(6) var<storage, read_write> records: array<vec4<u32>>;

const WORDS = 11u;
const BOX = 6u;

fn cells_of(item: u32, block: vec2<i32>) -> u32 {
    let log2 = grids[u32(items[item * WORDS + 10u])].xy;
    let size = vec2<i32>(1, 1) << log2;
    let corners = array(corner(item, 0u), corner(item, 1u), corner(item, 2u));
    let edges = array(corners[1] - corners[0], corners[2] - corners[1], corners[0] - corners[2]);
    // the cells under its box
    let first = min(min(corners[0], corners[1]), corners[2]) >> log2;
    let last = max(max(corners[0], corners[1]), corners[2]) >> log2;
    var cells = 0u;
    for (var k = 0u; k < 8u; k++) {
        let cell = (block << vec2(2u, 1u)) + vec2(i32(k & 3u), i32(k >> 2u));
        if (any(cell < first) || any(cell > last)) {
            continue;
        }
        let low = cell << log2;
        let middle = low + size / 2;
        var is_outside = false;
        var is_beside = false;
        for (var edge = 0u; edge < 3u; edge++) {
            let e = edges[edge];
            is_outside |= is_negative(side(corners[edge], e, deepest(low, size, e)));
            is_beside |= is_negative(side(corners[edge], e, middle));
        }
        cells |= select(0u, 1u << k, !is_outside);
        cells |= select(0u, 256u << k, !is_beside);
    }
    return cells;
}

@compute @workgroup_size(256)
fn meet_cells(thread: Thread) {
    let i = number_of(thread);
    if (i < params.candidates) {
        let item = item_of(i);
        let cells = cells_of(item, place_of(item, i));
        found[i] = cells;
        met[i] = select(0u, 1u, (cells & 255u) != 0u);
    }
    if (i == params.candidates) {
        met[i] = 0u;
    }
}

// Records of those that have any: the block's key, where the triangle stands in its list, the cells.
@compute @workgroup_size(256)
fn list_cells(thread: Thread) {
    let i = number_of(thread);
    if (i < params.candidates && met[i + 1u] > met[i]) {
        let item = item_of(i);
        let block = place_of(item, i);
        let grid = grids[u32(items[item * WORDS + 10u])];
        let key = grid.w + (u32(block.y) << grid.z) + u32(block.x);
        records[met[i]] = vec4(key, u32(items[item * WORDS + 9u]), found[i], 0u);
    }
}
