//! The stages: plain functions from arrays to arrays. Each file imports only those above it in its column.
//!
//! | to a mesh | to tiles |
//! | --- | --- |
//! | `quantise`, `facing`, `clean` | `raster`, `partition`, `bundle` |
//! | `neighbours`, `region`, `ground`, `cover` | `rule`, `crowd`, `grid`, `index_estimate` |
//! | `weld`, `stitch`, `walls` | `rays`, `tile`, `pack`; `error_quantiles` measures in the end |

pub mod bundle;
pub mod clean;
mod cover;
pub mod crowd;
pub mod error_quantiles;
pub mod facing;
mod grid;
pub mod ground;
mod index_estimate;
mod neighbours;
pub mod pack;
pub mod partition;
pub mod quantise;
pub mod raster;
pub mod rays;
mod region;
pub mod rule;
pub mod stitch;
pub mod tile;
pub mod walls;
pub mod weld;
