//! `hardpan info`: what an image says about itself. The shape of its JSON is stated by `builder/info.schema.json`.

use std::{collections::BTreeMap, io::Write, path::PathBuf};

use crate::{
    Provenance,
    again::{self, classes, included, materials, recorded},
    names::{fallback, hex, metres, section_name},
    read,
};
use hardpan::{Cost, Terrain, format::bundle, format::section};
use serde_json::{Map, Value, json};

use super::{
    Done, Failure, costs, counted, decimal, grouped, load, materials::told_by_default, named, shown, terrain, width,
};

#[derive(clap::Args)]
pub struct Args {
    /// Terrain image
    file: PathBuf,
    /// Print the facts as JSON
    #[arg(long)]
    json: bool,
    /// How many bundles hold how many triangles, and at which depth the ground is divided no further
    #[arg(long, visible_alias = "bundles")]
    leaves: bool,
    /// Every tile: place, bytes, contents, bound, error
    #[arg(long)]
    tiles: bool,
    /// Every section: place, bytes, digest
    #[arg(long)]
    sections: bool,
    /// Every material, with all its properties
    #[arg(long)]
    materials: bool,
    /// Source files and settings, as the builder recorded them
    #[arg(long)]
    provenance: bool,
}

/// The number of the JSON's shape: it changes when a key changes its meaning or goes.
const VERSION: u32 = 1;

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let image = load(&args.file)?;
    let t = &terrain(&args.file, &image)?;
    let wanted: Vec<Part> = [
        (args.leaves, LEAVES),
        (args.tiles, TILES),
        (args.sections, SECTIONS),
        (args.materials, MATERIALS),
        (args.provenance, PROVENANCE),
    ]
    .into_iter()
    .filter_map(|(asked, part)| asked.then_some(part))
    .collect();
    match (args.json, &wanted[..]) {
        (true, []) => writeln!(out, "{:#}", facts(t))?,
        (true, parts) => {
            let mut facts = Map::from_iter([("info".into(), VERSION.into())]);
            for Part { name, facts: of, .. } in parts {
                facts.insert((*name).into(), of(t).map_err(|text| Failure::input(&args.file, text))?);
            }
            writeln!(out, "{:#}", Value::Object(facts))?;
        }
        (false, []) => table(t, &named(&args.file), out)?,
        (false, parts) => {
            for (i, Part { table, .. }) in parts.iter().enumerate() {
                if i > 0 {
                    writeln!(out)?;
                }
                table(t, out)?;
            }
        }
    }
    Ok(())
}

/// What can be asked for on its own.
struct Part {
    name: &'static str,
    table: fn(&Terrain, &mut dyn Write) -> Done,
    facts: fn(&Terrain) -> Result<Value, String>,
}

const LEAVES: Part = Part { name: "leaves", table: leaves_table, facts: |t| Ok(leaves(t).facts()) };
const TILES: Part = Part { name: "tiles", table: tiles_table, facts: |t| Ok(tiles(t)) };
const SECTIONS: Part = Part { name: "sections", table: sections_table, facts: |t| Ok(sections(t)) };
const MATERIALS: Part = Part { name: "materials", table: materials_table, facts: |t| Ok(materials(t)) };
const PROVENANCE: Part = Part { name: "provenance", table: provenance_text, facts: provenance };

/// Bytes for each triangle, cells of height fields counted as two; see [`size`].
fn bytes_per_triangle(t: &Terrain) -> f64 {
    let h = t.header();
    h.total_len as f64 / (h.triangles + h.patch_blocks * 32).max(1) as f64
}

/// Bytes in all, and for each thing that they hold.
fn size(t: &Terrain) -> String {
    let (h, each) = (t.header(), bytes_per_triangle(t));
    let each = match (h.triangles, h.patch_blocks) {
        (_, 0) => format!("{each:.2} a triangle"),
        (0, _) => format!("{:.2} a cell of heights", 2.0 * each),
        _ => format!("{each:.2} a triangle, if a cell of heights counts as two"),
    };
    format!("{} bytes, {each}", grouped(h.total_len))
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
        "triangles   {} in {} ({:.2} references each)",
        grouped(h.triangles),
        counted(h.bundles, "bundle"),
        h.references as f64 / h.triangles.max(1) as f64
    )?;
    if h.patch_blocks > 0 {
        writeln!(out, "heights     {} of 4 x 4 cells", counted(h.patch_blocks, "block"))?;
    }
    writeln!(out, "size        {}", size(t))?;
    writeln!(out, "tiles       {} of {:.1} m", grouped(h.tile_count.into()), steps(h.tile_log2 as i32 + h.xy_log2))?;
    let bytes = |kind: u32| t.section(kind).map_or(0, <[u8]>::len) as u64;
    let page = 4u64 << (2 * h.page_log2);
    writeln!(
        out,
        "pages       {} of {} bytes beside a directory of {}: a page for each square of {side} x {side} tiles, {:.0} m, that has ground",
        grouped(bytes(section::PAGES) / page),
        grouped(page),
        counted(bytes(section::DIRECTORY), "byte"),
        steps((h.tile_log2 + h.page_log2) as i32 + h.xy_log2),
        side = 1u32 << h.page_log2
    )?;
    writeln!(out, "query cost  at most {} of 64 bytes", costs(&bound))?;
    if h.wide_tests > 0 {
        writeln!(
            out,
            "wide        up to {}: of large or steep triangles, for which a small core takes many times as long",
            counted(h.wide_tests, "test")
        )?;
    }
    if let Some(column) = read::costliest(t) {
        let ([x, y], c) = (column.extent(t), column.cost);
        writeln!(
            out,
            "costliest   the column x {:.3} to {:.3} m, y {:.3} to {:.3} m has the most tests: up to {}; places in it may take less",
            x[0],
            x[1],
            y[0],
            y[1],
            costs(&c)
        )?;
    }
    writeln!(out, "divided     {}", division(t))?;
    if let Some(tool) = tool(t) {
        writeln!(out, "built by    {}", shown(&tool))?;
    }
    writeln!(out, "layers      heights closer than {:.2} mm are one", heights(h.layer_merge) * 1e3)?;
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
    let wide = names_wide(t);
    writeln!(out, "\n{:<wide$} {:>7} {:>8} {:>8}", "material", "mu", "rr", "gain")?;
    let mut line = |name: &str, factors: [f64; 3]| {
        let [mu, rolling, gain] = factors.map(decimal);
        writeln!(out, "{name:<wide$} {mu:>7} {rolling:>8} {gain:>8}")
    };
    for (i, m) in t.materials().iter().enumerate() {
        line(&shown(t.material_name(i as u16)), [m.mu, m.rolling, m.gain])?;
    }
    line("(where there is no ground)", [h.default_mu, h.default_rolling, h.default_gain])?;
    Ok(())
}

fn facts(t: &Terrain) -> Value {
    let (h, [low, high], bound) = (t.header(), t.bounds(), t.bound());
    let metres = |z: i64| z as f64 * 2f64.powi(h.z_log2 - 8);
    json!({
        "info": VERSION,
        "format": h.version,
        "least_reader": h.least_reader,
        "tool": tool(t),
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
        "bound": cost_of(&bound),
        "wide_tests": h.wide_tests,
        "costliest": read::costliest(t).map(|c| costliest(t, &c)),
        "division": division(t),
        "max_layers": t.max_layers(),
        "layer_merge": metres(h.layer_merge),
        "near": metres(h.near),
        "far": metres(h.far),
        "fallback": fallback(h.fallback),
        "defaults": { "z": metres(h.default_z), "mu": h.default_mu, "rr": h.default_rolling, "gain": h.default_gain },
        "build": recorded(t).map(|settings| settings.build),
        "error": { "plan": h.error_plan, "height": h.error_height },
        "sections": sections(t),
        "materials": materials(t),
        "sources": (0..t.source_count()).map(|i| t.source_name(i as u16)).collect::<Vec<_>>(),
    })
}

/// How many bundles have how many triangles, and are of which class; and the blocks of cells that name them.
#[derive(Default)]
struct Leaves {
    /// Leaves in all: blocks, and squares with nothing but one part of a height field.
    count: u64,
    by_triangles: [u64; bundle::TRIANGLES],
    by_class: [u64; 3],
    /// By depth.
    blocks: BTreeMap<u32, Blocks>,
}

/// Squares that no node divides further, of one depth: log2 of the side of a square around all ground over their own longer side.
#[derive(Default)]
struct Blocks {
    /// Their longer side, metres.
    side: f64,
    count: u64,
    /// Triangles of all, one that lies in several counted in each, and of the one with most.
    triangles: u64,
    most: u32,
}

impl Leaves {
    const CLASSES: [&str; 3] = ["narrow", "medium", "wide"];

    fn bundles(&self) -> u64 {
        self.by_triangles.iter().sum()
    }

    fn references(&self) -> u64 {
        self.by_triangles.iter().zip(1..).map(|(n, triangles)| n * triangles).sum()
    }

    fn mean(&self) -> f64 {
        self.references() as f64 / self.bundles().max(1) as f64
    }

    /// Least and most triangles of a bundle; zero without bundles.
    fn range(&self) -> [u64; 2] {
        let mut held = self.by_triangles.iter().zip(1..).filter(|(n, _)| **n > 0).map(|(_, triangles)| triangles);
        let least = held.next().unwrap_or(0);
        [least, held.last().unwrap_or(least)]
    }

    fn facts(&self) -> Value {
        let [min, max] = self.range();
        let classes: Map<String, Value> =
            Self::CLASSES.iter().zip(self.by_class).map(|(name, n)| (name.to_string(), n.into())).collect();
        let bundles: Vec<_> = self.by_triangles.iter().zip(1..).map(|(n, triangles)| json!([triangles, n])).collect();
        json!({
            "count": self.count, "bundles": self.bundles(), "references": self.references(),
            "min": min, "mean": self.mean(), "max": max, "classes": classes, "triangles_bundles": bundles,
            "blocks": self.blocks.iter().map(|(depth, b)| json!({
                "depth": depth, "side": b.side, "count": b.count, "mean": b.mean(), "max": b.most,
            })).collect::<Vec<_>>(),
        })
    }
}

impl Blocks {
    fn mean(&self) -> f64 {
        self.triangles as f64 / self.count.max(1) as f64
    }
}

fn leaves(t: &Terrain) -> Leaves {
    let mut leaves = Leaves::default();
    let ([low, high], step) = (t.bounds(), 2f64.powi(t.header().xy_log2));
    let root = ((high[0] - low[0]).max(high[1] - low[1]) / step).max(1.0) as u64;
    let root = root.next_power_of_two().ilog2();
    for tile in read::tiles(t) {
        leaves.count += tile.leaf_count();
        for b in tile.bundles() {
            leaves.by_triangles[b.triangles() - 1] += 1;
            leaves.by_class[usize::from(b.class()).min(2)] += 1;
        }
        tile.blocks(|b| {
            let log2 = b.log2[0].max(b.log2[1]);
            let all = leaves.blocks.entry(root.saturating_sub(log2)).or_default();
            all.side = all.side.max(step * 2f64.powi(log2 as i32)); // that of the root may be larger
            (all.count, all.triangles) = (all.count + 1, all.triangles + u64::from(b.triangles));
            all.most = all.most.max(b.triangles);
        });
    }
    leaves
}

fn leaves_table(t: &Terrain, out: &mut dyn Write) -> Done {
    let l = leaves(t);
    let [min, max] = l.range();
    writeln!(
        out,
        "leaves      {}, which nothing divides further: blocks of eight cells, and parts of height fields",
        grouped(l.count)
    )?;
    writeln!(out, "bundles     {}: {}", grouped(l.bundles()), {
        let classes = Leaves::CLASSES.iter().zip(l.by_class).map(|(name, n)| format!("{} {name}", grouped(n)));
        classes.collect::<Vec<_>>().join(", ")
    })?;
    writeln!(
        out,
        "triangles   {min} to {max} in a bundle, {:.2} on average; {} in all",
        l.mean(),
        grouped(l.references())
    )?;
    writeln!(out, "\ntriangles    bundles")?;
    let most = l.by_triangles.iter().max().copied().unwrap_or(0).max(1);
    for (n, triangles) in l.by_triangles.iter().zip(1..).filter(|(n, _)| **n > 0) {
        let bar = "#".repeat((n * 40).div_ceil(most) as usize);
        writeln!(out, "{triangles:>9} {:>10}  {bar}", grouped(*n))?;
    }
    if !l.blocks.is_empty() {
        writeln!(
            out,
            "\nblocks of eight cells, by depth: how often the square around all ground is halved for their longer side"
        )?;
        writeln!(out, "{:>5} {:>12} {:>10} {:>15} {:>10}", "depth", "side", "blocks", "mean triangles", "most")?;
    }
    for (depth, b) in &l.blocks {
        let (side, count, most) = (metres(b.side), grouped(b.count), grouped(b.most.into()));
        writeln!(out, "{depth:>5} {side:>12} {count:>10} {:>15.2} {most:>10}", b.mean())?;
    }
    Ok(())
}

pub fn cost_of(c: &Cost) -> Value {
    json!({ "nodes": c.nodes, "leaves": c.leaves, "tests": c.tests, "lines": c.lines })
}

/// Its middle in metres, its sides, and its bound.
fn costliest(t: &Terrain, c: &read::Column) -> Value {
    let size = c.size.map(|s| s as f64 * 2f64.powi(t.header().xy_log2));
    json!({ "at": c.at(t), "size": size, "cost": cost_of(&c.cost) })
}

/// Name and version of the builder, if they are recorded.
fn tool(t: &Terrain) -> Option<String> {
    again::provenance(t).map(|known| known.tool).filter(|tool| !tool.is_empty())
}

/// By which rule the ground was divided, as the provenance says.
fn division(t: &Terrain) -> String {
    let Some(settings) = recorded(t) else { return "by a rule that is not recorded".into() };
    let most = settings.build.max_cost.map(|m| format!(", until no query takes more than {m}")).unwrap_or_default();
    let rule = settings.build.split.map_or("by the native rule".into(), |s| {
        let name = s.preset().map(|name| format!(" (preset {name})")).unwrap_or_default();
        format!(
            "by the rules of VS Terrain{name}: depth tolerance {}, bundle size {} + {} a step, volume {} m3 + {} of it a step",
            s.depth_tolerance, s.bundle_size, s.bundle_increase, s.min_volume, s.volume_increase
        )
    });
    rule + &most
}

fn tiles(t: &Terrain) -> Value {
    let h = t.header();
    let metres = |z: i32| (h.origin[2] + i64::from(z)) as f64 * 2f64.powi(h.z_log2);
    let tile = |v: read::TileView| {
        let (r, d) = (v.record, v.head);
        let [nodes, leaves, tests, lines] = d.bound;
        let bound = Cost { nodes, leaves, tests, lines };
        json!({
            "x": r.x, "y": r.y, "offset": r.offset, "bytes": r.len,
            "bundles": d.bundle_count, "references": d.references, "patches": d.patch_count, "pairs": d.palette_len,
            "z": [metres(d.min_z), metres(d.max_z)], "max_layers": d.max_layers,
            "bound": cost_of(&bound), "costliest": v.costliest().map(|c| costliest(t, &c)),
            "error": { "plan": d.error[0], "height": d.error[1] },
            "crc": format!("{:08x}", r.crc), "sha256": hex(&r.digest),
        })
    };
    read::tiles(t).map(tile).collect()
}

fn tiles_table(t: &Terrain, out: &mut dyn Write) -> Done {
    let h = t.header();
    let metres = |z: i32| (h.origin[2] + i64::from(z)) as f64 * 2f64.powi(h.z_log2);
    writeln!(
        out,
        "     x      y      bytes  bundles references patches       z min       z max layers nodes leaves tests lines     error xy      error z  costliest column"
    )?;
    for tile in read::tiles(t) {
        let (r, d) = (tile.record, tile.head);
        let [nodes, leaves, tests, lines] = d.bound;
        let (low, high, [plan, height]) = (metres(d.min_z), metres(d.max_z), d.error);
        let column = |[x, y]: [[f64; 2]; 2]| format!("x {:.3} to {:.3}, y {:.3} to {:.3}", x[0], x[1], y[0], y[1]);
        let at = tile.costliest().map(|c| column(c.extent(t))).unwrap_or_default();
        writeln!(
            out,
            "{:>6} {:>6} {:>10} {:>8} {:>10} {:>7} {low:>11.3} {high:>11.3} {:>6} {nodes:>5} {leaves:>6} {tests:>5} {lines:>5} {plan:>12.9} {height:>12.9}  {at}",
            r.x, r.y, r.len, d.bundle_count, d.references, d.patch_count, d.max_layers
        )?;
    }
    Ok(())
}

fn sections(t: &Terrain) -> Value {
    let held = t.header().sections.iter().filter(|s| s.kind != 0);
    held.map(|s| {
        json!({
            "name": section_name(s.kind), "kind": s.kind, "offset": s.offset, "bytes": s.len,
            "content": s.flags & section::CONTENT != 0, "must_understand": s.flags & section::MUST_UNDERSTAND != 0,
            "crc": format!("{:08x}", s.crc), "sha256": hex(&s.digest),
        })
    })
    .collect()
}

fn sections_table(t: &Terrain, out: &mut dyn Write) -> Done {
    writeln!(out, "section        offset      bytes content sha256")?;
    for s in t.header().sections.iter().filter(|s| s.kind != 0) {
        let content = if s.flags & section::CONTENT != 0 { "yes" } else { "no" };
        writeln!(out, "{:<10} {:>10} {:>10} {content:<7} {}", section_name(s.kind), s.offset, s.len, hex(&s.digest))?;
    }
    Ok(())
}

fn materials_table(t: &Terrain, out: &mut dyn Write) -> Done {
    let (wide, included) = (names_wide(t), included(t));
    writeln!(
        out,
        "{:<wide$} {:>7} {:>8} {:>8} {:>5} {:>11} {:>8} {:>8} {:<12} classes",
        "material", "mu", "rr", "gain", "type", "cone index", "label", "priority", "is"
    )?;
    for (i, m) in t.materials().iter().enumerate() {
        let classes = classes(m.class_mask).iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let is = match (included[i], m.flags & 1) {
            (false, _) => "not included",
            (true, 1) => "an obstacle",
            _ => "ground",
        };
        let line = format!(
            "{:<wide$} {:>7} {:>8} {:>8} {:>5} {:>11} {:>8} {:>8} {is:<12} {classes}",
            shown(t.material_name(i as u16)),
            decimal(m.mu),
            decimal(m.rolling),
            decimal(m.gain),
            m.surface,
            decimal(m.cone_index),
            m.label,
            m.priority
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    if let Some(text) = told_by_default(again::mu_by_default(t).iter()) {
        writeln!(out, "{text}")?;
    }
    Ok(())
}

/// The width of a column of the materials' names.
fn names_wide(t: &Terrain) -> usize {
    width((0..t.materials().len()).map(|i| shown(t.material_name(i as u16))))
}

/// The text of the provenance; what is no UTF-8 is marked.
fn provenance_of<'a>(t: &Terrain<'a>) -> std::borrow::Cow<'a, str> {
    String::from_utf8_lossy(t.section(section::PROVENANCE).unwrap_or_default())
}

fn provenance_text(t: &Terrain, out: &mut dyn Write) -> Done {
    provenance_of(t).lines().try_for_each(|line| writeln!(out, "{}", shown(line)))?;
    Ok(())
}

fn provenance(t: &Terrain) -> Result<Value, String> {
    let known = Provenance::parse(&provenance_of(t))
        .map_err(|e| format!("provenance: {e}; as text: hardpan info --provenance"))?;
    let mut facts = serde_json::to_value(&known).expect("strings, numbers, lists and tables");
    facts["mu_by_default"] = json!(known.mu_by_default); // the text leaves out an empty list
    Ok(facts)
}
