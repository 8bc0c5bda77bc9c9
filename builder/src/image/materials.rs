//! The materials of a scene or an image, and what lies on each; as a settings file to edit.

use crate::image::as_source::{mu_by_default, settings_of, stated};
use crate::image::decode;
use crate::options::{Options, Split};
use crate::scene::{Material, Scene};
use crate::settings::{MaterialRule, Settings, SourceFile};
use crate::util::steps::Steps;
use crate::util::text::counted;
use hardpan::Terrain;
use serde::Serialize;
use std::{collections::BTreeMap, fmt::Write};

/// A material and what lies on it.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    pub triangles: u64,
    /// Square metres in plan.
    pub plan_area: f64,
    /// Height blocks of 4 x 4 cells.
    pub patch_blocks: u64,
    /// All that it has.
    #[serde(skip)]
    pub rule: MaterialRule,
    /// Settings of it; nothing if no entry fits.
    #[serde(skip)]
    pub stated: Option<MaterialRule>,
    /// Whether nobody stated its mu, as an image recorded.
    #[serde(skip)]
    pub by_default: bool,
}

/// Materials by name, and settings that build with them; those settings' own materials do not count.
pub struct Materials {
    pub listed: Vec<Listed>,
    pub settings: Settings,
    /// Whether they are of sources: these lie in folders, where an image knows only names, and state no friction.
    pub of_sources: bool,
}

impl Materials {
    /// Materials of a scene that such settings read.
    pub fn of_scene(scene: &Scene, settings: Settings) -> Self {
        let listed = |m: &Material| {
            let mut stated = MaterialRule::from(m);
            (stated.mu, stated.rr, stated.gain) = (None, None, None);
            Listed::new(m.into(), Some(stated))
        };
        let mut listed: Vec<Listed> = scene.materials.iter().map(listed).collect();
        for t in &scene.triangles {
            let [a, b, c] = t.v.map(|v| scene.positions[v as usize]);
            let area2 = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
            let of = &mut listed[usize::from(t.material)];
            (of.triangles, of.plan_area) = (of.triangles + 1, of.plan_area + area2.abs() / 2.0);
        }
        listed.sort_by(|a, b| a.rule.name.cmp(&b.rule.name));
        Materials { listed, settings, of_sources: true }
    }

    /// Materials of a verified image.
    pub fn of_image(t: &Terrain) -> Self {
        let (settings, by_default) = (settings_of(t), mu_by_default(t));
        let each = settings.materials.iter().cloned().zip(stated(t, &settings)).zip(areas(t));
        let listed = |((rule, stated), (triangles, plan_area)): ((MaterialRule, _), _)| {
            let by_default = rule.name.as_ref().is_some_and(|name| by_default.contains(name));
            Listed { triangles, plan_area, by_default, ..Listed::new(rule, stated) }
        };
        let mut listed: Vec<Listed> = each.map(listed).collect();
        for tile in decode::tiles(t) {
            for p in tile.patches() {
                if let Some(a) = tile.palette().get(usize::from(p.attribute)) {
                    listed[usize::from(a.material)].patch_blocks += p.block_count() as u64;
                }
            }
        }
        Materials { listed, settings, of_sources: false }
    }

    /// Settings for JSON, which has no comments. Keys without a stated value are left out.
    pub fn to_settings(&self) -> Settings {
        let materials = self.listed.iter().filter_map(|l| Some(l.stated.as_ref()?.brief())).collect();
        Settings { materials, ..self.settings.clone() }
    }

    /// A settings file with all that is known, under such a head, and comments on what else can be said.
    pub fn to_toml(&self, head: &str) -> String {
        let known = &self.settings;
        let mut text = format!("{head}\n{HELP}{}\n", if self.of_sources { UNSTATED } else { "" });
        let mut whole = toml::Table::try_from(known).unwrap_or_default();
        whole.retain(|key, _| !["build", "source", "material", "rule", "trail", "pothole"].contains(&key));
        whole.iter().for_each(|(key, value)| _ = writeln!(text, "{key} = {value}"));
        text += STEPS;
        let comment = if known.build == Options::default() { "# " } else { "" };
        write_lines(&mut text, comment, &BTreeMap::from([("build", &known.build)]));
        if known.build.split.is_none() {
            text += SPLIT;
            write_lines(&mut text, "# ", &Split::DEFAULT);
        }
        match known.sources.is_empty() {
            true => text += "\n# [[source]]\n# file = \"FILE.obj\"\n",
            false if !self.of_sources => text += NO_FOLDERS,
            false => {}
        }
        for source in &known.sources {
            text += "\n[[source]]\n";
            write_lines(&mut text, "", &SourceFile { placed: Vec::new(), scatter: None, ..source.clone() });
            write_places(&mut text, source);
        }
        for trail in &known.trails {
            text += "\n[[trail]]\n";
            write_lines(&mut text, "", trail);
        }
        for hole in &known.potholes {
            text += "\n[[pothole]]\n";
            write_lines(&mut text, "", hole);
        }
        for rule in &known.rules {
            text += "\n[[rule]]\n";
            write_lines(&mut text, "", rule);
        }
        self.listed.iter().for_each(|l| l.write(self.of_sources, &mut text));
        text
    }
}

impl Listed {
    fn new(rule: MaterialRule, stated: Option<MaterialRule>) -> Self {
        Listed { triangles: 0, plan_area: 0.0, patch_blocks: 0, rule, stated, by_default: false }
    }

    /// As an entry of settings.
    fn write(&self, of_sources: bool, text: &mut String) {
        let Listed { rule, triangles, plan_area, patch_blocks, .. } = self;
        let blocks = match patch_blocks {
            0 => String::new(),
            n => format!(", {} of heights", counted(*n, "block")),
        };
        _ = writeln!(text, "\n# {}, {plan_area:.1} m2 in plan{blocks}", counted(*triangles, "triangle"));
        let Some(stated) = &self.stated else {
            *text += "# no entry fitted it; until one does it has what stands here behind #\n# [[material]]\n";
            return write_lines(text, "# ", &rule.brief());
        };
        *text += "[[material]]\n";
        write_lines(text, "", &stated.brief());
        let [mu, rr, gain] = [rule.mu, rule.rr, rule.gain].map(|v| toml::Value::from(v.unwrap_or_default()));
        if stated.mu.is_none() {
            _ = writeln!(text, "# mu = {mu}  # by default, until stated");
        }
        if of_sources {
            _ = writeln!(text, "# rr = {rr}\n# gain = {gain}");
        }
    }
}

/// The lines of a table, each behind a prefix.
fn write_lines(text: &mut String, prefix: &str, table: &impl Serialize) {
    let lines = toml::to_string(table).unwrap_or_default();
    lines.lines().filter(|line| !line.is_empty()).for_each(|line| _ = writeln!(text, "{prefix}{line}"));
}

/// Where a source stands, a line for each place.
fn write_places(text: &mut String, source: &SourceFile) {
    let inline = |table: &dyn Fn() -> Result<toml::Value, toml::ser::Error>| {
        table().map_or_else(|_| String::new(), |v| v.to_string())
    };
    if !source.placed.is_empty() {
        *text += "placed = [\n";
        for place in &source.placed {
            _ = writeln!(text, "    {},", inline(&|| toml::Value::try_from(place)));
        }
        *text += "]\n";
    }
    if let Some(scatter) = &source.scatter {
        _ = writeln!(text, "scatter = {}", inline(&|| toml::Value::try_from(scatter)));
    }
}

/// For each material of an image its number of triangles, and square metres in plan.
fn areas(t: &Terrain) -> Vec<(u64, f64)> {
    let square = Steps::of(t.header()).plan.powi(2);
    let mut all = vec![(0, 0.0); t.materials().len()];
    for s in decode::triangles(t) {
        let (triangles, area) = &mut all[usize::from(s.material)];
        (*triangles, *area) = (*triangles + 1, *area + s.area2() as f64 / 2.0 * square);
    }
    all
}

/// Materials of an image's triangles and their areas in plan, those of most first.
pub fn ground<'a>(t: &Terrain<'a>) -> Vec<(&'a str, f64)> {
    let all = areas(t).into_iter().zip(0..).filter(|((triangles, _), _)| *triangles > 0);
    let mut ground: Vec<(&str, f64)> = all.map(|((_, area), m)| (t.material_name(m), area)).collect();
    ground.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    ground
}

const HELP: &str = "\
# Instead of name, pattern = \"Road*\" fits many (* any text, ? one character); name = \"\" fits all that nothing else fits.
# Entries add up key by key: a [[rule]] goes before a name, a name before a pattern. What none states stays as the source has it.
# mu: friction; rr: rolling resistance, gain: factors; include = false leaves the faces out.
# [[rule]] says the same of the faces of an object or a file: object = \"*_LOD1\", file = \"ice.obj\" or material = \"Ice\" say which.
# optional = true: the name may be absent. Also: obstacle = true (wheels do not stand on it), undersides = \"ground\" (or auto, ceiling), classes = [0, 5], cone_index (PSI, of clay and sand 250 if not stated), label, priority,
# precedence = 1 (its ground hides that of lower numbers, 0 if not stated), friction_only = true (paint: no height of its own).
";

const STEPS: &str =
    "\n# Lattice steps as log2 of metres; weld and stitch in steps, stitch = false for none; windows in metres.\n";

/// Before [`Split::DEFAULT`], of settings that have no such rule.
const SPLIT: &str = "
# The rule of VS Terrain instead of Hardpan's own, with the numbers of its preset default: a square is divided on while more than
# bundle_size triangles meet it and it holds min_volume m3 or more. Each division beyond depth_tolerance adds bundle_increase
# triangles to the one, and volume_increase times min_volume to the other.
# [build.split]
";

const UNSTATED: &str = "\
# The source states no friction: mu, rr and gain stand here behind #, as they are by default. To state one, take the # away
# and write your number. A build warns of ground whose mu is not stated.
";

const NO_FOLDERS: &str = "
# The image knows no folders: these files are looked for beside this one, unless it says where they are, or you name them when you build.
";
