//! From the results of several generators that drove one job to the result of all of them.
//!
//! Counts and histograms are added and every figure is computed from the sums, as it is for the
//! workers of one generator: the result is the one that a single generator with all these workers
//! would have given.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use steelyard_wire::job::{LoadJob, Mode, TlsOptions};
use steelyard_wire::result::{
    Counts, Cpu, KindFigures, Latency, Load, LoadResult, Mail, Mergeable, Payload, Target, Tls,
    WarningKind,
};

use crate::error::LoadError;
use crate::measurement::histogram::FineHistogram;
use crate::measurement::recorder::add_counts;
use crate::measurement::series;
use crate::protocols::mailboxes::MailFigures;
use crate::report::verdict::{self, Evidence};
use crate::report::{figures, little, per_operation, rates};

type Distributions = BTreeMap<String, FineHistogram>;
type Counted = BTreeMap<String, BTreeMap<String, u64>>;

/// The result of one generator, and what it tells besides.
struct Part<'a> {
    number: u32,
    result: &'a LoadResult,
    behind: &'a Mergeable,
}

/// The result of all generators of a job, of which there is one from each.
///
/// Their moments must be those of one clock. The job, the machine and the first reply to what
/// failed are those of the first.
pub fn merge(results: &[LoadResult]) -> Result<LoadResult, LoadError> {
    let parts = parts(results)?;
    let Some(first) = parts.first().map(|part| part.result) else {
        return Err(not_one_job());
    };
    let latency_ns = distributions(parts.iter().map(|part| &part.result.latency_ns))?;
    let load = load(&parts, first);
    let counts = counts(&parts);
    let cpu = cpu(&parts, &counts);
    let errors = counted(parts.iter().map(|part| &part.result.errors));
    let mut verdict = verdict::judge(&evidence(
        &parts,
        &load,
        &counts,
        &cpu,
        &latency_ns,
        total(&errors),
    ));
    let each = parts.iter().map(|part| (part.number, part.result));
    verdict::include_generators(&mut verdict, each);
    Ok(LoadResult {
        schema: first.schema.clone(),
        tool: first.tool.clone(),
        host_client: first.host_client.clone(),
        target: target(&parts, first),
        errors,
        connection_errors: counted(parts.iter().map(|part| &part.result.connection_errors)),
        ramp_errors: counted(parts.iter().map(|part| &part.result.ramp_errors)),
        refusals: summed(parts.iter().map(|part| &part.result.refusals)),
        replies: replies(&parts),
        rates: rates(&counts, load.window_ns),
        latency_ns: latencies(&latency_ns),
        operations: operations(&parts)?,
        payload: payload(&parts),
        mail: mail(&parts),
        tls: tls(&parts),
        series: series(&parts)?,
        stream: None,
        parts: BTreeMap::new(),
        mergeable: None,
        verdict,
        counts,
        load,
        cpu,
    })
}

/// In the order of their numbers, one for each generator of the same job.
fn parts(results: &[LoadResult]) -> Result<Vec<Part<'_>>, LoadError> {
    let mut parts = Vec::new();
    for result in results {
        let place = result.load.job.generator.ok_or_else(not_one_job)?;
        let behind = result.mergeable.as_ref().ok_or_else(not_one_job)?;
        let alike = what_is_driven(&result.load.job) == what_is_driven(&results[0].load.job);
        if place.of as usize != results.len() || !alike {
            return Err(not_one_job());
        }
        parts.push(Part {
            number: place.number,
            result,
            behind,
        });
    }
    parts.sort_by_key(|part| part.number);
    let complete = (1..)
        .zip(&parts)
        .all(|(number, part)| number == part.number);
    if complete {
        Ok(parts)
    } else {
        Err(not_one_job())
    }
}

/// The job without what differs from machine to machine.
fn what_is_driven(job: &LoadJob) -> LoadJob {
    LoadJob {
        target: String::new(),
        threads: 0,
        tls: TlsOptions::default(),
        sources: Vec::new(),
        start_at_monotonic_ns: None,
        generator: None,
        ..job.clone()
    }
}

fn not_one_job() -> LoadError {
    LoadError::bad_job(
        "these are not the results of all generators of one job",
        "give one of each, with `generator` in its job",
    )
}

fn load(parts: &[Part<'_>], first: &LoadResult) -> Load {
    let each = || parts.iter().map(|part| &part.result.load);
    let start_ns = each().map(|load| load.window_start_monotonic_ns).min();
    let start_ns = start_ns.unwrap_or_default();
    let window_ns = each().map(|load| load.window_ns).max().unwrap_or(1);
    Load {
        job: LoadJob {
            threads: each().map(|load| load.job.threads).sum(),
            generator: None,
            ..first.load.job.clone()
        },
        connections_asked: each().map(|load| load.connections_asked).sum(),
        connections_achieved: each().map(|load| load.connections_achieved).sum(),
        window_ns,
        window_started_unix_ns: first.load.window_started_unix_ns,
        window_start_monotonic_ns: start_ns,
        window_end_monotonic_ns: start_ns + window_ns,
        first_sent_monotonic_ns: each().filter_map(|load| load.first_sent_monotonic_ns).min(),
    }
}

fn counts(parts: &[Part<'_>]) -> Counts {
    let mut all = Counts::default();
    for part in parts {
        add_counts(&mut all, &part.result.counts);
    }
    all
}

fn cpu(parts: &[Part<'_>], counts: &Counts) -> Cpu {
    let each = || parts.iter().map(|part| &part.result.cpu);
    let cpu = Cpu {
        user_ns: each().map(|cpu| cpu.user_ns).sum(),
        system_ns: each().map(|cpu| cpu.system_ns).sum(),
        spin_ns: each().map(|cpu| cpu.spin_ns).sum(),
        ns_per_operation: None,
        busiest_worker_ratio: each()
            .map(|cpu| cpu.busiest_worker_ratio)
            .fold(0.0, f64::max),
        run_delay_ns: each().map(|cpu| cpu.run_delay_ns).sum(),
        steal_ratio: each().filter_map(|cpu| cpu.steal_ratio).reduce(f64::max),
    };
    Cpu {
        ns_per_operation: per_operation(&cpu, counts.ok_in_window),
        ..cpu
    }
}

fn evidence(
    parts: &[Part<'_>],
    load: &Load,
    counts: &Counts,
    cpu: &Cpu,
    latency_ns: &Distributions,
    errors_by_kind: u64,
) -> Evidence {
    let of = |name: &str| latency_ns.get(name);
    let lag = of("lag");
    // Of all, or not known of all.
    let slots = parts.iter().map(|part| part.behind.slots).min().flatten();
    let round: Vec<&FineHistogram> = [of("service"), of("lateness")]
        .into_iter()
        .flatten()
        .collect();
    let unbounded = matches!(
        load.job.mode,
        Mode::Open {
            unbounded: true,
            ..
        }
    );
    let cancelled = |part: &Part<'_>| {
        let warnings = &part.result.verdict.warnings;
        warnings
            .iter()
            .any(|each| each.kind == WarningKind::Cancelled {})
    };
    Evidence {
        counts: counts.clone(),
        errors_by_kind,
        window_ns: load.window_ns,
        busiest_worker_ratio: cpu.busiest_worker_ratio,
        lag_p99_ns: lag.and_then(|lag| lag.percentile_ns(9_900).or(lag.max_ns())),
        response_p50_ns: of("response").and_then(|all| all.percentile_ns(5_000)),
        rate_asked_per_s: match load.job.mode {
            Mode::Open { rate_per_s, .. } => Some(rate_per_s),
            Mode::Closed { .. } => None,
        },
        connections: slots
            .filter(|_| !unbounded)
            .map(|_| (load.connections_asked, load.connections_achieved)),
        steal_ratio: cpu.steal_ratio,
        run_delay_ns: cpu.run_delay_ns,
        workers: load.job.threads,
        little: little(&load.job, load.connections_asked, slots, counts, &round),
        cancelled: parts.iter().any(cancelled),
    }
}

fn distributions<'a>(
    named: impl Iterator<Item = &'a BTreeMap<String, Latency>>,
) -> Result<Distributions, LoadError> {
    let mut all = Distributions::new();
    for (name, latency) in named.flatten() {
        add(&mut all, name, latency)?;
    }
    Ok(all)
}

fn add(all: &mut Distributions, name: &str, latency: &Latency) -> Result<(), LoadError> {
    let own = FineHistogram::read(latency).ok_or_else(|| unread(name))?;
    if let Some(known) = all.get_mut(name) {
        known.add(&own);
    } else {
        all.insert(name.to_owned(), own);
    }
    Ok(())
}

fn unread(name: &str) -> LoadError {
    LoadError::bad_job(
        format!("the distribution of {name} cannot be read"),
        "was the result changed on its way?",
    )
}

fn latencies(all: &Distributions) -> BTreeMap<String, Latency> {
    all.iter()
        .map(|(name, distribution)| (name.clone(), distribution.latency()))
        .collect()
}

fn operations(parts: &[Part<'_>]) -> Result<BTreeMap<String, KindFigures>, LoadError> {
    let mut times = Distributions::new();
    let mut ended: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (name, kind) in parts.iter().flat_map(|part| &part.result.operations) {
        add(&mut times, name, &kind.latency_ns)?;
        let (ok, errors) = ended.entry(name).or_default();
        *ok += kind.ok;
        *errors += kind.errors;
    }
    let figures = |(name, times): (&String, &FineHistogram)| {
        let (ok, errors) = ended.get(name.as_str()).copied().unwrap_or_default();
        let latency_ns = times.latency();
        let kind = KindFigures {
            ok,
            errors,
            latency_ns,
        };
        (name.clone(), kind)
    };
    Ok(times.iter().map(figures).collect())
}

fn series(parts: &[Part<'_>]) -> Result<Vec<steelyard_wire::result::SeriesRow>, LoadError> {
    let mut rows = Vec::new();
    for part in parts {
        let decoded = part.behind.rows_b64.iter().map(|row| STANDARD.decode(row));
        let packed: Result<Vec<_>, _> = decoded.collect();
        let packed = packed.map_err(|_| unread("the series"))?;
        rows.push((part.result.series.as_slice(), packed));
    }
    Ok(series::join(&rows))
}

fn summed<'a>(counts: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (name, count) in counts.flatten() {
        *all.entry(name.clone()).or_default() += count;
    }
    all
}

fn counted<'a>(tables: impl Iterator<Item = &'a Counted>) -> Counted {
    let mut all = Counted::new();
    for (phase, kinds) in tables.flatten() {
        let known = all.entry(phase.clone()).or_default();
        for (kind, count) in kinds {
            *known.entry(kind.clone()).or_default() += count;
        }
    }
    all
}

fn total(errors: &Counted) -> u64 {
    errors.values().flat_map(BTreeMap::values).sum()
}

fn replies(parts: &[Part<'_>]) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut all: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (phase, kinds) in parts.iter().flat_map(|part| &part.result.replies) {
        let known = all.entry(phase.clone()).or_default();
        for (kind, text) in kinds {
            known.entry(kind.clone()).or_insert_with(|| text.clone());
        }
    }
    all
}

fn payload(parts: &[Part<'_>]) -> Option<Payload> {
    let each = parts.iter().filter_map(|part| part.result.payload.clone());
    each.reduce(|all, one| figures::sum(&all, &one))
}

fn mail(parts: &[Part<'_>]) -> Option<Mail> {
    let read = |part: &Part<'_>| {
        let mail = part.result.mail.as_ref()?;
        Some(MailFigures::read(mail, part.behind))
    };
    let each = parts.iter().filter_map(read);
    each.reduce(MailFigures::plus).map(MailFigures::result)
}

fn tls(parts: &[Part<'_>]) -> Option<Tls> {
    let each: Vec<&Tls> = (parts.iter())
        .filter_map(|part| part.result.tls.as_ref())
        .collect();
    let first = each.first()?;
    Some(Tls {
        versions: summed(each.iter().map(|tls| &tls.versions)),
        ciphers: summed(each.iter().map(|tls| &tls.ciphers)),
        resumed: each.iter().map(|tls| tls.resumed).sum(),
        verified: first.verified,
    })
}

/// Generators may have found the same server at different addresses.
fn target(parts: &[Part<'_>], first: &LoadResult) -> Target {
    let addresses: BTreeSet<&str> = (parts.iter())
        .map(|part| part.result.target.address.as_str())
        .collect();
    Target {
        url: first.target.url.clone(),
        address: addresses.into_iter().collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
