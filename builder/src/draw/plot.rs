//! Height, slope and friction along a drive, as a picture.

use crate::util::text::{brief, counted};

use super::{
    colour::Colour,
    picture::{Align, Font, Picture, Shape},
};

/// The ground at a place of a drive.
pub struct Sample {
    /// Metres driven.
    pub distance: f64,
    /// Height in metres, slope along the drive in percent, and mu; none where there is no ground.
    pub ground: Option<[f64; 3]>,
}

/// The ground under one wheel.
pub struct Line {
    /// Shown where there are several.
    pub name: String,
    pub samples: Vec<Sample>,
}

/// The panels for [`Sample::ground`] from the top: name with unit, colour (distinct to all eyes), whether zero is
/// always shown.
const PANELS: [(&str, Colour, bool); 3] =
    [("height, m", [0, 114, 178], false), ("slope, %", [213, 94, 0], true), ("mu", [0, 121, 90], true)];
const TEXT: Colour = [51; 3];
/// Where there is no ground: the sides, so wide each, and what is between them, on which lines are seen.
const GAP: [Colour; 2] = [[220, 38, 127], [246, 196, 220]];
const SIDE: f64 = 1.5;
/// Colours of wheels, distinct to all eyes even as thin lines: after Okabe and Ito, with dark brown instead of yellow.
const WHEELS: [Colour; MAX_LINES] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [230, 159, 0],
    [86, 180, 233],
    [0, 0, 0],
    [102, 51, 0],
];
/// Most lines of a plot.
pub const MAX_LINES: usize = 8;
/// Width of every line.
const LINE: f64 = 1.8;
/// How much wider than its line the dot of a place is, and how much farther apart dots are than they are wide.
const DOT: f64 = 3.6;
const APART: f64 = 3.0;
/// Letters of a line's name.
const NAME_MOST: usize = 11;
/// Width of a letter, about.
const LETTER: f64 = 6.5;
/// Letters of a title.
const TITLE_MOST: usize = 80;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 52.0;
/// Room for the names of several lines.
const LEGEND: f64 = 20.0;
const PANEL: f64 = 168.0;
const BETWEEN: f64 = 22.0;
const BOTTOM: f64 = 54.0;

/// Values of an axis, and the marks on it: a few round numbers.
struct Axis {
    low: f64,
    high: f64,
    step: f64,
    /// Decimals of a mark.
    decimals: usize,
    /// The only mark, if there is but one.
    only: Option<f64>,
}

impl Axis {
    /// Marks between `low` and `high`, about this many at most. With `whole`, `low` and `high` are marks too. Equal
    /// ends give one mark.
    fn new(low: f64, high: f64, marks: f64, whole: bool) -> Self {
        if high - low <= 1e-9 * (1.0 + high.abs()) {
            return Axis::level(low);
        }
        let raw = (high - low) / marks;
        let power = 10f64.powi(raw.log10().floor() as i32);
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= raw).unwrap_or(10.0 * power);
        let decimals = (-(step * 1.000_001).log10().floor()).clamp(0.0, 12.0) as usize;
        let (low, high) = match whole {
            true => ((low / step).floor() * step, (high / step).ceil() * step),
            false => (low, high),
        };
        Axis { low, high, step, decimals, only: None }
    }

    /// About one value, which alone is marked.
    fn level(v: f64) -> Self {
        let text = format!("{v:.6}");
        let decimals = text.trim_end_matches('0').split('.').nth(1).map_or(0, str::len);
        Axis { low: v - 1.0, high: v + 1.0, only: Some(v), step: 1.0, decimals }
    }

    fn marks(&self) -> impl Iterator<Item = f64> + '_ {
        let first = (self.low / self.step - 1e-6).ceil();
        let round = (0..100).map(move |i| (first + f64::from(i)) * self.step);
        let round = round.take_while(|v| *v <= self.high + self.step * 1e-6 && self.only.is_none());
        round.chain(self.only)
    }

    fn text(&self, v: f64) -> String {
        let text = match if v.abs() < self.step / 2.0 && self.only.is_none() { 0.0 } else { v + 0.0 } {
            v if v.abs() < 1e9 => format!("{v:.*}", self.decimals),
            v => format!("{v:.1e}"),
        };
        text.replace('-', "\u{2212}")
    }

    /// 0 at the low end, 1 at the high.
    fn share(&self, v: f64) -> f64 {
        (v - self.low) / (self.high - self.low)
    }
}

/// Three panels under each other over the same distance, with a bar where a line has no ground. One line takes the
/// colour of each panel. Several have their own colours and a legend. Lines beyond [`MAX_LINES`] are not drawn.
pub fn picture(title: &str, lines: &[Line]) -> Picture {
    let lines = &lines[..lines.len().min(MAX_LINES)];
    let several = lines.len() > 1;
    let first = if several { TOP + LEGEND } else { TOP };
    let end = lines.iter().filter_map(|line| line.samples.last()).fold(0.0, |end: f64, s| end.max(s.distance));
    let across = Axis::new(0.0, end, 10.0, false);
    let x = |distance: f64| LEFT + across.share(distance) * (WIDTH - LEFT - RIGHT);
    let (height, right) = (first + 3.0 * PANEL + 2.0 * BETWEEN + BOTTOM, WIDTH - RIGHT);
    let mut shapes = Vec::new();
    let text = |at, text: &str, align| Shape::Text { at, text: text.into(), align, font: Font::Plain, colour: TEXT };
    let title = brief(title, TITLE_MOST);
    shapes.push(Shape::Text { at: [LEFT, 26.0], text: title, align: Align::Start, font: Font::Title, colour: TEXT });
    let gaps: Vec<(f64, f64)> = lines.iter().flat_map(|line| gaps(&line.samples)).collect();
    let bare = lines.iter().flat_map(|line| &line.samples).filter(|s| s.ground.is_none()).count() as u64;
    if bare > 0 {
        let name = format!("no ground at {}", counted(bare, "place"));
        let width = LETTER * name.len() as f64;
        shapes.extend(bar([right - width - 22.0, 14.0], [14.0; 2]));
        shapes.push(text([right - width, 26.0], &name, Align::Start));
    }
    for (i, (line, colour)) in lines.iter().zip(WHEELS).enumerate().filter(|_| several) {
        let x = LEFT + i as f64 * (right - LEFT) / MAX_LINES as f64;
        let name = if line.name.is_empty() { "(no name)".into() } else { brief(&line.name, NAME_MOST) };
        shapes.push(Shape::Fill { at: [x, TOP - 2.0], size: [16.0, 4.0], colour });
        shapes.push(text([x + 22.0, TOP + 4.0], &name, Align::Start));
    }
    for (k, (name, panel, zero)) in PANELS.into_iter().enumerate() {
        let top = first + k as f64 * (PANEL + BETWEEN);
        let bottom = top + PANEL;
        let values = lines.iter().flat_map(|line| &line.samples).filter_map(|s| Some(s.ground?[k]));
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let up = if zero { Axis::new(low.min(0.0), high.max(0.0), 5.0, true) } else { Axis::new(low, high, 5.0, true) };
        let y = |v: f64| top + (1.0 - up.share(v)) * PANEL;
        for v in across.marks() {
            shapes.push(Shape::Rule { from: [x(v), top], to: [x(v), bottom], colour: [236; 3] });
            if k == PANELS.len() - 1 {
                shapes.push(text([x(v), bottom + 18.0], &across.text(v), Align::Middle));
            }
        }
        for v in up.marks() {
            let colour = if zero && v.abs() < up.step / 2.0 { [176; 3] } else { [226; 3] };
            shapes.push(Shape::Rule { from: [LEFT, y(v)], to: [right, y(v)], colour });
            shapes.push(text([LEFT - 8.0, y(v) + 4.0], &up.text(v), Align::End));
        }
        for (from, to) in gaps.iter().map(|(from, to)| (x(*from), x(*to))) {
            let width = (to - from).max(2.0 * SIDE);
            let from = ((from + to - width) / 2.0).clamp(LEFT, right - width);
            shapes.extend(bar([from, top], [width, PANEL]));
        }
        shapes.push(Shape::Rule { from: [LEFT, top], to: [LEFT, bottom], colour: [136; 3] });
        shapes.push(Shape::Rule { from: [LEFT, bottom], to: [right, bottom], colour: [136; 3] });
        let (at, align, font) = ([20.0, top + PANEL / 2.0], Align::Middle, Font::Up);
        let colour = if several { TEXT } else { panel };
        shapes.push(Shape::Text { at, text: name.into(), align, font, colour });
        for (Line { samples, .. }, wheel) in lines.iter().zip(WHEELS) {
            let colour = if several { wheel } else { panel };
            let parts = path(samples, k, &x, &y);
            let dots = dots(&parts, LINE + DOT + APART);
            let curves = [(parts, LINE), (dots, LINE + DOT)].into_iter().filter(|(parts, _)| !parts.is_empty());
            shapes.extend(curves.map(|(parts, width)| Shape::Curve { parts, width, colour }));
        }
    }
    shapes.push(text([(LEFT + right) / 2.0, height - 12.0], "distance driven, m", Align::Middle));
    Picture { size: [WIDTH, height], shapes }
}

/// The bar for a stretch without ground, at least as wide as its two sides.
fn bar([x, y]: [f64; 2], [width, height]: [f64; 2]) -> [Shape; 3] {
    let fill = |x: f64, width: f64, colour| Shape::Fill { at: [x, y], size: [width, height], colour };
    [fill(x, width, GAP[1]), fill(x, SIDE, GAP[0]), fill(x + width - SIDE, SIDE, GAP[0])]
}

/// Stretches without ground, from the last place that has some to the next.
fn gaps(samples: &[Sample]) -> Vec<(f64, f64)> {
    let mut gaps: Vec<(f64, f64)> = Vec::new();
    for (i, s) in samples.iter().enumerate().filter(|(_, s)| s.ground.is_none()) {
        let from = samples[i.saturating_sub(1)].distance;
        let to = samples.get(i + 1).unwrap_or(s).distance;
        match gaps.last_mut() {
            Some(last) if last.1 >= from => last.1 = to,
            _ => gaps.push((from, to)),
        }
    }
    gaps
}

/// A line that breaks at gaps. Within half a pixel only the first, last, lowest and highest place are drawn, which
/// looks the same.
fn path(samples: &[Sample], k: usize, x: &impl Fn(f64) -> f64, y: &impl Fn(f64) -> f64) -> Vec<Vec<[f64; 2]>> {
    let places = samples.iter().map(|s| s.ground.map(|g| [x(s.distance), y(g[k])])).collect::<Vec<_>>();
    let runs = places.chunk_by(|a, b| a.is_some() == b.is_some());
    let runs = runs.map(|run| run.iter().copied().flatten().collect::<Vec<_>>()).filter(|run| !run.is_empty());
    let thin = |run: Vec<[f64; 2]>| {
        let mut thin = Vec::new();
        for part in run.chunk_by(|a, b| (a[0] * 2.0).floor() == (b[0] * 2.0).floor()) {
            let by_value = |a: &usize, b: &usize| part[*a][1].total_cmp(&part[*b][1]);
            let least = (0..part.len()).min_by(by_value).unwrap_or(0);
            let most = (0..part.len()).max_by(by_value).unwrap_or(0);
            let mut kept = [0, least.min(most), least.max(most), part.len() - 1].to_vec();
            kept.dedup();
            thin.extend(kept.into_iter().map(|i| part[i]));
        }
        thin
    };
    runs.map(thin).collect()
}

/// The ends of pieces longer than `apart`, which have no sample in between, and single places. No two dots touch.
fn dots(parts: &[Vec<[f64; 2]>], apart: f64) -> Vec<Vec<[f64; 2]>> {
    let mut dots: Vec<Vec<[f64; 2]>> = Vec::new();
    for part in parts {
        let alone = part[part.len() - 1][0] - part[0][0] < 1.0;
        let long = |pair: Option<&[[f64; 2]]>| pair.is_some_and(|p| p[1][0] - p[0][0] >= apart);
        for (i, place) in part.iter().enumerate() {
            let ends = long(part.get(i..i + 2)) || i > 0 && long(part.get(i - 1..=i));
            if (alone || ends) && dots.last().is_none_or(|last| place[0] - last[0][0] >= apart) {
                dots.push(vec![*place]);
            }
        }
    }
    dots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_marks() {
        let marks = |low, high| {
            let axis = Axis::new(low, high, 5.0, true);
            axis.marks().map(|v| axis.text(v)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(marks(0.0, 1.0), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(marks(-3.0, 17.0), "\u{2212}5 0 5 10 15 20");
        // of equal values only theirs
        assert_eq!([marks(7.0, 7.0), marks(-7.125, -7.125), marks(0.0, 0.0)], ["7", "\u{2212}7.125", "0"]);
        assert_eq!(marks(0.0, 0.0021), "0.0000 0.0005 0.0010 0.0015 0.0020 0.0025");
        assert_eq!(marks(0.0, 2e9), "0 500000000 1.0e9 1.5e9 2.0e9");
        assert_eq!(Axis::new(0.0, 95.0, 10.0, false).marks().count(), 10);
    }

    #[test]
    fn however_many_places() {
        let sample = |i: i32| Sample {
            distance: f64::from(i) / 100.0,
            ground: (i % 30_000 < 29_000).then(|| [f64::from(i % 7), 0.0, 0.9]),
        };
        let samples: Vec<Sample> = (0..100_000).map(&sample).collect();
        let line = |samples| Line { name: String::new(), samples };
        let gaps_of = gaps(&samples);
        let path_of = path(&samples, 0, &|d| d, &|z| z);
        let text = picture("a <b> & c", &[line(samples)]).svg();
        assert!(text.len() < 300_000 && text.contains("a &lt;b&gt; &amp; c"), "{}", text.len());
        assert_eq!(gaps_of, [(289.99, 300.0), (589.99, 600.0), (889.99, 900.0)]);
        assert_eq!(path_of.len(), 4, "a gap is no line");
        // one place is a dot in each panel, also if the drive stands there; none is a picture too
        let dots = |samples| {
            let shapes = picture("", &[line(samples)]).shapes;
            let dots = shapes.into_iter().filter_map(|s| match s {
                Shape::Curve { parts, width, .. } if width > 5.0 => Some(parts),
                _ => None,
            });
            dots.collect::<Vec<_>>()
        };
        let still = || Sample { distance: 0.0, ground: Some([1.0; 3]) };
        for one in [vec![sample(0)], vec![still(), still()]] {
            let dots = dots(one);
            assert!(dots.len() == 3 && dots.iter().all(|d| d.len() == 1 && d[0].len() == 1));
        }
        // places far apart are dots that do not touch; places close together have no dots
        assert_eq!(dots((0..200).map(sample).collect()).len(), 0);
        let few = [0.0, 275.0, 276.0, 400.0, 400.1, 400.2, 500.0].map(|distance| Sample { distance, ..still() });
        let few = dots(few.into());
        let at = |d: f64| LEFT + d / 500.0 * (WIDTH - LEFT - RIGHT);
        let wanted = [0.0, 275.0, 400.0, 500.0].map(at);
        for panel in &few {
            assert!(panel.iter().zip(wanted).all(|(dot, x)| (dot[0][0] - x).abs() < 1e-9), "{panel:?}");
        }
        assert_eq!(few.iter().map(Vec::len).collect::<Vec<_>>(), [4; 3]);
        assert!(picture("", &[]).svg().ends_with("</svg>\n"));
    }
}
