//! Which sequence numbers of one sender were seen, in memory that does not grow.

const WORDS: usize = 16;

/// Numbers below the highest whose sight is remembered one by one.
const WINDOW: u64 = 64 * WORDS as u64;

/// The first, the highest, how many, and a bit for each of the last ones.
#[derive(Debug, Clone)]
pub struct Seen {
    first: u64,
    highest: u64,
    distinct: u64,
    /// Bit `n % WINDOW` belongs to number `n` of the window that ends with `highest`.
    bits: [u64; WORDS],
}

impl Seen {
    /// `sequence` is the first that is seen.
    pub fn new(sequence: u64) -> Self {
        let mut seen = Self {
            first: sequence,
            highest: sequence,
            distinct: 1,
            bits: [0; WORDS],
        };
        seen.set(sequence);
        seen
    }

    /// Whether `sequence` is close enough to what was seen to be believed of a damaged payload.
    pub fn is_near(&self, sequence: u64) -> bool {
        sequence.abs_diff(self.highest) < WINDOW
    }

    /// Notes one more; `false` if it was seen before.
    ///
    /// One that left the window long ago is new as long as any of its age is missing.
    pub fn note(&mut self, sequence: u64) -> bool {
        let window_start = self.highest.saturating_sub(WINDOW - 1);
        let new = if sequence > self.highest {
            self.go_on_to(sequence);
            true
        } else if sequence >= window_start {
            !self.is_set(sequence)
        } else {
            sequence < self.first || self.missing_before(window_start) > 0
        };
        if sequence >= window_start {
            self.set(sequence);
        }
        self.first = self.first.min(sequence);
        self.distinct += u64::from(new);
        new
    }

    /// Numbers between the first and the highest that were not seen.
    pub fn missing(&self) -> u64 {
        (self.highest - self.first + 1).saturating_sub(self.distinct)
    }

    fn missing_before(&self, window_start: u64) -> u64 {
        let in_window: u32 = self.bits.iter().map(|word| word.count_ones()).sum();
        let before = self.distinct.saturating_sub(u64::from(in_window));
        window_start
            .saturating_sub(self.first)
            .saturating_sub(before)
    }

    fn go_on_to(&mut self, sequence: u64) {
        if sequence - self.highest >= WINDOW {
            self.bits = [0; WORDS];
        } else {
            for left in self.highest + 1..sequence {
                self.clear(left);
            }
        }
        self.highest = sequence;
    }

    fn is_set(&self, sequence: u64) -> bool {
        self.bits[word(sequence)] & bit(sequence) != 0
    }

    fn set(&mut self, sequence: u64) {
        self.bits[word(sequence)] |= bit(sequence);
    }

    fn clear(&mut self, sequence: u64) {
        self.bits[word(sequence)] &= !bit(sequence);
    }
}

fn word(sequence: u64) -> usize {
    (sequence % WINDOW / 64) as usize
}

fn bit(sequence: u64) -> u64 {
    1 << (sequence % 64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn after(sequences: impl IntoIterator<Item = u64>) -> (Seen, u64) {
        let mut sequences = sequences.into_iter();
        let mut seen = Seen::new(sequences.next().unwrap());
        let repeated = sequences.filter(|sequence| !seen.note(*sequence)).count();
        (seen, repeated as u64)
    }

    #[test]
    fn gaps_are_missing_and_repetitions_are_known_however_long_ago() {
        let (seen, repeated) = after((0..10_000).filter(|n| n % 100 != 7));
        assert_eq!((seen.missing(), repeated), (100, 0));
        let (seen, repeated) = after((5..5_000).chain([5, 4_999, 4_000]));
        assert_eq!((seen.missing(), repeated), (0, 3));
    }

    #[test]
    fn one_that_comes_late_is_missing_no_more() {
        let (seen, repeated) = after((0..9_000).filter(|n| *n != 3).chain([3]));
        assert_eq!((seen.missing(), repeated), (0, 0));
    }

    #[test]
    fn a_jump_beyond_the_window_misses_what_lies_between() {
        let (seen, repeated) = after([1, 1_000_001, 1_000_002, 1_000_001]);
        assert_eq!((seen.missing(), repeated), (999_999, 1));
    }

    proptest! {
        #[test]
        fn within_the_window_it_knows_as_much_as_a_set(
            sequences in proptest::collection::vec(0_u64..1_000, 1..300)
        ) {
            let (seen, repeated) = after(sequences.iter().copied());
            let set: BTreeSet<u64> = sequences.iter().copied().collect();
            let span = set.last().unwrap() - set.first().unwrap() + 1;
            prop_assert_eq!(seen.missing(), span - set.len() as u64);
            prop_assert_eq!(repeated, (sequences.len() - set.len()) as u64);
        }
    }
}
