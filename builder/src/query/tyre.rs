//! Tyres as they are typed, and what they stand on as columns.

use hardpan::{Axes, Contact, ContactPoint, Lattice, Method, Pose, Terrain, Tyre, Wheel};

/// A tyre as it is typed: radius, width and a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TyreSpec {
    pub radius: f64,
    pub width: f64,
    pub method: MethodName,
    /// Whether nobody typed the method.
    pub by_default: bool,
}

/// How it looks for ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MethodName {
    Point,
    Points10,
    Columns(Lattice),
    Strips,
}

/// The names of the methods.
pub const METHODS: [(&str, MethodName); 6] = [
    ("point", MethodName::Point),
    ("points10", MethodName::Points10),
    ("columns16", MethodName::Columns(Lattice::Columns16)),
    ("columns64", MethodName::Columns(Lattice::Columns64)),
    ("columns256", MethodName::Columns(Lattice::Columns256)),
    ("strips", MethodName::Strips),
];

/// Two rows of five points, whose weights are a parabola along the wheel.
pub const TEN: [ContactPoint; 10] = {
    const fn at(x: f64, y: f64, weight: f64) -> ContactPoint {
        ContactPoint { at: [x, y, 0.0], weight }
    }
    [
        at(-0.08, 0.08, 0.36),
        at(-0.04, 0.08, 0.84),
        at(0.0, 0.08, 1.0),
        at(0.04, 0.08, 0.84),
        at(0.08, 0.08, 0.36),
        at(-0.08, -0.08, 0.36),
        at(-0.04, -0.08, 0.84),
        at(0.0, -0.08, 1.0),
        at(0.04, -0.08, 0.84),
        at(0.08, -0.08, 0.36),
    ]
};

impl TyreSpec {
    /// `radius,width[,method]` in metres.
    pub fn read(text: &str) -> Result<Self, String> {
        let fields: Vec<&str> = text.split(',').map(str::trim).collect();
        let (radius, width, method) = match fields[..] {
            [radius, width] => (radius, width, None),
            [radius, width, method] => (radius, width, Some(method)),
            _ => return Err("a tyre is RADIUS,WIDTH[,METHOD] in metres, as in 0.3,0.25,strips".into()),
        };
        let size = |what: &str, text: &str| match text.parse::<f64>() {
            Ok(v) if v > 0.0 && v <= 100.0 => Ok(v),
            _ => Err(format!("a tyre's {what} is a number of metres above 0 and at most 100, and not {text:?}")),
        };
        let (radius, width) = (size("radius", radius)?, size("width", width)?);
        let by_default = method.is_none();
        let method = method.unwrap_or("strips");
        let known = METHODS.iter().find(|(name, _)| *name == method);
        let names = METHODS.map(|(name, _)| name).join(", ");
        let (_, method) = known.ok_or_else(|| format!("a method is one of {names}, and not {method:?}"))?;
        Ok(TyreSpec { radius, width, method: *method, by_default })
    }

    /// The tyre on this image: by default strips, and 64 columns where the image has height fields.
    pub fn on(&self, t: &Terrain) -> Self {
        match self.by_default && t.header().patch_blocks > 0 {
            true => TyreSpec { method: MethodName::Columns(Lattice::Columns64), ..*self },
            false => *self,
        }
    }

    /// The same as the kernel takes it.
    pub fn tyre(&self) -> Tyre<'static> {
        let method = match self.method {
            MethodName::Point => Method::Points(&[]),
            MethodName::Points10 => Method::Points(&TEN),
            MethodName::Columns(lattice) => Method::Columns(lattice),
            MethodName::Strips => Method::STRIPS,
        };
        Tyre { method, ..Tyre::new(self.radius, self.width) }
    }

    /// Contact of the tyre.
    pub fn contact(&self, t: &Terrain, pose: Pose) -> Contact {
        t.contact(&self.tyre(), &Wheel::at(pose))
    }
}

/// Axes by name.
pub fn axes(name: &str) -> Result<Axes, String> {
    let names = Axes::ALL.map(Axes::name).join(", ");
    Axes::named(name).ok_or_else(|| format!("axes are one of {names}, and not {name:?}"))
}

/// A contact in other axes; its height goes along their upward axis.
pub fn in_axes(axes: Axes, c: &Contact) -> Contact {
    let [normal, plane, patch_centre] = [c.normal, c.plane, c.patch_centre].map(|v| axes.world_out(v).map(|v| v + 0.0));
    let height = axes.world_out([0.0, 0.0, c.height]).into_iter().sum();
    Contact { height, normal, plane, patch_centre, ..*c }
}

/// A pose of angles in degrees: yaw to the left, pitch nose down, roll right side down.
pub fn posed(centre: [f64; 3], degrees: [f64; 3]) -> Pose {
    Pose::turned_by(centre, degrees.map(sine_and_cosine))
}

/// Exact at quarter turns.
fn sine_and_cosine(degrees: f64) -> [f64; 2] {
    let turned = degrees % 360.0;
    match turned.rem_euclid(360.0) {
        0.0 => [0.0, 1.0],
        90.0 => [1.0, 0.0],
        180.0 => [0.0, -1.0],
        270.0 => [-1.0, 0.0],
        _ => [libm::sin(turned.to_radians()), libm::cos(turned.to_radians())],
    }
}

/// A value of a column.
pub enum Cell<'t> {
    Number(f64),
    Whole(u32),
    Flag(bool),
    Word(&'t str),
    /// Three numbers: columns of their own in CSV.
    Vector([f64; 3]),
    None,
}

/// A column: its name and unit.
pub struct Column {
    pub name: &'static str,
    pub unit: &'static str,
    /// Whether it is three.
    pub vector: bool,
    pub value: for<'t> fn(&Terrain<'t>, &Contact) -> Cell<'t>,
}

const fn number(
    name: &'static str,
    unit: &'static str,
    value: for<'t> fn(&Terrain<'t>, &Contact) -> Cell<'t>,
) -> Column {
    Column { name, unit, vector: false, value }
}

const fn vector(
    name: &'static str,
    unit: &'static str,
    value: for<'t> fn(&Terrain<'t>, &Contact) -> Cell<'t>,
) -> Column {
    Column { name, unit, vector: true, value }
}

/// All columns of a contact behind its status, in their order.
pub static COLUMNS: [Column; 20] = [
    number("height", "m", |_, c| Cell::Number(c.height)),
    vector("normal", "", |_, c| Cell::Vector(c.normal)),
    vector("plane", "", |_, c| Cell::Vector(c.plane)),
    vector("patch", "m", |_, c| Cell::Vector(c.patch_centre)),
    number("patch_valid", "", |_, c| Cell::Flag(c.patch_valid)),
    number("penetration", "m", |_, c| Cell::Number(c.penetration)),
    number("loaded_radius", "m", |_, c| Cell::Number(c.loaded_radius)),
    number("volume", "m3", |_, c| Cell::Number(c.volume)),
    number("mu", "", |_, c| Cell::Number(c.mu)),
    number("rr", "", |_, c| Cell::Number(c.rolling)),
    number("gain", "", |_, c| Cell::Number(c.gain)),
    number("surface_type", "", |_, c| Cell::Whole(c.surface.into())),
    number("cone_index", "psi", |t, c| match t.materials().get(usize::from(c.material)) {
        Some(m) if m.cone_index > 0.0 => Cell::Number(m.cone_index),
        _ => Cell::None,
    }),
    number("label", "", |t, c| match t.materials().get(usize::from(c.material)) {
        Some(m) => Cell::Whole(m.label),
        None => Cell::None,
    }),
    number("material", "", |t, c| Cell::Word(t.material_name(c.material))),
    number("source", "", |t, c| Cell::Word(t.source_name(c.source))),
    number("hd_share", "", |_, c| Cell::Number(c.hd_share)),
    number("coverage", "", |_, c| Cell::Number(c.coverage)),
    number("error", "m", |_, c| Cell::Number(c.error)),
    number("tests", "", |_, c| Cell::Whole(c.cost.tests)),
];

impl Column {
    /// Names of its columns in CSV.
    pub fn names(&self) -> Vec<String> {
        match self.vector {
            true => ["x", "y", "z"].map(|part| format!("{}_{part}", self.name)).into(),
            false => vec![self.name.into()],
        }
    }
}
