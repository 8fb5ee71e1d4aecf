//! The `IMAP4rev1` server (RFC 3501, 2177, 4959, 7888): one mailbox, INBOX, for each user.

mod command;
mod execute;
mod fetch;
mod mailbox;
mod parse;
mod search;
mod session;

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use crate::counters::tally::ErrorKind;
use crate::maildrop::Maildrops;
use crate::options::SinkOptions;
use crate::options::fault::FaultKind;
use crate::protocols::dialogue::{Command, Done, Line, first_line, skip_line};
use crate::protocols::imap::command::ImapCommand;
use crate::protocols::imap::parse::announced;
use crate::protocols::imap::session::{Phase, Session};
use crate::protocols::{Flow, Protocol, Reply, Turn};
use crate::store::inbox::Inbox;

/// Longest line taken: RFC 7162 asks for 8192 at least.
const MAX_LINE_BYTES: usize = 16 * 1024;
/// Most that the literals of a command may be together, unless it is APPEND.
const MAX_LITERAL_BYTES: u64 = 16 * 1024;

/// Verbs in the order of the protocol's names; `UID FETCH` counts as `FETCH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Connect,
    Capability,
    Noop,
    Logout,
    StartTls,
    Login,
    Authenticate,
    Select,
    Examine,
    List,
    Lsub,
    Status,
    Append,
    Check,
    Close,
    Expunge,
    Search,
    Fetch,
    Store,
    Idle,
    Done,
    Other,
}

const NAMES: &[&str] = &[
    "CONNECT",
    "CAPABILITY",
    "NOOP",
    "LOGOUT",
    "STARTTLS",
    "LOGIN",
    "AUTHENTICATE",
    "SELECT",
    "EXAMINE",
    "LIST",
    "LSUB",
    "STATUS",
    "APPEND",
    "CHECK",
    "CLOSE",
    "EXPUNGE",
    "SEARCH",
    "FETCH",
    "STORE",
    "IDLE",
    "DONE",
    "OTHER",
];

const WORDS: [Verb; 19] = [
    Verb::Fetch,
    Verb::Store,
    Verb::Search,
    Verb::Noop,
    Verb::Idle,
    Verb::Append,
    Verb::Expunge,
    Verb::Select,
    Verb::Examine,
    Verb::Status,
    Verb::List,
    Verb::Lsub,
    Verb::Check,
    Verb::Close,
    Verb::Login,
    Verb::Authenticate,
    Verb::Logout,
    Verb::Capability,
    Verb::StartTls,
];

impl Verb {
    /// `CONNECT` is no word of the protocol, `DONE` is none with a tag.
    fn read(word: &str) -> Self {
        WORDS
            .into_iter()
            .find(|verb| NAMES[*verb as usize].eq_ignore_ascii_case(word))
            .unwrap_or(Self::Other)
    }
}

/// The IMAP server of one event loop.
#[derive(Debug)]
pub(crate) struct Imap {
    drops: Arc<Maildrops>,
    /// Where those who IDLE on this loop get word.
    inbox: Arc<Inbox>,
    starttls: bool,
    most_bytes: u64,
    unix_s: i64,
}

impl Imap {
    pub fn new(options: &SinkOptions, drops: Arc<Maildrops>, inbox: Arc<Inbox>) -> Self {
        Self {
            drops,
            inbox,
            starttls: options.tls.as_ref().is_some_and(|tls| !tls.implicit),
            most_bytes: options.smtp.max_message_bytes,
            unix_s: 0,
        }
    }

    fn line(&mut self, session: &mut Session, line: &[u8], turn: &mut Turn) -> Option<Flow> {
        if matches!(session.phase, Phase::Command) {
            if let Some((length, at_once)) = announced(line) {
                return self.expect_literal(session, line, length, at_once, turn);
            }
            if !session.command.is_empty() {
                let mut whole = std::mem::take(&mut session.command);
                whole.extend_from_slice(line);
                return Some(self.command(session, &whole, turn));
            }
        }
        Some(self.command(session, line, turn))
    }

    /// A line ends with the announcement of a literal.
    fn expect_literal(
        &mut self,
        session: &mut Session,
        line: &[u8],
        length: u64,
        at_once: bool,
        turn: &mut Turn,
    ) -> Option<Flow> {
        let kept = session.command.len() as u64;
        session.command.extend_from_slice(line);
        session.command.extend_from_slice(b"\r\n");
        let appends =
            ImapCommand::read(&session.command).verb == Verb::Append && session.drop.is_some();
        let most = if appends {
            self.most_bytes
        } else {
            MAX_LITERAL_BYTES
        };
        if kept.saturating_add(length) > most.saturating_add(MAX_LINE_BYTES as u64) {
            if !at_once {
                return Some(self.refuse_literal(session, turn));
            }
            session.phase = Phase::Refused(length);
            return None;
        }
        if !at_once {
            turn.out.extend_from_slice(b"+ Go on\r\n");
        }
        if length > 0 {
            session.phase = Phase::Literal(length);
        }
        None
    }

    fn refuse_literal(&mut self, session: &mut Session, turn: &mut Turn) -> Flow {
        let command = std::mem::take(&mut session.command);
        let order = ImapCommand::read(&command);
        self.carry_out(order.verb, order.tag, turn, |_, out| {
            order.refuse(
                ErrorKind::MessageTooLarge,
                "NO [TOOBIG] Literal is too large",
                out,
            )
        })
    }

    fn command(&mut self, session: &mut Session, line: &[u8], turn: &mut Turn) -> Flow {
        let token = turn.token;
        match std::mem::take(&mut session.phase) {
            Phase::Auth(tag) => {
                self.carry_out(Verb::Authenticate, tag.as_bytes(), turn, |this, out| {
                    this.respond(session, tag.as_bytes(), line, out)
                })
            }
            Phase::Idle(tag, watch) => {
                drop(watch);
                self.carry_out(Verb::Done, tag.as_bytes(), turn, |_, out| {
                    execute::end_idle(session, tag.as_bytes(), line, out)
                })
            }
            _ => {
                let order = ImapCommand::read(line);
                self.carry_out(order.verb, order.tag, turn, |this, out| {
                    this.execute(session, &order, token, out)
                })
            }
        }
    }

    /// Counts, draws, does what is asked unless a fault refuses it, and answers.
    fn carry_out(
        &mut self,
        verb: Verb,
        tag: &[u8],
        turn: &mut Turn,
        act: impl FnOnce(&Self, &mut Vec<u8>) -> Done,
    ) -> Flow {
        let command = match Command::begin(verb as usize, turn) {
            Ok(command) => command,
            Err(flow) => return flow,
        };
        let done = if command.is_refused() {
            turn.out.extend_from_slice(tag);
            turn.out.extend_from_slice(refusal(command.fault));
            Done::Struck
        } else {
            act(self, turn.out)
        };
        command.end(done, turn)
    }
}

fn refusal(fault: Option<FaultKind>) -> &'static [u8] {
    match fault {
        Some(FaultKind::Tempfail) => b" NO [UNAVAILABLE] Try again later\r\n",
        _ => b" NO [NOPERM] Rejected\r\n",
    }
}

impl Protocol for Imap {
    const VERBS: &'static [&'static str] = NAMES;
    const GREETS: bool = true;
    const STARTS_TLS: bool = true;
    const ALPN: &'static [&'static [u8]] = &[b"imap"];
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
        if close {
            turn.out.extend_from_slice(b"* BYE No service here\r\n");
        } else {
            turn.out.extend_from_slice(b"* OK [CAPABILITY ");
            self.write_capabilities(false, turn.out);
            turn.out.extend_from_slice(b"] Steelyard sink\r\n");
        }
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
        match &mut session.phase {
            Phase::SkipLine => {
                let (used, ended) = skip_line(input);
                if ended {
                    session.phase = Phase::Command;
                }
                (used, None)
            }
            Phase::Literal(left) => {
                let used = input
                    .len()
                    .min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= used as u64;
                session.command.extend_from_slice(&input[..used]);
                if *left == 0 {
                    session.phase = Phase::Command;
                }
                (used, None)
            }
            Phase::Refused(left) => {
                let used = input
                    .len()
                    .min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= used as u64;
                if *left > 0 {
                    return (used, None);
                }
                // The rest of the command's last line follows.
                session.phase = Phase::SkipLine;
                (used, Some(self.refuse_literal(session, turn)))
            }
            Phase::Command | Phase::Auth(_) | Phase::Idle(..) => {
                match first_line(input, MAX_LINE_BYTES) {
                    Line::Partial => (0, Some(Flow::Continue)),
                    Line::TooLong => {
                        session.phase = Phase::SkipLine;
                        session.command = Vec::new();
                        turn.tally.error(ErrorKind::LineTooLong);
                        turn.out.extend_from_slice(b"* BAD Line too long\r\n");
                        (0, None)
                    }
                    Line::Whole(line, used) => (used, self.line(session, line, turn)),
                }
            }
        }
    }

    fn secured(&mut self, session: &mut Session) {
        *session = Session::default();
        session.secure = true;
    }

    fn woken(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Flow {
        if matches!(session.phase, Phase::Idle(..)) {
            mailbox::tell_changes(session, true, turn.out);
        }
        Flow::Continue
    }

    fn too_idle(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"* BYE Silent for too long\r\n");
    }

    fn unfinished(&self, session: &Session) -> bool {
        !session.command.is_empty() || matches!(session.phase, Phase::Refused(_) | Phase::Auth(_))
    }

    fn farewell(&self, _session: &Session, out: &mut Vec<u8>) {
        out.extend_from_slice(b"* BYE The sink stops\r\n");
    }

    fn tick(&mut self, unix_s: i64) {
        self.unix_s = unix_s;
    }
}
