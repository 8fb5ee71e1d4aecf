use super::*;

#[test]
fn an_encrypted_upload_starts_when_both_150_and_tls_are_there() {
    let operation = FtpOperation {
        starttls: StartTls::Require,
        ..operation(FtpAction::Upload)
    };
    for tls_first in [true, false] {
        let mut exchange = Exchange::new(&operation);
        exchange.receive("220 hi\r\n");
        assert_eq!(exchange.sent, "AUTH TLS\r\n");
        assert_eq!(exchange.receive("234 go\r\n"), Step::Secure);
        exchange.step(Ftp::secured);
        assert_eq!(exchange.sent, "USER anonymous\r\n");
        exchange.receive("230 you\r\n");
        assert_eq!(exchange.sent, "PBSZ 0\r\n");
        exchange.receive("200 ok\r\n");
        assert_eq!(exchange.sent, "PROT P\r\n");
        exchange.receive("200 ok\r\n");
        assert_eq!(exchange.receive("200 binary\r\n"), Step::Ready);
        exchange.start();
        exchange.receive("229 (|||1|)\r\n");
        assert!(exchange.ftp.side_plan(&exchange.session).unwrap().secure);
        exchange.side(SideEvent::Connected);
        let steps = if tls_first {
            [
                exchange.side(SideEvent::Secured),
                exchange.receive("150 go\r\n"),
            ]
        } else {
            [
                exchange.receive("150 go\r\n"),
                exchange.side(SideEvent::Secured),
            ]
        };
        assert_eq!(steps, [Step::More, Step::SendSide]);
    }
}

#[test]
fn an_implicit_connection_asks_for_encrypted_data_without_auth() {
    let mut exchange = Exchange::with(&operation(FtpAction::List), "ftps://127.0.0.1/");
    exchange.receive("220 hi\r\n");
    assert_eq!(exchange.sent, "USER anonymous\r\n");
    exchange.receive("230 you\r\n");
    assert_eq!(exchange.sent, "PBSZ 0\r\n");
}

#[test]
fn a_server_without_tls_lacks_a_capability() {
    let operation = FtpOperation {
        starttls: StartTls::Require,
        ..operation(FtpAction::List)
    };
    let mut exchange = Exchange::new(&operation);
    exchange.receive("220 hi\r\n");
    let missing = Step::Broken(ErrorKind::CapabilityMissing);
    assert_eq!(exchange.receive("502 what\r\n"), missing);
}

#[test]
fn nothing_may_be_said_in_clear_text_behind_the_consent_to_tls() {
    let operation = FtpOperation {
        starttls: StartTls::Require,
        ..operation(FtpAction::List)
    };
    let mut exchange = Exchange::new(&operation);
    exchange.receive("220 hi\r\n");
    let injected = exchange.receive("234 go\r\n230 you are root\r\n");
    assert_eq!(injected, Step::Broken(ErrorKind::BadProtocol));
}

#[test]
fn a_server_without_epsv_is_asked_with_pasv_and_never_with_epsv_again() {
    for code in [500, 501, 502, 522, 550] {
        let mut exchange = Exchange::ready(&operation(FtpAction::List));
        exchange.start();
        assert_eq!(exchange.sent, "EPSV\r\n");
        exchange.receive(&format!("{code} no\r\n"));
        assert_eq!(exchange.sent, "PASV\r\n");
        assert_eq!(
            exchange.receive("227 ok (10,1,2,3,4,3).\r\n"),
            Step::OpenSide
        );
        let plan = exchange.ftp.side_plan(&exchange.session).unwrap();
        assert_eq!(plan.address, SideAddress::PeerPort(1027));
        exchange.side(SideEvent::Connected);
        exchange.side(END);
        assert_eq!(exchange.receive("226 nothing\r\n"), DONE);
        exchange.start();
        assert_eq!(exchange.sent, "PASV\r\n");
    }
}

#[test]
fn the_address_of_227_is_believed_only_on_request() {
    let operation = FtpOperation {
        passive: Passive::Pasv,
        trust_pasv_address: true,
        ..operation(FtpAction::List)
    };
    let mut exchange = Exchange::ready(&operation);
    exchange.start();
    exchange.receive("227 ok (10,1,2,3,4,3)\r\n");
    let plan = exchange.ftp.side_plan(&exchange.session).unwrap();
    assert_eq!(
        plan.address,
        SideAddress::At("10.1.2.3:1027".parse().unwrap())
    );
}

#[test]
fn epsv_alone_does_not_fall_back() {
    let operation = FtpOperation {
        passive: Passive::Epsv,
        ..operation(FtpAction::List)
    };
    let mut exchange = Exchange::ready(&operation);
    exchange.start();
    assert_eq!(exchange.receive("502 no\r\n"), failed(ErrorKind::Ftp5xx));
}
