//! Images joined, placed and built again; factors of friction.
