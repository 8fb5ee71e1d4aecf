use std::time::Duration;

use steelyard_wire::job::{
    DeliveryOperation, LoadJob, MixOperation, MixPart, Mode, Operation, SmtpOperation, StartTls,
};

use crate::mail::host::{self, Mailbox, Shared, login};
use crate::server::{MS, Server, closed, failures, open, run, try_run};

fn job(smtp: &Server, mailbox: &str, count: u64) -> LoadJob {
    let operation = DeliveryOperation {
        submit: SmtpOperation::default(),
        mailbox: mailbox.to_owned(),
        login: login(),
        starttls: StartTls::Never,
        poll_ns: 5 * MS,
    };
    LoadJob {
        operations: Some(count),
        ..closed(
            format!("smtp://{}", smtp.address),
            Operation::Delivery(Box::new(operation)),
            1,
            20_000,
        )
    }
}

fn imap_job(mailbox: &Shared, smtp: &Server, count: u64) -> (Server, LoadJob) {
    let imap = host::imap(mailbox, |_| None);
    let job = job(smtp, &format!("imap://{}", imap.address), count);
    (imap, job)
}

#[test]
fn a_message_is_seen_by_idle_no_sooner_than_the_host_shows_it() {
    let mailbox = Mailbox::holding(2);
    let smtp = host::smtp(&mailbox, Duration::from_millis(40));
    let (_imap, job) = imap_job(&mailbox, &smtp, 5);
    let result = run(&job);
    assert_eq!((result.counts.ok, smtp.operations()), (5, 5));
    let delivered = &result.latency_ns["phase.delivered"];
    assert_eq!(delivered.count, 5);
    // The reply is read after the host has begun to wait.
    assert!(delivered.min.unwrap() >= 35 * MS, "{delivered:?}");
    assert_eq!(result.latency_ns["phase.submit"].count, 5);
    assert_eq!(result.mail.unwrap().seen_before_reply, Some(0));
    // Its own messages are removed, those of others are not.
    assert_eq!(mailbox.visible().len(), 2);
}

#[test]
fn a_message_is_seen_by_polling_and_the_mailbox_is_emptied() {
    let mailbox = Mailbox::holding(1);
    let smtp = host::smtp(&mailbox, Duration::from_millis(20));
    let pop3 = host::pop3(&mailbox, |_| None);
    let result = run(&job(&smtp, &format!("pop3://{}", pop3.address), 4));
    assert_eq!(result.counts.ok, 4);
    assert!(result.latency_ns["phase.delivered"].min.unwrap() >= 15 * MS);
    assert_eq!(mailbox.visible().len(), 0);
}

#[test]
fn a_message_that_never_appears_is_a_timeout_of_the_delivery() {
    let mailbox = Mailbox::holding(0);
    let smtp = host::smtp(&mailbox, Duration::from_secs(3600));
    let (_imap, job) = imap_job(&mailbox, &smtp, 2);
    let result = run(&LoadJob {
        timeout_ns: 100 * MS,
        ..job
    });
    assert_eq!(failures(&result, "delivered", "recv_timeout"), 2);
    assert_eq!((result.counts.ok, smtp.operations()), (0, 2));
}

/// Damages the second message behind its header.
fn damage_second(number: usize, text: &mut String) -> bool {
    if number == 2 {
        let at = text.len() - 3;
        text.replace_range(at..=at, "~");
    }
    true
}

#[test]
fn a_damaged_message_is_a_failure_of_the_delivery_and_counted() {
    let mailbox = Mailbox::holding(1);
    let smtp = host::unreliable_smtp(&mailbox, Duration::ZERO, damage_second);
    let (_imap, idling) = imap_job(&mailbox, &smtp, 4);
    let result = run(&idling);
    assert_eq!(failures(&result, "delivered", "checksum_mismatch"), 1);
    let payload = result.payload.unwrap();
    assert_eq!((payload.checked, payload.corrupted), (4, 1));
    assert_eq!((payload.lost, payload.duplicated), (Some(0), 0));
    assert_eq!((result.counts.ok, mailbox.visible().len()), (3, 1));

    let smtp = host::unreliable_smtp(&mailbox, Duration::ZERO, damage_second);
    let pop3 = host::pop3(&mailbox, |_| None);
    let result = run(&job(&smtp, &format!("pop3://{}", pop3.address), 4));
    assert_eq!(failures(&result, "delivered", "checksum_mismatch"), 1);
    let payload = result.payload.unwrap();
    assert_eq!((payload.checked, payload.corrupted), (4, 1));
}

#[test]
fn a_message_that_was_accepted_and_never_came_is_lost() {
    let mailbox = Mailbox::holding(0);
    let smtp = host::unreliable_smtp(&mailbox, Duration::ZERO, |number, _| number != 2);
    let (_imap, job) = imap_job(&mailbox, &smtp, 4);
    let result = run(&LoadJob {
        timeout_ns: 200 * MS,
        ..job
    });
    assert_eq!(failures(&result, "delivered", "recv_timeout"), 1);
    let payload = result.payload.unwrap();
    assert_eq!((payload.checked, payload.lost), (3, Some(1)));
}

#[test]
fn deliveries_are_measured_while_other_mail_goes_through() {
    let (mailbox, others) = (Mailbox::holding(0), Mailbox::holding(0));
    let smtp = host::smtp(&mailbox, Duration::ZERO);
    let busy = host::smtp(&others, Duration::ZERO);
    let (_imap, job) = imap_job(&mailbox, &smtp, 8);
    let part = |name: &str, target: String, operation| MixPart {
        name: name.to_owned(),
        weight: 1.0,
        target,
        operation,
    };
    let mail = Operation::Smtp(SmtpOperation::default());
    let parts = vec![
        part("mail", format!("smtp://{}", busy.address), mail),
        part("delivery", job.target.clone(), job.operation.clone()),
    ];
    let result = run(&LoadJob {
        target: "mix".to_owned(),
        operation: Operation::Mix(MixOperation { parts }),
        mode: Mode::Closed {
            users: 2,
            think_time_ns: 0,
        },
        ..job
    });
    let delivery = &result.parts["delivery"];
    assert_eq!((delivery.counts.ok, result.parts["mail"].counts.ok), (4, 4));
    assert_eq!(delivery.latency_ns["phase.delivered"].count, 4);
    assert_eq!(result.latency_ns["phase.delivery.delivered"].count, 4);
    assert_eq!(result.payload.unwrap().checked, 4);
}

#[test]
fn an_open_run_keeps_its_schedule_while_messages_are_slow() {
    let mailbox = Mailbox::holding(0);
    let smtp = host::smtp(&mailbox, Duration::from_millis(50));
    let (_imap, job) = imap_job(&mailbox, &smtp, 1);
    let result = run(&LoadJob {
        mode: open(50.0, 1, 1_000),
        operations: None,
        duration_ns: Some(500 * MS),
        ..job
    });
    // Twenty a second at most can be delivered: the others wait, and are late.
    assert_eq!(result.counts.intended, 25);
    assert!(result.counts.ok <= 11, "{:?}", result.counts);
    assert!(result.counts.unsent >= 14, "{:?}", result.counts);
    assert!(result.latency_ns["lateness"].max.unwrap() >= 100 * MS);
}

#[test]
fn users_without_a_mailbox_of_their_own_are_refused() {
    let mailbox = Mailbox::holding(0);
    let smtp = host::smtp(&mailbox, Duration::ZERO);
    let (_imap, job) = imap_job(&mailbox, &smtp, 1);
    for users in [2, 300] {
        let mode = Mode::Closed {
            users,
            think_time_ns: 0,
        };
        let too_many = LoadJob {
            mode,
            ..job.clone()
        };
        assert!(try_run(&too_many).is_err());
    }
}
