//! What one worker records, and who is notified of each operation.

use crate::fault::ErrorKind;
use crate::measurement::operation::{Operation, Part};
use crate::measurement::recorder::Recorder;
use crate::protocols::mailboxes::MailFigures;
use crate::tls::TlsTally;
use crate::worker::listener::Listener;

/// Records of one worker.
pub(super) struct Records {
    pub recorder: Recorder,
    /// Receives every operation that ends.
    listener: Option<Box<Listener>>,
    /// What its connections agreed on.
    pub tls: TlsTally,
    /// Messages moved by good operations of the window.
    pub moved: MailFigures,
}

impl Records {
    pub fn new(recorder: Recorder, listener: Option<Box<Listener>>) -> Self {
        Self {
            recorder,
            listener,
            tls: TlsTally::default(),
            moved: MailFigures::default(),
        }
    }

    /// The part of the run that an instant belongs to.
    pub fn part(&self, at_ns: u64) -> Part {
        self.recorder.window.part(at_ns)
    }

    /// An arrival that is never sent.
    pub fn unsent(&mut self, intended_ns: u64) {
        self.recorder.unsent(self.part(intended_ns));
    }

    /// The one operation of `place` is being sent.
    pub fn sent(&mut self, place: usize, operation: &Operation, possible_ns: u64) {
        self.recorder.sent(operation, possible_ns);
        if let Some(listener) = &mut self.listener {
            listener.began(place, operation);
        }
    }

    /// A phase succeeded at `at_ns`, of an operation of `part`, or of none.
    pub fn phase(
        &mut self,
        place: usize,
        part: Option<Part>,
        phase: usize,
        (at_ns, took_ns): (u64, u64),
    ) {
        let within = part.is_some();
        let part = part.unwrap_or_else(|| self.part(at_ns));
        self.recorder.phase(part, within, phase, took_ns);
        if let Some(listener) = &mut self.listener {
            listener.phase(place, phase, took_ns);
        }
    }

    /// An operation of `kind` has succeeded.
    pub fn ok(&mut self, place: usize, operation: &Operation, kind: usize, now_ns: u64) {
        if let Some(listener) = &mut self.listener {
            listener.ended(place, kind, now_ns, None);
        }
        self.recorder.ok(operation, kind, now_ns);
    }

    /// An operation of `kind` has failed; `refusal` is the code of the reply that refused it.
    pub fn failed(
        &mut self,
        place: usize,
        operation: &Operation,
        (kind, refusal): (usize, Option<u16>),
        (phase, error): (usize, ErrorKind),
        now_ns: u64,
    ) {
        self.recorder.failed(operation, kind, now_ns, phase, error);
        if let Some(code) = refusal.filter(|_| error.is_refusal()) {
            self.recorder.refused(operation, code);
        }
        if let Some(listener) = &mut self.listener {
            listener.ended(place, kind, now_ns, Some((phase, error)));
        }
    }

    /// The connection of `place` has said all about its operation.
    pub fn closed(&mut self, place: usize) {
        if let Some(listener) = &mut self.listener {
            listener.closed(place);
        }
    }

    /// Every connection has.
    pub fn close_all(&mut self) {
        if let Some(listener) = &mut self.listener {
            listener.close_all();
        }
    }

    /// Whether every operation that is over has been reported.
    pub fn has_reported_all(&self) -> bool {
        (self.listener.as_ref()).is_none_or(|listener| listener.has_reported_all())
    }
}
