//! What an IMAP connection remembers, and what it waits for.

use steelyard_wire::job::ImapCommand;

use super::reader::Reader;
use super::response::Offers;
use crate::payload::PayloadCheck;
use crate::protocols::mailboxes::Moved;

/// One connection.
#[derive(Debug)]
pub struct Session {
    pub(super) state: State,
    pub(super) reader: Reader,
    pub(super) place: u32,
    pub(super) user: u32,
    /// Number of the last command.
    pub(super) tag: u32,
    /// Messages in the mailbox.
    pub(super) exists: u32,
    /// Operations on this connection.
    pub(super) operations: u32,
    /// One of them is under way.
    pub(super) under_way: bool,
    pub(super) command: ImapCommand,
    /// The message that the command is about.
    pub(super) drawn: u32,
    /// When the first byte of a FETCH came.
    pub(super) first_byte_ns: u64,
    pub(super) idle_until_ns: u64,
    /// Sequence of the message that is being appended.
    pub(super) sequence: u64,
    pub(super) offers: Offers,
    pub(super) moved: Moved,
    pub(super) check: Option<Box<PayloadCheck>>,
    pub(super) marks: Marks,
}

impl Session {
    /// Messages in the mailbox.
    pub fn exists(&self) -> u32 {
        self.exists
    }

    /// The server idles.
    pub fn is_idling(&self) -> bool {
        self.state == State::Idling
    }

    /// The next command can be said.
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// `* number word` came in the answer to a command that the machine did not send.
    pub fn note_size(&mut self, number: u32, word: &[u8]) {
        if word.eq_ignore_ascii_case(b"EXISTS") {
            self.exists = number;
        } else if word.eq_ignore_ascii_case(b"EXPUNGE") {
            self.exists = self.exists.saturating_sub(1);
        }
    }
}

/// What has been noticed since a command began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a set of observations")]
pub(super) struct Marks {
    pub(super) secured: bool,
    /// Capabilities came without being asked for.
    pub(super) offered: bool,
    /// The response that the command asks for was there.
    pub(super) answered: bool,
    /// The response being read is about the drawn message.
    pub(super) ours: bool,
    /// The literal being read is the message.
    pub(super) body: bool,
    /// The mailbox has grown.
    pub(super) grew: bool,
}

/// What the next responses belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Connecting,
    Banner,
    Capability,
    StartTls,
    Handshake,
    /// `+` before the response of SASL PLAIN.
    Challenge,
    Auth,
    CapabilityAgain,
    Select,
    /// An empty mailbox is given a message: `+`, then the end.
    FillReady,
    Fill,
    /// No operation.
    Ready,
    /// The command's end.
    Command,
    AppendReady,
    IdleReady,
    Idling,
    IdleDone,
    /// STORE before EXPUNGE.
    Deleting,
    /// LOGOUT after the last operation: nobody waits for it.
    Leaving,
}
