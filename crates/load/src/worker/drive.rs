//! The hot path: bytes come in, an operation ends, the next begins.

use rustix::event::epoll::EventFlags;
use steelyard_net::clock::monotonic_ns;
use steelyard_net::poller::Event;
use steelyard_net::stream::{self, Received};

use super::{Stage, Worker};
use crate::connection::{State, from_token};
use crate::fault::ErrorKind;
use crate::operation::{Operation, Part};
use crate::pace::Pace;
use crate::protocols::{After, Protocol, Step, Turn};

/// What a machine is told.
enum Input {
    Connected,
    Bytes(usize),
    End,
}

impl<P: Protocol> Worker<'_, P> {
    pub(super) fn handle(&mut self, event: Event) {
        let (place, generation) = from_token(event.data.u64());
        let flags = event.flags;
        let connection = &self.connections[place];
        if connection.generation != generation || connection.socket.is_none() {
            return;
        }
        if connection.state == State::Connecting {
            self.finish_connect(place);
        } else if flags.contains(EventFlags::OUT) && !connection.unsent.is_empty() {
            self.send_unsent(place);
        }
        let ending = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        if ending || flags.contains(EventFlags::IN) {
            self.read(place, generation, ending);
        }
    }

    /// Reads until nothing is left; a short read is the end of it unless the peer has closed.
    fn read(&mut self, place: usize, generation: u32, ending: bool) {
        loop {
            let connection = &self.connections[place];
            let Some(socket) = connection
                .socket
                .as_ref()
                .filter(|_| connection.generation == generation)
            else {
                return;
            };
            match stream::receive(socket, &mut self.buffer) {
                Ok(Received::Bytes(count)) => {
                    let now_ns = monotonic_ns();
                    if self.recorder.window.part(now_ns) == Part::Window {
                        self.recorder.counts.bytes_in += count as u64;
                    }
                    self.step(place, now_ns, &Input::Bytes(count));
                    if count < self.buffer.len() && !ending {
                        return;
                    }
                }
                Ok(Received::Nothing) => return,
                Ok(Received::End) => {
                    self.step(place, monotonic_ns(), &Input::End);
                    return;
                }
                Err(errno) => {
                    self.lost(place, ErrorKind::from(errno), monotonic_ns());
                    return;
                }
            }
        }
    }

    pub(super) fn step_connected(&mut self, place: usize, now_ns: u64) {
        self.step(place, now_ns, &Input::Connected);
    }

    fn step(&mut self, place: usize, now_ns: u64, input: &Input) {
        let connection = &mut self.connections[place];
        let phase = self.protocol.phase(&connection.session);
        self.out.clear();
        let mut turn = Turn::new(now_ns, &mut self.out);
        let session = &mut connection.session;
        let step = match input {
            Input::Connected => self.protocol.connected(session, &mut turn),
            Input::Bytes(count) => {
                self.protocol
                    .received(session, &self.buffer[..*count], &mut turn)
            }
            Input::End => self.protocol.ended(session, &mut turn),
        };
        for (phase, at_ns) in turn.marks() {
            self.end_phase(place, phase, at_ns);
        }
        let step = if self.connections[place].unsent.is_empty() {
            step
        } else {
            answered_early(step)
        };
        self.apply(place, step, phase, now_ns);
    }

    /// Phases follow each other without gaps, so that they add up to the operation.
    pub(super) fn end_phase(&mut self, place: usize, phase: usize, at_ns: u64) {
        let connection = &mut self.connections[place];
        let took_ns = at_ns.saturating_sub(connection.phase_start_ns);
        connection.phase_start_ns = at_ns;
        let operation = connection.operation;
        let part = operation.map_or_else(
            || self.recorder.window.part(at_ns),
            |operation| operation.part,
        );
        self.recorder
            .phase(part, operation.is_some(), phase, took_ns);
    }

    fn apply(&mut self, place: usize, step: Step, phase: usize, now_ns: u64) {
        match step {
            Step::More | Step::Pause(_) | Step::Secure => self.flush(place),
            Step::OpenSide | Step::SendSide => {
                self.lost(place, ErrorKind::BadProtocol, now_ns);
            }
            Step::Ready => self.session_ready(place, now_ns),
            Step::Done(outcome, after) => {
                self.complete(place, outcome, phase, now_ns);
                match after {
                    After::Ready => self.ready(place, now_ns),
                    After::Busy => self.go_on_busy(place, now_ns),
                    After::Close => self.retire(place, now_ns),
                }
            }
            // Agreed or not: who still waits for an answer has not got one.
            Step::Finished if self.connections[place].operation.is_some() => {
                self.lost(place, ErrorKind::PeerClosedEarly, now_ns);
            }
            Step::Finished => self.retire(place, now_ns),
            Step::Broken(kind) => self.lost(place, kind, now_ns),
        }
    }

    fn session_ready(&mut self, place: usize, now_ns: u64) {
        self.tried(place, true);
        if self.connections[place].operation.is_some() {
            // The operation began with the connection; its request goes out now.
            let connection = &mut self.connections[place];
            self.protocol
                .start(&mut connection.session, 0, &mut self.out);
            self.flush(place);
        } else {
            self.ready(place, now_ns);
        }
    }

    fn go_on_busy(&mut self, place: usize, now_ns: u64) {
        let connection = &mut self.connections[place];
        connection.state = State::Talking;
        connection.phase_start_ns = now_ns;
        connection.deadline_ns = now_ns + self.plan.job.timeout_ns;
        self.flush(place);
    }

    fn complete(
        &mut self,
        place: usize,
        outcome: Result<(), ErrorKind>,
        phase: usize,
        now_ns: u64,
    ) {
        let connection = &mut self.connections[place];
        connection.useful = true;
        connection.failures = 0;
        if let Pace::Closed { think_ns } = self.pace {
            connection.due_ns = now_ns + think_ns;
        }
        let Some(operation) = connection.operation.take() else {
            return;
        };
        self.no_longer_inflight(&operation);
        match outcome {
            Ok(()) => self.recorder.ok(&operation, now_ns),
            Err(kind) => self.recorder.failed(&operation, now_ns, phase, kind),
        }
    }

    pub(super) fn no_longer_inflight(&mut self, operation: &Operation) {
        self.inflight -= 1;
        self.inflight_of_window -= u64::from(operation.part == Part::Window);
    }

    /// `place` can take an operation: the one that is due, or none yet.
    pub(super) fn ready(&mut self, place: usize, now_ns: u64) {
        let connection = &mut self.connections[place];
        if connection.socket.is_some() {
            connection.state = State::Idle;
            connection.deadline_ns = u64::MAX;
        }
        match &mut self.pace {
            Pace::Closed { .. } => self.user_ready(place, now_ns),
            Pace::Open(arrivals) => {
                if let Some(intended_ns) = arrivals.waiting.pop_front() {
                    self.start_operation(place, intended_ns, now_ns);
                } else if !std::mem::replace(&mut connection.listed, true) {
                    arrivals.idle.push_back(place as u32);
                }
            }
        }
    }

    pub(super) fn user_ready(&mut self, place: usize, now_ns: u64) {
        if self.stage != Stage::Running {
            return;
        }
        let due_ns = self.connections[place].due_ns;
        if due_ns > now_ns {
            self.wake_at(place, due_ns);
        } else {
            self.start_users_operation(place, now_ns);
        }
    }

    /// A user's next operation; `intended_ns` is when it had thought and its connection was there.
    pub(super) fn start_users_operation(&mut self, place: usize, intended_ns: u64) {
        let part = self.recorder.window.part(intended_ns);
        if part == Part::After || self.quota == 0 {
            return;
        }
        self.quota -= u64::from(part == Part::Window);
        self.recorder.intended(part);
        self.start_operation(place, intended_ns, intended_ns);
    }

    /// Sends an operation on a connection that is ready, or opens the one it begins with.
    ///
    /// `possible_ns` is when it was due and its connection was idle: later is the generator's fault.
    pub(super) fn start_operation(&mut self, place: usize, intended_ns: u64, possible_ns: u64) {
        let connection = &mut self.connections[place];
        let begins_with_connection = connection.socket.is_none();
        if !begins_with_connection {
            self.out.clear();
            self.protocol
                .start(&mut connection.session, 0, &mut self.out);
        }
        let operation = Operation {
            intended_ns,
            sent_ns: monotonic_ns(),
            part: self.recorder.window.part(intended_ns),
        };
        connection.operation = Some(operation);
        self.inflight += 1;
        self.inflight_of_window += u64::from(operation.part == Part::Window);
        self.recorder.sent(&operation, possible_ns);
        if begins_with_connection {
            self.connect(place, operation.sent_ns);
            return;
        }
        connection.state = State::Talking;
        connection.phase_start_ns = operation.sent_ns;
        connection.deadline_ns = operation.sent_ns + self.plan.job.timeout_ns;
        self.flush(place);
    }
}

/// The peer has answered before it had the whole request: nothing more can be said on this
/// connection, for the rest of the request would be taken for it.
fn answered_early(step: Step) -> Step {
    match step {
        Step::Done(outcome, _) => Step::Done(outcome, After::Close),
        Step::Ready => Step::Broken(ErrorKind::BadProtocol),
        step => step,
    }
}
