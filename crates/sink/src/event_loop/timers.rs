//! Deadlines of connections on one timer descriptor: no wake-up without a deadline.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Result;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use steelyard_net::clock::timespec;

/// Deadlines in `CLOCK_MONOTONIC` nanoseconds with the token of what they are for.
///
/// A timer descriptor instead of the poller's timeout: it fires at the nanosecond asked for,
/// where the timeout is rounded up to a millisecond and subject to the thread's timer slack.
#[derive(Debug)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(u64, u64)>>,
    timer: OwnedFd,
    armed_ns: Option<u64>,
}

impl Timers {
    pub fn new() -> Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self {
            heap: BinaryHeap::new(),
            timer: timerfd_create(TimerfdClockId::Monotonic, flags)?,
            armed_ns: None,
        })
    }

    /// Asks for `token` at `deadline_ns`; a deadline is never withdrawn, only ignored later.
    pub fn push(&mut self, deadline_ns: u64, token: u64) {
        self.heap.push(Reverse((deadline_ns, token)));
    }

    /// The next token whose deadline is reached at `now_ns`, earliest first.
    pub fn pop_due(&mut self, now_ns: u64) -> Option<(u64, u64)> {
        let Reverse((deadline_ns, _)) = *self.heap.peek()?;
        if deadline_ns > now_ns {
            return None;
        }
        self.heap.pop().map(|Reverse(due)| due)
    }

    /// Whether anything waits; spares the clock when nothing does.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Arms the descriptor for the earliest deadline, if that changed.
    pub fn arm(&mut self) -> Result<()> {
        let Some(Reverse((deadline_ns, _))) = self.heap.peek().copied() else {
            // A timer left armed fires once, without success, and never again.
            return Ok(());
        };
        if self.armed_ns == Some(deadline_ns) {
            return Ok(());
        }
        let value = Itimerspec {
            it_interval: Timespec::default(),
            it_value: timespec(deadline_ns),
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &value)?;
        self.armed_ns = Some(deadline_ns);
        Ok(())
    }
}

/// Readable when the earliest deadline is reached.
impl AsFd for Timers {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_tokens_come_in_the_order_of_their_deadlines() {
        let mut timers = Timers::new().unwrap();
        for (deadline_ns, token) in [(30, 3), (10, 1), (20, 2)] {
            timers.push(deadline_ns, token);
        }
        assert_eq!(timers.pop_due(9), None);
        assert_eq!(timers.pop_due(20), Some((10, 1)));
        assert_eq!(timers.pop_due(20), Some((20, 2)));
        assert_eq!(timers.pop_due(20), None);
        assert!(!timers.is_empty());
    }
}
