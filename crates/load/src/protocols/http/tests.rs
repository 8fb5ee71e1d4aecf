use proptest::prelude::*;

use super::*;

pub(super) fn target() -> Target {
    Target::resolve("http://127.0.0.1:8080/x", None).unwrap()
}

fn machine(operation: &HttpOperation) -> Http {
    Http::new(operation, &target(), 7).unwrap()
}

/// Steps of one reply that arrives in `parts`, then the end of the connection if `ends`.
fn steps(http: &mut Http, parts: &[&[u8]], ends: bool) -> Vec<Step> {
    session_after(http, parts, ends).1
}

fn session_after(http: &mut Http, parts: &[&[u8]], ends: bool) -> (Session, Vec<Step>) {
    let mut session = http.open(0);
    let mut out = Output::default();
    let mut steps = vec![http.connected(&mut session, &mut Turn::new(0, &mut out))];
    http.start(&mut session, 0, &mut out);
    for part in parts.iter().filter(|part| !part.is_empty()) {
        steps.push(http.received(&mut session, part, &mut Turn::new(1, &mut out)));
    }
    if ends {
        steps.push(http.ended(&mut session, &mut Turn::new(2, &mut out)));
    }
    (session, steps)
}

fn last(http: &mut Http, parts: &[&[u8]], ends: bool) -> Step {
    *steps(http, parts, ends).last().unwrap()
}

const OK: Step = Step::Done(Ok(()), After::Ready);

const REPLIES: &[(&[u8], Step)] = &[
    (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", OK),
    (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        OK,
    ),
    (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        OK,
    ),
    (b"HTTP/1.1 204 No Content\r\n\r\n", OK),
    (
        b"HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno",
        Step::Done(Err(ErrorKind::BadStatus4xx), After::Ready),
    ),
    (
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
        Step::Done(Ok(()), After::Busy),
    ),
];

#[test]
fn every_reply_is_parsed_split_at_every_byte() {
    for (reply, expected) in REPLIES {
        for at in 0..=reply.len() {
            let mut http = machine(&HttpOperation::default());
            // The second time the head is known.
            for _ in 0..2 {
                let (first, second) = reply.split_at(at);
                assert_eq!(
                    last(&mut http, &[first, second], false),
                    *expected,
                    "split at {at}"
                );
            }
        }
    }
}

#[test]
fn a_reply_that_fails_is_kept_whole_however_it_was_split() {
    let framings: [(&[u8], bool); 2] = [
        (b"HTTP/1.1 500 Oh\r\nContent-Length: 6\r\n\r\nlocked", false),
        (b"HTTP/1.0 500 Oh\r\nServer: x\r\n\r\nlocked", true),
    ];
    for (reply, ends) in framings {
        for at in 0..=reply.len() {
            let mut http = machine(&HttpOperation::default());
            let (first, second) = reply.split_at(at);
            let (session, _) = session_after(&mut http, &[first, second], ends);
            let kept = http.failed_reply(&session);
            assert_eq!(kept[8..], *b" 500 Oh\r\n\r\nlocked", "split at {at}");
        }
    }
}

#[test]
fn a_reply_without_framing_ends_with_the_connection() {
    let mut http = machine(&HttpOperation::default());
    let reply: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nsome";
    assert_eq!(last(&mut http, &[reply], false), Step::More);
    assert_eq!(
        last(&mut http, &[reply, b" more"], true),
        Step::Done(Ok(()), After::Close)
    );
}

#[test]
fn a_connection_that_ends_inside_a_reply_is_a_typed_failure() {
    let mut http = machine(&HttpOperation::default());
    let reply: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel";
    assert_eq!(
        last(&mut http, &[reply], true),
        Step::Broken(ErrorKind::ShortRead)
    );
    assert_eq!(
        last(&mut http, &[&reply[..20]], true),
        Step::Broken(ErrorKind::PeerClosedEarly)
    );
    assert_eq!(
        last(&mut http, &[], true),
        Step::Broken(ErrorKind::PeerClosedEarly)
    );
}

#[test]
fn bytes_no_one_asked_for_break_the_connection() {
    let mut http = machine(&HttpOperation::default());
    let twice: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\n";
    assert_eq!(
        last(&mut http, &[twice], false),
        Step::Broken(ErrorKind::BadProtocol)
    );
}

#[test]
fn a_reply_to_head_has_no_body_whatever_it_declares() {
    let mut http = machine(&HttpOperation {
        method: "HEAD".to_owned(),
        ..HttpOperation::default()
    });
    assert_eq!(
        last(
            &mut http,
            &[b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"],
            false
        ),
        OK
    );
}

#[test]
fn the_first_byte_ends_ttfb_and_the_last_ends_the_body() {
    let mut http = machine(&HttpOperation::default());
    let mut session = http.open(0);
    let mut out = Output::default();
    http.connected(&mut session, &mut Turn::new(0, &mut out));
    http.start(&mut session, 0, &mut out);
    http.received(&mut session, b"HTT", &mut Turn::new(10, &mut out));
    let mut turn = Turn::new(30, &mut out);
    http.received(
        &mut session,
        b"P/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        &mut turn,
    );
    assert_eq!(turn.marks().collect::<Vec<_>>(), [(TTFB, 10), (BODY, 30)]);
}

#[test]
fn the_request_carries_what_the_job_asks_for() {
    let operation = HttpOperation {
        method: "POST".to_owned(),
        headers: vec![("Host".to_owned(), "other".to_owned())],
        body: "abc".to_owned(),
        keep_alive: false,
        ..HttpOperation::default()
    };
    let text = String::from_utf8(machine(&operation).shared().to_vec()).unwrap();
    assert_eq!(
        text,
        "POST /x HTTP/1.1\r\nConnection: close\r\nContent-Length: 3\r\nHost: other\r\n\r\nabc"
    );
}

#[test]
fn a_header_that_would_smuggle_a_line_is_refused() {
    let operation = HttpOperation {
        headers: vec![("X".to_owned(), "a\r\nY: b".to_owned())],
        ..HttpOperation::default()
    };
    assert!(Http::new(&operation, &target(), 7).is_err());
}

/// A reply, valid or slightly damaged.
fn reply() -> impl Strategy<Value = Vec<u8>> {
    let status = prop_oneof![
        Just("200 OK"),
        Just("404 No"),
        Just("500 Bad"),
        Just("204 None"),
        Just("2x0 ?")
    ];
    let framing = prop_oneof![Just(0_u8), Just(1), Just(2)];
    (status, framing, "[a-z]{0,40}", "[a-z]{0,8}", any::<bool>()).prop_map(
        |(status, framing, body, note, closes)| {
            let connection = if closes { "Connection: close\r\n" } else { "" };
            let (field, body) = match framing {
                0 => (format!("Content-Length: {}\r\n", body.len()), body),
                1 => (
                    "Transfer-Encoding: chunked\r\n".to_owned(),
                    format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len().max(1)),
                ),
                _ => (String::new(), body),
            };
            format!("HTTP/1.1 {status}\r\nX-Note: {note}\r\n{connection}{field}\r\n{body}")
                .into_bytes()
        },
    )
}

proptest! {
    #[test]
    fn the_shortcut_decides_like_the_parser_on_random_replies_and_splits(
        replies in prop::collection::vec((reply(), 0_usize..120, 0_usize..120, any::<bool>()), 1..12),
    ) {
        let mut quick = machine(&HttpOperation::default());
        let mut strict = machine(&HttpOperation { strict: true, ..HttpOperation::default() });
        for (reply, first, second, ends) in &replies {
            let first = (*first).min(reply.len());
            let second = (*second).clamp(first, reply.len().max(first));
            let parts = [&reply[..first], &reply[first..second], &reply[second..]];
            // Twice, so that the quick machine has learned it.
            for _ in 0..2 {
                prop_assert_eq!(steps(&mut quick, &parts, *ends), steps(&mut strict, &parts, *ends));
            }
        }
    }
}
