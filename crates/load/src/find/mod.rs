//! The search for the largest rate, or number of users, that holds its limits.
//!
//! The value is doubled until a limit breaks, then the gap is halved (on a scale of ratios) until
//! it is narrow enough. What held last must hold once more: a lucky run is no answer. A run that
//! the generator itself has limited says nothing about the target and ends the search.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use steelyard_wire::FIND_SCHEMA;
use steelyard_wire::find::{FindJob, FindOutcome, FindResult, FindState, FindStep, Limit, Over};
use steelyard_wire::job::{LoadJob, Mode};
use steelyard_wire::result::{LoadResult, VerdictState, Warning, WarningKind};

use crate::conduct::Progress;
use crate::error::LoadError;

/// A busy machine may disturb the generator once; a step that it disturbs so often is given up.
const TRIES: u32 = 3;

/// A step is made longer, twice each time, until its percentiles have samples behind them.
const LONGEST_FACTOR: u64 = 8;

/// Searches; each step runs as [`crate::run`] does. `on_step` is called after each step.
pub fn find(
    job: &FindJob,
    cancel: &AtomicBool,
    progress: Option<&(dyn Fn(Progress) + Sync)>,
    on_step: &mut dyn FnMut(&FindStep),
) -> Result<FindResult, LoadError> {
    check(job)?;
    let mut search = Search::new(job);
    let mut steps = Vec::new();
    let mut factor = 1;
    let mut disturbed = 0;
    let state = loop {
        let value = match search.next() {
            Next::Try(value) => value,
            Next::End(state) => break state,
        };
        if !steps.is_empty() {
            thread::sleep(Duration::from_nanos(job.settle_ns));
        }
        let result = crate::run(&step_job(job, value, factor), cancel, progress)?;
        let (outcome, why) = judge(&result, &job.limits);
        let step = FindStep {
            value,
            outcome,
            why,
            result,
        };
        on_step(&step);
        steps.push(step);
        if cancel.load(Relaxed) {
            break FindState::Cancelled;
        }
        match outcome {
            FindOutcome::TooFewSamples if factor < LONGEST_FACTOR => factor *= 2,
            FindOutcome::GeneratorLimited if disturbed + 1 < TRIES => disturbed += 1,
            outcome => {
                disturbed = 0;
                search.take(value, outcome);
            }
        }
    };
    Ok(FindResult {
        schema: FIND_SCHEMA.to_owned(),
        message: search.message(state, job),
        job: job.clone(),
        steps,
        state,
        largest_held: search.held.filter(|_| search.times >= 2),
        smallest_failed: search.failed,
    })
}

fn check(job: &FindJob) -> Result<(), LoadError> {
    if job.limits.is_empty() {
        return Err(LoadError::bad_job(
            "the search has no limit",
            "for example p99<50ms",
        ));
    }
    if !(job.from > 0.0 && job.to >= job.from && job.to.is_finite()) {
        return Err(LoadError::bad_job(
            format!("cannot search from {} to {}", job.from, job.to),
            "both above 0, the first the smaller",
        ));
    }
    if !(0.001..=1.0).contains(&job.precision_ratio) {
        return Err(LoadError::bad_job(
            format!("precision {} is out of range", job.precision_ratio),
            "between 0.001 and 1",
        ));
    }
    if job.load.duration_ns.is_none() {
        return Err(LoadError::bad_job(
            "a step has no length",
            "give duration_ns",
        ));
    }
    if job.load.start_at_monotonic_ns.is_some() {
        return Err(LoadError::bad_job(
            "a search has no one time to start at",
            "leave start_at_monotonic_ns out",
        ));
    }
    if job.load.generator.is_some() {
        return Err(LoadError::bad_job(
            "a search comes from one generator",
            "leave `generator` out",
        ));
    }
    for limit in &job.limits {
        if let Limit::Response { percentile, .. } = limit
            && field(*percentile).is_none()
        {
            return Err(LoadError::bad_job(
                format!("percentile {percentile} is not kept"),
                "50, 90, 95, 99, 99.9 or 99.99",
            ));
        }
    }
    match (&job.load.mode, job.over) {
        (Mode::Open { .. }, Over::Rate) | (Mode::Closed { .. }, Over::Users) => Ok(()),
        _ => Err(LoadError::bad_job(
            "a rate is searched in open mode, users in closed mode",
            "change the one or the other",
        )),
    }
}

fn step_job(job: &FindJob, value: f64, factor: u64) -> LoadJob {
    let mut step = job.load.clone();
    match &mut step.mode {
        Mode::Open { rate_per_s, .. } => *rate_per_s = value,
        Mode::Closed { users, .. } => *users = value as u32,
    }
    step.duration_ns = step.duration_ns.map(|length_ns| length_ns * factor);
    step
}

/// Whether the limits held, and what decided it.
fn judge(result: &LoadResult, limits: &[Limit]) -> (FindOutcome, Vec<String>) {
    let warnings = &result.verdict.warnings;
    let broken: Vec<String> = limits
        .iter()
        .filter_map(|limit| broken(result, limit))
        .collect();
    let unknown: Vec<String> = limits
        .iter()
        .filter_map(|limit| unknown(result, limit))
        .collect();
    let of_generator: Vec<String> = warnings
        .iter()
        .filter(|warning| limits_generator(&warning.kind))
        .map(Warning::to_string)
        .collect();
    let nothing_answered = result.counts.ok == 0 && result.counts.sent > 0;
    match () {
        // What the generator did cannot make a target better than it is.
        () if broken.is_empty() && !of_generator.is_empty() => {
            (FindOutcome::GeneratorLimited, of_generator)
        }
        () if !broken.is_empty() && !of_generator.is_empty() => {
            let why = broken.into_iter().chain(of_generator).collect();
            (FindOutcome::GeneratorLimited, why)
        }
        () if !broken.is_empty() => (FindOutcome::Failed, broken),
        () if nothing_answered => (
            FindOutcome::Failed,
            vec!["no operation was answered well".to_owned()],
        ),
        () if !unknown.is_empty() => (FindOutcome::TooFewSamples, unknown),
        () if result.verdict.state == VerdictState::Invalid => (
            FindOutcome::TooFewSamples,
            warnings.iter().map(Warning::to_string).collect(),
        ),
        () => (FindOutcome::Held, held(result, limits)),
    }
}

fn limits_generator(kind: &WarningKind) -> bool {
    matches!(
        kind,
        WarningKind::GeneratorBound { .. } | WarningKind::Late { .. }
    )
}

fn broken(result: &LoadResult, limit: &Limit) -> Option<String> {
    match *limit {
        Limit::Response {
            percentile,
            at_most_ns,
        } => {
            let value_ns = response(result, percentile)?;
            (value_ns > at_most_ns).then(|| {
                format!(
                    "p{percentile} is {:.3} ms, allowed are {:.3} ms",
                    value_ns as f64 / 1e6,
                    at_most_ns as f64 / 1e6
                )
            })
        }
        Limit::Errors { at_most_ratio } => {
            let ratio = failed_ratio(result)?;
            (ratio > at_most_ratio).then(|| {
                format!(
                    "{:.3} % failed or were never sent, allowed are {:.3} %",
                    ratio * 100.0,
                    at_most_ratio * 100.0
                )
            })
        }
    }
}

fn unknown(result: &LoadResult, limit: &Limit) -> Option<String> {
    match *limit {
        Limit::Response { percentile, .. } if response(result, percentile).is_none() => {
            Some(format!("p{percentile} has too few samples behind it"))
        }
        Limit::Errors { .. } if failed_ratio(result).is_none() => {
            Some("no operation was due".to_owned())
        }
        _ => None,
    }
}

fn held(result: &LoadResult, limits: &[Limit]) -> Vec<String> {
    let figure = |limit: &Limit| match *limit {
        Limit::Response { percentile, .. } => format!(
            "p{percentile} is {:.3} ms",
            response(result, percentile).unwrap_or(0) as f64 / 1e6
        ),
        Limit::Errors { .. } => format!(
            "{:.3} % failed or were never sent",
            failed_ratio(result).unwrap_or(0.0) * 100.0
        ),
    };
    limits.iter().map(figure).collect()
}

fn failed_ratio(result: &LoadResult) -> Option<f64> {
    let counts = &result.counts;
    let lost = counts.errors + counts.unsent + counts.inflight_at_stop;
    (counts.intended > 0).then(|| lost as f64 / counts.intended as f64)
}

fn response(result: &LoadResult, percentile: f64) -> Option<u64> {
    let all = result.latency_ns.get("response")?;
    match field(percentile)? {
        0 => all.p50,
        1 => all.p90,
        2 => all.p95,
        3 => all.p99,
        4 => all.p999,
        _ => all.p9999,
    }
}

fn field(percentile: f64) -> Option<usize> {
    [50.0, 90.0, 95.0, 99.0, 99.9, 99.99]
        .iter()
        .position(|kept: &f64| (kept - percentile).abs() < 1e-9)
}

/// Where a search is; knows nothing of how a value is tried.
#[derive(Debug)]
struct Search {
    over: Over,
    from: f64,
    to: f64,
    precision: f64,
    held: Option<f64>,
    /// How often it has held; 0 while it is only hoped for.
    times: u32,
    failed: Option<f64>,
    ended: Option<FindState>,
}

#[derive(Debug, PartialEq)]
enum Next {
    Try(f64),
    End(FindState),
}

impl Search {
    fn new(job: &FindJob) -> Self {
        Self {
            over: job.over,
            from: job.from,
            to: job.to,
            precision: job.precision_ratio,
            held: None,
            times: 0,
            failed: None,
            ended: None,
        }
    }

    fn next(&self) -> Next {
        if let Some(state) = self.ended {
            return Next::End(state);
        }
        match (self.held, self.failed) {
            (None, None) => Next::Try(self.whole(self.from)),
            (None, Some(_)) => Next::End(FindState::NeverHeld),
            (Some(held), None) if held >= self.whole(self.to) => self.confirm(held),
            (Some(held), None) => Next::Try(self.whole((held * 2.0).min(self.to))),
            (Some(held), Some(failed)) => {
                let middle = self.between(held, failed);
                let narrow = failed <= held * (1.0 + self.precision);
                if narrow || middle <= held || middle >= failed {
                    self.confirm(held)
                } else {
                    Next::Try(middle)
                }
            }
        }
    }

    fn confirm(&self, held: f64) -> Next {
        match (self.times, self.failed) {
            (..2, _) => Next::Try(held),
            (_, Some(_)) => Next::End(FindState::Found),
            (_, None) => Next::End(FindState::NeverFailed),
        }
    }

    fn take(&mut self, value: f64, outcome: FindOutcome) {
        let again = self.held == Some(value);
        match outcome {
            FindOutcome::Held => {
                self.times = if again { self.times + 1 } else { 1 };
                self.held = Some(value);
            }
            FindOutcome::Failed => {
                self.failed = Some(value);
                if again {
                    // It had held by luck: look below, where nothing is known.
                    self.times = 0;
                    self.held = self.below(value);
                }
            }
            FindOutcome::GeneratorLimited => self.ended = Some(FindState::GeneratorLimited),
            FindOutcome::TooFewSamples => self.ended = Some(FindState::TooFewSamples),
        }
    }

    fn between(&self, held: f64, failed: f64) -> f64 {
        let middle = self.whole((held * failed).sqrt());
        match self.over {
            Over::Users => middle.max(held + 1.0),
            Over::Rate => middle,
        }
    }

    fn below(&self, value: f64) -> Option<f64> {
        let below = self.whole(value / (1.0 + 2.0 * self.precision));
        (below >= self.from && below < value).then_some(below)
    }

    /// Users come in whole numbers.
    fn whole(&self, value: f64) -> f64 {
        match self.over {
            Over::Users => value.floor().max(1.0),
            Over::Rate => value,
        }
    }

    fn message(&self, state: FindState, job: &FindJob) -> String {
        let what = match job.over {
            Over::Rate => "operations a second",
            Over::Users => "users",
        };
        let number = |value: Option<f64>| match (value, job.over) {
            (None, _) => "nothing".to_owned(),
            (Some(value), Over::Users) => format!("{value:.0}"),
            (Some(value), Over::Rate) => format!("{value:.4}"),
        };
        let (held, failed) = (number(self.held), number(self.failed));
        match state {
            FindState::Found => format!("{held} {what} hold the limits, {failed} do not"),
            FindState::NeverHeld => format!("not even {failed} {what} hold the limits"),
            FindState::NeverFailed => {
                format!("{held} {what} hold the limits; more was not asked for")
            }
            FindState::GeneratorLimited => format!(
                "the generator reached its own limit above {held} {what}: the target may do more"
            ),
            FindState::TooFewSamples => {
                "a step had too few samples for a limit: make the window longer".to_owned()
            }
            FindState::Cancelled => format!("ended on request; {held} {what} had held"),
        }
    }
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
