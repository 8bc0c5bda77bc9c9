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
    holds(&said, &["the band of precedence is", "--precedence-band"]);
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

#[test]
fn by_17_heights_on_squares_know_no_precedence_and_say_so() {
    let folder = folder("by_17_heights_on_squares_know_no_precedence_and_say_so");
    let text = sheet("Tar", [2.0, 2.0], [8.0, 8.0], 0.0) + &sheet("Grass", [0.0; 2], [10.0; 2], 0.25);
    fs::write(folder.join("a.obj"), text).unwrap();
    fs::write(folder.join("s.toml"), "[[material]]\nname = \"Tar\"\nprecedence = 1\n").unwrap();
    let build = ["build", "a.obj", "--up", "z", "--unit", "m", "--settings", "s.toml", "-o", "a.hpan"];
    holds(&expect(2, &folder, &[&build[..], &["--raster", "0.5"]].concat())[1], &["has precedence"]);
    expect(0, &folder, &build);
    holds(&expect(2, &folder, &["grid", "a.hpan", "--cell", "1"])[1], &["has precedence"]);
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
