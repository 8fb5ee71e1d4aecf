use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use steelyard_load::{LoadError, Stage};
use steelyard_wire::agent::FailureKind;
use steelyard_wire::job::{HttpOperation, LoadJob, Mode, Operation};

use crate::server::{
    MS, REPLY, Server, failures, http_job, open, run, send, send_last, try_run, warnings,
};

#[test]
fn the_server_has_seen_exactly_what_was_sent() {
    let server = Server::http(|stream, _| send(stream, REPLY));
    let job = LoadJob {
        threads: 2,
        ..http_job(&server, 5, 200)
    };
    let result = run(&job);
    assert!(result.counts.ok > 0);
    assert_eq!(result.counts.sent, server.operations());
    assert_eq!(server.connections(), 5);
    assert_eq!(result.load.connections_achieved, 5);
    assert_eq!(result.latency_ns["phase.ttfb"].count, result.counts.ok);
    assert_eq!(result.latency_ns["ramp.connect"].count, 5);
}

#[test]
fn the_warmup_counts_for_nothing_else() {
    let server = Server::http(|stream, _| {
        thread::sleep(Duration::from_millis(1));
        send(stream, REPLY)
    });
    let job = LoadJob {
        warmup_ns: 100 * MS,
        ..http_job(&server, 2, 100)
    };
    let counts = run(&job).counts;
    assert!(counts.warmup > 0 && counts.ok > 0);
    assert_eq!(counts.warmup + counts.sent, server.operations());
}

#[test]
fn a_number_of_operations_is_kept_to_over_all_workers() {
    let server = Server::http(|stream, _| send(stream, REPLY));
    let job = LoadJob {
        threads: 3,
        operations: Some(1_000),
        duration_ns: None,
        ..http_job(&server, 7, 1)
    };
    let result = run(&job);
    assert_eq!((result.counts.ok, server.operations()), (1_000, 1_000));
    assert_eq!(result.counts.ok_in_window, 1_000);
}

#[test]
fn replies_in_single_bytes_are_parsed() {
    let server = Server::http(|stream, _| REPLY.iter().all(|byte| send(stream, &[*byte])));
    let job = LoadJob {
        operations: Some(20),
        ..http_job(&server, 2, 10_000)
    };
    assert_eq!(run(&job).counts.ok, 20);
}

#[test]
fn every_framing_of_a_body_works_over_a_socket() {
    let server = Server::http(|stream, number| match number % 4 {
        0 => send(stream, REPLY),
        1 => send(
            stream,
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        ),
        2 => send_last(
            stream,
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        ),
        _ => send_last(stream, b"HTTP/1.1 200 OK\r\n\r\nok"),
    });
    let job = LoadJob {
        operations: Some(40),
        ..http_job(&server, 1, 10_000)
    };
    let result = run(&job);
    assert_eq!((result.counts.ok, result.counts.errors), (40, 0));
    // 20 replies end their connection. The user reconnects after the last one, too, but the run may
    // be over before the server has counted that.
    let connections = server.connections();
    assert!((20..=21).contains(&connections), "{connections}");
}

#[test]
fn without_keep_alive_each_request_has_a_connection_of_its_own() {
    let server = Server::http(|stream, _| send_last(stream, REPLY));
    let operation = HttpOperation {
        keep_alive: false,
        ..HttpOperation::default()
    };
    let job = LoadJob {
        operation: Operation::Http(operation),
        operations: Some(50),
        ..http_job(&server, 3, 10_000)
    };
    let result = run(&job);
    assert_eq!((result.counts.ok, server.connections()), (50, 50));
    assert_eq!(result.latency_ns["phase.connect"].count, 50);
    let mean_ns = |name: &str| result.latency_ns[name].mean.unwrap();
    let apart_ns = mean_ns("service") - mean_ns("phase.connect") - mean_ns("processing");
    assert!(
        apart_ns.abs() < 1.0,
        "connect and processing are the whole: {apart_ns}"
    );
}

#[test]
fn a_run_of_operations_per_user_ends_when_each_user_has_had_its_own() {
    let slow_first = |stream: &mut _, number: u64| {
        if number == 0 {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        send(stream, REPLY)
    };
    let server = Server::http(slow_first);
    let job = LoadJob {
        duration_ns: None,
        operations_per_user: Some(7),
        ..http_job(&server, 4, 10_000)
    };
    let result = run(&job);
    assert_eq!((result.counts.ok, server.connections()), (28, 4));
    assert_eq!(result.latency_ns["service"].count, 28);
    assert!(!result.latency_ns.contains_key("processing"));
}

#[test]
fn a_request_larger_than_the_socket_takes_is_sent_whole() {
    let server = Server::http(|stream, _| {
        thread::sleep(Duration::from_millis(5));
        send(stream, REPLY)
    });
    let operation = HttpOperation {
        method: "POST".to_owned(),
        body: "x".repeat(9_000_000),
        ..HttpOperation::default()
    };
    let job = LoadJob {
        operation: Operation::Http(operation),
        operations: Some(3),
        ..http_job(&server, 1, 20_000)
    };
    let counts = run(&job).counts;
    assert_eq!(counts.ok, 3);
    assert!(counts.bytes_out > 27_000_000);
}

#[test]
fn an_answer_before_the_whole_request_ends_the_operation_and_the_connection() {
    let server = Server::start(|mut stream, seen| {
        let mut beginning = [0; 1024];
        if stream.read(&mut beginning).is_ok_and(|count| count > 0) {
            seen.operations.fetch_add(1, SeqCst);
        }
        send(&mut stream, b"HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n");
        // Takes the rest, but only once the client has given up on it.
        thread::sleep(Duration::from_millis(50));
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let operation = HttpOperation {
        method: "POST".to_owned(),
        body: "x".repeat(30_000_000),
        ..HttpOperation::default()
    };
    let job = LoadJob {
        operation: Operation::Http(operation),
        operations: Some(3),
        ..http_job(&server, 1, 20_000)
    };
    let result = run(&job);
    assert_eq!(failures(&result, "ttfb", "bad_status_4xx"), 3);
    assert_eq!((result.counts.errors, server.operations()), (3, 3));
}

#[test]
fn users_throughput_and_latency_obey_littles_law() {
    let server = Server::http(|stream, _| {
        thread::sleep(Duration::from_millis(2));
        send(stream, REPLY)
    });
    let result = run(&http_job(&server, 4, 1_000));
    let mean_ns = |name: &str| result.latency_ns[name].mean.unwrap();
    let round_ns = mean_ns("service") + mean_ns("lateness");
    let users = result.rates.ok_per_s * round_ns / 1e9;
    let rounds = result.counts.ok_in_window as f64 / 4.0;
    let longest_ns = ["service", "lateness"].map(|name| result.latency_ns[name].max.unwrap_or(0));
    let cut = longest_ns.iter().sum::<u64>() as f64 / result.load.window_ns as f64;
    let tolerance = 0.01 + (2.0 / rounds).max(cut);
    assert!((users / 4.0 - 1.0).abs() < tolerance, "{users}");
    assert!(!warnings(&result).contains(&"littles_law"));
}

#[test]
fn users_think_between_operations() {
    let server = Server::http(|stream, _| send(stream, REPLY));
    let job = LoadJob {
        mode: Mode::Closed {
            users: 2,
            think_time_ns: 50 * MS,
        },
        ..http_job(&server, 2, 400)
    };
    let ok = run(&job).counts.ok;
    assert!((2..=18).contains(&ok), "{ok}");
}

#[test]
fn a_target_where_no_one_listens_is_unreachable() {
    let server = Server::http(|_, _| false);
    let job = http_job(&server, 2, 100);
    drop(server);
    let error = try_run(&job).unwrap_err();
    assert!(matches!(error, LoadError::NoConnection { .. }), "{error}");
    assert_eq!(error.kind(), FailureKind::Unreachable);
    assert!(error.to_string().contains("conn_refused"), "{error}");
}

#[test]
fn a_target_and_an_operation_of_different_protocols_are_refused() {
    let server = Server::http(|_, _| false);
    let mut job = http_job(&server, 1, 100);
    job.target = format!("smtp://{}", server.address);
    assert_eq!(try_run(&job).unwrap_err().kind(), FailureKind::BadRequest);
}

#[test]
fn a_run_that_is_cancelled_keeps_what_it_has() {
    let server = Server::http(|stream, _| send(stream, REPLY));
    let job = LoadJob {
        mode: open(500.0, 4, 100),
        ..http_job(&server, 4, 60_000)
    };
    let cancel = AtomicBool::new(false);
    let stop_soon = |progress: steelyard_load::Progress| {
        cancel.store(progress.stage == Stage::Window && progress.ok > 0, SeqCst);
    };
    let result = steelyard_load::run(&job, &cancel, Some(&stop_soon)).unwrap();
    assert!(warnings(&result).contains(&"cancelled"));
    assert!(result.counts.ok > 0);
    assert!(result.load.window_ns < 60_000 * MS);
    assert_eq!(
        result.counts.intended,
        result.counts.unsent + result.counts.sent
    );
}

#[test]
fn a_run_that_is_cancelled_before_it_began_is_an_error() {
    let server = Server::start(|mut stream, _| {
        // Greets never, so that no connection becomes ready.
        thread::sleep(Duration::from_millis(500));
        let _ = stream.write_all(b"");
    });
    let mut job = crate::server::smtp_job(
        &server,
        steelyard_wire::job::SmtpOperation::default(),
        1,
        100,
    );
    job.warmup_ns = 1;
    let error = steelyard_load::run(&job, &AtomicBool::new(true), None).unwrap_err();
    assert_eq!(error.kind(), FailureKind::Cancelled);
}

#[test]
fn requests_sent_ahead_are_all_answered_in_order() {
    let server = Server::http(|stream, number| {
        if number % 3 == 0 {
            return send(
                stream,
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nok\r\n0\r\nT: 1\r\n\r\n",
            );
        }
        send(stream, REPLY)
    });
    let operation = HttpOperation {
        requests_at_once: 8,
        ..HttpOperation::default()
    };
    let job = LoadJob {
        operation: Operation::Http(operation),
        operations: Some(1_000),
        ..http_job(&server, 2, 10_000)
    };
    let result = run(&job);
    assert_eq!((result.counts.ok, result.counts.errors), (1_000, 0));
    assert_eq!((server.operations(), server.connections()), (1_000, 2));
}

#[test]
fn a_server_that_closes_inside_a_pipeline_fails_the_requests_behind() {
    let server = Server::http(|stream, number| {
        if number % 10 == 9 {
            return send_last(
                stream,
                b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
            );
        }
        send(stream, REPLY)
    });
    let operation = HttpOperation {
        requests_at_once: 4,
        ..HttpOperation::default()
    };
    let job = LoadJob {
        operation: Operation::Http(operation),
        operations: Some(200),
        ..http_job(&server, 1, 10_000)
    };
    let result = run(&job);
    let kinds: Vec<_> = result
        .errors
        .values()
        .flat_map(|kinds| kinds.keys().cloned())
        .collect();
    // Which of the two it is depends on what was still unread when the server closed.
    let expected = |kind: &String| kind == "peer_closed_early" || kind == "conn_reset";
    assert!(
        result.counts.errors > 0 && kinds.iter().all(expected),
        "{kinds:?}"
    );
    // A reset takes with it what the client had not read yet, at most all of one pipeline.
    let resets: u64 = result
        .errors
        .values()
        .filter_map(|kinds| kinds.get("conn_reset"))
        .sum();
    let unread = server.operations() - result.counts.ok;
    assert!(unread <= 4 * resets, "{unread} unread of {resets} resets");
}

#[test]
fn paths_are_asked_for_in_turn_and_have_figures_of_their_own() {
    let server = Server::http(|stream, number| {
        if number % 2 == 0 {
            return send(stream, REPLY);
        }
        send(stream, b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
    });
    let operation = HttpOperation {
        paths: vec!["/there".to_owned(), "/missing".to_owned()],
        ..HttpOperation::default()
    };
    let job = LoadJob {
        operation: Operation::Http(operation),
        operations: Some(100),
        ..http_job(&server, 1, 10_000)
    };
    let result = run(&job);
    let (there, missing) = (&result.operations["/there"], &result.operations["/missing"]);
    assert_eq!(
        (there.ok, there.errors, there.latency_ns.count),
        (50, 0, 50)
    );
    assert_eq!((missing.ok, missing.errors), (0, 50));
}
