//! The FTP server: passive data connections, files in memory or made up by their names.

mod execute;
mod files;
mod session;
mod transfer;
mod verb;

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use memchr::memchr;
use rustix::net::getsockname;

use crate::counters::tally::Verdict;
use crate::counters::tally::{ErrorKind, Tally};
use crate::error::SinkError;
use crate::options::fault::FaultKind;
use crate::options::{FtpOptions, SinkOptions};
use crate::protocols::Event;
pub(crate) use crate::protocols::ftp::files::Files;
pub(crate) use crate::protocols::ftp::session::Session;
use crate::protocols::ftp::session::{Data, Passive};
use crate::protocols::ftp::verb::Verb;
use crate::protocols::{Flow, Protocol, Reply, Turn};

/// Longest command line taken, with its line end.
const MAX_LINE_BYTES: usize = 4096;

/// The FTP server of one event loop.
#[derive(Debug)]
pub(crate) struct Ftp {
    options: FtpOptions,
    files: Arc<Files>,
    /// TLS can be had; implicit or by `AUTH TLS`.
    tls: Option<bool>,
}

impl Ftp {
    pub fn new(options: &SinkOptions, files: Arc<Files>) -> Result<Self, SinkError> {
        let data = Verb::NAMES[Verb::Data as usize];
        let strange = options.faults.iter().any(|fault| {
            fault.verb == data && matches!(fault.kind, FaultKind::Garbage | FaultKind::Slow)
        });
        let delayed = options.delays.iter().any(|delay| delay.verb == data);
        if strange || delayed {
            return Err(SinkError::BadOption {
                option: "DATA",
                problem: "the data connection knows reject, tempfail, drop, reset, short and \
                          stall, and no delay"
                    .to_owned(),
            });
        }
        Ok(Self {
            options: options.ftp.clone(),
            files,
            tls: options.tls.as_ref().map(|tls| tls.implicit),
        })
    }

    fn line(&mut self, session: &mut Session, line: &[u8], turn: &mut Turn) -> Flow {
        turn.tally.commands += 1;
        let text = String::from_utf8_lossy(line);
        let (word, argument) = text.split_once(' ').unwrap_or((&text, ""));
        let verb = Verb::read(word);
        if verb.transfers() {
            turn.tally.received += 1;
        }
        let fault = turn.draw(verb as usize);
        if let Some(flow) = Turn::silence(fault) {
            turn.tally.unanswered += u64::from(verb.transfers());
            return flow;
        }
        if let Some(text) = refusing(verb, fault) {
            return answer(verb, fault, text, turn);
        }
        if !session.logged_in && !verb.is_open() {
            turn.tally.error(ErrorKind::BadSequence);
            return answer(verb, fault, "530 Log in first.", turn);
        }
        if verb.transfers() {
            return self.transfer(session, verb, fault, argument, turn);
        }
        self.execute(session, verb, fault, argument, turn)
    }
}

/// Writes a whole reply that is no end of a transfer, or one that refuses it.
fn answer(verb: Verb, fault: Option<FaultKind>, text: &str, turn: &mut Turn) -> Flow {
    let from = turn.out.len();
    turn.out.extend_from_slice(text.as_bytes());
    turn.out.extend_from_slice(b"\r\n");
    turn.settle(Reply {
        verb: verb as usize,
        fault,
        from,
        verdict: verb.transfers().then_some(Verdict::Failed),
        close: verb == Verb::Quit || text.starts_with("421"),
    })
}

/// The refusal that a fault stands for.
fn refusing(verb: Verb, fault: Option<FaultKind>) -> Option<&'static str> {
    Some(match (fault?, verb) {
        (FaultKind::Reject | FaultKind::Tempfail, Verb::Connect) => "421 Not now.",
        (FaultKind::Reject, Verb::User | Verb::Pass) => "530 Not you.",
        (FaultKind::Tempfail, Verb::User | Verb::Pass) => "421 Too many users.",
        (FaultKind::Tempfail, Verb::Epsv | Verb::Pasv) => "425 No port is free.",
        (FaultKind::Reject, _) => "550 Refused.",
        (FaultKind::Tempfail, _) => "450 Not now.",
        _ => return None,
    })
}

impl Protocol for Ftp {
    const VERBS: &'static [&'static str] = Verb::NAMES;
    const GREETS: bool = true;
    const STARTS_TLS: bool = true;
    type Session = Session;

    fn open(&mut self, peer: BorrowedFd<'_>) -> Session {
        let local = getsockname(peer).ok();
        let local = local.and_then(|address| SocketAddr::try_from(address).ok());
        Session::new(local.map(|address| address.ip()), self.tls == Some(true))
    }

    fn greet(&mut self, _session: &mut Session, turn: &mut Turn<'_>) -> Flow {
        let fault = turn.draw(Verb::Connect as usize);
        if let Some(flow) = Turn::silence(fault) {
            return flow;
        }
        let text = refusing(Verb::Connect, fault).unwrap_or("220 Steelyard sink ready.");
        answer(Verb::Connect, fault, text, turn)
    }

    fn step(
        &mut self,
        session: &mut Session,
        input: &[u8],
        turn: &mut Turn<'_>,
    ) -> (usize, Option<Flow>) {
        let Some(end) = memchr(b'\n', input) else {
            if input.len() < MAX_LINE_BYTES {
                return (0, Some(Flow::Continue));
            }
            session.skips = true;
            return (input.len(), None);
        };
        if session.skips || end >= MAX_LINE_BYTES {
            session.skips = false;
            turn.tally.error(ErrorKind::LineTooLong);
            let flow = answer(Verb::Other, None, "500 Line too long.", turn);
            return (end + 1, Some(flow));
        }
        let line = &input[..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // Old clients put telnet's interrupt before ABOR.
        let start = line.iter().take_while(|byte| **byte >= 0xF0).count();
        let line = &line[start..];
        if !session.is_moving() {
            return (end + 1, Some(self.line(session, line, turn)));
        }
        if line.eq_ignore_ascii_case(b"ABOR") {
            return (end + 1, Some(Self::abort(session, turn)));
        }
        // Any other command waits for the end of the transfer.
        if input.len() > MAX_LINE_BYTES {
            turn.tally.error(ErrorKind::BadSequence);
            return (input.len(), Some(Flow::Close));
        }
        (0, Some(Flow::Continue))
    }

    fn secured(&mut self, session: &mut Session) {
        // Who logged in before has to do so again (RFC 4217, 4).
        *session = Session::new(session.local, true);
    }

    fn side(&mut self, session: &mut Session, event: Event, turn: &mut Turn<'_>) -> Flow {
        match std::mem::replace(&mut session.data, Data::None) {
            Data::Opening(passive, fault) => Self::opened(session, passive, fault, &event, turn),
            Data::Moving { verb, fault, path } => self.moved(verb, fault, path, event, turn),
            // A port that no one waits for any more.
            Data::None | Data::Open => Flow::Continue,
        }
    }

    fn unfinished(&self, session: &Session) -> bool {
        session.is_moving()
    }

    fn too_idle(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"421 Silent for too long.\r\n");
    }

    fn farewell(&self, _session: &Session, out: &mut Vec<u8>) {
        out.extend_from_slice(b"421 The sink stops.\r\n");
    }

    fn left(&mut self, session: &mut Session, tally: &mut Tally) {
        tally.unanswered += u64::from(session.is_moving());
    }

    fn tick(&mut self, _unix_s: i64) {}
}

impl Ftp {
    /// A port was opened for the data connection, or was refused.
    fn opened(
        session: &mut Session,
        passive: Passive,
        fault: Option<FaultKind>,
        event: &Event,
        turn: &mut Turn,
    ) -> Flow {
        let verb = match passive {
            Passive::Extended => Verb::Epsv,
            Passive::Plain => Verb::Pasv,
        };
        let (Event::Listening(Some(port)), Some(local)) = (event, session.local) else {
            return answer(verb, fault, "425 No port is free.", turn);
        };
        session.data = Data::Open;
        let text = match passive {
            Passive::Extended => format!("229 Entering extended passive mode (|||{port}|)"),
            Passive::Plain => {
                let address = local.to_string().replace('.', ",");
                let (high, low) = (port >> 8, port & 0xFF);
                format!("227 Entering passive mode ({address},{high},{low})")
            }
        };
        answer(verb, fault, &text, turn)
    }
}
