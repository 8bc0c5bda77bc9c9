//! The triangles of an image as Wavefront OBJ, and the settings with which the same image is built from it again.

pub mod debug;

use crate::build::build;
use crate::build::error::BuildError;
use crate::build::stage::clean::{is_steep, rise};
use crate::image::as_source;
use crate::image::decode;
use crate::image::decode::Stored;
use crate::image::rays::{self, Wall};
use crate::import;
use crate::import::{NO_NAME, keeps_name};
use crate::options::{Near, Options, SourceError, Undersides};
use crate::report::Code;
use crate::scene::WallKind;
use crate::settings::{MaterialRule, PartRule, Settings, SourceFile};
use crate::util::exact::{area2, exp2};
use hardpan::Terrain;
use std::{
    collections::HashSet,
    fmt,
    io::{self, Write},
    iter,
    path::Path,
};

/// Why an image cannot be an OBJ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoObj {
    /// The name of a source that no line of an OBJ can say.
    Name(String),
}

impl fmt::Display for NoObj {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoObj::Name(name) => {
                write!(
                    f,
                    "source {name:?} is no name in an OBJ: it is empty, or has line ends, double blanks or a \\ at its end"
                )
            }
        }
    }
}

impl std::error::Error for NoObj {}

/// The ground of an image, ready to be written.
pub struct Obj<'a> {
    t: &'a Terrain<'a>,
    /// Names of the materials in the file: others than in the image if no line can say that.
    names: Vec<String>,
    /// Lattice steps from the origin, ascending.
    pub vertices: Vec<[i32; 3]>,
    /// By source, material and corners, each once.
    pub triangles: Vec<Stored>,
    /// Ceilings and obstacles.
    pub walls: Vec<Wall>,
    /// Whole metres that the file leaves out of x, y and z, and that its settings add again.
    pub offset: [f64; 3],
    /// How far triangles are from height fields, in plan and between posts in height, metres; none without such.
    pub fields_off: Option<[f64; 2]>,
}

/// A line for the settings beside an OBJ.
const STITCHED: &str = "
# The ground is stitched as it is: so the same image is built again. If you change the mesh, delete this line.
stitch = false
";

/// An OBJ, its materials, and the settings by which the same image is built again.
pub struct Texts {
    pub mesh: Vec<u8>,
    pub library: Vec<u8>,
    pub settings: String,
}

impl Texts {
    /// The identity of the image that is built of them; `place` is what the OBJ is called.
    pub fn identity(&self, place: &Path) -> Result<[u8; 32], BuildError> {
        fn lost(e: impl fmt::Display) -> BuildError {
            BuildError::Scene(e.to_string())
        }
        let settings = Settings::from_toml(&self.settings).map_err(lost)?;
        let frame = settings.sources.first().map(SourceFile::frame).unwrap_or_default();
        let mut scene = import::read_obj(&self.mesh, place, &frame).map_err(lost)?.scene;
        settings.apply(&mut scene).map_err(lost)?;
        let image = build(&scene, &settings.build)?.image;
        Terrain::open(&image).map(|t| t.identity()).map_err(lost)
    }
}

impl<'a> Obj<'a> {
    /// Reads a verified image.
    pub fn new(t: &'a Terrain<'a>) -> Result<Self, NoObj> {
        if let Some(name) = sources(t).find(|name| !keeps_name(name)) {
            return Err(NoObj::Name(name.into()));
        }
        let mut obj = Self::ground(t);
        obj.add_fields();
        obj.walls = rays::walls(t);
        obj.vertices.extend(obj.walls.iter().flat_map(|w| w.corners));
        obj.vertices.sort_unstable();
        obj.vertices.dedup();
        Ok(obj)
    }

    /// Adds two triangles for each cell of height fields that is ground.
    fn add_fields(&mut self) {
        let fields = decode::fields(self.t);
        if fields.is_empty() {
            return;
        }
        let (origin, step) = (self.t.header().origin, self.steps());
        let (mut plan, mut height) = (0f64, 0f64);
        for field in &fields {
            let mut at = |axis: usize, n: usize| {
                let steps = (field.origin[axis] + n as f64 * field.pitch) / step[axis];
                plan = plan.max((steps - steps.round_ties_even()).abs() * step[axis]);
                (steps.round_ties_even() as i64 - origin[axis]) as i32
            };
            let x: Vec<i32> = (0..field.columns).map(|n| at(0, n)).collect();
            let y: Vec<i32> = (0..field.rows).map(|n| at(1, n)).collect();
            let post = |c: usize, r: usize| {
                let z = field.heights[r * field.columns + c];
                (!z.is_nan()).then(|| ([x[c], y[r], ((z / step[2]) as i64 - origin[2]) as i32], z))
            };
            for (c, r) in (0..field.rows - 1).flat_map(|r| (0..field.columns - 1).map(move |c| (c, r))) {
                let corners = [post(c, r), post(c + 1, r), post(c + 1, r + 1), post(c, r + 1)];
                let [Some(a), Some(b), Some(c), Some(d)] = corners else { continue };
                // in the middle of a cell the two are farthest apart
                height = height.max((a.1 - b.1 + c.1 - d.1).abs() / 4.0);
                let halves = [[a.0, b.0, c.0], [a.0, c.0, d.0]].map(|corners| Stored {
                    corners: decode::turned(corners),
                    material: field.material,
                    source: field.source,
                });
                self.triangles.extend(halves);
            }
        }
        self.triangles.sort_unstable();
        self.triangles.dedup();
        self.triangles.sort_by_key(|s| (s.source, s.material)); // stable
        self.vertices = self.triangles.iter().flat_map(|s| s.corners).collect();
        self.fields_off = Some([plan * std::f64::consts::SQRT_2, height]);
    }

    /// All faces of the file, by source and material: ground and walls.
    fn faces(&self) -> Vec<Stored> {
        let stored = |w: &Wall| Stored { corners: w.corners, material: w.material, source: w.source };
        let mut all: Vec<Stored> = self.triangles.iter().copied().chain(self.walls.iter().map(stored)).collect();
        all.sort_by_key(|s| (s.source, s.material)); // stable
        all
    }

    /// Whether a build of the file finds out of each wall what it is: not of one that is neither vertical nor steep,
    /// and of no obstacle.
    pub fn says_all_walls(&self, known: &Settings) -> bool {
        let step = self.steps();
        let rise = known.build.max_slope.map(rise);
        self.walls.iter().all(|w| {
            let is_steep = || {
                rise.is_some_and(|rise| is_steep(w.corners.map(|p| [0, 1, 2].map(|i| f64::from(p[i]) * step[i])), rise))
            };
            let [a, b, c] = w.corners;
            w.kind == WallKind::Ceiling
                || area2(a, b, c) == 0
                || self.t.materials().get(usize::from(w.material)).is_some_and(|m| m.is_obstacle())
                || is_steep()
        })
    }

    /// Whether some walls are obstacles for their slope alone.
    fn has_steep(&self) -> bool {
        let is = |w: &&Wall| self.t.materials().get(usize::from(w.material)).is_some_and(|m| m.is_obstacle());
        let lies = |w: &Wall| area2(w.corners[0], w.corners[1], w.corners[2]) != 0;
        self.walls.iter().filter(|w| !is(w)).any(|w| w.kind == WallKind::Obstacle && lies(w))
    }

    /// The triangles, whatever else an image holds and however its names can be said.
    fn ground(t: &'a Terrain<'a>) -> Self {
        let mut triangles = decode::triangles(t);
        let mut vertices: Vec<[i32; 3]> = triangles.iter().flat_map(|s| s.corners).collect();
        vertices.sort_unstable();
        vertices.dedup();
        triangles.sort_by_key(|s| (s.source, s.material)); // stable
        Obj { t, names: names(t), vertices, triangles, walls: Vec::new(), offset: [0.0; 3], fields_off: None }
    }

    /// Takes the middle of the ground, in whole metres, for the file's zero.
    pub fn local(&mut self) {
        let [low, high] = self.t.bounds();
        self.offset = [0, 1, 2].map(|i| ((low[i] + high[i]) / 2.0).round() + 0.0);
    }

    /// Metres of a lattice step along x, y and z.
    pub fn steps(&self) -> [f64; 3] {
        let h = self.t.header();
        [h.xy_log2, h.xy_log2, h.z_log2].map(exp2)
    }

    /// A vertex of the file, metres.
    fn place(&self, v: &[i32; 3]) -> [f64; 3] {
        let (origin, step) = (self.t.header().origin, self.steps());
        [0, 1, 2].map(|i| (origin[i] + i64::from(v[i])) as f64 * step[i] - self.offset[i])
    }

    /// How far a program that reads the file in single precision moves a vertex at most along x, y and z, metres.
    pub fn moved_by_f32(&self) -> [f64; 3] {
        let moved = |v: &[i32; 3]| self.place(v).map(|v| (v - f64::from(v as f32)).abs());
        self.vertices.iter().map(moved).fold([0.0; 3], |a, b| [0, 1, 2].map(|i| a[i].max(b[i])))
    }

    /// Writes the file: lattice points as decimals that read back as the same numbers, triangles counter-clockwise from
    /// above. Materials and sources without ground keep their names by a face without area. `head` goes before it as
    /// comments.
    pub fn write(&self, head: &str, library: &str, out: &mut impl Write) -> io::Result<()> {
        head.lines().try_for_each(|line| writeln!(out, "# {line}"))?;
        writeln!(out, "mtllib {library}")?;
        self.write_vertices(out)?;
        self.write_faces(|m| &self.names[usize::from(m)], |s| self.t.source_name(s), out)?;
        let mut used = [vec![false; self.t.materials().len()], vec![false; self.t.source_count()]];
        for s in &self.faces() {
            (used[0][usize::from(s.material)], used[1][usize::from(s.source)]) = (true, true);
        }
        let [materials, sources] =
            used.map(|used| (0u16..).zip(used).filter(|u| !u.1).map(|u| u.0).collect::<Vec<_>>());
        if !materials.is_empty() || !sources.is_empty() {
            writeln!(out, "# names without ground")?;
        }
        for m in materials {
            writeln!(out, "usemtl {}\nf 1 1 1", self.names[usize::from(m)])?;
        }
        for s in sources {
            writeln!(out, "o {}\nf 1 1 1", self.t.source_name(s))?;
        }
        Ok(())
    }

    fn write_vertices(&self, out: &mut impl Write) -> io::Result<()> {
        for v in &self.vertices {
            let [x, y, z] = self.place(v);
            writeln!(out, "v {x} {y} {z}")?;
        }
        Ok(())
    }

    /// The triangles, under the names of their sources and materials.
    fn write_faces<'n>(
        &self,
        material: impl Fn(u16) -> &'n str,
        source: impl Fn(u16) -> &'n str,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let number = |corner| self.vertices.partition_point(|v| *v < corner) + 1;
        for run in self.faces().chunk_by(|a, b| a.source == b.source) {
            writeln!(out, "o {}", source(run[0].source))?;
            for run in run.chunk_by(|a, b| a.material == b.material) {
                writeln!(out, "usemtl {}", material(run[0].material))?;
                for s in run {
                    let [a, b, c] = s.corners.map(number);
                    writeln!(out, "f {a} {b} {c}")?;
                }
            }
        }
        Ok(())
    }

    /// Writes the material library: names, and a colour each, red, green and blue from 0 to 1.
    pub fn write_library(&self, colour: impl Fn(u16) -> [f64; 3], out: &mut impl Write) -> io::Result<()> {
        for (m, name) in (0..).zip(&self.names) {
            let [r, g, b] = colour(m);
            writeln!(out, "newmtl {name}\nKd {r:.3} {g:.3} {b:.3}\n")?;
        }
        Ok(())
    }

    /// All files, in memory. Names are those of the library, `colour` is of [`write_library`](Self::write_library), and
    /// `head` goes before OBJ and settings as comments.
    pub fn texts(
        &self,
        head: &str,
        library: &str,
        colour: impl Fn(u16) -> [f64; 3],
        settings: &Settings,
    ) -> io::Result<Texts> {
        let (mut mesh, mut paint) = (Vec::new(), Vec::new());
        self.write(head, library, &mut mesh)?;
        self.write_library(colour, &mut paint)?;
        let head: String = head.lines().map(|line| format!("# {line}\n")).collect();
        let settings = settings.to_toml().replacen("\nstitch = false\n", STITCHED, 1);
        Ok(Texts { mesh, library: paint, settings: format!("{head}\n{settings}") })
    }

    /// What the triangles are off by: as the image, and by how far they are from its fields.
    fn source_error(&self) -> Option<SourceError> {
        let h = self.t.header();
        let known = as_source::source_error(&as_source::errors(self.t), [h.xy_log2, h.z_log2], true);
        let [plan, height] = self.fields_off.unwrap_or_default();
        known.map(|SourceError { rest, side, squares }| SourceError {
            rest: [rest[0] + plan, rest[1] + height],
            side,
            squares: squares.into_iter().map(|[x, y, a, b]| [x, y, a + plan, b + height]).collect(),
        })
    }

    /// With what settings a build of the file, called `file`, makes the same image: those of the image, where the
    /// ground is neither moved nor mended again, and states the error that it had.
    pub fn settings(&self, known: &Settings, file: &str) -> Settings {
        let (h, step) = (self.t.header(), self.steps());
        let build = Options {
            tile_log2: u8::try_from(h.tile_log2).ok(),
            origin: Some([0, 1, 2].map(|i| h.origin[i] as f64 * step[i])),
            source_error: self.source_error(),
            // its ground is counter-clockwise, and its ceilings are not
            undersides: match self.walls.iter().any(|w| w.kind == WallKind::Ceiling) {
                true => Undersides::Ceiling,
                false => Undersides::Ground,
            },
            rays: Some(rays::stored(self.t)),
            weld: Near::default(),
            stitch: None,
            max_slope: known.build.max_slope.filter(|_| self.has_steep()),
            ..known.build.clone()
        };
        let mut materials = known.materials.clone();
        materials.iter_mut().for_each(|m| m.undersides = None);
        // a mesh tool removes the faces that keep these names
        let faces = self.faces();
        let used: HashSet<&str> = faces.iter().map(|s| self.t.material_name(s.material)).collect();
        let bare = |m: &&mut MaterialRule| m.name.as_ref().is_some_and(|name| !used.contains(name.as_str()));
        materials.iter_mut().filter(bare).for_each(|m| m.optional = Some(true));
        // what no line can say is said here
        let stands_for = |(own, name): (&str, &String)| PartRule {
            material: Some(name.clone()),
            name: Some(own.into()),
            optional: (!used.contains(own)).then_some(true),
            ..PartRule::default()
        };
        let rules = self::materials(self.t).zip(&self.names).filter(|(own, name)| own != name);
        let rules = rules.map(stands_for).collect();
        let source = SourceFile {
            file: file.into(),
            up: Some(import::Up::default()),
            unit: Some(import::Unit::default()),
            // its numbers are those of the image
            allow: vec![Code::NoData, Code::Precision],
            translate: (self.offset != [0.0; 3]).then_some(self.offset),
            licence: as_source::licences([known].into_iter()),
            ..SourceFile::default()
        };
        let crs = known.crs.clone();
        Settings { build, sources: vec![source], materials, rules, crs, ..Settings::default() }
    }
}

/// Names for an image's materials that lines of an OBJ can say: their own, if one can.
fn names(t: &Terrain) -> Vec<String> {
    let mut taken: HashSet<String> = materials(t).map(String::from).collect();
    let mut fresh = || {
        let mut all = iter::once(NO_NAME.into()).chain((2..).map(|i| format!("{NO_NAME} {i}")));
        all.find(|name| taken.insert(name.clone())).unwrap_or_default()
    };
    materials(t).map(|own| if keeps_name(own) { own.into() } else { fresh() }).collect()
}

fn materials<'a>(t: &Terrain<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let t = *t;
    (0..t.materials().len() as u16).map(move |m| t.material_name(m))
}

fn sources<'a>(t: &Terrain<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let t = *t;
    (0..t.source_count() as u16).map(move |s| t.source_name(s))
}
