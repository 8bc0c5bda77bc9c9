//! `hardpan rebuild`: an image again, by other settings.

use std::{io::Write, path::PathBuf, time::Instant};

use crate::edit::rebuild::Rebuild;
use crate::image::as_source::recorded;
use crate::image::info::left_out;
use hardpan::Terrain;
use hardpan_shaders::Cpu;

use super::{
    Done, Failure,
    again::{self, failed, finish, open, settle},
    load, named,
    report::{Report, reported},
    warn,
};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hardpan rebuild town.hpan -o wet.hpan --mu-multiply 0.7        the same ground with less friction
  hardpan rebuild town.hpan -o town2.hpan --settings town.toml   by other materials and build options
Without --settings the image's own settings count. With no other option either, the new file is the same, byte by byte.
Repairs that the image records are not done again, and new ones are done to its ground. Triangles that were repaired or left out
do not come back. Materials that --settings do not name have mu 1, as in a build. The image states the error of both builds.")]
pub struct Args {
    /// A terrain image
    pub image: PathBuf,
    #[command(flatten)]
    pub again: again::Common,
}

impl Args {
    pub fn threads(&self) -> usize {
        self.again.threads.count()
    }
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    args.again.may_replace([&args.image])?;
    reported(args.again.json, "--json", out, |out, report| make(args, out, report))
}

fn make(args: &Args, out: &mut dyn Write, report: &mut Report) -> Done {
    let Args { image: file, again } = args;
    let settings = again.read_settings()?;
    let began = Instant::now();
    let image = load(file)?;
    let (t, input) = open(file, &image)?;
    report.inputs = vec![input.clone()];
    let left_out = left_out(&t);
    left_out.iter().for_each(|text| report.warn(format!("{}: {text}", named(file))));
    let factors = again.factors();
    let rebuild = Rebuild::new(&t, settings.as_ref(), |build| again.over(build), &factors);
    let rebuild = rebuild.map_err(|e| failed(again, file, file, e))?;
    report.seconds.read = began.elapsed().as_secs_f64();
    report.factors = (!factors.is_none()).then_some(factors);
    if let (Some(settings), Some(applied)) = (&settings, &rebuild.applied) {
        settle(settings, applied, report);
    }
    let mut same = false;
    let build = || {
        let built = rebuild.build(&t, &input, &Cpu::new()).map_err(|e| again.failed(file, e))?;
        let now = Terrain::open(&built.image).map_err(|e| Failure::open(&again.output, e))?;
        same = built.image[..] == image[..];
        if rebuild.same && left_out.is_empty() && now.identity() != t.identity() {
            if recorded(&t).is_some() {
                let text = "built again by its own settings it has another identity; this is a fault of hardpan, please report it: \
                            nothing was written";
                return Err(Failure::check(file, text));
            }
            warn(format!("{}: the image records no build options, and is divided in another way now", named(file)));
        }
        Ok(built)
    };
    finish(again, file, &rebuild.options, build, report, out)?;
    if same {
        writeln!(out, "the file is the same as {}", named(file))?;
    }
    Ok(())
}
