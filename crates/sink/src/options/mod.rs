//! What a sink is configured with: protocol, address, replies, store, delays and faults.

pub(crate) mod delay;
pub(crate) mod fault;
mod listen;
mod mail;
mod tls;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::options::delay::Delay;
use crate::options::fault::Fault;

pub use listen::Listen;
pub use mail::{MailOptions, User};
pub use tls::{Certificate, TlsServerOptions};

/// The whole configuration of one sink. Build it with [`SinkOptions::new`] and change what differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SinkOptions {
    /// The protocol.
    pub protocol: Protocol,
    /// Where to listen; port 0 lets the system choose.
    pub listen: Listen,
    /// TLS, if it is used at all.
    #[serde(default)]
    pub tls: Option<TlsServerOptions>,
    /// Silence after which a connection is closed; `None` for never.
    #[serde(default)]
    pub idle_timeout_ns: Option<u64>,
    /// Event loops, one thread each; at least 1.
    #[serde(default = "one")]
    pub threads: u32,
    /// Connections that may wait to be accepted; the kernel's `somaxconn` may lower it.
    #[serde(default = "default_backlog")]
    pub backlog: u32,
    /// Pauses before replies; the last that fits a verb counts, a named verb before `*`.
    #[serde(default)]
    pub delays: Vec<Delay>,
    /// Faults to inject, asked in this order; the first that strikes counts.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// Decides which commands the faults strike.
    #[serde(default)]
    pub seed: u64,
    /// Read by [`Protocol::Http`] only.
    #[serde(default)]
    pub http: HttpOptions,
    /// Read by [`Protocol::Smtp`] and [`Protocol::Lmtp`] only.
    #[serde(default)]
    pub smtp: SmtpOptions,
    /// Read by [`Protocol::Ftp`] only.
    #[serde(default)]
    pub ftp: FtpOptions,
    /// Read by the protocols of mail only.
    #[serde(default)]
    pub mail: MailOptions,
}

impl SinkOptions {
    /// One thread, no delay, no fault, nothing stored.
    pub fn new(protocol: Protocol, listen: impl Into<Listen>) -> Self {
        Self {
            protocol,
            listen: listen.into(),
            tls: None,
            idle_timeout_ns: None,
            threads: one(),
            backlog: default_backlog(),
            delays: Vec::new(),
            faults: Vec::new(),
            seed: 0,
            http: HttpOptions::default(),
            smtp: SmtpOptions::default(),
            ftp: FtpOptions::default(),
            mail: MailOptions::default(),
        }
    }
}

/// What a sink speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// HTTP/1.1 and HTTP/1.0.
    Http,
    /// SMTP (ESMTP).
    Smtp,
    /// LMTP.
    Lmtp,
    /// POP3.
    Pop3,
    /// `IMAP4rev1`.
    Imap,
    /// FTP.
    Ftp,
    /// Sends back what it is sent.
    Echo,
    /// Reads and drops.
    Discard,
    /// Streams, requests and responses of set sizes.
    Stream,
}

impl Protocol {
    /// As written on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Smtp => "smtp",
            Self::Lmtp => "lmtp",
            Self::Pop3 => "pop3",
            Self::Imap => "imap",
            Self::Ftp => "ftp",
            Self::Echo => "echo",
            Self::Discard => "discard",
            Self::Stream => "stream",
        }
    }
}

/// What the HTTP sink answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpOptions {
    /// Status of every good reply, 200 to 599.
    pub status: u16,
    /// Length of the body of every good reply; ignored for 204 and 304, which have none.
    pub body_bytes: u64,
    /// How a client knows the end of the body.
    pub body_end: BodyEnd,
    /// An interim reply (100 to 199, not 101) before every good one.
    pub interim: Option<u16>,
    /// Every good reply says in `x-steelyard-payload` what its body must be; without this only
    /// replies to requests that carry such a header do.
    pub payload: bool,
}

/// How a client knows the end of a reply's body. HTTP/2 has its own end for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyEnd {
    /// `Content-Length`.
    #[default]
    Length,
    /// `Transfer-Encoding: chunked`.
    Chunked,
    /// The connection is closed, as in HTTP/1.0.
    Close,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            status: 200,
            body_bytes: 128,
            body_end: BodyEnd::Length,
            interim: None,
            payload: false,
        }
    }
}

/// What the FTP sink keeps and asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FtpOptions {
    /// Most bytes of uploaded files kept in memory; the oldest give way. 0 keeps none.
    pub keep_bytes: u64,
    /// Refuse data connections whose TLS resumes no session.
    pub require_reuse: bool,
}

impl Default for FtpOptions {
    fn default() -> Self {
        Self {
            keep_bytes: 64 << 20,
            require_reuse: false,
        }
    }
}

/// What the SMTP sink answers and keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SmtpOptions {
    /// Name in the banner, in `Received` and in file names; `None` for the machine's own.
    pub hostname: Option<String>,
    /// Largest message taken, announced as `SIZE`.
    pub max_message_bytes: u64,
    /// Most recipients of one message; at least 100 by RFC 5321.
    pub max_recipients: u32,
    /// Offer `CHUNKING` (BDAT).
    pub chunking: bool,
    /// Offer `PIPELINING`. Grouped commands are answered in order either way.
    pub pipelining: bool,
    /// Where messages go.
    pub store: Store,
}

impl Default for SmtpOptions {
    fn default() -> Self {
        Self {
            hostname: None,
            max_message_bytes: 64 << 20,
            max_recipients: 100,
            chunking: true,
            pipelining: true,
            store: Store::None,
        }
    }
}

/// Where messages go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Store {
    /// Read, counted, dropped.
    None,
    /// Kept in memory, in the mailboxes of [`MailOptions`].
    Memory,
    /// One file for each recipient in `FOLDER/LOCALPART/new/`.
    Maildir {
        /// Must exist and be writable.
        folder: PathBuf,
        /// When a message counts as safe.
        #[serde(default)]
        sync: Sync,
        /// Messages that can be written at the same time.
        #[serde(default = "default_store_threads")]
        threads: u32,
    },
}

/// When a stored message counts as safe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sync {
    /// When the kernel has it; a power cut may lose it.
    #[default]
    #[serde(rename = "none")]
    None,
    /// When file and folder are fsynced, before the reply.
    #[serde(rename = "each message")]
    EachMessage,
}

/// Default of [`Store::Maildir`]'s `threads`.
pub const DEFAULT_STORE_THREADS: u32 = 16;

fn default_store_threads() -> u32 {
    DEFAULT_STORE_THREADS
}

fn one() -> u32 {
    1
}

fn default_backlog() -> u32 {
    4096
}
