//! Processes of an agent: what is run to its end, and how those that were started are.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of each stream that a run keeps by default.
pub const KEPT_BYTES: u64 = 256 * 1024;

/// A program that is run to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunJob {
    /// `@engine` as the first word stands for the agent's own binary.
    pub argv: Vec<String>,
    /// Added to the agent's environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Working folder.
    pub directory: Option<String>,
    /// What it reads on stdin; nothing otherwise.
    pub stdin: Option<String>,
    /// From its start on; then it is killed with all it started.
    pub timeout_ms: u64,
    /// How much is kept of the end of each stream.
    #[serde(default = "kept_bytes")]
    pub keep_bytes: u64,
    /// `CLOCK_MONOTONIC` of this machine when it is to start; at once otherwise.
    pub start_at_monotonic_ns: Option<u64>,
}

impl RunJob {
    /// A command, every other field at its default.
    pub fn new(argv: Vec<String>, timeout_ms: u64) -> Self {
        Self {
            argv,
            environment: BTreeMap::new(),
            directory: None,
            stdin: None,
            timeout_ms,
            keep_bytes: KEPT_BYTES,
            start_at_monotonic_ns: None,
        }
    }
}

fn kept_bytes() -> u64 {
    KEPT_BYTES
}

/// A program that was run. That it failed is an answer like any other.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is true or not whatever the others are: read from a line of JSON"
)]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ran {
    /// Exit code, if it ended by itself.
    pub exit_code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// The last it wrote on stdout; what is not UTF-8 is replaced.
    pub stdout: String,
    /// The last it wrote on stderr, likewise.
    pub stderr: String,
    /// It wrote more on stdout than was kept.
    pub stdout_truncated: bool,
    /// It wrote more on stderr than was kept.
    pub stderr_truncated: bool,
    /// It was killed because its time was over.
    pub timed_out: bool,
    /// It was killed on request.
    pub cancelled: bool,
    /// `CLOCK_MONOTONIC` just before it was started.
    pub started_monotonic_ns: u64,
    /// `CLOCK_MONOTONIC` when its end was seen.
    pub ended_monotonic_ns: u64,
    /// User CPU time, with that of the processes it waited for.
    pub user_ns: u64,
    /// System CPU time, likewise.
    pub system_ns: u64,
    /// Peak memory of the largest of these processes.
    pub max_rss_bytes: u64,
}

/// A process the agent started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessState {
    /// Still there.
    pub running: bool,
    /// It or anything it started is still there, daemons that left its session too.
    #[serde(default)]
    pub tree_running: bool,
    /// Exit code, if it ended by itself or by SIGTERM handling.
    pub exit_code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// User CPU time, known after its end.
    pub user_ns: Option<u64>,
    /// System CPU time, known after its end.
    pub system_ns: Option<u64>,
    /// Peak memory, known after its end.
    pub max_rss_bytes: Option<u64>,
    /// Last 4 KiB it wrote on stderr.
    pub stderr_tail: String,
    /// Last 16 KiB it wrote on stdout after the line that said it was ready.
    #[serde(default)]
    pub stdout_tail: String,
    /// How the command that was to stop it failed; signals did it then.
    #[serde(default)]
    pub stop_failed: Option<String>,
}

/// Where one thread may run, and where it last did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadPlace {
    /// Id of its process.
    pub process: u32,
    /// Its own id.
    pub id: u32,
    /// As the kernel has it, cut to 15 bytes.
    pub name: String,
    /// CPUs by number, as `0-1,4`.
    pub allowed_cpus: String,
    /// The CPU that it runs on, or ran on last.
    pub last_cpu: u32,
}
