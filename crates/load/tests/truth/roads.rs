//! Other roads to a server: unix sockets, several sources, pools that grow, several kinds at once.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixListener;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use steelyard_wire::job::{
    HttpOperation, LoadJob, MixOperation, MixPart, Mode, Operation, SmtpOperation,
};
use steelyard_wire::result::VerdictState;

use crate::server::{
    MS, REPLY, Seen, Server, closed, http_job, open, run, send, try_run, warnings,
};

#[test]
fn a_unix_socket_takes_requests_like_a_port() {
    let path = std::env::temp_dir().join(format!("steelyard-roads-{}", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = [0; 4096];
        let mut replies = 0;
        while matches!(stream.read(&mut buffer), Ok(count) if count > 0) {
            stream.write_all(REPLY).unwrap();
            replies += 1;
        }
        replies
    });
    let job = LoadJob {
        unix_socket: Some(path.to_str().unwrap().to_owned()),
        operations: Some(25),
        ..closed(
            "http://app.test/".to_owned(),
            Operation::Http(HttpOperation::default()),
            1,
            5_000,
        )
    };
    let result = run(&job);
    std::fs::remove_file(&path).unwrap();
    assert_eq!((result.counts.ok, server.join().unwrap()), (25, 25));
    assert!(result.target.address.starts_with("unix:"));
}

#[test]
fn a_unix_socket_that_is_not_there_is_unreachable() {
    let job = LoadJob {
        unix_socket: Some("/nowhere/socket".to_owned()),
        ..closed(
            "http://app.test/".to_owned(),
            Operation::Http(HttpOperation::default()),
            1,
            100,
        )
    };
    let error = try_run(&job).unwrap_err();
    assert!(error.to_string().contains("/nowhere/socket"), "{error}");
}

#[test]
fn connections_come_from_the_sources_in_turn() {
    let peers = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = Arc::clone(&peers);
    let server = Server::http(move |stream, _| {
        seen.lock()
            .unwrap()
            .insert(stream.peer_addr().unwrap().ip());
        send(stream, REPLY)
    });
    let sources = ["127.0.0.2", "127.0.0.3"].map(|source| source.parse().unwrap());
    let job = LoadJob {
        sources: sources.to_vec(),
        ..http_job(&server, 4, 100)
    };
    run(&job);
    assert_eq!(*peers.lock().unwrap(), BTreeSet::from(sources));
}

/// Users wait in the schedule, not in a pool: a server that needs 50 ms for each of 100 requests a
/// second has about five of them at once.
#[test]
fn a_pool_that_grows_opens_connections_as_arrivals_need_them() {
    let server = Server::http(|stream, _| {
        thread::sleep(Duration::from_millis(50));
        send(stream, REPLY)
    });
    let job = LoadJob {
        mode: unbounded(100.0, 50),
        ..http_job(&server, 1, 400)
    };
    let result = run(&job);
    assert_eq!(result.counts.unsent, 0);
    assert_eq!(result.counts.ok, result.counts.intended);
    // Idle connections are used before new ones are opened.
    assert!(
        (2..=25).contains(&server.connections()),
        "{}",
        server.connections()
    );
}

#[test]
fn a_pool_at_its_limit_refuses_arrivals_and_counts_them() {
    let server = Server::http(|stream, _| {
        thread::sleep(Duration::from_millis(100));
        send(stream, REPLY)
    });
    let job = LoadJob {
        mode: unbounded(200.0, 3),
        ..http_job(&server, 1, 400)
    };
    let result = run(&job);
    assert!(result.counts.unsent > 0);
    assert_eq!(
        result.counts.intended,
        result.counts.unsent + result.counts.sent
    );
    assert!(warnings(&result).contains(&"overloaded"));
    assert_eq!(server.connections(), 3);
}

fn unbounded(rate_per_s: f64, most: u32) -> Mode {
    match open(rate_per_s, most, 0) {
        Mode::Open {
            rate_per_s,
            arrival,
            connections,
            max_backlog,
            ..
        } => Mode::Open {
            rate_per_s,
            arrival,
            connections,
            max_backlog,
            unbounded: true,
        },
        closed @ Mode::Closed { .. } => closed,
    }
}

/// The least that takes mail.
fn take_mail(mut stream: TcpStream, seen: &Seen) {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    send(&mut stream, b"220 mx\r\n");
    let mut in_message = false;
    for line in lines.map_while(Result::ok) {
        let reply: &[u8] = match (in_message, line.as_str()) {
            (true, ".") => b"250 stored\r\n",
            (true, _) => continue,
            (false, "DATA") => b"354 go on\r\n",
            _ => b"250 ok\r\n",
        };
        in_message = line == "DATA";
        seen.operations.fetch_add(u64::from(line == "."), SeqCst);
        send(&mut stream, reply);
    }
}

#[test]
fn kinds_of_operations_run_side_by_side_and_are_distinguished() {
    let web = Server::http(|stream, _| send(stream, REPLY));
    let mail = Server::start(take_mail);
    let part = |name: &str, weight, target, operation| MixPart {
        name: name.to_owned(),
        weight,
        target,
        operation,
    };
    let parts = vec![
        part(
            "web",
            3.0,
            format!("http://{}/", web.address),
            Operation::Http(HttpOperation::default()),
        ),
        part(
            "mail",
            1.0,
            format!("smtp://{}", mail.address),
            Operation::Smtp(SmtpOperation::default()),
        ),
    ];
    let job = closed(
        "mix".to_owned(),
        Operation::Mix(MixOperation { parts }),
        8,
        300,
    );
    let result = run(&job);
    assert_eq!((web.connections(), mail.connections()), (6, 2));
    let [web_part, mail_part] = ["web", "mail"].map(|name| &result.parts[name]);
    assert_eq!(web_part.counts.sent, web.operations());
    assert!(mail_part.counts.ok > 0);
    assert_eq!(result.counts.ok, web_part.counts.ok + mail_part.counts.ok);
    assert_eq!(
        result.latency_ns["phase.mail.eom"].count,
        mail_part.latency_ns["phase.eom"].count
    );
    assert!(
        result.verdict.state < VerdictState::Invalid,
        "{:?}",
        result.verdict
    );
}

#[test]
fn a_part_whose_server_is_away_fails_alone() {
    let web = Server::http(|stream, _| send(stream, REPLY));
    let part = |name: &str, target| MixPart {
        name: name.to_owned(),
        weight: 1.0,
        target,
        operation: Operation::Http(HttpOperation::default()),
    };
    let parts = vec![
        part("here", format!("http://{}/", web.address)),
        part("away", "http://127.0.0.1:1/".to_owned()),
    ];
    let job = LoadJob {
        mode: Mode::Closed {
            users: 2,
            think_time_ns: MS,
        },
        ..closed(
            "mix".to_owned(),
            Operation::Mix(MixOperation { parts }),
            2,
            200,
        )
    };
    let result = run(&job);
    assert!(result.parts["here"].counts.ok > 0);
    assert_eq!(result.parts["away"].counts.ok, 0);
    assert!(
        result
            .verdict
            .warnings
            .iter()
            .any(|warning| warning.part.as_deref() == Some("away"))
    );
    assert!(web.seen.operations.load(SeqCst) > 0);
}

#[test]
fn the_log_holds_every_operation_that_the_counts_hold() {
    let path = std::env::temp_dir().join(format!("steelyard-all-{}", std::process::id()));
    let server = Server::http(|stream, number| {
        send(
            stream,
            if number % 4 == 0 {
                b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"
            } else {
                REPLY
            },
        )
    });
    let job = LoadJob {
        log_file: Some(path.to_str().unwrap().to_owned()),
        threads: 2,
        ..http_job(&server, 4, 150)
    };
    let result = run(&job);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let outcomes = |outcome: &str| {
        let of_window = text.lines().filter(|line| line.starts_with("window,"));
        of_window.filter(|line| line.ends_with(outcome)).count() as u64
    };
    assert_eq!(outcomes(",ok"), result.counts.ok);
    assert_eq!(outcomes(",bad_status_5xx"), result.counts.errors);
    assert!(result.counts.errors > 0);
}
