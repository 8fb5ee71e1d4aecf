//! What one process spends: CPU, memory, storage.
//!
//! CPU time comes from `task/TID/schedstat`, exact to the nanosecond, summed over threads; the
//! last figure of a thread that ended is kept. Without it, the clock ticks of `stat` have to do.
//! What its children had spent when it waited for their end is the kernel's sum, in ticks.

use std::path::Path;

use crate::kernel_files::parse::{fields, keyed, number};
use crate::kernel_files::source::{Missing, Source, below, note};
use crate::readers::machine::tick_ns;
use crate::readers::tasks::Tasks;
use crate::readers::waits::Waiting;

/// What a thread waits for, by the file that tells it.
const WAITS: [(&str, &str); 2] = [("stat", "blocked_threads"), ("wchan", "futex_threads")];
const IO: [(&str, &str); 2] = [("read_bytes", "read_bytes"), ("write_bytes", "write_bytes")];

/// One process. Open files keep to this very process even if its number is used again.
pub(crate) struct Process {
    stat: Source,
    io: Option<Source>,
    tasks: Option<Tasks>,
    page_bytes: u64,
}

/// What a process has spent, and what it holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spending {
    pub(crate) parent: u32,
    /// Of children it has waited for, in ticks; part of `cpu_ns`.
    children_ns: u64,
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) run_delay_ns: Option<u64>,
    pub(crate) user_ns: Option<u64>,
    pub(crate) system_ns: Option<u64>,
    pub(crate) rss_bytes: Option<u64>,
    pub(crate) threads: Option<u64>,
    pub(crate) major_faults: Option<u64>,
    pub(crate) blocked_threads: Option<u64>,
    pub(crate) futex_threads: Option<u64>,
    pub(crate) io_bytes: [Option<u64>; 2],
}

/// Opens `pid`; what it cannot tell is noted under `key`.
pub(crate) fn open(root: &Path, key: &str, pid: u32, missing: &mut Missing) -> Option<Process> {
    let folder = below(root, &format!("/proc/{pid}"));
    Some(Process {
        stat: Source::open_or_note(&folder.join("stat"), key, missing)?,
        io: open_io(&folder, key, missing),
        tasks: open_tasks(&folder, key, pid, missing),
        page_bytes: rustix::param::page_size() as u64,
    })
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

fn open_tasks(folder: &Path, key: &str, pid: u32, missing: &mut Missing) -> Option<Tasks> {
    let path = folder.join("schedstat");
    let opened = Source::open(&path).and_then(|_| Tasks::open(folder.join("task")));
    for (file, column) in WAITS {
        let told = folder.join(format!("task/{pid}/{file}"));
        Source::open_or_note(&told, &format!("{key}.{column}"), missing);
    }
    opened
        .inspect_err(|error| {
            note(missing, &format!("{key}.run_delay_ns"), &path, error);
            for (_, column) in WAITS {
                note(missing, &format!("{key}.{column}"), &path, error);
            }
            let (tick_ms, path) = (tick_ns() / 1_000_000, path.display());
            let reason = format!("{path}: {error}; cpu_ns counts ticks of {tick_ms} ms");
            missing.insert(format!("{key}.schedstat"), reason);
        })
        .ok()
}

impl Spending {
    /// A process that is about to end may not tell all any more.
    pub(crate) fn or_as_before(self, before: &Self) -> Self {
        let [read, written] = self.io_bytes;
        Self {
            run_delay_ns: self.run_delay_ns.or(before.run_delay_ns),
            io_bytes: [read.or(before.io_bytes[0]), written.or(before.io_bytes[1])],
            ..self
        }
    }
}

impl Process {
    /// `None` once it is gone.
    pub(crate) fn read(&mut self) -> Option<Spending> {
        let mut spending = stat(self.stat.read().ok()?, self.page_bytes)?;
        if let Some(spent) = self.tasks.as_mut().and_then(Tasks::read) {
            spending.cpu_ns = Some(spent.cpu_ns + spending.children_ns);
            spending.run_delay_ns = Some(spent.run_delay_ns);
        }
        let waiting = self.tasks.as_mut().and_then(Tasks::waiting);
        spending.blocked_threads = waiting.map(|waiting| waiting.blocked);
        spending.futex_threads = waiting.and_then(Waiting::told_futex);
        if let Some(Ok(bytes)) = self.io.as_mut().map(Source::read) {
            keyed(bytes, &IO.map(|(key, _)| key), 1, &mut spending.io_bytes);
        }
        Some(spending)
    }

    /// Those it has now; `None` if the kernel does not list them.
    pub(crate) fn children(&mut self) -> Option<Vec<u32>> {
        self.tasks.as_mut().and_then(Tasks::children)
    }
}

/// Fields behind the name, which may itself hold blanks and brackets; see [`stat_field`].
pub(crate) fn stat_fields(bytes: &[u8]) -> Option<Vec<Option<u64>>> {
    let end = bytes.iter().rposition(|byte| *byte == b')')?;
    Some(fields(&bytes[end + 1..]).map(number).collect())
}

/// A field by its number in proc(5), of which the state is the first behind the name.
pub(crate) fn stat_field(fields: &[Option<u64>], place: usize) -> Option<u64> {
    const STATE: usize = 3;
    fields.get(place - STATE).copied().flatten()
}

fn stat(bytes: &[u8], page_bytes: u64) -> Option<Spending> {
    let fields = stat_fields(bytes)?;
    let field = |place| stat_field(&fields, place);
    let ticks = |own, of_children| Some((field(own)? + field(of_children)?) * tick_ns());
    let (user_ns, system_ns) = (ticks(14, 16), ticks(15, 17));
    Some(Spending {
        parent: u32::try_from(field(4)?).ok()?,
        children_ns: ticks(16, 17)?,
        cpu_ns: user_ns.zip(system_ns).map(|(user, system)| user + system),
        run_delay_ns: None,
        user_ns,
        system_ns,
        rss_bytes: field(24).map(|pages| pages * page_bytes),
        threads: field(20),
        major_faults: field(12).zip(field(13)).map(|(own, below)| own + below),
        blocked_threads: None,
        futex_threads: None,
        io_bytes: [None; 2],
    })
}

/// Start time in clock ticks since boot, which with the process id names a process for all time.
pub fn start_ticks(root: &Path, pid: u32) -> std::io::Result<u64> {
    const PLACE: usize = 22;
    let bytes = std::fs::read(below(root, &format!("/proc/{pid}/stat")))?;
    stat_fields(&bytes)
        .and_then(|fields| stat_field(&fields, PLACE))
        .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("proc/42");
        std::fs::create_dir_all(&folder).unwrap();
        let rest = "R 7 1 1 0 -1 0 102 0 3 4 20 30 5 6 20 0 2 0 119987 2998272 423 1";
        let line = format!("42 (a) b) {rest}\n");
        std::fs::write(folder.join("stat"), &line).unwrap();
        assert_eq!(start_ticks(root.path(), 42).unwrap(), 119_987);
        let read = stat(line.as_bytes(), 4096).unwrap();
        assert_eq!(read.parent, 7);
        assert_eq!(read.rss_bytes, Some(423 * 4096));
        assert_eq!(read.threads, Some(2));
        assert_eq!(read.major_faults, Some(7), "with those of children");
        assert_eq!(read.user_ns, Some(25 * tick_ns()));
        assert_eq!(read.system_ns, Some(36 * tick_ns()));
        assert_eq!(read.cpu_ns, Some(61 * tick_ns()));
    }
}
