//! What the first text of an IMAP response says.

use super::reader::starts_with;

/// How a command has ended, or how the server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// OK
    Ok,
    /// NO
    No,
    /// BAD
    Bad,
    /// BYE
    Bye,
    /// PREAUTH
    Preauth,
}

/// A response, by its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Response<'a> {
    /// The end of command so many; the text behind the status.
    Tagged(u32, Status, &'a [u8]),
    /// `+`: go on.
    Continue,
    /// `* OK ...` and its like; the text behind the status.
    Status(Status, &'a [u8]),
    /// `* 12 EXISTS` and its like: number, word, rest.
    Message(u32, &'a [u8], &'a [u8]),
    /// `* LIST ...` and its like: word, rest.
    Data(&'a [u8], &'a [u8]),
}

impl<'a> Response<'a> {
    /// Reads the first text of a response; `None` if it is none.
    pub fn of(line: &'a [u8]) -> Option<Self> {
        if line.first() == Some(&b'+') {
            return matches!(line.get(1), None | Some(b' ')).then_some(Self::Continue);
        }
        let (tag, rest) = word(line);
        if tag != b"*" {
            let tag = number(tag.strip_prefix(b"S")?)?;
            let (status, text) = word(rest);
            return match status_of(status)? {
                status @ (Status::Ok | Status::No | Status::Bad) => {
                    Some(Self::Tagged(tag, status, text))
                }
                Status::Bye | Status::Preauth => None,
            };
        }
        let (first, rest) = word(rest);
        if let Some(status) = status_of(first) {
            return Some(Self::Status(status, rest));
        }
        if first.is_empty() {
            return None;
        }
        match number(first) {
            Some(number) => {
                let (word, rest) = word(rest);
                Some(Self::Message(number, word, rest))
            }
            None => Some(Self::Data(first, rest)),
        }
    }
}

/// What a server offers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a set of words")]
pub struct Offers {
    /// STARTTLS
    pub starttls: bool,
    /// LOGINDISABLED
    pub login_disabled: bool,
    /// AUTH=PLAIN
    pub auth_plain: bool,
    /// SASL-IR: the first response may come with AUTHENTICATE.
    pub sasl_ir: bool,
    /// LITERAL+
    pub literal_plus: bool,
    /// LITERAL-, the same up to 4096 bytes.
    pub literal_minus: bool,
    /// IDLE
    pub idle: bool,
}

impl Offers {
    /// The capabilities in `words`.
    pub fn of(words: &[u8]) -> Self {
        let mut offers = Self::default();
        for word in words.split(|byte| *byte == b' ') {
            let word = word.to_ascii_uppercase();
            match word.as_slice() {
                b"STARTTLS" => offers.starttls = true,
                b"LOGINDISABLED" => offers.login_disabled = true,
                b"AUTH=PLAIN" => offers.auth_plain = true,
                b"SASL-IR" => offers.sasl_ir = true,
                b"LITERAL+" => offers.literal_plus = true,
                b"LITERAL-" => offers.literal_minus = true,
                b"IDLE" => offers.idle = true,
                _ => {}
            }
        }
        offers
    }

    /// The capabilities in a response code at the beginning of `text`, if it is one.
    pub fn in_code(text: &[u8]) -> Option<Self> {
        let code = text.strip_prefix(b"[")?;
        let end = memchr::memchr(b']', code)?;
        let code = &code[..end];
        starts_with(code, b"CAPABILITY ").then(|| Self::of(&code[b"CAPABILITY ".len()..]))
    }
}

/// The first word and what follows it.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b' ', text) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &[]),
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    let digit = |byte: &u8| byte.is_ascii_digit();
    if digits.is_empty() || digits.len() > 10 || !digits.iter().all(digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn status_of(word: &[u8]) -> Option<Status> {
    let words = [
        (&b"OK"[..], Status::Ok),
        (b"NO", Status::No),
        (b"BAD", Status::Bad),
        (b"BYE", Status::Bye),
        (b"PREAUTH", Status::Preauth),
    ];
    words
        .into_iter()
        .find(|(known, _)| word.eq_ignore_ascii_case(known))
        .map(|(_, status)| status)
}

/// Appends `text` as a quoted string.
pub fn write_quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_distinguished_by_their_first_words() {
        let message = Response::Message(12, b"FETCH", b"(FLAGS ())");
        for (line, response) in [
            (
                &b"S12 OK done"[..],
                Some(Response::Tagged(12, Status::Ok, b"done")),
            ),
            (b"s12 OK done", None),
            (b"S12 no", None),
            (b"+ idling", Some(Response::Continue)),
            (b"+", Some(Response::Continue)),
            (b"+OK", None),
            (b"* BYE gone", Some(Response::Status(Status::Bye, b"gone"))),
            (b"* 12 FETCH (FLAGS ())", Some(message)),
            (b"* LIST () x", Some(Response::Data(b"LIST", b"() x"))),
            (b"S12 BYE x", None),
            (b"* ", None),
            (b"", None),
        ] {
            let found = Response::of(line);
            let lower_no = line == b"S12 no";
            if lower_no {
                assert_eq!(found, Some(Response::Tagged(12, Status::No, b"")));
            } else {
                assert_eq!(found, response, "{:?}", String::from_utf8_lossy(line));
            }
        }
    }

    #[test]
    fn capabilities_are_words_and_not_parts_of_words() {
        let offers = Offers::in_code(b"[CAPABILITY IMAP4rev1 LITERAL+ IDLEX auth=plain] hi");
        let offers = offers.unwrap();
        assert!(offers.literal_plus && offers.auth_plain && !offers.idle && !offers.sasl_ir);
        assert_eq!(Offers::in_code(b"[ALERT] CAPABILITY IDLE"), None);
    }

    #[test]
    fn a_quoted_string_hides_what_would_end_it() {
        let mut out = Vec::new();
        write_quoted(br#"a"b\c"#, &mut out);
        assert_eq!(out, br#""a\"b\\c""#);
    }
}
