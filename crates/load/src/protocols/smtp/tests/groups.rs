use steelyard_wire::job::Pipelining;

use super::*;

const MAIL: &str = "MAIL FROM:<sender@steelyard.test>\r\n";
const RCPT: &str = "RCPT TO:<user1@steelyard.test>\r\n";
const ACCEPTED: &str = "250 ok\r\n250 ok\r\n354 go\r\n";

fn operation(pipelining: Pipelining) -> SmtpOperation {
    SmtpOperation {
        pipelining,
        body_bytes: 100,
        ..SmtpOperation::default()
    }
}

fn chunked(pipelining: Pipelining) -> SmtpOperation {
    SmtpOperation {
        chunking: true,
        ..operation(pipelining)
    }
}

fn greeted(operation: &SmtpOperation) -> Exchange {
    let mut exchange = Exchange::new(operation);
    exchange.receive("220 hi\r\n");
    let step = exchange.receive("250-hi\r\n250-PIPELINING\r\n250 CHUNKING\r\n");
    assert_eq!(step, Step::Ready);
    exchange.marks.clear();
    exchange
}

fn envelope() -> String {
    format!("{MAIL}{RCPT}DATA\r\n")
}

#[test]
fn an_envelope_leaves_in_one_write_and_its_replies_are_matched_in_order() {
    let mut exchange = greeted(&operation(Pipelining::Envelope));
    exchange.start();
    assert_eq!(exchange.sent, envelope());
    assert_eq!(exchange.receive("250 ok\r\n250 "), Step::More);
    assert_eq!(exchange.sent, "");
    assert_eq!(exchange.receive("ok\r\n354 go\r\n"), Step::More);
    assert!(exchange.sent.starts_with("From: ") && exchange.sent.ends_with("\r\n.\r\n"));
    assert_eq!(
        exchange.receive("250 stored\r\n"),
        Step::Done(Ok(()), After::Ready)
    );
    assert_eq!(exchange.marks, ["mail+rcpt+data", "eom"]);
}

#[test]
fn when_all_recipients_of_a_group_are_refused_no_content_is_sent() {
    let mut exchange = greeted(&operation(Pipelining::Envelope));
    exchange.start();
    let step = exchange.receive("250 ok\r\n550 no\r\n554 no recipients\r\n");
    assert_eq!(step, Step::Done(Err(ErrorKind::Smtp5xx), After::Ready));
    assert_eq!(exchange.sent, "");
    exchange.start();
    assert_eq!(exchange.sent, format!("RSET\r\n{}", envelope()));
    exchange.receive("250 flushed\r\n");
    exchange.receive(ACCEPTED);
    assert_eq!(
        exchange.receive("250 stored\r\n"),
        Step::Done(Ok(()), After::Ready)
    );
}

#[test]
fn content_that_is_wanted_for_no_one_is_a_lone_dot() {
    for refused in [
        "250 ok\r\n450 no\r\n354 go\r\n",
        "450 a\r\n503 b\r\n354 c\r\n",
    ] {
        let mut exchange = greeted(&operation(Pipelining::Envelope));
        exchange.start();
        assert_eq!(exchange.receive(refused), Step::More);
        assert_eq!(exchange.sent, ".\r\n");
        let failed = Step::Done(Err(ErrorKind::Smtp4xx), After::Ready);
        assert_eq!(exchange.receive("250 whatever\r\n"), failed);
        assert_eq!(exchange.smtp.sequence(0), &0);
    }
}

#[test]
fn without_the_extension_the_connection_fails() {
    for operation in [
        operation(Pipelining::Envelope),
        chunked(Pipelining::None),
        operation(Pipelining::Message),
    ] {
        let mut exchange = Exchange::new(&operation);
        exchange.receive("220 hi\r\n");
        let step = exchange.receive("250-hi\r\n250 8BITMIME\r\n");
        assert_eq!(step, Step::Broken(ErrorKind::CapabilityMissing));
    }
}

#[test]
fn the_next_envelope_leaves_with_the_content_of_the_message_before() {
    let mut exchange = greeted(&operation(Pipelining::Message));
    assert_eq!(exchange.smtp.slots(), 2);
    exchange.start_in(0);
    assert_eq!(exchange.sent, envelope());
    exchange.start_in(1);
    assert_eq!(exchange.sent, "");
    assert!(!exchange.smtp.has_room(&exchange.session));
    exchange.receive(ACCEPTED);
    assert!(exchange.sent.starts_with("From: "), "{}", exchange.sent);
    assert!(exchange.sent.ends_with(&format!("\r\n.\r\n{}", envelope())));
    let replies = format!("250 stored\r\n{ACCEPTED}");
    assert_eq!(exchange.receive(&replies), Step::Done(Ok(()), After::Ready));
    assert_eq!((exchange.slot, exchange.left), (0, ACCEPTED.len()));
    exchange.start_in(0);
    assert_eq!(exchange.receive(ACCEPTED), Step::More);
    assert_eq!(exchange.slot, 1);
    assert!(exchange.sent.ends_with(&format!("\r\n.\r\n{}", envelope())));
    assert_eq!(
        exchange.receive("250 stored\r\n"),
        Step::Done(Ok(()), After::Ready)
    );
    assert_eq!(exchange.slot, 1);
}

#[test]
fn an_envelope_that_comes_late_does_not_wait_for_the_reply_to_the_content() {
    let mut exchange = greeted(&operation(Pipelining::Message));
    exchange.start_in(0);
    exchange.receive(ACCEPTED);
    exchange.start_in(1);
    assert_eq!(exchange.sent, envelope());
    assert_eq!(
        exchange.receive("452 full\r\n250 ok\r\n"),
        Step::Done(Err(ErrorKind::NoRoom), After::Ready)
    );
    assert_eq!(exchange.receive("250 ok\r\n"), Step::More);
    exchange.receive("250 ok\r\n354 go\r\n");
    assert!(exchange.sent.starts_with("From: "));
}

#[test]
fn an_envelope_that_waited_leaves_when_the_message_before_has_failed() {
    let mut exchange = greeted(&operation(Pipelining::Message));
    exchange.start_in(0);
    exchange.start_in(1);
    let step = exchange.receive("250 ok\r\n550 no\r\n503 no\r\n");
    assert_eq!(step, Step::Done(Err(ErrorKind::Smtp5xx), After::Ready));
    assert_eq!((exchange.slot, exchange.left), (0, 0));
    assert_eq!(exchange.sent, format!("RSET\r\n{}", envelope()));
}

#[test]
fn the_last_message_takes_quit_along() {
    let operation = SmtpOperation {
        messages_per_connection: 1,
        ..operation(Pipelining::Message)
    };
    let mut exchange = greeted(&operation);
    assert_eq!(exchange.smtp.slots(), 1);
    exchange.start();
    exchange.receive(ACCEPTED);
    assert!(exchange.sent.ends_with("\r\n.\r\nQUIT\r\n"));
    let step = exchange.receive("250 stored\r\n221 bye\r\n");
    assert_eq!((step, exchange.left), (Step::Done(Ok(()), After::Busy), 9));
    assert_eq!(exchange.sent, "");
    assert_eq!(exchange.receive("221 bye\r\n"), Step::Finished);
    assert_eq!(exchange.marks, ["mail+rcpt+data", "eom"]);
}

#[test]
fn two_messages_and_no_more_use_both_slots() {
    let operation = SmtpOperation {
        messages_per_connection: 2,
        ..operation(Pipelining::Message)
    };
    let mut exchange = greeted(&operation);
    exchange.start_in(0);
    exchange.start_in(1);
    exchange.receive(ACCEPTED);
    assert!(!exchange.sent.contains("QUIT"));
    exchange.receive("250 stored\r\n");
    assert!(!exchange.smtp.has_room(&exchange.session));
    exchange.receive(ACCEPTED);
    assert!(exchange.sent.ends_with("\r\n.\r\nQUIT\r\n"));
    let done = Step::Done(Ok(()), After::Busy);
    assert_eq!(exchange.receive("250 stored\r\n221 bye\r\n"), done);
    assert_eq!(exchange.slot, 1);
    assert_eq!(exchange.receive("221 bye\r\n"), Step::Finished);
}

/// Checks that the length in BDAT is that of what follows, and returns both parts.
fn chunk(sent: &str) -> (String, String) {
    let (before, behind) = sent.split_once(" LAST\r\n").unwrap();
    let (commands, length) = before.rsplit_once("BDAT ").unwrap();
    let length: usize = length.parse().unwrap();
    (commands.to_owned(), behind[..length].to_owned())
}

#[test]
fn a_chunk_is_the_whole_message_in_one_write() {
    let mut exchange = greeted(&chunked(Pipelining::None));
    exchange.start();
    exchange.receive("250 ok\r\n");
    exchange.receive("250 ok\r\n");
    let (commands, content) = chunk(&exchange.sent);
    assert_eq!(commands, "");
    assert!(exchange.sent.ends_with(&content));
    assert_eq!(
        exchange.receive("250 stored\r\n"),
        Step::Done(Ok(()), After::Ready)
    );
    assert_eq!(exchange.marks, ["mail", "rcpt", "bdat"]);
}

#[test]
fn a_grouped_chunk_needs_one_round_trip() {
    let mut exchange = greeted(&chunked(Pipelining::Envelope));
    exchange.start();
    let (commands, content) = chunk(&exchange.sent);
    assert_eq!(commands, format!("{MAIL}{RCPT}"));
    assert!(exchange.sent.ends_with(&content));
    let step = exchange.receive("250 ok\r\n250 ok\r\n250 stored\r\n");
    assert_eq!(step, Step::Done(Ok(()), After::Ready));
    assert_eq!(exchange.marks, ["mail+rcpt+bdat"]);
}

#[test]
fn a_chunk_behind_a_chunk_clears_what_a_failure_would_leave() {
    let mut exchange = greeted(&chunked(Pipelining::Message));
    exchange.start_in(0);
    exchange.start_in(1);
    let (commands, _) = chunk(&exchange.sent);
    assert_eq!(commands, format!("RSET\r\n{MAIL}{RCPT}"));
    let failed = "250 ok\r\n550 no\r\n503 no\r\n";
    assert_eq!(
        exchange.receive(&format!("{failed}250 reset\r\n")),
        Step::Done(Err(ErrorKind::Smtp5xx), After::Ready)
    );
    assert_eq!(exchange.left, "250 reset\r\n".len());
    let good = "250 reset\r\n250 ok\r\n250 ok\r\n250 stored\r\n";
    assert_eq!(exchange.receive(good), Step::Done(Ok(()), After::Ready));
    assert_eq!(exchange.slot, 1);
}

#[test]
fn a_server_that_goes_away_in_a_group_closes() {
    let mut exchange = greeted(&operation(Pipelining::Envelope));
    exchange.start();
    let gone = Step::Done(Err(ErrorKind::Smtp4xx), After::Close);
    assert_eq!(exchange.receive("250 ok\r\n421 bye\r\n"), gone);
}
