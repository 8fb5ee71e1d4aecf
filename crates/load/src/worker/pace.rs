//! Who starts operations: users that wait for answers, or a schedule that does not.

use std::collections::VecDeque;

use steelyard_wire::job::Mode;

use crate::connection::NEVER;
use crate::plan::schedule::Schedule;
use crate::plan::{Plan, Share};

/// What starts operations of one worker.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one for each worker")]
pub enum Pace {
    /// Each user, once it is answered and has thought.
    Closed {
        /// Between an answer and the next operation.
        think_ns: u64,
    },
    /// A schedule.
    Open(Arrivals),
}

/// Arrivals of an open run and where they wait.
#[derive(Debug)]
pub struct Arrivals {
    schedule: Schedule,
    start_ns: u64,
    /// Intended instants of arrivals that found no idle connection, oldest first.
    pub waiting: VecDeque<u64>,
    /// Arrivals that may wait.
    pub max_waiting: u64,
    /// Idle connections, longest idle first, so that all are used in turn.
    pub idle: VecDeque<u32>,
}

impl Pace {
    /// The pace of one worker.
    pub fn new(plan: &Plan, share: &Share) -> Self {
        match plan.job.mode {
            Mode::Closed { think_time_ns, .. } => Self::Closed {
                think_ns: think_time_ns,
            },
            Mode::Open {
                rate_per_s,
                arrival,
                ..
            } => Self::Open(Arrivals {
                schedule: Schedule::new(
                    arrival,
                    rate_per_s,
                    share.worker,
                    plan.workers(),
                    plan.job.seed,
                ),
                start_ns: NEVER,
                waiting: VecDeque::new(),
                max_waiting: share.max_backlog,
                idle: VecDeque::with_capacity(share.connections as usize),
            }),
        }
    }

    /// Fixes the instant from which the schedule counts.
    pub fn begin(&mut self, start_ns: u64) {
        if let Self::Open(arrivals) = self {
            arrivals.start_ns = start_ns;
        }
    }

    /// When the next arrival is due; never in closed mode or before the start.
    pub fn next_arrival_ns(&self) -> u64 {
        match self {
            Self::Closed { .. } => NEVER,
            Self::Open(arrivals) => arrivals
                .start_ns
                .saturating_add(arrivals.schedule.next_ns()),
        }
    }

    /// Takes the next arrival.
    pub fn advance(&mut self) {
        if let Self::Open(arrivals) = self {
            arrivals.schedule.advance();
        }
    }

    /// Arrivals that wait for a connection.
    pub fn backlog(&self) -> u64 {
        match self {
            Self::Closed { .. } => 0,
            Self::Open(arrivals) => arrivals.waiting.len() as u64,
        }
    }

    /// The arrival that has waited longest.
    pub fn pop_waiting(&mut self) -> Option<u64> {
        match self {
            Self::Closed { .. } => None,
            Self::Open(arrivals) => arrivals.waiting.pop_front(),
        }
    }

    /// Lets an arrival wait; `false` if too many wait already.
    pub fn push_waiting(&mut self, intended_ns: u64) -> bool {
        match self {
            Self::Open(arrivals) if (arrivals.waiting.len() as u64) < arrivals.max_waiting => {
                arrivals.waiting.push_back(intended_ns);
                true
            }
            _ => false,
        }
    }

    /// Whether a connection is listed as idle.
    pub fn has_idle(&self) -> bool {
        matches!(self, Self::Open(arrivals) if !arrivals.idle.is_empty())
    }
}
