//! Messages on their way: envelope, content, and the replies to both.

use rand_chacha::rand_core::RngCore;
use steelyard_wire::job::Pipelining;

use super::session::{
    Awaiting, BDAT, DATA, EOM, GROUP_BDAT, GROUP_DATA, MAIL, RCPT, Session, State, Transaction,
};
use super::{Dialect, Smtp, refusal};
use crate::fault::ErrorKind;
use crate::protocols::{After, Output, Protocol, Step, Turn};

impl Smtp {
    /// Begins a message: its envelope leaves at once unless the content before it must come first.
    pub(super) fn begin(&mut self, session: &mut Session, slot: usize, out: &mut Output) {
        let mut message = Transaction::new(self.random.next_u64(), slot);
        session.begun += 1;
        let may_follow = match session.current {
            None => true,
            Some(current) => self.operation.chunking || current.awaiting == Awaiting::Eom,
        };
        if may_follow && !session.quit_sent {
            self.write_envelope(session, &mut message, out);
        }
        if session.current.is_none() {
            session.current = Some(message);
        } else {
            session.next = Some(message);
        }
    }

    /// What follows from a reply to the current message.
    pub(super) fn transact(
        &mut self,
        session: &mut Session,
        code: u16,
        turn: &mut Turn<'_>,
    ) -> Step {
        let Some(mut message) = session.current else {
            return Step::Broken(ErrorKind::BadProtocol);
        };
        turn.slot = usize::from(message.slot);
        match message.awaiting {
            Awaiting::Reset => match code / 100 {
                2 => {
                    message.awaiting = Awaiting::Mail;
                    wait(session, message)
                }
                _ => Step::Broken(refusal(code).unwrap_or(ErrorKind::BadProtocol)),
            },
            Awaiting::Mail => self.mail_answered(session, message, code, turn),
            Awaiting::Rcpt => self.rcpt_answered(session, message, code, turn),
            Awaiting::Data => self.data_answered(session, message, code, turn),
            Awaiting::Bdat | Awaiting::Eom => self.content_answered(session, message, code, turn),
        }
    }

    fn mail_answered(
        &mut self,
        session: &mut Session,
        mut message: Transaction,
        code: u16,
        turn: &mut Turn<'_>,
    ) -> Step {
        match refusal(code) {
            None if code / 100 != 2 => return Step::Broken(ErrorKind::BadProtocol),
            None => {}
            Some(kind) if self.grouped() => message.fails(self.group_phase(), kind),
            Some(kind) => return self.give_up(session, message, kind, turn),
        }
        message.awaiting = Awaiting::Rcpt;
        if !self.grouped() {
            turn.mark(MAIL);
            self.messages
                .write_rcpt(message.draw, 0, &mut turn.out.head);
            session.asks(1);
        }
        wait(session, message)
    }

    fn rcpt_answered(
        &mut self,
        session: &mut Session,
        mut message: Transaction,
        code: u16,
        turn: &mut Turn<'_>,
    ) -> Step {
        let phase = if self.grouped() {
            self.group_phase()
        } else {
            RCPT
        };
        match refusal(code) {
            None if code / 100 != 2 => return Step::Broken(ErrorKind::BadProtocol),
            None => message.accepted += 1,
            Some(kind) => message.fails(phase, kind),
        }
        message.answered += 1;
        let last = usize::from(message.answered) == self.messages.recipients_each();
        if self.grouped() {
            if last {
                self.group_ends(session, &mut message);
            }
            return wait(session, message);
        }
        if refusal(code).is_none() {
            turn.mark(RCPT);
        }
        if !last {
            let number = usize::from(message.answered);
            self.messages
                .write_rcpt(message.draw, number, &mut turn.out.head);
            session.asks(1);
            return wait(session, message);
        }
        match message.failure {
            Some((_, kind)) if message.accepted == 0 => self.give_up(session, message, kind, turn),
            _ => self.ask_for_content(session, message, turn),
        }
    }

    /// All recipients of a group are answered; the reply to its last command is next.
    fn group_ends(&self, session: &mut Session, message: &mut Transaction) {
        if !self.operation.chunking {
            message.awaiting = Awaiting::Data;
            return;
        }
        message.awaiting = Awaiting::Bdat;
        // One of them was counted when the command was written.
        if self.dialect == Dialect::Lmtp {
            session.owed += message.accepted.saturating_sub(1);
        }
    }

    fn ask_for_content(
        &mut self,
        session: &mut Session,
        mut message: Transaction,
        turn: &mut Turn<'_>,
    ) -> Step {
        if self.operation.chunking {
            message.awaiting = Awaiting::Bdat;
            let replies = self.content_replies(&message);
            self.write_chunk(session, &mut message, turn.out);
            session.asks(replies);
        } else {
            message.awaiting = Awaiting::Data;
            turn.out.head.extend_from_slice(b"DATA\r\n");
            session.asks(1);
        }
        wait(session, message)
    }

    fn data_answered(
        &mut self,
        session: &mut Session,
        mut message: Transaction,
        code: u16,
        turn: &mut Turn<'_>,
    ) -> Step {
        let phase = if self.grouped() { GROUP_DATA } else { DATA };
        match (refusal(code), code / 100) {
            (Some(kind), _) => self.give_up(session, message, kind, turn),
            (None, 3) => {
                if message.failure.is_none() {
                    turn.mark(phase);
                }
                message.awaiting = Awaiting::Eom;
                if message.accepted > 0 {
                    self.send_content(session, message, turn)
                } else {
                    self.send_nothing(session, message, turn)
                }
            }
            _ => Step::Broken(ErrorKind::BadProtocol),
        }
    }

    fn send_content(
        &mut self,
        session: &mut Session,
        mut message: Transaction,
        turn: &mut Turn<'_>,
    ) -> Step {
        let (sender, sequence) = self.number(session, &mut message);
        self.messages
            .write_head(message.draw, sender, sequence, &mut turn.out.head);
        let body = self.messages.body(message.draw).range.clone();
        turn.out.tail = body;
        let replies = self.content_replies(&message);
        session.asks(replies);
        self.follow_up(session, turn.out);
        wait(session, message)
    }

    /// The server asks for content that no one is to get (RFC 2920, 3.1): a lone dot ends it.
    fn send_nothing(
        &mut self,
        session: &mut Session,
        message: Transaction,
        turn: &mut Turn<'_>,
    ) -> Step {
        if self.dialect == Dialect::Lmtp {
            // It would have no recipient to reply for.
            let kind = message
                .failure
                .map_or(ErrorKind::BadProtocol, |(_, kind)| kind);
            return Step::Done(Err(kind), After::Close);
        }
        turn.out.head.extend_from_slice(b".\r\n");
        session.asks(1);
        self.follow_up(session, turn.out);
        wait(session, message)
    }

    /// What may leave in the same write as the content: the envelope that waits, or QUIT.
    fn follow_up(&mut self, session: &mut Session, out: &mut Output) {
        if self.operation.pipelining != Pipelining::Message {
            return;
        }
        if self.slots() > 1 {
            self.join(out);
        }
        if let Some(mut next) = session.next {
            self.write_envelope(session, &mut next, out);
            session.next = Some(next);
        } else if self.at_limit(session) {
            self.join(out);
            self.write_quit(session, out);
        }
    }

    /// Puts the shared bytes into the head, so that more can follow them.
    pub(super) fn join(&self, out: &mut Output) {
        let tail = std::mem::take(&mut out.tail);
        out.head.extend_from_slice(&self.messages.shared()[tail]);
    }

    pub(super) fn write_quit(&self, session: &mut Session, out: &mut Output) {
        debug_assert!(self.at_limit(session));
        session.quit_sent = true;
        out.head.extend_from_slice(b"QUIT\r\n");
        session.asks(1);
    }

    fn content_answered(
        &mut self,
        session: &mut Session,
        mut message: Transaction,
        code: u16,
        turn: &mut Turn<'_>,
    ) -> Step {
        let phase = self.content_phase(message.awaiting);
        match refusal(code) {
            None if code / 100 != 2 => return Step::Broken(ErrorKind::BadProtocol),
            None => message.delivered += 1,
            Some(kind) => message.fails(phase, kind),
        }
        message.refused_content += u16::from(refusal(code).is_some());
        let replies = self.content_replies(&message);
        if message.delivered + message.refused_content < replies {
            return wait(session, message);
        }
        if message.delivered == 0 {
            self.release_number(session, &message);
            session.reset_first |= message.awaiting == Awaiting::Bdat;
        }
        let outcome = message.failure.map_or(Ok(()), |(_, kind)| Err(kind));
        if outcome.is_ok() {
            turn.mark(phase);
        }
        self.over(session, message, outcome, turn)
    }

    /// The message has failed before its content was sent.
    fn give_up(
        &mut self,
        session: &mut Session,
        message: Transaction,
        kind: ErrorKind,
        turn: &mut Turn<'_>,
    ) -> Step {
        session.reset_first = true;
        let kind = message.failure.map_or(kind, |(_, first)| first);
        self.over(session, message, Err(kind), turn)
    }

    fn over(
        &mut self,
        session: &mut Session,
        message: Transaction,
        outcome: Result<(), ErrorKind>,
        turn: &mut Turn<'_>,
    ) -> Step {
        turn.slot = usize::from(message.slot);
        session.current = session.next.take();
        if let Some(mut next) = session.current {
            if !next.sent {
                self.write_envelope(session, &mut next, turn.out);
                session.current = Some(next);
            }
            return Step::Done(outcome, After::Ready);
        }
        if self.at_limit(session) {
            session.state = State::Quit;
            if !session.quit_sent {
                turn.out.head.extend_from_slice(b"QUIT\r\n");
                session.asks(1);
            }
            return Step::Done(outcome, After::Busy);
        }
        if session.reset_first && !self.grouped() {
            session.reset_first = false;
            session.state = State::Rset;
            turn.out.head.extend_from_slice(b"RSET\r\n");
            session.asks(1);
            return Step::Done(outcome, After::Busy);
        }
        Step::Done(outcome, After::Ready)
    }

    /// Replies to the content: one, in LMTP one for each recipient that was accepted.
    fn content_replies(&self, message: &Transaction) -> u16 {
        match self.dialect {
            Dialect::Lmtp => message.accepted.max(1),
            Dialect::Smtp | Dialect::Smtps => 1,
        }
    }

    /// The phase of a whole group; no one can tell its commands apart.
    pub(super) fn group_phase(&self) -> usize {
        if self.operation.chunking {
            GROUP_BDAT
        } else {
            GROUP_DATA
        }
    }

    fn content_phase(&self, awaiting: Awaiting) -> usize {
        match (awaiting, self.grouped()) {
            (Awaiting::Bdat, true) => GROUP_BDAT,
            (Awaiting::Bdat, false) => BDAT,
            _ => EOM,
        }
    }
}

impl Transaction {
    /// The first failure of a message is the one that counts.
    fn fails(&mut self, phase: usize, kind: ErrorKind) {
        self.failure.get_or_insert((phase as u8, kind));
    }
}

fn wait(session: &mut Session, message: Transaction) -> Step {
    session.current = Some(message);
    Step::More
}
