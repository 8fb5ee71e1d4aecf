//! Rows in memory that was set aside at the start.

use std::collections::BTreeMap;

/// Stands for `None` in a cell; no counter of the kernel gets there.
const ABSENT: u64 = u64::MAX;
/// Address space for cells: 64 MiB, of which only rows really written take memory.
const MOST_CELLS: usize = 8 << 20;

/// Rows of equal length, with the time and the cost of each.
pub(crate) struct Table {
    width: usize,
    most_rows: usize,
    cells: Vec<u64>,
    pub(crate) monotonic_ns: Vec<u64>,
    pub(crate) read_ns: Vec<u64>,
    pub(crate) rows_lost: u64,
}

impl Table {
    /// Sets memory aside for as many rows of this width as the bound allows.
    pub(crate) fn new(width: usize) -> Self {
        Self::with_bound(width, MOST_CELLS)
    }

    fn with_bound(width: usize, most_cells: usize) -> Self {
        let most_rows = most_cells / width.max(1);
        Self {
            width,
            most_rows,
            cells: Vec::with_capacity(most_rows * width),
            monotonic_ns: Vec::with_capacity(most_rows),
            read_ns: Vec::with_capacity(most_rows),
            rows_lost: 0,
        }
    }

    /// Adds a row; when memory is full it is counted as lost. The last place is kept for `last`.
    pub(crate) fn push(&mut self, row: &[Option<u64>], at_ns: u64, read_ns: u64, last: bool) {
        let kept_back = usize::from(!last);
        if self.monotonic_ns.len() + kept_back >= self.most_rows {
            self.rows_lost += 1;
            return;
        }
        debug_assert_eq!(row.len(), self.width);
        self.cells
            .extend(row.iter().map(|cell| cell.unwrap_or(ABSENT)));
        self.monotonic_ns.push(at_ns);
        self.read_ns.push(read_ns);
    }

    /// The cells by column.
    pub(crate) fn columns(&self, names: &[String]) -> BTreeMap<String, Vec<Option<u64>>> {
        names
            .iter()
            .enumerate()
            .map(|(column, name)| (name.clone(), self.column(column)))
            .collect()
    }

    fn column(&self, column: usize) -> Vec<Option<u64>> {
        self.cells
            .chunks_exact(self.width)
            .map(|row| (row[column] != ABSENT).then_some(row[column]))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_back_as_rows_went_in() {
        let mut table = Table::new(2);
        table.push(&[Some(1), None], 10, 1, false);
        table.push(&[Some(2), Some(3)], 20, 1, true);
        let columns = table.columns(&["a".to_owned(), "b".to_owned()]);
        assert_eq!(columns["a"], [Some(1), Some(2)]);
        assert_eq!(columns["b"], [None, Some(3)]);
        assert_eq!(table.monotonic_ns, [10, 20]);
    }

    #[test]
    fn a_full_table_counts_lost_rows_and_still_takes_the_last() {
        let mut table = Table::with_bound(1, 3);
        for value in 0..5 {
            table.push(&[Some(value)], value, 0, false);
        }
        table.push(&[Some(99)], 99, 0, true);
        assert_eq!(table.rows_lost, 3);
        assert_eq!(
            table.columns(&["a".to_owned()])["a"],
            [Some(0), Some(1), Some(99)]
        );
    }
}
