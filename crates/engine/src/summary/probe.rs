//! What is left of probes when they are over.

use std::fmt::Write;

use steelyard_wire::result::{Latency, LoadResult, WarningKind};

use super::{time, write_errors};

const HEAD: [&str; 7] = ["min", "mean", "p50", "p90", "p99", "max", "samples"];

/// Counts, the two times of an operation, its phases, failures, and warnings if there are any.
///
/// `phases` in the order in which they are to stand.
pub(crate) fn of_probes(result: &LoadResult, phases: &[&str]) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_all(&mut text, result, phases);
    text
}

fn write_all(text: &mut String, result: &LoadResult, phases: &[&str]) -> std::fmt::Result {
    let (target, counts) = (&result.target, &result.counts);
    writeln!(text, "\n{} ({})", target.url, target.address)?;
    write!(
        text,
        "{} sent = {} ok + {} failed + {} in flight at the end",
        counts.sent, counts.ok, counts.errors, counts.inflight_at_stop
    )?;
    if counts.unsent > 0 {
        write!(text, "; {} unsent: all connections waited", counts.unsent)?;
    }
    writeln!(text, "\n")?;
    write!(text, "{:<16}", "")?;
    for name in HEAD {
        write!(text, "{name:>11}")?;
    }
    writeln!(text)?;
    for (name, latency) in rows(result, phases) {
        write_row(text, name, latency)?;
    }
    write_errors(text, result)?;
    write_warnings(text, result)
}

fn rows<'a>(
    result: &'a LoadResult,
    phases: &'a [&str],
) -> impl Iterator<Item = (&'a str, &'a Latency)> {
    let of = |name: &str| result.latency_ns.get(name);
    let totals = ["response", "service"].map(|name| (name, of(name)));
    let phases = phases
        .iter()
        .map(move |name| (*name, of(&format!("phase.{name}"))));
    (totals.into_iter().chain(phases))
        .filter_map(|(name, latency)| Some((name, latency?)))
        .filter(|(_, latency)| latency.count > 0)
}

/// `-` stands for a percentile with too few samples above it.
fn write_row(text: &mut String, name: &str, latency: &Latency) -> std::fmt::Result {
    write!(text, "{name:<16}")?;
    let mean = latency.mean.map(|mean| mean.round() as u64);
    for value in [
        latency.min,
        mean,
        latency.p50,
        latency.p90,
        latency.p99,
        latency.max,
    ] {
        write!(text, "{:>11}", value.map_or("-".to_owned(), time))?;
    }
    writeln!(text, "{:>11}", latency.count)
}

/// Few samples and an end on request are usual for probes.
fn write_warnings(text: &mut String, result: &LoadResult) -> std::fmt::Result {
    let usual = |kind: &WarningKind| {
        matches!(
            kind,
            WarningKind::TooFewSamples { .. } | WarningKind::Cancelled {}
        )
    };
    let warnings = result.verdict.warnings.iter();
    let warnings: Vec<_> = warnings.filter(|warning| !usual(&warning.kind)).collect();
    if warnings.is_empty() {
        return Ok(());
    }
    writeln!(text, "\nread these figures with the warnings below")?;
    for warning in warnings {
        writeln!(text, "  {}: {warning}", warning.kind.name())?;
    }
    Ok(())
}
