//! SMTP replies: a code and where the reply ends, however it is split.

use crate::fault::ErrorKind;

/// Longest line of a reply, and most lines of one; servers send far less.
const LONGEST_LINE: u16 = 4 * 1024;
const MOST_LINES: u16 = 512;

/// Reads one reply byte by byte; remembers nothing but the code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplyReader {
    code: u16,
    line_code: u16,
    column: u16,
    lines: u16,
    more_lines: bool,
}

impl ReplyReader {
    /// Takes bytes of a reply: `Some((code, bytes taken))` when it is complete.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Option<(u16, usize)>, ErrorKind> {
        let mut at = 0;
        while at < bytes.len() {
            // Text behind the code does not matter: jump to the end of the line.
            if self.column >= 4 {
                let rest = &bytes[at..];
                let skip = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                self.column = self
                    .column
                    .saturating_add(skip.min(usize::from(u16::MAX)) as u16);
                at += skip;
                if self.column > LONGEST_LINE {
                    return Err(ErrorKind::BadProtocol);
                }
                if at == bytes.len() {
                    break;
                }
            }
            let byte = bytes[at];
            at += 1;
            if byte == b'\n' {
                if let Some(code) = self.end_line()? {
                    return Ok(Some((code, at)));
                }
            } else {
                self.prefix_byte(byte)?;
            }
        }
        Ok(None)
    }

    fn prefix_byte(&mut self, byte: u8) -> Result<(), ErrorKind> {
        match (self.column, byte) {
            (0..=2, b'0'..=b'9') => self.line_code = self.line_code * 10 + u16::from(byte - b'0'),
            (3, b' ' | b'\r') => self.more_lines = false,
            (3, b'-') => self.more_lines = true,
            _ => return Err(ErrorKind::BadProtocol),
        }
        self.column += 1;
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<u16>, ErrorKind> {
        let code = self.line_code;
        if self.column < 3 || (self.lines > 0 && code != self.code) || !(200..600).contains(&code) {
            return Err(ErrorKind::BadProtocol);
        }
        let more_lines = self.column > 3 && self.more_lines;
        let lines = self.lines + 1;
        if more_lines && lines == MOST_LINES {
            return Err(ErrorKind::BadProtocol);
        }
        *self = Self::default();
        if more_lines {
            self.code = code;
            self.lines = lines;
            return Ok(None);
        }
        Ok(Some(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_of_several_lines_is_complete_at_its_last_byte_however_split() {
        let reply = b"250-mx.example\r\n250-PIPELINING\r\n250 SIZE 1000\r\n";
        for at in 0..reply.len() {
            let mut reader = ReplyReader::default();
            assert_eq!(reader.take(&reply[..at]), Ok(None), "split at {at}");
            assert_eq!(reader.take(&reply[at..]), Ok(Some((250, reply.len() - at))));
            assert_eq!(reader, ReplyReader::default());
        }
    }

    #[test]
    fn a_bare_code_and_a_bare_line_feed_are_tolerated() {
        assert_eq!(ReplyReader::default().take(b"220\r\n"), Ok(Some((220, 5))));
        assert_eq!(ReplyReader::default().take(b"220\n"), Ok(Some((220, 4))));
        assert_eq!(
            ReplyReader::default().take(b"354 go\n250 x"),
            Ok(Some((354, 7)))
        );
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        for bytes in [
            &b"hello\r\n"[..],
            b"25\r\n",
            b"250_x\r\n",
            b"999 x\r\n",
            b"250-a\r\n251 b\r\n",
            b"\r\n",
        ] {
            assert_eq!(
                ReplyReader::default().take(bytes),
                Err(ErrorKind::BadProtocol),
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn a_reply_without_end_is_refused() {
        let line = vec![b'x'; 10_000];
        let mut reader = ReplyReader::default();
        assert_eq!(reader.take(b"250 "), Ok(None));
        assert_eq!(reader.take(&line), Err(ErrorKind::BadProtocol));
        let lines = b"250-x\r\n".repeat(1_000);
        assert_eq!(
            ReplyReader::default().take(&lines),
            Err(ErrorKind::BadProtocol)
        );
    }
}
