//! `hardpan diff`: what differs between two images, in bytes, in facts and on the ground.

use std::{array, cmp::Reverse, collections::BTreeMap, io::Write, mem, ops::Range, path::PathBuf};

use hardpan::{Hit, Terrain, format::section};
use hardpan_builder::{import::file_name, names::section_name, read};
use hashbrown::HashSet;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Done, Failure, NewFile, Replace,
    border::{Border, Edge, span},
    changes::{self, Changes, Seen},
    costs, counted,
    crossings::{Corners, Found, MOST as CROSSINGS, by_place, crossings},
    decimal, few, grouped, has_extension,
    info::{self, fallback, hex},
    is_nowhere, load,
    maps::{self, Window},
    materials::settings_of,
    note,
    query::room,
    same, scale, shown, terrain,
};

#[derive(clap::Args)]
#[command(after_help = "\
Asked are every vertex and the middle of every triangle of both images; every place where an edge that only one has crosses one that only
the other has, up to 4,000,000, beyond which it is said that some are missing; places along the edges where the ground of only one ends, on
them and 1 mm and 1 cm beside; a place in each square of a grid; and with --png the middle of each pixel. So of triangles that cover each
place once the largest change of height is found, wherever it is: it lies at a vertex or at a crossing. Of more layers than one, of ground
lost and gained and of material, what is smaller than all that, and between the squares on a field of heights, is not seen. Of the heights over one place two are a pair if each is the nearest of the other;
ground without a partner is lost or gained.
Areas are those of the squares whose place it is, which lies near the middle (at 0.529508 and 0.448223 of its sides) so that it meets no edge
of round coordinates: a border is off by about half a square, and a finer --grid is nearer. What is no more at a place 4 mm away, as where all
was moved by a step or two of the lattice, has no area: it lies along an edge.
Equal means equal identity and equal content; sources and settings that were recorded beside it may differ.
With --tolerance, images are alike if at no place a height of a pair differs by more or ground is lost or gained, and materials with all that they
have, windows and what answers without ground are the same; how the ground is divided, its bytes, extents and sources may differ.
The map of --png shows what was found at all these places, but for ground lost or gained along edges alone; of heights the largest change
in each pixel, whichever layer has it.
Exit codes: 0 equal, or alike within the tolerance; 1 different; 2 an image that cannot be read or is damaged.")]
pub struct Args {
    /// Terrain image
    first: PathBuf,
    /// The image to hold against it
    second: PathBuf,
    /// Side of the grid's squares in metres [default: 1/500 of the longer side]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = pitch)]
    grid: Option<f64>,
    /// Heights that differ by no more count as equal; with exit code 0 if nothing else on the ground differs
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = tolerance)]
    tolerance: Option<f64>,
    /// Draw a map of the changes: heights and friction up and down, ground lost and gained, other material
    #[arg(long, value_name = "FILE.png")]
    png: Option<PathBuf>,
    /// The part to draw, in metres [default: all]
    #[arg(long, value_name = "x0,y0,x1,y1", allow_hyphen_values = true, requires = "png")]
    window: Option<Window>,
    /// Pixels of the ground: the width, or width and height [default: 1600 on the longer side]
    #[arg(long, value_name = "W[xH]", value_parser = maps::size, conflicts_with = "per_metre", requires = "png")]
    size: Option<[Option<usize>; 2]>,
    /// Pixels a metre
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = maps::per_metre, requires = "png")]
    per_metre: Option<f64>,
    /// Changes of height at which the colours of the map end, metres, so that pictures with the same ends can be compared
    /// [default: the largest change, up and down]
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true, value_parser = range, requires = "png")]
    range: Option<[f64; 2]>,
    /// Replace a picture that hardpan did not draw
    #[arg(long)]
    force: bool,
    /// Print the facts as JSON
    #[arg(long)]
    json: bool,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|v: &f64| *v >= 0.0 && v.is_finite());
    value.ok_or_else(|| "must be a number of metres, 0 or more".into())
}

fn range(text: &str) -> Result<[f64; 2], String> {
    let end = |v: f64| v == 0.0 || v >= scale::FINEST;
    let sane = |[low, high]: &[f64; 2]| end(-low) && end(*high) && low < high;
    scale::pair(text)
        .filter(sane)
        .ok_or_else(|| "LOW,HIGH, two changes of height with 0 between them, of 0.00001 m at least, as -0.5,0.5".into())
}

fn pitch(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if (1e-9..=1e9).contains(&value) { Ok(value) } else { Err("must be above zero, from 1e-9 to 1e9 m".into()) }
}

/// Squares along a side of the grid by default, and the most that there may be in all.
const SIDE: f64 = 500.0;
const MOST: f64 = 1e9;
/// Where in a square its place lies, of its sides: near the middle, and on no edge of round coordinates.
const IN_SQUARE: [f64; 2] = [0.529_508, 0.448_223];
/// Metres from a place to those about it, at one of which a difference is no more if it lies along an edge.
const ASIDE: f64 = 0.004;
/// Places that are looked at together.
const CHUNK: usize = 1 << 14;

/// Pairs of materials that the table shows, those at most places first.
const SHOWN: usize = 10;

#[derive(Serialize)]
struct Difference {
    equal: bool,
    /// Whether they are alike within the tolerance, if there is one.
    alike: Option<bool>,
    identity: [String; 2],
    /// Facts that differ.
    facts: Vec<Fact>,
    sources: Sources,
    /// Names of materials that are only in one image, or have other properties.
    materials: Materials,
    first_byte: Option<FirstByte>,
    ground: Option<Ground>,
    /// Where it was drawn, if it was: its pixels were asked too.
    picture: Option<Value>,
}

/// A fact of the one image and of the other.
#[derive(Serialize)]
struct Fact {
    name: &'static str,
    first: String,
    second: String,
}

/// How many sources either image has, and names that only one has.
#[derive(Serialize)]
struct Sources {
    count: [usize; 2],
    lost: Vec<String>,
    gained: Vec<String>,
}

#[derive(Serialize)]
struct Materials {
    lost: Vec<String>,
    gained: Vec<String>,
    changed: Vec<String>,
    /// What is another of those that changed.
    values: Vec<Property>,
}

/// A property of a material in the one image and in the other.
#[derive(Serialize)]
struct Property {
    name: String,
    field: String,
    from: Value,
    to: Value,
}

#[derive(Serialize)]
struct FirstByte {
    offset: u64,
    section: &'static str,
    /// Whether it belongs to what the identity covers.
    content: bool,
}

/// What was found on the ground.
#[derive(Clone, Default, Serialize)]
pub struct Ground {
    grid: f64,
    /// Up to which heights count as equal, metres.
    pub tolerance: f64,
    places: u64,
    /// Those of them where edges cross that only one image has.
    crossings: Found,
    /// Places with ground in both images.
    shared: u64,
    /// Places with a height that changed.
    changed: Count,
    largest: Option<Change>,
    lost: Count,
    gained: Count,
    mu_higher: Count,
    mu_lower: Count,
    materials: Vec<MaterialChange>,
}

impl Ground {
    /// Whether no place has ground in both.
    pub fn apart(&self) -> bool {
        self.shared == 0
    }

    /// Whether ground is lost or gained along edges alone.
    pub fn thin(&self) -> bool {
        [self.lost, self.gained].iter().any(|count| count.places > 0 && !count.wide())
    }
}

/// A change of height: where, and from what to what.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Change {
    at: [f64; 2],
    from: f64,
    to: f64,
}

/// How many places, the least of them by x and y, and where they lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Count {
    places: u64,
    /// Those of them 1 cm beside where ground ends, and not along another edge.
    beside: u64,
    first: Option<[f64; 3]>,
    /// Their least and greatest x and y.
    extent: Option<[[f64; 2]; 2]>,
    /// That of the grid's squares whose places they are, without those along edges, m2.
    area: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct MaterialChange {
    from: String,
    to: String,
    #[serde(flatten)]
    count: Count,
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let [first, second] = [&args.first, &args.second].map(|path| load(path).map(|image| (path, image)));
    let ((path_a, image_a), (path_b, image_b)) = (first?, second?);
    let (a, b) = (terrain(path_a, &image_a)?, terrain(path_b, &image_b)?);
    let first_byte = first_byte(&a, &b);
    let equal = a.identity() == b.identity() && content_of(&a).eq(content_of(&b));
    if let Some(place) = &args.png {
        if !has_extension(place, "png") && !is_nowhere(place) {
            return Err(Failure::input(place, "maps are PNG; name it FILE.png"));
        }
        if [path_a, path_b].into_iter().any(|image| same(place, image)) {
            return Err(Failure::input(place, "the map would replace an image; name another file"));
        }
        Replace::PICTURE.or_any(args.force).check(place)?;
    }
    let picture = match &args.png {
        Some(place) => {
            let view = changes::view(&a, &b, args.window, args.size, args.per_metre);
            Some(Changes::new(view.map_err(|e| Failure::input(place, e))?))
        }
        None => None,
    };
    let looked = (!equal || picture.is_some())
        .then(|| ground(&a, &b, args.grid, args.tolerance.unwrap_or(0.0), picture.as_ref()))
        .transpose()?;
    let sheet = picture.zip(looked.as_ref()).map(|(picture, ground)| {
        let title = [path_a, path_b].map(|path| shown(&file_name(path))).join(" -> ");
        (picture.view, picture.draw(ground, args.range, &title))
    });
    let mut difference = Difference {
        equal,
        alike: None,
        identity: [&a, &b].map(|t| hex(&t.identity())),
        facts: facts(&a, &b),
        sources: sources(&a, &b),
        materials: materials(&a, &b),
        first_byte,
        ground: looked.filter(|_| !equal),
        picture: None,
    };
    difference.alike = args.tolerance.map(|_| difference.alike());
    let drawn = args.png.as_ref().zip(sheet.as_ref());
    if let Some((place, (view, sheet))) = drawn {
        NewFile::write(place, &sheet.canvas.png()?)?.keep()?;
        difference.picture = Some(json!({
            "file": place.to_string_lossy(), "ground_at": sheet.at, "pixels": [view.width, view.height],
            "window": view.window(), "metres_per_pixel": 1.0 / view.per_metre,
        }));
    }
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&difference).expect("names, numbers and lists"))?;
    } else {
        print(&difference, out)?;
        if let Some((place, (view, sheet))) = drawn {
            writeln!(out, "{}", sheet.said(place, view))?;
        }
    }
    if drawn.is_some_and(|(_, (_, sheet))| sheet.barren) {
        note("no ground is met in the picture; see x and y of hardpan info for a --window");
    }
    if equal || difference.alike == Some(true) { Ok(()) } else { Err(Failure::Different) }
}

impl Difference {
    /// Whether nothing differs on the ground, but heights within the tolerance.
    fn alike(&self) -> bool {
        let answers = |fact: &Fact| matches!(fact.name, WINDOWS | NO_GROUND);
        let Materials { lost, gained, values, .. } = &self.materials;
        let named = lost.is_empty() && gained.is_empty() && values.is_empty();
        let same = |g: &Ground| {
            [g.changed, g.lost, g.gained].iter().all(|c| c.places == 0) && g.materials.is_empty() && g.shared > 0
        };
        self.equal || named && !self.facts.iter().any(answers) && self.ground.as_ref().is_some_and(same)
    }
}

/// Facts that decide answers, wherever the ground lies.
const WINDOWS: &str = "windows";
const NO_GROUND: &str = "no ground";

/// The content header and the bytes of every content section.
fn content_of<'a>(t: &Terrain<'a>) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    let (bytes, sections) = (t.bytes(), &t.header().sections);
    let content = sections.iter().filter(|s| s.flags & section::CONTENT != 0);
    std::iter::once(&bytes[HEADER]).chain(content.map(|s| &bytes[s.offset as usize..][..s.len as usize]))
}

/// The content header.
const HEADER: Range<usize> = 64..512;

fn first_byte(a: &Terrain, b: &Terrain) -> Option<FirstByte> {
    let (x, y) = (a.bytes(), b.bytes());
    // the head's checksum and the identity follow from everything else: they are named only if nothing else is
    let differs = |range: Range<usize>| x[range.clone()].iter().zip(&y[range]).position(|(p, q)| p != q);
    let (head, least) = (hardpan::format::HEAD_LEN, x.len().min(y.len()));
    let offset = differs(HEADER)
        .map(|i| i + HEADER.start)
        .or_else(|| differs(head..least).map(|i| i + head))
        .or_else(|| (x.len() != y.len()).then_some(least))
        .or_else(|| differs(0..least))?;
    let within = |s: &&hardpan::format::Section| {
        (s.offset..s.offset + s.len.next_multiple_of(hardpan::format::ALIGN as u64)).contains(&(offset as u64))
    };
    let of = |t: &Terrain| t.header().sections.iter().filter(|s| s.kind != 0).find(within).map(|s| (s.kind, s.flags));
    let (section, content) = match of(a).or(of(b)) {
        _ if HEADER.contains(&offset) => ("content header", true),
        Some((kind, flags)) => (section_name(kind), flags & section::CONTENT != 0),
        None => ("head", false),
    };
    Some(FirstByte { offset: offset as u64, section, content })
}

fn facts(a: &Terrain, b: &Terrain) -> Vec<Fact> {
    let of = |t: &Terrain| {
        let (h, [low, high], bound) = (t.header(), t.bounds(), t.bound());
        let metres = |z: i64| z as f64 * 2f64.powi(h.z_log2 - 8);
        let extent = |i: usize| format!("{} to {} m", short(low[i]), short(high[i]));
        [
            ("x", extent(0)),
            ("y", extent(1)),
            ("z", extent(2)),
            ("lattice", format!("2^{} m, 2^{} m", h.xy_log2, h.z_log2)),
            ("triangles", grouped(h.triangles)),
            ("heights", grouped(h.patch_blocks)),
            ("tiles", format!("{} of 2^{} steps", grouped(h.tile_count.into()), h.tile_log2)),
            ("references", grouped(h.references)),
            ("bundles", grouped(h.bundles)),
            ("bytes", grouped(h.total_len)),
            ("layer bound", grouped(t.max_layers().into())),
            ("query cost", costs(&bound)),
            (WINDOWS, format!("near {} m, far {} m, merge {} m", metres(h.near), metres(h.far), metres(h.layer_merge))),
            (
                NO_GROUND,
                format!(
                    "{}; z {} m, mu {}, rr {}, gain {}",
                    fallback(h.fallback),
                    metres(h.default_z),
                    h.default_mu,
                    h.default_rolling,
                    h.default_gain
                ),
            ),
            ("error", format!("{:.9} m, {:.9} m", h.error_plan, h.error_height)),
        ]
    };
    of(a)
        .into_iter()
        .zip(of(b))
        .filter(|(p, q)| p.1 != q.1)
        .map(|((name, first), (_, second))| Fact { name, first, second })
        .collect()
}

/// The names in one that are not in the other.
fn only<T>(one: &BTreeMap<String, T>, other: &BTreeMap<String, T>) -> Vec<String> {
    one.keys().filter(|name| !other.contains_key(*name)).cloned().collect()
}

fn sources(a: &Terrain, b: &Terrain) -> Sources {
    let of = |t: &Terrain| (0..t.source_count()).map(|i| (t.source_name(i as u16).into(), ())).collect();
    let [p, q]: [BTreeMap<String, ()>; 2] = [of(a), of(b)];
    Sources { count: [a, b].map(Terrain::source_count), lost: only(&p, &q), gained: only(&q, &p) }
}

fn materials(a: &Terrain, b: &Terrain) -> Materials {
    let of = |t: &Terrain| -> BTreeMap<String, Value> {
        let all = info::materials(t);
        // whether its faces were used at all stands beside the table
        let included = settings_of(t).materials.into_iter().map(|rule| rule.include.unwrap_or(true));
        all.as_array()
            .into_iter()
            .flatten()
            .zip(included)
            .map(|(m, included)| {
                let mut m = m.clone();
                m["include"] = included.into();
                (m["name"].as_str().unwrap_or_default().into(), m)
            })
            .collect()
    };
    let (a, b) = (of(a), of(b));
    let mut values = Vec::new();
    for (name, m) in &a {
        for (field, from) in m.as_object().into_iter().flatten() {
            if let Some(to) = b.get(name).map(|other| &other[field]).filter(|to| *to != from) {
                values.push(Property { name: name.clone(), field: field.clone(), from: from.clone(), to: to.clone() });
            }
        }
    }
    let changed = values.chunk_by(|p, q| p.name == q.name).map(|of_one| of_one[0].name.clone()).collect();
    Materials { lost: only(&a, &b), gained: only(&b, &a), changed, values }
}

/// A place in plan.
#[derive(Clone, Copy)]
struct Place {
    /// Metres.
    at: [f64; 2],
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// The place of a square of the grid, of so many m2.
    Square(f64),
    /// The middle of a pixel.
    Pixel,
    /// 1 cm beside an edge where ground ends.
    Beside,
    /// Of a triangle, or along an edge.
    Mark,
}

/// Squares over the ground of two images, by columns from the west, each from the south.
struct Grid {
    low: [f64; 2],
    high: [f64; 2],
    /// Side of a square, metres.
    pitch: f64,
    /// Columns and rows.
    count: [usize; 2],
}

impl Grid {
    fn new(a: &Terrain, b: &Terrain, pitch: Option<f64>) -> Done<Self> {
        let (bounds_a, bounds_b) = (a.bounds(), b.bounds());
        let low = [0, 1].map(|i| bounds_a[0][i].min(bounds_b[0][i]));
        let high = [0, 1].map(|i| bounds_a[1][i].max(bounds_b[1][i]));
        let side = (high[0] - low[0]).max(high[1] - low[1]);
        let pitch = pitch.unwrap_or(if side > 0.0 { side / SIDE } else { 1.0 });
        let count = [0, 1].map(|i| ((high[i] - low[i]) / pitch).ceil().max(1.0));
        if count[0] * count[1] > MOST {
            let most = grouped(MOST as u64);
            let text = format!("a grid of {pitch} m has more than {most} places here; try --grid {}", side / SIDE);
            return Err(Failure::Input(text));
        }
        Ok(Grid { low, high, pitch, count: count.map(|n| n as usize) })
    }

    fn places(&self) -> usize {
        self.count[0] * self.count[1]
    }

    fn place(&self, number: usize) -> Place {
        let [(x, wide), (y, deep)] = [self.strip(0, number / self.count[1]), self.strip(1, number % self.count[1])];
        Place { at: [x, y], kind: Kind::Square(wide * deep) }
    }

    /// Where the places of a column or a row lie, and its width: the last ends with the ground.
    fn strip(&self, axis: usize, number: usize) -> (f64, f64) {
        let [from, to] = [number, number + 1].map(|n| (self.low[axis] + n as f64 * self.pitch).min(self.high[axis]));
        (from + (to - from) * IN_SQUARE[axis], to - from)
    }

    /// Whether a place is that of a square.
    fn has(&self, place: [f64; 2]) -> bool {
        [0, 1].into_iter().all(|axis| {
            let number = ((place[axis] - self.low[axis]) / self.pitch) as usize; // or beside it, where that is rounded
            (number.saturating_sub(1)..self.count[axis].min(number + 2)).any(|n| self.strip(axis, n).0 == place[axis])
        })
    }
}

/// All triangles in plan, metres.
fn plan(t: &Terrain) -> Vec<Corners> {
    let (origin, step) = (t.header().origin, 2f64.powi(t.header().xy_log2));
    let metres = |c: [i32; 3]| [0, 1].map(|i| (origin[i] + i64::from(c[i])) as f64 * step);
    read::triangles(t).into_iter().map(|s| s.corners.map(metres)).collect()
}

/// The middles of triangles and their vertices, in metres.
fn marks(triangles: &[Corners]) -> impl Iterator<Item = [f64; 2]> {
    let mut vertices: Vec<[f64; 2]> = triangles.as_flattened().to_vec();
    vertices.par_sort_unstable_by(by_place);
    vertices.dedup();
    // what a query rounds them by leaves them inside but for slivers
    let middle = |[a, b, c]: &Corners| [0, 1].map(|i| a[i] + ((b[i] - a[i]) + (c[i] - a[i])) / 3.0);
    triangles.iter().map(middle).chain(vertices)
}

/// Metres from where ground ends to the places beside it: more than a lattice step, and more than what edges move by in another build.
const BESIDE: [f64; 2] = [0.001, 0.01];
/// Metres from one place along an edge to the next, or so many of all edges' lengths, if that is more.
const ALONG: [f64; 2] = [4.0, 1e6];
/// Places along one edge at least, and at most: those of a proper fraction of 256, which lie on the edge exactly.
const ON: [f64; 2] = [3.0, 255.0];

/// Places along the edges where the ground of one image ends, and not that of the other on the same side: on them, and beside them where there
/// is none.
fn borders(a: &Terrain, b: &Terrain) -> Vec<Place> {
    let edges = |t: &Terrain| -> Vec<Edge> {
        let Border { open, folds } = Border::of(t);
        open.into_iter().chain(folds).collect()
    };
    let key = |e: &Edge| {
        let [[ax, ay], [bx, by]] = e.plan;
        [ax, ay, e.z[0], bx, by, e.z[1], e.away[0], e.away[1]].map(|v| (v + 0.0).to_bits())
    };
    let [p, q] = [edges(a), edges(b)];
    let [in_p, in_q] = [&p, &q].map(|edges| edges.iter().map(key).collect::<HashSet<_>>());
    let only: Vec<&Edge> =
        p.iter().filter(|e| !in_q.contains(&key(e))).chain(q.iter().filter(|e| !in_p.contains(&key(e)))).collect();
    let pitch = ALONG[0].max(only.iter().map(|e| span(e.plan)).sum::<f64>() / ALONG[1]);
    let of = |e: &Edge| {
        let parts = (span(e.plan) / pitch).clamp(ON[0], ON[1]).floor() + 1.0;
        (1..parts as usize)
            .flat_map(|k| {
                let [x, y, _] = e.on((256.0 * k as f64 / parts).round() / 256.0);
                let beside = |far: f64| [x + far * e.away[0], y + far * e.away[1]];
                [([x, y], Kind::Mark), (beside(BESIDE[0]), Kind::Mark), (beside(BESIDE[1]), Kind::Beside)]
            })
            .map(|(at, kind)| Place { at, kind })
            .collect::<Vec<_>>()
    };
    only.into_iter().flat_map(of).collect()
}

fn ground(a: &Terrain, b: &Terrain, pitch: Option<f64>, tolerance: f64, picture: Option<&Changes>) -> Done<Ground> {
    let grid = Grid::new(a, b, pitch)?;
    let triangles = [a, b].map(plan);
    let (crossed, crossings) = crossings(&triangles[0], &triangles[1]);
    let ends = triangles.iter().flat_map(|triangles| marks(triangles));
    let mut marks: Vec<Place> = ends.chain(crossed).map(|at| Place { at, kind: Kind::Mark }).collect();
    drop(triangles);
    marks.extend(borders(a, b));
    marks.retain(|p| !grid.has(p.at));
    marks.par_sort_unstable_by(|p, q| by_place(&p.at, &q.at).then((p.kind == Kind::Mark).cmp(&(q.kind == Kind::Mark))));
    marks.dedup_by_key(|p| p.at);
    let squares = marks.len()..marks.len() + grid.places();
    let all = squares.end + picture.map_or(0, Changes::pixels);
    let place = |i: usize| match marks.get(i) {
        Some(mark) => Some(*mark),
        None if squares.contains(&i) => Some(grid.place(i - squares.start)),
        // a place is asked once
        None => picture.map(|p| p.middle(i - squares.end)).and_then(|at| {
            let asked = grid.has(at) || marks.binary_search_by(|p| by_place(&p.at, &at)).is_ok();
            (!asked).then_some(Place { at, kind: Kind::Pixel })
        }),
    };
    // parts in order, so that sums are the same whatever the threads
    let parts: Vec<Part> = (0..all.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let mut part = Part::default();
            let mut space = Space { hits: [room(a), room(b)], ..Space::default() };
            let places = (chunk * CHUNK..all.min((chunk + 1) * CHUNK)).filter_map(place);
            let mut seen: Vec<([f64; 2], Seen)> = places
                .filter_map(|place| part.look([a, b], place, tolerance, &mut space).map(|seen| (place.at, seen)))
                .collect();
            picture.into_iter().for_each(|picture| picture.see(mem::take(&mut seen)));
            part
        })
        .collect();
    let mut all = Part::default();
    parts.into_iter().for_each(|part| all.join(part));
    let Part { places, shared, changed, largest, lost, gained, mu_higher, mu_lower, materials } = all;
    let named = |((from, to), count)| MaterialChange {
        from: a.material_name(from).into(),
        to: b.material_name(to).into(),
        count,
    };
    let mut materials: Vec<MaterialChange> = materials.into_iter().map(named).collect();
    materials.sort_by_key(|m| (Reverse(m.count.places), m.from.clone(), m.to.clone()));
    Ok(Ground {
        grid: grid.pitch,
        tolerance,
        places,
        crossings,
        shared,
        changed,
        largest,
        lost,
        gained,
        mu_higher,
        mu_lower,
        materials,
    })
}

/// What some places have.
#[derive(Default)]
struct Part {
    places: u64,
    shared: u64,
    changed: Count,
    largest: Option<Change>,
    lost: Count,
    gained: Count,
    mu_higher: Count,
    mu_lower: Count,
    /// By number in both images, where the names differ.
    materials: BTreeMap<(u16, u16), Count>,
}

impl Count {
    fn add(&mut self, place: Place, z: f64) {
        let [x, y] = place.at;
        let area = if let Kind::Square(area) = place.kind { area } else { 0.0 };
        let (first, extent) = (Some([x, y, z]), Some([[x, y]; 2]));
        self.join(&Count { places: 1, beside: u64::from(place.kind == Kind::Beside), first, extent, area });
    }

    fn join(&mut self, other: &Count) {
        self.places += other.places;
        self.beside += other.beside;
        self.area += other.area;
        let first = [self.first, other.first].into_iter().flatten();
        self.first = first.min_by(|p, q| by_place(&[p[0], p[1]], &[q[0], q[1]]));
        self.extent = match (self.extent, other.extent) {
            (Some([low, high]), Some([l, h])) => {
                Some([[0, 1].map(|i| low[i].min(l[i])), [0, 1].map(|i| high[i].max(h[i]))])
            }
            (one, other) => one.or(other),
        };
    }

    /// Whether it is no mere edge.
    fn wide(&self) -> bool {
        self.area > 0.0 || self.beside > 0
    }

    /// `at 1,109 places, about 551 m2, x -5 to 5, y -50 to 50`.
    fn lies(&self) -> String {
        let [low, high] = self.extent.unwrap_or_default().map(|p| p.map(short));
        let area = match self.area {
            0.0 => "no area by the grid".into(),
            area => format!("about {} m2", four_digits(area)),
        };
        let places = counted(self.places, "place");
        format!("at {places}, {area}, x {} to {}, y {} to {}", low[0], high[0], low[1], high[1])
    }

    /// The same, and `, the first -5,-49,6`.
    fn said(&self) -> String {
        let [x, y, z] = self.first.unwrap_or_default().map(short);
        format!("{}, the first {x},{y},{z}", self.lies())
    }
}

impl Part {
    /// What a place shows, if it is to be seen.
    fn look(&mut self, images: [&Terrain; 2], place: Place, tolerance: f64, space: &mut Space) -> Option<Seen> {
        let mut here = mem::take(&mut space.here);
        self.shared += u64::from(pairs(images, place.at, tolerance, space, &mut here));
        self.places += 1;
        let wide = wide(&here, images, place, tolerance, space);
        let kind = |wide: bool| if wide { place } else { Place { kind: Kind::Mark, ..place } };
        let mut seen = Seen { ground: !here.is_empty(), ..Seen::default() };
        let mut changed: Option<(f64, bool)> = None;
        for (pair, wide) in here.iter().zip(&wide) {
            let ([from, to], at) = (pair.z, |of: usize| kind(wide[of]));
            if pair.told[LOST] {
                self.lost.add(at(LOST), from);
                seen.lost |= wide[LOST];
            }
            if pair.told[GAINED] {
                self.gained.add(at(GAINED), to);
                seen.gained |= wide[GAINED];
            }
            if pair.told[CHANGED] {
                let (_, some) = changed.get_or_insert((to, false));
                *some |= wide[CHANGED];
                self.change(Change { at: place.at, from, to });
                seen.join(Seen { change: to - from, ..seen });
            }
            if pair.told[MU_HIGHER] {
                self.mu_higher.add(at(MU_HIGHER), to);
                seen.mu_higher = true;
            }
            if pair.told[MU_LOWER] {
                self.mu_lower.add(at(MU_LOWER), to);
                seen.mu_lower = true;
            }
            if let [Some(p), Some(q)] = &pair.hits {
                let [m, n] = [images[0].material(p), images[1].material(q)];
                seen.other |= pair.told[RENAMED] || [m.rolling, m.gain] != [n.rolling, n.gain];
                if pair.told[RENAMED] {
                    self.materials.entry((p.material, q.material)).or_default().add(at(RENAMED), to);
                }
            }
        }
        changed.into_iter().for_each(|(z, wide)| self.changed.add(kind(wide), z));
        space.here = here;
        (seen.differs() || seen.ground && place.kind == Kind::Pixel).then_some(seen)
    }

    fn change(&mut self, change: Change) {
        let size = |c: &Change| (c.to - c.from).abs();
        let before = |c: &Change, l: &Change| by_place(&c.at, &l.at).is_lt();
        let larger = |l: &Change| size(&change) > size(l) || size(&change) == size(l) && before(&change, l);
        if self.largest.as_ref().is_none_or(larger) {
            self.largest = Some(change);
        }
    }

    fn join(&mut self, later: Part) {
        self.places += later.places;
        self.shared += later.shared;
        self.changed.join(&later.changed);
        later.largest.into_iter().for_each(|c| self.change(c));
        self.lost.join(&later.lost);
        self.gained.join(&later.gained);
        self.mu_higher.join(&later.mu_higher);
        self.mu_lower.join(&later.mu_lower);
        later.materials.iter().for_each(|(k, count)| self.materials.entry(*k).or_default().join(count));
    }
}

/// Ground over a place: of both images, or of one alone.
struct Pair {
    hits: [Option<Hit>; 2],
    /// Metres; of one alone its height twice.
    z: [f64; 2],
    told: Told,
}

/// What may be told of a pair.
type Told = [bool; 6];
const LOST: usize = 0;
const GAINED: usize = 1;
const CHANGED: usize = 2;
const MU_HIGHER: usize = 3;
const MU_LOWER: usize = 4;
const RENAMED: usize = 5;

impl Pair {
    fn new(images: [&Terrain; 2], hits: [Option<Hit>; 2], tolerance: f64) -> Self {
        let [from, to] = [0, 1].map(|i| hits[i].as_ref().map(|hit| images[i].z_f64(hit)));
        let z = [from.or(to), to.or(from)].map(Option::unwrap_or_default);
        let mut told = [false; 6];
        (told[LOST], told[GAINED]) = (to.is_none(), from.is_none());
        if let [Some(p), Some(q)] = &hits {
            let ([a, b], mu) = (images, |t: &Terrain, hit: &Hit| t.material(hit).mu);
            told[CHANGED] = (z[1] - z[0]).abs() > tolerance;
            told[MU_HIGHER] = mu(b, q) > mu(a, p);
            told[MU_LOWER] = mu(b, q) < mu(a, p);
            told[RENAMED] = a.material_name(p.material) != b.material_name(q.material);
        }
        Pair { hits, z, told }
    }

    /// An image that has it, and what it has.
    fn side(&self) -> Option<(usize, &Hit)> {
        (0..2).find_map(|i| Some((i, self.hits[i].as_ref()?)))
    }
}

/// Room for what lies over a place, and over one about it.
#[derive(Default)]
struct Space {
    hits: [Vec<Hit>; 2],
    here: Vec<Pair>,
    there: Vec<Pair>,
}

/// All ground over a place; two heights are a pair if each is the nearest of the other. Whether there is ground in both images.
fn pairs(images: [&Terrain; 2], [x, y]: [f64; 2], tolerance: f64, space: &mut Space, into: &mut Vec<Pair>) -> bool {
    into.clear();
    let [p, q] = [0, 1].map(|i| images[i].layers([x, y, 0.0], &mut space.hits[i]).written);
    let hits = [&space.hits[0][..p], &space.hits[1][..q]];
    let z = [0, 1].map(|i| hits[i].iter().map(|hit| images[i].z_f64(hit)).collect::<Vec<f64>>());
    let partner = |of: usize, i: usize| {
        nearest(&z[1 - of], z[of][i]).filter(|&k| nearest(&z[of], z[1 - of][k]) == Some(i)).map(|k| hits[1 - of][k])
    };
    let pair = |hits| Pair::new(images, hits, tolerance);
    into.extend((0..p).map(|i| pair([Some(hits[0][i]), partner(0, i)])));
    into.extend((0..q).filter(|k| partner(1, *k).is_none()).map(|k| pair([None, Some(hits[1][k])])));
    p > 0 && q > 0
}

/// Directions in which a difference may end.
const AROUND: [[f64; 2]; 8] = {
    const D: f64 = std::f64::consts::FRAC_1_SQRT_2;
    [[1., 0.], [0., 1.], [-1., 0.], [0., -1.], [D, D], [-D, D], [-D, -D], [D, -D]]
};

/// Of what is told of pairs at a place, what counts for areas: the same ground has it a little aside too, wherever that is, or where it
/// ends other ground there. Heights that
/// change no more than ground moved so little would change count so.
fn wide(here: &[Pair], images: [&Terrain; 2], place: Place, tolerance: f64, space: &mut Space) -> Vec<Told> {
    let counts = |of: usize| match place.kind {
        Kind::Mark => false,
        Kind::Pixel => of == LOST || of == GAINED,
        Kind::Beside => of != CHANGED,
        Kind::Square(_) => true,
    };
    let mut wide: Vec<Told> = here.iter().map(|pair| array::from_fn(|of| pair.told[of] && counts(of))).collect();
    let plane = |pair: &Pair| {
        let (side, hit) = pair.side()?;
        let [sx, sy] = images[side].slope_f64(hit);
        Some((side, [sx, sy], ASIDE * (1.0 + (sx * sx + sy * sy).sqrt())))
    };
    let planes: Vec<_> = here.iter().map(plane).collect();
    let doubtful = |i: usize, of: usize| {
        let slight = planes[i].is_none_or(|(.., most)| (here[i].z[1] - here[i].z[0]).abs() <= most);
        of != CHANGED || !slight
    };
    let mut there = mem::take(&mut space.there);
    for aside in AROUND {
        let open = |i: usize, wide: &Told| (0..wide.len()).any(|of| wide[of] && doubtful(i, of));
        if !wide.iter().enumerate().any(|(i, wide)| open(i, wide)) {
            break;
        }
        let [dx, dy] = aside.map(|v| v * ASIDE);
        pairs(images, [place.at[0] + dx, place.at[1] + dy], tolerance, space, &mut there);
        for (i, wide) in wide.iter_mut().enumerate() {
            let Some((side, [sx, sy], most)) = planes[i].filter(|_| open(i, wide)) else { continue };
            let z = here[i].z[side] + sx * dx + sy * dy;
            let far = |other: &&Pair| (other.z[side] - z).abs();
            let same = there.iter().filter(|other| other.hits[side].is_some()).min_by(|p, q| far(p).total_cmp(&far(q)));
            let same = same.filter(|other| far(other) <= most);
            for of in (0..wide.len()).filter(|of| doubtful(i, *of)) {
                // where that ground ends, as at a ridge of roofs that are all gone, other ground speaks for it
                wide[of] &= same.map_or_else(|| there.iter().any(|other| other.told[of]), |other| other.told[of]);
            }
        }
    }
    space.there = there;
    wide
}

/// Metres to a micrometre, in as few digits as that takes.
fn short(v: f64) -> f64 {
    (v * 1e6).round() / 1e6 + 0.0
}

/// Four digits that count, and the point: 24,690, 12.48.
fn four_digits(v: f64) -> String {
    let digits = (3.0 - v.abs().log10().floor()).clamp(-12.0, 12.0) as i32;
    let unit = 10f64.powi(-digits);
    let rounded = (v / unit).round() * unit;
    if rounded >= 1000.0 {
        grouped(rounded.round() as u64)
    } else {
        decimal(format!("{rounded:.*}", digits as usize).parse().unwrap_or(rounded))
    }
}

/// Of heights from the highest on, the one nearest to `z`; of two the first.
fn nearest(heights: &[f64], z: f64) -> Option<usize> {
    let distance = |i: &usize| (heights[*i] - z).abs();
    let below = heights.partition_point(|height| *height > z);
    (below.saturating_sub(1)..heights.len().min(below + 1)).min_by(|i, k| distance(i).total_cmp(&distance(k)))
}

/// A property as tables have it: 1, not 1.0.
fn written(value: &Value) -> String {
    value.as_f64().map_or_else(|| value.to_string(), decimal)
}

fn print(d: &Difference, out: &mut impl Write) -> Done {
    let places = || counted(d.ground.as_ref().map_or(0, |g| g.places), "place");
    let said = match (d.equal, d.alike) {
        (true, _) => "equal: the same identity, the same content".into(),
        (_, Some(true)) => {
            format!("alike: at none of {} asked does the ground differ by more than the tolerance", places())
        }
        _ => "different".into(),
    };
    writeln!(out, "{said}")?;
    for identity in d.identity.iter().take(if d.identity[0] == d.identity[1] { 1 } else { 2 }) {
        writeln!(out, "identity     {identity}")?;
    }
    for Fact { name, first, second } in &d.facts {
        writeln!(out, "{name:<12} {first} -> {second}")?;
    }
    let names = |what: &str, names: &[String], make: fn(&str) -> String| match names {
        [] => None,
        names => Some(format!("{what}: {}", few(names.iter().map(|n| make(n)), names.len() as u64))),
    };
    let s = &d.sources;
    let changes = [names("lost", &s.lost, shown), names("gained", &s.gained, shown)];
    let changes: Vec<String> = changes.into_iter().flatten().collect();
    if !changes.is_empty() {
        let [first, second] = s.count.map(|n| grouped(n as u64));
        writeln!(out, "sources      {first} -> {second}; {}", changes.join("; "))?;
    }
    let quoted = |name: &str| format!("{name:?}");
    let m = &d.materials;
    for line in [names("lost", &m.lost, quoted), names("gained", &m.gained, quoted)].into_iter().flatten() {
        writeln!(out, "materials    {line}")?;
    }
    for of_one in m.values.chunk_by(|p, q| p.name == q.name).take(SHOWN) {
        let values: Vec<String> =
            of_one.iter().map(|p| format!("{} {} -> {}", p.field, written(&p.from), written(&p.to))).collect();
        writeln!(out, "material     {:?}: {}", of_one[0].name, values.join(", "))?;
    }
    if m.changed.len() > SHOWN {
        let more = counted((m.changed.len() - SHOWN) as u64, "other material");
        writeln!(out, "             and {more}; all: --json")?;
    }
    if let Some(g) = &d.ground {
        writeln!(
            out,
            "ground       {}: vertices, middles of triangles, crossings of edges that only one has, beside edges where only one ends, {}and one in each square of {:.3} m, by which areas are counted",
            places(),
            if d.picture.is_some() { "in all pixels, " } else { "" },
            g.grid
        )?;
        if !g.crossings.all {
            let most = grouped(CROSSINGS as u64);
            writeln!(
                out,
                "crossings    not all of edges are among them: there are more than {most}, or they lie too crowded to be found"
            )?;
        }
        match &g.largest {
            None if g.shared == 0 => {
                writeln!(out, "heights      no place has ground in both; they do not lie over each other")?;
            }
            Some(Change { at: [x, y], from, to }) => writeln!(
                out,
                "heights      other {}, at most by {:+.6} m: at {},{} from {} to {}",
                g.changed.lies(),
                to - from,
                short(*x),
                short(*y),
                short(*from),
                short(*to)
            )?,
            None if g.tolerance > 0.0 => writeln!(out, "heights      no change of more than {} m there", g.tolerance)?,
            None => writeln!(out, "heights      no change there")?,
        }
        let lines = [
            ("lost", "ground", &g.lost),
            ("gained", "ground", &g.gained),
            ("friction", "mu higher", &g.mu_higher),
            ("friction", "mu lower", &g.mu_lower),
        ];
        for (what, of, count) in lines {
            if count.wide() && g.shared > 0 {
                writeln!(out, "{what:<12} {of} {}", count.said())?;
            }
        }
        let (wide, thin): (Vec<_>, Vec<_>) = g.materials.iter().partition(|m| m.count.wide());
        for MaterialChange { from, to, count } in wide.iter().take(SHOWN) {
            writeln!(out, "material     {from:?} -> {to:?} {}", count.said())?;
        }
        if wide.len() > SHOWN {
            writeln!(out, "             and {}; all: --json", counted((wide.len() - SHOWN) as u64, "other pair"))?;
        }
        let mut other = Count::default();
        thin.iter().for_each(|m| other.join(&m.count));
        let thin = [
            ("lost", &g.lost),
            ("gained", &g.gained),
            ("of higher mu", &g.mu_higher),
            ("of lower mu", &g.mu_lower),
            ("of another material", &other),
        ];
        let thin = thin.into_iter().filter(|(_, count)| count.places > 0 && !count.wide() && g.shared > 0);
        let thin: Vec<String> = thin
            .map(|(what, count)| {
                let [x, y, z] = count.first.unwrap_or_default().map(short);
                format!("{what} at {}, the first {x},{y},{z}", counted(count.places, "place"))
            })
            .collect();
        if !thin.is_empty() {
            writeln!(out, "no area      {}: along edges, or narrower than the grid's squares", thin.join("; "))?;
        }
    }
    match &d.first_byte {
        Some(FirstByte { offset, section, content }) => {
            let kind = if *content { "content" } else { "no content" };
            writeln!(out, "bytes        differ from {} on: {section}, {kind}", grouped(*offset))?;
        }
        None => writeln!(out, "bytes        equal")?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_covers_all_and_knows_its_places() {
        let grid = Grid { low: [0.1, -3.7], high: [10.3, 5.1], pitch: 0.37, count: [28, 24] };
        let places: Vec<Place> = (0..grid.places()).map(|i| grid.place(i)).collect();
        let areas = places.iter().map(|p| if let Kind::Square(area) = p.kind { area } else { f64::NAN });
        assert!(areas.clone().all(|area| (0.0..=0.37 * 0.3701).contains(&area)));
        assert!(places.iter().all(|p| grid.has(p.at)));
        assert!(places.is_sorted_by(|a, b| a.at < b.at), "from the west, each column from the south");
        let area: f64 = areas.sum();
        assert!((area - 10.2 * 8.8).abs() < 1e-9, "{area}");
        for p in [[0.1, -3.7], [10.3, 5.1], [0.285, -3.7], [-5.0, 9.0], [20.0, -3.515]] {
            assert!(!grid.has(p), "{p:?}");
        }
    }
    use hardpan_builder::{Options, Scene, build, fixtures};

    fn compare(a: &Scene, b: &Scene) -> Ground {
        let [a, b] = [a, b].map(|s| build(s, &Options::default()).unwrap().image);
        ground(&Terrain::open(&a).unwrap(), &Terrain::open(&b).unwrap(), None, 0.0, None).unwrap()
    }

    #[test]
    fn ground_that_rises_goes_and_comes() {
        let scene = fixtures::bridge();
        let g = compare(&scene, &scene);
        assert_eq!(
            (g.changed.places, g.largest, g.lost.places, g.gained.places, g.materials.len()),
            (0, None, 0, 0, 0)
        );

        // one corner of the deck, up by a quarter
        let mut raised = scene.clone();
        let corner = raised.positions.iter().position(|p| *p == [5.0, 50.0, 6.0]).unwrap();
        raised.positions[corner][2] = 6.25;
        let g = compare(&scene, &raised);
        assert_eq!(g.largest, Some(Change { at: [5.0, 50.0], from: 6.0, to: 6.25 }));
        assert_eq!((g.lost.places, g.gained.places), (0, 0));
        assert!(g.changed.places > 1000);

        // no deck
        let mut bare = scene.clone();
        bare.triangles.retain(|t| t.material == 0);
        let g = compare(&scene, &bare);
        assert_eq!((g.changed.places, g.gained.places), (0, 0));
        assert_eq!(g.lost.first, Some([-5.0, -50.0, 6.0]));
        let back = compare(&bare, &scene);
        assert_eq!((back.gained, back.lost), (g.lost, g.gained));

        // a deck of another material
        let mut steel = scene.clone();
        steel.materials[1].name = "Steel".into();
        let g = compare(&scene, &steel);
        let change = |m: &MaterialChange| (m.from.clone(), m.to.clone(), m.count.first);
        assert_eq!(
            g.materials.iter().map(change).collect::<Vec<_>>(),
            [("Deck".into(), "Steel".into(), Some([-5.0, -50.0, 6.0]))]
        );
    }

    #[test]
    fn four_digits_count() {
        let areas = [24_689.53, 999.96, 999.94, 12.4812, 10.000_000_1, 0.000_123_456, 1e9];
        let said = ["24,690", "1,000", "999.9", "12.48", "10", "0.0001235", "1,000,000,000"];
        assert_eq!(areas.map(four_digits), said);
    }

    #[test]
    fn a_vertex_between_the_places_of_the_grid_counts() {
        let mut scene = fixtures::flat();
        let spike = |scene: &mut Scene, z| {
            let base = scene.positions.len() as u32;
            scene.positions.extend([[0.1, 0.1, 0.0], [0.11, 0.1, 0.0], [0.1003, 0.1003, z]]);
            scene.triangles.push(hardpan_builder::Triangle { v: [base, base + 1, base + 2], material: 0, source: 0 });
        };
        let flat = {
            let mut s = scene.clone();
            spike(&mut s, 0.25);
            s
        };
        spike(&mut scene, 0.5);
        let largest = compare(&flat, &scene).largest.unwrap();
        assert_eq!((largest.from, largest.to), (0.25, 0.5));
    }
}
