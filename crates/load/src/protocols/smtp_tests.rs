use super::*;

fn machine(operation: &SmtpOperation) -> Smtp {
    Smtp::new(operation, 1, 1).unwrap()
}

/// A connection in conversation; remembers what was sent last.
struct Talk {
    smtp: Smtp,
    session: Session,
    sent: String,
    marks: Vec<usize>,
}

impl Talk {
    fn new(operation: &SmtpOperation) -> Self {
        let mut smtp = machine(operation);
        let session = smtp.open(0);
        let mut talk = Self {
            smtp,
            session,
            sent: String::new(),
            marks: Vec::new(),
        };
        let mut out = Output::default();
        assert_eq!(
            talk.smtp
                .connected(&mut talk.session, &mut Turn::new(0, &mut out)),
            Step::More
        );
        talk
    }

    fn greeted(operation: &SmtpOperation) -> Self {
        let mut talk = Self::new(operation);
        assert_eq!(talk.hear("220 hi\r\n"), Step::More);
        assert_eq!(talk.hear("250-hi\r\n250 OK\r\n"), Step::Ready);
        talk
    }

    fn hear(&mut self, reply: &str) -> Step {
        let mut out = Output::default();
        let mut turn = Turn::new(0, &mut out);
        let step = self
            .smtp
            .received(&mut self.session, reply.as_bytes(), &mut turn);
        self.marks.extend(turn.marks().map(|(phase, _)| phase));
        out.head.extend_from_slice(&self.smtp.shared()[out.tail]);
        self.sent = String::from_utf8(out.head).unwrap();
        step
    }

    fn start(&mut self) {
        let mut out = Output::default();
        self.smtp.start(&mut self.session, 0, &mut out);
        self.sent = String::from_utf8(out.head).unwrap();
    }

    /// Starts a message and hears `replies`; the last step.
    fn message(&mut self, replies: &[&str]) -> Step {
        self.start();
        replies.iter().map(|reply| self.hear(reply)).last().unwrap()
    }
}

const GOOD: &[&str] = &["250 ok\r\n", "250 ok\r\n", "354 go\r\n", "250 stored\r\n"];

#[test]
fn a_message_goes_through_the_dialogue_in_order() {
    let mut talk = Talk::new(&SmtpOperation::default());
    talk.hear("220-first\r\n220 second\r\n");
    assert_eq!(talk.sent, "EHLO load.steelyard.test\r\n");
    assert_eq!(talk.hear("250 OK\r\n"), Step::Ready);
    talk.start();
    assert_eq!(talk.sent, "MAIL FROM:<sender@steelyard.test>\r\n");
    talk.hear("250 ok\r\n");
    assert_eq!(talk.sent, "RCPT TO:<user1@steelyard.test>\r\n");
    talk.hear("250 ok\r\n");
    assert_eq!(talk.sent, "DATA\r\n");
    talk.hear("354 go\r\n");
    assert!(
        talk.sent.starts_with("From: <sender@steelyard.test>\r\n")
            && talk.sent.ends_with("\r\n.\r\n")
    );
    assert_eq!(
        talk.hear("250 stored\r\n"),
        Step::Done(Ok(()), After::Ready)
    );
    assert_eq!(talk.marks, [2, 3, 4, 5, 6, 7]);
}

#[test]
fn every_reply_may_be_split_at_every_byte() {
    for reply in ["250-a\r\n250-b\r\n250 c\r\n", "250 ok\r\n"] {
        for at in 1..reply.len() {
            let mut talk = Talk::greeted(&SmtpOperation::default());
            talk.start();
            assert_eq!(talk.hear(&reply[..at]), Step::More);
            assert_eq!(talk.sent, "", "split at {at}");
            talk.hear(&reply[at..]);
            assert_eq!(
                talk.sent, "RCPT TO:<user1@steelyard.test>\r\n",
                "split at {at}"
            );
        }
    }
}

#[test]
fn an_old_server_is_greeted_with_helo() {
    let mut talk = Talk::new(&SmtpOperation::default());
    talk.hear("220 hi\r\n");
    assert_eq!(talk.hear("502 what\r\n"), Step::More);
    assert_eq!(talk.sent, "HELO load.steelyard.test\r\n");
    assert_eq!(talk.hear("250 hi\r\n"), Step::Ready);
}

#[test]
fn a_refusal_in_any_phase_is_typed_and_followed_by_rset() {
    for phase in 0..4 {
        for (code, kind) in [("451", ErrorKind::Smtp4xx), ("550", ErrorKind::Smtp5xx)] {
            let mut talk = Talk::greeted(&SmtpOperation::default());
            let refusal = format!("{code} no\r\n");
            let replies: Vec<&str> = GOOD[..phase]
                .iter()
                .copied()
                .chain([refusal.as_str()])
                .collect();
            assert_eq!(talk.message(&replies), Step::Done(Err(kind), After::Busy));
            assert_eq!(talk.sent, "RSET\r\n");
            assert_eq!(talk.hear("250 flushed\r\n"), Step::Ready);
            assert_eq!(talk.message(GOOD), Step::Done(Ok(()), After::Ready));
        }
    }
}

#[test]
fn service_not_available_closes_the_connection() {
    let mut talk = Talk::greeted(&SmtpOperation::default());
    assert_eq!(
        talk.message(&["421 bye\r\n"]),
        Step::Done(Err(ErrorKind::Smtp4xx), After::Close)
    );
    let mut talk = Talk::greeted(&SmtpOperation::default());
    assert_eq!(talk.hear("421 idle too long\r\n"), Step::Finished);
}

#[test]
fn only_a_reply_of_the_right_kind_is_success() {
    for (at, wrong) in [(0, "354 go\r\n"), (2, "250 ok\r\n"), (3, "354 more\r\n")] {
        let mut talk = Talk::greeted(&SmtpOperation::default());
        let replies: Vec<&str> = GOOD[..at].iter().copied().chain([wrong]).collect();
        assert_eq!(talk.message(&replies), Step::Broken(ErrorKind::BadProtocol));
    }
}

#[test]
fn a_server_that_refuses_at_the_door_breaks_the_connection() {
    let mut talk = Talk::new(&SmtpOperation::default());
    assert_eq!(
        talk.hear("554 go away\r\n"),
        Step::Broken(ErrorKind::Smtp5xx)
    );
}

#[test]
fn after_the_last_message_of_a_connection_comes_quit() {
    let operation = SmtpOperation {
        messages_per_connection: 2,
        ..SmtpOperation::default()
    };
    let mut talk = Talk::greeted(&operation);
    assert_eq!(talk.message(GOOD), Step::Done(Ok(()), After::Ready));
    assert_eq!(talk.message(GOOD), Step::Done(Ok(()), After::Busy));
    assert_eq!(talk.sent, "QUIT\r\n");
    assert_eq!(talk.hear("221 bye\r\n"), Step::Finished);
}

#[test]
fn recipients_are_drawn_from_all_numbers_asked_for() {
    let mut smtp = machine(&SmtpOperation {
        recipients: 5,
        ..SmtpOperation::default()
    });
    let mut seen = [0; 6];
    for _ in 0..1_000 {
        seen[smtp.any_recipient() as usize] += 1;
    }
    assert_eq!(seen[0], 0);
    assert!(seen[1..].iter().all(|count| *count > 100), "{seen:?}");
}

#[test]
fn workers_send_different_messages() {
    let smtp = machine(&SmtpOperation::default());
    assert_ne!(
        smtp.for_worker(0, 1).sequence,
        smtp.for_worker(1, 1).sequence
    );
}

#[test]
fn an_address_that_would_smuggle_a_command_is_refused() {
    for sender in ["a@b>\r\nRSET", "a b@c", "<a@b>"] {
        let operation = SmtpOperation {
            sender: sender.to_owned(),
            ..SmtpOperation::default()
        };
        assert!(Smtp::new(&operation, 1, 1).is_err());
    }
}
