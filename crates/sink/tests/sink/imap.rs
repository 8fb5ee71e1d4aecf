//! IMAP, one conversation after the other.

use std::io::{Read, Write};
use std::net::SocketAddr;

use steelyard_sink::{Fault, Protocol, SinkOptions};

use crate::peer::Peer;
use crate::running::{Running, options, start};
use crate::tls::{Secured, secured, upgrade};

fn filled(messages: u32) -> SinkOptions {
    let mut filled = options(Protocol::Imap);
    filled.mail.mailboxes = 1;
    filled.mail.messages = messages;
    filled.mail.message_bytes = 600;
    filled
}

fn connect(address: SocketAddr) -> Peer {
    let mut peer = Peer::connect(address);
    assert!(peer.line().starts_with("* OK [CAPABILITY IMAP4rev1 "));
    peer
}

/// Lines up to the one with the tag `t`, literals included.
fn reply<S: Read + Write>(peer: &mut Peer<S>) -> String {
    let mut text = String::new();
    loop {
        let line = peer.line();
        text.push_str(&line);
        if line.starts_with("t ") {
            return text;
        }
        let length = line.trim_end().strip_suffix('}');
        if let Some((_, digits)) = length.and_then(|line| line.rsplit_once('{')) {
            let bytes = peer.exactly(digits.parse().unwrap());
            text.push_str(&String::from_utf8(bytes).unwrap());
        }
    }
}

fn ask<S: Read + Write>(peer: &mut Peer<S>, line: &str) -> String {
    peer.send(format!("t {line}\r\n"));
    reply(peer)
}

fn selected(sink: &Running) -> Peer {
    let mut peer = connect(sink.address);
    assert!(ask(&mut peer, "LOGIN user1 \"any words\"").contains("t OK "));
    assert!(ask(&mut peer, "SELECT inbox").contains("t OK [READ-WRITE]"));
    peer
}

#[test]
fn selecting_tells_what_there_is() {
    let sink = start(filled(2));
    let mut peer = connect(sink.address);
    assert!(ask(&mut peer, "SELECT INBOX").starts_with("t BAD "));
    assert!(ask(&mut peer, "LOGIN user1 x").contains("t OK "));
    let said = ask(&mut peer, "SELECT INBOX");
    for line in [
        "* 2 EXISTS",
        "* 2 RECENT",
        "[UNSEEN 1]",
        "[UIDNEXT 3]",
        "[UIDVALIDITY ",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert!(ask(&mut peer, "EXAMINE INBOX").contains("* 0 RECENT\r\n"));
    assert!(ask(&mut peer, "SELECT Sent").starts_with("t NO [NONEXISTENT]"));
    assert!(ask(&mut peer, "FETCH 1 FLAGS").starts_with("t BAD "));
    let said = ask(&mut peer, "STATUS INBOX (MESSAGES UNSEEN UIDNEXT)");
    assert!(said.starts_with("* STATUS INBOX (MESSAGES 2 UNSEEN 2 UIDNEXT 3)\r\n"));
    assert!(ask(&mut peer, "LIST \"\" *").contains("\"/\" INBOX\r\n"));
    assert!(ask(&mut peer, "LOGOUT").starts_with("* BYE "));
    assert_eq!(peer.end(), None);
    sink.finish();
}

#[test]
fn messages_are_fetched_by_number_and_by_uid_and_become_seen() {
    let sink = start(filled(3));
    let mut peer = selected(&sink);
    let peeked = ask(&mut peer, "FETCH 2 (UID RFC822.SIZE BODY.PEEK[])");
    assert!(peeked.starts_with("* 2 FETCH (UID 2 RFC822.SIZE 600 BODY[] {600}\r\nDate: "));
    assert!(ask(&mut peer, "FETCH 2 FLAGS").starts_with("* 2 FETCH (FLAGS ())\r\n"));
    let read = ask(&mut peer, "UID FETCH 2 BODY[]");
    assert!(read.starts_with("* 2 FETCH (UID 2 BODY[] {600}\r\n"));
    assert!(read.contains(" FLAGS (\\Seen))\r\n"));
    let heads = ask(&mut peer, "FETCH 1:* (BODY.PEEK[HEADER.FIELDS (Subject)])");
    assert!(heads.contains("Subject: Message 2\r\n") && heads.contains("* 3 FETCH "));
    let envelope = ask(&mut peer, "FETCH * ENVELOPE");
    assert!(envelope.contains("\"Message 2\" ((NIL NIL \"sink\" \"steelyard.example\"))"));
    assert!(ask(&mut peer, "FETCH 4 FLAGS").starts_with("t BAD "));
    assert_eq!(ask(&mut peer, "UID FETCH 7:9 FLAGS"), "t OK FETCH done\r\n");
    assert!(ask(&mut peer, "FETCH 1 BODY.PEEK[]<5.6>").contains("BODY[]<5> {6}\r\n"));
    assert!(ask(&mut peer, "FETCH 1 NONSENSE").starts_with("t BAD "));
    sink.finish();
}

#[test]
fn flags_are_stored_searched_and_emptied_by_expunge() {
    let sink = start(filled(4));
    let mut peer = selected(&sink);
    let said = ask(&mut peer, "STORE 1,3 +FLAGS (\\Deleted)");
    assert!(said.contains("* 3 FETCH (FLAGS (\\Deleted))\r\n"));
    assert_eq!(
        ask(&mut peer, "STORE 4 FLAGS.SILENT \\Seen"),
        "t OK STORE done\r\n"
    );
    assert!(ask(&mut peer, "SEARCH DELETED").starts_with("* SEARCH 1 3\r\n"));
    assert!(ask(&mut peer, "SEARCH UNSEEN 2:*").starts_with("* SEARCH 2 3\r\n"));
    assert!(ask(&mut peer, "SEARCH ALL").starts_with("* SEARCH 1 2 3 4\r\n"));
    assert!(ask(&mut peer, "SEARCH HEADER Subject \"message 3\"").starts_with("* SEARCH 4\r\n"));
    let gone = ask(&mut peer, "EXPUNGE");
    assert_eq!(gone, "* 1 EXPUNGE\r\n* 2 EXPUNGE\r\nt OK EXPUNGE done\r\n");
    assert!(ask(&mut peer, "UID SEARCH ALL").starts_with("* SEARCH 2 4\r\n"));
    assert!(ask(&mut peer, "FETCH 3 FLAGS").starts_with("t BAD "));
    sink.finish();
}

#[test]
fn a_message_is_appended_with_a_literal_that_waits_and_one_that_does_not() {
    let sink = start(filled(0));
    let mut peer = selected(&sink);
    peer.send("t APPEND INBOX (\\Seen) {11}\r\n");
    assert!(peer.line().starts_with("+ "));
    peer.send("A: b\r\n\r\n\r\n}\r\n");
    assert_eq!(
        reply(&mut peer),
        "* 1 EXISTS\r\n* 1 RECENT\r\nt OK APPEND done\r\n"
    );
    peer.send("t APPEND INBOX \"01-Jan-2026 00:00:00 +0000\" {3+}\r\nx\r\n\r\nt NOOP\r\n");
    assert!(reply(&mut peer).contains("* 2 EXISTS\r\n"));
    assert_eq!(reply(&mut peer), "t OK NOOP done\r\n");
    let both = ask(&mut peer, "FETCH 1:2 (FLAGS RFC822)");
    assert!(
        both.contains("(FLAGS (\\Seen) RFC822 {11}\r\nA: b\r\n\r\n\r\n})"),
        "{both}"
    );
    assert!(ask(&mut peer, "APPEND Other {1+}\r\nx").starts_with("t NO [TRYCREATE]"));
    sink.finish();
}

#[test]
fn literals_may_be_names_and_come_byte_by_byte() {
    let sink = start(filled(1));
    let mut peer = connect(sink.address);
    for byte in b"t LOGIN {5+}\r\nuser1 {1+}\r\nx\r\nt SELECT {5+}\r\nINBOX\r\n" {
        peer.send([*byte]);
    }
    assert!(reply(&mut peer).contains("t OK "));
    assert!(reply(&mut peer).contains("* 1 EXISTS\r\n"));
    sink.finish();
}

#[test]
fn literals_too_large_are_refused_and_the_connection_lives() {
    let mut small = filled(0);
    small.smtp.max_message_bytes = 20_000;
    let sink = start(small);
    let mut peer = selected(&sink);
    peer.send("t APPEND INBOX {90000}\r\n");
    assert!(reply(&mut peer).starts_with("t NO [TOOBIG]"));
    let large = "x".repeat(90_000);
    peer.send(format!("t APPEND INBOX {{90000+}}\r\n{large}\r\n"));
    assert!(reply(&mut peer).starts_with("t NO [TOOBIG]"));
    assert_eq!(ask(&mut peer, "NOOP"), "t OK NOOP done\r\n");
    sink.finish();
}

#[test]
fn one_session_sees_what_another_did() {
    let sink = start(filled(3));
    let mut reader = selected(&sink);
    let mut writer = selected(&sink);
    ask(&mut writer, "STORE 2 +FLAGS.SILENT (\\Deleted)");
    ask(&mut writer, "EXPUNGE");
    ask(&mut writer, "APPEND INBOX {1+}\r\nx");
    // Numbers may not change while numbers are asked for.
    let said = ask(&mut reader, "FETCH 3 UID");
    assert!(said.starts_with("* 3 FETCH (UID 3)\r\n") && !said.contains("EXPUNGE"));
    let said = ask(&mut reader, "NOOP");
    assert!(said.contains("* 2 EXPUNGE\r\n"), "{said}");
    assert!(ask(&mut reader, "FETCH 3 UID").starts_with("* 3 FETCH (UID 4)\r\n"));
    sink.finish();
}

#[test]
fn who_idles_is_notified_at_once_on_whatever_loop() {
    let mut several = filled(1);
    several.threads = 3;
    let sink = start(several);
    let mut idlers: Vec<Peer> = (0..4).map(|_| selected(&sink)).collect();
    for idler in &mut idlers {
        idler.send("t IDLE\r\n");
        assert!(idler.line().starts_with("+ "));
    }
    let mut writer = selected(&sink);
    ask(&mut writer, "APPEND INBOX {1+}\r\nx");
    for idler in &mut idlers {
        assert_eq!(idler.line(), "* 2 EXISTS\r\n");
        idler.line();
        idler.send("DONE\r\n");
        assert_eq!(reply(idler), "t OK IDLE done\r\n");
    }
    ask(&mut writer, "APPEND INBOX {1+}\r\nx");
    assert!(idlers[0].is_silent());
    sink.finish();
}

#[test]
fn logins_work_with_sasl_in_one_step_or_two() {
    let sink = start(filled(0));
    let mut peer = connect(sink.address);
    assert!(ask(&mut peer, "AUTHENTICATE PLAIN AHUAcA==").starts_with("t OK "));
    let mut peer = connect(sink.address);
    peer.send("t AUTHENTICATE PLAIN\r\n");
    assert!(peer.line().starts_with("+ "));
    peer.send("AHUAcA==\r\n");
    assert!(reply(&mut peer).starts_with("t OK "));
    assert!(ask(&mut peer, "LOGIN a b").starts_with("t BAD "));
    sink.finish();
}

#[test]
fn starttls_hides_the_login_and_is_offered_once() {
    let Secured { sink, trust } = secured(filled(1), false);
    let mut peer = connect(sink.address);
    assert!(ask(&mut peer, "CAPABILITY").contains(" STARTTLS"));
    peer.send("t STARTTLS\r\nt LOGIN user1 x\r\n");
    assert!(reply(&mut peer).starts_with("t OK "));
    let mut peer = upgrade(peer, &trust);
    assert!(!ask(&mut peer, "CAPABILITY").contains("STARTTLS"));
    assert!(ask(&mut peer, "SELECT INBOX").starts_with("t BAD "));
    assert!(ask(&mut peer, "LOGIN user1 x").starts_with("t OK "));
    let counters = sink.finish();
    assert_eq!(counters.errors.get("tls_injected"), Some(&1));
}

#[test]
fn nonsense_is_refused_with_its_tag() {
    let sink = start(filled(1));
    let mut peer = selected(&sink);
    for line in [
        "",
        "XYZZY",
        "FETCH",
        "FETCH 1",
        "STORE 1 FLAGS",
        "SEARCH",
        "UID NOOP",
        "STATUS INBOX (",
    ] {
        assert!(ask(&mut peer, line).starts_with("t BAD "), "{line}");
    }
    peer.send([b"t ".as_slice(), &b"x".repeat(40_000), b"\r\n"].concat());
    assert_eq!(peer.line(), "* BAD Line too long\r\n");
    assert!(ask(&mut peer, "NOOP").starts_with("t OK "));
    sink.finish();
}

#[test]
fn verbs_are_struck_like_those_of_other_protocols() {
    let mut struck = filled(1);
    struck.faults = vec![
        Fault::parse("FETCH:reject").unwrap(),
        Fault::parse("SEARCH:short").unwrap(),
    ];
    let sink = start(struck);
    let mut peer = selected(&sink);
    assert!(ask(&mut peer, "UID FETCH 1 FLAGS").starts_with("t NO [NOPERM]"));
    peer.send("t SEARCH ALL\r\n");
    assert_eq!(peer.rest(), "* SEARCH 1\r\nt OK"[..15].to_owned());
    let counters = sink.finish();
    assert_eq!((counters.received, counters.failed), (4, 2));
}
