//! A bundle as it is stored.

use super::grow::Growing;
use super::{Frame, Tri};
use hardpan::format::bundle as layout;
use hardpan::format::bundle::{
    HALVES, Head, MEDIUM, MEDIUM_REACH, MEDIUM_RELIEF_LOG2, MEDIUM_ZERO, NARROW, NARROW_REACH, NARROW_RELIEF,
    NARROW_ZERO, SLOPE_FRACTION, VERTEX_LIMIT, WIDE, WIDE_STRIDE, WIDE_ZERO,
};

/// Most extents in plan of what a narrow and a medium bundle hold, and in height of a medium one.
pub(super) const SPANS: [i64; 2] = [NARROW_REACH as i64, MEDIUM_REACH as i64];

pub(super) const MEDIUM_RELIEF: i64 = 1 << MEDIUM_RELIEF_LOG2;

/// The bytes of one bundle.
pub type Record = [u16; HALVES];

/// Whether a bundle is of the widest class.
pub fn is_wide(record: &Record) -> bool {
    Head::of_halves(record).class() == WIDE
}

/// The cheapest class for bundles of triangles of a size.
pub(super) fn class(t: &Tri, frame: Frame) -> u16 {
    let [low, high] = t.heights();
    let relief = i64::from(high) - i64::from(low);
    let slack = 1 << frame.shift;
    let reach = (1i64 << (15 + frame.shift)) - slack;
    let near = (0..2).all(|i| (t.plan.min(i) - i64::from(frame.base[i])).abs() < reach);
    if !near {
        WIDE
    } else if t.plan.extent() <= SPANS[0] / 3 && t.plan.extent() + slack <= SPANS[0] && relief < NARROW_RELIEF {
        NARROW
    } else if t.plan.extent() + slack <= SPANS[1] && relief < MEDIUM_RELIEF {
        MEDIUM
    } else {
        WIDE
    }
}

/// Most extents of a bundle of a class.
pub(super) fn spans(class: u16, frame: Frame) -> [i64; 3] {
    let slack = 1 << frame.shift;
    match class {
        NARROW => [SPANS[0] - slack, SPANS[0] - slack, i64::MAX],
        MEDIUM => [SPANS[1] - slack, SPANS[1] - slack, MEDIUM_RELIEF - 1],
        _ => [i64::MAX; 3],
    }
}

pub(super) fn pack(g: &Growing, attribute: u8) -> Option<Record> {
    packed(g.class, g.frame, &g.points, &g.corners, attribute)
}

/// Writes a bundle of a class, of these points and triangles of them; none if the class cannot have them.
pub fn packed(class: u16, frame: Frame, given: &[[i32; 3]], corners: &[[u8; 3]], attribute: u8) -> Option<Record> {
    let mut r: Record = [0; HALVES];
    let lowest = [0, 1, 2].map(|i| given.iter().map(|p| p[i]).min().unwrap_or_default());
    let mut base = [0i64; 2];
    if class != WIDE {
        for i in 0..2 {
            let b = (i64::from(lowest[i]) - i64::from(frame.base[i])) >> frame.shift;
            r[i] = i16::try_from(b).ok()? as u16;
            base[i] = i64::from(frame.base[i]) + (b << frame.shift);
        }
    }
    let mut put = |word: usize, v: i64| (r[2 * word], r[2 * word + 1]) = (v as u16, (v >> 16) as u16);
    let points = given.iter().map(|p| p.map(i64::from));
    match class {
        NARROW => {
            let mut local = [[0i64; 3]; VERTEX_LIMIT[0]];
            let local = &mut local[..given.len()];
            local.iter_mut().zip(points).for_each(|(l, p)| *l = [p[0] - base[0], p[1] - base[1], p[2]]);
            let [gx, gy] = slope(local);
            local.iter_mut().for_each(|p| p[2] -= (gx * p[0] + gy * p[1]) >> SLOPE_FRACTION);
            let low = local.iter().map(|p| p[2]).min()?;
            let z = i32::try_from(low).ok()?;
            for (i, p) in local.iter().enumerate() {
                let xy = [u16::try_from(p[0]).ok()?, u16::try_from(p[1]).ok()?];
                put(NARROW_ZERO.1 + i + 1, layout::narrow_word(xy).into());
            }
            for (i, p) in local.iter().enumerate() {
                r[NARROW_ZERO.0 + i + 1] = u16::try_from(p[2] - low).ok()?;
            }
            (r[2], r[3]) = (z as u16, (z >> 16) as u16);
            (r[4], r[5]) = (gx as i16 as u16, gy as i16 as u16);
        }
        MEDIUM => {
            let z = lowest[2];
            for (i, p) in points.enumerate() {
                let (x, y, dz) = (p[0] - base[0], p[1] - base[1], p[2] - i64::from(z));
                if x > SPANS[1] || y > SPANS[1] || dz >= MEDIUM_RELIEF {
                    return None;
                }
                let pair = layout::medium_words([x as u32, y as u32], dz as u32);
                (0..).zip(pair).for_each(|(k, word)| put(2 * (MEDIUM_ZERO + i + 1) + k, word.into()));
            }
            (r[2], r[3]) = (z as u16, (z >> 16) as u16);
        }
        _ => {
            for (i, p) in points.enumerate() {
                (0..).zip(p).for_each(|(k, v)| put(WIDE_ZERO + WIDE_STRIDE * (i + 1) + k, v));
            }
        }
    }
    r[layout::HEAD] = Head::new(attribute, class, corners.len()).0;
    for (place, corners) in corners.iter().enumerate() {
        layout::set_corners(&mut r, place, corners.map(|v| v + 1));
    }
    Some(r)
}

/// Least-squares slope in 1/256 height steps a plan step, within i16. Any value is exact: it only sizes the rest.
pub(super) fn slope(points: &[[i64; 3]]) -> [i64; 2] {
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
