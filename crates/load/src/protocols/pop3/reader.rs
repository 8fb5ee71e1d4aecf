//! POP3 replies: a status line, and lines up to a lone dot, however they are split.

use memchr::memmem;

use crate::fault::ErrorKind;

/// Longest status line; RFC 2449 allows 512 bytes.
const LONGEST_STATUS: u16 = 4 * 1024;

/// So much of a status line is kept: numbers and response codes stand at its beginning.
const KEPT: usize = 64;

/// Reads one connection's replies.
#[derive(Debug, Clone)]
pub struct Reader {
    kept: [u8; KEPT],
    column: u16,
    place: Place,
}

/// Where in the lines of a reply the next byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    LineStart,
    InLine,
    /// Behind a dot that began a line.
    Dot,
    /// Behind a dot and a carriage return.
    DotCr,
}

/// What a status line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// `+OK`
    Ok,
    /// `-ERR`
    Err,
    /// `+`, and a challenge.
    Continue,
}

/// What the next bytes of a reply's lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data<'a> {
    /// Content, dots no longer doubled.
    Piece(&'a [u8]),
    /// The lone dot was read.
    End,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            kept: [0; KEPT],
            column: 0,
            place: Place::LineStart,
        }
    }
}

impl Reader {
    /// Reads a status line off the front of `input`; `None` when its end has not come yet.
    pub fn status(&mut self, input: &mut &[u8]) -> Result<Option<Status>, ErrorKind> {
        let end = memchr::memchr(b'\n', input);
        let part = &input[..end.unwrap_or(input.len())];
        let column = usize::from(self.column);
        if column + part.len() > usize::from(LONGEST_STATUS) {
            return Err(ErrorKind::BadProtocol);
        }
        let room = KEPT.saturating_sub(column).min(part.len());
        if room > 0 {
            self.kept[column..column + room].copy_from_slice(&part[..room]);
        }
        self.column += part.len() as u16;
        let Some(end) = end else {
            *input = &[];
            return Ok(None);
        };
        *input = &input[end + 1..];
        let status = status_of(self.line()).ok_or(ErrorKind::BadProtocol)?;
        self.place = Place::LineStart;
        Ok(Some(status))
    }

    /// The beginning of the last status line; to be asked before the next one is read.
    pub fn line(&self) -> &[u8] {
        let line = &self.kept[..usize::from(self.column).min(KEPT)];
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Forgets the last status line.
    pub fn forget(&mut self) {
        self.column = 0;
    }

    /// Takes the next piece of a reply's lines off the front of `input`, which is not empty.
    pub fn data<'a>(&mut self, input: &mut &'a [u8]) -> Option<Data<'a>> {
        while let Some(&byte) = input.first() {
            match (self.place, byte) {
                (Place::LineStart, b'.') => {
                    self.place = Place::Dot;
                    *input = &input[1..];
                }
                (Place::Dot, b'\r') => {
                    self.place = Place::DotCr;
                    *input = &input[1..];
                }
                (Place::Dot | Place::DotCr, b'\n') => {
                    self.place = Place::LineStart;
                    *input = &input[1..];
                    return Some(Data::End);
                }
                (Place::DotCr, _) => {
                    self.place = Place::InLine;
                    return Some(Data::Piece(b"\r"));
                }
                (Place::LineStart | Place::InLine | Place::Dot, _) => {
                    return Some(Data::Piece(self.piece(input)));
                }
            }
        }
        None
    }

    /// Everything up to the next line that begins with a dot.
    fn piece<'a>(&mut self, input: &mut &'a [u8]) -> &'a [u8] {
        let all = *input;
        let length = memmem::find(all, b"\n.").map_or(all.len(), |at| at + 1);
        self.place = if all[length - 1] == b'\n' {
            Place::LineStart
        } else {
            Place::InLine
        };
        *input = &all[length..];
        &all[..length]
    }
}

fn status_of(line: &[u8]) -> Option<Status> {
    let blank = |rest: &[u8]| rest.first().is_none_or(|byte| *byte == b' ');
    let starts = |word: &[u8]| {
        line.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
            && blank(&line[word.len()..])
    };
    match () {
        () if starts(b"+OK") => Some(Status::Ok),
        () if starts(b"-ERR") => Some(Status::Err),
        () if starts(b"+") => Some(Status::Continue),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unstuffed(reader: &mut Reader, mut input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        while !input.is_empty() {
            match reader.data(&mut input) {
                Some(Data::Piece(piece)) => out.extend_from_slice(piece),
                Some(Data::End) => return Some(input.len()),
                None => break,
            }
        }
        None
    }

    #[test]
    fn a_status_line_is_read_however_it_is_split() {
        let line = b"+OK 3 1200\r\nrest";
        for at in 0..10 {
            let mut reader = Reader::default();
            let mut input = &line[..at];
            assert_eq!(reader.status(&mut input), Ok(None), "split at {at}");
            let mut input = &line[at..];
            assert_eq!(reader.status(&mut input), Ok(Some(Status::Ok)));
            assert_eq!((reader.line(), input), (&b"+OK 3 1200"[..], &b"rest"[..]));
        }
    }

    #[test]
    fn only_three_words_begin_a_status_line() {
        for (line, status) in [
            (&b"-ERR [IN-USE] no\r\n"[..], Ok(Some(Status::Err))),
            (b"+ok\n", Ok(Some(Status::Ok))),
            (b"+ \r\n", Ok(Some(Status::Continue))),
            (b"+\r\n", Ok(Some(Status::Continue))),
            (b"+OKAY\r\n", Err(ErrorKind::BadProtocol)),
            (b"220 mx\r\n", Err(ErrorKind::BadProtocol)),
            (b"\r\n", Err(ErrorKind::BadProtocol)),
        ] {
            assert_eq!(Reader::default().status(&mut &*line), status, "{line:?}");
        }
    }

    #[test]
    fn a_status_line_without_end_is_refused() {
        let mut reader = Reader::default();
        let mut input: &[u8] = &[b'x'; 5_000];
        assert_eq!(reader.status(&mut input), Err(ErrorKind::BadProtocol));
    }

    #[test]
    fn a_dot_that_is_not_alone_is_content() {
        let mut out = Vec::new();
        let reply = b"..a\r\n.\rb\r\n...\r\n.\r\n+OK";
        assert_eq!(unstuffed(&mut Reader::default(), reply, &mut out), Some(3));
        assert_eq!(out, b".a\r\n\rb\r\n..\r\n");
    }

    proptest! {
        #[test]
        fn what_was_stuffed_comes_back_whole_however_it_is_cut(
            lines in prop::collection::vec("[.a\r]{0,4}", 0..8),
            cuts in prop::collection::vec(0..60_usize, 0..6),
        ) {
            let lines: Vec<_> = lines.iter().map(|line| line.trim_end_matches('\r')).collect();
            let content: String = lines.iter().flat_map(|line| [*line, "\r\n"]).collect();
            let mut stuffed: String = lines
                .iter()
                .flat_map(|line| [if line.starts_with('.') { "." } else { "" }, *line, "\r\n"])
                .collect();
            stuffed.push_str(".\r\n");
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stuffed.len())).collect();
            cuts.extend([0, stuffed.len()]);
            cuts.sort_unstable();
            let (mut reader, mut out, mut ended) = (Reader::default(), Vec::new(), None);
            for pair in cuts.windows(2) {
                prop_assert!(ended.is_none() || pair[0] == pair[1]);
                if let Some(left) = unstuffed(&mut reader, &stuffed.as_bytes()[pair[0]..pair[1]], &mut out) {
                    ended = Some(left);
                }
            }
            prop_assert_eq!(ended, Some(0));
            prop_assert_eq!(out, content.into_bytes());
        }
    }
}
