//! `hardpan info`: what an image says about itself. The shape of its JSON is stated by `builder/info.schema.json`.

use std::{borrow::Cow, collections::BTreeSet, io::Write, path::PathBuf};

use crate::image::as_source::mu_by_default;
use crate::image::earth::Earth;
use crate::image::info::{Info, Leaves, VERSION, materials, sections, tiles};
use crate::image::provenance::Provenance;
use crate::util::steps::Steps;
use crate::util::text::{hex, metres, section_label};
use hardpan::{Terrain, format::section};
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
    /// Number of bundles by triangles, and of leaves by depth
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

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let image = load(&args.file)?;
    let t = &terrain(&args.file, &image)?;
    let asked = [args.leaves, args.tiles, args.sections, args.materials, args.provenance];
    let parts: Vec<&Part> = PARTS.iter().zip(asked).filter_map(|(part, asked)| asked.then_some(part)).collect();
    match (args.json, &parts[..]) {
        (true, []) => writeln!(out, "{:#}", json!(Info::new(t)))?,
        (true, parts) => {
            let mut facts = Map::from_iter([("info".into(), VERSION.into())]);
            for (name, _, of) in parts {
                facts.insert((*name).into(), of(t).map_err(|text| Failure::input(&args.file, text))?);
            }
            writeln!(out, "{:#}", Value::Object(facts))?;
        }
        (false, []) => table(t, &named(&args.file), out)?,
        (false, parts) => {
            for (i, (_, table, _)) in parts.iter().enumerate() {
                if i > 0 {
                    writeln!(out)?;
                }
                table(t, out)?;
            }
        }
    }
    Ok(())
}

/// A part that can be asked for alone: its name, as text, as JSON.
type Part = (&'static str, fn(&Terrain, &mut dyn Write) -> Done, fn(&Terrain) -> Result<Value, String>);

const PARTS: [Part; 5] = [
    ("leaves", leaves_table, |t| Ok(json!(Leaves::new(t)))),
    ("tiles", tiles_table, |t| Ok(json!(tiles(t)))),
    ("sections", sections_table, |t| Ok(json!(sections(t)))),
    ("materials", materials_table, |t| Ok(json!(materials(t)))),
    ("provenance", provenance_text, provenance),
];

fn table(t: &Terrain, name: &str, out: &mut impl Write) -> Done {
    let i = Info::new(t);
    writeln!(out, "{name}: Hardpan image, format {}, verified", i.format)?;
    for (name, text) in rows(t, &i) {
        writeln!(out, "{name:<11} {text}")?;
    }
    writeln!(out, "\nsection         bytes")?;
    for s in &i.sections {
        writeln!(out, "{:<10} {:>10}", section_label(s.kind), grouped(s.bytes))?;
    }
    let wide = width(i.materials.iter().map(|m| shown(&m.name)));
    writeln!(out, "\n{:<wide$} {:>7} {:>8} {:>8}", "material", "mu", "rr", "gain")?;
    let mut line = |name: &str, factors: [f64; 3]| {
        let [mu, rr, gain] = factors.map(decimal);
        writeln!(out, "{name:<wide$} {mu:>7} {rr:>8} {gain:>8}")
    };
    i.materials.iter().try_for_each(|m| line(&shown(&m.name), [m.mu, m.rr, m.gain]))?;
    line("(where there is no ground)", [i.defaults.mu, i.defaults.rr, i.defaults.gain])?;
    Ok(())
}

/// The image as a whole.
fn rows(t: &Terrain, i: &Info) -> Vec<(&'static str, String)> {
    let (h, [low, high]) = (t.header(), [i.bounds.min, i.bounds.max]);
    let steps = |log2: u32| Steps::of(h).power(log2);
    let each = match (i.triangles, i.patch_blocks) {
        (_, 0) => format!("{:.2} a triangle", i.bytes_per_triangle),
        (0, _) => format!("{:.2} a cell of heights", 2.0 * i.bytes_per_triangle),
        _ => format!("{:.2} a triangle, if a cell of heights counts as two", i.bytes_per_triangle),
    };
    let references = i.references as f64 / i.triangles.max(1) as f64;
    let mut rows = vec![("frame", "metres, right-handed, x east, y north, z up".into())];
    rows.extend(Earth::told(t).map(|text| ("on earth", text)));
    rows.extend([0, 1, 2].map(|k| (["x", "y", "z"][k], format!("{:.3} to {:.3} m", low[k], high[k]))));
    let (xy, z) = (h.xy_log2, h.z_log2);
    rows.push(("lattice", format!("2^{xy} m in plan, 2^{z} m in height; answers 2^{} m", z - 8)));
    let bundles = counted(i.bundles, "bundle");
    rows.push(("triangles", format!("{} in {bundles} ({references:.2} references each)", grouped(i.triangles))));
    if i.patch_blocks > 0 {
        rows.push(("heights", format!("{} of 4 x 4 cells", counted(i.patch_blocks, "block"))));
    }
    if let Some(r) = &i.rays {
        let what = match r.walls {
            true => format!("{} and {}", counted(r.ceilings, "ceiling"), counted(r.obstacles, "obstacle")),
            false => "heights of cells alone".into(),
        };
        let bytes = [r.bytes, r.extents_bytes].map(grouped);
        rows.push(("for rays", format!("{what}; {} bytes, {} of them heights of cells", bytes[0], bytes[1])));
    }
    rows.push(("size", format!("{} bytes, {each}", grouped(i.bytes))));
    rows.push(("tiles", format!("{} of {:.1} m", grouped(i.tiles.into()), steps(h.tile_log2))));
    rows.push(("pages", pages(t, i)));
    rows.push(("query cost", format!("at most {} of 64 bytes", costs(&i.bound))));
    let stated = [("ray of 5 m", &i.ray_bound, ""), ("tyre", &i.tyre_bound, ", for all squares below 0.6 x 0.25 m")];
    for (name, bound, what) in stated {
        rows.extend(bound.as_ref().map(|bound| (name, format!("at most {} of 64 bytes{what}", costs(bound)))));
    }
    if i.wide_tests > 0 {
        let tests = counted(i.wide_tests, "test");
        let why = "of large or steep triangles, for which a small core takes many times as long";
        rows.push(("wide", format!("up to {tests}: {why}")));
    }
    if let Some(column) = &i.costliest {
        let most = format!("has the most tests: up to {}; places in it may take less", costs(&column.cost));
        rows.push(("costliest", format!("the column {} {most}", extent(column.extent, " m"))));
    }
    rows.push(("divided", i.division.clone()));
    rows.extend(i.tool.iter().map(|tool| ("built by", shown(tool))));
    rows.push(("layers", format!("heights closer than {:.2} mm are one", i.layer_merge * 1e3)));
    if let Some(band) = i.precedence_band {
        let levels: BTreeSet<i16> = i.materials.iter().map(|m| m.precedence).collect();
        let levels = levels.iter().map(i16::to_string).collect::<Vec<_>>().join(", ");
        let far = crate::util::text::metres(band);
        rows.push(("precedence", format!("levels {levels}; hides ground of lower ones up to {far} below and above")));
    }
    rows.push(("windows", format!("near {} m, far {} m; without ground: {}", i.near, i.far, i.fallback)));
    rows.push(("error", format!("{:.6} m in plan, {:.6} m in height", i.error.plan, i.error.height)));
    rows.push(("sources", grouped(i.sources.len() as u64)));
    rows.push(("identity", hex(&t.identity())));
    rows
}

/// Bytes of the table that finds a tile.
fn pages(t: &Terrain, i: &Info) -> String {
    let h = t.header();
    let bytes = |kind: u32| i.sections.iter().find(|s| s.kind == kind).map_or(0, |s| s.bytes);
    let (page, side) = (4u64 << (2 * h.page_log2), 1u32 << h.page_log2);
    format!(
        "{} of {} bytes beside a directory of {}: a page for each square of {side} x {side} tiles, {:.0} m, that has ground",
        grouped(bytes(section::PAGES) / page),
        grouped(page),
        counted(bytes(section::DIRECTORY), "byte"),
        Steps::of(h).power(h.tile_log2 + h.page_log2)
    )
}

fn extent([x, y]: [[f64; 2]; 2], unit: &str) -> String {
    format!("x {:.3} to {:.3}{unit}, y {:.3} to {:.3}{unit}", x[0], x[1], y[0], y[1])
}

fn leaves_table(t: &Terrain, out: &mut dyn Write) -> Done {
    let l = Leaves::new(t);
    let whole = "which nothing divides further: blocks of eight cells, and parts of height fields";
    writeln!(out, "leaves      {}, {whole}", grouped(l.count))?;
    let [narrow, medium, wide] = [l.classes.narrow, l.classes.medium, l.classes.wide].map(grouped);
    writeln!(out, "bundles     {}: {narrow} narrow, {medium} medium, {wide} wide", grouped(l.bundles))?;
    let all = grouped(l.references);
    writeln!(out, "triangles   {} to {} in a bundle, {:.2} on average; {all} in all", l.min, l.max, l.mean)?;
    writeln!(out, "\ntriangles    bundles")?;
    for (triangles, n) in l.triangles_bundles.iter().filter(|(_, n)| *n > 0) {
        writeln!(out, "{triangles:>9} {:>10}", grouped(*n))?;
    }
    if !l.blocks.is_empty() {
        let depth = "how often the square around all ground is halved for their longer side";
        writeln!(out, "\nblocks of eight cells, by depth: {depth}")?;
        writeln!(out, "{:>5} {:>12} {:>10} {:>15} {:>10}", "depth", "side", "blocks", "mean triangles", "most")?;
    }
    for b in &l.blocks {
        let (side, count, most) = (metres(b.side), grouped(b.count), grouped(b.max.into()));
        writeln!(out, "{:>5} {side:>12} {count:>10} {:>15.2} {most:>10}", b.depth, b.mean)?;
    }
    Ok(())
}

fn tiles_table(t: &Terrain, out: &mut dyn Write) -> Done {
    writeln!(
        out,
        "     x      y      bytes  bundles references patches       z min       z max layers nodes leaves tests lines     error xy      error z  costliest column"
    )?;
    for tile in tiles(t) {
        let (b, [low, high]) = (tile.bound, tile.z);
        let at = tile.costliest.map(|c| extent(c.extent, "")).unwrap_or_default();
        writeln!(
            out,
            "{:>6} {:>6} {:>10} {:>8} {:>10} {:>7} {low:>11.3} {high:>11.3} {:>6} {:>5} {:>6} {:>5} {:>5} {:>12.9} {:>12.9}  {at}",
            tile.x,
            tile.y,
            tile.bytes,
            tile.bundles,
            tile.references,
            tile.patches,
            tile.max_layers,
            b.nodes,
            b.leaves,
            b.tests,
            b.lines,
            tile.error.plan,
            tile.error.height
        )?;
    }
    Ok(())
}

fn sections_table(t: &Terrain, out: &mut dyn Write) -> Done {
    writeln!(out, "section        offset      bytes content sha256")?;
    for s in sections(t) {
        let content = if s.content { "yes" } else { "no" };
        writeln!(out, "{:<10} {:>10} {:>10} {content:<7} {}", section_label(s.kind), s.offset, s.bytes, s.sha256)?;
    }
    Ok(())
}

fn materials_table(t: &Terrain, out: &mut dyn Write) -> Done {
    let all = materials(t);
    let wide = width(all.iter().map(|m| shown(&m.name)));
    writeln!(
        out,
        "{:<wide$} {:>7} {:>8} {:>8} {:>5} {:>11} {:>8} {:>8} {:>10} {:<13} classes",
        "material", "mu", "rr", "gain", "type", "cone index", "label", "priority", "precedence", "is"
    )?;
    for m in all {
        let classes = m.classes.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let is = match (m.include, m.obstacle) {
            (false, _) => "not included",
            (true, true) => "an obstacle",
            _ if m.friction_only => "friction only",
            _ => "ground",
        };
        let (name, [mu, rr, gain, cone]) = (shown(&m.name), [m.mu, m.rr, m.gain, m.cone_index].map(decimal));
        let line = format!(
            "{name:<wide$} {mu:>7} {rr:>8} {gain:>8} {:>5} {cone:>11} {:>8} {:>8} {:>10} {is:<13} {classes}",
            m.surface_type, m.label, m.priority, m.precedence
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    if let Some(text) = told_by_default(mu_by_default(t).iter()) {
        writeln!(out, "{text}")?;
    }
    Ok(())
}

/// The text of the provenance; what is no UTF-8 is marked.
fn provenance_of<'a>(t: &Terrain<'a>) -> Cow<'a, str> {
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
