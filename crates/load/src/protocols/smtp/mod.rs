//! SMTP and LMTP: one message, from MAIL FROM to the reply after its content.
//!
//! [`dialogue`] leads a connection up to its first message and out again, [`transact`] carries
//! messages. Every reply is matched with a command that left before it came.

mod address;
mod bodies;
mod check;
mod choice;
mod date;
mod dialogue;
mod login;
mod message;
mod mime;
mod offers;
pub mod reply;
mod session;
mod transact;
mod write;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use steelyard_wire::job::{Pipelining, SmtpOperation, StartTls};

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::plan::schedule::{Purpose, random_stream};
use crate::protocols::{Output, Protocol, Step, Turn};
use message::Messages;
use session::State;

pub use session::Session;

/// Longest reply to EHLO that is read.
const LONGEST_TEXT: usize = 16 * 1024;

/// Which of the family is used; by the scheme of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `smtp://`.
    Smtp,
    /// `smtps://`: TLS from the first byte.
    Smtps,
    /// `lmtp://`: a reply for each recipient.
    Lmtp,
}

impl Dialect {
    /// The one that a target's scheme names.
    pub fn of(scheme: &str) -> Self {
        match scheme {
            "smtps" => Self::Smtps,
            "lmtp" => Self::Lmtp,
            _ => Self::Smtp,
        }
    }
}

/// One worker's messages.
#[derive(Debug, Clone)]
pub struct Smtp {
    operation: SmtpOperation,
    dialect: Dialect,
    messages: Messages,
    eight_bit: bool,
    random: ChaCha8Rng,
    /// Next sequence number of each place.
    sequences: Vec<u64>,
    worker: u32,
    /// Connections opened so far.
    opened: u32,
    /// A message's first fields while their length is not known.
    scratch: Vec<u8>,
}

impl Smtp {
    /// Prepares the messages of `operation`; the time of the run tells those of two runs apart.
    pub fn new(
        operation: &SmtpOperation,
        dialect: Dialect,
        run_unix_ns: u64,
        seed: u64,
    ) -> Result<Self, LoadError> {
        check::operation(operation, dialect)?;
        let messages = Messages::new(operation, run_unix_ns, seed)?;
        Ok(Self {
            operation: operation.clone(),
            dialect,
            eight_bit: messages.any_eight_bit(),
            messages,
            random: random_stream(seed, Purpose::Operations, 0),
            sequences: Vec::new(),
            worker: 0,
            opened: 0,
            scratch: Vec::new(),
        })
    }

    /// The same for worker `worker`, with choices and sequence numbers of its own.
    #[must_use]
    pub fn for_worker(&self, worker: u32, seed: u64) -> Self {
        Self {
            random: random_stream(seed, Purpose::Operations, worker),
            worker,
            opened: worker,
            ..self.clone()
        }
    }

    fn grouped(&self) -> bool {
        self.operation.pipelining != Pipelining::None
    }

    /// Whether some connections speak TLS and others do not.
    fn is_mixed(&self) -> bool {
        let share = self.operation.tls_share;
        self.operation.starttls == StartTls::Require && share > 0.0 && share < 1.0
    }

    fn draws_tls(&mut self) -> bool {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        match self.operation.starttls {
            StartTls::Never => false,
            StartTls::Require if !self.is_mixed() => self.operation.tls_share > 0.0,
            StartTls::Require => {
                (self.random.next_u64() >> 11) as f64 * STEP < self.operation.tls_share
            }
        }
    }

    /// Number of the user that logs in on the next connection: they take turns.
    fn next_user(&mut self) -> u32 {
        let users = self.operation.login.as_ref().map_or(1, |login| login.users);
        let user = self.opened % users.max(1) + 1;
        self.opened = self.opened.wrapping_add(1);
        user
    }

    /// Sequence numbers go on when a connection of the same place follows another.
    fn sequence(&mut self, place: u32) -> &mut u64 {
        let place = place as usize;
        if self.sequences.len() <= place {
            self.sequences.resize(place + 1, 0);
        }
        &mut self.sequences[place]
    }

    fn at_limit(&self, session: &Session) -> bool {
        let limit = self.operation.messages_per_connection;
        limit > 0 && session.begun >= limit
    }

    /// Takes one reply after the other; those that came with the end of an operation are left.
    fn replies(&mut self, session: &mut Session, bytes: &[u8], turn: &mut Turn<'_>) -> Step {
        let mut rest = bytes;
        loop {
            match session.reply.take(rest) {
                Err(kind) => return Step::Broken(kind),
                Ok(None) => return keep_text(session, rest),
                Ok(Some((code, taken))) => {
                    let (reply, behind) = rest.split_at(taken);
                    let step = self.reply(session, code, reply, turn);
                    rest = behind;
                    if rest.is_empty() {
                        return step;
                    }
                    match step {
                        Step::More => {}
                        Step::Done(..) => {
                            turn.left = rest.len();
                            return step;
                        }
                        // Nothing was asked that these bytes could answer.
                        Step::Ready | Step::Secure | Step::Finished => {
                            return Step::Broken(ErrorKind::BadProtocol);
                        }
                        step => return step,
                    }
                }
            }
        }
    }

    fn reply(
        &mut self,
        session: &mut Session,
        code: u16,
        reply: &[u8],
        turn: &mut Turn<'_>,
    ) -> Step {
        if !session.was_asked_for() && code != 421 {
            return Step::Broken(ErrorKind::BadProtocol);
        }
        match session.state {
            _ if code == 421 => dialogue::turned_away(session, turn),
            State::Open if session.current.is_some() => self.transact(session, code, turn),
            _ => self.converse(session, code, reply, turn),
        }
    }
}

/// Of a reply whose words matter, the start is kept until the rest comes.
fn keep_text(session: &mut Session, bytes: &[u8]) -> Step {
    if session.state == State::Ehlo {
        let text = &mut session.text.get_or_insert_default().0;
        if text.len() + bytes.len() > LONGEST_TEXT {
            return Step::Broken(ErrorKind::BadProtocol);
        }
        text.extend_from_slice(bytes);
    }
    Step::More
}

impl Protocol for Smtp {
    type Session = Session;

    const PHASES: &'static [&'static str] = session::PHASES;

    fn one_shot(&self) -> bool {
        self.operation.messages_per_connection == 1
    }

    fn slots(&self) -> usize {
        match self.operation.pipelining {
            Pipelining::Message if !self.one_shot() => 2,
            _ => 1,
        }
    }

    fn has_room(&self, session: &Session) -> bool {
        session.state == State::Open && session.next.is_none() && !self.at_limit(session)
    }

    fn kinds(&self) -> Vec<String> {
        if self.is_mixed() {
            vec!["clear".to_owned(), "tls".to_owned()]
        } else {
            Vec::new()
        }
    }

    fn kind(&self, session: &Session, _slot: usize) -> usize {
        usize::from(session.wants_tls && self.is_mixed())
    }

    fn open(&mut self, place: usize) -> Session {
        let secured = self.dialect == Dialect::Smtps;
        let wants_tls = self.draws_tls();
        let user = self.next_user();
        Session::new(place as u32, secured, wants_tls, user)
    }

    fn connected(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        session.state = State::Banner;
        session.owed = 1;
        Step::More
    }

    fn secured(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        self.greet_again(session, turn)
    }

    fn start(&mut self, session: &mut Session, slot: usize, out: &mut Output) {
        self.begin(session, slot, out);
    }

    fn received(&mut self, session: &mut Session, bytes: &[u8], turn: &mut Turn<'_>) -> Step {
        session.fresh = 0;
        self.replies(session, bytes, turn)
    }

    fn ended(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        let idle = session.state == State::Open && session.current.is_none();
        if idle || session.state == State::Quit {
            Step::Finished
        } else {
            Step::Broken(ErrorKind::PeerClosedEarly)
        }
    }

    fn phase(&self, session: &Session) -> usize {
        session.phase(self.grouped().then(|| self.group_phase()))
    }

    fn shared(&self) -> &[u8] {
        self.messages.shared()
    }

    fn farewell(&self) -> &'static [u8] {
        b"QUIT\r\n"
    }
}

/// What a refusal is called; `None` for a reply that is none.
fn refusal(code: u16) -> Option<ErrorKind> {
    match code {
        452 | 552 => Some(ErrorKind::NoRoom),
        400..500 => Some(ErrorKind::Smtp4xx),
        500..600 => Some(ErrorKind::Smtp5xx),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
