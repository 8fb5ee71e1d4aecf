//! How the end of an HTTP reply is known, what comes before it, and what a path can ask for.

use steelyard_net::checksum::Checksum;
use steelyard_sink::{BodyEnd, Fault, Protocol};

use crate::peer::Peer;
use crate::running::{http, options, start};

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")
}

/// The head of a reply, lines up to the empty one.
fn head(peer: &mut Peer) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        head.push_str(&peer.line());
    }
    head
}

/// A chunked body, and of how many chunks it came.
fn chunks(peer: &mut Peer) -> (Vec<u8>, usize) {
    let mut body = Vec::new();
    let mut count = 0;
    loop {
        let size = usize::from_str_radix(peer.line().trim_end(), 16).unwrap();
        body.extend(peer.exactly(size));
        assert_eq!(peer.line(), "\r\n");
        if size == 0 {
            return (body, count);
        }
        count += 1;
    }
}

#[test]
fn a_path_chooses_status_and_length_of_its_reply() {
    let sink = http();
    let mut peer = Peer::connect(sink.address);
    for (path, status, length) in [
        ("/status/404", 404, 128),
        ("/bytes/0", 200, 0),
        ("/bytes/17", 200, 17),
        ("/bytes/100000", 200, 100_000),
        ("/", 200, 128),
    ] {
        peer.send(get(path));
        let (head, body) = peer.http_reply(true);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        assert_eq!(body.len(), length, "{path}");
    }
    peer.send(get("/status/204"));
    assert!(!peer.http_reply(false).0.contains("Content-Length"));
    assert_eq!(sink.finish().ok, 6);
}

#[test]
fn chunks_add_up_to_the_body_and_the_next_reply_follows() {
    let sink = http();
    let mut peer = Peer::connect(sink.address);
    for length in [0, 1, 1234, 16 * 1024, 16 * 1024 + 1, 1_000_000] {
        peer.send(get(&format!("/chunked/{length}")) + &get("/bytes/3"));
        let head = head(&mut peer);
        assert!(head.contains("Transfer-Encoding: chunked\r\n"), "{head}");
        assert!(!head.contains("Content-Length"), "{head}");
        let (body, count) = chunks(&mut peer);
        assert_eq!(body.len(), length);
        assert!(length < 2 || count >= 2, "{count} chunks for {length}");
        assert_eq!(peer.http_reply(true).1.len(), 3);
    }
    assert_eq!(sink.finish().ok, 12);
}

#[test]
fn a_close_delimited_body_ends_with_its_connection() {
    let sink = http();
    for length in [0, 5, 300_000] {
        let mut peer = Peer::connect(sink.address);
        peer.send(get(&format!("/close/{length}")));
        let head = head(&mut peer);
        assert!(head.contains("Connection: close\r\n"), "{head}");
        assert!(
            !head.contains("Content-Length") && !head.contains("chunked"),
            "{head}"
        );
        assert_eq!(peer.rest().len(), length);
    }
    sink.finish();
}

#[test]
fn the_end_of_the_usual_body_is_an_option_and_http_1_0_gets_no_chunks() {
    let mut chunked = options(Protocol::Http);
    chunked.http.body_end = BodyEnd::Chunked;
    let sink = start(chunked);
    let mut peer = Peer::connect(sink.address);
    for _ in 0..2 {
        peer.send(get("/"));
        assert!(head(&mut peer).contains("chunked"));
        assert_eq!(chunks(&mut peer).0.len(), 128);
    }
    peer.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(head(&mut peer).contains("chunked"));
    peer.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    let reply = peer.rest();
    assert!(reply.contains("Connection: close"), "{reply}");
    assert!(!reply.contains("chunked"), "{reply}");
    sink.finish();

    let mut close = options(Protocol::Http);
    close.http.body_end = BodyEnd::Close;
    let sink = start(close);
    let mut peer = Peer::connect(sink.address);
    peer.send(get("/"));
    head(&mut peer);
    assert_eq!(peer.rest().len(), 128);
    sink.finish();
}

#[test]
fn an_interim_reply_comes_first_but_not_to_http_1_0() {
    let mut early = options(Protocol::Http);
    early.http.interim = Some(103);
    let sink = start(early);
    let mut peer = Peer::connect(sink.address);
    for _ in 0..2 {
        peer.send(get("/"));
        assert!(head(&mut peer).starts_with("HTTP/1.1 103 Early Hints\r\n"));
        assert!(peer.http_reply(true).0.starts_with("HTTP/1.1 200 OK\r\n"));
    }
    peer.send("GET / HTTP/1.0\r\n\r\n");
    assert!(peer.rest().starts_with("HTTP/1.1 200 OK\r\n"));
    sink.finish();
}

/// The words of the payload header in a head.
fn payload(head: &str) -> Vec<String> {
    let line = head
        .lines()
        .find_map(|line| line.strip_prefix("x-steelyard-payload: "));
    line.unwrap().split(' ').map(str::to_owned).collect()
}

#[test]
fn a_request_with_a_payload_is_answered_with_one_of_the_same_name() {
    let sink = http();
    let mut peer = Peer::connect(sink.address);
    for (path, sequence) in [("/", 7), ("/bytes/100000", 8)] {
        peer.send(format!(
            "GET {path} HTTP/1.1\r\nHost: a\r\n\
             X-Steelyard-Payload: v1 00000000000000ab 1048577 {sequence} 0 ef46db3751d8e999\r\n\r\n"
        ));
        let (head, body) = peer.http_reply(true);
        let (length, sum) = (body.len(), Checksum::of(&body));
        assert_eq!(
            payload(&head),
            format!("v1 00000000000000ab 1048577 {sequence} {length} {sum:016x}")
                .split(' ')
                .collect::<Vec<_>>()
        );
    }
    sink.finish();
}

#[test]
fn every_reply_carries_a_payload_when_asked_to() {
    let mut checked = options(Protocol::Http);
    checked.http.payload = true;
    checked.http.body_end = BodyEnd::Chunked;
    let sink = start(checked);
    let mut peer = Peer::connect(sink.address);
    peer.send(get("/"));
    let words = payload(&head(&mut peer));
    let (body, _) = chunks(&mut peer);
    assert_eq!(
        words[4..],
        ["128".to_owned(), format!("{:016x}", Checksum::of(&body))]
    );
    sink.finish();
}

#[test]
fn a_large_chunked_reply_can_be_cut_or_spoiled() {
    for (kind, whole) in [("short", false), ("garbage", true)] {
        let mut bad = options(Protocol::Http);
        bad.faults = vec![Fault::parse(&format!("GET:{kind}:1")).unwrap()];
        let sink = start(bad);
        let mut peer = Peer::connect(sink.address);
        peer.send(get("/chunked/1000000"));
        if whole {
            assert_eq!(peer.exactly(12)[0], 0xFF);
            assert!(peer.is_silent(), "no chunk follows the garbage");
        } else {
            assert!(!peer.rest().contains("\r\n0\r\n"));
        }
        assert_eq!(sink.finish().failed, 1);
    }
}

#[test]
fn a_chunked_reply_to_a_slow_reader_is_whole() {
    let sink = http();
    let mut peer = Peer::connect(sink.address);
    peer.send(get("/chunked/20000000").repeat(2));
    let mut other = Peer::connect(sink.address);
    other.send(get("/"));
    other.http_reply(true);
    for _ in 0..2 {
        head(&mut peer);
        assert_eq!(chunks(&mut peer).0.len(), 20_000_000);
    }
    sink.finish();
}
