//! The command, as it is typed: output, files and exit codes.

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::LazyLock,
};

/// The command of this build. `HARDPAN_BIN` names another one.
static HARDPAN: LazyLock<PathBuf> = LazyLock::new(|| {
    if let Some(path) = env::var_os("HARDPAN_BIN") {
        return path.into();
    }
    // .../target/PROFILE/deps/command-HASH
    let this = env::current_exe().unwrap();
    let folder = this.ancestors().nth(2).unwrap();
    let profile = match folder.file_name().unwrap().to_str().unwrap() {
        "debug" => "dev",
        name => name,
    };
    let done = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--locked",
            "--package",
            "hardpan-builder",
            "--bin",
            "hardpan",
            "--profile",
            profile,
        ])
        .arg("--target-dir")
        .arg(folder.parent().unwrap())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .unwrap();
    assert!(done.success());
    folder.join("hardpan")
});

/// An empty folder for one test.
fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn hardpan(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(&*HARDPAN).args(arguments).current_dir(folder).output().unwrap()
}

/// Runs, expects an exit code, and gives back stdout and stderr.
#[track_caller]
fn expect(code: i32, folder: &Path, arguments: &[&str]) -> [String; 2] {
    let Output { status, stdout, stderr } = hardpan(folder, arguments);
    let text = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(status.code(), Some(code), "hardpan {arguments:?}\n{}\n{}", text[0], text[1]);
    text
}

/// The one line that an error prints.
#[track_caller]
fn error(code: i32, folder: &Path, arguments: &[&str]) -> String {
    let [out, err] = expect(code, folder, arguments);
    assert!(out.is_empty(), "{out}");
    assert!(err.starts_with("error: ") && err.trim_end().lines().count() == 1, "{err}");
    err
}

/// A floor at 0 with a deck at 6 over |x| <= 5, in two objects of two materials.
const BRIDGE: &str = "\
o floor
v -50 -50 0
v 50 -50 0
v 50 50 0
v -50 50 0
usemtl Asphalt
f 1 2 3 4
o deck
v -5 -50 6
v 5 -50 6
v 5 50 6
v -5 50 6
usemtl Steel plate
f 5 6 7 8
";

fn bridge(test: &str) -> PathBuf {
    let folder = folder(test);
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    expect(0, &folder, &["build", "bridge.obj"]);
    folder
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn build_info_query() {
    let folder = bridge("build_info_query");
    let [out, _] = expect(0, &folder, &["info", "bridge.hpan"]);
    assert!(out.contains("Steel plate") && out.contains("triangles   4 in"), "{out}");

    let [out, _] = expect(0, &folder, &["info", "bridge.hpan", "--json"]);
    let info = json(&out);
    assert_eq!(info["triangles"], 4);
    assert_eq!(info["bounds"]["min"], serde_json::json!([-50.0, -50.0, 0.0]));
    assert_eq!(info["bounds"]["max"], serde_json::json!([50.0, 50.0, 6.0]));
    assert_eq!(info["identity"].as_str().unwrap().len(), 64);
    assert_eq!(info["materials"][1]["name"], "Steel plate");
    assert_eq!(info["sources"], serde_json::json!(["floor", "deck"]));
    assert_eq!(info["bytes"].as_u64().unwrap(), fs::metadata(folder.join("bridge.hpan")).unwrap().len());

    // the highest; the nearest; the first below within a length; none
    let points = ["-1,0", "0,0,2.9", "0,0,3", "0,0,3.1", "0,0,7,2", "0,0,5,2", "0,0,5,6", "70,0"];
    let [out, _] = expect(0, &folder, &[&["query", "bridge.hpan", "--json"], &points[..]].concat());
    let answers = json(&out);
    let z: Vec<Option<f64>> = answers.as_array().unwrap().iter().map(|a| a["z"].as_f64()).collect();
    assert_eq!(z, [Some(6.0), Some(0.0), Some(0.0), Some(6.0), Some(6.0), None, Some(0.0), None]);
    assert_eq!(answers[0]["material"], "Steel plate");
    assert_eq!(answers[0]["source"], "deck");
    assert_eq!(answers[1]["reach"], "near");
    assert_eq!(answers[5]["status"], "no ground");
}

#[test]
fn layers_and_explain() {
    let folder = bridge("layers_and_explain");
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "0,0", "20,0", "--layers", "--json"]);
    let rows = json(&out);
    let rows: Vec<_> = rows.as_array().unwrap().iter().map(|r| (r["layer"].as_u64(), r["z"].as_f64())).collect();
    assert_eq!(rows, [(Some(1), Some(6.0)), (Some(2), Some(0.0)), (Some(1), Some(0.0))]);

    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "1,-2,1", "--explain"]);
    assert!(out.contains("candidate  z 6.0") && out.contains("candidate  z 0.0"), "{out}");
    assert!(out.contains("answer     z 0.0") && out.contains("stated for this image"), "{out}");
}

#[test]
fn csv_in_and_out() {
    let folder = bridge("csv_in_and_out");
    fs::write(folder.join("points.csv"), "x,y,z,length\n# mixed shapes\n-1,0\n0,0,2\n\n0, 0, 5, 2\n9,9,,\n").unwrap();
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "--csv", "points.csv"]);
    assert_eq!(
        out,
        "x,y,z,slope_x,slope_y,mu,rr,material,source,status,reach\n\
         -1,0,6,0,0,0.85,1,Steel plate,deck,found,top\n\
         0,0,0,0,0,0.85,1,Asphalt,floor,found,near\n\
         0,0,,,,,,,,no ground,\n\
         9,9,0,0,0,0.85,1,Asphalt,floor,found,top\n"
    );
    expect(0, &folder, &["query", "bridge.hpan", "--csv", "points.csv", "-o", "out.csv"]);
    assert_eq!(fs::read_to_string(folder.join("out.csv")).unwrap(), out);

    let mut child = Command::new(&*HARDPAN)
        .args(["query", "bridge.hpan", "--csv", "-"])
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"-1,0\n").unwrap();
    let piped = child.wait_with_output().unwrap();
    assert!(piped.status.success());
    assert_eq!(String::from_utf8(piped.stdout).unwrap().lines().count(), 2);

    fs::write(folder.join("bad.csv"), "1,2\n3,four\n").unwrap();
    let [_, err] = expect(2, &folder, &["query", "bridge.hpan", "--csv", "bad.csv"]);
    assert!(err.contains("bad.csv: line 2: \"four\" is not a number"), "{err}");
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
    let [out, _] = expect(0, &folder, &["info", "y.hpan", "--json"]);
    assert_eq!(json(&out)["bounds"]["max"], serde_json::json!([20.0, 40.0, 3.0]));
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
    error(2, &folder, &["build", "bridge.obj", "-o", "nowhere/a.hpan"]);
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "nothing is left behind: {names:?}");
}

#[test]
fn exit_codes() {
    let folder = bridge("exit_codes");
    // 1: a check failed
    let mut image = fs::read(folder.join("bridge.hpan")).unwrap();
    let middle = image.len() - 100;
    image[middle] ^= 4;
    fs::write(folder.join("damaged.hpan"), &image).unwrap();
    for arguments in [&["info", "damaged.hpan"][..], &["query", "damaged.hpan", "0,0"]] {
        let why = error(1, &folder, arguments);
        assert!(why.contains("damaged.hpan: "), "{why}");
    }
    fs::write(folder.join("blank.hpan"), [0xFF; 4096]).unwrap();
    error(1, &folder, &["info", "blank.hpan"]);
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
    fs::write(folder.join("car.fbx"), "Kaydara FBX Binary").unwrap();
    let why = error(3, &folder, &["build", "car.fbx"]);
    assert!(why.contains("OBJ"), "{why}");
    // 0: asked for
    expect(0, &folder, &["--help"]);
    let [out, _] = expect(0, &folder, &["--version"]);
    assert!(out.starts_with("hardpan ") && out.contains("image format"), "{out}");
}

#[test]
fn demo() {
    let folder = folder("demo");
    let [out, err] = expect(0, &folder, &["demo"]);
    assert!(err.is_empty(), "{err}");
    assert!(out.contains(" 0 without ground"), "{out}");
    assert!(out.contains("split mu") && out.contains("0.95  0.20"), "{out}");
    let picture = fs::read(folder.join("hardpan-demo/relief.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 10_000);

    // on the bridge, under it, and what the demo says to try
    let image = "hardpan-demo/proving-ground.hpan";
    let [out, _] = expect(0, &folder, &["query", image, "-20,30", "-20,30,1.5", "--json"]);
    let answers = json(&out);
    assert_eq!((answers[0]["z"].as_f64(), answers[1]["z"].as_f64()), (Some(5.25), Some(0.0)));
    expect(0, &folder, &["query", image, "-20,30", "--layers"]);
    expect(0, &folder, &["query", image, "-20,30,1.5", "--explain"]);
    expect(0, &folder, &["demo"]);
}
