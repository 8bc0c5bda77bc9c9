//! Results of a build, read from its image.

use crate::types::vs_terrain_build_results;
use hardpan::Terrain;
use hardpan_builder::image::decode;

/// The figures of an image, without the seconds and what no image has.
pub fn of(t: &Terrain) -> vs_terrain_build_results {
    let (h, [low, high], bound) = (t.header(), t.bounds(), t.bound());
    // log2 of the side of the least power-of-two square around all ground
    let side = (high[0] - low[0]).max(high[1] - low[1]) / 2f64.powi(h.xy_log2);
    let root = (side.max(1.0) as u64).next_power_of_two().ilog2();
    let mut results = vs_terrain_build_results {
        triangles: h.triangles,
        references: h.references,
        worstTests: bound.tests,
        worstLines: bound.lines,
        errorPlan: h.error_plan,
        errorHeight: h.error_height,
        ..Default::default()
    };
    for tile in decode::tiles(t) {
        tile.blocks(|b| {
            results.leaves += 1;
            results.maxDepth = results.maxDepth.max(root.saturating_sub(b.log2[0].max(b.log2[1])));
            results.maxLeaf = results.maxLeaf.max(b.triangles);
        });
    }
    results
}
