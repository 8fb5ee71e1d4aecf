//! The dialogue of a session: what follows from each answer.

use steelyard_wire::job::{Mechanism, StartTls};

use super::reader::{Data, Status};
use super::{
    AUTH, BANNER, CAPA, DELE, GROUP, LIST, MOST_CAPA_BYTES, MOST_FOUND, MOST_MESSAGES, Offers,
    Pop3, QUIT, RETR_FIRST, RETR_LAST, STAT, STLS, Session, State,
};
use crate::fault::ErrorKind;
use crate::payload::{Finding, PayloadCheck, write_decimal};
use crate::protocols::{After, Output, Step, Turn};

impl Pop3 {
    /// The dialogue as a table: what follows when the status line of `session.state` has come.
    pub(super) fn answered(
        &mut self,
        session: &mut Session,
        status: Status,
        turn: &mut Turn<'_>,
    ) -> Step {
        let state = session.state;
        match (state, status) {
            (State::Banner, Status::Ok) => {
                turn.mark(BANNER);
                self.greeted(session, turn.out)
            }
            (State::Capa, Status::Ok) => go_on(session, State::CapaLines),
            // An old server has no CAPA and offers nothing.
            (State::Capa, Status::Err) => self.offered(session, turn),
            (State::Stls, Status::Ok) => {
                turn.mark(STLS);
                session.state = State::Handshake;
                Step::Secure
            }
            (State::User, Status::Ok) => {
                turn.out.head.extend_from_slice(b"PASS ");
                let password = self.accounts.password(session.user);
                turn.out.head.extend_from_slice(&password);
                turn.out.head.extend_from_slice(b"\r\n");
                go_on(session, State::Pass)
            }
            (State::Pass | State::Plain, Status::Ok) => {
                turn.mark(AUTH);
                session.state = State::LoggedIn;
                Step::Ready
            }
            (State::Stat, Status::Ok) => self.counted(session, turn),
            (State::List, Status::Ok) => go_on(session, State::Listing),
            (State::Retr(number), Status::Ok) => self.content_follows(session, number, turn),
            (State::Dele(number), Status::Ok) => {
                if !session.grouped {
                    turn.mark(DELE);
                }
                session.moved.deleted += 1;
                next_command(session, Next::after_delete(number, session), turn)
            }
            (State::Quit, Status::Ok) => {
                turn.mark(QUIT);
                self.growth
                    .found(session.user, session.messages - session.moved.deleted);
                Step::Done(Ok(()), After::Close)
            }
            (State::Leaving, _) => Step::Finished,
            (_, Status::Err) => refused(session, turn),
            _ => Step::Broken(ErrorKind::BadProtocol),
        }
    }

    fn content_follows(&self, session: &mut Session, number: u32, turn: &mut Turn<'_>) -> Step {
        if !session.grouped {
            turn.mark(RETR_FIRST);
        }
        session.check = self
            .operation
            .verify
            .then(|| Box::new(PayloadCheck::mail()));
        go_on(session, State::Content(number))
    }

    pub(super) fn greeted(&mut self, session: &mut Session, out: &mut Output) -> Step {
        let upgrade = self.operation.starttls == StartTls::Require && !session.secured;
        if upgrade || self.operation.pipelining {
            out.head.extend_from_slice(b"CAPA\r\n");
            return go_on(session, State::Capa);
        }
        self.log_in(session, out)
    }

    /// CAPA has been answered.
    fn offered(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        turn.mark(CAPA);
        if self.operation.starttls == StartTls::Never || session.secured {
            return self.log_in(session, turn.out);
        }
        if !session.offers.stls {
            return Step::Broken(ErrorKind::CapabilityMissing);
        }
        turn.out.head.extend_from_slice(b"STLS\r\n");
        go_on(session, State::Stls)
    }

    pub(super) fn log_in(&mut self, session: &mut Session, out: &mut Output) -> Step {
        match self.operation.login.mechanism {
            Mechanism::Plain => {
                out.head.extend_from_slice(b"AUTH PLAIN ");
                self.accounts.write_plain(session.user, &mut out.head);
                session.state = State::Plain;
            }
            Mechanism::Login => {
                out.head.extend_from_slice(b"USER ");
                out.head
                    .extend_from_slice(&self.accounts.user(session.user));
                session.state = State::User;
            }
        }
        out.head.extend_from_slice(b"\r\n");
        Step::More
    }

    /// STAT has been answered.
    fn counted(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        let Some(messages) = count_of(session.reader.line()) else {
            return Step::Broken(ErrorKind::BadProtocol);
        };
        turn.mark(STAT);
        session.messages = messages;
        self.growth.found(session.user, messages);
        let share = self.share_of(messages, self.operation.retrieve_share);
        session.to_retrieve = match self.operation.most_messages {
            0 => share,
            most => share.min(most),
        };
        session.to_delete = self.share_of(session.to_retrieve, self.operation.delete_share);
        let command: &[u8] = if self.operation.uidl {
            b"UIDL\r\n"
        } else {
            b"LIST\r\n"
        };
        turn.out.head.extend_from_slice(command);
        go_on(session, State::List)
    }

    /// The lone dot behind a reply's lines.
    fn lines_end(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        match session.state {
            State::CapaLines => {
                session.offers = Offers::of(&std::mem::take(&mut session.capa));
                self.offered(session, turn)
            }
            State::Listing if session.listed == session.messages => {
                turn.mark(LIST);
                self.fetch(session, turn)
            }
            State::Content(number) => {
                if !session.grouped {
                    turn.mark(RETR_LAST);
                }
                session.moved.retrieved += 1;
                if let Some(check) = session.check.take() {
                    let finding = check.finish();
                    self.tally.add(finding);
                    match finding {
                        Finding::Corrupted(_) if !self.takes_damaged => {
                            return fail(session, ErrorKind::ChecksumMismatch, turn);
                        }
                        Finding::Unmarked => {}
                        finding if self.found.len() < MOST_FOUND => self.found.push(finding),
                        Finding::Good(_) | Finding::Corrupted(_) => {}
                    }
                }
                next_command(session, Next::after_message(number, session), turn)
            }
            _ => Step::Broken(ErrorKind::BadProtocol),
        }
    }

    /// The first RETR, or all there is to be said but QUIT.
    fn fetch(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        let (retrieve, delete) = (session.to_retrieve, session.to_delete);
        session.grouped = self.operation.pipelining && session.offers.pipelining && retrieve > 0;
        if session.grouped {
            for number in 1..=retrieve {
                write_command(b"RETR ", number, turn.out);
            }
            for number in 1..=delete {
                write_command(b"DELE ", number, turn.out);
            }
        }
        next_command(session, Next::after_message(0, session), turn)
    }

    /// A line, or a part of one, that is no message.
    fn note_line(session: &mut Session, piece: &[u8]) {
        match session.state {
            State::Listing => {
                let lines = memchr::memchr_iter(b'\n', piece).count() as u32;
                session.listed = session.listed.saturating_add(lines);
            }
            State::CapaLines if session.capa.len() + piece.len() <= MOST_CAPA_BYTES => {
                session.capa.extend_from_slice(piece);
            }
            _ => {}
        }
    }

    pub(super) fn take_lines(
        &mut self,
        session: &mut Session,
        input: &mut &[u8],
        turn: &mut Turn<'_>,
    ) -> Step {
        while let Some(data) = session.reader.data(input) {
            match data {
                Data::End => return self.lines_end(session, turn),
                Data::Piece(piece) => match &mut session.check {
                    Some(check) => check.feed(piece),
                    None => Self::note_line(session, piece),
                },
            }
        }
        Step::More
    }
}

/// The command after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Retr(u32),
    Dele(u32),
    Quit,
}

impl Next {
    fn after_message(number: u32, session: &Session) -> Self {
        if number < session.to_retrieve {
            Self::Retr(number + 1)
        } else {
            Self::after_delete(0, session)
        }
    }

    fn after_delete(number: u32, session: &Session) -> Self {
        if number < session.to_delete {
            Self::Dele(number + 1)
        } else {
            Self::Quit
        }
    }
}

fn next_command(session: &mut Session, next: Next, turn: &mut Turn<'_>) -> Step {
    let (state, verb): (_, &[u8]) = match next {
        Next::Retr(number) => (State::Retr(number), b"RETR "),
        Next::Dele(number) => (State::Dele(number), b"DELE "),
        Next::Quit => {
            if std::mem::take(&mut session.grouped) {
                turn.mark(GROUP);
            }
            turn.out.head.extend_from_slice(b"QUIT\r\n");
            return go_on(session, State::Quit);
        }
    };
    session.state = state;
    if let (false, Next::Retr(number) | Next::Dele(number)) = (session.grouped, next) {
        write_command(verb, number, turn.out);
    }
    Step::More
}

fn write_command(verb: &[u8], number: u32, out: &mut Output) {
    out.head.extend_from_slice(verb);
    write_decimal(u64::from(number), &mut out.head);
    out.head.extend_from_slice(b"\r\n");
}

pub(super) fn go_on(session: &mut Session, next: State) -> Step {
    session.state = next;
    Step::More
}

/// `-ERR`, by what it answers.
fn refused(session: &mut Session, turn: &mut Turn<'_>) -> Step {
    let code = session.reader.line().get(5..).unwrap_or_default();
    let says = |word: &[u8]| memchr::memmem::find(code, word).is_some();
    match session.state {
        State::User | State::Pass | State::Plain if says(b"[IN-USE]") => {
            Step::Broken(ErrorKind::PopInUse)
        }
        State::User | State::Pass | State::Plain => Step::Broken(ErrorKind::AuthFail),
        State::Banner | State::Capa | State::Stls => Step::Broken(ErrorKind::PopErr),
        _ => fail(session, ErrorKind::PopErr, turn),
    }
}

/// The session has failed; the mailbox is left as the protocol wants it, unless replies to a
/// group are still on their way.
fn fail(session: &mut Session, kind: ErrorKind, turn: &mut Turn<'_>) -> Step {
    let over = session.grouped || session.state == State::Quit;
    if over {
        return Step::Done(Err(kind), After::Close);
    }
    session.state = State::Leaving;
    turn.out.head.extend_from_slice(b"QUIT\r\n");
    Step::Done(Err(kind), After::Busy)
}

/// The number behind `+OK `.
fn count_of(line: &[u8]) -> Option<u32> {
    let words = std::str::from_utf8(line.get(3..)?).ok()?;
    let count = words.split_ascii_whitespace().next()?.parse().ok()?;
    (count <= MOST_MESSAGES).then_some(count)
}

impl Offers {
    fn of(lines: &[u8]) -> Self {
        let has = |wanted: &[u8]| {
            lines.split(|byte| *byte == b'\n').any(|line| {
                let word = line.split(|byte| *byte == b' ').next().unwrap_or_default();
                word.trim_ascii().eq_ignore_ascii_case(wanted)
            })
        };
        Self {
            stls: has(b"STLS"),
            pipelining: has(b"PIPELINING"),
        }
    }
}
