//! The sampler on the machine that runs the tests.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use steelyard_sampler::{Sampler, SamplerError};
use steelyard_wire::sample::SampleJob;

fn job(interval_ms: u64) -> SampleJob {
    SampleJob {
        interval_ms,
        processes: BTreeMap::from([("self".to_owned(), std::process::id())]),
        disks: BTreeMap::new(),
        cgroups: BTreeMap::new(),
        threads: BTreeMap::new(),
    }
}

#[test]
fn time_and_counters_never_run_backwards() {
    let running = Sampler::start(&job(100)).unwrap();
    std::thread::sleep(Duration::from_millis(350));
    let samples = running.stop().unwrap();
    assert!(samples.monotonic_ns.len() >= 3);
    assert!(samples.monotonic_ns.is_sorted());
    for column in [
        "cpu.idle_ns",
        "process.self.cpu_ns",
        "sampler.cpu_ns",
        "switches.context",
    ] {
        let cells = &samples.columns[column];
        assert!(cells.iter().all(Option::is_some), "{column}");
        assert!(cells.is_sorted(), "{column}: {cells:?}");
    }
}

#[test]
fn cpu_time_that_a_process_spends_appears_in_its_column() {
    let sampler = Sampler::start(&job(60_000)).unwrap();
    let spin = Duration::from_millis(50);
    std::thread::spawn(move || {
        let started = Instant::now();
        while started.elapsed() < spin {
            std::hint::spin_loop();
        }
        std::thread::sleep(Duration::from_millis(1));
    })
    .join()
    .unwrap();
    let own = burn_until(Duration::from_millis(20));
    let cells = &sampler.stop().unwrap().columns["process.self.cpu_ns"];
    assert!(cells[1].unwrap() - cells[0].unwrap() >= own);
}

/// CPU time this thread spent, at least `least`.
fn burn_until(least: Duration) -> u64 {
    let clock = steelyard_net::clock::thread_cpu_ns;
    let before = clock();
    while u128::from(clock() - before) < least.as_nanos() {}
    clock() - before
}

#[test]
fn an_interval_out_of_bounds_is_refused() {
    for interval_ms in [0, 99, 60_001] {
        let refused = Sampler::start(&job(interval_ms));
        assert!(
            matches!(refused, Err(SamplerError::Interval(_))),
            "{interval_ms}"
        );
    }
}
