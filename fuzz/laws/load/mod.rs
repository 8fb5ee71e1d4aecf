//! The machines of this crate as targets of a fuzzer: one string of bytes in, a panic if a law is
//! broken.
//!
//! Each target plays the same data three times: byte by byte, in pieces whose lengths the input
//! says, and in such pieces whatever they cut. What the machine does may not depend on it.

mod player;
mod readers;
#[path = "../script.rs"]
mod script;

use steelyard_wire::job::{
    FtpAction, FtpOperation, HttpOperation, HttpVersion, ImapCommand, ImapOperation, Login,
    Mechanism, Passive, Pipelining, Pop3Operation, SmtpOperation,
};

use crate::plan::target::Target;
use crate::protocols::account::Places;
use crate::protocols::ftp::Ftp;
use crate::protocols::http::Http;
use crate::protocols::http2::Http2;
use crate::protocols::imap::Imap;
use crate::protocols::pop3::Pop3;
use crate::protocols::smtp::{Dialect, Smtp};
use player::{agree, play};
use script::Script;

/// The name of a target and its function.
pub type Named = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Named] = &[
    ("load_http1", http1),
    ("load_http2", http2),
    ("load_hpack", hpack),
    ("load_smtp", smtp),
    ("load_pop3", pop3),
    ("load_imap", imap),
    ("load_ftp", ftp),
    ("load_delivery", delivery),
];

const PLACES: Places = Places {
    worker: 0,
    first: 0,
    all: 1,
};

/// Replies of HTTP/1.1.
pub fn http1(input: &[u8]) {
    let Some(script) = Script::read(input) else {
        return;
    };
    let has = |bit: u8| script.options & 1 << bit != 0;
    let operation = HttpOperation {
        method: if has(0) { "HEAD" } else { "GET" }.to_owned(),
        strict: has(1),
        verify: has(2) && !has(0),
        requests_at_once: if has(3) { 3 } else { 1 },
        keep_alive: !has(4) || has(3),
        ..HttpOperation::default()
    };
    let target = target("http://127.0.0.1/x");
    play(&script, || Http::new(&operation, &target, 7));
    // A head that is known byte for byte says what the parser would say.
    let strict = HttpOperation {
        strict: true,
        ..operation.clone()
    };
    agree(
        &script,
        Http::new(&operation, &target, 7),
        Http::new(&strict, &target, 7),
    );
}

/// Frames of an HTTP/2 server.
pub fn http2(input: &[u8]) {
    let Some(script) = Script::read(input) else {
        return;
    };
    let has = |bit: u8| script.options & 1 << bit != 0;
    let operation = HttpOperation {
        method: if has(0) { "POST" } else { "GET" }.to_owned(),
        body: if has(0) {
            "x".repeat(100)
        } else {
            String::new()
        },
        strict: has(1),
        verify: has(2),
        requests_at_once: if has(3) { 3 } else { 1 },
        version: HttpVersion::Http2,
        ..HttpOperation::default()
    };
    let target = target("http://127.0.0.1/x");
    play(&script, || Http2::new(&operation, &target, 7));
    let strict = HttpOperation {
        strict: true,
        ..operation.clone()
    };
    agree(
        &script,
        Http2::new(&operation, &target, 7),
        Http2::new(&strict, &target, 7),
    );
}

/// Header blocks of HTTP/2 replies.
pub fn hpack(input: &[u8]) {
    readers::hpack(input);
}

/// Replies of SMTP and LMTP.
pub fn smtp(input: &[u8]) {
    let Some(script) = Script::read(input) else {
        return;
    };
    readers::smtp(&script);
    let has = |bit: u8| script.options & 1 << bit != 0;
    let dialect = if has(0) { Dialect::Lmtp } else { Dialect::Smtp };
    let operation = SmtpOperation {
        pipelining: match script.options >> 1 & 3 {
            0 => Pipelining::None,
            1 => Pipelining::Envelope,
            _ => Pipelining::Message,
        },
        chunking: has(3),
        recipients_per_message: if has(4) { 3 } else { 1 },
        recipients: 3,
        messages_per_connection: if has(5) { 0 } else { 2 },
        login: has(6).then(|| {
            login(if has(7) {
                Mechanism::Login
            } else {
                Mechanism::Plain
            })
        }),
        body_bytes: 10,
        ..SmtpOperation::default()
    };
    play(&script, || Smtp::new(&operation, dialect, 1, 1));
}

/// Replies of POP3.
pub fn pop3(input: &[u8]) {
    let Some(script) = Script::read(input) else {
        return;
    };
    readers::pop3(&script);
    let has = |bit: u8| script.options & 1 << bit != 0;
    let operation = Pop3Operation {
        uidl: has(0),
        delete_share: if has(1) { 1.0 } else { 0.0 },
        pipelining: has(2),
        verify: has(3),
        ..Pop3Operation::new(login(if has(4) {
            Mechanism::Plain
        } else {
            Mechanism::Login
        }))
    };
    play(&script, || Pop3::new(&operation, PLACES, 1));
}

/// Responses of IMAP.
pub fn imap(input: &[u8]) {
    let Some(script) = Script::read(input) else {
        return;
    };
    readers::imap(&script);
    let has = |bit: u8| script.options & 1 << bit != 0;
    let command = ImapCommand::ALL[usize::from(script.options & 15) % ImapCommand::ALL.len()];
    let operation = ImapOperation {
        commands: [(command, 1.0)].into(),
        append_bytes: 10,
        idle_ns: 1000,
        verify: has(4),
        commands_per_connection: if has(5) { 2 } else { 0 },
        ..ImapOperation::new(login(Mechanism::Plain))
    };
    play(&script, || Imap::new(&operation, PLACES, 10_000, 7, 1));
}

/// Replies of FTP.
pub fn ftp(input: &[u8]) {
    let Some(script) = Script::read(input) else {
        return;
    };
    readers::ftp(&script);
    let has = |bit: u8| script.options & 1 << bit != 0;
    let action = match script.options & 3 {
        0 => FtpAction::Login,
        1 => FtpAction::Download,
        2 => FtpAction::Upload,
        _ => FtpAction::List,
    };
    let operation = FtpOperation {
        actions: [(action, 1.0)].into(),
        passive: match script.options >> 2 & 3 {
            0 | 1 => Passive::EpsvThenPasv,
            2 => Passive::Epsv,
            _ => Passive::Pasv,
        },
        folder: "in".to_owned(),
        upload_bytes: 10,
        verify: has(4),
        delete_uploads: has(5),
        trust_pasv_address: has(6),
        ..FtpOperation::default()
    };
    let target = target("ftp://127.0.0.1/file");
    play(&script, || Ftp::new(&operation, &target, 1, 1));
}

/// Answers of a mailbox to a delivery.
pub fn delivery(input: &[u8]) {
    if let Some(script) = Script::read(input) {
        readers::delivery(&script);
    }
}

fn login(mechanism: Mechanism) -> Login {
    Login {
        user: "ann{n}".to_owned(),
        password: "secret".to_owned(),
        users: 1,
        mechanism,
    }
}

fn target(url: &str) -> Target {
    Target::resolve(url, None).expect("an address needs no name server")
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
