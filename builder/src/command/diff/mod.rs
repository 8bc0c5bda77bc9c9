//! `hardpan diff`: what differs between two images, in bytes, in facts and on the ground.

mod drawing;
mod edges;
mod facts;
mod ground;
mod moved;
mod pairs;
mod places;
mod verdict;

use std::{io::Write, path::PathBuf};

use crate::import::file_name;
use serde_json::json;

use self::{
    drawing::Drawing,
    facts::{content_of, first_byte},
    ground::ground,
    moved::{Moved, Raised, Rounded},
    pairs::Both,
    verdict::Difference,
};
use super::{
    Done, Failure, Kind, NewFile, Replace, has_extension,
    info::hex,
    is_nowhere, load,
    maps::{self, Window},
    note,
    progress::stage,
    scale, shown, terrain,
};

#[derive(clap::Args)]
#[command(after_help = "\
Asked are every vertex and the middle of every triangle of both images; every place where an edge that only one has crosses one that only
the other has, up to 4,000,000, beyond which it is said that some are missing; places along the edges where the ground of only one ends, on
them and 1 mm and 1 cm beside; a place in each square of a grid; and with --png the middle of each pixel. So of triangles that cover each
place once the largest change of height is found, wherever it is: it lies at a vertex or at a crossing. Of more layers than one, of ground
lost and gained and of material, what is smaller than all that, and between the squares on a field of heights, is not seen.
The heights over one place are pairs from the top on if as many lie there in both, of the same materials in the same order and each no farther
than 0.5 m from where it was; or if all rose alike, by more than that not if one now has the height and material that another one had and most ground stayed.
Otherwise two are a pair if each is the nearest of the other, or if they are left over between the same pairs, of one material and no farther
than 0.5 m apart. Ground without a partner is lost or gained.
Areas are those of the squares whose place it is. Where in its square that lies is another for each row and column, so that strips along the
grid have their area, too: a finer --grid is nearer. What is no more at two places 8 mm away that face each other, as where all was moved by
a step or two of the lattice, has no area: it lies along an edge.
The first line says so if nine tenths of the heights that changed did so by the same, to a tenth and 1 mm, or two steps of the lattice (raised by
0.020 m everywhere), or if extents and nine tenths of the ground are the same but moved, or larger by one factor, as by a slip of units.
It says on how much of the ground, and what else is other, unless that is all ground, and nothing else is but along edges. So it does if half the
heights that changed did so by two steps of the lattice at most, as rounding to single precision makes them: --tolerance passes over those.
If at no place asked the ground is other, it says that, and what is (the ground is alike at all 1,109 places asked; other: error).
Equal means equal identity and equal content; sources and settings that were recorded beside it may differ.
With --tolerance, images are alike if at no place a height of a pair differs by more or ground is lost or gained, and materials with all that they
have, windows and what answers without ground are the same; how the ground is divided, its bytes, extents and sources may differ.
The map of --png shows what was found at all these places, but for ground lost or gained along edges alone; of heights the largest change
in each pixel, whichever layer has it. Ground lost and gained in one pixel has a colour of its own. Rings mark small changes, 36 at most, the
largest first: none along edges alone, nor, where a tenth of the ground is other, about heights that ground moved by 4 mm would have. Ground
that is as it was is drawn as relief.
Exit codes: 0 equal, or alike within the tolerance; 1 different; 2 an image that cannot be read or is damaged.")]
pub struct Args {
    /// Terrain image
    first: PathBuf,
    /// The image to hold against it
    second: PathBuf,
    /// Side of the grid's squares in metres [default: 1/500 of the longer side]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = pitch)]
    grid: Option<f64>,
    /// Heights that differ by no more count as equal; with exit code 0 if nothing else on the ground differs
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = tolerance)]
    tolerance: Option<f64>,
    /// Draw a map of the changes: heights and friction up and down by how much, ground lost and gained, other rolling
    /// resistance or gain, other material
    #[arg(long, value_name = "FILE.png")]
    png: Option<PathBuf>,
    /// The part to draw, in metres; some of it must lie where the images have ground [default: all]
    #[arg(long, value_name = "x0,y0,x1,y1", allow_hyphen_values = true, requires = "png")]
    window: Option<Window>,
    /// Pixels of the ground: the width, or width and height [default: 1600 on the longer side]
    #[arg(long, value_name = "W[xH]", value_parser = maps::size, conflicts_with = "per_metre", requires = "png")]
    size: Option<[Option<usize>; 2]>,
    /// Pixels a metre
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = maps::per_metre, requires = "png")]
    per_metre: Option<f64>,
    /// Changes of height at which the colours of the map end, metres, so that pictures with the same ends can be compared
    /// [default: the largest change, up and down]
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true, value_parser = range, requires = "png")]
    range: Option<[f64; 2]>,
    /// Replace a picture that hardpan did not draw
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
    let end = |v: f64| v == 0.0 || v >= scale::FINEST;
    let sane = |[low, high]: &[f64; 2]| end(-low) && end(*high) && low < high;
    scale::pair(text)
        .filter(sane)
        .ok_or_else(|| "LOW,HIGH, two changes of height with 0 between them, of 0.00001 m at least, as -0.5,0.5".into())
}

fn pitch(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if (1e-9..=1e9).contains(&value) { Ok(value) } else { Err("must be above zero, from 1e-9 to 1e9 m".into()) }
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let [first, second] = [&args.first, &args.second].map(|path| load(path).map(|image| (path, image)));
    let ((path_a, image_a), (path_b, image_b)) = (first?, second?);
    let (a, b) = (terrain(path_a, &image_a)?, terrain(path_b, &image_b)?);
    let first_byte = first_byte(&a, &b);
    let equal = a.identity() == b.identity() && content_of(&a).eq(content_of(&b));
    if let Some(place) = &args.png {
        if !has_extension(place, "png") && !is_nowhere(place) {
            return Err(Failure::input(place, "maps are PNG; name it FILE.png"));
        }
        Replace::PICTURE.or_any(args.force).check_made(place, Kind::PICTURE, [path_a, path_b])?;
    }
    let picture = match &args.png {
        Some(place) => {
            let view = drawing::view(&a, &b, args.window, args.size, args.per_metre);
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
        difference.picture = Some(json!({
            "file": place.to_string_lossy(), "ground_at": sheet.at, "pixels": [view.width, view.height],
            "window": view.window(), "metres_per_pixel": 1.0 / view.per_metre,
        }));
    }
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&difference).expect("names, numbers and lists"))?;
    } else {
        verdict::print(&difference, out)?;
        if let Some((place, (view, sheet))) = drawn {
            writeln!(out, "{}", sheet.said(place, view))?;
        }
    }
    if drawn.is_some_and(|(_, (_, sheet))| sheet.barren) {
        note(maps::missed(drawing::bounds(&a, &b)));
    }
    if equal || difference.alike == Some(true) { Ok(()) } else { Err(Failure::Different) }
}
