//! Options of `pop3://`, `pop3s://`, `imap://` and `imaps://`.

use clap::Args;

use crate::quantity::{duration_ns, size_bytes};

/// Only for `pop3://` and `pop3s://`.
#[derive(Debug, Args)]
pub(crate) struct Pop3Args {
    /// Ask for the sizes of messages (LIST) instead of their unique ids (UIDL).
    #[arg(long)]
    pub(crate) sizes: bool,
    /// Share of the messages that are retrieved, 0 to 1 [default: 1].
    #[arg(long, value_name = "SHARE")]
    pub(crate) retrieve: Option<f64>,
    /// Share of the retrieved messages that are deleted, 0 to 1 [default: 0].
    #[arg(long, value_name = "SHARE")]
    pub(crate) delete: Option<f64>,
    /// Most messages retrieved in one session; 0 for no limit [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) most_messages: Option<u32>,
    /// With --verify: this run reads every message of a sender, so that gaps in the sequence are
    /// losses.
    #[arg(long, requires = "verify")]
    pub(crate) expect_all: bool,
    /// Send all RETR and DELE at once where the server offers PIPELINING.
    #[arg(long)]
    pub(crate) pipeline_messages: bool,
}

/// Only for `imap://` and `imaps://`.
#[derive(Debug, Args)]
pub(crate) struct ImapArgs {
    /// Mailbox that is selected [default: INBOX].
    #[arg(long, value_name = "NAME")]
    pub(crate) mailbox: Option<String>,
    /// Command and its weight, for example fetch=3; may be given several times [default: fetch].
    #[arg(long = "command", value_name = "WORD[=WEIGHT]")]
    pub(crate) commands: Vec<String>,
    /// Commands on one connection before LOGOUT; 0 for no limit [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) commands_per_connection: Option<u32>,
    /// Size of the messages that APPEND stores [default: 4KiB].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) append_size: Option<u64>,
    /// How long one IDLE lasts before DONE, unless a message arrives [default: 0s].
    #[arg(long, value_parser = duration_ns, value_name = "TIME")]
    pub(crate) idle: Option<u64>,
}
