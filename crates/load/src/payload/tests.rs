use proptest::prelude::*;

use super::*;

fn marker(sequence: u64, content: &[u8]) -> Marker {
    Marker::of(0xabc, 7 << 20 | 3, sequence, content)
}

fn mail(sequence: u64, content: &str) -> Vec<u8> {
    let mut message = b"From: <a@b>\r\nX-Steelyard-Payload: ".to_vec();
    marker(sequence, content.as_bytes()).write(&mut message);
    message.extend_from_slice(b"\r\nTo: <c@d>\r\n\r\n");
    message.extend_from_slice(content.as_bytes());
    message
}

fn finding(mut check: PayloadCheck, bytes: &[u8], piece: usize) -> Finding {
    bytes.chunks(piece).for_each(|piece| check.feed(piece));
    check.finish()
}

#[test]
fn a_marker_is_written_as_agreed() {
    let mut text = Vec::new();
    marker(12, b"").write(&mut text);
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "v1 0000000000000abc 7340035 12 0 ef46db3751d8e999"
    );
}

#[test]
fn a_message_is_good_however_it_is_split() {
    let content = "line\r\n\r\n.dots\r\n";
    let message = mail(5, content);
    for piece in 1..message.len() {
        let good = Finding::Good(marker(5, content.as_bytes()));
        assert_eq!(
            finding(PayloadCheck::mail(), &message, piece),
            good,
            "{piece}"
        );
    }
}

#[test]
fn a_changed_a_missing_and_an_added_byte_are_corruption() {
    let content = "some lines\r\nof text\r\n";
    let message = mail(5, content);
    let damaged = Finding::Corrupted(marker(5, content.as_bytes()));
    let mut changed = message.clone();
    *changed.last_mut().unwrap() ^= 1;
    let added = [&message[..], b"x"].concat();
    for bytes in [&changed[..], &added, &message[..message.len() - 1]] {
        assert_eq!(finding(PayloadCheck::mail(), bytes, 7), damaged);
    }
}

#[test]
fn a_message_that_ends_in_its_header_is_corrupted_and_a_strange_one_unmarked() {
    let message = mail(5, "");
    let cut = &message[..message.len() - 2];
    assert!(matches!(
        finding(PayloadCheck::mail(), cut, 9),
        Finding::Corrupted(_)
    ));
    let body_only = [b"From: <a@b>\r\n\r\n", &message[..]].concat();
    for bytes in [
        &b"From: <a@b>\r\n\r\nhello\r\n"[..],
        b"X-Steelyard-Payload: v2 what\r\n\r\n",
        b"",
        &body_only,
    ] {
        assert_eq!(finding(PayloadCheck::mail(), bytes, 4), Finding::Unmarked);
    }
}

#[test]
fn long_header_lines_are_passed_over() {
    let mut message = b"Subject: ".to_vec();
    message.extend_from_slice(&vec![b'x'; 100_000]);
    message.extend_from_slice(b"\r\n");
    message.extend_from_slice(&mail(1, "body\r\n"));
    assert!(matches!(
        finding(PayloadCheck::mail(), &message, 1_000),
        Finding::Good(_)
    ));
}

#[test]
fn a_file_says_it_in_its_first_line_and_a_body_beforehand() {
    let content = b"\0\x01bytes\n";
    let mut file = b"steelyard-payload: ".to_vec();
    marker(1, content).write(&mut file);
    file.push(b'\n');
    file.extend_from_slice(content);
    let good = Finding::Good(marker(1, content));
    assert_eq!(finding(PayloadCheck::file(), &file, 3), good);
    let body = PayloadCheck::body(Some(marker(1, content)));
    assert_eq!(finding(body, content, 2), good);
    assert_eq!(
        finding(PayloadCheck::body(None), content, 2),
        Finding::Unmarked
    );
    assert_eq!(finding(PayloadCheck::file(), content, 2), Finding::Unmarked);
}

#[test]
fn a_tally_knows_corruption_loss_and_repetition_apart() {
    let mut tally = PayloadTally::of_all();
    for sequence in [1, 2, 5, 5] {
        tally.add(Finding::Good(marker(sequence, b"")));
    }
    tally.add(Finding::Corrupted(marker(3, b"")));
    tally.add(Finding::Corrupted(marker(1 << 60, b"")));
    tally.add(Finding::Unmarked);
    let payload = tally.payload();
    assert_eq!(
        (payload.checked, payload.corrupted, payload.unmarked),
        (6, 2, 1)
    );
    assert_eq!((payload.lost, payload.duplicated), (Some(1), 1));
}

#[test]
fn a_reader_of_some_does_not_speak_of_loss() {
    let mut tally = PayloadTally::of_some();
    tally.add(Finding::Good(marker(1, b"")));
    tally.add(Finding::Good(marker(9, b"")));
    assert_eq!(tally.payload().lost, None);
}

proptest! {
    #[test]
    fn every_marker_comes_back(
        run: u64, sender: u64, sequence: u64, length_bytes: u64, checksum: u64
    ) {
        let marker = Marker { run, sender, sequence, length_bytes, checksum };
        let mut text = Vec::new();
        marker.write(&mut text);
        prop_assert_eq!(Marker::parse(&text), Some(marker));
    }

    #[test]
    fn no_bytes_make_it_stumble(bytes: Vec<u8>, piece in 1_usize..50) {
        finding(PayloadCheck::mail(), &bytes, piece);
        finding(PayloadCheck::file(), &bytes, piece);
    }
}
