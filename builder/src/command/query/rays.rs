//! `hardpan query --ray`: the first surface in any direction.

use std::io::{self, Write};
use std::path::Path;

use hardpan::{Cost, Kind, Kinds, RayAnswer, RayOptions, RayStatus, Terrain, Trace};
use serde_json::{Map, Value, json};

use super::super::{Done, Failure, Form, costs, counted, named, note, shown, tables};
use super::{Args, csv::field, push_number};
use crate::query::shot::{Shot, Way};
use crate::query::table::{Points, meant, unquoted};

/// A ray as it is typed.
pub fn shot(text: &str) -> Result<Shot, String> {
    const FORM: &str = "a ray is x,y,z,dx,dy,dz,length: where it starts, its direction, and how far it goes";
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|field| field.trim().parse::<f64>()).collect();
    match numbers.as_deref() {
        Ok(&[x, y, z, dx, dy, dz, length]) => Ok(Shot { origin: [x, y, z], way: Way::Along([dx, dy, dz], length) }),
        _ => Err(FORM.into()),
    }
}

/// Kinds of surfaces by their names.
pub fn kinds(text: &str) -> Result<Kinds, String> {
    text.split(',').filter(|name| !name.is_empty()).try_fold(Kinds::STORED, |all, name| match name.trim() {
        "ground" => Ok(all.and(Kinds::GROUND)),
        "ceiling" => Ok(all.and(Kinds::CEILING)),
        "obstacle" => Ok(all.and(Kinds::OBSTACLE)),
        other => Err(format!("{other:?} is none of ground, ceiling and obstacle")),
    })
}

/// Classes by their numbers.
pub fn classes(text: &str) -> Result<u32, String> {
    text.split(',').filter(|number| !number.is_empty()).try_fold(0, |all, number| match number.trim().parse::<u32>() {
        Ok(class @ 0..32) => Ok(all | 1 << class),
        _ => Err(format!("{number:?} is no class; classes are 0 to 31")),
    })
}

/// Names of answers.
#[rustfmt::skip]
pub const ANSWER: [&str; 14] = [
    "status", "t", "distance", "x", "y", "z", "normal_x", "normal_y", "normal_z", "material", "source", "kind", "side", "leaf",
];

/// Where a table has its rays.
pub struct Columns([usize; 3], bool);

impl Columns {
    /// Those of a table that has rays: `dx,dy,dz` with a length, or `to_x,to_y,to_z`.
    pub fn of(file: &Points) -> Option<Columns> {
        let all = |names: [&str; 3]| {
            let [x, y, z] = names.map(|name| file.column(name));
            Some([x?, y?, z?])
        };
        let along = all(["dx", "dy", "dz"]).filter(|_| file.column("length").is_some());
        let along = along.map(|at| Columns(at, false));
        along.or_else(|| all(["to_x", "to_y", "to_z"]).map(|at| Columns(at, true)))
    }
}

/// One ray and what it met, with the other fields of its line.
struct Row<'r> {
    shot: &'r Shot,
    answer: &'r RayAnswer,
    names: &'r [Option<String>],
    passed: Vec<&'r str>,
    text: &'r str,
}

/// Casts all rays, and says what they met.
pub fn run(args: &Args, t: &Terrain, file: Option<(&Path, Points, Columns)>, out: &mut impl Write) -> Done {
    let options = RayOptions { kinds: args.kinds, classes: args.classes, ..RayOptions::default() };
    let form = if args.json { Some(Form::Json) } else { args.output.as_deref().and_then(Form::of) };
    let form = form.or(file.is_some().then_some(Form::Csv));
    let mut sheet = Sheet { t, out, form, first: true, odd: 0, total: 0 };
    let names = file.as_ref().map_or(Vec::new(), |(_, points, _)| points.passed.names.clone());
    sheet.head(&names)?;
    for shot in &args.ray {
        if args.explain {
            explain(t, shot, &options, sheet.out)?;
            continue;
        }
        let answer = shot.answer(t, &options);
        sheet.row(&Row { shot, answer: &answer, names: &[], passed: Vec::new(), text: "" })?;
    }
    let mut of_file = None;
    if let Some((path, mut points, columns)) = file {
        tables::notes(path, points.notes());
        while points.chunk()? {
            for (i, row) in points.rows.iter().enumerate() {
                let number = |k: usize| {
                    let field = points.passed.fields(i).nth(k).map(meant).unwrap_or_default();
                    let text = field.trim().replacen(',', ".", 1);
                    let wrong = || Failure::input(path, format!("line {}: {field:?} is not a number", row.line));
                    if text.is_empty() { Ok(f64::NAN) } else { text.parse::<f64>().map_err(|_| wrong()) }
                };
                let [x, y, z, length] = row.numbers.map(|v| v.unwrap_or(f64::NAN));
                let Columns([a, b, c], to) = columns;
                let way = [number(a)?, number(b)?, number(c)?];
                let way = if to { Way::To(way) } else { Way::Along(way, length) };
                let shot = Shot { origin: [x, y, z], way };
                let passed = points.passed.fields(i).collect();
                let answer = shot.answer(t, &options);
                let (names, text) = (&points.passed.keys[..], points.passed.line(i));
                sheet.row(&Row { shot: &shot, answer: &answer, names, passed, text })?;
            }
        }
        of_file = Some(path);
    }
    let (odd, total) = (sheet.odd, sheet.total);
    sheet.foot()?;
    if odd > 0 && (args.strict || of_file.is_some()) {
        let text = format!("{} of {total} have no answer: see their status", counted(odd, "ray"));
        let path = of_file.unwrap_or(&args.file);
        if args.strict {
            return Err(Failure::check(path, text));
        }
        note(format!("{}: {text}", named(path)));
    }
    Ok(())
}

struct Sheet<'s, 'a, W> {
    t: &'s Terrain<'a>,
    out: &'s mut W,
    form: Option<Form>,
    first: bool,
    /// Rays that met nothing, and of which it is not known that nothing is there.
    odd: u64,
    total: u64,
}

impl<W: Write> Sheet<'_, '_, W> {
    fn head(&mut self, names: &[String]) -> io::Result<()> {
        match self.form {
            Some(Form::Csv) => {
                write!(self.out, "{}", ANSWER.join(","))?;
                names.iter().try_for_each(|name| write!(self.out, ",{name}"))?;
                writeln!(self.out)
            }
            Some(Form::Json) => write!(self.out, "["),
            None => Ok(()),
        }
    }

    fn row(&mut self, row: &Row) -> io::Result<()> {
        self.total += 1;
        self.odd += u64::from(!matches!(row.answer.status, RayStatus::Found | RayStatus::Clear));
        match self.form {
            Some(Form::Csv) => self.csv(row),
            Some(Form::Json) => self.json(row),
            None => self.line(row),
        }
    }

    fn foot(&mut self) -> io::Result<()> {
        if let Some(Form::Json) = self.form {
            writeln!(self.out, "{}]", if self.first { "" } else { "\n" })?;
        }
        self.out.flush()
    }

    /// t, distance, place and normal; the normal only of a hit.
    fn numbers(&self, row: &Row) -> Vec<Option<f64>> {
        let hit = &row.answer.hit;
        let is_ray = !matches!(row.answer.status, RayStatus::NoLength | RayStatus::NotFinite | RayStatus::TooLong);
        let mut numbers: Vec<Option<f64>> =
            [hit.t + 0.0, hit.t * row.shot.length() + 0.0].map(|v| Some(v).filter(|_| is_ray)).into();
        numbers.extend(self.t.metres(hit.at).map(|v| Some(v).filter(|_| is_ray)));
        numbers.extend(self.t.face_normal_f64(hit).map(|v| Some(v + 0.0).filter(|_| row.answer.found())));
        numbers
    }

    /// Material, source, kind, side and leaf of a hit.
    fn words(&self, row: &Row) -> Option<[&str; 5]> {
        let hit = &row.answer.hit;
        let side = if hit.back { "back" } else { "front" };
        let [material, source] = [self.t.material_name(hit.material), self.t.source_name(hit.source)];
        row.answer.found().then(|| [material, source, kind_text(hit.kind), side, hit.leaf.name()])
    }

    fn csv(&mut self, row: &Row) -> io::Result<()> {
        let mut line = row.answer.status.name().as_bytes().to_vec();
        for number in self.numbers(row) {
            line.push(b',');
            number.into_iter().for_each(|v| push_number(&mut line, v));
        }
        line.extend(self.words(row).unwrap_or_default().into_iter().flat_map(field));
        line.extend(row.text.as_bytes());
        line.push(b'\n');
        self.out.write_all(&line)
    }

    fn json(&mut self, row: &Row) -> io::Result<()> {
        let numbers: Vec<Value> = self.numbers(row).into_iter().map(|v| json!(v)).collect();
        let mut object = Map::new();
        object.insert("from".into(), json!(row.shot.origin));
        object.insert("status".into(), json!(row.answer.status.name()));
        object.insert("t".into(), numbers[0].clone());
        object.insert("distance".into(), numbers[1].clone());
        object.insert("at".into(), json!(numbers[2..5]));
        object.insert("normal".into(), if row.answer.found() { json!(numbers[5..8]) } else { Value::Null });
        let words = self.words(row);
        for (i, name) in ["material", "source", "kind", "side", "leaf"].into_iter().enumerate() {
            object.insert(name.into(), json!(words.map(|words| words[i])));
        }
        for (name, field) in row.names.iter().zip(&row.passed) {
            let Some(name) = name else { continue };
            let text = unquoted(field);
            let value = text.parse::<f64>().ok().filter(|v| v.is_finite()).map_or(json!(text), |v| json!(v));
            object.insert(name.clone(), value);
        }
        let before = if std::mem::take(&mut self.first) { "\n  " } else { ",\n  " };
        write!(self.out, "{before}{}", Value::Object(object))
    }

    fn line(&mut self, row: &Row) -> io::Result<()> {
        writeln!(self.out, "{}", sentence(self.t, row.shot, row.answer))
    }
}

fn kind_text(kind: Kind) -> &'static str {
    match kind {
        Kind::Ground => "ground",
        Kind::Ceiling => "ceiling",
        Kind::Obstacle => "obstacle",
    }
}

/// An answer as a line.
fn sentence(t: &Terrain, shot: &Shot, answer: &RayAnswer) -> String {
    let (hit, status) = (&answer.hit, answer.status.name());
    let ([x, y, z], [nx, ny, nz]) = (t.metres(hit.at), t.face_normal_f64(hit).map(|v| v + 0.0));
    let distance = hit.t * shot.length() + 0.0; // no -0
    match answer.status {
        RayStatus::Found => {
            let side = if hit.back { "back" } else { "front" };
            let [material, source] = [t.material_name(hit.material), t.source_name(hit.source)].map(shown);
            format!(
                "{status}  {distance:.6} m (t {:.9})  at {x:.6}, {y:.6}, {z:.6}  {} {side}, {material} of {source}  normal {nx:.6}, {ny:.6}, {nz:.6}",
                hit.t + 0.0,
                kind_text(hit.kind)
            )
        }
        RayStatus::NoLength | RayStatus::NotFinite | RayStatus::TooLong | RayStatus::NotStored => status.into(),
        _ => format!("{status}  searched {distance:.6} m (t {:.9}), to {x:.6}, {y:.6}, {z:.6}", hit.t),
    }
}

/// The parts that a ray reads on its way.
fn explain(t: &Terrain, shot: &Shot, options: &RayOptions, out: &mut impl Write) -> io::Result<()> {
    let Ok(ray) = shot.ray(t) else { return writeln!(out, "{}", sentence(t, shot, &shot.answer(t, options))) };
    let mut cost = Cost::default();
    let mut steps = Vec::new();
    let answer = t.explain_ray(ray, options, |step| steps.push(step));
    let [x, y, z] = shot.origin;
    writeln!(out, "first surface from {x}, {y}, {z}, at most {:.6} m", shot.length())?;
    for step in steps {
        match step {
            Trace::Node { log2 } => {
                cost.nodes += 1;
                writeln!(out, "  node       entries of {} m", 2f64.powi(log2 as i32 + t.header().xy_log2))?;
            }
            Trace::Words { words, lines } => {
                cost.lines += lines;
                writeln!(out, "  cell       {}, {}", counted(words, "leaf"), counted(lines, "line"))?;
            }
            Trace::Leaf { record, lines } => {
                (cost.leaves, cost.lines) = (cost.leaves + 1, cost.lines + lines);
                writeln!(out, "  leaf       {record}: {}", counted(lines, "line"))?;
            }
            Trace::Long { record } => {
                cost.lines += 1;
                writeln!(out, "  long block {record}: 1 line")?;
            }
            Trace::Test { .. } => cost.tests += 1,
            Trace::Candidate(_) => {}
        }
    }
    writeln!(out, "  answer     {}", sentence(t, shot, &answer))?;
    writeln!(out, "  cost       {}", costs(&cost))
}
