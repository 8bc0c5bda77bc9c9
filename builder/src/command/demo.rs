//! `hardpan demo`: a proving ground, built, verified, driven over and drawn; and the fixtures as images.

use std::{
    env,
    fmt::Write as _,
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use crate::{
    Options, Provenance, Scene, Undersides, build_recorded, fixtures,
    proving_ground::{self, STEP},
};
use clap::ValueEnum;
use hardpan::{Answer, Cost, Cursor, Terrain};

use super::{
    Done, Failure, Kind, NewFile, Replace, grouped, look, make_folder, named, query, quoted, tables, view, write_image,
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
  hardpan query bridge.hpan 0,0 0,0,2 20,0   6 on the deck, 0 under it, 0 beside it")]
pub struct Args {
    /// Write an image of a small scene whose true answers are known instead
    #[arg(long, value_enum, value_name = "NAME")]
    fixture: Option<Fixture>,
    /// Where it goes [default: NAME.hpan]
    #[arg(short, long, value_name = "FILE.hpan", requires = "fixture")]
    output: Option<PathBuf>,
    /// Replace files that the demo did not write; with --fixture one that is not a terrain image, or give it the name of a picture and such
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Fixture {
    /// A level square of 1000 m at z = 0: two triangles, mu 0.85
    Flat,
    /// The plane z = 0.10 x + 0.05 y on 200 m by 200 m, mu 0.8, rr 1.2
    Ramp,
    /// Ground at z = 0 on 100 m by 100 m under a deck at z = 6 over |x| <= 5
    Bridge,
    /// flat with an opening of 10 m by 10 m at the centre
    Hole,
    /// A road at z = 0, from x = 0 on a pavement at 0.15; a lamp arm at z = 5 over |x| <= 1
    Curb,
    /// Three squares of 10 m: Concrete, Grass, and a material without a name
    Mats,
    /// Setts of 0.10 m with joints 12 mm deep on 10 m by 10 m, as heights every 5 mm
    Cobble,
    /// z = 0, from x = 0 on z = 0.1; heights every millimetre, 1 m by 1 m
    Step,
    /// A town of 1200 m by 1200 m with kerbs, houses, trees and a flyover
    City,
    /// A random heap of overlaps, slivers, T-junctions, duplicates and walls
    Soup,
    /// ramp at east 388 096 m, north 3 948 996 m
    Far,
}

impl Fixture {
    fn scene(self) -> Scene {
        match self {
            Fixture::Flat => fixtures::flat(),
            Fixture::Ramp => fixtures::ramp(),
            Fixture::Bridge => fixtures::bridge(),
            Fixture::Hole => fixtures::hole(),
            Fixture::Curb => fixtures::curb(),
            Fixture::Mats => fixtures::mats(),
            Fixture::Cobble => fixtures::cobble(),
            Fixture::Step => fixtures::step(),
            Fixture::City => fixtures::city(),
            Fixture::Soup => fixtures::soup(1),
            Fixture::Far => fixtures::far(),
        }
    }
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    match args.fixture {
        Some(fixture) => write_fixture(fixture, args, out),
        None => demo(args.force, out),
    }
}

/// The triangles as they are, without repairs: the answers are those of the scene.
fn write_fixture(fixture: Fixture, args: &Args, out: &mut impl Write) -> Done {
    let value = fixture.to_possible_value();
    let (name, what) = value.as_ref().map_or(("", None), |v| (v.get_name(), v.get_help()));
    let place = args.output.clone().unwrap_or_else(|| format!("{name}.hpan").into());
    Replace::IMAGE.or_any(args.force).check_made(&place, Kind::IMAGE, None)?;
    let options = Options { undersides: Undersides::Ground, stitch: None, ..Options::default() };
    let built = build_recorded(&fixture.scene(), &options, Some(&Provenance::default()));
    let built = built.map_err(|e| Failure::build(&place, e))?;
    write_image(&place, &place, &built.image, 0)?;
    writeln!(
        out,
        "{}: {}; {} bytes, verified",
        named(&place),
        what.map(ToString::to_string).unwrap_or_default(),
        grouped(built.image.len() as u64)
    )?;
    Ok(writeln!(out, "next: {}", look(&place))?)
}

const FOLDER: &str = "hardpan-demo";

/// Files that are there and are not what is written now, byte for byte, somebody else made or changed.
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
    let drive = record(&terrain, &proving_ground::infield());
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

/// Half the wheelbase and half the track.
const CAR: [f64; 2] = [1.35, 0.8];
/// How high the hub of a wheel is.
const HUB: f64 = 0.3;

/// What the drives met so far.
#[derive(Default)]
struct Tally {
    asked: u64,
    missed: u64,
    worst: Cost,
}

/// Drives every part of the course on four wheels, with a cursor each, and prints what they met.
fn drive_all(terrain: &Terrain, tracks: &mut Tracks, out: &mut impl Write) -> Done {
    writeln!(out, "                   z of the wheels half way, m")?;
    writeln!(out, "                      front       rear          mu     most")?;
    writeln!(out, "drive            m  left right  left right  left right tests  on")?;
    let mut tally = Tally::default();
    for (name, path) in proving_ground::drives() {
        let (answers, tests) = drive_one(terrain, &path, &mut tally, |at, under| tracks.wheel(at, under))
            .map_err(|e| Failure::Check(format!("{name}: {e}; please report this")))?;
        let found = |value: fn(&Terrain, &Answer) -> String| {
            let text = |a: &Answer| if a.found() { value(terrain, a) } else { "-".into() };
            answers.iter().map(text).collect::<Vec<_>>()
        };
        let z = found(|t, a| format!("{:.3}", t.z_f64(&a.hit) + 0.0));
        let mu = found(|t, a| format!("{:.2}", t.surface(a)[0]));
        let mut on = found(|t, a| t.material_name(a.hit.material).into());
        on.retain(|name| name != "-");
        on.sort_unstable();
        on.dedup();
        writeln!(
            out,
            "{name:<14} {:>3} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {tests:>5}  {}",
            (path.len() as f64 * STEP).round(),
            z[0],
            z[1],
            z[2],
            z[3],
            mu[0],
            mu[1],
            on.join(", ")
        )?;
    }
    let (Tally { asked, missed, worst }, bound) = (tally, terrain.bound());
    writeln!(
        out,
        "\n{} wheel queries; {} without ground, all where a slab is missing, as built.",
        grouped(asked),
        grouped(missed)
    )?;
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

/// Drives once; `see` gets places of wheels, and whether there is other ground above. Gives back the answers half way, and
/// the most tests of a query.
fn drive_one(
    terrain: &Terrain,
    path: &[[f64; 2]],
    tally: &mut Tally,
    mut see: impl FnMut([f64; 2], bool),
) -> Result<(Vec<Answer>, u32), String> {
    let [low, high] = terrain.bounds();
    let mut wheels = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]].map(|side| Wheel::new(side, HUB));
    let (mut half_way, mut tests) = (Vec::new(), 0);
    for (i, pair) in path.windows(2).enumerate() {
        for wheel in &mut wheels {
            let at = wheel.place(pair[0], pair[1]);
            let (answer, cost) = wheel.ask(terrain, at)?;
            if answer.found() == proving_ground::is_open(at) {
                let what = if answer.found() { "ground in the opening" } else { "no ground" };
                return Err(format!("{what} at {at:?}"));
            }
            tests = tests.max(cost.tests);
            tally.worst.tests = tally.worst.tests.max(cost.tests);
            tally.worst.lines = tally.worst.lines.max(cost.lines);
            tally.asked += 1;
            tally.missed += u64::from(!answer.found());
            if answer.found() && i % 3 == 0 {
                let top = terrain.segment_m([at[0], at[1], high[2] + 1.0], high[2] - low[2] + 2.0);
                see(at, terrain.z_f64(&top.hit) > wheel.hub);
            }
            if i == path.len() / 2 {
                half_way.push(answer);
            }
        }
    }
    Ok((half_way, tests))
}

struct Wheel {
    /// Forward and left of the car's middle.
    arm: [f64; 2],
    /// Height of its hub.
    hub: f64,
    cursor: Cursor,
}

impl Wheel {
    /// The wheel before (1) or behind (-1) the middle, on the left (1) or right (-1).
    fn new(side: [f64; 2], hub: f64) -> Self {
        Wheel { arm: [0, 1].map(|i| side[i] * CAR[i]), hub, cursor: Cursor::new() }
    }

    /// Where the wheel is while the car goes from `a` to `b`.
    fn place(&self, a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let length = (dx * dx + dy * dy).sqrt();
        let (c, s, [forward, left]) = (dx / length, dy / length, self.arm);
        [a[0] + c * forward - s * left, a[1] + s * forward + c * left]
    }

    /// The ground closest to the hub, asked twice: with the cursor, and without. Without ground the hub stays as high as it is.
    fn ask(&mut self, terrain: &Terrain, [x, y]: [f64; 2]) -> Result<(Answer, Cost), String> {
        let hub = [x, y, self.hub];
        let answer = terrain.closest_cursor(hub, &mut self.cursor);
        let (single, cost) = terrain.closest_costed(hub);
        if answer != single {
            return Err(format!("the answer at {hub:?} depends on the cursor"));
        }
        if answer.found() {
            self.hub = terrain.z_f64(&answer.hit) + HUB;
        }
        Ok((answer, cost))
    }
}

/// How fast a recorded drive is, m/s.
const SPEED: f64 = 10.0;

/// The hub of the left front wheel along a path, as CSV.
fn record(terrain: &Terrain, path: &[[f64; 2]]) -> String {
    let mut wheel = Wheel::new([1.0, 1.0], HUB);
    let mut text = String::from("t,x,y,z\n");
    for (i, pair) in path.windows(2).enumerate() {
        let [x, y] = wheel.place(pair[0], pair[1]);
        let answer = terrain.closest([x, y, wheel.hub]);
        if answer.found() {
            wheel.hub = terrain.z_f64(&answer.hit) + HUB;
        }
        let _ = writeln!(text, "{:.3},{x:.4},{y:.4},{:.4}", i as f64 * STEP / SPEED, wheel.hub); // into memory
    }
    text
}
