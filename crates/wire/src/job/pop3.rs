//! One POP3 session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tls::{Login, StartTls};

/// One session: login, STAT, UIDL, some messages retrieved, some deleted, QUIT.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pop3Operation {
    /// Who logs in.
    pub login: Login,
    /// Whether the connection is upgraded with STLS.
    #[serde(default)]
    pub starttls: StartTls,
    /// Ask for unique ids (UIDL), else for sizes (LIST).
    #[serde(default = "super::yes")]
    pub uidl: bool,
    /// Share of the messages that are retrieved, 0 to 1.
    #[serde(default = "super::whole")]
    pub retrieve_share: f64,
    /// Share of the retrieved messages that are deleted, 0 to 1.
    #[serde(default)]
    pub delete_share: f64,
    /// Most messages retrieved in one session; 0 for no limit.
    #[serde(default)]
    pub most_messages: u32,
    /// Send RETR and DELE without waiting for replies where CAPA offers PIPELINING.
    #[serde(default)]
    pub pipelining: bool,
    /// Check sequence and checksum of messages that this engine has sent.
    #[serde(default)]
    pub verify: bool,
    /// Every message of a sender is read by this run: gaps between sequence numbers are losses.
    #[serde(default)]
    pub expect_all: bool,
}

impl Pop3Operation {
    /// Sessions of the users of `login`, every other field at its default.
    pub fn new(login: Login) -> Self {
        Self {
            login,
            starttls: StartTls::Never,
            uidl: true,
            retrieve_share: 1.0,
            delete_share: 0.0,
            most_messages: 0,
            pipelining: false,
            verify: false,
            expect_all: false,
        }
    }
}
