//! The result of a run as text: figures first, the generator's own verdict last.

mod probe;
mod stream;

use std::collections::BTreeMap;
use std::fmt::Write;

use steelyard_wire::job::Mode;
use steelyard_wire::result::{Latency, LoadResult, VerdictState};

pub(crate) use probe::of_probes;

const LATENCY_HEAD: [&str; 7] = ["p50", "p90", "p95", "p99", "p99.9", "max", "samples"];

/// Everything a person needs to judge a run.
pub(crate) fn summary(result: &LoadResult, interrupted: bool) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_all(&mut text, result, interrupted);
    text
}

fn write_all(text: &mut String, result: &LoadResult, interrupted: bool) -> std::fmt::Result {
    write_load(text, result)?;
    if let Some(moved) = &result.stream {
        stream::write(text, result, moved)?;
    } else {
        write_counts(text, result)?;
        write_latencies(text, result)?;
    }
    write_errors(text, result)?;
    write_cpu(text, result)?;
    write_verdict(text, result, interrupted)
}

fn write_load(text: &mut String, result: &LoadResult) -> std::fmt::Result {
    let target = &result.target;
    let job = &result.load.job;
    writeln!(text, "target      {} ({})", target.url, target.address)?;
    let how = match &job.mode {
        _ if result.stream.is_some() => stream::load(result),
        Mode::Closed {
            users,
            think_time_ns: 0,
        } => format!("{users} users"),
        Mode::Closed {
            users,
            think_time_ns,
        } => {
            format!("{users} users who think for {}", time(*think_time_ns))
        }
        Mode::Open {
            rate_per_s,
            connections,
            arrival,
            ..
        } => {
            let arrival = format!("{arrival:?}").to_lowercase();
            format!("{rate_per_s} a second ({arrival}) on {connections} connections")
        }
    };
    let window_s = result.load.window_ns as f64 / 1e9;
    let warmup = match job.warmup_ns {
        0 => String::new(),
        ns => format!(" after {} of warm-up", time(ns)),
    };
    let threads = if job.threads == 1 {
        "thread"
    } else {
        "threads"
    };
    writeln!(
        text,
        "load        {how}, {} {threads}, {window_s:.2} s{warmup}",
        job.threads
    )
}

fn write_counts(text: &mut String, result: &LoadResult) -> std::fmt::Result {
    let (rates, counts) = (&result.rates, &result.counts);
    writeln!(
        text,
        "throughput  {:.1} operations/s; {} in, {} out",
        rates.ok_per_s,
        bytes_rate(rates.bytes_in_per_s),
        bytes_rate(rates.bytes_out_per_s)
    )?;
    writeln!(
        text,
        "operations  {} intended = {} unsent + {} sent; sent = {} ok + {} failed + {} in flight at the end",
        counts.intended,
        counts.unsent,
        counts.sent,
        counts.ok,
        counts.errors,
        counts.inflight_at_stop
    )?;
    writeln!(
        text,
        "connections {} of {} at once; {} opened in the window",
        result.load.connections_achieved, result.load.connections_asked, counts.connects
    )
}

fn write_latencies(text: &mut String, result: &LoadResult) -> std::fmt::Result {
    let totals = ["response", "service", "lateness", "errors"];
    write_head(text, "latency")?;
    for name in totals {
        if let Some(latency) = result.latency_ns.get(name) {
            write_latency(text, name, latency)?;
        }
    }
    write_head(text, "phase")?;
    for (name, latency) in &result.latency_ns {
        if let Some(phase) = name.strip_prefix("phase.") {
            write_latency(text, phase, latency)?;
        }
    }
    Ok(())
}

fn write_head(text: &mut String, first: &str) -> std::fmt::Result {
    write!(text, "\n{first:<16}")?;
    for name in LATENCY_HEAD {
        write!(text, "{name:>11}")?;
    }
    writeln!(text)
}

/// `-` stands for a percentile with too few samples above it.
fn write_latency(text: &mut String, name: &str, latency: &Latency) -> std::fmt::Result {
    write!(text, "{name:<16}")?;
    for value in [
        latency.p50,
        latency.p90,
        latency.p95,
        latency.p99,
        latency.p999,
        latency.max,
    ] {
        write!(text, "{:>11}", value.map_or("-".to_owned(), time))?;
    }
    writeln!(text, "{:>11}", latency.count)
}

fn write_errors(text: &mut String, result: &LoadResult) -> std::fmt::Result {
    write_failures(text, "failed operations by phase and kind", &result.errors)?;
    for (code, count) in &result.refusals {
        writeln!(text, "  refused with {code:<26} {count:>10}")?;
    }
    // A user who was turned away while it had nothing to do is in no count of operations.
    for (when, failures) in [
        ("before", &result.ramp_errors),
        ("in", &result.connection_errors),
    ] {
        let title = format!("connections without an operation that failed {when} the window");
        write_failures(text, &title, failures)?;
    }
    Ok(())
}

fn write_failures(
    text: &mut String,
    title: &str,
    failures: &BTreeMap<String, BTreeMap<String, u64>>,
) -> std::fmt::Result {
    if !failures.is_empty() {
        writeln!(text, "\n{title}")?;
    }
    for (phase, kinds) in failures {
        for (kind, count) in kinds {
            writeln!(text, "  {phase:<14} {kind:<24} {count:>10}")?;
        }
    }
    Ok(())
}

fn write_cpu(text: &mut String, result: &LoadResult) -> std::fmt::Result {
    let cpu = &result.cpu;
    let each = cpu.ns_per_operation.filter(|_| result.stream.is_none());
    let each = each.map_or(String::new(), |ns| {
        format!("{} of CPU an operation; ", time(ns.round() as u64))
    });
    writeln!(
        text,
        "\ngenerator   {each}busiest worker {:.0} % of its core",
        cpu.busiest_worker_ratio * 100.0
    )
}

fn write_verdict(text: &mut String, result: &LoadResult, interrupted: bool) -> std::fmt::Result {
    if interrupted {
        writeln!(text, "\nCANCELLED: this is what was measured until then.")?;
    }
    let words = match result.verdict.state {
        VerdictState::Valid => "VALID: no warnings.",
        VerdictState::Suspect => "SUSPECT: read these figures with the warnings below.",
        VerdictState::Invalid => "INVALID: do not use these figures.",
    };
    writeln!(text, "\n{words}")?;
    for warning in &result.verdict.warnings {
        writeln!(text, "  {}: {warning}", warning.kind.name())?;
    }
    Ok(())
}

/// Three significant digits with the unit that fits.
pub(crate) fn time(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (ns as f64 / 1e3, "us"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    let decimals = match value {
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

fn bytes_rate(per_s: f64) -> String {
    match per_s {
        ..1e3 => format!("{per_s:.0} B/s"),
        ..1e6 => format!("{:.1} kB/s", per_s / 1e3),
        ..1e9 => format!("{:.1} MB/s", per_s / 1e6),
        _ => format!("{:.2} GB/s", per_s / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_three_digits_and_the_unit_that_fits() {
        let times = [7, 1_500, 23_456, 999_000, 1_234_567, 12_000_000_000].map(time);
        let expected = ["7 ns", "1.50 us", "23.5 us", "999 us", "1.23 ms", "12.0 s"];
        assert_eq!(times, expected);
    }
}
