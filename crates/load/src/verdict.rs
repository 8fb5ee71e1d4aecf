//! Whether the generator vouches for its figures, and why not.

use std::collections::BTreeMap;

use steelyard_wire::result::{Counts, LoadResult, Reason, Verdict, VerdictState};

use crate::fault::words;

words! {
    /// Why figures are in doubt: a closed list.
    Doubt {
        /// A worker used nearly a whole core: the generator may have been the limit.
        GeneratorBound = "generator_bound",
        /// Operations left later than they were due and could.
        Late = "late",
        /// Fewer operations a second were sent than asked for.
        RateNotReached = "rate_not_reached",
        /// Fewer connections were there than asked for.
        ConnectionsMissing = "connections_missing",
        /// The hypervisor gave CPU time to others.
        Steal = "steal",
        /// Workers were ready to run but had no CPU.
        RunDelay = "run_delay",
        /// Operations were lost or invented by the generator: a defect.
        ConservationBroken = "conservation_broken",
        /// Users, throughput and latency contradict each other.
        LittlesLaw = "littles_law",
        /// Arrivals were dropped because too many waited.
        Overloaded = "overloaded",
        /// Ended before its time, on request.
        Cancelled = "cancelled",
        /// Too few answers for any percentile.
        TooFewSamples = "too_few_samples",
        /// A flow of a stream ended before its time.
        FlowsBroken = "flows_broken",
    }
}

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
}

/// Applies every rule.
pub fn judge(evidence: &Evidence) -> Verdict {
    let rules: [fn(&Evidence) -> Option<Reason>; 11] = [
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
        little,
    ];
    let reasons: Vec<Reason> = rules.iter().filter_map(|rule| rule(evidence)).collect();
    let state = reasons
        .iter()
        .map(|reason| reason.state)
        .max()
        .unwrap_or(VerdictState::Valid);
    Verdict { state, reasons }
}

/// Takes the doubts about the parts of a mix into the verdict on the whole.
pub fn include(verdict: &mut Verdict, parts: &BTreeMap<String, LoadResult>) {
    for (name, part) in parts {
        for reason in &part.verdict.reasons {
            verdict.state = verdict.state.max(reason.state);
            verdict.reasons.push(Reason {
                message: format!("{name}: {}", reason.message),
                ..reason.clone()
            });
        }
    }
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

/// Takes doubts about the flows into the verdict; without probes no operation is missed.
pub fn include_stream(verdict: &mut Verdict, evidence: &StreamEvidence) {
    if !evidence.has_probes {
        let missed = Doubt::TooFewSamples.word();
        verdict.reasons.retain(|reason| reason.kind != missed);
    }
    let rules: [fn(&StreamEvidence) -> Option<Reason>; 3] = [flows_broken, nothing_moved, pace];
    verdict
        .reasons
        .extend(rules.iter().filter_map(|rule| rule(evidence)));
    let states = verdict.reasons.iter().map(|reason| reason.state);
    verdict.state = states.max().unwrap_or(VerdictState::Valid);
}

fn flows_broken(evidence: &StreamEvidence) -> Option<Reason> {
    let StreamEvidence { broken, flows, .. } = evidence;
    (*broken > 0).then_some(())?;
    let message = format!("{broken} of {flows} flows ended before their time");
    reason(VerdictState::Invalid, Doubt::FlowsBroken, message)
}

fn nothing_moved(evidence: &StreamEvidence) -> Option<Reason> {
    (evidence.moved_bytes == 0 && evidence.broken == 0).then_some(())?;
    let message = "not one byte arrived in the window".to_owned();
    reason(VerdictState::Invalid, Doubt::TooFewSamples, message)
}

fn pace(evidence: &StreamEvidence) -> Option<Reason> {
    let asked = evidence.asked_bytes_per_s?;
    let share = evidence.sent_bytes_per_s / asked;
    (share < LEAST_RATE).then_some(())?;
    let message = format!("{:.1} % of {asked} bytes/s were sent", share * 100.0);
    suspect(Doubt::RateNotReached, message)
}

fn suspect(doubt: Doubt, message: String) -> Option<Reason> {
    reason(VerdictState::Suspect, doubt, message)
}

#[allow(
    clippy::unnecessary_wraps,
    reason = "rules end with it and return an option"
)]
fn reason(state: VerdictState, doubt: Doubt, message: String) -> Option<Reason> {
    Some(Reason {
        state,
        kind: doubt.word().to_owned(),
        message,
    })
}

fn conservation(evidence: &Evidence) -> Option<Reason> {
    let c = &evidence.counts;
    if c.intended == c.unsent + c.sent
        && c.sent == c.ok + evidence.errors_by_kind + c.inflight_at_stop
    {
        return None;
    }
    let message = format!(
        "intended {} is not unsent {} + sent {}, or sent is not ok {} + errors {} + in flight {}",
        c.intended, c.unsent, c.sent, c.ok, evidence.errors_by_kind, c.inflight_at_stop
    );
    reason(VerdictState::Invalid, Doubt::ConservationBroken, message)
}

fn cancelled(evidence: &Evidence) -> Option<Reason> {
    evidence.cancelled.then_some(())?;
    suspect(
        Doubt::Cancelled,
        "ended on request; figures are of the time until then".to_owned(),
    )
}

fn samples(evidence: &Evidence) -> Option<Reason> {
    match evidence.counts.ok {
        0 => reason(
            VerdictState::Invalid,
            Doubt::TooFewSamples,
            "no operation was answered well".to_owned(),
        ),
        ok if ok < LEAST_SAMPLES => suspect(
            Doubt::TooFewSamples,
            format!("{ok} answers are too few for a median, which needs {LEAST_SAMPLES}"),
        ),
        _ => None,
    }
}

fn generator_bound(evidence: &Evidence) -> Option<Reason> {
    let busy = evidence.busiest_worker_ratio;
    (busy > MOST_BUSY).then_some(())?;
    let message = format!(
        "a worker used {:.0} % of its core: more threads, or a faster machine",
        busy * 100.0
    );
    suspect(Doubt::GeneratorBound, message)
}

fn late(evidence: &Evidence) -> Option<Reason> {
    let lateness = evidence.lag_p99_ns? as f64;
    let allowed =
        LEAST_LATENESS_NS.max(evidence.response_p50_ns.unwrap_or(0) as f64 * LATENESS_OF_RESPONSE);
    (lateness > allowed).then_some(())?;
    let message = format!(
        "p99 of the generator's own lag is {:.0} us, allowed are {:.0} us (5 % of the median response, at least 50 us)",
        lateness / 1e3,
        allowed / 1e3
    );
    suspect(Doubt::Late, message)
}

fn rate(evidence: &Evidence) -> Option<Reason> {
    let asked = evidence.rate_asked_per_s?;
    let sent = evidence.counts.sent as f64;
    // What arrived by the schedule (random gaps differ from run to run) must have been sent.
    let intended = evidence.counts.intended as f64;
    (sent < LEAST_RATE * intended).then_some(())?;
    let message = format!(
        "{:.1} % of {asked} operations/s were sent",
        100.0 * sent / intended
    );
    suspect(Doubt::RateNotReached, message)
}

fn connections(evidence: &Evidence) -> Option<Reason> {
    let (asked, achieved) = evidence.connections?;
    (achieved < asked).then_some(())?;
    suspect(
        Doubt::ConnectionsMissing,
        format!("{achieved} of {asked} connections were established"),
    )
}

fn overloaded(evidence: &Evidence) -> Option<Reason> {
    let unsent = evidence.counts.unsent;
    (unsent > 0).then_some(())?;
    let message = format!("{unsent} arrivals were never sent; the true response times are longer");
    suspect(Doubt::Overloaded, message)
}

fn steal(evidence: &Evidence) -> Option<Reason> {
    let steal = evidence.steal_ratio?;
    (steal > MOST_STEAL).then_some(())?;
    suspect(
        Doubt::Steal,
        format!(
            "{:.1} % of the machine's CPU time was stolen",
            steal * 100.0
        ),
    )
}

fn run_delay(evidence: &Evidence) -> Option<Reason> {
    let delay = evidence.run_delay_ns? as f64;
    let time = evidence.window_ns as f64 * f64::from(evidence.workers);
    (delay > MOST_RUN_DELAY * time).then_some(())?;
    let message = format!(
        "workers waited for a CPU for {:.1} % of the window",
        100.0 * delay / time
    );
    suspect(Doubt::RunDelay, message)
}

/// Users = throughput x time of a round. The borders of the window cut rounds in two, so that a
/// window must hold many of them.
fn little(evidence: &Evidence) -> Option<Reason> {
    let Little { users, round_ns } = evidence.little?;
    let rounds = evidence.counts.ok_in_window as f64;
    (rounds >= LITTLE_LEAST_PER_USER * users).then_some(())?;
    let present = rounds / evidence.window_ns as f64 * round_ns;
    let tolerance = LITTLE_TOLERANCE.max(2.0 * users / rounds);
    ((present / users - 1.0).abs() > tolerance).then_some(())?;
    let message =
        format!("throughput x time of a round is {present:.2}, but there are {users} users");
    suspect(Doubt::LittlesLaw, message)
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
