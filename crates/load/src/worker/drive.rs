//! The hot path: bytes come in, an operation ends, the next begins.

use std::sync::atomic::Ordering::Relaxed;

use rustix::event::epoll::EventFlags;
use steelyard_net::clock::monotonic_ns;
use steelyard_net::poller::Event;
use steelyard_net::stream::{self, Received};

use super::Worker;
use crate::connection::side::SIDE;
use crate::connection::{NEVER, State, from_token};
use crate::fault::ErrorKind;
use crate::measurement::operation::{Operation, Part};
use crate::protocols::{After, LOOK_AGAIN, Protocol, SideEvent, Step, Turn};
use crate::worker::pace::Pace;

/// What an event tells about the end of what comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Nothing.
    Open,
    /// The peer has said that what it has sent is all.
    Said,
    /// Something is wrong; reading tells what.
    Broken,
}

impl Ending {
    pub(super) fn of(flags: EventFlags) -> Self {
        if flags.intersects(EventFlags::HUP | EventFlags::ERR) {
            Self::Broken
        } else if flags.contains(EventFlags::RDHUP) {
            Self::Said
        } else {
            Self::Open
        }
    }
}

/// What a machine is given.
pub(super) enum Input<'a> {
    Connected,
    Secured,
    Resumed,
    Bytes(&'a [u8]),
    End,
    Side(SideEvent<'a>),
}

impl<P: Protocol> Worker<'_, P> {
    pub(super) fn handle(&mut self, event: Event) {
        let (place, generation) = from_token(event.data.u64());
        let flags = event.flags;
        if P::HAS_SIDE && place & SIDE != 0 {
            return self.handle_side(place & !SIDE, generation, flags);
        }
        let connection = &self.connections[place];
        if connection.generation != generation || connection.socket.is_none() {
            return;
        }
        if connection.state == State::Connecting {
            self.finish_connect(place);
        } else if flags.contains(EventFlags::OUT) && !connection.unsent.is_empty() {
            self.send_unsent(place);
        }
        let ending = Ending::of(flags);
        if ending != Ending::Open || flags.contains(EventFlags::IN) {
            self.read(place, generation, ending);
        }
    }

    /// Reads until nothing is left; after a short read nothing is, but for the end itself.
    ///
    /// What operations of several slots have to say meanwhile leaves in one write at the end.
    fn read(&mut self, place: usize, generation: u32, ending: Ending) {
        if self.slots == 1 {
            return self.read_all(place, generation, ending);
        }
        self.buffers.batching = Some(place);
        self.read_all(place, generation, ending);
        self.buffers.batching = None;
        if self.connections.is_same(place, generation) {
            self.flush(place);
        } else {
            self.buffers.out.clear();
        }
    }

    fn read_all(&mut self, place: usize, generation: u32, ending: Ending) {
        loop {
            let connection = &self.connections[place];
            let Some(socket) = connection
                .socket
                .as_ref()
                .filter(|_| connection.generation == generation)
            else {
                return;
            };
            let secured = connection.tls.is_some();
            match stream::receive(socket, &mut self.buffers.input) {
                Ok(Received::Bytes(count)) => {
                    let now_ns = monotonic_ns();
                    if self.records.part(now_ns) == Part::Window {
                        self.records.recorder.counts.bytes_in += count as u64;
                    }
                    // Out of `self`, so that the machine may look at it.
                    let buffer = std::mem::take(&mut self.buffers.input);
                    if secured {
                        self.receive_secured(place, generation, now_ns, &buffer[..count]);
                    } else {
                        self.feed(place, generation, now_ns, &buffer[..count]);
                    }
                    self.buffers.input = buffer;
                    if count < self.buffers.input.len() && !self.plan.is_over_udp() {
                        match ending {
                            Ending::Open => return,
                            Ending::Said if self.connections.is_same(place, generation) => {
                                return self.end(place, monotonic_ns());
                            }
                            Ending::Said | Ending::Broken => {}
                        }
                    }
                }
                Ok(Received::Nothing) => return,
                Ok(Received::End) => {
                    self.end(place, monotonic_ns());
                    return;
                }
                Err(errno) => {
                    self.lost(place, ErrorKind::from(errno), monotonic_ns());
                    return;
                }
            }
        }
    }

    /// Gives clear text to the machine until it has looked at all of it.
    pub(super) fn feed(&mut self, place: usize, generation: u32, now_ns: u64, bytes: &[u8]) {
        let mut rest = bytes;
        loop {
            let left = self.step(place, now_ns, &Input::Bytes(rest));
            if left == LOOK_AGAIN && self.connections.is_same(place, generation) {
                self.step(place, now_ns, &Input::Bytes(&[]));
                return;
            }
            if left == 0 || left >= rest.len() || !self.connections.is_same(place, generation) {
                return;
            }
            rest = &rest[rest.len() - left..];
        }
    }

    /// The peer has closed. In TLS an end that was not announced may be a truncation.
    fn end(&mut self, place: usize, now_ns: u64) {
        let connection = &self.connections[place];
        let truncated = connection
            .tls
            .as_ref()
            .is_some_and(|tls| !tls.peer_has_closed());
        match connection.state {
            State::Securing => self.lost(place, ErrorKind::PeerClosedEarly, now_ns),
            _ if truncated && !connection.slots.is_empty() => {
                self.lost(place, ErrorKind::PeerClosedEarly, now_ns);
            }
            _ => {
                self.step(place, now_ns, &Input::End);
            }
        }
    }

    /// One step of the machine; returns how many bytes of the input it did not look at.
    pub(super) fn step(&mut self, place: usize, now_ns: u64, input: &Input<'_>) -> usize {
        let connection = &mut self.connections[place];
        let phase = self.protocol.phase(&connection.session);
        if self.buffers.batching.is_none() {
            self.buffers.out.clear();
        }
        let mut turn = Turn::new(now_ns, &mut self.buffers.out);
        let session = &mut connection.session;
        let step = match input {
            Input::Bytes(bytes) => self.protocol.received(session, bytes, &mut turn),
            Input::Connected => self.protocol.connected(session, &mut turn),
            Input::Secured => self.protocol.secured(session, &mut turn),
            Input::Resumed => self.protocol.resumed(session, &mut turn),
            Input::End => self.protocol.ended(session, &mut turn),
            Input::Side(event) => self.protocol.side(session, *event, &mut turn),
        };
        let (slot, left) = (turn.slot, turn.left);
        if let Step::Done(Err(kind), _) | Step::Broken(kind) = &step {
            let said = match (self.protocol.failed_reply(session), input) {
                (b"", Input::Bytes(bytes)) => bytes,
                (reply, _) => reply,
            };
            self.records.recorder.replies.keep(phase, *kind, said);
        }
        for (phase, at_ns) in turn.marks() {
            self.end_phase(place, slot, phase, at_ns);
        }
        let step = if self.slots > 1 || self.connections[place].unsent.is_empty() {
            step
        } else {
            answered_early(step)
        };
        self.apply(place, slot, step, phase, now_ns);
        left
    }

    /// Phases follow each other without gaps, so that they add up to the operation.
    pub(super) fn end_phase(&mut self, place: usize, slot: usize, phase: usize, at_ns: u64) {
        let connection = &mut self.connections[place];
        let (start_ns, part) = match connection.slots.get_mut(slot) {
            Some(operation) => (&mut operation.phase_start_ns, Some(operation.part)),
            None => (&mut connection.phase_start_ns, None),
        };
        let took_ns = at_ns.saturating_sub(std::mem::replace(start_ns, at_ns));
        if part.is_some() && matches!(P::PHASES[phase], "connect" | "tls") {
            self.connections.connected_ns[place] = at_ns;
        }
        self.records.phase(place, part, phase, (at_ns, took_ns));
    }

    fn apply(&mut self, place: usize, slot: usize, step: Step, phase: usize, now_ns: u64) {
        match step {
            Step::More => self.flush_unless_batching(place),
            Step::Pause(wait_ns) => {
                self.connections[place].paused = true;
                self.wake_at(place, now_ns + wait_ns);
                self.flush_unless_batching(place);
            }
            Step::Secure => {
                self.flush(place);
                self.secure(place, now_ns);
            }
            Step::OpenSide if P::HAS_SIDE => self.open_side(place, now_ns),
            Step::SendSide if P::HAS_SIDE => self.start_sending(place, now_ns),
            Step::OpenSide | Step::SendSide => {
                self.lost(place, ErrorKind::BadProtocol, now_ns);
            }
            Step::Ready => self.session_ready(place, now_ns),
            Step::Done(outcome, after) => {
                self.complete(place, slot, outcome, phase, now_ns);
                // One that is busy may still have a phase of the operation to report.
                if after != After::Busy {
                    self.records.closed(place);
                }
                match after {
                    After::Ready => self.ready(place, now_ns),
                    After::Busy => self.go_on_busy(place, now_ns),
                    After::Close => self.retire(place, now_ns),
                }
            }
            // Agreed or not: who still waits for an answer has not got one.
            Step::Finished if !self.connections[place].slots.is_empty() => {
                self.lost(place, ErrorKind::PeerClosedEarly, now_ns);
            }
            Step::Finished => self.retire(place, now_ns),
            Step::Broken(kind) => self.lost(place, kind, now_ns),
        }
    }

    fn session_ready(&mut self, place: usize, now_ns: u64) {
        self.tried(place, true);
        let connection = &mut self.connections[place];
        connection.open = true;
        if connection.slots.is_empty() {
            self.ready(place, now_ns);
            return;
        }
        // The operation began with the connection; its request goes out now.
        self.protocol
            .start(&mut connection.session, 0, &mut self.buffers.out);
        self.flush_unless_batching(place);
        if self.slots > 1 {
            self.ready(place, now_ns);
        }
    }

    fn go_on_busy(&mut self, place: usize, now_ns: u64) {
        let connection = &mut self.connections[place];
        connection.state = State::Talking;
        connection.phase_start_ns = now_ns;
        connection.deadline_ns = now_ns + self.plan.job.timeout_ns;
        self.flush_unless_batching(place);
    }

    fn complete(
        &mut self,
        place: usize,
        slot: usize,
        outcome: Result<(), ErrorKind>,
        phase: usize,
        now_ns: u64,
    ) {
        if P::HAS_SIDE {
            self.sides.close(place);
        }
        let connection = &mut self.connections[place];
        if !connection.useful {
            // Of a protocol whose operation is over before it could be ready.
            self.board.ever_ready.fetch_add(1, Relaxed);
        }
        connection.useful = true;
        connection.failures = 0;
        if let Pace::Closed { think_ns } = self.pacing.pace {
            connection.due_ns = now_ns + think_ns;
        }
        let Some(operation) = connection.slots.take(slot) else {
            return;
        };
        if connection.slots.is_empty() && self.slots > 1 {
            connection.deadline_ns = NEVER;
        }
        self.state.ended(&operation);
        match outcome {
            Ok(()) => {
                let kind = self.protocol.kind(&self.connections[place].session, slot);
                if operation.part == Part::Window {
                    let moved = self.protocol.moved(&self.connections[place].session);
                    self.records.moved.add_moved(moved);
                }
                self.records.ok(place, &operation, kind, now_ns);
                let connected_ns = std::mem::take(&mut self.connections.connected_ns[place]);
                if connected_ns > 0 && operation.part == Part::Window {
                    let took_ns = now_ns.saturating_sub(connected_ns);
                    self.records.recorder.processing.record(took_ns);
                }
            }
            Err(error) => self.fail(place, slot, &operation, (phase, error), now_ns),
        }
    }

    /// The operation that was in `slot` has failed.
    pub(super) fn fail(
        &mut self,
        place: usize,
        slot: usize,
        operation: &Operation,
        (phase, error): (usize, ErrorKind),
        now_ns: u64,
    ) {
        let session = &self.connections[place].session;
        let kind = self.protocol.kind(session, slot);
        let refusal = self.protocol.refusal(session);
        let outcome = (phase, error);
        self.records
            .failed(place, operation, (kind, refusal), outcome, now_ns);
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
