//! One process the agent started: its output, its end, its cost, and what it leaves.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use steelyard_wire::agent::{Failure, FailureKind};
use steelyard_wire::process::ProcessState;

use super::launch::{Launched, reap};
use super::output::{FirstLine, Output};
use super::tail::Tail;
use super::watch::{Event, Watch};
use crate::failure::failure;
use crate::reaper::messages::{Ended, KILL, Started, TERMINATE};

/// A request may name any number; a month is without end for all that matters.
const LONGEST_WAIT: Duration = Duration::from_secs(30 * 24 * 3600);

/// A started process, running or ended. Clones are the same process; when the last one is dropped,
/// How long processes may take to end by themselves when the agent ends.
pub(super) const LAST_GRACE: Duration = Duration::from_millis(400);

/// its holder ends what is left of the tree.
#[derive(Debug, Clone)]
pub(super) struct Child {
    started: Started,
    shared: Arc<Shared>,
    control: Arc<UnixStream>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    output: Output,
    ended: Option<Ended>,
    /// It left nothing behind.
    alone: bool,
    /// Nothing is left of what it started, either.
    gone: bool,
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
    /// Neither in time.
    TooLate,
}

impl Child {
    /// Takes over a process that was just started.
    pub(super) fn watch(launched: Launched, output: Output) -> std::io::Result<Self> {
        let Launched {
            mut holder,
            control,
            started,
        } = launched;
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                output,
                ended: None,
                alone: false,
                gone: false,
            }),
            changed: Condvar::new(),
        });
        let child = Self {
            started,
            control: Arc::new(control.get_ref().try_clone()?),
            shared: Arc::clone(&shared),
        };
        let mut watch = Watch::new(control, holder.stdout.take(), holder.stderr.take());
        let builder = std::thread::Builder::new().name("watch".to_owned());
        // Should there be no thread, both ends of the socket are dropped: the holder ends the tree.
        builder.spawn(move || {
            watch.run(|event| shared.change(|state| state.take(event)));
            drop(watch);
            reap(&mut holder);
            shared.change(|state| state.gone = true);
        })?;
        Ok(child)
    }

    pub(super) fn started(&self) -> Started {
        self.started
    }

    /// Whether the process itself runs.
    pub(super) fn is_running(&self) -> bool {
        let state = self.shared.lock();
        state.ended.is_none() && !state.gone
    }

    /// Whether it ended and left nothing behind but its holder, which is about to end.
    pub(super) fn was_alone(&self) -> bool {
        self.shared.lock().alone
    }

    /// Whether nothing is left: neither the process nor anything it started.
    pub(super) fn is_gone(&self) -> bool {
        self.shared.lock().gone
    }

    /// Waits for the first line on stdout.
    pub(super) fn wait_until_ready(&self, most: Duration) -> Readiness {
        let state = self.shared.wait_until(most, |state| {
            matches!(state.output.first_line, FirstLine::Here(_)) || state.has_ended()
        });
        match &state.output.first_line {
            FirstLine::Here(line) => Readiness::Ready(line.clone()),
            _ if state.has_ended() => Readiness::Ended,
            _ => Readiness::TooLate,
        }
    }

    /// SIGTERM; after `grace` SIGKILL to all that is left. `false` if even that does not end it
    /// within `patience`.
    pub(super) fn end(&self, grace: Duration, patience: Duration) -> bool {
        self.ask_to_end();
        if !self.wait_until_gone(grace) {
            self.kill();
        }
        self.wait_until_gone(patience)
    }

    /// SIGTERM to the process, whose end then is that of all it started; to all it left over if
    /// it has ended already.
    pub(super) fn ask_to_end(&self) {
        self.tell(TERMINATE);
    }

    /// SIGKILL to all; `false` if the process itself had ended already.
    pub(super) fn kill(&self) -> bool {
        let running = self.is_running();
        self.tell(KILL);
        running
    }

    /// Whether it ended within `most`.
    pub(super) fn wait_for_end(&self, most: Duration) -> bool {
        self.shared.wait_until(most, State::has_ended).has_ended()
    }

    /// Whether all of it ended within `most`.
    pub(super) fn wait_until_gone(&self, most: Duration) -> bool {
        self.shared.wait_until(most, |state| state.gone).gone
    }

    /// How it ended, and what it had written until then; no end is known while it runs, and of one
    /// whose holder was killed.
    pub(super) fn result(&self) -> (Option<Ended>, Words, Words) {
        let state = self.shared.lock();
        let words = |tail: &Tail| (tail.text(), tail.is_cut());
        let output = &state.output;
        (state.ended, words(&output.stdout), words(&output.stderr))
    }

    /// What is known now.
    pub(super) fn state(&self) -> ProcessState {
        let state = self.shared.lock();
        let ended = state.ended;
        ProcessState {
            running: !state.has_ended(),
            tree_running: !state.gone,
            exit_code: ended.and_then(|ended| ended.exit_code),
            signal: ended.and_then(|ended| ended.signal),
            user_ns: ended.map(|ended| ended.user_ns),
            system_ns: ended.map(|ended| ended.system_ns),
            max_rss_bytes: ended.map(|ended| ended.max_rss_bytes),
            stderr_tail: state.output.stderr.text(),
            stdout_tail: state.output.stdout.text(),
            stop_failed: None,
        }
    }

    /// A holder that is gone receives nothing, and needs not.
    fn tell(&self, letter: u8) {
        let _ = (&*self.control).write_all(&[letter]);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
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
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }
}

impl State {
    fn has_ended(&self) -> bool {
        self.ended.is_some() || self.gone
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Output(chunk) => self.output.take(&chunk),
            Event::Ended { how, alone } => {
                self.ended = Some(how);
                self.alone = alone;
            }
        }
    }
}

/// Ends all of these: SIGTERM, a moment, SIGKILL to whole trees.
pub(super) fn end_all<'a>(children: impl Iterator<Item = &'a Child> + Clone) {
    children.clone().for_each(Child::ask_to_end);
    let deadline = Instant::now() + LAST_GRACE;
    for child in children {
        child.end(
            deadline.saturating_duration_since(Instant::now()),
            LAST_GRACE,
        );
    }
}

/// What is said of a process that stays although it was killed.
pub(super) fn hangs(child: &Child) -> Failure {
    let message = format!(
        "what was started as process {} does not end even by SIGKILL",
        child.started().pid
    );
    let hint = "it hangs in the kernel, often on a disk or network mount; look at dmesg";
    failure(FailureKind::System, message, hint)
}
