use super::*;
use crate::import::{Count, ImportErrorKind};
use std::{
    fmt::Write as _,
    fs,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

/// A file that lasts as long as this.
struct Temporary(PathBuf);

impl Temporary {
    fn new(bytes: &[u8]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("hardpan-obj-{}-{}.obj", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::write(&path, bytes).unwrap();
        Temporary(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Reads in blocks and parts of several sizes, which must make no difference.
fn import(bytes: impl AsRef<[u8]>) -> Result<Import, ImportError> {
    let file = Temporary::new(bytes.as_ref());
    let whole = read(&file.0, &Frame::default());
    for (block, part) in [(1, 1), (40, 7), (1000, 100)] {
        let text = Text::open(&file.0, block);
        let parts = text.and_then(|text| read_in_parts(&file.0, text, &Frame::default(), part));
        match (&whole, &parts) {
            (Ok(a), Ok(b)) => {
                assert_eq!((&a.scene.positions, &a.scene.triangles), (&b.scene.positions, &b.scene.triangles));
                assert_eq!((&a.scene.materials, &a.scene.sources), (&b.scene.materials, &b.scene.sources));
                assert_eq!(a.report, b.report);
            }
            (a, b) => assert_eq!(a.as_ref().err(), b.as_ref().err()),
        }
    }
    whole
}

/// Corners, material and source of each triangle.
fn triangles(import: &Import) -> Vec<([u32; 3], &str, &str)> {
    let s = &import.scene;
    let names = |t: &Triangle| (&*s.materials[usize::from(t.material)].name, &*s.sources[usize::from(t.source)]);
    s.triangles.iter().map(|t| (t.v, names(t).0, names(t).1)).collect()
}

fn count(list: &[Count], what: &str) -> u64 {
    list.iter().find(|c| c.what == what).map_or(0, |c| c.count)
}

#[track_caller]
fn fails(bytes: impl AsRef<[u8]>, line: u64, cause: &str) {
    let error = import(bytes).expect_err("must fail");
    assert_eq!((error.kind, error.place), (ImportErrorKind::Input, Place::Line(line)), "{error}");
    assert!(error.cause.contains(cause) && !error.hint.is_empty(), "{error}");
}

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

#[test]
fn cg_01_corner_forms_may_be_mixed() {
    let text = format!("{SQUARE}f 1// 2/3 3/5/6\nf -4 -3//7 +3/\nf 1/1/1/1 -2/-1/-1 4\nfo 1 2 3\n");
    let import = import(text).unwrap();
    let corners: Vec<_> = triangles(&import).iter().map(|t| t.0).collect();
    assert_eq!(corners, [[0, 1, 2], [0, 1, 2], [0, 2, 3], [0, 1, 2]]);
}

#[test]
fn cg_01_negative_indices_count_from_their_line() {
    let import = import("v 0 0 0\nv 1 0 0\nv 1 1 0\nf -3 -2 -1\nv 2 2 0\nf -3 -2 -1\nf 5 1 2\nv 3 3 0\n").unwrap();
    let corners: Vec<_> = triangles(&import).iter().map(|t| t.0).collect();
    assert_eq!(corners, [[0, 1, 2], [1, 2, 3], [4, 0, 1]], "a vertex may stand behind its face");
}

#[test]
fn cg_01_comments_end_where_their_line_does() {
    let text =
        "# this ends in \\\nv 0 0 0 # and so \\\r\nv 1 0 0#\nv 1 1 0\nvn 0 0 1 # \\\nf 1 2 3 # a b c\nf 3 2 1# \\\n#\\";
    let import = import(text).unwrap();
    assert_eq!((import.scene.positions.len(), import.scene.triangles.len()), (3, 2));
    assert_eq!(import.report.files[0].lines, 7);
}

#[test]
fn cg_01_lines_may_be_continued() {
    let text =
        "v 0 \\\n0 \\\r\n 0\nv 1 \\ \r0 0\nv 1 1 0\nusemtl a \\\n b\nvt 1 \\\n 1\nf \\\n1 2\\\n\\\n 3\\\n\nf 1 2 3 \\";
    let import = import(text).unwrap();
    assert_eq!(triangles(&import), [([0, 1, 2], "a b", "unnamed"), ([0, 1, 2], "a b", "unnamed")]);
    assert_eq!(count(&import.report.files[0].repaired, "continued_lines"), 10);
}

#[test]
fn cg_01_any_line_ends_any_blanks() {
    let lines = format!("{SQUARE}usemtl a\nf 1 2 3 4\n");
    for text in [
        lines.replace('\n', "\r\n"),
        lines.replace('\n', "\r"),
        lines.replace(' ', " \t"),
        lines.replace('v', "\t v"),
        format!("\u{FEFF}{lines}\0\x1A"),
        lines.trim_end().into(),
        lines.replacen('\n', "\r\n", 3),
    ] {
        let import = import(&text).unwrap();
        assert_eq!(triangles(&import), [([0, 1, 2], "a", "unnamed"), ([0, 2, 3], "a", "unnamed")], "{text:?}");
    }
}

fn utf16(text: &str, big: bool) -> Vec<u8> {
    let unit = |u: u16| if big { u.to_be_bytes() } else { u.to_le_bytes() };
    "\u{FEFF}".encode_utf16().chain(text.encode_utf16()).flat_map(unit).collect()
}

#[test]
fn cg_01_utf_16_of_both_orders() {
    let text = format!("o Straße\n{SQUARE}f 1 2 3\nf 1 2 x\n");
    for big in [false, true] {
        fails(utf16(&text, big), 7, "\"x\"");
        let good = import(utf16(&text.replace('x', "4"), big)).unwrap();
        assert_eq!((good.scene.triangles.len(), &*good.scene.sources), (2, &["Straße".to_string()][..]));
    }
    let half = &utf16(&text.replace('x', "4"), true)[..81];
    let _ = import(half); // ends within a character: no panic
}

/// A fault that stands before it goes first.
#[test]
fn cg_01_bytes_of_zero_are_refused_with_their_line() {
    for line in ["v 1\x002 0 0", "f 1 2\x003 4", "usemtl a\0b", "\0", "# \0"] {
        fails(format!("{SQUARE}{line}\nf 1 2 3\n"), 5, "a byte of zero");
        fails(format!("f 1 x\n{SQUARE}{line}\nf 1 2 3\n"), 1, "\"x\"");
    }
    let text = format!("o Straße\n{SQUARE}f 1 2 3 4\n");
    let wide = |text: &str| -> Vec<u8> { text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect() };
    for bytes in
        [&utf16(&text, true)[2..], &utf16(&text, false)[2..], &wide(&text)[..], &wide(&format!("\u{FEFF}{text}"))[..]]
    {
        fails(bytes, 1, "as in UTF-16 without its mark");
    }
    assert_eq!(import(format!("{text}\0\0\x1A\0")).unwrap().scene.triangles.len(), 2, "at the end");
}

#[test]
fn cg_01_numbers() {
    let words =
        [".5", "-.5", "+1e+2", "1e-05", "2.", "1E2", "-0", "0.1", "123456789.123456789", "1e-320", "+.1e1", "5e-324"];
    let text: String = words.iter().map(|w| format!("v {w} 1 1 1 0.5 0\n")).collect();
    let import = import(format!("{text}f 1 2 3\n")).unwrap();
    let x: Vec<u64> = import.scene.positions.iter().map(|p| p[0].to_bits()).collect();
    assert_eq!(x, words.map(|w| (w.parse::<f64>().unwrap() + 0.0).to_bits()), "and no -0");
    assert_eq!(count(&import.report.files[0].ignored, "vertex_colours_and_weights"), words.len() as u64);
    for bad in ["3.1+e2", "1,5", "0x10", "1_0", "--1", "e5", "1.5.2", "infx", "1e"] {
        fails(format!("v 0 0 0\nv 0 {bad} 0\n"), 2, &format!("{bad:?} is not a number"));
    }
    fails("v 1 2\n", 1, "needs three numbers and has 2");
    fails("\n\nv # 1 2 3\n", 3, "needs three numbers and has 0");
}

#[test]
fn cg_01_numbers_that_are_none_leave_their_faces_out() {
    for word in ["nan", "-NaN", "inf", "-Infinity", "1.#IND", "-1.#IND00", "1.#INF", "1.#QNAN", "-nan(ind)", "1e999"] {
        let import = import(format!("{SQUARE}v 0 {word} 0\nf 1 2 5\nf 1 2 3 4 5\nf 1 2 3\n")).unwrap();
        assert_eq!(import.scene.triangles.len(), 1, "{word}");
        assert!(import.scene.positions.iter().flatten().all(|v| v.is_finite()));
        let refused = &import.report.files[0].refused;
        assert_eq!((count(refused, "faces_not_finite"), refused[0].first_line), (2, Some(6)));
    }
}

#[test]
fn cg_01_faces_of_one_or_two_corners_are_counted() {
    let import = import(format!("{SQUARE}f 1 2\nf\nf 3 # 4 1\nf 1 2 3\np 1 2\nl 1 2\ncurv 0 1\n")).unwrap();
    let report = &import.report.files[0];
    assert_eq!((import.scene.triangles.len(), count(&report.refused, "faces_below_three_corners")), (1, 3));
    assert_eq!((count(&report.ignored, "points_and_lines"), count(&report.ignored, "free_form")), (2, 1));
    assert_eq!(import.report.notes().len(), 3);
    assert!(import.report.notes().iter().any(|n| n.ends_with("fewer than three corners: 3 (first at line 5)")));
}

/// Faces whose edges go out and back leave no triangle, and are no faces that were used.
#[test]
fn cg_01_faces_that_go_out_and_back_are_counted() {
    let import = import(format!("{SQUARE}f 1 2 3 4\nf 1 2 3 2\nf 1 2 3 4 3 2\nf 1 2 3\n")).unwrap();
    let report = &import.report.files[0];
    assert_eq!(import.scene.triangles.len(), 3);
    assert_eq!((count(&report.refused, "faces_folded"), report.refused[0].first_line), (2, Some(6)));
    assert_eq!((count(&report.used, "faces"), count(&report.repaired, "polygons")), (2, 1));
    assert!(import.report.notes().iter().any(|n| n.contains("go out and back: 2 (first at line 6)")));
    // a file of nothing else
    let error = self::import(format!("{SQUARE}f 1 2 3 2\n")).expect_err("must fail");
    assert_eq!(error.kind, ImportErrorKind::Input);
    assert!(error.cause.contains("as their edges go out and back: 1"), "{error}");
}

#[test]
fn cg_01_errors_name_file_and_line() {
    fails(format!("{SQUARE}f 1 2 5\nf 1 2 3\n"), 5, "vertex 5, and the file has 1 to 4");
    fails(format!("o a\r\n{SQUARE}f 1 2 3\nf 0 2 3\nf 1 9 2\n"), 7, "vertex 0");
    fails(format!("{SQUARE}f 1 2 -5\n"), 5, "counts back beyond");
    fails(format!("{SQUARE}f 1 2 99999999999999999999999\n"), 5, "beyond all");
    fails(format!("{SQUARE}f 1 2 4294967295\n"), 5, "beyond all");
    fails(format!("{SQUARE}f 1 2 -99999999999999999999999\n"), 5, "counts back beyond");
    fails(format!("{SQUARE}f 1 2 \\\n 3 \\\n 7\n"), 5, "vertex 7");
    for bad in ["a", "1.0", "1,2", "1x", "-", "/1", "+/2"] {
        fails(format!("\r\r{SQUARE}f 1 2 {bad}\n"), 7, "is no corner of a face");
    }
    fails(format!("{SQUARE}f 1 2 \x1B[31m{}\n", "x".repeat(10_000)), 5, "\"\\u{1b}[31mxxxx");
}

#[test]
fn cg_01_nothing_to_build() {
    for text in ["", "\0\0\0\0", "\n", "v 0 0 0\n", "f\n", "<html>\n</html>\n", "v 0 0 nan\nf 1 1 1\n"] {
        let error = import(text).expect_err("must fail");
        assert!(error.cause.contains("there are no faces"), "{text:?}: {error}");
    }
}

#[test]
fn cg_01_objects_and_groups_are_sources() {
    let text = format!(
        "{SQUARE}f 1 2 3\ng  left   wing\nf 1 2 3\ng\nf 1 2 3\no plane\nf 1 2 3\ng left\nf 1 2 3\ng plane\nf 1 2 3\n\
         o empty\no\nf 1 2 3\ng\nusemtl red paint \nf 1 2 3\nusemtl\nf 1 2 3\nusemtl none\nf 1 2\no last#1\nf 1 2 3\n"
    );
    let import = import(text).unwrap();
    let names: Vec<_> = triangles(&import).iter().map(|t| (t.1, t.2)).collect();
    let none = "unnamed";
    let expected = [
        (none, none),
        (none, "left wing"),
        (none, none),
        (none, "plane"),
        (none, "plane/left"),
        (none, "plane"),
        (none, none),
        ("red paint", none),
        (none, none),
        ("none", "last#1"),
    ];
    assert_eq!(names, expected);
    assert_eq!((import.scene.materials.len(), import.scene.sources.len()), (3, 5), "only those with faces");
}

#[test]
fn cg_01_names_of_materials_end() {
    let named = |length: usize| format!("{SQUARE}usemtl {}\nf 1 2 3\n", "n".repeat(length));
    assert_eq!(import(named(65_535)).unwrap().scene.materials[0].name.len(), 65_535);
    fails(named(65_536), 5, "a material's name is longer than 65,535 bytes: \"nnnnn");
}

#[test]
fn cg_01_names_need_not_be_utf8() {
    let mut text = format!("{SQUARE}usemtl h").into_bytes();
    text.extend(b"\xE4user\nf 1 2 3\nusemtl h\xF6user\nf 1 2 3\nusemtl \x1B[31m\nf 1 2 3\n");
    let import = import(text).unwrap();
    let names: Vec<_> = triangles(&import).iter().map(|t| t.1).collect();
    assert_eq!(names, ["häuser", "höuser", "\x1B[31m"]);
    assert_eq!(count(&import.report.files[0].repaired, "names_not_utf8"), 2);
}

#[test]
fn cg_01_more_objects_than_an_image_can_name() {
    let text = |order: &mut dyn Iterator<Item = u32>| {
        let mut text = SQUARE.to_string();
        order.for_each(|i| write!(text, "o {i:06}\nf 1 2 3\n").unwrap());
        text
    };
    let [up, down] = [text(&mut (0..70_000)), text(&mut (0..70_000).rev())].map(|t| {
        let file = Temporary::new(t.as_bytes());
        read(&file.0, &Frame::default()).unwrap()
    });
    assert_eq!((up.scene.sources.len(), &up.scene.sources), (65_535, &down.scene.sources));
    let named = |import: &Import| {
        let mut all: Vec<String> = triangles(import).into_iter().map(|t| t.2.to_string()).collect();
        all.sort();
        all
    };
    assert_eq!(named(&up), named(&down));
    assert_eq!(count(&up.report.files[0].repaired, "sources_beyond_limit"), 70_000 - 65_534);
    assert_eq!(up.scene.sources[up.scene.triangles[69_999].source as usize], "others");
}

#[test]
fn by_10_libraries_are_looked_up_and_never_needed() {
    let folder = std::env::temp_dir().join(format!("hardpan-obj-library-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("some stuff.mtl"), "newmtl stone\n Kd spectral a.spec\nnewmtl stone\n").unwrap();
    let text = format!(
        "mtllib some stuff.mtl\n{SQUARE}mtllib .//absent.mtl\nmtllib\nusemtl stone\nf 1 2 3\nusemtl glass\nf 1 2 3\n"
    );
    let path = folder.join("a.obj");
    fs::write(&path, text).unwrap();
    let import = read(&path, &Frame::default()).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let report = &import.report.files[0];
    assert_eq!(report.libraries.len(), 2);
    assert_eq!((report.libraries[0].materials, report.libraries[0].line), (Some(2), 1));
    assert_eq!((report.libraries[1].materials, report.libraries[1].line), (None, 6));
    assert_eq!(count(&report.repaired, "materials_redefined"), 1);
    assert_eq!(count(&report.repaired, "materials_undefined"), 1);
    let json = serde_json::to_value(&import.report).unwrap();
    assert_eq!(json["files"][0]["used"][0], serde_json::json!({ "what": "vertices", "count": 4, "first_line": null }));
}

/// splitmix64.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// A mesh, written in any way that the format and its programs allow, beside what must be read.
#[derive(Default)]
struct Writer {
    text: String,
    positions: Vec<[f64; 3]>,
    triangles: Vec<([u32; 3], String, String)>,
    small: u64,
    lines: Vec<&'static str>,
    /// The material; object and group.
    names: [String; 3],
}

impl Writer {
    /// A number, and what the standard library says that it is.
    fn number(r: &mut Random) -> (String, f64) {
        let size = 10f64.powi(r.below(16) as i32 - 6);
        let v = ((r.bits() >> 11) as f64 / (1u64 << 53) as f64 - 0.5) * size;
        let mut word = match r.below(6) {
            0 => format!("{v}"),
            1 => format!("{v:e}"),
            2 => format!("{v:E}"),
            3 => format!("{v:.6}"),
            4 => format!("{v:.0}."),
            _ => format!("{v:.17}"),
        };
        if r.one_in(3) {
            word = word.replacen("0.", ".", usize::from(word.starts_with("0.") && word.len() > 2));
        }
        if r.one_in(4) && !word.starts_with('-') {
            word.insert(0, '+');
        }
        let value = word.parse::<f64>().unwrap();
        (word, value + 0.0)
    }

    /// A statement of words, with blanks, continuations, a comment and a line's end as they come.
    fn line(&mut self, r: &mut Random, words: &[String], comment: bool) {
        self.text += r.pick(&["", "", "", " ", "\t "]);
        for (i, word) in words.iter().enumerate() {
            if i > 0 {
                self.text += r.pick(&[" ", " ", " ", "  ", "\t", " \\\n", " \\ \r\n\t", " \\\n \\\r "]);
            }
            self.text += word;
        }
        if comment && r.one_in(6) {
            self.text += r.pick(&[" #", " # f 1 2 3", "\t# v 1 2 \\", " #\\"]);
        }
        let end = self.lines[r.below(self.lines.len())];
        self.text += r.pick(&["", "", " ", "\t"]);
        self.text += end;
        // what is of no use
        if r.one_in(4) {
            let noise = r.pick(&[
                "",
                "# o no",
                "vn 1 2 3",
                "vt 0 0",
                "s off",
                "vp 1",
                "#\\",
                "vn 1 2 \\\n 3",
                "mtllib",
                "mg 1",
            ]);
            self.text += noise;
            self.text += end;
        }
    }

    fn vertex(&mut self, r: &mut Random, at: Option<[f64; 3]>) {
        let mut words = vec!["v".to_string()];
        let numbers = match at {
            Some(p) => p.map(|v| (v.to_string(), v)),
            None => [Self::number(r), Self::number(r), Self::number(r)],
        };
        words.extend(numbers.iter().map(|n| n.0.clone()));
        words.extend((0..r.below(8).saturating_sub(4)).map(|_| "0.5".into()));
        self.positions.push(numbers.map(|n| n.1));
        self.line(r, &words, true);
    }

    fn face(&mut self, r: &mut Random, corners: &[u32]) {
        let mut words = vec!["f".to_string()];
        for &c in corners {
            let index = match r.below(3) {
                0 => format!("-{}", self.positions.len() as u32 - c),
                _ => (c + 1).to_string(),
            };
            words.push(index + r.pick(&["", "", "/1", "//2", "/1/2", "/", "//", "/-1/-1"]));
        }
        self.line(r, &words, true);
        self.small += u64::from(corners.len() < 3);
        let or_unnamed = |name: &str| if name.is_empty() { "unnamed".to_string() } else { name.into() };
        let [material, object, group] = &self.names;
        let source = match (object.is_empty(), group.is_empty()) {
            (false, false) if object != group => format!("{object}/{group}"),
            (true, _) => or_unnamed(group),
            _ => object.clone(),
        };
        for i in 2..corners.len() {
            let v = [corners[0], corners[i - 1], corners[i]];
            self.triangles.push((v, or_unnamed(material), source.clone()));
        }
    }

    fn mesh(r: &mut Random) -> Self {
        let ends = [&["\n"][..], &["\r\n"], &["\r"], &["\n", "\r\n", "\n\n"]];
        let mut w = Writer { lines: ends[r.below(4)].to_vec(), ..Writer::default() };
        (0..3).for_each(|_| w.vertex(r, None));
        for _ in 0..r.below(80) {
            let count = w.positions.len();
            match r.below(8) {
                0..=2 => w.vertex(r, None),
                3 | 4 => {
                    let corners: Vec<u32> = (0..r.below(4)).map(|_| r.below(count) as u32).collect();
                    w.face(r, &corners);
                }
                5 => {
                    // convex, on a parabola
                    let n = 4 + r.below(9);
                    (0..n).for_each(|i| w.vertex(r, Some([i as f64, (i * i) as f64, 7.0])));
                    let mut corners: Vec<u32> = (count as u32..(count + n) as u32).collect();
                    if r.one_in(2) {
                        corners.reverse();
                    }
                    w.face(r, &corners);
                }
                _ => {
                    let which = r.below(3);
                    let name = r.pick(&["", "a", "b#1", "two  words", "Stra\u{df}e", "a\\b", "//x"]);
                    let mut words = vec![["usemtl", "o", "g"][which].to_string()];
                    words.extend(name.split_whitespace().map(String::from));
                    w.line(r, &words, false);
                    w.names[which] = words[1..].join(" ");
                    if which == 1 {
                        w.names[2].clear();
                    }
                }
            }
        }
        w.face(r, &[0, 1, 2]);
        w
    }
}

#[test]
fn cg_01_what_is_written_in_any_way_is_read() {
    for seed in 0..400 {
        let r = &mut Random(seed);
        let w = Writer::mesh(r);
        let bytes = match r.below(6) {
            0 => utf16(&w.text, false),
            1 => utf16(&w.text, true),
            2 => format!("\u{FEFF}{}", w.text).into_bytes(),
            _ => w.text.clone().into_bytes(),
        };
        let import = import(bytes).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", w.text));
        let bits = |p: &[[f64; 3]]| p.iter().map(|p| p.map(f64::to_bits)).collect::<Vec<_>>();
        assert_eq!(bits(&import.scene.positions), bits(&w.positions), "seed {seed}\n{}", w.text);
        let read: Vec<_> = triangles(&import).into_iter().map(|(v, m, s)| (v, m.to_string(), s.to_string())).collect();
        assert_eq!(read, w.triangles, "seed {seed}\n{}", w.text);
        let report = &import.report.files[0];
        assert_eq!(count(&report.refused, "faces_below_three_corners"), w.small, "seed {seed}");
        assert_eq!(count(&report.used, "triangles"), w.triangles.len() as u64);
        assert_eq!(count(&report.used, "vertices"), w.positions.len() as u64);

        // a bad line anywhere is named
        let (bad, cause) =
            [("f 1 2 999999", "vertex 999999"), ("v 0 zero 0", "\"zero\""), ("f 1 2 three", "\"three\"")][r.below(3)];
        let starts: Vec<usize> = w.text.match_indices("\nvt 0 0").map(|(at, _)| at + 1).collect();
        if let Some(&at) = starts.get(r.below(starts.len().max(1))) {
            let text = format!("{}{bad}\n{}", &w.text[..at], &w.text[at..]);
            let line = text[..at].replace("\r\n", "\n").matches(['\n', '\r']).count() as u64 + 1;
            fails(text, line, cause);
        }
    }
}

/// Separators that look like others: the line has the blame, and the character its name.
#[test]
fn cg_01_commas_and_no_break_spaces_are_named() {
    fails(format!("{SQUARE}f 1,001 2 3\n"), 5, "comma");
    for (line, part) in
        [("v\u{a0}1 2 3", "v"), ("\u{a0}v 1 2 3", "v"), ("f\u{a0}1 2 3", "f"), ("usemtl\u{a0}a", "usemtl")]
    {
        let text = format!("v 0 0 0\nv 1 0 0\n{line}\nv 1 1 0\nf 1 2 3\n");
        let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
        for bytes in [text.into_bytes(), latin] {
            fails(&bytes, 3, "a no-break space stands in it");
            fails(&bytes, 3, part);
        }
    }
    fails("v 0 0 0\nv 1\u{a0}2 0\n", 2, "\"1\\u{a0}2\" is not a number");
    // in a name it is a part of it
    assert_eq!(import(format!("{SQUARE}usemtl a\u{a0}b\nf 1 2 3\n")).unwrap().scene.materials[0].name, "a\u{a0}b");
}

#[test]
fn cg_01_any_bytes_end_well() {
    for seed in 0..600 {
        let r = &mut Random(seed << 32);
        let mut bytes = Writer::mesh(r).text.into_bytes();
        for _ in 0..1 + r.below(6) {
            let at = r.below(bytes.len());
            let odd = b"\\\\\r\n#/-.\0\x1B\xFF e1vfo";
            match r.below(5) {
                0 => bytes[at] = r.bits() as u8,
                1 => bytes[at] = odd[r.below(odd.len())],
                2 => bytes.insert(at, odd[r.below(odd.len())]),
                3 => bytes.truncate(at + 1),
                _ => drop(bytes.drain(at..(at + r.below(40)).min(bytes.len()))),
            }
            if bytes.is_empty() {
                bytes.push(b'f');
            }
        }
        match import(&bytes) {
            Ok(import) => {
                let scene = &import.scene;
                assert!(!scene.triangles.is_empty() && scene.positions.iter().flatten().all(|v| v.is_finite()));
                assert!(scene.triangles.iter().flat_map(|t| t.v).all(|v| (v as usize) < scene.positions.len()));
            }
            Err(e) => {
                let lines = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").matches(['\r', '\n']).count() as u64;
                assert!(!e.to_string().contains(|c: char| c.is_control()), "{e}");
                assert!(e.place == Place::File || matches!(e.place, Place::Line(n) if n <= lines + 1), "{e}");
            }
        }
    }
}
