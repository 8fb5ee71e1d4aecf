//! The loops over memory, compiled once for each instruction set.
//!
//! Sums are kept in lanes so that they need no particular order, and all contents are small whole
//! numbers, so that every sum is exact and can be checked.

#![allow(
    clippy::inline_always,
    reason = "must be compiled with the instructions of its caller"
)]

use std::hint::black_box;

use crate::buffer::Word;
use crate::isa::Portable;

/// Words of a cache line.
pub(super) const LINE_WORDS: usize = 8;
/// Sums side by side: enough that adding never waits for the sum before.
const LANES: usize = 64;

/// What can be computed with.
pub(super) trait Number: Word {
    /// `self + other`.
    fn plus(self, other: Self) -> Self;
    /// `self * other`.
    fn times(self, other: Self) -> Self;
    /// From a small whole number.
    fn whole(value: u32) -> Self;
    /// The same bits in a word that stores take.
    #[cfg(target_arch = "x86_64")]
    fn bits(self) -> u64;
}

impl Number for f64 {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self * other
    }
    fn whole(value: u32) -> Self {
        f64::from(value)
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

impl Number for u64 {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }
    fn whole(value: u32) -> Self {
        u64::from(value)
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn bits(self) -> u64 {
        self
    }
}

/// The loops of one instruction set.
pub(super) trait Streams: Copy + Sync {
    /// Whether it has stores past the caches.
    const STREAMING: bool;

    /// Sum of all words.
    fn sum<T: Number>(self, block: &[T]) -> T;

    /// Fills the block.
    fn fill<T: Number>(self, block: &mut [T], value: T);

    /// `target = left + factor right`, where the absent parts are absent.
    fn combine<T: Number>(self, work: Combining<'_, T>, streaming: bool);
}

/// The arrays of copy, scale, add and triad, all of one length.
pub(super) enum Combining<'a, T> {
    /// `a = b`.
    Copy(&'a mut [T], &'a [T]),
    /// `a = q b`.
    Scale(&'a mut [T], &'a [T], T),
    /// `a = b + c`.
    Add(&'a mut [T], &'a [T], &'a [T]),
    /// `a = b + q c`.
    Triad(&'a mut [T], &'a [T], &'a [T], T),
}

impl Streams for Portable {
    const STREAMING: bool = false;

    fn sum<T: Number>(self, block: &[T]) -> T {
        sum_lanes(block)
    }

    fn fill<T: Number>(self, block: &mut [T], value: T) {
        block.fill(value);
    }

    fn combine<T: Number>(self, work: Combining<'_, T>, _streaming: bool) {
        combine_words(work);
    }
}

#[inline(always)]
pub(super) fn sum_lanes<T: Number>(block: &[T]) -> T {
    let mut sums = [T::default(); LANES];
    let (groups, rest) = block.as_chunks::<LANES>();
    for group in groups {
        for (sum, word) in sums.iter_mut().zip(group) {
            *sum = sum.plus(*word);
        }
    }
    let all = sums.iter().chain(rest);
    all.fold(T::default(), |sum, word| sum.plus(*word))
}

/// Computes word by word, through the caches. Lengths are whole lines.
#[inline(always)]
pub(super) fn combine_words<T: Number>(work: Combining<'_, T>) {
    match work {
        Combining::Copy(a, b) => copy_words(a, b),
        Combining::Scale(a, b, q) => {
            for (a, b) in a.iter_mut().zip(b) {
                *a = q.times(*b);
            }
        }
        Combining::Add(a, b, c) => {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = b.plus(*c);
            }
        }
        Combining::Triad(a, b, c, q) => {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = b.plus(q.times(*c));
            }
        }
    }
}

#[inline(always)]
fn copy_words<T: Number>(a: &mut [T], b: &[T]) {
    let ((a, _), (b, _)) = (a.as_chunks_mut::<LINE_WORDS>(), b.as_chunks::<LINE_WORDS>());
    for (a, b) in a.iter_mut().zip(b) {
        *a = *b;
        black_box(()); // or the compiler calls memcpy, whose stores are of whatever kind it likes
    }
}
