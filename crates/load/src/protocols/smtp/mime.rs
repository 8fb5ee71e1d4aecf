//! Bodies in MIME: text, and text with an attachment.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

pub const BOUNDARY: &str = "=_steelyard_part_boundary";

/// Bytes of base64 in one line, without its end.
const BASE64_LINE: usize = 76;

/// Longest line that RFC 5321 lets through, without its end.
const LONGEST_LINE: usize = 998;

/// Something that can be attached.
#[derive(Debug, Clone)]
pub struct Attachment {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// A text as it goes into a message.
#[derive(Debug, Clone)]
pub struct Text {
    pub lines: Vec<u8>,
    pub encoding: Encoding,
}

/// How a text is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    SevenBit,
    EightBit,
    Base64,
}

impl Text {
    /// Exactly `length` bytes in lines of 78 with their ends.
    pub fn generated(length: usize) -> Self {
        Self {
            lines: text_lines(length),
            encoding: Encoding::SevenBit,
        }
    }

    /// Of a file: lines end with CRLF; what is no mail text for a server is encoded in base64.
    pub fn of_file(bytes: &[u8]) -> Self {
        let lines = with_line_ends(bytes);
        let plain = !lines.contains(&0)
            && lines
                .split(|byte| *byte == b'\n')
                .all(|line| line.len() <= LONGEST_LINE + 1 && !lone_return(line));
        if !plain {
            return Self {
                lines: base64_lines(bytes),
                encoding: Encoding::Base64,
            };
        }
        let encoding = if lines.is_ascii() {
            Encoding::SevenBit
        } else {
            Encoding::EightBit
        };
        Self { lines, encoding }
    }

    fn fields(&self) -> &'static str {
        match self.encoding {
            Encoding::SevenBit => "Content-Type: text/plain; charset=us-ascii\r\n",
            Encoding::EightBit => {
                "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n"
            }
            Encoding::Base64 => {
                "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n"
            }
        }
    }
}

/// The last fields of the header with the empty line, and the body behind it.
pub fn entity(text: &Text, attachment: Option<&Attachment>) -> (Vec<u8>, Vec<u8>) {
    let mut fields = b"MIME-Version: 1.0\r\n".to_vec();
    let mut body = Vec::new();
    match attachment {
        None => {
            fields.extend_from_slice(text.fields().as_bytes());
            body.extend_from_slice(&text.lines);
        }
        Some(attachment) => {
            let kind = format!("Content-Type: multipart/mixed; boundary=\"{BOUNDARY}\"\r\n");
            fields.extend_from_slice(kind.as_bytes());
            write_parts(text, attachment, &mut body);
        }
    }
    fields.extend_from_slice(b"\r\n");
    if !body.is_empty() && !body.ends_with(b"\r\n") {
        body.extend_from_slice(b"\r\n");
    }
    (fields, body)
}

fn write_parts(text: &Text, attachment: &Attachment, out: &mut Vec<u8>) {
    let open = format!("--{BOUNDARY}\r\n{}\r\n", text.fields());
    let name: String = attachment
        .name
        .chars()
        .map(|c| {
            if c.is_ascii_graphic() && !matches!(c, '"' | '\\') {
                c
            } else {
                '_'
            }
        })
        .collect();
    let between = format!(
        "\r\n--{BOUNDARY}\r\nContent-Type: application/octet-stream\r\n\
         Content-Transfer-Encoding: base64\r\n\
         Content-Disposition: attachment; filename=\"{name}\"\r\n\r\n"
    );
    out.extend_from_slice(open.as_bytes());
    out.extend_from_slice(&text.lines);
    out.extend_from_slice(between.as_bytes());
    out.extend_from_slice(&base64_lines(&attachment.bytes));
    out.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
}

/// RFC 5321, 4.5.2: a dot at the start of a line is sent twice.
pub fn with_dots_doubled(plain: &[u8]) -> Vec<u8> {
    let mut stuffed = Vec::with_capacity(plain.len() + plain.len() / 64);
    for line in plain.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b".") {
            stuffed.push(b'.');
        }
        stuffed.extend_from_slice(line);
    }
    stuffed
}

/// A subject as it may stand in a header: RFC 2047 where it is not ASCII.
pub fn subject(text: &str) -> String {
    /// Bytes of text in one word of at most 75 characters.
    const WORD: usize = 42;
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut words = vec![String::new()];
    for c in text.chars() {
        match words.last_mut() {
            Some(word) if word.len() + c.len_utf8() <= WORD => word.push(c),
            _ => words.push(c.to_string()),
        }
    }
    let encoded = words
        .iter()
        .map(|word| format!("=?utf-8?B?{}?=", STANDARD.encode(word)));
    encoded.collect::<Vec<_>>().join("\r\n ")
}

fn text_lines(length: usize) -> Vec<u8> {
    const LINE: &[u8] =
        b"The quick brown fox jumps over the lazy dog while a steelyard weighs them ok\r\n";
    let mut text: Vec<u8> = LINE.iter().copied().cycle().take(length).collect();
    // The last line ends like every other, unless its one byte leaves no room.
    if length % LINE.len() > 1 {
        text[length - 2..].copy_from_slice(b"\r\n");
    }
    text
}

fn with_line_ends(bytes: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(bytes.len() + bytes.len() / 32);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        lines.extend_from_slice(text.strip_suffix(b"\r").unwrap_or(text));
        lines.extend_from_slice(b"\r\n");
    }
    lines
}

fn lone_return(line: &[u8]) -> bool {
    line.strip_suffix(b"\r").unwrap_or(line).contains(&b'\r')
}

fn base64_lines(bytes: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(bytes.len() * 7 / 5);
    for line in STANDARD.encode(bytes).as_bytes().chunks(BASE64_LINE) {
        lines.extend_from_slice(line);
        lines.extend_from_slice(b"\r\n");
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_generated_text_has_the_size_asked_for_and_whole_lines() {
        for length in [0, 2, 77, 78, 80, 155, 10_200] {
            let text = Text::generated(length).lines;
            assert_eq!(text.len(), length);
            assert!(text.is_empty() || text.ends_with(b"\r\n"), "{length}");
        }
    }

    #[test]
    fn files_become_lines_that_servers_take() {
        let of = |bytes: &[u8]| Text::of_file(bytes);
        assert_eq!(of(b"a\nb\r\n.c").lines, b"a\r\nb\r\n.c\r\n");
        assert_eq!(of(b"a\n").encoding, Encoding::SevenBit);
        assert_eq!(of("ä\n".as_bytes()).encoding, Encoding::EightBit);
        for odd in [&b"a\0b"[..], b"a\rb\n", &[b'x'; 999]] {
            assert_eq!(of(odd).encoding, Encoding::Base64);
        }
        assert_eq!(of(&[b'x'; 998]).encoding, Encoding::SevenBit);
    }

    #[test]
    fn the_attachment_comes_back_from_its_part() {
        let attachment = Attachment {
            name: "a \"b\".bin".to_owned(),
            bytes: (0..=255).collect(),
        };
        let (_, body) = entity(&Text::generated(80), Some(&attachment));
        let body = String::from_utf8(body).unwrap();
        let (_, part) = body.split_once("filename=\"a__b_.bin\"\r\n\r\n").unwrap();
        let (encoded, end) = part.split_once("--").unwrap();
        assert_eq!(
            STANDARD.decode(encoded.replace("\r\n", "")).unwrap(),
            attachment.bytes
        );
        assert_eq!(end, format!("{BOUNDARY}--\r\n"));
    }

    #[test]
    fn a_subject_that_is_not_ascii_is_written_in_encoded_words() {
        assert_eq!(subject("plain"), "plain");
        assert_eq!(subject("grün"), "=?utf-8?B?Z3LDvG4=?=");
        let long = subject(&"ü".repeat(100));
        assert!(long.lines().all(|line| line.len() <= 76));
    }

    proptest! {
        #[test]
        fn doubled_dots_come_back_single_and_no_line_is_a_lone_dot(
            lines in proptest::collection::vec("[.a\t]{0,4}", 0..20)
        ) {
            let plain = lines.iter().flat_map(|line| [line.as_str(), "\r\n"]).collect::<String>();
            let stuffed = String::from_utf8(with_dots_doubled(plain.as_bytes())).unwrap();
            prop_assert!(stuffed.lines().all(|line| line != "."));
            let back: String = stuffed
                .split_inclusive("\r\n")
                .map(|line| line.strip_prefix('.').unwrap_or(line))
                .collect();
            prop_assert_eq!(back, plain);
        }
    }
}
