use super::*;

#[test]
fn a_connection_is_greeted_logged_in_and_selected() {
    let mut exchange = Exchange::new(&operation(&[ImapCommand::Fetch]));
    exchange.receive("* OK hi\r\n");
    assert_eq!(exchange.sent, "S1 CAPABILITY\r\n");
    exchange.receive("* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\nS1 OK\r\n");
    assert_eq!(exchange.sent, "S2 AUTHENTICATE PLAIN\r\n");
    exchange.receive("+ \r\n");
    assert_eq!(exchange.sent, "AGFubjEAc2UiY3JldA==\r\n");
    exchange.receive("S2 OK in\r\n");
    assert_eq!(exchange.sent, "S3 CAPABILITY\r\n");
    exchange.receive("* CAPABILITY IMAP4rev1 IDLE\r\nS3 OK\r\n");
    assert_eq!(exchange.sent, "S4 SELECT \"INBOX\"\r\n");
    assert_eq!(
        exchange.receive("* 3 EXISTS\r\n* 0 RECENT\r\nS4 OK [READ-WRITE] done\r\n"),
        Step::Ready
    );
    assert_eq!(
        exchange.phases.join(" "),
        "banner capability auth capability select"
    );
    assert_eq!(exchange.imap.growth.sums(), (3, 3, 1));
}

#[test]
fn a_login_quotes_what_must_be_quoted_and_respects_its_refusal() {
    let mut login = operation(&[ImapCommand::Noop]);
    login.login.mechanism = Mechanism::Login;
    let mut exchange = Exchange::new(&login);
    exchange.receive("* OK [CAPABILITY IMAP4rev1] hi\r\n");
    assert_eq!(exchange.sent, "S1 LOGIN \"ann1\" \"se\\\"cret\"\r\n");
    assert_eq!(
        exchange.receive("S1 NO wrong\r\n"),
        Step::Broken(ErrorKind::AuthFail)
    );
    let mut exchange = Exchange::new(&login);
    let missing = Step::Broken(ErrorKind::CapabilityMissing);
    assert_eq!(
        exchange.receive("* OK [CAPABILITY IMAP4rev1 LOGINDISABLED] hi\r\n"),
        missing
    );
}

#[test]
fn who_is_logged_in_already_does_not_log_in() {
    let mut exchange = Exchange::new(&operation(&[ImapCommand::Noop]));
    exchange.receive("* PREAUTH hi\r\n");
    exchange.receive("* CAPABILITY IMAP4rev1\r\nS1 OK\r\n");
    assert_eq!(exchange.sent, "S2 SELECT \"INBOX\"\r\n");
}

#[test]
fn the_connection_is_upgraded_and_asked_again() {
    let mut secure = operation(&[ImapCommand::Noop]);
    secure.starttls = StartTls::Require;
    let mut exchange = Exchange::new(&secure);
    exchange.receive("* OK [CAPABILITY IMAP4rev1 STARTTLS AUTH=PLAIN] hi\r\n");
    assert_eq!(exchange.sent, "S1 STARTTLS\r\n");
    assert_eq!(exchange.receive("S1 OK go\r\n"), Step::Secure);
    exchange.turn(Imap::secured);
    assert_eq!(exchange.sent, "S2 CAPABILITY\r\n");

    let mut exchange = Exchange::new(&secure);
    let missing = Step::Broken(ErrorKind::CapabilityMissing);
    assert_eq!(
        exchange.receive("* OK [CAPABILITY IMAP4rev1] hi\r\n"),
        missing
    );
    let mut exchange = Exchange::new(&secure);
    exchange.receive("* OK [CAPABILITY IMAP4rev1 STARTTLS] hi\r\n");
    let injected = "S1 OK go\r\n* CAPABILITY IMAP4rev1\r\n";
    assert_eq!(
        exchange.receive(injected),
        Step::Broken(ErrorKind::BadProtocol)
    );
}
