//! What an SMTP connection remembers between two lines.

use std::net::IpAddr;

use crate::options::fault::FaultKind;
use crate::protocols::smtp::command::Verb;
use crate::protocols::smtp::data::Unstuffer;
use crate::protocols::smtp::replies::Answer;
use crate::store::{Message, StoreError};

/// What the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Command,
    /// The rest of a line that was too long.
    SkipLine,
    Data,
    /// Inside a chunk of BDAT.
    Chunk,
    /// The next line answers AUTH.
    Auth(AuthStep),
}

/// What AUTH waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AuthStep {
    Plain,
    LoginName,
    LoginPassword,
}

/// One reply that is due: the recipient it is about, and what strikes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due {
    pub recipient: usize,
    pub fault: Option<FaultKind>,
}

impl Due {
    pub fn is_refused(self) -> bool {
        Answer::refusing(Verb::Eom, self.fault).is_some()
    }
}

/// The chunk of BDAT that is being read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Chunk {
    pub left_bytes: u64,
    pub last: bool,
    /// Given when all of it is read, which a refusal does not change.
    pub refused: Option<Answer>,
}

/// One SMTP connection.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is something that was said or was not, independent of the others"
)]
pub(crate) struct Session {
    pub phase: Phase,
    pub peer: Option<IpAddr>,
    /// Name given with HELO or EHLO; empty before.
    pub helo: String,
    /// EHLO was used: parameters are allowed.
    pub extended: bool,
    /// MAIL was accepted.
    pub open: bool,
    pub sender: String,
    /// With its recipients so far. Boxed: it travels to the store and back.
    pub message: Box<Message>,
    /// Replies that LMTP owes for the content, in order.
    pub due: Vec<Due>,
    pub data: Unstuffer,
    pub chunk: Chunk,
    /// The message came with BDAT so far: DATA is too late.
    pub chunked: bool,
    pub authenticated: bool,
    /// The name AUTH LOGIN was given.
    pub login: String,
    /// TLS was begun.
    pub secure: bool,
    /// Bytes of the text so far, kept or not.
    pub size_bytes: u64,
    /// The store refused a part of the message.
    pub failure: Option<StoreError>,
    /// Strikes the reply to the message that is in the store.
    pub fault: Option<FaultKind>,
}

impl Session {
    pub fn new(peer: Option<IpAddr>) -> Self {
        Self {
            phase: Phase::Command,
            peer,
            helo: String::new(),
            extended: false,
            open: false,
            sender: String::new(),
            message: Box::default(),
            due: Vec::new(),
            data: Unstuffer::default(),
            chunk: Chunk::default(),
            chunked: false,
            authenticated: false,
            login: String::new(),
            secure: false,
            size_bytes: 0,
            failure: None,
            fault: None,
        }
    }

    /// Forgets the transaction, keeps the greeting (RFC 5321, 4.1.1.5).
    pub fn reset(&mut self) {
        self.open = false;
        self.sender.clear();
        self.message.clear();
        self.due.clear();
        self.chunked = false;
        self.size_bytes = 0;
        self.failure = None;
    }
}
