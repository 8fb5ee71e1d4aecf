//! HTTP/2 frame by frame, as no good client would send them.

use steelyard_sink::Protocol;

use crate::peer::Peer;
use crate::running::{Running, http, options, start};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `GET http://? /`
const GET: &[u8] = &[0x82, 0x86, 0x84];

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

fn hello() -> Vec<u8> {
    [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()
}

fn get(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_STREAM | END_HEADERS, stream, GET)
}

struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

fn next(peer: &mut Peer) -> Frame {
    let head = peer.exactly(9);
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    Frame {
        kind: head[3],
        flags: head[4],
        stream: u32::from_be_bytes(head[5..9].try_into().unwrap()),
        payload: peer.exactly(length as usize),
    }
}

/// The next frame that is about a stream, or ends the connection.
fn answer(peer: &mut Peer) -> Frame {
    loop {
        let frame = next(peer);
        if frame.stream > 0 || frame.kind == GOAWAY {
            return frame;
        }
    }
}

fn body(peer: &mut Peer, stream: u32) -> usize {
    let mut length = 0;
    loop {
        let frame = answer(peer);
        assert_eq!((frame.kind, frame.stream), (DATA, stream));
        length += frame.payload.len();
        if frame.flags & END_STREAM != 0 {
            return length;
        }
    }
}

fn connect(sink: &Running) -> Peer {
    let mut peer = Peer::connect(sink.address);
    peer.send(hello());
    peer
}

#[test]
fn a_conversation_cut_at_any_byte_is_the_same() {
    let sink = http();
    let upload = [
        frame(HEADERS, 0, 3, &GET[..1]),
        frame(CONTINUATION, END_HEADERS, 3, &GET[1..]),
        frame(DATA, 8, 3, &[2, b'a', b'b', 0, 0]),
        frame(DATA, END_STREAM, 3, b"c"),
    ];
    let whole = [hello(), get(1), upload.concat(), get(5)].concat();
    for cut in 1..whole.len() {
        let mut peer = Peer::connect(sink.address);
        peer.send(&whole[..cut]);
        // The reply to a second connection shows that the first part was read by itself.
        let mut other = connect(&sink);
        other.send(get(1));
        answer(&mut other);
        peer.send(&whole[cut..]);
        for stream in [1, 3, 5] {
            assert_eq!(answer(&mut peer).stream, stream, "cut at {cut}");
            assert_eq!(body(&mut peer, stream), 128);
        }
    }
    sink.finish();
}

#[test]
fn a_ping_is_echoed_and_settings_are_acknowledged() {
    let sink = http();
    let mut peer = connect(&sink);
    peer.send(frame(PING, 0, 0, b"12345678"));
    let kinds: Vec<(u8, u8)> = (0..4)
        .map(|_| next(&mut peer))
        .map(|frame| (frame.kind, frame.flags))
        .collect();
    assert_eq!(
        kinds,
        [(SETTINGS, 0), (WINDOW_UPDATE, 0), (SETTINGS, 1), (PING, 1)]
    );
    sink.finish();
}

#[test]
fn frames_against_the_rules_end_the_connection_with_their_reason() {
    let sink = http();
    for (what, frames, code) in [
        (
            "settings missing",
            [PREFACE, &frame(PING, 0, 0, &[0; 8])].concat(),
            1,
        ),
        ("even stream", [hello(), get(2)].concat(), 1),
        ("stream 0", [hello(), get(0)].concat(), 1),
        (
            "oversized",
            [hello(), frame(DATA, 0, 1, &vec![0; 16_385])].concat(),
            6,
        ),
        (
            "short ping",
            [hello(), frame(PING, 0, 0, &[0; 7])].concat(),
            6,
        ),
        (
            "idle stream",
            [hello(), frame(DATA, 0, 1, b"x")].concat(),
            1,
        ),
        (
            "window of 0",
            [hello(), frame(WINDOW_UPDATE, 0, 0, &[0; 4])].concat(),
            1,
        ),
        (
            "window overflow",
            [hello(), frame(WINDOW_UPDATE, 0, 0, &[0x7F, 255, 255, 255])].concat(),
            3,
        ),
        (
            "lone continuation",
            [hello(), frame(CONTINUATION, 4, 1, GET)].concat(),
            1,
        ),
        (
            "interrupted block",
            [
                hello(),
                frame(HEADERS, 0, 1, GET),
                frame(PING, 0, 0, &[0; 8]),
            ]
            .concat(),
            1,
        ),
        (
            "bad block",
            [hello(), frame(HEADERS, 5, 1, &[0x80])].concat(),
            9,
        ),
        (
            "padding",
            [hello(), frame(HEADERS, 0xD, 1, &[9, 0x82])].concat(),
            1,
        ),
        ("push", [hello(), frame(5, 4, 1, &[0; 4])].concat(), 1),
    ] {
        let mut peer = Peer::connect(sink.address);
        peer.send(&frames);
        let last = answer(&mut peer);
        assert_eq!(last.kind, GOAWAY, "{what}");
        assert_eq!(last.payload[4..8], [0, 0, 0, code], "{what}");
        assert_eq!(peer.rest(), "", "{what}");
    }
    assert_eq!(sink.finish().errors["bad_request"], 13);
}

#[test]
fn a_malformed_request_costs_its_stream_only() {
    let sink = http();
    let mut peer = connect(&sink);
    // A path is missing; then a length that is not the body's.
    peer.send(frame(HEADERS, 5, 1, &GET[..2]));
    let wrong = [GET, &[0x0F, 13, 1, b'5']].concat();
    peer.send(frame(HEADERS, END_HEADERS, 3, &wrong));
    peer.send(frame(DATA, END_STREAM, 3, b"four"));
    for stream in [1, 3] {
        let reset = answer(&mut peer);
        assert_eq!((reset.kind, reset.stream), (RST_STREAM, stream));
    }
    peer.send(get(5));
    assert_eq!(answer(&mut peer).stream, 5);
    assert_eq!(sink.finish().received, 1);
}

#[test]
fn a_stream_the_client_resets_is_forgotten_and_counted() {
    let mut large = options(Protocol::Http);
    large.http.body_bytes = 1_000_000;
    let sink = start(large);
    let mut peer = connect(&sink);
    peer.send(get(1));
    assert_eq!(answer(&mut peer).kind, HEADERS);
    let mut length = 0;
    while length < 65_535 {
        length += answer(&mut peer).payload.len();
    }
    peer.send(frame(RST_STREAM, 0, 1, &[0, 0, 0, 8]));
    peer.send(frame(PING, 0, 0, &[0; 8]));
    assert_eq!(next(&mut peer).kind, PING, "nothing more of the body came");
    let counters = sink.finish();
    assert_eq!((counters.received, counters.unanswered), (1, 1));
}

#[test]
fn streams_above_the_limit_are_refused() {
    let mut stalled = options(Protocol::Http);
    stalled.faults = vec!["GET:stall".parse().unwrap()];
    let sink = start(stalled);
    let mut peer = connect(&sink);
    let all: Vec<u8> = (0..257).flat_map(|number| get(2 * number + 1)).collect();
    peer.send(all);
    let refused = answer(&mut peer);
    assert_eq!((refused.kind, refused.stream), (RST_STREAM, 513));
    assert_eq!(refused.payload, [0, 0, 0, 7]);
    assert_eq!(sink.finish().unanswered, 256);
}

#[test]
fn a_preface_that_goes_wrong_is_no_request() {
    let sink = http();
    let mut peer = Peer::connect(sink.address);
    peer.send("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n");
    assert!(peer.rest().starts_with("HTTP/1.1 400 "));
    let mut peer = Peer::connect(sink.address);
    peer.send(format!(
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n{}",
        String::from_utf8_lossy(PREFACE)
    ));
    peer.http_reply(true);
    assert!(
        peer.rest().starts_with("HTTP/1.1 400 "),
        "only first on a connection"
    );
    sink.finish();
}
