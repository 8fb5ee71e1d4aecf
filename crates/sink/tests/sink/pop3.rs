//! POP3, one conversation after the other.

use steelyard_net::checksum::Checksum;
use steelyard_sink::{Delay, Fault, Protocol, SinkOptions, User};

use crate::peer::Peer;
use crate::running::{options, start};
use crate::tls::{Secured, secured, upgrade};

fn filled(messages: u32) -> SinkOptions {
    let mut filled = options(Protocol::Pop3);
    filled.mail.mailboxes = 2;
    filled.mail.messages = messages;
    filled.mail.message_bytes = 1000;
    filled
}

fn connect(address: std::net::SocketAddr) -> Peer {
    let mut peer = Peer::connect(address);
    assert!(peer.line().starts_with("+OK "));
    peer
}

fn ask<S: std::io::Read + std::io::Write>(peer: &mut Peer<S>, line: &str) -> String {
    peer.send(format!("{line}\r\n"));
    peer.line()
}

fn log_in(address: std::net::SocketAddr, user: &str) -> Peer {
    let mut peer = connect(address);
    assert!(ask(&mut peer, &format!("USER {user}")).starts_with("+OK"));
    assert!(ask(&mut peer, "PASS any words").starts_with("+OK"));
    peer
}

/// Lines up to the dot.
fn rest_of_reply(peer: &mut Peer) -> String {
    let mut text = String::new();
    loop {
        let line = peer.line();
        if line == ".\r\n" {
            return text;
        }
        text.push_str(line.strip_prefix('.').unwrap_or(&line));
    }
}

#[test]
fn a_maildrop_is_counted_listed_read_and_emptied() {
    let sink = start(filled(3));
    let mut peer = log_in(sink.address, "user1@example.org");
    assert_eq!(ask(&mut peer, "STAT"), "+OK 3 3000\r\n");
    assert!(ask(&mut peer, "LIST").starts_with("+OK 3 "));
    assert_eq!(rest_of_reply(&mut peer), "1 1000\r\n2 1000\r\n3 1000\r\n");
    assert_eq!(ask(&mut peer, "LIST 2"), "+OK 2 1000\r\n");
    assert!(ask(&mut peer, "UIDL").starts_with("+OK"));
    assert_eq!(rest_of_reply(&mut peer), "1 1\r\n2 2\r\n3 3\r\n");
    assert!(ask(&mut peer, "DELE 2").starts_with("+OK"));
    assert!(ask(&mut peer, "RETR 2").starts_with("-ERR"));
    assert_eq!(ask(&mut peer, "STAT"), "+OK 2 2000\r\n");
    assert!(ask(&mut peer, "RSET").starts_with("+OK"));
    assert!(ask(&mut peer, "DELE 1").starts_with("+OK"));
    assert!(ask(&mut peer, "QUIT").starts_with("+OK"));
    assert_eq!(peer.end(), None);
    let mut peer = log_in(sink.address, "user1");
    assert_eq!(ask(&mut peer, "UIDL 1"), "+OK 1 2\r\n");
    let mut other = log_in(sink.address, "user2");
    assert_eq!(ask(&mut other, "STAT"), "+OK 3 3000\r\n");
    sink.finish();
}

#[test]
fn a_message_from_the_start_says_the_truth_about_its_body() {
    let sink = start(filled(1));
    let mut peer = log_in(sink.address, "user1");
    assert_eq!(ask(&mut peer, "RETR 1"), "+OK 1000 octets\r\n");
    let text = rest_of_reply(&mut peer);
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let marker = head.split("X-Steelyard-Payload: ").nth(1).unwrap();
    let words: Vec<&str> = marker.split(' ').collect();
    assert_eq!(words[4], body.len().to_string());
    assert_eq!(words[5], format!("{:016x}", Checksum::of(body.as_bytes())));
    assert!(ask(&mut peer, "TOP 1 2").starts_with("+OK"));
    let top = rest_of_reply(&mut peer);
    assert!(text.starts_with(&top) && top.lines().count() == head.lines().count() + 3);
    sink.finish();
}

#[test]
fn a_session_that_is_cut_deletes_nothing_and_frees_the_maildrop() {
    let sink = start(filled(1));
    let mut peer = log_in(sink.address, "user1");
    assert!(ask(&mut peer, "DELE 1").starts_with("+OK"));
    let mut second = connect(sink.address);
    ask(&mut second, "USER user1");
    assert!(ask(&mut second, "PASS x").starts_with("-ERR [IN-USE]"));
    peer.done_sending();
    assert_eq!(peer.end(), None);
    ask(&mut second, "USER user1");
    assert!(ask(&mut second, "PASS x").starts_with("+OK"));
    assert_eq!(ask(&mut second, "STAT"), "+OK 1 1000\r\n");
    let counters = sink.finish();
    assert_eq!(counters.errors.get("mailbox_busy"), Some(&1));
}

#[test]
fn users_with_passwords_need_them_by_either_way() {
    let mut closed = filled(0);
    closed.mail.users = vec![User {
        name: "user".to_owned(),
        password: "secret".to_owned(),
    }];
    let sink = start(closed);
    let mut peer = connect(sink.address);
    ask(&mut peer, "USER user");
    assert!(ask(&mut peer, "PASS wrong").starts_with("-ERR [AUTH]"));
    assert!(ask(&mut peer, "PASS secret").starts_with("-ERR"));
    assert!(ask(&mut peer, "AUTH PLAIN").starts_with("+ "));
    assert!(ask(&mut peer, "AHVzZXIAc2VjcmV0").starts_with("+OK"));
    assert!(ask(&mut peer, "USER user").starts_with("-ERR"));
    sink.finish();
}

#[test]
fn commands_out_of_order_or_without_sense_are_refused() {
    let sink = start(filled(1));
    let mut peer = connect(sink.address);
    for line in ["STAT", "PASS x", "USER", "XYZZY", "STLS", "AUTH CRAM-MD5"] {
        assert!(ask(&mut peer, line).starts_with("-ERR"), "{line}");
    }
    let mut peer = log_in(sink.address, "user1");
    for line in [
        "RETR", "RETR 0", "RETR 2", "RETR x", "TOP 1", "LIST 9", "DELE -1",
    ] {
        assert!(ask(&mut peer, line).starts_with("-ERR"), "{line}");
    }
    peer.send([b"x".repeat(20_000).as_slice(), b"\r\nNOOP\r\n"].concat());
    assert!(peer.line().starts_with("-ERR Line too long"));
    assert!(peer.line().starts_with("+OK"));
    sink.finish();
}

#[test]
fn commands_sent_together_or_byte_by_byte_are_answered_in_order() {
    let sink = start(filled(2));
    let mut peer = connect(sink.address);
    peer.send("CAPA\r\nUSER user1\r\nPASS x\r\nSTAT\r\nRETR 1\r\nDELE 1\r\nSTAT\r\nQUIT\r\n");
    let all = peer.rest();
    assert!(all.contains("PIPELINING\r\n") && !all.contains("STLS"));
    assert!(all.contains("+OK 2 2000\r\n") && all.contains("+OK 1 1000\r\n"));
    let mut slow = connect(sink.address);
    for byte in b"USER user2\r\nPASS x\r\nSTAT\r\n" {
        slow.send([*byte]);
    }
    slow.line();
    slow.line();
    assert_eq!(slow.line(), "+OK 2 2000\r\n");
    sink.finish();
}

#[test]
fn stls_begins_tls_and_forgets_the_name_given_before() {
    let Secured { sink, trust } = secured(filled(1), false);
    let mut peer = connect(sink.address);
    assert!(ask(&mut peer, "USER user1").starts_with("+OK"));
    assert!(ask(&mut peer, "STLS").starts_with("+OK"));
    let mut peer = upgrade(peer, &trust);
    assert!(ask(&mut peer, "PASS x").starts_with("-ERR"));
    assert!(ask(&mut peer, "STLS").starts_with("-ERR"));
    ask(&mut peer, "USER user1");
    assert!(ask(&mut peer, "PASS x").starts_with("+OK"));
    assert_eq!(sink.finish().tls_handshakes, 1);
}

#[test]
fn verbs_are_delayed_and_struck_like_those_of_other_protocols() {
    let mut shaped = filled(1);
    shaped.faults = vec![
        Fault::parse("RETR:tempfail").unwrap(),
        Fault::parse("DELE:garbage").unwrap(),
    ];
    shaped.delays = vec![Delay::parse("STAT:2ms").unwrap()];
    let sink = start(shaped);
    let mut peer = log_in(sink.address, "user1");
    assert!(ask(&mut peer, "RETR 1").starts_with("-ERR [SYS/TEMP]"));
    assert_eq!(ask(&mut peer, "STAT"), "+OK 1 1000\r\n");
    peer.send("DELE 1\r\n");
    assert!(peer.exactly(12).starts_with(b"\xff\x00garbage"));
    let counters = sink.finish();
    assert_eq!((counters.received, counters.failed), (5, 2));
    assert_eq!(counters.lateness.unwrap().count, 1);
}
