//! `hardpan info`: what an image says about itself.

use std::{io::Write, path::PathBuf};

use hardpan::{Terrain, format::section};
use serde_json::json;

use super::{Done, grouped, load, shown, terrain};

#[derive(clap::Args)]
pub struct Args {
    /// Terrain image
    file: PathBuf,
    /// Print the facts as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let image = load(&args.file)?;
    let terrain = terrain(&args.file, &image)?;
    if args.json { facts(&terrain, out) } else { table(&terrain, &args.file.display().to_string(), out) }
}

/// Bytes for each triangle, cells of height fields counted as two.
fn bytes_per_triangle(t: &Terrain) -> f64 {
    let h = t.header();
    h.total_len as f64 / (h.triangles + h.patch_blocks * 32).max(1) as f64
}

fn table(t: &Terrain, name: &str, out: &mut impl Write) -> Done {
    let (h, [low, high], bound) = (t.header(), t.bounds(), t.bound());
    let steps = |log2: i32| 2f64.powi(log2);
    let heights = |z: i64| z as f64 * steps(h.z_log2 - 8);
    writeln!(out, "{name}: Hardpan image, format {}, verified", h.version)?;
    writeln!(out, "frame       metres, right-handed, x east, y north, z up")?;
    for (i, axis) in ["x", "y", "z"].iter().enumerate() {
        writeln!(out, "{axis:<11} {:.3} to {:.3} m", low[i], high[i])?;
    }
    writeln!(out, "lattice     2^{} m in plan, 2^{} m in height; answers 2^{} m", h.xy_log2, h.z_log2, h.z_log2 - 8)?;
    writeln!(
        out,
        "triangles   {} in {} bundles ({:.2} references each)",
        grouped(h.triangles),
        grouped(h.bundles),
        h.references as f64 / h.triangles.max(1) as f64
    )?;
    if h.patch_blocks > 0 {
        writeln!(out, "heights     {} blocks of 4 x 4 cells", grouped(h.patch_blocks))?;
    }
    writeln!(out, "size        {} bytes, {:.2} a triangle", grouped(h.total_len), bytes_per_triangle(t))?;
    writeln!(out, "tiles       {} of {:.1} m", grouped(h.tile_count.into()), steps(h.tile_log2 as i32 + h.xy_log2))?;
    writeln!(
        out,
        "query cost  at most {} nodes, {} leaves, {} tests, {} lines of 64 bytes",
        bound.nodes, bound.leaves, bound.tests, bound.lines
    )?;
    writeln!(
        out,
        "layers      at most {}; heights closer than {:.2} mm are one",
        t.max_layers(),
        heights(h.layer_merge) * 1e3
    )?;
    writeln!(
        out,
        "windows     near {} m, far {} m; without ground: {}",
        heights(h.near),
        heights(h.far),
        fallback(h.fallback)
    )?;
    writeln!(out, "error       {:.6} m in plan, {:.6} m in height", h.error_plan, h.error_height)?;
    writeln!(out, "sources     {}", grouped(t.source_count() as u64))?;
    writeln!(out, "identity    {}", hex(&t.identity()))?;
    writeln!(out, "\nsection         bytes")?;
    for s in h.sections.iter().filter(|s| s.kind != 0) {
        writeln!(out, "{:<10} {:>10}", section_name(s.kind), grouped(s.len))?;
    }
    writeln!(out, "\nmaterial                            mu       rr     gain")?;
    for (i, m) in t.materials().iter().enumerate() {
        writeln!(out, "{:<30} {:>7} {:>8} {:>8}", shown(t.material_name(i as u16)), m.mu, m.rolling, m.gain)?;
    }
    Ok(())
}

fn facts(t: &Terrain, out: &mut impl Write) -> Done {
    let (h, [low, high], bound) = (t.header(), t.bounds(), t.bound());
    let metres = |z: i64| z as f64 * 2f64.powi(h.z_log2 - 8);
    let materials = t
        .materials()
        .iter()
        .enumerate()
        .map(|(i, m)| json!({ "name": t.material_name(i as u16), "mu": m.mu, "rr": m.rolling, "gain": m.gain }));
    let sections = h.sections.iter().filter(|s| s.kind != 0);
    let facts = json!({
        "format": h.version,
        "identity": hex(&t.identity()),
        "frame": { "axes": "east-north-up", "unit": "m" },
        "bounds": { "min": low, "max": high },
        "lattice": { "xy_log2": h.xy_log2, "z_log2": h.z_log2 },
        "bytes": h.total_len,
        "bytes_per_triangle": bytes_per_triangle(t),
        "triangles": h.triangles,
        "references": h.references,
        "bundles": h.bundles,
        "patch_blocks": h.patch_blocks,
        "tiles": h.tile_count,
        "tile_log2": h.tile_log2,
        "bound": { "nodes": bound.nodes, "leaves": bound.leaves, "tests": bound.tests, "lines": bound.lines },
        "max_layers": t.max_layers(),
        "layer_merge": metres(h.layer_merge),
        "near": metres(h.near),
        "far": metres(h.far),
        "fallback": fallback(h.fallback),
        "error": { "plan": h.error_plan, "height": h.error_height },
        "sections": sections.map(|s| json!({ "name": section_name(s.kind), "offset": s.offset, "bytes": s.len })).collect::<Vec<_>>(),
        "materials": materials.collect::<Vec<_>>(),
        "sources": (0..t.source_count()).map(|i| t.source_name(i as u16)).collect::<Vec<_>>(),
    });
    writeln!(out, "{facts:#}")?;
    Ok(())
}

fn fallback(policy: u32) -> &'static str {
    use hardpan::format::fallback::*;
    match policy {
        BOUNDS_MIN_Z => "the lowest height of the image",
        DEFAULT => "the default height",
        MISS => "no height",
        EDGE_EXTEND => "the height at the nearest edge",
        _ => "unknown",
    }
}

fn section_name(kind: u32) -> &'static str {
    match kind {
        section::MATERIALS => "materials",
        section::NAMES => "names",
        section::SOURCES => "sources",
        section::DIRECTORY => "directory",
        section::PAGES => "pages",
        section::TILE_TABLE => "tile table",
        section::TILES => "tiles",
        section::PROVENANCE => "provenance",
        _ => "unknown",
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
