//! An image held against points of another tool: what is asked, printed and written.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use hardpan::Terrain;
use serde::Serialize;

use super::{
    super::{
        Done, Failure, Kind, NewFile, Replace, counted, decimal, grouped, load, named, note,
        progress::stage,
        query::{extents, push_number},
        shown, tables, terrain, view,
    },
    Args, check_map, say,
};
use crate::compare::{Compared, Comparison, Differences, Met, Off, Point};
use crate::draw::dots::Dots;
use crate::import::file_name;
use crate::query::table::{Points, Row};
use crate::util::text::micrometres;

/// JSON of a comparison with points.
#[derive(Serialize)]
struct Said<'c> {
    /// Within the tolerance, if there is one.
    alike: Option<bool>,
    tolerance: Option<f64>,
    #[serde(flatten)]
    compared: &'c Compared,
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let (path, reference) = (&args.first, &args.second);
    if args.grid.is_some() {
        return Err(Failure::input(reference, "--grid is for two images; a reference is compared only at its points"));
    }
    check_map(args)?;
    if let Some(place) = &args.csv {
        Replace::None.or_any(args.force).check_made(place, Kind::ANSWERS, [path, reference])?;
    }
    let image = load(path)?;
    let terrain = terrain(path, &image)?;
    let mut dots = args.png.as_ref().map(|place| dots(args, &terrain, place)).transpose()?;
    let mut table = args.csv.as_ref().map(|place| Table::create(place)).transpose()?;
    let mut file = Points::reference(reference, args.columns.as_deref())?;
    tables::notes(reference, file.notes());
    let mut comparison = Comparison::new(&terrain, args.tolerance);
    let all = || -> Done {
        while file.chunk()? {
            let point = |row: &Row| Point {
                number: row.line,
                at: [0, 1, 2].map(|k| row.numbers[k].unwrap_or(f64::NAN)),
                mu: row.numbers[3],
            };
            let points: Vec<Point> = file.rows.iter().map(point).collect();
            let met = comparison.add(&points);
            dots.iter_mut().for_each(|dots| dots.see(&points, met));
            table.as_mut().map_or(Ok(()), |table| table.rows(&points, met, file.has(3)))?;
        }
        Ok(())
    };
    stage("comparing", all).0?;
    let found = comparison.finish();
    if found.damaged > 0 {
        return Err(Failure::damaged(path, format!("damaged at {}", counted(found.damaged, "point"))));
    }
    table.map_or(Ok(()), Table::keep)?;
    let sheet = dots.map(|dots| {
        let title = [path, reference].map(|path| shown(&file_name(path))).join(" less ");
        (dots.view, stage("drawing", || dots.draw(&terrain, args.range, &title)).0)
    });
    let alike = args.tolerance.map(|_| found.alike());
    let said = Said { alike, tolerance: args.tolerance, compared: &found };
    say(args, &said, |out| print(&found, args.tolerance, out), sheet.as_ref(), out)?;
    if 2 * found.not_in_image > found.points {
        note(format!("{}: most points are not in the image; its ground has {}", named(reference), extents(&terrain)));
    }
    if alike == Some(false) || found.compared == 0 { Err(Failure::Different) } else { Ok(()) }
}

/// An empty map of the image, or of a part.
fn dots(args: &Args, terrain: &Terrain, place: &Path) -> Done<Dots> {
    let view = view::view(terrain.bounds(), args.window, args.size, args.per_metre);
    Ok(Dots::new(view.map_err(|e| Failure::input(place, e))?))
}

/// Each point's differences as CSV.
struct Table<'a> {
    place: &'a Path,
    new: NewFile<'a>,
    file: BufWriter<File>,
    line: Vec<u8>,
    /// The heading is written.
    begun: bool,
}

impl<'a> Table<'a> {
    fn create(place: &'a Path) -> Done<Self> {
        let (new, file) = NewFile::create(place)?;
        let file = BufWriter::with_capacity(1 << 16, file);
        Ok(Table { place, new, file, line: Vec::new(), begun: false })
    }

    /// Columns of friction are there where the reference has it.
    fn rows(&mut self, points: &[Point], met: &[Met], friction: bool) -> Done {
        if !std::mem::replace(&mut self.begun, true) {
            let mu = if friction { "mu,image_mu,mu_difference," } else { "" };
            let head = format!("line,x,y,z,image_z,difference,{mu}status\n");
            self.file.write_all(head.as_bytes()).map_err(|e| Failure::write(self.place, e))?;
        }
        for (point, met) in points.iter().zip(met) {
            let ground = match met {
                Met::Ground { z, mu } => Some([*z, *mu]),
                _ => None,
            };
            let [x, y, z] = point.at;
            let heights = [Some(x), Some(y), Some(z), ground.map(|g| g[0]), ground.map(|g| g[0] - z)];
            let own = point.mu.filter(|mu| mu.is_finite());
            let image = ground.map(|g| g[1]);
            let grip = [own, image, own.zip(image).map(|(own, image)| image - own)];
            self.line.clear();
            write!(self.line, "{}", point.number)?;
            for v in heights.iter().chain(grip.iter().filter(|_| friction)) {
                self.line.push(b',');
                v.iter().for_each(|v| push_number(&mut self.line, *v));
            }
            let status = match met {
                Met::Ground { .. } => "found",
                Met::NoGround => "no ground",
                Met::NotInImage => "not in image",
                Met::NoNumber => "no number",
                Met::Damaged => "damaged",
            };
            writeln!(self.line, ",{status}")?;
            self.file.write_all(&self.line).map_err(|e| Failure::write(self.place, e))?;
        }
        Ok(())
    }

    fn keep(self) -> Done {
        let Table { place, new, file, .. } = self;
        let done = file.into_inner().map_err(|e| e.into_error()).and_then(|file| file.sync_all());
        done.map_err(|e| Failure::write(place, e))?;
        Ok(new.keep()?)
    }
}

fn print(c: &Compared, tolerance: Option<f64>, out: &mut impl Write) -> Done {
    if let Some(most) = tolerance {
        let over = c.heights.as_ref().and_then(|h| h.over).unwrap_or(0);
        let missing = c.no_ground + c.not_in_image;
        let causes = [
            (over > 0).then(|| format!("{} farther off than {} m", counted(over, "point"), decimal(most))),
            (missing > 0).then(|| format!("{} without ground", counted(missing, "point"))),
            (c.compared == 0).then(|| "nothing could be compared".into()),
        ];
        match causes.into_iter().flatten().collect::<Vec<_>>()[..] {
            [] => writeln!(out, "alike: no point is farther off than {} m", decimal(most))?,
            ref causes => writeln!(out, "different: {}", causes.join("; "))?,
        }
    }
    let left = [(c.no_ground, "without ground"), (c.not_in_image, "not in the image"), (c.no_number, "with no number")];
    let left: Vec<String> =
        left.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", grouped(*n))).collect();
    let rest = c.first_left.map(|line| format!("; {}, the first on line {line}", left.join(", "))).unwrap_or_default();
    let points = counted(c.points, "point");
    writeln!(out, "compared     {} of {points}, the image less the reference{rest}", grouped(c.compared))?;
    c.heights.as_ref().map_or(Ok(()), |heights| print_one(heights, "heights", " m", out))?;
    c.mu.as_ref().map_or(Ok(()), |mu| print_one(mu, "mu", "", out))
}

/// A difference with its sign.
fn signed(v: f64) -> String {
    let v = micrometres(v);
    format!("{}{}", if v > 0.0 { "+" } else { "" }, decimal(v))
}

fn place(off: &Off, unit: &str) -> String {
    let Off { number, at: [x, y], reference, image, difference } = off;
    let [x, y, reference, image] = [x, y, reference, image].map(|v| decimal(micrometres(*v)));
    format!("{}{unit} at {x},{y} (line {number}): {image}, and {reference} by the reference", signed(*difference))
}

fn print_one(d: &Differences, name: &str, unit: &str, out: &mut impl Write) -> Done {
    let told = |v: f64| format!("{}{unit}", decimal(micrometres(v)));
    writeln!(out, "{name:<12} largest {}", place(&d.largest, unit))?;
    let [absolute, square] = [d.mean_absolute, d.root_mean_square].map(told);
    writeln!(
        out,
        "{:<12} mean {}{unit}, of absolute values {absolute}, root mean square {square}",
        "",
        signed(d.mean)
    )?;
    let [half, most, nearly, all] = d.percentiles.map(told);
    writeln!(out, "{:<12} 50 % within {half}, 90 % {most}, 99 % {nearly}, 99.9 % {all}", "")?;
    // the largest is reported
    for (k, off) in d.worst.iter().enumerate().skip(1).filter(|(_, off)| off.difference != 0.0) {
        writeln!(out, "{:>12} {}", format!("{}.", k + 1), place(off, unit))?;
    }
    Ok(())
}
