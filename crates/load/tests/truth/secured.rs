//! TLS beneath a protocol, with a server whose certificate can be trusted or not.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use steelyard_wire::job::{HttpOperation, LoadJob, Operation, TlsOptions};

use crate::server::{MS, REPLY, Server, closed, failures, run, try_run};

/// A server's side of TLS, and the file that makes clients trust it.
pub struct Identity {
    pub config: Arc<ServerConfig>,
    pub ca_file: PathBuf,
}

impl Drop for Identity {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.ca_file);
    }
}

/// For the names in `names`; `test` tells the files of tests apart.
pub fn identity(test: &str, names: &[&str]) -> Identity {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
    let ca_file = std::env::temp_dir().join(format!("steelyard-{}-{test}", std::process::id()));
    std::fs::write(&ca_file, cert.pem()).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let config =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
    Identity {
        config: Arc::new(config),
        ca_file,
    }
}

pub type Secured = StreamOwned<ServerConnection, TcpStream>;

/// Answers requests over TLS; after `limit` replies on a connection `last` decides how it ends.
pub fn serve(
    identity: &Identity,
    limit: u64,
    last: impl Fn(&mut Secured) + Send + Sync + 'static,
) -> Server {
    let config = Arc::clone(&identity.config);
    Server::start(move |stream, seen| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut requests = BufReader::new(StreamOwned::new(connection, stream));
        for _ in 0..limit {
            let mut line = String::new();
            while line != "\r\n" {
                line.clear();
                if !matches!(requests.read_line(&mut line), Ok(count) if count > 0) {
                    return;
                }
            }
            seen.operations
                .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            if requests.get_mut().write_all(REPLY).is_err() {
                return;
            }
        }
        last(requests.get_mut());
    })
}

fn job(server: &Server, tls: TlsOptions) -> LoadJob {
    LoadJob {
        tls,
        ..closed(
            format!("https://localhost:{}/", server.address.port()),
            Operation::Http(HttpOperation::default()),
            3,
            150,
        )
    }
}

fn trusting(identity: &Identity) -> TlsOptions {
    TlsOptions {
        ca_file: Some(identity.ca_file.to_str().unwrap().to_owned()),
        ..TlsOptions::default()
    }
}

#[test]
fn requests_over_tls_are_answered_and_the_handshake_is_a_phase() {
    let identity = identity("good", &["localhost"]);
    let server = serve(&identity, u64::MAX, |_| {});
    let result = run(&job(&server, trusting(&identity)));
    assert!(result.counts.ok > 0);
    assert_eq!(result.counts.sent, server.operations());
    assert_eq!(result.latency_ns["ramp.tls"].count, 3);
    let tls = result.tls.unwrap();
    assert!(tls.verified);
    assert_eq!(tls.versions.values().sum::<u64>(), 3);
}

#[test]
fn a_certificate_that_no_one_vouches_for_is_refused() {
    let (own, other) = (
        identity("own", &["localhost"]),
        identity("other", &["localhost"]),
    );
    let server = serve(&own, u64::MAX, |_| {});
    let error = try_run(&job(&server, trusting(&other))).unwrap_err();
    assert!(error.to_string().contains("tls_cert"), "{error}");
    assert_eq!(server.operations(), 0);
}

#[test]
fn a_certificate_of_another_name_is_refused() {
    let identity = identity("name", &["elsewhere.test"]);
    let server = serve(&identity, u64::MAX, |_| {});
    let error = try_run(&job(&server, trusting(&identity))).unwrap_err();
    assert!(error.to_string().contains("tls_cert"), "{error}");
}

#[test]
fn an_unverified_run_says_so() {
    let identity = identity("insecure", &["elsewhere.test"]);
    let server = serve(&identity, u64::MAX, |_| {});
    let insecure = TlsOptions {
        insecure: true,
        ..TlsOptions::default()
    };
    let result = run(&job(&server, insecure));
    assert!(result.counts.ok > 0);
    assert!(!result.tls.unwrap().verified);
}

#[test]
fn a_connection_for_each_request_has_its_handshake_inside_the_operation() {
    let identity = identity("each", &["localhost"]);
    let server = serve(&identity, u64::MAX, |_| {});
    let each = LoadJob {
        operation: Operation::Http(HttpOperation {
            keep_alive: false,
            ..HttpOperation::default()
        }),
        operations: Some(50),
        duration_ns: None,
        ..job(&server, trusting(&identity))
    };
    let result = run(&each);
    assert_eq!(result.counts.ok, 50);
    assert_eq!(result.latency_ns["phase.tls"].count, 50);
    assert_eq!(result.tls.unwrap().resumed, 0);
}

#[test]
fn sessions_are_resumed_when_the_job_asks_for_it() {
    let identity = identity("resumed", &["localhost"]);
    let server = serve(&identity, u64::MAX, |_| {});
    let resuming = LoadJob {
        operation: Operation::Http(HttpOperation {
            keep_alive: false,
            ..HttpOperation::default()
        }),
        operations: Some(50),
        duration_ns: None,
        tls: TlsOptions {
            resume: true,
            ..trusting(&identity)
        },
        ..job(&server, trusting(&identity))
    };
    let tls = run(&resuming).tls.unwrap();
    assert!(tls.resumed > 0, "{tls:?}");
}

#[test]
fn an_end_that_tls_did_not_announce_is_no_end_of_a_body() {
    let identity = identity("cut", &["localhost"]);
    let server = serve(&identity, 1, |stream| {
        let _ = std::io::Read::read(stream, &mut [0; 4096]);
        // A body to the end of the connection, whose end anybody may have made.
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhalf a bo");
        let _ = stream.sock.shutdown(std::net::Shutdown::Both);
    });
    let result = run(&job(&server, trusting(&identity)));
    // Each connection: one good reply, then bytes that no one asked for or half an answer.
    let failed = ["ttfb", "body"].map(|phase| failures(&result, phase, "peer_closed_early"));
    assert!(failed.iter().sum::<u64>() > 0, "{:?}", result.errors);
}

#[test]
fn a_server_that_does_not_speak_tls_is_distinguished() {
    let server = Server::start(|mut stream, _| {
        let _ = stream.write_all(b"220 this is no TLS\r\n");
        let mut rest = Vec::new();
        let _ = std::io::Read::read_to_end(&mut stream, &mut rest);
    });
    let insecure = TlsOptions {
        insecure: true,
        ..TlsOptions::default()
    };
    let error = try_run(&job(&server, insecure)).unwrap_err();
    assert!(error.to_string().contains("tls_handshake"), "{error}");
}

#[test]
fn a_file_without_certificates_is_refused_before_anything_is_sent() {
    let identity = identity("empty", &["localhost"]);
    let server = serve(&identity, u64::MAX, |_| {});
    std::fs::write(&identity.ca_file, "nothing here").unwrap();
    let refused = LoadJob {
        target: format!("https://{}/", server.address),
        ..job(&server, trusting(&identity))
    };
    let error = try_run(&refused).unwrap_err();
    assert!(error.to_string().contains("no certificate"), "{error}");
    assert_eq!(server.connections(), 0);
}

#[test]
fn large_requests_and_replies_cross_many_records() {
    const BODY_BYTES: usize = 300_000;
    let identity = identity("large", &["localhost"]);
    let config = Arc::clone(&identity.config);
    let server = Server::start(move |stream, seen| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        let mut reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {BODY_BYTES}\r\n\r\n");
        reply.push_str(&"y".repeat(BODY_BYTES));
        loop {
            let mut requests = BufReader::new(&mut stream);
            let mut line = String::new();
            while line != "\r\n" {
                line.clear();
                if !matches!(requests.read_line(&mut line), Ok(count) if count > 0) {
                    return;
                }
            }
            let mut body = std::io::Read::take(&mut requests, BODY_BYTES as u64);
            let copied = std::io::copy(&mut body, &mut std::io::sink()).unwrap();
            assert_eq!(copied, BODY_BYTES as u64);
            seen.operations
                .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            if stream.write_all(reply.as_bytes()).is_err() {
                return;
            }
        }
    });
    let large = LoadJob {
        operation: Operation::Http(HttpOperation {
            method: "POST".to_owned(),
            body: "x".repeat(BODY_BYTES),
            ..HttpOperation::default()
        }),
        operations: Some(20),
        duration_ns: None,
        drain_ns: 5_000 * MS,
        ..job(&server, trusting(&identity))
    };
    assert_eq!(run(&large).counts.ok, 20);
}
