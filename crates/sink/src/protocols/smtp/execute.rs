//! What each command does to the session, and its answer.

use std::fmt::Write;

use crate::counters::tally::ErrorKind;
use crate::protocols::smtp::Smtp;
use crate::protocols::smtp::command::{self, Verb};
use crate::protocols::smtp::replies::Answer;
use crate::protocols::smtp::session::{Due, Phase, Session};

impl Smtp {
    /// Carries out one command.
    pub(super) fn execute(
        &self,
        session: &mut Session,
        verb: Verb,
        word: &str,
        arguments: &str,
    ) -> Answer {
        let bare = arguments.is_empty();
        match verb {
            Verb::Helo | Verb::Ehlo if !self.lmtp => self.greet_back(session, verb, arguments),
            Verb::Lhlo if self.lmtp => self.greet_back(session, verb, arguments),
            Verb::StartTls if bare => self.start_tls(session),
            Verb::Auth => self.auth(session, arguments),
            Verb::Mail => self.mail(session, arguments),
            Verb::Rcpt => self.rcpt(session, arguments),
            Verb::Data if bare => self.data(session),
            Verb::Rset if bare => {
                session.reset();
                Answer::fixed("250 2.0.0 Ok\r\n")
            }
            Verb::Help => Answer::fixed("214 2.0.0 See RFC 5321; mail goes nowhere from here\r\n"),
            Verb::Data | Verb::Rset | Verb::StartTls => {
                Answer::wrong(ErrorKind::BadArgument, command::SYNTAX)
            }
            Verb::Noop => Answer::fixed("250 2.0.0 Ok\r\n"),
            Verb::Vrfy if bare => Answer::wrong(ErrorKind::BadArgument, command::SYNTAX),
            Verb::Vrfy => Answer::fixed("252 2.5.2 Will take mail and try\r\n"),
            Verb::Quit => Answer::fixed("221 2.0.0 Bye\r\n").closing(),
            Verb::Helo
            | Verb::Ehlo
            | Verb::Lhlo
            | Verb::Bdat
            | Verb::Other
            | Verb::Connect
            | Verb::Eom => unknown(word),
        }
    }

    fn greet_back(&self, session: &mut Session, verb: Verb, name: &str) -> Answer {
        if name.is_empty() {
            return Answer::wrong(ErrorKind::BadArgument, command::SYNTAX);
        }
        session.reset();
        session.helo.clear();
        session.helo.push_str(name);
        session.extended = verb != Verb::Helo;
        if session.extended {
            return Answer::ehlo(self.starttls && !session.secure);
        }
        Answer::helo()
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
            Ok(_) if session.due.len() >= self.options.max_recipients as usize => too_many(),
            Ok(local) if recipients.iter().any(|known| known == local) => {
                let known = recipients.iter().position(|known| known == local);
                self.owe(session, known.unwrap_or_default());
                Answer::fixed("250 2.1.5 Ok\r\n")
            }
            Ok(_) if recipients.len() >= self.options.max_recipients as usize => too_many(),
            Ok(local) => {
                recipients.push(local.to_owned());
                let place = recipients.len() - 1;
                self.owe(session, place);
                Answer::fixed("250 2.1.5 Ok\r\n")
            }
        }
    }

    /// LMTP answers for each recipient.
    fn owe(&self, session: &mut Session, recipient: usize) {
        if self.lmtp {
            session.due.push(Due {
                recipient,
                fault: None,
            });
        }
    }

    fn start_tls(&self, session: &Session) -> Answer {
        if !self.starttls {
            return unknown("STARTTLS");
        }
        if session.secure {
            return sequence("503 5.5.1 TLS is active already\r\n");
        }
        Answer::starting_tls()
    }

    fn data(&self, session: &mut Session) -> Answer {
        if !session.open {
            return sequence("503 5.5.1 Send MAIL first\r\n");
        }
        if session.chunked {
            return sequence("503 5.5.1 The message came with BDAT: end it with LAST\r\n");
        }
        if session.message.recipients.is_empty() {
            return sequence("554 5.5.1 No valid recipients\r\n");
        }
        session.phase = Phase::Data;
        if self.keeps() {
            self.write_trace(session);
        }
        Answer::fixed("354 End data with <CR><LF>.<CR><LF>\r\n")
    }

    /// Puts in front what a delivering server adds (RFC 5321, 4.4).
    pub(super) fn write_trace(&self, session: &mut Session) {
        let mut trace = String::with_capacity(256);
        let protocol = match (self.lmtp, session.extended, session.secure) {
            (true, _, false) => "LMTP",
            (true, _, true) => "LMTPS",
            (_, false, _) => "SMTP",
            (_, true, false) => "ESMTP",
            (_, true, true) => "ESMTPS",
        };
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

fn too_many() -> Answer {
    Answer::wrong(
        ErrorKind::TooManyRecipients,
        "452 4.5.3 Too many recipients\r\n",
    )
}

fn sequence(reply: &'static str) -> Answer {
    Answer::wrong(ErrorKind::BadSequence, reply)
}

fn unknown(word: &str) -> Answer {
    const KNOWN: [&str; 6] = ["EXPN", "ETRN", "STARTTLS", "HELO", "EHLO", "LHLO"];
    let known = KNOWN.iter().any(|name| name.eq_ignore_ascii_case(word));
    let reply = if known {
        "502 5.5.1 Command not implemented\r\n"
    } else {
        "500 5.5.2 Command not recognised\r\n"
    };
    Answer::wrong(ErrorKind::UnknownCommand, reply)
}
