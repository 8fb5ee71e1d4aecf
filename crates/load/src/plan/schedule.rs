//! When operations of an open run are due: a stream of instants, fixed by rate and seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use steelyard_wire::job::Arrival;

/// Arrivals of one worker, in nanoseconds from the start of the run, never decreasing.
///
/// The schedules of all workers together have the rate asked for: constant arrivals interleave
/// evenly, Poisson streams superpose to one Poisson stream.
#[derive(Debug, Clone)]
pub struct Schedule {
    spacing: Spacing,
    next_ns: u64,
}

#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "one for each worker")]
enum Spacing {
    /// The index of the next arrival; its instant is computed afresh, so that no error adds up.
    Constant {
        index: u64,
        offset_ns: f64,
        gap_ns: f64,
    },
    Poisson {
        at_ns: f64,
        mean_gap_ns: f64,
        random: ChaCha8Rng,
    },
}

impl Schedule {
    /// The share of worker `worker` (from 0) of `workers` in `rate_per_s`.
    pub fn new(arrival: Arrival, rate_per_s: f64, worker: u32, workers: u32, seed: u64) -> Self {
        let gap_ns = 1e9 * f64::from(workers) / rate_per_s;
        let spacing = match arrival {
            Arrival::Constant => Spacing::Constant {
                index: 0,
                offset_ns: 1e9 * f64::from(worker) / rate_per_s,
                gap_ns,
            },
            Arrival::Poisson => Spacing::Poisson {
                at_ns: 0.0,
                mean_gap_ns: gap_ns,
                random: random_stream(seed, Purpose::Arrivals, worker),
            },
        };
        let mut schedule = Self {
            spacing,
            next_ns: 0,
        };
        schedule.advance();
        schedule
    }

    /// The next arrival.
    pub fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Goes on to the arrival after the next.
    pub fn advance(&mut self) {
        self.next_ns = match &mut self.spacing {
            Spacing::Constant {
                index,
                offset_ns,
                gap_ns,
            } => {
                let at = *offset_ns + *gap_ns * *index as f64;
                *index += 1;
                at as u64
            }
            Spacing::Poisson {
                at_ns,
                mean_gap_ns,
                random,
            } => {
                *at_ns += *mean_gap_ns * unit_exponential(random);
                *at_ns as u64
            }
        };
    }
}

/// What a stream of random numbers is for; streams of one seed never overlap.
#[derive(Debug, Clone, Copy)]
pub enum Purpose {
    /// Gaps of a Poisson schedule.
    Arrivals = 0,
    /// Choices inside operations.
    Operations = 1,
    /// Bytes of generated payloads.
    Payload = 2,
}

/// The stream of one purpose and worker.
pub fn random_stream(seed: u64, purpose: Purpose, worker: u32) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream((purpose as u64) << 32 | u64::from(worker));
    random
}

/// Exponential with mean 1, by inversion of a 53-bit uniform in (0, 1].
fn unit_exponential(random: &mut ChaCha8Rng) -> f64 {
    const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
    let uniform = ((random.next_u64() >> 11) + 1) as f64 * STEP;
    -uniform.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(mut schedule: Schedule, count: usize) -> Vec<u64> {
        (0..count)
            .map(|_| {
                let at = schedule.next_ns();
                schedule.advance();
                at
            })
            .collect()
    }

    fn gaps(arrivals: &[u64]) -> Vec<f64> {
        arrivals
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect()
    }

    fn merged(arrival: Arrival, rate: f64, workers: u32, each: usize) -> Vec<u64> {
        let mut all: Vec<u64> = (0..workers)
            .flat_map(|k| arrivals(Schedule::new(arrival, rate, k, workers, 7), each))
            .collect();
        all.sort_unstable();
        all
    }

    /// Largest distance between the gaps' distribution and the exponential of the same rate.
    fn kolmogorov_distance(mut gaps: Vec<f64>, mean: f64) -> f64 {
        gaps.sort_by(f64::total_cmp);
        let n = gaps.len() as f64;
        gaps.iter().enumerate().fold(0.0, |worst: f64, (i, gap)| {
            let expected = 1.0 - (-gap / mean).exp();
            let (below, above) = (i as f64 / n, (i + 1) as f64 / n);
            worst
                .max((expected - below).abs())
                .max((expected - above).abs())
        })
    }

    #[test]
    fn poisson_gaps_pass_a_kolmogorov_smirnov_test() {
        let schedule = Schedule::new(Arrival::Poisson, 1000.0, 0, 1, 42);
        let gaps = gaps(&arrivals(schedule, 20_001));
        // 1.95 / sqrt(n) is the 0.1 % critical value.
        assert!(kolmogorov_distance(gaps, 1e6) < 1.95 / 20_000_f64.sqrt());
    }

    #[test]
    fn poisson_streams_of_several_workers_superpose_to_one() {
        let all = merged(Arrival::Poisson, 1000.0, 3, 8000);
        let gaps = gaps(&all[..18_000]);
        assert!(kolmogorov_distance(gaps, 1e6) < 1.95 / 17_999_f64.sqrt());
    }

    #[test]
    fn constant_gaps_are_equal_and_do_not_drift() {
        let schedule = Schedule::new(Arrival::Constant, 3.0, 0, 1, 0);
        let all = arrivals(schedule, 3_000_001);
        assert_eq!(all[3_000_000], 1_000_000_000_000_000);
        let gaps = gaps(&all);
        let widest = gaps.iter().copied().fold(0.0, f64::max);
        let narrowest = gaps.iter().copied().fold(f64::MAX, f64::min);
        assert!(widest - narrowest <= 1.0);
    }

    #[test]
    fn constant_schedules_of_workers_interleave_evenly() {
        let all = merged(Arrival::Constant, 4000.0, 4, 100);
        assert!(gaps(&all).iter().all(|gap| (*gap - 250_000.0).abs() <= 1.0));
    }

    #[test]
    fn a_rate_below_the_number_of_workers_is_kept() {
        let all = merged(Arrival::Constant, 0.5, 4, 2);
        assert_eq!(all[1] - all[0], 2_000_000_000);
    }

    #[test]
    fn the_same_seed_gives_the_same_arrivals_and_another_seed_others() {
        let of = |seed| arrivals(Schedule::new(Arrival::Poisson, 10.0, 1, 2, seed), 50);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
