//! The HTTP/1.1 server: reads requests, discards bodies, answers from prepared bytes.
//!
//! A connection that begins with the preface of HTTP/2 is handed to `http2`.

mod body;
pub(crate) mod content;
pub(crate) mod head;
pub(crate) mod payload;
mod reason;
mod reply;

use std::os::fd::BorrowedFd;

use crate::counters::tally::Verdict;
use crate::counters::tally::{ErrorKind, Tally};
use crate::error::SinkError;
use crate::options::fault::FaultKind;
use crate::options::{BodyEnd, HttpOptions};
use crate::protocols::http::body::{Chunks, Read};
use crate::protocols::http::content::{Content, Delimiting};
use crate::protocols::http::head::{Framing, Head, HeadReader, Method, Parsed};
use crate::protocols::http::reason::reason;
use crate::protocols::http::reply::{Chunking, Refusal, Replies, Rest};
use crate::protocols::http2::frame::PREFACE;
use crate::protocols::http2::{self, Http2};
use crate::protocols::{Flow, Protocol, Reply, Turn};

/// The HTTP/1.1 server of one event loop.
#[derive(Debug)]
pub(crate) struct Http {
    heads: HeadReader,
    replies: Replies,
    /// What is sent before every good reply; empty without.
    interim: Vec<u8>,
    two: Http2,
    date_unix_s: i64,
}

/// Where a connection is between two bytes.
#[derive(Debug)]
pub(crate) enum Session {
    /// Nothing was read yet.
    Start,
    Head,
    Body(Head, u64),
    Chunked(Head, Chunks),
    /// A large chunked reply is under way.
    Reply(Chunking),
    Two(Box<http2::Session>),
}

impl Http {
    pub fn new(options: &HttpOptions) -> Result<Self, SinkError> {
        if !(200..=599).contains(&options.status) {
            return Err(SinkError::BadOption {
                option: "status",
                problem: format!("{} is not between 200 and 599", options.status),
            });
        }
        let usual = Content::new(
            options.status,
            options.body_bytes,
            match options.body_end {
                BodyEnd::Length => Delimiting::Length,
                BodyEnd::Chunked => Delimiting::Chunked,
                BodyEnd::Close => Delimiting::Close,
            },
        );
        Ok(Self {
            heads: HeadReader::default(),
            replies: Replies::new(usual, options.body_bytes, options.payload),
            interim: options.interim.map_or(Ok(Vec::new()), interim)?,
            two: Http2::new(usual, options),
            date_unix_s: 0,
        })
    }

    /// A head was read: either the request is whole, or its body follows.
    fn begin(&mut self, session: &mut Session, head: Head, rest: &[u8], turn: &mut Turn) -> Flow {
        let waits = head.expects_continue && rest.is_empty();
        match head.framing {
            Framing::Length(0) => return self.answer(session, head, turn),
            Framing::Length(length) => *session = Session::Body(head, length),
            Framing::Chunked => *session = Session::Chunked(head, Chunks::default()),
        }
        if waits {
            turn.out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        Flow::Continue
    }

    /// A request is whole.
    fn answer(&mut self, session: &mut Session, head: Head, turn: &mut Turn) -> Flow {
        *session = Session::Head;
        turn.tally.commands += 1;
        turn.tally.received += 1;
        let verb = head.method.verb();
        let fault = turn.draw(verb);
        if let Some(flow) = Turn::silence(fault) {
            turn.tally.unanswered += 1;
            return flow;
        }
        if let Some(refusal) = Self::refusal(fault, &head) {
            let from = turn.out.len();
            self.replies.refuse(refusal, head.method, turn.out);
            return turn.settle(Reply {
                verb,
                fault,
                from,
                verdict: Some(Verdict::Failed),
                close: refusal.close,
            });
        }
        self.reply(session, &head, fault, turn)
    }

    /// The reply that was asked for.
    fn reply(
        &mut self,
        session: &mut Session,
        head: &Head,
        fault: Option<FaultKind>,
        turn: &mut Turn,
    ) -> Flow {
        if !head.old {
            turn.out.extend_from_slice(&self.interim);
        }
        let from = turn.out.len();
        let (rest, mut close) = self.replies.write(head, turn.out);
        match rest {
            Rest::Nothing => {}
            Rest::Filler(bytes) => *turn.fill = bytes,
            // A damaged reply ends with its damage.
            Rest::Chunks(_) if matches!(fault, Some(FaultKind::Garbage | FaultKind::Short)) => {}
            Rest::Chunks(left) => {
                let done = 0;
                *session = Session::Reply(Chunking { left, done, close });
                close = false;
            }
        }
        turn.settle(Reply {
            verb: head.method.verb(),
            fault,
            from,
            verdict: Some(Verdict::Ok),
            close,
        })
    }

    fn refusal(fault: Option<FaultKind>, head: &Head) -> Option<Refusal> {
        matches!(fault, Some(FaultKind::Reject | FaultKind::Tempfail)).then(|| Refusal {
            status: 503,
            retry: fault == Some(FaultKind::Tempfail),
            close: !head.keep_alive,
        })
    }

    /// What was read is no request: says so and ends the connection.
    fn refuse(&mut self, status: u16, turn: &mut Turn) -> Flow {
        turn.tally.error(match status {
            431 => ErrorKind::HeadTooLarge,
            _ => ErrorKind::BadRequest,
        });
        let refusal = Refusal {
            status,
            retry: false,
            close: true,
        };
        self.replies.refuse(refusal, Method::Other, turn.out);
        Flow::Close
    }
}

/// Whether this is the preface of HTTP/2 or may become it. It starts like no method of HTTP/1.1
/// but `PRI`, which nothing else may use (RFC 9113, 11.6).
fn begins_http2(input: &[u8]) -> bool {
    let length = input.len().min(PREFACE.len());
    input[..length] == PREFACE[..length]
}

fn interim(status: u16) -> Result<Vec<u8>, SinkError> {
    if !(100..200).contains(&status) || status == 101 {
        return Err(SinkError::BadOption {
            option: "interim",
            problem: format!("{status} is not between 100 and 199, or is 101"),
        });
    }
    let reason = reason(status);
    Ok(format!("HTTP/1.1 {status} {reason}\r\nX-Interim: yes\r\n\r\n").into_bytes())
}

/// How to go on when a reply is written.
fn after_reply(flow: Flow) -> Option<Flow> {
    match flow {
        Flow::Continue => None,
        flow => Some(flow),
    }
}

impl Protocol for Http {
    const VERBS: &'static [&'static str] = &[
        "CONNECT", "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "OTHER",
    ];
    const GREETS: bool = false;
    const RINGS: bool = true;
    const ALPN: &'static [&'static [u8]] = &[b"h2", b"http/1.1"];
    type Session = Session;

    fn open(&mut self, _peer: BorrowedFd<'_>) -> Session {
        Session::Start
    }

    fn greet(&mut self, _session: &mut Session, turn: &mut Turn<'_>) -> Flow {
        let fault = turn.draw(0);
        Turn::silence(fault).unwrap_or(Flow::Continue)
    }

    fn step(
        &mut self,
        session: &mut Session,
        input: &[u8],
        turn: &mut Turn<'_>,
    ) -> (usize, Option<Flow>) {
        match session {
            Session::Start if begins_http2(input) => {
                let two = Session::Two(Box::default());
                let known = input.len() >= PREFACE.len();
                if known {
                    *session = two;
                }
                (0, if known { None } else { Some(Flow::Continue) })
            }
            Session::Start | Session::Head => match self.heads.read(input) {
                Parsed::Whole(head, used) => (
                    used,
                    after_reply(self.begin(session, head, &input[used..], turn)),
                ),
                Parsed::Partial => (0, Some(Flow::Continue)),
                Parsed::Bad(status) => (0, Some(self.refuse(status, turn))),
            },
            Session::Body(head, left) => {
                let used = input
                    .len()
                    .min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= used as u64;
                if *left > 0 {
                    return (used, Some(Flow::Continue));
                }
                let head = *head;
                (used, after_reply(self.answer(session, head, turn)))
            }
            Session::Chunked(head, chunks) => match chunks.read(input) {
                Read::More(used) => (used, Some(Flow::Continue)),
                Read::End(used) => {
                    let head = *head;
                    (used, after_reply(self.answer(session, head, turn)))
                }
                Read::Bad => (0, Some(self.refuse(400, turn))),
            },
            Session::Two(two) => {
                let (used, flow) = self.two.consume(two, input, turn);
                (used, Some(flow))
            }
            Session::Reply(chunking) => {
                if !chunking.write(turn.out) {
                    return (0, Some(Flow::Flush));
                }
                let close = chunking.close;
                *session = Session::Head;
                (0, if close { Some(Flow::Close) } else { None })
            }
        }
    }

    fn consume(
        &mut self,
        session: &mut Session,
        input: &[u8],
        turn: &mut Turn<'_>,
    ) -> (usize, Flow) {
        let mut at = 0;
        while at < input.len() || matches!(session, Session::Reply(_) | Session::Two(_)) {
            let (used, flow) = self.step(session, &input[at..], turn);
            at += used;
            match flow {
                None => {}
                Some(flow) => return (at, flow),
            }
            if turn.is_full() {
                return (at, Flow::Flush);
            }
        }
        (at, Flow::Continue)
    }

    fn woken(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Flow {
        match session {
            Session::Two(two) => self.two.release(two, turn),
            _ => Flow::Continue,
        }
    }

    fn unfinished(&self, session: &Session) -> bool {
        match session {
            Session::Two(two) => two.unfinished(),
            Session::Start | Session::Head => false,
            _ => true,
        }
    }

    fn farewell(&self, session: &Session, out: &mut Vec<u8>) {
        if let Session::Two(two) = session {
            http2::farewell(two, out);
        }
    }

    fn left(&mut self, session: &mut Session, tally: &mut Tally) {
        if let Session::Two(two) = session {
            http2::left(two, tally);
        }
    }

    fn tick(&mut self, unix_s: i64) {
        if self.date_unix_s != unix_s {
            self.date_unix_s = unix_s;
            self.replies.date(unix_s);
            self.two.date(unix_s);
        }
    }
}
