//! `sample`: counters of this machine for a while.

use std::fmt::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use steelyard_sampler::Sampler;
use steelyard_wire::agent::FailureKind;
use steelyard_wire::sample::{SampleJob, Samples};

use crate::args::SampleArgs;
use crate::console::{Outcome, interrupt_flag, print};
use crate::failure::{failure, from_sampler};

const NANOSECONDS_IN_MS: u64 = 1_000_000;
/// How soon Ctrl-C is seen.
const GLANCE: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &SampleArgs) -> Outcome {
    let interrupted = interrupt_flag()?;
    let job = SampleJob {
        interval_ms: args.interval / NANOSECONDS_IN_MS,
        processes: args.processes.iter().cloned().collect(),
        disks: args.disks.iter().cloned().collect(),
        cgroups: args.cgroups.iter().cloned().collect(),
        threads: args.threads.iter().cloned().collect(),
    };
    let running = Sampler::start(&job).map_err(|error| from_sampler(&error))?;
    wait(Duration::from_nanos(args.duration), &interrupted);
    let samples = running.stop().map_err(|error| from_sampler(&error))?;
    print(&if args.json {
        let text = serde_json::to_string(&samples);
        text.map_err(|error| failure(FailureKind::System, error.to_string(), None))? + "\n"
    } else {
        table(&samples)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn wait(duration: Duration, interrupted: &AtomicBool) {
    let started = Instant::now();
    while !interrupted.load(Ordering::Relaxed) {
        let left = duration.saturating_sub(started.elapsed());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(GLANCE));
    }
}

/// First and last figure of every column, then what is missing.
fn table(samples: &Samples) -> String {
    let span_ns = samples
        .monotonic_ns
        .last()
        .zip(samples.monotonic_ns.first())
        .map_or(0, |(last, first)| last - first);
    let mut text = format!(
        "{} rows in {:.1} s, {} lost\n\n{:<40} {:>22} {:>22}\n",
        samples.monotonic_ns.len(),
        span_ns as f64 / 1e9,
        samples.rows_lost,
        "column",
        "first",
        "last"
    );
    let figure = |cell: Option<&Option<u64>>| match cell {
        Some(Some(value)) => value.to_string(),
        _ => "-".to_owned(),
    };
    for (name, cells) in &samples.columns {
        let (first, last) = (figure(cells.first()), figure(cells.last()));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<40} {first:>22} {last:>22}");
    }
    if !samples.missing.is_empty() {
        text += "\nmissing:\n";
    }
    for (name, reason) in &samples.missing {
        let _ = writeln!(text, "  {name}: {reason}");
    }
    text
}
