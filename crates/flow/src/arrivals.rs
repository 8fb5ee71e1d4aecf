//! What a receiver concludes from sequence numbers and stamps: loss, order, repeats, jitter.

use crate::datagram::Head;

/// How far back repeats are known from late ones.
const REACH: u64 = 65_536;

/// Datagrams of one endpoint as they arrive.
#[derive(Debug)]
pub struct Arrivals {
    /// The sequence after the highest that has arrived.
    next: u64,
    seen: Box<[u64]>,
    last_transit_ns: Option<i64>,
    /// Sixteen times the jitter, as RFC 3550 keeps it.
    jitter_16: u64,
    /// Of those sent in the window: arrived once.
    pub received: u64,
    /// Of these, after a later one.
    pub reordered: u64,
    /// Arrived once more.
    pub duplicated: u64,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self {
            next: 0,
            seen: vec![0; (REACH / 64) as usize].into_boxed_slice(),
            last_transit_ns: None,
            jitter_16: 0,
            received: 0,
            reordered: 0,
            duplicated: 0,
        }
    }
}

impl Arrivals {
    /// A datagram arrived at `now_ns`; returns whether it is the first of its sequence.
    #[inline]
    pub fn note(&mut self, head: Head, now_ns: u64) -> bool {
        self.note_transit(now_ns.wrapping_sub(head.sent_ns).cast_signed());
        let counts = u64::from(head.in_window);
        let sequence = head.sequence;
        if sequence >= self.next {
            self.forget(self.next, sequence);
            self.set(sequence);
            self.next = sequence + 1;
        } else if self.next - sequence > REACH {
            // Too old to know whether it came before: late is the likelier.
            self.reordered += counts;
        } else if self.is_set(sequence) {
            self.duplicated += counts;
            return false;
        } else {
            self.set(sequence);
            self.reordered += counts;
        }
        self.received += counts;
        true
    }

    /// Jitter after RFC 3550, section 6.4.1. Clocks need not agree: only differences of transit
    /// times matter.
    pub fn jitter_ns(&self) -> Option<u64> {
        self.last_transit_ns.map(|_| self.jitter_16 / 16)
    }

    #[inline]
    fn note_transit(&mut self, transit_ns: i64) {
        if let Some(last) = self.last_transit_ns.replace(transit_ns) {
            let change = transit_ns.wrapping_sub(last).unsigned_abs();
            self.jitter_16 = (self.jitter_16 + change).saturating_sub((self.jitter_16 + 8) / 16);
        }
    }

    /// Sequences that were jumped over have not been seen.
    fn forget(&mut self, from: u64, to: u64) {
        if to - from >= REACH {
            self.seen.fill(0);
            return;
        }
        for sequence in from..to {
            let (word, bit) = place(sequence);
            self.seen[word] &= !bit;
        }
    }

    fn set(&mut self, sequence: u64) {
        let (word, bit) = place(sequence);
        self.seen[word] |= bit;
    }

    fn is_set(&self, sequence: u64) -> bool {
        let (word, bit) = place(sequence);
        self.seen[word] & bit != 0
    }
}

fn place(sequence: u64) -> (usize, u64) {
    let within = sequence % REACH;
    ((within / 64) as usize, 1 << (within % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(arrivals: &mut Arrivals, sequence: u64) -> bool {
        arrive_at(arrivals, sequence, 0, 0)
    }

    fn arrive_at(arrivals: &mut Arrivals, sequence: u64, sent_ns: u64, now_ns: u64) -> bool {
        let head = Head {
            tag: 0,
            sequence,
            in_window: true,
            sent_ns,
        };
        arrivals.note(head, now_ns)
    }

    fn counts(arrivals: &Arrivals) -> (u64, u64, u64) {
        (arrivals.received, arrivals.reordered, arrivals.duplicated)
    }

    #[test]
    fn what_is_jumped_over_is_missing_from_the_received() {
        let mut arrivals = Arrivals::default();
        for sequence in [0, 1, 4, 5] {
            arrive(&mut arrivals, sequence);
        }
        assert_eq!(counts(&arrivals), (4, 0, 0));
    }

    #[test]
    fn a_late_one_is_received_and_reordered_and_its_repeat_is_neither() {
        let mut arrivals = Arrivals::default();
        for sequence in [0, 2, 1] {
            assert!(arrive(&mut arrivals, sequence));
        }
        assert_eq!(counts(&arrivals), (3, 1, 0));
        assert!(!arrive(&mut arrivals, 1));
        assert!(!arrive(&mut arrivals, 2));
        assert_eq!(counts(&arrivals), (3, 1, 2));
    }

    #[test]
    fn memory_wraps_around_without_inventing_repeats() {
        let mut arrivals = Arrivals::default();
        for sequence in 0..3 * REACH {
            arrive(&mut arrivals, sequence);
        }
        assert_eq!(counts(&arrivals), (3 * REACH, 0, 0));
        // A jump clears what lies between, so that it can still come late.
        arrive(&mut arrivals, 3 * REACH + 100);
        assert!(arrive(&mut arrivals, 3 * REACH + 50));
        assert_eq!(counts(&arrivals), (3 * REACH + 2, 1, 0));
        arrive(&mut arrivals, 9 * REACH);
        assert!(arrive(&mut arrivals, 9 * REACH - 1));
        assert!(!arrive(&mut arrivals, 9 * REACH - 1));
    }

    #[test]
    fn datagrams_outside_the_window_count_for_nothing() {
        let mut arrivals = Arrivals::default();
        let head = Head {
            tag: 0,
            sequence: 0,
            in_window: false,
            sent_ns: 0,
        };
        assert!(arrivals.note(head, 1));
        assert_eq!(counts(&arrivals), (0, 0, 0));
    }

    #[test]
    fn an_even_transit_has_no_jitter_whatever_the_clocks_say() {
        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.jitter_ns(), None);
        for sequence in 0..100 {
            // The receiver's clock is behind the sender's.
            arrive_at(
                &mut arrivals,
                sequence,
                1_000_000 + sequence * 10,
                sequence * 10,
            );
        }
        assert_eq!(arrivals.jitter_ns(), Some(0));
    }

    #[test]
    fn a_transit_that_alternates_by_d_has_a_jitter_of_d() {
        let mut arrivals = Arrivals::default();
        for sequence in 0..1_000 {
            let sent_ns = sequence * 1_000_000;
            arrive_at(
                &mut arrivals,
                sequence,
                sent_ns,
                sent_ns + (sequence % 2) * 16_000,
            );
        }
        let jitter_ns = arrivals.jitter_ns().unwrap();
        assert!((15_990..=16_000).contains(&jitter_ns), "{jitter_ns}");
    }

    #[test]
    fn one_change_of_transit_counts_a_sixteenth() {
        let mut arrivals = Arrivals::default();
        arrive_at(&mut arrivals, 0, 0, 0);
        arrive_at(&mut arrivals, 1, 0, 1_600);
        assert_eq!(arrivals.jitter_ns(), Some(100));
    }
}
