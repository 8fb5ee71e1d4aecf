//! FTP on both its connections.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use steelyard_sink::{Delay, Fault, Protocol, SinkOptions};

use crate::peer::Peer;
use crate::running::{Running, options, start};

fn ftp() -> Running {
    start(options(Protocol::Ftp))
}

fn faulty(fault: &str) -> SinkOptions {
    let mut options = options(Protocol::Ftp);
    options.faults = vec![Fault::parse(fault).unwrap()];
    options
}

fn logged_in(address: SocketAddr) -> Peer {
    let mut peer = Peer::greeted(address);
    peer.expect("USER me", "331 ");
    peer.expect("PASS secret", "230 ");
    peer.expect("TYPE I", "200 ");
    peer
}

/// The data connection that EPSV offers.
fn data(peer: &mut Peer, address: SocketAddr) -> TcpStream {
    let reply = peer.ask("EPSV");
    assert!(reply.starts_with("229 "), "{reply}");
    let port = reply.split('|').nth(3).unwrap().parse().unwrap();
    let data = TcpStream::connect((address.ip(), port)).unwrap();
    data.set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    data
}

fn download(peer: &mut Peer, address: SocketAddr, command: &str) -> Vec<u8> {
    let mut data = data(peer, address);
    peer.expect(command, "150 ");
    let mut bytes = Vec::new();
    data.read_to_end(&mut bytes).unwrap();
    assert!(peer.reply().starts_with("226 "));
    bytes
}

fn upload(peer: &mut Peer, address: SocketAddr, name: &str, bytes: &[u8]) {
    let mut data = data(peer, address);
    peer.expect(&format!("STOR {name}"), "150 ");
    data.write_all(bytes).unwrap();
    drop(data);
    assert!(peer.reply().starts_with("226 "));
}

#[test]
fn a_made_up_file_has_the_length_of_its_name() {
    let sink = ftp();
    let mut peer = logged_in(sink.address);
    for length in [0, 1, 1000, 3_000_000] {
        peer.expect(
            &format!("SIZE /bytes/{length}"),
            &format!("213 {length}\r\n"),
        );
        let bytes = download(&mut peer, sink.address, &format!("RETR /bytes/{length}"));
        assert_eq!(bytes.len(), length);
    }
    peer.expect("QUIT", "221 ");
    assert_eq!(peer.rest(), "");
    let counters = sink.finish();
    assert_eq!((counters.received, counters.ok), (4, 4));
    assert!(counters.bytes_out > 3_000_000);
}

#[test]
fn an_upload_comes_back_is_listed_and_can_be_deleted() {
    let sink = ftp();
    let mut peer = logged_in(sink.address);
    let content: Vec<u8> = (0..500_000_u32).flat_map(u32::to_le_bytes).collect();
    peer.expect("CWD in", "250 ");
    peer.expect("PWD", "257 \"/in\"");
    upload(&mut peer, sink.address, "a file", &content);
    // Another connection sees it.
    let mut other = logged_in(sink.address);
    assert_eq!(
        download(&mut other, sink.address, "RETR /in/a file"),
        content
    );
    let list = download(&mut other, sink.address, "LIST -a /in");
    let list = String::from_utf8(list).unwrap();
    assert!(list.ends_with(" 2000000 Jan 01 00:00 a file\r\n"), "{list}");
    assert_eq!(download(&mut peer, sink.address, "NLST"), b"a file\r\n");
    let facts = download(&mut peer, sink.address, "MLSD");
    assert!(facts.starts_with(b"type=file;size=2000000;"));
    peer.expect("MDTM a file", "213 2");
    peer.expect("DELE a file", "250 ");
    peer.expect("SIZE a file", "550 ");
    let counters = sink.finish();
    assert_eq!(
        (counters.stored_files, counters.stored_bytes),
        (1, 2_000_000)
    );
}

#[test]
fn an_upload_beyond_what_is_kept_is_read_and_dropped() {
    let mut small = options(Protocol::Ftp);
    small.ftp.keep_bytes = 1000;
    let sink = start(small);
    let mut peer = logged_in(sink.address);
    upload(&mut peer, sink.address, "large", &[1; 1001]);
    upload(&mut peer, sink.address, "fits", &[2; 1000]);
    peer.expect("SIZE large", "550 ");
    peer.expect("SIZE fits", "213 1000");
    assert_eq!(sink.finish().ok, 2);
}

#[test]
fn pasv_tells_address_and_port() {
    let sink = ftp();
    let mut peer = logged_in(sink.address);
    let reply = peer.ask("PASV");
    let inside = reply.split(['(', ')']).nth(1).unwrap();
    let numbers: Vec<u16> = inside
        .split(',')
        .map(|part| part.parse().unwrap())
        .collect();
    assert_eq!(numbers[..4], [127, 0, 0, 1]);
    let port = numbers[4] << 8 | numbers[5];
    let mut data = TcpStream::connect(("127.0.0.1", port)).unwrap();
    // The client connects before it asks, or after: both are served.
    peer.expect("RETR /bytes/5", "150 ");
    let mut bytes = Vec::new();
    data.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, b"steel");
    assert!(peer.reply().starts_with("226 "));
    sink.finish();
}

#[test]
fn a_transfer_needs_a_login_and_a_data_connection() {
    let sink = ftp();
    let mut peer = Peer::greeted(sink.address);
    peer.expect("RETR /bytes/1", "530 ");
    peer.expect("PASS x", "503 ");
    peer.expect("USER", "501 ");
    peer.expect("USER x", "331 ");
    peer.expect("PASS x", "230 ");
    peer.expect("RETR /bytes/1", "425 ");
    peer.expect("XYZZY", "500 ");
    peer.expect("TYPE E", "504 ");
    peer.expect("AUTH TLS", "502 ");
    peer.expect("REST 100", "502 ");
    let _unused = data(&mut peer, sink.address);
    peer.expect("RETR /nowhere", "550 ");
    let counters = sink.finish();
    assert_eq!((counters.received, counters.failed), (3, 3));
}

#[test]
fn a_line_cut_or_too_long_or_with_others_is_one_line() {
    let sink = ftp();
    let mut peer = logged_in(sink.address);
    peer.send("NO");
    peer.send("OP\r\nSYST\r\nPW");
    assert!(peer.reply().starts_with("200 ") && peer.reply().starts_with("215 "));
    peer.send("D\r\n");
    assert!(peer.reply().starts_with("257 "));
    peer.send(format!("CWD {}\r\nNOOP\r\n", "x".repeat(10_000)));
    assert!(peer.reply().starts_with("500 "));
    assert!(peer.reply().starts_with("200 "));
    assert_eq!(sink.finish().errors["line_too_long"], 1);
}

#[test]
fn a_command_during_a_transfer_waits_for_its_end() {
    let sink = ftp();
    let mut peer = logged_in(sink.address);
    let mut data = data(&mut peer, sink.address);
    peer.send("RETR /bytes/50000000\r\nNOOP\r\n");
    assert!(peer.reply().starts_with("150 "));
    assert!(peer.is_silent());
    let mut bytes = Vec::new();
    data.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes.len(), 50_000_000);
    assert!(peer.reply().starts_with("226 ") && peer.reply().starts_with("200 "));
    sink.finish();
}

#[test]
fn an_abort_ends_the_transfer_and_not_the_connection() {
    let sink = ftp();
    let mut peer = logged_in(sink.address);
    let _data = data(&mut peer, sink.address);
    peer.expect("RETR /bytes/500000000", "150 ");
    peer.send(b"\xff\xf4\xff\xf2ABOR\r\n");
    assert!(peer.reply().starts_with("426 ") && peer.reply().starts_with("226 "));
    assert_eq!(download(&mut peer, sink.address, "RETR /bytes/3").len(), 3);
    let counters = sink.finish();
    assert_eq!((counters.failed, counters.ok), (1, 1));
}

#[test]
fn a_client_that_leaves_during_a_transfer_leaves_it_unanswered() {
    let sink = ftp();
    let mut peer = logged_in(sink.address);
    let _data = data(&mut peer, sink.address);
    peer.expect("RETR /bytes/500000000", "150 ");
    peer.0.shutdown(Shutdown::Both).unwrap();
    let mut other = logged_in(sink.address);
    assert_eq!(download(&mut other, sink.address, "RETR /bytes/3").len(), 3);
    let counters = sink.finish();
    assert_eq!((counters.received, counters.unanswered), (2, 1));
}

#[test]
fn a_broken_data_connection_is_answered_with_426() {
    let sink = ftp();
    let mut peer = logged_in(sink.address);
    let gone = data(&mut peer, sink.address);
    peer.expect("RETR /bytes/500000000", "150 ");
    drop(gone);
    assert!(peer.reply().starts_with("426 "));
    assert_eq!(sink.finish().failed, 1);
}

#[test]
fn refusals_have_the_codes_of_their_command() {
    for (fault, command, code) in [
        ("RETR:reject", "RETR /bytes/1", "550 "),
        ("RETR:tempfail", "RETR /bytes/1", "450 "),
        ("EPSV:tempfail", "EPSV", "425 "),
        ("USER:reject", "USER x", "530 "),
        ("PASS:tempfail", "PASS x", "421 "),
        ("SIZE:reject", "SIZE /bytes/1", "550 "),
    ] {
        let sink = start(faulty(fault));
        let mut peer = Peer::greeted(sink.address);
        if !matches!(code, "530 " | "421 ") {
            peer.ask("USER x");
            peer.ask("PASS x");
        }
        peer.expect(command, code);
        if code == "421 " {
            assert_eq!(peer.rest(), "");
        }
        sink.finish();
    }
    let sink = start(faulty("CONNECT:reject"));
    assert!(Peer::connect(sink.address).rest().starts_with("421 "));
    sink.finish();
}

#[test]
fn the_data_connection_can_be_refused_cut_or_silent() {
    let sink = start(faulty("DATA:reject"));
    let mut peer = logged_in(sink.address);
    let _data = data(&mut peer, sink.address);
    peer.expect("RETR /bytes/9", "425 ");
    assert_eq!(sink.finish().failed, 1);

    let sink = start(faulty("DATA:short"));
    let mut peer = logged_in(sink.address);
    let mut cut = data(&mut peer, sink.address);
    peer.expect("RETR /bytes/100000000", "150 ");
    let mut bytes = Vec::new();
    let _ = cut.read_to_end(&mut bytes);
    assert!(bytes.len() < 100_000_000);
    assert!(peer.reply().starts_with("426 "));
    assert_eq!(sink.finish().failed, 1);

    let sink = start(faulty("DATA:stall"));
    let mut peer = logged_in(sink.address);
    let silent = data(&mut peer, sink.address);
    peer.expect("RETR /bytes/9", "150 ");
    assert!(Peer(silent).is_silent() && peer.is_silent());
    assert_eq!(sink.finish().unanswered, 1);
}

#[test]
fn a_delay_holds_the_end_of_a_transfer() {
    let mut late = options(Protocol::Ftp);
    late.delays = vec![Delay::parse("RETR:2ms").unwrap()];
    let sink = start(late);
    let mut peer = logged_in(sink.address);
    assert_eq!(download(&mut peer, sink.address, "RETR /bytes/7").len(), 7);
    let counters = sink.finish();
    assert_eq!(counters.lateness.unwrap().count, 1);
}

#[test]
fn a_fault_the_data_connection_does_not_know_is_refused() {
    for fault in ["DATA:garbage", "DATA:slow"] {
        let stop = steelyard_sink::StopHandle::new().unwrap();
        let refused = steelyard_sink::serve(&faulty(fault), &stop, |_| stop.stop());
        assert!(refused.unwrap_err().to_string().contains("DATA"));
    }
}

#[test]
fn a_stop_says_goodbye() {
    let sink = ftp();
    let mut peer = Peer::greeted(sink.address);
    sink.pull();
    assert!(peer.rest().starts_with("421 "));
    sink.finish();
}
