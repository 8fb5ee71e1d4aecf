//! Over sockets, against an independent server of HTTP/2.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

use bytes::Bytes;
use h2::server::{self, SendResponse};
use http::{HeaderMap, Request, Response, StatusCode};
use steelyard_wire::job::{HttpOperation, HttpVersion, LoadJob, Operation};
use steelyard_wire::result::LoadResult;

use crate::server::{closed, failures, run};

/// An HTTP/2 server; ends with the process.
struct Peer {
    address: SocketAddr,
    requests: Arc<AtomicU64>,
    connections: Arc<AtomicU64>,
    body_bytes: Arc<AtomicU64>,
}

type Answer = fn(u64, SendResponse<Bytes>);

impl Peer {
    fn start(builder: server::Builder, answer: Answer) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let peer = Self {
            address: listener.local_addr().unwrap(),
            requests: Arc::default(),
            connections: Arc::default(),
            body_bytes: Arc::default(),
        };
        let (requests, connections, body_bytes) = (
            Arc::clone(&peer.requests),
            Arc::clone(&peer.connections),
            Arc::clone(&peer.body_bytes),
        );
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            let local = tokio::task::LocalSet::new();
            local.block_on(&runtime, async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    connections.fetch_add(1, SeqCst);
                    let (requests, body_bytes) = (Arc::clone(&requests), Arc::clone(&body_bytes));
                    let builder = builder.clone();
                    tokio::task::spawn_local(async move {
                        serve(stream, &builder, &requests, &body_bytes, answer).await;
                    });
                }
            });
        });
        peer
    }

    fn run(&self, operation: HttpOperation, users: u32, operations: u64) -> LoadResult {
        let operation = HttpOperation {
            version: HttpVersion::Http2,
            ..operation
        };
        run(&LoadJob {
            operations: Some(operations),
            ..closed(
                format!("http://{}/", self.address),
                Operation::Http(operation),
                users,
                20_000,
            )
        })
    }
}

async fn serve(
    stream: tokio::net::TcpStream,
    builder: &server::Builder,
    requests: &AtomicU64,
    body_bytes: &Arc<AtomicU64>,
    answer: Answer,
) {
    stream.set_nodelay(true).unwrap();
    let Ok(mut connection) = builder.handshake::<_, Bytes>(stream).await else {
        return;
    };
    let mut of_connection = 0;
    while let Some(Ok((request, respond))) = connection.accept().await {
        requests.fetch_add(1, SeqCst);
        of_connection += 1;
        if request.uri().path() == "/leave" && of_connection == 3 {
            connection.graceful_shutdown();
        }
        let (number, body_bytes) = (of_connection, Arc::clone(body_bytes));
        tokio::task::spawn_local(async move {
            take_body(request, &body_bytes).await;
            answer(number, respond);
        });
    }
}

async fn take_body(request: Request<h2::RecvStream>, body_bytes: &AtomicU64) {
    let mut body = request.into_body();
    while let Some(Ok(part)) = body.data().await {
        body_bytes.fetch_add(part.len() as u64, SeqCst);
        body.flow_control().release_capacity(part.len()).unwrap();
    }
}

/// Every way to say 200, and a trailer at times.
fn answer_well(number: u64, mut respond: SendResponse<Bytes>) {
    let reply = Response::builder()
        .header("x-number", number.to_string())
        .header("x-long", "v".repeat((number as usize % 7) * 300));
    let reply = reply.body(()).unwrap();
    if number.is_multiple_of(5) {
        respond.send_response(reply, true).unwrap();
        return;
    }
    let mut stream = respond.send_response(reply, false).unwrap();
    let body = Bytes::from(vec![b'x'; (number as usize % 9) * 5_000]);
    if number.is_multiple_of(3) {
        stream.send_data(body, false).unwrap();
        let mut trailers = HeaderMap::new();
        trailers.insert("x-trailer", "yes".parse().unwrap());
        stream.send_trailers(trailers).unwrap();
    } else {
        stream.send_data(body, true).unwrap();
    }
}

fn streams(count: u32) -> HttpOperation {
    HttpOperation {
        requests_at_once: count,
        ..HttpOperation::default()
    }
}

#[test]
fn an_independent_server_answers_every_request_of_every_stream() {
    let peer = Peer::start(server::Builder::new(), answer_well);
    for (at_once, users) in [(1, 3), (10, 20), (100, 100)] {
        let before = peer.requests.load(SeqCst);
        let result = peer.run(streams(at_once), users, 2_000);
        assert_eq!((result.counts.ok, result.counts.errors), (2_000, 0));
        assert_eq!(peer.requests.load(SeqCst) - before, 2_000);
        assert_eq!(result.latency_ns["phase.ttfb"].count, 2_000);
    }
}

#[test]
fn the_full_parser_agrees_with_the_shortcut() {
    let peer = Peer::start(server::Builder::new(), answer_well);
    let operation = HttpOperation {
        strict: true,
        ..streams(10)
    };
    assert_eq!(peer.run(operation, 10, 500).counts.ok, 500);
}

#[test]
fn more_streams_than_the_server_allows_wait_for_their_turn() {
    let mut builder = server::Builder::new();
    builder.max_concurrent_streams(3);
    let peer = Peer::start(builder, answer_well);
    let result = peer.run(streams(50), 50, 500);
    assert_eq!((result.counts.ok, result.counts.errors), (500, 0));
}

#[test]
fn bodies_larger_than_every_window_arrive_whole() {
    let mut builder = server::Builder::new();
    builder.initial_window_size(1_000);
    let peer = Peer::start(builder, answer_well);
    let operation = HttpOperation {
        method: "POST".to_owned(),
        body: "x".repeat(200_000),
        ..streams(4)
    };
    let result = peer.run(operation, 4, 20);
    assert_eq!((result.counts.ok, result.counts.errors), (20, 0));
    assert_eq!(peer.body_bytes.load(SeqCst), 20 * 200_000);
}

#[test]
fn statuses_and_resets_are_failures_of_their_own_kind() {
    let peer = Peer::start(server::Builder::new(), |number, mut respond| {
        let with = |status| Response::builder().status(status).body(()).unwrap();
        match number % 4 {
            0 => respond.send_reset(h2::Reason::INTERNAL_ERROR),
            1 => drop(respond.send_response(with(StatusCode::NOT_FOUND), true)),
            2 => drop(respond.send_response(with(StatusCode::SERVICE_UNAVAILABLE), true)),
            _ => drop(respond.send_response(with(StatusCode::CREATED), true)),
        }
    });
    let result = peer.run(streams(1), 1, 400);
    assert_eq!(result.counts.ok, 100);
    assert_eq!(failures(&result, "ttfb", "h2_rst"), 100);
    assert_eq!(failures(&result, "ttfb", "bad_status_4xx"), 100);
    assert_eq!(failures(&result, "ttfb", "bad_status_5xx"), 100);
    assert_eq!(peer.connections.load(SeqCst), 1);
}

#[test]
fn a_server_that_says_goaway_is_met_again_on_a_new_connection() {
    let peer = Peer::start(server::Builder::new(), answer_well);
    let operation = HttpOperation {
        paths: vec!["/leave".to_owned()],
        ..streams(1)
    };
    let result = peer.run(operation, 1, 30);
    assert_eq!(result.counts.ok + result.counts.errors, 30);
    assert!(result.counts.ok >= 20, "{:?}", result.errors);
    assert!(peer.connections.load(SeqCst) >= 5);
    let others: Vec<_> = result
        .errors
        .values()
        .flat_map(|kinds| kinds.keys())
        .collect();
    assert!(others.iter().all(|kind| *kind == "h2_goaway"), "{others:?}");
}

#[test]
fn figures_are_kept_for_each_path() {
    let peer = Peer::start(server::Builder::new(), answer_well);
    let operation = HttpOperation {
        paths: vec!["/a".to_owned(), "/b".to_owned()],
        ..streams(10)
    };
    let result = peer.run(operation, 10, 200);
    let ok: Vec<u64> = result.operations.values().map(|kind| kind.ok).collect();
    assert_eq!(ok, [100, 100]);
}

#[test]
fn a_server_of_http_1_is_a_protocol_error() {
    let server = crate::server::Server::http(|stream, _| {
        crate::server::send_last(stream, b"HTTP/1.1 400 Bad Request\r\n\r\n")
    });
    let operation = HttpOperation {
        version: HttpVersion::Http2,
        ..HttpOperation::default()
    };
    let job = closed(
        format!("http://{}/", server.address),
        Operation::Http(operation),
        1,
        100,
    );
    let error = crate::server::try_run(&job).unwrap_err();
    assert!(error.to_string().contains("bad_protocol"), "{error}");
}
