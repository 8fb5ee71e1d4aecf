//! A factorised panel, packed for the updates of the columns to its right.

use super::tile::Tile;
use super::triangle::{SOLVED_TOGETHER, pack_triangle, triangle_words};
use crate::KernelError;
use crate::buffer::Buffer;

/// Lower part of a panel: its unit triangle and what lies below, both packed.
pub(super) struct PackedPanel {
    triangle: Buffer<f64>,
    body: Buffer<f64>,
    /// Columns of the panel.
    pub(super) width: usize,
    /// First row of the panel.
    pub(super) top: usize,
    /// One past the last row.
    pub(super) rows: usize,
}

impl PackedPanel {
    /// Room for panels of at most `width` columns and `rows` rows.
    pub(super) fn with_room<T: Tile>(width: usize, rows: usize) -> Result<Self, KernelError> {
        Ok(Self {
            triangle: Buffer::zeroed(triangle_words(depth_of(width)))?,
            body: Buffer::zeroed(rows.next_multiple_of(T::ROWS) * width)?,
            width: 0,
            top: 0,
            rows: 0,
        })
    }

    /// Bytes that [`Self::with_room`] takes.
    pub(super) fn bytes<T: Tile>(width: usize, rows: usize) -> usize {
        (triangle_words(depth_of(width)) + rows.next_multiple_of(T::ROWS) * width)
            * size_of::<f64>()
    }

    /// Packs the `width` columns of a factorised panel that begins at row `top`.
    pub(super) fn pack<T: Tile>(
        &mut self,
        columns: &[f64],
        stride: usize,
        top: usize,
        rows: usize,
    ) {
        self.width = columns.len() / stride;
        self.top = top;
        self.rows = rows;
        pack_triangle(columns, stride, top, self.width, &mut self.triangle);
        let words = T::ROWS * self.width;
        let first = top + self.width;
        for (group, packed) in (first..rows)
            .step_by(T::ROWS)
            .zip(self.body.chunks_exact_mut(words))
        {
            pack_rows::<T>(columns, stride, group, rows, packed);
        }
    }

    /// Rows of the triangle, padded.
    pub(super) fn depth(&self) -> usize {
        depth_of(self.width)
    }

    pub(super) fn triangle(&self) -> &[f64] {
        &self.triangle[..triangle_words(self.depth())]
    }

    /// Group `number` of the rows below the triangle.
    pub(super) fn group<T: Tile>(&self, number: usize) -> &[f64] {
        let words = T::ROWS * self.width;
        &self.body[number * words..][..words]
    }
}

/// `width`, padded to what is solved together.
pub(super) fn depth_of(width: usize) -> usize {
    width.next_multiple_of(SOLVED_TOGETHER)
}

/// One group of rows, column by column; rows that are not there become 0.
fn pack_rows<T: Tile>(
    columns: &[f64],
    stride: usize,
    first: usize,
    rows: usize,
    packed: &mut [f64],
) {
    let here = T::ROWS.min(rows - first);
    for (column, packed) in columns
        .chunks_exact(stride)
        .zip(packed.chunks_exact_mut(T::ROWS))
    {
        packed[..here].copy_from_slice(&column[first..first + here]);
        packed[here..].fill(0.0);
    }
}

/// Packs `depth` rows from `top` of each column into groups of `COLUMNS`, row by row; columns and
/// rows that are not there become 0. `width` rows are there.
pub(super) fn pack_right<T: Tile>(
    columns: &[f64],
    stride: usize,
    top: usize,
    width: usize,
    packed: &mut [f64],
) {
    let words = depth_of(width) * T::COLUMNS;
    for (group, packed) in columns
        .chunks(stride * T::COLUMNS)
        .zip(packed.chunks_exact_mut(words))
    {
        if group.len() < stride * T::COLUMNS || depth_of(width) != width {
            packed.fill(0.0);
        }
        for (place, column) in group.chunks_exact(stride).enumerate() {
            let rows = column[top..top + width].iter();
            for (value, packed) in rows.zip(packed[place..].iter_mut().step_by(T::COLUMNS)) {
                *packed = *value;
            }
        }
    }
}

/// The inverse of [`pack_right`].
pub(super) fn unpack_right<T: Tile>(
    columns: &mut [f64],
    stride: usize,
    top: usize,
    width: usize,
    packed: &[f64],
) {
    let words = depth_of(width) * T::COLUMNS;
    for (group, packed) in columns
        .chunks_mut(stride * T::COLUMNS)
        .zip(packed.chunks_exact(words))
    {
        for (place, column) in group.chunks_exact_mut(stride).enumerate() {
            let rows = column[top..top + width].iter_mut();
            for (value, packed) in rows.zip(packed[place..].iter().step_by(T::COLUMNS)) {
                *value = *packed;
            }
        }
    }
}
