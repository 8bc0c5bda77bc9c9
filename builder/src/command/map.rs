//! `hardpan export png`: maps of an image.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use hardpan::Terrain;
use serde_json::json;

use super::{
    Done, Failure, Kind, NewFile, Replace,
    export::beside,
    has_extension, is_nowhere,
    length::within,
    load, make_folder, note,
    progress::stage,
    shown, terrain,
    view::{self, Range},
};
use crate::check::ground::pairs::ALL;
use crate::draw::maps::{Map, Wish};
use crate::draw::view::{View, Window};
use crate::draw::{maps, materials};
use crate::import::file_name;
use crate::util::text::first;

/// Most names that a note lists.
const NAMES: usize = 14;

#[derive(clap::Args)]
#[command(after_help = kinds())]
pub struct Args {
    /// A terrain image
    image: PathBuf,
    /// Which maps, with commas between them
    #[arg(long, value_parser = view::maps(), hide_possible_values = true, ignore_case = true, value_delimiter = ',', default_value = "relief", value_name = "MAP,...")]
    map: Vec<Vec<Map>>,
    /// Where colours begin and end, to compare pictures; of several maps mu=0,1 [default: as in the picture]
    #[arg(long, value_name = "[MAP=]LOW,HIGH", allow_hyphen_values = true, value_parser = view::range)]
    range: Vec<Range>,
    /// Where they go: a file for one map, else a folder [default: beside IMAGE, as IMAGE-MAP.png]
    #[arg(short, long, value_name = "FILE.png|FOLDER")]
    output: Option<PathBuf>,
    /// The part to draw, in metres; some of it must lie where the image has ground [default: all]
    #[arg(long, value_name = "x0,y0,x1,y1", allow_hyphen_values = true)]
    window: Option<Window>,
    /// Pixels of the ground: the width, or width and height [default: 1600 on the longer side]
    #[arg(long, value_name = "W[xH]", value_parser = view::size, conflicts_with = "per_metre")]
    size: Option<[Option<usize>; 2]>,
    /// Pixels a metre
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = view::per_metre)]
    per_metre: Option<f64>,
    /// Only ground at this height or above, metres: a bridge without the road under it
    #[arg(long, value_name = "Z", allow_hyphen_values = true, value_parser = view::height)]
    above: Option<f64>,
    /// Only ground at this height or below, metres: the road under a bridge
    #[arg(long, value_name = "Z", allow_hyphen_values = true, value_parser = view::height)]
    below: Option<f64>,
    /// List gaps of up to this width on the map holes [default: 0.25, or 1.5 pixels if that is more]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = |text: &str| within(text, [0.001, 100.0]))]
    max_gap: Option<f64>,
    /// Show steps higher than this on the map holes, kerbs included
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = |text: &str| within(text, [0.0001, 100.0]))]
    max_step: Option<f64>,
    /// Replace existing files that hardpan did not draw
    #[arg(long)]
    force: bool,
    /// Print what was written as JSON, with up to 1000 holes, gaps and steps
    #[arg(long)]
    json: bool,
}

/// Kinds of maps.
fn kinds() -> String {
    let lines = Map::ALL.map(|map| format!("  {:<10} {}", map.name(), map.entry().shows));
    format!("Maps:\n{}\n  {:<10} Every one of these", lines.join("\n"), "all")
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let wanted = wanted(args);
    let ranges = view::ranges(&wanted, &args.range).map_err(|e| Failure::input(&args.image, e))?;
    let image = load(&args.image)?;
    let t = terrain(&args.image, &image)?;
    let view = checked_view(args, &t, &wanted).map_err(|e| Failure::input(&args.image, e))?;
    let places = places(args, &wanted)?;
    for place in &places {
        Replace::PICTURE.or_any(args.force).check_made(place, Kind::PICTURE, [&args.image])?;
    }
    let title = shown(&file_name(&args.image));
    let mut barren = false;
    let mut facts = Vec::new();
    for ((&map, range), place) in wanted.iter().zip(ranges).zip(&places) {
        let wish = Wish { range, max_gap: args.max_gap, max_step: args.max_step };
        let (sheet, time) = stage(map.name(), || maps::draw(&t, map, &view, wish, &title));
        let (written, _) = stage("writing", || -> Done { Ok(NewFile::write(place, &sheet.canvas.png()?)?.keep()?) });
        written?;
        barren |= sheet.barren;
        if args.json {
            facts.push(json!({
                "map": map.name(), "file": place.to_string_lossy(),
                "width": sheet.canvas.width, "height": sheet.canvas.height,
                "ground_at": sheet.at, "pixels": [view.width, view.height],
                "window": view.window(), "above": args.above, "below": args.below, "metres_per_pixel": 1.0 / view.per_metre,
                "facts": sheet.facts, "seconds": time.as_secs_f64(),
            }));
        } else {
            writeln!(out, "{}", sheet.caption(place, &view))?;
            sheet.details.iter().try_for_each(|line| writeln!(out, "  {line}"))?;
        }
    }
    if args.json {
        writeln!(out, "{:#}", json!(facts))?;
    } else if places.len() == 1 && wanted == [Map::Relief] {
        note(format!("other maps: --map {}, or all", Map::ALL.map(Map::name).join(",")));
    }
    if wanted.contains(&Map::Materials) {
        note_spellings(&t);
    }
    if barren {
        note(view::barren(t.bounds()));
    }
    Ok(())
}

/// The maps that are asked for, each once.
fn wanted(args: &Args) -> Vec<Map> {
    let mut wanted: Vec<Map> = Vec::new();
    for map in args.map.iter().flatten() {
        if !wanted.contains(map) {
            wanted.push(*map);
        }
    }
    if wanted.len() == Map::ALL.len() && (args.above.is_some() || args.below.is_some()) {
        wanted.retain(|map| *map != Map::Cost); // which is of all heights
    }
    wanted
}

/// The view of a map, or the reason why there is none.
fn checked_view(args: &Args, t: &Terrain, wanted: &[Map]) -> Result<View, String> {
    let heights = [args.above.unwrap_or(ALL[0]), args.below.unwrap_or(ALL[1])];
    let text = if heights[0] > heights[1] {
        "no ground is above --above and below --below; to look at heights between two, give the lower one to --above"
    } else if heights != ALL && wanted.contains(&Map::Cost) {
        "the map cost counts all heights; leave it out, or --above and --below"
    } else if (args.max_gap.is_some() || args.max_step.is_some()) && !wanted.contains(&Map::Holes) {
        "no map but holes shows gaps and steps; add --map holes, or leave --max-gap and --max-step out"
    } else {
        let view = view::view(t.bounds(), args.window, args.size, args.per_metre)?;
        return Ok(View { heights, ..view });
    };
    Err(text.into())
}

/// Where the maps go.
fn places(args: &Args, wanted: &[Map]) -> Done<Vec<PathBuf>> {
    let called = |map: Map| beside(&args.image, &format!("-{}.png", map.name()));
    let within = |folder: &Path| -> Vec<PathBuf> {
        wanted.iter().map(|&map| folder.join(called(map).file_name().unwrap_or_default())).collect()
    };
    let Some(place) = &args.output else { return Ok(wanted.iter().map(|&map| called(map)).collect()) };
    let (one, png) = (wanted.len() == 1, has_extension(place, "png"));
    if place.is_dir() {
        return Ok(within(place));
    }
    if one && (png || is_nowhere(place)) {
        return Ok(vec![place.clone()]);
    }
    if place.exists() || png || one && place.extension().is_some() {
        return Err(Failure::input(place, "one map goes into FILE.png, several go into a folder; name that with -o"));
    }
    make_folder(place, "name a folder with -o")?;
    Ok(within(place))
}

/// Notes which names of materials the legend spells in other letters.
fn note_spellings(t: &Terrain) {
    let all = materials::respelt(t);
    let each = all.iter().map(|[legend, name]| format!("{legend} is {name}"));
    if !all.is_empty() {
        let names = first(each, all.len() as u64, NAMES);
        note(format!("names of materials are drawn in letters that the picture has: {names}"));
    }
}
