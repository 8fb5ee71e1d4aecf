//! The three inner loops, once for each instruction set.
//!
//! A tile of C is `ROWS` x `COLUMNS` and stays in registers while the depth runs. Left factors are
//! packed in groups of `ROWS`, right factors in groups of `COLUMNS`: for each step of the depth one
//! group, so that both are read in the order they lie in memory.

#![allow(
    clippy::inline_always,
    reason = "must be compiled with the instructions of its caller"
)]

use super::triangle::{eliminate_leaf, fused, solve_group};
use crate::isa::Portable;

/// Most rows and columns of any tile.
pub(super) const LARGEST_TILE: usize = 24 * 8;

/// The inner loops of one instruction set.
pub(super) trait Tile: Copy + Sync {
    /// Rows of a tile.
    const ROWS: usize;
    /// Columns of a tile.
    const COLUMNS: usize;

    /// `c -= a b`: `c` holds columns `stride` apart, `a` holds `depth` groups of `ROWS`, `b` as many
    /// of `COLUMNS`.
    fn subtract(self, depth: usize, a: &[f64], b: &[f64], c: &mut [f64], stride: usize);

    /// `b = L^-1 b` for one packed group of columns; see [`solve_group`].
    fn solve(self, triangle: &[f64], b: &mut [f64]);

    /// Factorises a few columns; see [`eliminate_leaf`].
    fn eliminate(
        self,
        columns: &mut [f64],
        stride: usize,
        top: usize,
        rows: usize,
        pivots: &mut [usize],
    ) -> Result<(), usize>;
}

/// Rows of a portable tile: as many sums as the registers hold.
const PORTABLE_ROWS: usize = if cfg!(target_arch = "aarch64") { 8 } else { 4 };
const PORTABLE_COLUMNS: usize = 4;
/// Whether `mul_add` is one instruction here.
const PORTABLE_FUSED: bool = cfg!(target_arch = "aarch64");

impl Tile for Portable {
    const ROWS: usize = PORTABLE_ROWS;
    const COLUMNS: usize = PORTABLE_COLUMNS;

    fn subtract(self, depth: usize, a: &[f64], b: &[f64], c: &mut [f64], stride: usize) {
        let mut sums = [[0.0_f64; PORTABLE_ROWS]; PORTABLE_COLUMNS];
        let (a, _) = a.as_chunks::<PORTABLE_ROWS>();
        let (b, _) = b.as_chunks::<PORTABLE_COLUMNS>();
        for (left, right) in a.iter().zip(b).take(depth) {
            for (sum, factor) in sums.iter_mut().zip(right) {
                for (sum, value) in sum.iter_mut().zip(left) {
                    *sum = fused::<PORTABLE_FUSED>(*value, *factor, *sum);
                }
            }
        }
        for (column, sum) in sums.iter().enumerate() {
            let target = &mut c[column * stride..][..PORTABLE_ROWS];
            for (value, sum) in target.iter_mut().zip(sum) {
                *value -= sum;
            }
        }
    }

    fn solve(self, triangle: &[f64], b: &mut [f64]) {
        solve_group::<PORTABLE_COLUMNS, PORTABLE_FUSED>(triangle, b);
    }

    fn eliminate(
        self,
        columns: &mut [f64],
        stride: usize,
        top: usize,
        rows: usize,
        pivots: &mut [usize],
    ) -> Result<(), usize> {
        eliminate_leaf::<PORTABLE_FUSED>(columns, stride, top, rows, pivots)
    }
}
