//! Streams that are not over, and how much may be sent on them.

use crate::options::fault::FaultKind;
use crate::protocols::filler;
use crate::protocols::http2::frame::{FrameHead, flag, kind};
use crate::protocols::http2::request::Request;

/// Largest flow-control window there is.
pub(crate) const MAX_WINDOW: i64 = 0x7FFF_FFFF;

/// What a stream waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// The rest of the request's body.
    Receiving {
        request: Request,
        received: u64,
        /// Bytes the client may send before it is given more.
        credit: i64,
    },
    /// Its time: the request is whole.
    Delayed(Delayed),
    /// Room for the rest of the reply's body.
    Sending { sent: u64, left: u64 },
    /// Nothing: it is never answered.
    Stalled,
}

/// A request whose answer waits for its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delayed {
    pub request: Request,
    pub fault: Option<FaultKind>,
    pub until_ns: u64,
}

/// A stream that is not over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    pub id: u32,
    /// Bytes that may be sent on it.
    pub window: i64,
    pub state: State,
}

/// The streams of one connection. Most requests are answered at once and never get here.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    list: Vec<Stream>,
    sending: usize,
    /// Who may send next.
    turn: usize,
}

impl Streams {
    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn sending(&self) -> usize {
        self.sending
    }

    /// Requests that are whole and whose replies are not; those never to be answered apart.
    pub fn unanswered(&self) -> usize {
        let delayed = |stream: &&Stream| matches!(stream.state, State::Delayed(_));
        self.sending + self.list.iter().filter(delayed).count()
    }

    /// Takes out the stream whose delay was over first, if one's is at `now_ns`.
    pub fn take_due(&mut self, now_ns: u64) -> Option<(Stream, Delayed)> {
        let due = |(place, stream): (usize, &Stream)| match stream.state {
            State::Delayed(delayed) if delayed.until_ns <= now_ns => {
                Some((delayed.until_ns, place, delayed))
            }
            _ => None,
        };
        let all = self.list.iter().enumerate().filter_map(due);
        let (_, place, delayed) = all.min_by_key(|(until_ns, place, _)| (*until_ns, *place))?;
        Some((self.remove_at(place), delayed))
    }

    pub fn is_receiving(&self) -> bool {
        let receiving = |stream: &Stream| matches!(stream.state, State::Receiving { .. });
        self.list.iter().any(receiving)
    }

    pub fn get_mut(&mut self, id: u32) -> Option<&mut Stream> {
        self.list.iter_mut().find(|stream| stream.id == id)
    }

    pub fn add(&mut self, stream: Stream) {
        self.sending += usize::from(matches!(stream.state, State::Sending { .. }));
        self.list.push(stream);
    }

    pub fn remove(&mut self, id: u32) -> Option<Stream> {
        let place = self.list.iter().position(|stream| stream.id == id)?;
        Some(self.remove_at(place))
    }

    fn remove_at(&mut self, place: usize) -> Stream {
        let stream = self.list.swap_remove(place);
        self.sending -= usize::from(matches!(stream.state, State::Sending { .. }));
        stream
    }

    /// The client has changed how much may be sent on a stream at first; `false` if too far.
    pub fn shift_windows(&mut self, by: i64) -> bool {
        for stream in &mut self.list {
            stream.window += by;
        }
        self.list.iter().all(|stream| stream.window <= MAX_WINDOW)
    }

    /// Writes bodies, one frame of each stream in turn, until `out` holds `most` bytes or nothing
    /// more may be sent. Returns how many streams have come to their end.
    pub fn send(
        &mut self,
        window: &mut i64,
        max_payload: usize,
        most: usize,
        out: &mut Vec<u8>,
    ) -> u64 {
        let mut ended = 0;
        let mut idle = 0;
        while self.sending > 0 && *window > 0 && idle < self.list.len() && out.len() < most {
            self.turn %= self.list.len();
            let stream = &mut self.list[self.turn];
            if !stream.send(window, max_payload, out) {
                idle += 1;
                self.turn += 1;
                continue;
            }
            idle = 0;
            if matches!(stream.state, State::Sending { left: 0, .. }) {
                self.remove_at(self.turn);
                ended += 1;
            } else {
                self.turn += 1;
            }
        }
        ended
    }

    /// Whether [`Streams::send`] would write something.
    pub fn can_send(&self, window: i64) -> bool {
        let ready =
            |stream: &Stream| stream.window > 0 && matches!(stream.state, State::Sending { .. });
        window > 0 && self.sending > 0 && self.list.iter().any(ready)
    }
}

impl Stream {
    /// Writes one frame of body; `false` if none may be sent.
    fn send(&mut self, window: &mut i64, max_payload: usize, out: &mut Vec<u8>) -> bool {
        let State::Sending { sent, left } = &mut self.state else {
            return false;
        };
        let most = (*window)
            .min(self.window)
            .min(max_payload.cast_signed() as i64);
        if most <= 0 {
            return false;
        }
        let most = usize::try_from(*left)
            .unwrap_or(usize::MAX)
            .min(most as usize);
        let data = filler(*sent, most);
        *sent += data.len() as u64;
        *left -= data.len() as u64;
        let sent_bytes = data.len().cast_signed() as i64;
        *window -= sent_bytes;
        self.window -= sent_bytes;
        let head = FrameHead {
            payload_bytes: data.len(),
            kind: kind::DATA,
            flags: if *left == 0 { flag::END_STREAM } else { 0 },
            stream: self.id,
        };
        head.write(out);
        out.extend_from_slice(data);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sending(id: u32, window: i64, left: u64) -> Stream {
        let state = State::Sending { sent: 0, left };
        Stream { id, window, state }
    }

    #[test]
    fn streams_share_the_window_of_their_connection_in_turn() {
        let mut streams = Streams::default();
        streams.add(sending(1, 100, 25));
        streams.add(sending(3, 100, 20));
        let (mut window, mut out) = (40, Vec::new());
        assert_eq!(streams.send(&mut window, 10, 1000, &mut out), 1);
        assert_eq!((window, streams.sending()), (0, 1));
        assert!(!streams.can_send(window));
        let mut heads = Vec::new();
        while !out.is_empty() {
            let head = FrameHead::read(&out).unwrap();
            heads.push((head.stream, head.payload_bytes, head.flags));
            out.drain(..9 + head.payload_bytes);
        }
        assert_eq!(heads, [(1, 10, 0), (3, 10, 0), (1, 10, 0), (3, 10, 1)]);
        window = 100;
        assert_eq!(streams.send(&mut window, 10, 1000, &mut out), 1);
        assert_eq!((window, streams.len()), (95, 0));
    }

    #[test]
    fn a_stream_without_room_lets_others_send() {
        let mut streams = Streams::default();
        streams.add(sending(1, 0, 5));
        streams.add(sending(3, 5, 5));
        let (mut window, mut out) = (100, Vec::new());
        assert_eq!(streams.send(&mut window, 10, 1000, &mut out), 1);
        assert!(!streams.can_send(window));
        assert!(streams.shift_windows(5));
        assert_eq!(streams.send(&mut window, 10, 1000, &mut out), 1);
    }
}
