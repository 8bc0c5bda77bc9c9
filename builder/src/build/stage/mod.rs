//! The stages: plain functions from arrays to arrays. Each file imports only those above it in its column.
//!
//! | to a mesh | to tiles |
//! | --- | --- |
//! | `quantise`, `facing`, `clean` | `raster`, `partition`, `bundle` |
//! | `neighbours`, `region`, `ground`, `refill` | `rule`, `hot_spot`, `cells`, `index_estimate` |
//! | `weld`, `stitch`, `walls` | `rays`, `tile`, `bound`, `pack`; `error_quantiles` measures in the end |

pub mod bare;
mod bound;
pub mod bundle;
mod cells;
pub mod clean;
pub mod error_quantiles;
pub mod facing;
pub mod ground;
pub mod hot_spot;
mod index_estimate;
mod neighbours;
pub mod pack;
pub mod partition;
pub mod quantise;
pub mod raster;
pub mod rays;
mod refill;
mod region;
pub mod rule;
pub mod stitch;
pub mod tile;
pub mod walls;
pub mod weld;
