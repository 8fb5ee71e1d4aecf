use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use steelyard_wire::job::LoadJob;
use steelyard_wire::result::{LoadResult, VerdictState};

use crate::server::{MS, REPLY, Server, failures, http_job, reset, run, send, send_last};

/// Runs 30 operations against a server that does `fault` at every third request.
fn run_with_fault(fault: impl Fn(&mut TcpStream) -> bool + Send + Sync + 'static) -> LoadResult {
    let server = Server::http(move |stream, number| match number % 3 {
        1 => fault(stream),
        _ => send(stream, REPLY),
    });
    let result = run(&LoadJob {
        operations: Some(30),
        timeout_ns: 300 * MS,
        ..http_job(&server, 2, 20_000)
    });
    assert_eq!(result.counts.sent, server.operations());
    result
}

fn assert_third_failed(result: &LoadResult, phase: &str, kind: &str) {
    assert_eq!(failures(result, phase, kind), 10, "{:?}", result.errors);
    assert_eq!((result.counts.ok, result.counts.errors), (20, 10));
}

#[test]
fn a_server_that_closes_inside_a_body_is_a_short_read() {
    let result = run_with_fault(|stream| {
        send_last(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
    });
    assert_third_failed(&result, "body", "short_read");
}

#[test]
fn a_server_that_closes_instead_of_answering_closed_early() {
    let result = run_with_fault(|_| false);
    assert_third_failed(&result, "ttfb", "peer_closed_early");
}

#[test]
fn a_reset_is_a_reset() {
    let result = run_with_fault(|stream| {
        reset(stream);
        false
    });
    assert_third_failed(&result, "ttfb", "conn_reset");
}

#[test]
fn garbage_is_a_bad_protocol() {
    let result = run_with_fault(|stream| send(stream, b"220 mail.example ESMTP\r\n"));
    assert_third_failed(&result, "ttfb", "bad_protocol");
}

#[test]
fn a_bad_status_is_a_failure_on_a_connection_that_stays() {
    let result =
        run_with_fault(|stream| send(stream, b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"));
    assert_third_failed(&result, "ttfb", "bad_status_5xx");
    assert_eq!(result.counts.connects, 0);
}

#[test]
fn an_answer_that_never_comes_is_a_timeout() {
    let result = run_with_fault(|_| {
        thread::sleep(Duration::from_millis(600));
        false
    });
    assert_third_failed(&result, "ttfb", "recv_timeout");
    assert!(result.latency_ns["errors"].min.unwrap() >= 300 * MS);
}

#[test]
fn failures_have_a_distribution_of_their_own() {
    let server = Server::http(|stream, number| {
        if number % 2 == 0 {
            return send(stream, REPLY);
        }
        thread::sleep(Duration::from_millis(40));
        send(stream, b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
    });
    let result = run(&LoadJob {
        operations: Some(40),
        ..http_job(&server, 1, 20_000)
    });
    assert_eq!(result.latency_ns["errors"].count, 20);
    assert!(result.latency_ns["errors"].min.unwrap() >= 40 * MS);
    assert_eq!(result.latency_ns["response"].count, 20);
}

#[test]
fn a_server_that_hangs_up_at_once_is_not_hammered() {
    let server = Server::start(|stream, _| drop(stream));
    let result = run(&http_job(&server, 2, 500));
    assert_eq!(result.counts.ok, 0);
    assert_eq!(result.verdict.state, VerdictState::Invalid);
    let tries = server.connections();
    // At once, then after 10, 20, 40, 80, 100, 100 ... ms, for each of two users.
    assert!((4..=40).contains(&tries), "{tries}");
}

#[test]
fn what_is_still_unanswered_when_draining_ends_is_counted() {
    let server = Server::http(|stream, number| {
        if number >= 4 {
            thread::sleep(Duration::from_millis(900));
        }
        send(stream, REPLY)
    });
    let job = LoadJob {
        drain_ns: 50 * MS,
        ..http_job(&server, 2, 150)
    };
    let counts = run(&job).counts;
    assert_eq!(
        (counts.ok, counts.errors, counts.inflight_at_stop),
        (4, 0, 2)
    );
}
