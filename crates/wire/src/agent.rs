//! The agent's conversation: one JSON document a line, requests on stdin, replies on stdout.
//!
//! The controller speaks first (`hello`); replies carry the id of their request and may come in
//! another order. End of input ends the agent and everything it started.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::{Facts, PathFacts};
use crate::file::{FileContent, FileJob};
use crate::job::LoadJob;
use crate::listening::ListeningJob;
use crate::process::{ProcessState, Ran, RunJob, ThreadPlace};
use crate::result::LoadResult;
use crate::sample::{SampleJob, Samples};

/// One line from the controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// Chosen by the controller, unique in the conversation.
    pub id: u64,
    /// What to do.
    #[serde(flatten)]
    pub verb: Verb,
}

/// What an agent can do.
#[allow(
    clippy::large_enum_variant,
    reason = "one at a time, read from a line of JSON"
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verb", rename_all = "snake_case")]
pub enum Verb {
    /// Must come first; another protocol version is refused.
    Hello {
        /// [`crate::AGENT_PROTOCOL`] of the controller.
        protocol: u32,
    },
    /// Facts of this machine.
    Facts,
    /// This machine's clocks now.
    Clock,
    /// Where a path lies.
    Path {
        /// Absolute.
        path: String,
    },
    /// Creates a folder and its parents.
    MakeDirectory {
        /// Absolute.
        path: String,
    },
    /// Removes a folder and all below; no error if it is not there. Refuses symbolic links.
    RemoveTree {
        /// Absolute, at least two levels deep.
        path: String,
    },
    /// Writes all that waits for the disk of a path; answered when it is there.
    SyncFilesystem {
        /// Absolute.
        path: String,
    },
    /// Starts a process that ends with the agent at the latest.
    Start {
        /// Name for later requests, unique among running processes.
        name: String,
        /// `@engine` as the first word stands for the agent's own binary.
        argv: Vec<String>,
        /// Added to the agent's environment.
        #[serde(default)]
        environment: BTreeMap<String, String>,
        /// Working folder.
        directory: Option<String>,
        /// Wait until the process writes its first line on stdout, for at most this long.
        ready_timeout_ms: Option<u64>,
    },
    /// Whether a started process still runs.
    Status {
        /// As given to `start`.
        name: String,
    },
    /// Ends a started process: SIGTERM, then SIGKILL after the grace time to all it had started.
    Stop {
        /// As given to `start`.
        name: String,
        /// Time before SIGKILL.
        grace_ms: u64,
        /// A command that ends it, in the place of SIGTERM, as `postfix stop`.
        with: Option<Vec<String>>,
    },
    /// Waits until a server listens; no one connects to it.
    Listening(ListeningJob),
    /// Kills a process that an earlier agent left, if it is still the same one.
    KillStale {
        /// Process id.
        pid: u32,
        /// Start time from `/proc/PID/stat`, in clock ticks since boot.
        start_ticks: u64,
    },
    /// Where the threads of a process and of all below it may run.
    ThreadPlaces {
        /// Process id.
        pid: u32,
    },
    /// Runs a program; answered when it has ended. Several at once.
    Run(RunJob),
    /// Kills all programs that `run` runs; their own replies say so.
    CancelRuns,
    /// Reads a file.
    ReadFile {
        /// Absolute.
        path: String,
        /// No more than this is read, 1 MiB by default.
        most_bytes: Option<u64>,
    },
    /// Writes a file whole.
    WriteFile(FileJob),
    /// Runs a load job; answered when it is done. One at a time.
    Load {
        /// The job.
        job: LoadJob,
    },
    /// Ends the running load job early; its own reply says so.
    CancelLoad,
    /// Makes one result of those of all generators of a job.
    MergeLoads {
        /// One of each, with moments of one clock.
        results: Vec<LoadResult>,
    },
    /// Starts sampling. One at a time.
    SampleStart {
        /// What to sample.
        job: SampleJob,
    },
    /// Ends sampling and returns all rows.
    SampleStop,
    /// Flushes dirty pages and drops the page cache (needs root).
    DropCaches,
    /// Ends the agent and everything it started.
    Bye,
}

/// One line from the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// Of the request.
    pub id: u64,
    /// Exactly one of the two.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was done.
    Ok(Box<Answer>),
    /// It was not.
    Error(Failure),
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answer {
    /// Answer to `hello`.
    Hello {
        /// [`crate::AGENT_PROTOCOL`] of the agent.
        protocol: u32,
        /// Version of the engine.
        version: String,
        /// Process id of the agent.
        pid: u32,
        /// `/proc/sys/kernel/random/boot_id`.
        boot_id: Option<String>,
    },
    /// Answer to `facts`.
    Facts(Facts),
    /// Answer to `clock`.
    Clock {
        /// `CLOCK_MONOTONIC` when the request had been read.
        received_monotonic_ns: u64,
        /// `CLOCK_MONOTONIC` when the reply was written.
        monotonic_ns: u64,
        /// `CLOCK_REALTIME`, likewise.
        realtime_ns: u64,
    },
    /// Answer to `path`.
    Path(PathFacts),
    /// Done, nothing to say.
    Done,
    /// Answer to `start`.
    Started {
        /// Process id.
        pid: u32,
        /// Start time from `/proc/PID/stat`, in clock ticks since boot.
        start_ticks: u64,
        /// First line of its stdout, if it was waited for.
        ready_line: Option<String>,
    },
    /// Answer to `status` and `stop`.
    Process(ProcessState),
    /// Answer to `thread_places`.
    ThreadPlaces {
        /// By process and thread.
        threads: Vec<ThreadPlace>,
    },
    /// Answer to `run`.
    Ran(Ran),
    /// Answer to `read_file`.
    File(FileContent),
    /// Answer to `load` and `merge_loads`.
    Load(Box<LoadResult>),
    /// Answer to `sample_stop`.
    Samples(Samples),
}

/// Why a request was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// A word that decides what can be done about it.
    pub kind: FailureKind,
    /// What went wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// Kinds of failure, by who can act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The two ends speak different versions.
    ProtocolMismatch,
    /// The request makes no sense (unknown verb, bad job, unknown name).
    BadRequest,
    /// A file or port needs rights that are not there.
    PermissionDenied,
    /// A port or path is in use.
    AddressInUse,
    /// No space or no inodes left, or over quota.
    DiskFull,
    /// A program or path is not there.
    NotFound,
    /// The process was not ready in time, or nothing listens.
    NotReady,
    /// The common time to start had passed before all was ready.
    LateStart,
    /// The process ended before it was ready.
    ProcessDied,
    /// The target could not be reached at all.
    Unreachable,
    /// Ended on request.
    Cancelled,
    /// Out of file descriptors, memory, or processes.
    ResourceLimit,
    /// Anything else the system refused.
    System,
}
