//! What may start when: users or a schedule, what is left to start, and timers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::connection::NEVER;
use crate::measurement::operation::Part;
use crate::plan::{Plan, Share};
use crate::worker::pace::Pace;

/// What starts operations of one worker, and how many it may still start.
#[derive(Debug)]
pub(super) struct Pacing {
    pub pace: Pace,
    /// Instants at which places are to be looked at, earliest first.
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    /// Operations it may still start in the window.
    quota: u64,
    /// Those that the user of each place may still start; empty without such a limit.
    quotas: Vec<u64>,
    /// First user that has not begun (closed mode).
    pub next_user: usize,
    /// So much before an arrival the loop polls instead of sleeping.
    pub poll_ahead_ns: u64,
}

impl Pacing {
    pub fn new(plan: &Plan, share: &Share, poll_ahead_ns: u64) -> Self {
        let places = share.connections as usize;
        Self {
            pace: Pace::new(plan, share),
            timers: BinaryHeap::with_capacity(places),
            quota: share.operations,
            quotas: (share.operations_per_user).map_or_else(Vec::new, |each| vec![each; places]),
            next_user: if plan.is_open() { places } else { 0 },
            poll_ahead_ns,
        }
    }

    /// Whether everything was started that may be.
    pub fn is_used_up(&self) -> bool {
        self.quota == 0
    }

    /// Takes one operation of this part from the quota; `false` if it belongs to the run no more.
    pub fn take(&mut self, part: Part) -> bool {
        if part == Part::After || self.quota == 0 {
            return false;
        }
        self.quota -= u64::from(part == Part::Window);
        true
    }

    /// The same, also from the quota of the user of `place`.
    pub fn take_of_user(&mut self, place: usize, part: Part) -> bool {
        if self.quotas.get(place) == Some(&0) || !self.take(part) {
            return false;
        }
        if let Some(left) = self.quotas.get_mut(place) {
            *left -= u64::from(part == Part::Window);
        }
        true
    }

    /// `place` is to be looked at then.
    pub fn wake_at(&mut self, place: usize, at_ns: u64) {
        self.timers.push(Reverse((at_ns, place as u32)));
    }

    /// When the next place is to be looked at.
    pub fn next_timer_ns(&self) -> u64 {
        self.timers
            .peek()
            .map_or(NEVER, |Reverse((at_ns, _))| *at_ns)
    }

    /// The next timer that is due: its instant and its place.
    pub fn pop_timer(&mut self, now_ns: u64) -> Option<(u64, usize)> {
        if self.next_timer_ns() > now_ns {
            return None;
        }
        let Reverse((at_ns, place)) = self.timers.pop()?;
        Some((at_ns, place as usize))
    }
}
