//! PLY, in text or binary of either byte order, with its elements and properties in any order.

mod body;
mod head;

use std::path::Path;

use self::body::{Body, Stop};
use self::head::{Element, Head, Property};
use super::{
    FileReport, Frame, Import, ImportError, MAX_VERTICES, NO_NAME, Place, Unit, Up, bytes, file_name, forget_unused,
    plain,
    polygon::Cutter,
    report::{Tally, Thing},
    too_many,
};
use crate::scene::{Scene, Triangle};
use crate::settings::frame::{Native, Transform};
use crate::util::text::{counted, grouped};

/// Axes and unit of a PLY, which states neither.
const NATIVE: Native = Native::silent(Up::Z, Unit::M);
const AGAIN: &str = "copy the file again, or export it again";

/// Reads a file.
pub fn read(path: &Path, frame: &Frame) -> Result<Import, ImportError> {
    read_bytes(&bytes::whole(path)?, path, frame)
}

/// Reads what is to be a file.
pub fn read_bytes(bytes: &[u8], path: &Path, frame: &Frame) -> Result<Import, ImportError> {
    let transform = frame.transform(&NATIVE);
    let head = Head::parse(bytes).map_err(|(line, cause, hint)| ImportError {
        place: Place::Line(line),
        ..ImportError::input(path, cause, hint)
    })?;
    let mut tally = Tally::default();
    head.unknown.iter().for_each(|line| tally.see(Thing::HeadLines, *line));
    let mut scene = mesh(bytes, path, &head, &transform, &mut tally)?;
    if scene.triangles.is_empty() {
        let hint = "export the mesh with its faces; of points one is made in CloudCompare (Edit, Mesh, Delaunay 2.5D)";
        return Err(tally.nothing(path, hint));
    }
    forget_unused(&mut scene);
    let mut report = FileReport {
        file: file_name(path),
        format: "ply",
        bytes: bytes.len() as u64,
        lines: if head.form == head::Form::Text { bytes::lines(bytes) } else { 0 },
        frame: transform.to_string(),
        ..FileReport::default()
    };
    tally.into(&scene, &mut report);
    Ok(Import::of(path, scene, transform, report))
}

/// Corners of faces, in a list each.
#[derive(Default)]
struct Faces {
    corners: Vec<u32>,
    /// Behind the last corner of each.
    ends: Vec<usize>,
}

fn mesh(
    bytes: &[u8],
    path: &Path,
    head: &Head,
    transform: &Transform,
    tally: &mut Tally,
) -> Result<Scene, ImportError> {
    let mut body = Body::new(bytes, head);
    let mut faces = Faces::default();
    let mut scene =
        Scene { materials: plain(path, &[NO_NAME.into()])?, sources: vec![NO_NAME.into()], ..Scene::default() };
    for element in &head.elements {
        let least = element.least(head.form);
        if element.count.saturating_mul(least) > body.left() as u64 {
            let rest = format!("and {} follow", counted(body.left() as u64, "byte"));
            let cause = format!(
                "it states {} of {}, {rest}: the file is cut off, or damaged",
                grouped(element.count),
                element.name
            );
            return Err(ImportError { place: Place::Line(element.line), ..ImportError::input(path, cause, AGAIN) });
        }
        let done = match &*element.name {
            "vertex" => vertices(&mut body, element, transform, &mut scene, path, tally)?,
            "face" => lists(&mut body, element, &mut faces, false, tally),
            "tristrips" => lists(&mut body, element, &mut faces, true, tally),
            _ => body.skip(element),
        };
        done.map_err(|stop| at(path, &body, stop))?;
    }
    let mut cutter = Cutter::default();
    let Scene { positions, triangles, .. } = &mut scene;
    let mut from = 0;
    for (i, end) in faces.ends.iter().enumerate() {
        let corners = &faces.corners[from..*end];
        from = *end;
        if let Some(v) = corners.iter().find(|v| **v as usize >= positions.len()) {
            let cause = format!("face {i} names vertex {v}, and the file has {}", grouped(positions.len() as u64));
            return Err(ImportError::input(path, cause, AGAIN));
        }
        if corners.iter().any(|&v| positions[v as usize].iter().any(|v| !v.is_finite())) {
            tally.add(Thing::NotFinite, 1);
            continue;
        }
        let emit = |v| triangles.push(Triangle { v, material: 0, source: 0 });
        let cut = cutter.face(corners, positions, |thing| tally.add(thing, 1), emit);
        cut.map_err(|(cause, hint)| ImportError::input(path, format!("face {i} {cause}"), hint))?;
    }
    Ok(scene)
}

fn at(path: &Path, body: &Body, stop: Stop) -> ImportError {
    let error = ImportError::input(path, stop.0, AGAIN);
    ImportError { place: body.place(), ..error }
}

fn vertices(
    body: &mut Body,
    element: &Element,
    transform: &Transform,
    scene: &mut Scene,
    path: &Path,
    tally: &mut Tally,
) -> Result<Result<(), Stop>, ImportError> {
    let count = element.count as usize; // no more than bytes of the file
    if count > MAX_VERTICES {
        return Err(too_many(path, "more than 4,294,967,293 vertices"));
    }
    let axis = |name: &str| element.properties.iter().position(|p| p.name == name && p.list.is_none());
    let axes = [axis("x"), axis("y"), axis("z")];
    let [Some(x), Some(y), Some(z)] = axes else {
        let error = ImportError::input(path, "vertices need the properties x, y and z, of one number each", AGAIN);
        return Err(ImportError { place: Place::Line(element.line), ..error });
    };
    let has = |names: &[&str]| names.iter().all(|name| axis(name).is_some());
    let or_none = |is: bool| if is { element.count } else { 0 };
    tally.add(Thing::Normals, or_none(has(&["nx", "ny", "nz"])));
    tally.add(Thing::TextureCoordinates, or_none(has(&["s", "t"]) || has(&["u", "v"])));
    tally.add(Thing::Colours, or_none(has(&["red", "green", "blue"])));
    if scene.positions.try_reserve_exact(count).is_err() {
        return Err(bytes::no_memory(path, &counted(element.count, "vertex")));
    }
    let mut row = vec![0.0; element.properties.len()];
    for _ in 0..count {
        if let Err(stop) = body.row(element, &mut row) {
            return Ok(Err(stop));
        }
        scene.positions.push(transform.apply([row[x], row[y], row[z]]));
    }
    Ok(Ok(()))
}

/// Faces, or strips of triangles.
fn lists(body: &mut Body, element: &Element, faces: &mut Faces, strips: bool, tally: &mut Tally) -> Result<(), Stop> {
    let is_corners = |p: &Property| matches!(&*p.name, "vertex_indices" | "vertex_index") && p.list.is_some();
    let Some(corners) = element.properties.iter().position(is_corners) else { return body.skip(element) };
    let mut list: Vec<f64> = Vec::new();
    for _ in 0..element.count {
        for (i, property) in element.properties.iter().enumerate() {
            if i == corners {
                body.list(property, &mut list)?;
            } else {
                body.pass(property)?;
            }
        }
        if strips {
            strip(&list, faces)?;
            continue;
        }
        for &v in &list {
            faces.corners.push(number(v)?);
        }
        faces.ends.push(faces.corners.len());
    }
    let colours = element.properties.iter().any(|p| p.name == "red");
    tally.add(Thing::Colours, if colours { element.count } else { 0 });
    Ok(())
}

/// The triangles of a strip; -1 ends one.
fn strip(list: &[f64], faces: &mut Faces) -> Result<(), Stop> {
    for run in list.split(|v| *v == -1.0) {
        for (i, three) in run.windows(3).enumerate() {
            let [a, b, c] = [number(three[0])?, number(three[1])?, number(three[2])?];
            // a strip may stand still to turn
            if a != b && b != c && c != a {
                faces.corners.extend(if i % 2 == 0 { [a, b, c] } else { [b, a, c] });
                faces.ends.push(faces.corners.len());
            }
        }
    }
    Ok(())
}

fn number(v: f64) -> Result<u32, Stop> {
    let is = v >= 0.0 && v <= f64::from(u32::MAX) && v.fract() == 0.0;
    if is { Ok(v as u32) } else { Err(Stop(format!("a face names vertex {v}"))) }
}
