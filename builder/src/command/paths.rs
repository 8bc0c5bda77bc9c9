//! Paths as they are typed.

use std::fs;
use std::path::Path;

/// Whether a name ends in `.` and this, in capitals or not.
pub(super) fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(wanted))
}

/// Whether two names are of one file that is there.
pub(super) fn same(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}
