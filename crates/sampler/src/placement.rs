//! Where the threads of a process and of all below it may run, and where they last did.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use steelyard_wire::process::ThreadPlace;

use crate::kernel_files::parse::{fields, lines, number};
use crate::kernel_files::source::{below, names, text};
use crate::readers::process::{stat_field, stat_fields};

/// Threads of `pid` and of all below it, by process and number.
///
/// # Errors
///
/// The process is not there.
pub fn thread_places(root: &Path, pid: u32) -> io::Result<Vec<ThreadPlace>> {
    let mut found = Vec::new();
    let (mut waiting, mut known) = (vec![pid], BTreeSet::from([pid]));
    while let Some(process) = waiting.pop() {
        let tasks = below(root, &format!("/proc/{process}/task"));
        for id in names(&tasks).iter().filter_map(|name| name.parse().ok()) {
            let folder = tasks.join(format!("{id}"));
            found.extend(place(&folder, process, id));
            waiting.extend(children(&folder).filter(|child| known.insert(*child)));
        }
    }
    if found.is_empty() {
        return Err(rustix::io::Errno::SRCH.into());
    }
    found.sort_by_key(|thread| (thread.process, thread.id));
    Ok(found)
}

/// `None` of a thread that has ended meanwhile.
fn place(folder: &Path, process: u32, id: u32) -> Option<ThreadPlace> {
    const LAST_CPU: usize = 39;
    let stat = stat_fields(&std::fs::read(folder.join("stat")).ok()?)?;
    let status = std::fs::read(folder.join("status")).ok()?;
    Some(ThreadPlace {
        process,
        id,
        name: text(&folder.join("comm"))?,
        allowed_cpus: allowed(&status)?,
        last_cpu: u32::try_from(stat_field(&stat, LAST_CPU)?).ok()?,
    })
}

fn allowed(status: &[u8]) -> Option<String> {
    let list = lines(status).find_map(|line| line.strip_prefix(b"Cpus_allowed_list:"))?;
    Some(String::from_utf8_lossy(list.trim_ascii()).into_owned())
}

/// None where the kernel does not list them.
fn children(folder: &Path) -> impl Iterator<Item = u32> {
    let listed = std::fs::read(folder.join("children")).unwrap_or_default();
    let ids: Vec<u64> = fields(&listed).filter_map(number).collect();
    ids.into_iter().filter_map(|id| u32::try_from(id).ok())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn thread(root: &Path, process: u32, id: u32, allowed: &str, cpu: u32, children: &str) {
        let folder = below(root, &format!("/proc/{process}/task/{id}"));
        fs::create_dir_all(&folder).unwrap();
        let line = "S 1 1 1 0 -1 0 1 0 3 0 2 1 0 0 20 0 1 0 9 100 10 1 1 1 1 1 1 0 0 0 0 0 0 0 17";
        fs::write(folder.join("stat"), format!("{id} (a b) {line} {cpu} 0\n")).unwrap();
        let status = format!("Name:\ta b\nCpus_allowed:\t3\nCpus_allowed_list:\t{allowed}\n");
        fs::write(folder.join("status"), status).unwrap();
        fs::write(folder.join("comm"), "a b\n").unwrap();
        fs::write(folder.join("children"), children).unwrap();
    }

    #[test]
    fn threads_of_children_are_listed_with_where_they_may_run_and_last_did() {
        let root = tempfile::tempdir().unwrap();
        thread(root.path(), 9, 9, "0-1", 1, "");
        thread(root.path(), 9, 10, "1", 1, "20 ");
        thread(root.path(), 20, 20, "0", 0, "");
        let threads = thread_places(root.path(), 9).unwrap();
        let seen = |thread: &ThreadPlace| {
            let ThreadPlace { process, id, .. } = *thread;
            (process, id, thread.allowed_cpus.clone(), thread.last_cpu)
        };
        let seen: Vec<_> = threads.iter().map(seen).collect();
        let expected = [(9, 9, "0-1", 1), (9, 10, "1", 1), (20, 20, "0", 0)];
        assert_eq!(seen, expected.map(|(p, i, a, c)| (p, i, a.to_owned(), c)));
        assert_eq!(threads[0].name, "a b");
    }

    #[test]
    fn a_process_that_is_not_there_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        assert!(thread_places(root.path(), 9).is_err());
    }

    #[test]
    fn this_very_thread_may_run_where_the_kernel_says() {
        let threads = thread_places(Path::new("/"), std::process::id()).unwrap();
        assert!(threads.iter().any(|thread| thread.id == std::process::id()));
        assert!(threads.iter().all(|thread| !thread.allowed_cpus.is_empty()));
    }
}
