//! Replies, written once and then only copied; the date is renewed once a second.

use std::io::Write;

use crate::date::write_date;
use crate::protocols::filler;
use crate::protocols::http::content::{Content, Delimiting};
use crate::protocols::http::head::{Head, Method};
use crate::protocols::http::payload::{self, Checksums, Identity, Value};
use crate::protocols::http::reason::reason;

/// Bodies up to this size are part of the prepared reply, larger ones are sent page by page.
const INLINE_BYTES: u64 = 16 * 1024;

/// The connection headers a reply can have.
const CONNECTIONS: [&str; 3] = ["", "Connection: keep-alive\r\n", "Connection: close\r\n"];
const KEEP: usize = 0;
const KEEP_EXPLICIT: usize = 1;
const CLOSE: usize = 2;

/// A reply other than the one asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusal {
    pub status: u16,
    /// Say when to come back.
    pub retry: bool,
    pub close: bool,
}

/// What must follow what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    Nothing,
    /// So many bytes of body.
    Filler(u64),
    /// So many bytes of body, in chunks.
    Chunks(u64),
}

/// The prepared replies of one event loop.
#[derive(Debug)]
pub(crate) struct Replies {
    usual: Content,
    body_bytes: u64,
    /// Every reply carries a payload.
    payload: bool,
    prepared: [Prepared; 3],
    date: String,
    checksums: Checksums,
}

#[derive(Debug, Default)]
struct Prepared {
    /// Head, and body if it is small.
    bytes: Vec<u8>,
    head_bytes: usize,
}

impl Replies {
    /// `body_bytes` also for a status that is asked for by path.
    pub fn new(usual: Content, body_bytes: u64, payload: bool) -> Self {
        let mut replies = Self {
            usual,
            body_bytes,
            payload,
            prepared: Default::default(),
            date: String::new(),
            checksums: Checksums::default(),
        };
        replies.date(0);
        replies
    }

    /// Renews the date; called when it has changed.
    pub fn date(&mut self, unix_s: i64) {
        write_date(&mut self.date, unix_s);
        let identity = self.payload.then(Identity::default);
        for connection in [KEEP, KEEP_EXPLICIT, CLOSE] {
            let mut bytes = std::mem::take(&mut self.prepared[connection].bytes);
            bytes.clear();
            let usual = self.usual;
            let head_bytes = self.render(&mut bytes, usual, connection, identity);
            write_small_body(&mut bytes, self.usual);
            self.prepared[connection] = Prepared { bytes, head_bytes };
        }
    }

    /// Writes the reply, or its start, and says what must follow and whether the connection ends.
    pub fn write(&mut self, head: &Head, out: &mut Vec<u8>) -> (Rest, bool) {
        let mut content = self.usual.asked(head.asked, self.body_bytes);
        if head.old {
            content = content.for_old();
        }
        let close = !head.keep_alive || content.delimiting == Delimiting::Close;
        let connection = connection(close, head.old);
        if content == self.usual && head.identity.is_none() {
            let prepared = &self.prepared[connection];
            if head.method == Method::Head {
                out.extend_from_slice(&prepared.bytes[..prepared.head_bytes]);
                return (Rest::Nothing, close);
            }
            out.extend_from_slice(&prepared.bytes);
            return (rest(content), close);
        }
        let identity = head.identity.or(self.payload.then(Identity::default));
        self.render(out, content, connection, identity);
        if head.method == Method::Head {
            return (Rest::Nothing, close);
        }
        write_small_body(out, content);
        (rest(content), close)
    }

    /// Writes the head of a reply; returns its length.
    fn render(
        &mut self,
        out: &mut Vec<u8>,
        content: Content,
        connection: usize,
        identity: Option<Identity>,
    ) -> usize {
        let from = out.len();
        write_head(out, content.status, &self.date, CONNECTIONS[connection]);
        if content.has_body() {
            match content.delimiting {
                Delimiting::Length => put(
                    out,
                    format_args!("Content-Length: {}\r\n", content.body_bytes),
                ),
                Delimiting::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
                Delimiting::Close => {}
            }
            out.extend_from_slice(b"Content-Type: text/plain\r\n");
        }
        if let Some(identity) = identity {
            let value = Value {
                identity,
                length: content.body_bytes,
                checksum: self.checksums.of(content.body_bytes),
            };
            put(out, format_args!("{}: {value}\r\n", payload::HEADER));
        }
        out.extend_from_slice(b"\r\n");
        out.len() - from
    }

    /// Writes a refusal with its reason as body.
    pub fn refuse(&self, refusal: Refusal, method: Method, out: &mut Vec<u8>) {
        let connection = if refusal.close { CLOSE } else { KEEP };
        let reason = reason(refusal.status);
        write_head(out, refusal.status, &self.date, CONNECTIONS[connection]);
        if refusal.retry {
            out.extend_from_slice(b"Retry-After: 1\r\n");
        }
        put(
            out,
            format_args!("Content-Length: {}\r\n", reason.len() + 1),
        );
        out.extend_from_slice(b"Content-Type: text/plain\r\n\r\n");
        if method != Method::Head {
            put(out, format_args!("{reason}\n"));
        }
    }
}

fn connection(close: bool, old: bool) -> usize {
    match (close, old) {
        (true, _) => CLOSE,
        (false, true) => KEEP_EXPLICIT,
        (false, false) => KEEP,
    }
}

/// What [`write_small_body`] has left out.
fn rest(content: Content) -> Rest {
    match content.delimiting {
        _ if content.body_bytes <= INLINE_BYTES => Rest::Nothing,
        Delimiting::Chunked => Rest::Chunks(content.body_bytes),
        Delimiting::Length | Delimiting::Close => Rest::Filler(content.body_bytes),
    }
}

fn write_small_body(out: &mut Vec<u8>, content: Content) {
    if content.body_bytes > INLINE_BYTES {
        return;
    }
    let body = filler(0, content.body_bytes as usize);
    if content.delimiting == Delimiting::Chunked {
        // Three chunks where there is enough for three, so that chunks are met at all.
        for part in body.chunks(body.len().div_ceil(3).max(1)) {
            write_chunk(out, part);
        }
        out.extend_from_slice(LAST_CHUNK);
    } else {
        out.extend_from_slice(body);
    }
}

/// What ends a chunked body.
pub(crate) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// One chunk of a chunked body; `data` may not be empty.
pub(crate) fn write_chunk(out: &mut Vec<u8>, data: &[u8]) {
    put(out, format_args!("{:x}\r\n", data.len()));
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
}

fn write_head(out: &mut Vec<u8>, status: u16, date: &str, connection: &str) {
    let reason = reason(status);
    put(
        out,
        format_args!(
            "HTTP/1.1 {status} {reason}\r\nServer: steelyard\r\nDate: {date} GMT\r\n{connection}"
        ),
    );
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to a Vec cannot fail.
    let _ = out.write_fmt(text);
}

const CHUNK_BYTES: usize = 16 * 1024;
/// Written before the socket is asked again.
const PIECE_BYTES: usize = 64 * 1024;

/// A chunked body under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunking {
    pub left: u64,
    pub done: u64,
    /// The connection ends with the body.
    pub close: bool,
}

impl Chunking {
    /// Writes the next piece; `true` when it was the last.
    pub fn write(&mut self, out: &mut Vec<u8>) -> bool {
        let from = out.len();
        while self.left > 0 && out.len() - from < PIECE_BYTES {
            let wanted = usize::try_from(self.left).unwrap_or(usize::MAX);
            let data = filler(self.done, wanted.min(CHUNK_BYTES));
            write_chunk(out, data);
            self.left -= data.len() as u64;
            self.done += data.len() as u64;
        }
        if self.left == 0 {
            out.extend_from_slice(LAST_CHUNK);
        }
        self.left == 0
    }
}
