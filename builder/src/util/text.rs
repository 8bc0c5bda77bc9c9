//! Names of files and things, as messages and commands have them.

use std::{borrow::Cow, collections::HashMap, path::Path};

use hardpan::{Cost, VerifyError, format::section};

/// Whether a character steers what shows it, or shows nothing: control characters, those that set the direction of
/// letters, and blanks of no width.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A text of a file for a terminal: what is [unseen](is_unseen) is escaped.
pub fn shown(text: &str) -> String {
    text.chars().map(|c| if is_unseen(c) { c.escape_default().to_string() } else { c.into() }).collect()
}

/// 1234567 as "1,234,567".
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap_or_default());
    groups.collect::<Vec<_>>().join(",")
}

/// So many of a thing: "1 triangle", "1,234 triangles".
pub fn counted(n: impl Into<u64>, one: &str) -> String {
    let n = n.into();
    format!("{} {}", grouped(n), plural(n, one))
}

/// The word for so many: "vertex", "vertices".
fn plural(n: u64, one: &str) -> String {
    let irregular = [("ex", "ices"), ("f", "ves"), ("ry", "ries"), ("sh", "shes")];
    let many = irregular.iter().find_map(|(end, ends)| Some(format!("{}{ends}", one.strip_suffix(end)?)));
    if n == 1 { one.into() } else { many.unwrap_or_else(|| format!("{one}s")) }
}

/// The cost of a query in words: "1 node, 2 leaves, 9 tests, 12 lines".
pub fn costs(cost: &Cost) -> String {
    let Cost { nodes, leaves, tests, lines, .. } = *cost;
    let all = [(nodes, "node"), (leaves, "leaf"), (tests, "test"), (lines, "line")];
    all.map(|(n, one)| counted(n, one)).join(", ")
}

/// The name of a kind of section.
pub fn section_name(kind: u32) -> &'static str {
    section::name(kind).unwrap_or("unknown")
}

/// The name of a kind of section, with its number if this version does not read it.
pub fn section_label(kind: u32) -> String {
    let read = section::kind(kind).is_some_and(|kind| kind.understood);
    if read { section_name(kind).into() } else { format!("{} {kind}", section_name(kind)) }
}

/// The rule of answers without ground, in words.
pub fn fallback(policy: u32) -> &'static str {
    use hardpan::format::fallback::*;
    match policy {
        BOUNDS_MIN_Z => "the lowest height of the image",
        DEFAULT => "the default height",
        MISS => "no height",
        EDGE_EXTEND => "the height at the nearest edge",
        _ => "unknown",
    }
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// A fault of verification, with names of sections.
pub fn fault(e: VerifyError) -> String {
    match e {
        VerifyError::SectionDamaged(k) => {
            format!("section {} is damaged (its checksum differs)", section_label(k))
        }
        VerifyError::SectionInvalid(k) => format!("section {} contradicts the head", section_label(k)),
        e => e.to_string(),
    }
}

/// A name that an image cannot hold, and the remedy.
pub const LONG_NAME: [&str; 2] = [
    "a material's name is longer than 65,535 bytes",
    "give it a shorter one in a mesh editor, or export the mesh again",
];

/// Letters of a name in a message, and of all that is said of it.
const LONG: [usize; 2] = [200, 600];

/// A name as it can stand in a message: one of very many letters without its middle.
pub fn bounded(name: &str) -> Cow<'_, str> {
    if name.len() <= LONG[0] { name.into() } else { middle(name, LONG[0]).into() }
}

/// The same of what is said of names.
pub fn bounded_text(text: String) -> String {
    if text.len() <= LONG[1] { text } else { middle(&text, LONG[1]) }
}

/// How many names a message lists.
pub const MAX_LISTED: usize = 5;

/// The first few of `of` names, and how many more there are.
pub fn few(names: impl Iterator<Item = String>, of: u64) -> String {
    first(names, of, MAX_LISTED)
}

/// At most so many of `of` names, and how many more there are.
pub fn first(names: impl Iterator<Item = String>, of: u64, most: usize) -> String {
    let mut list: Vec<String> = names.take(most).map(bounded_text).collect();
    if let more @ 1.. = of.saturating_sub(list.len() as u64) {
        list.push(format!("and {} more", grouped(more)));
    }
    list.join(", ")
}

/// ` (did you mean "..."?)`, if one of the known words is spelt much like this one, or begins with it.
pub fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let plain = |text: &str| text.to_lowercase().replace('_', " "); // as exporters write blanks
    let lower = plain(word);
    let distance = |k: &str| match plain(k) {
        k if lower.chars().count() > 2 && k != lower && k.starts_with(&lower) => 1,
        k => strsim::osa_distance(&lower, &k), // two letters swapped are one change
    };
    let near = known.into_iter().map(|k| (distance(k), k)).min();
    match near {
        Some((d, k)) if d <= k.chars().count().max(3) / 3 => format!(" (did you mean {k:?}?)"),
        _ => String::new(),
    }
}

/// A number as it is typed, in as few letters as that takes: 0.85, 1e50.
pub fn decimal(v: f64) -> String {
    let [plain, short] = [v.to_string(), format!("{v:e}")];
    if plain.len() > 10 && short.len() < plain.len() { short } else { plain }
}

/// A number with three digits that count.
pub fn few_digits(v: f64) -> String {
    decimal(format!("{v:.2e}").parse().unwrap_or(v))
}

/// Metres to a micrometre.
pub fn micrometres(v: f64) -> f64 {
    (v * 1e6).round() / 1e6 + 0.0
}

/// The width of a column of names: that of the longest, and 30 at least.
pub fn width<T: AsRef<str>>(names: impl Iterator<Item = T>) -> usize {
    names.map(|n| n.as_ref().chars().count()).max().unwrap_or(0).max(30)
}

/// Names of so many letters at most, cut in the middle, where they differ least. Those that would read the same have
/// their number in the list, from 1, behind them.
pub fn cut(names: &[String], most: usize) -> Vec<String> {
    let brief = |name: &str, end: &str| middle(name, most.saturating_sub(end.len())) + end;
    let all: Vec<String> = names.iter().map(|name| brief(name, "")).collect();
    let mut times: HashMap<&str, usize> = HashMap::new();
    all.iter().for_each(|name| *times.entry(name).or_default() += 1);
    let each = all.iter().zip(names).enumerate();
    each.map(
        |(i, (short, name))| {
            if times[short.as_str()] > 1 { brief(name, &format!(" #{}", i + 1)) } else { short.clone() }
        },
    )
    .collect()
}

/// A text of so many letters at most, without its middle.
fn middle(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.into();
    }
    let kept = most.saturating_sub(3);
    let start: String = text.chars().take(kept.div_ceil(2)).collect();
    start + "..." + &text.chars().skip(length - kept / 2).collect::<String>()
}

/// A name of so many letters at most.
pub fn brief(name: &str, most: usize) -> String {
    let name = shown(name);
    if name.chars().count() <= most { name } else { name.chars().take(most - 3).chain("...".chars()).collect() }
}

/// A path for a message, as [`shown`].
pub fn named(path: &Path) -> String {
    bounded_text(shown(&path.to_string_lossy()))
}

/// A path for a command that is to be typed: a [word] that is never an option. A name with [unseen](is_unseen)
/// characters has them escaped, so that it cannot be typed.
pub fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let start = if text.starts_with('-') { "./" } else { "" };
    word(&format!("{start}{text}"))
}

/// A word of a command: quoted where a shell would not take it as it stands.
pub fn word(text: &str) -> String {
    let text = shown(text);
    let plain = if cfg!(windows) { "_-./\\:@+" } else { "_-./:@+," };
    if !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || plain.contains(c)) {
        return text;
    }
    match cfg!(windows) {
        true => format!("\"{text}\""),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// How many of a unit make a metre, and its name.
pub type Unit = (f64, &'static str);
pub const METRE: Unit = (1.0, "m");

/// The unit of a length in metres, once it is rounded: that of 99.96 cm is the metre.
pub fn unit(v: f64) -> Unit {
    match rounded(v).abs() {
        a if a >= 1000.0 => (1e-3, "km"),
        a if a >= 1.0 || a == 0.0 => METRE,
        a if a >= 0.01 => (1e2, "cm"),
        _ => (1e3, "mm"),
    }
}

/// A length with its unit.
pub fn metres(v: f64) -> String {
    in_unit(v, unit(v))
}

/// A length in metres in a unit, with its name.
pub fn in_unit(v: f64, (of, unit): Unit) -> String {
    format!("{} {unit}", number(rounded(v) * of))
}

fn rounded(v: f64) -> f64 {
    format!("{v:.2e}").parse().expect("a number")
}

/// A coordinate in metres, to the millimetre.
pub fn coordinate(v: f64) -> String {
    let text = format!("{v:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// Three digits that count.
pub fn number(v: f64) -> String {
    let digits = match v.abs() {
        a if a >= 100.0 || a == 0.0 => 0,
        a if a >= 10.0 => 1,
        a if a >= 1.0 => 2,
        _ => 4,
    };
    let text = format!("{v:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_steer_a_terminal() {
        assert_eq!(shown("Straße \u{1b}[31m\u{9b}1m"), "Straße \\u{1b}[31m\\u{9b}1m");
        assert_eq!(named(Path::new("a\nb")), "a\\nb");
        assert_eq!(
            shown("a\u{202e}gpj\u{200b}\u{feff}\u{2066}\u{7f}"),
            "a\\u{202e}gpj\\u{200b}\\u{feff}\\u{2066}\\u{7f}"
        );
    }

    #[test]
    fn groups_of_three() {
        assert_eq!([0, 12, 999, 1000, 1234567].map(grouped), ["0", "12", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn one_and_many() {
        let words = ["triangle", "vertex", "leaf", "query", "mesh"];
        assert_eq!(words.map(|w| counted(1u64, w)), ["1 triangle", "1 vertex", "1 leaf", "1 query", "1 mesh"]);
        assert_eq!(words.map(|w| plural(0, w)), ["triangles", "vertices", "leaves", "queries", "meshes"]);
        assert_eq!(counted(1000u64, "line"), "1,000 lines");
        let list = |n: usize| few((0..n).map(|i| i.to_string()), n as u64);
        assert_eq!([0, 1, 5, 1006].map(list), ["", "0", "0, 1, 2, 3, 4", "0, 1, 2, 3, 4, and 1,001 more"]);
    }

    #[test]
    fn words_that_may_be_meant() {
        let meant = |word: &str, known: &[&str]| suggestion(word, known.iter().copied());
        assert_eq!(meant("Slot704", &["slot700", "slot704", "slot7041"]), " (did you mean \"slot704\"?)");
        assert_eq!(meant("slot70", &["slot", "slot704"]), " (did you mean \"slot704\"?)");
        assert_eq!(meant("wet_grass", &["dry grass", "Wet Grass"]), " (did you mean \"Wet Grass\"?)");
        assert_eq!(meant("pond", &["road", "grass"]), "");
        assert_eq!(meant("Raod", &["Rail", "Road"]), " (did you mean \"Road\"?)");
        assert_eq!(meant("Rock", &["Rail", "Road"]), "");
    }

    #[test]
    fn long_names_and_numbers() {
        let numbers = [0.0, 0.85, -1000.0, 0.000001, 0.123_456_789_012_345_68, 1e50, -2.5e-9];
        assert_eq!(numbers.map(decimal), ["0", "0.85", "-1000", "0.000001", "0.12345678901234568", "1e50", "-2.5e-9"]);
        assert_eq!([width(["a"].iter()), width(["a", &"ß".repeat(36)].iter())], [30, 36]);
        let names = ["short", "road_surface_of_the_north_lane", "road_surface_of_the_south_lane", "ä23456789012"];
        let names = names.map(String::from);
        assert_eq!(cut(&names, 12), ["short", "roa...ane #2", "roa...ane #3", "ä23456789012"]);
        assert_eq!(cut(&names, 20)[1..3], ["road_surf...rth_lane", "road_surf...uth_lane"]);
        assert_eq!(bounded("Straße"), "Straße");
        let long = bounded(&format!("a{}z", "ß".repeat(60_000))).into_owned();
        assert!(
            long.chars().count() == LONG[0] && long.starts_with("aß") && long.contains("ß...ß") && long.ends_with("ßz")
        );
        assert_eq!(few(["n".repeat(LONG[1] + 1)].into_iter(), 2).len(), LONG[1] + ", and 1 more".len());
    }

    #[test]
    fn lengths_in_the_unit_that_fits() {
        assert_eq!([1234.0, 12.345, 0.25, 0.0034, 0.0].map(metres), ["1.23 km", "12.3 m", "25 cm", "3.4 mm", "0 m"]);
        assert_eq!([999.7, 0.9996, -0.9994, 0.009996].map(metres), ["1 km", "1 m", "-99.9 cm", "1 cm"]);
    }

    #[test]
    fn quoted_for_a_shell() {
        for (path, wanted) in [
            ("a/b-1.obj", "a/b-1.obj"),
            ("Straße.obj", "Straße.obj"),
            ("two words", "'two words'"),
            ("it's", "'it'\\''s'"),
            ("$(x)`y`", "'$(x)`y`'"),
            ("~", "'~'"),
            ("", "''"),
            ("-o", "./-o"),
            ("-o 1", "'./-o 1'"),
            ("a\u{202e}b", "'a\\u{202e}b'"),
        ] {
            assert_eq!(quoted(Path::new(path)), wanted);
        }
    }

    /// A path in a shell's words reads as the path again.
    #[cfg(unix)]
    #[test]
    fn shells_read_them_back() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt, process::Command};
        let printable: Vec<u8> = (0x20..0x7f).collect();
        for bytes in [&printable[..], "ß 1'2\"3\\4".as_bytes(), b"-n", b"*?[a]!"] {
            let script = format!("printf %s {}", quoted(Path::new(OsStr::from_bytes(bytes))));
            match Command::new("bash").args(["--norc", "-c", &script]).output() {
                Ok(done) => {
                    let read = done.stdout.strip_prefix(b"./").unwrap_or(&done.stdout);
                    assert!(done.status.success() && read == bytes, "{script}: {:?}", done.stdout);
                }
                Err(e) => return println!("skipped, because there is no bash: {e}"),
            }
        }
    }
}
