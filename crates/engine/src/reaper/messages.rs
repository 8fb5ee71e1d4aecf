//! What holder and agent tell each other: words one way, single letters the other.

use rustix::io::Errno;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use steelyard_net::clock::monotonic_ns;

/// SIGTERM to the program, or to all it left over if it has ended.
pub(crate) const TERMINATE: u8 = b'T';
/// SIGKILL to the whole tree, until nothing of it is left.
pub(crate) const KILL: u8 = b'K';

/// One line from the holder. It closes the socket when the last process of the tree is reaped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Word {
    /// The program runs.
    Started(Started),
    /// It could not be started.
    Refused {
        /// As the system has it.
        errno: Option<i32>,
        /// In words.
        message: String,
    },
    /// The program has ended.
    Ended {
        /// How.
        how: Ended,
        /// It left nothing behind: the holder ends at once, too.
        alone: bool,
    },
}

/// A program that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Started {
    pub(crate) pid: u32,
    pub(crate) start_ticks: u64,
    pub(crate) monotonic_ns: u64,
}

/// How a process ended and what it had cost, with those it had waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) max_rss_bytes: u64,
    pub(crate) monotonic_ns: u64,
}

/// Reaps a child that has ended; `None` if all still run, ECHILD if there is none.
pub(crate) fn wait_for_any() -> Result<Option<(Pid, Ended)>, Errno> {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are valid for writing for the whole call, and all zeroes is a valid
    // `rusage`, so reading it afterwards is sound even if the call fails.
    let (pid, usage) = unsafe {
        let pid = libc::wait4(-1, &raw mut status, libc::WNOHANG, usage.as_mut_ptr());
        (pid, usage.assume_init())
    };
    if pid < 0 {
        let error = std::io::Error::last_os_error();
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::CHILD));
    }
    let ended = Ended {
        exit_code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        user_ns: nanoseconds(usage.ru_utime),
        system_ns: nanoseconds(usage.ru_stime),
        max_rss_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
        monotonic_ns: monotonic_ns(),
    };
    Ok(Pid::from_raw(pid).map(|pid| (pid, ended)))
}

fn nanoseconds(time: libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_usec).unwrap_or(0) * 1000
}
