use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};

use steelyard_load::LoadError;
use steelyard_wire::job::{LoadJob, SmtpOperation};

use crate::server::{Seen, Server, failures, run, send, smtp_job, try_run};

/// Everything the clients said: one entry for each line, messages without their bodies.
pub type Lines = Arc<Mutex<Vec<String>>>;

/// How a server answers one line; `None` for its usual answer.
pub type Answer = fn(&str, u64) -> Option<&'static str>;

pub fn server(answer: Answer) -> (Server, Lines) {
    let received = Lines::default();
    let all = Arc::clone(&received);
    let server = Server::start(move |stream, seen| converse(stream, seen, &all, answer));
    (server, received)
}

fn converse(mut stream: TcpStream, seen: &Seen, received: &Lines, answer: Answer) {
    let mut lines = BufReader::new(stream.try_clone().unwrap())
        .lines()
        .map_while(Result::ok);
    send(
        &mut stream,
        answer("", 0).unwrap_or("220 mx.example\r\n").as_bytes(),
    );
    let (mut recipients, mut replies_each) = (0, false);
    while let Some(line) = lines.next() {
        received.lock().unwrap().push(line.clone());
        let number = seen.operations.load(SeqCst);
        let verb = line.split([' ', ':']).next().unwrap_or_default();
        let usual = match verb {
            "EHLO" => "250-mx.example\r\n250 8BITMIME\r\n",
            "DATA" => "354 go on\r\n",
            "AUTH" => "235 come in\r\n",
            "QUIT" => "221 bye\r\n",
            _ => "250 ok\r\n",
        };
        let reply = answer(&line, number).unwrap_or(usual);
        match verb {
            "LHLO" => replies_each = true,
            "MAIL" => recipients = 0,
            "RCPT" => recipients += usize::from(reply.starts_with('2')),
            "BDAT" => {
                let length = line.split(' ').nth(1).unwrap().parse().unwrap();
                let mut taken = 0;
                while taken < length {
                    taken += lines.next().unwrap().len() + 2;
                }
                seen.operations.fetch_add(1, SeqCst);
            }
            _ => {}
        }
        for byte in reply.as_bytes() {
            send(&mut stream, &[*byte]);
        }
        if reply.starts_with("354") {
            let message: Vec<String> = lines.by_ref().take_while(|line| line != ".").collect();
            let id = message.iter().find(|line| line.starts_with("Message-ID"));
            received.lock().unwrap().extend(id.cloned());
            let number = seen.operations.fetch_add(1, SeqCst);
            let reply = answer(".", number).unwrap_or("250 stored\r\n");
            let times = if replies_each { recipients } else { 1 };
            send(&mut stream, reply.repeat(times).as_bytes());
        }
        if verb == "QUIT" || reply.starts_with("421") {
            return;
        }
    }
}

pub fn some(server: &Server, operation: SmtpOperation, operations: u64) -> LoadJob {
    LoadJob {
        operations: Some(operations),
        ..smtp_job(server, operation, 3, 20_000)
    }
}

pub fn count(received: &Lines, verb: &str) -> usize {
    received
        .lock()
        .unwrap()
        .iter()
        .filter(|line| line.starts_with(verb))
        .count()
}

#[test]
fn messages_go_over_few_connections_and_none_equals_another() {
    let (server, received) = server(|_, _| None);
    let result = run(&some(&server, SmtpOperation::default(), 60));
    assert_eq!(
        (result.counts.ok, server.operations(), server.connections()),
        (60, 60, 3)
    );
    let lines = received.lock().unwrap();
    let ids: BTreeSet<&String> = lines
        .iter()
        .filter(|line| line.starts_with("Message-ID"))
        .collect();
    assert_eq!(ids.len(), 60);
    for phase in ["mail", "rcpt", "data", "eom"] {
        assert_eq!(
            result.latency_ns[&format!("phase.{phase}")].count,
            60,
            "{phase}"
        );
    }
}

#[test]
fn one_message_for_each_connection_ends_with_quit_and_begins_with_connect() {
    let (server, received) = server(|_, _| None);
    let operation = SmtpOperation {
        messages_per_connection: 1,
        ..SmtpOperation::default()
    };
    let result = run(&some(&server, operation, 20));
    assert_eq!((result.counts.ok, server.connections()), (20, 20));
    for phase in ["connect", "banner", "ehlo", "eom"] {
        assert_eq!(
            result.latency_ns[&format!("phase.{phase}")].count,
            20,
            "{phase}"
        );
    }
    // The last good-byes may be under way when the run ends.
    assert!(count(&received, "QUIT") >= 17);
}

#[test]
fn several_messages_for_each_connection_then_a_new_one() {
    let (server, _) = server(|_, _| None);
    let operation = SmtpOperation {
        messages_per_connection: 5,
        ..SmtpOperation::default()
    };
    let result = run(&some(&server, operation, 60));
    assert_eq!(result.counts.ok, 60);
    assert!(
        (12..=15).contains(&server.connections()),
        "{}",
        server.connections()
    );
}

#[test]
fn refused_recipients_are_failures_of_their_phase_and_the_conversation_goes_on() {
    let (server, received) = server(|line, _| {
        line.starts_with("RCPT TO:<user2@")
            .then_some("550-no such\r\n550 user\r\n")
    });
    let operation = SmtpOperation {
        recipients: 2,
        ..SmtpOperation::default()
    };
    let result = run(&some(&server, operation, 60));
    let refused = failures(&result, "rcpt", "smtp_5xx");
    assert!((5..=55).contains(&refused), "{refused}");
    assert_eq!(result.counts.errors, refused);
    assert_eq!(result.counts.ok, server.operations());
    assert_eq!(server.connections(), 3);
    assert!(count(&received, "RSET") as u64 >= refused - 3);
    assert_eq!(result.latency_ns["phase.rcpt"].count, result.counts.ok);
}

#[test]
fn a_message_that_is_refused_after_the_dot_is_no_success() {
    let (server, _) =
        server(|line, number| (line == "." && number % 2 == 0).then_some("452 full\r\n"));
    let result = run(&some(&server, SmtpOperation::default(), 40));
    assert_eq!(failures(&result, "eom", "no_room"), 20);
    assert_eq!(result.counts.ok, 20);
}

#[test]
fn a_server_that_goes_away_in_the_dialogue_is_met_again() {
    let (server, _) = server(|line, number| {
        (line.starts_with("MAIL") && number % 10 == 9).then_some("421 going down\r\n")
    });
    let job = LoadJob {
        operations: Some(12),
        ..smtp_job(&server, SmtpOperation::default(), 1, 20_000)
    };
    let result = run(&job);
    assert_eq!(result.counts.ok, 9);
    assert_eq!(failures(&result, "mail", "smtp_4xx"), 3);
    assert!(server.connections() >= 3);
}

#[test]
fn a_server_that_refuses_everyone_at_the_door_is_an_error_of_the_run() {
    let (server, _) = server(|line, _| line.is_empty().then_some("554 no\r\n"));
    let error = try_run(&some(&server, SmtpOperation::default(), 1)).unwrap_err();
    assert!(matches!(error, LoadError::NoConnection { .. }), "{error}");
    assert!(error.to_string().contains("smtp_5xx"), "{error}");
}

#[test]
fn a_message_larger_than_the_socket_takes_arrives_whole() {
    let (server, _) = server(|_, _| None);
    let operation = SmtpOperation {
        attachment_bytes: 6_000_000,
        ..SmtpOperation::default()
    };
    let result = run(&some(&server, operation, 4));
    assert_eq!((result.counts.ok, result.counts.errors), (4, 0));
    assert!(result.counts.bytes_out > 4 * 8_000_000);
}
