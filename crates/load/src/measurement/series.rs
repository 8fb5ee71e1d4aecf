//! What happened in each interval of the window, so that a stall is seen.

use std::ops::Range;

use steelyard_wire::result::SeriesRow;

use crate::measurement::histogram::CoarseHistogram;
use crate::measurement::packed::{pack, unpack};

/// Longer windows get wider intervals: memory must not grow with time.
const MOST_ROWS: u64 = 600;

/// What the response times of a row usually take, packed; set aside before the window begins.
const ROW_BYTES: usize = 1024;

/// Rows of one worker.
#[derive(Debug, Clone)]
pub struct Series {
    interval_ns: u64,
    start_ns: u64,
    rows: Vec<Row>,
    open: Row,
    responses: CoarseHistogram,
    /// Response times of all rows, one after the other, packed.
    packed: Vec<u8>,
}

/// One interval of one worker; response times as buckets, so that workers can be merged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Row {
    ok: u64,
    errors: u64,
    inflight: u64,
    backlog: u64,
    max_ns: u64,
    /// Where its response times are.
    packed: Range<usize>,
}

/// Width of a row for a window of `window_ns`, where its length is known beforehand.
pub fn interval_ns(asked_ns: u64, window_ns: Option<u64>) -> u64 {
    let least = window_ns.map_or(1, |window| window.div_ceil(MOST_ROWS));
    asked_ns.max(least).max(1)
}

impl Series {
    /// Empty; `interval_ns` from [`interval_ns`].
    pub fn new(interval_ns: u64) -> Self {
        Self {
            interval_ns,
            start_ns: 0,
            rows: Vec::new(),
            open: Row::default(),
            responses: CoarseHistogram::coarse(),
            packed: Vec::new(),
        }
    }

    /// Sets the window; rows count from its start. Memory for what a window usually leaves is
    /// taken, and touched, now: it neither grows nor faults while operations are timed.
    pub fn begin(&mut self, start_ns: u64, end_ns: u64) {
        self.start_ns = start_ns;
        let rows = end_ns.saturating_sub(start_ns).div_ceil(self.interval_ns);
        let rows = rows.min(MOST_ROWS) as usize;
        self.rows.resize(rows, self.open.clone());
        self.rows.clear();
        self.packed.resize(rows * ROW_BYTES, u8::MAX);
        self.packed.clear();
    }

    /// An operation was answered well at `now_ns`.
    pub fn ok(&mut self, now_ns: u64, response_ns: u64) {
        self.advance(now_ns, 0, 0);
        self.open.ok += 1;
        self.responses.record(response_ns);
    }

    /// An operation failed at `now_ns`.
    pub fn error(&mut self, now_ns: u64) {
        self.advance(now_ns, 0, 0);
        self.open.errors += 1;
    }

    /// Notes what is in flight and waiting in the row of `now_ns`.
    pub fn note(&mut self, now_ns: u64, inflight: u64, backlog: u64) {
        self.advance(now_ns, inflight, backlog);
        self.open.inflight = inflight;
        self.open.backlog = backlog;
    }

    /// Closes every row that ended before `now_ns`.
    fn advance(&mut self, now_ns: u64, inflight: u64, backlog: u64) {
        let row = (now_ns.saturating_sub(self.start_ns) / self.interval_ns).min(MOST_ROWS);
        while (self.rows.len() as u64) < row {
            self.close_row();
            self.open.inflight = inflight;
            self.open.backlog = backlog;
        }
    }

    fn close_row(&mut self) {
        let mut row = std::mem::take(&mut self.open);
        row.max_ns = self.responses.max_ns().unwrap_or(0);
        let from = self.packed.len();
        if row.ok > 0 {
            pack(self.responses.buckets(), &mut self.packed);
            self.responses.clear();
        }
        row.packed = from..self.packed.len();
        self.rows.push(row);
    }
}

/// Rows of all workers, each interval merged, up to the window's end; with each its response times,
/// packed.
pub fn merge(workers: Vec<Series>, window_ns: u64) -> Vec<(SeriesRow, Vec<u8>)> {
    let Some(interval_ns) = workers.first().map(|series| series.interval_ns) else {
        return Vec::new();
    };
    let wanted = window_ns.div_ceil(interval_ns).min(MOST_ROWS) as usize;
    let closed: Vec<Series> = workers
        .into_iter()
        .map(|mut series| {
            series.close_row();
            series
        })
        .collect();
    (0..wanted)
        .map(|index| {
            let parts: Vec<(Row, &[u8])> = closed
                .iter()
                .filter_map(|series| Some((series, series.rows.get(index)?)))
                .map(|(series, row)| (row.clone(), &series.packed[row.packed.clone()]))
                .collect();
            merge_row(index as u64 * interval_ns, &parts)
        })
        .collect()
}

/// Rows of several results, each interval merged; beside each row its response times, packed.
pub fn join(results: &[(&[SeriesRow], Vec<Vec<u8>>)]) -> Vec<SeriesRow> {
    let longest = results.iter().map(|(rows, _)| rows.len()).max();
    (0..longest.unwrap_or(0))
        .map(|index| {
            let rows: Vec<(&SeriesRow, &[u8])> = results
                .iter()
                .filter_map(|(rows, packed)| {
                    Some((rows.get(index)?, packed.get(index)?.as_slice()))
                })
                .collect();
            let parts: Vec<(Row, &[u8])> = (rows.iter())
                .map(|(row, packed)| (Row::from(*row), *packed))
                .collect();
            let start_ns = rows.first().map_or(0, |(row, _)| row.start_ns);
            merge_row(start_ns, &parts).0
        })
        .collect()
}

impl From<&SeriesRow> for Row {
    fn from(row: &SeriesRow) -> Self {
        Self {
            ok: row.ok,
            errors: row.errors,
            inflight: row.inflight,
            backlog: row.backlog,
            max_ns: row.max_ns.unwrap_or(0),
            packed: 0..0,
        }
    }
}

fn merge_row(start_ns: u64, parts: &[(Row, &[u8])]) -> (SeriesRow, Vec<u8>) {
    let sum = |of: fn(&Row) -> u64| parts.iter().map(|(row, _)| of(row)).sum::<u64>();
    let mut responses = CoarseHistogram::coarse();
    for (value, count) in parts.iter().flat_map(|(_, packed)| unpack(packed)) {
        responses.record_many(value, u32::try_from(count).unwrap_or(u32::MAX));
    }
    let ok = sum(|row| row.ok);
    let max_ns = parts.iter().map(|(row, _)| row.max_ns).max();
    let mut packed = Vec::new();
    pack(responses.buckets(), &mut packed);
    let row = SeriesRow {
        start_ns,
        ok,
        errors: sum(|row| row.errors),
        p50_ns: responses.percentile_ns(5_000),
        p99_ns: responses.percentile_ns(9_900),
        max_ns: max_ns.filter(|_| ok > 0),
        inflight: sum(|row| row.inflight),
        backlog: sum(|row| row.backlog),
    };
    (row, packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(workers: Vec<Series>, window_ns: u64) -> Vec<SeriesRow> {
        let merged = merge(workers, window_ns).into_iter();
        merged.map(|(row, _)| row).collect()
    }

    #[test]
    fn a_stall_shows_as_an_empty_row_with_operations_in_flight() {
        let mut series = Series::new(1_000);
        series.begin(10_000, 13_000);
        series.ok(10_100, 50);
        series.note(11_500, 3, 0);
        series.ok(12_100, 2_000);
        let rows = rows(vec![series], 3_000);
        assert_eq!(rows.len(), 3);
        assert_eq!((rows[0].ok, rows[1].ok, rows[2].ok), (1, 0, 1));
        assert_eq!(rows[1].inflight, 3);
        assert_eq!(rows[1].max_ns, None);
        assert_eq!(rows[2].max_ns, Some(2_000));
    }

    #[test]
    fn rows_of_workers_merge_into_percentiles_of_all_samples() {
        let mut fast = Series::new(1_000_000);
        let mut slow = Series::new(1_000_000);
        for i in 0..30 {
            fast.ok(i, 100);
            slow.ok(i, 10_000);
        }
        slow.error(40);
        let rows = rows(vec![fast, slow], 1_000_000);
        assert_eq!((rows[0].ok, rows[0].errors), (60, 1));
        assert_eq!(rows[0].p50_ns, Some(100));
        assert_eq!(rows[0].max_ns, Some(10_000));
    }

    #[test]
    fn a_row_with_few_samples_has_no_percentiles() {
        let mut series = Series::new(1_000);
        (0..19).for_each(|i| series.ok(i, 100));
        assert_eq!(rows(vec![series], 1_000)[0].p50_ns, None);
    }

    #[test]
    fn a_long_window_gets_wider_rows_not_more() {
        let width = interval_ns(1_000_000_000, Some(36_000_000_000_000));
        assert_eq!(width, 60_000_000_000);
        assert_eq!(
            interval_ns(1_000_000_000, Some(5_000_000_000)),
            1_000_000_000
        );
    }
}
