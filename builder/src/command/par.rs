//! `hardpan build FILE.par`: the terrain that a file of the VehicleSim tools names.

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
};

use crate::{again::settings_of, import};
use hardpan::format::MAGIC;

use super::{
    Done, Failure, again, build, few, has_bytes, has_extension, load, named, note, quoted, rebuild, shown, terrain,
    write_image,
};

/// What stands before the name of the terrain.
const KEYWORD: &str = "VS_TERRAIN_FILE";
/// Bytes of a file that are read.
const MOST: u64 = 64 << 20;
/// Bytes of a file of another name that are looked at.
const LOOK: u64 = 1 << 20;

/// A build, of the terrain that its only file names if that is one of these.
pub fn build(mut args: build::Args, out: &mut impl Write) -> Done {
    let [par] = &args.from.files[..] else { return build::run(&args, out) };
    if !is_par(par) {
        return build::run(&args, out);
    }
    let par = par.clone();
    let (name, line) = name_in(&par)?;
    let file = find(&par, &name, line)?;
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

/// Whether a file is called so, or is a text with the keyword that no other kind of file is.
fn is_par(file: &Path) -> bool {
    if !file.is_file() || ["par", "cpar"].iter().any(|end| has_extension(file, end)) {
        return file.is_file();
    }
    let head = || {
        let mut head = Vec::new();
        fs::File::open(file).ok()?.take(LOOK).read_to_end(&mut head).ok()?;
        Some(head)
    };
    import::check(file).is_err() && head().is_some_and(|head| lines(&head).next().is_some())
}

/// What stands behind the keyword, with the number of its line.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let all = text.split(|b| *b == b'\n').enumerate();
    all.filter_map(|(i, line)| {
        let rest = line.trim_ascii_start().strip_prefix(KEYWORD.as_bytes())?;
        rest.first().is_some_and(u8::is_ascii_whitespace).then(|| (i + 1, rest.trim_ascii()))
    })
}

/// The name of the terrain, and its line.
fn name_in(par: &Path) -> Done<(String, usize)> {
    let mut text = Vec::new();
    let read = fs::File::open(par).and_then(|file| file.take(MOST).read_to_end(&mut text));
    read.map_err(|e| Failure::io(par, e))?;
    let mut found = lines(&text);
    let Some((line, name)) = found.next() else {
        return Err(Failure::input(par, format!("no line of it begins with {KEYWORD}, which names a terrain")));
    };
    if let Some((other, _)) = found.find(|(_, n)| *n != name) {
        let text = format!(
            "lines {line} and {other} name two terrains; leave one, or build what you mean: hardpan build FILE"
        );
        return Err(Failure::input(par, text));
    }
    let name = std::str::from_utf8(name)
        .map_err(|_| Failure::input(par, format!("line {line}: the name is not UTF-8; save the file as UTF-8")))?;
    let bare = name.strip_prefix('"').and_then(|n| n.strip_suffix('"')).unwrap_or(name);
    if bare.is_empty() {
        return Err(Failure::input(par, format!("line {line}: no name follows {KEYWORD}; write it there")));
    }
    Ok((bare.into(), line))
}

/// The file of a name: each part of it as it is written, or else the only one that differs in capitals.
fn find(par: &Path, name: &str, line: usize) -> Done<PathBuf> {
    let name = name.replace('\\', "/");
    let folder = par.parent().unwrap_or(Path::new(""));
    let mut at = if Path::new(&name).is_absolute() { PathBuf::from("/") } else { folder.to_owned() };
    for part in name.split('/').filter(|part| !matches!(*part, "" | ".")) {
        let exact = at.join(part);
        if exact.exists() {
            at = exact;
            continue;
        }
        let here = if at.as_os_str().is_empty() { Path::new(".") } else { &at };
        let mut there: Vec<String> = fs::read_dir(here)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|e| e.file_name().into_string().ok())
            .collect();
        there.sort_unstable();
        let alike: Vec<&String> = there.iter().filter(|n| n.to_lowercase() == part.to_lowercase()).collect();
        match alike[..] {
            [only] => at = at.join(only),
            [] => {
                let list = few(there.iter().map(|n| shown(n)), there.len() as u64);
                let list = if there.is_empty() { "nothing".into() } else { list };
                let text = format!("line {line}: there is no {} in {}; there is: {list}", shown(part), quoted(here));
                return Err(Failure::input(par, text));
            }
            [..] => {
                let list = few(alike.iter().map(|n| shown(n)), alike.len() as u64);
                let text =
                    format!("line {line}: {} in {} may be any of {list}; write it as it is", shown(part), quoted(here));
                return Err(Failure::input(par, text));
            }
        }
    }
    Ok(at)
}
