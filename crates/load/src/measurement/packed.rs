//! Buckets of a histogram in few bytes: most take two.
//!
//! A bucket is its place among those of a two-digit histogram, as the distance from the one before,
//! and its count; both as bytes of seven bits, the lowest first, all but the last marked.

/// Places of an octave: two decimal digits need 128, as `HdrHistogram` has them.
const OCTAVE_BITS: u32 = 7;

/// Appends `(value, count)` in rising order; of a value, what a bucket keeps.
pub fn pack(buckets: impl Iterator<Item = (u64, u64)>, out: &mut Vec<u8>) {
    let mut before = 0;
    for (value, count) in buckets {
        let place = place_of(value);
        write(place - before, out);
        write(count, out);
        before = place;
    }
}

/// What was packed, each value the highest of its bucket.
pub fn unpack(mut bytes: &[u8]) -> impl Iterator<Item = (u64, u64)> + '_ {
    let mut place = 0;
    std::iter::from_fn(move || {
        place += read(&mut bytes)?;
        Some((highest_of(place), read(&mut bytes)?))
    })
}

/// Two octaves at the bottom have a place for each value; each further one halves them.
fn place_of(value: u64) -> u64 {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(OCTAVE_BITS + 1);
    (u64::from(shift) << OCTAVE_BITS) + (value >> shift)
}

fn highest_of(place: u64) -> u64 {
    let shift = (place >> OCTAVE_BITS).saturating_sub(1);
    let lowest = place - (shift << OCTAVE_BITS);
    ((lowest + 1) << shift) - 1
}

fn write(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::measurement::histogram::CoarseHistogram;

    #[test]
    fn small_values_are_kept_and_larger_ones_as_the_highest_of_their_bucket() {
        for (value, kept) in [
            (0, 0),
            (255, 255),
            (256, 257),
            (1_000, 1_003),
            (1_003, 1_003),
        ] {
            assert_eq!(highest_of(place_of(value)), kept, "{value}");
        }
    }

    #[test]
    fn most_buckets_take_two_bytes() {
        let mut phase = CoarseHistogram::coarse();
        (0..100).for_each(|i| phase.record(1_000_000 + i * 10_000));
        let mut packed = Vec::new();
        pack(phase.buckets(), &mut packed);
        assert!(packed.len() <= 2 * phase.buckets().count() + 2);
    }

    proptest! {
        #[test]
        fn a_histogram_comes_back_as_it_was(
            values in prop::collection::vec((0_u64..3_600_000_000_000, 1_u32..100_000), 0..200),
        ) {
            let (mut before, mut after) = (CoarseHistogram::coarse(), CoarseHistogram::coarse());
            for (value, count) in values {
                before.record_many(value, count);
            }
            let mut packed = Vec::new();
            pack(before.buckets(), &mut packed);
            for (value, count) in unpack(&packed) {
                after.record_many(value, count as u32);
            }
            let same = |phase: &CoarseHistogram| phase.buckets().collect::<Vec<_>>();
            prop_assert_eq!(same(&before), same(&after));
        }
    }
}
