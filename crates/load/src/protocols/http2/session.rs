//! One connection of HTTP/2: its streams, its windows, what it owes the peer.

use super::frame::{DATA, END_STREAM, LONGEST_PAYLOAD, WINDOW_UPDATE, write_head};
use crate::fault::ErrorKind;
use crate::payload::PayloadCheck;
use crate::protocols::http::pipeline::Asked;

/// Largest window, and largest stream number.
pub const LARGEST: u32 = 0x7fff_ffff;

/// Windows that are announced by no one.
pub const USUAL_WINDOW: u32 = 65_535;

/// The peer is given new credit when it has used this much.
const CREDIT_BYTES: u32 = 1 << 30;

/// One connection.
#[derive(Debug)]
pub struct Session {
    pub place: usize,
    pub slots: Box<[Slot]>,
    /// Slot of a stream, by its number; overwritten by later ones.
    ring: Box<[u16]>,
    pub next_stream: u32,
    pub busy: u32,
    pub greeting: Greeting,
    /// Streams that the peer allows at the same time.
    pub most_streams: u32,
    /// The last stream that the peer will answer, once it has said so.
    pub goaway: Option<u32>,
    /// The next byte ends the connection: nothing of what is on its way will be answered.
    pub abandoned: bool,
    /// A frame that is not whole yet.
    pub kept: Vec<u8>,
    /// A header block that comes in parts.
    pub block: Vec<u8>,
    /// Stream of that block, and whether it ends the stream.
    pub continuing: Option<(u32, bool)>,
    pub content: Content,
    /// What the peer takes on all streams, and on each from its beginning.
    peer_window: i64,
    peer_initial: i64,
    /// What the peer has sent since it was last given credit.
    used_bytes: u32,
    /// Slots whose body has not left completely.
    unsent_bodies: u32,
    /// Frames that go out with the next write.
    pub owed: Vec<u8>,
}

/// How far the connection has been agreed on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Greeting {
    pub settings: bool,
    pub ack: bool,
    pub over: bool,
}

/// The rest of a DATA frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Content {
    pub slot: usize,
    pub bytes: u32,
    pub padding_bytes: u32,
    pub end_stream: bool,
    pub open: bool,
}

/// One stream.
#[derive(Debug, Clone)]
pub struct Slot {
    /// 0 while there is none.
    pub stream: u32,
    pub asked: Asked,
    /// The head of the reply is here.
    pub answered: bool,
    pub error: Option<ErrorKind>,
    /// When the first frame of the reply came; 0 before.
    pub first_byte_ns: u64,
    pub declared_bytes: Option<u64>,
    pub received_bytes: u64,
    pub check: Option<Box<PayloadCheck>>,
    /// Bytes of the request's body that have left.
    sent_bytes: usize,
    unsent: bool,
    peer_window: i64,
    used_bytes: u32,
}

impl Slot {
    const FREE: Self = Self {
        stream: 0,
        asked: Asked {
            kind: 0,
            sequence: 0,
        },
        answered: false,
        error: None,
        first_byte_ns: 0,
        declared_bytes: None,
        received_bytes: 0,
        check: None,
        sent_bytes: 0,
        unsent: false,
        peer_window: 0,
        used_bytes: 0,
    };
}

impl Session {
    /// A connection with `slots`, not yet open.
    pub fn new(place: usize, slots: usize) -> Self {
        Self {
            place,
            slots: vec![Slot::FREE; slots].into_boxed_slice(),
            ring: vec![0; slots.next_power_of_two() * 2].into_boxed_slice(),
            next_stream: 1,
            busy: 0,
            greeting: Greeting::default(),
            most_streams: u32::MAX,
            goaway: None,
            abandoned: false,
            kept: Vec::new(),
            block: Vec::new(),
            continuing: None,
            content: Content::default(),
            peer_window: i64::from(USUAL_WINDOW),
            peer_initial: i64::from(USUAL_WINDOW),
            used_bytes: 0,
            unsent_bodies: 0,
            owed: Vec::new(),
        }
    }

    /// Whether stream numbers are used up.
    pub fn is_exhausted(&self) -> bool {
        self.next_stream > LARGEST
    }

    /// Opens a stream in `slot`.
    pub fn open_stream(&mut self, slot: usize, asked: Asked) -> u32 {
        let stream = self.next_stream;
        self.next_stream += 2;
        self.busy += 1;
        let place = self.ring_place(stream);
        self.ring[place] = slot as u16;
        self.slots[slot] = Slot {
            stream,
            asked,
            peer_window: self.peer_initial,
            ..Slot::FREE
        };
        stream
    }

    /// The slot of `stream`; `None` if it is over, `Err` if it never was.
    pub fn slot_of(&self, stream: u32) -> Result<Option<usize>, ErrorKind> {
        if stream.is_multiple_of(2) || stream >= self.next_stream {
            return Err(ErrorKind::BadProtocol);
        }
        let guess = usize::from(self.ring[self.ring_place(stream)]);
        if self.slots[guess].stream == stream {
            return Ok(Some(guess));
        }
        Ok(self.slots.iter().position(|slot| slot.stream == stream))
    }

    /// Closes the stream in `slot`.
    pub fn close_stream(&mut self, slot: usize) {
        self.busy -= 1;
        let slot = &mut self.slots[slot];
        slot.stream = 0;
        slot.check = None;
        self.unsent_bodies -= u32::from(std::mem::take(&mut slot.unsent));
    }

    /// Whether the body of the request in `slot` has left.
    pub fn has_sent_all(&self, slot: usize) -> bool {
        !self.slots[slot].unsent
    }

    /// Streams that may still be answered after GOAWAY.
    pub fn survivors(&self) -> usize {
        let last = self.goaway.unwrap_or(LARGEST);
        let open = |slot: &&Slot| slot.stream > 0 && slot.stream <= last;
        self.slots.iter().filter(open).count()
    }

    fn ring_place(&self, stream: u32) -> usize {
        (stream as usize >> 1) & (self.ring.len() - 1)
    }

    /// Begins to send `body` on the stream in `slot`.
    pub fn begin_body(&mut self, slot: usize, body: &[u8], out: &mut Vec<u8>) {
        if !body.is_empty() {
            self.slots[slot].unsent = true;
            self.unsent_bodies += 1;
            self.send_body(slot, body, out);
        }
    }

    /// Sends as much of the body as the windows allow.
    fn send_body(&mut self, index: usize, body: &[u8], out: &mut Vec<u8>) {
        let slot = &mut self.slots[index];
        while slot.sent_bytes < body.len() {
            let window = slot.peer_window.min(self.peer_window).max(0) as usize;
            let rest = &body[slot.sent_bytes..];
            let part = &rest[..rest.len().min(window).min(LONGEST_PAYLOAD)];
            if part.is_empty() {
                return;
            }
            let last = part.len() == rest.len();
            let flags = if last { END_STREAM } else { 0 };
            write_head(part.len(), DATA, flags, slot.stream, out);
            out.extend_from_slice(part);
            slot.sent_bytes += part.len();
            let used = i64::from(part.len() as u32);
            slot.peer_window -= used;
            self.peer_window -= used;
        }
        slot.unsent = false;
        self.unsent_bodies -= 1;
    }

    /// Sends what the windows held back so far.
    pub fn send_bodies(&mut self, body: &[u8]) {
        if self.unsent_bodies == 0 {
            return;
        }
        let mut owed = std::mem::take(&mut self.owed);
        for slot in 0..self.slots.len() {
            if self.slots[slot].unsent {
                self.send_body(slot, body, &mut owed);
            }
        }
        self.owed = owed;
    }

    /// The peer takes more, on one stream or (0) on all.
    pub fn widen(&mut self, stream: u32, increment: u32) -> Result<(), ErrorKind> {
        let window = if stream == 0 {
            &mut self.peer_window
        } else {
            match self.slot_of(stream)? {
                Some(slot) => &mut self.slots[slot].peer_window,
                None => return Ok(()),
            }
        };
        *window += i64::from(increment);
        if *window > i64::from(LARGEST) {
            return Err(ErrorKind::BadProtocol);
        }
        Ok(())
    }

    /// The peer has changed the window that streams begin with.
    pub fn set_initial(&mut self, window: u32) -> Result<(), ErrorKind> {
        let change = i64::from(window) - self.peer_initial;
        self.peer_initial = i64::from(window);
        for slot in self.slots.iter_mut().filter(|slot| slot.stream > 0) {
            slot.peer_window += change;
            if slot.peer_window > i64::from(LARGEST) {
                return Err(ErrorKind::BadProtocol);
            }
        }
        Ok(())
    }

    /// The peer has used so much of its credit in `slot`: it gets it back in large portions.
    pub fn use_credit(&mut self, index: usize, bytes: u32) -> Result<(), ErrorKind> {
        let slot = &mut self.slots[index];
        for (used, stream) in [
            (&mut self.used_bytes, 0),
            (&mut slot.used_bytes, slot.stream),
        ] {
            *used = used
                .checked_add(bytes)
                .filter(|used| *used <= LARGEST)
                .ok_or(ErrorKind::BadProtocol)?;
            if *used >= CREDIT_BYTES {
                write_head(4, WINDOW_UPDATE, 0, stream, &mut self.owed);
                self.owed.extend_from_slice(&used.to_be_bytes());
                *used = 0;
            }
        }
        Ok(())
    }
}
