//! Request heads: what of them matters to a server that answers all alike.

use httparse::{EMPTY_HEADER, Error, Request, Status};

use crate::protocols::http::content::{Asked, number};
use crate::protocols::http::payload::{self, Identity};

/// Largest head taken; more is answered with 431.
pub(crate) const MAX_HEAD_BYTES: usize = 8 * 1024;
const MAX_HEADERS: usize = 64;

/// Methods that faults and delays can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get = 1,
    Head,
    Post,
    Put,
    Delete,
    Patch,
    Options,
    Other,
}

impl Method {
    pub fn read(name: &[u8]) -> Self {
        match name {
            b"GET" => Self::Get,
            b"HEAD" => Self::Head,
            b"POST" => Self::Post,
            b"PUT" => Self::Put,
            b"DELETE" => Self::Delete,
            b"PATCH" => Self::Patch,
            b"OPTIONS" => Self::Options,
            _ => Self::Other,
        }
    }

    /// Its place in the protocol's verbs.
    pub fn verb(self) -> usize {
        self as usize
    }
}

/// How the end of a request's body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Length(u64),
    Chunked,
}

/// What of a head decides the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub method: Method,
    /// HTTP/1.0: the reply must say that the connection is kept.
    pub old: bool,
    pub keep_alive: bool,
    pub expects_continue: bool,
    pub framing: Framing,
    pub asked: Asked,
    /// Of the payload the request carries; its reply carries one with the same.
    pub identity: Option<Identity>,
}

/// What the front of the input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// A head and its length.
    Whole(Head, usize),
    /// The start of one.
    Partial,
    /// No request: the status to refuse it with.
    Bad(u16),
}

/// Reads heads, and remembers the last one.
///
/// A head ends with its first empty line, so input that starts with a known whole head *is* that
/// head: comparing bytes is exact, and clients of a benchmark send the same ones again and again.
#[derive(Debug, Default)]
pub(crate) struct HeadReader {
    known: Vec<u8>,
    meaning: Option<Head>,
}

impl HeadReader {
    /// The head at the front of `input`.
    pub fn read(&mut self, input: &[u8]) -> Parsed {
        if let Some(head) = self.meaning
            && input.starts_with(&self.known)
        {
            return Parsed::Whole(head, self.known.len());
        }
        let parsed = parse(input);
        if let Parsed::Whole(head, length) = parsed {
            self.known.clear();
            self.known.extend_from_slice(&input[..length]);
            self.meaning = Some(head);
        }
        parsed
    }
}

/// The head at the front of `input`, without memory.
pub(crate) fn parse(input: &[u8]) -> Parsed {
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let mut request = Request::new(&mut headers);
    match request.parse(input) {
        Ok(Status::Complete(length)) if length > MAX_HEAD_BYTES => Parsed::Bad(431),
        Ok(Status::Complete(length)) => match meaning(&request) {
            Ok(head) => Parsed::Whole(head, length),
            Err(status) => Parsed::Bad(status),
        },
        Ok(Status::Partial) if input.len() >= MAX_HEAD_BYTES => Parsed::Bad(431),
        Ok(Status::Partial) => Parsed::Partial,
        Err(Error::TooManyHeaders) => Parsed::Bad(431),
        Err(_) => Parsed::Bad(400),
    }
}

/// The status to refuse with where two readers could understand the head differently (RFC 9112, 6.3).
fn meaning(request: &Request<'_, '_>) -> Result<Head, u16> {
    let old = request.version == Some(0);
    let mut seen = Seen::default();
    for header in request.headers.iter() {
        seen.take(header.name, header.value)?;
    }
    if !old && seen.hosts != 1 {
        return Err(400);
    }
    if seen.chunked && (seen.length.is_some() || old) {
        return Err(400);
    }
    Ok(Head {
        method: Method::read(request.method.unwrap_or_default().as_bytes()),
        old,
        keep_alive: !seen.close && (!old || seen.keep_alive),
        expects_continue: seen.expects_continue && !old,
        framing: if seen.chunked {
            Framing::Chunked
        } else {
            Framing::Length(seen.length.unwrap_or(0))
        },
        asked: Asked::read(request.path.unwrap_or_default().as_bytes()),
        identity: seen.identity,
    })
}

#[derive(Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is one header seen or not, not a state of a machine"
)]
struct Seen {
    hosts: u32,
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    expects_continue: bool,
    identity: Option<Identity>,
}

impl Seen {
    fn take(&mut self, name: &str, value: &[u8]) -> Result<(), u16> {
        match name.len() {
            4 if name.eq_ignore_ascii_case("host") => self.hosts += 1,
            6 if name.eq_ignore_ascii_case("expect") => {
                self.expects_continue |= value.eq_ignore_ascii_case(b"100-continue");
            }
            10 if name.eq_ignore_ascii_case("connection") => self.connection(value),
            14 if name.eq_ignore_ascii_case("content-length") => self.length(value)?,
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(501);
                }
                self.chunked = true;
            }
            19 if name.eq_ignore_ascii_case(payload::HEADER) => {
                self.identity = Identity::read(value);
            }
            _ => {}
        }
        Ok(())
    }

    fn connection(&mut self, value: &[u8]) {
        for option in value.split(|byte| *byte == b',') {
            let option = option.trim_ascii();
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn length(&mut self, value: &[u8]) -> Result<(), u16> {
        let length = number(value.trim_ascii()).ok_or(400_u16)?;
        if self.length.is_some_and(|earlier| earlier != length) {
            return Err(400);
        }
        self.length = Some(length);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(text: &str) -> Head {
        match parse(text.as_bytes()) {
            Parsed::Whole(head, length) => {
                assert_eq!(length, text.len());
                head
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }

    #[test]
    fn connections_are_kept_as_version_and_header_say() {
        assert!(whole("GET / HTTP/1.1\r\nHost: a\r\n\r\n").keep_alive);
        assert!(!whole("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n").keep_alive);
        assert!(!whole("GET / HTTP/1.0\r\n\r\n").keep_alive);
        assert!(whole("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").keep_alive);
    }

    #[test]
    fn heads_that_two_readers_could_understand_differently_are_refused() {
        for (head, status) in [
            ("Content-Length: 1\r\nContent-Length: 2", 400),
            ("Content-Length: +1", 400),
            ("Content-Length: 99999999999999999999", 400),
            ("Content-Length: 1\r\nTransfer-Encoding: chunked", 400),
            ("Transfer-Encoding: gzip, chunked", 501),
            ("Host: b", 400),
        ] {
            let text = format!("POST / HTTP/1.1\r\nHost: a\r\n{head}\r\n\r\n");
            assert_eq!(parse(text.as_bytes()), Parsed::Bad(status), "{head}");
        }
        assert_eq!(parse(b"GET / HTTP/1.1\r\n\r\n"), Parsed::Bad(400));
    }

    #[test]
    fn a_head_beyond_the_limit_is_too_large_before_its_end_is_seen() {
        let mut long = b"GET / HTTP/1.1\r\nHost: a\r\nX: ".to_vec();
        long.resize(MAX_HEAD_BYTES, b'x');
        assert_eq!(parse(&long), Parsed::Bad(431));
        let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "A: b\r\n".repeat(64));
        assert_eq!(parse(many.as_bytes()), Parsed::Bad(431));
    }

    proptest! {
        /// The remembered head must never change what the parser alone would say.
        #[test]
        fn remembering_the_last_head_changes_nothing(
            heads in proptest::collection::vec(
                prop_oneof![
                    Just("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
                    Just("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET"),
                    Just("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
                    Just("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"),
                    Just("\r\nGET / HTTP/1.0\r\n\r\n"),
                    Just("GET / HTTP/1.1\r\nHo"),
                    Just("nonsense\r\n\r\n"),
                ],
                1..12,
            ),
            cut in 0_usize..40,
        ) {
            let mut reader = HeadReader::default();
            for head in heads {
                let input = &head.as_bytes()[..head.len().saturating_sub(cut)];
                prop_assert_eq!(reader.read(input), parse(input));
                prop_assert_eq!(reader.read(head.as_bytes()), parse(head.as_bytes()));
            }
        }
    }
}
