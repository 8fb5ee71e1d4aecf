//! Spacing of what an endpoint sends, where the kernel does not do it.

/// After a stall at most so much is made up for at once: a burst would be no pace.
const MOST_CREDIT_NS: u64 = 10_000_000;

/// Sends shorter than this apart go out together; a thread cannot wake up much more often.
const QUANTUM_NS: u64 = 50_000;

/// A schedule of units (bytes, datagrams) at an even rate.
#[derive(Debug, Clone)]
pub struct Pace {
    /// Nanoseconds a unit; 0 for no pace.
    unit_ns: f64,
    start_ns: u64,
    sent: f64,
    /// Units that leave together.
    quantum: u64,
}

impl Pace {
    /// `units_per_s` from `start_ns` on; as fast as it goes for 0.
    pub fn new(units_per_s: f64, start_ns: u64) -> Self {
        let unit_ns = if units_per_s > 0.0 {
            1e9 / units_per_s
        } else {
            0.0
        };
        Self {
            unit_ns,
            start_ns,
            sent: 0.0,
            quantum: if unit_ns > 0.0 {
                ((QUANTUM_NS as f64 / unit_ns) as u64).max(1)
            } else {
                0
            },
        }
    }

    /// How many units may leave at `now_ns`, or when the next ones may.
    pub fn allowed(&mut self, now_ns: u64) -> Result<u64, u64> {
        if self.unit_ns == 0.0 {
            return Ok(u64::MAX);
        }
        let since_ns = now_ns.saturating_sub(self.start_ns) as f64;
        let least = since_ns - MOST_CREDIT_NS as f64;
        if self.sent * self.unit_ns < least {
            self.sent = least / self.unit_ns;
        }
        // A unit is due at the start of its time.
        let due = (since_ns / self.unit_ns + 1.0 - self.sent).floor() as u64;
        if due >= self.quantum {
            return Ok(due);
        }
        let ahead = self.sent + (self.quantum - 1) as f64;
        // Rounded up, or the caller would come a nanosecond too early and for nothing.
        Err((self.start_ns + (ahead * self.unit_ns).ceil() as u64).max(now_ns + 1))
    }

    /// So many units have left.
    pub fn sent(&mut self, units: u64) {
        self.sent += units as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends whatever is allowed at once and sleeps exactly; returns instants and units.
    fn follow(pace: &mut Pace, until_ns: u64) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        let mut now_ns = 0;
        while now_ns < until_ns {
            match pace.allowed(now_ns) {
                Ok(units) => {
                    pace.sent(units);
                    all.push((now_ns, units));
                }
                Err(next_ns) => now_ns = next_ns,
            }
        }
        all
    }

    #[test]
    fn a_slow_pace_sends_one_at_a_time_evenly() {
        let all = follow(&mut Pace::new(1_000.0, 0), 10_000_000);
        let expected: Vec<_> = (0..10).map(|i| (i * 1_000_000, 1)).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn a_fast_pace_sends_small_batches_and_keeps_the_rate() {
        let all = follow(&mut Pace::new(1e6, 0), 100_000_000);
        assert!(all.iter().all(|(_, units)| *units <= 51), "{all:?}");
        let sum: u64 = all.iter().map(|(_, units)| units).sum();
        assert!((99_900..=100_001).contains(&sum), "{sum}");
    }

    #[test]
    fn a_stall_is_made_up_for_with_ten_milliseconds_at_most() {
        let mut pace = Pace::new(1e6, 0);
        pace.sent(1);
        let allowed = pace.allowed(1_000_000_000).unwrap();
        assert!((9_999..=10_001).contains(&allowed), "{allowed}");
    }

    #[test]
    fn no_pace_allows_everything() {
        assert_eq!(Pace::new(0.0, 5).allowed(0), Ok(u64::MAX));
    }
}
