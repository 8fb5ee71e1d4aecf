//! The sampling thread: one row at each deadline, the first at the start, one more at the end.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use steelyard_net::clock::{monotonic_ns, thread_cpu_ns};
use steelyard_wire::sample::{SampleJob, Samples};

use crate::kernel_files::source::Missing;
use crate::readers::Reader;
use crate::readers::{
    battery, cgroup, disk, family, listeners, machine, network, queues, sensor, threads,
};
use crate::table::Table;

/// Shortest and longest interval, milliseconds.
pub const INTERVAL_MS: std::ops::RangeInclusive<u64> = 100..=60_000;

const OWN_COLUMN: &str = "sampler.cpu_ns";

/// Why sampling did not start, or gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum SamplerError {
    /// The interval is out of bounds.
    #[error("an interval of {0} ms is not possible; choose 100 ms to 60 s")]
    Interval(u64),
    /// The system gives no thread.
    #[error("cannot start the sampling thread: {0}")]
    Thread(#[from] std::io::Error),
    /// A defect: the thread is gone.
    #[error("the sampling thread ended early")]
    Died,
}

/// Sampling under way; dropping it ends it and forgets its rows.
#[derive(Debug)]
pub struct Sampler {
    stop: Sender<()>,
    thread: JoinHandle<Samples>,
}

impl Sampler {
    /// Starts sampling this machine and returns when the first row is read.
    pub fn start(job: &SampleJob) -> Result<Self, SamplerError> {
        Self::start_at(Path::new("/"), job)
    }

    /// As [`Self::start`], with another folder in the place of `/`.
    pub fn start_at(root: &Path, job: &SampleJob) -> Result<Self, SamplerError> {
        if !INTERVAL_MS.contains(&job.interval_ms) {
            return Err(SamplerError::Interval(job.interval_ms));
        }
        let recorder = Recorder::open(root, job);
        let interval_ns = job.interval_ms * 1_000_000;
        let (stop, stopped) = channel();
        let (ready, first_row) = channel();
        let thread = std::thread::Builder::new()
            .name("sampler".to_owned())
            .spawn(move || recorder.run(interval_ns, &stopped, &ready))?;
        first_row.recv().map_err(|_| SamplerError::Died)?;
        Ok(Self { stop, thread })
    }

    /// Reads one last row and gives all.
    pub fn stop(self) -> Result<Samples, SamplerError> {
        let Self { stop, thread } = self;
        drop(stop);
        thread.join().map_err(|_| SamplerError::Died)
    }
}

struct Recorder {
    readers: Vec<Box<dyn Reader>>,
    columns: Vec<String>,
    row: Vec<Option<u64>>,
    table: Table,
    missing: Missing,
}

impl Recorder {
    fn open(root: &Path, job: &SampleJob) -> Self {
        let mut missing = Missing::new();
        let mut readers = machine::open(root, &mut missing);
        readers.push(network::open(root, &mut missing));
        readers.extend(queues::open(root, &mut missing));
        readers.extend(listeners::open(root, &mut missing));
        readers.push(disk::open(root, &job.disks, &mut missing));
        readers.extend(sensor::open(root, &mut missing));
        readers.extend(battery::open(root, &mut missing));
        for (name, pid) in &job.processes {
            readers.extend(family::open(root, name, *pid, &mut missing));
        }
        for (name, folder) in &job.cgroups {
            readers.extend(cgroup::open(root, name, folder, &mut missing));
        }
        for (name, group) in &job.threads {
            readers.extend(threads::open(root, name, group, &mut missing));
        }
        let mut columns = vec![OWN_COLUMN.to_owned()];
        columns.extend(readers.iter().flat_map(|reader| reader.columns().to_vec()));
        Self {
            readers,
            row: vec![None; columns.len()],
            table: Table::new(columns.len()),
            columns,
            missing,
        }
    }

    fn run(mut self, interval_ns: u64, stopped: &Receiver<()>, ready: &Sender<()>) -> Samples {
        let mut deadline_ns = monotonic_ns() + interval_ns;
        self.record(false);
        self.name_what_the_kernel_lacks();
        let _ = ready.send(());
        while waited_until(deadline_ns, stopped) {
            self.record(false);
            deadline_ns = next_deadline(deadline_ns, interval_ns, monotonic_ns());
        }
        self.record(true);
        self.finish()
    }

    fn record(&mut self, last: bool) {
        let at_ns = monotonic_ns();
        self.row.fill(None);
        self.row[0] = Some(thread_cpu_ns());
        let mut rest = &mut self.row[1..];
        for reader in &mut self.readers {
            let (own, others) = rest.split_at_mut(reader.columns().len());
            reader.read(own);
            rest = others;
        }
        let read_ns = monotonic_ns() - at_ns;
        self.table.push(&self.row, at_ns, read_ns, last);
    }

    /// A cell that is empty in the first row gets a reason, unless its file already has one.
    fn name_what_the_kernel_lacks(&mut self) {
        for (name, cell) in self.columns.iter().zip(&self.row) {
            let noted = self.missing.keys().any(|key| name.starts_with(key));
            if cell.is_none() && !noted {
                let reason = "this kernel does not offer it".to_owned();
                self.missing.insert(name.clone(), reason);
            }
        }
    }

    fn finish(self) -> Samples {
        Samples {
            columns: self.table.columns(&self.columns),
            monotonic_ns: self.table.monotonic_ns,
            read_ns: self.table.read_ns,
            rows_lost: self.table.rows_lost,
            missing: self.missing,
        }
    }
}

/// Sleeps to an absolute time; `false` when sampling is to end.
fn waited_until(deadline_ns: u64, stopped: &Receiver<()>) -> bool {
    loop {
        let left_ns = deadline_ns.saturating_sub(monotonic_ns());
        match stopped.recv_timeout(Duration::from_nanos(left_ns)) {
            Err(RecvTimeoutError::Timeout) if monotonic_ns() < deadline_ns => {}
            Err(RecvTimeoutError::Timeout) => return true,
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

/// The next point of the grid that lies ahead: a machine that was asleep is not asked in a burst.
fn next_deadline(last_ns: u64, interval_ns: u64, now_ns: u64) -> u64 {
    let behind_ns = now_ns.saturating_sub(last_ns);
    last_ns + (behind_ns / interval_ns + 1) * interval_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_stay_on_their_grid() {
        assert_eq!(next_deadline(1000, 100, 1001), 1100);
        assert_eq!(next_deadline(1000, 100, 1100), 1200);
        assert_eq!(next_deadline(1000, 100, 1555), 1600);
    }
}
