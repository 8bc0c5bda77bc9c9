//! `hardpan vstu`: command lines, settings and points as printed.
