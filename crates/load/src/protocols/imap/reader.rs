//! IMAP responses: lines with literals in them, however they are split.

use crate::fault::ErrorKind;

/// Longest text between two literals; only the numbers that SEARCH finds may be longer.
const LONGEST_TEXT: usize = 64 * 1024;
const LONGEST_SEARCH: usize = 64 * 1024 * 1024;

/// Cuts one connection's input into texts and literals. Literals are passed on, never kept.
#[derive(Debug, Clone, Default)]
pub struct Reader {
    /// Start of a text whose end has not come yet.
    kept: Vec<u8>,
    /// Length of that text, of which only the beginning may be kept.
    length: usize,
    /// `kept` was handed out and is over.
    stale: bool,
    /// Bytes of a literal that are still to come.
    literal: u64,
    /// The next text goes on with a response, behind a literal.
    inside: bool,
    /// The response whose parts are being read can hold literals.
    holds_literals: bool,
}

/// What comes next in a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// Text up to the end of a line.
    Text(Text<'a>),
    /// A piece of the literal that the last text has announced.
    Literal(&'a [u8]),
}

/// Text up to the end of a line, without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    /// The bytes, without the announcement of a literal at the end.
    pub bytes: &'a [u8],
    /// A response begins with it.
    pub first: bool,
    /// A literal of so many bytes follows; otherwise the response ends here.
    pub literal: Option<u64>,
}

impl Reader {
    /// Takes the next event off the front of `input`; `None` when more must come first.
    pub fn next<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<Event<'a>>, ErrorKind> {
        if std::mem::take(&mut self.stale) {
            self.kept.clear();
            self.length = 0;
        }
        if self.literal > 0 {
            return Ok(self.literal_piece(input).map(Event::Literal));
        }
        let Some(end) = memchr::memchr(b'\n', input) else {
            self.keep(input)?;
            *input = &[];
            return Ok(None);
        };
        let rest: &'i [u8] = input;
        let line: &'a [u8] = if self.length == 0 {
            &rest[..end]
        } else {
            self.keep(&rest[..end])?;
            self.stale = true;
            &self.kept
        };
        *input = &rest[end + 1..];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let first = !self.inside;
        if first {
            self.holds_literals = can_hold_literals(line);
        }
        let announced = if self.holds_literals {
            announced(line)
        } else {
            None
        };
        self.inside = announced.is_some();
        let (bytes, literal) = announced.map_or((line, None), |(bytes, size)| (bytes, Some(size)));
        self.literal = literal.unwrap_or(0);
        Ok(Some(Event::Text(Text {
            bytes,
            first,
            literal,
        })))
    }

    /// Whether a response has begun and is not complete.
    pub fn is_inside(&self) -> bool {
        self.inside || self.literal > 0 || (self.length > 0 && !self.stale)
    }

    fn literal_piece<'a>(&mut self, input: &mut &'a [u8]) -> Option<&'a [u8]> {
        if input.is_empty() {
            return None;
        }
        let length =
            usize::try_from(self.literal).map_or(input.len(), |left| left.min(input.len()));
        let (piece, rest) = input.split_at(length);
        *input = rest;
        self.literal -= length as u64;
        Some(piece)
    }

    fn keep(&mut self, part: &[u8]) -> Result<(), ErrorKind> {
        self.length += part.len();
        if self.length <= LONGEST_TEXT {
            self.kept.extend_from_slice(part);
            return Ok(());
        }
        // Only the beginning is of interest then.
        let numbers = !self.inside && starts_with(&self.kept, b"* SEARCH ");
        if numbers && self.length <= LONGEST_SEARCH {
            return Ok(());
        }
        Err(ErrorKind::BadProtocol)
    }
}

/// Whether `text` begins with `start`, in letters of either case.
pub fn starts_with(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

/// Responses with free text at the end cannot: what looks like a literal there is text.
fn can_hold_literals(line: &[u8]) -> bool {
    let Some(data) = line.strip_prefix(b"* ") else {
        return false;
    };
    let word = data.split(|byte| *byte == b' ').next().unwrap_or_default();
    ![&b"OK"[..], b"NO", b"BAD", b"BYE", b"PREAUTH"]
        .iter()
        .any(|status| word.eq_ignore_ascii_case(status))
}

/// `(text before it, size)` of the literal that a line announces.
fn announced(line: &[u8]) -> Option<(&[u8], u64)> {
    let open = line.strip_suffix(b"}")?;
    let digits = open
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let (before, digits) = open.split_at(open.len() - digits);
    let before = before.strip_suffix(b"{")?;
    let before = before.strip_suffix(b"~").unwrap_or(before);
    // Nineteen digits always fit.
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let size = digits
        .iter()
        .fold(0, |size, digit| size * 10 + u64::from(digit - b'0'));
    Some((before, size))
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
