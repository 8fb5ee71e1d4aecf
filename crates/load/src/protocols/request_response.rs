//! One request of a size and its response of another, over TCP or UDP.

use steelyard_flow::exchange::{HEAD_BYTES, Head};
use steelyard_net::datagram::LONGEST;
use steelyard_wire::job::RequestResponseOperation;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::protocols::{After, CONNECT, Output, Protocol, Step, Turn};

const RESPONSE: usize = 2;

/// Larger requests would have to be kept whole for every worker.
const MOST_REQUEST: u32 = 16 << 20;

/// One worker's exchanges.
#[derive(Debug, Clone)]
pub struct RequestResponse {
    operation: RequestResponseOperation,
    datagrams: bool,
    /// What follows the head of a request.
    rest: Vec<u8>,
    sequence: u32,
}

/// One connection.
#[derive(Debug, Clone, Copy)]
pub struct Session {
    /// As sent; `None` while nothing is asked.
    asked: Option<[u8; HEAD_BYTES]>,
    /// Bytes of the response so far.
    had: usize,
    connected: bool,
}

impl RequestResponse {
    /// Checks `operation`; with `datagrams` each message is one.
    pub fn new(operation: &RequestResponseOperation, datagrams: bool) -> Result<Self, LoadError> {
        check(operation, datagrams)?;
        Ok(Self {
            operation: operation.clone(),
            datagrams,
            rest: vec![0; operation.request_bytes as usize - HEAD_BYTES],
            sequence: 0,
        })
    }

    fn response_bytes(&self) -> usize {
        self.operation.response_bytes as usize
    }

    fn done(&self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        session.asked = None;
        turn.mark(RESPONSE);
        let after = if self.operation.connect_each {
            After::Close
        } else {
            After::Ready
        };
        Step::Done(Ok(()), after)
    }

    /// A whole datagram.
    fn take_datagram(&self, session: &mut Session, bytes: &[u8], turn: &mut Turn<'_>) -> Step {
        let Some(asked) = session.asked else {
            return Step::More; // a repeat of an answer that was counted
        };
        let room = HEAD_BYTES.min(bytes.len());
        if bytes[..room] != asked[..room] {
            // The answer to an earlier request, or none at all: the right one may still come.
            return match bytes.first_chunk().and_then(Head::decode) {
                Some(_) => Step::More,
                None => Step::Broken(ErrorKind::BadProtocol),
            };
        }
        if bytes.len() != self.response_bytes() {
            return Step::Broken(ErrorKind::BadProtocol);
        }
        self.done(session, turn)
    }

    /// The next bytes of a connection.
    fn take_bytes(&self, session: &mut Session, bytes: &[u8], turn: &mut Turn<'_>) -> Step {
        let Some(asked) = session.asked else {
            return Step::Broken(ErrorKind::BadProtocol);
        };
        let head = HEAD_BYTES.min(self.response_bytes());
        let expected = asked.get(session.had..head).unwrap_or_default();
        let compared = expected.len().min(bytes.len());
        if bytes[..compared] != expected[..compared] {
            return Step::Broken(ErrorKind::BodyMismatch);
        }
        session.had += bytes.len();
        match session.had.cmp(&self.response_bytes()) {
            std::cmp::Ordering::Less => Step::More,
            std::cmp::Ordering::Equal => self.done(session, turn),
            // More than was asked for.
            std::cmp::Ordering::Greater => Step::Broken(ErrorKind::BadProtocol),
        }
    }
}

fn check(operation: &RequestResponseOperation, datagrams: bool) -> Result<(), LoadError> {
    let RequestResponseOperation {
        request_bytes,
        response_bytes,
        connect_each,
    } = operation;
    let most = if datagrams {
        LONGEST as u32
    } else {
        MOST_REQUEST
    };
    if !(HEAD_BYTES as u32..=most).contains(request_bytes) {
        return Err(LoadError::bad_job(
            format!("a request of {request_bytes} bytes is out of range"),
            "at least 16 bytes; at most 16 MiB, or 65507 with UDP",
        ));
    }
    if *response_bytes == 0 || datagrams && *response_bytes > most {
        return Err(LoadError::bad_job(
            format!("a response of {response_bytes} bytes is out of range"),
            "at least 1 byte; at most 65507 with UDP",
        ));
    }
    if datagrams && *connect_each {
        return Err(LoadError::bad_job(
            "there are no connections in UDP",
            "leave connect_each out, or use rr+tcp://",
        ));
    }
    Ok(())
}

impl Protocol for RequestResponse {
    type Session = Session;

    const PHASES: &'static [&'static str] = &["connect", "tls", "response"];

    fn one_shot(&self) -> bool {
        self.operation.connect_each
    }

    fn open(&mut self, _place: usize) -> Session {
        Session {
            asked: None,
            had: 0,
            connected: false,
        }
    }

    fn connected(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        session.connected = true;
        Step::Ready
    }

    fn start(&mut self, session: &mut Session, _slot: usize, out: &mut Output) {
        let head = Head {
            request_bytes: self.operation.request_bytes,
            response_bytes: self.operation.response_bytes,
            sequence: self.sequence,
        }
        .encode();
        self.sequence = self.sequence.wrapping_add(1);
        session.asked = Some(head);
        session.had = 0;
        out.head.extend_from_slice(&head);
        out.tail = 0..self.rest.len();
    }

    fn received(&mut self, session: &mut Session, bytes: &[u8], turn: &mut Turn<'_>) -> Step {
        if self.datagrams {
            self.take_datagram(session, bytes, turn)
        } else {
            self.take_bytes(session, bytes, turn)
        }
    }

    fn ended(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        match session.asked {
            _ if self.datagrams => Step::More, // an empty datagram
            None => Step::Finished,
            Some(_) if session.had == 0 => Step::Broken(ErrorKind::PeerClosedEarly),
            Some(_) => Step::Broken(ErrorKind::ShortRead),
        }
    }

    fn phase(&self, session: &Session) -> usize {
        if session.connected && session.asked.is_some() {
            RESPONSE
        } else {
            CONNECT
        }
    }

    fn shared(&self) -> &[u8] {
        &self.rest
    }

    fn farewell(&self) -> &'static [u8] {
        b""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(response_bytes: u32, datagrams: bool) -> (RequestResponse, Session, Vec<u8>) {
        let operation = RequestResponseOperation {
            request_bytes: 20,
            response_bytes,
            connect_each: false,
        };
        let mut machine = RequestResponse::new(&operation, datagrams).unwrap();
        let mut session = machine.open(0);
        let mut out = Output::default();
        machine.connected(&mut session, &mut Turn::new(0, &mut out));
        machine.start(&mut session, 0, &mut out);
        assert_eq!(out.head.len() + out.tail.len(), 20);
        let mut response = out.head.clone();
        response.resize(response_bytes as usize, 0);
        (machine, session, response)
    }

    fn take(machine: &mut RequestResponse, session: &mut Session, bytes: &[u8]) -> Step {
        let mut out = Output::default();
        machine.received(session, bytes, &mut Turn::new(1, &mut out))
    }

    const DONE: Step = Step::Done(Ok(()), After::Ready);

    #[test]
    fn a_response_is_complete_however_it_is_split() {
        for cut in 1..40 {
            let (mut machine, mut session, response) = machine(40, false);
            assert_eq!(
                take(&mut machine, &mut session, &response[..cut]),
                Step::More
            );
            assert_eq!(take(&mut machine, &mut session, &response[cut..]), DONE);
        }
    }

    #[test]
    fn a_response_shorter_than_a_head_repeats_what_fits() {
        let (mut machine, mut session, response) = machine(3, false);
        assert_eq!(take(&mut machine, &mut session, &response), DONE);
    }

    #[test]
    fn the_answer_to_another_request_is_a_mismatch() {
        let (mut machine, mut session, mut response) = machine(40, false);
        response[12] ^= 1;
        let step = take(&mut machine, &mut session, &response);
        assert_eq!(step, Step::Broken(ErrorKind::BodyMismatch));
    }

    #[test]
    fn more_than_was_asked_for_is_a_bad_protocol() {
        let (mut machine, mut session, mut response) = machine(40, false);
        response.push(0);
        let step = take(&mut machine, &mut session, &response);
        assert_eq!(step, Step::Broken(ErrorKind::BadProtocol));
    }

    #[test]
    fn an_end_inside_a_response_is_a_short_read() {
        let (mut machine, mut session, response) = machine(40, false);
        take(&mut machine, &mut session, &response[..20]);
        let mut out = Output::default();
        let step = machine.ended(&mut session, &mut Turn::new(2, &mut out));
        assert_eq!(step, Step::Broken(ErrorKind::ShortRead));
    }

    #[test]
    fn a_late_datagram_is_passed_over_and_a_strange_one_is_not() {
        let (mut machine, mut session, response) = machine(40, true);
        let mut late = response.clone();
        late[12] = 0xff;
        assert_eq!(take(&mut machine, &mut session, &late), Step::More);
        assert_eq!(take(&mut machine, &mut session, &response), DONE);
        assert_eq!(take(&mut machine, &mut session, &response), Step::More);
        let (mut machine, mut session, _) = super::tests::machine(40, true);
        let step = take(&mut machine, &mut session, &[1; 40]);
        assert_eq!(step, Step::Broken(ErrorKind::BadProtocol));
    }

    #[test]
    fn sizes_that_cannot_be_are_refused() {
        let of = |request_bytes, response_bytes| RequestResponseOperation {
            request_bytes,
            response_bytes,
            connect_each: false,
        };
        for (operation, datagrams) in [
            (of(15, 1), false),
            (of(16, 0), false),
            (of(70_000, 1), true),
            (of(16, 70_000), true),
        ] {
            assert!(RequestResponse::new(&operation, datagrams).is_err());
        }
    }
}
