//! The messages that APPEND stores.

use rand_chacha::rand_core::RngCore;

use crate::payload::{MAIL_FIELD, Marker, write_decimal};
use crate::plan::schedule::{Purpose, random_stream};

const LINE: usize = 76;
const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789  ";

/// A message: a header that differs each time, and a body that does not.
#[derive(Debug, Clone)]
pub struct Message {
    marker: Marker,
    /// The body, and the end of line that ends the command behind it.
    pub body_and_end: Vec<u8>,
}

impl Message {
    /// With a text of `bytes`; `run` tells the messages of two runs apart.
    pub fn new(bytes: u64, run: u64, seed: u64) -> Self {
        let body = body(bytes as usize, seed);
        let marker = Marker::of(run, 0, 0, &body);
        let mut body_and_end = body;
        body_and_end.extend_from_slice(b"\r\n");
        Self {
            marker,
            body_and_end,
        }
    }

    /// The header of message `sequence` of `sender`, with the empty line behind it.
    pub fn header(&self, sender: u64, sequence: u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(320);
        out.extend_from_slice(b"From: <sender@steelyard.test>\r\nTo: <user@steelyard.test>\r\n");
        out.extend_from_slice(b"Date: Thu, 01 Jan 2026 00:00:00 +0000\r\nSubject: steelyard\r\n");
        out.extend_from_slice(b"Message-ID: <");
        for (number, end) in [(self.marker.run, b'.'), (sender, b'.'), (sequence, b'@')] {
            write_decimal(number, &mut out);
            out.push(end);
        }
        out.extend_from_slice(b"append.steelyard.test>\r\n");
        out.extend_from_slice(MAIL_FIELD.as_bytes());
        out.extend_from_slice(b": ");
        let marker = Marker {
            sender,
            sequence,
            ..self.marker
        };
        marker.write(&mut out);
        out.extend_from_slice(b"\r\n\r\n");
        out
    }

    /// Length of a message with that header.
    pub fn length(&self, header: &[u8]) -> usize {
        header.len() + self.body_and_end.len() - 2
    }
}

/// Lines of random letters, `bytes` long with their ends.
fn body(bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = random_stream(seed, Purpose::Payload, 0);
    let mut text = vec![0; bytes];
    random.fill_bytes(&mut text);
    for byte in &mut text {
        *byte = LETTERS[usize::from(*byte & 63)];
    }
    for line in text.chunks_mut(LINE + 2) {
        if let [.., before, last] = line {
            (*before, *last) = (b'\r', b'\n');
        } else if let [only] = line {
            *only = b'.';
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{Finding, PayloadCheck};

    #[test]
    fn a_message_says_of_itself_what_a_reader_finds() {
        for bytes in [0, 1, 2, 77, 78, 79, 4096] {
            let message = Message::new(bytes, 7, 1);
            let header = message.header(3, 9);
            let mut whole = header.clone();
            whole.extend_from_slice(&message.body_and_end);
            whole.truncate(message.length(&header));
            assert_eq!(whole.len() - header.len(), bytes as usize);
            let mut check = PayloadCheck::mail();
            check.feed(&whole);
            assert!(
                matches!(check.finish(), Finding::Good(marker) if marker.sequence == 9),
                "{bytes}"
            );
        }
    }

    #[test]
    fn no_line_of_the_body_is_longer_than_mail_allows() {
        let message = Message::new(10_000, 7, 1);
        let lines = message.body_and_end.split(|byte| *byte == b'\n');
        assert!(lines.map(<[u8]>::len).max() <= Some(LINE + 1));
    }
}
