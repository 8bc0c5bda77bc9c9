//! How a file's numbers become metres, east, north and up.

use std::{fmt, str::FromStr};

/// The axis of a file that points up, with its sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Up {
    /// (x, y, z) becomes (-z, y, x).
    X,
    /// (x, y, z) becomes (x, -z, y).
    Y,
    /// Stays.
    #[default]
    Z,
    /// (x, y, z) becomes (z, y, -x).
    NegX,
    /// (x, y, z) becomes (x, z, -y).
    NegY,
    /// (x, y, z) becomes (x, -y, -z).
    NegZ,
}

impl Up {
    /// Names of frames.
    pub const NAMES: [&str; 6] = ["x", "y", "z", "-x", "-y", "-z"];
    /// Further names, for each.
    pub const ALIASES: [&[&str]; 6] = [&["+x"], &["+y"], &["+z"], &[], &[], &[]];
    pub(crate) const ALL: [Up; 6] = [Up::X, Up::Y, Up::Z, Up::NegX, Up::NegY, Up::NegZ];

    /// Where it stands in [`Axes`].
    const fn axes(self) -> Axes {
        let [x, y, z] = [Up::X, Up::Y, Up::Z];
        let [minus_x, minus_y, minus_z] = [Up::NegX, Up::NegY, Up::NegZ];
        Axes(match self {
            Up::X => [minus_z, y, x],
            Up::Y => [x, minus_z, y],
            Up::Z => [x, y, z],
            Up::NegX => [z, y, minus_x],
            Up::NegY => [x, z, minus_y],
            Up::NegZ => [x, minus_y, minus_z],
        })
    }

    /// Which of x, y and z, and whether it is turned round.
    const fn place(self) -> (usize, bool) {
        (self as usize % 3, self as usize > 2)
    }
}

/// The signed axes of a file that become x, y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axes([Up; 3]);

impl Axes {
    /// A frame of a file's right, front (seen from outside) and up axes; none if two of them are one.
    #[cfg(any(test, feature = "fbx"))] // an OBJ has none of its own
    pub fn new(right: Up, front: Up, up: Up) -> Option<Axes> {
        let back = Up::ALL[(front as usize + 3) % 6];
        let places = [right, back, up].map(|axis| axis.place().0);
        (places[0] != places[1] && places[1] != places[2] && places[2] != places[0]).then_some(Axes([right, back, up]))
    }

    #[inline]
    fn apply(self, p: [f64; 3]) -> [f64; 3] {
        self.0.map(|axis| {
            let (place, negative) = axis.place();
            if negative { -p[place] } else { p[place] }
        })
    }

    /// Whether right-handed axes become left-handed.
    fn mirror(self) -> bool {
        let [a, b, _] = self.0.map(|axis| axis.place().0);
        (b != (a + 1) % 3) ^ (self.0.iter().filter(|axis| axis.place().1).count() % 2 == 1)
    }
}

/// The axes that become x, y and z: `x, -z, y`.
impl fmt::Display for Axes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}", self.0[0], self.0[1], self.0[2])
    }
}

/// Frame of a file's numbers when nobody states one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Native {
    pub axes: Axes,
    /// Metres of a unit, as a ratio.
    pub unit: (f64, f64),
    /// Whether the file says its axes itself.
    pub says_axes: bool,
    /// Whether the file says its unit itself.
    pub says_unit: bool,
}

impl Native {
    /// As a format has it whose files say neither.
    pub const fn silent(up: Up, unit: Unit) -> Native {
        Native { axes: up.axes(), unit: unit.ratio(), says_axes: false, says_unit: false }
    }
}

impl FromStr for Up {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        position(&Self::NAMES, &Self::ALIASES, text)
            .map(|i| Self::ALL[i])
            .ok_or_else(|| format!("an axis is one of {}", Self::NAMES.join(", ")))
    }
}

impl fmt::Display for Up {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

/// Which of some names, each with others that mean the same, a text is.
fn position(names: &[&str], aliases: &[&[&str]], text: &str) -> Option<usize> {
    let is = |name: &str| name.eq_ignore_ascii_case(text);
    names.iter().zip(aliases).position(|(name, others)| is(name) || others.iter().any(|other| is(other)))
}

/// The unit of a file's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Metre.
    #[default]
    M,
    /// Kilometre.
    Km,
    /// Centimetre.
    Cm,
    /// Millimetre.
    Mm,
    /// International foot, 0.3048 m.
    Ft,
    /// Survey foot of the United States, 1200/3937 m.
    UsFt,
    /// Inch, 0.0254 m.
    In,
}

impl Unit {
    /// Names of units.
    pub const NAMES: [&str; 7] = ["m", "km", "cm", "mm", "ft", "us-ft", "in"];
    /// Further names, for each.
    pub const ALIASES: [&[&str]; 7] = [
        &["metre", "metres", "meter", "meters"],
        &["kilometre", "kilometres", "kilometer", "kilometers"],
        &["centimetre", "centimetres", "centimeter", "centimeters"],
        &["millimetre", "millimetres", "millimeter", "millimeters"],
        &["foot", "feet"],
        &["us-foot", "us-feet"],
        &["inch", "inches"],
    ];
    const ALL: [Unit; 7] = [Unit::M, Unit::Km, Unit::Cm, Unit::Mm, Unit::Ft, Unit::UsFt, Unit::In];

    /// The unit of so many centimetres, to a ten-millionth of it, as a ratio: that of a unit with a name, if it is one.
    #[cfg(any(test, feature = "fbx"))]
    pub(crate) fn of_centimetres(size: f64) -> (f64, f64) {
        let near = |u: &&Unit| {
            let (numerator, denominator) = u.ratio();
            (size * denominator - 100.0 * numerator).abs() <= 1e-7 * 100.0 * numerator
        };
        Self::ALL.iter().find(near).map_or((size, 100.0), |u| u.ratio())
    }

    /// Metres as an exact ratio.
    const fn ratio(self) -> (f64, f64) {
        match self {
            Unit::M => (1.0, 1.0),
            Unit::Km => (1000.0, 1.0),
            Unit::Cm => (1.0, 100.0),
            Unit::Mm => (1.0, 1000.0),
            Unit::Ft => (381.0, 1250.0),
            Unit::UsFt => (1200.0, 3937.0),
            Unit::In => (127.0, 5000.0),
        }
    }
}

impl FromStr for Unit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "Mm" {
            return Err("Mm is a megametre; a millimetre is mm".into());
        }
        position(&Self::NAMES, &Self::ALIASES, text)
            .map(|i| Self::ALL[i])
            .ok_or_else(|| format!("a unit is one of {}", Self::NAMES.join(", ")))
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

#[cfg(feature = "heights")]
/// How the heights of a file become ground. What is left out is as the file says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Heights {
    /// Way from post to post, metres.
    pub cell: Option<f64>,
    /// Metres of a step of a height map.
    pub step: Option<f64>,
    /// The height of its step 0, metres.
    pub zero: Option<f64>,
    /// The first row lies in the south.
    pub south_first: bool,
    /// The middle of a height map lies at zero, instead of its south-western post.
    pub centred: bool,
    /// The file's own system, if it does not say it: an EPSG code, or 0 for metres of no system.
    pub file_crs: Option<u32>,
    /// The system of the image: an EPSG code.
    pub crs: Option<u32>,
    /// The number that stands for no height, whatever the file says of it; NaN if none does.
    pub no_data: Option<f64>,
    /// Window of a file: least and greatest x and y, in the file's own plane.
    pub window: Option<[f64; 4]>,
    /// The file stands at places that are stated beside its frame.
    pub elsewhere: bool,
}

/// How a file's numbers become metres, z up.
///
/// In this order, each in f64: `up` turned to z; times `scale`; times the unit's numerator, divided by its denominator;
/// turned by `roll` about x, then by `pitch` about y, then by `rotate` about z; moved by `translate`. The axes stay
/// where they are: they are those of the scene, x east, y north, z up. All turns are right-handed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The file's axis that points up; by default as the file says, or as its format has it: z of an OBJ.
    pub up: Option<Up>,
    /// The file's unit; by default as the file says, or as its format has it: metres of an OBJ.
    pub unit: Option<Unit>,
    /// Factors beside the unit along x, y and z of the scene, none of them zero. A negative one mirrors, and turns
    /// faces over with it.
    pub scale: [f64; 3],
    /// Turn about x, in degrees: a positive one raises what lies to the north; exact at multiples of 90.
    pub roll: f64,
    /// Turn about y, in degrees: a positive one lowers what lies to the east; exact at multiples of 90.
    pub pitch: f64,
    /// Turn about up, in degrees, anticlockwise seen from above; exact at multiples of 90.
    pub rotate: f64,
    /// Way moved after all else, in metres.
    pub translate: [f64; 3],
    /// Options of a file of heights.
    #[cfg(feature = "heights")]
    pub heights: Heights,
}

impl Default for Frame {
    /// As the file says.
    fn default() -> Self {
        Frame {
            up: None,
            unit: None,
            scale: [1.0; 3],
            roll: 0.0,
            pitch: 0.0,
            rotate: 0.0,
            translate: [0.0; 3],
            #[cfg(feature = "heights")]
            heights: Default::default(),
        }
    }
}

impl Frame {
    /// The frame of a file, all that was not said filled in.
    pub(crate) fn transform(&self, native: &Native) -> Transform {
        Transform {
            axes: self.up.map_or(native.axes, Up::axes),
            ratio: self.unit.map_or(native.unit, Unit::ratio),
            scale: self.scale,
            tilt: [self.roll, self.pitch].iter().any(|v| *v != 0.0).then(|| [self.roll, self.pitch].map(cos_sin)),
            turn: cos_sin(self.rotate),
            translate: self.translate,
            says: Says::new(self.up.is_some(), native.says_axes),
            says_unit: Says::new(self.unit.is_some() || self.scale != [1.0; 3], native.says_unit),
        }
    }
}

/// Cosine and sine of an angle in degrees, the same on every machine; exact at multiples of 90.
pub(crate) fn cos_sin(degrees: f64) -> [f64; 2] {
    let (rest, quarters) = libm::remquo(degrees, 90.0); // exact
    let (sin, cos) = libm::sincos(rest * (std::f64::consts::PI / 180.0));
    match quarters.rem_euclid(4) {
        0 => [cos, sin],
        1 => [-sin, cos],
        2 => [-cos, -sin],
        _ => [sin, -cos],
    }
}

/// A [`Frame`] as it holds for one file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    axes: Axes,
    ratio: (f64, f64),
    /// Along x, y and z of the scene.
    scale: [f64; 3],
    /// Cosine and sine of roll and pitch, where there are any.
    tilt: Option<[[f64; 2]; 2]>,
    /// Cosine and sine of the rotation.
    turn: [f64; 2],
    translate: [f64; 3],
    says: Says,
    says_unit: Says,
}

/// Who said which axis points up, or what the unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// It is as the format has it.
    Nobody,
    /// The file itself.
    File,
    /// The [`Frame`].
    Caller,
}

impl Says {
    fn new(caller: bool, file: bool) -> Self {
        match (caller, file) {
            (true, _) => Says::Caller,
            (_, true) => Says::File,
            _ => Says::Nobody,
        }
    }
}

impl Transform {
    /// Numbers that are metres already, z up.
    pub(crate) const NONE: Transform = Transform {
        axes: Up::Z.axes(),
        ratio: (1.0, 1.0),
        scale: [1.0; 3],
        tilt: None,
        turn: [1.0, 0.0],
        translate: [0.0; 3],
        says: Says::Caller,
        says_unit: Says::Caller,
    };

    #[inline]
    pub(crate) fn apply(&self, p: [f64; 3]) -> [f64; 3] {
        let (numerator, denominator) = self.ratio;
        let p = self.axes.apply(p);
        let [mut x, mut y, mut z] = [0, 1, 2].map(|i| p[i] * self.scale[i] * numerator / denominator);
        if let Some([[cos, sin], [along, down]]) = self.tilt {
            (y, z) = (y * cos - z * sin, y * sin + z * cos);
            (z, x) = (z * along - x * down, z * down + x * along);
        }
        let [cos, sin] = self.turn;
        let [dx, dy, dz] = self.translate;
        [x * cos - y * sin + dx, x * sin + y * cos + dy, z + dz]
    }

    /// The file's numbers of a point of the scene, but for rounding.
    pub fn back(&self, p: [f64; 3]) -> [f64; 3] {
        let [x, y, z] = [0, 1, 2].map(|i| p[i] - self.translate[i]);
        let [cos, sin] = self.turn;
        let [mut x, mut y, mut z] = [x * cos + y * sin, y * cos - x * sin, z];
        if let Some([[cos, sin], [along, down]]) = self.tilt {
            (z, x) = (z * along + x * down, x * along - z * down);
            (y, z) = (y * cos + z * sin, z * cos - y * sin);
        }
        let mut all = [0.0; 3];
        for ((axis, v), scale) in self.axes.0.into_iter().zip([x, y, z]).zip(self.scale) {
            let (place, negative) = axis.place();
            all[place] = if negative { -v } else { v } / (scale * self.ratio.0 / self.ratio.1);
        }
        all
    }

    /// Metres of one of the file's numbers along its axis 0, 1 or 2.
    pub fn metres(&self, axis: usize) -> f64 {
        let of = self.axes.0.iter().position(|a| a.place().0 == axis).unwrap_or(axis);
        self.scale[of].abs() * self.ratio.0 / self.ratio.1
    }

    /// Whether faces that are wound one way come out wound the other way, and readers have to turn them.
    pub(crate) fn mirrors(&self) -> bool {
        self.axes.mirror() != (self.scale.iter().filter(|v| **v < 0.0).count() % 2 == 1)
    }

    /// The directions of the file's axes x, y and z in the scene, as unit vectors.
    pub fn axes(&self) -> [[f64; 3]; 3] {
        let t = Transform { ratio: (1.0, 1.0), scale: self.scale.map(f64::signum), translate: [0.0; 3], ..*self };
        [t.apply([1.0, 0.0, 0.0]), t.apply([0.0, 1.0, 0.0]), t.apply([0.0, 0.0, 1.0])]
    }

    /// The file's axis that points up.
    pub fn up(&self) -> Up {
        self.axes.0[2]
    }

    /// Which of the file's numbers of a point is its height: 0, 1 or 2.
    pub fn upright(&self) -> usize {
        self.up().place().0
    }

    /// Who said which axis points up.
    pub fn says(&self) -> Says {
        self.says
    }

    /// Who said what the unit is; a scale other than 1 says it too.
    pub fn says_unit(&self) -> Says {
        self.says_unit
    }
}

/// Words for the transform: `x, -z, y in 1/100 m`.
impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ratio {
            (numerator, 1.0) => write!(f, "{} in {numerator} m", self.axes),
            (numerator, denominator) => write!(f, "{} in {numerator}/{denominator} m", self.axes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJ: Native = Native::silent(Up::Z, Unit::M);

    fn at(frame: Frame) -> [f64; 3] {
        frame.transform(&OBJ).apply([100.0, 200.0, 300.0])
    }

    #[test]
    fn units_are_exact_ratios() {
        let unit = |unit| at(Frame { unit: Some(unit), ..Frame::default() });
        assert_eq!(unit(Unit::Km), [100_000.0, 200_000.0, 300_000.0]);
        assert_eq!(unit(Unit::Cm), [1.0, 2.0, 3.0]);
        assert_eq!(unit(Unit::Mm), [0.1, 0.2, 0.3]);
        assert_eq!(unit(Unit::Ft), [30.48, 60.96, 91.44]);
        assert_eq!(unit(Unit::UsFt), [120_000.0 / 3937.0, 240_000.0 / 3937.0, 360_000.0 / 3937.0]);
        assert_eq!(unit(Unit::In), [2.54, 5.08, 7.62]);
    }

    #[test]
    fn every_axis_can_point_up_and_none_mirrors() {
        for (name, up) in Up::NAMES.iter().zip(Up::ALL) {
            assert_eq!((name.parse(), up.to_string().as_str()), (Ok(up), *name));
            assert_eq!(format!("+{name}").parse().ok(), (!name.starts_with('-')).then_some(up));
            let frame = Frame { up: Some(up), ..Frame::default() }.transform(&OBJ);
            assert_eq!((frame.up(), frame.mirrors(), frame.says()), (up, false, Says::Caller));
            let [a, b, c] = frame.axes();
            let cross: [f64; 3] = std::array::from_fn(|i| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                a[j] * b[k] - a[k] * b[j]
            });
            assert_eq!(cross, c, "{name} keeps right-handed axes");
            let sign = if name.starts_with('-') { -1.0 } else { 1.0 };
            assert_eq!(frame.axes()["xyz".find(&name[name.len() - 1..]).unwrap()], [0.0, 0.0, sign]);
        }
        for ((name, others), unit) in Unit::NAMES.iter().zip(Unit::ALIASES).zip(Unit::ALL) {
            assert_eq!((name.parse(), unit.to_string().as_str()), (Ok(unit), *name));
            others.iter().for_each(|other| assert_eq!(other.parse(), Ok(unit), "{other}"));
        }
        assert!("w".parse::<Up>().unwrap_err().contains("-z") && "yd".parse::<Unit>().unwrap_err().contains("us-ft"));
    }

    #[test]
    fn the_way_back_is_that_of_every_frame() {
        for up in Up::ALL {
            for [roll, pitch] in [[0.0, 0.0], [20.0, 0.0], [0.0, -70.0], [110.0, 40.0]] {
                let frame = Frame {
                    up: Some(up),
                    unit: Some(Unit::UsFt),
                    scale: [3.0, 0.5, 7.0],
                    roll,
                    pitch,
                    rotate: 30.0,
                    translate: [1.0, 2.0, 3.0],
                    ..Frame::default()
                };
                let t = frame.transform(&OBJ);
                let back = t.back(t.apply([100.0, 200.0, 300.0]));
                assert!(back.iter().zip([100.0, 200.0, 300.0]).all(|(a, b)| (a - b).abs() < 1e-9), "{back:?}");
            }
        }
    }

    /// The factors are those of the scene's axes: the third is that of heights, whichever axis of the file is up.
    #[test]
    fn by_14_each_axis_has_its_scale() {
        let frame = |up| Frame { up: Some(up), scale: [2.0, 3.0, 0.5], ..Frame::default() };
        assert_eq!(at(frame(Up::Z)), [200.0, 600.0, 150.0]);
        assert_eq!(at(frame(Up::Y)), [200.0, -900.0, 100.0]);
        let t = frame(Up::Y).transform(&OBJ);
        assert_eq!([0, 1, 2].map(|axis| t.metres(axis)), [2.0, 0.5, 3.0]);
    }

    /// Right, front and up are sent to x, -y and z, whatever they are.
    #[test]
    fn a_file_may_say_all_of_its_axes() {
        let mut count = 0;
        for right in Up::ALL {
            for front in Up::ALL {
                for up in Up::ALL {
                    let Some(axes) = Axes::new(right, front, up) else { continue };
                    count += 1;
                    let native = Native { axes, ..OBJ };
                    let t = Frame::default().transform(&native);
                    let along = |axis: Up| {
                        let (place, negative) = axis.place();
                        let mut p = [0.0; 3];
                        p[place] = if negative { -1.0 } else { 1.0 };
                        t.apply(p)
                    };
                    assert_eq!([along(right), along(front), along(up)], [[1., 0., 0.], [0., -1., 0.], [0., 0., 1.]]);
                    let [a, b, c] = t.axes();
                    let volume: f64 = (0..3)
                        .map(|i| {
                            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                            (a[j] * b[k] - a[k] * b[j]) * c[i]
                        })
                        .sum();
                    assert_eq!(volume < 0.0, t.mirrors(), "{axes}");
                }
            }
        }
        assert_eq!(count, 48);
        // y up with z to the front is what --up y says; what is said goes before the file
        assert_eq!(Axes::new(Up::X, Up::Z, Up::Y), Some(Up::Y.axes()));
        let native = Native { axes: Up::X.axes(), unit: (1.0, 100.0), says_axes: true, says_unit: true };
        let typed = Frame { up: Some(Up::Y), unit: Some(Unit::In), ..Frame::default() };
        assert_eq!(typed.transform(&native), typed.transform(&OBJ));
        assert_eq!([native, OBJ].map(|n| Frame::default().transform(&n).says()), [Says::File, Says::Nobody]);
        assert_eq!(Frame::default().transform(&native).to_string(), "-z, y, x in 1/100 m");
    }

    #[test]
    fn units_by_their_size() {
        for (centimetres, unit) in
            [(1.0, Unit::Cm), (100.0, Unit::M), (99.999_997_764_825_82, Unit::M), (2.54, Unit::In), (30.48, Unit::Ft)]
        {
            assert_eq!(Unit::of_centimetres(centimetres), unit.ratio());
        }
        assert_eq!(Unit::of_centimetres(30.480_060_960_121_92), Unit::UsFt.ratio());
        assert_eq!(Unit::of_centimetres(500.0), (500.0, 100.0));
        assert_eq!(Unit::of_centimetres(2.541), (2.541, 100.0));
    }
}
