//! The readers beneath the machines: what they read is the same however it is cut.

use std::ops::Range;

use super::script::Script;
use crate::delivery::answer::{Answer, AnswerPart, marker_in};
use crate::fault::ErrorKind;
use crate::payload::PayloadCheck;
use crate::protocols::http2::block as reply_block;
use crate::protocols::pop3::reader as pop3_reader;
use crate::protocols::{ftp, imap as imap_protocol, smtp as smtp_protocol};

/// Reads `script` with `read` in three ways and compares.
fn compare<T: PartialEq + std::fmt::Debug>(
    script: &Script<'_>,
    read: impl Fn(&[u8], &[Range<usize>]) -> T,
) {
    let single = read(script.data, &script.bytes());
    assert_eq!(read(script.data, &script.pieces(&[])), single);
    let whole = 0..script.data.len();
    assert_eq!(read(script.data, std::slice::from_ref(&whole)), single);
}

type Reply = Result<(u16, usize, Vec<u8>), ErrorKind>;

/// Replies with the places of their ends.
fn replies(
    data: &[u8],
    pieces: &[Range<usize>],
    mut take: impl FnMut(&[u8]) -> Result<Option<(u16, usize, Vec<u8>)>, ErrorKind>,
) -> Vec<Reply> {
    let mut replies = Vec::new();
    for piece in pieces {
        let mut at = piece.start;
        while at < piece.end {
            match take(&data[at..piece.end]) {
                Ok(Some((code, taken, text))) => {
                    assert!(taken > 0 && taken <= piece.end - at);
                    at += taken;
                    replies.push(Ok((code, at, text)));
                }
                Ok(None) => at = piece.end,
                Err(kind) => {
                    replies.push(Err(kind));
                    return replies;
                }
            }
        }
    }
    replies
}

/// Replies of SMTP.
pub fn smtp(script: &Script<'_>) {
    compare(script, |data, pieces| {
        let mut reader = smtp_protocol::reply::ReplyReader::default();
        replies(data, pieces, |bytes| {
            let reply = reader.take(bytes)?;
            Ok(reply.map(|(code, taken)| (code, taken, Vec::new())))
        })
    });
}

/// Replies of FTP.
pub fn ftp(script: &Script<'_>) {
    compare(script, |data, pieces| {
        let mut reader = ftp::reply::ReplyReader::default();
        replies(data, pieces, |bytes| {
            let reply = reader.take(bytes)?;
            Ok(reply.map(|(code, taken)| (code, taken, reader.text().to_vec())))
        })
    });
}

/// Status lines of POP3, each good one followed by lines up to a dot: `(status, its line, lines)`.
pub fn pop3(script: &Script<'_>) {
    type Parts = Vec<(pop3_reader::Status, Vec<u8>, Vec<u8>)>;
    compare(script, |data, pieces| -> (Parts, bool) {
        let mut reader = pop3_reader::Reader::default();
        let (mut parts, mut inside) = (Parts::new(), false);
        for piece in pieces {
            let mut input = &data[piece.clone()];
            while !input.is_empty() {
                if !inside {
                    match reader.status(&mut input) {
                        Ok(Some(status)) => {
                            parts.push((status, reader.line().to_vec(), Vec::new()));
                            reader.forget();
                            inside = status == pop3_reader::Status::Ok;
                        }
                        Ok(None) => assert!(input.is_empty()),
                        Err(_) => return (parts, false),
                    }
                    continue;
                }
                match reader.data(&mut input) {
                    Some(pop3_reader::Data::Piece(piece)) => {
                        if let Some((_, _, lines)) = parts.last_mut() {
                            lines.extend_from_slice(piece);
                        }
                    }
                    Some(pop3_reader::Data::End) => inside = false,
                    None => assert!(input.is_empty()),
                }
            }
        }
        (parts, true)
    });
}

/// Texts and literals of IMAP: `(text, size announced, literal)`.
pub fn imap(script: &Script<'_>) {
    type Parts = Vec<(Vec<u8>, bool, Option<u64>, Vec<u8>)>;
    compare(script, |data, pieces| -> (Parts, bool) {
        let mut reader = imap_protocol::Reader::default();
        let mut parts = Parts::new();
        for piece in pieces {
            let mut input = &data[piece.clone()];
            loop {
                match reader.next(&mut input) {
                    Ok(Some(imap_protocol::Event::Text(text))) => {
                        assert!(
                            parts.last().is_none_or(|(_, _, size, literal)| {
                                size.unwrap_or(0) == literal.len() as u64
                            }),
                            "a text began inside a literal"
                        );
                        let _ = imap_protocol::Response::of(text.bytes);
                        parts.push((text.bytes.to_vec(), text.first, text.literal, Vec::new()));
                    }
                    Ok(Some(imap_protocol::Event::Literal(piece))) => {
                        let (_, _, size, literal) = parts.last_mut().expect("a text before");
                        literal.extend_from_slice(piece);
                        assert!(literal.len() as u64 <= size.unwrap_or(0), "past a literal");
                    }
                    Ok(None) => {
                        assert!(input.is_empty());
                        break;
                    }
                    Err(_) => return (parts, false),
                }
            }
        }
        (parts, true)
    });
}

/// What a delivery reads of its mailbox: the field of a message, and the message itself.
pub fn delivery(script: &Script<'_>) {
    compare(script, |data, pieces| {
        let mut answer = Answer::to(u32::from(script.options));
        let (mut literals, mut sizes) = (Vec::new(), Vec::new());
        let mut check = PayloadCheck::mail();
        for piece in pieces {
            let received = answer.receive(&data[piece.clone()], |part| match part {
                AnswerPart::Literal(piece) => {
                    literals.extend_from_slice(piece);
                    check.feed(piece);
                }
                AnswerPart::Message(number, word) => sizes.push((number, word.to_vec())),
            });
            if received != Ok(false) {
                return (Some(received), marker_in(&literals), check.finish(), sizes);
            }
        }
        (None, marker_in(&literals), check.finish(), sizes)
    });
}

/// A header block: says the same whatever was read before.
pub fn hpack(block: &[u8]) {
    let fresh = reply_block::read(block, &mut Vec::new());
    let mut scratch = b"left by another".to_vec();
    assert_eq!(reply_block::read(block, &mut scratch), fresh);
    assert_eq!(reply_block::read(block, &mut scratch), fresh);
}
