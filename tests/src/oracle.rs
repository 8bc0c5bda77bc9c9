//! The truth, slowly: every triangle is tested for every question, in exact integers.
//!
//! Shares no code with kernel or builder. Positions are quantised here again, heights come from
//! barycentric weights, and every comparison is of whole numbers.

use hardpan_builder::{HeightField, Scene};
use num_rational::BigRational;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Query units in a lattice step.
pub const Q: i64 = 256;

/// Lattice steps of an image, as powers of two of a metre.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    pub xy_log2: i32,
    pub z_log2: i32,
}

impl Default for Steps {
    fn default() -> Self {
        Steps { xy_log2: -12, z_log2: -16 }
    }
}

impl Steps {
    /// Metres as query units of height.
    pub fn z_units(self, metres: f64) -> i64 {
        (metres * f64::from(8 - self.z_log2).exp2()).round_ties_even() as i64
    }

    /// Metres as query units in plan.
    pub fn xy_units(self, metres: f64) -> i64 {
        (metres * f64::from(8 - self.xy_log2).exp2()).round_ties_even() as i64
    }

    fn lattice(self, p: [f64; 3]) -> [i64; 3] {
        let scale = |v: f64, log2: i32| (v * f64::from(-log2).exp2()).round_ties_even() as i64;
        [scale(p[0], self.xy_log2), scale(p[1], self.xy_log2), scale(p[2], self.z_log2)]
    }
}

/// A triangle of positive plan area, its corners in canonical order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Face {
    v: [[i64; 3]; 3],
    material: u16,
    source: u16,
}

/// Ground over a place: height in 2^-8 of the z step, and the owner's upward normal in lattice units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ground {
    pub z: i64,
    pub normal: [i128; 3],
    pub material: u16,
    pub source: u16,
    /// Whether ground that goes before it hides it.
    pub hidden: bool,
}

/// What goes before what, and how far: see [`Oracle::over`].
#[derive(Clone, Debug, Default)]
struct Rules {
    /// Precedence and priority of each material, and whether it gives friction alone.
    materials: Vec<(i16, i32, bool)>,
    /// In query units of height.
    band: i64,
    merge: i64,
}

/// Heights at posts, whole lattice steps.
struct Field {
    /// In query units.
    origin: [i64; 2],
    pitch: i64,
    posts: [i64; 2],
    heights: Vec<Option<i64>>,
    /// Its material and source. Its corners come behind those of every triangle.
    face: Face,
}

impl Field {
    /// The height over a place in query units: that of a cell that has it and heights at its four posts.
    fn height(&self, x: i64, y: i64) -> Option<i64> {
        let cells = |k: usize, v: i64| {
            let (cell, rest) =
                ((v - self.origin[k]).div_euclid(self.pitch), (v - self.origin[k]).rem_euclid(self.pitch));
            let far = (rest == 0).then_some((cell - 1, self.pitch));
            let all = [Some((cell, rest)), far].into_iter().flatten();
            all.filter(|(c, _)| (0..self.posts[k] - 1).contains(c)).collect::<Vec<_>>()
        };
        let (columns, rows) = (cells(0, x), cells(1, y));
        for &(j, t) in &rows {
            for &(i, s) in &columns {
                let post = |di: i64, dj: i64| self.heights[((j + dj) * self.posts[0] + i + di) as usize];
                if let [Some(a), Some(b), Some(c), Some(d)] = [post(0, 0), post(1, 0), post(0, 1), post(1, 1)] {
                    let [a, b, c, d, s, t, p] = [a, b, c, d, s, t, self.pitch].map(i128::from);
                    let sum = (a * (p - s) + b * s) * (p - t) + (c * (p - s) + d * s) * t;
                    return Some(half_even(sum * i128::from(Q), p * p) as i64);
                }
            }
        }
        None
    }
}

/// Which stage of the search found it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Near,
    FarBelow,
    FarAbove,
}

/// All triangles of a scene.
pub struct Oracle {
    faces: Vec<Face>,
    /// west, south, east, north in query units, one for each face
    boxes: Vec<[i64; 4]>,
    bounds: [[i64; 3]; 2],
    fields: Vec<Field>,
    rules: Rules,
    /// Names in the order that numbers them.
    pub materials: Vec<String>,
    pub sources: Vec<String>,
    /// Triangles without plan area: vertical, or collapsed by rounding.
    pub flat: usize,
    /// Triangles that repeat another's corners.
    pub repeats: usize,
}

fn twice_area([a, b, c]: [[i64; 3]; 3]) -> i128 {
    let d = |p: [i64; 3], q: [i64; 3], k: usize| i128::from(q[k]) - i128::from(p[k]);
    d(a, b, 0) * d(a, c, 1) - d(a, b, 1) * d(a, c, 0)
}

impl Oracle {
    pub fn new(scene: &Scene) -> Oracle {
        Oracle::with_steps(scene, Steps::default())
    }

    /// Materials and sources are numbered in the order of their names.
    pub fn with_steps(scene: &Scene, steps: Steps) -> Oracle {
        let rank = |names: Vec<&String>| -> Vec<u16> {
            names.iter().map(|n| names.iter().filter(|m| m < &n).count() as u16).collect()
        };
        let materials = rank(scene.materials.iter().map(|m| &m.name).collect());
        let sources = rank(scene.sources.iter().collect());
        // those that look down come behind
        let mut all: Vec<(bool, Face)> = scene
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.v.map(|i| scene.positions[i as usize]);
                let down = (b[0] - a[0]) * (c[1] - a[1]) < (b[1] - a[1]) * (c[0] - a[0]);
                let mut v = [a, b, c].map(|p| steps.lattice(p));
                v.sort_unstable();
                (down, Face { v, material: materials[t.material as usize], source: sources[t.source as usize] })
            })
            .collect();
        let total = all.len();
        all.retain(|(_, f)| twice_area(f.v) != 0);
        let flat = total - all.len();
        let mut rules = vec![(0, 0, false); materials.len()];
        for (m, number) in scene.materials.iter().zip(&materials) {
            rules[usize::from(*number)] = (m.precedence, m.priority, m.friction_only);
        }
        let rule = |f: &Face| rules[usize::from(f.material)];
        let order = |f: &Face| (rule(f).2, Reverse((rule(f).0, rule(f).1)));
        all.sort_unstable_by_key(|(down, f)| (f.v, order(f), *down, *f));
        let kept = all.len();
        // the greatest standing, one that looks up, then the least material, then source, stays
        all.dedup_by_key(|(_, f)| (f.v, rule(f).2));
        all.sort_unstable_by_key(|(_, f)| *f);
        let all: Vec<Face> = all.into_iter().map(|(_, f)| f).collect();
        let mut bounds = [[i64::MAX; 3], [i64::MIN; 3]];
        for p in all.iter().flat_map(|f| f.v) {
            bounds[0] = [0, 1, 2].map(|k| bounds[0][k].min(p[k]));
            bounds[1] = [0, 1, 2].map(|k| bounds[1][k].max(p[k]));
        }
        let extent = |f: &Face, k: usize, most: bool| {
            let c = f.v.map(|p| p[k]);
            Q * if most { c.into_iter().max() } else { c.into_iter().min() }.unwrap_or(0)
        };
        Oracle {
            boxes: all
                .iter()
                .map(|f| [extent(f, 0, false), extent(f, 1, false), extent(f, 0, true), extent(f, 1, true)])
                .collect(),
            repeats: kept - all.len(),
            faces: all,
            bounds,
            fields: Vec::new(),
            rules: Rules { materials: rules, ..Rules::default() },
            materials: sorted(scene.materials.iter().map(|m| m.name.clone()).collect()),
            sources: sorted(scene.sources.clone()),
            flat,
        }
    }

    /// The same with a band of precedence and a least distance of layers, in query units of height.
    pub fn with_band(mut self, band: i64, merge: i64) -> Oracle {
        (self.rules.band, self.rules.merge) = (band, merge);
        self
    }

    /// The same with the scene's fields. Posts must be whole lattice steps. Heights are exact at places that lie a
    /// whole number of 2^-16 pitches from the origin of each field.
    pub fn with_fields(mut self, scene: &Scene, steps: Steps) -> Oracle {
        let number = |all: &[String], name: &String| all.iter().position(|n| n == name).unwrap() as u16;
        let whole = |v: f64, to: i64| {
            assert_eq!(v.fract(), 0.0, "no whole number of steps");
            v as i64 * to
        };
        let plan = f64::from(-steps.xy_log2).exp2();
        for f in &scene.fields {
            let material = number(&self.materials, &scene.materials[f.material as usize].name);
            let source = number(&self.sources, &scene.sources[f.source as usize]);
            let z = |h: &f64| (!h.is_nan()).then(|| whole(h * f64::from(-steps.z_log2).exp2(), 1));
            self.fields.push(Field {
                origin: f.origin.map(|v| whole(v * plan, Q)),
                pitch: whole(f.pitch * plan, Q),
                posts: [f.columns as i64, f.rows as i64],
                heights: f.heights.iter().map(z).collect(),
                face: Face { v: [[i64::MAX; 3]; 3], material, source },
            });
        }
        self.fields.sort_by_key(|f| f.face);
        self
    }

    /// How many different triangles have plan area.
    pub fn len(&self) -> usize {
        self.faces.len()
    }

    pub fn is_empty(&self) -> bool {
        self.faces.is_empty()
    }

    /// The lattice corners of a triangle, in canonical order.
    pub fn triangle(&self, i: usize) -> [[i64; 3]; 3] {
        self.faces[i].v
    }

    /// Numbers of a triangle's material and source.
    pub fn attribute(&self, i: usize) -> (u16, u16) {
        (self.faces[i].material, self.faces[i].source)
    }

    /// Whether the closed triangle lies over a place in query units.
    pub fn covers(&self, i: usize, x: i64, y: i64) -> bool {
        height(self.faces[i].v, x, y).is_some()
    }

    /// Least and greatest lattice coordinates of all triangles with plan area.
    pub fn bounds(&self) -> [[i64; 3]; 2] {
        self.bounds
    }

    /// Every surface over a place in query units.
    fn column(&self, x: i64, y: i64) -> Vec<(i64, Claim, &Face)> {
        let mut all = Vec::new();
        for (face, b) in self.faces.iter().zip(&self.boxes) {
            let near = b[0] <= x && x <= b[2] && b[1] <= y && y <= b[3];
            if let Some((z, claim)) = near.then(|| height(face.v, x, y)).flatten() {
                all.push((z, claim, face));
            }
        }
        // last of all at one height
        let of_fields = self.fields.iter().filter_map(|f| Some((f.height(x, y)?, Claim::Touches, &f.face)));
        all.extend(of_fields);
        all
    }

    /// The heights of some surfaces over a place, highest first, each with its owner.
    fn heights<'f>(surfaces: impl Iterator<Item = &'f (i64, Claim, &'f Face)>) -> Vec<Ground> {
        // Faces lie in canonical order: of those that own the place the first, else the first of all.
        let mut heights: BTreeMap<i64, (Claim, &Face)> = BTreeMap::new();
        for &(z, claim, face) in surfaces {
            let first = heights.entry(z).or_insert((claim, face));
            if claim < first.0 {
                *first = (claim, face);
            }
        }
        let ground = |(z, (_, f)): (i64, (Claim, &Face))| Ground {
            z,
            normal: normal(f.v),
            material: f.material,
            source: f.source,
            hidden: false,
        };
        heights.into_iter().rev().map(ground).collect()
    }

    /// Heights over a place that are shown, and those that are hidden; each highest first.
    ///
    /// A surface is hidden by one that covers the place moved by (e, e²) too, or is a field's, if that has a higher
    /// precedence and lies no farther above or below than the band; or an equal precedence and a higher priority, and
    /// both are one layer.
    /// Hidden surfaces hide others all the same. Those that give friction alone are no ground.
    fn both(&self, x: i64, y: i64) -> [Vec<Ground>; 2] {
        let all = self.column(x, y);
        let rule = |f: &Face| self.rules.materials[usize::from(f.material)];
        let hides = |t: &(i64, Claim, &Face), s: &(i64, Claim, &Face)| {
            let ((p, first, paint), (q, second, _)) = (rule(t.2), rule(s.2));
            let apart = (t.0 - s.0).abs();
            let one_layer = apart == 0 || apart < self.rules.merge;
            let wins = p > q && (apart <= self.rules.band || one_layer) || p == q && first > second && one_layer;
            let is_field = self.fields.iter().any(|f| std::ptr::eq(&f.face, t.2));
            (t.1 == Claim::NorthEast || is_field) && !paint && wins
        };
        let ground: Vec<_> = all.iter().filter(|s| !rule(s.2).2).copied().collect();
        let (hidden, shown): (Vec<_>, Vec<_>) = ground.iter().partition(|s| ground.iter().any(|t| hides(t, s)));
        let (mut shown, mut hidden) = (Oracle::heights(shown.iter()), Oracle::heights(hidden.iter()));
        hidden.iter_mut().for_each(|g| g.hidden = true);
        // Friction alone goes to the highest shown ground that lies no more than `merge` above it and the band below.
        let mut paints: Vec<_> = all.iter().filter(|s| rule(s.2).2 && s.1 == Claim::NorthEast).collect();
        paints.sort_by_key(|(z, _, f)| ((rule(f).0, rule(f).1), *z, Reverse(f.material)));
        for (z, _, face) in paints {
            if let Some(g) = shown.iter_mut().find(|g| g.z <= z + self.rules.merge && z - g.z <= self.rules.band) {
                g.material = face.material;
            }
        }
        [shown, hidden]
    }

    /// Every height over a place in query units that is not hidden, highest first, each with its owner.
    pub fn over(&self, x: i64, y: i64) -> Vec<Ground> {
        let [shown, _] = self.both(x, y);
        shown
    }

    /// Nearest within `near` (a tie goes below), else highest at or below within `far`, else lowest above within `far`.
    pub fn closest(&self, [x, y, z]: [i64; 3], near: i64, far: i64) -> Option<(Ground, Stage)> {
        Oracle::nearest(&self.over(x, y), z, near, far)
    }

    /// The same of heights that are known.
    pub fn nearest(all: &[Ground], z: i64, near: i64, far: i64) -> Option<(Ground, Stage)> {
        let below = all.iter().find(|g| g.z <= z); // the highest
        let above = all.iter().rev().find(|g| g.z > z); // the lowest
        let drop = |g: &&Ground| (i128::from(g.z) - i128::from(z)).abs();
        let within = |g: Option<&Ground>, reach: i64| g.filter(|g| drop(g) <= i128::from(reach)).copied();
        let stage = match (within(below, near), within(above, near)) {
            (Some(b), Some(a)) => Some((if drop(&&b) <= drop(&&a) { b } else { a }, Stage::Near)),
            (Some(g), None) | (None, Some(g)) => Some((g, Stage::Near)),
            (None, None) => None,
        };
        stage
            .or_else(|| within(below, far).map(|g| (g, Stage::FarBelow)))
            .or_else(|| within(above, far).map(|g| (g, Stage::FarAbove)))
    }

    /// The first ground going down from a point, at most `length` below it.
    pub fn segment(&self, [x, y, z]: [i64; 3], length: i64) -> Option<Ground> {
        let low = i128::from(z) - i128::from(length);
        self.over(x, y).into_iter().find(|g| g.z <= z && i128::from(g.z) >= low)
    }

    /// Heights, highest first, those closer than `merge` below the last one kept left out; of hidden ones apart.
    pub fn layers(&self, x: i64, y: i64, merge: i64) -> Vec<Ground> {
        let [shown, hidden] = self.both(x, y).map(|all| {
            let mut kept: Vec<Ground> = Vec::new();
            for g in all {
                if kept.last().is_none_or(|k| k.z - g.z >= merge) {
                    kept.push(g);
                }
            }
            kept
        });
        let mut all: Vec<Ground> = shown.into_iter().chain(hidden).collect();
        all.sort_by_key(|g| Reverse(g.z)); // stable
        all
    }
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort_unstable();
    names
}

/// Which place beside its own a triangle covers too, for every small e above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// The one moved by (e, e²).
    NorthEast,
    /// The one moved by (-e, -e²).
    SouthWest,
    /// Neither.
    Touches,
}

/// The height over (x, y) in query units, or `None` outside the closed triangle; and the triangle's claim.
fn height(v: [[i64; 3]; 3], x: i64, y: i64) -> Option<(i64, Claim)> {
    // The weight of each corner is the area that the point spans with the opposite edge: a polynomial in e.
    let at = [x, y];
    let offset = |p: [i64; 3], k: usize| i128::from(p[k]) * i128::from(Q) - i128::from(at[k]);
    let weight = |a: [i64; 3], b: [i64; 3]| {
        let edge = |k: usize| i128::from(b[k]) - i128::from(a[k]);
        [edge(1) * offset(a, 0) - edge(0) * offset(a, 1), -edge(1), edge(0)]
    };
    let mut w = [weight(v[1], v[2]), weight(v[2], v[0]), weight(v[0], v[1])];
    if w.iter().map(|w| w[0]).sum::<i128>() < 0 {
        w = w.map(|w| w.map(|c| -c));
    }
    if w.iter().any(|w| w[0] < 0) {
        return None;
    }
    let claim = if w.iter().all(|w| *w > [0; 3]) {
        Claim::NorthEast
    } else if w.iter().all(|&[w, x, y]| [w, -x, -y] > [0; 3]) {
        Claim::SouthWest
    } else {
        Claim::Touches
    };
    let weighted: i128 = (0..3).map(|k| w[k][0] * i128::from(v[k][2]) * i128::from(Q)).sum();
    Some((half_even(weighted, w.iter().map(|w| w[0]).sum()) as i64, claim))
}

/// n/d rounded to the nearest whole number, a half to the even one; d > 0.
fn half_even(n: i128, d: i128) -> i128 {
    let (floor, rest) = (n.div_euclid(d), n.rem_euclid(d));
    match (2 * rest).cmp(&d) {
        std::cmp::Ordering::Less => floor,
        std::cmp::Ordering::Greater => floor + 1,
        std::cmp::Ordering::Equal => floor + floor.rem_euclid(2),
    }
}

fn normal([a, b, c]: [[i64; 3]; 3]) -> [i128; 3] {
    let (u, w) = ([0, 1, 2].map(|k| i128::from(b[k] - a[k])), [0, 1, 2].map(|k| i128::from(c[k] - a[k])));
    let n = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
    if n[2] < 0 { n.map(|c| -c) } else { n }
}

/// The height of a triangle's plane in query units, from the plane's equation, in exact fractions.
pub fn plane_height(v: [[i64; 3]; 3], x: i64, y: i64) -> BigRational {
    let whole = |n: i128| BigRational::from_integer(n.into());
    let [nx, ny, nz] = normal(v);
    let d = |k: usize, at: i64| whole(i128::from(at) - i128::from(v[0][k]) * i128::from(Q));
    whole(i128::from(v[0][2]) * i128::from(Q)) - (whole(nx) * d(0, x) + whole(ny) * d(1, y)) / whole(nz)
}

/// Bilinear height of a field over a place in metres, in exact fractions; `None` outside the cells
/// whose four posts all have a height.
pub fn field_height(field: &HeightField, x: &BigRational, y: &BigRational) -> Option<BigRational> {
    let exact = |v: f64| BigRational::from_float(v).expect("finite");
    let cells = |v: &BigRational, origin: f64, posts: usize| {
        let u = (v - exact(origin)) / exact(field.pitch);
        // On a post, the cells on both sides count.
        let up: i64 = u.floor().to_integer().try_into().unwrap_or(i64::MIN);
        let low = if u.is_integer() { up - 1 } else { up };
        (u, (low..=up).filter(|&i| i >= 0 && i + 1 < posts as i64).map(|i| i as usize).collect::<Vec<_>>())
    };
    let (u, columns) = cells(x, field.origin[0], field.columns);
    let (v, rows) = cells(y, field.origin[1], field.rows);
    let one = exact(1.0);
    for &row in &rows {
        for &column in &columns {
            let post =
                |i: usize, j: usize| BigRational::from_float(field.heights[(row + j) * field.columns + column + i]);
            if let [Some(a), Some(b), Some(c), Some(d)] = [post(0, 0), post(1, 0), post(0, 1), post(1, 1)] {
                let (s, t) = (&u - exact(column as f64), &v - exact(row as f64));
                let (south, north) = (a * (&one - &s) + b * &s, c * (&one - &s) + d * &s);
                return Some(south * (&one - &t) + north * &t);
            }
        }
    }
    None
}

/// Height of a field at a place of the query grid by the words of `kernel/FORMAT.md`, from a patch record's 64 bytes
/// and the tile that holds it: query steps from the origin in, 2^-8 height steps from the origin and normal out.
pub fn patch_height(tile: &[u8], record: &[u8], q: [i64; 2]) -> Option<(i64, [i128; 3])> {
    let u32_at = |b: &[u8], at: usize| i128::from(u32::from_le_bytes(b[at..at + 4].try_into().unwrap()));
    let u64_at = |at: usize| u32_at(record, at) | u32_at(record, at + 4) << 32;
    let (rate, up) = (u64_at(0), u64_at(56));
    let one = 1i128 << 16;
    // every cell that holds the place, with the fraction in it: the place's own first, then those behind
    let along = |axis: usize| -> Vec<(i128, i128)> {
        let from = u64_at(8 + 8 * axis) as u64 as i64;
        let p = ((i128::from(q[axis]) - i128::from(from)) * rate) >> 32;
        let cell = (p >> 32) - u32_at(record, 24 + 4 * axis);
        let fraction = p.rem_euclid(1 << 32) / one;
        let mut cells = vec![(cell, fraction)];
        if fraction == 0 {
            cells.push((cell - 1, one));
        }
        cells.retain(|c| (0..u32_at(record, 32 + 4 * axis)).contains(&c.0));
        cells
    };
    let (columns, rows) = (along(0), along(1));
    for &(j, fy) in &rows {
        for &(i, fx) in &columns {
            let of_class = |class: u8| if class == 0 { (32, 7, 1) } else { (64, 8, 2) };
            let (mut bytes, mut first, mut size) = of_class(record[40]);
            let number = u32_at(record, 48) + j / 4 * u32_at(record, 44) + i / 4;
            let mut block = &tile[number as usize * bytes..][..bytes];
            if size == 1 && block[4] == 255 {
                (bytes, first, size) = of_class(1);
                block = &tile[u32_at(block, 0) as usize * bytes..][..bytes];
            }
            let post = |x: i128, y: i128| {
                let at = first + size * ((j % 4 + y) * 5 + i % 4 + x) as usize;
                let bytes = &block[at..at + size];
                let value = bytes.iter().rev().fold(0, |v, &b| v << 8 | i128::from(b));
                (!bytes.iter().all(|&b| b == 0xFF)).then_some(value)
            };
            let [Some(a), Some(b), Some(c), Some(d)] = [post(0, 0), post(1, 0), post(0, 1), post(1, 1)] else {
                continue;
            };
            let unit = 1i128 << block[4];
            let sum = a * (one - fx) * (one - fy) + b * fx * (one - fy) + c * (one - fx) * fy + d * fx * fy;
            let base = i128::from(u32_at(block, 0) as u32 as i32) * i128::from(Q);
            let du = (b - a) * (one - fy) + (d - c) * fy;
            let dv = (c - a) * (one - fx) + (d - b) * fx;
            return Some(((base + half_even(sum * unit, one * one)) as i64, [-du * unit, -dv * unit, up]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_to_the_even_neighbour() {
        let quotients = [(5, 2, 2), (7, 2, 4), (-5, 2, -2), (-7, 2, -4), (8, 3, 3), (7, 3, 2), (-8, 3, -3)];
        for (n, d, expected) in quotients {
            assert_eq!(half_even(n, d), expected, "{n}/{d}");
        }
    }

    #[test]
    fn a_closed_triangle_has_its_corners_edges_and_inside_and_nothing_else() {
        let z = |v, x, y| height(v, x, y).map(|h| h.0);
        let v = [[0, 0, 0], [4, 0, 8], [0, 4, 16]];
        assert_eq!(z(v, 0, 0), Some(0));
        assert_eq!(z(v, 4 * Q, 0), Some(8 * Q));
        assert_eq!(z(v, 2 * Q, 2 * Q), Some(12 * Q));
        assert_eq!(z(v, Q, Q), Some(6 * Q));
        assert_eq!(z(v, 2 * Q + 1, 2 * Q), None);
        assert_eq!(z(v, -1, 0), None);
        assert_eq!(z([v[0], v[2], v[1]], Q, Q), Some(6 * Q), "either winding");
    }

    #[test]
    fn a_place_on_a_border_belongs_to_the_triangle_east_and_north_of_it() {
        use Claim::{NorthEast, SouthWest, Touches};
        let v = [[0, 0, 0], [4, 0, 8], [0, 4, 16]];
        let claim = |x, y| height(v, x, y).map(|h| h.1);
        assert_eq!(claim(Q, Q), Some(NorthEast));
        assert_eq!(claim(0, 0), Some(NorthEast));
        assert_eq!(claim(2 * Q, 0), Some(NorthEast));
        assert_eq!(claim(0, 2 * Q), Some(NorthEast));
        assert_eq!(claim(4 * Q, 0), Some(Touches));
        assert_eq!(claim(0, 4 * Q), Some(Touches));
        assert_eq!(claim(2 * Q, 2 * Q), Some(SouthWest));
        let turned = v.map(|[x, y, z]| [4 - x, 4 - y, z]);
        assert_eq!(height(turned, 4 * Q, 4 * Q).map(|h| h.1), Some(SouthWest));
    }

    #[test]
    fn a_field_is_bilinear_between_posts_and_ends_at_missing_ones() {
        let field = HeightField {
            origin: [0.0, 0.0],
            pitch: 0.5,
            columns: 3,
            rows: 2,
            heights: vec![0.0, 1.0, f64::NAN, 2.0, 5.0, 0.0],
            material: 0,
            source: 0,
            tolerance: 0.0,
            ..HeightField::default()
        };
        let r = |v: f64| BigRational::from_float(v).unwrap();
        assert_eq!(field_height(&field, &r(0.25), &r(0.25)), Some(r(2.0)));
        assert_eq!(field_height(&field, &r(0.5), &r(0.5)), Some(r(5.0)));
        assert_eq!(field_height(&field, &r(0.75), &r(0.25)), None);
        assert_eq!(field_height(&field, &r(-0.1), &r(0.25)), None);
    }
}
