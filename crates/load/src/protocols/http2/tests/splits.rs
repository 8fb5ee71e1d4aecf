use proptest::prelude::*;

use super::*;

/// A conversation with everything in it, for three requests.
fn conversation() -> Vec<u8> {
    let padded = [&[4][..], &[0x00, 1, b'a', 1, b'b'], &[0; 4]].concat();
    [
        frame(HEADERS, END_HEADERS, 3, b"\x08\x03103"),
        frame(0xbb, 0, 0, b"unknown"),
        frame(HEADERS, 0, 3, b"\x20\x88\x0f\x0d"),
        frame(CONTINUATION, 0, 3, b""),
        frame(CONTINUATION, END_HEADERS, 3, b"\x014"),
        head(1),
        frame(DATA, 8, 3, &[2, b'a', b'b', 0, 0]),
        frame(PING, 0, 0, b"12345678"),
        frame(DATA, 0, 1, b""),
        frame(DATA, 8 | END_STREAM, 3, &[1, b'c', b'd', 0]),
        frame(HEADERS, ALL | 8, 1, &padded),
        frame(RST_STREAM, 0, 5, &[0; 4]),
        frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]),
        frame(PING, 0, 0, b"abcdefgh"),
    ]
    .concat()
}

fn in_parts(cuts: &[usize], strict: bool) -> (Vec<(usize, Step)>, Vec<u8>) {
    let operation = HttpOperation { strict, ..usual(3) };
    let mut client = Client::new(&operation, &[]);
    client.start(0).start(1).start(2);
    let bytes = conversation();
    let mut start = 0;
    for end in cuts.iter().copied().chain([bytes.len()]) {
        let end = end.clamp(start, bytes.len());
        if end > start {
            client.feed(&bytes[start..end]);
        }
        start = end;
    }
    (client.happened(), client.sent)
}

#[test]
fn a_conversation_means_the_same_split_at_every_byte() {
    let expected = vec![(1, OK), (0, OK), (2, failed(ErrorKind::H2Rst))];
    let whole = in_parts(&[], false);
    assert_eq!(whole.0, expected);
    for first in 0..conversation().len() {
        assert_eq!(in_parts(&[first], false), whole, "split at {first}");
        assert_eq!(in_parts(&[first], true), whole, "split at {first}");
    }
    let every: Vec<usize> = (1..conversation().len()).collect();
    assert_eq!(in_parts(&every, false), whole);
}

#[test]
fn streams_given_up_fail_at_once_although_the_last_byte_before_comes_alone() {
    let mut client = Client::new(&usual(2), &[]);
    client.start(0).start(1);
    client.feed(&head(1));
    client.feed(&frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]));
    let data = frame(DATA, END_STREAM, 1, b"ok");
    let (before, last) = data.split_at(data.len() - 1);
    client.feed(before);
    assert_eq!(client.happened(), []);
    client.feed(last);
    let given_up = Step::Broken(ErrorKind::H2Goaway);
    assert_eq!(client.happened(), [(0, OK), (0, given_up)]);
}

proptest! {
    #[test]
    fn damage_anywhere_is_judged_the_same_however_it_arrives(
        at in 0..conversation().len(),
        flip in 1_u8..,
        cuts in prop::collection::vec(0..conversation().len(), 0..6),
    ) {
        let mut bytes = conversation();
        bytes[at] ^= flip;
        let mut cuts = cuts;
        cuts.sort_unstable();
        let run = |cuts: &[usize]| {
            let mut client = Client::new(&usual(3), &[]);
            client.start(0).start(1).start(2);
            let mut start = 0;
            for end in cuts.iter().copied().chain([bytes.len()]) {
                let broken = |(_, step): &(usize, Step)| matches!(step, Step::Broken(_) | Step::Finished);
                if client.steps.iter().any(broken) {
                    break;
                }
                if end > start {
                    client.feed(&bytes[start..end]);
                }
                start = end;
            }
            client.happened()
        };
        prop_assert_eq!(run(&cuts), run(&[]));
    }
}
