use proptest::prelude::*;

use super::*;
use crate::write;

type Fields = Vec<(String, String)>;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn fields(decoder: &mut Decoder, block: &[u8]) -> Result<Fields, Malformed> {
    let mut seen = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    decoder.decode(block, &mut |name, value| {
        seen.push((text(name), text(value)));
    })?;
    Ok(seen)
}

fn pairs(wanted: &[(&str, &str)]) -> Fields {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    wanted.iter().map(own).collect()
}

const FIRST: [(&str, &str); 4] = [
    (":method", "GET"),
    (":scheme", "http"),
    (":path", "/"),
    (":authority", "www.example.com"),
];
const THIRD: [(&str, &str); 5] = [
    (":method", "GET"),
    (":scheme", "https"),
    (":path", "/index.html"),
    (":authority", "www.example.com"),
    ("custom-key", "custom-value"),
];

/// Three blocks of one connection: RFC 7541, C.3 and C.4.
fn published_requests(blocks: [&str; 3]) {
    let mut decoder = Decoder::default();
    let mut second = FIRST.to_vec();
    second.push(("cache-control", "no-cache"));
    for (block, wanted) in blocks.iter().zip([&FIRST[..], &second, &THIRD]) {
        assert_eq!(fields(&mut decoder, &hex(block)).unwrap(), pairs(wanted));
    }
}

#[test]
fn the_published_requests_without_huffman_code_are_read() {
    published_requests([
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ]);
}

#[test]
fn the_published_requests_with_huffman_code_are_read() {
    published_requests([
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ]);
}

#[test]
fn the_published_single_fields_are_read() {
    for (block, field) in [
        (
            "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
            ("custom-key", "custom-header"),
        ),
        (
            "040c 2f73 616d 706c 652f 7061 7468",
            (":path", "/sample/path"),
        ),
        (
            "1008 7061 7373 776f 7264 0673 6563 7265 74",
            ("password", "secret"),
        ),
        ("82", (":method", "GET")),
    ] {
        let seen = fields(&mut Decoder::default(), &hex(block)).unwrap();
        assert_eq!(seen, pairs(&[field]));
    }
}

#[test]
fn old_entries_leave_the_table_when_it_is_full() {
    let mut decoder = Decoder::default();
    let mut block = hex("3f21"); // the table shrinks to 64 bytes: room for one entry
    block.extend(hex("4001610131 4001620132 be"));
    assert_eq!(
        fields(&mut decoder, &block).unwrap(),
        pairs(&[("a", "1"), ("b", "2"), ("b", "2")])
    );
    assert_eq!(fields(&mut decoder, &hex("bf")), Err(Malformed));
    let huge = [hex("4001637f00"), vec![b'x'; 127]].concat();
    fields(&mut decoder, &huge).unwrap();
    assert_eq!(fields(&mut decoder, &hex("be")), Err(Malformed));
}

#[test]
fn blocks_that_no_decoder_can_read_are_refused() {
    for bad in [
        "80",           // index 0
        "be",           // nothing was added
        "40",           // a name is missing
        "400161",       // a value is missing
        "4005616263",   // a string beyond the end
        "ffffffffff7f", // an integer without end
        "3fe21f",       // a table above the limit
        "8220",         // a size after a field
    ] {
        let got = fields(&mut Decoder::default(), &hex(bad));
        assert_eq!(got, Err(Malformed), "{bad}");
    }
}

#[test]
fn the_version_tells_whether_a_block_changed_the_table() {
    let mut decoder = Decoder::default();
    fields(&mut decoder, &hex("82 86 0001610131")).unwrap();
    assert_eq!(decoder.version(), 0);
    fields(&mut decoder, &hex("4001610131")).unwrap();
    assert_eq!(decoder.version(), 1);
}

proptest! {
    #[test]
    fn whatever_comes_is_read_or_refused(blocks in proptest::collection::vec(
        proptest::collection::vec(any::<u8>(), 0..64), 1..6,
    )) {
        let mut decoder = Decoder::default();
        for block in blocks {
            let _ = fields(&mut decoder, &block);
        }
    }

    #[test]
    fn what_the_encoder_writes_the_decoder_reads(
        status in 100_u16..600,
        named in proptest::collection::vec(("[a-z-]{1,200}", "[ -~]{0,300}"), 0..5),
        index in 15_u8..62,
        value in "[ -~]{0,40}",
    ) {
        let mut block = Vec::new();
        write::status(&mut block, status);
        write::field(&mut block, index, value.as_bytes());
        for (name, value) in &named {
            write::named_field(&mut block, name.as_bytes(), value.as_bytes());
        }
        let mut decoder = Decoder::default();
        let mut seen = fields(&mut decoder, &block).unwrap();
        prop_assert_eq!(decoder.version(), 0);
        prop_assert_eq!(seen.remove(0), (":status".to_owned(), status.to_string()));
        prop_assert_eq!(seen.remove(0).1, value);
        prop_assert_eq!(seen, named);
    }
}
