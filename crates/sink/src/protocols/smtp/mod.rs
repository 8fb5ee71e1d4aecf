//! The SMTP server: reads command lines and messages, answers, hands messages to the store.

mod auth;
mod chunk;
mod command;
mod data;
mod execute;
mod lmtp;
mod replies;
mod session;
mod text;

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use memchr::memchr;
use rustix::net::getpeername;

use crate::counters::tally::ErrorKind;
use crate::date::write_date;
use crate::error::SinkError;
use crate::maildrop::Maildrops;
use crate::options::{self, SinkOptions, SmtpOptions};
use crate::protocols::smtp::command::Verb;
use crate::protocols::smtp::replies::{Answer, Name};
use crate::protocols::smtp::session::{Phase, Session};
use crate::protocols::{Flow, Protocol, Reply, Turn};
use crate::store::{Message, Outcome};

/// Longest command line taken, with its line end: RFC 5321 asks for 512 and what extensions add.
pub(crate) const MAX_LINE_BYTES: usize = 1024;

/// Where messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// Counted only.
    Nowhere,
    /// To the store threads.
    Disk,
    /// Into maildrops.
    Memory,
}

/// The SMTP server of one event loop.
#[derive(Debug)]
pub(crate) struct Smtp {
    options: SmtpOptions,
    host: String,
    /// One reply for each recipient, LHLO instead of EHLO.
    lmtp: bool,
    starttls: bool,
    target: Target,
    drops: Arc<Maildrops>,
    date: String,
    date_unix_s: i64,
}

impl Smtp {
    pub fn new(
        all: &SinkOptions,
        host: String,
        target: Target,
        drops: Arc<Maildrops>,
    ) -> Result<Self, SinkError> {
        let options = &all.smtp;
        let good = |byte: u8| byte.is_ascii_graphic();
        if host.is_empty() || host.len() > 255 || !host.bytes().all(good) {
            return Err(SinkError::BadOption {
                option: "hostname",
                problem: format!("{host:?} is no host name: letters, digits, dots and hyphens"),
            });
        }
        if options.max_recipients == 0 {
            return Err(SinkError::BadOption {
                option: "max_recipients",
                problem: "must be at least 1".to_owned(),
            });
        }
        Ok(Self {
            options: options.clone(),
            host,
            lmtp: all.protocol == options::Protocol::Lmtp,
            starttls: all.tls.as_ref().is_some_and(|tls| !tls.implicit),
            target,
            drops,
            date: String::new(),
            date_unix_s: -1,
        })
    }

    /// The name to use: as configured, or the machine's own.
    pub fn hostname(options: &SmtpOptions) -> String {
        options.hostname.clone().unwrap_or_else(|| {
            let name = rustix::system::uname();
            name.nodename().to_string_lossy().into_owned()
        })
    }

    /// Messages are kept, not only counted.
    fn keeps(&self) -> bool {
        self.target != Target::Nowhere
    }

    fn write(&self, answer: &Answer, out: &mut Vec<u8>) {
        let name = Name {
            host: &self.host,
            protocol: if self.lmtp { "LMTP" } else { "ESMTP" },
        };
        answer.write(name, &self.options, out);
    }

    fn line(&mut self, session: &mut Session, line: &[u8], turn: &mut Turn) -> Flow {
        turn.tally.commands += 1;
        let text = std::str::from_utf8(line).unwrap_or_default();
        if let Phase::Auth(step) = session.phase {
            return self.carry_out(session, Verb::Auth, turn, |this, session| {
                this.respond(session, step, text)
            });
        }
        let (word, arguments) = text.split_once(' ').unwrap_or((text, ""));
        let arguments = arguments.trim_ascii();
        let printable = !text.is_empty() && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let verb = if printable {
            Verb::read(word)
        } else {
            Verb::Other
        };
        if verb == Verb::Bdat && self.options.chunking {
            return self.bdat(session, arguments, turn);
        }
        self.carry_out(session, verb, turn, |this, session| {
            this.execute(session, verb, word, arguments)
        })
    }

    /// Draws, does what is asked unless a fault refuses it, and answers.
    fn carry_out(
        &mut self,
        session: &mut Session,
        verb: Verb,
        turn: &mut Turn,
        act: impl FnOnce(&Self, &mut Session) -> Answer,
    ) -> Flow {
        let fault = turn.draw(verb as usize);
        if let Some(flow) = Turn::silence(fault) {
            return flow;
        }
        let from = turn.out.len();
        let answer = match Answer::refusing(verb, fault) {
            Some(refused) => {
                if matches!(session.phase, Phase::Auth(_)) {
                    session.phase = Phase::Command;
                }
                refused
            }
            None => act(self, session),
        };
        if let Some(kind) = answer.error {
            turn.tally.error(kind);
        }
        self.write(&answer, turn.out);
        let reply = Reply {
            verb: verb as usize,
            fault,
            from,
            verdict: None,
            close: answer.close,
        };
        if answer.start_tls {
            return turn.settle_then_tls(reply);
        }
        turn.settle(reply)
    }

    /// Answers what was carried out already.
    fn reply(
        &mut self,
        session: &mut Session,
        verb: Verb,
        answer: &Answer,
        turn: &mut Turn,
    ) -> Flow {
        self.carry_out(session, verb, turn, |_, _| *answer)
    }
}

impl Protocol for Smtp {
    const VERBS: &'static [&'static str] = Verb::NAMES;
    const GREETS: bool = true;
    const STARTS_TLS: bool = true;
    type Session = Session;

    fn open(&mut self, peer: BorrowedFd<'_>) -> Session {
        let address = self
            .keeps()
            .then(|| SocketAddr::try_from(getpeername(peer).ok()??).ok())
            .flatten();
        Session::new(address.map(|address| address.ip()))
    }

    fn greet(&mut self, _session: &mut Session, turn: &mut Turn<'_>) -> Flow {
        let verb = Verb::Connect as usize;
        let fault = turn.draw(verb);
        if let Some(flow) = Turn::silence(fault) {
            return flow;
        }
        let from = turn.out.len();
        let answer = Answer::refusing(Verb::Connect, fault).unwrap_or(Answer::banner());
        self.write(&answer, turn.out);
        let close = answer.close;
        turn.settle(Reply {
            verb,
            fault,
            from,
            verdict: None,
            close,
        })
    }

    fn step(
        &mut self,
        session: &mut Session,
        input: &[u8],
        turn: &mut Turn<'_>,
    ) -> (usize, Option<Flow>) {
        match session.phase {
            Phase::Data => return self.text(session, input, turn),
            Phase::Chunk => return self.chunk(session, input, turn),
            _ => {}
        }
        match (session.phase, memchr(b'\n', input)) {
            (Phase::SkipLine, None) => (input.len(), None),
            (Phase::SkipLine, Some(end)) => {
                session.phase = Phase::Command;
                (end + 1, None)
            }
            (_, Some(end)) if end < MAX_LINE_BYTES => {
                let line = &input[..end];
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                (end + 1, Some(self.line(session, line, turn)))
            }
            (_, None) if input.len() < MAX_LINE_BYTES => (0, Some(Flow::Continue)),
            _ => {
                session.phase = Phase::SkipLine;
                turn.tally.error(ErrorKind::LineTooLong);
                turn.out
                    .extend_from_slice(replies::LINE_TOO_LONG.as_bytes());
                (0, None)
            }
        }
    }

    fn stored(
        &mut self,
        session: &mut Session,
        message: Box<Message>,
        outcome: Outcome,
        turn: &mut Turn<'_>,
    ) -> Flow {
        session.message = message;
        if matches!(session.phase, Phase::Data | Phase::Chunk) {
            if let Err(error) = outcome {
                session.message.clear();
                session.failure = Some(error);
            }
            return Flow::Continue;
        }
        let answer = text::kept(outcome, turn);
        self.conclude(session, &answer, turn)
    }

    fn unfinished(&self, session: &Session) -> bool {
        matches!(session.phase, Phase::Data | Phase::Chunk)
    }

    fn farewell(&self, _session: &Session, out: &mut Vec<u8>) {
        replies::farewell(&self.host, out);
    }

    fn secured(&mut self, session: &mut Session) {
        session.reset();
        session.helo.clear();
        session.authenticated = false;
        session.secure = true;
    }

    fn too_idle(&self, out: &mut Vec<u8>) {
        replies::too_idle(&self.host, out);
    }

    fn tick(&mut self, unix_s: i64) {
        if self.keeps() && self.date_unix_s != unix_s {
            self.date_unix_s = unix_s;
            write_date(&mut self.date, unix_s);
        }
    }
}
