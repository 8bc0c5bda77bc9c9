// Heights of triangles at the places of a grid: a candidate is a triangle and a place under its box.
// Extents are such that every product fits 64 bits. Places are 2^-8 steps.

struct Params {
    items: u32,
    candidates: u32,
    columns: u32,
    pick: u32,
    // What heights are compared with, as a number of 64 bits.
    other: vec2<u32>,
    unused_a: u32,
    unused_b: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
// Of each triangle x, y and z of its corners, the first column, row and the columns of places under its box, and its number.
@group(0) @binding(1) var<storage, read> items: array<i32>;
@group(0) @binding(2) var<storage, read> starts: array<u32>;
// Places along x, then those along y.
@group(0) @binding(3) var<storage, read> posts: array<vec2<u32>>;
// Of each candidate where it hits, and the key of its height: the least counts.
@group(0) @binding(4) var<storage, read_write> places: array<u32>;
@group(0) @binding(5) var<storage, read_write> keys: array<vec2<u32>>;
// Of each place the least key's high half, its low half, and the first triangle that has it.
@group(0) @binding(6) var<storage, read_write> high: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> low: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> owner: array<atomic<u32>>;
// One for each candidate that hits, else zero, and a zero behind them; later how many of those stand before.
@group(0) @binding(9) var<storage, read_write> hits: array<u32>;
@group(0) @binding(10) var<storage, read_write> records: array<vec4<u32>>;

const WORDS = 13u;
const BOX = 9u;
// Above all heights.
const TOP = vec2(0u, 512u);

const HIGHEST = 0u;
const LOWEST = 1u;
const HIGHEST_UP_TO = 2u;
const NEAREST = 3u;

fn shifted_far(a: vec2<u32>, by: u32) -> vec2<u32> {
    if (by >= 32u) {
        return vec2(0u, a.x << (by - 32u));
    }
    return shifted(a, by);
}

// Divided by a number above zero and rounded to the nearest, of two the even one; both without a sign.
fn rounded_by(n: vec2<u32>, by: vec2<u32>) -> vec2<u32> {
    var quotient = vec2(0u);
    var rest = n;
    let more = i32(bits(n)) - i32(bits(by));
    var part = shifted_far(by, u32(max(more, 0)));
    for (var k = 0; k < 64; k++) {
        if (k > more) {
            break;
        }
        quotient = doubled(quotient);
        if (!is_less(rest, part)) {
            rest = sub(rest, part);
            quotient.x |= 1u;
        }
        part = halved(part);
    }
    let twice = doubled(rest);
    let is_up = is_less(by, twice) || (all(by == twice) && (quotient.x & 1u) == 1u);
    return add(quotient, vec2(select(0u, 1u, is_up), 0u));
}

struct Hit {
    place: u32,
    key: vec2<u32>,
}

fn coordinate(item: u32, k: u32, i: u32) -> vec2<u32> {
    return wide(items[item * WORDS + 3u * k + i]);
}

// From a corner to a place.
fn way_from(item: u32, k: u32, post: vec4<u32>) -> vec4<u32> {
    return vec4(
        sub(post.xy, shifted(coordinate(item, k, 0u), 8u)),
        sub(post.zw, shifted(coordinate(item, k, 1u), 8u)),
    );
}

// Where a candidate hits, and with which key; nowhere if it does not.
fn hit_of(item: u32, candidate: u32) -> Hit {
    let at = vec2<u32>(place_of(item, candidate));
    let post = vec4(posts[at.x], posts[params.columns + at.y]);
    let none = Hit(NONE, vec2(0u));
    for (var k = 0u; k < 3u; k++) {
        let next = select(k + 1u, 0u, k == 2u);
        let d = way_from(item, k, post);
        let ex = sub(coordinate(item, next, 0u), coordinate(item, k, 0u));
        let ey = sub(coordinate(item, next, 1u), coordinate(item, k, 1u));
        if (is_negative(sub(times(ex, d.zw), times(ey, d.xy)))) {
            return none;
        }
    }
    let d = way_from(item, 0u, post);
    let ux = sub(coordinate(item, 1u, 0u), coordinate(item, 0u, 0u));
    let uy = sub(coordinate(item, 1u, 1u), coordinate(item, 0u, 1u));
    let uz = sub(coordinate(item, 1u, 2u), coordinate(item, 0u, 2u));
    let vx = sub(coordinate(item, 2u, 0u), coordinate(item, 0u, 0u));
    let vy = sub(coordinate(item, 2u, 1u), coordinate(item, 0u, 1u));
    let vz = sub(coordinate(item, 2u, 2u), coordinate(item, 0u, 2u));
    let area = sub(times(ux, vy), times(uy, vx));
    let along_x = sub(times(uz, vy), times(vz, uy));
    let along_y = sub(times(vz, ux), times(uz, vx));
    let n = add(times(d.xy, along_x), times(d.zw, along_y));
    let more = rounded_by(absolute(n), area);
    let base = shifted(coordinate(item, 0u, 2u), 8u);
    var z = add(base, more);
    if (is_negative(n)) {
        z = sub(base, more);
    }
    var key = sub(TOP, z);
    if (params.pick == LOWEST) {
        key = add(TOP, z);
    }
    if (params.pick == HIGHEST_UP_TO && is_negative(sub(params.other, z))) {
        return none;
    }
    if (params.pick == NEAREST) {
        // of two the lower one
        let away = sub(params.other, z);
        key = doubled(absolute(away));
        key.x |= select(0u, 1u, is_negative(away));
    }
    return Hit(at.y * params.columns + at.x, key);
}

@compute @workgroup_size(256)
fn hit_best(thread: Thread) {
    let i = number_of(thread);
    if (i < params.candidates) {
        let hit = hit_of(item_of(i), i);
        places[i] = hit.place;
        keys[i] = hit.key;
        if (hit.place != NONE) {
            atomicMin(&high[hit.place], hit.key.y);
        }
    }
}

@compute @workgroup_size(256)
fn best_low(thread: Thread) {
    let i = number_of(thread);
    if (i < params.candidates && places[i] != NONE && keys[i].y == atomicLoad(&high[places[i]])) {
        atomicMin(&low[places[i]], keys[i].x);
    }
}

@compute @workgroup_size(256)
fn best_owner(thread: Thread) {
    let i = number_of(thread);
    if (i >= params.candidates || places[i] == NONE) {
        return;
    }
    if (keys[i].y == atomicLoad(&high[places[i]]) && keys[i].x == atomicLoad(&low[places[i]])) {
        atomicMin(&owner[places[i]], u32(items[item_of(i) * WORDS + 12u]));
    }
}

@compute @workgroup_size(256)
fn hit_all(thread: Thread) {
    let i = number_of(thread);
    if (i < params.candidates) {
        let hit = hit_of(item_of(i), i);
        places[i] = hit.place;
        keys[i] = hit.key;
        hits[i] = select(1u, 0u, hit.place == NONE);
    }
    if (i == params.candidates) {
        hits[i] = 0u;
    }
}

// Records of those that hit: the place, the high and low half of the key, the triangle.
@compute @workgroup_size(256)
fn list_hits(thread: Thread) {
    let i = number_of(thread);
    if (i < params.candidates && hits[i + 1u] > hits[i]) {
        records[hits[i]] = vec4(places[i], keys[i].y, keys[i].x, u32(items[item_of(i) * WORDS + 12u]));
    }
}
