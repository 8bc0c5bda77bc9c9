//! OpenCRG: roads as heights on a curved grid, of ASAM's standard, versions 1.1 and 1.2.
//!
//! A road becomes triangles between its own posts. [`Road`] answers heights by u and v as the standard has them.

mod body;
mod friction;
mod head;
mod line;
mod road;

use std::path::Path;

use super::{
    Count, FileReport, Frame, Import, ImportError, Library, NO_NAME, Unit, Up, bytes, file_name, forget_unused, plain,
    report::{Objects, Tally},
};
use crate::scene::{Scene, Triangle};
use crate::settings::frame::Native;
use crate::util::text::MAX_LISTED;
use friction::Friction;
use head::Head;
pub use road::Road;

/// Axes and unit of an OpenCRG, which the standard states.
const NATIVE: Native = Native { says_axes: true, says_unit: true, ..Native::silent(Up::Z, Unit::M) };

/// Name of the road's one source.
const SOURCE: &str = "road";
/// Metres from zero at which a road may lie.
const FARTHEST: f64 = 1e9;

/// Reads a file, with the friction that a file of this name beside it has.
pub fn read(path: &Path, frame: &Frame, friction: Option<&str>) -> Result<Import, ImportError> {
    let mut friction = friction.map(|name| Friction::read(path, name)).transpose()?;
    let head = head::read(path)?;
    let rows = body::read(&head)?;
    let mut used = vec![count("cross_sections", rows.count as u64), count("long_sections", rows.v.len() as u64)];
    let (assumed, passed) = (rows.assumed, rows.unused as u64);
    let road = Road::new(&head, rows)?;
    let transform = frame.transform(&NATIVE);
    let mut scene =
        Scene { materials: plain(path, &[NO_NAME.into()])?, sources: vec![SOURCE.into()], ..Scene::default() };
    let no_memory = |_| bytes::no_memory(path, "its posts");
    scene.positions.try_reserve_exact(road.rows() * road.sections()).map_err(no_memory)?;
    scene.triangles.try_reserve(road.rows() * road.sections()).map_err(no_memory)?;
    let mut posts = 0;
    for row in 0..road.rows() {
        let cut = road.cut(row);
        for (section, v) in road.v.iter().enumerate() {
            let [x, y] = cut.at(*v);
            let z = road.post(row, section);
            posts += u64::from(z.is_some());
            if z.is_some_and(|z| ![x, y, z].iter().all(|v| v.abs() <= FARTHEST)) {
                let cause = format!("row {} lies more than a million km away, or nowhere", row + 1);
                return Err(ImportError::input(path, cause, "check the numbers in its text"));
            }
            scene.positions.push([x, y, z.unwrap_or(f64::NAN)]);
        }
    }
    let cells = mesh(&road, friction.as_mut(), &mut scene);
    if let Some(friction) = &friction {
        scene.materials = friction.materials();
    }
    if scene.triangles.is_empty() {
        let cause = "no four posts about a cell have heights, and ground is between such";
        return Err(ImportError::input(
            path,
            cause,
            "write GRID_NAN_MODE = 2 below $ROAD_CRG_MODS, or export it again",
        ));
    }
    for p in &mut scene.positions {
        *p = transform.apply(*p);
    }
    if transform.mirrors() {
        scene.triangles.iter_mut().for_each(|t| t.v.swap(1, 2));
    }
    forget_unused(&mut scene);
    used.push(count("posts", posts));
    let is_text = head.format.is_some_and(|f| f.text);
    let size = |file: &Path| std::fs::metadata(file).map_or(0, |data| data.len());
    let library = |file: &std::path::PathBuf| Library {
        name: file_name(file),
        line: 0,
        materials: None,
        problem: None,
        file: Some(file.clone()),
    };
    let others = head.files.iter().filter(|file| file.as_path() != path);
    let files = others.chain(friction.iter().flat_map(|friction| &friction.files));
    let mut report = FileReport {
        file: file_name(path),
        format: "crg",
        bytes: size(path),
        lines: head.body.as_ref().filter(|_| is_text).map_or(0, |body| bytes::lines(&body.bytes)),
        frame: transform.to_string(),
        libraries: files.map(library).collect(),
        ..FileReport::default()
    };
    Tally::default().into(&scene, &mut report);
    tell(&head, &road, &cells, assumed, passed, &mut used, &mut report);
    report.used.splice(0..0, used);
    let stated = scene.materials.iter().filter(|m| m.name != NO_NAME).map(|m| (m.name.clone(), m.mu)).collect();
    Ok(Import { stated, ..Import::of(path, scene, transform, report) })
}

/// Cells that are no ground.
#[derive(Default)]
struct Cells {
    holes: u64,
    folded: u64,
}

/// Two triangles for each cell whose posts have heights.
fn mesh(road: &Road, mut friction: Option<&mut Friction>, scene: &mut Scene) -> Cells {
    let (wide, mut cells) = (road.sections(), Cells::default());
    let last = road.rows() - 1;
    // a closed track has one more row of cells
    let rows = (0..last).map(|row| (row, row + 1)).chain(road.gap.filter(|gap| *gap > 0.0).map(|_| (last, 0)));
    for (row, next) in rows {
        for j in 0..wide - 1 {
            let corners = [row * wide + j, next * wide + j, next * wide + j + 1, row * wide + j + 1];
            let at = corners.map(|i| scene.positions[i]);
            if at.iter().any(|p| p[2].is_nan()) {
                cells.holes += 1;
                continue;
            }
            // that in the middle of the cell; behind the last row it is that of the end
            let middle = [road.u_of(row) + 0.5 * road.u_of(1) - 0.5 * road.u_of(0), 0.5 * (road.v[j] + road.v[j + 1])];
            let material = friction.as_mut().map_or(0, |friction| friction.at(middle));
            for [a, b, c] in [[0, 1, 2], [0, 2, 3]] {
                let [p, q, r] = [a, b, c].map(|k| at[k]);
                let area = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
                if area <= 0.0 {
                    cells.folded += 1;
                    continue;
                }
                let v = [a, b, c].map(|k: usize| corners[k] as u32);
                scene.triangles.push(Triangle { v, material, source: 0 });
            }
        }
    }
    cells
}

fn count(what: &'static str, count: u64) -> Count {
    Count { what, count, first_line: None, objects: None, note: None }
}

/// Says what was used, and what was not.
fn tell(
    head: &Head,
    road: &Road,
    cells: &Cells,
    assumed: bool,
    passed: u64,
    used: &mut Vec<Count>,
    report: &mut FileReport,
) {
    let keys = |keys: &Option<head::Keys>| keys.as_ref().map_or(0, |keys| keys.len() as u64);
    for (what, number) in [
        ("modifiers", keys(&head.mods)),
        ("options", keys(&head.opts)),
        ("moved_to_zero", u64::from(head.mods.is_none())),
        ("closed_tracks", u64::from(road.gap.is_some())),
    ] {
        used.extend((number > 0).then(|| count(what, number)));
    }
    if let Some((_, first)) = head.unused.first() {
        let names = head.unused.iter().map(|(name, _)| name.clone()).take(MAX_LISTED).collect();
        let objects = Some(Objects { triangles: 0, names });
        report.ignored.push(Count { first_line: Some(*first), objects, ..count("keys", head.unused.len() as u64) });
    }
    if passed > 0 {
        report.ignored.push(count("channels", passed));
    }
    if let Some((first, number)) = head.loose {
        let note = Some("numbers of which the end is none, used without it");
        report.repaired.push(Count { first_line: Some(first), note, ..count("numbers_cut", number) });
    }
    if assumed {
        let note = Some("right borders taken as v = 0, as LONG_SECTION_V_RIGHT is missing");
        report.repaired.push(Count { note, ..count("right_borders_assumed", 1) });
    }
    let is_to_close = head.opts.as_ref().is_some_and(|opts| opts.get("refline_continuation") == Some(1.0));
    if is_to_close && road.gap.is_none() {
        let note = Some("tracks to be closed whose ends do not meet, left open");
        report.repaired.push(Count { note, ..count("tracks_left_open", 1) });
    }
    if cells.holes > 0 {
        report.refused.push(count("cells_without_height", cells.holes));
    }
    if cells.folded > 0 {
        let note = Some("triangles left out where the road folds over itself in a tight curve");
        report.refused.push(Count { note, ..count("triangles_folded", cells.folded) });
    }
}
