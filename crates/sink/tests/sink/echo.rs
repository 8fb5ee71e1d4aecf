//! Exchanges of asked-for sizes over TCP and UDP on one port, and the port that drops.

use std::net::UdpSocket;
use std::time::Duration;

use steelyard_sink::{Fault, Protocol};

use crate::peer::Peer;
use crate::running::{options, start};

fn request(request_bytes: u32, response_bytes: u32, sequence: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in [0x5354_594c, request_bytes, response_bytes, sequence] {
        bytes.extend(u32::to_le_bytes(field));
    }
    bytes.resize(request_bytes as usize, b'x');
    bytes
}

#[test]
fn a_request_is_answered_with_as_many_bytes_as_it_asks_for() {
    let sink = start(options(Protocol::Echo));
    let mut peer = Peer::connect(sink.address);
    for (sequence, (there, back)) in
        (0..).zip([(16, 16), (16, 1), (16, 0), (5000, 17), (200_000, 300_000)])
    {
        let sent = request(there, back, sequence);
        peer.send(&sent);
        let response = peer.exactly(back as usize);
        let head = response.len().min(16);
        assert_eq!(response[..head], sent[..head]);
    }
    peer.send([request(20, 20, 8), request(16, 18, 9)].concat());
    assert_eq!(peer.exactly(38)[32..36], [9, 0, 0, 0]);
    assert_eq!(sink.finish().ok, 7);
}

#[test]
fn a_request_cut_at_any_byte_is_answered_once() {
    let sink = start(options(Protocol::Echo));
    let mut peer = Peer::connect(sink.address);
    let whole = request(24, 16, 3);
    for cut in 1..whole.len() {
        peer.send(&whole[..cut]);
        let mut other = Peer::connect(sink.address);
        other.send(&whole);
        other.exactly(16);
        peer.send(&whole[cut..]);
        assert_eq!(peer.exactly(16), whole[..16], "cut at {cut}");
    }
    sink.finish();
}

#[test]
fn what_is_no_request_ends_the_connection() {
    let sink = start(options(Protocol::Echo));
    for bad in [vec![0; 16], request(16, u32::MAX, 1), {
        let mut short = request(16, 16, 1);
        short[4] = 15;
        short
    }] {
        let mut peer = Peer::connect(sink.address);
        peer.send(bad);
        assert_eq!(peer.rest(), "");
    }
    assert_eq!(sink.finish().errors["bad_request"], 3);
}

#[test]
fn datagrams_are_answered_on_the_same_port() {
    let sink = start(options(Protocol::Echo));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    socket.connect(sink.address).unwrap();
    let mut buffer = vec![0; 70_000];
    socket.send(b"nonsense").unwrap();
    for (there, back) in [(16, 16), (1000, 60_000), (16, 3)] {
        let sent = request(there, back, back);
        socket.send(&sent).unwrap();
        let count = socket.recv(&mut buffer).unwrap();
        assert_eq!(count, back as usize);
        assert_eq!(buffer[..count.min(16)], sent[..count.min(16)]);
    }
    let counters = sink.finish();
    assert_eq!((counters.ok, counters.errors["bad_request"]), (3, 1));
}

#[test]
fn faults_strike_exchanges() {
    for (kind, unanswered) in [("RR:reject", 1), ("RR:drop", 1), ("RR:short", 0)] {
        let mut bad = options(Protocol::Echo);
        bad.faults = vec![Fault::parse(kind).unwrap()];
        let sink = start(bad);
        let mut peer = Peer::connect(sink.address);
        peer.send(request(16, 16, 0));
        assert!(peer.rest().len() < 16);
        assert_eq!(sink.finish().unanswered, unanswered, "{kind}");
    }
}

#[test]
fn what_is_sent_to_discard_is_read_and_dropped() {
    let sink = start(options(Protocol::Discard));
    let mut peer = Peer::connect(sink.address);
    peer.send(vec![1; 5_000_000]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(&[1; 100], sink.address).unwrap();
    peer.done_sending();
    assert_eq!(peer.rest(), "");
    assert!(sink.finish().bytes_in >= 5_000_000);
}
