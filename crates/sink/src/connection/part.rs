//! How a connection ends.

use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown, recv, shutdown};
use steelyard_net::clock::monotonic_ns;

use crate::connection::{Connection, Context, Next, State};
use crate::output::push;
use crate::protocol::Protocol;
use crate::store::StoreJob;

/// How long a refused peer may go on sending, so that it can read why (RFC 9112, 9.6).
const LINGER_NS: u64 = 1_000_000_000;

impl<S> Connection<S> {
    /// Everything is sent: closes, or first reads on so that the last words are not lost to a RST.
    pub(super) fn part(&mut self) -> Next {
        if !self.readable && self.spill.is_empty() {
            return Next::End;
        }
        self.state = State::Lingering;
        self.deadline_ns = monotonic_ns() + LINGER_NS;
        match shutdown(&self.fd, Shutdown::Write) {
            Ok(()) => Next::WakeAt(self.deadline_ns),
            Err(_) => Next::End,
        }
    }

    pub(super) fn discard<P: Protocol<Session = S>>(
        &mut self,
        cx: &mut Context<P>,
    ) -> Option<Next> {
        match recv(&self.fd, &mut cx.buffer[..], RecvFlags::empty()) {
            Ok((0, _)) => Some(Next::End),
            Ok((count, _)) => {
                cx.tally.bytes_in += count as u64;
                None
            }
            Err(Errno::AGAIN | Errno::INTR) => Some(Next::Wait),
            Err(_) => Some(Next::End),
        }
    }

    /// Last words, sent as far as the socket takes them; counts what stays unanswered.
    pub fn farewell<P: Protocol<Session = S>>(&mut self, cx: &mut Context<P>) {
        cx.tally.open_at_stop += 1;
        match self.state {
            State::Held(hold) => cx.tally.unanswered += u64::from(hold.verdict.is_some()),
            State::Storing(StoreJob::Deliver) => cx.tally.unanswered += 1,
            State::Serving => {
                cx.protocol.farewell(&mut cx.out);
                push(&self.fd, &mut self.pending, cx);
            }
            _ => {}
        }
    }
}
