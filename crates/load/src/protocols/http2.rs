//! HTTP/2: requests on streams of one connection, each with its whole reply.
//!
//! Nothing is kept of a reply but what judges it: frames are read where they lie, header blocks
//! without a dynamic table, content is counted. A block that is equal to the last one says the
//! same, so that it is not read again.

mod frame;
pub mod hpack;
mod huffman;
mod request;
mod session;

use steelyard_wire::job::HttpOperation;
use steelyard_wire::result::Payload;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::payload::PayloadCheck;
use crate::protocols::http::head::error_of;
use crate::protocols::http::pipeline::{Asked, Verifier};
use crate::protocols::{After, CONNECT, LOOK_AGAIN, Output, Protocol, Step, Turn};
use crate::target::Target;
use frame::{ACK, Frame, HEAD_BYTES, Malformed, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE};
use hpack::Block;
use request::Requests;
use session::{Content, Greeting, LARGEST, USUAL_WINDOW};

pub use session::Session;

const GREETING: usize = 2;
const TTFB: usize = 3;
const BODY: usize = 4;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const HEADER_TABLE_SIZE: u16 = 1;
const ENABLE_PUSH: u16 = 2;
const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_FRAME_SIZE: u16 = 5;

/// Code of a stream that is no longer wanted.
const CANCEL: u32 = 8;

/// Longest header block; longer ones are refused.
const LONGEST_BLOCK: usize = 256 * 1024;

/// One worker's requests.
#[derive(Debug, Clone)]
pub struct Http2 {
    requests: Requests,
    kinds: Vec<String>,
    next: u32,
    lanes: usize,
    verifier: Option<Verifier>,
    bodiless: bool,
    strict: bool,
    /// The last header block of a reply, and what it said.
    learned: Vec<u8>,
    known: Block,
    scratch: Vec<u8>,
}

/// What has become of the connection with one frame, or a piece of it.
enum Event {
    Nothing,
    /// Requests may be sent.
    Ready,
    /// The reply in this lane is over.
    Over(usize, Result<(), ErrorKind>),
    /// The peer will say no more that matters.
    Finished,
}

impl Http2 {
    /// The requests of `operation` to `target`; `run` tells the payloads of runs apart.
    pub fn new(operation: &HttpOperation, target: &Target, run: u64) -> Result<Self, LoadError> {
        let requests = Requests::new(operation, target)?;
        let verifier = operation.verify.then(|| Verifier::new(run, &requests.body));
        Ok(Self {
            requests,
            kinds: operation.paths.clone(),
            next: 0,
            lanes: operation.requests_at_once as usize,
            verifier,
            bodiless: operation.method == "HEAD",
            strict: operation.strict,
            learned: Vec::new(),
            known: Block::default(),
            scratch: Vec::new(),
        })
    }

    /// The same for another worker.
    pub fn for_worker(&self, worker: u32) -> Self {
        Self {
            verifier: self
                .verifier
                .as_ref()
                .map(|verifier| verifier.for_worker(worker)),
            ..self.clone()
        }
    }

    /// Takes the next piece of `rest`: content, or one frame, or what there is of it.
    fn take(
        &mut self,
        session: &mut Session,
        rest: &mut &[u8],
        now_ns: u64,
    ) -> Result<Event, ErrorKind> {
        if session.content.open {
            return Ok(self.take_content(session, rest));
        }
        if session.kept.is_empty() {
            let Some((frame, taken)) = frame::next(rest)? else {
                session.kept.extend_from_slice(rest);
                *rest = &[];
                return Ok(Event::Nothing);
            };
            *rest = &rest[taken..];
            return self.take_frame(session, &frame, now_ns);
        }
        let wanted = wanted(&session.kept) - session.kept.len();
        let (more, behind) = rest.split_at(wanted.min(rest.len()));
        *rest = behind;
        let mut kept = std::mem::take(&mut session.kept);
        kept.extend_from_slice(more);
        let event = match frame::next(&kept)? {
            None => {
                session.kept = kept;
                return Ok(Event::Nothing);
            }
            Some((frame, _)) => self.take_frame(session, &frame, now_ns),
        };
        kept.clear();
        session.kept = kept;
        event
    }

    fn take_content(&mut self, session: &mut Session, rest: &mut &[u8]) -> Event {
        let content = &mut session.content;
        let lane = &mut session.lanes[content.lane];
        let (part, behind) = rest.split_at((content.bytes as usize).min(rest.len()));
        content.bytes -= part.len() as u32;
        if let Some(check) = &mut lane.check {
            check.feed(part);
        }
        let padding = (content.padding_bytes as usize).min(behind.len());
        content.padding_bytes -= padding as u32;
        *rest = &behind[padding..];
        if content.bytes > 0 || content.padding_bytes > 0 {
            return Event::Nothing;
        }
        content.open = false;
        if !content.end_stream {
            return Event::Nothing;
        }
        let index = content.lane;
        self.end_stream(session, index)
    }

    fn take_frame(
        &mut self,
        session: &mut Session,
        frame: &Frame<'_>,
        now_ns: u64,
    ) -> Result<Event, ErrorKind> {
        let first = !session.greeting.settings;
        if first && !matches!(frame, Frame::Settings { ack: false, .. }) {
            return Err(ErrorKind::BadProtocol);
        }
        let continues = matches!(
            frame,
            Frame::Headers {
                continued: true,
                ..
            }
        );
        if continues != session.continuing.is_some() {
            return Err(ErrorKind::BadProtocol);
        }
        match *frame {
            Frame::Data {
                stream,
                content_bytes,
                padding_bytes,
                flow_bytes,
                end_stream,
            } => {
                let lane = session.lane_of(stream)?.ok_or(ErrorKind::BadProtocol)?;
                session.content = Content {
                    lane,
                    bytes: content_bytes,
                    padding_bytes,
                    end_stream,
                    open: true,
                };
                self.begin_content(session, flow_bytes)
            }
            Frame::Headers { .. } => self.take_headers(session, frame, now_ns),
            Frame::Reset { stream } => match session.lane_of(stream)? {
                // After a whole reply it only says that the rest of the request is not wanted.
                None => Ok(Event::Nothing),
                Some(lane) => Ok(Event::Over(lane, Err(ErrorKind::H2Rst))),
            },
            Frame::Settings { ack, entries } => self.take_settings(session, ack, entries),
            Frame::Ping { ack, data } => {
                if !ack {
                    frame::write_head(8, PING, ACK, 0, &mut session.owed);
                    session.owed.extend_from_slice(&data);
                }
                Ok(Event::Nothing)
            }
            Frame::Goaway { last_stream } => {
                session.goaway = Some(last_stream);
                match (session.survivors(), session.busy) {
                    (0, 0) => Ok(Event::Finished),
                    (0, _) => Err(ErrorKind::H2Goaway),
                    _ => Ok(Event::Nothing),
                }
            }
            Frame::WindowUpdate { stream, increment } => {
                session.widen(stream, increment)?;
                session.send_bodies(&self.requests.body);
                Ok(Event::Nothing)
            }
            Frame::Ignored { .. } => Ok(Event::Nothing),
        }
    }

    /// A DATA frame has begun; it may be empty.
    fn begin_content(
        &mut self,
        session: &mut Session,
        flow_bytes: u32,
    ) -> Result<Event, ErrorKind> {
        let content = session.content;
        session.use_credit(content.lane, flow_bytes)?;
        let lane = &mut session.lanes[content.lane];
        lane.received_bytes += u64::from(content.bytes);
        let too_much = lane
            .declared_bytes
            .is_some_and(|declared| lane.received_bytes > declared);
        if !lane.answered || too_much {
            return Err(ErrorKind::BadProtocol);
        }
        Ok(self.take_content(session, &mut &[][..]))
    }

    fn take_headers(
        &mut self,
        session: &mut Session,
        frame: &Frame<'_>,
        now_ns: u64,
    ) -> Result<Event, ErrorKind> {
        let Frame::Headers {
            stream,
            fragment,
            end_headers,
            end_stream,
            ..
        } = *frame
        else {
            return Err(ErrorKind::BadProtocol);
        };
        let Some((first, ends)) = session.continuing else {
            if end_headers {
                return self.take_block(session, stream, fragment, end_stream, now_ns);
            }
            session.continuing = Some((stream, end_stream));
            session.block.clear();
            session.block.extend_from_slice(fragment);
            return Ok(Event::Nothing);
        };
        if first != stream || session.block.len() + fragment.len() > LONGEST_BLOCK {
            return Err(ErrorKind::BadProtocol);
        }
        session.block.extend_from_slice(fragment);
        if !end_headers {
            return Ok(Event::Nothing);
        }
        session.continuing = None;
        let block = std::mem::take(&mut session.block);
        let event = self.take_block(session, stream, &block, ends, now_ns);
        session.block = block;
        event
    }

    /// A whole header block: the head of a reply, an interim one, or trailers.
    fn take_block(
        &mut self,
        session: &mut Session,
        stream: u32,
        bytes: &[u8],
        end_stream: bool,
        now_ns: u64,
    ) -> Result<Event, ErrorKind> {
        let index = session.lane_of(stream)?.ok_or(ErrorKind::BadProtocol)?;
        let block = self.read_block(bytes)?;
        let lane = &mut session.lanes[index];
        if lane.first_byte_ns == 0 {
            lane.first_byte_ns = now_ns;
        }
        match block.status {
            None if lane.answered && end_stream => {}
            Some(status) if !lane.answered => {
                lane.error = error_of(status)?;
                if status < 200 {
                    let whole = !end_stream;
                    return whole
                        .then_some(Event::Nothing)
                        .ok_or(ErrorKind::BadProtocol);
                }
                lane.answered = true;
                let bodiless = self.bodiless || status == 204 || status == 304;
                lane.declared_bytes = if bodiless {
                    Some(0)
                } else {
                    block.content_length
                };
                if self.verifier.is_some() {
                    lane.check = Some(Box::new(PayloadCheck::body(block.marker)));
                }
            }
            _ => return Err(ErrorKind::BadProtocol),
        }
        if end_stream {
            return Ok(self.end_stream(session, index));
        }
        Ok(Event::Nothing)
    }

    /// What a block says, by memory or by reading it.
    fn read_block(&mut self, bytes: &[u8]) -> Result<Block, ErrorKind> {
        if !self.strict && !bytes.is_empty() && bytes == self.learned {
            return Ok(self.known);
        }
        let block = hpack::read(bytes, &mut self.scratch)?;
        if !self.strict {
            self.learned.clear();
            self.learned.extend_from_slice(bytes);
            self.known = block;
        }
        Ok(block)
    }

    /// The reply in lane `index` is whole: judges it.
    fn end_stream(&mut self, session: &mut Session, index: usize) -> Event {
        let lane = &session.lanes[index];
        let cut = lane
            .declared_bytes
            .is_some_and(|declared| declared != lane.received_bytes);
        let outcome = match (lane.error, cut, &mut self.verifier, &lane.check) {
            (Some(error), ..) => Err(error),
            (None, true, ..) => Err(ErrorKind::BadProtocol),
            (None, false, Some(verifier), Some(check)) => {
                verifier.judge(session.place, lane.asked.sequence, check)
            }
            _ => Ok(()),
        };
        Event::Over(index, outcome)
    }

    fn take_settings(
        &mut self,
        session: &mut Session,
        ack: bool,
        entries: &[u8],
    ) -> Result<Event, ErrorKind> {
        for entry in entries.as_chunks::<6>().0 {
            let name = u16::from_be_bytes([entry[0], entry[1]]);
            let value = u32::from_be_bytes([entry[2], entry[3], entry[4], entry[5]]);
            match name {
                MAX_CONCURRENT_STREAMS => session.most_streams = value,
                INITIAL_WINDOW_SIZE if value <= LARGEST => session.set_initial(value)?,
                MAX_FRAME_SIZE if (16_384..=16_777_215).contains(&value) => {}
                ENABLE_PUSH if value == 0 => {}
                INITIAL_WINDOW_SIZE | MAX_FRAME_SIZE | ENABLE_PUSH => {
                    return Err(ErrorKind::BadProtocol);
                }
                _ => {}
            }
        }
        session.greeting.settings = true;
        session.greeting.ack |= ack;
        if !ack {
            frame::write_head(0, SETTINGS, ACK, 0, &mut session.owed);
            session.send_bodies(&self.requests.body);
        }
        // A server that allows no stream at first is waited for.
        if session.greeting.ack && !session.greeting.over && session.most_streams > 0 {
            session.greeting.over = true;
            return Ok(Event::Ready);
        }
        Ok(Event::Nothing)
    }

    /// Ends the operation in lane `index`.
    fn over(
        &self,
        session: &mut Session,
        index: usize,
        outcome: Result<(), ErrorKind>,
        turn: &mut Turn<'_>,
    ) -> Step {
        let lane = &session.lanes[index];
        turn.lane = index;
        if outcome.is_ok() {
            turn.mark_at(TTFB, lane.first_byte_ns);
            turn.mark(BODY);
        }
        if !session.has_sent_all(index) && outcome != Err(ErrorKind::H2Rst) {
            frame::write_head(4, RST_STREAM, 0, lane.stream, &mut session.owed);
            session.owed.extend_from_slice(&CANCEL.to_be_bytes());
        }
        session.close_stream(index);
        if self.lanes > 1 {
            turn.out.head.append(&mut session.owed);
        }
        let leaves = session.goaway.is_some() || session.is_exhausted();
        if leaves && session.busy == 0 {
            return Step::Done(outcome, After::Close);
        }
        if session.goaway.is_some() && session.survivors() == 0 {
            // The others were given up by the server: they fail with the next look.
            session.abandoned = true;
            turn.left = LOOK_AGAIN;
        }
        Step::Done(outcome, After::Ready)
    }
}

impl From<Malformed> for ErrorKind {
    fn from(_: Malformed) -> Self {
        Self::BadProtocol
    }
}

/// So many bytes of a frame are needed before it can be looked at again.
fn wanted(kept: &[u8]) -> usize {
    match kept {
        [a, b, c, kind, ..] if kept.len() >= HEAD_BYTES => {
            let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
            // Of a DATA frame only the length of its padding can be missing.
            HEAD_BYTES + if *kind == frame::DATA { 1 } else { length }
        }
        _ => HEAD_BYTES,
    }
}

impl Protocol for Http2 {
    type Session = Session;

    const PHASES: &'static [&'static str] = &["connect", "tls", "settings", "ttfb", "body"];

    fn one_shot(&self) -> bool {
        false
    }

    fn lanes(&self) -> usize {
        self.lanes
    }

    fn has_room(&self, session: &Session) -> bool {
        session.busy < session.most_streams && session.goaway.is_none() && !session.is_exhausted()
    }

    fn kinds(&self) -> Vec<String> {
        self.kinds.clone()
    }

    fn kind(&self, session: &Session, lane: usize) -> usize {
        session.lanes[lane].asked.kind as usize
    }

    fn alpn(&self) -> &'static [&'static [u8]] {
        &[b"h2"]
    }

    fn open(&mut self, place: usize) -> Session {
        Session::new(place, self.lanes)
    }

    fn connected(&mut self, session: &mut Session, turn: &mut Turn<'_>) -> Step {
        session.greeting = Greeting::default();
        let out = &mut turn.out.head;
        out.extend_from_slice(PREFACE);
        let settings = [
            (HEADER_TABLE_SIZE, 0),
            (ENABLE_PUSH, 0),
            (INITIAL_WINDOW_SIZE, LARGEST),
        ];
        frame::write_head(settings.len() * 6, SETTINGS, 0, 0, out);
        for (name, value) in settings {
            out.extend_from_slice(&name.to_be_bytes());
            out.extend_from_slice(&value.to_be_bytes());
        }
        frame::write_head(4, WINDOW_UPDATE, 0, 0, out);
        out.extend_from_slice(&(LARGEST - USUAL_WINDOW).to_be_bytes());
        Step::More
    }

    fn start(&mut self, session: &mut Session, lane: usize, out: &mut Output) {
        let out = &mut out.head;
        out.append(&mut session.owed);
        let marker = self
            .verifier
            .as_mut()
            .map(|verifier| verifier.mark(session.place));
        let kind = self.next;
        self.next += 1;
        if self.next as usize == self.requests.len() {
            self.next = 0;
        }
        let sequence = marker.map_or(0, |marker| marker.sequence);
        let stream = session.open_stream(lane, Asked { kind, sequence });
        self.requests
            .write(kind as usize, stream, marker.as_ref(), out);
        session.begin_body(lane, &self.requests.body, out);
    }

    fn received(&mut self, session: &mut Session, bytes: &[u8], turn: &mut Turn<'_>) -> Step {
        if session.abandoned {
            return Step::Broken(ErrorKind::H2Goaway);
        }
        let mut rest = bytes;
        loop {
            match self.take(session, &mut rest, turn.now_ns) {
                Ok(Event::Nothing) if rest.is_empty() => {
                    turn.out.head.append(&mut session.owed);
                    return Step::More;
                }
                // A server may wait for this answer before it says anything else.
                Ok(Event::Nothing) if !session.greeting.over && !session.owed.is_empty() => {
                    turn.out.head.append(&mut session.owed);
                    turn.left = rest.len();
                    return Step::More;
                }
                Ok(Event::Nothing) => {}
                Ok(Event::Ready) => {
                    turn.left = rest.len();
                    turn.mark(GREETING);
                    return Step::Ready;
                }
                Ok(Event::Over(lane, outcome)) => {
                    turn.left = rest.len();
                    return self.over(session, lane, outcome, turn);
                }
                Ok(Event::Finished) => return Step::Finished,
                Err(kind) => return Step::Broken(kind),
            }
        }
    }

    fn ended(&mut self, session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        match (session.goaway, session.busy) {
            (Some(_), 1..) => Step::Broken(ErrorKind::H2Goaway),
            (None, 0) if session.greeting.over => Step::Finished,
            (None, _) => Step::Broken(ErrorKind::PeerClosedEarly),
            (Some(_), 0) => Step::Finished,
        }
    }

    fn phase(&self, session: &Session) -> usize {
        let alone = session.lanes.first().filter(|_| self.lanes == 1);
        match alone {
            _ if !session.greeting.over => GREETING,
            _ if session.busy == 0 => CONNECT,
            Some(lane) if lane.answered && lane.error.is_none() => BODY,
            _ => TTFB,
        }
    }

    fn shared(&self) -> &[u8] {
        &[]
    }

    fn payload(&self) -> Option<Payload> {
        self.verifier.as_ref().map(Verifier::payload)
    }

    fn farewell(&self) -> &'static [u8] {
        // GOAWAY, no error: no stream of the server was processed.
        b"\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    }
}

#[cfg(test)]
mod tests;
