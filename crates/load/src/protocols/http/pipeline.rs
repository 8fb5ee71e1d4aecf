//! What a connection remembers of its requests beyond the one that is being answered.

use std::collections::VecDeque;

use crate::fault::ErrorKind;
use crate::payload::{Finding, Marker, PayloadCheck, PayloadTally};

/// Which request it was.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked {
    /// Index of its path.
    pub kind: u32,
    /// Its number among those of the sender; only with markers.
    pub sequence: u64,
}

/// Several requests on their way. HTTP/1.1 answers them in the order of asking.
#[derive(Debug)]
pub struct Pipeline {
    waiting: VecDeque<u16>,
    asked: Vec<Asked>,
}

impl Pipeline {
    /// Of a connection with `slots`.
    pub fn new(slots: usize) -> Self {
        Self {
            waiting: VecDeque::with_capacity(slots),
            asked: vec![Asked::default(); slots],
        }
    }

    /// Whether no answer is due.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many answers are due.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// A request goes out.
    pub fn push(&mut self, slot: usize, asked: Asked) {
        self.waiting.push_back(slot as u16);
        self.asked[slot] = asked;
    }

    /// The slot whose answer is complete.
    pub fn pop(&mut self) -> usize {
        self.waiting.pop_front().map_or(0, usize::from)
    }

    /// The request whose answer comes next.
    pub fn next(&self) -> Asked {
        self.waiting
            .front()
            .map_or_else(Asked::default, |slot| self.asked[usize::from(*slot)])
    }

    /// The last request of `slot`.
    pub fn asked(&self, slot: usize) -> Asked {
        self.asked[slot]
    }
}

/// The payloads of one worker: what is sent is marked, what comes back is checked.
#[derive(Debug, Clone)]
pub struct Verifier {
    run: u64,
    worker: u64,
    /// The next number of each place.
    sequences: Vec<u64>,
    /// The marker of the body that is sent, of no one yet.
    blank: Marker,
    tally: PayloadTally,
}

impl Verifier {
    /// Of requests with `body`, in run `run`.
    pub fn new(run: u64, body: &[u8]) -> Self {
        Self {
            run,
            worker: 0,
            sequences: Vec::new(),
            blank: Marker::of(run, 0, 0, body),
            tally: PayloadTally::of_some(),
        }
    }

    /// The same for another worker.
    pub fn for_worker(&self, worker: u32) -> Self {
        Self {
            worker: u64::from(worker),
            ..self.clone()
        }
    }

    /// The marker of the next request of the connection at `place`.
    pub fn mark(&mut self, place: usize) -> Marker {
        if self.sequences.len() <= place {
            self.sequences.resize(place + 1, 0);
        }
        let sequence = self.sequences[place];
        self.sequences[place] += 1;
        Marker {
            sender: self.sender(place),
            sequence,
            ..self.blank
        }
    }

    /// Judges the body that came back for request `sequence` of the connection at `place`.
    pub fn judge(
        &mut self,
        place: usize,
        sequence: u64,
        check: &PayloadCheck,
    ) -> Result<(), ErrorKind> {
        let finding = check.finish();
        self.tally.add(finding);
        match finding {
            Finding::Unmarked => Err(ErrorKind::CapabilityMissing),
            Finding::Corrupted(_) => Err(ErrorKind::ChecksumMismatch),
            Finding::Good(marker) => {
                let own = (self.run, self.sender(place), sequence);
                if (marker.run, marker.sender, marker.sequence) == own {
                    Ok(())
                } else {
                    // The answer to somebody else's question.
                    Err(ErrorKind::BodyMismatch)
                }
            }
        }
    }

    /// What all checks add up to.
    pub fn payload(&self) -> steelyard_wire::result::Payload {
        self.tally.payload()
    }

    fn sender(&self, place: usize) -> u64 {
        self.worker << 20 | place as u64
    }
}
