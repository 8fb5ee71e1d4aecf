//! Replies that leave later: after a delay, or byte by byte.

use steelyard_net::clock::monotonic_ns;

use crate::event_loop::connection::{Connection, Next, State};
use crate::event_loop::output::Context;
use crate::event_loop::output::{Progress, push};
use crate::protocols::{Hold, Protocol};

/// Between two bytes of a reply struck by `slow`.
const DRIP_NS: u64 = 5_000_000;

impl<S> Connection<S> {
    pub(super) fn hold<P>(&mut self, hold: Hold, cx: &mut Context<P>) -> Next {
        let wait_ns = hold.delay_ns + if hold.drip { DRIP_NS } else { 0 };
        self.deadline_ns = monotonic_ns() + wait_ns;
        let later = cx.out.split_off(hold.from);
        let fill = std::mem::take(&mut cx.fill);
        if push(&mut self.link, &mut self.pending, cx) == Progress::Failed {
            cx.tally.unanswered += u64::from(hold.verdict.is_some());
            return Next::End;
        }
        self.pending.append(&later, fill);
        self.state = State::Held(hold);
        Next::WakeAt(self.deadline_ns)
    }

    /// A deadline was reached; one of an earlier purpose is ignored.
    pub fn due<P: Protocol<Session = S>>(
        &mut self,
        deadline_ns: u64,
        now_ns: u64,
        cx: &mut Context<P>,
    ) -> Next {
        if deadline_ns == self.idle_due_ns {
            return self.look_at_idleness(now_ns, cx);
        }
        if deadline_ns != self.deadline_ns {
            return if P::RINGS { self.wake(cx) } else { Next::Wait };
        }
        match self.state {
            State::Held(hold) if hold.drip => self.drip(hold, now_ns, cx),
            State::Held(hold) => {
                cx.tally.late(now_ns - deadline_ns);
                self.release(hold, cx)
            }
            State::Lingering => Next::End,
            _ => Next::Wait,
        }
    }

    fn release<P: Protocol<Session = S>>(&mut self, hold: Hold, cx: &mut Context<P>) -> Next {
        cx.tally.count(hold.verdict);
        self.state = if hold.close {
            State::Closing
        } else if hold.start_tls {
            self.forget_input(cx);
            State::Upgrading
        } else {
            State::Serving
        };
        self.pump(cx)
    }

    fn drip<P: Protocol<Session = S>>(
        &mut self,
        hold: Hold,
        now_ns: u64,
        cx: &mut Context<P>,
    ) -> Next {
        match self.pending.send_one(&mut self.link, &mut cx.tally) {
            Progress::Done => self.release(hold, cx),
            Progress::Blocked => {
                self.deadline_ns = now_ns + DRIP_NS;
                Next::WakeAt(self.deadline_ns)
            }
            Progress::Failed => {
                cx.tally.unanswered += u64::from(hold.verdict.is_some());
                Next::End
            }
        }
    }
}
