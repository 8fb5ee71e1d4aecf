//! One connection: reads, lets the protocol answer, writes, and waits for what it must wait for.

mod hold;
mod idle;
mod part;
mod secure;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use steelyard_net::poller::Interest;

use crate::counters::tally::ErrorKind;
use crate::event_loop::link::Link;
use crate::event_loop::output::Context;
use crate::event_loop::output::{Pending, Progress, push};
use crate::protocols::{Event, Order};
use crate::protocols::{Flow, Hold, Protocol};
use crate::store::{Message, Outcome, StoreJob};

/// Input read at once, and the most that is kept unread-by-the-protocol of one connection.
pub(crate) const BUFFER_BYTES: usize = 64 * 1024;
/// Spill space kept by an idle connection.
const SPILL_KEPT_BYTES: usize = 4096;
/// Reads of one connection before others get their turn.
const STEPS_PER_TURN: usize = 16;

/// What the event loop must do next for a connection.
#[derive(Debug)]
pub(crate) enum Next {
    /// Nothing until an event.
    Wait,
    /// Come back when the others had their turn.
    Yield,
    /// Call [`Connection::due`] at this time.
    WakeAt(u64),
    /// Give this to the store.
    Store(StoreJob, Box<Message>),
    /// Do this with its data connection.
    Side(Order),
    /// Close it.
    End,
}

#[derive(Debug)]
enum State {
    Serving,
    Held(Hold),
    Storing(StoreJob),
    Stalled,
    /// TLS begins when everything is sent.
    Upgrading,
    Handshaking,
    /// Ends when everything is sent; `linger` if the peer may still be sending.
    Closing,
    Lingering,
}

/// One connection.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an event that came or did not, independent of the others"
)]
pub(crate) struct Connection<S> {
    link: Link,
    /// Its own, zero until it has a place.
    token: u64,
    session: S,
    /// Its data connection, if it has one.
    pub side: Option<u64>,
    /// Input the protocol has not used up.
    spill: Vec<u8>,
    /// The spill may hold whole commands: serve it before reading on.
    fresh: bool,
    pending: Pending,
    state: State,
    readable: bool,
    hangup: bool,
    greeted: bool,
    /// Another connection has woken this one.
    woken: bool,
    deadline_ns: u64,
    active_ns: u64,
    idle_due_ns: u64,
}

impl<S> Connection<S> {
    pub fn new(fd: OwnedFd, session: S) -> Self {
        Self {
            link: Link::plain(fd),
            token: 0,
            session,
            side: None,
            spill: Vec::new(),
            fresh: false,
            pending: Pending::default(),
            state: State::Serving,
            readable: false,
            hangup: false,
            greeted: false,
            woken: false,
            deadline_ns: 0,
            active_ns: 0,
            idle_due_ns: 0,
        }
    }

    pub fn is_storing(&self) -> bool {
        matches!(self.state, State::Storing(_))
    }

    /// Takes note of an event; [`Connection::pump`] acts on it.
    pub fn note(&mut self, flags: Interest) {
        let ended = Interest::RDHUP | Interest::HUP | Interest::ERR;
        self.hangup |= flags.intersects(ended);
        self.readable |= flags.intersects(Interest::IN | ended);
    }

    /// Goes on as far as possible without waiting.
    pub fn pump<P: Protocol<Session = S>>(&mut self, cx: &mut Context<P>) -> Next {
        for _ in 0..STEPS_PER_TURN {
            if let Some(next) = self.step(cx) {
                return next;
            }
        }
        Next::Yield
    }

    fn step<P: Protocol<Session = S>>(&mut self, cx: &mut Context<P>) -> Option<Next> {
        match self.state {
            State::Stalled if self.hangup => return Some(Next::End),
            State::Held(_) | State::Storing(_) | State::Stalled => return Some(Next::Wait),
            State::Lingering => return self.discard(cx),
            State::Handshaking => return self.shake(cx),
            State::Serving | State::Upgrading | State::Closing => {}
        }
        match self.pending.flush(&mut self.link, &mut cx.tally) {
            Progress::Done => {}
            Progress::Blocked => return Some(Next::Wait),
            Progress::Failed => return Some(Next::End),
        }
        match self.state {
            State::Closing => return Some(self.part(cx)),
            State::Upgrading => return self.start_tls(cx),
            _ if self.woken => return self.on_wakeup(cx),
            _ => {}
        }
        if !self.fresh && !self.readable {
            return Some(Next::Wait);
        }
        self.serve_input(cx)
    }

    fn serve_input<P: Protocol<Session = S>>(&mut self, cx: &mut Context<P>) -> Option<Next> {
        let mut buffer = std::mem::take(&mut cx.buffer);
        let kept = self.spill.len();
        buffer[..kept].copy_from_slice(&self.spill);
        let read = if self.fresh {
            Ok(0)
        } else {
            self.receive(&mut buffer[kept..], cx)
        };
        let next = match read {
            Ok(count) => self.process(&buffer[..kept + count], cx),
            Err(next) => Some(next),
        };
        cx.buffer = buffer;
        next
    }

    /// Bytes read, or how to go on without any.
    fn receive<P: Protocol<Session = S>>(
        &mut self,
        room: &mut [u8],
        cx: &mut Context<P>,
    ) -> Result<usize, Next> {
        let length = room.len();
        match self.link.receive(room, &mut cx.tally) {
            Ok(0) => {
                self.link.announce_end(&mut cx.tally);
                if !self.spill.is_empty() || cx.protocol.unfinished(&self.session) {
                    cx.tally.error(ErrorKind::PeerClosedEarly);
                }
                Err(Next::End)
            }
            Ok(count) => {
                // A short read has emptied the socket: what comes later is a new event. Only the
                // peer's end may have been announced already and is read next. TLS gives a record
                // at a time, whatever else has come.
                self.readable = count == length || self.hangup || self.link.is_secure();
                Ok(count)
            }
            Err(Errno::AGAIN) => {
                self.readable = false;
                Err(Next::Wait)
            }
            Err(Errno::INTR) => Err(Next::Yield),
            // Counted where its cause was known.
            Err(Errno::PROTO) => Err(Next::End),
            Err(_) => {
                cx.tally.error(ErrorKind::PeerReset);
                Err(Next::End)
            }
        }
    }

    fn process<P: Protocol<Session = S>>(
        &mut self,
        input: &[u8],
        cx: &mut Context<P>,
    ) -> Option<Next> {
        let mut at = 0;
        let flow = loop {
            let (protocol, mut turn) = cx.turn(self.token);
            let (used, flow) = protocol.consume(&mut self.session, &input[at..], &mut turn);
            at += used;
            if !matches!(flow, Flow::Flush) {
                break flow;
            }
            match push(&mut self.link, &mut self.pending, cx) {
                Progress::Done => {}
                Progress::Blocked => break flow,
                Progress::Failed => return Some(Next::End),
            }
        };
        self.keep(&input[at..]);
        // A protocol that asked to be called again may have more to say without any input.
        self.fresh = match flow {
            Flow::Continue => false,
            Flow::Flush | Flow::Hold(_) => true,
            _ => !self.spill.is_empty(),
        };
        self.follow(flow, cx)
    }

    fn keep(&mut self, rest: &[u8]) {
        self.spill.clear();
        self.spill.extend_from_slice(rest);
        if rest.is_empty() && self.spill.capacity() > SPILL_KEPT_BYTES {
            self.spill = Vec::new();
        }
    }

    /// Does what the protocol asked for; `None` goes on.
    pub fn follow<P>(&mut self, flow: Flow, cx: &mut Context<P>) -> Option<Next> {
        if let Flow::Hold(hold) = flow {
            return Some(self.hold(hold, cx));
        }
        let sent = push(&mut self.link, &mut self.pending, cx);
        match flow {
            // A message that was read whole is stored even if its sender has gone.
            Flow::Store(job, message) => {
                self.state = State::Storing(job);
                return Some(Next::Store(job, message));
            }
            Flow::Side(order) => return Some(Next::Side(order)),
            Flow::Stall => self.state = State::Stalled,
            Flow::Close => self.state = State::Closing,
            Flow::Drop => return Some(Next::End),
            Flow::Reset => {
                self.link.arm_reset();
                return Some(Next::End);
            }
            Flow::StartTls => {
                self.forget_input(cx);
                self.state = State::Upgrading;
            }
            Flow::Continue | Flow::Flush | Flow::Hold(_) => {}
        }
        (sent == Progress::Failed).then_some(Next::End)
    }

    /// Another connection has left word for this one, or a time has come.
    pub fn wake<P: Protocol<Session = S>>(&mut self, cx: &mut Context<P>) -> Next {
        self.woken = true;
        self.pump(cx)
    }

    fn on_wakeup<P: Protocol<Session = S>>(&mut self, cx: &mut Context<P>) -> Option<Next> {
        self.woken = false;
        let (protocol, mut turn) = cx.turn(self.token);
        let flow = protocol.woken(&mut self.session, &mut turn);
        self.fresh |= matches!(flow, Flow::Flush | Flow::Hold(_));
        self.follow(flow, cx)
    }

    /// What became of the data connection.
    pub fn side_event<P: Protocol<Session = S>>(
        &mut self,
        event: Event,
        cx: &mut Context<P>,
    ) -> Next {
        let (protocol, mut turn) = cx.turn(self.token);
        let flow = protocol.side(&mut self.session, event, &mut turn);
        self.fresh |= !self.spill.is_empty();
        self.follow(flow, cx).unwrap_or_else(|| self.pump(cx))
    }

    /// The store is done with this connection's message.
    pub fn stored<P: Protocol<Session = S>>(
        &mut self,
        message: Box<Message>,
        outcome: Outcome,
        cx: &mut Context<P>,
    ) -> Next {
        self.state = State::Serving;
        let (protocol, mut turn) = cx.turn(self.token);
        let flow = protocol.stored(&mut self.session, message, outcome, &mut turn);
        self.follow(flow, cx).unwrap_or_else(|| self.pump(cx))
    }
}

impl<S> AsFd for Connection<S> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.link.as_fd()
    }
}
