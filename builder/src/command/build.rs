//! `hardpan build`: a mesh file in, a verified image out.

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use hardpan::{Terrain, format::MAGIC};
use hardpan_builder::{Options, Scene, build};

use super::{Done, Failure, grouped, warn, write_image};
use crate::import::{self, Frame, Unit, Up};

#[derive(clap::Args)]
pub struct Args {
    /// Wavefront OBJ file
    file: PathBuf,
    /// Where the image goes [default: beside FILE, as FILE.hpan]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The axis that points up in FILE [default: z]
    #[arg(long, value_enum, value_name = "AXIS")]
    up: Option<Up>,
    /// The unit of the numbers in FILE
    #[arg(long, value_enum, default_value = "m")]
    unit: Unit,
    /// Multiply the numbers in FILE by this as well
    #[arg(long, default_value_t = 1.0, value_parser = scale)]
    scale: f64,
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

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let output = args.output.clone().unwrap_or_else(|| args.file.with_extension("hpan"));
    may_replace(&output, args)?;

    let start = Instant::now();
    let frame = Frame { up: args.up.unwrap_or(Up::Z), unit: args.unit, scale: args.scale };
    let import = import::read(&args.file, &frame)?;
    import.notes.iter().for_each(warn);
    suspect(&args.file, &import.scene, args.up)?;
    let read = start.elapsed();

    let start = Instant::now();
    let options = Options { tile_log2: args.tile, ..Options::default() };
    let built = build(&import.scene, &options).map_err(|e| Failure::build(&args.file, e))?;
    let made = start.elapsed();
    write_image(&output, &built.image)?;

    let terrain = Terrain::open(&built.image).map_err(|e| Failure::open(&output, e))?;
    let r = &built.report;
    for outlier in r.outliers.iter().take(8) {
        warn(format!("{}: outside the domain, left out: {outlier}", args.file.display()));
    }
    let left_out = [
        (r.vertical, "vertical"),
        (r.ceilings, "undersides of closed objects"),
        (r.obstacles, "obstacles"),
        (r.excluded, "of materials that are not included"),
        (r.steep, "too steep"),
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
    let s = &r.stitch;
    if s.joined + s.divided > 0 {
        writeln!(
            out,
            "gaps closed: {} vertices joined, {} triangles divided; nothing moved farther than {:.2} mm in plan and {:.2} mm in height",
            grouped(s.joined),
            grouped(s.divided),
            s.moved[0] * 1e3,
            s.moved[1] * 1e3
        )?;
    }
    if s.left > 0 {
        warn(format!(
            "{}: {} vertices could not be joined to the open edges beside them; wheels may find hairline gaps there",
            args.file.display(),
            grouped(s.left)
        ));
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
    if same(output, &args.file) {
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

/// Axis and unit are not in the file: says so when they look wrong, and stops when nearly nothing could be driven on.
fn suspect(file: &Path, scene: &Scene, up: Option<Up>) -> Done {
    let [drivable, other] = drivable_shares(scene);
    let (now, then) = match up {
        Some(Up::Y) => ("y", "z"),
        _ => ("z", "y"),
    };
    let percent = |share: f64| share * 100.0;
    if drivable < 0.1 && other > drivable && up.is_none() {
        let text = format!(
            "only {:.0} % of the surface is less steep than 60 degrees with {now} up, {:.0} % with {then} up; type --up {then}, or --up {now} if it is meant so",
            percent(drivable),
            percent(other)
        );
        return Err(Failure::input(file, text));
    }
    if other > 1.25 * drivable {
        warn(format!(
            "with {now} up {:.0} % of the surface is less steep than 60 degrees, with {then} up {:.0} %; if it lies on its side type --up {then}",
            percent(drivable),
            percent(other)
        ));
    }
    let mut extents = [f64::INFINITY, f64::NEG_INFINITY];
    for v in scene.triangles.iter().flat_map(|t| t.v).map(|v| scene.positions[v as usize]) {
        extents = [extents[0].min(v[0]).min(v[1]), extents[1].max(v[0]).max(v[1])];
    }
    let size = extents[1] - extents[0];
    if size < 0.5 {
        warn(format!("the ground is only {size:.3} m large; check --unit and --scale"));
    }
    Ok(())
}

/// The share of the area that is less steep than 60 degrees, with z up and, as the file stands now, with its other axis up.
fn drivable_shares(scene: &Scene) -> [f64; 2] {
    let (mut all, mut z_up, mut y_up) = (0.0, 0.0, 0.0);
    for t in &scene.triangles {
        let [a, b, c] = t.v.map(|v| scene.positions[v as usize]);
        let (u, v) = ([0, 1, 2].map(|i| b[i] - a[i]), [0, 1, 2].map(|i| c[i] - a[i]));
        let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        let area = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt();
        all += area;
        z_up += if n[2].abs() > 0.5 * area { area } else { 0.0 };
        y_up += if n[1].abs() > 0.5 * area { area } else { 0.0 };
    }
    if all > 0.0 { [z_up / all, y_up / all] } else { [1.0, 1.0] }
}
