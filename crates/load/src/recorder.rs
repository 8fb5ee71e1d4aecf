//! What one worker has measured; merged with the others at the end.

use steelyard_wire::result::Counts;

use crate::fault::{ErrorKind, FaultTable};
use crate::histogram::{Phase, Total};
use crate::operation::{Operation, Part, Window};
use crate::series::Series;

/// Counts and distributions of one worker. Nothing is allocated while operations run.
#[derive(Debug)]
pub struct Recorder {
    /// Moves when a run ends early or by its number of operations.
    pub window: Window,
    /// Operations and bytes of the window.
    pub counts: Counts,
    /// `done - intended`, open mode only (closed: the same as `service`).
    pub response: Total,
    /// `done - sent`.
    pub service: Total,
    /// `sent - intended`.
    pub lateness: Total,
    /// The part of lateness that is the generator's own: from due with an idle connection to sent.
    pub lag: Total,
    /// `done - intended` of failed operations.
    pub failed: Total,
    /// Response times of the warm-up.
    pub warm_up: Total,
    /// One for each phase of the protocol.
    pub phases: Vec<Phase>,
    /// The same for set-up before the window.
    pub ramp: Vec<Phase>,
    /// Failed operations.
    pub errors: FaultTable,
    /// Connections that failed outside any operation.
    pub connection_errors: FaultTable,
    /// Intervals of the window.
    pub series: Series,
    /// Instant of the last completed operation of the window.
    pub last_done_ns: u64,
    open_mode: bool,
}

impl Recorder {
    /// Empty, for a protocol with `phases` phases.
    pub fn new(phases: usize, open_mode: bool, interval_ns: u64) -> Self {
        Self {
            window: Window {
                start_ns: u64::MAX,
                end_ns: u64::MAX,
            },
            counts: Counts::default(),
            response: Total::total(),
            service: Total::total(),
            lateness: Total::total(),
            lag: Total::total(),
            failed: Total::total(),
            warm_up: Total::total(),
            phases: vec![Phase::phase(); phases],
            ramp: vec![Phase::phase(); phases],
            errors: FaultTable::new(phases),
            connection_errors: FaultTable::new(phases),
            series: Series::new(interval_ns),
            last_done_ns: 0,
            open_mode,
        }
    }

    /// Fixes the window's start; nothing counts before.
    pub fn begin(&mut self, window: Window) {
        self.window = window;
        self.series.begin(window.start_ns);
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
    pub fn ok(&mut self, operation: &Operation, done_ns: u64) {
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
            }
            Part::Before => {
                self.counts.warm_up += 1;
                self.warm_up.record(response_ns);
            }
            Part::After => {}
        }
    }

    /// An operation failed in `phase`.
    pub fn failed(&mut self, operation: &Operation, done_ns: u64, phase: usize, kind: ErrorKind) {
        if self.window.part(done_ns) == Part::Window {
            self.series.error(done_ns);
        }
        match operation.part {
            Part::Window => {
                self.counts.errors += 1;
                self.last_done_ns = done_ns;
                self.errors.count(phase, kind);
                self.failed
                    .record(done_ns.saturating_sub(operation.intended_ns));
            }
            Part::Before => self.counts.warm_up_errors += 1,
            Part::After => {}
        }
    }

    /// A connection failed in `phase` while it carried no operation.
    pub fn connection_failed(&mut self, now_ns: u64, phase: usize, kind: ErrorKind) {
        if self.window.part(now_ns) == Part::Window {
            self.connection_errors.count(phase, kind);
        }
    }

    /// A phase that counts for `part` ended well after `took_ns`.
    pub fn phase(&mut self, part: Part, within_operation: bool, phase: usize, took_ns: u64) {
        match part {
            Part::Window => self.phases[phase].record(took_ns),
            Part::Before if !within_operation => self.ramp[phase].record(took_ns),
            Part::Before | Part::After => {}
        }
    }

    /// Adds what another worker has measured; `series` stay apart, see [`crate::series::merge`].
    pub fn add(&mut self, other: &Self) {
        self.response.add(&other.response);
        self.service.add(&other.service);
        self.lateness.add(&other.lateness);
        self.lag.add(&other.lag);
        self.failed.add(&other.failed);
        self.warm_up.add(&other.warm_up);
        for (mine, theirs) in self.phases.iter_mut().zip(&other.phases) {
            mine.add(theirs);
        }
        for (mine, theirs) in self.ramp.iter_mut().zip(&other.ramp) {
            mine.add(theirs);
        }
        self.errors.add(&other.errors);
        self.connection_errors.add(&other.connection_errors);
        add_counts(&mut self.counts, &other.counts);
        self.last_done_ns = self.last_done_ns.max(other.last_done_ns);
    }

    /// Response times: in closed mode the service times, there is no schedule to be late against.
    pub fn responses(&self) -> &Total {
        if self.open_mode {
            &self.response
        } else {
            &self.service
        }
    }
}

fn add_counts(mine: &mut Counts, theirs: &Counts) {
    mine.intended += theirs.intended;
    mine.unsent += theirs.unsent;
    mine.sent += theirs.sent;
    mine.ok += theirs.ok;
    mine.ok_in_window += theirs.ok_in_window;
    mine.errors += theirs.errors;
    mine.inflight_at_stop += theirs.inflight_at_stop;
    mine.warm_up += theirs.warm_up;
    mine.warm_up_errors += theirs.warm_up_errors;
    mine.bytes_in += theirs.bytes_in;
    mine.bytes_out += theirs.bytes_out;
    mine.connects += theirs.connects;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder(open_mode: bool) -> Recorder {
        let mut recorder = Recorder::new(2, open_mode, 1_000);
        recorder.begin(Window {
            start_ns: 1_000,
            end_ns: 2_000,
        });
        recorder
    }

    fn operation(intended_ns: u64, sent_ns: u64) -> Operation {
        Operation {
            intended_ns,
            sent_ns,
            part: Window {
                start_ns: 1_000,
                end_ns: 2_000,
            }
            .part(intended_ns),
        }
    }

    #[test]
    fn three_latencies_tell_apart_server_generator_and_both() {
        let mut recorder = recorder(true);
        let late = operation(1_100, 1_150);
        recorder.sent(&late, 1_120);
        recorder.ok(&late, 1_350);
        assert_eq!(recorder.lateness.max_ns(), Some(50));
        assert_eq!(recorder.lag.max_ns(), Some(30));
        assert_eq!(recorder.service.max_ns(), Some(200));
        assert_eq!(recorder.responses().max_ns(), Some(250));
    }

    #[test]
    fn failures_never_enter_the_distributions_of_success() {
        let mut recorder = recorder(true);
        recorder.failed(&operation(1_100, 1_150), 1_200, 1, ErrorKind::ConnReset);
        assert_eq!(recorder.service.count() + recorder.response.count(), 0);
        assert_eq!(recorder.failed.max_ns(), Some(100));
        assert_eq!(recorder.counts.errors, 1);
        assert_eq!(recorder.errors.total(), 1);
    }

    #[test]
    fn an_operation_counts_where_it_was_due_and_throughput_where_it_was_done() {
        let mut recorder = recorder(false);
        recorder.ok(&operation(900, 900), 1_100);
        recorder.ok(&operation(1_900, 1_900), 2_100);
        assert_eq!((recorder.counts.warm_up, recorder.counts.ok), (1, 1));
        assert_eq!(recorder.counts.ok_in_window, 1);
        assert_eq!(recorder.service.max_ns(), Some(200));
    }

    #[test]
    fn set_up_before_the_window_stays_apart_and_the_warm_up_leaves_no_phases() {
        let mut recorder = recorder(false);
        recorder.phase(Part::Before, false, 0, 5);
        recorder.phase(Part::Before, true, 1, 5);
        recorder.phase(Part::Window, true, 1, 7);
        assert_eq!(recorder.ramp[0].count(), 1);
        assert_eq!(recorder.phases[0].count(), 0);
        assert_eq!(recorder.phases[1].max_ns(), Some(7));
    }
}
