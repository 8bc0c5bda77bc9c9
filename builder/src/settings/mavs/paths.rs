//! Where the files of a scene lie.

use crate::util::text::quoted;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Where files are looked for.
pub struct Folders {
    /// That of the scene.
    scene: PathBuf,
    /// That of the meshes.
    meshes: PathBuf,
    /// That above `scenes` and `waypoints`.
    data: PathBuf,
    /// Whether names are paths as they stand.
    whole: bool,
}

/// Entries of folders that are looked through for a name.
const MAX_ENTRIES: usize = 100_000;
/// Folders in each other that are looked through.
const DEEPEST: usize = 12;

impl Folders {
    /// `stated` is what the scene says of its meshes, the others are typed.
    pub fn new(scene: &Path, stated: Option<&str>, meshes: Option<&Path>, data: Option<&Path>, whole: bool) -> Self {
        let own = scene.parent().unwrap_or(Path::new("")).to_path_buf();
        // a scene lies in DATA/scenes
        let data = data.map_or_else(|| own.join(".."), Path::to_path_buf);
        let stated = stated.map(|s| own.join(slashes(s)));
        let meshes = meshes.map(Path::to_path_buf).or(stated).unwrap_or_else(|| data.join("scenes/meshes"));
        Folders { scene: own, meshes, data, whole }
    }

    /// A mesh, a map of heights or a list of labels. With `first` the path as it stands goes before the folder of
    /// meshes.
    pub fn mesh(&self, name: &str, first: bool, notes: &mut Vec<Note>) -> Result<PathBuf, String> {
        let name = slashes(name);
        let as_it_stands = self.scene.join(&name);
        if self.whole {
            return existing(&as_it_stands).ok_or_else(|| {
                format!("there is no {}; UseFullPaths is true, so it is looked for nowhere else", quoted(&as_it_stands))
            });
        }
        let below = self.meshes.join(&name);
        let (one, other) = if first { (as_it_stands, below) } else { (below, as_it_stands) };
        if let Some(found) = existing(&one).or_else(|| existing(&other)) {
            return Ok(found);
        }
        let file = Path::new(&name).file_name().unwrap_or_default();
        let (mut found, mut seen) = (Vec::new(), 0);
        search(&self.meshes, file.as_ref(), DEEPEST, &mut seen, &mut found);
        found.sort();
        match &found[..] {
            [] => Err(self.missing(
                &name,
                &self.meshes,
                "--mesh-dir FOLDER, or --data-dir FOLDER with scenes/meshes in it",
            )),
            [only] => {
                notes.push(Note::Note(format!("{name:?} was found as {}", quoted(only))));
                Ok(only.clone())
            }
            [one, other, ..] => {
                let text = format!("{name:?} is there as {} and as {}; the first is read", quoted(one), quoted(other));
                notes.push(Note::Warning(text));
                Ok(one.clone())
            }
        }
    }

    /// A path of a trail, or another file of the folder of data.
    pub fn data(&self, name: &str) -> Result<PathBuf, String> {
        let name = slashes(name);
        let found = existing(&self.data.join(&name)).or_else(|| existing(&self.scene.join(&name)));
        found.ok_or_else(|| self.missing(&name, &self.data, "--data-dir FOLDER"))
    }

    fn missing(&self, name: &str, below: &Path, hint: &str) -> String {
        let own = if self.scene.as_os_str().is_empty() { Path::new(".") } else { &self.scene };
        format!(
            "there is no file {name:?} below {} or {}; say where it is with {hint}",
            quoted(&plain(below)),
            quoted(own)
        )
    }
}

/// A sentence on where a file was found.
pub enum Note {
    Note(String),
    Warning(String),
}

fn existing(path: &Path) -> Option<PathBuf> {
    path.is_file().then(|| plain(path))
}

/// Without `NAME/..`, where that means the same.
fn plain(path: &Path) -> PathBuf {
    let mut all = PathBuf::new();
    for part in path.components() {
        let is_folder = |p: &Path| p.file_name().is_some() && !p.is_symlink();
        match part {
            std::path::Component::ParentDir if is_folder(&all) => _ = all.pop(),
            std::path::Component::CurDir => {}
            part => all.push(part),
        }
    }
    if all.exists() { all } else { path.into() }
}

/// A path with `/` between its parts.
fn slashes(name: &str) -> String {
    if cfg!(windows) { name.into() } else { name.replace('\\', "/") }
}

fn search(folder: &Path, file: &Path, deep: usize, seen: &mut usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        *seen += 1;
        if *seen > MAX_ENTRIES {
            return;
        }
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            if deep > 0 {
                search(&path, file, deep - 1, seen, found);
            }
        } else if path.file_name().is_some_and(|name| name == file.as_os_str()) {
            found.push(path);
        }
    }
}
