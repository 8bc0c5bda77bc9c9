//! Files of heights: against what rasterio, pyproj and Pillow say of them (`tests/goldens/heights.py`), and bad ones.

use crate::shell::{error, expect, folder, holds, info, soon};
use hardpan::Terrain;
use hardpan_builder::HeightField;
use hardpan_builder::image::earth::Earth;
use hardpan_builder::import::{Frame, Import, heights::Heights, read};
use hardpan_builder::util::crs::{System, of_code};
use hardpan_builder::util::projection::{Ellipsoid, Parameters, TransverseMercator};
use std::{collections::BTreeSet, fs, path::Path};
use verification::obj::data_or_skip;

const HEIGHTS: &str = include_str!("../../goldens/heights.csv");
const PLACES: &str = include_str!("../../goldens/places.csv");
const PICTURES: &str = include_str!("../../goldens/pictures.csv");
const PAGE: &str = include_str!("../../../builder/docs/heights.md");

/// The files of the page's table: name, options, and what becomes of them.
fn table() -> Vec<[&'static str; 3]> {
    let (_, table) = PAGE.split_once("## Files that were tried\n").unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let cell = |text: &'static str| text.trim().trim_matches('`');
    rows.map(|row| row.split('|').collect::<Vec<_>>()).map(|c| [cell(c[1]), cell(c[2]), cell(c[3])]).collect()
}

/// Options of a frame, as a program would state them.
fn said(options: &str) -> Frame {
    let mut heights = Heights::default();
    let words: Vec<&str> = options.split(' ').filter(|word| !word.is_empty()).collect();
    for pair in words.chunks(2) {
        let code = || Some(pair[1].strip_prefix("EPSG:").unwrap().parse().unwrap());
        let number = || Some(pair[1].parse().unwrap());
        match pair[0] {
            "--cell" => heights.cell = number(),
            "--height-scale" => heights.step = number(),
            "--no-data" => heights.no_data = number(),
            "--file-crs" => heights.file_crs = code(),
            "--crs" => heights.crs = code(),
            "--window" => {
                let all: Vec<f64> = pair[1].split(',').map(|v| v.parse().unwrap()).collect();
                heights.window = Some(all.try_into().unwrap());
            }
            other => panic!("{other}"),
        }
    }
    Frame { heights, ..Frame::default() }
}

fn earth(import: &Import) -> Option<Earth> {
    let record = import.crs.as_ref()?.record;
    let ellipsoid = Ellipsoid { radius: record.radius, inverse_flattening: record.inverse_flattening };
    let (longitude, latitude, scale, zero) = (record.longitude, record.latitude, record.scale, record.zero);
    (record.method == 1).then(|| Earth::new(Parameters { ellipsoid, longitude, latitude, scale, zero }, record.shift))
}

/// Bilinear between posts; NaN beyond, and where a post has no height.
fn height(f: &HeightField, [x, y]: [f64; 2]) -> f64 {
    let (c, r) = ((x - f.origin[0]) / f.pitch, (y - f.origin[1]) / f.pitch);
    let (w, h) = ((f.columns - 1) as f64, (f.rows - 1) as f64);
    if !(-1e-6..=w + 1e-6).contains(&c) || !(-1e-6..=h + 1e-6).contains(&r) {
        return f64::NAN;
    }
    let cell = |v: f64, n: usize| {
        let i = (v.max(0.0) as usize).min(n - 2);
        (i, (v - i as f64).clamp(0.0, 1.0))
    };
    let ((i, u), (j, v)) = (cell(c, f.columns), cell(r, f.rows));
    let at = |i: usize, j: usize| f.heights[j * f.columns + i];
    // a post counts where its share is not zero: the next one may be void
    let mix = |a: f64, b: f64, t: f64| {
        if t < 1e-9 {
            a
        } else if t > 1.0 - 1e-9 {
            b
        } else {
            a * (1.0 - t) + b * t
        }
    };
    let line = |j: usize| mix(at(i, j), at(i + 1, j), u);
    mix(line(j), line(j + 1), v)
}

fn numbers<const N: usize>(line: &str, from: usize) -> [f64; N] {
    let all: Vec<f64> = line.split(',').skip(from).map(|v| v.parse().unwrap()).collect();
    all.try_into().unwrap()
}

#[test]
fn by_16_places_are_those_of_pyproj() {
    let mut worst = 0f64;
    for line in PLACES.lines().skip(1) {
        let [code, longitude, latitude, x, y] = numbers(line, 0);
        let Some(System::Plane { of, .. }) = of_code(code as u32) else { panic!("{line}") };
        let plane = TransverseMercator::new(of);
        let [e, n] = plane.forward([longitude, latitude]);
        let off = (e - x).hypot(n - y);
        worst = worst.max(off);
        assert!(off < 1e-6, "{line}: {e} {n}");
        let [lon, lat] = plane.inverse([e, n]);
        assert!(
            (lon - longitude).abs() < 1e-12 * 360.0 && (lat - latitude).abs() < 1e-12 * 90.0,
            "{line}: {lon} {lat}"
        );
    }
    println!("worst {worst:e} m");
}

#[test]
fn by_16_heights_at_posts_are_those_of_rasterio() {
    let Some(data) = data_or_skip() else { return };
    let mut compared = 0;
    for [file, options, result] in table() {
        let Some(name) = file.strip_prefix("dem/").filter(|_| result == "built") else { continue };
        let import = read(&[data.join(file)], &said(options)).unwrap();
        let [field] = &import.scene.fields[..] else { panic!("{file}") };
        let earth = earth(&import);
        for line in HEIGHTS.lines().filter(|line| line.split(',').next() == Some(name)) {
            let [code, x, y, wanted] = numbers(line, 1);
            let of_degrees =
                matches!(of_code(code as u32), Some(System::Geographic(_))) || options.contains("file-crs");
            let place = match (&earth, of_degrees || name.starts_with("sba")) {
                (Some(earth), true) => earth.place([x, y]),
                _ => [x, y],
            };
            let found = height(field, place);
            if options.ends_with(&format!("--no-data {wanted}")) {
                assert!(found.is_nan(), "{line}: {found}");
                continue;
            }
            // what lies outside of a window, or beside a void, is not there
            if (options.contains("--window") || options.contains("--no-data") || name.contains("nan")) && found.is_nan()
            {
                continue;
            }
            let off = (found - wanted).abs();
            match import.height_error == 0.0 {
                // rasterio has text in single precision
                true => assert_eq!(found as f32, wanted as f32, "{line}"),
                false => assert!(off <= import.height_error + 1e-6, "{line}: {found}, {}", import.height_error),
            }
            compared += 1;
        }
    }
    assert!(compared > 180, "{compared}");
}

/// A post is the centre of a pixel in all six ways of saying where that is.
#[test]
fn by_16_six_ways_of_saying_where_posts_lie() {
    let Some(data) = data_or_skip() else { return };
    // their zeros are no ground, and leave no cell with ground
    let all = Frame { heights: Heights { no_data: Some(f64::NAN), ..Heights::default() }, ..Frame::default() };
    for (ways, point) in [("pixel_is_area", 0.0), ("pixel_is_point", 500.0)] {
        for way in ["model_tie_point_and_pixel_scale", "model_transformation", "model_tie_points"] {
            let file = data.join(format!("dem/austrian_capitals_{way}_{ways}.tif"));
            let import = read(&[file], &all).unwrap();
            let field = &import.scene.fields[0];
            // rasterio: the corner of the first pixel is 4302000, 2811000 (area) or 4301500, 2811500 (point)
            assert_eq!(field.origin, [4_302_500.0 - point, 2_621_500.0 + point], "{way} {ways}");
            assert_eq!((field.columns, field.rows, field.pitch), (507, 190, 1000.0), "{way} {ways}");
        }
    }
}

#[test]
fn mv_35_pixels_are_those_of_pillow() {
    let Some(data) = data_or_skip() else { return };
    let mut frame = said("--cell 2 --height-scale 1");
    for south_first in [false, true] {
        frame.heights.south_first = south_first;
        let mut last = ("", None::<Import>);
        for line in PICTURES.lines().skip(1) {
            let name = line.split(',').next().unwrap();
            if last.0 != name {
                last = (name, Some(read(&[data.join("heightmap").join(name)], &frame).unwrap()));
            }
            let field = &last.1.as_ref().unwrap().scene.fields[0];
            let [column, row, step] = numbers(line, 1);
            let row = if south_first { row as usize } else { field.rows - 1 - row as usize };
            assert_eq!(field.heights[row * field.columns + column as usize], step, "{line}");
        }
    }
}

#[test]
fn by_16_every_file_does_as_the_page_says() {
    let Some(data) = data_or_skip() else { return };
    let folder = folder("heights_every_file");
    let mut seen = BTreeSet::new();
    for [file, options, result] in table() {
        seen.insert(file.to_owned());
        let path = data.join(file);
        let code = ["built", "", "input", "unsupported"].iter().position(|name| *name == result).unwrap();
        let typed = ["build", path.to_str().unwrap(), "-o", "x.hpan"];
        let typed: Vec<&str> = typed.into_iter().chain(options.split(' ').filter(|word| !word.is_empty())).collect();
        let [_, err] = expect(code as i32, &folder, &typed);
        assert_eq!(err.contains("colour picture"), COLOURS.contains(&&file[file.find('/').unwrap() + 1..]), "{err}");
    }
    for kind in ["dem", "heightmap"] {
        for entry in fs::read_dir(data.join(kind)).unwrap() {
            let name = format!("{kind}/{}", entry.unwrap().file_name().into_string().unwrap());
            assert!(seen.contains(&name), "{name} is not in builder/docs/heights.md");
        }
    }
}

/// Pictures that are none of grey.
const COLOURS: [&str; 7] = [
    "bmp_Info_8_Bit.bmp",
    "bmp_Info_8_Bit_Top_Down.bmp",
    "bmp_Info_R8_G8_B8.bmp",
    "bmp_V5_A8_R8_G8_B8_Rgb.bmp",
    "bmp_pal4rle.bmp",
    "bmp_pal8os2-hs.bmp",
    "terrain_rgb_fuji_512.png",
];

/// A grid as Esri ASCII: so many columns of cells of 10 m, from a corner on.
fn asc(columns: usize, rows: usize, [x, y]: [f64; 2], height: impl Fn(usize, usize) -> f64) -> String {
    let head =
        format!("ncols {columns}\nnrows {rows}\nxllcorner {x}\nyllcorner {y}\ncellsize 10\nNODATA_value -9999\n");
    let line = |r: usize| (0..columns).map(|c| height(c, r).to_string()).collect::<Vec<_>>().join(" ") + "\n";
    head + &(0..rows).map(line).collect::<String>()
}

/// Integers in metres stay as they are; no data stays no ground.
#[test]
fn by_16_square_grids_keep_their_posts() {
    let folder = folder("heights_square");
    let height = |c: usize, r: usize| if (c, r) == (2, 1) { -9999.0 } else { (100 + 7 * c + 3 * r) as f64 };
    fs::write(folder.join("a.asc"), asc(5, 4, [1000.0, 2000.0], height)).unwrap();
    let [out, err] = expect(0, &folder, &["build", "a.asc", "--crs", "EPSG:32632", "--file-crs", "EPSG:32632"]);
    holds(&out, &["20 posts of heights", "EPSG:32632, datum WGS 84 (stated by user); heights: unknown"]);
    assert!(!err.contains("warning"), "{err}");
    for (c, r) in (0..4).flat_map(|r| (0..5).map(move |c| (c, r))).filter(|at| ![(2, 0), (2, 1)].contains(at)) {
        let place = format!("{},{}", 1005 + 10 * c, 2035 - 10 * r);
        let [out, _] = expect(0, &folder, &["query", "a.hpan", &place, "--json"]);
        let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(answer[0]["z"].as_f64(), Some(height(c, r)), "{place}: {out}");
    }
    let [out, _] = expect(0, &folder, &["query", "a.hpan", "1025,2025"]);
    holds(&out, &["no ground"]);
    assert_eq!(info(&folder, "a.hpan")["frame"]["crs"]["epsg"], 32_632);
    expect(0, &folder, &["verify", "a.hpan"]);
    // against the file, and against another one
    expect(0, &folder, &["verify", "a.hpan", "--against", "a.asc"]);
    fs::write(folder.join("b.asc"), asc(5, 4, [1000.0, 2000.0], |c, r| height(c, r) + if c == 0 { 0.5 } else { 0.0 }))
        .unwrap();
    let [out, _] = expect(1, &folder, &["verify", "a.hpan", "--against", "b.asc"]);
    holds(&out, &["at posts"]);
}

#[test]
fn by_16_questions_in_degrees() {
    let Some(data) = data_or_skip() else { return };
    let folder = folder("heights_degrees");
    let tile = data.join("dem/N44W072.hgt");
    let window = ["--window", "-71.4,44.2,-71.2,44.4"];
    let typed = ["build", tile.to_str().unwrap(), "-o", "a.hpan"];
    let [out, _] = expect(0, &folder, &[&typed[..], &window].concat());
    holds(&out, &["transverse Mercator about -71.3, 44.3, datum WGS 84"]);
    let facts = info(&folder, "a.hpan");
    let stated = facts["error"]["height"].as_f64().unwrap();
    let inside = HEIGHTS.lines().filter(|line| line.starts_with("N44W072"));
    let inside: Vec<[f64; 4]> = inside.map(|line| numbers(line, 1)).collect();
    // pyproj, +proj=tmerc +lon_0=-71.3 +lat_0=44.3 +ellps=WGS84
    let [x, y] = Earth::new(
        Parameters { ellipsoid: Ellipsoid::WGS84, longitude: -71.3, latitude: 44.3, scale: 1.0, zero: [0.0; 2] },
        [0.0; 3],
    )
    .place([-71.25, 44.25]);
    assert!((x - 3_993.432_14).abs() < 1e-3 && (y + 5_554.664_74).abs() < 1e-3, "{x} {y}");
    let [typed, _] = expect(0, &folder, &["query", "a.hpan", &format!("{x},{y}")]);
    let [degrees, _] = expect(0, &folder, &["query", "a.hpan", "--lonlat", "-71.25,44.25"]);
    for place in ["-71.25,91", "361,44", "-71.25,404.25"] {
        holds(
            &error(2, &folder, &["query", "a.hpan", &format!("--lonlat={place}")]),
            &["is no place: degrees are east"],
        );
    }
    let z = |table: &str| table.lines().nth(1).unwrap().split_whitespace().nth(2).unwrap().to_owned();
    assert_eq!(z(&typed), z(&degrees));
    // posts of the file in the window
    let import = read(&[&tile], &said("--window -71.4,44.2,-71.2,44.4")).unwrap();
    assert!(import.height_error > 0.0 && import.height_error < stated && stated < import.height_error + 0.02);
    let mut table = "name,lat,lon\n".to_owned();
    inside.iter().for_each(|[_, lon, lat, _]| table += &format!("p,{lat},{lon}\n"));
    table += "q,44.25,-71.25\n";
    fs::write(folder.join("points.csv"), table).unwrap();
    let [out, _] = expect(0, &folder, &["query", "a.hpan", "--csv", "points.csv"]);
    assert!(out.lines().next().unwrap().ends_with(",name,lat,lon"), "{out}");
    let last = out.lines().last().unwrap();
    assert!(last.contains(",q,44.25,-71.25"), "{last}");
    // an image that does not know says so
    fs::write(folder.join("b.asc"), asc(3, 3, [0.0; 2], |c, r| (c + r) as f64)).unwrap();
    expect(0, &folder, &["build", "b.asc"]);
    holds(&error(2, &folder, &["query", "b.hpan", "--lonlat", "1,2"]), &["does not know where on earth it lies"]);
}

/// Several files lie on one plane, and mix with meshes.
#[test]
fn rf_65_heights_and_meshes_make_one_image() {
    let folder = folder("heights_mixed");
    fs::write(folder.join("w.asc"), asc(11, 11, [0.0; 2], |c, _| c as f64)).unwrap();
    fs::write(folder.join("e.asc"), asc(11, 11, [100.0, 0.0], |c, _| (10 + c) as f64)).unwrap();
    fs::write(folder.join("road.obj"), "v 40 40 50\nv 60 40 50\nv 60 60 50\nv 40 60 50\nf 1 2 3 4\n").unwrap();
    let all = ["build", "w.asc", "e.asc", "road.obj", "-o", "all.hpan"];
    expect(0, &folder, &all);
    let z = |place: &str| {
        let [out, _] = expect(0, &folder, &["query", "all.hpan", place, "--json"]);
        let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
        answer[0]["z"].as_f64()
    };
    assert_eq!(["25,55", "105,55", "195,55", "50,50"].map(z), [Some(2.0), Some(10.0), Some(19.0), Some(50.0)]);
    answers_say_what_holds_the_ground(&folder);
    // the order of files is nothing
    expect(0, &folder, &["build", "road.obj", "e.asc", "w.asc", "-o", "other.hpan"]);
    assert_eq!(info(&folder, "all.hpan")["identity"], info(&folder, "other.hpan")["identity"]);
    // a mesh in another frame
    fs::write(folder.join("far.obj"), "v 4000 40 50\nv 4060 40 50\nv 4060 60 50\nf 1 2 3\n").unwrap();
    let err = error(2, &folder, &["build", "w.asc", "far.obj", "-o", "no.hpan"]);
    holds(&err, &["far.obj", "x 4000.0 to 4060.0, y 40.0 to 60.0", "x 5.0 to 105.0, y 5.0 to 105.0"]);
}

/// RF-65: on the road, under it, beside it and beyond all ground, each in every form.
fn answers_say_what_holds_the_ground(folder: &Path) {
    let typed = ["query", "all.hpan", "50,50", "50,50,4", "25,55", "900,0"];
    let wanted = ["mesh", "field", "field", ""];
    let json = |typed: &[&str]| -> serde_json::Value {
        serde_json::from_str(&expect(0, folder, &[typed, &["--json"]].concat())[0]).unwrap()
    };
    let words = |found: &serde_json::Value| -> Vec<String> {
        let all = found.as_array().unwrap().iter();
        all.map(|a| a["leaf"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let column = |typed: &[&str]| -> Vec<String> {
        expect(0, folder, &[typed, &["-o", "leaf.csv", "--force"]].concat());
        let table = fs::read_to_string(folder.join("leaf.csv")).unwrap();
        let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let at = lines.next().unwrap().iter().position(|name| *name == "leaf").unwrap();
        lines.map(|fields| fields[at].to_owned()).collect()
    };
    let answers = json(&typed);
    assert_eq!(words(&answers), wanted);
    assert!(answers[3]["leaf"].is_null(), "{answers}");
    assert_eq!(column(&typed), wanted);
    let layers = json(&["query", "all.hpan", "50,50", "25,55", "--layers"]);
    assert_eq!(words(&layers), ["mesh", "field", "field"]);
    // straight down onto the road, onto the field, and up into the air
    let rays = ["query", "all.hpan", "--ray=50,50,60,0,0,-1,90", "--ray=25,55,60,0,0,-1,90", "--ray=50,50,60,0,0,1,9"];
    assert_eq!(words(&json(&rays)), ["mesh", "field", ""]);
    assert_eq!(column(&rays), ["mesh", "field", ""]);
    let [out, _] = expect(0, folder, &["query", "all.hpan", "50,50,4", "--explain"]);
    let is_of = |leaf: &str, z: &str| out.lines().any(|l| l.contains(&format!("candidate  z {z}")) && l.contains(leaf));
    assert!(is_of(" mesh, ", "50.000000") && is_of(" field, ", "4.500000"), "{out}");
}

#[test]
fn mv_37_grey_steps_have_a_height() {
    let Some(data) = data_or_skip() else { return };
    let folder = folder("heights_grey");
    let map = data.join("heightmap/chrono_bump64.bmp");
    let map = map.to_str().unwrap();
    holds(&error(2, &folder, &["build", map]), &["--height-scale"]);
    holds(&error(2, &folder, &["build", map, "--height-scale", "0.1"]), &["--cell"]);
    let typed = ["build", map, "-o", "a.hpan", "--cell", "10", "--height-scale", "0.5", "--height-zero", "-64"];
    expect(0, &folder, &typed);
    let bounds = &info(&folder, "a.hpan")["bounds"];
    let import = read(&[map], &said("--cell 10 --height-scale 1")).unwrap();
    let steps = &import.scene.fields[0].heights;
    let least = steps.iter().copied().fold(f64::INFINITY, f64::min) * 0.5 - 64.0;
    assert_eq!(bounds["min"][2].as_f64(), Some(least));
    let near = |v: &serde_json::Value, wanted: f64| (v.as_f64().unwrap() - wanted).abs() < 0.01;
    assert!(near(&bounds["min"][0], 0.0) && near(&bounds["max"][0], 630.0) && near(&bounds["max"][1], 630.0));
}

#[test]
fn mv_29_negative_scale_mirrors() {
    let folder = folder("heights_mirror");
    // a ramp that rises to the east, wound to look up
    fs::write(folder.join("a.obj"), "v 0 0 0\nv 10 0 5\nv 10 10 5\nv 0 10 0\nf 1 2 3 4\n").unwrap();
    let settings =
        |scale: &str| format!("[build]\nundersides = \"ceiling\"\n[[source]]\nfile = \"a.obj\"\nscale = {scale}\n");
    fs::write(folder.join("m.toml"), settings("[-1, 1, 1]")).unwrap();
    expect(0, &folder, &["build", "--settings", "m.toml"]);
    let [out, _] = expect(0, &folder, &["query", "m.hpan", "-8,5", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer[0]["z"].as_f64(), Some(4.0));
    for wrong in ["[0, 1, 1]", "[nan, 1, 1]", "-1"] {
        fs::write(folder.join("w.toml"), settings(wrong)).unwrap();
        error(2, &folder, &["build", "--settings", "w.toml"]);
    }
}

/// Wrong files end soon, with an error that names them, and nothing is left behind.
#[test]
fn by_16_bad_files_are_refused() {
    let folder = folder("heights_bad");
    let refused = |file: &str, more: &[&str], parts: &[&str]| {
        let [_, err] = soon(20, 2, &folder, &[&["build", file, "-o", "no.hpan"], more].concat());
        holds(&err, parts);
        assert!(!folder.join("no.hpan").exists());
    };
    fs::write(folder.join("N00E000.hgt"), [0; 100]).unwrap();
    refused("N00E000.hgt", &[], &["2884802 or 25934402 bytes"]);
    fs::write(folder.join("mine.hgt"), vec![0; 2 * 1201 * 1201]).unwrap();
    refused("mine.hgt", &[], &["N48W125.hgt"]);
    // more posts than bytes can hold
    let mut bmp = b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0".to_vec();
    for v in [3_000_000u32, 2_000_000, 0x18_0001, 0, 0, 0, 0, 0, 0] {
        bmp.extend(v.to_le_bytes());
    }
    bmp.resize(24_630, 0);
    fs::write(folder.join("big.bmp"), bmp).unwrap();
    refused("big.bmp", &["--cell", "1", "--height-scale", "1"], &["3,000,000 x 2,000,000 posts"]);
    let whole = asc(40, 40, [0.0; 2], |c, r| (c * r) as f64);
    fs::write(folder.join("cut.asc"), &whole[..whole.len() / 2]).unwrap();
    refused("cut.asc", &[], &["it ends after", "of 1600 heights"]);
    fs::write(folder.join("word.asc"), whole.replace(" 21 ", " x1 ")).unwrap();
    refused("word.asc", &[], &["\"x1\" is no number"]);
    // a number that stands for no height
    let void = |c: usize, r: usize| if c < 3 { -32_767.0 } else { (c * r) as f64 };
    fs::write(folder.join("void.asc"), asc(8, 8, [0.0; 2], void)).unwrap();
    refused("void.asc", &[], &["-32767", "--no-data"]);
    expect(0, &folder, &["build", "void.asc", "--no-data", "-32767", "-o", "void.hpan"]);
    holds(&expect(0, &folder, &["query", "void.hpan", "15,45"])[0], &["not in image"]);
    // degrees of no datum, and codes that are no plane here
    let degrees = whole.replace("cellsize 10", "cellsize 0.001");
    fs::write(folder.join("d.asc"), degrees).unwrap();
    refused("d.asc", &[], &["--file-crs EPSG:4326"]);
    let warp = |file: &str, more: &[&str], parts: &[&str]| {
        let [_, err] = soon(20, 3, &folder, &[&["build", file, "-o", "no.hpan"], more].concat());
        holds(&err, parts);
    };
    warp("d.asc", &["--file-crs", "EPSG:4326", "--crs", "EPSG:3035"], &["gdalwarp -t_srs EPSG:3035"]);
    warp("d.asc", &["--file-crs", "EPSG:4326", "--crs", "EPSG:25832"], &["no datum is moved", "gdalwarp"]);
    warp("d.asc", &["--file-crs", "EPSG:3857"], &["EPSG:3857"]);
    warp("d.asc", &["--file-crs", "EPSG:99999"], &["EPSG:99999"]);
    fs::write(folder.join("e.asc"), fs::read(folder.join("d.asc")).unwrap()).unwrap();
    let settings = "[[source]]\nfile = \"d.asc\"\nfile_crs = \"EPSG:4326\"\n[[source]]\nfile = \"e.asc\"\nfile_crs = \"EPSG:4269\"\n";
    fs::write(folder.join("two.toml"), settings).unwrap();
    holds(&error(2, &folder, &["build", "--settings", "two.toml"]), &["WGS 84", "NAD83", "no datum is moved"]);
    refused("d.asc", &["--file-crs", "EPSG:4326", "--up", "y"], &["a grid of heights"]);
    fs::write(folder.join("none.asc"), asc(4, 4, [0.0; 2], |c, r| if (c + r) % 2 == 0 { -9999.0 } else { 1.0 }))
        .unwrap();
    refused("none.asc", &[], &["no four posts"]);
    fs::write(folder.join("a.zip"), b"PK\x03\x04 and no more").unwrap();
    refused("a.zip", &[], &["no whole zip file"]);
    fs::write(folder.join("bomb.zip"), bomb("N00E000.hgt", 200 << 20)).unwrap();
    let [_, err] = soon(20, 3, &folder, &["build", "bomb.zip", "-o", "no.hpan"]);
    holds(&err, &["more than 25,934,402 bytes"]);
    fs::write(folder.join("other.zip"), bomb("readme.txt", 100)).unwrap();
    let [_, err] = soon(20, 3, &folder, &["build", "other.zip", "-o", "no.hpan"]);
    holds(&err, &["readme.txt", "unpack it"]);
}

/// A zip file of one file, which has so many zeros, deflated.
fn bomb(name: &str, zeros: usize) -> Vec<u8> {
    let (mut packed, mut byte, mut free) = (Vec::new(), 0u8, 0);
    let mut put = |bit: u32| {
        byte |= (bit as u8) << free;
        free += 1;
        if free == 8 {
            packed.push(byte);
            (byte, free) = (0, 0);
        }
    };
    // one block by the fixed code: a zero, runs of 258 zeros before it, the end
    let mut code = |value: u32, bits: u32| (0..bits).rev().for_each(|k| put(value >> k & 1));
    code(0b110, 3);
    code(0x30, 8);
    for _ in 0..zeros / 258 {
        code(0xC5, 8);
        code(0, 5);
    }
    code(0, 7);
    code(0, 8);
    let (size, length) = (packed.len() as u32, name.len() as u16);
    let fields = |mut to: Vec<u8>| {
        to.extend([20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        to.extend([size.to_le_bytes(), (zeros as u32).to_le_bytes()].concat());
        to.extend(length.to_le_bytes());
        to.extend([0, 0]);
        to
    };
    let local = [fields(b"PK\x03\x04".to_vec()), name.into(), packed].concat();
    let central = [fields(b"PK\x01\x02\x14\0".to_vec()), vec![0; 14], name.into()].concat();
    let mut end = b"PK\x05\x06\0\0\0\0\x01\0\x01\0".to_vec();
    end.extend([(central.len() as u32).to_le_bytes(), (local.len() as u32).to_le_bytes()].concat());
    end.extend([0, 0]);
    [local, central, end].concat()
}

/// Runs a command with a gigabyte of memory and 30 seconds; its code, and what it says.
fn bounded(folder: &Path, typed: &[&str]) -> [String; 2] {
    let script = "ulimit -t 30; ulimit -v 1048576; exec \"$0\" \"$@\" --threads 2";
    let mut command = std::process::Command::new("sh");
    let output = command.args(["-c", script]).arg(&*crate::shell::HARDPAN).args(typed).current_dir(folder).output();
    let output = output.unwrap();
    let code = output.status.code().map_or("killed".into(), |code| code.to_string());
    [code, String::from_utf8_lossy(&output.stderr).into_owned()]
}

/// A tag of a TIFF: its number, the type and the count of its values, and their bytes.
type Tag = (u16, u16, u32, Vec<u8>);

fn tag(number: u16, kind: u16, values: &[u32]) -> Tag {
    let size = if kind == 3 { 2 } else { 4 };
    (number, kind, values.len() as u32, values.iter().flat_map(|v| v.to_le_bytes()[..size].to_vec()).collect())
}

fn doubles(number: u16, values: &[f64]) -> Tag {
    (number, 12, values.len() as u32, values.iter().flat_map(|v| v.to_le_bytes()).collect())
}

fn words(number: u16, text: &str) -> Tag {
    (number, 2, text.len() as u32 + 1, [text.as_bytes(), &[0]].concat())
}

/// Keys of metres on a plane with this code.
fn on_plane(code: u32) -> Tag {
    tag(34_735, 3, &[1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, code])
}

/// A TIFF of data from byte 8 on, and of tags.
fn tiff(data: &[u8], mut tags: Vec<Tag>) -> Vec<u8> {
    tags.sort_by_key(|t| t.0);
    let mut file = b"II*\0".to_vec();
    file.extend((8 + data.len() as u32).to_le_bytes());
    file.extend(data);
    file.extend((tags.len() as u16).to_le_bytes());
    let mut rest = Vec::new();
    let behind = file.len() + 12 * tags.len() + 4;
    for (number, kind, count, bytes) in tags {
        file.extend(number.to_le_bytes());
        file.extend(kind.to_le_bytes());
        file.extend(count.to_le_bytes());
        let mut value = ((behind + rest.len()) as u32).to_le_bytes().to_vec();
        if bytes.len() <= 4 {
            value = bytes;
            value.resize(4, 0);
        } else {
            rest.extend(bytes);
        }
        file.extend(value);
    }
    file.extend([0; 4]);
    file.extend(rest);
    file
}

/// A TIFF of one strip of heights.
fn strip(columns: u32, heights: &[i16], more: Vec<Tag>) -> Vec<u8> {
    let data: Vec<u8> = heights.iter().flat_map(|h| h.to_le_bytes()).collect();
    let rows = heights.len() as u32 / columns;
    let head = [(256, columns), (257, rows), (258, 16), (259, 1), (262, 1), (277, 1), (278, rows), (339, 2)];
    let place = [(273, 8), (279, data.len() as u32)];
    let plain = head.into_iter().chain(place).map(|(number, value)| tag(number, 4, &[value]));
    tiff(&data, plain.chain(more).collect())
}

/// A GeoTIFF of 16-bit heights on metres, of which a few tiles are there: all posts of a tile have one height.
fn sparse(side: u32, tile: u32, there: &[([u32; 2], u16)]) -> Vec<u8> {
    let across = side.div_ceil(tile);
    let (mut offsets, mut counts) = (vec![0; (across * across) as usize], vec![0; (across * across) as usize]);
    let mut data = Vec::new();
    for ([i, j], height) in there {
        let number = (j * across + i) as usize;
        (offsets[number], counts[number]) = (8 + data.len() as u32, 2 * tile * tile);
        data.extend((0..tile * tile).flat_map(|_| height.to_le_bytes()));
    }
    let head = [(256, side), (257, side), (258, 16), (259, 1), (262, 1), (277, 1), (322, tile), (323, tile)];
    let plain = head.into_iter().map(|(number, value)| tag(number, 4, &[value]));
    let place = [doubles(33_550, &[10.0, 10.0, 0.0]), doubles(33_922, &[0.0, 0.0, 0.0, 400_000.0, 5_000_000.0, 0.0])];
    let lists = [tag(324, 4, &offsets), tag(325, 4, &counts), on_plane(32_632)];
    tiff(&data, plain.chain(place).chain(lists).collect())
}

/// Posts are counted before memory is taken: sparse and forged files stay under a gigabyte, and a window is read alone.
#[test]
fn by_16_memory_is_bounded() {
    let folder = folder("heights_memory");
    // 400 million posts, of which those of two tiles are there
    let file = sparse(20_000, 256, &[([40, 40], 7), ([41, 40], 9)]);
    fs::write(folder.join("near.tif"), file).unwrap();
    assert_eq!(bounded(&folder, &["build", "near.tif"])[0], "0");
    let z = |image: &str, place: &str| {
        let [out, _] = expect(0, &folder, &["query", image, "--json", place]);
        serde_json::from_str::<serde_json::Value>(&out).unwrap()[0]["z"].as_f64()
    };
    let [x, y] = [400_000 + 256 * 10 * 40, 5_000_000 - 256 * 10 * 40];
    assert_eq!(z("near.hpan", &format!("{},{}", x + 1000, y - 1000)), Some(7.0));
    assert_eq!(z("near.hpan", &format!("{},{}", x + 3000, y - 1000)), Some(9.0));
    // far apart they do not fit, and a part of them does
    let file = sparse(20_000, 256, &[([1, 1], 7), ([70, 70], 9)]);
    fs::write(folder.join("far.tif"), file).unwrap();
    let [code, err] = bounded(&folder, &["build", "far.tif"]);
    assert_eq!(code, "2", "{err}");
    holds(&err, &["MB in memory", "400 MB are the most", "--window"]);
    let window = "402000,4990000,408000,4998000";
    assert_eq!(bounded(&folder, &["build", "far.tif", "--window", window])[0], "0");
    assert_eq!(z("far.hpan", "404000,4996000"), Some(7.0));
    // nothing is there at all
    fs::write(folder.join("none.tif"), sparse(20_000, 256, &[])).unwrap();
    let [code, err] = bounded(&folder, &["build", "none.tif"]);
    assert_eq!(code, "2", "{err}");
    // pictures that claim what a few bytes may hold
    let mut bmp = b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0".to_vec();
    for v in [60_000u32, 60_000, 0x8_0001, 1, 0, 0, 0, 0, 0] {
        bmp.extend(v.to_le_bytes());
    }
    bmp.resize(1_000_000, 0);
    fs::write(folder.join("big.bmp"), bmp).unwrap();
    let [code, err] = bounded(&folder, &["build", "big.bmp", "--cell", "1", "--height-scale", "1"]);
    assert_eq!(code, "2", "{err}");
    holds(&err, &["60,000 x 60,000 posts", "28,800 MB in memory"]);
    // a mesh that names a million zeros two hundred times
    let zeros = "AAAA".repeat(1_000_000 / 3 + 1);
    let primitives = vec!["{\"attributes\":{\"POSITION\":0}}"; 200].join(",");
    let text = format!(
        "{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":[{{\"mesh\":0}}],\"meshes\":[{{\"primitives\":[{primitives}]}}],\
         \"accessors\":[{{\"componentType\":5126,\"count\":1000000,\"type\":\"VEC3\"}}],\
         \"buffers\":[{{\"byteLength\":1000000,\"uri\":\"data:application/octet-stream;base64,{zeros}\"}}]}}"
    );
    fs::write(folder.join("zeros.gltf"), text).unwrap();
    let [code, err] = bounded(&folder, &["build", "zeros.gltf"]);
    assert_eq!(code, "2", "{err}");
    holds(&err, &["zeros.gltf: 200 places come to 66,666,600 triangles", "2,000,000 are the most", "--max-triangles"]);
    let err = error(2, &folder, &["build", "zeros.gltf", "--max-triangles", "1000000"]);
    holds(&err, &["66,666,600", "1,000,000"]);
}

/// Cut, and with bytes changed, files end soon: they are built or refused, whatever stands in them.
#[test]
fn by_16_damaged_files_end_soon() {
    let Some(data) = data_or_skip() else { return };
    let folder = folder("heights_damaged");
    let typed = ["-o", "x.hpan", "--cell", "1", "--height-scale", "1", "--file-crs", "EPSG:4326"];
    let run = |file: &Path| {
        let [code, err] = bounded(&folder, &[&["build", file.to_str().unwrap()][..], &typed].concat());
        assert!(["0", "2", "3"].contains(&&*code), "{}: {code} {err}", file.display());
    };
    for entry in fs::read_dir(data.join("malformed")).unwrap() {
        let path = entry.unwrap().path();
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if ["tif", "tiff", "png", "bmp"].contains(&ending) {
            run(&path);
        }
    }
    let mut seed = 7u64;
    let mut dice = |n: usize| {
        seed = hardpan_builder::mix(seed);
        (seed % n as u64) as usize
    };
    let files = ["rasterio_rotated.tif", "rasterio_float_nan.tif", "gz_dem_moon.tif", "luxembourg_elev_lzw.tif"];
    for name in files.map(|name| format!("dem/{name}")).iter().chain(&["heightmap/pngsuite_basi0g16.png".to_owned()]) {
        let whole = fs::read(data.join(name)).unwrap();
        let place = folder.join(Path::new(name).file_name().unwrap());
        for _ in 0..6 {
            let mut bytes = whole.clone();
            let near = bytes.len().min(600);
            for _ in 0..1 + dice(4) {
                let at = if dice(3) > 0 { dice(near) } else { dice(bytes.len()) };
                bytes[at] = dice(256) as u8;
            }
            if dice(3) == 0 {
                bytes.truncate(dice(bytes.len()));
            }
            fs::write(&place, &bytes).unwrap();
            run(&place);
        }
    }
}

/// A grid that is written as GeoTIFF says where on earth it lies, and comes back where it was.
#[test]
fn by_16_grids_say_where_they_lie() {
    let folder = folder("heights_grid");
    fs::write(folder.join("a.asc"), asc(30, 20, [433_000.0, 5_278_000.0], |c, r| (c * c + 5 * r) as f64)).unwrap();
    expect(0, &folder, &["build", "a.asc", "--crs", "EPSG:25832", "--file-crs", "EPSG:25832"]);
    let extent = ["--extent", "433050,5278050,433250,5278150"];
    let typed = [&["grid", "a.hpan", "--cell", "20", "-o", "a.tif"][..], &extent].concat();
    expect(0, &folder, &typed);
    let import = read(&[folder.join("a.tif")], &Frame::default()).unwrap();
    let field = &import.scene.fields[0];
    assert_eq!((field.columns, field.rows, field.pitch, field.origin), (10, 5, 20.0, [433_060.0, 5_278_060.0]));
    let crs = import.crs.unwrap();
    assert_eq!((crs.record.code, crs.datum.as_str()), (25_832, "ETRS89"));
    // squares that do not go into an extent
    let wrong = ["grid", "a.hpan", "--cell", "30", "-o", "b.tif", extent[0], extent[1]];
    holds(&error(2, &folder, &wrong), &["a whole number of times"]);
}

/// Columns as surveyors and point clouds have them.
#[test]
fn by_16_columns_are_said() {
    let folder = folder("heights_columns");
    fs::write(folder.join("a.asc"), asc(11, 11, [0.0; 2], |c, r| (c * 2 + r) as f64)).unwrap();
    expect(0, &folder, &["build", "a.asc"]);
    let asked = |text: &str, columns: &str| {
        fs::write(folder.join("points.txt"), text).unwrap();
        let [out, _] = expect(0, &folder, &["query", "a.hpan", "--csv", "points.txt", "--columns", columns]);
        let line = out.lines().nth(1).unwrap().to_owned();
        line.split(',').take(3).map(|v| v.parse::<f64>().unwrap()).collect::<Vec<_>>()
    };
    for (text, columns) in [
        ("35 85 9\n", "x y z"),
        ("//X Y Z R\n 35   85\t9 120\n", "x y z r"),
        ("//X,Y,Z\n35,85,9\n", "x,y,z"),
        ("1,85,35,9,EP\n", "id,northing,easting,elevation,code"),
        ("Point,Northing,Easting,Elevation\n1,85,35,9\n", "id,y,x,z"),
        ("E,N,H\n35,85,9\n", "e,n,h"),
    ] {
        assert_eq!(asked(text, columns), [35.0, 85.0, 8.0], "{columns}");
    }
    let [out, _] = expect(0, &folder, &["diff", "a.hpan", "points.txt", "--columns", "e,n,h", "--json"]);
    let facts: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(out.contains("-1.0"), "{facts}");
}

/// A bitmap of grey, 24 bits, rows from the top.
fn bmp(rows: &[&[u8]]) -> Vec<u8> {
    let (width, height) = (rows[0].len() as u32, rows.len() as u32);
    let line = (3 * width).next_multiple_of(4);
    let mut file = b"BM".to_vec();
    for v in [54 + line * height, 0, 54, 40, width, height, 24 << 16 | 1, 0, line * height, 0, 0, 0, 0] {
        file.extend(u32::to_le_bytes(v));
    }
    for row in rows.iter().rev() {
        file.extend(row.iter().flat_map(|v| [*v; 3]));
        while !(file.len() - 54).is_multiple_of(line as usize) {
            file.push(0);
        }
    }
    file
}

/// A scene of MAVS: grey 128 is zero, a step is `Scale`, posts are `Resolution` apart, the middle is 0, 0, and the
/// first row lies south.
#[test]
fn mv_34_to_39_a_height_map_is_the_ground_of_a_scene() {
    let folder = folder("heights_scene");
    fs::write(folder.join("m.bmp"), bmp(&[&[128, 129, 130], &[138, 139, 140]])).unwrap();
    let scene = r#"{ "Layered Surface": { "Heightmap": { "Map": "m.bmp", "Resolution": 10.0, "Scale": 2.0 } }, "Objects": [] }"#;
    fs::write(folder.join("scene.json"), scene).unwrap();
    let before = fs::read_dir(&folder).unwrap().count();
    expect(0, &folder, &["build", "scene.json"]);
    // no hidden files: the image alone
    assert_eq!(fs::read_dir(&folder).unwrap().count(), before + 1);
    let z = |place: &str| {
        let [out, _] = expect(0, &folder, &["query", "scene.hpan", "--json", "--", place]);
        serde_json::from_str::<serde_json::Value>(&out).unwrap()[0]["z"].as_f64()
    };
    let found = ["-10,-5", "0,-5", "10,-5", "-10,5", "10,5", "5,0"].map(z);
    assert_eq!(found, [Some(0.0), Some(2.0), Some(4.0), Some(20.0), Some(24.0), Some(13.0)]);
    // without keys: a metre, and a tenth
    let scene = r#"{ "Surface Mesh": [{ "Heightmap": { "Map": "m.bmp" } }] }"#;
    fs::write(folder.join("scene.json"), scene).unwrap();
    expect(0, &folder, &["build", "scene.json"]);
    assert!((z("1,0.5").unwrap() - 1.2).abs() < 0.008);
}

/// Settings of a source hold for heights too.
#[test]
fn by_16_sources_of_heights_have_friction() {
    let folder = folder("heights_friction");
    fs::write(folder.join("a.asc"), asc(4, 4, [0.0; 2], |c, _| c as f64)).unwrap();
    fs::write(folder.join("b.asc"), asc(4, 4, [100.0, 0.0], |c, _| c as f64)).unwrap();
    let settings = "[[source]]\nfile = \"a.asc\"\nmu = 0.3\nmaterial = \"Sand\"\n[[source]]\nfile = \"b.asc\"\n\
                    [[rule]]\nfile = \"b.asc\"\nmu = 0.6\n";
    fs::write(folder.join("s.toml"), settings).unwrap();
    expect(0, &folder, &["build", "--settings", "s.toml"]);
    let mu = |place: &str| {
        let [out, _] = expect(0, &folder, &["query", "s.hpan", "--json", place]);
        serde_json::from_str::<serde_json::Value>(&out).unwrap()[0]["mu"].as_f64()
    };
    assert_eq!(["20,20", "120,20"].map(mu), [Some(0.3), Some(0.6)]);
    fs::write(folder.join("s.toml"), settings.replace("mu = 0.3", "include = false")).unwrap();
    expect(0, &folder, &["build", "--settings", "s.toml"]);
    assert_eq!(["20,20", "120,20"].map(mu), [None, Some(0.6)]);
}

/// The height fields of an image file.
fn fields(folder: &Path, image: &str) -> Vec<HeightField> {
    let image = hardpan_builder::Image::copy_of(&fs::read(folder.join(image)).unwrap()).unwrap();
    hardpan_builder::image::decode::fields(&Terrain::open(&image).unwrap())
}

/// Posts by their places, as bits.
fn posts(fields: &[HeightField]) -> BTreeSet<[u64; 3]> {
    let of = |f: &HeightField| {
        let post = |(i, z): (usize, &f64)| {
            let [x, y] = [i % f.columns, i / f.columns].map(|n| n as f64 * f.pitch);
            [f.origin[0] + x, f.origin[1] + y, *z].map(f64::to_bits)
        };
        f.heights.iter().enumerate().filter(|(_, z)| !z.is_nan()).map(post).collect::<Vec<_>>()
    };
    fields.iter().flat_map(of).collect()
}

/// Rough ground: blocks of it have units of all kinds, and some posts no height.
fn rough(c: usize, r: usize) -> f64 {
    match (c, r) {
        (30..34, 20..23) => -9999.0,
        (0..12, _) => 5.0,
        (12..24, _) => 5.0 + 0.37 * (c * c % 19) as f64,
        _ => 90.0 * ((c * 7 + r * 5) % 13) as f64 + 0.01 * (c * r) as f64,
    }
}

/// Posts of height fields survive `rebuild` and `merge` to the bit, in tiles of any size.
#[test]
fn rf_65_posts_survive_merge_and_rebuild() {
    let folder = folder("heights_again");
    fs::write(folder.join("w.asc"), asc(50, 41, [433_000.0, 5_278_000.0], rough)).unwrap();
    fs::write(folder.join("e.asc"), asc(30, 41, [433_500.0, 5_278_000.0], |c, r| rough(c + 3, r + 1))).unwrap();
    let road = "v 433100 5278100 50\nv 433190 5278100 50\nv 433190 5278190 51\nf 1 2 3\n";
    fs::write(folder.join("road.obj"), road).unwrap();
    for tile in ["64m", "1024m"] {
        let settings = |files: &[&str], out: &str| {
            let mut text = String::new();
            for file in files {
                let crs =
                    if file.ends_with("asc") { "file_crs = \"EPSG:32632\"\n" } else { "up = \"z\"\nunit = \"m\"\n" };
                text += &format!("[[source]]\nfile = \"{file}\"\n{crs}");
            }
            fs::write(folder.join("s.toml"), text).unwrap();
            expect(0, &folder, &["build", "--settings", "s.toml", "-o", out, "--tile", tile]);
        };
        settings(&["w.asc"], "w.hpan");
        settings(&["e.asc"], "e.hpan");
        settings(&["w.asc", "road.obj"], "mixed.hpan");
        let [w, e] = ["w.hpan", "e.hpan"].map(|name| fields(&folder, name));
        let [one] = &w[..] else { panic!("{}", w.len()) };
        assert_eq!((one.columns, one.rows, one.pitch, one.origin), (50, 41, 10.0, [433_005.0, 5_278_005.0]));
        assert_eq!(posts(&w).len(), 50 * 41 - 12);
        // by its own settings the file is the same
        for name in ["w.hpan", "mixed.hpan"] {
            expect(0, &folder, &["rebuild", name, "-o", "again.hpan"]);
            let [a, b] = [name, "again.hpan"].map(|name| fs::read(folder.join(name)).unwrap());
            assert!(a == b, "{name} {tile}");
        }
        // by others the posts stay
        let zero = ["--mu-multiply", "0.5", "--origin", "430080,5275648,4096"];
        expect(0, &folder, &[&["rebuild", "w.hpan", "-o", "other.hpan"], &zero[..]].concat());
        let [before, after] = ["w.hpan", "other.hpan"].map(|name| info(&folder, name));
        assert_ne!(before["identity"], after["identity"]);
        assert_eq!([&before["error"], &before["frame"]["crs"]], [&after["error"], &after["frame"]["crs"]]);
        assert_eq!(posts(&w), posts(&fields(&folder, "other.hpan")));
        expect(0, &folder, &["verify", "other.hpan"]);
        // together, in any order, with a mesh too
        expect(0, &folder, &["merge", "w.hpan", "e.hpan", "-o", "both.hpan"]);
        expect(0, &folder, &["merge", "e.hpan", "w.hpan", "-o", "turned.hpan"]);
        let [both, turned] = ["both.hpan", "turned.hpan"].map(|name| info(&folder, name));
        assert_eq!(both["identity"], turned["identity"]);
        assert_eq!(both["frame"]["crs"]["epsg"], 32_632);
        let all: BTreeSet<_> = posts(&w).union(&posts(&e)).copied().collect();
        assert_eq!(posts(&fields(&folder, "both.hpan")), all, "{tile}");
        expect(0, &folder, &["verify", "both.hpan"]);
        expect(0, &folder, &["merge", "mixed.hpan", "e.hpan", "-o", "all.hpan"]);
        assert_eq!(posts(&fields(&folder, "all.hpan")), all);
        let [out, _] = expect(0, &folder, &["query", "all.hpan", "433180,5278110,50", "--json"]);
        let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert!((answer[0]["z"].as_f64().unwrap() - 50.1).abs() < 0.1, "{answer}");
        // moved by less than a step of height all posts move alike
        expect(0, &folder, &["merge", "w.hpan", "-o", "moved.hpan", "--place", "w.hpan:0,0,0.3"]);
        let moved = fields(&folder, "moved.hpan");
        let pairs = w[0].heights.iter().zip(&moved[0].heights).filter(|(a, _)| !a.is_nan());
        let by: BTreeSet<u64> = pairs.map(|(a, b)| (b - a).to_bits()).collect();
        assert_eq!(by.len(), 1);
        assert!((f64::from_bits(*by.first().unwrap()) - 0.3).abs() < 1e-5);
        // posts lie along x and y
        let yaw = ["merge", "w.hpan", "-o", "no.hpan", "--place", "w.hpan:0,0,0,90"];
        holds(&error(3, &folder, &yaw), &["w.hpan", "cannot be turned"]);
    }
    // fields of 8 and of 16 bits, with a mesh that was mended
    expect(0, &folder, &["demo"]);
    expect(0, &folder, &["rebuild", "hardpan-demo/proving-ground.hpan", "-o", "again.hpan"]);
    let [a, b] = ["hardpan-demo/proving-ground.hpan", "again.hpan"].map(|name| fs::read(folder.join(name)).unwrap());
    assert!(a == b);
    // two places of the earth are none
    fs::write(folder.join("o.asc"), asc(9, 9, [433_000.0, 5_278_000.0], rough)).unwrap();
    expect(0, &folder, &["build", "o.asc", "--file-crs", "EPSG:25832"]);
    holds(&error(2, &folder, &["merge", "w.hpan", "o.hpan", "-o", "no.hpan"]), &["WGS 84", "ETRS89"]);
}

/// Heights of an image as GeoTIFF and as OBJ, and what compares and checks such images.
#[test]
fn by_16_images_of_heights_go_out() {
    let folder = folder("heights_out");
    let height = |c: usize, r: usize| if (c, r) == (2, 1) { -9999.0 } else { (100 + 7 * c + c * r) as f64 };
    fs::write(folder.join("a.asc"), asc(12, 9, [433_000.0, 5_278_000.0], height)).unwrap();
    expect(0, &folder, &["build", "a.asc", "--file-crs", "EPSG:25832"]);
    expect(0, &folder, &["export", "tif", "a.hpan"]);
    let import = read(&[folder.join("a-heights.tif")], &Frame::default()).unwrap();
    let field = &import.scene.fields[0];
    assert_eq!((field.columns, field.rows, field.pitch, field.origin), (12, 9, 10.0, [433_005.0, 5_278_005.0]));
    for (c, r) in (0..9).flat_map(|r| (0..12).map(move |c| (c, r))) {
        // the post in the north beside the void is in no cell that is ground
        let is_none = [(2, 0), (2, 1)].contains(&(c, r));
        let found = field.heights[(8 - r) * 12 + c];
        assert!(if is_none { found.is_nan() } else { found == height(c, r) }, "{c} {r}: {found}");
    }
    let crs = import.crs.unwrap();
    assert_eq!((crs.record.code, crs.datum.as_str()), (25_832, "ETRS89"));
    // triangles have the heights of posts, and say how far they are off between them
    let [out, _] = expect(0, &folder, &["export", "obj", "a.hpan", "--json"]);
    let facts: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(facts["triangles"], 2 * (11 * 8 - 4));
    assert_eq!(facts["off_between_posts"], 0.25);
    expect(0, &folder, &["build", "--settings", "a-ground.toml", "-o", "mesh.hpan"]);
    let [a, mesh] = ["a.hpan", "mesh.hpan"].map(|name| info(&folder, name)["error"]["height"].as_f64().unwrap());
    assert!((mesh - a - 0.25).abs() < 1e-9, "{mesh} {a}");
    expect(1, &folder, &["diff", "a.hpan", "mesh.hpan"]);
    expect(0, &folder, &["diff", "a.hpan", "a.hpan"]);
    expect(0, &folder, &["check", "a.hpan", "--only", "gap,step,double-surface"]);
    // without fields somebody says the side
    fs::write(folder.join("flat.obj"), "v 0 0 1\nv 9 0 1\nv 9 9 1\nv 0 9 1\nf 1 2 3 4\n").unwrap();
    expect(0, &folder, &["build", "flat.obj"]);
    holds(&error(2, &folder, &["export", "tif", "flat.hpan"]), &["--cell"]);
    expect(0, &folder, &["export", "tif", "flat.hpan", "--cell", "3"]);
}

/// Options of heights where a file of heights is an input.
#[test]
fn by_16_options_of_heights_are_typed_everywhere() {
    let folder = folder("heights_typed");
    let text = asc(40, 40, [11.0, 48.0], |c, r| (c + r) as f64).replace("cellsize 10", "cellsize 0.001");
    fs::write(folder.join("d.asc"), text).unwrap();
    let typed = ["--file-crs", "EPSG:4326", "--crs", "EPSG:32632", "--window", "11.01,48.01,11.03,48.03"];
    let [out, _] = expect(0, &folder, &[&["grid", "d.asc", "--cell", "50", "--json"], &typed[..]].concat());
    let facts: serde_json::Value = serde_json::from_str(&out).unwrap();
    let x = facts["extent"]["min"][0].as_f64().unwrap();
    assert!((649_000.0..652_000.0).contains(&x), "{x}");
    expect(0, &folder, &[&["check", "d.asc", "--only", "gap,step"], &typed[..]].concat());
    expect(0, &folder, &[&["materials", "d.asc", "-o", "d.toml"], &typed[..]].concat());
    expect(0, &folder, &["build", "--settings", "d.toml", "-o", "d.hpan"]);
    expect(0, &folder, &[&["build", "d.asc", "-o", "e.hpan"], &typed[..]].concat());
    let [d, e] = ["d.hpan", "e.hpan"].map(|name| info(&folder, name));
    assert_eq!([&d["identity"], &d["frame"]["crs"]], [&e["identity"], &e["frame"]["crs"]]);
    // what may be degrees is refused
    let text = asc(8, 8, [11.0, 48.0], |c, r| (c + r) as f64).replace("cellsize 10", "cellsize 0.05");
    fs::write(folder.join("c.asc"), text).unwrap();
    holds(&error(2, &folder, &["build", "c.asc"]), &["--file-crs EPSG:4326", "--file-crs metres"]);
    expect(0, &folder, &["build", "c.asc", "--file-crs", "metres"]);
}

/// Squares of a stated extent and number, which fit together.
#[test]
fn by_16_grids_of_a_size() {
    let folder = folder("heights_size");
    let mut found = Vec::new();
    for name in ["west", "east"] {
        let Some(file) = verification::obj::trial(&format!("grid_alignment/{name}.obj")) else { return };
        let out = format!("{name}.tif");
        let typed = ["grid", file.to_str().unwrap(), "--up", "z", "--unit", "m", "-o", &out];
        let more = ["--extent", "433000,5278000,433200,5278100", "--size", "400,200"];
        expect(0, &folder, &[&typed[..], &more].concat());
        let import = read(&[folder.join(&out)], &said("")).unwrap();
        let field = import.scene.fields[0].clone();
        assert_eq!(field.pitch, 0.5);
        found.push(field.origin.map(|v| (v - 0.25) / 0.5));
    }
    assert!(found.iter().flatten().all(|v| v.fract() == 0.0), "{found:?}");
    fs::write(folder.join("flat.obj"), "v 0 0 1\nv 9 0 1\nv 9 9 1\nv 0 9 1\nf 1 2 3 4\n").unwrap();
    let [out, _] = expect(0, &folder, &["grid", "flat.obj", "--cell", "2", "--size", "3,4", "--json"]);
    let both: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!([both["columns"].as_u64(), both["rows"].as_u64()], [Some(3), Some(4)]);
    assert_eq!(both["extent"]["max"], serde_json::json!([6.0, 8.0]));
    let extent = ["--extent", "0,0,9,9"];
    for wrong in [&["--size", "3,4"][..], &["--size", "3,4", extent[0], extent[1]]] {
        error(2, &folder, &[&["grid", "flat.obj"], wrong].concat());
    }
    error(2, &folder, &[&["grid", "flat.obj", "--size", "3,3", "--cell", "2"], &extent[..]].concat());
}

/// A grid that is turned by a quarter, or whose columns run west, keeps all of its posts.
#[test]
fn by_16_quarter_turns_keep_their_posts() {
    let folder = folder("heights_quarter");
    let heights: Vec<i16> = (0..6 * 4).map(|i| 10 * (i % 6) + i / 6).collect();
    // the way of a column, and of a row
    let ways = [([0.0, 10.0], [10.0, 0.0]), ([-10.0, 0.0], [0.0, -10.0]), ([0.0, -10.0], [-10.0, 0.0])];
    for (column, row) in ways {
        let mut matrix = [0.0; 16];
        (matrix[0], matrix[1], matrix[3]) = (column[0], row[0], 500_000.0);
        (matrix[4], matrix[5], matrix[7], matrix[15]) = (column[1], row[1], 5_000_000.0, 1.0);
        fs::write(folder.join("q.tif"), strip(6, &heights, vec![doubles(34_264, &matrix), on_plane(32_632)])).unwrap();
        let import = read(&[folder.join("q.tif")], &said("")).unwrap();
        assert_eq!(import.height_error, 0.0, "{column:?}");
        let field = &import.scene.fields[0];
        for (i, wanted) in heights.iter().enumerate() {
            let [c, r] = [(i % 6) as f64 + 0.5, (i / 6) as f64 + 0.5];
            let at = [500_000.0 + c * column[0] + r * row[0], 5_000_000.0 + c * column[1] + r * row[1]];
            assert_eq!(height(field, at), f64::from(*wanted), "{column:?} {i}");
        }
    }
}

/// A number that stands for no height is one of the file's own, before scale and offset.
#[test]
fn by_16_no_data_is_a_number_of_the_file() {
    let folder = folder("heights_scaled");
    let mut heights: Vec<i16> = (0..36).map(|i| 100 + i).collect();
    (heights[0], heights[1]) = (-999, 77);
    let metadata = "<GDALMetadata><Item name=\"OFFSET\" sample=\"0\" role=\"offset\">50</Item>\
                    <Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.1</Item></GDALMetadata>";
    let place = [doubles(33_550, &[10.0, 10.0, 0.0]), doubles(33_922, &[0.0, 0.0, 0.0, 500_000.0, 5_000_000.0, 0.0])];
    let tags = [words(42_112, metadata), words(42_113, "-999"), on_plane(32_632)];
    fs::write(folder.join("s.tif"), strip(6, &heights, place.into_iter().chain(tags).collect())).unwrap();
    let posts = |options: &str| {
        let field = read(&[folder.join("s.tif")], &said(options)).unwrap().scene.fields[0].clone();
        let north = (field.rows - 1) * field.columns;
        [field.heights[north], field.heights[north + 1], field.heights[north + 2]]
    };
    let [a, b, c] = posts("");
    assert!(a.is_nan() && (b - 57.7).abs() < 1e-9 && (c - 60.2).abs() < 1e-9, "{a} {b} {c}");
    // what is typed goes before what the file says
    let [a, b, c] = posts("--no-data 77");
    assert!((a + 49.9).abs() < 1e-9 && b.is_nan() && (c - 60.2).abs() < 1e-9, "{a} {b} {c}");
}

/// A grid of points of one centimetre and a mesh become one image; points that lie on no grid are refused.
#[test]
fn rf_65_points_on_a_grid_and_a_mesh() {
    let folder = folder("heights_points");
    let z = |c: usize, r: usize| (c * r % 7) as f64 / 64.0;
    let mut lines: Vec<String> = (0..30 * 20)
        .filter(|i| *i != 33)
        .map(|i| {
            format!(
                "{:.2} {:.2}\t{} 17",
                100.0 + (i % 30) as f64 / 100.0,
                50.0 + (i / 30) as f64 / 100.0,
                z(i % 30, i / 30)
            )
        })
        .collect();
    lines.reverse();
    fs::write(folder.join("hd.xyz"), format!("//X Y Z I\n{}\n", lines.join("\n"))).unwrap();
    let import = read(
        &[folder.join("hd.xyz")],
        &Frame { heights: Heights { file_crs: Some(0), ..Heights::default() }, ..Frame::default() },
    );
    let field = &import.unwrap().scene.fields[0];
    assert_eq!((field.columns, field.rows, field.origin), (30, 20, [100.0, 50.0]));
    assert!((field.pitch - 0.01).abs() < 1e-12);
    for (c, r) in (0..20).flat_map(|r| (0..30).map(move |c| (c, r))) {
        let found = field.heights[r * 30 + c];
        assert!(if (c, r) == (3, 1) { found.is_nan() } else { found == z(c, r) }, "{c} {r}");
    }
    fs::write(folder.join("sd.obj"), "v 90 40 -1\nv 110 40 -1\nv 110 60 -1\nv 90 60 -1\nf 1 2 3 4\n").unwrap();
    let settings = "[[source]]\nfile = \"sd.obj\"\nup = \"z\"\nunit = \"m\"\n[[source]]\nfile = \"hd.xyz\"\nfile_crs = \"metres\"\n";
    fs::write(folder.join("both.toml"), settings).unwrap();
    expect(0, &folder, &["build", "--settings", "both.toml"]);
    let height = |place: &str| {
        let [out, _] = expect(0, &folder, &["query", "both.hpan", "--json", place]);
        serde_json::from_str::<serde_json::Value>(&out).unwrap()[0]["z"].as_f64().unwrap()
    };
    assert!((height("100.12,50.05") - z(12, 5)).abs() < 1e-3);
    assert_eq!(height("95,45"), -1.0);
    lines[7] = "100.127 50.031 1".into();
    fs::write(folder.join("off.xyz"), lines.join("\n")).unwrap();
    holds(&error(3, &folder, &["build", "off.xyz", "--file-crs", "metres"]), &["on no grid", "CloudCompare"]);
    lines[7] = lines[8].clone() + "1";
    lines.push("100.05 50.05 99".into());
    fs::write(folder.join("two.xyz"), lines.join("\n")).unwrap();
    holds(&error(2, &folder, &["build", "two.xyz", "--file-crs", "metres"]), &["two points at"]);
}
