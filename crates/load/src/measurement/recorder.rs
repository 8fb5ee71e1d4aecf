//! What one worker has measured; merged with the others at the end.

use std::collections::BTreeMap;

use steelyard_wire::result::Counts;

use crate::fault::{ErrorKind, FaultTable, Replies};
use crate::measurement::histogram::{CoarseHistogram, FineHistogram};
use crate::measurement::log::Logged;
use crate::measurement::operation::{Operation, Part, Window};
use crate::measurement::series::Series;

/// Counts and distributions of one worker. Nothing is allocated while operations go well.
#[derive(Debug, Clone)]
pub struct Recorder {
    /// Moves when a run ends early or by its number of operations.
    pub window: Window,
    /// Operations and bytes of the window.
    pub counts: Counts,
    /// `done - intended`, open mode only (closed: the same as `service`).
    pub response: FineHistogram,
    /// `done - sent`.
    pub service: FineHistogram,
    /// `done - connected` of operations that began with their connection.
    pub processing: CoarseHistogram,
    /// `sent - intended`.
    pub lateness: FineHistogram,
    /// The part of lateness that is the generator's own: from due with an idle connection to sent.
    pub lag: FineHistogram,
    /// `done - intended` of failed operations.
    pub failed: FineHistogram,
    /// Response times of the warm-up.
    pub warmup: FineHistogram,
    /// One for each phase of the protocol.
    pub phases: Vec<CoarseHistogram>,
    /// The same for set-up before the window.
    pub ramp: Vec<CoarseHistogram>,
    /// Failed operations.
    pub errors: FaultTable,
    /// Connections that failed outside any operation.
    pub connection_errors: FaultTable,
    /// The same before the window: users who were turned away while everybody came.
    pub ramp_errors: FaultTable,
    /// Failed operations by the code of the reply that refused them, where codes are counted.
    pub refusals: BTreeMap<u16, u64>,
    /// What the server said when operations failed.
    pub replies: Replies,
    /// Intervals of the window.
    pub series: Series,
    /// One for each kind of operation, none if there is only one kind.
    pub kinds: Vec<KindRecord>,
    /// Every operation, if somebody wants to see them.
    pub log: Option<Vec<Logged>>,
    /// Instant at which the first operation of all was sent, warm-up included.
    pub first_sent_ns: Option<u64>,
    /// Instant of the last completed operation of the window.
    pub last_done_ns: u64,
    open_mode: bool,
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new(&Shape {
            phases: 0,
            kinds: 0,
            open_mode: false,
            interval_ns: 1,
            logged: false,
        })
    }
}

/// Operations of one kind in the window.
#[derive(Debug, Clone)]
pub struct KindRecord {
    /// Answered well.
    pub ok: u64,
    /// Failed.
    pub errors: u64,
    /// Response times of the good ones.
    pub responses: CoarseHistogram,
}

/// What a recorder is made for.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Phases of the protocol.
    pub phases: usize,
    /// Kinds of operations that are distinguished.
    pub kinds: usize,
    /// Operations follow a schedule.
    pub open_mode: bool,
    /// Width of a row of the series.
    pub interval_ns: u64,
    /// Every operation is kept.
    pub logged: bool,
}

impl Recorder {
    /// Empty.
    pub fn new(shape: &Shape) -> Self {
        Self {
            window: Window {
                start_ns: u64::MAX,
                end_ns: u64::MAX,
            },
            counts: Counts::default(),
            response: FineHistogram::fine(),
            service: FineHistogram::fine(),
            processing: CoarseHistogram::coarse(),
            lateness: FineHistogram::fine(),
            lag: FineHistogram::fine(),
            failed: FineHistogram::fine(),
            warmup: FineHistogram::fine(),
            phases: vec![CoarseHistogram::coarse(); shape.phases],
            ramp: vec![CoarseHistogram::coarse(); shape.phases],
            errors: FaultTable::new(shape.phases),
            connection_errors: FaultTable::new(shape.phases),
            ramp_errors: FaultTable::new(shape.phases),
            refusals: BTreeMap::new(),
            replies: Replies::default(),
            series: Series::new(shape.interval_ns),
            kinds: vec![
                KindRecord {
                    ok: 0,
                    errors: 0,
                    responses: CoarseHistogram::coarse(),
                };
                shape.kinds
            ],
            log: shape.logged.then(Vec::new),
            first_sent_ns: None,
            last_done_ns: 0,
            open_mode: shape.open_mode,
        }
    }

    /// Fixes the window's start; nothing counts before.
    pub fn begin(&mut self, window: Window) {
        self.window = window;
        self.series.begin(window.start_ns, window.end_ns);
    }

    /// An operation is due.
    pub fn intended(&mut self, part: Part) {
        self.counts.intended += u64::from(part == Part::Window);
    }

    /// An operation that was due will never be sent.
    pub fn unsent(&mut self, part: Part) {
        self.counts.unsent += u64::from(part == Part::Window);
    }

    /// An operation is being sent.
    pub fn sent(&mut self, operation: &Operation, possible_ns: u64) {
        self.first_sent_ns.get_or_insert(operation.sent_ns);
        if operation.part == Part::Window {
            self.lag
                .record(operation.sent_ns.saturating_sub(possible_ns));
            self.counts.sent += 1;
            self.lateness
                .record(operation.sent_ns.saturating_sub(operation.intended_ns));
        }
    }

    /// An operation was answered well.
    #[inline]
    pub fn ok(&mut self, operation: &Operation, kind: usize, done_ns: u64) {
        let service_ns = done_ns.saturating_sub(operation.sent_ns);
        let response_ns = if self.open_mode {
            done_ns.saturating_sub(operation.intended_ns)
        } else {
            service_ns
        };
        if self.window.part(done_ns) == Part::Window {
            self.counts.ok_in_window += 1;
            self.series.ok(done_ns, response_ns);
        }
        match operation.part {
            Part::Window => {
                self.counts.ok += 1;
                self.last_done_ns = done_ns;
                self.service.record(service_ns);
                if self.open_mode {
                    self.response.record(response_ns);
                }
                if let Some(record) = self.kinds.get_mut(kind) {
                    record.ok += 1;
                    record.responses.record(response_ns);
                }
            }
            Part::Before => {
                self.counts.warmup += 1;
                self.warmup.record(response_ns);
            }
            Part::After => {}
        }
        if self.log.is_some() {
            self.write_log(operation, kind, done_ns, None);
        }
    }

    /// An operation of `kind` failed in `phase`.
    pub fn failed(
        &mut self,
        operation: &Operation,
        kind: usize,
        done_ns: u64,
        phase: usize,
        error: ErrorKind,
    ) {
        if self.log.is_some() {
            self.write_log(operation, kind, done_ns, Some(error));
        }
        if self.window.part(done_ns) == Part::Window {
            self.series.error(done_ns);
        }
        match operation.part {
            Part::Window => {
                self.counts.errors += 1;
                self.last_done_ns = done_ns;
                self.errors.count(phase, error);
                if let Some(record) = self.kinds.get_mut(kind) {
                    record.errors += 1;
                }
                self.failed
                    .record(done_ns.saturating_sub(operation.intended_ns));
            }
            Part::Before => self.counts.warmup_errors += 1,
            Part::After => {}
        }
    }

    /// A reply of this code has refused `operation`, which has failed.
    pub fn refused(&mut self, operation: &Operation, code: u16) {
        if operation.part == Part::Window {
            *self.refusals.entry(code).or_default() += 1;
        }
    }

    #[cold]
    fn write_log(
        &mut self,
        operation: &Operation,
        kind: usize,
        done_ns: u64,
        error: Option<ErrorKind>,
    ) {
        if let Some(log) = &mut self.log {
            log.push(Logged {
                operation: *operation,
                done_ns,
                kind: kind as u32,
                error,
            });
        }
    }

    /// A connection failed in `phase` while it carried no operation.
    pub fn connection_failed(&mut self, now_ns: u64, phase: usize, kind: ErrorKind) {
        match self.window.part(now_ns) {
            Part::Window => self.connection_errors.count(phase, kind),
            Part::Before => self.ramp_errors.count(phase, kind),
            Part::After => {}
        }
    }

    /// A phase that counts for `part` succeeded after `took_ns`.
    pub fn phase(&mut self, part: Part, within_operation: bool, phase: usize, took_ns: u64) {
        match part {
            Part::Window => self.phases[phase].record(took_ns),
            Part::Before if !within_operation => self.ramp[phase].record(took_ns),
            Part::Before | Part::After => {}
        }
    }

    /// Makes room for the phases of the other parts of a mix: its own begin at `first` of
    /// `phases`; kinds stay with the part.
    pub fn place(&mut self, first: usize, phases: usize, part: u32) {
        for own in [&mut self.phases, &mut self.ramp] {
            let mut all = vec![CoarseHistogram::coarse(); phases];
            for (place, phase) in all[first..].iter_mut().zip(own.drain(..)) {
                *place = phase;
            }
            *own = all;
        }
        self.errors = self.errors.placed(first, phases);
        self.replies = self.replies.placed(first);
        self.connection_errors = self.connection_errors.placed(first, phases);
        self.ramp_errors = self.ramp_errors.placed(first, phases);
        self.kinds.clear();
        for row in self.log.iter_mut().flatten() {
            row.kind = part;
        }
    }

    /// Adds what another worker has measured; `series` stay apart, see [`crate::measurement::series::merge`].
    pub fn add(&mut self, other: &Self) {
        let first = [self.first_sent_ns, other.first_sent_ns];
        self.first_sent_ns = first.into_iter().flatten().min();
        self.response.add(&other.response);
        self.service.add(&other.service);
        self.processing.add(&other.processing);
        self.lateness.add(&other.lateness);
        self.lag.add(&other.lag);
        self.failed.add(&other.failed);
        self.warmup.add(&other.warmup);
        for (mine, theirs) in self.phases.iter_mut().zip(&other.phases) {
            mine.add(theirs);
        }
        for (mine, theirs) in self.ramp.iter_mut().zip(&other.ramp) {
            mine.add(theirs);
        }
        for (mine, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            mine.ok += theirs.ok;
            mine.errors += theirs.errors;
            mine.responses.add(&theirs.responses);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.log, &other.log) {
            mine.extend_from_slice(theirs);
        }
        for (code, count) in &other.refusals {
            *self.refusals.entry(*code).or_default() += count;
        }
        self.errors.add(&other.errors);
        self.replies.add(&other.replies);
        self.connection_errors.add(&other.connection_errors);
        self.ramp_errors.add(&other.ramp_errors);
        add_counts(&mut self.counts, &other.counts);
        self.last_done_ns = self.last_done_ns.max(other.last_done_ns);
    }

    /// Response times: in closed mode the service times, there is no schedule to be late against.
    pub fn responses(&self) -> &FineHistogram {
        if self.open_mode {
            &self.response
        } else {
            &self.service
        }
    }
}

/// Adds what was counted elsewhere.
pub fn add_counts(mine: &mut Counts, theirs: &Counts) {
    mine.intended += theirs.intended;
    mine.unsent += theirs.unsent;
    mine.sent += theirs.sent;
    mine.ok += theirs.ok;
    mine.ok_in_window += theirs.ok_in_window;
    mine.errors += theirs.errors;
    mine.inflight_at_stop += theirs.inflight_at_stop;
    mine.warmup += theirs.warmup;
    mine.warmup_errors += theirs.warmup_errors;
    mine.bytes_in += theirs.bytes_in;
    mine.bytes_out += theirs.bytes_out;
    mine.connects += theirs.connects;
}

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;
