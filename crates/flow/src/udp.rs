//! The two ends of a UDP endpoint: numbered and stamped datagrams in batches.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use steelyard_net::clock::monotonic_ns;
use steelyard_net::datagram::{Inbox, LONGEST, MOST_SEGMENTS, allow_joining, cut_into, send_many};

use crate::arrivals::Arrivals;
use crate::datagram::Head;
use crate::ledger::Ledger;
use crate::pace::Pace;
use crate::report::Datagrams;
use crate::run::Run;
use crate::step::{Ending, NEVER, Step};

/// Calls before other endpoints of the thread have their turn.
const CALLS_AT_ONCE: usize = 8;

/// Datagrams of one call, cut by the kernel or one by one.
const MESSAGES_CUT: usize = 4;
const MESSAGES_WHOLE: usize = 64;

/// After so long without a datagram behind the window's end, none will come.
const QUIET_NS: u64 = 300_000_000;

/// The sending end.
#[derive(Debug)]
pub struct UdpOut {
    buffer: Vec<u8>,
    size: usize,
    /// Datagrams of one message, cut by the kernel; 1 without that.
    per_message: usize,
    messages: usize,
    tag: u32,
    sequence: u64,
    pace: Pace,
    pub sent: Datagrams,
}

impl UdpOut {
    /// Datagrams of `size` bytes; `pace` in datagrams.
    pub fn new(socket: &OwnedFd, size: u32, offload: bool, tag: u32, pace: Pace) -> Self {
        let size = size as usize;
        let segments = MOST_SEGMENTS.min(LONGEST / size.max(1));
        let cut = offload && segments > 1 && cut_into(socket, size as u16).is_ok();
        let (per_message, messages) = if cut {
            (segments, MESSAGES_CUT)
        } else {
            (1, MESSAGES_WHOLE)
        };
        Self {
            buffer: vec![0x5a; per_message * messages * size],
            size,
            per_message,
            messages,
            tag,
            sequence: 0,
            pace,
            sent: Datagrams::default(),
        }
    }

    /// Sends what is due.
    pub fn step(&mut self, socket: &OwnedFd, run: &Run, ledger: &mut Ledger) -> Step {
        for _ in 0..CALLS_AT_ONCE {
            let now_ns = monotonic_ns();
            if now_ns >= run.window_end_ns() {
                return Step::Over(Ending::InOrder);
            }
            let due = match self.pace.allowed(now_ns) {
                Ok(due) => due,
                Err(next_ns) => return Step::Wait(next_ns),
            };
            let batch = (self.per_message * self.messages).min(due as usize);
            let in_window = now_ns >= run.window_start_ns;
            self.stamp(batch, in_window, now_ns);
            let whole = &self.buffer[..batch * self.size];
            match send_many(socket, whole, self.per_message * self.size) {
                Ok(0) => return Step::Wait(NEVER),
                Ok(messages) => {
                    let count = (messages * self.per_message).min(batch);
                    self.count(run, ledger, now_ns, count as u64, in_window);
                }
                Err(Errno::INVAL | Errno::IO | Errno::MSGSIZE) if self.per_message > 1 => {
                    // The way there, or the size, does not allow it after all.
                    let _ = cut_into(socket, 0);
                    self.per_message = 1;
                    self.messages = MESSAGES_WHOLE.min(self.buffer.len() / self.size);
                }
                Err(errno) => return Step::Over(Ending::Refused(errno)),
            }
        }
        Step::Again
    }

    fn stamp(&mut self, batch: usize, in_window: bool, sent_ns: u64) {
        let datagrams = self.buffer.chunks_exact_mut(self.size).take(batch);
        for (sequence, datagram) in (self.sequence..).zip(datagrams) {
            Head {
                tag: self.tag,
                sequence,
                in_window,
                sent_ns,
            }
            .write(datagram);
        }
    }

    fn count(&mut self, run: &Run, ledger: &mut Ledger, now_ns: u64, count: u64, in_window: bool) {
        let bytes = count * self.size as u64;
        self.sequence += count;
        self.pace.sent(count);
        ledger.add(run, now_ns, bytes);
        if in_window {
            self.sent.count += count;
            self.sent.bytes += bytes;
        }
    }
}

/// The receiving end.
#[derive(Debug)]
pub struct UdpIn {
    inbox: Inbox,
    arrivals: Arrivals,
    tag: u32,
    window_bytes: u64,
    last_ns: u64,
}

impl UdpIn {
    /// Counts the datagrams of `tag` on `socket`.
    pub fn new(socket: &OwnedFd, offload: bool, tag: u32) -> Self {
        if offload {
            // A kernel that refuses delivers them one by one, that is all.
            let _ = allow_joining(socket);
        }
        Self {
            inbox: Inbox::new(),
            arrivals: Arrivals::default(),
            tag,
            window_bytes: 0,
            last_ns: 0,
        }
    }

    /// Receives until nothing is left.
    pub fn step(&mut self, socket: &OwnedFd, run: &Run, ledger: &mut Ledger) -> Step {
        for _ in 0..CALLS_AT_ONCE {
            match self.inbox.receive(socket) {
                Ok(0) => return self.waiting(run, monotonic_ns()),
                Ok(_) => self.count(run, ledger, monotonic_ns()),
                // No one listens where this end sends to; that is the sending endpoint's affair.
                Err(Errno::CONNREFUSED) => {}
                Err(errno) => return Step::Over(Ending::Refused(errno)),
            }
        }
        Step::Again
    }

    fn count(&mut self, run: &Run, ledger: &mut Ledger, now_ns: u64) {
        let mut bytes = 0;
        for datagram in self.inbox.datagrams() {
            let Some(head) = Head::read(datagram).filter(|head| head.tag == self.tag) else {
                continue;
            };
            if self.arrivals.note(head, now_ns) {
                let length = datagram.len() as u64;
                bytes += length;
                self.window_bytes += if head.in_window { length } else { 0 };
            }
        }
        self.last_ns = now_ns;
        ledger.add(run, now_ns, bytes);
    }

    fn waiting(&self, run: &Run, now_ns: u64) -> Step {
        let end_ns = run.window_end_ns();
        let quiet_ns = self.last_ns.max(end_ns).saturating_add(QUIET_NS);
        let over_ns = quiet_ns.min(end_ns.saturating_add(run.drain_ns));
        if now_ns >= over_ns {
            return Step::Over(Ending::InOrder);
        }
        Step::Wait(over_ns)
    }

    /// What has arrived of the window.
    pub fn received(&self) -> Datagrams {
        Datagrams {
            count: self.arrivals.received,
            bytes: self.window_bytes,
            reordered: self.arrivals.reordered,
            duplicated: self.arrivals.duplicated,
            jitter_ns: self.arrivals.jitter_ns(),
        }
    }
}
