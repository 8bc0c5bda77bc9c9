//! Zip files: the one file of heights in them.

use super::ImportError;
use super::heights::{damaged, unsupported};
use crate::util::text::{few, grouped, shown};
use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive};
use std::{io::Read, path::Path};

/// The name and the bytes of the one file in an archive whose name ends so, and that has so many bytes at most.
pub fn only(bytes: &[u8], path: &Path, endings: &[(&str, u64)]) -> Result<(String, Vec<u8>), ImportError> {
    let broken = |e: rawzip::Error| damaged(path, format!("this is no whole zip file: {e}"));
    let archive = ZipArchive::from_slice(bytes).map_err(broken)?;
    let (mut found, mut names) = (Vec::new(), Vec::new());
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(broken)? {
        let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
        let lower = name.to_ascii_lowercase();
        let is_hidden = name.starts_with("__MACOSX/") || entry.is_dir();
        let most = endings.iter().find(|(e, _)| lower.strip_suffix(e).is_some_and(|stem| stem.ends_with('.')));
        if let (false, Some((_, most))) = (is_hidden, most) {
            found.push((name.clone(), entry.wayfinder(), entry.compression_method(), *most));
        }
        names.push(name);
        if names.len() > 10_000 {
            return Err(unsupported(path, "the zip file has more than 10,000 files", "unpack it"));
        }
    }
    let [(name, at, method, most)] = &found[..] else {
        let all = few(names.iter().map(|name| shown(name)), names.len() as u64);
        let cause = format!("one file of heights is read from a zip file, and this one has {}: {all}", found.len());
        return Err(unsupported(path, cause, "unpack it, and name the files"));
    };
    let entry = archive.get_entry(*at).map_err(broken)?;
    let mut unpacked = Vec::new();
    let read = match *method {
        CompressionMethod::Store => entry.verifying_reader(entry.data()).take(most + 1).read_to_end(&mut unpacked),
        CompressionMethod::Deflate => {
            entry.verifying_reader(DeflateDecoder::new(entry.data())).take(most + 1).read_to_end(&mut unpacked)
        }
        other => {
            let cause = format!("{} is packed by a method that is not read ({other:?})", shown(name));
            return Err(unsupported(path, cause, "unpack it"));
        }
    };
    read.map_err(|e| damaged(path, format!("{} in it cannot be unpacked: {e}", shown(name))))?;
    if unpacked.len() as u64 > *most {
        let cause = format!("{} has more than {} bytes", shown(name), grouped(*most));
        return Err(unsupported(path, cause, "unpack it, and cut a part out of it"));
    }
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned();
    Ok((name, unpacked))
}
