//! What each command of POP3 does, and its reply.

use std::io::Write;

use crate::counters::tally::ErrorKind;
use crate::protocols::dialogue::Done;
use crate::protocols::pop3::session::{Open, Phase, Session};
use crate::protocols::pop3::{Pop3, Verb, text};
use crate::protocols::sasl;

/// Writes a reply of one line.
fn say(out: &mut Vec<u8>, line: &str) {
    out.extend_from_slice(line.as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn good(out: &mut Vec<u8>, words: &str) -> Done {
    say(out, words);
    Done::Good
}

fn wrong(out: &mut Vec<u8>, kind: ErrorKind, words: &str) -> Done {
    say(out, words);
    Done::Refused(kind)
}

impl Pop3 {
    pub(super) fn execute(
        &self,
        session: &mut Session,
        verb: Verb,
        arguments: &str,
        out: &mut Vec<u8>,
    ) -> Done {
        match verb {
            Verb::Quit => quit(session, out),
            Verb::Capa => self.capabilities(session, out),
            Verb::Other | Verb::Connect => {
                wrong(out, ErrorKind::UnknownCommand, "-ERR Unknown command")
            }
            Verb::User | Verb::Pass | Verb::Auth | Verb::Stls => {
                if session.open.is_some() {
                    return wrong(out, ErrorKind::BadSequence, "-ERR Logged in already");
                }
                self.log_in(session, verb, arguments, out)
            }
            _ => match &mut session.open {
                Some(open) => serve(open, verb, arguments, out),
                None => wrong(out, ErrorKind::BadSequence, "-ERR Log in first"),
            },
        }
    }

    fn log_in(
        &self,
        session: &mut Session,
        verb: Verb,
        arguments: &str,
        out: &mut Vec<u8>,
    ) -> Done {
        match verb {
            Verb::User if arguments.is_empty() => malformed(out),
            Verb::User => {
                arguments.clone_into(&mut session.user);
                good(out, "+OK Password?")
            }
            Verb::Pass if session.user.is_empty() => {
                wrong(out, ErrorKind::BadSequence, "-ERR USER first")
            }
            Verb::Pass => {
                let name = std::mem::take(&mut session.user);
                self.admit(session, &name, arguments, out)
            }
            Verb::Stls if !self.starttls => {
                wrong(out, ErrorKind::UnknownCommand, "-ERR No TLS here")
            }
            Verb::Stls if session.secure => {
                wrong(out, ErrorKind::BadSequence, "-ERR TLS is active already")
            }
            Verb::Stls => {
                say(out, "+OK Ready for TLS");
                Done::StartTls
            }
            _ => self.authenticate(session, arguments, out),
        }
    }

    /// AUTH: the mechanisms, a login at once, or one in two steps.
    fn authenticate(&self, session: &mut Session, arguments: &str, out: &mut Vec<u8>) -> Done {
        let (mechanism, first) = arguments.split_once(' ').unwrap_or((arguments, ""));
        if mechanism.is_empty() {
            return good(out, "+OK\r\nPLAIN\r\n.");
        }
        if !mechanism.eq_ignore_ascii_case("PLAIN") {
            return wrong(out, ErrorKind::BadArgument, "-ERR PLAIN is known");
        }
        if first.is_empty() {
            session.phase = Phase::Auth;
            return good(out, "+ ");
        }
        self.respond(session, first, out)
    }

    /// A line that answers what AUTH asked.
    pub(super) fn respond(&self, session: &mut Session, line: &str, out: &mut Vec<u8>) -> Done {
        match sasl::plain(line) {
            Some((name, password)) => self.admit(session, &name, &password, out),
            None => malformed(out),
        }
    }

    fn admit(&self, session: &mut Session, name: &str, password: &str, out: &mut Vec<u8>) -> Done {
        if !self.drops.admits(name, password) {
            let words = "-ERR [AUTH] Wrong name or password";
            return wrong(out, ErrorKind::LoginFailed, words);
        }
        let Ok(drop) = self.drops.of(name) else {
            let words = "-ERR [SYS/TEMP] No room for another maildrop";
            return wrong(out, ErrorKind::MailboxFull, words);
        };
        let Some(lease) = drop.lease() else {
            let words = "-ERR [IN-USE] Another session has this maildrop";
            return wrong(out, ErrorKind::MailboxBusy, words);
        };
        session.open = Some(Box::new(Open::new(lease)));
        good(out, "+OK Logged in")
    }

    fn capabilities(&self, session: &Session, out: &mut Vec<u8>) -> Done {
        let stls = self.starttls && !session.secure && session.open.is_none();
        say(
            out,
            "+OK\r\nTOP\r\nUIDL\r\nUSER\r\nSASL PLAIN\r\nPIPELINING\r\nRESP-CODES",
        );
        if stls {
            say(out, "STLS");
        }
        good(out, "IMPLEMENTATION Steelyard sink\r\n.")
    }
}

fn malformed(out: &mut Vec<u8>) -> Done {
    wrong(out, ErrorKind::BadArgument, "-ERR Malformed argument")
}

fn no_such(out: &mut Vec<u8>) -> Done {
    wrong(out, ErrorKind::NoSuchMessage, "-ERR No such message")
}

fn quit(session: &mut Session, out: &mut Vec<u8>) -> Done {
    if let Some(open) = session.open.take() {
        open.update();
    }
    say(out, "+OK Bye");
    Done::Bye
}

/// A command of somebody who is logged in. Writing to a Vec cannot fail.
fn serve(open: &mut Open, verb: Verb, arguments: &str, out: &mut Vec<u8>) -> Done {
    let mut words = arguments.split_ascii_whitespace();
    let number = words.next();
    match (verb, number) {
        (Verb::Noop, _) => return good(out, "+OK"),
        (Verb::Rset, _) => {
            open.deleted.fill(false);
            return good(out, "+OK");
        }
        (Verb::Stat, _) => {
            let (count, bytes) = sums(open);
            let _ = write!(out, "+OK {count} {bytes}\r\n");
            return Done::Good;
        }
        (Verb::List | Verb::Uidl, None) => return list(open, verb, out),
        (_, None) => return malformed(out),
        _ => {}
    }
    let Some(place) = open.place(number.unwrap_or_default()) else {
        return no_such(out);
    };
    let mail = &open.mails[place];
    let content = &mail.content;
    match verb {
        Verb::List => {
            let _ = write!(out, "+OK {} {}\r\n", place + 1, content.text().len());
        }
        Verb::Uidl => {
            let _ = write!(out, "+OK {} {}\r\n", place + 1, mail.uid);
        }
        Verb::Retr => {
            let _ = write!(out, "+OK {} octets\r\n", content.text().len());
            text::write(content.text(), out);
        }
        Verb::Top => {
            let Some(count) = words.next().and_then(|word| word.parse().ok()) else {
                return malformed(out);
            };
            let body = text::lines(content.body(), count);
            let shown = &content.text()[..content.head().len() + body.len()];
            say(out, "+OK");
            text::write(shown, out);
        }
        _ => {
            open.deleted[place] = true;
            say(out, "+OK Marked");
        }
    }
    Done::Good
}

fn list(open: &Open, verb: Verb, out: &mut Vec<u8>) -> Done {
    let (count, bytes) = sums(open);
    let _ = write!(out, "+OK {count} messages ({bytes} octets)\r\n");
    for (number, mail) in open.left() {
        let _ = if verb == Verb::Uidl {
            write!(out, "{number} {}\r\n", mail.uid)
        } else {
            write!(out, "{number} {}\r\n", mail.content.text().len())
        };
    }
    good(out, ".")
}

fn sums(open: &Open) -> (usize, usize) {
    open.left().fold((0, 0), |(count, bytes), (_, mail)| {
        (count + 1, bytes + mail.content.text().len())
    })
}
