//! The header by which a client checks a reply's body: whose it is, how long, and its checksum.

use std::fmt;

use steelyard_net::checksum::Checksum;

use crate::protocols::filler;

/// The header's name, in either case.
pub(crate) const HEADER: &str = "x-steelyard-payload";

/// What a payload is part of: which run, who sent it, and as what number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    pub run: u64,
    pub sender: u64,
    pub sequence: u64,
}

impl Identity {
    /// Reads `v1 RUN SENDER SEQUENCE LENGTH CHECKSUM`; `None` for anything else.
    pub fn read(value: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(value).ok()?;
        let mut words = text.split_ascii_whitespace();
        if words.next()? != "v1" {
            return None;
        }
        Some(Self {
            run: u64::from_str_radix(words.next()?, 16).ok()?,
            sender: words.next()?.parse().ok()?,
            sequence: words.next()?.parse().ok()?,
        })
    }
}

/// The checksum of the last body asked for: a benchmark asks for the same one again and again.
#[derive(Debug, Default)]
pub(crate) struct Checksums {
    known: Option<(u64, u64)>,
}

impl Checksums {
    /// Of the first `length` bytes of a body.
    pub fn of(&mut self, length: u64) -> u64 {
        if let Some((known, sum)) = self.known
            && known == length
        {
            return sum;
        }
        let mut hash = Checksum::new();
        let mut at = 0;
        while at < length {
            let left = usize::try_from(length - at).unwrap_or(usize::MAX);
            let part = filler(at, left);
            hash.feed(part);
            at += part.len() as u64;
        }
        let sum = hash.value();
        self.known = Some((length, sum));
        sum
    }
}

/// The header's value.
pub(crate) struct Value {
    pub identity: Identity,
    pub length: u64,
    pub checksum: u64,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Identity {
            run,
            sender,
            sequence,
        } = self.identity;
        let (length, checksum) = (self.length, self.checksum);
        write!(
            f,
            "v1 {run:016x} {sender} {sequence} {length} {checksum:016x}"
        )
    }
}
