//! What a mailbox answers to a command that is sent beside the machine, read piece by piece.

use crate::fault::ErrorKind;
use crate::payload::Marker;
use crate::protocols::imap::{Event, Reader, Response, Status};

/// The answer to one command.
#[derive(Debug)]
pub struct Answer {
    reader: Reader,
    tag: u32,
}

/// A part of an answer that the caller takes.
#[derive(Debug, PartialEq, Eq)]
pub enum AnswerPart<'a> {
    /// A piece of a literal.
    Literal(&'a [u8]),
    /// `* number word`.
    Message(u32, &'a [u8]),
}

impl Answer {
    /// To the command of this tag.
    pub fn to(tag: u32) -> Self {
        Self {
            reader: Reader::default(),
            tag,
        }
    }

    /// Takes what has arrived; `true` when the command was carried out.
    pub fn receive(
        &mut self,
        mut input: &[u8],
        mut on_part: impl FnMut(AnswerPart<'_>),
    ) -> Result<bool, ErrorKind> {
        while let Some(event) = self.reader.next(&mut input)? {
            let text = match event {
                Event::Literal(piece) => {
                    on_part(AnswerPart::Literal(piece));
                    continue;
                }
                Event::Text(text) if text.first => text.bytes,
                Event::Text(_) => continue,
            };
            match Response::of(text).ok_or(ErrorKind::BadProtocol)? {
                Response::Tagged(tag, Status::Ok, _) if tag == self.tag => return Ok(true),
                Response::Tagged(..) => return Err(ErrorKind::ImapNo),
                Response::Status(Status::Bye, _) => return Err(ErrorKind::ImapBye),
                Response::Message(number, word, _) => on_part(AnswerPart::Message(number, word)),
                _ => {}
            }
        }
        Ok(false)
    }
}

/// The marker of a header that has been asked for by its field alone.
pub fn marker_in(header: &[u8]) -> Option<Marker> {
    let line = header.split(|byte| *byte == b'\n').next()?;
    let colon = memchr::memchr(b':', line)?;
    Marker::parse(&line[colon + 1..])
}
