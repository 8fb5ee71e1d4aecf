//! The options of `load URL`, spelled as other load generators spell them.

mod connect;
mod find;
mod ftp;
mod http;
mod login;
mod mailbox;
mod probe;
mod smtp;
mod stream;
mod tls;

use std::net::IpAddr;

use clap::{Args, ValueEnum};

pub(crate) use connect::ConnectArgs;
pub(crate) use find::{FindArg, FindArgs};
pub(crate) use ftp::{FtpArgs, PassiveArg};
pub(crate) use http::HttpArgs;
pub(crate) use login::{LoginArgs, PayloadArgs};
pub(crate) use mailbox::{ImapArgs, Pop3Args};
pub(crate) use probe::ProbeArgs;
pub(crate) use smtp::{PipeliningArg, SmtpArgs};
pub(crate) use stream::{DirectionArg, RequestResponseArgs, StreamArgs};
pub(crate) use tls::TlsArgs;

use crate::quantity::{duration_ns, rate_per_s};

/// Spacing of arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalArg {
    /// Equal gaps.
    Constant,
    /// Exponential gaps, as of many independent users.
    Poisson,
}

/// `load URL`.
#[allow(
    clippy::struct_excessive_bools,
    reason = "flags of a command line are bools"
)]
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// SCHEME://HOST:PORT/PATH; schemes: http https smtp smtps lmtp pop3 pop3s imap imaps ftp ftps
    /// tcp rr+tcp rr+udp stream+tcp stream+udp.
    #[arg(required_unless_present = "job")]
    pub(crate) url: Option<String>,
    /// Run the job, or the search, that this JSON file holds; options other than --json do not count.
    #[arg(long, conflicts_with = "url", value_name = "FILE")]
    pub(crate) job: Option<String>,
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
    #[arg(short = 'n', long, visible_alias = "count", value_name = "N")]
    pub(crate) requests: Option<u64>,
    /// Start operations at this rate a second, or as 120/min, whether or not earlier ones are
    /// answered.
    #[arg(short = 'R', long, value_parser = rate_per_s, value_name = "PER_SECOND")]
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
    /// With --rate: open a further connection when none is idle, up to --connections.
    #[arg(long, requires = "rate")]
    pub(crate) unbounded: bool,
    /// Connect to this unix socket instead of the URL's host and port.
    #[arg(long, value_name = "PATH")]
    pub(crate) unix_socket: Option<String>,
    /// Connect from this local address; may be given several times, they take turns.
    #[arg(
        long = "source",
        value_name = "ADDRESS",
        conflicts_with = "unix_socket"
    )]
    pub(crate) sources: Vec<IpAddr>,
    /// Close connections with a reset, which leaves no `TIME_WAIT` here.
    #[arg(long)]
    pub(crate) reset_on_close: bool,
    /// Write every operation to FILE, one line each.
    #[arg(long, value_name = "FILE")]
    pub(crate) log_all: Option<String>,
    #[command(flatten, next_help_heading = "Probe")]
    pub(crate) probe: ProbeArgs,
    #[command(flatten, next_help_heading = "Search")]
    pub(crate) find: FindArgs,
    #[command(flatten, next_help_heading = "TLS")]
    pub(crate) tls: TlsArgs,
    #[command(flatten, next_help_heading = "HTTP")]
    pub(crate) http: HttpArgs,
    #[command(flatten, next_help_heading = "Connect probe")]
    pub(crate) connect: ConnectArgs,
    #[command(flatten, next_help_heading = "SMTP and LMTP")]
    pub(crate) smtp: SmtpArgs,
    #[command(flatten, next_help_heading = "Request and response")]
    pub(crate) request_response: RequestResponseArgs,
    #[command(flatten, next_help_heading = "Streams")]
    pub(crate) stream: StreamArgs,
    #[command(flatten, next_help_heading = "Login")]
    pub(crate) login: LoginArgs,
    #[command(flatten, next_help_heading = "Payload")]
    pub(crate) payload: PayloadArgs,
    #[command(flatten, next_help_heading = "POP3")]
    pub(crate) pop3: Pop3Args,
    #[command(flatten, next_help_heading = "IMAP")]
    pub(crate) imap: ImapArgs,
    #[command(flatten, next_help_heading = "FTP")]
    pub(crate) ftp: FtpArgs,
}
