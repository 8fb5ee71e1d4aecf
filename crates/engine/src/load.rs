//! `load URL`: one run, progress on stderr, the result on stdout.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ArgMatches;
use serde::Serialize;
use steelyard_load::{LoadError, Progress, Stage};
use steelyard_wire::find::{FindJob, FindState, FindStep};
use steelyard_wire::job::LoadJob;
use steelyard_wire::result::{LoadResult, VerdictState};

use crate::console::{
    INTERRUPTED, NOT_TO_BE_USED, Outcome, clear_progress, document, interrupt_flag, print,
    show_progress, somebody_looks,
};
use crate::failure::from_load;
use crate::job::{Task, task};
use crate::load_args::LoadArgs;
use crate::probe;
use crate::search_summary::{found, step_line};
use crate::summary::summary;
use steelyard_wire::agent::Failure;

/// With `--json` a failure is a document on stdout as well, for programs.
pub(crate) fn run(args: &LoadArgs, given: &ArgMatches) -> Outcome {
    let outcome = drive(args, given);
    if let (true, Err(failed)) = (args.json, &outcome) {
        print(&document(&Failed { failed })?)?;
    }
    outcome
}

#[derive(Serialize)]
struct Failed<'a> {
    failed: &'a Failure,
}

fn drive(args: &LoadArgs, given: &ArgMatches) -> Outcome {
    let cancel = interrupt_flag()?;
    match task(args, given)? {
        Task::Probe(job) => probe::run(&job, args.json, &cancel),
        Task::Run(job) => run_once(&job, args.json, &cancel),
        Task::Find(job) => search(&job, args.json, &cancel),
    }
}

fn run_once(job: &LoadJob, json: bool, cancel: &AtomicBool) -> Outcome {
    let result = watched(|show| steelyard_load::run(job, cancel, show))?;
    let interrupted = cancel.load(Ordering::Relaxed);
    print(&if json {
        document(&result)?
    } else {
        summary(&result, interrupted)
    })?;
    Ok(exit_code(&result, interrupted))
}

fn search(job: &FindJob, json: bool, cancel: &AtomicBool) -> Outcome {
    let mut print_step = |step: &FindStep| {
        clear_progress();
        eprint!("{}", step_line(step));
    };
    let result = watched(|show| steelyard_load::find(job, cancel, show, &mut print_step))?;
    print(&if json {
        document(&result)?
    } else {
        found(&result)
    })?;
    Ok(match result.state {
        FindState::Found | FindState::NeverFailed => ExitCode::SUCCESS,
        FindState::Cancelled => ExitCode::from(INTERRUPTED),
        _ => ExitCode::from(NOT_TO_BE_USED),
    })
}

/// Shows how it goes while somebody looks.
fn watched<T>(
    work: impl FnOnce(Option<&(dyn Fn(Progress) + Sync)>) -> Result<T, LoadError>,
) -> Result<T, Failure> {
    let show: &(dyn Fn(Progress) + Sync) = &|progress| show_progress(&progress_line(&progress));
    let watched = somebody_looks();
    let result = work(watched.then_some(show));
    if watched {
        clear_progress();
    }
    result.map_err(|error| from_load(&error))
}

/// A stream without probes has no operations; its verdict says whether it moved anything.
fn nothing_done(result: &LoadResult) -> bool {
    result.counts.ok == 0 && result.stream.is_none()
}

/// Failed operations alone are a finding, not a failure of the run; a run without any success is.
fn exit_code(result: &LoadResult, interrupted: bool) -> ExitCode {
    if interrupted {
        ExitCode::from(INTERRUPTED)
    } else if result.verdict.state == VerdictState::Invalid || nothing_done(result) {
        ExitCode::from(NOT_TO_BE_USED)
    } else {
        ExitCode::SUCCESS
    }
}

fn progress_line(progress: &Progress) -> String {
    let stage = match progress.stage {
        Stage::Connecting => "connecting",
        Stage::Warmup => "warm-up",
        Stage::Window => "measuring",
        Stage::Drain => "draining",
    };
    let elapsed_s = progress.elapsed_ns as f64 / 1e9;
    let planned = progress
        .planned_ns
        .map_or(String::new(), |ns| format!(" of {:.1} s", ns as f64 / 1e9));
    format!(
        "{stage} {elapsed_s:.1} s{planned}: {} connections, {} ok, {} failed, {} in flight",
        progress.connections, progress.ok, progress.errors, progress.inflight
    )
}
