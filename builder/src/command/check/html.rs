//! The page of `hardpan check --html`: head, kinds, map and list, in one file that needs nothing beside it.

use std::{
    env,
    ffi::OsStr,
    fmt::Write,
    fs,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use data_encoding::BASE64;
use hardpan::Terrain;

use super::{Done, Failure, Found, line, row};
use crate::check::Look;
use crate::draw::colour::Colour;
use crate::draw::overview::{Overview, overview};
use crate::draw::picture::{escaped, hex};
use crate::image::provenance::Input;
use crate::import::file_name;
use crate::util::text::{grouped, word};

/// How every page begins.
pub const START: &[u8] = b"<!doctype html>\n<!-- hardpan check -->\n";
/// Findings of a kind that a page lists, with a number on the map.
const LISTED: usize = 100;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}\
table{border-collapse:collapse}td,th{text-align:left;padding:.2em 1em .2em 0;vertical-align:top;border-bottom:1px solid #ddd}\
td.n,th.n{text-align:right}code{overflow-wrap:anywhere}i{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin-right:.4em}\
div.map{position:relative;display:inline-block}img{display:block;max-width:100%}svg{position:absolute;inset:0;width:100%;height:100%}\
circle{stroke:#fff;stroke-width:2}text{font:bold 13px sans-serif;paint-order:stroke;stroke:#fff;stroke-width:3px}\
#kinds td:first-child,#list td:nth-child(2),#list td:nth-child(3){white-space:nowrap}#kinds td:last-child{min-width:9em}\
svg a:hover circle,svg a:target circle{stroke:#000;stroke-width:4}tr:target{background:#fff0b3}";

/// A file that was checked.
pub struct Checked {
    file: String,
    modified: SystemTime,
    sha256: String,
}

impl Checked {
    /// A file whose digest is known.
    pub fn new(path: &Path, sha256: String) -> Done<Self> {
        let modified = fs::metadata(path).and_then(|data| data.modified()).map_err(|e| Failure::io(path, e))?;
        Ok(Checked { file: file_name(path), modified, sha256 })
    }

    /// A file whose bytes were read.
    pub fn digest(path: &Path, bytes: &[u8]) -> Done<Self> {
        Self::new(path, Input::digest("", bytes)?.sha256)
    }
}

/// The page of all that was found.
pub fn page(found: &Found, files: &[Checked], t: &Terrain) -> Done<String> {
    let dots: Vec<([f64; 3], Colour)> = found.looks.iter().flat_map(dots).collect();
    let map = overview(t, &dots);
    let mut out = String::from_utf8_lossy(START).into_owned();
    // writing into memory does not fail
    _ = head(&mut out, found, files, t);
    _ = kinds(&mut out, found);
    _ = picture(&mut out, found, &map, &BASE64.encode(&map.canvas.png()?));
    _ = list(&mut out, found, &map);
    Ok(out + "</html>\n")
}

fn head(out: &mut String, found: &Found, files: &[Checked], t: &Terrain) -> std::fmt::Result {
    let (title, summary) = (escaped(&found.title), escaped(&found.summary()));
    writeln!(out, "<html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style>")?;
    writeln!(out, "<h1>{title}</h1>\n<p><b>{summary}</b>. By hardpan {}.</p>", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "<table id=\"files\">\n<tr><th>file<th>last changed<th>SHA-256</tr>")?;
    for Checked { file, modified, sha256 } in files {
        writeln!(out, "<tr><td>{}<td>{}<td><code>{sha256}</code></tr>", escaped(file), utc(*modified))?;
    }
    writeln!(out, "</table>\n<p>Command: <code>{}</code></p>", escaped(&command(env::args_os().skip(1))))?;
    let [low, high] = t.bounds();
    let extent = |i: usize| format!("{:.3} to {:.3} m", low[i], high[i]);
    writeln!(out, "<p>Ground: x {}, y {}, z {}.</p>", extent(0), extent(1), extent(2))
}

/// Every kind that was looked for, with its colour, count and sentence; first the kinds that were found.
fn kinds(out: &mut String, found: &Found) -> std::fmt::Result {
    writeln!(out, "<h2>Kinds</h2>\n<table id=\"kinds\">\n<tr><th>kind<th class=\"n\">found<th>meaning<th>limit</tr>")?;
    let mut looks: Vec<&Look> = found.looks.iter().collect();
    looks.sort_by_key(|look| look.found == Some(0));
    for look in looks {
        let [name, count, limit] = row(look).map(|cell| escaped(cell.trim()));
        let (sentence, colour) = (look.code.entry().words, look.code.entry().colour);
        let dot = format!("<i style=\"background:{}\"></i>", hex(colour));
        writeln!(out, "<tr id=\"{name}\"><td>{dot}{name}<td class=\"n\">{count}<td>{sentence}<td>{limit}</tr>")?;
    }
    writeln!(out, "</table>")
}

/// The map: numbered markers are links to the list, dots are all other places.
fn picture(out: &mut String, found: &Found, map: &Overview, png: &str) -> std::fmt::Result {
    let size = [map.canvas.width, map.canvas.height];
    writeln!(out, "<h2>Map</h2>\n<p>Click a number to find it in the list, and a number there to find it here.</p>")?;
    writeln!(out, "<div class=\"map\"><img alt=\"map of the findings\" src=\"data:image/png;base64,{png}\">")?;
    writeln!(out, "<svg viewBox=\"0 0 {} {}\">", size[0], size[1])?;
    // the first findings of a kind are the worst: they lie on top
    for (number, finding) in found.listed(LISTED).into_iter().rev() {
        let Some([x, y]) = finding.place.and_then(|[x, y, _]| map.pixel([x, y])) else { continue };
        let (colour, text) = (hex(finding.code.entry().colour), escaped(&line(finding)));
        write!(out, "<a id=\"m{number}\" href=\"#f{number}\"><title>{text}</title>")?;
        write!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\" fill=\"{colour}\"/>")?;
        writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{number}</text></a>", x + 7.0, y - 5.0)?;
    }
    writeln!(out, "</svg></div>")?;
    let counts = found.looks.iter().map(|look| (look.code, dots(look).count() as u64));
    let counts: Vec<String> =
        counts.filter(|(_, n)| *n > 0).map(|(code, n)| format!("{code} {}", grouped(n))).collect();
    if !counts.is_empty() {
        writeln!(out, "<p>Dots without a number: {}.</p>", counts.join(", "))?;
    }
    Ok(())
}

fn list(out: &mut String, found: &Found, map: &Overview) -> std::fmt::Result {
    writeln!(out, "<h2>List</h2>\n<table id=\"list\">")?;
    writeln!(out, "<tr><th class=\"n\">number<th>kind<th>place (x, y, z in m)<th>finding</tr>")?;
    for (number, finding) in found.listed(LISTED) {
        let is_on_map = finding.place.is_some_and(|[x, y, _]| map.pixel([x, y]).is_some());
        let link = if is_on_map { format!("<a href=\"#m{number}\">{number}</a>") } else { number.to_string() };
        let place = finding.place.map(|p| p.map(|v| format!("{v:.3}")).join(", ")).unwrap_or_default();
        let (code, colour, text) = (finding.code, hex(finding.code.entry().colour), escaped(&line(finding)));
        write!(out, "<tr id=\"f{number}\"><td class=\"n\">{link}<td><i style=\"background:{colour}\"></i>")?;
        writeln!(out, "<a href=\"#{code}\">{code}</a><td>{place}<td>{text}</tr>")?;
    }
    writeln!(out, "</table>")?;
    let rest: usize = found.looks.iter().map(|l| l.found.unwrap_or(0).saturating_sub(LISTED)).sum();
    if rest > 0 {
        writeln!(out, "<p>And {} more, which the list does not name.</p>", grouped(rest as u64))?;
    }
    if !found.warnings.is_empty() {
        writeln!(out, "<h2>Warnings</h2>\n<ul>")?;
        found.warnings.iter().try_for_each(|text| writeln!(out, "<li>{}", escaped(text)))?;
        writeln!(out, "</ul>")?;
    }
    Ok(())
}

/// Places of a kind that the list does not name, with the colour of the kind.
fn dots(look: &Look) -> impl Iterator<Item = ([f64; 3], Colour)> + '_ {
    let numbered = look.findings.iter().take(LISTED).filter(|f| f.place.is_some()).count();
    look.places.iter().skip(numbered).map(|place| (*place, look.code.entry().colour))
}

/// The command as it was typed, with quotes where a shell needs them.
fn command(typed: impl Iterator<Item = impl AsRef<OsStr>>) -> String {
    typed.fold("hardpan".into(), |line, text| format!("{line} {}", word(&text.as_ref().to_string_lossy())))
}

/// A time as date and time of day, UTC.
fn utc(time: SystemTime) -> String {
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_secs() as i64,
        Err(before) => -(before.duration().as_secs_f64().ceil() as i64),
    };
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // days are counted from 1 March of a year that divides by 400, so that a leap day ends its year
    let from_march = day + 719_468;
    let (era, of_era) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    let [hour, minute, second] = [second / 3600, second / 60 % 60, second % 60];
    format!("{:04}-{month:02}-{date:02} {hour:02}:{minute:02}:{second:02} UTC", year + 400 * era)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_dates() {
        for (seconds, wanted) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds)), wanted);
        }
        assert_eq!(utc(UNIX_EPOCH - Duration::from_millis(1)), "1969-12-31 23:59:59 UTC");
    }

    #[test]
    fn a_command_is_shown_as_typed() {
        let typed = ["check", "two words.obj", "--html", "-1,2"];
        assert_eq!(command(typed.iter()), "hardpan check 'two words.obj' --html -1,2");
    }
}
