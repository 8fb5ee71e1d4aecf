//! Where messages go.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Where messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreArg {
    /// Read, counted, dropped.
    None,
    /// Kept in the mailboxes in memory.
    Memory,
    /// One file for each recipient.
    Maildir,
}

/// When a message counts as safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SyncArg {
    /// When the kernel has it.
    None,
    /// When file and folder are fsynced, before the reply.
    EachMessage,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "SMTP, LMTP")]
pub(crate) struct SmtpSinkArgs {
    /// Where messages go: dropped when read, kept in memory, or one file for each recipient
    /// [default: none, or memory for mail].
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "none|memory|maildir"
    )]
    pub(crate) store: Option<StoreArg>,
    /// Folder of the Maildir; must exist.
    #[arg(long, value_name = "FOLDER", required_if_eq("store", "maildir"))]
    pub(crate) folder: Option<PathBuf>,
    /// Fsync file and folder of each message before it is accepted, or leave it to the kernel
    /// [default: none].
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "none|each-message"
    )]
    pub(crate) sync: Option<SyncArg>,
    /// Messages that can be written at the same time [default: 16].
    #[arg(long, value_name = "N")]
    pub(crate) store_threads: Option<u32>,
}

impl SmtpSinkArgs {
    pub(crate) fn given(&self) -> Vec<&'static str> {
        super::named(&[
            (self.store.is_some(), "--store"),
            (self.folder.is_some(), "--folder"),
            (self.sync.is_some(), "--sync"),
            (self.store_threads.is_some(), "--store-threads"),
        ])
    }
}
