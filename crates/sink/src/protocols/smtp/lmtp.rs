//! LMTP (RFC 2033): after the content one reply for each recipient, each with its own fate.

use crate::counters::tally::Verdict;
use crate::options::fault::FaultKind;
use crate::protocols::smtp::Smtp;
use crate::protocols::smtp::command::Verb;
use crate::protocols::smtp::replies::Answer;
use crate::protocols::smtp::session::Session;
use crate::protocols::{Flow, GARBAGE, Reply, Turn};

impl Smtp {
    /// Draws a fault for each recipient and keeps those who get the message.
    ///
    /// Returns how to go on when nothing is to be said at all.
    pub(super) fn draw_each(session: &mut Session, turn: &mut Turn) -> Option<Flow> {
        for due in &mut session.due {
            due.fault = turn.draw(Verb::Eom as usize);
            if let Some(flow) = Turn::silence(due.fault) {
                return Some(flow);
            }
        }
        let due = &session.due;
        let mut place = 0;
        session.message.recipients.retain(|_| {
            place += 1;
            due.iter()
                .any(|due| due.recipient == place - 1 && !due.is_refused())
        });
        None
    }

    /// One reply for each recipient; `answer` for those nothing strikes.
    pub(super) fn conclude_each(
        &mut self,
        session: &mut Session,
        answer: &Answer,
        turn: &mut Turn,
    ) -> Flow {
        let from = turn.out.len();
        let mut verdict = Verdict::Ok;
        let (mut close, mut slow) = (false, None);
        for due in std::mem::take(&mut session.due) {
            let start = turn.out.len();
            let own = Answer::refusing(Verb::Eom, due.fault).unwrap_or(*answer);
            self.write(&own, turn.out);
            let damaged = matches!(due.fault, Some(FaultKind::Garbage | FaultKind::Short));
            if damaged || !own.is_positive() {
                verdict = Verdict::Failed;
            }
            match due.fault {
                Some(FaultKind::Garbage) => {
                    turn.out.truncate(start);
                    turn.out.extend_from_slice(GARBAGE);
                }
                Some(FaultKind::Short) => {
                    turn.out.truncate(start + (turn.out.len() - start) / 2);
                    close = true;
                    break;
                }
                Some(FaultKind::Slow) => slow = due.fault,
                _ => {}
            }
        }
        session.reset();
        turn.settle(Reply {
            verb: Verb::Eom as usize,
            fault: slow,
            from,
            verdict: Some(verdict),
            close,
        })
    }
}
