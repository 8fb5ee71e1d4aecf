//! Frames that are about the connection and its streams, not about what is on them.

use crate::counters::tally::ErrorKind;
use crate::protocols::Turn;
use crate::protocols::http2::Step;
use crate::protocols::http2::frame::{self, Code, FrameHead, MAX_PAYLOAD_BYTES, flag, kind};
use crate::protocols::http2::session::Session;
use crate::protocols::http2::streams::{MAX_WINDOW, State};

/// Does what the frame says.
pub(super) fn apply(
    session: &mut Session,
    head: &FrameHead,
    payload: &[u8],
    turn: &mut Turn,
) -> Step {
    let done = match head.kind {
        kind::SETTINGS => settings(session, head, payload, turn),
        kind::PING => ping(head, payload, turn),
        kind::WINDOW_UPDATE => window_update(session, head, payload, turn),
        kind::RST_STREAM => reset(session, head, payload, turn),
        kind::PRIORITY => priority(head, payload),
        kind::GOAWAY if head.stream != 0 => Err(Code::Protocol),
        kind::PUSH_PROMISE => Err(Code::Protocol),
        // GOAWAY: the client opens nothing more, and what is open is answered. Others are unknown.
        _ => Ok(()),
    };
    match done {
        Ok(()) => Step::Next,
        Err(code) => Step::Fail(code),
    }
}

fn settings(
    session: &mut Session,
    head: &FrameHead,
    payload: &[u8],
    turn: &mut Turn,
) -> Result<(), Code> {
    if head.stream != 0 {
        return Err(Code::Protocol);
    }
    let ack = head.has(flag::ACK);
    if !payload.len().is_multiple_of(6) || (ack && !payload.is_empty()) {
        return Err(Code::FrameSize);
    }
    if ack {
        return Ok(());
    }
    for setting in payload.chunks_exact(6) {
        let value = frame::number(&setting[2..]).unwrap_or(0);
        set(session, u16::from_be_bytes([setting[0], setting[1]]), value)?;
    }
    frame::write(turn.out, kind::SETTINGS, flag::ACK, 0, &[]);
    Ok(())
}

fn set(session: &mut Session, setting: u16, value: u32) -> Result<(), Code> {
    match setting {
        2 if value > 1 => Err(Code::Protocol),
        4 => {
            let window = i64::from(value);
            let shift = window - session.initial_window;
            session.initial_window = window;
            if window > MAX_WINDOW || !session.streams.shift_windows(shift) {
                return Err(Code::FlowControl);
            }
            Ok(())
        }
        5 => {
            let bytes = value as usize;
            if !(MAX_PAYLOAD_BYTES..=0xFF_FFFF).contains(&bytes) {
                return Err(Code::Protocol);
            }
            Ok(())
        }
        // The dynamic table's size and pushing are not used, the others are advice.
        _ => Ok(()),
    }
}

fn ping(head: &FrameHead, payload: &[u8], turn: &mut Turn) -> Result<(), Code> {
    if head.stream != 0 {
        return Err(Code::Protocol);
    }
    if payload.len() != 8 {
        return Err(Code::FrameSize);
    }
    if !head.has(flag::ACK) {
        frame::write(turn.out, kind::PING, flag::ACK, 0, payload);
    }
    Ok(())
}

fn window_update(
    session: &mut Session,
    head: &FrameHead,
    payload: &[u8],
    turn: &mut Turn,
) -> Result<(), Code> {
    if payload.len() != 4 {
        return Err(Code::FrameSize);
    }
    let more = i64::from(frame::number(payload).unwrap_or(0) & 0x7FFF_FFFF);
    if head.stream == 0 {
        session.window += more;
        return match more {
            0 => Err(Code::Protocol),
            _ if session.window > MAX_WINDOW => Err(Code::FlowControl),
            _ => Ok(()),
        };
    }
    if head.stream > session.last_stream {
        return Err(Code::Protocol);
    }
    let Some(stream) = session.streams.get_mut(head.stream) else {
        // It has ended while this was on its way.
        return Ok(());
    };
    stream.window += more;
    if more == 0 || stream.window > MAX_WINDOW {
        let code = if more == 0 {
            Code::Protocol
        } else {
            Code::FlowControl
        };
        frame::reset(turn.out, head.stream, code);
        turn.tally.error(ErrorKind::BadRequest);
        end(session, head.stream, turn);
    }
    Ok(())
}

fn reset(
    session: &mut Session,
    head: &FrameHead,
    payload: &[u8],
    turn: &mut Turn,
) -> Result<(), Code> {
    if head.stream == 0 || head.stream > session.last_stream {
        return Err(Code::Protocol);
    }
    if payload.len() != 4 {
        return Err(Code::FrameSize);
    }
    turn.tally.error(ErrorKind::PeerReset);
    end(session, head.stream, turn);
    Ok(())
}

/// Priorities are advice that no one follows (RFC 9113, 5.3.2).
fn priority(head: &FrameHead, payload: &[u8]) -> Result<(), Code> {
    match (head.stream, payload.len()) {
        (0, _) => Err(Code::Protocol),
        (_, 5) => Ok(()),
        _ => Err(Code::FrameSize),
    }
}

/// A stream is given up; a reply that was under way stays unanswered.
fn end(session: &mut Session, id: u32, turn: &mut Turn) {
    if let Some(stream) = session.streams.remove(id)
        && matches!(stream.state, State::Sending { .. } | State::Delayed(_))
    {
        turn.tally.unanswered += 1;
    }
}
