//! LMTP: one reply for each recipient.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use steelyard_sink::{Fault, Listen, Protocol};

use crate::peer::Peer;
use crate::running::{Running, options, start};

const MESSAGE: &str = "Subject: x\r\n\r\nhello\r\n.\r\n";

fn lmtp(faults: &[&str]) -> Running {
    let mut options = options(Protocol::Lmtp);
    options.faults = faults
        .iter()
        .map(|text| Fault::parse(text).unwrap())
        .collect();
    start(options)
}

fn ready(sink: &Running, recipients: &[&str]) -> Peer {
    let mut peer = Peer::greeted(sink.address);
    peer.expect("LHLO a", "250-");
    peer.expect("MAIL FROM:<a@b>", "250 ");
    for recipient in recipients {
        peer.expect(&format!("RCPT TO:<{recipient}@b>"), "250 ");
    }
    peer.expect("DATA", "354 ");
    peer.send(MESSAGE);
    peer
}

#[test]
fn each_accepted_recipient_gets_a_reply_even_a_repeated_one() {
    let sink = lmtp(&[]);
    let mut peer = ready(&sink, &["a", "b", "a"]);
    for _ in 0..3 {
        assert!(peer.reply().starts_with("250 2.0.0 "));
    }
    peer.expect("NOOP", "250 ");
    let counters = sink.finish();
    assert_eq!((counters.received, counters.ok), (1, 1));
}

#[test]
fn the_greeting_of_smtp_is_refused() {
    let sink = lmtp(&[]);
    let mut peer = Peer::connect(sink.address);
    assert!(peer.reply().contains(" LMTP "));
    peer.expect("EHLO a", "502 ");
    peer.expect("HELO a", "502 ");
    sink.finish();
}

#[test]
fn a_fault_strikes_one_recipient_and_fails_the_message() {
    let sink = lmtp(&["EOM:tempfail:50%"]);
    let mut peer = ready(&sink, &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]);
    let replies: Vec<String> = (0..10).map(|_| peer.reply()).collect();
    let refused = replies
        .iter()
        .filter(|reply| reply.starts_with("451 "))
        .count();
    assert!((1..10).contains(&refused), "{replies:?}");
    let counters = sink.finish();
    assert_eq!((counters.received, counters.failed), (1, 1));
}

#[test]
fn a_short_reply_ends_the_connection_within_it() {
    let sink = lmtp(&["EOM:short"]);
    let mut peer = ready(&sink, &["a", "b"]);
    assert_eq!(peer.rest(), "250 2.0");
    sink.finish();
}

#[test]
fn a_unix_socket_serves_and_is_removed_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lmtp.socket");
    let mut local = options(Protocol::Lmtp);
    local.listen = Listen::Unix(path.clone());
    let sink = start(local);
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(b"LHLO a\r\nQUIT\r\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert!(
        said.starts_with("220 ") && said.contains("\r\n221 "),
        "{said}"
    );
    sink.finish();
    assert!(!path.exists());
}
