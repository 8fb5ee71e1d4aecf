//! `load URL`: one run, progress on stderr, the result on stdout.

use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clap::ArgMatches;
use steelyard_load::{Progress, Stage};
use steelyard_wire::result::{LoadResult, VerdictState};

use crate::console::{
    INTERRUPTED, NOT_TO_BE_USED, Outcome, clear_progress, interrupt_flag, print, show_progress,
    somebody_looks,
};
use crate::failure::{failure, from_load};
use crate::job::job;
use crate::load_args::LoadArgs;
use crate::summary::summary;
use steelyard_wire::agent::{Failure, FailureKind};

pub(crate) fn run(args: &LoadArgs, given: &ArgMatches) -> Outcome {
    let job = job(args, given)?;
    let cancel = interrupt_flag()?;
    let show: &(dyn Fn(Progress) + Sync) = &|progress| show_progress(&progress_line(&progress));
    let watched = somebody_looks();
    let result = steelyard_load::run(&job, &cancel, watched.then_some(show));
    if watched {
        clear_progress();
    }
    let result = result.map_err(|error| from_load(&error))?;
    let interrupted = cancel.load(Ordering::Relaxed);
    print(&if args.json {
        document(&result)?
    } else {
        summary(&result, interrupted)
    })?;
    Ok(exit_code(&result, interrupted))
}

fn document(result: &LoadResult) -> Result<String, Failure> {
    serde_json::to_string(result)
        .map(|text| text + "\n")
        .map_err(|error| failure(FailureKind::System, error.to_string(), None))
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
        Stage::WarmUp => "warm-up",
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
