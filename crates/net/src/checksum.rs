//! The checksum of payloads: XXH64 with seed 0, fed in any pieces.
//!
//! Source: Y. Collet, "XXH64 algorithm description", specification 0.1.1. Not a defence against
//! forgery: it finds bytes that were lost, changed or swapped on their way, at memory speed.

const PRIME_1: u64 = 0x9E37_79B1_85EB_CA87;
const PRIME_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const PRIME_3: u64 = 0x1656_67B1_9E37_79F9;
const PRIME_4: u64 = 0x85EB_CA77_C2B2_AE63;
const PRIME_5: u64 = 0x27D4_EB2F_1656_67C5;
const STRIPE_BYTES: usize = 32;

/// XXH64 of what was fed so far.
#[derive(Debug, Clone)]
pub struct Checksum {
    lanes: [u64; 4],
    /// The start of a stripe that is not whole yet.
    tail: [u8; STRIPE_BYTES],
    fed_bytes: u64,
}

impl Default for Checksum {
    fn default() -> Self {
        Self::new()
    }
}

impl Checksum {
    /// Of nothing yet.
    pub const fn new() -> Self {
        Self {
            lanes: [
                PRIME_1.wrapping_add(PRIME_2),
                PRIME_2,
                0,
                0_u64.wrapping_sub(PRIME_1),
            ],
            tail: [0; STRIPE_BYTES],
            fed_bytes: 0,
        }
    }

    /// Of all of `bytes`.
    pub fn of(bytes: &[u8]) -> u64 {
        let mut checksum = Self::new();
        checksum.feed(bytes);
        checksum.value()
    }

    /// Takes the next piece.
    pub fn feed(&mut self, bytes: &[u8]) {
        let waiting = self.waiting();
        self.fed_bytes += bytes.len() as u64;
        let missing = STRIPE_BYTES - waiting;
        if bytes.len() < missing {
            self.tail[waiting..waiting + bytes.len()].copy_from_slice(bytes);
            return;
        }
        let mut rest = bytes;
        if waiting > 0 {
            let (head, behind) = bytes.split_at(missing);
            self.tail[waiting..].copy_from_slice(head);
            stripe(&mut self.lanes, &self.tail);
            rest = behind;
        }
        let (stripes, left) = rest.as_chunks::<STRIPE_BYTES>();
        for whole in stripes {
            stripe(&mut self.lanes, whole);
        }
        self.tail[..left.len()].copy_from_slice(left);
    }

    /// Bytes fed so far.
    pub fn fed_bytes(&self) -> u64 {
        self.fed_bytes
    }

    /// The checksum of all that was fed; more may follow.
    pub fn value(&self) -> u64 {
        let start = if self.fed_bytes < STRIPE_BYTES as u64 {
            PRIME_5
        } else {
            self.converged()
        };
        let mut value = start.wrapping_add(self.fed_bytes);
        let (words, rest) = self.tail[..self.waiting()].as_chunks::<8>();
        for word in words {
            value ^= round(0, u64::from_le_bytes(*word));
            value = scramble(value, 27, PRIME_1, PRIME_4);
        }
        let (halves, bytes) = rest.as_chunks::<4>();
        for half in halves {
            value ^= u64::from(u32::from_le_bytes(*half)).wrapping_mul(PRIME_1);
            value = scramble(value, 23, PRIME_2, PRIME_3);
        }
        for byte in bytes {
            value ^= u64::from(*byte).wrapping_mul(PRIME_5);
            value = value.rotate_left(11).wrapping_mul(PRIME_1);
        }
        avalanche(value)
    }

    fn waiting(&self) -> usize {
        (self.fed_bytes % STRIPE_BYTES as u64) as usize
    }

    fn converged(&self) -> u64 {
        let [a, b, c, d] = self.lanes;
        let mut value = a
            .rotate_left(1)
            .wrapping_add(b.rotate_left(7))
            .wrapping_add(c.rotate_left(12))
            .wrapping_add(d.rotate_left(18));
        for lane in self.lanes {
            value ^= round(0, lane);
            value = value.wrapping_mul(PRIME_1).wrapping_add(PRIME_4);
        }
        value
    }
}

fn stripe(lanes: &mut [u64; 4], bytes: &[u8; STRIPE_BYTES]) {
    let (words, _) = bytes.as_chunks::<8>();
    for (lane, word) in lanes.iter_mut().zip(words) {
        *lane = round(*lane, u64::from_le_bytes(*word));
    }
}

fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(PRIME_2))
        .rotate_left(31)
        .wrapping_mul(PRIME_1)
}

fn scramble(value: u64, turn: u32, factor: u64, summand: u64) -> u64 {
    value
        .rotate_left(turn)
        .wrapping_mul(factor)
        .wrapping_add(summand)
}

fn avalanche(value: u64) -> u64 {
    let mut bits = value;
    bits = (bits ^ (bits >> 33)).wrapping_mul(PRIME_2);
    bits = (bits ^ (bits >> 29)).wrapping_mul(PRIME_3);
    bits ^ (bits >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_bytes(length: usize) -> Vec<u8> {
        let mut state = 2_654_435_761_u64;
        (0..length)
            .map(|_| {
                let byte = (state >> 56) as u8;
                state = state.wrapping_mul(11_400_714_785_074_694_797);
                byte
            })
            .collect()
    }

    #[test]
    fn published_vectors_come_out() {
        for (text, value) in [
            ("", 0xEF46_DB37_51D8_E999),
            ("a", 0xD24E_C4F1_A98C_6E5B),
            ("abc", 0x44BC_2CF5_AD77_0999),
            (
                "Nobody inspects the spammish repetition",
                0xFBCE_A83C_8A37_8BF1,
            ),
            (
                "The quick brown fox jumps over the lazy dog",
                0x0B24_2D36_1FDA_71BC,
            ),
        ] {
            assert_eq!(Checksum::of(text.as_bytes()), value, "{text:?}");
        }
    }

    #[test]
    fn the_pieces_do_not_matter() {
        let bytes = some_bytes(300);
        for size in 1..=70 {
            let mut checksum = Checksum::new();
            bytes.chunks(size).for_each(|piece| checksum.feed(piece));
            assert_eq!(checksum.value(), Checksum::of(&bytes), "{size}");
            assert_eq!(checksum.fed_bytes(), 300);
        }
    }

    #[test]
    fn swapped_bytes_are_seen() {
        let mut bytes = some_bytes(100);
        let right = Checksum::of(&bytes);
        bytes.swap(40, 41);
        assert_ne!(Checksum::of(&bytes), right);
    }
}
