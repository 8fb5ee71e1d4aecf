//! A load job: where to, how hard, how long, and what one operation is.

mod delivery;
mod ftp;
mod http;
mod imap;
mod pop3;
mod probe;
mod smtp;
mod tls;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use delivery::DeliveryOperation;
pub use ftp::{FtpAction, FtpOperation, Passive};
pub use http::{HttpOperation, HttpVersion};
pub use imap::{ImapCommand, ImapOperation};
pub use pop3::Pop3Operation;
pub use probe::{ConnectOperation, Direction, RequestResponseOperation, StreamOperation};
pub use smtp::{Pipelining, SmtpOperation};
pub use tls::{Login, Mechanism, StartTls, TlsOptions};

/// One run of the load generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadJob {
    /// `SCHEME://HOST:PORT/PATH`; `mix` for a mix, whose parts have targets of their own.
    pub target: String,
    /// How operations are started.
    pub mode: Mode,
    /// What one operation is; must fit the scheme of `target`.
    pub operation: Operation,
    /// Worker threads, one event loop each.
    #[serde(default = "one")]
    pub threads: u32,
    /// Excluded from every figure but kept in `counts.warmup`.
    #[serde(default)]
    pub warmup_ns: u64,
    /// Length of the measuring window; `None` only with a number of operations.
    pub duration_ns: Option<u64>,
    /// Stop after this many operations in the window.
    pub operations: Option<u64>,
    /// Stop after this many operations of each user in the window, instead of `operations`.
    #[serde(default)]
    pub operations_per_user: Option<u64>,
    /// How long operations in flight at the end may still complete.
    #[serde(default = "default_drain_ns")]
    pub drain_ns: u64,
    /// Deadline of one operation (and of one connect).
    #[serde(default = "default_timeout_ns")]
    pub timeout_ns: u64,
    /// Seeds arrivals and every random choice.
    #[serde(default)]
    pub seed: u64,
    /// Poll without sleeping close to a deadline (open mode).
    #[serde(default = "yes")]
    pub spin: bool,
    /// Width of one row of `series`.
    #[serde(default = "default_series_interval_ns")]
    pub series_interval_ns: u64,
    /// How TLS is used where the target or the operation asks for it.
    #[serde(default)]
    pub tls: TlsOptions,
    /// Connect to this unix socket instead of the target's host and port.
    #[serde(default)]
    pub unix_socket: Option<String>,
    /// Local addresses to connect from, in turn: each has ephemeral ports of its own.
    #[serde(default)]
    pub sources: Vec<std::net::IpAddr>,
    /// Close connections with a reset: no `TIME_WAIT` here, and another view for the server.
    #[serde(default)]
    pub reset_on_close: bool,
    /// Write every operation to this file, one line each (`docs/reference/result.md`).
    #[serde(default)]
    pub log_file: Option<String>,
    /// `CLOCK_MONOTONIC` of this machine when the warm-up begins, so that several generators start
    /// together; as soon as every connection has been tried otherwise.
    #[serde(default)]
    pub start_at_monotonic_ns: Option<u64>,
    /// Which of several generators this is, each of which is given the whole job with its `threads`
    /// and drives its share of it; `null` where one drives all of it.
    #[serde(default)]
    pub generator: Option<GeneratorNumber>,
}

/// One of the generators that drive a job together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeneratorNumber {
    /// From 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl LoadJob {
    /// A job of ten seconds for ten users, every other field at its default.
    pub fn new(target: impl Into<String>, operation: Operation) -> Self {
        Self {
            target: target.into(),
            mode: Mode::Closed {
                users: 10,
                think_time_ns: 0,
            },
            operation,
            threads: one(),
            warmup_ns: 0,
            duration_ns: Some(10_000_000_000),
            operations: None,
            operations_per_user: None,
            drain_ns: default_drain_ns(),
            timeout_ns: default_timeout_ns(),
            seed: 0,
            spin: true,
            series_interval_ns: default_series_interval_ns(),
            tls: TlsOptions::default(),
            unix_socket: None,
            sources: Vec::new(),
            reset_on_close: false,
            log_file: None,
            start_at_monotonic_ns: None,
            generator: None,
        }
    }
}

/// How operations are started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Mode {
    /// Each user starts its next operation when the last is answered and it has thought.
    Closed {
        /// Users, one connection each.
        users: u32,
        /// Pause between an answer and the next operation.
        #[serde(default)]
        think_time_ns: u64,
    },
    /// Operations start on a schedule, whether or not earlier ones are answered.
    Open {
        /// Mean arrivals a second over all threads; may be fractional.
        rate_per_s: f64,
        /// Spacing of arrivals.
        arrival: Arrival,
        /// Connections of the pool; arrivals queue for the first idle one.
        connections: u32,
        /// Open a further connection when none is idle; `connections` is then the most there may be.
        #[serde(default)]
        unbounded: bool,
        /// Arrivals that may queue before further ones count as unsent.
        #[serde(default = "default_backlog")]
        max_backlog: u64,
    },
}

/// Spacing of arrivals in open mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Equal gaps.
    Constant,
    /// Exponential gaps.
    Poisson,
}

/// What one operation is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "protocol", rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// One HTTP request and its whole reply.
    Http(HttpOperation),
    /// One message, from MAIL FROM to the reply after its content; SMTP or LMTP.
    Smtp(SmtpOperation),
    /// One POP3 session.
    Pop3(Pop3Operation),
    /// One IMAP command.
    Imap(ImapOperation),
    /// One FTP transfer.
    Ftp(FtpOperation),
    /// One TCP connection.
    Connect(ConnectOperation),
    /// One request and its response, over TCP or UDP.
    RequestResponse(RequestResponseOperation),
    /// Bulk data, over TCP or UDP.
    Stream(StreamOperation),
    /// One message from submission to its appearance in a mailbox.
    Delivery(Box<DeliveryOperation>),
    /// Several of these at once, by weight.
    Mix(MixOperation),
}

/// Several kinds of operations at once: users, or the rate, are divided by weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixOperation {
    /// At least one; each runs on worker threads of its own.
    pub parts: Vec<MixPart>,
}

/// One kind of operation of a mix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixPart {
    /// Its name in the result.
    pub name: String,
    /// Its share of the users or of the rate, relative to the other parts.
    pub weight: f64,
    /// Where it goes.
    pub target: String,
    /// What it does; no mix.
    pub operation: Operation,
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

fn whole() -> f64 {
    1.0
}

fn default_drain_ns() -> u64 {
    2_000_000_000
}

fn default_timeout_ns() -> u64 {
    10_000_000_000
}

fn default_series_interval_ns() -> u64 {
    1_000_000_000
}

fn default_backlog() -> u64 {
    100_000
}
