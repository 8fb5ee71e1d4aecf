//! Servers of known behaviour: a thread for each connection, everything counted.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::{self, JoinHandle};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use steelyard_load::LoadError;
use steelyard_wire::job::{Arrival, HttpOperation, LoadJob, Mode, Operation, SmtpOperation};
use steelyard_wire::result::{Latency, LoadResult};

pub const MS: u64 = 1_000_000;

pub const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// What a server has seen.
#[derive(Debug, Default)]
pub struct Seen {
    pub connections: AtomicU64,
    pub operations: AtomicU64,
}

/// Listens until it is dropped.
pub struct Server {
    pub address: SocketAddr,
    pub seen: Arc<Seen>,
    stop: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves each connection with `serve` in a thread of its own.
    pub fn start(serve: impl Fn(TcpStream, &Seen) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, stop) = (Arc::new(Seen::default()), Arc::new(AtomicBool::new(false)));
        let (serve, all, stopped) = (Arc::new(serve), Arc::clone(&seen), Arc::clone(&stop));
        let acceptor = thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if stopped.load(SeqCst) {
                    return;
                }
                stream.set_nodelay(true).unwrap();
                all.connections.fetch_add(1, SeqCst);
                let (serve, all) = (Arc::clone(&serve), Arc::clone(&all));
                thread::spawn(move || serve(stream, &all));
            }
        });
        Self {
            address,
            seen,
            stop,
            acceptor: Some(acceptor),
        }
    }

    /// An HTTP server: `answer(stream, number)` after each request, `false` to close.
    pub fn http(answer: impl Fn(&mut TcpStream, u64) -> bool + Send + Sync + 'static) -> Self {
        Self::start(move |mut stream, seen| {
            let mut requests = BufReader::new(stream.try_clone().unwrap());
            while read_request(&mut requests) {
                let number = seen.operations.fetch_add(1, SeqCst);
                if !answer(&mut stream, number) {
                    return;
                }
            }
        })
    }

    pub fn connections(&self) -> u64 {
        self.seen.connections.load(SeqCst)
    }

    pub fn operations(&self) -> u64 {
        self.seen.operations.load(SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, SeqCst);
        let _ = TcpStream::connect(self.address);
        self.acceptor.take().unwrap().join().unwrap();
    }
}

fn read_request(requests: &mut BufReader<TcpStream>) -> bool {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if !matches!(requests.read_line(&mut line), Ok(count) if count > 0) {
            return false;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            return std::io::copy(
                &mut std::io::Read::take(requests, length),
                &mut std::io::sink(),
            )
            .is_ok();
        }
    }
}

/// Writes `bytes` and says whether it worked.
pub fn send(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    stream.write_all(bytes).is_ok()
}

/// Writes `bytes`, then closes.
pub fn send_last(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    let _ = stream.write_all(bytes);
    false
}

/// Closes with a reset instead of a good-bye.
pub fn reset(stream: &TcpStream) {
    rustix::net::sockopt::set_socket_linger(stream, Some(std::time::Duration::ZERO)).unwrap();
}

/// A closed job of `users` for `window_ms`.
pub fn closed(target: String, operation: Operation, users: u32, window_ms: u64) -> LoadJob {
    LoadJob {
        mode: Mode::Closed {
            users,
            think_time_ns: 0,
        },
        duration_ns: Some(window_ms * MS),
        drain_ns: 5_000 * MS,
        timeout_ns: 5_000 * MS,
        seed: 1,
        spin: false,
        series_interval_ns: 100 * MS,
        ..LoadJob::new(target, operation)
    }
}

pub fn http_job(server: &Server, users: u32, window_ms: u64) -> LoadJob {
    let operation = Operation::Http(HttpOperation::default());
    closed(
        format!("http://{}/", server.address),
        operation,
        users,
        window_ms,
    )
}

pub fn smtp_job(server: &Server, operation: SmtpOperation, users: u32, window_ms: u64) -> LoadJob {
    closed(
        format!("smtp://{}", server.address),
        Operation::Smtp(operation),
        users,
        window_ms,
    )
}

pub fn open(rate_per_s: f64, connections: u32, max_backlog: u64) -> Mode {
    Mode::Open {
        rate_per_s,
        arrival: Arrival::Constant,
        connections,
        unbounded: false,
        max_backlog,
    }
}

pub fn try_run(job: &LoadJob) -> Result<LoadResult, LoadError> {
    steelyard_load::run(job, &AtomicBool::new(false), None)
}

/// Runs `job`; every result must keep the law of conservation and keep failures apart.
pub fn run(job: &LoadJob) -> LoadResult {
    let result = try_run(job).unwrap();
    let counts = &result.counts;
    let failed: u64 = result
        .errors
        .values()
        .flat_map(|kinds| kinds.values())
        .sum();
    assert_eq!(counts.intended, counts.unsent + counts.sent);
    assert_eq!(
        counts.sent,
        counts.ok + counts.errors + counts.inflight_at_stop
    );
    assert_eq!(counts.errors, failed);
    for name in ["response", "service"] {
        assert_eq!(result.latency_ns[name].count, counts.ok, "{name}");
    }
    assert_eq!(result.latency_ns["lateness"].count, counts.sent);
    assert_eq!(result.latency_ns["errors"].count, counts.errors);
    assert!(!warnings(&result).contains(&"conservation_broken"));
    result
}

/// Kinds of the warnings.
pub fn warnings(result: &LoadResult) -> Vec<&str> {
    let warnings = result.verdict.warnings.iter();
    warnings.map(|warning| warning.kind.name()).collect()
}

/// Failures of `kind` in `phase`.
pub fn failures(result: &LoadResult, phase: &str, kind: &str) -> u64 {
    result
        .errors
        .get(phase)
        .and_then(|kinds| kinds.get(kind))
        .copied()
        .unwrap_or(0)
}

/// Samples above `limit_ns`.
pub fn above(latency: &Latency, limit_ns: u64) -> u64 {
    let bytes = STANDARD.decode(&latency.hdr_v2_b64).unwrap();
    let all: Histogram<u64> = Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .unwrap();
    all.count_between(limit_ns, u64::MAX)
}
