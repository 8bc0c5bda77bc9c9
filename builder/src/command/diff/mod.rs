//! `hardpan diff`: what differs between two images, or between an image and points of another tool.

mod points;
mod verdict;

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Done, Failure, Kind, NewFile, Replace, has_extension, is_nowhere, length::metres, load, note, progress::stage,
    shown, terrain, view,
};
use crate::{
    compare::{self, Options, Watch},
    draw::{
        changes::{Changes, bounds},
        frame::Sheet,
        view::{View, Window},
    },
    import::file_name,
};

#[derive(clap::Args)]
#[command(after_help = "\
Heights over one place are compared in pairs, and areas are counted by the squares of a grid. For the places, the pairs and what may be
missed see builder/docs/diff.md, \"Comparing two images\". With --tolerance images are alike if no height of a pair differs by more, and no
ground is lost or gained. Materials, windows and the answer without ground must be the same. Other facts and sources may differ.

A reference is FILE.csv, .tsv, .txt, or - for stdin, in metres, with a heading or as x,y,z[,mu]. At each point the ground nearest to its z
answers. All differences are the image less the reference. With --tolerance exit code 0 says that every point has ground no farther off.

  hardpan diff track.hpan measured.csv --tolerance 0.01 -o map.png

Exit codes: 0 equal, or alike within the tolerance; 1 different; 2 a file that cannot be read, or an image that is damaged.")]
pub struct Args {
    /// Terrain image
    first: PathBuf,
    /// The image to compare with it, or a reference: points of another tool, FILE.csv
    second: PathBuf,
    /// Columns of a reference by name, with commas or blanks between them as the file has: id,northing,easting,z
    #[arg(long, value_name = "NAME,...")]
    columns: Option<String>,
    /// Side of the grid's squares in metres [default: 1/500 of the longer side]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = side)]
    grid: Option<f64>,
    /// Heights that differ by no more count as equal; with exit code 0 if nothing else on the ground differs
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = tolerance)]
    tolerance: Option<f64>,
    /// Draw a map of the changes in height, friction, ground and material, or of the differences from a reference
    #[arg(short = 'o', long, value_name = "FILE.png")]
    png: Option<PathBuf>,
    /// The part to draw, in metres; some of it must lie where the images have ground [default: all]
    #[arg(long, value_name = "x0,y0,x1,y1", allow_hyphen_values = true, requires = "png")]
    window: Option<Window>,
    /// Pixels of the ground: the width, or width and height [default: 1600 on the longer side]
    #[arg(long, value_name = "W[xH]", value_parser = view::size, conflicts_with = "per_metre", requires = "png")]
    size: Option<[Option<usize>; 2]>,
    /// Pixels a metre
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = view::per_metre, requires = "png")]
    per_metre: Option<f64>,
    /// Changes of height at which the colours of the map end, metres [default: the largest change, up and down]
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true, value_parser = range, requires = "png")]
    range: Option<[f64; 2]>,
    /// Write what each point of a reference has in the image, and the differences, as CSV
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Replace a picture that hardpan did not draw, or the table of --csv
    #[arg(long)]
    force: bool,
    /// Print the facts as JSON
    #[arg(long)]
    json: bool,
}

fn side(text: &str) -> Result<f64, String> {
    let side = metres(text).filter(|v| (1e-9..=1e9).contains(v));
    side.ok_or_else(|| "must be a length above zero, as in 0.5 or 50cm".into())
}

fn tolerance(text: &str) -> Result<f64, String> {
    let value = metres(text).filter(|v| *v >= 0.0);
    value.ok_or_else(|| "must be a length, 0 or more, as in 0.01 or 1cm".into())
}

fn range(text: &str) -> Result<[f64; 2], String> {
    let end = |v: f64| v == 0.0 || v >= view::FINEST;
    let sane = |[low, high]: &[f64; 2]| end(-low) && end(*high) && low < high;
    view::numbers(text)
        .filter(sane)
        .ok_or_else(|| "LOW,HIGH, two changes of height with 0 between them, of 0.00001 m at least, as -0.5,0.5".into())
}

/// Whether a name is that of a table, not of an image; `-` is stdin.
fn is_table(path: &Path) -> bool {
    path == Path::new("-") || ["csv", "tsv", "txt"].iter().any(|end| has_extension(path, end))
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    if is_table(&args.first) && args.first != Path::new("-") {
        return Err(Failure::input(&args.first, "a reference comes second: hardpan diff IMAGE.hpan FILE.csv"));
    } else if is_table(&args.second) {
        return points::run(args, out);
    } else if args.csv.is_some() {
        let text = "--csv lists the points of a reference, FILE.csv, but this is not one; for two images use --json";
        return Err(Failure::input(&args.second, text));
    }
    let [first, second] = [&args.first, &args.second].map(|path| load(path).map(|image| (path, image)));
    let ((path_a, image_a), (path_b, image_b)) = (first?, second?);
    let (a, b) = (terrain(path_a, &image_a)?, terrain(path_b, &image_b)?);
    let images = [&a, &b];
    check_map(args)?;
    let changes = |place| {
        let view = view::view(bounds(images), args.window, args.size, args.per_metre);
        view.map(Changes::new).map_err(|e| Failure::input(place, e))
    };
    let changes = args.png.as_deref().map(changes).transpose()?;
    let options = Options { tolerance: args.tolerance, grid: args.grid };
    let watch = changes.as_ref().map(|changes| changes as &dyn Watch);
    let difference = stage("comparing", || compare::watched(&a, &b, &options, watch)).0;
    let difference = difference.map_err(|e| Failure::Input(format!("{e}; try --grid {}", e.fits)))?;
    let sheet = changes.map(|changes| {
        let title = [path_a, path_b].map(|path| shown(&file_name(path))).join(" -> ");
        let view = changes.view;
        let draw = || changes.draw(images, difference.ground.as_ref(), args.range, &title);
        (view, stage("drawing", draw).0)
    });
    say(args, &difference, |out| verdict::print(&difference, args.png.is_some(), out), sheet.as_ref(), out)?;
    if sheet.is_some_and(|(_, sheet)| sheet.barren) {
        note(view::barren(bounds(images)));
    }
    if difference.equal || difference.alike == Some(true) { Ok(()) } else { Err(Failure::Different) }
}

/// Stops where a map cannot be written, or may not.
fn check_map(args: &Args) -> Done {
    let Some(place) = &args.png else { return Ok(()) };
    if !has_extension(place, "png") && !is_nowhere(place) {
        return Err(Failure::input(place, "maps are PNG; name it FILE.png"));
    }
    Replace::PICTURE.or_any(args.force).check_made(place, Kind::PICTURE, [&args.first, &args.second])
}

/// Writes the picture, and says what was found, as text by `print`.
fn say<W: Write>(
    args: &Args,
    found: &impl Serialize,
    print: impl FnOnce(&mut W) -> Done,
    sheet: Option<&(View, Sheet)>,
    out: &mut W,
) -> Done {
    #[derive(Serialize)]
    struct Said<'f, F: Serialize> {
        #[serde(flatten)]
        found: &'f F,
        picture: Option<Value>,
    }
    let drawn = args.png.as_ref().zip(sheet);
    if let Some((place, (_, sheet))) = drawn {
        NewFile::write(place, &sheet.canvas.png()?)?.keep()?;
    }
    if args.json {
        let picture = drawn.map(|(place, (view, sheet))| {
            json!({
                "file": place.to_string_lossy(), "ground_at": sheet.at, "pixels": [view.width, view.height],
                "window": view.window(), "metres_per_pixel": 1.0 / view.per_metre,
            })
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&Said { found, picture }).expect("names, numbers and lists"))?;
        return Ok(());
    }
    print(out)?;
    if let Some((place, (view, sheet))) = drawn {
        writeln!(out, "{}", sheet.caption(place, view))?;
    }
    Ok(())
}
