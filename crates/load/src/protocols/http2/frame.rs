//! Frames of HTTP/2 (RFC 9113, section 4 and 6): a pure function from bytes to frames.

/// Length of a frame's head.
pub const HEAD_BYTES: usize = 9;

/// Longest payload that may come, and that is sent: the protocol's default, never changed.
pub const LONGEST_PAYLOAD: usize = 16_384;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 0x1;
pub const ACK: u8 = 0x1;
pub const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const WITH_PRIORITY: u8 = 0x20;

/// A frame, its parts where they were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'a> {
    /// The beginning of a DATA frame; its content and its padding are still to be read.
    Data {
        stream: u32,
        content_bytes: u32,
        padding_bytes: u32,
        /// What flow control counts: all of the payload.
        flow_bytes: u32,
        end_stream: bool,
    },
    /// HEADERS, or CONTINUATION.
    Headers {
        stream: u32,
        fragment: &'a [u8],
        end_headers: bool,
        end_stream: bool,
        continued: bool,
    },
    /// `RST_STREAM`.
    Reset { stream: u32 },
    /// SETTINGS; a whole number of entries, none with `ack`.
    Settings { ack: bool, entries: &'a [u8] },
    /// PING.
    Ping { ack: bool, data: [u8; 8] },
    /// GOAWAY.
    Goaway { last_stream: u32 },
    /// `WINDOW_UPDATE`.
    WindowUpdate { stream: u32, increment: u32 },
    /// PRIORITY, and types that no one knows: to be ignored.
    Ignored { stream: u32 },
}

/// The bytes are no frame that may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// The frame that `bytes` begin with and the bytes it takes; `Ok(None)` when more are needed.
///
/// Of DATA frames only the beginning is taken, so that no payload need be kept.
pub fn next(bytes: &[u8]) -> Result<Option<(Frame<'_>, usize)>, Malformed> {
    let Some((head, rest)) = bytes.split_first_chunk::<HEAD_BYTES>() else {
        return Ok(None);
    };
    let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
    if length > LONGEST_PAYLOAD {
        return Err(Malformed);
    }
    let (kind, flags) = (head[3], head[4]);
    let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]) & 0x7fff_ffff;
    if kind == DATA {
        return data(length, flags, stream, rest);
    }
    let Some(payload) = rest.get(..length) else {
        return Ok(None);
    };
    let frame = match kind {
        HEADERS => headers(flags, stream, payload)?,
        CONTINUATION if stream > 0 => Frame::Headers {
            stream,
            fragment: payload,
            end_headers: flags & END_HEADERS > 0,
            end_stream: false,
            continued: true,
        },
        PRIORITY if length == 5 && stream > 0 => Frame::Ignored { stream },
        RST_STREAM if length == 4 && stream > 0 => Frame::Reset { stream },
        SETTINGS => settings(flags, stream, payload)?,
        PING if stream == 0 => Frame::Ping {
            ack: flags & ACK > 0,
            data: payload.try_into().map_err(|_| Malformed)?,
        },
        GOAWAY if length >= 8 && stream == 0 => Frame::Goaway {
            last_stream: number(payload)?,
        },
        WINDOW_UPDATE if length == 4 => window_update(stream, payload)?,
        PRIORITY | RST_STREAM | PUSH_PROMISE | PING | GOAWAY | WINDOW_UPDATE | CONTINUATION => {
            return Err(Malformed);
        }
        _ => Frame::Ignored { stream },
    };
    Ok(Some((frame, HEAD_BYTES + length)))
}

fn data(
    length: usize,
    flags: u8,
    stream: u32,
    rest: &[u8],
) -> Result<Option<(Frame<'static>, usize)>, Malformed> {
    if stream == 0 {
        return Err(Malformed);
    }
    let (padding, prefix) = match (flags & PADDED > 0, rest.first()) {
        (false, _) => (0, 0),
        (true, _) if length == 0 => return Err(Malformed),
        (true, None) => return Ok(None),
        (true, Some(padding)) => (usize::from(*padding), 1),
    };
    let content = (length - prefix).checked_sub(padding).ok_or(Malformed)?;
    let frame = Frame::Data {
        stream,
        content_bytes: content as u32,
        padding_bytes: padding as u32,
        flow_bytes: length as u32,
        end_stream: flags & END_STREAM > 0,
    };
    Ok(Some((frame, HEAD_BYTES + prefix)))
}

fn headers(flags: u8, stream: u32, payload: &[u8]) -> Result<Frame<'_>, Malformed> {
    let mut fragment = payload;
    let mut padding = 0;
    if flags & PADDED > 0 {
        let (first, rest) = fragment.split_first().ok_or(Malformed)?;
        (padding, fragment) = (usize::from(*first), rest);
    }
    if flags & WITH_PRIORITY > 0 {
        fragment = fragment.get(5..).ok_or(Malformed)?;
    }
    let length = fragment.len().checked_sub(padding).ok_or(Malformed)?;
    if stream == 0 {
        return Err(Malformed);
    }
    Ok(Frame::Headers {
        stream,
        fragment: &fragment[..length],
        end_headers: flags & END_HEADERS > 0,
        end_stream: flags & END_STREAM > 0,
        continued: false,
    })
}

fn settings(flags: u8, stream: u32, entries: &[u8]) -> Result<Frame<'_>, Malformed> {
    let ack = flags & ACK > 0;
    let whole = if ack {
        entries.is_empty()
    } else {
        entries.len().is_multiple_of(6)
    };
    if stream > 0 || !whole {
        return Err(Malformed);
    }
    Ok(Frame::Settings { ack, entries })
}

fn window_update(stream: u32, payload: &[u8]) -> Result<Frame<'_>, Malformed> {
    match number(payload)? {
        0 => Err(Malformed),
        increment => Ok(Frame::WindowUpdate { stream, increment }),
    }
}

/// 31 bits.
fn number(payload: &[u8]) -> Result<u32, Malformed> {
    let bytes = payload.first_chunk::<4>().ok_or(Malformed)?;
    Ok(u32::from_be_bytes(*bytes) & 0x7fff_ffff)
}

/// Appends the head of a frame.
pub fn write_head(length: usize, kind: u8, flags: u8, stream: u32, out: &mut Vec<u8>) {
    let length = (length as u32).to_be_bytes();
    out.extend_from_slice(&[length[1], length[2], length[3], kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
