//! Whether the generator vouches for its figures, and why not.

use std::collections::BTreeMap;

use steelyard_wire::result::{Counts, LoadResult, Verdict, VerdictState, Warning, WarningKind};

/// Limits of the rules.
const MOST_BUSY: f64 = 0.85;
const LEAST_LATENESS_NS: f64 = 50_000.0;
const LATENESS_OF_RESPONSE: f64 = 0.05;
const LEAST_RATE: f64 = 0.99;
const MOST_STEAL: f64 = 0.01;
const MOST_RUN_DELAY: f64 = 0.05;
const LITTLE_TOLERANCE: f64 = 0.01;
const LITTLE_LEAST_PER_USER: f64 = 100.0;
const LEAST_SAMPLES: u64 = 20;

/// What the rules look at.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// Of the window.
    pub counts: Counts,
    /// Sum over the table of failures, which must be `counts.errors`.
    pub errors_by_kind: u64,
    /// Length of the window.
    pub window_ns: u64,
    /// Busiest worker's share of a core, polling excluded.
    pub busiest_worker_ratio: f64,
    /// 99th percentile (or the largest, if there are too few samples) of the generator's own lag.
    pub lag_p99_ns: Option<u64>,
    /// Median response.
    pub response_p50_ns: Option<u64>,
    /// Asked for (open mode) and for how long it was sent.
    pub rate_asked_per_s: Option<f64>,
    /// Asked for and established; `None` where connections come and go with operations.
    pub connections: Option<(u32, u32)>,
    /// Share of the machine's CPU time.
    pub steal_ratio: Option<f64>,
    /// Sum over workers, and how many those are.
    pub run_delay_ns: Option<u64>,
    /// Worker threads.
    pub workers: u32,
    /// Closed mode without failures or reconnects: what Little's law needs.
    pub little: Option<Little>,
    /// Ended on request.
    pub cancelled: bool,
}

/// A closed system in steady state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Little {
    /// Users.
    pub users: f64,
    /// Mean time of one round: service, lateness and think time.
    pub round_ns: f64,
    /// No round was longer.
    pub longest_round_ns: f64,
}

/// Applies every rule.
pub fn judge(evidence: &Evidence) -> Verdict {
    let rules: [fn(&Evidence) -> Option<Warning>; 11] = [
        conservation,
        cancelled,
        samples,
        generator_bound,
        late,
        rate,
        connections,
        overloaded,
        steal,
        run_delay,
        littles_law,
    ];
    let warnings: Vec<Warning> = rules.iter().filter_map(|rule| rule(evidence)).collect();
    Verdict {
        state: worst(&warnings),
        warnings,
    }
}

fn worst(warnings: &[Warning]) -> VerdictState {
    let states = warnings.iter().map(|warning| warning.state);
    states.max().unwrap_or(VerdictState::Valid)
}

/// Adds the warnings about the parts of a mix to the verdict on the whole.
pub fn include(verdict: &mut Verdict, parts: &BTreeMap<String, LoadResult>) {
    for (name, part) in parts {
        let warnings = part.verdict.warnings.iter();
        verdict.warnings.extend(warnings.map(|warning| Warning {
            part: Some(name.clone()),
            ..warning.clone()
        }));
    }
    verdict.state = worst(&verdict.warnings);
}

/// Adds the warnings of each generator, by its number, to the verdict on all of them.
///
/// That one has few samples is no fault of it: what there was to send was divided.
pub fn include_generators<'a>(
    verdict: &mut Verdict,
    generators: impl Iterator<Item = (u32, &'a LoadResult)>,
) {
    for (number, result) in generators {
        let divided = |warning: &&Warning| match warning.kind {
            WarningKind::TooFewSamples { ok, .. } => ok > 0 || result.counts.intended == 0,
            _ => false,
        };
        let warnings = result.verdict.warnings.iter();
        let own = warnings.filter(|warning| !divided(warning));
        verdict.warnings.extend(own.map(|warning| Warning {
            generator: Some(number),
            ..warning.clone()
        }));
    }
    verdict.state = worst(&verdict.warnings);
}

/// What the rules look at in a stream.
#[derive(Debug, Clone, Default)]
pub struct StreamEvidence {
    /// Directions of flows that ended before their time, of all.
    pub broken: u64,
    /// Directions of flows.
    pub flows: u64,
    /// Bytes of the window that were counted.
    pub moved_bytes: u64,
    /// Operations were asked for beside the flows.
    pub has_probes: bool,
    /// Pace of all flows.
    pub asked_bytes_per_s: Option<f64>,
    /// What senders handed over.
    pub sent_bytes_per_s: f64,
}

/// Adds the warnings about the flows; without probes no operation is missed.
pub fn include_stream(verdict: &mut Verdict, evidence: &StreamEvidence) {
    if !evidence.has_probes {
        let of_samples = |kind: &WarningKind| matches!(kind, WarningKind::TooFewSamples { .. });
        verdict
            .warnings
            .retain(|warning| !of_samples(&warning.kind));
    }
    let rules: [fn(&StreamEvidence) -> Option<Warning>; 3] = [flows_broken, nothing_moved, pace];
    verdict
        .warnings
        .extend(rules.iter().filter_map(|rule| rule(evidence)));
    verdict.state = worst(&verdict.warnings);
}

fn flows_broken(evidence: &StreamEvidence) -> Option<Warning> {
    let StreamEvidence { broken, flows, .. } = *evidence;
    (broken > 0).then(|| invalid(WarningKind::FlowsBroken { broken, flows }))
}

fn nothing_moved(evidence: &StreamEvidence) -> Option<Warning> {
    let nothing = evidence.moved_bytes == 0 && evidence.broken == 0;
    nothing.then(|| invalid(WarningKind::NoBytes {}))
}

fn pace(evidence: &StreamEvidence) -> Option<Warning> {
    let asked_bytes_per_s = evidence.asked_bytes_per_s?;
    let sent_ratio = evidence.sent_bytes_per_s / asked_bytes_per_s;
    (sent_ratio < LEAST_RATE).then(|| {
        suspect(WarningKind::StreamRateNotReached {
            asked_bytes_per_s,
            sent_ratio,
        })
    })
}

fn suspect(kind: WarningKind) -> Warning {
    Warning {
        state: VerdictState::Suspect,
        part: None,
        generator: None,
        kind,
    }
}

fn invalid(kind: WarningKind) -> Warning {
    Warning {
        state: VerdictState::Invalid,
        ..suspect(kind)
    }
}

fn conservation(evidence: &Evidence) -> Option<Warning> {
    let c = &evidence.counts;
    let errors = evidence.errors_by_kind;
    let holds = c.intended == c.unsent + c.sent && c.sent == c.ok + errors + c.inflight_at_stop;
    (!holds).then(|| {
        invalid(WarningKind::ConservationBroken {
            intended: c.intended,
            unsent: c.unsent,
            sent: c.sent,
            ok: c.ok,
            errors,
            inflight_at_stop: c.inflight_at_stop,
        })
    })
}

fn cancelled(evidence: &Evidence) -> Option<Warning> {
    evidence
        .cancelled
        .then(|| suspect(WarningKind::Cancelled {}))
}

fn samples(evidence: &Evidence) -> Option<Warning> {
    let ok = evidence.counts.ok;
    let kind = WarningKind::TooFewSamples {
        ok,
        needed: LEAST_SAMPLES,
    };
    match ok {
        0 => Some(invalid(kind)),
        1..LEAST_SAMPLES => Some(suspect(kind)),
        _ => None,
    }
}

fn generator_bound(evidence: &Evidence) -> Option<Warning> {
    let busiest_worker_ratio = evidence.busiest_worker_ratio;
    (busiest_worker_ratio > MOST_BUSY).then(|| {
        suspect(WarningKind::GeneratorBound {
            busiest_worker_ratio,
        })
    })
}

fn late(evidence: &Evidence) -> Option<Warning> {
    let lag_p99_ns = evidence.lag_p99_ns?;
    let allowed =
        LEAST_LATENESS_NS.max(evidence.response_p50_ns.unwrap_or(0) as f64 * LATENESS_OF_RESPONSE);
    (lag_p99_ns as f64 > allowed).then(|| {
        suspect(WarningKind::Late {
            lag_p99_ns,
            allowed_ns: allowed as u64,
        })
    })
}

fn rate(evidence: &Evidence) -> Option<Warning> {
    let asked_per_s = evidence.rate_asked_per_s?;
    let sent = evidence.counts.sent as f64;
    // What arrived by the schedule (random gaps differ from run to run) must have been sent.
    let intended = evidence.counts.intended as f64;
    (sent < LEAST_RATE * intended).then(|| {
        suspect(WarningKind::RateNotReached {
            asked_per_s,
            sent_ratio: sent / intended,
        })
    })
}

fn connections(evidence: &Evidence) -> Option<Warning> {
    let (asked, achieved) = evidence.connections?;
    (achieved < asked).then(|| suspect(WarningKind::ConnectionsMissing { asked, achieved }))
}

fn overloaded(evidence: &Evidence) -> Option<Warning> {
    let unsent = evidence.counts.unsent;
    (unsent > 0).then(|| suspect(WarningKind::Overloaded { unsent }))
}

fn steal(evidence: &Evidence) -> Option<Warning> {
    let steal_ratio = evidence.steal_ratio?;
    (steal_ratio > MOST_STEAL).then(|| suspect(WarningKind::Steal { steal_ratio }))
}

fn run_delay(evidence: &Evidence) -> Option<Warning> {
    let delay = evidence.run_delay_ns? as f64;
    let time = evidence.window_ns as f64 * f64::from(evidence.workers);
    (delay > MOST_RUN_DELAY * time).then(|| {
        suspect(WarningKind::RunDelay {
            run_delay_ratio: delay / time,
        })
    })
}

/// Users = throughput x time of a round. The borders of the window cut rounds in two, so that a
/// window must hold many of them: each border counts as much as one round of each user too many
/// or too few, which on a busy machine may be the longest.
fn littles_law(evidence: &Evidence) -> Option<Warning> {
    let Little {
        users,
        round_ns,
        longest_round_ns,
    } = evidence.little?;
    let rounds = evidence.counts.ok_in_window as f64;
    (rounds >= LITTLE_LEAST_PER_USER * users).then_some(())?;
    let present = rounds / evidence.window_ns as f64 * round_ns;
    let cut = longest_round_ns / evidence.window_ns as f64;
    let tolerance = LITTLE_TOLERANCE.max(2.0 * users / rounds).max(cut);
    ((present / users - 1.0).abs() > tolerance).then(|| {
        suspect(WarningKind::LittlesLaw {
            users,
            computed_users: present,
        })
    })
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
