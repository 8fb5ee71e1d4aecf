//! Facts of the machine that computes, and how much memory it has left.

use std::fs;
use std::path::Path;

use steelyard_net::machine;
use steelyard_wire::kernel::KernelHost;

use crate::{KernelError, available, caches};

/// Share of the available memory that a kernel may take.
const MOST_OF_MEMORY: (u64, u64) = (9, 10);

/// Facts of this machine; what cannot be read is `None`.
pub(crate) fn facts() -> KernelHost {
    KernelHost {
        kernel: machine::kernel_release(),
        cpu_model: machine::cpu_model(),
        cpus: machine::cpus(),
        caches: caches(Path::new("/")),
        frequency_governor: machine::first_line(
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        ),
        isa_available: available(),
    }
}

/// Refuses what does not fit into the memory that can be had without swapping.
pub(crate) fn refuse_too_large(needed_bytes: u64) -> Result<(), KernelError> {
    match available_bytes() {
        Some(available_bytes) => compare(needed_bytes, available_bytes),
        None => Ok(()), // the allocation itself will tell
    }
}

fn compare(needed_bytes: u64, available_bytes: u64) -> Result<(), KernelError> {
    let (part, whole) = MOST_OF_MEMORY;
    if needed_bytes <= available_bytes / whole * part {
        return Ok(());
    }
    Err(KernelError::TooLarge {
        needed_bytes,
        available_bytes,
    })
}

/// Refuses no thread at all, and more than one for each CPU.
pub(crate) fn refuse_threads(threads: u32) -> Result<(), KernelError> {
    let cpus = machine::cpus().unwrap_or(u32::MAX);
    if threads == 0 {
        let hint = "say --threads 1, or as many as the machine has CPUs";
        Err(KernelError::bad_option("0 threads compute nothing", hint))
    } else if threads > cpus {
        let message = format!("{threads} threads on {cpus} CPUs measure the scheduler");
        let hint = "say --threads with at most one for each CPU this process may use";
        Err(KernelError::bad_option(message, hint))
    } else {
        Ok(())
    }
}

fn available_bytes() -> Option<u64> {
    let machine = mem_available(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let group = machine::first_line("/sys/fs/cgroup/memory.max").and_then(|text| text.parse().ok());
    Some(group.map_or(machine, |limit: u64| limit.min(machine)))
}

fn mem_available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_in_bytes() {
        let text = "MemTotal: 100 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(mem_available(text), Some(2 << 20));
        assert_eq!(mem_available("MemTotal: 100 kB\n"), None);
    }

    #[test]
    fn what_fills_the_memory_is_refused_and_what_leaves_a_tenth_is_not() {
        assert_eq!(compare(900, 1000), Ok(()));
        assert!(compare(901, 1000).is_err());
    }

    #[test]
    fn no_thread_and_too_many_threads_are_refused() {
        assert!(refuse_threads(0).is_err());
        assert!(refuse_threads(u32::MAX).is_err());
        assert_eq!(refuse_threads(1), Ok(()));
    }
}
