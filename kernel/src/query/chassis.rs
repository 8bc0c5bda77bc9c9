//! The ground below points of a chassis, in groups that move on their own.

use crate::hit::{Cost, Hit, LeafKind, Status};
use crate::open::Terrain;
use crate::query::axes::{along, dot};
use crate::query::{ContactStatus, Motion, Pose};

/// Points that share an offset and a rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Group {
    /// Its number.
    pub id: u32,
    /// Where it is on the chassis, and how it is turned there: rotation first, then the centre as offset.
    pub pose: Pose,
}

/// A point of a chassis.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct ChassisPoint {
    /// Where: forward, left, up of its group, in metres.
    pub at: [f64; 3],
    /// The number of its group; zero needs none, and is the chassis itself.
    pub group: u32,
}

/// The ground below a point of a chassis. World: east, north, up, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct ChassisHit {
    /// The point in the world.
    pub point: [f64; 3],
    /// Height of the ground below it, or nearest to it.
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
    pub cost: Cost,
    /// Surface type.
    pub surface: u16,
    /// Index into the material table; `u16::MAX` without ground.
    pub material: u16,
    /// Index into the source table; `u16::MAX` without ground.
    pub source: u16,
    /// What it came to.
    pub status: ContactStatus,
    /// Whether the ground is of a height field.
    pub is_hd: bool,
    /// Whether there is a local height: not where the ground is as steep as the chassis' down, to 6 degrees.
    pub local_valid: bool,
}

impl ChassisHit {
    /// A point without ground.
    pub const fn of(status: ContactStatus, point: [f64; 3]) -> ChassisHit {
        ChassisHit {
            point,
            height: 0.0,
            local_height: 0.0,
            normal: [0.0, 0.0, 1.0],
            mu: 0.0,
            rolling: 0.0,
            gain: 0.0,
            cost: Cost { nodes: 0, leaves: 0, tests: 0, lines: 0 },
            surface: 0,
            material: u16::MAX,
            source: u16::MAX,
            status,
            is_hd: false,
            local_valid: false,
        }
    }

    /// Whether there is ground.
    #[inline(always)]
    pub fn found(&self) -> bool {
        matches!(self.status, ContactStatus::Found)
    }
}

impl<'a> Terrain<'a> {
    /// The ground nearest to each point of a chassis, as [`Terrain::closest`] finds it; says how many were asked for:
    /// as many as `out` has room for.
    ///
    /// A point lies at `pose * (offset + rotation * at)`. One with a status of its own stops no other.
    pub fn chassis(
        &self,
        pose: &Pose,
        motion: &Motion,
        groups: &[Group],
        points: &[ChassisPoint],
        out: &mut [ChassisHit],
    ) -> usize {
        let body = pose.check().map_err(ContactStatus::from).and_then(|()| {
            let centre = motion.ahead(pose.centre).ok_or(ContactStatus::BadMotion)?;
            Ok(Pose { centre, ..*pose })
        });
        let pairs = points.iter().zip(out.iter_mut());
        let ask = |point: &ChassisPoint| match &body {
            Ok(body) => match place(body, groups, point) {
                Ok(p) => self.chassis_point(body, p),
                Err(status) => ChassisHit::of(status, [0.0; 3]),
            },
            Err(status) => ChassisHit::of(*status, [0.0; 3]),
        };
        pairs.map(|(point, to)| *to = ask(point)).count()
    }

    fn chassis_point(&self, body: &Pose, p: [f64; 3]) -> ChassisHit {
        if self.point(p).is_none() {
            return ChassisHit::of(ContactStatus::NotFinite, [0.0; 3]);
        }
        let (answer, cost) = self.closest_costed(p);
        let hit: &Hit = &answer.hit;
        let status = match answer.status {
            Status::Found => ContactStatus::Found,
            Status::NoGround | Status::LimitReached => ContactStatus::NoGround,
            Status::NotInImage => ContactStatus::NotInImage,
            Status::Damaged => ContactStatus::Damaged,
        };
        if !answer.found() {
            return ChassisHit { cost, ..ChassisHit::of(status, p) };
        }
        let (normal, height) = (self.normal_f64(hit), self.z_f64(hit));
        let facing = dot(normal, body.axes[2]);
        let local_valid = facing >= 0.1;
        let [mu, rolling, gain] = self.surface(&answer);
        ChassisHit {
            height,
            local_height: if local_valid { (p[2] - height) * normal[2] / facing } else { 0.0 },
            local_valid,
            normal,
            mu,
            rolling,
            gain,
            cost,
            surface: self.material(hit).surface,
            material: hit.material,
            source: hit.source,
            is_hd: matches!(hit.leaf, LeafKind::Patch),
            ..ChassisHit::of(status, p)
        }
    }
}

/// Where a point lies in the world.
fn place(body: &Pose, groups: &[Group], point: &ChassisPoint) -> Result<[f64; 3], ContactStatus> {
    let at = match groups.iter().find(|g| g.id == point.group) {
        Some(group) => {
            group.pose.check()?;
            along(group.pose.turned(point.at), group.pose.centre, 1.0)
        }
        None if point.group == 0 => point.at,
        None => return Err(ContactStatus::NoGroup),
    };
    Ok(body.placed(at))
}
