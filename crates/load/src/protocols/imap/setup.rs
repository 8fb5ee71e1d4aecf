//! From the greeting to the selected mailbox.

use steelyard_wire::job::{ImapCommand, Mechanism, StartTls};

use super::response::{Status, write_quoted};
use super::{
    APPEND_READY, AUTH, BANNER, CAPABILITY, Imap, Marks, SELECT, STARTTLS, Session, State,
};
use crate::fault::ErrorKind;
use crate::payload::write_decimal;
use crate::protocols::{Output, Step, Turn};

impl Imap {
    pub(super) fn greeted(
        &mut self,
        session: &mut Session,
        status: Status,
        turn: &mut Turn<'_>,
    ) -> Step {
        turn.mark(BANNER);
        let upgrade = self.operation.starttls == StartTls::Require;
        if status == Status::Preauth {
            if upgrade {
                // Logged in already, such a server cannot upgrade any more.
                return Step::Broken(ErrorKind::CapabilityMissing);
            }
            return ask_capability(session, State::CapabilityAgain, turn.out);
        }
        if session.marks.offered {
            return self.offered(session, turn.out);
        }
        ask_capability(session, State::Capability, turn.out)
    }

    /// It is known what the server offers: secure the connection, or log in.
    fn offered(&mut self, session: &mut Session, out: &mut Output) -> Step {
        if self.operation.starttls == StartTls::Require && !session.marks.secured {
            if !session.offers.starttls {
                return Step::Broken(ErrorKind::CapabilityMissing);
            }
            session.begin(State::StartTls, out);
            out.head.extend_from_slice(b"STARTTLS\r\n");
            return Step::More;
        }
        match self.operation.login.mechanism {
            Mechanism::Plain => self.authenticate(session, out),
            Mechanism::Login => self.log_in(session, out),
        }
    }

    fn authenticate(&mut self, session: &mut Session, out: &mut Output) -> Step {
        if !session.offers.auth_plain {
            return Step::Broken(ErrorKind::CapabilityMissing);
        }
        session.begin(State::Auth, out);
        out.head.extend_from_slice(b"AUTHENTICATE PLAIN");
        if session.offers.sasl_ir {
            out.head.push(b' ');
            self.accounts.write_plain(session.user, &mut out.head);
        } else {
            session.state = State::Challenge;
        }
        out.head.extend_from_slice(b"\r\n");
        Step::More
    }

    fn log_in(&mut self, session: &mut Session, out: &mut Output) -> Step {
        if session.offers.login_disabled {
            return Step::Broken(ErrorKind::CapabilityMissing);
        }
        session.begin(State::Auth, out);
        out.head.extend_from_slice(b"LOGIN ");
        write_quoted(&self.accounts.user(session.user), &mut out.head);
        out.head.push(b' ');
        write_quoted(&self.accounts.password(session.user), &mut out.head);
        out.head.extend_from_slice(b"\r\n");
        Step::More
    }

    pub(super) fn select(&mut self, session: &mut Session, out: &mut Output) -> Step {
        session.begin(State::Select, out);
        self.write_mailbox(b"SELECT ", out);
        out.head.extend_from_slice(b"\r\n");
        Step::More
    }

    pub(super) fn write_mailbox(&self, verb: &[u8], out: &mut Output) {
        out.head.extend_from_slice(verb);
        write_quoted(self.operation.mailbox.as_bytes(), &mut out.head);
    }

    /// A command of the set-up has succeeded.
    pub(super) fn set_up(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        match session.state {
            State::Capability => {
                turn.mark(CAPABILITY);
                self.offered(session, turn.out)
            }
            State::StartTls => {
                turn.mark(STARTTLS);
                session.state = State::Handshake;
                Step::Secure
            }
            State::Auth => {
                turn.mark(AUTH);
                if session.marks.offered {
                    return self.select(session, turn.out);
                }
                // More may be offered to those who are logged in.
                ask_capability(session, State::CapabilityAgain, turn.out)
            }
            State::CapabilityAgain => {
                turn.mark(CAPABILITY);
                self.select(session, turn.out)
            }
            State::Select if !session.marks.answered => Step::Broken(ErrorKind::BadProtocol),
            State::Select => {
                turn.mark(SELECT);
                self.growth.found(session.user, session.exists);
                let idles = self
                    .commands
                    .iter()
                    .any(|(command, _)| *command == ImapCommand::Idle);
                if idles && !session.offers.idle {
                    return Step::Broken(ErrorKind::CapabilityMissing);
                }
                self.ready(session, turn.out)
            }
            State::Fill if session.exists > 0 => {
                turn.mark(super::APPEND);
                self.ready(session, turn.out)
            }
            _ => Step::Broken(ErrorKind::BadProtocol),
        }
    }

    /// Ready for an operation, once there is a message if one may be needed.
    pub(super) fn ready(&mut self, session: &mut Session, out: &mut Output) -> Step {
        if session.exists == 0 && self.needs_messages() {
            self.append(session, State::FillReady, State::Fill, out);
            return Step::More;
        }
        session.state = State::Ready;
        Step::Ready
    }

    /// `+` has come.
    pub(super) fn go_on(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        match session.state {
            State::Challenge => {
                self.accounts.write_plain(session.user, &mut turn.out.head);
                turn.out.head.extend_from_slice(b"\r\n");
                session.state = State::Auth;
                Step::More
            }
            State::FillReady | State::AppendReady => {
                turn.mark(APPEND_READY);
                session.state = match session.state {
                    State::FillReady => State::Fill,
                    _ => State::Command,
                };
                self.write_message(session, turn.out);
                Step::More
            }
            State::IdleReady => self.idle_begins(session, turn),
            _ => Step::Broken(ErrorKind::BadProtocol),
        }
    }

    /// Writes APPEND, with the message unless the server wants to be asked first.
    pub(super) fn append(
        &mut self,
        session: &mut Session,
        ask: State,
        tell: State,
        out: &mut Output,
    ) {
        let count = &mut self.appended[session.place as usize];
        session.sequence = *count;
        *count += 1;
        let header = self.message.header(self.sender(session), session.sequence);
        let length = self.message.length(&header);
        let at_once = session.offers.literal_plus || session.offers.literal_minus && length <= 4096;
        session.begin(if at_once { tell } else { ask }, out);
        self.write_mailbox(b"APPEND ", out);
        out.head.extend_from_slice(b" {");
        write_decimal(length as u64, &mut out.head);
        out.head
            .extend_from_slice(if at_once { b"+}\r\n" } else { b"}\r\n" });
        if at_once {
            out.head.extend_from_slice(&header);
            out.tail = 0..self.message.body_and_end.len();
        }
    }

    fn write_message(&mut self, session: &Session, out: &mut Output) {
        let header = self.message.header(self.sender(session), session.sequence);
        out.head.extend_from_slice(&header);
        out.tail = 0..self.message.body_and_end.len();
    }

    fn sender(&self, session: &Session) -> u64 {
        u64::from(self.places.worker) << 20 | u64::from(session.place)
    }
}

impl Session {
    /// Writes the tag of the next command, whose responses belong to `state`.
    pub(super) fn begin(&mut self, state: State, out: &mut Output) {
        self.tag += 1;
        self.state = state;
        self.marks = Marks {
            secured: self.marks.secured,
            ..Marks::default()
        };
        out.head.push(b'S');
        write_decimal(u64::from(self.tag), &mut out.head);
        out.head.push(b' ');
    }
}

pub(super) fn ask_capability(session: &mut Session, next: State, out: &mut Output) -> Step {
    session.begin(next, out);
    out.head.extend_from_slice(b"CAPABILITY\r\n");
    Step::More
}
