//! Reads, writes and combines memory, and checks what is in it afterwards.
//!
//! The marks read and write one block of each size; the memory operations compute over arrays well
//! beyond the last cache. Bytes are those that the program reads and writes.

mod arrays;
mod block;
mod kernels;
#[cfg(target_arch = "x86_64")]
mod kernels_x86;
#[cfg(target_arch = "x86_64")]
mod lines;
mod measure;
mod together;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use steelyard_wire::kernel::{
    Cache, Counting, Element, Isa, MemoryOperation, Passes, RAM_SCHEMA, RamResult, Stores,
};

use crate::caches::last_level_bytes;
use crate::host::{facts, refuse_threads, refuse_too_large};
use crate::isa::{Proof, with_proof};
use crate::{KernelError, caches};
use kernels::{LINE_WORDS, Streams};
use measure::Measuring;

/// Smallest block.
pub const SMALLEST_BLOCK_BYTES: u64 = 1 << 10;
/// Arrays are this many times the last cache, as STREAM asks.
const BEYOND_LAST_CACHE: u64 = 4;
/// Where the caches are not known, and the least anywhere.
const LEAST_ARRAY_BYTES: u64 = 64 << 20;
const LINE_BYTES: u64 = (LINE_WORDS * size_of::<u64>()) as u64;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RamJob {
    /// Types of the elements.
    pub elements: Vec<Element>,
    /// What to do with them.
    pub operations: Vec<MemoryOperation>,
    /// Read and write double their blocks from this ...
    pub smallest_block_bytes: u64,
    /// ... up to this.
    pub largest_block_bytes: u64,
    /// Size of each array over all threads; `None` is four times the last cache.
    pub array_bytes: Option<u64>,
    /// How arrays are stored; `None` is past the caches if they are larger than the last one.
    pub stores: Option<Stores>,
    /// Threads, each with its own memory.
    pub threads: u32,
    /// Measurements of each.
    pub repeats: u32,
    /// `None` is the best there is.
    pub isa: Option<Isa>,
}

/// Measures everything of the job; `done` is called with each result.
///
/// # Errors
/// What is asked for makes no sense or does not fit, before any memory is taken.
pub fn run(
    job: &RamJob,
    cancel: &AtomicBool,
    done: &dyn Fn(&Passes),
) -> Result<RamResult, KernelError> {
    let proof = Proof::of(job.isa)?;
    let caches = caches(Path::new("/"));
    check(job)?;
    let array_bytes = array_bytes(job, &caches);
    refuse_too_large(needed_bytes(job, array_bytes))?;
    let plan = plan(job, array_bytes);
    let passes = with_proof!(proof, streams => {
        let measuring = Measuring { streams, job, caches: &caches, stores: stores(streams, job, &caches, array_bytes)?, cancel };
        measure_all(&measuring, &plan, done)
    })?;
    let valid = passes.len() == plan.len() && passes.iter().all(|pass| pass.valid);
    Ok(RamResult {
        schema: RAM_SCHEMA.to_owned(),
        host: facts(),
        isa: proof.isa(),
        threads: job.threads,
        array_bytes,
        counting: Counting::WithoutWriteAllocate,
        passes,
        interrupted: cancel.load(Ordering::Relaxed),
        valid,
    })
}

/// One thing to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Planned {
    element: Element,
    operation: MemoryOperation,
    /// Of one block or array, per thread.
    bytes: u64,
}

fn measure_all<S: Streams>(
    measuring: &Measuring<'_, S>,
    plan: &[Planned],
    done: &dyn Fn(&Passes),
) -> Result<Vec<Passes>, KernelError> {
    let mut passes = Vec::new();
    for planned in plan {
        match measuring.measure(*planned)? {
            Some(measured) => {
                done(&measured);
                passes.push(measured);
            }
            None => break,
        }
    }
    Ok(passes)
}

fn plan(job: &RamJob, array_bytes: u64) -> Vec<Planned> {
    let mut plan = Vec::new();
    for element in &job.elements {
        for operation in &job.operations {
            let sizes = if is_mark(*operation) {
                block_sizes(job.smallest_block_bytes, job.largest_block_bytes)
            } else {
                vec![share(array_bytes, job.threads)]
            };
            let planned = |bytes| Planned {
                element: *element,
                operation: *operation,
                bytes,
            };
            plan.extend(sizes.into_iter().map(planned));
        }
    }
    plan
}

/// Whether it works on one block, again and again.
pub(crate) fn is_mark(operation: MemoryOperation) -> bool {
    matches!(operation, MemoryOperation::Read | MemoryOperation::Write)
}

fn block_sizes(smallest: u64, largest: u64) -> Vec<u64> {
    let doubled = std::iter::successors(Some(smallest), |bytes| bytes.checked_mul(2));
    doubled.take_while(|bytes| *bytes <= largest).collect()
}

/// One thread's part, in whole lines.
fn share(array_bytes: u64, threads: u32) -> u64 {
    array_bytes / u64::from(threads) / LINE_BYTES * LINE_BYTES
}

fn array_bytes(job: &RamJob, caches: &[Cache]) -> u64 {
    job.array_bytes.unwrap_or_else(|| {
        let beyond =
            last_level_bytes(caches).map_or(0, |bytes| bytes.saturating_mul(BEYOND_LAST_CACHE));
        beyond.max(LEAST_ARRAY_BYTES)
    })
}

fn needed_bytes(job: &RamJob, array_bytes: u64) -> u64 {
    let blocks = job
        .largest_block_bytes
        .saturating_mul(u64::from(job.threads));
    let is_wanted = |marks| {
        job.operations
            .iter()
            .any(|operation| is_mark(*operation) == marks)
    };
    let of_marks = if is_wanted(true) { blocks } else { 0 };
    let of_arrays = if is_wanted(false) {
        array_bytes.saturating_mul(3)
    } else {
        0
    };
    of_marks.max(of_arrays)
}

fn stores<S: Streams>(
    _: S,
    job: &RamJob,
    caches: &[Cache],
    array_bytes: u64,
) -> Result<Stores, KernelError> {
    let beyond = last_level_bytes(caches).is_none_or(|bytes| array_bytes > bytes);
    match job.stores {
        Some(Stores::Streaming) if !S::STREAMING => Err(KernelError::bad_option(
            "plain code has no stores past the caches",
            "say --stores cached, or another --isa",
        )),
        Some(stores) => Ok(stores),
        None if beyond && S::STREAMING => Ok(Stores::Streaming),
        None => Ok(Stores::Cached),
    }
}

fn check(job: &RamJob) -> Result<(), KernelError> {
    refuse_threads(job.threads)?;
    let complain = |message: &str, hint| Err(KernelError::bad_option(message, hint));
    if job.repeats == 0 {
        return complain("0 repeats measure nothing", "say --repeat 1 or more");
    }
    if job.elements.is_empty() || job.operations.is_empty() {
        return complain(
            "nothing is to be measured",
            "name an element and an operation",
        );
    }
    let (smallest, largest) = (job.smallest_block_bytes, job.largest_block_bytes);
    if smallest < SMALLEST_BLOCK_BYTES || smallest > largest {
        let hint = "say --smallest-block 1KiB or more, and no more than --largest-block";
        return complain("blocks begin at 1KiB and grow", hint);
    }
    if smallest % LINE_BYTES != 0 {
        return complain("a block is whole cache lines", "say a multiple of 64");
    }
    if job
        .array_bytes
        .is_some_and(|bytes| share(bytes, job.threads) == 0)
    {
        return complain(
            "an array has less than a cache line for each thread",
            "say --array 64MiB or more",
        );
    }
    Ok(())
}

#[cfg(test)]
#[path = "ram_tests.rs"]
mod tests;
