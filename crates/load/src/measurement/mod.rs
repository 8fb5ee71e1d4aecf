//! What workers measure, and what it is kept in: one recorder a worker, merged at the end.

pub mod histogram;
pub mod host;
pub mod log;
pub mod meter;
pub mod operation;
pub mod packed;
pub mod recorder;
pub mod series;
