//! What some threads of a process spend together: those that are a guest's processors, say.

use std::path::Path;

use steelyard_wire::sample::ThreadsJob;

use crate::kernel_files::parse::Row;
use crate::kernel_files::source::{Missing, Source, below, note};
use crate::readers::machine::tick_ns;
use crate::readers::process::{stat_field, stat_fields};
use crate::readers::tasks::schedstat;
use crate::readers::{Reader, prefixed};

const COLUMNS: [&str; 5] = ["cpu_ns", "run_delay_ns", "user_ns", "system_ns", "threads"];
/// The first of them only ever grow, and stay as they were when a thread has ended.
const COUNTERS: usize = 4;

/// Some threads under one name.
struct Threads {
    columns: Vec<String>,
    all: Vec<Thread>,
}

struct Thread {
    stat: Source,
    schedstat: Option<Source>,
    last: [Option<u64>; COUNTERS],
}

/// Follows the threads under `name`; one that is not there makes the name missing.
pub(crate) fn open(
    root: &Path,
    name: &str,
    job: &ThreadsJob,
    missing: &mut Missing,
) -> Option<Box<dyn Reader>> {
    let key = format!("threads.{name}");
    let mut all = Vec::new();
    for id in &job.ids {
        let folder = below(root, &format!("/proc/{}/task/{id}", job.process));
        all.push(Thread {
            stat: Source::open_or_note(&folder.join("stat"), &key, missing)?,
            schedstat: open_schedstat(&folder, &key, missing),
            last: [None; COUNTERS],
        });
    }
    let columns = prefixed(&key, &COLUMNS);
    Some(Box::new(Threads { columns, all }))
}

fn open_schedstat(folder: &Path, key: &str, missing: &mut Missing) -> Option<Source> {
    let path = folder.join("schedstat");
    Source::open(&path)
        .inspect_err(|error| note(missing, &format!("{key}.run_delay_ns"), &path, error))
        .ok()
}

impl Reader for Threads {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn read(&mut self, row: &mut Row) {
        let alive = self.all.iter_mut().map(Thread::read).filter(|alive| *alive);
        row[COUNTERS] = Some(alive.count() as u64);
        for (place, cell) in row[..COUNTERS].iter_mut().enumerate() {
            *cell = self.all.iter().map(|thread| thread.last[place]).sum();
        }
    }
}

impl Thread {
    /// Whether it is there; the last figures of one that is not are kept.
    fn read(&mut self) -> bool {
        let Some(fields) = self.stat.read().ok().and_then(stat_fields) else {
            return false;
        };
        let ticks = |place| stat_field(&fields, place).map(|ticks| ticks * tick_ns());
        let (user, system) = (ticks(14), ticks(15));
        let exact = self.schedstat.as_mut().map(Source::read);
        let exact = exact.and_then(Result::ok).and_then(schedstat);
        self.last = [
            exact.map_or(user.zip(system).map(|(user, system)| user + system), |e| {
                Some(e.cpu_ns)
            }),
            exact.map(|exact| exact.run_delay_ns),
            user,
            system,
        ];
        true
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn thread(root: &Path, id: u32, ticks: u64, schedstat: Option<&str>) {
        let folder = below(root, &format!("/proc/9/task/{id}"));
        fs::create_dir_all(&folder).unwrap();
        let rest = format!("S 1 1 1 0 -1 0 1 0 3 0 {ticks} 1 500 500 20 0 1 0 9 100 10 1");
        fs::write(folder.join("stat"), format!("{id} (CPU 0/TCG) {rest}\n")).unwrap();
        if let Some(content) = schedstat {
            fs::write(folder.join("schedstat"), content).unwrap();
        }
    }

    fn follow(root: &Path, ids: &[u32], missing: &mut Missing) -> Option<Box<dyn Reader>> {
        let job = ThreadsJob {
            process: 9,
            ids: ids.to_vec(),
        };
        open(root, "vcpu", &job, missing)
    }

    fn read(reader: &mut dyn Reader) -> Vec<Option<u64>> {
        let mut row = vec![None; COLUMNS.len()];
        reader.read(&mut row);
        row
    }

    #[test]
    fn threads_are_summed_without_those_that_no_one_named_and_without_children() {
        let root = tempfile::tempdir().unwrap();
        thread(root.path(), 10, 2, Some("100 7 1\n"));
        thread(root.path(), 11, 3, Some("1000 70 1\n"));
        thread(root.path(), 12, 9, Some("5000 700 1\n"));
        let mut missing = Missing::new();
        let mut reader = follow(root.path(), &[10, 11], &mut missing).unwrap();
        let tick = tick_ns();
        let expected = [1100, 77, 5 * tick, 2 * tick, 2].map(Some);
        assert_eq!(read(reader.as_mut()), expected);
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn a_thread_that_ended_keeps_its_last_figures_and_is_not_counted() {
        let root = tempfile::tempdir().unwrap();
        thread(root.path(), 10, 2, Some("100 7 1\n"));
        thread(root.path(), 11, 2, Some("100 7 1\n"));
        let mut reader = follow(root.path(), &[10, 11], &mut Missing::new()).unwrap();
        let before = read(reader.as_mut());
        fs::write(below(root.path(), "/proc/9/task/11/stat"), "").unwrap();
        let after = read(reader.as_mut());
        assert_eq!(after[0], before[0]);
        assert_eq!(after[4], Some(1));
    }

    #[test]
    fn without_schedstat_time_is_in_ticks_and_the_delay_is_missing() {
        let root = tempfile::tempdir().unwrap();
        thread(root.path(), 10, 4, None);
        let mut missing = Missing::new();
        let mut reader = follow(root.path(), &[10], &mut missing).unwrap();
        let row = read(reader.as_mut());
        assert_eq!((row[0], row[1]), (Some(5 * tick_ns()), None));
        assert!(missing.contains_key("threads.vcpu.run_delay_ns"));
    }

    #[test]
    fn a_thread_that_is_not_there_makes_the_name_missing() {
        let root = tempfile::tempdir().unwrap();
        let mut missing = Missing::new();
        assert!(follow(root.path(), &[10], &mut missing).is_none());
        assert!(missing["threads.vcpu"].contains("/proc/9/task/10/stat"));
    }
}
