//! The SMTP server: reads command lines and messages, answers, hands messages to the store.

mod command;
mod data;
mod obey;
mod replies;
mod session;
mod text;

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

use memchr::memchr;
use rustix::net::getpeername;

use crate::date::write_date;
use crate::error::SinkError;
use crate::options::SmtpOptions;
use crate::protocol::{Flow, Protocol, Reply, Turn};
use crate::smtp::command::Verb;
use crate::smtp::replies::Answer;
use crate::smtp::session::{Phase, Session};
use crate::store::{MEMORY_BYTES, Message, Outcome};
use crate::tally::ErrorKind;

/// Longest command line taken, with its line end: RFC 5321 asks for 512 and what extensions add.
pub(crate) const MAX_LINE_BYTES: usize = 1024;

/// The SMTP server of one event loop.
#[derive(Debug)]
pub(crate) struct Smtp {
    options: SmtpOptions,
    host: String,
    /// Messages are kept, not only counted.
    stores: bool,
    date: String,
    date_unix_s: i64,
}

impl Smtp {
    pub fn new(options: &SmtpOptions, host: String, stores: bool) -> Result<Self, SinkError> {
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
            stores,
            date: String::new(),
            date_unix_s: -1,
        })
    }

    /// The name to use: as told, or the machine's own.
    pub fn hostname(options: &SmtpOptions) -> String {
        options.hostname.clone().unwrap_or_else(|| {
            let name = rustix::system::uname();
            name.nodename().to_string_lossy().into_owned()
        })
    }

    fn line(&mut self, session: &mut Session, line: &[u8], turn: &mut Turn) -> Flow {
        turn.tally.commands += 1;
        let text = std::str::from_utf8(line).unwrap_or_default();
        let (word, arguments) = text.split_once(' ').unwrap_or((text, ""));
        let printable = !text.is_empty() && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let verb = if printable {
            Verb::read(word)
        } else {
            Verb::Other
        };
        let fault = turn.draw(verb as usize);
        if let Some(flow) = Turn::silence(fault) {
            return flow;
        }
        let from = turn.out.len();
        let answer = match Answer::refusing(verb, fault) {
            Some(refused) => refused,
            None => self.obey(session, verb, word, arguments.trim_ascii()),
        };
        if let Some(kind) = answer.error {
            turn.tally.error(kind);
        }
        answer.write(&self.host, &self.options, turn.out);
        turn.settle(Reply {
            verb: verb as usize,
            fault,
            from,
            verdict: None,
            close: answer.close,
        })
    }

    /// One step at the front of `input`: bytes used, and how to leave if not to go on.
    fn step(
        &mut self,
        session: &mut Session,
        input: &[u8],
        turn: &mut Turn,
    ) -> (usize, Option<Flow>) {
        if session.phase == Phase::Data {
            return self.text(session, input, turn);
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
}

impl Protocol for Smtp {
    const VERBS: &'static [&'static str] = Verb::NAMES;
    const GREETS: bool = true;
    type Session = Session;

    fn open(&mut self, peer: BorrowedFd<'_>) -> Session {
        let address = self
            .stores
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
        answer.write(&self.host, &self.options, turn.out);
        let close = answer.close;
        turn.settle(Reply {
            verb,
            fault,
            from,
            verdict: None,
            close,
        })
    }

    fn consume(
        &mut self,
        session: &mut Session,
        input: &[u8],
        turn: &mut Turn<'_>,
    ) -> (usize, Flow) {
        let mut at = 0;
        while at < input.len() {
            let (used, flow) = self.step(session, &input[at..], turn);
            at += used;
            match flow {
                None => {}
                Some(Flow::Continue) if used > 0 => {}
                Some(flow) => return (at, flow),
            }
            if turn.out.len() >= MEMORY_BYTES {
                return (at, Flow::Flush);
            }
        }
        (at, Flow::Continue)
    }

    fn stored(
        &mut self,
        session: &mut Session,
        message: Box<Message>,
        outcome: Outcome,
        turn: &mut Turn<'_>,
    ) -> Flow {
        session.message = message;
        if session.phase == Phase::Data {
            if let Err(error) = outcome {
                session.message.clear();
                session.failure = Some(error);
            }
            return Flow::Continue;
        }
        let answer = match outcome {
            Ok(stored) => {
                turn.tally.stored_files += stored.files;
                turn.tally.stored_bytes += stored.bytes;
                Answer::accepted()
            }
            Err(error) => Answer::not_stored(error),
        };
        self.conclude(session, &answer, turn)
    }

    fn unfinished(&self, session: &Session) -> bool {
        session.phase == Phase::Data
    }

    fn farewell(&self, out: &mut Vec<u8>) {
        replies::farewell(&self.host, out);
    }

    fn tick(&mut self, unix_s: i64) {
        if self.stores && self.date_unix_s != unix_s {
            self.date_unix_s = unix_s;
            write_date(&mut self.date, unix_s);
        }
    }
}
