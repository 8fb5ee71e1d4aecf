//! Factorising a panel: halves, and halves of halves, so that nearly all of it is a product too.

use super::blocking::Blocking;
use super::packed::PackedPanel;
use super::tile::Tile;
use super::update::{Workspace, swap_rows, update};
use crate::KernelError;

/// Columns that are eliminated one by one.
const LEAF_COLUMNS: usize = 8;

/// What factorising a panel needs besides its columns.
pub(super) struct PanelRoom {
    packed: PackedPanel,
    work: Workspace,
}

impl PanelRoom {
    pub(super) fn new<T: Tile>(blocking: Blocking, rows: usize) -> Result<Self, KernelError> {
        let inner = Blocking {
            chunk_columns: blocking.panel_columns.next_multiple_of(T::COLUMNS),
            ..blocking
        };
        Ok(Self {
            packed: PackedPanel::with_room::<T>(blocking.panel_columns, rows)?,
            work: Workspace::new::<T>(inner)?,
        })
    }

    /// Bytes that [`Self::new`] takes, at most.
    pub(super) fn bytes<T: Tile>(blocking: Blocking, rows: usize) -> usize {
        PackedPanel::bytes::<T>(blocking.panel_columns, rows) + Workspace::bytes::<T>(blocking)
    }
}

/// Where a panel stands.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) stride: usize,
    /// Row of the first column's diagonal.
    pub(super) top: usize,
    /// One past the last row.
    pub(super) rows: usize,
}

/// Factorises as many columns as there are pivots.
///
/// # Errors
/// The number of the first column without a pivot other than 0.
pub(super) fn factor_panel<T: Tile>(
    tile: T,
    columns: &mut [f64],
    span: Span,
    pivots: &mut [usize],
    room: &mut PanelRoom,
) -> Result<(), usize> {
    let Span { stride, top, rows } = span;
    if pivots.len() <= LEAF_COLUMNS {
        return tile.eliminate(columns, stride, top, rows, pivots);
    }
    let half = (pivots.len() / 2).next_multiple_of(LEAF_COLUMNS);
    let (left, right) = columns.split_at_mut(half * stride);
    let (first, second) = pivots.split_at_mut(half);
    factor_panel(tile, left, span, first, room)?;
    room.packed.pack::<T>(left, stride, top, rows);
    update(tile, &room.packed, first, right, stride, &mut room.work);
    let below = Span {
        top: top + half,
        ..span
    };
    factor_panel(tile, right, below, second, room).map_err(|column| column + half)?;
    swap_rows(left, stride, top + half, second);
    Ok(())
}
