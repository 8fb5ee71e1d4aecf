//! What this process may use: cgroup limits of both versions, and its own limits.

use std::path::{Path, PathBuf};

use super::Values;
use crate::kernel_files::source::{below, text};

/// Fact, controller and file of version 1, file of version 2.
const LIMITS: [(&str, &str, &str, &str); 5] = [
    ("cgroup.cpu_quota_us", "cpu", "cpu.cfs_quota_us", "cpu.max"),
    (
        "cgroup.cpu_period_us",
        "cpu",
        "cpu.cfs_period_us",
        "cpu.max",
    ),
    (
        "cgroup.memory_bytes",
        "memory",
        "memory.limit_in_bytes",
        "memory.max",
    ),
    (
        "cgroup.cpus",
        "cpuset",
        "cpuset.cpus",
        "cpuset.cpus.effective",
    ),
    ("cgroup.tasks", "pids", "pids.max", "pids.max"),
];

/// Version 1 writes "no limit" for memory as the largest multiple of the page size.
const NO_LIMIT_FROM: u64 = 1 << 62;

pub(super) fn add(root: &Path, values: &mut Values) {
    let groups = text(&below(root, "/proc/self/cgroup")).unwrap_or_default();
    for (name, controller, first, second) in LIMITS {
        let limit = limit(root, &groups, controller, first, second);
        let limit = limit.and_then(|limit| part(name, &limit)).map(unlimited);
        values.insert(name.to_owned(), limit);
    }
    let limits = text(&below(root, "/proc/self/limits")).unwrap_or_default();
    let files = own_limit(&limits, "Max open files");
    values.insert("limit.open_files".to_owned(), files);
    let tasks = own_limit(&limits, "Max processes");
    values.insert("limit.processes".to_owned(), tasks);
}

fn limit(root: &Path, groups: &str, controller: &str, first: &str, second: &str) -> Option<String> {
    for (group, file, mount) in [
        (
            group_v1(groups, controller),
            first,
            format!("/{controller}"),
        ),
        (group_v2(groups), second, String::new()),
        (group_v2(groups), second, "/unified".to_owned()),
    ] {
        let folder = below(root, &format!("/sys/fs/cgroup{mount}"));
        let found = group.and_then(|group| nearest(&folder, &group, file));
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The file in the group or in the nearest parent that has it. Inside a container the path of the
/// group may be one of the host, so that only the mount itself is there.
fn nearest(folder: &Path, group: &str, file: &str) -> Option<String> {
    let own: PathBuf = folder.join(group.trim_start_matches('/'));
    own.ancestors()
        .take_while(|path| path.starts_with(folder))
        .find_map(|path| text(&path.join(file)))
}

/// `4:cpu,cpuacct:/group`
fn group_v1(groups: &str, controller: &str) -> Option<String> {
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let known = parts.next()?.split(',').any(|name| name == controller);
        known.then(|| parts.next().map(str::to_owned))?
    })
}

fn group_v2(groups: &str) -> Option<String> {
    groups
        .lines()
        .find_map(|line| line.strip_prefix("0::").map(str::to_owned))
}

/// `cpu.max` holds quota and period in one line; every other file holds one value.
fn part(name: &str, limit: &str) -> Option<String> {
    let place = usize::from(name == "cgroup.cpu_period_us");
    let mut parts = limit.split_whitespace();
    if parts.clone().count() == 1 {
        return parts.next().map(str::to_owned);
    }
    parts.nth(place).map(str::to_owned)
}

fn unlimited(limit: String) -> String {
    let none = limit == "-1"
        || limit
            .parse::<u64>()
            .is_ok_and(|limit| limit >= NO_LIMIT_FROM);
    if none { "max".to_owned() } else { limit }
}

/// The soft limit of a `/proc/PID/limits` line.
fn own_limit(limits: &str, name: &str) -> Option<String> {
    limits.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?;
        rest.split_whitespace().next().map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, content: &str) {
        let path = below(root, path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn facts(root: &Path) -> Values {
        let mut values = Values::new();
        add(root, &mut values);
        values
    }

    #[test]
    fn version_two_tells_quota_and_period_in_one_file() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "/proc/self/cgroup", "0::/a/b\n");
        write(root.path(), "/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
        write(root.path(), "/sys/fs/cgroup/a/b/memory.max", "max\n");
        let values = facts(root.path());
        assert_eq!(values["cgroup.cpu_quota_us"].as_deref(), Some("50000"));
        assert_eq!(values["cgroup.cpu_period_us"].as_deref(), Some("100000"));
        assert_eq!(values["cgroup.memory_bytes"].as_deref(), Some("max"));
        assert_eq!(values["cgroup.tasks"], None);
    }

    #[test]
    fn version_one_without_a_limit_reads_as_version_two_does() {
        let root = tempfile::tempdir().unwrap();
        let groups = "4:memory:/x\n1:cpu,cpuacct:/x\n0::/\n";
        write(root.path(), "/proc/self/cgroup", groups);
        write(root.path(), "/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1\n");
        write(
            root.path(),
            "/sys/fs/cgroup/memory/x/memory.limit_in_bytes",
            "9223372036854771712\n",
        );
        let values = facts(root.path());
        assert_eq!(values["cgroup.cpu_quota_us"].as_deref(), Some("max"));
        assert_eq!(values["cgroup.memory_bytes"].as_deref(), Some("max"));
    }

    #[test]
    fn the_limit_of_open_files_is_the_soft_one() {
        let root = tempfile::tempdir().unwrap();
        let line = "Max open files            1024                 20000                files\n";
        write(root.path(), "/proc/self/limits", line);
        assert_eq!(
            facts(root.path())["limit.open_files"].as_deref(),
            Some("1024")
        );
    }
}
