//! Roads of OpenCRG: against the crate `opencrg`, which follows the library of the standard, and bad ones.

use crate::shell::{error, expect, folder, holds};
use hardpan_builder::import::{Frame, crg::Road, read};
use opencrg::{CrgGrid, Uv};
use std::{
    fmt::Write as _,
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};
use verification::{obj::real_file, random::Random};

/// Metres that both may differ: the crate holds heights in single precision.
const NEAR: f64 = 1e-6;

/// Every one of these places has one height in both, and lies at one place.
#[track_caller]
fn alike(name: &str, ours: &Road, theirs: &CrgGrid, places: &[[f64; 2]]) {
    for &[u, v] in places {
        let (a, b) = (ours.height_uv([u, v]), theirs.elevation_at_uv(Uv { u, v }));
        let near = match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() <= NEAR,
            (None, None) => true,
            _ => false,
        };
        assert!(near, "{name}: u {u}, v {v}: {a:?}, and by opencrg {b:?}");
        let ([x, y], at) = (ours.xy([u, v]), theirs.xy_from_uv(Uv { u, v }));
        assert!((x - at.x).abs() <= NEAR && (y - at.y).abs() <= NEAR, "{name}: u {u}, v {v}: {x}, {y}, and {at:?}");
        let (a, b) = (ours.uv([x, y]), theirs.uv_from_xy(at));
        let near = a.zip(b).is_some_and(|([u, v], b)| (u - b.u).abs() <= NEAR && (v - b.v).abs() <= NEAR);
        assert!(near, "{name}: x {x}, y {y}: {a:?}, and by opencrg {b:?}");
    }
}

/// Places on a road and a little beside it.
fn places(road: &Road, count: usize, seed: u64) -> Vec<[f64; 2]> {
    let mut r = Random(seed);
    let ([u0, u1], [v0, v1]) = (road.u_range(), road.v_range());
    let mut between = |a: f64, b: f64| {
        let beyond = 0.2 * (b - a);
        a - beyond + (b - a + 2.0 * beyond) * r.within(0, 1 << 40) as f64 / (1u64 << 40) as f64
    };
    (0..count).map(|_| [between(u0, u1), between(v0, v1)]).collect()
}

#[test]
fn crg_01_real_roads_are_those_of_opencrg() {
    let here = folder("crg_real_roads");
    let names = ["belgian_block", "halfround_4in", "handmade_straight", "handmade_straight_minimalist"];
    let more = ["handmade_platform", "handmade_sloped_opts", "handmade_curved_banked_sloped", "Barber"];
    for name in names.iter().chain(&more) {
        let Some(mut file) = real_file(&format!("crg/{name}.crg")) else { return };
        if *name == "Barber" {
            // the crate refuses tracks that are to be closed
            let (bytes, key) = (fs::read(&file).unwrap(), b"refline_continuation =   1");
            let at = bytes.windows(key.len()).position(|w| w == key).unwrap() + key.len() - 1;
            let open = [&bytes[..at], b"0", &bytes[at + 1..]].concat();
            file = here.join("open.crg");
            fs::write(&file, open).unwrap();
        }
        let (ours, theirs) = (Road::read(&file).unwrap(), CrgGrid::from_path(&file).unwrap());
        assert_eq!((ours.rows(), ours.sections()), theirs.dims(), "{name}");
        let mut places = places(&ours, 1000, 7);
        if *name == "Barber" {
            // behind an end the crate looks at the other one
            let [first, last] = ours.u_range();
            places.iter_mut().for_each(|[u, _]| *u = u.clamp(first + 1.0, last - 1.0));
        }
        alike(name, &ours, &theirs, &places);
    }
}

/// A closed track goes on behind its end, over the gap, and its image has ground there.
#[test]
fn crg_02_a_closed_track_is_closed() {
    let Some(file) = real_file("crg/Barber.crg") else { return };
    let road = Road::read(&file).unwrap();
    let [first, last] = road.u_range();
    // its ends are 18 centimetres apart
    let gap = (1.7786348116614098e-01f64.powi(2) + 4.384_462_662_314_889e-2_f64.powi(2)).sqrt();
    let length = last - first + gap;
    for [u, v] in [[17.3, 2.0], [3000.0, -1.0], [last + 0.5 * gap, 0.0], [last - 0.01, 2.9], [first + 0.04, -2.9]] {
        let z = road.height_uv([u, v]).unwrap();
        for turns in [-2.0, -1.0, 1.0, 2.0] {
            assert!((road.height_uv([u + turns * length, v]).unwrap() - z).abs() < 1e-6, "u {u}");
        }
        let back = road.uv(road.xy([u, v])).unwrap();
        assert!((back[0] - u).abs() < 1e-6 && (back[1] - v).abs() < 1e-6, "u {u}, v {v}: {back:?}");
    }
    let scene = read(&[&file], &Frame::default()).unwrap().scene;
    assert_eq!(scene.triangles.len(), 2 * 4 * 36_875, "as many rows of cells as of posts");
}

/// A file that names another one, in the folders of the standard.
#[test]
fn crg_03_a_file_that_names_another() {
    let here = folder("crg_files");
    fs::create_dir(here.join("crg-txt")).unwrap();
    for name in ["fileref", "fileref_mods", "handmade_curved_banked_sloped"] {
        let Some(file) = real_file(&format!("crg/{name}.crg")) else { return };
        fs::copy(file, here.join(format!("crg-txt/{name}.crg"))).unwrap();
    }
    for name in ["fileref", "fileref_mods"] {
        let file = here.join(format!("crg-txt/{name}.crg"));
        let (ours, theirs) = (Road::read(&file).unwrap(), CrgGrid::from_path(&file).unwrap());
        alike(name, &ours, &theirs, &places(&ours, 300, 3));
    }
    let [text, _] = expect(0, &here, &["build", "crg-txt/fileref.crg", "-o", "a.hpan", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let of = &report["import"]["files"][0];
    assert_eq!(of["format"], "crg");
    assert_eq!(of["libraries"][0]["name"], "handmade_curved_banked_sloped.crg");
    fs::write(here.join("self.crg"), "$ROAD_CRG_FILE\n self.crg\n$\n").unwrap();
    holds(&error(2, &here, &["build", "self.crg"]), &["self.crg: it names itself"]);
    // each may name one: else they fan out without end
    let two = "$ROAD_CRG_FILE\n crg-txt/fileref.crg\n$\n".repeat(2);
    fs::write(here.join("two.crg"), two).unwrap();
    holds(&error(2, &here, &["build", "two.crg"]), &["line 5: a second section $ROAD_CRG_FILE"]);
    fs::write(here.join("none.crg"), "$ROAD_CRG_FILE\n $NO_SUCH_PLACE_HERE/a.crg\n$\n").unwrap();
    holds(&error(2, &here, &["build", "none.crg"]), &["line 2: \"NO_SUCH_PLACE_HERE\"", "is not set"]);
}

/// Numbers of a file, as the standard writes them.
fn body(format: &str, rows: &[Vec<f64>]) -> Vec<u8> {
    let mut all = Vec::new();
    let [long, double, text] = ["L", "D", "F"].map(|letter| format.contains(letter));
    let (width, in_line) = if double { (20, 4) } else { (10, 8) };
    let mut in_this = 0;
    for row in rows {
        let began = all.len();
        for value in row {
            match (text, double) {
                (true, _) => {
                    if in_this == in_line {
                        all.push(b'\n');
                        in_this = 0;
                    }
                    let written = match (value.is_nan(), double) {
                        (true, _) => "*missing*".into(),
                        (_, true) => format!("{value:.12}"),
                        _ => format!("{value:.6}"),
                    };
                    all.extend(format!("{written:>width$}").bytes());
                    in_this += 1;
                }
                (_, true) => all.extend(value.to_be_bytes()),
                _ => all.extend((*value as f32).to_be_bytes()),
            }
        }
        if text && long {
            all.push(b'\n');
            in_this = 0;
        } else if long {
            all.resize(began + (all.len() - began).next_multiple_of(80), 0);
        }
    }
    if !text {
        let nan = if double { f64::NAN.to_be_bytes().to_vec() } else { f32::NAN.to_be_bytes().to_vec() };
        while !all.len().is_multiple_of(80) {
            all.extend(&nan);
        }
    }
    all
}

/// A road of odd shape, in one of the formats, with modifiers and options.
fn made(r: &mut Random, format: &str) -> Vec<u8> {
    let mut unit = |low: f64, high: f64| {
        let share = r.within(0, 1 << 30) as f64 / (1u64 << 30) as f64;
        ((low + share * (high - low)) * 1e4).round() / 1e4
    };
    let (rows, sections) = (unit(12.0, 60.0) as usize, unit(2.0, 12.0) as usize);
    let (start, way) = (unit(-50.0, 800.0), [0.25, 0.5, 1.0][unit(0.0, 2.99) as usize]);
    let mut text = String::from("$CT\nmade\n$\n$ROAD_CRG ! head\n");
    let mut key = |name: &str, value: f64| writeln!(text, "{name} = {value:e} ! said").unwrap();
    key("REFERENCE_LINE_START_U", start);
    key("reference_line_end_u", start + way * (rows - 1) as f64);
    key("REFERENCE_LINE_INCREMENT", way);
    key("REFERENCE_LINE_START_X", unit(-100.0, 100.0));
    key("REFERENCE_LINE_START_Y", unit(-100.0, 100.0));
    key("REFERENCE_LINE_START_PHI", unit(-3.0, 3.0));
    if unit(0.0, 1.0) < 0.5 {
        key("REFERENCE_LINE_START_Z", unit(-5.0, 5.0));
    }
    let has = [0; 3].map(|_| unit(0.0, 1.0) < 0.5);
    if !has[1] && unit(0.0, 1.0) < 0.5 {
        key("REFERENCE_LINE_START_S", unit(-0.1, 0.1));
    }
    if !has[2] && unit(0.0, 1.0) < 0.5 {
        key("REFERENCE_LINE_START_B", unit(-0.1, 0.1));
    }
    let listed = unit(0.0, 1.0) < 0.5;
    let mut v = vec![unit(-3.0, -1.0)];
    while v.len() < sections {
        v.push(v[v.len() - 1] + if listed { unit(0.1, 0.9) } else { 0.5 });
    }
    if !listed {
        key("LONG_SECTION_V_RIGHT", v[0]);
        key("LONG_SECTION_V_LEFT", v[v.len() - 1]);
        key("LONG_SECTION_V_INCREMENT", 0.5);
    }
    #[allow(clippy::type_complexity)] // writes a section by what writes its keys
    let mut sections_of = |name: &str, keys: &mut dyn FnMut(&mut dyn FnMut(&str, f64))| {
        writeln!(text, "$\n${name}").unwrap();
        keys(&mut |name: &str, value: f64| writeln!(text, "{name} = {value}").unwrap());
    };
    let keeps = unit(0.0, 1.0) < 0.3;
    if unit(0.0, 1.0) < 0.8 {
        sections_of("ROAD_CRG_MODS", &mut |key| {
            key("GRID_NAN_MODE", if keeps { 0.0 } else { unit(1.0, 2.99).floor() });
            key("GRID_NAN_OFFSET", unit(-0.1, 0.1));
            for name in
                ["SCALE_Z_GRID", "SCALE_SLOPE", "SCALE_BANKING", "SCALE_LENGTH", "SCALE_WIDTH", "SCALE_CURVATURE"]
            {
                if unit(0.0, 1.0) < 0.3 {
                    key(name, unit(0.5, 1.5));
                }
            }
            // a reference point on a hole has no height
            if keeps || unit(0.0, 1.0) < 0.5 {
                key("REFLINE_OFFSET_X", unit(-10.0, 10.0));
                key("REFLINE_OFFSET_Z", unit(-10.0, 10.0));
                key("REFLINE_OFFSET_PHI", unit(-3.0, 3.0));
                if unit(0.0, 1.0) < 0.5 {
                    key("REFLINE_ROTCENTER_X", unit(-10.0, 10.0));
                }
            } else {
                key("REFPOINT_U_FRACTION", unit(0.0, 1.0));
                key("REFPOINT_U_OFFSET", unit(-0.2, 0.2));
                key("REFPOINT_V", unit(-1.0, 1.0));
                key("REFPOINT_X", unit(-10.0, 10.0));
                key("REFPOINT_Z", unit(-10.0, 10.0));
                key("REFPOINT_PHI", unit(-3.0, 3.0));
            }
        });
    }
    if unit(0.0, 1.0) < 0.8 {
        sections_of("ROAD_CRG_OPTS", &mut |key| {
            key("BORDER_MODE_U", unit(0.0, 4.99).floor());
            key("BORDER_MODE_V", unit(0.0, 4.99).floor());
            key("BORDER_OFFSET_U", unit(-1.0, 1.0));
            key("BORDER_OFFSET_V", unit(-1.0, 1.0));
            key("WARN_MSGS", -1.0);
            if unit(0.0, 1.0) < 0.5 {
                key("BORDER_SMOOTH_UBEG", unit(0.5, 3.0));
                key("BORDER_SMOOTH_UEND", unit(0.5, 3.0));
            }
        });
    }
    writeln!(text, "$\n$KD_Definition\n#:{format}\nU:reference line u,m,0,1").unwrap();
    for (name, _) in ["phi,rad", "slope,m/m", "banking,m/m"].iter().zip(has).filter(|(_, has)| *has) {
        writeln!(text, "D:reference line {name} ! said").unwrap();
    }
    writeln!(text, "D:temperature,K").unwrap();
    for (i, v) in v.iter().enumerate() {
        match listed {
            true => writeln!(text, "D:long section at v = {v:.4},m").unwrap(),
            false => writeln!(text, "D:long section {},m", i + 1).unwrap(),
        }
    }
    writeln!(text, "$\n$$$$$$$$").unwrap();
    let mut phi = 0.0;
    let numbers: Vec<Vec<f64>> = (0..rows)
        .map(|row| {
            phi += unit(-0.03, 0.03);
            let line = [if row == 0 { f64::NAN } else { phi }, unit(-0.1, 0.1), unit(-0.1, 0.1)];
            let mut all: Vec<f64> = line.into_iter().zip(has).filter_map(|(v, has)| has.then_some(v)).collect();
            all.push(300.0);
            all.extend((0..sections).map(|_| if unit(0.0, 1.0) < 0.1 { f64::NAN } else { unit(-0.4, 0.4) }));
            all
        })
        .collect();
    [text.into_bytes(), body(format, &numbers)].concat()
}

#[test]
fn crg_04_made_roads_are_those_of_opencrg() {
    let here = folder("crg_made_roads");
    let file = here.join("made.crg");
    let mut r = Random(20);
    let mut compared = 0;
    for round in 0..120 {
        let format = ["LRFI", "LDFI", "KRBI", "KDBI", "KRFI", "LRBI"][round % 6];
        let bytes = made(&mut r, format);
        fs::write(&file, &bytes).unwrap();
        let theirs = CrgGrid::from_bytes(&bytes).unwrap();
        let ours = match Road::read(&file) {
            // where its reference point has no height we refuse, and they give none anywhere
            Err(e) if e.cause.contains("reference point") => continue,
            ours => ours.unwrap(),
        };
        // they move by the height at u 0, v 0, also where that is a hole: then no height is left
        let ([u0, u1], [v0, v1]) = (ours.u_range(), ours.v_range());
        let inside = places(&ours, 50, 1).into_iter().map(|[u, v]| Uv { u: u.clamp(u0, u1), v: v.clamp(v0, v1) });
        if inside.clone().all(|at| theirs.elevation_at_uv(at).is_none()) {
            continue;
        }
        alike(&format!("road {round}, {format}"), &ours, &theirs, &places(&ours, 200, round as u64));
        compared += 1;
    }
    assert!(compared > 90, "{compared}");
}

/// A short text with these parts.
fn small(road: &str, channels: &str, numbers: &str) -> String {
    format!("$CT\n$\n$ROAD_CRG\n{road}$\n$KD_Definition\n{channels}$\n$$$$\n{numbers}")
}

const KEYS: &str =
    "REFERENCE_LINE_END_U = 2\nREFERENCE_LINE_INCREMENT = 1\nLONG_SECTION_V_RIGHT = -1\nLONG_SECTION_V_INCREMENT = 2\n";
const TWO: &str = "#:LRFI\nD:long section 1,m\nD:long section 2,m\n";
const ROWS: &str = " 0.0000000 0.5000000\n 0.2500000 0.5000000\n 0.2500000 *missing*\n";

/// The ground at the posts of a file is what the file says, within the steps of the image, and nothing lies beyond.
#[test]
fn crg_05_an_image_has_the_heights_of_the_file() {
    let here = folder("crg_image");
    let empty = "$ROAD_CRG_MODS\nGRID_NAN_MODE = 0\n$\n";
    fs::write(here.join("road.crg"), format!("{empty}{}", small(KEYS, TWO, ROWS))).unwrap();
    expect(0, &here, &["build", "road.crg", "-o", "road.hpan"]);
    let places = ["0,-1", "0,1", "1,-1", "1,1", "0.5,-1", "1.9,0", "-0.1,0", "1,1.1"];
    let [out, _] = expect(0, &here, &[&["query", "road.hpan"][..], &places, &["--json"]].concat());
    let all: Vec<serde_json::Value> = serde_json::from_str(&out).unwrap();
    let all: Vec<Option<f64>> = all.iter().map(|answer| answer["z"].as_f64()).collect();
    let wanted = [Some(0.0), Some(0.5), Some(0.25), Some(0.5), Some(0.125), None, None, None];
    for ((got, want), place) in all.iter().zip(wanted).zip(places) {
        match (got, want) {
            (Some(got), Some(want)) => assert!((got - want).abs() < 1e-4, "{place}: {got}, and not {want}"),
            (got, want) => assert_eq!(*got, want, "{place}"),
        }
    }
    assert_eq!(all.len(), wanted.len());
}

/// Reference lines by x and y for each row.
#[test]
fn crg_06_places_for_each_row() {
    let here = folder("crg_places");
    let channels =
        "#:LRFI\nD:reference line x,m\nD:reference line y,m\nD:long section at v = -1,m\nD:long section at v = 1,m\n";
    let (mut numbers, turn) = (String::new(), 0.1f64);
    for i in 0..16 {
        let at = f64::from(i) * turn;
        writeln!(numbers, "{:>10.6}{:>10.6}{:>10.6}{:>10.6}", 10.0 * at.sin(), 10.0 - 10.0 * at.cos(), at, -at)
            .unwrap();
    }
    let keys = "REFERENCE_LINE_INCREMENT = 1\n";
    fs::write(here.join("arc.crg"), format!("$ROAD_CRG_MODS\n$\n{}", small(keys, channels, &numbers))).unwrap();
    let road = Road::read(&here.join("arc.crg")).unwrap();
    for i in 1..15 {
        let at = f64::from(i) * turn;
        for v in [-1.0, 0.0, 0.5, 1.0] {
            // to the left lies the middle of the circle
            let place = [(10.0 - v) * at.sin(), 10.0 - (10.0 - v) * at.cos()];
            let [x, y] = road.xy([f64::from(i), v]);
            // lines beside it are parallel to chords
            assert!((x - place[0]).abs() < 2e-3 && (y - place[1]).abs() < 2e-3, "{i} {v}: {x}, {y}");
            assert!((road.height_xy([x, y]).unwrap() - -v * at).abs() < 1e-5, "{i} {v}");
        }
    }
    let text = format!("$ROAD_CRG_MODS\nSCALE_LENGTH = 2\n$\n{}", small(keys, channels, &numbers));
    fs::write(here.join("long.crg"), text).unwrap();
    holds(&error(2, &here, &["build", "long.crg"]), &["line 2: scale_length is of reference lines with headings"]);
}

#[test]
fn crg_07_bad_roads_are_refused_with_place_and_cause() {
    let here = folder("crg_bad");
    let phi = "#:LRFI\nD:reference line phi,rad\nD:long section 1,m\nD:long section 2,m\n";
    let huge = "REFERENCE_LINE_END_U = 42949672.95\nREFERENCE_LINE_INCREMENT = 0.01\n";
    let binary = "#:KRBI\nD:long section 1,m\nD:long section 2,m\n";
    let zeros = |n: usize| "\0".repeat(n);
    for (name, text, wanted) in [
        ("empty", String::new(), "no line $$$$ leads to its numbers"),
        ("cut", small(KEYS, TWO, &ROWS[..50]), "line 17: 1 number in this line, and 2 should be"),
        ("few", small(KEYS, TWO, &ROWS[..42]), "it has 2 rows, and u from 0 to 2 makes 3"),
        ("one", small("", TWO, &ROWS[..21]), "it has 1 row, and a road needs two"),
        (
            "wide",
            small(KEYS, TWO, &ROWS.replacen('\n', " 1.0000000\n", 1)),
            "line 15: 3 numbers in this line, and 2 should be",
        ),
        ("word", small(KEYS, TWO, &ROWS.replace("0.2500000", "0.25x0000")), "line 16: \"0.25x0000\" is not a number"),
        ("high", small(KEYS, TWO, &ROWS.replace("0.2500000", "2.5000e38")), "line 16: row 2: 2.5e38 m is no height"),
        ("format", small(KEYS, &TWO.replace("LRFI", "XYZ"), ROWS), "line 10: \"XYZ\" is no format"),
        ("no_format", small(KEYS, &TWO.replace("#:LRFI", "*"), ROWS), "does not state how its numbers are written"),
        ("unit", small(KEYS, &TWO.replace("1,m", "1,mm"), ROWS), "line 11: the unit of \"long section 1\" is \"mm\""),
        ("numbers", small(KEYS, &TWO.replace("section 2", "section 3"), ROWS), "line 12: there is no long section 2"),
        ("mixed", small(KEYS, &TWO.replace("section 2", "section at v = 1"), ROWS), "some long sections have a number"),
        ("single", small(KEYS, "#:LRFI\nD:long section 1,m\n", ROWS), "it has 1 long section, and a road needs two"),
        ("left", small(&format!("{KEYS}LONG_SECTION_V_LEFT = 2\n"), TWO, ROWS), "line 8: long_section_v_left is 2"),
        (
            "way",
            small(&KEYS.replace("INCREMENT = 1", "INCREMENT = 0"), TWO, ROWS),
            "line 5: reference_line_increment is 0",
        ),
        ("value", small(&KEYS.replace("= -1", "= west"), TWO, ROWS), "line 6: \"west\" is not a number"),
        ("key", small(&KEYS.replace("= -1", "-1"), TWO, ROWS), "line 6: \"LONG_SECTION_V_RIGHT -1\" is no key"),
        (
            "mode",
            format!("$ROAD_CRG_OPTS\nBORDER_MODE_U = 7\n$\n{}", small(KEYS, TWO, ROWS)),
            "line 2: border_mode_u is 7",
        ),
        (
            "twice",
            format!("$ROAD_CRG_OPTS\n$\n$ROAD_CRG_OPTS\n$\n{}", small(KEYS, TWO, ROWS)),
            "line 3: this section stands in line 1 too",
        ),
        (
            "scale",
            format!("$ROAD_CRG_MODS\nSCALE_WIDTH = 0\n$\n{}", small(KEYS, TWO, ROWS)),
            "line 2: scale_width is 0",
        ),
        (
            "end",
            small(&format!("{KEYS}REFERENCE_LINE_END_X = 0\nREFERENCE_LINE_END_Y = 9\n"), TWO, ROWS),
            "line 8: it has no headings",
        ),
        ("holes", small(KEYS, TWO, &" *missing* *missing*\n".repeat(3)), "no height"),
        (
            "heading",
            small(KEYS, phi, &"*missing*  0.0000000 0.0000000\n".repeat(3)),
            "line 17: row 2: the phi of the reference line is NaN",
        ),
        (
            "huge",
            small(huge, binary, &zeros(80)),
            "4,294,967,296 rows of 2 channels make 34,359,738,400 bytes of numbers, and it has 80",
        ),
        ("short", small(KEYS, binary, &zeros(79)), "3 rows of 2 channels make 80 bytes of numbers, and it has 79"),
        (
            "endless",
            small(&KEYS.replace("END_U = 2", "START_U = 0"), binary, &zeros(80)),
            "does not state where its reference line ends",
        ),
        (
            "far",
            small(&KEYS.replace("END_U = 2", "END_U = 1e300"), binary, &zeros(80)),
            "line 4: reference_line_end_u is",
        ),
        ("back", small(&KEYS.replace("END_U = 2", "END_U = -2"), TWO, ROWS), "line 4: reference_line_end_u is -2"),
    ] {
        let file = format!("{name}.crg");
        fs::write(here.join(&file), text).unwrap();
        let said = error(2, &here, &["build", &file]);
        assert!(said.contains(wanted), "{name}: {said}");
        assert!(said.contains(&file), "{name}: {said}");
    }
    assert!(fs::read_dir(&here).unwrap().all(|f| f.unwrap().path().extension().unwrap() == "crg"));
}

/// Whatever a file has, it is read or refused, soon.
#[test]
fn crg_08_changed_roads_end() {
    let here = folder("crg_changed");
    let mut r = Random(8);
    let files: Vec<Vec<u8>> = (0..12).map(|i| made(&mut r, ["LRFI", "KRBI", "KDBI", "LDFI"][i % 4])).collect();
    let pieces =
        ["$", "\n", "$$$$\n", "1e308", "-1e308", "*", "!", "nan", ",", "=", "\0", "9999999999", "D:long section 3,m\n"];
    let (start, mut read_at_all) = (Instant::now(), 0);
    let place: PathBuf = here.join("changed.crg");
    for round in 0..1500 {
        let mut bytes = files[round % files.len()].clone();
        // the text is a few hundred bytes, and the numbers are many
        let within = if r.below(3) > 0 { bytes.len().min(1200) } else { bytes.len() };
        for _ in 0..=r.below(3) {
            let at = r.below(within.min(bytes.len()).max(1));
            match r.below(4) {
                0 => bytes[at] = r.below(256) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => drop(bytes.splice(at..(at + r.below(9)).min(bytes.len()), pieces[r.below(pieces.len())].bytes())),
                _ => bytes[at] ^= 1 << r.below(8),
            }
        }
        fs::write(&place, &bytes).unwrap();
        if let Ok(road) = Road::read(&place) {
            read_at_all += 1;
            let _ = (road.height_xy([1.0, 2.0]), road.height_uv([1e300, -1e300]), road.uv([f64::NAN, 0.0]));
        }
        if let Ok(import) = read(&[&place], &Frame::default()) {
            assert!(import.scene.positions.iter().flatten().all(|v| v.is_finite()));
        }
    }
    assert!(read_at_all > 100, "{read_at_all}");
    assert!(start.elapsed() < Duration::from_secs(120));
}

/// Friction comes from a second file, by u and v, and is stated.
#[test]
fn crg_09_friction_from_a_second_file() {
    let here = folder("crg_friction");
    fs::write(here.join("road.crg"), small(KEYS, TWO, ROWS)).unwrap();
    let mu = " 0.9000000 0.9000000\n 0.9000000 0.9000000\n 0.3000000 0.3000000\n";
    fs::write(here.join("mu.crg"), small(KEYS, TWO, mu)).unwrap();
    let settings = "[[source]]\nfile = \"road.crg\"\nfriction = \"mu.crg\"\n";
    fs::write(here.join("s.toml"), settings).unwrap();
    let mus = |image: &str| -> Vec<f64> {
        let [out, _] = expect(0, &here, &["query", image, "0.5,0", "1.5,0.2", "--json"]);
        let all: Vec<serde_json::Value> = serde_json::from_str(&out).unwrap();
        all.iter().map(|answer| answer["mu"].as_f64().unwrap()).collect()
    };
    let [_, said] = expect(0, &here, &["build", "--settings", "s.toml", "-o", "a.hpan"]);
    assert!(!said.contains("by default"), "{said}");
    assert!(mus("a.hpan").iter().zip([0.9, 0.6]).all(|(a, b)| (a - b).abs() < 1e-4), "{:?}", mus("a.hpan"));
    // an entry of that name goes before the file, and others do not touch it
    let more =
        "[[material]]\nname = \"mu 0.60\"\nmu = 0.1\n\n[[material]]\nname = \"Ice\"\noptional = true\nmu = 0.2\n\n";
    fs::write(here.join("s.toml"), format!("{more}{settings}")).unwrap();
    expect(0, &here, &["build", "--settings", "s.toml", "-o", "b.hpan"]);
    assert!(mus("b.hpan").iter().zip([0.9, 0.1]).all(|(a, b)| (a - b).abs() < 1e-4), "{:?}", mus("b.hpan"));
    fs::write(here.join("s.toml"), settings).unwrap();
    fs::write(here.join("mu.crg"), small(KEYS, TWO, &mu.replace("0.3000000", "30.000000"))).unwrap();
    holds(&error(2, &here, &["build", "--settings", "s.toml", "-o", "c.hpan"]), &["mu.crg: 30 is no friction"]);
    fs::write(here.join("a.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    fs::write(here.join("s.toml"), settings.replace("road.crg", "a.obj")).unwrap();
    holds(&error(2, &here, &["build", "--settings", "s.toml", "-o", "c.hpan"]), &["a.obj: friction from a file"]);
}
