//! The two ends of a TCP endpoint: large writes, and reading without copying.

use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use rustix::net::{Shutdown, shutdown};
use steelyard_net::bulk::{completions, discard, send_block, set_low_water};
use steelyard_net::clock::monotonic_ns;
use steelyard_net::stream::Received;

use crate::ledger::Ledger;
use crate::pace::Pace;
use crate::run::{MOST_BLOCK, Run};
use crate::step::{Ending, NEVER, Step};

const MOST_READ: usize = 16 << 20;

/// Calls before other endpoints of the thread have their turn.
const CALLS_AT_ONCE: usize = 16;

/// A peer that closes so shortly before the window ends has only another idea of the time.
const CLOCK_TOLERANCE_NS: u64 = 100_000_000;

/// Waking a reader for less costs more than it brings.
const LOW_WATER: u32 = 128 * 1024;

/// The sending end.
#[derive(Debug)]
pub struct TcpOut {
    block: &'static [u8],
    zero_copy: bool,
    pace: Pace,
    pub copied: u64,
}

impl TcpOut {
    /// Writes of `block_bytes`; `pace` in bytes.
    pub fn new(block_bytes: u32, zero_copy: bool, pace: Pace) -> Self {
        let most = block_bytes.clamp(1, MOST_BLOCK) as usize;
        Self {
            block: &pages()[..most],
            zero_copy,
            pace,
            copied: 0,
        }
    }

    /// Whether zero-copy writes are asked for.
    pub fn is_zero_copy(&self) -> bool {
        self.zero_copy
    }

    /// Sends until the kernel has no room.
    pub fn step(&mut self, socket: &OwnedFd, run: &Run, ledger: &mut Ledger) -> Step {
        if self.zero_copy {
            self.copied += completions(socket).copied;
        }
        for _ in 0..CALLS_AT_ONCE {
            let now_ns = monotonic_ns();
            if now_ns >= run.window_end_ns() {
                // A peer that is gone by now needs no message.
                let _ = shutdown(socket, Shutdown::Write);
                return Step::Over(Ending::InOrder);
            }
            let most = match self.pace.allowed(now_ns) {
                Ok(allowed) => self.block.len().min(allowed as usize),
                Err(next_ns) => return Step::Wait(next_ns),
            };
            match send_block(socket, &self.block[..most], self.zero_copy) {
                Ok(0) => return Step::Wait(NEVER),
                Ok(count) => {
                    ledger.add(run, monotonic_ns(), count as u64);
                    self.pace.sent(count as u64);
                    // The socket is full; asking once more would only cost a call.
                    if count < most {
                        return Step::Wait(NEVER);
                    }
                }
                Err(errno) => return Step::Over(Ending::Refused(errno)),
            }
        }
        Step::Again
    }
}

/// The receiving end.
#[derive(Debug)]
pub struct TcpIn;

impl TcpIn {
    /// Reads what comes on `socket`; with a `pace` every bit of it at once.
    pub fn new(socket: &OwnedFd, paced: bool) -> Self {
        if !paced {
            // A kernel that refuses wakes the reader more often, that is all.
            let _ = set_low_water(socket, LOW_WATER);
        }
        Self
    }

    /// Reads until nothing is left; `ending` when the peer has said that it will not send more.
    #[allow(clippy::unused_self, reason = "all pumps are stepped alike")]
    pub fn step(&self, socket: &OwnedFd, run: &Run, ledger: &mut Ledger, ending: bool) -> Step {
        for _ in 0..CALLS_AT_ONCE {
            let received = discard(socket, MOST_READ);
            let now_ns = monotonic_ns();
            match received {
                Ok(Received::Bytes(count)) => {
                    ledger.add(run, now_ns, count as u64);
                    if count < MOST_READ && !ending {
                        return waiting(run, now_ns);
                    }
                }
                Ok(Received::Nothing) => return waiting(run, now_ns),
                Ok(Received::End) => {
                    let early = now_ns + CLOCK_TOLERANCE_NS < run.window_end_ns();
                    return Step::Over(if early {
                        Ending::Closed
                    } else {
                        Ending::InOrder
                    });
                }
                Err(errno) => return Step::Over(Ending::Refused(errno)),
            }
        }
        Step::Again
    }
}

fn waiting(run: &Run, now_ns: u64) -> Step {
    let last_ns = run.window_end_ns().saturating_add(run.drain_ns);
    if now_ns >= last_ns {
        return Step::Over(Ending::Cut);
    }
    Step::Wait(last_ns)
}

/// One block for all senders: bytes that no compression on the way makes smaller, page-aligned,
/// never freed, since zero-copy writes may still refer to it when a flow has ended.
fn pages() -> &'static [u8] {
    const PAGE: usize = 4_096;
    static PAGES: OnceLock<&'static [u8]> = OnceLock::new();
    PAGES.get_or_init(|| {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let words = (MOST_BLOCK as usize + PAGE) / 8;
        let bytes: Vec<u8> = (0..words)
            .flat_map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state.to_ne_bytes()
            })
            .collect();
        let bytes: &'static [u8] = bytes.leak();
        let offset = bytes.as_ptr().align_offset(PAGE).min(PAGE);
        &bytes[offset..offset + MOST_BLOCK as usize]
    })
}
