//! The result of one load run: one JSON document, see `docs/reference/result.md`.

mod mergeable;
mod stream;
mod verdict;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::LoadJob;

pub use mergeable::Mergeable;
pub use stream::{CountedBy, Flow, Stream, StreamInterval};
pub use verdict::{Verdict, VerdictState, Warning, WarningKind};

/// One finished load run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadResult {
    /// Always [`crate::RESULT_SCHEMA`].
    pub schema: String,
    /// What measured.
    pub tool: Tool,
    /// Where it ran.
    pub host_client: HostClient,
    /// The target as asked for, and the address it resolved to.
    pub target: Target,
    /// What was asked for and what was reached.
    pub load: Load,
    /// Operations of the window; `intended = unsent + sent`, `sent = ok + errors + inflight_at_stop`.
    pub counts: Counts,
    /// Failed operations by phase and kind (kinds: `docs/reference/result.md`).
    pub errors: BTreeMap<String, BTreeMap<String, u64>>,
    /// Connections that failed in the window while they carried no operation, by phase and kind.
    #[serde(default)]
    pub connection_errors: BTreeMap<String, BTreeMap<String, u64>>,
    /// The same before the window: set-up and warm-up.
    #[serde(default)]
    pub ramp_errors: BTreeMap<String, BTreeMap<String, u64>>,
    /// Failed operations by the code of the reply that refused them; of FTP.
    #[serde(default)]
    pub refusals: BTreeMap<String, u64>,
    /// What the server said when operations failed, by phase and kind: of each the first reply, of
    /// that at most 512 bytes; none where replies are no text.
    #[serde(default)]
    pub replies: BTreeMap<String, BTreeMap<String, String>>,
    /// Per second of the window.
    pub rates: Rates,
    /// `response`, `service`, `lateness`, `lag`, `errors`, `warmup`, one `phase.NAME` per phase of the
    /// protocol and `ramp.NAME` for set-up before the window.
    pub latency_ns: BTreeMap<String, Latency>,
    /// What the generator itself spent in the window.
    pub cpu: Cpu,
    /// One row per interval of the window.
    pub series: Vec<SeriesRow>,
    /// Figures of each kind of operation (command, path, target), where there are several.
    #[serde(default)]
    pub operations: BTreeMap<String, KindFigures>,
    /// Payloads with a sequence number and a checksum that were read back; `null` without any.
    #[serde(default)]
    pub payload: Option<Payload>,
    /// What was done to mailboxes; `null` where none is opened.
    #[serde(default)]
    pub mail: Option<Mail>,
    /// What TLS was agreed on; `null` in clear text.
    #[serde(default)]
    pub tls: Option<Tls>,
    /// Throughput, loss and TCP's own view; only of streams.
    #[serde(default)]
    pub stream: Option<Stream>,
    /// The result of each part of a mix; the figures above are then of all of them.
    #[serde(default)]
    pub parts: BTreeMap<String, LoadResult>,
    /// Whether the generator vouches for these figures.
    pub verdict: Verdict,
    /// Only of one generator of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mergeable: Option<Mergeable>,
}

/// Operations of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindFigures {
    /// Of the window, answered well.
    pub ok: u64,
    /// Of the window, failed.
    pub errors: u64,
    /// Response times of the good ones.
    pub latency_ns: Latency,
}

/// Payloads that were read back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Payload {
    /// Read and compared with their checksum.
    pub checked: u64,
    /// Of these, different from what was sent.
    pub corrupted: u64,
    /// Read without a checksum of this engine.
    pub unmarked: u64,
    /// Sequence numbers missing between the first and the last that were read of one sender;
    /// `null` where messages are not read in the order of sending.
    pub lost: Option<u64>,
    /// Sequence numbers read more than once.
    pub duplicated: u64,
}

/// What was done to mailboxes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mail {
    /// Messages read whole by operations of the window that were answered well.
    pub retrieved: u64,
    /// Of such operations, messages removed for good.
    pub deleted: u64,
    /// Of such operations, messages stored.
    pub appended: u64,
    /// Deliveries that were seen before the server had replied to the submission: their phase
    /// `delivered` is recorded as 0; `null` without deliveries.
    pub seen_before_reply: Option<u64>,
    /// Messages in a mailbox when it was opened for the first time, mean over the mailboxes;
    /// warm-up included, like the next.
    pub mailbox_messages_at_first: Option<f64>,
    /// The same when last counted.
    pub mailbox_messages_at_last: Option<f64>,
}

/// What TLS was agreed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tls {
    /// Protocol versions, with how many connections used each.
    pub versions: BTreeMap<String, u64>,
    /// Cipher suites, with how many connections used each.
    pub ciphers: BTreeMap<String, u64>,
    /// Handshakes that resumed a session.
    pub resumed: u64,
    /// Whether certificates were verified; `false` with `insecure`.
    pub verified: bool,
}

/// What measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Always `steelyard-engine`.
    pub name: String,
    /// Version of the engine.
    pub version: String,
    /// Event loop in use: `epoll`.
    pub engine: String,
}

/// The machine the generator ran on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostClient {
    /// `uname -r`.
    pub kernel: Option<String>,
    /// Model name of the first CPU.
    pub cpu_model: Option<String>,
    /// CPUs this process may run on.
    pub cpus: Option<u32>,
    /// Kernel clock source in use.
    pub clocksource: Option<String>,
    /// Measured cost of reading the clock once.
    pub clock_read_ns: u64,
}

/// Where the load went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// As asked for.
    pub url: String,
    /// As resolved.
    pub address: String,
}

/// What was asked for and what was reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// The job as run, every default filled in.
    pub job: LoadJob,
    /// Connections (closed: users) asked for.
    pub connections_asked: u32,
    /// Connections that were established at the same time at some moment of the window.
    pub connections_achieved: u32,
    /// Measured length of the window.
    pub window_ns: u64,
    /// Unix time of the window's start, for people; durations never come from it.
    pub window_started_unix_ns: u64,
    /// `CLOCK_MONOTONIC` at the window's start and end, to cut samplers' series to the window.
    pub window_start_monotonic_ns: u64,
    /// See `window_start_monotonic_ns`.
    pub window_end_monotonic_ns: u64,
    /// When the first operation was really sent, warm-up included; `null` of a stream.
    pub first_sent_monotonic_ns: Option<u64>,
}

/// Operations of the window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Operations whose intended start fell into the window.
    pub intended: u64,
    /// Of these, never sent because the backlog was full or the run ended.
    pub unsent: u64,
    /// Of these, sent.
    pub sent: u64,
    /// Sent and answered well.
    pub ok: u64,
    /// Sent and failed (sum over `errors`).
    pub errors: u64,
    /// Sent and still unanswered when draining ended.
    pub inflight_at_stop: u64,
    /// Operations answered well inside the window, whenever they were due: throughput.
    #[serde(default)]
    pub ok_in_window: u64,
    /// Answered operations of the warm-up, excluded everywhere else.
    pub warmup: u64,
    /// Failed operations of the warm-up, excluded everywhere else.
    #[serde(default)]
    pub warmup_errors: u64,
    /// Payload and protocol bytes received in the window.
    pub bytes_in: u64,
    /// Payload and protocol bytes sent in the window.
    pub bytes_out: u64,
    /// Connections opened in the window.
    pub connects: u64,
}

/// Per second of the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rates {
    /// Intended operations a second.
    pub intended_per_s: f64,
    /// Sent operations a second.
    pub sent_per_s: f64,
    /// Throughput: operations completed well inside the window, a second.
    pub ok_per_s: f64,
    /// Bytes received a second.
    pub bytes_in_per_s: f64,
    /// Bytes sent a second.
    pub bytes_out_per_s: f64,
}

/// One latency distribution. A percentile with fewer than ten samples above it is `null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Samples behind every figure here.
    pub count: u64,
    /// Smallest sample; `null` without samples, like all below.
    pub min: Option<u64>,
    /// Exact sum of all samples.
    #[serde(default)]
    pub sum: Option<u64>,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Largest sample, exact.
    pub max: Option<u64>,
    /// Percentiles: value at or below which this share of samples lies.
    pub p50: Option<u64>,
    /// 90 %.
    pub p90: Option<u64>,
    /// 95 %.
    pub p95: Option<u64>,
    /// 99 %.
    pub p99: Option<u64>,
    /// 99.9 %.
    pub p999: Option<u64>,
    /// 99.99 %.
    pub p9999: Option<u64>,
    /// The whole histogram: `HdrHistogram` V2, deflated, base64 (interchange with wrk2, Hyperfoil
    /// and others).
    pub hdr_v2_b64: String,
}

/// What the generator itself spent in the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// User time of all workers.
    pub user_ns: u64,
    /// System time of all workers.
    pub system_ns: u64,
    /// Of this, spent polling for the next deadline (open mode with `spin`): not load, but chosen.
    #[serde(default)]
    pub spin_ns: u64,
    /// CPU time an operation completed in the window, polling excluded.
    pub ns_per_operation: Option<f64>,
    /// Busiest worker's share of one core, polling excluded, 0 to 1.
    pub busiest_worker_ratio: f64,
    /// Time workers were runnable but waited for a CPU (schedstat).
    pub run_delay_ns: Option<u64>,
    /// Steal of the machine over the window, share of its CPU time, 0 to 1.
    pub steal_ratio: Option<f64>,
}

/// One interval of the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesRow {
    /// Start of the interval from the window's start.
    pub start_ns: u64,
    /// Operations answered well.
    pub ok: u64,
    /// Operations failed.
    pub errors: u64,
    /// Median response time; `null` below 20 samples.
    pub p50_ns: Option<u64>,
    /// 99th percentile of response time; `null` below 1000 samples.
    pub p99_ns: Option<u64>,
    /// Largest response time.
    pub max_ns: Option<u64>,
    /// Operations in flight at the interval's end.
    pub inflight: u64,
    /// Arrivals waiting for a connection at the interval's end.
    pub backlog: u64,
}
