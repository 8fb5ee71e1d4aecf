//! A time to start that several agents were given, so that they start together.

use std::time::Duration;

use steelyard_net::clock::monotonic_ns;
use steelyard_wire::agent::Failure;

use crate::failure::bad_request;

/// Whoever is later than this would not start together with the others.
const LATE_NS: u64 = 10_000_000;
/// A time beyond is a mistake: clocks of two machines were mixed up.
const FAR_NS: u64 = 3_600 * 1_000_000_000;

/// How long to wait until `at_ns` by `CLOCK_MONOTONIC`.
pub(super) fn time_until(at_ns: u64) -> Result<Duration, Failure> {
    time_between(monotonic_ns(), at_ns)
}

fn time_between(now_ns: u64, at_ns: u64) -> Result<Duration, Failure> {
    let late_ns = now_ns.saturating_sub(at_ns);
    if late_ns > LATE_NS {
        let message = format!("its time to start was {} ms ago", late_ns / 1_000_000);
        return Err(bad_request(message, "choose one that is further ahead"));
    }
    let left_ns = at_ns.saturating_sub(now_ns);
    if left_ns > FAR_NS {
        let message = format!("its time to start is {} s ahead", left_ns / 1_000_000_000);
        let hint = "choose one within the hour, by the clock of the machine that starts";
        return Err(bad_request(message, hint));
    }
    Ok(Duration::from_nanos(left_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_NS: u64 = 10_000 * 1_000_000_000;

    #[test]
    fn a_time_ahead_is_waited_for_and_one_just_past_is_now() {
        let left = |at_ns| time_between(NOW_NS, at_ns).unwrap();
        assert_eq!(left(NOW_NS + 5), Duration::from_nanos(5));
        assert_eq!(left(NOW_NS - LATE_NS), Duration::ZERO);
    }

    #[test]
    fn a_time_that_is_past_is_refused_with_how_much() {
        let refused = time_between(NOW_NS, NOW_NS - 250_000_000).unwrap_err();
        assert!(
            refused.message.contains("250 ms ago"),
            "{}",
            refused.message
        );
    }

    #[test]
    fn a_time_without_measure_is_refused() {
        assert!(time_between(NOW_NS, u64::MAX).is_err());
        assert!(time_between(NOW_NS, 0).is_err());
    }
}
