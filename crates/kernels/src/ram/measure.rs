//! One operation on one size of memory: how many passes, how long, and whether it was right.

use std::sync::atomic::{AtomicBool, Ordering};

use steelyard_wire::kernel::{Cache, Element, MemoryOperation, Passes, Stores};

use super::arrays::Arrays;
use super::block::Block;
use super::kernels::{Number, Streams};
use super::together::together;
use super::{Planned, RamJob, is_mark};
use crate::spread::spread;
use crate::{KernelError, level_that_holds};

/// A repeat takes at least about this long, so that the clock and the start do not count.
const REPEAT_SECONDS: f64 = 0.02;
/// Most passes while looking for their number.
const MOST_PASSES: u64 = 1 << 40;

/// What does not change from one measurement to the next.
pub(super) struct Measuring<'a, S> {
    pub(super) streams: S,
    pub(super) job: &'a RamJob,
    pub(super) caches: &'a [Cache],
    pub(super) stores: Stores,
    pub(super) cancel: &'a AtomicBool,
}

/// Seconds of each repeat, the passes of each, and whether all contents were right.
struct Timed {
    seconds: Vec<f64>,
    passes: u64,
    valid: bool,
}

impl<S: Streams> Measuring<'_, S> {
    /// `None` when it was interrupted.
    pub(super) fn measure(&self, planned: Planned) -> Result<Option<Passes>, KernelError> {
        let timed = match planned.element {
            Element::Int => self.time::<u64>(planned),
            Element::Float => self.time::<f64>(planned),
        }?;
        if timed.seconds.len() < self.job.repeats as usize {
            return Ok(None);
        }
        Ok(Some(self.judged(planned, timed)))
    }

    fn judged(&self, planned: Planned, timed: Timed) -> Passes {
        let counted = arrays(planned.operation) * planned.bytes;
        let moved = (counted * u64::from(self.job.threads) * timed.passes) as f64;
        let rates = timed.seconds.iter().map(|seconds| moved / seconds);
        Passes {
            element: planned.element,
            operation: planned.operation,
            block_bytes: planned.bytes,
            fits_in: level_that_holds(self.caches, counted, self.job.threads),
            stores: self.stores_of(planned.operation),
            passes: timed.passes,
            bytes_per_s: spread(rates).filter(|_| timed.valid),
            seconds: timed.seconds,
            valid: timed.valid,
        }
    }

    fn stores_of(&self, operation: MemoryOperation) -> Option<Stores> {
        match operation {
            MemoryOperation::Read => None,
            MemoryOperation::Write => Some(Stores::Cached),
            _ => Some(self.stores),
        }
    }

    fn time<T: Number>(&self, planned: Planned) -> Result<Timed, KernelError> {
        if is_mark(planned.operation) {
            self.time_block::<T>(planned)
        } else {
            self.time_arrays::<T>(planned)
        }
    }

    fn time_block<T: Number>(&self, planned: Planned) -> Result<Timed, KernelError> {
        let mut blocks = self.arenas(|| Block::<T>::new(planned.bytes))?;
        let streams = self.streams;
        if planned.operation == MemoryOperation::Read {
            self.repeat(
                &mut blocks,
                |block, passes| block.read(streams, passes),
                |_| (),
                Block::was_read,
            )
        } else {
            self.repeat(
                &mut blocks,
                |block, passes| block.write(streams, passes),
                |_| (),
                Block::was_written,
            )
        }
    }

    fn time_arrays<T: Number>(&self, planned: Planned) -> Result<Timed, KernelError> {
        let mut arrays = self.arenas(|| Arrays::<T>::new(planned.bytes))?;
        let (streams, operation) = (self.streams, planned.operation);
        let streaming = self.stores == Stores::Streaming;
        let factor = 3;
        self.repeat(
            &mut arrays,
            |arrays, passes| arrays.compute(streams, operation, factor, streaming, passes),
            Arrays::forget,
            |arrays| arrays.was_computed(operation, factor),
        )
    }

    fn arenas<A>(&self, make: impl Fn() -> Result<A, KernelError>) -> Result<Vec<A>, KernelError> {
        (0..self.job.threads).map(|_| make()).collect()
    }

    /// Finds the number of passes, then times each repeat; before and after it, off the clock,
    /// `prepare` and `check` see each arena.
    fn repeat<A: Send>(
        &self,
        arenas: &mut [A],
        work: impl Fn(&mut A, u64) + Sync,
        prepare: impl Fn(&mut A),
        check: impl Fn(&A) -> bool,
    ) -> Result<Timed, KernelError> {
        let passes = passes_needed(|passes| together(arenas, |arena| work(arena, passes)))?;
        let (mut seconds, mut valid) = (Vec::new(), true);
        for _ in 0..self.job.repeats {
            if self.cancel.load(Ordering::Relaxed) {
                break;
            }
            for arena in &mut *arenas {
                prepare(arena);
            }
            seconds.push(together(arenas, |arena| work(arena, passes))?);
            valid &= arenas.iter().all(&check);
        }
        Ok(Timed {
            seconds,
            passes,
            valid,
        })
    }
}

/// Arrays that an operation reads or writes.
fn arrays(operation: MemoryOperation) -> u64 {
    match operation {
        MemoryOperation::Read | MemoryOperation::Write => 1,
        MemoryOperation::Copy | MemoryOperation::Scale => 2,
        MemoryOperation::Add | MemoryOperation::Triad => 3,
    }
}

/// Doubles passes until they can be timed, then scales to [`REPEAT_SECONDS`].
fn passes_needed(
    mut seconds_of: impl FnMut(u64) -> Result<f64, KernelError>,
) -> Result<u64, KernelError> {
    let mut passes = 1;
    seconds_of(passes)?; // the first touch is not representative
    loop {
        let seconds = seconds_of(passes)?;
        if seconds >= REPEAT_SECONDS / 10.0 || passes >= MOST_PASSES {
            let needed = passes as f64 * REPEAT_SECONDS / seconds.max(f64::MIN_POSITIVE);
            return Ok((needed.ceil() as u64).clamp(1, MOST_PASSES));
        }
        passes *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_as_many_as_fill_a_repeat() {
        let each = |seconds: f64| move |passes: u64| Ok(passes as f64 * seconds);
        assert_eq!(passes_needed(each(1.0)), Ok(1));
        assert_eq!(passes_needed(each(0.001)), Ok(20));
        assert_eq!(passes_needed(|_| Ok(0.0)), Ok(MOST_PASSES));
    }

    #[test]
    fn bytes_are_counted_as_stream_counts_them() {
        assert_eq!(arrays(MemoryOperation::Copy) * 8, 16);
        assert_eq!(arrays(MemoryOperation::Triad) * 8, 24);
    }
}
