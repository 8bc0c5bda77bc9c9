//! What wheels and chassis points stand on, and the terrain sensor.

use crate::ffi::{In, Out};
use crate::hpan_error::{self, *};
use crate::image::{hpan_view, run};
use crate::types::*;
use hardpan::{
    Axes, ChassisHit, ChassisPoint, Contact, ContactPoint, ContactStatus, Cost, Group, Lattice, Method, Motion, Pose,
    SensorConfig, SensorError, SensorStep, SensorTrace, Setting, Terrain, Tyre, Wheel,
};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// `hpan_tyre.strips` for tyres of cars, also on height fields of 5 mm.
pub const HPAN_STRIPS: u32 = 16384;

/// Axes of a world and of a body, of `hpan_body.axes`; answers are in the axes of their question.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum hpan_axes {
    /// Forward, left, up in both: ISO 8855.
    HPAN_AXES_ISO8855 = 0,
    /// World east, north, up; body forward, left, up: the same numbers as ISO 8855.
    HPAN_AXES_ENU = 1,
    /// World north, east, down; body forward, right, down.
    HPAN_AXES_NED = 2,
    /// x, up, right of x; right-handed. To ISO 8855: (x, -z, y).
    HPAN_AXES_Y_UP = 3,
    /// Left, up, back; left-handed. To ISO 8855: (-z, x, y).
    HPAN_AXES_RFACTOR = 4,
    /// Forward, right, up; left-handed. To ISO 8855: (x, -y, z).
    HPAN_AXES_ISO_Y_RIGHT = 5,
}

/// `hpan_body.flags`: `down` counts; else down lies in the plane of the wheel.
pub const HPAN_DOWN_VALID: u32 = 1;
/// `hpan_body.flags`: `velocity` counts.
pub const HPAN_VELOCITY_VALID: u32 = 2;
/// `hpan_body.flags`: the body is asked for `dt` seconds ahead, if its velocity counts.
pub const HPAN_EXTRAPOLATE: u32 = 4;

/// Where a wheel or a chassis is, and how it moves.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_body {
    /// The centre in the world, in metres.
    pub centre: [f64; 3],
    /// Rows of the matrix that takes places of the body to the world's.
    pub ori: [[f64; 3]; 3],
    /// Down in the world, of any length; of wheels alone.
    pub down: [f64; 3],
    /// Velocity in the world, in metres a second.
    pub velocity: [f64; 3],
    /// How far ahead, in seconds: at most one.
    pub dt: f64,
    /// `HPAN_DOWN_VALID`, `HPAN_VELOCITY_VALID`, `HPAN_EXTRAPOLATE`.
    pub flags: u32,
    /// One of `hpan_axes`.
    pub axes: u32,
}

/// A place of a wheel that looks for ground.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_contact_point {
    /// Where, from the wheel's centre, without its spin, in the axes of the body: in metres.
    pub at: [f64; 3],
    /// How much it counts: zero or more.
    pub weight: f64,
}

/// A tyre, and how it looks for ground.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_tyre {
    /// Radius without load, in metres.
    pub radius: f64,
    /// Width, in metres.
    pub width: f64,
    /// How far above its centre ground is looked for, in metres. Both zero: half a radius, and a radius and 2 m.
    pub reach_above: f64,
    /// How far below its centre.
    pub reach_below: f64,
    /// 16, 64 or 256: the volume of the cylinder by so many columns. Zero: by points, or by strips.
    pub columns: u32,
    /// The volume by triangles, so many at most; with `columns` zero. Zero: by points. `HPAN_STRIPS` suits most tyres.
    pub strips: u32,
}

/// What a wheel stands on, in the axes of the question, metres.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_contact_found {
    /// Height of the ground: of points the weighted mean; of a cylinder that of level ground with the same volume below
    /// it.
    pub height: f64,
    /// Weighted mean of the unit normals.
    pub normal: [f64; 3],
    /// Unit normal of the plane that fits the samples best; it goes through the patch centre.
    pub plane: [f64; 3],
    /// Weighted mean of the places on the ground.
    pub patch_centre: [f64; 3],
    /// How deep the tyre reaches below the ground in the plane of the wheel; below zero: how far it is above.
    pub penetration: f64,
    /// From the centre to the ground along the wheel's own down.
    pub loaded_radius: f64,
    /// Volume below the ground, in cubic metres, of strips that of level ground; zero of points.
    pub volume: f64,
    /// Weighted mean of the friction.
    pub mu: f64,
    /// Weighted mean of the rolling resistance.
    pub rolling: f64,
    /// Weighted mean of the gain.
    pub gain: f64,
    /// Part of the weight that found ground.
    pub coverage: f64,
    /// Part of that which is of height fields.
    pub hd_share: f64,
    /// Stated error of the image's heights; of columns also what one column changes as it crosses the highest step
    /// below the tread, of strips how far they are from the round tread.
    pub error: f64,
    /// What it cost.
    pub cost: hpan_cost,
    /// Where the heaviest sample of the surface type lies in the image: for comparisons.
    pub place: [u32; 3],
    /// The surface type of most weight; of equal ones the lowest.
    pub surface: u16,
    /// Number of the material of the heaviest sample of that type; 65535 without ground.
    pub material: u16,
    /// Number of its source.
    pub source: u16,
    /// One of `hpan_contact_status`; all else is zero unless it is `HPAN_CONTACT_FOUND`.
    pub status: u8,
    /// 1 if the tyre touches the ground, so that there is a patch.
    pub patch_valid: u8,
    /// 1 if the plane was fitted; else it is the normal.
    pub plane_fitted: u8,
    /// 1 if all of it is of height fields.
    pub is_hd: u8,
    /// Zero.
    pub reserved: u16,
}

/// Points of a chassis that share an offset and a rotation.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_chassis_group {
    /// Added to each point after the rotation, in the axes of the body: in metres.
    pub offset: [f64; 3],
    /// Rows of the rotation.
    pub ori: [[f64; 3]; 3],
    /// Its number.
    pub id: u32,
    /// Zero.
    pub reserved: u32,
}

/// A point of a chassis.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_chassis_point {
    /// Where, in the axes of the body: in metres.
    pub at: [f64; 3],
    /// The number of its group; zero needs none, and is the chassis itself.
    pub group: u32,
    /// Zero.
    pub reserved: u32,
}

/// The ground below a point of a chassis, in the axes of the question, metres.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_chassis_found {
    /// The point in the world.
    pub point: [f64; 3],
    /// Height of the ground nearest to it, above or below.
    pub height: f64,
    /// From the point along the chassis' own down to the plane of that ground; below zero: the point is in the ground.
    pub local_height: f64,
    /// Unit normal of the ground.
    pub normal: [f64; 3],
    /// Friction.
    pub mu: f64,
    /// Rolling resistance.
    pub rolling: f64,
    /// Gain.
    pub gain: f64,
    /// What it cost.
    pub cost: hpan_cost,
    /// Surface type.
    pub surface: u16,
    /// Number of the material; 65535 without ground.
    pub material: u16,
    /// Number of the source.
    pub source: u16,
    /// One of `hpan_contact_status`.
    pub status: u8,
    /// 1 if the ground is of a height field.
    pub is_hd: u8,
    /// 1 if there is a local height: not where the ground is as steep as the chassis' down.
    pub local_valid: u8,
    /// Zero.
    pub reserved: [u8; 7],
}

/// Axes by number.
fn axes(number: u32) -> Result<Axes, hpan_error> {
    Axes::numbered(number).ok_or(HPAN_ERROR_OPTION)
}

/// A body as the kernel takes it.
fn wheel(b: &hpan_body) -> Result<(Axes, Wheel), hpan_error> {
    let axes = axes(b.axes)?;
    if b.flags & !(HPAN_DOWN_VALID | HPAN_VELOCITY_VALID | HPAN_EXTRAPOLATE) != 0 {
        return Err(HPAN_ERROR_OPTION);
    }
    let vector = |flag: u32, v: [f64; 3]| (b.flags & flag != 0).then(|| axes.world_in(v));
    let velocity = vector(HPAN_VELOCITY_VALID, b.velocity);
    let motion = Motion { velocity, dt: b.dt, extrapolate: b.flags & HPAN_EXTRAPOLATE != 0 };
    Ok((axes, Wheel { pose: axes.pose(b.centre, b.ori), down: vector(HPAN_DOWN_VALID, b.down), motion }))
}

/// Height along a world's own upward axis, with its sign.
fn height(axes: Axes, z: f64) -> f64 {
    axes.world_out([0.0, 0.0, z]).into_iter().fold(0.0, |sum, v| sum + v)
}

fn found(axes: Axes, c: &Contact) -> hpan_contact_found {
    hpan_contact_found {
        height: height(axes, c.height),
        normal: axes.world_out(c.normal),
        plane: axes.world_out(c.plane),
        patch_centre: axes.world_out(c.patch_centre),
        penetration: c.penetration,
        loaded_radius: c.loaded_radius,
        volume: c.volume,
        mu: c.mu,
        rolling: c.rolling,
        gain: c.gain,
        coverage: c.coverage,
        hd_share: c.hd_share,
        error: c.error,
        cost: c.cost.into(),
        place: c.place,
        surface: c.surface,
        material: c.material,
        source: c.source,
        status: c.status.code(),
        patch_valid: c.patch_valid.into(),
        plane_fitted: c.plane_fitted.into(),
        is_hd: c.is_hd().into(),
        reserved: 0,
    }
}

/// Most points of `hpan_contact`.
pub(crate) const MAX_POINTS: usize = 64;

fn contact(
    t: &Terrain,
    tyre: &hpan_tyre,
    points: &[hpan_contact_point],
    axes: Axes,
    wheel: &Wheel,
) -> Result<hpan_contact_found, hpan_error> {
    let mut room = [ContactPoint::CENTRE; MAX_POINTS];
    let room = room.get_mut(..points.len()).ok_or(HPAN_ERROR_COUNT)?;
    for (to, p) in room.iter_mut().zip(points) {
        *to = ContactPoint { at: axes.body_in(p.at), weight: p.weight };
    }
    let method = match (tyre.columns, tyre.strips) {
        (0, 0) => Method::Points(room),
        (0, most) => Method::Strips { most: u16::try_from(most).map_err(|_| HPAN_ERROR_OPTION)? },
        (n, 0) => Method::Columns(Lattice::of(n).ok_or(HPAN_ERROR_OPTION)?),
        _ => return Err(HPAN_ERROR_OPTION),
    };
    let given = [tyre.reach_above, tyre.reach_below];
    let reach = (given != [0.0; 2]).then_some(given);
    let tyre = Tyre { radius: tyre.radius, width: tyre.width, method, reach };
    Ok(found(axes, &t.contact(&tyre, wheel)))
}

/// What a wheel stands on: weighted points, at most 64, or the volume of its cylinder; without points, the centre.
///
/// Any numbers may be given: what cannot be asked has a status of `hpan_contact_status`. `points` may be null if
/// `count` is 0. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`, `_COUNT`; `_OPTION` for unknown flags,
/// axes, columns or strips. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_contact(
    view: In<hpan_view>,
    tyre: In<hpan_tyre>,
    points: In<hpan_contact_point>,
    count: usize,
    body: In<hpan_body>,
    contact: Out<hpan_contact_found>,
) -> hpan_error {
    run(|| {
        let view = view.open()?;
        let (tyre, points) = (tyre.get()?, points.many(count)?);
        let (axes, wheel) = wheel(body.get()?)?;
        contact.put(view.ask(&wheel, |t, wheel| self::contact(t, tyre, points, axes, wheel))?)
    })
}

/// A point of a chassis as C sees it, asked by itself, so that no memory is needed.
fn below(
    t: &Terrain,
    axes: Axes,
    body: &Wheel,
    groups: &[hpan_chassis_group],
    point: &hpan_chassis_point,
) -> hpan_chassis_found {
    let group = groups.iter().find(|g| g.id == point.group);
    // a group is a body of the chassis: both sides of its matrix are the body's axes
    let group = group.map(|g| {
        let rows = g.ori.map(|row| axes.body_in(row));
        let column = |k: usize| axes.body_in(rows.map(|row| row[k]));
        let pose = Pose { centre: axes.body_in(g.offset), axes: [column(0), column(1), column(2)] };
        Group { id: g.id, pose }
    });
    let point = [ChassisPoint { at: axes.body_in(point.at), group: point.group }];
    let mut hit = [ChassisHit::of(ContactStatus::NoGround, [0.0; 3])];
    let groups = group.as_slice();
    t.chassis(&body.pose, &body.motion, groups, &point, &mut hit);
    let [h] = &hit;
    hpan_chassis_found {
        point: axes.world_out(h.point),
        height: height(axes, h.height),
        local_height: h.local_height,
        normal: axes.world_out(h.normal),
        mu: h.mu,
        rolling: h.rolling,
        gain: h.gain,
        cost: h.cost.into(),
        surface: h.surface,
        material: h.material,
        source: h.source,
        status: h.status.code(),
        is_hd: h.is_hd.into(),
        local_valid: h.local_valid.into(),
        reserved: [0; 7],
    }
}

/// The ground nearest to each point of a chassis, of `count` points, into as many `found`; groups may be none.
///
/// A point lies at `centre + ori * (offset + group's ori * at)`. One with a status of its own stops no other.
/// `HPAN_DOWN_VALID` has no use. Errors: as `hpan_contact`. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_chassis(
    view: In<hpan_view>,
    body: In<hpan_body>,
    groups: In<hpan_chassis_group>,
    group_count: usize,
    points: In<hpan_chassis_point>,
    count: usize,
    found: Out<hpan_chassis_found>,
) -> hpan_error {
    run(|| {
        let view = view.open()?;
        let (axes, body) = wheel(body.get()?)?;
        let (groups, points) = (groups.many(group_count)?, points.many(count)?);
        found.each(points, |point| view.ask(&body, |t, body| below(t, axes, body, groups, point)))
    })
}

/// Most contact points of a wheel of `hpan_ts_query`.
pub const HPAN_TS_CONTACT_POINTS: usize = 10;
/// Most points of the chassis of `hpan_ts_query`.
pub const HPAN_TS_CHASSIS_POINTS: usize = 25;
/// Most groups of `hpan_ts_query`.
pub const HPAN_TS_GROUPS: usize = 8;

/// A wheel of a whole car.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_ts_wheel {
    /// Where it is.
    pub body: hpan_body,
    /// Its tyre; radius and width of zero are 0.3 m and 0.25 m.
    pub tyre: hpan_tyre,
    /// Its points.
    pub points: [hpan_contact_point; 10],
    /// How many of them count; zero: the centre.
    pub point_count: u32,
    /// Zero.
    pub reserved: u32,
}

/// A whole car: four wheels, and its chassis.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_ts_query {
    /// Front left, front right, rear left, rear right.
    pub wheels: [hpan_ts_wheel; 4],
    /// The chassis.
    pub chassis: hpan_body,
    /// Groups of its points.
    pub groups: [hpan_chassis_group; 8],
    /// Its points.
    pub points: [hpan_chassis_point; 25],
    /// How many groups count.
    pub group_count: u32,
    /// How many points count.
    pub point_count: u32,
}

/// What a whole car stands on. Values of what has no valid result stay those of the last that was.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_ts_result {
    /// Of each wheel, held unless `wheel_status` is `HPAN_CONTACT_FOUND`; `patch_centre` also unless `patch_valid`.
    pub wheels: [hpan_contact_found; 4],
    /// Of each point of the chassis, held unless `point_status` is `HPAN_CONTACT_FOUND`.
    pub points: [hpan_chassis_found; 25],
    /// One of `hpan_contact_status` for each wheel.
    pub wheel_status: [u8; 4],
    /// One of `hpan_contact_status` for each point of the chassis.
    pub point_status: [u8; 25],
    /// Zero.
    pub reserved: [u8; 3],
    /// How many results of this query were not valid.
    pub errors: u32,
    /// Zero.
    pub reserved2: u32,
}

/// What a whole car stands on, in one call. `result` is kept from call to call, zero at first: values without a valid
/// result are held.
///
/// More points than there is room for are a status of the wheel, `HPAN_CONTACT_TOO_MANY_POINTS`; of the chassis
/// `HPAN_ERROR_COUNT`. Errors: as `hpan_contact`. Threads: any number at a time, each with its own result.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_ts_ask(
    view: In<hpan_view>,
    query: In<hpan_ts_query>,
    result: Out<hpan_ts_result>,
) -> hpan_error {
    run(|| {
        let view = view.open()?;
        let query = query.get()?;
        let groups = query.groups.get(..query.group_count as usize).ok_or(HPAN_ERROR_COUNT)?;
        let points = query.points.get(..query.point_count as usize).ok_or(HPAN_ERROR_COUNT)?;
        let [result] = result.change(1)? else { return Err(HPAN_ERROR_NULL) };
        result.errors = 0;
        let slots = result.wheels.iter_mut().zip(&mut result.wheel_status);
        for (w, (slot, status)) in query.wheels.iter().zip(slots) {
            let (axes, body) = wheel(&w.body)?;
            let or = |given: f64, default: f64| if given == 0.0 { default } else { given };
            let tyre = hpan_tyre { radius: or(w.tyre.radius, 0.3), width: or(w.tyre.width, 0.25), ..w.tyre };
            let now = match w.points.get(..w.point_count as usize) {
                Some(points) => view.ask(&body, |t, body| contact(t, &tyre, points, axes, body))?,
                None => found(axes, &Contact::of(ContactStatus::TooManyPoints)),
            };
            *status = now.status;
            if now.status == ContactStatus::Found.code() {
                let patch_centre = if now.patch_valid == 1 { now.patch_centre } else { slot.patch_centre };
                *slot = hpan_contact_found { patch_centre, ..now };
            } else {
                result.errors = result.errors.wrapping_add(1);
            }
        }
        let (axes, body) = wheel(&query.chassis)?;
        let slots = result.points.iter_mut().zip(&mut result.point_status);
        for (point, (slot, status)) in points.iter().zip(slots) {
            let now = view.ask(&body, |t, body| below(t, axes, body, groups, point));
            *status = now.status;
            if now.status == ContactStatus::Found.code() {
                *slot = now;
            } else {
                result.errors = result.errors.wrapping_add(1);
            }
        }
        Ok(())
    })
}

/// `hpan_sensor.vehicle_setting` and `tyre_setting`: the value of the configuration.
pub const HPAN_CONSTANT: u32 = 0;
/// `hpan_sensor.vehicle_setting` and `tyre_setting`: the value of each step.
pub const HPAN_EXTERNAL: u32 = 1;
/// `hpan_sensor_input.flags`: `vehicle_distance` is given.
pub const HPAN_VEHICLE_DISTANCE: u32 = 1;
/// `hpan_sensor_input.flags`: `tyre_distance` is given.
pub const HPAN_TYRE_DISTANCE: u32 = 2;
/// `hpan_sensor_input.flags`: `wheels` are given.
pub const HPAN_WHEELS: u32 = 4;
/// `hpan_sensor_found.status` of a trace that is not enabled.
pub const HPAN_TRACE_DISABLED: u8 = 255;

/// A trace of the terrain sensor.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_sensor_trace {
    /// How far it ends from the centre, in metres.
    pub length: f64,
    /// How far against its direction it starts from the centre, in metres.
    pub offset: f64,
    /// 1 if it is cast, 0 if not.
    pub enabled: u32,
    /// Zero.
    pub reserved: u32,
}

/// The terrain sensor: vehicle, front left, front right, rear left, rear right, in this order everywhere. ISO 8855.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_sensor {
    /// The traces.
    pub traces: [hpan_sensor_trace; 5],
    /// From the vehicle's centre to its front, in metres.
    pub vehicle_distance: f64,
    /// Radii of the tyres, in metres.
    pub tyre_distance: [f64; 4],
    /// Centres of the tyres in the vehicle: forward, left, up, in metres.
    pub wheels: [[f64; 3]; 4],
    /// `HPAN_CONSTANT` or `HPAN_EXTERNAL`.
    pub vehicle_setting: u32,
    /// `HPAN_CONSTANT` or `HPAN_EXTERNAL`.
    pub tyre_setting: u32,
}

/// What a step of the sensor brings along.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_sensor_input {
    /// The vehicle's centre in the world.
    pub centre: [f64; 3],
    /// Rows of the matrix that takes places of the vehicle to the world's.
    pub ori: [[f64; 3]; 3],
    /// From the vehicle's centre to its front.
    pub vehicle_distance: f64,
    /// Radii of the tyres.
    pub tyre_distance: [f64; 4],
    /// Centres of the tyres in the world; else those of the sensor.
    pub wheels: [[f64; 3]; 4],
    /// `HPAN_VEHICLE_DISTANCE`, `HPAN_TYRE_DISTANCE`, `HPAN_WHEELS`.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

/// Why a step of the sensor is not one.
#[repr(u8)]
#[derive(Clone, Copy)]
pub enum hpan_sensor_status {
    /// It is one.
    HPAN_SENSOR_FINE = 0,
    /// A number is not finite.
    HPAN_SENSOR_NOT_FINITE = 1,
    /// The rows of the orientation are not unit vectors at right angles, to 0.001.
    HPAN_SENSOR_SKEWED = 2,
    /// The orientation is that of a mirror.
    HPAN_SENSOR_MIRRORED = 3,
    /// A distance is set to come with each step, and did not.
    HPAN_SENSOR_MISSING = 4,
    /// A distance is set to be constant, and came with the step.
    HPAN_SENSOR_NOT_EXPECTED = 5,
    /// An enabled trace does not run forwards, or is longer than 2 km.
    HPAN_SENSOR_BAD_LENGTH = 6,
}

/// What the sensor saw; all zero unless `sensor` is `HPAN_SENSOR_FINE`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hpan_sensor_found {
    /// Where each trace met something; of a miss its end, of a disabled one its centre.
    pub hit_location: [[f64; 3]; 5],
    /// Where each trace starts.
    pub start: [[f64; 3]; 5],
    /// Where each trace ends.
    pub end: [[f64; 3]; 5],
    /// Unit normals of what was met; up without a hit.
    pub normal: [[f64; 3]; 5],
    /// From each centre to the location; zero of a disabled trace.
    pub distance: [f64; 5],
    /// From the vehicle's front to what is ahead of it: below zero within the vehicle.
    pub vehicle_adjusted: f64,
    /// From each tyre's tread to what is below it: below zero inside.
    pub tyre_adjusted: [f64; 4],
    /// What all of them cost.
    pub cost: hpan_cost,
    /// Numbers of materials; 65535 without a hit.
    pub material: [u16; 5],
    /// 1 for each trace that met something.
    pub hit: [u8; 5],
    /// One of `hpan_ray_status` for each, or `HPAN_TRACE_DISABLED`.
    pub status: [u8; 5],
    /// One of `hpan_sensor_status`.
    pub sensor: u8,
    /// Zero.
    pub reserved: [u8; 3],
}

fn sense(t: &Terrain, s: &hpan_sensor, i: &hpan_sensor_input) -> hpan_sensor_found {
    let config = SensorConfig {
        traces: s.traces.map(|t| SensorTrace { length: t.length, offset: t.offset, enabled: t.enabled == 1 }),
        vehicle_distance: if s.vehicle_setting == HPAN_EXTERNAL {
            Setting::External
        } else {
            Setting::Constant(s.vehicle_distance)
        },
        tyre_distance: if s.tyre_setting == HPAN_EXTERNAL {
            Setting::External
        } else {
            Setting::Constant(s.tyre_distance)
        },
        wheels: s.wheels,
        ..SensorConfig::default()
    };
    let step = SensorStep {
        vehicle_distance: (i.flags & HPAN_VEHICLE_DISTANCE != 0).then_some(i.vehicle_distance),
        tyre_distance: (i.flags & HPAN_TYRE_DISTANCE != 0).then_some(i.tyre_distance),
        wheels: (i.flags & HPAN_WHEELS != 0).then_some(i.wheels),
    };
    let pose = Axes::Iso8855.pose(i.centre, i.ori);
    match t.sensor(&config, &pose, &step) {
        Ok(r) => hpan_sensor_found {
            hit_location: r.hit_location,
            start: r.start,
            end: r.end,
            normal: r.normal,
            distance: r.distance,
            vehicle_adjusted: r.vehicle_adjusted,
            tyre_adjusted: r.tyre_adjusted,
            cost: r.cost.into(),
            material: r.material,
            hit: r.hit.map(u8::from),
            status: r.status.map(|s| s.map_or(HPAN_TRACE_DISABLED, |s| s as u8)),
            sensor: 0,
            reserved: [0; 3],
        },
        Err(e) => nothing(e),
    }
}

fn nothing(e: SensorError) -> hpan_sensor_found {
    let none = [[0.0; 3]; 5];
    hpan_sensor_found {
        hit_location: none,
        start: none,
        end: none,
        normal: none,
        distance: [0.0; 5],
        vehicle_adjusted: 0.0,
        tyre_adjusted: [0.0; 4],
        cost: Cost::default().into(),
        material: [u16::MAX; 5],
        hit: [0; 5],
        status: [HPAN_TRACE_DISABLED; 5],
        sensor: e as u8,
        reserved: [0; 3],
    }
}

/// A sensor with the values that `docs/sensor.md` of the kernel states. Errors: `HPAN_ERROR_NULL`, `_ALIGNMENT`.
/// Threads: any number.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_sensor_defaults(sensor: Out<hpan_sensor>) -> hpan_error {
    run(|| {
        let c = SensorConfig::default();
        let of = |t: SensorTrace| hpan_sensor_trace {
            length: t.length,
            offset: t.offset,
            enabled: t.enabled.into(),
            reserved: 0,
        };
        sensor.put(hpan_sensor {
            traces: c.traces.map(of),
            vehicle_distance: 2.3,
            tyre_distance: [0.3; 4],
            wheels: c.wheels,
            vehicle_setting: HPAN_CONSTANT,
            tyre_setting: HPAN_CONSTANT,
        })
    })
}

/// One step of the terrain sensor. A step that is none has a status in `found`.
///
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`; `_OPTION` for unknown flags, settings or switches.
/// Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_sensor_step(
    view: In<hpan_view>,
    sensor: In<hpan_sensor>,
    input: In<hpan_sensor_input>,
    found: Out<hpan_sensor_found>,
) -> hpan_error {
    run(|| {
        let view = view.open()?;
        let (sensor, input) = (sensor.get()?, input.get()?);
        let settings = [sensor.vehicle_setting, sensor.tyre_setting];
        let switches = sensor.traces.iter().any(|t| t.enabled > 1);
        if settings.iter().any(|&s| s > HPAN_EXTERNAL) || switches || input.flags > 7 {
            return Err(HPAN_ERROR_OPTION);
        }
        found.put(view.ask(input, |t, input| sense(t, sensor, input)))
    })
}
