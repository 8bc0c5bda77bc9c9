//! Files of points.

use std::path::Path;

use super::{
    super::{
        Done,
        lines::{ANSWER, Column, Lines, Passed, Width, columns, first_of, heading_text, hint, places, says_iterations},
        named, note,
    },
    CHUNK,
    ask::{Ask, FORM},
    measured::COLUMNS as MEASURED,
};

/// A CSV file of points.
pub struct Points<'a> {
    path: &'a Path,
    lines: Lines<'a>,
    /// Where x, y, z and length are.
    places: [Option<usize>; 4],
    width: Width,
    /// The heading has a column z.
    pub heights: bool,
    /// There is no heading.
    bare: bool,
    /// Each place is to be timed.
    pub measured: bool,
    pub passed: Passed,
}

/// The line of a point.
#[derive(Clone, Copy)]
pub struct Of {
    /// Its number.
    pub line: u64,
    /// How often the point is to be asked.
    pub iterations: u32,
}

const COLUMNS: [(&[&str], &str); 4] = [(&["x"], "m"), (&["y"], "m"), (&["z"], "m"), (&["length"], "m")];

impl<'a> Points<'a> {
    /// A first line of which no field is a number is a heading. A file that says how often to ask is `measured`.
    pub fn open(path: &'a Path, measured: bool) -> Done<Self> {
        let mut lines = Lines::with_commands(path)?;
        let mut heading = lines.heading()?.map(columns);
        let measured = measured || lines.iterations.is_some() || path.is_file() && says_iterations(path);
        let known = heading.as_deref().map(of_points).transpose().map_err(|e| lines.wrong(e))?;
        let unnamed: Vec<Column> = columns(&COLUMNS.map(|(names, _)| names[0]).to_vec().into());
        let own = known.map_or([Some(0), Some(1)], |k| [k[0], k[1]]);
        let all = heading.as_ref().unwrap_or(&unnamed);
        let places = known.unwrap_or([0, 1, 2, 3].map(Some));
        let passed = match measured {
            true => Passed::new(all, &places, &[], &MEASURED),
            false => Passed::new(all, &own, &places[2..], &ANSWER[2..]),
        };
        let passed = passed.map_err(|e| lines.wrong(e))?;
        let heights = known.is_some_and(|k| k[2].is_some());
        let bare = known.is_none();
        let width = Width::of(all, !bare);
        if let Some(heading) = &mut heading {
            lines.units(heading)?;
            of_points(heading).map_err(|e| lines.wrong(e))?;
        }
        Ok(Points { path, width, heights, bare, measured, lines, places, passed })
    }

    /// Calls `many` for the points of all lines, what their lines are, and what stands beside them, in their order. Where a line is
    /// wrong, those before it are answered.
    pub fn read(&mut self, mut many: impl FnMut(&[Ask], &[Of], &Passed) -> Done) -> Done {
        let Points { path, lines, places, width, passed, bare, measured, .. } = self;
        let (mut asks, mut numbers) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
        let mut any = false;
        loop {
            let mut fields = 0;
            let ask = match lines.next() {
                Ok(Some(line)) => {
                    fields = line.len();
                    passed.push(line);
                    let ask = Ask::of(*places, |k| line.get(k));
                    let ask = ask.and_then(|ask| width.check(line, FORM).map(|()| Some(ask)));
                    let late = lines.iterations.is_some() && !*measured;
                    let ask = if late {
                        Err("iterations=N comes before this point, and not before the first of the pipe; put it there, or add --measure"
                            .into())
                    } else {
                        ask
                    };
                    ask.map_err(|e| lines.wrong(e))
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
                numbers.push(Of { line: lines.line(), iterations: lines.iterations.unwrap_or(1) });
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
