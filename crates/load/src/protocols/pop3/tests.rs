use steelyard_wire::job::Login;

use super::*;
use steelyard_wire::job::{Mechanism, StartTls};

fn operation() -> Pop3Operation {
    Pop3Operation::new(Login {
        user: "ann{n}".to_owned(),
        password: "secret".to_owned(),
        users: 1,
        mechanism: Mechanism::Login,
    })
}

/// A connection in conversation; remembers what was sent last, and the phases that ended.
struct Exchange {
    pop3: Pop3,
    session: Session,
    sent: String,
    phases: Vec<&'static str>,
}

impl Exchange {
    fn new(operation: &Pop3Operation) -> Self {
        let places = Places {
            worker: 0,
            first: 0,
            all: 1,
        };
        let mut pop3 = Pop3::new(operation, places, 1).unwrap();
        let session = pop3.open(0);
        let mut exchange = Self {
            pop3,
            session,
            sent: String::new(),
            phases: Vec::new(),
        };
        exchange.turn(Pop3::connected);
        exchange
    }

    /// Logged in, and STAT answered with `messages`.
    fn counted(operation: &Pop3Operation, messages: u32) -> Self {
        let mut exchange = Self::new(operation);
        exchange.receive("+OK hi\r\n");
        exchange.receive("+OK\r\n");
        assert_eq!(exchange.receive("+OK in\r\n"), Step::Ready);
        exchange.start();
        exchange.receive(&format!("+OK {messages} 100\r\n"));
        exchange
    }

    fn turn(&mut self, act: impl FnOnce(&mut Pop3, &mut Session, &mut Turn<'_>) -> Step) -> Step {
        let mut out = Output::default();
        let mut turn = Turn::new(0, &mut out);
        let step = act(&mut self.pop3, &mut self.session, &mut turn);
        let names = turn.marks().map(|(phase, _)| Pop3::PHASES[phase]);
        self.phases.extend(names);
        self.sent = String::from_utf8(out.head).unwrap();
        step
    }

    fn receive(&mut self, reply: &str) -> Step {
        self.turn(|pop3, session, turn| pop3.received(session, reply.as_bytes(), turn))
    }

    fn start(&mut self) {
        let mut out = Output::default();
        self.pop3.start(&mut self.session, 0, &mut out);
        self.sent = String::from_utf8(out.head).unwrap();
    }

    fn says(&mut self, reply: &str, answer: &str) {
        assert_eq!(self.receive(reply), Step::More, "{reply}");
        assert_eq!(self.sent, answer, "{reply}");
    }
}

const BYE: Step = Step::Done(Ok(()), After::Close);

#[test]
fn a_session_goes_through_the_dialogue_in_order() {
    let mut exchange = Exchange::new(&Pop3Operation {
        delete_share: 1.0,
        ..operation()
    });
    exchange.says("+OK hi\r\n", "USER ann1\r\n");
    exchange.says("+OK\r\n", "PASS secret\r\n");
    assert_eq!(exchange.receive("+OK in\r\n"), Step::Ready);
    exchange.start();
    assert_eq!(exchange.sent, "STAT\r\n");
    exchange.says("+OK 2 100\r\n", "UIDL\r\n");
    exchange.says("+OK\r\n1 a\r\n2 b\r\n.\r\n", "RETR 1\r\n");
    exchange.says("+OK\r\nSubject: x\r\n\r\n..\r\n.\r\n", "RETR 2\r\n");
    exchange.says("+OK 7 octets\r\n\r\n.\r\n", "DELE 1\r\n");
    exchange.says("+OK\r\n", "DELE 2\r\n");
    exchange.says("+OK\r\n", "QUIT\r\n");
    assert_eq!(exchange.receive("+OK bye\r\n"), BYE);
    let wanted = "banner auth stat list retr-first retr-last retr-first retr-last dele dele quit";
    assert_eq!(exchange.phases.join(" "), wanted);
    let moved = exchange.pop3.moved(&exchange.session);
    assert_eq!((moved.retrieved, moved.deleted), (2, 2));
    assert_eq!(exchange.pop3.growth.sums(), (2, 0, 1));
}

#[test]
fn every_reply_may_be_split_at_every_byte() {
    let message = "+OK\r\nSubject: x\r\n\r\n..a\r\n.\r\n";
    for at in 1..message.len() {
        let mut exchange = Exchange::counted(&operation(), 1);
        exchange.says("+OK\r\n1 a\r\n.\r\n", "RETR 1\r\n");
        exchange.says(&message[..at], "");
        exchange.says(&message[at..], "QUIT\r\n");
        assert_eq!(exchange.session.moved.retrieved, 1, "split at {at}");
    }
}

#[test]
fn an_empty_mailbox_is_listed_and_left() {
    let mut exchange = Exchange::counted(&operation(), 0);
    exchange.says("+OK\r\n.\r\n", "QUIT\r\n");
    assert_eq!(exchange.receive("+OK\r\n"), BYE);
}

#[test]
fn a_listing_that_does_not_fit_the_count_is_no_answer() {
    let mut exchange = Exchange::counted(&operation(), 2);
    assert_eq!(
        exchange.receive("+OK\r\n1 a\r\n.\r\n"),
        Step::Broken(ErrorKind::BadProtocol)
    );
}

#[test]
fn a_group_leaves_at_once_and_is_one_phase() {
    let mut exchange = Exchange::new(&Pop3Operation {
        pipelining: true,
        delete_share: 1.0,
        uidl: false,
        ..operation()
    });
    exchange.says("+OK hi\r\n", "CAPA\r\n");
    exchange.says("+OK\r\nTOP\r\nPIPELI", "");
    exchange.says("NING\r\n.\r\n", "USER ann1\r\n");
    exchange.receive("+OK\r\n");
    exchange.receive("+OK\r\n");
    exchange.start();
    exchange.says("+OK 2 100\r\n", "LIST\r\n");
    let group = "RETR 1\r\nRETR 2\r\nDELE 1\r\nDELE 2\r\n";
    exchange.says("+OK\r\n1 50\r\n2 50\r\n.\r\n", group);
    exchange.says("+OK\r\n\r\n.\r\n+OK\r\nx\r\n", "");
    exchange.says(".\r\n+OK\r\n+OK\r\n", "QUIT\r\n");
    assert_eq!(exchange.receive("+OK\r\n"), BYE);
    assert_eq!(exchange.phases[4..], ["list", "retr+dele", "quit"]);
}

#[test]
fn nothing_is_pipelined_to_a_server_that_does_not_offer_it() {
    let mut exchange = Exchange::new(&Pop3Operation {
        pipelining: true,
        ..operation()
    });
    exchange.says("+OK hi\r\n", "CAPA\r\n");
    exchange.says("-ERR what\r\n", "USER ann1\r\n");
    exchange.receive("+OK\r\n");
    exchange.receive("+OK\r\n");
    exchange.start();
    exchange.receive("+OK 2 100\r\n");
    exchange.says("+OK\r\n1 a\r\n2 b\r\n.\r\n", "RETR 1\r\n");
}

#[test]
fn a_refusal_is_typed_by_what_it_answers() {
    let busy = "-ERR [IN-USE] somebody else\r\n";
    for (reply, kind) in [
        ("-ERR no\r\n", ErrorKind::AuthFail),
        (busy, ErrorKind::PopInUse),
    ] {
        let mut exchange = Exchange::new(&operation());
        exchange.receive("+OK hi\r\n");
        exchange.receive("+OK\r\n");
        assert_eq!(exchange.receive(reply), Step::Broken(kind));
    }
    let mut exchange = Exchange::counted(&operation(), 1);
    exchange.receive("+OK\r\n1 a\r\n.\r\n");
    let failed = Step::Done(Err(ErrorKind::PopErr), After::Busy);
    assert_eq!(exchange.receive("-ERR no such message\r\n"), failed);
    assert_eq!(exchange.sent, "QUIT\r\n");
    assert_eq!(exchange.receive("+OK\r\n"), Step::Finished);
}

#[test]
fn messages_that_were_not_removed_at_quit_fail_the_session() {
    let mut exchange = Exchange::counted(&operation(), 0);
    exchange.receive("+OK\r\n.\r\n");
    let failed = Step::Done(Err(ErrorKind::PopErr), After::Close);
    assert_eq!(exchange.receive("-ERR some were not removed\r\n"), failed);
}

#[test]
fn the_connection_is_upgraded_or_given_up() {
    let secure = Pop3Operation {
        starttls: StartTls::Require,
        ..operation()
    };
    let mut exchange = Exchange::new(&secure);
    exchange.says("+OK hi\r\n", "CAPA\r\n");
    exchange.says("+OK\r\nSTLS\r\n.\r\n", "STLS\r\n");
    assert_eq!(exchange.receive("+OK go\r\n"), Step::Secure);
    exchange.turn(Pop3::secured);
    assert_eq!(exchange.sent, "USER ann1\r\n");

    let mut exchange = Exchange::new(&secure);
    exchange.receive("+OK hi\r\n");
    let missing = Step::Broken(ErrorKind::CapabilityMissing);
    assert_eq!(exchange.receive("+OK\r\nUIDL\r\n.\r\n"), missing);
}

#[test]
fn what_comes_behind_the_agreement_on_tls_is_not_believed() {
    let mut exchange = Exchange::new(&Pop3Operation {
        starttls: StartTls::Require,
        ..operation()
    });
    exchange.receive("+OK hi\r\n");
    exchange.receive("+OK\r\nSTLS\r\n.\r\n");
    let broken = Step::Broken(ErrorKind::BadProtocol);
    assert_eq!(exchange.receive("+OK go\r\n+OK injected\r\n"), broken);
}

#[test]
fn credentials_go_in_one_command_with_auth_plain() {
    let mut operation = operation();
    operation.login.mechanism = Mechanism::Plain;
    let mut exchange = Exchange::new(&operation);
    exchange.says("+OK hi\r\n", "AUTH PLAIN AGFubjEAc2VjcmV0\r\n");
    assert_eq!(exchange.receive("+OK\r\n"), Step::Ready);
}

#[test]
fn shares_are_kept_on_average_and_the_limit_always() {
    let mut exchange = Exchange::new(&operation());
    let drawn: u32 = (0..1_000).map(|_| exchange.pop3.share_of(3, 0.25)).sum();
    assert!((650..850).contains(&drawn), "{drawn}");
    assert!((0..100).all(|_| exchange.pop3.share_of(3, 1.0) == 3));
    assert!((0..100).all(|_| exchange.pop3.share_of(3, 0.0) == 0));
    let most = Pop3Operation {
        most_messages: 2,
        ..operation()
    };
    assert_eq!(Exchange::counted(&most, 4).session.to_retrieve, 2);
}

#[test]
fn a_damaged_message_fails_the_session() {
    use crate::payload::Marker;
    let verify = Pop3Operation {
        verify: true,
        ..operation()
    };
    let mut marker = Vec::new();
    Marker::of(1, 2, 3, b"body\r\n").write(&mut marker);
    let marker = String::from_utf8(marker).unwrap();
    for (body, step) in [
        ("body\r\n", Step::More),
        (
            "bodx\r\n",
            Step::Done(Err(ErrorKind::ChecksumMismatch), After::Busy),
        ),
    ] {
        let mut exchange = Exchange::counted(&verify, 1);
        exchange.receive("+OK\r\n1 a\r\n.\r\n");
        let message = format!("+OK\r\nX-Steelyard-Payload: {marker}\r\n\r\n{body}.\r\n");
        assert_eq!(exchange.receive(&message), step);
        assert_eq!(exchange.pop3.payload().unwrap().checked, 1);
    }
}

#[test]
fn a_share_that_is_none_is_refused() {
    for share in [-0.1, 1.1, f64::NAN] {
        let operation = Pop3Operation {
            delete_share: share,
            ..operation()
        };
        let places = Places {
            worker: 0,
            first: 0,
            all: 1,
        };
        assert!(Pop3::new(&operation, places, 1).is_err());
    }
}
