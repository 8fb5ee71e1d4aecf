//! What one connection remembers.

use super::offers::Offers;
use super::reply::ReplyReader;
use crate::fault::ErrorKind;
use crate::protocols::{CONNECT, TLS};

/// Names of the phases; the constants below are their places.
pub const PHASES: &[&str] = &[
    "connect",
    "tls",
    "banner",
    "ehlo",
    "starttls",
    "auth",
    "mail",
    "rcpt",
    "data",
    "bdat",
    "mail+rcpt+data",
    "mail+rcpt+bdat",
    "eom",
    "rset",
    "quit",
];
pub const BANNER: usize = 2;
pub const EHLO: usize = 3;
pub const STARTTLS: usize = 4;
pub const AUTH: usize = 5;
pub const MAIL: usize = 6;
pub const RCPT: usize = 7;
pub const DATA: usize = 8;
pub const BDAT: usize = 9;
pub const GROUP_DATA: usize = 10;
pub const GROUP_BDAT: usize = 11;
pub const EOM: usize = 12;
pub const RSET: usize = 13;
pub const QUIT: usize = 14;

/// A reply that came in pieces; rare, so that it lies beside a session and not in it.
#[derive(Debug, Default)]
pub struct Text(pub Vec<u8>);

/// One connection.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent of each other")]
pub struct Session {
    pub(super) state: State,
    pub(super) reply: ReplyReader,
    pub(super) offers: Offers,
    /// Clear text lies in TLS.
    pub(super) secured: bool,
    /// STARTTLS is to be used.
    pub(super) wants_tls: bool,
    pub(super) logged_in: bool,
    /// The next envelope must clear what a failed message has left.
    pub(super) reset_first: bool,
    /// QUIT went out with the last content.
    pub(super) quit_sent: bool,
    /// Replies that are due, and those of them whose commands leave with this turn only.
    pub(super) owed: u16,
    pub(super) fresh: u16,
    /// Number of the user that logs in.
    pub(super) user: u32,
    pub(super) place: u32,
    /// Messages begun.
    pub(super) begun: u32,
    /// Start of a reply that is to be read word by word, if it came in pieces.
    pub(super) text: Option<Box<Text>>,
    pub(super) current: Option<Transaction>,
    /// Begun while `current` was not over yet.
    pub(super) next: Option<Transaction>,
}

/// What the next reply answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Connecting,
    Banner,
    Ehlo,
    Helo,
    StartTls,
    Securing,
    Auth(AuthStep),
    /// Set up: idle, or as `current` says.
    Open,
    Rset,
    Quit,
}

/// What a login waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthStep {
    /// To be asked for the name.
    Name,
    /// To be asked for the password.
    Password,
    /// To be let in.
    Outcome,
}

/// One message on its way.
#[derive(Debug, Clone, Copy)]
pub struct Transaction {
    /// Decides sender, recipients, subject and body.
    pub draw: u64,
    /// Its content is on its way, with a sequence number of its own.
    pub numbered: bool,
    /// Why it will have failed when it is over, and in which phase.
    pub failure: Option<(u8, ErrorKind)>,
    pub awaiting: Awaiting,
    pub slot: u8,
    /// Its envelope is on its way.
    pub sent: bool,
    /// Replies to RCPT, and those of them that were good.
    pub answered: u16,
    pub accepted: u16,
    /// Good replies to the content, and refusals of it; LMTP has several.
    pub delivered: u16,
    pub refused_content: u16,
}

/// What the next reply to a message answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaiting {
    Reset,
    Mail,
    Rcpt,
    Data,
    Bdat,
    Eom,
}

impl Session {
    pub(super) fn new(place: u32, secured: bool, wants_tls: bool, user: u32) -> Self {
        Self {
            state: State::Connecting,
            reply: ReplyReader::default(),
            offers: Offers::default(),
            secured,
            wants_tls,
            logged_in: false,
            reset_first: false,
            quit_sent: false,
            owed: 0,
            fresh: 0,
            user,
            place,
            begun: 0,
            text: None,
            current: None,
            next: None,
        }
    }

    /// `replies` more are due to what leaves with this turn.
    pub(super) fn asks(&mut self, replies: u16) {
        self.owed += replies;
        self.fresh += replies;
    }

    /// Whether the reply that has come was asked for; counts it.
    pub(super) fn was_asked_for(&mut self) -> bool {
        let asked_for = self.owed > self.fresh;
        self.owed -= u16::from(asked_for);
        asked_for
    }

    /// Index into [`PHASES`] of what the connection waits for; `group` is that of grouped envelopes.
    pub(super) fn phase(&self, group: Option<usize>) -> usize {
        match self.state {
            State::Connecting => CONNECT,
            State::Banner => BANNER,
            State::Ehlo | State::Helo => EHLO,
            State::StartTls => STARTTLS,
            State::Securing => TLS,
            State::Auth(_) => AUTH,
            State::Rset => RSET,
            State::Quit => QUIT,
            State::Open => self
                .current
                .as_ref()
                .map_or(MAIL, |message| message.phase(group)),
        }
    }
}

impl Transaction {
    pub(super) fn new(draw: u64, slot: usize) -> Self {
        Self {
            draw,
            numbered: false,
            failure: None,
            awaiting: Awaiting::Mail,
            slot: slot as u8,
            sent: false,
            answered: 0,
            accepted: 0,
            delivered: 0,
            refused_content: 0,
        }
    }

    /// A message that has failed already stays in the phase where it did.
    fn phase(&self, group: Option<usize>) -> usize {
        match (self.failure, self.awaiting, group) {
            (Some((phase, _)), _, _) => usize::from(phase),
            (None, Awaiting::Eom, _) => EOM,
            (None, _, Some(group)) => group,
            (None, Awaiting::Reset, None) => RSET,
            (None, Awaiting::Mail, None) => MAIL,
            (None, Awaiting::Rcpt, None) => RCPT,
            (None, Awaiting::Data, None) => DATA,
            (None, Awaiting::Bdat, None) => BDAT,
        }
    }
}
