//! `hardpan merge`: images put together, each at its place.

use std::{
    collections::{BTreeSet, HashSet},
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use crate::{
    ImageFile, Input, Provenance, Settings, Undersides,
    again::{licences, mu_by_default, no_files, no_mesh, settings_of},
    build_on,
    merge::{Merged, NoMerge, Part, Place},
    settings::{SourceFile, is_turn},
};
use hardpan::Terrain;
use hardpan_shaders::Cpu;
use rayon::prelude::*;

use super::{
    Done, Failure,
    again::{self, finish, no_scene, open, settle},
    few, load, named, quoted,
    report::{Report, reported},
    shown,
};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hardpan merge west.hpan east.hpan -o both.hpan
  hardpan merge tile.hpan -o row.hpan --place tile.hpan:0,0,0,0 --place tile.hpan:100,0,0,90
The order of the images does not matter. Ground that is the same in two of them counts once; what touches is stitched, as in a build.
A way of whole lattice steps and a turn by multiples of 90 degrees keep every corner as it is; others round once more, and the image
states that error. Materials of one name become one: if two have another property, --settings say which is meant. So do sources of one
name. Without settings the finest steps of all images count, and all else is as a build has it by default, but that there are no undersides.")]
pub struct Args {
    /// Terrain images of triangles
    #[arg(required = true, value_name = "IMAGE")]
    images: Vec<PathBuf>,
    /// Turn an image about its zero by yaw degrees, anticlockwise seen from above, then move it, in metres; several times: it lies at
    /// each of these places [default: where it is]
    #[arg(long, alias = "at", value_name = "IMAGE:x,y,z[,yaw]", value_parser = placing)]
    place: Vec<Placing>,
    #[command(flatten)]
    again: again::Common,
}

/// An image, as it was typed, and where it comes to lie.
#[derive(Clone)]
struct Placing {
    file: PathBuf,
    place: Place,
}

fn placing(text: &str) -> Result<Placing, String> {
    let wanted = || "an image and a place, as tile.hpan:100,0,0,90".to_string();
    let (file, numbers) = text.rsplit_once(':').filter(|(file, _)| !file.is_empty()).ok_or_else(wanted)?;
    let number = |n: &str| n.trim().parse().ok().filter(|v: &f64| v.abs() <= 1e12);
    let numbers: Option<Vec<f64>> = numbers.split(',').map(number).collect();
    let (x, y, z, yaw_deg) = match numbers.as_deref() {
        Some([x, y, z]) => (*x, *y, *z, 0.0),
        Some([x, y, z, yaw]) => (*x, *y, *z, *yaw),
        _ => return Err("x,y,z or x,y,z,yaw behind the colon, in metres and degrees".into()),
    };
    if !is_turn(yaw_deg) {
        return Err("yaw must lie between -360 and 360".into());
    }
    Ok(Placing { file: file.into(), place: Place { translate: [x, y, z], yaw_deg } })
}

/// An image that was read.
struct Source<'a> {
    file: &'a Path,
    terrain: Terrain<'a>,
    input: Input,
    places: Vec<Place>,
    settings: Settings,
    by_default: HashSet<String>,
}

impl Args {
    pub fn threads(&self) -> usize {
        self.again.threads.count()
    }

    /// The images, each once, with their places.
    fn placed(&self) -> Done<Vec<(&PathBuf, Vec<Place>)>> {
        if let Some(other) = self.place.iter().find(|p| !self.images.contains(&p.file)) {
            let there = few(self.images.iter().map(|file| quoted(file)), self.images.len() as u64);
            let text =
                format!("--place names this image, which is not among those to merge: {there}; name it there, too");
            return Err(Failure::input(&other.file, text));
        }
        let mut known = HashSet::new();
        let each = self.images.iter().filter(|file| known.insert(*file));
        let places = |file: &PathBuf| {
            let all: Vec<Place> = self.place.iter().filter(|p| p.file == *file).map(|p| p.place).collect();
            if all.is_empty() { vec![Place::default()] } else { all }
        };
        Ok(each.map(|file| (file, places(file))).collect())
    }
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    args.again.may_replace(&args.images)?;
    reported(args.again.json, "--json", out, |out, report| make(args, out, report))
}

fn make(args: &Args, out: &mut dyn Write, report: &mut Report) -> Done {
    let placed = args.placed()?;
    let again = &args.again;
    let settings = again.read_settings()?;
    let began = Instant::now();
    let images: Vec<ImageFile> = placed.iter().map(|(file, _)| load(file)).collect::<Done<_>>()?;
    let each = placed.into_par_iter().zip(&images);
    let sources = each.map(|((file, places), image)| source(file, places, image));
    let sources: Vec<Source> = sources.collect::<Done<_>>()?;
    let parts: Vec<Part> = sources.iter().flat_map(Source::parts).collect();
    let mut merged = Merged::new(&parts).map_err(|e| failed(args, &sources, e))?;
    drop(parts);
    report.seconds.read = began.elapsed().as_secs_f64();

    let mut provenance = recorded(args, &sources, settings.as_ref())?;
    report.inputs.clone_from(&provenance.inputs);
    let build = &mut provenance.settings.build;
    if settings.is_none() {
        [build.xy_log2, build.z_log2] = merged.steps;
    }
    build.undersides = Undersides::Ground;
    again.over(build);
    build.source_error = merged.source_error([build.xy_log2, build.z_log2]);
    let options = build.clone();
    merged.scene.materials.iter_mut().for_each(|m| m.undersides = None);
    let mut unstated = unstated(&sources);
    if let Some(settings) = &settings {
        let applied = settings
            .apply(&mut merged.scene)
            .map_err(|e| Failure::input(again.settings.as_deref().unwrap_or(Path::new("")), e))?;
        settle(settings, &applied, report);
        unstated = applied.unstated(settings, |name| unstated.contains(name)).into_iter().collect();
    }
    let factors = again.factors();
    factors.apply(&mut merged.scene.materials).map_err(|e| again.failed(&again.output, e))?;
    merged.unify().map_err(|e| failed(args, &sources, e))?;
    if !factors.is_none() {
        (report.factors, provenance.factors) = (Some(factors), Some(factors));
    }
    if factors.states_mu() {
        unstated.clear();
    }
    provenance.mu_by_default = unstated.into_iter().collect();
    let scene = merged.scene;
    let who = if let [only] = &sources[..] { only.file } else { &again.output };
    let build = || build_on(&scene, &options, Some(&provenance), &Cpu::new()).map_err(|e| again.failed(who, e));
    finish(again, who, &options, build, report, out)
}

fn source<'a>(file: &'a Path, places: Vec<Place>, image: &'a ImageFile) -> Done<Source<'a>> {
    let (terrain, input) = open(file, image)?;
    let (settings, by_default) = (settings_of(&terrain), mu_by_default(&terrain));
    Ok(Source { file, terrain, input, places, settings, by_default })
}

impl Source<'_> {
    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let part =
            |place: &Place| Part { terrain: self.terrain, name: self.file.to_string_lossy().into(), place: *place };
        self.places.iter().map(part)
    }

    /// What is recorded of it at each of its places.
    fn recorded(&self) -> impl Iterator<Item = (Input, SourceFile)> {
        let licence = licences([&self.settings].into_iter());
        self.places.iter().map(move |place| {
            let (yaw, way) = (place.yaw_deg, place.translate);
            let source = SourceFile {
                file: self.input.file.clone(),
                yaw_deg: (yaw != 0.0).then_some(yaw),
                translate: (way != [0.0; 3]).then_some(way),
                licence: licence.clone(),
                ..SourceFile::default()
            };
            (self.input.clone(), source)
        })
    }
}

/// What the image records of where it came from, in an order that is not that of the images.
fn recorded(args: &Args, sources: &[Source], settings: Option<&Settings>) -> Done<Provenance> {
    let again = &args.again;
    let mut known = settings.cloned().unwrap_or_default();
    no_mesh(&known, None).and_then(|()| no_files(&known)).map_err(|e| again.failed(&again.output, e))?;
    if known.crs.is_empty() {
        let mut said = sources.iter().filter(|s| !s.settings.crs.is_empty());
        if let Some(first) = said.next() {
            if let Some(other) = said.find(|s| s.settings.crs != first.settings.crs) {
                let [one, two] = [first, other].map(|s| shown(&format!("{:?}", s.settings.crs)));
                let text = format!("its crs is {two}, and that of {} {one}", named(first.file));
                return Err(Failure::input(
                    other.file,
                    format!("{text}; say in --settings which is meant: crs = \"...\""),
                ));
            }
            known.crs.clone_from(&first.settings.crs);
        }
    }
    let mut all: Vec<(Input, SourceFile)> = sources.iter().flat_map(Source::recorded).collect();
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
fn unstated(sources: &[Source]) -> BTreeSet<String> {
    let names = |s: &Source| -> Vec<String> {
        let t = s.terrain;
        (0..t.materials().len() as u16).map(|m| t.material_name(m).to_owned()).collect()
    };
    let stated: HashSet<String> =
        sources.iter().flat_map(|s| names(s).into_iter().filter(|name| !s.by_default.contains(name))).collect();
    sources.iter().flat_map(|s| s.by_default.iter()).filter(|name| !stated.contains(*name)).cloned().collect()
}

fn failed(args: &Args, sources: &[Source], error: NoMerge) -> Failure {
    match error {
        NoMerge::Fields(part, fields) => {
            let file = sources.iter().map(|s| s.file).find(|file| file.to_string_lossy() == *part);
            no_scene(file.unwrap_or(Path::new(&part)), fields)
        }
        NoMerge::Differ(_) => {
            let hint = "to say what is meant, give it an entry in --settings FILE.toml";
            Failure::input(&args.again.output, format!("{error}; {hint}"))
        }
        error => Failure::input(&args.again.output, error),
    }
}
