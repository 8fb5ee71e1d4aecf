//! FTP under TLS on both connections, with a client that verifies.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use steelyard_sink::Protocol;

use crate::peer::Peer;
use crate::running::options;
use crate::tls::{Secured, TlsPeer, secured, upgrade};

fn protected(address: SocketAddr, trust: &Arc<ClientConfig>) -> TlsPeer {
    let mut peer = Peer::greeted(address);
    peer.expect("PROT P", "503 ");
    peer.expect("AUTH TLS", "234 ");
    let mut peer = upgrade(peer, trust);
    for (command, code) in [
        ("USER x", "331 "),
        ("PASS x", "230 "),
        ("PBSZ 0", "200 "),
        ("PROT P", "200 "),
    ] {
        peer.expect(command, code);
    }
    peer
}

fn retrieve(peer: &mut TlsPeer, address: SocketAddr, trust: &Arc<ClientConfig>) -> TlsPeer {
    let reply = peer.ask("EPSV");
    let port = reply.split('|').nth(3).unwrap().parse().unwrap();
    let data = TcpStream::connect((address.ip(), port)).unwrap();
    peer.expect("RETR /bytes/1000000", "150 ");
    upgrade(Peer(data), trust)
}

#[test]
fn a_protected_file_comes_whole() {
    let Secured { sink, trust } = secured(options(Protocol::Ftp), false);
    let mut peer = protected(sink.address, &trust);
    let mut data = retrieve(&mut peer, sink.address, &trust);
    assert_eq!(data.rest().len(), 1_000_000);
    assert!(peer.reply().starts_with("226 "));
    peer.expect("AUTH TLS", "503 ");
    assert_eq!(sink.finish().ok, 1);
}

#[test]
fn a_data_connection_that_resumes_nothing_can_be_refused() {
    let mut strict = options(Protocol::Ftp);
    strict.ftp.require_reuse = true;
    let Secured { sink, trust } = secured(strict, false);
    let mut peer = protected(sink.address, &trust);
    let mut data = retrieve(&mut peer, sink.address, &trust);
    assert_eq!(data.rest().len(), 1_000_000);
    assert!(peer.reply().starts_with("226 "));

    let mut forgetful = (*trust).clone();
    forgetful.resumption = Resumption::disabled();
    let mut data = retrieve(&mut peer, sink.address, &Arc::new(forgetful));
    let _ = std::io::Read::read(&mut data.0, &mut [0]);
    assert!(peer.reply().starts_with("522 "));
    let counters = sink.finish();
    assert_eq!((counters.ok, counters.failed), (1, 1));
}
