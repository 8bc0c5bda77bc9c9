//! Triangles into bundles: 128 bytes each, at most 16 triangles that do not overlap in plan.

use crate::plan::Plan;
use hardpan::format::bundle::{
    CORNERS, HALVES, MEDIUM, NARROW, NARROW_RELIEF, STRIDE, TRIANGLES, VERTEX_LIMIT, VERTEX_ZERO, WIDE,
};

/// A triangle of a tile: corner coordinates in steps from the origin, counter-clockwise.
#[derive(Clone, Copy)]
pub struct Tri {
    pub corners: [[i32; 3]; 3],
    pub plan: Plan,
    pub attribute: u8,
}

/// The bytes of one bundle.
pub type Record = [u16; HALVES];

/// Bundles, and where each triangle went: bundle and place in it.
pub struct Bundled {
    pub records: Vec<Record>,
    pub places: Vec<(u32, u8)>,
    /// Bit k of a triangle: no one triangle lies on the other side of the edge from its corner k.
    pub open: Vec<u8>,
}

/// What bundle positions of a node count from.
#[derive(Clone, Copy)]
pub struct Frame {
    pub base: [i32; 2],
    pub shift: u8,
}

impl Frame {
    /// For a square of side 2^`log2`: positions reach twice its size beyond its centre.
    pub fn of(x: i64, y: i64, log2: u32) -> Frame {
        let half = 1i64 << (log2 - 1);
        Frame { base: [(x + half) as i32, (y + half) as i32], shift: log2.saturating_sub(14) as u8 }
    }
}

/// Triangles from which on a class is not tried when the one before it holds as many.
const ENOUGH: [usize; 3] = [0, 9, 5];

/// Most neighbours that are compared for the next place in a bundle: a vertex may have thousands.
const CANDIDATES: usize = 48;

/// Which triangles and vertices the growing bundle has: those that carry its round.
struct Marks {
    round: u32,
    members: Vec<u32>,
    vertices: Vec<u32>,
}

struct Growing<'a> {
    tris: &'a [Tri],
    /// Vertex numbers of each triangle.
    numbers: &'a [[u32; 3]],
    marks: &'a mut Marks,
    class: u16,
    members: Vec<u32>,
    vertices: Vec<u32>,
    min: [i64; 3],
    max: [i64; 3],
}

fn z_range(t: &Tri) -> (i64, i64) {
    let z = t.corners.map(|c| i64::from(c[2]));
    (z[0].min(z[1]).min(z[2]), z[0].max(z[1]).max(z[2]))
}

/// The cheapest class for bundles of triangles of this size.
fn class_of(t: &Tri, frame: Frame) -> u16 {
    let (low, high) = z_range(t);
    let slack = 1 << frame.shift;
    let reach = (1i64 << (15 + frame.shift)) - slack;
    let near = (0..2).all(|i| (t.plan.min[i] - i64::from(frame.base[i])).abs() < reach);
    if !near {
        WIDE
    } else if t.plan.extent() <= 0xFFFF / 3 && t.plan.extent() + slack <= 0xFFFF && high - low < NARROW_RELIEF {
        NARROW
    } else if t.plan.extent() + slack <= 0xF_FFFF && high - low < 1 << 24 {
        MEDIUM
    } else {
        WIDE
    }
}

impl<'a> Growing<'a> {
    fn new(tris: &'a [Tri], numbers: &'a [[u32; 3]], marks: &'a mut Marks, class: u16) -> Self {
        let (members, vertices) = (Vec::with_capacity(TRIANGLES), Vec::with_capacity(VERTEX_LIMIT[0]));
        marks.round += 1;
        Growing { tris, numbers, marks, class, members, vertices, min: [i64::MAX; 3], max: [i64::MIN; 3] }
    }

    fn has(&self, t: u32) -> bool {
        self.marks.members[t as usize] == self.marks.round
    }

    fn new_vertices(&self, t: u32) -> usize {
        self.numbers[t as usize].iter().filter(|&&v| self.marks.vertices[v as usize] != self.marks.round).count()
    }

    /// Whether a triangle with so many new vertices finds room.
    fn fits(&self, t: u32, new_vertices: usize, frame: Frame) -> bool {
        let tri = &self.tris[t as usize];
        if self.members.len() >= TRIANGLES || self.vertices.len() + new_vertices > VERTEX_LIMIT[usize::from(self.class)]
        {
            return false;
        }
        if self.class == WIDE {
            return true;
        }
        if class_of(tri, frame) > self.class {
            return false;
        }
        let limit = if self.class == NARROW { 0xFFFF } else { 0xF_FFFF } - (1 << frame.shift);
        let plan = (0..2).all(|i| self.max[i].max(tri.plan.max[i]) - self.min[i].min(tri.plan.min[i]) <= limit);
        let (low, high) = z_range(tri);
        let relief = self.max[2].max(high) - self.min[2].min(low);
        plan && (self.class == NARROW || relief < 1 << 24)
    }

    fn overlaps(&self, t: u32) -> bool {
        let plan = &self.tris[t as usize].plan;
        self.members.iter().any(|&m| self.tris[m as usize].plan.overlaps(plan))
    }

    fn add(&mut self, t: u32) {
        self.members.push(t);
        self.marks.members[t as usize] = self.marks.round;
        for v in self.numbers[t as usize] {
            if self.marks.vertices[v as usize] != self.marks.round {
                self.marks.vertices[v as usize] = self.marks.round;
                self.vertices.push(v);
            }
        }
        let tri = &self.tris[t as usize];
        for i in 0..2 {
            self.min[i] = self.min[i].min(tri.plan.min[i]);
            self.max[i] = self.max[i].max(tri.plan.max[i]);
        }
        let (low, high) = z_range(tri);
        self.min[2] = self.min[2].min(low);
        self.max[2] = self.max[2].max(high);
    }
}

/// Grows bundles from seeds in Morton order, each step by the triangle with the fewest new vertices, then the nearest.
pub fn bundle(tris: &[Tri], frame: Frame) -> Bundled {
    let mut coordinates: Vec<[i32; 3]> = tris.iter().flat_map(|t| t.corners).collect();
    coordinates.sort_unstable();
    coordinates.dedup();
    let number = |c: &[i32; 3]| coordinates.binary_search(c).expect("a corner") as u32;
    let numbers: Vec<[u32; 3]> = tris.iter().map(|t| [0, 1, 2].map(|k| number(&t.corners[k]))).collect();
    // triangles around each vertex
    let mut starts = vec![0u32; coordinates.len() + 1];
    for v in numbers.iter().flatten() {
        starts[*v as usize + 1] += 1;
    }
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    let mut fill = starts.clone();
    let mut around = vec![0u32; numbers.len() * 3];
    for (t, n) in numbers.iter().enumerate() {
        for &v in n {
            around[fill[v as usize] as usize] = t as u32;
            fill[v as usize] += 1;
        }
    }
    let centre = |t: u32| -> [i64; 2] {
        let p = &tris[t as usize].plan;
        [p.x.iter().sum::<i64>(), p.y.iter().sum::<i64>()]
    };
    let mut seeds: Vec<(u8, u16, u64, u32)> = (0..tris.len() as u32)
        .map(|t| {
            let tri = &tris[t as usize];
            let c = centre(t);
            let at = |i: usize| ((c[i] / 3).wrapping_sub(i64::from(frame.base[i])) + (1 << 32)) as u64 >> 4;
            (tri.attribute, class_of(tri, frame), morton(at(0), at(1)), t)
        })
        .collect();
    seeds.sort_unstable();

    let open = open_edges(&numbers);
    let mut out = Bundled { records: Vec::new(), places: vec![(u32::MAX, 0); tris.len()], open };
    let mut marks = Marks { round: 0, members: vec![0; tris.len()], vertices: vec![0; coordinates.len()] };
    let mut taken = vec![false; tris.len()];
    let mut seen = vec![u32::MAX; tris.len()];
    let mut round = 0u32;
    for s in 0..seeds.len() {
        let (attribute, first, _, seed) = seeds[s];
        if taken[seed as usize] {
            continue;
        }
        let home = centre(seed);
        let mut grow = |class: u16| -> Option<(Vec<u32>, Record)> {
            round += 1;
            let mut g = Growing::new(tris, &numbers, &mut marks, class);
            let mut next = Vec::new();
            let mut far = s + 1;
            let mut chosen = seed;
            let mut ranked = Vec::new();
            loop {
                g.add(chosen);
                for v in numbers[chosen as usize] {
                    for &t in &around[starts[v as usize] as usize..starts[v as usize + 1] as usize] {
                        if next.len() >= CANDIDATES {
                            break;
                        }
                        if !taken[t as usize] && seen[t as usize] != round && tris[t as usize].attribute == attribute {
                            seen[t as usize] = round;
                            next.push(t);
                        }
                    }
                }
                ranked.clear();
                next.retain(|&t| {
                    let new = g.new_vertices(t);
                    let stays = !g.has(t) && g.fits(t, new, frame);
                    if stays {
                        let c = centre(t);
                        let square = |i: usize| i128::from(c[i] - home[i]) * i128::from(c[i] - home[i]);
                        ranked.push((new, square(0) + square(1), t));
                    }
                    stays
                });
                let mut pick = ranked.iter().min().map(|r| r.2);
                if pick.is_some_and(|t| g.overlaps(t)) {
                    ranked.sort_unstable();
                    let free = ranked.iter().position(|r| !g.overlaps(r.2)).unwrap_or(ranked.len());
                    next = ranked[free..].iter().map(|r| r.2).collect();
                    pick = next.first().copied();
                }
                // nothing adjacent fits: the next few seeds may lie close by
                let pick = pick.or_else(|| {
                    while far < seeds.len() && far <= s + 48 {
                        let (a, c, _, t) = seeds[far];
                        far += 1;
                        let free = a == attribute && c == first && !taken[t as usize] && !g.has(t);
                        if free && g.fits(t, g.new_vertices(t), frame) && !g.overlaps(t) {
                            return Some(t);
                        }
                    }
                    None
                });
                match pick {
                    Some(t) => chosen = t,
                    None => break,
                }
            }
            // heights may not fit the integer plane: give back the latest until they do
            loop {
                if let Some(record) = pack(&g, attribute, frame) {
                    return Some((g.members, record));
                }
                let (_, kept) = g.members.split_last().filter(|(_, kept)| !kept.is_empty())?;
                let kept = kept.to_vec();
                g = Growing::new(tris, &numbers, &mut marks, class);
                kept.into_iter().for_each(|t| g.add(t));
            }
        };
        // a wider class where the narrower holds fewer than it would
        let mut best: Option<(Vec<u32>, Record)> = None;
        for class in first..=WIDE {
            if best.as_ref().is_some_and(|(members, _)| members.len() >= ENOUGH[usize::from(class)]) {
                break;
            }
            let more = grow(class);
            if more.as_ref().map_or(0, |m| m.0.len()) > best.as_ref().map_or(0, |b| b.0.len()) {
                best = more;
            }
        }
        let (members, record) = best.expect("a wide bundle holds any triangle");
        for (place, &t) in members.iter().enumerate() {
            taken[t as usize] = true;
            out.places[t as usize] = (out.records.len() as u32, place as u8);
        }
        out.records.push(record);
    }
    out
}

/// The edges of each triangle that it does not share with just one other, which runs along it the other way.
fn open_edges(numbers: &[[u32; 3]]) -> Vec<u8> {
    let mut edges: Vec<([u32; 2], u32, usize)> = Vec::with_capacity(3 * numbers.len());
    for (t, n) in numbers.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (n[k], n[(k + 1) % 3]);
            edges.push(([a.min(b), a.max(b)], a, 3 * t + k));
        }
    }
    edges.sort_unstable();
    let mut open = vec![0; numbers.len()];
    for run in edges.chunk_by(|a, b| a.0 == b.0) {
        if run.len() != 2 || run[0].1 == run[1].1 {
            for &(_, _, edge) in run {
                open[edge / 3] |= 1 << (edge % 3);
            }
        }
    }
    open
}

fn pack(g: &Growing, attribute: u8, frame: Frame) -> Option<Record> {
    let corner = |v: u32| -> [i64; 3] {
        for (&m, n) in g.members.iter().map(|m| (m, &g.numbers[*m as usize])) {
            if let Some(k) = n.iter().position(|&x| x == v) {
                return g.tris[m as usize].corners[k].map(i64::from);
            }
        }
        unreachable!("every vertex is a member's")
    };
    let points: Vec<[i64; 3]> = g.vertices.iter().map(|&v| corner(v)).collect();
    let mut r: Record = [0; HALVES];
    let mut base = [0i64; 2];
    if g.class != WIDE {
        for i in 0..2 {
            let b = (g.min[i] - i64::from(frame.base[i])) >> frame.shift;
            r[i] = i16::try_from(b).ok()? as u16;
            base[i] = i64::from(frame.base[i]) + (b << frame.shift);
        }
    }
    let stride = STRIDE[usize::from(g.class)];
    let mut put = |i: usize, halves: &[u16]| r[VERTEX_ZERO + stride * (i + 1)..][..stride].copy_from_slice(halves);
    let half = |v: i64, shift: u32| (v >> shift) as u16;
    match g.class {
        NARROW => {
            let local: Vec<[i64; 3]> = points.iter().map(|p| [p[0] - base[0], p[1] - base[1], p[2]]).collect();
            let [gx, gy] = slope(&local);
            let rest: Vec<i64> = local.iter().map(|p| p[2] - ((gx * p[0] + gy * p[1]) >> 8)).collect();
            let low = *rest.iter().min()?;
            let z = i32::try_from(low).ok()?;
            for (i, p) in local.iter().enumerate() {
                let dz = u16::try_from(rest[i] - low).ok()?;
                put(i, &[u16::try_from(p[0]).ok()?, u16::try_from(p[1]).ok()?, dz]);
            }
            (r[2], r[3]) = (z as u16, (z >> 16) as u16);
            (r[4], r[5]) = (gx as i16 as u16, gy as i16 as u16);
        }
        MEDIUM => {
            let z = i32::try_from(g.min[2]).ok()?;
            for (i, p) in points.iter().enumerate() {
                let (x, y, dz) = (p[0] - base[0], p[1] - base[1], p[2] - g.min[2]);
                if x > 0xF_FFFF || y > 0xF_FFFF || dz > 0xFF_FFFF {
                    return None;
                }
                let high = half(x, 16) | half(y, 16) << 4 | half(dz, 16) << 8;
                put(i, &[half(x, 0), half(y, 0), half(dz, 0), high]);
            }
            (r[2], r[3]) = (z as u16, (z >> 16) as u16);
        }
        _ => {
            for (i, p) in points.iter().enumerate() {
                let [x, y, z] = *p;
                put(i, &[half(x, 0), half(x, 16), half(y, 0), half(y, 16), half(z, 0), half(z, 16)]);
            }
        }
    }
    r[6] = u16::from(attribute) | g.class << 8 | (g.members.len() as u16 - 1) << 12;
    for (place, &m) in g.members.iter().enumerate() {
        for (plane, v) in g.numbers[m as usize].iter().enumerate() {
            let i = g.vertices.iter().position(|x| x == v)? as u16 + 1;
            r[CORNERS + 4 * plane + place / 4] |= i << (4 * (place % 4));
        }
    }
    Some(r)
}

/// Least-squares slope in 1/256 height steps a plan step, within i16. Any value is exact: it only sizes the rest.
fn slope(points: &[[i64; 3]]) -> [i64; 2] {
    let n = points.len() as f64;
    let mean = [0, 1, 2].map(|i| points.iter().map(|p| p[i] as f64).sum::<f64>() / n);
    let (mut xx, mut xy, mut yy, mut xz, mut yz) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for p in points {
        let [x, y, z] = [0, 1, 2].map(|i| p[i] as f64 - mean[i]);
        xx += x * x;
        xy += x * y;
        yy += y * y;
        xz += x * z;
        yz += y * z;
    }
    let det = xx * yy - xy * xy;
    if det <= 0.0 {
        return [0; 2];
    }
    let limit = |v: f64| (v * 256.0).round_ties_even().clamp(-32768.0, 32767.0) as i64;
    [limit((xz * yy - yz * xy) / det), limit((yz * xx - xz * xy) / det)]
}

/// Interleaves the bits of two numbers.
pub fn morton(x: u64, y: u64) -> u64 {
    let spread = |v: u64| {
        let mut v = v & 0xFFFF_FFFF;
        for (shift, mask) in [
            (16, 0x0000_FFFF_0000_FFFF),
            (8, 0x00FF_00FF_00FF_00FF),
            (4, 0x0F0F_0F0F_0F0F_0F0F),
            (2, 0x3333_3333_3333_3333),
            (1, 0x5555_5555_5555_5555),
        ] {
            v = (v | v << shift) & mask;
        }
        v
    };
    spread(x) | spread(y) << 1
}
