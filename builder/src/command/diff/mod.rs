//! `hardpan diff`: what differs between two images, in bytes, in facts and on the ground; or between an image and points of another
//! tool.

mod dots;
mod drawing;
mod edges;
mod facts;
mod ground;
mod moved;
mod pairs;
mod places;
mod points;
mod reference;
mod verdict;

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use crate::import::file_name;
use serde_json::{Value, json};

use self::{
    drawing::Drawing,
    facts::{content_of, first_byte},
    ground::ground,
    moved::{Moved, Raised, Rounded},
    pairs::Both,
    reference::is_table,
    verdict::Difference,
};
use super::{
    Done, Failure, Kind, NewFile, Replace, has_extension, info::hex, is_nowhere, load, note, progress::stage, shown,
    terrain, view,
};
use crate::draw::{
    frame::Sheet,
    view::{View, Window},
};

#[derive(clap::Args)]
#[command(after_help = "\
Of two images are asked: every vertex and the middle of every triangle; places where edges cross that only one has, 4,000,000 at most; places
along edges where the ground of only one ends; one place in each square of a grid, by which areas are counted; each pixel of --png. So of
triangles that cover each place once the largest change of height is found. What is smaller than all that may be missed: of several layers,
of ground lost and gained, of material, and between the squares on a field of heights. What makes heights over one place a pair: builder/docs/diff.md,
\"Comparing two images\". With --tolerance, images are alike if no height of a pair differs by more, no ground is lost or gained, and
materials with all that they have, windows and what answers without ground are the same; division, bytes, extents and sources may differ.

A reference is points of another tool: FILE.csv, .tsv, .txt, or - for stdin. A heading names x, y, z and, if there is friction, mu; without
one the columns are x,y,z[,mu]. Metres; semicolons, tabs and decimal commas as for query. At each point the ground nearest to its z answers,
and all differences are the image less the reference. Percentiles are without signs. With --tolerance, exit code 0 says that every point has
ground no farther off; without it, that some point has ground. Points with a number that is blank or NaN are counted; mu is told alone.

  hardpan diff track.hpan measured.csv --tolerance 0.01 -o map.png

Exit codes: 0 equal, or alike within the tolerance; 1 different; 2 a file that cannot be read, or an image that is damaged.")]
pub struct Args {
    /// Terrain image
    first: PathBuf,
    /// The image to hold against it, or a reference: points of another tool, FILE.csv
    second: PathBuf,
    /// Side of the grid's squares in metres [default: 1/500 of the longer side]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = pitch)]
    grid: Option<f64>,
    /// Heights that differ by no more count as equal; with exit code 0 if nothing else on the ground differs
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = tolerance)]
    tolerance: Option<f64>,
    /// Draw a map of the changes: heights and friction up and down by how much, ground lost and gained, other rolling
    /// resistance or gain, other material; of a reference the differences in height
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
    /// Changes of height at which the colours of the map end, metres, so that pictures with the same ends can be compared
    /// [default: the largest change, up and down]
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

fn tolerance(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|v: &f64| *v >= 0.0 && v.is_finite());
    value.ok_or_else(|| "must be a number of metres, 0 or more".into())
}

fn range(text: &str) -> Result<[f64; 2], String> {
    let end = |v: f64| v == 0.0 || v >= view::FINEST;
    let sane = |[low, high]: &[f64; 2]| end(-low) && end(*high) && low < high;
    view::pair(text)
        .filter(sane)
        .ok_or_else(|| "LOW,HIGH, two changes of height with 0 between them, of 0.00001 m at least, as -0.5,0.5".into())
}

fn pitch(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if (1e-9..=1e9).contains(&value) { Ok(value) } else { Err("must be above zero, from 1e-9 to 1e9 m".into()) }
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    if is_table(&args.first) && args.first != Path::new("-") {
        return Err(Failure::input(&args.first, "a reference comes second: hardpan diff IMAGE.hpan FILE.csv"));
    } else if is_table(&args.second) {
        return points::run(args, out);
    } else if args.csv.is_some() {
        let text = "--csv is of the points of a reference, FILE.csv, and this is none; of two images: --json";
        return Err(Failure::input(&args.second, text));
    }
    let [first, second] = [&args.first, &args.second].map(|path| load(path).map(|image| (path, image)));
    let ((path_a, image_a), (path_b, image_b)) = (first?, second?);
    let (a, b) = (terrain(path_a, &image_a)?, terrain(path_b, &image_b)?);
    let first_byte = first_byte(&a, &b);
    let equal = a.identity() == b.identity() && content_of(&a).eq(content_of(&b));
    check_map(args)?;
    let picture = match &args.png {
        Some(place) => {
            let view = view::view(drawing::bounds(&a, &b), args.window, args.size, args.per_metre);
            Some(Drawing::new(view.map_err(|e| Failure::input(place, e))?))
        }
        None => None,
    };
    let both = Both::new([&a, &b], args.tolerance.unwrap_or(0.0));
    let looked = match &picture {
        Some(picture) if equal => Some(picture.unchanged(&both)),
        None if equal => None,
        picture => Some(stage("comparing", || ground(&both, args.grid, picture.as_ref())).0?),
    };
    let sheet = picture.zip(looked.as_ref()).map(|(picture, ground)| {
        let title = [path_a, path_b].map(|path| shown(&file_name(path))).join(" -> ");
        (picture.view, stage("drawing", || picture.draw(&both, ground, args.range, &title)).0)
    });
    let materials = facts::materials(&a, &b);
    let mut looked = looked.filter(|_| !equal);
    let find = || stage("looking whether all is moved", || Moved::of(&both, &materials, args.grid)).0;
    let moved = if equal { None } else { find()? };
    if let Some(ground) = &mut looked {
        ground.raised = Raised::of(ground, &both, &materials);
        ground.rounded = Rounded::of(ground, &both, &materials);
    }
    let mut difference = Difference {
        equal,
        alike: None,
        identity: [&a, &b].map(|t| hex(&t.identity())),
        moved,
        facts: facts::facts(&a, &b),
        sources: facts::sources(&a, &b),
        materials,
        first_byte,
        ground: looked,
        picture: None,
    };
    difference.alike = args.tolerance.map(|_| difference.alike());
    let drawn = args.png.as_ref().zip(sheet.as_ref());
    if let Some((place, (view, sheet))) = drawn {
        NewFile::write(place, &sheet.canvas.png()?)?.keep()?;
        difference.picture = Some(picture_facts(place, view, sheet));
    }
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&difference).expect("names, numbers and lists"))?;
    } else {
        verdict::print(&difference, out)?;
        if let Some((place, (view, sheet))) = drawn {
            writeln!(out, "{}", sheet.caption(place, view))?;
        }
    }
    if drawn.is_some_and(|(_, (_, sheet))| sheet.barren) {
        note(view::barren(drawing::bounds(&a, &b)));
    }
    if equal || difference.alike == Some(true) { Ok(()) } else { Err(Failure::Different) }
}

/// Stops where a map cannot be written, or may not.
fn check_map(args: &Args) -> Done {
    let Some(place) = &args.png else { return Ok(()) };
    if !has_extension(place, "png") && !is_nowhere(place) {
        return Err(Failure::input(place, "maps are PNG; name it FILE.png"));
    }
    Replace::PICTURE.or_any(args.force).check_made(place, Kind::PICTURE, [&args.first, &args.second])
}

/// A picture that was written, for programs.
fn picture_facts(place: &Path, view: &View, sheet: &Sheet) -> Value {
    json!({
        "file": place.to_string_lossy(), "ground_at": sheet.at, "pixels": [view.width, view.height],
        "window": view.window(), "metres_per_pixel": 1.0 / view.per_metre,
    })
}
