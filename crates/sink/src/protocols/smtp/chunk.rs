//! BDAT (RFC 3030): a message in chunks of announced length, without dots and ends of line.

use crate::counters::tally::ErrorKind;
use crate::protocols::smtp::Smtp;
use crate::protocols::smtp::command::{self, Verb};
use crate::protocols::smtp::replies::Answer;
use crate::protocols::smtp::session::{Chunk, Phase, Session};
use crate::protocols::{Flow, Turn};
use crate::store::StoreJob;

impl Smtp {
    /// The command; its reply follows when the chunk is read.
    pub(super) fn bdat(&mut self, session: &mut Session, arguments: &str, turn: &mut Turn) -> Flow {
        let Some((left_bytes, last)) = read(arguments) else {
            let answer = Answer::wrong(ErrorKind::BadArgument, command::SYNTAX);
            return self.reply(session, Verb::Bdat, &answer, turn);
        };
        let whole_bytes = session.size_bytes.saturating_add(left_bytes);
        let refused = if !session.open {
            Some(Answer::wrong(
                ErrorKind::BadSequence,
                "503 5.5.1 Send MAIL first\r\n",
            ))
        } else if session.message.recipients.is_empty() {
            Some(Answer::wrong(
                ErrorKind::BadSequence,
                "554 5.5.1 No valid recipients\r\n",
            ))
        } else if !last && whole_bytes > self.options.max_message_bytes {
            session.reset();
            Some(Answer::too_large())
        } else {
            None
        };
        if refused.is_none() && !session.chunked {
            session.chunked = true;
            if self.keeps() {
                self.write_trace(session);
            }
        }
        session.phase = Phase::Chunk;
        session.chunk = Chunk {
            left_bytes,
            last,
            refused,
        };
        if left_bytes == 0 {
            return self.end_of_chunk(session, turn);
        }
        Flow::Continue
    }

    /// Reads what there is of the chunk; `None` when all of `input` is used up.
    pub(super) fn chunk(
        &mut self,
        session: &mut Session,
        input: &[u8],
        turn: &mut Turn,
    ) -> (usize, Option<Flow>) {
        let left = usize::try_from(session.chunk.left_bytes).unwrap_or(usize::MAX);
        let used = input.len().min(left).min(self.room(session));
        session.chunk.left_bytes -= used as u64;
        if session.chunk.refused.is_none() {
            self.take(session, &input[..used]);
        }
        if session.chunk.left_bytes == 0 {
            return (used, Some(self.end_of_chunk(session, turn)));
        }
        if self.is_full(session) {
            let message = std::mem::take(&mut session.message);
            return (used, Some(Flow::Store(StoreJob::Append, message)));
        }
        (used, None)
    }

    fn end_of_chunk(&mut self, session: &mut Session, turn: &mut Turn) -> Flow {
        session.phase = Phase::Command;
        let chunk = std::mem::take(&mut session.chunk);
        match chunk.refused {
            Some(answer) => self.reply(session, Verb::Bdat, &answer, turn),
            None if chunk.last => self.end_of_data(session, turn),
            None => {
                let answer = Answer::fixed("250 2.0.0 Ok\r\n");
                self.reply(session, Verb::Bdat, &answer, turn)
            }
        }
    }
}

fn read(arguments: &str) -> Option<(u64, bool)> {
    let mut words = arguments.split_ascii_whitespace();
    let size = words.next()?.parse().ok()?;
    let last = match words.next() {
        None => false,
        Some(word) if word.eq_ignore_ascii_case("LAST") => true,
        Some(_) => return None,
    };
    words.next().is_none().then_some((size, last))
}
