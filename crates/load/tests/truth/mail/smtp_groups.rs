use std::io::{BufRead, BufReader};

use steelyard_wire::job::{LoadJob, Login, Mechanism, Pipelining, SmtpOperation};

use crate::mail::smtp::{count, server, some};
use crate::server::{Server, closed, failures, open, run, send, try_run};

const OFFERS: &str = "250-mx.example\r\n250-PIPELINING\r\n250-AUTH PLAIN\r\n250 CHUNKING\r\n";

fn offers(line: &str, _: u64) -> Option<&'static str> {
    (line.starts_with("EHLO") || line.starts_with("LHLO")).then_some(OFFERS)
}

fn grouped(pipelining: Pipelining, chunking: bool, messages_per_connection: u32) -> SmtpOperation {
    SmtpOperation {
        pipelining,
        chunking,
        messages_per_connection,
        ..SmtpOperation::default()
    }
}

#[test]
fn every_way_to_group_commands_delivers_every_message_once() {
    for (pipelining, chunking, phase) in [
        (Pipelining::None, true, "bdat"),
        (Pipelining::Envelope, false, "mail+rcpt+data"),
        (Pipelining::Envelope, true, "mail+rcpt+bdat"),
        (Pipelining::Message, false, "mail+rcpt+data"),
        (Pipelining::Message, true, "mail+rcpt+bdat"),
    ] {
        for each in [0, 1, 7] {
            let (server, received) = server(offers);
            let operation = grouped(pipelining, chunking, each);
            let result = run(&some(&server, operation, 60));
            let case = format!("{pipelining:?} {chunking} {each}");
            assert_eq!((result.counts.ok, result.counts.errors), (60, 0), "{case}");
            assert_eq!(server.operations(), 60, "{case}");
            assert_eq!(count(&received, "RCPT"), 60, "{case}");
            let name = format!("phase.{phase}");
            assert_eq!(result.latency_ns[&name].count, 60, "{case}");
            if each == 0 {
                assert_eq!(server.connections(), 3, "{case}");
            }
        }
    }
}

#[test]
fn a_second_message_waits_behind_the_first_in_an_open_run_too() {
    let (server, _) = server(offers);
    let job = LoadJob {
        mode: open(2_000.0, 2, 10_000),
        operations: Some(300),
        duration_ns: None,
        ..some(&server, grouped(Pipelining::Message, false, 0), 300)
    };
    let result = run(&job);
    assert_eq!((result.counts.ok, server.operations()), (300, 300));
}

#[test]
fn recipients_refused_in_a_group_fail_their_message_only() {
    let (server, received) = server(|line, number| match line {
        _ if line.starts_with("RCPT TO:<user2@") => Some("550 no\r\n"),
        _ => offers(line, number),
    });
    let operation = SmtpOperation {
        recipients: 2,
        ..grouped(Pipelining::Message, false, 0)
    };
    let result = run(&some(&server, operation, 60));
    // The server says 354 all the same: it receives a lone dot, which it counts as a message.
    let refused = failures(&result, "mail+rcpt+data", "smtp_5xx");
    assert_eq!(refused, count(&received, "RCPT TO:<user2@") as u64);
    assert_eq!(result.counts.ok + refused, 60);
    assert_eq!(count(&received, "Message-ID") as u64, result.counts.ok);
}

#[test]
fn a_server_without_pipelining_gets_no_group() {
    let (server, received) = server(|_, _| None);
    let operation = grouped(Pipelining::Envelope, false, 1);
    let error = try_run(&some(&server, operation, 5)).unwrap_err();
    assert!(error.to_string().contains("capability_missing"), "{error}");
    assert_eq!(count(&received, "MAIL"), 0);
}

#[test]
fn lmtp_wants_a_good_reply_for_each_recipient() {
    let (server, received) = server(|line, number| match line {
        "." if number % 2 == 0 => Some("452 full\r\n"),
        _ => offers(line, number),
    });
    let operation = SmtpOperation {
        recipients: 3,
        recipients_per_message: 3,
        ..SmtpOperation::default()
    };
    let job = closed(
        format!("lmtp://{}", server.address),
        steelyard_wire::job::Operation::Smtp(operation),
        2,
        20_000,
    );
    let result = run(&LoadJob {
        operations: Some(40),
        ..job
    });
    assert_eq!(failures(&result, "eom", "no_room"), 20);
    assert_eq!(result.counts.ok, 20);
    assert_eq!(count(&received, "RCPT"), 120);
    assert_eq!(count(&received, "EHLO"), 0);
}

#[test]
fn users_log_in_before_their_messages() {
    let (server, received) = server(offers);
    let operation = SmtpOperation {
        login: Some(Login {
            user: "u{n}".to_owned(),
            password: "p".to_owned(),
            users: 3,
            mechanism: Mechanism::Plain,
        }),
        messages_per_connection: 1,
        ..SmtpOperation::default()
    };
    let result = run(&some(&server, operation, 9));
    assert_eq!(result.counts.ok, 9);
    assert_eq!(result.latency_ns["phase.auth"].count, 9);
    let mut said: Vec<String> = received.lock().unwrap().clone();
    said.retain(|line| line.starts_with("AUTH PLAIN "));
    said.sort();
    said.dedup();
    assert_eq!(said.len(), 3);
}

#[test]
fn a_server_that_speaks_out_of_turn_is_not_believed() {
    // In one write: bytes that come after the next command cannot be distinguished from its answer.
    let server = Server::start(|mut stream, _| {
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        send(&mut stream, b"220 mx\r\n");
        for line in lines.map_while(Result::ok) {
            let reply: &[u8] = if line.starts_with("MAIL") {
                b"250 ok\r\n250 and the recipient too\r\n354 go on\r\n"
            } else {
                b"250 ok\r\n"
            };
            send(&mut stream, reply);
        }
    });
    let operation = grouped(Pipelining::None, false, 1);
    let result = run(&some(&server, operation, 5));
    assert_eq!(result.counts.ok, 0);
    assert_eq!(result.counts.errors, 5);
}
