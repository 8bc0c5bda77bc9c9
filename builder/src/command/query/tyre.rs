//! Tyre contact: typed poses, or the wheels of a drive.

use std::io::{self, Write};

use hardpan::{Axes, Contact, ContactStatus, Pose, Terrain};
use serde_json::{Map, Value, json};

use super::super::{Form, counted, shown};
use super::Args;
use super::csv::{field, push_field};
use crate::draw::picture::Picture;
use crate::draw::plot::{self, Line, Sample};
use crate::query::Ask;
use crate::query::table::Drive;
use crate::query::tyre::{COLUMNS, Cell, METHODS, TyreSpec, in_axes, posed};

/// Wheels of a vehicle in its own axes, where a drive is of the vehicle: names, forward and left.
pub const WHEELS: [(&str, [f64; 2]); 4] =
    [("FL", [1.35, 0.8]), ("FR", [1.35, -0.8]), ("RL", [-1.35, 0.8]), ("RR", [-1.35, -0.8])];

/// A pose as it is typed: x,y,z[,yaw[,pitch[,roll]]], metres and degrees.
pub fn pose(text: &str) -> Result<[f64; 6], String> {
    let form = "a pose is x,y,z[,yaw,pitch,roll] in metres and degrees, as in 10,20,0.3,90,0,0";
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    let mut pose = [0.0; 6];
    if !(3..=6).contains(&fields.len()) {
        return Err(form.into());
    }
    for (to, field) in pose.iter_mut().zip(fields) {
        *to = field.parse().map_err(|_| format!("{form}; {field:?} is not a number"))?;
    }
    Ok(pose)
}

/// A wheel that is asked for: where in its file, and its pose.
#[derive(Clone, Copy)]
struct Asked<'d> {
    t: Option<f64>,
    distance: Option<f64>,
    wheel: &'d str,
    centre: [f64; 3],
    yaw: f64,
    pose: Pose,
}

/// Answers every pose, and says how many wheels have no contact.
pub fn answer(args: &Args, t: &Terrain, drive: &Drive, tyre: &TyreSpec, out: &mut impl Write) -> io::Result<Missed> {
    let of_drive = args.along.is_some();
    let form = if args.json { Some(Form::Json) } else { args.output.as_deref().and_then(Form::of) };
    let form = form.or(of_drive.then_some(Form::Csv));
    let mut sheet = Sheet { t, out, form, axes: args.axes, first: true, missed: Missed::default() };
    sheet.head()?;
    for &[x, y, z, yaw, pitch, roll] in &args.poses {
        let centre = args.axes.world_in([x, y, z]);
        let pose = posed(centre, [yaw, pitch, roll]);
        sheet.row(tyre, &Asked { t: None, distance: None, wheel: "", centre, yaw, pose })?;
    }
    wheels(t, drive, tyre, |asked| sheet.row(tyre, asked))?;
    sheet.foot()
}

/// Gives the wheels of a drive at each of its places.
fn wheels(
    t: &Terrain,
    drive: &Drive,
    tyre: &TyreSpec,
    mut give: impl FnMut(&Asked) -> io::Result<()>,
) -> io::Result<()> {
    let single = drive.wheels.len() == 1 && drive.wheels[0].is_empty();
    let mut heading = vec![0.0; drive.wheels.len()];
    for (i, stop) in drive.stops.iter().enumerate() {
        // without yaw a vehicle looks where it goes, and one that stands as before
        let next = drive.stops[i + 1..].iter().find(|s| s.wheel == stop.wheel);
        let way = next.map(|n| [n.x - stop.x, n.y - stop.y]).filter(|w| w.iter().any(|v| *v != 0.0));
        let ahead = way.filter(|w| w.iter().all(|v| v.is_finite())).map(|[dx, dy]| libm::atan2(dy, dx).to_degrees());
        heading[stop.wheel] = stop.yaw.or(ahead).unwrap_or(heading[stop.wheel]);
        let yaw = heading[stop.wheel];
        let body = posed([stop.x, stop.y, 0.0], [yaw, 0.0, 0.0]);
        let wheels = WHEELS.map(|(name, [x, y])| (name, body.placed([x, y, 0.0])));
        let own = [(&*drive.wheels[stop.wheel], [stop.x, stop.y, 0.0])];
        for (wheel, [x, y, _]) in if single { &wheels[..] } else { &own } {
            // without z the wheel stands on the highest ground with its whole radius
            let ground = || {
                let answer = Ask { x: *x, y: *y, z: None, length: None }.answer(t);
                if answer.found() { t.z_f64(&answer.hit) } else { 0.0 }
            };
            let centre = [*x, *y, stop.z.unwrap_or_else(|| ground() + tyre.radius)];
            let (t, distance) = (stop.t, Some(stop.distance));
            let pose = Pose { centre, ..body };
            give(&Asked { t, distance, wheel, centre, yaw, pose })?;
        }
    }
    Ok(())
}

/// What the first wheel of a drive stands on by points, by columns and by strips, and by the method that is asked for.
pub fn picture(t: &Terrain, title: &str, drive: &Drive, tyre: &TyreSpec) -> io::Result<Picture> {
    let named = |method| METHODS.iter().find(|(_, m)| *m == method).map_or("", |(name, _)| *name);
    let mut names = vec!["point", "columns64", "strips"];
    names.extend(Some(named(tyre.method)).filter(|name| !names.contains(name)));
    let methods = METHODS.iter().filter(|(name, _)| names.contains(name));
    let mut lines: Vec<(TyreSpec, Line)> = methods
        .map(|&(name, method)| (TyreSpec { method, ..*tyre }, Line { name: name.into(), samples: Vec::new() }))
        .collect();
    let mut first: Option<String> = None;
    wheels(t, drive, tyre, |asked| {
        if first.get_or_insert_with(|| asked.wheel.into()) == asked.wheel {
            for (tyre, line) in &mut lines {
                let c = tyre.contact(t, asked.pose);
                // in percent, where the wheel looks
                let [ahead, _, up] = [0, 1, 2].map(|k| {
                    let axis = asked.pose.axes[k];
                    c.plane[0] * axis[0] + c.plane[1] * axis[1] + c.plane[2] * axis[2]
                });
                let ground = c.found().then_some([c.height, -100.0 * ahead / up, c.mu]);
                line.samples.push(Sample { distance: asked.distance.unwrap_or_default(), ground });
            }
        }
        Ok(())
    })?;
    let wheel = first.filter(|name| !name.is_empty()).map(|name| format!(", wheel {}", shown(&name)));
    let lines: Vec<Line> = lines.into_iter().map(|(_, line)| line).collect();
    Ok(plot::picture(&format!("{title}{}", wheel.unwrap_or_default()), &lines))
}

struct Sheet<'t, 'a, W> {
    t: &'t Terrain<'a>,
    out: W,
    form: Option<Form>,
    axes: Axes,
    first: bool,
    missed: Missed,
}

/// Wheels without contact, by the cause.
#[derive(Clone, Copy, Default)]
pub struct Missed {
    /// Without ground, or not in the image.
    without: u64,
    /// At the limit of the method.
    limit: u64,
    /// With a pose or a size that is none, or over a damaged tile.
    other: u64,
}

impl Missed {
    fn count(&mut self, status: ContactStatus) {
        match status {
            ContactStatus::Found => {}
            ContactStatus::NoGround | ContactStatus::NotInImage => self.without += 1,
            ContactStatus::LimitReached => self.limit += 1,
            _ => self.other += 1,
        }
    }

    /// How many of each there are; nothing if all have contact.
    pub fn told(&self) -> Option<String> {
        let told = [
            (self.without, "without ground"),
            (self.limit, "at the limit of the method (limit reached); ask by columns64"),
            (self.other, "without an answer: see the status"),
        ];
        let told = told.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", counted(*n, "wheel")));
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

impl<W: Write> Sheet<'_, '_, W> {
    fn head(&mut self) -> io::Result<()> {
        match self.form {
            Some(Form::Csv) => {
                let names: Vec<String> = COLUMNS.iter().flat_map(|c| c.names()).collect();
                writeln!(self.out, "t,distance,wheel,x,y,z,yaw,status,{}", names.join(","))
            }
            Some(Form::Json) => write!(self.out, "["),
            None => Ok(()),
        }
    }

    fn row(&mut self, tyre: &TyreSpec, asked: &Asked) -> io::Result<()> {
        let contact = in_axes(self.axes, &tyre.contact(self.t, asked.pose));
        self.missed.count(contact.status);
        let asked = &Asked { centre: self.axes.world_out(asked.centre), ..*asked };
        match self.form {
            Some(Form::Csv) => self.csv(asked, &contact),
            Some(Form::Json) => self.json(asked, &contact),
            None => self.list(asked, &contact),
        }
    }

    fn csv(&mut self, asked: &Asked, contact: &Contact) -> io::Result<()> {
        let mut line = Vec::new();
        push_field(&mut line, asked.t);
        push_field(&mut line, asked.distance);
        line.extend(field(asked.wheel));
        asked.centre.into_iter().chain([asked.yaw]).for_each(|v| push_field(&mut line, Some(v)));
        line.extend(field(contact.status.name()));
        for column in &COLUMNS {
            match if contact.found() { (column.value)(self.t, contact) } else { Cell::None } {
                Cell::Number(v) => push_field(&mut line, Some(v)),
                Cell::Whole(v) => push_field(&mut line, Some(v.into())),
                Cell::Flag(v) => push_field(&mut line, Some(u8::from(v).into())),
                Cell::Word(v) => line.extend(field(v)),
                Cell::Vector(v) => v.into_iter().for_each(|v| push_field(&mut line, Some(v))),
                Cell::None => line.extend(column.names().iter().map(|_| b',')),
            }
        }
        line.push(b'\n');
        self.out.write_all(&line[1..])
    }

    fn json(&mut self, asked: &Asked, contact: &Contact) -> io::Result<()> {
        let mut all = Map::new();
        let [x, y, z] = asked.centre;
        all.extend([("x", x), ("y", y), ("z", z), ("yaw", asked.yaw)].map(|(k, v)| (k.into(), json!(v))));
        asked.t.into_iter().for_each(|t| _ = all.insert("t".into(), json!(t)));
        if !asked.wheel.is_empty() {
            all.insert("wheel".into(), json!(asked.wheel));
        }
        all.insert("status".into(), json!(contact.status.name()));
        for column in &COLUMNS {
            let value = match if contact.found() { (column.value)(self.t, contact) } else { Cell::None } {
                Cell::Number(v) => json!(v),
                Cell::Whole(v) => json!(v),
                Cell::Flag(v) => json!(v),
                Cell::Word(v) => json!(v),
                Cell::Vector(v) => json!(v),
                Cell::None => Value::Null,
            };
            all.insert(column.name.into(), value);
        }
        let comma = if std::mem::take(&mut self.first) { "\n  " } else { ",\n  " };
        write!(self.out, "{comma}{}", Value::Object(all))
    }

    fn list(&mut self, asked: &Asked, contact: &Contact) -> io::Result<()> {
        if !std::mem::take(&mut self.first) {
            writeln!(self.out)?;
        }
        let [x, y, z] = asked.centre;
        writeln!(self.out, "{:<14} {x} {y} {z}", "centre")?;
        writeln!(self.out, "{:<14} {}", "status", contact.status.name())?;
        if !contact.found() {
            return writeln!(self.out, "{:<14} {}", "", contact.status.meaning());
        }
        for column in &COLUMNS {
            let name = column.name.replace('_', " ");
            let unit = if column.unit.is_empty() { String::new() } else { format!(" {}", column.unit) };
            match (column.value)(self.t, contact) {
                Cell::Whole(v) => writeln!(self.out, "{name:<14} {v}{unit}")?,
                Cell::Number(v) if v.fract() == 0.0 => writeln!(self.out, "{name:<14} {v}{unit}")?,
                Cell::Number(v) => writeln!(self.out, "{name:<14} {v:.6}{unit}")?,
                Cell::Flag(v) => writeln!(self.out, "{name:<14} {}", if v { "yes" } else { "no" })?,
                Cell::Word(v) => writeln!(self.out, "{name:<14} {}", shown(v))?,
                Cell::Vector([x, y, z]) => writeln!(self.out, "{name:<14} {x:.6} {y:.6} {z:.6}{unit}")?,
                Cell::None => {}
            }
        }
        Ok(())
    }

    fn foot(&mut self) -> io::Result<Missed> {
        if self.form == Some(Form::Json) {
            writeln!(self.out, "{}]", if self.first { "" } else { "\n" })?;
        }
        self.out.flush()?;
        Ok(self.missed)
    }
}
