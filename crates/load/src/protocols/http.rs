//! HTTP/1.1: one request and its whole reply, several sent ahead if the job asks for it.

mod body;
pub mod head;
pub mod pipeline;
pub mod request;

use steelyard_wire::job::HttpOperation;
use steelyard_wire::result::Payload;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::payload::{Marker, PayloadCheck};
use crate::protocols::{After, CONNECT, Output, Protocol, Step, Turn};
use crate::target::Target;
use body::Body;
use head::{Head, LONGEST_HEAD};
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
    lanes: usize,
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

/// One connection.
#[derive(Debug)]
pub struct Session {
    state: State,
    /// When the first byte of the reply arrived.
    first_byte_ns: u64,
    /// Start of a head that arrived in parts.
    spill: Vec<u8>,
    error: Option<ErrorKind>,
    closes: bool,
    /// The request that is being answered, unless there are lanes.
    asked: Asked,
    more: Option<Box<More>>,
}

/// What only connections with lanes or checked payloads need.
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
            lanes: operation.requests_at_once as usize,
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

    /// Another request for a connection with lanes or checked payloads.
    fn start_more(&mut self, session: &mut Session, lane: usize, out: &mut Output) {
        let Some(more) = &mut session.more else {
            return;
        };
        let (asked, marker) = self.ask(more.place);
        if matches!(session.state, State::Idle) {
            session.state = State::Awaiting;
        }
        session.asked = asked;
        if self.lanes > 1 {
            more.pipeline.push(lane, asked);
            self.requests
                .append(asked.kind as usize, marker.as_ref(), out);
        } else {
            self.requests.put(asked.kind as usize, marker.as_ref(), out);
        }
    }

    /// The head that `bytes` begin with, by memory or by parser.
    fn head(&mut self, bytes: &[u8]) -> Result<Option<Head>, ErrorKind> {
        if let Some(learned) = &self.learned
            && bytes.starts_with(&learned.bytes)
        {
            return Ok(Some(learned.head));
        }
        let parsed = head::parse(bytes, self.bodiless)?;
        if let Some(head) = parsed
            && !self.strict
            && !head.interim
        {
            self.learned = Some(Learned {
                bytes: bytes[..head.length].to_vec(),
                head,
            });
        }
        Ok(parsed)
    }

    /// Reads heads until one is final; returns the bytes of `input` that are left for the body.
    fn take_heads<'a>(
        &mut self,
        session: &mut Session,
        mut input: &'a [u8],
    ) -> Result<Option<&'a [u8]>, ErrorKind> {
        loop {
            let Some((head, used)) = self.take_head(session, input)? else {
                return Ok(None);
            };
            input = &input[used..];
            if !head.interim {
                session.error = head.error;
                session.closes = head.closes;
                session.state = State::InBody(Body::new(head.framing));
                return Ok(Some(input));
            }
        }
    }

    /// One head and how many bytes of `input` it used; keeps what is incomplete.
    fn take_head(
        &mut self,
        session: &mut Session,
        input: &[u8],
    ) -> Result<Option<(Head, usize)>, ErrorKind> {
        if session.spill.is_empty() {
            if let Some(head) = self.head(input)? {
                self.expect(session, &input[..head.length]);
                return Ok(Some((head, head.length)));
            }
            session.spill.extend_from_slice(input);
            return Ok(None);
        }
        let before = session.spill.len();
        let room = LONGEST_HEAD.saturating_sub(before).min(input.len());
        session.spill.extend_from_slice(&input[..room]);
        let Some(head) = self.head(&session.spill)? else {
            return Ok(None);
        };
        let mut spill = std::mem::take(&mut session.spill);
        self.expect(session, &spill[..head.length]);
        spill.clear();
        session.spill = spill;
        Ok(Some((head, head.length - before)))
    }

    /// The body after `head` will be checked, if the job asks for it.
    fn expect(&self, session: &mut Session, head: &[u8]) {
        if self.verifier.is_some()
            && let Some(more) = &mut session.more
        {
            more.check = PayloadCheck::body(head::marker(head));
        }
    }

    fn take_body(&mut self, session: &mut Session, bytes: &[u8], turn: &mut Turn<'_>) -> Step {
        let State::InBody(body) = &mut session.state else {
            return Step::Broken(ErrorKind::BadProtocol);
        };
        let taken = match &mut session.more {
            Some(more) if self.verifier.is_some() => {
                body.take_each(bytes, |part| more.check.feed(part))
            }
            _ => body.take(bytes),
        };
        match taken {
            Ok(None) => Step::More,
            Ok(Some(taken)) if taken == bytes.len() => self.complete(session, turn),
            Ok(Some(taken)) if session.awaits_another() => {
                turn.left = bytes.len() - taken;
                self.complete(session, turn)
            }
            Ok(Some(_)) | Err(_) => Step::Broken(ErrorKind::BadProtocol),
        }
    }

    fn complete(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        let mut outcome = match session.error {
            Some(kind) => Err(kind),
            None => Ok(()),
        };
        let mut last = true;
        if let Some(more) = &mut session.more {
            if self.lanes > 1 {
                session.asked = more.pipeline.next();
                turn.lane = more.pipeline.pop();
                last = more.pipeline.is_empty();
            }
            if let (Ok(()), Some(verifier)) = (outcome, &mut self.verifier) {
                outcome = verifier.judge(more.place, session.asked.sequence, &more.check);
            }
        }
        if outcome.is_ok() {
            turn.mark_at(TTFB, session.first_byte_ns);
            turn.mark(BODY);
        }
        if session.closes {
            session.state = State::Closing;
            return Step::Done(outcome, After::Busy);
        }
        session.state = if last { State::Idle } else { State::Awaiting };
        let after = if self.keep_alive {
            After::Ready
        } else {
            After::Close
        };
        Step::Done(outcome, after)
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

    /// Whether requests of other lanes have no answer yet.
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

    fn lanes(&self) -> usize {
        self.lanes
    }

    fn has_room(&self, session: &Session) -> bool {
        !session.closes
    }

    fn kinds(&self) -> Vec<String> {
        self.kinds.clone()
    }

    fn kind(&self, session: &Session, lane: usize) -> usize {
        let asked = match &session.more {
            Some(more) if self.lanes > 1 => more.pipeline.asked(lane),
            _ => session.asked,
        };
        asked.kind as usize
    }

    fn open(&mut self, place: usize) -> Session {
        let more = (self.lanes > 1 || self.verifier.is_some()).then(|| More {
            place,
            pipeline: Pipeline::new(if self.lanes > 1 { self.lanes } else { 0 }),
            check: PayloadCheck::body(None),
        });
        Session {
            asked: Asked::default(),
            more: more.map(Box::new),
            state: State::Connecting,
            first_byte_ns: 0,
            spill: Vec::new(),
            error: None,
            closes: false,
        }
    }

    fn connected(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        session.state = State::Idle;
        Step::Ready
    }

    fn start(&mut self, session: &mut Session, lane: usize, out: &mut Output) {
        if session.more.is_some() {
            return self.start_more(session, lane, out);
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
            // Nobody asked for these bytes.
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
