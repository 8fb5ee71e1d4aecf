//! HTTP/2: requests on streams of one connection, each with its whole reply.
//!
//! Nothing is kept of a reply but what judges it: frames are read where they lie, header blocks
//! without a dynamic table, content is counted. A block that is equal to the last one says the
//! same, so that it is not read again.

pub mod block;
mod frame;
mod receive;
mod request;
mod session;

use steelyard_wire::job::HttpOperation;
use steelyard_wire::result::Payload;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::plan::target::Target;
use crate::protocols::http::pipeline::{Asked, Verifier};
use crate::protocols::{After, CONNECT, LOOK_AGAIN, Output, Protocol, Step, Turn};
use block::Block;
use frame::{HEAD_BYTES, Malformed, RST_STREAM, SETTINGS, WINDOW_UPDATE};
use request::Requests;
use session::{Greeting, LARGEST, USUAL_WINDOW};

pub use session::Session;

const GREETING: usize = 2;
const TTFB: usize = 3;
const BODY: usize = 4;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const HEADER_TABLE_SIZE: u16 = 1;
const ENABLE_PUSH: u16 = 2;
const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_FRAME_SIZE: u16 = 5;

/// Code of a stream that is no longer wanted.
const CANCEL: u32 = 8;

/// Longest header block; longer ones are refused.
const LONGEST_BLOCK: usize = 256 * 1024;

/// One worker's requests.
#[derive(Debug, Clone)]
pub struct Http2 {
    requests: Requests,
    kinds: Vec<String>,
    next: u32,
    slots: usize,
    verifier: Option<Verifier>,
    bodiless: bool,
    strict: bool,
    /// The last header block of a reply, and what it said.
    learned: Vec<u8>,
    known: Block,
    scratch: Vec<u8>,
}

/// What has become of the connection with one frame, or a piece of it.
enum Event {
    Nothing,
    /// Requests may be sent.
    Ready,
    /// The reply in this slot is over.
    Over(usize, Result<(), ErrorKind>),
    /// The peer will say no more that matters.
    Finished,
}

impl Http2 {
    /// The requests of `operation` to `target`; `run` tells the payloads of runs apart.
    pub fn new(operation: &HttpOperation, target: &Target, run: u64) -> Result<Self, LoadError> {
        let requests = Requests::new(operation, target)?;
        let verifier = operation.verify.then(|| Verifier::new(run, &requests.body));
        Ok(Self {
            requests,
            kinds: operation.paths.clone(),
            next: 0,
            slots: operation.requests_at_once as usize,
            verifier,
            bodiless: operation.method == "HEAD",
            strict: operation.strict,
            learned: Vec::new(),
            known: Block::default(),
            scratch: Vec::new(),
        })
    }

    /// The same for another worker.
    pub fn for_worker(&self, worker: u32) -> Self {
        Self {
            verifier: self
                .verifier
                .as_ref()
                .map(|verifier| verifier.for_worker(worker)),
            ..self.clone()
        }
    }

    /// Ends the operation in slot `index`.
    fn over(
        &self,
        session: &mut Session,
        index: usize,
        outcome: Result<(), ErrorKind>,
        turn: &mut Turn<'_>,
    ) -> Step {
        let slot = &session.slots[index];
        turn.slot = index;
        if outcome.is_ok() {
            turn.mark_at(TTFB, slot.first_byte_ns);
            turn.mark(BODY);
        }
        if !session.has_sent_all(index) && outcome != Err(ErrorKind::H2Rst) {
            frame::write_head(4, RST_STREAM, 0, slot.stream, &mut session.owed);
            session.owed.extend_from_slice(&CANCEL.to_be_bytes());
        }
        session.close_stream(index);
        if self.slots > 1 {
            turn.out.head.append(&mut session.owed);
        }
        let leaves = session.goaway.is_some() || session.is_exhausted();
        if leaves && session.busy == 0 {
            return Step::Done(outcome, After::Close);
        }
        if session.goaway.is_some() && session.survivors() == 0 {
            // The others were given up by the server: they fail with the next look.
            session.abandoned = true;
            turn.left = LOOK_AGAIN;
        }
        Step::Done(outcome, After::Ready)
    }
}

impl From<Malformed> for ErrorKind {
    fn from(_: Malformed) -> Self {
        Self::BadProtocol
    }
}

impl From<steelyard_hpack::Malformed> for ErrorKind {
    fn from(_: steelyard_hpack::Malformed) -> Self {
        Self::BadProtocol
    }
}

/// So many bytes of a frame are needed before it can be looked at again.
fn wanted(kept: &[u8]) -> usize {
    match kept {
        [a, b, c, kind, ..] if kept.len() >= HEAD_BYTES => {
            let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
            // Of a DATA frame only the length of its padding can be missing.
            HEAD_BYTES + if *kind == frame::DATA { 1 } else { length }
        }
        _ => HEAD_BYTES,
    }
}

impl Protocol for Http2 {
    type Session = Session;

    const PHASES: &'static [&'static str] = &["connect", "tls", "settings", "ttfb", "body"];

    fn one_shot(&self) -> bool {
        false
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn has_room(&self, session: &Session) -> bool {
        session.busy < session.most_streams && session.goaway.is_none() && !session.is_exhausted()
    }

    fn kinds(&self) -> Vec<String> {
        self.kinds.clone()
    }

    fn kind(&self, session: &Session, slot: usize) -> usize {
        session.slots[slot].asked.kind as usize
    }

    fn alpn(&self) -> &'static [&'static [u8]] {
        &[b"h2"]
    }

    fn open(&mut self, place: usize) -> Session {
        Session::new(place, self.slots)
    }

    fn connected(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        session.greeting = Greeting::default();
        let out = &mut turn.out.head;
        out.extend_from_slice(PREFACE);
        let settings = [
            (HEADER_TABLE_SIZE, 0),
            (ENABLE_PUSH, 0),
            (INITIAL_WINDOW_SIZE, LARGEST),
        ];
        frame::write_head(settings.len() * 6, SETTINGS, 0, 0, out);
        for (name, value) in settings {
            out.extend_from_slice(&name.to_be_bytes());
            out.extend_from_slice(&value.to_be_bytes());
        }
        frame::write_head(4, WINDOW_UPDATE, 0, 0, out);
        out.extend_from_slice(&(LARGEST - USUAL_WINDOW).to_be_bytes());
        Step::More
    }

    fn start(&mut self, session: &mut Session, slot: usize, out: &mut Output) {
        let out = &mut out.head;
        out.append(&mut session.owed);
        let marker = self
            .verifier
            .as_mut()
            .map(|verifier| verifier.mark(session.place));
        let kind = self.next;
        self.next += 1;
        if self.next as usize == self.requests.len() {
            self.next = 0;
        }
        let sequence = marker.map_or(0, |marker| marker.sequence);
        let stream = session.open_stream(slot, Asked { kind, sequence });
        self.requests
            .write(kind as usize, stream, marker.as_ref(), out);
        session.begin_body(slot, &self.requests.body, out);
    }

    fn received(&mut self, session: &mut Session, bytes: &[u8], turn: &mut Turn<'_>) -> Step {
        if session.abandoned {
            return Step::Broken(ErrorKind::H2Goaway);
        }
        let mut rest = bytes;
        loop {
            match self.take(session, &mut rest, turn.now_ns) {
                Ok(Event::Nothing) if rest.is_empty() => {
                    turn.out.head.append(&mut session.owed);
                    return Step::More;
                }
                // A server may wait for this answer before it says anything else.
                Ok(Event::Nothing) if !session.greeting.over && !session.owed.is_empty() => {
                    turn.out.head.append(&mut session.owed);
                    turn.left = rest.len();
                    return Step::More;
                }
                Ok(Event::Nothing) => {}
                Ok(Event::Ready) => {
                    turn.left = rest.len();
                    turn.mark(GREETING);
                    return Step::Ready;
                }
                Ok(Event::Over(slot, outcome)) => {
                    turn.left = rest.len();
                    return self.over(session, slot, outcome, turn);
                }
                Ok(Event::Finished) => return Step::Finished,
                Err(kind) => return Step::Broken(kind),
            }
        }
    }

    fn ended(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        match (session.goaway, session.busy) {
            (Some(_), 1..) => Step::Broken(ErrorKind::H2Goaway),
            (None, 0) if session.greeting.over => Step::Finished,
            (None, _) => Step::Broken(ErrorKind::PeerClosedEarly),
            (Some(_), 0) => Step::Finished,
        }
    }

    fn phase(&self, session: &Session) -> usize {
        let alone = session.slots.first().filter(|_| self.slots == 1);
        match alone {
            _ if !session.greeting.over => GREETING,
            _ if session.busy == 0 => CONNECT,
            Some(slot) if slot.answered && slot.error.is_none() => BODY,
            _ => TTFB,
        }
    }

    fn shared(&self) -> &[u8] {
        &[]
    }

    fn payload(&self) -> Option<Payload> {
        self.verifier.as_ref().map(Verifier::payload)
    }

    fn farewell(&self) -> &'static [u8] {
        // GOAWAY, no error: no stream of the server was processed.
        b"\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    }
}

#[cfg(test)]
mod tests;
