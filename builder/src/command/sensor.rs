//! `hardpan sensor`: the terrain sensor of a vehicle along a drive.

use std::{
    fs,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use hardpan::{RayStatus, SensorConfig, SensorReading, SensorStep, SensorTrace, Setting, Terrain};
use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer};

use super::query::push_number;
use super::{Done, Failure, Kind, NewFile, Replace, export::not_a_source, load, tables, terrain};
use crate::query::table::Drive;
use crate::query::tyre::posed;

#[derive(clap::Args)]
#[command(after_help = HOW)]
pub struct Args {
    /// Terrain image
    file: PathBuf,
    /// Places of the vehicle's centre: t,x,y,z,yaw
    #[arg(long, value_name = "DRIVE.csv")]
    drive: PathBuf,
    /// Lengths, offsets, switches, radii and places of the wheels [default: those below]
    #[arg(long, value_name = "SENSOR.toml")]
    config: Option<PathBuf>,
    /// Where the readings go, as CSV [default: stdout]
    #[arg(short, long, value_name = "FILE.csv")]
    output: Option<PathBuf>,
    /// Traces as lines to look at: hits green, misses red
    #[arg(long, value_name = "FILE.obj")]
    obj: Option<PathBuf>,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
}

const HOW: &str = "\
Five traces each step: ahead of the vehicle, and down from each wheel. A trace starts an offset before its
centre and ends a length behind it. Yaw is in degrees; z is the height of the vehicle's centre.
A settings file may have any of these lines; here are their defaults:

  vehicle = { length = 50, offset = 0, enabled = true }
  front_left = { length = 2, offset = 0.5, enabled = true, at = [1.35, 0.8, 0] }
  vehicle_distance = 2.3
  tyre_distance = [0.3, 0.3, 0.3, 0.3]

The other wheels are front_right, rear_left and rear_right. A distance \"external\" is a column of the drive:
vehicle_distance; tyre_distance_front_left and so on. More: kernel/docs/sensor.md.

  hardpan sensor track.hpan --drive drive.csv -o sensor.csv --obj traces.obj";

/// The traces, in the order of the sensor.
const NAMES: [&str; 5] = ["vehicle", "front_left", "front_right", "rear_left", "rear_right"];

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct File {
    vehicle: Trace,
    front_left: Trace,
    front_right: Trace,
    rear_left: Trace,
    rear_right: Trace,
    #[serde(deserialize_with = "vehicle_distance")]
    vehicle_distance: Option<Setting<f64>>,
    #[serde(deserialize_with = "tyre_distance")]
    tyre_distance: Option<Setting<[f64; 4]>>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(deny_unknown_fields, default, expecting = "lines in braces, as in { length = 2, offset = 0.5 }")]
struct Trace {
    length: Option<f64>,
    offset: Option<f64>,
    enabled: Option<bool>,
    at: Option<[f64; 3]>,
}

fn vehicle_distance<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Setting<f64>>, D::Error> {
    distance(d, "a number of metres, as in 2.3")
}

fn tyre_distance<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Setting<[f64; 4]>>, D::Error> {
    distance(d, "four numbers of metres, as in [0.3, 0.3, 0.3, 0.3]")
}

/// A value, or the word that says where it is.
fn distance<'de, T: DeserializeOwned, D: Deserializer<'de>>(d: D, form: &str) -> Result<Option<Setting<T>>, D::Error> {
    match toml::Value::deserialize(d)? {
        toml::Value::String(word) if word == "external" => Ok(Some(Setting::External)),
        value => match value.clone().try_into() {
            Ok(value) => Ok(Some(Setting::Constant(value))),
            Err(_) => Err(de::Error::custom(format!("{value} is no distance here; write {form}, or \"external\""))),
        },
    }
}

fn config(path: &Path) -> Done<SensorConfig> {
    let text = fs::read_to_string(path).map_err(|e| Failure::io(path, e))?;
    let file: File = toml::from_str(&text).map_err(|e| {
        let line = e.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        Failure::input(path, format!("line {line}: {}; see: hardpan sensor --help", e.message().replace('\n', " ")))
    })?;
    let mut config = SensorConfig::default();
    let traces = [file.vehicle, file.front_left, file.front_right, file.rear_left, file.rear_right];
    if traces[0].at.is_some() {
        return Err(Failure::input(path, "vehicle.at: the vehicle's trace starts at its centre; remove it"));
    }
    for (k, given) in traces.into_iter().enumerate() {
        let SensorTrace { length, offset, enabled } = config.traces[k];
        let (length, offset) = (given.length.unwrap_or(length), given.offset.unwrap_or(offset));
        config.traces[k] = SensorTrace { length, offset, enabled: given.enabled.unwrap_or(enabled) };
        let sound = length.is_finite() && offset.is_finite();
        if config.traces[k].enabled && !(sound && length + offset > 0.0 && length + offset <= 2000.0) {
            let text = "length and offset together are above 0 and at most 2000 metres";
            return Err(Failure::input(path, format!("{}: {text}, and not {}", NAMES[k], length + offset)));
        }
        if let (Some(at), Some(wheel)) = (given.at, k.checked_sub(1)) {
            config.wheels[wheel] = at;
        }
    }
    config.vehicle_distance = file.vehicle_distance.unwrap_or(config.vehicle_distance);
    config.tyre_distance = file.tyre_distance.unwrap_or(config.tyre_distance);
    Ok(config)
}

/// Where the drive has the distances of each step, if the configuration asks for them.
struct Columns {
    vehicle: Option<usize>,
    tyres: Option<[usize; 4]>,
}

fn columns(path: &Path, drive: &Drive, config: &SensorConfig) -> Done<Columns> {
    let find = |name: &str| {
        let place = drive.passed.keys.iter().position(|key| key.as_deref() == Some(name));
        place.ok_or_else(|| Failure::input(path, format!("there is no column {name}, which the settings ask for")))
    };
    let vehicle = match config.vehicle_distance {
        Setting::External => Some(find("vehicle_distance")?),
        Setting::Constant(_) => None,
    };
    let tyres = match config.tyre_distance {
        Setting::External => {
            let mut places = [0; 4];
            for (to, name) in places.iter_mut().zip(&NAMES[1..]) {
                *to = find(&format!("tyre_distance_{name}"))?;
            }
            Some(places)
        }
        Setting::Constant(_) => None,
    };
    Ok(Columns { vehicle, tyres })
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let image = load(&args.file)?;
    let terrain = terrain(&args.file, &image)?;
    let config = args.config.as_deref().map(config).transpose()?.unwrap_or_default();
    let drive = tables::drive(&args.drive)?;
    let columns = columns(&args.drive, &drive, &config)?;
    let inputs = [Some(&args.file), Some(&args.drive), args.config.as_ref()];
    for (output, kind) in [(&args.output, Kind::MEASURED), (&args.obj, Kind::MESH)] {
        if let Some(output) = output {
            not_a_source(output, &terrain)?;
            Replace::None.or_any(args.force).check_made(output, kind, inputs.into_iter().flatten())?;
        }
    }
    let readings = readings(args, &terrain, &config, &drive, &columns)?;
    match &args.output {
        None => csv(&terrain, &drive, &readings, out)?,
        Some(path) => written(path, |to| csv(&terrain, &drive, &readings, to))?,
    }
    if let Some(path) = &args.obj {
        written(path, |to| obj(&readings, to))?;
    }
    Ok(())
}

fn written(path: &Path, write: impl FnOnce(&mut BufWriter<&fs::File>) -> io::Result<()>) -> Done {
    let failed = |e| Failure::write(path, e);
    let (new, to) = NewFile::create(path)?;
    let mut to = BufWriter::with_capacity(1 << 16, &to);
    write(&mut to).map_err(failed)?;
    to.into_inner().map_err(|e| e.into_error()).and_then(|file| file.sync_all()).map_err(failed)?;
    Ok(new.keep()?)
}

fn readings(
    args: &Args,
    t: &Terrain,
    config: &SensorConfig,
    drive: &Drive,
    columns: &Columns,
) -> Done<Vec<SensorReading>> {
    let mut all = Vec::with_capacity(drive.stops.len());
    for (i, stop) in drive.stops.iter().enumerate() {
        let wrong = |text: String| Failure::input(&args.drive, format!("line {}: {text}", stop.line));
        let z =
            stop.z.ok_or_else(|| wrong("there is no z; the sensor needs the height of the vehicle's centre".into()))?;
        let number = |place: usize| {
            let field = drive.passed.fields(i).nth(place).unwrap_or_default();
            let text = field.trim();
            text.parse::<f64>().map_err(|_| wrong(format!("{text:?} is not a distance")))
        };
        let vehicle_distance = columns.vehicle.map(number).transpose()?;
        let tyre_distance = match columns.tyres {
            Some([a, b, c, d]) => Some([number(a)?, number(b)?, number(c)?, number(d)?]),
            None => None,
        };
        let pose = posed([stop.x, stop.y, z], [stop.yaw.unwrap_or(0.0), 0.0, 0.0]);
        let step = SensorStep { vehicle_distance, tyre_distance, wheels: None };
        let reading = t.sensor(config, &pose, &step);
        all.push(reading.map_err(|_| wrong("a number is blank or not finite".into()))?);
    }
    Ok(all)
}

/// The name of what a trace came to.
fn came(status: Option<RayStatus>) -> &'static str {
    status.map_or("disabled", RayStatus::name)
}

fn csv(t: &Terrain, drive: &Drive, readings: &[SensorReading], out: &mut impl Write) -> io::Result<()> {
    write!(out, "t,x,y,z,yaw")?;
    for name in NAMES {
        write!(out, ",{name}_hit,{name}_adjusted,{name}_distance")?;
        for part in ["hit", "start", "end"] {
            write!(out, ",{name}_{part}_x,{name}_{part}_y,{name}_{part}_z")?;
        }
        write!(out, ",{name}_material,{name}_status")?;
    }
    writeln!(out)?;
    let mut line = Vec::new();
    for (stop, r) in drive.stops.iter().zip(readings) {
        line.clear();
        for v in [stop.t, Some(stop.x), Some(stop.y), stop.z, stop.yaw] {
            v.into_iter().for_each(|v| push_number(&mut line, v));
            line.push(b',');
        }
        line.pop();
        for k in 0..NAMES.len() {
            line.extend(if r.hit[k] { b",1," } else { b",0," });
            let adjusted = k.checked_sub(1).map_or(r.vehicle_adjusted, |wheel| r.tyre_adjusted[wheel]);
            push_number(&mut line, adjusted);
            let places = [r.hit_location[k], r.start[k], r.end[k]].concat();
            for v in [r.distance[k]].into_iter().chain(places) {
                line.push(b',');
                push_number(&mut line, v);
            }
            line.extend(super::query::field(t.material_name(r.material[k])));
            line.extend(super::query::field(came(r.status[k])));
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    out.flush()
}

/// Lines from the start of each trace to what it met, or to its end.
fn obj(readings: &[SensorReading], out: &mut impl Write) -> io::Result<()> {
    let mut vertex = 1;
    for (i, r) in readings.iter().enumerate() {
        writeln!(out, "o step_{i}")?;
        for k in (0..NAMES.len()).filter(|&k| r.status[k].is_some()) {
            let colour = if r.hit[k] { "0 0.8 0" } else { "0.9 0 0" };
            for [x, y, z] in [r.start[k], r.hit_location[k]] {
                writeln!(out, "v {x} {y} {z} {colour}")?;
            }
            writeln!(out, "l {vertex} {}", vertex + 1)?;
            vertex += 2;
        }
    }
    out.flush()
}
