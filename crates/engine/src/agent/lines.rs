//! Lines out of a stream of bytes, each of bounded length.

/// Longest line taken: results of several generators, which are to be merged, are the longest.
pub(super) const MOST_BYTES: usize = 16 << 20;

/// One line, or what is left of one that was too long.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Without its end.
    Whole(Vec<u8>),
    /// It was longer than [`MOST_BYTES`]; its content is gone.
    TooLong,
}

/// Bytes that are not yet a line.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pending: Vec<u8>,
    /// Bytes of `pending` that are known to hold no line end.
    searched: usize,
    skipping: bool,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds what was read; call [`Self::next_line`] until it gives nothing before adding more.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// The next line, if there is one.
    pub(super) fn next_line(&mut self) -> Option<Line> {
        let end = self.pending[self.searched..]
            .iter()
            .position(|byte| *byte == b'\n');
        let Some(end) = end else {
            self.wait_for_more();
            return None;
        };
        let rest = self.pending.split_off(self.searched + end + 1);
        let mut line = std::mem::replace(&mut self.pending, rest);
        self.searched = 0;
        line.pop();
        if std::mem::take(&mut self.skipping) || line.len() > MOST_BYTES {
            return Some(Line::TooLong);
        }
        Some(Line::Whole(line))
    }

    fn wait_for_more(&mut self) {
        if self.pending.len() > MOST_BYTES {
            self.skipping = true;
        }
        if self.skipping {
            self.pending = Vec::new();
        }
        self.searched = self.pending.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_come_out_however_the_bytes_were_cut() {
        let mut lines = Lines::new();
        lines.add(b"on");
        assert_eq!(lines.next_line(), None);
        lines.add(b"e\ntwo\n\nthr");
        assert_eq!(lines.next_line(), Some(whole("one")));
        assert_eq!(lines.next_line(), Some(whole("two")));
        assert_eq!(lines.next_line(), Some(whole("")));
        assert_eq!(lines.next_line(), None);
        lines.add(b"ee\n");
        assert_eq!(lines.next_line(), Some(whole("three")));
    }

    #[test]
    fn a_line_that_is_too_long_is_dropped_and_the_next_one_is_read() {
        let mut lines = Lines::new();
        let chunk = vec![b'x'; MOST_BYTES / 4];
        for _ in 0..10 {
            lines.add(&chunk);
            assert_eq!(lines.next_line(), None);
            assert!(lines.pending.len() <= MOST_BYTES);
        }
        lines.add(b"x\nnext\n");
        assert_eq!(lines.next_line(), Some(Line::TooLong));
        assert_eq!(lines.next_line(), Some(whole("next")));
    }
}
