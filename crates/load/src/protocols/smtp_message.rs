//! The message that is sent: built once, but for a few fields that differ each time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rand_chacha::rand_core::RngCore;
use steelyard_wire::job::SmtpOperation;

use crate::schedule::{Purpose, random_stream};

const BOUNDARY: &str = "=_steelyard_part_boundary";

/// Bytes of base64 in one line, without its end.
const BASE64_LINE: usize = 76;

/// A message: a head with gaps, and the rest with the final dot.
#[derive(Debug, Clone)]
pub struct Message {
    head: Vec<Piece>,
    /// From the end of the fields to `CRLF.CRLF`, dots doubled.
    pub rest: Vec<u8>,
}

#[derive(Debug, Clone)]
enum Piece {
    Text(Vec<u8>),
    /// Sixteen hexadecimal digits that no other message of the run has.
    Sequence,
    Recipient,
}

impl Message {
    /// The message of `operation`; the time of the run tells the messages of two runs apart.
    pub fn new(operation: &SmtpOperation, run_unix_ns: u64, seed: u64) -> Self {
        Self {
            head: head(operation, run_unix_ns),
            rest: rest(operation, seed),
        }
    }

    /// Appends the fields that stand before [`Message::rest`].
    pub fn write_head(&self, sequence: u64, recipient: &[u8], out: &mut Vec<u8>) {
        for piece in &self.head {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::Sequence => out.extend_from_slice(&hexadecimal(sequence)),
                Piece::Recipient => out.extend_from_slice(recipient),
            }
        }
    }
}

fn head(operation: &SmtpOperation, run_unix_ns: u64) -> Vec<Piece> {
    let text = |text: String| Piece::Text(text.into_bytes());
    vec![
        text(format!("From: <{}>\r\nTo: <", operation.sender)),
        Piece::Recipient,
        text(format!(
            ">\r\nDate: {}\r\nSubject: {}\r\nMessage-ID: <{run_unix_ns:016x}.",
            date(run_unix_ns / 1_000_000_000),
            operation.subject
        )),
        Piece::Sequence,
        text(format!("@{}>\r\n", operation.helo)),
    ]
}

/// Everything that is the same for all messages.
fn rest(operation: &SmtpOperation, seed: u64) -> Vec<u8> {
    let body = text_lines(operation.body_bytes as usize);
    let mut plain = b"MIME-Version: 1.0\r\n".to_vec();
    if operation.attachment_bytes == 0 {
        plain.extend_from_slice(b"Content-Type: text/plain; charset=us-ascii\r\n\r\n");
        plain.extend_from_slice(&body);
    } else {
        write_multipart(
            &body,
            &attachment(operation.attachment_bytes as usize, seed),
            &mut plain,
        );
    }
    if !plain.ends_with(b"\r\n") {
        plain.extend_from_slice(b"\r\n");
    }
    let mut stuffed = with_dots_doubled(&plain);
    stuffed.extend_from_slice(b".\r\n");
    stuffed
}

fn write_multipart(body: &[u8], attachment: &[u8], out: &mut Vec<u8>) {
    let open = format!(
        "Content-Type: multipart/mixed; boundary=\"{BOUNDARY}\"\r\n\r\n\
         --{BOUNDARY}\r\nContent-Type: text/plain; charset=us-ascii\r\n\r\n"
    );
    let between = format!(
        "\r\n--{BOUNDARY}\r\nContent-Type: application/octet-stream\r\n\
         Content-Transfer-Encoding: base64\r\n\
         Content-Disposition: attachment; filename=\"attachment.bin\"\r\n\r\n"
    );
    out.extend_from_slice(open.as_bytes());
    out.extend_from_slice(body);
    out.extend_from_slice(between.as_bytes());
    for line in STANDARD.encode(attachment).as_bytes().chunks(BASE64_LINE) {
        out.extend_from_slice(line);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
}

/// Exactly `length` bytes of text in lines of 78 with their ends; ends with a line end if that fits.
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

fn attachment(length: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; length];
    random_stream(seed, Purpose::Payload, 0).fill_bytes(&mut bytes);
    bytes
}

/// RFC 5321, 4.5.2: a dot at the start of a line is sent twice.
fn with_dots_doubled(plain: &[u8]) -> Vec<u8> {
    let mut stuffed = Vec::with_capacity(plain.len() + plain.len() / 64);
    for line in plain.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b".") {
            stuffed.push(b'.');
        }
        stuffed.extend_from_slice(line);
    }
    stuffed
}

/// RFC 5322 date of a Unix time, in UTC; days to date after Howard Hinnant's `civil_from_days`.
fn date(unix_s: u64) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let days = unix_s / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months counted from March.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year_of_era + u64::from(month >= 10);
    let name = MONTHS[(month as usize + 2) % 12];
    let (hour, minute, second) = (unix_s / 3_600 % 24, unix_s / 60 % 60, unix_s % 60);
    format!("{day} {name} {year} {hour:02}:{minute:02}:{second:02} +0000")
}

fn hexadecimal(value: u64) -> [u8; 16] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    std::array::from_fn(|i| DIGITS[(value >> (60 - 4 * i) & 15) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(operation: &SmtpOperation, sequence: u64) -> String {
        let message = Message::new(operation, 7, 1);
        let mut bytes = Vec::new();
        message.write_head(sequence, b"user1@example.test", &mut bytes);
        bytes.extend_from_slice(&message.rest);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_message_is_lines_that_end_with_the_final_dot() {
        for body_bytes in [0, 1, 2, 77, 78, 79, 80, 81, 4096] {
            let text = text(
                &SmtpOperation {
                    body_bytes,
                    ..SmtpOperation::default()
                },
                1,
            );
            assert!(text.ends_with("\r\n.\r\n"), "{body_bytes}");
            assert_eq!(
                text.matches('\n').count(),
                text.matches("\r\n").count(),
                "{body_bytes}"
            );
            assert_eq!(
                text.matches('\r').count(),
                text.matches("\r\n").count(),
                "{body_bytes}"
            );
        }
    }

    #[test]
    fn the_body_has_the_size_asked_for() {
        for length in [0, 1, 2, 77, 78, 79, 155, 10_200] {
            assert_eq!(text_lines(length).len(), length);
        }
        let text = text(
            &SmtpOperation {
                body_bytes: 780,
                ..SmtpOperation::default()
            },
            1,
        );
        let (_, body) = text.split_once("\r\n\r\n").unwrap();
        assert_eq!(body.len(), 780 + ".\r\n".len());
    }

    #[test]
    fn no_two_messages_are_the_same_but_their_sizes_are() {
        let operation = SmtpOperation::default();
        let (one, two) = (text(&operation, 1), text(&operation, u64::MAX));
        assert_ne!(one, two);
        assert_eq!(one.len(), two.len());
        assert!(
            two.contains("Message-ID: <0000000000000007.ffffffffffffffff@load.steelyard.test>\r\n")
        );
    }

    #[test]
    fn dots_at_the_start_of_lines_are_doubled() {
        assert_eq!(
            with_dots_doubled(b".a\r\nb.\r\n..\r\n"),
            b"..a\r\nb.\r\n...\r\n"
        );
    }

    #[test]
    fn dates_are_right_around_leap_days_and_new_year() {
        for (unix_s, text) in [
            (0, "1 Jan 1970 00:00:00 +0000"),
            (951_782_399, "28 Feb 2000 23:59:59 +0000"),
            (951_782_400, "29 Feb 2000 00:00:00 +0000"),
            (1_709_251_199, "29 Feb 2024 23:59:59 +0000"),
            (1_798_761_599, "31 Dec 2026 23:59:59 +0000"),
        ] {
            assert_eq!(date(unix_s), text);
        }
    }

    #[test]
    fn the_attachment_comes_back_from_its_part() {
        let operation = SmtpOperation {
            attachment_bytes: 1_000,
            ..SmtpOperation::default()
        };
        let text = text(&operation, 1);
        let (_, part) = text
            .split_once("filename=\"attachment.bin\"\r\n\r\n")
            .unwrap();
        let (encoded, end) = part.split_once("--").unwrap();
        assert_eq!(
            STANDARD.decode(encoded.replace("\r\n", "")).unwrap(),
            attachment(1_000, 1)
        );
        assert_eq!(end, format!("{BOUNDARY}--\r\n.\r\n"));
    }
}
