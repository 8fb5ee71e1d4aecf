//! Connect probes over sockets.

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

/// An address where no one listens, and no one will: it stays bound.
fn held_address() -> (std::os::fd::OwnedFd, String) {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &std::net::SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = std::net::SocketAddr::try_from(getsockname(&socket).unwrap()).unwrap();
    (socket, address.to_string())
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
    let (_held, closed) = held_address();
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
    let (_held, closed) = held_address();
    job.target = format!("tcp://{closed}");
    let error = try_run(&job).unwrap_err();
    assert!(error.to_string().contains("conn_refused"), "{error}");
}
