//! `hardpan build FILE.par`: the terrain that a file of the VehicleSim tools names.

use std::{io::Write, path::PathBuf};

use crate::image::as_source::settings_of;
use crate::import;
use hardpan::format::MAGIC;

use super::{Done, Failure, again, build, has_bytes, has_extension, load, named, note, rebuild, terrain, write_image};

/// A build, of the terrain that its only file names if that is one of these.
pub fn build(mut args: build::Args, out: &mut impl Write) -> Done {
    let [par] = &args.from.files[..] else { return build::run(&args, out) };
    if !["par", "cpar"].iter().any(|end| has_extension(par, end)) {
        return build::run(&args, out);
    }
    let par = par.clone();
    let (file, line) = import::par::terrain(&par)?;
    note(format!("{}: line {line} names {}", named(&par), named(&file)));
    let output = args.output.take().unwrap_or_else(|| par.with_extension("hpan"));
    if has_bytes(&file, 0, &MAGIC).map_err(|e| Failure::io(&file, e))? {
        return again(args.of_image(&par, output)?, file, out);
    }
    (args.output, args.from.files) = (Some(output), vec![file]);
    build::run(&args, out)
}

/// An image that is named is built again as it is asked for, or else stays as it is.
fn again(args: again::Common, file: PathBuf, out: &mut impl Write) -> Done {
    let image = load(&file)?;
    let t = terrain(&file, &image)?;
    let known = settings_of(&t).build;
    let mut asked = known.clone();
    args.over(&mut asked);
    if args.settings.is_some() || !args.factors().is_none() || args.json || asked != known {
        return rebuild::run(&rebuild::Args { image: file, again: args }, out);
    }
    args.may_replace([&file])?;
    write_image(&args.output, &file, &image, 0)?;
    Ok(writeln!(out, "{}: the image {}, verified", named(&args.output), named(&file))?)
}
