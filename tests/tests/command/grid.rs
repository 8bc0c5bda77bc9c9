//! `hardpan grid`: heights on squares, in all forms, held against the oracle; `build --raster`.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path, process::Command};

use crate::shell::{BRIDGE, error, expect, folder, holds, info};
use hardpan::Terrain;
use hardpan_builder::demo::fixtures;
use hardpan_builder::grid::{Rule, Sampler};
use hardpan_builder::{Image, Options, Scene, Undersides, build};
use hardpan_shaders::Cpu;
use num_rational::BigRational;
use serde_json::Value;
use verification::oracle::{Oracle, Steps};

/// A scene as OBJ, to the last bit.
pub fn obj(scene: &Scene) -> String {
    let mut text = String::new();
    scene.positions.iter().for_each(|[x, y, z]| writeln!(text, "v {x} {y} {z}").unwrap());
    let mut last = None;
    for t in &scene.triangles {
        if last != Some(t.material) {
            writeln!(text, "usemtl {}", scene.materials[usize::from(t.material)].name).unwrap();
            last = Some(t.material);
        }
        let [a, b, c] = t.v.map(|v| v + 1);
        writeln!(text, "f {a} {b} {c}").unwrap();
    }
    text
}

/// An array of NumPy: its shape, and doubles.
fn npy(path: &Path) -> (Vec<usize>, Vec<f64>) {
    let bytes = fs::read(path).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!((10 + length) % 64, 0);
    let head = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    holds(head, &["'descr': '<f8'", "'fortran_order': False"]);
    let shape = head.split('(').nth(1).unwrap().split(')').next().unwrap();
    let shape: Vec<usize> = shape.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    let values = bytes[10 + length..].as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    (shape, values)
}

/// Facts of a grid.
#[track_caller]
fn facts(folder: &Path, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = ["grid"].iter().chain(arguments).chain(&["--json"]).copied().collect();
    serde_json::from_str(&expect(0, folder, &arguments)[0]).unwrap()
}

fn scenes() -> Vec<(&'static str, Scene, &'static str)> {
    let mut all: Vec<_> = verification::small_meshes().into_iter().map(|(name, scene)| (name, scene, "7.3")).collect();
    all.push(("soup", fixtures::soup(3), "61.7"));
    all
}

#[test]
fn cg_05_cg_10_cg_12_every_cell_equals_the_oracle() {
    let folder = folder("cg_05_cg_10_cg_12_every_cell_equals_the_oracle");
    let unit = 2f64.powi(-24);
    let (mut found, mut layered) = (0, 0);
    for (name, scene, cell) in scenes() {
        fs::write(folder.join("a.obj"), obj(&scene)).unwrap();
        let oracle = Oracle::new(&scene);
        let steps = Steps::default();
        for rule in ["highest", "lowest", "highest-below=0.12", "nearest=3"] {
            let typed = ["a.obj", "--cell", cell, "--rule", rule, "--stitch", "false", "--undersides", "ground"];
            let options = ["-o", "a.npy", "--force", "--ignore-above", "1e9"];
            let facts = facts(&folder, &[&typed[..], &options].concat());
            let (shape, heights) = npy(&folder.join("a.npy"));
            let [columns, rows] = ["columns", "rows"].map(|key| facts[key].as_u64().unwrap() as usize);
            assert_eq!(shape, [rows, columns]);
            let (side, low) = (facts["cell"].as_f64().unwrap(), &facts["extent"]["min"]);
            let centre = |k: usize, i: usize| low[k].as_f64().unwrap() + (i as f64 + 0.5) * side;
            for (at, z) in heights.iter().enumerate() {
                let [x, y] = [centre(0, at % columns), centre(1, at / columns)].map(|v| steps.xy_units(v));
                let all: Vec<i64> = oracle.over(x, y).iter().map(|g| g.z).collect();
                // heights that are asked for are rounded as corners are
                let limit = |metres: f64| (metres * 65536.0).round_ties_even() as i64 * 256;
                let expected = match rule {
                    "highest" => all.first(),
                    "lowest" => all.last(),
                    "nearest=3" => all.iter().rev().min_by_key(|v| v.abs_diff(limit(3.0))),
                    _ => all.iter().find(|v| **v <= limit(0.12)),
                };
                let expected = expected.map(|v| *v as f64 * unit);
                assert_eq!(Some(*z).filter(|z| !z.is_nan()), expected, "{name} {rule} {at}");
                found += usize::from(expected.is_some());
                layered += usize::from(all.len() > 1);
            }
        }
    }
    assert!(found > 50_000 && layered > 3_000, "{found} {layered}");
}

/// Two of the eleven fixtures are heights; the oracle asks faces and reports that it cannot answer.
#[test]
fn cg_06_the_brute_force_agrees_on_all_fixtures() {
    let folder = folder("cg_06_the_brute_force_agrees_on_all_fixtures");
    let more = [("far", fixtures::far(), "7.3"), ("city", fixtures::city(), "60")];
    let all: Vec<_> = scenes().into_iter().chain(more).collect();
    for name in ["flat", "ramp", "bridge", "hole", "curb", "mats", "city", "soup", "far"] {
        assert!(all.iter().any(|scene| scene.0 == name), "{name}");
    }
    for name in ["cobble", "step"] {
        expect(0, &folder, &["demo", "--fixture", name]);
        let text = error(2, &folder, &["grid", &format!("{name}.hpan"), "--cell", "1", "--oracle"]);
        holds(&text, &[name, "leave --oracle out"]);
    }
    for (name, scene, cell) in all {
        fs::write(folder.join("a.obj"), obj(&scene)).unwrap();
        for rule in [&["--rule", "highest"][..], &["--rule", "nearest=0"], &["--layers"]] {
            let typed = [&["a.obj", "--cell", cell, "--oracle"][..], rule].concat();
            let facts = facts(&folder, &typed);
            assert_eq!(
                (&facts["oracle"]["agrees"], &facts["oracle"]["squares"]),
                (&true.into(), &facts["squares"]),
                "{name}"
            );
        }
    }
    // it sees one square that is a height step off
    let stages = Cpu::new();
    let (ground, _) = Sampler::of_scene(&fixtures::curb(), &Options::default(), &stages).unwrap();
    let squares = ground.squares(1.0).unwrap();
    let mut grid = ground.grid(&squares, Rule::Highest, &stages, &mut |_| ()).unwrap();
    assert_eq!(ground.differs(&grid, Rule::Highest, &mut |_| ()), Ok(None));
    assert_eq!((grid.over([-6.9, -2.1]), grid.over([10.0, 0.0])), (Some([3, 7]), None));
    grid.heights[7 * squares.columns + 3] += 2f64.powi(-24);
    let first = ground.differs(&grid, Rule::Highest, &mut |_| ()).unwrap().unwrap();
    assert_eq!((first.at, first.centre, first.oracle), ([3, 7], [-6.5, -2.5], vec![0.0]));
    grid.heights[0] = f64::NAN;
    let first = ground.differs(&grid, Rule::Highest, &mut |_| ()).unwrap().unwrap();
    assert_eq!((first.at, first.grid, first.oracle), ([0, 0], vec![], vec![0.0]));
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    // the example of the library
    let (ground, _) = Sampler::of_scene(&fixtures::bridge(), &Options::default(), &stages).unwrap();
    let squares = ground.squares(10.0).unwrap();
    let grid = ground.grid(&squares, Rule::Highest, &stages, &mut |_| ()).unwrap();
    assert_eq!((squares.columns, squares.rows, squares.centre([0, 0])), (10, 10, [-45.0, -45.0]));
    assert_eq!((grid.at([0, 0]), grid.at([4, 0])), (Some(0.0), Some(6.0)));
    let text = error(2, &folder, &["grid", "bridge.obj", "--cell", "50", "--oracle", "--rule", "cell-mean"]);
    holds(&text, &["bridge.obj: the oracle asks at centres", "leave --oracle out"]);
}

#[test]
fn cg_04_extents_are_those_of_the_faces() {
    let folder = folder("cg_04_extents_are_those_of_the_faces");
    // beside a vertex that no face has, and an upright face that reaches farther
    let stray = "v 900 900 900\nv 60 0 0\nv 60 1 0\nv 60 0 9\nf 10 11 12\n";
    fs::write(folder.join("a.obj"), format!("{BRIDGE}{stray}")).unwrap();
    for name in ["a.npy", "a.csv", "a.json", "a.tif", "a.png"] {
        let facts = facts(&folder, &["a.obj", "--cell", "2.5", "-o", name]);
        assert_eq!(facts["extent"], serde_json::json!({ "min": [-50.0, -50.0], "max": [50.0, 50.0] }));
        assert_eq!((&facts["columns"], &facts["rows"], &facts["no_data"]), (&40.into(), &40.into(), &0.into()));
        assert!(folder.join(name).exists());
    }
    assert_eq!(npy(&folder.join("a.npy")).0, [40, 40]);
    assert_eq!(fs::read_to_string(folder.join("a.csv")).unwrap().lines().count(), 1601);
    let picture = fs::read(folder.join("a.png")).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&picture)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let colours: std::collections::HashSet<&[u8]> = pixels.chunks(3).collect();
    assert!(reader.info().width >= 1200 && colours.len() > 10);
}

/// The rule of a grid, from CG-23; nothing measures how much room is above the ground.
#[test]
fn cg_13_cg_23_the_highest_is_the_deck_and_the_nearest_the_ground() {
    let folder = folder("cg_13_cg_23_the_highest_is_the_deck_and_the_nearest_the_ground");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    fs::write(folder.join("curb.obj"), obj(&fixtures::curb())).unwrap();
    let heights = |name: &str, rule: &str| {
        facts(&folder, &[name, "--cell", "0.5", "--rule", rule, "-o", "g.npy", "--force"]);
        npy(&folder.join("g.npy"))
    };
    let (shape, top) = heights("bridge.obj", "highest");
    let at = |all: &[f64], x: f64, y: f64, low: f64, columns: usize| {
        all[((y - low) / 0.5) as usize * columns + ((x - low) / 0.5) as usize]
    };
    assert_eq!((at(&top, 0.0, 0.0, -50.0, shape[1]), at(&top, 9.0, 0.0, -50.0, shape[1])), (6.0, 0.0));
    let (_, below) = heights("bridge.obj", "highest-below=3");
    assert!(below.iter().all(|z| *z == 0.0));
    // under the lamp arm, on road and pavement
    let (shape, top) = heights("curb.obj", "highest");
    let (_, near) = heights("curb.obj", "nearest=0");
    for (x, ground) in [(-0.4, 0.0), (0.1, (0.15f64 * 65536.0).round() / 65536.0)] {
        let [top, near] = [&top, &near].map(|all| at(all, x, 0.0, -10.0, shape[1]));
        assert_eq!((top, near), (5.0, ground), "{x}");
    }
}

#[test]
fn cg_09_what_reaches_above_a_height_is_left_out() {
    let folder = folder("cg_09_what_reaches_above_a_height_is_left_out");
    fs::write(folder.join("curb.obj"), obj(&fixtures::curb())).unwrap();
    let most = |options: &[&str]| {
        let facts = facts(&folder, &[&["curb.obj", "--cell", "0.5", "--layers"][..], options].concat());
        ["most_layers", "faces", "ignored_above"].map(|key| facts[key].as_u64().unwrap())
    };
    assert_eq!(most(&[]), [2, 6, 0]);
    assert_eq!(most(&["--ignore-above", "3"]), [1, 4, 2]);
    assert_eq!(most(&["--ignore-above", "5"]), [2, 6, 0]);
    // a height is rounded as corners are: what lies at it is not above it
    assert_eq!(most(&["--ignore-above", "0.15"]), [1, 4, 2]);
    assert_eq!(most(&["--ignore-above", "0.1499"]), [1, 2, 4]);
    // the extent is that of what is left
    let left = facts(&folder, &["curb.obj", "--cell", "0.5", "--ignore-above", "0.1"]);
    assert_eq!(left["extent"]["max"], serde_json::json!([0.0, 10.0]));
    // a roof from 0 to 9 m has corners on both sides of 3
    fs::write(folder.join("roof.obj"), "v 0 0 0\nv 4 0 0\nv 4 40 9\nv 0 40 9\nf 1 2 3 4\nv 9 0 0\nv 9 40 0\nf 2 5 6\n")
        .unwrap();
    let ignored = |mode: &str| {
        facts(&folder, &["roof.obj", "--cell", "1", "--ignore-above", "3", "--ignore-mode", mode])["ignored_above"]
            .clone()
    };
    assert_eq!((ignored("any"), ignored("all")), (2.into(), 0.into()));
    let text = error(2, &folder, &["grid", "roof.obj", "--cell", "1", "--ignore-above", "-1"]);
    holds(&text, &["roof.obj: all 3 faces reach above -1 m", "--ignore-mode all"]);
}

/// A classic TIFF of one strip or more of doubles: tags of numbers and its rows.
fn tiff(path: &Path) -> (BTreeMap<u16, Vec<f64>>, Vec<f64>) {
    let b = fs::read(path).unwrap();
    assert_eq!(&b[..4], b"II\x2a\x00");
    let u16_at = |at: usize| u16::from_le_bytes([b[at], b[at + 1]]);
    let u32_at = |at: usize| u32::from_le_bytes(b[at..at + 4].try_into().unwrap());
    let f64_at = |at: usize| f64::from_le_bytes(b[at..at + 8].try_into().unwrap());
    let first = u32_at(4) as usize;
    let mut tags = BTreeMap::new();
    for i in 0..usize::from(u16_at(first)) {
        let entry = first + 2 + 12 * i;
        let (tag, kind, count) = (u16_at(entry), u16_at(entry + 2), u32_at(entry + 4) as usize);
        let size = match kind {
            1 | 2 => 1,
            3 => 2,
            4 => 4,
            12 => 8,
            _ => continue,
        };
        let at = if size * count <= 4 { entry + 8 } else { u32_at(entry + 8) as usize };
        let value = |k: usize| match size {
            1 => f64::from(b[at + k]),
            2 => f64::from(u16_at(at + 2 * k)),
            4 => f64::from(u32_at(at + 4 * k)),
            _ => f64_at(at + 8 * k),
        };
        tags.insert(tag, (0..count).map(value).collect::<Vec<f64>>());
    }
    let strips = tags[&273].iter().zip(&tags[&279]);
    let pixels =
        strips.flat_map(|(at, bytes)| (0..*bytes as usize / 8).map(|k| f64_at(*at as usize + 8 * k))).collect();
    (tags, pixels)
}

#[test]
fn cg_14_no_data_is_no_number() {
    let folder = folder("cg_14_no_data_is_no_number");
    fs::write(folder.join("hole.obj"), obj(&fixtures::hole())).unwrap();
    for name in ["h.npy", "h.tif", "h.csv", "h.json"] {
        let facts = facts(&folder, &["hole.obj", "--cell", "5", "-o", name]);
        // those whose centres lie in the opening of 10 m
        assert_eq!((&facts["no_data"], &facts["squares"]), (&4.into(), &40_000.into()));
    }
    let (shape, heights) = npy(&folder.join("h.npy"));
    assert_eq!(shape, [200, 200]);
    let holes: Vec<usize> = (0..heights.len()).filter(|i| heights[*i].is_nan()).collect();
    assert_eq!(holes, [99 * 200 + 99, 99 * 200 + 100, 100 * 200 + 99, 100 * 200 + 100]);
    assert!(heights.iter().all(|z| z.is_nan() || *z == 0.0));

    let (tags, pixels) = tiff(&folder.join("h.tif"));
    assert_eq!((&tags[&256][..], &tags[&257][..]), (&[200.0][..], &[200.0][..]));
    // doubles, of one sample; square pixels, and the north-western corner
    assert_eq!((&tags[&258][..], &tags[&339][..]), (&[64.0][..], &[3.0][..]));
    assert_eq!(
        (&tags[&33550][..], &tags[&33922][..]),
        (&[5.0, 5.0, 0.0][..], &[0.0, 0.0, 0.0, -500.0, 500.0, 0.0][..])
    );
    let text: Vec<u8> = tags[&42113].iter().map(|v| *v as u8).collect();
    assert_eq!(text, b"nan\0");
    let flipped: Vec<u64> = pixels.chunks(200).rev().flatten().map(|z| z.to_bits()).collect();
    assert_eq!(flipped, heights.iter().map(|z| z.to_bits()).collect::<Vec<_>>());

    let csv = fs::read_to_string(folder.join("h.csv")).unwrap();
    assert_eq!(csv.lines().filter(|l| l.ends_with(",,0")).count(), 4);
    holds(&csv, &["x,y,z,partial\n-497.5,-497.5,0,0\n", "\n-2.5,2.5,,0\n"]);
    let json: Value = serde_json::from_str(&fs::read_to_string(folder.join("h.json")).unwrap()).unwrap();
    let heights = json["heights"].as_object().unwrap();
    assert_eq!((heights.len(), heights.values().filter(|z| z.is_null()).count()), (40_000, 4));
    assert!(json["heights"]["2.5,-2.5"].is_null() && json["heights"]["7.5,-2.5"] == 0.0);
    // and with all layers an empty list
    facts(&folder, &["hole.obj", "--cell", "5", "--layers", "-o", "l.json"]);
    let json: Value = serde_json::from_str(&fs::read_to_string(folder.join("l.json")).unwrap()).unwrap();
    assert_eq!(
        (&json["heights"]["2.5,-2.5"], &json["heights"]["7.5,-2.5"]),
        (&serde_json::json!([]), &serde_json::json!([0]))
    );
}

#[test]
fn cg_15_cells_are_above_zero_and_not_too_many() {
    let folder = folder("cg_15_cells_are_above_zero_and_not_too_many");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    for cell in ["0", "-1", "nan", "x"] {
        let [out, err] = expect(2, &folder, &["grid", "bridge.obj", "--cell", cell, "-o", "g.npy"]);
        assert!(out.is_empty() && err.contains("--cell"), "{err}");
    }
    holds(&expect(2, &folder, &["grid", "bridge.obj", "--cell", "0"])[1], &["the side of a square is above 0 m"]);
    holds(
        &error(2, &folder, &["grid", "bridge.obj", "--cell", "0.0001"]),
        &["bridge.obj: squares of 0.0001 m are smaller than the lattice's step"],
    );
    for (cell, more) in [("0.001", "100,000 x 100,000 squares"), ("1.3mm", "76,923 x 76,923 squares")] {
        let text = error(4, &folder, &["grid", "bridge.obj", "--cell", cell]);
        holds(&text, &["bridge.obj: ", more, " are more than 2,147,483,648; take larger ones, of 0.0022 m\n"]);
    }
    // a number of two digits is written in two
    fs::write(folder.join("land.obj"), "v 0 0 0\nv 100 0 0\nv 100 60 0\nv 0 60 0\nf 1 2 3 4\n").unwrap();
    let text = error(4, &folder, &["grid", "land.obj", "--up", "z", "--unit", "m", "--cell", "0.0005"]);
    holds(&text, &["take larger ones, of 0.0017 m\n"]);
    fs::remove_file(folder.join("land.obj")).unwrap();
    // a length may have a unit
    for cell in ["0.5", "50cm", "500mm", "0.5 m"] {
        let facts = facts(&folder, &["bridge.obj", "--cell", cell]);
        assert_eq!((&facts["cell"], &facts["columns"]), (&0.5.into(), &200.into()), "{cell}");
    }
    // what is said to help does
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["bridge.obj"], "and nothing is written");
}

#[test]
fn cg_16_centres_are_no_running_sum() {
    let folder = folder("cg_16_centres_are_no_running_sum");
    fs::write(folder.join("km.obj"), "v 0 0 0\nv 1000 0 0\nv 1000 0.25 0\nv 0 0.25 0\nf 1 2 3 4\n").unwrap();
    let facts = facts(&folder, &["km.obj", "--cell", "0.1", "-o", "km.csv"]);
    assert_eq!((&facts["columns"], &facts["rows"]), (&10_000.into(), &3.into()));
    let csv = fs::read_to_string(folder.join("km.csv")).unwrap();
    let xs: Vec<f64> =
        csv.lines().skip(1).take(10_000).map(|l| l.split(',').next().unwrap().parse().unwrap()).collect();
    assert!((xs[9999] - 999.95).abs() < 1e-9, "{}", xs[9999]);
    assert!(xs.iter().enumerate().all(|(i, x)| *x == (i as f64 + 0.5) * 0.1));
    let sum = (0..9999).fold(0.05, |x, _| x + 0.1);
    assert!(sum != xs[9999], "a running sum drifts");
}

#[test]
fn cg_17_partial_cells_are_kept_and_flagged() {
    let folder = folder("cg_17_partial_cells_are_kept_and_flagged");
    let ground = |wide: &str| format!("v 0 0 0\nv {wide} 0 0\nv {wide} 3 0\nv 0 3 0\nf 1 2 3 4\n");
    fs::write(folder.join("a.obj"), ground("10.5")).unwrap();
    let wide = facts(&folder, &["a.obj", "--cell", "1", "-o", "a.csv"]);
    assert_eq!((&wide["columns"], &wide["rows"]), (&11.into(), &3.into()));
    assert_eq!(wide["partial"], serde_json::json!({ "column": 10, "row": null }));
    let csv = fs::read_to_string(folder.join("a.csv")).unwrap();
    // the last centre lies on the very border
    assert_eq!(
        csv.lines().filter(|l| l.ends_with(",1")).collect::<Vec<_>>(),
        ["10.5,0.5,0,1", "10.5,1.5,0,1", "10.5,2.5,0,1"]
    );
    // beyond it there is no ground
    fs::write(folder.join("b.obj"), ground("10.25")).unwrap();
    let facts_b = facts(&folder, &["b.obj", "--cell", "1", "-o", "b.csv"]);
    assert_eq!((&facts_b["columns"], &facts_b["no_data"]), (&11.into(), &3.into()));
    holds(&fs::read_to_string(folder.join("b.csv")).unwrap(), &["\n10.5,0.5,,1\n"]);
    // rounding to the lattice makes no column, and a lattice step does
    for (wide, columns) in [("10.1", 101), ("1.1", 11), ("0.7", 7), ("10.000244140625", 101)] {
        fs::write(folder.join("c.obj"), ground(wide)).unwrap();
        assert_eq!(facts(&folder, &["c.obj", "--cell", "0.1"])["columns"], columns, "{wide}");
    }
}

/// As the manual has it.
const PYTHON: &str = r#"
import json, sys
grid = json.load(open(sys.argv[1]))
height = {tuple(map(float, key.split(","))): z for key, z in grid["heights"].items()}
(west, south), cell = grid["extent"]["min"], grid["cell"]
def over(x, y):
    column, row = int((x - west) // cell), int((y - south) // cell)
    return height.get((west + (column + 0.5) * cell, south + (row + 0.5) * cell))
print(over(0, 0), over(20.3, -7.1), over(70, 0), len(height))
"#;

#[test]
fn cg_18_python_reads_the_dictionary() {
    let folder = folder("cg_18_python_reads_the_dictionary");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    facts(&folder, &["bridge.obj", "--cell", "0.7", "-o", "g.json"]);
    let manual = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../builder/docs/grid.md")).unwrap();
    for line in PYTHON.trim().lines().filter(|l| !l.contains("sys") && !l.starts_with("print")) {
        assert!(manual.contains(line), "the manual has {line:?}");
    }
    let Ok(done) = Command::new("python3").args(["-c", PYTHON, "g.json"]).current_dir(&folder).output() else {
        verification::skipped("there is no python3");
        return;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(String::from_utf8_lossy(&done.stdout), "6 0 None 20449\n");
}

#[test]
fn cg_19_what_it_takes_is_said_before() {
    let folder = folder("cg_19_what_it_takes_is_said_before");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    let [_, err] = expect(0, &folder, &["grid", "bridge.obj", "--cell", "0.1", "-o", "g.npy"]);
    holds(&err, &["note: 1,000 x 1,000 squares of 0.1 m; memory: heights 7.6 MiB, in all ", "; time: about "]);
    let facts = facts(&folder, &["bridge.obj", "--cell", "0.1", "-o", "g.npy", "--force"]);
    let estimate = &facts["estimate"];
    let [heights, all] = ["heights_bytes", "memory_bytes"].map(|key| estimate[key].as_f64().unwrap());
    let array = npy(&folder.join("g.npy")).1.len() as f64 * 8.0;
    assert!(heights == array && all > heights, "{heights} {all} of {array}");
}

/// Tests that depend on how busy the machine is: `tests/run.sh torture` runs them alone.
mod torture {
    use super::*;

    /// The time that is said is that of the whole run, to its order: what it took so far, and the rest at the pace of
    /// this machine now.
    #[test]
    fn cg_19_estimates_of_time_hold() {
        let folder = folder("cg_19_estimates_of_time_hold");
        fs::write(folder.join("city.obj"), obj(&fixtures::city())).unwrap();
        fs::write(folder.join("plane.obj"), "v 0 0 0\nv 1000 0 30\nv 1000 1000 50\nv 0 1000 5\nf 1 2 3 4\n").unwrap();
        for typed in [
            &["city.obj", "--cell", "0.5", "-o", "a.npy", "--force"][..],
            &["plane.obj", "--cell", "0.5", "-o", "a.csv", "--force"],
            &["plane.obj", "--cell", "0.4", "-o", "a.hpan", "--force"],
        ] {
            let mut command = Command::new("/usr/bin/time");
            command.args(["-f", "%U %e"]).arg(&*crate::shell::HARDPAN).arg("grid").args(typed).arg("--json");
            let Ok(done) = command.args(["--threads", "2"]).current_dir(&folder).output() else {
                println!("skipped, because there is no /usr/bin/time");
                return;
            };
            let facts: Value = serde_json::from_slice(&done.stdout).unwrap();
            let err = String::from_utf8_lossy(&done.stderr);
            let times: Vec<f64> = err.lines().last().unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
            let (work, took, said) = (times[0], times[1], facts["estimate"]["seconds"].as_f64().unwrap());
            println!("{typed:?}: said {said:.2} s, took {took:.2} s and {work:.2} s of the processor");
            // on a busy machine a run waits longer than anybody can say before
            assert!(
                said > work / 8.0 && said < took * 4.0,
                "{typed:?}: said {said} s, took {took} s, {work} s of work"
            );
        }
    }
}

#[test]
fn cg_20_progress_never_falls_and_ends_at_100() {
    let folder = folder("cg_20_progress_never_falls_and_ends_at_100");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    // so many squares that there are several strips
    let typed = ["grid", "bridge.obj", "--cell", "0.04", "--progress", "json", "-o", "g.npy"];
    let [out, err] = expect(0, &folder, &typed);
    assert!(!out.contains("progress"));
    let lines = err.lines().filter(|l| l.starts_with('{')).map(|l| serde_json::from_str::<Value>(l).unwrap());
    let told: Vec<f64> = lines.filter_map(|line| line["progress"].as_f64()).collect();
    assert!(told.len() >= 2 && told.is_sorted_by(|a, b| a < b), "{told:?}");
    assert_eq!(told.last(), Some(&100.0));
}

#[test]
fn cg_21_each_cell_is_a_square() {
    let folder = folder("cg_21_each_cell_is_a_square");
    fs::write(folder.join("hole.obj"), obj(&fixtures::hole())).unwrap();
    let facts = facts(&folder, &["hole.obj", "--cell", "10", "--rule", "cell-greatest", "--squares", "-o", "s.obj"]);
    let text = fs::read_to_string(folder.join("s.obj")).unwrap();
    let count = |start: &str| text.lines().filter(|l| l.starts_with(start)).count() as u64;
    assert_eq!((count("f "), count("v ")), (facts["ground"].as_u64().unwrap(), 4 * count("f ")));
    assert!(count("f ") > 9_990);
    // each lies at the height of its square, as the array has them
    fs::write(folder.join("curb.obj"), obj(&fixtures::curb())).unwrap();
    let typed = ["curb.obj", "--cell", "1", "--rule", "cell-greatest", "--force"];
    crate::grid::facts(&folder, &[&typed[..], &["--squares", "-o", "c.obj"]].concat());
    crate::grid::facts(&folder, &[&typed[..], &["-o", "c.npy"]].concat());
    let text = fs::read_to_string(folder.join("c.obj")).unwrap();
    let corners: Vec<f64> =
        text.lines().filter(|l| l.starts_with("v ")).map(|l| l.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    let heights: Vec<f64> = npy(&folder.join("c.npy")).1.into_iter().filter(|z| !z.is_nan()).collect();
    assert_eq!(corners, heights.iter().flat_map(|z| [*z; 4]).collect::<Vec<_>>());
    let different: std::collections::BTreeSet<u64> = heights.iter().map(|z| z.to_bits()).collect();
    assert!(different.len() >= 3, "road, pavement and lamp: {different:?}");
    holds(&error(2, &folder, &["grid", "hole.obj", "--cell", "10", "-o", "t.obj"]), &["t.obj: ", "add --squares"]);
    holds(
        &error(2, &folder, &["grid", "hole.obj", "--cell", "10", "--squares", "-o", "t.csv"]),
        &["t.csv: ", "FILE.obj"],
    );
    // squares need a file
    holds(&expect(2, &folder, &["grid", "hole.obj", "--cell", "10", "--squares"])[1], &["--output <FILE>"]);
}

#[test]
fn cg_07_cg_08_upright_faces_and_ceilings_are_no_ground() {
    let folder = folder("cg_07_cg_08_upright_faces_and_ceilings_are_no_ground");
    fs::write(folder.join("curb.obj"), obj(&fixtures::curb())).unwrap();
    // of eight faces the two of the kerb are upright
    assert_eq!(facts(&folder, &["curb.obj", "--cell", "1"])["faces"], 6);
    // a floor, and beside it a wall 0.1 degrees off the vertical
    let wall = "v 0 0 0\nv 9 0 0\nv 9 9 0\nv 0 9 0\nf 1 2 3 4\nv 9.015625 0 9\nv 9.015625 9 9\nf 2 5 6 3\n";
    fs::write(folder.join("wall.obj"), wall).unwrap();
    let most = |options: &[&str]| {
        let facts = facts(&folder, &[&["wall.obj", "--cell", "1", "--rule", "cell-greatest"], options].concat());
        (facts["greatest"].as_f64().unwrap(), facts["faces"].as_u64().unwrap())
    };
    assert_eq!((most(&[]), most(&["--max-slope", "85"])), ((9.0, 4), (0.0, 2)));
    // a closed box on a floor
    let cube = "v 0 0 1\nv 2 0 1\nv 2 2 1\nv 0 2 1\nv 0 0 3\nv 2 0 3\nv 2 2 3\nv 0 2 3\n\
                f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    fs::write(folder.join("cube.obj"), cube).unwrap();
    let lowest = |options: &[&str]| {
        facts(&folder, &[&["cube.obj", "--cell", "1", "--rule", "lowest"], options].concat())["least"].clone()
    };
    assert_eq!(lowest(&[]), 3.0);
    assert_eq!(lowest(&["--undersides", "ground"]), 1.0);
    // a build has the same option, and its image the same ground
    for (which, triangles) in [("auto", 2), ("ground", 4), ("ceiling", 2)] {
        expect(0, &folder, &["build", "cube.obj", "--undersides", which, "-o", "cube.hpan", "--force"]);
        let facts = info(&folder, "cube.hpan");
        assert_eq!((&facts["triangles"], &facts["build"]["undersides"]), (&triangles.into(), &which.into()), "{facts}");
    }
    holds(&expect(2, &folder, &["build", "cube.obj", "--undersides", "none"])[1], &["auto, ground or ceiling"]);
}

#[test]
fn a_mesh_and_its_image_have_one_grid() {
    let folder = folder("a_mesh_and_its_image_have_one_grid");
    let mut compared = 0;
    for (name, scene) in [("soup", fixtures::soup(5)), ("curb", fixtures::curb()), ("town", fixtures::town(1))] {
        fs::write(folder.join("a.obj"), obj(&scene)).unwrap();
        expect(0, &folder, &["build", "a.obj", "--force", "--weld", "2,8"]);
        let cell = if name == "soup" { "97" } else { "1.7" };
        for rule in ["highest", "lowest", "nearest=2", "cell-least", "cell-greatest", "cell-mean"] {
            let typed = ["--cell", cell, "--rule", rule, "--force"];
            facts(&folder, &[&["a.obj", "-o", "mesh.npy", "--weld", "2,8"][..], &typed].concat());
            // whatever the number of threads
            facts(&folder, &[&["a.hpan", "-o", "image.npy", "--threads", "1"][..], &typed].concat());
            let [mesh, image] = ["mesh.npy", "image.npy"].map(|file| fs::read(folder.join(file)).unwrap());
            assert!(mesh == image, "{name} {rule}");
            compared += mesh.len();
        }
        facts(&folder, &["a.obj", "--layers", "--cell", cell, "--weld", "2,8", "--force", "-o", "mesh.csv"]);
        facts(&folder, &["a.hpan", "--layers", "--cell", cell, "--force", "-o", "image.csv"]);
        let [mesh, image] = ["mesh.csv", "image.csv"].map(|file| fs::read(folder.join(file)).unwrap());
        assert!(mesh == image, "{name} layers");
    }
    assert!(compared > 100_000, "{compared}");
    let text = error(2, &folder, &["grid", "a.hpan", "--cell", "1", "--max-slope", "80"]);
    holds(&text, &["a.hpan: an image is sampled as it is"]);
    holds(
        &error(2, &folder, &["grid", "a.hpan", "--cell", "1", "--up", "y"]),
        &["a.hpan: an image is sampled as it is"],
    );
}

/// Heights of fields are those of the kernel at the centres.
#[test]
fn fields_of_an_image_are_sampled() {
    let folder = folder("fields_of_an_image_are_sampled");
    let built = build(&fixtures::step(), &Options::default()).unwrap();
    fs::write(folder.join("step.hpan"), &built.image[..]).unwrap();
    for (rule, z) in [("highest", 0.1), ("nearest=-9", 0.0), ("highest-below=0.05", 0.0)] {
        let facts = facts(&folder, &["step.hpan", "--cell", "0.01", "--rule", rule, "-o", "g.npy", "--force"]);
        assert_eq!(
            (&facts["no_data"], &facts["columns"]),
            (&if z > 0.0 { 0 } else { facts["no_data"].as_u64().unwrap() }.into(), &100.into())
        );
        let (shape, heights) = npy(&folder.join("g.npy"));
        let t = Terrain::open(&built.image).unwrap();
        for (i, height) in heights.iter().enumerate() {
            let [x, y] = [i % shape[1], i / shape[1]].map(|n| -0.5 + (n as f64 + 0.5) * 0.01);
            let top = t.closest([x, y, 3.0]);
            let top = t.z_f64(&top.hit);
            assert_eq!(top, if x < 0.0 { 0.0 } else { t.z_f64(&t.closest([0.2, 0.0, 0.0]).hit) });
            let expected = if rule.starts_with("highest-below") && top > 0.05 { f64::NAN } else { top };
            assert_eq!(height.to_bits(), expected.to_bits(), "{rule} {x} {y}");
        }
    }
    holds(
        &error(2, &folder, &["grid", "step.hpan", "--cell", "0.1", "--rule", "cell-mean"]),
        &["step.hpan: the image holds fields of heights"],
    );
    holds(
        &error(2, &folder, &["grid", "step.hpan", "--cell", "0.1", "--oracle"]),
        &["step.hpan: the image holds fields of heights"],
    );
    holds(&error(2, &folder, &["grid", "step.hpan", "--cell", "0.1", "--ignore-above", "1"]), &["highest-below=Z"]);
}

/// The size of the city that the brief of grids names, at 0.25 m: beside reading it has two seconds on two cores.
#[test]
fn cg_03_a_city_in_seconds() {
    let folder = folder("cg_03_a_city_in_seconds");
    let scene = fixtures::city();
    assert!(scene.triangles.len() >= 673_096 && scene.positions.len() >= 405_163);
    fs::write(folder.join("city.obj"), obj(&scene)).unwrap();
    for threads in ["2", "1"] {
        let typed = ["city.obj", "--cell", "0.25", "-o", "city.npy", "--force", "--threads", threads];
        let facts = facts(&folder, &typed);
        let [sampled, written] = ["sampled", "written"].map(|key| facts["seconds"][key].as_f64().unwrap());
        let squares = facts["squares"].as_f64().unwrap();
        println!(
            "{threads} threads: sampled in {sampled:.2} s, {:.1} ns a square; written in {written:.2} s",
            sampled * 1e9 / squares
        );
        println!("{}", facts["estimate"]);
        assert!(squares > 20e6, "{facts}");
    }
    // reading, mending, sampling and writing, in seconds of the processor: of one core, so less on two
    crate::shell::soon(5, 0, &folder, &["grid", "city.obj", "--cell", "0.25", "-o", "city.npy", "--force"]);
}

/// A corner in exact fractions of lattice steps.
type Corner = [BigRational; 3];

fn whole(v: i64) -> BigRational {
    BigRational::from_integer(v.into())
}

/// The part of a shape at a place along an axis or beyond, by exact cuts.
fn cut(shape: &[Corner], k: usize, at: &BigRational, way: i64) -> Vec<Corner> {
    let zero = whole(0);
    let beyond = |p: &Corner| (&p[k] - at) * whole(way);
    let mut left = Vec::new();
    for (i, p) in shape.iter().enumerate() {
        let q = &shape[(i + 1) % shape.len()];
        let [a, b] = [beyond(p), beyond(q)];
        if a >= zero {
            left.push(p.clone());
        }
        if (a > zero && b < zero) || (a < zero && b > zero) {
            let share = &a / (&a - &b);
            left.push([0, 1, 2].map(|k| &p[k] + (&q[k] - &p[k]) * &share));
        }
    }
    left
}

/// The nearest whole number, of two the even one.
fn half_even(v: &BigRational) -> BigRational {
    let (floor, half) = (v.floor(), BigRational::new(1.into(), 2.into()));
    let rest = v - &floor;
    let odd = (floor.to_integer() % 2u8) != 0u8.into();
    if rest > half || (rest == half && odd) { floor + whole(1) } else { floor }
}

#[test]
fn cg_05_rules_of_whole_cells_equal_exact_cuts() {
    let stages = Cpu::new();
    let options = Options { stitch: None, undersides: Undersides::Ground, ..Options::default() };
    let (mut found, mut touched) = (0, 0);
    // corners and sides on borders of squares, some with no other ground beside them
    let mut teeth = Scene { positions: Vec::new(), triangles: Vec::new(), fields: Vec::new(), ..fixtures::flat() };
    for (k, corners) in [
        [[0.0, 0.0, 1.0], [3.0, 1.0, 2.0], [1.0, 3.0, 3.0]],
        [[4.0, 4.0, 5.0], [6.0, 2.0, 1.0], [6.0, 6.0, 2.0]],
        [[2.0, 7.0, 0.1], [3.0, 8.0, 0.3], [1.0, 8.0, 0.7]],
        [[7.3, 8.0, 0.0], [8.7, 8.0, 0.0], [8.0, 8.9, 4.0]],
        [[9.0, 0.0, 0.0], [10.0, 0.0, 0.0], [9.0, 1.0, 9.0]],
    ]
    .into_iter()
    .enumerate()
    {
        teeth.positions.extend(corners);
        let v = [0, 1, 2].map(|i| 3 * k as u32 + i);
        teeth.triangles.push(hardpan_builder::Triangle { v, material: 0, source: 0 });
    }
    for (scene, cell) in [(fixtures::curb(), 0.7), (fixtures::soup(11), 153.0), (fixtures::ramp(), 13.3), (teeth, 1.0)]
    {
        let oracle = Oracle::new(&scene);
        let (ground, _) = Sampler::of_scene(&scene, &options, &stages).unwrap();
        let squares = ground.squares(cell).unwrap();
        let rules = [Rule::CellLeast, Rule::CellGreatest, Rule::CellMean];
        let grids = rules.map(|rule| ground.grid(&squares, rule, &stages, &mut |_| ()).unwrap());
        let border = |k: usize, i: usize| {
            let metres = squares.extent[0][k] + i as f64 * cell;
            BigRational::new(Steps::default().xy_units(metres).into(), 256.into())
        };
        let every = (squares.count() / 400).max(1);
        for number in (0..squares.count()).step_by(every) {
            let at = [number % squares.columns, number / squares.columns];
            let [west, south, east, north] =
                [border(0, at[0]), border(1, at[1]), border(0, at[0] + 1), border(1, at[1] + 1)];
            let (mut ends, mut area, mut volume) = (None::<[BigRational; 2]>, whole(0), whole(0));
            for i in 0..oracle.len() {
                let corners = oracle.triangle(i);
                let mut shape: Vec<Corner> = corners.iter().map(|c| c.map(whole)).collect();
                for (k, side, way) in [(0, &west, 1), (0, &east, -1), (1, &south, 1), (1, &north, -1)] {
                    shape = cut(&shape, k, side, way);
                }
                for p in &shape {
                    let [low, high] = ends.take().unwrap_or([p[2].clone(), p[2].clone()]);
                    ends = Some([low.min(p[2].clone()), high.max(p[2].clone())]);
                }
                let mut own = [whole(0), whole(0)];
                for k in 2..shape.len() {
                    let [a, b, c] = [&shape[0], &shape[k - 1], &shape[k]];
                    let part = (&b[0] - &a[0]) * (&c[1] - &a[1]) - (&b[1] - &a[1]) * (&c[0] - &a[0]);
                    own[1] += &part * (&a[2] + &b[2] + &c[2]) / whole(3);
                    own[0] += part;
                }
                // corners come in any turn
                let turn = if own[0] < whole(0) { whole(-1) } else { whole(1) };
                area += &own[0] * &turn;
                volume += &own[1] * &turn;
            }
            let unit = 2f64.powi(-24);
            let exact = |v: &BigRational| {
                let units: i64 = half_even(&(v * whole(256))).to_integer().try_into().unwrap();
                units as f64 * unit
            };
            let got = [0, 1, 2].map(|k| grids[k].at(at));
            let Some([low, high]) = ends else {
                assert_eq!(got, [None; 3], "{at:?}");
                continue;
            };
            assert_eq!(got[..2], [Some(exact(&low)), Some(exact(&high))], "{at:?}");
            if area > whole(0) {
                let mean = exact(&(volume / area));
                assert!((got[2].unwrap() - mean).abs() < 1e-6, "{at:?}: {got:?} {mean}");
            } else {
                assert_eq!(got[2], None, "{at:?}: what only touches a square has no mean over it");
                touched += 1;
            }
            found += 1;
        }
    }
    assert!(found > 700 && touched > 5, "{found} {touched}");
}

/// The same posts give the same bytes; every post is that of the oracle.
#[test]
fn by_20_a_mesh_as_a_field() {
    let folder = folder("by_20_a_mesh_as_a_field");
    // centres of 1 m lie at whole metres, and multiples of 1 m too; beyond the ground there is no post
    let mut scene = fixtures::soup(2);
    scene.positions.clear();
    scene.triangles.clear();
    let post = |i: i32, j: i32| [f64::from(i) - 0.5, f64::from(j) - 0.5, f64::from((i * 7 + j * 5) % 11) / 8.0];
    for (i, j) in (0..20).flat_map(|j| (0..30).map(move |i| (i, j))) {
        if (8..11).contains(&i) && (5..9).contains(&j) {
            continue; // a hole
        }
        let first = scene.positions.len() as u32;
        scene.positions.extend([post(i, j), post(i + 1, j), post(i + 1, j + 1), post(i, j + 1)]);
        for v in [[0, 1, 2], [0, 2, 3]] {
            let v = v.map(|k| first + k);
            scene.triangles.push(hardpan_builder::Triangle { v, material: 0, source: 0 });
        }
    }
    fs::write(folder.join("a.obj"), obj(&scene)).unwrap();
    let [out, _] = expect(0, &folder, &["build", "a.obj", "--raster", "1", "--report", "r.json"]);
    holds(&out, &["a.hpan: 588 posts with ground, 1 m apart", "error in height: at posts up to ", "stated "]);
    expect(0, &folder, &["grid", "a.obj", "--cell", "1", "-o", "b.hpan"]);
    // the records say which posts were asked for, and nothing else differs
    fs::write(folder.join("s.toml"), "[raster]\ncell = 1\nat = \"centres\"\n").unwrap();
    expect(0, &folder, &["build", "a.obj", "--settings", "s.toml", "-o", "c.hpan"]);
    let [a, b, c] = ["a.hpan", "b.hpan", "c.hpan"].map(|file| fs::read(folder.join(file)).unwrap());
    assert!(b == c, "the same posts, the same bytes");
    let [of_a, of_b] = ["a.hpan", "b.hpan"].map(|file| info(&folder, file)["identity"].clone());
    assert!(of_a.is_string() && of_a == of_b, "{of_a} {of_b}");
    let [at_a, at_b] = ["a.hpan", "b.hpan"].map(|file| record(&folder, file)["at"].clone());
    assert_eq!((at_a, at_b), ("multiples".into(), "centres".into()));
    expect(0, &folder, &["verify", "a.hpan"]);

    // and it is sampled as it lies: 30 x 20 posts are 29 x 19 m
    let again = facts(&folder, &["a.hpan", "--cell", "1"]);
    let partial = serde_json::json!({ "column": null, "row": null });
    assert_eq!((&again["columns"], &again["rows"], &again["partial"]), (&29.into(), &19.into(), &partial));

    let image = Image::copy_of(&a).unwrap();
    let t = Terrain::open_verified(&image).unwrap();
    let oracle = Oracle::new(&scene);
    let (steps, stated) = (Steps::default(), t.header().error_height);
    let (mut held, mut holes) = (0, 0);
    for (x, y) in (0..20).flat_map(|y| (0..30).map(move |x| (f64::from(x), f64::from(y)))) {
        let truth = oracle.over(steps.xy_units(x), steps.xy_units(y)).first().map(|g| g.z as f64 * 2f64.powi(-24));
        let answer = t.closest([x, y, 2.0]);
        match truth {
            Some(z) => {
                // posts are heights of the lattice, in steps of 2^-16 m: the oracle's, rounded to one
                let step = (z * 65536.0).round_ties_even() / 65536.0;
                assert!(answer.found() && t.z_f64(&answer.hit) == step, "{x} {y} {z} {stated}");
                held += 1;
            }
            None => {
                assert!(!answer.found(), "{x} {y}");
                holes += 1;
            }
        }
    }
    assert_eq!((held, holes), (588, 12));
    assert!(stated < 1e-4, "{stated}");
    let report: Value = serde_json::from_str(&fs::read_to_string(folder.join("r.json")).unwrap()).unwrap();
    let fit = &report["raster"];
    assert_eq!((&fit["posts"], &fit["lost"], &fit["pitch"]), (&588.into(), &0.into(), &1.0.into()));
    assert!(fit["worst_at_posts"].as_f64().unwrap() <= fit["stated"].as_f64().unwrap());
    assert!(fit["shares"]["places"].as_u64().unwrap() > 10_000 && fit["shares"]["p50"].as_f64().unwrap() > stated);
    let schema: Value = serde_json::from_str(include_str!("../../../builder/report.schema.json")).unwrap();
    assert!(jsonschema::is_valid(&schema, &report));
}

/// The record of a field.
#[track_caller]
fn record(folder: &Path, image: &str) -> Value {
    let [out, _] = expect(0, folder, &["info", image, "--provenance", "--json"]);
    serde_json::from_str::<Value>(&out).unwrap()["provenance"]["settings"]["raster"].clone()
}

/// Settings of a field equal options of the command line, and are recorded.
#[test]
fn by_20_settings_say_what_a_field_is() {
    let folder = folder("by_20_settings_say_what_a_field_is");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    let [_, err] = expect(
        0,
        &folder,
        &["build", "bridge.obj", "--raster", "0.5", "--raster-material", "Asphalt", "-o", "typed.hpan"],
    );
    holds(&err, &["note: 201 x 201 posts 0.5 m apart; memory: heights 315.6 KiB, in all ", "; time: about "]);
    let identity = info(&folder, "typed.hpan")["identity"].clone();
    let expected = serde_json::json!({ "cell": 0.5, "material": "Asphalt", "at": "multiples" });
    for (settings, more) in [
        ("[raster]\ncell = 0.5\nmaterial = \"Asphalt\"\n", &[][..]),
        ("raster = { cell = 9, material = \"Steel plate\" }\n", &["--raster", "0.5", "--raster-material", "Asphalt"]),
        ("raster = { cell = 9, material = \"Asphalt\" }\n", &["--raster", "0.5"]),
        ("raster = { cell = 0.5 }\n", &["--raster-material", "Asphalt"]),
    ] {
        fs::write(folder.join("s.toml"), settings).unwrap();
        let typed = ["build", "bridge.obj", "--settings", "s.toml", "-o", "s.hpan", "--report", "r.json"];
        expect(0, &folder, &[&typed[..], more].concat());
        assert_eq!(info(&folder, "s.hpan")["identity"], identity, "{settings} {more:?}");
        assert_eq!(record(&folder, "s.hpan"), expected, "{settings} {more:?}");
        let report: Value = serde_json::from_slice(&fs::read(folder.join("r.json")).unwrap()).unwrap();
        let told = ["pitch", "material", "at", "posts"].map(|key| report["raster"][key].clone());
        assert_eq!(serde_json::json!(told), serde_json::json!([0.5, "Asphalt", "multiples", 40_401]));
    }
    let [out, _] = expect(0, &folder, &["info", "s.hpan", "--provenance"]);
    holds(&out, &["[settings.raster]\ncell = 0.5\nmaterial = \"Asphalt\"\nat = \"multiples\"\n"]);
    // settings of an image build it again
    expect(0, &folder, &["materials", "s.hpan", "-o", "again.toml"]);
    expect(0, &folder, &["build", "bridge.obj", "--settings", "again.toml", "-o", "again.hpan"]);
    assert_eq!(info(&folder, "again.hpan")["identity"], identity);
    // a grid takes the material, and has a distance of its own
    expect(0, &folder, &["grid", "bridge.obj", "--settings", "again.toml", "--cell", "2", "-o", "g.hpan"]);
    let expected = serde_json::json!({ "cell": 2.0, "material": "Asphalt", "at": "centres" });
    assert_eq!(record(&folder, "g.hpan"), expected);
    for (settings, cause) in [
        ("[raster]\nmaterial = \"Asphalt\"\n", "missing field `cell`"),
        (
            "[raster]\ncell = 0\n",
            "s.toml: line 2: raster: cell is the way from post to post, a number above 0, in metres",
        ),
        ("[raster]\ncell = 1\nat = \"corners\"\n", "\"corners\" is not known here; known: multiples, centres"),
        ("[build]\nraster = { cell = 1 }\n", "\"raster\" is not known here; known: xy_log2, "),
        ("raster = 0.5\n", "line 1, column 10: invalid type: floating point `0.5`, expected a table"),
        ("raster = [0.5]\n", "line 1, column 10: invalid type: sequence, expected a table"),
        ("crs = \"\"\n[raster]\ncell = 1\ncells = 2\n", "\"cells\" is not known here (did you mean \"cell\"?)"),
    ] {
        fs::write(folder.join("s.toml"), settings).unwrap();
        holds(&error(2, &folder, &["build", "bridge.obj", "--settings", "s.toml", "-o", "no.hpan"]), &[cause]);
    }
    fs::write(folder.join("s.json"), "{ \"raster\": [0.5] }").unwrap();
    let text = error(2, &folder, &["build", "bridge.obj", "--settings", "s.json", "-o", "no.hpan"]);
    holds(&text, &["s.json: line 1, column ", ": invalid type: sequence, expected a table"]);
    let text = error(2, &folder, &["build", "bridge.obj", "-o", "no.hpan", "--raster-material", "Asphalt"]);
    holds(&text, &["--raster-material is of an image of heights; add --raster METRES, or leave it out"]);
    assert!(!folder.join("no.hpan").exists());
}

/// `build --progress json` writes a line where a stage begins and where it ends, and the same image.
#[test]
fn stages_of_a_build_are_lines_of_json() {
    let folder = folder("stages_of_a_build_are_lines_of_json");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    let build = |form: &str| {
        let told = expect(0, &folder, &["build", "bridge.obj", "-o", "a.hpan", "--progress", form]);
        (told, fs::read(folder.join("a.hpan")).unwrap())
    };
    let (([_, plain], image), ([out, err], same)) = (build("auto"), build("json"));
    assert!(!plain.contains('{') && !out.contains('{'), "{plain} {out}");
    assert!(image == same);
    let (lines, rest): (Vec<&str>, Vec<&str>) = err.lines().partition(|line| line.starts_with('{'));
    assert_eq!(rest, plain.lines().collect::<Vec<_>>(), "notes are as without it");
    let stages = ["reading", "building", "looking for ground at one height", "looking for gaps"];
    let stages = stages.into_iter().chain(["writing and verifying"]);
    let wanted = stages.flat_map(|s| [0, 1].map(|done| serde_json::json!({ "stage": s, "done": done, "total": 1 })));
    let lines = lines.into_iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert_eq!(lines.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
}

/// `verify --against` tells how far a field is from its source at posts, and apart from that between posts.
#[test]
fn by_20_a_field_is_measured_at_posts_and_between() {
    let folder = folder("by_20_a_field_is_measured_at_posts_and_between");
    // folds along y: 0 m high at whole metres of x, where posts are, and 0.25 m between; raised, and up to some x
    let folds = |halves: usize, raised: f64| {
        let mut text = String::new();
        for i in 0..=halves {
            let (x, z) = (i as f64 / 2.0, if i % 2 == 0 { raised } else { raised + 0.25 });
            write!(text, "v {x} 0 {z}\nv {x} 10 {z}\n").unwrap();
        }
        (1..=halves).for_each(|i| writeln!(text, "f {} {} {} {}", 2 * i - 1, 2 * i + 1, 2 * i + 2, 2 * i).unwrap());
        text
    };
    fs::write(folder.join("folds.obj"), folds(20, 0.0)).unwrap();
    expect(0, &folder, &["build", "folds.obj", "--raster", "1"]);
    expect(0, &folder, &["build", "folds.obj", "-o", "mesh.hpan"]);
    let rows = |code: i32, image: &str| {
        let [out, _] = expect(code, &folder, &["verify", image, "--against", "folds.obj", "--json"]);
        serde_json::from_str::<Value>(&out).unwrap()["against"]["fields"].clone()
    };
    let near = |row: &Value, key: &str, wanted: f64, by: f64| {
        let value = if key == "worst" { &row["worst"]["height"] } else { &row[key] };
        assert!((value.as_f64().unwrap() - wanted).abs() <= by, "{key} {wanted}: {row}");
    };
    assert_eq!(rows(0, "mesh.hpan"), Value::Null);
    // posts are the heights of the lattice: differences of more than a step of 2^-16 m are of the source
    let step = 2f64.powi(-16);
    for (raised, shares) in [(0.0, [0.125, 0.2475, 0.24975]), (0.1, [0.225, 0.3475, 0.34975])] {
        fs::write(folder.join("folds.obj"), folds(20, raised)).unwrap();
        let fields = rows(1, "folds.hpan");
        let [posts, between] = ["posts", "between"].map(|key| &fields[key]);
        assert_eq!((&posts["count"], &posts["missing"], &between["missing"]), (&121.into(), &0.into(), &0.into()));
        ["p50", "p99", "p999", "worst"].iter().for_each(|key| near(posts, key, raised, step));
        // the difference is spread evenly from 0 to 0.25 m
        ["p50", "p99", "p999"].iter().zip(shares).for_each(|(key, share)| near(between, key, share, 0.002));
        near(between, "worst", raised + 0.25, step);
        let at = |row: &Value, axis: usize| row["worst"]["at"][axis].as_f64().unwrap();
        assert_eq!(at(between, 0).fract(), 0.5, "{between}");
        assert_eq!((at(posts, 0).fract(), at(posts, 1).fract()), (0.0, 0.0), "{posts}");
        assert!(between["count"].as_u64().unwrap() > 190_000, "{between}");
    }
    // the source ends at 9 m: posts at 10 m have none of it
    fs::write(folder.join("folds.obj"), folds(18, 0.0)).unwrap();
    let fields = rows(1, "folds.hpan");
    assert_eq!((&fields["posts"]["count"], &fields["posts"]["missing"]), (&121.into(), &11.into()));
    assert_eq!(fields["posts"]["p99"], Value::Null);
    near(&fields["posts"], "worst", 0.0, step);
    let [out, _] = expect(1, &folder, &["verify", "folds.hpan", "--against", "folds.obj"]);
    holds(&out, &["at posts     121 places, 11 of them no ground, the worst 0.", "between      "]);
}

/// A field's cost is stated before it is built, and progress is reported, as for a grid. Too much for the machine is
/// refused.
#[test]
fn cg_19_cg_20_a_field_is_estimated_and_tells_how_far_it_is() {
    let folder = folder("cg_19_cg_20_a_field_is_estimated_and_tells_how_far_it_is");
    fs::write(folder.join("plane.obj"), "v 0 0 0\nv 100 0 3\nv 100 100 5\nv 0 100 1\nf 1 2 3 4\n").unwrap();
    let [_, err] = expect(0, &folder, &["build", "plane.obj", "--raster", "0.04", "--progress", "json"]);
    let lines: Vec<Value> =
        err.lines().filter(|l| l.starts_with('{')).map(|l| serde_json::from_str(l).unwrap()).collect();
    let estimate = lines.iter().find_map(|line| line.get("estimate")).unwrap();
    assert_eq!(
        (&estimate["columns"], &estimate["rows"], &estimate["cell"]),
        (&2501.into(), &2501.into(), &0.04.into())
    );
    assert_eq!(estimate["heights_bytes"], 8 * 2501 * 2501);
    let told: Vec<f64> = lines.iter().filter_map(|line| line["progress"].as_f64()).collect();
    assert!(told.len() >= 2 && told.is_sorted_by(|a, b| a < b) && told.last() == Some(&100.0), "{told:?}");
    // 32768 x 32768 posts and more: no more than there may be, and more than most machines hold
    let Ok(text) = fs::read_to_string("/proc/meminfo") else { return };
    let kib: u64 = text.split_whitespace().nth(1).unwrap().parse().unwrap();
    let apart = "0.0023";
    if kib > 38 << 20 {
        println!("skipped, because this machine holds so large a field");
        return;
    }
    for (typed, then) in [
        (&["build", "plane.obj", "--raster", apart, "-o", "no.hpan"][..], "take posts farther apart with --raster"),
        (&["grid", "plane.obj", "--cell", apart, "-o", "no.hpan"], "take larger squares with --cell"),
    ] {
        let text = error(4, &folder, typed);
        holds(&text, &["plane.obj: this takes ", " of memory, and there are ", then]);
        assert!(!folder.join("no.hpan").exists());
    }
}

/// The most memory that a run had at once, bytes, as the system counts it.
fn peak(folder: &Path, arguments: &[&str]) -> Option<(u64, Value)> {
    let mut command = Command::new("/usr/bin/time");
    let output = command.args(["-f", "%M"]).arg(&*crate::shell::HARDPAN).args(arguments).current_dir(folder).output();
    let done = output.ok()?;
    let err = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{arguments:?}: {err}");
    let estimate = err.lines().find(|l| l.contains("\"estimate\"")).expect("an estimate");
    let estimate = serde_json::from_str::<Value>(estimate).unwrap();
    Some((err.lines().last()?.trim().parse::<u64>().ok()? << 10, estimate["estimate"]["memory_bytes"].clone()))
}

/// The estimate of memory is the most that the whole run has at once, within a fifth.
#[test]
fn cg_19_estimates_of_memory_hold() {
    let folder = folder("cg_19_estimates_of_memory_hold");
    fs::write(folder.join("plane.obj"), "v 0 0 0\nv 1000 0 30\nv 1000 1000 50\nv 0 1000 5\nf 1 2 3 4\n").unwrap();
    fs::write(folder.join("city.obj"), obj(&fixtures::city())).unwrap();
    expect(0, &folder, &["demo", "--fixture", "city"]);
    let progress = ["--progress", "json", "--force", "--threads", "2"];
    for typed in [
        &["grid", "plane.obj", "--cell", "0.4", "-o", "a.npy"][..],
        &["grid", "plane.obj", "--cell", "0.4", "--layers", "-o", "a.npy"],
        &["grid", "plane.obj", "--cell", "0.4", "-o", "a.hpan"],
        &["build", "plane.obj", "--raster", "0.4", "-o", "a.hpan"],
        &["grid", "city.obj", "--cell", "0.5", "-o", "a.npy"],
        &["grid", "city.obj", "--cell", "0.25", "-o", "a.npy"],
        &["grid", "city.hpan", "--cell", "0.25", "-o", "a.npy"],
    ] {
        let Some((peak, estimate)) = peak(&folder, &[typed, &progress].concat()) else {
            verification::skipped("there is no /usr/bin/time");
            return;
        };
        let (peak, estimate) = (peak as f64, estimate.as_f64().unwrap());
        println!("{typed:?}: said {estimate}, took {peak}");
        assert!(estimate > peak * 0.8 && estimate < peak * 1.2, "{typed:?}: said {estimate}, took {peak}");
    }
}

/// Heights closer than the layer distance are one layer: those of the oracle, and of the image.
#[test]
fn cg_05_near_heights_are_one_layer() {
    let folder = folder("cg_05_near_heights_are_one_layer");
    // sheets at heights of which some are nearer to the one above than 64 height steps
    let unit = 2f64.powi(-16);
    let heights = [0, 63, 127, 128, 400, 463, 464, 465, 600];
    let mut text = String::new();
    for z in heights {
        let z = f64::from(z) * unit;
        text += &format!("v 0 0 {z}\nv 4 0 {z}\nv 4 4 {z}\nv 0 4 {z}\nf -4 -3 -2 -1\n");
    }
    fs::write(folder.join("a.obj"), text).unwrap();
    let typed = ["--cell", "1", "--layers", "--force"];
    let layers = |file: &str, out: &str, more: &[&str]| {
        let all = facts(&folder, &[&[file, "-o", out], &typed[..], more].concat());
        (all["most_layers"].as_u64().unwrap(), npy(&folder.join(out)).1)
    };
    let (most, all) = layers("a.obj", "a.npy", &["--oracle", "--stitch", "false"]);
    // from the top: each is kept that lies 64 steps or more under the last that was kept
    let kept = [600, 465, 400, 128, 63].map(|z| f64::from(z) * unit);
    assert_eq!((most, &all[..5]), (5, &kept[..]));
    assert!(all.chunks(5).all(|square| square == kept));
    expect(0, &folder, &["build", "a.obj", "--stitch", "false"]);
    assert_eq!(layers("a.hpan", "b.npy", &["--oracle"]), (most, all));
    let image = Image::copy_of(&fs::read(folder.join("a.hpan")).unwrap()).unwrap();
    let t = Terrain::open(&image).unwrap();
    let mut room = [hardpan::Hit::NONE; 9];
    let found = t.layers([0.5, 0.5, 0.0], &mut room);
    assert_eq!(room[..found.written].iter().map(|hit| t.z_f64(hit)).collect::<Vec<_>>(), kept);
    // where nothing is one layer all heights stand
    fs::write(folder.join("s.toml"), "[build]\nlayer_merge = 0\n").unwrap();
    let (most, all) = layers("a.obj", "c.npy", &["--settings", "s.toml", "--oracle", "--stitch", "false"]);
    let mut every = heights.map(|z| f64::from(z) * unit);
    every.reverse();
    assert_eq!((most, &all[..9]), (9, &every[..]));
}

#[test]
fn cg_05_a_plane_of_many_kilometres() {
    let folder = folder("cg_05_a_plane_of_many_kilometres");
    fs::write(folder.join("plane.obj"), "v 0 0 0\nv 200000 0 0\nv 200000 200000 0\nv 0 200000 0\nf 1 2 3 4\n").unwrap();
    let all = facts(&folder, &["plane.obj", "--cell", "1000", "--oracle"]);
    assert_eq!((&all["ground"], &all["no_data"]), (&40_000.into(), &0.into()), "{all}");
    // limits far beyond the domain are no others
    for (z, count) in [("9e11", 40_000), ("-9e11", 0)] {
        let some = facts(&folder, &["plane.obj", "--cell", "1000", "--rule", &format!("highest-below={z}")]);
        assert_eq!(some["ground"], count, "{some}");
    }
}

#[test]
fn by_20_a_field_has_one_material() {
    let folder = folder("by_20_a_field_has_one_material");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    for typed in
        [&["build", "bridge.obj", "--raster", "1"][..], &["grid", "bridge.obj", "--cell", "1", "-o", "bridge.hpan"]]
    {
        let text = expect(2, &folder, typed)[1].clone();
        holds(
            &text,
            &[
                "error: bridge.obj: a field of heights has one material, and this ground is of \"Asphalt\", \"Steel plate\"; say which: --raster-material NAME",
            ],
        );
        let named = |name: &'static str| [typed, &["--raster-material", name]].concat();
        holds(
            &expect(2, &folder, &named("Asfalt"))[1],
            &["no material is called \"Asfalt\" (did you mean \"Asphalt\"?)"],
        );
        assert!(!folder.join("bridge.hpan").exists());
        expect(0, &folder, &named("Asphalt"));
        let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "0.5,0.5", "20,3"]);
        holds(&out, &["6.000000", "0.000000", "Asphalt"]);
        fs::remove_file(folder.join("bridge.hpan")).unwrap();
    }
    holds(
        &error(2, &folder, &["grid", "bridge.obj", "--cell", "1", "-o", "g.xyz"]),
        &["g.xyz: the ending says what a grid is written as"],
    );
    holds(
        &error(2, &folder, &["grid", "bridge.obj", "--cell", "1", "--layers", "-o", "g.tif"]),
        &["g.tif: this has one height a square"],
    );
    // borders on multiples that the lattice has not: the posts there have ground
    fs::write(folder.join("tenths.obj"), "v 0.3 0.7 0\nv 10.4 0.7 0\nv 10.4 10.8 0\nv 0.3 10.8 0\nf 1 2 3 4\n")
        .unwrap();
    let [out, _] = expect(0, &folder, &["build", "tenths.obj", "--raster", "0.1"]);
    holds(&out, &["tenths.hpan: 10,404 posts with ground"]);
    // steep ground: blocks of 16 bits hold no more than their tolerance, which is stated
    fs::write(folder.join("steep.obj"), "v 0 0 0\nv 90 0 90\nv 90 90 90\nv 0 90 0\nf 1 2 3 4\n").unwrap();
    let [out, _] = expect(0, &folder, &["build", "steep.obj", "--raster", "1"]);
    holds(&out, &["error in height: at posts up to ", "stated "]);
}
