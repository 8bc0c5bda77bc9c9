//! Several images in one: each at its place, or at several.

use crate::build::error::BuildError;
use crate::edit::{no_files, no_mesh};
use crate::image::as_source;
use crate::image::as_source::{TileError, licences, mu_by_default, settings_of};
use crate::image::provenance::{Input, Provenance};
use crate::image::rays;
use crate::import::{cos_sin, number_sources};
use crate::options::{Georeference, Options, SourceError, Undersides};
use crate::scene::{HeightField, Material, Scene, Triangle, Wall};
use crate::settings::Settings;
use crate::settings::factors::Factors;
use crate::settings::{Applied, MaterialRule, SettingsError, SourceFile};
use crate::util::exact::exp2;
use crate::util::steps::Steps;
use crate::util::text::{decimal, shown};
use hardpan::Terrain;
use rayon::prelude::*;
use std::{
    cmp::Ordering::Equal,
    collections::{HashMap, HashSet},
    fmt,
};

/// Where an image comes to lie: it is turned about its zero, then moved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// Way moved in metres.
    pub translate: [f64; 3],
    /// Turn about z in degrees, anticlockwise seen from above; exact at multiples of 90.
    pub yaw_deg: f64,
}

/// A part of a merged scene.
pub struct Part<'a> {
    /// A verified image.
    pub terrain: Terrain<'a>,
    /// What errors call it.
    pub name: String,
    /// Where it comes to lie.
    pub place: Place,
}

/// Why images do not become one.
#[derive(Clone, Debug, PartialEq)]
pub enum NoMerge {
    /// One has height fields, whose posts lie on squares along x and y, and is to be turned.
    Turned(String),
    /// Two materials of one name have another property.
    Differ(Box<Differ>),
    /// All of them have more of these than an image can hold.
    TooMany(&'static str),
    /// Two images state another coordinate reference system each, and no settings say which is meant.
    Crs { parts: [String; 2], crs: [String; 2] },
    /// Two images hide ground within another band each, and nobody says which is meant.
    Bands {
        /// The two images.
        parts: [String; 2],
        /// Their bands.
        metres: [f64; 2],
    },
    /// The settings do not fit them.
    Settings(SettingsError),
    /// What is asked for cannot be.
    Build(BuildError),
}

/// Two materials of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Differ {
    /// Their name.
    pub material: String,
    /// The first property that is another.
    pub key: String,
    /// What the two images have of it.
    pub values: [String; 2],
    /// The two images.
    pub parts: [String; 2],
}

impl fmt::Display for NoMerge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoMerge::Turned(part) => {
                write!(f, "{}: it has height fields, whose posts lie along x and y, and cannot be turned", shown(part))
            }
            NoMerge::Differ(differ) => {
                let Differ { material, key, values: [a, b], parts } = &**differ;
                let [one, other] = parts.each_ref().map(|part| shown(part));
                write!(f, "material {material:?}: {key} is {a} in {one} and {b} in {other}")
            }
            NoMerge::TooMany(what) => write!(f, "all parts together have too many {what}; merge fewer"),
            NoMerge::Crs { parts: [one, _], crs: [a, b] } => {
                write!(f, "its crs is {}, and that of {} {}", shown(b), shown(one), shown(a))
            }
            NoMerge::Bands { parts: [one, other], metres: [a, b] } => write!(
                f,
                "the band of precedence is {a} m in {} and {b} m in {}; type --precedence-band {a} or --precedence-band {b}",
                shown(one),
                shown(other)
            ),
            NoMerge::Settings(e) => e.fmt(f),
            NoMerge::Build(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for NoMerge {}

/// The ground of several images.
#[derive(Default)]
pub struct Merged {
    /// All of it. Materials of one name may differ until they are [one](Self::unify).
    pub scene: Scene,
    /// The finest steps of all parts, log2 of metres in plan and height.
    pub steps: [i32; 2],
    /// Of each material the first part that has it so.
    owners: Vec<String>,
    /// Of each tile of each part.
    errors: Vec<TileError>,
}

/// A part on its way into the whole.
struct Placed {
    scene: Scene,
    errors: Vec<TileError>,
}

impl Merged {
    /// Reads all parts.
    pub fn new(parts: &[Part]) -> Result<Self, NoMerge> {
        let placed: Vec<Placed> = parts.par_iter().map(Placed::new).collect::<Result<_, _>>()?;
        let names = placed.iter().flat_map(|p| &p.scene.sources).map(String::as_str);
        let (sources, numbers) = number_sources(names);
        let mut numbers = &numbers[..];
        let finest = |log2: fn(&hardpan::format::Header) -> i32| parts.iter().map(|p| log2(p.terrain.header())).min();
        let steps = [finest(|h| h.xy_log2), finest(|h| h.z_log2)].map(Option::unwrap_or_default);
        let mut all = Merged { steps, ..Merged::default() };
        let count: usize = placed.iter().map(|p| p.scene.positions.len()).sum();
        if count >= u32::MAX as usize {
            return Err(NoMerge::TooMany("vertices"));
        }
        let mut known: HashMap<String, Vec<usize>> = HashMap::new();
        for (part, Placed { scene, errors }) in parts.iter().zip(placed) {
            let Scene { positions, triangles, materials, walls, fields, .. } = &mut all.scene;
            let number = |m: Material| {
                let alike = known.entry(m.name.clone()).or_default();
                let there = alike.iter().copied().find(|i| materials[*i] == m);
                there.unwrap_or_else(|| {
                    alike.push(materials.len());
                    materials.push(m);
                    all.owners.push(part.name.clone());
                    materials.len() - 1
                })
            };
            let material: Vec<usize> = scene.materials.into_iter().map(number).collect();
            if materials.len() > usize::from(u16::MAX) {
                return Err(NoMerge::TooMany("materials"));
            }
            let (source, rest) = numbers.split_at(scene.sources.len());
            numbers = rest;
            let base = positions.len() as u32;
            let triangle = |t: &Triangle| Triangle {
                v: t.v.map(|v| v + base),
                material: material[usize::from(t.material)] as u16,
                source: source[usize::from(t.source)],
            };
            triangles.extend(scene.triangles.iter().map(triangle));
            walls.extend(scene.walls.iter().map(|w| Wall { triangle: triangle(&w.triangle), ..*w }));
            positions.extend(scene.positions);
            fields.extend(scene.fields.into_iter().map(|field| HeightField {
                material: material[usize::from(field.material)] as u16,
                source: source[usize::from(field.source)],
                ..field
            }));
            all.errors.extend(errors);
        }
        all.scene.sources = sources;
        // the order of images is nothing
        if parts.len() > 1 {
            in_order(&mut all.scene.fields);
        }
        Ok(all)
    }

    /// Makes materials of one name one.
    ///
    /// # Errors
    ///
    /// If they have another property: which is meant nobody said.
    pub fn unify(&self) -> Result<(), NoMerge> {
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (i, m) in self.scene.materials.iter().enumerate() {
            let first = *known.entry(&m.name).or_insert(i);
            if let Some((key, values)) = difference(&self.scene.materials[first], m) {
                let parts = [first, i].map(|i| self.owners[i].clone());
                let differ = Differ { material: m.name.clone(), key, values, parts };
                return Err(NoMerge::Differ(Box::new(differ)));
            }
        }
        Ok(())
    }

    /// What the scene is off by against what the parts were built from, if it is rounded to these steps; none if that
    /// is half a step of rounding everywhere, as of any mesh.
    pub fn source_error(&self, steps: [i32; 2]) -> Option<SourceError> {
        let scale = [exp2(-steps[0]), exp2(-steps[0]), exp2(-steps[1])];
        let on_lattice = |p: &[f64; 3]| (0..3).all(|i| (p[i] * scale[i]).fract() == 0.0);
        let is_whole = |f: &HeightField| {
            let (plan, height) = (exp2(8 - steps[0]), scale[2]);
            let posts = f.heights.par_iter().filter(|h| !h.is_nan());
            f.origin.iter().all(|v| (v * plan).fract() == 0.0) && posts.map(|h| h * height).all(|z| z.fract() == 0.0)
        };
        let exact = self.scene.positions.par_iter().all(on_lattice) && self.scene.fields.iter().all(is_whole);
        as_source::source_error(&self.errors, steps, exact)
    }
}

/// A verified image that is merged, at one place or several.
pub struct Source<'a> {
    pub terrain: Terrain<'a>,
    /// What errors call it.
    pub name: String,
    /// Its file, as the new image records it.
    pub input: Input,
    pub places: Vec<Place>,
}

/// Images on their way to be built as one. The result does not depend on their order.
pub struct Merge {
    /// All ground, with the materials that it gets.
    pub scene: Scene,
    /// Where it comes from, and by which options it is built.
    pub provenance: Provenance,
    /// What the settings did to the materials, if there are any.
    pub applied: Option<Applied>,
}

impl Merge {
    /// Without settings the finest steps of all images count; `over` puts what is typed before them.
    pub fn new(
        sources: &[Source],
        settings: Option<&Settings>,
        over: impl FnOnce(&mut Options),
        factors: &Factors,
    ) -> Result<Self, NoMerge> {
        let parts = sources.iter().flat_map(|s| {
            s.places.iter().map(|place| Part { terrain: s.terrain, name: s.name.clone(), place: *place })
        });
        let mut merged = Merged::new(&parts.collect::<Vec<_>>())?;
        let mut provenance = recorded(sources, settings)?;
        let build = &mut provenance.settings.build;
        if settings.is_none() {
            [build.xy_log2, build.z_log2] = merged.steps;
            build.precedence_band = f64::NAN; // that of the images, if none is typed
        }
        build.undersides = Undersides::Ground;
        build.crs = georeference(sources)?;
        over(build);
        if build.precedence_band.is_nan() {
            build.precedence_band = band(sources)?;
        }
        let least = sources.iter().map(|s| rays::stored(&s.terrain)).min().unwrap_or_default();
        build.rays = rays::again(least, build.rays);
        build.source_error = merged.source_error([build.xy_log2, build.z_log2]);
        merged.scene.materials.iter_mut().for_each(|m| m.undersides = None);
        let mut by_default = unstated(sources);
        let applied = settings.map(|s| s.apply(&mut merged.scene)).transpose().map_err(NoMerge::Settings)?;
        if let (Some(settings), Some(applied)) = (settings, &applied) {
            by_default = applied.unstated(settings, |name| by_default.contains(name));
        }
        factors.apply(&mut merged.scene.materials).map_err(|e| NoMerge::Build(e.into()))?;
        only_ground(&mut merged.scene);
        merged.unify()?;
        provenance.factors = (!factors.is_none()).then_some(*factors);
        if !factors.states_mu() {
            provenance.mu_by_default = by_default.into_iter().collect();
            provenance.mu_by_default.sort_unstable();
        }
        Ok(Merge { scene: merged.scene, provenance, applied })
    }
}

/// The one band of precedence of all images that have it.
fn band(sources: &[Source]) -> Result<f64, NoMerge> {
    let of = |t: &Terrain| Steps::of(t.header()).query_height(t.header().precedence_band);
    let mut all = sources.iter().filter(|s| s.terrain.has_precedence()).map(|s| (&s.name, of(&s.terrain)));
    let Some((one, first)) = all.next() else { return Ok(Options::BAND) };
    match all.find(|(_, band)| *band != first) {
        None => Ok(first),
        Some((other, second)) => {
            // steps as the number that was typed
            let typed = |metres: f64| (metres * 1e6).round() / 1e6;
            Err(NoMerge::Bands { parts: [one, other].map(String::clone), metres: [typed(first), typed(second)] })
        }
    }
}

/// Where on earth the whole lies: where its parts do.
fn georeference(sources: &[Source]) -> Result<Option<Georeference>, NoMerge> {
    let mut known: Option<(Georeference, &str)> = None;
    for (source, place) in sources.iter().flat_map(|s| s.places.iter().map(move |place| (s, place))) {
        let Some(mut own) = Georeference::of(&source.terrain) else { continue };
        let wrong = |cause: String| {
            let hint = "move and turn no image that lies somewhere on earth, or build from the sources";
            NoMerge::Build(BuildError::Option(format!("{}: {cause}; {hint}", shown(&source.name))))
        };
        if place.yaw_deg != 0.0 {
            return Err(wrong("turned it no longer lies on its plane of the earth".into()));
        }
        own.record.shift = [0, 1, 2].map(|k| own.record.shift[k] + place.translate[k]);
        match &known {
            None => known = Some((own, &source.name)),
            Some((other, _)) if *other == own => {}
            Some((other, name)) => {
                let lies = |of: &Georeference| {
                    let moved = of.record.shift.map(decimal).join(",");
                    format!("{:?}, datum {:?}, heights {:?}, moved by {moved}", of.name, of.datum, of.vertical)
                };
                return Err(wrong(format!("it lies in {}, and {} in {}", lies(&own), shown(name), lies(other))));
            }
        }
    }
    Ok(known.map(|(known, _)| known))
}

/// Fields in an order that is not that of their images.
fn in_order(fields: &mut [HeightField]) {
    fields.sort_by(|a, b| {
        let key = |f: &HeightField| [f.origin[1], f.origin[0], f.pitch, f.columns as f64, f.rows as f64];
        let heights = || a.heights.iter().zip(&b.heights).map(|(a, b)| a.total_cmp(b)).find(|o| o.is_ne());
        let rest = || (a.material, a.source).cmp(&(b.material, b.source)).then_with(|| heights().unwrap_or(Equal));
        key(a).partial_cmp(&key(b)).unwrap_or(Equal).then_with(rest)
    });
}

/// Leaves out fields whose material is no ground.
pub(super) fn only_ground(scene: &mut Scene) {
    let Scene { fields, materials, .. } = scene;
    fields.retain(|f| materials[usize::from(f.material)].is_ground());
}

/// What the image records of where it came from, in an order that is not that of the images.
fn recorded(sources: &[Source], settings: Option<&Settings>) -> Result<Provenance, NoMerge> {
    let mut known = settings.cloned().unwrap_or_default();
    no_mesh(&known, None).and_then(|()| no_files(&known)).map_err(NoMerge::Build)?;
    let each: Vec<(&Source, Settings)> = sources.iter().map(|s| (s, settings_of(&s.terrain))).collect();
    let mut said = each.iter().filter(|(_, s)| known.crs.is_empty() && !s.crs.is_empty());
    if let Some((one, first)) = said.next() {
        if let Some((other, second)) = said.find(|(_, s)| s.crs != first.crs) {
            let parts = [&one.name, &other.name].map(String::clone);
            return Err(NoMerge::Crs { parts, crs: [first, second].map(|s| format!("{:?}", s.crs)) });
        }
        known.crs.clone_from(&first.crs);
    }
    let mut all: Vec<(Input, SourceFile)> = Vec::new();
    for (s, settings) in &each {
        let licence = licences([settings].into_iter());
        all.extend(s.places.iter().map(|Place { translate, yaw_deg }| {
            let source = SourceFile {
                file: s.input.file.clone(),
                yaw_deg: (*yaw_deg != 0.0).then_some(*yaw_deg),
                translate: (*translate != [0.0; 3]).then_some(*translate),
                licence: licence.clone(),
                ..SourceFile::default()
            };
            (s.input.clone(), source)
        }));
    }
    all.sort_by(|(a, s), (b, r)| {
        let numbers = |s: &SourceFile| (s.translate.unwrap_or_default(), s.yaw_deg.unwrap_or_default());
        let places = || numbers(s).partial_cmp(&numbers(r)).expect("numbers");
        (&a.file, &a.sha256).cmp(&(&b.file, &b.sha256)).then_with(places)
    });
    let inputs;
    (inputs, known.sources) = all.into_iter().unzip();
    Ok(Provenance { inputs, settings: known, ..Provenance::default() })
}

/// Names of materials whose mu nobody stated in any image.
fn unstated(sources: &[Source]) -> HashSet<String> {
    let (mut unstated, mut stated) = (HashSet::new(), HashSet::new());
    for Source { terrain: t, .. } in sources {
        let by_default = mu_by_default(t);
        let names = (0..t.materials().len() as u16).map(|m| t.material_name(m).to_owned());
        stated.extend(names.filter(|name| !by_default.contains(name)));
        unstated.extend(by_default);
    }
    unstated.retain(|name| !stated.contains(name));
    unstated
}

impl Placed {
    fn new(part: &Part) -> Result<Self, NoMerge> {
        let Part { terrain: t, name, place } = part;
        let mut scene = as_source::scene(t);
        if place.yaw_deg != 0.0 && !scene.fields.is_empty() {
            return Err(NoMerge::Turned(name.clone()));
        }
        let ([cos, sin], [dx, dy, dz]) = (cos_sin(place.yaw_deg), place.translate);
        let turned = |x: f64, y: f64| [x * cos - y * sin, x * sin + y * cos];
        let mut most = [0.0f64; 2];
        for p in &mut scene.positions {
            let ([x, y], z) = (turned(p[0], p[1]), p[2]);
            most = [most[0].max(x.abs() + y.abs()), most[1].max(z.abs())];
            *p = [x + dx, y + dy, z + dz];
        }
        for field in &mut scene.fields {
            let far = [field.columns, field.rows].map(|n| (n - 1) as f64 * field.pitch);
            most[0] = (0..2).map(|k| field.origin[k].abs() + far[k]).sum::<f64>().max(most[0]);
            field.origin = [field.origin[0] + dx, field.origin[1] + dy];
            let high = field.heights.par_iter().filter(|h| !h.is_nan()).map(|h| h.abs()).reduce(|| 0.0, f64::max);
            most[1] = most[1].max(high);
            if dz != 0.0 {
                field.heights.par_iter_mut().for_each(|h| *h += dz);
            }
        }
        let noise = place.noise(most);
        let of = |TileError { low, side, error }| {
            let [x, y] = turned(low[0] + side / 2.0, low[1] + side / 2.0);
            let wide = side * (cos.abs() + sin.abs());
            let low = [x + dx, y + dy].map(|middle| middle - wide / 2.0 - noise[0]);
            TileError { low, side: wide + 2.0 * noise[0], error: [0, 1].map(|i| error[i] + noise[i]) }
        };
        let errors = as_source::errors(t).into_iter().map(of).collect();
        Ok(Placed { scene, errors })
    }
}

impl Place {
    /// More than the arithmetic of turning and moving is off by in plan and height, if the sum of x and y is so far
    /// from the zero at most, and z so far; metres. Nothing, if all of it is exact.
    fn noise(&self, [plan, height]: [f64; 2]) -> [f64; 2] {
        let [dx, dy, dz] = self.translate;
        // every lattice has such places, and a double the sum of two
        let is_exact = |v: f64| v.abs() < exp2(27) && (v * exp2(24)).fract() == 0.0;
        let turns = self.yaw_deg % 90.0 != 0.0;
        let own = |exact: bool, reach: f64| if exact { 0.0 } else { reach * exp2(-49) };
        let in_plan = !turns && is_exact(dx) && is_exact(dy) && plan < exp2(27);
        let in_height = is_exact(dz) && height < exp2(27);
        [own(in_plan, plan + dx.abs() + dy.abs()), own(in_height, height + dz.abs())]
    }
}

/// The first property that two materials of one name do not share, as settings have it.
fn difference(a: &Material, b: &Material) -> Option<(String, [String; 2])> {
    let [a, b] = [a, b].map(|m| toml::Table::try_from(MaterialRule::from(m)).expect("names, numbers and lists"));
    let value = |of: &toml::Table, key: &str| of.get(key).map_or("not stated".into(), toml::Value::to_string);
    let key = a.keys().chain(b.keys()).find(|key| a.get(*key) != b.get(*key))?;
    Some((key.clone(), [value(&a, key), value(&b, key)]))
}
