use super::*;

#[test]
fn refusals_fail_the_transfer_by_their_cause_and_not_the_connection() {
    for (reply, kind) in [
        ("425 no data connection\r\n", ErrorKind::Ftp4xx),
        ("426 aborted\r\n", ErrorKind::Ftp4xx),
        ("450 busy\r\n", ErrorKind::Ftp4xx),
        ("530 who are you\r\n", ErrorKind::AuthFail),
        ("550 no such file\r\n", ErrorKind::Ftp5xx),
    ] {
        let mut exchange = Exchange::transferring(&operation(FtpAction::Download));
        assert_eq!(exchange.phase(), "150");
        assert_eq!(exchange.receive(reply), failed(kind), "{reply}");
    }
    let mut exchange = Exchange::transferring(&operation(FtpAction::Download));
    let closing = Step::Done(Err(ErrorKind::Ftp4xx), After::Close);
    assert_eq!(exchange.receive("421 good bye\r\n"), closing);
}

#[test]
fn a_refusal_in_the_midst_of_an_upload_ends_it() {
    let mut exchange = Exchange::transferring(&operation(FtpAction::Upload));
    exchange.receive("150 go\r\n");
    assert_eq!(
        exchange.receive("452 disk full\r\n"),
        failed(ErrorKind::NoRoom)
    );
}

#[test]
fn a_login_that_is_refused_is_no_other_failure() {
    for (reply, kind) in [
        ("530 wrong\r\n", ErrorKind::AuthFail),
        ("332 account?\r\n", ErrorKind::AuthFail),
        ("421 too many\r\n", ErrorKind::Ftp4xx),
    ] {
        let mut exchange = Exchange::new(&operation(FtpAction::Login));
        exchange.receive("220 hi\r\n");
        exchange.receive("331 password?\r\n");
        assert_eq!(exchange.phase(), "pass");
        assert_eq!(exchange.receive(reply), Step::Broken(kind));
    }
}

#[test]
fn a_data_connection_that_fails_leaves_the_other_one_in_step() {
    let mut exchange = Exchange::ready(&operation(FtpAction::Download));
    exchange.start();
    exchange.receive("229 (|||1|)\r\n");
    let refused = SideEvent::Failed(ErrorKind::ConnRefused);
    assert_eq!(exchange.side(refused), failed(ErrorKind::ConnRefused));
    let mut exchange = Exchange::transferring(&operation(FtpAction::Download));
    exchange.receive("150 go\r\n");
    let reset = SideEvent::Failed(ErrorKind::ConnReset);
    assert_eq!(exchange.side(reset), Step::More);
    assert_eq!(
        exchange.receive("226 fine here\r\n"),
        failed(ErrorKind::ConnReset)
    );
}
