//! Header blocks (RFC 7541) without a dynamic table: it is announced with size 0, and what is
//! sent never asks the peer to remember anything, so that equal requests are equal bytes.

use super::frame::Malformed;
use super::huffman;
use crate::payload::Marker;
use crate::protocols::http::request::MARKER_FIELD;

/// Entries of the static table.
const STATIC_ENTRIES: u64 = 61;
/// Pseudo fields of requests: entries 1 to 7; `:status`: 8 to 14.
const STATUS_ENTRIES: std::ops::RangeInclusive<u64> = 8..=14;
const STATUSES: [u16; 7] = [200, 204, 206, 304, 400, 404, 500];
const CONTENT_LENGTH_ENTRY: u64 = 28;

/// Largest dynamic table that a peer may still speak of before it knows better.
const USUAL_TABLE_BYTES: u64 = 4096;

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
    let mut reader = Reader { rest: block };
    let mut found = Block::default();
    let mut regular = false;
    while let Some(first) = reader.rest.first().copied() {
        if first & 0xe0 == 0x20 {
            let size = reader.integer(5)?;
            if size > USUAL_TABLE_BYTES || regular || found.status.is_some() {
                return Err(Malformed);
            }
            continue;
        }
        let field = reader.field(first)?;
        match field.meaning(scratch)? {
            Meaning::Status if regular || found.status.is_some() => return Err(Malformed),
            Meaning::Status => found.status = Some(field.status(scratch)?),
            Meaning::ContentLength => {
                let length = decimal(field.value(scratch)?)?;
                if found
                    .content_length
                    .is_some_and(|earlier| earlier != length)
                {
                    return Err(Malformed);
                }
                found.content_length = Some(length);
                regular = true;
            }
            Meaning::Marker => {
                found.marker = Marker::parse(field.value(scratch)?);
                regular = true;
            }
            Meaning::Other => regular = true,
        }
    }
    Ok(found)
}

enum Meaning {
    Status,
    ContentLength,
    Marker,
    Other,
}

struct Reader<'a> {
    rest: &'a [u8],
}

#[derive(Clone, Copy)]
struct Text<'a> {
    bytes: &'a [u8],
    coded: bool,
}

/// A field line: its name by entry (0 for none) or in full; no value if it is an entry itself.
struct Field<'a> {
    entry: u64,
    name: Text<'a>,
    value: Option<Text<'a>>,
}

impl<'a> Reader<'a> {
    fn field(&mut self, first: u8) -> Result<Field<'a>, Malformed> {
        let nothing = Text {
            bytes: b"",
            coded: false,
        };
        let indexed = first & 0x80 > 0;
        let prefix_bits = match first {
            0x80.. => 7,
            0x40.. => 6,
            _ => 4,
        };
        let entry = self.integer(prefix_bits)?;
        if entry > STATIC_ENTRIES || (indexed && entry == 0) {
            return Err(Malformed);
        }
        let name = if entry == 0 { self.text()? } else { nothing };
        let value = if indexed { None } else { Some(self.text()?) };
        Ok(Field { entry, name, value })
    }

    fn integer(&mut self, prefix_bits: u32) -> Result<u64, Malformed> {
        let mask = (1_u64 << prefix_bits) - 1;
        let mut value = u64::from(self.byte()?) & mask;
        if value < mask {
            return Ok(value);
        }
        for shift in (0..=28).step_by(7) {
            let byte = self.byte()?;
            value += u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    fn text(&mut self) -> Result<Text<'a>, Malformed> {
        let coded = self.rest.first().is_some_and(|byte| byte & 0x80 > 0);
        let length = self.integer(7)? as usize;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        Ok(Text { bytes, coded })
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.rest.split_first().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*first)
    }
}

impl Field<'_> {
    fn meaning(&self, scratch: &mut Vec<u8>) -> Result<Meaning, Malformed> {
        match self.entry {
            0 => {}
            entry if STATUS_ENTRIES.contains(&entry) => return Ok(Meaning::Status),
            // Pseudo fields of requests.
            1..=7 => return Err(Malformed),
            CONTENT_LENGTH_ENTRY if self.value.is_some() => return Ok(Meaning::ContentLength),
            _ => return Ok(Meaning::Other),
        }
        match plain(self.name, scratch)? {
            b":status" => Ok(Meaning::Status),
            b"content-length" => Ok(Meaning::ContentLength),
            name if name == MARKER_FIELD.as_bytes() => Ok(Meaning::Marker),
            [] | [b':', ..] => Err(Malformed),
            name if name.iter().any(u8::is_ascii_uppercase) => Err(Malformed),
            _ => Ok(Meaning::Other),
        }
    }

    fn value<'s>(&'s self, scratch: &'s mut Vec<u8>) -> Result<&'s [u8], Malformed> {
        plain(self.value.ok_or(Malformed)?, scratch)
    }

    fn status(&self, scratch: &mut Vec<u8>) -> Result<u16, Malformed> {
        if self.value.is_none() {
            return STATUSES
                .get((self.entry - STATUS_ENTRIES.start()) as usize)
                .copied()
                .ok_or(Malformed);
        }
        match self.value(scratch)? {
            digits @ [_, _, _] => decimal(digits).map(|status| status as u16),
            _ => Err(Malformed),
        }
    }
}

fn plain<'a>(text: Text<'a>, scratch: &'a mut Vec<u8>) -> Result<&'a [u8], Malformed> {
    if !text.coded {
        return Ok(text.bytes);
    }
    scratch.clear();
    if huffman::decode(text.bytes, scratch) {
        Ok(scratch)
    } else {
        Err(Malformed)
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

/// Appends a field that is an entry of the static table.
pub fn write_entry(entry: u8, out: &mut Vec<u8>) {
    out.push(0x80 | entry);
}

/// Appends a field whose name is an entry of the static table.
pub fn write_value(entry: u64, value: &[u8], out: &mut Vec<u8>) {
    write_integer(entry, 4, 0, out);
    write_text(value, out);
}

/// Appends a field in full.
pub fn write_field(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.push(0);
    write_text(name, out);
    write_text(value, out);
}

fn write_text(text: &[u8], out: &mut Vec<u8>) {
    write_integer(text.len() as u64, 7, 0, out);
    out.extend_from_slice(text);
}

fn write_integer(value: u64, prefix_bits: u32, first: u8, out: &mut Vec<u8>) {
    let mask = (1_u64 << prefix_bits) - 1;
    if value < mask {
        out.push(first | value as u8);
        return;
    }
    out.push(first | mask as u8);
    let mut rest = value - mask;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
#[path = "hpack_tests.rs"]
mod tests;
