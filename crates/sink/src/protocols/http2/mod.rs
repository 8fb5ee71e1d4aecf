//! The HTTP/2 server (RFC 9113): reads frames, answers requests when they are whole.
//!
//! Everything that one read brings is answered by one write. A reply whose body fits the windows
//! is written at once and leaves nothing behind; only bodies that wait have a stream of their own.

mod answer;
mod control;
pub(crate) mod frame;
mod reply;
mod request;
mod session;
mod streams;

use crate::counters::tally::{ErrorKind, Tally};
use crate::options::HttpOptions;
use crate::protocols::http::content::Content;
use crate::protocols::http2::frame::{
    Code, FrameHead, HEAD_BYTES, MAX_PAYLOAD_BYTES, PREFACE, kind,
};
use crate::protocols::http2::reply::Replies;
pub(crate) use crate::protocols::http2::session::Session;
use crate::protocols::http2::session::{Block, Data};
use crate::protocols::http2::streams::{State, Stream};
use crate::protocols::{BATCH_BYTES, Flow, Turn};

/// Streams a client may have open at the same time.
pub(crate) const MAX_STREAMS: usize = 256;
/// Largest header block taken.
const MAX_BLOCK_BYTES: usize = 64 * 1024;

/// The HTTP/2 server of one event loop.
#[derive(Debug)]
pub(crate) struct Http2 {
    replies: Replies,
}

/// How to go on after one frame.
pub(crate) enum Step {
    Next,
    /// More input is needed.
    Wait,
    Leave(Flow),
    /// The connection ends with an error.
    Fail(Code),
}

impl Http2 {
    pub fn new(usual: Content, options: &HttpOptions) -> Self {
        Self {
            replies: Replies::new(usual, options.body_bytes, options.payload, options.interim),
        }
    }

    /// Called when the second has changed.
    pub fn date(&mut self, unix_s: i64) {
        self.replies.date(unix_s);
    }

    /// Reads frames from the front of `input`, as `Protocol::consume` does.
    pub fn consume(
        &mut self,
        session: &mut Session,
        input: &[u8],
        turn: &mut Turn,
    ) -> (usize, Flow) {
        let mut at = 0;
        loop {
            match self.step(session, &input[at..], turn) {
                (used, Step::Next) => at += used,
                (used, Step::Wait) => {
                    at += used;
                    break;
                }
                (used, Step::Leave(flow)) => return (at + used, flow),
                (used, Step::Fail(code)) => {
                    turn.tally.error(ErrorKind::BadRequest);
                    frame::go_away(turn.out, session.last_stream, code);
                    return (at + used, Flow::Close);
                }
            }
            if turn.out.len() >= BATCH_BYTES {
                return (at, Flow::Flush);
            }
        }
        turn.tally.ok += session.send(BATCH_BYTES, turn.out);
        if turn.out.len() >= BATCH_BYTES && session.can_send() {
            return (at, Flow::Flush);
        }
        (at, Flow::Continue)
    }

    /// The frame at the front of `input`: bytes used, and how to go on.
    fn step(&mut self, session: &mut Session, input: &[u8], turn: &mut Turn) -> (usize, Step) {
        if !session.begun {
            return Self::begin(session, input, turn);
        }
        if session.data.is_some() {
            return self.data(session, input, turn);
        }
        let Some(head) = FrameHead::read(input) else {
            return (0, Step::Wait);
        };
        if head.payload_bytes > MAX_PAYLOAD_BYTES {
            return (0, Step::Fail(Code::FrameSize));
        }
        if !session.expects(&head) {
            return (0, Step::Fail(Code::Protocol));
        }
        if head.kind == kind::DATA {
            return self.begin_data(session, head, input, turn);
        }
        let Some(payload) = input.get(HEAD_BYTES..HEAD_BYTES + head.payload_bytes) else {
            return (0, Step::Wait);
        };
        let step = match head.kind {
            kind::HEADERS => self.headers(session, &head, payload, turn),
            kind::CONTINUATION => self.continuation(session, &head, payload, turn),
            _ => control::apply(session, &head, payload, turn),
        };
        (HEAD_BYTES + payload.len(), step)
    }

    fn begin(session: &mut Session, input: &[u8], turn: &mut Turn) -> (usize, Step) {
        if input.len() < PREFACE.len() && PREFACE.starts_with(input) {
            return (0, Step::Wait);
        }
        if !input.starts_with(PREFACE) {
            return (0, Step::Fail(Code::Protocol));
        }
        session.begin(turn.out);
        (PREFACE.len(), Step::Next)
    }

    fn headers(
        &mut self,
        session: &mut Session,
        head: &FrameHead,
        payload: &[u8],
        turn: &mut Turn,
    ) -> Step {
        if head.stream.is_multiple_of(2) {
            return Step::Fail(Code::Protocol);
        }
        let Some(part) = Block::part(head, payload) else {
            return Step::Fail(Code::Protocol);
        };
        if head.has(frame::flag::END_HEADERS) {
            return self.block(
                session,
                head.stream,
                head.has(frame::flag::END_STREAM),
                part,
                turn,
            );
        }
        session.block = Some(Block::new(head, part));
        Step::Next
    }

    fn continuation(
        &mut self,
        session: &mut Session,
        head: &FrameHead,
        payload: &[u8],
        turn: &mut Turn,
    ) -> Step {
        let Some(mut block) = session.block.take() else {
            return Step::Fail(Code::Protocol);
        };
        if block.bytes.len() + payload.len() > MAX_BLOCK_BYTES {
            return Step::Fail(Code::Calm);
        }
        block.bytes.extend_from_slice(payload);
        if head.has(frame::flag::END_HEADERS) {
            return self.block(session, block.stream, block.ends, &block.bytes, turn);
        }
        session.block = Some(block);
        Step::Next
    }

    /// A header block is whole: a request, or the trailers of one.
    fn block(
        &mut self,
        session: &mut Session,
        id: u32,
        ends: bool,
        block: &[u8],
        turn: &mut Turn,
    ) -> Step {
        if id <= session.last_stream {
            return self.trailers(session, id, ends, block, turn);
        }
        session.last_stream = id;
        let Ok(request) = session.read(block) else {
            return Step::Fail(Code::Compression);
        };
        let whole = ends && request.is_some_and(|request| request.length.unwrap_or(0) > 0);
        let Some(request) = request.filter(|_| !whole) else {
            turn.tally.error(ErrorKind::BadRequest);
            frame::reset(turn.out, id, Code::Protocol);
            return Step::Next;
        };
        if session.streams.len() >= MAX_STREAMS {
            frame::reset(turn.out, id, Code::Refused);
            return Step::Next;
        }
        if ends {
            let window = session.initial_window;
            return self.answer(session, id, window, &request, turn);
        }
        session.receive(id, request);
        Step::Next
    }

    fn trailers(
        &mut self,
        session: &mut Session,
        id: u32,
        ends: bool,
        block: &[u8],
        turn: &mut Turn,
    ) -> Step {
        let ignored = session.decoder.decode(block, &mut |_, _| {});
        if ignored.is_err() {
            return Step::Fail(Code::Compression);
        }
        match session.streams.get_mut(id) {
            Some(Stream {
                state: State::Receiving { .. },
                ..
            }) if ends => self.whole(session, id, turn),
            Some(_) | None => {
                session.streams.remove(id);
                turn.tally.error(ErrorKind::BadRequest);
                frame::reset(turn.out, id, Code::StreamClosed);
                Step::Next
            }
        }
    }

    fn begin_data(
        &mut self,
        session: &mut Session,
        head: FrameHead,
        input: &[u8],
        turn: &mut Turn,
    ) -> (usize, Step) {
        if head.has(frame::flag::PADDED) {
            // The padding may not be longer than the payload; both are thrown away.
            let Some(padding) = input.get(HEAD_BYTES) else {
                return (0, Step::Wait);
            };
            if usize::from(*padding) >= head.payload_bytes {
                return (0, Step::Fail(Code::Protocol));
            }
        }
        let padding = if head.has(frame::flag::PADDED) {
            1 + usize::from(input[HEAD_BYTES])
        } else {
            0
        };
        if head.stream > session.last_stream || head.stream == 0 {
            return (0, Step::Fail(Code::Protocol));
        }
        if !session.take_data(&head, padding, turn.out) {
            return (0, Step::Fail(Code::FlowControl));
        }
        session.data = Some(Data::new(&head));
        let (used, step) = self.data(session, &input[HEAD_BYTES..], turn);
        (HEAD_BYTES + used, step)
    }

    /// Payload of DATA: thrown away.
    fn data(&mut self, session: &mut Session, input: &[u8], turn: &mut Turn) -> (usize, Step) {
        let Some(data) = &mut session.data else {
            return (0, Step::Next);
        };
        let used = input.len().min(data.left);
        data.left -= used;
        if data.left > 0 {
            return (used, if used > 0 { Step::Next } else { Step::Wait });
        }
        let Data { stream, ends, .. } = *data;
        session.data = None;
        if ends && session.streams.get_mut(stream).is_some() {
            return (used, self.whole(session, stream, turn));
        }
        (used, Step::Next)
    }

    /// A request with a body has come to its end.
    fn whole(&mut self, session: &mut Session, id: u32, turn: &mut Turn) -> Step {
        let Some(stream) = session.streams.remove(id) else {
            return Step::Next;
        };
        let State::Receiving {
            request, received, ..
        } = stream.state
        else {
            // It had its end before: what comes now belongs to nothing.
            session.streams.add(stream);
            return Step::Fail(Code::StreamClosed);
        };
        if request.length.is_some_and(|length| length != received) {
            turn.tally.error(ErrorKind::BadRequest);
            frame::reset(turn.out, id, Code::Protocol);
            return Step::Next;
        }
        self.answer(session, id, stream.window, &request, turn)
    }
}

/// Last words when the sink stops: what was begun is all that was answered.
pub(crate) fn farewell(session: &Session, out: &mut Vec<u8>) {
    if session.begun {
        frame::go_away(out, session.last_stream, Code::None);
    }
}

/// The connection is over: replies that were under way never came to their end.
pub(crate) fn left(session: &Session, tally: &mut Tally) {
    tally.unanswered += session.streams.unanswered() as u64;
}
