//! What a protocol reports to the event loop, and what it is given: the border between the two.
//!
//! A protocol is a pure machine over bytes. It reads input, writes replies into [`Turn::out`] and
//! says how to go on with a [`Flow`]; it never touches a socket, a clock or a file.

pub(crate) mod dialogue;
pub(crate) mod echo;
pub(crate) mod ftp;
pub(crate) mod http;
pub(crate) mod http2;
pub(crate) mod imap;
pub(crate) mod pop3;
pub(crate) mod sasl;
pub(crate) mod shape;
pub(crate) mod smtp;

use std::net::IpAddr;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, LazyLock};

use steelyard_net::clock::monotonic_ns;

use crate::counters::tally::{Tally, Verdict};
use crate::options::fault::FaultKind;
use crate::protocols::shape::Shape;
use crate::store::{Message, Outcome, StoreJob};

/// One protocol of the sink; one value for each event loop.
pub(crate) trait Protocol: Sized {
    /// Verbs that delays and faults can name; the first is always `CONNECT`.
    const VERBS: &'static [&'static str];
    /// Whether the server speaks first, so that `CONNECT` has a reply to delay or refuse.
    const GREETS: bool;
    /// Names of the protocol for ALPN, best first; a client that offers others only is refused.
    const ALPN: &'static [&'static [u8]] = &[];
    /// Whether a command of the protocol can begin TLS.
    const STARTS_TLS: bool = false;
    /// Whether times of [`Turn::ring_in`] are asked for.
    const RINGS: bool = false;
    /// What is remembered of one connection.
    type Session;

    /// A new connection.
    fn open(&mut self, peer: BorrowedFd<'_>) -> Self::Session;

    /// The connection is usable (with implicit TLS: agreed on): says what the protocol says
    /// first, if anything.
    fn greet(&mut self, session: &mut Self::Session, turn: &mut Turn<'_>) -> Flow;

    /// Reads one thing from the front of `input`: bytes used, and a flow unless the next thing is
    /// to be read. [`Flow::Continue`] without a byte used: more input is needed.
    fn step(
        &mut self,
        session: &mut Self::Session,
        input: &[u8],
        turn: &mut Turn<'_>,
    ) -> (usize, Option<Flow>);

    /// Reads from the front of `input` and returns how many bytes were used up.
    ///
    /// With [`Flow::Continue`] what is left is the start of something and comes again, longer.
    fn consume(
        &mut self,
        session: &mut Self::Session,
        input: &[u8],
        turn: &mut Turn<'_>,
    ) -> (usize, Flow) {
        let mut at = 0;
        while at < input.len() {
            let (used, flow) = self.step(session, &input[at..], turn);
            at += used;
            match flow {
                None => {}
                Some(Flow::Continue) if used > 0 => {}
                Some(flow) => return (at, flow),
            }
            if turn.is_full() {
                return (at, Flow::Flush);
            }
        }
        (at, Flow::Continue)
    }

    /// TLS was agreed on after [`Flow::StartTls`]: what was said before counts no more.
    fn secured(&mut self, _session: &mut Self::Session) {}

    /// Another connection has left word for this one, through [`Turn::token`], or a time of
    /// [`Turn::ring_in`] has come.
    fn woken(&mut self, _session: &mut Self::Session, _turn: &mut Turn<'_>) -> Flow {
        Flow::Continue
    }

    /// Last words to a peer that was silent for too long, if the protocol has any.
    fn too_idle(&self, _out: &mut Vec<u8>) {}

    /// What became of what was ordered with [`Flow::Side`].
    fn side(&mut self, _session: &mut Self::Session, _event: Event, _turn: &mut Turn<'_>) -> Flow {
        Flow::Continue
    }

    /// What became of a message handed out with [`Flow::Store`]; a protocol that hands out none is
    /// never asked.
    #[expect(clippy::boxed_local, reason = "those that store give the box back")]
    fn stored(
        &mut self,
        _session: &mut Self::Session,
        _message: Box<Message>,
        _outcome: Outcome,
        _turn: &mut Turn<'_>,
    ) -> Flow {
        Flow::Continue
    }

    /// Whether the peer may not leave now without leaving something half done.
    fn unfinished(&self, session: &Self::Session) -> bool;

    /// Last words when the sink stops, if the protocol has any.
    fn farewell(&self, session: &Self::Session, out: &mut Vec<u8>);

    /// The connection is over: counts what was under way.
    fn left(&mut self, _session: &mut Self::Session, _tally: &mut Tally) {}

    /// Called once a turn of the loop with Unix time, for dates in replies.
    fn tick(&mut self, unix_s: i64);
}

/// How the event loop goes on with a connection.
#[derive(Debug)]
pub(crate) enum Flow {
    /// Everything complete in the input is answered.
    Continue,
    /// Send what is there, then come back with the rest of the input.
    Flush,
    /// The reply from `Hold::from` on leaves later.
    Hold(Hold),
    /// Come back through [`Protocol::stored`] when the store is done.
    Store(StoreJob, Box<Message>),
    /// Send what is there, forget the rest of the input, then agree on TLS.
    StartTls,
    /// Send what is there, then do this with the data connection; [`Protocol::side`] gets the result.
    Side(Order),
    /// Never answer again.
    Stall,
    /// Send what is there, then close.
    Close,
    /// Close at once, without what is there.
    Drop,
    /// Reset at once.
    Reset,
}

/// What a protocol wants of the data connection.
#[derive(Debug)]
pub(crate) enum Order {
    /// Listen on a free port of this address; what was there is given up.
    Listen(IpAddr),
    /// Send or receive on the connection that comes to it.
    Transfer(Transfer),
    /// Give up what is there.
    Close,
}

/// What became of an order.
#[derive(Debug)]
pub(crate) enum Event {
    /// On this port; `None` if the system refused.
    Listening(Option<u16>),
    /// The transfer came to its end, with what was received if it was to be kept.
    Done { bytes: u64, kept: Option<Vec<u8>> },
    /// TLS began without resuming a session, which was asked for.
    NotResumed,
    /// The connection broke, or was broken on purpose, before the end.
    Broken,
}

/// One transfer.
#[derive(Debug)]
pub(crate) struct Transfer {
    pub what: What,
    pub secure: bool,
    pub require_reuse: bool,
    /// Break the connection after so many bytes.
    pub cut_at: Option<u64>,
}

/// What is transferred.
#[derive(Debug)]
pub(crate) enum What {
    /// So many bytes made up.
    SendFiller(u64),
    Send(Arc<[u8]>),
    /// Everything until the end; the first so many bytes are kept, or nothing if it is more.
    Receive(usize),
    /// Nothing is ever sent or read.
    Stall,
}

impl What {
    /// Bytes to send.
    pub fn length(&self) -> u64 {
        match self {
            Self::SendFiller(bytes) => *bytes,
            Self::Send(bytes) => bytes.len() as u64,
            Self::Receive(_) | Self::Stall => 0,
        }
    }
}

/// A reply that leaves later than it was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hold {
    /// Where the held reply starts in [`Turn::out`].
    pub from: usize,
    /// From now.
    pub delay_ns: u64,
    /// Byte by byte.
    pub drip: bool,
    /// Close when it is sent.
    pub close: bool,
    /// Agree on TLS when it is sent.
    pub start_tls: bool,
    /// Counted when it leaves.
    pub verdict: Option<Verdict>,
}

/// One reply that was just written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reply {
    pub verb: usize,
    pub fault: Option<FaultKind>,
    /// Where it starts in [`Turn::out`].
    pub from: usize,
    /// Given when it ends an operation.
    pub verdict: Option<Verdict>,
    /// The connection ends with it.
    pub close: bool,
}

/// What a protocol works with for the length of one call.
pub(crate) struct Turn<'a> {
    /// Replies in order; sent in one write.
    pub out: &'a mut Vec<u8>,
    /// Filler bytes to send behind `out`: the rest of a large body.
    pub fill: &'a mut u64,
    pub tally: &'a mut Tally,
    pub shape: &'a Shape,
    /// Names this connection to its event loop, for [`Protocol::woken`].
    pub token: u64,
    /// See [`Turn::ring_in`].
    pub alarms: &'a mut Vec<u64>,
}

/// Replies are sent when they reach this size.
pub(crate) const BATCH_BYTES: usize = 64 * 1024;

impl Turn<'_> {
    /// Whether what is there must be sent before more is answered.
    pub fn is_full(&self) -> bool {
        self.out.len() >= BATCH_BYTES || *self.fill > 0
    }

    /// Asks for [`Protocol::woken`] after `delay_ns`, while everything else goes on; returns when.
    pub fn ring_in(&mut self, delay_ns: u64) -> u64 {
        let at_ns = monotonic_ns() + delay_ns;
        self.alarms.push(at_ns);
        at_ns
    }

    /// The fault that strikes this command, if any; counted.
    pub fn draw(&mut self, verb: usize) -> Option<FaultKind> {
        if !self.shape.active {
            return None;
        }
        let fault = self.shape.draw(verb)?;
        self.tally.faults[fault as usize] += 1;
        Some(fault)
    }

    /// How to go on when the fault is to say nothing.
    pub fn silence(fault: Option<FaultKind>) -> Option<Flow> {
        match fault? {
            FaultKind::Drop => Some(Flow::Drop),
            FaultKind::Reset => Some(Flow::Reset),
            FaultKind::Stall => Some(Flow::Stall),
            _ => None,
        }
    }

    /// Shapes the reply just written (damage, delay) and says how to go on.
    pub fn settle(&mut self, reply: Reply) -> Flow {
        let delay_ns = self.shape.delay_ns(reply.verb);
        self.settle_after(reply, delay_ns)
    }

    /// [`Turn::settle`] with another delay than that of the verb.
    pub fn settle_after(&mut self, reply: Reply, delay_ns: u64) -> Flow {
        if !self.shape.active {
            self.tally.count(reply.verdict);
            return if reply.close {
                Flow::Close
            } else {
                Flow::Continue
            };
        }
        self.damage(reply.fault, reply.from);
        let hold = Hold {
            from: reply.from,
            delay_ns,
            drip: reply.fault == Some(FaultKind::Slow),
            close: reply.close || reply.fault == Some(FaultKind::Short),
            start_tls: false,
            verdict: reply.verdict.map(|verdict| after(reply.fault, verdict)),
        };
        if hold.delay_ns > 0 || hold.drip {
            return Flow::Hold(hold);
        }
        self.tally.count(hold.verdict);
        if hold.close {
            Flow::Close
        } else {
            Flow::Continue
        }
    }

    /// [`Turn::settle`] for a reply after which TLS begins.
    pub fn settle_then_tls(&mut self, reply: Reply) -> Flow {
        match self.settle(reply) {
            Flow::Continue => Flow::StartTls,
            Flow::Hold(hold) => Flow::Hold(Hold {
                start_tls: !hold.close,
                ..hold
            }),
            other => other,
        }
    }

    fn damage(&mut self, fault: Option<FaultKind>, from: usize) {
        match fault {
            Some(FaultKind::Garbage) => {
                self.out.truncate(from);
                *self.fill = 0;
                self.out.extend_from_slice(GARBAGE);
            }
            Some(FaultKind::Short) if *self.fill > 0 => *self.fill /= 2,
            Some(FaultKind::Short) => self.out.truncate(from + (self.out.len() - from) / 2),
            _ => {}
        }
    }
}

/// No reply of any text protocol: no digits, no `+OK`, no `* `, no `HTTP/`.
pub(crate) const GARBAGE: &[u8] = b"\xff\x00garbage\x80\r\n";

fn after(fault: Option<FaultKind>, verdict: Verdict) -> Verdict {
    match fault {
        Some(FaultKind::Garbage | FaultKind::Short) => Verdict::Failed,
        _ => verdict,
    }
}

/// Length of the page of filler, which large bodies are made of.
pub(crate) const PAGE_BYTES: usize = 64 * 1024;
const PATTERN: &[u8] = b"steelyard weighs one thing against another.....................\n";

static PAGE: LazyLock<Vec<u8>> = LazyLock::new(|| PATTERN.repeat(PAGE_BYTES / PATTERN.len()));

/// `length` bytes of a body from its byte `offset` on, in the order in which they are sent; fewer, but
/// at least one, when so many do not lie in one piece.
pub(crate) fn filler(offset: u64, length: usize) -> &'static [u8] {
    let start = (offset % PATTERN.len() as u64) as usize;
    &PAGE[start..start + length.min(PAGE.len() - start)]
}
