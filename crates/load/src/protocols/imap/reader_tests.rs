use imap_codec::ResponseCodec;
use imap_codec::encode::{Encoder, Fragment};
use imap_codec::imap_types::core::{Literal, NString, Quoted, Tag, Text as ImapText, Vec1};
use imap_codec::imap_types::fetch::MessageDataItem;
use imap_codec::imap_types::mailbox::Mailbox;
use imap_codec::imap_types::response::{Data, Response as Oracle, Status as OracleStatus};
use proptest::prelude::*;

use super::super::response::{Response, Status};
use super::*;

/// What a reader parsed of one response: its beginning, and its literals.
type Parsed = (Vec<u8>, Vec<Vec<u8>>);

fn read_all(bytes: &[u8], cuts: &[usize]) -> Result<Vec<Parsed>, ErrorKind> {
    let mut reader = Reader::default();
    let mut all: Vec<Parsed> = Vec::new();
    let mut borders: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    borders.extend([0, bytes.len()]);
    borders.sort_unstable();
    for pair in borders.windows(2) {
        let mut input = &bytes[pair[0]..pair[1]];
        while let Some(event) = reader.next(&mut input)? {
            match event {
                Event::Text(text) => {
                    if text.first {
                        all.push((text.bytes.to_vec(), Vec::new()));
                    }
                    if text.literal.is_some() {
                        all.last_mut().unwrap().1.push(Vec::new());
                    }
                }
                Event::Literal(piece) => {
                    let literal = all.last_mut().unwrap().1.last_mut().unwrap();
                    literal.extend_from_slice(piece);
                }
            }
        }
    }
    assert!(!reader.is_inside(), "a response was not complete");
    Ok(all)
}

fn nstring() -> impl Strategy<Value = NString<'static>> {
    let literal = prop::collection::vec(1..=127_u8, 0..40)
        .prop_map(|bytes| NString::from(Literal::try_from(bytes).unwrap()));
    let quoted = "[ -~]{0,20}".prop_map(|text| NString::from(Quoted::try_from(text).unwrap()));
    prop_oneof![literal, quoted, Just(NString(None))]
}

fn text() -> impl Strategy<Value = ImapText<'static>> {
    prop_oneof!["[a-z][ -Z^-~]{0,30}", "[a-z ]{1,9}\\{[0-9]{1,3}\\}"]
        .prop_map(|text| ImapText::try_from(text).unwrap())
}

fn number() -> impl Strategy<Value = std::num::NonZeroU32> {
    (1..u32::MAX).prop_map(|number| number.try_into().unwrap())
}

fn response() -> impl Strategy<Value = Oracle<'static>> {
    let fetch = (number(), prop::collection::vec(nstring(), 1..4)).prop_map(|(seq, strings)| {
        let items = strings.into_iter().map(|data| MessageDataItem::BodyExt {
            section: None,
            origin: None,
            data,
        });
        let items = Vec1::try_from(items.collect::<Vec<_>>()).unwrap();
        Oracle::Data(Data::Fetch { seq, items })
    });
    let list = prop::collection::vec(1..=127_u8, 1..12).prop_map(|name| {
        Oracle::Data(Data::List {
            items: Vec::new(),
            delimiter: None,
            mailbox: Mailbox::try_from(name).unwrap(),
        })
    });
    let tagged = (any::<u32>(), text()).prop_map(|(tag, text)| {
        let tag = Tag::try_from(format!("S{tag}")).unwrap();
        Oracle::Status(OracleStatus::ok(Some(tag), None, text).unwrap())
    });
    let untagged =
        text().prop_map(|text| Oracle::Status(OracleStatus::no(None, None, text).unwrap()));
    let bye = text().prop_map(|text| Oracle::Status(OracleStatus::bye(None, text).unwrap()));
    let search =
        prop::collection::vec(number(), 0..20).prop_map(|found| Oracle::Data(Data::Search(found)));
    prop_oneof![
        fetch,
        list,
        tagged,
        untagged,
        bye,
        search,
        any::<u32>().prop_map(|count| Oracle::Data(Data::Exists(count))),
        number().prop_map(|gone| Oracle::Data(Data::Expunge(gone))),
    ]
}

/// Whether ours says the same as the oracle's.
fn agree(ours: Response<'_>, oracle: &Oracle<'_>) -> bool {
    match (ours, oracle) {
        (Response::Message(ours, word, _), Oracle::Data(data)) => match data {
            Data::Fetch { seq, .. } => word == b"FETCH" && ours == seq.get(),
            Data::Exists(count) => word == b"EXISTS" && ours == *count,
            Data::Expunge(gone) => word == b"EXPUNGE" && ours == gone.get(),
            _ => false,
        },
        (Response::Data(word, _), Oracle::Data(data)) => match data {
            Data::List { .. } => word == b"LIST",
            Data::Search(..) => word == b"SEARCH",
            _ => false,
        },
        (Response::Tagged(ours, Status::Ok, _), Oracle::Status(OracleStatus::Tagged(tagged))) => {
            tagged.tag.as_ref() == format!("S{ours}")
        }
        (Response::Status(ours, _), Oracle::Status(OracleStatus::Untagged(_))) => {
            ours == Status::No
        }
        (Response::Status(ours, _), Oracle::Status(OracleStatus::Bye(_))) => ours == Status::Bye,
        _ => false,
    }
}

proptest! {
    #[test]
    fn responses_of_another_codec_are_parsed_however_they_are_cut(
        responses in prop::collection::vec(response(), 1..5),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let mut bytes = Vec::new();
        let mut literals = Vec::new();
        for response in &responses {
            let mut own = Vec::new();
            for fragment in ResponseCodec::new().encode(response) {
                if let Fragment::Literal { data, .. } = &fragment {
                    own.push(data.clone());
                }
                match fragment {
                    Fragment::Line { data } | Fragment::Literal { data, .. } => bytes.extend(data),
                }
            }
            literals.push(own);
        }
        let parsed = read_all(&bytes, &cuts).unwrap();
        prop_assert_eq!(parsed.len(), responses.len());
        for ((line, ours), (oracle, theirs)) in parsed.iter().zip(responses.iter().zip(literals)) {
            prop_assert_eq!(ours, &theirs);
            let response = Response::of(line);
            prop_assert!(response.is_some_and(|ours| agree(ours, oracle)), "{:?}", response);
        }
    }

    #[test]
    fn no_bytes_whatsoever_make_the_reader_stumble(
        bytes in prop::collection::vec(prop_oneof![Just(b'{'), Just(b'}'), Just(b'\n'), Just(b'9'), any::<u8>()], 0..80),
    ) {
        let mut reader = Reader::default();
        let mut input = bytes.as_slice();
        while let Ok(Some(_)) = reader.next(&mut input) {}
        prop_assert!(input.is_empty());
    }
}

#[test]
fn free_text_that_looks_like_a_literal_is_text() {
    let bytes = b"S1 OK done {5}\r\n* OK wait {7}\r\n+ go {3}\r\n* LIST () NIL {3}\r\na\r\n\r\n";
    let parsed = read_all(bytes, &[]).unwrap();
    let literals: Vec<usize> = parsed.iter().map(|(_, own)| own.len()).collect();
    assert_eq!(literals, [0, 0, 0, 1]);
}

#[test]
fn a_line_without_end_is_refused_but_many_numbers_are_not() {
    let mut long = b"* LIST ".to_vec();
    long.resize(LONGEST_TEXT + 100, b'x');
    long.extend_from_slice(b"\r\n");
    assert_eq!(read_all(&long, &[1_000]), Err(ErrorKind::BadProtocol));
    let mut long = b"* SEARCH".to_vec();
    long.extend(b" 12345".repeat(20_000));
    long.extend_from_slice(b"\r\n* 1 EXISTS\r\n");
    let parsed = read_all(&long, &[9, 50_000, 100_000]).unwrap();
    assert_eq!(parsed[1].0, b"* 1 EXISTS");
}

#[test]
fn a_number_that_is_too_long_announces_nothing() {
    assert_eq!(announced(b"* x {99999999999999999999}"), None);
    assert_eq!(announced(b"* x {}"), None);
    assert_eq!(announced(b"* x ~{12}"), Some((&b"* x "[..], 12)));
}
