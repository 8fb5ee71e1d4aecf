//! Mailboxes in memory, which POP3 and IMAP serve and deliveries can feed.

use serde::{Deserialize, Serialize};

/// Who may log in, and what the mailboxes hold at the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MailOptions {
    /// Mailboxes there are from the start, `user1` to `userN`; others appear when first used.
    pub mailboxes: u32,
    /// Messages in each of them at the start.
    pub messages: u32,
    /// Size of each of these messages, head included; at least 256.
    pub message_bytes: u64,
    /// Most bytes all messages may take; what would exceed it is refused.
    pub most_bytes: u64,
    /// Who may log in; no one named means anybody may, with any password.
    pub users: Vec<User>,
}

/// One user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// Also the name of the mailbox, up to an `@`.
    pub name: String,
    /// Compared byte by byte.
    pub password: String,
}

impl Default for MailOptions {
    fn default() -> Self {
        Self {
            mailboxes: 0,
            messages: 0,
            message_bytes: 4096,
            most_bytes: 1 << 30,
            users: Vec::new(),
        }
    }
}
