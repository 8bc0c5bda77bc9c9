//! `hardpan merge`: images put together, each at its place.

use std::{
    collections::HashSet,
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use crate::build::build_read;
use crate::edit::merge::{Merge, Place, Source};
use crate::image::ImageFile;
use crate::image::info::left_out;
use crate::settings::is_turn;
use hardpan_shaders::Cpu;
use rayon::prelude::*;

use super::{
    Done, Failure,
    again::{self, failed, finish, open, settle},
    few, load, named, quoted,
    report::{Report, reported},
};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hardpan merge west.hpan east.hpan -o both.hpan
  hardpan merge tile.hpan -o row.hpan --place tile.hpan:0,0,0,0 --place tile.hpan:100,0,0,90
The order of the images does not matter. Ground that two images share counts once, and ground that touches is stitched, as in a build.
Moves by whole lattice steps and turns by multiples of 90 degrees keep every corner as it is. Others round once more, and the image
states that error. Materials of one name become one; if their properties differ, --settings decide. Sources of one name become one, too.
Height fields keep their posts, and are not turned. Without settings the finest steps of all images count. Everything else is a build's default, except that there are no undersides.")]
pub struct Args {
    /// Terrain images
    #[arg(required = true, value_name = "IMAGE")]
    images: Vec<PathBuf>,
    /// Turn an image about its zero by yaw degrees, anticlockwise seen from above, then move it, in metres. Several of
    /// these place it several times [default: where it is]
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
    let source = |((file, places), image): ((&PathBuf, Vec<Place>), _)| {
        let (terrain, input) = open(file, image)?;
        Ok(Source { terrain, name: file.to_string_lossy().into(), input, places })
    };
    let sources: Vec<Source> = placed.into_par_iter().zip(&images).map(source).collect::<Done<_>>()?;
    for source in &sources {
        let who = named(Path::new(&source.name));
        left_out(&source.terrain).iter().for_each(|text| report.warn(format!("{who}: {text}")));
    }
    let factors = again.factors();
    let merge = Merge::new(&sources, settings.as_ref(), |build| again.over(build), &factors);
    let Merge { scene, provenance, applied } = merge.map_err(|e| failed(again, &again.output, &args.images[0], e))?;
    report.seconds.read = began.elapsed().as_secs_f64();
    report.inputs.clone_from(&provenance.inputs);
    report.factors = provenance.factors;
    if let (Some(settings), Some(applied)) = (&settings, &applied) {
        settle(settings, applied, report);
    }
    let who = if let [only] = &sources[..] { Path::new(&only.name) } else { &again.output };
    let options = &provenance.settings.build;
    let build = || build_read(&scene, options, Some(&provenance), &Cpu::new()).map_err(|e| again.failed(who, e));
    finish(again, who, options, build, report, out)
}
