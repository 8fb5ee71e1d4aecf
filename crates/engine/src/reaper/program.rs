//! The program that is held.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal, setsid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use steelyard_net::clock::monotonic_ns;

use super::messages::Started;

/// A program that was started.
pub(super) struct Program {
    pub(super) pid: Pid,
    pub(super) started: Started,
    pub(super) running: bool,
}

/// Starts it with the holder's own streams, which the holder then gives up: who reads them must
/// see their end when the last process of the tree has closed them.
pub(super) fn start(argv: &[OsString]) -> io::Result<Program> {
    let (name, arguments) = argv.split_first().ok_or(Errno::NOENT)?;
    let mut command = Command::new(name);
    command.args(arguments);
    let holder = getpid();
    let bind_to_holder = move || -> io::Result<()> {
        setsid()?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() == Some(holder) {
            Ok(())
        } else {
            Err(Errno::SRCH.into()) // the holder ended before the line above: nobody would kill us
        }
    };
    // SAFETY: between fork and exec the closure only makes system calls (setsid, prctl, getppid)
    // through rustix, which calls the kernel directly; it neither allocates nor takes a lock, and
    // its errors are plain numbers.
    unsafe { command.pre_exec(bind_to_holder) };
    let monotonic_ns = monotonic_ns();
    let process = command.spawn()?;
    give_up_streams()?;
    // No one has reaped it yet: until then its number means this very process.
    let start_ticks = steelyard_sampler::start_ticks(Path::new("/"), process.id())?;
    let pid = Pid::from_child(&process);
    Ok(Program {
        pid,
        started: Started {
            pid: process.id(),
            start_ticks,
            monotonic_ns,
        },
        running: true,
    })
}

fn give_up_streams() -> io::Result<()> {
    let nothing = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    dup2_stderr(&nothing)?;
    Ok(())
}
