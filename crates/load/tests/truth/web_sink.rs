//! HTTP, HTTP/2 and FTP against the sink: both ends are this project's, each tested alone against
//! others.

use steelyard_sink::{Protocol, SinkOptions, TlsServerOptions};
use steelyard_wire::job::{
    FtpAction, FtpOperation, HttpOperation, HttpVersion, LoadJob, Operation, StartTls, TlsOptions,
};

use crate::secured::{self, identity};
use crate::server::{closed, run, try_run};
use crate::sink::Sink;

const OPERATIONS: u64 = 60;

fn sink(protocol: Protocol, tls: Option<TlsServerOptions>) -> Sink {
    Sink::start(|address| SinkOptions {
        tls,
        ..SinkOptions::new(protocol, address)
    })
}

/// So many operations; no one vouches for the sink's certificate.
fn job(target: String, operation: Operation) -> LoadJob {
    LoadJob {
        operations: Some(OPERATIONS),
        tls: TlsOptions {
            insecure: true,
            ..TlsOptions::default()
        },
        ..closed(target, operation, 2, 20_000)
    }
}

fn two() -> HttpOperation {
    HttpOperation {
        version: HttpVersion::Http2,
        requests_at_once: 3,
        ..HttpOperation::default()
    }
}

#[test]
fn http2_is_agreed_on_with_tls() {
    let sink = sink(Protocol::Http, Some(TlsServerOptions::new(true)));
    let target = format!("https://{}/", sink.address);
    let result = run(&job(target, Operation::Http(two())));
    assert_eq!((result.counts.ok, result.counts.errors), (OPERATIONS, 0));
    assert_eq!(result.latency_ns["ramp.tls"].count, 2);
    let seen = sink.counters();
    assert_eq!((seen.ok, seen.tls_handshakes), (OPERATIONS, 2));
}

#[test]
fn a_server_that_does_not_choose_http2_lacks_a_capability() {
    let identity = identity("no-alpn", &["localhost"]);
    // It speaks TLS and knows nothing of ALPN.
    let server = secured::serve(&identity, u64::MAX, |_| {});
    let target = format!("https://localhost:{}/", server.address.port());
    let error = try_run(&job(target, Operation::Http(two()))).unwrap_err();
    assert!(error.to_string().contains("capability_missing"), "{error}");
    assert_eq!(server.operations(), 0);
}

#[test]
fn payloads_of_http_are_verified_in_both_versions() {
    for version in [HttpVersion::Http1, HttpVersion::Http2] {
        let sink = sink(Protocol::Http, None);
        let operation = HttpOperation {
            version,
            method: "POST".to_owned(),
            body: "a body".to_owned(),
            verify: true,
            ..HttpOperation::default()
        };
        let target = format!("http://{}/", sink.address);
        let result = run(&job(target, Operation::Http(operation)));
        assert_eq!((result.counts.ok, result.counts.errors), (OPERATIONS, 0));
        let payload = result.payload.unwrap();
        assert_eq!((payload.checked, payload.corrupted), (OPERATIONS, 0));
        assert_eq!(payload.unmarked, 0);
    }
}

#[test]
fn files_go_to_the_sink_and_come_back_over_ftps() {
    for (scheme, implicit, starttls) in [
        ("ftp", false, StartTls::Require),
        ("ftps", true, StartTls::Never),
    ] {
        let sink = sink(Protocol::Ftp, Some(TlsServerOptions::new(implicit)));
        let operation = FtpOperation {
            actions: [(FtpAction::Upload, 1.0), (FtpAction::Download, 1.0)].into(),
            download: vec!["/bytes/3000".to_owned()],
            folder: "in".to_owned(),
            upload_bytes: 5_000,
            starttls,
            ..FtpOperation::default()
        };
        let target = format!("{scheme}://{}/", sink.address);
        let result = run(&job(target, Operation::Ftp(operation)));
        assert_eq!(
            (result.counts.ok, result.counts.errors),
            (OPERATIONS, 0),
            "{scheme}: {:?}",
            result.errors
        );
        let seen = sink.counters();
        assert_eq!(seen.ok, OPERATIONS, "{scheme}");
        assert!(seen.stored_files > 0 && seen.stored_files < OPERATIONS);
        // Control connections, and one data connection for each transfer.
        assert_eq!(seen.tls_handshakes, OPERATIONS + 2, "{scheme}");
    }
}
