//! Events from other threads for an event loop, which sleeps until one comes.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Result;

use crate::store::{Message, Outcome};

/// What other threads send to an event loop.
#[derive(Debug)]
pub(crate) enum LoopEvent {
    /// A new connection.
    Connection(OwnedFd),
    /// The message of this connection was stored, or not.
    Stored(u64, Box<Message>, Outcome),
    /// Another connection has changed what this one waits for.
    Woken(u64),
}

/// A queue with an event descriptor; the descriptor is written once for each batch.
#[derive(Debug)]
pub(crate) struct Inbox {
    queue: Mutex<Vec<LoopEvent>>,
    descriptor: OwnedFd,
}

impl Inbox {
    pub fn new() -> Result<Self> {
        Ok(Self {
            queue: Mutex::new(Vec::new()),
            descriptor: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        })
    }

    /// Adds an event and wakes the loop, unless it is woken already.
    pub fn send(&self, event: LoopEvent) {
        let mut queue = self.lock();
        queue.push(event);
        if queue.len() == 1 {
            // Registered edge-triggered: every write wakes. The counter is never read and cannot
            // fill in the life of a machine (2^64 - 1 writes).
            let _ = rustix::io::write(&self.descriptor, &1_u64.to_ne_bytes());
        }
    }

    /// Moves all events to the end of `into`.
    pub fn collect(&self, into: &mut Vec<LoopEvent>) {
        into.append(&mut self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<LoopEvent>> {
        // A poisoned queue is still a whole queue: nothing can fail between its statements.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Becomes readable with the first event after an [`Inbox::collect`].
impl AsFd for Inbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_arrive_in_the_order_in_which_they_were_sent() {
        let inbox = Inbox::new().unwrap();
        (0..5).for_each(|token| inbox.send(LoopEvent::Woken(token)));
        let mut events = Vec::new();
        inbox.collect(&mut events);
        let tokens: Vec<u64> = events
            .iter()
            .filter_map(|event| match event {
                LoopEvent::Woken(token) => Some(*token),
                _ => None,
            })
            .collect();
        assert_eq!(tokens, [0, 1, 2, 3, 4]);
    }
}
