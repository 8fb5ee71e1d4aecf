//! What a sink saw and did, to be compared with what the generator says it sent.

pub(crate) mod tally;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a sink saw and did from start to stop.
///
/// An operation is one HTTP request or one SMTP message (from its end-of-data).
/// `received = ok + failed + unanswered` holds at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SinkCounters {
    /// Connections accepted.
    pub connections: u64,
    /// Of these, still open when the sink stopped.
    pub connections_open_at_stop: u64,
    /// Commands read: HTTP requests, SMTP command lines and ends of data.
    pub commands: u64,
    /// Operations read to their end.
    pub received: u64,
    /// Answered as asked for (an HTTP sink set to answer 404 answers well with it).
    pub ok: u64,
    /// Answered with a refusal (fault, size limit, store error).
    pub failed: u64,
    /// Not answered: dropped, reset, stalled, cut by the stop, or the peer left first.
    pub unanswered: u64,
    /// Message files that appeared in `new/`; one for each recipient.
    pub stored_files: u64,
    /// Bytes of these files.
    pub stored_bytes: u64,
    /// Bytes read from sockets.
    pub bytes_in: u64,
    /// Bytes written to sockets.
    pub bytes_out: u64,
    /// TLS handshakes done.
    #[serde(default)]
    pub tls_handshakes: u64,
    /// Of these, resumed from a ticket.
    #[serde(default)]
    pub tls_resumed: u64,
    /// What went wrong, by kind; kinds that never occurred are left out.
    pub errors: BTreeMap<String, u64>,
    /// Faults injected, by kind; kinds that never struck are left out.
    pub faults: BTreeMap<String, u64>,
    /// How late delayed replies left; `None` without delays.
    pub lateness: Option<Lateness>,
}

impl SinkCounters {
    /// Adds what was counted over datagrams, which have neither connections nor delays.
    pub(crate) fn add_datagrams(&mut self, other: &Self) {
        self.commands += other.commands;
        self.received += other.received;
        self.ok += other.ok;
        self.unanswered += other.unanswered;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        for (kind, count) in &other.errors {
            *self.errors.entry(kind.clone()).or_default() += count;
        }
    }
}

/// How much later than asked for delayed replies were sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// Delayed replies.
    pub count: u64,
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Largest, exact.
    pub max_ns: u64,
}
