//! A thin epoll: edge-triggered registrations with a `u64` token, waiting with a deadline.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::{Errno, Result};

use crate::clock::timespec;

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
    /// `None` waits without end. An interrupted wait returns no events. The timeout is exact to
    /// the thread's timer slack from Linux 5.11 on, rounded up to milliseconds before.
    pub fn wait(&self, events: &mut Vec<Event>, timeout: Option<Duration>) -> Result<()> {
        events.clear();
        match self.wait_exactly(events, timeout) {
            Err(Errno::NOSYS | Errno::PERM) => {
                EXACT_WAIT_MISSING.store(true, Ordering::Relaxed);
                self.wait_in_milliseconds(events, timeout)
            }
            outcome => outcome,
        }
    }

    /// `epoll_pwait2`: `rustix` alone would round every timeout that fits to milliseconds.
    fn wait_exactly(&self, events: &mut Vec<Event>, timeout: Option<Duration>) -> Result<()> {
        if EXACT_WAIT_MISSING.load(Ordering::Relaxed) {
            return Err(Errno::NOSYS);
        }
        let timeout = timeout.map(|t| {
            let seconds = i64::try_from(t.as_secs()).unwrap_or(i64::MAX);
            [seconds, i64::from(t.subsec_nanos())]
        });
        let spare = events.spare_capacity_mut();
        let room = i32::try_from(spare.len()).unwrap_or(i32::MAX);
        // SAFETY: `spare` is writable memory for `room` events, `Event` has the layout of the
        // kernel's `epoll_event`; the timeout is null or two 64-bit words (`__kernel_timespec`)
        // that outlive the call; no signal mask is passed.
        let filled = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                spare.as_mut_ptr(),
                room,
                timeout
                    .as_ref()
                    .map_or(std::ptr::null(), |words| words.as_ptr()),
                std::ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        };
        let Ok(filled) = usize::try_from(filled) else {
            return ignore_interruption(last_errno());
        };
        // SAFETY: the kernel has written `filled` events into the spare capacity of a vector
        // whose length is 0.
        unsafe { events.set_len(filled) };
        Ok(())
    }

    fn wait_in_milliseconds(
        &self,
        events: &mut Vec<Event>,
        timeout: Option<Duration>,
    ) -> Result<()> {
        let timeout = timeout.map(|t| timespec(u64::try_from(t.as_nanos()).unwrap_or(u64::MAX)));
        epoll::wait(&self.epoll, spare_capacity(events), timeout.as_ref())
            .map(|_| ())
            .or_else(ignore_interruption)
    }
}

/// Set once the kernel, or a seccomp filter, has refused `epoll_pwait2`.
static EXACT_WAIT_MISSING: AtomicBool = AtomicBool::new(false);

fn ignore_interruption(errno: Errno) -> Result<()> {
    if errno == Errno::INTR {
        return Ok(());
    }
    Err(errno)
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_without_events_lasts_at_least_its_timeout() {
        let poller = Poller::new().unwrap();
        let mut events = Vec::with_capacity(4);
        let start = crate::clock::monotonic_ns();
        poller
            .wait(&mut events, Some(Duration::from_micros(300)))
            .unwrap();
        assert!(events.is_empty());
        assert!(crate::clock::monotonic_ns() - start >= 300_000);
    }

    #[test]
    fn both_ways_to_wait_report_the_same_event() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        let poller = Poller::new().unwrap();
        poller.add(&reader, 42, EventFlags::IN).unwrap();
        rustix::io::write(&writer, b"x").unwrap();
        let mut events = Vec::with_capacity(4);
        let soon = Duration::from_secs(5);
        for exact in [true, false] {
            events.clear();
            if exact {
                poller.wait_exactly(&mut events, Some(soon)).unwrap();
            } else {
                poller
                    .wait_in_milliseconds(&mut events, Some(soon))
                    .unwrap();
            }
            assert_eq!(events.len(), 1);
            assert_eq!(events[0].data.u64(), 42);
        }
    }
}
