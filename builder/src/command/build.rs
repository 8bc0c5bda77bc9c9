//! `hardpan build`: a mesh file in, a verified image out.

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use hardpan::{Terrain, format::MAGIC};
use hardpan_builder::{
    BuildError, Options, Scene, build,
    import::{self, Frame, Import, Unit, Up},
};

use super::{Done, Failure, grouped, shown, warn, write_image};

#[derive(clap::Args)]
pub struct Args {
    /// Wavefront OBJ files; several become one terrain
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Where the image goes [default: beside FILE, as FILE.hpan]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The axis that points up in FILE [default: z]
    #[arg(long, value_name = "AXIS", allow_hyphen_values = true, value_parser = PossibleValuesParser::new(Up::NAMES).try_map(|s| s.parse::<Up>()))]
    up: Option<Up>,
    /// The unit of the numbers in FILE
    #[arg(long, default_value_t = Unit::M, value_parser = PossibleValuesParser::new(Unit::NAMES).try_map(|s| s.parse::<Unit>()))]
    unit: Unit,
    /// Multiply the numbers in FILE by this as well
    #[arg(long, default_value_t = 1.0, allow_hyphen_values = true, value_parser = scale)]
    scale: f64,
    /// Then turn about up, anticlockwise seen from above, in degrees
    #[arg(long, value_name = "YAW", default_value_t = 0.0, allow_hyphen_values = true, value_parser = degrees)]
    rotate: f64,
    /// Then move, in metres
    #[arg(long, value_name = "x,y,z", allow_hyphen_values = true, value_parser = way)]
    translate: Option<[f64; 3]>,
    /// Side of a tile: 2^LOG2 lattice steps of 2^-12 m [default: chosen from the density]
    #[arg(long, value_name = "LOG2", value_parser = clap::value_parser!(u8).range(6..=26))]
    tile: Option<u8>,
    /// Replace an output file that is not a terrain image
    #[arg(long)]
    force: bool,
}

fn scale(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err("must be above zero".into()) }
}

fn degrees(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(|| "not a number of degrees".into())
}

fn way(text: &str) -> Result<[f64; 3], String> {
    let numbers: Option<Vec<f64>> =
        text.split(',').map(|n| n.trim().parse().ok().filter(|v: &f64| v.is_finite())).collect();
    numbers.and_then(|n| n.try_into().ok()).ok_or_else(|| "three numbers with commas between them, x,y,z".into())
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    args.files.iter().try_for_each(|file| import::check(file).map(drop))?;
    let first = &args.files[0];
    let output = match &args.output {
        Some(output) => output.clone(),
        None if args.files.len() == 1 => first.with_extension("hpan"),
        None => return Err(Failure::input(first, "several files make one image; name it with -o FILE.hpan")),
    };
    may_replace(&output, args)?;

    let start = Instant::now();
    let frame = Frame {
        up: args.up.unwrap_or_default(),
        unit: args.unit,
        scale: args.scale,
        rotate: args.rotate,
        translate: args.translate.unwrap_or_default(),
    };
    let Import { scene, report } = import::read(&args.files, &frame)?;
    report.notes().iter().for_each(|note| warn(shown(note)));
    suspect(first, &scene, &frame, args.up.is_some())?;
    let read = start.elapsed();

    let start = Instant::now();
    let options = Options { tile_log2: args.tile, ..Options::default() };
    let built = build(&scene, &options).map_err(|e| match e {
        BuildError::Empty if args.up.is_none() => {
            Failure::input(first, format!("{e}; if another axis than z points up, type --up y or --up x"))
        }
        e => Failure::build(first, e),
    })?;
    let made = start.elapsed();
    write_image(&output, &built.image)?;

    let terrain = Terrain::open(&built.image).map_err(|e| Failure::open(&output, e))?;
    let r = &built.report;
    let left_out = [
        (r.vertical, "vertical"),
        (r.collapsed, "collapsed to a line or a point"),
        (r.duplicates, "duplicates"),
        (r.outside, "outside the domain"),
    ];
    let left_out: Vec<String> =
        left_out.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", grouped(*n))).collect();
    let (triangles, bytes) = (terrain.header().triangles, built.image.len() as u64);
    writeln!(
        out,
        "{}: {} triangles, {} bytes ({:.1} a triangle)",
        output.display(),
        grouped(triangles),
        grouped(bytes),
        bytes as f64 / triangles as f64
    )?;
    if !left_out.is_empty() {
        writeln!(out, "left out of {} triangles: {}", grouped(r.triangles_in), left_out.join(", "))?;
    }
    let bound = terrain.bound();
    writeln!(
        out,
        "any query costs at most {} tests and {} lines of 64 bytes; at most {} layers",
        bound.tests,
        bound.lines,
        terrain.max_layers()
    )?;
    writeln!(out, "read in {:.2} s, built in {:.2} s; verified", read.as_secs_f64(), made.as_secs_f64())?;
    writeln!(out, "next: hardpan info {}", output.display())?;
    Ok(())
}

/// An image may be replaced; other people's files need a word.
fn may_replace(output: &Path, args: &Args) -> Done {
    let same = |a: &Path, b: &Path| matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b);
    if args.files.iter().any(|file| same(output, file)) {
        return Err(Failure::input(output, "the image would replace its own source; name another file with -o"));
    }
    if args.force || !output.exists() {
        return Ok(());
    }
    let mut start = Vec::new();
    let file = fs::File::open(output).map_err(|e| Failure::io(output, e))?;
    file.take(MAGIC.len() as u64).read_to_end(&mut start).map_err(|e| Failure::io(output, e))?;
    if start == MAGIC {
        return Ok(());
    }
    Err(Failure::input(output, "there is a file here that is not a terrain image; to replace it add --force"))
}

/// Axis and unit are not in the file: says so when they look wrong, and stops when nearly nothing could be driven on
/// and nobody said which axis is up.
fn suspect(file: &Path, scene: &Scene, frame: &Frame, typed: bool) -> Done {
    const AXES: [&str; 3] = ["x", "y", "z"];
    let shares = drivable_shares(scene, frame);
    let up = frame.up.to_string();
    let now = AXES.iter().position(|a| up.ends_with(a)).unwrap_or(2);
    let then =
        (0..3).filter(|&i| i != now).fold((now + 1) % 3, |best, i| if shares[i] > shares[best] { i } else { best });
    let [here, there] = [shares[now], shares[then]].map(|share| share * 100.0);
    let then = AXES[then];
    if here < 10.0 && there > here && !typed {
        let text = format!(
            "only {here:.0} % of the surface is less steep than 60 degrees with {up} up, {there:.0} % with {then} up; type --up {then}, or --up {up} if it is meant so"
        );
        return Err(Failure::input(file, text));
    }
    if there > 1.25 * here {
        warn(format!(
            "with {up} up {here:.0} % of the surface is less steep than 60 degrees, with {then} up {there:.0} %; if it lies on its side type --up {then}"
        ));
    }
    let mut extents = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
    for v in scene.triangles.iter().flat_map(|t| t.v).map(|v| scene.positions[v as usize]) {
        for (e, v) in extents.iter_mut().zip(v) {
            *e = [e[0].min(v), e[1].max(v)];
        }
    }
    let [x, y] = extents.map(|e| e[1] - e[0]);
    if x.max(y) < 0.5 {
        warn(format!("the ground is only {x:.3} by {y:.3} m large; check --unit and --scale"));
    }
    Ok(())
}

/// The share of the area that would be less steep than 60 degrees with the file's axes x, y and z up.
fn drivable_shares(scene: &Scene, frame: &Frame) -> [f64; 3] {
    let axes = frame.axes();
    let (mut all, mut drivable) = (0.0, [0.0; 3]);
    for t in &scene.triangles {
        let [a, b, c] = t.v.map(|v| scene.positions[v as usize]);
        let (u, v) = ([0, 1, 2].map(|i| b[i] - a[i]), [0, 1, 2].map(|i| c[i] - a[i]));
        let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        let area = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt();
        all += area;
        for (sum, d) in drivable.iter_mut().zip(axes) {
            let across = n[0] * d[0] + n[1] * d[1] + n[2] * d[2];
            *sum += if across.abs() > 0.5 * area { area } else { 0.0 };
        }
    }
    if all > 0.0 { drivable.map(|d| d / all) } else { [1.0; 3] }
}
