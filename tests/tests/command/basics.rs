//! The command, as it is typed: output, files and exit codes.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use crate::shell::{
    BRIDGE, HARDPAN, SETTINGS, bridge, error, expect, findings_have_one_form, folder, holds, info, soon,
};
use hardpan::{Terrain, format::section};
use hardpan_builder::Image;
use serde_json::{Value, json};

/// Asks by CSV on stdin; gives back the answers' columns.
fn ask(folder: &Path, image: &str, points: &str, options: &[&str]) -> Vec<Vec<String>> {
    let mut child = Command::new(&*HARDPAN)
        .args(["query", image, "--csv", "-"])
        .args(options)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(points.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success());
    let text = String::from_utf8(done.stdout).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(String::from).collect()).collect()
}

/// One column of answers.
fn column(answers: &[Vec<String>], number: usize) -> Vec<&str> {
    answers.iter().map(|row| row[number].as_str()).collect()
}

#[test]
fn build_info_query() {
    let folder = bridge("build_info_query");
    let [out, _] = expect(0, &folder, &["info", "bridge.hpan"]);
    holds(
        &out,
        &["Steel plate", "triangles   4 in", "x           -50.000 to 50.000 m", "z           0.000 to 6.000 m"],
    );
    let [out, _] = expect(0, &folder, &["info", "bridge.hpan", "--json"]);
    let bytes = fs::metadata(folder.join("bridge.hpan")).unwrap().len();
    let info: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((info["triangles"].as_u64(), info["bytes"].as_u64()), (Some(4), Some(bytes)));
    assert_eq!(info["bounds"], json!({ "min": [-50.0, -50.0, 0.0], "max": [50.0, 50.0, 6.0] }));
    assert_eq!((&info["materials"][1]["name"], &info["materials"][1]["mu"]), (&json!("Steel plate"), &json!(0.85)));
    assert_eq!(info["sources"], json!(["deck", "floor"]));
    assert_eq!(info["identity"].as_str().map(str::len), Some(64));

    // the highest; the nearest; the first below within a length; none
    let answers = ask(&folder, "bridge.hpan", "-1,0\n0,0,2.9\n0,0,3\n0,0,3.1\n0,0,7,2\n0,0,5,2\n0,0,5,6\n70,0\n", &[]);
    assert_eq!(column(&answers, 2), ["6", "0", "0", "6", "6", "", "0", ""]);
    assert_eq!(column(&answers, 7)[..2], ["Steel plate", "Asphalt"]);
    assert_eq!(column(&answers, 8)[..2], ["deck", "floor"]);
    assert_eq!(column(&answers, 10)[..2], ["top", "near"]);
    assert_eq!(answers[5][9], "no ground");

    // on the line, where points may start with a minus
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "-1,0", "-.5,-2,3", "-20,0"]);
    assert_eq!(out.lines().count(), 4);
    holds(&out, &["6.000000", "Steel plate"]);
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "-1,0", "70,0", "--json"]);
    let answers: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&answers[0]["z"], &answers[0]["slope"]), (&json!(6.0), &json!([0.0, 0.0])));
    assert_eq!((&answers[1]["z"], &answers[1]["status"]), (&Value::Null, &json!("not in image")));
}

#[test]
fn layers_and_explain() {
    let folder = bridge("layers_and_explain");
    let rows = ask(&folder, "bridge.hpan", "0,0\n20,0\n", &["--layers"]);
    assert_eq!(column(&rows, 2), ["1", "2", "1"]);
    assert_eq!(column(&rows, 3), ["6", "0", "0"]);
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "1,-2,1", "--explain"]);
    holds(&out, &["candidate  z 6.0", "candidate  z 0.0", "answer     z 0.0", "stated for this image"]);
    // each leaf says what is in it, and the lines add up
    holds(&out, &[": 2 triangles, Asphalt of floor, 2 lines\n", ": 2 triangles, Steel plate of deck, 2 lines\n"]);
    let lines_at_end = |text: &str| {
        let number = text.strip_suffix(" lines").or(text.strip_suffix(" line"))?.rsplit(' ').next()?;
        number.parse::<u32>().ok()
    };
    let [steps, cost] = out.split("  cost ").collect::<Vec<_>>()[..] else { panic!("{out}") };
    let sum: u32 = steps.lines().filter_map(lines_at_end).sum();
    assert_eq!(lines_at_end(cost.split(';').next().unwrap()), Some(sum), "{out}");
    assert!(sum >= 5, "a cell and two leaves");
}

/// On the row's own fixture, also where triangles of a surface meet: two surfaces, two candidates, and the rule.
#[test]
fn vt_17_each_surface_is_one_candidate() {
    let folder = folder("vt_17_each_surface_is_one_candidate");
    expect(0, &folder, &["demo", "--fixture", "bridge"]);
    for (place, answer) in [("0,0,2", "z 0.0"), ("0,0,5", "z 6.0"), ("1,-2,2", "z 0.0"), ("5,50,2", "z 0.0")] {
        let [out, _] = expect(0, &folder, &["query", "bridge.hpan", place, "--explain"]);
        let candidates: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("  candidate  z ")).collect();
        let [deck, ground] = candidates[..] else { panic!("{place}: {out}") };
        assert!(deck.starts_with("6.000000") && ground.starts_with("0.000000"), "{place}: {out}");
        holds(
            &out,
            &["  answer     ", answer, ": the nearest within 4 m, above or below; of two equally near the lower"],
        );
    }
}

#[test]
fn csv_in_and_out() {
    let folder = bridge("csv_in_and_out");
    fs::write(folder.join("points.csv"), "x,y,z,length\n# mixed shapes\n-1,0,,\n0,0,2,\n\n0, 0, 5, 2\n9,9,,\n")
        .unwrap();
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "--csv", "points.csv"]);
    assert_eq!(
        out,
        "x,y,z,slope_x,slope_y,mu,rr,material,source,status,reach,surface_type,cone_index,label,leaf,asked_z,length\n\
         -1,0,6,0,0,0.85,1,Steel plate,deck,found,top,0,,0,mesh,,\n\
         0,0,0,0,0,0.85,1,Asphalt,floor,found,near,0,,0,mesh,2,\n\
         0,0,,,,,,,,no ground,,,,,, 5, 2\n\
         9,9,0,0,0,0.85,1,Asphalt,floor,found,top,0,,0,mesh,,\n"
    );
    expect(0, &folder, &["query", "bridge.hpan", "--csv", "points.csv", "-o", "out.csv"]);
    assert_eq!(fs::read_to_string(folder.join("out.csv")).unwrap(), out);

    fs::write(folder.join("bad.csv"), "1,2\n3,four\n").unwrap();
    let [_, err] = expect(2, &folder, &["query", "bridge.hpan", "--csv", "bad.csv"]);
    assert!(err.contains("bad.csv: line 2: \"four\" is not a number (field 2)"), "{err}");
    // a heading has no numbers; a first line with a typo is none
    let first = |line: &str| {
        fs::write(folder.join("first.csv"), format!("{line}\n1,2\n")).unwrap();
        ["query", "bridge.hpan", "--csv", "first.csv"]
    };
    for heading in ["x,y", "\"x [m]\",y [m],", "# 1,2\ny,x", ",,\n3,3", "4,4", "-.5,0", "nan,inf"] {
        let [out, _] = expect(0, &folder, &first(heading));
        let answers = if heading.starts_with(['x', '"', '#']) { 1 } else { 2 };
        assert_eq!(out.lines().count(), 1 + answers, "{heading}");
    }
    for (line, text) in [
        ("1x,2", "line 1: \"1x\" is not a number (field 1)"),
        ("o,2,3", "line 1: \"o\" is not a number (field 1)"),
        ("1,y", "line 1: \"y\" is not a number (field 2)"),
        ("1,2,3,4m", "line 1: \"4m\" is not a number (field 4)"),
        ("x,y,007", "line 1: \"x\" is not a number (field 1)"),
        ("east,north,007", "line 1: \"east\" is not a number (field 1)"),
    ] {
        holds(&expect(2, &folder, &first(line))[1], &["error: first.csv: ", text]);
    }
    // answers up to an error are whole JSON, and no file is left
    fs::write(folder.join("late.csv"), "0,0\n1,1\n2,two\n3,3\n").unwrap();
    for (points, before) in [("late.csv", 2), ("bad.csv", 1), ("first.csv", 0)] {
        let [out, err] = expect(2, &folder, &["query", "bridge.hpan", "--csv", points, "--json"]);
        let answers: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(answers.as_array().unwrap().len(), before, "{out}");
        holds(&err, &["error: ", points, "is not a number"]);
    }
    error(2, &folder, &["query", "bridge.hpan", "--csv", "late.csv", "--json", "-o", "late.json"]);
    assert!(!folder.join("late.json").exists());
}

#[test]
fn points_that_are_no_finite_numbers() {
    let folder = bridge("points_that_are_no_finite_numbers");
    // refused on the line and nowhere in a file, whichever number it is and whatever is asked
    for point in [
        "-inf,2",
        "inf,2",
        "1,-inf",
        "nan,2",
        "-NaN,2",
        "-infinity,2,3",
        "1,2,1e999",
        "-1e400,2",
        "1,1,5,inf",
        "1,1,5,NaN",
        "1,1,5,-inf",
    ] {
        fs::write(folder.join("point.csv"), format!("{point}\n")).unwrap();
        for more in [&[][..], &["--layers"], &["--explain"], &["--json"], &["--strict"]] {
            let code = i32::from(more == ["--strict"]);
            let [_, err] = expect(2, &folder, &[&["query", "bridge.hpan", point], more].concat());
            holds(&err, &["is not a finite number (field "]);
            let [out, said] = expect(code, &folder, &[&["query", "bridge.hpan", "--csv", "point.csv"], more].concat());
            let found = out.lines().skip(1).any(|line| line.contains("found"));
            assert!(out.contains("not in image") && !found, "{point} {more:?}: {out}");
            holds(&said, &["1 line has a number that is blank or not finite; the first is line 1"]);
        }
    }
    // what is named so is a file
    fs::write(folder.join("-inf,2"), "0,0\n").unwrap();
    expect(0, &folder, &["query", "bridge.hpan", "--csv", "./-inf,2"]);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = bridge("a_closed_pipe_ends_quietly");
    fs::write(folder.join("points.csv"), "1,2\n".repeat(200_000)).unwrap();
    let mut child = Command::new(&*HARDPAN)
        .args(["query", "bridge.hpan", "--csv", "points.csv"])
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), &done.stderr[..]), (Some(0), &b""[..]));
}

#[test]
fn axes_and_units() {
    let folder = folder("axes_and_units");
    fs::write(folder.join("y.obj"), "v 0 150 0\nv 1000 150 0\nv 0 150 -2000\nf 1 2 3\n").unwrap();
    let why = error(2, &folder, &["build", "y.obj"]);
    assert!(why.contains("--up y"), "{why}");
    assert!(!folder.join("y.hpan").exists());
    expect(0, &folder, &["build", "y.obj", "--up", "y", "--unit", "cm", "--scale", "2"]);
    let [out, _] = expect(0, &folder, &["info", "y.hpan"]);
    holds(&out, &["x           0.000 to 20.000 m", "y           0.000 to 40.000 m", "z           3.000 to 3.000 m"]);
}

#[test]
fn files_of_others_are_safe() {
    let folder = bridge("files_of_others_are_safe");
    let image = || fs::read(folder.join("bridge.hpan")).unwrap();
    let first = image();
    expect(0, &folder, &["build", "bridge.obj"]);
    assert_eq!(first, image(), "the same mesh gives the same bytes");

    fs::write(folder.join("letter.txt"), "dear all").unwrap();
    let why = error(2, &folder, &["build", "bridge.obj", "-o", "letter.txt"]);
    assert!(why.contains("--force"), "{why}");
    assert_eq!(fs::read(folder.join("letter.txt")).unwrap(), b"dear all");
    expect(0, &folder, &["build", "bridge.obj", "-o", "letter.txt", "--force"]);
    assert_eq!(fs::read(folder.join("letter.txt")).unwrap(), first);

    let why = error(2, &folder, &["build", "bridge.obj", "-o", "bridge.obj", "--force"]);
    assert!(why.contains("its own source"), "{why}");
    assert_eq!(fs::read_to_string(folder.join("bridge.obj")).unwrap(), BRIDGE);
    let why = error(2, &folder, &["build", "bridge.obj", "-o", "nowhere/at all/a.hpan"]);
    let wanted = "nowhere/at all/a.hpan: there is no folder nowhere/at all; to make it: mkdir -p 'nowhere/at all'\n";
    assert!(why.ends_with(wanted), "{why}");
    let why = error(2, &folder, &["build", "bridge.obj", "-o", "new.OBJ"]);
    assert!(why.contains("new.OBJ: other files are called so") && why.contains("--force"), "{why}");
    let why = error(2, &folder, &["build", "bridge.obj", "-o", "city.toml"]);
    assert!(why.contains("city.toml: other files are called so") && why.contains("--force"), "{why}");
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "nothing is left behind: {names:?}");
}

#[test]
fn build_prints_its_report() {
    let folder = bridge("build_prints_its_report");
    let [out, err] = expect(0, &folder, &["build", "bridge.obj", "--json", "--report", "r.json"]);
    assert_eq!(out, fs::read_to_string(folder.join("r.json")).unwrap());
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!([&report["done"], &report["output"]], [&json!(true), &json!("bridge.hpan")]);
    assert_eq!(err, expect(0, &folder, &["build", "bridge.obj"])[1]);
    // of a build that fails, too
    fs::write(folder.join("bad.obj"), "v 0 0 0\nf 1 2 3\n").unwrap();
    let [out, err] = expect(2, &folder, &["build", "bad.obj", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!([&report["done"], &report["error"]["exit"]], [&json!(false), &json!(2)]);
    holds(&err, &["error: bad.obj: line 2: ", report["error"]["text"].as_str().unwrap()]);
}

/// No command writes over what it reads, nor under a name that something else has, unless it is said so; what is lost
/// by a slip is a source.
#[test]
fn outputs_are_not_called_as_images_and_sources_are() {
    let folder = bridge("outputs_are_not_called_as_images_and_sources_are");
    let image = fs::read(folder.join("bridge.hpan")).unwrap();
    let query = ["query", "bridge.hpan", "0,0", "-o"];
    let [json, explain] = ["--json", "--explain"].map(|more| ["query", "bridge.hpan", "0,0", more, "-o"]);
    let build = ["build", "bridge.obj", "--report"];
    let list = ["materials", "bridge.hpan", "-o"];
    let demo = ["demo", "--fixture", "flat", "-o"];
    for (typed, name, own) in [
        (&query[..], "new.hpan", "FILE.csv"),
        (&query, "new.OBJ", "FILE.csv"),
        (&query, "new.fbx", "FILE.csv"),
        (&query, "new.toml", "FILE.csv"),
        (&query, "new.tsv", "FILE.csv"),
        (&json, "new.csv", "FILE.json"),
        (&explain, "new.csv", "FILE.txt"),
        (&explain, "new.json", "FILE.txt"),
        (&build, "new.obj", "FILE.json"),
        (&build, "new.csv", "FILE.json"),
        (&list, "new.hpan", "FILE.toml"),
        (&demo, "new.png", "FILE.hpan"),
    ] {
        let why = error(2, &folder, &[typed, &[name]].concat());
        assert_eq!(why, format!("error: {name}: other files are called so; name it {own}, or add --force\n"));
        assert!(!folder.join(name).exists());
        expect(0, &folder, &[typed, &[name, "--force"]].concat());
        fs::remove_file(folder.join(name)).unwrap();
    }
    for name in ["a.csv", "a.json", "a.txt", "a"] {
        expect(0, &folder, &[&query[..], &[name]].concat());
    }
    // answers are what they are called
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let told = |more: &[&str]| expect(0, &folder, &[&["query", "bridge.hpan", "0,0"], more].concat())[0].clone();
    assert_eq!([read("a"), read("a.json")], [told(&[]), told(&["--json"])]);
    assert_eq!(read("a.txt"), read("a"));
    fs::write(folder.join("p.csv"), "0,0\n").unwrap();
    let of_file = ["query", "bridge.hpan", "--csv", "p.csv"];
    assert_eq!(read("a.csv"), expect(0, &folder, &of_file)[0]);
    for (name, more) in [("b.JSON", &["--json"][..]), ("b.csv", &[]), ("b.txt", &[])] {
        expect(0, &folder, &[&of_file[..], &["-o", name]].concat());
        assert_eq!(read(name), expect(0, &folder, &[&of_file[..], more].concat())[0], "{name}");
    }
    // what was typed as a file of such lines
    fs::write(folder.join("p.csv"), "0,0,1\n1,2,9,4\n70,0\n").unwrap();
    expect(0, &folder, &["query", "bridge.hpan", "0,0,1", "1,2,9,4", "70,0", "-o", "d.csv"]);
    assert_eq!(read("d.csv"), expect(0, &folder, &of_file)[0]);
    told(&["--layers", "-o", "l.json"]);
    assert_eq!(read("l.json"), told(&["--layers", "--json"]));
    // what it is made of, not even then
    fs::copy(folder.join("bridge.obj"), folder.join("renamed.csv")).unwrap();
    for (typed, name, why) in [
        (&query[..], "./bridge.hpan", "this would replace its own source"),
        (&query, "bridge.obj", "the image was built from this very file"),
        (&query, "renamed.csv", "the image was built from this very file"),
        (&list, "bridge.hpan", "this would replace its own source"),
        (&list, "bridge.obj", "the image was built from this very file"),
    ] {
        holds(&error(2, &folder, &[typed, &[name, "--force"]].concat()), &[&format!("{name}: {why}; name another")]);
    }
    assert!(
        fs::read(folder.join("bridge.hpan")).unwrap() == image
            && [read("bridge.obj"), read("renamed.csv")] == [BRIDGE; 2]
    );
}

#[test]
fn exit_codes() {
    let folder = bridge("exit_codes");
    // an image that is damaged: bad input, but to who asks whether it is
    let mut image = fs::read(folder.join("bridge.hpan")).unwrap();
    let middle = image.len() - 100;
    image[middle] ^= 4;
    fs::write(folder.join("damaged.hpan"), &image).unwrap();
    fs::write(folder.join("blank.hpan"), [0xFF; 4096]).unwrap();
    fs::write(folder.join("short.hpan"), &image[..image.len() / 2]).unwrap();
    fs::write(folder.join("foreign.hpan"), "P6 2 2 255 as another program writes it").unwrap();
    for (file, verified) in [("damaged.hpan", 1), ("blank.hpan", 1), ("short.hpan", 1), ("foreign.hpan", 2)] {
        for arguments in [
            &["info", file][..],
            &["query", file, "0,0"],
            &["diff", "bridge.hpan", file],
            &["diff", file, "bridge.hpan"],
            &["export", "png", file],
            &["export", "obj", file],
            &["bench", file, "-n", "1"],
            &["materials", file],
        ] {
            let why = expect(2, &folder, arguments)[1].clone();
            assert!(why.starts_with(&format!("error: {file}: ")), "{why}");
        }
        holds(&expect(verified, &folder, &["verify", file])[1], &[&format!("error: {file}: ")]);
    }
    // half of it was never written
    let half = image.len() / 2;
    image[half..].fill(0xFF);
    fs::write(folder.join("half.hpan"), &image).unwrap();
    let [out, _] = expect(1, &folder, &["verify", "half.hpan"]);
    let why = [format!("all from byte {half} on is as in erased flash"), "section provenance is damaged".into()];
    holds(&out, &["checksums  fail     head and sections: ", &why[0], &why[1]]);
    for arguments in [&["info", "half.hpan"][..], &["query", "half.hpan", "0,0"]] {
        holds(&error(2, &folder, arguments), &["half.hpan: ", &why[0]]);
    }
    // written in part: the last section is another, and so is a tile
    let whole = Image::read(folder.join("bridge.hpan")).unwrap();
    let t = Terrain::open(&whole).unwrap();
    let end_of = |kind| t.section(kind).unwrap().as_ptr_range().end as usize - whole.as_ptr() as usize;
    let mut mixed = whole.to_vec();
    for kind in [section::PROVENANCE, section::TILES] {
        mixed[end_of(kind) - 1] ^= 1;
    }
    fs::write(folder.join("mixed.hpan"), &mixed).unwrap();
    let [out, err] = expect(1, &folder, &["verify", "mixed.hpan"]);
    holds(&out, &["checksums  fail     head, sections and ", "section provenance is damaged", "tile 3 is damaged"]);
    holds(&err, &["section provenance is damaged (its checksum differs) (2 faults); "]);
    // read back from a place before it
    let image = fs::read(folder.join("bridge.hpan")).unwrap();
    for (before, byte) in [(64, 0xFF), (1024, 0), (4032, b'x')] {
        fs::write(folder.join("later.hpan"), [vec![byte; before], image.clone()].concat()).unwrap();
        for command in ["info", "verify"] {
            let why = error(2, &folder, &[command, "later.hpan"]);
            let cut = format!("tail -c +{} later.hpan", before + 1);
            holds(&why, &["later.hpan: ", &format!("an image begins at byte {before}"), &cut]);
        }
    }
    // 2: bad input or usage
    let why = error(2, &folder, &["info", "bridge.obj"]);
    assert!(why.contains("hardpan build"), "{why}");
    error(2, &folder, &["info", "absent.hpan"]);
    error(2, &folder, &["info", "."]);
    error(2, &folder, &["build", "absent.obj"]);
    error(2, &folder, &["build", "bridge.hpan"]);
    fs::write(folder.join("bad.obj"), "v 0 0 0\nv 1 0 zero\n").unwrap();
    let why = error(2, &folder, &["build", "bad.obj"]);
    assert!(why.contains("bad.obj: line 2:"), "{why}");
    for arguments in [
        &["query", "bridge.hpan"][..],
        &["query", "bridge.hpan", "-1,b"],
        &["query", "bridge.hpan", "--no"],
        &["nonsense"],
        &[],
    ] {
        expect(2, &folder, arguments);
    }
    expect(2, &folder, &["build", "bridge.obj", "--scale", "0"]);
    // 3: not supported
    fs::write(folder.join("car.dae"), "<COLLADA>").unwrap();
    let why = error(3, &folder, &["build", "car.dae"]);
    assert!(why.contains("OBJ"), "{why}");
    // 0: asked for
    expect(0, &folder, &["--help"]);
    let [out, _] = expect(0, &folder, &["--version"]);
    assert!(out.starts_with("hardpan ") && out.contains("image format"), "{out}");
}

/// An image for /dev/null is made and checked, and nothing is left.
#[cfg(unix)]
#[test]
fn nothing_is_kept_in_the_null_device() {
    let folder = bridge("nothing_is_kept_in_the_null_device");
    fs::write(folder.join("p.csv"), "x,y\n0,0\n").unwrap();
    let there = || fs::read_dir(&folder).unwrap().count();
    let before = there();
    for arguments in [
        &["build", "bridge.obj"][..],
        &["build", "bridge.obj", "--report", "/dev/null"],
        &["materials", "bridge.obj"],
        &["query", "bridge.hpan", "--csv", "p.csv"],
        &["export", "png", "bridge.hpan"],
        &["export", "obj", "bridge.hpan"],
        &["export", "obj", "bridge.hpan", "--local"],
    ] {
        let [out, _] = expect(0, &folder, &[arguments, &["-o", "/dev/null"]].concat());
        assert!(!out.contains("next:") && !out.contains("settings"), "{out}");
    }
    expect(3, &folder, &["build", "p.csv", "-o", "/dev/null"]);
    assert_eq!(there(), before);
    use std::os::unix::fs::FileTypeExt;
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn by_01_verify() {
    let folder = bridge("by_01_verify");
    let [out, err] = expect(0, &folder, &["verify", "bridge.hpan"]);
    holds(&out, &["bridge.hpan: every claim holds", "cover      pass", "sheets     pass", "seams      pass"]);
    assert!(err.is_empty(), "{err}");
    let [out, _] = expect(0, &folder, &["verify", "bridge.hpan", "--exhaustive", "--threads", "1", "--json"]);
    let facts: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(facts["passed"], json!(true));
    let names: Vec<_> = facts["checks"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    let all = "checksums structure bounds digests tables counts cover sheets rays seams edges";
    assert_eq!(names.join(" "), all);

    // what no image can be
    let image = fs::read(folder.join("bridge.hpan")).unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    write("short.hpan", &image[..image.len() - 1]);
    let why = error(1, &folder, &["verify", "short.hpan"]);
    assert!(why.contains("short.hpan: the image is cut short"), "{why}");
    write("tiny.hpan", &image[..100]);
    error(1, &folder, &["verify", "tiny.hpan"]);
    write("empty.hpan", b"");
    for (name, code) in [("bridge.obj", 2), ("absent.hpan", 2), (".", 2), ("empty.hpan", 1)] {
        error(code, &folder, &["verify", name]);
    }
    // every other byte of what the sums guard
    for at in [40, 700, 1030, image.len() / 2, image.len() - 300] {
        let mut bytes = image.clone();
        bytes[at] ^= 0x20;
        write("changed.hpan", &bytes);
        let [_, why] = expect(1, &folder, &["verify", "changed.hpan"]);
        assert!(why.starts_with("error: changed.hpan: ") && why.trim_end().lines().count() == 1, "{why}");
    }
    // an image that is replaced while it is read stays whole: build writes beside it and renames
    expect(0, &folder, &["build", "bridge.obj"]);
    assert_eq!(fs::read(folder.join("bridge.hpan")).unwrap(), image);
}

#[test]
fn by_01_the_most_that_a_query_may_cost() {
    let folder = bridge("by_01_the_most_that_a_query_may_cost");
    let before = fs::read(folder.join("bridge.hpan")).unwrap();
    let [out, _] = expect(0, &folder, &["info", "bridge.hpan"]);
    holds(
        &out,
        &["has the most tests: up to ", " 4 tests, 5 lines; places in it may", "divided     by the native rule\n"],
    );
    let [built, _] = expect(0, &folder, &["build", "bridge.obj"]);
    holds(&built, &["any query costs at most 4 tests and 5 lines of 64 bytes\n"]);
    holds(&out, &["layers      heights closer than "]);
    // a bound by its tests is none that people read: there are 2
    assert!(!built.contains("layers") && !out.contains("never more than"), "{built}{out}");
    // the column, as middle and sides of the facts have it; the diagonals meet in it
    let facts: Value = serde_json::from_str(&expect(0, &folder, &["info", "bridge.hpan", "--json"])[0]).unwrap();
    let [x, y] = [0, 1].map(|i| {
        let [middle, side] = ["at", "size"].map(|key| facts["costliest"][key][i].as_f64().unwrap());
        assert!(side > 0.0 && middle - side / 2.0 <= 0.0 && middle + side / 2.0 >= 0.0, "{facts:#}");
        format!("{:.3} to {:.3}", middle - side / 2.0, middle + side / 2.0)
    });
    holds(&out, &[&format!("costliest   the column x {x} m, y {y} m has the most tests: ")]);
    // the diagonals of floor and deck meet at (0, 0)
    for (most, allow) in [("3", "4 tests (--max-cost 4)"), ("4,4", "4 tests and 5 lines (--max-cost 4,5)")] {
        let why = error(2, &folder, &["build", "bridge.obj", "--max-cost", most]);
        holds(
            &why,
            &[
                "bridge.obj: a query at (0.000, 0.000) takes at least 4 tests and 5 lines: 4 triangles in 2 layers",
                &format!("allow {allow}"),
            ],
        );
    }
    assert_eq!(fs::read(folder.join("bridge.hpan")).unwrap(), before, "what was there stays");
    error(2, &folder, &["build", "bridge.obj", "--max-cost", "3", "-o", "no.hpan"]);
    assert!(!folder.join("no.hpan").exists());
    for bad in ["0", "4,2", "4,", "four", "1,2,3", "-1"] {
        expect(2, &folder, &["build", "bridge.obj", &format!("--max-cost={bad}"), "-o", "no.hpan"]);
    }
    expect(0, &folder, &["build", "bridge.obj", "--max-cost", "4,5", "-o", "most.hpan"]);
    let [out, _] = expect(0, &folder, &["info", "most.hpan"]);
    holds(
        &out,
        &[
            "4 tests, 5 lines of 64",
            "divided     by the native rule, until no query takes more than 4 tests and 5 lines",
        ],
    );
    let [out, _] = expect(0, &folder, &["info", "most.hpan", "--provenance", "--json"]);
    let facts: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(facts["provenance"]["settings"]["build"]["max_cost"], json!({ "tests": 4, "lines": 5 }));
    // as a setting, under what is typed
    fs::write(folder.join("s.toml"), "[build]\nmax_cost = { tests = 3 }\n").unwrap();
    let build = ["build", "bridge.obj", "--settings", "s.toml", "-o", "set.hpan"];
    error(2, &folder, &build);
    expect(0, &folder, &[&build[..], &["--max-cost", "4"]].concat());
    fs::write(folder.join("s.toml"), "[build]\nmax_cost = { test = 3 }\n").unwrap();
    let why = error(2, &folder, &build);
    holds(&why, &["s.toml", "tests"]);
    // the rule of VS Terrain
    expect(0, &folder, &["build", "bridge.obj", "--preset", "dense", "-o", "dense.hpan"]);
    let [out, _] = expect(0, &folder, &["info", "dense.hpan", "--json"]);
    let facts: Value = serde_json::from_str(&out).unwrap();
    let rule = "by the rules of VS Terrain (preset dense): depth tolerance 14, bundle size 16 + 0.5 a step, volume 0.0001 m3 + 1.5 of it a step";
    assert_eq!(facts["division"], rule);
    let cost = json!({ "nodes": 3, "leaves": 2, "tests": 4, "lines": 5 });
    assert_eq!((&facts["costliest"]["cost"], &facts["bound"]), (&cost, &cost));
    // each tile states its bound and error, and where
    let [out, _] = expect(0, &folder, &["info", "bridge.hpan", "--tiles", "--json"]);
    let facts: Value = serde_json::from_str(&out).unwrap();
    for tile in facts["tiles"].as_array().unwrap() {
        assert_eq!(tile["costliest"]["cost"]["tests"], tile["bound"]["tests"]);
        assert!(tile["error"]["plan"].as_f64().unwrap() > 0.0 && tile["costliest"]["at"][1].is_f64());
    }
    let [out, _] = expect(0, &folder, &["info", "bridge.hpan", "--tiles"]);
    holds(&out, &["error xy      error z  costliest column\n", &format!("0.000172633  0.000007629  x {x}, y {y}\n")]);
    expect(0, &folder, &["demo"]);
    let [out, _] = expect(0, &folder, &["info", "hardpan-demo/proving-ground.hpan"]);
    holds(&out, &["divided     by the native rule", " a triangle, if a cell of heights counts as two\n"]);
    // the plain library records no rule
    let plain =
        hardpan_builder::build(&hardpan_builder::demo::fixtures::step(), &hardpan_builder::Options::default()).unwrap();
    fs::write(folder.join("plain.hpan"), &plain.image[..]).unwrap();
    let [out, _] = expect(0, &folder, &["info", "plain.hpan"]);
    holds(&out, &["divided     by a rule that is not recorded", " a cell of heights\n"]);
}

#[test]
fn factors_that_look_like_percent_are_named() {
    let folder = bridge("factors_that_look_like_percent_are_named");
    let err = |asphalt: &str, rest: &str| {
        let text = format!("[[material]]\nname = \"Asphalt\"\n{asphalt}\n[[material]]\npattern = \"*\"\n{rest}\n");
        fs::write(folder.join("s.toml"), text).unwrap();
        let [_, err] = expect(0, &folder, &["build", "bridge.obj", "--settings", "s.toml", "-o", "set.hpan"]);
        err
    };
    assert_eq!(err("mu = 2.0\nrr = 49.5\ngain = 49.5", "mu = 0\nrr = 0\ngain = 0"), "");
    assert_eq!(
        err("mu = 85\nrr = 120\ngain = 0.9", "mu = 2.01\ngain = 100.0"),
        "warning: settings that look like percent or a slip of the point: material 1 (\"Asphalt\") mu 85, \
         material 1 (\"Asphalt\") rr 120, material 2 (\"*\") mu 2.01, material 2 (\"*\") gain 100; \
         mu is seldom above 2, rr and gain are factors about 1\n"
    );
}

/// No listed place occurs twice.
#[track_caller]
fn one_line_a_place(out: &str) {
    for side in out.split("\nfrom ").skip(1) {
        let mut places: Vec<&str> = side.lines().filter_map(|l| l.split_once(" at (")?.1.split(')').next()).collect();
        places.sort_unstable();
        let count = places.len();
        places.dedup();
        assert!(count > 0 && places.len() == count, "{out}");
    }
}

#[test]
fn by_05_verify_against() {
    let folder = bridge("by_05_verify_against");
    let [out, _] = expect(0, &folder, &["verify", "bridge.hpan", "--against", "bridge.obj"]);
    holds(&out, &["against bridge.obj", "0 beyond the stated error"]);
    let [out, _] =
        expect(0, &folder, &["verify", "bridge.hpan", "--against", "bridge.obj", "--json", "--samples", "100"]);
    let facts: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&facts["against"]["holds"], &facts["against"]["source"]["exceeded"]), (&json!(true), &json!(0)));
    // another unit, another deck
    let [_, why] = expect(1, &folder, &["verify", "bridge.hpan", "--against", "bridge.obj", "--unit", "cm"]);
    holds(&why, &["error: bridge.hpan: its error is larger than it states", "--unit"]);
    // of no source nothing is said
    for more in [["--unit", "cm"], ["--translate", "1,2,3"], ["--samples", "5"]] {
        let [out, why] = expect(2, &folder, &[&["verify", "bridge.hpan"], &more[..]].concat());
        assert!(out.is_empty());
        holds(&why, &["--against <MESH>"]);
    }
    fs::write(folder.join("other.obj"), BRIDGE.replace(" 6\n", " 6.001\n")).unwrap();
    let [out, why] = expect(1, &folder, &["verify", "bridge.hpan", "--against", "other.obj"]);
    holds(&out, &["bridge.hpan: not what it claims", "0.0010000 m in height"]);
    assert!(!out.contains("every claim holds"), "{out}");
    holds(&why, &["it is higher or lower at ", ", the worst at (", " with 0.0010000 m in height; is it"]);
    assert!(!why.contains("ground was"), "it moved: {why}");
    holds(&out, &[" beyond the stated error, 0 of them lost and ", "; no ground at this height in the surroundings\n"]);
    one_line_a_place(&out);
    // ground that the image has none of
    let more = format!("{BRIDGE}v 900 0 0\nv 901 0 0\nv 900 1 0\nf -3 -2 -1\n");
    fs::write(folder.join("more.obj"), more).unwrap();
    let [out, why] = expect(1, &folder, &["verify", "bridge.hpan", "--against", "more.obj"]);
    for text in [&out, &why] {
        holds(text, &["(900.000, 0.000, 0.000)", "nothing near in plan"]);
        assert!(!text.contains("nothing m"), "{text}");
    }
    holds(&why, &["ground was lost at ", " such as at (900.000, 0.000, 0.000) with nothing near in plan; is it"]);
    // lost, gained and moved, each with its own place
    let more = format!("{}v 900 0 0\nv 901 0 0\nv 900 1 0\nf -3 -2 -1\n", BRIDGE.replace("v 5 50 6", "v 5 50 6.5"));
    fs::write(folder.join("more.obj"), more.replace("v 50 -50 0", "v 49 -50 0")).unwrap();
    let [out, why] = expect(1, &folder, &["verify", "bridge.hpan", "--against", "more.obj"]);
    one_line_a_place(&out);
    holds(
        &why,
        &[
            "; is it this image's mesh",
            " such as at (900.000, 0.000, 0.000) with nothing",
            "; ground was gained at ",
            " such as at (50.000, -50.000, 0.000) with nothing",
            "; it is higher or lower at ",
            ", the worst at (5.000, 50.000, 6.500) with 0.5000000 m in height;",
        ],
    );
    let [out, _] = expect(1, &folder, &["verify", "bridge.hpan", "--against", "more.obj", "--json"]);
    let facts: Value = serde_json::from_str(&out).unwrap();
    let source = &facts["against"]["source"];
    assert_eq!(source["worst"][0]["at"], json!([5.0, 50.0, 6.5]));
    assert_eq!(
        (&source["farthest"][0]["at"], &source["farthest"][0]["height"]),
        (&json!([900.0, 0.0, 0.0]), &Value::Null)
    );
    let [missing, exceeded] = ["missing", "exceeded"].map(|key| source[key].as_u64().unwrap());
    assert!(0 < missing && missing < exceeded, "{source:#}");
    let [out, _] = expect(0, &folder, &["verify", "--help"]);
    assert_eq!(out.matches("[default: as built]").count(), 4, "{out}");
    holds(&expect(0, &folder, &["build", "--help"])[0], &["[default: as FILE states, z for OBJ]"]);
    error(2, &folder, &["verify", "bridge.hpan", "--against", "absent.obj"]);
    // without --against
    holds(
        &error(2, &folder, &["verify", "bridge.hpan", "bridge.obj"]),
        &["hardpan verify bridge.hpan --against bridge.obj"],
    );
    holds(&error(2, &folder, &["verify", "bridge.hpan", "bridge.hpan"]), &["hardpan diff bridge.hpan bridge.hpan"]);
    // the image knows how its mesh was meant
    let [_, err] = expect(0, &folder, &["build", "bridge.obj", "--up", "-z", "--unit", "cm", "-o", "turned.hpan"]);
    assert!(!err.contains("error"), "{err}");
    let [out, _] = expect(0, &folder, &["verify", "turned.hpan", "--against", "bridge.obj"]);
    holds(&out, &["0 beyond the stated error"]);
    // undersides of what is closed are no ground, and are reported
    let block = "v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\nv 0 0 1\nv 4 0 1\nv 4 4 1\nv 0 4 1\n\
        f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    fs::write(folder.join("block.obj"), block).unwrap();
    expect(0, &folder, &["build", "block.obj"]);
    let [out, _] = expect(0, &folder, &["verify", "block.hpan", "--against", "block.obj"]);
    holds(&out, &["0 beyond the stated error", "2 underside", "8 vertical"]);
    // those of open objects are not said to be of closed ones
    let deck = "v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\nf 1 2 3 4\nv 0 0 2\nv 4 0 2\nv 4 4 2\nv 0 4 2\nf 8 7 6 5\n";
    fs::write(folder.join("deck.obj"), deck).unwrap();
    let [out, _] = expect(0, &folder, &["build", "deck.obj", "--undersides", "ceiling"]);
    holds(&out, &["left out of 4 triangles: 2 undersides\n"]);
    fs::write(folder.join("bridge.dae"), "<COLLADA>").unwrap();
    expect(3, &folder, &["verify", "bridge.hpan", "--against", "bridge.dae"]);
}

/// An image of several files, each in a frame of its own, whatever they are called now and in whatever order they are
/// named.
#[test]
fn by_05_verify_against_several_files() {
    let folder = folder("by_05_verify_against_several_files");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("floor.obj", "v 0 0 0\nv 0 0 -9000\nv 9000 0 0\nf 1 2 3\n");
    write("deck.obj", "v 0 0 5\nv 30 0 5\nv 0 30 6\nf 1 2 3\n");
    let settings = "[[source]]\nfile = \"floor.obj\"\nup = \"y\"\nunit = \"cm\"\n\
                    [[source]]\nfile = \"deck.obj\"\nyaw_deg = 30\ntranslate = [100, 20, -3]\n";
    write("s.toml", settings);
    expect(0, &folder, &["build", "--settings", "s.toml", "-o", "both.hpan"]);
    let holds_against = |files: &[&str]| -> String {
        let [out, err] =
            expect(0, &folder, &[&["verify", "both.hpan", "--samples", "500", "--against"], files].concat());
        holds(&out, &["both.hpan: every claim holds", &format!("against {}: ", files.join(", "))]);
        assert_eq!(out.matches(" 0 beyond the stated error").count(), 2, "{out}");
        err
    };
    assert_eq!(holds_against(&["floor.obj", "deck.obj"]), "");
    assert_eq!(holds_against(&["deck.obj", "floor.obj"]), "");
    expect(0, &folder, &["verify", "both.hpan", "--against", "deck.obj", "--against", "floor.obj"]);
    // by their digests: each called by the other's name, or by none that the image knows
    fs::create_dir(folder.join("later")).unwrap();
    fs::copy(folder.join("deck.obj"), folder.join("later/floor.obj")).unwrap();
    fs::copy(folder.join("floor.obj"), folder.join("later/ground.obj")).unwrap();
    assert_eq!(holds_against(&["later/floor.obj", "later/ground.obj"]), "");
    assert_eq!(holds_against(&["later/ground.obj", "deck.obj"]), "");
    // changed files by their names, said; what is left in order, said
    write("later/deck.obj", "# the deck\nv 0 0 5\nv 30 0 5\nv 0 30 6\nf 1 2 3\n");
    let err = holds_against(&["later/deck.obj", "floor.obj"]);
    assert_eq!(err, "note: later/deck.obj has changed since the image was built; it is placed as it was then\n");
    fs::copy(folder.join("later/deck.obj"), folder.join("roof.obj")).unwrap();
    let err = holds_against(&["roof.obj", "floor.obj"]);
    assert_eq!(err, "note: roof.obj is taken for deck.obj, from which the image was built, and placed as that was\n");
    // one of two; one too many; one twice
    let built = "the image was built from floor.obj, deck.obj: name each once";
    let other = "the image was not built from this file; it was built from floor.obj, deck.obj: name each once";
    for (files, wanted) in [
        (&["roof.obj"][..], format!("roof.obj: {other}")),
        (&["floor.obj", "deck.obj", "roof.obj"], format!("roof.obj: {other}")),
        (&["floor.obj", "deck.obj", "deck.obj"], format!("deck.obj: this file is named twice; {built}")),
        (&["floor.obj", "floor.obj"], format!("floor.obj: this file is named twice; {built}")),
        (&["later/deck.obj", "later/deck.obj"], format!("later/deck.obj: this file is named twice; {built}")),
        (
            &["./floor.obj"],
            "both.hpan: it was built from floor.obj, deck.obj, and not named here: deck.obj; name each: \
             hardpan verify both.hpan --against ./floor.obj deck.obj"
                .into(),
        ),
    ] {
        let why = error(2, &folder, &[&["verify", "both.hpan", "--against"], files].concat());
        assert_eq!(why, format!("error: {wanted}\n"));
    }
    // one that was placed twice
    let again = "[[source]]\nfile = \"deck.obj\"\n[[source]]\nfile = \"deck.obj\"\ntranslate = [100, 0, 0]\n";
    write("again.toml", again);
    expect(0, &folder, &["build", "--settings", "again.toml"]);
    for named in [&["deck.obj"][..], &["deck.obj", "deck.obj"]] {
        let [out, err] = expect(0, &folder, &[&["verify", "again.hpan", "--against"], named].concat());
        assert!(out.matches(" 0 beyond the stated error").count() == 2 && err.is_empty(), "{out}{err}");
        let times = if named.len() == 1 { "" } else { " (2 times)" };
        holds(&out, &[&format!("\nagainst deck.obj{times}: stated error ")]);
    }
    let why = error(2, &folder, &["verify", "again.hpan", "--against", "floor.obj"]);
    holds(&why, &["not built from this file; it was built from deck.obj (2 times): name each once"]);
    // what is typed goes before what is recorded, for all
    let [_, err] = expect(1, &folder, &["verify", "both.hpan", "--against", "floor.obj", "deck.obj", "--unit", "m"]);
    holds(&err, &["error: both.hpan: its error is larger than it states"]);
    // an image that records nothing
    expect(0, &folder, &["demo"]);
    let [_, err] = expect(1, &folder, &["verify", "hardpan-demo/proving-ground.hpan", "--against", "deck.obj"]);
    holds(&err, &["proving-ground.hpan does not say what it was built from: files are placed as typed"]);
    error(2, &folder, &["verify", "both.hpan", "--against", "floor.obj", "."]);
    let [_, err] = expect(2, &folder, &["verify", "--against", "floor.obj", "both.hpan"]);
    holds(&err, &["<FILE>", "Usage: hardpan verify <FILE> [OPTIONS]"]);
}

#[cfg(unix)]
#[test]
fn images_come_through_pipes() {
    let folder = bridge("images_come_through_pipes");
    let image = fs::read(folder.join("bridge.hpan")).unwrap();
    for arguments in [&["info", "/dev/stdin"][..], &["verify", "/dev/stdin"], &["query", "/dev/stdin", "0,0"]] {
        let mut child = Command::new(&*HARDPAN)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&image).unwrap();
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success() && !done.stdout.is_empty(), "{arguments:?}: {done:?}");
    }
}

/// Quotes keep a field whole, and hold no later line back; what goes through stays as it stood.
#[test]
fn quotes_in_points() {
    let folder = bridge("quotes_in_points");
    let write = |text: &str| fs::write(folder.join("p.csv"), text).unwrap();
    let csv = ["query", "bridge.hpan", "--csv", "p.csv"];
    write("\"x\",\"y\"\n\"0\", \"20\"\n9,\"20\"\r\n");
    let [out, _] = expect(0, &folder, &csv);
    assert_eq!(out.lines().count(), 3, "{out}");
    assert!(out.lines().nth(1).unwrap().starts_with("0,20,6,") && out.lines().nth(2).unwrap().starts_with("9,20,0,"));
    // commas and quotes in fields, in front of the numbers too, and in names
    let fields = ["\"a, b\"", "\"5\"\" pipe\"", "5\" pipe", "\"\"", "\" , \"", "\"\"\",\"\"\"", "a\"b\"c"];
    let texts = ["a, b", "5\" pipe", "5\" pipe", "", " , ", "\",\"", "a\"b\"c"];
    let lines: String = fields.iter().map(|field| format!("{field},1,2\n")).collect();
    write(&format!("\"name, \"\"short\"\"\",x,y\n{lines}"));
    let [out, _] = expect(0, &folder, &csv);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].ends_with(",label,leaf,\"name, \"\"short\"\"\"") && lines.len() == 8, "{out}");
    for (line, field) in lines[1..].iter().zip(fields) {
        assert_eq!(*line, format!("1,2,6,0,0,0.85,1,Steel plate,deck,found,top,0,,0,mesh,{field}"));
    }
    let [out, _] = expect(0, &folder, &[&csv[..], &["--json"]].concat());
    let answers: Value = serde_json::from_str(&out).unwrap();
    for (answer, text) in answers.as_array().unwrap().iter().zip(texts) {
        let wanted = if text.is_empty() { Value::Null } else { text.into() };
        assert_eq!([&answer["name, \"short\""], &answer["z"]], [&wanted, &json!(6.0)]);
    }
    // what is not read is refused, with its line and field; what comes before it is answered
    let open = "a quote is left open (field 2)\n";
    for (line, why) in [
        ("1,\"2,a\n3,4,b", open),
        ("1,\"2\"\",a", open),
        ("1, \" ,a", open),
        ("1,\"2\"0,a", "\"\"2\"0\" is not a number (field 2)\n"),
        ("1,2,\"a,b\",c", "4 fields, and 3 columns; a point is x,y or x,y,z or x,y,z,length\n"),
    ] {
        write(&format!("x,y,name\n1,2,a\n{line}\n"));
        let [out, err] = expect(2, &folder, &csv);
        assert_eq!((out.lines().count(), err), (2, format!("error: p.csv: line 3: {why}")), "{line}");
    }
    write(&format!("x,y\n1,2\n\"{}\n", ",".repeat(1 << 19)));
    holds(&error(2, &folder, &[&csv[..], &["-o", "a.csv"]].concat()), &["p.csv: line 3: ", "a quote is left open"]);
    // of a drive too, whose wheels may have any name
    write("t,wheel,x,y,z\n0,\"front, left\",1,2,7\n0,\"\"\"b\"\"\",1,2,1\n1,\"front, left\",2,2,7\n");
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "--along", "p.csv", "--plot", "p.svg"]);
    holds(&out, &["found,near,0,,0,mesh,\"front, left\",7\n", ",near,0,,0,mesh,\"\"\"b\"\"\",1\n", "\n1,1,2,2,6,"]);
    holds(&fs::read_to_string(folder.join("p.svg")).unwrap(), &[">front, left<", ">&quot;b&quot;<"]);
}

/// As JSON a field is a number where JSON reads it so, in the digits of the file; else it is text.
#[test]
fn fields_as_json() {
    let folder = bridge("fields_as_json");
    let fields = [
        ("7", "7"),
        ("-7.50", "-7.50"),
        ("1E-3", "1E-3"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("0.10000000000000000555", "0.10000000000000000555"),
        (" 5 ", "5"),
        ("\"8\"", "8"),
        ("007", "\"007\""),
        ("+7", "\"+7\""),
        ("1.", "\"1.\""),
        (".5", "\".5\""),
        ("-", "\"-\""),
        ("nan", "\"nan\""),
        ("1e999", "\"1e999\""),
        ("0x10", "\"0x10\""),
        ("2024-01-31", "\"2024-01-31\""),
        ("true", "\"true\""),
        (" a ", "\" a \""),
        ("a\tb\\", "\"a\\tb\\\\\""),
        ("\u{fc}", "\"\u{fc}\""),
        ("", "null"),
        ("  ", "null"),
    ];
    let lines: String = fields.iter().map(|(field, _)| format!("1,{field},2,+7,007\n")).collect();
    fs::write(folder.join("p.csv"), format!("x,id,y,z,length,\n{lines}")).unwrap();
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "--csv", "p.csv", "--json"]);
    let answers: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answers.as_array().unwrap().len(), fields.len());
    let found = "{\"x\":1.0,\"y\":2.0,\"z\":6.0,\"slope\":[0.0,0.0],\"mu\":0.85,\"rr\":1.0,\"material\":\"Steel plate\",\
                 \"source\":\"deck\",\"status\":\"found\",\"reach\":\"below\",\"surface_type\":0,\
                 \"cone_index\":null,\"label\":0,\"leaf\":\"mesh\",\"asked_z\":7.0,\"length\":7.0,";
    for (line, (_, wanted)) in out.lines().skip(1).zip(fields) {
        assert_eq!(line.trim().trim_end_matches(','), format!("{found}\"id\":{wanted},\"column_6\":null}}"));
    }
    // no two of one name
    for (heading, names) in [
        ("x,y,id,id", "columns 3 and 4 would both be called id"),
        ("id,x,y,\"id\"", "columns 1 and 4 would both be called id"),
        ("x,y,z,asked_z", "columns 3 and 4 would both be called asked_z"),
        ("x,y,mu,MU [1]", "columns 3 and 4 would both be called asked_mu"),
        ("x,y,,column_3", "columns 3 and 4 would both be called column_3"),
    ] {
        fs::write(folder.join("p.csv"), format!("# ids\n{heading}\n1,2,3,4\n")).unwrap();
        for option in ["--csv", "--along"] {
            let why = error(2, &folder, &["query", "bridge.hpan", option, "p.csv"]);
            let wanted = format!("p.csv: line 2: {names} beside the answers; rename one, or leave it out\n");
            assert_eq!(why, format!("error: {wanted}"));
        }
    }
    // one that is called as what was asked, where no z was
    fs::write(folder.join("p.csv"), "x,y,asked_z,Id,ID\n1,2,low,a,b\n").unwrap();
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "--csv", "p.csv", "--json"]);
    assert_eq!(out.matches("asked_z").count(), 1, "{out}");
    holds(&out, &["\"asked_z\":\"low\",\"Id\":\"a\",\"ID\":\"b\"}"]);
}

/// Output goes where a link leads, if that is a place for a file.
#[cfg(unix)]
#[test]
fn links_to_output() {
    use std::os::unix::fs::symlink;
    let folder = bridge("links_to_output");
    fs::write(folder.join("p.csv"), "1,2\n").unwrap();
    fs::create_dir(folder.join("there")).unwrap();
    let link = |to: &str, name: &str| symlink(to, folder.join(name)).unwrap();
    link("b", "a");
    link("a", "b");
    link("itself", "itself");
    link("nowhere/at all/x", "lost");
    link("/dev/full", "device");
    link("there", "folder");
    link("there/new.csv", "good");
    let query =
        |output: &str, code: i32| error(code, &folder, &["query", "bridge.hpan", "--csv", "p.csv", "-o", output]);
    for name in ["a", "b", "itself"] {
        let what = "this is a link that leads to itself, or through too many others; name another file";
        let why = format!("error: {name}: {what}\n");
        assert_eq!(query(name, 4), why);
        assert_eq!(error(4, &folder, &["build", "bridge.obj", "-o", name, "--force"]), why);
    }
    let dead = |output: &str, name: &str| {
        let hint = format!("name another file, or: rm {name}");
        format!("error: {output}: {name} is a link into a folder that is not there; {hint}\n")
    };
    assert_eq!(query("lost", 4), dead("lost", "lost"));
    assert_eq!(query("device", 2), "error: device: this is a device or a pipe, or a link to one; name a file\n");
    // a link to /dev/null is as that itself, for every output
    link("/dev/null", "null");
    fs::write(folder.join("drive.csv"), "t,x,y\n0,1,1\n1,2,2\n").unwrap();
    for null in ["/dev/null", "null", "./null"] {
        for arguments in [
            &["query", "bridge.hpan", "1,1", "-o", null][..],
            &["query", "bridge.hpan", "--along", "drive.csv", "--plot", null],
            &["build", "bridge.obj", "-o", null],
            &["build", "bridge.obj", "--report", null],
            &["materials", "bridge.obj", "-o", null],
            &["export", "obj", "bridge.hpan", "-o", null],
            &["export", "png", "bridge.hpan", "-o", null],
            &["diff", "bridge.hpan", "bridge.hpan", "--png", null],
        ] {
            expect(0, &folder, arguments);
        }
        assert!(fs::symlink_metadata(folder.join("null")).unwrap().is_symlink());
        assert!(!Path::new("/dev/null.mtl").exists() && !folder.join("null.mtl").exists());
    }
    holds(&query("folder", 2), &["folder: this is a folder; name a file in it"]);
    // a part of the path
    for (output, name) in [("lost/x.csv", "lost"), ("lost/x/y.csv", "lost"), ("itself/x.csv", "itself")] {
        assert_eq!(query(output, 4), dead(output, name));
    }
    expect(0, &folder, &["query", "bridge.hpan", "--csv", "p.csv", "-o", "good"]);
    assert!(fs::read_to_string(folder.join("there/new.csv")).unwrap().starts_with("x,y,z,"));
    assert!(fs::symlink_metadata(folder.join("good")).unwrap().is_symlink(), "the link stays");
}

/// Files of spreadsheets, and an image that has lost all of its bytes.
#[test]
fn tables_of_spreadsheets_and_empty_images() {
    let folder = bridge("tables_of_spreadsheets_and_empty_images");
    let answers = |code: i32, bytes: &[u8]| {
        fs::write(folder.join("p.csv"), bytes).unwrap();
        expect(code, &folder, &["query", "bridge.hpan", "--csv", "p.csv"])
    };
    let plain = "x,y\n1,2\n# of no use, \"\n30,4\n";
    let [wanted, _] = answers(0, plain.as_bytes());
    assert_eq!(wanted.lines().count(), 3);
    for big in [false, true] {
        let unit = |u: u16| if big { u.to_be_bytes() } else { u.to_le_bytes() };
        let utf16: Vec<u8> = "\u{feff}".encode_utf16().chain(plain.encode_utf16()).flat_map(unit).collect();
        assert_eq!(answers(0, &utf16)[0], wanted);
        // not without the mark
        answers(2, &utf16[2..]);
    }
    // a comment may be in any encoding
    assert_eq!(answers(0, b"x,y\n1,2\n# \xdf\n30,4\n")[0], wanted);
    for (text, why) in [
        ("x,y\n1,#none\n", "line 2: \"#none\" is not a number (field 2)"),
        ("x,y\n\"1,5\",2\n", "line 2: \"1,5\" is not a number (field 1)"),
        ("x:y;z,name\n1;2;3,a\n", "has no x and no y; "),
        ("2\n", "line 1: no y; a point is x,y"),
    ] {
        holds(&answers(2, text.as_bytes())[1], &["error: p.csv: ", why]);
    }
    let whole = fs::read(folder.join("bridge.hpan")).unwrap();
    for cut in [0, 3, 100, whole.len() - 1] {
        fs::write(folder.join("cut.hpan"), &whole[..cut]).unwrap();
        for (command, code) in [("verify", 1), ("info", 2)] {
            holds(&error(code, &folder, &[command, "cut.hpan"]), &["cut short"]);
        }
    }
    fs::write(folder.join("cut.hpan"), "no image").unwrap();
    holds(&error(2, &folder, &["verify", "cut.hpan"]), &["not a terrain image"]);
}

/// A source that never ends is refused at its start.
#[cfg(target_os = "linux")]
#[test]
fn endless_files_are_no_images_and_no_points() {
    let folder = bridge("endless_files_are_no_images_and_no_points");
    for arguments in
        [&["info", "/dev/zero"][..], &["query", "/dev/urandom", "0,0"], &["diff", "bridge.hpan", "/dev/zero"]]
    {
        holds(&error(2, &folder, arguments), &["this is not a terrain image"]);
    }
    for drive in
        [&["query", "bridge.hpan", "--along", "/dev/zero"][..], &["bench", "bridge.hpan", "--along", "/dev/zero"]]
    {
        holds(&error(2, &folder, drive), &["/dev/zero: line 1: longer than 1 MiB"]);
    }
    for arguments in [&["info", "bridge.hpan"][..], &["--help"], &["build", "-h"], &["--version"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let done = Command::new(&*HARDPAN).args(arguments).current_dir(&folder).stdout(full).output().unwrap();
        assert_eq!(done.status.code(), Some(4), "{arguments:?}");
        holds(&String::from_utf8(done.stderr).unwrap(), &["error: output: the disk is full"]);
    }
}

/// One of two materials at one height answers. A warning names them and the area where their frictions differ.
#[test]
fn ground_of_two_frictions_at_one_height_is_told() {
    let folder = folder("two_frictions_at_one_height");
    let rule = |name: &str, key: &str, v: f64| format!("[[material]]\nname = \"{name}\"\n{key} = {v:?}\n");
    let rules = |ice: f64| {
        fs::write(folder.join("s.toml"), rule("Road", "mu", 0.9) + &rule("Ice", "mu", ice)).unwrap();
    };
    // a rectangle of a material: least and greatest x, the same of y, heights at either end
    let sheet = |name: &str, x: [f64; 2], y: [f64; 2], z: [f64; 2]| {
        let corner = |i: usize, j: usize| format!("v {} {} {}\n", x[i], y[j], z[i]);
        format!("usemtl {name}\n{}{}{}{}f -4 -3 -2 -1\n", corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1))
    };
    let strict = |sheets: &[String], code| {
        fs::write(folder.join("a.obj"), sheets.concat()).unwrap();
        expect(code, &folder, &["build", "a.obj", "--settings", "s.toml", "--stitch", "false", "--strict"])[1].clone()
    };
    let road = sheet("Road", [0.0, 100.0], [0.0, 10.0], [0.0; 2]);
    let cases = [
        (sheet("Ice", [4.5, 6.5], [4.5, 6.5], [0.0; 2]), "4.0 m2"),
        // a crossroads, a shoulder, and one that is not as high everywhere: 0.8 mm beside the road and 1.6 mm at its
        // end
        (sheet("Ice", [40.0, 50.0], [-40.0, 60.0], [0.0; 2]), "100.0 m2"),
        (sheet("Ice", [-5.0, 105.0], [8.4, 20.0], [0.0; 2]), "160.0 m2"),
        (sheet("Ice", [0.0, 100.0], [0.0, 10.0], [0.0, 0.001953125]), "500.0 m2"),
    ];
    for (ice, area) in &cases {
        rules(0.1);
        let said = strict(&[road.clone(), ice.clone()], 1);
        let told = "warning: a.obj: \"Ice\" (mu 0.1) and \"Road\" (mu 0.9) lie at one height on ";
        holds(&said, &[told, area, "raise it by 2 mm, or cut it out of the other"]);
        // it is so where it says that it is
        let place = said.split_once("; at ").unwrap().1;
        let [at, answers] = [0, 1].map(|i| place.split(' ').nth(i).unwrap().trim_matches('"'));
        expect(0, &folder, &["build", "a.obj", "--settings", "s.toml", "--stitch", "false"]);
        holds(&expect(0, &folder, &["query", "a.hpan", at])[0], &[answers]);
        // as friction tells them apart
        rules(0.9);
        assert_eq!(strict(&[road.clone(), ice.clone()], 0), "");
    }
    // friction is rolling resistance too
    fs::write(folder.join("s.toml"), rule("Road", "mu", 0.9) + &rule("Ice", "mu", 0.9) + "rr = 5\n").unwrap();
    holds(
        &strict(&[road.clone(), cases[1].0.clone()], 1),
        &["\"Ice\" (rr 5) and \"Road\" (rr 1) lie at one height on 100.0 m2"],
    );
    // what lies higher, goes through, or lies side by side but for rounding
    rules(0.1);
    let apart = [
        sheet("Ice", [4.0, 6.0], [4.0, 6.0], [0.002; 2]),
        sheet("Ice", [0.0, 100.0], [0.0, 10.0], [-1.0, 1.0]),
        sheet("Ice", [0.0, 100.0], [9.99995, 12.0], [0.0; 2]),
    ];
    for ice in apart {
        assert_eq!(strict(&[road.clone(), ice], 0), "");
    }
    // nor do decks above hide it
    let decks = (1..20).map(|k| sheet("Road", [0.0, 100.0], [0.0, 10.0], [3.0 * f64::from(k); 2]));
    let tower: Vec<String> = decks.chain([road, cases[1].0.clone()]).collect();
    holds(&strict(&tower, 1), &["100.0 m2"]);
}

/// A rule of VS Terrain that would divide without end stops soon, in little memory; what it divides too far it names.
#[cfg(unix)]
#[test]
fn a_preset_that_divides_too_far_is_refused() {
    let folder = folder("a_preset_that_divides_too_far");
    // one over the other, which no smaller square tells apart
    let sheet = |k: u32| format!("v 0 0 {k}\nv 60 0 {k}\nv 0 60 {k}\nf -3 -2 -1\n");
    fs::write(folder.join("stack.obj"), (0..48).map(sheet).collect::<String>()).unwrap();
    let line = ["build", "stack.obj", "--up", "z", "--unit", "m"];
    let build = |more: &[&str], code: i32| {
        let script = "ulimit -v 3000000; ulimit -t 60; exec \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        let typed = [&line[..], more].concat();
        let done = command.args(["-c", script]).arg(&*HARDPAN).args(typed).current_dir(&folder).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(code), "{said}");
        said
    };
    let cause = format!(
        "error: stack.obj: preset dense divides this ground too far: it asks for more than 256 MiB of index for 48 triangles; \
         leave it out, or give a greater bundle_size or min_volume: without --preset [build.split] of {SETTINGS} holds\n"
    );
    for threads in ["1", "2"] {
        holds(&build(&["--preset", "dense", "--tile", "14", "--threads", threads], 2), &[&cause]);
    }
    assert!(!folder.join("stack.hpan").exists());
    // what covers all squares shows that before anything is built
    let plate = |k: u32| {
        let z = f64::from(k) / 2.0;
        format!("v 0 0 {z}\nv 1000 0 {z}\nv 1000 1000 {z}\nv 0 1000 {z}\nf -4 -3 -2 -1\n")
    };
    fs::write(folder.join("plates.obj"), (0..20).map(plate).collect::<String>()).unwrap();
    for preset in ["default", "dense"] {
        let [_, why] = soon(2, 2, &folder, &["build", "plates.obj", "--up", "z", "--preset", preset]);
        holds(&why, &[&format!("error: plates.obj: preset {preset} divides this ground too far")]);
        assert!(why.ends_with(&format!("without --preset [build.split] of {SETTINGS} holds\n")), "{why}");
    }
    // and so does what is divided finely, waves and all
    let places = |n: u32| (0..n).flat_map(move |j| (0..n).map(move |i| [i, j]));
    let grid = |cells: u32, k: u32| {
        let vertex = |at: [u32; 2]| {
            let [x, y] = at.map(|v| 1000.0 / f64::from(cells) * f64::from(v));
            format!("v {x} {y} {:.3}\n", 3.0 * f64::from(k) + 5.0 * (x / 90.0).sin() * (y / 70.0).cos())
        };
        let face = |[i, j]: [u32; 2]| {
            let [a, b] = [j, j + 1].map(|j| 1 + (k * (cells + 1) + j) * (cells + 1) + i);
            format!("f {a} {} {} {b}\n", a + 1, b + 1)
        };
        places(cells + 1).map(vertex).chain(places(cells).map(face)).collect::<String>()
    };
    for (cells, seconds) in [(20, 1), (100, 3)] {
        fs::write(folder.join("grids.obj"), (0..20).map(|k| grid(cells, k)).collect::<String>()).unwrap();
        for preset in ["default", "dense"] {
            let [_, why] = soon(seconds, 2, &folder, &["build", "grids.obj", "--up", "z", "--preset", preset]);
            holds(&why, &[&format!("error: grids.obj: preset {preset} divides this ground too far")]);
        }
    }
    // and so it goes
    expect(0, &folder, &[&["materials", "stack.obj", "-o", "s.toml"], &line[2..]].concat());
    let written = fs::read_to_string(folder.join("s.toml")).unwrap();
    holds(&written, &["\n# [build.split]\n", "\n# bundle_size = 8\n"]);
    let edited = written.replace("# [build.split]", "[build.split]").replace("# bundle_size = 8", "bundle_size = 48");
    fs::write(folder.join("s.toml"), edited).unwrap();
    for more in [&["--settings", "s.toml"][..], &[]] {
        build(more, 0);
        holds(&expect(0, &folder, &["query", "stack.hpan", "9,9"])[0], &["47.000000"]);
    }
    fs::write(folder.join("s.toml"), "[build.split]\nbundle_size = 1\nmin_volume = 0\n").unwrap();
    holds(&build(&["--settings", "s.toml"], 2), &["error: stack.obj: [build.split] divides this ground too far"]);
    // what it divides far, but not too far, is reported
    let small = |k: u32| sheet(k).replace("60", "6");
    fs::write(folder.join("stack.obj"), (0..24).map(small).collect::<String>()).unwrap();
    let far = &format!(
        " bytes a triangle: preset default divides this ground far; without it, or with a greater bundle_size or min_volume under [build.split] of {SETTINGS}, it takes less\n"
    );
    holds(&build(&["--preset", "default"], 0), &["note: stack.obj: ", far]);
    assert!(!build(&[], 0).contains("bytes a triangle"));
    // and sooner, as somebody asked for it
    let smaller = |k: u32| sheet(k).replace("60", "3");
    fs::write(folder.join("stack.obj"), (0..24).map(smaller).collect::<String>()).unwrap();
    holds(&build(&["--preset", "default"], 0), &["note: stack.obj: ", far]);
}

/// Threads change the time that a build takes, and no byte.
#[test]
fn a_build_on_any_number_of_threads() {
    let folder = bridge("a_build_on_any_number_of_threads");
    let image = |threads| {
        expect(0, &folder, &["build", "bridge.obj", "--tile", "14", "--threads", threads]);
        fs::read(folder.join("bridge.hpan")).unwrap()
    };
    assert!(image("1") == image("2") && image("2") == image("5"));
    for bad in ["0", "-1", "many"] {
        expect(2, &folder, &["build", "bridge.obj", "--threads", bad]);
    }
}

/// Where `-` is not stdout it is no name of a file either.
#[test]
fn a_dash_is_no_name_of_output() {
    let folder = bridge("a_dash_is_no_name_of_output");
    fs::write(folder.join("p.csv"), "1,2\n").unwrap();
    let there = || fs::read_dir(&folder).unwrap().count();
    let before = there();
    for line in [
        &["build", "bridge.obj", "-o"][..],
        &["build", "bridge.obj", "--report"],
        &["export", "png", "bridge.hpan", "-o"],
        &["man", "-o"],
        &["query", "bridge.hpan", "--csv", "p.csv", "-o"],
    ] {
        let why = error(2, &folder, &[line, &["-"]].concat());
        assert_eq!(
            why,
            "error: -: this would be a file or a folder, and not stdout; name another one, or to call it so: ./-\n"
        );
    }
    assert_eq!(there(), before);
    expect(0, &folder, &["build", "bridge.obj", "-o", "./-"]);
    expect(0, &folder, &["verify", "./-"]);
}

/// Seams are no damage: what `--no-seams` says to type takes them away, or shows them.
#[test]
fn seams_that_are_a_fault_say_what_helps() {
    let folder = folder("seams_that_are_a_fault");
    let sheet = |x: f64| {
        let far = x + 10.0;
        format!("v {x} -210 3\nv {far} -210 3\nv {far} -200 3\nv {x} -200 3\nf -4 -3 -2 -1\n")
    };
    fs::write(folder.join("a.obj"), sheet(5000.0) + &sheet(5010.0005)).unwrap();
    let build = |more: &[&str]| expect(0, &folder, &[&["build", "a.obj"], more].concat());
    build(&["--stitch", "false"]);
    holds(&expect(0, &folder, &["verify", "a.hpan"])[0], &["seams      note"]);
    // in the form of all findings
    let facts: Value =
        serde_json::from_str(&expect(1, &folder, &["verify", "a.hpan", "--no-seams", "--json"])[0]).unwrap();
    let seams = facts["checks"].as_array().unwrap().iter().find(|check| check["name"] == "seams").unwrap();
    let found = findings_have_one_form(&seams["findings"]);
    assert_eq!(
        (&found[0]["code"], &found[0]["severity"], &found[0]["place"][2]),
        (&json!("seams"), &json!("error"), &Value::Null)
    );
    let [out, why] = expect(1, &folder, &["verify", "a.hpan", "--no-seams"]);
    holds(&out, &["a.hpan: every claim holds, but --no-seams finds seams\n", "seams      fail"]);
    let near = |y: i32| {
        format!("near (5010.000, {y}.000): an open edge ends within the stitch threshold of another, at z 3.000\n")
    };
    holds(&out, &[": 4 found\n", &near(-210), &near(-200)]);
    let then = "mend the source there, or if it was built without stitching, build it with --stitch 4,64";
    holds(&why, &["error: a.hpan: seams: ", then, "; to see them: hardpan export png a.hpan --map holes\n"]);
    let [out, _] = expect(0, &folder, &["export", "png", "a.hpan", "--map", "holes"]);
    holds(&out, &["gap 0.488 mm wide, "]);
    build(&["--stitch", "4,64"]);
    expect(0, &folder, &["verify", "a.hpan", "--no-seams"]);
}

/// Threads are no more than four a core, whoever asks: thousands take half a minute to begin.
#[cfg(target_os = "linux")]
#[test]
fn threads_are_four_a_core_at_most() {
    let folder = bridge("threads_are_four_a_core_at_most");
    let most = 4 * std::thread::available_parallelism().unwrap().get();
    let real = verification::obj::real_file("city/3dfier_innerbuffer_05.obj");
    let Some(real) = real else { return };
    let threads = |arguments: &[&str], environment: &str| {
        let mut child = Command::new(&*HARDPAN)
            .args(["build", real.to_str().unwrap(), "-o", "out.hpan"])
            .args(arguments)
            .env("RAYON_NUM_THREADS", environment)
            .current_dir(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut count = 0;
        while child.try_wait().unwrap().is_none() {
            let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten();
            count = count.max(tasks.count());
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        count
    };
    for (arguments, environment) in [(&["--threads", "4000"][..], ""), (&[], "4000")] {
        let count = threads(arguments, environment);
        assert!((most..most + 4).contains(&count), "{count} of {most}");
    }
    let few = threads(&["--threads", "1"], "4000");
    assert!(few < 4, "{few}");
}

/// Names may have 255 bytes, and temporary names are no longer.
#[cfg(unix)]
#[test]
fn long_names_of_files() {
    let folder = bridge("long_names_of_files");
    for stem in ["n".repeat(250), "n".repeat(240), "\u{e4}".repeat(120), "\u{1F699}".repeat(62)] {
        let name = format!("{stem}.hpan");
        expect(0, &folder, &["build", "bridge.obj", "-o", &name]);
        assert_eq!(info(&folder, &name)["triangles"], json!(4), "{} bytes", name.len());
    }
    let left = fs::read_dir(&folder).unwrap().filter(|f| f.as_ref().unwrap().path().extension().unwrap() == "tmp");
    assert_eq!(left.count(), 0);
    error(4, &folder, &["build", "bridge.obj", "-o", &format!("{}.hpan", "n".repeat(251))]);
}

/// Where stdout was closed before the start the answer is lost, and that is an error; a reader that goes away is none.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_stdout_is_an_error() {
    let folder = bridge("a_closed_stdout_is_an_error");
    let run = |line: &str| {
        let done = Command::new("sh").args(["-c", line]).arg(&*HARDPAN).current_dir(&folder).output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    for typed in ["info bridge.hpan", "query bridge.hpan 0,0", "query bridge.hpan 0,0 --json", "--help", "--version"] {
        let (code, err) = run(&format!("\"$0\" {typed} >&-"));
        assert_eq!(code, Some(4), "{typed}: {err}");
        assert!(err.starts_with("error: ") && err.lines().count() == 1, "{typed}: {err}");
        assert_eq!(run(&format!("\"$0\" {typed} >/dev/null")), (Some(0), String::new()), "{typed}");
        assert_eq!(run(&format!("\"$0\" {typed} <&- >/dev/null")).0, Some(0), "{typed}");
    }
    assert_eq!(run("\"$0\" query bridge.hpan 0,0 1</dev/null").0, Some(4));
    assert_eq!(run("\"$0\" build bridge.obj -o built.hpan >&-").0, Some(4));
    // what goes to a file is there all the same
    assert_eq!(run("\"$0\" query bridge.hpan 0,0 --json -o answers.json >&-").0, Some(0));
    assert!(folder.join("answers.json").exists());
    assert_eq!(run("\"$0\" query bridge.hpan 0,0 | true").0, Some(0));
}
