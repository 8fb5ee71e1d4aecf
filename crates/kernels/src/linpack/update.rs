//! What a factorised panel does to the columns at its right: swap rows, solve the triangle,
//! subtract the product. Columns do not depend on each other, so any of them may go to any thread.

use super::blocking::Blocking;
use super::packed::{PackedPanel, depth_of, pack_right, unpack_right};
use super::tile::{LARGEST_TILE, Tile};
use crate::KernelError;
use crate::buffer::Buffer;

/// What one thread needs to update columns.
pub(super) struct Workspace {
    right: Buffer<f64>,
    blocking: Blocking,
}

impl Workspace {
    pub(super) fn new<T: Tile>(blocking: Blocking) -> Result<Self, KernelError> {
        Ok(Self {
            right: Buffer::zeroed(words::<T>(blocking))?,
            blocking,
        })
    }

    /// Bytes that [`Self::new`] takes.
    pub(super) fn bytes<T: Tile>(blocking: Blocking) -> usize {
        words::<T>(blocking) * size_of::<f64>()
    }
}

fn words<T: Tile>(blocking: Blocking) -> usize {
    depth_of(blocking.panel_columns) * blocking.chunk_columns.next_multiple_of(T::COLUMNS)
}

/// Updates `columns` (`stride` apart, from row 0) with a factorised panel and its pivots.
pub(super) fn update<T: Tile>(
    tile: T,
    panel: &PackedPanel,
    pivots: &[usize],
    columns: &mut [f64],
    stride: usize,
    work: &mut Workspace,
) {
    let chunk = work.blocking.chunk_columns * stride;
    for columns in columns.chunks_mut(chunk) {
        swap_rows(columns, stride, panel.top, pivots);
        pack_right::<T>(columns, stride, panel.top, panel.width, &mut work.right);
        let group = panel.depth() * T::COLUMNS;
        let groups = (columns.len() / stride).div_ceil(T::COLUMNS);
        for packed in work.right[..groups * group].chunks_exact_mut(group) {
            tile.solve(panel.triangle(), packed);
        }
        unpack_right::<T>(columns, stride, panel.top, panel.width, &work.right);
        subtract_product(tile, panel, columns, stride, work);
    }
}

/// Swaps row `top + i` with `pivots[i]`, in order, in every column.
pub(super) fn swap_rows(columns: &mut [f64], stride: usize, top: usize, pivots: &[usize]) {
    for column in columns.chunks_exact_mut(stride) {
        for (row, pivot) in (top..).zip(pivots) {
            column.swap(row, *pivot);
        }
    }
}

/// `columns -= panel x packed right`, for the rows below the triangle. A block of the panel stays in
/// the second cache while all columns pass by; a group of columns stays in the first.
fn subtract_product<T: Tile>(
    tile: T,
    panel: &PackedPanel,
    columns: &mut [f64],
    stride: usize,
    work: &Workspace,
) {
    let first = panel.top + panel.width;
    let groups = (panel.rows - first).div_ceil(T::ROWS);
    let block = (work.blocking.block_rows / T::ROWS).max(1);
    let words = panel.depth() * T::COLUMNS;
    for block_start in (0..groups).step_by(block) {
        let block_end = groups.min(block_start + block);
        let packed = work.right.chunks_exact(words);
        for (columns, right) in columns.chunks_mut(stride * T::COLUMNS).zip(packed) {
            for group in block_start..block_end {
                let place = Place {
                    stride,
                    row: first + group * T::ROWS,
                    rows: panel.rows,
                };
                subtract_tile(
                    tile,
                    panel.width,
                    panel.group::<T>(group),
                    right,
                    columns,
                    place,
                );
            }
        }
    }
}

/// Where a tile stands in its columns.
#[derive(Clone, Copy)]
struct Place {
    stride: usize,
    row: usize,
    rows: usize,
}

fn subtract_tile<T: Tile>(
    tile: T,
    depth: usize,
    left: &[f64],
    right: &[f64],
    columns: &mut [f64],
    place: Place,
) {
    let whole = place.row + T::ROWS <= place.rows && columns.len() == place.stride * T::COLUMNS;
    if whole {
        tile.subtract(depth, left, right, &mut columns[place.row..], place.stride);
        return;
    }
    let mut scratch = [0.0; LARGEST_TILE];
    let scratch = &mut scratch[..T::ROWS * T::COLUMNS];
    tile.subtract(depth, left, right, scratch, T::ROWS);
    let rows = T::ROWS.min(place.rows - place.row);
    for (column, sums) in columns
        .chunks_exact_mut(place.stride)
        .zip(scratch.chunks_exact(T::ROWS))
    {
        for (value, sum) in column[place.row..place.row + rows].iter_mut().zip(sums) {
            *value += sum; // the scratch began at 0 and holds minus the product
        }
    }
}
