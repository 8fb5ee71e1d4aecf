//! What a worker remembers of one connection.

pub mod side;
pub mod slots;

use std::ops::Range;
use std::os::fd::OwnedFd;

use crate::connection::slots::Slots;
use crate::tls::Tls;

/// "No instant": never reached.
pub const NEVER: u64 = u64::MAX;

/// A place for a connection; the place stays, connections come and go.
#[allow(
    clippy::struct_excessive_bools,
    reason = "a connection is many; each flag is a byte and a word of its own"
)]
#[derive(Debug)]
pub struct Connection<S> {
    /// The socket, unless vacant.
    pub socket: Option<OwnedFd>,
    /// Counts connections of this place, so that events of an earlier one are known as such.
    pub generation: u32,
    /// Where it is.
    pub state: State,
    /// Listed among the idle (open mode); may have become unfit since.
    pub listed: bool,
    /// Has completed an operation.
    pub useful: bool,
    /// Has been tried once since the run began.
    pub tried: bool,
    /// Failures in a row, for the back-off.
    pub failures: u32,
    /// The operations it carries.
    pub slots: Slots,
    /// Its set-up is over: it takes operations.
    pub open: bool,
    /// The protocol waits for a time.
    pub paused: bool,
    /// What lies between the socket and the protocol.
    pub tls: Option<Box<Tls>>,
    /// When the current phase began, outside operations.
    pub phase_start_ns: u64,
    /// When waiting becomes a timeout.
    pub deadline_ns: u64,
    /// When a timer will look at it.
    pub wake_ns: u64,
    /// Closed mode: when the user may start its next operation.
    pub due_ns: u64,
    /// What the kernel did not take yet.
    pub unsent: Unsent,
    /// The poller tells when the kernel takes more.
    pub watches_room: bool,
    /// The protocol's own.
    pub session: S,
}

/// Where a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// There is none.
    Vacant,
    /// On its way.
    Connecting,
    /// TLS is being agreed on.
    Securing,
    /// An answer is due.
    Talking,
    /// Ready for an operation.
    Idle,
}

/// Bytes the kernel did not take yet.
#[derive(Debug, Default)]
pub struct Unsent {
    /// Own bytes.
    pub head: Vec<u8>,
    /// Range of the protocol's shared bytes.
    pub tail: Range<usize>,
}

impl Unsent {
    /// Whether everything has been taken.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    /// Forgets the first `count` bytes.
    pub fn advance(&mut self, count: usize) {
        let of_head = count.min(self.head.len());
        self.head.drain(..of_head);
        self.tail.start += count - of_head;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.head.clear();
        self.tail = 0..0;
    }
}

impl<S> Connection<S> {
    /// A vacant place for a connection of `slots` slots.
    pub fn vacant(session: S, slots: usize) -> Self {
        Self {
            socket: None,
            generation: 0,
            state: State::Vacant,
            listed: false,
            useful: false,
            tried: false,
            failures: 0,
            slots: Slots::new(slots),
            open: false,
            paused: false,
            tls: None,
            phase_start_ns: 0,
            deadline_ns: NEVER,
            wake_ns: NEVER,
            due_ns: 0,
            unsent: Unsent::default(),
            watches_room: false,
            session,
        }
    }

    /// Closes the socket and forgets what belonged to it; `true` if it was established.
    pub fn close(&mut self) -> bool {
        let established = !matches!(self.state, State::Vacant | State::Connecting);
        self.socket = None;
        self.tls = None;
        self.open = false;
        if std::mem::take(&mut self.paused) {
            self.wake_ns = NEVER;
        }
        self.generation = self.generation.wrapping_add(1);
        self.state = State::Vacant;
        self.deadline_ns = NEVER;
        self.useful = false;
        self.unsent.clear();
        established
    }

    /// How long to wait before the next try, after one more failure.
    ///
    /// The first is tried again at once, then after 10 ms, doubling up to 100 ms: a server that
    /// restarts is met again soon, a dead one costs next to nothing.
    pub fn back_off_ns(&mut self) -> u64 {
        const FIRST_NS: u64 = 10_000_000;
        const LONGEST_NS: u64 = 100_000_000;
        let before = self.failures;
        self.failures = before.saturating_add(1);
        match before {
            0 => 0,
            _ => (FIRST_NS << (before - 1).min(8)).min(LONGEST_NS),
        }
    }
}

/// What an event carries: place and generation.
pub fn token(place: usize, generation: u32) -> u64 {
    u64::from(generation) << 32 | place as u64
}

/// The inverse of [`token`].
pub fn from_token(token: u64) -> (usize, u32) {
    ((token & 0xffff_ffff) as usize, (token >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_target_is_tried_again_ever_more_slowly() {
        let mut connection = Connection::vacant((), 1);
        let waits: Vec<u64> = (0..7)
            .map(|_| connection.back_off_ns() / 1_000_000)
            .collect();
        assert_eq!(waits, [0, 10, 20, 40, 80, 100, 100]);
    }

    #[test]
    fn unsent_bytes_are_forgotten_from_the_front() {
        let mut unsent = Unsent {
            head: b"abc".to_vec(),
            tail: 5..9,
        };
        unsent.advance(2);
        assert_eq!(
            (unsent.head.as_slice(), unsent.tail.clone()),
            (&b"c"[..], 5..9)
        );
        unsent.advance(3);
        assert_eq!((unsent.head.len(), unsent.tail.clone()), (0, 7..9));
        unsent.advance(2);
        assert!(unsent.is_empty());
    }

    #[test]
    fn tokens_hold_place_and_generation() {
        assert_eq!(from_token(token(70_000, u32::MAX)), (70_000, u32::MAX));
    }

    #[test]
    fn a_connection_is_small() {
        assert!(size_of::<Connection<crate::protocols::http::Session>>() <= 256);
        assert!(size_of::<Connection<crate::protocols::smtp::Session>>() <= 256);
    }
}
