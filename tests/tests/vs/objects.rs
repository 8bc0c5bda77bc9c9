//! Settings that speak of an object, a file or a placement.
