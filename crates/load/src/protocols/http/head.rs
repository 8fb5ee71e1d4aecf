//! The head of an HTTP/1.1 reply: status, framing of the body, fate of the connection.

use super::request::MARKER_FIELD;
use crate::fault::ErrorKind;
use crate::payload::Marker;

/// Longer heads are refused.
pub const LONGEST_HEAD: usize = 64 * 1024;

const MOST_HEADERS: usize = 128;

/// What a head says about the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Bytes of the head with its empty line.
    pub length: usize,
    /// `None` for 2xx.
    pub error: Option<ErrorKind>,
    /// 1xx: another head follows.
    pub interim: bool,
    /// How the body ends.
    pub framing: Framing,
    /// The server will close after this reply.
    pub closes: bool,
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// After so many bytes.
    Length(u64),
    /// With the last chunk.
    Chunked,
    /// With the connection.
    Close,
}

/// Parses the head that `bytes` begin with; `Ok(None)` when it is not complete.
///
/// `bodiless` for replies to HEAD.
pub fn parse(bytes: &[u8], bodiless: bool) -> Result<Option<Head>, ErrorKind> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut reply = httparse::Response::new(&mut headers);
    let length = match reply.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() < LONGEST_HEAD => return Ok(None),
        Ok(httparse::Status::Partial) | Err(_) => return Err(ErrorKind::BadProtocol),
    };
    let status = reply.code.ok_or(ErrorKind::BadProtocol)?;
    let fields = Fields::read(reply.headers)?;
    let bodiless = bodiless || status == 204 || status == 304 || status < 200;
    let framing = fields.framing(bodiless);
    Ok(Some(Head {
        length,
        error: error_of(status)?,
        interim: status < 200,
        framing,
        closes: framing == Framing::Close || fields.closes(reply.version == Some(1)),
    }))
}

/// The payload marker in a head that [`parse`] has accepted.
pub fn marker(bytes: &[u8]) -> Option<Marker> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut reply = httparse::Response::new(&mut headers);
    reply.parse(bytes).ok()?;
    let named = |header: &&httparse::Header<'_>| header.name.eq_ignore_ascii_case(MARKER_FIELD);
    reply
        .headers
        .iter()
        .find(named)
        .and_then(|header| Marker::parse(header.value))
}

/// What a final or interim status means; `Err` for one that makes no sense here.
pub fn error_of(status: u16) -> Result<Option<ErrorKind>, ErrorKind> {
    match status {
        // 101 would change the protocol, which was never asked for.
        100 | 102..=299 => Ok(None),
        300..=399 => Ok(Some(ErrorKind::BadStatus3xx)),
        400..=499 => Ok(Some(ErrorKind::BadStatus4xx)),
        500..=599 => Ok(Some(ErrorKind::BadStatus5xx)),
        _ => Err(ErrorKind::BadProtocol),
    }
}

/// The header fields that matter here.
#[derive(Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is one header field or word"
)]
struct Fields {
    length: Option<u64>,
    chunked: bool,
    coded: bool,
    close: bool,
    keep_alive: bool,
}

impl Fields {
    fn read(headers: &[httparse::Header<'_>]) -> Result<Self, ErrorKind> {
        let mut fields = Self::default();
        for header in headers {
            if header.name.eq_ignore_ascii_case("content-length") {
                fields.add_length(header.value)?;
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                fields.coded = true;
                fields.chunked = last_word(header.value).eq_ignore_ascii_case(b"chunked");
            } else if header.name.eq_ignore_ascii_case("connection") {
                fields.close |= has_word(header.value, b"close");
                fields.keep_alive |= has_word(header.value, b"keep-alive");
            }
        }
        Ok(fields)
    }

    fn add_length(&mut self, value: &[u8]) -> Result<(), ErrorKind> {
        let length = value.trim_ascii();
        // `parse` alone would take a sign.
        if length.is_empty() || !length.iter().all(u8::is_ascii_digit) {
            return Err(ErrorKind::BadProtocol);
        }
        let length = std::str::from_utf8(length)
            .ok()
            .and_then(|digits| digits.parse().ok())
            .ok_or(ErrorKind::BadProtocol)?;
        if self.length.is_some_and(|earlier| earlier != length) {
            return Err(ErrorKind::BadProtocol);
        }
        self.length = Some(length);
        Ok(())
    }

    fn framing(&self, bodiless: bool) -> Framing {
        match (bodiless, self.coded, self.length) {
            (true, _, _) => Framing::Length(0),
            (false, true, _) if self.chunked => Framing::Chunked,
            (false, true, _) | (false, false, None) => Framing::Close,
            (false, false, Some(length)) => Framing::Length(length),
        }
    }

    fn closes(&self, http_1_1: bool) -> bool {
        self.close || (!http_1_1 && !self.keep_alive)
    }
}

fn words(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

fn has_word(value: &[u8], word: &[u8]) -> bool {
    words(value).any(|found| found.eq_ignore_ascii_case(word))
}

fn last_word(value: &[u8]) -> &[u8] {
    words(value).last().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Head {
        parse(text.as_bytes(), false).unwrap().unwrap()
    }

    #[test]
    fn a_declared_length_frames_the_body() {
        let head = head("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        assert_eq!(head.framing, Framing::Length(5));
        assert_eq!(head.length, 38);
        assert!(!head.closes && head.error.is_none() && !head.interim);
    }

    #[test]
    fn chunks_win_over_a_length_and_nothing_means_close() {
        let chunked = head(
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        );
        assert_eq!(chunked.framing, Framing::Chunked);
        let open = head("HTTP/1.1 200 OK\r\n\r\n");
        assert_eq!(open.framing, Framing::Close);
        assert!(open.closes);
    }

    #[test]
    fn replies_without_a_body_end_with_their_head() {
        for text in [
            "HTTP/1.1 204 No\r\n\r\n",
            "HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n",
        ] {
            assert_eq!(head(text).framing, Framing::Length(0));
        }
        let to_head = parse(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", true)
            .unwrap()
            .unwrap();
        assert_eq!(to_head.framing, Framing::Length(0));
    }

    #[test]
    fn the_version_decides_whether_the_connection_stays() {
        assert!(head("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").closes);
        assert!(
            !head("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n\r\n").closes
        );
        assert!(
            head("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x, Close\r\n\r\n").closes
        );
    }

    #[test]
    fn statuses_that_are_no_success_have_their_kind() {
        let kind =
            |status: u16| head(&format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n")).error;
        assert_eq!(kind(206), None);
        assert_eq!(kind(301), Some(ErrorKind::BadStatus3xx));
        assert_eq!(kind(404), Some(ErrorKind::BadStatus4xx));
        assert_eq!(kind(503), Some(ErrorKind::BadStatus5xx));
    }

    #[test]
    fn heads_that_contradict_themselves_are_refused() {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 101 Switching\r\n\r\n",
            "HTTP/1.1 999 X\r\n\r\n",
            "220 smtp.example\r\n",
        ] {
            assert_eq!(
                parse(text.as_bytes(), false),
                Err(ErrorKind::BadProtocol),
                "{text}"
            );
        }
    }

    #[test]
    fn a_head_without_end_is_refused() {
        let mut text = b"HTTP/1.1 200 OK\r\nX: ".to_vec();
        assert_eq!(parse(&text, false), Ok(None));
        text.resize(LONGEST_HEAD, b'x');
        assert_eq!(parse(&text, false), Err(ErrorKind::BadProtocol));
    }
}

#[cfg(test)]
#[path = "head_oracle_tests.rs"]
mod oracle;
