//! Height, slope and friction along a drive, as an SVG picture.

use std::fmt::Write;

/// What a place of a drive is like.
pub struct Sample {
    /// Metres driven.
    pub distance: f64,
    /// Height in metres, slope along the drive in percent, and mu; none where there is no ground.
    pub ground: Option<[f64; 3]>,
}

/// What is drawn of [`Sample::ground`], from the top: name with unit, colour (told apart by all eyes), whether zero belongs to it.
const PANELS: [(&str, &str, bool); 3] =
    [("height, m", "#0072b2", false), ("slope, %", "#d55e00", true), ("mu", "#00795a", true)];

const WIDTH: f64 = 960.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 52.0;
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
}

impl Axis {
    /// At most about so many marks between them; `low` and `high` become marks if `whole`.
    fn new(low: f64, high: f64, marks: f64, whole: bool) -> Self {
        let (low, high) = if high - low > 1e-9 * (1.0 + high.abs()) { (low, high) } else { (low - 0.5, high + 0.5) };
        let raw = (high - low) / marks;
        let power = 10f64.powi(raw.log10().floor() as i32);
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= raw).unwrap_or(10.0 * power);
        let decimals = (-(step * 1.000_001).log10().floor()).clamp(0.0, 12.0) as usize;
        let (low, high) = match whole {
            true => ((low / step).floor() * step, (high / step).ceil() * step),
            false => (low, high),
        };
        Axis { low, high, step, decimals }
    }

    fn marks(&self) -> impl Iterator<Item = f64> + '_ {
        let first = (self.low / self.step - 1e-6).ceil();
        (0..100).map(move |i| (first + f64::from(i)) * self.step).take_while(|v| *v <= self.high + self.step * 1e-6)
    }

    fn text(&self, v: f64) -> String {
        format!("{:.*}", self.decimals, if v.abs() < self.step / 2.0 { 0.0 } else { v }).replace('-', "\u{2212}")
    }

    /// 0 at the low end, 1 at the high.
    fn share(&self, v: f64) -> f64 {
        (v - self.low) / (self.high - self.low)
    }
}

/// Three panels under each other over the same distance, grey where there is no ground.
pub fn svg(title: &str, samples: &[Sample]) -> String {
    let end = samples.last().map_or(0.0, |s| s.distance);
    let across = Axis::new(0.0, end, 10.0, false);
    let x = |distance: f64| LEFT + across.share(distance) * (WIDTH - LEFT - RIGHT);
    let height = TOP + 3.0 * PANEL + 2.0 * BETWEEN + BOTTOM;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"26\" font-size=\"16\" font-weight=\"600\">{}</text>\n",
        escaped(title)
    );
    let gaps = gaps(samples);
    if !gaps.is_empty() {
        let at = WIDTH - RIGHT;
        put(&mut out, format_args!("<rect x=\"{}\" y=\"14\" width=\"14\" height=\"14\" fill=\"#dcdcdc\"/>", at - 90.0));
        put(&mut out, format_args!("<text x=\"{at}\" y=\"26\" text-anchor=\"end\">no ground</text>"));
    }
    for (k, (name, colour, zero)) in PANELS.into_iter().enumerate() {
        let top = TOP + k as f64 * (PANEL + BETWEEN);
        let values = samples.iter().filter_map(|s| Some(s.ground?[k]));
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let up = if zero { Axis::new(low.min(0.0), high.max(0.0), 5.0, true) } else { Axis::new(low, high, 5.0, true) };
        let y = |v: f64| top + (1.0 - up.share(v)) * PANEL;
        for (from, to) in &gaps {
            let width = (x(*to) - x(*from)).max(1.0);
            put(
                &mut out,
                format_args!(
                    "<rect x=\"{:.2}\" y=\"{top}\" width=\"{width:.2}\" height=\"{PANEL}\" fill=\"#dcdcdc\"/>",
                    x(*from)
                ),
            );
        }
        let (bottom, right) = (top + PANEL, WIDTH - RIGHT);
        for v in across.marks() {
            let at = x(v);
            put(&mut out, format_args!("<path d=\"M{at:.2} {top}V{bottom}\" stroke=\"#ececec\"/>"));
            if k == PANELS.len() - 1 {
                let label = bottom + 18.0;
                put(
                    &mut out,
                    format_args!("<text x=\"{at:.2}\" y=\"{label}\" text-anchor=\"middle\">{}</text>", across.text(v)),
                );
            }
        }
        for v in up.marks() {
            let at = y(v);
            let line = if zero && v.abs() < up.step / 2.0 { "#b0b0b0" } else { "#e2e2e2" };
            put(&mut out, format_args!("<path d=\"M{LEFT} {at:.2}H{right}\" stroke=\"{line}\"/>"));
            let (left, label) = (LEFT - 8.0, at + 4.5);
            put(
                &mut out,
                format_args!("<text x=\"{left}\" y=\"{label:.2}\" text-anchor=\"end\">{}</text>", up.text(v)),
            );
        }
        put(&mut out, format_args!("<path d=\"M{LEFT} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"#888\"/>"));
        let middle = top + PANEL / 2.0;
        put(
            &mut out,
            format_args!(
                "<text transform=\"translate(20 {middle}) rotate(-90)\" text-anchor=\"middle\" fill=\"{colour}\" font-weight=\"600\">{name}</text>"
            ),
        );
        let line = path(samples, k, &x, &y);
        put(
            &mut out,
            format_args!(
                "<path d=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>"
            ),
        );
    }
    let middle = (LEFT + WIDTH - RIGHT) / 2.0;
    put(
        &mut out,
        format_args!("<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">distance driven, m</text>", height - 12.0),
    );
    out + "</svg>\n"
}

fn put(out: &mut String, line: std::fmt::Arguments) {
    let _ = writeln!(out, "{line}"); // into memory
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

/// A line that breaks at gaps. Of the places in half a pixel the first, last, lowest and highest are drawn: it looks the
/// same, however many there are.
fn path(samples: &[Sample], k: usize, x: &impl Fn(f64) -> f64, y: &impl Fn(f64) -> f64) -> String {
    let mut out = String::new();
    let column = |s: &Sample| (x(s.distance) * 2.0).floor() as i64;
    for run in samples.chunk_by(|a, b| a.ground.is_some() == b.ground.is_some()) {
        let mut pen = 'M';
        for part in run.chunk_by(|a, b| column(a) == column(b)) {
            let value = |i: usize| part[i].ground.map(|g| g[k]);
            if value(0).is_none() {
                break;
            }
            let by_value =
                |a: &usize, b: &usize| value(*a).partial_cmp(&value(*b)).unwrap_or(std::cmp::Ordering::Equal);
            let least = (0..part.len()).min_by(by_value).unwrap_or(0);
            let most = (0..part.len()).max_by(by_value).unwrap_or(0);
            let mut kept = [0, least.min(most), least.max(most), part.len() - 1].to_vec();
            kept.dedup();
            for i in kept {
                let _ = write!(out, "{pen}{:.2} {:.2}", x(part[i].distance), y(value(i).unwrap_or(0.0)));
                pen = 'L';
            }
        }
        if let [only] = run
            && let Some(g) = only.ground
        {
            let _ = write!(out, "L{:.2} {:.2}", x(only.distance), y(g[k])); // a dot
        }
    }
    out
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
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
        assert_eq!(marks(7.0, 7.0), "6.4 6.6 6.8 7.0 7.2 7.4 7.6");
        assert_eq!(marks(0.0, 0.0021), "0.0000 0.0005 0.0010 0.0015 0.0020 0.0025");
        assert_eq!(Axis::new(0.0, 95.0, 10.0, false).marks().count(), 10);
    }

    #[test]
    fn however_many_places() {
        let sample = |i: i32| Sample {
            distance: f64::from(i) / 100.0,
            ground: (i % 30_000 < 29_000).then(|| [f64::from(i % 7), 0.0, 0.9]),
        };
        let samples: Vec<Sample> = (0..100_000).map(sample).collect();
        let text = svg("a <b> & c", &samples);
        assert!(text.len() < 300_000 && text.contains("a &lt;b&gt; &amp; c"), "{}", text.len());
        assert_eq!(gaps(&samples), [(289.99, 300.0), (589.99, 600.0), (889.99, 900.0)]);
        let line = path(&samples, 0, &|d| d, &|z| z);
        assert_eq!(line.matches('M').count(), 4, "a gap is no line");
        // one place, and none
        assert!(svg("", &samples[..1]).contains("M78.00") || svg("", &samples[..1]).contains('L'));
        assert!(svg("", &[]).ends_with("</svg>\n"));
    }
}
