use super::*;

#[test]
fn what_may_not_come_breaks_the_connection() {
    let wrong: Vec<Vec<u8>> = vec![
        frame(DATA, END_STREAM, 1, b"before the head"),
        reply(3),
        reply(2),
        [head(1), head(1)].concat(),
        frame(HEADERS, END_HEADERS, 1, &[0x00, 1, b'a', 1, b'b']),
        frame(HEADERS, ALL, 1, b"\x08\x03100"),
        frame(CONTINUATION, END_HEADERS, 1, &[0x88]),
        [frame(HEADERS, 0, 1, &[0x88]), frame(PING, 0, 0, &[0; 8])].concat(),
        [
            frame(HEADERS, 0, 1, &[0x88]),
            frame(CONTINUATION, 4, 3, &[]),
        ]
        .concat(),
        // More, and less, than was declared.
        [
            frame(HEADERS, 4, 1, b"\x88\x0f\x0d\x011"),
            frame(DATA, 1, 1, b"ab"),
        ]
        .concat(),
        settings(&[(ENABLE_PUSH, 1)]),
        settings(&[(INITIAL_WINDOW_SIZE, 1 << 31)]),
        frame(WINDOW_UPDATE, 0, 0, &LARGEST.to_be_bytes()),
        frame(RST_STREAM, 0, 3, &[0; 4]),
    ];
    for bytes in wrong {
        let mut client = Client::new(&usual(1), &[]);
        client.start(0).feed(&bytes);
        let last = client.happened();
        assert_eq!(
            last,
            [(0, Step::Broken(ErrorKind::BadProtocol))],
            "{bytes:?}"
        );
    }
    let mut client = Client::new(&usual(1), &[]);
    let cut = [
        frame(HEADERS, 4, 1, b"\x88\x0f\x0d\x012"),
        frame(DATA, 1, 1, b"a"),
    ];
    client.start(0).feed(&cut.concat());
    assert_eq!(client.happened(), [(0, failed(ErrorKind::BadProtocol))]);
}

#[test]
fn a_server_that_does_not_begin_with_settings_speaks_something_else() {
    for bytes in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        &frame(PING, 0, 0, &[0; 8]),
    ] {
        let mut http = machine(&usual(1));
        let mut session = http.open(0);
        let mut out = Output::default();
        let step = http.received(&mut session, bytes, &mut Turn::new(0, &mut out));
        assert_eq!(step, Step::Broken(ErrorKind::BadProtocol));
    }
}

#[test]
fn a_connection_that_ends_with_requests_open_is_a_typed_failure() {
    let mut client = Client::new(&usual(2), &[]);
    let mut out = Output::default();
    let ended = |client: &mut Client, out: &mut Output| {
        client
            .http
            .ended(&mut client.session, &mut Turn::new(2, out))
    };
    assert_eq!(ended(&mut client, &mut out), Step::Finished);
    client.start(0);
    let broken = Step::Broken(ErrorKind::PeerClosedEarly);
    assert_eq!(ended(&mut client, &mut out), broken);
}
