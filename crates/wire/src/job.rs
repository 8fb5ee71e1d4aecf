//! A load job: where to, how hard, how long, and what one operation is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One run of the load generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadJob {
    /// `http://HOST:PORT/PATH` or `smtp://HOST:PORT`.
    pub target: String,
    /// How operations are started.
    pub mode: Mode,
    /// What one operation is; must fit the scheme of `target`.
    pub operation: Operation,
    /// Worker threads, one event loop each.
    #[serde(default = "one")]
    pub threads: u32,
    /// Excluded from every figure but kept in `counts.warm_up`.
    #[serde(default)]
    pub warm_up_ns: u64,
    /// Length of the measuring window; `None` only with `operations`.
    pub duration_ns: Option<u64>,
    /// Stop after this many operations in the window.
    pub operations: Option<u64>,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "protocol", rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// One HTTP/1.1 request and its whole reply.
    Http(HttpOperation),
    /// One message, from MAIL FROM to the reply after the final dot.
    Smtp(SmtpOperation),
}

/// One HTTP/1.1 request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpOperation {
    /// Request method.
    pub method: String,
    /// Extra header lines, `(name, value)`; a `Host` here replaces the default.
    pub headers: Vec<(String, String)>,
    /// Request body.
    pub body: String,
    /// Reuse the connection for the next request.
    pub keep_alive: bool,
    /// Run the full parser on every reply, never the learned shortcut.
    pub strict: bool,
}

impl Default for HttpOperation {
    fn default() -> Self {
        Self {
            method: "GET".to_owned(),
            headers: Vec::new(),
            body: String::new(),
            keep_alive: true,
            strict: false,
        }
    }
}

/// One SMTP message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SmtpOperation {
    /// Name given with EHLO.
    pub helo: String,
    /// Envelope sender.
    pub sender: String,
    /// Recipients are `user1@domain` .. `userN@domain`, one at random for each message.
    pub recipients: u32,
    /// Domain of the recipients.
    pub recipient_domain: String,
    /// Subject line.
    pub subject: String,
    /// Size of the text body before encoding.
    pub body_bytes: u64,
    /// Size of an attachment (base64 in MIME on the wire); 0 for none.
    pub attachment_bytes: u64,
    /// Messages sent on one connection before QUIT; 0 for no limit.
    pub messages_per_connection: u32,
}

impl Default for SmtpOperation {
    fn default() -> Self {
        Self {
            helo: "load.steelyard.test".to_owned(),
            sender: "sender@steelyard.test".to_owned(),
            recipients: 1,
            recipient_domain: "steelyard.test".to_owned(),
            subject: "steelyard".to_owned(),
            body_bytes: 4096,
            attachment_bytes: 0,
            messages_per_connection: 0,
        }
    }
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
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
