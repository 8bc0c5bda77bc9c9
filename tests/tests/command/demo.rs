//! `hardpan demo`: the proving ground, its drives and pictures, what it says to try, and the fixtures as images.

use std::{fs, path::Path};

use crate::shell::{HARDPAN, error, expect, folder, holds};
use hardpan::Terrain;
use hardpan_builder::demo::{fixtures, proving_ground};
use hardpan_builder::image::decode;
use hardpan_builder::{Options, build};
use serde_json::{Value, json};
use verification::{
    oracle::{Oracle, Steps},
    random::points,
};

const IMAGE: &str = "hardpan-demo/proving-ground.hpan";

/// Asks by a CSV file; gives back every line of answers as fields.
#[track_caller]
fn ask(folder: &Path, image: &str, points: &str, options: &[&str]) -> Vec<Vec<String>> {
    fs::write(folder.join("points.csv"), points).unwrap();
    let [out, _] = expect(0, folder, &[&["query", image, "--csv", "points.csv"], options].concat());
    out.lines().skip(1).map(|line| line.split(',').map(String::from).collect()).collect()
}

/// Width and height of a picture, and how many colours it has.
fn picture(path: &Path) -> ([u32; 2], usize) {
    let mut reader = png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap())).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let mut colours: Vec<[u8; 3]> = pixels.as_chunks().0.to_vec();
    colours.sort_unstable();
    colours.dedup();
    ([info.width, info.height], colours.len())
}

#[test]
fn demo_builds_drives_and_draws() {
    let folder = folder("demo_builds_drives_and_draws");
    let [out, err] = expect(0, &folder, &["demo"]);
    assert!(err.is_empty(), "{err}");
    let rows: Vec<&str> = out.lines().skip_while(|l| !l.starts_with("drive ")).skip(1).take(13).collect();
    let row = |name: &str| -> Vec<&str> {
        let line = rows.iter().find(|r| r.starts_with(name)).unwrap_or_else(|| panic!("no {name} in\n{out}"));
        line[name.len()..].split_whitespace().collect()
    };
    // metres, four heights, two mu, tests, surfaces
    assert_eq!(row("split mu")[5..7], ["0.95", "0.20"]);
    assert_eq!(row("missing slab")[1..7], ["-", "0.000", "-", "0.000", "-", "0.85"]);
    assert_eq!(row("under bridge")[1..5], ["0.000"; 4]);
    assert_eq!(row("over bridge")[1..5], ["5.250"; 4]);
    assert_eq!(row("through tunnel")[1..5], ["0.000"; 4]);
    assert!(row("over tunnel")[1..5].iter().all(|z| (6.0..6.5).contains(&z.parse::<f64>().unwrap())), "{rows:?}");
    // two left wheels over 6 m, a place every 5 cm
    holds(&out, &["wheel queries; 240 without ground, all where a slab is missing, as built"]);
    // a page that can be read
    let page = out.split("\nTry next:").next().unwrap();
    assert!(page.lines().count() <= 34 && page.lines().all(|l| l.chars().count() <= 80), "{out}");

    for name in ["relief", "layers", "materials", "cost"] {
        let (size, colours) = picture(&folder.join(format!("hardpan-demo/{name}.png")));
        assert!(size[0] > 1600 && size[1] > 1100 && colours > 20, "{name}: {size:?}, {colours} colours");
    }
    let names = |folder: &Path| {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let all = "cost.png drive.csv drive.png layers.png materials.png proving-ground.hpan relief.png";
    assert_eq!(names(&folder.join("hardpan-demo")).join(std::ffi::OsStr::new(" ")), all);

    // again, over what is there: the same, but for the time it took
    let bytes = |name: &str| fs::read(folder.join("hardpan-demo").join(name)).unwrap();
    let before: Vec<Vec<u8>> = all.split(' ').map(bytes).collect();
    let [again, _] = expect(0, &folder, &["demo"]);
    assert!(all.split(' ').map(bytes).eq(before), "other bytes");
    let steady = |text: &str| text.lines().filter(|l| !l.contains(" s: ")).map(String::from).collect::<Vec<_>>();
    assert_eq!(steady(&again), steady(&out));

    // what somebody put there or changed stays, unless they say otherwise
    for name in ["proving-ground.hpan", "relief.png", "drive.csv"] {
        let (place, good) = (folder.join("hardpan-demo").join(name), bytes(name));
        for other in [b"mine".to_vec(), [&good[..], b"\n"].concat()] {
            fs::write(&place, &other).unwrap();
            let [_, why] = expect(2, &folder, &["demo"]);
            let said =
                format!("error: hardpan-demo/{name}: there is another file here already; to replace it add --force\n");
            assert_eq!((why, fs::read(&place).unwrap()), (said, other.clone()));
            // all names are looked at before any file is written
            if (name, &other[..]) == ("drive.csv", b"mine") {
                let rest = all.split(' ').filter(|n| *n != name).map(|n| folder.join("hardpan-demo").join(n));
                let rest: Vec<_> = rest.filter(|file| fs::remove_file(file).is_ok()).collect();
                expect(2, &folder, &["demo"]);
                assert!(rest.len() == 6 && rest.iter().all(|file| !file.exists()), "{rest:?}");
                expect(0, &folder, &["demo", "--force"]);
                fs::write(&place, &other).unwrap();
            }
            assert_eq!(names(&folder.join("hardpan-demo")).join(std::ffi::OsStr::new(" ")), all);
        }
        expect(0, &folder, &["demo", "--force"]);
        assert!(bytes(name) == good, "{name}");
    }
}

/// Every command under "Try next", typed where the user stands.
#[test]
fn demo_says_commands_that_run() {
    let folder = folder("demo_says_commands_that_run");
    let [out, _] = expect(0, &folder, &["demo"]);
    let program = format!("{} ", HARDPAN.display());
    let said: Vec<&str> = out.lines().filter_map(|line| line.trim_start().strip_prefix(&program)).collect();
    let mut printed = String::new();
    for (i, line) in said.iter().enumerate() {
        let typed: Vec<&str> = line.split_whitespace().collect();
        if typed.contains(&"YOUR.obj") {
            assert_eq!((i, typed.as_slice()), (said.len() - 1, &["build", "YOUR.obj"][..]));
            error(2, &folder, &typed);
        } else {
            printed += &expect(0, &folder, &typed)[0];
        }
    }
    for command in ["query", "export png", "bench", "verify", "build"] {
        assert!(said.iter().any(|line| line.starts_with(command)), "no {command} in\n{out}");
    }
    holds(&printed, &["no ground", "6.500000", "5.250000", "candidate  z 5.25", "every claim holds"]);
    // the plot is the one that is there already, and the left front wheel has no ground for 6 m
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    assert!(read("drive.png") == read("hardpan-demo/drive.png"));
    let answers = String::from_utf8(read("answers.csv")).unwrap();
    assert_eq!(answers.matches(",no ground,").count(), 120);
    for material in ["Concrete", "Grass", "Setts"] {
        holds(&answers, &[&format!(",{material},")]);
    }
    // maps that the demo drew are not drawn twice
    for name in ["holes", "mu", "leaves"] {
        picture(&folder.join(format!("hardpan-demo/proving-ground-{name}.png")));
    }
}

/// Layers over a grid of the whole course are those of its plan: two at the bridge and the tunnel, none in the opening,
/// one everywhere else.
#[test]
fn the_proving_ground_is_as_it_was_laid_out() {
    let folder = folder("the_proving_ground_is_as_it_was_laid_out");
    expect(0, &folder, &["demo"]);
    let mut asked = Vec::new();
    for (i, j) in (0..320).flat_map(|j| (0..464).map(move |i| (i, j))) {
        asked.push([-115.77 + 0.5 * f64::from(i), -69.79 + 0.5 * f64::from(j)]);
    }
    let text: String = asked.iter().map(|[x, y]| format!("{x},{y}\n")).collect();
    let answers = ask(&folder, IMAGE, &text, &["--layers"]);
    let mut rows = answers.iter().peekable();
    let mut counts = [0; 3];
    for [x, y] in &asked {
        let mut count = 0;
        while let Some(row) = rows.next_if(|r| r[0].parse() == Ok(*x) && r[1].parse() == Ok(*y)) {
            count += usize::from(row[10] == "found");
        }
        let bridge = (x + 20.0).abs() < 3.9 && (20.5..40.5).contains(y);
        let tunnel = (x + 52.0).abs() < 4.0 && y.abs() < 10.0;
        let hole = (35.0..41.0).contains(x) && (-10.0..-8.0).contains(y);
        let wanted = if hole { 0 } else { 1 + usize::from(bridge || tunnel) };
        assert_eq!(count, wanted, "layers over {x}, {y}");
        counts[count] += 1;
    }
    assert!(rows.next().is_none() && counts[0] == 48 && counts[2] > 1000, "{counts:?}");

    // materials and heights of places that the plan names
    let places = [
        ("38,-9", "", ""),                  // the missing slab
        ("34,-9", "0", "Concrete"),         // beside it
        ("-52,0", "6.5", "Grass"),          // the hill
        ("-50,0,1", "0", "Asphalt"),        // the tunnel
        ("-55.75,0,1", "0", "Concrete"),    // its gutter
        ("-50,-14", "0", "Asphalt"),        // before the tunnel
        ("-20,31,9", "5.25", "Paint"),      // the bridge; Asphalt every other 2 m
        ("-16.5,31,9", "5.45", "Concrete"), // its kerb
        ("-20,31,1.5", "0", "Asphalt"),     // the road under it
        ("10,-10", "2.4", "Concrete"),      // the ramp
        ("0,-32", "0", "Wet tiles"),
        ("36,-23", "0.145", "Concrete"), // the pavement rises by 3 cm
        ("36.1,5.8", "0.0225", "Setts"),
    ];
    let text: String = places.iter().map(|(p, ..)| format!("{p}\n")).collect();
    for (answer, (place, z, material)) in ask(&folder, IMAGE, &text, &[]).iter().zip(places) {
        assert_eq!(answer[7], material, "material at {place}: {answer:?}");
        match (answer[2].parse::<f64>(), z.parse::<f64>()) {
            (Ok(found), Ok(z)) => assert!((found - z).abs() < 0.0011, "{found} for {z} at {place}"),
            _ => assert_eq!((answer[2].as_str(), answer[9].as_str()), (z, "no ground"), "at {place}"),
        }
    }
    let [out, _] = expect(0, &folder, &["info", IMAGE, "--json"]);
    let facts: Value = serde_json::from_str(&out).unwrap();
    assert!(facts["materials"].as_array().unwrap().len() >= 5, "{out}");
    // what stitching left would be a hairline gap
    let [out, _] = expect(0, &folder, &["verify", IMAGE, "--exhaustive"]);
    holds(&out, &["every claim holds", "cover      pass", "seams      pass", "edges      pass"]);
}

const FIXTURES: [&str; 11] =
    ["flat", "ramp", "bridge", "hole", "curb", "mats", "cobble", "step", "city", "soup", "far"];

/// Makes a fixture in an empty folder.
#[track_caller]
fn fixture(folder: &Path, name: &str) -> String {
    let image = format!("{name}.hpan");
    let [out, err] = expect(0, folder, &["demo", "--fixture", name]);
    assert_eq!(err, "");
    holds(
        &out,
        &[
            &format!("{image}: "),
            " bytes, verified",
            &format!("next: hardpan export png {image}; hardpan info {image}\n"),
        ],
    );
    assert!(folder.join(&image).is_file());
    image
}

#[test]
fn every_fixture_is_a_verified_image() {
    let folder = folder("every_fixture_is_a_verified_image");
    for name in FIXTURES {
        let image = fixture(&folder, name);
        holds(&expect(0, &folder, &["verify", &image])[0], &["every claim holds"]);
    }
    let names = fs::read_dir(&folder).unwrap().count();
    assert_eq!(names, FIXTURES.len(), "nothing but images");
    let facts = |name: &str| -> Value {
        let image = format!("{name}.hpan");
        serde_json::from_str(&expect(0, &folder, &["info", &image, "--json"])[0]).unwrap()
    };
    let bounds = |min: [f64; 3], max: [f64; 3]| json!({ "min": min, "max": max });
    assert_eq!(facts("flat")["bounds"], bounds([-500.0, -500.0, 0.0], [500.0, 500.0, 0.0]));
    assert_eq!(facts("flat")["triangles"], json!(2));
    // VT-20: the bottom of this box is the height without ground
    assert_eq!(facts("ramp")["bounds"], bounds([-100.0, -100.0, -15.0], [100.0, 100.0, 15.0]));
    let city = fixtures::city();
    assert!(city.positions.len() >= 405_163 && city.triangles.len() >= 673_096);
    // the same name, the same image; what is recorded of it suffices to build it again
    let bytes = fs::read(folder.join("soup.hpan")).unwrap();
    fixture(&folder, "soup");
    assert_eq!(fs::read(folder.join("soup.hpan")).unwrap(), bytes);
    holds(&expect(0, &folder, &["export", "obj", "bridge.hpan"])[0], &["proven"]);
}

/// A place of a fixture: the question, and `z,slope_x,slope_y,mu,rr,material,status,reach`, all within 1e-9.
#[track_caller]
fn answers(folder: &Path, name: &str, wanted: &[(&str, &str)]) {
    let image = fixture(folder, name);
    let text: String = wanted.iter().map(|(p, _)| format!("{p}\n")).collect();
    let rows = ask(folder, &image, &text, &[]);
    assert_eq!(rows.len(), wanted.len());
    for (row, (place, truth)) in rows.iter().zip(wanted) {
        let kept = row.iter().enumerate().filter(|(i, _)| (2..11).contains(i) && *i != 8).map(|(_, f)| f.as_str());
        let (kept, truth): (Vec<&str>, Vec<&str>) = (kept.collect(), truth.split(',').collect());
        assert_eq!(kept.len(), truth.len(), "{row:?}");
        for (found, truth) in kept.iter().zip(truth) {
            let near = match (found.parse::<f64>(), truth.parse::<f64>()) {
                (Ok(found), Ok(truth)) => (found - truth).abs() <= 1e-9,
                _ => *found == truth,
            };
            assert!(near, "{name} at {place}: {found} in {row:?} is not {truth}");
        }
    }
}

#[test]
fn vt_02_vt_18_vt_19_the_fixture_bridge_answers() {
    let folder = folder("vt_02_vt_18_vt_19_the_fixture_bridge_answers");
    answers(
        &folder,
        "bridge",
        &[
            ("0,0,2", "0,0,0,0.85,1,Asphalt,found,near"),
            ("0,0,5", "6,0,0,0.7,1.1,Deck,found,near"),
            ("0,0,3", "0,0,0,0.85,1,Asphalt,found,near"),
            ("0,0,50", "6,0,0,0.7,1.1,Deck,found,far below"),
            ("0,0,-50", "0,0,0,0.85,1,Asphalt,found,far above"),
            ("5,50", "6,0,0,0.7,1.1,Deck,found,top"),
            ("5.001,50", "0,0,0,0.85,1,Asphalt,found,top"),
        ],
    );
    // VT-17: two candidates and the rule
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "0.5,1,2", "--explain"]);
    assert_eq!(out.matches("candidate").count(), 2, "{out}");
    holds(&out, &["the nearest within 4 m"]);
    // CG-13: the highest and all
    let rows = ask(&folder, "bridge.hpan", "0,0\n6,0\n", &["--layers"]);
    assert_eq!(rows.iter().map(|r| r[3].as_str()).collect::<Vec<_>>(), ["6", "0", "0"]);
}

#[test]
fn vt_03_vt_20_by_11_the_fixtures_ramp_and_far_answer() {
    let folder = folder("vt_03_vt_20_by_11_the_fixtures_ramp_and_far_answer");
    let slope = "0.1,0.05,0.8,1.2,Asphalt,found,near";
    answers(
        &folder,
        "ramp",
        &[
            ("10,20,2.5", &format!("2,{slope}")),
            ("-100,-100,-14", &format!("-15,{slope}")),
            ("100,20,11", &format!("11,{slope}")),
            ("1000000,0,0", ",,,,,,not in image,"),
        ],
    );
    answers(
        &folder,
        "far",
        &[("388106,3949016,2.5", &format!("2,{slope}")), ("387996,3948896,-14", &format!("-15,{slope}"))],
    );
}

#[test]
fn vt_04_rf_37_the_fixtures_flat_hole_and_mats_answer() {
    let folder = folder("vt_04_rf_37_the_fixtures_flat_hole_and_mats_answer");
    let level = "0,0,0,0.85,1,Asphalt,found,near";
    answers(&folder, "flat", &[("0,0,0", level), ("-500,500,1", level), ("123.456,-7.89,-3", level)]);
    let nothing = ",,,,,,no ground,";
    answers(
        &folder,
        "hole",
        &[
            ("0,0,0", nothing),
            ("4.999,-4.999,0", nothing),
            ("5,0,0", level),
            ("-5,-5,0", level),
            ("6,6,0", level),
            ("-500,0,0", level),
        ],
    );
    answers(
        &folder,
        "mats",
        &[
            ("5,5,0", "0,0,0,0.9,1,Concrete,found,near"),
            ("15,5,0", "0,0,0,0.5,1.6,Grass,found,near"),
            ("25,5,0", "0,0,0,1,1,,found,near"),
        ],
    );
}

#[test]
fn the_fixture_curb_answers() {
    let folder = folder("the_fixture_curb_answers");
    // 0.15 m to the next 2^-16 m
    let pavement = format!("{},0,0,0.7,1.3,Pavement,found,near", 9830.0 / 65536.0);
    answers(
        &folder,
        "curb",
        &[
            ("-5,3,1", "0,0,0,0.9,1,Road,found,near"),
            ("5,3,1", &pavement),
            // under the lamp, on it, and where both meet: the nearer
            ("-0.5,0,1", "0,0,0,0.9,1,Road,found,near"),
            ("-0.5,0", "5,0,0,0.3,1,Metal,found,top"),
            ("0,3,0.07", "0,0,0,0.9,1,Road,found,near"),
            ("0,3,0.08", &pavement),
        ],
    );
}

/// Joints, setts and a step, as heights on a grid.
#[test]
fn the_fixtures_cobble_and_step_answer() {
    let folder = folder("the_fixtures_cobble_and_step_answer");
    // posts of 5 mm; a joint is one row of them 12 mm deep, with slopes to the posts beside it; within 0.5 mm
    let image = fixture(&folder, "cobble");
    let mut places = Vec::new();
    for (x, y) in [(0.0, 0.03), (0.05, 0.05), (0.1, 0.07), (-4.9, 4.9), (0.0025, 0.05), (1.23, 4.56), (-5.0, -5.0)] {
        // bilinear: 1 on a joint, 0 from 5 mm on
        let joint = |v: f64| (1.0 - (v - (v / 0.1).round() * 0.1).abs() / 0.005).max(0.0);
        places.push(([x, y], -0.012 * (1.0 - (1.0 - joint(x)) * (1.0 - joint(y)))));
    }
    let text: String = places.iter().map(|([x, y], _)| format!("{x},{y}\n")).collect();
    for (row, (at, z)) in ask(&folder, &image, &text, &[]).iter().zip(places) {
        let found: f64 = row[2].parse().unwrap();
        assert!((found - z).abs() <= 0.0005 + 2e-5, "{found} is not {z} at {at:?}");
        assert_eq!(row[5..8], ["0.75", "1.4", "Cobble"]);
    }
    let image = fixture(&folder, "step");
    let text = "-0.5,-0.5\n-0.0015,0.2\n0.0005,0.2\n0.25,-0.3\n0,0,0.04\n0,0,0.06\n0.6,0\n";
    let rows = ask(&folder, &image, text, &[]);
    for (row, z) in rows.iter().zip([0.0, 0.0, 0.1, 0.1, 0.0, 0.1]) {
        assert!((row[2].parse::<f64>().unwrap() - z).abs() < 1.6e-5, "{row:?}");
    }
    assert_eq!(rows[6][9], "not in image");
}

/// At places that tell indexes and rounding apart, the answers are those of the oracle, to the last bit.
#[test]
fn cg_10_the_fixtures_soup_and_city_answer_as_the_oracle() {
    let folder = folder("cg_10_the_fixtures_soup_and_city_answer_as_the_oracle");
    for (name, scene, count) in [("soup", fixtures::soup(1), 2000), ("city", fixtures::city(), 300)] {
        let image = fixture(&folder, name);
        let oracle = Oracle::new(&scene);
        let asked = points(&oracle, count, 5);
        let metres = |v: i64, log2: i32| v as f64 / f64::from(log2).exp2();
        let line = |p: &hardpan::Point| format!("{},{},{}\n", metres(p.x, 20), metres(p.y, 20), metres(p.z, 24));
        let rows = ask(&folder, &image, &asked.iter().map(line).collect::<String>(), &[]);
        let window = |m: f64| Steps::default().z_units(m);
        let mut found = 0;
        for (row, p) in rows.iter().zip(&asked) {
            match oracle.closest([p.x, p.y, p.z], window(4.0), window(5000.0)) {
                Some((ground, _)) => {
                    assert_eq!(row[2].parse(), Ok(metres(ground.z, 24)), "{name} at {p:?}");
                    assert_eq!(row[7], oracle.materials[ground.material as usize], "{name} at {p:?}");
                    found += 1;
                }
                None => assert_eq!(row[2], "", "{name} at {p:?}"),
            }
        }
        assert!(rows.len() == count && found * 2 > count, "{name}: {found}");
    }
}

#[test]
fn fixtures_respect_files_and_names() {
    let folder = folder("fixtures_respect_files_and_names");
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    // an image may be replaced, anything else not without a word
    fixture(&folder, "flat");
    fixture(&folder, "ramp");
    let ramp = read("ramp.hpan");
    expect(0, &folder, &["demo", "--fixture", "ramp", "-o", "flat.hpan"]);
    assert_eq!(read("flat.hpan"), ramp);
    fs::write(folder.join("letter.txt"), "dear all").unwrap();
    let why = error(2, &folder, &["demo", "--fixture", "ramp", "-o", "letter.txt"]);
    holds(&why, &["letter.txt: there is a file here that is not a terrain image; to replace it add --force"]);
    assert_eq!(read("letter.txt"), b"dear all");
    expect(0, &folder, &["demo", "--fixture", "ramp", "-o", "letter.txt", "--force"]);
    assert_eq!(read("letter.txt"), ramp);
    error(2, &folder, &["demo", "--fixture", "ramp", "-o", "nowhere/ramp.hpan"]);
    error(2, &folder, &["demo", "--fixture", "ramp", "-o", "."]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3, "nothing is left behind");

    // names: the list, and the nearest
    let [out, why] = expect(2, &folder, &["demo", "--fixture", "brigde"]);
    assert!(out.is_empty());
    holds(&why, &["'brigde'", "--fixture <NAME>", "similar value exists: 'bridge'"]);
    FIXTURES.iter().for_each(|name| holds(&why, &[name]));
    let [help, _] = expect(0, &folder, &["demo", "--help"]);
    for name in FIXTURES {
        let line = help.lines().find(|l| l.trim_start().starts_with(&format!("- {name}:"))).unwrap_or_default();
        assert!(line.split_once(':').is_some_and(|(_, what)| what.len() > 10), "{name} in {help}");
    }
    // what makes no sense without a fixture
    expect(2, &folder, &["demo", "-o", "x.hpan"]);
    expect(2, &folder, &["demo", "--fixture"]);
    assert!(!folder.join("hardpan-demo").exists() && !folder.join("x.hpan").exists());
}

/// Edges of one triangle alone are those of the plan: the border, walls, the deck, the missing slab and the setts.
#[test]
fn by_02_the_proving_ground_has_no_other_open_edges() {
    let built = build(&proving_ground::scene(), &Options::default()).unwrap();
    let t = Terrain::open(&built.image).unwrap();
    let mut edges = Vec::new();
    for s in decode::triangles(&t) {
        let [a, b, c] = s.corners;
        edges.extend([[a, b], [b, c], [c, a]].map(|[p, q]| [p.min(q), p.max(q)]));
    }
    edges.sort_unstable();
    let h = t.header();
    let mut lengths = [0.0; 4]; // of border, slab, setts, and both sides of the ramp with the grass beside it
    for run in edges.chunk_by(|a, b| a == b).filter(|run| run.len() == 1) {
        let place = |p: [i32; 3]| [0, 1].map(|i| (h.origin[i] + i64::from(p[i])) as f64 / 4096.0);
        let [p, q] = run[0].map(place);
        let on = |i: usize, lines: &[f64]| p[i] == q[i] && lines.iter().any(|l| (l - p[i]).abs() < 3e-4);
        let within = |low: [f64; 2], high: [f64; 2]| {
            [p, q].iter().all(|p| (0..2).all(|i| (low[i] - 3e-4..=high[i] + 3e-4).contains(&p[i])))
        };
        let border = on(0, &[-116.0, 116.0]) || on(1, &[-70.0, 90.0]);
        let deck = on(0, &[-23.9, -23.1, -16.9, -16.1]) && within([-24.0, 20.5], [-16.0, 40.5]);
        let abutment = on(1, &[20.5, 40.5]) && within([-33.0, 20.5], [-7.0, 40.5]);
        let tunnel = (on(0, &[-56.0, -48.0]) || on(1, &[-10.0, 10.0])) && within([-56.0, -20.0], [-48.0, 20.0]);
        let slab = (on(0, &[35.0, 41.0]) || on(1, &[-10.0, -8.0])) && within([35.0, -10.0], [41.0, -8.0]);
        let setts = (on(0, &[24.0, 48.0]) || on(1, &[2.0, 10.0])) && within([24.0, 2.0], [48.0, 10.0]);
        let ramp = on(1, &[-13.0, -7.0]) && within([0.0, -13.0], [20.0, -7.0]);
        let kerb = (on(0, &[26.0, 46.0]) || on(1, &[-25.5, -22.5])) && within([26.0, -25.5], [46.0, -22.5]);
        assert!(border || deck || abutment || tunnel || slab || setts || ramp || kerb, "a gap from {p:?} to {q:?}");
        let length = (p[0] - q[0]).abs() + (p[1] - q[1]).abs();
        for (sum, here) in lengths.iter_mut().zip([border, slab, setts, ramp]) {
            *sum += if here { length } else { 0.0 };
        }
    }
    assert_eq!(lengths.map(f64::round), [784.0, 16.0, 64.0, 80.0], "{lengths:?}");
    assert_eq!((built.report.stitch.left, built.report.weld.left), (0, 0));
}

/// Every key of a scene of MAVS stands in the one that the demo writes, and the scene builds as it lies there.
#[test]
fn mv_01_the_demo_writes_a_scene_of_mavs() {
    use hardpan_builder::settings::mavs::{Fate, KEYS};
    let here = folder("demo_mavs");
    let [out, err] = expect(0, &here, &["demo", "--scene", "mavs"]);
    assert!(!err.contains("warning"), "{err}");
    holds(&out, &["demo_scene.hpan", "the scene is hardpan-demo-mavs/scenes/demo_scene.json"]);
    let inside = here.join("hardpan-demo-mavs");
    for name in ["relief.png", "materials.png"] {
        let (size, colours) = picture(&inside.join(name));
        assert!(size[0] > 1000 && colours > 20, "{name}: {size:?}, {colours} colours");
    }
    let text = fs::read_to_string(inside.join("scenes/demo_scene.json")).unwrap();
    let tree: Value = serde_json::from_str(&text).unwrap();
    let keys = |value: &Value, path: &str, all: &mut Vec<String>| paths(value, path, all);
    let mut all = Vec::new();
    keys(&tree, "", &mut all);
    for (key, ..) in KEYS {
        // a map of heights goes before all other ground; a scale of an object is none of the document
        let is_out = key.starts_with("Layered Surface.Heightmap") || *key == "Objects[].Scale";
        assert_eq!(all.iter().any(|known| known == key), !is_out, "{key}");
    }
    let report = expect(0, &here, &["build", "hardpan-demo-mavs/scenes/demo_scene.json", "--json", "-o", "a.hpan"]);
    let report: Value = serde_json::from_str(&report[0]).unwrap();
    assert_eq!(report["scene"]["unknown"], json!([]));
    let unused = report["scene"]["unused"].as_array().unwrap().len();
    let listed = KEYS.iter().filter(|(key, _, fate)| *fate == Fate::Listed && all.iter().any(|known| known == key));
    // flags that are off say nothing
    assert_eq!(unused, listed.count() - 3, "{report}");
    // the hill's top is 4 m high; in the trail there are tracks; a pothole is 15 cm deep
    let mut asked = vec!["query", "hardpan-demo-mavs/demo_scene.hpan", "--json", "--", "40,0", "-10,4.9", "-6,1"];
    let [answers, _] = expect(0, &here, &asked);
    let answers: Value = serde_json::from_str(&answers).unwrap();
    assert!((answers[0]["z"].as_f64().unwrap() - 4.0).abs() < 0.02, "{answers}");
    assert_eq!(answers[1]["material"], "track @ field.obj");
    let wave = 14.0 * 26.0 * 19.0 * 21.0 / 160_000.0;
    assert!((answers[2]["z"].as_f64().unwrap() - (wave - 0.15)).abs() < 0.02, "{answers}");
    // what somebody changed stays
    fs::write(inside.join("potholes.txt"), "").unwrap();
    holds(&error(2, &here, &["demo", "--scene", "mavs"]), &["potholes.txt", "--force"]);
    asked.clear();
    expect(0, &here, &["demo", "--scene", "mavs", "--force"]);
}

/// Paths of all keys of a tree, as the table of keys has them.
fn paths(value: &Value, path: &str, all: &mut Vec<String>) {
    match value {
        Value::Object(table) => {
            for (key, inner) in table {
                let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                all.push(at.clone());
                paths(inner, &at, all);
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| paths(inner, &format!("{path}[]"), all)),
        _ => {}
    }
}
