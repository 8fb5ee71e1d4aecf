//! Sizes of the blocks, from the caches of the machine.

use steelyard_wire::kernel::Cache;

use super::tile::Tile;
use crate::caches::size_of_level;

/// Where the kernel does not tell: what most processors have at least.
const L1_BYTES: u64 = 32 << 10;
const L2_BYTES: u64 = 256 << 10;
const L3_BYTES: u64 = 2 << 20;
const WIDEST_PANEL: usize = 256;
/// A panel takes at most this part of the matrix: wide panels make the product faster, and
/// themselves slower.
const PANELS_AT_LEAST: usize = 12;

/// Sizes of the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Blocking {
    /// Columns that are factorised at once; the depth of every product.
    pub(super) panel_columns: usize,
    /// Rows of the packed panel that stay in the second cache.
    pub(super) block_rows: usize,
    /// Columns that are updated at once.
    pub(super) chunk_columns: usize,
}

impl Blocking {
    /// For `size` unknowns.
    pub(super) fn of<T: Tile>(caches: &[Cache], size: usize, threads: usize) -> Self {
        let level = |level, default| {
            size_of_level(caches, level).unwrap_or(default) as usize / size_of::<f64>()
        };
        let (l1, l2, l3) = (level(1, L1_BYTES), level(2, L2_BYTES), level(3, L3_BYTES));
        // Half of the first cache for a group of columns, half of the second for a block of rows.
        let fitting = (l1 / 2 / T::COLUMNS).clamp(32, WIDEST_PANEL);
        let panel_columns = fitting
            .min((size / PANELS_AT_LEAST).next_multiple_of(16))
            .max(16);
        let block_rows = (l2 / 2 / panel_columns).max(T::ROWS) / T::ROWS * T::ROWS;
        let share = l3 / 4 / threads / panel_columns;
        let chunk_columns = share.clamp(T::COLUMNS, 512) / T::COLUMNS * T::COLUMNS;
        Self {
            panel_columns,
            block_rows,
            chunk_columns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Portable;

    #[test]
    fn blocks_fit_the_caches_they_are_made_for() {
        let cache = |level, size_bytes| Cache {
            level,
            size_bytes,
            line_bytes: None,
            shared_by: None,
        };
        let caches = [cache(1, 32 << 10), cache(2, 1 << 20), cache(3, 32 << 20)];
        let blocking = Blocking::of::<Portable>(&caches, 4000, 1);
        assert!(blocking.panel_columns * Portable::COLUMNS * 8 <= 16 << 10);
        assert!(blocking.panel_columns * blocking.block_rows * 8 <= 512 << 10);
        assert!(blocking.panel_columns * blocking.chunk_columns * 8 <= 8 << 20);
    }

    #[test]
    fn a_machine_that_tells_no_caches_and_a_tiny_matrix_have_blocks_too() {
        let blocking = Blocking::of::<Portable>(&[], 1, 64);
        assert!(
            blocking.panel_columns >= 16 && blocking.block_rows > 0 && blocking.chunk_columns > 0
        );
    }
}
