//! One worker: an event loop with its own connections, schedule and records. Shares nothing.

mod arrivals;
mod connections;
pub mod control;
mod dial;
mod drive;
mod leave;
pub mod listener;
mod operate;
pub mod pace;
mod pacing;
mod records;
mod run_state;
mod secure;
mod send;
mod side;
mod side_read;
mod side_send;

use std::sync::atomic::Ordering::Relaxed;

use rustix::io;
use steelyard_net::clock::monotonic_ns;
use steelyard_net::poller::{Event, Poller};
use steelyard_net::usage;
use steelyard_wire::result::Payload;

use crate::connection::side::Sides;
use crate::connection::{Connection, NEVER};
use crate::measurement::meter::Meter;
use crate::measurement::operation::Part;
use crate::measurement::recorder::{Recorder, Shape};
use crate::plan::{Plan, Share};
use crate::protocols::mailboxes::MailFigures;
use crate::protocols::{Output, Protocol};
use crate::tls::TlsTally;
use crate::worker::control::{Board, Control};
use crate::worker::listener::Listener;
use connections::Connections;
use pacing::Pacing;
use records::Records;
use run_state::{RunState, Stage};

/// Read at once from one connection; larger replies take several reads.
const BUFFER_BYTES: usize = 64 * 1024;

/// Taken from one wait; those at the end of a batch wait for those before.
const EVENTS_AT_ONCE: usize = 256;

/// What a worker leaves.
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

/// Memory for bytes between connections and the machine.
struct Buffers {
    input: Vec<u8>,
    out: Output,
    /// Clear text out of TLS, and what TLS made of clear text.
    clear: Vec<u8>,
    encrypted: Vec<u8>,
    /// The connection whose output is gathered until its input is read.
    batching: Option<usize>,
    /// Slots of that connection that were started but not sent, and since when that was possible.
    unstamped: Vec<(u32, u64)>,
}

impl Buffers {
    fn new() -> Self {
        Self {
            input: vec![0; BUFFER_BYTES],
            out: Output::default(),
            clear: Vec::new(),
            encrypted: Vec::new(),
            batching: None,
            unstamped: Vec::new(),
        }
    }
}

/// An event loop over connections of one protocol.
pub struct Worker<'a, P: Protocol> {
    protocol: P,
    plan: &'a Plan,
    control: &'a Control,
    board: &'a Board,
    /// Operations that a connection can carry at once.
    slots: usize,
    /// Connections are opened when operations need them.
    on_demand: bool,
    poller: Poller,
    events: Vec<Event>,
    buffers: Buffers,
    connections: Connections<P::Session>,
    sides: Sides,
    pacing: Pacing,
    state: RunState,
    records: Records,
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
        let poll_ahead_ns = if plan.is_open() && plan.job.spin {
            arrivals::wake_up_lateness_ns(&poller)?
        } else {
            0
        };
        let places = share.connections as usize;
        let slots = protocol.slots().max(1);
        let connections = (0..places)
            .map(|place| Connection::vacant(protocol.open(place), slots))
            .collect();
        let kinds = protocol.kinds();
        let listener = control.operations.as_ref().map(|operations| {
            let sender = operations.clone();
            Box::new(Listener::new(sender, P::PHASES, kinds.clone(), places))
        });
        let recorder = Recorder::new(&Shape {
            phases: P::PHASES.len(),
            kinds: kinds.len(),
            open_mode: plan.is_open(),
            interval_ns: plan.interval_ns,
            logged: plan.job.log_file.is_some(),
        });
        Ok(Self {
            plan,
            control,
            board: &control.boards[board],
            slots,
            on_demand: protocol.one_shot() || plan.is_unbounded(),
            poller,
            events: Vec::with_capacity(EVENTS_AT_ONCE),
            buffers: Buffers::new(),
            connections: Connections::new(connections),
            sides: Sides::new(if P::HAS_SIDE { places } else { 0 }),
            pacing: Pacing::new(plan, share, poll_ahead_ns),
            state: RunState::new(),
            records: Records::new(recorder, listener),
            protocol,
        })
    }

    /// Runs until the run is over.
    pub fn run(mut self) -> Report {
        self.open_first();
        loop {
            let now_ns = monotonic_ns();
            if now_ns >= self.state.next_tick_ns {
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
            self.records.recorder.window.end_ns = self.control.window().end_ns;
            if self.state.stage == Stage::Connecting && now_ns >= start_ns {
                self.begin(start_ns, now_ns);
            }
        } else {
            self.try_more();
        }
        self.cross_borders(now_ns);
        if now_ns >= self.state.next_scan_ns {
            self.scan_timeouts(now_ns);
        }
        if self.records.part(now_ns) == Part::Window {
            self.records.recorder.series.note(
                now_ns,
                self.state.inflight,
                self.pacing.pace.backlog(),
            );
        }
        self.publish();
        self.state.next_tick_ns = self.tick_after(now_ns);
    }

    fn begin(&mut self, start_ns: u64, now_ns: u64) {
        self.state.stage = Stage::Running;
        self.records.recorder.begin(self.control.window());
        self.pacing.pace.begin(start_ns);
        // Before the first byte goes out: it may belong to the window.
        self.cross_borders(now_ns);
    }

    fn cross_borders(&mut self, now_ns: u64) {
        if self.state.cross_borders(self.records.part(now_ns)) {
            self.connections.most_established = self.connections.established;
        }
    }

    fn tick_after(&self, now_ns: u64) -> u64 {
        let window = self.records.recorder.window;
        let borders = [
            window.start_ns,
            window.end_ns,
            self.control.started().unwrap_or(NEVER),
        ];
        borders
            .into_iter()
            .filter(|border| *border > now_ns)
            .fold(self.state.usual_tick_after(now_ns), u64::min)
    }

    fn publish(&self) {
        let board = self.board;
        board.ready.store(self.connections.all_tried(), Relaxed);
        board
            .connections
            .store(u64::from(self.connections.established), Relaxed);
        board.inflight.store(self.state.inflight, Relaxed);
        board.backlog.store(self.pacing.pace.backlog(), Relaxed);
        let counts = &self.records.recorder.counts;
        board.ok.store(counts.ok + counts.warmup, Relaxed);
        board
            .errors
            .store(counts.errors + counts.warmup_errors, Relaxed);
    }

    fn is_over(&self, now_ns: u64) -> bool {
        if self.control.stopped() {
            return true;
        }
        let nothing_left = self.state.all_answered()
            && self.pacing.pace.backlog() == 0
            && self.records.has_reported_all();
        match self.state.stage {
            Stage::Connecting => false,
            Stage::Running => self.pacing.is_used_up() && nothing_left,
            Stage::Draining => {
                let end_ns = self.records.recorder.window.end_ns;
                let all_due = self.next_arrival_ns() == NEVER;
                (nothing_left && all_due) || now_ns >= end_ns.saturating_add(self.plan.job.drain_ns)
            }
        }
    }
}
