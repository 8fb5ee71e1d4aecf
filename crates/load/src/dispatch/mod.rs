//! Which protocol carries out a job.

pub mod mix;

use steelyard_net::clock::realtime_ns;
use steelyard_wire::job::{HttpVersion, LoadJob, Operation};

use crate::conduct::job_workers::JobWorkers;
use crate::delivery;
use crate::error::LoadError;
use crate::plan::Plan;
use crate::plan::target::Target;
use crate::protocols::account::Places;
use crate::protocols::connect::Connect;
use crate::protocols::ftp::Ftp;
use crate::protocols::http::Http;
use crate::protocols::http2::Http2;
use crate::protocols::imap::Imap;
use crate::protocols::pop3::Pop3;
use crate::protocols::request_response::RequestResponse;
use crate::protocols::smtp::{Dialect, Smtp};

/// The workers that `job` needs; for a mix see [`crate::dispatch::mix`].
pub fn workers(job: &LoadJob) -> Result<JobWorkers, LoadError> {
    if let Some(operation) = delivery::of(&job.operation) {
        return delivery::workers(job, operation);
    }
    let target = Target::resolve(&job.target, job.unix_socket.as_deref())?;
    let plan = Plan::new(job, target.address.clone())?;
    let seed = job.seed;
    match (&job.operation, target.scheme.as_str()) {
        (Operation::Http(operation), "http" | "https") => {
            let run = realtime_ns();
            if operation.version == HttpVersion::Http2 {
                let http = Http2::new(operation, &target, run)?;
                return JobWorkers::of(plan, target, move |worker| http.for_worker(worker));
            }
            let http = Http::new(operation, &target, run)?;
            JobWorkers::of(plan, target, move |worker| http.for_worker(worker))
        }
        (Operation::Smtp(operation), "smtp" | "smtps" | "lmtp") => {
            let dialect = Dialect::of(&target.scheme);
            let smtp = Smtp::new(operation, dialect, realtime_ns(), seed)?;
            JobWorkers::of(plan, target, move |worker| smtp.for_worker(worker, seed))
        }
        (Operation::Pop3(operation), "pop3" | "pop3s") => {
            if operation.expect_all && plan.workers() > 1 {
                return Err(LoadError::bad_job(
                    "no thread of several sees every message",
                    "look for losses with one thread",
                ));
            }
            let pop3 = Pop3::new(operation, places(&plan, 0), seed)?;
            let shared = plan.clone();
            JobWorkers::of(plan, target, move |worker| {
                pop3.for_worker(places(&shared, worker), seed)
            })
        }
        (Operation::Imap(operation), "imap" | "imaps") => {
            let (places_0, timeout_ns) = (places(&plan, 0), job.timeout_ns);
            let imap = Imap::new(operation, places_0, timeout_ns, realtime_ns(), seed)?;
            let shared = plan.clone();
            JobWorkers::of(plan, target, move |worker| {
                imap.for_worker(places(&shared, worker), seed)
            })
        }
        (Operation::Ftp(operation), "ftp" | "ftps") => {
            let ftp = Ftp::new(operation, &target, realtime_ns(), seed)?;
            let workers = plan.workers();
            JobWorkers::of(plan, target, move |worker| {
                ftp.for_worker(worker, workers, seed)
            })
        }
        (Operation::Connect(operation), "tcp") => {
            let connect = Connect::new(operation, &target)?;
            let mut plan = plan;
            let address = |target: &Target| target.address.clone();
            plan.addresses = connect.targets().iter().map(address).collect();
            // Otherwise every probe would leave its port in TIME_WAIT.
            plan.job.reset_on_close = true;
            JobWorkers::of(plan, target, move |worker| connect.for_worker(worker))
        }
        (Operation::RequestResponse(operation), "rr+tcp" | "rr+udp") => {
            let datagrams = target.scheme == "rr+udp";
            let exchange = RequestResponse::new(operation, datagrams)?;
            let plan = if datagrams { plan.over_udp()? } else { plan };
            JobWorkers::of(plan, target, move |_| exchange.clone())
        }
        (Operation::Stream(_), "stream+tcp" | "stream+udp") => Err(LoadError::bad_job(
            "a stream cannot be part of a mix",
            "run it beside the mix, as a job of its own",
        )),
        (_, scheme) => Err(LoadError::bad_job(
            format!("the operation is not one of {scheme}://"),
            "operation and target must name the same protocol",
        )),
    }
}

/// Which connections of all belong to `worker`, of those of all generators.
fn places(plan: &Plan, worker: u32) -> Places {
    Places {
        worker,
        first: (0..worker)
            .map(|before| plan.share(before).connections)
            .sum(),
        all: plan.connections(),
    }
}
