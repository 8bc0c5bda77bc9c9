//! The query blob, and the hashes of all its answers: the same code on every target.
#![cfg_attr(not(target_arch = "wasm32"), no_std)]

use hardpan::{
    Answer, Cost, Cursor, Field, FieldGround, Fixed, Hit, Layers, Options, Point, Ray, RayAnswer, RayOptions, Status,
    Terrain, Windows,
};

#[cfg(target_arch = "wasm32")]
mod wasm;

// the generator of random places, as the builder has it
#[path = "../../../../builder/src/util/dice.rs"]
#[allow(dead_code)]
mod dice;
#[path = "../../../../gpu-shaders/src/mix.rs"]
mod mixer;
use mixer::mix;

/// Points of a batch: as many as go down the index together.
pub const BATCH: usize = 32;

/// Room for the answers of `layers`.
pub const LAYERS: usize = 8;

/// Bytes of `Terrain`, `Cursor`, `Verifier` and `Answer` on a 32-bit core.
pub const SIZES: [usize; 4] = [184, 152, 568, 64];
#[cfg(all(target_pointer_width = "32", not(target_arch = "wasm32")))]
const _: () = {
    let sizes = [size_of::<Terrain>(), size_of::<Cursor>(), size_of::<hardpan::Verifier>(), size_of::<Answer>()];
    let mut i = 0;
    while i < SIZES.len() {
        assert!(sizes[i] == SIZES[i]);
        i += 1;
    }
};

/// A hit to overwrite.
pub const BLANK: Hit = Hit::NONE;

/// An answer to overwrite.
pub const UNANSWERED: Answer = Answer { status: Status::NoGround, hit: BLANK };

/// Queries as plain functions, so that counting and hashing share one copy of each: a small core has little room.
pub mod ask {
    use super::*;

    macro_rules! ask {
        ($($name:ident($t:ident, $($arg:ident: $ty:ty),*) -> $to:ty = $body:expr;)*) => {$(
            #[inline(never)]
            pub fn $name($t: &Terrain, $($arg: $ty),*) -> $to {
                $body
            }
        )*};
    }
    /// Height by a handle.
    #[inline(never)]
    pub fn field_height(field: &Field, p: Point) -> Option<i64> {
        field.height(p)
    }

    /// Height and normal by a handle.
    #[inline(never)]
    pub fn field_ground(field: &Field, p: Point) -> Option<FieldGround> {
        field.ground(p)
    }

    ask! {
        closest(t, p: Point) -> Answer = t.closest(p);
        closest_f64(t, p: [f64; 3]) -> Answer = t.closest(p);
        closest_f32(t, p: [f32; 3]) -> Answer = t.closest(p);
        closest_fixed(t, p: [Fixed; 3]) -> Answer = t.closest(p);
        closest_batch(t, p: &[Point], to: &mut [Answer]) -> usize = t.closest_batch(p, to);
        closest_damage(t, p: Point, damage: &[u8]) -> Answer = t.with_damage(damage).closest(p);
        closest_cursor(t, p: Point, cursor: &mut Cursor) -> Answer = t.closest_cursor(p, cursor);
        closest_costed(t, p: Point) -> (Answer, Cost) = t.closest_costed(p);
        closest_extend(t, p: Point, options: &Options) -> Answer = t.closest_with(p, options);
        below(t, p: Point) -> Answer = t.below(p);
        segment(t, p: Point, length: i64) -> Answer = t.segment(p, length);
        layers(t, p: Point, hits: &mut [Hit]) -> Layers = t.layers(p, hits);
        raycast(t, ray: Ray, options: &RayOptions) -> RayAnswer = t.raycast(ray, options);
        shot(t, shot: &Shot, options: &RayOptions) -> RayAnswer = match t.ray_from(shot.origin, shot.direction, shot.length) {
            Ok(ray) => t.raycast(ray, options),
            Err(status) => RayAnswer::of(status),
        };
    }
}

/// A blob of integer queries: 32 bytes of header, then x, y, z of each as little-endian `i64`.
#[derive(Clone, Copy)]
pub struct Queries<'a> {
    /// Length of the image that the queries are for.
    pub image_len: usize,
    /// How many, from the first, are uniformly spread; they give the means.
    pub uniform: usize,
    /// How many, from the first, are timed by every call: the uniform and the worst. Of the rest only `closest` is.
    pub timed: usize,
    /// Nothing is counted: `closest` is called once for each, for an emulator that writes down every instruction.
    pub traced: bool,
    /// Lattice steps of the image: powers of two, in metres.
    pub steps: [i32; 2],
    points: &'a [u8],
}

const MAGIC: [u8; 4] = *b"HPQ1";
const HEADER: usize = 32;
const RECORD: usize = 24;

impl<'a> Queries<'a> {
    /// The header's bytes.
    pub fn header(
        image_len: usize,
        total: usize,
        uniform: usize,
        timed: usize,
        steps: [i32; 2],
        traced: bool,
    ) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let [x, y] = steps.map(|s| s as u32);
        let words = [image_len as u32, total as u32, uniform as u32, timed as u32, x, y, traced.into()];
        bytes[..4].copy_from_slice(&MAGIC);
        for (to, word) in bytes[4..].chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Finds the queries at the start of `bytes`, which may be longer.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let word = |i: usize| Some(u32::from_le_bytes(bytes.get(4 * i..4 * i + 4)?.try_into().ok()?));
        if bytes.get(..4)? != MAGIC {
            return None;
        }
        Some(Queries {
            image_len: word(1)? as usize,
            uniform: word(3)? as usize,
            timed: word(4)? as usize,
            steps: [word(5)? as i32, word(6)? as i32],
            traced: word(7)? != 0,
            points: bytes.get(HEADER..HEADER + word(2)? as usize * RECORD)?,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.points.len() / RECORD
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The i-th position.
    pub fn point(&self, i: usize) -> Point {
        let at = |k: usize| {
            let at = i * RECORD + 8 * k;
            i64::from_le_bytes(self.points[at..at + 8].try_into().unwrap())
        };
        Point { x: at(0), y: at(1), z: at(2) }
    }

    /// The same position in metres; exact, for all that fit 53 bits.
    pub fn metres(&self, p: Point) -> [f64; 3] {
        let step = |log2: i32| f64::from_bits(((1023 + log2 - 8) as u64) << 52);
        let [xy, z] = self.steps.map(step);
        [p.x as f64 * xy, p.y as f64 * xy, p.z as f64 * z]
    }

    /// The same position in fixed-point metres; exact down to 2^-24 m.
    pub fn fixed(&self, p: Point) -> [Fixed; 3] {
        let fixed = |v: i64, log2: i32| Fixed::from_bits(v.wrapping_shl((24 + log2 - 8) as u32));
        let [xy, z] = self.steps;
        [fixed(p.x, xy), fixed(p.y, xy), fixed(p.z, z)]
    }
}

/// Length of the segment that is tried below `p`, in query steps: 0 to 64 m by the default lattice, by the position's
/// own bits.
pub fn length(p: Point) -> i64 {
    (p.x ^ p.y.rotate_left(7) ^ p.z) & 0x3fff_ffff
}

/// FNV-1a over 64 bits.
struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn int(&mut self, v: i64) {
        self.bytes(&v.to_le_bytes());
    }

    fn hit(&mut self, h: &Hit) {
        for v in [h.z, h.normal.x, h.normal.y, h.normal.z] {
            self.int(v);
        }
        for v in [h.material, h.source] {
            self.bytes(&v.to_le_bytes());
        }
        self.bytes(&[h.leaf as u8, h.reach as u8]);
        for v in h.place {
            self.bytes(&v.to_le_bytes());
        }
    }

    fn ray(&mut self, t: &Terrain, a: &RayAnswer) {
        let h = &a.hit;
        self.bytes(&[a.status as u8, h.kind as u8, h.leaf as u8, h.back.into(), h.at_start.into()]);
        for v in [h.t].into_iter().chain(t.metres(h.at)).chain(t.face_normal_f64(h)) {
            self.int(v.to_bits() as i64);
        }
        for v in [h.material, h.source] {
            self.bytes(&v.to_le_bytes());
        }
        for v in h.place {
            self.bytes(&v.to_le_bytes());
        }
    }

    fn answer(&mut self, a: &Answer) {
        self.bytes(&[a.status as u8]);
        self.hit(&a.hit);
    }
}

/// A ray in metres.
pub struct Shot {
    /// Where it starts.
    pub origin: [f64; 3],
    /// Where it goes; of any length.
    pub direction: [f64; 3],
    /// How far.
    pub length: f64,
}

/// A ray from `p`, or from up to 8 m in plan and 32 m in height beside it, by the position's own bits; one in eight is
/// upright.
pub fn shot(queries: &Queries, p: Point) -> Shot {
    let bits = p.x.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64) ^ p.y.rotate_left(23) ^ p.z;
    let way = |shift: u32| (bits >> shift & 0xff_ffff) - 0x80_0000;
    let way = [way(0), way(20), way(40)];
    let [x, y, z] = if bits >> 8 & 7 == 0 { [0, 0, way[2]] } else { way };
    let length = ((bits >> 30 & 0xff) + 1) as f64 * 0.125;
    let direction = [x as f64, y as f64, 4.0 * z as f64];
    if bits & 1 == 0 {
        return Shot { origin: queries.metres(p), direction, length };
    }
    let from = Point { x: p.x + x, y: p.y + y, z: p.z + 64 * z };
    Shot { origin: queries.metres(from), direction: direction.map(|d| 0.0 - d), length }
}

/// What is hashed, in this order.
pub const KINDS: [&str; 10] =
    ["closest", "entries", "windows", "below", "segment", "layers", "batch", "rays", "values", "draws"];

/// Bytes of the largest image beside which random numbers are drawn: they are the same beside every one.
const SMALL: u64 = 48 << 10;

/// Hash of every field of every answer of one kind of query, over all of `queries`.
pub fn hash(terrain: &Terrain, queries: &Queries, kind: usize) -> u64 {
    hash_of::<true>(terrain, queries, kind)
}

/// The same; without rays a program needs less room.
pub fn hash_of<const RAYS: bool>(terrain: &Terrain, queries: &Queries, kind: usize) -> u64 {
    let mut fnv = Fnv(0xcbf2_9ce4_8422_2325);
    if KINDS[kind] == "draws" {
        let mut dice = dice::Dice(1);
        let count = if terrain.header().total_len <= SMALL { 1_000_000 } else { 0 };
        (0..count).for_each(|_| fnv.bytes(&dice.unit().to_bits().to_le_bytes()));
        return fnv.0;
    }
    let mut cursor = Cursor::new();
    let mut batch = ([Point::default(); 16], [UNANSWERED; 16]);
    for i in 0..queries.len() {
        let p = queries.point(i);
        match kind {
            0 => {
                let (answer, cost) = ask::closest_costed(terrain, p);
                fnv.answer(&answer);
                for v in [cost.nodes, cost.leaves, cost.tests, cost.lines] {
                    fnv.bytes(&v.to_le_bytes());
                }
            }
            1 => {
                fnv.answer(&ask::closest_f64(terrain, queries.metres(p)));
                fnv.answer(&ask::closest_f32(terrain, queries.metres(p).map(|c| c as f32)));
                fnv.answer(&ask::closest_fixed(terrain, queries.fixed(p)));
                fnv.answer(&ask::closest_cursor(terrain, p, &mut cursor));
            }
            2 => {
                let mut options = terrain.options();
                options.windows = Windows { near: length(p) >> 8, far: length(p) };
                fnv.answer(&terrain.closest_with(p, &options));
            }
            3 => fnv.answer(&ask::below(terrain, p)),
            4 => fnv.answer(&ask::segment(terrain, p, length(p))),
            5 => {
                let mut hits = [BLANK; LAYERS];
                for space in [LAYERS, 1] {
                    let layers = ask::layers(terrain, p, &mut hits[..space]);
                    fnv.bytes(&[layers.status as u8]);
                    fnv.int(layers.total as i64);
                    hits.iter().take(layers.written).for_each(|h| fnv.hit(h));
                }
            }
            6 => {
                let slot = i % batch.0.len();
                batch.0[slot] = p;
                if slot + 1 == batch.0.len() {
                    ask::closest_batch(terrain, &batch.0, &mut batch.1);
                    batch.1.iter().for_each(|a| fnv.answer(a));
                }
            }
            7 if RAYS => {
                let shot = shot(queries, p);
                let answer = ask::shot(terrain, &shot, &RayOptions::default());
                fnv.ray(terrain, &answer);
                let next = RayOptions { after: Some(answer.hit.t), limit: 64, ..RayOptions::default() };
                fnv.ray(terrain, &ask::shot(terrain, &shot, &next));
            }
            _ => {
                let answer = ask::closest(terrain, p);
                let hit = answer.hit;
                let material = terrain.material(&hit);
                for v in [terrain.z_f64(&hit), material.mu, material.rolling, material.gain] {
                    fnv.int(v.to_bits() as i64);
                }
                fnv.int(terrain.z_fixed(&hit).to_bits());
                for v in terrain.slope_f64(&hit).into_iter().chain(terrain.normal_f64(&hit)) {
                    fnv.int(v.to_bits() as i64);
                }
                let single = [terrain.normal_f32(&hit), terrain.surface_f32(&answer)];
                for v in terrain.slope_f32(&hit).iter().chain(single.as_flattened()) {
                    fnv.bytes(&v.to_bits().to_le_bytes());
                }
                fnv.bytes(terrain.material_name(hit.material).as_bytes());
                fnv.bytes(terrain.source_name(hit.source).as_bytes());
            }
        }
    }
    fnv.0
}

/// Whether bytes that are not this image, whole and aligned, are refused, and this image passes `open_verified`.
pub fn opens_only(image: &[u8]) -> bool {
    let bad =
        [&image[..0], &image[..64], &image[..image.len() - 1], &image[1..], &image[64..], &[0xff; 256], &[0; 256]];
    bad.iter().all(|b| Terrain::open(b).is_err()) && Terrain::open_verified(image).is_ok()
}
