//! The seeded system of equations: every value can be made again, so none needs to be kept.

use crate::KernelError;
use crate::buffer::Buffer;

/// `n` equations. Columns lie `stride` words apart; column `n` is the right-hand side, which every
/// step of the factorisation treats like the columns of the matrix.
pub(super) struct Equations {
    pub(super) cells: Buffer<f64>,
    pub(super) size: usize,
    pub(super) stride: usize,
}

impl Equations {
    /// Room for `size` equations.
    pub(super) fn with_room(size: usize) -> Result<Self, KernelError> {
        let stride = stride(size);
        Ok(Self {
            cells: Buffer::zeroed(stride * (size + 1))?,
            size,
            stride,
        })
    }

    /// Bytes that [`Self::with_room`] takes.
    pub(super) fn bytes(size: usize) -> usize {
        stride(size) * (size + 1) * size_of::<f64>()
    }

    /// Writes the system of `seed`.
    pub(super) fn fill(&mut self, seed: u64) {
        for (column, cells) in self.cells.chunks_exact_mut(self.stride).enumerate() {
            for (row, cell) in cells[..self.size].iter_mut().enumerate() {
                *cell = value(seed, row, column);
            }
        }
    }

    /// The right-hand side, or what became of it.
    pub(super) fn right_side(&self) -> &[f64] {
        &self.cells[self.size * self.stride..][..self.size]
    }

    /// Solves with the upper triangle that a factorisation left.
    pub(super) fn back_substitute(&self) -> Vec<f64> {
        let mut unknowns = self.right_side().to_vec();
        for column in (0..self.size).rev() {
            let cells = &self.cells[column * self.stride..][..=column];
            let solved = unknowns[column] / cells[column];
            unknowns[column] = solved;
            for (unknown, cell) in unknowns[..column].iter_mut().zip(cells) {
                *unknown -= solved * cell;
            }
        }
        unknowns
    }
}

/// Whole cache lines, and never a multiple of a page: columns a power of two apart would fight for
/// the same places of the caches.
fn stride(size: usize) -> usize {
    const LINE_WORDS: usize = 8;
    const PAGE_WORDS: usize = 512;
    let words = size.next_multiple_of(LINE_WORDS);
    let near_page = words % PAGE_WORDS;
    if (LINE_WORDS..=PAGE_WORDS - LINE_WORDS).contains(&near_page) {
        words
    } else {
        words + 2 * LINE_WORDS
    }
}

/// Value in -0.5..0.5 of a cell; the mixing is that of `SplitMix64` (Steele, Lea, Flood 2014).
pub(super) fn value(seed: u64, row: usize, column: usize) -> f64 {
    let place = (column as u64) << 32 | row as u64;
    let start = mixed(seed).wrapping_add(place.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    (mixed(start) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}
