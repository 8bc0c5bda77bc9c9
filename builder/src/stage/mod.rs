//! The stages: plain functions from arrays to arrays. Each file imports only those above it in its column.
//!
//! | to a mesh | to tiles |
//! | --- | --- |
//! | `quantise`, `facing`, `clean` | `raster`, `partition`, `bundle` |
//! | `near`, `region`, `ground`, `cover` | `rule`, `crowd`, `grid`, `foresee` |
//! | `weld`, `stitch` | `tile`, `pack`; `shares` measures in the end |

pub mod bundle;
pub mod clean;
mod cover;
pub mod crowd;
pub mod facing;
mod foresee;
mod grid;
pub mod ground;
mod near;
pub mod pack;
pub mod partition;
pub mod quantise;
pub mod raster;
mod region;
pub mod rule;
pub mod shares;
pub mod stitch;
pub mod tile;
pub mod weld;
