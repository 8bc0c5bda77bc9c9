//! The table of findings: a new kind is one entry here.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{Finding, Hint, Severity};

/// Facts about a kind of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeEntry {
    /// Its name in `--allow`, `--only`, the settings and JSON.
    pub name: &'static str,
    /// Subject of its findings.
    pub about: About,
    /// How much one matters, unless the finding says otherwise.
    pub severity: Severity,
    /// Its meaning, in one sentence.
    pub words: &'static str,
    /// The remedy; empty if it depends on the finding.
    pub hint: &'static str,
    /// Its colour on a map.
    pub colour: [u8; 3],
}

/// Subject of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A file as it was read.
    Source,
    /// The ground.
    Ground,
    /// The build.
    Build,
    /// A drive. No build can be allowed to have one, so `check` does not look for it.
    Drive,
}

macro_rules! codes {
    ($($(#[$attribute:meta])* $code:ident $name:literal $about:ident $severity:ident $colour:tt $words:literal $hint:literal;)*) => {
        /// Kinds of findings. Their names are those of `allow` in the settings and of JSON.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $(#[doc = $words] #[serde(rename = $name)] $(#[$attribute])* $code),*
        }

        const ALL: &[Code] = &[$(Code::$code),*];

        const ENTRIES: &[CodeEntry] = &[$(CodeEntry {
            name: $name,
            about: About::$about,
            severity: Severity::$severity,
            words: $words,
            hint: $hint,
            colour: $colour,
        }),*];
    };
}

codes! {
    Orientation "orientation" Source Warning [60, 60, 60]
        "Another axis looks as if it points up."
        "";
    Degrees "degrees" Source Warning [0, 90, 90]
        "x and y look like degrees, but heights look like metres."
        "";
    Unit "unit" Source Warning [140, 140, 0]
        "The unit is not stated, and the ground is very small or very large."
        "";
    NoData "no-data" Source Warning [86, 180, 233]
        "Some heights look like a number that stands for no data."
        "leave such points out before they become a mesh, or fill them (gdal_fillnodata.py)";
    Precision "precision" Source Warning [150, 105, 190]
        "The positions were rounded to single precision."
        "export it nearer to zero, or from where it has double precision";
    Gap "gap" Ground Warning [213, 0, 50]
        "The ground ends at an edge and begins again nearby; a query between finds none."
        "close it in the source";
    Step "step" Ground Warning [0, 114, 178]
        "The ground ends at an edge and begins again lower; a wheel drops there."
        "join or level the sheets in the source";
    DoubleSurface "double-surface" Ground Warning [0, 158, 115]
        "Ground lies close above other ground; a query may find either."
        "a wheel may take either: leave one of them out, or lay what covers the other no more than 2 mm above it";
    SameHeight "same-height" Ground Warning [204, 121, 167]
        "Two materials lie at the same height; the order of edges decides which answers."
        "";
    Spike "spike" Ground Warning [230, 159, 0]
        "A few vertices lie far above or below all that is around them."
        "move them in the source, or leave them out";
    BuriedRoad "buried-road" Ground Warning [117, 76, 36]
        "Ground of one material comes up through ground of another."
        "state precedence = 1 for the one that wheels are to stand on, or cut the other out";
    Outside "outside" Build Warning [150, 150, 150]
        "Geometry lies outside the domain and was left out."
        "";
    NotWelded "not-welded" Build Warning [0, 190, 190]
        "Vertices within the weld threshold could not be joined."
        "";
    NotStitched "not-stitched" Build Warning [255, 120, 80]
        "Vertices near an open edge could not be joined to it."
        "";
    Slit "slit" Build Note [110, 40, 140]
        "An open edge lies beside ground at another height, with no ground between."
        "a query on such a line may find no ground; mend the mesh there";
    Contested "contested" Build Warning [150, 190, 50]
        "Triangles lie exactly on others of different friction."
        "state priority = 1 for the material that is meant";
    NoGroundBelow "no-ground-below" Build Warning [255, 200, 190]
        "A material that gives friction alone lies over no ground."
        "put ground right below it, or leave it out";
    #[serde(skip_deserializing)]
    Jump "jump" Drive Warning [90, 90, 200]
        "A drive without heights changes from one deck to another."
        "write the height of each place in a column z";
}

impl Code {
    /// All that are of a source, its ground, or a build.
    pub const ALL: [Code; ALL.len() - count(About::Drive)] = select(About::Drive, false);
    /// Those of the ground.
    pub const OF_GROUND: [Code; count(About::Ground)] = select(About::Ground, true);

    /// Its entry in the table.
    pub const fn entry(self) -> &'static CodeEntry {
        &ENTRIES[self as usize]
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.entry().name
    }

    /// Whether it is of a file as it was read, and not of the ground.
    pub fn is_of_source(self) -> bool {
        self.entry().about == About::Source
    }

    /// The remedy, as the table has it.
    pub fn hint(self) -> Hint {
        Hint::Mend(self.entry().hint.into())
    }

    /// A finding of this kind about all the ground, with the severity and the hint of the table.
    pub fn finding(self, text: impl Into<String>) -> Finding {
        Finding {
            code: self,
            severity: self.entry().severity,
            subject: String::new(),
            place: None,
            values: Vec::new(),
            text: text.into(),
            hint: self.hint(),
        }
    }
}

/// How many kinds are about one thing.
const fn count(about: About) -> usize {
    let (mut i, mut n) = (0, 0);
    while i < ENTRIES.len() {
        n += (ENTRIES[i].about as u8 == about as u8) as usize;
        i += 1;
    }
    n
}

/// The kinds that are about one thing, or all others.
const fn select<const N: usize>(about: About, wanted: bool) -> [Code; N] {
    let (mut to, mut i, mut n) = ([ALL[0]; N], 0, 0);
    while i < ALL.len() {
        if (ENTRIES[i].about as u8 == about as u8) == wanted {
            to[n] = ALL[i];
            n += 1;
        }
        i += 1;
    }
    to
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Code {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Code::ALL.map(Code::name);
        let found = Code::ALL.into_iter().find(|code| code.name() == text);
        found.ok_or_else(|| format!("no kind of finding is named {text:?}; there are {}", names.join(", ")))
    }
}

#[cfg(all(test, feature = "json"))]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
            assert_eq!(code.name().parse(), Ok(code));
        }
        assert!("gaps".parse::<Code>().is_err());
    }

    #[test]
    fn every_kind_has_its_own_colour_and_sentence() {
        for (i, a) in Code::ALL.into_iter().enumerate() {
            assert!(a.entry().words.ends_with('.'), "{a}");
            for b in &Code::ALL[..i] {
                let off: i32 =
                    (0..3).map(|k| (i32::from(a.entry().colour[k]) - i32::from(b.entry().colour[k])).abs()).sum();
                assert!(a.entry().words != b.entry().words && off >= 60, "{a} {b}: {off}");
            }
        }
    }
}
