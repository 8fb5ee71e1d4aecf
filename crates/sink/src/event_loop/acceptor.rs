//! One listener for all event loops: each connection goes to the loop that has the fewest.
//!
//! A listener for each loop (`SO_REUSEPORT`) leaves the choice to a hash of the address. With 16
//! connections on 4 loops one loop then often has 8 and another 1, and a benchmark measures the
//! fullest one. Here the numbers differ by at most one while connections stay.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use steelyard_net::socket::accept_one;

use crate::counters::tally::{ErrorKind, Tally};
use crate::store::inbox::{Inbox, LoopEvent};

/// Accepts in one turn of the loop before its connections are served.
const BATCH: usize = 64;

/// The event loops of a listener: how many connections each has, and its inbox.
#[derive(Debug)]
pub(crate) struct LoopRegistry {
    inboxes: Vec<Arc<Inbox>>,
    live: Vec<AtomicU32>,
}

impl LoopRegistry {
    pub fn new(threads: u32) -> rustix::io::Result<Self> {
        Ok(Self {
            inboxes: (0..threads)
                .map(|_| Inbox::new().map(Arc::new))
                .collect::<Result<_, _>>()?,
            live: (0..threads).map(|_| AtomicU32::new(0)).collect(),
        })
    }

    pub fn inbox(&self, index: usize) -> Arc<Inbox> {
        Arc::clone(&self.inboxes[index])
    }

    /// A connection of this loop has ended.
    pub fn left(&self, index: usize) {
        // Relaxed, here and below: a balance, nothing is published with it.
        self.live[index].fetch_sub(1, Ordering::Relaxed);
    }

    /// The loop with the fewest connections, which gets one more.
    fn join(&self) -> usize {
        let count = |index: &usize| self.live[*index].load(Ordering::Relaxed);
        let index = (0..self.live.len()).min_by_key(count).unwrap_or(0);
        self.live[index].fetch_add(1, Ordering::Relaxed);
        index
    }
}

/// How accepting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accepted {
    All,
    NoDescriptors,
}

/// The listener.
#[derive(Debug)]
pub(crate) struct Acceptor(pub OwnedFd);

impl Acceptor {
    /// Accepts who waits: `own` gets the connections of loop `index`, the others are sent to theirs.
    pub fn accept(
        &self,
        loops: &LoopRegistry,
        index: usize,
        own: &mut Vec<OwnedFd>,
        tally: &mut Tally,
    ) -> Accepted {
        for _ in 0..BATCH {
            match accept_one(&self.0) {
                Ok(Some(fd)) => match loops.join() {
                    loop_index if loop_index == index => own.push(fd),
                    loop_index => loops.inboxes[loop_index].send(LoopEvent::Connection(fd)),
                },
                Ok(None) => return Accepted::All,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    tally.error(ErrorKind::AcceptFdLimit);
                    return Accepted::NoDescriptors;
                }
                // The connection is broken (accept(2) passes pending network errors): the next.
                Err(_) => tally.error(ErrorKind::AcceptOther),
            }
        }
        Accepted::All
    }
}

impl AsFd for Acceptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_spread_evenly_and_gaps_are_filled() {
        let loops = LoopRegistry::new(3).unwrap();
        let mut given: Vec<usize> = (0..6).map(|_| loops.join()).collect();
        given.sort_unstable();
        assert_eq!(given, [0, 0, 1, 1, 2, 2]);
        loops.left(1);
        assert_eq!(loops.join(), 1);
    }
}
