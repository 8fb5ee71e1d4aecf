//! From what workers measured to the result document.

pub mod figures;
pub mod merge;
pub mod verdict;

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use steelyard_wire::job::{LoadJob, Mode};
use steelyard_wire::result::{
    Counts, Cpu, HostClient, KindFigures, Latency, Load, LoadResult, Mergeable, Rates,
    Target as TargetFacts, Tool,
};

use crate::conduct::Outcome;
use crate::conduct::job_workers::About;
use crate::error::LoadError;
use crate::fault::{FaultTable, Replies};
use crate::measurement::histogram::{CoarseHistogram, FineHistogram};
use crate::measurement::log;
use crate::measurement::recorder::{KindRecord, Recorder};
use crate::measurement::series;
use crate::plan::Plan;
use crate::plan::target::Target;
use crate::protocols::mailboxes::MailFigures;
use crate::report::figures::Figures;
use crate::report::verdict::{Evidence, Little};

/// The result of a run; an error if its log cannot be written.
pub fn result(
    plan: &Plan,
    target: &Target,
    host: HostClient,
    about: &About,
    mut outcome: Outcome,
) -> Result<LoadResult, LoadError> {
    let reports = std::mem::take(&mut outcome.reports);
    let mut figures = Figures::of(reports);
    write_log(
        plan,
        &mut figures.all,
        &about.kinds,
        outcome.window_start_ns,
    )?;
    Ok(document(
        plan,
        target_facts(target),
        host,
        about,
        &outcome,
        figures,
    ))
}

pub fn target_facts(target: &Target) -> TargetFacts {
    TargetFacts {
        url: target.url.clone(),
        address: target.address.to_string(),
    }
}

pub fn write_log(
    plan: &Plan,
    all: &mut Recorder,
    kinds: &[String],
    start_ns: u64,
) -> Result<(), LoadError> {
    match (&plan.job.log_file, &mut all.log) {
        (Some(path), Some(rows)) => {
            log::write(path.as_ref(), rows, kinds, start_ns).map_err(|error| LoadError::Log {
                path: path.clone(),
                reason: error.to_string(),
            })
        }
        _ => Ok(()),
    }
}

pub fn document(
    plan: &Plan,
    target: TargetFacts,
    host: HostClient,
    about: &About,
    outcome: &Outcome,
    figures: Figures,
) -> LoadResult {
    let window_ns = figures
        .window_end_ns
        .saturating_sub(outcome.window_start_ns)
        .max(1);
    let cpu = cpu(&figures, outcome, window_ns);
    let evidence = evidence(plan, about, outcome, &figures, &cpu, window_ns);
    let all = &figures.all;
    let (series, packed): (Vec<_>, Vec<_>) =
        series::merge(figures.series, window_ns).into_iter().unzip();
    let several = plan.job.generator.is_some();
    LoadResult {
        schema: steelyard_wire::RESULT_SCHEMA.to_owned(),
        tool: tool(),
        host_client: host,
        target,
        load: Load {
            job: plan.job.clone(),
            connections_asked: plan.own_connections(),
            connections_achieved: figures.most_established,
            window_ns,
            window_started_unix_ns: outcome.window_start_unix_ns,
            window_start_monotonic_ns: outcome.window_start_ns,
            window_end_monotonic_ns: outcome.window_start_ns + window_ns,
            first_sent_monotonic_ns: figures.all.first_sent_ns,
        },
        errors: named(&all.errors, about),
        connection_errors: named(&all.connection_errors, about),
        ramp_errors: named(&all.ramp_errors, about),
        refusals: (all.refusals.iter())
            .map(|(code, count)| (code.to_string(), *count))
            .collect(),
        replies: said(&all.replies, about),
        rates: rates(&all.counts, window_ns),
        latency_ns: latencies(all, about),
        counts: all.counts.clone(),
        operations: kinds(all, about),
        payload: figures.payload,
        mail: figures.mail.map(MailFigures::result),
        tls: figures.tls.result(!plan.job.tls.insecure),
        stream: None,
        parts: BTreeMap::new(),
        verdict: verdict::judge(&evidence),
        cpu: Cpu {
            ns_per_operation: per_operation(&cpu, all.counts.ok_in_window),
            ..cpu
        },
        series,
        mergeable: several.then(|| Mergeable {
            rows_b64: packed.iter().map(|row| STANDARD.encode(row)).collect(),
            slots: slots(about),
            ..figures.mail.map(MailFigures::behind).unwrap_or_default()
        }),
    }
}

/// Operations on one connection at once; `None` where connections come and go with operations.
fn slots(about: &About) -> Option<u32> {
    (!about.one_shot).then_some(about.slots)
}

fn evidence(
    plan: &Plan,
    about: &About,
    outcome: &Outcome,
    figures: &Figures,
    cpu: &Cpu,
    window_ns: u64,
) -> Evidence {
    let all = &figures.all;
    Evidence {
        counts: all.counts.clone(),
        errors_by_kind: all.errors.total(),
        window_ns,
        busiest_worker_ratio: cpu.busiest_worker_ratio,
        lag_p99_ns: all.lag.percentile_ns(9_900).or(all.lag.max_ns()),
        response_p50_ns: all.responses().percentile_ns(5_000),
        rate_asked_per_s: rate_asked(plan),
        connections: (!about.one_shot && !plan.is_unbounded())
            .then_some((plan.own_connections(), figures.most_established)),
        steal_ratio: outcome.steal_ratio,
        run_delay_ns: cpu.run_delay_ns,
        workers: figures.meters.len() as u32,
        little: little(
            &plan.job,
            plan.own_connections(),
            slots(about),
            &all.counts,
            &[&all.service, &all.lateness],
        ),
        cancelled: outcome.cancelled,
    }
}

fn kinds(all: &Recorder, about: &About) -> BTreeMap<String, KindFigures> {
    let used = |record: &&KindRecord| record.ok + record.errors > 0;
    about
        .kinds
        .iter()
        .zip(&all.kinds)
        .filter(|(_, record)| used(record))
        .map(|(name, record)| {
            let figures = KindFigures {
                ok: record.ok,
                errors: record.errors,
                latency_ns: record.responses.latency(),
            };
            (name.clone(), figures)
        })
        .collect()
}

fn tool() -> Tool {
    Tool {
        name: "steelyard-engine".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        engine: "epoll".to_owned(),
    }
}

fn cpu(figures: &Figures, outcome: &Outcome, window_ns: u64) -> Cpu {
    let meters = || figures.meters.iter();
    let busiest = meters()
        .map(crate::measurement::meter::Meter::busy_ns)
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

fn rates(counts: &Counts, window_ns: u64) -> Rates {
    let a_second = |count: u64| count as f64 * 1e9 / window_ns as f64;
    Rates {
        intended_per_s: a_second(counts.intended),
        sent_per_s: a_second(counts.sent),
        ok_per_s: a_second(counts.ok_in_window),
        bytes_in_per_s: a_second(counts.bytes_in),
        bytes_out_per_s: a_second(counts.bytes_out),
    }
}

fn rate_asked(plan: &Plan) -> Option<f64> {
    match plan.job.mode {
        Mode::Open { rate_per_s, .. } => {
            let share = f64::from(plan.job.threads) / f64::from(plan.workers());
            Some(rate_per_s * share)
        }
        Mode::Closed { .. } => None,
    }
}

/// `round` are the distributions that make up a round of a user, besides the time it thinks.
fn little(
    job: &LoadJob,
    users: u32,
    slots: Option<u32>,
    counts: &Counts,
    round: &[&FineHistogram],
) -> Option<Little> {
    let Mode::Closed { think_time_ns, .. } = job.mode else {
        return None;
    };
    let by_count = job.operations.or(job.operations_per_user).is_some();
    // Failures, reconnects and good-byes take time that no distribution holds.
    if counts.errors > 0 || counts.connects > 0 || by_count {
        return None;
    }
    let means: Option<f64> = round.iter().map(|each| each.mean_ns()).sum();
    let longest: Option<u64> = round.iter().map(|each| each.max_ns()).sum();
    Some(Little {
        users: f64::from(users) * f64::from(slots?),
        round_ns: means? + think_time_ns as f64,
        longest_round_ns: (longest? + think_time_ns) as f64,
    })
}

fn latencies(all: &Recorder, about: &About) -> BTreeMap<String, Latency> {
    let totals = [
        ("response", all.responses()),
        ("service", &all.service),
        ("lateness", &all.lateness),
        ("lag", &all.lag),
        ("errors", &all.failed),
        ("warmup", &all.warmup),
    ];
    let mut latencies: BTreeMap<String, Latency> = totals
        .into_iter()
        .map(|(name, total)| (name.to_owned(), total.latency()))
        .collect();
    if all.processing.count() > 0 {
        latencies.insert("processing".to_owned(), all.processing.latency());
    }
    latencies.extend(phases("phase", &all.phases, about));
    latencies.extend(phases("ramp", &all.ramp, about).filter(|(_, latency)| latency.count > 0));
    latencies
}

fn phases<'a>(
    prefix: &'a str,
    all: &'a [CoarseHistogram],
    about: &'a About,
) -> impl Iterator<Item = (String, Latency)> + 'a {
    about
        .phases
        .iter()
        .zip(all)
        // In clear text there is no such phase.
        .filter(|(name, phase)| phase.count() > 0 || !name.ends_with("tls"))
        .map(move |(name, phase)| (format!("{prefix}.{name}"), phase.latency()))
}

fn said(replies: &Replies, about: &About) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut said: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (phase, kind, text) in replies.entries() {
        let kinds = said.entry(about.phases[phase].clone()).or_default();
        kinds.insert(kind.word().to_owned(), text.to_owned());
    }
    said
}

fn named(table: &FaultTable, about: &About) -> BTreeMap<String, BTreeMap<String, u64>> {
    let mut names: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for (phase, kind, count) in table.entries() {
        let kinds = names.entry(about.phases[phase].clone()).or_default();
        kinds.insert(kind.word().to_owned(), count);
    }
    names
}
