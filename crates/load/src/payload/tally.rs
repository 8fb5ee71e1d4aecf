//! What all checked payloads of a reader add up to.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use steelyard_wire::result::Payload;

use super::seen::Seen;
use super::{Finding, Marker};

/// Senders whose sequence is followed; of any further ones no one knows what was lost.
const MOST_SENDERS: usize = 1 << 16;

/// Counts of one reader; its memory grows with the number of senders only.
#[derive(Debug, Clone)]
pub struct PayloadTally {
    counts: Payload,
    senders: HashMap<(u64, u64), Seen>,
    /// Whether gaps mean loss.
    sees_all: bool,
}

impl PayloadTally {
    /// Of a reader that sees every payload of a sender, more or less in order: gaps are losses.
    pub fn of_all() -> Self {
        Self::new(true)
    }

    /// Of a reader that sees some of them: what it does not see is not lost.
    pub fn of_some() -> Self {
        Self::new(false)
    }

    fn new(sees_all: bool) -> Self {
        Self {
            counts: Payload::default(),
            senders: HashMap::new(),
            sees_all,
        }
    }

    /// Counts one payload.
    pub fn add(&mut self, finding: Finding) {
        match finding {
            Finding::Unmarked => self.counts.unmarked += 1,
            Finding::Good(marker) => {
                self.counts.checked += 1;
                self.note(&marker, true);
            }
            Finding::Corrupted(marker) => {
                self.counts.checked += 1;
                self.counts.corrupted += 1;
                self.note(&marker, false);
            }
        }
    }

    /// The counts so far.
    pub fn payload(&self) -> Payload {
        let lost = || self.senders.values().map(Seen::missing).sum();
        Payload {
            lost: self.sees_all.then(lost),
            ..self.counts.clone()
        }
    }

    /// A damaged payload may have damaged numbers too: only plausible ones are believed.
    fn note(&mut self, marker: &Marker, trusted: bool) {
        let full = self.senders.len() >= MOST_SENDERS;
        match self.senders.entry((marker.run, marker.sender)) {
            Entry::Occupied(mut entry) => {
                let seen = entry.get_mut();
                if (trusted || seen.is_near(marker.sequence)) && !seen.note(marker.sequence) {
                    self.counts.duplicated += 1;
                }
            }
            Entry::Vacant(_) if !trusted => {}
            Entry::Vacant(_) if full => self.sees_all = false,
            Entry::Vacant(entry) => {
                entry.insert(Seen::new(marker.sequence));
            }
        }
    }
}
