//! The load generator: open and closed loops, three latencies, a verdict on itself.
//!
//! [`run`] checks a job, starts one [`worker`] a thread, and turns what they recorded into a
//! result document. Protocols are machines without input and output, see [`protocols`].

mod conduct;
mod connection;
mod control;
mod error;
mod fault;
mod histogram;
mod host;
mod meter;
mod operation;
mod pace;
mod payload;
mod plan;
mod progress;
mod protocols;
mod recorder;
mod report;
mod schedule;
mod series;
mod target;
mod verdict;
mod worker;

use std::sync::atomic::AtomicBool;

use steelyard_net::clock::realtime_ns;
use steelyard_wire::job::{LoadJob, Operation};
use steelyard_wire::result::LoadResult;

use conduct::{Watch, conduct};
use plan::Plan;
use protocols::Protocol;
use protocols::ftp::Ftp;
use protocols::http::Http;
use protocols::smtp::Smtp;
use report::About;
use target::Target;

pub use error::LoadError;
pub use fault::ErrorKind;
pub use progress::{Progress, Stage};
pub use verdict::Doubt;

/// Runs `job` to its end, or until `cancel` is set, and reports what was measured.
///
/// `progress` is called from the calling thread about ten times a second. An error is a run that
/// could not happen at all; whatever goes wrong once it runs is counted in the result.
pub fn run(
    job: &LoadJob,
    cancel: &AtomicBool,
    progress: Option<&(dyn Fn(Progress) + Sync)>,
) -> Result<LoadResult, LoadError> {
    let target = Target::resolve(&job.target)?;
    let plan = Plan::new(job, target.address)?;
    let watch = Watch { cancel, progress };
    match (&job.operation, target.scheme.as_str()) {
        (Operation::Http(operation), "http") => {
            let http = Http::new(operation, &target)?;
            run_with(&plan, &target, &watch, |_| http.clone())
        }
        (Operation::Smtp(operation), "smtp") => {
            let smtp = Smtp::new(operation, realtime_ns(), job.seed)?;
            run_with(&plan, &target, &watch, |worker| {
                smtp.for_worker(worker, job.seed)
            })
        }
        (Operation::Ftp(operation), "ftp" | "ftps") => {
            let ftp = Ftp::new(operation, &target, realtime_ns(), job.seed)?;
            run_with(&plan, &target, &watch, |worker| {
                ftp.for_worker(worker, plan.job.threads, job.seed)
            })
        }
        (_, scheme) => Err(LoadError::bad_job(
            format!("the operation is not one of {scheme}://"),
            "operation and target must name the same protocol",
        )),
    }
}

fn run_with<P: Protocol + Send>(
    plan: &Plan,
    target: &Target,
    watch: &Watch<'_>,
    protocol: impl Fn(u32) -> P,
) -> Result<LoadResult, LoadError> {
    let about = About {
        phases: P::PHASES,
        one_shot: protocol(0).one_shot(),
    };
    let host = host::facts();
    let outcome = conduct(plan, watch, protocol)?;
    Ok(report::result(plan, target, host, about, outcome))
}
