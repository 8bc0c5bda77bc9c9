//! `hardpan export`: what the kernel sees, as OBJ; and, by `map`, as maps.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use crate::export::debug::Debug;
use crate::export::{Obj, Texts};
use crate::image::as_source::{mu_by_default, provenance, recorded, settings_again};
use crate::image::decode;
use crate::image::materials::ground as ground_of;
use crate::image::provenance::Input;
use crate::import::file_name;
use crate::settings::Settings;
use crate::util::text::{hex, metres};
use hardpan::Terrain;
use serde_json::{Value, json};

use super::{
    Done, Failure, Kind, NewFile, Replace, counted, debug, few, has_extension, is_nowhere, load, map, named, note,
    progress::stage, quoted, shown, terrain, warn,
};
use crate::draw::materials;

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// The ground's triangles as OBJ, MTL and settings, from which the same image is built again
    Obj(ObjArgs),
    /// Maps as PNG
    Png(map::Args),
    /// The highest ground on squares as GeoTIFF
    Tif(TifArgs),
    /// An unknown form
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

#[derive(clap::Args)]
#[command(after_help = "\
The same image again, with the same identity:
  hardpan export obj town.hpan                       write town-ground.obj, .mtl and .toml
  hardpan build --settings town-ground.toml          make town-ground.hpan
The settings state no mu that nobody stated before: such materials are named, and a build warns of them, or fails with --strict")]
struct ObjArgs {
    /// A terrain image
    image: PathBuf,
    /// Where the triangles go; MTL and TOML of the same name go beside it [default: beside IMAGE, as IMAGE-ground.obj]
    #[arg(short, long, value_name = "FILE.obj")]
    output: Option<PathBuf>,
    /// Measure x, y and z from the middle of the ground, in whole metres, for programs of single precision. The
    /// settings move it back, and so does --translate with other settings
    #[arg(long, conflicts_with_all = ["cells", "pins", "origin"])]
    local: bool,
    /// Draw each cell of the index as a box, coloured by its number of triangles. With this, --pins or --origin the OBJ
    /// is only to look at, and has no settings [default: IMAGE-debug.obj]
    #[arg(long, visible_alias = "leaves")]
    cells: bool,
    /// Ask for the topmost ground at N by M places, and draw a red line along its normal at each
    #[arg(long, value_name = "N[,M]", value_parser = debug::pins)]
    pins: Option<Pins>,
    /// Draw the axes x, y and z from the zero, this many metres long
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = debug::size)]
    origin: Option<f64>,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
    /// Do not build the image again from what is written to prove that its identity is the same
    #[arg(long, conflicts_with_all = ["cells", "pins", "origin"])]
    unproven: bool,
    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
The file has the plane of the image, and heights as queries answer, at the centres of squares. By default these are the posts of the
image's height field. For other rules and forms see hardpan grid --help.")]
struct TifArgs {
    /// A terrain image
    image: PathBuf,
    /// Where the heights go [default: beside IMAGE, as IMAGE-heights.tif]
    #[arg(short, long, value_name = "FILE.tif")]
    output: Option<PathBuf>,
    /// Side of a square, metres [default: the way from post to post of the image's height fields]
    #[arg(long, value_name = "METRES")]
    cell: Option<f64>,
    /// Squares of this extent: least and greatest x and y
    #[arg(long, value_name = "x,y,x,y", allow_hyphen_values = true, requires = "cell")]
    extent: Option<String>,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
    /// Print facts as JSON
    #[arg(long)]
    json: bool,
}

/// How many along x and y.
type Pins = [u32; 2];

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    match &args.what {
        What::Obj(args) => obj(args, out),
        What::Png(args) => map::run(args, out),
        What::Tif(args) => tif(args, out),
        What::Other(words) => {
            let word = Path::new(words.first().map_or(OsStr::new(""), |w| w));
            let image = if word.exists() || has_extension(word, "hpan") { word } else { Path::new("FILE.hpan") };
            let typed = ["png", "obj"].map(|kind| format!("hardpan export {kind} {}", quoted(image)));
            let text = format!("say what to export; maps: {}; triangles: {}", typed[0], typed[1]);
            Err(Failure::input(word, text))
        }
    }
}

/// Heights as `grid` writes them, at posts where there are some.
fn tif(args: &TifArgs, out: &mut impl Write) -> Done {
    let image = load(&args.image)?;
    let t = terrain(&args.image, &image)?;
    let place = args.output.clone().unwrap_or_else(|| beside(&args.image, "-heights.tif"));
    if !has_extension(&place, "tif") {
        return Err(Failure::input(&place, "a GeoTIFF is called FILE.tif"));
    }
    not_a_source(&place, &t)?;
    let (cell, extent) = match (args.cell, posts(&t)) {
        (Some(cell), _) => (cell, args.extent.clone()),
        (None, Some((cell, extent))) => (cell, Some(extent.map(|v| v.to_string()).join(","))),
        (None, None) => {
            let text = "it has no height fields of one distance of posts; say the side of a square: --cell 1";
            return Err(Failure::input(&args.image, text));
        }
    };
    let mut typed: Vec<OsString> = vec![args.image.clone().into(), format!("--cell={cell}").into(), "-o".into()];
    typed.push(place.into());
    typed.extend(extent.map(|extent| format!("--extent={extent}").into()));
    let flags = [(args.force, "--force"), (args.json, "--json")];
    typed.extend(flags.into_iter().filter(|(is, _)| *is).map(|(_, flag)| flag.into()));
    super::grid::geotiff(&typed, out)
}

/// The way from post to post of all height fields, and the extent of squares about posts that all ground lies in.
fn posts(t: &Terrain) -> Option<(f64, [f64; 4])> {
    let fields = decode::fields(t);
    let first = fields.first().filter(|first| fields.iter().all(|f| f.pitch == first.pitch))?;
    let (pitch, [low, high]) = (first.pitch, t.bounds());
    let ends = [0, 1].map(|k| {
        let zero = first.origin[k] - pitch / 2.0;
        let before = ((zero - low[k]) / pitch - 1e-3).ceil().max(0.0);
        let count = ((high[k] - zero) / pitch - 1e-3).ceil();
        [zero - before * pitch, zero + count * pitch]
    });
    Some((pitch, [ends[0][0], ends[1][0], ends[0][1], ends[1][1]]))
}

/// A file beside the image, called after it.
pub fn beside(image: &Path, end: &str) -> PathBuf {
    let mut name = image.file_stem().unwrap_or_default().to_os_string();
    name.push(end);
    image.with_file_name(name)
}

/// Stops if a file is one that the image was built from, whatever it is called now.
pub fn not_a_source(place: &Path, t: &Terrain) -> Done {
    if !place.is_file() {
        return Ok(());
    }
    let known = provenance(t).unwrap_or_default();
    let here = fs::File::open(place).and_then(|file| Input::digest(file_name(place), file));
    let here = here.map_err(|e| Failure::io(place, e))?;
    if known.inputs.iter().any(|input| input.sha256 == here.sha256) {
        return Err(Failure::input(place, "the image was built from this very file; name another one with -o"));
    }
    Ok(())
}

/// Draws lines beside the ground, if there are any.
fn drawn(args: &ObjArgs) -> Option<Debug> {
    let asked = args.cells || args.pins.is_some() || args.origin.is_some();
    asked.then(|| Debug {
        cells: args.cells,
        pins: args.pins.unwrap_or_default(),
        origin: args.origin.unwrap_or_default(),
    })
}

fn to_look_at(args: &ObjArgs, wish: &Debug, t: &Terrain, out: &mut impl Write) -> Done {
    let place = args.output.clone().unwrap_or_else(|| beside(&args.image, "-debug.obj"));
    let library = debug::library(&place, args.force, [&args.image])?;
    for file in [&place, &library] {
        not_a_source(file, t)?;
    }
    let (files, drawn) = stage("writing", || debug::make(t, wish, &place, &library)).0?;
    files.into_iter().try_for_each(NewFile::keep)?;
    if args.json {
        let pins = args.pins.map(|pins| json!({ "asked": pins, "found": drawn.pins }));
        let identity = hex(&t.identity());
        let facts = json!({
            "obj": place.to_string_lossy(), "mtl": library.to_string_lossy(), "triangles": drawn.triangles,
            "cells": args.cells.then_some(drawn.cells), "pins": pins, "origin": args.origin, "identity": identity,
        });
        return Ok(writeln!(out, "{facts:#}")?);
    }
    Ok(writeln!(out, "{}", debug::said(&place, &library, wish, &drawn))?)
}

fn obj(args: &ObjArgs, out: &mut impl Write) -> Done {
    let image = load(&args.image)?;
    let t = terrain(&args.image, &image)?;
    if let Some(wish) = drawn(args) {
        return to_look_at(args, &wish, &t, out);
    }
    let place = args.output.clone().unwrap_or_else(|| beside(&args.image, "-ground.obj"));
    let places = debug::files(&place, ["obj", "mtl", "toml"])?;
    for file in &places {
        not_a_source(file, &t)?;
        Replace::None.or_any(args.force).check_made(file, Kind::MESH, [&args.image])?;
    }
    let mut ground = Obj::new(&t).map_err(|e| {
        let hint = "to keep the image as it is, keep its .hpan file";
        Failure::unsupported(&args.image, shown(&format!("{e}; {hint}")))
    })?;
    if args.local {
        ground.local();
    }
    let settings = ground.settings(&settings_again(&t), &file_name(&place));
    let export = Export { args, t: &t, ground: &ground, places: &places, identity: hex(&t.identity()) };
    let colours = materials::colours(&t);
    let colour = |m: u16| colours[usize::from(m)].map(|c| f64::from(c) / 255.0);
    let [place, library, toml] = &places;
    let (texts, _) = stage("writing", || ground.texts(&export.head(), &file_name(library), colour, &settings));
    let texts = texts.map_err(|e| Failure::write(place, e))?;
    // what takes memory comes before there are files: where memory is refused the program ends at once, and nothing
    // would take them away
    let proven = !args.unproven && ground.fields_off.is_none() && export.prove(&texts)?;
    let files = [(place, &texts.mesh[..]), (library, &texts.library), (toml, texts.settings.as_bytes())];
    let files = files.map(|(place, text)| NewFile::write_checked(place, text));
    let files: Vec<NewFile> = files.into_iter().collect::<Result<_, _>>()?;
    files.into_iter().try_for_each(NewFile::keep)?;
    export.note_precision();
    if args.json { Ok(writeln!(out, "{:#}", export.facts(proven))?) } else { export.print(&settings, proven, out) }
}

/// The ground as OBJ, MTL and TOML.
struct Export<'a> {
    args: &'a ObjArgs,
    t: &'a Terrain<'a>,
    ground: &'a Obj<'a>,
    places: &'a [PathBuf; 3],
    identity: String,
}

impl Export<'_> {
    /// `12 triangles, 8 vertices`.
    fn counts(&self) -> String {
        let [triangles, vertices] = [self.ground.triangles.len(), self.ground.vertices.len()].map(|n| n as u64);
        let walls = match self.ground.walls.len() as u64 {
            0 => String::new(),
            n => format!(", {}", counted(n, "wall")),
        };
        format!("{}{walls}, {}", counted(triangles, "triangle"), counted(vertices, "vertex"))
    }

    /// Where the file's zero is, and what moves the mesh back.
    fn zero(&self, back: &str) -> String {
        let [east, north, up] = self.ground.offset;
        format!("zero is at {east}, {north}, {up} m; {back}: --translate {east},{north},{up}")
    }

    /// The first lines of the files.
    fn head(&self) -> String {
        let again = match self.ground.fields_off {
            Some([_, off]) => {
                format!("Cells of heights are two triangles each, up to {} off between posts", metres(off))
            }
            None => {
                let settings = quoted(Path::new(self.places[2].file_name().unwrap_or_default()));
                format!("To build it again: hardpan build --settings {settings}")
            }
        };
        let mut head = format!(
            "The ground of {} as the kernel sees it: {}; metres, z up\nidentity {}\n{again}",
            shown(&file_name(&self.args.image)),
            self.counts(),
            self.identity,
        );
        if self.args.local {
            head += &format!("\nIts {}", self.zero("those settings move it back, or"));
        }
        head
    }

    /// Whether the files build the same image again; an error if they should, and do not.
    fn prove(&self, texts: &Texts) -> Done<bool> {
        let fault =
            "this is a fault of hardpan, please report it: nothing was written (--unproven writes them all the same)";
        let [place, ..] = self.places;
        let (again, _) = stage("building it again", || texts.identity(place));
        let again = again.map_err(|e| Failure::check(place, format!("{e}; {fault}")))?;
        let proven = again == self.t.identity();
        let known = recorded(self.t);
        if !proven && known.as_ref().is_some_and(|known| !self.ground.says_all_walls(known)) {
            let text = "some of its obstacles are faces that an OBJ cannot tell from ground: an image of it has them as ground";
            warn(format!("{}: {text}", named(&self.args.image)));
            return Ok(false);
        }
        if !proven && known.is_some() {
            let text = "an image of these triangles would have another identity";
            return Err(Failure::check(place, format!("{text}; {fault}")));
        }
        if !proven {
            let text =
                "the image records no build options: one that is built of these triangles is divided in another way";
            warn(format!("{}: {text}", named(&self.args.image)));
        }
        Ok(proven)
    }

    /// How far single precision moves vertices, metres.
    fn moved(&self) -> f64 {
        self.ground.moved_by_f32().into_iter().fold(0.0, f64::max)
    }

    fn note_precision(&self) {
        // less than half a step the lattice takes back
        let mut by_axis = self.ground.moved_by_f32().into_iter().zip(self.ground.steps());
        if by_axis.any(|(moved, step)| moved >= step / 2.0) {
            let hint = if self.args.local { "" } else { "; --local writes them about the middle of the ground" };
            let text =
                "its numbers are so large that single precision, in which many programs read them, moves vertices";
            note(format!("{}: {text} by up to {}{hint}", named(&self.places[0]), metres(self.moved())));
        }
    }

    fn facts(&self, proven: bool) -> Value {
        let [obj, mtl, settings] = self.places.each_ref().map(|place| place.to_string_lossy());
        json!({
            "obj": obj, "mtl": mtl, "settings": settings, "triangles": self.ground.triangles.len(),
            "vertices": self.ground.vertices.len(), "translate": self.ground.offset, "moved_by_f32": self.moved(),
            "identity": self.identity, "proven": proven, "off_between_posts": self.ground.fields_off.map(|off| off[1]),
        })
    }

    fn print(&self, settings: &Settings, proven: bool, out: &mut impl Write) -> Done {
        let [place, library, toml] = self.places;
        let nowhere = is_nowhere(place);
        let [mtl, beside] = [library, toml].map(|file| shown(&file_name(file)));
        let beside = if nowhere { String::new() } else { format!("; {mtl} and {beside} beside it") };
        writeln!(out, "{}: {}{beside}", named(place), self.counts())?;
        if let Some([_, off]) = self.ground.fields_off {
            let of = "cells of heights are two triangles each: at posts as in the image, and between them";
            writeln!(out, "{of} up to {} off; a build of them makes another image", metres(off))?;
        }
        if proven {
            writeln!(out, "proven: built again they make the same image, identity {}", self.identity)?;
        }
        if self.args.local {
            let back = if nowhere { "what moves it back" } else { "these settings move it back, or" };
            writeln!(out, "its {}", self.zero(back))?;
        }
        if nowhere {
            return Ok(());
        }
        let (by_default, ground) = (mu_by_default(self.t), ground_of(self.t));
        let stated = |name: &str| settings.materials.iter().any(|rule| rule.mu.is_some() && rule.fits(name));
        let unstated = ground.iter().map(|(name, _)| *name).filter(|name| by_default.contains(*name) && !stated(name));
        let unstated: Vec<String> = unstated.map(|name| shown(&format!("{name:?}"))).collect();
        if !unstated.is_empty() {
            let names = few(unstated.iter().cloned(), unstated.len() as u64);
            let then = format!("a build warns of it, and --strict refuses it, until {} states it", named(toml));
            writeln!(out, "mu is not stated for {names}: {then}")?;
        }
        Ok(writeln!(out, "next: hardpan build --settings {}", quoted(toml))?)
    }
}
