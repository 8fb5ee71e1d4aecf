//! The monotonic clock in nanoseconds, the only clock durations are taken from.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// `CLOCK_MONOTONIC` now; comparable between all processes of one boot.
pub fn monotonic_ns() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// `CLOCK_REALTIME` now, for people and for clock comparison only.
pub fn realtime_ns() -> u64 {
    nanoseconds(ClockId::Realtime)
}

/// CPU time of the calling thread.
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}

/// So many nanoseconds as the kernel takes them; a 32-bit processor has other widths than a 64-bit one.
pub fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / 1_000_000_000).cast_signed(),
        tv_nsec: ((ns % 1_000_000_000) as i32).into(),
    }
}

/// Median cost of one [`monotonic_ns`] call on this machine.
pub fn read_cost_ns() -> u64 {
    const ROUNDS: usize = 31;
    const CALLS: u64 = 200;
    let mut costs = [0_u64; ROUNDS];
    for cost in &mut costs {
        let start = monotonic_ns();
        for _ in 0..CALLS {
            std::hint::black_box(monotonic_ns());
        }
        *cost = (monotonic_ns() - start) / (CALLS + 1);
    }
    costs.sort_unstable();
    costs[ROUNDS / 2]
}

fn nanoseconds(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_runs_backwards() {
        let mut last = monotonic_ns();
        for _ in 0..10_000 {
            let now = monotonic_ns();
            assert!(now >= last);
            last = now;
        }
    }

    #[test]
    fn reading_the_clock_costs_something_but_less_than_a_millisecond() {
        assert!(read_cost_ns() < 1_000_000);
    }
}
