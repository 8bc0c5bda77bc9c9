//! Scenes of MAVS, as they are typed and read.

use std::{
    fmt::Write as _,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::import::place::{Budget, Limit};
use crate::import::utf8;
use crate::scene::{HeightField, Scene};
use crate::settings::mavs::{self, Angles, Objects, Typed};

use super::{Done, Failure, Kind, NewFile, Replace, has_extension, length};

/// Options that are typed beside a scene.
#[derive(clap::Args, Default)]
pub struct Args {
    /// MAVS: the folder of meshes [default: as the scene states, or scenes/meshes of --data-dir]
    #[arg(long, value_name = "FOLDER", hide = true)]
    mesh_dir: Option<PathBuf>,
    /// MAVS: the folder of data [default: the one above the scene's folder]
    #[arg(long, value_name = "FOLDER", hide = true)]
    data_dir: Option<PathBuf>,
    /// MAVS: draw other random places
    #[arg(long, value_name = "N", default_value_t = 0, hide = true)]
    seed: u32,
    /// MAVS: the unit of YawPitchRoll [default: as the values show]
    #[arg(long, value_name = "UNIT", hide = true, value_parser = PossibleValuesParser::new(["deg", "rad"]).map(|s| if s == "deg" { Angles::Deg } else { Angles::Rad }))]
    angles: Option<Angles>,
    /// MAVS: what becomes of objects
    #[arg(long, value_name = "WHAT", hide = true, value_parser = ["obstacles", "boxes", "drivable"])]
    objects: Option<String>,
    /// MAVS: write maps of heights as a mesh, too
    #[arg(long, value_name = "FILE.obj", hide = true)]
    keep_mesh: Option<PathBuf>,
    /// MAVS: what becomes of trails [default: nothing]
    #[arg(long, value_name = "WHAT", hide = true, value_parser = ["as-material"])]
    trails: Option<String>,
    /// MAVS: the first frame of each animation is an obstacle
    #[arg(long, value_name = "WHAT", hide = true, value_parser = ["first-frame"])]
    animations: Option<String>,
    /// The most triangles that sources may come to [default: 2000000 of what stands several times]
    #[arg(long, value_name = "N", hide = true)]
    max_triangles: Option<u64>,
    /// The most memory that building them may take, as 2GiB [default: of such, that of the machine]
    #[arg(long, value_name = "SIZE", hide = true, value_parser = length::bytes)]
    memory: Option<u64>,
}

impl Args {
    pub fn budget(&self) -> Budget {
        let all = Limit { triangles: self.max_triangles, memory: self.memory };
        let Limit { triangles, .. } = Budget::default().copies;
        let memory = all.memory.or_else(crate::grid::machine_memory);
        Budget { copies: Limit { triangles: all.triangles.or(triangles), memory }, all }
    }

    /// Writes fields of heights as a mesh, if that is asked for.
    pub fn keep(&self, scene: &Scene, of: &[&PathBuf]) -> Done {
        let Some(place) = &self.keep_mesh else { return Ok(()) };
        if !has_extension(place, "obj") {
            return Err(Failure::input(place, "a mesh is called FILE.obj"));
        }
        Replace::None.check_made(place, Kind::MESH, of.iter().copied())?;
        if scene.fields.is_empty() {
            return Err(Failure::input(place, "there is no map of heights in this scene; leave --keep-mesh out"));
        }
        let (mut text, mut base) = (String::new(), 1);
        for field in &scene.fields {
            let HeightField { origin, pitch, columns, rows, heights, .. } = field;
            for (i, z) in heights.iter().enumerate() {
                let [x, y] = [i % columns, i / columns].map(|n| n as f64 * pitch);
                _ = writeln!(text, "v {} {} {}", origin[0] + x, origin[1] + y, if z.is_nan() { 0.0 } else { *z });
            }
            for at in (0..rows - 1).flat_map(|r| (0..columns - 1).map(move |c| r * columns + c)) {
                let corners = [at, at + 1, at + columns + 1, at + columns];
                if corners.iter().all(|i| !heights[*i].is_nan()) {
                    let [a, b, c, d] = corners.map(|i| base + i);
                    _ = writeln!(text, "f {a} {b} {c}\nf {a} {c} {d}");
                }
            }
            base += heights.len();
        }
        Ok(NewFile::write(place, text.as_bytes())?.keep()?)
    }

    fn typed(&self) -> Typed {
        Typed {
            angles: self.angles,
            mesh_dir: self.mesh_dir.clone(),
            data_dir: self.data_dir.clone(),
            seed: self.seed,
            objects: match self.objects.as_deref() {
                Some("drivable") => Objects::Drivable,
                Some("boxes") => Objects::Boxes,
                _ => Objects::Obstacles,
            },
            trails: self.trails.is_some(),
            first_frame: self.animations.is_some(),
        }
    }

    /// The scene that a file holds, if it is one.
    pub fn read(&self, file: &Path) -> Done<Option<mavs::Read>> {
        if !has_extension(file, "json") || !file.is_file() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let read =
            fs::File::open(file).and_then(|f| utf8(f.take(MAX_BYTES + 1))).and_then(|mut t| t.read_to_end(&mut bytes));
        read.map_err(|e| Failure::io(file, e))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(Failure::input(file, format!("longer than {} MiB, as no scene is", MAX_BYTES >> 20)));
        }
        let Ok(text) = String::from_utf8(bytes) else { return Ok(None) };
        match mavs::kind(&text) {
            None => Ok(None),
            Some(mavs::Kind::Other(what)) => {
                let text = format!("this looks like {what} of MAVS, and only its scenes are read; name the scene");
                Err(Failure::Unsupported(format!("{}: {text}", super::named(file))))
            }
            Some(mavs::Kind::Scene) => {
                mavs::read(&text, file, &self.typed()).map(Some).map_err(|e| Failure::input(file, e))
            }
        }
    }
}

/// Bytes of a scene at most.
const MAX_BYTES: u64 = 64 << 20;
