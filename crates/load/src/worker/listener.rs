//! Operations reported one by one, each with its phases, as they end: what a probe shows.

use std::sync::mpsc::Sender;

use crate::fault::ErrorKind;
use crate::measurement::operation::Operation;

/// An operation that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Counts the operations that were sent, from 1.
    pub sequence: u64,
    /// Its kind, where kinds are distinguished.
    pub kind: Option<String>,
    /// When it was due, on the monotonic clock.
    pub intended_ns: u64,
    /// When it was sent.
    pub sent_ns: u64,
    /// When it was over.
    pub done_ns: u64,
    /// What succeeded, in the order of the ends; what follows `done_ns` belongs to no operation.
    pub phases: Vec<(&'static str, u64)>,
    /// Where and why it failed.
    pub failure: Option<(&'static str, ErrorKind)>,
}

/// One worker's record of its operations for a probe; connections carry one at a time.
#[derive(Debug)]
pub struct Listener {
    sender: Sender<Ended>,
    names: &'static [&'static str],
    kinds: Vec<String>,
    /// One for each place of a connection.
    under_way: Vec<Option<Ended>>,
    begun: u64,
}

impl Listener {
    /// For a worker with so many `places`, whose protocol has these phases and kinds.
    pub fn new(
        sender: Sender<Ended>,
        names: &'static [&'static str],
        kinds: Vec<String>,
        places: usize,
    ) -> Self {
        Self {
            sender,
            names,
            kinds,
            under_way: vec![None; places],
            begun: 0,
        }
    }

    /// An operation is being sent on the connection of `place`.
    pub fn began(&mut self, place: usize, operation: &Operation) {
        self.closed(place);
        self.begun += 1;
        self.under_way[place] = Some(Ended {
            sequence: self.begun,
            kind: None,
            intended_ns: operation.intended_ns,
            sent_ns: operation.sent_ns,
            done_ns: 0,
            phases: Vec::new(),
            failure: None,
        });
    }

    /// A phase has succeeded, in an operation or behind it.
    pub fn phase(&mut self, place: usize, phase: usize, took_ns: u64) {
        if let Some(ended) = &mut self.under_way[place] {
            ended.phases.push((self.names[phase], took_ns));
        }
    }

    /// The operation of `place`, one of `kind`, is over, or has failed in a phase; it is reported when
    /// its connection has said all.
    pub fn ended(
        &mut self,
        place: usize,
        kind: usize,
        done_ns: u64,
        failure: Option<(usize, ErrorKind)>,
    ) {
        if let Some(ended) = &mut self.under_way[place] {
            ended.kind = self.kinds.get(kind).cloned();
            ended.done_ns = done_ns;
            ended.failure = failure.map(|(phase, why)| (self.names[phase], why));
        }
    }

    /// The connection of `place` has said all about its operation, if that is over.
    pub fn closed(&mut self, place: usize) {
        if let Some(ended) = self.under_way[place].take_if(|ended| ended.done_ns > 0) {
            // No one listens any more: the run goes on, its result is still wanted.
            let _ = self.sender.send(ended);
        }
    }

    /// Every connection has; what is not over by now never will be.
    pub fn close_all(&mut self) {
        (0..self.under_way.len()).for_each(|place| self.closed(place));
    }

    /// Whether every operation that is over has been reported.
    pub fn has_reported_all(&self) -> bool {
        self.under_way
            .iter()
            .flatten()
            .all(|ended| ended.done_ns == 0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::measurement::operation::Part;

    const OPERATION: Operation = Operation {
        intended_ns: 5,
        sent_ns: 7,
        phase_start_ns: 7,
        part: Part::Window,
    };

    #[test]
    fn what_follows_an_operation_is_reported_with_it() {
        let (sender, receiver) = channel();
        let mut listener = Listener::new(sender, &["connect", "quit"], Vec::new(), 2);
        listener.began(1, &OPERATION);
        listener.phase(1, 0, 3);
        listener.ended(1, 0, 10, None);
        assert!(receiver.try_recv().is_err() && !listener.has_reported_all());
        listener.phase(1, 1, 4);
        listener.closed(1);
        let ended = receiver.try_recv().unwrap();
        assert_eq!(ended.phases, [("connect", 3), ("quit", 4)]);
        assert_eq!((ended.sequence, ended.done_ns), (1, 10));
        assert!(listener.has_reported_all());
    }

    #[test]
    fn an_operation_that_never_ended_is_not_reported() {
        let (sender, receiver) = channel();
        let mut listener = Listener::new(sender, &["connect"], vec!["a".to_owned()], 2);
        listener.began(0, &OPERATION);
        listener.began(1, &OPERATION);
        listener.ended(1, 0, 9, Some((0, ErrorKind::ConnRefused)));
        listener.close_all();
        let ended = receiver.try_recv().unwrap();
        assert_eq!(ended.sequence, 2);
        assert_eq!(ended.kind.as_deref(), Some("a"));
        assert_eq!(ended.failure, Some(("connect", ErrorKind::ConnRefused)));
        assert!(receiver.try_recv().is_err());
    }
}
