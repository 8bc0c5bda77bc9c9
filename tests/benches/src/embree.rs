//! Embree 3 of the system, through the few functions that are needed here.
//!
//! Triangles in shared f32 buffers, medium quality, and the *robust* flag: without it rays slip through edges.

use crate::scenes::Mesh;
use crate::{Peer, Query, Sight, Surface, two_rays};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::offset_of;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

mod ffi {
    use super::*;

    pub const INVALID: c_uint = !0;
    pub const BUFFER_INDEX: c_int = 0;
    pub const BUFFER_VERTEX: c_int = 1;
    pub const FORMAT_UINT3: c_int = 0x5003;
    pub const FORMAT_FLOAT3: c_int = 0x9003;
    pub const GEOMETRY_TRIANGLE: c_int = 0;
    pub const QUALITY_MEDIUM: c_int = 1;
    pub const SCENE_ROBUST: c_int = 1 << 2;
    pub const SCENE_CONTEXT_FILTER: c_int = 1 << 3;

    pub type Handle = *mut c_void;

    #[repr(C, align(16))]
    pub struct Ray {
        pub origin: [f32; 3],
        pub near: f32,
        pub direction: [f32; 3],
        pub time: f32,
        pub far: f32,
        pub mask: c_uint,
        pub id: c_uint,
        pub flags: c_uint,
    }

    #[repr(C, align(16))]
    pub struct Hit {
        pub normal: [f32; 3],
        pub u: f32,
        pub v: f32,
        pub primitive: c_uint,
        pub geometry: c_uint,
        pub instance: c_uint,
    }

    #[repr(C)]
    pub struct RayHit {
        pub ray: Ray,
        pub hit: Hit,
    }

    #[repr(C)]
    pub struct Context {
        pub flags: c_int,
        pub filter: Option<unsafe extern "C" fn(*const FilterArguments)>,
        pub instance: c_uint,
    }

    #[repr(C)]
    pub struct FilterArguments {
        pub valid: *mut c_int,
        pub user: *mut c_void,
        pub context: *mut Context,
        pub ray: *mut Ray,
        pub hit: *mut Hit,
        pub n: c_uint,
    }

    #[link(name = "embree3")]
    unsafe extern "C" {
        pub fn rtcNewDevice(config: *const c_char) -> Handle;
        pub fn rtcReleaseDevice(device: Handle);
        pub fn rtcSetDeviceMemoryMonitorFunction(
            device: Handle,
            f: extern "C" fn(*mut c_void, isize, bool) -> bool,
            user: *const c_void,
        );
        pub fn rtcNewScene(device: Handle) -> Handle;
        pub fn rtcReleaseScene(scene: Handle);
        pub fn rtcSetSceneFlags(scene: Handle, flags: c_int);
        pub fn rtcSetSceneBuildQuality(scene: Handle, quality: c_int);
        pub fn rtcCommitScene(scene: Handle);
        pub fn rtcNewGeometry(device: Handle, kind: c_int) -> Handle;
        pub fn rtcReleaseGeometry(geometry: Handle);
        pub fn rtcSetGeometryBuildQuality(geometry: Handle, quality: c_int);
        pub fn rtcSetSharedGeometryBuffer(
            geometry: Handle,
            kind: c_int,
            slot: c_uint,
            format: c_int,
            data: *const c_void,
            offset: usize,
            stride: usize,
            n: usize,
        );
        pub fn rtcCommitGeometry(geometry: Handle);
        pub fn rtcAttachGeometry(scene: Handle, geometry: Handle) -> c_uint;
        pub fn rtcIntersect1(scene: Handle, context: *mut Context, ray: *mut RayHit);
    }
}

pub struct Embree<'a> {
    device: ffi::Handle,
    scene: ffi::Handle,
    /// Bytes that the device holds; its own allocation, because Embree writes to it.
    held: Box<AtomicIsize>,
    positions: Vec<[f32; 3]>,
    mesh: &'a Mesh,
}

extern "C" fn monitor(held: *mut c_void, bytes: isize, _: bool) -> bool {
    // SAFETY: `held` is the box in `Embree`, which outlives the device.
    unsafe { &*held.cast::<AtomicIsize>() }.fetch_add(bytes, Relaxed);
    true
}

/// A context with room for what the filter collects.
#[repr(C)]
struct Collector {
    context: ffi::Context,
    from: f64,
    found: (usize, f64),
}

unsafe extern "C" fn collect(arguments: *const ffi::FilterArguments) {
    // SAFETY: called for single rays only, in a context that `layers` made at the head of a `Collector`.
    unsafe {
        let a = &*arguments;
        let collector = &mut *a.context.cast::<Collector>();
        collector.found.0 += 1;
        collector.found.1 += collector.from - f64::from((*a.ray).far);
        *a.valid = 0; // look on
    }
}
const _: () = assert!(offset_of!(Collector, context) == 0);

fn context(filter: Option<unsafe extern "C" fn(*const ffi::FilterArguments)>) -> ffi::Context {
    ffi::Context { flags: 0, filter, instance: ffi::INVALID }
}

#[inline(always)]
fn ray(q: &Query, sign: f64, reach: f64) -> ffi::RayHit {
    towards(q.at, [0.0, 0.0, sign], reach)
}

#[inline(always)]
fn towards(from: [f64; 3], direction: [f64; 3], reach: f64) -> ffi::RayHit {
    ffi::RayHit {
        ray: ffi::Ray {
            origin: from.map(|v| v as f32),
            near: 0.0,
            direction: direction.map(|v| v as f32),
            time: 0.0,
            far: reach as f32,
            mask: !0,
            id: 0,
            flags: 0,
        },
        hit: ffi::Hit {
            normal: [0.0; 3],
            u: 0.0,
            v: 0.0,
            primitive: ffi::INVALID,
            geometry: ffi::INVALID,
            instance: ffi::INVALID,
        },
    }
}

impl<'a> Embree<'a> {
    /// `all_hits` makes a scene for `layers`, which needs a filter; `closest` is timed without.
    pub fn new(mesh: &'a Mesh, all_hits: bool) -> Option<Embree<'a>> {
        let mut positions = mesh.positions.clone();
        positions.push([0.0; 3]); // Embree reads 16 bytes at a time
        let held = Box::new(AtomicIsize::new(0));
        // SAFETY: the handles are used as Embree's manual says; both buffers live as long as the scene.
        unsafe {
            let device = ffi::rtcNewDevice(c"threads=1".as_ptr());
            assert!(!device.is_null(), "Embree gives no device");
            ffi::rtcSetDeviceMemoryMonitorFunction(device, monitor, (&raw const *held).cast());
            let scene = ffi::rtcNewScene(device);
            ffi::rtcSetSceneFlags(scene, ffi::SCENE_ROBUST | if all_hits { ffi::SCENE_CONTEXT_FILTER } else { 0 });
            ffi::rtcSetSceneBuildQuality(scene, ffi::QUALITY_MEDIUM);
            let geometry = ffi::rtcNewGeometry(device, ffi::GEOMETRY_TRIANGLE);
            let share = |kind, format, data: *const c_void, n| {
                ffi::rtcSetSharedGeometryBuffer(geometry, kind, 0, format, data, 0, 12, n);
            };
            share(ffi::BUFFER_VERTEX, ffi::FORMAT_FLOAT3, positions.as_ptr().cast(), mesh.positions.len());
            share(ffi::BUFFER_INDEX, ffi::FORMAT_UINT3, mesh.triangles.as_ptr().cast(), mesh.triangles.len());
            ffi::rtcSetGeometryBuildQuality(geometry, ffi::QUALITY_MEDIUM);
            ffi::rtcCommitGeometry(geometry);
            ffi::rtcAttachGeometry(scene, geometry);
            ffi::rtcReleaseGeometry(geometry);
            ffi::rtcCommitScene(scene);
            Some(Embree { device, scene, held, positions, mesh })
        }
    }
}

impl Embree<'_> {
    /// How far the first surface on a ray is.
    #[inline(always)]
    pub fn sight(&self, s: &Sight) -> Option<f64> {
        let (mut context, mut r) = (context(None), towards(s.from, s.direction, s.length));
        // SAFETY: a committed scene, and records of the layout that Embree declares.
        unsafe { ffi::rtcIntersect1(self.scene, &mut context, &mut r) };
        (r.hit.geometry != ffi::INVALID).then_some(f64::from(r.ray.far))
    }
}

impl Drop for Embree<'_> {
    fn drop(&mut self) {
        // SAFETY: made in `new`, released once.
        unsafe {
            ffi::rtcReleaseScene(self.scene);
            ffi::rtcReleaseDevice(self.device);
        }
    }
}

impl Peer for Embree<'_> {
    #[inline(always)]
    fn closest(&self, q: &Query) -> Option<Surface> {
        two_rays(q, |sign, reach| {
            let (mut context, mut r) = (context(None), ray(q, sign, reach));
            // SAFETY: a committed scene, and records of the layout that Embree declares.
            unsafe { ffi::rtcIntersect1(self.scene, &mut context, &mut r) };
            let n = r.hit.normal;
            (r.hit.geometry != ffi::INVALID).then(|| Surface {
                z: q.at[2] + sign * f64::from(r.ray.far),
                slope: [-n[0] / n[2], -n[1] / n[2]].map(f64::from),
            })
        })
    }

    #[inline(always)]
    fn layers(&self, q: &Query) -> (usize, f64) {
        let mut collector = Collector { context: context(Some(collect)), from: q.at[2], found: (0, 0.0) };
        let mut r = ray(q, -1.0, q.reach);
        // SAFETY: as above; the filter gets back the whole collector, of which the context is the head.
        unsafe { ffi::rtcIntersect1(self.scene, (&raw mut collector).cast(), &mut r) };
        collector.found
    }

    /// The tree and the buffers it refers to.
    fn bytes(&self) -> usize {
        self.held.load(Relaxed) as usize + size_of_val(&self.positions[..]) + size_of_val(&self.mesh.triangles[..])
    }
}
