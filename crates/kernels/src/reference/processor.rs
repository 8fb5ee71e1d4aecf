//! The parts that need no disk: integers mixed in registers, and a block copied through memory.

use std::hint::black_box;

use super::Round;
use crate::KernelError;

const STEPS: u64 = 1 << 16;
const COPY_BYTES: usize = 8 << 20;

/// Integers mixed one after the other, each from the one before: the frequency of a core.
pub(super) struct Mixing {
    first: Option<u64>,
    alike: bool,
}

impl Mixing {
    pub(super) fn new() -> Self {
        Self {
            first: None,
            alike: true,
        }
    }

    /// Whether every round came to the same number, as it must.
    pub(super) fn all_alike(&self) -> bool {
        self.alike
    }
}

impl Round for Mixing {
    fn once(&mut self) -> Result<u64, KernelError> {
        let mixed = (0..STEPS).fold(black_box(1), mixed);
        self.alike &= *self.first.get_or_insert(mixed) == mixed;
        Ok(STEPS)
    }
}

/// One step of `SplitMix64`'s finaliser, which no compiler shortens.
fn mixed(state: u64, step: u64) -> u64 {
    let mut z = state ^ step.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A block copied there and back: caches and memory.
pub(super) struct Copies {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Copies {
    pub(super) fn new() -> Result<Self, KernelError> {
        Ok(Self {
            from: block()?,
            to: block()?,
        })
    }
}

impl Round for Copies {
    fn once(&mut self) -> Result<u64, KernelError> {
        black_box(&mut self.to).copy_from_slice(black_box(&self.from));
        std::mem::swap(&mut self.from, &mut self.to);
        Ok(COPY_BYTES as u64)
    }
}

fn block() -> Result<Vec<u8>, KernelError> {
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(COPY_BYTES)
        .map_err(|_| KernelError::NoMemory(COPY_BYTES))?;
    bytes.resize(COPY_BYTES, 0x5A);
    Ok(bytes)
}
