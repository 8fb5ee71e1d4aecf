//! Several requests on one connection, lists of paths, checked payloads.

use super::tests::target;
use super::*;

const ONE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na";
const MISSING: &[u8] = b"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n";
const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

fn pipelined(slots: u32) -> Http {
    let operation = HttpOperation {
        requests_at_once: slots,
        ..HttpOperation::default()
    };
    Http::new(&operation, &target(), 7).unwrap()
}

/// A connection on which `order` of slots were asked for something.
fn asked(http: &mut Http, order: &[usize]) -> (Session, Output) {
    let mut session = http.open(3);
    let mut out = Output::default();
    http.connected(&mut session, &mut Turn::new(0, &mut out));
    for slot in order {
        http.start(&mut session, *slot, &mut out);
    }
    (session, out)
}

/// `(slot, step)` of everything that follows from `bytes`, fed as a worker does.
fn feed(http: &mut Http, session: &mut Session, mut bytes: &[u8]) -> Vec<(usize, Step)> {
    let mut steps = Vec::new();
    loop {
        let mut out = Output::default();
        let mut turn = Turn::new(1, &mut out);
        let step = http.received(session, bytes, &mut turn);
        steps.push((turn.slot, step));
        if turn.left == 0 {
            return steps;
        }
        bytes = &bytes[bytes.len() - turn.left..];
    }
}

const OK: Step = Step::Done(Ok(()), After::Ready);
const NOT_FOUND: Step = Step::Done(Err(ErrorKind::BadStatus4xx), After::Ready);

#[test]
fn requests_of_all_slots_go_out_behind_each_other() {
    let mut http = pipelined(3);
    let (_, out) = asked(&mut http, &[0, 1, 2]);
    let one = "GET /x HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";
    assert_eq!(String::from_utf8(out.head).unwrap(), one.repeat(3));
    assert!(out.tail.is_empty());
}

#[test]
fn answers_belong_to_slots_in_the_order_of_asking_split_at_every_byte() {
    let replies = [ONE, MISSING, ONE].concat();
    for at in 0..=replies.len() {
        let mut http = pipelined(3);
        let (mut session, _) = asked(&mut http, &[2, 0, 1]);
        let mut steps = Vec::new();
        for part in [&replies[..at], &replies[at..]] {
            if !part.is_empty() {
                steps.extend(feed(&mut http, &mut session, part));
            }
        }
        steps.retain(|(_, step)| *step != Step::More);
        assert_eq!(steps, [(2, OK), (0, NOT_FOUND), (1, OK)], "split at {at}");
    }
}

#[test]
fn a_slot_that_is_used_again_queues_behind_the_others() {
    let mut http = pipelined(2);
    let (mut session, mut out) = asked(&mut http, &[0, 1]);
    assert_eq!(feed(&mut http, &mut session, ONE), [(0, OK)]);
    http.start(&mut session, 0, &mut out);
    assert_eq!(
        feed(&mut http, &mut session, &[ONE, ONE].concat()),
        [(1, OK), (0, OK)]
    );
}

#[test]
fn an_answer_too_many_breaks_the_connection() {
    let mut http = pipelined(2);
    let (mut session, _) = asked(&mut http, &[0]);
    let twice = [ONE, ONE].concat();
    let broken = [(0, Step::Broken(ErrorKind::BadProtocol))];
    assert_eq!(feed(&mut http, &mut session, &twice), broken);
}

#[test]
fn a_server_that_closes_in_the_middle_fails_the_requests_behind() {
    let mut http = pipelined(3);
    let (mut session, mut out) = asked(&mut http, &[0, 1, 2]);
    let steps = feed(&mut http, &mut session, &[ONE, LAST].concat());
    assert_eq!(steps, [(0, OK), (1, Step::Done(Ok(()), After::Busy))]);
    assert!(!http.has_room(&session));
    let ended = http.ended(&mut session, &mut Turn::new(2, &mut out));
    assert_eq!(ended, Step::Broken(ErrorKind::PeerClosedEarly));
}

#[test]
fn a_server_that_closes_after_all_answers_has_finished() {
    let mut http = pipelined(2);
    let (mut session, mut out) = asked(&mut http, &[0, 1]);
    feed(&mut http, &mut session, &[ONE, LAST].concat());
    let ended = http.ended(&mut session, &mut Turn::new(2, &mut out));
    assert_eq!(ended, Step::Finished);
}

#[test]
fn nothing_may_follow_the_answer_that_announced_the_end() {
    let mut http = pipelined(2);
    let (mut session, _) = asked(&mut http, &[0, 1]);
    let steps = feed(&mut http, &mut session, &[LAST, ONE].concat());
    assert_eq!(steps, [(0, Step::Broken(ErrorKind::BadProtocol))]);
}

#[test]
fn paths_are_asked_for_in_turn_and_tell_their_kind() {
    for slots in [1, 4] {
        let operation = HttpOperation {
            paths: vec!["/a".to_owned(), "/b?c".to_owned()],
            body: "text".to_owned(),
            requests_at_once: slots,
            ..HttpOperation::default()
        };
        let mut http = Http::new(&operation, &target(), 7).unwrap();
        assert_eq!(http.kinds(), ["/a", "/b?c"]);
        for (kind, path) in [(0, "/a"), (1, "/b?c"), (0, "/a")] {
            let (mut session, out) = asked(&mut http, &[0]);
            let mut sent = out.head.clone();
            sent.extend_from_slice(&http.shared()[out.tail.clone()]);
            let sent = String::from_utf8(sent).unwrap();
            assert!(sent.starts_with(&format!("GET {path} HTTP/1.1\r\n")));
            assert!(sent.ends_with("Content-Length: 4\r\n\r\ntext"), "{sent}");
            feed(&mut http, &mut session, ONE);
            assert_eq!(http.kind(&session, 0), kind);
        }
    }
}

fn verifying(slots: u32) -> Http {
    let operation = HttpOperation {
        method: "POST".to_owned(),
        body: "question".to_owned(),
        verify: true,
        requests_at_once: slots,
        ..HttpOperation::default()
    };
    Http::new(&operation, &target(), 7).unwrap().for_worker(2)
}

/// A reply whose marker says that it answers number `sequence`, over `body`.
fn marked(sequence: u64, marked: &[u8], body: &str) -> Vec<u8> {
    let mut text = b"HTTP/1.1 200 OK\r\nX-Steelyard-Payload: ".to_vec();
    Marker::of(7, 2 << 20 | 3, sequence, marked).write(&mut text);
    text.extend(format!("\r\nContent-Length: {}\r\n\r\n{body}", body.len()).bytes());
    text
}

#[test]
fn a_verified_request_carries_the_marker_of_its_body() {
    for slots in [1, 2] {
        let mut http = verifying(slots);
        let (_, out) = asked(&mut http, &[0]);
        let mut sent = out.head.clone();
        sent.extend_from_slice(&http.shared()[out.tail.clone()]);
        let sent = String::from_utf8(sent).unwrap();
        let (head, body) = sent.split_once("\r\n\r\n").unwrap();
        let field = head.lines().last().unwrap();
        let value = field.strip_prefix("x-steelyard-payload: ").unwrap();
        let marker = Marker::parse(value.as_bytes()).unwrap();
        assert_eq!(marker, Marker::of(7, 2 << 20 | 3, 0, b"question"));
        assert_eq!(body, "question");
    }
}

#[test]
fn bodies_are_checked_against_the_marker_of_the_reply() {
    let cases: [(Vec<u8>, Result<(), ErrorKind>); 4] = [
        (marked(0, b"answer", "answer"), Ok(())),
        (
            marked(0, b"answer", "answex"),
            Err(ErrorKind::ChecksumMismatch),
        ),
        (marked(5, b"answer", "answer"), Err(ErrorKind::BodyMismatch)),
        (ONE.to_vec(), Err(ErrorKind::CapabilityMissing)),
    ];
    for slots in [1, 2] {
        for (reply, outcome) in &cases {
            for at in 1..reply.len() {
                let mut http = verifying(slots);
                let (mut session, _) = asked(&mut http, &[0]);
                let first = feed(&mut http, &mut session, &reply[..at]);
                assert_eq!(first, [(0, Step::More)]);
                let last = feed(&mut http, &mut session, &reply[at..]);
                assert_eq!(last, [(0, Step::Done(*outcome, After::Ready))]);
                let payload = http.payload().unwrap();
                assert_eq!(payload.checked + payload.unmarked, 1);
                let damaged = *outcome == Err(ErrorKind::ChecksumMismatch);
                assert_eq!(payload.corrupted, u64::from(damaged));
            }
        }
    }
}

#[test]
fn jobs_that_contradict_themselves_are_refused() {
    let usual = HttpOperation::default;
    let jobs = [
        HttpOperation {
            requests_at_once: 0,
            ..usual()
        },
        HttpOperation {
            requests_at_once: 2,
            keep_alive: false,
            ..usual()
        },
        HttpOperation {
            verify: true,
            method: "HEAD".to_owned(),
            ..usual()
        },
        HttpOperation {
            paths: vec!["a".to_owned()],
            ..usual()
        },
        HttpOperation {
            paths: vec!["/a b".to_owned()],
            ..usual()
        },
        HttpOperation {
            body: "x".to_owned(),
            body_base64: Some("eA==".to_owned()),
            ..usual()
        },
        HttpOperation {
            body_base64: Some("?".to_owned()),
            ..usual()
        },
    ];
    for job in jobs {
        let error = Http::new(&job, &target(), 7).unwrap_err();
        assert!(error.hint().is_some(), "{error}");
    }
}

#[test]
fn a_body_in_base64_is_sent_as_the_bytes_it_stands_for() {
    let operation = HttpOperation {
        body_base64: Some("/wAB".to_owned()),
        ..HttpOperation::default()
    };
    let http = Http::new(&operation, &target(), 7).unwrap();
    assert!(
        http.shared()
            .ends_with(b"Content-Length: 3\r\n\r\n\xff\x00\x01")
    );
}
