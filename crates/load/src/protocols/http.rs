//! HTTP/1.1: one request and its whole reply.

mod body;
mod head;

use steelyard_wire::job::HttpOperation;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::protocols::{After, CONNECT, Output, Protocol, Step, Turn};
use crate::target::Target;
use body::Body;
use head::{Head, LONGEST_HEAD};

const TTFB: usize = 2;
const BODY: usize = 3;

/// One worker's requests.
#[derive(Debug, Clone)]
pub struct Http {
    request: Vec<u8>,
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
    /// Serialises the request of `operation` to `target`.
    pub fn new(operation: &HttpOperation, target: &Target) -> Result<Self, LoadError> {
        check(operation)?;
        Ok(Self {
            request: request(operation, target),
            bodiless: operation.method == "HEAD",
            keep_alive: operation.keep_alive,
            strict: operation.strict,
            learned: None,
        })
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
        session.spill.clear();
        Ok(Some((head, head.length - before)))
    }

    fn take_body(&self, session: &mut Session, bytes: &[u8], turn: &mut Turn<'_>) -> Step {
        let State::InBody(body) = &mut session.state else {
            return Step::Broken(ErrorKind::BadProtocol);
        };
        match body.take(bytes) {
            Ok(None) => Step::More,
            Ok(Some(taken)) if taken == bytes.len() => self.complete(session, turn),
            Ok(Some(_)) | Err(_) => Step::Broken(ErrorKind::BadProtocol),
        }
    }

    fn complete(&self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        let outcome = match session.error {
            Some(kind) => Err(kind),
            None => Ok(()),
        };
        if outcome.is_ok() {
            turn.mark_at(TTFB, session.first_byte_ns);
            turn.mark(BODY);
        }
        if session.closes {
            session.state = State::Closing;
            return Step::Done(outcome, After::Busy);
        }
        session.state = State::Idle;
        let after = if self.keep_alive {
            After::Ready
        } else {
            After::Close
        };
        Step::Done(outcome, after)
    }
}

impl Protocol for Http {
    type Session = Session;

    const PHASES: &'static [&'static str] = &["connect", "tls", "ttfb", "body"];

    fn one_shot(&self) -> bool {
        !self.keep_alive
    }

    fn open(&mut self, _place: usize) -> Session {
        Session {
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

    fn start(&mut self, session: &mut Session, _lane: usize, out: &mut Output) {
        session.state = State::Awaiting;
        out.tail = 0..self.request.len();
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
        &self.request
    }

    fn farewell(&self) -> &'static [u8] {
        b""
    }
}

fn check(operation: &HttpOperation) -> Result<(), LoadError> {
    let token = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b':')
    };
    if !token(&operation.method) {
        return Err(LoadError::bad_job(
            format!("method {:?} is no word", operation.method),
            "for example GET",
        ));
    }
    for (name, value) in &operation.headers {
        if !token(name) || value.contains(['\r', '\n']) {
            return Err(LoadError::bad_job(
                format!("header {name:?} with {value:?} does not fit one line"),
                "write NAME: VALUE",
            ));
        }
    }
    Ok(())
}

fn request(operation: &HttpOperation, target: &Target) -> Vec<u8> {
    let given = |wanted: &str| {
        operation
            .headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(wanted))
    };
    let mut text = format!("{} {} HTTP/1.1\r\n", operation.method, target.path);
    let mut line = |name: &str, value: &str| text.extend([name, ": ", value, "\r\n"]);
    if !given("host") {
        line("Host", &target.authority);
    }
    if !operation.keep_alive && !given("connection") {
        line("Connection", "close");
    }
    let expects_body = matches!(operation.method.as_str(), "POST" | "PUT" | "PATCH");
    if (expects_body || !operation.body.is_empty()) && !given("content-length") {
        line("Content-Length", &operation.body.len().to_string());
    }
    for (name, value) in &operation.headers {
        line(name, value);
    }
    text.push_str("\r\n");
    text.push_str(&operation.body);
    text.into_bytes()
}

#[cfg(test)]
mod tests;
