//! `hardpan query` along drives and of long files, as it is typed.

use std::{fs, io::BufReader, path::Path};

use crate::shell::{bridge, error, expect, folder, holds};
use serde_json::{Value, json};

#[test]
fn answers_along_a_drive() {
    let folder = bridge("answers_along_a_drive");
    // the unit is no part of the name; what has no height is on top
    fs::write(
        folder.join("drive.csv"),
        "yaw,T [s],Y,x (m),z\n0,0,-3,-10,\n0,0.5,1,-7,\n0,1,1,0,\n0,1.5,1,0,2\n0,2,1,60,0\n",
    )
    .unwrap();
    let [out, err] = expect(0, &folder, &["query", "bridge.hpan", "--along", "drive.csv"]);
    assert_eq!(
        err,
        "note: drive.csv: 1 of 5 points without ground (1 not in the image), the first on line 6; the ground has x -50 to 50, y -50 to 50\n\
         note: drive.csv: 3 of 5 lines have no z: the highest ground answers; the first is line 2\n\
         note: drive.csv: 1 jump from one deck to another, the first from line 3 to 4: from 0 to 6 m in height; \
         write the height of each place in a column z [jump]\n"
    );
    assert_eq!(
        out,
        "t,distance,x,y,z,slope_x,slope_y,mu,rr,material,source,status,reach,surface_type,cone_index,label,leaf,yaw,asked_z\n\
         0,0,-10,-3,0,0,0,0.85,1,Asphalt,floor,found,top,0,,0,mesh,0,\n\
         0.5,5,-7,1,0,0,0,0.85,1,Asphalt,floor,found,top,0,,0,mesh,0,\n\
         1,12,0,1,6,0,0,0.85,1,Steel plate,deck,found,top,0,,0,mesh,0,\n\
         1.5,12,0,1,0,0,0,0.85,1,Asphalt,floor,found,near,0,,0,mesh,0,2\n\
         2,72,60,1,,,,,,,,not in image,,,,,,0,0\n"
    );
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "--along", "drive.csv", "--json"]);
    let answers: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&answers[3]["t"], &answers[3]["distance"], &answers[3]["z"]), (&json!(1.5), &json!(12.0), &json!(0.0)));
    // without a heading, and without times
    fs::write(folder.join("bare.csv"), "0,-10,-3\n0.5,-7,1,,90\n").unwrap();
    let [out, err] = expect(0, &folder, &["query", "bridge.hpan", "--along", "bare.csv"]);
    holds(&out, &["\n0.5,5,-7,1,0,"]);
    assert_eq!(err, "note: bare.csv: read as t,x,y: a heading says otherwise\n");
    fs::write(folder.join("still.csv"), "x,y\n1,1\n1,1\n").unwrap();
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "--along", "still.csv", "--plot", "still.svg"]);
    holds(&out, &["\n,0,1,1,6,"]);
    // longer than what is answered in one go
    let long: String = (0..3000).map(|i| format!("{i},{},0\n", f64::from(i) / 100.0 - 40.0)).collect();
    fs::write(folder.join("long.csv"), long).unwrap();
    expect(0, &folder, &["query", "bridge.hpan", "--along", "long.csv", "-o", "long-answers.csv"]);
    let answers = fs::read_to_string(folder.join("long-answers.csv")).unwrap();
    let rows: Vec<Vec<&str>> = answers.lines().skip(1).map(|l| l.split(',').collect()).collect();
    assert_eq!(rows.len(), 3000);
    for (i, row) in rows.iter().enumerate() {
        let x = i as f64 / 100.0 - 40.0;
        assert_eq!((row[0].parse(), row[2].parse()), (Ok(i as f64), Ok(x)));
        assert_eq!(row[4], if x.abs() <= 5.0 { "6" } else { "0" }, "at {x}");
        assert_eq!(row[1].parse(), Ok(i as f64 / 100.0), "at {x}: no digits of rounding");
    }
}

/// A road under a bridge, driven without heights: where the deck begins and ends the highest ground jumps, and
/// `--strict` stops it.
#[test]
fn a_drive_without_heights_jumps_at_a_bridge() {
    let folder = bridge("a_drive_without_heights_jumps_at_a_bridge");
    let places = |from: i32, to: i32, rest: &str| (from..=to).map(|x| format!("{x},0{rest}\n")).collect::<String>();
    for (name, text, jumps) in [
        (
            "under.csv",
            format!("x,y\n{}", places(-9, 9, "")),
            Some("2 jumps from one deck to another, the first from line 5 to 6: from 0 to 6 m"),
        ),
        ("heights.csv", format!("x,y,z\n{}", places(-9, 9, ",0")), None),
        ("beside.csv", format!("x,y\n{}", places(6, 40, "")), None),
        ("on.csv", format!("x,y\n{}", places(-5, 5, "")), None),
        // a place with a height between them, and one without ground
        ("between.csv", format!("x,y,z\n{}5.5,0,0\n{}", places(0, 5, ","), places(6, 9, ",")), None),
        ("lost.csv", "x,y\n4,0\n400,0\n6,0\n".into(), None),
        // each wheel by itself
        ("wheels.csv", "wheel,x,y\na,0,0\nb,9,0\na,1,0\nb,8,0\n".into(), None),
        (
            "wheel.csv",
            "wheel,x,y\na,0,0\nb,9,0\na,1,0\nb,4,0\n".into(),
            Some("1 jump from one deck to another, the first from line 3 to 5: from 0 to 6 m"),
        ),
    ] {
        fs::write(folder.join(name), text).unwrap();
        let typed = ["query", "bridge.hpan", "--along", name];
        let [out, err] = expect(0, &folder, &typed);
        assert_eq!(
            err.matches(" in height; write the height of each place in a column z [jump]").count(),
            jumps.iter().count(),
            "{name}: {err}"
        );
        holds(&err, jumps.as_slice());
        assert!(out.lines().count() > 3, "the answers stand all the same");
        let strict = jumps.is_some() || ["between.csv", "lost.csv"].contains(&name);
        let [_, err] = expect(i32::from(strict), &folder, &[&typed[..], &["--strict"]].concat());
        holds(&err, jumps.as_slice());
    }
}

/// Where it jumped, and how far, as values; and a slope of two decks, on which heights change as much, is no jump.
#[test]
fn jumps_of_a_drive_are_findings() {
    use hardpan_builder::check::jump::Jumps;
    use hardpan_builder::demo::fixtures;
    use hardpan_builder::{Code, Options, Scene, Triangle, build};
    // two decks of one slope, four metres apart
    let corners = [[0.0, 0.0], [100.0, 0.0], [100.0, 9.0], [0.0, 9.0]];
    let positions = [0.0, 4.0].into_iter().flat_map(|z| corners.map(|[x, y]| [x, y, z + x / 4.0])).collect();
    let triangles =
        [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]].map(|v| Triangle { v, material: 0, source: 0 }).to_vec();
    let decks = Scene { positions, triangles, ..fixtures::flat() };
    let found = |scene: &Scene, places: &[[f64; 2]]| {
        let built = build(scene, &Options::default()).unwrap();
        let t = hardpan::Terrain::open(&built.image).unwrap();
        let mut jumps = Jumps::default();
        for (at, line) in places.iter().zip(2..) {
            jumps.go(&t, 0, *at, None, &t.closest([at[0], at[1], 100.0]), line);
        }
        jumps.finding()
    };
    assert_eq!(found(&decks, &[[1.0, 4.0], [6.0, 4.0], [11.0, 4.0], [16.0, 4.0]]), None);
    let finding = found(&fixtures::bridge(), &[[-8.0, 1.0], [-4.0, 1.0], [0.0, 1.0], [7.0, 1.0]]).unwrap();
    assert_eq!((finding.code, finding.place), (Code::Jump, Some([-4.0, 1.0, 6.0])));
    let values = ["count", "height", "largest"].map(|name| finding.value(name).unwrap());
    assert_eq!(values, [2.0, 6.0, 6.0]);
}

/// Numbers of the attribute `d` of the line of a colour: its parts between gaps, each of points.
fn line(svg: &str, colour: &str) -> Vec<Vec<[f64; 2]>> {
    let end = format!("\" fill=\"none\" stroke=\"{colour}\"");
    let path = svg.lines().find_map(|l| l.split_once(&end)).unwrap_or_else(|| panic!("no {colour} in {svg}")).0;
    let parts = path.trim_start_matches("<path d=\"").split('M').skip(1);
    let point = |p: &str| {
        let (x, y) = p.split_once(' ').unwrap();
        [x.parse().unwrap(), y.parse().unwrap()]
    };
    parts.map(|part| part.split('L').map(point).collect()).collect()
}

/// Width, height and colours of a PNG.
fn pixels(path: &Path) -> (usize, usize, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(BufReader::new(fs::File::open(path).unwrap())).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    (info.width as usize, info.height as usize, bytes.as_chunks().0.to_vec())
}

#[test]
fn a_plot_of_height_slope_and_mu() {
    let folder = folder("a_plot_of_height_slope_and_mu");
    // flat to x = 10, then up by 0.25; a gap from 20 to 30; ice from there on
    fs::write(
        folder.join("road.obj"),
        "v 0 -5 0\nv 10 -5 0\nv 10 5 0\nv 0 5 0\nv 20 -5 2.5\nv 20 5 2.5\nv 30 -5 1\nv 40 -5 1\nv 40 5 1\nv 30 5 1\n\
         usemtl road\nf 1 2 3 4\nf 2 5 6 3\nusemtl ice\nf 7 8 9 10\n",
    )
    .unwrap();
    fs::write(
        folder.join("road.toml"),
        "[[material]]\nname = \"road\"\nmu = 0.9\n[[material]]\nname = \"ice\"\nmu = 0.1\n",
    )
    .unwrap();
    expect(0, &folder, &["build", "road.obj", "--settings", "road.toml"]);
    // there, and the ramp down again
    let x = (0..=400).chain((100..400).rev()).map(|i| f64::from(i) / 10.0);
    let drive: String = x.map(|x| format!("{x},0.5\n")).collect();
    fs::write(folder.join("drive <1>.csv"), format!("x,y\n{drive}")).unwrap();
    let plot = ["query", "road.hpan", "--along", "drive <1>.csv", "--plot", "p.svg", "-o", "a.csv"];
    let [out, err] = expect(0, &folder, &plot);
    assert!(out.is_empty(), "{out}");
    assert_eq!(err, "note: drive <1>.csv: 198 of 701 points without ground, the first on line 203\n");
    let svg = fs::read_to_string(folder.join("p.svg")).unwrap();
    holds(
        &svg,
        &[
            "<svg ",
            "road.hpan along drive &lt;1&gt;.csv",
            ">height, m<",
            ">slope, %<",
            ">mu<",
            ">distance driven, m<",
            ">no ground at 198 places<",
            ">0.5<",
            ">60<",
        ],
    );
    let [height, slope, mu] = ["#0072b2", "#d55e00", "#00795a"].map(|colour| line(&svg, colour));
    for parts in [&height, &slope, &mu] {
        assert_eq!(parts.len(), 3, "two gaps");
        assert!(parts.iter().flatten().all(|[x, y]| (78.0..=936.0).contains(x) && (52.0..=600.0).contains(y)));
        assert!(parts.iter().flatten().map(|p| p[0]).is_sorted());
    }
    // heights of 0 to 2.5 fill their panel, which is 168 high
    let ends = |part: &[[f64; 2]]| [part[0][1], part[part.len() - 1][1]];
    assert_eq!([ends(&height[0]), ends(&height[2])], [[220.0, 52.0], [52.0, 220.0]]);
    let level = |part: &[[f64; 2]]| part.iter().all(|p| p[1] == part[0][1]);
    assert!(level(&height[1]) && level(&slope[1]) && !level(&slope[0]), "level ground is a level line");
    // up, level, and down: the slope is that of the way, the axis reaches from -30 to 30 or so about its zero
    let [up, flat, down] = [ends(&slope[0])[1], slope[1][0][1], slope[2][0][1]];
    assert!(up < flat && (flat - up - (down - flat)).abs() < 0.011, "{up} {flat} {down}");
    assert_eq!([mu[0][0][1] < mu[1][0][1], level(&mu[0]), level(&mu[1])], [true; 3]);
    // the same as PNG, twice as fine: curves go through the same places, and the gap is grey
    expect(0, &folder, &[&plot[..5], &["p.PNG", "-o", "b.csv"]].concat());
    let (width, rows, pixels) = pixels(&folder.join("p.PNG"));
    assert_eq!([width, rows], [1920, 1308]);
    holds(&svg, &["viewBox=\"0 0 960 654\""]);
    let at = |[x, y]: [f64; 2]| pixels[(2.0 * y) as usize * width + (2.0 * x) as usize];
    for (parts, colour) in [(&height, [0, 114, 178]), (&slope, [213, 94, 0]), (&mu, [0, 121, 90])] {
        assert!(parts.concat().into_iter().all(|place| at(place) == colour));
        let gap = [(parts[0].last().unwrap()[0] + parts[1][0][0]) / 2.0, parts[0][0][1] - 3.0];
        assert_eq!(at(gap), [246, 196, 220]);
    }
    assert!([[2.0, 2.0], [700.0, 240.0]].map(at) == [[255; 3]; 2] && pixels.contains(&[51; 3]), "letters on white");
    // one place alone is seen too, over the grid
    let strong = |c: [u8; 3]| c == [220, 38, 127];
    let x = (0..=1000).map(|i| if i == 400 { 25.0 } else { f64::from(i % 10) });
    let text: String = x.map(|x| format!("{x},0.5\n")).collect();
    fs::write(folder.join("one.csv"), format!("x,y\n{text}")).unwrap();
    for file in ["one.svg", "one.png"] {
        expect(0, &folder, &["query", "road.hpan", "--along", "one.csv", "--plot", file, "-o", "/dev/null"]);
    }
    holds(&fs::read_to_string(folder.join("one.svg")).unwrap(), &[">no ground at 1 place<", "fill=\"#dc267f\""]);
    let (width, _, one) = self::pixels(&folder.join("one.png"));
    for row in [2 * 60, 2 * 250, 2 * 440] {
        let bars = one[row * width..(row + 1) * width].iter().filter(|c| strong(**c)).count();
        assert!(bars >= 6, "{bars} in row {row}");
    }
    // the same again
    error(2, &folder, &plot);
    expect(0, &folder, &[&plot[..], &["--force"]].concat());
    assert_eq!(fs::read_to_string(folder.join("p.svg")).unwrap(), svg);
}

#[test]
fn what_along_and_plot_refuse() {
    let folder = bridge("what_along_and_plot_refuse");
    fs::write(folder.join("drive.csv"), "x,y\n1,1\n2,2\n").unwrap();
    let along = ["query", "bridge.hpan", "--along", "drive.csv", "--plot"];
    for other in ["p.pdf", "png", "p"] {
        holds(&error(2, &folder, &[&along[..], &[other]].concat()), &["plots are SVG or PNG", "FILE.png"]);
    }
    error(2, &folder, &[&along[..], &["p.svg", "-o", "p.svg"]].concat());
    holds(&error(2, &folder, &[&along[..], &["p.png", "-o", "./p.png", "--force"]].concat()), &["would be one file"]);
    for points in [&["1,2"][..], &["--csv", "drive.csv"], &[]] {
        let why = error(2, &folder, &[&["query", "bridge.hpan", "--plot", "p.png"], points].concat());
        holds(&why, &["p.png: a plot is of a drive; name one as well: --along DRIVE.csv"]);
    }
    error(2, &folder, &[&along[..], &["nowhere/p.svg"]].concat());
    fs::write(folder.join("mine.svg"), "mine").unwrap();
    holds(&error(2, &folder, &[&along[..], &["mine.svg"]].concat()), &["--force"]);
    assert_eq!(fs::read(folder.join("mine.svg")).unwrap(), b"mine");
    for arguments in [
        &["query", "bridge.hpan", "--along", "drive.csv", "1,2"][..],
        &["query", "bridge.hpan", "--along", "drive.csv", "--csv", "drive.csv"],
        &["query", "bridge.hpan", "--along", "drive.csv", "--layers"],
    ] {
        expect(2, &folder, arguments);
    }
    error(2, &folder, &["query", "bridge.hpan", "--along", "drive.csv", "-o", "drive.csv", "--force"]);
    fs::write(folder.join("bad.csv"), "x,y\n1,1\n1,b\n").unwrap();
    let why = error(2, &folder, &["query", "bridge.hpan", "--along", "bad.csv", "--plot", "p.svg", "-o", "a.csv"]);
    holds(&why, &["bad.csv: line 3: \"b\" is not a number (field 2)"]);
    assert!(!folder.join("p.svg").exists() && !folder.join("a.csv").exists());
}

/// Answers come in the order of the lines, and those before a wrong line are there.
#[test]
fn long_files_of_points() {
    let folder = bridge("long_files_of_points");
    let z = |i: i32| [6, 0, 6, 0][i as usize % 4];
    let mut points: String = (0..5000)
        .map(|i| {
            let y = f64::from(i) / 125.0 - 20.0;
            match i % 4 {
                0 => format!("1,{y}\n"),
                1 => format!(" 1 ,{y}, 2.5\n"),
                2 => format!("1,{y},7,2\r\n"),
                _ => format!("\"1\",{y},5,\"5.5\"\n\n"),
            }
        })
        .collect();
    fs::write(folder.join("points.csv"), &points).unwrap();
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "--csv", "points.csv"]);
    let check = |out: &str, count: usize| {
        let rows: Vec<Vec<&str>> = out.lines().skip(1).map(|l| l.split(',').collect()).collect();
        assert_eq!(rows.len(), count);
        for (row, i) in rows.iter().zip(0..) {
            assert_eq!(row[1].parse::<f64>().unwrap(), f64::from(i) / 125.0 - 20.0);
            assert_eq!(row[2], z(i).to_string(), "line {i}");
        }
    };
    check(&out, 5000);
    points += "1,2,3,4,5\n1,2\n";
    fs::write(folder.join("points.csv"), &points).unwrap();
    let [out, err] = expect(2, &folder, &["query", "bridge.hpan", "--csv", "points.csv"]);
    check(&out, 5000);
    holds(&err, &["points.csv: line 6251: 5 fields, and 4 columns; a point is x,y or x,y,z"]);
}

/// Points of a file are held to the same rules as those typed; a drive's time does not go back.
#[test]
fn numbers_that_are_no_places() {
    let folder = bridge("numbers_that_are_no_places");
    for (point, why) in [
        ("1,2,3,-0.5", "the length -0.5 is below zero (field 4)"),
        ("1,2,3,x", "\"x\" is not a number (field 4)"),
        ("1,2,3,4,5", "a point is x,y or x,y,z or x,y,z,length\n"),
        ("1,2,,4", "no z; a point is x,y or x,y,z or x,y,z,length\n"),
    ] {
        let [out, typed] = expect(2, &folder, &["query", "bridge.hpan", point]);
        assert!(out.is_empty(), "{out}");
        holds(&typed, &[why]);
        fs::write(folder.join("points.csv"), format!("x,y,z,length\n0,1,,\n{point}\n0,2,,\n")).unwrap();
        let [out, read] = expect(2, &folder, &["query", "bridge.hpan", "--csv", "points.csv"]);
        assert_eq!(out.lines().count(), 2, "what comes before it is answered");
        holds(&read, &["error: points.csv: line 3: ", why]);
    }
    expect(0, &folder, &["query", "bridge.hpan", "1,2,3,0", "1,2,3,-0"]);
    let drive = |text: &str| fs::write(folder.join("drive.csv"), text).unwrap();
    for (text, why) in [
        ("t,x,y\n1,0,0\n1,1,0\n,2,0\n0.5,3,0\n", "line 5: the time goes back, from 1 to 0.5"),
        ("x,y\n1e200,0\n-1e200,0\n", "line 3: too far from the place before it"),
    ] {
        drive(text);
        holds(&error(2, &folder, &["query", "bridge.hpan", "--along", "drive.csv"]), &["drive.csv: ", why]);
        holds(&error(2, &folder, &["bench", "bridge.hpan", "--along", "drive.csv"]), &["drive.csv: ", why]);
    }
    drive("t,x,y\n-1,0,0\n-1,1,0\n,2,0\n-0.5,3,0\n");
    expect(0, &folder, &["query", "bridge.hpan", "--along", "drive.csv"]);
    // other separators; what has no points says so
    for (text, line) in [("x:y\n1:2\n", 1), ("1 2\n", 1), ("\n ,\nx y\n", 3)] {
        fs::write(folder.join("points.csv"), text).unwrap();
        let [_, err] = expect(2, &folder, &["query", "bridge.hpan", "--csv", "points.csv"]);
        holds(&err, &[&format!("line {line}: the heading "), "has no x and no y; "]);
    }
    // degrees are no metres: both columns are named, and what to do
    for (heading, columns) in [
        ("lat,lon", "the columns lat and lon are degrees"),
        ("id;Longitude;Latitude", "the columns Latitude and Longitude are degrees"),
        ("LAT (deg),lng,z", "the columns LAT (deg) and lng are degrees"),
    ] {
        fs::write(folder.join("points.csv"), format!("{heading}\n48.1,11.5,3\n")).unwrap();
        for typed in
            [&["query", "bridge.hpan", "--csv"][..], &["query", "bridge.hpan", "--along"], &["diff", "bridge.hpan"]]
        {
            let [_, err] = expect(2, &folder, &[typed, &["points.csv"]].concat());
            holds(&err, &["points.csv: line 1: ", columns, "places are in metres", "name the columns x and y"]);
        }
    }
    // beside x and y they are columns as others
    fs::write(folder.join("points.csv"), "lat,lon,x,y\n48,11,0,0\n").unwrap();
    holds(&expect(0, &folder, &["query", "bridge.hpan", "--csv", "points.csv"])[0], &["\n0,0,6,", ",48,11\n"]);
    for text in ["", "x,y\n\n", ",,\n"] {
        fs::write(folder.join("points.csv"), text).unwrap();
        let [out, err] = expect(0, &folder, &["query", "bridge.hpan", "--csv", "points.csv"]);
        assert_eq!(out.lines().count(), 1);
        holds(&err, &["note: points.csv: no points; a point is x,y"]);
    }
    // no long line is read as a whole, nor shown
    for (start, line) in [("", 1), ("1,2\n\n", 3)] {
        fs::write(folder.join("points.csv"), format!("{start}{}", "1".repeat(3 << 20))).unwrap();
        let [_, err] = expect(2, &folder, &["query", "bridge.hpan", "--csv", "points.csv"]);
        holds(&err, &[&format!("error: points.csv: line {line}: longer than 1 MiB")]);
    }
    fs::write(folder.join("points.csv"), format!("1,2\n1,{}\n", "x".repeat(9999))).unwrap();
    let [_, err] = expect(2, &folder, &["query", "bridge.hpan", "--csv", "points.csv"]);
    assert!(err.contains("xx...\" is not a number (field 2)") && err.len() < 200, "{err}");
}

/// A heading of points names its columns, or is refused before any answer.
#[test]
fn headings_of_points() {
    let folder = bridge("headings_of_points");
    let points = ["query", "bridge.hpan", "--csv", "points.csv"];
    let write = |text: &str| fs::write(folder.join("points.csv"), text).unwrap();
    // columns are known by name, all others go through as they stand; of those that answers have too the name says that
    // it was asked
    let answer = "2,6,0,0,0.85,1,Steel plate,deck,found";
    for (heading, line, columns, rest) in [
        ("t,x,y,z,yaw", "1,1,2,7,9", "t,asked_z,yaw", "near,0,,0,mesh,1,7,9"),
        ("z,y,x", "7,2,1", "asked_z", "near,0,,0,mesh,7"),
        (
            "wheel,length,mu,Y [m],\"X\",z",
            "front left,2,x,2,1,7.0\r",
            "wheel,length,asked_mu,asked_z",
            "below,0,,0,mesh,front left,2,x,7.0",
        ),
        ("x,y,name [-],", "1,2,\"a\"", "name [-],", "top,0,,0,mesh,\"a\","),
        ("STATUS,x,y", "\u{fc} ,1,2,,", "asked_status", "top,0,,0,mesh,\u{fc} "),
    ] {
        write(&format!("# track\n{heading}\n{line}\n"));
        let [out, err] = expect(0, &folder, &points);
        let head = "x,y,z,slope_x,slope_y,mu,rr,material,source,status,reach,surface_type,cone_index,label,leaf";
        assert_eq!((out, err), (format!("{head},{columns}\n1,{answer},{rest}\n"), String::new()));
    }
    for (text, why) in [
        ("x,y,x\n1,2,3\n", "line 1: two columns are x\n"),
        ("x,y,length\n1,2,3\n", "line 2: no z; a point is x,y or x,y,z or x,y,z,length"),
        ("name,x,y\na,1,2\nb,1,2,3\n", "line 3: 4 fields, and 3 columns"),
        ("name,x,y\na,1,b\n", "line 2: \"b\" is not a number (field 3)"),
        ("l,length,x,y,z\na,-1,1,2,3\n", "line 2: the length -1 is below zero (field 2)"),
    ] {
        write(text);
        holds(&error(2, &folder, &[&points[..], &["-o", "answers.csv"]].concat()), &["error: points.csv: ", why]);
        assert!(!folder.join("answers.csv").exists());
    }
    write("x,y,z [km]\n1,2,3\n");
    holds(&expect(2, &folder, &points)[1], &["line 1: z is in km; convert it, and name it z or z [m]\n"]);
    for (heading, told) in [
        ("X [m], Y (M) ,Z[],length", ""),
        (",,,", "note: points.csv: read as x,y,z,length: a heading says otherwise\n"),
    ] {
        write(&format!("{heading}\n1,2,7,2\n"));
        let [out, err] = expect(0, &folder, &points);
        assert!(
            out.ends_with("\n1,2,6,0,0,0.85,1,Steel plate,deck,found,below,0,,0,mesh,7,2\n") && err == told,
            "{out}{err}"
        );
        assert!(out.lines().next().unwrap().ends_with(",asked_z,length"), "{out}");
    }
    // numbers under other names are no places, by their order
    for heading in ["time,px,py", "east,north,up", "t,x,z", "y,a,b", "x_,b,y_"] {
        write(&format!("\n{heading}\n1,2,7\n"));
        let err = error(2, &folder, &[&points[..], &["-o", "answers.csv"]].concat());
        assert!(err.starts_with(&format!("error: points.csv: line 2: the heading {heading} has no ")), "{err}");
        assert!(!folder.join("answers.csv").exists());
    }
}

const LACKS: &str = "; a line is t,x,y,z,yaw, with commas, semicolons or tabs between fields";

/// Names, units and separators of a drive's heading.
#[test]
fn headings_of_drives() {
    let folder = bridge("headings_of_drives");
    let along = |command: &'static str| [command, "bridge.hpan", "--along", "drive.csv"];
    let write = |text: &str| fs::write(folder.join("drive.csv"), text).unwrap();
    for heading in ["t,x,y,z,yaw", "TIME,x,y,z,", "\u{feff}Time [s], X (m),y [M],z[],yaw [deg]", "time(S),x,y,z,w [km]"]
    {
        write(&format!("{heading}\n0.5,1,2,7,9\n1.5,4,6,7,9\n"));
        let [out, err] = expect(0, &folder, &along("query"));
        holds(&out, &["\n0.5,0,1,2,6,", "\n1.5,5,4,6,6,"]);
        assert!(err.is_empty(), "{err}");
    }
    for (heading, why) in [
        ("t,x [km],y,z", "x is in km; convert it, and name it x or x [m]"),
        ("t,x,y (mm),z", "y is in mm; convert it, and name it y or y [m]"),
        ("t,x,y,Z [ft]", "z is in ft; convert it, and name it z or z [m]"),
        ("t [ms],x,y", "t is in ms; convert it, and name it t or t [s]"),
        ("Time [min],x,y", "t is in min; convert it, and name it t or t [s]"),
        ("t,time,x,y", "two columns are t"),
        ("t,x,z", LACKS),
        ("t x y z", LACKS),
        ("0 1 2 3", LACKS),
    ] {
        write(&format!("{heading}\n0,1,2,3\n"));
        for command in ["query", "bench"] {
            let err = error(2, &folder, &along(command));
            assert!(err.starts_with("error: drive.csv: line 1: ") && err.ends_with(&format!("{why}\n")), "{err}");
        }
    }
    // all wheels on a line, which is not read
    for heading in ["t,x_FL,y_FL,z_FL,x_FR,y_FR,z_FR", "t,FL.x [m],FL.y [m],RL.x [m],RL.y [m]", "x1,y1,x2,y2"] {
        write(&format!("{heading}\n{}\n", vec!["1"; heading.split(',').count()].join(",")));
        for option in ["--csv", "--along"] {
            let err = error(2, &folder, &["query", "bridge.hpan", option, "drive.csv"]);
            holds(&err, &["drive.csv: line 1: the heading ", " has no x and no y; "]);
        }
    }
    // what the page says makes lines of it
    let page = include_str!("../../../builder/docs/query-and-csv.md");
    let recipe = page.split("```text\nawk").nth(1).unwrap().split("```").next().unwrap();
    let recipe = format!("awk{recipe}");
    fs::write(folder.join("wide.csv"), "t,x_fl,y_fl,z_fl,x_fr,y_fr,z_fr\r\n0,1,2,7,1,-2,1\r\n0.5,4,6,7,4,2,1\r\n")
        .unwrap();
    match std::process::Command::new("sh").args(["-c", &recipe]).current_dir(&folder).status() {
        Ok(status) if status.success() => {
            let [out, err] = expect(0, &folder, &["query", "bridge.hpan", "--along", "wheels.csv"]);
            let rows: Vec<String> = out.lines().map(|l| l.split(',').take(5).collect::<Vec<_>>().join(",")).collect();
            assert_eq!(rows[1..], ["0,0,1,2,6", "0,0,1,-2,0", "0.5,5,4,6,6", "0.5,5,4,2,0"], "{out}{err}");
            assert!(out.lines().nth(2).unwrap().contains(",fr,"), "{out}");
        }
        end => verification::skipped(&format!("there is no awk: {end:?}")),
    }
    // as many columns as there are
    for (line, form) in [("0,1,2,3,4", "t,x,y,z,yaw"), ("0,1,2,3", "t,x,y,z"), ("0,1,2", "t,x,y")] {
        write(&format!("{line}\n{line}\n"));
        let told = format!("note: drive.csv: read as {form}: a heading says otherwise\n");
        assert_eq!(expect(0, &folder, &[&along("bench")[..], &["-n", "10"]].concat())[1], told);
        assert_eq!(expect(0, &folder, &along("query"))[1], told);
    }
}

/// One bad line of a log costs one answer: the others are as without it, and distance goes on from the last place.
#[test]
fn places_that_are_no_numbers_are_answered() {
    let folder = bridge("places_that_are_no_numbers_are_answered");
    let write = |text: &str| fs::write(folder.join("log.csv"), text).unwrap();
    write("t,x,y,z\n0,20,0,1\n1,nan,0,1\n2,23,4,1\n3,23,-inf,1\n4,23,4,NaN\nnan,23,4,1\n");
    let told = "log.csv: 4 lines have a number that is blank or not finite; the first is line 3";
    let missed = "3 of 6 points without ground (3 not in the image), the first on line 3; the ground has x -50 to 50, y -50 to 50";
    let along = ["query", "bridge.hpan", "--along", "log.csv"];
    let [out, err] = expect(0, &folder, &along);
    assert_eq!(err, format!("note: {told}\nnote: log.csv: {missed}\n"));
    let found = "0,0,0,0.85,1,Asphalt,floor,found,near,0,,0,mesh,1";
    let lost = ",,,,,,,not in image,,,,,";
    let rows = [
        format!("0,0,20,0,{found}"),
        format!("1,0,NaN,0,{lost},1"),
        format!("2,5,23,4,{found}"),
        format!("3,5,23,-inf,{lost},1"),
        format!("4,5,23,4,{lost},NaN"),
        format!("NaN,5,23,4,{found}"),
    ];
    assert_eq!(out.lines().skip(1).collect::<Vec<_>>(), rows);
    let [strict, err] = expect(1, &folder, &[&along[..], &["--strict"]].concat());
    assert_eq!((strict, err), (out, format!("error: {told}; {missed}\n")));
    // nor are times
    write("t,x,y\n0,20,0\n,21,0\n2,22,0\n");
    let untimed = "error: log.csv: 1 line has a number that is blank or not finite; the first is line 3\n";
    assert_eq!(expect(1, &folder, &[&along[..], &["--strict"]].concat())[1], untimed);
    write("t,x,y,z\n0,20,0,1\n1,nan,0,1\n2,23,4,1\n3,23,-inf,1\n4,23,4,NaN\nnan,23,4,1\n");
    // nor are places whose fields are blank
    let words = fs::read_to_string(folder.join("log.csv")).unwrap();
    let [answers, _] = expect(0, &folder, &along);
    write(&words.replace("nan,0,1", ",0,1").replace("-inf,1", " ,1"));
    let [blank, err] = expect(0, &folder, &along);
    assert_eq!((blank, err), (answers.replace(",-inf,", ",NaN,"), format!("note: {told}\nnote: log.csv: {missed}\n")));
    assert_eq!(
        expect(0, &folder, &["query", "bridge.hpan", "--csv", "log.csv"])[0].lines().nth(2).unwrap(),
        "NaN,0,,,,,,,,not in image,,,,,,1,1"
    );
    write(&words);
    let csv = ["query", "bridge.hpan", "--csv", "log.csv", "--json"];
    let answers: Value = serde_json::from_str(&expect(0, &folder, &csv)[0]).unwrap();
    assert_eq!((&answers[1]["x"], &answers[1]["status"]), (&Value::Null, &json!("not in image")));
    let [_, err] = expect(0, &folder, &["bench", "bridge.hpan", "--along", "log.csv", "-n", "12"]);
    assert_eq!(err, format!("note: {told}\n"));
    // it is drawn as a place without ground
    expect(0, &folder, &[&along[..], &["--plot", "log.svg", "-o", "/dev/null"]].concat());
    // a point that is typed is refused
    holds(&expect(2, &folder, &["query", "bridge.hpan", "1,2,1e400"])[1], &["1e400", "field 3"]);
}

/// A line of units below the heading is no place; another unit than metres and seconds is an error, as in the heading.
#[test]
fn units_below_a_heading() {
    let folder = bridge("units_below_a_heading");
    let write = |text: &str| fs::write(folder.join("log.csv"), text).unwrap();
    let [along, csv] = ["--along", "--csv"].map(|kind| ["query", "bridge.hpan", kind, "log.csv"]);
    for units in ["s,m,m,m,rad", "[s],[m],[m],[m],[rad]", "s,m,m,-,", "\"s\", \"m\" ,m,m,deg/s"] {
        write(&format!("t,x,y,z,yaw\n{units}\n0,1,2,3,4\n"));
        for query in [along, csv] {
            let [out, err] = expect(0, &folder, &query);
            assert_eq!(
                (out.lines().count(), err.as_str()),
                (2, "note: log.csv: line 2 has units, and is passed over\n")
            );
        }
    }
    for (units, why) in [
        ("s,m,km,m,rad", "line 2: y is in km; convert it"),
        ("s,m,m,x,rad", "line 2: z is in x; convert it"),
        ("s,abc,m,m,rad", "line 2: x is in abc; convert it"),
        ("0,m,m,m,rad", "line 2: \"m\" is not a number (field 2)"),
    ] {
        write(&format!("t,x,y,z,yaw\n{units}\n0,1,2,3,4\n"));
        for query in [along, csv] {
            holds(&expect(2, &folder, &query)[1], &["error: log.csv: ", why]);
        }
    }
    write("x [m],y [m]\nft,ft\n1,2\n");
    holds(&expect(2, &folder, &csv)[1], &["error: log.csv: line 2: x is in ft; convert it"]);
    write("x [m],y [m]\nM,\n1,2\n");
    expect(0, &folder, &csv);
    write("x,y\n1,2\nm,m\n");
    holds(&expect(2, &folder, &csv)[1], &["line 3: \"m\" is not a number"]);
}

/// The kernel's answer without ground, as a program beside it would see it.
#[test]
fn fall_backs_are_shown() {
    let folder = bridge("fall_backs_are_shown");
    let settings =
        |policy: &str| format!("build = {{ fallback = \"{policy}\", default_z = -7.5, default_mu = 0.3 }}\n");
    // beside the deck below it, beside the image, and on it
    fs::write(folder.join("p.csv"), "x,y,z,length\n20,0,9,2\n70,0,1,\n70,0,,\n0,0,9,\n").unwrap();
    for (policy, wanted) in
        [("bounds-min-z", ["0", "0", "0"]), ("default", ["-7.5", "-7.5", "-7.5"]), ("edge-extend", ["0", "0", "0"])]
    {
        fs::write(folder.join("s.toml"), settings(policy)).unwrap();
        expect(0, &folder, &["build", "bridge.obj", "--settings", "s.toml"]);
        let [out, err] = expect(0, &folder, &["query", "bridge.hpan", "--csv", "p.csv", "--fallback"]);
        holds(&err, &["3 of 4 points without ground (2 not in the image)"]);
        let rows: Vec<Vec<&str>> = out.lines().skip(1).map(|l| l.split(',').collect()).collect();
        for ((row, z), status) in rows.iter().zip(wanted).zip(["no ground", "not in image", "not in image"]) {
            assert_eq!(row[2..11], [z, "0", "0", "0.3", "1", "", "", status, "fall-back"], "{policy}");
        }
        assert_eq!(rows[3][2..6], ["6", "0", "0", "0.85"]);
        let json = ["query", "bridge.hpan", "--csv", "p.csv", "--fallback", "--json"];
        let answers: Value = serde_json::from_str(&expect(0, &folder, &json)[0]).unwrap();
        let number = |i: usize| answers[i]["z"].as_f64().unwrap().to_string();
        assert_eq!([0, 1, 2].map(number), wanted);
        assert_eq!((&answers[0]["status"], &answers[0]["mu"]), (&json!("no ground"), &json!(0.3)));
    }
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "70,0,1", "--fallback"]);
    holds(&out, &["not in image, fall-back"]);
    expect(2, &folder, &["query", "bridge.hpan", "70,0", "--fallback", "--layers"]);
}

/// Places without ground are counted in one line beside the answers, in every format.
#[test]
fn points_without_ground() {
    let folder = bridge("points_without_ground");
    let note = |text: &str| format!("note: points.csv: {text}\n");
    let write = |text: String| fs::write(folder.join("points.csv"), text).unwrap();
    let csv = ["query", "bridge.hpan", "--csv", "points.csv"];
    // found, too far down, and beside the floor
    let block = "1,2,,\n\n# next\n1,2,5,2\n70,2,,\n1,2,7,2\n";
    write(format!("x,y,z,length\n{}", block.repeat(1500)));
    let said = note(
        "3,000 of 6,000 points without ground (1,500 not in the image), the first on line 5; the ground has x -50 to 50, y -50 to 50",
    ) + &note("3,000 of 6,000 lines have no z: the highest ground answers; the first is line 2");
    for more in [&[][..], &["--json"], &["-o", "answers.csv"], &["-o", "answers.json", "--json"]] {
        let [out, err] = expect(0, &folder, &[&csv[..], more].concat());
        assert_eq!(err, said);
        let text = if out.is_empty() { fs::read_to_string(folder.join(more[1])).unwrap() } else { out };
        assert_eq!(text.matches("no ground").count(), 1500);
        assert!(!more.contains(&"--json") || serde_json::from_str::<Value>(&text).is_ok());
    }
    // of layers a place counts once, by itself
    let [_, err] = expect(0, &folder, &[&csv[..], &["--layers"]].concat());
    assert_eq!(
        err,
        note(
            "1,500 of 6,000 points without ground (1,500 not in the image), the first on line 6; the ground has x -50 to 50, y -50 to 50"
        )
    );
    write("x,y,z,length\n1,2,5,2\n".into());
    assert_eq!(expect(0, &folder, &csv)[1], note("1 of 1 point without ground, the first on line 2"));
    // quiet where all is found, where points are typed, and where the file is wrong
    write("1,2\n3,4\n".into());
    assert_eq!(expect(0, &folder, &csv)[1], "");
    assert_eq!(expect(0, &folder, &["query", "bridge.hpan", "70,2"])[1], "");
    write("70,2\n3,four\n".into());
    let [_, err] = expect(2, &folder, &csv);
    assert!(err.starts_with("error: points.csv: line 2: ") && err.lines().count() == 1, "{err}");
    let stops: String = (0..3000).map(|i| format!("{i},{},0\n", f64::from(i) / 40.0)).collect();
    write(format!("t,x,y\n{stops}"));
    for more in [&[][..], &["--json"], &["--plot", "p.svg"]] {
        let [_, err] = expect(0, &folder, &[&["query", "bridge.hpan", "--along", "points.csv"], more].concat());
        let lost = note(
            "999 of 3,000 points without ground (999 not in the image), the first on line 2003; the ground has x -50 to 50, y -50 to 50",
        );
        // the drive leaves the deck
        let jump = "1 jump from one deck to another, the first from line 202 to 203: from 6 to 0 m in height";
        assert_eq!(err, lost + &note(&format!("{jump}; write the height of each place in a column z [jump]")));
    }
}

/// Each wheel has its own places, distance and time, by its name.
#[test]
fn four_wheels() {
    let folder = bridge("four_wheels");
    let wheels = [("FL", 0.8, 7.0), ("FR", -0.8, 7.0), ("RL", 0.8, 1.0), ("RR", -0.8, 1.0)];
    let mut text = String::from("t,wheel,x,y,z\n");
    for (i, (name, y, z)) in (0..50).flat_map(|i| wheels.map(|w| (i, w))) {
        text += &format!("{},{name},{},{y},{z}\n", f64::from(i) / 10.0, f64::from(i) / 10.0);
    }
    fs::write(folder.join("wheels.csv"), &text).unwrap();
    let check = |option: &str, places: [usize; 3]| {
        let [out, err] = expect(0, &folder, &["query", "bridge.hpan", option, "wheels.csv"]);
        assert!(err.is_empty(), "{err}");
        let rows: Vec<Vec<&str>> = out.lines().map(|l| l.split(',').collect()).collect();
        assert_eq!(rows.len(), 201);
        for (i, row) in rows[1..].iter().enumerate() {
            let (name, _, z) = wheels[i % 4];
            let x = (i / 4) as f64 / 10.0;
            assert_eq!(
                (row[rows[0].iter().position(|n| *n == "wheel").unwrap()], row[places[0]].parse()),
                (name, Ok(x))
            );
            assert_eq!(row[places[1]], if z > 3.0 { "6" } else { "0" });
            assert!(places[2] == 0 || row[places[2]].parse() == Ok(x), "each its own distance: {row:?}");
        }
        rows[0].join(",")
    };
    let head = "x,y,z,slope_x,slope_y,mu,rr,material,source,status,reach,surface_type,cone_index,label,leaf";
    assert_eq!(check("--csv", [0, 2, 0]), format!("{head},t,wheel,asked_z"));
    assert_eq!(check("--along", [2, 4, 1]), format!("t,distance,{head},wheel,asked_z"));
    expect(0, &folder, &["bench", "bridge.hpan", "--along", "wheels.csv", "-n", "100"]);
    // one wheel after the other, too; of one the time does not go back
    let sorted = |text: &str| {
        let mut lines: Vec<&str> = text.lines().skip(1).collect();
        lines.sort_by_key(|l| l.split(',').nth(1));
        fs::write(folder.join("sorted.csv"), format!("t,wheel,x,y,z\n{}\n", lines.join("\n"))).unwrap();
    };
    sorted(&text);
    expect(0, &folder, &["query", "bridge.hpan", "--along", "sorted.csv"]);
    sorted(&text.replace("4.9,RL", "4.7,RL"));
    let why = error(2, &folder, &["query", "bridge.hpan", "--along", "sorted.csv"]);
    holds(&why, &["sorted.csv: line 151: the time goes back, from 4.8 to 4.7", "name wheels in a column wheel\n"]);
    // under another name they are one drive
    let other = text.replace("t,wheel", "t,corner");
    // a wheel that loses its name
    fs::write(folder.join("nameless.csv"), "t,Wheel,x,y,z\n0,FL,0,0,0\n0,,1,0,0\n").unwrap();
    let why = error(2, &folder, &["query", "bridge.hpan", "--along", "nameless.csv"]);
    holds(&why, &["nameless.csv: line 3: some lines name their wheel, and some do not; name it in each\n"]);
    let mut lines: Vec<&str> = other.lines().collect();
    lines[1..].sort_by_key(|l| l.split(',').nth(1));
    fs::write(folder.join("corners.csv"), lines.join("\n")).unwrap();
    let why = error(2, &folder, &["query", "bridge.hpan", "--along", "corners.csv"]);
    holds(&why, &["the time goes back, from 4.9 to 0; sort the lines by time, and name wheels in a column wheel\n"]);
    // who stands, or creeps with a coarse clock, is no wheel
    for step in [0.0, 0.09] {
        let drive: String = (0..100).map(|i| format!("{},{},0,0\n", i / 10, f64::from(i) * step)).collect();
        fs::write(folder.join("slow.csv"), format!("t,x,y,z\n{drive}")).unwrap();
        assert_eq!(expect(0, &folder, &["query", "bridge.hpan", "--along", "slow.csv"])[1], "");
    }
}

/// Wheels are together by the time, whatever its last digits are; a wheel that is missing, doubled or misspelt is told.
#[test]
fn wheels_of_one_tick() {
    let folder = bridge("wheels_of_one_tick");
    let row = |i: u32, k: usize, late: f64| {
        format!("{},{},{i},{k},1\n", f64::from(i) * 0.01 + late, ["FL", "FR", "RL", "RR"][k])
    };
    let rows = |late: f64| -> Vec<String> {
        (0..40).flat_map(|i| (0..4).map(move |k| row(i, k, late * f64::from(k as u32)))).collect()
    };
    let told = |rows: &[String]| {
        fs::write(folder.join("w.csv"), format!("t,wheel,x,y,z\n{}", rows.concat())).unwrap();
        let query = ["query", "bridge.hpan", "--along", "w.csv"];
        let [all, err] = expect(0, &folder, &query);
        let bench = expect(0, &folder, &["bench", "bridge.hpan", "--along", "w.csv", "-n", "160", "--json"]);
        assert_eq!(bench[1], err);
        let code = i32::from(!err.is_empty());
        let strict = expect(code, &folder, &[&query[..], &["--strict"]].concat());
        assert_eq!(strict, [all, err.replace("note: ", "error: ")]);
        let places = serde_json::from_str::<serde_json::Value>(&bench[0]).unwrap()["frames"]["count"].as_u64();
        (places, err)
    };
    // a hundredth of a tick, and nearly half of one, from the first to the last
    for late in [0.0, 1e-5, 0.0016] {
        assert_eq!(told(&rows(late)), (Some(40), String::new()));
    }
    // half of one and more are of no tick
    assert_eq!(told(&rows(0.0017)).0, None);
    let missing = |what: &str, first: u32| {
        let left = "of times that not all 4 wheels have: they belong to no tick; the first is line";
        format!("note: w.csv: {what} {left} {first}\n")
    };
    let mut lines = rows(1e-5);
    let lost = lines.remove(4 * 7 + 2);
    assert_eq!(told(&lines).1, missing("3 lines", 30));
    lines.insert(4 * 7 + 2, lost.clone());
    lines.insert(4 * 7 + 2, lost);
    assert_eq!(told(&lines).1, missing("1 line", 33));
    let mut lines = rows(1e-5);
    lines[4 * 7] = lines[4 * 7].replace("FL", "FI");
    let five = "note: w.csv: 160 lines of times that not all 5 wheels have: they belong to no tick";
    assert_eq!(told(&lines), (None, format!("{five}; the first is line 2\n")));
}

/// Answers from beyond the near window are counted, with the line of the first.
#[test]
fn ground_beyond_the_near_window_is_told() {
    let folder = bridge("ground_beyond_the_near_window");
    let lines: String = (0..40).map(|i| format!("30,{i},{}\n", if i < 20 { 60 } else { 0 })).collect();
    fs::write(folder.join("p.csv"), format!("x,y,z\n{lines}")).unwrap();
    let some = "20 of 40 answers are far below or far above, beyond the near window; the first is line 2";
    // points may be asked from afar; a wheel is not
    let strict = |option: &str, code| expect(code, &folder, &["query", "bridge.hpan", option, "p.csv", "--strict"]);
    assert_eq!(strict("--csv", 0)[1], format!("note: p.csv: {some}\n"));
    assert_eq!(strict("--along", 1)[1], format!("error: p.csv: {some}\n"));
}

/// A mark that stands for the wheel in a line of units is no unit.
#[test]
fn wheels_have_no_unit() {
    let folder = bridge("wheels_have_no_unit");
    fs::write(folder.join("w.csv"), "t,wheel,x,y\ns,fl,m,m\n0,FL,1,1\n0,FR,1,2\n").unwrap();
    let [out, err] = expect(0, &folder, &["query", "bridge.hpan", "--along", "w.csv"]);
    assert_eq!(err, "note: w.csv: line 2 has units, and is passed over\n");
    assert!(out.contains("FL") && out.contains("FR"), "{out}");
}

/// Semicolons and tabs are recognised by the first line; a decimal comma is read as such, or refused.
#[test]
fn separators_are_told_by_the_first_line() {
    let folder = bridge("separators_are_told_by_the_first_line");
    let query = ["query", "bridge.hpan", "--csv", "p.csv"];
    let ask = |code: i32, text: &str| {
        fs::write(folder.join("p.csv"), text).unwrap();
        expect(code, &folder, &query)
    };
    let [wanted, _] = ask(0, "x,y,z,note,n\n1.5,-2.25,0.5,\"a, b\",\"1,5\"\n");
    let said = |what: &str| {
        format!("note: p.csv: read with {what} between fields, and a comma in a number, if any, as its point\n")
    };
    for (what, text) in [
        ("semicolons", "x;y;z;note;n\n1,5;-2,25;0,5;a, b;1,5\n"),
        ("semicolons", "# a, b\n\n;;\nx;y;z;note;n\r\n1,5;-2,25;0,5;\"a, b\";1,5\r\n"),
        ("semicolons", "x;y;z;note;n\n1.5;-2.25;0.5;a, b;1,5"),
        ("semicolons", "sep=;\r\nx;y;z;note;n\r\n1,5;-2,25;0,5;a, b;1,5\r\n"),
        ("tabs", "\"SEP=\t\"\nx\ty\tz\tnote\tn\n1,5\t-2,25\t0,5\ta, b\t1,5\n"),
        ("tabs", "x\ty\tz\tnote\tn\n1,5\t-2,25\t0,5\ta, b\t1,5\n"),
    ] {
        assert_eq!(ask(0, text), [wanted.clone(), said(what)], "{text}");
    }
    let [bare, _] = ask(0, "1.5,2.5\n3,4\n");
    for (what, text) in
        [("semicolons", "1,5;2,5\n3;4\n"), ("tabs", "1,5\t2,5\n3\t4\n"), ("semicolons", "1.5;2.5\n3;4\n")]
    {
        assert_eq!(ask(0, text), [bare.clone(), said(what)], "{text}");
    }
    // a line that states what no line has
    let [points, _] = ask(0, "x,y\n1.5,2.5\n");
    assert_eq!(ask(0, "sep=;\nx,y\n1.5,2.5\n"), [points.clone(), String::new()]);
    assert_eq!(ask(0, "sep=,\nx;y\n1,5;2,5\n"), [points, said("semicolons")]);
    // a line that states commas says nothing else
    assert_eq!(ask(0, "sep=,\n1.5,2.5\n3,4\n"), [bare, String::new()]);
    // however far down the first line is, lines are counted from the file's begin
    let far = format!("{}1;2,5\n1;b\n", "\n# none\n  ;;\n".repeat(200_000));
    let [out, err] = ask(2, &far);
    assert!(out.contains("\n1,2.5,6,0,0,0.85,"), "{out}");
    holds(&err, &[&said("semicolons"), "error: p.csv: line 600002: \"b\" is not a number (field 2)\n"]);
    // what is passed on stays as it stands, and decides nothing
    let heading = "x;y;ver;id;q;t;yaw";
    let [out, _] = ask(0, &format!("{heading}\n1,5;2;1.5;007,50;\"12,30\";0,5;90,5\n1,5;2;v1.5;1.50;\"a;b\";1;2\n"));
    let mut ends = out.lines().map(|line| line.split_once(",top,0,,0,mesh,").map_or("", |(_, passed)| passed));
    let wanted = ["1.5,\"007,50\",\"12,30\",0.5,90.5", "v1.5,1.50,\"a;b\",1,2"];
    assert_eq!(ends.by_ref().skip(1).collect::<Vec<_>>(), wanted, "{out}");
    for text in ["t;px;py\n1;2;3\n", "x;y,name\n1;2,a\n", "x y\n1 2\n", "sep=|\nx|y\n1|2\n", "x,y,a;b\n1,2,3\n"] {
        holds(&ask(2, text)[1], &[": the heading ", " has no "]);
    }
    // in quotes a separator is none
    let [out, err] = ask(0, "x,y,\"a;b\"\n1,2,3;4\n");
    assert!(out.ends_with(",found,top,0,,0,mesh,3;4\n") && err.is_empty(), "{out}{err}");
    // a point is a point beside decimal commas
    let [points, _] = ask(0, "x;y\n1.5;2\n1,5;2\n");
    let rows: Vec<&str> = points.lines().skip(1).collect();
    assert!(rows.len() == 2 && rows[0] == rows[1] && rows[0].starts_with("1.5,2,"), "{points}");
    for number in ["1.234,5", "1,234,5"] {
        holds(&ask(2, &format!("x;y\n{number};2\n"))[1], &["line 2: ", "is not a number (field 1)"]);
    }
    // drives too
    fs::write(folder.join("d.csv"), "t;wheel;x;y;z\n0,5;FL;1,5;2;1\n1,5;FL;2,5;2;1\n").unwrap();
    let [out, err] = expect(0, &folder, &["query", "bridge.hpan", "--along", "d.csv"]);
    assert!(out.ends_with("\n1.5,1,2.5,2,0,0,0,0.85,1,Asphalt,floor,found,near,0,,0,mesh,FL,1\n"), "{out}");
    assert_eq!(err, said("semicolons").replace("p.csv", "d.csv"));
}

/// Numbers of CSV and JSON are the kernel's own, to the last bit.
#[test]
fn printed_numbers_read_back() {
    let folder = folder("printed_numbers_read_back");
    fs::write(folder.join("r.obj"), "v 0 0 0.1\nv 9 0 0.7\nv 9 9 3.3\nv 0 9 1.9\nf 1 2 3 4\n").unwrap();
    expect(0, &folder, &["build", "r.obj"]);
    let image = hardpan_builder::ImageFile::open(folder.join("r.hpan")).unwrap();
    let t = hardpan::Terrain::open(&image).unwrap();
    let places: Vec<[f64; 2]> = (1..200).map(|i| [f64::from(i) / 23.0, f64::from(i * i) / 4500.0]).collect();
    let text: String = places.iter().map(|[x, y]| format!("{x},{y},1\n")).collect();
    fs::write(folder.join("p.csv"), format!("x,y,z\n{text}")).unwrap();
    let query = ["query", "r.hpan", "--csv", "p.csv"];
    let [csv, _] = expect(0, &folder, &query);
    let [json, _] = expect(0, &folder, &[&query[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    for (i, (line, [x, y])) in csv.lines().skip(1).zip(places).enumerate() {
        let hit = t.closest([x, y, 1.0]).hit;
        let [sx, sy] = t.slope_f64(&hit);
        let wanted = [x, y, t.z_f64(&hit), sx, sy].map(f64::to_bits);
        let mut fields = line.split(',').map(|field| field.parse::<f64>().map_or(0, f64::to_bits));
        assert_eq!([(); 5].map(|()| fields.next().unwrap()), wanted, "{line}");
        let row = &json[i];
        let own = [&row["x"], &row["y"], &row["z"], &row["slope"][0], &row["slope"][1]];
        assert_eq!(own.map(|v| v.as_f64().unwrap().to_bits()), wanted, "{row}");
    }
}

/// One line for each wheel, in a colour of its own, by its name.
#[test]
fn plots_of_wheels() {
    let folder = bridge("plots_of_wheels");
    // left wheels on the deck, the right ones under it, each a metre further than the one before
    let write = |wheels: usize| {
        let mut text = String::from("t,wheel,x,y,z\n");
        for (i, k) in (0..=400).flat_map(|i| (0..wheels).map(move |k| (i, k))) {
            let (x, z) = (f64::from(i) / 100.0 * (1.0 + k as f64 / 4.0) - 4.0, if k % 2 == 0 { 7 } else { 1 });
            text += &format!("{i},w<{k}>,{x},{k},{z}\n");
        }
        fs::write(folder.join("wheels.csv"), text).unwrap();
    };
    let plot = |plot: &'static str| ["query", "bridge.hpan", "--along", "wheels.csv", "--plot", plot, "-o", "a.csv"];
    let colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#663300"];
    for wheels in [2, 4, 8] {
        write(wheels);
        expect(0, &folder, &[&plot("p.svg")[..], &["--force"]].concat());
        let svg = fs::read_to_string(folder.join("p.svg")).unwrap();
        for (k, colour) in colours.iter().enumerate() {
            let stroke = format!("stroke=\"{colour}\"");
            assert_eq!(svg.matches(&stroke).count(), if k < wheels { 3 } else { 0 }, "height, slope and mu of {k}");
            assert_eq!(svg.contains(&format!(">w&lt;{k}&gt;</text>")), k < wheels);
        }
        let ends: Vec<[f64; 2]> = colours[..wheels].iter().map(|c| *line(&svg, c)[0].last().unwrap()).collect();
        let long = ends[wheels - 1][0] - 78.0;
        for (k, [x, y]) in ends.iter().enumerate() {
            let share = (4.0 + k as f64) / (3.0 + wheels as f64);
            assert!(((x - 78.0) / long - share).abs() < 1e-3, "each its own distance: {ends:?}");
            // heights of 0 and 6 or past the deck's end, in a panel from 72 to 240
            assert!((72.0..=240.0).contains(y), "{ends:?}");
            assert!(k % 2 == 0 || *y == 240.0, "{ends:?}");
        }
        assert_eq!(fs::read_to_string(folder.join("a.csv")).unwrap().lines().count(), 1 + 401 * wheels);
    }
    // as PNG, where lines are not under others
    write(2);
    expect(0, &folder, &[&plot("p.png")[..], &["--force"]].concat());
    let (width, rows, pixels) = pixels(&folder.join("p.png"));
    assert_eq!([width, rows], [1920, 1348]);
    assert!([[0, 114, 178], [213, 94, 0]].iter().all(|c| pixels.contains(c)) && !pixels.contains(&[0, 158, 115]));
    write(9);
    let why = error(2, &folder, &[&plot("q.svg")[..], &["--force"]].concat());
    holds(&why, &["q.svg: a plot is of 8 wheels at most, and this drive has 9; make several files of it"]);
    assert!(!folder.join("q.svg").exists());
}

/// Where some lines have a z, one without is not quietly on top of a bridge; one that is cut off is no line.
#[test]
fn lines_without_z_and_lines_cut_off() {
    let folder = bridge("lines_without_z_and_lines_cut_off");
    let write = |text: &str| fs::write(folder.join("d.csv"), text).unwrap();
    let along = ["query", "bridge.hpan", "--along", "d.csv"];
    let csv = ["query", "bridge.hpan", "--csv", "d.csv"];
    let told = "d.csv: 1 of 4 lines has no z: the highest ground answers; the first is line";
    for (text, first) in
        [("t,x,y,z\n0,1,1,1\n1,2,1,1\n2,3,1,\n3,4,1,1\n", 4), ("x,z,y\n1,1,1\n2,1,1\n# cut\n3, ,1\n4,1,1\n", 5)]
    {
        write(text);
        for query in [along, csv] {
            let [all, err] = expect(0, &folder, &query);
            assert_eq!(err, format!("note: {told} {first}\n"));
            assert!(all.lines().nth(3).unwrap().contains(",6,0,0,0.85,1,Steel plate,deck,found,top"), "{all}");
            let [out, err] = expect(1, &folder, &[&query[..], &["--strict"]].concat());
            assert_eq!((out, err), (all, format!("error: {told} {first}\n")));
        }
        assert_eq!(expect(0, &folder, &["bench", "bridge.hpan", "--along", "d.csv", "-n", "4"])[1].lines().count(), 1);
        // layers are asked for without one
        assert_eq!(expect(0, &folder, &[&csv[..], &["--layers", "--strict"]].concat())[1], "");
        // a log that broke off before its first line
        for text in ["", "x,y\n"] {
            fs::write(folder.join("none.csv"), text).unwrap();
            let none = ["query", csv[1], "--csv", "none.csv"];
            expect(0, &folder, &none);
            holds(
                &expect(1, &folder, &[&none[..], &["--strict"]].concat())[1],
                &["error: none.csv: nothing was asked"],
            );
        }
    }
    // with places without ground too
    write("x,y,z\n1,1,1\n70,1,\n");
    let [_, err] = expect(1, &folder, &[&along[..], &["--strict"]].concat());
    assert_eq!(
        err,
        "error: d.csv: 1 of 2 points without ground (1 not in the image), the first on line 3; the ground has x -50 to 50, y -50 to 50; \
         1 of 2 lines has no z: the highest ground answers; the first is line 3\n"
    );
    // where no line is expected to have one, none lacks it
    for text in ["t,x,y\n0,1,1\n1,2,1\n", "t,x,y,height\n0,1,1,\n1,2,1,3\n"] {
        write(text);
        [along, csv].iter().for_each(|query| assert_eq!(expect(0, &folder, query)[1], ""));
    }
    write("0,1,1,1\n1,2,1\n2,3,1,1\n");
    let [_, err] = expect(0, &folder, &along);
    holds(&err, &["note: d.csv: 1 of 3 lines has no z: the highest ground answers; the first is line 2\n"]);
    // as many fields as columns, but for blank ones at the end
    let cut = "a blank field keeps its separator\n";
    for (text, fields) in [
        ("t,x,y,z,yaw\n0,1,1,1,90\n1,2,1,90\n", "4 fields, and 5 columns"),
        ("t,x,y,z\n0,1,1,1\n1,2,1\n", "3 fields, and 4 columns"),
    ] {
        write(text);
        for query in [along, csv] {
            let [_, err] = expect(2, &folder, &query);
            assert_eq!(err, format!("error: d.csv: line 3: {fields}; {cut}"));
        }
    }
    write("t,x,y,z\n0,1,1,1\n1,2,1,1,90\n");
    for query in [along, csv] {
        holds(&expect(2, &folder, &query)[1], &["error: d.csv: line 3: 5 fields, and 4 columns; "]);
    }
    write("0,1,1,1,90,7\n");
    holds(&error(2, &folder, &along), &["d.csv: line 1: 6 fields, and 5 columns; a line is t,x,y,z,yaw\n"]);
    write("t,x,y,z,,\n0,1,1,1\n1,2,1,1,,,,\n");
    [along, csv].iter().for_each(|query| assert_eq!(expect(0, &folder, query)[1], ""));
}

/// Questions stand beside their answers, in every format.
#[test]
fn what_was_asked_is_shown() {
    let folder = bridge("what_was_asked_is_shown");
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "1,2", "1,2,0.25", "1,2,7,2"]);
    let lines: Vec<Vec<&str>> = out.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..5], ["x", "y", "from", "z", "z"]);
    assert_eq!([1, 2, 3].map(|i| lines[i][2..4].join(" ")), ["- 6.000000", "0.250 0.000000", "7.000 6.000000"]);
    assert!(!expect(0, &folder, &["query", "bridge.hpan", "1,2"])[0].contains("from z"));
    // all digits that were typed, up to nine, one below the other
    for (points, wanted) in [
        (
            &["25.809011,32.781770", "-1.5,2"][..],
            &[
                "              x               y ",
                "      25.809011       32.781770 ",
                "      -1.500000        2.000000 ",
            ][..],
        ),
        (
            &["1e-12,0.3,0.12345"],
            &[
                "                 x                  y      from z ",
                "       0.000000000        0.300000000     0.12345 ",
            ],
        ),
        (&["1,2"], &["           x            y            z ", "       1.000        2.000     6.000000 "]),
    ] {
        let [out, _] = expect(0, &folder, &[&["query", "bridge.hpan"], points].concat());
        let lines: Vec<&str> = out.lines().collect();
        assert!(lines.len() == wanted.len() && lines.iter().zip(wanted).all(|(l, w)| l.starts_with(w)), "{out}");
    }
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_str(&expect(0, &folder, &[&["query", "bridge.hpan", "--json"], arguments].concat())[0])
            .unwrap()
    };
    let typed = json(&["1,2", "1,2,7,2"]);
    assert_eq!(
        [&typed[0]["asked_z"], &typed[1]["asked_z"], &typed[1]["length"]],
        [&Value::Null, &json!(7.0), &json!(2.0)]
    );
    fs::write(folder.join("p.csv"), "wheel,x,y,z,yaw\n\"FL\",1,2,7,90\nFR,1,2,,\n").unwrap();
    for option in ["--csv", "--along"] {
        let read = json(&[option, "p.csv"]);
        assert_eq!([&read[0]["wheel"], &read[0]["asked_z"], &read[0]["yaw"]], [&json!("FL"), &json!(7.0), &json!(90)]);
        assert_eq!(
            [&read[1]["wheel"], &read[1]["asked_z"], &read[1]["yaw"]],
            [&json!("FR"), &Value::Null, &Value::Null]
        );
    }
    // every step of every answer, of files too
    let wanted = "ground closest to 1, 2, 7\n";
    for arguments in [&["1,2,7"][..], &["--csv", "p.csv"], &["--along", "p.csv", "-o", "steps.txt"]] {
        let [out, _] = expect(0, &folder, &[&["query", "bridge.hpan", "--explain"], arguments].concat());
        let out = if out.is_empty() { fs::read_to_string(folder.join("steps.txt")).unwrap() } else { out };
        assert!(out.starts_with(wanted) && out.contains("  answer     z 6.000000: the nearest within 4 m"), "{out}");
        assert_eq!(out.matches("  cost       ").count(), if arguments.len() == 1 { 1 } else { 2 });
    }
    for option in ["--csv", "--along"] {
        let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "--explain", option, "p.csv"]);
        assert!(out.starts_with(&format!("{wanted}  wheel      FL\n")), "{out}");
        assert_eq!(out.matches("  wheel  ").count(), 2, "{out}");
    }
    assert!(!expect(0, &folder, &["query", "bridge.hpan", "1,2", "--explain"])[0].contains("  wheel  "));
    let why = expect(2, &folder, &["query", "bridge.hpan", "1,2", "--explain", "--json"]);
    holds(&why[1], &["'--explain' cannot be used with '--json'"]);
}

/// With --strict a place without ground ends in exit code 1, after all answers.
#[test]
fn strict_queries() {
    let folder = bridge("strict_queries");
    fs::write(folder.join("d.csv"), "x,y\n1,2\n70,2\n1,3\n").unwrap();
    fs::write(folder.join("good.csv"), "x,y\n1,2\n").unwrap();
    let lost = "1 of 3 points without ground (1 not in the image), the first";
    for (arguments, place, first) in [
        (&["--csv", "d.csv"][..], "d.csv", "on line 3"),
        (&["--along", "d.csv"], "d.csv", "on line 3"),
        (&["--along", "d.csv", "-o", "a.csv", "--force"], "d.csv", "on line 3"),
        (&["--csv", "d.csv", "--layers"], "d.csv", "on line 3"),
        (&["1,2", "70,2", "1,3"], "bridge.hpan", "is point 2"),
        (&["1,2", "70,2", "1,3", "--explain"], "bridge.hpan", "is point 2"),
    ] {
        let query = [&["query", "bridge.hpan"], arguments].concat();
        let [all, _] = expect(0, &folder, &query);
        let [out, err] = expect(1, &folder, &[&query[..], &["--strict"]].concat());
        assert_eq!(
            (out, err),
            (all, format!("error: {place}: {lost} {first}; the ground has x -50 to 50, y -50 to 50\n")),
            "{arguments:?}"
        );
    }
    assert_eq!(fs::read_to_string(folder.join("a.csv")).unwrap().lines().count(), 4);
    // four numbers without a heading may be a time and a place
    fs::write(folder.join("bare.csv"), "1,2,7,2\n").unwrap();
    let [_, err] = expect(0, &folder, &["query", "bridge.hpan", "--csv", "bare.csv"]);
    assert_eq!(err, "note: bare.csv: read as x,y,z,length: a heading says otherwise\n");
    // a point that was typed beside a file has no line
    let [_, err] = expect(0, &folder, &["query", "bridge.hpan", "1,2", "999,999", "--csv", "good.csv"]);
    assert_eq!(
        err,
        "note: good.csv: 1 of 3 points without ground (1 not in the image), the first is point 2; the ground has x -50 to 50, y -50 to 50\n"
    );
    for arguments in [&["--along", "good.csv"][..], &["--csv", "good.csv"], &["1,2"]] {
        expect(0, &folder, &[&["query", "bridge.hpan", "--strict"], arguments].concat());
    }
}

/// A coarse drive looks coarse: each place is a dot, where lines between them would be taken for the ground.
#[test]
fn plots_of_few_places() {
    let folder = bridge("plots_of_few_places");
    let dots = |name: &str, drive: &str| {
        fs::write(folder.join("few.csv"), format!("x,y\n{drive}")).unwrap();
        let plot = format!("{name}.svg");
        expect(0, &folder, &["query", "bridge.hpan", "--along", "few.csv", "--plot", &plot, "-o", "/dev/null"]);
        let svg = fs::read_to_string(folder.join(plot)).unwrap();
        let curves: Vec<_> = svg.lines().filter(|l| l.contains("stroke=\"#0072b2\"")).collect();
        curves.get(1).map_or(0, |dots| dots.matches('M').count())
    };
    assert_eq!(dots("two", "-40,0\n40,0\n"), 2);
    // what lies beside a place without ground is alone, and seen
    assert_eq!(dots("gap", "-40,0\n0,0\n0,900\n40,0\n"), 3);
    assert_eq!(dots("many", &(-400..400).map(|i| format!("{},0\n", f64::from(i) / 10.0)).collect::<String>()), 0);
}

/// Axes of one place, and of ground that is level throughout.
#[test]
fn plots_of_one_value() {
    let folder = bridge("plots_of_one_value");
    fs::write(folder.join("one.csv"), "x,y\n1,1\n").unwrap();
    fs::write(folder.join("level.csv"), "x,y\n1,1\n1,3\n").unwrap();
    let texts = |name: &str| -> Vec<String> {
        let plot = format!("{name}.svg");
        expect(0, &folder, &["query", "bridge.hpan", "--along", &format!("{name}.csv"), "--plot", &plot]);
        let svg = fs::read_to_string(folder.join(plot)).unwrap();
        let texts = svg.lines().filter_map(|l| l.strip_suffix("</text>")?.rsplit_once('>'));
        texts.map(|(_, text)| text.to_string()).collect()
    };
    let panels = ["6", "height, m", "0", "slope, %"];
    let mu: Vec<String> = (0..=5).map(|i| format!("{:.1}", f64::from(i) / 5.0)).collect();
    let one = texts("one");
    assert_eq!(one[1..5], panels);
    assert_eq!(one[5..], [&["0".to_string()], &mu[..], &["mu".into(), "distance driven, m".into()]].concat());
    let level = texts("level");
    assert_eq!((&level[1..5], &level[5], &level[15]), (&panels.map(String::from)[..], &"0.0".into(), &"2.0".into()));
}

/// Errors name the line as editors count them, whatever stands before it.
#[test]
fn lines_are_counted() {
    let folder = bridge("lines_are_counted");
    for (text, line) in [
        ("1,2\n3,x\n", 2),
        ("1,2\r\n3,x\r\n", 2),
        ("1,2\n3,x", 2),
        ("x,y\r\n\r\n\n# 5\n \n,,\n1,2\n\n3,x", 9),
        ("\n\n\nx,y,z,t,u,1", 4),
        ("1,\"2\"\r\n\r\n1,\"x\"\r\n4,5", 3),
    ] {
        fs::write(folder.join("points.csv"), text).unwrap();
        let [_, err] = expect(2, &folder, &["query", "bridge.hpan", "--csv", "points.csv"]);
        holds(&err, &[&format!("error: points.csv: line {line}: ")]);
    }
    fs::write(folder.join("points.csv"), b"1,2\n\n3,4\xff\n").unwrap();
    let [_, err] = expect(2, &folder, &["query", "bridge.hpan", "--csv", "points.csv"]);
    holds(&err, &["points.csv: line 3: not UTF-8 text"]);
}

/// A million lines in less memory than their answers take.
#[cfg(unix)]
#[test]
fn a_million_lines_are_streamed() {
    use std::{
        io::Write,
        process::{Command, Stdio},
    };
    let folder = bridge("a_million_lines_are_streamed");
    let limited = "ulimit -v 60000; exec \"$0\" query bridge.hpan --csv - -o answers.csv";
    let mut child = Command::new("sh")
        .args(["-c", limited])
        .arg(&*crate::shell::HARDPAN)
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let block = "-1.25,0.5\n".repeat(10_000);
    (0..100).for_each(|_| input.write_all(block.as_bytes()).unwrap());
    drop(input);
    assert!(child.wait().unwrap().success());
    let row = "-1.25,0.5,6,0,0,0.85,1,Steel plate,deck,found,top,0,,0,mesh,,\n";
    let head =
        "x,y,z,slope_x,slope_y,mu,rr,material,source,status,reach,surface_type,cone_index,label,leaf,asked_z,length\n";
    let place = folder.join("answers.csv");
    assert_eq!(fs::metadata(&place).unwrap().len(), (head.len() + 1_000_000 * row.len()) as u64);
    fs::remove_file(place).unwrap();
}
