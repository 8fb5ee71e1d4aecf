//! The header block of a reply. Its dynamic table is announced with size 0, so that blocks mean
//! the same at any time, and a known block need not be read again.

use steelyard_hpack::{
    FIRST_STATUS, Field, Malformed, Name, Reader, STATIC_FIELDS, STATUSES, Text,
};

use crate::payload::Marker;
use crate::protocols::http::request::MARKER_FIELD;

/// Index of `content-length` in the static table.
const CONTENT_LENGTH: usize = 28;
/// One above the last index of a `:status` in the static table.
const STATUS_END: usize = FIRST_STATUS + STATUSES.len();

/// What a reply's header block says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Block {
    /// `None` in trailers.
    pub status: Option<u16>,
    /// Declared length of the content.
    pub content_length: Option<u64>,
    /// The marker of the content.
    pub marker: Option<Marker>,
}

/// Reads a whole block; `scratch` is for what is Huffman-coded.
pub fn read(block: &[u8], scratch: &mut Vec<u8>) -> Result<Block, Malformed> {
    let mut reader = Reader::new(block);
    let mut found = Block::default();
    let mut regular = false;
    while let Some(field) = reader.next_field()? {
        let (meaning, value) = match field {
            Field::TableSize(_) => continue,
            Field::Indexed(index) => (indexed(index)?, Value::Indexed(index)),
            Field::Literal { name, value, .. } => (literal(name, scratch)?, Value::Literal(value)),
        };
        match (meaning, value) {
            (Meaning::Status, _) if regular || found.status.is_some() => return Err(Malformed),
            (Meaning::Status, value) => found.status = Some(status(value, scratch)?),
            (Meaning::ContentLength, Value::Literal(text)) => {
                let length = decimal(text.plain(scratch)?)?;
                if found
                    .content_length
                    .is_some_and(|earlier| earlier != length)
                {
                    return Err(Malformed);
                }
                found.content_length = Some(length);
            }
            (Meaning::Marker, Value::Literal(text)) => {
                found.marker = Marker::parse(text.plain(scratch)?);
            }
            _ => {}
        }
        regular |= !matches!(meaning, Meaning::Status);
    }
    Ok(found)
}

#[derive(Clone, Copy)]
enum Meaning {
    Status,
    ContentLength,
    Marker,
    Other,
}

#[derive(Clone, Copy)]
enum Value<'a> {
    /// That of the static table.
    Indexed(usize),
    Literal(Text<'a>),
}

/// The meaning of a static entry.
fn indexed(index: usize) -> Result<Meaning, Malformed> {
    match index {
        FIRST_STATUS..STATUS_END => Ok(Meaning::Status),
        CONTENT_LENGTH => Ok(Meaning::ContentLength),
        // Pseudo fields of requests are below those of replies.
        STATUS_END..=STATIC_FIELDS => Ok(Meaning::Other),
        _ => Err(Malformed),
    }
}

fn literal(name: Name<'_>, scratch: &mut Vec<u8>) -> Result<Meaning, Malformed> {
    let name = match name {
        Name::Indexed(index) => return indexed(index),
        Name::Text(text) => text,
    };
    match name.plain(scratch)? {
        b":status" => Ok(Meaning::Status),
        b"content-length" => Ok(Meaning::ContentLength),
        name if name == MARKER_FIELD.as_bytes() => Ok(Meaning::Marker),
        [] | [b':', ..] => Err(Malformed),
        name if name.iter().any(u8::is_ascii_uppercase) => Err(Malformed),
        _ => Ok(Meaning::Other),
    }
}

fn status(value: Value<'_>, scratch: &mut Vec<u8>) -> Result<u16, Malformed> {
    let text = match value {
        Value::Indexed(index) => return Ok(STATUSES[index - FIRST_STATUS]),
        Value::Literal(text) => text,
    };
    match text.plain(scratch)? {
        digits @ [_, _, _] => decimal(digits).map(|status| status as u16),
        _ => Err(Malformed),
    }
}

fn decimal(digits: &[u8]) -> Result<u64, Malformed> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Malformed);
    }
    digits
        .iter()
        .try_fold(0_u64, |value, digit| {
            value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        })
        .ok_or(Malformed)
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;
