//! The search for the largest load that holds its limits, and what it found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::LoadJob;
use crate::result::LoadResult;

/// A search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindJob {
    /// What each step runs; its users or rate are replaced.
    pub load: LoadJob,
    /// What is varied.
    pub over: Over,
    /// Smallest value that is tried.
    pub from: f64,
    /// Largest value that is tried.
    pub to: f64,
    /// What must hold; at least one.
    pub limits: Vec<Limit>,
    /// The search ends when the answer is known to this share of itself.
    #[serde(default = "five_percent")]
    pub precision_ratio: f64,
    /// Pause between two steps, for queues to drain.
    #[serde(default = "half_a_second")]
    pub settle_ns: u64,
}

/// What a search varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Operations a second; the mode must be open.
    Rate,
    /// Users; the mode must be closed.
    Users,
}

/// What must hold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Limit {
    /// A percentile of the response time.
    Response {
        /// 50, 90, 95, 99, 99.9 or 99.99.
        percentile: f64,
        /// At most this.
        at_most_ns: u64,
    },
    /// Failed operations, and those that were never sent, as a share of those intended.
    Errors {
        /// Less than or equal to this, 0 to 1.
        at_most_ratio: f64,
    },
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindResult {
    /// Always [`crate::FIND_SCHEMA`].
    pub schema: String,
    /// The search as asked for.
    pub job: FindJob,
    /// Every run, in order.
    pub steps: Vec<FindStep>,
    /// How the search ended.
    pub state: FindState,
    /// Largest value that held its limits, twice.
    pub largest_held: Option<f64>,
    /// Smallest value above it that did not.
    pub smallest_failed: Option<f64>,
    /// For people.
    pub message: String,
}

/// One run of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindStep {
    /// Users or rate.
    pub value: f64,
    /// Whether the limits held.
    pub outcome: FindOutcome,
    /// What decided it.
    pub why: Vec<String>,
    /// All figures.
    pub result: LoadResult,
}

/// How one step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindOutcome {
    /// Every limit held.
    Held,
    /// A limit did not hold.
    Failed,
    /// The generator was in the way: this says nothing about the target.
    GeneratorLimited,
    /// A percentile has too few samples.
    TooFewSamples,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindState {
    /// The limit lies between `largest_held` and `smallest_failed`.
    Found,
    /// Even the smallest value did not hold.
    NeverHeld,
    /// Even the largest value held.
    NeverFailed,
    /// The generator reached its own limit first.
    GeneratorLimited,
    /// A step could not be judged: it needs a longer window.
    TooFewSamples,
    /// Ended on request.
    Cancelled,
}

fn five_percent() -> f64 {
    0.05
}

fn half_a_second() -> u64 {
    500_000_000
}
