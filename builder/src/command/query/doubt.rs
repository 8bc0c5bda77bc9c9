//! What a file of points or a drive may have meant, where most of it does not meet the ground.

use hardpan::{Answer, Reach, Terrain};

use super::super::{decimal, grouped};

/// Of fewer lines nothing is said.
pub const MANY: u64 = 10;
/// One of so many is few.
const FEW: u64 = 10;

/// By so much of it a z in another unit may be off the ground.
const ALIKE: f64 = 0.02;
/// Units that are not metres, in metres.
const UNITS: [(f64, &str); 5] =
    [(0.001, "millimetres"), (0.01, "centimetres"), (0.0254, "inches"), (0.3048, "feet"), (1000.0, "kilometres")];

/// Where points lie.
#[derive(Default)]
pub struct Reached {
    /// Those that are numbers.
    pub places: u64,
    /// Those of them within an image's extent of it.
    near: u64,
    /// Least and greatest x, y and z.
    ends: [[f64; 2]; 3],
}

impl Reached {
    /// `low` and `high` are the bounds of the image.
    pub fn count(&mut self, place: [f64; 3], [low, high]: [[f64; 3]; 2]) {
        if !place.iter().all(|v| v.is_finite()) {
            return;
        }
        for (end, v) in self.ends.iter_mut().zip(place) {
            *end = if self.places == 0 { [v, v] } else { [end[0].min(v), end[1].max(v)] };
        }
        self.places += 1;
        let size = [0, 1].map(|i| high[i] - low[i]);
        self.near += u64::from([0, 1].iter().all(|&i| place[i] >= low[i] - size[i] && place[i] <= high[i] + size[i]));
    }

    /// Where they lie, if not on an image of these bounds, and of such as lie far from it what would bring them there.
    pub fn told(&self, [low, high]: [[f64; 3]; 2]) -> Option<String> {
        let image = [0, 1].map(|i| [low[i], high[i]]);
        let [x, y, z] = self.ends;
        let back = |[low, high]: [f64; 2]| [-high, -low];
        let times = |v: f64| [x, y].map(|end| end.map(|e| e * v));
        let across = |plan: [[f64; 2]; 2]| (plan[0][1] - plan[0][0]).max(plan[1][1] - plan[1][0]);
        // inside, and not all in one corner of it
        let fits = |plan: [[f64; 2]; 2]| {
            plan.iter().zip(image).all(|(own, ends)| {
                let beside = 0.02 * (ends[1] - ends[0]);
                own[0] >= ends[0] - beside && own[1] <= ends[1] + beside
            }) && across(plan) > 0.1 * across(image)
        };
        if [x, y].iter().zip(image).all(|(own, ends)| own[0] >= ends[0] && own[1] <= ends[1]) {
            return None;
        }
        let [own, of] = [[x, y], image].map(|[x, y]| format!("x {}, y {}", span(x), span(y)));
        let lie = format!("; they lie at {own} and the image at {of}");
        // what was found, or lies next to it, says that frame and unit are right, and that the drive left the image
        if FEW * self.near > self.places {
            return Some(lie);
        }
        // of z something can be said where it is not the same everywhere
        let steep = z[1] - z[0] > 0.02 * across(image);
        let turned = [
            ([y, x], true, "x and y may be changed over"),
            ([x, back(y)], true, "y may point the other way"),
            ([x, back(z)], steep, "y may point up, and z to the south"),
            ([x, z], steep, "y and z may be changed over"),
        ];
        let fit: Vec<&str> = UNITS.into_iter().filter(|(unit, _)| fits(times(*unit))).map(|(_, name)| name).collect();
        let unit = (!fit.is_empty()).then(|| format!("they may be in {}", fit.join(" or ")));
        let cause =
            turned.into_iter().find(|(plan, told, _)| *told && fits(*plan)).map(|(.., cause)| cause.to_string());
        let cause = cause.or(unit);
        Some(format!(
            "{lie}: {}",
            cause.unwrap_or_else(|| "their zero, unit or axes may be others than the image's".into())
        ))
    }
}

/// Answers from farther away than the near window.
#[derive(Default)]
pub struct Far {
    /// Lines with a z and ground.
    asked: u64,
    far: u64,
    /// The line of the first of these.
    first: u64,
    /// How far the ground lies below the z of these, least and greatest.
    below: [f64; 2],
    /// How much of that z the ground's is, least and greatest.
    share: [f64; 2],
}

impl Far {
    pub fn count(&mut self, z: f64, a: &Answer, t: &Terrain, line: u64) {
        self.asked += 1;
        if !matches!(a.hit.reach, Reach::FarBelow | Reach::FarAbove) {
            return;
        }
        let ground = t.z_f64(&a.hit);
        let first = self.far == 0;
        let join = |[low, high]: [f64; 2], v: f64| if first { [v; 2] } else { [low.min(v), high.max(v)] };
        (self.below, self.share) = (join(self.below, z - ground), join(self.share, ground / z));
        self.first = if self.far == 0 { line } else { self.first };
        self.far += 1;
    }

    /// One line, if any are far; if most are, why that may be.
    pub fn told(&self) -> Option<String> {
        let [least, most] = self.below;
        let [far, asked] = [self.far, self.asked].map(grouped);
        if self.far == 0 {
            return None;
        }
        if self.asked < MANY || 2 * self.far <= self.asked {
            let (are, first) = (if self.far == 1 { "is" } else { "are" }, self.first);
            return Some(format!(
                "{far} of {asked} answers {are} far below or far above, beyond the near window; the first is line {first}"
            ));
        }
        let is = |(unit, _): &(f64, &str)| self.share.iter().all(|share| (share / unit - 1.0).abs() < ALIKE);
        let unit = UNITS.iter().find(|unit| is(unit)).map(|(_, name)| format!("z may be in {name}"));
        let cause = match (unit, most - least < 0.1 * (least + most).abs()) {
            (Some(unit), _) => unit,
            (None, true) => {
                format!("z may have another zero, about {} m off", short((least / 2.0 + most / 2.0).abs()))
            }
            (None, false) => "z may be in another unit, or y may point up".into(),
        };
        let ground = if least >= 0.0 {
            format!("{} m below", span([least, most]))
        } else if most <= 0.0 {
            format!("{} m above", span([-most, -least]))
        } else {
            format!("{} m above to {} m below", short(-least), short(most))
        };
        Some(format!(
            "{far} of {asked} answers are far below or far above, with the ground {ground} the z that was asked with: {cause}"
        ))
    }
}

/// From one number to another, as far as they differ.
fn span(ends: [f64; 2]) -> String {
    let [low, high] = ends.map(short);
    if low == high { low } else { format!("{low} to {high}") }
}

/// With as many digits as a person reads.
fn short(v: f64) -> String {
    let tenths = (v * 10.0).round() / 10.0;
    decimal(if tenths.is_finite() { tenths } else { v })
}
