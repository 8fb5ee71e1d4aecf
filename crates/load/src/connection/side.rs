//! What a worker remembers of the data connection of an FTP connection.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustls::ClientConfig;
use steelyard_net::poller::Interest;

use crate::protocols::SideInput;
use crate::tls::Tls;

/// Marks the events of side channels, among the bits of a token that tell places.
pub const SIDE: usize = 1 << 31;

/// The side channels of a worker, by the place of the connection that they belong to.
#[derive(Debug, Default)]
pub struct Sides {
    /// Empty where the protocol has none.
    pub open: Vec<Option<Box<Side>>>,
    /// How the sessions of each connection are resumed: by no one else's.
    pub configs: Vec<Option<Arc<ClientConfig>>>,
    /// When those that have had their share go on.
    pub timers: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// Bytes as they come from the network.
    pub buffer: Vec<u8>,
    generation: u32,
}

/// Read at once; data connections carry more than conversations.
const BUFFER_BYTES: usize = 256 * 1024;

impl Sides {
    /// For so many places.
    pub fn new(places: usize) -> Self {
        Self {
            open: (0..places).map(|_| None).collect(),
            configs: vec![None; places],
            buffer: vec![0; if places > 0 { BUFFER_BYTES } else { 0 }],
            ..Self::default()
        }
    }

    /// Tells a new side channel from all before.
    pub fn next_generation(&mut self) -> u32 {
        self.generation = self.generation.wrapping_add(1);
        self.generation
    }

    /// The side channel of `place`, if it is still that one.
    pub fn get_mut(&mut self, place: usize, generation: u32) -> Option<&mut Side> {
        let side = self.open.get_mut(place)?.as_deref_mut();
        side.filter(|side| side.generation == generation)
    }

    /// Whether the side channel of `place` is still on its way.
    pub fn is_connecting(&self, place: usize) -> bool {
        let side = self.open.get(place).and_then(Option::as_ref);
        side.is_some_and(|side| side.state == SideState::Connecting)
    }

    /// Closes the side channel of `place`, if there is one.
    pub fn close(&mut self, place: usize) {
        if let Some(side) = self.open.get_mut(place) {
            *side = None;
        }
    }

    /// When the next one goes on.
    pub fn next_wake_ns(&self) -> u64 {
        self.timers
            .peek()
            .map_or(u64::MAX, |Reverse((at_ns, _, _))| *at_ns)
    }
}

/// One side channel.
#[derive(Debug)]
pub struct Side {
    /// The socket.
    pub socket: OwnedFd,
    /// Tells it from others of the same place.
    pub generation: u32,
    /// Where it is.
    pub state: SideState,
    /// What becomes of what comes in.
    pub input: SideInput,
    /// It is, or will be, encrypted.
    pub secure: bool,
    /// What lies between the socket and the protocol.
    pub tls: Option<Box<Tls>>,
    /// What TLS has made and the kernel has not taken.
    pub encrypted: Vec<u8>,
    /// What the poller watches; nothing while it has had its share.
    pub interest: Interest,
    /// The peer has said all it has to say.
    pub deaf: bool,
    /// What is still to be sent.
    pub sending: Option<Sending>,
    /// How fast it may go.
    pub bucket: Option<Bucket>,
}

/// Where a side channel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideState {
    /// On its way.
    Connecting,
    /// TLS is being agreed on.
    Securing,
    /// Bytes flow.
    Flowing,
    /// It has sent all, and the peer has been notified.
    SentAll,
}

/// What is still to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sending {
    /// Of the head, already sent.
    pub head_at: usize,
    /// Where the page goes on.
    pub page_at: usize,
    /// How much of the page, over and over, is left.
    pub page_left: u64,
}

impl Sending {
    /// The next bytes of the page, at most `most` and to its end.
    pub fn next_of<'a>(&self, page: &'a [u8], most: usize) -> &'a [u8] {
        let rest = &page[self.page_at.min(page.len())..];
        let length = (rest.len() as u64).min(self.page_left).min(most as u64);
        &rest[..length as usize]
    }

    /// So many bytes of a head of `head_bytes`, then of a page of `page_bytes`, are gone.
    pub fn advance(&mut self, count: usize, head_bytes: usize, page_bytes: usize) {
        let of_head = count.min(head_bytes - self.head_at);
        self.head_at += of_head;
        let of_page = count - of_head;
        self.page_left -= of_page as u64;
        self.page_at += of_page;
        if self.page_at == page_bytes {
            self.page_at = 0;
        }
    }

    /// Whether nothing is left.
    pub fn is_over(&self, head_bytes: usize) -> bool {
        self.head_at == head_bytes && self.page_left == 0
    }
}

/// A token bucket: so many bytes a second, with what was missed for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    bytes_per_s: u64,
    /// In billionths of a byte, so that no fraction is lost.
    level: u128,
    filled_ns: u64,
}

/// A bucket holds what flows in this time: a loop that is late catches up.
const HELD_NS: u128 = 250_000_000;

/// It is drawn from about so often, in pieces that are worth a system call.
const PIECE_NS: u64 = 20_000_000;

impl Bucket {
    /// An empty one; `None` without a limit.
    pub fn new(bytes_per_s: u64, now_ns: u64) -> Option<Self> {
        (bytes_per_s > 0).then_some(Self {
            bytes_per_s,
            level: 0,
            filled_ns: now_ns,
        })
    }

    /// The same, empty, from `now_ns` on.
    pub fn renewed(self, now_ns: u64) -> Self {
        Self {
            level: 0,
            filled_ns: now_ns,
            ..self
        }
    }

    /// How many bytes may flow now.
    pub fn allowed(&mut self, now_ns: u64) -> usize {
        let rate = u128::from(self.bytes_per_s);
        let passed_ns = u128::from(now_ns.saturating_sub(self.filled_ns));
        self.filled_ns = self.filled_ns.max(now_ns);
        // At least one byte fits, however slow it is.
        let most = (rate * HELD_NS).max(1_000_000_000);
        self.level = (self.level + rate * passed_ns).min(most);
        usize::try_from(self.level / 1_000_000_000).unwrap_or(usize::MAX)
    }

    /// So many bytes have flowed; more than was allowed has to be waited for.
    pub fn take(&mut self, count: usize) {
        self.level = self.level.saturating_sub(count as u128 * 1_000_000_000);
    }

    /// When a piece worth the effort may flow.
    pub fn next_piece_ns(&self) -> u64 {
        let byte_ns = 1_000_000_000_u64.div_ceil(self.bytes_per_s);
        self.filled_ns + PIECE_NS.max(byte_ns)
    }

    /// What flows in a piece.
    pub fn piece_bytes(&self) -> usize {
        usize::try_from(self.bytes_per_s / (1_000_000_000 / PIECE_NS)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_sent_over_and_over_behind_its_head() {
        let (head, page) = (b"HEAD", b"abc");
        let mut sending = Sending {
            head_at: 0,
            page_at: 0,
            page_left: 8,
        };
        let mut sent = Vec::new();
        while !sending.is_over(head.len()) {
            let mut next = head[sending.head_at..].to_vec();
            next.extend_from_slice(sending.next_of(page, 2));
            next.truncate(3);
            sent.extend_from_slice(&next);
            sending.advance(next.len(), head.len(), page.len());
        }
        assert_eq!(sent, b"HEADabcabcab");
    }

    #[test]
    fn a_bucket_gives_its_rate_and_no_more_than_it_holds() {
        let mut bucket = Bucket::new(1_000, 0).unwrap();
        assert_eq!(bucket.allowed(0), 0);
        assert_eq!(bucket.allowed(20_000_000), 20);
        bucket.take(20);
        assert_eq!(bucket.allowed(30_000_000), 10);
        bucket.take(4);
        assert_eq!(bucket.allowed(30_000_000), 6);
        assert_eq!(bucket.allowed(9_000_000_000), 250);
        assert_eq!(bucket.next_piece_ns(), 9_020_000_000);
        assert_eq!(bucket.piece_bytes(), 20);
    }

    #[test]
    fn even_a_byte_a_second_comes() {
        let mut bucket = Bucket::new(1, 0).unwrap();
        assert_eq!(bucket.next_piece_ns(), 1_000_000_000);
        assert_eq!(bucket.allowed(1_000_000_000), 1);
        assert!(Bucket::new(0, 0).is_none());
    }

    #[test]
    fn side_channels_of_a_place_are_distinguished() {
        let mut sides = Sides::new(1);
        let (first, second) = (sides.next_generation(), sides.next_generation());
        assert_ne!(first, second);
        assert!(sides.get_mut(0, second).is_none());
        assert!(sides.get_mut(7, second).is_none());
    }
}
