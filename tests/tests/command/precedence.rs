//! Roads over land, and paint on roads, as they are typed.

use std::{fs, path::Path};

use crate::shell::{check, expect, folder, holds};
use serde_json::{Value, json};
use verification::obj::trial;

/// What a query answers as JSON.
fn asked(folder: &Path, line: &[&str]) -> Vec<Value> {
    let [out, _] = expect(0, folder, &[&["query"], line, &["--json"]].concat());
    serde_json::from_str(&out).unwrap()
}

/// A level sheet of one material from x, y to x, y.
fn sheet(material: &str, [x, y]: [f64; 2], [u, v]: [f64; 2], z: f64) -> String {
    format!("usemtl {material}\nv {x} {y} {z}\nv {u} {y} {z}\nv {u} {v} {z}\nv {x} {v} {z}\nf -4 -3 -2 -1\n")
}

#[test]
fn by_17_every_place_of_a_buried_road_answers_the_road() {
    let folder = folder("by_17_every_place_of_a_buried_road_answers_the_road");
    for (name, place) in
        [("buried_road/poke.obj", [[0.0, 60.0], [0.0, 40.0]]), ("buried_road_1500mm/land.obj", [[0.0; 2]; 2])]
    {
        let Some(file) = trial(name) else { return };
        let file = file.to_str().unwrap();
        let (entry, band) = ("[[material]]\nname = \"Asphalt\"\nprecedence = 1\n", "[build]\nprecedence_band = 1.6\n");
        fs::write(folder.join("s.toml"), format!("{entry}{band}")).unwrap();
        let line = ["build", file, "--up", "z", "--unit", "m", "--settings", "s.toml", "-o", "a.hpan", "--force"];
        expect(0, &folder, &line);
        expect(0, &folder, &["verify", "a.hpan"]);
        // nothing that is hidden is a fault
        let look = check(&folder, "buried-road", &["a.hpan"]);
        assert_eq!(look["found"], json!(0), "{look}");
        // places of the road: where its material is among the layers, it answers from the hub of a wheel on it
        let text = fs::read_to_string(file).unwrap();
        let (mut road, mut is_road) = (Vec::new(), false);
        let mut vertices: Vec<[f64; 3]> = Vec::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["v", x, y, z, ..] => vertices.push([x, y, z].map(|v| v.parse().unwrap())),
                ["usemtl", name] => is_road = name == "Asphalt",
                ["f", ref corners @ ..] if is_road => {
                    let at = |c: &&str| vertices[c.split('/').next().unwrap().parse::<usize>().unwrap() - 1];
                    let corners: Vec<[f64; 3]> = corners.iter().map(at).collect();
                    let n = corners.len() as f64;
                    road.push([0, 1, 2].map(|k| corners.iter().map(|c| c[k]).sum::<f64>() / n));
                }
                _ => (),
            }
        }
        assert!(!road.is_empty(), "{place:?}");
        let csv: String = road.iter().map(|[x, y, z]| format!("{x},{y},{}\n", z + 0.3)).collect();
        fs::write(folder.join("p.csv"), format!("x,y,z\n{csv}")).unwrap();
        for (answer, [.., z]) in asked(&folder, &["a.hpan", "--csv", "p.csv"]).iter().zip(&road) {
            assert_eq!(answer["material"], json!("Asphalt"), "{answer}");
            assert!((answer["z"].as_f64().unwrap() - z).abs() < 0.02, "{answer}, not {z}");
        }
    }
}

#[test]
fn by_17_among_surfaces_at_one_height_the_higher_priority_answers() {
    let folder = folder("by_17_among_surfaces_at_one_height_the_higher_priority_answers");
    let Some(settings) = trial("one_height_priority/settings.toml") else { return };
    expect(0, &folder, &["build", "--settings", settings.to_str().unwrap(), "-o", "a.hpan"]);
    assert_eq!(asked(&folder, &["a.hpan", "40,25"])[0]["mu"], json!(0.5));
    assert_eq!(check(&folder, "same-height", &["a.hpan"])["found"], json!(0));
}

#[test]
fn by_17_files_objects_rules_and_a_flag_state_precedence() {
    let folder = folder("by_17_files_objects_rules_and_a_flag_state_precedence");
    fs::write(folder.join("road.obj"), format!("o Road\n{}", sheet("Tar", [2.0, 2.0], [8.0, 8.0], 0.0))).unwrap();
    fs::write(folder.join("land.obj"), format!("o Land\n{}", sheet("Grass", [0.0; 2], [10.0; 2], 0.25))).unwrap();
    let sources = |road: &str| {
        format!(
            "[[source]]\nfile = \"land.obj\"\nup = \"z\"\nunit = \"m\"\n[[source]]\nfile = \"road.obj\"\nup = \"z\"\nunit = \"m\"\n{road}"
        )
    };
    let ways = [
        sources("precedence = 1\n"),
        sources("[[material]]\nname = \"Tar\"\nprecedence = 1\n"),
        sources("[[rule]]\nobject = \"Road\"\nprecedence = 1\n"),
        sources("[[rule]]\nfile = \"land*\"\nprecedence = -1\n"),
    ];
    let road_answers = |image: &str| {
        let all = asked(&folder, &[image, "5,5,0.25", "1,1,0.25"]);
        assert_eq!([&all[0]["z"], &all[1]["z"]], [&json!(0.0), &json!(0.25)]);
        let [table, _] = expect(0, &folder, &["query", image, "5,5", "--layers"]);
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[1].ends_with("hidden") && lines[2].ends_with("layer"), "{table}");
        holds(&expect(0, &folder, &["query", image, "5,5,0.25", "--explain"])[0], &["Land, hidden by ground"]);
    };
    for text in &ways {
        fs::write(folder.join("s.toml"), text).unwrap();
        expect(0, &folder, &["build", "--settings", "s.toml", "-o", "a.hpan", "--force"]);
        road_answers("a.hpan");
        let [info, _] = expect(0, &folder, &["info", "a.hpan"]);
        let levels = if text.contains("-1") { "levels -1, 0;" } else { "levels 0, 1;" };
        holds(&info, &[levels, "up to 1 m below and above"]);
    }
    let typed = ["build", "land.obj", "road.obj", "--up", "z", "--unit", "m", "--precedence", "road.obj=1"];
    expect(0, &folder, &[&typed[..], &["-o", "typed.hpan"]].concat());
    road_answers("typed.hpan");
    // beyond the band nothing is hidden
    expect(0, &folder, &[&typed[..], &["--precedence-band", "0.2", "-o", "band.hpan"]].concat());
    assert_eq!(asked(&folder, &["band.hpan", "5,5,0.25"])[0]["z"], json!(0.25));
    // images made of images keep it
    expect(0, &folder, &["rebuild", "a.hpan", "-o", "again.hpan"]);
    road_answers("again.hpan");
    for (file, number) in [("land", 0), ("road", 1)] {
        let file = format!("{file}.obj");
        let precedence = format!("*={number}");
        let image = file.replace("obj", "hpan");
        expect(0, &folder, &["build", &file, "--up", "z", "--unit", "m", "--precedence", &precedence, "-o", &image]);
    }
    expect(0, &folder, &["merge", "land.hpan", "road.hpan", "-o", "merged.hpan"]);
    road_answers("merged.hpan");
    let [_, said] = expect(2, &folder, &["merge", "again.hpan", "band.hpan", "-o", "no.hpan"]);
    let bands = ["1 m in again.hpan", "0.2 m in band.hpan", "--precedence-band 1 ", "--precedence-band 0.2\n"];
    holds(&said, &bands);
}

#[test]
fn by_17_bad_precedence_is_refused_with_its_place() {
    let folder = folder("by_17_bad_precedence_is_refused_with_its_place");
    fs::write(folder.join("a.obj"), sheet("Tar", [0.0; 2], [8.0; 2], 0.0)).unwrap();
    let build = ["build", "a.obj", "--up", "z", "--unit", "m", "--settings", "s.toml"];
    for (text, said) in [
        ("[[material]]\nname = \"Tar\"\nprecedence = 40000\n", "a whole number from -32768 to 32767"),
        ("[[material]]\nname = \"Tar\"\nprecedence = 0.5\n", "a whole number from -32768 to 32767"),
        ("[build]\nprecedence_band = 0\n", "above 0 and at most 1000 m"),
        ("[build]\nprecedence_band = 1001.0\n", "above 0 and at most 1000 m"),
    ] {
        fs::write(folder.join("s.toml"), text).unwrap();
        holds(&expect(2, &folder, &build)[1], &["s.toml", said]);
    }
    for (typed, said) in
        [("--precedence=a.obj", "road.obj=1"), ("--precedence=a.obj=x", "32767"), ("--precedence-band=0", "above 0")]
    {
        holds(&expect(2, &folder, &["build", "a.obj", "--up", "z", "--unit", "m", typed])[1], &[said]);
    }
    holds(&expect(2, &folder, &["build", "a.obj", "--up", "z", "--unit", "m", "--precedence=b.obj=1"])[1], &["b.obj"]);
}

/// Heights of shown ground over squares of half a metre, by grid and by query.
#[test]
fn by_17_heights_on_squares_are_those_of_shown_ground() {
    let folder = folder("by_17_heights_on_squares_are_those_of_shown_ground");
    let road = sheet("Tar", [2.0, 2.0], [8.0, 8.0], 0.0) + &sheet("Tar", [3.0, 0.0], [5.0, 10.0], 4.0);
    let land = sheet("Grass", [0.0; 2], [10.0; 2], 0.25) + &sheet("Grass", [1.0; 2], [9.0; 2], 4.5);
    fs::write(folder.join("a.obj"), format!("{road}{land}{}", sheet("Paint", [4.0; 2], [6.0; 2], 0.5))).unwrap();
    let text = "[[material]]\nname = \"Tar\"\nprecedence = 1\n[[material]]\nname = \"Paint\"\nfriction_only = true\n";
    fs::write(folder.join("s.toml"), text).unwrap();
    let source = ["a.obj", "--up", "z", "--unit", "m", "--settings", "s.toml"];
    expect(0, &folder, &[&["build"], &source[..], &["-o", "a.hpan"]].concat());
    let centres: Vec<String> =
        (0..400).map(|i| format!("{},{}", f64::from(i % 20) / 2.0 + 0.25, f64::from(i / 20) / 2.0 + 0.25)).collect();
    let queries = |rest: &str, more: &[&str]| {
        let csv: String = centres.iter().map(|at| format!("{at}{rest}\n")).collect();
        fs::write(folder.join("p.csv"), csv).unwrap();
        asked(&folder, &[&["a.hpan", "--csv", "p.csv"], more].concat())
    };
    // by the file's words for each centre
    let grid = |from: &[&str], typed: &[&str]| -> Vec<Value> {
        let line = [&["grid"], from, &["--cell", "0.5", "-o", "g.json", "--force"], typed].concat();
        expect(0, &folder, &line);
        let grid: Value = serde_json::from_str(&fs::read_to_string(folder.join("g.json")).unwrap()).unwrap();
        assert_eq!(grid["heights"].as_object().unwrap().len(), 400);
        centres.iter().map(|at| grid["heights"][at].clone()).collect()
    };
    for (rule, rest) in
        [("highest", ""), ("lowest", ",-100"), ("nearest=2", ",2"), ("highest-below=0.125", ",0.125,100")]
    {
        let wanted: Vec<Option<f64>> = queries(rest, &[]).iter().map(|a| a["z"].as_f64()).collect();
        for from in [&["a.hpan"][..], &source] {
            let heights: Vec<Option<f64>> = grid(from, &["--rule", rule]).iter().map(Value::as_f64).collect();
            assert_eq!(heights, wanted, "{rule} {from:?}");
        }
    }
    // all that are shown: a place of several layers has several lines
    let mut wanted = vec![Vec::new(); 400];
    for layer in queries("", &["--layers"]).iter().filter(|layer| layer["reach"] != json!("hidden")) {
        let [x, y] = ["x", "y"].map(|k| layer[k].as_f64().unwrap());
        wanted[((y * 2.0) as usize) * 20 + (x * 2.0) as usize].push(layer["z"].as_f64().unwrap());
    }
    let all: Vec<Vec<f64>> =
        grid(&["a.hpan"], &["--layers"]).into_iter().map(|all| serde_json::from_value(all).unwrap()).collect();
    assert_eq!(all, wanted);
    // an image of these heights; posts on borders of the road have the height of the road
    let raster = [&["build"], &source[..], &["--raster", "0.5", "--raster-material", "Tar", "-o", "r.hpan"]].concat();
    expect(0, &folder, &raster);
    let places = ["1.5,1.5,0", "2,2,0", "2.5,4.5,0", "6,7,0", "9.5,9.5,0"];
    let z = |image: &str| asked(&folder, &[&[image], &places[..]].concat()).iter().map(|a| a["z"].clone()).collect();
    let (of_raster, of_mesh): (Vec<Value>, Vec<Value>) = (z("r.hpan"), z("a.hpan"));
    assert_eq!(of_mesh[1], json!(0.0), "{of_mesh:?}");
    let highest: Vec<Value> = asked(&folder, &["a.hpan", "1.5,1.5", "2,2", "2.5,4.5", "6,7", "9.5,9.5"])
        .iter()
        .map(|a| a["z"].clone())
        .collect();
    assert_eq!(of_raster, highest);
    // what knows triangles alone is refused
    for more in [&["--rule", "cell-mean"][..], &["--oracle"], &["--ignore-above", "3"]] {
        holds(&expect(2, &folder, &[&["grid", "a.hpan", "--cell", "1"], more].concat())[1], &["has precedence"]);
    }
}

/// A road over a field of heights, and a field that goes before a mesh.
#[test]
fn by_17_a_road_over_heights_is_typed_as_one_over_a_mesh() {
    let folder = folder("by_17_a_road_over_heights_is_typed_as_one_over_a_mesh");
    let posts = "ncols 5\nnrows 5\nxllcenter 0\nyllcenter 0\ncellsize 2.5\n".to_owned()
        + &"0.25 0.25 0.25 0.25 0.25\n".repeat(5);
    fs::write(folder.join("land.asc"), posts).unwrap();
    fs::write(folder.join("road.obj"), sheet("Tar", [2.0; 2], [8.0; 2], 0.0)).unwrap();
    let sources = "[[source]]\nfile = \"land.asc\"\n[[source]]\nfile = \"road.obj\"\nup = \"z\"\nunit = \"m\"\n";
    fs::write(folder.join("s.toml"), sources).unwrap();
    let files = ["build", "--settings", "s.toml", "--force", "-o", "a.hpan"];
    for (typed, on_road) in [("road.obj=1", 0.0), ("land.asc=-1", 0.0), ("land.asc=1", 0.25)] {
        expect(0, &folder, &[&files[..], &["--precedence", typed]].concat());
        expect(0, &folder, &["verify", "a.hpan", "--against", "land.asc", "road.obj"]);
        let all = asked(&folder, &["a.hpan", "5,5,0.25", "5,5,0", "1,1,0.25"]);
        let z: Vec<&Value> = all.iter().map(|a| &a["z"]).collect();
        assert_eq!(z, [&json!(on_road), &json!(on_road), &json!(0.25)], "{typed}");
    }
}

#[test]
fn by_17_a_field_that_gives_friction_alone_is_refused() {
    let folder = folder("by_17_a_field_that_gives_friction_alone_is_refused");
    fs::write(folder.join("a.asc"), "ncols 2\nnrows 2\nxllcenter 0\nyllcenter 0\ncellsize 1\n0 0\n0 0\n").unwrap();
    let text = "[[source]]\nfile = \"a.asc\"\nmaterial = \"Wet\"\n[[material]]\nname = \"Wet\"\nfriction_only = true\n";
    fs::write(folder.join("s.toml"), text).unwrap();
    holds(&expect(2, &folder, &["build", "--settings", "s.toml"])[1], &["\"Wet\" gives friction alone", "field"]);
}

/// Strips of a tyre do not know precedence: such wheels are not counted as wheels without ground.
#[test]
fn by_17_wheels_at_the_limit_of_strips_are_counted_apart() {
    let folder = folder("by_17_wheels_at_the_limit_of_strips_are_counted_apart");
    let text = sheet("Tar", [2.0, 2.0], [8.0, 8.0], 0.0) + &sheet("Grass", [0.0; 2], [10.0; 2], 0.25);
    fs::write(folder.join("a.obj"), text).unwrap();
    fs::write(folder.join("s.toml"), "[[material]]\nname = \"Tar\"\nprecedence = 1\n").unwrap();
    expect(0, &folder, &["build", "a.obj", "--up", "z", "--unit", "m", "--settings", "s.toml", "-o", "a.hpan"]);
    fs::write(folder.join("d.csv"), "t,x,y,z,yaw\n0,5,5,0.28,0\n1,500,5,0.28,0\n").unwrap();
    let said = |tyre: &str, code: i32, more: &[&str]| {
        let typed = ["query", "a.hpan", "--tyre", tyre, "--along", "d.csv"];
        let [_, said] = expect(code, &folder, &[&typed[..], more].concat());
        said
    };
    let strips = said("0.3,0.2,strips", 0, &[]);
    holds(&strips, &["8 wheels at the limit"]);
    assert!(!strips.contains("without ground"), "{strips}");
    assert_eq!(said("0.3,0.2,columns64", 0, &[]), "note: a.hpan: 4 wheels without ground\n");
    holds(&said("0.3,0.2,strips", 1, &["--strict"]), &["8 wheels at the limit"]);
}

#[test]
fn by_17_paint_gives_its_friction_and_no_height() {
    let folder = folder("by_17_paint_gives_its_friction_and_no_height");
    let text = sheet("Tar", [0.0; 2], [10.0; 2], 0.0) + &sheet("Paint", [4.0, 4.0], [6.0, 14.0], 0.02);
    fs::write(folder.join("a.obj"), text).unwrap();
    let paint = "[[material]]\nname = \"Paint\"\nmu = 0.3\nfriction_only = true\n";
    fs::write(folder.join("s.toml"), format!("{paint}[[material]]\nname = \"Tar\"\nmu = 0.9\n")).unwrap();
    let build = ["build", "a.obj", "--up", "z", "--unit", "m", "--settings", "s.toml", "-o", "a.hpan"];
    let [_, said] = expect(0, &folder, &build);
    holds(&said, &["of \"Paint\"", "no ground within the band below", "[no-ground-below]"]);
    for image in ["a.hpan", "again.hpan"] {
        let all = asked(&folder, &[image, "5,5,1", "2,2,1", "5,12,1"]);
        let of = |i: usize| ["z", "mu", "material"].map(|key| all[i][key].clone());
        assert_eq!(of(0), [json!(0.0), json!(0.3), json!("Paint")]);
        assert_eq!(of(1), [json!(0.0), json!(0.9), json!("Tar")]);
        assert_eq!(all[2]["status"], json!("no ground"));
        expect(0, &folder, &["verify", image]);
        expect(0, &folder, &["rebuild", "a.hpan", "-o", "again.hpan", "--force"]);
    }
    holds(&expect(0, &folder, &["info", "a.hpan", "--materials"])[0], &["friction only"]);
}
