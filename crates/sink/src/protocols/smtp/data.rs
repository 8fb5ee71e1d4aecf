//! The text of a message: finds its end and takes away the dots put in front (RFC 5321, 4.5.2).
//!
//! Only CR LF `.` CR LF ends a message. A lone LF or CR is text like any other, so that no second
//! message can be smuggled in one.

use memchr::memmem;

/// Where the text is between two bytes. `Default` is before its first line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    LineStart,
    Text,
    /// After a CR that may begin a line end.
    Cr,
    /// After a dot at the start of a line, not passed on.
    Dot,
    /// After that dot and a CR, not passed on either.
    DotCr,
}

/// Takes text as it comes from the wire, cut anywhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unstuffer(State);

impl Unstuffer {
    /// Reads until the end of the text or of `input`, and passes the message's bytes to `emit`.
    ///
    /// Returns how many bytes were read and whether the text has ended.
    pub fn feed(&mut self, input: &[u8], mut emit: impl FnMut(&[u8])) -> (usize, bool) {
        let mut at = 0;
        while at < input.len() {
            if self.0 == State::Text {
                at += self.run(&input[at..], &mut emit);
                continue;
            }
            let byte = &input[at..=at];
            at += 1;
            match (self.0, byte[0]) {
                (State::LineStart, b'.') => self.0 = State::Dot,
                (State::Dot, b'\r') => self.0 = State::DotCr,
                (State::DotCr, b'\n') => {
                    *self = Self::default();
                    return (at, true);
                }
                (State::Cr, b'\n') => {
                    emit(byte);
                    self.0 = State::LineStart;
                }
                (state, first) => {
                    if state == State::DotCr {
                        emit(b"\r");
                        // That CR may be followed by one that begins a line end, handled below.
                    }
                    emit(byte);
                    self.0 = if first == b'\r' {
                        State::Cr
                    } else {
                        State::Text
                    };
                }
            }
        }
        (at, false)
    }

    /// Passes on all text up to the next line that starts with a dot, in one piece.
    fn run(&mut self, rest: &[u8], emit: &mut impl FnMut(&[u8])) -> usize {
        if let Some(found) = memmem::find(rest, b"\r\n.") {
            emit(&rest[..found + 2]);
            self.0 = State::Dot;
            return found + 3;
        }
        emit(rest);
        self.0 = match rest {
            [.., b'\r', b'\n'] => State::LineStart,
            [.., b'\r'] => State::Cr,
            _ => State::Text,
        };
        rest.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a sender puts on the wire: RFC 5321, 4.5.2, the other way round.
    fn stuff(message: &[u8]) -> Vec<u8> {
        let mut wire = Vec::new();
        let mut line_start = true;
        for (index, byte) in message.iter().enumerate() {
            if line_start && *byte == b'.' {
                wire.push(b'.');
            }
            wire.push(*byte);
            line_start = *byte == b'\n' && index > 0 && message[index - 1] == b'\r';
        }
        wire.extend_from_slice(b".\r\n");
        wire
    }

    fn read(parts: &[&[u8]]) -> (Vec<u8>, usize, bool) {
        let (mut text, mut used, mut unstuffer) = (Vec::new(), 0, Unstuffer::default());
        for part in parts {
            let (count, ended) = unstuffer.feed(part, |bytes| text.extend_from_slice(bytes));
            used += count;
            if ended {
                return (text, used, true);
            }
        }
        (text, used, false)
    }

    proptest! {
        #[test]
        fn what_was_stuffed_is_read_back_however_it_is_cut(
            lines in proptest::collection::vec("[.a\r\n]{0,6}", 0..8),
            cut in 0.0_f64..1.0,
        ) {
            let message: String = lines.iter().flat_map(|line| [line.as_str(), "\r\n"]).collect();
            let wire = [stuff(message.as_bytes()), b"NOOP\r\n".to_vec()].concat();
            let cut = (wire.len() as f64 * cut) as usize;
            let (text, used, ended) = read(&[&wire[..cut], &wire[cut..]]);
            prop_assert!(ended);
            prop_assert_eq!(text, message.as_bytes());
            prop_assert_eq!(used, wire.len() - 6);
        }

        #[test]
        fn byte_by_byte_reads_the_same_as_all_at_once(wire in "[.a\r\n]{0,40}") {
            let single: Vec<&[u8]> = wire.as_bytes().chunks(1).collect();
            prop_assert_eq!(read(&single), read(&[wire.as_bytes()]));
        }
    }

    #[test]
    fn an_empty_message_ends_with_its_first_line() {
        assert_eq!(read(&[b".\r\n"]), (Vec::new(), 3, true));
    }

    #[test]
    fn a_dot_between_lone_line_feeds_or_returns_ends_nothing() {
        for smuggled in ["a\n.\n", "a\n.\r\n", "a\r.\r\n", "a\r\n.\n", "a\r\n.\r.\r"] {
            assert!(!read(&[smuggled.as_bytes()]).2, "{smuggled:?}");
        }
    }
}
