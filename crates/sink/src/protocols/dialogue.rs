//! What POP3 and IMAP have in common: lines in, and the end of each command.

use memchr::memchr;

use crate::counters::tally::ErrorKind;
use crate::counters::tally::Verdict;
use crate::options::fault::FaultKind;
use crate::protocols::{Flow, Reply, Turn};

/// What stands at the front of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// Without its end; bytes with it.
    Whole(&'a [u8], usize),
    /// More must come.
    Partial,
    /// No end within the limit.
    TooLong,
}

/// The first line of `input`, of at most so many bytes; a lone line feed ends it too.
pub(crate) fn first_line(input: &[u8], most_bytes: usize) -> Line<'_> {
    match memchr(b'\n', input) {
        Some(end) if end < most_bytes => {
            let line = &input[..end];
            Line::Whole(line.strip_suffix(b"\r").unwrap_or(line), end + 1)
        }
        None if input.len() < most_bytes => Line::Partial,
        _ => Line::TooLong,
    }
}

/// Bytes used up of the rest of a line that was too long, and whether it has ended.
pub(crate) fn skip_line(input: &[u8]) -> (usize, bool) {
    memchr(b'\n', input).map_or((input.len(), false), |end| (end + 1, true))
}

/// How a command ended; its reply is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    Good,
    /// The connection ends with it.
    Bye,
    /// TLS begins after it.
    StartTls,
    Refused(ErrorKind),
    /// A refusal that a fault asked for.
    Struck,
}

/// One command and where its reply starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    pub verb: usize,
    pub fault: Option<FaultKind>,
    pub from: usize,
}

impl Command {
    /// Counts a command and draws its fault, or says how to go on without a reply.
    pub fn begin(verb: usize, turn: &mut Turn) -> Result<Self, Flow> {
        turn.tally.commands += 1;
        turn.tally.received += 1;
        let fault = turn.draw(verb);
        match Turn::silence(fault) {
            Some(flow) => {
                turn.tally.unanswered += 1;
                Err(flow)
            }
            None => Ok(Self {
                verb,
                fault,
                from: turn.out.len(),
            }),
        }
    }

    /// Whether a fault asks for a refusal in place of what was asked for.
    pub fn is_refused(&self) -> bool {
        matches!(self.fault, Some(FaultKind::Reject | FaultKind::Tempfail))
    }

    /// Shapes the reply and says how to go on.
    pub fn end(self, done: Done, turn: &mut Turn) -> Flow {
        if let Done::Refused(kind) = done {
            turn.tally.error(kind);
        }
        let verdict = match done {
            Done::Good | Done::Bye | Done::StartTls => Verdict::Ok,
            Done::Refused(_) | Done::Struck => Verdict::Failed,
        };
        let reply = Reply {
            verb: self.verb,
            fault: self.fault,
            from: self.from,
            verdict: Some(verdict),
            close: done == Done::Bye,
        };
        if done == Done::StartTls {
            return turn.settle_then_tls(reply);
        }
        turn.settle(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_whole_partial_or_too_long() {
        assert_eq!(first_line(b"ab\r\ncd", 10), Line::Whole(b"ab", 4));
        assert_eq!(first_line(b"ab\ncd", 10), Line::Whole(b"ab", 3));
        assert_eq!(first_line(b"ab", 10), Line::Partial);
        assert_eq!(first_line(b"0123456789", 10), Line::TooLong);
        assert_eq!(first_line(b"0123456789\n", 10), Line::TooLong);
    }
}
