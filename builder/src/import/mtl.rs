//! Material libraries. Their colours and pictures are of no use to a ground; the names tell what a mesh may use.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::text::{BLOCK, Cursor, Text, name};

/// Definitions of material libraries.
#[derive(Default)]
pub struct Library {
    /// Names of materials, each once.
    pub names: BTreeSet<String>,
    /// Pictures that they name.
    pub textures: BTreeSet<String>,
    /// Definitions of a name that was defined before.
    pub again: u64,
}

impl Library {
    /// Adds the definitions of a file, and says how many there are; or why it cannot be read.
    pub fn add(&mut self, path: &Path) -> Result<u64, String> {
        let mut text = Text::open(path, BLOCK).map_err(|e| e.cause)?;
        let mut count = 0;
        while let Some(block) = text.next().map_err(|e| e.cause)? {
            let mut c = Cursor::new(&block);
            while c.peek().is_some() {
                c.blanks();
                let word = c.word();
                if word.starts_with(b"map_") || matches!(word, b"bump" | b"norm" | b"disp" | b"decal" | b"refl") {
                    // options stand before it
                    let words = c.words();
                    let last = words.rsplit(|b| *b == b' ').next().filter(|w| !w.is_empty());
                    self.textures.extend(last.map(|w| name(w).into_owned()));
                } else if word == b"newmtl" {
                    count += 1;
                    self.again += u64::from(!self.names.insert(name(&c.words()).into_owned()));
                }
                c.next_statement();
            }
        }
        Ok(count)
    }
}

/// Files that a `mtllib` statement may mean, beside the mesh in `folder`: all its words as one name, or else each
/// word; where such a path leads nowhere, its last part.
pub fn files(statement: &str, folder: &Path) -> Vec<(String, Option<PathBuf>)> {
    let one = statement.trim_matches('"');
    if let Some(path) = find(one, folder) {
        return vec![(one.into(), Some(path))];
    }
    let words: Vec<_> = statement.split(' ').map(|w| (w.to_string(), find(w, folder))).collect();
    // words of one name with blanks, rather than many names, if none of them is there
    if words.iter().all(|w| w.1.is_none()) { vec![(one.into(), None)] } else { words }
}

fn find(name: &str, folder: &Path) -> Option<PathBuf> {
    let slashes = name.replace('\\', "/");
    let last = slashes.rsplit('/').next().unwrap_or_default().to_string();
    [name.into(), slashes, last].into_iter().filter(|n| !n.is_empty()).map(|n| folder.join(n)).find(|p| p.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_libraries() {
        let folder = std::env::temp_dir().join(format!("hardpan-mtl-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let text =
            "# newmtl no\nnewmtl  two   words \r\n\tKd spectral spectra/brown.spec\n  Ni -1\nnewmtl a\rnewmtl a\nd";
        std::fs::write(folder.join("my stuff.mtl"), text).unwrap();
        std::fs::write(folder.join("b.mat"), b"\xFF\xFEn\0e\0w\0m\0t\0l\0 \0b\0").unwrap();
        let mut library = Library::default();
        for (statement, found) in [
            ("my stuff.mtl", vec!["my stuff.mtl"]),
            ("\"my stuff.mtl\"", vec!["my stuff.mtl"]),
            ("C:\\work\\my stuff.mtl", vec!["my stuff.mtl"]),
            (".//b.mat", vec![".//b.mat"]),
            ("none.mtl b.mat", vec!["b.mat"]),
            ("none at all.mtl", vec![]),
            ("", vec![]),
        ] {
            let paths: Vec<_> = files(statement, &folder).into_iter().filter_map(|f| f.1).collect();
            assert_eq!(paths, found.iter().map(|f| folder.join(f)).collect::<Vec<_>>(), "{statement}");
        }
        assert_eq!(library.add(&folder.join("my stuff.mtl")), Ok(3));
        assert_eq!(library.add(&folder.join("b.mat")), Ok(1));
        assert_eq!(library.again, 1);
        assert_eq!(library.names.iter().collect::<Vec<_>>(), ["a", "b", "two words"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
