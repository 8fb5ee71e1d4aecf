//! A job, checked, and the share that each worker has in it.

pub mod schedule;
pub mod target;

use std::net::IpAddr;

use steelyard_net::barrier;
use steelyard_net::clock::monotonic_ns;
use steelyard_net::socket::Address;
use steelyard_wire::job::{LoadJob, Mode, Operation};

use crate::error::LoadError;
use crate::measurement::series;
use crate::tls::TlsPlan;

/// A checked job with its address.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where connections go; the protocol says which goes where, usually all to the first.
    pub addresses: Vec<Address>,
    /// How TLS is used, if it is.
    pub tls: Option<TlsPlan>,
    /// The job; its `threads` is what will run.
    pub job: LoadJob,
    /// Width of a row of the series.
    pub interval_ns: u64,
    /// From the decision to start until operations begin, so that every worker knows of it.
    pub start_ahead_ns: u64,
}

/// Enough for workers of this process.
const START_AHEAD_NS: u64 = 2_000_000;

/// What one worker does of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Number of the worker, from 0.
    pub worker: u32,
    /// Connections it holds, at least one.
    pub connections: u32,
    /// Operations it may start in the window.
    pub operations: u64,
    /// Of these, those that each user may start, if that is limited.
    pub operations_per_user: Option<u64>,
    /// Arrivals that may wait.
    pub max_backlog: u64,
}

impl Plan {
    /// Checks what no type can.
    pub fn new(job: &LoadJob, address: Address) -> Result<Self, LoadError> {
        check_mode(&job.mode)?;
        check_length(job)?;
        if let Some(at_ns) = job.start_at_monotonic_ns {
            barrier::left_ns(monotonic_ns(), at_ns)?;
        }
        if job.threads == 0 {
            return Err(LoadError::bad_job("threads is 0", "ask for at least one"));
        }
        if job.timeout_ns == 0 {
            return Err(LoadError::bad_job(
                "timeout_ns is 0",
                "give operations some time",
            ));
        }
        let mut job = job.clone();
        // A worker without a connection would have nothing to do.
        job.threads = job.threads.min(connections(&job.mode));
        let interval_ns = series::interval_ns(job.series_interval_ns, job.duration_ns);
        Ok(Self {
            addresses: vec![address],
            tls: None,
            job,
            interval_ns,
            start_ahead_ns: START_AHEAD_NS,
        })
    }

    /// The same with datagrams instead of connections.
    pub fn over_udp(mut self) -> Result<Self, LoadError> {
        for address in &mut self.addresses {
            *address = match address {
                Address::Inet(address) | Address::Datagram(address) => Address::Datagram(*address),
                Address::Unix(_) => {
                    return Err(LoadError::bad_job(
                        "a unix socket takes no datagrams here",
                        "leave it out, or use TCP",
                    ));
                }
            };
        }
        Ok(self)
    }

    /// Whether messages are datagrams: each must be read by itself.
    pub fn is_over_udp(&self) -> bool {
        matches!(self.addresses.first(), Some(Address::Datagram(_)))
    }

    /// Connections (closed: users) of all workers.
    pub fn connections(&self) -> u32 {
        connections(&self.job.mode)
    }

    /// Whether a number of operations ends the run, and not the clock.
    pub fn ends_by_count(&self) -> bool {
        self.job.operations.is_some() || self.job.operations_per_user.is_some()
    }

    /// Whether operations follow a schedule.
    pub fn is_open(&self) -> bool {
        matches!(self.job.mode, Mode::Open { .. })
    }

    /// Whether the pool of an open run grows by demand.
    pub fn is_unbounded(&self) -> bool {
        matches!(
            self.job.mode,
            Mode::Open {
                unbounded: true,
                ..
            }
        )
    }

    /// The local address that the connection of `place` comes from, if one was asked for.
    pub fn source(&self, place: usize) -> Option<IpAddr> {
        let sources = &self.job.sources;
        sources.get(place.checked_rem(sources.len())?).copied()
    }

    /// The share of worker `worker`.
    pub fn share(&self, worker: u32) -> Share {
        let part = |whole: u64| {
            let workers = u64::from(self.job.threads);
            whole / workers + u64::from(u64::from(worker) < whole % workers)
        };
        let connections = part(u64::from(self.connections()));
        let per_user = self.job.operations_per_user;
        Share {
            worker,
            connections: connections as u32,
            operations: per_user.map_or_else(
                || self.job.operations.map_or(u64::MAX, part),
                |each| each.saturating_mul(connections),
            ),
            operations_per_user: per_user,
            max_backlog: match self.job.mode {
                Mode::Open { max_backlog, .. } => part(max_backlog),
                Mode::Closed { .. } => 0,
            },
        }
    }
}

fn connections(mode: &Mode) -> u32 {
    match mode {
        Mode::Closed { users, .. } => *users,
        Mode::Open { connections, .. } => *connections,
    }
}

fn check_mode(mode: &Mode) -> Result<(), LoadError> {
    if connections(mode) == 0 {
        return Err(LoadError::bad_job(
            "no users or connections",
            "ask for at least one",
        ));
    }
    match mode {
        Mode::Open { rate_per_s, .. } if !(1e-6..=1e8).contains(rate_per_s) => {
            Err(LoadError::bad_job(
                format!("rate_per_s {rate_per_s} is out of range"),
                "between 0.000001 and 100000000",
            ))
        }
        _ => Ok(()),
    }
}

fn check_length(job: &LoadJob) -> Result<(), LoadError> {
    check_per_user(job)?;
    match (job.duration_ns, job.operations.or(job.operations_per_user)) {
        (None, None) => Err(LoadError::bad_job(
            "the job never ends",
            "give duration_ns or operations",
        )),
        (Some(0), _) => Err(LoadError::bad_job(
            "duration_ns is 0",
            "give the window a length",
        )),
        (_, Some(0)) => Err(LoadError::bad_job(
            "operations is 0",
            "ask for at least one",
        )),
        _ => Ok(()),
    }
}

/// Only a user who waits for answers has operations of its own.
fn check_per_user(job: &LoadJob) -> Result<(), LoadError> {
    let alone = matches!(job.mode, Mode::Closed { .. })
        && !matches!(
            job.operation,
            Operation::Mix(_) | Operation::Stream(_) | Operation::Delivery(_)
        );
    if job.operations_per_user.is_none() || (alone && job.operations.is_none()) {
        return Ok(());
    }
    Err(LoadError::bad_job(
        "operations_per_user is for users of one protocol, and instead of operations",
        "leave it out, or ask for users who send messages, requests, commands or transfers",
    ))
}

#[cfg(test)]
mod tests {
    use steelyard_wire::job::HttpOperation;

    use super::*;

    fn job(users: u32, threads: u32) -> LoadJob {
        LoadJob {
            mode: Mode::Closed {
                users,
                think_time_ns: 0,
            },
            threads,
            duration_ns: Some(1),
            operations: Some(10),
            ..LoadJob::new(
                "http://127.0.0.1:1/",
                Operation::Http(HttpOperation::default()),
            )
        }
    }

    fn plan(job: &LoadJob) -> Result<Plan, LoadError> {
        Plan::new(job, Address::Inet("127.0.0.1:1".parse().unwrap()))
    }

    #[test]
    fn each_user_has_operations_of_its_own() {
        let mut job = job(5, 2);
        (job.duration_ns, job.operations, job.operations_per_user) = (None, None, Some(100));
        let shared = plan(&job).unwrap();
        assert_eq!(shared.share(0).operations, 300);
        assert_eq!(shared.share(1).operations, 200);
        assert_eq!(shared.share(1).operations_per_user, Some(100));
        job.operations = Some(1);
        assert!(plan(&job).is_err());
    }

    #[test]
    fn shares_add_up_to_the_whole() {
        let plan = plan(&job(7, 3)).unwrap();
        let shares: Vec<Share> = (0..3).map(|worker| plan.share(worker)).collect();
        assert_eq!(shares.iter().map(|share| share.connections).sum::<u32>(), 7);
        assert_eq!(shares.iter().map(|share| share.operations).sum::<u64>(), 10);
    }

    #[test]
    fn no_worker_is_without_a_connection() {
        assert_eq!(plan(&job(2, 8)).unwrap().job.threads, 2);
    }

    #[test]
    fn jobs_that_make_no_sense_are_refused() {
        let endless = LoadJob {
            duration_ns: None,
            operations: None,
            ..job(1, 1)
        };
        let still = LoadJob {
            mode: Mode::Open {
                rate_per_s: 0.0,
                arrival: steelyard_wire::job::Arrival::Constant,
                connections: 1,
                unbounded: false,
                max_backlog: 1,
            },
            ..job(1, 1)
        };
        for bad in [job(0, 1), job(1, 0), endless, still] {
            assert!(plan(&bad).is_err(), "{bad:?}");
        }
    }
}
