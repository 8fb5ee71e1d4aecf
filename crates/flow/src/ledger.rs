//! Bytes of one endpoint: all, those of the window, those of each interval.

use crate::run::Run;

/// Longer windows must have wider intervals; the rest goes into the last row.
const MOST_ROWS: u64 = 3_600;

/// One interval of one endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Row {
    /// Bytes handed over or read in it.
    pub bytes: u64,
    /// TCP: segments sent again.
    pub retransmits: Option<u64>,
    /// TCP: smoothed round-trip time at its end.
    pub rtt_ns: Option<u64>,
}

/// Counts of one endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// From the first byte to the last.
    pub total_bytes: u64,
    /// Of the window.
    pub window_bytes: u64,
    /// Of the window, by interval.
    pub rows: Vec<Row>,
}

impl Ledger {
    /// `bytes` were moved at `now_ns`.
    #[inline]
    pub fn add(&mut self, run: &Run, now_ns: u64, bytes: u64) {
        self.total_bytes += bytes;
        if now_ns >= run.window_start_ns && now_ns < run.window_end_ns() {
            self.window_bytes += bytes;
            self.row(run, now_ns).bytes += bytes;
        }
    }

    /// The row of `now_ns`, which is not before the window.
    pub fn row(&mut self, run: &Run, now_ns: u64) -> &mut Row {
        let since_ns = now_ns.saturating_sub(run.window_start_ns);
        let index = (since_ns / run.interval_ns).min(MOST_ROWS - 1) as usize;
        if self.rows.len() <= index {
            self.rows.resize(index + 1, Row::default());
        }
        &mut self.rows[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_outside_the_window_are_in_the_total_alone() {
        let run = Run::new(0, 100, 200, 50, 0);
        let mut ledger = Ledger::default();
        for (now_ns, bytes) in [(99, 1), (100, 2), (149, 4), (199, 8), (200, 16)] {
            ledger.add(&run, now_ns, bytes);
        }
        assert_eq!((ledger.total_bytes, ledger.window_bytes), (31, 14));
        let rows: Vec<u64> = ledger.rows.iter().map(|row| row.bytes).collect();
        assert_eq!(rows, [6, 8]);
    }
}
