//! Reading and writing one block again and again: what each cache gives and takes.

use std::hint::black_box;

use super::kernels::{Number, Streams};
use crate::KernelError;
use crate::buffer::Buffer;

/// Contents repeat after this many words; no power of two, so that no shift of lines goes unseen.
const PATTERN: usize = 7;
/// Written values repeat after this many passes.
const WRITTEN_VALUES: u64 = 1000;

/// One thread's block, and what was found wrong with it.
pub(super) struct Block<T: Number> {
    words: Buffer<T>,
    expected_sum: T,
    passes_done: u64,
    wrong: bool,
}

impl<T: Number> Block<T> {
    pub(super) fn new(bytes: u64) -> Result<Self, KernelError> {
        let mut words = Buffer::zeroed(bytes as usize / size_of::<T>())?;
        let mut expected_sum = T::default();
        for (place, word) in words.iter_mut().enumerate() {
            *word = T::whole((place % PATTERN) as u32 + 1);
            expected_sum = expected_sum.plus(*word);
        }
        Ok(Self {
            words,
            expected_sum,
            passes_done: 0,
            wrong: false,
        })
    }

    /// Sums all words `passes` times; every sum is compared.
    pub(super) fn read(&mut self, streams: impl Streams, passes: u64) {
        for _ in 0..passes {
            let sum = streams.sum(black_box(&*self.words));
            self.wrong |= sum != self.expected_sum;
        }
    }

    /// Fills all words `passes` times, with another value each time.
    pub(super) fn write(&mut self, streams: impl Streams, passes: u64) {
        for _ in 0..passes {
            self.passes_done += 1;
            streams.fill(black_box(&mut *self.words), written::<T>(self.passes_done));
        }
        black_box(&*self.words);
    }

    /// Whether every sum was right.
    pub(super) fn was_read(&self) -> bool {
        !self.wrong
    }

    /// Whether every word holds what the last pass wrote.
    pub(super) fn was_written(&self) -> bool {
        let value = written::<T>(self.passes_done);
        self.passes_done > 0 && self.words.iter().all(|word| *word == value)
    }
}

fn written<T: Number>(pass: u64) -> T {
    T::whole((pass % WRITTEN_VALUES) as u32 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Proof, available, with_proof};

    #[test]
    fn every_instruction_set_reads_and_writes_every_word() {
        for isa in available() {
            for bytes in [8, 1024, 1024 + 56] {
                with_proof!(Proof::of(Some(isa)).unwrap(), streams => {
                    let mut block = Block::<f64>::new(bytes).unwrap();
                    block.read(streams, 2);
                    assert!(block.was_read());
                    block.write(streams, 3);
                    assert!(block.was_written());
                });
            }
        }
    }

    #[test]
    fn a_block_that_is_not_what_it_must_be_is_caught() {
        let mut block = Block::<u64>::new(1024).unwrap();
        assert!(!block.was_written(), "nothing was written yet");
        block.words[100] += 1;
        block.read(crate::isa::Portable, 1);
        assert!(!block.was_read());
        block.write(crate::isa::Portable, 1);
        block.words[127] = 0;
        assert!(!block.was_written());
    }
}
