//! Latency distributions: `HdrHistogram` for the shape, exact smallest, largest and mean.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use hdrhistogram::{Counter, Histogram};
use steelyard_wire::result::Latency;

/// Longer times are clipped in the histogram; `max` stays exact.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Samples that must lie above a percentile before it is reported.
const SAMPLES_ABOVE: u64 = 10;

/// A distribution of durations in nanoseconds.
#[derive(Debug, Clone)]
pub struct Distribution<C: Counter> {
    histogram: Histogram<C>,
    smallest: u64,
    largest: u64,
    sum: u128,
}

/// Three digits: totals of an operation.
pub type FineHistogram = Distribution<u64>;

/// Two digits in a fifteenth of the memory: phases and intervals.
pub type CoarseHistogram = Distribution<u32>;

impl FineHistogram {
    /// Empty.
    pub fn fine() -> Self {
        Self::with_digits(3)
    }

    /// The samples of a result, with the digits that it was recorded with; `None` if it is damaged.
    pub fn read(latency: &Latency) -> Option<Self> {
        let bytes = STANDARD.decode(&latency.hdr_v2_b64).ok()?;
        let histogram = Deserializer::new().deserialize(&mut bytes.as_slice());
        let histogram: Histogram<u64> = histogram.ok()?;
        (histogram.len() == latency.count).then(|| Self {
            histogram,
            smallest: latency.min.unwrap_or(u64::MAX),
            largest: latency.max.unwrap_or(0),
            sum: u128::from(latency.sum.unwrap_or(0)),
        })
    }
}

impl CoarseHistogram {
    /// Empty.
    pub fn coarse() -> Self {
        Self::with_digits(2)
    }
}

impl<C: Counter> Distribution<C> {
    fn with_digits(digits: u8) -> Self {
        let Ok(histogram) = Histogram::new_with_bounds(1, LONGEST_NS, digits) else {
            unreachable!("bounds and digits are constants that the crate accepts, see the tests")
        };
        Self {
            histogram,
            smallest: u64::MAX,
            largest: 0,
            sum: 0,
        }
    }

    /// Adds one sample.
    pub fn record(&mut self, value_ns: u64) {
        self.histogram.saturating_record(value_ns);
        self.smallest = self.smallest.min(value_ns);
        self.largest = self.largest.max(value_ns);
        self.sum += u128::from(value_ns);
    }

    /// Adds `count` samples of one value; the mean stays exact only if the value is.
    pub fn record_many(&mut self, value_ns: u64, count: C) {
        self.histogram.saturating_record_n(value_ns, count);
        self.smallest = self.smallest.min(value_ns);
        self.largest = self.largest.max(value_ns);
        self.sum += u128::from(value_ns) * u128::from(count.as_u64());
    }

    /// Adds all samples of `other`.
    pub fn add(&mut self, other: &Self) {
        // Both have the same bounds, so that nothing can fail to fit.
        let _ = self.histogram.add(&other.histogram);
        self.smallest = self.smallest.min(other.smallest);
        self.largest = self.largest.max(other.largest);
        self.sum += other.sum;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.histogram.reset();
        self.smallest = u64::MAX;
        self.largest = 0;
        self.sum = 0;
    }

    /// Samples so far.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Exact mean; `None` when empty.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// Exact sum; `None` when empty, and beyond 584 years.
    pub fn sum_ns(&self) -> Option<u64> {
        let sum = u64::try_from(self.sum).ok();
        sum.filter(|_| self.count() > 0)
    }

    /// Exact largest; `None` when empty.
    pub fn max_ns(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.largest)
    }

    /// The value at or below which `per_10_000` of the samples lie.
    ///
    /// `None` when fewer than ten samples lie above: one more run would tell another number.
    pub fn percentile_ns(&self, per_10_000: u64) -> Option<u64> {
        let count = self.count();
        let rank = (u128::from(count) * u128::from(per_10_000)).div_ceil(10_000) as u64;
        if count - rank < SAMPLES_ABOVE {
            return None;
        }
        let mut seen = 0;
        let bucket = self.histogram.iter_recorded().find(|step| {
            seen += step.count_since_last_iteration();
            seen >= rank
        })?;
        let highest = self
            .histogram
            .highest_equivalent(bucket.value_iterated_to());
        Some(highest.clamp(self.smallest, self.largest))
    }

    /// `(value, count)` of every bucket that is not empty.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.histogram
            .iter_recorded()
            .map(|step| (step.value_iterated_to(), step.count_since_last_iteration()))
    }

    /// The form of results.
    pub fn latency(&self) -> Latency {
        Latency {
            count: self.count(),
            min: (self.count() > 0).then_some(self.smallest),
            sum: self.sum_ns(),
            mean: self.mean_ns(),
            max: self.max_ns(),
            p50: self.percentile_ns(5_000),
            p90: self.percentile_ns(9_000),
            p95: self.percentile_ns(9_500),
            p99: self.percentile_ns(9_900),
            p999: self.percentile_ns(9_990),
            p9999: self.percentile_ns(9_999),
            hdr_v2_b64: self.encoded(),
        }
    }

    /// V2 with deflate, base64: what every `HdrHistogram` library reads.
    fn encoded(&self) -> String {
        let mut bytes = Vec::new();
        // Writing into memory cannot fail, and the range was accepted when the histogram was made.
        let _ = V2DeflateSerializer::new().serialize(&self.histogram, &mut bytes);
        STANDARD.encode(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(values: impl IntoIterator<Item = u64>) -> FineHistogram {
        let mut all = FineHistogram::fine();
        values.into_iter().for_each(|value| all.record(value));
        all
    }

    #[test]
    fn an_empty_distribution_has_no_figures_at_all() {
        let latency = FineHistogram::fine().latency();
        assert_eq!(latency.count, 0);
        assert_eq!(latency.min, None);
        assert_eq!(latency.mean, None);
        assert_eq!(latency.max, None);
        assert_eq!(latency.p50, None);
    }

    #[test]
    fn a_percentile_needs_ten_samples_above_it() {
        assert_eq!(distribution(1..=19).percentile_ns(5_000), None);
        assert_eq!(distribution(1..=20).percentile_ns(5_000), Some(10));
        assert_eq!(distribution(1..=999).percentile_ns(9_900), None);
        assert_eq!(distribution(1..=1000).percentile_ns(9_900), Some(990));
        assert_eq!(distribution(1..=9_999).percentile_ns(9_990), None);
    }

    #[test]
    fn percentiles_are_within_the_declared_digits() {
        let all = distribution((1..=100_000).map(|i| i * 1_000));
        for (per_10_000, exact) in [
            (5_000, 50_000_000_f64),
            (9_900, 99_000_000.0),
            (9_990, 99_900_000.0),
        ] {
            let value = all.percentile_ns(per_10_000).unwrap() as f64;
            assert!((value / exact - 1.0).abs() < 0.001, "{per_10_000}: {value}");
        }
    }

    #[test]
    fn smallest_largest_and_mean_are_exact_even_beyond_the_range() {
        let all = distribution([1_234_567, 7 * LONGEST_NS]);
        assert_eq!(all.latency().min, Some(1_234_567));
        assert_eq!(all.max_ns(), Some(7 * LONGEST_NS));
        assert_eq!(
            all.mean_ns(),
            Some((1_234_567 + 7 * LONGEST_NS) as f64 / 2.0)
        );
    }

    #[test]
    fn merged_parts_equal_the_whole() {
        let values: Vec<u64> = (1..5_000).map(|i| i * i * 37 % 90_000_017).collect();
        let whole = distribution(values.iter().copied());
        let mut merged = FineHistogram::fine();
        for part in values.chunks(777) {
            merged.add(&distribution(part.iter().copied()));
        }
        assert_eq!(merged.latency(), whole.latency());
    }

    #[test]
    fn what_was_read_back_is_what_was_written_and_can_be_added_to() {
        let (mut phase, mut other) = (CoarseHistogram::coarse(), CoarseHistogram::coarse());
        (1..500).for_each(|i| phase.record(i * 10_007));
        (1..300).for_each(|i| other.record(i * 99_991));
        for latency in [
            phase.latency(),
            distribution(1..9_000).latency(),
            FineHistogram::fine().latency(),
        ] {
            assert_eq!(FineHistogram::read(&latency).unwrap().latency(), latency);
        }
        let mut read = FineHistogram::read(&phase.latency()).unwrap();
        read.add(&FineHistogram::read(&other.latency()).unwrap());
        phase.add(&other);
        assert_eq!(read.latency(), phase.latency());
    }

    #[test]
    fn a_damaged_distribution_is_not_read() {
        let good = distribution(1..9_000).latency();
        let text = good.hdr_v2_b64[..8].to_owned();
        let mut short = good.clone();
        short.hdr_v2_b64 = text;
        let mut other = good;
        other.count += 1;
        assert!(FineHistogram::read(&short).is_none());
        assert!(FineHistogram::read(&other).is_none());
    }

    #[test]
    fn the_text_form_can_be_read_back() {
        let all = distribution((1..500).map(|i| i * 10_007));
        let bytes = STANDARD.decode(all.latency().hdr_v2_b64).unwrap();
        let read: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .unwrap();
        assert_eq!(read.len(), 499);
        assert_eq!(read.max(), read.highest_equivalent(499 * 10_007));
    }

    #[test]
    fn both_precisions_accept_their_bounds() {
        assert_eq!(
            FineHistogram::fine().count() + CoarseHistogram::coarse().count(),
            0
        );
    }
}
