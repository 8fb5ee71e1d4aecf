//! The echo server answers each request with as many bytes as its head asks for; the discard server
//! reads and drops.

pub(crate) mod datagrams;

use std::os::fd::BorrowedFd;

use steelyard_flow::exchange::{HEAD_BYTES, Head};

use crate::counters::tally::ErrorKind;
use crate::counters::tally::Verdict;
use crate::options::fault::FaultKind;
use crate::protocols::{Flow, Protocol, Reply, Turn};

/// Largest response; a request for more is refused.
pub(crate) const MAX_RESPONSE_BYTES: u32 = 64 << 20;
/// The one verb of an exchange.
const RR: usize = 1;

/// The echo server of one event loop.
#[derive(Debug)]
pub(crate) struct Echo;

/// Where a connection is between two bytes.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// A request whose head was read, and how much of it is still to come.
    request: Option<(Head, u64)>,
}

/// Writes the start of a response; returns how many bytes of filler must follow.
pub(crate) fn respond(head: Head, out: &mut Vec<u8>) -> u64 {
    let length = head.response_bytes as usize;
    out.extend_from_slice(&head.encode()[..HEAD_BYTES.min(length)]);
    length.saturating_sub(HEAD_BYTES) as u64
}

impl Echo {
    fn answer(head: Head, turn: &mut Turn) -> Flow {
        turn.tally.commands += 1;
        turn.tally.received += 1;
        let fault = turn.draw(RR);
        let refused = matches!(fault, Some(FaultKind::Reject | FaultKind::Tempfail));
        // There is no word for a refusal: the connection ends.
        let silence = if refused {
            Some(FaultKind::Drop)
        } else {
            fault
        };
        if let Some(flow) = Turn::silence(silence) {
            turn.tally.unanswered += 1;
            return flow;
        }
        let from = turn.out.len();
        *turn.fill = respond(head, turn.out);
        turn.settle(Reply {
            verb: RR,
            fault,
            from,
            verdict: Some(Verdict::Ok),
            close: false,
        })
    }

    /// The head at the front of `input`; `Err` if it is none that can be answered.
    pub fn head(input: &[u8]) -> Result<Option<Head>, ()> {
        let Some(bytes) = input.first_chunk::<HEAD_BYTES>() else {
            return Ok(None);
        };
        Head::decode(bytes)
            .filter(|head| head.response_bytes <= MAX_RESPONSE_BYTES)
            .map(Some)
            .ok_or(())
    }
}

impl Protocol for Echo {
    const VERBS: &'static [&'static str] = &["CONNECT", "RR"];
    const GREETS: bool = false;
    type Session = Session;

    fn open(&mut self, _peer: BorrowedFd<'_>) -> Session {
        Session::default()
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
        if session.request.is_none() {
            match Self::head(input) {
                Ok(None) => return (0, Some(Flow::Continue)),
                Ok(Some(head)) => session.request = Some((head, head.request_bytes.into())),
                Err(()) => {
                    turn.tally.error(ErrorKind::BadRequest);
                    return (0, Some(Flow::Close));
                }
            }
        }
        let Some((head, left)) = &mut session.request else {
            return (0, Some(Flow::Continue));
        };
        let used = input
            .len()
            .min(usize::try_from(*left).unwrap_or(usize::MAX));
        *left -= used as u64;
        if *left > 0 {
            return (used, None);
        }
        let head = *head;
        session.request = None;
        (used, Some(Self::answer(head, turn)))
    }

    fn unfinished(&self, session: &Session) -> bool {
        session.request.is_some()
    }

    fn farewell(&self, _session: &Session, _out: &mut Vec<u8>) {}

    fn tick(&mut self, _unix_s: i64) {}
}

/// The discard server of one event loop.
#[derive(Debug)]
pub(crate) struct Discard;

impl Protocol for Discard {
    const VERBS: &'static [&'static str] = &["CONNECT"];
    const GREETS: bool = false;
    type Session = ();

    fn open(&mut self, _peer: BorrowedFd<'_>) {}

    fn greet(&mut self, (): &mut (), turn: &mut Turn<'_>) -> Flow {
        let fault = turn.draw(0);
        Turn::silence(fault).unwrap_or(Flow::Continue)
    }

    fn step(&mut self, (): &mut (), input: &[u8], _turn: &mut Turn<'_>) -> (usize, Option<Flow>) {
        (input.len(), None)
    }

    fn unfinished(&self, (): &()) -> bool {
        false
    }

    fn farewell(&self, (): &(), _out: &mut Vec<u8>) {}

    fn tick(&mut self, _unix_s: i64) {}
}
