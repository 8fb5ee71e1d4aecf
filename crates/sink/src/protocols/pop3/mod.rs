//! The POP3 server (RFC 1939, 2449, 2595, 5034): a user's maildrop, message by message.

mod execute;
mod session;
mod text;

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use crate::counters::tally::ErrorKind;
use crate::maildrop::Maildrops;
use crate::options::SinkOptions;
use crate::options::fault::FaultKind;
use crate::protocols::dialogue::{Command, Done, Line, first_line, skip_line};
use crate::protocols::pop3::session::{Phase, Session};
use crate::protocols::{Flow, Protocol, Reply, Turn};

/// Longest line taken: RFC 2449 asks for 255, a SASL response may be longer (RFC 5034, 4).
const MAX_LINE_BYTES: usize = 12_288;

/// Verbs in the order of the protocol's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Connect,
    User,
    Pass,
    Auth,
    Capa,
    Stls,
    Stat,
    List,
    Uidl,
    Retr,
    Dele,
    Rset,
    Top,
    Noop,
    Quit,
    Other,
}

const NAMES: &[&str] = &[
    "CONNECT", "USER", "PASS", "AUTH", "CAPA", "STLS", "STAT", "LIST", "UIDL", "RETR", "DELE",
    "RSET", "TOP", "NOOP", "QUIT", "OTHER",
];

impl Verb {
    /// `CONNECT` is no word of the protocol.
    fn read(word: &str) -> Self {
        const WORDS: [Verb; 14] = [
            Verb::User,
            Verb::Pass,
            Verb::Auth,
            Verb::Capa,
            Verb::Stls,
            Verb::Stat,
            Verb::List,
            Verb::Uidl,
            Verb::Retr,
            Verb::Dele,
            Verb::Rset,
            Verb::Top,
            Verb::Noop,
            Verb::Quit,
        ];
        WORDS
            .into_iter()
            .find(|verb| NAMES[*verb as usize].eq_ignore_ascii_case(word))
            .unwrap_or(Self::Other)
    }
}

/// The POP3 server of one event loop.
#[derive(Debug)]
pub(crate) struct Pop3 {
    drops: Arc<Maildrops>,
    starttls: bool,
}

impl Pop3 {
    pub fn new(options: &SinkOptions, drops: Arc<Maildrops>) -> Self {
        Self {
            drops,
            starttls: options.tls.as_ref().is_some_and(|tls| !tls.implicit),
        }
    }

    fn line(&self, session: &mut Session, line: &[u8], turn: &mut Turn) -> Flow {
        let text = std::str::from_utf8(line).unwrap_or_default();
        let (word, arguments) = text.split_once(' ').unwrap_or((text, ""));
        let asked = std::mem::replace(&mut session.phase, Phase::Command);
        let verb = if asked == Phase::Auth {
            Verb::Auth
        } else {
            Verb::read(word)
        };
        let command = match Command::begin(verb as usize, turn) {
            Ok(command) => command,
            Err(flow) => return flow,
        };
        let done = if command.is_refused() {
            turn.out.extend_from_slice(refusal(command.fault));
            Done::Struck
        } else if asked == Phase::Auth {
            self.respond(session, text, turn.out)
        } else {
            self.execute(session, verb, arguments, turn.out)
        };
        command.end(done, turn)
    }
}

fn refusal(fault: Option<FaultKind>) -> &'static [u8] {
    match fault {
        Some(FaultKind::Tempfail) => b"-ERR [SYS/TEMP] Try again later\r\n",
        _ => b"-ERR [SYS/PERM] Rejected\r\n",
    }
}

impl Protocol for Pop3 {
    const VERBS: &'static [&'static str] = NAMES;
    const GREETS: bool = true;
    const STARTS_TLS: bool = true;
    const ALPN: &'static [&'static [u8]] = &[b"pop3"];
    type Session = Session;

    fn open(&mut self, _peer: BorrowedFd<'_>) -> Session {
        Session::default()
    }

    fn greet(&mut self, _session: &mut Session, turn: &mut Turn<'_>) -> Flow {
        let verb = Verb::Connect as usize;
        let fault = turn.draw(verb);
        if let Some(flow) = Turn::silence(fault) {
            return flow;
        }
        let from = turn.out.len();
        let close = matches!(fault, Some(FaultKind::Reject | FaultKind::Tempfail));
        turn.out.extend_from_slice(if close {
            refusal(fault)
        } else {
            b"+OK Steelyard sink\r\n"
        });
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
        if session.phase == Phase::SkipLine {
            let (used, ended) = skip_line(input);
            if ended {
                session.phase = Phase::Command;
            }
            return (used, None);
        }
        match first_line(input, MAX_LINE_BYTES) {
            Line::Partial => (0, Some(Flow::Continue)),
            Line::TooLong => {
                session.phase = Phase::SkipLine;
                turn.tally.error(ErrorKind::LineTooLong);
                turn.out.extend_from_slice(b"-ERR Line too long\r\n");
                (0, None)
            }
            Line::Whole(line, used) => (used, Some(self.line(session, line, turn))),
        }
    }

    fn secured(&mut self, session: &mut Session) {
        *session = Session::default();
        session.secure = true;
    }

    fn unfinished(&self, session: &Session) -> bool {
        session.phase == Phase::Auth
    }

    fn farewell(&self, _session: &Session, _out: &mut Vec<u8>) {
        // A server that ends says nothing of its own (RFC 1939, section 3).
    }

    fn tick(&mut self, _unix_s: i64) {}
}
