//! What a message says before its content, and the numbers it is known by.

use steelyard_wire::job::Pipelining;

use super::Smtp;
use super::session::{Awaiting, Session, Transaction};
use crate::protocols::{Output, Protocol};

/// Separates the place from the worker in a sender's number.
const WORKER_SHIFT: u32 = 20;

impl Smtp {
    pub(super) fn write_envelope(
        &mut self,
        session: &mut Session,
        message: &mut Transaction,
        out: &mut Output,
    ) {
        message.sent = true;
        // A chunk that will have failed leaves a transaction behind; no one knows yet.
        let behind_a_chunk = self.operation.chunking && session.current.is_some();
        if self.grouped() && (std::mem::take(&mut session.reset_first) || behind_a_chunk) {
            message.awaiting = Awaiting::Reset;
            out.head.extend_from_slice(b"RSET\r\n");
            session.asks(1);
        }
        self.messages.write_mail(message.draw, &mut out.head);
        session.asks(1);
        if !self.grouped() {
            return;
        }
        let each = self.messages.recipients_each();
        for number in 0..each {
            self.messages
                .write_rcpt(message.draw, number, &mut out.head);
        }
        session.asks(each as u16 + 1);
        if self.operation.chunking {
            self.write_chunk(session, message, out);
        } else {
            out.head.extend_from_slice(b"DATA\r\n");
        }
    }

    /// BDAT with the whole message behind it.
    pub(super) fn write_chunk(
        &mut self,
        session: &mut Session,
        message: &mut Transaction,
        out: &mut Output,
    ) {
        let (sender, sequence) = self.number(session, message);
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        self.messages
            .write_head(message.draw, sender, sequence, &mut scratch);
        let body = self.messages.body(message.draw).range.clone();
        out.head.extend_from_slice(b"BDAT ");
        crate::payload::write_decimal((scratch.len() + body.len()) as u64, &mut out.head);
        out.head.extend_from_slice(b" LAST\r\n");
        out.head.extend_from_slice(&scratch);
        self.scratch = scratch;
        out.tail = body;
        if self.slots() > 1 {
            self.join(out);
        }
        if self.operation.pipelining == Pipelining::Message && self.at_limit(session) {
            self.join(out);
            self.write_quit(session, out);
        }
    }

    /// Numbers of the sender and of the message; what follows it is the next.
    pub(super) fn number(&mut self, session: &Session, message: &mut Transaction) -> (u64, u64) {
        message.numbered = true;
        let next = self.sequence(session.place);
        let sequence = *next;
        *next += 1;
        let sender = u64::from(self.worker) << WORKER_SHIFT | u64::from(session.place);
        (sender, sequence)
    }

    /// A message that was refused has not been sent: its number goes to the next, unless that
    /// has one already.
    pub(super) fn release_number(&mut self, session: &Session, message: &Transaction) {
        let last = !session.next.is_some_and(|next| next.numbered);
        if message.numbered && last {
            *self.sequence(session.place) -= 1;
        }
    }
}
