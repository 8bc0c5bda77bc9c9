//! What a wheel stands on: weighted points, or the volume of a cylinder.

use crate::format::{Material, fallback};
use crate::hit::{Cost, Hit, LeafKind, Status, outcomes};
use crate::open::Terrain;
use crate::point::Point;
use crate::query::axes::{along, cross, dot, unit};
use crate::query::ray::{Kinds, Ray, RayAnswer, RayHit, RayOptions, RayStatus};
use crate::query::strips::{self, Strips};
use crate::query::{Options, Pose, PoseError};

/// A place of a wheel that looks for ground, and how much it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct ContactPoint {
    /// Where, from the wheel's centre, without its spin: forward, left, up, in metres.
    pub at: [f64; 3],
    /// How much it counts: zero or more; only ratios matter.
    pub weight: f64,
}

impl ContactPoint {
    /// The wheel's centre.
    pub const CENTRE: ContactPoint = ContactPoint { at: [0.0; 3], weight: 1.0 };
}

/// Most points of the compatible form.
pub const MAX_COMPATIBLE_POINTS: usize = 10;

/// Columns of a cylinder, spread so that no line of them is parallel to a kerb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Lattice {
    /// For small cores.
    Columns16 = 16,
    /// In between.
    Columns64 = 64,
    /// For hosts.
    Columns256 = 256,
}

impl Lattice {
    /// The lattice of so many columns.
    pub const fn of(columns: u32) -> Option<Lattice> {
        match columns {
            16 => Some(Lattice::Columns16),
            64 => Some(Lattice::Columns64),
            256 => Some(Lattice::Columns256),
            _ => None,
        }
    }

    /// The generator: column i lies in row `(g * i + c) mod n`.
    const fn generator(self) -> [u32; 2] {
        match self {
            Lattice::Columns16 => [5, 2],
            Lattice::Columns64 => [13, 6],
            Lattice::Columns256 => [71, 35],
        }
    }
}

/// How a wheel looks for ground. The method is the caller's, and never changes by place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method<'a> {
    /// Weighted points, each a ray along down; none: the wheel's centre.
    Points(&'a [ContactPoint]),
    /// The volume of the cylinder below ground, by columns.
    Columns(Lattice),
    /// The volume of the cylinder below ground, by triangles.
    Strips {
        /// Most triangles and half cells of height fields below the tread; of more the answer is
        /// [`ContactStatus::LimitReached`].
        most: u16,
    },
}

impl Method<'_> {
    /// The volume by triangles, of as many as a height field of 5 mm has below a car's tyre.
    pub const STRIPS: Method<'static> = Method::Strips { most: 16_384 };
}

/// A tyre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tyre<'a> {
    /// Radius without load, in metres.
    pub radius: f64,
    /// Width, in metres.
    pub width: f64,
    /// How it looks for ground.
    pub method: Method<'a>,
    /// How far above and below its centre ground is looked for, in metres; none: half a radius, and a radius and 2 m.
    pub reach: Option<[f64; 2]>,
}

impl Tyre<'_> {
    /// A tyre that asks once, below its centre.
    pub const fn new(radius: f64, width: f64) -> Tyre<'static> {
        Tyre { radius, width, method: Method::Points(&[]), reach: None }
    }
}

/// How a body moves, and whether that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// Velocity in the world, in metres a second; none: not known, and the body is asked for where it is.
    pub velocity: Option<[f64; 3]>,
    /// How far ahead the body is asked for, in seconds.
    pub dt: f64,
    /// Whether it is asked for ahead at all.
    pub extrapolate: bool,
}

impl Motion {
    /// A place so much later; none if the numbers that count are not finite, or the time is above a second.
    pub fn ahead(&self, p: [f64; 3]) -> Option<[f64; 3]> {
        let Some(v) = self.velocity.filter(|_| self.extrapolate) else { return Some(p) };
        let finite = f64::is_finite;
        (libm::fabs(self.dt) <= 1.0 && v.into_iter().all(finite)).then(|| along(p, v, self.dt))
    }
}

/// Where a wheel is: its left axis is its axle, so its spin does not matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wheel {
    /// Centre and axes.
    pub pose: Pose,
    /// Down in the world, of any length; none: down in the plane of the wheel.
    pub down: Option<[f64; 3]>,
    /// How it moves.
    pub motion: Motion,
}

impl Wheel {
    /// A wheel that stands still.
    pub const fn at(pose: Pose) -> Wheel {
        Wheel { pose, down: None, motion: Motion { velocity: None, dt: 0.0, extrapolate: false } }
    }
}

outcomes! {
    /// What a contact or a point of a chassis came to. The first four are those of [`Status`].
    ContactStatus {
        Found = 0, "found", "FOUND", "There is ground, and the values describe it.";
        NoGround = 1, "no ground", "NO_GROUND", "There is no ground within reach.";
        NotInImage = 2, "not in image", "NOT_IN_IMAGE", "The image covers no place that was asked for.";
        Damaged = 3, "damaged", "DAMAGED", "A place that was asked for lies in a damaged tile.";
        NotFinite = 4, "not finite", "NOT_FINITE", "A number of the pose is not finite.";
        BadSize = 5, "bad size", "BAD_SIZE",
            "Radius or width is not above zero and at most 100 m, or the reach is none.";
        Skewed = 6, "skewed", "SKEWED", "The rows of the orientation are not unit vectors at right angles, to 0.001.";
        Mirrored = 7, "mirrored", "MIRRORED", "The orientation is that of a mirror: its axes have another name.";
        Lying = 8, "lying", "LYING", "The axle points along down, to 10 degrees: there is no contact patch.";
        BadDown = 9, "bad down", "BAD_DOWN", "The down vector is zero or not finite.";
        BadMotion = 10, "bad motion", "BAD_MOTION", "The velocity is not finite, or the time is above one second.";
        BadPoints = 11, "bad points", "BAD_POINTS",
            "A weight is negative, all weights are zero, or a number of a point is not finite.";
        TooManyPoints = 12, "too many points", "TOO_MANY_POINTS", "The compatible form has ten points at most.";
        NoGroup = 13, "no group", "NO_GROUP", "The point names a group that is not given.";
        LimitReached = 14, "limit reached", "LIMIT_REACHED",
            "Strips: too many triangles lie below the tread, the tyre reaches into two sheets, or the image has precedence.";
    }
}

impl From<PoseError> for ContactStatus {
    fn from(e: PoseError) -> Self {
        match e {
            PoseError::NotFinite => ContactStatus::NotFinite,
            PoseError::Skewed => ContactStatus::Skewed,
            PoseError::Mirrored => ContactStatus::Mirrored,
        }
    }
}

/// What a wheel stands on. World: east, north, up, metres. Without ground all numbers are zero, and the normals point
/// up.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Contact {
    /// Height of the ground: of points the weighted mean; of a cylinder that of level ground with the same volume below
    /// it.
    pub height: f64,
    /// Weighted mean of the unit normals; of a cylinder of the ground below its tread.
    pub normal: [f64; 3],
    /// Unit normal of the plane that fits the samples best, by their weights; it goes through the patch centre.
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
    pub cost: Cost,
    /// Where the heaviest sample of the surface type lies in the image, as in [`Hit::place`].
    pub place: [u32; 3],
    /// The surface type of most weight; of equal ones the lowest.
    pub surface: u16,
    /// The material of the heaviest sample of that type; `u16::MAX` without ground.
    pub material: u16,
    /// Its source.
    pub source: u16,
    /// What it came to.
    pub status: ContactStatus,
    /// Whether the tyre touches the ground, so that there is a patch.
    pub patch_valid: bool,
    /// Whether the plane was fitted; else it is the normal.
    pub plane_fitted: bool,
}

impl Contact {
    /// A contact without ground.
    pub const fn of(status: ContactStatus) -> Contact {
        Contact {
            height: 0.0,
            normal: [0.0, 0.0, 1.0],
            plane: [0.0, 0.0, 1.0],
            patch_centre: [0.0; 3],
            penetration: 0.0,
            loaded_radius: 0.0,
            volume: 0.0,
            mu: 0.0,
            rolling: 0.0,
            gain: 0.0,
            coverage: 0.0,
            hd_share: 0.0,
            error: 0.0,
            cost: Cost { nodes: 0, leaves: 0, tests: 0, lines: 0 },
            place: [0; 3],
            surface: 0,
            material: u16::MAX,
            source: u16::MAX,
            status,
            patch_valid: false,
            plane_fitted: false,
        }
    }

    /// Whether there is ground.
    #[inline(always)]
    pub fn found(&self) -> bool {
        matches!(self.status, ContactStatus::Found)
    }

    /// Whether all of it is of height fields.
    pub fn is_hd(&self) -> bool {
        self.found() && self.hd_share == 1.0
    }
}

/// A wheel's axes without its spin.
pub(super) struct Frame {
    pub centre: [f64; 3],
    pub forward: [f64; 3],
    pub axle: [f64; 3],
    pub up: [f64; 3],
    down: [f64; 3],
    pub reach: [f64; 2],
}

impl Frame {
    #[inline(never)]
    fn new(tyre: &Tyre, wheel: &Wheel) -> Result<Frame, ContactStatus> {
        let sound = |v: f64| v > 0.0 && v <= 100.0;
        let [above, below] = tyre.reach.unwrap_or([0.5 * tyre.radius, tyre.radius + 2.0]);
        let reaches = (0.0..=1000.0).contains(&above) && (0.0..=1000.0).contains(&below) && above + below > 0.0;
        if !sound(tyre.radius) || !sound(tyre.width) || !reaches {
            return Err(ContactStatus::BadSize);
        }
        wheel.pose.check()?;
        let axle = unit(wheel.pose.axes[1]).ok_or(ContactStatus::Skewed)?;
        let down = match wheel.down {
            Some(down) => unit(down).ok_or(ContactStatus::BadDown)?,
            None => [0.0, 0.0, -1.0],
        };
        let lean = dot(down, axle);
        if libm::fabs(lean) > 0.985 {
            return Err(ContactStatus::Lying);
        }
        let in_plane = unit(along(down, axle, -lean)).ok_or(ContactStatus::Lying)?;
        let centre = wheel.motion.ahead(wheel.pose.centre).ok_or(ContactStatus::BadMotion)?;
        let up = in_plane.map(|v| -v);
        let down = if wheel.down.is_some() { down } else { in_plane };
        Ok(Frame { centre, forward: cross(axle, up), axle, up, down, reach: [above, below] })
    }

    /// A place of the wheel.
    fn at(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        along(along(along(self.centre, self.forward, x), self.axle, y), self.up, z)
    }

    /// A normal turned into the plane of the wheel.
    fn in_wheel(&self, n: [f64; 3]) -> [f64; 3] {
        unit(along(n, self.axle, -dot(n, self.axle))).unwrap_or(self.up)
    }
}

/// Surface types that are told apart below one tyre; of more the first count.
const TYPES: usize = 16;

/// A surface type below a tyre.
#[derive(Clone, Copy)]
struct Type {
    surface: u16,
    weight: f64,
    heaviest: f64,
    material: u16,
    source: u16,
    place: [u32; 3],
}

/// Means of what has no place.
struct Tally {
    types: [Type; TYPES],
    used: usize,
    weight: f64,
    hd: f64,
    friction: [f64; 3],
    /// Whether samples come in an order of their own.
    ordered: bool,
}

/// What a sample found.
#[derive(Clone, Copy)]
pub(super) struct Ground {
    pub material: u16,
    pub source: u16,
    pub leaf: LeafKind,
    pub place: [u32; 3],
}

impl Tally {
    const fn new(ordered: bool) -> Tally {
        let none = Type { surface: 0, weight: 0.0, heaviest: 0.0, material: u16::MAX, source: u16::MAX, place: [0; 3] };
        Tally { types: [none; TYPES], used: 0, weight: 0.0, hd: 0.0, friction: [0.0; 3], ordered }
    }

    fn add(&mut self, t: &Terrain, g: &Ground, weight: f64) {
        let Some(&Material { mu, rolling, gain, surface, .. }) = t.materials.get(usize::from(g.material)) else {
            return;
        };
        self.weight += weight;
        if matches!(g.leaf, LeafKind::Patch) {
            self.hd += weight;
        }
        for (sum, value) in self.friction.iter_mut().zip([mu, rolling, gain]) {
            let product = weight * value;
            // sums of integers have no order; weights are
            *sum += if self.ordered { product } else { libm::rint(product * P40_UP) * P40 };
        }
        let known = self.types.iter().take(self.used).position(|k| k.surface == surface);
        let at = known.unwrap_or(self.used);
        let Some(slot) = self.types.get_mut(at) else { return };
        if known.is_none() {
            self.used = self.used.wrapping_add(1);
            slot.surface = surface;
        }
        slot.weight += weight;
        let heaviest = (slot.material, slot.source, slot.place);
        let comes_first = || !self.ordered && (g.material, g.source, g.place) < heaviest;
        if weight > slot.heaviest || known.is_none() || (weight == slot.heaviest && comes_first()) {
            let Ground { material, source, place, .. } = *g;
            *slot = Type { heaviest: weight, material, source, place, ..*slot };
        }
    }

    /// Fills what it counted into a contact.
    fn tell(&self, contact: &mut Contact) {
        let mut best = self.types[0];
        for &k in self.types.iter().take(self.used) {
            if k.weight > best.weight || (k.weight == best.weight && k.surface < best.surface) {
                best = k;
            }
        }
        let mean = |sum: f64| if self.weight > 0.0 { sum / self.weight } else { 0.0 };
        [contact.mu, contact.rolling, contact.gain] = self.friction.map(mean);
        contact.hd_share = mean(self.hd);
        (contact.surface, contact.material) = (best.surface, best.material);
        (contact.source, contact.place) = (best.source, best.place);
    }
}

/// Weighted sums of places, for means and for the plane that fits best.
#[derive(Clone, Copy, Default)]
struct Moments {
    weight: f64,
    first: [f64; 3],
    xx: f64,
    xy: f64,
    yy: f64,
    xz: f64,
    yz: f64,
}

impl Moments {
    fn add(&mut self, [x, y, z]: [f64; 3], w: f64) {
        self.weight += w;
        for (sum, v) in self.first.iter_mut().zip([x, y, z]) {
            *sum += w * v;
        }
        self.xx += w * x * x;
        self.xy += w * x * y;
        self.yy += w * y * y;
        self.xz += w * x * z;
        self.yz += w * y * z;
    }

    fn mean(&self) -> [f64; 3] {
        self.first.map(|v| v / self.weight)
    }

    /// The normal of the plane that fits best; none where the places lie on a line.
    fn plane(&self) -> Option<[f64; 3]> {
        let [x, y, z] = self.mean();
        let over = |v: f64, mean: f64| v / self.weight - mean;
        let (xx, xy, yy) = (over(self.xx, x * x), over(self.xy, x * y), over(self.yy, y * y));
        let (xz, yz) = (over(self.xz, x * z), over(self.yz, y * z));
        let det = xx * yy - xy * xy;
        let spread = xx + yy;
        let is_plane = det > 1e-6 * spread * spread;
        if !is_plane {
            return None;
        }
        unit([-(xz * yy - yz * xy) / det, -(yz * xx - xz * xy) / det, 1.0])
    }
}

/// [`Moments`] of columns, exact: weights in 2^-32 m, places in 2^-24 m.
#[derive(Clone, Copy, Default)]
struct FixedMoments {
    weight: i64,
    first: [i128; 3],
    second: [i128; 5],
}

impl FixedMoments {
    fn add(&mut self, p: [f64; 3], weight: i64) {
        let w = i128::from(weight);
        let [x, y, z] = p.map(|v| i128::from(fixed(v, 24)));
        self.weight = self.weight.wrapping_add(weight);
        for (sum, v) in self.first.iter_mut().zip([x, y, z]) {
            *sum = sum.wrapping_add(w.wrapping_mul(v));
        }
        for (sum, [a, b]) in self.second.iter_mut().zip([[x, x], [x, y], [y, y], [x, z], [y, z]]) {
            *sum = sum.wrapping_add(w.wrapping_mul(a).wrapping_mul(b));
        }
    }

    fn moments(&self) -> Moments {
        let [xx, xy, yy, xz, yz] = self.second.map(|v| v as f64 * P80);
        Moments { weight: self.weight as f64 * P32, first: self.first.map(|v| v as f64 * P56), xx, xy, yy, xz, yz }
    }
}

const P40: f64 = crate::point::exp2(-40);
const P40_UP: f64 = crate::point::exp2(40);
const P32: f64 = crate::point::exp2(-32);
const P56: f64 = crate::point::exp2(-56);
const P80: f64 = crate::point::exp2(-80);

/// A length in 2^-`log2` m, rounded half to even.
fn fixed(v: f64, log2: i32) -> i64 {
    libm::rint(v * crate::point::exp2(log2)) as i64
}

impl<'a> Terrain<'a> {
    /// What a wheel stands on: one height, one normal, one patch, for a tyre model.
    ///
    /// `docs/tyre.md` of this crate has every vector and value. What cannot be asked has a status of its own; a damaged
    /// tile below one sample makes the whole answer damaged. It is inlined, so that a program whose tyres are constants
    /// holds the code of their methods alone.
    #[inline(always)]
    pub fn contact(&self, tyre: &Tyre, wheel: &Wheel) -> Contact {
        match Frame::new(tyre, wheel) {
            Ok(frame) => match tyre.method {
                Method::Points([]) => self.contact_points(tyre, &frame, &[ContactPoint::CENTRE]),
                Method::Points(points) => self.contact_points(tyre, &frame, points),
                Method::Columns(lattice) => self.contact_columns(tyre, &frame, lattice),
                Method::Strips { most } => self.contact_strips(tyre, &frame, most),
            },
            Err(status) => Contact::of(status),
        }
    }

    #[inline(never)]
    fn contact_points(&self, tyre: &Tyre, frame: &Frame, points: &[ContactPoint]) -> Contact {
        let finite = f64::is_finite;
        let mut total = 0.0;
        for p in points {
            let is_weight = p.weight >= 0.0;
            if !is_weight || !p.at.into_iter().all(finite) {
                return Contact::of(ContactStatus::BadPoints);
            }
            total += p.weight;
        }
        let is_some = total > 0.0;
        if !is_some || !finite(total) {
            return Contact::of(ContactStatus::BadPoints);
        }
        let options = RayOptions { kinds: Kinds::GROUND, front_only: true, ..RayOptions::default() };
        let (mut cost, mut tally, mut moments) = (Cost::default(), Tally::new(true), Moments::default());
        let (mut normal, mut inside) = ([0.0; 3], false);
        // sums are of distances from the first place, so that level ground has its own height
        let mut base = None;
        for p in points {
            let at = frame.at(p.at);
            let [above, below] = frame.reach;
            let ray = match self.ray_to(along(at, frame.down, -above), along(at, frame.down, below)) {
                Ok(ray) => ray,
                Err(_) => return Contact::of(ContactStatus::NotFinite),
            };
            let (at, face, ground) = match self.below_point(ray, &options, &mut cost) {
                Ok(found) => found,
                Err(ContactStatus::Damaged) => return Contact { cost, ..Contact::of(ContactStatus::Damaged) },
                Err(status) => {
                    inside |= status == ContactStatus::NoGround;
                    continue;
                }
            };
            let [x, y, z] = self.metres(at);
            let [bx, by, bz] = *base.get_or_insert([x, y, z]);
            let share = p.weight / total;
            moments.add([x - bx, y - by, z - bz], share);
            normal = along(normal, face, share);
            tally.add(self, &ground, p.weight);
        }
        let missed = if inside { ContactStatus::NoGround } else { ContactStatus::NotInImage };
        let (Some(base), true) = (base, moments.weight > 0.0) else {
            return Contact { cost, ..Contact::of(missed) };
        };
        let normal = unit(normal).unwrap_or([0.0, 0.0, 1.0]);
        let plane = moments.plane();
        let patch_centre = along(base, moments.mean(), 1.0);
        let gap = dot(along(frame.centre, patch_centre, -1.0), normal);
        let penetration = tyre.radius - gap / dot(frame.in_wheel(normal), normal);
        let mut contact = Contact {
            height: patch_centre[2],
            normal,
            plane: plane.unwrap_or(normal),
            plane_fitted: plane.is_some(),
            patch_centre,
            patch_valid: penetration > 0.0,
            penetration,
            loaded_radius: gap / dot(frame.up, normal),
            coverage: if tally.weight >= total { 1.0 } else { tally.weight / total },
            error: self.header.error_height,
            cost,
            ..Contact::of(ContactStatus::Found)
        };
        tally.tell(&mut contact);
        contact
    }

    /// The ground that a point's ray meets: its place, unit normal, and what it is. Straight down that is a search,
    /// which costs less.
    #[inline(always)]
    fn below_point(
        &self,
        ray: Ray,
        options: &RayOptions,
        cost: &mut Cost,
    ) -> Result<(Point, [f64; 3], Ground), ContactStatus> {
        let Ray { from, to } = ray;
        let fall = from.z.wrapping_sub(to.z);
        if from.x == to.x && from.y == to.y && fall > 0 {
            let options = Options { windows: self.windows(), fallback: fallback::MISS };
            let answer = self.find_counted(from, &self.search(from, -1, fall, -1), &options, cost);
            let hit @ &Hit { material, source, leaf, place, z, .. } = &answer.hit;
            return match answer.status {
                Status::Found => {
                    let ground = Ground { material, source, leaf, place };
                    Ok((Point { z, ..from }, self.normal_f64(hit), ground))
                }
                Status::Damaged => Err(ContactStatus::Damaged),
                Status::NoGround => Err(ContactStatus::NoGround),
                _ => Err(ContactStatus::NotInImage),
            };
        }
        let RayAnswer { hit, status } = &self.raycast_watched(ray, options, cost);
        let &RayHit { material, source, leaf, place, at, .. } = hit;
        match status {
            RayStatus::Found => Ok((at, self.face_normal_f64(hit), Ground { material, source, leaf, place })),
            RayStatus::Damaged => Err(ContactStatus::Damaged),
            RayStatus::Clear => Err(ContactStatus::NoGround),
            _ => Err(ContactStatus::NotInImage),
        }
    }

    #[inline(never)]
    fn contact_columns(&self, tyre: &Tyre, frame: &Frame, lattice: Lattice) -> Contact {
        let Tyre { radius, width, .. } = *tyre;
        let (n, [g, c]) = (lattice as u32, lattice.generator());
        let options = Options { windows: self.windows(), fallback: fallback::MISS };
        let (mut cost, mut tally, mut moments) = (Cost::default(), Tally::new(true), FixedMoments::default());
        let (mut normal, mut inside, mut answered) = ([0.0; 3], false, 0u32);
        // the column that reaches deepest: its depth, place, normal and ground
        let mut deepest: Option<(f64, [f64; 3], [f64; 3], Ground)> = None;
        let [above, below] = frame.reach;
        let Some(length) = self.point([0.0, 0.0, above + below]) else { return Contact::of(ContactStatus::BadSize) };
        for i in 0..n {
            let xi = f64::from(2 * i + 1) / f64::from(n) - 1.0;
            let eta = (f64::from((g * i + c) & (n - 1)) + 0.5) / f64::from(n) - 0.5;
            let chord = radius * libm::sqrt(1.0 - xi * xi);
            let q = frame.at([radius * xi, width * eta, -chord]);
            let Some(p) = self.point([q[0], q[1], frame.centre[2] + above]) else {
                return Contact::of(ContactStatus::NotFinite);
            };
            let search = self.search(p, 0, length.z, -1);
            let answer = self.find_counted(p, &search, &options, &mut cost);
            match answer.status {
                Status::Found => {}
                Status::Damaged => return Contact { cost, ..Contact::of(ContactStatus::Damaged) },
                Status::NoGround => {
                    inside = true;
                    continue;
                }
                _ => continue,
            }
            inside = true;
            let hit: &Hit = &answer.hit;
            let up = self.normal_f64(hit);
            let facing = dot(up, frame.up);
            let faces_up = facing >= 0.1;
            if !faces_up {
                continue;
            }
            answered = answered.wrapping_add(1);
            let [x, y, z] = self.metres(Point { z: hit.z, ..p });
            let place = along([x, y, z], frame.centre, -1.0);
            let depth = (z - q[2]) * up[2] / facing;
            let ground = Ground { material: hit.material, source: hit.source, leaf: hit.leaf, place: hit.place };
            if deepest.is_none_or(|(most, ..)| depth > most) {
                deepest = Some((depth, place, up, ground));
            }
            let depth = fixed(if depth > 2.0 * chord { 2.0 * chord } else { depth }, 32);
            if depth > 0 {
                let steep = 1.0 / up[2];
                normal = along(normal, up, steep);
                moments.add(place, depth);
                tally.add(self, &ground, depth as f64 * P32);
            }
        }
        let missed = if inside { ContactStatus::NoGround } else { ContactStatus::NotInImage };
        let Some((depth, place, up, ground)) = deepest else { return Contact { cost, ..Contact::of(missed) } };
        let touches = moments.weight > 0;
        let sum = moments.weight as f64 * P32;
        let (penetration, wet) = if touches { level_penetration(n, sum / radius) } else { (depth / radius, 1.0) };
        let (normal, relative, plane) = if touches {
            let moments = moments.moments();
            (unit(normal).unwrap_or(up), moments.mean(), moments.plane())
        } else {
            tally.add(self, &ground, 1.0);
            (up, place, None)
        };
        let found = Cylinder { normal, relative, plane, touches, penetration: penetration * radius };
        let mut contact = Contact {
            volume: 2.0 * radius * width / f64::from(n) * sum,
            coverage: f64::from(answered) / f64::from(n),
            error: self.header.error_height + if touches { depth / wet } else { 0.0 },
            cost,
            ..found.contact(radius, frame)
        };
        tally.tell(&mut contact);
        contact
    }

    #[inline(never)]
    fn contact_strips(&self, tyre: &Tyre, frame: &Frame, most: u16) -> Contact {
        let Tyre { radius, width, .. } = *tyre;
        let mut tally = Tally::new(false);
        let mut below = match Strips::new(self, tyre, frame, most) {
            Ok(below) => below,
            Err(status) => return Contact::of(status),
        };
        let found = below.run(&mut |ground, volume| tally.add(self, ground, volume));
        let volume = strips::float(below.sums.volume);
        let touches = below.sums.volume > 0;
        let found = if touches { found } else { found.and_then(|()| below.search()) };
        let (sums, scale, fold, cost) = (below.sums, below.scale, below.fold, below.log.cost);
        if let Err(status) = found {
            return Contact { cost, ..Contact::of(status) };
        }
        let (normal, relative, plane, penetration) = if touches {
            let moments = moments(&sums, scale);
            let normal = unit(sums.normal.map(strips::float)).unwrap_or(frame.up);
            let area = volume * scale / radius * scale / radius * (scale / width);
            (normal, moments.mean(), moments.plane(), strips::level_penetration(area) * radius)
        } else {
            let missed = if below.inside { ContactStatus::NoGround } else { ContactStatus::NotInImage };
            let Some(nearest) = below.nearest else { return Contact { cost, ..Contact::of(missed) } };
            tally.add(self, &nearest.ground, 1.0);
            let normal = unit(nearest.normal()).unwrap_or(frame.up);
            (normal, nearest.place, None, nearest.depth)
        };
        let coverage = strips::float(sums.area) * scale / radius * scale / width * 0.5;
        let found = Cylinder { normal, relative, plane, touches, penetration };
        let mut contact = Contact {
            volume: if touches { strips::level_area(penetration / radius) * radius * radius * width } else { 0.0 },
            coverage: if coverage > 1.0 - 1e-6 { 1.0 } else { coverage },
            error: self.header.error_height + strips::SAGITTA * radius + fold,
            cost,
            ..found.contact(radius, frame)
        };
        tally.tell(&mut contact);
        contact
    }
}

/// Moments of strips, in metres.
fn moments(sums: &strips::Sums, scale: f64) -> Moments {
    let [xx, xy, yy, xz, yz] = sums.second.map(|v| strips::float(v) * scale * scale);
    let first = sums.first.map(|v| strips::float(v) * scale);
    Moments { weight: strips::float(sums.volume), first, xx, xy, yy, xz, yz }
}

/// What the volume of a cylinder comes to, whichever way it was found.
struct Cylinder {
    normal: [f64; 3],
    /// The patch centre from the wheel's.
    relative: [f64; 3],
    plane: Option<[f64; 3]>,
    touches: bool,
    penetration: f64,
}

impl Cylinder {
    fn contact(&self, radius: f64, frame: &Frame) -> Contact {
        let Cylinder { normal, relative, plane, touches, penetration } = *self;
        let inwards = frame.in_wheel(normal);
        let centre_to_ground = radius - penetration;
        Contact {
            height: frame.centre[2] - centre_to_ground * inwards[2],
            normal,
            plane: plane.unwrap_or(normal),
            plane_fitted: plane.is_some(),
            patch_centre: along(frame.centre, relative, 1.0),
            patch_valid: touches,
            penetration,
            loaded_radius: centre_to_ground * dot(inwards, normal) / dot(frame.up, normal),
            ..Contact::of(ContactStatus::Found)
        }
    }
}

/// The penetration into level ground, in radii, at which columns have this sum of depths, in radii, and how many then
/// touch.
///
/// It is found from the same columns, so level ground has no error.
fn level_penetration(n: u32, sum: f64) -> (f64, f64) {
    let (mut gaps, mut count) = (0.0, 0u32);
    while count < n {
        // columns from the middle outwards, two at each distance
        let x = f64::from(count & !1 | 1) / f64::from(n);
        let gap = 1.0 - libm::sqrt(1.0 - x * x);
        if count > 0 && f64::from(count) * gap - gaps > sum {
            break;
        }
        gaps += gap;
        count = count.wrapping_add(1);
    }
    ((sum + gaps) / f64::from(count), f64::from(count))
}
