//! Waiting for what is due, and starting the arrivals of an open run.

use std::time::Duration;

use rustix::io;
use steelyard_net::clock::monotonic_ns;
use steelyard_net::poller::Poller;

use super::Worker;
use crate::connection::{NEVER, State};
use crate::protocols::Protocol;
use crate::worker::pace::Pace;

/// Arrivals started before events are looked at again.
const ARRIVALS_AT_ONCE: usize = 64;

impl<P: Protocol> Worker<'_, P> {
    /// Starts the operations that are due, or lets them wait.
    pub(super) fn send_arrivals(&mut self, now_ns: u64) {
        for _ in 0..ARRIVALS_AT_ONCE {
            let intended_ns = self.pacing.pace.next_arrival_ns();
            if intended_ns > now_ns || !self.takes_arrival(intended_ns) {
                return;
            }
            self.pacing.pace.advance();
            if let Some(place) = self.take_idle() {
                self.start_operation(place, intended_ns, intended_ns);
                if self.slots > 1 {
                    self.fill_slots(place, now_ns);
                }
                self.welcome();
            } else if self.plan.is_unbounded() || !self.pacing.pace.push_waiting(intended_ns) {
                self.records.unsent(intended_ns);
            }
        }
    }

    /// Counts an arrival, if it still belongs to the run.
    pub(super) fn takes_arrival(&mut self, intended_ns: u64) -> bool {
        let part = self.records.part(intended_ns);
        let takes = self.pacing.take(part);
        if takes {
            self.records.recorder.intended(part);
        }
        takes
    }

    /// An idle connection, no longer listed.
    pub(super) fn take_idle(&mut self) -> Option<usize> {
        while let Pace::Open(arrivals) = &mut self.pacing.pace {
            let place = arrivals.idle.pop_front()? as usize;
            let connection = &mut self.connections[place];
            connection.listed = false;
            let idle = match connection.state {
                State::Idle => true,
                State::Vacant => self.on_demand && connection.wake_ns == NEVER,
                State::Talking => self.slots > 1 && self.has_room(place),
                State::Connecting | State::Securing => false,
            };
            if idle {
                return Some(place);
            }
        }
        None
    }

    /// When the next arrival is due that this worker will still take.
    pub(super) fn next_arrival_ns(&self) -> u64 {
        let next_ns = self.pacing.pace.next_arrival_ns();
        if self.pacing.is_used_up() || next_ns >= self.records.recorder.window.end_ns {
            return NEVER;
        }
        next_ns
    }

    /// Waits for events until something is due; polls close to an arrival.
    pub(super) fn wait(&mut self, now_ns: u64) {
        let timer_ns = self.pacing.next_timer_ns();
        let arrival_ns = self.next_arrival_ns();
        let mut due_ns = self.state.next_tick_ns.min(timer_ns).min(arrival_ns);
        if P::HAS_SIDE {
            due_ns = due_ns.min(self.sides.next_wake_ns());
        }
        let poll_ahead_ns = if arrival_ns == due_ns && self.pacing.pace.has_idle() {
            self.pacing.poll_ahead_ns
        } else {
            0
        };
        let sleep_ns = if self.has_users_to_start() || self.connections.has_any_there() {
            0
        } else {
            due_ns.saturating_sub(now_ns).saturating_sub(poll_ahead_ns)
        };
        // A refused wait would be a defect of this loop; the run then ends by its deadlines.
        let _ = self
            .poller
            .wait(&mut self.events, Some(Duration::from_nanos(sleep_ns)));
        if sleep_ns == 0 && poll_ahead_ns > 0 && self.events.is_empty() && now_ns < due_ns {
            self.state.meter.spun(monotonic_ns() - now_ns);
        }
    }
}

/// How late this thread wakes up from short waits: the margin before an arrival.
pub(super) fn wake_up_lateness_ns(poller: &Poller) -> io::Result<u64> {
    const WAITS: usize = 15;
    const WAIT: Duration = Duration::from_micros(100);
    let mut late_ns = [0; WAITS];
    let mut events = Vec::with_capacity(1);
    for late in &mut late_ns {
        let start_ns = monotonic_ns();
        poller.wait(&mut events, Some(WAIT))?;
        *late = (monotonic_ns() - start_ns).saturating_sub(WAIT.as_nanos() as u64);
    }
    late_ns.sort_unstable();
    // Nearly the worst, but one stolen CPU must not make the loop poll for ever.
    Ok(late_ns[WAITS - 2].clamp(20_000, 200_000))
}
