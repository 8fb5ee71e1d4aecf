//! The head of a datagram of a flow: mark, tag of the run, sequence, window, instant of sending.

/// Length of the head, and the least payload.
pub const HEAD_BYTES: usize = 24;

/// "SYF1".
const MAGIC: u32 = 0x3146_5953;

/// Set in the sequence field of datagrams that were sent inside the window.
const IN_WINDOW: u64 = 1 << 63;

/// What a datagram says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The same for all of a run, so that stray ones of another are not counted.
    pub tag: u32,
    /// From 0 for each endpoint.
    pub sequence: u64,
    /// Whether it was sent inside the window; the sender alone decides that.
    pub in_window: bool,
    /// On the sender's clock.
    pub sent_ns: u64,
}

impl Head {
    /// Writes the head into the first bytes of `datagram`.
    #[inline]
    pub fn write(self, datagram: &mut [u8]) {
        let window = if self.in_window { IN_WINDOW } else { 0 };
        datagram[..4].copy_from_slice(&MAGIC.to_le_bytes());
        datagram[4..8].copy_from_slice(&self.tag.to_le_bytes());
        datagram[8..16].copy_from_slice(&(self.sequence | window).to_le_bytes());
        datagram[16..HEAD_BYTES].copy_from_slice(&self.sent_ns.to_le_bytes());
    }

    /// Reads the head of a datagram; `None` if it has none.
    #[inline]
    pub fn read(datagram: &[u8]) -> Option<Self> {
        let (head, _) = datagram.split_first_chunk::<HEAD_BYTES>()?;
        let (marks, rest) = head.split_first_chunk::<8>()?;
        let (sequence, sent) = rest.split_first_chunk::<8>()?;
        let marks = u64::from_le_bytes(*marks);
        let sequence = u64::from_le_bytes(*sequence);
        (marks as u32 == MAGIC).then_some(Self {
            tag: (marks >> 32) as u32,
            sequence: sequence & !IN_WINDOW,
            in_window: sequence & IN_WINDOW != 0,
            sent_ns: u64::from_le_bytes(sent.try_into().ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_it_was_written() {
        for in_window in [false, true] {
            let head = Head {
                tag: 0xdead_beef,
                sequence: 1 << 40,
                in_window,
                sent_ns: 7,
            };
            let mut datagram = [9; 30];
            head.write(&mut datagram);
            assert_eq!(Head::read(&datagram), Some(head));
            assert_eq!(Head::read(&datagram[..23]), None);
        }
    }

    #[test]
    fn other_datagrams_have_no_head() {
        assert_eq!(Head::read(&[0; 64]), None);
    }
}
