//! What one process spends: CPU, memory, storage.
//!
//! CPU time comes from `task/TID/schedstat`, exact to the nanosecond, summed over threads; the
//! last figure of a thread that ended is kept. Without it, the clock ticks of `stat` have to do.

use std::path::Path;

use crate::machine::tick_ns;
use crate::parse::{Row, fields, keyed, number};
use crate::reader::{Reader, prefixed};
use crate::source::{Missing, Source, below, note};
use crate::tasks::Tasks;

const COLUMNS: [&str; 7] = [
    "cpu_ns",
    "run_delay_ns",
    "user_ns",
    "system_ns",
    "rss_bytes",
    "threads",
    "major_faults",
];
const IO: [(&str, &str); 2] = [("read_bytes", "read_bytes"), ("write_bytes", "write_bytes")];

/// One followed process. Open files keep to this very process even if its number is used again.
struct Process {
    columns: Vec<String>,
    stat: Source,
    io: Option<Source>,
    tasks: Option<Tasks>,
    page_bytes: u64,
}

/// Follows `pid` under `name`; if it is not there, the name is missing and has no columns.
pub(crate) fn open(
    root: &Path,
    name: &str,
    pid: u32,
    missing: &mut Missing,
) -> Option<Box<dyn Reader>> {
    let folder = below(root, &format!("/proc/{pid}"));
    let key = format!("process.{name}");
    let stat = Source::open_or_note(&folder.join("stat"), &key, missing)?;
    let io = open_io(&folder, &key, missing);
    let tasks = open_tasks(&folder, &key, missing);
    let mut columns = prefixed(&key, &COLUMNS);
    columns.extend(prefixed(&key, &IO.map(|(_, column)| column)));
    Some(Box::new(Process {
        columns,
        stat,
        io,
        tasks,
        page_bytes: rustix::param::page_size() as u64,
    }))
}

fn open_io(folder: &Path, key: &str, missing: &mut Missing) -> Option<Source> {
    let path = folder.join("io");
    Source::open(&path)
        .inspect_err(|error| {
            for (_, column) in IO {
                note(missing, &format!("{key}.{column}"), &path, error);
            }
        })
        .ok()
}

fn open_tasks(folder: &Path, key: &str, missing: &mut Missing) -> Option<Tasks> {
    let path = folder.join("schedstat");
    let opened = Source::open(&path).and_then(|_| Tasks::open(folder.join("task")));
    opened
        .inspect_err(|error| {
            note(missing, &format!("{key}.run_delay_ns"), &path, error);
            let (tick_ms, path) = (tick_ns() / 1_000_000, path.display());
            let reason = format!("{path}: {error}; cpu_ns counts ticks of {tick_ms} ms");
            missing.insert(format!("{key}.schedstat"), reason);
        })
        .ok()
}

impl Reader for Process {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn read(&mut self, row: &mut Row) {
        let (own, io) = row.split_at_mut(COLUMNS.len());
        let Ok(bytes) = self.stat.read() else {
            return;
        };
        stat(bytes, self.page_bytes, own);
        if let Some(tasks) = &mut self.tasks
            && let Some(spent) = tasks.read()
        {
            own[0] = Some(spent.cpu_ns);
            own[1] = Some(spent.run_delay_ns);
        }
        if let Some(Ok(bytes)) = self.io.as_mut().map(Source::read) {
            keyed(bytes, &IO.map(|(key, _)| key), 1, io);
        }
    }
}

/// Fields behind the name, which may itself hold blanks and brackets: state is field 3 of proc(5).
fn stat(bytes: &[u8], page_bytes: u64, row: &mut Row) {
    let Some(end) = bytes.iter().rposition(|byte| *byte == b')') else {
        return;
    };
    let tick_ns = tick_ns();
    for (place, field) in fields(&bytes[end + 1..]).enumerate() {
        match place + 3 {
            12 => row[6] = number(field),
            14 => row[2] = number(field).map(|ticks| ticks * tick_ns),
            15 => row[3] = number(field).map(|ticks| ticks * tick_ns),
            20 => row[5] = number(field),
            24 => row[4] = number(field).map(|pages| pages * page_bytes),
            _ => {}
        }
    }
    row[0] = row[2].zip(row[3]).map(|(user, system)| user + system);
}

/// Start time in clock ticks since boot, which with the process id names a process for all time.
pub fn start_ticks(root: &Path, pid: u32) -> std::io::Result<u64> {
    const PLACE_BEHIND_NAME: usize = 19;
    let bytes = std::fs::read(below(root, &format!("/proc/{pid}/stat")))?;
    bytes
        .iter()
        .rposition(|byte| *byte == b')')
        .and_then(|end| fields(&bytes[end + 1..]).nth(PLACE_BEHIND_NAME))
        .and_then(number)
        .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidData))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fake_process(root: &Path, threads: &[(u32, u64)]) -> std::path::PathBuf {
        let folder = root.join("proc/42");
        for (id, cpu_ns) in threads {
            let task = folder.join(format!("task/{id}"));
            std::fs::create_dir_all(&task).unwrap();
            std::fs::write(task.join("schedstat"), format!("{cpu_ns} 5 1\n")).unwrap();
        }
        std::fs::write(folder.join("schedstat"), "1 1 1\n").unwrap();
        let rest = "R 1 1 1 0 -1 0 102 0 3 0 20 30 0 0 20 0 2 0 119987 2998272 423 1";
        std::fs::write(folder.join("stat"), format!("42 (a) b) {rest}\n")).unwrap();
        folder
    }

    fn cpu_ns(reader: &mut dyn Reader) -> Option<u64> {
        let mut row = vec![None; reader.columns().len()];
        reader.read(&mut row);
        row[0]
    }

    #[test]
    fn cpu_time_of_a_thread_that_ended_is_kept() {
        let root = tempfile::tempdir().unwrap();
        let folder = fake_process(root.path(), &[(42, 100), (43, 7)]);
        let mut reader = open(root.path(), "service", 42, &mut Missing::new()).unwrap();
        assert_eq!(cpu_ns(reader.as_mut()), Some(107));
        std::fs::remove_dir_all(folder.join("task/43")).unwrap();
        std::fs::write(folder.join("task/42/schedstat"), "150 5 1\n").unwrap();
        fake_process(root.path(), &[(44, 1000)]);
        assert_eq!(cpu_ns(reader.as_mut()), Some(1157));
    }

    #[test]
    fn without_schedstat_cpu_time_comes_from_ticks_and_the_reason_says_so() {
        let root = tempfile::tempdir().unwrap();
        let folder = fake_process(root.path(), &[(42, 100)]);
        std::fs::remove_file(folder.join("schedstat")).unwrap();
        let mut missing = Missing::new();
        let mut reader = open(root.path(), "service", 42, &mut missing).unwrap();
        assert_eq!(cpu_ns(reader.as_mut()), Some(50 * tick_ns()));
        assert!(missing["process.service.schedstat"].contains("ticks of"));
    }

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let root = tempfile::tempdir().unwrap();
        fake_process(root.path(), &[(42, 1)]);
        assert_eq!(start_ticks(root.path(), 42).unwrap(), 119_987);
        let mut row = [None; 7];
        let bytes = std::fs::read(root.path().join("proc/42/stat")).unwrap();
        stat(&bytes, 4096, &mut row);
        assert_eq!(row[4], Some(423 * 4096));
        assert_eq!(row[5], Some(2));
        assert_eq!(row[6], Some(3));
    }

    #[test]
    fn a_process_that_is_not_there_has_no_columns_and_a_reason() {
        let root = tempfile::tempdir().unwrap();
        let mut missing = Missing::new();
        assert!(open(root.path(), "service", 42, &mut missing).is_none());
        assert!(missing.contains_key("process.service"));
    }
}
