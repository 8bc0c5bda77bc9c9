// Sums of all numbers before each: blocks first, then what stands before each block.

struct Params {
    count: u32,
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> data: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<u32>;

// Numbers of a thread, and of a block.
const EACH = 8u;
const BLOCK = 2048u;

var<workgroup> sums: array<u32, 256>;

@compute @workgroup_size(256)
fn scan(thread: Thread) {
    let block = group_of(thread);
    let lane = thread.lane;
    let first = block * BLOCK + lane * EACH;
    var before: array<u32, EACH>;
    var sum = 0u;
    for (var k = 0u; k < EACH; k++) {
        before[k] = sum;
        if (first + k < params.count) {
            sum += data[first + k];
        }
    }
    sums[lane] = sum;
    for (var k = 0u; k < 8u; k++) {
        workgroupBarrier();
        let step = 1u << k;
        let more = select(0u, sums[max(lane, step) - step], lane >= step);
        workgroupBarrier();
        sums[lane] += more;
    }
    let base = sums[lane] - sum;
    for (var k = 0u; k < EACH; k++) {
        if (first + k < params.count) {
            data[first + k] = base + before[k];
        }
    }
    if (lane == GROUP - 1u && block * BLOCK < params.count) {
        totals[block] = sums[lane];
    }
}

@compute @workgroup_size(256)
fn add_totals(thread: Thread) {
    let i = number_of(thread);
    if (i < params.count) {
        data[i] += totals[i / BLOCK];
    }
}
