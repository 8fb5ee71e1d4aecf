//! The load generator: open and closed loops, three latencies, a verdict on itself.

mod error;
mod progress;

use std::sync::atomic::AtomicBool;

use steelyard_wire::job::LoadJob;
use steelyard_wire::result::LoadResult;

pub use error::LoadError;
pub use progress::{Progress, Stage};

/// Runs `job` to its end, or until `cancel` is set, and reports what was measured.
///
/// `progress` is called from the calling thread about ten times a second.
pub fn run(
    job: &LoadJob,
    cancel: &AtomicBool,
    progress: Option<&(dyn Fn(Progress) + Sync)>,
) -> Result<LoadResult, LoadError> {
    let _ = (cancel, progress);
    Err(LoadError::bad_job(
        format!("{}: no protocol is built in yet", job.target),
        None,
    ))
}
