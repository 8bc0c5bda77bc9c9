//! Misses: every corner and the 255 grid points inside every edge, open ones too, of meshes that are asked whole.

use crate::image::image;
use crate::scenes::{CITY_ANGLE, SCENES};
use hardpan::Terrain;
use hardpan_builder::Scene;
use hardpan_builder::demo::fixtures;
use verification::edges::{self, Edges};
use verification::obj;
use verification::oracle::Oracle;

const SOUPS: std::ops::Range<u64> = 100..164;

/// Files of `city` in the folder of real data, and whether they have their y axis up.
const FILES: [(&str, &str, bool); 3] = [
    ("samurai_monastry", "samurai_monastry.obj", true),
    ("zdm2", "zdm2.obj", true),
    ("3dfier_innerbuffer_05", "3dfier_innerbuffer_05.obj", false),
];

/// Names of the meshes, as in the bars.
pub const MESHES: [&str; 6] = ["hills1m", "turned hills", "soup", FILES[0].0, FILES[1].0, FILES[2].0];

/// Results at the points of a mesh.
#[derive(Default)]
pub struct Found {
    pub edges: usize,
    /// Edges with one triangle.
    pub border: usize,
    pub points: u64,
    pub misses: u64,
    /// The first miss, in words.
    pub first: Option<String>,
}

/// The mesh's scenes (soups are many), or why there are none.
fn scenes(mesh: &str) -> Result<Vec<Scene>, String> {
    let hills = |name: &str| {
        let scene = SCENES.iter().find(|s| s.name == name).expect("one of the scenes");
        crate::image::scene(&scene.mesh())
    };
    match mesh {
        "hills1m" => Ok(vec![hills(mesh)]),
        "turned hills" => {
            let mut scene = hills("hills100k");
            let (sin, cos) = CITY_ANGLE.sin_cos();
            for p in &mut scene.positions {
                *p = [cos * p[0] - sin * p[1], sin * p[0] + cos * p[1], p[2]];
            }
            Ok(vec![scene])
        }
        "soup" => Ok(SOUPS.map(fixtures::soup).collect()),
        _ => {
            let &(_, file, y_up) = FILES.iter().find(|f| f.0 == mesh).expect("one of the files");
            let scene = obj::read(&obj::data().join("city").join(file), y_up);
            scene.map(|s| vec![s]).map_err(|e| format!("HARDPAN_DATA: city/{file}: {e}"))
        }
    }
}

/// Asks about all points of a mesh, or says why not.
pub fn ask(mesh: &str) -> Result<Found, String> {
    let mut found = Found::default();
    for scene in scenes(mesh)? {
        let built = image(&scene);
        let edges = Edges::of(&Oracle::new(&scene));
        let tally = edges::tally(Terrain::open(&built.image).expect("an image just built"), &edges.all);
        found.edges += edges.all.len();
        found.border += edges.border;
        found.points += tally.points;
        found.misses += tally.misses;
        found.first = found.first.or(tally.first);
    }
    Ok(found)
}
