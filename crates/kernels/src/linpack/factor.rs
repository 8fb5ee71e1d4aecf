//! Blocked right-looking LU with partial pivoting (Golub and Van Loan, 3.4).
//!
//! While the columns at the right are updated by all threads, one of them has already updated and
//! factorised the next panel (look-ahead). Rows of finished panels are not swapped any more: the
//! right-hand side goes through the elimination with the matrix, so only the upper triangle is
//! used afterwards.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::blocking::Blocking;
use super::matrix::Equations;
use super::packed::PackedPanel;
use super::panel::{PanelRoom, Span, factor_panel};
use super::tile::Tile;
use super::update::{Workspace, update};
use crate::KernelError;

/// Why a factorisation has no end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// No pivot other than 0 in this column.
    Singular(usize),
    /// Asked to stop.
    Interrupted,
    /// No thread.
    NoThread(String),
}

/// Everything a factorisation needs besides the equations.
pub(super) struct Factoring<T: Tile> {
    tile: T,
    blocking: Blocking,
    packed: PackedPanel,
    room: PanelRoom,
    /// One for each thread.
    work: Vec<Workspace>,
}

impl<T: Tile> Factoring<T> {
    pub(super) fn new(
        tile: T,
        blocking: Blocking,
        rows: usize,
        threads: usize,
    ) -> Result<Self, KernelError> {
        let work = (0..threads).map(|_| Workspace::new::<T>(blocking));
        Ok(Self {
            tile,
            blocking,
            packed: PackedPanel::with_room::<T>(blocking.panel_columns, rows)?,
            room: PanelRoom::new::<T>(blocking, rows)?,
            work: work.collect::<Result<_, _>>()?,
        })
    }

    /// Bytes that [`Self::new`] takes, at most.
    pub(super) fn bytes(blocking: Blocking, rows: usize, threads: usize) -> usize {
        PackedPanel::bytes::<T>(blocking.panel_columns, rows)
            + PanelRoom::bytes::<T>(blocking, rows)
            + threads * Workspace::bytes::<T>(blocking)
    }

    /// Factorises; the right-hand side becomes that of the upper triangle. `pivots` says which row
    /// each row was swapped with.
    pub(super) fn factor(
        &mut self,
        equations: &mut Equations,
        pivots: &mut [usize],
        cancel: &AtomicBool,
    ) -> Result<(), Stopped> {
        let (stride, rows) = (equations.stride, equations.size);
        let widest = self.blocking.panel_columns;
        let span = |top| Span { stride, top, rows };
        let (mut here, mut later) = pivots.split_at_mut(widest.min(rows));
        let (mut panel, mut right) = equations.cells.split_at_mut(here.len() * stride);
        let mut top = 0;
        factor_panel(self.tile, panel, span(top), here, &mut self.room)
            .map_err(Stopped::Singular)?;
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(Stopped::Interrupted);
            }
            self.packed.pack::<T>(panel, stride, top, rows);
            top += here.len();
            let (next, after) = later.split_at_mut(widest.min(later.len()));
            let (next_panel, rest) = right.split_at_mut(next.len() * stride);
            self.advance(here, next_panel, next, rest, span(top))?;
            if next.is_empty() {
                return Ok(());
            }
            (here, later, panel, right) = (next, after, next_panel, rest);
        }
    }

    /// Updates everything at the right of the packed panel, and factorises the next one meanwhile.
    fn advance(
        &mut self,
        pivots: &[usize],
        next_panel: &mut [f64],
        next: &mut [usize],
        rest: &mut [f64],
        span: Span,
    ) -> Result<(), Stopped> {
        let (tile, packed, stride) = (self.tile, &self.packed, span.stride);
        let chunk = self.chunk_columns(rest.len() / stride) * stride;
        let queue = Mutex::new(rest.chunks_mut(chunk));
        let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let drain = |work: &mut Workspace| {
            while let Some(columns) = take() {
                update(tile, packed, pivots, columns, stride, work);
            }
        };
        let Some((own, others)) = self.work.split_first_mut() else {
            return Ok(());
        };
        thread::scope(|scope| {
            for work in others {
                let builder = thread::Builder::new().name("linpack".to_owned());
                let spawned = builder.spawn_scoped(scope, || drain(work));
                spawned.map_err(|error| Stopped::NoThread(error.to_string()))?;
            }
            let mut factored = Ok(());
            if !next.is_empty() {
                update(tile, packed, pivots, next_panel, stride, own);
                let done = factor_panel(tile, next_panel, span, next, &mut self.room);
                factored = done.map_err(|column| Stopped::Singular(span.top + column));
            }
            drain(own);
            factored
        })
    }

    /// Small enough that no thread waits long for the last chunk.
    fn chunk_columns(&self, columns: usize) -> usize {
        const CHUNKS_FOR_EACH: usize = 4;
        let most = self.blocking.chunk_columns;
        match self.work.len() {
            0 | 1 => most,
            threads => (columns / threads / CHUNKS_FOR_EACH)
                .next_multiple_of(T::COLUMNS)
                .clamp(T::COLUMNS, most),
        }
    }
}
