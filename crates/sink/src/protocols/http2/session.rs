//! What an HTTP/2 connection remembers between two frames.

use steelyard_hpack::{Decoder, Malformed};

use crate::protocols::http2::MAX_STREAMS;
use crate::protocols::http2::frame::{self, FrameHead, flag, kind};
use crate::protocols::http2::request::{MAX_FIELDS_BYTES, Reading, Request};
use crate::protocols::http2::streams::{State, Stream, Streams};

/// Bytes a client may send on a stream before it must be given more.
const STREAM_CREDIT: i64 = 1 << 20;
/// The same for all streams together.
const CONNECTION_CREDIT: i64 = 16 << 20;
/// Both windows as they are before anything was said.
const FIRST_WINDOW: i64 = 65_535;

/// A header block that comes in several frames.
#[derive(Debug)]
pub(crate) struct Block {
    pub stream: u32,
    /// The request has no body.
    pub ends: bool,
    pub bytes: Vec<u8>,
}

impl Block {
    pub fn new(head: &FrameHead, part: &[u8]) -> Self {
        Self {
            stream: head.stream,
            ends: head.has(flag::END_STREAM),
            bytes: part.to_vec(),
        }
    }

    /// The part of a HEADERS frame that belongs to the block.
    pub fn part<'a>(head: &FrameHead, payload: &'a [u8]) -> Option<&'a [u8]> {
        let part = frame::unpadded(head, payload)?;
        if head.has(flag::PRIORITY) {
            return part.get(5..);
        }
        Some(part)
    }
}

/// A DATA frame whose payload is coming.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Data {
    pub stream: u32,
    pub ends: bool,
    pub left: usize,
}

impl Data {
    pub fn new(head: &FrameHead) -> Self {
        Self {
            stream: head.stream,
            ends: head.has(flag::END_STREAM),
            left: head.payload_bytes,
        }
    }
}

/// The last block that left the dynamic table as it was, and what it meant.
#[derive(Debug)]
struct Learned {
    block: Vec<u8>,
    version: u64,
    request: Request,
}

/// One HTTP/2 connection.
#[derive(Debug)]
pub(crate) struct Session {
    pub decoder: Decoder,
    learned: Option<Learned>,
    /// The preface was read and answered.
    pub begun: bool,
    /// The client's SETTINGS, which must come first, were read.
    pub settled: bool,
    /// Highest stream the client has opened.
    pub last_stream: u32,
    pub streams: Streams,
    /// Bytes that may be sent on all streams together.
    pub window: i64,
    /// Bytes that may be sent on a new stream.
    pub initial_window: i64,
    credit: i64,
    pub block: Option<Block>,
    pub data: Option<Data>,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            decoder: Decoder::default(),
            learned: None,
            begun: false,
            settled: false,
            last_stream: 0,
            streams: Streams::default(),
            window: FIRST_WINDOW,
            initial_window: FIRST_WINDOW,
            credit: CONNECTION_CREDIT,
            block: None,
            data: None,
        }
    }
}

impl Session {
    /// Says what a server says first.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        self.begun = true;
        let mut payload = Vec::with_capacity(18);
        for (setting, value) in [
            (3_u16, MAX_STREAMS as u32),
            (4, STREAM_CREDIT as u32),
            (6, MAX_FIELDS_BYTES as u32),
        ] {
            payload.extend_from_slice(&setting.to_be_bytes());
            payload.extend_from_slice(&value.to_be_bytes());
        }
        frame::write(out, kind::SETTINGS, 0, 0, &payload);
        frame::window_update(out, 0, (CONNECTION_CREDIT - FIRST_WINDOW) as u32);
    }

    /// Whether this frame may come now.
    pub fn expects(&mut self, head: &FrameHead) -> bool {
        let settings = head.kind == kind::SETTINGS && !head.has(flag::ACK);
        if !std::mem::replace(&mut self.settled, true) && !settings {
            return false;
        }
        match &self.block {
            Some(block) => head.kind == kind::CONTINUATION && head.stream == block.stream,
            None => head.kind != kind::CONTINUATION,
        }
    }

    /// What a header block asks for; `None` if it is malformed.
    ///
    /// A client sends the same block again and again. If the table is what it was, it means the
    /// same, and if it then did not change the table, nothing has to be read.
    pub fn read(&mut self, block: &[u8]) -> Result<Option<Request>, Malformed> {
        let version = self.decoder.version();
        if let Some(learned) = &self.learned
            && learned.version == version
            && learned.block == block
        {
            return Ok(Some(learned.request));
        }
        let mut reading = Reading::default();
        self.decoder
            .decode(block, &mut |name, value| reading.field(name, value))?;
        let request = reading.finish();
        if let Some(request) = request
            && self.decoder.version() == version
        {
            self.learned = Some(Learned {
                block: block.to_vec(),
                version,
                request,
            });
        }
        Ok(request)
    }

    /// The body of this request follows.
    pub fn receive(&mut self, id: u32, request: Request) {
        self.streams.add(Stream {
            id,
            window: self.initial_window,
            state: State::Receiving {
                request,
                received: 0,
                credit: STREAM_CREDIT,
            },
        });
    }

    /// Takes note of a DATA frame and lets the client send more; `false` if it may not send so much.
    pub fn take_data(&mut self, head: &FrameHead, padding: usize, out: &mut Vec<u8>) -> bool {
        let bytes = head.payload_bytes.cast_signed() as i64;
        self.credit -= bytes;
        if self.credit < 0 {
            return false;
        }
        if self.credit < CONNECTION_CREDIT / 2 {
            frame::window_update(out, 0, (CONNECTION_CREDIT - self.credit) as u32);
            self.credit = CONNECTION_CREDIT;
        }
        let ends = head.has(flag::END_STREAM);
        let Some(stream) = self.streams.get_mut(head.stream) else {
            return true;
        };
        let State::Receiving {
            received, credit, ..
        } = &mut stream.state
        else {
            return true;
        };
        *received += (head.payload_bytes - padding) as u64;
        *credit -= bytes;
        if *credit < 0 {
            return false;
        }
        if *credit < STREAM_CREDIT / 2 && !ends {
            frame::window_update(out, head.stream, (STREAM_CREDIT - *credit) as u32);
            *credit = STREAM_CREDIT;
        }
        true
    }

    /// Writes bodies that waited, up to `most` bytes of output; returns how many have ended.
    pub fn send(&mut self, most: usize, out: &mut Vec<u8>) -> u64 {
        if self.streams.sending() == 0 {
            return 0;
        }
        self.streams
            .send(&mut self.window, frame::MAX_PAYLOAD_BYTES, most, out)
    }

    pub fn can_send(&self) -> bool {
        self.streams.can_send(self.window)
    }

    /// Whether the client may not leave now without leaving something half done.
    pub fn unfinished(&self) -> bool {
        self.block.is_some() || self.data.is_some() || self.streams.is_receiving()
    }
}
