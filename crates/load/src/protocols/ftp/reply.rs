//! FTP replies: a code, where the reply ends however it is split, and the text of its last line.

use crate::fault::ErrorKind;

/// Longest line of a reply, and most lines of one; servers send far less.
const LONGEST_LINE: usize = 4 * 1024;
const MOST_LINES: u16 = 1024;

/// Reads one reply after the other; keeps the line it is in.
#[derive(Debug, Clone, Default)]
pub struct ReplyReader {
    /// Lines of a reply of several lines that has begun.
    lines: u16,
    line: Vec<u8>,
    complete: bool,
}

impl ReplyReader {
    /// Takes bytes of a reply: `Some((code, bytes taken))` when it is complete.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Option<(u16, usize)>, ErrorKind> {
        if std::mem::take(&mut self.complete) {
            self.line.clear();
        }
        let mut at = 0;
        while let Some(length) = memchr::memchr(b'\n', &bytes[at..]) {
            self.keep(&bytes[at..at + length])?;
            at += length + 1;
            if let Some(code) = self.end_line()? {
                return Ok(Some((code, at)));
            }
        }
        self.keep(&bytes[at..])?;
        Ok(None)
    }

    /// What stands behind the code in the last line of a complete reply.
    pub fn text(&self) -> &[u8] {
        self.line.get(4..).unwrap_or_default()
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), ErrorKind> {
        if self.line.len() + bytes.len() > LONGEST_LINE {
            return Err(ErrorKind::BadProtocol);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// The code, if this line is the last of its reply.
    fn end_line(&mut self) -> Result<Option<u16>, ErrorKind> {
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        match (self.lines, code(&self.line)) {
            (0, None) => return Err(ErrorKind::BadProtocol),
            (0, Some((code, Mark::Last | Mark::Bare))) | (_, Some((code, Mark::Last))) => {
                self.complete = true;
                self.lines = 0;
                return Ok(Some(code));
            }
            // Between, lines may look as they like, but for a code and a blank.
            _ => self.lines += 1,
        }
        if self.lines == MOST_LINES {
            return Err(ErrorKind::BadProtocol);
        }
        self.line.clear();
        Ok(None)
    }
}

/// What follows a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    More,
    Last,
    /// Nothing: the code stands alone.
    Bare,
}

fn code(line: &[u8]) -> Option<(u16, Mark)> {
    let mark = match line.get(3) {
        Some(b'-') => Mark::More,
        Some(b' ') => Mark::Last,
        None => Mark::Bare,
        Some(_) => return None,
    };
    let digits = line.get(..3)?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let code = digits
        .iter()
        .fold(0, |code, digit| code * 10 + u16::from(digit - b'0'));
    (100..600).contains(&code).then_some((code, mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> Result<Option<(u16, usize)>, ErrorKind> {
        ReplyReader::default().take(bytes)
    }

    #[test]
    fn a_reply_of_several_lines_is_complete_at_its_last_byte_however_split() {
        let reply = b"230-Hello\r\n 230 not yet\r\n230\r\n220-nor here\r\n\r\n230 now (7)\r\n";
        for at in 0..reply.len() {
            let mut reader = ReplyReader::default();
            assert_eq!(reader.take(&reply[..at]), Ok(None), "split at {at}");
            let rest = reply.len() - at;
            assert_eq!(reader.take(&reply[at..]), Ok(Some((230, rest))), "{at}");
            assert_eq!(reader.text(), b"now (7)");
        }
    }

    #[test]
    fn the_last_line_decides_where_its_code_is_another() {
        assert_eq!(whole(b"230-Hello\r\n530 no\r\n"), Ok(Some((530, 19))));
    }

    #[test]
    fn two_replies_in_one_piece_are_two() {
        let both = b"150 go\r\n226 done\r\n";
        let mut reader = ReplyReader::default();
        assert_eq!(reader.take(both), Ok(Some((150, 8))));
        assert_eq!(reader.take(&both[8..]), Ok(Some((226, 10))));
        assert_eq!(reader.text(), b"done");
    }

    #[test]
    fn a_bare_code_and_a_bare_line_feed_are_tolerated() {
        assert_eq!(whole(b"220\r\n"), Ok(Some((220, 5))));
        assert_eq!(whole(b"220 \n"), Ok(Some((220, 5))));
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        for bytes in [
            &b"hello\r\n"[..],
            b"25\r\n",
            b"250_x\r\n",
            b"\r\n",
            b"999 x\r\n",
        ] {
            assert_eq!(whole(bytes), Err(ErrorKind::BadProtocol), "{bytes:?}");
        }
    }

    #[test]
    fn a_reply_without_end_is_refused() {
        assert_eq!(whole(&[b'2'; 10_000]), Err(ErrorKind::BadProtocol));
        let lines = b"250-x\r\n".repeat(5_000);
        assert_eq!(whole(&lines), Err(ErrorKind::BadProtocol));
    }
}
