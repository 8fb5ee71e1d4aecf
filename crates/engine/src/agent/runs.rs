//! Programs that are run to their end: several at once, and all of them can be cancelled.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ChildStdin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use steelyard_net::barrier;
use steelyard_net::clock::monotonic_ns;
use steelyard_wire::agent::{Answer, Failure, FailureKind};
use steelyard_wire::process::{Ran, RunJob};

use super::child::{Child, end_all, hangs};
use super::conversation::Done;
use super::launch::{Order, launch};
use super::output::Output;
use crate::failure::{failure, off_barrier, refused};

/// How long a killed program may take to end.
const PATIENCE: Duration = Duration::from_secs(5);
/// The holder of a program that starts at a given time is there this much before, and waits: the
/// start of a process takes milliseconds.
const AHEAD: Duration = Duration::from_millis(100);
/// More than this of a stream is never kept.
const MOST_KEPT_BYTES: u64 = 64 << 20;

/// All runs of one agent. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Runs {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    cancelled: Condvar,
}

#[derive(Debug, Default)]
struct State {
    last: u64,
    runs: BTreeMap<u64, Run>,
    /// Programs that ended and left daemons behind.
    left: Vec<Child>,
}

#[derive(Debug, Default)]
struct Run {
    child: Option<Child>,
    cancelled: bool,
}

/// One run, from its request to its answer.
#[derive(Debug)]
pub(super) struct RunHandle {
    runs: Runs,
    number: u64,
}

impl Runs {
    /// Takes a run in; from here on it can be cancelled.
    pub(super) fn enter(&self) -> RunHandle {
        let mut state = self.lock();
        state.last += 1;
        let number = state.last;
        state.runs.insert(number, Run::default());
        let runs = self.clone();
        RunHandle { runs, number }
    }

    /// Kills what runs, and what waits for its time never starts.
    pub(super) fn cancel(&self) {
        for run in self.lock().runs.values_mut() {
            run.cancelled |= run.child.as_ref().is_none_or(Child::kill);
        }
        self.shared.cancelled.notify_all();
    }

    /// Ends all, daemons that programs left over too.
    pub(super) fn end_all(&self) {
        self.cancel();
        let left = std::mem::take(&mut self.lock().left);
        end_all(left.iter());
    }

    /// What a program left over lives on, at most until the end of the agent.
    fn keep(&self, child: &Child) {
        let mut state = self.lock();
        state.left.retain(|child| !child.is_gone());
        if !child.is_gone() {
            state.left.push(child.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        let state = self.shared.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunHandle {
    /// Runs the program and answers when it has ended.
    pub(super) fn run(self, job: &RunJob) -> Done {
        if let Some(at_ns) = job.start_at_monotonic_ns {
            let left = barrier::left_ns(monotonic_ns(), at_ns);
            let left_ns = left.map_err(off_barrier)?;
            self.wait_for_start(Duration::from_nanos(left_ns).saturating_sub(AHEAD))?;
        }
        let child = start(job)?;
        self.hold(&child);
        let timed_out = !child.wait_for_end(Duration::from_millis(job.timeout_ms)) && child.kill();
        if !child.wait_for_end(PATIENCE) {
            return Err(hangs(&child));
        }
        // Only daemons may outlive their answer: what else there was, the holder too, is gone then.
        let all_ends = timed_out || self.is_cancelled() || child.was_alone();
        if all_ends && !child.wait_until_gone(PATIENCE) {
            return Err(hangs(&child));
        }
        self.runs.keep(&child);
        let (ended, stdout, stderr) = child.result();
        let ended = ended.ok_or_else(|| {
            let message = "somebody killed its holder: it was ended with it";
            failure(FailureKind::System, message, None)
        })?;
        Ok(Answer::Ran(Ran {
            exit_code: ended.exit_code,
            signal: ended.signal,
            stdout: stdout.0,
            stderr: stderr.0,
            stdout_truncated: stdout.1,
            stderr_truncated: stderr.1,
            timed_out,
            cancelled: self.is_cancelled(),
            started_monotonic_ns: child.started().monotonic_ns,
            ended_monotonic_ns: ended.monotonic_ns,
            user_ns: ended.user_ns,
            system_ns: ended.system_ns,
            max_rss_bytes: ended.max_rss_bytes,
        }))
    }

    fn wait_for_start(&self, left: Duration) -> Result<(), Failure> {
        let deadline = Instant::now() + left;
        let mut state = self.runs.lock();
        loop {
            if state
                .runs
                .get(&self.number)
                .is_some_and(|run| run.cancelled)
            {
                let message = "it was cancelled before its time to start";
                return Err(failure(FailureKind::Cancelled, message, None));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            let waited = self.runs.shared.cancelled.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// From here on cancelling kills the process; it may have been asked for a moment ago.
    fn hold(&self, child: &Child) {
        let mut state = self.runs.lock();
        if let Some(run) = state.runs.get_mut(&self.number) {
            run.child = Some(child.clone());
            if run.cancelled {
                child.kill();
            }
        }
    }

    fn is_cancelled(&self) -> bool {
        let state = self.runs.lock();
        state
            .runs
            .get(&self.number)
            .is_some_and(|run| run.cancelled)
    }
}

impl Drop for RunHandle {
    fn drop(&mut self) {
        self.runs.lock().runs.remove(&self.number);
    }
}

fn start(job: &RunJob) -> Result<Child, Failure> {
    let mut launched = launch(&Order {
        argv: &job.argv,
        environment: &job.environment,
        directory: job.directory.as_deref(),
        has_input: job.stdin.is_some(),
        start_at_ns: job.start_at_monotonic_ns,
    })?;
    let pipe = launched.holder.stdin.take();
    let most = usize::try_from(job.keep_bytes.min(MOST_KEPT_BYTES)).unwrap_or(usize::MAX);
    let output = Output::without_first_line(most);
    let child = Child::watch(launched, output).map_err(|e| refused("watch a process", &e))?;
    if let (Some(pipe), Some(text)) = (pipe, job.stdin.clone()) {
        write_apart(pipe, text).map_err(|error| {
            child.kill();
            refused("start a thread", &error)
        })?;
    }
    Ok(child)
}

/// A program may read slowly, or never: its output is read meanwhile.
fn write_apart(mut pipe: ChildStdin, text: String) -> std::io::Result<()> {
    let builder = std::thread::Builder::new().name("input".to_owned());
    // A program need not read all it is given; that it closed its input is no failure.
    builder
        .spawn(move || drop(pipe.write_all(text.as_bytes())))
        .map(drop)
}
