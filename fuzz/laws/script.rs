//! How an input of a fuzz target is read, in every crate that has targets.

use std::ops::Range;

/// An input: a byte of options, the number of lengths (its low three bits), these lengths, data.
pub struct Script<'a> {
    /// How the machine is set up.
    pub options: u8,
    /// Lengths of pieces, each one less than it is.
    pub lengths: &'a [u8],
    /// What the peer says.
    pub data: &'a [u8],
}

impl<'a> Script<'a> {
    /// `None` for an input that is too short to be one.
    pub fn read(input: &'a [u8]) -> Option<Self> {
        let (&[options, count], rest) = input.split_first_chunk()?;
        let (lengths, data) = rest.split_at_checked(usize::from(count & 7))?;
        Some(Self {
            options,
            lengths,
            data,
        })
    }

    /// The data in pieces of these lengths, over and over; none lies across one of `borders`, which
    /// are in order. Without lengths only the borders cut.
    pub fn pieces(&self, borders: &[usize]) -> Vec<Range<usize>> {
        let mut lengths = self
            .lengths
            .iter()
            .cycle()
            .map(|byte| usize::from(*byte) + 1);
        let mut borders = borders.iter().copied().peekable();
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < self.data.len() {
            while borders.next_if(|border| *border <= at).is_some() {}
            let length = lengths.next().unwrap_or(usize::MAX);
            let border = borders.peek().copied().unwrap_or(usize::MAX);
            let end = at.saturating_add(length).min(border).min(self.data.len());
            pieces.push(at..end);
            at = end;
        }
        pieces
    }

    /// The data byte by byte.
    pub fn bytes(&self) -> Vec<Range<usize>> {
        (0..self.data.len()).map(|at| at..at + 1).collect()
    }
}
