//! What reaches an event loop from other threads: connections, store results, the stop.

use crate::event_loop::Worker;
use crate::protocols::Protocol;
use crate::store::inbox::LoopEvent;
use crate::store::{Message, Outcome};

impl<P: Protocol> Worker<P> {
    pub(super) fn read_inbox(&mut self, events: &mut Vec<LoopEvent>) {
        self.loops.inbox(self.index).collect(events);
        for event in events.drain(..) {
            match event {
                LoopEvent::Connection(_) if self.stopping => self.loops.left(self.index),
                LoopEvent::Connection(fd) => self.open(fd),
                LoopEvent::Woken(token) => {
                    if let Some(connection) = self.connections.get_mut(token) {
                        let next = connection.wake(&mut self.cx);
                        self.carry_out(token, next);
                    }
                }
                LoopEvent::Stored(token, message, outcome) => self.stored(token, message, outcome),
            }
        }
    }

    fn stored(&mut self, token: u64, message: Box<Message>, outcome: Outcome) {
        self.storing -= 1;
        if let Some(connection) = self.connections.get_mut(token) {
            let next = connection.stored(message, outcome, &mut self.cx);
            if self.stopping {
                connection.farewell(&mut self.cx);
                self.close(token);
            } else {
                self.carry_out(token, next);
            }
        }
    }

    /// Says goodbye to everyone but those whose message is in the store right now.
    pub(super) fn stop(&mut self) {
        if std::mem::replace(&mut self.stopping, true) {
            return;
        }
        self.acceptor = None;
        if let Some(pool) = &self.pool {
            pool.cancel_waiting();
        }
        for token in self.connections.tokens() {
            if let Some(connection) = self.connections.get_mut(token)
                && !connection.is_storing()
            {
                connection.farewell(&mut self.cx);
                self.close(token);
            }
        }
    }
}
