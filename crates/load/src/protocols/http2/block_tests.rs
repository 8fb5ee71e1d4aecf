use proptest::prelude::*;

use steelyard_hpack::write;

use super::*;

fn block(bytes: &[u8]) -> Result<Block, Malformed> {
    read(bytes, &mut Vec::new())
}

fn status(bytes: &[u8]) -> Option<u16> {
    block(bytes).unwrap().status
}

#[test]
fn a_status_is_read_in_all_its_spellings() {
    for (entry, expected) in (0x88..=0x8e_u8).zip(STATUSES) {
        assert_eq!(status(&[entry]), Some(expected));
    }
    // By name, never indexed, to be indexed; in digits and in Huffman's digits.
    assert_eq!(status(b"\x08\x03503"), Some(503));
    assert_eq!(status(b"\x1c\x03503"), Some(503));
    assert_eq!(status(b"\x48\x03503"), Some(503));
    assert_eq!(status(b"\x48\x82\x64\x02"), Some(302));
    assert_eq!(status(b"\x00\x07:status\x03201"), Some(201));
    assert_eq!(status(b"\x20\x88"), Some(200));
}

#[test]
fn a_declared_length_and_a_marker_are_read() {
    let marker = Marker::of(1, 2, 3, b"x");
    let mut value = Vec::new();
    marker.write(&mut value);
    let mut bytes = vec![0x88];
    write::field(&mut bytes, 28, b"42");
    write::named_field(&mut bytes, b"x-other", &[b'v'; 300]);
    write::named_field(&mut bytes, MARKER_FIELD.as_bytes(), &value);
    let expected = Block {
        status: Some(200),
        content_length: Some(42),
        marker: Some(marker),
    };
    assert_eq!(block(&bytes), Ok(expected));
}

#[test]
fn trailers_have_no_status() {
    assert_eq!(status(b"\x00\x01a\x01b"), None);
}

#[test]
fn blocks_that_may_not_come_are_malformed() {
    let wrong: [&[u8]; 14] = [
        b"\x80",
        b"\xbe",
        b"\x82",
        b"\x88\x88",
        b"\x00\x01a\x01b\x88",
        b"\x00\x01A\x01b",
        b"\x00\x00\x01b",
        b"\x00\x02:x\x01b",
        b"\x08\x0220",
        b"\x08\x03+20",
        b"\x08\x03",
        b"\x08\x82\x64\x1e",
        b"\x88\x20",
        b"\xff\xff\xff\xff\xff\xff\xff\xff",
    ];
    for bytes in wrong {
        assert_eq!(block(bytes), Err(Malformed), "{bytes:?}");
    }
    assert_eq!(block(b"\x88\x0f\x0d\x01x"), Err(Malformed));
    assert_eq!(block(b"\x88\x0f\x0d\x011\x0f\x0d\x012"), Err(Malformed));
}

proptest! {
    #[test]
    fn any_bytes_are_a_block_or_none(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = block(&bytes);
    }

    #[test]
    fn what_is_written_is_read(value in "[a-z0-9 ]{0,400}", length in any::<u64>()) {
        let mut bytes = Vec::new();
        write::indexed(&mut bytes, 8);
        write::named_field(&mut bytes, b"x-note", value.as_bytes());
        write::field(&mut bytes, 28, length.to_string().as_bytes());
        let read = block(&bytes).unwrap();
        prop_assert_eq!((read.status, read.content_length), (Some(200), Some(length)));
    }
}
