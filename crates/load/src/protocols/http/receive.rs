//! Reading a reply: its heads, its body, and how the operation has ended.

use super::body::Body;
use super::head::{self, Head, LONGEST_HEAD};
use super::{BODY, FailedReply, Http, Learned, Session, State, TTFB};
use crate::fault::{ErrorKind, Replies};
use crate::payload::PayloadCheck;
use crate::protocols::{After, Step, Turn};

impl Http {
    /// The head that `bytes` begin with, by memory or by parser.
    fn head(&mut self, bytes: &[u8]) -> Result<Option<Head>, ErrorKind> {
        if let Some(learned) = &self.learned
            && bytes.starts_with(&learned.bytes)
        {
            return Ok(Some(learned.head));
        }
        let parsed = head::parse(bytes, self.bodiless)?;
        if let Some(head) = parsed
            && !self.strict
            && !head.interim
        {
            self.learned = Some(Learned {
                bytes: bytes[..head.length].to_vec(),
                head,
            });
        }
        Ok(parsed)
    }

    /// Reads heads until one is final; returns the bytes of `input` that are left for the body.
    pub(super) fn take_heads<'a>(
        &mut self,
        session: &mut Session,
        mut input: &'a [u8],
    ) -> Result<Option<&'a [u8]>, ErrorKind> {
        loop {
            let Some((head, used)) = self.take_head(session, input)? else {
                return Ok(None);
            };
            input = &input[used..];
            if !head.interim {
                session.error = head.error;
                session.closes = head.closes;
                session.state = State::InBody(Body::new(head.framing));
                return Ok(Some(input));
            }
        }
    }

    /// One head and how many bytes of `input` it used; keeps what is incomplete.
    fn take_head(
        &mut self,
        session: &mut Session,
        input: &[u8],
    ) -> Result<Option<(Head, usize)>, ErrorKind> {
        if session.spill.is_empty() {
            if let Some(head) = self.head(input)? {
                self.note(session, head, &input[..head.length]);
                return Ok(Some((head, head.length)));
            }
            session.spill.extend_from_slice(input);
            return Ok(None);
        }
        let before = session.spill.len();
        let room = LONGEST_HEAD.saturating_sub(before).min(input.len());
        session.spill.extend_from_slice(&input[..room]);
        let Some(head) = self.head(&session.spill)? else {
            return Ok(None);
        };
        let mut spill = std::mem::take(&mut session.spill);
        self.note(session, head, &spill[..head.length]);
        spill.clear();
        session.spill = spill;
        Ok(Some((head, head.length - before)))
    }

    /// What is kept of a head: its status line if it fails the operation, and the marker of the
    /// body after it if the job asks to check that.
    fn note(&self, session: &mut Session, head: Head, bytes: &[u8]) {
        session.failed_reply = None;
        if head.error.is_some() {
            let line = bytes.split(|byte| *byte == b'\r').next().unwrap_or(bytes);
            let bytes = [line, b"\r\n\r\n"].concat();
            session.failed_reply = Some(Box::new(FailedReply { bytes }));
        }
        if self.verifier.is_some()
            && let Some(more) = &mut session.more
        {
            more.check = PayloadCheck::body(head::marker(bytes));
        }
    }

    pub(super) fn take_body(
        &mut self,
        session: &mut Session,
        bytes: &[u8],
        turn: &mut Turn<'_>,
    ) -> Step {
        let State::InBody(body) = &mut session.state else {
            return Step::Broken(ErrorKind::BadProtocol);
        };
        if session.error.is_some() {
            let kept = &mut session.failed_reply.get_or_insert_default().bytes;
            let room = Replies::LONGEST.saturating_sub(kept.len());
            kept.extend_from_slice(&bytes[..room.min(bytes.len())]);
        }
        let taken = match &mut session.more {
            Some(more) if self.verifier.is_some() => {
                body.take_each(bytes, |part| more.check.feed(part))
            }
            _ => body.take(bytes),
        };
        match taken {
            Ok(None) => Step::More,
            Ok(Some(taken)) if taken == bytes.len() => self.complete(session, turn),
            Ok(Some(taken)) if session.awaits_another() => {
                turn.left = bytes.len() - taken;
                self.complete(session, turn)
            }
            Ok(Some(_)) | Err(_) => Step::Broken(ErrorKind::BadProtocol),
        }
    }

    pub(super) fn complete(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        let mut outcome = match session.error {
            Some(kind) => Err(kind),
            None => Ok(()),
        };
        let mut last = true;
        if let Some(more) = &mut session.more {
            if self.slots > 1 {
                session.asked = more.pipeline.next();
                turn.slot = more.pipeline.pop();
                last = more.pipeline.is_empty();
            }
            if let (Ok(()), Some(verifier)) = (outcome, &mut self.verifier) {
                outcome = verifier.judge(more.place, session.asked.sequence, &more.check);
            }
        }
        if outcome.is_ok() {
            turn.mark_at(TTFB, session.first_byte_ns);
            turn.mark(BODY);
        }
        if session.closes {
            session.state = State::Closing;
            return Step::Done(outcome, After::Busy);
        }
        session.state = if last { State::Idle } else { State::Awaiting };
        let after = if self.keep_alive {
            After::Ready
        } else {
            After::Close
        };
        Step::Done(outcome, after)
    }
}
