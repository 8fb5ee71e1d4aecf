use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use steelyard_wire::job::{Login, Mechanism};

use super::*;

fn starttls(tls_share: f64) -> SmtpOperation {
    SmtpOperation {
        starttls: StartTls::Require,
        tls_share,
        ..SmtpOperation::default()
    }
}

fn login(mechanism: Mechanism) -> SmtpOperation {
    SmtpOperation {
        login: Some(Login {
            user: "user{n}".to_owned(),
            password: "secret{n}".to_owned(),
            users: 2,
            mechanism,
        }),
        ..SmtpOperation::default()
    }
}

fn greeted(operation: &SmtpOperation, offers: &str) -> (Exchange, Step) {
    let mut exchange = Exchange::new(operation);
    exchange.receive("220 hi\r\n");
    let step = exchange.receive(&format!("250-hi\r\n250 {offers}\r\n"));
    (exchange, step)
}

#[test]
fn after_starttls_everything_begins_again_in_tls() {
    let (mut exchange, step) = greeted(&starttls(1.0), "STARTTLS");
    assert_eq!((step, exchange.sent.as_str()), (Step::More, "STARTTLS\r\n"));
    assert_eq!(exchange.receive("220 go\r\n"), Step::Secure);
    assert_eq!(PHASES[exchange.smtp.phase(&exchange.session)], "tls");
    assert_eq!(exchange.secured(), Step::More);
    assert_eq!(exchange.sent, "EHLO load.steelyard.test\r\n");
    assert_eq!(exchange.receive("250 hi\r\n"), Step::Ready);
    assert_eq!(exchange.marks, ["banner", "ehlo", "starttls", "ehlo"]);
    assert_eq!(exchange.message(GOOD), Step::Done(Ok(()), After::Ready));
}

#[test]
fn clear_text_behind_starttls_is_not_taken_for_an_answer_in_tls() {
    let (mut exchange, _) = greeted(&starttls(1.0), "STARTTLS");
    let step = exchange.receive("220 go\r\n250-hi\r\n250 AUTH PLAIN\r\n");
    assert_eq!(step, Step::Broken(ErrorKind::BadProtocol));
}

#[test]
fn a_server_without_starttls_misses_a_capability() {
    let (_, step) = greeted(&starttls(1.0), "8BITMIME");
    assert_eq!(step, Step::Broken(ErrorKind::CapabilityMissing));
}

#[test]
fn a_share_of_the_connections_is_upgraded() {
    let mut smtp = machine(&starttls(0.25));
    let secured = (0..1_000)
        .filter(|place| smtp.open(*place).wants_tls)
        .count();
    assert!((200..300).contains(&secured), "{secured}");
    assert_eq!(smtp.kinds(), ["clear", "tls"]);
    for (share, expected) in [(0.0, 0), (1.0, 100)] {
        let mut smtp = machine(&starttls(share));
        let secured = (0..100).filter(|place| smtp.open(*place).wants_tls).count();
        assert_eq!(secured, expected);
        assert!(smtp.kinds().is_empty());
    }
}

#[test]
fn users_log_in_in_turn() {
    let mut smtp = machine(&login(Mechanism::Plain));
    let users: Vec<u32> = (0..4).map(|place| smtp.open(place).user).collect();
    assert_eq!(users, [1, 2, 1, 2]);
    let (mut exchange, _) = greeted(&login(Mechanism::Plain), "AUTH LOGIN PLAIN");
    let expected = STANDARD.encode("\0user1\0secret1");
    assert_eq!(exchange.sent, format!("AUTH PLAIN {expected}\r\n"));
    assert_eq!(exchange.receive("235 in\r\n"), Step::Ready);
    assert_eq!(exchange.marks, ["banner", "ehlo", "auth"]);
}

#[test]
fn auth_login_asks_twice() {
    let (mut exchange, _) = greeted(&login(Mechanism::Login), "AUTH PLAIN LOGIN");
    assert_eq!(exchange.sent, "AUTH LOGIN\r\n");
    exchange.receive("334 VXNlcm5hbWU6\r\n");
    assert_eq!(exchange.sent, format!("{}\r\n", STANDARD.encode("user1")));
    exchange.receive("334 UGFzc3dvcmQ6\r\n");
    assert_eq!(exchange.sent, format!("{}\r\n", STANDARD.encode("secret1")));
    assert_eq!(exchange.receive("235 in\r\n"), Step::Ready);
}

#[test]
fn a_login_that_is_refused_or_not_offered_fails_the_connection() {
    let (mut exchange, _) = greeted(&login(Mechanism::Plain), "AUTH PLAIN");
    assert_eq!(
        exchange.receive("535 no\r\n"),
        Step::Broken(ErrorKind::AuthFail)
    );
    let (_, step) = greeted(&login(Mechanism::Login), "AUTH PLAIN");
    assert_eq!(step, Step::Broken(ErrorKind::CapabilityMissing));
}

#[test]
fn the_offers_are_read_however_the_reply_is_split() {
    let reply = "250-hi\r\n250-PIPELINING\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n";
    for at in 1..reply.len() {
        let mut exchange = Exchange::new(&starttls(1.0));
        exchange.receive("220 hi\r\n");
        assert_eq!(exchange.receive(&reply[..at]), Step::More);
        exchange.receive(&reply[at..]);
        assert_eq!(exchange.sent, "STARTTLS\r\n", "split at {at}");
    }
}

#[test]
fn a_greeting_without_end_is_refused() {
    let mut exchange = Exchange::new(&SmtpOperation::default());
    exchange.receive("220 hi\r\n");
    let line = format!("250-{}\r\n", "x".repeat(900));
    let step = (0..100)
        .map(|_| exchange.receive(&line))
        .find(|step| *step != Step::More);
    assert_eq!(step, Some(Step::Broken(ErrorKind::BadProtocol)));
}

#[test]
fn jobs_that_make_no_sense_are_refused() {
    let refused = |operation: &SmtpOperation, dialect| {
        assert!(Smtp::new(operation, dialect, 1, 1).is_err());
    };
    refused(&starttls(1.0), Dialect::Smtps);
    refused(&starttls(1.5), Dialect::Smtp);
    let more_than_there_are = SmtpOperation {
        recipients: 2,
        recipients_per_message: 3,
        ..SmtpOperation::default()
    };
    refused(&more_than_there_are, Dialect::Smtp);
    let weightless = SmtpOperation {
        body_sizes: vec![(100, 0.0)],
        ..SmtpOperation::default()
    };
    refused(&weightless, Dialect::Smtp);
}
