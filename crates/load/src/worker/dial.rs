//! Connections come and go: opening, failing, waiting, trying again.

use std::sync::atomic::Ordering::Relaxed;

use rustix::io::Errno;
use steelyard_net::clock::monotonic_ns;
use steelyard_net::poller::{READ, READ_WRITE};
use steelyard_net::socket;

use super::drive::Input;
use super::{Stage, Worker};
use crate::connection::{NEVER, State, token};
use crate::fault::ErrorKind;
use crate::measurement::operation::Part;
use crate::protocols::{CONNECT, Protocol, TLS};
use crate::worker::pace::Pace;

/// Users that begin before events are looked at again.
const USERS_AT_ONCE: usize = 32;

/// Between two looks for timeouts, at most; and at least this share of the timeout.
const LONGEST_SCAN_NS: u64 = 100_000_000;
const SCANS_A_TIMEOUT: u64 = 16;

impl<P: Protocol> Worker<'_, P> {
    /// Opens what must be there before operations begin.
    pub(super) fn open_first(&mut self) {
        if self.on_demand {
            // Connections come with their operations, none before.
            self.connections.open_on_demand();
            let now_ns = monotonic_ns();
            for place in 0..self.connections.len() {
                self.ready(place, now_ns);
            }
        } else {
            self.try_more();
        }
        self.publish();
    }

    /// Opens the next of those that were not tried yet; called from the loop, never from a
    /// failure, so that ten thousand failures in a row do not nest.
    pub(super) fn try_more(&mut self) {
        while let Some(place) = self.connections.next_to_try() {
            self.connect(place, monotonic_ns());
            self.welcome();
        }
    }

    /// The first try of `place` has come to its end, well or not.
    pub(super) fn tried(&mut self, place: usize, well: bool) {
        if well {
            self.board.ever_ready.fetch_add(1, Relaxed);
        }
        if !self.on_demand {
            self.connections.tried(place);
        }
    }

    /// Users that have not begun yet begin, some at a time: answers are read in between, or those
    /// of ten thousand first operations would wait for the last of them to be sent.
    pub(super) fn start_more_users(&mut self) {
        let Pace::Closed { think_ns } = self.pacing.pace else {
            return;
        };
        let users = self.connections.len();
        let until = users.min(self.pacing.next_user + USERS_AT_ONCE);
        for place in self.pacing.next_user..until {
            // One after the other over one think time.
            let offset_ns = u128::from(think_ns) * place as u128 / users as u128;
            let now_ns = monotonic_ns();
            let connection = &mut self.connections[place];
            connection.due_ns = now_ns + offset_ns as u64;
            let vacant = connection.state == State::Vacant && connection.wake_ns == NEVER;
            if self.slots > 1 {
                self.fill_slots(place, now_ns);
            } else if connection.state == State::Idle || self.on_demand && vacant {
                self.user_ready(place, now_ns);
                self.welcome();
            }
        }
        self.pacing.next_user = until;
    }

    /// Whether users wait for their turn to begin.
    pub(super) fn has_users_to_start(&self) -> bool {
        self.state.is_running() && self.pacing.next_user < self.connections.len()
    }

    /// Starts a connection.
    pub(super) fn connect(&mut self, place: usize, now_ns: u64) {
        if self.records.part(now_ns) == Part::Window {
            self.records.recorder.counts.connects += 1;
        }
        let connection = &mut self.connections[place];
        connection.session = self.protocol.open(place);
        connection.phase_start_ns = now_ns;
        let address = self.protocol.address(&connection.session);
        let source = self.plan.source(place);
        let started = self.plan.addresses.get(address).ok_or(Errno::ADDRNOTAVAIL);
        let started = started.and_then(|address| socket::start_connect(address, source));
        let started = started.and_then(|(socket, there)| {
            let there_ns = there.then(monotonic_ns);
            if self.plan.job.reset_on_close {
                socket::reset_on_close(&socket)?;
            }
            let interest = if there { READ } else { READ_WRITE };
            self.poller
                .add(&socket, token(place, connection.generation), interest)?;
            Ok((socket, there_ns))
        });
        match started {
            Ok((socket, there_ns)) => {
                connection.socket = Some(socket);
                connection.state = State::Connecting;
                connection.deadline_ns = now_ns + self.plan.job.timeout_ns;
                connection.watches_room = there_ns.is_none();
                if let Some(at_ns) = there_ns {
                    self.connections.is_there(place, at_ns);
                }
            }
            Err(errno) => self.lost(place, ErrorKind::from(errno), now_ns),
        }
    }

    /// Goes on with those that were there when they were asked for. Each that follows from one of
    /// them has to wait for the next call: a protocol may do nothing but connect.
    pub(super) fn welcome(&mut self) {
        if !self.connections.has_any_there() {
            return;
        }
        let mut there = self.connections.take_there();
        for (place, generation, at_ns) in there.drain(..) {
            let place = place as usize;
            // An event may have been faster.
            let waits = self.connections[place].state == State::Connecting;
            if waits && self.connections.is_same(place, generation) {
                self.connected(place, at_ns);
            }
        }
        self.connections.give_back(there);
    }

    /// The kernel says that a started connection is there, or has failed.
    pub(super) fn finish_connect(&mut self, place: usize) {
        let Some(socket) = &self.connections[place].socket else {
            return;
        };
        let outcome = socket::connect_error(socket);
        let now_ns = monotonic_ns();
        if let Ok(Some(errno)) | Err(errno) = outcome {
            self.lost(place, ErrorKind::from(errno), now_ns);
            return;
        }
        self.connected(place, now_ns);
    }

    /// A connection is there since `now_ns`.
    fn connected(&mut self, place: usize, now_ns: u64) {
        self.connections.count_established();
        self.end_phase(place, 0, CONNECT, now_ns);
        let connection = &mut self.connections[place];
        connection.state = State::Talking;
        if connection.slots.is_empty() {
            connection.deadline_ns = now_ns + self.plan.job.timeout_ns;
        }
        if self.plan.tls.as_ref().is_some_and(|tls| tls.from_start) {
            self.secure(place, now_ns);
        } else {
            self.step(place, now_ns, &Input::Connected);
            debug_assert!(self.buffers.batching.is_none(), "{place}");
        }
    }

    /// A connection, or the try to make one, has failed, and with it all that it carried.
    pub(super) fn lost(&mut self, place: usize, error: ErrorKind, now_ns: u64) {
        self.stamp(place);
        self.buffers.out.clear();
        let connection = &mut self.connections[place];
        let phase = match connection.state {
            State::Vacant | State::Connecting => CONNECT,
            State::Securing => TLS,
            State::Talking | State::Idle => self.protocol.phase(&connection.session),
        };
        if connection.slots.is_empty() {
            self.records
                .recorder
                .connection_failed(now_ns, phase, error);
        } else if let Pace::Closed { think_ns } = self.pacing.pace {
            connection.due_ns = now_ns + think_ns;
        }
        while let Some((slot, operation)) = self.connections[place].slots.take_any() {
            self.fail(place, slot, &operation, (phase, error), now_ns);
            self.state.ended(&operation);
        }
        self.board.connection_failed(error);
        self.try_again(place, now_ns);
    }

    /// A connection has done its duty and is closed.
    pub(super) fn retire(&mut self, place: usize, now_ns: u64) {
        if !self.connections[place].slots.is_empty() {
            // What else was on its way will not be answered.
            self.lost(place, ErrorKind::PeerClosedEarly, now_ns);
        } else if self.connections[place].useful {
            self.say_close(place);
            self.close(place);
            self.reopen(place, now_ns);
        } else {
            // Closed before it served at all: do not run in circles.
            self.try_again(place, now_ns);
        }
    }

    fn try_again(&mut self, place: usize, now_ns: u64) {
        self.close(place);
        let wait_ns = self.connections[place].back_off_ns();
        self.tried(place, false);
        if wait_ns == 0 {
            self.reopen(place, now_ns);
        } else {
            self.wake_at(place, now_ns + wait_ns);
        }
    }

    fn close(&mut self, place: usize) {
        if P::HAS_SIDE {
            self.sides.close(place);
        }
        self.records.closed(place);
        self.connections.close(place);
    }

    fn reopen(&mut self, place: usize, now_ns: u64) {
        if self.on_demand {
            self.ready(place, now_ns);
        } else if self.state.stage != Stage::Draining || self.pacing.pace.backlog() > 0 {
            self.connect(place, now_ns);
        }
    }

    pub(super) fn wake_at(&mut self, place: usize, at_ns: u64) {
        self.connections[place].wake_ns = at_ns;
        self.pacing.wake_at(place, at_ns);
    }

    /// Users that have thought, and places whose back-off is over.
    pub(super) fn fire_timers(&mut self, now_ns: u64) {
        while let Some((at_ns, place)) = self.pacing.pop_timer(now_ns) {
            let connection = &mut self.connections[place];
            // Its plans may have changed since.
            if connection.wake_ns != at_ns {
                continue;
            }
            connection.wake_ns = NEVER;
            if std::mem::take(&mut connection.paused) {
                self.step(place, now_ns, &Input::Resumed);
                continue;
            }
            let thought =
                matches!(self.pacing.pace, Pace::Closed { .. }) && at_ns == connection.due_ns;
            match connection.state {
                State::Idle if self.state.is_running() => {
                    self.start_users_operation(place, at_ns);
                }
                State::Vacant if thought && self.on_demand => {
                    self.start_users_operation(place, at_ns);
                    self.welcome();
                }
                State::Vacant => self.reopen(place, now_ns),
                State::Idle | State::Connecting | State::Securing | State::Talking => {}
            }
        }
    }

    /// Ends what has waited too long. A look at all of them now and then costs less than a timer
    /// for each operation; a timeout is noticed up to a sixteenth of it, at most 100 ms, late.
    pub(super) fn scan_timeouts(&mut self, now_ns: u64) {
        self.state.next_scan_ns =
            now_ns + (self.plan.job.timeout_ns / SCANS_A_TIMEOUT).min(LONGEST_SCAN_NS);
        for place in 0..self.connections.len() {
            let connection = &mut self.connections[place];
            if self.slots > 1 && connection.deadline_ns <= now_ns {
                // The operation that this was the deadline of may be answered.
                let sent = connection.slots.iter().map(|operation| operation.sent_ns);
                if let Some(oldest_ns) = sent.min() {
                    connection.deadline_ns = oldest_ns.saturating_add(self.plan.job.timeout_ns);
                }
            }
            if connection.deadline_ns <= now_ns {
                let connection = &self.connections[place];
                let kind = match connection.state {
                    State::Connecting => ErrorKind::ConnTimeout,
                    _ if P::HAS_SIDE && self.sides.is_connecting(place) => ErrorKind::ConnTimeout,
                    _ if !connection.unsent.is_empty() => ErrorKind::SendTimeout,
                    _ => ErrorKind::RecvTimeout,
                };
                self.lost(place, kind, now_ns);
            }
        }
    }
}
