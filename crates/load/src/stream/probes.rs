//! Latency under load: small exchanges on a connection of their own while the flows run.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;

use steelyard_net::socket::Address;
use steelyard_wire::job::{Arrival, LoadJob, Mode, Operation, RequestResponseOperation};
use steelyard_wire::result::Latency;

use crate::conduct::{Watch, Work, conduct};
use crate::error::LoadError;
use crate::plan::Plan;
use crate::protocols::request_response::RequestResponse;
use crate::report::figures::Figures;
use crate::worker::Worker;

/// How long the unloaded latency is looked at: a second, or as long as a median takes.
const LEAST_NS: f64 = 1e9;
const MOST_NS: f64 = 10e9;
const SAMPLES: f64 = 30.0;

/// The probes of a run.
pub struct Probes {
    plan: Plan,
    exchange: RequestResponse,
}

impl Probes {
    /// `rate_per_s` exchanges with the sink at `peer`; `None` for 0.
    pub fn new(plan: &Plan, peer: SocketAddr, rate_per_s: f64) -> Result<Option<Self>, LoadError> {
        if rate_per_s == 0.0 {
            return Ok(None);
        }
        let operation = RequestResponseOperation::default();
        let job = LoadJob {
            mode: Mode::Open {
                rate_per_s,
                arrival: Arrival::Constant,
                connections: 1,
                unbounded: false,
                max_backlog: 100_000,
            },
            threads: 1,
            operation: Operation::RequestResponse(operation.clone()),
            ..plan.job.clone()
        };
        Ok(Some(Self {
            plan: Plan::new(&job, Address::Inet(peer))?,
            exchange: RequestResponse::new(&operation, false)?,
        }))
    }

    /// The worker that sends them, on board `board`.
    pub fn work(&self, board: usize) -> Work<'_> {
        work(&self.plan, &self.exchange, board)
    }

    /// Response times while no flow runs, at the same rate.
    pub fn unloaded(&self, watch: &Watch<'_>) -> Result<Latency, LoadError> {
        let Mode::Open { rate_per_s, .. } = self.plan.job.mode else {
            unreachable!("probes are an open run")
        };
        let enough_ns = SAMPLES * 1e9 / rate_per_s;
        let mut plan = self.plan.clone();
        plan.job.warmup_ns = 0;
        plan.job.duration_ns = Some(enough_ns.clamp(LEAST_NS, MOST_NS) as u64);
        plan.job.log_file = None;
        plan.job.start_at_monotonic_ns = None;
        let never = AtomicBool::new(false);
        let silent = Watch {
            cancel: if watch.cancel.load(std::sync::atomic::Ordering::Relaxed) {
                watch.cancel
            } else {
                &never
            },
            progress: None,
            operations: None,
        };
        let outcome = conduct(&plan, &silent, vec![work(&plan, &self.exchange, 0)])?;
        Ok(Figures::of(outcome.reports).all.responses().latency())
    }
}

fn work<'a>(plan: &'a Plan, exchange: &RequestResponse, board: usize) -> Work<'a> {
    let exchange = exchange.clone();
    Box::new(move |control| {
        let worker = Worker::new(exchange, plan, &plan.share(0), board, control)?;
        let mut report = worker.run();
        // Of the flows alone: what was asked for are flows.
        report.most_established = 0;
        Ok(report)
    })
}
