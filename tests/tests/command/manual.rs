//! README.md and the pages: their commands run, their code compiles, their figures are measured ones.

use crate::shell::{HARDPAN, expect, folder};
use serde_json::Value;
use std::{
    collections::HashMap,
    env, fs,
    path::Path,
    process::{Command, Output},
};
use verification::fbx;

/// Pages whose commands run here, in order, in a folder of their own.
const PAGES: [&str; 7] = [
    "README.md",
    "builder/docs/content.md",
    "builder/docs/settings.md",
    "builder/docs/formats.md",
    "builder/docs/check-and-verify.md",
    "builder/docs/query-and-csv.md",
    "builder/docs/diff.md",
];
const FIRMWARE: &str = "kernel/docs/firmware.md";
const BENCHMARKS: &str = "builder/docs/benchmarks.md";

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap()
}

/// The fenced blocks of one kind, in their order.
fn blocks<'a>(text: &'a str, kind: &str) -> Vec<&'a str> {
    let fence = format!("```{kind}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// The rows of the first table under a heading, cell by cell, without head and ruler.
fn table(text: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, section) = text.split_once(&format!("\n## {heading}\n")).unwrap();
    let rows = section.lines().skip_while(|l| !l.starts_with('|')).take_while(|l| l.starts_with('|'));
    rows.skip(2).map(|r| r[1..r.len() - 1].split('|').map(|c| c.trim().replace(',', "")).collect()).collect()
}

/// Seconds, as `0.03 s`, are not the same twice.
fn without_seconds(text: &str) -> String {
    let words = text.split(' ').collect::<Vec<_>>();
    let seconds = |i: usize| words.get(i + 1).is_some_and(|w| w.starts_with("s:")) && words[i].parse::<f64>().is_ok();
    (0..words.len()).map(|i| if seconds(i) { "_" } else { words[i] }).collect::<Vec<_>>().join(" ")
}

/// Every `$ hardpan ...` of the console blocks prints what stands under it; everything behind `#` is a remark.
#[test]
fn sessions_are_as_printed() {
    let folder = folder("sessions_are_as_printed");
    let [demo, _] = expect(0, &folder, &["demo"]);
    let demo = without_seconds(&demo);
    let manual = read("README.md");
    let excerpt = blocks(&manual, "text").into_iter().find(|b| b.starts_with("Built a proving ground")).unwrap();
    let mut printed = demo.lines();
    for line in without_seconds(excerpt).lines() {
        assert!(printed.any(|l| l == line), "the demo does not print {line:?}, or not there:\n{demo}");
    }
    let mut commands = 0;
    for (page, block) in PAGES
        .map(|page| (page, read(page)))
        .iter()
        .flat_map(|(p, t)| blocks(t, "console").into_iter().map(move |b| (p, b)))
    {
        for command in block.split("$ hardpan ").skip(1) {
            let (typed, printed) = command.split_once('\n').unwrap();
            let typed = typed.split('#').next().unwrap();
            let [out, _] = expect(0, &folder, &typed.split_whitespace().collect::<Vec<_>>());
            assert_eq!(without_seconds(&out), without_seconds(printed), "{page}: hardpan {typed}");
            commands += 1;
        }
    }
    assert!(commands >= 4, "{commands}");
}

/// Files of the names that the pages use.
fn sources(folder: &Path) {
    let slope = |z: f64| {
        format!(
            "v -40 -40 0\nv 40 -40 0\nv 40 40 {z}\nv -40 40 {z}\nusemtl Asphalt\nf 1 2 3\nusemtl Hedge 7\nf 1 3 4\n"
        )
    };
    let upright = "v -4000 0 4000\nv 4000 0 4000\nv 4000 0 -4000\nv -4000 0 -4000\nusemtl Asphalt\nf 1 2 3 4\n";
    for (name, text) in [
        ("track.obj", slope(2.0)),
        ("hills.obj", slope(9.0)),
        ("road.obj", slope(1.0)),
        ("town.obj", upright.into()),
        ("points.csv", "x,y,z\n1,2,3\n-4,5,6\n".into()),
        ("measured.csv", "x,y,z\n1,2,1\n-4,5,1.125\n".into()),
        ("track.tdf", "[FEEDBACK]\nDry=1.05 Materials=Asphalt\n".into()),
        ("drive.csv", "t,x,y,z,yaw\n0,-9,0,1,0\n1,0,0,1,0\n2,9,1,1,0\n".into()),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    let points = vec![[-900.0, 0.0, 900.0], [900.0, 0.0, 900.0], [0.0, 50.0, -900.0]];
    let mesh = fbx::Mesh { points, faces: vec![vec![0, 1, 2]], materials: vec![] };
    let object = fbx::Object { name: "bridge", mesh: Some(0), ..Default::default() };
    let records = fbx::document(7400, Some(fbx::Says::Y_UP_CM), &[mesh], &[object]);
    fs::write(folder.join("bridge.fbx"), fbx::text(7400, &records)).unwrap();
    for image in ["track.hpan", "old.hpan", "new.hpan"] {
        expect(0, folder, &["build", "track.obj", "-o", image]);
    }
}

/// Every line of the `sh` blocks that begins with `hardpan` ends well, in the order of its page, with files of the
/// names that they use.
#[test]
fn command_lines_work() {
    let mut tried = 0;
    for page in PAGES {
        let folder = folder(&format!("command_lines_work/{}", page.replace('/', "_")));
        sources(&folder);
        let text = read(page);
        let lines = blocks(&text, "sh").into_iter().flat_map(str::lines).filter(|l| l.starts_with("hardpan "));
        for line in lines {
            let typed = line.split('#').next().unwrap().split_whitespace().skip(1).collect::<Vec<_>>();
            let Output { status, stderr, .. } =
                Command::new(&*HARDPAN).args(&typed).current_dir(&folder).output().unwrap();
            assert!(status.success(), "{page}: {line}: {}", String::from_utf8_lossy(&stderr));
            tried += 1;
        }
    }
    assert!(tried >= 35, "{tried}");
}

/// The kernel's example is the one in the manual; `tests/run.sh examples` holds what it prints against the manual.
#[test]
fn the_ten_lines_are_the_example() {
    let manual = read("README.md");
    let example = read("kernel/examples/ground.rs");
    let code = example.split_once("\n\n").unwrap().1;
    assert_eq!(blocks(&manual, "rust,ignore"), [code], "all others are compiled as they stand");
    // its image and that of the firmware, from `hardpan demo --fixture`
    let folder = folder("the_ten_lines_are_the_example");
    for (name, place) in [("bridge", "kernel/examples/bridge.hpan"), ("ramp", "firmware-example/ramp.hpan")] {
        expect(0, &folder, &["demo", "--fixture", name]);
        let image = fs::read(Path::new(ROOT).join(place)).unwrap();
        assert!(
            image == fs::read(folder.join(format!("{name}.hpan"))).unwrap(),
            "{place}: not what the builder makes today"
        );
    }
}

/// All pages but the README, which may have so many lines that somebody reads them.
fn pages() -> Vec<String> {
    let folders = ["builder/docs", "kernel/docs"];
    let files = folders.iter().flat_map(|folder| {
        let entries = fs::read_dir(Path::new(ROOT).join(folder)).unwrap();
        entries.map(move |entry| format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap()))
    });
    files.filter(|name| name.ends_with(".md")).collect()
}

#[test]
fn pages_are_short() {
    let manual = read("README.md");
    let (lines, words) = (manual.lines().count(), manual.split_whitespace().count());
    assert!(lines <= 150 && words <= 1200, "README.md: {lines} lines, {words} words");
    let pages = pages();
    assert!(pages.len() >= 16, "{pages:?}");
    for page in pages {
        let lines = read(&page).lines().count();
        assert!(lines < 250, "{page}: {lines} lines");
    }
}

/// Most words of a sentence.
const MAX_WORDS: usize = 30;

/// Sentences with more words than a reader takes in at once. Code spans and the targets of links do not count.
fn long_sentences(paragraph: &str) -> Vec<String> {
    // what is in backticks becomes a sign that may begin a sentence, and is no word
    let spans = paragraph.split('`').enumerate().map(|(i, part)| if i % 2 == 0 { part } else { "§" });
    let text: String = spans.collect();
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    let text = parts.fold(first, |text, part| text + part.split_once(')').map_or(part, |(_, rest)| rest));
    let plain: String = text.chars().filter(|c| !"*[]".contains(*c)).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let ends = |i: usize| {
        let word = words[i].trim_end_matches([')', '"']);
        let next = words.get(i + 1).and_then(|next| next.trim_start_matches(['(', '"']).chars().next());
        word.ends_with(['.', '!', '?']) && next.is_none_or(|c| c.is_uppercase() || c.is_numeric() || c == '§')
    };
    let mut long = Vec::new();
    let mut start = 0;
    for i in (0..words.len()).filter(|i| ends(*i) || i + 1 == words.len()) {
        let sentence = &words[start..=i];
        if sentence.iter().filter(|word| word.chars().any(char::is_alphanumeric)).count() > MAX_WORDS {
            long.push(sentence.join(" "));
        }
        start = i + 1;
    }
    long
}

/// Paragraphs and points of lists, without code, tables, headings and pictures.
fn paragraphs(page: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut is_code = false;
    for line in page.lines().map(str::trim) {
        is_code ^= line.starts_with("```");
        let numbered = line.split_once(". ").filter(|(number, _)| number.parse::<u8>().is_ok());
        let point = line.strip_prefix("- ").or(numbered.map(|(_, text)| text));
        let text = point.unwrap_or(line).trim_start_matches("> ");
        if point.is_some() || line.is_empty() || line.starts_with(['|', '#']) {
            all.push(String::new());
        }
        if !is_code && !line.starts_with(['|', '#', '!']) && !line.starts_with("```") {
            let last = all.last_mut().unwrap();
            *last += " ";
            *last += text;
        }
    }
    all
}

#[test]
fn sentences_are_short() {
    // the measure itself
    let of = |words: usize| format!("{} end. `code` a [b](c d e) 3.5 b.", "w ".repeat(words - 1));
    assert_eq!([MAX_WORDS, MAX_WORDS + 1].map(|words| long_sentences(&of(words)).len()), [0, 1]);
    let parts = paragraphs("a\nb\n\n- c\n  d\n- e\n| t |\n```sh\nx\n```\n`f` g");
    let parts: Vec<&str> = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
    assert_eq!(parts, ["a b", "c d", "e", "`f` g"]);
    for page in pages().into_iter().chain(["README.md".into()]) {
        let text = read(&page);
        let long: Vec<String> = paragraphs(&text).iter().flat_map(|paragraph| long_sentences(paragraph)).collect();
        assert!(long.is_empty(), "{page}: {long:#?}");
    }
}

/// Help has the texts of options, each in its line, and paragraphs.
#[test]
fn sentences_of_help_are_short() {
    let folder = folder("sentences_of_help_are_short");
    let commands =
        "build merge rebuild materials grid flash vstu info query export check verify diff bench demo completions man";
    let commands =
        commands.split(' ').map(|name| vec![name]).chain([vec![], vec!["export", "obj"], vec!["export", "png"]]);
    for command in commands {
        let [help, _] = expect(0, &folder, &[&command[..], &["--help"]].concat());
        let text = |line: &str| match line.strip_prefix(' ') {
            Some(row) => format!("\n{}\n", row.trim().rsplit("  ").next().unwrap().split(" [").next().unwrap()),
            None => format!("{line}\n"),
        };
        let page: String = help.lines().map(text).collect();
        let long: Vec<String> = paragraphs(&page).iter().flat_map(|paragraph| long_sentences(paragraph)).collect();
        assert!(long.is_empty(), "{command:?}: {long:#?}");
    }
}

/// A heading as links name it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Links of the page at `path` that lead nowhere.
fn broken(page: &str) -> Vec<String> {
    let text = read(page);
    let links = text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
    let here = Path::new(ROOT).join(page);
    let is_there = |link: &&str| {
        let (file, heading) = link.split_once('#').unwrap_or((link, ""));
        let file = if file.is_empty() { here.clone() } else { here.parent().unwrap().join(file) };
        let titled = |text: String| {
            text.lines().filter(|l| l.starts_with('#')).any(|l| anchor(l.trim_start_matches('#')) == heading)
        };
        file.exists() && (heading.is_empty() || titled(fs::read_to_string(&file).unwrap()))
    };
    links.filter(|l| !l.starts_with("http") && !l.starts_with('<')).filter(|l| !is_there(l)).map(String::from).collect()
}

#[test]
fn links_lead_somewhere() {
    let others =
        ["README.md", "kernel/README.md", "kernel/c-abi/README.md", "builder/README.md", "firmware-example/README.md"];
    let manual = read("README.md");
    for page in pages() {
        assert!(manual.contains(&format!("({page}")), "README.md does not lead to {page}");
    }
    for page in others.into_iter().map(String::from).chain(pages()) {
        let broken = broken(&page);
        assert!(broken.is_empty(), "{page}: {broken:?}");
    }
}

/// Files and folders that the map of the repository names are there.
#[test]
fn the_map_of_the_repository_is_right() {
    let page = read("builder/docs/contributing.md");
    let quoted = page.lines().filter(|l| l.starts_with('|')).flat_map(|l| l.split('`').skip(1).step_by(2));
    let paths: Vec<&str> = quoted.filter(|q| q.contains('/') && !q.starts_with("target")).collect();
    assert!(paths.len() >= 20, "{paths:?}");
    for path in paths {
        assert!(Path::new(ROOT).join(path).exists(), "{path}");
    }
}

/// Ten changes are worked out, each with its files, a page and a test, which are there; what has a table is named with
/// no more than two files beside those.
#[test]
fn worked_changes_name_files_that_are_there() {
    let page = read("builder/docs/contributing.md");
    let changes = table(&page, "Ten worked changes");
    assert_eq!(changes.len(), 10);
    for change in &changes {
        let [name, files, pages, tests] = &change[..] else { panic!("{change:?}") };
        for cell in [files, pages, tests] {
            let paths: Vec<&str> =
                cell.split('`').skip(1).step_by(2).filter(|q| q.contains('/') || q.contains(".md")).collect();
            assert!(!paths.is_empty(), "{name}: {cell}");
            for path in paths {
                assert!(Path::new(ROOT).join(path).exists(), "{name}: {path}");
            }
        }
        if ["a map", "a finding", "a preset", "an outcome of queries", "a kind of section", "an answer column"]
            .contains(&&**name)
        {
            assert!(
                files.matches('/').count() > 0
                    && files.matches("`builder/").count() + files.matches("`kernel/").count() <= 2,
                "{name}: {files}"
            );
        }
    }
}

/// The pictures are those that the command draws today, and small.
#[test]
fn pictures_are_those_of_the_demo() {
    let folder = folder("pictures_are_those_of_the_demo");
    expect(0, &folder, &["demo"]);
    let image = "hardpan-demo/proving-ground.hpan";
    expect(0, &folder, &["export", "png", image, "--map", "materials", "--size", "800", "-o", "materials.png"]);
    for (picture, drawn) in [("demo-materials.png", "materials.png"), ("demo-drive.png", "hardpan-demo/drive.png")] {
        let kept = fs::read(Path::new(ROOT).join("builder/docs").join(picture)).unwrap();
        assert!(kept.len() < 150_000, "{picture}: {} bytes", kept.len());
        let drawn = folder.join(drawn);
        assert!(kept == fs::read(&drawn).unwrap(), "builder/docs/{picture}: to renew it copy {}", drawn.display());
    }
}

/// The ground of the README's table, built as the page says: bytes, bounds, and what the model of counted instructions
/// makes of them.
#[test]
fn what_a_site_costs_is_what_the_table_says() {
    let folder = folder("what_a_site_costs");
    let page = read(FIRMWARE);
    let script = blocks(&page, "sh").into_iter().find(|b| b.starts_with("awk")).unwrap();
    let (awk, commands) = script.split_once("hardpan build").unwrap();
    assert!(Command::new("sh").args(["-c", awk]).current_dir(&folder).status().unwrap().success());
    for line in format!("hardpan build{commands}").lines().filter(|l| l.starts_with("hardpan build")) {
        expect(0, &folder, &line.split_whitespace().skip(1).collect::<Vec<_>>());
    }
    let rows = table(&read("README.md"), "What it costs");
    let cells =
        |row: usize| [&rows[row][1], &rows[row][2]].map(|c| c.trim_end_matches(" bytes").trim_end_matches(" us"));
    let model = budgets("model.an386");
    let fixed = number(&page, "`[Fixed; 3]` adds ");
    let of_field: f64 = ["field_base", "field_line", "field_test"].iter().map(|part| model[*part]).sum();
    for (i, image) in ["site.hpan", "posts.hpan"].into_iter().enumerate() {
        let facts: Value = serde_json::from_str(&expect(0, &folder, &["info", image, "--json"])[0]).unwrap();
        let [bytes, lines, tests, wide] =
            [&facts["bytes"], &facts["bound"]["lines"], &facts["bound"]["tests"], &facts["wide_tests"]]
                .map(|v| v.as_f64().unwrap());
        assert_eq!(cells(0)[i], bytes.to_string(), "{image}");
        assert_eq!(cells(3)[i], format!("{lines} {tests}"), "{image}");
        assert_eq!(wide, 0.0);
        let of_mesh = model["ground_base"] + model["ground_line"] * lines + model["ground_test"] * tests;
        let instructions = fixed + if i == 0 { of_mesh } else { of_field };
        assert_eq!(cells(4)[i], format!("{:.1}", instructions * 2.0 / 168.0), "{image}");
    }
    let code = number(&page, "`z_fixed` link to ") + number(&page, "linked with ");
    let stack = table_after(&page, "## Stack")[1][1].parse::<f64>().unwrap();
    let sizes = page.split_once("takes on a 32-bit core ").unwrap().1; // held against the boards' builds below
    let [view, answer] = [number(sizes, ""), number(sizes, " and ")];
    for i in [0, 1] {
        assert_eq!(cells(1)[i], code.to_string());
        assert_eq!(cells(2)[i], (stack + view + answer).to_string());
    }
}

/// Times are those of the last recorded run, to the nanosecond.
#[test]
fn times_are_those_recorded() {
    let recorded = read("tests/benches/results/times.csv");
    let mut times = HashMap::new();
    for line in recorded.lines().skip(1) {
        let (head, rest) = line.split_once(",\"").unwrap();
        let (who, numbers) = rest.split_once("\",").unwrap();
        let ns: f64 = numbers.split(',').next().unwrap().parse().unwrap();
        times.insert((head.to_owned(), who.split(',').next().unwrap().to_owned(), who.to_owned()), ns);
    }
    let columns = ["hills1m,random", "hills1m,wheels", "city,random", "city,wheels", "strip,on triangles"];
    let rows = table(&read(BENCHMARKS), "Nanoseconds a query");
    let who = [
        "hardpan, single",
        "hardpan, batch of 64",
        "hardpan, cursor",
        "embree 3, robust",
        "parry3d",
        "grid64",
        "height map, f32",
    ];
    assert_eq!(rows.len(), who.len());
    for (row, who) in rows.iter().zip(who) {
        for (column, cell) in columns.iter().zip(&row[1..]) {
            let time = times
                .iter()
                .find(|((c, short, long), _)| c == column && (long == who || (who == "grid64" && short == who)));
            match time {
                Some((_, ns)) => assert_eq!(*cell, format!("{ns:.0}"), "{who}, {column}"),
                None => assert_eq!(cell, "", "{who}, {column}"),
            }
        }
    }
}

/// A section of the budgets.
fn budgets(of: &str) -> HashMap<String, f64> {
    let all = read("tests/embedded/budgets.toml");
    let section = all.split_once(&format!("[{of}]\n")).unwrap_or_else(|| panic!("no budgets of {of}")).1;
    let lines = section.split("\n[").next().unwrap().lines().filter_map(|l| l.split_once(" = "));
    lines.map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect()
}

/// A figure of the manual is what was measured, of which the budget has a small margin.
#[track_caller]
fn near(figure: f64, budget: f64, what: &str) {
    assert!(figure <= budget && budget < 1.04 * figure + 6.0, "{what}: {figure}, but the budget is {budget}");
}

/// The number that follows some words.
#[track_caller]
fn number(text: &str, before: &str) -> f64 {
    let (_, after) = text.split_once(before).unwrap_or_else(|| panic!("no {before:?}"));
    let end = after.find(|c: char| !c.is_ascii_digit() && c != ',' && c != '.').unwrap_or(after.len());
    after[..end]
        .trim_end_matches([',', '.'])
        .replace(',', "")
        .parse()
        .unwrap_or_else(|_| panic!("after {before:?}: {after:.9}"))
}

/// The rows of the first table behind some words, cell by cell, without head and ruler.
fn table_after(text: &str, words: &str) -> Vec<Vec<String>> {
    table(&format!("\n## here\n{}", text.split_once(words).unwrap().1), "here")
}

/// Calls of the kernel that are measured on a small core, in the order of the tables.
const CALLS: [&str; 13] = [
    "closest",
    "closest_fixed",
    "closest_f64",
    "closest_f32",
    "closest_damage",
    "closest_cursor",
    "below",
    "segment",
    "layers",
    "layers_1",
    "closest_batch",
    "open",
    "verify",
];
/// Ground with wide bundles.
const WIDE: [&str; 3] = ["plain", "wide", "island"];
const SMALL: [&str; 11] =
    ["hills", "proving", "field", "small", "demo", "multilayer", "undulating", "decks", "slabs", "zones", "fans"];

#[test]
fn instructions_are_within_their_budgets() {
    let page = read(FIRMWARE);
    let rows = table(&page, "Instructions");
    assert_eq!(rows.len(), CALLS.len());
    for (row, call) in rows.iter().zip(CALLS) {
        let name = match call {
            "verify" => "verifier",
            "closest_cursor" | "closest_batch" => call,
            _ => call.split('_').next().unwrap(),
        };
        assert!(row[0].starts_with(&format!("`{name}`")), "{row:?}");
        for (scene, cell) in ["hills", "proving", "field"].iter().zip(&row[1..]) {
            near(cell.parse().unwrap(), budgets(&format!("an386.{scene}"))[call], &format!("{call}, {scene}"));
        }
    }
    let code = budgets("gate.thumbv7em-none-eabihf");
    near(number(&page, "`z_fixed` link to "), code["code_of_five_release"], "a small use");
    near(number(&page, "bytes of code on a Cortex-M4F, "), code["code_of_five_least"], "a small use of z");
    near(number(&page, "every entry point there is, to "), code["code_release"], "code");
    let of_all = page.split_once("every entry point there is, to ").unwrap().1;
    near(number(of_all, " and "), code["code_least"], "code of z");
    near(number(&page, "linked with "), code["constants_of_five_release"], "constants");
    let most = |board: &str, call: &str| {
        SMALL.iter().chain(&WIDE).map(|s| budgets(&format!("{board}.{s}"))[call]).fold(0.0, f64::max)
    };
    let first =
        ["hills", "proving", "field"].map(|s| budgets(&format!("an386.{s}"))["verify"]).into_iter().fold(0.0, f64::max);
    near(number(&page, "whatever its limit ("), first, "the first step");
    near(number(&page, "`step(256)` takes at most "), most("an386", "verify_256"), "a step");
    near(number(&page, "all steps together at most "), most("an386", "verify_byte"), "steps");
    near(number(&page, "In the mean `closest` takes "), budgets("an386.hills")["closest_mean"], "mean");
    near(number(&page, "instructions on the hills and "), budgets("an386.proving")["closest_mean"], "mean");
    let times = table(&read(BENCHMARKS), "Nanoseconds a query");
    let manual = read("README.md").replace('\n', " ");
    for (words, row, column) in
        [("On a million triangles `closest` takes ", 0, 1), ("ns singly, ", 1, 1), ("in a batch of 64, and ", 2, 2)]
    {
        assert_eq!(number(&manual, words).to_string(), times[row][column], "{words}");
    }
}

/// The cost of other profiles, as shares of the budgets.
#[test]
fn profiles_cost_what_is_said() {
    let share = |profile: &str, scenes: &[&str], calls: &[&str]| {
        let of = |scene: &&str| {
            let (a, b) = (budgets(&format!("an386-{profile}.{scene}")), budgets(&format!("an386.{scene}")));
            calls.iter().map(|&c| a[c] / b[c]).fold(0.0, f64::max)
        };
        scenes.iter().map(of).fold(0.0, f64::max)
    };
    let closest = ["closest", "closest_fixed", "closest_f64", "closest_f32"];
    let all = [
        &closest[..],
        &["open", "closest_cursor", "closest_batch", "layers", "layers_1", "below", "segment", "verify_256"],
    ]
    .concat();
    let meshes: Vec<&str> = SMALL.into_iter().filter(|&s| s != "field").collect();
    let text = read(FIRMWARE);
    let up = |share: f64| ((share - 1.0) * 100.0).ceil();
    assert_eq!(up(share("mixed", &meshes, &closest)), number(&text, "`closest` takes up to "));
    assert_eq!(up(share("mixed", &["field"], &closest)), number(&text, "% more ("));
    let tenths = |share: f64| (share * 10.0).ceil() / 10.0;
    assert_eq!(
        tenths(share("mixed", &SMALL, &["open", "closest_cursor", "closest_batch"])),
        number(&text, "batches up to ")
    );
    assert_eq!(tenths(share("least", &SMALL, &all)), number(&text, "all of it with `z` up to "));
    let steps = share("least", &SMALL, &["verify_256"]).max(share("least", &WIDE, &["verify_256"]));
    assert_eq!((steps * 10.0).ceil() / 10.0, number(&text, "with `z` throughout "));
}

#[test]
fn stacks_are_those_measured() {
    let kernel = read(FIRMWARE);
    let calls = || CALLS.into_iter().chain(["verify_256", "closest_extend"]);
    let rows = table_after(&kernel, "## Stack");
    assert_eq!(rows.len(), calls().count());
    let most = |board: &str, scenes: &[&str], call: &str| {
        scenes.iter().map(|s| budgets(&format!("{board}.{s}"))[&format!("{call}_stack")]).fold(0.0, f64::max)
    };
    for (row, call) in rows.iter().zip(calls()) {
        let figures: Vec<f64> = row[1..].iter().map(|c| c.parse().unwrap()).collect();
        let mut measured = ["an386", "an386-mixed", "an386-least"].map(|board| most(board, &SMALL, call)).to_vec();
        measured.push(most("an386", &WIDE, call));
        assert_eq!(figures, measured, "{}", row[0]);
    }
    let [terrain, cursor, verifier, answer] = [
        size_of::<hardpan::Terrain>(),
        size_of::<hardpan::Cursor>(),
        size_of::<hardpan::Verifier>(),
        size_of::<hardpan::Answer>(),
    ];
    let host = format!("on a 64-bit host {terrain}, {cursor}, {verifier} and {answer}");
    assert!(kernel.contains(&host), "{host}");
    // what the boards' builds assert
    let probe = read("tests/embedded/probe/src/lib.rs");
    let sizes = probe.split_once("SIZES: [usize; 4] = [").unwrap().1.split_once(']').unwrap().0;
    let [terrain, cursor, verifier, answer] = sizes.split(", ").collect::<Vec<_>>()[..] else { panic!("{sizes}") };
    let core = format!("on a 32-bit core {terrain}, {cursor}, {verifier} and {answer} bytes");
    assert!(kernel.contains(&core), "{core}");
}

/// The model from a stated bound to instructions is the one that every counted query is held to.
#[test]
fn the_model_is_the_one_that_is_checked() {
    let kernel = read(FIRMWARE);
    let rows = table_after(&kernel, "## From a bound to time");
    let boards = ["an386", "an386-mixed", "an386-least", "virt", "microbit"];
    assert_eq!(rows.len(), boards.len());
    let model = |board: &str, ground: &str| {
        let all = budgets(&format!("model.{board}"));
        ["base", "line", "test"].map(|part| all[&format!("{ground}_{part}")])
    };
    let wide = |board: &str| budgets(&format!("model.{board}")).get("wide_test").copied();
    for (row, board) in rows.iter().zip(boards) {
        let [base, line, test] = model(board, "ground");
        let cells: Vec<Option<f64>> = row[1..].iter().map(|c| c.parse().ok()).collect();
        assert_eq!(cells, [Some(base), Some(line), Some(test), wide(board)], "{}", row[0]);
    }
    let [base, line, test] = model("an386", "ground");
    let wide = wide("an386").unwrap();
    let firmware = read("firmware-example/src/vehicle.rs");
    let code = format!("{base} + {line} * lines + {test} * (tests - wide) + {wide} * wide\n");
    assert!(firmware.contains(&code), "{code}");
    let times = format!("counts {} times as much as another", (wide / test).round());
    assert!(read("firmware-example/README.md").contains(&times), "{times}");
    let at = |scene: &str| {
        let all = budgets(&format!("an386.{scene}"));
        let tests = test * (all["bound_tests"] - all["bound_wide"]) + wide * all["bound_wide"];
        (base + line * all["bound_lines"] + tests, (all["closest"] - 4.0) * 32.0 / 33.0)
    };
    let share = |(stated, counted): (f64, f64)| (stated / counted * 10.0).round() / 10.0;
    let (stated, counted) = at("demo");
    let example = kernel.split_once("The demo's states ").unwrap().1;
    assert_eq!(number(example, &format!("22 x {test} = ")), stated);
    assert!((number(&example.replace('\n', " "), "counted on it is ") - counted).abs() < 2.0, "{counted}");
    assert_eq!(number(example, "168 MHz, that is "), (stated * 2.0 / 168.0).round());
    let meshes = SMALL.iter().filter(|&&s| s != "field");
    let shares: Vec<f64> = meshes.map(|scene| share(at(scene))).collect();
    let (least, most) = shares.iter().fold((9.0f64, 0.0f64), |(l, m), &s| (l.min(s), m.max(s)));
    assert!(kernel.contains(&format!("model gives {least} to {most} times the most")), "{shares:?}");
    let words = [
        "At the stated bound that gives ",
        "the most on two triangles of 60 km. It gives ",
        "rough decks of such, and ",
    ];
    assert_eq!(words.map(|words| number(&kernel.replace('\n', " "), words)), WIDE.map(|scene| share(at(scene))));
    assert_eq!(number(&kernel, "height fields alone takes at most "), model("an386", "field").iter().sum::<f64>());
    for (words, call) in
        [("`[Fixed; 3]` adds ", "closest_fixed"), ("`[f64; 3]` ", "closest_f64"), ("`[f32; 3]` ", "closest_f32")]
    {
        let added = number(example, words);
        let most =
            SMALL.iter().map(|s| budgets(&format!("an386.{s}"))).map(|b| b[call] - b["closest"]).fold(0.0, f64::max);
        assert!(added <= most + 1.0 && most <= 1.04 * added + 6.0, "{words}: {added}, {most}");
    }
}

/// The settings of the manual build what they describe, without a complaint.
#[test]
fn the_settings_are_understood() {
    let folder = folder("the_settings_are_understood");
    let face = |x: i32| format!("v {x} 0 0\nv {} 0 0\nv {} 0 -4000\nv {x} 0 -4000\n", x + 4000, x + 4000);
    let mut town: String = (0..3).map(|i| face(4000 * i)).collect();
    town += "usemtl Asphalt\nf 1 2 3 4\nusemtl Hedge 7\nf 5 6 7 8\nusemtl Paving\nf 9 10 11 12\n";
    fs::write(folder.join("town.obj"), town).unwrap();
    let manual = read("builder/docs/settings.md");
    let settings = blocks(&manual, "toml").into_iter().find(|b| b.contains("[[source]]")).unwrap();
    fs::write(folder.join("manual.toml"), settings).unwrap();
    expect(0, &folder, &["build", "--settings", "manual.toml", "-o", "town.hpan", "--strict"]);
    let [out, _] = expect(0, &folder, &["query", "town.hpan", "20,20", "60,20", "100,20", "--json"]);
    let answers: serde_json::Value = serde_json::from_str(&out).unwrap();
    let mu: Vec<Option<f64>> = answers.as_array().unwrap().iter().map(|a| a["mu"].as_f64()).collect();
    assert_eq!(mu, [Some(0.9), None, Some(0.7)]);

    let square = |name: &str, x: i32, z: i32| {
        let corners = [[x, 0], [x + 8, 0], [x + 8, 8], [x, 8]];
        format!("o {name}\n{}f -4 -3 -2 -1\n", corners.map(|[x, y]| format!("v {x} {y} {z}\n")).concat())
    };
    fs::write(folder.join("ramp.obj"), square("road", 0, 0) + &square("UCX_road", 0, 2)).unwrap();
    fs::write(folder.join("ice.obj"), square("rink", 20, 0)).unwrap();
    let rules = blocks(&manual, "toml").into_iter().find(|b| b.contains("[[rule]]")).unwrap();
    fs::write(folder.join("rules.toml"), rules).unwrap();
    expect(0, &folder, &["build", "--settings", "rules.toml", "-o", "ramp.hpan"]);
    let [out, _] = expect(0, &folder, &["query", "ramp.hpan", "4,4", "24,4", "--json"]);
    let answers: serde_json::Value = serde_json::from_str(&out).unwrap();
    let own = |i: usize| (answers[i]["mu"].as_f64(), answers[i]["material"].as_str(), answers[i]["source"].as_str());
    assert_eq!(own(0), (Some(0.4), Some("unnamed @ North ramp"), Some("North ramp/road")));
    assert_eq!(own(1), (Some(0.1), Some("Ice"), Some("ice.obj/rink")));
    let slope = -5f64.to_radians().tan();
    assert!((answers[0]["z"].as_f64().unwrap() - 4.0 * slope).abs() < 1e-3, "{}", answers[0]["z"]);
}
