//! One user: submits a message to itself, sees it come, and begins again.

mod journey;

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use steelyard_net::clock::monotonic_ns;
use steelyard_wire::job::Mode;

use super::line::{Line, Patience};
use super::watch::Watch;
use super::{Machines, PHASES};
use crate::measurement::meter::Meter;
use crate::measurement::operation::{Operation, Part};
use crate::measurement::recorder::{Recorder, Shape};
use crate::payload::PayloadTally;
use crate::plan::schedule::Schedule;
use crate::plan::{Plan, Share};
use crate::protocols::Protocol as _;
use crate::protocols::mailboxes::MailFigures;
use crate::protocols::smtp::Smtp;
use crate::tls::TlsTally;
use crate::worker::Report;
use crate::worker::control::{Board, Control};

/// Between two tries to get ready, and between two looks at whether to stop.
const AGAIN: Duration = Duration::from_millis(100);
const LOOK: Duration = Duration::from_millis(1);

/// A user's thread.
pub struct User<'a> {
    plan: &'a Plan,
    share: Share,
    control: &'a Control,
    board: &'a Board,
    machines: Machines,
    submission: Option<Line<Smtp>>,
    watch: Option<Watch>,
    tally: TlsTally,
    recorder: Recorder,
    meter: Meter,
    figures: MailFigures,
    payloads: PayloadTally,
    metering: bool,
    quota: u64,
    /// Closed mode: when the user has thought. Open mode: arrivals that wait.
    due_ns: u64,
    schedule: Option<Schedule>,
    start_ns: u64,
    waiting: VecDeque<u64>,
}

impl<'a> User<'a> {
    /// User `share.worker`, whose board is `board`.
    pub fn new(
        machines: Machines,
        plan: &'a Plan,
        share: Share,
        board: usize,
        control: &'a Control,
    ) -> Self {
        let kept = Shape {
            phases: PHASES.len(),
            kinds: 0,
            open_mode: plan.is_open(),
            interval_ns: plan.interval_ns,
            logged: plan.job.log_file.is_some(),
        };
        let schedule = match plan.job.mode {
            Mode::Open {
                rate_per_s,
                arrival,
                ..
            } => {
                // Each user is a worker of its own.
                let (number, all) = (share.worker, plan.job.threads);
                let seed = plan.job.seed;
                Some(Schedule::new(arrival, rate_per_s, number, all, seed))
            }
            Mode::Closed { .. } => None,
        };
        Self {
            plan,
            share,
            control,
            board: &control.boards[board],
            machines,
            submission: None,
            watch: None,
            tally: TlsTally::default(),
            recorder: Recorder::new(&kept),
            meter: Meter::default(),
            figures: MailFigures::default(),
            payloads: PayloadTally::of_all(),
            metering: false,
            quota: share.operations,
            due_ns: 0,
            schedule,
            start_ns: 0,
            waiting: VecDeque::new(),
        }
    }

    /// Runs until the run is over.
    pub fn run(mut self) -> Report {
        self.first_try();
        while self.control.started().is_none() && !self.control.stopped() {
            std::thread::sleep(LOOK);
        }
        if let Some(start_ns) = self.control.started() {
            self.begin(start_ns);
            while let Some(intended_ns) = self.next_due() {
                if !self.is_ready() {
                    std::thread::sleep(AGAIN);
                    self.waiting.push_front(intended_ns);
                    continue;
                }
                self.operate(intended_ns);
            }
        }
        self.leave()
    }

    /// Before the run: the first connections, tried once before anybody waits for the others.
    fn first_try(&mut self) {
        loop {
            let ready = self.is_ready();
            self.board.ready.store(true, Relaxed);
            if ready || self.control.stopped() || self.control.started().is_some() {
                return;
            }
            std::thread::sleep(AGAIN);
        }
    }

    fn begin(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
        self.recorder.begin(self.control.window());
        if let Mode::Closed { think_time_ns, .. } = self.plan.job.mode {
            let (user, users) = (
                u128::from(self.share.worker),
                u128::from(self.plan.job.threads),
            );
            self.due_ns = start_ns + (u128::from(think_time_ns) * user / users) as u64;
        }
    }

    /// Both connections are there; tries to make them if they are not.
    fn is_ready(&mut self) -> bool {
        let patience = self.patience(monotonic_ns() + self.plan.job.timeout_ns);
        let made = self.make_ready(patience);
        match made {
            Ok(()) => {
                self.board.ever_ready.store(1, Relaxed);
                self.board.connections.store(1, Relaxed);
            }
            Err(kind) => {
                self.board.connection_failed(kind);
                self.recorder.connection_failed(monotonic_ns(), 0, kind);
            }
        }
        made.is_ok()
    }

    fn patience(&self, until_ns: u64) -> Patience<'a> {
        Patience {
            until_ns,
            control: self.control,
        }
    }

    /// Waits for the next operation that is due; `None` when there is none any more.
    fn next_due(&mut self) -> Option<u64> {
        loop {
            self.cross_borders();
            let now_ns = monotonic_ns();
            if self.control.stopped() || self.quota == 0 {
                return None;
            }
            self.take_arrivals(now_ns);
            if let Some(intended_ns) = self.waiting.pop_front() {
                let over = now_ns >= self.control.window().end_ns;
                if over {
                    self.recorder.unsent(self.recorder.window.part(intended_ns));
                    continue;
                }
                return Some(intended_ns);
            }
            if now_ns >= self.control.window().end_ns {
                return None;
            }
            let next_ns = self.next_instant().min(now_ns + LOOK.as_nanos() as u64 * 5);
            std::thread::sleep(Duration::from_nanos(next_ns.saturating_sub(now_ns)));
        }
    }

    fn next_instant(&self) -> u64 {
        match &self.schedule {
            Some(schedule) => self.start_ns.saturating_add(schedule.next_ns()),
            None => self.due_ns,
        }
    }

    /// What is due by `now_ns` waits for its turn, as far as there is room.
    fn take_arrivals(&mut self, now_ns: u64) {
        let end_ns = self.control.window().end_ns;
        if self.schedule.is_none() && self.due_ns <= now_ns && self.waiting.is_empty() {
            // A user who could not begin before is ready only now.
            if now_ns < end_ns {
                self.recorder.intended(self.recorder.window.part(now_ns));
                self.waiting.push_back(now_ns);
                self.due_ns = u64::MAX;
            }
            return;
        }
        while self.schedule.is_some() && self.next_instant() <= now_ns.min(end_ns - 1) {
            let at_ns = self.next_instant();
            let part = self.recorder.window.part(at_ns);
            self.recorder.intended(part);
            if self.waiting.len() as u64 >= self.share.max_backlog.max(1) {
                self.recorder.unsent(part);
            } else {
                self.waiting.push_back(at_ns);
            }
            if let Some(schedule) = &mut self.schedule {
                schedule.advance();
            }
        }
        self.board.backlog.store(self.waiting.len() as u64, Relaxed);
    }

    /// One message, from MAIL to its appearance.
    fn operate(&mut self, intended_ns: u64) {
        let now_ns = monotonic_ns();
        let part = self.recorder.window.part(intended_ns);
        self.quota -= u64::from(part == Part::Window);
        let operation = Operation {
            intended_ns,
            sent_ns: now_ns,
            phase_start_ns: now_ns,
            part,
        };
        // Its connections were ready and idle: what is late is late by this thread, unless the
        // message before took longer.
        let possible_ns = self.due_ns.max(intended_ns).min(now_ns);
        self.recorder.sent(&operation, possible_ns);
        self.board.inflight.store(1, Relaxed);
        let patience = self.patience(now_ns.saturating_add(self.plan.job.timeout_ns));
        let ending = self.deliver(&operation, patience);
        self.board.inflight.store(0, Relaxed);
        if self.control.stopped() && ending.outcome.is_err() {
            self.recorder.counts.inflight_at_stop += u64::from(part == Part::Window);
            return;
        }
        match ending.outcome {
            Ok(()) => {
                self.recorder.ok(&operation, 0, ending.at_ns);
                self.board.ok.fetch_add(1, Relaxed);
            }
            Err((phase, kind)) => {
                self.recorder
                    .failed(&operation, 0, ending.at_ns, phase, kind);
                self.board.errors.fetch_add(1, Relaxed);
            }
        }
        let done_ns = monotonic_ns();
        self.due_ns = match self.plan.job.mode {
            Mode::Closed { think_time_ns, .. } => done_ns.saturating_add(think_time_ns),
            Mode::Open { .. } => done_ns,
        };
    }

    fn cross_borders(&mut self) {
        let window = self.control.window();
        self.recorder.window.end_ns = window.end_ns;
        let part = window.part(monotonic_ns());
        if part == Part::Window && !std::mem::replace(&mut self.metering, true) {
            self.meter.start();
        }
        if part == Part::After {
            self.meter.stop();
        }
    }

    fn leave(mut self) -> Report {
        self.meter.stop();
        let now_ns = monotonic_ns();
        if self.schedule.is_some() && self.quota > 0 {
            self.take_arrivals(now_ns);
        }
        while let Some(intended_ns) = self.waiting.pop_front() {
            self.recorder.unsent(self.recorder.window.part(intended_ns));
        }
        if let (Some(line), now_ns) = (&mut self.submission, now_ns) {
            let out = crate::protocols::Output {
                head: line.protocol.farewell().to_vec(),
                tail: 0..0,
            };
            let patience = Patience {
                until_ns: now_ns + LOOK.as_nanos() as u64,
                control: self.control,
            };
            // A courtesy: nobody waits for the answer.
            let _ = line.say(&out, patience);
        }
        self.board.finished.store(true, Relaxed);
        let of_watch = self.watch.as_ref().and_then(Watch::payload);
        let payload = of_watch.unwrap_or_else(|| self.payloads.payload());
        let by_quota = self.plan.job.operations.is_some() && self.quota == 0;
        let last_ns = if by_quota {
            self.recorder.last_done_ns
        } else {
            u64::MAX
        };
        Report {
            window_end_ns: self.recorder.window.end_ns.min(now_ns).min(last_ns),
            most_established: u32::from(self.board.ever_ready.load(Relaxed) > 0),
            recorder: self.recorder,
            meter: self.meter,
            tls: self.tally,
            payload: Some(payload),
            mail: Some(self.figures),
        }
    }
}
