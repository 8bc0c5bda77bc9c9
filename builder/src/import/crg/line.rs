//! The reference line: where each row lies, and the way between places on it and beside it.

use libm::sincos;

/// Places of the rows, and how the line goes on at its ends.
#[derive(Clone, Debug)]
pub struct Line {
    pub points: Vec<[f64; 2]>,
    /// Heading of each row; empty where the file has none.
    pub phi: Vec<f64>,
    pub ends: [End; 2],
}

/// An end, straight beyond.
#[derive(Clone, Copy, Debug)]
pub struct End {
    pub at: [f64; 2],
    pub phi: f64,
    /// Cosine and sine of that.
    turn: [f64; 2],
}

impl End {
    pub fn new(at: [f64; 2], phi: f64) -> End {
        let (sin, cos) = sincos(phi);
        End { at, phi, turn: [cos, sin] }
    }

    /// The place so far along and to the left.
    pub fn place(&self, along: f64, left: f64) -> [f64; 2] {
        let ([x, y], [cos, sin]) = (self.at, self.turn);
        [x + along * cos - left * sin, y + along * sin + left * cos]
    }

    /// How far a place is along, and to the left.
    fn back(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let ([dx, dy], [cos, sin]) = ([x - self.at[0], y - self.at[1]], self.turn);
        [dx * cos + dy * sin, dy * cos - dx * sin]
    }
}

fn to(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [b[0] - a[0], b[1] - a[1]]
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

/// The unit vector to the left of a direction.
fn left_of(way: [f64; 2]) -> [f64; 2] {
    let length = dot(way, way).sqrt();
    [-way[1] / length, way[0] / length]
}

/// The vector from one row's line to a place, by the way between rows: both lie on `from` + v * `left`.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    pub from: [f64; 2],
    pub left: [f64; 2],
}

impl Cut {
    pub fn at(&self, v: f64) -> [f64; 2] {
        [self.from[0] + v * self.left[0], self.from[1] + v * self.left[1]]
    }
}

/// Where along the line a place lies.
pub enum Found {
    /// Behind this row, so far of the way to the next, and so far to the left.
    Within { row: usize, share: f64, v: f64 },
    /// Before the first row: so far along, and to the left.
    Before([f64; 2]),
    /// Behind the last one.
    Behind([f64; 2]),
}

impl Line {
    /// Places from headings; the file may state where the line ends, and then the error is spread over its length.
    pub fn from_headings(phi: &[f64], way: f64, start: [f64; 2], end: Option<[f64; 2]>) -> Vec<[f64; 2]> {
        let last = phi.len() - 1;
        let step = |i: usize| {
            let (sin, cos) = sincos(phi[i]);
            [way * cos, way * sin]
        };
        let mut points = vec![start; phi.len()];
        if let Some(end) = end {
            points[last] = end;
            for i in (1..=last).rev() {
                points[i - 1] = to(step(i), points[i]);
            }
            points[0] = start;
        }
        for i in 0..last {
            let ([x, y], [dx, dy]) = (points[i], step(i + 1));
            let ahead = [x + dx, y + dy];
            let share = if end.is_some() { (i + 1) as f64 / last as f64 } else { 0.0 };
            points[i + 1] = [0, 1].map(|k| (1.0 - share) * ahead[k] + share * points[i + 1][k]);
        }
        points
    }

    pub fn last(&self) -> usize {
        self.points.len() - 1
    }

    /// Turns all by an angle about a place, and moves it.
    pub fn move_by(&mut self, about: [f64; 2], angle: f64, [dx, dy]: [f64; 2]) {
        let (sin, cos) = sincos(angle);
        let moved = |p: [f64; 2]| {
            let [x, y] = to(about, p);
            [about[0] + x * cos - y * sin + dx, about[1] + x * sin + y * cos + dy]
        };
        self.points.iter_mut().for_each(|p| *p = moved(*p));
        self.phi.iter_mut().for_each(|phi| *phi += angle);
        self.ends = self.ends.map(|end| End::new(moved(end.at), end.phi + angle));
    }

    /// The direction of the line at a row, from the one before to the one behind.
    fn way(&self, row: usize) -> [f64; 2] {
        to(self.points[row.saturating_sub(1)], self.points[(row + 1).min(self.last())])
    }

    /// The lines across at both ends of the way from a row to the next: so that lines beside it are parallel to it.
    pub fn cuts(&self, row: usize) -> [Cut; 2] {
        let own = left_of(to(self.points[row], self.points[row + 1]));
        [row, row + 1].map(|i| {
            let left = left_of(self.way(i));
            let stretch = dot(left, own);
            // a line that turns back has no such lines
            let left = if stretch.abs() > 1e-10 { left.map(|v| v / stretch) } else { left };
            Cut { from: self.points[i], left }
        })
    }

    /// The line across at a row.
    pub fn cut(&self, row: usize) -> Cut {
        if row < self.last() { self.cuts(row)[0] } else { self.cuts(row - 1)[1] }
    }

    /// The row of every ten that is nearest to a place.
    pub fn near(&self, p: [f64; 2]) -> usize {
        let far = |row: &usize| {
            let d = to(p, self.points[*row]);
            dot(d, d)
        };
        let rows = (0..=self.last()).step_by(10).chain([self.last()]);
        rows.min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or_default()
    }

    /// Where a place lies, looked for from a row on.
    pub fn find(&self, p: [f64; 2], from: usize) -> Found {
        let ahead = |row: usize| dot(to(self.points[row], p), self.way(row));
        let mut row = from.clamp(1, self.last());
        while row < self.last() && ahead(row) > 0.0 {
            row += 1;
        }
        while row > 1 && ahead(row - 1) < 0.0 {
            row -= 1;
        }
        let (a, b) = (row - 1, row);
        let own = to(self.points[a], self.points[b]);
        let v = cross(own, to(self.points[a], p)) / dot(own, own).sqrt();
        let behind = ahead(a) / dot(self.way(a), own);
        let before = -ahead(b) / dot(self.way(b), own);
        let share = behind / (behind + before);
        match share {
            share if a == 0 && share < 0.0 => Found::Before(self.ends[0].back(p)),
            share if b == self.last() && share > 1.0 => Found::Behind(self.ends[1].back(p)),
            share => Found::Within { row: a, share, v },
        }
    }

    /// Metres between the ends of a line that is to be closed; none if these do not face each other.
    pub fn gap(&self, way: f64) -> Option<f64> {
        let [first, last] = self.ends;
        let away = to(last.at, first.at);
        let gap = dot(away, away).sqrt();
        if gap <= 1e-6 * way {
            return Some(0.0);
        }
        let ahead = [dot(away, first.turn), dot(away, last.turn)];
        let faces = dot(first.turn, last.turn) > 0.5 && ahead.iter().all(|way| *way > 0.0);
        (faces && gap <= 10.0 * way).then_some(gap)
    }

    /// Where between the last row and the first a place lies: share of the way, and v.
    pub fn in_gap(&self, p: [f64; 2]) -> Option<[f64; 2]> {
        let [a, b] = [self.cut(self.last()), self.cut(0)];
        let (own, turn) = (to(a.from, b.from), to(a.left, b.left));
        // p - a.from - s own lies along a.left + s turn: a square equation in s
        let away = to(a.from, p);
        let [zero, one, two] = [cross(away, a.left), cross(away, turn) - cross(own, a.left), -cross(own, turn)];
        let roots = match two.abs() > 1e-12 * one.abs() {
            false => [-zero / one; 2],
            true => {
                let root = (one * one - 4.0 * two * zero).sqrt();
                let sum = -0.5 * (one + root.copysign(one));
                [sum / two, zero / sum]
            }
        };
        let share = roots.into_iter().find(|s| (-1e-9..=1.0 + 1e-9).contains(s))?.clamp(0.0, 1.0);
        let left = [0, 1].map(|k| a.left[k] + share * turn[k]);
        let from = [0, 1].map(|k| a.from[k] + share * own[k]);
        Some([share, dot(to(from, p), left) / dot(left, left)])
    }
}
