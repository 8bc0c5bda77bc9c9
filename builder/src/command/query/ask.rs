//! Points that are typed.

use std::{ffi::OsString, path::Path};

use super::super::quoted;
use crate::query::table::POINT;
use crate::query::{Ask, table};

/// A point as it is typed.
pub fn ask(text: &str) -> Result<Ask, String> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    let parted = fields.iter().any(|field| field.contains([';', ' ', '\t']));
    match fields[..] {
        [one] if one.ends_with(".hpan") => Err(format!("{POINT}; one image is asked, whose name comes first")),
        [one] if !parted && one.parse::<f64>().is_err() => {
            let file = if text == "-" { text.into() } else { quoted(Path::new(text)) };
            Err(format!("{POINT}; points of a file: --csv {file}"))
        }
        [x, y, ..] if !parted && ![x, y].contains(&"") => match table::point(text) {
            Ok(numbers) => match numbers.iter().position(|v| v.is_some_and(|v| !v.is_finite())) {
                Some(i) => Err(format!("{} is not a finite number (field {})", fields[i], i + 1)),
                None => Ok(Ask::of(numbers)),
            },
            Err(at) => Err(at.to_string()),
        },
        _ => Err(format!("{POINT}, with commas and no blanks, as in 1,2")),
    }
}

/// Puts a blank before what looks like a point that starts with a minus, so that it is not taken for an option.
pub fn shield(argument: OsString) -> OsString {
    let point = |text: &&str| {
        let digits = text.strip_prefix('-').unwrap_or_default().to_ascii_lowercase();
        let number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        (number || digits.starts_with("inf") || digits.starts_with("nan")) && digits.contains(',')
    };
    match argument.to_str().filter(point) {
        Some(text) => format!(" {text}").into(),
        None => argument,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points() {
        assert_eq!(ask("-12.5,3"), Ok(Ask { x: -12.5, y: 3.0, z: None, length: None }));
        assert_eq!(ask("1, 2, -3, 4"), Ok(Ask { x: 1.0, y: 2.0, z: Some(-3.0), length: Some(4.0) }));
        assert_eq!(ask("1,2,,"), Ok(Ask { x: 1.0, y: 2.0, z: None, length: None }));
        assert!(
            ask("").is_err()
                && ask("1").is_err()
                && ask("1,2,,4").is_err()
                && ask("1,b").is_err()
                && ask("1,2,3,4,5").is_err()
        );
        for (text, field) in [("nan,1", 1), ("1,inf", 2), ("1,2,1e400", 3), ("1,2,3,-infinity", 4), ("1,2,3,nan", 4)] {
            let said = ask(text).unwrap_err();
            assert!(said.ends_with(&format!("is not a finite number (field {field})")), "{said}");
        }
        assert!(ask("1,2,3,-1").is_err());
        assert_eq!(ask("1,2,3,-0").map(|a| a.length), Ok(Some(0.0)));
    }
}
