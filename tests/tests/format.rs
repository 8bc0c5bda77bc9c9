//! `kernel/FORMAT.md` and `hardpan::format` say the same: offset, size and type of every field.

use hardpan::format::rays::{RaysHead, RaysRecord, RaysTile, Walls};
use hardpan::format::*;
use std::mem::{offset_of, size_of_val};
use zerocopy::FromZeros;

type Row = (usize, usize, String, String);

macro_rules! rows {
    ($record:ty: $($field:ident $type:literal),* $(,)?) => {{
        let zero = <$record>::new_zeroed();
        vec![$((offset_of!($record, $field), size_of_val(&zero.$field), $type.to_string(), stringify!($field).to_string())),*]
    }};
}

/// The rows of the table under a heading, read from the document.
fn documented(heading: &str) -> Vec<Row> {
    let text = include_str!("../../kernel/FORMAT.md");
    let (_, after) = text.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no heading {heading:?}"));
    let table = after.lines().skip_while(|l| !l.starts_with("| offset")).skip(2);
    table
        .take_while(|l| l.starts_with('|'))
        .map(|l| {
            let cells: Vec<&str> = l.split('|').map(|c| c.trim().trim_matches('`')).collect();
            (cells[1].parse().unwrap(), cells[2].parse().unwrap(), cells[3].into(), cells[4].into())
        })
        .collect()
}

fn agree(heading: &str, size: usize, declared: Vec<Row>) {
    let written = documented(heading);
    assert_eq!(written, declared, "{heading}");
    let mut end = 0;
    for (offset, len, _, field) in &written {
        assert_eq!(*offset, end, "{heading}: a gap before {field}");
        end += len;
    }
    assert_eq!(end, size, "{heading}: fields up to the record's end");
}

#[test]
fn document_and_code_agree() {
    agree(
        "## 2. Head",
        2048,
        rows!(Header: magic "[u8; 8]", version "u16", least_reader "u16", head_len "u32",
        total_len "u64", head_crc "u32", reserved0 "u32", identity "[u8; 32]", must_understand "u64", xy_log2 "i32",
        z_log2 "i32", origin "[i64; 3]", min "[i32; 3]", max "[i32; 3]", tile_log2 "u32", page_log2 "u32",
        page_min "[i32; 2]", page_count "[u32; 2]", tile_count "u32", max_layers "u32", triangles "u64",
        bundles "u64", patch_blocks "u64", references "u64", near "i64", far "i64", layer_merge "i64",
        default_z "i64", default_mu "f64", default_rolling "f64", default_gain "f64", fallback "u32",
        wide_tests "u32", bound "[u32; 4]", error_plan "f64", error_height "f64", ray_bound "[[u32; 4]; 4]",
        tyre_bound "[[u32; 4]; 2]", no_height_rule "u32", reserved1 "u32", precedence_band "i64",
        reserved2 "[u8; 112]",
        sections "[Section; SECTIONS]"),
    );
    agree(
        "### Section table entry",
        64,
        rows!(Section: kind "u32", flags "u32", offset "u64", len "u64", crc "u32",
        reserved "u32", digest "[u8; 32]"),
    );
    agree(
        "### Material",
        64,
        rows!(Material: mu "f64", rolling "f64", gain "f64", cone_index "f64", name "u32",
        name_len "u16", surface "u16", class_mask "u32", label "u32", flags "u32", priority "i32", precedence "i16",
        reserved "[u16; 3]"),
    );
    agree("### Source", 16, rows!(Source: name "u32", name_len "u32", precedence "i16", reserved "[u16; 3]"));
    agree(
        "### Crs",
        128,
        rows!(Crs: method "u32", code "u32", vertical_code "u32", says "u8", vertical_says "u8", name_len "u16",
        datum_len "u16", vertical_len "u16", reserved0 "u32", radius "f64", inverse_flattening "f64", longitude "f64",
        latitude "f64", scale "f64", zero "[f64; 2]", shift "[f64; 3]", reserved1 "[u64; 3]"),
    );
    agree(
        "### Tile record",
        64,
        rows!(TileRecord: offset "u64", len "u64", crc "u32", x "i32", y "i32",
        reserved "u32", digest "[u8; 32]"),
    );
    agree(
        "## 3. Tile",
        128,
        rows!(Tile: magic "u32", index "u32", x "i32", y "i32", words "u32", reserved0 "u32",
        palette_len "u32", patches "u32", patch_count "u32", bundles "u32", bundle_count "u32", references "u32",
        min_z "i32", max_z "i32", max_layers "u32", reserved1 "u32", bound "[u32; 4]", error "[f64; 2]",
        reserved2 "[u32; 8]"),
    );
    agree("### Palette entry", 8, rows!(Attribute: material "u16", source "u16", flags "u32"));
    agree(
        "### Node",
        32,
        rows!(Node: entry_log2 "[u8; 2]", side_log2 "[u8; 2]", flags "u8", shift "u8", reserved0 "u16",
        base "[i32; 2]", entries "u32", bundles "u32", bundle_count "u32", first_block "u32"),
    );
    agree(
        "## 4. Patch",
        64,
        rows!(Patch: rate "[u32; 2]", from "[[u32; 2]; 2]", first "[u32; 2]", cells "[u32; 2]", class "u8",
        interpolation "u8", voids "u8", long "u8", blocks "u32", place "u32", attribute "u8", reserved0 "[u8; 3]",
        up "[u32; 2]"),
    );
    agree(
        "### Head of RAYS",
        128,
        rows!(RaysHead: tiles "u32", kinds "u32", triangles "[u64; 2]", bundles "u64", min "[i32; 3]",
        max "[i32; 3]", ray_bound "[[u32; 4]; 4]", reserved "[u32; 2]"),
    );
    agree(
        "### Head of a blob",
        128,
        rows!(RaysTile: magic "u32", index "u32", x "i32", y "i32", words "u32", palette_len "u32", records "u32",
        blocks "u32", references "[u32; 2]", reserved "[u32; 22]"),
    );
    agree(
        "### Record of a block",
        32,
        rows!(RaysRecord: base "i32", unit "u32", walls "u32", reserved "u32", extents "Extents"),
    );
    agree(
        "### Walls of a block",
        40,
        rows!(Walls: base "i32", unit_and_first "u32", extents "Extents", ends "[u16; 8]"),
    );
}

/// The worked query: every number stands where the document says, and the kernel comes to the same end.
#[test]
fn the_worked_query_is_in_the_example() {
    let text = include_str!("../../kernel/FORMAT.md");
    let image = hardpan::include_image!("../../kernel/examples/bridge.hpan");
    let (_, after) = text.split_once("\n## 7. A query, byte by byte\n").unwrap();
    let mut rows = 0;
    for row in after.lines().skip_while(|l| !l.starts_with("| byte")).skip(2).take_while(|l| l.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').map(|c| c.trim().trim_matches('`')).collect();
        let (at, wanted): (usize, i64) = (cells[1].parse().unwrap(), cells[3].parse().unwrap());
        let b = |k: usize| image[at + k];
        let found = match cells[2] {
            "u8" => b(0).into(),
            "i16" => i16::from_le_bytes([b(0), b(1)]).into(),
            "u16" => u16::from_le_bytes([b(0), b(1)]).into(),
            "u32" => u32::from_le_bytes([b(0), b(1), b(2), b(3)]).into(),
            _ => i64::from(i32::from_le_bytes([b(0), b(1), b(2), b(3)])),
        };
        assert_eq!(found, wanted, "{row}");
        rows += 1;
    }
    assert_eq!(rows, 24);
    let hit = hardpan::Terrain::open(image).unwrap().closest([0.0, 0.0, 2.0]).hit;
    // the tile, 128-byte units from the first; the bundle, as many from the tile; the triangle
    assert_eq!((hit.z, hit.place), (0, [12, 2, 0]));
}
