//! What each command of IMAP does, and its reply.

use std::sync::Arc;

use crate::counters::tally::ErrorKind;
use crate::protocols::dialogue::Done;
use crate::protocols::imap::command::{ImapCommand, say};
use crate::protocols::imap::session::{Phase, Session};
use crate::protocols::imap::{Imap, Verb, fetch, mailbox, search};
use crate::protocols::sasl;

impl Imap {
    pub(super) fn write_capabilities(&self, secure: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(b"IMAP4rev1 LITERAL+ SASL-IR IDLE AUTH=PLAIN");
        if self.starttls && !secure {
            out.extend_from_slice(b" STARTTLS");
        }
    }

    pub(super) fn execute(
        &self,
        session: &mut Session,
        order: &ImapCommand,
        token: u64,
        out: &mut Vec<u8>,
    ) -> Done {
        match order.verb {
            Verb::Capability => {
                out.extend_from_slice(b"* CAPABILITY ");
                self.write_capabilities(session.secure, out);
                out.extend_from_slice(b"\r\n");
                order.good("OK CAPABILITY done", out)
            }
            Verb::Noop => {
                mailbox::tell_changes(session, true, out);
                order.good("OK NOOP done", out)
            }
            Verb::Logout => {
                out.extend_from_slice(b"* BYE Logging out\r\n");
                order.good("OK LOGOUT done", out);
                Done::Bye
            }
            Verb::Other | Verb::Connect | Verb::Done => {
                order.refuse(ErrorKind::UnknownCommand, "BAD Unknown command", out)
            }
            Verb::StartTls | Verb::Login | Verb::Authenticate => {
                if session.drop.is_some() {
                    let words = "BAD Logged in already";
                    return order.refuse(ErrorKind::BadSequence, words, out);
                }
                self.log_in(session, order, out)
            }
            _ if session.drop.is_none() => {
                order.refuse(ErrorKind::BadSequence, "BAD Log in first", out)
            }
            Verb::Select | Verb::Examine => mailbox::select(session, order, out),
            Verb::List | Verb::Lsub => mailbox::list(order, out),
            Verb::Status => mailbox::status(session, order, out),
            Verb::Append => self.append(session, order, out),
            Verb::Idle => self.idle(session, order, token, out),
            _ if session.selected.is_none() => {
                order.refuse(ErrorKind::BadSequence, "BAD Select a mailbox first", out)
            }
            Verb::Check => {
                mailbox::tell_changes(session, true, out);
                order.good("OK CHECK done", out)
            }
            Verb::Close => mailbox::close(session, order, out),
            Verb::Expunge => mailbox::expunge(session, order, out),
            Verb::Search => search::search(session, order, out),
            Verb::Fetch => fetch::fetch(session, order, out),
            Verb::Store => fetch::store(session, order, out),
        }
    }

    fn log_in(&self, session: &mut Session, order: &ImapCommand, out: &mut Vec<u8>) -> Done {
        let mut words = order.words;
        match order.verb {
            Verb::StartTls if !self.starttls => {
                order.refuse(ErrorKind::UnknownCommand, "BAD No TLS here", out)
            }
            Verb::StartTls if session.secure => {
                order.refuse(ErrorKind::BadSequence, "BAD TLS is active already", out)
            }
            Verb::StartTls => {
                order.good("OK Begin TLS", out);
                Done::StartTls
            }
            Verb::Login => {
                let name = words.text();
                let password = words.space().and_then(|()| words.text());
                match (name, password) {
                    (Some(name), Some(password)) if words.is_empty() => {
                        self.admit(session, order.tag, &name, &password, out)
                    }
                    _ => order.malformed(out),
                }
            }
            _ => {
                let mechanism = words.word().unwrap_or_default();
                if !mechanism.eq_ignore_ascii_case("PLAIN") {
                    return order.refuse(ErrorKind::BadArgument, "NO PLAIN is known", out);
                }
                if words.space().is_some() {
                    return self.respond(session, order.tag, words.0, out);
                }
                let tag = String::from_utf8_lossy(order.tag).into_owned();
                session.phase = Phase::Auth(tag);
                out.extend_from_slice(b"+ \r\n");
                Done::Good
            }
        }
    }

    /// The response to AUTHENTICATE PLAIN.
    pub(super) fn respond(
        &self,
        session: &mut Session,
        tag: &[u8],
        response: &[u8],
        out: &mut Vec<u8>,
    ) -> Done {
        let text = std::str::from_utf8(response).unwrap_or_default();
        if let Some((name, password)) = sasl::plain(text) {
            return self.admit(session, tag, &name, &password, out);
        }
        say(tag, "BAD Malformed response", out);
        Done::Refused(ErrorKind::BadArgument)
    }

    fn admit(
        &self,
        session: &mut Session,
        tag: &[u8],
        name: &str,
        password: &str,
        out: &mut Vec<u8>,
    ) -> Done {
        if !self.drops.admits(name, password) {
            say(tag, "NO [AUTHENTICATIONFAILED] Wrong name or password", out);
            return Done::Refused(ErrorKind::LoginFailed);
        }
        let Ok(drop) = self.drops.of(name) else {
            say(tag, "NO [LIMIT] No room for another mailbox", out);
            return Done::Refused(ErrorKind::MailboxFull);
        };
        session.drop = Some(drop);
        out.extend_from_slice(tag);
        out.extend_from_slice(b" OK [CAPABILITY ");
        self.write_capabilities(session.secure, out);
        out.extend_from_slice(b"] Logged in\r\n");
        Done::Good
    }

    fn idle(
        &self,
        session: &mut Session,
        order: &ImapCommand,
        token: u64,
        out: &mut Vec<u8>,
    ) -> Done {
        let Some(drop) = &session.drop else {
            return order.malformed(out);
        };
        let watch = drop.watch(&self.inbox, token);
        let tag = String::from_utf8_lossy(order.tag).into_owned();
        session.phase = Phase::Idle(tag, watch);
        out.extend_from_slice(b"+ Waiting\r\n");
        // What came since the last command, before anybody was watching.
        mailbox::tell_changes(session, true, out);
        Done::Good
    }

    fn append(&self, session: &mut Session, order: &ImapCommand, out: &mut Vec<u8>) -> Done {
        let mut words = order.words;
        let Some(name) = words.text().filter(|_| words.space().is_some()) else {
            return order.malformed(out);
        };
        let Some(append) = mailbox::Append::read(&mut words) else {
            return order.malformed(out);
        };
        let drop = session.drop.as_ref().filter(|_| mailbox::is_inbox(&name));
        let Some(drop) = drop.map(Arc::clone) else {
            let words = "NO [TRYCREATE] There is INBOX only";
            return order.refuse(ErrorKind::BadArgument, words, out);
        };
        let Ok(content) = self.drops.content(append.text.to_vec()) else {
            let words = "NO [OVERQUOTA] No room for another message";
            return order.refuse(ErrorKind::MailboxFull, words, out);
        };
        drop.lock().append(content, append.flags, self.unix_s);
        mailbox::tell_changes(session, true, out);
        order.good("OK APPEND done", out)
    }
}

/// The line that ends IDLE.
pub(super) fn end_idle(session: &mut Session, tag: &[u8], line: &[u8], out: &mut Vec<u8>) -> Done {
    if !line.eq_ignore_ascii_case(b"DONE") {
        say(tag, "BAD Only DONE ends IDLE", out);
        return Done::Refused(ErrorKind::BadSequence);
    }
    mailbox::tell_changes(session, true, out);
    say(tag, "OK IDLE done", out);
    Done::Good
}
