use super::frame::{ACK, PING};
use super::frame::{CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, write_head};
use super::*;

mod splits;
mod violations;
mod windows;

fn target() -> Target {
    Target::resolve("http://127.0.0.1:8080/x", None).unwrap()
}

fn machine(operation: &HttpOperation) -> Http2 {
    Http2::new(operation, &target(), 7).unwrap()
}

fn usual(slots: u32) -> HttpOperation {
    HttpOperation {
        requests_at_once: slots,
        ..HttpOperation::default()
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_head(payload.len(), kind, flags, stream, &mut bytes);
    bytes.extend_from_slice(payload);
    bytes
}

fn settings(entries: &[(u16, u32)]) -> Vec<u8> {
    let mut payload = Vec::new();
    for (name, value) in entries {
        payload.extend_from_slice(&name.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    frame(SETTINGS, 0, 0, &payload)
}

fn greeting(entries: &[(u16, u32)]) -> Vec<u8> {
    [settings(entries), frame(SETTINGS, ACK, 0, &[])].concat()
}

const GOAWAY: u8 = 7;
const ALL: u8 = END_HEADERS | END_STREAM;

fn head(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &[0x88])
}

fn reply(stream: u32) -> Vec<u8> {
    [head(stream), frame(DATA, END_STREAM, stream, b"ok")].concat()
}

/// A client that does what a worker does.
struct Client {
    http: Http2,
    session: Session,
    sent: Vec<u8>,
    steps: Vec<(usize, Step)>,
}

impl Client {
    /// Connected and greeted, with `entries` as the server's settings.
    fn new(operation: &HttpOperation, entries: &[(u16, u32)]) -> Self {
        let mut http = machine(operation);
        let session = http.open(3);
        let mut client = Self {
            http,
            session,
            sent: Vec::new(),
            steps: Vec::new(),
        };
        let mut out = Output::default();
        let mut turn = Turn::new(0, &mut out);
        let step = client.http.connected(&mut client.session, &mut turn);
        assert_eq!(step, Step::More);
        assert!(out.head.starts_with(PREFACE));
        client.feed(&greeting(entries));
        assert_eq!(client.steps.pop(), Some((0, Step::Ready)));
        client.steps.clear();
        client.sent.clear();
        client
    }

    fn start(&mut self, slot: usize) -> &mut Self {
        let mut out = Output::default();
        self.http.start(&mut self.session, slot, &mut out);
        assert!(out.tail.is_empty());
        self.sent.extend_from_slice(&out.head);
        self
    }

    fn feed(&mut self, mut bytes: &[u8]) -> &mut Self {
        loop {
            let mut out = Output::default();
            let mut turn = Turn::new(1, &mut out);
            let step = self.http.received(&mut self.session, bytes, &mut turn);
            let (slot, left) = (turn.slot, turn.left);
            self.sent.extend_from_slice(&out.head);
            self.steps.push((slot, step));
            if left == LOOK_AGAIN {
                bytes = &[];
                continue;
            }
            if left == 0 || left >= bytes.len() {
                return self;
            }
            bytes = &bytes[bytes.len() - left..];
        }
    }

    /// What has happened, without mere waiting.
    fn happened(&mut self) -> Vec<(usize, Step)> {
        let mut steps = std::mem::take(&mut self.steps);
        steps.retain(|(_, step)| *step != Step::More);
        steps
    }

    /// Kinds and streams of the frames that were sent.
    fn frames(&self) -> Vec<(u8, u32, usize)> {
        let mut rest = &self.sent[..];
        let mut frames = Vec::new();
        while !rest.is_empty() {
            let length = usize::from(rest[1]) << 8 | usize::from(rest[2]);
            let stream = u32::from_be_bytes([rest[5], rest[6], rest[7], rest[8]]);
            frames.push((rest[3], stream, length));
            rest = &rest[HEAD_BYTES + length..];
        }
        frames
    }
}

const OK: Step = Step::Done(Ok(()), After::Ready);

fn failed(kind: ErrorKind) -> Step {
    Step::Done(Err(kind), After::Ready)
}

#[test]
fn replies_end_their_own_slots_in_any_order() {
    let mut client = Client::new(&usual(3), &[]);
    client.start(0).start(1).start(2);
    let streams: Vec<_> = client.frames().iter().map(|frame| frame.1).collect();
    assert_eq!(streams, [1, 3, 5]);
    let mixed = [head(3), head(1), frame(DATA, 0, 3, b"a"), reply(5)];
    let rest = [
        frame(DATA, END_STREAM, 1, b"b"),
        frame(DATA, END_STREAM, 3, b""),
    ];
    client.feed(&mixed.concat()).feed(&rest.concat());
    assert_eq!(client.happened(), [(2, OK), (0, OK), (1, OK)]);
}

#[test]
fn equal_requests_are_equal_bytes_but_for_the_stream() {
    let mut client = Client::new(&usual(1), &[]);
    let mut requests = Vec::new();
    for stream in [1_u32, 3, 5] {
        client.sent.clear();
        client.start(0).feed(&reply(stream));
        let mut sent = client.sent.clone();
        assert_eq!(&sent[5..9], stream.to_be_bytes());
        sent.drain(5..9);
        requests.push(sent);
    }
    assert!(requests.iter().all(|sent| *sent == requests[0]));
}

#[test]
fn statuses_that_are_no_success_fail_the_slot_alone() {
    let mut client = Client::new(&usual(2), &[]);
    client.start(0).start(1);
    let missing = frame(HEADERS, ALL, 1, &[0x8d]);
    client.feed(&[missing, reply(3)].concat());
    assert_eq!(
        client.happened(),
        [(0, failed(ErrorKind::BadStatus4xx)), (1, OK)]
    );
}

#[test]
fn a_stream_that_is_reset_fails_its_slot_alone() {
    let mut client = Client::new(&usual(2), &[]);
    client.start(0).start(1);
    client.feed(&[frame(RST_STREAM, 0, 1, &[0, 0, 0, 7]), reply(3)].concat());
    assert_eq!(client.happened(), [(0, failed(ErrorKind::H2Rst)), (1, OK)]);
}

#[test]
fn goaway_fails_what_the_server_gives_up_and_waits_for_the_rest() {
    let mut client = Client::new(&usual(3), &[]);
    client.start(0).start(1).start(2);
    client.feed(&frame(GOAWAY, 0, 0, &[0, 0, 0, 3, 0, 0, 0, 0]));
    assert!(!client.http.has_room(&client.session));
    client.feed(&[reply(3), reply(1)].concat());
    let broken = Step::Broken(ErrorKind::H2Goaway);
    assert_eq!(client.happened(), [(1, OK), (0, OK), (0, broken)]);
}

#[test]
fn goaway_after_which_all_is_answered_closes_politely() {
    let mut client = Client::new(&usual(1), &[]);
    client.start(0);
    let goaway = frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]);
    client.feed(&[goaway.clone(), reply(1)].concat());
    assert_eq!(client.happened(), [(0, Step::Done(Ok(()), After::Close))]);
    let mut idle = Client::new(&usual(1), &[]);
    idle.feed(&goaway);
    assert_eq!(idle.happened(), [(0, Step::Finished)]);
    let mut none = Client::new(&usual(1), &[]);
    none.start(0).feed(&frame(GOAWAY, 0, 0, &[0; 8]));
    assert_eq!(none.happened(), [(0, Step::Broken(ErrorKind::H2Goaway))]);
}

#[test]
fn pings_and_settings_are_answered() {
    let mut client = Client::new(&usual(2), &[]);
    client.start(0);
    client.sent.clear();
    let ping = frame(PING, 0, 0, b"12345678");
    client.feed(&[ping, settings(&[]), reply(1)].concat());
    let answers = [
        frame(PING, ACK, 0, b"12345678"),
        frame(SETTINGS, ACK, 0, &[]),
    ]
    .concat();
    assert_eq!(client.sent, answers);
    // With one slot they go out with the next request, so that they are never lost.
    let mut alone = Client::new(&usual(1), &[]);
    alone
        .start(0)
        .feed(&[frame(PING, 0, 0, b"12345678"), reply(1)].concat());
    alone.sent.clear();
    alone.start(0);
    assert!(alone.sent.starts_with(&frame(PING, ACK, 0, b"12345678")));
}

#[test]
fn the_server_decides_how_many_streams_there_are() {
    let mut client = Client::new(&usual(5), &[(MAX_CONCURRENT_STREAMS, 2)]);
    client.start(0);
    assert!(client.http.has_room(&client.session));
    client.start(1);
    assert!(!client.http.has_room(&client.session));
    client.feed(&reply(1));
    assert!(client.http.has_room(&client.session));
}

#[test]
fn a_server_that_allows_no_stream_yet_is_waited_for() {
    let mut http = machine(&usual(1));
    let mut session = http.open(0);
    let mut out = Output::default();
    let mut feed = |bytes: &[u8]| http.received(&mut session, bytes, &mut Turn::new(0, &mut out));
    assert_eq!(feed(&settings(&[(MAX_CONCURRENT_STREAMS, 0)])), Step::More);
    assert_eq!(feed(&frame(SETTINGS, ACK, 0, &[])), Step::More);
    assert_eq!(feed(&settings(&[(MAX_CONCURRENT_STREAMS, 9)])), Step::Ready);
}

#[test]
fn an_answer_before_the_whole_request_cancels_the_rest_of_it() {
    let operation = HttpOperation {
        method: "POST".to_owned(),
        body: "x".repeat(70_000),
        ..usual(2)
    };
    let mut client = Client::new(&operation, &[]);
    client.start(0);
    client.sent.clear();
    client.feed(&frame(HEADERS, ALL, 1, &[0x8d]));
    assert_eq!(client.frames(), [(RST_STREAM, 1, 4)]);
    assert_eq!(client.happened(), [(0, failed(ErrorKind::BadStatus4xx))]);
    // What the server says of that stream afterwards changes nothing.
    client.feed(&frame(RST_STREAM, 0, 1, &[0; 4]));
    client.feed(&frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1]));
    assert_eq!(client.happened(), []);
}

#[test]
fn stream_numbers_that_are_used_up_replace_the_connection() {
    let mut client = Client::new(&usual(1), &[]);
    client.session.next_stream = LARGEST;
    client.start(0);
    assert!(!client.http.has_room(&client.session));
    client.feed(&reply(LARGEST));
    assert_eq!(client.happened(), [(0, Step::Done(Ok(()), After::Close))]);
}

#[test]
fn a_stream_is_found_whatever_others_have_come_since() {
    let mut session = Session::new(0, 3);
    session.open_stream(0, Asked::default());
    for _ in 0..100 {
        let stream = session.open_stream(1, Asked::default());
        assert_eq!(session.slot_of(stream), Ok(Some(1)));
        session.close_stream(1);
        assert_eq!(session.slot_of(stream), Ok(None));
    }
    assert_eq!(session.slot_of(1), Ok(Some(0)));
    assert_eq!(session.slot_of(2), Err(ErrorKind::BadProtocol));
    assert_eq!(session.slot_of(203), Err(ErrorKind::BadProtocol));
}

#[test]
fn fields_of_connections_are_refused_and_host_becomes_the_authority() {
    let with = |name: &str, value: &str| HttpOperation {
        headers: vec![(name.to_owned(), value.to_owned())],
        version: steelyard_wire::job::HttpVersion::Http2,
        ..HttpOperation::default()
    };
    assert!(Http2::new(&with("Connection", "close"), &target(), 7).is_err());
    let mut client = Client::new(&with("Host", "elsewhere"), &[]);
    client.start(0);
    let text = String::from_utf8_lossy(&client.sent).into_owned();
    assert!(text.contains("elsewhere") && !text.contains("127.0.0.1"));
}

#[test]
fn verified_bodies_are_checked_against_the_marker_of_the_reply() {
    let operation = HttpOperation {
        verify: true,
        ..usual(2)
    };
    let marked = |sequence: u64, body: &[u8]| {
        let mut value = Vec::new();
        crate::payload::Marker::of(7, 3, sequence, body).write(&mut value);
        let mut block = vec![0x88];
        steelyard_hpack::write::named_field(&mut block, b"x-steelyard-payload", &value);
        frame(HEADERS, END_HEADERS, 2 * sequence as u32 + 1, &block)
    };
    let mut client = Client::new(&operation, &[]);
    client.start(0).start(1);
    let replies = [
        marked(0, b"ok"),
        frame(DATA, END_STREAM, 1, b"ok"),
        marked(1, b"ok"),
        frame(DATA, END_STREAM, 3, b"no"),
    ];
    client.feed(&replies.concat());
    let damaged = failed(ErrorKind::ChecksumMismatch);
    assert_eq!(client.happened(), [(0, OK), (1, damaged)]);
    let payload = client.http.payload().unwrap();
    assert_eq!((payload.checked, payload.corrupted), (2, 1));
}
