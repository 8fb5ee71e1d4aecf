use super::session::PHASES;
use super::*;
use crate::protocols::After;

mod groups;
mod lmtp;
mod oracle;
mod set_up;

fn machine(operation: &SmtpOperation) -> Smtp {
    Smtp::new(operation, Dialect::Smtp, 1, 1).unwrap()
}

fn one_reply(code: &str) -> String {
    format!("{code} so\r\n")
}

/// A connection in conversation; remembers what was sent last.
struct Exchange {
    smtp: Smtp,
    session: Session,
    sent: String,
    marks: Vec<&'static str>,
    slot: usize,
    left: usize,
}

impl Exchange {
    fn new(operation: &SmtpOperation) -> Self {
        Self::of(machine(operation))
    }

    fn of(mut smtp: Smtp) -> Self {
        let session = smtp.open(0);
        let mut exchange = Self {
            smtp,
            session,
            sent: String::new(),
            marks: Vec::new(),
            slot: 0,
            left: 0,
        };
        let mut out = Output::default();
        assert_eq!(
            exchange
                .smtp
                .connected(&mut exchange.session, &mut Turn::new(0, &mut out)),
            Step::More
        );
        exchange
    }

    fn greeted(operation: &SmtpOperation) -> Self {
        let mut exchange = Self::new(operation);
        assert_eq!(exchange.receive("220 hi\r\n"), Step::More);
        assert_eq!(exchange.receive("250-hi\r\n250 OK\r\n"), Step::Ready);
        exchange
    }

    /// The first step that follows from `reply`, and what was sent with it.
    fn receive(&mut self, reply: &str) -> Step {
        let mut out = Output::default();
        let mut turn = Turn::new(0, &mut out);
        let step = self
            .smtp
            .received(&mut self.session, reply.as_bytes(), &mut turn);
        self.marks
            .extend(turn.marks().map(|(phase, _)| PHASES[phase]));
        (self.slot, self.left) = (turn.slot, turn.left);
        self.sent = self.text(out);
        step
    }

    fn secured(&mut self) -> Step {
        let mut out = Output::default();
        let step = self
            .smtp
            .secured(&mut self.session, &mut Turn::new(0, &mut out));
        self.sent = self.text(out);
        step
    }

    fn start(&mut self) {
        self.start_in(0);
    }

    fn start_in(&mut self, slot: usize) {
        let mut out = Output::default();
        self.smtp.start(&mut self.session, slot, &mut out);
        self.sent = self.text(out);
    }

    fn text(&self, mut out: Output) -> String {
        out.head.extend_from_slice(&self.smtp.shared()[out.tail]);
        String::from_utf8(out.head).unwrap()
    }

    /// Starts a message and receives `replies`; the last step.
    fn message(&mut self, replies: &[&str]) -> Step {
        self.start();
        replies
            .iter()
            .map(|reply| self.receive(reply))
            .last()
            .unwrap()
    }
}

const GOOD: &[&str] = &["250 ok\r\n", "250 ok\r\n", "354 go\r\n", "250 stored\r\n"];

#[test]
fn a_message_goes_through_the_dialogue_in_order() {
    let mut exchange = Exchange::new(&SmtpOperation::default());
    exchange.receive("220-first\r\n220 second\r\n");
    assert_eq!(exchange.sent, "EHLO load.steelyard.test\r\n");
    assert_eq!(exchange.receive("250 OK\r\n"), Step::Ready);
    exchange.start();
    assert_eq!(exchange.sent, "MAIL FROM:<sender@steelyard.test>\r\n");
    exchange.receive("250 ok\r\n");
    assert_eq!(exchange.sent, "RCPT TO:<user1@steelyard.test>\r\n");
    exchange.receive("250 ok\r\n");
    assert_eq!(exchange.sent, "DATA\r\n");
    exchange.receive("354 go\r\n");
    assert!(
        exchange
            .sent
            .starts_with("From: <sender@steelyard.test>\r\n")
            && exchange.sent.ends_with("\r\n.\r\n")
    );
    assert_eq!(
        exchange.receive("250 stored\r\n"),
        Step::Done(Ok(()), After::Ready)
    );
    assert_eq!(
        exchange.marks,
        ["banner", "ehlo", "mail", "rcpt", "data", "eom"]
    );
}

#[test]
fn every_reply_may_be_split_at_every_byte() {
    for reply in ["250-a\r\n250-b\r\n250 c\r\n", "250 ok\r\n"] {
        for at in 1..reply.len() {
            let mut exchange = Exchange::greeted(&SmtpOperation::default());
            exchange.start();
            assert_eq!(exchange.receive(&reply[..at]), Step::More);
            assert_eq!(exchange.sent, "", "split at {at}");
            exchange.receive(&reply[at..]);
            assert_eq!(
                exchange.sent, "RCPT TO:<user1@steelyard.test>\r\n",
                "split at {at}"
            );
        }
    }
}

#[test]
fn an_old_server_is_greeted_with_helo() {
    let mut exchange = Exchange::new(&SmtpOperation::default());
    exchange.receive("220 hi\r\n");
    assert_eq!(exchange.receive("502 what\r\n"), Step::More);
    assert_eq!(exchange.sent, "HELO load.steelyard.test\r\n");
    assert_eq!(exchange.receive("250 hi\r\n"), Step::Ready);
}

#[test]
fn a_refusal_before_the_content_is_typed_and_followed_by_rset() {
    for phase in 0..3 {
        for (code, kind) in [("451", ErrorKind::Smtp4xx), ("550", ErrorKind::Smtp5xx)] {
            let mut exchange = Exchange::greeted(&SmtpOperation::default());
            let refusal = format!("{code} no\r\n");
            let replies: Vec<&str> = GOOD[..phase]
                .iter()
                .copied()
                .chain([refusal.as_str()])
                .collect();
            assert_eq!(
                exchange.message(&replies),
                Step::Done(Err(kind), After::Busy)
            );
            assert_eq!(exchange.sent, "RSET\r\n");
            assert_eq!(exchange.receive("250 flushed\r\n"), Step::Ready);
            assert_eq!(exchange.message(GOOD), Step::Done(Ok(()), After::Ready));
        }
    }
}

#[test]
fn content_that_is_refused_leaves_nothing_to_reset() {
    let mut exchange = Exchange::greeted(&SmtpOperation::default());
    exchange.message(&GOOD[..3]);
    let refused = Step::Done(Err(ErrorKind::Smtp5xx), After::Ready);
    assert_eq!(exchange.receive("554 spam\r\n"), refused);
    assert_eq!(exchange.message(GOOD), Step::Done(Ok(()), After::Ready));
}

#[test]
fn replies_that_no_one_asked_for_break_the_connection() {
    let broken = Step::Broken(ErrorKind::BadProtocol);
    let mut exchange = Exchange::greeted(&SmtpOperation::default());
    assert_eq!(exchange.receive("250 hello?\r\n"), broken);
    let mut exchange = Exchange::greeted(&SmtpOperation::default());
    exchange.start();
    assert_eq!(exchange.receive("250 ok\r\n250 and more\r\n"), broken);
    let mut exchange = Exchange::new(&SmtpOperation::default());
    assert_eq!(
        exchange.receive("220 hi\r\n250 you are welcome\r\n"),
        broken
    );
}

#[test]
fn some_of_several_recipients_refused_fail_a_message_that_still_reaches_the_others() {
    let operation = SmtpOperation {
        recipients: 3,
        recipients_per_message: 3,
        ..SmtpOperation::default()
    };
    let mut exchange = Exchange::greeted(&operation);
    exchange.start();
    for reply in ["250", "250", "450"] {
        exchange.receive(&one_reply(reply));
        assert!(
            exchange.sent.starts_with("RCPT TO:<user"),
            "{}",
            exchange.sent
        );
    }
    exchange.receive("250 ok\r\n");
    assert_eq!(exchange.sent, "DATA\r\n");
    exchange.receive("354 go\r\n");
    assert!(exchange.sent.ends_with("\r\n.\r\n"));
    assert_eq!(exchange.smtp.phase(&exchange.session), session::RCPT);
    assert_eq!(
        exchange.receive("250 stored\r\n"),
        Step::Done(Err(ErrorKind::Smtp4xx), After::Ready)
    );
    assert_eq!(
        exchange
            .marks
            .iter()
            .filter(|name| **name == "rcpt")
            .count(),
        2
    );
}

#[test]
fn a_session_is_small() {
    assert!(size_of::<Session>() <= 160, "{}", size_of::<Session>());
}

#[test]
fn service_not_available_closes_the_connection() {
    let mut exchange = Exchange::greeted(&SmtpOperation::default());
    assert_eq!(
        exchange.message(&["421 bye\r\n"]),
        Step::Done(Err(ErrorKind::Smtp4xx), After::Close)
    );
    let mut exchange = Exchange::greeted(&SmtpOperation::default());
    assert_eq!(exchange.receive("421 idle too long\r\n"), Step::Finished);
}

#[test]
fn only_a_reply_of_the_right_kind_is_success() {
    for (at, wrong) in [(0, "354 go\r\n"), (2, "250 ok\r\n"), (3, "354 more\r\n")] {
        let mut exchange = Exchange::greeted(&SmtpOperation::default());
        let replies: Vec<&str> = GOOD[..at].iter().copied().chain([wrong]).collect();
        assert_eq!(
            exchange.message(&replies),
            Step::Broken(ErrorKind::BadProtocol)
        );
    }
}

#[test]
fn a_server_that_refuses_at_the_door_breaks_the_connection() {
    let mut exchange = Exchange::new(&SmtpOperation::default());
    assert_eq!(
        exchange.receive("554 go away\r\n"),
        Step::Broken(ErrorKind::Smtp5xx)
    );
}

#[test]
fn after_the_last_message_of_a_connection_comes_quit() {
    let operation = SmtpOperation {
        messages_per_connection: 2,
        ..SmtpOperation::default()
    };
    let mut exchange = Exchange::greeted(&operation);
    assert_eq!(exchange.message(GOOD), Step::Done(Ok(()), After::Ready));
    assert_eq!(exchange.message(GOOD), Step::Done(Ok(()), After::Busy));
    assert_eq!(exchange.sent, "QUIT\r\n");
    assert_eq!(exchange.receive("221 bye\r\n"), Step::Finished);
}

#[test]
fn numbers_of_messages_go_on_from_connection_to_connection_and_refused_ones_are_reused() {
    let mut exchange = Exchange::greeted(&SmtpOperation::default());
    let sequence = |exchange: &Exchange| {
        let text = exchange
            .sent
            .split("Steelyard-Payload: v1 0000000000000001 ");
        let words: Vec<String> = text.last().unwrap().split(' ').map(str::to_owned).collect();
        (words[0].parse().unwrap(), words[1].parse().unwrap())
    };
    let mut all: Vec<(u64, u64)> = Vec::new();
    for reply in ["250 stored\r\n", "552 too large\r\n", "250 stored\r\n"] {
        exchange.message(&GOOD[..3]);
        all.push(sequence(&exchange));
        exchange.receive(reply);
    }
    assert_eq!(all, [(0, 0), (0, 1), (0, 1)]);
    let mut exchange = Exchange::of(exchange.smtp.for_worker(3, 1));
    exchange.session = exchange.smtp.open(5);
    exchange.session.state = State::Open;
    exchange.message(&GOOD[..3]);
    assert_eq!(sequence(&exchange), (3 << 20 | 5, 0));
    exchange.session = exchange.smtp.open(5);
    exchange.session.state = State::Open;
    exchange.message(&GOOD[..3]);
    assert_eq!(sequence(&exchange), (3 << 20 | 5, 1));
}

#[test]
fn an_address_that_would_smuggle_a_command_is_refused() {
    for sender in ["a@b>\r\nRSET", "a b@c", "<a@b>"] {
        let operation = SmtpOperation {
            sender: sender.to_owned(),
            ..SmtpOperation::default()
        };
        assert!(Smtp::new(&operation, Dialect::Smtp, 1, 1).is_err());
    }
}
