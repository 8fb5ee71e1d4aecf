//! One process the agent started: its output, its end, its cost.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::process::{Child as Process, ChildStderr, ChildStdout};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, test_kill_process_group,
    waitid,
};
use steelyard_wire::agent::ProcessState;

use super::tail::Tail;

const STDOUT_TAIL_BYTES: usize = 16 * 1024;
const STDERR_TAIL_BYTES: usize = 4 * 1024;
/// Longest first line kept; the rest of it counts as later output.
const FIRST_LINE_BYTES: usize = 64 * 1024;
const CHUNK_BYTES: usize = 4 * 1024;
/// How long the last words of an ended process are waited for: others may hold its pipes open.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A started process, running or ended. Clones are the same process.
#[derive(Debug, Clone)]
pub(super) struct Child {
    pid: Pid,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    first_line: FirstLine,
    stdout: Tail,
    stderr: Tail,
    output_open: bool,
    ending: bool,
    ended: Option<Ended>,
    /// Others of its process group outlived it.
    group_left: bool,
}

#[derive(Debug)]
enum FirstLine {
    Coming(Vec<u8>),
    Here(String),
}

/// How a process ended and what it had cost.
#[derive(Debug, Clone, Copy)]
struct Ended {
    exit_code: Option<i32>,
    signal: Option<i32>,
    user_ns: u64,
    system_ns: u64,
    max_rss_bytes: u64,
}

/// What came of waiting for the first line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// The line.
    Ready(String),
    /// It ended, or closed its stdout, without a line.
    Ended,
    /// Neither in time.
    TooLate,
}

impl Child {
    /// Takes over a process that was just started.
    pub(super) fn watch(mut process: Process) -> io::Result<Self> {
        let pid = Pid::from_child(&process);
        let (stdout, stderr) = (process.stdout.take(), process.stderr.take());
        let child = Self {
            pid,
            shared: Arc::new(Shared {
                state: Mutex::new(State::new()),
                changed: Condvar::new(),
            }),
        };
        let watched = child.start_threads(stdout, stderr);
        if watched.is_err() {
            // Nobody would ever wait for it: end it here.
            let _ = process.kill().and_then(|()| process.wait());
        }
        watched.map(|()| child)
    }

    fn start_threads(
        &self,
        stdout: Option<ChildStdout>,
        stderr: Option<ChildStderr>,
    ) -> io::Result<()> {
        if let (Some(stdout), Some(stderr)) = (stdout, stderr) {
            let child = self.clone();
            spawn("output", move || child.read_output(stdout, stderr))?;
        }
        let child = self.clone();
        spawn("reaper", move || child.reap())
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().cast_unsigned()
    }

    pub(super) fn is_running(&self) -> bool {
        self.lock().ended.is_none()
    }

    /// Waits for the first line on stdout.
    pub(super) fn wait_until_ready(&self, most: Duration) -> Readiness {
        let state = self.wait_until(most, |state| {
            let silent = state.ended.is_some() || !state.output_open;
            matches!(state.first_line, FirstLine::Here(_)) || silent
        });
        // The end of a process and its last line are seen by two threads, in any order.
        drop(state);
        let state = self.wait_until(LAST_WORDS, |state| {
            let here = matches!(state.first_line, FirstLine::Here(_));
            here || !state.output_open || state.ended.is_none()
        });
        match &state.first_line {
            FirstLine::Here(line) => Readiness::Ready(line.clone()),
            FirstLine::Coming(_) if state.ended.is_some() || !state.output_open => Readiness::Ended,
            FirstLine::Coming(_) => Readiness::TooLate,
        }
    }

    /// SIGTERM to the process; after `grace` SIGKILL to its whole group. `false` if even that does
    /// not end it within `patience`.
    pub(super) fn end(&self, grace: Duration, patience: Duration) -> bool {
        self.ask_to_end();
        if self
            .wait_until(grace, |state| state.ended.is_some())
            .ended
            .is_none()
        {
            self.kill();
        }
        let state = self.wait_until(patience, |state| state.ended.is_some());
        state.ended.is_some()
    }

    /// SIGTERM to the process; its group is killed with its end.
    pub(super) fn ask_to_end(&self) {
        let mut state = self.lock();
        state.ending = true;
        // Under the lock: the number is ours until the process is reaped, which takes the lock.
        if state.ended.is_none() {
            let _ = kill_process(self.pid, Signal::TERM);
        } else if std::mem::take(&mut state.group_left) {
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
    }

    /// SIGKILL to the whole group.
    pub(super) fn kill(&self) {
        let mut state = self.lock();
        state.ending = true;
        if state.ended.is_none() || std::mem::take(&mut state.group_left) {
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
    }

    /// What is known now; the last words of an ended process are waited for a moment.
    pub(super) fn state(&self) -> ProcessState {
        let state = self.wait_until(LAST_WORDS, |state| {
            state.ended.is_none() || !state.output_open
        });
        let ended = state.ended;
        ProcessState {
            running: ended.is_none(),
            exit_code: ended.and_then(|ended| ended.exit_code),
            signal: ended.and_then(|ended| ended.signal),
            user_ns: ended.map(|ended| ended.user_ns),
            system_ns: ended.map(|ended| ended.system_ns),
            max_rss_bytes: ended.map(|ended| ended.max_rss_bytes),
            stderr_tail: state.stderr.text(),
            stdout_tail: state.stdout.text(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        let state = self.shared.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.shared.changed.notify_all();
    }

    fn wait_until(
        &self,
        most: Duration,
        reached: impl Fn(&State) -> bool,
    ) -> MutexGuard<'_, State> {
        let deadline = Instant::now() + most;
        let mut state = self.lock();
        while !reached(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }

    /// Reads both pipes until their ends, so that the process never blocks on a full one.
    fn read_output(&self, mut stdout: ChildStdout, mut stderr: ChildStderr) {
        let (mut out_open, mut err_open) = (true, true);
        let mut chunk = vec![0; CHUNK_BYTES];
        while out_open || err_open {
            let (out_ready, err_ready) =
                wait_for_output(out_open.then_some(&stdout), err_open.then_some(&stderr));
            if out_ready {
                out_open = read_chunk(&mut stdout, &mut chunk, |bytes| {
                    self.change(|state| state.add_stdout(bytes));
                });
                if !out_open {
                    self.change(State::end_first_line);
                }
            }
            if err_ready {
                err_open = read_chunk(&mut stderr, &mut chunk, |bytes| {
                    self.change(|state| state.stderr.add(bytes));
                });
            }
        }
        self.change(|state| state.output_open = false);
    }

    /// Waits for the end. The group is killed before the number is given back to the system.
    fn reap(&self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(Errno::INTR) = waitid(WaitId::Pid(self.pid), options) {}
        self.change(|state| {
            if state.ending {
                let _ = kill_process_group(self.pid, Signal::KILL);
            }
            state.ended = Some(collect(self.pid));
            state.group_left = !state.ending && test_kill_process_group(self.pid).is_ok();
        });
    }
}

impl State {
    fn new() -> Self {
        Self {
            first_line: FirstLine::Coming(Vec::new()),
            stdout: Tail::new(STDOUT_TAIL_BYTES),
            stderr: Tail::new(STDERR_TAIL_BYTES),
            output_open: true,
            ending: false,
            ended: None,
            group_left: false,
        }
    }

    fn add_stdout(&mut self, bytes: &[u8]) {
        let FirstLine::Coming(line) = &mut self.first_line else {
            self.stdout.add(bytes);
            return;
        };
        let end = bytes.iter().position(|byte| *byte == b'\n');
        line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
        if end.is_some() || line.len() >= FIRST_LINE_BYTES {
            self.end_first_line();
        }
        if let Some(end) = end {
            self.stdout.add(&bytes[end + 1..]);
        }
    }

    /// A last line without an end is a line, too.
    fn end_first_line(&mut self) {
        if let FirstLine::Coming(line) = &self.first_line
            && !line.is_empty()
        {
            self.first_line = FirstLine::Here(String::from_utf8_lossy(line).trim().to_owned());
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let builder = std::thread::Builder::new().name(name.to_owned());
    builder.spawn(work).map(|_| ())
}

/// Which of the two can be read, or has ended.
fn wait_for_output(stdout: Option<&ChildStdout>, stderr: Option<&ChildStderr>) -> (bool, bool) {
    let out = stdout.map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
    let err = stderr.map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
    let (has_out, has_err) = (out.is_some(), err.is_some());
    let mut watched: Vec<PollFd<'_>> = out.into_iter().chain(err).collect();
    if poll(&mut watched, None).is_err() {
        return (false, false);
    }
    let ready = |place: usize| !watched[place].revents().is_empty();
    (has_out && ready(0), has_err && ready(usize::from(has_out)))
}

/// `false` at the end of the pipe.
fn read_chunk(pipe: &mut impl Read, chunk: &mut [u8], take: impl FnOnce(&[u8])) -> bool {
    match pipe.read(chunk) {
        Ok(0) => false,
        Ok(count) => {
            take(&chunk[..count]);
            true
        }
        Err(error) => error.kind() == io::ErrorKind::Interrupted,
    }
}

/// Reaps an ended child and reads what it had cost.
fn collect(pid: Pid) -> Ended {
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
    }
}

fn nanoseconds(time: libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_usec).unwrap_or(0) * 1000
}
