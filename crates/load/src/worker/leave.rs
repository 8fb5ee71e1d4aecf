//! The end of a worker: what is left is counted, what is open is closed.

use std::sync::atomic::Ordering::Relaxed;

use steelyard_net::stream;

use super::{Report, Worker};
use crate::connection::{Connection, NEVER, State};
use crate::operation::Part;
use crate::protocols::Protocol;

impl<P: Protocol> Worker<'_, P> {
    /// Counts what is left, says good-bye, closes everything.
    pub(super) fn leave(mut self, now_ns: u64) -> Report {
        self.meter.stop();
        // The instants that were due, but which the loop did not come to any more.
        while self.pace.next_arrival_ns() < self.recorder.window.end_ns.min(now_ns) {
            let intended_ns = self.pace.next_arrival_ns();
            if !self.takes_arrival(intended_ns) {
                break;
            }
            self.recorder.unsent(self.recorder.window.part(intended_ns));
            self.pace.advance();
        }
        while let Some(intended_ns) = self.pace.pop_waiting() {
            self.recorder.unsent(self.recorder.window.part(intended_ns));
        }
        let in_window = |connection: &&Connection<P::Session>| {
            connection
                .operation
                .is_some_and(|operation| operation.part == Part::Window)
        };
        self.recorder.counts.inflight_at_stop =
            self.connections.iter().filter(in_window).count() as u64;
        self.say_farewell();
        self.publish();
        self.board.finished.store(true, Relaxed);
        Report {
            window_end_ns: self.recorder.window.end_ns.min(now_ns).min(
                match self.plan.job.operations {
                    Some(_) if self.quota == 0 => self.recorder.last_done_ns,
                    _ => NEVER,
                },
            ),
            most_established: self.most_established,
            recorder: self.recorder,
            meter: self.meter,
        }
    }

    fn say_farewell(&self) {
        let farewell = self.protocol.farewell();
        if farewell.is_empty() {
            return;
        }
        for connection in &self.connections {
            if let (State::Idle, Some(socket)) = (connection.state, &connection.socket) {
                // A courtesy: nobody waits for the answer.
                let _ = stream::send_both(socket, farewell, &[]);
            }
        }
    }
}
