//! The end of a worker: what is left is counted, what is open is closed.

use std::sync::atomic::Ordering::Relaxed;

use steelyard_net::stream;

use super::{Report, Worker};
use crate::connection::{NEVER, State};
use crate::measurement::operation::Part;
use crate::protocols::Protocol;

impl<P: Protocol> Worker<'_, P> {
    /// Counts what is left, says good-bye, closes everything.
    pub(super) fn leave(mut self, now_ns: u64) -> Report {
        self.state.meter.stop();
        // The instants that were due, but which the loop did not come to any more.
        while self.pacing.pace.next_arrival_ns() < self.records.recorder.window.end_ns.min(now_ns) {
            let intended_ns = self.pacing.pace.next_arrival_ns();
            if !self.takes_arrival(intended_ns) {
                break;
            }
            self.records.unsent(intended_ns);
            self.pacing.pace.advance();
        }
        while let Some(intended_ns) = self.pacing.pace.pop_waiting() {
            self.records.unsent(intended_ns);
        }
        let under_way = self
            .connections
            .iter()
            .flat_map(|connection| connection.slots.iter());
        self.records.recorder.counts.inflight_at_stop = under_way
            .filter(|operation| operation.part == Part::Window)
            .count() as u64;
        self.records.close_all();
        self.say_farewell();
        self.publish();
        self.board.finished.store(true, Relaxed);
        Report {
            window_end_ns: self.records.recorder.window.end_ns.min(now_ns).min(
                if self.plan.ends_by_count() && self.pacing.is_used_up() {
                    self.records.recorder.last_done_ns
                } else {
                    NEVER
                },
            ),
            most_established: self.connections.most_established,
            recorder: self.records.recorder,
            meter: self.state.meter,
            tls: self.records.tls,
            payload: self.protocol.payload(),
            mail: self
                .protocol
                .growth()
                .map(|growth| self.records.moved.with(growth)),
        }
    }

    fn say_farewell(&mut self) {
        let farewell = self.protocol.farewell();
        for place in 0..self.connections.len() {
            let connection = &mut self.connections[place];
            let (State::Idle, Some(socket)) = (connection.state, &connection.socket) else {
                continue;
            };
            // A courtesy: nobody waits for the answer.
            match &mut connection.tls {
                Some(tls) => tls.write(farewell),
                None if farewell.is_empty() => {}
                None => drop(stream::send_both(socket, farewell, &[])),
            }
            self.say_close(place);
        }
    }
}
