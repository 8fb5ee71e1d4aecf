//! Delays and faults as a client meets them.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use steelyard_sink::{Delay, Fault, Protocol, SinkOptions};

use crate::peer::Peer;
use crate::running::{options, start};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

fn with_faults(protocol: Protocol, faults: &[&str]) -> SinkOptions {
    let mut options = options(protocol);
    options.faults = faults
        .iter()
        .map(|text| Fault::parse(text).unwrap())
        .collect();
    options
}

fn with_delay(protocol: Protocol, delays: &[&str]) -> SinkOptions {
    let mut options = options(protocol);
    options.delays = delays
        .iter()
        .map(|text| Delay::parse(text).unwrap())
        .collect();
    options
}

#[test]
fn http_refusals_leave_the_connection_open() {
    let sink = start(with_faults(
        Protocol::Http,
        &["GET:tempfail", "POST:reject"],
    ));
    let mut peer = Peer::connect(sink.address);
    peer.send(GET);
    let (head, _) = peer.http_reply(true);
    assert!(
        head.starts_with("HTTP/1.1 503 ") && head.contains("Retry-After: 1\r\n"),
        "{head}"
    );
    peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
    let (head, _) = peer.http_reply(true);
    assert!(
        head.starts_with("HTTP/1.1 503 ") && !head.contains("Retry-After"),
        "{head}"
    );
    peer.send("PUT / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(peer.http_reply(true).0.starts_with("HTTP/1.1 200 "));
    let counters = sink.finish();
    assert_eq!((counters.ok, counters.failed), (1, 2));
    assert_eq!(
        (counters.faults["tempfail"], counters.faults["reject"]),
        (1, 1)
    );
}

#[test]
fn a_struck_connection_ends_as_the_fault_says() {
    for (fault, end) in [
        ("GET:drop", None),
        ("GET:reset", Some(ErrorKind::ConnectionReset)),
    ] {
        let sink = start(with_faults(Protocol::Http, &[fault]));
        let mut peer = Peer::connect(sink.address);
        peer.send(GET);
        assert_eq!(peer.end(), end, "{fault}");
        let counters = sink.finish();
        assert_eq!((counters.received, counters.unanswered), (1, 1), "{fault}");
    }
}

#[test]
fn a_new_connection_can_be_struck_before_a_word_is_said() {
    for (protocol, fault, end) in [
        (
            Protocol::Http,
            "CONNECT:reset",
            Some(ErrorKind::ConnectionReset),
        ),
        (Protocol::Smtp, "CONNECT:drop", None),
    ] {
        let sink = start(with_faults(protocol, &[fault]));
        assert_eq!(Peer::connect(sink.address).end(), end, "{fault}");
        assert_eq!(sink.finish().received, 0);
    }
    for (fault, banner) in [("CONNECT:reject", "554 "), ("CONNECT:tempfail", "421 ")] {
        let sink = start(with_faults(Protocol::Smtp, &[fault]));
        assert!(Peer::connect(sink.address).rest().starts_with(banner));
        sink.finish();
    }
}

#[test]
fn a_stalled_connection_stays_open_without_a_word() {
    let sink = start(with_faults(Protocol::Http, &["GET:stall"]));
    let mut peer = Peer::connect(sink.address);
    peer.send(GET.repeat(2));
    assert!(peer.is_silent());
    let counters = sink.finish();
    assert_eq!((counters.received, counters.unanswered), (1, 1));
    assert_eq!(counters.connections_open_at_stop, 1);
}

#[test]
fn a_stalled_connection_is_forgotten_when_its_client_leaves() {
    let sink = start(with_faults(Protocol::Http, &["GET:stall"]));
    let mut peer = Peer::connect(sink.address);
    peer.send(GET);
    peer.done_sending();
    assert_eq!(peer.end(), None);
    assert_eq!(sink.finish().connections_open_at_stop, 0);
}

#[test]
fn damaged_replies_are_no_whole_replies() {
    let sink = start(with_faults(Protocol::Http, &["GET:garbage", "PUT:short"]));
    let mut peer = Peer::connect(sink.address);
    peer.send(GET);
    let first = peer.exactly(12);
    assert!(!first.starts_with(b"HTTP/"), "{first:?}");
    peer.send("PUT / HTTP/1.1\r\nHost: a\r\n\r\n");
    let half = peer.rest();
    assert!(half.starts_with("HTTP/1.1 200 "), "{half}");
    assert!(!half.contains("...\n"), "{half}");
    let counters = sink.finish();
    assert_eq!((counters.ok, counters.failed), (0, 2));
}

#[test]
fn half_of_a_large_body_is_sent_before_the_end() {
    let mut large = with_faults(Protocol::Http, &["GET:short"]);
    large.http.body_bytes = 1_000_000;
    let sink = start(large);
    let mut peer = Peer::connect(sink.address);
    peer.send(GET);
    let reply = peer.rest();
    let body = reply.split_once("\r\n\r\n").unwrap().1;
    assert_eq!(body.len(), 500_000);
    sink.finish();
}

#[test]
fn a_slow_reply_is_whole_but_comes_in_single_bytes() {
    let sink = start(with_faults(Protocol::Smtp, &["NOOP:slow"]));
    let mut peer = Peer::introduced(sink.address);
    let start = Instant::now();
    assert_eq!(peer.ask("NOOP"), "250 2.0.0 Ok\r\n");
    // One every 5 ms: fourteen bytes cannot take less, whatever the machine does.
    assert!(start.elapsed() >= Duration::from_millis(14 * 5));
    peer.expect("RSET", "250 ");
    sink.finish();
}

#[test]
fn smtp_faults_strike_the_verb_they_name() {
    let sink = start(with_faults(
        Protocol::Smtp,
        &["RCPT:tempfail", "VRFY:reject", ".:reject"],
    ));
    let mut peer = Peer::introduced(sink.address);
    peer.expect("VRFY a", "550 ");
    peer.expect("MAIL FROM:<a@b>", "250 ");
    peer.expect("RCPT TO:<a@b>", "451 ");
    peer.expect("DATA", "554 ");
    let counters = sink.finish();
    assert_eq!(
        (counters.faults["tempfail"], counters.faults["reject"]),
        (1, 1)
    );
}

#[test]
fn a_message_refused_at_its_end_is_failed_and_one_dropped_is_unanswered() {
    for (fault, reply, failed) in [("EOM:reject", "550 ", 1), ("EOM:drop", "", 0)] {
        let sink = start(with_faults(Protocol::Smtp, &[fault]));
        let mut peer = Peer::introduced(sink.address);
        peer.expect("MAIL FROM:<a@b>", "250 ");
        peer.expect("RCPT TO:<a@b>", "250 ");
        peer.expect("DATA", "354 ");
        peer.send("x\r\n.\r\n");
        peer.done_sending();
        assert!(peer.rest().starts_with(reply));
        let counters = sink.finish();
        assert_eq!((counters.failed, counters.unanswered), (failed, 1 - failed));
    }
}

#[test]
fn the_same_seed_strikes_the_same_commands() {
    let struck = |seed| {
        let mut options = with_faults(Protocol::Http, &["GET:reject:1/4"]);
        options.seed = seed;
        let sink = start(options);
        let mut peer = Peer::connect(sink.address);
        peer.send(GET.repeat(200));
        let status = |_| peer.http_reply(true).0[9..12].to_owned();
        let replies: Vec<String> = (0..200).map(status).collect();
        let faults = sink.finish().faults["reject"];
        assert_eq!(
            replies.iter().filter(|status| *status == "503").count() as u64,
            faults
        );
        replies
    };
    assert_eq!(struck(1), struck(1));
    assert_ne!(struck(1), struck(2));
}

#[test]
fn no_reply_comes_before_its_delay_is_over() {
    const DELAY: Duration = Duration::from_millis(20);
    let sink = start(with_delay(Protocol::Http, &["20ms"]));
    let mut peer = Peer::connect(sink.address);
    for _ in 0..5 {
        let asked = Instant::now();
        peer.send(GET);
        peer.http_reply(true);
        assert!(asked.elapsed() >= DELAY);
    }
    // Pipelined requests are served one after the other.
    let asked = Instant::now();
    peer.send(GET.repeat(3));
    for number in 1..=3 {
        peer.http_reply(true);
        assert!(asked.elapsed() >= DELAY * number);
    }
    let counters = sink.finish();
    assert_eq!((counters.ok, counters.lateness.unwrap().count), (8, 8));
}

#[test]
fn only_the_named_verb_is_delayed() {
    let sink = start(with_delay(Protocol::Smtp, &["RCPT:15ms", "*:0s"]));
    let mut peer = Peer::introduced(sink.address);
    peer.send("MAIL FROM:<a@b>\r\nRCPT TO:<a@b>\r\nNOOP\r\n");
    let asked = Instant::now();
    assert_eq!(peer.reply(), "250 2.1.0 Ok\r\n");
    assert_eq!(peer.reply(), "250 2.1.5 Ok\r\n");
    assert!(
        asked.elapsed() >= Duration::from_millis(14),
        "{:?}",
        asked.elapsed()
    );
    assert_eq!(peer.reply(), "250 2.0.0 Ok\r\n");
    assert_eq!(sink.finish().lateness.unwrap().count, 1);
}

#[test]
fn a_reply_still_delayed_at_the_stop_is_unanswered() {
    let sink = start(with_delay(Protocol::Http, &["1000s"]));
    let mut peer = Peer::connect(sink.address);
    peer.send(GET);
    assert!(peer.is_silent());
    let counters = sink.finish();
    assert_eq!((counters.received, counters.unanswered), (1, 1));
    assert_eq!(peer.rest(), "");
}

#[test]
fn a_large_body_is_delayed_with_its_head() {
    let mut large = with_delay(Protocol::Http, &["10ms"]);
    large.http.body_bytes = 200_000;
    let sink = start(large);
    let mut peer = Peer::connect(sink.address);
    peer.send(GET.repeat(2));
    for _ in 0..2 {
        assert_eq!(peer.http_reply(true).1.len(), 200_000);
    }
    assert_eq!(sink.finish().ok, 2);
}
