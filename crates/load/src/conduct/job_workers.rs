//! The workers of one job: a checked plan and what each thread of it runs.

use steelyard_wire::job::{Mode, Operation, StartTls};

use crate::conduct::Work;
use crate::error::LoadError;
use crate::plan::Plan;
use crate::plan::target::Target;
use crate::protocols::Protocol;
use crate::tls::TlsPlan;
use crate::worker::control::Control;
use crate::worker::{Report, Worker};

/// What the protocol says about the run.
#[derive(Debug, Clone)]
pub struct About {
    /// Names of its phases.
    pub phases: Vec<String>,
    /// Names of the kinds of operations, if they are distinguished.
    pub kinds: Vec<String>,
    /// Connections come and go with operations.
    pub one_shot: bool,
    /// Operations on one connection at once.
    pub slots: u32,
}

/// Starts worker `worker` on board `board` in the calling thread.
type Start =
    dyn Fn(&Plan, u32, usize, &Control) -> rustix::io::Result<Report> + Send + Sync + 'static;

/// The workers of one kind of operation.
pub struct JobWorkers {
    /// What they carry out.
    pub plan: Plan,
    /// Where it goes.
    pub target: Target,
    /// What their protocol says about the run.
    pub about: About,
    start: Box<Start>,
}

impl JobWorkers {
    /// Workers that are what `start` runs.
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

    /// Workers of which number `n`, of those of all generators, runs `protocol(n)`.
    pub fn of<P: Protocol>(
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
            slots: first.slots() as u32,
        };
        check_slots(&plan, &about)?;
        Ok(Self {
            plan,
            target,
            about,
            start: Box::new(move |plan, own, board, control| {
                let worker = plan.number_of(own);
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

fn check_slots(plan: &Plan, about: &About) -> Result<(), LoadError> {
    if about.slots <= 1 {
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
