//! What an IMAP connection remembers.

use std::sync::Arc;

use crate::maildrop::{Maildrop, Watch};

/// What the next byte belongs to.
#[derive(Debug, Default)]
pub(crate) enum Phase {
    #[default]
    Command,
    /// The rest of a line that was too long.
    SkipLine,
    /// So many bytes of a literal are still to come.
    Literal(u64),
    /// The same, of one that is refused when it has come.
    Refused(u64),
    /// The next line answers AUTHENTICATE with this tag.
    Auth(String),
    /// IDLE with this tag goes on until DONE.
    Idle(String, Watch),
}

/// One IMAP connection.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub phase: Phase,
    pub secure: bool,
    /// A command so far whose literals are not all there.
    pub command: Vec<u8>,
    /// Logged in.
    pub drop: Option<Arc<Maildrop>>,
    pub selected: Option<Selected>,
}

/// The mailbox as this connection knows it.
#[derive(Debug)]
pub(crate) struct Selected {
    /// Uids by place: a sequence number is a place and one more.
    pub uids: Vec<u32>,
    /// Of the maildrop when it was last looked at.
    pub version: u64,
    pub read_only: bool,
}
