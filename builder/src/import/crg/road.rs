//! The surface of an OpenCRG: heights by u and v, and by x and y.

use super::body::{self, Rows};
use super::head::{self, Head, Keys};
use super::line::{Cut, End, Found, Line};
use crate::import::ImportError;
use libm::atan2;
use std::path::Path;

/// A road: u along its reference line, v to the left of it, all in metres.
#[derive(Clone, Debug)]
pub struct Road {
    first: f64,
    way: f64,
    pub(super) v: Vec<f64>,
    listed: bool,
    /// Heights above the reference line, row by row.
    z: Vec<f64>,
    /// Metres that are added to them.
    shift: f64,
    pub(super) line: Line,
    /// Height of the reference line at each row, and that to which the ends of the road fade.
    base: Vec<f64>,
    fade: [f64; 2],
    banking: Option<Vec<f64>>,
    borders: Borders,
    /// The way from the last row to the first of a closed track.
    pub(super) gap: Option<f64>,
}

/// Rules for places beyond the road, and how it fades at its ends.
#[derive(Clone, Copy, Debug)]
struct Borders {
    modes: [Mode; 2],
    offsets: [f64; 2],
    fades: [f64; 2],
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    None,
    Zero,
    Keep,
    Repeat,
    Reflect,
}

/// Where a number lies on an axis.
struct On {
    at: f64,
    /// It was beyond.
    beyond: bool,
    /// It still is.
    border: bool,
}

/// Metres beyond a border that are none.
const TOUCH: f64 = 1e-8;

impl Borders {
    fn new(opts: &Keys) -> Borders {
        let mode = |key| match opts.get(key) {
            Some(0.0) => Mode::None,
            Some(1.0) => Mode::Zero,
            Some(3.0) => Mode::Repeat,
            Some(4.0) => Mode::Reflect,
            _ => Mode::Keep,
        };
        Borders {
            modes: [mode("border_mode_u"), mode("border_mode_v")],
            offsets: [opts.or_zero("border_offset_u"), opts.or_zero("border_offset_v")],
            fades: [opts.or_zero("border_smooth_ubeg"), opts.or_zero("border_smooth_uend")],
        }
    }
}

impl Mode {
    /// Where a number lies; none where there is nothing.
    fn on(self, at: f64, first: f64, last: f64) -> Option<On> {
        let near = at.clamp(first, last);
        if (at - near).abs() < TOUCH {
            return Some(On { at: near, beyond: false, border: false });
        }
        let size = last - first;
        let turned = match self {
            Mode::None => return None,
            Mode::Zero | Mode::Keep => return Some(On { at, beyond: true, border: true }),
            Mode::Repeat => (at - first).rem_euclid(size),
            Mode::Reflect => {
                let turn = (at - first).rem_euclid(2.0 * size);
                turn.min(2.0 * size - turn)
            }
        };
        Some(On { at: (first + turned).clamp(first, last), beyond: true, border: false })
    }
}

impl Road {
    /// Reads a file, and the file that it names.
    pub fn read(path: &Path) -> Result<Road, ImportError> {
        let head = head::read(path)?;
        Road::new(&head, body::read(&head)?)
    }

    /// Puts a road together, in the order in which the standard applies modifiers.
    pub(super) fn new(head: &Head, mut rows: Rows) -> Result<Road, ImportError> {
        let (mods, opts) = (modifiers(head), head.opts.clone().unwrap_or_default());
        let mut keys = head.road.clone();
        let mut way = body::increment(head)?;
        scale(head, &mods, &mut keys, &mut rows, &mut way)?;
        match mods.get("grid_nan_mode") {
            Some(1.0) => fill(&mut rows, Some(0.0), mods.or_zero("grid_nan_offset")),
            Some(2.0) => fill(&mut rows, None, mods.or_zero("grid_nan_offset")),
            _ => {}
        }
        let line = line(head, &keys, &mut rows, way)?;
        let (start, constant) = (
            keys.or_zero("reference_line_start_z"),
            rows.slope.is_none() && keys.or_zero("reference_line_start_s") == 0.0,
        );
        let base = match constant {
            true => vec![start; rows.count],
            false => climbed(&keys, &rows, way),
        };
        let fade = [base[0], if constant { keys.or_zero("reference_line_end_z") } else { base[rows.count - 1] }];
        let bank = keys.or_zero("reference_line_start_b");
        let banking = rows.banking.take().or_else(|| (bank != 0.0).then(|| vec![bank; rows.count]));
        let mut road = Road {
            first: keys.or_zero("reference_line_start_u"),
            way,
            v: rows.v,
            listed: rows.listed,
            z: rows.z,
            shift: 0.0,
            line,
            base,
            fade,
            banking,
            borders: Borders::new(&opts),
            gap: None,
        };
        road.place_by(head, &mods, constant && keys.get("reference_line_start_z").is_none())?;
        if opts.get("refline_continuation") == Some(1.0) {
            road.gap = road.line.gap(way);
        }
        Ok(road)
    }

    /// Rows across the road.
    pub fn rows(&self) -> usize {
        self.base.len()
    }

    /// Long sections.
    pub fn sections(&self) -> usize {
        self.v.len()
    }

    /// The first and the last u.
    pub fn u_range(&self) -> [f64; 2] {
        [self.first, self.u_of(self.rows() - 1)]
    }

    /// The first and the last v: of the right border, and of the left.
    pub fn v_range(&self) -> [f64; 2] {
        [self.v[0], self.v[self.v.len() - 1]]
    }

    pub(super) fn u_of(&self, row: usize) -> f64 {
        self.first + row as f64 * self.way
    }

    /// The height of a post; none where the file has none.
    pub fn post(&self, row: usize, section: usize) -> Option<f64> {
        let grid = self.z[row * self.v.len() + section];
        if grid.is_nan() {
            return None;
        }
        let bank = self.banking.as_ref().map_or(0.0, |b| b[row] * self.v[section]);
        let z = grid + self.shift + self.base[row] + bank;
        Some(self.faded(z, self.u_of(row), &self.borders))
    }

    /// The height at u and v, beyond the road by its border modes; none where there is none.
    pub fn height_uv(&self, [u, v]: [f64; 2]) -> Option<f64> {
        self.surface(u, v, &self.borders).filter(|z| !z.is_nan())
    }

    /// The height at x and y, beyond the road by its border modes; none where there is none.
    pub fn height_xy(&self, p: [f64; 2]) -> Option<f64> {
        self.height_uv(self.uv(p)?)
    }

    /// Number of a row, of the next, and how far between: of a u on the road.
    fn row(&self, u: f64) -> (usize, usize, f64) {
        let last = self.rows() - 1;
        if let Some(gap) = self.gap.filter(|_| u > self.u_of(last)) {
            return (last, 0, (u - self.u_of(last)) / gap);
        }
        let at = ((u - self.first) / self.way).clamp(0.0, last as f64);
        let row = (at as usize).min(last - 1);
        (row, row + 1, at - row as f64)
    }

    fn surface(&self, u: f64, v: f64, borders: &Borders) -> Option<f64> {
        let ([u0, u1], [v0, v1]) = (self.u_range(), self.v_range());
        let [along, across] = borders.modes;
        let u = match self.gap {
            Some(gap) => On { at: u0 + (u - u0).rem_euclid(u1 - u0 + gap), beyond: false, border: false },
            None => along.on(u, u0, u1)?,
        };
        let wide = across.on(v, v0, v1)?;
        let (a, b, f) = self.row(u.at);
        let between = |list: &[f64]| list[a] + f * (list[b] - list[a]);
        let zero = [u.border && along == Mode::Zero, wide.border && across == Mode::Zero];
        let mut z = between(&self.base);
        if zero == [false; 2] {
            z += self.grid([a, b], f, wide.at.clamp(v0, v1)) + self.shift;
        }
        if let Some(banking) = self.banking.as_ref().filter(|_| !zero[0]) {
            // listed sections that repeat are banked as the border is
            let at = if self.listed { v } else { wide.at };
            z += between(banking) * at.clamp(v0, v1);
        }
        if u.border || wide.border {
            // that of u says how
            let mode = if u.border { along } else { across };
            let offset = |on: &On, k: usize| if on.beyond { borders.offsets[k] } else { 0.0 };
            let offset = offset(&u, 0) + offset(&wide, 1);
            z = if mode == Mode::Zero { offset } else { z + offset };
        }
        Some(self.faded(z, u.at, borders))
    }

    /// The number between two rows, at a v of the grid.
    fn grid(&self, rows: [usize; 2], f: f64, v: f64) -> f64 {
        let j = self.v[1..self.v.len() - 1].partition_point(|own| *own <= v);
        let g = (v - self.v[j]) / (self.v[j + 1] - self.v[j]);
        let post = |row: usize, j: usize| self.z[row * self.v.len() + j];
        let [low, high] = rows.map(|row| post(row, j) + g * (post(row, j + 1) - post(row, j)));
        low + f * (high - low)
    }

    /// The file's own number at u and v, beyond the grid that at its border; none in a hole.
    pub(super) fn number(&self, [u, v]: [f64; 2]) -> Option<f64> {
        let ([u0, u1], [v0, v1]) = (self.u_range(), self.v_range());
        let (a, b, f) = self.row(u.clamp(u0, u1));
        Some(self.grid([a, b], f, v.clamp(v0, v1))).filter(|number| !number.is_nan())
    }

    /// The height that fades into that of the reference line at the ends.
    fn faded(&self, z: f64, u: f64, borders: &Borders) -> f64 {
        let [first, last] = self.u_range();
        let mut zone = None;
        for (k, way) in [u - first, last - u].into_iter().enumerate() {
            let length = borders.fades[k];
            if length > 0.0 && way <= length {
                zone = Some((self.fade[k], way.max(0.0) / length));
            }
        }
        zone.map_or(z, |(base, share)| base + (z - base) * share)
    }

    /// The place at u and v.
    pub fn xy(&self, [u, v]: [f64; 2]) -> [f64; 2] {
        let [first, last] = self.u_range();
        let u = match self.gap {
            Some(gap) => first + (u - first).rem_euclid(last - first + gap),
            None if u < first => return self.line.ends[0].place(u - first, v),
            None if u > last => return self.line.ends[1].place(u - last, v),
            None => u,
        };
        let (a, b, f) = self.row(u);
        let [from, to] = if b == a + 1 { self.line.cuts(a) } else { [a, b].map(|row| self.line.cut(row)) };
        let ([x, y], [p, q]) = (from.at(v), to.at(v));
        [x + f * (p - x), y + f * (q - y)]
    }

    /// u and v of a place, beside the nearest part of the reference line.
    pub fn uv(&self, p: [f64; 2]) -> Option<[f64; 2]> {
        let [first, last] = self.u_range();
        let found = |share: f64, v: f64, row: usize| {
            let u = self.first + (row as f64 + share) * self.way;
            (u.is_finite() && v.is_finite()).then_some([u, v])
        };
        let on = |at: Found| match at {
            Found::Within { row, share, v } => found(share, v, row),
            Found::Before([along, v]) => Some([first + along, v]),
            Found::Behind([along, v]) => Some([last + along, v]),
        };
        if !p.iter().all(|v| v.is_finite()) {
            return None;
        }
        let at = self.line.find(p, self.line.near(p));
        let other = match (&at, self.gap) {
            (Found::Before(_), Some(_)) => self.rows() - 1,
            (Found::Behind(_), Some(_)) => 1,
            _ => return on(at),
        };
        let gap = self.gap.filter(|gap| *gap > 0.0);
        match gap.and_then(|gap| Some((gap, self.line.in_gap(p)?))) {
            Some((gap, [share, v])) => Some([last + share * gap, v]),
            None => on(self.line.find(p, other)),
        }
    }

    /// The line across at a row.
    pub(super) fn cut(&self, row: usize) -> Cut {
        self.line.cut(row)
    }

    /// Moves the road as its modifiers say.
    fn place_by(&mut self, head: &Head, mods: &Keys, free: bool) -> Result<(), ImportError> {
        const REFPOINT: &[&str] = &[
            "refpoint_x",
            "refpoint_y",
            "refpoint_z",
            "refpoint_phi",
            "refpoint_u",
            "refpoint_u_fraction",
            "refpoint_v",
            "refpoint_v_fraction",
        ];
        let dz = if mods.has(REFPOINT) {
            let ([u0, u1], [v0, v1]) = (self.u_range(), self.v_range());
            let own = |share: &str, at: &str, off: &str, first: f64, last: f64, zero: f64| match mods.get(share) {
                Some(share) => first + share * (last - first) + mods.or_zero(off),
                None => mods.get(at).unwrap_or(zero),
            };
            let u = own("refpoint_u_fraction", "refpoint_u", "refpoint_u_offset", u0, u1, u0);
            let v = own("refpoint_v_fraction", "refpoint_v", "refpoint_v_offset", v0, v1, 0.0);
            let from = self.xy([u, v]);
            let z = self.surface(u, v, &self.borders).unwrap_or(0.0);
            if z.is_nan() {
                let cause = "its reference point lies where the file has no height";
                return Err(ImportError::input(
                    head.file(),
                    cause,
                    "write REFPOINT_U or REFPOINT_V below $ROAD_CRG_MODS",
                ));
            }
            let angle = mods.or_zero("refpoint_phi") - self.heading(u);
            let way = [mods.or_zero("refpoint_x") - from[0], mods.or_zero("refpoint_y") - from[1]];
            self.line.move_by(from, angle, way);
            mods.or_zero("refpoint_z") - z
        } else {
            let [x, y] = self.line.ends[0].at;
            let about = [mods.get("refline_rotcenter_x").unwrap_or(x), mods.get("refline_rotcenter_y").unwrap_or(y)];
            let way = [mods.or_zero("refline_offset_x"), mods.or_zero("refline_offset_y")];
            let angle = mods.or_zero("refline_offset_phi");
            if angle != 0.0 || way != [0.0; 2] {
                self.line.move_by(about, angle, way);
            }
            mods.or_zero("refline_offset_z")
        };
        if free {
            self.shift += dz;
        } else {
            self.base.iter_mut().chain(&mut self.fade).for_each(|z| *z += dz);
        }
        Ok(())
    }

    /// Heading of the reference line at u. Near its ends it is that of the end.
    fn heading(&self, u: f64) -> f64 {
        let row = (((u - self.first) / self.way).max(0.0) as usize).min(self.rows() - 2);
        let near = ((0.5 / self.way) as usize).max(1);
        let [first, last] = &self.line.ends;
        if near > row {
            first.phi
        } else if row + near >= self.line.phi.len() {
            last.phi
        } else {
            self.line.phi[row + 1]
        }
    }
}

/// The modifiers of a file, or those that hold where it has none: the road begins at zero, and posts without a height
/// have that of the next one.
pub(super) fn modifiers(head: &Head) -> Keys {
    head.mods.clone().unwrap_or_else(|| {
        let mut keys = Keys::default();
        keys.set("grid_nan_mode", 2.0);
        ["refpoint_x", "refpoint_y", "refpoint_z", "refpoint_phi"].iter().for_each(|key| keys.set(key, 0.0));
        keys
    })
}

/// Scales what is to be scaled. Ends that the file states do not hold then.
fn scale(head: &Head, mods: &Keys, keys: &mut Keys, rows: &mut Rows, way: &mut f64) -> Result<(), ImportError> {
    let times = |list: &mut [f64], k: f64| list.iter_mut().for_each(|v| *v *= k);
    if let Some(k) = mods.get("scale_z_grid") {
        times(&mut rows.z, k);
    }
    if let Some(k) = mods.get("scale_slope") {
        times(rows.slope.as_deref_mut().unwrap_or_default(), k);
        keys.times("reference_line_start_s", k);
        keys.forget("reference_line_end_z");
    }
    if let Some(k) = mods.get("scale_banking") {
        times(rows.banking.as_deref_mut().unwrap_or_default(), k);
        keys.times("reference_line_start_b", k);
    }
    for key in ["scale_length", "scale_width"] {
        if let Some(k) = mods.get(key).filter(|k| *k <= 0.0) {
            return Err(mods.fault(key, format!("{key} is {k}"), "write a factor of more than zero"));
        }
    }
    for key in ["scale_length", "scale_curvature"] {
        if mods.has(&[key]) && rows.x.is_some() {
            let cause = format!("{key} is of reference lines with headings, and this one has x and y");
            return Err(mods.fault(key, cause, "leave it out"));
        }
    }
    if let Some(k) = mods.get("scale_length") {
        *way *= k;
        ["x", "y", "z"].iter().for_each(|axis| keys.forget(&format!("reference_line_end_{axis}")));
    }
    if let Some(k) = mods.get("scale_width") {
        times(&mut rows.v, k);
    }
    if let Some(k) = mods.get("scale_curvature") {
        let first = keys.or_zero("reference_line_start_phi");
        rows.phi.iter_mut().flatten().skip(1).for_each(|phi| *phi = first + k * (*phi - first));
        ["x", "y", "phi"].iter().for_each(|axis| keys.forget(&format!("reference_line_end_{axis}")));
    }
    let is_number = rows.z.iter().chain(&rows.v).all(|z| z.is_nan() || z.is_finite()) && way.is_finite();
    if !is_number {
        return Err(ImportError::input(head.file(), "its scales make numbers without end", "write smaller ones"));
    }
    Ok(())
}

/// Gives posts without a height one: a number, or that of the next post of their row, first that to the right.
fn fill(rows: &mut Rows, with: Option<f64>, offset: f64) {
    // the first height that is kept to the left has the offset, and the others have it from there; as the library of
    // the standard does, one that is kept to the right carries that into the next row
    let mut has_offset = false;
    let keep = |own: &mut f64, next: f64, has_offset: &mut bool| {
        *own = with.unwrap_or(next);
        if with.is_some() {
            *own += offset;
        } else if !own.is_nan() && !*has_offset {
            *own += offset;
            *has_offset = true;
        }
    };
    for row in rows.z.chunks_exact_mut(rows.v.len()) {
        for j in 1..row.len() {
            if row[j].is_nan() {
                let next = row[j - 1];
                keep(&mut row[j], next, &mut has_offset);
            }
        }
        has_offset = false;
        for j in (1..row.len()).rev() {
            if row[j - 1].is_nan() && !row[j].is_nan() {
                let next = row[j];
                keep(&mut row[j - 1], next, &mut has_offset);
            }
        }
    }
}

/// Heights of a reference line with slopes.
fn climbed(keys: &Keys, rows: &Rows, way: f64) -> Vec<f64> {
    let constant = keys.or_zero("reference_line_start_s");
    let rise = |i: usize| rows.slope.as_ref().map_or(constant, |slope| slope[i]) * way;
    let last = rows.count - 1;
    let mut z = vec![keys.or_zero("reference_line_start_z"); rows.count];
    let Some(end) = keys.get("reference_line_end_z") else {
        (0..last).for_each(|i| z[i + 1] = z[i] + rise(i + 1));
        return z;
    };
    let start = z[0];
    z[last] = end;
    (1..=last).rev().for_each(|i| z[i - 1] = z[i] - rise(i));
    z[0] = start;
    // the end stays; before it the error is spread as the library of the standard does it
    for i in 0..last - 1 {
        let share = i as f64 / last as f64;
        z[i + 1] = (1.0 - share) * (z[i] + rise(i + 1)) + share * z[i + 1];
    }
    z
}

/// The reference line: by places, by headings, or straight.
fn line(head: &Head, keys: &Keys, rows: &mut Rows, way: f64) -> Result<Line, ImportError> {
    let [x0, y0] = ["reference_line_start_x", "reference_line_start_y"].map(|key| keys.or_zero(key));
    let end = keys.get("reference_line_end_x").zip(keys.get("reference_line_end_y")).map(|(x, y)| [x, y]);
    let phi0 = keys.or_zero("reference_line_start_phi");
    let last = rows.count - 1;
    let same = |a: &[f64; 2], b: &[f64; 2]| a == b;
    let turned_back = |points: &[[f64; 2]]| {
        (1..=last).find(|i| same(&points[*i], &points[i - 1]) || *i < last && same(&points[i + 1], &points[i - 1]))
    };
    let (points, phi, ends) = if let (Some(x), Some(y)) = (rows.x.take(), rows.y.take()) {
        let mut points: Vec<[f64; 2]> = x.into_iter().zip(y).map(|(x, y)| [x, y]).collect();
        if points[0].iter().any(|v| v.is_nan()) {
            points[0] = [x0, y0];
        }
        let towards = |a: usize, b: usize| atan2(points[b][1] - points[a][1], points[b][0] - points[a][0]);
        let phi: Vec<f64> = (0..=last).map(|i| towards(i.saturating_sub(1), i.max(1))).collect();
        let phi_at = |key, own| keys.get(key).unwrap_or(own);
        let first = End::new(points[0], phi_at("reference_line_start_phi", phi[0]));
        let ends = [first, End::new(points[last], phi_at("reference_line_end_phi", phi[last]))];
        (points, phi, ends)
    } else if let Some(mut phi) = rows.phi.take() {
        phi[0] = phi0;
        let points = Line::from_headings(&phi, way, [x0, y0], end);
        let phi1 = keys.get("reference_line_end_phi").unwrap_or(phi[last]);
        let ends = [End::new([x0, y0], phi0), End::new(points[last], phi1)];
        (points, phi, ends)
    } else {
        let start = End::new([x0, y0], phi0);
        let points: Vec<[f64; 2]> = (0..=last).map(|i| start.place(i as f64 * way, 0.0)).collect();
        let far = end.map_or(0.0, |[x, y]| libm::hypot(x - points[last][0], y - points[last][1]));
        if far > way {
            let cause =
                format!("it has no headings, and straight on it ends {far:.3} m from reference_line_end_x and y");
            return Err(keys.fault("reference_line_end_x", cause, "write REFERENCE_LINE_START_PHI"));
        }
        let ends = [start, End::new(end.unwrap_or(points[last]), keys.get("reference_line_end_phi").unwrap_or(phi0))];
        (points, Vec::new(), ends)
    };
    if let Some(row) = turned_back(&points) {
        let cause = format!("its reference line does not go on at row {}", row + 1);
        return Err(ImportError::input(head.file(), cause, "export it with places along the road"));
    }
    Ok(Line { points, phi, ends })
}
