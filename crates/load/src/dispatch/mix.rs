//! Several kinds of operations at once: users, or the rate, divided by weight.

use std::collections::BTreeMap;

use steelyard_wire::job::{LoadJob, MixOperation, MixPart, Mode, Operation};
use steelyard_wire::result::{HostClient, LoadResult, Target as TargetFacts};

use crate::conduct::job_workers::About;
use crate::conduct::job_workers::JobWorkers;
use crate::conduct::{Outcome, Watch, conduct};
use crate::dispatch;
use crate::error::LoadError;
use crate::measurement::host;
use crate::plan::Plan;
use crate::report;
use crate::report::figures::Figures;
use crate::report::verdict;

/// Runs every part at the same time in one window.
pub fn run(job: &LoadJob, mix: &MixOperation, watch: &Watch<'_>) -> Result<LoadResult, LoadError> {
    check(mix)?;
    let parts = jobs(job, mix)?
        .iter()
        .map(dispatch::workers)
        .collect::<Result<Vec<JobWorkers>, LoadError>>()?;
    let Some(first) = parts.first() else {
        return Err(no_parts());
    };
    let mut plan = Plan::new(job, first.target.address.clone())?;
    let mut works = Vec::new();
    for workers in &parts {
        works.extend(workers.works(works.len()));
    }
    plan.job.threads = works.len() as u32;
    let host = host::facts();
    let mut outcome = conduct(&plan, watch, works)?;
    let mut reports = std::mem::take(&mut outcome.reports).into_iter();
    let parts = parts.iter().zip(&mix.parts).map(|(workers, part)| {
        let own = reports.by_ref().take(workers.plan.job.threads as usize);
        let outcome = Outcome {
            reports: own.collect(),
            ..outcome
        };
        (part.name.clone(), workers, outcome)
    });
    result(&plan, &host, parts.collect())
}

/// The result of a mix: of all its parts together, with that of each.
fn result(
    plan: &Plan,
    host: &HostClient,
    parts: Vec<(String, &JobWorkers, Outcome)>,
) -> Result<LoadResult, LoadError> {
    let names: Vec<String> = parts.iter().map(|(name, _, _)| name.clone()).collect();
    let mut about = About {
        phases: Vec::new(),
        kinds: Vec::new(),
        // Users of different parts take different times: no law for all of them together.
        one_shot: true,
        slots: 1,
    };
    for (name, workers, _) in &parts {
        let own = workers.about.phases.iter();
        about
            .phases
            .extend(own.map(|phase| format!("{name}.{phase}")));
    }
    let mut results = BTreeMap::new();
    let mut whole: Option<(Outcome, Figures)> = None;
    let mut first_phase = 0;
    for (index, (name, workers, mut outcome)) in parts.into_iter().enumerate() {
        let figures = Figures::of(std::mem::take(&mut outcome.reports));
        let placed = figures
            .clone()
            .placed(first_phase, about.phases.len(), index as u32);
        first_phase += workers.about.phases.len();
        let target = report::target_facts(&workers.target);
        let part = report::document(
            &workers.plan,
            target,
            host.clone(),
            &workers.about,
            &outcome,
            figures,
        );
        results.insert(name, part);
        whole = Some(match whole {
            None => (outcome, placed),
            Some((outcome, figures)) => (outcome, figures.plus(placed)),
        });
    }
    let Some((outcome, mut figures)) = whole else {
        return Err(no_parts());
    };
    report::write_log(plan, &mut figures.all, &names, outcome.window_start_ns)?;
    let target = TargetFacts {
        url: plan.job.target.clone(),
        address: names.join(", "),
    };
    let mut all = report::document(plan, target, host.clone(), &about, &outcome, figures);
    verdict::include(&mut all.verdict, &results);
    all.parts = results;
    Ok(all)
}

fn no_parts() -> LoadError {
    LoadError::bad_job("the mix has no parts", "name at least one")
}

fn check(mix: &MixOperation) -> Result<(), LoadError> {
    for (index, part) in mix.parts.iter().enumerate() {
        if !(part.weight > 0.0 && part.weight.is_finite()) {
            return Err(LoadError::bad_job(
                format!("the weight of {:?} is {}", part.name, part.weight),
                "weights are above 0",
            ));
        }
        if mix.parts[..index]
            .iter()
            .any(|other| other.name == part.name)
        {
            return Err(LoadError::bad_job(
                format!("two parts are named {:?}", part.name),
                "give each a name of its own",
            ));
        }
        if matches!(part.operation, Operation::Mix(_) | Operation::Stream(_)) {
            return Err(LoadError::bad_job(
                format!("{:?} cannot be part of a mix", part.name),
                "run it beside the mix, as a load of its own",
            ));
        }
    }
    Ok(())
}

/// The job of each part.
fn jobs(job: &LoadJob, mix: &MixOperation) -> Result<Vec<LoadJob>, LoadError> {
    let weights: Vec<f64> = mix.parts.iter().map(|part| part.weight).collect();
    let connections = match job.mode {
        Mode::Closed { users, .. } => users,
        Mode::Open { connections, .. } => connections,
    };
    if mix.parts.is_empty() {
        return Err(no_parts());
    }
    if (connections as usize) < mix.parts.len() {
        return Err(LoadError::bad_job(
            format!(
                "{connections} users or connections for {} parts",
                mix.parts.len()
            ),
            "ask for at least one for each part",
        ));
    }
    let connections = divide(u64::from(connections), &weights);
    let threads = divide(u64::from(job.threads), &weights);
    let operations = job.operations.map(|all| divide(all, &weights));
    let whole: f64 = weights.iter().sum();
    let part_of = |index: usize, part: &MixPart| LoadJob {
        target: part.target.clone(),
        operation: part.operation.clone(),
        mode: mode(&job.mode, connections[index] as u32, part.weight / whole),
        threads: threads[index] as u32,
        operations: operations.as_ref().map(|counts| counts[index]),
        // Arrivals and choices of the parts are independent of each other.
        seed: job.seed.wrapping_add((index as u64) << 32),
        ..job.clone()
    };
    Ok(mix
        .parts
        .iter()
        .enumerate()
        .map(|(index, part)| part_of(index, part))
        .collect())
}

fn mode(whole: &Mode, part: u32, share: f64) -> Mode {
    match *whole {
        Mode::Closed { think_time_ns, .. } => Mode::Closed {
            users: part,
            think_time_ns,
        },
        Mode::Open {
            rate_per_s,
            arrival,
            unbounded,
            max_backlog,
            ..
        } => Mode::Open {
            rate_per_s: rate_per_s * share,
            arrival,
            connections: part,
            unbounded,
            max_backlog,
        },
    }
}

/// `whole` in parts by weight, each at least 1, as near to their shares as whole numbers allow.
///
/// With fewer than there are parts each still gets 1, and the sum is larger than `whole`.
fn divide(whole: u64, weights: &[f64]) -> Vec<u64> {
    let sum: f64 = weights.iter().sum();
    let shares: Vec<f64> = weights
        .iter()
        .map(|weight| whole as f64 * weight / sum)
        .collect();
    let mut parts: Vec<u64> = shares.iter().map(|share| (*share as u64).max(1)).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|a, b| shares[*b].fract().total_cmp(&shares[*a].fract()));
    let rest = whole.saturating_sub(parts.iter().sum());
    for index in order.into_iter().cycle().take(rest as usize) {
        parts[index] += 1;
    }
    // Those who were given one more than their share took it from the largest.
    while parts.iter().sum::<u64>() > whole.max(parts.len() as u64) {
        if let Some(largest) = parts.iter_mut().max() {
            *largest -= 1;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_divided_by_weight_and_none_is_lost() {
        assert_eq!(divide(10, &[1.0, 1.0]), [5, 5]);
        assert_eq!(divide(10, &[8.0, 1.0, 1.0]), [8, 1, 1]);
        assert_eq!(divide(10, &[98.0, 1.0, 1.0]), [8, 1, 1]);
        assert_eq!(divide(100, &[0.5, 0.3, 0.2]).iter().sum::<u64>(), 100);
        assert_eq!(divide(2, &[1.0, 1.0, 1.0]), [1, 1, 1]);
    }
}
