//! `hardpan demo`: a proving ground, built, verified, driven over and drawn; and the fixtures as images.

use std::{
    env,
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use crate::build::build_recorded;
use crate::demo::proving_ground::{STEP, drive, drives, infield, record};
use crate::demo::{fixtures, mavs, proving_ground};
use crate::image::provenance::Provenance;
use crate::options::{Options, Undersides};
use crate::scene::Scene;
use clap::{
    Args as _, FromArgMatches as _,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use hardpan::{Answer, Cost, Terrain};

use super::{
    Done, Failure, Kind, NewFile, Replace, build, grouped, load, look, make_folder, named, query, quoted, tables,
    terrain, view, write_image,
};
use crate::draw::{
    maps::{self, Map, Wish},
    tracks::Tracks,
};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hardpan demo                               a proving ground, driven over and drawn, in ./hardpan-demo
  hardpan demo --fixture bridge              bridge.hpan, of which every height is known
  hardpan demo --scene mavs                  a scene of MAVS with its files, built and drawn
  hardpan query bridge.hpan 0,0 0,0,2 20,0   6 on the deck, 0 under it, 0 beside it")]
pub struct Args {
    /// Write an image of a small scene whose true answers are known instead
    #[arg(long, value_name = "NAME", value_parser = fixture())]
    fixture: Option<String>,
    /// Write a small scene of another program with its files instead, build it and draw it
    #[arg(long, value_name = "PROGRAM", conflicts_with = "fixture", value_parser = ["mavs"])]
    scene: Option<String>,
    /// Where it goes [default: NAME.hpan]
    #[arg(short, long, value_name = "FILE.hpan", requires = "fixture", conflicts_with = "scene")]
    output: Option<PathBuf>,
    /// Replace files that the demo did not write; with --fixture also a file that is not a terrain image
    #[arg(long)]
    force: bool,
}

/// `--fixture`.
fn fixture() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(fixtures::ALL.map(|(name, what, _)| PossibleValue::new(name).help(what)))
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    if args.scene.is_some() {
        return scene(args.force, out);
    }
    match fixtures::ALL.iter().find(|(name, ..)| args.fixture.as_deref() == Some(*name)) {
        Some((name, what, scene)) => write_fixture(name, what, &scene(), args, out),
        None => demo(args.force, out),
    }
}

/// The triangles as they are, without repairs: the answers are those of the scene.
fn write_fixture(name: &str, what: &str, scene: &Scene, args: &Args, out: &mut impl Write) -> Done {
    let place = args.output.clone().unwrap_or_else(|| format!("{name}.hpan").into());
    Replace::IMAGE.or_any(args.force).check_made(&place, Kind::IMAGE, None)?;
    let options = Options { undersides: Undersides::Ground, stitch: None, ..Options::default() };
    let built = build_recorded(scene, &options, Some(&Provenance::default()));
    let built = built.map_err(|e| Failure::build(&place, e))?;
    write_image(&place, &place, &built.image, 0)?;
    writeln!(out, "{}: {what}; {} bytes, verified", named(&place), grouped(built.image.len() as u64))?;
    Ok(writeln!(out, "next: {}", look(&place))?)
}

/// A scene of MAVS, built as a user would build it.
fn scene(force: bool, out: &mut impl Write) -> Done {
    let folder = Path::new("hardpan-demo-mavs");
    let files = mavs::files();
    let hint = "move it away, or run the demo elsewhere";
    for (name, bytes) in &files {
        let place = folder.join(name);
        place.parent().map_or(Ok(()), |folder| make_folder(folder, hint))?;
        Replace::Same(bytes).or_any(force).check(&place)?;
    }
    for (name, bytes) in &files {
        NewFile::write(&folder.join(name), bytes)?.keep()?;
    }
    let [scene, image] = [folder.join(mavs::SCENE), folder.join("demo_scene.hpan")];
    writeln!(out, "Wrote {} files of a scene below {}.\n", files.len(), quoted(folder))?;
    let faulty = |e: clap::Error| Failure::Check(format!("{e}; please report this"));
    let typed = ["build".as_ref(), scene.as_os_str(), "--trails".as_ref(), "as-material".as_ref()];
    let typed = typed.into_iter().chain(["-o".as_ref(), image.as_os_str()]);
    let matches = build::Args::augment_args(clap::Command::new("build")).try_get_matches_from(typed).map_err(faulty)?;
    build::run(&build::Args::from_arg_matches(&matches).map_err(faulty)?, out)?;
    let loaded = load(&image)?;
    let terrain = terrain(&image, &loaded)?;
    let view = view::view(terrain.bounds(), None, None, None).map_err(|e| Failure::check(&image, e))?;
    for map in [Map::Relief, Map::Materials] {
        let place = folder.join(format!("{}.png", map.name()));
        let picture = maps::draw(&terrain, map, &view, Wish::default(), "demo_scene.hpan").canvas.png()?;
        NewFile::write(&place, &picture)?.keep()?;
        writeln!(out, "{}: {}", named(&place), map.entry().shows)?;
    }
    Ok(writeln!(out, "the scene is {}: change it, and build it again", quoted(&scene))?)
}

const FOLDER: &str = "hardpan-demo";

/// A file that differs from the one to be written was made or changed by somebody else.
fn demo(force: bool, out: &mut impl Write) -> Done {
    let folder = Path::new(FOLDER);
    make_folder(folder, "move it away, or run the demo elsewhere")?;
    let image_path = folder.join("proving-ground.hpan");

    let start = Instant::now();
    let scene = proving_ground::scene();
    let built = build_recorded(&scene, &Options::default(), Some(&Provenance::default()));
    let built = built.map_err(|e| Failure::build(&image_path, e))?;
    let seconds = start.elapsed().as_secs_f64();
    let terrain = Terrain::open(&built.image).map_err(|e| Failure::open(&image_path, e))?;

    // all that is written, before any of it is
    let view = view::view(terrain.bounds(), None, None, None).map_err(|e| Failure::check(&image_path, e))?;
    let mut tracks = Tracks::new(&terrain, view);
    let mut drives = Vec::new();
    drive_all(&terrain, &mut tracks, &mut drives)?;
    let title = "proving-ground.hpan";
    let mut files = vec![("relief.png".into(), tracks.framed(title).png()?)];
    for map in [Map::Layers, Map::Materials, Map::Cost] {
        files.push((
            format!("{}.png", map.name()),
            maps::draw(&terrain, map, &view, Wish::default(), title).canvas.png()?,
        ));
    }
    let faulty = |e| Failure::Check(format!("{e}; please report this"));
    let drive = record(&terrain, &infield()).map_err(faulty)?;
    let drive_path = folder.join("drive.csv");
    let recorded = NewFile::write(&drive_path, drive.as_bytes())?;
    let plot = query::picture(&terrain, &image_path, &drive_path, &tables::drive(&recorded.temporary)?);
    drop(recorded);
    files.extend([("drive.csv".into(), drive.into_bytes()), ("drive.png".into(), plot.png()?)]);
    Replace::Same(&built.image).or_any(force).check(&image_path)?;
    for (name, bytes) in &files {
        Replace::Same(bytes).or_any(force).check(&folder.join(name))?;
    }
    write_image(&image_path, &image_path, &built.image, 0)?;
    let h = terrain.header();
    writeln!(
        out,
        "Built a proving ground of {} triangles and {} height posts\nin {seconds:.2} s: {} bytes, verified.\n",
        grouped(h.triangles),
        grouped(scene.fields.iter().map(|f| f.heights.len() as u64).sum()),
        grouped(h.total_len)
    )?;
    out.write_all(&drives)?;
    out.flush()?;
    for (name, bytes) in &files {
        NewFile::write(&folder.join(name), bytes)?.keep()?;
    }
    writeln!(
        out,
        "\nPictures, in {FOLDER}:\n  \
         relief.png      the ground, and where the wheels went\n  \
         layers.png      where ground lies over ground\n  \
         materials.png   what it is made of\n  \
         cost.png        what a query costs there\n  \
         drive.png       height, slope and mu along drive.csv: ramp, slab, setts"
    )?;

    // what was typed
    let program = env::args_os().next().map_or_else(|| "hardpan".into(), |typed| quoted(Path::new(&typed)));
    let image = quoted(&image_path);
    writeln!(
        out,
        "\nTry next:\n  \
         # the missing slab; the hill, and the tunnel under it; the bridge and the road below\n  \
         {program} query {image} 38,-9 -52,0 -52,0,1\n  \
         {program} query {image} -20,31 --layers\n  \
         {program} query {image} -20,31,1.5 --explain\n  \
         # the drive again, with its answers; other maps; times beside the stated bound; all proofs\n  \
         {program} query {image} --along {} --plot drive.png -o answers.csv\n  \
         {program} export png {image} --map holes,mu,leaves\n  \
         {program} bench {image} --plan worst\n  \
         {program} verify {image}\n  \
         {program} build YOUR.obj",
        quoted(&drive_path)
    )?;
    Ok(())
}

/// Drives every part of the course, and prints what the wheels met.
fn drive_all(terrain: &Terrain, tracks: &mut Tracks, out: &mut impl Write) -> Done {
    writeln!(out, "                   z of the wheels half way, m")?;
    writeln!(out, "                      front       rear          mu     most")?;
    writeln!(out, "drive            m  left right  left right  left right tests  on")?;
    let (mut asked, mut missed, mut worst) = (0, 0, Cost::default());
    for (name, path) in drives() {
        let driven = drive(terrain, &path).map_err(|e| Failure::Check(format!("{name}: {e}; please report this")))?;
        let found = |value: fn(&Terrain, &Answer) -> String| {
            let text = |a: &Answer| if a.found() { value(terrain, a) } else { "-".into() };
            driven.half_way.iter().map(text).collect::<Vec<_>>()
        };
        let z = found(|t, a| format!("{:.3}", t.z_f64(&a.hit) + 0.0));
        let mu = found(|t, a| format!("{:.2}", t.surface(a)[0]));
        let mut on = found(|t, a| t.material_name(a.hit.material).into());
        on.retain(|name| name != "-");
        on.sort_unstable();
        on.dedup();
        let columns: String = z.iter().chain(&mu[..2]).map(|text| format!(" {text:>5}")).collect();
        let (metres, tests, on) = ((path.len() as f64 * STEP).round(), driven.worst.tests, on.join(", "));
        writeln!(out, "{name:<14} {metres:>3}{columns} {tests:>5}  {on}")?;
        driven.tracks.iter().for_each(|(at, under)| tracks.wheel(*at, *under));
        (asked, missed) = (asked + driven.asked, missed + driven.missed);
        (worst.tests, worst.lines) = (worst.tests.max(tests), worst.lines.max(driven.worst.lines));
    }
    let ([asked, missed], bound) = ([asked, missed].map(grouped), terrain.bound());
    writeln!(out, "\n{asked} wheel queries; {missed} without ground, all where a slab is missing, as built.")?;
    writeln!(
        out,
        "The costliest took {} tests and {} lines of 64 bytes; the image states that\nno query, anywhere on it, takes more than {} tests and {} lines.",
        worst.tests, worst.lines, bound.tests, bound.lines
    )?;
    if worst.tests > bound.tests || worst.lines > bound.lines {
        return Err(Failure::Check(format!("{FOLDER}: a query cost more than the image states; please report this")));
    }
    Ok(())
}
