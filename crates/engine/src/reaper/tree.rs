//! Who descends from whom.

use std::collections::BTreeMap;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// SIGKILL to all below `pid` that are there now. Those that are born meanwhile become orphans of
/// whoever holds the tree, and are found by the next pass.
pub(crate) fn kill_below(pid: Pid) {
    signal_below(pid, Signal::KILL);
}

/// A signal to all below `pid` that are there now, parents before their children.
pub(crate) fn signal_below(pid: Pid, signal: Signal) {
    let raw = pid.as_raw_nonzero().get().cast_unsigned();
    for below in descendants(Path::new("/"), raw) {
        if let Some(below) = i32::try_from(below).ok().and_then(Pid::from_raw) {
            // The kernel gives numbers in a circle of thousands: none comes around again in the
            // moment between the look and the signal.
            let _ = kill_process(below, signal);
        }
    }
}

/// Processes below `ancestor`, parents before their children; `root` stands for `/`.
pub(crate) fn descendants(root: &Path, ancestor: u32) -> Vec<u32> {
    let mut children = BTreeMap::<u32, Vec<u32>>::new();
    for (pid, parent) in parents(root) {
        children.entry(parent).or_default().push(pid);
    }
    let mut found = children.remove(&ancestor).unwrap_or_default();
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        found.extend(children.remove(pid).unwrap_or_default());
        next += 1;
    }
    found
}

/// Processes whose parent is `parent`; `root` stands for `/`.
pub(crate) fn children(root: &Path, parent: u32) -> Vec<u32> {
    let all = parents(root).into_iter();
    all.filter(|(_, of)| *of == parent)
        .map(|(pid, _)| pid)
        .collect()
}

/// Every process with its parent.
fn parents(root: &Path) -> Vec<(u32, u32)> {
    let Ok(entries) = std::fs::read_dir(root.join("proc")) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read(entry.path().join("stat")).ok()?;
            Some((pid, parent(&stat)?))
        })
        .collect()
}

/// `42 (a name) S 7 ...`: the name may itself hold blanks and brackets.
fn parent(stat: &[u8]) -> Option<u32> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_found_whatever_the_names_and_numbers_are() {
        let root = tempfile::tempdir().unwrap();
        for (pid, parent) in [(10, 1), (30, 10), (20, 30), (40, 10), (50, 1), (60, 50)] {
            let folder = root.path().join(format!("proc/{pid}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("stat"), format!("{pid} (a) b) S {parent} 1")).unwrap();
        }
        std::fs::create_dir_all(root.path().join("proc/sys")).unwrap();
        assert_eq!(descendants(root.path(), 10), [30, 40, 20]);
        assert_eq!(descendants(root.path(), 20), Vec::<u32>::new());
    }
}
