//! The head of a request and of its response: so many bytes there, so many back.
//!
//! `u32` little endian: magic, length of the request, length of the response, sequence number.
//! A response repeats the head of its request, as far as it has room.

/// Length of the head, and of the shortest request.
pub const HEAD_BYTES: usize = 16;

/// The first four bytes of every request.
pub const MAGIC: u32 = 0x5354_594c;

/// What a request says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Length of the request, its head included.
    pub request_bytes: u32,
    /// Length of the response that is wanted.
    pub response_bytes: u32,
    /// Tells responses apart.
    pub sequence: u32,
}

impl Head {
    /// As sent.
    pub fn encode(self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        let fields = [
            MAGIC,
            self.request_bytes,
            self.response_bytes,
            self.sequence,
        ];
        for (place, field) in bytes.chunks_exact_mut(4).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    /// As received; `None` if it is no head, or of a request that is shorter than its head.
    pub fn decode(bytes: &[u8; HEAD_BYTES]) -> Option<Self> {
        let field = |index: usize| {
            let at = index * 4;
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let head = Self {
            request_bytes: field(1),
            response_bytes: field(2),
            sequence: field(3),
        };
        (field(0) == MAGIC && head.request_bytes as usize >= HEAD_BYTES).then_some(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_it_was_written() {
        let head = Head {
            request_bytes: 64,
            response_bytes: 1,
            sequence: u32::MAX,
        };
        assert_eq!(Head::decode(&head.encode()), Some(head));
        assert_eq!(&head.encode()[..8], b"LYTS\x40\0\0\0");
    }

    #[test]
    fn a_request_shorter_than_its_head_is_none() {
        let head = Head {
            request_bytes: 15,
            response_bytes: 1,
            sequence: 0,
        };
        assert_eq!(Head::decode(&head.encode()), None);
        assert_eq!(Head::decode(&[0; HEAD_BYTES]), None);
    }
}
