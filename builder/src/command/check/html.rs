//! The page of `hardpan check --html`: summary, map and list, in one file that needs nothing beside it.

use std::fmt::Write;

use data_encoding::BASE64;
use hardpan::Terrain;

use super::{Done, Found, line, row};
use crate::{
    check::Look,
    draw::{overview::overview, picture::escaped},
    names::grouped,
};

/// How every page begins.
pub const START: &[u8] = b"<!doctype html>\n<!-- hardpan check -->\n";
/// Findings of a kind that a page lists, with a number on the map.
const LISTED: usize = 100;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}\
table{border-collapse:collapse}td,th{text-align:left;padding:.2em 1em .2em 0;vertical-align:top;border-bottom:1px solid #ddd}\
td.n{text-align:right}img{max-width:100%;border:1px solid #ccc}";

/// The page of all that was found.
pub fn page(found: &Found, t: &Terrain) -> Done<String> {
    let listed = found.listed(LISTED);
    let places: Vec<([f64; 3], usize)> = listed.iter().filter_map(|(n, f)| Some((f.place?, *n))).collect();
    let dots: Vec<[f64; 3]> = found.looks.iter().flat_map(not_numbered).copied().collect();
    let map = BASE64.encode(&overview(t, &places, &dots).png()?);
    let mut out = String::from_utf8_lossy(START).into_owned();
    let (title, summary) = (escaped(&found.title), escaped(&found.summary()));
    let head = format!("<html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style>\n");
    let version = env!("CARGO_PKG_VERSION");
    let [low, high] = t.bounds();
    let extent = |i: usize| format!("{:.3} to {:.3} m", low[i], high[i]);
    // into memory
    _ = writeln!(out, "{head}<h1>{title}</h1>\n<p><b>{summary}</b>. By hardpan {version}.</p>");
    _ = writeln!(out, "<p>Ground: x {}, y {}, z {}.</p>\n<table>", extent(0), extent(1), extent(2));
    _ = writeln!(out, "<tr><th>kind<th>found<th>what was looked for</tr>");
    for look in &found.looks {
        let [kind, count, what] = row(look).map(|cell| escaped(cell.trim()));
        _ = writeln!(out, "<tr><td>{kind}<td class=\"n\">{count}<td>{what}</tr>");
    }
    _ = writeln!(out, "</table>\n<h2>Map</h2>\n<img alt=\"map of the findings\" src=\"data:image/png;base64,{map}\">");
    let counts = found.looks.iter().map(|look| (look.code, not_numbered(look).len() as u64));
    let counts: Vec<String> =
        counts.filter(|(_, n)| *n > 0).map(|(code, n)| format!("{code} {}", grouped(n))).collect();
    if !counts.is_empty() {
        _ = writeln!(out, "<p>Dots without a number: {}.</p>", counts.join(", "));
    }
    _ = writeln!(out, "<h2>List</h2>\n<table>\n<tr><th>number<th>place (x, y, z in m)<th>finding</tr>");
    for (number, finding) in listed {
        let place = finding.place.map(|p| p.map(|v| format!("{v:.3}")).join(", ")).unwrap_or_default();
        let text = escaped(&line(finding));
        _ = writeln!(out, "<tr id=\"{number}\"><td class=\"n\">{number}<td>{place}<td>{text}</tr>");
    }
    for warning in &found.warnings {
        _ = writeln!(out, "<tr><td><td><td>{}</tr>", escaped(warning));
    }
    let rest: usize = found.looks.iter().map(|l| l.found.unwrap_or(0).saturating_sub(LISTED)).sum();
    _ = writeln!(out, "</table>");
    if rest > 0 {
        _ = writeln!(out, "<p>And {} more, which the list does not name.</p>", grouped(rest as u64));
    }
    Ok(out + "</html>\n")
}

/// Where those of a kind are that the list does not name.
fn not_numbered(look: &Look) -> &[[f64; 3]] {
    &look.places[look.findings.iter().take(LISTED).filter(|f| f.place.is_some()).count()..]
}
