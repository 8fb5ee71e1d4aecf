//! Facts of the generator's own machine, and the little of `/proc` that a verdict needs.

use std::fs;

use steelyard_net::{clock, machine};
use steelyard_wire::result::HostClient;

/// Facts of this machine; what cannot be read is `None`.
pub fn facts() -> HostClient {
    HostClient {
        kernel: machine::kernel_release(),
        cpu_model: machine::cpu_model(),
        cpus: machine::cpus(),
        clocksource: machine::first_line(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
        clock_read_ns: clock::read_cost_ns(),
    }
}

/// How long the calling thread was runnable but waited for a CPU, since it began.
pub fn thread_run_delay_ns() -> Option<u64> {
    fs::read_to_string("/proc/thread-self/schedstat")
        .ok()?
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

/// CPU time of the whole machine since boot, in clock ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineTicks {
    total: u64,
    steal: u64,
}

impl MachineTicks {
    /// Reads `/proc/stat`.
    pub fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        let fields: Vec<u64> = stat
            .lines()
            .next()?
            .strip_prefix("cpu ")?
            .split_whitespace()
            .map_while(|field| field.parse().ok())
            .collect();
        Some(Self {
            // guest time is already in user time
            total: fields.iter().take(8).sum(),
            steal: *fields.get(7)?,
        })
    }

    /// Share of CPU time since `earlier` that the hypervisor gave to others, 0 to 1.
    pub fn steal_ratio_since(self, earlier: Self) -> Option<f64> {
        let total = self
            .total
            .checked_sub(earlier.total)
            .filter(|ticks| *ticks > 0)?;
        Some(self.steal.saturating_sub(earlier.steal) as f64 / total as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_its_share_of_all_cpu_time() {
        let before = MachineTicks::parse("cpu  100 0 50 800 0 0 0 10 7 0\ncpu0 1\n").unwrap();
        let after = MachineTicks::parse("cpu  150 0 70 900 0 0 0 40 9 0\n").unwrap();
        assert_eq!(after.steal_ratio_since(before), Some(30.0 / 200.0));
        assert_eq!(after.steal_ratio_since(after), None);
    }

    #[test]
    fn an_old_kernel_without_steal_has_no_steal_ratio() {
        assert_eq!(MachineTicks::parse("cpu  1 2 3 4\n"), None);
    }

    #[test]
    fn this_machine_has_a_kernel_and_a_cpu() {
        let facts = facts();
        assert!(facts.kernel.is_some());
        assert!(facts.cpus.is_some_and(|cpus| cpus > 0));
    }
}
