//! CPU time of all threads of a process, those that ended included.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, RawDir, SeekFrom};

use crate::kernel_files::parse::{fields, number};
use crate::kernel_files::source::Source;
use crate::readers::waits::{MOST, Waiting, Waits};

/// What threads have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) cpu_ns: u64,
    pub(crate) run_delay_ns: u64,
}

impl Spent {
    fn plus(self, other: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns + other.cpu_ns,
            run_delay_ns: self.run_delay_ns + other.run_delay_ns,
        }
    }
}

struct Task {
    source: Source,
    /// Children of this thread; a kernel may not list them.
    children: Option<Source>,
    /// Not of more than [`MOST`].
    waits: Option<Waits>,
    last: Spent,
    seen: bool,
}

/// All threads of a process, those that ended included.
pub(crate) struct Tasks {
    path: PathBuf,
    folder: OwnedFd,
    alive: BTreeMap<u32, Task>,
    ended: Spent,
}

impl Tasks {
    pub(crate) fn open(path: PathBuf) -> std::io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self {
            folder: rustix::fs::open(&path, flags, Mode::empty())?,
            path,
            alive: BTreeMap::new(),
            ended: Spent::default(),
        })
    }

    /// `None` once the process is gone.
    pub(crate) fn read(&mut self) -> Option<Spent> {
        for task in self.alive.values_mut() {
            task.seen = false;
        }
        let ids = thread_ids(&self.folder)?;
        for id in ids {
            self.read_one(id);
        }
        for task in self.alive.values().filter(|task| !task.seen) {
            self.ended = self.ended.plus(task.last);
        }
        self.alive.retain(|_, task| task.seen);
        let sum = |sum: Spent, task: &Task| sum.plus(task.last);
        Some(self.alive.values().fold(self.ended, sum))
    }

    /// What the threads of the last reading wait for now; `None` if there are too many.
    pub(crate) fn waiting(&mut self) -> Option<Waiting> {
        let mut waiting = Waiting::default();
        for task in self.alive.values_mut() {
            task.waits.as_mut()?.count(&mut waiting);
        }
        Some(waiting)
    }

    /// Children of all threads; `None` if the kernel does not list them.
    pub(crate) fn children(&mut self) -> Option<Vec<u32>> {
        let mut found = Vec::new();
        for task in self.alive.values_mut() {
            // A thread that ends meanwhile has given its children to another.
            if let Ok(bytes) = task.children.as_mut()?.read() {
                let ids = fields(bytes).filter_map(number);
                found.extend(ids.filter_map(|id| u32::try_from(id).ok()));
            }
        }
        Some(found)
    }

    fn read_one(&mut self, id: u32) {
        if let Some(task) = self.alive.get_mut(&id) {
            if let Some(spent) = task.source.read().ok().and_then(schedstat) {
                task.last = spent;
                task.seen = true;
            }
            return;
        }
        let folder = self.path.join(id.to_string());
        if let Ok(mut source) = open_small(&folder.join("schedstat"))
            && let Some(last) = source.read().ok().and_then(schedstat)
        {
            let few = self.alive.len() < MOST;
            let task = Task {
                source,
                children: open_small(&folder.join("children")).ok(),
                waits: few.then(|| Waits::open(&folder)).flatten(),
                last,
                seen: true,
            };
            self.alive.insert(id, task);
        }
    }
}

fn open_small(path: &Path) -> std::io::Result<Source> {
    Ok(Source::with_capacity(File::open(path)?, 128))
}

/// Numeric names in the folder, read again from its start.
fn thread_ids(folder: &OwnedFd) -> Option<Vec<u32>> {
    let mut buffer = [std::mem::MaybeUninit::<u8>::uninit(); 4096];
    rustix::fs::seek(folder, SeekFrom::Start(0)).ok()?;
    let mut entries = RawDir::new(folder, &mut buffer);
    let mut ids = Vec::new();
    while let Some(entry) = entries.next() {
        let id = number(entry.ok()?.file_name().to_bytes());
        ids.extend(id.and_then(|id| u32::try_from(id).ok()));
    }
    (!ids.is_empty()).then_some(ids)
}

/// `CPU_NS RUN_DELAY_NS TIMESLICES`
pub(crate) fn schedstat(bytes: &[u8]) -> Option<Spent> {
    let mut parts = fields(bytes).map(number);
    Some(Spent {
        cpu_ns: parts.next()??,
        run_delay_ns: parts.next()??,
    })
}
