//! One worker: an event loop with its own connections, schedule and records. Shares nothing.

mod arrivals;
mod dial;
mod drive;
mod leave;
mod operate;
mod secure;
mod send;
mod side;
mod side_read;
mod side_send;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering::Relaxed;

use rustix::io;
use steelyard_net::clock::monotonic_ns;
use steelyard_net::poller::{Event, Poller};
use steelyard_net::usage;
use steelyard_wire::result::Payload;

use crate::connection::{Connection, NEVER};
use crate::control::{Board, Control};
use crate::listener::Listener;
use crate::meter::Meter;
use crate::operation::Part;
use crate::pace::Pace;
use crate::plan::{Plan, Share};
use crate::protocols::mailboxes::MailFigures;
use crate::protocols::{Output, Protocol};
use crate::recorder::{Recorder, Shape};
use crate::side::Sides;
use crate::tls::TlsTally;

/// Read at once from one connection; larger replies take several reads.
const BUFFER_BYTES: usize = 64 * 1024;

/// Taken from one wait; those at the end of a batch wait for those before.
const EVENTS_AT_ONCE: usize = 256;

/// Between two looks at the conductor's wishes.
const TICK_NS: u64 = 10_000_000;
const TICK_WHILE_CONNECTING_NS: u64 = 1_000_000;

/// Where a worker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Connecting,
    Running,
    Draining,
}

/// What a worker leaves behind.
#[derive(Debug)]
pub struct Report {
    /// What it measured.
    pub recorder: Recorder,
    /// What it spent.
    pub meter: Meter,
    /// What its connections agreed on.
    pub tls: TlsTally,
    /// Payloads that it checked.
    pub payload: Option<Payload>,
    /// What it did to mailboxes.
    pub mail: Option<MailFigures>,
    /// Most connections established at the same time in the window.
    pub most_established: u32,
    /// When its part of the window was over.
    pub window_end_ns: u64,
}

/// An event loop over connections of one protocol.
pub struct Worker<'a, P: Protocol> {
    protocol: P,
    plan: &'a Plan,
    control: &'a Control,
    board: &'a Board,
    poller: Poller,
    events: Vec<Event>,
    buffer: Vec<u8>,
    out: Output,
    /// Clear text out of TLS, and what TLS made of clear text.
    clear: Vec<u8>,
    encrypted: Vec<u8>,
    tls_tally: TlsTally,
    /// Messages moved by good operations of the window.
    moved: MailFigures,
    /// Operations that a connection can carry at once.
    lanes: usize,
    /// Connections are opened when operations need them.
    on_demand: bool,
    /// The connection whose output is gathered until its input is read.
    batching: Option<usize>,
    /// Lanes of that connection that were started but not sent, and since when that was possible.
    unstamped: Vec<(u32, u64)>,
    connections: Vec<Connection<P::Session>>,
    /// Connections that were there when they were asked for: place, generation, since when.
    there: Vec<(u32, u32, u64)>,
    /// Memory for the next such list.
    welcomed: Vec<(u32, u32, u64)>,
    sides: Sides,
    pace: Pace,
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    recorder: Recorder,
    /// Hears of every operation that ends.
    listener: Option<Box<Listener>>,
    meter: Meter,
    stage: Stage,
    metering: bool,
    /// Operations it may still start in the window.
    quota: u64,
    /// Those that the user of each place may still start; empty without such a limit.
    quotas: Vec<u64>,
    /// When the connection was there that the operation of each place began with; 0 for none.
    connected_ns: Vec<u64>,
    inflight: u64,
    inflight_of_window: u64,
    established: u32,
    most_established: u32,
    /// First place that was not tried yet, and tries on their way (only while connecting).
    next_untried: usize,
    trying: usize,
    /// First user that has not begun (closed mode).
    next_user: usize,
    untried: usize,
    next_tick_ns: u64,
    next_scan_ns: u64,
    guard_ns: u64,
}

impl<'a, P: Protocol> Worker<'a, P> {
    /// A worker with all its memory, and no connection yet; it writes on `board`.
    pub fn new(
        mut protocol: P,
        plan: &'a Plan,
        share: &Share,
        board: usize,
        control: &'a Control,
    ) -> io::Result<Self> {
        // Without it deadlines are met 50 µs late at best; a kernel that refuses shows in lateness.
        let _ = usage::set_timer_slack_ns(1);
        let poller = Poller::new()?;
        let guard_ns = if plan.is_open() && plan.job.spin {
            arrivals::wake_up_lateness_ns(&poller)?
        } else {
            0
        };
        let places = share.connections as usize;
        let lanes = protocol.lanes().max(1);
        let connections = (0..places)
            .map(|place| Connection::vacant(protocol.open(place), lanes))
            .collect();
        let kinds = protocol.kinds();
        let listener = control.operations.as_ref().map(|operations| {
            let sender = operations.clone();
            Box::new(Listener::new(sender, P::PHASES, kinds.clone(), places))
        });
        Ok(Self {
            plan,
            control,
            board: &control.boards[board],
            poller,
            events: Vec::with_capacity(EVENTS_AT_ONCE),
            buffer: vec![0; BUFFER_BYTES],
            out: Output::default(),
            clear: Vec::new(),
            encrypted: Vec::new(),
            tls_tally: TlsTally::default(),
            moved: MailFigures::default(),
            lanes,
            on_demand: protocol.one_shot() || plan.is_unbounded(),
            batching: None,
            unstamped: Vec::new(),
            connections,
            there: Vec::new(),
            welcomed: Vec::new(),
            sides: Sides::new(if P::HAS_SIDE { places } else { 0 }),
            pace: Pace::new(plan, share),
            timers: BinaryHeap::with_capacity(places),
            recorder: Recorder::new(&Shape {
                phases: P::PHASES.len(),
                kinds: kinds.len(),
                open_mode: plan.is_open(),
                interval_ns: plan.interval_ns,
                logged: plan.job.log_file.is_some(),
            }),
            listener,
            meter: Meter::default(),
            stage: Stage::Connecting,
            metering: false,
            quota: share.operations,
            quotas: (share.operations_per_user).map_or_else(Vec::new, |each| vec![each; places]),
            connected_ns: vec![0; places],
            inflight: 0,
            inflight_of_window: 0,
            established: 0,
            most_established: 0,
            next_untried: 0,
            trying: 0,
            next_user: if plan.is_open() { places } else { 0 },
            untried: places,
            next_tick_ns: 0,
            next_scan_ns: 0,
            guard_ns,
            protocol,
        })
    }

    /// Runs until the run is over.
    pub fn run(mut self) -> Report {
        self.open_first();
        loop {
            let now_ns = monotonic_ns();
            if now_ns >= self.next_tick_ns {
                self.tick(now_ns);
            }
            if self.is_over(now_ns) {
                return self.leave(now_ns);
            }
            self.fire_timers(now_ns);
            if P::HAS_SIDE {
                self.fire_side_timers(now_ns);
            }
            if self.has_users_to_start() {
                self.start_more_users();
            }
            self.welcome();
            self.send_arrivals(now_ns);
            self.wait(now_ns);
            for index in 0..self.events.len() {
                let event = self.events[index];
                self.handle(event);
                self.welcome();
            }
        }
    }

    /// Everything that need not happen for each operation.
    fn tick(&mut self, now_ns: u64) {
        if let Some(start_ns) = self.control.started() {
            self.recorder.window.end_ns = self.control.window().end_ns;
            if self.stage == Stage::Connecting && now_ns >= start_ns {
                self.begin(start_ns, now_ns);
            }
        } else {
            self.try_more();
        }
        self.cross_borders(now_ns);
        if now_ns >= self.next_scan_ns {
            self.scan_timeouts(now_ns);
        }
        if self.recorder.window.part(now_ns) == Part::Window {
            self.recorder
                .series
                .note(now_ns, self.inflight, self.pace.backlog());
        }
        self.publish();
        self.next_tick_ns = self.tick_after(now_ns);
    }

    fn begin(&mut self, start_ns: u64, now_ns: u64) {
        self.stage = Stage::Running;
        self.recorder.begin(self.control.window());
        self.pace.begin(start_ns);
        // Before the first byte goes out: it may belong to the window.
        self.cross_borders(now_ns);
    }

    fn cross_borders(&mut self, now_ns: u64) {
        let part = self.recorder.window.part(now_ns);
        if part == Part::Window && self.stage == Stage::Running && !self.metering {
            self.metering = true;
            self.most_established = self.established;
            self.meter.start();
        }
        if part == Part::After && self.stage == Stage::Running {
            self.stage = Stage::Draining;
            self.meter.stop();
        }
    }

    fn tick_after(&self, now_ns: u64) -> u64 {
        let usual_ns = match self.stage {
            Stage::Connecting => TICK_WHILE_CONNECTING_NS,
            Stage::Running | Stage::Draining => TICK_NS,
        };
        let window = self.recorder.window;
        let borders = [
            window.start_ns,
            window.end_ns,
            self.control.started().unwrap_or(NEVER),
        ];
        borders
            .into_iter()
            .filter(|border| *border > now_ns)
            .fold(now_ns + usual_ns, u64::min)
    }

    fn publish(&self) {
        let board = self.board;
        board.ready.store(self.untried == 0, Relaxed);
        board
            .connections
            .store(u64::from(self.established), Relaxed);
        board.inflight.store(self.inflight, Relaxed);
        board.backlog.store(self.pace.backlog(), Relaxed);
        let counts = &self.recorder.counts;
        board.ok.store(counts.ok + counts.warmup, Relaxed);
        board
            .errors
            .store(counts.errors + counts.warmup_errors, Relaxed);
    }

    fn is_over(&self, now_ns: u64) -> bool {
        if self.control.stopped() {
            return true;
        }
        let nothing_left = self.inflight_of_window == 0
            && self.pace.backlog() == 0
            && (self.listener.as_ref()).is_none_or(|listener| listener.has_told_all());
        match self.stage {
            Stage::Connecting => false,
            Stage::Running => self.quota == 0 && nothing_left,
            Stage::Draining => {
                let end_ns = self.recorder.window.end_ns;
                let all_due = self.next_arrival_ns() == NEVER;
                (nothing_left && all_due) || now_ns >= end_ns.saturating_add(self.plan.job.drain_ns)
            }
        }
    }
}
