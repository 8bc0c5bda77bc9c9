//! Names of files and things, as messages and commands have them.

use std::{fmt::Write, path::Path};

/// A name for a terminal: control characters are escaped.
pub fn shown(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.into() }).collect()
}

/// A path for a message, as [`shown`].
pub fn named(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// A path for a command that is to be typed: quoted where a shell would not take it as it stands, and never an option. Of
/// names with control characters or without UTF-8 as bash, zsh and ksh have it, `$'...'`. On Windows, where no file has such a name,
/// as its shells have it.
pub fn quoted(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let start = if bytes.starts_with(b"-") { "./" } else { "" };
    if cfg!(windows) {
        let text = path.to_string_lossy();
        let plain = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-./\\:@+".contains(c));
        return if plain { format!("{start}{text}") } else { format!("\"{start}{text}\"") };
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-./:@+,".contains(c)) => {
            format!("{start}{text}")
        }
        Ok(text) if !text.chars().any(char::is_control) => format!("'{start}{}'", text.replace('\'', "'\\''")),
        _ => {
            let mut out = format!("$'{start}");
            let raw = |out: &mut String, bytes: &[u8]| bytes.iter().for_each(|b| _ = write!(out, "\\x{b:02x}"));
            for chunk in bytes.utf8_chunks() {
                for c in chunk.valid().chars() {
                    match c {
                        '\'' | '\\' => raw(&mut out, &[c as u8]),
                        c if c.is_control() => raw(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes()),
                        c => out.push(c),
                    }
                }
                raw(&mut out, chunk.invalid());
            }
            out + "'"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_steer_a_terminal() {
        assert_eq!(shown("Straße \u{1b}[31m\u{9b}1m"), "Straße \\u{1b}[31m\\u{9b}1m");
        assert_eq!(named(Path::new("a\nb")), "a\\nb");
    }

    #[test]
    fn quoted_for_a_shell() {
        for (path, wanted) in [
            ("a/b-1.obj", "a/b-1.obj"),
            ("Straße.obj", "Straße.obj"),
            ("two words", "'two words'"),
            ("it's", "'it'\\''s'"),
            ("$(x)`y`", "'$(x)`y`'"),
            ("~", "'~'"),
            ("", "''"),
            ("-o", "./-o"),
            ("-o 1", "'./-o 1'"),
            ("-'\n\u{9b}\\", "$'./-\\x27\\x0a\\xc2\\x9b\\x5c'"),
        ] {
            assert_eq!(quoted(Path::new(path)), wanted);
        }
    }

    /// What a shell reads is the path again.
    #[cfg(unix)]
    #[test]
    fn shells_read_them_back() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt, process::Command};
        let every: Vec<u8> = (1..=255).collect();
        let printable: Vec<u8> = (0x20..0x7f).collect();
        for bytes in [&every[..], &printable, b"caf\xe9 7", "ß 1'2\"3\\4".as_bytes(), b"a\n\xffb", b"-n", b"*?[a]!"] {
            let script = format!("printf %s {}", quoted(Path::new(OsStr::from_bytes(bytes))));
            match Command::new("bash").args(["--norc", "-c", &script]).output() {
                Ok(done) => {
                    let read = done.stdout.strip_prefix(b"./").unwrap_or(&done.stdout);
                    assert!(done.status.success() && read == bytes, "{script}: {:?}", done.stdout);
                }
                Err(e) => return println!("skipped, because there is no bash: {e}"),
            }
        }
    }
}
