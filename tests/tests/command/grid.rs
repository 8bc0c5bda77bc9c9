//! `hardpan grid`: heights on squares, in all forms, held against the oracle.
