//! Facts about an image, as values: `info.schema.json` states the shape of their JSON, and what each key is.

use crate::image::as_source::{classes, provenance, recorded, settings_of};
use crate::image::earth::Earth;
use crate::image::{decode, rays};
use crate::options::{Options, Rays};
use crate::settings::MaterialRule;
use crate::util::steps::Steps;
use crate::util::text::{counted, fallback, hex, section_label, section_name};
use hardpan::{
    Cost, Terrain,
    format::{self, bundle, section},
};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The number of the JSON's shape: it changes when a key changes its meaning or goes.
pub const VERSION: u32 = 1;

/// The image as a whole.
#[derive(Serialize)]
pub struct Info {
    info: u32,
    pub format: u16,
    least_reader: u16,
    pub tool: Option<String>,
    pub identity: String,
    frame: Frame,
    pub bounds: Bounds,
    lattice: Lattice,
    pub bytes: u64,
    pub bytes_per_triangle: f64,
    pub triangles: u64,
    pub references: u64,
    pub bundles: u64,
    pub patch_blocks: u64,
    /// Content for rays beside the ground; nothing without that section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rays: Option<ForRays>,
    pub tiles: u32,
    tile_log2: u32,
    #[serde(serialize_with = "cost")]
    pub bound: Cost,
    /// The most that a ray of 5 m costs over all that the image holds, if it is stated.
    #[serde(serialize_with = "perhaps")]
    pub ray_bound: Option<Cost>,
    /// The most that all squares below a passenger tyre cost, if it is stated.
    #[serde(serialize_with = "perhaps")]
    pub tyre_bound: Option<Cost>,
    pub wide_tests: u32,
    pub costliest: Option<Costliest>,
    pub division: String,
    max_layers: u32,
    pub layer_merge: f64,
    /// How far ground hides that of lower precedence, metres; nothing where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precedence_band: Option<f64>,
    pub near: f64,
    pub far: f64,
    pub fallback: &'static str,
    pub defaults: Defaults,
    build: Option<Options>,
    pub error: Error,
    pub sections: Vec<Section>,
    pub materials: Vec<Material>,
    pub sources: Vec<String>,
}

#[derive(Serialize)]
struct Frame {
    axes: &'static str,
    unit: &'static str,
    /// Where on earth it lies, if that is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    crs: Option<OnEarth>,
}

/// A coordinate reference system as an image records it.
#[derive(Serialize)]
pub struct OnEarth {
    name: String,
    epsg: Option<u32>,
    datum: String,
    /// nobody, file, user or builder.
    says: &'static str,
    projection: Option<Projection>,
    shift: [f64; 3],
    vertical: Option<String>,
    vertical_epsg: Option<u32>,
    /// Longitude and latitude of the least and the greatest x and y.
    corners: Option<[[f64; 2]; 2]>,
}

/// Parameters of a transverse Mercator projection.
#[derive(Serialize)]
struct Projection {
    method: &'static str,
    radius: f64,
    inverse_flattening: f64,
    longitude: f64,
    latitude: f64,
    scale: f64,
    zero: [f64; 2],
}

impl OnEarth {
    /// The projection of an image that records it.
    pub fn of(t: &Terrain) -> Option<Self> {
        let (crs, [name, datum, vertical]) = t.crs()?;
        let code = |code: u32| (code > 0).then_some(code);
        let format::Crs { radius, inverse_flattening, longitude, latitude, scale, zero, shift, .. } = *crs;
        let earth = Earth::of(t);
        Some(OnEarth {
            name: name.into(),
            epsg: code(crs.code),
            datum: datum.into(),
            says: ["nobody", "file", "user", "builder"][usize::from(crs.says.min(3))],
            projection: earth.is_some().then_some(Projection {
                method: "transverse Mercator",
                radius,
                inverse_flattening,
                longitude,
                latitude,
                scale,
                zero,
            }),
            shift,
            vertical: Some(vertical).filter(|name| !name.is_empty()).map(str::to_owned),
            vertical_epsg: code(crs.vertical_code),
            corners: earth.map(|earth| t.bounds().map(|[x, y, _]| earth.back([x, y]))),
        })
    }
}

/// Content for rays.
#[derive(Serialize)]
pub struct ForRays {
    /// Whether ceilings and obstacles are stored, even if there are none.
    pub walls: bool,
    pub ceilings: u64,
    pub obstacles: u64,
    pub bundles: u64,
    /// All of it.
    pub bytes: u64,
    /// Bytes of bundles, and of heights of cells.
    pub bundle_bytes: u64,
    pub extents_bytes: u64,
}

#[derive(Serialize)]
pub struct Bounds {
    pub min: [f64; 3],
    pub max: [f64; 3],
}

#[derive(Serialize)]
struct Lattice {
    xy_log2: i32,
    z_log2: i32,
}

/// The rule of answers without ground.
#[derive(Serialize)]
pub struct Defaults {
    z: f64,
    pub mu: f64,
    pub rr: f64,
    pub gain: f64,
}

#[derive(Serialize)]
pub struct Error {
    pub plan: f64,
    pub height: f64,
}

/// The column whose queries have the most tests.
#[derive(Serialize)]
pub struct Costliest {
    at: [f64; 2],
    size: [f64; 2],
    #[serde(serialize_with = "self::cost")]
    pub cost: Cost,
    /// From where to where it goes in x and y.
    #[serde(skip)]
    pub extent: [[f64; 2]; 2],
}

#[derive(Serialize)]
pub struct Section {
    pub name: &'static str,
    pub kind: u32,
    pub offset: u64,
    pub bytes: u64,
    pub content: bool,
    must_understand: bool,
    crc: String,
    pub sha256: String,
}

#[derive(Serialize)]
pub struct Material {
    pub name: String,
    pub mu: f64,
    pub rr: f64,
    pub gain: f64,
    pub surface_type: u16,
    pub classes: Vec<u32>,
    pub cone_index: f64,
    pub label: u32,
    pub priority: i32,
    pub precedence: i16,
    pub friction_only: bool,
    pub obstacle: bool,
    pub include: bool,
}

#[derive(Serialize)]
pub struct Tile {
    pub x: i32,
    pub y: i32,
    offset: u64,
    pub bytes: u64,
    pub bundles: u32,
    pub references: u32,
    pub patches: u32,
    pairs: u32,
    pub z: [f64; 2],
    pub max_layers: u32,
    #[serde(serialize_with = "cost")]
    pub bound: Cost,
    pub costliest: Option<Costliest>,
    pub error: Error,
    crc: String,
    sha256: String,
}

/// How many bundles have how many triangles, and are of which class; and the blocks of cells that name them.
#[derive(Default, Serialize)]
pub struct Leaves {
    /// Leaves in all: blocks, and squares with nothing but one part of a height field.
    pub count: u64,
    pub bundles: u64,
    pub references: u64,
    /// Least, mean and most triangles of a bundle; zero without bundles.
    pub min: u64,
    pub mean: f64,
    pub max: u64,
    pub classes: Classes,
    /// For each count of triangles the number of bundles with it.
    pub triangles_bundles: Vec<(u64, u64)>,
    pub blocks: Vec<Blocks>,
}

#[derive(Default, Serialize)]
pub struct Classes {
    pub narrow: u64,
    pub medium: u64,
    pub wide: u64,
}

/// Squares that no node divides further, of one depth: log2 of the side of a square around all ground over their own
/// longer side.
#[derive(Serialize)]
pub struct Blocks {
    pub depth: u32,
    /// Their longer side, metres.
    pub side: f64,
    pub count: u64,
    /// Mean and most triangles; one that lies in several counts in each.
    pub mean: f64,
    pub max: u32,
}

fn perhaps<S: Serializer>(c: &Option<Cost>, serializer: S) -> Result<S::Ok, S::Error> {
    match c {
        Some(c) => cost(c, serializer),
        None => serializer.serialize_none(),
    }
}

fn cost<S: Serializer>(c: &Cost, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([("nodes", c.nodes), ("leaves", c.leaves), ("tests", c.tests), ("lines", c.lines)])
}

impl Info {
    /// Facts about a verified image.
    pub fn new(t: &Terrain) -> Self {
        let (h, [min, max]) = (t.header(), t.bounds());
        let metres = |z: i64| Steps::of(h).query_height(z);
        Info {
            info: VERSION,
            format: h.version,
            least_reader: h.least_reader,
            tool: provenance(t).map(|known| known.tool).filter(|tool| !tool.is_empty()),
            identity: hex(&t.identity()),
            frame: Frame { axes: "east-north-up", unit: "m", crs: OnEarth::of(t) },
            bounds: Bounds { min, max },
            lattice: Lattice { xy_log2: h.xy_log2, z_log2: h.z_log2 },
            bytes: h.total_len,
            // a cell of a height field counts as two triangles
            bytes_per_triangle: h.total_len as f64 / (h.triangles + h.patch_blocks * 32).max(1) as f64,
            triangles: h.triangles,
            references: h.references,
            bundles: h.bundles,
            patch_blocks: h.patch_blocks,
            rays: ForRays::new(t),
            tiles: h.tile_count,
            tile_log2: h.tile_log2,
            bound: t.bound(),
            ray_bound: t.ray_bound(5.0),
            tyre_bound: t.tyre_bound(0.6, 0.25),
            wide_tests: h.wide_tests,
            costliest: decode::costliest(t).map(|c| Costliest::new(t, &c)),
            division: division(recorded(t).as_ref().map(|settings| &settings.build)),
            max_layers: t.max_layers(),
            layer_merge: metres(h.layer_merge),
            precedence_band: t.has_precedence().then(|| metres(h.precedence_band)),
            near: metres(h.near),
            far: metres(h.far),
            fallback: fallback(h.fallback),
            defaults: Defaults {
                z: metres(h.default_z),
                mu: h.default_mu,
                rr: h.default_rolling,
                gain: h.default_gain,
            },
            build: recorded(t).map(|settings| settings.build),
            error: Error { plan: h.error_plan, height: h.error_height },
            sections: sections(t),
            materials: materials(t),
            sources: (0..t.source_count()).map(|i| t.source_name(i as u16).into()).collect(),
        }
    }
}

impl ForRays {
    fn new(t: &Terrain) -> Option<Self> {
        let head = rays::head(t)?;
        let bundles = |tile: rays::TileRays| u64::from(tile.bundle_count()) * 128;
        Some(ForRays {
            walls: rays::stored(t) == Rays::All,
            ceilings: head.triangles[0],
            obstacles: head.triangles[1],
            bundles: head.bundles,
            bytes: t.section(section::RAYS).map_or(0, |b| b.len() as u64),
            bundle_bytes: rays::tiles(t).map(bundles).sum(),
            extents_bytes: rays::tiles(t).map(|tile| u64::from(tile.head.blocks) * 32).sum(),
        })
    }
}

impl Costliest {
    fn new(t: &Terrain, c: &decode::Column) -> Self {
        let size = c.size.map(|s| s as f64 * Steps::of(t.header()).plan);
        Costliest { at: c.at(t), size, cost: c.cost, extent: c.extent(t) }
    }
}

/// By which rule the ground was divided, as it is recorded.
fn division(build: Option<&Options>) -> String {
    let Some(build) = build else { return "by a rule that is not recorded".into() };
    let most = build.max_cost.map(|m| format!(", until no query takes more than {m}")).unwrap_or_default();
    let rule = build.split.map_or("by the native rule".into(), |s| {
        let name = s.preset().map(|name| format!(" (preset {name})")).unwrap_or_default();
        format!(
            "by the rules of VS Terrain{name}: depth tolerance {}, bundle size {} + {} a step, volume {} m3 + {} of it a step",
            s.depth_tolerance, s.bundle_size, s.bundle_increase, s.min_volume, s.volume_increase
        )
    });
    rule + &most
}

/// Its sections, in the order of the header.
pub fn sections(t: &Terrain) -> Vec<Section> {
    let section = |s: &hardpan::format::Section| Section {
        name: section_name(s.kind),
        kind: s.kind,
        offset: s.offset,
        bytes: s.len,
        content: s.is_content(),
        must_understand: s.must_be_understood(),
        crc: format!("{:08x}", s.crc),
        sha256: hex(&s.digest),
    };
    t.header().sections.iter().filter(|s| s.is_used()).map(section).collect()
}

/// Its sections that this version does not read, in words: a new image made of it has none of them.
pub fn left_out(t: &Terrain) -> Vec<String> {
    let sections = t.header().sections.iter().filter(|s| s.is_used());
    let other = sections.filter(|s| section::UNDERSTOOD & section::bit(s.kind) == 0);
    let words = |s: &format::Section| {
        format!("section {} of {} is not understood, and left out", section_label(s.kind), counted(s.len, "byte"))
    };
    other.map(words).collect()
}

/// Its materials, in the order of their numbers.
pub fn materials(t: &Terrain) -> Vec<Material> {
    let material = |((i, m), known): ((u16, &hardpan::format::Material), MaterialRule)| Material {
        name: t.material_name(i).into(),
        mu: m.mu,
        rr: m.rolling,
        gain: m.gain,
        surface_type: m.surface,
        classes: classes(m.class_mask),
        cone_index: m.cone_index,
        label: m.label,
        priority: m.priority,
        precedence: m.precedence,
        friction_only: m.is_friction_only(),
        obstacle: m.is_obstacle(),
        include: known.include != Some(false), // which stands only in the record
    };
    (0..).zip(t.materials()).zip(settings_of(t).materials).map(material).collect()
}

/// Its tiles, in the order of the table.
pub fn tiles(t: &Terrain) -> Vec<Tile> {
    let h = t.header();
    let metres = |z: i32| Steps::of(h).place(2, z.into());
    let tile = |v: decode::TileView| {
        let (r, d) = (v.record, v.head);
        let [nodes, leaves, tests, lines] = d.bound;
        Tile {
            x: r.x,
            y: r.y,
            offset: r.offset,
            bytes: r.len,
            bundles: d.bundle_count,
            references: d.references,
            patches: d.patch_count,
            pairs: d.palette_len,
            z: [metres(d.min_z), metres(d.max_z)],
            max_layers: d.max_layers,
            bound: Cost { nodes, leaves, tests, lines },
            costliest: v.costliest().map(|c| Costliest::new(t, &c)),
            error: Error { plan: d.error[0], height: d.error[1] },
            crc: format!("{:08x}", r.crc),
            sha256: hex(&r.digest),
        }
    };
    decode::tiles(t).map(tile).collect()
}

impl Leaves {
    /// Facts about a verified image.
    pub fn new(t: &Terrain) -> Self {
        let (mut leaves, mut counts, mut classes) = (Leaves::default(), [0; bundle::TRIANGLES], [0; 3]);
        // by depth: longer side, blocks, triangles of all, most of one
        let mut blocks: BTreeMap<u32, (f64, u64, u64, u32)> = BTreeMap::new();
        let ([low, high], step) = (t.bounds(), Steps::of(t.header()).plan);
        let root = ((high[0] - low[0]).max(high[1] - low[1]) / step).max(1.0) as u64;
        let root = root.next_power_of_two().ilog2();
        for tile in decode::tiles(t) {
            leaves.count += tile.leaf_count();
            for b in tile.bundles() {
                counts[b.triangles() - 1] += 1;
                classes[usize::from(b.class()).min(2)] += 1;
            }
            tile.blocks(|b| {
                let log2 = b.log2[0].max(b.log2[1]);
                let (side, count, triangles, most) = blocks.entry(root.saturating_sub(log2)).or_default();
                *side = side.max(step * 2f64.powi(log2 as i32)); // that of the root may be larger
                (*count, *triangles) = (*count + 1, *triangles + u64::from(b.triangles));
                *most = b.triangles.max(*most);
            });
        }
        leaves.triangles_bundles = (1..).zip(counts).collect();
        let held = || leaves.triangles_bundles.iter().filter(|(_, n)| *n > 0);
        (leaves.bundles, leaves.references) = held().fold((0, 0), |(b, r), (triangles, n)| (b + n, r + n * triangles));
        [leaves.min, leaves.max] =
            [held().next(), held().next_back()].map(|end| end.map_or(0, |(triangles, _)| *triangles));
        leaves.mean = leaves.references as f64 / leaves.bundles.max(1) as f64;
        let [narrow, medium, wide] = classes;
        leaves.classes = Classes { narrow, medium, wide };
        let blocks = blocks.into_iter().map(|(depth, (side, count, triangles, max))| {
            let mean = triangles as f64 / count.max(1) as f64;
            Blocks { depth, side, count, mean, max }
        });
        leaves.blocks = blocks.collect();
        leaves
    }
}
