//! How a process ended, and what it had cost.

use rustix::process::Pid;
use steelyard_net::clock::monotonic_ns;

/// How a process ended and what it had cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) user_ns: u64,
    pub(super) system_ns: u64,
    pub(super) max_rss_bytes: u64,
    pub(super) monotonic_ns: u64,
}

/// Reaps an ended child and reads what it had cost.
pub(super) fn collect(pid: Pid) -> Ended {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are valid for writing for the whole call, and all zeroes is a valid
    // `rusage`, so reading it afterwards is sound even if the call fails.
    let usage = unsafe {
        libc::wait4(
            pid.as_raw_nonzero().get(),
            &raw mut status,
            0,
            usage.as_mut_ptr(),
        );
        usage.assume_init()
    };
    Ended {
        exit_code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        user_ns: nanoseconds(usage.ru_utime),
        system_ns: nanoseconds(usage.ru_stime),
        max_rss_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
        monotonic_ns: monotonic_ns(),
    }
}

fn nanoseconds(time: libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_usec).unwrap_or(0) * 1000
}
