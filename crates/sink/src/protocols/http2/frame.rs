//! Frames as bytes (RFC 9113, 4 and 6).

/// What a client says first.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Before every payload.
pub(crate) const HEAD_BYTES: usize = 9;
/// Largest payload taken, and sent unless the client takes less than it must.
pub(crate) const MAX_PAYLOAD_BYTES: usize = 16 * 1024;

/// Kinds of frames; others are ignored.
pub(crate) mod kind {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const PRIORITY: u8 = 2;
    pub const RST_STREAM: u8 = 3;
    pub const SETTINGS: u8 = 4;
    pub const PUSH_PROMISE: u8 = 5;
    pub const PING: u8 = 6;
    pub const GOAWAY: u8 = 7;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const CONTINUATION: u8 = 9;
}

/// Flags of frames.
pub(crate) mod flag {
    pub const END_STREAM: u8 = 1;
    pub const ACK: u8 = 1;
    pub const END_HEADERS: u8 = 4;
    pub const PADDED: u8 = 8;
    pub const PRIORITY: u8 = 0x20;
}

/// Why a stream or a connection ends (RFC 9113, 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    None = 0,
    Protocol = 1,
    Internal = 2,
    FlowControl = 3,
    StreamClosed = 5,
    FrameSize = 6,
    Refused = 7,
    Compression = 9,
    Calm = 11,
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameHead {
    pub payload_bytes: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl FrameHead {
    /// From the front of `input`, once it is there.
    pub fn read(input: &[u8]) -> Option<Self> {
        let head = input.first_chunk::<HEAD_BYTES>()?;
        Some(Self {
            payload_bytes: u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize,
            kind: head[3],
            flags: head[4],
            stream: u32::from_be_bytes([head[5], head[6], head[7], head[8]]) & 0x7FFF_FFFF,
        })
    }

    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        let length = (self.payload_bytes as u32).to_be_bytes();
        let stream = self.stream.to_be_bytes();
        out.extend_from_slice(&[
            length[1], length[2], length[3], self.kind, self.flags, stream[0], stream[1],
            stream[2], stream[3],
        ]);
    }
}

/// A whole frame.
pub(crate) fn write(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let head = FrameHead {
        payload_bytes: payload.len(),
        kind,
        flags,
        stream,
    };
    head.write(out);
    out.extend_from_slice(payload);
}

/// Puts the stream into a frame that starts at `at`.
pub(crate) fn set_stream(out: &mut [u8], at: usize, stream: u32) {
    out[at + 5..at + HEAD_BYTES].copy_from_slice(&stream.to_be_bytes());
}

/// Puts the length of its payload into the frame that starts at `at` and ends with `out`.
pub(crate) fn set_length(out: &mut [u8], at: usize) {
    let length = ((out.len() - at - HEAD_BYTES) as u32).to_be_bytes();
    out[at..at + 3].copy_from_slice(&length[1..]);
}

pub(crate) fn reset(out: &mut Vec<u8>, stream: u32, code: Code) {
    write(
        out,
        kind::RST_STREAM,
        0,
        stream,
        &(code as u32).to_be_bytes(),
    );
}

pub(crate) fn window_update(out: &mut Vec<u8>, stream: u32, bytes: u32) {
    write(out, kind::WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes());
}

pub(crate) fn go_away(out: &mut Vec<u8>, last_stream: u32, code: Code) {
    let mut payload = [0; 8];
    payload[..4].copy_from_slice(&last_stream.to_be_bytes());
    payload[4..].copy_from_slice(&(code as u32).to_be_bytes());
    write(out, kind::GOAWAY, 0, 0, &payload);
}

/// A 32-bit number at the front of a payload.
pub(crate) fn number(payload: &[u8]) -> Option<u32> {
    payload
        .first_chunk()
        .map(|bytes| u32::from_be_bytes(*bytes))
}

/// What is left of a payload without its padding; `None` if there is less than it says.
pub(crate) fn unpadded<'a>(head: &FrameHead, payload: &'a [u8]) -> Option<&'a [u8]> {
    if !head.has(flag::PADDED) {
        return Some(payload);
    }
    let (padding, rest) = payload.split_first()?;
    rest.get(..rest.len().checked_sub(usize::from(*padding))?)
}
