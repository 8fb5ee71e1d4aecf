//! Message text: kept as far as memory goes, handed to the store, answered.

use crate::protocol::{Flow, Reply, Turn, Verdict};
use crate::smtp::Smtp;
use crate::smtp::command::Verb;
use crate::smtp::replies::Answer;
use crate::smtp::session::{Phase, Session};
use crate::store::{MEMORY_BYTES, StoreJob};

impl Smtp {
    /// Reads message text; `None` when all of `input` is used up and the text goes on.
    pub(super) fn text(
        &mut self,
        session: &mut Session,
        input: &[u8],
        turn: &mut Turn,
    ) -> (usize, Option<Flow>) {
        let room = MEMORY_BYTES
            .saturating_sub(session.message.body.len())
            .max(1);
        let keep = self.stores && session.failure.is_none();
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
        if session.message.body.len() >= MEMORY_BYTES {
            let message = std::mem::take(&mut session.message);
            return (used, Some(Flow::Store(StoreJob::Append, message)));
        }
        (used, None)
    }

    fn end_of_data(&mut self, session: &mut Session, turn: &mut Turn) -> Flow {
        session.phase = Phase::Command;
        turn.tally.commands += 1;
        turn.tally.received += 1;
        let fault = turn.draw(Verb::Eom as usize);
        if let Some(flow) = Turn::silence(fault) {
            session.reset();
            turn.tally.unanswered += 1;
            return flow;
        }
        session.fault = fault;
        if let Some(refused) = Answer::refusing(Verb::Eom, fault) {
            return self.conclude(session, &refused, turn);
        }
        if session.size_bytes > self.options.max_message_bytes {
            return self.conclude(session, &Answer::too_large(), turn);
        }
        match session.failure {
            Some(error) => self.conclude(session, &Answer::not_stored(error), turn),
            None if self.stores => {
                let message = std::mem::take(&mut session.message);
                Flow::Store(StoreJob::Deliver, message)
            }
            None => self.conclude(session, &Answer::accepted(), turn),
        }
    }

    /// Answers a message and forgets it.
    pub(super) fn conclude(
        &mut self,
        session: &mut Session,
        answer: &Answer,
        turn: &mut Turn,
    ) -> Flow {
        session.reset();
        if let Some(kind) = answer.error {
            turn.tally.error(kind);
        }
        let from = turn.out.len();
        answer.write(&self.host, &self.options, turn.out);
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
