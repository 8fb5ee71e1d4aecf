//! Replies as frames: header blocks without memory, prepared once a second for the usual reply.

use steelyard_hpack::write;

use crate::date::write_date;
use crate::protocols::filler;
use crate::protocols::http::content::{Asked, Content, Delimiting};
use crate::protocols::http::head::Method;
use crate::protocols::http::payload::{self, Checksums, Identity, Value};
use crate::protocols::http2::frame::{self, MAX_PAYLOAD_BYTES, flag, kind};
use crate::protocols::http2::request::Request;

/// Names of the fixed table (RFC 7541, Appendix A).
mod name {
    pub const CONTENT_LENGTH: u8 = 28;
    pub const CONTENT_TYPE: u8 = 31;
    pub const DATE: u8 = 33;
    pub const RETRY_AFTER: u8 = 53;
    pub const SERVER: u8 = 54;
}

/// The replies of one event loop.
#[derive(Debug)]
pub(crate) struct Replies {
    usual: Content,
    body_bytes: u64,
    payload: bool,
    interim: Option<u16>,
    /// The usual reply for stream 0: its HEADERS, then its DATA if that is one frame.
    prepared: Vec<u8>,
    headers_bytes: usize,
    date: String,
    checksums: Checksums,
}

/// How the header block of a reply is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Begun {
    /// Bytes of body that must follow; without any the stream is at its end.
    pub body_bytes: u64,
}

impl Replies {
    pub fn new(usual: Content, body_bytes: u64, payload: bool, interim: Option<u16>) -> Self {
        let mut replies = Self {
            usual,
            body_bytes,
            payload,
            interim,
            prepared: Vec::new(),
            headers_bytes: 0,
            date: String::new(),
            checksums: Checksums::default(),
        };
        replies.date(0);
        replies
    }

    /// Renews the date; called when it has changed.
    pub fn date(&mut self, unix_s: i64) {
        write_date(&mut self.date, unix_s);
        self.date.push_str(" GMT");
        let mut out = std::mem::take(&mut self.prepared);
        out.clear();
        let identity = self.payload.then(Identity::default);
        let body = self.usual.body_bytes;
        self.headers(&mut out, 0, self.usual, identity, body == 0);
        self.headers_bytes = out.len();
        if body > 0 && body <= MAX_PAYLOAD_BYTES as u64 {
            let data = filler(0, body as usize);
            frame::write(&mut out, kind::DATA, flag::END_STREAM, 0, data);
        }
        self.prepared = out;
    }

    /// Writes the whole usual reply if it is one that `window` bytes of body suffice for.
    pub fn write_whole(
        &self,
        stream: u32,
        request: &Request,
        window: i64,
        out: &mut Vec<u8>,
    ) -> Option<i64> {
        let body = self.usual.body_bytes;
        let usual = request.asked == Asked::Usual
            && request.identity.is_none()
            && request.method != Method::Head
            && self.interim.is_none();
        if !usual || body > MAX_PAYLOAD_BYTES as u64 || body.cast_signed() > window {
            return None;
        }
        let from = out.len();
        out.extend_from_slice(&self.prepared);
        frame::set_stream(out, from, stream);
        if body > 0 {
            frame::set_stream(out, from + self.headers_bytes, stream);
        }
        Some(body.cast_signed())
    }

    /// Writes everything of a reply but its body.
    pub fn begin(&mut self, stream: u32, request: &Request, out: &mut Vec<u8>) -> Begun {
        let content = self.usual.asked(request.asked, self.body_bytes);
        let identity = request.identity.or(self.payload.then(Identity::default));
        let body_bytes = match request.method {
            Method::Head => 0,
            _ => content.body_bytes,
        };
        self.headers(out, stream, content, identity, body_bytes == 0);
        Begun { body_bytes }
    }

    /// Writes the interim reply, if there is one.
    pub fn interim(&self, stream: u32, out: &mut Vec<u8>) {
        if let Some(status) = self.interim {
            let from = open(out, stream, 0);
            write::status(out, status);
            write::named_field(out, b"x-interim", b"yes");
            frame::set_length(out, from);
        }
    }

    /// Writes a reply without a body.
    pub fn refuse(&self, stream: u32, status: u16, retry: bool, out: &mut Vec<u8>) {
        let from = open(out, stream, flag::END_STREAM);
        write::status(out, status);
        self.usual_fields(out);
        write::field(out, name::CONTENT_LENGTH, b"0");
        if retry {
            write::field(out, name::RETRY_AFTER, b"1");
        }
        frame::set_length(out, from);
    }

    fn headers(
        &mut self,
        out: &mut Vec<u8>,
        stream: u32,
        content: Content,
        identity: Option<Identity>,
        ends: bool,
    ) {
        let from = open(out, stream, if ends { flag::END_STREAM } else { 0 });
        write::status(out, content.status);
        self.usual_fields(out);
        if content.has_body() {
            if content.delimiting == Delimiting::Length {
                let length = content.body_bytes.to_string();
                write::field(out, name::CONTENT_LENGTH, length.as_bytes());
            }
            write::field(out, name::CONTENT_TYPE, b"text/plain");
        }
        if let Some(identity) = identity {
            let value = Value {
                identity,
                length: content.body_bytes,
                checksum: self.checksums.of(content.body_bytes),
            };
            let value = value.to_string();
            write::named_field(out, payload::HEADER.as_bytes(), value.as_bytes());
        }
        frame::set_length(out, from);
    }

    fn usual_fields(&self, out: &mut Vec<u8>) {
        write::field(out, name::SERVER, b"steelyard");
        write::field(out, name::DATE, self.date.as_bytes());
    }
}

/// Starts a HEADERS frame; its length is set later.
fn open(out: &mut Vec<u8>, stream: u32, flags: u8) -> usize {
    let from = out.len();
    frame::write(out, kind::HEADERS, flags | flag::END_HEADERS, stream, &[]);
    from
}
