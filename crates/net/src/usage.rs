//! CPU time of the calling thread, and how exactly its timers fire.

use std::num::NonZeroU64;

use rustix::io::Result;

/// CPU time a thread has used since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
}

impl CpuTime {
    /// What was used since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }

    /// User and system time together.
    pub fn total_ns(self) -> u64 {
        self.user_ns + self.system_ns
    }
}

/// CPU time of the calling thread (`RUSAGE_THREAD`).
pub fn thread_cpu() -> CpuTime {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for one `rusage`; `RUSAGE_THREAD` and a valid pointer cannot
    // fail, and an all-zero `rusage` is a valid value in any case.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    CpuTime {
        user_ns: nanoseconds(usage.ru_utime),
        system_ns: nanoseconds(usage.ru_stime),
    }
}

/// Lets timers of the calling thread fire up to `slack_ns` late (the kernel's default is 50 µs).
pub fn set_timer_slack_ns(slack_ns: u64) -> Result<()> {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(slack_ns))
}

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows_in_the_cpu_time_of_the_thread() {
        let before = thread_cpu();
        let start = crate::clock::thread_cpu_ns();
        while crate::clock::thread_cpu_ns() - start < 20_000_000 {
            std::hint::black_box(0);
        }
        assert!(thread_cpu().since(before).total_ns() > 0);
    }

    #[test]
    fn the_timer_slack_can_be_one_nanosecond() {
        set_timer_slack_ns(1).unwrap();
    }
}
