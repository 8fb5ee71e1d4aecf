//! The workers of one kind of operation: a checked plan and the machines that carry it out.

use steelyard_net::clock::realtime_ns;
use steelyard_wire::job::{HttpVersion, LoadJob, Operation, StartTls};

use crate::conduct::Work;
use crate::control::Control;
use crate::delivery;
use crate::error::LoadError;
use crate::plan::Plan;
use crate::protocols::Protocol;
use crate::protocols::account::Places;
use crate::protocols::connect::Connect;
use crate::protocols::ftp::Ftp;
use crate::protocols::http::Http;
use crate::protocols::http2::Http2;
use crate::protocols::imap::Imap;
use crate::protocols::pop3::Pop3;
use crate::protocols::request_response::RequestResponse;
use crate::protocols::smtp::{Dialect, Smtp};
use crate::report::About;
use crate::target::Target;
use crate::tls::TlsPlan;
use crate::worker::{Report, Worker};

/// Starts worker `worker` on board `board` in the calling thread.
type Start =
    dyn Fn(&Plan, u32, usize, &Control) -> rustix::io::Result<Report> + Send + Sync + 'static;

/// The workers of one kind of operation.
pub struct Crew {
    /// What they carry out.
    pub plan: Plan,
    /// Where it goes.
    pub target: Target,
    /// What their protocol says about the run.
    pub about: About,
    start: Box<Start>,
}

impl Crew {
    /// The crew that `job` needs; a mix needs several, see [`crate::mix`].
    pub fn new(job: &LoadJob) -> Result<Self, LoadError> {
        if let Some(operation) = delivery::of(&job.operation) {
            return delivery::crew(job, operation);
        }
        let target = Target::resolve(&job.target, job.unix_socket.as_deref())?;
        let plan = Plan::new(job, target.address.clone())?;
        let seed = job.seed;
        match (&job.operation, target.scheme.as_str()) {
            (Operation::Http(operation), "http" | "https") => {
                let run = realtime_ns();
                if operation.version == HttpVersion::Http2 {
                    let http = Http2::new(operation, &target, run)?;
                    return Self::of(plan, target, move |worker| http.for_worker(worker));
                }
                let http = Http::new(operation, &target, run)?;
                Self::of(plan, target, move |worker| http.for_worker(worker))
            }
            (Operation::Smtp(operation), "smtp" | "smtps" | "lmtp") => {
                let dialect = Dialect::of(&target.scheme);
                let smtp = Smtp::new(operation, dialect, realtime_ns(), seed)?;
                Self::of(plan, target, move |worker| smtp.for_worker(worker, seed))
            }
            (Operation::Pop3(operation), "pop3" | "pop3s") => {
                if operation.expect_all && plan.job.threads > 1 {
                    return Err(LoadError::bad_job(
                        "no thread of several sees every message",
                        "look for losses with one thread",
                    ));
                }
                let pop3 = Pop3::new(operation, places(&plan, 0), seed)?;
                let shared = plan.clone();
                Self::of(plan, target, move |worker| {
                    pop3.for_worker(places(&shared, worker), seed)
                })
            }
            (Operation::Imap(operation), "imap" | "imaps") => {
                let (places_0, timeout_ns) = (places(&plan, 0), job.timeout_ns);
                let imap = Imap::new(operation, places_0, timeout_ns, realtime_ns(), seed)?;
                let shared = plan.clone();
                Self::of(plan, target, move |worker| {
                    imap.for_worker(places(&shared, worker), seed)
                })
            }
            (Operation::Ftp(operation), "ftp" | "ftps") => {
                let ftp = Ftp::new(operation, &target, realtime_ns(), seed)?;
                let workers = plan.job.threads;
                Self::of(plan, target, move |worker| {
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
                Self::of(plan, target, move |worker| connect.for_worker(worker))
            }
            (Operation::RequestResponse(operation), "rr+tcp" | "rr+udp") => {
                let datagrams = target.scheme == "rr+udp";
                let exchange = RequestResponse::new(operation, datagrams)?;
                let plan = if datagrams { plan.over_udp()? } else { plan };
                Self::of(plan, target, move |_| exchange.clone())
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

    /// A crew whose workers are what `start` runs.
    pub fn with(
        plan: Plan,
        target: Target,
        about: About,
        start: impl Fn(&Plan, u32, usize, &Control) -> rustix::io::Result<Report>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            plan,
            target,
            about,
            start: Box::new(start),
        }
    }

    /// A crew whose worker `n` runs `protocol(n)`.
    fn of<P: Protocol>(
        mut plan: Plan,
        target: Target,
        protocol: impl Fn(u32) -> P + Send + Sync + 'static,
    ) -> Result<Self, LoadError> {
        let first = protocol(0);
        if target.secured || upgrades(&plan.job.operation) {
            plan.tls = Some(TlsPlan::new(
                &plan.job.tls,
                &target.host,
                target.secured,
                first.alpn(),
            )?);
        }
        let about = About {
            phases: P::PHASES.iter().map(ToString::to_string).collect(),
            kinds: first.kinds(),
            one_shot: first.one_shot(),
            lanes: first.lanes() as u32,
        };
        check_lanes(&plan, &about)?;
        Ok(Self {
            plan,
            target,
            about,
            start: Box::new(move |plan, worker, board, control| {
                let share = plan.share(worker);
                Worker::new(protocol(worker), plan, &share, board, control).map(Worker::run)
            }),
        })
    }

    /// One for each thread of the plan; the first writes on board `first_board`.
    pub fn works(&self, first_board: usize) -> Vec<Work<'_>> {
        (0..self.plan.job.threads)
            .map(|worker| -> Work<'_> {
                let board = first_board + worker as usize;
                Box::new(move |control| (self.start)(&self.plan, worker, board, control))
            })
            .collect()
    }
}

/// Which connections of all belong to `worker`.
fn places(plan: &Plan, worker: u32) -> Places {
    Places {
        worker,
        first: (0..worker)
            .map(|before| plan.share(before).connections)
            .sum(),
        all: plan.connections(),
    }
}

/// Whether connections that begin in clear text go on in TLS.
fn upgrades(operation: &Operation) -> bool {
    let starttls = match operation {
        Operation::Smtp(operation) => operation.starttls,
        Operation::Pop3(operation) => operation.starttls,
        Operation::Imap(operation) => operation.starttls,
        Operation::Ftp(operation) => operation.starttls,
        _ => StartTls::Never,
    };
    starttls == StartTls::Require
}

fn check_lanes(plan: &Plan, about: &About) -> Result<(), LoadError> {
    use steelyard_wire::job::Mode;
    if about.lanes <= 1 {
        return Ok(());
    }
    if about.one_shot {
        return Err(LoadError::bad_job(
            "several operations at once need a connection that is kept",
            "leave one of the two out",
        ));
    }
    match plan.job.mode {
        Mode::Closed { think_time_ns, .. } if think_time_ns > 0 => Err(LoadError::bad_job(
            "users who send several operations at once do not think in between",
            "leave one of the two out",
        )),
        _ => Ok(()),
    }
}
