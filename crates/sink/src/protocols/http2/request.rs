//! What the fields of a request mean to a server that answers all alike.

use crate::protocols::http::content::Asked;
use crate::protocols::http::content::number;
use crate::protocols::http::head::Method;
use crate::protocols::http::payload::{self, Identity};

/// Largest list of fields taken, counted as RFC 9113 does (6.5.2); more is answered with 431.
pub(crate) const MAX_FIELDS_BYTES: usize = 16 * 1024;

/// What of a request decides its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    pub method: Method,
    pub asked: Asked,
    pub length: Option<u64>,
    pub identity: Option<Identity>,
    pub too_large: bool,
}

/// Fields seen so far.
#[derive(Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is one thing seen or not, not a state of a machine"
)]
pub(crate) struct Reading {
    method: Option<Method>,
    asked: Option<Asked>,
    connects: bool,
    scheme: bool,
    authority: bool,
    regular: bool,
    malformed: bool,
    length: Option<u64>,
    identity: Option<Identity>,
    bytes: usize,
}

impl Reading {
    /// The next field.
    pub fn field(&mut self, name: &[u8], value: &[u8]) {
        self.bytes += name.len() + value.len() + 32;
        if let Some(pseudo) = name.strip_prefix(b":") {
            self.malformed |= self.regular || !self.pseudo(pseudo, value);
            return;
        }
        self.regular = true;
        self.malformed |= name.is_empty() || name.iter().any(u8::is_ascii_uppercase);
        match name {
            b"content-length" => {
                let length = number(value);
                let differs = self.length.is_some() && self.length != length;
                self.malformed |= length.is_none() || differs;
                self.length = length;
            }
            b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding"
            | b"upgrade" => self.malformed = true,
            b"te" => self.malformed |= value != b"trailers",
            _ if name == payload::HEADER.as_bytes() => self.identity = Identity::read(value),
            _ => {}
        }
    }

    /// Whether the pseudo-header field is known and comes for the first time.
    fn pseudo(&mut self, name: &[u8], value: &[u8]) -> bool {
        match name {
            b"method" => {
                self.connects = value == b"CONNECT";
                self.method.replace(Method::read(value)).is_none() && !value.is_empty()
            }
            b"path" => self.asked.replace(Asked::read(value)).is_none() && !value.is_empty(),
            b"scheme" => !std::mem::replace(&mut self.scheme, true),
            b"authority" => !std::mem::replace(&mut self.authority, true),
            _ => false,
        }
    }

    /// The request, `None` if it is malformed (RFC 9113, 8.1.1).
    pub fn finish(self) -> Option<Request> {
        let complete = self.connects || (self.scheme && self.asked.is_some());
        if self.malformed || !complete {
            return None;
        }
        Some(Request {
            method: self.method?,
            asked: self.asked.unwrap_or(Asked::Usual),
            length: self.length,
            identity: self.identity,
            too_large: self.bytes > MAX_FIELDS_BYTES,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: [(&str, &str); 4] = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/bytes/7"),
        ("content-length", "3"),
    ];

    fn read(fields: &[(&str, &str)]) -> Option<Request> {
        let mut reading = Reading::default();
        for (name, value) in fields {
            reading.field(name.as_bytes(), value.as_bytes());
        }
        reading.finish()
    }

    #[test]
    fn method_path_and_length_are_read() {
        let request = read(&GOOD).unwrap();
        assert_eq!(request.method, Method::Post);
        assert_eq!((request.asked, request.length), (Asked::Bytes(7), Some(3)));
    }

    #[test]
    fn a_request_that_lacks_or_repeats_something_is_malformed() {
        for (place, field) in GOOD.iter().take(3).enumerate() {
            let mut fields = GOOD.to_vec();
            fields.remove(place);
            assert_eq!(read(&fields), None, "without {field:?}");
            fields = [&[*field], &GOOD[..]].concat();
            assert_eq!(read(&fields), None, "twice {field:?}");
        }
        for extra in [
            ("Upper", "x"),
            ("connection", "close"),
            ("te", "gzip"),
            ("content-length", "4"),
            (":path", "/"),
            (":status", "200"),
        ] {
            let fields = [&GOOD[..], &[extra]].concat();
            assert_eq!(read(&fields), None, "{extra:?}");
        }
    }

    #[test]
    fn a_list_above_the_limit_is_too_large() {
        let long = "x".repeat(MAX_FIELDS_BYTES);
        let fields = [&GOOD[..], &[("a", long.as_str())]].concat();
        assert!(read(&fields).unwrap().too_large);
    }
}
