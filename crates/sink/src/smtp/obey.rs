//! What each command does to the session, and its answer.

use std::fmt::Write;

use crate::smtp::Smtp;
use crate::smtp::command::{self, Verb};
use crate::smtp::replies::Answer;
use crate::smtp::session::{Phase, Session};
use crate::tally::ErrorKind;

impl Smtp {
    /// Carries out one command.
    pub(super) fn obey(
        &self,
        session: &mut Session,
        verb: Verb,
        word: &str,
        arguments: &str,
    ) -> Answer {
        let bare = arguments.is_empty();
        match verb {
            Verb::Helo | Verb::Ehlo => greet(session, verb, arguments),
            Verb::Mail => self.mail(session, arguments),
            Verb::Rcpt => self.rcpt(session, arguments),
            Verb::Data if bare => self.data(session),
            Verb::Rset if bare => {
                session.reset();
                Answer::fixed("250 2.0.0 Ok\r\n")
            }
            Verb::Data | Verb::Rset => Answer::wrong(ErrorKind::BadArgument, command::SYNTAX),
            Verb::Noop => Answer::fixed("250 2.0.0 Ok\r\n"),
            Verb::Vrfy if bare => Answer::wrong(ErrorKind::BadArgument, command::SYNTAX),
            Verb::Vrfy => Answer::fixed("252 2.5.2 Will take mail and try\r\n"),
            Verb::Quit => Answer::fixed("221 2.0.0 Bye\r\n").closing(),
            Verb::Other | Verb::Connect | Verb::Eom => unknown(word),
        }
    }

    fn mail(&self, session: &mut Session, arguments: &str) -> Answer {
        if session.helo.is_empty() {
            return sequence("503 5.5.1 Send EHLO or HELO first\r\n");
        }
        if session.open {
            return sequence("503 5.5.1 A message is open already: RSET first\r\n");
        }
        match command::sender(arguments, session.extended) {
            Err(refusal) => Answer::wrong(ErrorKind::BadArgument, refusal),
            Ok(sender) if sender.size > Some(self.options.max_message_bytes) => Answer::too_large(),
            Ok(sender) => {
                session.open = true;
                session.sender.push_str(sender.path);
                Answer::fixed("250 2.1.0 Ok\r\n")
            }
        }
    }

    fn rcpt(&self, session: &mut Session, arguments: &str) -> Answer {
        if !session.open {
            return sequence("503 5.5.1 Send MAIL first\r\n");
        }
        let recipients = &mut session.message.recipients;
        match command::recipient(arguments) {
            Err(refusal) => Answer::wrong(ErrorKind::BadRecipient, refusal),
            Ok(local) if recipients.iter().any(|known| known == local) => {
                Answer::fixed("250 2.1.5 Ok\r\n")
            }
            Ok(_) if recipients.len() >= self.options.max_recipients as usize => Answer::wrong(
                ErrorKind::TooManyRecipients,
                "452 4.5.3 Too many recipients\r\n",
            ),
            Ok(local) => {
                recipients.push(local.to_owned());
                Answer::fixed("250 2.1.5 Ok\r\n")
            }
        }
    }

    fn data(&self, session: &mut Session) -> Answer {
        if !session.open {
            return sequence("503 5.5.1 Send MAIL first\r\n");
        }
        if session.message.recipients.is_empty() {
            return sequence("554 5.5.1 No valid recipients\r\n");
        }
        session.phase = Phase::Data;
        if self.stores {
            self.write_trace(session);
        }
        Answer::fixed("354 End data with <CR><LF>.<CR><LF>\r\n")
    }

    /// Puts in front what a delivering server adds (RFC 5321, 4.4).
    fn write_trace(&self, session: &mut Session) {
        let mut trace = String::with_capacity(256);
        let protocol = if session.extended { "ESMTP" } else { "SMTP" };
        // Writing into a String cannot fail.
        let _ = write!(
            trace,
            "Return-Path: <{}>\r\nReceived: from {}",
            session.sender, session.helo
        );
        if let Some(peer) = session.peer {
            let _ = write!(trace, " ([{peer}])");
        }
        let _ = write!(
            trace,
            "\r\n\tby {} (Steelyard sink) with {protocol};\r\n\t{} +0000\r\n",
            self.host, self.date
        );
        session.message.body.extend_from_slice(trace.as_bytes());
    }
}

fn greet(session: &mut Session, verb: Verb, name: &str) -> Answer {
    if name.is_empty() {
        return Answer::wrong(ErrorKind::BadArgument, command::SYNTAX);
    }
    session.reset();
    session.helo.clear();
    session.helo.push_str(name);
    session.extended = verb == Verb::Ehlo;
    Answer::greeting(session.extended)
}

fn sequence(reply: &'static str) -> Answer {
    Answer::wrong(ErrorKind::BadSequence, reply)
}

fn unknown(word: &str) -> Answer {
    const KNOWN: [&str; 6] = ["EXPN", "HELP", "ETRN", "AUTH", "STARTTLS", "BDAT"];
    let known = KNOWN.iter().any(|name| name.eq_ignore_ascii_case(word));
    let reply = if known {
        "502 5.5.1 Command not implemented\r\n"
    } else {
        "500 5.5.2 Command not recognised\r\n"
    };
    Answer::wrong(ErrorKind::UnknownCommand, reply)
}
