// A stable pass of a radix sort: records of four words, by eight bits of one word.

struct Params {
    count: u32,
    blocks: u32,
    word: u32,
    shift: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> output: array<vec4<u32>>;
// For each digit and block.
@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

// Rounds of a block: a record for each thread in each.
const ROUNDS = 16u;

var<workgroup> sums: array<atomic<u32>, 256>;
// For each digit a bit for each thread: who has it in this round.
var<workgroup> masks: array<atomic<u32>, 2048>;
var<workgroup> ends: array<u32, 256>;

fn digit(record: vec4<u32>) -> u32 {
    return (record[params.word] >> params.shift) & 255u;
}

@compute @workgroup_size(256)
fn count_digits(thread: Thread) {
    let block = group_of(thread);
    let lane = thread.lane;
    atomicStore(&sums[lane], 0u);
    workgroupBarrier();
    for (var r = 0u; r < ROUNDS; r++) {
        let i = (block * ROUNDS + r) * GROUP + lane;
        if (i < params.count) {
            atomicAdd(&sums[digit(input[i])], 1u);
        }
    }
    workgroupBarrier();
    if (block < params.blocks) {
        counts[lane * params.blocks + block] = atomicLoad(&sums[lane]);
    }
}

@compute @workgroup_size(256)
fn scatter(thread: Thread) {
    let block = group_of(thread);
    let lane = thread.lane;
    ends[lane] = counts[lane * params.blocks + min(block, params.blocks - 1u)];
    for (var w = 0u; w < 8u; w++) {
        atomicStore(&masks[lane * 8u + w], 0u);
    }
    for (var r = 0u; r < ROUNDS; r++) {
        workgroupBarrier();
        let i = (block * ROUNDS + r) * GROUP + lane;
        var record = vec4(0u);
        var d = 0u;
        if (i < params.count) {
            record = input[i];
            d = digit(record);
            atomicOr(&masks[d * 8u + lane / 32u], 1u << (lane & 31u));
        }
        workgroupBarrier();
        if (i < params.count) {
            // behind those of threads before
            var at = ends[d] + countOneBits(atomicLoad(&masks[d * 8u + lane / 32u]) & ((1u << (lane & 31u)) - 1u));
            for (var w = 0u; w < 7u; w++) {
                if (w < lane / 32u) {
                    at += countOneBits(atomicLoad(&masks[d * 8u + w]));
                }
            }
            output[at] = record;
        }
        workgroupBarrier();
        // each thread looks after a digit
        var more = 0u;
        for (var w = 0u; w < 8u; w++) {
            more += countOneBits(atomicLoad(&masks[lane * 8u + w]));
            atomicStore(&masks[lane * 8u + w], 0u);
        }
        ends[lane] += more;
    }
}
