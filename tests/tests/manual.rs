//! What README.md says: its commands run, its code compiles, its figures are those that were measured.

#[allow(dead_code)] // not every test wants all of it
mod shell;

use shell::{HARDPAN, expect, folder};
use std::{
    collections::HashMap,
    env, fs,
    path::Path,
    process::{Command, Output},
};
use verification::fbx;

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
    for block in blocks(&manual, "console") {
        for command in block.split("$ hardpan ").skip(1) {
            let (typed, printed) = command.split_once('\n').unwrap();
            let typed = typed.split('#').next().unwrap();
            let [out, _] = expect(0, &folder, &typed.split_whitespace().collect::<Vec<_>>());
            assert_eq!(without_seconds(&out), without_seconds(printed), "hardpan {typed}");
            commands += 1;
        }
    }
    assert!(commands >= 3);
}

/// Every line of the `sh` blocks that begins with `hardpan` ends well, in their order, with files of the names that they use.
#[test]
fn command_lines_work() {
    let folder = folder("command_lines_work");
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
        ("drive.csv", "t,x,y,z,yaw\n0,-9,0,1,0\n1,0,0,1,0\n2,9,1,1,0\n".into()),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    let points = vec![[-900.0, 0.0, 900.0], [900.0, 0.0, 900.0], [0.0, 50.0, -900.0]];
    let mesh = fbx::Mesh { points, faces: vec![vec![0, 1, 2]], materials: vec![] };
    let object = fbx::Object { name: "bridge", mesh: Some(0), ..Default::default() };
    let records = fbx::document(7400, Some(fbx::Says::Y_UP_CM), &[mesh], &[object]);
    fs::write(folder.join("bridge.fbx"), fbx::text(7400, &records)).unwrap();
    expect(0, &folder, &["build", "track.obj", "-o", "old.hpan"]);
    expect(0, &folder, &["build", "track.obj", "-o", "new.hpan"]);
    let manual = read("README.md");
    let lines = blocks(&manual, "sh").into_iter().flat_map(str::lines).filter(|l| l.starts_with("hardpan "));
    let mut tried = 0;
    for line in lines {
        let typed = line.split('#').next().unwrap().split_whitespace().skip(1).collect::<Vec<_>>();
        let Output { status, stderr, .. } = Command::new(&*HARDPAN).args(&typed).current_dir(&folder).output().unwrap();
        assert!(status.success(), "{line}: {}", String::from_utf8_lossy(&stderr));
        tried += 1;
    }
    assert!(tried >= 15, "{tried}");
}

/// The kernel's example is the one in the manual, and prints what stands there.
#[test]
fn the_ten_lines_are_the_example() {
    let manual = read("README.md");
    let example = read("kernel/examples/ground.rs");
    let code = example.split_once("\n\n").unwrap().1;
    assert_eq!(blocks(&manual, "rust")[0], code);
    let printed = manual.split_once(code).unwrap().1.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(run_example("hardpan", "ground"), printed);
    // its image, from `hardpan demo --fixture bridge`
    let folder = folder("the_ten_lines_are_the_example");
    expect(0, &folder, &["demo", "--fixture", "bridge"]);
    let image = fs::read(Path::new(ROOT).join("kernel/examples/bridge.hpan")).unwrap();
    assert!(image == fs::read(folder.join("bridge.hpan")).unwrap(), "another image than the builder makes today");
}

#[test]
fn the_builders_example_runs() {
    let printed = run_example("hardpan-builder", "ramp");
    assert!(printed.contains("proven: true") && printed.ends_with("z 0.5 m\n"), "{printed}");
}

fn run_example(package: &str, example: &str) -> String {
    let target = HARDPAN.ancestors().nth(2).unwrap();
    let done = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--locked", "--package", package, "--example", example])
        .args(["--release", "--target-dir"])
        .arg(target)
        .current_dir(ROOT)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
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
    let rows = table(&read("README.md"), "Benchmarks");
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

/// Instructions are those to which the budgets hold the kernel, less their small margin.
#[test]
fn instructions_are_within_their_budgets() {
    let budgets = read("tests/embedded/budgets.toml");
    let budget = |board: &str, call: &str| -> f64 {
        let section = budgets.split_once(&format!("[{board}]\n")).unwrap().1.split("\n[").next().unwrap();
        let line = section.lines().find(|l| l.split(" = ").next() == Some(call)).unwrap();
        line.split(" = ").nth(1).unwrap().parse().unwrap()
    };
    let near = |figure: f64, budget: f64, what: &str| {
        assert!(figure <= budget && budget < 1.05 * figure + 1.0, "{what}: {figure}, but the budget is {budget}");
    };
    let manual = read("README.md");
    let rows = table(&manual, "On a small core");
    let calls =
        ["closest", "closest_fixed", "closest_f64", "closest_cursor", "below", "segment", "layers", "open", "verify"];
    assert_eq!(rows.len(), calls.len());
    for (row, call) in rows.iter().zip(calls) {
        let name = if call == "verify" { "verifier" } else { call.trim_end_matches("_fixed").trim_end_matches("_f64") };
        assert!(row[0].starts_with(&format!("`{name}")), "{row:?}");
        for (scene, cell) in ["hills", "proving", "field"].iter().zip(&row[1..]) {
            near(cell.parse().unwrap(), budget(&format!("an386.{scene}"), call), &format!("{call}, {scene}"));
        }
    }
    let number = |after: &str| -> f64 {
        let text = manual.split_once(after).unwrap().1;
        text.split(' ').next().unwrap().replace(',', "").trim_end_matches('.').trim_end_matches(';').parse().unwrap()
    };
    near(number("Stack at most "), budget("an386.proving", "stack"), "stack");
    near(number("no heap; code "), budget("gate.thumbv7em-none-eabihf", "code"), "code");
}
