// Sorted records of four words: which are the first of their key, and what is read back of them.

struct Params {
    count: u32,
    word: u32,
    value: u32,
    unused_a: u32,
    // The words that make up the key: all ones, else zero.
    key: vec4<u32>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> records: array<vec4<u32>>;
// One for the first of each key, else zero, and a zero behind them; later how many of those stand before.
@group(0) @binding(2) var<storage, read_write> firsts: array<u32>;
@group(0) @binding(3) var<storage, read_write> numbers: array<u32>;
@group(0) @binding(4) var<storage, read_write> kept: array<vec4<u32>>;

@compute @workgroup_size(256)
fn fill(thread: Thread) {
    let i = number_of(thread);
    if (i < params.count) {
        numbers[i] = params.value;
    }
}

@compute @workgroup_size(256)
fn mark_firsts(thread: Thread) {
    let i = number_of(thread);
    if (i > params.count) {
        return;
    }
    var is_first = i < params.count;
    if (is_first && i > 0u) {
        is_first = any(((records[i] ^ records[i - 1u]) & params.key) != vec4(0u));
    }
    firsts[i] = select(0u, 1u, is_first);
}

@compute @workgroup_size(256)
fn list_firsts(thread: Thread) {
    let i = number_of(thread);
    if (i < params.count && firsts[i + 1u] > firsts[i]) {
        numbers[firsts[i]] = i;
    }
    if (i == params.count) {
        numbers[firsts[i]] = i;
    }
}

@compute @workgroup_size(256)
fn keep_firsts(thread: Thread) {
    let i = number_of(thread);
    if (i < params.count && firsts[i + 1u] > firsts[i]) {
        kept[firsts[i]] = records[i];
    }
}

@compute @workgroup_size(256)
fn column(thread: Thread) {
    let i = number_of(thread);
    if (i < params.count) {
        numbers[i] = records[i][params.word];
    }
}
