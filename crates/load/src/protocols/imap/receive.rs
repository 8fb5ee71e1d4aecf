//! What follows from each response, tagged or not.

use steelyard_wire::job::ImapCommand;

use super::reader::Text;
use super::response::{Offers, Response, Status};
use super::{IDLE_WAKE, Imap, Session, State};
use crate::fault::ErrorKind;
use crate::payload::PayloadCheck;
use crate::protocols::{Step, Turn};

impl Imap {
    pub(super) fn text(
        &mut self,
        session: &mut Session,
        text: &Text<'_>,
        turn: &mut Turn<'_>,
    ) -> Step {
        session.marks.body = false;
        if !text.first {
            self.look_for_body(session, text);
            return Step::More;
        }
        session.marks.ours = false;
        match Response::of(text.bytes) {
            None => Step::Broken(ErrorKind::BadProtocol),
            Some(Response::Continue) => self.go_on(session, turn),
            Some(Response::Tagged(tag, status, words)) => {
                if tag != session.tag {
                    return Step::Broken(ErrorKind::BadProtocol);
                }
                note_offers(session, Offers::in_code(words));
                let full = words.starts_with(b"[OVERQUOTA]");
                self.ended_command(session, status, full, turn)
            }
            Some(Response::Status(status, words)) => {
                note_offers(session, Offers::in_code(words));
                self.status(session, status, turn)
            }
            Some(Response::Data(word, rest)) => {
                if word.eq_ignore_ascii_case(b"CAPABILITY") {
                    note_offers(session, Some(Offers::of(rest)));
                }
                session.marks.answered |= answers(session, word);
                Step::More
            }
            Some(Response::Message(number, word, _)) => {
                self.message(session, number, word, text, turn)
            }
        }
    }

    /// `* OK`, `* BYE` and the like.
    fn status(&mut self, session: &mut Session, status: Status, turn: &mut Turn<'_>) -> Step {
        match (session.state, status) {
            (State::Banner, Status::Ok | Status::Preauth) => self.greeted(session, status, turn),
            (State::Banner | State::Connecting, Status::No | Status::Bad) => {
                Step::Broken(ErrorKind::BadProtocol)
            }
            (State::Leaving, _) => Step::More,
            (State::Command, Status::Bye) if session.command == ImapCommand::Session => {
                session.marks.answered = true;
                Step::More
            }
            (State::Ready, Status::Bye) => Step::Finished,
            (_, Status::Bye) => Step::Broken(ErrorKind::ImapBye),
            // Warnings and alerts are for people.
            _ => Step::More,
        }
    }

    /// `* 12 EXISTS` and the like.
    fn message(
        &mut self,
        session: &mut Session,
        number: u32,
        word: &[u8],
        text: &Text<'_>,
        turn: &mut Turn<'_>,
    ) -> Step {
        if word.eq_ignore_ascii_case(b"EXISTS") {
            session.marks.grew |= number > session.exists;
            session.exists = number;
            session.marks.answered |= selects(session);
            if session.state == State::Idling && session.marks.grew {
                turn.mark(IDLE_WAKE);
                return wake(session, turn);
            }
        } else if word.eq_ignore_ascii_case(b"EXPUNGE") {
            if number == 0 || number > session.exists {
                return Step::Broken(ErrorKind::BadProtocol);
            }
            session.exists -= 1;
            session.moved.deleted += u32::from(session.command == ImapCommand::Expunge);
        } else if word.eq_ignore_ascii_case(b"FETCH") {
            session.marks.ours = number == session.drawn && session.state == State::Command;
            self.look_for_body(session, text);
        }
        Step::More
    }

    /// Whether a part of a FETCH response holds what was asked for.
    fn look_for_body(&mut self, session: &mut Session, text: &Text<'_>) {
        if !session.marks.ours {
            return;
        }
        let holds = |item: &[u8]| memchr::memmem::find(text.bytes, item).is_some();
        match session.command {
            ImapCommand::Fetch if holds(b"BODY[] ") => {
                session.marks.answered = true;
                session.marks.body = text.literal.is_some() && text.bytes.ends_with(b"BODY[] ");
                if self.operation.verify {
                    session.check = Some(Box::new(PayloadCheck::mail()));
                }
            }
            ImapCommand::FetchHeaders if holds(b"ENVELOPE (") => session.marks.answered = true,
            _ => {}
        }
    }

    /// What an idle connection waits for, in nanoseconds.
    pub(super) fn idling(session: &Session, now_ns: u64) -> Step {
        Step::Pause(session.idle_until_ns.saturating_sub(now_ns).max(1))
    }
}

fn selects(session: &Session) -> bool {
    session.state == State::Select
        || session.state == State::Command && session.command == ImapCommand::Select
}

/// Whether an untagged response is what the command was for.
fn answers(session: &Session, word: &[u8]) -> bool {
    let wanted: &[u8] = match session.command {
        ImapCommand::List => b"LIST",
        ImapCommand::Status => b"STATUS",
        ImapCommand::Search => b"SEARCH",
        _ => return false,
    };
    session.state == State::Command && word.eq_ignore_ascii_case(wanted)
}

fn note_offers(session: &mut Session, offers: Option<Offers>) {
    if let Some(offers) = offers {
        session.offers = offers;
        session.marks.offered = true;
    }
}

pub(super) fn wake(session: &mut Session, turn: &mut Turn<'_>) -> Step {
    turn.out.head.extend_from_slice(b"DONE\r\n");
    session.state = State::IdleDone;
    Step::More
}
