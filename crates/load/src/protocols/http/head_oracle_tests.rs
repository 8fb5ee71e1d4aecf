//! Heads against `httparse` and against what RFC 9112 says about framing, written a second time.

use proptest::prelude::*;

use super::*;

/// Why a head that `httparse` accepts is refused here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    /// No status of a reply to these requests: 101, or none of 100 to 599.
    Status,
    /// A length that is no number, or too large for one.
    NoLength,
    /// Two lengths (RFC 9112, 6.3: the framing is ambiguous).
    TwoLengths,
}

/// The fields of one name, in order, as text.
fn values(headers: &[httparse::Header<'_>], name: &str) -> Vec<String> {
    let named = headers
        .iter()
        .filter(|header| header.name.to_lowercase() == name);
    named
        .map(|header| String::from_utf8_lossy(header.value).into_owned())
        .collect()
}

fn reason(code: u16, headers: &[httparse::Header<'_>]) -> Option<Refused> {
    if !(100..600).contains(&code) || code == 101 {
        return Some(Refused::Status);
    }
    let mut known = None;
    // In their order: what is wrong first decides.
    for value in values(headers, "content-length") {
        let digits = value.trim_matches([' ', '\t', '\r', '\n', '\x0c']);
        if digits.is_empty() || digits.contains(|letter: char| !letter.is_ascii_digit()) {
            return Some(Refused::NoLength);
        }
        let Ok(length) = digits.parse::<u64>() else {
            return Some(Refused::NoLength);
        };
        if known.replace(length).is_some_and(|before| before != length) {
            return Some(Refused::TwoLengths);
        }
    }
    None
}

/// How the body ends (RFC 9112, 6.3).
fn framing(code: u16, headers: &[httparse::Header<'_>], to_head: bool) -> Framing {
    if to_head || code < 200 || code == 204 || code == 304 {
        return Framing::Length(0);
    }
    if let Some(coding) = values(headers, "transfer-encoding").last() {
        let last = coding.rsplit(',').next().unwrap_or_default();
        return if last.trim().eq_ignore_ascii_case("chunked") {
            Framing::Chunked
        } else {
            Framing::Close
        };
    }
    match values(headers, "content-length").first() {
        Some(length) => Framing::Length(length.trim().parse().unwrap()),
        None => Framing::Close,
    }
}

/// Whether the connection ends with the reply (RFC 9112, 9.3).
fn closes(version: u8, framing: Framing, headers: &[httparse::Header<'_>]) -> bool {
    let options = values(headers, "connection").join(",").to_lowercase();
    let has = |word: &str| options.split(',').any(|option| option.trim() == word);
    framing == Framing::Close || has("close") || (version == 0 && !has("keep-alive"))
}

/// Parses `bytes` both ways and compares.
fn compare(bytes: &[u8], to_head: bool) -> Result<Option<Refused>, TestCaseError> {
    let ours = parse(bytes, to_head);
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut reply = httparse::Response::new(&mut headers);
    let length = match reply.parse(bytes) {
        Err(_) => {
            prop_assert_eq!(ours, Err(ErrorKind::BadProtocol));
            return Ok(None);
        }
        Ok(httparse::Status::Partial) => {
            prop_assert_eq!(ours, Ok(None));
            return Ok(None);
        }
        Ok(httparse::Status::Complete(length)) => length,
    };
    let (code, version) = (reply.code.unwrap(), reply.version.unwrap());
    let refused = reason(code, reply.headers);
    if refused.is_some() {
        prop_assert_eq!(ours, Err(ErrorKind::BadProtocol), "{:?}", refused);
        return Ok(refused);
    }
    let framing = framing(code, reply.headers, to_head);
    let error = match code / 100 {
        3 => Some(ErrorKind::BadStatus3xx),
        4 => Some(ErrorKind::BadStatus4xx),
        5 => Some(ErrorKind::BadStatus5xx),
        _ => None,
    };
    let expected = Head {
        length,
        error,
        interim: code < 200,
        framing,
        closes: closes(version, framing, reply.headers),
    };
    prop_assert_eq!(ours, Ok(Some(expected)));
    Ok(None)
}

fn status_line() -> impl Strategy<Value = String> {
    let usual = (0..2_u8, 95..610_u16, "[a-zA-Z ]{0,9}")
        .prop_map(|(version, code, reason)| format!("HTTP/1.{version} {code:03} {reason}"));
    prop_oneof![
        9 => usual,
        1 => "HTTP/[0-3].[0-9] [0-9]{1,4} ?[ -~]{0,5}",
    ]
}

fn field() -> impl Strategy<Value = String> {
    let name = |text: &'static str| {
        prop_oneof![
            Just(text.to_owned()),
            Just(text.to_lowercase()),
            Just(text.to_uppercase())
        ]
    };
    let length = prop_oneof![
        6 => (0..30_u64).prop_map(|length| length.to_string()),
        1 => Just(u64::MAX.to_string()),
        1 => Just("18446744073709551616".to_owned()),
        2 => "[-+ 0-9,x]{0,4}",
    ];
    let coding = prop_oneof![
        "(gzip, ?)?[cC]hunked",
        "chunked, ?gzip",
        "[a-z]{1,7}",
        "[ ,]{0,3}"
    ];
    let option = "(close|keep-alive|[cC]lose|x)( ?, ?(close|keep-alive|y))?";
    prop_oneof![
        4 => (name("Content-Length"), length).prop_map(|(name, value)| format!("{name}: {value}")),
        3 => (name("Transfer-Encoding"), coding).prop_map(|(name, value)| format!("{name}:{value}")),
        3 => (name("Connection"), option).prop_map(|(name, value)| format!("{name}: {value} ")),
        4 => "[A-Za-z][-A-Za-z0-9]{0,9}:[ -~]{0,12}",
        1 => "[ -~\t\x01]{0,9}",
    ]
}

fn head_text() -> impl Strategy<Value = Vec<u8>> {
    let ends = prop_oneof![5 => Just("\r\n"), 1 => Just("\n")];
    let fields = proptest::collection::vec(field(), 0..6);
    (status_line(), fields, ends).prop_map(|(status, fields, end)| {
        let mut text = status + end;
        for field in fields {
            text += &(field + end);
        }
        (text + end + "body").into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_both_accept_they_read_alike_and_what_is_refused_has_a_reason(
        text in head_text(), to_head: bool
    ) {
        compare(&text, to_head)?;
    }

    #[test]
    fn a_head_that_was_cut_or_damaged_is_read_alike_too(
        mut text in head_text(), cut in 0_usize..200, at in 0_usize..200, byte: u8
    ) {
        if let Some(place) = text.get_mut(at) {
            *place = byte;
        }
        text.truncate(text.len().saturating_sub(cut % (text.len() + 1)));
        compare(&text, false)?;
    }
}

#[test]
fn every_reason_to_refuse_comes_up() {
    let of = |text: &str| compare(text.as_bytes(), false).unwrap();
    let with = |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n");
    assert_eq!(of("HTTP/1.1 101 X\r\n\r\n"), Some(Refused::Status));
    assert_eq!(of("HTTP/1.1 600 X\r\n\r\n"), Some(Refused::Status));
    assert_eq!(of(&with("Content-Length: +1")), Some(Refused::NoLength));
    let two = "Content-Length: 1\r\nContent-Length: 2";
    assert_eq!(of(&with(two)), Some(Refused::TwoLengths));
    assert_eq!(of(&with("Content-Length: 1")), None);
}
