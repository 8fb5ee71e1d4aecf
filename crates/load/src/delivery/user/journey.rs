//! What a user does: both connections, a message submitted, and seen to come.

use steelyard_net::clock::monotonic_ns;

use super::User;
use crate::delivery::line::{Line, Patience, Route};
use crate::delivery::watch::{Arrival, Watch};
use crate::delivery::{DELIVERED, SUBMIT};
use crate::fault::ErrorKind;
use crate::measurement::operation::{Operation, Part};
use crate::payload::{MAIL_FIELD, Marker};
use crate::protocols::{After, Step};

/// How an operation has ended.
pub(super) struct Ending {
    pub(super) at_ns: u64,
    pub(super) outcome: Result<(), (usize, ErrorKind)>,
}

impl<'a> User<'a> {
    pub(super) fn make_ready(&mut self, patience: Patience<'a>) -> Result<(), ErrorKind> {
        if self.watch.is_none() {
            self.watch = Some(self.machines.watch(patience, &mut self.tally)?);
        }
        if self.submission.is_none() {
            let smtp = self.machines.smtp.take().ok_or(ErrorKind::System)?;
            let route: &Route = &self.machines.submission;
            match Line::open(smtp, 0, route, patience, &mut self.tally) {
                Err((smtp, kind)) => {
                    self.machines.smtp = Some(smtp);
                    return Err(kind);
                }
                Ok(mut line) => {
                    if let Err(kind) = line.until_ready(patience, &mut self.tally) {
                        self.machines.smtp = Some(line.protocol);
                        return Err(kind);
                    }
                    self.recorder.counts.connects +=
                        u64::from(self.recorder.window.part(monotonic_ns()) == Part::Window);
                    self.submission = Some(line);
                }
            }
        }
        Ok(())
    }

    pub(super) fn deliver(&mut self, operation: &Operation, patience: Patience<'a>) -> Ending {
        let (marker, replied_ns) = match self.submit(patience) {
            Ok(submitted) => submitted,
            Err(kind) => return failed(SUBMIT, kind),
        };
        let submit_ns = replied_ns.saturating_sub(operation.sent_ns);
        self.recorder.phase(operation.part, true, SUBMIT, submit_ns);
        let Some(watch) = &mut self.watch else {
            return failed(DELIVERED, ErrorKind::System);
        };
        let waited = watch.wait_for(&marker, &mut self.payloads, patience, &mut self.tally);
        match waited {
            Ok(Arrival {
                seen_ns,
                whole: false,
            }) => Ending {
                at_ns: seen_ns,
                outcome: Err((DELIVERED, ErrorKind::ChecksumMismatch)),
            },
            Ok(Arrival { seen_ns, .. }) => {
                let delivered_ns = seen_ns.saturating_sub(replied_ns);
                self.recorder
                    .phase(operation.part, true, DELIVERED, delivered_ns);
                if operation.part == Part::Window {
                    self.figures.add_delivered(seen_ns < replied_ns);
                }
                Ending {
                    at_ns: seen_ns,
                    outcome: Ok(()),
                }
            }
            Err(kind) => {
                // What it may still announce is not for the next message.
                self.drop_watch();
                failed(DELIVERED, kind)
            }
        }
    }

    /// Submits a message; its marker, and when the reply to its content came.
    fn submit(&mut self, patience: Patience<'a>) -> Result<(Marker, u64), ErrorKind> {
        let submitted = self.talk(patience);
        if let Err(kind) | Ok((_, _, _, Some(kind))) = &submitted {
            let kind = *kind;
            let keeps = matches!(submitted, Ok((_, _, true, _)));
            if !keeps {
                self.drop_submission();
            }
            return Err(kind);
        }
        let (marker, replied_ns, keeps, _) = submitted?;
        if !keeps {
            self.drop_submission();
        }
        Ok((marker.ok_or(ErrorKind::BadProtocol)?, replied_ns))
    }

    /// Marker, instant of the end, whether the connection is kept, and why it failed if it did.
    #[allow(clippy::type_complexity, reason = "distinguished by the only caller")]
    fn talk(
        &mut self,
        patience: Patience<'a>,
    ) -> Result<(Option<Marker>, u64, bool, Option<ErrorKind>), ErrorKind> {
        let (Some(line), Some(watch)) = (&mut self.submission, &mut self.watch) else {
            return Err(ErrorKind::System);
        };
        line.start(patience)?;
        let mut marker = marker_in(&line.said);
        loop {
            let mut sockets = vec![line.socket()];
            sockets.extend(watch.socket());
            patience.wait(&sockets, false)?;
            let now_ns = monotonic_ns();
            if watch.glance(patience, &mut self.tally).is_err() {
                return Err(ErrorKind::PeerClosedEarly);
            }
            let reading = line.receive(patience, &mut self.tally)?;
            marker = marker_in(&line.said).or(marker);
            match reading.step {
                Step::More | Step::Pause(_) => {}
                Step::Done(outcome, after) => {
                    let keeps = match after {
                        After::Ready => true,
                        After::Busy => line.until_ready(patience, &mut self.tally).is_ok(),
                        After::Close => false,
                    };
                    return Ok((marker, now_ns, keeps, outcome.err()));
                }
                Step::Broken(kind) => return Err(kind),
                _ => return Err(ErrorKind::PeerClosedEarly),
            }
        }
    }

    fn drop_submission(&mut self) {
        if let Some(line) = self.submission.take() {
            self.machines.smtp = Some(line.protocol);
        }
    }

    fn drop_watch(&mut self) {
        // POP3 opens a connection for each look anyway.
        if let Some(Watch::Imap(_)) = &self.watch {
            self.watch = None;
        }
    }
}

fn failed(phase: usize, kind: ErrorKind) -> Ending {
    Ending {
        at_ns: monotonic_ns(),
        outcome: Err((phase, kind)),
    }
}

/// The marker in what was said, if it was the content of a message.
fn marker_in(said: &[u8]) -> Option<Marker> {
    let at = memchr::memmem::find(said, MAIL_FIELD.as_bytes())? + MAIL_FIELD.len() + 1;
    let line = said[at..].split(|byte| *byte == b'\n').next()?;
    Marker::parse(line)
}
