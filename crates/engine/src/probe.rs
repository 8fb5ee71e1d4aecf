//! `load --probe`: operations reported one by one while they end, and figures of all at the end.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use steelyard_load::Ended;
use steelyard_net::clock::{monotonic_ns, realtime_ns};
use steelyard_wire::agent::{Failure, FailureKind};
use steelyard_wire::job::{LoadJob, Mode};
use steelyard_wire::probe::{ProbeFigures, ProbeLine, ProbePhase};

use crate::console::{NOT_TO_BE_USED, Outcome, document, put};
use crate::failure::{failure, from_load};
use crate::summary;

/// Probes until the job is done or `cancel` is set; exit code 1 if nothing was answered well.
pub(crate) fn run(job: &LoadJob, json: bool, cancel: &AtomicBool) -> Outcome {
    let (sender, ended) = channel();
    if !json {
        put(&head(job))?;
    }
    let (result, printed) = thread::scope(|scope| {
        let printing = scope.spawn(move || print_each(ended, json, cancel));
        let result = steelyard_load::probe(job, cancel, sender);
        (result, printing.join())
    });
    let broke_off = || failure(FailureKind::System, "the output broke off", None);
    let phases = printed.unwrap_or_else(|_| Err(broke_off()))?;
    let result = result.map_err(|error| from_load(&error))?;
    let answered = result.counts.ok > 0;
    put(&if json {
        document(&ProbeLine::Result(Box::new(result)))?
    } else {
        summary::of_probes(&result, &phases)
    })?;
    Ok(if answered {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NOT_TO_BE_USED)
    })
}

fn head(job: &LoadJob) -> String {
    let every = match job.mode {
        Mode::Open { rate_per_s, .. } => summary::time((1e9 / rate_per_s).round() as u64),
        Mode::Closed { .. } => "answer".to_owned(),
    };
    format!("probing {} every {every}\n", job.target)
}

/// Prints what ends until the run is over; when no one reads any more, the run ends.
///
/// Returns the names of the phases, in the order in which they came first.
fn print_each(
    ended: Receiver<Ended>,
    json: bool,
    cancel: &AtomicBool,
) -> Result<Vec<&'static str>, Failure> {
    let mut phases = Vec::new();
    for operation in ended {
        for (name, _) in &operation.phases {
            if !phases.contains(name) {
                phases.push(*name);
            }
        }
        let figures = figures(&operation);
        let line = if json {
            document(&ProbeLine::Probe(figures))?
        } else {
            line(&figures)
        };
        match put(&line) {
            Ok(true) => {}
            Ok(false) => cancel.store(true, Ordering::Relaxed),
            Err(failure) => {
                cancel.store(true, Ordering::Relaxed);
                return Err(failure);
            }
        }
    }
    Ok(phases)
}

fn figures(ended: &Ended) -> ProbeFigures {
    let ago_ns = monotonic_ns().saturating_sub(ended.sent_ns);
    let phase = |(name, took_ns): &(&str, u64)| ProbePhase {
        name: (*name).to_owned(),
        took_ns: *took_ns,
    };
    ProbeFigures {
        sequence: ended.sequence,
        kind: ended.kind.clone(),
        sent_unix_ns: realtime_ns().saturating_sub(ago_ns),
        outcome: ended.failure.map_or("ok", |(_, why)| why.word()).to_owned(),
        failed_in: ended.failure.map(|(phase, _)| phase.to_owned()),
        response_ns: ended.done_ns.saturating_sub(ended.intended_ns),
        service_ns: ended.done_ns.saturating_sub(ended.sent_ns),
        phases: ended.phases.iter().map(phase).collect(),
    }
}

/// One operation for people.
fn line(figures: &ProbeFigures) -> String {
    let kind = figures.kind.as_ref();
    let kind = kind.map_or(String::new(), |kind| format!(" {kind}"));
    let how = match &figures.failed_in {
        None => "ok in".to_owned(),
        Some(phase) => format!("FAILED {} in {phase} after", figures.outcome),
    };
    let phases: Vec<String> = (figures.phases.iter())
        .map(|phase| format!("{} {}", phase.name, summary::time(phase.took_ns)))
        .collect();
    let phases = if phases.is_empty() {
        String::new()
    } else {
        format!(": {}", phases.join(", "))
    };
    let took = summary::time(figures.service_ns);
    format!("seq={}{kind} {how} {took}{phases}\n", figures.sequence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Option<&str>, failed_in: Option<&str>, phases: &[(&str, u64)]) -> String {
        line(&ProbeFigures {
            sequence: 3,
            kind: kind.map(str::to_owned),
            sent_unix_ns: 0,
            outcome: if failed_in.is_some() {
                "smtp_5xx"
            } else {
                "ok"
            }
            .to_owned(),
            failed_in: failed_in.map(str::to_owned),
            response_ns: 1_500,
            service_ns: 1_400,
            phases: phases
                .iter()
                .map(|(name, took_ns)| ProbePhase {
                    name: (*name).to_owned(),
                    took_ns: *took_ns,
                })
                .collect(),
        })
    }

    #[test]
    fn a_line_tells_phases_and_a_failure_where_and_why() {
        let phases = [("connect", 900), ("banner", 500)];
        assert_eq!(
            of(None, None, &phases),
            "seq=3 ok in 1.40 us: connect 900 ns, banner 500 ns\n"
        );
        assert_eq!(
            of(Some("h:1"), Some("rcpt"), &phases[..1]),
            "seq=3 h:1 FAILED smtp_5xx in rcpt after 1.40 us: connect 900 ns\n"
        );
        assert_eq!(
            of(None, Some("connect"), &[]),
            "seq=3 FAILED smtp_5xx in connect after 1.40 us\n"
        );
    }
}
