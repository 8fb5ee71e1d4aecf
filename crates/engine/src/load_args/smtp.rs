//! Options of `smtp://`, `smtps://` and `lmtp://`.

use clap::{Args, ValueEnum};

use crate::quantity::{size_bytes, sizes};

/// How commands are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PipeliningArg {
    /// Each command waits for the reply to the last.
    None,
    /// The whole envelope in one write.
    Envelope,
    /// The next envelope with the content before it.
    Message,
}

/// Sizes with their weights; a type of its own, or clap would take a list for several values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sizes(pub(crate) Vec<(u64, f64)>);

/// Only for `smtp://`, `smtps://` and `lmtp://`.
#[derive(Debug, Args)]
pub(crate) struct SmtpArgs {
    /// Envelope sender [default: sender@steelyard.test].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) from: Option<String>,
    /// Senders, one in each line of FILE; one at random for each message.
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(crate) sender_list: Option<String>,
    /// Domain of the recipients [default: steelyard.test].
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) to_domain: Option<String>,
    /// Recipients user1 .. userN, one at random for each message [default: 1].
    #[arg(long, value_name = "N")]
    pub(crate) recipients: Option<u32>,
    /// Recipients, one in each line of FILE, instead of user1 .. userN.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["recipients", "to_domain"])]
    pub(crate) recipient_list: Option<String>,
    /// Recipients of each message: one at random and those that follow it [default: 1].
    #[arg(long, value_name = "N")]
    pub(crate) recipients_per_message: Option<u32>,
    /// Size of the text body, or several with weights, as 1k:30,10k:50,100k:20 [default: 4KiB].
    #[arg(long, value_parser = |text: &str| sizes(text).map(Sizes), value_name = "SIZE")]
    pub(crate) size: Option<Sizes>,
    /// Text bodies: the files of DIR, one at random for each message.
    #[arg(long, conflicts_with = "size", value_name = "DIR")]
    pub(crate) body_folder: Option<String>,
    /// File to attach, may be given several times; one at random for each message.
    #[arg(long = "attachment", value_name = "FILE")]
    pub(crate) attachments: Vec<String>,
    /// Attachments: the files of DIR, one at random for each message.
    #[arg(long, value_name = "DIR")]
    pub(crate) attachment_folder: Option<String>,
    /// Size of a random attachment before encoding [default: none].
    #[arg(long, value_parser = size_bytes, conflicts_with_all = ["attachments", "attachment_folder"], value_name = "SIZE")]
    pub(crate) attachment_size: Option<u64>,
    /// Messages sent on one connection before QUIT; 0 for no limit [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) messages_per_connection: Option<u32>,
    /// Commands in one write: none, those of an envelope, or also the next envelope with the
    /// content before it [default: none].
    #[arg(
        long = "pipelining",
        value_enum,
        hide_possible_values = true,
        value_name = "none|envelope|message"
    )]
    pub(crate) smtp_pipelining: Option<PipeliningArg>,
    /// Send messages with BDAT instead of DATA.
    #[arg(long)]
    pub(crate) chunking: bool,
    /// Share of the connections that --starttls is for, 0 to 1 [default: 1].
    #[arg(long, value_name = "SHARE", requires = "starttls")]
    pub(crate) tls_share: Option<f64>,
    /// Name given with EHLO or LHLO [default: load.steelyard.test].
    #[arg(long, value_name = "NAME")]
    pub(crate) helo: Option<String>,
    /// Subject line [default: steelyard].
    #[arg(long, value_name = "TEXT")]
    pub(crate) subject: Option<String>,
    /// Subjects, one in each line of FILE; one at random for each message.
    #[arg(long, conflicts_with = "subject", value_name = "FILE")]
    pub(crate) subject_list: Option<String>,
}
