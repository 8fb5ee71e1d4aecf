//! HTTP/1.1: one request and its whole reply, several sent ahead if the job asks for it.

mod body;
pub mod head;
pub mod pipeline;
mod receive;
pub mod request;

use steelyard_wire::job::HttpOperation;
use steelyard_wire::result::Payload;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::payload::{Marker, PayloadCheck};
use crate::plan::target::Target;
use crate::protocols::{After, CONNECT, Output, Protocol, Step, Turn};
use body::Body;
use head::Head;
use pipeline::{Asked, Pipeline, Verifier};
use request::Requests;

const TTFB: usize = 2;
const BODY: usize = 3;

/// One worker's requests.
#[derive(Debug, Clone)]
pub struct Http {
    requests: Requests,
    kinds: Vec<String>,
    /// Index of the next path.
    next: u32,
    slots: usize,
    verifier: Option<Verifier>,
    bodiless: bool,
    keep_alive: bool,
    strict: bool,
    learned: Option<Learned>,
}

/// A head that was parsed before. One that is equal byte for byte says the same, so that the
/// parser need not look at it again: that is every reply but the first of each second (`Date`).
#[derive(Debug, Clone)]
struct Learned {
    bytes: Vec<u8>,
    head: Head,
}

/// Status line and start of the body of a reply that fails its operation: on the heap, because
/// there are many connections and few of them fail.
#[derive(Debug, Default)]
struct FailedReply {
    bytes: Vec<u8>,
}

/// One connection.
#[derive(Debug)]
pub struct Session {
    state: State,
    /// When the first byte of the reply arrived.
    first_byte_ns: u64,
    /// Start of a head that arrived in parts.
    spill: Vec<u8>,
    failed_reply: Option<Box<FailedReply>>,
    error: Option<ErrorKind>,
    closes: bool,
    /// The request that is being answered, unless there are slots.
    asked: Asked,
    more: Option<Box<More>>,
}

/// What only connections with slots or checked payloads need.
#[derive(Debug)]
struct More {
    place: usize,
    pipeline: Pipeline,
    check: PayloadCheck,
}

#[derive(Debug)]
enum State {
    Connecting,
    Idle,
    /// The request is out, no byte of the reply is here.
    Awaiting,
    InHead,
    InBody(Body),
    /// The reply is complete; the server has announced that it will close.
    Closing,
}

impl Http {
    /// Serialises the requests of `operation` to `target`; `run` tells the payloads of runs apart.
    pub fn new(operation: &HttpOperation, target: &Target, run: u64) -> Result<Self, LoadError> {
        let requests = Requests::new(operation, target)?;
        let verifier = operation
            .verify
            .then(|| Verifier::new(run, requests.marked_body()));
        Ok(Self {
            requests,
            kinds: operation.paths.clone(),
            next: 0,
            slots: operation.requests_at_once as usize,
            verifier,
            bodiless: operation.method == "HEAD",
            keep_alive: operation.keep_alive,
            strict: operation.strict,
            learned: None,
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

    /// The request that goes out next on a connection of `place`, and its marker.
    fn ask(&mut self, place: usize) -> (Asked, Option<Marker>) {
        let kind = self.next;
        self.next += 1;
        if self.next as usize == self.requests.len() {
            self.next = 0;
        }
        let marker = self.verifier.as_mut().map(|verifier| verifier.mark(place));
        let sequence = marker.map_or(0, |marker| marker.sequence);
        (Asked { kind, sequence }, marker)
    }

    /// Another request for a connection with slots or checked payloads.
    fn start_more(&mut self, session: &mut Session, slot: usize, out: &mut Output) {
        let Some(more) = &mut session.more else {
            return;
        };
        let (asked, marker) = self.ask(more.place);
        if matches!(session.state, State::Idle) {
            session.state = State::Awaiting;
        }
        session.asked = asked;
        if self.slots > 1 {
            more.pipeline.push(slot, asked);
            self.requests
                .append(asked.kind as usize, marker.as_ref(), out);
        } else {
            self.requests.put(asked.kind as usize, marker.as_ref(), out);
        }
    }
}

impl Session {
    /// Whether more answers are due behind the one that is complete.
    fn awaits_another(&self) -> bool {
        !self.closes
            && self
                .more
                .as_ref()
                .is_some_and(|more| more.pipeline.len() > 1)
    }

    /// Whether requests of other slots have no answer yet.
    fn is_waiting(&self) -> bool {
        self.more
            .as_ref()
            .is_some_and(|more| !more.pipeline.is_empty())
    }
}

impl Protocol for Http {
    type Session = Session;

    const PHASES: &'static [&'static str] = &["connect", "tls", "ttfb", "body"];

    fn one_shot(&self) -> bool {
        !self.keep_alive
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn has_room(&self, session: &Session) -> bool {
        !session.closes
    }

    fn kinds(&self) -> Vec<String> {
        self.kinds.clone()
    }

    fn kind(&self, session: &Session, slot: usize) -> usize {
        let asked = match &session.more {
            Some(more) if self.slots > 1 => more.pipeline.asked(slot),
            _ => session.asked,
        };
        asked.kind as usize
    }

    fn open(&mut self, place: usize) -> Session {
        let more = (self.slots > 1 || self.verifier.is_some()).then(|| More {
            place,
            pipeline: Pipeline::new(if self.slots > 1 { self.slots } else { 0 }),
            check: PayloadCheck::body(None),
        });
        Session {
            asked: Asked::default(),
            more: more.map(Box::new),
            state: State::Connecting,
            first_byte_ns: 0,
            spill: Vec::new(),
            failed_reply: None,
            error: None,
            closes: false,
        }
    }

    fn connected(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        session.state = State::Idle;
        Step::Ready
    }

    fn start(&mut self, session: &mut Session, slot: usize, out: &mut Output) {
        session.failed_reply = None;
        if session.more.is_some() {
            return self.start_more(session, slot, out);
        }
        session.state = State::Awaiting;
        let (asked, _) = self.ask(0);
        session.asked = asked;
        self.requests.put(asked.kind as usize, None, out);
    }

    fn received(&mut self, session: &mut Session, bytes: &[u8], turn: &mut Turn<'_>) -> Step {
        if matches!(session.state, State::Awaiting) {
            session.first_byte_ns = turn.now_ns;
            session.state = State::InHead;
        }
        match session.state {
            State::InHead => match self.take_heads(session, bytes) {
                Ok(Some(rest)) => self.take_body(session, rest, turn),
                Ok(None) => Step::More,
                Err(kind) => Step::Broken(kind),
            },
            State::InBody(_) => self.take_body(session, bytes, turn),
            // No one asked for these bytes.
            State::Connecting | State::Idle | State::Awaiting | State::Closing => {
                Step::Broken(ErrorKind::BadProtocol)
            }
        }
    }

    fn ended(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        match session.state {
            State::InBody(Body::UntilClose) => match self.complete(session, turn) {
                Step::Done(outcome, _) => Step::Done(outcome, After::Close),
                step => step,
            },
            State::InBody(_) => Step::Broken(ErrorKind::ShortRead),
            State::Closing if session.is_waiting() => Step::Broken(ErrorKind::PeerClosedEarly),
            State::Idle | State::Closing => Step::Finished,
            State::Connecting | State::Awaiting | State::InHead => {
                Step::Broken(ErrorKind::PeerClosedEarly)
            }
        }
    }

    fn phase(&self, session: &Session) -> usize {
        match session.state {
            State::Connecting | State::Idle => CONNECT,
            State::Awaiting | State::InHead => TTFB,
            // A bad status was known with the head, however the body was split.
            State::InBody(_) if session.error.is_some() => TTFB,
            State::InBody(_) | State::Closing => BODY,
        }
    }

    fn shared(&self) -> &[u8] {
        self.requests.shared()
    }

    fn failed_reply<'a>(&self, session: &'a Session) -> &'a [u8] {
        let kept = session.failed_reply.as_ref();
        kept.map_or(&[], |reply| reply.bytes.as_slice())
    }

    fn payload(&self) -> Option<Payload> {
        self.verifier.as_ref().map(Verifier::payload)
    }

    fn farewell(&self) -> &'static [u8] {
        b""
    }
}

#[cfg(test)]
mod pipeline_tests;
#[cfg(test)]
mod tests;
