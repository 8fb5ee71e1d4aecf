//! Loops that compute a whole cache line before they store it, for stores past the caches.

#![allow(
    clippy::inline_always,
    reason = "must be compiled with the instructions of its caller"
)]

use super::kernels::{Combining, LINE_WORDS, Number};

/// A cache line of words.
pub(super) type Line<T> = [T; LINE_WORDS];

/// The bits of a line. A loop, because `map` is not always compiled with the instructions of its
/// caller.
#[inline(always)]
pub(super) fn bits<T: Number>(line: &Line<T>) -> [u64; LINE_WORDS] {
    let mut bits = [0; LINE_WORDS];
    for (bits, word) in bits.iter_mut().zip(line) {
        *bits = word.bits();
    }
    bits
}

/// Computes line by line and gives each line to `store`. Lengths are whole lines.
#[inline(always)]
pub(super) fn combine_lines<T: Number>(
    work: Combining<'_, T>,
    store: impl Fn(&mut Line<T>, Line<T>),
) {
    match work {
        Combining::Copy(a, b) => one(a, b, store, |b| b),
        Combining::Scale(a, b, q) => one(a, b, store, |b| q.times(b)),
        Combining::Add(a, b, c) => two(a, b, c, store, T::plus),
        Combining::Triad(a, b, c, q) => two(a, b, c, store, |b, c| b.plus(q.times(c))),
    }
}

#[inline(always)]
fn one<T: Number>(a: &mut [T], b: &[T], store: impl Fn(&mut Line<T>, Line<T>), f: impl Fn(T) -> T) {
    let ((a, _), (b, _)) = (a.as_chunks_mut::<LINE_WORDS>(), b.as_chunks::<LINE_WORDS>());
    for (place, b) in a.iter_mut().zip(b) {
        let mut line = [T::default(); LINE_WORDS];
        for (word, b) in line.iter_mut().zip(b) {
            *word = f(*b);
        }
        store(place, line);
    }
}

#[inline(always)]
fn two<T: Number>(
    a: &mut [T],
    b: &[T],
    c: &[T],
    store: impl Fn(&mut Line<T>, Line<T>),
    f: impl Fn(T, T) -> T,
) {
    let (a, _) = a.as_chunks_mut::<LINE_WORDS>();
    let ((b, _), (c, _)) = (b.as_chunks::<LINE_WORDS>(), c.as_chunks::<LINE_WORDS>());
    for ((place, b), c) in a.iter_mut().zip(b).zip(c) {
        let mut line = [T::default(); LINE_WORDS];
        for ((word, b), c) in line.iter_mut().zip(b).zip(c) {
            *word = f(*b, *c);
        }
        store(place, line);
    }
}
