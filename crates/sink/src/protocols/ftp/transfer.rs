//! Commands that move a file or a list, and how they end.

use crate::counters::tally::ErrorKind;
use crate::counters::tally::Verdict;
use crate::options::fault::FaultKind;
use crate::protocols::ftp::files::{Form, absolute};
use crate::protocols::ftp::session::{Data, Session};
use crate::protocols::ftp::verb::Verb;
use crate::protocols::ftp::{Ftp, answer};
use crate::protocols::{Event, Order, Transfer, What};
use crate::protocols::{Flow, Reply, Turn};

impl Ftp {
    /// Begins a transfer.
    pub(super) fn transfer(
        &mut self,
        session: &mut Session,
        verb: Verb,
        fault: Option<FaultKind>,
        argument: &str,
        turn: &mut Turn,
    ) -> Flow {
        if session.data != Data::Open {
            turn.tally.error(ErrorKind::BadSequence);
            return answer(verb, fault, "425 EPSV or PASV comes first.", turn);
        }
        let name = if matches!(verb, Verb::Retr | Verb::Stor) {
            argument
        } else {
            // Clients of LIST like to give options to `ls`.
            argument
                .split(' ')
                .rfind(|word| !word.starts_with('-'))
                .unwrap_or("")
        };
        let path = absolute(&session.folder, name);
        let Some(mut what) = self.what(verb, &path) else {
            return answer(verb, fault, "550 No such file.", turn);
        };
        let struck = turn.draw(Verb::Data as usize);
        let cut_at = match struck {
            Some(FaultKind::Reject | FaultKind::Tempfail) => {
                session.data = Data::None;
                let flow = answer(verb, fault, "425 No data connection.", turn);
                return match flow {
                    Flow::Continue => Flow::Side(Order::Close),
                    other => other,
                };
            }
            Some(FaultKind::Drop | FaultKind::Reset | FaultKind::Short) => Some(half(&what)),
            _ => None,
        };
        if struck == Some(FaultKind::Stall) {
            what = What::Stall;
        }
        session.data = Data::Moving {
            verb,
            fault,
            path: (verb == Verb::Stor).then_some(path),
        };
        turn.out.extend_from_slice(b"150 Here it comes.\r\n");
        Flow::Side(Order::Transfer(Transfer {
            what,
            secure: session.protects,
            require_reuse: self.options.require_reuse && session.protects,
            cut_at,
        }))
    }

    fn what(&self, verb: Verb, path: &str) -> Option<What> {
        let list = |form| Some(What::Send(self.files.list(path, form).into()));
        match verb {
            Verb::Retr => self.files.read(path),
            Verb::Stor => Some(What::Receive(self.files.most_bytes())),
            Verb::Nlst => list(Form::Names),
            Verb::Mlsd => list(Form::Facts),
            _ => list(Form::Long),
        }
    }

    /// A transfer has ended.
    pub(super) fn moved(
        &self,
        verb: Verb,
        fault: Option<FaultKind>,
        path: Option<String>,
        event: Event,
        turn: &mut Turn,
    ) -> Flow {
        let text = match event {
            Event::Done { bytes, kept } => {
                if let (Some(path), Some(kept)) = (path, kept) {
                    turn.tally.stored_files += 1;
                    turn.tally.stored_bytes += bytes;
                    self.files.keep(path, kept);
                }
                return complete(verb, fault, turn);
            }
            Event::NotResumed => "522 Resume the session of this connection.",
            Event::Broken | Event::Listening(_) => "426 The data connection broke.",
        };
        answer(verb, fault, text, turn)
    }

    /// The client gives up the transfer under way.
    pub(super) fn abort(session: &mut Session, turn: &mut Turn) -> Flow {
        turn.tally.commands += 1;
        turn.tally.count(Some(Verdict::Failed));
        session.data = Data::None;
        turn.out
            .extend_from_slice(b"426 Aborted.\r\n226 Abort done.\r\n");
        Flow::Side(Order::Close)
    }
}

fn complete(verb: Verb, fault: Option<FaultKind>, turn: &mut Turn) -> Flow {
    let from = turn.out.len();
    turn.out.extend_from_slice(b"226 That was all.\r\n");
    turn.settle(Reply {
        verb: verb as usize,
        fault,
        from,
        verdict: Some(Verdict::Ok),
        close: false,
    })
}

/// Where a transfer that is cut ends; an upload after its first bytes.
fn half(what: &What) -> u64 {
    match what {
        What::SendFiller(bytes) => bytes / 2,
        What::Send(bytes) => bytes.len() as u64 / 2,
        What::Receive(_) | What::Stall => 1,
    }
}
