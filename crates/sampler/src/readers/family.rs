//! What a process and all below it spend.
//!
//! Whoever lives is read by itself. What a child had spent until its end is in the sum of the
//! parent that waited for it; of one whose parent is none of the family, the last figure is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::kernel_files::parse::Row;
use crate::kernel_files::source::Missing;
use crate::readers::process::{self, Process, Spending};
use crate::readers::{Reader, prefixed};

const COLUMNS: [&str; 12] = [
    "cpu_ns",
    "run_delay_ns",
    "user_ns",
    "system_ns",
    "major_faults",
    "read_bytes",
    "write_bytes",
    "rss_bytes",
    "threads",
    "blocked_threads",
    "futex_threads",
    "processes",
];
/// The first of them only ever grow.
const COUNTERS: usize = 7;

/// A process and all below it, those that were handed to another parent since included.
struct Family {
    columns: Vec<String>,
    root: PathBuf,
    members: BTreeMap<u32, Member>,
    /// Counters of those that ended where no one of the family could wait for them.
    kept: [u64; COUNTERS],
    last: [Option<u64>; COUNTERS],
}

struct Member {
    process: Process,
    last: Spending,
}

/// Follows `pid` under `name`; if it is not there, the name is missing and has no columns.
pub(crate) fn open(
    root: &Path,
    name: &str,
    pid: u32,
    missing: &mut Missing,
) -> Option<Box<dyn Reader>> {
    let key = format!("process.{name}");
    let process = process::open(root, &key, pid, missing)?;
    let mut family = Family {
        columns: prefixed(&key, &COLUMNS),
        root: root.to_owned(),
        members: BTreeMap::new(),
        kept: [0; COUNTERS],
        last: [None; COUNTERS],
    };
    let last = Spending::default();
    family.members.insert(pid, Member { process, last });
    family.read_members();
    let listed = family
        .members
        .values_mut()
        .all(|member| member.process.children().is_some());
    if !listed {
        let reason = "this kernel does not list children: only the process itself is followed";
        missing.insert(format!("{key}.children"), reason.to_owned());
    }
    Some(Box::new(family))
}

impl Reader for Family {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn read(&mut self, row: &mut Row) {
        self.read_members();
        self.take_in_children();
        if self.members.is_empty() {
            return;
        }
        let count = self.members.len() as u64;
        let figures = || self.members.values().map(|member| figures(&member.last));
        for place in 0..COLUMNS.len() - 1 {
            row[place] = figures().map(|figures| figures[place]).sum();
        }
        row[COLUMNS.len() - 1] = Some(count);
        for (place, kept) in self.kept.iter().enumerate() {
            // Exact figures of a child become ticks when it has ended: never a step backwards.
            let now = row[place].map(|sum| sum + kept);
            row[place] = now.map(|now| now.max(self.last[place].unwrap_or(0)));
            self.last[place] = row[place].or(self.last[place]);
        }
    }
}

impl Family {
    fn read_members(&mut self) {
        let known: BTreeSet<u32> = self.members.keys().copied().collect();
        let kept = &mut self.kept;
        self.members.retain(|_, member| {
            let now = member.process.read();
            if let Some(now) = now {
                member.last = now.or_as_before(&member.last);
            } else if !known.contains(&member.last.parent) {
                let last = figures(&member.last);
                for (kept, last) in kept.iter_mut().zip(last) {
                    *kept += last.unwrap_or(0);
                }
            }
            now.is_some()
        });
    }

    fn take_in_children(&mut self) {
        let mut parents: Vec<u32> = self.members.keys().copied().collect();
        while let Some(parent) = parents.pop() {
            let children = self
                .members
                .get_mut(&parent)
                .and_then(|m| m.process.children());
            for child in children.unwrap_or_default() {
                if self.members.contains_key(&child) {
                    continue;
                }
                // It may have ended since: its parent then has, or will have, what it spent.
                let opened = process::open(&self.root, "", child, &mut Missing::new());
                if let Some(mut process) = opened
                    && let Some(last) = process.read()
                {
                    self.members.insert(child, Member { process, last });
                    parents.push(child);
                }
            }
        }
    }
}

/// In the order of the columns.
fn figures(of: &Spending) -> [Option<u64>; 11] {
    [
        of.cpu_ns,
        of.run_delay_ns,
        of.user_ns,
        of.system_ns,
        of.major_faults,
        of.io_bytes[0],
        of.io_bytes[1],
        of.rss_bytes,
        of.threads,
        of.blocked_threads,
        of.futex_threads,
    ]
}

#[cfg(test)]
#[path = "family_tests.rs"]
mod tests;
