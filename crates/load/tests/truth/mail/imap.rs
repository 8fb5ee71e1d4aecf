use steelyard_wire::job::{ImapCommand, ImapOperation, LoadJob, Operation};

use crate::mail::host::{Mailbox, imap, login};
use crate::server::{Server, closed, failures, run};

fn commands(server: &Server, operation: ImapOperation, count: u64) -> LoadJob {
    LoadJob {
        operations: Some(count),
        ..closed(
            format!("imap://{}", server.address),
            Operation::Imap(operation),
            1,
            20_000,
        )
    }
}

fn weighed(commands: &[(ImapCommand, f64)]) -> ImapOperation {
    ImapOperation {
        commands: commands.iter().copied().collect(),
        append_bytes: 300,
        ..ImapOperation::new(login())
    }
}

#[test]
fn commands_are_counted_by_kind_as_the_server_saw_them() {
    let server = imap(&Mailbox::holding(3), |_| None);
    let mix = weighed(&[(ImapCommand::Fetch, 1.0), (ImapCommand::Noop, 1.0)]);
    let result = run(&commands(&server, mix, 60));
    assert_eq!(result.counts.ok, 60);
    // LOGIN and SELECT, and perhaps LOGOUT at the end.
    assert!(
        (62..=63).contains(&server.operations()),
        "{}",
        server.operations()
    );
    let (fetch, noop) = (&result.operations["fetch"], &result.operations["noop"]);
    assert_eq!(fetch.ok + noop.ok, 60);
    assert_eq!(result.mail.unwrap().retrieved, fetch.ok);
    assert_eq!(result.latency_ns["phase.fetch-first"].count, fetch.ok);
    assert_eq!(result.latency_ns["phase.noop"].count, noop.ok);
}

#[test]
fn what_was_appended_is_read_back_and_damage_is_found() {
    let mailbox = Mailbox::holding(0);
    let server = imap(&mailbox, |_| None);
    let append = weighed(&[(ImapCommand::Append, 1.0)]);
    let result = run(&commands(&server, append, 10));
    assert_eq!((result.counts.ok, mailbox.visible().len()), (10, 10));
    assert_eq!(result.mail.unwrap().mailbox_messages_at_last, Some(10.0));

    let verify = ImapOperation {
        verify: true,
        ..weighed(&[(ImapCommand::Fetch, 1.0)])
    };
    let result = run(&commands(&server, verify.clone(), 20));
    let payload = result.payload.unwrap();
    assert_eq!((payload.checked, payload.corrupted), (20, 0));
    mailbox.damage();
    let result = run(&commands(&server, verify, 20));
    // Which of the two phases depends on how many reads the reply took.
    let of = |phase| failures(&result, phase, "checksum_mismatch");
    assert_eq!(of("fetch-first") + of("fetch-last"), 20);
}

#[test]
fn refused_commands_are_failures_of_their_phase_and_kind() {
    let server = imap(&Mailbox::holding(1), |words| {
        words.starts_with("SEARCH").then_some("NO not now")
    });
    let mix = weighed(&[(ImapCommand::Search, 1.0), (ImapCommand::Noop, 1.0)]);
    let result = run(&commands(&server, mix, 40));
    assert_eq!(result.operations["search"].errors, result.counts.errors);
    assert_eq!(failures(&result, "search", "imap_no"), result.counts.errors);
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_connection_is_left_after_its_commands_and_a_session_is_an_operation() {
    let server = imap(&Mailbox::holding(1), |_| None);
    let few = ImapOperation {
        commands_per_connection: 5,
        ..weighed(&[(ImapCommand::Noop, 1.0)])
    };
    assert_eq!(run(&commands(&server, few, 20)).counts.ok, 20);
    assert!(
        (4..=5).contains(&server.connections()),
        "{}",
        server.connections()
    );

    let server = imap(&Mailbox::holding(1), |_| None);
    let session = weighed(&[(ImapCommand::Session, 1.0)]);
    let result = run(&commands(&server, session, 7));
    assert_eq!((result.counts.ok, server.connections()), (7, 7));
    for phase in ["connect", "banner", "auth", "select", "logout"] {
        assert_eq!(
            result.latency_ns[&format!("phase.{phase}")].count,
            7,
            "{phase}"
        );
    }
}
