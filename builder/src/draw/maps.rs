//! Maps of an image, drawn from the kernel's answers, with a title, a scale bar and a legend.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
    str::FromStr,
};

use crate::{
    names::{counted, cut, decimal, grouped, metres, named, shown, suggestion},
    read,
};
use clap::builder::{PossibleValue, TypedValueParser};
use hardpan::{Hit, LeafKind, Terrain};
use serde_json::{Value, json};

use crate::check::walk::ALL;

use super::{
    canvas::{CATEGORIES, Canvas, Colour, INK, NOTHING, PAINTS, Paint, Size, WHITE, drawn, mix, scale},
    holes::holes,
    relief::{Seen, View, light, lit},
    scale::{Bar, Classes, LONG, Scale},
};

/// What a map shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    Relief,
    Layers,
    Leaves,
    Materials,
    Mu,
    Cost,
    Error,
    Holes,
}

/// Other words for a map.
const WORDS: [(Map, &[&str]); 8] = [
    (Map::Relief, &["height", "elevation", "hillshade", "dem", "terrain", "z"]),
    (Map::Layers, &["layer", "bridge", "overlap", "stack"]),
    (Map::Leaves, &["leaf", "bundle", "block", "triangle"]),
    (Map::Materials, &["material", "surface", "texture"]),
    (Map::Mu, &["friction", "grip"]),
    (Map::Cost, &["test", "time", "bound"]),
    (Map::Error, &["accuracy", "precision"]),
    (Map::Holes, &["hole", "gap", "edge", "crack", "seam"]),
];

impl Map {
    pub const ALL: [Map; 8] =
        [Map::Relief, Map::Layers, Map::Leaves, Map::Materials, Map::Mu, Map::Cost, Map::Error, Map::Holes];

    /// The map of a name; else it is said which may be meant.
    pub fn named(name: &str) -> Result<Map, String> {
        let word = name.trim().to_lowercase();
        let all = || Map::ALL.into_iter().map(Map::name);
        if let Some(map) = Map::ALL.into_iter().find(|m| m.name() == word) {
            return Ok(map);
        }
        let one = word.strip_suffix('s').unwrap_or(&word);
        let meant = match WORDS.iter().find(|(_, words)| words.contains(&one)) {
            Some((map, _)) => format!(" (did you mean {:?}?)", map.name()),
            None => suggestion(&word, all()),
        };
        Err(format!("there is no such map{meant}; there are {}, or all", all().collect::<Vec<_>>().join(", ")))
    }

    /// What it shows, for help.
    fn help(self) -> &'static str {
        match self {
            Map::Relief => "Shaded relief, coloured by height",
            Map::Layers => "How many ground heights lie over a place",
            Map::Leaves => "Which bundle or patch block answers",
            Map::Materials => "The material of the highest ground, in colours that go by names",
            Map::Mu => "Its friction, from 0 to 1.2 in every picture",
            Map::Cost => "How many tests a query takes, beside the stated bound",
            Map::Error => "The error that the image states",
            Map::Holes => "Places without ground that ground surrounds, gaps, and open edges, the largest with numbers",
        }
    }

    /// Whether its colours are numbers.
    pub fn has_scale(self) -> bool {
        matches!(self, Map::Relief | Map::Layers | Map::Mu | Map::Cost | Map::Error)
    }

    /// Whether those are counts.
    pub fn counts(self) -> bool {
        matches!(self, Map::Layers | Map::Cost)
    }

    pub fn name(self) -> &'static str {
        match self {
            Map::Relief => "relief",
            Map::Layers => "layers",
            Map::Leaves => "leaves",
            Map::Materials => "materials",
            Map::Mu => "mu",
            Map::Cost => "cost",
            Map::Error => "error",
            Map::Holes => "holes",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Map::Relief => "Relief of the highest ground",
            Map::Layers => "Ground heights over a place",
            Map::Leaves => "Leaves that answer",
            Map::Materials => "Materials of the highest ground",
            Map::Mu => "Friction of the highest ground",
            Map::Cost => "Cost of a query",
            Map::Error => "Stated error in height",
            Map::Holes => "Holes and open edges",
        }
    }
}

/// Names of maps as they are typed, each one map or all.
#[derive(Clone)]
pub struct Names;

impl TypedValueParser for Names {
    type Value = Vec<Map>;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Vec<Map>, clap::Error> {
        let maps = |text: &str| match text.trim().eq_ignore_ascii_case("all") {
            true => Ok(Map::ALL.to_vec()),
            false => Map::named(text).map(|map| vec![map]),
        };
        maps.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let each = Map::ALL.into_iter().map(|map| PossibleValue::new(map.name()).help(map.help()));
        Some(Box::new(each.chain([PossibleValue::new("all").help("Every one of these")])))
    }
}

/// What is asked of a map beside what it shows.
#[derive(Clone, Copy, Default)]
pub struct Wish {
    /// The ends of its scale.
    pub range: Option<[f64; 2]>,
    /// How wide a gap may be in the map of holes, metres.
    pub max_gap: Option<f64>,
    /// How high a step may be that is not shown on the map holes, metres; none are shown without it.
    pub max_step: Option<f64>,
}

/// Least x and y, greatest x and y, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window(pub [f64; 4]);

/// Beyond every image, and so near that widths of windows are numbers.
const FARTHEST: f64 = 1e15;
/// Least width and height of a window: less is no more than a few steps of the query grid. A point or a line is a picture
/// of this size too.
const LEAST: f64 = 1e-3;

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<f64>> =
            text.split(',').map(|n| n.trim().parse().ok().filter(|v: &f64| v.abs() <= FARTHEST)).collect();
        let window = numbers.and_then(|n| <[f64; 4]>::try_from(n).ok());
        let window = window.ok_or("four numbers with commas between them, x0,y0,x1,y1, none beyond 1e15 m")?;
        let [width, height] = [0, 1].map(|i| window[i + 2] - window[i]);
        if !(width > 0.0 && height > 0.0) {
            Err("x0 must be below x1, and y0 below y1".into())
        } else if width.min(height) < LEAST {
            Err(format!("a window is {LEAST} m wide and high at least, and this one {width} by {height} m"))
        } else {
            Ok(Window(window))
        }
    }
}

/// Most pixels along a side, and in all.
const MOST: [usize; 2] = [1 << 16, 1 << 28];
/// Pixels of the longer side where nothing is said.
const LONGER: f64 = 1600.0;

pub fn size(text: &str) -> Result<[Option<usize>; 2], String> {
    let number = |t: &str| match t.trim().parse() {
        Ok(n) if (1..=MOST[0]).contains(&n) => Ok(Some(n)),
        _ => Err(format!("a width, or width and height as 640x480, of 1 to {} pixels each", MOST[0])),
    };
    match text.split_once('x') {
        Some((w, h)) => Ok([number(w)?, number(h)?]),
        None => Ok([number(text)?, None]),
    }
}

pub fn per_metre(text: &str) -> Result<f64, String> {
    let sane = |v: &f64| (1e-9..=1e9).contains(v);
    text.parse().ok().filter(sane).ok_or_else(|| "must be a number above zero, from 1e-9 to 1e9".into())
}

pub fn height(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|z: &f64| z.is_finite()).ok_or_else(|| "must be a height in metres".into())
}

/// What a picture shows: the window, or all of the image, as large as it is wanted. A width and a height show the window
/// in the middle of them.
pub fn view(
    t: &Terrain,
    window: Option<Window>,
    size: Option<[Option<usize>; 2]>,
    per_metre: Option<f64>,
) -> Result<View, String> {
    let [low, high] = t.bounds();
    let [x0, y0, x1, y1] = window.map_or([low[0], low[1], high[0], high[1]], |w| w.0);
    let extent = [(x1 - x0).max(LEAST), (y1 - y0).max(LEAST)];
    let pixels = |n: f64| (n - 1e-9).ceil().max(1.0);
    let (per_metre, size) = match (size, per_metre) {
        (Some([Some(w), Some(h)]), _) => ((w as f64 / extent[0]).min(h as f64 / extent[1]), [w as f64, h as f64]),
        (Some([w, _]), _) if w.is_some() => {
            let n = w.unwrap_or(1) as f64 / extent[0];
            (n, [w.unwrap_or(1) as f64, pixels(extent[1] * n)])
        }
        (_, n) => {
            let n = n.unwrap_or(LONGER / extent[0].max(extent[1]));
            (n, extent.map(|e| pixels(e * n)))
        }
    };
    let [most, all] = MOST.map(|n| n as f64);
    if size[0] > most || size[1] > most || size[0] * size[1] > all {
        let [width, height] = size.map(|n| if n < 1e15 { grouped(n as u64) } else { format!("{n:.1e}") });
        return Err(format!(
            "the picture would have {width} x {height} pixels, and {} a side and {} in all are the most; give a smaller --size or --window, or fewer pixels --per-metre",
            grouped(MOST[0] as u64),
            grouped(MOST[1] as u64)
        ));
    }
    let [width, height] = size.map(|n| n as usize);
    let middle = [(x0 + x1) / 2.0, (y0 + y1) / 2.0];
    let half = [width, height].map(|n| n as f64 / per_metre / 2.0);
    Ok(View { west: middle[0] - half[0], north: middle[1] + half[1], per_metre, width, height, heights: ALL })
}

/// Where the ground lies, by its bounds.
fn lies([low, high]: [[f64; 3]; 2]) -> String {
    let [x, y] = [0, 1].map(|i| format!("{} to {} m", place(low[i]), place(high[i])));
    format!("x {x}, y {y}")
}

/// What is said of a picture without ground.
pub fn missed(bounds: [[f64; 3]; 2]) -> String {
    format!("no ground is met in the picture; it lies at {}", lies(bounds))
}

/// Stops at a view beside the ground within these bounds.
pub fn meets(view: &View, [low, high]: [[f64; 3]; 2]) -> Result<(), String> {
    let shows = view.window();
    if (0..2).all(|i| shows[i] < high[i] && shows[i + 2] > low[i]) {
        return Ok(());
    }
    let lies = lies([low, high]);
    Err(format!("--window shows none of the ground, which lies at {lies}; give a part of that, or leave it out"))
}

/// Places along the longer side at which it is seen which materials there are most of.
const LOOK: f64 = 512.0;

/// A line of a legend.
pub enum Key {
    /// A colour and what it means.
    Box(Colour, String),
    /// The same of a paint.
    Paint(Paint, String),
    Bar(Bar),
    /// A line of a colour.
    Line(Colour, String),
    /// A ring of a colour.
    Ring(Colour, String),
}

/// A number on a scale in so many decimals.
fn tick(v: f64, decimals: usize) -> String {
    format!("{v:.decimals$}")
}

/// A drawn map.
pub struct Sheet {
    pub canvas: Canvas,
    /// Left and top of the ground in it.
    pub at: [usize; 2],
    /// What it says beside the picture.
    pub notes: Vec<String>,
    /// What it says beside that.
    pub details: Vec<String>,
    /// The same for programs.
    pub facts: Value,
    /// Whether no pixel shows ground.
    pub barren: bool,
}

impl Sheet {
    /// That it was written, and what it says.
    pub fn said(&self, place: &Path, view: &View) -> String {
        let pixel = metres(1.0 / view.per_metre);
        format!("{}: {} x {} pixels, {pixel} each; {}", named(place), view.width, view.height, self.notes.join("; "))
    }
}

/// A map without what is around it.
pub struct Drawn {
    pub ground: Canvas,
    pub keys: Vec<Key>,
    /// Lines beneath.
    pub notes: Vec<String>,
    /// Lines that are printed alone.
    pub details: Vec<String>,
    pub facts: Value,
}

/// Draws a map of a verified image.
pub fn draw(t: &Terrain, map: Map, view: &View, wish: Wish, name: &str) -> Sheet {
    let Wish { range, max_gap, max_step } = wish;
    let drawn = match map {
        Map::Relief => shaded(t, view, range),
        Map::Layers => layers(t, view, range),
        Map::Leaves => leaves(t, view),
        Map::Materials => materials(t, view),
        Map::Mu => friction(t, view, range),
        Map::Cost => cost(t, view, range),
        Map::Error => error(t, view, range),
        Map::Holes => holes(t, view, max_gap, max_step),
    };
    frame(drawn, &format!("{}: {name}", map.title()), view)
}

/// Every pixel from the highest ground in its middle.
pub fn of_tops<T: Clone + Send + Sync>(t: &Terrain, view: &View, make: impl Fn(&Hit) -> T + Sync) -> Vec<Option<T>> {
    view.rows(None, |row, out| {
        for (a, to) in view.tops(t, row).iter().zip(out).filter(|(a, _)| a.found()) {
            *to = Some(make(&a.hit));
        }
    })
}

pub fn canvas<T>(view: &View, all: &[Option<T>], colour: impl Fn(&T) -> Colour) -> Canvas {
    let pixels = all.iter().map(|v| v.as_ref().map_or(NOTHING, &colour)).collect();
    Canvas { width: view.width, height: view.height, pixels }
}

/// The key of places without ground, if there are any.
fn nothing<T>(view: &View, all: &[Option<T>]) -> Option<Key> {
    all.iter().any(Option::is_none).then(|| no_ground(view))
}

pub fn no_ground(view: &View) -> Key {
    Key::Box(NOTHING, no_ground_told(view))
}

/// None of the ground that counts.
pub fn no_ground_told(view: &View) -> String {
    format!("no ground{}", band(view.heights))
}

/// Least and greatest of numbers, if there are any.
fn ends<T: PartialOrd + Copy>(all: impl Iterator<Item = T>) -> Option<[T; 2]> {
    all.map(|v| [v; 2]).reduce(|[low, high], [v, _]| [if v < low { v } else { low }, if v > high { v } else { high }])
}

/// How strong the colours of heights are in a relief.
const TINT: f64 = 0.6;

pub fn shaded(t: &Terrain, view: &View, range: Option<[f64; 2]>) -> Drawn {
    let fine = if view.width * view.height > 1 << 22 { 1 } else { 2 };
    let seen = Seen::new(t, view, fine, |_| ());
    let scale = Scale::new(range, seen.heights.unwrap_or_default());
    let tint = |z: f64| mix(WHITE, scale.colour(z), TINT);
    let ground = seen.draw(|z, ()| tint(z));
    let [low, high] = scale.ends;
    let level = level(high - low);
    let mut keys = match seen.heights {
        None => Vec::new(),
        Some(_) if low == high => vec![Key::Box(tint(low), format!("flat, at {}", level(low)))],
        Some(_) => vec![Key::Bar(scale.bar(TINT, level, tick))],
    };
    keys.extend(seen.gaps().then(|| no_ground(view)));
    let notes = vec!["sun in the north-west; slopes drawn 1.3 times as steep".into()];
    Drawn { ground, keys, notes, details: Vec::new(), facts: json!({ "heights": seen.heights, "range": scale.ends }) }
}

/// Heights, to the centimetre or as much finer as it takes to tell the ends of a range apart.
fn level(range: f64) -> impl Fn(f64) -> String {
    let decimals = if range > 0.0 { (1.0 - range.log10()).ceil().clamp(2.0, 7.0) as usize } else { 2 };
    move |z| format!("{:.decimals$} m", z + 0.0)
}

fn layers(t: &Terrain, view: &View, range: Option<[f64; 2]>) -> Drawn {
    let room = t.max_layers().clamp(1, 4096) as usize;
    let all: Vec<Option<(u32, f32)>> = view.rows(None, |row, out| {
        let mut hits = vec![Hit::NONE; room];
        for (column, to) in out.iter_mut().enumerate() {
            let [x, y] = view.middle(column, row);
            let layers = t.layers([x, y, 0.0], &mut hits);
            let counts = |hit: &&Hit| (view.heights[0]..=view.heights[1]).contains(&t.z_f64(hit));
            let mut counted = hits[..layers.written].iter().filter(counts);
            let first = counted.next();
            let hidden = layers.total - layers.written; // none, but of more than there is room for
            *to = first.map(|hit| ((1 + counted.count() + hidden) as u32, light(t.slope_f64(hit)) as f32));
        }
    });
    let numbers = || all.iter().flatten().map(|(n, _)| *n);
    let [least, most] = ends(numbers()).unwrap_or([1, 1]);
    let classes = Classes::new(range, 1, [least, most]);
    // one height is grey, unless it shares a class
    let alone = range.is_none() || classes.of(1) != classes.of(2);
    let colour = |n: u32| match classes.of(n) {
        _ if n == 1 && alone => [206; 3],
        (class, count) => scale(1.0 - class as f64 / (count.max(2) - 1) as f64),
    };
    let mut keys: Vec<Key> =
        classes.told(["height", "heights"]).into_iter().map(|(n, text)| Key::Box(colour(n), text)).collect();
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    numbers().for_each(|n| *counts.entry(n).or_default() += 1);
    let counts: Vec<_> = counts.iter().map(|(n, pixels)| json!({ "layers": n, "pixels": pixels })).collect();
    keys.extend(nothing(view, &all));
    let notes = vec![format!("at most {most} here; the image's upper bound is {}", t.max_layers())];
    let facts = json!({ "counts": counts, "most": most, "stated": t.max_layers() });
    let ground = canvas(view, &all, |(n, light)| lit(colour(*n), slight(f64::from(*light))));
    Drawn { ground, keys, notes, details: Vec::new(), facts }
}

fn leaves(t: &Terrain, view: &View) -> Drawn {
    let all = of_tops(t, view, |hit| match hit.leaf {
        LeafKind::Patch => (true, [hit.place[0], hit.place[1], hit.place[2]]),
        _ => (false, [hit.place[0], hit.place[1], 0]),
    });
    let colour = |&(patch, place): &(bool, [u32; 3])| {
        let mixed =
            place.iter().fold(0u64, |h, v| (h ^ u64::from(*v)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29));
        let (hue, tone) = (CATEGORIES[(mixed >> 8) as usize % CATEGORIES.len()], (mixed >> 32) % 4);
        match patch {
            true => [90 + 40 * tone as u8; 3],
            false => mix(hue, WHITE, 0.18 * tone as f64),
        }
    };
    let mut seen: [HashSet<[u32; 3]>; 2] = Default::default();
    for (patch, place) in all.iter().flatten() {
        seen[usize::from(*patch)].insert(*place);
    }
    let [bundles, blocks] = seen.map(|s| s.len() as u64);
    let mut keys = Vec::new();
    if bundles > 0 {
        keys.push(Key::Box(CATEGORIES[1], "bundles of up to 16 triangles, each in one colour".into()));
    }
    if blocks > 0 {
        keys.push(Key::Box([130; 3], "blocks of heights, each in one grey".into()));
    }
    keys.extend(nothing(view, &all));
    let [told, blocks_told] = [counted(bundles, "bundle"), counted(blocks, "block")];
    let notes = vec![format!("{told} and {blocks_told} of heights answer here")];
    Drawn {
        ground: canvas(view, &all, colour),
        keys,
        notes,
        details: Vec::new(),
        facts: json!({ "bundles": bundles, "patch_blocks": blocks }),
    }
}

/// A paint for each material, whatever part of the image is drawn, or where there are more than paints, for those that are seen
/// most from above on all of the ground; the others have one together. The colour goes by the name, so that it is mostly the same
/// in images of other materials too: of two with one colour the later has lines, and a third has a paint that is left.
pub fn paints(t: &Terrain) -> Vec<Paint> {
    let count = t.materials().len();
    let mut most: Vec<usize> = (0..count).collect();
    if count > PAINTS {
        let mut seen = vec![0; count];
        let [low, high] = t.bounds();
        let longer = (high[0] - low[0]).max(high[1] - low[1]).max(LEAST);
        if let Ok(all) = view(t, None, None, Some(LOOK / longer)) {
            of_tops(t, &all, |hit| hit.material).into_iter().flatten().for_each(|m| seen[usize::from(m)] += 1);
        }
        most.sort_by_key(|&m| (std::cmp::Reverse(seen[m]), m));
        most.truncate(PAINTS);
        most.sort_unstable();
    }
    let mut numbers = vec![PAINTS; count];
    let mut free = [true; PAINTS];
    // all have what is their own before a third takes what is left
    for tries in [2, PAINTS] {
        for &m in &most {
            let colour = name_hash(t.material_name(m as u16)) as usize;
            let each = (0..tries).map(|k| (colour + k / 2) % CATEGORIES.len() + k % 2 * CATEGORIES.len());
            if let Some(number) = each.into_iter().find(|&n| numbers[m] == PAINTS && free[n]) {
                (numbers[m], free[number]) = (number, false);
            }
        }
    }
    numbers.into_iter().map(Paint::of).collect()
}

/// FNV-1a from another start, without the bits that it mixes least: materials of the demo have a colour each, grass is green, and water
/// some blue.
fn name_hash(name: &str) -> u32 {
    name.bytes().fold(0x7627_819C, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)) >> 10
}

/// Names of materials as a legend has them: in letters that can be drawn, and short; those that would read the same with their
/// number, from 1.
fn names(t: &Terrain) -> Vec<String> {
    let each = (0..t.materials().len()).map(|m| drawn(&shown(t.material_name(m as u16))).into_owned());
    cut(&each.collect::<Vec<_>>(), NAME_MOST)
}

/// The names that are drawn in other letters, as they are drawn and as they are.
pub fn respelt(t: &Terrain) -> Vec<[String; 2]> {
    let each = names(t).into_iter().enumerate().map(|(m, legend)| [legend, shown(t.material_name(m as u16))]);
    each.filter(|[_, name]| drawn(name) != *name).collect()
}

fn materials(t: &Terrain, view: &View) -> Drawn {
    let all = of_tops(t, view, |hit| (hit.material, light(t.slope_f64(hit)) as f32));
    let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
    all.iter().flatten().for_each(|m| *counts.entry(m.0).or_default() += 1);
    let found: usize = counts.values().sum();
    let mut ranked: Vec<(u16, usize)> = counts.into_iter().collect();
    ranked.sort_by_key(|(m, n)| (std::cmp::Reverse(*n), *m));
    let mut paints = paints(t);
    let is_rest = |paint: Paint| paint == Paint::of(PAINTS);
    // what is seen little elsewhere may be all that is seen here
    let unpainted = |(m, _): &&(u16, usize)| is_rest(paints[usize::from(*m)]);
    let (rest, named): (Vec<_>, Vec<_>) = ranked.iter().partition(unpainted);
    for (i, (m, _)) in rest.iter().enumerate().take(PAINTS - named.len()) {
        paints[usize::from(*m)] = Paint::other(i);
    }
    let paint = |m: u16| paints[usize::from(m)];
    let share = |n: usize| match n as f64 * 100.0 / found as f64 {
        share if share < 0.05 => "< 0.1 %".into(),
        share => format!("{share:.1} %"),
    };
    let names = names(t);
    let (rest, named): (Vec<_>, Vec<_>) = ranked.iter().partition(|(m, _)| is_rest(paint(*m)));
    let key = |(m, n): &(u16, usize)| Key::Paint(paint(*m), format!("{} {}", names[usize::from(*m)], share(*n)));
    let mut keys: Vec<Key> = named.iter().map(key).collect();
    if !rest.is_empty() {
        let n = rest.iter().map(|r: &(u16, usize)| r.1).sum();
        keys.push(Key::Paint(Paint::of(PAINTS), format!("{} {}", counted(rest.len() as u64, "other"), share(n))));
    }
    keys.extend(nothing(view, &all));
    let facts: Vec<_> = ranked.iter().map(|(m, n)| json!({ "material": t.material_name(*m), "pixels": n })).collect();
    let times = magnitude(view);
    // a hint of the relief, so slight that the colours stay those of the legend
    let colour = |(i, seen): (usize, &Option<(u16, f32)>)| match seen {
        Some((m, light)) => lit(paint(*m).at(i % view.width, i / view.width, times), slight(f64::from(*light))),
        None => NOTHING,
    };
    let pixels = all.iter().enumerate().map(colour).collect();
    let ground = Canvas { width: view.width, height: view.height, pixels };
    let notes = vec![format!("{} of {} seen here", ranked.len(), counted(t.materials().len() as u64, "material"))];
    Drawn { ground, keys, notes, details: Vec::new(), facts: json!({ "materials": facts }) }
}

/// Letters of a name in a legend.
const NAME_MOST: usize = 32;

/// Light that shows the lie of the land without drowning colours.
pub fn slight(light: f64) -> f64 {
    0.7 + 0.3 * light
}

/// The scale of friction in every picture, so that two can be compared.
const FRICTION: [f64; 2] = [0.0, 1.2];

fn friction(t: &Terrain, view: &View, range: Option<[f64; 2]>) -> Drawn {
    let all = of_tops(t, view, |hit| t.material(hit).mu);
    let mut values: Vec<f64> = all.iter().flatten().copied().collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let seen = [values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0)];
    let scale = Scale::new(Some(range.unwrap_or(FRICTION)), seen);
    let mut keys = vec![Key::Bar(scale.bar(1.0, |v| format!("mu {}", decimal(v)), tick))];
    if values.len() <= 10 {
        keys.extend(values.iter().map(|&v| Key::Box(scale.colour(v), decimal(v))));
    }
    keys.extend(nothing(view, &all));
    let notes = vec![format!("{} of mu seen here", counted(values.len() as u64, "value"))];
    let facts = json!({ "mu": seen, "values": values.len(), "range": scale.ends });
    Drawn { ground: canvas(view, &all, |v| scale.colour(*v)), keys, notes, details: Vec::new(), facts }
}

fn cost(t: &Terrain, view: &View, range: Option<[f64; 2]>) -> Drawn {
    let above = t.bounds()[1][2] + 1.0;
    let all: Vec<Option<[u32; 2]>> = view.rows(None, |row, out| {
        for (column, to) in out.iter_mut().enumerate() {
            let [x, y] = view.middle(column, row);
            let (_, cost) = t.closest_costed([x, y, above]);
            *to = (cost.leaves > 0).then_some([cost.tests, cost.lines]);
        }
    });
    let bound = t.bound();
    let [tests, lines] = [0, 1].map(|i| ends(all.iter().flatten().map(|c| c[i])).unwrap_or_default());
    let count = all.iter().flatten().count().max(1) as f64;
    let mean = all.iter().flatten().map(|c| f64::from(c[0])).sum::<f64>() / count;
    let classes = Classes::new(range, 0, tests);
    let colour = |tests: u32| {
        let (class, count) = classes.of(tests);
        scale(class as f64 / (count.max(2) - 1) as f64)
    };
    let mut keys: Vec<Key> =
        classes.told(["test", "tests"]).into_iter().map(|(n, text)| Key::Box(colour(n), text)).collect();
    if all.iter().any(Option::is_none) {
        keys.push(Key::Box(NOTHING, "no leaf to read".into()));
    }
    let notes = vec![
        format!("at most {} tests here, {mean:.1} in the mean; stated for the whole image: {}", tests[1], bound.tests),
        format!("at most {} lines of 64 bytes here; stated: {}", lines[1], bound.lines),
    ];
    let facts = json!({
        "tests": tests[1], "lines": lines[1], "mean_tests": mean, "stated_tests": bound.tests, "stated_lines": bound.lines,
    });
    let ground = canvas(view, &all, |c| colour(c[0]));
    Drawn { ground, keys, notes, details: Vec::new(), facts }
}

fn error(t: &Terrain, view: &View, range: Option<[f64; 2]>) -> Drawn {
    let h = t.header();
    let stated: HashMap<[i64; 2], [f64; 2]> =
        read::tiles(t).map(|tile| ([tile.head.x.into(), tile.head.y.into()], tile.head.error)).collect();
    let step = f64::exp2(f64::from(h.xy_log2));
    let all: Vec<Option<[f64; 2]>> = view.rows(None, |row, out| {
        let tops = view.tops(t, row);
        for ((column, to), _) in out.iter_mut().enumerate().zip(&tops).filter(|(_, a)| a.found()) {
            let at = view.middle(column, row);
            let tile = [0, 1].map(|i| ((at[i] / step).floor() as i64 - h.origin[i]) >> h.tile_log2);
            *to = stated.get(&tile).copied();
        }
    });
    let [height, plan] = [1, 0].map(|i| ends(all.iter().flatten().map(|e| e[i])).unwrap_or_default());
    let scale = Scale::new(range, height);
    let mut keys = match scale.ends {
        [low, high] if low == high => vec![Key::Box(scale.colour(low), format!("{} everywhere", metres(low)))],
        _ => vec![Key::Bar(scale.bar(1.0, metres, |v, _| metres(v)))],
    };
    keys.extend(nothing(view, &all));
    let notes = vec![format!(
        "of each tile against its source: here up to {} in height and {} in plan",
        metres(height[1]),
        metres(plan[1])
    )];
    let facts =
        json!({ "height": height, "plan": plan, "stated": [h.error_plan, h.error_height], "range": scale.ends });
    let ground = canvas(view, &all, |e| scale.colour(e[1]));
    Drawn { ground, keys, notes, details: Vec::new(), facts }
}

/// How large letters and lines of a picture are drawn.
pub fn magnitude(view: &View) -> usize {
    ((view.width.max(view.height) + 800) / 1600).max(1)
}

/// ` above 5 m`: which heights count, if not all do.
fn band([low, high]: [f64; 2]) -> String {
    match (low.is_finite(), high.is_finite()) {
        (false, false) => String::new(),
        (true, false) => format!(" above {} m", place(low)),
        (false, true) => format!(" below {} m", place(high)),
        (true, true) => format!(" from {} to {} m", place(low), place(high)),
    }
}

/// Puts title, scale bar and legend around a map, and hatches what is no ground.
pub fn frame(drawn: Drawn, title: &str, view: &View) -> Sheet {
    let Drawn { ground, keys, notes, details, facts } = drawn;
    let k = magnitude(view);
    let edge = 16 * k;
    let some = if view.heights == ALL { String::new() } else { format!("ground{}; ", band(view.heights)) };
    let place = format!(
        "x {} to {} m, y {} to {} m; {}{} a pixel; north is up",
        place(view.window()[0]),
        place(view.window()[2]),
        place(view.window()[1]),
        place(view.window()[3]),
        some,
        metres(1.0 / view.per_metre)
    );
    let wide = |text: &str, size: Size| size.width(text) * k;
    let texts = notes.iter().chain([&place]).map(|n| wide(n, Size::Text));
    let inner = texts.chain([wide(title, Size::Title), ground.width]).max().unwrap_or(0);
    let (line, gap) = (Size::Text.height() * k, 8 * k);

    // the legend in rows: where each key goes, relative to its first row
    let bar = scale_bar(view, inner.min(ground.width.max(200 * k)));
    let key_width = |key: &Key| match key {
        Key::Box(_, text) | Key::Paint(_, text) | Key::Line(_, text) | Key::Ring(_, text) => {
            3 * line / 2 + gap + wide(text, Size::Text)
        }
        Key::Bar(Bar { ends: [low, high], .. }) => wide(low, Size::Text) + LONG * k + 2 * gap + wide(high, Size::Text),
    };
    let (mut places, mut x, mut row, mut rows) = (Vec::new(), 0, 0, 0);
    for key in &keys {
        let width = key_width(key);
        if x > 0 && x + width > inner {
            (x, row) = (0, rows);
        }
        let numbers = matches!(key, Key::Bar(bar) if !bar.ticks.is_empty()); // beneath it
        rows = rows.max(row + 1 + usize::from(numbers));
        places.push([x, row]);
        x += width + 2 * gap;
    }
    let inner = keys.iter().map(key_width).max().unwrap_or(0).max(inner);
    let pitch = line + gap;
    let top = edge + Size::Title.height() * k + gap + line + gap;
    let below = gap + 2 * line + gap + (rows + notes.len()) * pitch + edge;
    let mut canvas = Canvas::new(inner + 2 * edge, top + ground.height + below, WHITE);
    let write = |canvas: &mut Canvas, at: [usize; 2], text: &str, size| {
        canvas.letters(at.map(|v| v as i64), text, size, k as i64, INK);
    };
    write(&mut canvas, [edge, edge], title, Size::Title);
    write(&mut canvas, [edge, edge + Size::Title.height() * k + gap], &place, Size::Text);
    canvas.fill([edge - k, top - k], [ground.width + 2 * k, ground.height + 2 * k], INK);
    canvas.paste(&ground, [edge, top]);
    canvas.hatch([edge, top], [ground.width, ground.height], k);

    let mut y = top + ground.height + gap;
    let (length, pixels) = bar;
    canvas.fill([edge, y], [pixels, line / 2], INK);
    canvas.fill([edge + pixels / 2, y + k], [(pixels / 2).saturating_sub(k), (line / 2).saturating_sub(2 * k)], WHITE);
    write(&mut canvas, [edge, y + line / 2 + 2 * k], &metres(length), Size::Text);
    y += 2 * line + gap;
    let boxed = |canvas: &mut Canvas, [x, y]: [usize; 2], paint: Paint| {
        let [width, height] = [3 * line / 2, line];
        canvas.fill([x, y], [width, height], INK);
        for (column, row) in (k..height - k).flat_map(|row| (k..width - k).map(move |column| (column, row))) {
            canvas.fill([x + column, y + row], [1, 1], paint.at(column, row, k));
        }
        canvas.hatch([x + k, y + k], [width - 2 * k, height - 2 * k], k);
    };
    for (key, [x, row]) in keys.iter().zip(places) {
        let (x, y) = (edge + x, y + row * pitch);
        match key {
            Key::Box(colour, text) => {
                boxed(&mut canvas, [x, y], Paint::plain(*colour));
                write(&mut canvas, [x + 3 * line / 2 + gap, y], text, Size::Text);
            }
            Key::Paint(paint, text) => {
                boxed(&mut canvas, [x, y], *paint);
                write(&mut canvas, [x + 3 * line / 2 + gap, y], text, Size::Text);
            }
            Key::Line(colour, text) => {
                canvas.fill([x, y + line / 2 - k], [3 * line / 2, 2 * k], *colour);
                write(&mut canvas, [x + 3 * line / 2 + gap, y], text, Size::Text);
            }
            Key::Ring(colour, text) => {
                let middle = [x + 3 * line / 4, y + line / 2].map(|v| v as f64);
                canvas.ring(middle, 0.4 * line as f64, 1.5 * k as f64, *colour);
                write(&mut canvas, [x + 3 * line / 2 + gap, y], text, Size::Text);
            }
            Key::Bar(Bar { colours, ends: [low, high], ticks }) => {
                write(&mut canvas, [x, y], low, Size::Text);
                let x = x + wide(low, Size::Text) + gap;
                for (i, colour) in colours.iter().enumerate() {
                    canvas.fill([x + i * k, y], [k, line], *colour);
                }
                write(&mut canvas, [x + LONG * k + gap, y], high, Size::Text);
                for (at, number) in ticks {
                    let x = x + (at * k as f64) as usize;
                    canvas.fill([x, y + line], [k, 4 * k], INK);
                    let left = x.saturating_sub(wide(number, Size::Text) / 2);
                    write(&mut canvas, [left, y + line + 4 * k], number, Size::Text);
                }
            }
        }
    }
    y += rows * pitch;
    for note in &notes {
        write(&mut canvas, [edge, y], note, Size::Text);
        y += pitch;
    }
    let barren = ground.pixels.iter().all(|p| *p == NOTHING);
    Sheet { canvas, at: [edge, top], notes, details, facts, barren }
}

/// A coordinate.
pub fn place(v: f64) -> String {
    let text = format!("{v:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// A round length of at most a third of so many pixels, and its pixels.
fn scale_bar(view: &View, pixels: usize) -> (f64, usize) {
    let most = pixels as f64 / 3.0 / view.per_metre;
    let ten = 10f64.powf(most.log10().floor());
    let length = [5.0, 2.0, 1.0].into_iter().map(|n| n * ten).find(|n| *n <= most).unwrap_or(ten);
    (length, (length * view.per_metre).round().max(1.0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_and_sizes() {
        assert_eq!(" -1,2.5,3,4".parse(), Ok(Window([-1.0, 2.5, 3.0, 4.0])));
        for bad in ["", "1,2,3", "1,2,1,4", "1,2,3,nan", "1,2,3,4,5"] {
            assert!(bad.parse::<Window>().is_err(), "{bad}");
        }
        assert_eq!(size("640x480"), Ok([Some(640), Some(480)]));
        assert_eq!(size("640"), Ok([Some(640), None]));
        assert!(["0", "x", "640x", "70000", "-1"].iter().all(|bad| size(bad).is_err()));
        assert_eq!([1234.0, 12.345, 0.25, 0.0034, 0.0].map(metres), ["1.23 km", "12.3 m", "25 cm", "3.4 mm", "0 m"]);
        assert_eq!([999.7, 0.9996, -0.9994, 0.009996].map(metres), ["1 km", "1 m", "-99.9 cm", "1 cm"]);
    }

    #[test]
    fn bars_are_round_and_fit() {
        for per_metre in [0.003, 0.7, 6.0, 1234.5] {
            let view = View { west: 0.0, north: 0.0, per_metre, width: 900, height: 10, heights: ALL };
            let (length, pixels) = scale_bar(&view, 900);
            assert!((60..=300).contains(&pixels), "{pixels}");
            assert!(["1", "2", "5"].contains(&format!("{length:e}").split('e').next().unwrap()), "{length:e}");
        }
    }
}
