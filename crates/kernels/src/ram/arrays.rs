//! Copy, scale, add and triad over arrays well beyond the last cache.

use std::hint::black_box;

use steelyard_wire::kernel::MemoryOperation;

use super::kernels::{Combining, Number, Streams};
use crate::KernelError;
use crate::buffer::Buffer;

/// Contents of the two sources repeat after this many words each.
const PATTERNS: (usize, usize) = (7, 5);

/// One thread's arrays.
pub(super) struct Arrays<T: Number> {
    target: Buffer<T>,
    left: Buffer<T>,
    right: Buffer<T>,
}

impl<T: Number> Arrays<T> {
    pub(super) fn new(bytes: u64) -> Result<Self, KernelError> {
        let words = bytes as usize / size_of::<T>();
        let mut arrays = Self {
            target: Buffer::zeroed(words)?,
            left: Buffer::zeroed(words)?,
            right: Buffer::zeroed(words)?,
        };
        for (place, word) in arrays.left.iter_mut().enumerate() {
            *word = left(place);
        }
        for (place, word) in arrays.right.iter_mut().enumerate() {
            *word = right(place);
        }
        Ok(arrays)
    }

    /// Forgets what was computed, so that computing nothing is seen.
    pub(super) fn forget(&mut self) {
        self.target.fill(T::default());
    }

    /// Computes the whole target `passes` times.
    pub(super) fn compute(
        &mut self,
        streams: impl Streams,
        operation: MemoryOperation,
        factor: u32,
        streaming: bool,
        passes: u64,
    ) {
        for _ in 0..passes {
            let target = black_box(&mut *self.target);
            let (left, right) = (black_box(&*self.left), black_box(&*self.right));
            let factor = T::whole(factor);
            let work = match operation {
                MemoryOperation::Scale => Combining::Scale(target, left, factor),
                MemoryOperation::Add => Combining::Add(target, left, right),
                MemoryOperation::Triad => Combining::Triad(target, left, right, factor),
                _ => Combining::Copy(target, left),
            };
            streams.combine(work, streaming);
        }
        black_box(&*self.target);
    }

    /// Whether every word is what the operation makes of its sources.
    pub(super) fn was_computed(&self, operation: MemoryOperation, factor: u32) -> bool {
        let words = self.target.iter().enumerate();
        words
            .into_iter()
            .all(|(place, word)| *word == expected(place, operation, factor))
    }
}

fn left<T: Number>(place: usize) -> T {
    T::whole((place % PATTERNS.0) as u32 + 1)
}

fn right<T: Number>(place: usize) -> T {
    T::whole((place % PATTERNS.1) as u32 + 2)
}

fn expected<T: Number>(place: usize, operation: MemoryOperation, factor: u32) -> T {
    let (left, right, factor) = (left::<T>(place), right::<T>(place), T::whole(factor));
    match operation {
        MemoryOperation::Scale => factor.times(left),
        MemoryOperation::Add => left.plus(right),
        MemoryOperation::Triad => left.plus(factor.times(right)),
        _ => left,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Portable, Proof, available, with_proof};

    const OPERATIONS: [MemoryOperation; 4] = [
        MemoryOperation::Copy,
        MemoryOperation::Scale,
        MemoryOperation::Add,
        MemoryOperation::Triad,
    ];

    fn check<T: Number>() {
        for isa in available() {
            for (operation, streaming) in
                OPERATIONS.into_iter().flat_map(|o| [(o, true), (o, false)])
            {
                with_proof!(Proof::of(Some(isa)).unwrap(), streams => {
                    let mut arrays = Arrays::<T>::new(64 * 37).unwrap();
                    arrays.compute(streams, operation, 3, streaming, 2);
                    assert!(arrays.was_computed(operation, 3), "{isa:?} {operation:?} {streaming}");
                });
            }
        }
    }

    #[test]
    fn every_instruction_set_computes_every_word_with_both_kinds_of_stores() {
        check::<f64>();
        check::<u64>();
    }

    #[test]
    fn a_kernel_that_computes_nothing_or_something_else_is_caught() {
        let mut arrays = Arrays::<f64>::new(4096).unwrap();
        assert!(
            OPERATIONS
                .iter()
                .all(|operation| !arrays.was_computed(*operation, 3))
        );
        arrays.compute(Portable, MemoryOperation::Triad, 4, false, 1);
        assert!(!arrays.was_computed(MemoryOperation::Triad, 3));
        arrays.compute(Portable, MemoryOperation::Triad, 3, false, 1);
        assert!(arrays.was_computed(MemoryOperation::Triad, 3));
        arrays.target[511] = 0.0;
        assert!(!arrays.was_computed(MemoryOperation::Triad, 3));
        arrays.forget();
        assert!(!arrays.was_computed(MemoryOperation::Copy, 3));
    }
}
