//! The debug OBJ: query cells, pins, the triad of the origin.
