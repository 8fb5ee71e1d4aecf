//! What the kernels measured: one JSON document each, see `docs/reference/kernels.md`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the document of `kernel linpack --json`.
pub const LINPACK_SCHEMA: &str = "steelyard.kernel.linpack/1";

/// Name and version of the document of `kernel ram --json`.
pub const RAM_SCHEMA: &str = "steelyard.kernel.ram/1";

/// Name and version of the document of `kernel reference --json`.
pub const REFERENCE_SCHEMA: &str = "steelyard.kernel.reference/1";

/// The machine that computed, as it tells itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelHost {
    /// Release of the kernel.
    pub kernel: Option<String>,
    /// As the processor calls itself.
    pub cpu_model: Option<String>,
    /// CPUs this process may use.
    pub cpus: Option<u32>,
    /// Caches of the first CPU for data; empty where the kernel does not tell.
    pub caches: Vec<Cache>,
    /// Of the first CPU; `null` where the machine has none or hides it.
    pub frequency_governor: Option<String>,
    /// Instruction sets that this binary has kernels for and this processor has, best last.
    pub isa_available: Vec<Isa>,
}

/// One cache for data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// 1 is nearest to the core.
    pub level: u8,
    /// Capacity.
    pub size_bytes: u64,
    /// Length of a line; `null` where the kernel does not tell.
    pub line_bytes: Option<u32>,
    /// CPUs that share it; `null` where the kernel does not tell.
    pub shared_by: Option<u32>,
}

/// An instruction set that kernels are written for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Isa {
    /// Whatever the compiler makes of plain code for the target.
    Portable,
    /// AVX2 with fused multiply-add.
    Avx2,
    /// AVX-512 Foundation.
    Avx512,
}

/// Median and spread of repeats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Smallest.
    pub least: f64,
    /// Half are below.
    pub median: f64,
    /// Largest.
    pub most: f64,
}

/// A finished run of `reference`: rates of a fixed piece of work, which move when the machine does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceResult {
    /// Always [`REFERENCE_SCHEMA`].
    pub schema: String,
    /// Where it ran.
    pub host: KernelHost,
    /// Steps of integer arithmetic, each on the result of the one before; `null` if interrupted.
    pub cpu_per_s: Option<f64>,
    /// Bytes of 8 MiB copied back and forth; `null` if interrupted.
    pub memory_bytes_per_s: Option<f64>,
    /// Blocks of 64 KiB written in place, each waited for (fdatasync); `null` without a folder.
    pub disk_writes_per_s: Option<f64>,
    /// Why the disk was not measured although a folder was given.
    pub disk_refused: Option<String>,
    /// Ended by Ctrl-C before everything was measured.
    pub interrupted: bool,
    /// Every round came to the same number, and nothing is missing.
    pub valid: bool,
}

/// A finished run of `linpack`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinpackResult {
    /// Always [`LINPACK_SCHEMA`].
    pub schema: String,
    /// Where it ran.
    pub host: KernelHost,
    /// What computed.
    pub isa: Isa,
    /// Threads that computed.
    pub threads: u32,
    /// Decides the matrix.
    pub seed: u64,
    /// One for each size that was asked for.
    pub solutions: Vec<Solutions>,
    /// Ended by Ctrl-C before everything was measured.
    pub interrupted: bool,
    /// Every residual is small and nothing is missing.
    pub valid: bool,
}

/// All solutions of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Solutions {
    /// Number of unknowns.
    pub size: u32,
    /// Columns that are factorised at once.
    pub panel_columns: u32,
    /// In the order they were computed.
    pub repeats: Vec<Solution>,
    /// Of the valid repeats; `null` if there is none.
    pub gflops_per_s: Option<Spread>,
}

/// One solution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Solution {
    /// Factorisation and back substitution.
    pub seconds: f64,
    /// `(2/3 n^3 + 2 n^2) / seconds / 10^9`; `null` when the residual is too large.
    pub gflops_per_s: Option<f64>,
    /// `||Ax-b|| / (eps (||A|| ||x|| + ||b||) n)` in the infinity norm; `null` when it is no number.
    pub scaled_residual: Option<f64>,
    /// First column without a pivot other than 0; `null` unless the matrix is singular.
    pub singular_column: Option<u32>,
    /// The residual is below 16.
    pub valid: bool,
}

/// A finished run of `ram`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RamResult {
    /// Always [`RAM_SCHEMA`].
    pub schema: String,
    /// Where it ran.
    pub host: KernelHost,
    /// What computed.
    pub isa: Isa,
    /// Threads, each with its own memory.
    pub threads: u32,
    /// Size of each array of copy, scale, add and triad, over all threads.
    pub array_bytes: u64,
    /// How bytes are counted: those the program reads and writes. What the memory moves besides
    /// (a line that is read because it is written) is not counted.
    pub counting: Counting,
    /// In the order they were measured.
    pub passes: Vec<Passes>,
    /// Ended by Ctrl-C before everything was measured.
    pub interrupted: bool,
    /// All contents were as they must be, and nothing is missing.
    pub valid: bool,
}

/// Which bytes are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// 8 for each element read or written: 16 for copy and scale, 24 for add and triad.
    WithoutWriteAllocate,
}

/// Type of the elements.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Element {
    /// 64-bit integers.
    Int,
    /// 64-bit floating point numbers.
    Float,
}

/// What is done with the elements.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MemoryOperation {
    /// Sums one block, again and again.
    Read,
    /// Fills one block, again and again.
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

/// How results reach memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stores {
    /// Through the caches.
    Cached,
    /// Past the caches (non-temporal).
    Streaming,
}

/// All repeats of one operation on one size of memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Passes {
    /// Type of the elements.
    pub element: Element,
    /// What is done with them.
    pub operation: MemoryOperation,
    /// Of one block or array, per thread.
    pub block_bytes: u64,
    /// Smallest cache that holds all arrays of this operation: `L1`, `L2`, ... or `memory`; `null`
    /// where the caches are not known.
    pub fits_in: Option<String>,
    /// How results reach memory; `null` if there are none.
    pub stores: Option<Stores>,
    /// Passes over the block in each repeat.
    pub passes: u64,
    /// Seconds of each repeat, in order.
    pub seconds: Vec<f64>,
    /// Bytes read and written a second; `null` when the contents were wrong.
    pub bytes_per_s: Option<Spread>,
    /// The contents afterwards were as they must be.
    pub valid: bool,
}
