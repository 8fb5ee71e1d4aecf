//! Conducts a run: starts the workers, says when, watches, gathers.

pub mod job_workers;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use steelyard_net::barrier;
use steelyard_net::clock::{monotonic_ns, realtime_ns};
use steelyard_wire::agent::FailureKind;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::measurement::host::MachineTicks;
use crate::measurement::operation::Window;
use crate::plan::Plan;
use crate::worker::Report;
use crate::worker::control::Control;
use crate::worker::listener::Ended;

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Connections are being opened.
    Connecting,
    /// Operations run but count for nothing.
    Warmup,
    /// Operations count.
    Window,
    /// Operations of the window are being completed, none starts.
    Drain,
}

/// A glance at a run; figures lag by up to 50 ms and are for display only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Where the run is.
    pub stage: Stage,
    /// Since the stage began.
    pub elapsed_ns: u64,
    /// Planned length of the stage, where it has one.
    pub planned_ns: Option<u64>,
    /// Connections established.
    pub connections: u64,
    /// Operations answered well since the run began.
    pub ok: u64,
    /// Operations failed since the run began.
    pub errors: u64,
    /// Operations waiting for an answer.
    pub inflight: u64,
    /// Arrivals waiting for a connection.
    pub backlog: u64,
}

/// What the caller gave to watch and to stop the run with.
pub struct Watch<'a> {
    /// Ends the run early when set.
    pub cancel: &'a AtomicBool,
    /// Called with the progress.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    /// Receives every operation that ends. A run with a receiver goes on without a connection:
    /// each failure is reported.
    pub operations: Option<Sender<Ended>>,
}

/// What a run leaves.
#[derive(Debug)]
pub struct Outcome {
    /// One for each worker.
    pub reports: Vec<Report>,
    /// First instant of the window.
    pub window_start_ns: u64,
    /// The same as Unix time.
    pub window_start_unix_ns: u64,
    /// Share of the machine's CPU time that was stolen in the window.
    pub steal_ratio: Option<f64>,
    /// It was ended on request.
    pub cancelled: bool,
}

/// How often the conductor looks; workers wake it when they end.
const LOOK: Duration = Duration::from_millis(20);
const LOOKS_A_PROGRESS: u32 = 5;

/// So long a run without any connection goes on in the hope for one.
const HOPE_NS: u64 = 1_000_000_000;

/// One worker of a run, to be called in a thread of its own.
pub type Work<'a> = Box<dyn FnOnce(&Control) -> rustix::io::Result<Report> + Send + 'a>;

/// Runs `works`, which share the window of `plan`; each writes on the board of its number.
pub fn conduct(plan: &Plan, watch: &Watch<'_>, works: Vec<Work<'_>>) -> Result<Outcome, LoadError> {
    let control = Control::new(works.len(), watch.operations.clone());
    let conductor = thread::current();
    thread::scope(|scope| {
        let mut handles = Vec::new();
        for (index, work) in works.into_iter().enumerate() {
            let (control, conductor) = (&control, &conductor);
            let work = move || {
                let report = work(control);
                control.boards[index].finished.store(true, Relaxed);
                conductor.unpark();
                report
            };
            let named = thread::Builder::new().name(format!("load-{index}"));
            match named.spawn_scoped(scope, work) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    control.stop(0);
                    return Err(LoadError::Worker(
                        Errno::from_io_error(&error).unwrap_or(Errno::AGAIN),
                    ));
                }
            }
        }
        let watched = watch_run(plan, watch, &control);
        let reports: Result<Vec<Report>, Errno> = handles
            .into_iter()
            // A worker that panics is a defect; the panic was reported on stderr.
            .map(|handle| handle.join().unwrap_or(Err(Errno::CANCELED)))
            .collect();
        let watched = watched?;
        let reports = reports.map_err(LoadError::Worker)?;
        no_connection(plan, &control)?;
        Ok(Outcome { reports, ..watched })
    })
}

/// Follows the run to its end; on an error every worker has been asked to leave.
fn watch_run(plan: &Plan, watch: &Watch<'_>, control: &Control) -> Result<Outcome, LoadError> {
    let began_ns = monotonic_ns();
    let mut looks = 0;
    let mut window: Option<Window> = None;
    let mut ticks_at_start = None;
    let mut ticks_at_end = None;
    let mut cancelled = false;
    while !control.all(|board| &board.finished) {
        let now_ns = monotonic_ns();
        if watch.cancel.load(Relaxed) && !cancelled {
            cancelled = true;
            control.stop(now_ns);
        }
        match window {
            None if hopeless(control, began_ns, now_ns) => control.stop(now_ns),
            None if control.all(|board| &board.ready) => {
                let begun = begin(plan, control, now_ns).inspect_err(|_| control.stop(now_ns));
                window = Some(begun?);
            }
            Some(window) if now_ns >= window.start_ns && ticks_at_start.is_none() => {
                ticks_at_start = MachineTicks::now();
            }
            Some(window) if now_ns >= window.end_ns && ticks_at_end.is_none() => {
                ticks_at_end = MachineTicks::now();
            }
            Some(_) if hopeless(control, began_ns, now_ns) => control.stop(now_ns),
            _ => {}
        }
        if let Some(show) = watch.progress
            && looks % LOOKS_A_PROGRESS == 0
        {
            show(glance(plan, control, window, began_ns, now_ns));
        }
        looks += 1;
        thread::park_timeout(next_look(window, now_ns));
    }
    no_connection(plan, control)?;
    let ended_ns = monotonic_ns();
    let window = window
        .filter(|window| window.start_ns < ended_ns)
        .ok_or(LoadError::Cancelled)?;
    let ticks_at_end = ticks_at_end.or_else(MachineTicks::now);
    Ok(Outcome {
        reports: Vec::new(),
        window_start_ns: window.start_ns,
        window_start_unix_ns: realtime_ns().saturating_sub(ended_ns - window.start_ns),
        steal_ratio: ticks_at_end
            .zip(ticks_at_start)
            .and_then(|(end, start)| end.steal_ratio_since(start)),
        cancelled,
    })
}

fn begin(plan: &Plan, control: &Control, now_ns: u64) -> Result<Window, LoadError> {
    let soonest_ns = now_ns + plan.start_ahead_ns;
    let start_ns = match plan.job.start_at_monotonic_ns {
        Some(at_ns) => soonest_ns + barrier::left_ns(soonest_ns, at_ns)?,
        None => soonest_ns,
    };
    let window_start_ns = start_ns + plan.job.warmup_ns;
    let window = Window {
        start_ns: window_start_ns,
        end_ns: plan.job.duration_ns.map_or(u64::MAX, |length_ns| {
            window_start_ns.saturating_add(length_ns)
        }),
    };
    control.start(start_ns, window);
    Ok(window)
}

/// Look again at the usual time, but not past a border of the window.
fn next_look(window: Option<Window>, now_ns: u64) -> Duration {
    let borders = window.map_or([0, 0], |window| [window.start_ns, window.end_ns]);
    borders
        .into_iter()
        .filter(|border| *border > now_ns)
        .map(|border| Duration::from_nanos(border - now_ns))
        .fold(LOOK, Duration::min)
}

/// Nothing was ever ready, something has failed, and there was time enough for better news.
fn hopeless(control: &Control, began_ns: u64, now_ns: u64) -> bool {
    if control.operations.is_some() {
        return false;
    }
    let all_tried = control.all(|board| &board.ready);
    let patient = now_ns < began_ns + HOPE_NS;
    let failures = control.sum(|board| &board.failures);
    failures > 0 && control.sum(|board| &board.ever_ready) == 0 && all_tried && !patient
}

/// The error of a run that never had a connection.
fn no_connection(plan: &Plan, control: &Control) -> Result<(), LoadError> {
    let ever_ready = control.sum(|board| &board.ever_ready);
    match control.first_failure() {
        Some(kind) if ever_ready == 0 && control.operations.is_none() => {
            Err(LoadError::NoConnection {
                address: plan
                    .addresses
                    .first()
                    .map_or_else(String::new, ToString::to_string),
                kind: failure_kind(kind),
                hint: hint(kind),
                message: format!(
                    "{} after {} tries",
                    kind.word(),
                    control.sum(|board| &board.failures)
                ),
            })
        }
        _ => Ok(()),
    }
}

fn hint(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::AuthFail => "check --user and --password",
        ErrorKind::TlsCert => "give --cacert FILE or --servername NAME; --insecure trusts anybody",
        ErrorKind::TlsHandshake | ErrorKind::TlsAlert => "does the server speak TLS on this port?",
        ErrorKind::CapabilityMissing => "the server does not offer what the job needs",
        ErrorKind::BadProtocol => "does the server speak this protocol on this port?",
        ErrorKind::PopInUse => "give each connection a user of its own: --users N",
        ErrorKind::FdLimit => "raise the limit of open files: ulimit -n",
        ErrorKind::BindFail => "no free port or no such local address: see --source",
        ErrorKind::RecvTimeout => "the server took the connection and said nothing in time",
        _ => "is the server running and listening there?",
    }
}

/// What can be done about a failure of this kind.
pub fn failure_kind(kind: ErrorKind) -> FailureKind {
    match kind {
        ErrorKind::FdLimit | ErrorKind::BindFail => FailureKind::ResourceLimit,
        ErrorKind::PermissionDenied => FailureKind::PermissionDenied,
        ErrorKind::System => FailureKind::System,
        _ => FailureKind::Unreachable,
    }
}

fn glance(
    plan: &Plan,
    control: &Control,
    window: Option<Window>,
    began_ns: u64,
    now_ns: u64,
) -> Progress {
    let (stage, since_ns, planned_ns) = match window {
        None => (Stage::Connecting, began_ns, None),
        Some(window) if now_ns < window.start_ns => (
            Stage::Warmup,
            window.start_ns - plan.job.warmup_ns,
            Some(plan.job.warmup_ns),
        ),
        Some(window) if now_ns < window.end_ns => {
            (Stage::Window, window.start_ns, plan.job.duration_ns)
        }
        Some(window) => (Stage::Drain, window.end_ns, Some(plan.job.drain_ns)),
    };
    Progress {
        stage,
        elapsed_ns: now_ns.saturating_sub(since_ns),
        planned_ns,
        connections: control.sum(|board| &board.connections),
        ok: control.sum(|board| &board.ok),
        errors: control.sum(|board| &board.errors),
        inflight: control.sum(|board| &board.inflight),
        backlog: control.sum(|board| &board.backlog),
    }
}
