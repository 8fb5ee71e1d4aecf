//! Starting a process that cannot outlive the agent, nor can anything it starts: each has a
//! holder (`reaper/`), which the agent starts from its own binary.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{Pid, WaitOptions, getpid, setsid, waitpid};
use steelyard_wire::agent::{Failure, FailureKind};

use crate::failure::{bad_request, failure, hint_for, refused, refused_path};
use crate::reaper::messages::{Started, Word};
use crate::reaper::tree;

/// First word of an argv that stands for this binary.
const ENGINE: &str = "@engine";
/// This binary, even if its file was replaced since.
const OWN_BINARY: &str = "/proc/self/exe";
/// Passes over orphans before those that remain are given up: they hang in the kernel.
const PASSES: u32 = 500;
const BETWEEN_PASSES: Duration = Duration::from_millis(2);

/// What is to be started, and how.
#[derive(Debug)]
pub(super) struct Order<'a> {
    pub(super) argv: &'a [String],
    pub(super) environment: &'a BTreeMap<String, String>,
    pub(super) directory: Option<&'a str>,
    pub(super) has_input: bool,
    pub(super) start_at_ns: Option<u64>,
}

/// A holder whose program runs.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) holder: Child,
    pub(super) control: BufReader<UnixStream>,
    pub(super) started: Started,
}

/// Starts a program in a session of its own, its output in pipes; returns when it runs.
pub(super) fn launch(order: &Order<'_>) -> Result<Launched, Failure> {
    let Some(name) = order.argv.first() else {
        return Err(bad_request("argv is empty", "name a program"));
    };
    if let Some(directory) = order.directory {
        check_directory(Path::new(directory))?;
    }
    let (own, theirs) = UnixStream::pair().map_err(|e| refused("make a socket", &e))?;
    let mut command = holder(order, theirs.as_raw_fd())?;
    let mut holder = {
        let mut holders = holders();
        let holder = command.spawn().map_err(|error| not_started(name, &error))?;
        holders.insert(holder.id());
        holder
    };
    // The holder's end must be the holder's alone: its closing is how its end is seen.
    drop(theirs);
    let mut control = BufReader::new(own);
    match first_word(&mut control) {
        Ok(Word::Started(started)) => Ok(Launched {
            holder,
            control,
            started,
        }),
        Ok(Word::Refused { errno, message }) => {
            drop(control);
            reap(&mut holder);
            let error =
                errno.map_or_else(|| io::Error::other(message), io::Error::from_raw_os_error);
            Err(not_started(name, &error))
        }
        _ => {
            drop(control);
            reap(&mut holder);
            let message = format!("cannot start {name}: its holder ended first");
            Err(failure(FailureKind::Cancelled, message, None))
        }
    }
}

fn holder(order: &Order<'_>, control: i32) -> Result<Command, Failure> {
    let mut command = Command::new(OWN_BINARY);
    command.arg0("steelyard-engine");
    command.args(["hold", "--control", &control.to_string()]);
    if let Some(at_ns) = order.start_at_ns {
        command.args(["--start-at", &at_ns.to_string()]);
    }
    command.arg("--");
    if let Some((ENGINE, arguments)) = order.argv.split_first().map(|(n, a)| (n.as_str(), a)) {
        command.arg(std::env::current_exe().map_err(|e| refused("find the engine", &e))?);
        command.args(arguments);
    } else {
        command.args(order.argv);
    }
    command.envs(order.environment);
    if let Some(directory) = order.directory {
        command.current_dir(directory);
    }
    let stdin = if order.has_input {
        Stdio::piped()
    } else {
        Stdio::null()
    };
    command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let pass_on = move || -> io::Result<()> {
        setsid()?;
        // SAFETY: the descriptor is open: the agent closes its copy after the start only.
        let control = unsafe { BorrowedFd::borrow_raw(control) };
        Ok(fcntl_setfd(control, FdFlags::empty())?)
    };
    // SAFETY: between fork and exec the closure only makes system calls (setsid, fcntl) through
    // rustix, which calls the kernel directly; it neither allocates nor takes a lock, and its
    // errors are plain numbers.
    unsafe { command.pre_exec(pass_on) };
    Ok(command)
}

fn first_word(control: &mut BufReader<UnixStream>) -> io::Result<Word> {
    let mut line = Vec::new();
    control.read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line)?)
}

/// Waits for a holder that has closed its socket. One that did not end by itself leaves orphans:
/// the kernel handed them to the agent, which ends them.
pub(super) fn reap(holder: &mut Child) {
    let mut holders = holders();
    let well = holder.wait().is_ok_and(|status| status.success());
    holders.remove(&holder.id());
    if !well {
        end_orphans(&holders);
    }
}

/// Holders that run; whoever else is a child of the agent is an orphan of a holder that was killed.
fn holders() -> MutexGuard<'static, BTreeSet<u32>> {
    static HOLDERS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
    HOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn end_orphans(holders: &BTreeSet<u32>) {
    for _ in 0..PASSES {
        let mut left = false;
        for orphan in tree::children(Path::new("/"), std::process::id()) {
            let pid = i32::try_from(orphan).ok().and_then(Pid::from_raw);
            if let Some(pid) = pid.filter(|_| !holders.contains(&orphan)) {
                left = true;
                tree::kill_below(pid);
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
        }
        if !left {
            return;
        }
        std::thread::sleep(BETWEEN_PASSES);
    }
}

/// From now on the kernel hands orphans of killed holders to this process.
pub(super) fn take_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(getpid()))?)
}

fn check_directory(directory: &Path) -> Result<(), Failure> {
    match std::fs::metadata(directory) {
        Ok(data) if data.is_dir() => Ok(()),
        Ok(_) => Err(bad_request(
            format!("{} is no folder", directory.display()),
            "name a folder to work in",
        )),
        Err(error) => Err(refused_path("work in", directory, &error)),
    }
}

fn not_started(program: &str, error: &io::Error) -> Failure {
    let failed = refused(&format!("start {program}"), error);
    match Errno::from_io_error(error) {
        Some(Errno::NOEXEC) => {
            let kind = FailureKind::BadRequest;
            let hint = "it is no program for this machine";
            failure(kind, failed.message, hint)
        }
        Some(Errno::TOOBIG) => failure(
            FailureKind::BadRequest,
            failed.message,
            "pass less by argument and environment",
        ),
        _ => failure(failed.kind, failed.message, hint_for(failed.kind)),
    }
}
