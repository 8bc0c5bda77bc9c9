//! Input of an image.

use crate::options::Undersides;
use hardpan::format::feature;

/// mu of a material about which the file says nothing.
pub const DEFAULT_MU: f64 = 0.85;

/// Meshes and height fields, in metres, z up.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Vertex positions.
    pub positions: Vec<[f64; 3]>,
    /// Triangles between them, in any order and winding.
    pub triangles: Vec<Triangle>,
    /// Materials, which triangles and fields number.
    pub materials: Vec<Material>,
    /// Names of files and objects, which triangles and fields number.
    pub sources: Vec<String>,
    /// Regular heights.
    pub fields: Vec<HeightField>,
    /// Ceilings and obstacles that are known as such, as those of an image are. Of `triangles` the builder finds out.
    pub walls: Vec<Wall>,
}

/// A triangle that rays hit and wheels do not stand on; in the winding of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wall {
    /// The triangle.
    pub triangle: Triangle,
    /// Its kind.
    pub kind: WallKind,
}

/// Faces that rays hit and wheels do not stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum WallKind {
    /// It looks down.
    Ceiling = hardpan::format::bundle::CEILING,
    /// It is vertical, too steep, or of an obstacle.
    Obstacle = hardpan::format::bundle::OBSTACLE,
}

/// A triangle of a scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Triangle {
    /// Numbers of its corners.
    pub v: [u32; 3],
    /// Number of its material.
    pub material: u16,
    /// Number of its source.
    pub source: u16,
}

/// A material of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Its name, which orders it in the image.
    pub name: String,
    /// Friction coefficient, 0 or more.
    pub mu: f64,
    /// Rolling resistance, as a factor, 0 or more.
    pub rr: f64,
    /// Gain, as a factor, 0 or more.
    pub gain: f64,
    /// Surface type: one of [`hardpan::format::surface`], or another number of the user.
    pub surface: u16,
    /// Cone index, PSI, 0 or more; zero if not stated, and then 250 in the image of clay and sand.
    pub cone_index: f64,
    /// Class bits for masks.
    pub class_mask: u32,
    /// Label for sensors.
    pub label: u32,
    /// Which of surfaces at one height answers, and of coincident triangles stays: that of the highest priority.
    pub priority: i32,
    /// Its ground hides that of lower precedence which is no farther above or below than the band of the options.
    pub precedence: i16,
    /// Whether its triangles are part of the scene at all.
    pub include: bool,
    /// Whether its triangles are in the way rather than ground: rays hit them, and wheels do not stand on them.
    pub obstacle: bool,
    /// Whether it has no height of its own, and gives friction, type and name to the ground right below it.
    pub friction_only: bool,
    /// Which of its triangles are undersides; by default `Options::undersides`.
    pub undersides: Option<Undersides>,
}

impl Default for Material {
    /// Without a name: ground with mu, rolling resistance and gain 1, nothing else stated.
    fn default() -> Self {
        Material {
            name: String::new(),
            mu: 1.0,
            rr: 1.0,
            gain: 1.0,
            surface: 0,
            cone_index: 0.0,
            class_mask: 0,
            label: 0,
            priority: 0,
            precedence: 0,
            include: true,
            obstacle: false,
            friction_only: false,
            undersides: None,
        }
    }
}

/// What a reader of an image of these materials must understand: one of [`hardpan::format::feature`], or several.
pub(crate) fn features(materials: &[Material]) -> u64 {
    let ground = || materials.iter().filter(|m| m.is_ground());
    let first = ground().find(|m| !m.friction_only).map(Material::standing);
    let differs = ground().any(|m| !m.friction_only && Some(m.standing()) != first);
    let bit = |set: bool, bit: u64| if set { bit } else { 0 };
    bit(differs, feature::PRECEDENCE) | bit(ground().any(|m| m.friction_only), feature::FRICTION_ONLY)
}

/// Whether a number can be a factor or the cone index of a material.
pub(crate) fn is_factor(v: f64) -> bool {
    v >= 0.0 && v.is_finite()
}

impl Material {
    /// Whether its triangles can become ground.
    pub(crate) fn is_ground(&self) -> bool {
        self.include && !self.obstacle
    }

    /// Its rank where several lie over a place: the greater goes first.
    pub(crate) fn standing(&self) -> (i16, i32) {
        (self.precedence, self.priority)
    }

    /// A material of which only the friction is known.
    pub fn new(name: impl Into<String>, mu: f64) -> Self {
        Material { name: name.into(), mu, ..Material::default() }
    }
}

impl Scene {
    /// Bytes of its positions and triangles.
    #[cfg(feature = "command")]
    pub(crate) fn bytes(&self) -> u64 {
        (size_of_val(&self.positions[..]) + size_of_val(&self.triangles[..])) as u64
    }
}

/// Heights at the posts of a square grid, bilinear between them.
#[derive(Clone, Debug, Default)]
pub struct HeightField {
    /// The first post: x and y in metres.
    pub origin: [f64; 2],
    /// Distance between posts in metres.
    pub pitch: f64,
    /// Posts from west to east.
    pub columns: usize,
    /// Posts from south to north.
    pub rows: usize,
    /// Heights in metres, row by row from the south; NaN where there is none.
    pub heights: Vec<f64>,
    /// Number of its material.
    pub material: u16,
    /// Number of its source.
    pub source: u16,
    /// Largest error at a post in metres.
    pub tolerance: f64,
    /// How its blocks of 4 x 4 cells stand in the image that it comes from: they are stored so again.
    pub blocks: Option<Blocks>,
}

/// Blocks of a height field of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// 0: blocks of 32 bytes, of which some name a long one; 1: of 64 bytes.
    pub class: u8,
    /// The scale of each block, row by row from the south.
    pub scales: Vec<Scale>,
}

/// The scale of a block of a height field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scale {
    /// log2 of its unit in height steps.
    pub log2: u8,
    /// Whether its posts have 16 bits.
    pub is_long: bool,
}

/// Names of a scene's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// The file's name, without folders.
    pub file: String,
    /// The part before `/` in the names of its sources; none if these have no such part.
    pub part: Option<String>,
}

impl Called {
    /// The part of its names, or else the file's name.
    pub fn title(&self) -> &str {
        self.part.as_deref().unwrap_or(&self.file)
    }

    /// Name of a source within its file.
    pub fn object<'a>(&self, source: &'a str) -> &'a str {
        let own = self.part.as_deref().and_then(|part| source.strip_prefix(part)?.strip_prefix('/'));
        own.unwrap_or(source)
    }
}
