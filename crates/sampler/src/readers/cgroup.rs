//! What a control group has spent: of version 2 from its folder, of version 1 from the folders of
//! the same name below each controller, whichever the machine has.

use std::path::{Path, PathBuf};

use crate::kernel_files::parse::{Row, fields, keyed, lines, number};
use crate::kernel_files::source::{Missing, below};
use crate::readers::machine::tick_ns;
use crate::readers::{FileReader, Reader, prefixed};

const MICROSECOND_NS: u64 = 1000;

/// A file of a group: the controller whose folder it is in where each has its own, its name, the
/// columns, and how it is read.
struct Counters {
    controller: &'static str,
    file: &'static str,
    columns: &'static [&'static str],
    parse: fn(&[u8], &mut Row),
}

const VERSION_2: [Counters; 3] = [
    Counters {
        controller: "",
        file: "cpu.stat",
        columns: &[
            "cpu_ns",
            "user_ns",
            "system_ns",
            "throttled_ns",
            "periods",
            "throttled_periods",
        ],
        parse: cpu_stat,
    },
    Counters {
        controller: "",
        file: "memory.current",
        columns: &["memory_bytes"],
        parse: single,
    },
    Counters {
        controller: "",
        file: "io.stat",
        columns: &["read_bytes", "write_bytes"],
        parse: io_stat,
    },
];

const VERSION_1: [Counters; 5] = [
    Counters {
        controller: "cpuacct",
        file: "cpuacct.usage",
        columns: &["cpu_ns"],
        parse: single,
    },
    Counters {
        controller: "cpuacct",
        file: "cpuacct.stat",
        columns: &["user_ns", "system_ns"],
        parse: |bytes, row| keyed(bytes, &["user", "system"], tick_ns(), row),
    },
    Counters {
        controller: "cpu",
        file: "cpu.stat",
        columns: &["throttled_ns", "periods", "throttled_periods"],
        parse: |bytes, row| {
            keyed(
                bytes,
                &["throttled_time", "nr_periods", "nr_throttled"],
                1,
                row,
            );
        },
    },
    Counters {
        controller: "memory",
        file: "memory.usage_in_bytes",
        columns: &["memory_bytes"],
        parse: single,
    },
    Counters {
        controller: "blkio",
        file: "blkio.throttle.io_service_bytes",
        columns: &["read_bytes", "write_bytes"],
        parse: blkio,
    },
];

/// Readers of the group whose folder, or of version 1 whose folder below `cpuacct`, is `folder`.
pub(crate) fn open(
    root: &Path,
    name: &str,
    folder: &str,
    missing: &mut Missing,
) -> Vec<Box<dyn Reader>> {
    let key = format!("cgroup.{name}");
    let mounts = std::fs::read(below(root, "/proc/self/mounts")).unwrap_or_default();
    let mounts: Vec<Mount> = lines(&mounts).filter_map(mount).collect();
    let Some(own) = mounts.iter().find(|mount| mount.holds(folder)) else {
        missing.insert(key, format!("{folder} is below no mount of control groups"));
        return Vec::new();
    };
    let counters: &[Counters] = if own.controllers.is_empty() {
        &VERSION_2
    } else {
        &VERSION_1
    };
    let relative = folder[own.point.len()..].to_owned();
    let folder_of = |controller: &str| {
        let beside = mounts.iter().find(|mount| mount.accounts(controller));
        let point = beside.unwrap_or(own).point.as_str();
        below(root, &format!("{point}{relative}"))
    };
    counters
        .iter()
        .map(|counters| counters.open(&folder_of(counters.controller), &key, missing))
        .collect()
}

impl Counters {
    fn open(&self, folder: &Path, key: &str, missing: &mut Missing) -> Box<dyn Reader> {
        let columns = prefixed(key, self.columns);
        let path: PathBuf = folder.join(self.file);
        let mut why = Missing::new();
        let reader = FileReader::open(&path, "", columns.clone(), self.parse, &mut why);
        for reason in why.into_values() {
            missing.extend(columns.iter().map(|name| (name.clone(), reason.clone())));
        }
        reader
    }
}

/// Where control groups are mounted; without controllers it is version 2.
struct Mount {
    point: String,
    controllers: Vec<String>,
}

impl Mount {
    fn holds(&self, folder: &str) -> bool {
        let below = folder.strip_prefix(&self.point);
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    fn accounts(&self, controller: &str) -> bool {
        self.controllers.iter().any(|known| known == controller)
    }
}

fn mount(line: &[u8]) -> Option<Mount> {
    let words: Vec<&str> = std::str::from_utf8(line).ok()?.split(' ').collect();
    let [_, point, kind, options, ..] = words[..] else {
        return None;
    };
    let controllers = match kind {
        "cgroup" => options.split(',').map(str::to_owned).collect(),
        "cgroup2" => Vec::new(),
        _ => return None,
    };
    Some(Mount {
        point: point.to_owned(),
        controllers,
    })
}

fn single(bytes: &[u8], row: &mut Row) {
    row[0] = number(bytes.trim_ascii());
}

fn cpu_stat(bytes: &[u8], row: &mut Row) {
    let keys = ["usage_usec", "user_usec", "system_usec", "throttled_usec"];
    keyed(bytes, &keys, MICROSECOND_NS, row);
    keyed(
        bytes,
        &["nr_periods", "nr_throttled"],
        1,
        &mut row[keys.len()..],
    );
}

/// `8:0 rbytes=1 wbytes=2 rios=...`, a line for each device; no line where nothing was read.
fn io_stat(bytes: &[u8], row: &mut Row) {
    row.fill(Some(0));
    for field in lines(bytes).flat_map(fields) {
        for (cell, key) in row.iter_mut().zip([b"rbytes=", b"wbytes="]) {
            add(cell, field.strip_prefix(key));
        }
    }
}

/// `8:0 Read 1`, a line for each device and kind; `Total 3` at the end.
fn blkio(bytes: &[u8], row: &mut Row) {
    row.fill(Some(0));
    for line in lines(bytes) {
        let words: Vec<&[u8]> = fields(line).collect();
        if let [_, kind, count] = words[..] {
            for (cell, key) in row.iter_mut().zip([&b"Read"[..], b"Write"]) {
                add(cell, (kind == key).then_some(count));
            }
        }
    }
}

fn add(cell: &mut Option<u64>, count: Option<&[u8]>) {
    let count = count.and_then(number).unwrap_or(0);
    *cell = cell.map(|sum| sum + count);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;

    fn machine(mounts: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files.iter().chain(&[("/proc/self/mounts", mounts)]) {
            let path = below(root.path(), path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        root
    }

    fn read(root: &Path, folder: &str, missing: &mut Missing) -> BTreeMap<String, Option<u64>> {
        let mut seen = BTreeMap::new();
        for mut reader in open(root, "box", folder, missing) {
            let mut row = vec![None; reader.columns().len()];
            reader.read(&mut row);
            let names = reader.columns().iter();
            seen.extend(names.map(|name| name.replace("cgroup.box.", "")).zip(row));
        }
        seen
    }

    #[test]
    fn version_2_is_one_folder_and_microseconds_become_nanoseconds() {
        let stat = "usage_usec 70\nuser_usec 50\nsystem_usec 20\nnr_periods 4\nnr_throttled 1\nthrottled_usec 3\n";
        let io = "8:0 rbytes=5 wbytes=7 rios=1 wios=1\n8:16 rbytes=1 wbytes=2 rios=1 wios=1\n";
        let root = machine(
            "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
            &[
                ("/sys/fs/cgroup/a.slice/b/cpu.stat", stat),
                ("/sys/fs/cgroup/a.slice/b/memory.current", "4096\n"),
                ("/sys/fs/cgroup/a.slice/b/io.stat", io),
            ],
        );
        let mut missing = Missing::new();
        let seen = read(root.path(), "/sys/fs/cgroup/a.slice/b", &mut missing);
        assert_eq!(seen["cpu_ns"], Some(70_000));
        assert_eq!(seen["throttled_ns"], Some(3000));
        assert_eq!(
            (seen["periods"], seen["throttled_periods"]),
            (Some(4), Some(1))
        );
        assert_eq!(seen["memory_bytes"], Some(4096));
        assert_eq!(
            (seen["read_bytes"], seen["write_bytes"]),
            (Some(6), Some(9))
        );
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn version_1_is_a_folder_for_each_controller_wherever_that_is_mounted() {
        let mounts = "c /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n\
            m /sys/fs/cgroup/memory cgroup rw,memory 0 0\n\
            b /sys/fs/cgroup/blkio cgroup rw,blkio 0 0\n\
            u /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let accounts = "/sys/fs/cgroup/cpu,cpuacct/pod/box";
        let root = machine(
            mounts,
            &[
                (&format!("{accounts}/cpuacct.usage"), "123456789\n"),
                (&format!("{accounts}/cpuacct.stat"), "user 3\nsystem 2\n"),
                (
                    &format!("{accounts}/cpu.stat"),
                    "nr_periods 4\nnr_throttled 1\nthrottled_time 99\n",
                ),
                (
                    "/sys/fs/cgroup/memory/pod/box/memory.usage_in_bytes",
                    "8192\n",
                ),
                (
                    "/sys/fs/cgroup/blkio/pod/box/blkio.throttle.io_service_bytes",
                    "8:0 Read 10\n8:0 Write 20\n8:0 Total 30\n8:16 Read 1\nTotal 31\n",
                ),
            ],
        );
        let mut missing = Missing::new();
        let seen = read(root.path(), accounts, &mut missing);
        assert_eq!(seen["cpu_ns"], Some(123_456_789));
        assert_eq!(seen["system_ns"], Some(2 * tick_ns()));
        assert_eq!(seen["throttled_ns"], Some(99));
        assert_eq!(
            (seen["periods"], seen["throttled_periods"]),
            (Some(4), Some(1))
        );
        assert_eq!(seen["memory_bytes"], Some(8192));
        assert_eq!(
            (seen["read_bytes"], seen["write_bytes"]),
            (Some(11), Some(20))
        );
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn a_controller_that_is_not_there_is_missing_with_its_path_and_the_others_are_read() {
        let root = machine(
            "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
            &[("/sys/fs/cgroup/b/cpu.stat", "usage_usec 7\n")],
        );
        let mut missing = Missing::new();
        let seen = read(root.path(), "/sys/fs/cgroup/b", &mut missing);
        assert_eq!(seen["cpu_ns"], Some(7000));
        assert_eq!(seen["memory_bytes"], None);
        assert!(missing["cgroup.box.memory_bytes"].contains("memory.current"));
        assert!(missing["cgroup.box.write_bytes"].contains("io.stat"));
    }

    #[test]
    fn a_folder_that_is_no_control_group_is_missing_and_has_no_columns() {
        let root = machine("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", &[]);
        let mut missing = Missing::new();
        assert!(open(root.path(), "box", "/tmp/b", &mut missing).is_empty());
        assert!(missing["cgroup.box"].contains("/tmp/b"));
    }
}
