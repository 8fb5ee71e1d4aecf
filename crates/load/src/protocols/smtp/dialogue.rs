//! From the banner to the first message, and the end of a conversation.

use steelyard_wire::job::{Login, Mechanism, Pipelining};

use super::offers::Offers;
use super::session::{AUTH, AuthStep, BANNER, EHLO, QUIT, RSET, STARTTLS, Session, State};
use super::{Dialect, Smtp, login, refusal};
use crate::fault::ErrorKind;
use crate::protocols::{After, Step, Turn};

impl Smtp {
    /// What follows from a reply outside a message.
    pub(super) fn converse(
        &mut self,
        session: &mut Session,
        code: u16,
        reply: &[u8],
        turn: &mut Turn<'_>,
    ) -> Step {
        match (session.state, code / 100) {
            (State::Banner, 2) => {
                turn.mark(BANNER);
                self.greet(session, turn)
            }
            (State::Ehlo, 2) => {
                session.offers = offers(session, reply);
                turn.mark(EHLO);
                self.set_up(session, turn)
            }
            (State::Ehlo, 5) if self.dialect != Dialect::Lmtp => self.greet_simply(session, turn),
            (State::Helo, 2) => {
                turn.mark(EHLO);
                self.set_up(session, turn)
            }
            (State::StartTls, 2) => {
                turn.mark(STARTTLS);
                session.state = State::Securing;
                Step::Secure
            }
            (State::Auth(step), class) => self.log_in(session, step, class, turn),
            (State::Rset, 2) => {
                turn.mark(RSET);
                session.state = State::Open;
                Step::Ready
            }
            (State::Quit, class) => {
                // Sent along with a message, its answer measures nothing.
                if class == 2 && !session.quit_sent {
                    turn.mark(QUIT);
                }
                Step::Finished
            }
            _ => Step::Broken(refusal(code).unwrap_or(ErrorKind::BadProtocol)),
        }
    }

    /// EHLO once more, now in TLS: what was offered in clear text counts no more (RFC 3207).
    pub(super) fn greet_again(&self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        session.secured = true;
        session.offers = Offers::default();
        self.greet(session, turn)
    }

    fn greet(&self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        session.state = State::Ehlo;
        let verb: &[u8] = match self.dialect {
            Dialect::Lmtp => b"LHLO ",
            Dialect::Smtp | Dialect::Smtps => b"EHLO ",
        };
        self.write_greeting(session, verb, turn)
    }

    fn greet_simply(&self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        session.state = State::Helo;
        self.write_greeting(session, b"HELO ", turn)
    }

    fn write_greeting(&self, session: &mut Session, verb: &[u8], turn: &mut Turn<'_>) -> Step {
        turn.out.head.extend_from_slice(verb);
        turn.out
            .head
            .extend_from_slice(self.operation.helo.as_bytes());
        say(session, turn, b"\r\n")
    }

    /// The next step between the greeting and the first message.
    fn set_up(&self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        let offers = session.offers;
        if session.wants_tls && !session.secured {
            return if offers.starttls {
                session.state = State::StartTls;
                say(session, turn, b"STARTTLS\r\n")
            } else {
                Step::Broken(ErrorKind::CapabilityMissing)
            };
        }
        if self.misses_something(offers) {
            return Step::Broken(ErrorKind::CapabilityMissing);
        }
        match &self.operation.login {
            Some(login) if !session.logged_in => begin_login(session, login, turn),
            _ => {
                session.state = State::Open;
                Step::Ready
            }
        }
    }

    fn misses_something(&self, offers: Offers) -> bool {
        (self.operation.pipelining != Pipelining::None && !offers.pipelining)
            || (self.operation.chunking && !offers.chunking)
            || (self.eight_bit && !offers.eight_bit)
            || self
                .operation
                .login
                .as_ref()
                .is_some_and(|login| !login::is_offered(login, offers))
    }

    fn log_in(
        &self,
        session: &mut Session,
        step: AuthStep,
        class: u16,
        turn: &mut Turn<'_>,
    ) -> Step {
        let Some(login) = &self.operation.login else {
            return Step::Broken(ErrorKind::BadProtocol);
        };
        match (step, class) {
            (AuthStep::Name, 3) => {
                session.state = State::Auth(AuthStep::Password);
                let line = login::name_line(login, session.user);
                say(session, turn, line.as_bytes())
            }
            (AuthStep::Password, 3) => {
                session.state = State::Auth(AuthStep::Outcome);
                let line = login::password_line(login, session.user);
                say(session, turn, line.as_bytes())
            }
            (AuthStep::Outcome, 2) => {
                turn.mark(AUTH);
                session.logged_in = true;
                self.set_up(session, turn)
            }
            (_, 4 | 5) => Step::Broken(ErrorKind::AuthFail),
            _ => Step::Broken(ErrorKind::BadProtocol),
        }
    }
}

/// 421: the server closes, whatever it was asked for.
pub(super) fn turned_away(session: &mut Session, turn: &mut Turn<'_>) -> Step {
    match (session.state, session.current) {
        (State::Open, Some(message)) => {
            turn.slot = usize::from(message.slot);
            Step::Done(Err(ErrorKind::Smtp4xx), After::Close)
        }
        (State::Open | State::Rset | State::Quit, _) => Step::Finished,
        _ => Step::Broken(ErrorKind::Smtp4xx),
    }
}

fn begin_login(session: &mut Session, login: &Login, turn: &mut Turn<'_>) -> Step {
    session.state = State::Auth(match login.mechanism {
        Mechanism::Plain => AuthStep::Outcome,
        Mechanism::Login => AuthStep::Name,
    });
    let line = login::first_line(login, session.user);
    say(session, turn, line.as_bytes())
}

fn say(session: &mut Session, turn: &mut Turn<'_>, line: &[u8]) -> Step {
    turn.out.head.extend_from_slice(line);
    session.asks(1);
    Step::More
}

fn offers(session: &mut Session, reply: &[u8]) -> Offers {
    match session.text.take() {
        None => Offers::parse(reply),
        Some(mut text) => {
            text.0.extend_from_slice(reply);
            Offers::parse(&text.0)
        }
    }
}
