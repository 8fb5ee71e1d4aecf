use proptest::prelude::*;
use steelyard_net::socket::Address;
use steelyard_wire::job::{Arrival, GeneratorNumber, HttpOperation, Operation as JobOperation};
use steelyard_wire::result::{HostClient, VerdictState};

use super::*;
use crate::conduct::Outcome;
use crate::conduct::job_workers::About;
use crate::fault::ErrorKind;
use crate::measurement::meter::Meter;
use crate::measurement::operation::{Operation, Window};
use crate::measurement::recorder::{Recorder, Shape};
use crate::plan::Plan;
use crate::protocols::mailboxes::Growth;
use crate::report::document;
use crate::report::figures::Figures;
use crate::tls::TlsTally;
use crate::worker::Report;

const START_NS: u64 = 1_000_000_000;
const LENGTH_NS: u64 = 100_000_000;

/// One operation: its worker, when it is due, how late it is sent, how long it takes, whether well.
type Drawn = (usize, u64, u64, u64, bool);

fn drawn() -> impl Strategy<Value = Drawn> {
    let due = START_NS - LENGTH_NS / 4..START_NS + LENGTH_NS;
    let takes = prop_oneof![1_u64..50_000, 1_u64..80_000_000];
    (0_usize..64, due, 0_u64..30_000, takes, any::<bool>())
}

fn job(open: bool, of: u32, threads: u32) -> LoadJob {
    let mode = if open {
        Mode::Open {
            rate_per_s: 5_000.0,
            arrival: Arrival::Poisson,
            connections: 64,
            unbounded: false,
            max_backlog: 10,
        }
    } else {
        Mode::Closed {
            users: 64,
            think_time_ns: 0,
        }
    };
    let operation = JobOperation::Http(HttpOperation::default());
    LoadJob {
        mode,
        threads: threads * of,
        warmup_ns: LENGTH_NS / 4,
        duration_ns: Some(LENGTH_NS),
        series_interval_ns: LENGTH_NS / 7,
        ..LoadJob::new("http://127.0.0.1:1/", operation)
    }
}

fn plan(job: &LoadJob) -> Plan {
    Plan::new(job, Address::Inet("127.0.0.1:1".parse().unwrap())).unwrap()
}

/// What each worker measured of its operations.
fn reports(job: &LoadJob, drawn: &[Drawn]) -> Vec<Report> {
    let workers = plan(job).workers() as usize;
    (0..workers)
        .map(|worker| report(job, worker, workers, drawn))
        .collect()
}

fn report(job: &LoadJob, worker: usize, workers: usize, drawn: &[Drawn]) -> Report {
    let open_mode = matches!(job.mode, Mode::Open { .. });
    let mut recorder = Recorder::new(&Shape {
        phases: 2,
        kinds: 2,
        open_mode,
        interval_ns: plan(job).interval_ns,
        logged: false,
    });
    let window = Window {
        start_ns: START_NS,
        end_ns: START_NS + LENGTH_NS,
    };
    recorder.begin(window);
    let mut growth = Growth::default();
    for (place, due_ns, late_ns, took_ns, well) in drawn {
        if place % workers != worker {
            continue;
        }
        let operation = Operation {
            intended_ns: *due_ns,
            sent_ns: due_ns + late_ns,
            phase_start_ns: due_ns + late_ns,
            part: window.part(*due_ns),
        };
        let done_ns = operation.sent_ns + took_ns;
        recorder.intended(operation.part);
        recorder.sent(&operation, *due_ns);
        recorder.phase(operation.part, place % 3 != 0, place % 2, *took_ns);
        if *well {
            recorder.ok(&operation, place % 2, done_ns);
        } else {
            recorder.failed(
                &operation,
                place % 2,
                done_ns,
                place % 2,
                ErrorKind::ConnReset,
            );
        }
        growth.found(*place as u32, *late_ns as u32);
    }
    Report {
        recorder,
        meter: Meter::default(),
        tls: TlsTally::default(),
        payload: Some(Payload {
            checked: worker as u64,
            lost: Some(1),
            ..Payload::default()
        }),
        mail: Some(MailFigures::default().with(&growth)),
        most_established: 1 + worker as u32,
        window_end_ns: window.end_ns,
    }
}

fn result(job: &LoadJob, reports: Vec<Report>) -> LoadResult {
    let plan = plan(job);
    let about = About {
        phases: vec!["connect".to_owned(), "reply".to_owned()],
        kinds: vec!["fetch".to_owned(), "noop".to_owned()],
        one_shot: false,
        slots: 1,
    };
    let outcome = Outcome {
        reports: Vec::new(),
        window_start_ns: START_NS,
        window_start_unix_ns: 7,
        steal_ratio: Some(0.25),
        cancelled: false,
    };
    let host = HostClient {
        kernel: None,
        cpu_model: None,
        cpus: None,
        clocksource: None,
        clock_read_ns: 1,
    };
    let target = Target {
        url: job.target.clone(),
        address: "127.0.0.1:1".to_owned(),
    };
    document(&plan, target, host, &about, &outcome, Figures::of(reports))
}

/// The results of the generators that have these reports, each those of its workers.
fn results(job: &LoadJob, of: u32, drawn: &[Drawn]) -> Vec<LoadResult> {
    let one = |number| {
        let own_job = LoadJob {
            threads: job.threads / of,
            generator: Some(GeneratorNumber { number, of }),
            ..job.clone()
        };
        let own = plan(&own_job);
        let mut all: Vec<Option<Report>> = reports(job, drawn).into_iter().map(Some).collect();
        let mine = (0..own.job.threads)
            .map(|worker| all[own.number_of(worker) as usize].take().unwrap())
            .collect();
        result(&own_job, mine)
    };
    (1..=of).map(one).collect()
}

/// A document as it arrives, from JSON.
fn sent(result: &LoadResult) -> LoadResult {
    let text = serde_json::to_string(result).unwrap();
    serde_json::from_str(&text).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_merged_result_is_that_of_one_generator_with_all_workers(
        mut drawn in prop::collection::vec(drawn(), 0..600),
        of in 1_u32..5,
        threads in 1_u32..3,
        open in any::<bool>(),
    ) {
        drawn.sort_by_key(|operation| operation.1);
        let job = job(open, of, threads);
        let whole = result(&job, reports(&job, &drawn));
        let parts: Vec<LoadResult> = results(&job, of, &drawn).iter().map(sent).collect();
        let mut merged = merge(&parts).unwrap();
        merged.verdict.warnings.retain(|warning| warning.generator.is_none());
        merged.verdict.state = whole.verdict.state;
        prop_assert_eq!(&merged, &whole);
        prop_assert_eq!(
            serde_json::to_string(&merged).unwrap(),
            serde_json::to_string(&whole).unwrap()
        );
    }
}

fn few() -> (LoadJob, Vec<LoadResult>) {
    let job = job(true, 3, 1);
    let drawn: Vec<Drawn> = (0..90)
        .map(|i| (i, START_NS + i as u64 * 1_000_000, 10, 1_000, true))
        .collect();
    let results = results(&job, 3, &drawn);
    (job, results)
}

#[test]
fn a_warning_about_one_generator_names_it() {
    let (_, mut results) = few();
    let late = WarningKind::Late {
        lag_p99_ns: 2,
        allowed_ns: 1,
    };
    results[1]
        .verdict
        .warnings
        .push(steelyard_wire::result::Warning {
            state: VerdictState::Suspect,
            part: None,
            generator: None,
            kind: late.clone(),
        });
    let merged = merge(&results).unwrap();
    let found = merged
        .verdict
        .warnings
        .iter()
        .find(|each| each.kind == late);
    assert_eq!(found.unwrap().generator, Some(2));
    assert!(merged.verdict.state >= VerdictState::Suspect);
}

#[test]
fn a_generator_without_one_good_answer_makes_the_whole_invalid() {
    let (job, _) = few();
    let drawn: Vec<Drawn> = (0..90)
        .map(|i| (i, START_NS + i as u64 * 1_000_000, 10, 1_000, i % 3 != 1))
        .collect();
    let merged = merge(&results(&job, 3, &drawn)).unwrap();
    assert_eq!(merged.verdict.state, VerdictState::Invalid);
    let worst = merged.verdict.warnings.iter();
    let named: Vec<Option<u32>> = worst
        .filter(|each| each.state == VerdictState::Invalid)
        .map(|each| each.generator)
        .collect();
    assert_eq!(named, [Some(2)]);
}

#[test]
fn results_that_are_not_all_of_one_job_are_refused() {
    let (_, results) = few();
    assert!(merge(&[]).is_err());
    assert!(merge(&results[..2]).is_err(), "one is missing");
    let twice = [results[0].clone(), results[0].clone(), results[1].clone()];
    assert!(merge(&twice).is_err(), "one is there twice");
    let mut other = results.clone();
    other[2].load.job.seed += 1;
    assert!(merge(&other).is_err(), "of another job");
    let mut damaged = results;
    let response = damaged[0].latency_ns.get_mut("response").unwrap();
    response.hdr_v2_b64.truncate(10);
    assert!(merge(&damaged).is_err(), "cut off");
}
