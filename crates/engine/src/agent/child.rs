//! One process the agent started: its output, its end, its cost.

use std::io;
use std::process::{Child as Process, ChildStderr, ChildStdout};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, test_kill_process_group,
    waitid,
};
use steelyard_wire::process::ProcessState;

use super::ending::{Ended, collect};
use super::output::{FirstLine, Output, read_both};
use super::tail::Tail;

/// A request may name any number; a month is without end for all that matters.
const LONGEST_WAIT: Duration = Duration::from_secs(30 * 24 * 3600);
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
    output: Output,
    ending: bool,
    ended: Option<Ended>,
    /// Others of its process group outlived it.
    group_left: bool,
}

/// What was kept of a stream, and whether there was more.
pub(super) type Words = (String, bool);

/// What came of waiting for the first line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// The line.
    Ready(String),
    /// It ended without a line.
    Ended,
    /// Neither in time, or it closed its output without a line.
    TooLate,
}

impl Child {
    /// Takes over a process that was just started.
    pub(super) fn watch(mut process: Process, output: Output) -> io::Result<Self> {
        let pid = Pid::from_child(&process);
        let (stdout, stderr) = (process.stdout.take(), process.stderr.take());
        let child = Self {
            pid,
            shared: Arc::new(Shared {
                state: Mutex::new(State::new(output)),
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
            let silent = state.ended.is_some() || !state.output.open;
            matches!(state.output.first_line, FirstLine::Here(_)) || silent
        });
        // The end of a process and its last line are seen by two threads, in any order.
        drop(state);
        let state = self.wait_until(LAST_WORDS, |state| {
            let here = matches!(state.output.first_line, FirstLine::Here(_));
            here || (state.ended.is_some() && !state.output.open)
        });
        match &state.output.first_line {
            FirstLine::Here(line) => Readiness::Ready(line.clone()),
            _ if state.ended.is_some() => Readiness::Ended,
            _ => Readiness::TooLate,
        }
    }

    /// SIGTERM to the process; after `grace` SIGKILL to its whole group. `false` if even that does
    /// not end it within `patience`.
    pub(super) fn end(&self, grace: Duration, patience: Duration) -> bool {
        self.ask_to_end();
        if !self.wait_for_end(grace) {
            self.kill();
        }
        self.wait_for_end(patience)
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

    /// SIGKILL to the whole group; `false` if the process had ended already.
    pub(super) fn kill(&self) -> bool {
        let mut state = self.lock();
        state.ending = true;
        let running = state.ended.is_none();
        if running || std::mem::take(&mut state.group_left) {
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
        running
    }

    /// Whether it ended within `most`.
    pub(super) fn wait_for_end(&self, most: Duration) -> bool {
        let state = self.wait_until(most, |state| state.ended.is_some());
        state.ended.is_some()
    }

    /// How it ended, and what it had written; `None` while it runs.
    pub(super) fn result(&self) -> Option<(Ended, Words, Words)> {
        let state = self.wait_until(LAST_WORDS, |state| !state.output.open);
        let words = |tail: &Tail| (tail.text(), tail.is_cut());
        let output = &state.output;
        Some((state.ended?, words(&output.stdout), words(&output.stderr)))
    }

    /// What is known now; the last words of an ended process are waited for a moment.
    pub(super) fn state(&self) -> ProcessState {
        let state = self.wait_until(LAST_WORDS, |state| {
            state.ended.is_none() || !state.output.open
        });
        let ended = state.ended;
        ProcessState {
            running: ended.is_none(),
            exit_code: ended.and_then(|ended| ended.exit_code),
            signal: ended.and_then(|ended| ended.signal),
            user_ns: ended.map(|ended| ended.user_ns),
            system_ns: ended.map(|ended| ended.system_ns),
            max_rss_bytes: ended.map(|ended| ended.max_rss_bytes),
            stderr_tail: state.output.stderr.text(),
            stdout_tail: state.output.stdout.text(),
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
        let deadline = Instant::now() + most.min(LONGEST_WAIT);
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
    fn read_output(&self, stdout: ChildStdout, stderr: ChildStderr) {
        read_both(stdout, stderr, |heard| {
            self.change(|state| state.output.hear(&heard));
        });
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
    fn new(output: Output) -> Self {
        Self {
            output,
            ending: false,
            ended: None,
            group_left: false,
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let builder = std::thread::Builder::new().name(name.to_owned());
    builder.spawn(work).map(|_| ())
}
