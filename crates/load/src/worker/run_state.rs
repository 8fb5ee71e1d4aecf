//! How far the run of one worker has come, and what is in flight.

use crate::measurement::meter::Meter;
use crate::measurement::operation::{Operation, Part};

/// Between two checks whether to stop.
const TICK_NS: u64 = 10_000_000;
const TICK_WHILE_CONNECTING_NS: u64 = 1_000_000;

/// Where a worker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Connecting,
    Running,
    Draining,
}

/// Stage, operations in flight, and when the loop looks at what is rare.
#[derive(Debug)]
pub(super) struct RunState {
    pub stage: Stage,
    /// What the worker spends in the window.
    pub meter: Meter,
    metering: bool,
    /// Sent and not answered.
    pub inflight: u64,
    inflight_of_window: u64,
    pub next_tick_ns: u64,
    pub next_scan_ns: u64,
}

impl RunState {
    pub fn new() -> Self {
        Self {
            stage: Stage::Connecting,
            meter: Meter::default(),
            metering: false,
            inflight: 0,
            inflight_of_window: 0,
            next_tick_ns: 0,
            next_scan_ns: 0,
        }
    }

    pub fn is_running(&self) -> bool {
        self.stage == Stage::Running
    }

    /// Whether bytes that move now are of the window; exact to a tick, without reading the clock.
    pub fn is_metering(&self) -> bool {
        self.metering && self.is_running()
    }

    /// Follows the window; `true` when it has just begun.
    pub fn cross_borders(&mut self, part: Part) -> bool {
        if !self.is_running() {
            return false;
        }
        let begins = part == Part::Window && !self.metering;
        if begins {
            self.metering = true;
            self.meter.start();
        }
        if part == Part::After {
            self.stage = Stage::Draining;
            self.meter.stop();
        }
        begins
    }

    pub fn began(&mut self, operation: &Operation) {
        self.inflight += 1;
        self.inflight_of_window += u64::from(operation.part == Part::Window);
    }

    pub fn ended(&mut self, operation: &Operation) {
        self.inflight -= 1;
        self.inflight_of_window -= u64::from(operation.part == Part::Window);
    }

    /// Whether no operation of the window is in flight.
    pub fn all_answered(&self) -> bool {
        self.inflight_of_window == 0
    }

    /// The latest instant of the next tick.
    pub fn usual_tick_after(&self, now_ns: u64) -> u64 {
        now_ns
            + match self.stage {
                Stage::Connecting => TICK_WHILE_CONNECTING_NS,
                Stage::Running | Stage::Draining => TICK_NS,
            }
    }
}
