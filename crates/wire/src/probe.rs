//! What `load --probe --json` prints: a line for each operation, and the result as the last.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::result::LoadResult;

/// One line.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ProbeLine {
    /// An operation that is over.
    Probe(ProbeFigures),
    /// All of them together; the last line.
    Result(Box<LoadResult>),
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeFigures {
    /// Counts the operations that were sent, from 1; lines come in the order of the ends.
    pub sequence: u64,
    /// Which of several targets, paths or commands it was.
    pub kind: Option<String>,
    /// When it was sent, as Unix time.
    pub sent_unix_ns: u64,
    /// `ok`, or the word for its failure.
    pub outcome: String,
    /// Phase in which it failed.
    pub failed_in: Option<String>,
    /// From the instant when it was due until it was over.
    pub response_ns: u64,
    /// From the instant when it was sent until it was over.
    pub service_ns: u64,
    /// What succeeded, in the order of the ends: each is the time since the one before. A `quit`
    /// comes after the operation and is not part of `service_ns`.
    pub phases: Vec<ProbePhase>,
}

/// One phase of one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbePhase {
    /// Its name.
    pub name: String,
    /// How long it took.
    pub took_ns: u64,
}
