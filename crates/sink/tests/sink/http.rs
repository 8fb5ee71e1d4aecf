//! HTTP replies, byte for byte where it matters.

use std::net::Shutdown;

use steelyard_sink::{Protocol, SinkOptions};

use crate::peer::Peer;
use crate::running::{http, options, start};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

fn answering(status: u16, body_bytes: u64) -> SinkOptions {
    let mut options = options(Protocol::Http);
    options.http.status = status;
    options.http.body_bytes = body_bytes;
    options
}

#[test]
fn a_connection_is_kept_and_every_request_counted() {
    let sink = http();
    let mut peer = Peer::connect(sink.address);
    for _ in 0..3 {
        peer.send(GET);
        let (head, body) = peer.http_reply(true);
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(
            head.contains("\r\nDate: ") && head.contains(" GMT\r\n"),
            "{head}"
        );
        assert!(!head.contains("Connection:"), "{head}");
        assert_eq!(body.len(), 128);
    }
    let counters = sink.finish();
    assert_eq!(
        (counters.received, counters.ok, counters.connections),
        (3, 3, 1)
    );
    assert_eq!(counters.bytes_in, 3 * GET.len() as u64);
    assert_eq!(counters.connections_open_at_stop, 1);
}

#[test]
fn a_request_cut_at_any_byte_is_answered_once() {
    let sink = http();
    let request =
        "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    let mut peer = Peer::connect(sink.address);
    for cut in 1..request.len() {
        peer.send(&request[..cut]);
        // The echo of a second connection shows that the first part was read by itself.
        let mut other = Peer::connect(sink.address);
        other.send(GET);
        other.http_reply(true);
        peer.send(&request[cut..]);
        assert!(
            peer.http_reply(true).0.starts_with("HTTP/1.1 200 "),
            "cut at {cut}"
        );
    }
    let counters = sink.finish();
    assert_eq!(counters.ok as usize, 2 * (request.len() - 1));
}

#[test]
fn pipelined_requests_are_answered_in_order_and_together() {
    let sink = http();
    let mut peer = Peer::connect(sink.address);
    let head = "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n";
    peer.send(format!("{GET}{head}").repeat(500));
    for _ in 0..500 {
        assert_eq!(peer.http_reply(true).1.len(), 128);
        assert!(peer.http_reply(false).0.contains("Content-Length: 128\r\n"));
    }
    assert_eq!(sink.finish().ok, 1000);
}

#[test]
fn a_connection_ends_when_the_client_asks_or_speaks_http_1_0() {
    let sink = http();
    for request in [
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
    ] {
        let mut peer = Peer::connect(sink.address);
        peer.send(request);
        let reply = peer.rest();
        assert!(reply.contains("\r\nConnection: close\r\n"), "{reply}");
    }
    let mut peer = Peer::connect(sink.address);
    for _ in 0..2 {
        peer.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        let (head, _) = peer.http_reply(true);
        assert!(head.contains("\r\nConnection: keep-alive\r\n"), "{head}");
    }
    assert_eq!(sink.finish().connections_open_at_stop, 1);
}

#[test]
fn a_half_closed_client_still_gets_its_replies() {
    let sink = http();
    let mut peer = Peer::connect(sink.address);
    peer.send(GET.repeat(2));
    peer.done_sending();
    assert_eq!(peer.rest().matches("HTTP/1.1 200 OK").count(), 2);
    assert_eq!(sink.finish().connections_open_at_stop, 0);
}

#[test]
fn bodies_are_read_and_thrown_away() {
    let sink = http();
    let mut peer = Peer::connect(sink.address);
    let body = vec![b'x'; 300_000];
    peer.send(format!(
        "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n",
        body.len()
    ));
    peer.send(&body);
    peer.http_reply(true);
    peer.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    for _ in 0..10 {
        peer.send(format!("{:x}\r\n", body.len()));
        peer.send(&body);
        peer.send("\r\n");
    }
    peer.send(format!("0\r\n\r\n{GET}"));
    peer.http_reply(true);
    peer.http_reply(true);
    let counters = sink.finish();
    assert_eq!(counters.ok, 3);
    assert!(counters.bytes_in > 3_300_000);
}

#[test]
fn a_client_that_waits_for_100_is_answered_to_go_on() {
    let sink = http();
    let mut peer = Peer::connect(sink.address);
    let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
    peer.send(head);
    assert_eq!(peer.line(), "HTTP/1.1 100 Continue\r\n");
    assert_eq!(peer.line(), "\r\n");
    peer.send("abc");
    assert!(peer.http_reply(true).0.starts_with("HTTP/1.1 200 "));
    peer.send(format!("{head}abc"));
    assert!(
        peer.http_reply(true).0.starts_with("HTTP/1.1 200 "),
        "the body was there already"
    );
    sink.finish();
}

#[test]
fn status_and_body_are_as_asked_for() {
    for (status, body_bytes, length) in [
        (404, 5, Some(5)),
        (200, 0, Some(0)),
        (299, 16 * 1024, Some(16 * 1024)),
        (200, 16 * 1024 + 1, Some(16 * 1024 + 1)),
        (200, 5_000_000, Some(5_000_000)),
        (204, 10, None),
        (304, 10, None),
    ] {
        let sink = start(answering(status, body_bytes));
        let mut peer = Peer::connect(sink.address);
        for _ in 0..2 {
            peer.send(GET);
            let (head, body) = peer.http_reply(true);
            assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
            assert_eq!(head.contains("Content-Length"), length.is_some(), "{head}");
            assert_eq!(body.len(), length.unwrap_or(0));
        }
        assert_eq!(sink.finish().ok, 2);
    }
}

#[test]
fn large_replies_to_pipelined_requests_wait_for_a_slow_reader() {
    let sink = start(answering(200, 3_000_000));
    let mut peer = Peer::connect(sink.address);
    peer.send(GET.repeat(5));
    let mut other = Peer::connect(sink.address);
    other.send(GET);
    let body = other.http_reply(true).1;
    for _ in 0..5 {
        assert!(peer.http_reply(true).1 == body);
    }
    assert_eq!(sink.finish().ok, 6);
}

#[test]
fn garbage_is_refused_and_the_reason_reaches_the_client() {
    let sink = http();
    let long = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(200_000));
    for (request, status) in [
        ("nonsense\r\n\r\n", "400"),
        ("\x16\x03\x01\x02\x00\x01", "400"),
        ("GET / HTTP/1.1\r\n\r\n", "400"),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
            "400",
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
            "501",
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "400",
        ),
        (long.as_str(), "431"),
    ] {
        let mut peer = Peer::connect(sink.address);
        peer.send(request);
        let reply = peer.rest();
        assert!(
            reply.starts_with(&format!("HTTP/1.1 {status} ")),
            "{request:.40}: {reply}"
        );
    }
    let counters = sink.finish();
    assert_eq!(counters.received, 0);
    assert_eq!(
        (
            counters.errors["bad_request"],
            counters.errors["head_too_large"]
        ),
        (6, 1)
    );
}

#[test]
fn a_client_that_leaves_in_the_middle_is_counted() {
    let sink = http();
    let mut peer = Peer::connect(sink.address);
    peer.send("GET / HT");
    peer.done_sending();
    assert_eq!(peer.rest(), "");
    let mut peer = Peer::connect(sink.address);
    peer.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    peer.0.shutdown(Shutdown::Write).unwrap();
    assert_eq!(peer.rest(), "");
    assert_eq!(sink.finish().errors["peer_closed_early"], 2);
}

#[test]
fn several_loops_share_the_connections() {
    let mut options = options(Protocol::Http);
    options.threads = 3;
    let sink = start(options);
    let mut peers: Vec<Peer> = (0..20).map(|_| Peer::connect(sink.address)).collect();
    for _ in 0..5 {
        for peer in &mut peers {
            peer.send(GET);
        }
        for peer in &mut peers {
            peer.http_reply(true);
        }
    }
    drop(peers);
    let counters = sink.finish();
    assert_eq!((counters.connections, counters.ok), (20, 100));
}
