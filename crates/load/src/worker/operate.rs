//! Operations begin: the next of a user, or one that has arrived, on a connection that is ready.

use steelyard_net::clock::monotonic_ns;

use super::Worker;
use crate::connection::{NEVER, State};
use crate::measurement::operation::Operation;
use crate::protocols::Protocol;
use crate::worker::pace::Pace;

impl<P: Protocol> Worker<'_, P> {
    /// `place` can take an operation: the one that is due, or none yet.
    pub(super) fn ready(&mut self, place: usize, now_ns: u64) {
        let connection = &mut self.connections[place];
        if connection.socket.is_some() && connection.slots.is_empty() {
            connection.state = State::Idle;
            connection.deadline_ns = NEVER;
        }
        if self.slots > 1 {
            self.fill_slots(place, now_ns);
            return;
        }
        match &mut self.pacing.pace {
            Pace::Closed { .. } => self.user_ready(place, now_ns),
            Pace::Open(arrivals) => {
                if let Some(intended_ns) = arrivals.waiting.pop_front() {
                    self.start_operation(place, intended_ns, now_ns);
                } else {
                    self.list_idle(place);
                }
            }
        }
    }

    /// A connection of several slots takes what is due until it has no room.
    pub(super) fn fill_slots(&mut self, place: usize, now_ns: u64) {
        while self.has_room(place) {
            let started = match &mut self.pacing.pace {
                Pace::Closed { .. } => {
                    self.state.is_running() && self.start_users_operation(place, now_ns)
                }
                Pace::Open(arrivals) => {
                    let waiting = arrivals.waiting.pop_front();
                    match waiting {
                        Some(intended_ns) => self.start_operation(place, intended_ns, now_ns),
                        None => self.list_idle(place),
                    }
                    waiting.is_some()
                }
            };
            if !started {
                return;
            }
        }
    }

    /// Whether a connection of several slots can take an operation.
    pub(super) fn has_room(&self, place: usize) -> bool {
        let connection = &self.connections[place];
        connection.open
            && (connection.slots.busy() as usize) < self.slots
            && self.protocol.has_room(&connection.session)
    }

    /// Lists `place` among those that wait for an arrival.
    fn list_idle(&mut self, place: usize) {
        let connection = &mut self.connections[place];
        let Pace::Open(arrivals) = &mut self.pacing.pace else {
            return;
        };
        if std::mem::replace(&mut connection.listed, true) {
            return;
        }
        // Of a pool that grows by demand, those that are there come before those to be opened.
        if self.on_demand && !self.protocol.one_shot() && connection.socket.is_some() {
            arrivals.idle.push_front(place as u32);
        } else {
            arrivals.idle.push_back(place as u32);
        }
    }

    pub(super) fn user_ready(&mut self, place: usize, now_ns: u64) {
        if !self.state.is_running() {
            return;
        }
        let due_ns = self.connections[place].due_ns;
        if due_ns > now_ns {
            self.wake_at(place, due_ns);
        } else {
            self.start_users_operation(place, now_ns);
        }
    }

    /// A user's next operation, if there is still one to start; `intended_ns` is when it had
    /// thought and its connection was there.
    pub(super) fn start_users_operation(&mut self, place: usize, intended_ns: u64) -> bool {
        let part = self.records.part(intended_ns);
        if !self.pacing.take_of_user(place, part) {
            return false;
        }
        self.records.recorder.intended(part);
        self.start_operation(place, intended_ns, intended_ns);
        true
    }

    /// Sends an operation on a connection that is ready, or opens the one it begins with.
    ///
    /// `possible_ns` is when it was due and its connection was idle: later is the generator's fault.
    pub(super) fn start_operation(&mut self, place: usize, intended_ns: u64, possible_ns: u64) {
        if self.slots > 1 && self.connections[place].socket.is_some() {
            self.start_in_slot(place, intended_ns, possible_ns);
            return;
        }
        let connection = &mut self.connections[place];
        let begins_with_connection = connection.socket.is_none();
        if !begins_with_connection {
            self.buffers.out.clear();
            self.protocol
                .start(&mut connection.session, 0, &mut self.buffers.out);
        }
        let sent_ns = monotonic_ns();
        let operation = Operation {
            intended_ns,
            sent_ns,
            phase_start_ns: sent_ns,
            part: self.records.part(intended_ns),
        };
        connection.slots.put(0, operation);
        self.state.began(&operation);
        self.records.sent(place, &operation, possible_ns);
        if begins_with_connection {
            self.connect(place, sent_ns);
            return;
        }
        connection.state = State::Talking;
        connection.deadline_ns = sent_ns + self.plan.job.timeout_ns;
        self.flush(place);
    }

    /// Its bytes join what this connection has to say; the stamp of sending comes with the write.
    fn start_in_slot(&mut self, place: usize, intended_ns: u64, possible_ns: u64) {
        let connection = &mut self.connections[place];
        let Some(slot) = connection.slots.free() else {
            return;
        };
        self.protocol
            .start(&mut connection.session, slot, &mut self.buffers.out);
        let operation = Operation {
            intended_ns,
            sent_ns: NEVER,
            phase_start_ns: NEVER,
            part: self.records.part(intended_ns),
        };
        connection.slots.put(slot, operation);
        connection.state = State::Talking;
        self.state.began(&operation);
        self.buffers.unstamped.push((slot as u32, possible_ns));
        self.flush_unless_batching(place);
    }

    /// The operations that were started on `place` are sent now.
    pub(super) fn stamp(&mut self, place: usize) {
        if self.buffers.unstamped.is_empty() {
            return;
        }
        let sent_ns = monotonic_ns();
        let connection = &mut self.connections[place];
        connection.deadline_ns = connection
            .deadline_ns
            .min(sent_ns + self.plan.job.timeout_ns);
        for (slot, possible_ns) in self.buffers.unstamped.drain(..) {
            if let Some(operation) = connection.slots.get_mut(slot as usize) {
                operation.sent_ns = sent_ns;
                operation.phase_start_ns = sent_ns;
                self.records.recorder.sent(operation, possible_ns);
            }
        }
    }
}
