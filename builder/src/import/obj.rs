//! Wavefront OBJ, read by `tobj`.
//!
//! The text is tidied line by line first, because real files hold much that a ground has no use for and that a strict
//! reader stumbles over: normals, texture coordinates, vertex colours on some vertices, polylines, free-form curves,
//! continued lines, material libraries that are not there. Lines stay where they are, so errors name them.

use std::{collections::HashMap, fmt::Write as _, path::Path};

use hardpan_builder::{Material, Scene, Triangle};

use super::{Frame, Import, polygon::triangulate};
use crate::command::Failure;

/// Stands for the faces before the first `usemtl` and the faces before the first `o` or `g`.
const NO_NAME: &str = "unnamed";
/// mu of a material about which the file says nothing.
const DEFAULT_MU: f64 = 0.85;

pub fn read(path: &Path, bytes: Vec<u8>, frame: &Frame) -> Result<Import, Failure> {
    if bytes.starts_with(&[0xFE, 0xFF]) || bytes.starts_with(&[0xFF, 0xFE]) {
        return Err(Failure::unsupported(
            path,
            "the text is UTF-16; type: iconv -f UTF-16 -t UTF-8 FILE.obj > FILE-utf8.obj",
        ));
    }
    let text = String::from_utf8_lossy(&bytes);
    let Tidy { text, materials, points_and_lines } = tidy(text.trim_start_matches('\u{FEFF}'));

    let library = || {
        let named = materials.iter().map(|name| tobj::Material { name: name.clone(), ..Default::default() });
        Ok((named.collect(), materials.iter().cloned().zip(0..).collect()))
    };
    let mut rest = text.as_bytes();
    let loaded = tobj::load_obj_buf(&mut rest, &tobj::LoadOptions::default(), |_| library());
    let line = text.as_bytes()[..text.len() - rest.len()].iter().filter(|&&b| b == b'\n').count() - 1;
    let (models, _) = loaded.map_err(|e| explain(path, line, e))?;

    let mut notes = Notes::default();
    let mut names = Names::default();
    let mut scene = Scene {
        materials: materials.into_iter().map(|name| Material::new(name, DEFAULT_MU)).collect(),
        ..Scene::default()
    };
    let mut no_material = None;

    for tobj::Model { mesh, name } in models.into_iter().filter(|m| !m.mesh.indices.is_empty()) {
        let material = mesh.material_id.unwrap_or_else(|| {
            *no_material.get_or_insert_with(|| {
                scene.materials.push(Material::new(NO_NAME, DEFAULT_MU));
                scene.materials.len() - 1
            })
        });
        let material =
            u16::try_from(material).map_err(|_| Failure::input(path, "more than 65,535 materials; split the file"))?;
        let source = names.number(if name == "unnamed_object" { NO_NAME } else { &name });
        let base = u32::try_from(scene.positions.len()).map_err(|_| too_many(path))?;
        scene.positions.extend(mesh.positions.chunks_exact(3).map(|p| frame.apply([p[0], p[1], p[2]])));

        let mut corners = &mesh.indices[..];
        let mut arities = mesh.face_arities.iter();
        while !corners.is_empty() {
            let n = arities.next().map_or(3, |&n| n as usize);
            let (face, after) = corners.split_at(n);
            corners = after;
            let ring: Vec<[f64; 3]> = face.iter().map(|&v| scene.positions[(base + v) as usize]).collect();
            if ring.iter().flatten().any(|v| !v.is_finite()) {
                notes.not_finite += 1;
            } else if n < 3 {
                notes.small += 1;
            } else {
                triangulate(&ring, |t| {
                    scene.triangles.push(Triangle { v: t.map(|i| base + face[i]), material, source })
                });
            }
        }
    }
    u32::try_from(scene.positions.len()).map_err(|_| too_many(path))?;
    scene.sources = names.list;
    if scene.triangles.is_empty() {
        return Err(Failure::input(path, "there are no faces in this file; export the mesh with its faces (f lines)"));
    }
    // Positions of faces that were left out must not reach the builder as numbers.
    scene.positions.iter_mut().filter(|p| p.iter().any(|v| !v.is_finite())).for_each(|p| *p = [0.0; 3]);

    let counted = [
        (notes.small, "faces with one or two corners were left out"),
        (points_and_lines, "points, lines and free-form statements were left out"),
        (notes.not_finite, "faces with a corner that is not a finite number were left out"),
        (names.left_over, "faces are in objects beyond the first 65,534 and have the source \"others\""),
    ];
    let notes = counted.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    Ok(Import { scene, notes })
}

#[derive(Default)]
struct Notes {
    small: usize,
    not_finite: usize,
}

/// Numbers for object names, in order of appearance.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    known: HashMap<String, u16>,
    left_over: usize,
}

impl Names {
    fn number(&mut self, name: &str) -> u16 {
        let name = if self.list.len() < 65_534 || self.known.contains_key(name) {
            name
        } else {
            self.left_over += 1;
            "others"
        };
        *self.known.entry(name.into()).or_insert_with(|| {
            self.list.push(name.into());
            (self.list.len() - 1) as u16
        })
    }
}

struct Tidy {
    /// A first line for the material names, then one line for each line of the file.
    text: String,
    materials: Vec<String>,
    points_and_lines: usize,
}

/// Keeps vertices, faces and names; every line keeps its place.
fn tidy(text: &str) -> Tidy {
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str("mtllib names\n");
    let mut materials: Vec<String> = Vec::new();
    let mut known: HashMap<String, ()> = HashMap::new();
    let mut points_and_lines = 0;

    let mut lines = text.lines();
    while let Some(first) = lines.next() {
        let mut joined;
        let mut line = first.trim();
        let mut extra = 0;
        while let Some(head) = line.strip_suffix('\\') {
            let Some(next) = lines.next() else { break };
            joined = format!("{head} {}", next.trim());
            line = &joined;
            extra += 1;
        }
        let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match keyword {
            // Colours and weights after the three coordinates are of no use here.
            "v" => {
                let mut words = rest.split_whitespace();
                let mut word = || words.next().unwrap_or_default();
                let _ = write!(out, "v {} {} {}", word(), word(), word());
            }
            "f" => {
                let _ = write!(out, "f {rest}");
            }
            "o" | "g" => {
                let _ = write!(out, "g {rest}");
            }
            "usemtl" => {
                let name = if rest.is_empty() { NO_NAME } else { rest };
                if known.insert(name.into(), ()).is_none() {
                    materials.push(name.into());
                }
                let _ = write!(out, "usemtl {name}");
            }
            "p" | "l" | "curv" | "curv2" | "surf" => points_and_lines += 1,
            _ => {}
        }
        (0..=extra).for_each(|_| out.push('\n'));
    }
    Tidy { text: out, materials, points_and_lines }
}

fn too_many(path: &Path) -> Failure {
    Failure::input(path, "more than 4,294,967,295 vertices; split the file")
}

fn explain(path: &Path, line: usize, error: tobj::LoadError) -> Failure {
    use tobj::LoadError as E;
    let cause = match error {
        E::PositionParseError => format!("line {line}: a vertex needs three numbers; mend the line"),
        E::FaceParseError => {
            format!("line {line}: a face has a corner that is no index (i, i/i, i//i or i/i/i are); mend the line")
        }
        E::FaceVertexOutOfBounds => {
            format!(
                "line {line}: a face of the object that ends here names a vertex that is not there (the first is 1); export the file again"
            )
        }
        E::ReadError => "the file could not be read as text; export it again as plain OBJ".into(),
        other => format!("line {line}: {other}; export the file again"),
    };
    Failure::input(path, cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Unit, Up};

    const METRES: Frame = Frame { up: Up::Z, unit: Unit::M, scale: 1.0 };

    fn import(text: &str, frame: Frame) -> Result<Import, Failure> {
        read(Path::new("test.obj"), text.as_bytes().to_vec(), &frame)
    }

    #[test]
    fn odd_but_real_lines() {
        let text = "mtllib nowhere.mtl\r\no a b\r\nv 0 0 0 1 0 0\r\nv 1 0 0\r\nv +.1e1 1 1e-05\r\nv 0 1 0\r\nvn nonsense\r\n\
                    usemtl two words\r\nf 1 2//\r\nf -4/1 -3/1 \\\r\n -2/1\r\nl 1 2 3\r\nusemtl other\r\nf 1// 3 4";
        let Import { scene, notes } = import(text, METRES).unwrap();
        assert_eq!(scene.triangles.len(), 2);
        assert_eq!(scene.sources, ["a b"]);
        let names: Vec<_> = scene.materials.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["two words", "other"]);
        assert_eq!(scene.triangles[1].material, 1);
        assert_eq!(notes.len(), 2, "{notes:?}");
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line) in [
            ("v 0 0 0\nv 0 x 0\n", "line 2:"),
            ("v 0 0 \\\n0\nv 1 0 0\nv 1 1 0\nf 1 2 a\n", "line 5:"),
            ("v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 4\n", "line 4:"),
            ("v 0 0 0\nv 1 0 0\nv 1 1 0\nf 0 1 2\n", "line 4:"),
        ] {
            let error = import(text, METRES).err().expect("must fail").to_string();
            assert!(error.contains(line), "{error}");
        }
    }

    #[test]
    fn frames() {
        let text = "v 100 200 300\nv 1 0 0\nv 0 0 1\nf 1 2 3\n";
        let at = |up, unit, scale| import(text, Frame { up, unit, scale }).unwrap().scene.positions[0];
        assert_eq!(at(Up::Y, Unit::M, 1.0), [100.0, -300.0, 200.0]);
        assert_eq!(at(Up::Z, Unit::Cm, 2.0), [2.0, 4.0, 6.0]);
        assert_eq!(at(Up::Z, Unit::Ft, 1.0), [30.48, 60.96, 91.44]);
        assert_eq!(at(Up::Z, Unit::In, 1.0), [2.54, 5.08, 7.62]);
    }

    #[test]
    fn numbers_that_are_none_leave_their_faces_out() {
        let import =
            import("v nan 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 inf\nv 0 1 0\nf 1 2 3\nf 2 3 4\nf 2 3 5\n", METRES).unwrap();
        assert_eq!(import.scene.triangles.len(), 1);
        assert!(import.scene.positions.iter().flatten().all(|v| v.is_finite()));
    }
}
