//! Parsfiles of the VehicleSim tools: the terrain that one names.

use super::{ImportError, Place, files_in};
use crate::util::text::{few, quoted, shown};
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

/// Keyword before the name of the terrain.
const KEYWORD: &str = "VS_TERRAIN_FILE";
/// Bytes of a file that are read.
const MAX_BYTES: u64 = 64 << 20;

/// The terrain that a parsfile names, and the number of the line that does.
pub fn terrain(par: &Path) -> Result<(PathBuf, u64), ImportError> {
    let mut text = Vec::new();
    let read = File::open(par).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut text));
    read.map_err(|e| ImportError::io(par, &e))?;
    let text = String::from_utf8_lossy(&text);
    let of_line = |(text, line): (&str, u64)| {
        let rest = text.trim_start().strip_prefix(KEYWORD)?;
        (rest.trim_start().len() < rest.len()).then(|| (rest.trim().trim_matches('"').to_string(), line))
    };
    let mut found = text.lines().zip(1..).filter_map(of_line);
    let Some((name, line)) = found.next() else {
        return Err(ImportError::input(par, format!("no line of it begins with {KEYWORD}"), "name a terrain so"));
    };
    let wrong =
        |cause: String, hint: &str| ImportError { place: Place::Line(line), ..ImportError::input(par, cause, hint) };
    if let Some((_, other)) = found.find(|(n, _)| *n != name) {
        return Err(wrong(format!("line {other} names another terrain"), "leave one of them"));
    }
    if name.is_empty() {
        return Err(wrong(format!("no name follows {KEYWORD}"), "write it there"));
    }
    let name = name.replace('\\', "/");
    let folder = par.parent().filter(|folder| *folder != "").unwrap_or(Path::new("."));
    let mut at = if name.starts_with('/') { "/".into() } else { folder.to_owned() };
    for part in name.split('/').filter(|part| !matches!(*part, "" | ".")) {
        at = within(&at, part).map_err(|there| {
            let list = few(there.iter().map(|n| shown(n)), there.len() as u64);
            let list = if there.is_empty() { "nothing" } else { &list };
            wrong(format!("there is no {} in {}; there is: {list}", shown(part), quoted(&at)), "write it as it is")
        })?;
    }
    Ok((at, line))
}

/// The entry of this name in a folder, or else the only one that differs in capitals alone. If there is none, all names
/// there.
fn within(folder: &Path, part: &str) -> Result<PathBuf, Vec<String>> {
    let exact = folder.join(part);
    if exact.exists() {
        return Ok(exact);
    }
    let there = files_in(folder);
    let mut alike = there.iter().filter(|n| n.to_lowercase() == part.to_lowercase());
    match (alike.next(), alike.next()) {
        (Some(only), None) => Ok(folder.join(only)),
        _ => Err(there),
    }
}
