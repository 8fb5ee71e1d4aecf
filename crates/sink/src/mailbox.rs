//! Letters from other threads to an event loop, which sleeps until one comes.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Result;

/// A queue with an event descriptor; the descriptor is written once for each batch.
#[derive(Debug)]
pub(crate) struct Mailbox<T> {
    letters: Mutex<Vec<T>>,
    event: OwnedFd,
}

impl<T> Mailbox<T> {
    pub fn new() -> Result<Self> {
        Ok(Self {
            letters: Mutex::new(Vec::new()),
            event: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        })
    }

    /// Leaves a letter and wakes the loop, unless it is woken already.
    pub fn post(&self, letter: T) {
        let mut letters = self.lock();
        letters.push(letter);
        if letters.len() == 1 {
            // Registered edge-triggered: every write wakes. The counter is never read and cannot
            // fill in the life of a machine (2^64 - 1 writes).
            let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
        }
    }

    /// Moves all letters to the end of `into`.
    pub fn collect(&self, into: &mut Vec<T>) {
        into.append(&mut self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        // A poisoned queue is still a whole queue: nothing can fail between its statements.
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Becomes readable with the first letter after a [`Mailbox::collect`].
impl<T> AsFd for Mailbox<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_arrive_in_the_order_they_were_posted() {
        let mailbox = Mailbox::new().unwrap();
        (0..5).for_each(|letter| mailbox.post(letter));
        let mut letters = vec![-1];
        mailbox.collect(&mut letters);
        assert_eq!(letters, [-1, 0, 1, 2, 3, 4]);
    }
}
