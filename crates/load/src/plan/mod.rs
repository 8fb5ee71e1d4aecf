//! A job, checked, and the share that each worker has in it.

pub mod schedule;
pub mod target;

use std::net::IpAddr;

use steelyard_net::barrier;
use steelyard_net::clock::monotonic_ns;
use steelyard_net::socket::Address;
use steelyard_wire::job::{GeneratorNumber, LoadJob, Mode, Operation};

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
    /// Workers of the other generators that drive the job together with this one.
    pub workers_elsewhere: u32,
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
    /// Number of the worker among those of all generators, from 0.
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
        check_generator(job)?;
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
        let GeneratorNumber { number, of } = place(&job);
        // A worker without a connection would have nothing to do.
        let workers = (job.threads.saturating_mul(of)).min(connections(&job.mode));
        job.threads = workers / of + u32::from(number <= workers % of);
        let workers_elsewhere = workers - job.threads;
        let interval_ns = series::interval_ns(job.series_interval_ns, job.duration_ns);
        Ok(Self {
            addresses: vec![address],
            tls: None,
            job,
            workers_elsewhere,
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

    /// Workers of all generators.
    pub fn workers(&self) -> u32 {
        self.job.threads + self.workers_elsewhere
    }

    /// The number, among those of all generators, of the worker that has the number `own` here.
    ///
    /// Generators take turns, so that the first shares, which are larger, do not fall on one.
    pub fn number_of(&self, own: u32) -> u32 {
        let GeneratorNumber { number, of } = place(&self.job);
        own * of + number - 1
    }

    /// Connections (closed: users) of all workers of all generators.
    pub fn connections(&self) -> u32 {
        connections(&self.job.mode)
    }

    /// Those of them that this generator holds.
    pub fn own_connections(&self) -> u32 {
        if self.workers_elsewhere == 0 {
            return self.connections();
        }
        let own = (0..self.job.threads).map(|own| self.share(self.number_of(own)).connections);
        own.sum()
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

    /// The share of worker `worker`, of those of all generators.
    pub fn share(&self, worker: u32) -> Share {
        let part = |whole: u64| {
            let workers = u64::from(self.workers());
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

/// The first of one, unless there are several.
fn place(job: &LoadJob) -> GeneratorNumber {
    let alone = GeneratorNumber { number: 1, of: 1 };
    job.generator.unwrap_or(alone)
}

/// What several generators can drive together: operations of one kind, a connection for each.
fn check_generator(job: &LoadJob) -> Result<(), LoadError> {
    let Some(GeneratorNumber { number, of }) = job.generator else {
        return Ok(());
    };
    if !(1..=of).contains(&number) {
        return Err(LoadError::bad_job(
            format!("there is no generator {number} of {of}"),
            "number them from 1",
        ));
    }
    if connections(&job.mode) < of {
        return Err(LoadError::bad_job(
            format!("{of} generators for {} connections", connections(&job.mode)),
            "ask for at least one for each generator",
        ));
    }
    if matches!(
        job.operation,
        Operation::Mix(_) | Operation::Stream(_) | Operation::Delivery(_)
    ) {
        return Err(LoadError::bad_job(
            "a mix, a stream and a delivery come from one generator",
            "leave `generator` out",
        ));
    }
    Ok(())
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

    fn of_generators(job: &LoadJob, of: u32) -> Vec<Plan> {
        let one = |number| LoadJob {
            generator: Some(GeneratorNumber { number, of }),
            ..job.clone()
        };
        (1..=of).map(|number| plan(&one(number)).unwrap()).collect()
    }

    fn own_shares(plan: &Plan) -> Vec<Share> {
        (0..plan.job.threads)
            .map(|own| plan.share(plan.number_of(own)))
            .collect()
    }

    #[test]
    fn the_workers_of_all_generators_are_those_of_one_with_as_many() {
        for (users, threads, of) in [(64, 1, 3), (7, 2, 3), (3, 4, 3), (1000, 8, 7)] {
            let alone = plan(&job(users, threads * of)).unwrap();
            let parts = of_generators(&job(users, threads), of);
            let mut shares: Vec<Share> = parts.iter().flat_map(own_shares).collect();
            shares.sort_by_key(|share| share.worker);
            assert_eq!(shares, own_shares(&alone), "{users} {threads} {of}");
            let own: Vec<u32> = parts.iter().map(Plan::own_connections).collect();
            assert_eq!(own.iter().sum::<u32>(), users);
            let most = own.iter().max().unwrap() - own.iter().min().unwrap();
            assert!(most <= 1, "{own:?}");
        }
    }

    #[test]
    fn constant_arrivals_of_several_generators_are_those_of_one() {
        let mut job = job(64, 2);
        job.mode = Mode::Open {
            rate_per_s: 1_000.0,
            arrival: steelyard_wire::job::Arrival::Constant,
            connections: 64,
            unbounded: false,
            max_backlog: 1,
        };
        let mut due = Vec::new();
        for plan in of_generators(&job, 3) {
            for share in own_shares(&plan) {
                let mut pace = crate::worker::pace::Pace::new(&plan, &share);
                pace.begin(0);
                for _ in 0..50 {
                    due.push(pace.next_arrival_ns());
                    pace.advance();
                }
            }
        }
        due.sort_unstable();
        let gaps = due.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.clone().all(|gap| gap.abs_diff(1_000_000) <= 1));
        assert_eq!(gaps.count(), 2 * 3 * 50 - 1);
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
        let beyond = LoadJob {
            generator: Some(GeneratorNumber { number: 3, of: 2 }),
            ..job(9, 1)
        };
        let idle = LoadJob {
            generator: Some(GeneratorNumber { number: 1, of: 2 }),
            ..job(1, 1)
        };
        for bad in [job(0, 1), job(1, 0), endless, still, beyond, idle] {
            assert!(plan(&bad).is_err(), "{bad:?}");
        }
    }
}
