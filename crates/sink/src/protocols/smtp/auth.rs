//! AUTH (RFC 4954): PLAIN, and LOGIN for the clients that know nothing else.

use crate::counters::tally::ErrorKind;
use crate::protocols::sasl;
use crate::protocols::smtp::Smtp;
use crate::protocols::smtp::command;
use crate::protocols::smtp::replies::Answer;
use crate::protocols::smtp::session::{AuthStep, Phase, Session};

const ASK_NAME: &str = "334 VXNlcm5hbWU6\r\n";
const ASK_PASSWORD: &str = "334 UGFzc3dvcmQ6\r\n";

impl Smtp {
    /// The command, with the first response if the client did not wait to be asked.
    pub(super) fn auth(&self, session: &mut Session, arguments: &str) -> Answer {
        if session.helo.is_empty() || session.open || session.authenticated {
            return Answer::wrong(
                ErrorKind::BadSequence,
                "503 5.5.1 Not now: once, after EHLO, before MAIL\r\n",
            );
        }
        let (mechanism, first) = arguments.split_once(' ').unwrap_or((arguments, ""));
        let step = match mechanism.to_ascii_uppercase().as_str() {
            "PLAIN" => AuthStep::Plain,
            "LOGIN" => AuthStep::LoginName,
            _ => {
                return Answer::wrong(
                    ErrorKind::BadArgument,
                    "504 5.5.4 PLAIN and LOGIN are known\r\n",
                );
            }
        };
        if first.is_empty() {
            session.phase = Phase::Auth(step);
            return Answer::fixed(if step == AuthStep::Plain {
                "334 \r\n"
            } else {
                ASK_NAME
            });
        }
        self.respond(session, step, first.trim_ascii())
    }

    /// A line that answers what AUTH asked.
    pub(super) fn respond(&self, session: &mut Session, step: AuthStep, response: &str) -> Answer {
        session.phase = Phase::Command;
        if response == "*" {
            return Answer::wrong(ErrorKind::LoginFailed, "501 5.7.0 Given up\r\n");
        }
        let malformed = Answer::wrong(ErrorKind::BadArgument, command::SYNTAX);
        match step {
            AuthStep::Plain => match sasl::plain(response) {
                Some((name, password)) => self.check(session, &name, &password),
                None => malformed,
            },
            AuthStep::LoginName => match sasl::decode(response) {
                Some(name) => {
                    session.login = name;
                    session.phase = Phase::Auth(AuthStep::LoginPassword);
                    Answer::fixed(ASK_PASSWORD)
                }
                None => malformed,
            },
            AuthStep::LoginPassword => match sasl::decode(response) {
                Some(password) => {
                    let name = std::mem::take(&mut session.login);
                    self.check(session, &name, &password)
                }
                None => malformed,
            },
        }
    }

    fn check(&self, session: &mut Session, name: &str, password: &str) -> Answer {
        session.authenticated = self.drops.admits(name, password);
        if session.authenticated {
            return Answer::fixed("235 2.7.0 Authenticated\r\n");
        }
        Answer::wrong(
            ErrorKind::LoginFailed,
            "535 5.7.8 Wrong name or password\r\n",
        )
    }
}
