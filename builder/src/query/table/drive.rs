//! Recorded drives: places one after another.

use std::{collections::HashMap, path::Path};

use super::{
    At, Cause, Heights, Note, Passed, TableError, Tally,
    layout::{Form, Known, Layout},
    lines::{Line, Lines, meant},
};

/// A place of a drive.
pub struct Stop {
    /// Seconds, if the drive has them.
    pub t: Option<f64>,
    pub x: f64,
    pub y: f64,
    pub z: Option<f64>,
    /// Degrees to the left of east, if the drive has them.
    pub yaw: Option<f64>,
    /// Metres driven by this wheel from its first place to here, in plan, to the micrometre.
    pub distance: f64,
    /// Number among [`Drive::wheels`].
    pub wheel: usize,
    /// Its line in the file, from 1.
    pub line: u64,
}

/// A file of drives.
#[derive(Default)]
pub struct Drive {
    /// At least one.
    pub stops: Vec<Stop>,
    pub passed: Passed,
    /// Different entries of its column `wheel`, as they come; one without a name if there is no such column.
    pub wheels: Vec<String>,
    pub heights: Heights,
    pub notes: Vec<Note>,
}

static FORM: Form = Form {
    known: &[
        Known::optional(&["t", "time"], Some("s")),
        Known::needed(&["x"]),
        Known::needed(&["y"]),
        Known::optional(&["z"], Some("m")),
        Known::optional(&["yaw"], None),
        Known::optional(&["wheel"], None),
    ],
    bare: [5, 5],
    asked: false,
    degrees: None,
    text: "a line is t,x,y,z,yaw",
};

/// Where a wheel was last.
#[derive(Default)]
struct Last {
    t: Option<f64>,
    at: Option<[f64; 2]>,
    distance: f64,
}

impl Last {
    /// The distance driven up to here. Rows without a valid point end one drive and start the next.
    fn go(&mut self, at: [f64; 2], t: Option<f64>) -> Result<f64, Cause> {
        let t = t.filter(|t| t.is_finite());
        if let Some((before, now)) = self.t.zip(t).filter(|(before, now)| now < before) {
            return Err(Cause::Back { before, now });
        }
        self.t = t.or(self.t);
        if let at @ Some([x, y]) = Some(at).filter(|at| at.iter().all(|v| v.is_finite())) {
            let [dx, dy] = self.at.map_or([0.0; 2], |[x0, y0]| [x - x0, y - y0]);
            self.distance += (dx * dx + dy * dy).sqrt();
            self.at = at;
        }
        // the sum goes on unrounded
        let rounded = (self.distance * 1e6).round() / 1e6;
        if rounded.is_finite() { Ok(rounded) } else { Err(Cause::TooFar) }
    }
}

impl Drive {
    /// Reads all of a drive; its other columns go beside answers of these names.
    pub fn read(path: &Path, answers: &[impl AsRef<str>]) -> Result<Self, TableError> {
        let mut lines = Lines::open(path, false)?;
        let layout = Layout::read(&mut lines, &FORM)?;
        let passed = Passed::new(&layout.columns, &layout.places[..3], &layout.places[3..4], answers);
        let passed = passed.map_err(|e| lines.wrong_at(layout.line, e))?;
        let heights = Heights { named: layout.named && layout.places[3].is_some(), ..Heights::default() };
        let mut drive = Drive { passed, heights, ..Drive::default() };
        let mut wheels = HashMap::new();
        while let Some(line) = lines.next()? {
            drive.push(&line, &layout, &mut wheels).map_err(|at| lines.wrong(at))?;
        }
        drive.notes = std::mem::take(&mut lines.notes);
        if drive.stops.is_empty() { Err(lines.wrong_at(0, Cause::Empty(FORM.text))) } else { Ok(drive) }
    }

    fn push(&mut self, line: &Line, layout: &Layout, wheels: &mut HashMap<String, (usize, Last)>) -> Result<(), At> {
        let number = |k: usize| layout.number(line, k);
        let [x, y] = [number(1)?, number(2)?].map(|v| v.unwrap_or(f64::NAN));
        let (t, z) = (number(0)?.or(layout.places[0].map(|_| f64::NAN)), number(3)?);
        layout.check(line)?;
        let name = meant(layout.places[5].and_then(|k| line.get(k)).unwrap_or_default());
        let name = name.trim();
        if self.wheels.first().is_some_and(|first| first.is_empty() != name.is_empty()) {
            return Err(Cause::Wheel.into());
        }
        let (wheel, last) = wheels.entry(name.into()).or_insert_with(|| (self.wheels.len(), Last::default()));
        if *wheel == self.wheels.len() {
            self.wheels.push(name.into());
        }
        let (wheel, distance) = (*wheel, last.go([x, y], t)?);
        // whoever does not turn by it lets it be whatever it is
        let yaw = number(4).ok().flatten().filter(|v| v.is_finite());
        self.passed.push(line);
        self.heights.count(z, line.number);
        self.stops.push(Stop { t, x, y, z, yaw, distance, wheel, line: line.number });
        Ok(())
    }

    /// For several wheels: the stops of each tick, one of each wheel, tick by tick. Stops of one tick lie less than
    /// half a tick apart; a tick is the median time between stops. Where time stands still, or without times, the first
    /// stops of all wheels are one tick, then the second, and so on.
    pub fn ticks(&self) -> Vec<usize> {
        let timed = self.stops.iter().any(|s| s.t.is_some());
        let mut of: Vec<Vec<(f64, usize)>> = vec![Vec::new(); self.wheels.len()];
        for (i, s) in self.stops.iter().enumerate() {
            let t = s.t.or((!timed).then_some(0.0)).filter(|t| t.is_finite());
            of[s.wheel].extend(t.map(|t| (t + 0.0, i))); // no -0
        }
        let spacings = of.iter().flat_map(|stops| stops.windows(2)).map(|pair| pair[1].0 - pair[0].0);
        let mut spacings: Vec<f64> = spacings.filter(|spacing| *spacing > 0.0).collect();
        let middle = spacings.len() / 2;
        // what is rounded in a file may be half a tick by a hair
        let half = match spacings.is_empty() {
            true => 0.0,
            false => *spacings.select_nth_unstable_by(middle, f64::total_cmp).1 * (0.5 - 1e-6),
        };
        // times of a wheel do not go back: the first stop in time that is not passed is the earliest of all wheels'
        // next ones, and the latest of these never gets earlier
        let mut order: Vec<(f64, usize, usize)> = Vec::new();
        for (wheel, stops) in of.iter().enumerate() {
            order.extend(stops.iter().enumerate().map(|(k, (t, _))| (*t, wheel, k)));
        }
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut next, mut ticks) = (vec![0; of.len()], Vec::new());
        if of.len() < 2 || of.iter().any(Vec::is_empty) {
            return ticks;
        }
        let mut latest = of.iter().map(|stops| stops[0].0).fold(f64::NEG_INFINITY, f64::max);
        for (t, wheel, k) in order {
            if k < next[wheel] {
                continue;
            }
            let whole = latest - t <= half;
            let passed = if whole { 0..of.len() } else { wheel..wheel + 1 };
            if whole {
                ticks.extend(of.iter().zip(&next).map(|(stops, &k)| stops[k].1));
            }
            for wheel in passed {
                next[wheel] += 1;
                match of[wheel].get(next[wheel]) {
                    Some((t, _)) => latest = latest.max(*t),
                    None => return ticks,
                }
            }
        }
        ticks
    }

    /// Lines of several wheels that belong to no tick.
    pub fn apart(&self, ticks: &[usize]) -> Tally {
        let mut paired = vec![self.wheels.len() < 2; self.stops.len()];
        ticks.iter().for_each(|&i| paired[i] = true);
        let mut apart = Tally::default();
        self.stops.iter().zip(paired).for_each(|(stop, paired)| apart.count(!paired, stop.line));
        apart
    }
}

#[cfg(test)]
mod tests {
    use super::{Drive, Stop};
    use std::time::Instant;

    fn drive(wheels: usize, stops: impl Iterator<Item = (f64, usize)>) -> Drive {
        let stop = |(t, wheel)| Stop { t: Some(t), x: 0.0, y: 0.0, z: None, yaw: None, distance: 0.0, wheel, line: 0 };
        Drive { stops: stops.map(stop).collect(), wheels: vec![String::new(); wheels], ..Drive::default() }
    }

    /// By the words of [`Drive::ticks`]: all wheels' next stops, together or not, until a wheel has none; `half` is
    /// half a tick.
    fn told(drive: &Drive, half: f64) -> Vec<usize> {
        let mut left: Vec<usize> = (0..drive.stops.len()).collect();
        let mut ticks = Vec::new();
        let time = |i: usize| drive.stops[i].t.unwrap();
        loop {
            let head = |wheel| left.iter().copied().find(|&i| drive.stops[i].wheel == wheel);
            let Some(heads) = (0..drive.wheels.len()).map(head).collect::<Option<Vec<usize>>>() else { return ticks };
            let first = *heads.iter().min_by(|a, b| time(**a).total_cmp(&time(**b))).unwrap();
            let whole = heads.iter().all(|&i| time(i) - time(first) <= half);
            left.retain(|i| if whole { !heads.contains(i) } else { *i != first });
            ticks.extend(heads.into_iter().filter(|_| whole));
        }
    }

    #[test]
    fn wheels_are_together_as_the_words_say() {
        let mut bits = 1u64;
        let mut random = move |n: u64| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (bits >> 33) % n
        };
        let mut some = 0;
        for wheels in [2, 2, 3, 5].repeat(100) {
            // ticks of eight, which most wheels mostly have at nearly their time
            let mut stops: Vec<(f64, usize)> = Vec::new();
            for (tick, wheel) in (0..20).flat_map(|tick| (0..wheels).map(move |wheel| (tick, wheel))) {
                let times = [1, 1, 1, 1, 1, 1, 1, 1, 0, 2][random(10) as usize];
                stops.extend((0..times).map(|_| (f64::from(8 * tick) + random(5) as f64, wheel)));
            }
            stops.sort_by(|a, b| a.0.total_cmp(&b.0));
            let drive = drive(wheels, stops.into_iter());
            let mut spacings: Vec<f64> = Vec::new();
            for wheel in 0..wheels {
                let own: Vec<f64> = drive.stops.iter().filter(|s| s.wheel == wheel).filter_map(|s| s.t).collect();
                spacings.extend(own.windows(2).map(|pair| pair[1] - pair[0]).filter(|v| *v > 0.0));
            }
            spacings.sort_by(f64::total_cmp);
            let ticks = drive.ticks();
            assert_eq!(ticks, told(&drive, spacings[spacings.len() / 2] * (0.5 - 1e-6)));
            some += ticks.len();
        }
        assert!(some > 400 * 20, "{some}");
    }

    /// A column `wheel` may hold something else, such as a number for each line.
    #[test]
    fn many_wheels_cost_no_more_than_their_lines() {
        let drive = drive(20_000, (0..200_000).map(|i| (f64::from(i), i as usize % 20_000)));
        let start = Instant::now();
        assert!(drive.ticks().is_empty() || drive.ticks().len() % 20_000 == 0);
        assert!(start.elapsed().as_secs_f64() < 3.0, "{:?}", start.elapsed());
    }
}
