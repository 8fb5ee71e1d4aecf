//! A thin epoll: edge-triggered registrations with a `u64` token, waiting with a deadline.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::{Errno, Result};
use rustix::time::Timespec;

pub use rustix::event::epoll::{Event, EventFlags as Interest};

/// What a connection is usually registered for: input, hang-up, edge-triggered.
pub const READ: EventFlags = EventFlags::IN
    .union(EventFlags::RDHUP)
    .union(EventFlags::ET);

/// [`READ`] and output, armed while connecting or after a short write.
pub const READ_WRITE: EventFlags = READ.union(EventFlags::OUT);

/// One epoll instance.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
}

impl Poller {
    /// A new instance, closed on exec.
    pub fn new() -> Result<Self> {
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
        })
    }

    /// Registers `fd`; its events carry `token`.
    pub fn add(&self, fd: impl AsFd, token: u64, interest: EventFlags) -> Result<()> {
        epoll::add(&self.epoll, fd, EventData::new_u64(token), interest)
    }

    /// Changes what `fd` is registered for.
    pub fn modify(&self, fd: impl AsFd, token: u64, interest: EventFlags) -> Result<()> {
        epoll::modify(&self.epoll, fd, EventData::new_u64(token), interest)
    }

    /// Ends the registration; closing the last descriptor does so too.
    pub fn delete(&self, fd: impl AsFd) -> Result<()> {
        epoll::delete(&self.epoll, fd)
    }

    /// Fills `events` (cleared first, at most its capacity) or returns after `timeout`.
    ///
    /// `None` waits without end. An interrupted wait returns no events.
    pub fn wait(&self, events: &mut Vec<Event>, timeout: Option<Duration>) -> Result<()> {
        events.clear();
        let timeout = timeout.map(|t| Timespec {
            tv_sec: i64::try_from(t.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(t.subsec_nanos()),
        });
        match epoll::wait(&self.epoll, spare_capacity(events), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
