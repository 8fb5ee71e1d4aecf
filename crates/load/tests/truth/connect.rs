//! Connect probes over sockets.

use std::net::TcpListener;

use steelyard_wire::job::{ConnectOperation, LoadJob, Operation};

use crate::server::{Server, closed, failures, run, try_run};

fn probe(first: &Server, further: Vec<String>, users: u32, probes: u64) -> LoadJob {
    LoadJob {
        operations: Some(probes),
        ..closed(
            format!("tcp://{}", first.address),
            Operation::Connect(ConnectOperation { targets: further }),
            users,
            20_000,
        )
    }
}

/// An address where no one listens.
fn closed_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

#[test]
fn every_probe_is_a_connection_that_is_reset() {
    let server = Server::start(|_, _| {});
    let result = run(&probe(&server, Vec::new(), 4, 500));
    assert_eq!((result.counts.ok, result.counts.errors), (500, 0));
    assert_eq!(result.latency_ns["phase.connect"].count, 500);
    assert!(result.load.job.reset_on_close);
    assert_eq!((result.counts.bytes_in, result.counts.bytes_out), (0, 0));
}

#[test]
fn open_and_refused_are_distinguished_by_target() {
    let server = Server::start(|_, _| {});
    let closed = closed_port();
    let result = run(&probe(&server, vec![closed.clone()], 1, 40));
    let (open, refused) = (
        &result.operations[&server.address.to_string()],
        &result.operations[&closed],
    );
    assert_eq!((open.ok, open.errors), (20, 0));
    assert_eq!((refused.ok, refused.errors), (0, 20));
    assert_eq!(failures(&result, "connect", "conn_refused"), 20);
}

#[test]
fn targets_of_which_none_answers_are_unreachable() {
    let server = Server::start(|_, _| {});
    let mut job = probe(&server, Vec::new(), 1, 1_000_000);
    job.target = format!("tcp://{}", closed_port());
    let error = try_run(&job).unwrap_err();
    assert!(error.to_string().contains("conn_refused"), "{error}");
}
