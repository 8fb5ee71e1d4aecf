//! Ending a sink from another thread or from a signal handler.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};

use crate::error::SinkError;

/// Ends every sink that was given it; clones are the same handle.
///
/// An event descriptor instead of a flag: the loops sleep without end and still stop at once.
#[derive(Debug, Clone)]
pub struct StopHandle {
    event: Arc<OwnedFd>,
}

impl StopHandle {
    /// A handle no one has pulled yet.
    pub fn new() -> Result<Self, SinkError> {
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map(|event| Self {
                event: Arc::new(event),
            })
            .map_err(|errno| SinkError::from_errno("create an event descriptor", errno))
    }

    /// Asks to stop; returns at once, may be called again, safe in a signal handler.
    pub fn stop(&self) {
        // A full counter (EAGAIN) means it was pulled before, which is all that is wanted.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }
}

/// Readable once stopped: a signal handler may also write 8 bytes to it directly.
impl AsFd for StopHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}
