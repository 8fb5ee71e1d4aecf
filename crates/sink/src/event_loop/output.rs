//! Sending: at once if the socket takes it, the rest when it does.

use std::sync::Arc;

use rustix::io::Errno;

use crate::counters::tally::{ErrorKind, Tally};
use crate::event_loop::link::Link;
use crate::protocols::shape::Shape;
use crate::protocols::{PAGE_BYTES, Turn, filler};
use crate::tls::Secure;

/// What the connections of one event loop share.
pub(crate) struct Context<P> {
    pub protocol: P,
    pub tally: Tally,
    pub shape: Arc<Shape>,
    /// TLS, if it can be had.
    pub secure: Option<Secure>,
    /// Silence after which a connection ends.
    pub idle_ns: Option<u64>,
    pub buffer: Vec<u8>,
    pub out: Vec<u8>,
    pub fill: u64,
    /// Times that the protocol has asked for in this call.
    pub alarms: Vec<u64>,
}

impl<P> Context<P> {
    pub fn turn(&mut self, token: u64) -> (&mut P, Turn<'_>) {
        let turn = Turn {
            out: &mut self.out,
            fill: &mut self.fill,
            tally: &mut self.tally,
            shape: &self.shape,
            token,
            alarms: &mut self.alarms,
        };
        (&mut self.protocol, turn)
    }
}

/// How far sending got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    Done,
    Blocked,
    Failed,
}

/// Output the socket has not taken yet: bytes, then filler.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    bytes: Vec<u8>,
    sent: usize,
    fill: u64,
    filled: u64,
}

impl Pending {
    pub fn is_empty(&self) -> bool {
        self.sent == self.bytes.len() && self.filled == self.fill
    }

    /// Puts more behind what waits; nothing may follow filler before it is sent.
    pub fn append(&mut self, bytes: &[u8], fill: u64) {
        self.bytes.extend_from_slice(bytes);
        self.fill += fill;
    }

    /// Sends as much as the socket takes.
    pub fn flush(&mut self, link: &mut Link, tally: &mut Tally) -> Progress {
        while !self.is_empty() {
            match self.send_some(link, PAGE_BYTES, tally) {
                Progress::Done => {}
                other => return other,
            }
        }
        self.reset();
        drain(link, tally)
    }

    /// Sends one byte: `Done` if it was the last, `Blocked` if more are left.
    pub fn send_one(&mut self, link: &mut Link, tally: &mut Tally) -> Progress {
        if self.send_some(link, 1, tally) == Progress::Failed {
            return Progress::Failed;
        }
        if self.is_empty() {
            self.reset();
            return Progress::Done;
        }
        Progress::Blocked
    }

    fn send_some(&mut self, link: &mut Link, most: usize, tally: &mut Tally) -> Progress {
        let bytes = &self.bytes[self.sent..];
        let (part, counter) = if bytes.is_empty() {
            // Every page starts where the one before ended, whatever the socket took of it.
            let left = usize::try_from(self.fill - self.filled).unwrap_or(usize::MAX);
            (filler(self.filled, left.min(most)), None)
        } else {
            (&bytes[..bytes.len().min(most)], Some(&mut self.sent))
        };
        let more = counter.is_some() && self.fill > 0 && most > 1;
        match transmit(link, part, more, tally) {
            Ok(count) => match counter {
                Some(sent) => *sent += count,
                None => self.filled += count as u64,
            },
            Err(progress) => return progress,
        }
        Progress::Done
    }

    fn reset(&mut self) {
        // Idle connections keep no output space: it is rarely needed twice.
        *self = Self::default();
    }
}

/// Sends the turn's output, in one call if the socket takes it; what it does not take waits.
pub(crate) fn push<P>(link: &mut Link, pending: &mut Pending, cx: &mut Context<P>) -> Progress {
    if cx.out.is_empty() && cx.fill == 0 {
        return Progress::Done;
    }
    let sent = if pending.is_empty() {
        transmit(link, &cx.out, cx.fill > 0, &mut cx.tally)
    } else {
        Ok(0)
    };
    let sent = match sent {
        Err(Progress::Failed) => {
            cx.out.clear();
            cx.fill = 0;
            return Progress::Failed;
        }
        Ok(count) => count,
        Err(_) => 0,
    };
    if sent < cx.out.len() || cx.fill > 0 {
        pending.append(&cx.out[sent..], std::mem::take(&mut cx.fill));
    }
    cx.out.clear();
    if pending.is_empty() {
        return drain(link, &mut cx.tally);
    }
    pending.flush(link, &mut cx.tally)
}

fn transmit(
    link: &mut Link,
    bytes: &[u8],
    more: bool,
    tally: &mut Tally,
) -> Result<usize, Progress> {
    match link.send(bytes, more, tally) {
        Ok(count) => Ok(count),
        Err(Errno::INTR) => Ok(0),
        Err(Errno::AGAIN) => Err(Progress::Blocked),
        Err(_) => {
            tally.error(ErrorKind::PeerReset);
            Err(Progress::Failed)
        }
    }
}

/// What the link has taken and not sent.
fn drain(link: &mut Link, tally: &mut Tally) -> Progress {
    match link.flush(tally) {
        Ok(()) => Progress::Done,
        Err(Errno::AGAIN | Errno::INTR) => Progress::Blocked,
        Err(_) => {
            tally.error(ErrorKind::PeerReset);
            Progress::Failed
        }
    }
}
