use steelyard_wire::job::Pipelining;

use super::*;

fn three(pipelining: Pipelining, chunking: bool) -> SmtpOperation {
    SmtpOperation {
        recipients: 3,
        recipients_per_message: 3,
        pipelining,
        chunking,
        ..SmtpOperation::default()
    }
}

fn greeted(operation: &SmtpOperation) -> Exchange {
    let mut exchange = Exchange::of(Smtp::new(operation, Dialect::Lmtp, 1, 1).unwrap());
    exchange.receive("220 hi\r\n");
    assert_eq!(exchange.sent, "LHLO load.steelyard.test\r\n");
    exchange.receive("250-hi\r\n250-PIPELINING\r\n250 CHUNKING\r\n");
    exchange
}

#[test]
fn a_message_is_over_when_all_its_recipients_are_answered() {
    let mut exchange = greeted(&three(Pipelining::None, false));
    exchange.start();
    for code in ["250", "250", "250", "250", "354", "250", "250"] {
        assert_eq!(exchange.receive(&one_reply(code)), Step::More);
    }
    assert_eq!(
        exchange.receive("250 third\r\n"),
        Step::Done(Ok(()), After::Ready)
    );
}

#[test]
fn one_recipient_that_fails_after_the_content_fails_the_message() {
    let mut exchange = greeted(&three(Pipelining::None, false));
    exchange.start();
    for code in ["250", "250", "250", "250", "354"] {
        exchange.receive(&one_reply(code));
    }
    let failed = Step::Done(Err(ErrorKind::NoRoom), After::Ready);
    assert_eq!(exchange.receive("250 a\r\n452 full\r\n552 c\r\n"), failed);
}

#[test]
fn refused_recipients_have_no_reply_after_the_content() {
    for (pipelining, chunking) in [(Pipelining::Envelope, false), (Pipelining::Envelope, true)] {
        let mut exchange = greeted(&three(pipelining, chunking));
        exchange.start();
        assert_eq!(
            exchange.receive("250 m\r\n250 a\r\n550 b\r\n250 c\r\n"),
            Step::More
        );
        if !chunking {
            exchange.receive("354 go\r\n");
        }
        assert_eq!(exchange.receive("250 a\r\n"), Step::More);
        let failed = Step::Done(Err(ErrorKind::Smtp5xx), After::Ready);
        assert_eq!(exchange.receive("250 c\r\n"), failed);
    }
}

#[test]
fn content_that_is_wanted_for_no_one_ends_the_connection() {
    let mut exchange = greeted(&three(Pipelining::Envelope, false));
    exchange.start();
    let step = exchange.receive("250 m\r\n450 a\r\n450 b\r\n450 c\r\n354 go\r\n");
    assert_eq!(step, Step::Done(Err(ErrorKind::Smtp4xx), After::Close));
}

#[test]
fn no_server_of_lmtp_is_greeted_with_helo() {
    let mut exchange =
        Exchange::of(Smtp::new(&SmtpOperation::default(), Dialect::Lmtp, 1, 1).unwrap());
    exchange.receive("220 hi\r\n");
    assert_eq!(
        exchange.receive("500 what\r\n"),
        Step::Broken(ErrorKind::Smtp5xx)
    );
}
