//! Message text: kept as far as memory goes, handed to the store, answered.

use crate::counters::tally::Verdict;
use crate::protocols::smtp::command::Verb;
use crate::protocols::smtp::replies::Answer;
use crate::protocols::smtp::session::{Phase, Session};
use crate::protocols::smtp::{Smtp, Target};
use crate::protocols::{Flow, Reply, Turn};
use crate::store::{MEMORY_BYTES, Outcome, StoreJob};

impl Smtp {
    /// Reads message text; `None` when all of `input` is used up and the text goes on.
    pub(super) fn text(
        &mut self,
        session: &mut Session,
        input: &[u8],
        turn: &mut Turn,
    ) -> (usize, Option<Flow>) {
        let room = self.room(session);
        let keep = self.keeps() && session.failure.is_none();
        let limit = self.options.max_message_bytes;
        let (message, size) = (&mut session.message, &mut session.size_bytes);
        let (used, ended) = session.data.feed(&input[..input.len().min(room)], |bytes| {
            *size += bytes.len() as u64;
            if keep && *size <= limit {
                message.body.extend_from_slice(bytes);
            }
        });
        if ended {
            return (used, Some(self.end_of_data(session, turn)));
        }
        if self.is_full(session) {
            let message = std::mem::take(&mut session.message);
            return (used, Some(Flow::Store(StoreJob::Append, message)));
        }
        (used, None)
    }

    /// Bytes that may be read before the store must take some.
    pub(super) fn room(&self, session: &Session) -> usize {
        if self.target != Target::Disk {
            return usize::MAX;
        }
        MEMORY_BYTES
            .saturating_sub(session.message.body.len())
            .max(1)
    }

    /// The store must take what is in memory before more is read.
    pub(super) fn is_full(&self, session: &Session) -> bool {
        self.target == Target::Disk && session.message.body.len() >= MEMORY_BYTES
    }

    /// Bytes of a message as they are.
    pub(super) fn take(&self, session: &mut Session, bytes: &[u8]) {
        session.size_bytes += bytes.len() as u64;
        let fits = session.size_bytes <= self.options.max_message_bytes;
        if fits && self.keeps() && session.failure.is_none() {
            session.message.body.extend_from_slice(bytes);
        }
    }

    pub(super) fn end_of_data(&mut self, session: &mut Session, turn: &mut Turn) -> Flow {
        session.phase = Phase::Command;
        turn.tally.commands += 1;
        turn.tally.received += 1;
        let silence = if self.lmtp {
            Self::draw_each(session, turn)
        } else {
            session.fault = turn.draw(Verb::Eom as usize);
            Turn::silence(session.fault)
        };
        if let Some(flow) = silence {
            session.reset();
            session.fault = None;
            turn.tally.unanswered += 1;
            return flow;
        }
        if let Some(refused) = Answer::refusing(Verb::Eom, session.fault) {
            return self.conclude(session, &refused, turn);
        }
        if session.size_bytes > self.options.max_message_bytes {
            return self.conclude(session, &Answer::too_large(), turn);
        }
        match session.failure {
            Some(error) => self.conclude(session, &Answer::not_stored(error), turn),
            None if session.message.recipients.is_empty() => {
                self.conclude(session, &Answer::accepted(), turn)
            }
            None => self.store(session, turn),
        }
    }

    fn store(&mut self, session: &mut Session, turn: &mut Turn) -> Flow {
        let answer = match self.target {
            Target::Nowhere => Answer::accepted(),
            Target::Disk => {
                let message = std::mem::take(&mut session.message);
                return Flow::Store(StoreJob::Deliver, message);
            }
            Target::Memory => {
                let text = std::mem::take(&mut session.message.body);
                let recipients = &session.message.recipients;
                let outcome = self.drops.deliver(recipients, text, self.date_unix_s);
                kept(outcome, turn)
            }
        };
        self.conclude(session, &answer, turn)
    }

    /// Answers a message and forgets it.
    pub(super) fn conclude(
        &mut self,
        session: &mut Session,
        answer: &Answer,
        turn: &mut Turn,
    ) -> Flow {
        if let Some(kind) = answer.error {
            turn.tally.error(kind);
        }
        if self.lmtp {
            return self.conclude_each(session, answer, turn);
        }
        session.reset();
        let from = turn.out.len();
        self.write(answer, turn.out);
        turn.settle(Reply {
            verb: Verb::Eom as usize,
            fault: session.fault.take(),
            from,
            verdict: Some(if answer.is_positive() {
                Verdict::Ok
            } else {
                Verdict::Failed
            }),
            close: false,
        })
    }
}

/// The answer to what came of storing, counted.
pub(super) fn kept(outcome: Outcome, turn: &mut Turn) -> Answer {
    match outcome {
        Ok(stored) => {
            turn.tally.stored_files += stored.files;
            turn.tally.stored_bytes += stored.bytes;
            Answer::accepted()
        }
        Err(error) => Answer::not_stored(error),
    }
}
