//! TLS, with a client that verifies.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore, StreamOwned};
use steelyard_sink::{Certificate, Protocol, SinkError, SinkOptions, TlsServerOptions};
use tempfile::TempDir;

use crate::peer::Peer;
use crate::running::{Running, options, start};

pub type TlsPeer = Peer<StreamOwned<ClientConnection, TcpStream>>;

/// A sink with TLS and what its clients trust.
pub struct Secured {
    pub sink: Running,
    pub trust: Arc<ClientConfig>,
}

/// Adds TLS with a certificate made for `localhost`.
pub fn secured(mut options: SinkOptions, implicit: bool) -> Secured {
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    options.tls = Some(made(implicit, Some(ca.clone())));
    let sink = start(options);
    let trust = Arc::new(client(&[CertificateDer::from_pem_file(&ca).unwrap()], &[]));
    Secured { sink, trust }
}

fn made(implicit: bool, write_ca: Option<PathBuf>) -> TlsServerOptions {
    TlsServerOptions {
        implicit,
        certificate: Certificate::SelfSigned {
            names: vec!["localhost".to_owned()],
            write_ca,
        },
    }
}

fn client(roots: &[CertificateDer<'static>], alpn: &[&[u8]]) -> ClientConfig {
    let mut store = RootCertStore::empty();
    for root in roots {
        store.add(root.clone()).unwrap();
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(store)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    config
}

/// Puts TLS on a connection.
pub fn upgrade(peer: Peer, trust: &Arc<ClientConfig>) -> TlsPeer {
    let name = ServerName::try_from("localhost").unwrap();
    let tls = ClientConnection::new(Arc::clone(trust), name).unwrap();
    Peer(StreamOwned::new(tls, peer.0))
}

fn connect(address: SocketAddr, trust: &Arc<ClientConfig>) -> TlsPeer {
    upgrade(Peer::connect(address), trust)
}

#[test]
fn smtp_under_tls_greets_answers_and_says_goodbye_to_a_verifying_client() {
    let Secured { sink, trust } = secured(options(Protocol::Smtp), true);
    let mut peer = connect(sink.address, &trust);
    assert!(peer.reply().starts_with("220 "));
    assert!(!peer.ask("EHLO a").contains("STARTTLS"));
    peer.expect("MAIL FROM:<a@b>", "250 ");
    peer.expect("RCPT TO:<user1@b>", "250 ");
    peer.expect("DATA", "354 ");
    peer.send("Subject: x\r\n\r\nhello\r\n.\r\n");
    assert!(peer.reply().starts_with("250 "));
    peer.expect("QUIT", "221 ");
    // An end without close_notify would be an error here.
    assert_eq!(peer.end(), None);
    let counters = sink.finish();
    assert_eq!((counters.ok, counters.tls_handshakes), (1, 1));
    assert!(counters.errors.is_empty(), "{counters:?}");
}

#[test]
fn large_bodies_arrive_whole_under_tls() {
    let mut large = options(Protocol::Http);
    large.http.body_bytes = 5_000_000;
    let Secured { sink, trust } = secured(large, true);
    let mut peer = connect(sink.address, &trust);
    for _ in 0..2 {
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        let (head, body) = peer.http_reply(true);
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert_eq!(body.len(), 5_000_000);
        assert!(body.starts_with(b"steelyard weighs"));
    }
    sink.finish();
}

#[test]
fn a_second_connection_is_resumed_from_a_ticket() {
    let Secured { sink, trust } = secured(options(Protocol::Smtp), true);
    for kind in [HandshakeKind::Full, HandshakeKind::Resumed] {
        let mut peer = connect(sink.address, &trust);
        assert!(peer.reply().starts_with("220 "));
        assert_eq!(peer.0.conn.handshake_kind(), Some(kind));
        peer.expect("QUIT", "221 ");
    }
    let counters = sink.finish();
    assert_eq!((counters.tls_handshakes, counters.tls_resumed), (2, 1));
}

#[test]
fn a_client_that_does_not_trust_is_counted_with_the_cause() {
    let Secured { sink, .. } = secured(options(Protocol::Smtp), true);
    let untrusting = Arc::new(client(&[], &[]));
    let mut peer = connect(sink.address, &untrusting);
    assert!(std::io::Read::read(&mut peer.0, &mut [0]).is_err());
    drop(peer);
    let counters = sink.finish();
    assert_eq!(counters.errors.get("tls_certificate_refused"), Some(&1));
    assert_eq!(counters.tls_handshakes, 0);
}

#[test]
fn plain_bytes_on_a_tls_port_are_counted_as_such() {
    let Secured { sink, .. } = secured(options(Protocol::Http), true);
    let mut peer = Peer::connect(sink.address);
    peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    peer.rest();
    let counters = sink.finish();
    assert_eq!(counters.errors.get("tls_not_tls"), Some(&1));
}

#[test]
fn a_client_that_offers_other_protocols_only_is_refused() {
    let folder = TempDir::new().unwrap();
    let ca = folder.path().join("ca.pem");
    let mut https = options(Protocol::Http);
    https.tls = Some(made(true, Some(ca.clone())));
    let sink = start(https);
    let roots = [CertificateDer::from_pem_file(&ca).unwrap()];
    let mut other = connect(sink.address, &Arc::new(client(&roots, &[b"spdy/1"])));
    assert!(std::io::Read::read(&mut other.0, &mut [0]).is_err());
    let mut fitting = connect(sink.address, &Arc::new(client(&roots, &[b"http/1.1"])));
    fitting.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(fitting.http_reply(true).0.starts_with("HTTP/1.1 200 "));
    assert_eq!(fitting.0.conn.alpn_protocol(), Some(b"http/1.1".as_slice()));
    let counters = sink.finish();
    assert_eq!(counters.errors.get("tls_nothing_in_common"), Some(&1));
}

#[test]
fn files_that_are_no_certificates_are_named() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("cert.pem");
    fs::write(&file, "nothing").unwrap();
    let mut wrong = options(Protocol::Smtp);
    wrong.tls = Some(TlsServerOptions {
        implicit: true,
        certificate: Certificate::Files {
            certificate: file.clone(),
            key: file.clone(),
        },
    });
    let stop = steelyard_sink::StopHandle::new().unwrap();
    let error = steelyard_sink::serve(&wrong, &stop, |_| panic!("it started")).unwrap_err();
    assert!(matches!(error, SinkError::Tls { ref path, .. } if *path == file));
}
