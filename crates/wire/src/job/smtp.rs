//! One mail message, submitted by SMTP or LMTP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tls::{Login, StartTls};

/// One message; SMTP or LMTP by the scheme of the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SmtpOperation {
    /// Name given with EHLO (LHLO).
    pub helo: String,
    /// Envelope sender.
    pub sender: String,
    /// Senders, one at random for each message; replaces `sender`.
    pub senders: Vec<String>,
    /// Recipients are `user1@domain` .. `userN@domain`, drawn at random for each message.
    pub recipients: u32,
    /// Domain of the recipients.
    pub recipient_domain: String,
    /// Addresses to draw from instead of `recipients` and `recipient_domain`.
    pub recipient_list: Vec<String>,
    /// Recipients of each message.
    pub recipients_per_message: u32,
    /// Subject line.
    pub subject: String,
    /// Subjects, one at random for each message; replaces `subject`.
    pub subjects: Vec<String>,
    /// Size of the text body before encoding.
    pub body_bytes: u64,
    /// Sizes to draw from, `(bytes, weight)`; replaces `body_bytes`.
    pub body_sizes: Vec<(u64, f64)>,
    /// Text files, one at random as the body of each message; replaces `body_bytes`.
    pub body_files: Vec<String>,
    /// Size of an attachment (base64 in MIME on the wire); 0 for none.
    pub attachment_bytes: u64,
    /// Files, one at random attached to each message; replaces `attachment_bytes`.
    pub attachment_files: Vec<String>,
    /// Messages sent on one connection before QUIT; 0 for no limit.
    pub messages_per_connection: u32,
    /// How commands are grouped.
    pub pipelining: Pipelining,
    /// Send messages with BDAT (CHUNKING) instead of DATA.
    pub chunking: bool,
    /// Whether a clear-text connection is upgraded.
    pub starttls: StartTls,
    /// Share of the connections that STARTTLS is used on, 0 to 1.
    pub tls_share: f64,
    /// Log in first.
    pub login: Option<Login>,
}

impl Default for SmtpOperation {
    fn default() -> Self {
        Self {
            helo: "load.steelyard.test".to_owned(),
            sender: "sender@steelyard.test".to_owned(),
            senders: Vec::new(),
            recipients: 1,
            recipient_domain: "steelyard.test".to_owned(),
            recipient_list: Vec::new(),
            recipients_per_message: 1,
            subject: "steelyard".to_owned(),
            subjects: Vec::new(),
            body_bytes: 4096,
            body_sizes: Vec::new(),
            body_files: Vec::new(),
            attachment_bytes: 0,
            attachment_files: Vec::new(),
            messages_per_connection: 0,
            pipelining: Pipelining::None,
            chunking: false,
            starttls: StartTls::Never,
            tls_share: 1.0,
            login: None,
        }
    }
}

/// How SMTP commands are grouped; never before EHLO has offered PIPELINING.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pipelining {
    /// Lockstep: each command waits for the reply to the last.
    None,
    /// MAIL, RCPT and DATA in one group (RFC 2920).
    Envelope,
    /// The envelope of the next message leaves with the content of this one.
    Message,
}
