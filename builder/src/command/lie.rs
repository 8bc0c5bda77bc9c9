//! How files lie, which axis points up and whether their unit can be what was thought; and all that is doubted of them before a build.

use std::path::{Path, PathBuf};

use crate::{
    Scene, Triangle,
    import::{self, FileReport, ImportError, Says, Up},
    settings::SourceFile,
};

use super::{
    Done, Failure, decimal, few, named, nodata, note,
    part::{Ends, Part, ends, ground, join, plan},
    precision,
    report::Report,
    transform::{Of, Said},
};

/// How the ground of a file lies, or of files of which one and the same is to be said.
#[derive(Clone)]
pub struct Lie<'a> {
    files: Vec<&'a Path>,
    up: Up,
    says: Says,
    said: Said,
    /// Area, m2.
    area: f64,
    /// How much of it would be less steep than 60 degrees with the files' axes x, y and z up.
    drivable: [f64; 3],
    side: Side,
    /// If its places look like degrees.
    degrees: Option<Degrees>,
}

/// Whether a file lies on its side.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    No,
    /// More of it could be driven on otherwise.
    Perhaps,
    /// It could hardly be driven on as it lies.
    Likely,
}

impl Lie<'_> {
    const AXES: [&'static str; 3] = ["x", "y", "z"];

    /// Place of the axis that points up, or down.
    fn now(&self) -> usize {
        Self::AXES.iter().position(|a| self.up.to_string().ends_with(a)).unwrap_or(2)
    }

    /// Place of the best other one.
    fn other(&self) -> usize {
        // x points up in few files: it is named where nothing else will do
        let then = if self.now() == 2 { 1 } else { 2 };
        let rare = 3 - self.now() - then;
        if self.drivable[rare] > 2.0 * self.drivable[then] { rare } else { then }
    }

    /// The axes along which its heights may be, the one that points up first.
    fn ups(&self) -> Vec<usize> {
        let doubted = (self.side != Side::No).then(|| self.other());
        [Some(self.now()), doubted, self.degrees.map(|degrees| degrees.up)].into_iter().flatten().collect()
    }

    /// The best other axis.
    pub fn best(&self) -> &'static str {
        Self::AXES[self.other()]
    }

    /// How much is less steep than 60 degrees as it lies, and with the best other axis up, in percent.
    fn shares(&self) -> [f64; 2] {
        [self.now(), self.other()].map(|i| if self.area > 0.0 { 100.0 * self.drivable[i] / self.area } else { 100.0 })
    }

    fn judge(&self) -> Side {
        match self.shares() {
            [here, there] if here < 10.0 && there > here => Side::Likely,
            [here, there] if there > 1.25 * here => Side::Perhaps,
            _ => Side::No,
        }
    }

    fn names(&self) -> String {
        few(self.files.iter().map(|f| named(f)), self.files.len() as u64)
    }
}

/// How the files of a scene lie, each by itself.
pub fn lies<'a>(parts: &[Part<'a>]) -> Vec<Lie<'a>> {
    parts.iter().map(Lie::of).collect()
}

impl<'a> Lie<'a> {
    fn of(part: &Part<'a>) -> Self {
        let Part { file, frame, said, .. } = *part;
        let degrees = Degrees::of(part);
        let lie = |triangles: &mut dyn Iterator<Item = &Triangle>| {
            let (area, drivable) = areas(part, triangles);
            let (up, says, side) = (frame.up(), frame.says(), Side::No);
            let lie = Lie { files: vec![file], up, says, said, area, drivable, side, degrees };
            Lie { side: lie.judge(), ..lie }
        };
        // walls without their roof say nothing, nor do those of a town of which only the roads are ground
        let [whole, lie] = [lie(&mut part.measured()), lie(&mut part.measured_ground())];
        if whole.area > 0.0 && whole.shares()[0] > lie.shares()[0] { whole } else { lie }
    }

    /// Those of which one and the same is to be said as one.
    fn together(lies: &[Lie<'a>]) -> Vec<Lie<'a>> {
        let kind = |l: &Lie| (l.up, l.says, l.said.up, l.side, l.other(), l.degrees.map(|d| (d.up, l.said.unit)));
        let mut all: Vec<Lie> = Vec::new();
        for lie in lies {
            match all.iter_mut().find(|l| kind(l) == kind(lie)) {
                Some(alike) => {
                    alike.files.extend(&lie.files);
                    alike.area += lie.area;
                    alike.drivable = [0, 1, 2].map(|i| alike.drivable[i] + lie.drivable[i]);
                }
                None => all.push(lie.clone()),
            }
        }
        all
    }
}

/// The area of triangles of one file, and of that what would be less steep than 60 degrees with the file's axes x, y and z up.
fn areas(part: &Part, triangles: &mut dyn Iterator<Item = &Triangle>) -> (f64, [f64; 3]) {
    let axes = part.frame.axes();
    let (mut all, mut drivable) = (0.0, [0.0; 3]);
    for t in triangles {
        let n = part.normal(t);
        let area = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt();
        all += area / 2.0;
        for (sum, d) in drivable.iter_mut().zip(axes) {
            let across = n[0] * d[0] + n[1] * d[1] + n[2] * d[2];
            *sum += if across.abs() > 0.5 * area { area / 2.0 } else { 0.0 };
        }
    }
    (all, drivable)
}

/// Ground whose places look like longitude and latitude, in degrees, and its heights like metres.
#[derive(Clone, Copy)]
struct Degrees {
    /// The axis, in the file's numbers, that the heights look to be.
    up: usize,
    /// A corner.
    at: [f64; 3],
}

impl Degrees {
    /// Of the part's ground that was measured.
    fn of(part: &Part) -> Option<Self> {
        let said = part.frame.upright();
        // whatever is said, z is the height of most such meshes, and y that of most others
        let look = |up: usize| Self::with(part, &mut part.measured_ground(), up, up == said);
        [said, 2, 1, 0].into_iter().find_map(look)
    }

    /// With an axis up: where ground is not level it rises by at least thirty times as much as it goes on, and has no walls. A slope of 1 in
    /// 3,000 does, in degrees. So does what is drawn out along an axis that nobody says is up, but for the sides across it. What has no area
    /// in plan says nothing: it is a wall, or its places were rounded to so few digits. Nor do things of few heights, as posts, or what
    /// lies over itself with that axis up, as a path along it does.
    fn with(part: &Part, triangles: &mut dyn Iterator<Item = &Triangle>, up: usize, said: bool) -> Option<Self> {
        const TIMES: f64 = 30.0;
        /// Twice a triangle's area in plan, of the square of its longest side: a wall has nearly none.
        const WIDE: f64 = 0.1;
        /// Triangles that are not level at least, and the shares that they have of all, that rise so of them, and of which no side is level.
        const FEW: usize = 12;
        const SHARES: [f64; 3] = [0.25, 0.8, 0.5];
        /// Heights at least, and the most layers in the mean.
        const HEIGHTS: usize = 6;
        const LAYERS: f64 = 1.25;
        let [x, y] = plan(up);
        let mut first = None;
        let [mut all, mut uneven, mut rising, mut tilted] = [0; 4];
        let (mut heights, mut areas) = (Vec::with_capacity(HEIGHTS), 0.0);
        let mut reach = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
        for t in triangles {
            let corners = t.v.map(|v| part.own(v));
            if corners.iter().any(|p| p[x].abs() > 180.0 || p[y].abs() > 90.0) {
                return None;
            }
            first.get_or_insert(corners[0]);
            let sides = [0, 1, 2].map(|i| [x, y, up].map(|k| corners[(i + 1) % 3][k] - corners[i][k]));
            let rises = sides.map(|side| side[2].abs());
            let longest = sides.iter().fold(0.0f64, |most, [dx, dy, _]| most.max(dx * dx + dy * dy));
            let area = (sides[0][0] * sides[1][1] - sides[0][1] * sides[1][0]).abs();
            if area == 0.0 {
                continue;
            }
            let steep = |rise: f64, times: f64| area > WIDE * longest && rise > times * longest.sqrt();
            all += 1;
            areas += area / 2.0;
            for corner in corners {
                if heights.len() < HEIGHTS && !heights.contains(&corner[up]) {
                    heights.push(corner[up]);
                }
                for ([low, high], k) in reach.iter_mut().zip([x, y]) {
                    (*low, *high) = (low.min(corner[k]), high.max(corner[k]));
                }
            }
            uneven += usize::from(rises.iter().any(|rise| *rise > 0.0));
            rising += usize::from(rises.iter().any(|rise| steep(*rise, TIMES)));
            tilted += usize::from(rises.iter().all(|rise| steep(*rise, 1.0)));
        }
        let [most, share] = [all, uneven].map(|n| n as f64);
        let [wide, deep] = reach.map(|[low, high]| high - low);
        let holds = uneven >= FEW
            && heights.len() >= HEIGHTS
            && share >= SHARES[0] * most
            && rising as f64 >= SHARES[1] * share
            && (said || tilted as f64 >= SHARES[2] * share && areas <= LAYERS * wide * deep);
        first.filter(|_| holds).map(|at| Degrees { up, at })
    }

    /// In words.
    fn told(&self) -> String {
        let axes = plan(self.up);
        let ([x, y], [east, north]) = (axes.map(|k| Lie::AXES[k]), axes.map(|k| few_digits(self.at[k])));
        format!(
            "{x} and {y} look like degrees, {east} and {north}, beside heights in metres, if heights are in no other unit than {x} and {y}"
        )
    }

    /// What to do.
    fn remedy(&self) -> String {
        let [x, y] = plan(self.up);
        let [east, north] = [self.at[x], if self.up == 1 { -self.at[y] } else { self.at[y] }];
        let zone = ((east + 180.0) / 6.0).floor().clamp(0.0, 59.0) as u32 + 1;
        let code = if north < 0.0 { 32700 } else { 32600 } + zone;
        format!(
            "project the heights to metres before they become a mesh, as of a raster: gdalwarp -t_srs EPSG:{code} HEIGHTS.tif METRES.tif, of points in QGIS: Reproject Layer"
        )
    }
}

/// The axis is often not in the file, or wrong: says so when it looks it, and stops when nearly nothing could be driven on
/// and nobody said which axis is up. A file that says it itself is believed, and warned of only where nearly nothing could be driven on. Who
/// says it of that very file, or of all where all are doubted, may have it so: a note says so then. Gives back the greatest doubt, with what
/// mends it, be it one that is meant so, where nearly nothing could be driven on and there is no other.
fn suspect(lies: &[Lie], typed: bool, report: &mut Report) -> Done<Option<String>> {
    let mut doubts: Vec<(bool, f64, String)> = Vec::new();
    let lies = Lie::together(lies);
    for lie in &lies {
        let ([here, there], up, then, side) = (lie.shares(), lie.up, lie.best(), lie.side);
        let names = lie.names();
        let [says, is, lie_so, lies_so] = match lie.files[..] {
            [_] => ["says", "is", "lie on its side", "lies on its side"],
            _ => ["say", "are", "lie on their sides", "lie on their sides"],
        };
        // one remedy is for all, and who speaks of all speaks of those that are doubted
        let alone = lies.len() == 1;
        let [all_lie, all_degrees] =
            [|l: &Lie| l.side != Side::No, |l: &Lie| l.degrees.is_some()].map(|is| lies.iter().all(is));
        let Said { up: of, unit, .. } = lie.said;
        let say = |of, key, value: &str, all| lie.said.say(of, key, value, all);
        let turned = say(of, "up", then, alone);
        let meant = if alone { format!("--up {up}") } else { format!("up = \"{up}\" there") };
        if let Some(degrees) = lie.degrees {
            let text = format!("{names}: {}: {}; if it is meant so,", degrees.told(), degrees.remedy());
            let unit = (!unit.answers(all_degrees)).then(|| say(unit, "unit", "m", all_degrees));
            if lie.says == Says::Nobody && side == Side::Likely {
                let up = say(of, "up", &up.to_string(), alone);
                let unit = unit.map(|unit| format!(" and {unit}")).unwrap_or_default();
                return Err(Failure::Input(format!("{text} build it with {up}{unit}")));
            }
            if let Some(unit) = unit {
                report.warn(format!("{text} say its unit: {unit}"));
                continue;
            }
            note(format!("{names}: {}", degrees.told()));
        }
        // whether it is meant so
        let mut meant_so = false;
        let text = match (lie.says, side) {
            (_, Side::No) | (Says::File, Side::Perhaps) => continue,
            // all of it is cliffs, whichever axis is up
            (Says::Caller, _) if lie.degrees.is_some() => continue,
            (Says::Nobody, Side::Likely) => {
                let types = if alone { "type " } else { "" };
                return Err(Failure::Input(format!(
                    "{names}: only {here:.0} % of the surface is less steep than 60 degrees with {up} up, {there:.0} % with {then} up; {types}{turned}, or {types}{meant} if it is meant so"
                )));
            }
            (Says::Nobody, Side::Perhaps) => format!(
                "{names} may {lie_so}: with {up} up {here:.0} % of the surface is less steep than 60 degrees, with {then} up {there:.0} %; if so, build it again with {turned}, else with {meant}"
            ),
            (Says::File, Side::Likely) => format!(
                "{names} {says} that {up} points up, and {is} built so: {here:.0} % of the surface is less steep than 60 degrees, with {then} up {there:.0} %; if it lies on its side, {turned}, else {meant}"
            ),
            (Says::Caller, _) => {
                let says = match of {
                    Of::All => "you say of all files",
                    _ if typed => "you say",
                    _ => "the settings say",
                };
                let text = format!(
                    "with {up} up, as {says}, {here:.0} % of the surface of {names} is less steep than 60 degrees, with {then} up {there:.0} %"
                );
                // of the file of another entry nobody says it
                meant_so = of.answers(all_lie) || (of == Of::Nobody && side == Side::Perhaps);
                let other = if meant_so { String::new() } else { format!(", else {meant}") };
                format!("{text}; if it lies on its side, {turned}{other}")
            }
        };
        match meant_so {
            true => note(text),
            false => report.warn(text),
        }
        if !meant_so || side == Side::Likely {
            let it = if alone { "it lies on its side".into() } else { format!("{names} {lies_so}") };
            doubts.push((!meant_so, lie.area, format!("if {it}, build it again with {turned}")));
        }
    }
    let greatest = doubts.into_iter().max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    Ok(greatest.map(|(.., text)| text))
}

/// What is doubted of the files of a scene, before anything is built: says so, or stops. `typed` is whether it was typed which axis is up.
/// Gives back the greatest doubt of how they lie, with what mends it.
pub fn doubt(
    parts: &[Part],
    lies: &[Lie],
    files: &[FileReport],
    typed: bool,
    report: &mut Report,
) -> Done<Option<String>> {
    nodata::warn(parts, lies.iter().map(Lie::ups), report);
    let lost = precision::warn(parts, report);
    let greatest = if lost { Ok(None) } else { suspect(lies, typed, report) };
    doubt_unit(parts, lies, files, report);
    greatest
}

/// An error about triangles that lie crowded, as those of a mesh on its side do, or of one in degrees: what is doubted comes before what
/// else would help.
pub fn but_first(lies: &[Lie], doubt: Option<String>, error: ImportError) -> ImportError {
    let degrees = || lies.iter().any(|lie| lie.degrees.is_some()).then(|| "if these are degrees, project them".into());
    match doubt.or_else(degrees) {
        Some(first) => ImportError { hint: format!("{first}; else {}", error.hint), ..error },
        None => error,
    }
}

/// Whether some of the ground is farther away than any number of the lattice reaches.
pub fn is_far(scene: &Scene) -> bool {
    let corners = ground(scene, &scene.triangles).flat_map(|t| t.v).map(|v| scene.positions[v as usize]);
    corners.flatten().any(|v| v.abs() > 1e15)
}

/// From where to where the ground's corners reach in x, y and z, metres.
fn ends_of(scene: &Scene) -> Ends {
    ends(scene, ground(scene, &scene.triangles))
}

/// A file that was typed instead of the only one of settings, and lies as those say of that one.
pub struct Taken {
    pub file: PathBuf,
    /// That one.
    pub of: PathBuf,
    /// Whether something about it was typed.
    pub but: bool,
    /// How both lie.
    pub source: SourceFile,
}

impl Taken {
    /// Notes it, or warns where it looks as if they did not lie alike; `scene` is of the file that was typed.
    pub fn tell(&self, scene: &Scene, settings: &Path, report: &mut Report) {
        let but = if self.but { ", but for what is typed" } else { "" };
        let [file, of] = [&self.file, &self.of].map(|path| named(path));
        let text = format!("{file} is taken for {of} of {}, and lies as that does{but}", named(settings));
        let own = import::read_all(&[(&self.of, self.source.frame())]).ok().map(|own| own.scene);
        match self.doubt(scene, own.as_ref()) {
            None => note(text),
            Some(why) => report.warn(format!(
                "{text}; {why}; type --up and --unit, or name it in a [[source]] of its own, also if it is meant so"
            )),
        }
    }

    /// Why they may not lie alike: by its size, and by where it lies, if the other one can be read.
    fn doubt(&self, scene: &Scene, own: Option<&Scene>) -> Option<String> {
        /// A town beside a street.
        const TIMES: f64 = 80.0;
        /// Feet and inches in metres, and how near a ratio comes to them.
        const ODD: [f64; 2] = [0.3048, 0.0254];
        const NEAR: f64 = 0.005;
        /// Metres.
        const FAR: f64 = 1000.0;
        const LARGE: f64 = 10_000.0;
        let [x, y, _] = ends_of(scene);
        let across = |[x, y]: [[f64; 2]; 2]| (x[1] - x[0]).max(y[1] - y[0]);
        let wide = across([x, y]);
        let own = own.map(ends_of).filter(|ends| ends[0][0] <= ends[0][1]);
        let Some([own_x, own_y, _]) = own else {
            return (wide > LARGE).then(|| format!("so it is {} m across", few_digits(wide)));
        };
        let other = across([own_x, own_y]);
        let times = wide.max(other) / wide.min(other);
        let apart = [(x, own_x), (y, own_y)].map(|(a, b)| (a[0] - b[1]).max(b[0] - a[1]).max(0.0));
        let apart = apart[0].hypot(apart[1]);
        if times > TIMES || ODD.iter().any(|unit| (times * unit - 1.0).abs() < NEAR) {
            return Some(format!("so it is {} m across, and that one {} m", few_digits(wide), few_digits(other)));
        }
        (apart > FAR).then(|| format!("so they are {} m apart", few_digits(apart)))
    }
}

/// A number with three digits that count.
fn few_digits(v: f64) -> String {
    decimal(format!("{v:.2e}").parse().unwrap_or(v))
}

/// What may have left nothing of the ground, and what to do, as the end of a sentence about it.
pub fn why_empty(scene: &Scene, lies: &[Lie], xy_log2: i32) -> String {
    let (step, extents) = (2f64.powi(xy_log2), ends_of(scene).map(|e| e[1] - e[0]));
    let longest = extents.into_iter().fold(0.0, f64::max);
    let ([x, y, z], steps) = (extents.map(few_digits), few_digits(step));
    if longest == 0.0 {
        return ": all corners lie in one place; export the mesh again".into();
    }
    if longest < 4.0 * step {
        return format!(
            ": all of it is too small, {x} by {y} by {z} m, where the lattice has steps of {steps} m; check --unit and --scale"
        );
    }
    if lies.iter().all(|lie| lie.area == 0.0) {
        return ": none has an area; export the mesh again".into();
    }
    let better = |lie: &&Lie| lie.shares()[1] > lie.shares()[0];
    match lies.iter().find(better) {
        Some(lie) => format!("; if it lies on its side type --up {}", lie.best()),
        None => format!(
            ", on a lattice with steps of {steps} m, or left out by the settings; check --unit, --scale and --max-slope"
        ),
    }
}

/// Says where ground is so small or so large that its unit is hardly what was thought, of each file by itself; of the large where nobody
/// said it, and of all such files where only together they are. Who says the unit of that very file, or of all where all are doubted, may
/// have it so. Of degrees another doubt is told.
fn doubt_unit(parts: &[Part], lies: &[Lie], files: &[FileReport], report: &mut Report) {
    const SMALL: f64 = 0.5;
    const LARGE: f64 = 10_000.0;
    /// As large as the domain of the default steps, beyond which a build stops.
    const WHOLE: f64 = 1_048_576.0;
    let size = |[x, y, _]: Ends| [x, y].map(|[low, high]| (high - low).max(0.0));
    let longest = |ends| size(ends).into_iter().fold(0.0, f64::max);
    let is_large = |ends| (LARGE..WHOLE).contains(&longest(ends));
    let all_large = parts.iter().all(|part| is_large(part.ends()));
    let (mut small, mut large, mut unsaid) = (Vec::new(), Vec::new(), Vec::new());
    for ((part, lie), file) in parts.iter().zip(lies).zip(files) {
        let own @ (_, ends) = (part, part.ends());
        let Said { unit, scale, .. } = part.said;
        // or the file says one, and another one was typed
        let silent = file.format == "obj" || file.assumed.is_some_and(|what| what.ends_with("unit")) || unit == Of::All;
        if lie.degrees.is_some() || longest(ends) == 0.0 {
            continue;
        }
        if longest(ends) < SMALL {
            small.push(own);
        }
        let size = unit.max(scale);
        large.extend((silent && !size.answers(all_large) && is_large(ends)).then_some(own));
        unsaid.extend((silent && size == Of::Nobody).then_some(own));
    }
    let is_all = |some: &[(&Part, Ends)]| some.len() == parts.len();
    let names = |some: &[(&Part, Ends)]| few(some.iter().map(|(part, _)| named(part.file)), some.len() as u64);
    let says = |some: &[(&Part, Ends)]| {
        let said = some.iter().map(|(part, _)| part.said).max_by_key(|said| said.unit).unwrap_or_default();
        let own = said.say(Of::Nobody, "unit", "", false);
        let one = if is_all(some) && some.len() > 1 { format!(" (of one alone: {own})") } else { String::new() };
        format!("{} says the unit{one}, also if it is meant so", said.say(said.unit, "unit", "", is_all(some)))
    };
    let all = is_all(&small);
    let (meant, small): (Vec<_>, Vec<_>) = small.into_iter().partition(|(part, _)| part.said.unit.answers(all));
    let told = |some: &[(&Part, Ends)]| {
        let ends = some.iter().map(|(_, ends)| *ends).max_by(|a, b| longest(*a).total_cmp(&longest(*b)))?;
        let less = if some.len() > 1 { ", or less," } else { "" };
        let size = size(ends).map(few_digits).join(" by ");
        Some(format!("{}: the ground is only {size} m{less} large", names(some)))
    };
    told(&meant).into_iter().for_each(note);
    if let Some(text) = told(&small) {
        let keys = if is_all(&small) { "--unit and --scale" } else { "unit and scale" };
        report.warn(format!("{text}; check {keys}; {}", says(&small)));
    }
    let large = if large.is_empty() { unsaid } else { large };
    if let Some(ends) = large.iter().map(|(_, ends)| *ends).reduce(join).filter(|ends| is_large(*ends)) {
        let [x, y] = size(ends);
        let typed = large.iter().any(|(part, _)| part.said.unit == Of::All);
        let who = if typed { "as you say of all files" } else { "and nobody says its unit" };
        report.warn(format!("{}: the ground is {x:.0} by {y:.0} m large, {who}; {}", names(&large), says(&large)));
    }
}
