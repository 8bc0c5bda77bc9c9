// Points to records: x, y, z and their number.

struct Params {
    count: u32,
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> points: array<u32>;
@group(0) @binding(2) var<storage, read_write> records: array<vec4<u32>>;

@compute @workgroup_size(256)
fn number_points(thread: Thread) {
    let i = number_of(thread);
    if (i < params.count) {
        records[i] = vec4(points[3u * i], points[3u * i + 1u], points[3u * i + 2u], i);
    }
}
