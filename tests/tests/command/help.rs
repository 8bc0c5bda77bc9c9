//! Help of the command, and its behaviour in shells.

use std::{
    fs,
    process::{Command, Output, Stdio},
};

use crate::shell::{BRIDGE, HARDPAN, error, expect, folder, holds};

/// Titles of `--help` and the commands under each.
fn groups(help: &str) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for line in help.lines() {
        if let Some(title) = line.strip_suffix(':').filter(|t| !t.contains(' ')) {
            groups.push((title.into(), Vec::new()));
        } else if let (Some(group), Some(name)) =
            (groups.last_mut(), line.strip_prefix("  ").and_then(|l| l.split(' ').next()))
        {
            group.1.push(name.into());
        }
    }
    groups
}

/// Help of a command fits one screen.
#[test]
fn help_fits_one_screen() {
    let folder = folder("help_fits_one_screen");
    let manual = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let [all, _] = expect(0, &folder, &["--help"]);
    let names: Vec<String> = groups(&all).into_iter().take(4).flat_map(|group| group.1).collect();
    assert!(names.len() >= 16, "{names:?}");
    for name in names.iter().map(String::as_str).chain(["", "export obj", "export png"]) {
        let [help, _] = expect(0, &folder, &name.split_whitespace().chain(["--help"]).collect::<Vec<_>>());
        let lines = help.lines().count();
        assert!((10..=40).contains(&lines), "{name}: {lines}");
        if ["query", "bench"].contains(&name) {
            let widest = help.lines().max_by_key(|line| line.chars().count()).unwrap();
            assert!(widest.chars().count() <= 110, "{name}: {widest}");
        }
        // pages that are named are there
        for page in help.split([' ', ',', ';', '\n']).filter(|word| word.starts_with("builder/docs/")) {
            let page = page.trim_end_matches(['.', ':', ')']);
            assert!(manual.join(page).is_file(), "{name}: {page}");
        }
    }
    let pages = [("query", "query-and-csv.md"), ("bench", "check-and-verify.md")];
    for (name, page) in pages {
        holds(&expect(0, &folder, &[name, "--help"])[0], &[&format!("builder/docs/{page}")]);
    }
    let [help, _] = expect(0, &folder, &["grid", "--help"]);
    let lines = help.lines().count();
    assert!((24..=40).contains(&lines), "{lines}");
    // what went into the manual is named, and is there
    holds(&help, &["builder/docs/grid.md", "highest-below=Z", "hardpan grid track.obj --cell 0.5 -o track.npy"]);
    holds(include_str!("../../../builder/docs/grid.md"), &["`min + (i + 0.5) * cell`", "cell-mean", "NaN"]);
    let [help, _] = expect(0, &folder, &["diff", "--help"]);
    let lines = help.lines().count();
    assert!((24..=40).contains(&lines), "{lines}");
    holds(&help, &["the image less the reference", "\"Comparing two images\"", "x,y,z[,mu]"]);
    holds(
        include_str!("../../../builder/docs/diff.md"),
        &["## Comparing two images\n", "each lies no farther than 0.5 m from where it was"],
    );
}

#[test]
fn vt_22_help_lists_commands_by_what_they_are_for() {
    let folder = folder("vt_22_help_lists_commands_by_what_they_are_for");
    let [help, err] = expect(0, &folder, &["--help"]);
    assert!(err.is_empty() && !help.contains('\u{1b}'), "{help}");
    let groups = groups(&help);
    let titles: Vec<&str> = groups.iter().map(|g| g.0.as_str()).collect();
    assert_eq!(titles, ["Make", "Look", "Check", "Other", "Options"]);
    for (title, names) in [
        ("Make", &["build", "materials", "grid"][..]),
        ("Look", &["info", "query"]),
        ("Check", &["verify", "diff", "bench"]),
        ("Other", &["demo", "completions", "man"]),
    ] {
        let group = &groups.iter().find(|g| g.0 == title).unwrap().1;
        assert!(names.iter().all(|n| group.iter().any(|g| g == n)), "{title}: {group:?}");
    }
    holds(&help, &["Usage: hardpan <COMMAND>", "Exit codes: 0 fine", "hardpan COMMAND --help", "--version"]);
    // each once, and each tells about itself
    let mut all: Vec<&String> = groups.iter().take(4).flat_map(|g| &g.1).collect();
    for name in &all {
        let [own, _] = expect(0, &folder, &[name.as_str(), "--help"]);
        holds(&own, &[&format!("Usage: hardpan {name}")]);
    }
    // what is there to be typed is indented, the first line too
    for name in all.iter().map(|n| n.as_str()).chain(["export obj", "export png"]) {
        let typed: Vec<&str> = name.split(' ').chain(["--help"]).collect();
        let [own, _] = expect(0, &folder, &typed);
        assert!(!own.lines().any(|l| l.starts_with("hardpan ")), "{own}");
        assert!(name != "demo" || own.contains("\nExamples:\n  hardpan demo  "), "{own}");
    }
    all.sort_unstable();
    let count = all.len();
    all.dedup();
    assert!(all.len() == count && count >= 10, "{all:?}");
    assert_eq!(expect(0, &folder, &["-h"])[0], help);
    assert_eq!(expect(0, &folder, &["help"])[0], help);
    let [out, usage] = expect(2, &folder, &[]);
    assert!(out.is_empty() && usage.contains("Look:"), "{usage}");
    for flag in ["--version", "-V"] {
        let [version, _] = expect(0, &folder, &[flag]);
        let wanted = format!("hardpan {} (image format 3, gpu yes)\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(version, wanted);
    }
    holds(&expect(2, &folder, &["bilud"])[1], &["unrecognized subcommand 'bilud'", "'build'"]);
}

/// First attempts that fail, and the line that each answer says to type.
#[test]
fn vt_22_slips_are_answered_with_what_to_type() {
    let folder = crate::shell::bridge("vt_22_slips_are_answered_with_what_to_type");
    let form = "a point is x,y or x,y,z or x,y,z,length";
    let blanks = format!("{form}, with commas and no blanks, as in 1,2\n");
    for (typed, why) in [
        ("query bridge.hpan 1 2", &*blanks),
        ("query bridge.hpan -1 -2", &blanks),
        ("query bridge.hpan 1, 2", &blanks),
        ("query bridge.hpan 1;2", &blanks),
        ("query bridge.hpan 1;2,3", &blanks),
        ("query bridge.hpan points.csv", "; points of a file: --csv points.csv\n"),
        ("query bridge.hpan -", "; points of a file: --csv -\n"),
        ("query 1,2 bridge.hpan", "; one image is asked, whose name comes first\n"),
        ("query bridge.hpan 1,2 --jsn", "a similar argument exists: '--json'"),
        ("query bridge.hpan", "<x,y[,z[,length]]>"),
        ("query bridge.obj 1,2", "bridge.obj: this is not a terrain image; to make one: hardpan build FILE.obj\n"),
        ("query . 1,2", ".: this is a folder; name an image in it\n"),
        ("query bridge.hpan --csv .", ".: this is a folder"),
        ("bridge.hpan", "error: bridge.hpan: a command comes first, such as: hardpan info bridge.hpan\n"),
        ("bridge.obj", "error: bridge.obj: a command comes first, such as: hardpan build bridge.obj\n"),
        ("inf bridge.hpan", "similar subcommands exist: 'diff', 'info'"),
        ("info -", "error: -: there is no file of this name; an image that comes through a pipe is /dev/stdin\n"),
        (
            "info bridge",
            "bridge: there is no such file or folder; check the spelling (did you mean \"bridge.hpan\"?)\n",
        ),
        ("build bridge.obj new.hpan", "new.hpan: there is no such file; to write the image there, type -o new.hpan\n"),
        ("build bridge.obj --units cm", "a similar argument exists: '--unit'"),
        ("build bridge.obj --unit yard", "[possible values: m, km, cm, mm, ft, us-ft, in]"),
        ("build bridge.obj --unit miles", "tip: state another unit in metres: --unit m --scale 1609.344 for miles\n"),
        (
            "build bridge.obj --friction 0.5",
            "error: there is no option --friction; settings state friction: hardpan mat",
        ),
        ("build bridge.obj --mu=0.5", ", edit, then: hardpan build --settings FILE.toml\n"),
        ("build .", ".: this is a folder; name a mesh in it, FILE.obj, FILE.fbx, "),
        ("build bridge.hpan", "this is a terrain image already; look at it: hardpan info bridge.hpan\n"),
        ("verify bridge.obj", "this is not a terrain image; to make one: hardpan build FILE.obj\n"),
        ("verify bridge.hpan --against bridge.hpan", "; to compare two images: hardpan diff FIRST SECOND\n"),
        (
            "diff bridge.hpan bridge.obj",
            "bridge.obj: this is not a terrain image; to make one: hardpan build FILE.obj\n",
        ),
        ("bench bridge.hpan -n 1e6", "a whole number from 1 to 1,000,000,000,000 without commas\n"),
        ("export bridge.hpan", "say what to export; maps: hardpan export png bridge.hpan; triangles: "),
        (
            "export png bridge.hpan -o map.jpg",
            "one map goes into FILE.png, several go into a folder; name that with -o\n",
        ),
        ("materials .", ".: this is a folder; name a mesh in it, FILE.obj, FILE.fbx, "),
        ("man qury", "error: there is no command qury; commands are build, merge, rebuild, materials, grid, "),
    ] {
        let [out, err] = expect(2, &folder, &typed.split(' ').collect::<Vec<_>>());
        assert!(out.is_empty() && err.starts_with("error: ") && err.contains(why), "{typed}: {err}");
        assert!(!err.contains("a similar value"), "{typed}: {err}");
    }
}

/// Every command that a help text gives as an example runs as it stands, but for fewer queries and a reader of manual
/// pages, in the order of the texts; each with a part of what it prints.
#[cfg(unix)]
#[test]
fn vt_22_examples_in_help_run() {
    let folder = folder("vt_22_examples_in_help_run");
    let wanted = [
        ("materials town.obj --up y -o town.toml", "town.toml: settings of 2 materials"),
        ("build town.obj --settings town.toml", "town.hpan: 4 triangles"),
        ("query track.hpan -12.5,3 10,20,5 10,20,5,8", "     -12.500        3.000         -     0.000000"),
        ("query track.hpan --csv points.csv -o answers.csv", ""),
        ("query track.hpan --ray 10,20,1.5,1,0,-0.1,50", "found  15.074813 m"),
        ("query track.hpan --along drive.csv --plot drive.png -o answers.csv", ""),
        ("export obj town.hpan", "town-ground.obj: 4 triangles"),
        ("build --settings town-ground.toml", "town-ground.hpan: 4 triangles"),
        ("bench track.hpan -n 5000000", "track.hpan: 5,000 queries, plan uniform"),
        ("bench track.hpan --plan worst", "queries, plan worst"),
        ("bench track.hpan --plan rays", "5 m, all kinds"),
        ("bench track.hpan --along drive.csv --json", "\"plan\": \"along drive.csv\""),
        ("demo", "Built a proving ground"),
        ("demo --fixture bridge", "bridge.hpan: Ground at z = 0 on 100 m by 100 m"),
        ("demo --scene mavs", "the scene is hardpan-demo-mavs/scenes/demo_scene.json"),
        ("query bridge.hpan 0,0 0,0,2 20,0", "6.000000"),
        ("completions bash > ~/.local/share/bash-completion/completions/hardpan", ""),
        ("completions zsh > ~/.zfunc/_hardpan", ""),
        ("completions fish > ~/.config/fish/completions/hardpan.fish", ""),
        ("man | man -l -", ".TH hardpan 1"),
        ("man query | man -l -", ".TH hardpan-query 1"),
        ("man export png | man -l -", ".TH hardpan-export-png 1"),
        ("man -o ~/.local/share/man/man1", "hardpan-verify.1"),
        ("build track.obj --up z --unit m", "track.hpan: 4 triangles"),
        ("build --settings town.toml -o town2.hpan", "town2.hpan: 4 triangles"),
        ("build town.obj --up y --max-cost 24 -o cheap.hpan", "cheap.hpan: 4 triangles"),
        ("merge west.hpan east.hpan -o both.hpan", "both.hpan: "),
        ("merge tile.hpan -o row.hpan --place tile.hpan:0,0,0,0 --place tile.hpan:100,0,0,90", "row.hpan: "),
        ("rebuild town.hpan -o wet.hpan --mu-multiply 0.7", "mu times 0.7"),
        ("rebuild town.hpan -o town2.hpan --settings town.toml", "town2.hpan: 4 triangles"),
        ("grid track.obj --cell 0.5 -o track.npy", "track.npy: 200 x 200 squares of 0.5 m, highest"),
        ("flash track.hpan --address 0x08080000 --flash-size 512K -o track.hex", "track.hex: image of "),
        ("vstu --source shape.fbx --target track.vsterrain", "track.vsterrain: 4 triangles"),
        ("vstu --source shape.fbx --target track.vsterrain -settings urbanStyle.vstu", "track.vsterrain: 4 triangles"),
        ("vstu --source shape.fbx --target track.vsterrain --debug trackDebug.obj", "trackDebug.obj: 4 triangles"),
        ("vstu --merge merged.vsterrain t1.vsterrain \"t 2.vsterrain\" t3.vsterrain", "merged.vsterrain: 4 triangles"),
        ("vstu --debug trackDebug.obj --source track.vsterrain", "trackDebug.obj: 4 triangles"),
        ("vstu -source track.vsterrain -queryfile points.csv", "points.csv_out.csv: 1 place"),
        ("sensor track.hpan --drive drive.csv -o sensor.csv --obj traces.obj", ""),
        ("diff track.hpan measured.csv --tolerance 0.01 -o map.png", "alike: no point is farther off than 0.01 m"),
    ];
    let turned = BRIDGE.lines().map(|l| match l.split(' ').collect::<Vec<_>>()[..] {
        ["v", x, y, z] => format!("v {x} {z} {}\n", -y.parse::<f64>().unwrap()),
        _ => format!("{l}\n"),
    });
    fs::write(folder.join("town.obj"), turned.collect::<String>()).unwrap();
    fs::write(folder.join("track.obj"), BRIDGE).unwrap();
    expect(0, &folder, &["build", "track.obj"]);
    for copy in ["west.hpan", "east.hpan", "tile.hpan", "t1.vsterrain", "t 2.vsterrain", "t3.vsterrain"] {
        fs::copy(folder.join("track.hpan"), folder.join(copy)).unwrap();
    }
    // what a file holds decides, and this is an image
    fs::copy(folder.join("track.hpan"), folder.join("shape.fbx")).unwrap();
    fs::write(folder.join("urbanStyle.vstu"), r#"{ "VsTerrainUtility": { "Version": 1.0 } }"#).unwrap();
    fs::write(folder.join("points.csv"), "x,y\n1,2\n").unwrap();
    fs::write(folder.join("measured.csv"), "x,y,z\n1,2,6\n20,2,0.005\n").unwrap();
    fs::write(folder.join("drive.csv"), "t,x,y,z\n0,1,2,0.5\n1,2,2,0.5\n").unwrap();
    for place in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"] {
        fs::create_dir_all(folder.join(place)).unwrap();
    }
    let [help, _] = expect(0, &folder, &["--help"]);
    let names: Vec<String> = groups(&help).into_iter().take(4).flat_map(|g| g.1).collect();
    let names = names.iter().map(String::as_str).chain(["export obj", "export png"]);
    let order = ["materials", "query", "export obj", "bench", "demo", "completions", "man"];
    let place = |name: &str| order.iter().position(|n| *n == name).unwrap_or(order.len());
    let mut names: Vec<&str> = names.collect();
    names.sort_by_key(|name| place(name));
    let mut examples = Vec::new();
    for name in names {
        let [text, _] = expect(0, &folder, &name.split(' ').chain(["--help"]).collect::<Vec<_>>());
        let lines = text.lines().filter_map(|l| l.strip_prefix("  hardpan "));
        examples.extend(lines.map(|l| l.split("   ").next().unwrap().trim_end().to_string()));
    }
    assert_eq!(examples, wanted.map(|(typed, _)| typed), "and what each prints");
    for (typed, part) in wanted {
        let typed = typed
            .replace("-n 5000000", "-n 5000")
            .replace("| man -l -", "| cat")
            .replace("--plan worst", "--plan worst -n 5000")
            .replace("--plan rays", "--plan rays -n 5000");
        if typed.ends_with("-o answers.csv") {
            let _ = fs::remove_file(folder.join("answers.csv")); // of the example before
        }
        let done = Command::new("sh")
            .args(["-c", &format!("\"$0\" {typed}")])
            .arg(&*HARDPAN)
            .current_dir(&folder)
            .env("HOME", &folder)
            .env("LC_ALL", "C")
            .output()
            .unwrap();
        let [out, err] = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(done.status.code(), Some(0), "{typed}\n{out}\n{err}");
        holds(&(out + &err), &[part]);
    }
    for (name, start) in [
        ("answers.csv", &b"t,distance,x,y,z,"[..]),
        ("drive.png", b"\x89PNG"),
        (".local/share/bash-completion/completions/hardpan", b"_hardpan()"),
        (".zfunc/_hardpan", b"#compdef hardpan"),
        (".config/fish/completions/hardpan.fish", b"# Print an optspec"),
    ] {
        assert!(fs::read(folder.join(name)).unwrap().starts_with(start), "{name}");
    }
}

#[test]
fn completions_for_every_shell() {
    let folder = folder("completions_for_every_shell");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let [text, err] = expect(0, &folder, &["completions", shell]);
        assert!(err.is_empty(), "{err}");
        holds(&text, &["hardpan", "materials", "query", "along", "plot"]);
        fs::write(folder.join(shell), text).unwrap();
    }
    holds(&expect(2, &folder, &["completions", "cmd"])[1], &["[possible values: bash"]);
    expect(2, &folder, &["completions"]);
    // what bash makes of it
    let script = r#"
source ./bash
[[ $(complete -p hardpan) == *'-o default -F '* ]] || exit 1
function=$(complete -p hardpan | sed 's/.* -F \([^ ]*\).*/\1/')
told() {
    COMP_WORDS=(hardpan "$@"); COMP_CWORD=$#
    $function hardpan "${@: -1}" "${COMP_WORDS[$# - 1]}"
    echo ${COMPREPLY[@]}
}
told ma
for first in build verify 'export png' 'build a.obj'; do told $first ''; told $first tr; told $first --str; done
told export ''
told demo --fixture br
# lists with commas, settings only as those are, files as bash knows them, and nothing where a number is typed
told export png a.hpan --map relief,la
told export png a.hpan --map l
told build a.obj --settings ''
told build a.obj --settings my
told build a.obj --settings 'my\ s'
told build a.obj --settings way/
told build a.obj --report b
told build a.obj --tile ''
"#;
    fs::create_dir(folder.join("way")).unwrap();
    for name in ["a.json", "b.png", "my set.toml", "way/c.toml", "way/c.hpan"] {
        fs::write(folder.join(name), "").unwrap();
    }
    match Command::new("bash").args(["--norc", "-c", script]).current_dir(&folder).output() {
        Ok(Output { status, stdout, stderr }) => {
            assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
            // where files are taken no word is left, and bash falls back to them
            let files = ["\n\n--strict", "\n\n", "\n\n", "\n\n--strict"].join("\n");
            let lists = "relief,layers\nlayers leaves\n";
            let settings = "way my set.toml a.json\nmy set.toml\nmy set.toml\nway/c.toml\n";
            let wanted = format!("materials man\n{files}\nobj png tif help\nbridge\n{lists}{settings}\n\n");
            assert_eq!(String::from_utf8(stdout).unwrap(), wanted);
        }
        Err(e) => verification::skipped(&format!("there is no bash: {e}")),
    }
}

#[test]
fn manual_pages() {
    let folder = folder("manual_pages");
    let [page, _] = expect(0, &folder, &["man"]);
    assert!(page.starts_with(".ie "), "{page}");
    holds(&page, &[".TH hardpan 1", "hardpan\\-build(1)", "Exit codes"]);
    let [help, _] = expect(0, &folder, &["--help"]);
    for _ in 0..2 {
        let [out, _] = expect(0, &folder, &["man", "-o", "pages/man1"]);
        assert!(out.starts_with("pages/man1/hardpan.1\n"), "{out}");
        for name in groups(&help).iter().take(4).flat_map(|g| &g.1) {
            let file = format!("pages/man1/hardpan-{name}.1");
            assert!(out.lines().any(|l| l == file), "{file}: {out}");
            let page = fs::read_to_string(folder.join(file)).unwrap();
            holds(&page, &[&format!(".TH hardpan-{name} 1"), ".SH SYNOPSIS"]);
        }
    }
    // and those below it; none speaks of one that is not there
    for file in fs::read_dir(folder.join("pages/man1")).unwrap() {
        let page = fs::read_to_string(file.unwrap().path()).unwrap().replace("\\-", "-");
        for (name, _) in page.split_whitespace().filter_map(|word| word.split_once("(1)")) {
            assert!(folder.join(format!("pages/man1/{name}.1")).exists(), "{name}");
        }
    }
    let page = fs::read_to_string(folder.join("pages/man1/hardpan-export-png.1")).unwrap();
    holds(&page, &[".TH hardpan-export-png 1", "\\-\\-range"]);
    assert_eq!(expect(0, &folder, &["man", "export", "png"])[0], page);
    holds(&error(2, &folder, &["man", "export", "gif"]), &["there is no command gif; commands are obj, png"]);
    // one by its command's name
    for name in ["query", "verify"] {
        let [page, _] = expect(0, &folder, &["man", name]);
        assert_eq!(page, fs::read_to_string(folder.join(format!("pages/man1/hardpan-{name}.1"))).unwrap());
    }
    expect(2, &folder, &["man", "query", "-o", "pages"]);
    // pages replace pages, and nothing else
    fs::write(folder.join("pages/man1/hardpan.1"), "dear all").unwrap();
    holds(&error(2, &folder, &["man", "-o", "pages/man1"]), &["that is not a manual page; to replace it add --force"]);
    expect(0, &folder, &["man", "-o", "pages/man1", "--force"]);
    expect(0, &folder, &["man", "-o", "pages/man1"]);
    expect(2, &folder, &["man", "query", "--force"]);
    holds(&error(2, &folder, &["man", "-o", "pages/man1/hardpan.1"]), &["name a folder"]);
}

#[test]
fn colours_only_where_they_are_wanted() {
    let folder = folder("colours_only_where_they_are_wanted");
    let coloured = |variables: &[(&str, &str)]| {
        let mut command = Command::new(&*HARDPAN);
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM"] {
            command.env_remove(name);
        }
        let done = command.args(["--help"]).envs(variables.to_vec()).current_dir(&folder).output().unwrap();
        done.stdout.contains(&0x1b)
    };
    assert!(!coloured(&[]), "none into a pipe");
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]), "but where they are forced");
    assert!(!coloured(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]), "and none against NO_COLOR");
}

#[test]
fn closed_pipes_end_quietly() {
    let folder = folder("closed_pipes_end_quietly");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    expect(0, &folder, &["build", "bridge.obj"]);
    fs::write(folder.join("points.csv"), "1,2\n".repeat(50_000)).unwrap();
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["build", "--help"],
        &["completions", "zsh"],
        &["man"],
        &["info", "bridge.hpan"],
        &["info", "bridge.hpan", "--json"],
        &["materials", "bridge.hpan"],
        &["query", "bridge.hpan", "1,2"],
        &["query", "bridge.hpan", "1,2", "--explain"],
        &["query", "bridge.hpan", "--csv", "points.csv", "--json"],
        &["query", "bridge.hpan", "--csv", "points.csv", "--layers"],
        &["verify", "bridge.hpan"],
        &["diff", "bridge.hpan", "bridge.hpan"],
        &["bench", "bridge.hpan", "-n", "1000"],
    ] {
        let child = Command::new(&*HARDPAN)
            .args(arguments)
            .current_dir(&folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        drop(child.stdout.take());
        let done = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.code(), &*said), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn numbers_below_zero() {
    let folder = folder("numbers_below_zero");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    let build = ["build", "bridge.obj", "--rotate", "-90", "--translate", "-500,-.5,-1e1", "--up", "-x"];
    expect(0, &folder, &[&build[..6], &["--force"]].concat());
    let [out, _] = expect(0, &folder, &["info", "bridge.hpan"]);
    holds(
        &out,
        &["x           -550.000 to -450.000 m", "y           -50.500 to 49.500 m", "z           -10.000 to -4.000 m"],
    );
    for options in [&[][..], &["--layers"], &["--explain"], &["--json"]] {
        for points in [&["-500,-.5"][..], &["-500,-.5,-20"], &["-5e2,-0.5,-1,100", "-499.5,-1"]] {
            expect(0, &folder, &[&["query", "bridge.hpan"], points, options].concat());
            expect(0, &folder, &[&["query"], options, &["bridge.hpan"], points].concat());
        }
    }
    for options in [&["-500"][..], &["-500", "3"]] {
        let [_, err] = expect(2, &folder, &[&["query", "bridge.hpan"], options].concat());
        assert!(err.contains("a point is x,y or x,y,z or x,y,z,length") && !err.contains("tip:"), "{err}");
    }
    fs::write(folder.join("drive.csv"), "t,x,y,z\n-1,-500,-.5,-10\n0,-499,-.5,-10\n").unwrap();
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "--along", "drive.csv"]);
    holds(&out, &["\n-1,0,-500,-0.5,-10,"]);
    expect(2, &folder, &["query", "bridge.hpan", "-o"]);
}

#[cfg(unix)]
#[test]
fn names_that_are_no_utf_8() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};
    let name = |bytes: &'static [u8]| Path::new(OsStr::from_bytes(bytes));
    let folder = folder("names_that_are_no_utf_8").join(name(b"caf\xe9"));
    if let Err(e) = fs::create_dir(&folder) {
        return println!("skipped, because this disk has only UTF-8 names: {e}");
    }
    let [obj, image, points, answers, plot] =
        [&b"br\xfccke.obj"[..], b"br\xfccke.hpan", b"\xff.csv", b"\xfe.csv", b"\xfe.svg"].map(name);
    fs::write(folder.join(obj), BRIDGE).unwrap();
    fs::write(folder.join(points), "x,y\n1,2\n-20,1\n").unwrap();
    let run = |code: i32, arguments: &[&OsStr]| {
        let done = Command::new(&*HARDPAN).args(arguments).current_dir(&folder).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(code), "{arguments:?}: {said}");
        said
    };
    let word = OsStr::new;
    let [obj, image, points, answers, plot] = [obj, image, points, answers, plot].map(Path::as_os_str);
    run(0, &[word("build"), obj]);
    run(0, &[word("info"), image]);
    run(0, &[word("materials"), obj]);
    run(0, &[word("verify"), image, word("--against"), obj]);
    run(0, &[word("diff"), image, image]);
    run(0, &[word("query"), image, word("--csv"), points, word("-o"), answers]);
    run(0, &[word("query"), image, word("--along"), points, word("--plot"), plot]);
    run(0, &[word("bench"), image, word("-n"), word("100"), word("--along"), points]);
    assert!(fs::read_to_string(folder.join(answers)).unwrap().contains("Steel plate"));
    assert!(fs::read_to_string(folder.join(plot)).unwrap().contains("br\u{fffd}cke.hpan along \u{fffd}.csv"));
    let why = run(2, &[word("info"), obj]);
    assert!(why.contains("br\u{fffd}cke.obj"), "{why}");
    let why = run(2, &[word("query"), image, word(OsStr::from_bytes(b"1,2\xff").to_str().unwrap_or("1,x"))]);
    assert!(why.contains("not a number"), "{why}");
    run(2, &[word("query"), image, OsStr::from_bytes(b"1,2\xff")]);
    run(2, &[OsStr::from_bytes(b"b\xfcild")]);
}

#[cfg(target_os = "linux")]
#[test]
fn interruptions_leave_nothing() {
    use std::{io::Write, thread::sleep, time::Duration};
    let folder = folder("interruptions_leave_nothing");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    expect(0, &folder, &["build", "bridge.obj"]);
    for arguments in [
        &["query", "bridge.hpan", "--csv", "-", "-o", "answers.csv"][..],
        &["bench", "bridge.hpan", "-n", "100000000000"],
    ] {
        // where the tests themselves run in the background, signals would be ignored, and stay so
        let mut child = Command::new("env")
            .args(["--default-signal=INT,TERM,HUP,PIPE", &HARDPAN.to_string_lossy()])
            .args(arguments)
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // held until the end: by itself waiting would close it, and the answers could be whole before the signal is
        // there
        let mut points = child.stdin.take().unwrap();
        points.write_all("1,2\n".repeat(5000).as_bytes()).unwrap();
        sleep(Duration::from_millis(500));
        assert_eq!(child.try_wait().unwrap(), None, "{arguments:?} still runs");
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{arguments:?}");
        drop(points);
    }
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|f| f.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["bridge.hpan", "bridge.obj"]);
}
