//! `hardpan query`: the ground at points from the command line, a CSV file or stdin.

use std::{
    ffi::OsString,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    str::FromStr,
};

use hardpan::{Answer, Hit, Reach, Status, Terrain, Trace};
use hardpan_builder::{import::file_name, read};
use serde_json::json;

use super::{
    Done, Failure, NewFile, Replace, costs, counted, decimal,
    doubt::{Far, MANY, Reached},
    drive::{self, Drive, Stop},
    grouped, has_extension, is_nowhere,
    lines::{
        ANSWER, Column, Heights, Lines, Odd, Passed, Width, columns, first_of, heading_text, hint, meant, optional,
        places, separators, unquoted,
    },
    load, named, note,
    picture::Picture,
    plot::{self, Line, Sample},
    quoted, same, shown, terrain, warn,
};

#[derive(clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", drive::HELP))]
pub struct Args {
    /// Terrain image
    file: PathBuf,
    /// Points
    #[arg(value_name = "x,y[,z[,length]]", allow_negative_numbers = true, required_unless_present_any = ["csv", "along", "plot"])]
    points: Vec<Ask>,
    /// Points from a CSV file of `x,y[,z[,length]]` lines, or with a heading; answers as CSV; "-" is stdin
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// The places of a drive, answers as CSV with the distance driven; "-" is stdin
    #[arg(long, value_name = "DRIVE.csv", conflicts_with_all = ["points", "csv", "layers"])]
    along: Option<PathBuf>,
    /// Draw height, slope and mu along the drive, a line for each wheel, with dots where places lie far apart
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    plot: Option<PathBuf>,
    /// Where the answers go [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace output files that are there
    #[arg(long)]
    force: bool,
    /// All ground over each point, highest first
    #[arg(long, conflicts_with = "explain")]
    layers: bool,
    /// How each answer was found
    #[arg(long, conflicts_with = "json")]
    explain: bool,
    /// Where there is no ground, z, slope, mu and rr as the kernel answers then, by the image's policy; status says so all the same
    #[arg(long, conflicts_with_all = ["layers", "explain"])]
    fallback: bool,
    /// Answers as JSON
    #[arg(long)]
    json: bool,
    /// Exit with 1 if a place has no ground or is no number, or lacks a z that others have, or a drive seems to be of several wheels,
    /// or has lines of some wheels alone; all answers are written all the same
    #[arg(long)]
    strict: bool,
}

const EXAMPLES: &str = "\
Without z: the highest ground. With z: the nearest ground above or below it. With a length as well:
the first ground going down from z, at most so far. Metres; coordinates may be negative.

A heading of --csv names x and y, and z and length if there are any, in any order; without a heading the columns are
x,y[,z[,length]]. Metres. A field with a comma in it stands in quotes, and one with a quote too, which is doubled. Where the first line
has semicolons or tabs between its fields, so have all, and a comma in a number is its decimal point. Where lines have
a z, the highest ground answers those without: a note says how many. A line of units below the heading is passed over. What has a
number that is NaN or infinite, be it x, y, z or length, is answered as not in image, typed or from a file, of which a note says how many lines;
#N/A and its like of spreadsheets, -nan(ind) and 1.#IND count as NaN. A note at the end says where most lines miss the image, or have the
ground far from their z, and what they may have meant.

Columns of answers, as CSV:
  t, distance       of a drive: its time, s, and how far it went in plan, m
  x, y              as asked
  layer             of --layers: from 1, the highest
  z                 height of the ground, m
  slope_x, slope_y  dz/dx and dz/dy
  mu, rr            friction and rolling resistance of the material
  material, source  what it is made of, and the object that it comes from
  status            found, no ground, not in image; but for found all between it and y is empty, unless --fallback fills it
  reach             what the search found: top, near, far below, far above, below (with a length), layer
Numbers of CSV and JSON are the shortest that read back as the kernel's own, to the last bit; tables and --explain round to six digits.
Then come all other columns of the file as they stand, of which no two may have one name; what would be called as one of these is
asked_ and that, so the z that was asked with is asked_z. As JSON a field is a number, in the digits of the file, where JSON reads it
so; else it is text: 007 stays \"007\". Several wheels: lines of t,wheel,x,y,z, each with its wheel's own place, by --csv or --along.

  hardpan query track.hpan -12.5,3 10,20,5 10,20,5,8
  hardpan query track.hpan --csv points.csv -o answers.csv
  hardpan query track.hpan 0,0 --layers
  hardpan query track.hpan --along drive.csv --plot drive.png -o answers.csv";

/// What is asked about one place.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ask {
    x: f64,
    y: f64,
    z: Option<f64>,
    length: Option<f64>,
}

impl FromStr for Ask {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fields: Vec<&str> = text.split(',').collect();
        let first = unquoted(fields[0]);
        match fields.len() {
            1 if text.ends_with(".hpan") => Err(format!("{FORM}; one image is asked, whose name comes first")),
            1 if optional(first, 0).is_err() && separators(first).is_empty() => {
                let file = if text == "-" { text.into() } else { quoted(Path::new(text)) };
                Err(format!("{FORM}; points of a file: --csv {file}"))
            }
            1 => optional(first, 0).and(Err(format!("{FORM}, with commas and no blanks, as in 1,2"))),
            2 if fields[1].is_empty() => Err(format!("{FORM}, with commas and no blanks, as in 1,2")),
            0..=4 => Ask::of([0, 1, 2, 3].map(Some), |k| fields.get(k).copied()),
            _ => Err(FORM.into()),
        }
    }
}

/// What a point looks like.
const FORM: &str = "a point is x,y or x,y,z or x,y,z,length";

/// Puts a blank before what looks like a point that starts with a minus, so that it is not taken for an option.
pub fn shield(argument: OsString) -> OsString {
    let point = |text: &&str| {
        let digits = text.strip_prefix('-').unwrap_or_default().to_ascii_lowercase();
        let number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        (number || digits.starts_with("inf") || digits.starts_with("nan")) && digits.contains(',')
    };
    match argument.to_str().filter(point) {
        Some(text) => format!(" {text}").into(),
        None => argument,
    }
}

impl Ask {
    /// Numbers from fields at the places of x, y, z and length, of which the length is not below zero; the last two may be
    /// blank.
    fn of<'a>(places: [Option<usize>; 4], field: impl Fn(usize) -> Option<&'a str>) -> Result<Self, String> {
        let mut numbers = [None; 4];
        for (place, number) in places.into_iter().zip(&mut numbers) {
            if let Some((place, text)) = place.and_then(|place| Some((place, field(place)?))) {
                *number = optional(text, place)?;
            }
        }
        if let (Some(place), Some(length)) = (places[3], numbers[3].filter(|v| *v < 0.0 && v.is_finite())) {
            let place = place + 1;
            return Err(format!(
                "the length {length} is below zero (field {place}); it is how far to look down from z"
            ));
        }
        match numbers {
            [Some(x), Some(y), z, length] if z.is_some() || length.is_none() => Ok(Ask { x, y, z, length }),
            [Some(_), Some(_), ..] => Err(FORM.into()),
            [x, ..] => Err(format!("no {}; {FORM}", if x.is_none() { "x" } else { "y" })),
        }
    }

    /// Whether all of it are numbers and finite; else it is nowhere, whichever of them is not.
    fn somewhere(&self) -> bool {
        [Some(self.x), Some(self.y), self.z, self.length].into_iter().flatten().all(f64::is_finite)
    }

    /// Where to ask for it; the kernel says of what is no place that it is not in the image.
    fn place(&self, z: f64) -> [f64; 3] {
        if self.somewhere() { [self.x, self.y, z] } else { [f64::NAN; 3] }
    }

    fn answer(&self, t: &Terrain) -> Answer {
        match (self.z, self.length) {
            _ if !self.somewhere() => t.closest(self.place(0.0)),
            (Some(z), None) => t.closest([self.x, self.y, z]),
            (Some(z), Some(length)) => t.segment_m([self.x, self.y, z], length),
            // the highest: the first going down from above all
            (None, _) => {
                let [low, high] = t.bounds();
                let answer = t.segment_m([self.x, self.y, high[2] + 1.0], high[2] - low[2] + 2.0);
                match answer.found() {
                    true => Answer { hit: Hit { reach: Reach::Near, ..answer.hit }, ..answer },
                    // the fall-back may depend on the place
                    false => Answer { status: answer.status, ..t.closest([self.x, self.y, high[2] + 1.0]) },
                }
            }
        }
    }
}

/// Most layers of a place that are shown.
const ROOM: usize = 1 << 16;

/// Room for all layers of a place, as far as an image may be believed.
pub fn room(t: &Terrain) -> Vec<Hit> {
    vec![Hit::NONE; (t.max_layers() as usize).clamp(4, ROOM)]
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let image = load(&args.file)?;
    let terrain = terrain(&args.file, &image)?;
    check_outputs(args)?;
    let drive = args.along.as_ref().map(|path| drive::read(path)).transpose()?.unwrap_or_default();
    if let Some(path) = &args.plot {
        let (most, wheels) = (plot::MOST, drive.wheels.len());
        if wheels > most {
            let text =
                format!("a plot is of {most} wheels at most, and this drive has {wheels}; make several files of it");
            return Err(Failure::input(path, text));
        }
        let along = args.along.as_deref().unwrap_or(Path::new(""));
        let picture = picture(&terrain, &args.file, along, &drive);
        let bytes = if has_extension(path, "png") { picture.png()? } else { picture.svg().into_bytes() };
        NewFile::write(path, &bytes)?.keep()?;
    }
    let missed = match &args.output {
        None => answer(args, &terrain, &drive, out, Failure::from)?,
        Some(output) => {
            let failed = |e| Failure::write(output, e);
            let (new, file) = NewFile::create(output)?;
            let mut file = BufWriter::with_capacity(1 << 16, file);
            let missed = answer(args, &terrain, &drive, &mut file, failed)?;
            file.into_inner().map_err(|e| e.into_error()).and_then(|file| file.sync_all()).map_err(failed)?;
            new.keep()?;
            missed
        }
    };
    let file = args.csv.as_ref().or(args.along.as_ref());
    let apart = drive.apart(&drive.ticks());
    let lost = missed.told().map(|text| text + &missed.cause(&terrain).unwrap_or_default());
    let told = [drive.doubt, apart, missed.odd.told(), lost, missed.heights.told()];
    let told: Vec<String> = told.into_iter().flatten().collect();
    match file {
        Some(file) if args.strict && missed.asked == 0 => return Err(Failure::check(file, "nothing was asked")),
        _ if args.strict && !told.is_empty() => {
            return Err(Failure::check(file.unwrap_or(&args.file), told.join("; ")));
        }
        Some(file) => {
            let far = missed.far.told();
            told.into_iter().chain(far).for_each(|text| note(format!("{}: {text}", named(file))));
        }
        None => {}
    }
    Ok(())
}

/// Stops where answers or a plot cannot be written, or may not.
fn check_outputs(args: &Args) -> Done {
    if let Some(plot) = &args.plot {
        if args.along.is_none() {
            return Err(Failure::input(plot, "a plot is of a drive; name one as well: --along DRIVE.csv"));
        } else if !has_extension(plot, "svg") && !has_extension(plot, "png") && !is_nowhere(plot) {
            return Err(Failure::input(plot, "plots are SVG or PNG; name it FILE.svg or FILE.png"));
        }
    }
    let inputs = [Some(&args.file), args.csv.as_ref(), args.along.as_ref()];
    for output in args.output.iter().chain(&args.plot) {
        if inputs.into_iter().flatten().any(|input| same(output, input)) {
            let text = "the answers would replace what they come from; name another file";
            return Err(Failure::input(output, text));
        }
        Replace::None.or_any(args.force).check(output)?;
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
    out: &mut impl Write,
    failed: impl Fn(io::Error) -> Failure,
) -> Done<Missed> {
    let mut file = args.csv.as_ref().map(|path| Points::open(path)).transpose()?;
    let passed = file.as_ref().map_or(&drive.passed, |file| &file.passed);
    let from = args.points.iter().filter(|_| !args.layers).filter_map(|ask| ask.z);
    let shape = Shape {
        drive: args.along.is_some(),
        layers: args.layers,
        decimals: decimals(args.points.iter().flat_map(|ask| [ask.x, ask.y])),
        from: from.clone().next().map(|_| decimals(from)),
        names: passed.names.clone(),
        keys: passed.keys.clone(),
        wheel: passed.wheel,
    };
    let mut sheet: Box<dyn Sheet + '_> = match (args.explain, args.json, &file) {
        (true, ..) => Box::new(Explained { terrain, out, wheel: shape.wheel }),
        (_, true, _) => Box::new(Json::new(terrain, out)),
        (_, _, None) if !shape.drive => Box::new(Table { terrain, out, decimals: shape.decimals, from: shape.from }),
        _ => Box::new(Csv::new(terrain, out)),
    };
    sheet.head(&shape).map_err(&failed)?;
    // One sheet may show a place twice before layers are merged: leave room.
    let mut space = if args.layers { room(terrain) } else { Vec::new() };
    let mut cut = 0u64;
    let mut many = Many::default();
    let mut missed = Missed::default();
    missed.heights.named = file.as_ref().map_or(drive.heights.named, |file| file.heights);
    let mut all = |asks: &[Ask], beside: Beside| -> Done {
        for (i, Ask { x, y, z, length }) in asks.iter().enumerate() {
            let t = beside.stop(i).and_then(|s| s.t);
            if !matches!(beside, Beside::Nothing) {
                missed.odd.count(&[t, Some(*x), Some(*y), *z, *length], beside.line(i));
            }
        }
        if !args.layers {
            for (i, (ask, a)) in asks.iter().zip(many.answers(terrain, asks)).enumerate() {
                missed.count(a.status, beside.line(i));
                if !matches!(beside, Beside::Nothing) {
                    missed.heights.count(ask.z, beside.line(i));
                    missed.reached.count([ask.x, ask.y, ask.z.unwrap_or(0.0)]);
                    if let (Some(z), None, true) = (ask.z, ask.length, a.found()) {
                        missed.far.count(z, a, terrain);
                    }
                }
                let (stop, passed) = (beside.stop(i), beside.passed(i));
                let filled = args.fallback && !a.found();
                let row = Row { ask, stop, layer: None, status: a.status, hit: &a.hit, filled, passed };
                sheet.row(&row).map_err(&failed)?;
            }
            return Ok(());
        }
        for (i, ask) in asks.iter().enumerate() {
            let layers = terrain.layers(ask.place(0.0), &mut space);
            missed.count(layers.status, beside.line(i));
            cut += u64::from(layers.total > layers.written);
            let first = usize::from(layers.written > 0);
            for (hit, number) in space[..layers.written.max(1)].iter().zip(first as u32..) {
                let (layer, passed) = (Some(number), beside.passed(i));
                let row = Row { ask, stop: None, layer, status: layers.status, hit, filled: false, passed };
                sheet.row(&row).map_err(&failed)?;
            }
        }
        Ok(())
    };
    let mut asked = args.points.chunks(CHUNK).try_for_each(|asks| all(asks, Beside::Nothing));
    for (first, stops) in drive.stops.chunks(CHUNK).enumerate().map(|(i, stops)| (i * CHUNK, stops)) {
        let asks: Vec<Ask> = stops.iter().map(|s| Ask { x: s.x, y: s.y, z: s.z, length: None }).collect();
        asked = asked.and_then(|()| all(&asks, Beside::Drive(stops, first, &drive.passed)));
    }
    if let (Ok(()), Some(file)) = (&asked, &mut file) {
        asked = file.read(|asks, lines, passed| all(asks, Beside::File(lines, passed)));
    }
    // what was answered before an error is whole
    if !matches!(asked, Err(Failure::ClosedPipe)) {
        sheet.foot().map_err(failed)?;
    }
    if cut > 0 {
        warn(format!(
            "{} with more layers than {}, of which the lowest are not shown",
            counted(cut, "place"),
            grouped(ROOM as u64)
        ));
    }
    asked.map(|()| missed)
}

/// What a file has beside the points that are answered together.
#[derive(Clone, Copy)]
enum Beside<'b> {
    /// They were typed.
    Nothing,
    /// Numbers of the lines.
    File(&'b [u64], &'b Passed),
    /// The number of the first stop.
    Drive(&'b [Stop], usize, &'b Passed),
}

impl<'b> Beside<'b> {
    /// Zero where there is no file.
    fn line(self, i: usize) -> u64 {
        match self {
            Beside::Nothing => 0,
            Beside::File(lines, _) => lines[i],
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

/// Points of a file over which no ground was found.
#[derive(Default)]
struct Missed {
    /// All points.
    asked: u64,
    without: u64,
    /// Those of them that lie beside the image.
    outside: u64,
    /// Number of the first of them among all points, from 1, and its line.
    first: [u64; 2],
    /// Of lines; layers ask for none.
    heights: Heights,
    odd: Odd,
    reached: Reached,
    far: Far,
}

impl Missed {
    fn count(&mut self, status: Status, line: u64) {
        self.asked += 1;
        if status != Status::Found {
            self.first = if self.without == 0 { [self.asked, line] } else { self.first };
            self.without += 1;
            self.outside += u64::from(status == Status::NotInImage);
        }
    }

    /// One line, if there are any; points that were typed have no line.
    fn told(&self) -> Option<String> {
        let outside = match self.outside {
            0 => String::new(),
            n => format!(" ({} not in the image)", grouped(n)),
        };
        let (without, asked) = (grouped(self.without), counted(self.asked, "point"));
        let first = match self.first {
            [point, 0] => format!("is point {point}"),
            [_, line] => format!("on line {line}"),
        };
        (self.without > 0).then(|| format!("{without} of {asked} without ground{outside}, the first {first}"))
    }

    /// Why most points may have no ground, as the end of a sentence.
    fn cause(&self, t: &Terrain) -> Option<String> {
        let most = self.reached.places >= MANY && 2 * self.without > self.asked;
        if most { self.reached.told(t.bounds()) } else { None }
    }
}

/// A CSV file of points.
struct Points<'a> {
    path: &'a Path,
    lines: Lines<'a>,
    /// Where x, y, z and length are.
    places: [Option<usize>; 4],
    width: Width,
    /// The heading has a column z.
    heights: bool,
    /// There is no heading.
    bare: bool,
    passed: Passed,
}

const COLUMNS: [(&[&str], &str); 4] = [(&["x"], "m"), (&["y"], "m"), (&["z"], "m"), (&["length"], "m")];

impl<'a> Points<'a> {
    /// A first line of which no field is a number is a heading.
    fn open(path: &'a Path) -> Done<Self> {
        let mut lines = Lines::open(path)?;
        let mut heading = lines.heading()?.map(columns);
        let known = heading.as_deref().map(of_points).transpose().map_err(|e| lines.wrong(e))?;
        let unnamed: Vec<Column> = columns(&COLUMNS.map(|(names, _)| names[0]).to_vec().into());
        let own = known.map_or([Some(0), Some(1)], |k| [k[0], k[1]]);
        let all = heading.as_ref().unwrap_or(&unnamed);
        let places = known.unwrap_or([0, 1, 2, 3].map(Some));
        let passed = Passed::new(all, &own, &places[2..], &ANSWER[2..]).map_err(|e| lines.wrong(e))?;
        let heights = known.is_some_and(|k| k[2].is_some());
        let bare = known.is_none();
        let width = Width::of(all, !bare);
        if let Some(heading) = &mut heading {
            lines.units(heading)?;
            of_points(heading).map_err(|e| lines.wrong(e))?;
        }
        Ok(Points { path, width, heights, bare, lines, places, passed })
    }

    /// Calls `many` for the points of all lines, the lines' numbers and what stands beside them, in their order. Where a line is
    /// wrong, those before it are answered.
    fn read(&mut self, mut many: impl FnMut(&[Ask], &[u64], &Passed) -> Done) -> Done {
        let Points { path, lines, places, width, passed, bare, .. } = self;
        let (mut asks, mut numbers) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
        let mut any = false;
        loop {
            let mut fields = 0;
            let ask = match lines.next() {
                Ok(Some(line)) => {
                    fields = line.len();
                    passed.push(line);
                    let ask = Ask::of(*places, |k| line.get(k));
                    ask.and_then(|ask| width.check(line, FORM).map(|()| Some(ask))).map_err(|e| lines.wrong(e))
                }
                Ok(None) => Ok(None),
                Err(e) => Err(e),
            };
            if let Ok(Some(ask)) = &ask {
                if *bare && !any && fields > 2 {
                    let form = first_of("x,y,z,length", fields);
                    note(format!("{}: read as {form}: a heading says otherwise", named(path)));
                }
                any = true;
                asks.push(*ask);
                numbers.push(lines.line());
                if asks.len() < CHUNK {
                    continue;
                }
            }
            many(&asks, &numbers, passed)?;
            asks.clear();
            numbers.clear();
            passed.clear();
            if ask?.is_none() {
                if !any {
                    note(format!(
                        "{}: no points; lines are x,y or x,y,z or x,y,z,length, and a first line without numbers is a heading",
                        named(path)
                    ));
                }
                return Ok(());
            }
        }
    }
}

/// Where a heading has each of [`COLUMNS`].
fn of_points(heading: &[Column]) -> Result<[Option<usize>; 4], String> {
    match places(heading, COLUMNS, "x,y[,z[,length]] and any others")? {
        places @ [Some(_), Some(_), ..] => Ok(places),
        _ => Err(format!(
            "the heading {} has no x and y; name them, or leave the heading out{}",
            heading_text(heading),
            hint(heading)
        )),
    }
}

/// Answers many questions at once, in space that it keeps.
#[derive(Default)]
struct Many {
    points: Vec<[f64; 3]>,
    answers: Vec<Answer>,
}

impl Many {
    fn answers(&mut self, t: &Terrain, asks: &[Ask]) -> &[Answer] {
        // above all ground, if the windows reach down to all of it: the nearest from there is the highest
        let [low, high] = t.bounds();
        let depth = (high[2] - low[2] + 2.0) / 2f64.powi(t.header().z_log2 - 8);
        let top = (t.windows().far as f64 >= depth).then_some(high[2] + 1.0);
        let point = |ask: &Ask| match ask {
            Ask { length: None, z, .. } => z.or(top).map(|z| ask.place(z)),
            _ => None,
        };
        self.points.clear();
        self.points.extend(asks.iter().map(|ask| point(ask).unwrap_or([f64::NAN; 3])));
        self.answers.resize(asks.len(), Answer { status: Status::NoGround, hit: Hit::NONE });
        t.closest_batch(&self.points, &mut self.answers);
        for (ask, answer) in asks.iter().zip(&mut self.answers) {
            if point(ask).is_none() {
                *answer = ask.answer(t);
            }
        }
        &self.answers
    }
}

/// Height, slope and friction along a drive that was read from a file.
pub fn picture(t: &Terrain, image: &Path, file: &Path, drive: &Drive) -> Picture {
    let name = |path: &Path| shown(&file_name(path));
    let line = |(k, name): (usize, &String)| {
        let stops: Vec<&Stop> = drive.stops.iter().filter(|stop| stop.wheel == k).collect();
        Line { name: shown(name), samples: samples(t, &stops) }
    };
    let lines: Vec<Line> = drive.wheels.iter().enumerate().map(line).collect();
    plot::picture(&format!("{} along {}", name(image), name(file)), &lines)
}

/// The ground along the way of a wheel, slopes in the direction in which it goes on.
fn samples(t: &Terrain, drive: &[&Stop]) -> Vec<Sample> {
    let way = |pair: &[&Stop]| {
        let (dx, dy) = (pair[1].x - pair[0].x, pair[1].y - pair[0].y);
        let length = (dx * dx + dy * dy).sqrt();
        (length > 0.0).then(|| [dx / length, dy / length])
    };
    // who stands still, looks where he came from
    let mut ahead = drive.windows(2).find_map(way).unwrap_or_default();
    let sample = |(i, stop): (usize, &&Stop)| {
        ahead = drive.get(i..i + 2).and_then(way).unwrap_or(ahead);
        let answer = Ask { x: stop.x, y: stop.y, z: stop.z, length: None }.answer(t);
        let ground = answer.found().then(|| {
            let [sx, sy] = t.slope_f64(&answer.hit);
            [t.z_f64(&answer.hit), 100.0 * (sx * ahead[0] + sy * ahead[1]), t.material(&answer.hit).mu]
        });
        Sample { distance: stop.distance, ground }
    };
    drive.iter().enumerate().map(sample).collect()
}

/// One answer.
struct Row<'r> {
    ask: &'r Ask,
    /// Of `--along`.
    stop: Option<&'r Stop>,
    /// Of `--layers`: the number from the top, zero if there is none.
    layer: Option<u32>,
    status: Status,
    hit: &'r Hit,
    /// Whether there is no ground, and the kernel's fall-back is shown.
    filled: bool,
    /// Other fields of its line, by its number.
    passed: Option<(&'r Passed, usize)>,
}

impl Row<'_> {
    fn found(&self) -> bool {
        matches!(self.status, Status::Found)
    }

    fn fields(&self) -> impl Iterator<Item = &'_ str> {
        self.passed.into_iter().flat_map(|(passed, i)| passed.fields(i))
    }

    /// What the search found; nothing where there is no ground.
    fn reach(&self) -> &'static str {
        match (self.found(), self.layer, self.ask) {
            (false, ..) if self.filled => reach_text(Reach::Fallback),
            (false, ..) => "",
            (_, Some(_), _) => "layer",
            (.., Ask { length: Some(_), .. }) => "below",
            (.., Ask { z: Some(_), .. }) => reach_text(self.hit.reach),
            _ => "top",
        }
    }
}

/// What the kernel answers where there is no ground: z, slope, mu and rr.
fn fallen(t: &Terrain, r: &Row) -> [f64; 5] {
    let [sx, sy] = slope(t, r.hit);
    let [mu, rr, _] = t.surface(&Answer { status: r.status, hit: *r.hit });
    [t.z_f64(r.hit), sx, sy, mu, rr]
}

/// dz/dx and dz/dy without "-0".
fn slope(t: &Terrain, hit: &Hit) -> [f64; 2] {
    t.slope_f64(hit).map(|s| s + 0.0)
}

pub fn status_text(status: Status) -> &'static str {
    match status {
        Status::Found => "found",
        Status::NoGround => "no ground",
        Status::NotInImage => "not in image",
        Status::Damaged => "damaged",
        Status::LimitReached => "limit reached",
    }
}

fn reach_text(reach: Reach) -> &'static str {
    match reach {
        Reach::Near => "near",
        Reach::FarBelow => "far below",
        Reach::FarAbove => "far above",
        Reach::Fallback => "fall-back",
    }
}

/// What rows hold beside the answers.
struct Shape {
    drive: bool,
    layers: bool,
    /// Of x and y of the points that were typed.
    decimals: usize,
    /// Of their z, if some have one.
    from: Option<usize>,
    /// Names of other columns, for CSV and for JSON.
    names: Vec<String>,
    keys: Vec<Option<String>>,
    /// Which of them is the wheel.
    wheel: Option<usize>,
}

/// Digits that numbers are shown with, so that they stand as they were typed: 3 to 9.
fn decimals(numbers: impl Iterator<Item = f64>) -> usize {
    let digits = numbers.map(|v| v.to_string().split_once('.').map_or(0, |(_, digits)| digits.len()));
    digits.max().unwrap_or(0).clamp(3, 9)
}

/// A number with so many digits behind the point, or as it is typed if it is too large for a table.
fn typed(v: f64, digits: usize) -> String {
    if v.abs() < 1e15 { format!("{v:.digits$}") } else { decimal(v) }
}

/// A way to print rows.
trait Sheet {
    fn head(&mut self, shape: &Shape) -> io::Result<()>;
    fn row(&mut self, row: &Row) -> io::Result<()>;
    fn foot(&mut self) -> io::Result<()>;
}

/// Each answer step by step.
struct Explained<'t, 'a, W> {
    terrain: &'t Terrain<'a>,
    out: W,
    /// Number of the column wheel among the others.
    wheel: Option<usize>,
}

impl<W: Write> Sheet for Explained<'_, '_, W> {
    fn head(&mut self, _: &Shape) -> io::Result<()> {
        Ok(())
    }

    fn row(&mut self, r: &Row) -> io::Result<()> {
        let wheel = self.wheel.and_then(|k| r.fields().nth(k)).map(meant);
        explain(self.terrain, r.ask, wheel.as_deref().map(str::trim), &mut self.out)
    }

    fn foot(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// For people.
struct Table<'t, 'a, W> {
    terrain: &'t Terrain<'a>,
    out: W,
    /// Of x and y, and of the z that was asked with, if it is shown.
    decimals: usize,
    from: Option<usize>,
}

impl<W: Write> Sheet for Table<'_, '_, W> {
    fn head(&mut self, shape: &Shape) -> io::Result<()> {
        let layer = if shape.layers { "layer " } else { "" };
        let from = self.from.map(|digits| format!("{:>1$} ", "from z", digits + 6)).unwrap_or_default();
        let width = self.decimals + 9;
        writeln!(
            self.out,
            "{:>width$} {:>width$} {from}{layer}{:>12} {:>9} {:>9} {:>6} {:>6}  {:<16} {:<16} found",
            "x", "y", "z", "slope x", "slope y", "mu", "rr", "material", "source"
        )
    }

    fn row(&mut self, r: &Row) -> io::Result<()> {
        let layer = r.layer.map(|n| format!("{n:>5} ")).unwrap_or_default();
        let from = |digits: usize| {
            let z = r.ask.z.map_or("-".into(), |z| typed(z, digits));
            format!("{z:>0$} ", digits + 6)
        };
        let (from, digits, width) = (self.from.map(from).unwrap_or_default(), self.decimals, self.decimals + 9);
        let [x, y] = [r.ask.x, r.ask.y].map(|v| typed(v, digits));
        write!(self.out, "{x:>width$} {y:>width$} {from}{layer}")?;
        if r.filled {
            let [z, sx, sy, mu, rr] = fallen(self.terrain, r);
            let status = status_text(r.status);
            return writeln!(
                self.out,
                "{z:>12.6} {sx:>9.5} {sy:>9.5} {mu:>6} {rr:>6}  {:<16} {:<16} {status}, fall-back",
                "-", "-"
            );
        }
        if !r.found() {
            return writeln!(
                self.out,
                "{:>12} {:>9} {:>9} {:>6} {:>6}  {:<16} {:<16} {}",
                "-",
                "-",
                "-",
                "-",
                "-",
                "-",
                "-",
                status_text(r.status)
            );
        }
        let (t, [sx, sy]) = (self.terrain, slope(self.terrain, r.hit));
        let m = t.material(r.hit);
        writeln!(
            self.out,
            "{:>12.6} {sx:>9.5} {sy:>9.5} {:>6} {:>6}  {:<16} {:<16} {}",
            t.z_f64(r.hit),
            m.mu,
            m.rolling,
            shown(t.material_name(r.hit.material)),
            shown(t.source_name(r.hit.source)),
            r.reach()
        )
    }

    fn foot(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// For programs: numbers in full, nothing where there is no ground.
struct Csv<'t, 'a, W> {
    terrain: &'t Terrain<'a>,
    out: W,
    line: Vec<u8>,
    /// `,mu,rr,name` of each material, and `,name` of each source.
    materials: Vec<Vec<u8>>,
    sources: Vec<Vec<u8>>,
}

impl<'t, 'a, W: Write> Csv<'t, 'a, W> {
    fn new(terrain: &'t Terrain<'a>, out: W) -> Self {
        let fields = |fields: &[&str]| {
            let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
            let all = [&[""], fields].concat();
            let _ = writer.write_record(all); // into memory
            let mut line = writer.into_inner().unwrap_or_default();
            line.pop();
            line
        };
        let materials = terrain
            .materials()
            .iter()
            .enumerate()
            .map(|(i, m)| fields(&[&m.mu.to_string(), &m.rolling.to_string(), terrain.material_name(i as u16)]));
        let sources = (0..terrain.source_count()).map(|i| fields(&[terrain.source_name(i as u16)]));
        Csv { materials: materials.collect(), sources: sources.collect(), terrain, out, line: Vec::new() }
    }
}

impl<W: Write> Sheet for Csv<'_, '_, W> {
    fn head(&mut self, shape: &Shape) -> io::Result<()> {
        let (drive, layer) = (if shape.drive { "t,distance," } else { "" }, if shape.layers { "layer," } else { "" });
        write!(self.out, "{drive}x,y,{layer}z,slope_x,slope_y,mu,rr,material,source,status,reach")?;
        shape.names.iter().try_for_each(|name| write!(self.out, ",{name}"))?;
        writeln!(self.out)
    }

    fn row(&mut self, r: &Row) -> io::Result<()> {
        let line = &mut self.line;
        line.clear();
        if let Some(stop) = r.stop {
            stop.t.into_iter().for_each(|t| push_number(line, t));
            line.push(b',');
            push_number(line, stop.distance);
            line.push(b',');
        }
        push_number(line, r.ask.x);
        line.push(b',');
        push_number(line, r.ask.y);
        if let Some(layer) = r.layer {
            line.push(b',');
            push_number(line, layer.into());
        }
        if r.found() {
            let [sx, sy] = slope(self.terrain, r.hit);
            for v in [self.terrain.z_f64(r.hit), sx, sy] {
                line.push(b',');
                push_number(line, v);
            }
            line.extend(self.materials.get(usize::from(r.hit.material)).map_or(&b",,,"[..], |m| m));
            line.extend(self.sources.get(usize::from(r.hit.source)).map_or(&b","[..], |s| s));
        } else if r.filled {
            for v in fallen(self.terrain, r) {
                line.push(b',');
                push_number(line, v);
            }
            line.extend(b",,");
        } else {
            line.extend(b",,,,,,,");
        }
        line.push(b',');
        line.extend(status_text(r.status).as_bytes());
        line.push(b',');
        line.extend(r.reach().as_bytes());
        r.passed.into_iter().for_each(|(passed, i)| line.extend(passed.line(i).as_bytes()));
        line.push(b'\n');
        self.out.write_all(line)
    }

    fn foot(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Appends the shortest text that reads as the same number, without an exponent.
fn push_number(line: &mut Vec<u8>, v: f64) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(v).as_bytes();
    if text.contains(&b'e') {
        let _ = write!(line, "{v}"); // no exponents; into memory
    } else {
        line.extend(text.strip_suffix(b".0").unwrap_or(text));
    }
}

/// One array, one object a line.
struct Json<'t, 'a, W> {
    terrain: &'t Terrain<'a>,
    out: W,
    line: Vec<u8>,
    /// `,"mu":…,"rr":…,"material":…` of each material, and `,"source":…` of each source.
    materials: Vec<Vec<u8>>,
    sources: Vec<Vec<u8>>,
    /// `,"name":` of each other column, empty of those that are part of the question.
    keys: Vec<Vec<u8>>,
    /// Whether another column is called as the height that was asked with.
    asked: bool,
    first: bool,
}

impl<'t, 'a, W: Write> Json<'t, 'a, W> {
    fn new(terrain: &'t Terrain<'a>, out: W) -> Self {
        let materials = terrain.materials().iter().enumerate().map(|(i, m)| {
            let name = json!(terrain.material_name(i as u16));
            format!(",\"mu\":{},\"rr\":{},\"material\":{name}", json!(m.mu), json!(m.rolling)).into()
        });
        let sources =
            (0..terrain.source_count()).map(|i| format!(",\"source\":{}", json!(terrain.source_name(i as u16))));
        let (materials, sources) = (materials.collect(), sources.map(String::into_bytes).collect());
        Json { materials, sources, terrain, out, line: Vec::new(), keys: Vec::new(), asked: false, first: true }
    }
}

impl<W: Write> Sheet for Json<'_, '_, W> {
    fn head(&mut self, shape: &Shape) -> io::Result<()> {
        let key = |key: &Option<String>| key.as_ref().map_or(Vec::new(), |key| format!(",{}:", json!(key)).into());
        self.keys = shape.keys.iter().map(key).collect();
        self.asked = shape.keys.iter().flatten().any(|key| key == "asked_z");
        write!(self.out, "[")
    }

    fn row(&mut self, r: &Row) -> io::Result<()> {
        let line = &mut self.line;
        line.clear();
        line.extend(if std::mem::take(&mut self.first) { &b"\n  {"[..] } else { b",\n  {" });
        push_json(line, "\"x\":", Some(r.ask.x));
        push_json(line, ",\"y\":", Some(r.ask.y));
        if r.found() {
            let [sx, sy] = slope(self.terrain, r.hit);
            push_json(line, ",\"z\":", Some(self.terrain.z_f64(r.hit)));
            push_json(line, ",\"slope\":[", Some(sx));
            push_json(line, ",", Some(sy));
            line.push(b']');
            line.extend(self.materials.get(usize::from(r.hit.material)).map_or(&b""[..], |m| m));
            line.extend(self.sources.get(usize::from(r.hit.source)).map_or(&b""[..], |s| s));
        } else if r.filled {
            let [z, sx, sy, mu, rr] = fallen(self.terrain, r);
            push_json(line, ",\"z\":", Some(z));
            push_json(line, ",\"slope\":[", Some(sx));
            push_json(line, ",", Some(sy));
            push_json(line, "],\"mu\":", Some(mu));
            push_json(line, ",\"rr\":", Some(rr));
            line.extend(b",\"material\":null,\"source\":null");
        } else {
            line.extend(b",\"z\":null,\"slope\":null,\"mu\":null,\"rr\":null,\"material\":null,\"source\":null");
        }
        line.extend(b",\"status\":\"");
        line.extend(status_text(r.status).as_bytes());
        match r.reach() {
            "" => line.extend(b"\",\"reach\":null"),
            reach => _ = write!(line, "\",\"reach\":\"{reach}\""), // into memory
        }
        r.layer.into_iter().for_each(|layer| _ = write!(line, ",\"layer\":{layer}"));
        if !self.asked {
            push_json(line, ",\"asked_z\":", r.ask.z);
        }
        r.ask.length.into_iter().for_each(|length| push_json(line, ",\"length\":", Some(length)));
        for (key, field) in self.keys.iter().zip(r.fields()).filter(|(key, _)| !key.is_empty()) {
            line.extend(key);
            push_field(line, field);
        }
        if let Some(stop) = r.stop {
            push_json(line, ",\"t\":", stop.t);
            push_json(line, ",\"distance\":", Some(stop.distance));
        }
        line.push(b'}');
        self.out.write_all(line)
    }

    fn foot(&mut self) -> io::Result<()> {
        writeln!(self.out, "\n]")
    }
}

/// Appends a key and a number, or null.
fn push_json(line: &mut Vec<u8>, key: &str, v: Option<f64>) {
    line.extend(key.as_bytes());
    match v.filter(|v| v.is_finite()) {
        Some(v) => line.extend(zmij::Buffer::new().format_finite(v).as_bytes()),
        None => line.extend(b"null"),
    }
}

/// Appends a field as JSON: what reads as a number there as it stands, null for nothing, else the text that it means.
fn push_field(line: &mut Vec<u8>, field: &str) {
    let text = unquoted(field);
    // most texts show by their first letter that they are none
    let numeric = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    if numeric && serde_json::from_str::<serde_json::Number>(text).is_ok() {
        line.extend(text.as_bytes());
    } else if text.is_empty() {
        line.extend(b"null");
    } else {
        _ = serde_json::to_writer(line, &*meant(field)); // into memory
    }
}

/// Every step of the search, the heights it weighed, and the rule that chose.
fn explain(t: &Terrain, ask: &Ask, wheel: Option<&str>, out: &mut impl Write) -> io::Result<()> {
    let answer = ask.answer(t);
    let from = ask.z.unwrap_or_else(|| t.z_f64(&answer.hit));
    let mut steps = Vec::new();
    t.explain(ask.place(from), |step| steps.push(step));

    let [x, y] = [ask.x, ask.y].map(decimal);
    let question = match (ask.z.map(decimal), ask.length.map(decimal)) {
        (None, _) => format!("highest ground at {x}, {y}"),
        (Some(z), None) => format!("ground closest to {x}, {y}, {z}"),
        (Some(z), Some(length)) => format!("first ground at most {length} m below {x}, {y}, {z}"),
    };
    writeln!(out, "{question}")?;
    wheel.map_or(Ok(()), |wheel| writeln!(out, "  wheel      {}", shown(wheel)))?;
    let (mut cost, mut candidates) = (hardpan::Cost::default(), Vec::new());
    for step in steps {
        match step {
            Trace::Node { log2 } => {
                cost.nodes += 1;
                writeln!(out, "  node       entries of {} m", 2f64.powi(log2 as i32 + t.header().xy_log2))?;
            }
            Trace::Words { words, lines } => {
                cost.lines += lines;
                let lines = counted(lines, "line");
                writeln!(out, "  cell       {} may lie over the place, {lines}", counted(words, "leaf"))?;
            }
            Trace::Leaf { record, lines } => {
                cost.leaves += 1;
                cost.lines += lines;
                let held = read::leaf(t, record, lines).map(|leaf| {
                    let what = leaf.triangles.map_or("heights".into(), |n| counted(n as u64, "triangle"));
                    let [material, source] = [t.material_name(leaf.material), t.source_name(leaf.source)].map(shown);
                    format!("{what}, {material} of {source}, ")
                });
                let held = held.unwrap_or_default();
                writeln!(out, "  leaf       {record}: {held}{}", counted(lines, "line"))?;
            }
            Trace::Test { part, covered, .. } => {
                cost.tests += 1;
                writeln!(out, "    test     {part}: {}", if covered { "covers the place" } else { "beside it" })?;
            }
            Trace::Candidate(hit) => candidates.push(hit),
        }
    }
    candidates.sort_by_key(|hit| -hit.z);
    for hit in &candidates {
        writeln!(
            out,
            "  candidate  z {:.6}  {} of {}",
            t.z_f64(hit),
            shown(t.material_name(hit.material)),
            shown(t.source_name(hit.source))
        )?;
    }
    let near = t.header().near as f64 * 2f64.powi(t.header().z_log2 - 8);
    let rule = match (answer.status, ask.z, ask.length) {
        (Status::Found, None, _) => "the highest".to_string(),
        (Status::Found, _, Some(_)) => "the first going down".to_string(),
        (Status::Found, ..) => match answer.hit.reach {
            Reach::Near => format!("the nearest within {near} m, above or below; of two equally near the lower"),
            Reach::FarBelow => format!("nothing within {near} m; the highest below"),
            _ => format!("nothing within {near} m or below; the lowest above"),
        },
        (status, ..) => status_text(status).to_string(),
    };
    match answer.found() {
        true => writeln!(out, "  answer     z {:.6}: {rule}", t.z_f64(&answer.hit))?,
        false => writeln!(out, "  answer     none: {rule}")?,
    }
    let bound = t.bound();
    writeln!(
        out,
        "  cost       {}; stated for this image: at most {}, {}, {}, {}",
        costs(&cost),
        bound.nodes,
        bound.leaves,
        bound.tests,
        bound.lines
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points() {
        let ask = |text: &str| text.parse::<Ask>();
        assert_eq!(ask("-12.5,3"), Ok(Ask { x: -12.5, y: 3.0, z: None, length: None }));
        assert_eq!(ask("1, 2, -3, 4"), Ok(Ask { x: 1.0, y: 2.0, z: Some(-3.0), length: Some(4.0) }));
        assert_eq!(ask("1,2,,"), Ok(Ask { x: 1.0, y: 2.0, z: None, length: None }));
        assert!(
            ask("").is_err()
                && ask("1").is_err()
                && ask("1,2,,4").is_err()
                && ask("1,b").is_err()
                && ask("1,2,3,4,5").is_err()
        );
        let nowhere = |text: &&str| ask(text).is_ok_and(|a| !a.somewhere() && a.place(0.0)[0].is_nan());
        assert!(["nan,1", "1,inf", "1,2,1e400", "1,2,3,-infinity", "1,2,3,nan"].iter().all(nowhere));
        assert!(ask("1,2,3,-1").is_err());
        assert_eq!(ask("1,2,3,-0").map(|a| a.length), Ok(Some(0.0)));
    }

    #[test]
    fn the_shortest_text_of_a_number() {
        let mut bits = 1u64;
        let random = (0..200_000).map(|i| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match i % 3 {
                0 => f64::from_bits(bits ^ bits >> 31),
                1 => (bits as i64 >> 20) as f64 / 16_777_216.0,
                _ => (bits as i64 >> 40) as f64 / 1000.0,
            }
        });
        let odd = [0.0, -0.0, 6.0, 1e15, 1e16, -1e22, 1e-5, 1.5e-5, 0.0001, f64::MIN_POSITIVE, f64::NAN, f64::INFINITY];
        for v in random.chain(odd).chain(odd.map(|v| -v)) {
            let mut line = Vec::new();
            push_number(&mut line, v);
            let (text, shown) = (String::from_utf8(line).unwrap(), v.to_string());
            let same = super::super::lines::number(&text).map(f64::to_bits) == Some(v.to_bits())
                || v.is_nan() && text == shown;
            // where two shortest texts are equally near, either
            assert!(same && text.len() == shown.len() && !text.contains('e'), "{text} is not {shown}");
        }
    }

    /// Many at once and one at a time, with windows that reach and with such that do not.
    #[test]
    fn batches_change_no_answer() {
        use hardpan_builder::{Options, build, fixtures};
        for far in [5000.0, 2.0] {
            let options = Options { near: 0.5, far, ..Options::default() };
            let built = build(&fixtures::bridge(), &options).unwrap();
            let t = Terrain::open(&built.image).unwrap();
            let mut asks = Vec::new();
            for x in -60..60 {
                for (z, length) in [(None, None), (Some(2.9), None), (Some(9.0), None), (Some(5.0), Some(4.9))] {
                    asks.push(Ask { x: f64::from(x), y: 0.25 * f64::from(x), z, length });
                }
            }
            let mut many = Many::default();
            for (ask, one) in asks.iter().zip(many.answers(&t, &asks)) {
                let mut single = ask.answer(&t);
                if ask.z.is_none() {
                    single.hit.reach = one.hit.reach; // not shown
                }
                assert_eq!(single, *one, "{ask:?}");
            }
        }
    }
}
