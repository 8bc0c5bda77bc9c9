//! Faults of a mesh or of an image: each kind that is planted is found where it is, as text, values and a page.

use std::{fs, path::Path, process::Command};

use crate::shell::{HARDPAN, check, error, expect, folder, holds, value};
use hardpan_builder::{
    Code, Options, build,
    check::{Limits, OF_GROUND, ground},
    fixtures,
};
use serde_json::{Value, json};

/// A rectangle as four vertices and a face, with its heights in the west and in the east.
fn sheet([west, south, east, north]: [f64; 4], [low, high]: [f64; 2]) -> String {
    let corners = [[west, south, low], [east, south, high], [east, north, high], [west, north, low]];
    corners.map(|[x, y, z]| format!("v {x} {y} {z}\n")).concat() + "f -4 -3 -2 -1\n"
}

/// What is planted: the kind, the mesh, what else is typed, in which rectangle it lies, and how large it is.
struct Planted {
    kind: &'static str,
    mesh: String,
    typed: &'static [&'static str],
    room: [f64; 4],
    size: (&'static str, f64),
}

/// One of each kind of fault of the ground, in 40 m by 40 m.
fn planted() -> Vec<Planted> {
    let road = [10.0, 10.0, 14.0, 30.0];
    let halves = |apart: f64, rise: f64| {
        sheet([0.0, 0.0, 20.0, 40.0], [0.0; 2]) + &sheet([20.0 + apart, 0.0, 40.0, 40.0], [rise; 2])
    };
    let over = |z: f64| {
        let land = sheet([0.0, 0.0, 40.0, 40.0], [0.0; 2]);
        format!("o land\n{land}o road\nusemtl Asphalt\n{}", sheet(road, [z; 2]))
    };
    let settings: &[&str] = &["--settings", "s.toml"];
    let plant = |kind, mesh, typed, room, size| Planted { kind, mesh, typed, room, size };
    let line = [20.0, 0.0, 20.012, 40.0];
    vec![
        plant("gap", halves(0.012, 0.0), &[], line, ("width", 0.012)),
        plant("step", halves(0.0, 0.12), &[], line, ("height", 0.12)),
        plant("double-surface", over(0.04), &[], road, ("area", 80.0)),
        plant("same-height", over(0.0), settings, road, ("area", 80.0)),
    ]
}

/// Writes the mesh and its settings.
fn plant(folder: &Path, mesh: &str) {
    fs::write(folder.join("town.obj"), mesh).unwrap();
    let settings = "[[material]]\nname = \"Asphalt\"\nmu = 0.9\n[[material]]\nname = \"\"\nmu = 0.5\n";
    fs::write(folder.join("s.toml"), settings).unwrap();
}

/// Checks the mesh with a page, and gives back values and page. Exit code 1 says that something was found.
fn paged(code: i32, folder: &Path, arguments: &[&str]) -> (Value, String) {
    let [out, _] = expect(code, folder, &[&["check"], arguments, &["--json", "--html", "report.html"]].concat());
    (serde_json::from_str(&out).unwrap(), fs::read_to_string(folder.join("report.html")).unwrap())
}

/// The bytes of a text in base 64.
fn of_base64(text: &str) -> Vec<u8> {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |four: &[u8]| {
        let digits: Vec<usize> = four.iter().filter_map(|c| digits.find(char::from(*c))).collect();
        let word = digits.iter().fold(0, |word, digit| word << 6 | digit) << (6 * (4 - digits.len()));
        [16, 8, 0].map(|shift| (word >> shift) as u8)[..digits.len() - 1].to_vec()
    };
    text.as_bytes().chunks(4).flat_map(group).collect()
}

/// Which pixels of the page's map have the colour of its markers and dots, and how wide the map is.
fn pixels(page: &str) -> (Vec<bool>, usize) {
    let (_, rest) = page.split_once("src=\"data:image/png;base64,").unwrap();
    let bytes = of_base64(rest.split_once('"').unwrap().0);
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    assert!((200..=900).contains(&info.width) && info.height > 100, "{} x {}", info.width, info.height);
    (pixels.chunks(3).map(|pixel| *pixel == [213, 0, 50]).collect(), info.width as usize)
}

/// How many those are.
fn marked(page: &str) -> usize {
    pixels(page).0.into_iter().filter(|is| *is).count()
}

/// How many pixels each marker and each dot has, least first: what hangs together.
fn spots(page: &str) -> Vec<usize> {
    let (mut left, width) = pixels(page);
    let mut spots = Vec::new();
    for first in 0..left.len() {
        let (mut open, mut size) = (vec![first], 0);
        while let Some(i) = open.pop() {
            if std::mem::take(&mut left[i]) {
                size += 1;
                open.extend([i + 1, i - 1, i + width, i - width].into_iter().filter(|i| *i < left.len()));
            }
        }
        spots.extend((size > 0).then_some(size));
    }
    spots.sort_unstable();
    spots
}

/// One file that asks for nothing beside it.
fn stands_alone(page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    let count = |part: &str| page.matches(part).count();
    assert_eq!((count("src="), count("src=\"data:image/png;base64,")), (1, 1));
    for part in ["http", "href", "<script", "<link", "@import", "url(", "<iframe"] {
        assert_eq!(count(part), 0, "{part}");
    }
}

#[test]
fn by_15_each_planted_fault_is_found_where_it_is() {
    let folder = folder("by_15_each_planted_fault_is_found_where_it_is");
    for Planted { kind, mesh, typed, room, size: (name, size) } in planted() {
        plant(&folder, &mesh);
        let (facts, page) = paged(1, &folder, &[&["town.obj", "--up", "z"], typed].concat());
        assert_eq!([&facts["passed"], &facts["found"]], [&json!(false), &json!(1)], "{kind}: {facts}");
        let look = &facts["looks"][kind];
        assert_eq!(look["found"], json!(1), "{kind}: {facts}");
        let finding = &look["findings"][0];
        assert_eq!([&finding["code"], &finding["severity"]], [&json!(kind), &json!("warning")]);
        assert!((value(finding, name) / size - 1.0).abs() < 0.03, "{finding}");
        let at = [0, 1, 2].map(|i| finding["place"][i].as_f64().unwrap());
        assert!((0..2).all(|i| room[i] <= at[i] && at[i] <= room[i + 2]), "{finding}");

        stands_alone(&page);
        let at = at.map(|v| format!("{v:.3}")).join(", ");
        holds(
            &page,
            &[finding["text"].as_str().unwrap(), &at, "<b>1 finding</b>", &format!("<td>{kind}<td class=\"n\">1<td>")],
        );
        assert!(marked(&page) > 20, "{kind}");
        // as text
        let [out, _] = expect(1, &folder, &[&["check", "town.obj", "--up", "z"], typed].concat());
        holds(&out, &["town.obj: 1 finding\n", finding["text"].as_str().unwrap(), &format!("[{kind}]\n")]);
        // and in an image
        expect(0, &folder, &[&["build", "town.obj", "--up", "z", "-o", "town.hpan"], typed].concat());
        assert_eq!(check(&folder, kind, &["town.hpan"])["findings"][0], *finding);
    }
}

/// The map has all that was found: a numbered marker for each of the list, and a dot for each other one.
#[test]
fn by_15_the_map_has_every_finding() {
    let folder = folder("by_15_the_map_has_every_finding");
    // 32 m by 32 m of squares, and of every fourth only a hole
    let post = |k: u32| format!("v {} {} 0\n", k % 33, k / 33);
    let is_hole = |k: u32| [k % 33, k / 33].iter().all(|v| v % 2 == 1 && *v < 31);
    let square = |k: u32| format!("f {} {} {} {}\n", k + 1, k + 2, k + 35, k + 34);
    let squares = (0..33 * 32).filter(|k| k % 33 < 32 && !is_hole(*k)).map(square);
    plant(&folder, &(0..33 * 33).map(post).chain(squares).collect::<String>());
    let (facts, page) = paged(1, &folder, &["town.obj", "--up", "z", "--only", "gap", "--max-gap", "1.5m"]);
    assert_eq!(facts["found"], json!(225), "{facts}");
    let spots = spots(&page);
    assert_eq!(spots.len(), 225);
    assert!(spots[124] < 30 && spots[125] > 40, "125 dots and 100 markers: {spots:?}");
    assert_eq!(page.matches("<tr id=").count(), 100);
    holds(&page, &["<p>Dots without a number: gap 125.</p>", "<p>And 125 more, "]);
}

/// What nobody named has no name in a finding, either.
#[test]
fn by_15_names_are_those_of_the_mesh() {
    let folder = folder("by_15_names_are_those_of_the_mesh");
    for (number, kind, subject) in [(1, "step", ""), (2, "double-surface", "Asphalt of road over land")] {
        plant(&folder, &planted()[number].mesh);
        let finding = &check(&folder, kind, &["town.obj", "--up", "z"])["findings"][0];
        assert_eq!(finding["subject"], json!(subject));
        let text = finding["text"].as_str().unwrap();
        assert!(!text.contains("unnamed") && text.contains("Asphalt of road") == (number == 2), "{text}");
    }
}

/// Others of whose places other kinds are found, too.
#[test]
fn by_15_a_spike_and_a_buried_road_are_on_the_page() {
    let folder = folder("by_15_a_spike_and_a_buried_road_are_on_the_page");
    let post = |k: u32| {
        let [x, y] = [k % 11, k / 11].map(|v| 4.0 * f64::from(v));
        format!("v {x} {y} {}\n", if k == 60 { 8.0 } else { 0.0 })
    };
    let square = |k: u32| format!("f {} {} {} {}\n", k + 1, k + 2, k + 13, k + 12);
    let spike = (0..121).map(post).chain((0..110).filter(|k| k % 11 < 10).map(square)).collect::<String>();
    // land that rises by 1 in 100 through a level road, more than 10 mm above it from 21 m to 30 m
    let road = [4.0, 10.0, 30.0, 14.0];
    let land = sheet([0.0, 0.0, 40.0, 40.0], [-0.2, 0.2]);
    let buried = format!("usemtl Grass\n{land}usemtl Asphalt\n{}", sheet(road, [0.0; 2]));
    let at_spike = [20.0, 20.0, 20.0, 20.0];
    for (kind, mesh, room, (name, size)) in
        [("spike", spike, at_spike, ("height", 8.0)), ("buried-road", buried, road, ("area", 36.0))]
    {
        plant(&folder, &mesh);
        let (facts, page) = paged(1, &folder, &["town.obj", "--up", "z", "--only", kind]);
        assert_eq!(facts["found"], json!(1), "{facts}");
        let finding = &facts["looks"][kind]["findings"][0];
        assert!((value(finding, name) / size - 1.0).abs() < 0.03, "{finding}");
        let at = [0, 1].map(|i| finding["place"][i].as_f64().unwrap());
        assert!((0..2).all(|i| room[i] <= at[i] && at[i] <= room[i + 2]), "{finding}");
        stands_alone(&page);
        assert!(marked(&page) > 20 && page.contains(finding["text"].as_str().unwrap()), "{kind}");
    }
}

/// Faults of what a file says of itself are known where a mesh is read.
#[test]
fn by_15_faults_of_a_source_are_found() {
    let folder = folder("by_15_faults_of_a_source_are_found");
    let tiny = sheet([0.0, 0.0, 0.2, 0.2], [0.0; 2]);
    let post = |k: u32| {
        let [x, y] = [k % 20, k / 20].map(f64::from);
        format!("v {x} {y} {}\n", if k == 210 { -9999.0 } else { 0.01 * x })
    };
    let square = |k: u32| format!("f {} {} {} {}\n", k + 1, k + 2, k + 22, k + 21);
    let no_data = (0..400).map(post).chain((0..380).filter(|k| k % 20 < 19).map(square)).collect::<String>();
    // ground where y points up, and two walls
    let aside = "v 0 0 0\nv 40 0 0\nv 40 0 40\nv 0 0 40\nf 1 2 3 4\nv 0 20 0\nv 40 20 0\nf 1 2 6 5\nv 60 0 0\nv 60 6 0\nf 2 7 8\n";
    let clean = sheet([0.0, 0.0, 40.0, 40.0], [0.0; 2]);
    // a height that stands for no data is a spike, too
    for (kind, mesh, all) in [("", &*clean, 0), ("unit", &tiny, 1), ("no-data", &no_data, 2), ("orientation", aside, 1)]
    {
        plant(&folder, mesh);
        let mut command = Command::new(&*HARDPAN);
        let done = command.args(["check", "town.obj", "--json"]).current_dir(&folder).output().unwrap();
        let facts: Value = serde_json::from_slice(&done.stdout).unwrap();
        let found = facts["looks"].get(kind).map_or(0, |look| look["found"].as_u64().unwrap());
        let wanted = u64::from(!kind.is_empty());
        assert_eq!((found, &facts["found"]), (wanted, &json!(all)), "{kind}: {facts}");
        assert_eq!(done.status.code(), Some(wanted as i32));
    }
}

#[test]
fn by_15_nothing_is_found_on_clean_ground() {
    let folder = folder("by_15_nothing_is_found_on_clean_ground");
    // three are not clean: a kerb, pavements and trees stand on the ground of two, and the heap is made of faults
    let kinds = OF_GROUND.map(Code::name);
    assert_eq!(kinds, ["gap", "step", "double-surface", "same-height", "spike", "buried-road"]);
    for (name, ..) in fixtures::ALL {
        let wanted = match name {
            "curb" => [0, 1, 0, 0, 0, 0],
            "city" => [4, 574, 1, 0, 0, 0],
            "soup" => [0, 99, 1, 6, 0, 1],
            _ => [0; 6],
        };
        let is_clean = wanted == [0; 6];
        expect(0, &folder, &["demo", "--fixture", name]);
        let typed = ["check", &format!("{name}.hpan"), "--html", "report.html", "--json"];
        let [out, err] = expect(i32::from(!is_clean), &folder, &typed);
        let facts: Value = serde_json::from_str(&out).unwrap();
        let page = fs::read_to_string(folder.join("report.html")).unwrap();
        stands_alone(&page);
        assert_eq!(kinds.map(|kind| facts["looks"][kind]["found"].as_u64().unwrap()), wanted, "{name}");
        assert_eq!(facts["found"], json!(wanted.iter().sum::<u64>()), "{name}");
        assert!(marked(&page) == 0 && err.is_empty() || !is_clean, "{name}: {err}");
    }
    // a kerb is a step in an image, and none where its upright face is known
    let built = build(&fixtures::curb(), &Options::default()).unwrap();
    let t = hardpan::Terrain::open(&built.image).unwrap();
    for (scene, found) in [(None, 1), (Some(&fixtures::curb()), 0)] {
        let looks = ground(&t, scene, &Limits::default(), |_| true);
        assert_eq!(looks.iter().filter_map(|look| look.found).sum::<usize>(), found);
    }
    // so are the pavement and the walls of the proving ground
    expect(0, &folder, &["demo"]);
    let [out, _] = expect(1, &folder, &["check", "hardpan-demo/proving-ground.hpan", "--json"]);
    let facts: Value = serde_json::from_str(&out).unwrap();
    let steps = facts["looks"]["step"]["findings"].as_array().unwrap();
    assert_eq!(facts["found"], json!(steps.len()), "{facts}");
    let upright =
        |f: &Value| ["bridge", "tunnel", "pavement"].iter().any(|of| f["subject"].as_str().unwrap().contains(of));
    assert!(steps.iter().all(upright), "{facts}");
    assert!((value(&steps[steps.len() - 1], "height") - 0.15).abs() < 1e-3, "{facts}");
}

#[test]
fn by_15_only_the_kinds_that_are_named() {
    let folder = folder("by_15_only_the_kinds_that_are_named");
    plant(&folder, &planted()[0].mesh);
    for (only, code) in [("gap", 1), ("step", 0), ("step,gap", 1), ("double-surface,same-height", 0)] {
        let [out, _] = expect(code, &folder, &["check", "town.obj", "--up", "z", "--only", only, "--json"]);
        let facts: Value = serde_json::from_str(&out).unwrap();
        let mut kinds: Vec<&str> = facts["looks"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut wanted: Vec<&str> = only.split(',').collect();
        kinds.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(kinds, wanted);
        assert_eq!([&facts["passed"], &facts["found"]], [&json!(code == 0), &json!(code)]);
    }
    // a limit that a gap of 12 mm is within, or not
    for (limit, found) in [("20mm", 1), ("0.012m", 1), ("1cm", 0)] {
        assert_eq!(
            check(&folder, "gap", &["town.obj", "--up", "z", "--max-gap", limit])["found"],
            json!(found),
            "{limit}"
        );
    }
    holds(&error_of(&folder, &["check", "town.obj", "--only", "gaps"]), &["\"gaps\"", "gap, step"]);
    holds(&error_of(&folder, &["check", "none.obj"]), &["none.obj"]);
    error_of(&folder, &["check"]);
}

/// What a wrong line prints.
fn error_of(folder: &Path, arguments: &[&str]) -> String {
    let [out, err] = expect(2, folder, arguments);
    assert!(out.is_empty(), "{out}");
    err
}

#[test]
fn by_15_a_page_replaces_pages_only() {
    let folder = folder("by_15_a_page_replaces_pages_only");
    plant(&folder, &planted()[1].mesh);
    let to = |place: &'static str, more: &[&'static str]| {
        [&["check", "town.obj", "--up", "z", "--html", place], more].concat()
    };
    fs::write(folder.join("mine.html"), "<p>my own").unwrap();
    let why = error(2, &folder, &to("mine.html", &[]));
    holds(&why, &["mine.html: ", "--force"]);
    assert_eq!(fs::read(folder.join("mine.html")).unwrap(), b"<p>my own");
    expect(1, &folder, &to("mine.html", &["--force"]));
    stands_alone(&fs::read_to_string(folder.join("mine.html")).unwrap());
    expect(1, &folder, &to("mine.html", &[]));
    holds(&error(2, &folder, &to("page.png", &[])), &["page.png: ", ".html"]);
    assert!(!folder.join("page.png").exists());
    // no source is replaced, whatever is typed
    let mesh = fs::read(folder.join("town.obj")).unwrap();
    error(2, &folder, &to("town.obj", &["--force"]));
    // nor one that only the settings name
    fs::write(folder.join("k.toml"), "[[source]]\nfile = \"town.obj\"\nup = \"z\"\n").unwrap();
    error(2, &folder, &["check", "--settings", "k.toml", "--html", "town.obj", "--force"]);
    error(2, &folder, &["build", "--settings", "k.toml", "--report", "town.obj", "--force"]);
    assert_eq!(fs::read(folder.join("town.obj")).unwrap(), mesh);
}

/// What was not looked at does not pass, and what is of meshes is refused beside an image.
#[test]
fn by_15_nothing_passes_unseen() {
    let folder = folder("by_15_nothing_passes_unseen");
    let heap: String = (0..300).map(|k| sheet([0.0, 0.0, 10.0, 10.0], [f64::from(k) * 0.02; 2])).collect();
    plant(&folder, &heap);
    let [out, _] = expect(1, &folder, &["check", "town.obj", "--up", "z", "--only", "double-surface", "--json"]);
    let facts: Value = serde_json::from_str(&out).unwrap();
    assert_eq!([&facts["found"], &facts["passed"]], [&json!(0), &json!(false)], "{facts}");
    plant(&folder, &sheet([0.0, 0.0, 10.0, 10.0], [0.0; 2]));
    expect(0, &folder, &["build", "town.obj", "--up", "z", "-o", "town.hpan"]);
    expect(0, &folder, &["check", "town.hpan", "--allow", "gap"]);
    for typed in [&["--settings", "s.toml"][..], &["--up", "z"], &["--weld", "1mm"], &["--only", "unit"]] {
        error_of(&folder, &[&["check", "town.hpan"], typed].concat());
    }
    error_of(&folder, &["check", "town.obj", "--only", "gap", "--allow", "gap"]);
}

#[test]
fn by_15_names_are_no_markup() {
    let folder = folder("by_15_names_are_no_markup");
    let name = "<script>alert(1)</script>&<b title='x'>";
    let mesh = planted()[2].mesh.replace("o road", &format!("o {name}")).replace("Asphalt", "\"><script>");
    fs::write(folder.join("<script>.obj"), mesh).unwrap();
    let (facts, page) = paged(1, &folder, &["<script>.obj", "--up", "z"]);
    holds(facts["looks"]["double-surface"]["findings"][0]["subject"].as_str().unwrap(), &[name]);
    stands_alone(&page);
    assert!(!page.contains("<b title"));
    holds(&page, &["<title>&lt;script&gt;.obj</title>", "&lt;script&gt;alert(1)&lt;/script&gt;&amp;&lt;b title="]);
}
