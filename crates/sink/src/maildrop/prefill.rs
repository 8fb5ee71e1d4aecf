//! Messages that are there from the start, each of the size asked for and checkable.

use std::fmt::Write;
use std::sync::Arc;

use steelyard_net::checksum::Checksum;
use steelyard_net::clock::realtime_ns;

use crate::date::write_date;
use crate::error::SinkError;
use crate::maildrop::{Flags, Maildrops};
use crate::options::MailOptions;

const LEAST_BYTES: u64 = 256;
const LINE: &str =
    "What is weighed is weighed against something: nothing is heavy by itself...\r\n";

/// Fills the maildrops `user1` to `userN`; the same message is in each, kept once.
pub(super) fn fill(drops: &Maildrops, options: &MailOptions) -> Result<(), SinkError> {
    if options.messages > 0 && options.message_bytes < LEAST_BYTES {
        return Err(SinkError::BadOption {
            option: "message_bytes",
            problem: format!("must be at least {LEAST_BYTES}"),
        });
    }
    let no_room = |_| SinkError::BadOption {
        option: "mail_memory",
        problem: "too little for the messages asked for".to_owned(),
    };
    let unix_s = (realtime_ns() / 1_000_000_000).cast_signed();
    let mut date = String::new();
    write_date(&mut date, unix_s);
    let mails: Vec<_> = (0..options.messages)
        .map(|number| drops.content(message(number, options.message_bytes, &date)))
        .collect::<Result<_, _>>()
        .map_err(no_room)?;
    for number in 1..=options.mailboxes {
        let drop = drops.of(&format!("user{number}")).map_err(no_room)?;
        let mut held = drop.lock();
        for mail in &mails {
            held.append(Arc::clone(mail), Flags::default(), unix_s);
        }
    }
    Ok(())
}

/// A message of exactly so many bytes.
fn message(number: u32, bytes: u64, date: &str) -> Vec<u8> {
    let mut text = format!(
        "Date: {date} +0000\r\nFrom: sink@steelyard.example\r\nTo: user@steelyard.example\r\n\
         Subject: Message {number}\r\nMessage-ID: <{number}@steelyard.example>\r\n"
    );
    // The marker holds its body's length, whose digits are part of the size: the longest form
    // that fits is found by trying.
    let mut length = bytes.saturating_sub(text.len() as u64 + 90);
    while text.len() as u64 + marker(number, length + 1, 0).len() as u64 + length < bytes {
        length += 1;
    }
    let body = body(length as usize);
    text.push_str(&marker(number, length, Checksum::of(body.as_bytes())));
    let mut text = text.into_bytes();
    text.extend_from_slice(body.as_bytes());
    text
}

fn marker(sequence: u32, length: u64, checksum: u64) -> String {
    let mut line = String::new();
    // Writing into a String cannot fail.
    let _ = write!(
        line,
        "X-Steelyard-Payload: v1 {:016x} 0 {sequence} {length} {checksum:016x}\r\n\r\n",
        0
    );
    line
}

/// Lines of text, the last one ended too.
fn body(length: usize) -> String {
    let mut body = LINE.repeat(length / LINE.len());
    let rest = length - body.len();
    match rest {
        0 => {}
        1 => {
            body.truncate(body.len().saturating_sub(2));
            body.push_str(if length > 1 { ".\r\n" } else { "." });
        }
        rest => {
            body.push_str(&LINE[..rest - 2]);
            body.push_str("\r\n");
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_size_and_says_the_truth_about_its_body() {
        for bytes in (256..700).chain([1000, 4096, 9999, 10_000, 10_001, 100_000]) {
            let text = message(7, bytes, "Thu, 01 Jan 1970 00:00:00");
            let text = String::from_utf8(text).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(text.len().abs_diff(bytes as usize) <= 1, "{bytes}");
            let said = head.split("X-Steelyard-Payload: v1 ").nth(1).unwrap();
            let sum = Checksum::of(body.as_bytes());
            let right = format!("{:016x} 0 7 {} {sum:016x}", 0, body.len());
            assert_eq!(said, right);
            assert!(body.is_empty() || body.ends_with("\r\n"), "{bytes}");
        }
    }
}
