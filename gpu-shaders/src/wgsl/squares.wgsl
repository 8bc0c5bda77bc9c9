// Triangles to squares of the plan: a candidate is a triangle and a square under its box.
// No extent is 2^30 steps or more, no side above 2^29: what lies between a corner and a candidate fits 32 bits.

struct Params {
    items: u32,
    candidates: u32,
    log2: u32,
    unused_a: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
// Of each triangle x and y of its corners, the first column and row under its box, the columns, and its number.
@group(0) @binding(1) var<storage, read> items: array<i32>;
@group(0) @binding(2) var<storage, read> starts: array<u32>;
// One for each candidate that is met, else zero, and a zero behind them; later how many of those stand before.
@group(0) @binding(3) var<storage, read_write> met: array<u32>;
@group(0) @binding(4) var<storage, read_write> records: array<vec4<u32>>;

const WORDS = 10u;
const BOX = 6u;

fn is_met(item: u32, square: vec2<i32>) -> bool {
    let size = vec2(1i << params.log2);
    let low = square << vec2(params.log2);
    for (var k = 0u; k < 3u; k++) {
        let c = corner(item, k);
        let e = corner(item, select(k + 1u, 0u, k == 2u)) - c;
        if (is_negative(side(c, e, deepest(low, size, e)))) {
            return false;
        }
    }
    return true;
}

@compute @workgroup_size(256)
fn meet_squares(thread: Thread) {
    let i = number_of(thread);
    if (i < params.candidates) {
        let item = item_of(i);
        met[i] = select(0u, 1u, is_met(item, place_of(item, i)));
    }
    if (i == params.candidates) {
        met[i] = 0u;
    }
}

fn spread(v: u32) -> u32 {
    var s = v & 0xffffu;
    s = (s | (s << 8u)) & 0x00ff00ffu;
    s = (s | (s << 4u)) & 0x0f0f0f0fu;
    s = (s | (s << 2u)) & 0x33333333u;
    return (s | (s << 1u)) & 0x55555555u;
}

// Records of those that are met: the high and low half of the square's place in Morton order, the triangle.
@compute @workgroup_size(256)
fn list_squares(thread: Thread) {
    let i = number_of(thread);
    if (i < params.candidates && met[i + 1u] > met[i]) {
        let item = item_of(i);
        let at = bitcast<vec2<u32>>(place_of(item, i)) ^ vec2(0x80000000u);
        let high = spread(at.x >> 16u) | (spread(at.y >> 16u) << 1u);
        let low = spread(at.x) | (spread(at.y) << 1u);
        records[met[i]] = vec4(high, low, u32(items[item * WORDS + 9u]), 0u);
    }
}
