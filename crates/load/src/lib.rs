//! The load generator: open and closed loops, three latencies, a verdict on itself.
//!
//! [`run`] checks a job, starts one [`worker`] a thread, and turns what they recorded into a
//! result document. Protocols are machines without input and output, see [`protocols`].

mod conduct;
mod connection;
mod delivery;
mod dispatch;
mod error;
mod fault;
mod find;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
#[path = "../../../fuzz/laws/load/mod.rs"]
pub mod fuzzing;
mod measurement;
mod payload;
mod plan;
mod protocols;
mod report;
mod stream;
mod tls;
mod worker;

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

use steelyard_wire::job::{LoadJob, Operation};
use steelyard_wire::result::LoadResult;

use conduct::job_workers::JobWorkers;
use conduct::{Watch, conduct};

pub use conduct::{Progress, Stage};
pub use error::LoadError;
pub use fault::ErrorKind;
pub use find::find;
pub use report::merge::merge;
pub use worker::listener::Ended;

/// Runs `job` to its end, or until `cancel` is set, and reports what was measured.
///
/// `progress` is called from the calling thread about ten times a second. An error is a run that
/// could not happen at all; whatever goes wrong once it runs is counted in the result.
pub fn run(
    job: &LoadJob,
    cancel: &AtomicBool,
    progress: Option<&(dyn Fn(Progress) + Sync)>,
) -> Result<LoadResult, LoadError> {
    let watch = Watch {
        cancel,
        progress,
        operations: None,
    };
    match &job.operation {
        Operation::Stream(operation) => stream::run(job, operation, &watch),
        Operation::Mix(operation) => dispatch::mix::run(job, operation, &watch),
        _ => run_job(&dispatch::workers(job)?, &watch),
    }
}

/// Runs `job` as [`run`] does and tells `operations` of every operation that ends.
///
/// A target that is not there is no error: each operation that failed is reported. A job whose
/// connections carry several operations at once, a stream, a mix and a delivery are refused.
pub fn probe(
    job: &LoadJob,
    cancel: &AtomicBool,
    operations: Sender<Ended>,
) -> Result<LoadResult, LoadError> {
    let alone = !matches!(
        job.operation,
        Operation::Stream(_) | Operation::Mix(_) | Operation::Delivery(_)
    );
    let workers = alone.then(|| dispatch::workers(job)).transpose()?;
    match workers.filter(|workers| workers.about.slots == 1) {
        Some(workers) => run_job(
            &workers,
            &Watch {
                cancel,
                progress: None,
                operations: Some(operations),
            },
        ),
        None => Err(LoadError::bad_job(
            "a probe is one operation at a time on a connection",
            "leave out what sends several at once; streams, mixes and deliveries are no probes",
        )),
    }
}

fn run_job(workers: &JobWorkers, watch: &Watch<'_>) -> Result<LoadResult, LoadError> {
    let host = measurement::host::facts();
    let outcome = conduct(&workers.plan, watch, workers.works(0))?;
    report::result(
        &workers.plan,
        &workers.target,
        host,
        &workers.about,
        outcome,
    )
}
