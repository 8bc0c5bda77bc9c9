//! Which axis of a file points up, by how much of it could be driven on.

use crate::import::Says;
use crate::report::{Code, Finding, Hint, Quantity, Severity};
use crate::scene::Triangle;

use crate::build::source::{AXES, Part};

/// How much of a file is less steep than 60 degrees.
pub struct Orientation {
    /// Which of its axes points up, or down: 0, 1 or 2.
    up: usize,
    /// Area, m2.
    pub area: f64,
    /// Area that is less steep, with its axes x, y and z up.
    drivable: [f64; 3],
}

impl Orientation {
    pub fn of(part: &Part) -> Self {
        // walls without their roof say nothing, nor do those of a town where only the roads are ground
        let [all, ground] = [Self::with(part, &mut part.measured()), Self::with(part, &mut part.measured_ground())];
        if all.area > 0.0 && all.percent(all.up) > ground.percent(ground.up) { all } else { ground }
    }

    fn with(part: &Part, triangles: &mut dyn Iterator<Item = &Triangle>) -> Self {
        let axes = part.frame.axes();
        let (mut all, mut drivable) = (0.0, [0.0; 3]);
        for t in triangles {
            let n = part.normal(t);
            let area = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt();
            all += area / 2.0;
            for (sum, d) in drivable.iter_mut().zip(axes) {
                let across = n[0] * d[0] + n[1] * d[1] + n[2] * d[2];
                *sum += if across.abs() > 0.5 * area { area / 2.0 } else { 0.0 };
            }
        }
        Orientation { up: part.frame.upright(), area: all, drivable }
    }

    /// The best other axis.
    pub fn other(&self) -> usize {
        // x points up in few files: it is named where nothing else will do
        let then = if self.up == 2 { 1 } else { 2 };
        let rare = 3 - self.up - then;
        if self.drivable[rare] > 2.0 * self.drivable[then] { rare } else { then }
    }

    fn percent(&self, up: usize) -> f64 {
        if self.area > 0.0 { 100.0 * self.drivable[up] / self.area } else { 100.0 }
    }

    /// The best other axis, if with it more could be driven on.
    pub fn better(&self) -> Option<&'static str> {
        (self.drivable[self.other()] > self.drivable[self.up]).then(|| AXES[self.other()])
    }

    /// How grave it looks: an error if nearly nothing could be driven on.
    pub fn doubt(&self) -> Option<Severity> {
        match [self.up, self.other()].map(|up| self.percent(up)) {
            [here, there] if here < 10.0 && there > here => Some(Severity::Error),
            [here, there] if there > 1.25 * here => Some(Severity::Warning),
            _ => None,
        }
    }

    /// Who states the axis is believed. A file that states its own is believed unless nearly nothing could be driven
    /// on.
    pub fn severity(&self, part: &Part) -> Option<Severity> {
        match (part.frame.says(), self.doubt()?) {
            (Says::Caller, _) | (Says::File, Severity::Warning) => None,
            (Says::File, _) => Some(Severity::Warning),
            (Says::Nobody, doubt) => Some(doubt),
        }
    }

    pub fn finding(&self, part: &Part, severity: Severity) -> Finding {
        let (now, then) = (part.frame.up(), AXES[self.other()]);
        let [here, there] = [self.up, self.other()].map(|up| self.percent(up));
        let text = format!(
            "{here:.0} % of the surface is less steep than 60 degrees with {now} up, and {there:.0} % with {then} up"
        );
        let hint = Hint::Set { key: "up", value: then.into() };
        let value = |name, value| Quantity { name, value, unit: "%" };
        let values = vec![value("drivable", here), value("drivable_then", there)];
        Finding { values, ..part.finding(Code::Orientation, severity, text, hint) }
    }
}
