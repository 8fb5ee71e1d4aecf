use steelyard_load::LoadError;
use steelyard_wire::job::{LoadJob, Operation, Pop3Operation};

use crate::mail::host::{Mailbox, login, pop3};
use crate::server::{Server, closed, failures, run, try_run};

fn sessions(server: &Server, operation: Pop3Operation, count: u64) -> LoadJob {
    LoadJob {
        operations: Some(count),
        ..closed(
            format!("pop3://{}", server.address),
            Operation::Pop3(operation),
            1,
            20_000,
        )
    }
}

#[test]
fn every_message_is_retrieved_in_every_session() {
    let mailbox = Mailbox::holding(5);
    let server = pop3(&mailbox, |_| None);
    let result = run(&sessions(&server, Pop3Operation::new(login()), 8));
    assert_eq!((result.counts.ok, server.operations()), (8, 8));
    let mail = result.mail.unwrap();
    assert_eq!((mail.retrieved, mail.deleted), (40, 0));
    assert_eq!(mail.mailbox_messages_at_last, Some(5.0));
    assert_eq!(result.latency_ns["phase.retr-last"].count, 40);
    assert_eq!(result.latency_ns["phase.quit"].count, 8);
}

#[test]
fn deleted_messages_are_gone_and_the_sizes_before_and_after_are_reported() {
    let mailbox = Mailbox::holding(6);
    let server = pop3(&mailbox, |_| None);
    let operation = Pop3Operation {
        delete_share: 1.0,
        most_messages: 2,
        pipelining: true,
        ..Pop3Operation::new(login())
    };
    let result = run(&sessions(&server, operation, 2));
    let mail = result.mail.unwrap();
    assert_eq!((mail.retrieved, mail.deleted), (4, 4));
    assert_eq!(mail.mailbox_messages_at_first, Some(6.0));
    assert_eq!(mail.mailbox_messages_at_last, Some(2.0));
    assert_eq!(mailbox.visible().len(), 2);
    assert_eq!(result.latency_ns["phase.retr+dele"].count, 2);
    assert_eq!(result.latency_ns["phase.retr-first"].count, 0);
}

#[test]
fn a_session_whose_removal_fails_is_no_success() {
    let mailbox = Mailbox::holding(1);
    let server = pop3(&mailbox, |line| {
        (line == "QUIT").then_some("-ERR not removed\r\n")
    });
    let result = run(&sessions(&server, Pop3Operation::new(login()), 3));
    assert_eq!(
        (result.counts.ok, failures(&result, "quit", "pop_err")),
        (0, 3)
    );
    assert_eq!(result.mail.unwrap().retrieved, 0);
}

#[test]
fn a_mailbox_that_lets_no_one_in_is_an_error_of_the_run() {
    let mailbox = Mailbox::holding(1);
    let server = pop3(&mailbox, |line| {
        line.starts_with("PASS")
            .then_some("-ERR [IN-USE] locked\r\n")
    });
    let job = sessions(&server, Pop3Operation::new(login()), 3);
    let error = try_run(&job).unwrap_err();
    assert!(matches!(error, LoadError::NoConnection { .. }), "{error}");
    assert!(error.to_string().contains("pop_in_use"), "{error}");
}
