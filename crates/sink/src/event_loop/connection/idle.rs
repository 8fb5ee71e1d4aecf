//! The time limit for connections that say nothing.

use crate::counters::tally::ErrorKind;
use crate::event_loop::connection::{Connection, Next, State};
use crate::event_loop::output::Context;
use crate::event_loop::output::push;
use crate::protocols::Protocol;

impl<S> Connection<S> {
    /// The peer has said or taken something, or the connection begins.
    pub fn stir(&mut self, now_ns: u64) {
        self.active_ns = now_ns;
    }

    /// Asks for the first look in so long.
    pub fn watch_idleness(&mut self, now_ns: u64, limit_ns: u64) -> u64 {
        self.active_ns = now_ns;
        self.idle_due_ns = now_ns + limit_ns;
        self.idle_due_ns
    }

    /// Silent for too long: ends, unless it is the peer who waits.
    pub(super) fn look_at_idleness<P: Protocol<Session = S>>(
        &mut self,
        now_ns: u64,
        cx: &mut Context<P>,
    ) -> Next {
        let Some(limit_ns) = cx.idle_ns else {
            return Next::Wait;
        };
        let waits_for_us = matches!(self.state, State::Held(_) | State::Storing(_));
        let due_ns = if waits_for_us {
            now_ns + limit_ns
        } else {
            self.active_ns + limit_ns
        };
        if due_ns > now_ns {
            self.idle_due_ns = due_ns;
            return Next::WakeAt(due_ns);
        }
        cx.tally.error(ErrorKind::IdleTimeout);
        if matches!(self.state, State::Serving) {
            cx.protocol.too_idle(&mut cx.out);
            push(&mut self.link, &mut self.pending, cx);
            self.link.announce_end(&mut cx.tally);
        }
        Next::End
    }
}
