//! What a worker itself spends in the window.

use steelyard_net::usage::{CpuTime, thread_cpu};

use crate::measurement::host;

/// Readings of one worker thread at the window's borders.
#[derive(Debug, Default, Clone)]
pub struct Meter {
    running: bool,
    cpu_at_start: CpuTime,
    run_delay_at_start_ns: Option<u64>,
    /// CPU time in the window.
    pub cpu: CpuTime,
    /// Of it, polling for the next deadline without finding anything.
    pub spin_ns: u64,
    /// Runnable but waiting for a CPU, in the window.
    pub run_delay_ns: Option<u64>,
}

impl Meter {
    /// The window begins.
    pub fn start(&mut self) {
        self.running = true;
        self.run_delay_at_start_ns = host::thread_run_delay_ns();
        self.cpu_at_start = thread_cpu();
    }

    /// The window ends; only the first call counts.
    pub fn stop(&mut self) {
        if !std::mem::take(&mut self.running) {
            return;
        }
        self.cpu = thread_cpu().since(self.cpu_at_start);
        self.run_delay_ns = host::thread_run_delay_ns()
            .zip(self.run_delay_at_start_ns)
            .map(|(end, start)| end.saturating_sub(start));
    }

    /// `took_ns` went into polling without success.
    pub fn spun(&mut self, took_ns: u64) {
        if self.running {
            self.spin_ns += took_ns;
        }
    }

    /// CPU time that served the load. Polling is wall time, so that it may exceed what was used.
    pub fn busy_ns(&self) -> u64 {
        self.cpu.total_ns().saturating_sub(self.spin_ns)
    }
}
