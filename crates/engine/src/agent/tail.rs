//! The end of what a process writes, of bounded length.

use std::collections::VecDeque;

/// Keeps the last bytes only.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    most: usize,
    cut: bool,
}

impl Tail {
    /// Keeps at most `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            most,
            cut: false,
        }
    }

    /// Adds bytes at the end, forgets as many at the start.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.cut |= self.bytes.len() + bytes.len() > self.most;
        let bytes = &bytes[bytes.len().saturating_sub(self.most)..];
        let over = (self.bytes.len() + bytes.len()).saturating_sub(self.most);
        self.bytes.drain(..over);
        self.bytes.extend(bytes);
    }

    /// Whether anything was forgotten.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// As text; what is not UTF-8 is replaced.
    pub(super) fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let mut tail = Tail::new(4);
        tail.add(b"ab");
        assert_eq!(tail.text(), "ab");
        assert!(!tail.is_cut());
        tail.add(b"cde");
        assert!(tail.is_cut());
        assert_eq!(tail.text(), "bcde");
        tail.add(b"0123456789");
        assert_eq!(tail.text(), "6789");
    }
}
