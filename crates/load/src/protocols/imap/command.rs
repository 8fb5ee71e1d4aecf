//! One command as an operation: how it is written, and what must have come before it is good.

use rand_chacha::rand_core::RngCore;
use steelyard_wire::job::ImapCommand;

use super::response::Status;
use super::{
    APPEND, EXPUNGE, FETCH_FIRST, FETCH_LAST, IDLE_DONE, IDLE_HOLD, IDLE_READY, IDLE_WAKE, Imap,
    LIST, LOGOUT, NOOP, SEARCH, SELECT, STATUS, STORE, Session, State, needs_message, wake,
};
use crate::fault::ErrorKind;
use crate::payload::{Finding, write_decimal};
use crate::protocols::{After, Output, Step, Turn};

/// Index of the phase that the end of the command ends.
pub(super) fn phase(session: &Session) -> usize {
    match session.command {
        ImapCommand::Session => LOGOUT,
        ImapCommand::Select => SELECT,
        ImapCommand::List => LIST,
        ImapCommand::Status => STATUS,
        ImapCommand::FetchHeaders | ImapCommand::Fetch if session.first_byte_ns == 0 => FETCH_FIRST,
        ImapCommand::FetchHeaders | ImapCommand::Fetch => FETCH_LAST,
        ImapCommand::Store => STORE,
        ImapCommand::Append => APPEND,
        ImapCommand::Search => SEARCH,
        ImapCommand::Expunge => EXPUNGE,
        ImapCommand::Idle => IDLE_DONE,
        ImapCommand::Noop => NOOP,
    }
}

impl Imap {
    /// Writes the command of an operation; an empty mailbox is given a message before.
    pub(super) fn begin(&mut self, session: &mut Session, out: &mut Output) {
        if needs_message(session.command) {
            if session.exists == 0 {
                // Others have emptied it since.
                self.append(session, State::FillReady, State::Fill, out);
                return;
            }
            session.drawn = self.any_message(session.exists);
        }
        match session.command {
            ImapCommand::Append => {
                self.append(session, State::AppendReady, State::Command, out);
                return;
            }
            ImapCommand::Idle => {
                session.begin(State::IdleReady, out);
                out.head.extend_from_slice(b"IDLE");
            }
            ImapCommand::Expunge => {
                session.begin(State::Deleting, out);
                write_about(session, b"STORE ", b" +FLAGS.SILENT (\\Deleted)", out);
            }
            _ => {
                session.begin(State::Command, out);
                self.write_simple(session, out);
            }
        }
        out.head.extend_from_slice(b"\r\n");
    }

    fn write_simple(&mut self, session: &Session, out: &mut Output) {
        match session.command {
            ImapCommand::Select => self.write_mailbox(b"SELECT ", out),
            ImapCommand::Status => {
                self.write_mailbox(b"STATUS ", out);
                out.head.extend_from_slice(b" (MESSAGES UNSEEN UIDNEXT)");
            }
            ImapCommand::FetchHeaders => {
                let items = b" (UID FLAGS INTERNALDATE RFC822.SIZE ENVELOPE)";
                write_about(session, b"FETCH ", items, out);
            }
            ImapCommand::Fetch => {
                write_about(session, b"FETCH ", b" (UID BODY.PEEK[])", out);
            }
            ImapCommand::Store => {
                let flags: &[u8] = if self.random.next_u32() & 1 == 0 {
                    b" +FLAGS (\\Seen)"
                } else {
                    b" -FLAGS (\\Seen)"
                };
                write_about(session, b"STORE ", flags, out);
            }
            ImapCommand::List => out.head.extend_from_slice(b"LIST \"\" \"*\""),
            ImapCommand::Search => out.head.extend_from_slice(b"SEARCH UNSEEN"),
            ImapCommand::Session => out.head.extend_from_slice(b"LOGOUT"),
            _ => out.head.extend_from_slice(b"NOOP"),
        }
    }

    /// The tagged response to the last command; `full`: it says that the mailbox is.
    pub(super) fn ended_command(
        &mut self,
        session: &mut Session,
        status: Status,
        full: bool,
        turn: &mut Turn<'_>,
    ) -> Step {
        let refused = match status {
            Status::Ok => None,
            Status::No if full => Some(ErrorKind::NoRoom),
            Status::No => Some(ErrorKind::ImapNo),
            _ => Some(ErrorKind::ImapBad),
        };
        match (session.state, refused) {
            (State::Leaving, None) => {
                turn.mark(LOGOUT);
                Step::Finished
            }
            (State::Leaving, _) => Step::Finished,
            (State::Auth | State::Challenge, Some(ErrorKind::ImapNo)) => {
                Step::Broken(ErrorKind::AuthFail)
            }
            (State::Command | State::IdleDone, None) => self.command_over(session, turn),
            (State::Deleting, None) => {
                turn.mark(STORE);
                session.begin(State::Command, turn.out);
                turn.out.head.extend_from_slice(b"EXPUNGE\r\n");
                Step::More
            }
            (
                State::Command
                | State::IdleDone
                | State::IdleReady
                | State::Idling
                | State::AppendReady
                | State::Deleting,
                Some(kind),
            ) => self.operation_over(session, Err(kind), turn),
            (_, Some(kind)) => Step::Broken(kind),
            (State::Fill, None) if session.under_way => self.filled(session, turn),
            (_, None) => self.set_up(session, turn),
        }
    }

    /// The mailbox was empty when the operation began, and is no more.
    fn filled(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        if session.exists == 0 {
            return Step::Broken(ErrorKind::BadProtocol);
        }
        turn.mark(APPEND);
        session.first_byte_ns = 0;
        self.begin(session, turn.out);
        Step::More
    }

    /// `OK`: good if what was asked for has come.
    fn command_over(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        let outcome = self.judged(session);
        if outcome.is_ok() {
            if let ImapCommand::Fetch | ImapCommand::FetchHeaders = session.command {
                turn.mark_at(FETCH_FIRST, session.first_byte_ns);
            }
            turn.mark(phase(session));
        }
        if session.command == ImapCommand::Session {
            return Step::Done(outcome, After::Close);
        }
        self.operation_over(session, outcome, turn)
    }

    fn judged(&mut self, session: &mut Session) -> Result<(), ErrorKind> {
        let answered = session.marks.answered;
        let missing = |kind| if answered { Ok(()) } else { Err(kind) };
        match session.command {
            ImapCommand::Fetch => {
                missing(ErrorKind::BodyMismatch)?;
                session.moved.retrieved += 1;
                match session.check.take().map(|check| check.finish()) {
                    None => Ok(()),
                    Some(finding) => {
                        self.tally.add(finding);
                        match finding {
                            Finding::Corrupted(_) => Err(ErrorKind::ChecksumMismatch),
                            Finding::Good(_) | Finding::Unmarked => Ok(()),
                        }
                    }
                }
            }
            ImapCommand::FetchHeaders => missing(ErrorKind::BodyMismatch),
            ImapCommand::Session
            | ImapCommand::Select
            | ImapCommand::List
            | ImapCommand::Status
            | ImapCommand::Search => missing(ErrorKind::BadProtocol),
            ImapCommand::Append => {
                session.moved.appended += 1;
                Ok(())
            }
            ImapCommand::Store | ImapCommand::Expunge | ImapCommand::Idle | ImapCommand::Noop => {
                Ok(())
            }
        }
    }

    fn operation_over(
        &mut self,
        session: &mut Session,
        outcome: Result<(), ErrorKind>,
        turn: &mut Turn<'_>,
    ) -> Step {
        session.check = None;
        session.under_way = false;
        self.growth.found(session.user, session.exists);
        let limit = self.operation.commands_per_connection;
        if limit > 0 && session.operations >= limit {
            session.begin(State::Leaving, turn.out);
            turn.out.head.extend_from_slice(b"LOGOUT\r\n");
            return Step::Done(outcome, After::Busy);
        }
        match self.ready(session, turn.out) {
            Step::Ready => Step::Done(outcome, After::Ready),
            _ => Step::Done(outcome, After::Busy),
        }
    }

    /// `+` to IDLE.
    pub(super) fn idle_begins(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        turn.mark(IDLE_READY);
        if session.marks.grew {
            turn.mark(IDLE_WAKE);
            return wake(session, turn);
        }
        if self.operation.idle_ns == 0 {
            turn.mark(IDLE_HOLD);
            return wake(session, turn);
        }
        session.state = State::Idling;
        session.idle_until_ns = turn.now_ns.saturating_add(self.operation.idle_ns);
        Self::idling(session, turn.now_ns)
    }
}

/// A command about the message that was drawn.
fn write_about(session: &Session, verb: &[u8], rest: &[u8], out: &mut Output) {
    out.head.extend_from_slice(verb);
    write_decimal(u64::from(session.drawn), &mut out.head);
    out.head.extend_from_slice(rest);
}
