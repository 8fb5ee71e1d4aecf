//! The servers of this crate as targets of a fuzzer: one string of bytes in, a panic if a law is
//! broken.
//!
//! Each target plays the same data byte by byte, in pieces whose lengths the input says, and in
//! one piece. What a server answers may not depend on it.

mod player;
#[path = "../script.rs"]
mod script;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use steelyard_hpack::Decoder;

use crate::maildrop::Maildrops;
use crate::options::{BodyEnd, HttpOptions, Protocol, SinkOptions, TlsServerOptions};
use crate::protocols::ftp::{Files, Ftp};
use crate::protocols::http::Http;
use crate::protocols::imap::Imap;
use crate::protocols::pop3::Pop3;
use crate::protocols::smtp::{Smtp, Target};
use crate::store::inbox::Inbox;
use player::{Story, compare, play, play_moving};
use script::Script;

/// The name of a target and its function.
pub type Named = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Named] = &[
    ("sink_http1", http1),
    ("sink_http2", http2),
    ("sink_hpack", hpack),
    ("sink_smtp", smtp),
    ("sink_pop3", pop3),
    ("sink_imap", imap),
    ("sink_ftp", ftp),
];

/// Whether a reply to `Expect` is worth while depends on what has come already.
const GO_ON: &str = "HTTP/1.1 100 Continue\r\n\r\n";

/// Requests of HTTP/1.1.
pub fn http1(input: &[u8]) {
    let Some(script) = Script::read(input) else {
        return;
    };
    if script.data.starts_with(b"PRI") {
        return;
    }
    let options = web(script.options);
    compare(&script, |data, pieces| {
        let mut story = play(Http::new(&options), data, pieces)?;
        let text = String::from_utf8_lossy(&story.out).replace(GO_ON, "");
        story.out = text.into_bytes();
        Some(story)
    });
}

/// Frames of an HTTP/2 client.
pub fn http2(input: &[u8]) {
    let Some(script) = Script::read(input) else {
        return;
    };
    let options = web(script.options);
    let data = [crate::protocols::http2::frame::PREFACE, script.data].concat();
    let script = Script {
        data: &data,
        ..script
    };
    compare(&script, |data, pieces| {
        let story = play(Http::new(&options), data, pieces)?;
        // Bodies that wait for a window may leave in frames of other lengths and in other turns, or
        // not at all when their stream ends before.
        let [commands, received, _, failed] = story.counts;
        Some(Story {
            out: Vec::new(),
            counts: [commands, received, 0, failed],
            ..story
        })
    });
}

fn web(bits: u8) -> HttpOptions {
    let has = |bit: u8| bits & 1 << bit != 0;
    HttpOptions {
        body_bytes: if has(0) { 100_000 } else { 10 },
        body_end: match bits >> 1 & 3 {
            0 | 1 => BodyEnd::Length,
            2 => BodyEnd::Chunked,
            _ => BodyEnd::Close,
        },
        interim: has(3).then_some(103),
        payload: has(4),
        ..HttpOptions::default()
    }
}

/// Header blocks of requests: each begins with its length in a byte, all are for one decoder.
pub fn hpack(input: &[u8]) {
    let read = || {
        let mut decoder = Decoder::default();
        let mut fields = Vec::new();
        let mut rest = input;
        while let Some((length, after)) = rest.split_first() {
            let (block, after) = after.split_at(usize::from(*length).min(after.len()));
            rest = after;
            let version = decoder.version();
            let outcome = decoder.decode(block, &mut |name, value| {
                fields.push((name.to_vec(), value.to_vec()));
            });
            if outcome.is_err() {
                break;
            }
            if decoder.version() == version {
                // It has left the table alone: it says the same once more.
                let mut again = Vec::new();
                let outcome = decoder.decode(block, &mut |name, value| {
                    again.push((name.to_vec(), value.to_vec()));
                });
                assert!(outcome.is_ok() && fields.ends_with(&again));
            }
        }
        fields
    };
    assert_eq!(read(), read());
}

/// Commands of SMTP and LMTP, and messages.
pub fn smtp(input: &[u8]) {
    let Some(script) = Script::read(input) else {
        return;
    };
    let has = |bit: u8| script.options & 1 << bit != 0;
    let protocol = if has(0) {
        Protocol::Lmtp
    } else {
        Protocol::Smtp
    };
    let mut options = mail(protocol, has(1));
    options.smtp.chunking = !has(2);
    options.smtp.pipelining = !has(3);
    options.smtp.max_message_bytes = 200;
    options.smtp.max_recipients = 3;
    let target = match script.options >> 4 & 3 {
        0 => Target::Nowhere,
        1 => Target::Disk,
        _ => Target::Memory,
    };
    compare(&script, |data, pieces| {
        let server = Smtp::new(&options, "mx.example".to_owned(), target, drops(&options)?);
        play(server, data, pieces)
    });
}

/// Commands of POP3.
pub fn pop3(input: &[u8]) {
    let Some(script) = Script::read(input) else {
        return;
    };
    let options = mail(Protocol::Pop3, script.options & 1 != 0);
    compare(&script, |data, pieces| {
        let server = Pop3::new(&options, drops(&options)?);
        play(Ok(server), data, pieces)
    });
}

/// Commands of IMAP, with their literals.
pub fn imap(input: &[u8]) {
    let Some(script) = Script::read(input) else {
        return;
    };
    let mut options = mail(Protocol::Imap, script.options & 1 != 0);
    options.smtp.max_message_bytes = 500;
    compare(&script, |data, pieces| {
        let inbox = Arc::new(Inbox::new().ok()?);
        let server = Imap::new(&options, drops(&options)?, inbox);
        play(Ok(server), data, pieces)
    });
}

/// Commands of FTP; data connections come at once, and what they move is moved at once or never.
pub fn ftp(input: &[u8]) {
    let Some(script) = Script::read(input) else {
        return;
    };
    let has = |bit: u8| script.options & 1 << bit != 0;
    let mut options = mail(Protocol::Ftp, has(0));
    options.tls = has(0).then(|| TlsServerOptions::new(has(1)));
    let moves = !has(2);
    compare(&script, |data, pieces| {
        let server = Ftp::new(&options, Arc::new(Files::new(8)));
        play_moving(server, data, pieces, moves)
    });
}

fn mail(protocol: Protocol, starttls: bool) -> SinkOptions {
    let mut options = SinkOptions::new(protocol, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    options.tls = starttls.then(|| TlsServerOptions::new(false));
    options.mail.mailboxes = 1;
    options.mail.messages = 2;
    options.mail.message_bytes = 300;
    options
}

fn drops(options: &SinkOptions) -> Option<Arc<Maildrops>> {
    Maildrops::new(&options.mail).ok().map(Arc::new)
}

#[cfg(test)]
#[path = "../replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::TARGETS;
    use super::replay::replay;

    #[test]
    fn what_fuzzers_have_found_breaks_no_law_any_more() {
        for (name, target) in TARGETS {
            replay(name, *target);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_a_law(input in proptest::collection::vec(any::<u8>(), 0..200)) {
            for (_, target) in TARGETS {
                target(&input);
            }
        }
    }
}
