//! A time to start that several agents were given, so that they start together.

use thiserror::Error;

/// Whoever is later than this would not start together with the others.
pub const LATE_NS: u64 = 10_000_000;
/// A time beyond is a mistake: clocks of two machines were mixed up.
pub const FAR_NS: u64 = 3_600 * 1_000_000_000;

/// Why nothing starts at such a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum OffBarrier {
    /// It is past, by so many nanoseconds.
    #[error("its time to start was {} ms ago", .0 / 1_000_000)]
    Past(u64),
    /// It is too far ahead, by so many nanoseconds.
    #[error("its time to start is {} s ahead", .0 / 1_000_000_000)]
    Far(u64),
}

impl OffBarrier {
    /// What to do about it.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Past(_) => "it needs a later start: the next attempt of a study gets one",
            Self::Far(_) => "choose one within the hour, by the clock of the machine that starts",
        }
    }
}

/// How long after `now_ns` is `at_ns`: none if it has just passed.
pub fn left_ns(now_ns: u64, at_ns: u64) -> Result<u64, OffBarrier> {
    let late_ns = now_ns.saturating_sub(at_ns);
    let left_ns = at_ns.saturating_sub(now_ns);
    if late_ns > LATE_NS {
        return Err(OffBarrier::Past(late_ns));
    }
    if left_ns > FAR_NS {
        return Err(OffBarrier::Far(left_ns));
    }
    Ok(left_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_NS: u64 = 10_000 * 1_000_000_000;

    #[test]
    fn a_time_ahead_is_waited_for_and_one_just_past_is_now() {
        assert_eq!(left_ns(NOW_NS, NOW_NS + 5), Ok(5));
        assert_eq!(left_ns(NOW_NS, NOW_NS - LATE_NS), Ok(0));
    }

    #[test]
    fn a_time_that_is_past_is_refused_with_how_much() {
        let refused = left_ns(NOW_NS, NOW_NS - 250_000_000).unwrap_err();
        assert_eq!(refused.to_string(), "its time to start was 250 ms ago");
    }

    #[test]
    fn a_time_without_measure_is_refused() {
        assert!(matches!(left_ns(NOW_NS, u64::MAX), Err(OffBarrier::Far(_))));
        assert!(matches!(left_ns(NOW_NS, 0), Err(OffBarrier::Past(_))));
    }
}
