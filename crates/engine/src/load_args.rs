//! The options of `load URL`, spelled as other load generators spell them.

use clap::{Args, ValueEnum};

use crate::quantity::{duration_ns, size_bytes};

/// Spacing of arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalArg {
    /// Equal gaps.
    Constant,
    /// Exponential gaps, as of many independent users.
    Poisson,
}

/// `load URL`.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// http://HOST:PORT/PATH or smtp://HOST:PORT.
    pub(crate) url: String,
    /// Connections; without --rate each is a user who waits for an answer before asking again.
    #[arg(short, long, default_value_t = 10, value_name = "N")]
    pub(crate) connections: u32,
    /// Worker threads, one event loop each.
    #[arg(short, long, default_value_t = 1, value_name = "N")]
    pub(crate) threads: u32,
    /// Length of the measuring window [default: 10s, none with --requests].
    #[arg(short, long, value_parser = duration_ns, value_name = "TIME")]
    pub(crate) duration: Option<u64>,
    /// Stop after this many operations.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) requests: Option<u64>,
    /// Start operations at this rate a second, whether or not earlier ones are answered.
    #[arg(short = 'R', long, value_name = "PER_SECOND")]
    pub(crate) rate: Option<f64>,
    /// Spacing of arrivals with --rate.
    #[arg(long, value_enum, default_value_t = ArrivalArg::Constant, requires = "rate", hide_possible_values = true, value_name = "constant|poisson")]
    pub(crate) arrival: ArrivalArg,
    /// Pause of a user between an answer and its next operation.
    #[arg(long, value_parser = duration_ns, default_value = "0s", conflicts_with = "rate", value_name = "TIME")]
    pub(crate) think: u64,
    /// Deadline of one operation, and of one connect.
    #[arg(long, value_parser = duration_ns, default_value = "10s", value_name = "TIME")]
    pub(crate) timeout: u64,
    /// Run this long before the window; excluded from every figure.
    #[arg(long, value_parser = duration_ns, default_value = "0s", value_name = "TIME")]
    pub(crate) warmup: u64,
    /// How long operations in flight at the end may still complete.
    #[arg(long, value_parser = duration_ns, default_value = "2s", value_name = "TIME")]
    pub(crate) drain: u64,
    /// Seed of arrivals and of every random choice.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    /// Sleep up to each arrival instead of polling just before it: later, but light on the CPU.
    #[arg(long)]
    pub(crate) no_spin: bool,
    /// Print one JSON document (docs/reference/result.md) instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten, next_help_heading = "HTTP")]
    pub(crate) http: HttpArgs,
    #[command(flatten, next_help_heading = "SMTP")]
    pub(crate) smtp: SmtpArgs,
}

/// Only for `http://`.
#[derive(Debug, Args)]
pub(crate) struct HttpArgs {
    /// Header line, may be given several times.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// Request method [default: GET, POST with a body].
    #[arg(short, long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// Request body, or @FILE to read it.
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) body: Option<String>,
    /// A new connection for every request.
    #[arg(long)]
    pub(crate) disable_keepalive: bool,
    /// Run the full parser on every reply, never the learned shortcut.
    #[arg(long)]
    pub(crate) strict: bool,
}

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
