//! Replies, written once and then only copied; the date is renewed once a second.

use std::io::Write;

use crate::date::write_date;
use crate::http::head::{Head, Method};
use crate::output::filler;

/// Bodies up to this size are part of the prepared reply, larger ones are sent page by page.
const INLINE_BYTES: u64 = 16 * 1024;

/// The connection headers a reply can have.
const CONNECTIONS: [&str; 3] = ["", "Connection: keep-alive\r\n", "Connection: close\r\n"];
const KEEP: usize = 0;
const KEEP_TOLD: usize = 1;
const CLOSE: usize = 2;

/// A reply other than the one asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusal {
    pub status: u16,
    /// Say when to come back.
    pub retry: bool,
    pub close: bool,
}

/// The prepared replies of one event loop.
#[derive(Debug)]
pub(crate) struct Replies {
    status: u16,
    body_bytes: u64,
    prepared: [Prepared; 3],
    date: String,
    date_unix_s: Option<i64>,
}

#[derive(Debug, Default)]
struct Prepared {
    /// Head, and body if it is small.
    bytes: Vec<u8>,
    head_bytes: usize,
}

impl Replies {
    pub fn new(status: u16, body_bytes: u64) -> Self {
        let bodiless = matches!(status, 204 | 304);
        let mut replies = Self {
            status,
            body_bytes: if bodiless { 0 } else { body_bytes },
            prepared: Default::default(),
            date: String::new(),
            date_unix_s: None,
        };
        replies.date(0);
        replies
    }

    /// Renews the date, if it has changed.
    pub fn date(&mut self, unix_s: i64) {
        if self.date_unix_s == Some(unix_s) {
            return;
        }
        self.date_unix_s = Some(unix_s);
        write_date(&mut self.date, unix_s);
        for (prepared, connection) in self.prepared.iter_mut().zip(CONNECTIONS) {
            let bytes = &mut prepared.bytes;
            bytes.clear();
            write_head(bytes, self.status, &self.date, connection);
            if !matches!(self.status, 204 | 304) {
                put(
                    bytes,
                    format_args!("Content-Length: {}\r\n", self.body_bytes),
                );
                bytes.extend_from_slice(b"Content-Type: text/plain\r\n");
            }
            bytes.extend_from_slice(b"\r\n");
            prepared.head_bytes = bytes.len();
            if self.body_bytes <= INLINE_BYTES {
                bytes.extend_from_slice(filler(self.body_bytes as usize));
            }
        }
    }

    /// Writes the reply; returns how much of its body must follow as filler.
    pub fn write(&self, head: &Head, out: &mut Vec<u8>) -> u64 {
        let prepared = &self.prepared[connection(head)];
        if head.method == Method::Head {
            out.extend_from_slice(&prepared.bytes[..prepared.head_bytes]);
            return 0;
        }
        out.extend_from_slice(&prepared.bytes);
        if self.body_bytes <= INLINE_BYTES {
            0
        } else {
            self.body_bytes
        }
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

fn connection(head: &Head) -> usize {
    match (head.keep_alive, head.old) {
        (false, _) => CLOSE,
        (true, true) => KEEP_TOLD,
        (true, false) => KEEP,
    }
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

/// Reasons of statuses people ask for; others have their class's (RFC 9110, 15).
const REASONS: [(u16, &str); 19] = [
    (200, "OK"),
    (201, "Created"),
    (202, "Accepted"),
    (204, "No Content"),
    (301, "Moved Permanently"),
    (302, "Found"),
    (304, "Not Modified"),
    (400, "Bad Request"),
    (401, "Unauthorized"),
    (403, "Forbidden"),
    (404, "Not Found"),
    (408, "Request Timeout"),
    (429, "Too Many Requests"),
    (431, "Request Header Fields Too Large"),
    (500, "Internal Server Error"),
    (501, "Not Implemented"),
    (502, "Bad Gateway"),
    (503, "Service Unavailable"),
    (504, "Gateway Timeout"),
];

fn reason(status: u16) -> &'static str {
    match REASONS.iter().find(|(known, _)| *known == status) {
        Some((_, reason)) => reason,
        None => match status / 100 {
            2 => "Successful",
            3 => "Redirection",
            4 => "Client Error",
            _ => "Server Error",
        },
    }
}
