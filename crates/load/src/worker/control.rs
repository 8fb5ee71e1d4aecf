//! The little that workers and the conductor share: when to start and stop, and how it goes.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::Sender;

use crate::fault::ErrorKind;
use crate::measurement::operation::Window;
use crate::worker::listener::Ended;

/// Written by the conductor, read by every worker about a hundred times a second.
#[derive(Debug)]
pub struct Control {
    /// When operations begin; 0 until every worker is ready.
    start_ns: AtomicU64,
    window_start_ns: AtomicU64,
    window_end_ns: AtomicU64,
    /// Leave at once, without draining.
    stop: AtomicBool,
    /// One for each worker.
    pub boards: Vec<Board>,
    /// Where workers report every operation that ends, if somebody listens.
    pub operations: Option<Sender<Ended>>,
}

/// Written by one worker, read by the conductor. For display and for the start only.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Board {
    /// Every connection has been tried once.
    pub ready: AtomicBool,
    /// The worker has left its loop.
    pub finished: AtomicBool,
    /// Connections established.
    pub connections: AtomicU64,
    /// Connections that ever were ready for an operation.
    pub ever_ready: AtomicU64,
    /// Failures of connections.
    pub failures: AtomicU64,
    /// Index of the first failure's kind in [`ErrorKind::ALL`], plus one.
    pub first_failure: AtomicU32,
    /// Operations answered well, warm-up included.
    pub ok: AtomicU64,
    /// Operations failed, warm-up included.
    pub errors: AtomicU64,
    /// Operations in flight.
    pub inflight: AtomicU64,
    /// Arrivals waiting.
    pub backlog: AtomicU64,
}

impl Control {
    /// For `workers` workers, none of which may start yet.
    pub fn new(workers: usize, operations: Option<Sender<Ended>>) -> Self {
        Self {
            start_ns: AtomicU64::new(0),
            window_start_ns: AtomicU64::new(u64::MAX),
            window_end_ns: AtomicU64::new(u64::MAX),
            stop: AtomicBool::new(false),
            boards: (0..workers).map(|_| Board::default()).collect(),
            operations,
        }
    }

    /// Lets operations begin at `start_ns`.
    pub fn start(&self, start_ns: u64, window: Window) {
        self.window_start_ns.store(window.start_ns, Relaxed);
        self.window_end_ns.store(window.end_ns, Relaxed);
        // Last, and with release: who sees it sees the window too.
        self.start_ns
            .store(start_ns, std::sync::atomic::Ordering::Release);
    }

    /// When operations begin, once that is known.
    pub fn started(&self) -> Option<u64> {
        let start_ns = self.start_ns.load(std::sync::atomic::Ordering::Acquire);
        (start_ns > 0).then_some(start_ns)
    }

    /// The window, valid once [`Control::started`].
    pub fn window(&self) -> Window {
        Window {
            start_ns: self.window_start_ns.load(Relaxed),
            end_ns: self.window_end_ns.load(Relaxed),
        }
    }

    /// Ends the window at `now_ns` and sends every worker home.
    pub fn stop(&self, now_ns: u64) {
        self.window_end_ns.fetch_min(now_ns, Relaxed);
        self.stop.store(true, Relaxed);
    }

    /// Whether workers should leave at once.
    pub fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Sum of one figure over all workers.
    pub fn sum(&self, figure: fn(&Board) -> &AtomicU64) -> u64 {
        self.boards
            .iter()
            .map(|board| figure(board).load(Relaxed))
            .sum()
    }

    /// Whether `flag` is set on every board.
    pub fn all(&self, flag: fn(&Board) -> &AtomicBool) -> bool {
        self.boards.iter().all(|board| flag(board).load(Relaxed))
    }

    /// Kind of the first failure of a connection, of the first worker that had one.
    pub fn first_failure(&self) -> Option<ErrorKind> {
        self.boards.iter().find_map(|board| {
            let index = board.first_failure.load(Relaxed).checked_sub(1)?;
            ErrorKind::ALL.get(index as usize).copied()
        })
    }
}

impl Board {
    /// Notes that a connection has failed.
    pub fn connection_failed(&self, kind: ErrorKind) {
        if self.first_failure.load(Relaxed) == 0 {
            self.first_failure.store(kind as u32 + 1, Relaxed);
        }
        self.failures.fetch_add(1, Relaxed);
    }
}
