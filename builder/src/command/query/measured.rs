//! Answers with what they took: a table of times and costs, by which places that cost much are found.

use std::{
    hint::black_box,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use hardpan::{Answer, Hit, LeafKind, Terrain, format::section};

use super::{
    super::{
        Done, Failure, Kind, NewFile, Replace, counted, decimal,
        export::not_a_source,
        grouped, is_nowhere, named,
        tables::{self, is_odd},
    },
    Args,
    csv::{field, push_field},
    missed::Missed,
    room,
    sheet::slope,
};
use crate::query::Ask;
use crate::query::table::{Points, Row};

/// Names of the columns, before those of the file that go with them.
#[rustfmt::skip]
pub const COLUMNS: [&str; 22] = [
    "x", "y", "z_from", "length", "found", "z", "dzdx", "dzdy", "nx", "ny", "nz", "mu", "rr", "material", "layer", "triangle",
    "iterations", "ns_min", "ns_median", "ns_max", "nodes", "tri_tests",
];
/// Those between `found` and `iterations`, which are empty where there is no ground.
const OF_GROUND: usize = 11;
/// How such a table begins.
const START: &[u8] = b"x,y,z_from,length,found,z,dzdx,dzdy,";

/// Times every place of a file, and says what had no ground. Where a line is wrong, the table ends before it.
pub fn run(args: &Args, t: &Terrain, mut file: Points, out: &mut impl Write) -> Done<Missed> {
    let csv = args.csv.as_deref().unwrap_or(Path::new("-"));
    let point = args.points.first().map(|ask| format!("{},{}", decimal(ask.x), decimal(ask.y)));
    let others = [
        ("--layers", args.layers),
        ("--explain", args.explain),
        ("--fallback", args.fallback.is_some()),
        ("--json", args.json),
        ("--plot", args.plot.is_some()),
        (point.as_deref().unwrap_or_default(), point.is_some()),
    ];
    if let Some((other, _)) = others.iter().find(|(_, typed)| *typed) {
        let text = format!("{other} is not of the table that --measure or a line iterations=N asks for; leave one out");
        return Err(Failure::input(csv, text));
    }
    let beside = csv.is_file().then(|| out_beside(csv));
    let Some(output) = args.output.clone().or(beside) else {
        let mut table = Table::new(t, out, Failure::from);
        let done = table.all(csv, &mut file);
        table.out.flush()?;
        return done.map(|()| table.missed);
    };
    not_a_source(&output, t)?;
    let replace = Replace::Only(0, START, "a table of times").or_any(args.force);
    replace.check_made(&output, Kind::MEASURED, [Some(&args.file), args.csv.as_ref()].into_iter().flatten())?;
    let failed = |e| Failure::write(&output, e);
    let (new, to) = NewFile::create(&output)?;
    let mut table = Table::new(t, BufWriter::with_capacity(1 << 16, to), failed);
    let done = table.all(csv, &mut file);
    let Table { out: to, missed, worst, .. } = table;
    if matches!(done, Err(Failure::Machine(_) | Failure::ClosedPipe)) || missed.asked == 0 && done.is_err() {
        return done.map(|()| missed);
    }
    to.into_inner().map_err(|e| e.into_error()).and_then(|to| to.sync_all()).map_err(failed)?;
    new.keep()?;
    let asked = counted(missed.asked, "place");
    if let Err(Failure::Input(text)) = done {
        return Err(Failure::Input(format!("{text}; {} has what comes before it: {asked}", named(&output))));
    }
    if !is_nowhere(&output) {
        writeln!(out, "{}: {asked}", named(&output))?;
    }
    if let Some(Worst { tests, line, at: [x, y], median }) = worst {
        let tests = counted(tests, "triangle test");
        let at = format!("{},{} (line {line})", decimal(x), decimal(y));
        writeln!(out, "most work at {at}: {tests}, {} ns in the median", grouped(median))?;
    }
    done.map(|()| missed)
}

/// Where the table of a file goes: `points.csv` to `points_out.csv`.
fn out_beside(csv: &Path) -> PathBuf {
    let mut name = csv.file_stem().unwrap_or_default().to_os_string();
    name.push("_out.csv");
    csv.with_file_name(name)
}

/// The place with the most triangle tests, the first of such.
struct Worst {
    tests: u32,
    line: u64,
    at: [f64; 2],
    median: u64,
}

struct Table<'t, 'a, W, F> {
    t: &'t Terrain<'a>,
    out: W,
    failed: F,
    /// `,mu,rr,name` of each material.
    materials: Vec<Vec<u8>>,
    /// The number of the first record of the tiles, in units of 128 bytes.
    first: u64,
    space: Vec<Hit>,
    times: Vec<u64>,
    line: Vec<u8>,
    missed: Missed,
    worst: Option<Worst>,
}

impl<'t, 'a, W: Write, F: Fn(io::Error) -> Failure> Table<'t, 'a, W, F> {
    fn new(t: &'t Terrain<'a>, out: W, failed: F) -> Self {
        let named = t.materials().iter().zip(0..);
        let materials =
            named.map(|(m, i)| [&*m.mu.to_string(), &*m.rolling.to_string(), t.material_name(i)].map(field).concat());
        let tiles = t.header().sections.iter().find(|s| s.kind == section::TILES);
        Table {
            materials: materials.collect(),
            first: tiles.map_or(0, |s| s.offset / 128),
            space: room(t),
            times: Vec::new(),
            line: Vec::new(),
            missed: Missed::default(),
            worst: None,
            t,
            out,
            failed,
        }
    }

    fn all(&mut self, path: &Path, file: &mut Points) -> Done {
        tables::notes(path, file.notes());
        self.missed.heights.named = file.names(2);
        let heading = COLUMNS.join(",");
        let names: String = file.passed.names.iter().map(|name| format!(",{name}")).collect();
        writeln!(self.out, "{heading}{names}").map_err(&self.failed)?;
        while file.chunk()? {
            for (i, row) in file.rows.iter().enumerate() {
                self.row(&row.into(), row, file.passed.line(i)).map_err(&self.failed)?;
            }
        }
        Ok(())
    }

    fn row(&mut self, ask: &Ask, of: &Row, others: &str) -> io::Result<()> {
        let (t, line) = (self.t, &mut self.line);
        let answer = time(t, ask, of.iterations, &mut self.times);
        let Answer { hit, .. } = &answer;
        let bounds = t.bounds();
        let z = ask.z.unwrap_or(bounds[1][2]);
        // all surfaces over a place are tested, whatever height is asked for
        let (_, cost) = t.closest_costed(ask.place(z));

        self.missed.odd.count(is_odd(&of.numbers), of.line);
        self.missed.count(answer.status, of.line);
        self.missed.heights.count(ask.z, of.line);

        line.clear();
        [Some(ask.x), Some(ask.y), ask.z, ask.length].into_iter().for_each(|v| push_field(line, v));
        if answer.found() {
            line.extend(b",1");
            let numbers = [t.z_f64(hit)].into_iter().chain(slope(t, hit)).chain(t.normal_f64(hit).map(|v| v + 0.0));
            numbers.for_each(|v| push_field(line, Some(v)));
            line.extend(self.materials.get(usize::from(hit.material)).map_or(&b",,,"[..], |m| m));
            let layer = layer(t, ask, hit, &mut self.space);
            write!(line, ",{layer},")?;
            if hit.leaf == LeafKind::Bundle {
                let [tile, bundle, part] = hit.place.map(u64::from);
                write!(line, "{}", 16 * (self.first + tile + bundle) + part)?;
            }
        } else {
            line.extend(b",0");
            line.extend([b','; OF_GROUND]);
        }
        let [least, median, most] = summed(&mut self.times);
        write!(line, ",{},{least},{median},{most},{},{}", of.iterations, cost.nodes, cost.tests)?;
        line.extend(others.as_bytes());
        line.push(b'\n');
        if self.worst.as_ref().is_none_or(|worst| worst.tests < cost.tests) {
            self.worst = Some(Worst { tests: cost.tests, line: of.line, at: [ask.x, ask.y], median });
        }
        self.out.write_all(&line[1..])
    }
}

/// Asks so often in a row, and keeps the nanoseconds of each time, those of the clock included.
fn time(t: &Terrain, ask: &Ask, iterations: u32, times: &mut Vec<u64>) -> Answer {
    let bounds = t.bounds();
    times.clear();
    let mut last = Answer::NONE;
    for _ in 0..iterations {
        let begun = Instant::now();
        last = black_box(black_box(ask).search(black_box(t), bounds));
        times.push(begun.elapsed().as_nanos() as u64);
    }
    last
}

/// The least, the median and the most: of an even number the middle of the two in the middle.
fn summed(times: &mut [u64]) -> [u64; 3] {
    times.sort_unstable();
    let [Some(least), Some(most)] = [times.first(), times.last()] else { return [0; 3] };
    let [below, above] = [times[(times.len() - 1) / 2], times[times.len() / 2]];
    [*least, below + (above - below) / 2, *most]
}

/// The number from the top of the sheet that answered. Of heights that are one layer to the image so are their numbers.
fn layer(t: &Terrain, ask: &Ask, hit: &Hit, space: &mut [Hit]) -> usize {
    let layers = t.layers(ask.place(0.0), space);
    let above = space[..layers.written].iter().take_while(|other| other.z > hit.z);
    let (count, last) = above.fold((0, None), |(count, _), other| (count + 1, Some(other.z)));
    let within = last.is_some_and(|z| z - hit.z < t.header().layer_merge);
    count + usize::from(!within)
}
