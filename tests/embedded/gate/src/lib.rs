//! Every entry point of the kernel as a C function; the panic handler calls a symbol that nobody defines.
//! The linker drops what no entry point reaches: if it still misses the symbol, a panic path survives.
#![no_std]
#![allow(improper_ctypes_definitions)]

use core::hint::black_box;
use hardpan::{
    Answer, Beam, Clearance, Cost, Cursor, Field, FieldGround, Fixed, Hit, Layers, Mover, Options, Point, Pose, Ray, RayAnswer, RayHit,
    RayOptions, RayStatus, Sensed, Step, Terrain, Verifier, heapless::Vec,
};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe extern "C" {
        fn a_panic_path_survives() -> !;
    }
    unsafe { a_panic_path_survives() }
}

macro_rules! gate {
    ($($name:ident($($arg:ident: $ty:ty),*) $body:expr;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($($arg: $ty),*) {
            let _ = black_box($body);
        }
    )*};
}

type T<'a> = &'a Terrain<'a>;

gate! {
    gate_open(bytes: &&[u8]) Terrain::open(bytes);
    gate_open_verified(bytes: &&[u8]) Terrain::open_verified(bytes);
    gate_verifier(t: T, most: usize, damage: &mut &mut [u8]) {
        let mut verifier = t.verifier();
        while let Ok(false) = verifier.step(most, damage) {}
    };
    gate_damaged_sections(verifier: &Verifier) verifier.damaged_sections();
    gate_usable(verifier: &Verifier) verifier.usable();
    gate_point_f64(t: T, p: &[f64; 3]) t.point(*p);
    gate_point_fixed(t: T, p: &[Fixed; 3]) t.point(*p);
    gate_closest(t: T, p: &Point, to: &mut Answer) *to = t.closest(*p);
    gate_closest_f64(t: T, p: &[f64; 3], to: &mut Answer) *to = t.closest(*p);
    gate_closest_f32(t: T, p: &[f32; 3], to: &mut Answer) *to = t.closest(*p);
    gate_closest_fixed(t: T, p: &[Fixed; 3], to: &mut Answer) *to = t.closest(*p);
    gate_closest_with(t: T, p: &Point, options: &Options, to: &mut Answer) *to = t.closest_with(*p, options);
    gate_closest_damage(t: T, damage: &&[u8], p: &Point, to: &mut Answer) *to = t.with_damage(damage).closest(*p);
    gate_closest_cursor(t: T, p: &Point, cursor: &mut Cursor, to: &mut Answer) *to = t.closest_cursor(*p, cursor);
    gate_field(t: T, p: &Point) t.field(*p);
    gate_field_height(field: &Field, p: &Point) field.height(*p);
    gate_field_ground(field: &Field, p: &Point, to: &mut Option<FieldGround>) *to = field.ground(*p);
    gate_closest_batch(t: T, p: &&[Point], to: &mut &mut [Answer]) t.closest_batch(p, to);
    gate_closest_batch_f64(t: T, p: &&[[f64; 3]], to: &mut &mut [Answer]) t.closest_batch(p, to);
    gate_closest_costed(t: T, p: &Point, to: &mut (Answer, Cost)) *to = t.closest_costed(*p);
    gate_explain(t: T, p: &Point, to: &mut Answer) *to = t.explain(*p, &mut |trace| { black_box(trace); });
    gate_below(t: T, p: &Point, to: &mut Answer) *to = t.below(*p);
    gate_segment(t: T, p: &Point, length: i64, to: &mut Answer) *to = t.segment(*p, length);
    gate_segment_m(t: T, p: &[f64; 3], length: f64, to: &mut Answer) *to = t.segment_m(*p, length);
    gate_layers(t: T, p: &Point, hits: &mut &mut [Hit], to: &mut Layers) *to = t.layers(*p, hits);
    gate_layers_vec(t: T, p: &Point, hits: &mut Vec<Hit, 8>, to: &mut Layers) *to = t.layers_vec(*p, hits);
    gate_ray_from(t: T, p: &[f64; 3], d: &[f64; 3], length: f64, to: &mut Result<Ray, RayStatus>) *to = t.ray_from(*p, *d, length);
    gate_raycast(t: T, ray: &Ray, options: &RayOptions, to: &mut RayAnswer) *to = t.raycast(*ray, options);
    gate_raycast_costed(t: T, ray: &Ray, options: &RayOptions, to: &mut (RayAnswer, Cost)) *to = t.raycast_costed(*ray, options);
    gate_explain_ray(t: T, ray: &Ray, options: &RayOptions, to: &mut RayAnswer) *to = t.explain_ray(*ray, options, &mut |trace| { black_box(trace); });
    gate_rays(t: T, pose: &Pose, beams: &&[Beam], options: &RayOptions, to: &mut &mut [Sensed]) t.rays(pose, beams, options, to);
    gate_clearance(t: T, p: &Point, to: &mut Clearance) *to = t.clearance(*p);
    gate_can_step(t: T, p: &Point, q: &Point, mover: &Mover, to: &mut Step) *to = t.can_step(*p, *q, mover);
    gate_closest_of(t: T, p: &Point, classes: u32, options: &Options, to: &mut Answer) *to = t.closest_of(*p, classes, options);
    gate_segment_of(t: T, p: &Point, length: i64, classes: u32, to: &mut Answer) *to = t.segment_of(*p, length, classes);
    gate_layers_of(t: T, p: &Point, classes: u32, hits: &mut &mut [Hit], to: &mut Layers) *to = t.layers_of(*p, classes, hits);
    gate_face_normal(t: T, hit: &RayHit) t.face_normal_f64(hit);
    gate_metres(t: T, p: &Point) t.metres(*p);
    gate_z_f64(t: T, hit: &Hit) t.z_f64(hit);
    gate_z_fixed(t: T, hit: &Hit) t.z_fixed(hit);
    gate_slope_f64(t: T, hit: &Hit) t.slope_f64(hit);
    gate_slope_f32(t: T, hit: &Hit) t.slope_f32(hit);
    gate_normal_f64(t: T, hit: &Hit) t.normal_f64(hit);
    gate_normal_f32(t: T, hit: &Hit) t.normal_f32(hit);
    gate_surface(t: T, answer: &Answer) t.surface(answer);
    gate_surface_f32(t: T, answer: &Answer) t.surface_f32(answer);
    gate_material(t: T, hit: &Hit) t.material(hit);
    gate_materials(t: T) t.materials().len();
    gate_material_name(t: T, material: u16) t.material_name(material);
    gate_source_name(t: T, source: u16) t.source_name(source);
    gate_options(t: T, to: &mut Options) *to = t.options();
    gate_header(t: T) t.header();
    gate_bound(t: T, to: &mut Cost) *to = t.bound();
    gate_max_layers(t: T) t.max_layers();
    gate_bounds(t: T) t.bounds();
    gate_identity(t: T) t.identity();
}

#[cfg(feature = "guilty")]
gate! {
    gate_guilty(bytes: &&[u8], i: usize) bytes[i];
}
