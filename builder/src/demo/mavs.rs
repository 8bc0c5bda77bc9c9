//! A small scene of MAVS in which every key stands, with the files that it names.

use std::fmt::Write as _;

/// The scene, below its folder of data.
pub const SCENE: &str = "scenes/demo_scene.json";

/// The scene's text. Only `Layered Surface.Heightmap` is left out: it would go before `Surface Mesh`.
const TEXT: &str = r#"{
  "_comment": "A sandy field with a trail and potholes, a hill from a map of heights, walls, trees and grass.",
  "PathToMeshes": "meshes",
  "UseFullPaths": false,
  "Object Labels": "labels.json",
  "Label By Group": false,
  "Layered Surface": {
    "Mesh": "field.obj",
    "Scale": [1.0, 1.0, 1.0],
    "Trail": {
      "Trail Width": 4.0,
      "Track Width": 0.5,
      "Wheelbase": 1.8,
      "Path": ["waypoints/trail.vprp"]
    },
    "Layers": "layers.json"
  },
  "Surface Mesh": [
    {
      "Mesh": "field.obj",
      "Rotate Y to Z": false,
      "Rotate X to Y": false,
      "Rotate Y to X": false,
      "YawPitchRoll": [0.0, 0.0, 0.0],
      "Position": [0.0, 0.0, 0.0],
      "Scale": [1.0, 1.0, 1.0],
      "Material": "sand",
      "Cone Index": 150.0
    },
    {
      "Heightmap": { "Map": "hill.bmp", "Resolution": 1.0, "Scale": 0.05 },
      "Position": [40.0, 0.0, 0.0],
      "Material": "wet"
    }
  ],
  "Objects": [
    {
      "Mesh": "wall.obj",
      "Smooth Normals": false,
      "Material": "wall.mtl",
      "Instances": [
        { "YawPitchRoll": [0.0, 0.0, 0.0], "Position": [-12.0, 14.0, 0.0], "Scale": [8.0, 0.4, 2.0] },
        { "YawPitchRoll": [1.5707963, 0.0, 0.0], "Position": [-12.0, 14.0, 0.0], "Scale": [4.0, 0.4, 2.0] }
      ]
    },
    {
      "Mesh": "tree.obj",
      "Rotate Y to Z": true,
      "Label By Group": true,
      "Random": {
        "Offset": [0.0, 0.0, -0.05],
        "Number": 25,
        "Polygon": [[-19.0, -19.0], [19.0, -19.0], [19.0, -9.0], [-19.0, -9.0]],
        "Scale": [0.6, 1.4],
        "Minimum Spacing": 2.0
      }
    },
    {
      "Mesh": "grass.obj",
      "Rotate X to Y": true,
      "Rotate Y to X": false,
      "Random": {
        "Offset": [0.0, 0.0, 0.0],
        "Number": 400,
        "Polygon": [[25.0, -15.0], [55.0, -15.0], [55.0, 15.0], [25.0, 15.0]],
        "Scale": [[0.5, 1.0], [0.5, 1.0], [0.5, 2.0]]
      }
    }
  ],
  "Potholes": "potholes.txt",
  "Animations": [
    {
      "Animation Folder": "walker",
      "Frame List": "walker/frames.txt",
      "Behavior": "straight",
      "Path": "waypoints/walk.json",
      "Mesh Scale": 1.0,
      "Rotate Y to X": false,
      "Rotate Y to Z": false,
      "Initial Position": [0.0, 16.0, 0.0],
      "Initial Heading": 0.0,
      "Frame Rate": 30.0,
      "Speed": 1.5
    }
  ],
  "VegOverrideFile": "vegetation.json",
  "Vegetation Distribution": {},
  "Scale Multiplier": 1.0
}
"#;

const LABELS: &str = r#"{
  "Label Colors": [
    { "Label": "ground", "Label Number": 1, "Color": [0.6, 0.5, 0.3] },
    { "Label": "wall", "Label Number": 2, "Color": [0.5, 0.5, 0.5] },
    { "Label": "tree", "Label Number": 3, "Color": [0.1, 0.5, 0.1] }
  ],
  "Labels": [["field.obj", "ground"], ["wall.obj", "wall"], ["crown", "tree"]]
}
"#;

/// A box about the zero in plan, from 0 to 1 in height.
const WALL: &str = "mtllib wall.mtl
o wall
usemtl concrete
v -0.5 -0.5 0\nv 0.5 -0.5 0\nv 0.5 0.5 0\nv -0.5 0.5 0\nv -0.5 -0.5 1\nv 0.5 -0.5 1\nv 0.5 0.5 1\nv -0.5 0.5 1
f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8
";

/// With y up, as many programs have it.
const TREE: &str = "g crown
usemtl leaves
v -1 1 -1\nv 1 1 -1\nv 1 1 1\nv -1 1 1\nv 0 4 0
f 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\nf 4 3 2 1
g trunk
usemtl bark
v -0.1 0 -0.1\nv 0.1 0 -0.1\nv 0 0 0.1\nv 0 1.2 0
f 6 9 7\nf 7 9 8\nf 8 9 6
";

const GRASS: &str = "o grass\nusemtl blades\nv -0.05 0 0\nv 0.05 0 0\nv 0 0 0.4\nf 1 2 3\nf 3 2 1\n";

/// All files, with their names below the folder of data.
pub fn files() -> Vec<(&'static str, Vec<u8>)> {
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        (SCENE, text(TEXT)),
        ("scenes/meshes/field.obj", field().into_bytes()),
        ("scenes/meshes/hill.bmp", hill()),
        ("scenes/meshes/wall.obj", text(WALL)),
        ("scenes/meshes/wall.mtl", text("newmtl concrete\nKd 0.5 0.5 0.5\n")),
        ("scenes/meshes/tree.obj", text(TREE)),
        ("scenes/meshes/grass.obj", text(GRASS)),
        ("scenes/meshes/labels.json", text(LABELS)),
        ("scenes/meshes/layers.json", text("{}\n")),
        ("scenes/meshes/walker/frames.txt", text("wall.obj\n")),
        ("waypoints/trail.vprp", trail().into_bytes()),
        ("potholes.txt", text("# depth, diameter, x, y, in metres\n0.15 1.2 -6 1\n0.1 0.8 -3 -1.5\n")),
    ]
}

/// A field of 40 by 40 m with low waves, flat along its eastern edge.
fn field() -> String {
    const SIDE: usize = 41;
    let mut text = String::from("o field\nusemtl soil\n");
    for i in 0..SIDE * SIDE {
        let [x, y] = [(i % SIDE) as f64 - 20.0, (i / SIDE) as f64 - 20.0];
        // a parabola of whole numbers: the same on every machine
        let wave = (20.0 - x) * (20.0 + x) * (20.0 - y) * (20.0 + y) / 160_000.0;
        let _ = writeln!(text, "v {x} {y} {wave}");
    }
    for i in (0..SIDE * (SIDE - 1)).filter(|i| i % SIDE + 1 < SIDE) {
        let [a, b, c, d] = [i + 1, i + 2, i + SIDE + 2, i + SIDE + 1];
        let _ = writeln!(text, "f {a} {b} {c} {d}");
    }
    text
}

/// A hill in grey, 41 posts wide and deep: a BMP of 8 bits.
fn hill() -> Vec<u8> {
    const SIDE: i32 = 41;
    let palette = (0..=255).flat_map(|v: u8| [v, v, v, 0]);
    let mut pixels = Vec::new();
    for row in 0..SIDE {
        let grey = |column: i32| {
            let [x, y] = [column - SIDE / 2, row - SIDE / 2];
            128 + ((400 - x * x).max(0) * (400 - y * y).max(0) / 2000) as u8
        };
        pixels.extend((0..SIDE).map(grey));
        pixels.resize(pixels.len().next_multiple_of(4), 0);
    }
    let start = 54 + 4 * 256;
    let mut all = b"BM".to_vec();
    let head = [(start + pixels.len()) as u32, 0, start as u32, 40, SIDE as u32, SIDE as u32, 1 | 8 << 16, 0];
    head.iter().for_each(|v| all.extend(v.to_le_bytes()));
    [pixels.len() as u32, 0, 0, 0, 0].iter().for_each(|v| all.extend(v.to_le_bytes()));
    all.extend(palette);
    all.extend(pixels);
    all
}

/// A way that turns back on itself.
fn trail() -> String {
    let points =
        [[-20, 4], [-4, 4], [2, 4], [6, 6], [8, 10], [6, 14], [2, 16], [-2, 14], [-4, 10], [-4, 4], [0, -2], [20, -2]];
    let mut text = String::from("QS VANE REPLAY FILE\nVersion: 1\n@Data\n");
    for (i, [x, y]) in points.iter().enumerate() {
        let _ = writeln!(text, "{i}:{x} {y} 0:1 0 0 0");
    }
    text + "@END OF REPLAY FILE\n"
}
