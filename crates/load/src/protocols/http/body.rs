//! The body of an HTTP/1.1 reply: counted, never kept.

use super::head::Framing;
use crate::fault::ErrorKind;

/// Longest chunk-size line with extensions, and longest trailer line.
const LONGEST_LINE: u16 = 8 * 1024;

/// How far a body has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// So many bytes are still to come.
    Left(u64),
    /// Chunks.
    Chunks(Chunks),
    /// Everything until the connection ends.
    UntilClose,
}

/// Place inside a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunks {
    /// In the line that holds the size: value, whether it has a digit, whether an extension (or the
    /// line end) has begun, bytes so far.
    Size {
        value: u64,
        digit: bool,
        extension: bool,
        length: u16,
    },
    /// So many bytes of data and of the line end behind them are still to come.
    Data { left: u64 },
    /// The line end behind the data.
    DataEnd,
    /// A trailer line with so many bytes so far.
    Trailer { length: u16 },
}

const FIRST_SIZE: Chunks = Chunks::Size {
    value: 0,
    digit: false,
    extension: false,
    length: 0,
};

impl Body {
    /// A body of which nothing has come yet.
    pub fn new(framing: Framing) -> Self {
        match framing {
            Framing::Length(length) => Self::Left(length),
            Framing::Chunked => Self::Chunks(FIRST_SIZE),
            Framing::Close => Self::UntilClose,
        }
    }

    /// Takes what belongs to the body; `Some(bytes taken)` when it is complete.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Option<usize>, ErrorKind> {
        self.take_each(bytes, |_| {})
    }

    /// The same; `each` is called with every piece of the content.
    pub fn take_each(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> Result<Option<usize>, ErrorKind> {
        match self {
            Self::Left(left) => {
                let taken = (*left).min(bytes.len() as u64);
                *left -= taken;
                each(&bytes[..taken as usize]);
                Ok((*left == 0).then_some(taken as usize))
            }
            Self::Chunks(chunks) => chunks.take(bytes, each),
            Self::UntilClose => {
                each(bytes);
                Ok(None)
            }
        }
    }
}

impl Chunks {
    fn take(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> Result<Option<usize>, ErrorKind> {
        let mut at = 0;
        while at < bytes.len() {
            if let Self::Data { left } = self {
                let taken = (*left).min((bytes.len() - at) as u64) as usize;
                *left -= taken as u64;
                each(&bytes[at..at + taken]);
                at += taken;
                if *left == 0 {
                    *self = Self::DataEnd;
                }
                continue;
            }
            let complete = self.byte(bytes[at])?;
            at += 1;
            if complete {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Takes one byte outside chunk data; `true` after the last line.
    fn byte(&mut self, byte: u8) -> Result<bool, ErrorKind> {
        match self {
            Self::Size {
                value,
                digit,
                extension,
                length,
            } => {
                if byte == b'\n' {
                    if !*digit {
                        return Err(ErrorKind::BadProtocol);
                    }
                    *self = if *value == 0 {
                        Self::Trailer { length: 0 }
                    } else {
                        Self::Data { left: *value }
                    };
                    return Ok(false);
                }
                *length = one_more(*length)?;
                *extension |= matches!(byte, b'\r' | b' ' | b'\t' | b';');
                if !*extension {
                    *value = with_digit(*value, byte)?;
                    *digit = true;
                }
            }
            Self::Data { .. } => {}
            Self::DataEnd => match byte {
                b'\r' => {}
                b'\n' => *self = FIRST_SIZE,
                _ => return Err(ErrorKind::BadProtocol),
            },
            Self::Trailer { length } => match byte {
                b'\n' if *length == 0 => return Ok(true),
                b'\n' => *length = 0,
                b'\r' => {}
                _ => *length = one_more(*length)?,
            },
        }
        Ok(false)
    }
}

fn with_digit(value: u64, byte: u8) -> Result<u64, ErrorKind> {
    match char::from(byte).to_digit(16) {
        Some(digit) if value >> 60 == 0 => Ok(value << 4 | u64::from(digit)),
        _ => Err(ErrorKind::BadProtocol),
    }
}

fn one_more(length: u16) -> Result<u16, ErrorKind> {
    if length == LONGEST_LINE {
        return Err(ErrorKind::BadProtocol);
    }
    Ok(length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNKED: &[u8] = b"5;note=1\r\nhello\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";

    #[test]
    fn a_chunked_body_ends_at_the_same_byte_however_it_is_split() {
        for first in 0..CHUNKED.len() {
            for second in first..CHUNKED.len() {
                let mut body = Body::new(Framing::Chunked);
                assert_eq!(body.take(&CHUNKED[..first]), Ok(None));
                assert_eq!(body.take(&CHUNKED[first..second]), Ok(None));
                let rest = &CHUNKED[second..];
                assert_eq!(body.take(rest), Ok(Some(rest.len())));
            }
        }
    }

    #[test]
    fn bytes_behind_the_body_are_left_alone() {
        let mut body = Body::new(Framing::Chunked);
        assert_eq!(body.take(b"0\r\n\r\nHTTP"), Ok(Some(5)));
        let mut body = Body::new(Framing::Length(3));
        assert_eq!(body.take(b"abcdef"), Ok(Some(3)));
    }

    #[test]
    fn chunks_that_are_none_are_refused() {
        for bytes in [&b"\r\n"[..], b"g\r\n", b"fffffffffffffffff\r\n", b"1\r\nab"] {
            let outcome = Body::new(Framing::Chunked).take(bytes);
            assert!(outcome.is_err(), "{bytes:?}: {outcome:?}");
        }
    }
}
