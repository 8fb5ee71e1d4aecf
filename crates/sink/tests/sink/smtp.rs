//! SMTP replies, one conversation after the other.

use steelyard_sink::Protocol;

use crate::peer::Peer;
use crate::running::{options, smtp, start};

const MESSAGE: &str = "Subject: x\r\n\r\nhello\r\n..dot\r\n.\r\n";

fn envelope(peer: &mut Peer) {
    peer.expect("MAIL FROM:<a@example.org>", "250 2.1.0 ");
    peer.expect("RCPT TO:<user1@example.org>", "250 2.1.5 ");
}

#[test]
fn a_message_is_taken_and_counted() {
    let sink = smtp();
    let mut peer = Peer::introduced(sink.address);
    for _ in 0..2 {
        envelope(&mut peer);
        peer.expect("DATA", "354 ");
        peer.send(MESSAGE);
        assert!(peer.reply().starts_with("250 2.0.0 "));
    }
    peer.expect("QUIT", "221 2.0.0 ");
    assert_eq!(peer.end(), None);
    let counters = sink.finish();
    assert_eq!(
        (counters.received, counters.ok, counters.stored_files),
        (2, 2, 0)
    );
    assert!(counters.errors.is_empty(), "{counters:?}");
}

#[test]
fn only_what_is_supported_is_announced() {
    let sink = smtp();
    let mut peer = Peer::greeted(sink.address);
    let reply = peer.ask("EHLO a");
    let offers: Vec<&str> = reply.lines().skip(1).map(|line| &line[4..]).collect();
    let all = [
        "PIPELINING",
        "CHUNKING",
        "SIZE 67108864",
        "8BITMIME",
        "AUTH PLAIN LOGIN",
        "ENHANCEDSTATUSCODES",
    ];
    assert_eq!(offers, all);
    sink.finish();
    let mut silent = options(Protocol::Smtp);
    silent.smtp.pipelining = false;
    silent.smtp.chunking = false;
    silent.smtp.hostname = Some("mx.example".to_owned());
    let sink = start(silent);
    let mut peer = Peer::connect(sink.address);
    assert_eq!(peer.reply(), "220 mx.example ESMTP Steelyard sink\r\n");
    let reply = peer.ask("EHLO a");
    assert!(reply.starts_with("250-mx.example\r\n250-SIZE "), "{reply}");
    assert_eq!(peer.ask("HELO a"), "250 mx.example\r\n");
    sink.finish();
}

#[test]
fn commands_out_of_order_are_refused() {
    let sink = smtp();
    let mut peer = Peer::greeted(sink.address);
    peer.expect("MAIL FROM:<a@b>", "503 5.5.1 ");
    peer.expect("HELO", "501 ");
    peer.expect("HELO a", "250 ");
    peer.expect("RCPT TO:<a@b>", "503 5.5.1 ");
    peer.expect("DATA", "503 5.5.1 ");
    peer.expect("MAIL FROM:<> ", "250 ");
    peer.expect("MAIL FROM:<a@b>", "503 5.5.1 ");
    peer.expect("DATA", "554 5.5.1 ");
    peer.expect("RSET", "250 2.0.0 ");
    peer.expect("RCPT TO:<a@b>", "503 5.5.1 ");
    let counters = sink.finish();
    assert_eq!(counters.errors["bad_sequence"], 6);
    assert_eq!(counters.errors["bad_argument"], 1);
}

#[test]
fn a_new_greeting_forgets_the_message() {
    let sink = smtp();
    let mut peer = Peer::introduced(sink.address);
    envelope(&mut peer);
    peer.expect("EHLO again", "250-");
    peer.expect("DATA", "503 ");
    sink.finish();
}

#[test]
fn every_other_command_has_its_reply() {
    let sink = smtp();
    let mut peer = Peer::introduced(sink.address);
    for (line, start) in [
        ("noop with words", "250 2.0.0 "),
        ("VRFY user1", "252 2.5.2 "),
        ("VRFY", "501 "),
        ("EXPN list", "502 "),
        ("STARTTLS", "502 "),
        ("BDAT ten LAST", "501 "),
        ("LHLO a", "502 "),
        ("XYZZY", "500 5.5.2 "),
        ("", "500 "),
        ("NOOP \u{1}", "500 "),
        ("NOOP \u{e4}", "500 "),
        ("RSET now", "501 "),
        ("MAIL FROM:a@b", "501 "),
        ("MAIL FROM:<a@b> RET=FULL", "555 "),
        ("MAIL FROM:<a@b> SIZE=67108865", "552 5.3.4 "),
        ("MAIL FROM:<a@b> SIZE=67108864 BODY=8BITMIME", "250 "),
        ("RCPT TO:<../x@b>", "553 5.1.3 "),
        ("RCPT TO:<a/b@c>", "553 5.1.3 "),
        ("RCPT TO:a@b", "501 "),
        ("RCPT TO:<a@b> X=1", "555 "),
        ("RCPT TO:<user1@b>", "250 "),
        ("DATA now", "501 "),
    ] {
        peer.expect(line, start);
    }
    sink.finish();
}

#[test]
fn too_many_recipients_are_refused_for_now_and_a_repeated_one_is_no_new_one() {
    let mut few = options(Protocol::Smtp);
    few.smtp.max_recipients = 2;
    let sink = start(few);
    let mut peer = Peer::introduced(sink.address);
    peer.expect("MAIL FROM:<a@b>", "250 ");
    peer.expect("RCPT TO:<a@b>", "250 ");
    peer.expect("RCPT TO:<b@b>", "250 ");
    peer.expect("RCPT TO:<a@b>", "250 ");
    peer.expect("RCPT TO:<c@b>", "452 4.5.3 ");
    assert_eq!(sink.finish().errors["too_many_recipients"], 1);
}

#[test]
fn a_line_too_long_is_refused_once_and_the_next_is_read() {
    let sink = smtp();
    let mut peer = Peer::introduced(sink.address);
    for length in [1100, 5_000, 200_000] {
        peer.send(format!("NOOP {}\r\n", "x".repeat(length)));
        assert!(peer.reply().starts_with("500 5.5.2 Line too long"));
        peer.expect("NOOP", "250 ");
    }
    peer.expect(&format!("NOOP {}", "x".repeat(1000)), "250 ");
    assert_eq!(sink.finish().errors["line_too_long"], 3);
}

#[test]
fn a_message_beyond_the_limit_is_read_to_its_end_and_refused() {
    let mut small = options(Protocol::Smtp);
    small.smtp.max_message_bytes = 1000;
    let sink = start(small);
    let mut peer = Peer::introduced(sink.address);
    for (length, start) in [
        (998, "250 "),
        (999, "552 5.3.4 "),
        (300_000, "552 "),
        (10, "250 "),
    ] {
        envelope(&mut peer);
        peer.expect("DATA", "354 ");
        peer.send(format!("{}\r\n.\r\n", "x".repeat(length)));
        let reply = peer.reply();
        assert!(reply.starts_with(start), "{length}: {reply}");
    }
    let counters = sink.finish();
    assert_eq!((counters.ok, counters.failed), (2, 2));
    assert_eq!(counters.errors["message_too_large"], 2);
}

#[test]
fn a_conversation_in_one_write_is_answered_in_order() {
    let sink = smtp();
    let mut peer = Peer::introduced(sink.address);
    let once = "MAIL FROM:<a@b>\r\nRCPT TO:<u@b>\r\nRCPT TO:<.@b>\r\nDATA\r\n";
    peer.send(format!("{once}{MESSAGE}NOOP\r\n").repeat(50) + "QUIT\r\n");
    let codes: Vec<String> = peer
        .rest()
        .lines()
        .map(|line| line[..3].to_owned())
        .collect();
    let expected = ["250", "250", "553", "354", "250", "250"].repeat(50);
    assert_eq!(codes[..300], expected);
    assert_eq!(codes[300..], ["221"]);
    assert_eq!(sink.finish().ok, 50);
}

#[test]
fn a_conversation_cut_at_any_byte_gets_the_same_replies() {
    let sink = smtp();
    let all = format!("EHLO a\r\nMAIL FROM:<a@b>\r\nRCPT TO:<u@b>\r\nDATA\r\n{MESSAGE}QUIT\r\n");
    let mut replies = std::collections::BTreeSet::new();
    for cut in 0..=all.len() {
        let mut peer = Peer::greeted(sink.address);
        peer.send(&all[..cut]);
        let mut other = Peer::greeted(sink.address);
        other.expect("NOOP", "250 ");
        peer.send(&all[cut..]);
        replies.insert(peer.rest());
    }
    assert_eq!(replies.len(), 1, "{replies:?}");
    assert_eq!(sink.finish().ok as usize, all.len() + 1);
}

#[test]
fn only_the_true_end_ends_a_message() {
    let sink = smtp();
    let mut peer = Peer::introduced(sink.address);
    envelope(&mut peer);
    peer.expect("DATA", "354 ");
    peer.send("a\n.\nQUIT\r\nb\n.\r\nRSET\r\n.\n.\r\r\n..\r\n");
    assert!(peer.is_silent());
    peer.send(".\r\n");
    assert!(peer.reply().starts_with("250 "));
    assert_eq!(sink.finish().received, 1);
}

#[test]
fn clients_are_notified_when_the_sink_stops() {
    let sink = smtp();
    let mut idle = Peer::introduced(sink.address);
    let mut busy = Peer::introduced(sink.address);
    envelope(&mut busy);
    busy.expect("DATA", "354 ");
    busy.send("half a mess");
    idle.expect("NOOP", "250 ");
    sink.pull();
    assert!(idle.rest().starts_with("421 4.3.2 "));
    // Unread input may turn the end into a reset; either way no 250 is said.
    let mut last = String::new();
    let _ = std::io::Read::read_to_string(&mut busy.0, &mut last);
    assert!(!last.contains("250"), "{last}");
    let counters = sink.finish();
    assert_eq!(
        (counters.connections_open_at_stop, counters.received),
        (2, 0)
    );
}

#[test]
fn a_client_that_leaves_within_a_message_is_counted_and_the_message_is_not() {
    let sink = smtp();
    let mut peer = Peer::introduced(sink.address);
    envelope(&mut peer);
    peer.expect("DATA", "354 ");
    peer.send("half a mess");
    peer.done_sending();
    assert_eq!(peer.rest(), "");
    let counters = sink.finish();
    assert_eq!(
        (counters.received, counters.errors["peer_closed_early"]),
        (0, 1)
    );
}
