//! What both ends know of a run: what is to be sent, and when it counts.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// What carries the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Connections.
    Tcp,
    /// Datagrams with sequence numbers.
    Udp,
}

/// What is to be sent; the same at both ends.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Spec {
    /// What carries the bytes.
    pub transport: Transport,
    /// Flows, one connection each.
    pub flows: u32,
    /// Bytes go from the generator to the sink.
    pub to_sink: bool,
    /// Bytes go from the sink to the generator.
    pub from_sink: bool,
    /// Of one write, or of one datagram's payload.
    pub block_bytes: u32,
    /// Pace of each endpoint; 0 for none.
    pub bytes_per_s: u64,
    /// Of sockets; 0 leaves them to the kernel.
    pub buffer_bytes: u32,
    /// TCP's congestion control.
    pub congestion: Option<String>,
    /// TCP: do not copy.
    pub zero_copy: bool,
    /// UDP: let the kernel cut and join.
    pub offload: bool,
}

/// Largest block of a write.
pub const MOST_BLOCK: u32 = 1 << 20;
/// Least payload of a datagram: its own head.
pub const LEAST_DATAGRAM: u32 = crate::datagram::HEAD_BYTES as u32;

/// When a run begins, counts and ends, on the clock of the machine that asks.
#[derive(Debug)]
pub struct Run {
    /// Nothing is sent before.
    pub start_ns: u64,
    /// Nothing counts before.
    pub window_start_ns: u64,
    /// Width of a row.
    pub interval_ns: u64,
    /// How long receivers wait for the rest.
    pub drain_ns: u64,
    /// Nothing is sent and nothing counts from here on; moves when a run ends early.
    window_end_ns: AtomicU64,
    abandoned: AtomicBool,
    /// Bytes moved so far, for display.
    pub moved_bytes: AtomicU64,
}

impl Run {
    /// A run that no one has ended.
    pub fn new(
        start_ns: u64,
        window_start_ns: u64,
        window_end_ns: u64,
        interval_ns: u64,
        drain_ns: u64,
    ) -> Self {
        Self {
            start_ns,
            window_start_ns,
            interval_ns: interval_ns.max(1),
            drain_ns,
            window_end_ns: AtomicU64::new(window_end_ns),
            abandoned: AtomicBool::new(false),
            moved_bytes: AtomicU64::new(0),
        }
    }

    /// First instant after the window.
    pub fn window_end_ns(&self) -> u64 {
        self.window_end_ns.load(Relaxed)
    }

    /// Ends the window at `at_ns`, if it would be longer; what is under way may still arrive.
    pub fn end_at(&self, at_ns: u64) {
        self.window_end_ns.fetch_min(at_ns, Relaxed);
    }

    /// Ends everything at once: the other end is gone.
    pub fn abandon(&self) {
        self.abandoned.store(true, Relaxed);
    }

    /// Whether everything is to end at once.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.load(Relaxed)
    }
}
