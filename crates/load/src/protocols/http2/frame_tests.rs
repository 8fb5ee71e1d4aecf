use proptest::prelude::*;

use super::*;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_head(payload.len(), kind, flags, stream, &mut bytes);
    bytes.extend_from_slice(payload);
    bytes
}

fn only(bytes: &[u8]) -> Result<Option<Frame<'_>>, Malformed> {
    next(bytes).map(|found| found.map(|(frame, _)| frame))
}

#[test]
fn padding_and_priority_are_no_part_of_a_header_block() {
    let payload = [2, 0, 0, 0, 0, 9, 0x88, 0x20, 0, 0];
    let flags = PADDED | WITH_PRIORITY | END_HEADERS | END_STREAM;
    let expected = Frame::Headers {
        stream: 3,
        fragment: &[0x88, 0x20],
        end_headers: true,
        end_stream: true,
        continued: false,
    };
    assert_eq!(
        only(&frame(HEADERS, flags, 3, &payload)),
        Ok(Some(expected))
    );
}

#[test]
fn data_is_announced_before_it_has_come() {
    let bytes = frame(DATA, PADDED | END_STREAM, 1, &[3, b'a', b'b', 0, 0, 0]);
    let expected = Frame::Data {
        stream: 1,
        content_bytes: 2,
        padding_bytes: 3,
        flow_bytes: 6,
        end_stream: true,
    };
    assert_eq!(next(&bytes[..9]), Ok(None));
    assert_eq!(next(&bytes[..10]), Ok(Some((expected, 10))));
    assert_eq!(next(&bytes), Ok(Some((expected, 10))));
}

#[test]
fn frames_that_may_not_come_are_malformed() {
    let wrong = [
        frame(DATA, 0, 0, b"x"),
        frame(DATA, PADDED, 1, &[]),
        frame(DATA, PADDED, 1, &[1]),
        frame(HEADERS, 0, 0, &[0x88]),
        frame(HEADERS, PADDED, 1, &[]),
        frame(HEADERS, PADDED, 1, &[2, 0]),
        frame(HEADERS, WITH_PRIORITY, 1, &[0; 4]),
        frame(CONTINUATION, 0, 0, &[]),
        frame(PUSH_PROMISE, 0, 1, &[0; 4]),
        frame(PRIORITY, 0, 1, &[0; 4]),
        frame(RST_STREAM, 0, 1, &[0; 5]),
        frame(RST_STREAM, 0, 0, &[0; 4]),
        frame(SETTINGS, 0, 1, &[]),
        frame(SETTINGS, 0, 0, &[0; 5]),
        frame(SETTINGS, ACK, 0, &[0; 6]),
        frame(PING, 0, 0, &[0; 7]),
        frame(PING, 0, 1, &[0; 8]),
        frame(GOAWAY, 0, 0, &[0; 7]),
        frame(GOAWAY, 0, 1, &[0; 8]),
        frame(WINDOW_UPDATE, 0, 0, &[0; 4]),
        frame(WINDOW_UPDATE, 0, 0, &[0; 3]),
    ];
    for bytes in wrong {
        assert_eq!(next(&bytes), Err(Malformed), "{bytes:?}");
    }
    let mut long = Vec::new();
    write_head(LONGEST_PAYLOAD + 1, DATA, 0, 1, &mut long);
    assert_eq!(next(&long), Err(Malformed));
    assert_eq!(next(b"HTTP/1.1 400 Bad Request"), Err(Malformed));
}

#[test]
fn types_that_no_one_knows_are_ignored() {
    let expected = Frame::Ignored { stream: 5 };
    assert_eq!(only(&frame(0xfa, 0xff, 5, b"xyz")), Ok(Some(expected)));
}

proptest! {
    #[test]
    fn any_bytes_are_a_frame_or_none_and_more_of_them_never_change_that(
        bytes in prop::collection::vec(any::<u8>(), 0..80),
        short in any::<bool>(),
    ) {
        let mut bytes = bytes;
        if short && bytes.len() > 2 {
            (bytes[0], bytes[1]) = (0, 0);
        }
        let whole = next(&bytes);
        if let Ok(Some((_, taken))) = whole {
            prop_assert!(taken <= bytes.len());
        }
        for at in 0..bytes.len() {
            match next(&bytes[..at]) {
                Ok(None) => {}
                // The beginning decides already.
                decided => prop_assert_eq!(decided, whole),
            }
        }
    }
}
