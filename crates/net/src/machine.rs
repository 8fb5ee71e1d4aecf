//! What the kernel says of this machine, where more than one crate asks.

use std::fs;

/// The first line of a file, without its end.
pub fn first_line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().next().map(str::to_owned)
}

/// Version of the kernel.
pub fn kernel_release() -> Option<String> {
    first_line("/proc/sys/kernel/osrelease")
}

/// Model name of the first CPU.
pub fn cpu_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// CPUs that this process may run on.
pub fn cpus() -> Option<u32> {
    let set = rustix::thread::sched_getaffinity(None).ok()?;
    Some(set.count())
}
