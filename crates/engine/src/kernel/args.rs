//! `kernel linpack|ram|reference`: what can be asked for.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use steelyard_wire::kernel::{Element, Isa, MemoryOperation, Stores};

use crate::quantity::{duration_ns, size_bytes};

/// `kernel`.
#[derive(Debug, Args)]
pub(crate) struct KernelArgs {
    #[command(subcommand)]
    pub(crate) kernel: Kernel,
}

/// What computes.
#[derive(Debug, Subcommand)]
pub(crate) enum Kernel {
    /// Solve dense systems of linear equations: GFLOP/s of the processor.
    Linpack(LinpackArgs),
    /// Read, write and combine memory: bytes per second of each cache and of the memory.
    Ram(RamArgs),
    /// Run a fixed piece of work for a moment: rates of processor, memory and disk.
    Reference(ReferenceArgs),
}

/// `kernel reference`.
#[derive(Debug, Args)]
pub(crate) struct ReferenceArgs {
    /// For processor, memory and disk together.
    #[arg(long, value_parser = duration_ns, default_value = "300ms", value_name = "TIME")]
    pub(crate) time: u64,
    /// Folder to write in, to see the disk, too.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
    /// Print one JSON document (docs/reference/kernels.md) instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kernel linpack`.
#[derive(Debug, Args)]
pub(crate) struct LinpackArgs {
    /// Number of unknowns; may be given several times.
    #[arg(long = "size", value_name = "N", default_values_t = [1000, 2000, 4000])]
    pub(crate) sizes: Vec<u32>,
    /// Threads that compute.
    #[arg(long, short = 't', default_value_t = 1, value_name = "N")]
    pub(crate) threads: u32,
    /// Solutions of each size.
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(crate) repeat: u32,
    /// Decides the matrix.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// Instructions to compute with [default: the best of this processor].
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "portable|avx2|avx512"
    )]
    pub(crate) isa: Option<IsaArg>,
    /// Print one JSON document (docs/reference/kernels.md) instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kernel ram`.
#[derive(Debug, Args)]
pub(crate) struct RamArgs {
    /// Type of the elements; may be given several times [default: both].
    #[arg(
        long = "element",
        value_enum,
        hide_possible_values = true,
        value_name = "int|float"
    )]
    pub(crate) elements: Vec<ElementArg>,
    /// What to do; may be given several times [default: all].
    #[arg(
        long = "operation",
        value_enum,
        hide_possible_values = true,
        value_name = "read|write|copy|scale|add|triad"
    )]
    pub(crate) operations: Vec<OperationArg>,
    /// Read and write double their blocks from this up to the largest.
    #[arg(long, value_parser = size_bytes, default_value = "1KiB", value_name = "SIZE")]
    pub(crate) smallest_block: u64,
    /// See above.
    #[arg(long, value_parser = size_bytes, default_value = "32MiB", value_name = "SIZE")]
    pub(crate) largest_block: u64,
    /// Size of each array of copy, scale, add and triad [default: four times the last cache].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) array: Option<u64>,
    /// Store arrays through or past the caches [default: past, if they are larger than the last].
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "cached|streaming"
    )]
    pub(crate) stores: Option<StoresArg>,
    /// Threads, each with its own memory.
    #[arg(long, short = 't', default_value_t = 1, value_name = "N")]
    pub(crate) threads: u32,
    /// Measurements of each.
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(crate) repeat: u32,
    /// Instructions to compute with [default: the best of this processor].
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "portable|avx2|avx512"
    )]
    pub(crate) isa: Option<IsaArg>,
    /// Print one JSON document (docs/reference/kernels.md) instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Instruction sets as options spell them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IsaArg {
    /// Plain code.
    Portable,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512F.
    Avx512,
}

/// Types of elements as options spell them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ElementArg {
    /// 64-bit integers.
    Int,
    /// 64-bit floating point numbers.
    Float,
}

/// Operations as options spell them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OperationArg {
    /// Sums a block.
    Read,
    /// Fills a block.
    Write,
    /// `a = b`.
    Copy,
    /// `a = q b`.
    Scale,
    /// `a = b + c`.
    Add,
    /// `a = b + q c`.
    Triad,
}

/// Stores as options spell them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoresArg {
    /// Through the caches.
    Cached,
    /// Past the caches.
    Streaming,
}

impl From<IsaArg> for Isa {
    fn from(isa: IsaArg) -> Self {
        match isa {
            IsaArg::Portable => Self::Portable,
            IsaArg::Avx2 => Self::Avx2,
            IsaArg::Avx512 => Self::Avx512,
        }
    }
}

impl From<ElementArg> for Element {
    fn from(element: ElementArg) -> Self {
        match element {
            ElementArg::Int => Self::Int,
            ElementArg::Float => Self::Float,
        }
    }
}

impl From<OperationArg> for MemoryOperation {
    fn from(operation: OperationArg) -> Self {
        match operation {
            OperationArg::Read => Self::Read,
            OperationArg::Write => Self::Write,
            OperationArg::Copy => Self::Copy,
            OperationArg::Scale => Self::Scale,
            OperationArg::Add => Self::Add,
            OperationArg::Triad => Self::Triad,
        }
    }
}

impl From<StoresArg> for Stores {
    fn from(stores: StoresArg) -> Self {
        match stores {
            StoresArg::Cached => Self::Cached,
            StoresArg::Streaming => Self::Streaming,
        }
    }
}
