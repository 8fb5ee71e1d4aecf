use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use steelyard_wire::job::LoadJob;

use crate::server::{MS, REPLY, Server, above, http_job, open, run, send, warnings};

/// A server that answers nothing from 400 ms to 700 ms after its first request.
fn stalling() -> Server {
    let first = OnceLock::new();
    Server::http(move |stream, _| {
        let since = first.get_or_init(Instant::now).elapsed();
        if (400..700).contains(&since.as_millis()) {
            thread::sleep(Duration::from_millis(700).saturating_sub(since));
        }
        send(stream, REPLY)
    })
}

#[test]
fn a_stall_delays_everyone_who_arrived_in_it_not_only_those_on_the_wire() {
    let server = stalling();
    let job = LoadJob {
        mode: open(1_000.0, 8, 10_000),
        ..http_job(&server, 8, 1_200)
    };
    let result = run(&job);
    assert_eq!((result.counts.intended, result.counts.ok), (1_200, 1_200));
    // 1000/s for the 200 ms that end 100 ms before the stall does: 200 waited longer than 100 ms.
    let waited = above(&result.latency_ns["response"], 100 * MS);
    assert!(waited >= 190, "{waited}");
    assert!(result.latency_ns["response"].max.unwrap() >= 290 * MS);
    // The server itself was slow for no more than its eight connections at a time.
    let served_slowly = above(&result.latency_ns["service"], 100 * MS);
    assert!(served_slowly < waited / 2, "{served_slowly} of {waited}");
    // Nor is it the generator that made them wait.
    let lagged = above(&result.latency_ns["lag"], 100 * MS);
    assert!(lagged < waited / 2, "{lagged} of {waited}");
}

#[test]
fn a_closed_loop_does_not_see_the_same_stall() {
    let server = stalling();
    let result = run(&http_job(&server, 8, 1_000));
    let waited = above(&result.latency_ns["response"], 250 * MS);
    assert!(waited <= 16, "{waited}");
}

#[test]
fn arrivals_beyond_the_backlog_are_counted_and_the_run_is_marked() {
    let server = Server::http(|stream, _| {
        thread::sleep(Duration::from_millis(200));
        send(stream, REPLY)
    });
    let job = LoadJob {
        mode: open(500.0, 1, 5),
        ..http_job(&server, 1, 300)
    };
    let result = run(&job);
    assert_eq!(result.counts.intended, 150);
    assert!(result.counts.unsent >= 130, "{:?}", result.counts);
    assert!(warnings(&result).contains(&"overloaded"));
    assert!(warnings(&result).contains(&"rate_not_reached"));
}

#[test]
fn arrivals_that_wait_at_the_end_of_the_window_are_still_sent() {
    let server = Server::http(|stream, _| {
        thread::sleep(Duration::from_millis(20));
        send(stream, REPLY)
    });
    let job = LoadJob {
        mode: open(200.0, 1, 1_000),
        ..http_job(&server, 1, 200)
    };
    let result = run(&job);
    assert_eq!((result.counts.intended, result.counts.ok), (40, 40));
    assert!(result.latency_ns["response"].max.unwrap() >= 400 * MS);
}

#[test]
fn workers_share_a_schedule_without_gaps() {
    let server = Server::http(|stream, _| send(stream, REPLY));
    let job = LoadJob {
        threads: 3,
        mode: open(1_000.0, 6, 1_000),
        ..http_job(&server, 6, 300)
    };
    assert_eq!(run(&job).counts.intended, 300);
}

#[test]
fn a_slow_rate_is_kept_while_polling_too() {
    let server = Server::http(|stream, _| send(stream, REPLY));
    let job = LoadJob {
        mode: open(50.5, 2, 10),
        spin: true,
        ..http_job(&server, 2, 400)
    };
    let result = run(&job);
    // Arrivals at 0, 1, .. 20 / 50.5 s lie before 0.4 s.
    assert_eq!((result.counts.intended, result.counts.ok), (21, 21));
}
