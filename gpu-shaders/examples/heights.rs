//! Heights of a bumpy surface on the CPU and, where there is an adapter, in compute shaders: the same to the bit.
//!
//! `cargo run --release -p hardpan-shaders --features wgpu --example heights -- [software]`

use hardpan_shaders::{Cpu, Face, Ground, Heights, Pick, Posts, Stages};

fn main() {
    // 300 by 300 cells of 64 steps, two triangles each
    let side = 300u32;
    let height = |x: i32, y: i32| (x * 7 % 1000) * (y * 3 % 1000) / 1000;
    let vertex = |k: u32| {
        let (x, y) = ((k % (side + 1) * 64) as i32, (k / (side + 1) * 64) as i32);
        [x, y, height(x, y)]
    };
    let vertices: Vec<[i32; 3]> = (0..(side + 1) * (side + 1)).map(vertex).collect();
    let cell = |k: u32| {
        let (a, c) = (k / side * (side + 1) + k % side, (k / side + 1) * (side + 1) + k % side);
        [[a, a + 1, c + 1], [a, c + 1, c]].map(|v| Face { v, material: 0, source: 0 })
    };
    let faces: Vec<Face> = (0..side * side).flat_map(cell).collect();
    let ground = Ground { vertices: &vertices, faces: &faces };

    // a place every 50 steps; the query grid has 256 places a step
    let axis: Vec<i64> = (0..380).map(|k| k * 50 * 256 + 9).collect();
    let posts = Posts { x: &axis, y: &axis };

    let cpu = Cpu::new();
    let expected = cpu.heights(ground, posts, Pick::Highest);
    print(&cpu, &expected);
    on_adapter(ground, posts, &expected);
}

fn print(stages: &dyn Stages, heights: &Heights) {
    println!("{}:", stages.name());
    println!("  height at the place in the middle: {} / 256 steps", heights.z[heights.z.len() / 2]);
    for work in stages.work() {
        println!("  {}: {} triangles in {:.3} s, {} chunks", work.stage, work.items, work.seconds, work.chunks);
    }
}

#[cfg(feature = "wgpu")]
fn on_adapter(ground: Ground, posts: Posts, expected: &Heights) {
    use hardpan_shaders::Gpu;
    use hardpan_shaders::gpu::Wanted;

    let software = std::env::args().any(|a| a == "software");
    let gpu = match Gpu::open(&Wanted { software, ..Wanted::default() }) {
        Ok(gpu) => gpu,
        Err(why) => return println!("CPU only: {why}"),
    };
    let heights = gpu.heights(ground, posts, Pick::Highest);
    print(&gpu, &heights);
    assert_eq!(&heights, expected);
    println!("equal: {} heights", heights.z.len());
}

#[cfg(not(feature = "wgpu"))]
fn on_adapter(_: Ground, _: Posts, _: &Heights) {
    println!("CPU only: compiled without the feature wgpu");
}
