//! Recorded drives: places one after another.

use std::{collections::HashMap, path::Path};

use super::{
    Done, Failure, counted, grouped,
    lines::{ANSWER, Column, Heights, Lines, Passed, Width, columns, first_of, hint, meant, needed, optional, places},
    named, note, shown,
};

/// A place of a drive.
pub struct Stop {
    /// Seconds, if the drive has them.
    pub t: Option<f64>,
    pub x: f64,
    pub y: f64,
    pub z: Option<f64>,
    /// Metres driven by this wheel from its first place to here, in plan, to the micrometre.
    pub distance: f64,
    /// Number among [`Drive::wheels`].
    pub wheel: usize,
    /// Of the file, from 1.
    pub line: u64,
}

/// What a file says.
#[derive(Default)]
pub struct Drive {
    /// At least one.
    pub stops: Vec<Stop>,
    pub passed: Passed,
    /// Different entries of its column `wheel`, as they come; one without a name if there is no such column.
    pub wheels: Vec<String>,
    pub heights: Heights,
    /// Why this may be something else than a drive.
    pub doubt: Option<String>,
}

impl Drive {
    /// Of several wheels the numbers of those stops that are of one tick, tick by tick, one of each wheel: such as lie less than half a
    /// tick apart, which is the median of the times from each to the next, and where time stands still the first of each, the second
    /// and so on; without any times the first of each wheel, the second and so on.
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
        // times of a wheel do not go back: the first stop in time that is not passed is the earliest of all wheels' next ones, and
        // the latest of these never gets earlier
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

    /// One line, if some stops of several wheels are of none of these ticks.
    pub fn apart(&self, ticks: &[usize]) -> Option<String> {
        let wheels = self.wheels.len();
        let mut paired = vec![wheels < 2; self.stops.len()];
        ticks.iter().for_each(|&i| paired[i] = true);
        let mut left = self.stops.iter().zip(paired).filter(|(_, paired)| !paired).map(|(stop, _)| stop.line);
        let first = left.clone().min()?;
        let lines = left.by_ref().count() as u64;
        let mut counts = vec![0u64; wheels];
        self.stops.iter().for_each(|s| counts[s.wheel] += 1);
        let name = |k: usize| shown(&format!("{:?}", self.wheels[k]));
        let [few, many] = [(0..wheels).min_by_key(|&k| counts[k])?, (0..wheels).max_by_key(|&k| counts[k])?];
        let [of_few, of_many] = [counted(counts[few], "line"), grouped(counts[many])];
        let [few_name, many_name] = [few, many].map(name);
        let told = if 10 * counts[few] < counts[many] {
            // its name may be misspelt
            let at = self.stops.iter().find(|s| s.wheel == few)?.line;
            format!("wheel {few_name} has {of_few}, from line {at} on, and {many_name} {of_many}")
        } else if counts[few] < counts[many] {
            format!("the first is line {first}; wheel {few_name} has {of_few}, and {many_name} {of_many}")
        } else {
            format!("the first is line {first}")
        };
        Some(format!(
            "{} of times that not all {} wheels have: they are of no tick; {told}",
            counted(lines, "line"),
            grouped(wheels as u64)
        ))
    }
}

/// Columns, those without a heading first.
const KNOWN: [(&[&str], &str); 5] =
    [(&["t", "time"], "s"), (&["x"], "m"), (&["y"], "m"), (&["z"], "m"), (&["wheel"], "")];
const FORM: &str = "t,x,y,z,yaw";
/// What to say of a line with too many fields, with a heading and without.
const MORE: &str = "name them all in the heading";
const BARE: &str = "a line is t,x,y,z,yaw";

/// From one place to the next, in metres, while time stands still: this may be another wheel.
const JUMP: f64 = 0.1;

/// Where a wheel was last.
#[derive(Clone, Copy)]
struct Last {
    x: f64,
    y: f64,
    distance: f64,
    t: Option<f64>,
}

/// The places of a drive, and what else stands beside them.
pub fn read(path: &Path) -> Done<Drive> {
    let mut lines = Lines::open(path)?;
    let mut heading = lines.heading()?.map(columns);
    let known = match &heading {
        Some(heading) => of_drive(heading).map_err(|e| lines.wrong(e))?,
        None => [Some(0), Some(1), Some(2), Some(3), None],
    };
    let bare = columns(&FORM.split(',').collect::<Vec<_>>().into());
    let all = heading.as_ref().unwrap_or(&bare);
    let width = Width::of(all, heading.is_some());
    let mut passed = Passed::new(all, &known[..3], &known[3..4], &ANSWER).map_err(|e| lines.wrong(e))?;
    if let Some(heading) = &mut heading {
        lines.units(heading)?;
        of_drive(heading).map_err(|e| lines.wrong(e))?;
    }
    let mut heights = Heights::new(heading.is_some() && known[3].is_some());
    let mut stops: Vec<Stop> = Vec::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut wheels: Vec<(String, Last)> = Vec::new();
    let (mut still, mut fields) = (0, 0);
    while let Some(line) = lines.next()? {
        let field = |k: usize| known[k].and_then(|c| Some(optional(line.get(c)?, c))).unwrap_or(Ok(None));
        let wheel = meant(known[4].and_then(|c| line.get(c)).unwrap_or_default());
        let wheel = wheel.trim();
        let number = numbers.get(wheel).copied();
        let last = number.map(|k| wheels[k].1);
        let stop = (|| {
            let place = |k: usize| {
                let text = known[k].and_then(|c| Some((line.get(c)?, c)));
                text.map_or(Err(format!("no {}; a line is {FORM}", KNOWN[k].0[0])), |(text, c)| needed(text, c))
            };
            let (x, y) = (place(1)?, place(2)?);
            let way = last.map_or(0.0, |s| ((x - s.x) * (x - s.x) + (y - s.y) * (y - s.y)).sqrt());
            // from a place that is none nobody drives on, nor to it
            let somewhere = [Some(x), Some(y), last.map(|s| s.x), last.map(|s| s.y)];
            let way = if somewhere.into_iter().flatten().all(f64::is_finite) { way } else { 0.0 };
            let distance = last.map_or(0.0, |s| s.distance) + way;
            if !distance.is_finite() {
                return Err("too far from the place before it; places are in metres".into());
            }
            let t = field(0)?.or(known[0].map(|_| f64::NAN));
            let finite = t.filter(|t| t.is_finite());
            if let Some((now, before)) = finite.zip(last.and_then(|s| s.t)).filter(|(now, before)| now < before) {
                let wheels = if known[4].is_none() { "; if these are wheels, call their column wheel" } else { "" };
                return Err(format!(
                    "the time goes back, from {before} to {now}; sort the lines by time, or make two drives of them{wheels}"
                ));
            }
            let z = field(3)?;
            width.check(line, if heading.is_some() { MORE } else { BARE })?;
            let has_name = |name: &str| !name.is_empty();
            if wheels.first().is_some_and(|(name, _)| has_name(name) != has_name(wheel)) {
                return Err("some lines name their wheel, and some do not; name it in each".into());
            }
            still += u64::from(way > JUMP && finite.is_some() && finite == last.and_then(|s| s.t));
            Ok::<_, String>((Last { x, y, distance, t: finite.or(last.and_then(|s| s.t)) }, t, z))
        })();
        let number = number.unwrap_or(wheels.len());
        fields = fields.max(line.len());
        if let Ok((now, ..)) = &stop {
            passed.push(line);
            match wheels.get_mut(number) {
                Some((_, last)) if now.x.is_finite() && now.y.is_finite() => *last = *now,
                Some((_, last)) => *last = Last { x: last.x, y: last.y, ..*now },
                None => {
                    numbers.insert(wheel.into(), number);
                    wheels.push((wheel.into(), *now));
                }
            }
        }
        let (now, t, z) = stop.map_err(|text| lines.wrong(text))?;
        heights.count(z, lines.line());
        // the sum goes on unrounded
        let rounded = (now.distance * 1e6).round() / 1e6;
        let distance = if rounded.is_finite() { rounded } else { now.distance };
        stops.push(Stop { t, x: now.x, y: now.y, z, distance, wheel: number, line: lines.line() });
    }
    if stops.is_empty() {
        return Err(Failure::input(path, format!("no places; a drive has lines of {FORM}")));
    }
    if heading.is_none() {
        note(format!("{}: read as {}: a heading says otherwise", named(path), first_of(FORM, fields)));
    }
    let lines = stops.len() as u64;
    let doubt = (known[4].is_none() && still > 1 && 4 * still >= lines).then(|| {
        let [still, lines] = [still, lines].map(grouped);
        let hint = "if these are wheels, call their column wheel, as in t,wheel,x,y,z";
        format!("time stands still on {still} of {lines} lines; {hint}")
    });
    let wheels = wheels.into_iter().map(|(name, _)| name).collect();
    Ok(Drive { stops, passed, wheels, heights, doubt })
}

/// Where a heading has each of [`KNOWN`].
fn of_drive(heading: &[Column]) -> Result<[Option<usize>; 5], String> {
    match places(heading, KNOWN, FORM)? {
        places @ [_, Some(_), Some(_), ..] => Ok(places),
        _ => Err(format!("a drive needs columns x and y; a heading is {FORM}{}", hint(heading))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Drive, Stop};
    use std::time::Instant;

    fn drive(wheels: usize, stops: impl Iterator<Item = (f64, usize)>) -> Drive {
        let stop = |(t, wheel)| Stop { t: Some(t), x: 0.0, y: 0.0, z: None, distance: 0.0, wheel, line: 0 };
        Drive { stops: stops.map(stop).collect(), wheels: vec![String::new(); wheels], ..Drive::default() }
    }

    /// By the words of [`Drive::ticks`]: all wheels' next stops, together or not, until a wheel has none; `half` is half a tick.
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
            // ticks of eight, of which most wheels have most, at nearly their time
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

    /// As of a column `wheel` that is none.
    #[test]
    fn many_wheels_cost_no_more_than_their_lines() {
        let drive = drive(20_000, (0..200_000).map(|i| (f64::from(i), i as usize % 20_000)));
        let start = Instant::now();
        assert!(drive.ticks().is_empty() || drive.ticks().len() % 20_000 == 0);
        assert!(start.elapsed().as_secs_f64() < 3.0, "{:?}", start.elapsed());
    }
}
