//! From what workers measured to the result document.

use std::collections::BTreeMap;

use steelyard_wire::job::Mode;
use steelyard_wire::result::{
    Cpu, HostClient, Latency, Load, LoadResult, Rates, Target as TargetFacts, Tool,
};

use crate::conduct::Outcome;
use crate::fault::FaultTable;
use crate::histogram::Phase;
use crate::plan::Plan;
use crate::recorder::Recorder;
use crate::series;
use crate::target::Target;
use crate::verdict::{self, Evidence, Little};
use crate::worker::Report;

/// What the protocol says about the run.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Names of its phases.
    pub phases: &'static [&'static str],
    /// Connections come and go with operations.
    pub one_shot: bool,
}

/// The result of a run.
pub fn result(
    plan: &Plan,
    target: &Target,
    host: HostClient,
    about: About,
    outcome: Outcome,
) -> LoadResult {
    let window_end_ns = outcome
        .reports
        .iter()
        .map(|report| report.window_end_ns)
        .max()
        .unwrap_or(0);
    let window_ns = window_end_ns.saturating_sub(outcome.window_start_ns).max(1);
    let achieved = outcome
        .reports
        .iter()
        .map(|report| report.most_established)
        .sum::<u32>();
    let cpu = cpu(&outcome, window_ns);
    let workers = outcome.reports.len() as u32;
    let Some((all, rows)) = merged(outcome.reports) else {
        unreachable!("a plan has at least one worker")
    };
    let evidence = Evidence {
        counts: all.counts.clone(),
        errors_by_kind: all.errors.total(),
        window_ns,
        busiest_worker_ratio: cpu.busiest_worker_ratio,
        lag_p99_ns: all.lag.percentile_ns(9_900).or(all.lag.max_ns()),
        response_p50_ns: all.responses().percentile_ns(5_000),
        rate_asked_per_s: rate_asked(plan),
        connections: (!about.one_shot).then_some((plan.connections(), achieved)),
        steal_ratio: outcome.steal_ratio,
        run_delay_ns: cpu.run_delay_ns,
        workers,
        little: little(plan, &all, about),
        cancelled: outcome.cancelled,
    };
    LoadResult {
        schema: steelyard_wire::RESULT_SCHEMA.to_owned(),
        tool: tool(),
        host_client: host,
        target: TargetFacts {
            url: target.url.clone(),
            address: target.address.to_string(),
        },
        load: Load {
            job: plan.job.clone(),
            connections_asked: plan.connections(),
            connections_achieved: achieved,
            window_ns,
            window_started_unix_ns: outcome.window_start_unix_ns,
            window_start_monotonic_ns: outcome.window_start_ns,
            window_end_monotonic_ns: outcome.window_start_ns + window_ns,
        },
        errors: named(&all.errors, about),
        connection_errors: named(&all.connection_errors, about),
        rates: rates(&all, window_ns),
        latency_ns: latencies(&all, about),
        counts: all.counts.clone(),
        series: series::merge(rows, window_ns),
        operations: BTreeMap::new(),
        payload: None,
        tls: None,
        stream: None,
        parts: BTreeMap::new(),
        verdict: verdict::judge(&evidence),
        cpu: Cpu {
            ns_per_operation: per_operation(&cpu, all.counts.ok_in_window),
            ..cpu
        },
    }
}

/// Everything of all workers in one recorder, and the series of each.
fn merged(reports: Vec<Report>) -> Option<(Recorder, Vec<series::Series>)> {
    let mut recorders = reports.into_iter().map(|report| report.recorder);
    let mut all = recorders.next()?;
    let mut rows = Vec::new();
    for other in recorders {
        all.add(&other);
        rows.push(other.series);
    }
    let own = std::mem::replace(&mut all.series, series::Series::new(1));
    rows.insert(0, own);
    Some((all, rows))
}

fn tool() -> Tool {
    Tool {
        name: "steelyard-engine".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        engine: "epoll".to_owned(),
    }
}

fn cpu(outcome: &Outcome, window_ns: u64) -> Cpu {
    let meters = || outcome.reports.iter().map(|report| &report.meter);
    let busiest = meters()
        .map(crate::meter::Meter::busy_ns)
        .max()
        .unwrap_or(0);
    Cpu {
        user_ns: meters().map(|meter| meter.cpu.user_ns).sum(),
        system_ns: meters().map(|meter| meter.cpu.system_ns).sum(),
        spin_ns: meters()
            .map(|meter| meter.spin_ns.min(meter.cpu.total_ns()))
            .sum(),
        ns_per_operation: None,
        busiest_worker_ratio: busiest as f64 / window_ns as f64,
        run_delay_ns: meters().map(|meter| meter.run_delay_ns).sum(),
        steal_ratio: outcome.steal_ratio,
    }
}

fn per_operation(cpu: &Cpu, operations: u64) -> Option<f64> {
    let busy = (cpu.user_ns + cpu.system_ns).saturating_sub(cpu.spin_ns);
    (operations > 0).then(|| busy as f64 / operations as f64)
}

fn rates(all: &Recorder, window_ns: u64) -> Rates {
    let a_second = |count: u64| count as f64 * 1e9 / window_ns as f64;
    Rates {
        intended_per_s: a_second(all.counts.intended),
        sent_per_s: a_second(all.counts.sent),
        ok_per_s: a_second(all.counts.ok_in_window),
        bytes_in_per_s: a_second(all.counts.bytes_in),
        bytes_out_per_s: a_second(all.counts.bytes_out),
    }
}

fn rate_asked(plan: &Plan) -> Option<f64> {
    match plan.job.mode {
        Mode::Open { rate_per_s, .. } => Some(rate_per_s),
        Mode::Closed { .. } => None,
    }
}

fn little(plan: &Plan, all: &Recorder, about: About) -> Option<Little> {
    let Mode::Closed {
        users,
        think_time_ns,
    } = plan.job.mode
    else {
        return None;
    };
    // Failures, reconnects and good-byes take time that no distribution holds.
    let steady =
        all.counts.errors == 0 && all.counts.connects == 0 && plan.job.operations.is_none();
    if about.one_shot || !steady {
        return None;
    }
    Some(Little {
        users: f64::from(users),
        round_ns: all.service.mean_ns()? + all.lateness.mean_ns()? + think_time_ns as f64,
    })
}

fn latencies(all: &Recorder, about: About) -> BTreeMap<String, Latency> {
    let totals = [
        ("response", all.responses()),
        ("service", &all.service),
        ("lateness", &all.lateness),
        ("lag", &all.lag),
        ("errors", &all.failed),
        ("warm_up", &all.warm_up),
    ];
    let mut latencies: BTreeMap<String, Latency> = totals
        .into_iter()
        .map(|(name, total)| (name.to_owned(), total.latency()))
        .collect();
    latencies.extend(phases("phase", &all.phases, about));
    latencies.extend(phases("ramp", &all.ramp, about).filter(|(_, latency)| latency.count > 0));
    latencies
}

fn phases<'a>(
    prefix: &'a str,
    all: &'a [Phase],
    about: About,
) -> impl Iterator<Item = (String, Latency)> + 'a {
    about
        .phases
        .iter()
        .zip(all)
        // In clear text there is no such phase.
        .filter(|(name, phase)| **name != "tls" || phase.count() > 0)
        .map(move |(name, phase)| (format!("{prefix}.{name}"), phase.latency()))
}

fn named(table: &FaultTable, about: About) -> BTreeMap<String, BTreeMap<String, u64>> {
    let mut names: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for (phase, kind, count) in table.entries() {
        let kinds = names.entry(about.phases[phase].to_owned()).or_default();
        kinds.insert(kind.word().to_owned(), count);
    }
    names
}
