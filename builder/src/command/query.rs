//! `hardpan query`: the ground at points from the command line, a CSV file or stdin.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    str::FromStr,
};

use hardpan::{Answer, Hit, Reach, Status, Terrain, Trace};
use serde_json::json;

use super::{Done, Failure, NewFile, Replace, grouped, load, same, shown, terrain, warn};

#[derive(clap::Args)]
#[command(after_help = "\
Without z: the highest ground. With z: the nearest ground above or below it. With a length as well:
the first ground going down from z, at most so far. Metres; coordinates may be negative.

  hardpan query track.hpan -12.5,3 10,20,5 10,20,5,8
  hardpan query track.hpan --csv points.csv -o answers.csv
  hardpan query track.hpan 0,0 --layers")]
pub struct Args {
    /// Terrain image
    file: PathBuf,
    /// Points
    #[arg(value_name = "x,y[,z[,length]]", required_unless_present = "csv")]
    points: Vec<Ask>,
    /// Points from a CSV file of `x,y[,z[,length]]` lines, answers as CSV; "-" is stdin
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Where the answers go [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an output file that is there
    #[arg(long)]
    force: bool,
    /// All ground over each point, highest first
    #[arg(long, conflicts_with = "explain")]
    layers: bool,
    /// How each answer was found
    #[arg(long, conflicts_with_all = ["csv", "json"])]
    explain: bool,
    /// Answers as JSON
    #[arg(long)]
    json: bool,
}

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
        let ask = Ask::of(text.split(','))?;
        let numbers = [Some(ask.x), Some(ask.y), ask.z, ask.length];
        let endless = text.split(',').zip(numbers).find(|(_, v)| v.is_some_and(|v| !v.is_finite()));
        endless.map_or(Ok(ask), |(field, _)| Err(format!("\"{}\" is not a finite number", field.trim())))
    }
}

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
    fn of<'a>(fields: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let numbers: Result<Vec<Option<f64>>, String> = fields
            .map(str::trim)
            .zip(1..)
            .map(|(field, number)| match field {
                "" => Ok(None),
                field => field.parse().map(Some).map_err(|_| format!("\"{field}\" is not a number (field {number})")),
            })
            .collect();
        match numbers?[..] {
            [Some(x), Some(y)] => Ok(Ask { x, y, z: None, length: None }),
            [Some(x), Some(y), z] => Ok(Ask { x, y, z, length: None }),
            [Some(x), Some(y), z, length] if z.is_some() || length.is_none() => Ok(Ask { x, y, z, length }),
            _ => Err("a point is x,y or x,y,z or x,y,z,length".into()),
        }
    }

    fn answer(&self, t: &Terrain) -> Answer {
        match (self.z, self.length) {
            (Some(z), None) => t.closest([self.x, self.y, z]),
            (Some(z), Some(length)) => t.segment_m([self.x, self.y, z], length),
            // the highest: the first going down from above all
            (None, _) => {
                let [low, high] = t.bounds();
                let answer = t.segment_m([self.x, self.y, high[2] + 1.0], high[2] - low[2] + 2.0);
                match answer.found() {
                    true => Answer { hit: Hit { reach: Reach::Near, ..answer.hit }, ..answer },
                    false => Answer { status: answer.status, ..t.closest([f64::NAN; 3]) },
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
    let Some(output) = &args.output else { return answer(args, &terrain, out) };
    if same(output, &args.file) || args.csv.as_ref().is_some_and(|csv| same(output, csv)) {
        return Err(Failure::input(output, "the answers would replace what they come from; name another file with -o"));
    }
    Replace::None.or_any(args.force).check(output)?;
    let mut bytes = Vec::new();
    answer(args, &terrain, &mut bytes)?;
    NewFile::write(output, &bytes)?.keep()
}

fn answer(args: &Args, terrain: &Terrain, out: &mut impl Write) -> Done {
    if args.explain {
        return args.points.iter().try_for_each(|ask| explain(terrain, ask, out));
    }
    let mut sheet: Box<dyn Sheet + '_> = match (args.json, &args.csv) {
        (true, _) => Box::new(Json { out, first: true }),
        (false, Some(_)) => Box::new(Csv(csv::Writer::from_writer(out))),
        (false, None) => Box::new(Table { out }),
    };
    sheet.head(args.layers)?;
    // One sheet may show a place twice before layers are merged: leave room.
    let mut space = if args.layers { room(terrain) } else { Vec::new() };
    let mut cut = 0u64;
    let mut one = |ask: &Ask| -> Done {
        if !args.layers {
            let Answer { status, hit } = ask.answer(terrain);
            return sheet.row(&Row::new(terrain, ask, None, status, &hit));
        }
        let layers = terrain.layers([ask.x, ask.y, 0.0], &mut space);
        cut += u64::from(layers.total > layers.written);
        if layers.written == 0 {
            return sheet.row(&Row::new(terrain, ask, Some(0), layers.status, &space[0]));
        }
        let hits = space[..layers.written].iter().zip(1..);
        hits.map(|(hit, number)| Row::new(terrain, ask, Some(number), layers.status, hit))
            .try_for_each(|row| sheet.row(&row))
    };
    let mut asked = args.points.iter().try_for_each(&mut one);
    if let (Ok(()), Some(path)) = (&asked, &args.csv) {
        asked = read_csv(path, one);
    }
    // what was answered before an error is whole
    if !matches!(asked, Err(Failure::ClosedPipe)) {
        sheet.foot()?;
    }
    if cut > 0 {
        warn(format!(
            "{} places have more layers than {}; their lowest are not shown",
            grouped(cut),
            grouped(ROOM as u64)
        ));
    }
    asked
}

/// Calls `one` for each line; a first line of which no field is a number is a heading.
fn read_csv(path: &Path, mut one: impl FnMut(&Ask) -> Done) -> Done {
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(|e| Failure::io(path, e))?)
    };
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).comment(Some(b'#')).from_reader(input);
    let mut record = csv::StringRecord::new();
    let mut first = true;
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(e) => match e.into_kind() {
                csv::ErrorKind::Io(e) => return Err(Failure::io(path, e)),
                csv::ErrorKind::Utf8 { pos, .. } => {
                    let line = pos.map_or(0, |p| p.line());
                    return Err(Failure::input(
                        path,
                        format!("line {line}: not UTF-8 text; write the points as plain CSV"),
                    ));
                }
                other => return Err(Failure::input(path, format!("{other:?}; write the points as plain CSV"))),
            },
        }
        let heading = std::mem::take(&mut first) && record.iter().all(|f| f.trim().parse::<f64>().is_err());
        if heading || record.iter().all(|f| f.trim().is_empty()) {
            continue;
        }
        let ask = Ask::of(record.iter()).map_err(|e| {
            let line = record.position().map_or(0, |p| p.line());
            Failure::input(path, format!("line {line}: {e}; a line is x,y or x,y,z or x,y,z,length"))
        })?;
        one(&ask)?;
    }
}

/// One answer, ready to print.
struct Row<'a> {
    x: f64,
    y: f64,
    /// Of `--layers`: the number from the top, zero if there is none.
    layer: Option<u32>,
    status: &'static str,
    reach: &'static str,
    ground: Option<Ground<'a>>,
}

struct Ground<'a> {
    z: f64,
    slope: [f64; 2],
    mu: f64,
    rr: f64,
    material: &'a str,
    source: &'a str,
}

impl<'a> Row<'a> {
    fn new(t: &Terrain<'a>, ask: &Ask, layer: Option<u32>, status: Status, hit: &Hit) -> Self {
        let found = matches!(status, Status::Found);
        let reach = match (found, ask.length.is_some() && layer.is_none(), ask.z.is_some() && layer.is_none()) {
            (false, ..) => "",
            (_, true, _) => "below",
            (_, _, true) => reach_text(hit.reach),
            _ => "layer",
        };
        let ground = found.then(|| {
            let m = t.material(hit);
            Ground {
                z: t.z_f64(hit),
                slope: t.slope_f64(hit).map(|s| s + 0.0), // no "-0"
                mu: m.mu,
                rr: m.rolling,
                material: t.material_name(hit.material),
                source: t.source_name(hit.source),
            }
        });
        Row {
            x: ask.x,
            y: ask.y,
            layer,
            status: status_text(status),
            reach: if layer.is_none() && reach == "layer" { "top" } else { reach },
            ground,
        }
    }
}

fn status_text(status: Status) -> &'static str {
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

/// A way to print rows.
trait Sheet {
    fn head(&mut self, layers: bool) -> Done;
    fn row(&mut self, row: &Row) -> Done;
    fn foot(&mut self) -> Done;
}

/// For people.
struct Table<W> {
    out: W,
}

impl<W: Write> Sheet for Table<W> {
    fn head(&mut self, layers: bool) -> Done {
        let layer = if layers { "layer " } else { "" };
        writeln!(
            self.out,
            "{:>12} {:>12} {layer}{:>12} {:>9} {:>9} {:>6} {:>6}  {:<16} {:<16} found",
            "x", "y", "z", "slope x", "slope y", "mu", "rr", "material", "source"
        )?;
        Ok(())
    }

    fn row(&mut self, r: &Row) -> Done {
        let layer = r.layer.map(|n| format!("{n:>5} ")).unwrap_or_default();
        write!(self.out, "{:>12.3} {:>12.3} {layer}", r.x, r.y)?;
        match &r.ground {
            Some(g) => writeln!(
                self.out,
                "{:>12.6} {:>9.5} {:>9.5} {:>6} {:>6}  {:<16} {:<16} {}",
                g.z,
                g.slope[0],
                g.slope[1],
                g.mu,
                g.rr,
                shown(g.material),
                shown(g.source),
                r.reach
            )?,
            None => writeln!(
                self.out,
                "{:>12} {:>9} {:>9} {:>6} {:>6}  {:<16} {:<16} {}",
                "-", "-", "-", "-", "-", "-", "-", r.status
            )?,
        }
        Ok(())
    }

    fn foot(&mut self) -> Done {
        Ok(())
    }
}

/// For programs: numbers in full, nothing where there is no ground.
struct Csv<W: Write>(csv::Writer<W>);

fn csv_failure(error: csv::Error) -> Failure {
    match error.into_kind() {
        csv::ErrorKind::Io(e) => e.into(),
        other => Failure::Machine(format!("output: {other:?}")),
    }
}

impl<W: Write> Sheet for Csv<W> {
    fn head(&mut self, layers: bool) -> Done {
        let mut names = vec!["x", "y", "z", "slope_x", "slope_y", "mu", "rr", "material", "source", "status", "reach"];
        if layers {
            names.insert(2, "layer");
        }
        self.0.write_record(names).map_err(csv_failure)
    }

    fn row(&mut self, r: &Row) -> Done {
        let mut number = |v: Option<f64>| {
            let text = v.map(|v| v.to_string()).unwrap_or_default();
            self.0.write_field(text).map_err(csv_failure)
        };
        let g = r.ground.as_ref();
        number(Some(r.x))?;
        number(Some(r.y))?;
        if r.layer.is_some() {
            number(r.layer.map(f64::from))?;
        }
        number(g.map(|g| g.z))?;
        number(g.map(|g| g.slope[0]))?;
        number(g.map(|g| g.slope[1]))?;
        number(g.map(|g| g.mu))?;
        number(g.map(|g| g.rr))?;
        let (material, source) = g.map_or(("", ""), |g| (g.material, g.source));
        [material, source, r.status, r.reach].iter().try_for_each(|f| self.0.write_field(f)).map_err(csv_failure)?;
        self.0.write_record(None::<&[u8]>).map_err(csv_failure)
    }

    fn foot(&mut self) -> Done {
        Ok(self.0.flush()?)
    }
}

/// One array, one object a line.
struct Json<W> {
    out: W,
    first: bool,
}

impl<W: Write> Sheet for Json<W> {
    fn head(&mut self, _: bool) -> Done {
        Ok(write!(self.out, "[")?)
    }

    fn row(&mut self, r: &Row) -> Done {
        let g = r.ground.as_ref();
        let mut value = json!({
            "x": r.x,
            "y": r.y,
            "z": g.map(|g| g.z),
            "slope": g.map(|g| g.slope),
            "mu": g.map(|g| g.mu),
            "rr": g.map(|g| g.rr),
            "material": g.map(|g| g.material),
            "source": g.map(|g| g.source),
            "status": r.status,
            "reach": if r.reach.is_empty() { None } else { Some(r.reach) },
        });
        if let Some(layer) = r.layer {
            value["layer"] = layer.into();
        }
        let comma = if std::mem::take(&mut self.first) { "" } else { "," };
        Ok(write!(self.out, "{comma}\n  {value}")?)
    }

    fn foot(&mut self) -> Done {
        Ok(writeln!(self.out, "\n]")?)
    }
}

/// Every step of the search, the heights it weighed, and the rule that chose.
fn explain(t: &Terrain, ask: &Ask, out: &mut impl Write) -> Done {
    let answer = ask.answer(t);
    let from = ask.z.unwrap_or_else(|| t.z_f64(&answer.hit));
    let mut steps = Vec::new();
    t.explain([ask.x, ask.y, from], |step| steps.push(step));

    let question = match (ask.z, ask.length) {
        (None, _) => format!("highest ground at {}, {}", ask.x, ask.y),
        (Some(z), None) => format!("ground closest to {}, {}, {z}", ask.x, ask.y),
        (Some(z), Some(length)) => format!("first ground at most {length} m below {}, {}, {z}", ask.x, ask.y),
    };
    writeln!(out, "{question}")?;
    let (mut cost, mut candidates) = (hardpan::Cost::default(), Vec::new());
    for step in steps {
        match step {
            Trace::Node { log2 } => {
                cost.nodes += 1;
                writeln!(out, "  node       entries of {} m", 2f64.powi(log2 as i32 + t.header().xy_log2))?;
            }
            Trace::Words { words, lines } => {
                cost.lines += lines;
                writeln!(out, "  cell       {words} bundles or patches may lie over the place")?;
            }
            Trace::Leaf { record, lines } => {
                cost.leaves += 1;
                cost.lines += lines;
                writeln!(out, "  leaf       {record}")?;
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
        "  cost       {} nodes, {} leaves, {} tests, {} lines; stated for this image: at most {}, {}, {}, {}",
        cost.nodes, cost.leaves, cost.tests, cost.lines, bound.nodes, bound.leaves, bound.tests, bound.lines
    )?;
    Ok(())
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
        assert!(ask("1").is_err() && ask("1,2,,4").is_err() && ask("1,b").is_err() && ask("1,2,3,4,5").is_err());
    }
}
