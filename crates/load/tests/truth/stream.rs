//! Streams and exchanges against the sink itself, and against far ends that misbehave.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use steelyard_sink::{Protocol, SinkOptions};
use steelyard_wire::job::{
    Direction, LoadJob, Mode, Operation, RequestResponseOperation, StreamOperation,
};
use steelyard_wire::result::{CountedBy, LoadResult, Stream, VerdictState};

use crate::server::{MS, open, run, try_run, warnings};
use crate::sink::Sink;

/// A sink of streams in this process.
fn stream_sink() -> Sink {
    Sink::start(|address| SinkOptions::new(Protocol::Stream, address))
}

fn job(transport: &str, address: SocketAddr, operation: StreamOperation) -> LoadJob {
    LoadJob {
        mode: Mode::Closed {
            users: 2,
            think_time_ns: 0,
        },
        warmup_ns: 50 * MS,
        duration_ns: Some(300 * MS),
        series_interval_ns: 100 * MS,
        ..LoadJob::new(
            format!("stream+{transport}://{address}"),
            Operation::Stream(operation),
        )
    }
}

fn streamed(job: &LoadJob) -> (LoadResult, Stream) {
    let result = run(job);
    let stream = result.stream.clone().unwrap();
    (result, stream)
}

#[test]
fn every_byte_of_a_tcp_flow_is_counted_once_at_both_ends() {
    let directions = [Direction::Send, Direction::Receive, Direction::Both];
    let (mut of_windows, mut of_all) = (0, 0);
    for (direction, endpoints) in directions.into_iter().zip([2, 2, 4]) {
        let sink = stream_sink();
        let operation = StreamOperation {
            direction,
            ..StreamOperation::default()
        };
        let (result, stream) = streamed(&job("tcp", sink.address, operation));
        assert_eq!(stream.flows.len(), endpoints);
        for flow in &stream.flows {
            assert!(flow.total_sent_bytes.unwrap() > 0);
            assert_eq!(flow.total_sent_bytes, flow.total_received_bytes, "{flow:?}");
            of_windows += flow.received_bytes.unwrap();
            of_all += flow.total_received_bytes.unwrap();
            assert!(flow.received_bytes <= flow.total_received_bytes);
            assert_eq!(flow.broken, None);
        }
        let sends = direction != Direction::Receive;
        assert_eq!(stream.sent_bytes_per_s.is_some(), sends);
        assert_eq!(
            stream.received_bytes_per_s.is_some(),
            direction != Direction::Send
        );
        assert_eq!(stream.sent_counted_by, sends.then_some(CountedBy::Receiver));
        assert_ne!(result.verdict.state, VerdictState::Invalid);
        let total = |outgoing: bool| -> u64 {
            let flows = stream.flows.iter().filter(|flow| flow.outgoing == outgoing);
            flows.filter_map(|flow| flow.total_received_bytes).sum()
        };
        let seen = sink.counters();
        assert_eq!((seen.bytes_in, seen.bytes_out), (total(true), total(false)));
    }
    // Of all flows: on a busy machine one of them may send nothing outside of its window.
    assert!(of_windows < of_all);
}

#[test]
fn the_intervals_add_up_to_the_window() {
    let sink = stream_sink();
    let (_, stream) = streamed(&job("tcp", sink.address, StreamOperation::default()));
    let of_flows: u64 = stream
        .flows
        .iter()
        .filter_map(|flow| flow.received_bytes)
        .sum();
    let of_rows: u64 = stream.intervals.iter().map(|row| row.sent_bytes).sum();
    assert_eq!(of_rows, of_flows);
    assert_eq!(stream.intervals.len(), 3);
}

#[test]
fn zero_copy_loses_nothing() {
    let sink = stream_sink();
    let operation = StreamOperation {
        zero_copy: true,
        ..StreamOperation::default()
    };
    let (_, stream) = streamed(&job("tcp", sink.address, operation));
    for flow in &stream.flows {
        assert_eq!(flow.total_sent_bytes, flow.total_received_bytes);
        assert!(flow.zero_copy_copied.is_some());
    }
}

#[test]
fn datagrams_sent_are_those_that_arrived_and_those_that_were_lost() {
    for (offload, direction) in [
        (true, Direction::Send),
        (false, Direction::Send),
        (true, Direction::Receive),
    ] {
        let sink = stream_sink();
        let operation = StreamOperation {
            direction,
            segment_offload: offload,
            block_bytes: 64,
            bytes_per_s: 640_000.0,
            ..StreamOperation::default()
        };
        let (_, stream) = streamed(&job("udp", sink.address, operation));
        for flow in &stream.flows {
            let sent = flow.datagrams_sent.unwrap();
            assert!(sent > 0);
            assert_eq!(
                sent,
                flow.datagrams_received.unwrap() + flow.datagrams_lost.unwrap()
            );
            assert_eq!(flow.datagrams_duplicated, Some(0));
            assert_eq!(flow.sent_bytes, Some(sent * 64));
            assert!(flow.jitter_ns.is_some());
        }
    }
}

#[test]
fn a_server_that_only_discards_is_enough_without_a_handshake() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let read = |mut stream: std::net::TcpStream| {
            thread::spawn(move || std::io::copy(&mut stream, &mut std::io::sink()).unwrap())
        };
        let readers = [0; 2].map(|_| read(listener.accept().unwrap().0));
        readers
            .map(|reader| reader.join().unwrap())
            .iter()
            .sum::<u64>()
    });
    let operation = StreamOperation {
        handshake: false,
        ..StreamOperation::default()
    };
    let (result, stream) = streamed(&job("tcp", address, operation));
    assert_eq!(stream.sent_counted_by, Some(CountedBy::Sender));
    assert_eq!(stream.peer_cpu_ns, None);
    let sent: u64 = stream
        .flows
        .iter()
        .filter_map(|flow| flow.total_sent_bytes)
        .sum();
    assert!(
        stream
            .flows
            .iter()
            .all(|flow| flow.received_bytes.is_none())
    );
    assert_eq!(server.join().unwrap(), sent);
    assert_ne!(result.verdict.state, VerdictState::Invalid);
}

/// A server that reads a little of each of two flows and leaves.
fn fickle() -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        for stream in [0; 2].map(|_| listener.accept().unwrap().0) {
            (&stream).read_exact(&mut vec![0; 1 << 16]).unwrap();
        }
    });
    (address, server)
}

fn without_handshake() -> StreamOperation {
    StreamOperation {
        handshake: false,
        ..StreamOperation::default()
    }
}

#[test]
fn a_far_end_that_goes_away_is_an_error_and_no_figure() {
    let (address, server) = fickle();
    let (result, stream) = streamed(&LoadJob {
        warmup_ns: 0,
        ..job("tcp", address, without_handshake())
    });
    server.join().unwrap();
    assert_eq!(stream.sent_bytes_per_s, None);
    assert!(
        stream.flows.iter().all(|flow| flow.broken.is_some()),
        "{stream:?}"
    );
    assert_eq!(result.connection_errors["stream"].values().sum::<u64>(), 2);
    assert!(warnings(&result).contains(&"flows_broken"));
    assert_eq!(result.verdict.state, VerdictState::Invalid);
}

#[test]
fn a_far_end_that_goes_away_in_the_warmup_leaves_an_error_alone() {
    let (address, server) = fickle();
    let error = try_run(&LoadJob {
        warmup_ns: 20_000 * MS,
        ..job("tcp", address, without_handshake())
    })
    .unwrap_err();
    server.join().unwrap();
    assert_eq!(
        error.kind(),
        steelyard_wire::agent::FailureKind::Unreachable,
        "{error}"
    );
}

#[test]
fn a_sink_that_stops_while_it_sends_breaks_the_flows() {
    let sink = stream_sink();
    let operation = StreamOperation {
        direction: Direction::Receive,
        ..StreamOperation::default()
    };
    let job = LoadJob {
        duration_ns: Some(60_000 * MS),
        ..job("tcp", sink.address, operation)
    };
    let stop = sink.stop.clone();
    let stopper = thread::spawn(move || {
        thread::sleep(Duration::from_millis(400));
        stop.stop();
    });
    let (result, stream) = streamed(&job);
    stopper.join().unwrap();
    assert_eq!(stream.received_bytes_per_s, None);
    assert!(
        stream.flows.iter().all(|flow| flow.broken.is_some()),
        "{stream:?}"
    );
    assert_eq!(result.verdict.state, VerdictState::Invalid);
}

#[test]
fn a_server_that_is_no_sink_is_named_as_such() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"220 mail.example ESMTP\r\n").unwrap();
        let _ = stream.read(&mut [0; 1024]);
    });
    let error = try_run(&job("tcp", address, StreamOperation::default())).unwrap_err();
    server.join().unwrap();
    assert!(
        error.to_string().contains("does not answer as a sink"),
        "{error}"
    );
    assert!(error.hint().is_some());
}

#[test]
fn what_the_sink_refuses_is_said_with_its_reason() {
    let sink = stream_sink();
    let operation = StreamOperation {
        congestion: Some("no-such-control".to_owned()),
        ..StreamOperation::default()
    };
    let error = try_run(&job("tcp", sink.address, operation)).unwrap_err();
    assert!(error.to_string().contains("refuses"), "{error}");
}

#[test]
fn jobs_that_make_no_stream_are_refused() {
    let address = "127.0.0.1:9".parse().unwrap();
    let usual = |operation| job("tcp", address, operation);
    let probes_without_sink = StreamOperation {
        handshake: false,
        latency_probes_per_s: 1.0,
        ..StreamOperation::default()
    };
    let at_a_rate = LoadJob {
        mode: open(10.0, 1, 10),
        ..usual(StreamOperation::default())
    };
    let by_number = LoadJob {
        operations: Some(1),
        ..usual(StreamOperation::default())
    };
    let too_large = StreamOperation {
        block_bytes: 70_000,
        ..StreamOperation::default()
    };
    for bad in [
        usual(probes_without_sink),
        at_a_rate,
        by_number,
        job("udp", address, too_large),
    ] {
        let error = try_run(&bad).unwrap_err();
        assert_eq!(
            error.kind(),
            steelyard_wire::agent::FailureKind::BadRequest,
            "{error}"
        );
    }
}

#[test]
fn probes_beside_the_flows_are_operations_and_have_a_baseline() {
    let sink = stream_sink();
    let operation = StreamOperation {
        latency_probes_per_s: 200.0,
        bytes_per_s: 1e6,
        ..StreamOperation::default()
    };
    let (result, _) = streamed(&job("tcp", sink.address, operation));
    assert_eq!(result.counts.intended, 60);
    assert_eq!(result.counts.ok, result.latency_ns["response"].count);
    assert!(result.latency_ns["unloaded"].count >= 100);
}

fn exchanges(scheme: &str, address: SocketAddr, operation: RequestResponseOperation) -> LoadJob {
    LoadJob {
        operations: Some(100),
        timeout_ns: 200 * MS,
        mode: Mode::Closed {
            users: 2,
            think_time_ns: 0,
        },
        ..LoadJob::new(
            format!("{scheme}://{address}"),
            Operation::RequestResponse(operation),
        )
    }
}

#[test]
fn exchanges_of_any_size_are_answered_over_tcp_and_udp() {
    let sink = stream_sink();
    for (request_bytes, response_bytes) in [(16, 1), (64, 64), (20_000, 40_000)] {
        for (scheme, connect_each) in [("rr+tcp", false), ("rr+tcp", true), ("rr+udp", false)] {
            let operation = RequestResponseOperation {
                request_bytes,
                response_bytes,
                connect_each,
            };
            let result = run(&exchanges(scheme, sink.address, operation));
            assert_eq!(result.counts.ok, 100, "{scheme} {:?}", result.errors);
        }
    }
    assert_eq!(sink.counters().ok, 900);
}

#[test]
fn a_datagram_without_an_answer_is_a_timeout_and_the_next_is_asked_all_the_same() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    thread::spawn(move || {
        let mut room = [0; 64];
        for number in 0.. {
            let (count, from) = server.recv_from(&mut room).unwrap();
            if number % 10 != 3 {
                server.send_to(&room[..count], from).unwrap();
                // A repeat must not be taken for the answer to the next.
                server.send_to(&room[..count], from).unwrap();
            }
        }
    });
    let job = LoadJob {
        operations: Some(30),
        ..exchanges("rr+udp", address, RequestResponseOperation::default())
    };
    let result = run(&job);
    assert_eq!((result.counts.ok, result.counts.errors), (27, 3));
    assert_eq!(result.errors["response"]["recv_timeout"], 3);
}
