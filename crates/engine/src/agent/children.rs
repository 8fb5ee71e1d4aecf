//! All processes of one agent, by name.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use rustix::time::Timespec;
use serde_json::Value;
use steelyard_wire::agent::{Answer, Failure, FailureKind};
use steelyard_wire::process::{ProcessState, RunJob};

use super::child::{Child, LAST_GRACE, Readiness, end_all, hangs};
use super::conversation::Done;
use super::runs::RunHandle;
use crate::failure::{bad_request, failure, hint_for, kind_in_words, refused};
use crate::reaper::messages::Started;

/// Ended processes that are still known by name.
const MOST_ENDED: usize = 64;
/// How long a killed process may take to end: longer means it hangs in the kernel.
const PATIENCE: Duration = Duration::from_secs(5);

/// Processes by name.
#[derive(Debug, Default)]
pub(super) struct Children {
    by_name: BTreeMap<String, Child>,
}

impl Children {
    /// Whether a new process may have this name.
    pub(super) fn check_free(&self, name: &str) -> Result<(), Failure> {
        match self.by_name.get(name) {
            Some(child) if !child.is_gone() => Err(bad_request(
                format!(
                    "{name} is running already (process {})",
                    child.started().pid
                ),
                "stop it first, or choose another name",
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn add(&mut self, name: String, child: Child) {
        if self.by_name.len() >= MOST_ENDED {
            self.by_name.retain(|_, child| !child.is_gone());
        }
        self.by_name.insert(name, child);
    }

    pub(super) fn get(&self, name: &str) -> Result<Child, Failure> {
        self.by_name.get(name).cloned().ok_or_else(|| {
            bad_request(
                format!("no process was started under the name {name}"),
                "names are those given to start",
            )
        })
    }

    /// Ends everything: SIGTERM, a moment, SIGKILL to whole trees.
    pub(super) fn end_all(&self) {
        end_all(self.by_name.values());
    }
}

/// Waits until a new process is ready and answers `start`; one that is not ready is ended.
pub(super) fn wait_until_ready(child: &Child, most: Option<Duration>) -> Done {
    let ready_line = match most.map(|most| child.wait_until_ready(most)) {
        None => None,
        Some(Readiness::Ready(line)) => match failure_in(&line) {
            Some(failure) => {
                child.end(LAST_GRACE, PATIENCE);
                return Err(failure);
            }
            None => Some(line),
        },
        Some(unready) => return Err(not_ready(child, &unready)),
    };
    let Started {
        pid, start_ticks, ..
    } = child.started();
    Ok(Answer::Started {
        pid,
        start_ticks,
        ready_line,
    })
}

/// A process that speaks the engine's tongue may say itself why it cannot go on.
fn failure_in(line: &str) -> Option<Failure> {
    let mut document: Value = serde_json::from_str(line).ok()?;
    serde_json::from_value(document.get_mut("error")?.take()).ok()
}

fn not_ready(child: &Child, readiness: &Readiness) -> Failure {
    let late = *readiness == Readiness::TooLate;
    child.end(if late { LAST_GRACE } else { Duration::ZERO }, PATIENCE);
    let state = child.state();
    let words = state.stderr_tail.trim();
    if late {
        let said = if words.is_empty() { "nothing" } else { words };
        let message = format!("it was not ready in time and was ended; it had written: {said}");
        return failure(
            FailureKind::NotReady,
            message,
            hint_for(FailureKind::NotReady),
        );
    }
    let kind = kind_in_words(words).unwrap_or(FailureKind::ProcessDied);
    let message = format!("it ended {} before it was ready: {words}", way(&state));
    failure(kind, message, hint_for(kind))
}

fn way(state: &ProcessState) -> String {
    match (state.exit_code, state.signal) {
        (Some(code), _) => format!("with exit code {code}"),
        (_, Some(signal)) => format!("by signal {signal}"),
        _ => "in an unknown way".to_owned(),
    }
}

/// In words, with its last ones.
pub(super) fn how_it_ended(child: &Child) -> String {
    let state = child.state();
    match state.stderr_tail.trim().lines().last() {
        Some(last) => format!("{} ({last})", way(&state)),
        None => way(&state),
    }
}

/// Answers `status`.
pub(super) fn status(child: &Child) -> Answer {
    Answer::Process(child.state())
}

/// Answers `stop`; `command` ends the process in a way of its own, if there is one.
pub(super) fn stop(child: &Child, grace: Duration, command: Option<(RunHandle, RunJob)>) -> Done {
    let deadline = Instant::now() + grace;
    let left = || deadline.saturating_duration_since(Instant::now());
    let stop_failed = command.and_then(|(handle, job)| {
        let failed = handle
            .run(&job)
            .map_or_else(|f| Some(f.message), |ran| how_it_failed(&ran));
        failed.or_else(|| {
            let late = !child.wait_until_gone(left());
            late.then(|| "it was done, but not everything ended in time".to_owned())
        })
    });
    if !child.end(left(), PATIENCE) {
        return Err(hangs(child));
    }
    Ok(Answer::Process(ProcessState {
        stop_failed,
        ..child.state()
    }))
}

fn how_it_failed(answer: &Answer) -> Option<String> {
    let Answer::Ran(ran) = answer else {
        return None;
    };
    let how = match (ran.exit_code, ran.signal) {
        _ if ran.timed_out => "it did not end in time".to_owned(),
        (Some(0), _) => return None,
        (Some(code), _) => format!("it exited with code {code}"),
        (None, signal) => format!("it was ended by signal {}", signal.unwrap_or_default()),
    };
    let words = ran.stderr.trim().lines().last().unwrap_or_default();
    Some(format!("{how}: {words}"))
}

/// Kills a process by number and start time, with its group; another or no process is left alone.
pub(super) fn kill_stale(pid: u32, start_ticks: u64) -> Done {
    let raw = i32::try_from(pid).ok().filter(|pid| *pid > 1);
    let Some(pid) = raw.and_then(Pid::from_raw) else {
        return Err(bad_request(format!("{pid} is no process id"), "see start"));
    };
    let fd = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(fd) => fd,
        Err(Errno::SRCH) => return Ok(Answer::Done),
        Err(error) => return Err(refused("open the process", &error.into())),
    };
    // Compared after opening: from here on the descriptor means this very process.
    let number = pid.as_raw_nonzero().get().cast_unsigned();
    let same = steelyard_sampler::start_ticks(Path::new("/"), number);
    if !same.is_ok_and(|ticks| ticks == start_ticks) {
        return Ok(Answer::Done);
    }
    // The agent that started it made it the leader of its group.
    let _ = kill_process_group(pid, Signal::KILL);
    match pidfd_send_signal(&fd, Signal::KILL) {
        Ok(()) | Err(Errno::SRCH) => {}
        Err(error) => return Err(refused("kill the process", &error.into())),
    }
    let limit = Timespec {
        tv_sec: PATIENCE.as_secs().cast_signed(),
        tv_nsec: 0,
    };
    match poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&limit)) {
        Ok(0) => Err(failure(
            FailureKind::System,
            format!("process {number} does not end even by SIGKILL"),
            "it hangs in the kernel; look at dmesg",
        )),
        Ok(_) => Ok(Answer::Done),
        Err(error) => Err(refused("wait for the process", &error.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_a_failure_is_taken_as_one() {
        let line = r#"{"error":{"kind":"address_in_use","message":"m","hint":null}}"#;
        assert_eq!(failure_in(line).unwrap().kind, FailureKind::AddressInUse);
        assert_eq!(failure_in(r#"{"listening":"127.0.0.1:1"}"#), None);
        assert_eq!(failure_in("ready"), None);
    }

    #[test]
    fn a_process_of_another_start_time_is_left_alone() {
        let own = std::process::id();
        assert_eq!(kill_stale(own, 0), Ok(Answer::Done));
        assert!(kill_stale(1, 0).is_err());
    }
}
