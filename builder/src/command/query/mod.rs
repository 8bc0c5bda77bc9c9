//! `hardpan query`: the ground at points from the command line, a CSV file or stdin.

mod along;
mod ask;
mod csv;
mod explain;
mod json;
mod measured;
mod missed;
mod rays;
mod sheet;
mod table;
mod tyre;

use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use hardpan::{Axes, Hit, Kinds, Terrain};

pub use self::{
    along::picture,
    ask::shield,
    csv::{field, push_number},
    missed::extents,
};
use self::{
    csv::Csv,
    explain::Explained,
    json::Json,
    missed::Missed,
    sheet::{Row, Shape, Sheet},
    table::{Table, decimals},
};
use super::{
    Done, Failure, Form, Kind, NewFile, Replace, counted, export::not_a_source, findings::worded, grouped,
    has_extension, is_nowhere, load, named, note, shown, tables, terrain, warn,
};
use crate::draw::{picture::Picture, plot};
use crate::image::decode::{ROOM, room};
use crate::image::earth::Earth;
use crate::import::file_name;
use crate::query::column;
use crate::query::shot::Shot;
use crate::query::table::{Drive, POINT, Passed, Points, Row as Point, Stop};
use crate::query::tyre::{TyreSpec, axes};
use crate::query::{Ask, Many};

#[derive(clap::Args, Clone)]
#[command(after_help = HOW)]
pub struct Args {
    /// Terrain image
    file: PathBuf,
    /// Points
    #[arg(value_name = "x,y[,z[,length]]", allow_negative_numbers = true, value_parser = ask::ask, required_unless_present_any = ["csv", "along", "plot", "lonlat", "ray", "poses"])]
    points: Vec<Ask>,
    /// Points in degrees, if the image knows where on earth it lies
    #[arg(long, value_name = "lon,lat[,z[,length]]", allow_hyphen_values = true, value_parser = ask::ask)]
    lonlat: Vec<Ask>,
    /// x,y,z,dx,dy,dz,length: the first surface in a direction
    #[arg(long, value_name = "RAY", allow_hyphen_values = true, value_parser = rays::shot, conflicts_with_all = ["points", "lonlat", "along", "plot", "layers", "fallback", "measure"])]
    ray: Vec<Shot>,
    /// Rays see these kinds alone: ground,ceiling,obstacle
    #[arg(long, value_name = "KINDS", value_parser = rays::kinds, default_value = "", hide_default_value = true)]
    kinds: Kinds,
    /// Rays see materials of these classes alone
    #[arg(long, value_name = "0,5,…", value_parser = rays::classes, default_value = "", hide_default_value = true)]
    classes: u32,
    /// Points or rays of a file, answers as CSV; "-" is stdin
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Its columns by name: id,northing,easting,z
    #[arg(long, value_name = "NAME,...", requires = "csv")]
    columns: Option<String>,
    /// The places of a drive, answers as CSV with the distance; "-" is stdin
    #[arg(long, value_name = "DRIVE.csv", conflicts_with_all = ["points", "csv", "layers", "lonlat"])]
    along: Option<PathBuf>,
    /// Draw height, slope and mu along the drive, for each wheel
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    plot: Option<PathBuf>,
    /// RADIUS,WIDTH[,METHOD]: a tyre at poses, or along a drive
    #[arg(long, value_name = "TYRE", value_parser = TyreSpec::read)]
    #[arg(conflicts_with_all = ["points", "csv", "lonlat", "layers", "explain", "fallback", "measure", "ray"])]
    tyre: Option<TyreSpec>,
    /// x,y,z[,yaw,pitch,roll]: centre and degrees; again for more
    #[arg(long = "pose", value_name = "POSE", requires = "tyre", conflicts_with = "along")]
    #[arg(allow_hyphen_values = true, value_parser = tyre::pose)]
    poses: Vec<[f64; 6]>,
    /// Axes of poses and answers, by name: enu, ned, rfactor
    #[arg(long, value_name = "AXES", requires = "tyre", value_parser = axes, default_value = "iso8855", hide_default_value = true)]
    axes: Axes,
    /// Where answers go; FILE.csv and FILE.json say how [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace files that are there, or take the name of another kind
    #[arg(long)]
    force: bool,
    /// All ground over each point, highest first
    #[arg(long, conflicts_with = "explain")]
    layers: bool,
    /// How each answer was found
    #[arg(long, conflicts_with = "json")]
    explain: bool,
    /// Fill in answers where there is no ground, as the image or MAVS does
    #[arg(long, value_name = "mavs", num_args = 0..=1, require_equals = true, default_missing_value = "image")]
    #[arg(value_parser = ["image", "mavs"], hide_possible_values = true, conflicts_with_all = ["layers", "explain"])]
    fallback: Option<String>,
    /// Answers as JSON
    #[arg(long)]
    json: bool,
    /// Time each place of --csv into FILE_out.csv, as a line iterations=N does
    #[arg(long, requires = "csv")]
    measure: bool,
    /// Exit with 1 where places have no answer, or a doubtful one
    #[arg(long)]
    strict: bool,
}

const HOW: &str = "\
Without z the highest ground answers, with z the nearest above or below it. With a length the first going down
from z answers, at most so far. Metres; coordinates may be negative.
A file has a heading with x and y, and with z, length, t or wheel if there are any. Without one lines are
x,y[,z[,length]], of a drive t,x,y,z,yaw. All other columns go with the answers. Columns dx,dy,dz or
to_x,to_y,to_z make each line a ray. More, and drives and tyres: builder/docs/query-and-csv.md.

  hardpan query track.hpan -12.5,3 10,20,5 10,20,5,8
  hardpan query track.hpan --csv points.csv -o answers.csv
  hardpan query track.hpan --ray 10,20,1.5,1,0,-0.1,50
  hardpan query track.hpan --along drive.csv --plot drive.png -o answers.csv";

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let image = load(&args.file)?;
    let terrain = terrain(&args.file, &image)?;
    let earth = Earth::of(&terrain);
    let on_earth = on_earth(args, &terrain, earth.as_ref())?;
    let args = &Args { points: [&args.points[..], &on_earth].concat(), ..args.clone() };
    let named = args.columns.as_deref();
    let file = args.csv.as_ref().map(|path| Points::open(path, earth, named)).transpose()?;
    let columns = file.as_ref().and_then(rays::Columns::of);
    if columns.is_some() || !args.ray.is_empty() {
        return rays(args, &terrain, file, columns, out);
    }
    let mut file = file.map(|file| points(file, args.measure)).transpose()?;
    if let Some(file) = file.take_if(|file| file.timed) {
        return tell(args, &terrain, Drive::default(), &measured::run(args, &terrain, file, out)?);
    }
    check_outputs(args, &terrain)?;
    if let Some(tyre) = &args.tyre {
        return wheels(args, &terrain, &tyre.on(&terrain), out);
    }
    let drive = args.along.as_ref().map(|path| tables::drive(path)).transpose()?.unwrap_or_default();
    if let Some(path) = &args.plot {
        let (most, wheels) = (plot::MAX_LINES, drive.wheels.len());
        if wheels > most {
            let text =
                format!("a plot is of {most} wheels at most, and this drive has {wheels}; make several files of it");
            return Err(Failure::input(path, text));
        }
        let along = args.along.as_deref().unwrap_or(Path::new(""));
        write_plot(path, &picture(&terrain, &args.file, along, &drive))?;
    }
    let missed = match &args.output {
        None => answer(args, &terrain, &drive, file, out, Failure::from)?,
        Some(output) => {
            let failed = |e| Failure::write(output, e);
            let (new, to) = NewFile::create(output)?;
            let mut to = BufWriter::with_capacity(1 << 16, to);
            let missed = answer(args, &terrain, &drive, file, &mut to, failed)?;
            to.into_inner().map_err(|e| e.into_error()).and_then(|file| file.sync_all()).map_err(failed)?;
            new.keep()?;
            missed
        }
    };
    tell(args, &terrain, drive, &missed)
}

fn write_plot(path: &Path, picture: &Picture) -> Done {
    let bytes = if has_extension(path, "png") { picture.png()? } else { picture.svg().into_bytes() };
    Ok(NewFile::write(path, &bytes)?.keep()?)
}

/// Tyre contact of wheels.
fn wheels(args: &Args, terrain: &Terrain, tyre: &TyreSpec, out: &mut impl Write) -> Done {
    if args.poses.is_empty() && args.along.is_none() {
        let hint = "a tyre stands somewhere: --pose x,y,z[,yaw,pitch,roll], or --along DRIVE.csv";
        return Err(Failure::input(&args.file, hint));
    }
    let mut drive = args.along.as_ref().map(|path| tables::drive(path)).transpose()?.unwrap_or_default();
    if args.axes != Axes::Iso8855 {
        let (name, to) = (args.axes.name(), args.axes.conversion());
        note(format!("--axes {name}: east, north, up are of its {to} forward, left, up"));
        let mut ways = vec![(None, 0.0); drive.wheels.len()];
        for stop in &mut drive.stops {
            let no_height = || {
                let text = format!("line {}: no z; with --axes {name} each place has x, y and z", stop.line);
                Failure::input(args.along.as_deref().unwrap_or(&args.file), text)
            };
            let [x, y, z] = args.axes.world_in([stop.x, stop.y, stop.z.ok_or_else(no_height)?]);
            (stop.x, stop.y, stop.z) = (x, y, Some(z));
            let (last, way) = &mut ways[stop.wheel];
            let [from_x, from_y] = last.replace([x, y]).unwrap_or([x, y]);
            *way += (x - from_x).hypot(y - from_y);
            stop.distance = *way;
        }
    }
    if let Some(path) = &args.plot {
        let along = args.along.as_deref().unwrap_or(Path::new(""));
        let name = |path: &Path| shown(&file_name(path));
        let title = format!("{} along {}", name(&args.file), name(along));
        write_plot(path, &tyre::picture(terrain, &title, &drive, tyre)?)?;
    }
    let missed = match &args.output {
        None => tyre::answer(args, terrain, &drive, tyre, out)?,
        Some(output) => {
            let failed = |e| Failure::write(output, e);
            let (new, to) = NewFile::create(output)?;
            let mut to = BufWriter::with_capacity(1 << 16, to);
            let missed = tyre::answer(args, terrain, &drive, tyre, &mut to).map_err(failed)?;
            to.into_inner().map_err(|e| e.into_error()).and_then(|file| file.sync_all()).map_err(failed)?;
            new.keep()?;
            missed
        }
    };
    match missed.told() {
        Some(text) if args.strict => Err(Failure::check(&args.file, text)),
        Some(text) if args.along.is_some() => {
            note(format!("{}: {text}", named(&args.file)));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Points that are typed in degrees.
fn on_earth(args: &Args, terrain: &Terrain, earth: Option<&Earth>) -> Done<Vec<Ask>> {
    let place = |earth: &Earth, ask: &Ask| {
        let [x, y] = earth.place([ask.x, ask.y]);
        Ask { x, y, z: ask.z.map(|z| earth.z(z)), ..*ask }
    };
    let is_on_earth = |ask: &&Ask| (-180.0..=360.0).contains(&ask.x) && (-90.0..=90.0).contains(&ask.y);
    if let Some(ask) = args.lonlat.iter().find(|ask| !is_on_earth(ask)) {
        let text =
            format!("--lonlat {},{} is no place: degrees are east, -180 to 360, then north, -90 to 90", ask.x, ask.y);
        return Err(Failure::input(&args.file, text));
    }
    match earth {
        Some(earth) => Ok(args.lonlat.iter().map(|ask| place(earth, ask)).collect()),
        None if args.lonlat.is_empty() => Ok(Vec::new()),
        None => {
            let cause = match Earth::told(terrain) {
                Some(crs) => format!("from degrees to its plane no way is known ({crs})"),
                None => "the image does not know where on earth it lies".into(),
            };
            let hint = "give x and y in metres, or build it from files that say it, or with --crs";
            Err(Failure::input(&args.file, format!("{cause}; {hint}")))
        }
    }
}

/// Answers rays, typed and of a file.
fn rays(
    args: &Args,
    terrain: &Terrain,
    file: Option<Points>,
    columns: Option<rays::Columns>,
    out: &mut impl Write,
) -> Done {
    let file = match (&args.csv, file, columns) {
        (Some(path), Some(mut points), Some(columns)) => {
            points.pass(0, &rays::ANSWER)?;
            Some((path.as_path(), points, columns))
        }
        (Some(path), ..) => {
            let text = "these are points; rays have columns dx,dy,dz and length, or to_x,to_y,to_z";
            return Err(Failure::input(path, text));
        }
        _ => None,
    };
    check_outputs(args, terrain)?;
    match &args.output {
        None => rays::run(args, terrain, file, out)?,
        Some(output) => {
            let (new, to) = NewFile::create(output)?;
            let mut to = BufWriter::with_capacity(1 << 16, to);
            rays::run(args, terrain, file, &mut to)?;
            let failed = |e| Failure::write(output, e);
            to.into_inner().map_err(|e| e.into_error()).and_then(|file| file.sync_all()).map_err(failed)?;
            new.keep()?;
        }
    }
    Ok(())
}

/// Points of a file, to be timed if it says so.
fn points(mut file: Points, timed: bool) -> Done<Points> {
    file.timed |= timed;
    if file.timed {
        file.pass(4, &measured::COLUMNS)?
    } else {
        // of a drive alone are the first two; degrees go with the answers, which have metres
        file.pass(if file.in_degrees() { 0 } else { 2 }, &column::names()[2..])?
    }
    Ok(file)
}

/// Says what had no answer, or fails with it.
fn tell(args: &Args, terrain: &Terrain, drive: Drive, missed: &Missed) -> Done {
    let file = args.csv.as_ref().or(args.along.as_ref());
    let apart = tables::apart(&drive, &drive.ticks());
    let lost = missed.told(terrain);
    let far = missed.told_far();
    // of points the ground may be asked for from afar
    let (off, far) = if args.along.is_some() { (far, None) } else { (None, far) };
    let jumps = missed.jumps.finding().map(|finding| worded(&finding, false));
    let told = [apart, tables::odd(missed.odd), lost, tables::lacking(&missed.heights), off, jumps];
    let told: Vec<String> = told.into_iter().flatten().collect();
    if let Some(file) = args.csv.as_ref().filter(|_| missed.asked == 0) {
        note(format!("{}: no points; {POINT}, and a first line without numbers is a heading", named(file)));
    }
    match file {
        Some(file) if args.strict && missed.asked == 0 => return Err(Failure::check(file, "nothing was asked")),
        _ if args.strict && !told.is_empty() => {
            return Err(Failure::check(file.unwrap_or(&args.file), told.join("; ")));
        }
        Some(file) => {
            told.into_iter().chain(far).for_each(|text| note(format!("{}: {text}", named(file))));
        }
        None => {}
    }
    Ok(())
}

/// Stops where answers or a plot cannot be written, or may not.
fn check_outputs(args: &Args, terrain: &Terrain) -> Done {
    if let Some(plot) = &args.plot {
        if args.along.is_none() {
            return Err(Failure::input(plot, "a plot is of a drive; name one as well: --along DRIVE.csv"));
        } else if !has_extension(plot, "svg") && !has_extension(plot, "png") && !is_nowhere(plot) {
            return Err(Failure::input(plot, "plots are SVG or PNG; name it FILE.svg or FILE.png"));
        }
    }
    let inputs = [Some(&args.file), args.csv.as_ref(), args.along.as_ref()];
    let answers = args.output.iter().map(|output| match (args.explain, args.json) {
        (true, _) => (output, Kind::EXPLAINED),
        (_, true) => (output, Kind::JSON),
        _ => (output, Kind::ANSWERS),
    });
    for (output, kind) in answers.chain(args.plot.iter().map(|plot| (plot, Kind::PICTURE))) {
        not_a_source(output, terrain)?;
        Replace::None.or_any(args.force).check_made(output, kind, inputs.into_iter().flatten())?;
    }
    Ok(())
}

/// Points that are answered together.
const CHUNK: usize = 1024;

/// Prints all answers, and says what had none; `failed` says what a failure to write is.
fn answer(
    args: &Args,
    terrain: &Terrain,
    drive: &Drive,
    mut file: Option<Points>,
    out: &mut impl Write,
    failed: impl Fn(io::Error) -> Failure,
) -> Done<Missed> {
    let passed = file.as_ref().map_or(&drive.passed, |file| &file.passed);
    let from = args.points.iter().filter(|_| !args.layers).filter_map(|ask| ask.z);
    let shape = Shape {
        drive: args.along.is_some(),
        layers: args.layers,
        names: passed.names.clone(),
        keys: passed.keys.clone(),
    };
    let of_file = shape.drive || file.is_some();
    let form = if args.json { Some(Form::Json) } else { args.output.as_deref().and_then(Form::of) };
    let wheel = shape.keys.iter().position(|key| key.as_ref().is_some_and(|key| key.eq_ignore_ascii_case("wheel")));
    let mut sheet: Box<dyn Sheet + '_> = match form.or(of_file.then_some(Form::Csv)) {
        _ if args.explain => Box::new(Explained { terrain, out, wheel }),
        Some(Form::Json) => Box::new(Json::new(terrain, out)),
        Some(Form::Csv) => Box::new(Csv::new(terrain, out, !of_file)),
        None => {
            let places = args.points.iter().flat_map(|ask| [ask.x, ask.y]);
            Box::new(Table {
                terrain,
                out,
                decimals: decimals(places),
                from: from.clone().next().map(|_| decimals(from)),
            })
        }
    };
    sheet.head(&shape).map_err(&failed)?;
    // One sheet may show a place twice before layers are merged: leave room.
    let space = if args.layers { room(terrain) } else { Vec::new() };
    let mut missed = Missed::default();
    missed.heights.named = file.as_ref().map_or(drive.heights.named, |file| file.names(2));
    let mut answers = Answers { args, terrain, sheet, failed, many: Many::default(), space, cut: 0, missed };
    let mut asked = args.points.chunks(CHUNK).try_for_each(|asks| answers.all(asks, Beside::Nothing));
    for (first, stops) in drive.stops.chunks(CHUNK).enumerate().map(|(i, stops)| (i * CHUNK, stops)) {
        let asks: Vec<Ask> = stops.iter().map(|s| Ask { x: s.x, y: s.y, z: s.z, length: None }).collect();
        asked = asked.and_then(|()| answers.all(&asks, Beside::Drive(stops, first, &drive.passed)));
    }
    if let (Ok(()), Some(path), Some(file)) = (&asked, &args.csv, &mut file) {
        asked = answers.file(path, file);
    }
    // what was answered before an error is whole
    if !matches!(asked, Err(Failure::ClosedPipe)) {
        answers.sheet.foot().map_err(&answers.failed)?;
    }
    if answers.cut > 0 {
        warn(format!(
            "{} with more layers than {}, of which the lowest are not shown",
            counted(answers.cut, "place"),
            grouped(ROOM as u64)
        ));
    }
    asked.map(|()| answers.missed)
}

/// Writes answers, and counts those without ground.
struct Answers<'a, 's, F> {
    args: &'a Args,
    terrain: &'a Terrain<'a>,
    sheet: Box<dyn Sheet + 's>,
    failed: F,
    many: Many,
    space: Vec<Hit>,
    /// Places with more layers than [`ROOM`].
    cut: u64,
    missed: Missed,
}

impl<F: Fn(io::Error) -> Failure> Answers<'_, '_, F> {
    fn file(&mut self, path: &Path, file: &mut Points) -> Done {
        tables::notes(path, file.notes());
        while file.chunk()? {
            let asks: Vec<Ask> = file.rows.iter().map(Ask::from).collect();
            self.all(&asks, Beside::File(&file.rows, &file.passed))?;
        }
        Ok(())
    }

    fn all(&mut self, asks: &[Ask], beside: Beside) -> Done {
        let of_file = !matches!(beside, Beside::Nothing);
        for (i, Ask { x, y, z, length }) in asks.iter().enumerate().filter(|_| of_file) {
            let t = beside.stop(i).and_then(|s| s.t);
            self.missed.odd.count(tables::is_odd(&[t, Some(*x), Some(*y), *z, *length]), beside.line(i));
        }
        if self.args.layers {
            return self.layers(asks, beside);
        }
        for (i, (ask, a)) in asks.iter().zip(self.many.answers(self.terrain, asks)).enumerate() {
            self.missed.count(a.status, beside.line(i));
            if of_file {
                self.missed.heights.count(ask.z, beside.line(i));
                self.missed.count_far(ask, a, beside.line(i));
            }
            if let Some(stop) = beside.stop(i) {
                self.missed.jumps.go(self.terrain, stop.wheel, [ask.x, ask.y], ask.z, a, stop.line);
            }
            let (stop, passed) = (beside.stop(i), beside.passed(i));
            let filled = self.args.fallback.is_some() && !a.found();
            let lowest = self.args.fallback.as_deref() == Some("mavs");
            let row = Row { ask, stop, layer: None, status: a.status, hit: &a.hit, filled, lowest, passed };
            self.sheet.row(&row).map_err(&self.failed)?;
        }
        Ok(())
    }

    fn layers(&mut self, asks: &[Ask], beside: Beside) -> Done {
        for (i, ask) in asks.iter().enumerate() {
            let layers = self.terrain.layers(ask.place(0.0), &mut self.space);
            self.missed.count(layers.status, beside.line(i));
            self.cut += u64::from(layers.total > layers.written);
            let first = usize::from(layers.written > 0);
            for (hit, number) in self.space[..layers.written.max(1)].iter().zip(first as u32..) {
                let (layer, passed) = (Some(number), beside.passed(i));
                let row =
                    Row { ask, stop: None, layer, status: layers.status, hit, filled: false, lowest: false, passed };
                self.sheet.row(&row).map_err(&self.failed)?;
            }
        }
        Ok(())
    }
}

/// Columns of a file beside the points that are answered together.
#[derive(Clone, Copy)]
enum Beside<'b> {
    /// They were typed.
    Nothing,
    /// Their lines.
    File(&'b [Point], &'b Passed),
    /// The number of the first stop.
    Drive(&'b [Stop], usize, &'b Passed),
}

impl<'b> Beside<'b> {
    /// Zero where there is no file.
    fn line(self, i: usize) -> u64 {
        match self {
            Beside::Nothing => 0,
            Beside::File(lines, _) => lines[i].line,
            Beside::Drive(stops, ..) => stops[i].line,
        }
    }

    fn stop(self, i: usize) -> Option<&'b Stop> {
        match self {
            Beside::Drive(stops, ..) => Some(&stops[i]),
            _ => None,
        }
    }

    /// Where its line's other fields are.
    fn passed(self, i: usize) -> Option<(&'b Passed, usize)> {
        match self {
            Beside::Nothing => None,
            Beside::File(_, passed) => Some((passed, i)),
            Beside::Drive(_, first, passed) => Some((passed, first + i)),
        }
    }
}
