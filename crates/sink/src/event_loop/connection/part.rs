//! How a connection ends.

use rustix::io::Errno;
use steelyard_net::clock::monotonic_ns;

use crate::event_loop::connection::{Connection, Next, State};
use crate::event_loop::output::Context;
use crate::event_loop::output::push;
use crate::protocols::Protocol;
use crate::store::StoreJob;

/// How long a refused peer may go on sending, so that it can read why (RFC 9112, 9.6).
const LINGER_NS: u64 = 1_000_000_000;

impl<S> Connection<S> {
    /// Everything is sent: closes, or first reads on so that the last words are not lost to a RST.
    pub(super) fn part<P>(&mut self, cx: &mut Context<P>) -> Next {
        self.link.announce_end(&mut cx.tally);
        if !self.readable && self.spill.is_empty() {
            return Next::End;
        }
        self.state = State::Lingering;
        self.deadline_ns = monotonic_ns() + LINGER_NS;
        match self.link.stop_sending() {
            Ok(()) => Next::WakeAt(self.deadline_ns),
            Err(_) => Next::End,
        }
    }

    pub(super) fn discard<P: Protocol<Session = S>>(
        &mut self,
        cx: &mut Context<P>,
    ) -> Option<Next> {
        match self.link.receive_raw(&mut cx.buffer[..], &mut cx.tally) {
            Ok(0) => Some(Next::End),
            Ok(_) => None,
            Err(Errno::AGAIN | Errno::INTR) => Some(Next::Wait),
            Err(_) => Some(Next::End),
        }
    }

    /// It is closed: counts what was under way.
    pub fn left<P: Protocol<Session = S>>(&mut self, cx: &mut Context<P>) {
        cx.protocol.left(&mut self.session, &mut cx.tally);
    }

    /// Last words, sent as far as the socket takes them; counts what stays unanswered.
    pub fn farewell<P: Protocol<Session = S>>(&mut self, cx: &mut Context<P>) {
        cx.tally.open_at_stop += 1;
        match self.state {
            State::Held(hold) => cx.tally.unanswered += u64::from(hold.verdict.is_some()),
            State::Storing(StoreJob::Deliver) => cx.tally.unanswered += 1,
            State::Serving => {
                cx.protocol.farewell(&self.session, &mut cx.out);
                push(&mut self.link, &mut self.pending, cx);
                self.link.announce_end(&mut cx.tally);
            }
            _ => {}
        }
    }
}
