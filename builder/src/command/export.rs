//! `hardpan export`: what the kernel sees, as OBJ; and, by `map`, as maps.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use crate::{
    Input,
    again::{mu_by_default, provenance, recorded, settings_again},
    build,
    export::{Obj, debug::Debug},
    import::{self, file_name},
    materials::ground as ground_of,
    settings::SourceFile,
};
use hardpan::Terrain;
use serde_json::json;

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
    /// What is none of these
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
    /// Measure x, y and z from the middle of the ground, in whole metres: for programs that compute in single precision. The settings
    /// move it back; with other settings --translate does
    #[arg(long, conflicts_with_all = ["cells", "pins", "origin"])]
    local: bool,
    /// Draw each cell of the index as a box, whose colour tells how many triangles it names. With this, --pins or --origin the OBJ is to
    /// look at: no settings, and [default: IMAGE-debug.obj]
    #[arg(long, visible_alias = "leaves")]
    cells: bool,
    /// Ask for the topmost ground at N by M places, and draw a red line along its normal at each
    #[arg(long, value_name = "N[,M]", value_parser = debug::pins)]
    pins: Option<Pins>,
    /// Draw the axes x, y and z from the zero, so many metres long
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

/// How many along x and y.
type Pins = [u32; 2];

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    match &args.what {
        What::Obj(args) => obj(args, out),
        What::Png(args) => map::run(args, out),
        What::Other(words) => {
            let word = Path::new(words.first().map_or(OsStr::new(""), |w| w));
            let image = if word.exists() || has_extension(word, "hpan") { word } else { Path::new("FILE.hpan") };
            let typed = ["png", "obj"].map(|kind| format!("hardpan export {kind} {}", quoted(image)));
            let text = format!("say what to export; maps: {}; triangles: {}", typed[0], typed[1]);
            Err(Failure::input(word, text))
        }
    }
}

/// What stands for a line of the settings beside an OBJ.
const STITCHED: &str = "
# The ground is stitched as it is: so the same image is built again. If you change the mesh, delete this line.
stitch = false
";

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

/// What is drawn beside the ground, if anything is.
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
        let identity: String = t.identity().iter().map(|b| format!("{b:02x}")).collect();
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
    let nowhere = is_nowhere(&place);
    if !has_extension(&place, "obj") && !nowhere {
        return Err(Failure::input(&place, "an OBJ is called FILE.obj; name such a file with -o"));
    }
    let [library, toml] = ["mtl", "toml"].map(|e| if nowhere { place.clone() } else { place.with_extension(e) });
    if !place.file_name().and_then(OsStr::to_str).is_some_and(import::keeps_name) {
        let text = "no OBJ can name a file beside it so: its name has line ends, double blanks or no UTF-8; name another one with -o";
        return Err(Failure::input(&place, text));
    }
    for file in [&place, &library, &toml] {
        not_a_source(file, &t)?;
        Replace::None.or_any(args.force).check_made(file, Kind::MESH, [&args.image])?;
    }
    let mut ground = Obj::new(&t).map_err(|e| {
        let hint = "to look at the heights: hardpan export png; to keep the image as it is, keep its .hpan file";
        Failure::unsupported(&args.image, shown(&format!("{e}; {hint}")))
    })?;
    if args.local {
        ground.local();
    }
    let settings = ground.settings(&settings_again(&t), &file_name(&place));
    let by_default = mu_by_default(&t);
    let stated = |name: &str| settings.materials.iter().any(|rule| rule.mu.is_some() && rule.fits(name));
    let mut unstated: Vec<&str> = ground_of(&t).into_iter().map(|(name, _)| name).collect();
    unstated.retain(|name| by_default.contains(*name) && !stated(name));
    let [east, north, up] = ground.offset;
    let translate = format!("--translate {east},{north},{up}");
    let identity: String = t.identity().iter().map(|b| format!("{b:02x}")).collect();
    let mut head = format!(
        "The ground of {} as the kernel sees it: {}, {}; metres, z up\nidentity {identity}\nTo build it again: hardpan build --settings {}",
        shown(&file_name(&args.image)),
        counted(ground.triangles.len() as u64, "triangle"),
        counted(ground.vertices.len() as u64, "vertex"),
        quoted(Path::new(toml.file_name().unwrap_or_default()))
    );
    if args.local {
        head += &format!("\nIts zero is at {east}, {north}, {up} m; those settings move it back, or: {translate}");
    }
    let (texts, _) = stage("writing", || -> Done<_> {
        let mut texts = [Vec::new(), Vec::new()];
        let colours = materials::colours(&t);
        let colour = |m: u16| colours[usize::from(m)].map(|c| f64::from(c) / 255.0);
        ground
            .write(&head, &file_name(&library), &mut texts[0])
            .and_then(|()| ground.write_library(colour, &mut texts[1]))
            .map_err(|e| Failure::write(&place, e))?;
        let settings = settings.to_toml().replacen("\nstitch = false\n", STITCHED, 1);
        let settings = head.lines().map(|line| format!("# {line}\n")).collect::<String>() + "\n" + &settings;
        Ok((texts, settings))
    });
    let ([mesh, paint], settings) = texts?;
    // what takes memory comes before there are files: where memory is refused the program ends at once, and nothing would take them away
    let proven = !args.unproven && prove(args, &t, [&place, &toml], &mesh, &settings)?;
    let files = [(&place, &mesh[..]), (&library, &paint), (&toml, settings.as_bytes())];
    let files: Vec<NewFile> =
        files.into_iter().map(|(place, text)| NewFile::write_checked(place, text)).collect::<Done<_>>()?;
    files.into_iter().try_for_each(NewFile::keep)?;
    let (triangles, vertices) = (ground.triangles.len(), ground.vertices.len());
    let by_axis = ground.moved_by_f32();
    let moved = by_axis.into_iter().fold(0.0, f64::max);
    // less than half a step the lattice takes back
    if by_axis.iter().zip(ground.steps()).any(|(moved, step)| *moved >= step / 2.0) {
        let hint = if args.local { "" } else { "; --local writes them about the middle of the ground" };
        let text = format!(
            "its numbers are so large that single precision, in which many programs read them, moves vertices by up to {}",
            crate::names::metres(moved)
        );
        note(format!("{}: {text}{hint}", named(&place)));
    }
    if args.json {
        let facts = json!({
            "obj": place.to_string_lossy(), "mtl": library.to_string_lossy(), "settings": toml.to_string_lossy(),
            "triangles": triangles, "vertices": vertices, "translate": ground.offset, "moved_by_f32": moved, "identity": identity, "proven": proven,
        });
        return Ok(writeln!(out, "{facts:#}")?);
    }
    let written = Written {
        place: &place,
        library: &library,
        toml: &toml,
        identity,
        proven,
        zero: [east, north, up],
        translate,
        unstated,
    };
    written.print(args, [triangles, vertices], out)
}

/// What was written, for the last lines.
struct Written<'a> {
    place: &'a Path,
    library: &'a Path,
    toml: &'a Path,
    identity: String,
    proven: bool,
    /// Where its zero is, metres.
    zero: [f64; 3],
    /// What moves the mesh back.
    translate: String,
    /// Materials of which nobody stated mu.
    unstated: Vec<&'a str>,
}

impl Written<'_> {
    fn print(&self, args: &ObjArgs, [triangles, vertices]: [usize; 2], out: &mut impl Write) -> Done {
        let Written { place, library, toml, identity, proven, zero: [east, north, up], translate, unstated } = self;
        let nowhere = is_nowhere(place);
        let beside = match nowhere {
            true => String::new(),
            false => format!("; {} and {} beside it", shown(&file_name(library)), shown(&file_name(toml))),
        };
        writeln!(
            out,
            "{}: {}, {}{beside}",
            named(place),
            counted(triangles as u64, "triangle"),
            counted(vertices as u64, "vertex"),
        )?;
        if *proven {
            writeln!(out, "proven: built again they make the same image, identity {identity}")?;
        }
        if args.local {
            let back = if nowhere { "what moves it back:" } else { "these settings move it back, or:" };
            writeln!(out, "its zero is at {east}, {north}, {up} m; {back} {translate}")?;
        }
        if !nowhere {
            if !unstated.is_empty() {
                let names = few(unstated.iter().map(|name| shown(&format!("{name:?}"))), unstated.len() as u64);
                let then = format!("a build warns of it, and --strict refuses it, until {} states it", named(toml));
                writeln!(out, "nobody stated mu of {names}: {then}")?;
            }
            writeln!(out, "next: hardpan build --settings {}", quoted(toml))?;
        }
        Ok(())
    }
}

/// Whether the mesh that is to be written builds the same image again; an error if it should, and does not.
fn prove(args: &ObjArgs, t: &Terrain, [place, toml]: [&Path; 2], mesh: &[u8], settings: &str) -> Done<bool> {
    let (again, _) = stage("building it again", || -> Done<_> {
        let settings = crate::Settings::from_toml(settings).map_err(|e| Failure::check(toml, e))?;
        let frame = settings.sources.first().map(SourceFile::frame).unwrap_or_default();
        let mut scene = import::read_obj(mesh, place, &frame)?.scene;
        settings.apply(&mut scene).map_err(|e| Failure::check(toml, e))?;
        build(&scene, &settings.build).map_err(|e| Failure::build(place, e))
    });
    let again = again?.image;
    let proven = Terrain::open(&again).map_err(|e| Failure::open(place, e))?.identity() == t.identity();
    if !proven && recorded(t).is_some() {
        let text = "an image of these triangles would have another identity; this is a fault of hardpan, please report it: \
                    nothing was written (--unproven writes them all the same)";
        return Err(Failure::check(place, text));
    }
    if !proven {
        let text = "the image records no build options: one that is built of these triangles is divided in another way";
        warn(format!("{}: {text}", named(&args.image)));
    }
    Ok(proven)
}
