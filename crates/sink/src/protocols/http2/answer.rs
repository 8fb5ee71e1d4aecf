//! Answers: at once, or when the delay of their stream is over. Other streams go on meanwhile.

use steelyard_net::clock::monotonic_ns;

use crate::counters::tally::ErrorKind;
use crate::counters::tally::Verdict;
use crate::options::fault::FaultKind;
use crate::protocols::http2::request::Request;
use crate::protocols::http2::streams::{Delayed, State, Stream};
use crate::protocols::http2::{Code, Http2, Session, Step, frame};
use crate::protocols::{Flow, Reply, Turn};

impl Http2 {
    /// A request is whole; `window` bytes may be sent on its stream.
    pub(super) fn answer(
        &mut self,
        session: &mut Session,
        id: u32,
        window: i64,
        request: &Request,
        turn: &mut Turn,
    ) -> Step {
        turn.tally.commands += 1;
        turn.tally.received += 1;
        let verb = request.method.verb();
        let fault = turn.draw(verb);
        if let Some(step) = Self::silence(session, id, window, fault, turn) {
            turn.tally.unanswered += 1;
            return step;
        }
        let delay_ns = turn.shape.delay_ns(verb);
        if delay_ns > 0 {
            let state = State::Delayed(Delayed {
                request: *request,
                fault,
                until_ns: turn.ring_in(delay_ns),
            });
            session.streams.add(Stream { id, window, state });
            return Step::Next;
        }
        match self.answer_now(session, id, window, request, fault, turn) {
            Flow::Continue => Step::Next,
            flow => Step::Leave(flow),
        }
    }

    /// Answers the streams whose delay is over; the others wait on.
    pub fn release(&mut self, session: &mut Session, turn: &mut Turn) -> Flow {
        let now_ns = monotonic_ns();
        while let Some((stream, delayed)) = session.streams.take_due(now_ns) {
            turn.tally.late(now_ns - delayed.until_ns);
            let (id, window) = (stream.id, stream.window);
            let (request, fault) = (&delayed.request, delayed.fault);
            match self.answer_now(session, id, window, request, fault, turn) {
                Flow::Continue => {}
                flow => {
                    // Others may be due as well: they come when this one is on its way.
                    turn.ring_in(0);
                    return flow;
                }
            }
        }
        if session.can_send() {
            Flow::Flush
        } else {
            Flow::Continue
        }
    }

    fn answer_now(
        &mut self,
        session: &mut Session,
        id: u32,
        window: i64,
        request: &Request,
        fault: Option<FaultKind>,
        turn: &mut Turn,
    ) -> Flow {
        let from = turn.out.len();
        let verdict = self.reply(session, id, window, request, fault, turn);
        let reply = Reply {
            verb: request.method.verb(),
            fault,
            from,
            verdict,
            close: false,
        };
        turn.settle_after(reply, 0)
    }

    /// Faults that say nothing strike the stream, except one that ends the connection.
    fn silence(
        session: &mut Session,
        id: u32,
        window: i64,
        fault: Option<FaultKind>,
        turn: &mut Turn,
    ) -> Option<Step> {
        match fault? {
            FaultKind::Drop => Some(Step::Leave(Flow::Drop)),
            FaultKind::Reset => {
                frame::reset(turn.out, id, Code::Internal);
                Some(Step::Next)
            }
            FaultKind::Stall => {
                let state = State::Stalled;
                session.streams.add(Stream { id, window, state });
                Some(Step::Next)
            }
            _ => None,
        }
    }

    /// Writes the reply as far as the windows let it; `None` while it is not at its end.
    fn reply(
        &mut self,
        session: &mut Session,
        id: u32,
        window: i64,
        request: &Request,
        fault: Option<FaultKind>,
        turn: &mut Turn,
    ) -> Option<Verdict> {
        if matches!(fault, Some(FaultKind::Reject | FaultKind::Tempfail)) {
            let retry = fault == Some(FaultKind::Tempfail);
            self.replies.refuse(id, 503, retry, turn.out);
            return Some(Verdict::Failed);
        }
        if request.too_large {
            turn.tally.error(ErrorKind::HeadTooLarge);
            self.replies.refuse(id, 431, false, turn.out);
            return Some(Verdict::Failed);
        }
        let room = window.min(session.window);
        if let Some(body) = self.replies.write_whole(id, request, room, turn.out) {
            session.window -= body;
            return Some(Verdict::Ok);
        }
        self.replies.interim(id, turn.out);
        let left = self.replies.begin(id, request, turn.out).body_bytes;
        // A damaged reply ends with its damage.
        let damaged = matches!(fault, Some(FaultKind::Garbage | FaultKind::Short));
        if left == 0 || damaged {
            return Some(Verdict::Ok);
        }
        let state = State::Sending { sent: 0, left };
        session.streams.add(Stream { id, window, state });
        None
    }
}
