//! Options of `smtp://`, `smtps://` and `lmtp://`.

use clap::Args;

use crate::quantity::size_bytes;

/// Only for `smtp://`.
#[derive(Debug, Args)]
pub(crate) struct SmtpArgs {
    /// Envelope sender [default: sender@steelyard.test].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) from: Option<String>,
    /// Domain of the recipients [default: steelyard.test].
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) to_domain: Option<String>,
    /// Recipients user1 .. userN, one at random for each message [default: 1].
    #[arg(long, value_name = "N")]
    pub(crate) recipients: Option<u32>,
    /// Size of the text body [default: 4KiB].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) size: Option<u64>,
    /// Size of an attachment before encoding [default: none].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) attachment: Option<u64>,
    /// Messages sent on one connection before QUIT; 0 for no limit [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) messages_per_connection: Option<u32>,
    /// Name given with EHLO [default: load.steelyard.test].
    #[arg(long, value_name = "NAME")]
    pub(crate) helo: Option<String>,
    /// Subject line [default: steelyard].
    #[arg(long, value_name = "TEXT")]
    pub(crate) subject: Option<String>,
}
