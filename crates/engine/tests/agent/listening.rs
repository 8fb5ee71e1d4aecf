//! Waiting for a server that listens.

use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;

use serde_json::{Value, json};

use crate::controller::{Controller, pid_of, signal, start};

fn tcp(port: u16, timeout_ms: u64) -> Value {
    json!({ "verb": "listening", "address": "127.0.0.1", "port": port, "timeout_ms": timeout_ms })
}

/// A port on which no one listens, and no one will: it stays bound.
fn held_port() -> (std::os::fd::OwnedFd, u16) {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    bind(&socket, &any).unwrap();
    let port = std::net::SocketAddr::try_from(getsockname(&socket).unwrap())
        .unwrap()
        .port();
    (socket, port)
}

#[test]
fn a_server_that_listens_is_found_without_a_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut agent = Controller::new();
    assert_eq!(agent.ok(tcp(port, 0))["kind"], "done");
    let refused = listener.accept().unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_server_that_begins_to_listen_later_is_waited_for() {
    let (socket, port) = held_port();
    let mut agent = Controller::new();
    let waiting = agent.send(tcp(port, 60_000));
    agent.ok(json!({ "verb": "clock" }));
    rustix::net::listen(&socket, 1).unwrap();
    assert_eq!(agent.reply(waiting)["ok"]["kind"], "done");
}

#[test]
fn no_one_on_the_port_is_not_ready_and_says_who_is_close() {
    let (_held, port) = held_port();
    let failure = Controller::new().error(tcp(port, 30));
    assert_eq!(failure["kind"], "not_ready");
    assert!(
        failure["message"]
            .as_str()
            .unwrap()
            .contains("nothing is there at all")
    );
    let other = TcpListener::bind("127.0.0.2:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let _listener = TcpListener::bind(other).unwrap();
    let message = Controller::new().error(tcp(other.port(), 30))["message"].clone();
    let message = message.as_str().unwrap();
    assert!(
        message.contains(&format!("what is there: {other}")),
        "{message}"
    );
}

#[test]
fn datagrams_and_unix_sockets_are_waited_for_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut agent = Controller::new();
    let mut request = tcp(udp.local_addr().unwrap().port(), 0);
    request["protocol"] = json!("udp");
    agent.ok(request);
    let request = json!({ "verb": "listening", "unix_path": path, "timeout_ms": 30 });
    assert_eq!(agent.error(request.clone())["kind"], "not_ready");
    let _listener = UnixListener::bind(&path).unwrap();
    agent.ok(request);
}

#[test]
fn the_end_of_the_process_that_should_listen_ends_the_waiting() {
    let (_held, port) = held_port();
    let mut agent = Controller::new();
    let script = "echo started; exec sleep 1000";
    let started = agent.ok(start("service", &["sh", "-c", script]));
    let mut request = tcp(port, 600_000);
    request["unless_ended"] = json!("service");
    let waiting = agent.send(request.clone());
    signal(pid_of(&started), "KILL");
    let failure = agent.reply(waiting)["error"].clone();
    assert_eq!(failure["kind"], "process_died", "{failure}");
    request["unless_ended"] = json!("absent");
    assert_eq!(agent.error(request)["kind"], "bad_request");
}

#[test]
fn a_question_without_a_place_makes_no_sense() {
    let failure = Controller::new().error(json!({ "verb": "listening", "timeout_ms": 1 }));
    assert_eq!(failure["kind"], "bad_request");
}
