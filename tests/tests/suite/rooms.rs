//! The rooms of builder and kernel: imports go down one list, and five files of the builder lie loose.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The rooms, from the top down. A room imports what stands below it, never what stands above or beside it.
const BUILDER: [&[&str]; 17] = [
    &["command"],
    &["inspect", "live", "fmu"],
    &["draw"],
    &["demo", "bench", "query"],
    &["compare"],
    &["check"],
    &["grid", "export", "flash"],
    &["edit"],
    &["import"],
    &["build"],
    &["verify"],
    &["image"],
    &["settings"],
    &["scene"],
    &["options"],
    &["report"],
    &["util"],
];

/// The rooms of the kernel, in the same order.
const KERNEL: [&[&str]; 13] = [
    &["query", "verify"],
    &["precedence"],
    &["search"],
    &["index"],
    &["leaf"],
    &["rays"],
    &["open"],
    &["trace"],
    &["geom"],
    &["hit"],
    &["point"],
    &["error"],
    &["format"],
];

fn source(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(of).join("src")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The text without comments and without items that only tests see.
fn code(text: &str) -> String {
    let mut lines = text.lines();
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        if line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test") || line.starts_with("#[cfg(any(test")
        {
            // to the end of the item: a line that ends it at the margin
            for line in lines.by_ref() {
                if line == "}" || (!line.starts_with([' ', '#']) && line.ends_with([';', '}'])) {
                    break;
                }
            }
            continue;
        }
        kept.push_str(line.split("//").next().unwrap());
        kept.push('\n');
    }
    kept
}

/// First names of the paths from the crate: `crate::NAME`, and those in `use crate::{...}`.
fn imported(code: &str) -> Vec<String> {
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut all = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            all.push(name(rest));
            continue;
        };
        let (mut depth, mut start) = (0, true);
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => start = true,
                c if start && !c.is_whitespace() => {
                    all.push(name(&group[i..]));
                    start = false;
                }
                _ => {}
            }
        }
    }
    all
}

#[test]
fn imports_are_read_from_all_forms() {
    let text = "use crate::a::{b, c};\nuse crate::{\n    d,\n    e::{f, g},\n    h as i,\n};\n// crate::no\nfn x() { crate::j::k() }\n\
                #[cfg(test)]\nmod tests {\n    use crate::no;\n}\nuse crate::l;\n";
    assert_eq!(imported(&code(text)), ["a", "d", "e", "h", "j", "l"]);
}

/// Imports of a crate that do not go down its list; and how many files there are.
fn upward(source: &Path, rooms: &[&[&str]]) -> (Vec<String>, usize) {
    let mut all = Vec::new();
    files(source, &mut all);
    let floor = |room: &str| rooms.iter().position(|floor| floor.contains(&room));
    let mut wrong = Vec::new();
    for path in &all {
        let inside = path.strip_prefix(source).unwrap();
        let first = inside.iter().next().unwrap().to_str().unwrap();
        let room = first.strip_suffix(".rs").unwrap_or(first);
        if ["lib", "main"].contains(&room) || inside.ends_with("tests.rs") {
            continue;
        }
        let own = floor(room).unwrap_or_else(|| panic!("{room} has no floor"));
        for other in imported(&code(&fs::read_to_string(path).unwrap())) {
            // an item of lib.rs has no floor
            if other != room && floor(&other).is_none_or(|to| to <= own) {
                wrong.push(format!("{} imports {other}", inside.display()));
            }
        }
    }
    (wrong, all.len())
}

#[test]
fn imports_go_down_the_list_of_rooms() {
    let (wrong, count) = upward(&source("builder"), &BUILDER);
    assert!(count > 150, "{count} files");
    assert_eq!(wrong, Vec::<String>::new());
    let (wrong, count) = upward(&source("kernel"), &KERNEL);
    assert!(count > 20, "{count} files");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn five_files_lie_loose() {
    let source = source("builder");
    let mut loose: Vec<String> = fs::read_dir(&source)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".rs"))
        .collect();
    loose.sort();
    assert_eq!(loose, ["lib.rs", "main.rs", "options.rs", "report.rs", "scene.rs"]);
    assert!(fs::read_to_string(source.join("lib.rs")).unwrap().lines().count() <= 120);
}

/// Lines of comments are short enough to be read beside the code.
#[test]
fn lines_of_comments_are_short() {
    let crates = ["kernel", "kernel/c-abi", "gpu-shaders", "builder", "builder/c-abi", "builder/python"];
    let mut all = Vec::new();
    crates.iter().for_each(|of| files(&source(of), &mut all));
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), &mut all);
    assert!(all.len() > 400, "{} files", all.len());
    let mut long = Vec::new();
    for path in &all {
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines().zip(1..).filter(|(line, _)| line.trim_start().starts_with("//"));
        // a row of a table cannot be broken
        let lines = lines.filter(|(line, _)| !line.contains("//! |") && !line.contains("/// |"));
        long.extend(
            lines.filter(|(line, _)| line.chars().count() > 120).map(|(_, n)| format!("{}:{n}", path.display())),
        );
    }
    assert_eq!(long, Vec::<String>::new());
}
