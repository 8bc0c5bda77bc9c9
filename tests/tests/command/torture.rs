//! Input nobody should have, places nobody can write to, and builds that are stopped: through the command.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    io::Write as _,
    os::unix::{fs::FileExt, fs::PermissionsExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::shell::{HARDPAN, error, expect, folder, holds};
use serde_json::Value;
use verification::{obj::real, random::Random};

const SQUARE: &str = "v 0 0 0\nv 10 0 0\nv 10 10 0\nv 0 10 0\nf 1 2 3 4\n";

/// Runs in at most 20 s of processor time, ten of two cores, and 1 GiB of address space, of which one arena of the
/// allocator: what more of them reserve, by chance of the threads, is no memory.
fn bounded(folder: &Path, arguments: &[&str]) -> Output {
    within(20, folder, arguments)
}

/// As [`bounded`], in so much processor time.
fn within(seconds: u32, folder: &Path, arguments: &[&str]) -> Output {
    Command::new("sh")
        .args(["-c", &format!("ulimit -v 1048576; ulimit -t {seconds}; exec \"$0\" \"$@\"")])
        .arg(&*HARDPAN)
        .args(arguments)
        .current_dir(folder)
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap()
}

fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect()
}

/// Checks stderr: no panic, nothing that steers a terminal, and one error if there is one.
#[track_caller]
fn told(done: &Output) -> String {
    let text = String::from_utf8(done.stderr.clone()).unwrap();
    assert_eq!(done.status.signal(), None, "{text}");
    assert!(!text.contains("panicked") && !text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    let errors = text.lines().filter(|l| l.starts_with("error: ")).count();
    assert_eq!(errors, usize::from(!done.status.success()), "{text}");
    text
}

/// A torn field of squares over 100 m, `side` a side.
fn field(side: u32) -> String {
    let (mut text, mut r) = (String::new(), Random(3));
    for y in 0..=side {
        for x in 0..=side {
            let [x, y] = [x, y].map(|v| f64::from(v) * 100.0 / f64::from(side));
            writeln!(text, "v {x} {y} {}", r.below(1000) as f64 / 1e4).unwrap();
        }
    }
    for i in (0..side * side).filter(|i| i % 7 != 0) {
        let a = i / side * (side + 1) + i % side + 1;
        writeln!(text, "f {a} {} {} {}", a + 1, a + side + 2, a + side + 1).unwrap();
    }
    text
}

#[test]
fn vt_24_cg_01_bad_files_through_every_command() {
    let here = folder("bad_files_through_every_command");
    fs::write(here.join("square.obj"), SQUARE).unwrap();
    expect(0, &here, &["build", "square.obj", "-o", "kept.hpan"]);
    let kept = fs::read(here.join("kept.hpan")).unwrap();
    let before = names(&here);
    for file in [real("malformed"), real("obj_odd")].concat() {
        let (path, name) = (file.to_str().unwrap(), file.file_name().unwrap().to_str().unwrap());
        let has = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        let is_mesh = has(&[".obj", ".fbx"]);
        for command in ["build", "verify", "info", "materials"] {
            let more: &[&str] = match command {
                "build" if is_mesh => &["--up", "z", "-o", "kept.hpan"],
                "build" => &["-o", "kept.hpan"],
                _ => &[],
            };
            let done = bounded(&here, &[&[command, path], more].concat());
            let (code, text) = (done.status.code(), told(&done));
            let expected: &[i32] = match command {
                "verify" if fs::metadata(&file).unwrap().len() == 0 => &[1], // an image that is cut short
                "verify" | "info" => &[2],
                _ if is_mesh => &[0, 2],
                _ if has(&[".mtl", ".json"]) => &[3],
                // bad input of a format that is read, or a kind of it that is not
                _ => &[2, 3],
            };
            assert!(code.is_some_and(|c| expected.contains(&c)), "{command} {name}: {code:?} {text}");
            if code != Some(0) {
                let last = text.lines().last().unwrap();
                assert!(last.starts_with("error: ") && last.contains(name) && last.contains("; "), "{text}");
                assert!(fs::read(here.join("kept.hpan")).unwrap() == kept, "{command} {name}");
            }
            assert_eq!(names(&here), before, "{command} {name}");
            fs::write(here.join("kept.hpan"), &kept).unwrap();
        }
    }
}

#[test]
fn files_of_others_are_not_replaced() {
    let here = folder("files_of_others_are_not_replaced");
    fs::write(here.join("square.obj"), SQUARE).unwrap();
    fs::write(here.join("p.csv"), "1,2\n").unwrap();
    expect(0, &here, &["build", "square.obj", "--report", "r.json"]);
    expect(0, &here, &["build", "square.obj", "--report", "r.json"]);
    fs::write(here.join("letter"), "dear all").unwrap();
    assert!(Command::new("mkfifo").arg(here.join("pipe")).status().unwrap().success());
    fs::create_dir(here.join("folder")).unwrap();
    let before = names(&here);
    for line in [
        &["build", "square.obj", "-o"][..],
        &["build", "square.obj", "--report"],
        &["query", "square.hpan", "--csv", "p.csv", "-o"],
        &["materials", "square.obj", "-o"],
    ] {
        let to = |place, force: &[&'static str]| [line, &[place], force].concat();
        holds(&error(2, &here, &to("letter", &[])), &["error: letter: there is a file here", "--force"]);
        for place in ["pipe", "folder"] {
            let why = error(2, &here, &to(place, &["--force"]));
            assert!(why.contains("this is a device or a pipe") || why.contains("this is a folder"), "{why}");
        }
        error(2, &here, &to("nowhere/x", &[]));
        assert_eq!((names(&here), fs::read(here.join("letter")).unwrap()), (before.clone(), b"dear all".into()));
        expect(0, &here, &to("letter", &["--force"]));
        assert!(fs::read(here.join("letter")).unwrap() != b"dear all");
        fs::write(here.join("letter"), "dear all").unwrap();
    }
}

#[test]
fn vt_24_files_without_a_mesh() {
    let here = folder("files_without_a_mesh");
    fs::write(here.join("square.obj"), SQUARE).unwrap();
    for empty in ["empty.obj", "empty.fbx"] {
        fs::write(here.join(empty), "").unwrap();
    }
    fs::write(here.join("vertices.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\n").unwrap();
    fs::write(here.join("zeros.fbx"), [0; 1000]).unwrap();
    fs::write(here.join("zeros.obj"), [0; 1000]).unwrap();
    fs::write(here.join("stl.obj"), "solid cube\nfacet normal 0 0 1\nouter loop\n").unwrap();
    fs::write(here.join("far.obj"), "v 1e18 0 0\nv 1e18 1e18 0\nv 0 1e18 0\nf 1 2 3\n").unwrap();
    fs::write(here.join("obj.fbx"), format!("\u{FEFF}# by hand\n{SQUARE}")).unwrap();
    fs::create_dir(here.join("folder.obj")).unwrap();
    expect(0, &here, &["build", "square.obj", "-o", "kept.hpan"]);
    let (kept, before) = (fs::read(here.join("kept.hpan")).unwrap(), names(&here));
    for (name, cause) in [
        ("empty.obj", "there are no faces to build from; export the mesh"),
        ("empty.fbx", "byte 0: the file is empty; export it again"),
        ("vertices.obj", "there are no faces to build from; export the mesh"),
        ("zeros.fbx", "byte 0: every byte of the file is zero: it was never written whole; copy it again"),
        ("zeros.obj", "there are no faces to build from; export the mesh"),
        ("stl.obj", "there are no faces to build from (lines left out that are no OBJ statements: 3)"),
        ("far.obj", "no ground: all of it lies more than 10^15 m from the zero; check its numbers, or --unit"),
        ("obj.fbx", "byte 0: reading stops here"),
        ("folder.obj", "this is a folder; name a mesh in it, FILE.obj, FILE.fbx, "),
        ("missing.obj", "there is no such file or folder; check the spelling"),
        ("kept.hpan", "this is a terrain image already; look at it: hardpan info kept.hpan\n"),
    ] {
        for to in ["kept.hpan", "new.hpan"] {
            let done = bounded(&here, &["build", name, "-o", to]);
            assert_eq!(done.status.code(), Some(2), "{name}");
            assert!(told(&done).lines().last().unwrap().starts_with(&format!("error: {name}: ")), "{done:?}");
            holds(&told(&done), &[cause]);
            assert_eq!(names(&here), before, "{name}");
            assert!(fs::read(here.join("kept.hpan")).unwrap() == kept, "{name}");
        }
    }
}

/// A scene that nobody could prove is refused before it takes a gigabyte and half a minute.
#[test]
fn vt_24_fans_and_needles_are_refused_soon() {
    let here = folder("fans_and_needles_are_refused_soon");
    let corner = |[x, y]: [f64; 2]| format!("v {x:.9} {y:.9} 0\n");
    let face = |corners: usize| (1..=corners).fold("f".to_string(), |text, i| text + " " + &i.to_string()) + "\n";
    let round = |i: usize, n: usize, r: f64| {
        let a = std::f64::consts::TAU * i as f64 / n as f64;
        [r * a.cos(), r * a.sin()]
    };
    // triangles around the end of a strip, and around a middle
    let strip: String = (0..=9_000).map(|i| corner([i as f64, 0.01 * (i % 2) as f64])).collect();
    let fan: String = (2..9_002).map(|i| format!("f 1 {i} {}\n", i + 1)).collect();
    let disk: String = (0..40_000).map(|i| corner(round(i, 40_000, 50.0))).collect();
    let spokes: String = (0..40_000).map(|i| format!("f 1 {} {}\n", i + 2, (i + 1) % 40_000 + 2)).collect();
    // a face with long slanting teeth
    let slant =
        |i: usize| if i.is_multiple_of(2) { [0.0, i as f64 / 2.0] } else { [5000.0, i as f64 / 2.0 + 10_000.0] };
    // a saw of which two corners see all teeth, and strips of 5 mm
    let saw: String = (0..30_000).map(|i| corner([(30_000 - i) as f64, (i % 2) as f64])).collect();
    let zigzag: String = (0..20_000).map(|i| corner([0.005 * i as f64, 1000.0 * (i % 2) as f64])).collect();
    let strips: String = (1..19_999).map(|i| format!("f {i} {} {}\n", i + 1, i + 2)).collect();
    let slants: String = (0..39_997).rev().map(|i| corner(slant(i))).collect();
    for (name, text, cause) in [
        (
            "fan.obj",
            corner([0.0, 500.0]) + &strip + &fan,
            "9,000 triangles meet in one vertex, vertex 1 at (0.000, 500.000, 0.000) in metres, and 8,192 are the most",
        ),
        (
            "disk.obj",
            corner([0.0, 0.0]) + &disk + &spokes,
            "40,000 triangles meet in one vertex, vertex 1 at (0.000, 0.000, 0.000) in metres, and 8,192 are the most",
        ),
        ("slant.obj", slants + "v -1 -1 0\nv -1 19999 0\n" + &face(39_999), "line 40000: a face of 39,999 corners "),
        (
            "saw.obj",
            saw + "v 0 -5 0\nv 30000 -5 0\n" + &face(30_002),
            " triangles are more than 256 times as long as wide, and lie too close side by side to be proven apart: ",
        ),
        (
            "strips.obj",
            zigzag + &strips,
            "19,998 triangles are more than 256 times as long as wide, and lie too close side by side to be proven apart: ",
        ),
    ] {
        fs::write(here.join(name), text).unwrap();
        let begin = Instant::now();
        let done = within(15, &here, &["build", name, "--up", "z", "-o", "a.hpan"]);
        println!("{name}: {:?}", begin.elapsed());
        assert_eq!(done.status.code(), Some(2), "{name}: {done:?}");
        let why = told(&done);
        assert!(why.lines().last().unwrap().starts_with(&format!("error: {name}: ")), "{why}");
        holds(&why, &[cause, "in a mesh editor"]);
        assert!(!here.join("a.hpan").exists());
    }
    // with fewer teeth, and with all corners but one in a row, they are
    let row = |n: u32, apex: f64| {
        (0..n).map(|i| corner([f64::from(i), 0.0])).collect::<String>()
            + &corner([f64::from(n) / 2.0, apex])
            + &face(n as usize + 1)
    };
    let saw = |teeth: u32| {
        let teeth_of = (0..teeth).map(|i| corner([f64::from(teeth - i), f64::from(i % 2)]));
        teeth_of.collect::<String>() + &format!("v 0 -5 0\nv {teeth} -5 0\n") + &face(teeth as usize + 2)
    };
    for (text, triangles) in
        [(saw(1_000), "1,000"), (saw(2_000), "2,000"), (row(938, 10.0), "937"), (row(938, 1000.0), "937")]
    {
        fs::write(here.join("few.obj"), text).unwrap();
        let done = within(15, &here, &["build", "few.obj", "--up", "z", "-o", "few.hpan"]);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        holds(&String::from_utf8_lossy(&done.stdout), &[&format!("few.hpan: {triangles} triangles"), "; verified"]);
    }
    // a wheel that stands upright has no ground, whatever its spokes
    let upright = "v 0 0 60\n".to_string()
        + &(0..40_000)
            .map(|i| round(i, 40_000, 50.0))
            .map(|[x, z]| format!("v {x} 0 {}\n", z + 60.0))
            .collect::<String>()
        + &spokes
        + "v -50 -50 0\nv 50 -50 0\nv 0 50 0\nf -1 -2 -3\n";
    fs::write(here.join("wheel.obj"), upright).unwrap();
    // and what is there many times is there once
    fs::write(here.join("again.obj"), "v 0 0 0\nv 9 0 0\nv 0 9 0\n".to_string() + &"f 1 2 3\nf 3 1 2\n".repeat(50_000))
        .unwrap();
    for name in ["wheel.obj", "again.obj"] {
        let [out, _] = expect(0, &here, &["build", name, "--up", "z", "-o", "a.hpan"]);
        holds(&out, &["a.hpan: 1 triangle, "]);
    }
}

/// Parts that settings leave out may lie anywhere: nobody has to prove them. The error says how to leave a part out.
#[test]
fn vt_24_fans_and_needles_may_be_left_out() {
    let here = folder("fans_and_needles_may_be_left_out");
    let ground = "v 0 0 0\nv 99 0 0\nv 99 1000 0\nv 0 1000 0\nusemtl Ground\nf 1 2 3 4\nusemtl Fence\n";
    let zigzag: String = (0..20_000).map(|i| format!("v {:.3} {} 1\n", 0.005 * f64::from(i), 1000 * (i % 2))).collect();
    let needles: String = (5..20_003).map(|i| format!("f {i} {} {}\n", i + 1, i + 2)).collect();
    let fan: String = (5..20_003).map(|i| format!("f 1 {i} {}\n", i + 1)).collect();
    for (name, faces, cause) in
        [("needles", needles, "lie too close side by side"), ("fan", fan, "meet in one vertex, vertex 1 ")]
    {
        let file = &*format!("{name}.obj");
        fs::write(here.join(file), format!("{ground}{zigzag}{faces}")).unwrap();
        let done = within(15, &here, &["build", file, "--up", "z", "-o", "a.hpan"]);
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        let out = "; where \"Fence\" is no ground, leave it out before any pattern: include = false in its own [[material]] of the settings \
                   (--settings FILE.toml, which hardpan materials FILES -o FILE.toml writes)\n";
        holds(&told(&done), &[cause, out]);
        // it is listed nevertheless
        let done = within(15, &here, &["materials", file, "--up", "z", "-o", &format!("{name}.toml")]);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        holds(&told(&done), &[&format!("warning: a build will stop at this: {file}: "), cause, out]);
        let settings = fs::read_to_string(here.join(format!("{name}.toml"))).unwrap();
        let (before, fence) = settings.split_once("name = \"Fence\"\n").unwrap();
        let fence = fence.replacen("include = true", "include = false", 1);
        fs::write(here.join("out.toml"), format!("{before}name = \"Fence\"\n{fence}")).unwrap();
        let done = within(15, &here, &["build", "--settings", "out.toml", "-o", "a.hpan"]);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        holds(&String::from_utf8_lossy(&done.stdout), &["a.hpan: 2 triangles, ", "; verified"]);
        let done = within(15, &here, &["verify", "a.hpan", "--against", file]);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        holds(&String::from_utf8_lossy(&done.stdout), &["19,998 excluded material"]);
        // of an image of other ground it is no source
        fs::write(here.join("plain.obj"), format!("{ground}f 1 2 3\n")).unwrap();
        assert!(within(15, &here, &["build", "plain.obj", "--up", "z", "-o", "p.hpan"]).status.success());
        let done = within(15, &here, &["verify", "p.hpan", "--against", file]);
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        holds(&told(&done), &[cause, "; it is too crowded to be compared with an image\n"]);
        // behind another file, of which vertices do not count
        let done = within(15, &here, &["build", "plain.obj", file, "--up", "z", "-o", "b.hpan"]);
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        holds(&told(&done), &[&format!("error: {file}: "), cause, out]);
    }
    // half of them in each of two files, which could be built alone, beside others that lie apart: the one that has
    // more is named
    let all = fs::read_to_string(here.join("needles.obj")).unwrap();
    let (head, faces) = all.split_at(all.find("f 5 ").unwrap());
    for (name, odd) in [("even.obj", 0), ("odd.obj", 1)] {
        let half = faces.lines().take(12_000).enumerate().filter(|(i, _)| i % 2 == odd || i % 40 == 0);
        let half: String = half.map(|(_, line)| format!("{line}\n")).collect();
        fs::write(here.join(name), format!("{head}{half}")).unwrap();
        let done = within(15, &here, &["materials", name, "--up", "z"]);
        assert!(done.status.success() && !told(&done).contains("stop"), "{done:?}");
    }
    let mark = |i: u32| format!("v {} 0 1\nv {0} 9 1\nv {0}.01 9 1\nf -3 -2 -1\n", 50_000 + 9 * i);
    fs::write(here.join("marks.obj"), "usemtl Mark\n".to_string() + &(0..20_000).map(mark).collect::<String>())
        .unwrap();
    let files = ["build", "marks.obj", "even.obj", "odd.obj", "--up", "z", "-o", "b.hpan"];
    let done = within(15, &here, &files);
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    holds(
        &told(&done),
        &["error: odd.obj: 12,", " triangles of this and even.obj are more than", "where \"Fence\" is no"],
    );
    // where they lie apart each is as if alone
    let odd = fs::read_to_string(here.join("odd.obj")).unwrap();
    let moved = odd.lines().map(|line| line.replacen("v ", "v 5000", 1) + "\n");
    fs::write(here.join("far.obj"), moved.collect::<String>()).unwrap();
    let done = within(60, &here, &["build", "even.obj", "far.obj", "--up", "z", "-o", "b.hpan"]);
    assert!(done.status.success(), "{done:?}");
    // a long name is cut in its middle, where one sees it
    let long = fs::read_to_string(here.join("needles.obj")).unwrap().replace("Fence", &"F".repeat(300));
    fs::write(here.join("long.obj"), long).unwrap();
    let done = within(15, &here, &["build", "long.obj", "--up", "z", "-o", "b.hpan"]);
    holds(&told(&done), &[&format!("; where \"{}...{}\" is no ground", "F".repeat(99), "F".repeat(98))]);
    // where it is all the ground there is, nothing would be left
    let lone = fs::read_to_string(here.join("needles.obj")).unwrap().replace("f 1 2 3 4\n", "");
    fs::write(here.join("lone.obj"), lone).unwrap();
    let why = told(&within(15, &here, &["build", "lone.obj", "--up", "z", "-o", "b.hpan"]));
    assert!(why.contains("in a mesh editor") && !why.contains("include"), "{why}");
}

/// Nor has what is too steep, or is said to be an underside, to be proven.
#[test]
fn vt_24_fans_and_needles_that_are_no_ground() {
    let here = folder("fans_and_needles_that_are_no_ground");
    let ground = "v 0 0 0\nv 99 0 0\nv 99 99 0\nv 0 99 0\nf 1 2 3 4\n";
    // a wall of strips that leans by a twentieth, and a tent of as many sides; both look up
    let wall: String = (0..10_000)
        .map(|i| {
            format!(
                "v {:.3} 0 0\nv {0:.3} 1000 20000\nv {:.3} 1000 20000\nf -3 -1 -2\n",
                0.005 * f64::from(i),
                0.005 * f64::from(i + 1)
            )
        })
        .collect();
    let place = |i: u32, n: u32| (std::f64::consts::TAU * f64::from(i) / f64::from(n)).sin_cos();
    let tent = "v 50 50 200\n".to_string()
        + &(0..20_000)
            .map(|i| place(i, 20_000))
            .map(|(y, x)| format!("v {} {} 0\n", 50.0 + 20.0 * x, 50.0 + 20.0 * y))
            .collect::<String>()
        + &(0..20_000).map(|i| format!("f 5 {} {}\n", 6 + i, 6 + (i + 1) % 20_000)).collect::<String>();
    for (name, faces, count, cause) in [
        ("wall", wall, "10,000", "lie too close side by side"),
        ("tent", tent, "20,000", "meet in one vertex, vertex 5 "),
    ] {
        let file = &*format!("{name}.obj");
        fs::write(here.join(file), format!("{ground}usemtl Fence\n{faces}")).unwrap();
        let built = |more: &[&str]| {
            let done = within(20, &here, &[&["build", file, "--up", "z", "-o", "a.hpan"], more].concat());
            (done.status.code(), told(&done), String::from_utf8_lossy(&done.stdout).into_owned())
        };
        let refused = |more: &[&str]| {
            let (code, why, _) = built(more);
            assert_eq!(code, Some(2), "{name} {more:?}: {why}");
            holds(&why, &[cause, "where \"Fence\" is no ground, leave it out"]);
        };
        let fits = |more: &[&str], lost: &str| {
            let (code, why, out) = built(more);
            assert_eq!(code, Some(0), "{name} {more:?}: {why}");
            holds(&out, &["a.hpan: 2 triangles, ", "; verified"]);
            let done = within(20, &here, &["verify", "a.hpan", "--against", file]);
            assert_eq!(done.status.code(), Some(0), "{done:?}");
            holds(&String::from_utf8_lossy(&done.stdout), &[lost]);
        };
        refused(&["--max-slope", "89"]);
        fits(&["--max-slope", "80"], &format!("{count} steeper than the limit"));
        // wound the other way it is an underside where settings say so of it, or of all
        let turned: String = faces
            .lines()
            .map(|line| match line.strip_prefix("f ") {
                Some(corners) => format!("f {}\n", corners.split(' ').rev().collect::<Vec<_>>().join(" ")),
                None => format!("{line}\n"),
            })
            .collect();
        for (rule, is_underside) in [
            ("[build]\nundersides = \"ceiling\"\n", true),
            ("[[material]]\nname = \"Fence\"\nundersides = \"ceiling\"\n", true),
            ("[build]\nundersides = \"ceiling\"\n[[material]]\nname = \"Fence\"\nundersides = \"ground\"\n", false),
        ] {
            fs::write(here.join("s.toml"), rule).unwrap();
            let settings = ["--settings", "s.toml"];
            fs::write(here.join(file), format!("{ground}usemtl Fence\n{faces}")).unwrap();
            refused(&settings);
            fs::write(here.join(file), format!("{ground}usemtl Fence\n{turned}")).unwrap();
            if is_underside { fits(&settings, &format!("{count} underside")) } else { refused(&settings) }
        }
    }
    // a round plate: the spokes under it are an underside of themselves
    let ring = |z: u32| {
        (0..9_000).map(move |i| place(i, 9_000)).map(move |(y, x)| format!("v {} {} {z}\n", 20e3 * x, 20e3 * y))
    };
    let mut plate = "v 0 0 0\n".to_string() + &ring(0).chain(ring(1)).collect::<String>() + "f";
    (0..9_000).for_each(|i| plate += &format!(" {}", 9_002 + i));
    let walls = (0..9_000).map(|i| [2 + i, 2 + (i + 1) % 9_000]);
    plate += "\n";
    plate.extend(walls.map(|[a, b]| format!("f 1 {b} {a}\nf {a} {b} {} {}\n", b + 9_000, a + 9_000)));
    fs::write(here.join("plate.obj"), plate).unwrap();
    let done = within(20, &here, &["build", "plate.obj", "--up", "z", "-o", "plate.hpan"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    holds(&String::from_utf8_lossy(&done.stdout), &["plate.hpan: 8,998 triangles, ", "9,000 undersides", "; verified"]);
    let done = within(20, &here, &["verify", "plate.hpan", "--against", "plate.obj"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    holds(&String::from_utf8_lossy(&done.stdout), &["9,000 underside"]);
    fs::write(here.join("s.toml"), "[build]\nundersides = \"ground\"\n").unwrap();
    let done = within(20, &here, &["build", "plate.obj", "--up", "z", "--settings", "s.toml", "-o", "plate.hpan"]);
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    holds(&told(&done), &["9,000 triangles meet in one vertex, vertex 1 at "]);
}

/// Settings that never end, or are longer than any, are given up; from a pipe they are read once.
#[cfg(target_os = "linux")]
#[test]
fn vt_24_endless_settings() {
    let here = folder("endless_settings");
    fs::write(here.join("square.obj"), SQUARE).unwrap();
    fs::File::create(here.join("long.toml")).unwrap().set_len(300 << 20).unwrap();
    assert!(Command::new("mkfifo").arg(here.join("pipe")).status().unwrap().success());
    let before = names(&here);
    for endless in ["/dev/zero", "long.toml"] {
        for line in [&["build", "--settings", endless][..], &["build", "square.obj", "--settings", endless]] {
            let done = bounded(&here, line);
            assert_eq!(done.status.code(), Some(2), "{done:?}");
            holds(
                &told(&done),
                &[&format!("error: {endless}: longer than 64 MiB, as no settings are; name a settings file\n")],
            );
        }
    }
    // a pipe with a writer, to which nobody else writes
    let pipe = here.join("pipe");
    for (text, code) in [("[build]\ntile_log2 = 15\n", 0), ("[build]\ntile_log2 = 5\n", 2)] {
        let writer = thread::spawn({
            let pipe = pipe.clone();
            move || fs::write(pipe, text)
        });
        let done = bounded(&here, &["build", "square.obj", "--settings", "pipe", "-o", "a.hpan"]);
        assert_eq!(done.status.code(), Some(code), "{done:?}");
        writer.join().unwrap().unwrap();
    }
    let writer = thread::spawn(move || {
        let mut pipe = fs::File::create(pipe).unwrap();
        while pipe.write_all(&[b'y'; 1 << 16]).is_ok() {}
    });
    holds(&told(&bounded(&here, &["build", "square.obj", "--settings", "pipe"])), &["error: pipe: longer than 64 MiB"]);
    writer.join().unwrap();
    fs::remove_file(here.join("a.hpan")).unwrap();
    assert_eq!(names(&here), before);
    // no source is a pipe, and none is waited for
    for command in ["build", "materials"] {
        holds(&told(&bounded(&here, &[command, "pipe"])), &["error: pipe: this is a device or a pipe"]);
    }
}

/// As many as an image has, by name, and as many patterns as there may be; and more.
#[test]
fn vt_24_vt_48_very_many_materials() {
    const MAX_ENTRIES: usize = 65_535;
    let here = folder("very_many_materials");
    let mut mesh = String::new();
    for i in 0..MAX_ENTRIES {
        let (x, y) = (i % 256, i / 256);
        write!(mesh, "v {x} {y} 0\nv {}.5 {y} 0\nv {x} {y}.5 0\nusemtl material {i}\nf -3 -2 -1\n", x).unwrap();
    }
    fs::write(here.join("m.obj"), mesh).unwrap();
    let entry = |i: usize| format!("[[material]]\nname = \"material {i}\"\nmu = {}\nclasses = [{}]\n", i % 7, i % 32);
    let all: String = (0..MAX_ENTRIES).rev().map(entry).collect();
    let unused: String = (0..512).map(|i| format!("[[material]]\npattern = \"*X{i}*\"\n")).collect();
    let names: String = (0..MAX_ENTRIES - 512).map(entry).collect();
    let rest = "[[material]]\nname = \"\"\n";
    let json = |count: usize| format!("{{\"material\": [{}{{}}]}}", "{\"name\": \"a\"},".repeat(count - 1));
    for (name, text, cause) in [
        ("all.toml", all.clone(), None),
        ("patterns.toml", unused.clone() + &names, None),
        (
            "more.toml",
            all.clone() + rest,
            Some("line 262141: more than 65,535 entries, and a scene has no more materials; patterns fit many"),
        ),
        ("rows.toml", "[[material]]\nname=\"a\"\n".repeat(2_300_000), Some("line 393211: more than 65,535 entries")),
        ("more.json", json(4_000_000), Some("line 1, column 917518: more than 65,535 entries")),
        (
            "many.toml",
            unused + "[[material]]\npattern = \"a\"\n",
            Some("line 1026: material 513 (\"a\"): more than 512 patterns"),
        ),
        (
            "absent.toml",
            all.replace("material 9\"", "material X\""),
            Some("material \"material X\" is not in the scene"),
        ),
    ] {
        fs::write(here.join(name), text).unwrap();
        let begin = Instant::now();
        let done = within(10, &here, &["build", "m.obj", "--settings", name, "-o", "a.hpan"]);
        println!("{name}: {:?}", begin.elapsed());
        assert_eq!(done.status.code(), Some(if cause.is_some() { 2 } else { 0 }), "{name}: {done:?}");
        holds(&told(&done), &cause.map_or(vec![], |cause| vec!["error: ", name, cause]));
        fs::remove_file(here.join(name)).unwrap();
    }
    // the last that was built, out of the image and back
    for line in
        [&["materials", "a.hpan", "-o", "a.toml"][..], &["build", "m.obj", "--settings", "a.toml", "-o", "b.hpan"]]
    {
        let done = within(10, &here, line);
        assert!(done.status.success(), "{done:?}");
    }
    assert_eq!(identity(&here, "a.hpan"), identity(&here, "b.hpan"));
}

/// A link is followed: it stays one, and what it leads to is replaced, under the rules for that.
#[test]
fn links_are_followed() {
    let here = folder("links_are_followed");
    fs::write(here.join("square.obj"), SQUARE).unwrap();
    fs::create_dir(here.join("there")).unwrap();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, here.join(name)).unwrap();
    link("there/a.hpan", "a.hpan");
    link("a.hpan", "b.hpan");
    for name in ["a.hpan", "b.hpan"] {
        // first with nothing at its end, then with an image
        expect(0, &here, &["build", "square.obj", "-o", name]);
        assert!(fs::symlink_metadata(here.join(name)).unwrap().is_symlink());
        assert_eq!(names(&here.join("there")), ["a.hpan".to_string()].into());
        expect(0, &here, &["verify", "there/a.hpan"]);
    }
    fs::write(here.join("there/letter"), "dear all").unwrap();
    link("there/letter", "c.hpan");
    holds(
        &error(2, &here, &["build", "square.obj", "-o", "c.hpan"]),
        &["error: c.hpan: there is a file here", "--force"],
    );
    assert_eq!(fs::read(here.join("there/letter")).unwrap(), b"dear all");
    link("circle", "circle");
    let done = bounded(&here, &["build", "square.obj", "-o", "circle"]);
    assert!(!done.status.success(), "{}", told(&done));
    assert!(fs::symlink_metadata(here.join("circle")).unwrap().is_symlink());
}

/// One run writes as many files as it names, however the names are linked.
#[test]
fn outputs_that_would_be_one_file() {
    let here = folder("outputs_that_would_be_one_file");
    fs::write(here.join("square.obj"), SQUARE).unwrap();
    expect(0, &here, &["build", "square.obj", "-o", "kept.hpan"]);
    for name in ["a.hpan", "r.json", "a.csv", "a.obj", "a.mtl", "a.toml", "kept-mu.png", "kept-error.png"] {
        std::os::unix::fs::symlink("one", here.join(name)).unwrap();
    }
    fs::write(here.join("drive.csv"), "t,x,y\n0,0.5,0.5\n1,0.6,0.5\n").unwrap();
    std::os::unix::fs::symlink("one", here.join("p.svg")).unwrap();
    let before = names(&here);
    for line in [
        &["build", "square.obj", "-o", "a.hpan", "--report", "r.json"][..],
        &["query", "kept.hpan", "--along", "drive.csv", "-o", "a.csv", "--plot", "p.svg"],
        &["export", "obj", "kept.hpan", "-o", "a.obj"],
        &["export", "png", "kept.hpan", "--map", "mu,error"],
    ] {
        holds(&error(2, &here, line), &["would be one file; name another one"]);
        // nor does a report stand under the image's name
        assert_eq!(names(&here), before, "{line:?}");
    }
    let line = ["build", "square.obj", "-o", "one", "--report", "r.json"];
    holds(&error(2, &here, &line), &["one: this and r.json would be one file; name another one"]);
    assert_eq!(names(&here), before);
}

#[test]
fn vt_24_an_output_that_may_only_be_read() {
    let here = folder("an_output_that_may_only_be_read");
    fs::write(here.join("square.obj"), SQUARE).unwrap();
    fs::write(here.join("field.obj"), field(5)).unwrap();
    expect(0, &here, &["build", "square.obj", "-o", "a.hpan", "--report", "r.json"]);
    for name in ["a.hpan", "r.json"] {
        fs::set_permissions(here.join(name), fs::Permissions::from_mode(0o444)).unwrap();
    }
    let read = || ["a.hpan", "r.json"].map(|n| fs::read(here.join(n)).unwrap());
    let (kept, before) = (read(), names(&here));
    for (line, name) in [
        (&["build", "field.obj", "-o", "a.hpan"][..], "a.hpan"),
        (&["build", "field.obj", "-o", "b.hpan", "--report", "r.json"], "r.json"),
    ] {
        let why = error(4, &here, line);
        holds(&why, &[&format!("error: {name}: the file here may only be read; "), "--force"]);
        assert!(names(&here) == before && read() == kept, "{line:?}");
    }
    expect(0, &here, &["build", "field.obj", "-o", "a.hpan", "--force"]);
    assert!(read()[0] != kept[0]);
}

#[test]
fn vt_24_without_permission() {
    let here = folder("without_permission");
    fs::write(here.join("square.obj"), SQUARE).unwrap();
    fs::write(here.join("secret.obj"), SQUARE).unwrap();
    fs::create_dir(here.join("closed")).unwrap();
    expect(0, &here, &["build", "square.obj", "-o", "closed/a.hpan"]);
    let kept = fs::read(here.join("closed/a.hpan")).unwrap();
    let set = |name: &str, mode| fs::set_permissions(here.join(name), fs::Permissions::from_mode(mode)).unwrap();
    set("secret.obj", 0o000);
    set("closed", 0o555);
    // root may do anything: as nobody then
    let drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let root = fs::File::open(here.join("secret.obj")).is_ok();
    let run = |line: &[&str]| {
        let mut command = if root {
            let mut command = Command::new(drop[0]);
            command.args(&drop[1..]).arg(&*HARDPAN);
            command
        } else {
            Command::new(&*HARDPAN)
        };
        command.args(line).current_dir(&here).output()
    };
    if !run(&["info", "closed/a.hpan"]).is_ok_and(|done| done.status.success()) {
        println!("skipped, because this user may read everything and cannot run the command as nobody");
        return;
    }
    for (line, parts) in [
        (&["build", "secret.obj", "-o", "closed/b.hpan"][..], &["secret.obj: permission denied; check with"][..]),
        (&["materials", "secret.obj"], &["secret.obj: permission denied"]),
        (&["info", "secret.obj"], &["secret.obj: permission denied"]),
        (
            &["build", "square.obj", "-o", "closed/b.hpan"],
            &["closed/b.hpan: no file may be written here; ", "check with: ls -ld closed\n"],
        ),
        (&["build", "square.obj", "-o", "closed/a.hpan"], &["closed/a.hpan: no file may be written here; "]),
        (
            &["materials", "square.obj", "-o", "./closed/a.toml"],
            &["closed/a.toml: no file may be written here; ", "check with: ls -ld ./closed\n"],
        ),
        (&["build", "square.obj", "-o", "closed/a.hpan", "--report", "closed/r.json"], &["closed/r.json: no file may"]),
    ] {
        let done = run(line).unwrap();
        assert_eq!(done.status.code(), Some(4), "{line:?}");
        holds(&told(&done), parts);
    }
    assert_eq!(names(&here.join("closed")), ["a.hpan".to_string()].into());
    assert!(fs::read(here.join("closed/a.hpan")).unwrap() == kept);
    set("closed", 0o755);
}

/// A small disk, gone when dropped.
struct Disk(PathBuf);

impl Disk {
    fn new(at: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir(&at).unwrap();
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", size, "tmpfs"]).arg(&at).output();
        done.is_ok_and(|d| d.status.success()).then_some(Disk(at))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn vt_24_a_full_disk() {
    let here = folder("a_full_disk");
    fs::write(here.join("square.obj"), SQUARE).unwrap();
    fs::write(here.join("field.obj"), field(100)).unwrap();
    let ground = "ground of 100.000 by 100.000 m";
    holds(&expect(0, &here, &["build", "field.obj"])[0], &[ground]);
    let fills = |disk: &Path, run: &dyn Fn(&[&str]) -> Output, cause: &str| {
        let [image, report] = ["a.hpan", "r.json"].map(|n| disk.join(n).to_str().unwrap().to_string());
        expect(0, &here, &["build", "square.obj", "-o", &image, "--report", &report]);
        let (kept, before) = ((fs::read(&image).unwrap(), fs::read(&report).unwrap()), names(disk));
        let done = run(&["build", "field.obj", "-o", &image]);
        assert_eq!(done.status.code(), Some(4));
        holds(&told(&done), &["a.hpan: ", cause]);
        assert!(done.stdout.is_empty(), "{done:?} of an image that is not there");
        assert!((fs::read(&image).unwrap(), fs::read(&report).unwrap()) == kept);
        // the report says so, or stays what it was
        let done = run(&["build", "field.obj", "-o", &image, "--report", &report]);
        assert_eq!(done.status.code(), Some(4));
        holds(&told(&done), &["a.hpan: ", cause]);
        assert!(fs::read(&image).unwrap() == kept.0);
        let text: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
        assert!(text["error"]["exit"] == 4 || fs::read(&report).unwrap() == kept.1, "{text}");
        assert_eq!(names(disk), before);
    };
    match Disk::new(here.join("disk"), "size=64k") {
        Some(disk) => fills(&disk.0, &|line| bounded(&here, line), "the disk is full; free some space"),
        None => println!("skipped a full disk, because none can be mounted here"),
    }
    // a limit of 32 KiB to a file
    let other = here.join("other");
    fs::create_dir(&other).unwrap();
    let small = |line: &[&str]| {
        let script = "ulimit -f 64; exec \"$0\" \"$@\"";
        Command::new("sh").args(["-c", script]).arg(&*HARDPAN).args(line).current_dir(&here).output().unwrap()
    };
    fills(&other, &small, "files may not be so large here");
}

/// An image that stands is reported where its report finds no room.
#[test]
fn a_report_without_room_says_that_the_image_stands() {
    let here = folder("a_report_without_room");
    // long names, which are in the report more often than in the image
    let deck = |k: u32| SQUARE.replace(" 0\n", &format!(" {k}\n")).replace("1 2 3 4", "-4 -3 -2 -1");
    let object = |k: u32| format!("usemtl {k}{}\n{}", "\"".repeat(2000), deck(k));
    fs::write(here.join("a.obj"), (0..40).map(object).collect::<String>()).unwrap();
    fs::write(here.join("s.toml"), "[[material]]\npattern = \"*\"\nlabel = 1\n").unwrap();
    let line = ["build", "a.obj", "--settings", "s.toml", "-o", "a.hpan", "--report", "r.json"];
    expect(0, &here, &line);
    let size = |name: &str| fs::metadata(here.join(name)).unwrap().len();
    let most = (size("a.hpan") + size("r.json")) / 2 / 512;
    assert!(size("a.hpan") < most * 512 && most * 512 < size("r.json"), "{} {}", size("a.hpan"), size("r.json"));
    for name in ["a.hpan", "r.json"] {
        fs::remove_file(here.join(name)).unwrap();
    }
    let script = format!("trap '' XFSZ; ulimit -f {most}; exec \"$0\" \"$@\"");
    let done = Command::new("sh").args(["-c", &script]).arg(&*HARDPAN).args(line).current_dir(&here).output().unwrap();
    assert_eq!(done.status.code(), Some(4));
    holds(
        &told(&done),
        &["r.json: files may not be so large here; ", "; only the report is missing, the image is in its place\n"],
    );
    assert_eq!(names(&here), ["a.hpan", "a.obj", "s.toml"].map(String::from).into());
    expect(0, &here, &["verify", "a.hpan"]);
}

/// Starts the command with these signals ignored and no others, whatever this process ignores.
fn start(here: &Path, ignored: &[&str], line: &[&str]) -> Child {
    let (out, err) = (Stdio::null(), Stdio::null());
    let ignored = ignored.iter().map(|signal| format!("--ignore-signal={signal}"));
    let mut command = Command::new("env");
    command.arg("--default-signal=INT,TERM,HUP").args(ignored).arg(&*HARDPAN).args(line);
    command.current_dir(here).stdout(out).stderr(err).spawn().unwrap()
}

fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// Killed, nothing half-written has the image's name, and what is left hinders nobody; interrupted, nothing is left.
#[test]
fn vt_24_builds_that_are_stopped() {
    let here = folder("builds_that_are_stopped");
    fs::write(here.join("square.obj"), SQUARE).unwrap();
    fs::write(here.join("field.obj"), field(400)).unwrap();
    expect(0, &here, &["build", "square.obj", "-o", "a.hpan"]);
    let old = fs::read(here.join("a.hpan")).unwrap();
    let begin = Instant::now();
    expect(0, &here, &["build", "field.obj", "-o", "new.hpan"]);
    let whole = begin.elapsed();
    let new = fs::read(here.join("new.hpan")).unwrap();
    let before = names(&here);
    let strays = || names(&here).difference(&before).cloned().collect::<Vec<_>>();
    let written = || strays().iter().any(|n| fs::metadata(here.join(n)).is_ok_and(|m| m.len() > 0));
    let (mut r, mut early, mut left) = (Random(11), 0, 0);
    for round in 0..16 {
        let (signal, code) = if round < 10 { ("-KILL", None) } else { (["-INT", "-TERM"][round % 2], Some(130)) };
        let mut child = start(&here, &[], &["build", "field.obj", "-o", "a.hpan"]);
        let begin = Instant::now();
        if round % 2 == 0 {
            thread::sleep(whole.mul_f64(r.below(900) as f64 / 1000.0));
        } else {
            // while the image is written or verified
            while !written() && child.try_wait().unwrap().is_none() {
                assert!(begin.elapsed() < 20 * whole);
                thread::sleep(Duration::from_micros(200));
            }
            if round >= 10 {
                thread::sleep(Duration::from_millis(r.below(4) as u64));
            }
        }
        if child.try_wait().unwrap().is_none() {
            send(signal, &child);
        }
        let status = child.wait().unwrap();
        let image = fs::read(here.join("a.hpan")).unwrap();
        if status.success() {
            assert!(image == new, "round {round}");
            fs::write(here.join("a.hpan"), &old).unwrap();
        } else {
            early += 1;
            // what takes its place is whole; it may be stopped just after that
            assert!(image == old || image == new, "round {round}: another image");
            assert!(status.code() == code || status.signal() == Some(2) || status.signal() == Some(15), "{status:?}");
            fs::write(here.join("a.hpan"), &old).unwrap();
        }
        for stray in strays() {
            assert!(code.is_none(), "round {round} left {stray}");
            assert!(stray.starts_with(".a.hpan.") && stray.ends_with(".tmp"), "{stray}");
            left += 1;
            // even under the name that the next one would take
            if round < 9 {
                expect(0, &here, &["build", "square.obj", "-o", "a.hpan"]);
            }
            fs::remove_file(here.join(stray)).unwrap();
        }
    }
    println!("{early} of 16 stopped before their end, {left} temporary files left by those killed");
    assert!(early >= 8 && left > 0);
}

/// A signal that is ignored, as Ctrl-C is in the background of a script and a closed terminal under nohup, stays so,
/// and the others end a build that leaves nothing.
#[test]
fn vt_24_signals_that_are_ignored() {
    let here = folder("signals_that_are_ignored");
    fs::write(here.join("field.obj"), field(300)).unwrap();
    let before = names(&here);
    let written = || {
        let mut strays = names(&here).into_iter().filter(|n| n.ends_with(".tmp"));
        strays.any(|n| fs::metadata(here.join(n)).is_ok_and(|m| m.len() > 0))
    };
    for (ignored, ends) in
        [(&["INT"][..], "-TERM"), (&["HUP"], "-INT"), (&["HUP"], "-TERM"), (&["INT", "TERM"], "-HUP"), (&[], "-HUP")]
    {
        // it may be done before it is asked to end
        let stopped = (0..20).any(|_| {
            let mut child = start(&here, ignored, &["build", "field.obj", "-o", "a.hpan"]);
            // who has them ignored is not yet there
            let comm = format!("/proc/{}/comm", child.id());
            while fs::read_to_string(&comm).is_ok_and(|name| name.trim() == "env") {
                thread::sleep(Duration::from_micros(200));
            }
            // while it builds, and while its file is there, which is not for long
            for signal in ignored {
                thread::sleep(Duration::from_millis(10));
                if child.try_wait().unwrap().is_none() {
                    send(&format!("-{signal}"), &child);
                }
            }
            while !written() && child.try_wait().unwrap().is_none() {
                thread::sleep(Duration::from_micros(200));
            }
            if child.try_wait().unwrap().is_none() {
                send(ends, &child);
            }
            let status = child.wait().unwrap();
            assert!(status.success() || status.code() == Some(130), "{ignored:?} {ends}: {status:?}");
            let _ = fs::remove_file(here.join("a.hpan"));
            assert_eq!(names(&here), before, "{ignored:?} {ends}: {status:?}");
            !status.success()
        });
        assert!(stopped, "{ignored:?} {ends}");
    }
}

/// A temporary file of a process that had the same number.
#[test]
fn vt_24_strays_hinder_nobody() {
    let here = folder("strays_hinder_nobody");
    fs::write(here.join("square.obj"), SQUARE).unwrap();
    // the shell's number is the command's
    let script = "echo stray > .square.hpan.$$-0.tmp; echo stray > .square.hpan.$$-1.tmp; exec \"$0\" build square.obj";
    let done = Command::new("sh").args(["-c", script]).arg(&*HARDPAN).current_dir(&here).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let strays: Vec<String> = names(&here).into_iter().filter(|n| n.ends_with(".tmp")).collect();
    assert_eq!(strays.len(), 2, "they are not ours to remove");
    assert!(strays.iter().all(|n| fs::read(here.join(n)).unwrap() == b"stray\n"));
    expect(0, &here, &["verify", "square.hpan"]);
}

#[test]
fn vt_24_a_source_that_changes_while_it_is_read() {
    let here = folder("a_source_that_changes");
    let text = format!("# {}\n{}", "x".repeat(100), field(300));
    for (name, grows) in [("same-length.obj", false), ("grows.obj", true)] {
        fs::write(here.join(name), &text).unwrap();
        let (file, stop) = (fs::OpenOptions::new().write(true).open(here.join(name)).unwrap(), AtomicBool::new(false));
        let why = thread::scope(|scope| {
            scope.spawn(|| {
                let mut at = text.len() as u64;
                while !stop.load(Ordering::Relaxed) {
                    if grows {
                        file.write_all_at(b"# more\n", at).unwrap();
                        at += 7;
                    } else {
                        file.write_all_at(b"y", 50).unwrap();
                    }
                    thread::sleep(Duration::from_millis(1));
                }
            });
            let done = bounded(&here, &["build", name]);
            stop.store(true, Ordering::Relaxed);
            assert_eq!(done.status.code(), Some(2));
            told(&done)
        });
        holds(&why, &[name, "the file changed while it was read; "]);
        assert_eq!(names(&here), [name.to_string()].into());
        fs::remove_file(here.join(name)).unwrap();
    }
}

/// Writes triangles, each with corners of its own.
fn soup(file: &Path, count: usize, mut triangle: impl FnMut(usize) -> [[f64; 3]; 3]) {
    let mut out = std::io::BufWriter::new(fs::File::create(file).unwrap());
    for i in 0..count {
        for [x, y, z] in triangle(i) {
            writeln!(out, "v {x:.6} {y:.6} {z:.6}").unwrap();
        }
        writeln!(out, "f -3 -2 -1").unwrap();
    }
    out.flush().unwrap();
}

/// Builds within the limits, verification included.
#[track_caller]
fn builds(test: &str, count: usize, triangle: impl FnMut(usize) -> [[f64; 3]; 3]) -> PathBuf {
    let here = folder(test);
    soup(&here.join("a.obj"), count, triangle);
    let begin = Instant::now();
    let done = bounded(&here, &["build", "a.obj", "--up", "z"]);
    println!("{test}: {:?}\n{}{}", begin.elapsed(), String::from_utf8_lossy(&done.stdout), told(&done));
    assert!(done.status.success());
    fs::remove_file(here.join("a.obj")).unwrap();
    here
}

#[test]
fn vt_24_few_triangles() {
    let here = folder("few_triangles");
    let most = 524_287.999;
    fs::write(here.join("one.obj"), "v 0 0 1\nv 1 0 1\nv 0 1 1\nf 1 2 3\n").unwrap();
    let whole = format!("v -{most} 0 0\nv {most} {most} 0\nv 0 -{most} 30000\nf 1 2 3\n");
    fs::write(here.join("whole-domain.obj"), whole).unwrap();
    for name in ["one", "whole-domain"] {
        let done = bounded(&here, &["build", &format!("{name}.obj")]);
        assert!(done.status.success(), "{}", told(&done));
        let image = format!("{name}.hpan");
        expect(0, &here, &["verify", &image, "--exhaustive"]);
        expect(0, &here, &["verify", &image, "--against", &format!("{name}.obj")]);
        fs::remove_file(here.join(image)).unwrap();
    }
    fs::write(here.join("none.obj"), "# nothing\nv 0 0 0\n").unwrap();
    fs::write(here.join("vertical.obj"), "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 1\nf 1 2 3\nf 2 4 3\n").unwrap();
    let before = names(&here);
    for (name, cause) in [("none.obj", "there are no faces"), ("vertical.obj", "every triangle is vertical")] {
        let done = bounded(&here, &["build", name, "--up", "z"]);
        assert_eq!(done.status.code(), Some(2));
        holds(&told(&done), &[name, cause, "; "]);
        assert_eq!(names(&here), before);
    }
}

/// However long edges are, places beside them are told to be ground or not as the image has it.
#[test]
fn by_05_large_triangles_are_where_their_source_has_them() {
    let here = folder("large_triangles");
    let mut r = Random(5);
    for (i, most) in [2e4, 5e4, 2e5, 5e5].into_iter().cycle().take(24).enumerate() {
        let mut corner = |_| [most, most, 3e4].map(|most| (any(&mut r, 2.0) - 1.0) * most);
        let text: String = [0, 1, 2].map(&mut corner).map(|[x, y, z]| format!("v {x} {y} {z}\n")).concat();
        fs::write(here.join("a.obj"), format!("{text}f 1 2 3\n")).unwrap();
        expect(0, &here, &["build", "a.obj", "--unit", "m", "--up", "z", "--origin", "0,0,0"]);
        let done = bounded(&here, &["verify", "a.hpan", "--against", "a.obj"]);
        assert!(done.status.success(), "{i}: {text}{}", told(&done));
    }
}

/// An image is read through a map of its file: what memory the proof takes of its own does not grow with the image.
#[test]
fn an_image_that_is_larger_than_memory() {
    let here = folder("larger_than_memory");
    fs::write(here.join("a.obj"), field(1_100)).unwrap();
    expect(0, &here, &["build", "a.obj"]);
    let image = fs::metadata(here.join("a.hpan")).unwrap().len();
    let most = 16 << 20; // with the stacks of two threads
    assert!(image > 3 * most / 2, "{image} bytes");
    let script = format!("ulimit -d {}; exec \"$0\" verify a.hpan --threads 2", most >> 10);
    let done = Command::new("sh").args(["-c", &script]).arg(&*HARDPAN).current_dir(&here).output().unwrap();
    assert!(done.status.success(), "{}", told(&done));
    holds(&String::from_utf8_lossy(&done.stdout), &["every claim holds"]);
}

/// A refusal of the machine is exit 4, memory too, and an image that was there stays.
#[test]
fn memory_that_is_refused_is_exit_4() {
    let here = folder("memory_that_is_refused");
    fs::write(here.join("a.obj"), field(1_100)).unwrap();
    fs::write(here.join("a.hpan"), "what was there").unwrap();
    for most in [40_000, 120_000] {
        let script = format!("ulimit -v {most}; exec \"$0\" build a.obj --force");
        let done = Command::new("sh").args(["-c", &script]).arg(&*HARDPAN).current_dir(&here).output().unwrap();
        assert_eq!(done.status.code(), Some(4), "{most}: {}", told(&done));
        holds(&String::from_utf8_lossy(&done.stderr), &["memory"]);
        assert_eq!(fs::read(here.join("a.hpan")).unwrap(), b"what was there");
        assert_eq!(fs::read_dir(&here).unwrap().count(), 2);
    }
}

/// Wherever memory is refused, what was half written does not stay.
#[test]
fn memory_that_is_refused_leaves_no_file() {
    let here = folder("memory_that_is_refused_leaves_no_file");
    fs::write(here.join("a.obj"), field(300)).unwrap();
    expect(0, &here, &["build", "a.obj"]);
    let mut refused = 0;
    for most in (20_000..140_000).step_by(12_000) {
        let script = format!("ulimit -v {most}; exec \"$0\" export obj a.hpan -o e.obj --force");
        let done = Command::new("sh").args(["-c", &script]).arg(&*HARDPAN).current_dir(&here).output().unwrap();
        let names = || fs::read_dir(&here).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        assert!(names().all(|name| !name.starts_with('.')), "{most}: {:?}", names().collect::<Vec<_>>());
        refused += u32::from(done.status.code() == Some(4));
    }
    assert!(refused > 3, "{refused}");
}

/// Threads that the machine refuses are exit 4, whichever command wants them, and whatever is to be reported of them.
#[test]
fn threads_that_are_refused_are_exit_4() {
    let here = folder("threads_that_are_refused_are_exit_4");
    fs::write(here.join("a.obj"), field(20)).unwrap();
    expect(0, &here, &["build", "a.obj"]);
    for command in ["build a.obj -o b.hpan", "export obj a.hpan -o e.obj", "diff a.hpan a.hpan", "verify a.hpan"] {
        let run = |most: u32| {
            // one that waits for itself is ended, by 137
            let script = format!("ulimit -v {most}; exec \"$0\" {command}");
            let mut run = Command::new("timeout");
            run.args(["-s", "KILL", "60", "sh", "-c", &script]).arg(&*HARDPAN).env("RUST_BACKTRACE", "1");
            let done = run.current_dir(&here).output().unwrap();
            for file in ["b.hpan", "e.obj", "e.mtl", "e.toml"] {
                let _ = fs::remove_file(here.join(file));
            }
            (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
        };
        let (mut refused, mut begun, mut enough) = (0, false, None);
        for most in (10_000..40_000).step_by(250) {
            let (code, text) = run(most);
            // where not even the program's libraries find room it is the system's 127, and it is aborted where it finds
            // none to begin
            let ended = matches!(code, Some(0 | 4));
            assert!(ended || (!begun && matches!(code, Some(127) | None)), "{command}, {most}: {code:?}, {text}");
            begun |= ended;
            refused += u32::from(text.contains("no threads to work with"));
            enough = enough.or((code == Some(0)).then_some(most));
        }
        assert!(refused > 0, "{command}");
        // where there is just no room for what a thread begins with
        let enough = enough.unwrap();
        for most in (enough - 500..enough).step_by(2) {
            let (code, text) = run(most);
            assert!(matches!(code, Some(0 | 4)), "{command}, {most}: {code:?}, {text}");
        }
    }
}

/// Long slats side by side, of which a few edges say nothing about the others: nobody looks for gaps for longer than
/// that takes.
#[test]
fn long_slats_build_in_time() {
    let here = folder("long_slats_build_in_time");
    let slat = |k: u32| {
        let [from, to] = [2 * k, 2 * k + 1].map(|v| f64::from(v) * 0.1);
        format!("v 0 {from} 0\nv 1400 {from} 0\nv 1400 {to} 0\nv 0 {to} 0\nf -4 -3 -2 -1\n")
    };
    fs::write(here.join("a.obj"), (0..2000).map(slat).collect::<String>()).unwrap();
    let done = bounded(&here, &["build", "a.obj", "--report", "a.json"]);
    assert!(done.status.success(), "{}", told(&done));
    let report: Value = serde_json::from_slice(&fs::read(here.join("a.json")).unwrap()).unwrap();
    assert_eq!(report["gaps"]["found"], Value::Null);
}

#[test]
fn vt_24_a_hundred_thousand_layers() {
    let layer = |i: usize| {
        let z = i as f64 * 0.01;
        [[0.0, 0.0, z], [10.0, 0.0, z], [0.0, 10.0, z]]
    };
    let here = builds("a_hundred_thousand_layers", 100_000, layer);
    let [out, _] = expect(0, &here, &["info", "a.hpan", "--json"]);
    let info: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(info["triangles"], 100_000);
    holds(&expect(0, &here, &["query", "a.hpan", "1,1,500.004"])[0], &["500.000000"]);
    soup(&here.join("a.obj"), 100_000, layer);
    // each triangle is measured, and the kernel asked in some: it takes as many tests as there are layers
    let done = within(20, &here, &["verify", "a.hpan", "--against", "a.obj"]);
    assert!(done.status.success(), "{}", told(&done));
    holds(&String::from_utf8_lossy(&done.stdout), &["every claim holds"]);
}

fn any(r: &mut Random, most: f64) -> f64 {
    r.below(1 << 20) as f64 / f64::from(1 << 20) * most
}

#[test]
fn vt_24_a_million_triangles_in_a_square_centimetre() {
    let mut r = Random(5);
    builds("a_square_centimetre", 1_000_000, |_| [0; 3].map(|_| [0; 3].map(|_| any(&mut r, 0.01))));
}

#[test]
fn vt_24_a_million_crumbs_in_a_square_centimetre() {
    let mut r = Random(6);
    builds("crumbs_in_a_square_centimetre", 1_000_000, |_| {
        let at = [0; 3].map(|_| any(&mut r, 0.01));
        [0; 3].map(|_| [0, 1, 2].map(|k| at[k] + any(&mut r, 0.0008)))
    });
}

#[test]
fn vt_24_a_million_coplanar_triangles_in_a_square_centimetre() {
    let mut r = Random(8);
    builds("a_flat_square_centimetre", 1_000_000, |_| [0; 3].map(|_| [any(&mut r, 0.01), any(&mut r, 0.01), 0.0]));
}

#[test]
fn vt_24_needles_over_ten_kilometres() {
    let mut r = Random(7);
    builds("needles_over_ten_kilometres", 1_000_000, |_| {
        let (a, d) = ([10_000.0, 10_000.0, 100.0].map(|m| any(&mut r, m)), [0; 2].map(|_| any(&mut r, 20.0) - 10.0));
        let b = [a[0] + d[0], a[1] + d[1], a[2] + any(&mut r, 1.0)];
        [a, b, [b[0] - d[1] * 1e-3, b[1] + d[0] * 1e-3, b[2]]]
    });
}

/// Identity of an image, whatever its source looked like, and all bytes before the provenance.
fn identity(here: &Path, image: &str) -> String {
    let [out, _] = expect(0, here, &["info", image, "--json"]);
    let info: Value = serde_json::from_str(&out).unwrap();
    info["identity"].as_str().unwrap().into()
}

/// A wavy floor of five objects and three materials, with a deck above: faces in an order, vertices in another.
fn town(objects: &[usize], prefix: &str, shuffle: Option<u64>) -> String {
    const SIDE: usize = 60;
    let mut order: Vec<usize> = (0..(SIDE + 1) * (SIDE + 1)).collect();
    let mut r = Random(shuffle.unwrap_or_default());
    let mut mix = |list: &mut Vec<usize>| {
        for i in (1..list.len()).rev().filter(|_| shuffle.is_some()) {
            list.swap(i, r.below(i + 1));
        }
    };
    mix(&mut order);
    let mut at = vec![0; order.len()];
    let mut text = String::new();
    for (number, &v) in order.iter().enumerate() {
        let (x, y) = ((v % (SIDE + 1)) as f64 * 1.7, (v / (SIDE + 1)) as f64 * 1.3);
        at[v] = number + 1;
        writeln!(text, "v {x} {y} {}", (x * 0.31).fract() * (y * 0.17).fract()).unwrap();
    }
    for &o in objects {
        writeln!(text, "o {prefix}object {o}\nusemtl {}", ["stone", "mud", "ice"][o % 3]).unwrap();
        let mut squares: Vec<usize> = (0..SIDE * SIDE).filter(|s| s / SIDE % 5 == o).collect();
        mix(&mut squares);
        for s in squares {
            let a = s / SIDE * (SIDE + 1) + s % SIDE;
            let [a, b, c, d] = [a, a + 1, a + SIDE + 2, a + SIDE + 1].map(|v| at[v]);
            write!(text, "f {a} {b} {c}\nf {a} {c} {d}\n").unwrap();
        }
    }
    text
}

#[test]
fn identity_is_of_the_ground_alone() {
    let here = folder("identity_is_of_the_ground_alone");
    let write = |name: &str, text: &str| fs::write(here.join(name), text).unwrap();
    let (all, back) = ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2]);
    write("plain.obj", &town(&all, "", None));
    write("objects.obj", &town(&back, "", None));
    write("shuffled.obj", &town(&back, "", Some(1)));
    // the reader's parts end elsewhere
    let long = format!("# {}\n", "-".repeat(4000));
    write("padded.obj", &town(&all, "", None).replace('\n', "  \r\n").replace("\no ", &format!("\n{long}o ")));
    expect(0, &here, &["build", "plain.obj"]);
    let one = identity(&here, "plain.hpan");
    for name in ["objects", "shuffled", "padded"] {
        expect(0, &here, &["build", &format!("{name}.obj")]);
        assert_eq!(identity(&here, &format!("{name}.hpan")), one, "{name}");
    }
    for threads in ["1", "2", "3"] {
        let done = Command::new(&*HARDPAN)
            .args(["build", "plain.obj", "-o", "threads.hpan"])
            .env("RAYON_NUM_THREADS", threads)
            .current_dir(&here)
            .output()
            .unwrap();
        assert!(done.status.success());
        let [other, first] = ["threads.hpan", "plain.hpan"].map(|n| fs::read(here.join(n)).unwrap());
        assert!(other == first, "{threads} threads: other bytes");
    }
    // Sources are content, and of several files a source is `file/object`: split over two files of one name the ground
    // is that of a single file whose objects are called so, wherever it is split.
    write("whole.obj", &town(&all, "town.obj/", None));
    expect(0, &here, &["build", "whole.obj"]);
    let whole = identity(&here, "whole.hpan");
    assert_ne!(whole, one, "names of sources are content");
    for (folder, left, right) in [("a", &[0, 1, 2][..], &[3, 4][..]), ("b", &[4, 1], &[2, 0, 3])] {
        let parts = [("left", left), ("right", right)].map(|(side, objects)| {
            let place = format!("{folder}-{side}/town.obj");
            fs::create_dir(here.join(&place).parent().unwrap()).unwrap();
            write(&place, &town(objects, "", (side == "right").then_some(9)));
            place
        });
        for [one, other] in [[0, 1], [1, 0]] {
            expect(0, &here, &["build", &parts[one], &parts[other], "-o", "parts.hpan"]);
            assert_eq!(identity(&here, "parts.hpan"), whole, "{folder}");
        }
    }
}

/// Every OBJ file of the real data that is not odd or malformed on purpose: what `--up` it takes, for all build.
const REAL: [(&str, &str); 35] = [
    ("3dfier_innerbuffer_05.obj", "z"),
    ("kitavi_city.obj", "z"),
    ("recast_dungeon.obj", "y"),
    ("samurai_monastry.obj", "y"),
    ("steelribs.obj", "y"),
    ("zdm2.obj", "y"),
    ("blender_279_nested_meshes.obj", "y"),
    ("blender_293_instancing.obj", "y"),
    ("blender_340_y_up.obj", "y"),
    ("blender_340_z_up.obj", "z"),
    ("max2009_blob.obj", "z"),
    ("max7_cube.obj", "z"),
    ("max_geometry_transform.obj", "z"),
    ("maya_axes.obj", "y"),
    ("maya_cube.obj", "y"),
    ("maya_cube_big_endian.obj", "y"),
    ("maya_pivots.obj", "y"),
    ("revit_wall_square.obj", "z"),
    ("brick.obj", "y"),
    ("cube.obj", "z"),
    ("green_cylinder.obj", "y"),
    ("ditch_surface.obj", "z"),
    ("surface.obj", "z"),
    ("RoadBlockade_01.obj", "z"),
    ("RoadBlockade_02.obj", "z"),
    ("crashbarrel1_rotated_scaled.obj", "z"),
    ("multilayer-terrain-collision.obj", "z"),
    ("multilayer-terrain.obj", "z"),
    ("cloverleaf.obj", "z"),
    ("chrono_bump.obj", "z"),
    ("chrono_bump_YUP.obj", "y"),
    ("chrono_fixedterrain.obj", "z"),
    ("chrono_halfround_100mm.obj", "z"),
    ("chrono_test_terrain_irregular.obj", "z"),
    ("recast_undulating.obj", "y"),
];

#[test]
fn vt_25_cg_01_every_real_mesh_builds_and_verifies() {
    let here = folder("every_real_mesh");
    let all = ["city", "fbx", "mavs", "roads", "terrain"].map(real).concat();
    let mut seen = 0;
    for file in all.iter().filter(|f| f.extension().is_some_and(|e| e == "obj")) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let up = REAL.iter().find(|r| r.0 == name).unwrap_or_else(|| panic!("{name} is not in the table")).1;
        let unit = if name == "cloverleaf.obj" { "in" } else { "m" };
        let mut typed = vec!["build", file.to_str().unwrap(), "--up", up, "--unit", unit, "-o", "a.hpan"];
        if name == "kitavi_city.obj" {
            // its ground lies 9,800 km from its houses
            let done = bounded(&here, &typed);
            assert_eq!(done.status.code(), Some(2));
            holds(
                &told(&done),
                &[
                    "58 of 7,148 triangles lie outside the domain, among them most of 4 objects; ",
                    "\n  2 of 2 triangles of \"ground\" (material \"Ground\")",
                    "\none image cannot hold all of it",
                    "--drop-outliers",
                ],
            );
            typed.push("--drop-outliers");
        }
        let done = bounded(&here, &typed);
        assert!(done.status.success(), "{name}: {}", told(&done));
        let done = bounded(&here, &["verify", "a.hpan"]);
        assert!(done.status.success(), "{name}: {}", told(&done));
        seen += 1;
    }
    assert!(seen == 0 || seen == REAL.len(), "{seen}");
}
