//! Faults of a mesh or of an image: each kind that is planted is found where it is, as text, values and a page.

use std::{fs, path::Path, process::Command};

use crate::shell::{HARDPAN, check, error, expect, findings_have_one_form, folder, holds, value};
use hardpan_builder::check::{Limits, OF_GROUND, ground};
use hardpan_builder::demo::fixtures;
use hardpan_builder::{Code, Input, Options, build};
use serde_json::{Value, json};

/// A rectangle as four vertices and a face, with its heights in the west and in the east.
fn sheet([west, south, east, north]: [f64; 4], [low, high]: [f64; 2]) -> String {
    let corners = [[west, south, low], [east, south, high], [east, north, high], [west, north, low]];
    corners.map(|[x, y, z]| format!("v {x} {y} {z}\n")).concat() + "f -4 -3 -2 -1\n"
}

/// A planted fault: the kind, the mesh, what else is typed, its rectangle, and its size.
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

/// Which pixels of the page's map have a colour, and how wide the map is.
fn pixels(page: &str, colour: [u8; 3]) -> (Vec<bool>, usize) {
    let (_, rest) = page.split_once("src=\"data:image/png;base64,").unwrap();
    let bytes = of_base64(rest.split_once('"').unwrap().0);
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    assert!((200..=900).contains(&info.width) && info.height > 100, "{} x {}", info.width, info.height);
    holds(page, &[&format!("<svg viewBox=\"0 0 {} {}\">", info.width, info.height)]);
    (pixels.chunks(3).map(|pixel| *pixel == colour).collect(), info.width as usize)
}

/// How many dots of a colour the page's map has: pixels that hang together.
fn dots(page: &str, colour: [u8; 3]) -> usize {
    let (mut left, width) = pixels(page, colour);
    let mut dots = 0;
    for first in 0..left.len() {
        let mut open = vec![first];
        dots += usize::from(left[first]);
        while let Some(i) = open.pop() {
            if std::mem::take(&mut left[i]) {
                open.extend([i + 1, i - 1, i + width, i - width].into_iter().filter(|i| *i < left.len()));
            }
        }
    }
    dots
}

/// The values of an attribute, in the order of the page.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let before = format!(" {name}=\"");
    page.split(&*before).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// The rows of a table of the page, by its id, without the head: their ids and cells.
fn rows<'a>(page: &'a str, table: &str) -> Vec<(&'a str, Vec<&'a str>)> {
    let (_, rest) = page.split_once(&*format!("<table id=\"{table}\">\n")).unwrap();
    let row = |line: &'a str| {
        let (head, cells) = line.strip_suffix("</tr>").unwrap().split_once("<td").unwrap();
        let cells = cells.split("<td").map(|cell| cell.split_once('>').unwrap().1).collect();
        (attributes(head, "id").first().copied().unwrap_or_default(), cells)
    };
    rest.split("</table>").next().unwrap().lines().skip(1).map(row).collect()
}

/// How many markers the map has. Each leads to its row of the list, and that row back to it.
fn markers(page: &str) -> usize {
    let markers: Vec<&str> = page.split("<a id=\"m").skip(1).collect();
    let list = rows(page, "list");
    for marker in &markers {
        let (number, rest) = marker.split_once("\" href=\"#f").unwrap();
        assert!(rest.starts_with(&format!("{number}\">")) && rest.contains(&format!(">{number}</text></a>")));
        let (_, cells) = list.iter().find(|(id, _)| *id == format!("f{number}")).unwrap();
        assert_eq!(cells[0], format!("<a href=\"#m{number}\">{number}</a>"));
    }
    assert_eq!(page.matches("<circle ").count(), markers.len());
    markers.len()
}

/// One file that asks for nothing beside it, and whose links all lead to one place in it.
fn stands_alone(page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    let count = |part: &str| page.matches(part).count();
    assert_eq!((count("src="), count("src=\"data:image/png;base64,")), (1, 1));
    for part in ["http", "<script", "<link", "@import", "url(", "<iframe"] {
        assert_eq!(count(part), 0, "{part}");
    }
    let (ids, links) = (attributes(page, "id"), attributes(page, "href"));
    assert_eq!(count("href"), links.len());
    for link in links {
        let id = link.strip_prefix('#').unwrap();
        assert_eq!(ids.iter().filter(|known| **known == id).count(), 1, "{link}");
    }
}

/// A text as it stands in a page.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Counts of kinds and rows of the list are those of `--json`.
fn agrees(page: &str, facts: &Value) {
    let looks = facts["looks"].as_object().unwrap();
    let kinds = rows(page, "kinds");
    assert_eq!(kinds.len(), looks.len());
    for (kind, cells) in kinds {
        assert_eq!(cells[1], looks[kind]["found"].to_string(), "{kind}");
        assert!(cells[0].starts_with("<i style=\"background:#") && cells[2].ends_with('.'), "{kind}: {cells:?}");
        let listed = rows(page, "list").iter().filter(|row| row.1[1].contains(&format!("#{kind}\""))).count();
        assert_eq!(listed as u64, looks[kind]["found"].as_u64().unwrap().min(100), "{kind}");
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
        let finding = &findings_have_one_form(&look["findings"])[0];
        assert_eq!([&finding["code"], &finding["severity"]], [&json!(kind), &json!("warning")]);
        assert!((value(finding, name) / size - 1.0).abs() < 0.03, "{finding}");
        let at = [0, 1, 2].map(|i| finding["place"][i].as_f64().unwrap());
        assert!((0..2).all(|i| room[i] <= at[i] && at[i] <= room[i + 2]), "{finding}");

        stands_alone(&page);
        agrees(&page, &facts);
        let at = at.map(|v| format!("{v:.3}")).join(", ");
        holds(&page, &[&escaped(finding["text"].as_str().unwrap()), &at, "<b>1 finding</b>"]);
        assert_eq!((rows(&page, "list")[0].1[2], markers(&page)), (&*at, 1), "{kind}");
        // as text
        let [out, _] = expect(1, &folder, &[&["check", "town.obj", "--up", "z"], typed].concat());
        holds(&out, &["town.obj: 1 finding\n", finding["text"].as_str().unwrap(), &format!("[{kind}]\n")]);
        // and in an image
        expect(0, &folder, &[&["build", "town.obj", "--up", "z", "-o", "town.hpan"], typed].concat());
        // where a step is a note: nobody knows what stands there
        let mut of_image = check(&folder, kind, &["town.hpan"])["findings"][0].clone();
        let severity = if kind == "step" { "note" } else { "warning" };
        assert_eq!(of_image["severity"].take(), json!(severity));
        of_image["severity"] = json!("warning");
        assert_eq!(of_image, *finding);
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
    stands_alone(&page);
    agrees(&page, &facts);
    assert_eq!((dots(&page, [213, 0, 50]), markers(&page), rows(&page, "list").len()), (125, 100, 100));
    holds(&page, &["<p>Dots without a number: gap 125.</p>", "<p>And 125 more, "]);
}

/// At one height the higher priority answers, however triangles lie; without one it is found.
#[test]
fn by_17_a_priority_at_one_height_answers() {
    let folder = folder("by_17_a_priority_at_one_height_answers");
    let quad = |name: &str, corners: [[i32; 2]; 4]| {
        let lines = corners.map(|[x, y]| format!("v {x} {y} 0\n")).concat();
        format!("o {name}\nusemtl {name}\n{lines}f -4 -3 -2 -1\n")
    };
    let grass = quad("Grass", [[0, 0], [100, 0], [100, 100], [0, 100]]);
    let sand = quad("Sand", [[20, 20], [60, 15], [70, 60], [25, 70]]);
    fs::write(folder.join("land.obj"), format!("{grass}{sand}")).unwrap();
    fs::write(folder.join("grass.obj"), grass).unwrap();
    fs::write(folder.join("sand.obj"), sand).unwrap();
    let materials = |grass: &str, sand: &str| {
        format!("[[material]]\nname = \"Grass\"\n{grass}\n[[material]]\nname = \"Sand\"\n{sand}\n")
    };
    let found = |sources: &str, materials: &str| {
        fs::write(folder.join("s.toml"), format!("{sources}{materials}")).unwrap();
        let (command, only) = (["check", "--settings", "s.toml", "--json"], ["--only", "same-height"]);
        let done = Command::new(&*HARDPAN).args(command).args(only).current_dir(&folder).output().unwrap();
        let facts: Value = serde_json::from_slice(&done.stdout).unwrap();
        facts["looks"]["same-height"]["findings"].as_array().unwrap().clone()
    };
    let land = "[[source]]\nfile = \"land.obj\"\nup = \"z\"\nunit = \"m\"\n";
    let all = found(land, &materials("mu = 0.4", "mu = 0.5"));
    assert_eq!(all.len(), 1, "{all:?}");
    assert!((value(&all[0], "area") - 2075.0).abs() < 0.01, "{all:?}");
    assert_eq!(found(land, &materials("mu = 0.5", "mu = 0.5")).len(), 0);
    let cases = [("", "priority = 5", 0.5), ("priority = 5", "", 0.4), ("precedence = -1", "", 0.5)];
    for (grass, sand, mu) in cases {
        assert_eq!(found(land, &materials(&format!("mu = 0.4\n{grass}"), &format!("mu = 0.5\n{sand}"))).len(), 0);
        let [_, err] = expect(0, &folder, &["build", "--settings", "s.toml", "-o", "a.hpan", "--force"]);
        assert!(!err.contains("one height"), "{err}");
        let [out, _] = expect(0, &folder, &["query", "a.hpan", "40,25", "--json"]);
        assert_eq!(serde_json::from_str::<Value>(&out).unwrap()[0]["mu"], mu, "{grass} {sand}");
    }
}

/// The head names each file with its date and digest, and the command as it was typed.
#[test]
fn by_15_the_head_says_what_was_checked() {
    let folder = folder("by_15_the_head_says_what_was_checked");
    plant(&folder, &planted()[0].mesh);
    fs::rename(folder.join("town.obj"), folder.join("my \"town\" & co.obj")).unwrap();
    fs::write(folder.join("two.obj"), planted()[1].mesh.clone()).unwrap();
    expect(0, &folder, &["build", "two.obj", "--up", "z"]);
    let changed = |name: &str, seconds: u64| {
        let file = fs::File::options().append(true).open(folder.join(name)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
        Input::digest(name, fs::File::open(folder.join(name)).unwrap()).unwrap().sha256
    };
    let [town, two, image] =
        [("my \"town\" & co.obj", 981_173_106), ("two.obj", 951_782_400), ("two.hpan", 0)].map(|(n, s)| changed(n, s));
    let row = |name: &str, date: &str, digest: &str| format!("{name} {date} <code>{digest}</code>");
    let town = row("my &quot;town&quot; &amp; co.obj", "2001-02-03 04:05:06 UTC", &town);
    let two = row("two.obj", "2000-02-29 00:00:00 UTC", &two);
    for (typed, shown, wanted, code) in [
        (
            &["my \"town\" & co.obj", "two.obj", "--up", "z"][..],
            "'my &quot;town&quot; &amp; co.obj' two.obj --up z",
            vec![town, two],
            1,
        ),
        (&["two.hpan"], "two.hpan", vec![row("two.hpan", "1970-01-01 00:00:00 UTC", &image)], 0),
    ] {
        let (_, page) = paged(code, &folder, typed);
        stands_alone(&page);
        assert_eq!(rows(&page, "files").into_iter().map(|(_, cells)| cells.join(" ")).collect::<Vec<_>>(), wanted);
        holds(&page, &[&format!("Command: <code>hardpan check {shown} --json --html report.html</code>")]);
    }
}

/// A material without a name has no name in a finding, either.
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
        agrees(&page, &facts);
        assert!(markers(&page) == 1 && page.contains(&escaped(finding["text"].as_str().unwrap())), "{kind}");
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

/// The table of findings: each kind that `check` knows has its row on the page, and no name or sentence stands twice.
#[test]
fn kinds_of_findings_stand_on_the_page() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../builder/docs/check-and-verify.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    for (i, code) in Code::ALL.into_iter().enumerate() {
        let first = |row: &&&str| row.split('|').nth(1).is_some_and(|cell| cell.contains(&format!("`{code}`")));
        assert_eq!(rows.iter().filter(first).count(), 1, "rows of {code}");
        for other in &Code::ALL[..i] {
            assert!(code.name() != other.name() && code.entry().words != other.entry().words, "{code}, {other}");
        }
    }
}

#[test]
fn by_15_nothing_is_found_on_clean_ground() {
    let folder = folder("by_15_nothing_is_found_on_clean_ground");
    // of two all that is found is notes: kerbs and pavements, whose upright faces an image does not keep; the heap is
    // made of faults
    let kinds = OF_GROUND.map(Code::name);
    assert_eq!(kinds, ["gap", "step", "double-surface", "same-height", "spike", "buried-road"]);
    for (name, ..) in fixtures::ALL {
        let wanted = match name {
            "curb" => [0, 1, 0, 0, 0, 0],
            "city" => [0, 0, 1, 0, 0, 0],
            "soup" => [43, 229, 1, 6, 0, 6],
            _ => [0; 6],
        };
        let is_clean = name != "soup";
        expect(0, &folder, &["demo", "--fixture", name]);
        let typed = ["check", &format!("{name}.hpan"), "--html", "report.html", "--json"];
        let [out, err] = expect(i32::from(!is_clean), &folder, &typed);
        let facts: Value = serde_json::from_str(&out).unwrap();
        let page = fs::read_to_string(folder.join("report.html")).unwrap();
        stands_alone(&page);
        agrees(&page, &facts);
        assert_eq!(kinds.map(|kind| facts["looks"][kind]["found"].as_u64().unwrap()), wanted, "{name}");
        assert!(dots(&page, [213, 0, 50]) == 0 && err.is_empty() || !is_clean, "{name}: {err}");
        assert_eq!(is_clean, facts["found"] == json!(0), "{name}");
    }
    // a kerb is a step in an image, and none where its upright face is known
    let built = build(&fixtures::curb(), &Options::default()).unwrap();
    let t = hardpan::Terrain::open(&built.image).unwrap();
    for (scene, found) in [(None, 1), (Some(&fixtures::curb()), 0)] {
        let looks = ground(&t, scene, &Limits::default(), |_| true);
        assert_eq!(looks.iter().filter_map(|look| look.found).sum::<usize>(), found);
    }
    // so are the pavement and the walls of the proving ground, of which a slab of 6 m by 2 m is missing
    expect(0, &folder, &["demo"]);
    let [out, _] = expect(1, &folder, &["check", "hardpan-demo/proving-ground.hpan", "--json"]);
    let facts: Value = serde_json::from_str(&out).unwrap();
    let steps = facts["looks"]["step"]["findings"].as_array().unwrap();
    assert_eq!([&facts["found"], &facts["looks"]["gap"]["found"]], [&json!(1); 2], "{facts}");
    assert!((value(&facts["looks"]["gap"]["findings"][0], "width") - 2.0).abs() < 1e-3, "{facts}");
    let upright = |f: &Value| {
        ["bridge", "tunnel", "pavement", "ramp"].iter().any(|of| f["subject"].as_str().unwrap().contains(of))
    };
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

/// The error that a wrong line prints.
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

/// An analysis that did not run does not pass, and options of meshes are refused beside an image.
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
    agrees(&page, &facts);
    assert!(!page.contains("<b title"));
    holds(&page, &["<title>&lt;script&gt;.obj</title>", "&lt;script&gt;alert(1)&lt;/script&gt;&amp;&lt;b title="]);
}
