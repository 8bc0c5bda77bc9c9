//! Runs the command of this build.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{LazyLock, Mutex, PoisonError},
};

/// The command of this build. `HARDPAN_BIN` names another one.
pub static HARDPAN: LazyLock<PathBuf> = LazyLock::new(|| {
    env::var_os("HARDPAN_BIN").map_or_else(|| env!("CARGO_BIN_EXE_hardpan-tested").into(), PathBuf::from)
});

/// A floor at 0 with a deck at 6 over |x| <= 5, in two objects of two materials.
pub const BRIDGE: &str = "\
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

/// Output of a build without its note about missing friction, which has a test of its own.
pub fn but_friction(said: &str) -> String {
    let plain = |line: &&str| line.starts_with("note: ") && line.contains(": mu is 0.85 by default of ");
    said.split_inclusive('\n').filter(|line| !plain(line)).collect()
}

/// An empty folder for one test, which no other test may ask for.
#[track_caller]
pub fn folder(test: &str) -> PathBuf {
    static TAKEN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    // a test's thread has its name
    let own = std::thread::current().name().unwrap_or_default().to_owned();
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let owner = taken.entry(test.into()).or_insert(own.clone());
    assert!(*owner == own, "{owner} has the folder {test}");
    drop(taken);
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
pub fn expect(code: i32, folder: &Path, arguments: &[&str]) -> [String; 2] {
    ended(code, hardpan(folder, arguments), arguments)
}

/// As [`expect`], in at most so many seconds of processor time.
#[track_caller]
pub fn soon(seconds: u32, code: i32, folder: &Path, arguments: &[&str]) -> [String; 2] {
    let script = format!("ulimit -t {seconds}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(&*HARDPAN).args(arguments).current_dir(folder);
    ended(code, command.output().unwrap(), arguments)
}

#[track_caller]
pub fn ended(code: i32, Output { status, stdout, stderr }: Output, arguments: &[&str]) -> [String; 2] {
    let text = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(status.code(), Some(code), "hardpan {arguments:?}: {status}\n{}\n{}", text[0], text[1]);
    text
}

/// The one line that an error prints.
#[track_caller]
pub fn error(code: i32, folder: &Path, arguments: &[&str]) -> String {
    let [out, err] = expect(code, folder, arguments);
    assert!(out.is_empty(), "{out}");
    assert!(err.starts_with("error: ") && err.trim_end().lines().count() == 1, "{err}");
    err
}

/// A new folder with an image of [`BRIDGE`], `bridge.hpan`.
pub fn bridge(test: &str) -> PathBuf {
    let folder = folder(test);
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    expect(0, &folder, &["build", "bridge.obj"]);
    folder
}

/// Output of `info --json`.
#[track_caller]
pub fn info(folder: &Path, image: &str) -> serde_json::Value {
    serde_json::from_str(&expect(0, folder, &["info", image, "--json"])[0]).unwrap()
}

/// Kinds of findings about how sources lie.
pub const OF_SOURCES: [&str; 5] = ["orientation", "degrees", "unit", "no-data", "precision"];

/// Those of a build, each with its severity, and the build's exit code.
#[track_caller]
pub fn found(folder: &Path, arguments: &[&str]) -> (i32, Vec<[String; 2]>) {
    let (code, report) = report(folder, arguments);
    let text = |finding: &serde_json::Value, key: &str| finding[key].as_str().unwrap().to_string();
    let found = report["findings"].as_array().unwrap().iter();
    let found = found.map(|f| [text(f, "severity"), text(f, "code")]);
    (code, found.filter(|[_, code]| OF_SOURCES.contains(&code.as_str())).collect())
}

/// The report of a build, and its exit code.
pub fn report(folder: &Path, arguments: &[&str]) -> (i32, serde_json::Value) {
    let output = hardpan(folder, &[&["build"], arguments, &["-o", "found.hpan", "--json"]].concat());
    (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap())
}

/// Findings of `check` of a kind. Exit code 1 says that there is more than notes, or that an analysis could not run.
#[track_caller]
pub fn check(folder: &Path, kind: &str, arguments: &[&str]) -> serde_json::Value {
    let arguments = [&["check"], arguments, &["--only", kind, "--json"]].concat();
    let Output { status, stdout, stderr } = hardpan(folder, &arguments);
    let facts: serde_json::Value = serde_json::from_slice(&stdout)
        .unwrap_or_else(|_| panic!("hardpan {arguments:?}: {}", String::from_utf8_lossy(&stderr)));
    let look = facts["looks"].get(kind).cloned().unwrap_or_default();
    let notes = look["findings"].as_array().is_none_or(|all| all.iter().all(|finding| finding["severity"] == "note"));
    let clean = !look["found"].is_null() && notes && look["skipped"].is_null();
    assert_eq!((status.code(), &facts["passed"]), (Some(i32::from(!clean)), &clean.into()), "{arguments:?}: {facts}");
    look
}

/// Findings, which have the form that the schema of reports states.
#[track_caller]
pub fn findings_have_one_form(findings: &serde_json::Value) -> &Vec<serde_json::Value> {
    let schema = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../builder/report.schema.json"));
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let of_list =
        serde_json::json!({ "$defs": schema["$defs"], "type": "array", "items": { "$ref": "#/$defs/finding" } });
    assert!(jsonschema::is_valid(&of_list, findings), "{:?}", jsonschema::validate(&of_list, findings));
    let findings = findings.as_array().unwrap();
    assert!(!findings.is_empty());
    findings
}

/// The value of a name that a finding has.
#[track_caller]
pub fn value(finding: &serde_json::Value, name: &str) -> f64 {
    let values = finding["values"].as_array().unwrap();
    let value = values.iter().find(|v| v["name"] == name).unwrap_or_else(|| panic!("no {name} in {finding}"));
    value["value"].as_f64().unwrap()
}

/// That value of all findings.
#[track_caller]
pub fn values(look: &serde_json::Value, name: &str) -> Vec<f64> {
    look["findings"].as_array().unwrap().iter().map(|finding| value(finding, name)).collect()
}

/// Where hints say that a key belongs.
pub const SETTINGS: &str = "the settings (--settings FILE.toml, which hardpan materials FILES -o FILE.toml writes)";

/// Expects parts in a text.
#[track_caller]
pub fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}
