//! Kernels that load the processor and the memory alone, [`linpack`] and [`ram`], and a [`reference`] kernel
//! that tells what the machine is like just now.
//!
//! All check what they computed, and say so: a figure of a wrong answer is no figure.

#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare numbers that must be exact")
)]

mod buffer;
mod caches;
mod error;
mod host;
mod isa;
pub mod linpack;
pub mod ram;
pub mod reference;
mod spread;

pub use caches::{caches, level_that_holds};
pub use error::KernelError;
pub use isa::{available, best};
