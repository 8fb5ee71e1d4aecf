//! IMAP commands of users who are logged in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tls::{Login, StartTls};

/// One command, drawn by weight, on a connection that has logged in and selected its mailbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImapOperation {
    /// Who logs in.
    pub login: Login,
    /// Whether the connection is upgraded with STARTTLS.
    #[serde(default)]
    pub starttls: StartTls,
    /// Mailbox that is selected.
    #[serde(default = "inbox")]
    pub mailbox: String,
    /// Weight of each command.
    #[serde(default = "usual_commands")]
    pub commands: BTreeMap<ImapCommand, f64>,
    /// Commands on one connection before LOGOUT; 0 for no limit.
    #[serde(default)]
    pub commands_per_connection: u32,
    /// Size of the messages that APPEND stores.
    #[serde(default = "usual_size")]
    pub append_bytes: u64,
    /// How long one IDLE lasts before DONE.
    #[serde(default)]
    pub idle_ns: u64,
    /// Check sequence and checksum of messages that this engine has sent.
    #[serde(default)]
    pub verify: bool,
}

impl ImapOperation {
    /// FETCH of whole messages by the users of `login`, every other field at its default.
    pub fn new(login: Login) -> Self {
        Self {
            login,
            starttls: StartTls::Never,
            mailbox: inbox(),
            commands: usual_commands(),
            commands_per_connection: 0,
            append_bytes: usual_size(),
            idle_ns: 0,
            verify: false,
        }
    }
}

/// A command that is an operation of its own.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ImapCommand {
    /// A whole session: connect, LOGIN, SELECT, LOGOUT.
    Session,
    /// SELECT of the mailbox.
    Select,
    /// LIST of all mailboxes.
    List,
    /// STATUS of the mailbox.
    Status,
    /// FETCH of one message's envelope and flags.
    FetchHeaders,
    /// FETCH of one whole message.
    Fetch,
    /// STORE of a flag.
    Store,
    /// APPEND of a message.
    Append,
    /// SEARCH for unseen messages.
    Search,
    /// STORE of `\Deleted` on one message, then EXPUNGE.
    Expunge,
    /// IDLE, then DONE.
    Idle,
    /// NOOP.
    Noop,
}

impl ImapCommand {
    /// Every one, in the order of the list.
    pub const ALL: [Self; 12] = [
        Self::Session,
        Self::Select,
        Self::List,
        Self::Status,
        Self::FetchHeaders,
        Self::Fetch,
        Self::Store,
        Self::Append,
        Self::Search,
        Self::Expunge,
        Self::Idle,
        Self::Noop,
    ];

    /// The word that jobs, options and results use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Select => "select",
            Self::List => "list",
            Self::Status => "status",
            Self::FetchHeaders => "fetch_headers",
            Self::Fetch => "fetch",
            Self::Store => "store",
            Self::Append => "append",
            Self::Search => "search",
            Self::Expunge => "expunge",
            Self::Idle => "idle",
            Self::Noop => "noop",
        }
    }
}

fn inbox() -> String {
    "INBOX".to_owned()
}

fn usual_commands() -> BTreeMap<ImapCommand, f64> {
    BTreeMap::from([(ImapCommand::Fetch, 1.0)])
}

fn usual_size() -> u64 {
    4096
}
