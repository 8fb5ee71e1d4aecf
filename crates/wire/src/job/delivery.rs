//! End-to-end delivery: submitted by SMTP, seen in the mailbox.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::smtp::SmtpOperation;
use super::tls::{Login, StartTls};

/// One message from the first byte of its envelope to its appearance in the mailbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveryOperation {
    /// How the message is submitted; its recipients must be the mailboxes of `login`.
    pub submit: SmtpOperation,
    /// `imap://`, `imaps://`, `pop3://` or `pop3s://HOST:PORT` where it is looked for.
    pub mailbox: String,
    /// Who looks.
    pub login: Login,
    /// Whether the connection to the mailbox is upgraded.
    #[serde(default)]
    pub starttls: StartTls,
    /// POP3: time between two looks, which is the resolution of the result.
    #[serde(default = "usual_poll_ns")]
    pub poll_ns: u64,
}

fn usual_poll_ns() -> u64 {
    10_000_000
}
