//! Kernel, distribution, identity, memory, and kernel parameters that bear on load.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::{Table, Values, add_files, chosen, keyed_text};
use crate::kernel_files::source::{below, text};

const FILES: &Table = &[
    ("boot_id", "/proc/sys/kernel/random/boot_id"),
    ("hostname", "/proc/sys/kernel/hostname"),
    ("kernel.release", "/proc/sys/kernel/osrelease"),
    ("kernel.version", "/proc/sys/kernel/version"),
    ("kernel.command_line", "/proc/cmdline"),
    (
        "clocksource",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    (
        "clocksource.available",
        "/sys/devices/system/clocksource/clocksource0/available_clocksource",
    ),
    ("tuned.profile", "/etc/tuned/active_profile"),
];

const CHOICES: &Table = &[
    ("thp", "/sys/kernel/mm/transparent_hugepage/enabled"),
    ("thp.defrag", "/sys/kernel/mm/transparent_hugepage/defrag"),
    ("kernel.lockdown", "/sys/kernel/security/lockdown"),
];

/// Kernel parameters by their own names, below `/proc/sys`.
const SYSCTLS: [&str; 30] = [
    "fs.aio-max-nr",
    "fs.file-max",
    "fs.nr_open",
    "kernel.numa_balancing",
    "kernel.perf_event_paranoid",
    "kernel.pid_max",
    "kernel.randomize_va_space",
    "kernel.sched_autogroup_enabled",
    "kernel.timer_migration",
    "net.core.busy_poll",
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_wmem",
    "vm.dirty_background_ratio",
    "vm.dirty_expire_centisecs",
    "vm.dirty_ratio",
    "vm.dirty_writeback_centisecs",
    "vm.overcommit_memory",
    "vm.swappiness",
    "vm.zone_reclaim_mode",
];

pub(super) fn add(root: &Path, values: &mut Values) {
    add_files(root, FILES, values);
    for (name, path) in CHOICES {
        let choice = text(&below(root, path)).map(|choices| chosen(&choices));
        values.insert((*name).to_owned(), choice);
    }
    let release = text(&below(root, "/etc/os-release"))
        .or_else(|| text(&below(root, "/usr/lib/os-release")))
        .unwrap_or_default();
    values.insert(
        "os.name".to_owned(),
        keyed_text(&release, "PRETTY_NAME", '='),
    );
    values.insert("os.id".to_owned(), keyed_text(&release, "ID", '='));
    values.insert("machine_id.sha256".to_owned(), machine_id(root));
    add_memory(root, values);
    for name in SYSCTLS {
        values.insert(format!("sysctl.{name}"), sysctl(root, name));
    }
}

fn add_memory(root: &Path, values: &mut Values) {
    let meminfo = text(&below(root, "/proc/meminfo")).unwrap_or_default();
    let bytes = |key: &str| {
        let kib = keyed_text(&meminfo, key, ':')?;
        let kib: u64 = kib.strip_suffix("kB")?.trim().parse().ok()?;
        Some((kib * 1024).to_string())
    };
    values.insert("memory.total_bytes".to_owned(), bytes("MemTotal"));
    values.insert("swap.total_bytes".to_owned(), bytes("SwapTotal"));
    values.insert("memory.hugepage_bytes".to_owned(), bytes("Hugepagesize"));
    let pages = keyed_text(&meminfo, "HugePages_Total", ':');
    values.insert("memory.hugepages".to_owned(), pages);
}

/// The id itself is private to the machine (machine-id(5)); its hash tells machines apart as well.
fn machine_id(root: &Path) -> Option<String> {
    let id = text(&below(root, "/etc/machine-id"))?;
    let digest = Sha256::digest(format!("steelyard:{id}"));
    Some(format!("{digest:x}"))
}

fn sysctl(root: &Path, name: &str) -> Option<String> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    let value = text(&below(root, &path))?;
    Some(value.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_id_itself_never_leaves_the_machine() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("etc")).unwrap();
        let id = "0123456789abcdef0123456789abcdef";
        std::fs::write(root.path().join("etc/machine-id"), id).unwrap();
        let hashed = machine_id(root.path()).unwrap();
        assert_eq!(hashed.len(), 64);
        assert!(!hashed.contains(id));
    }

    #[test]
    fn a_range_is_written_with_one_blank() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("proc/sys/net/ipv4");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("ip_local_port_range"), "32768\t60999\n").unwrap();
        let range = sysctl(root.path(), "net.ipv4.ip_local_port_range");
        assert_eq!(range.as_deref(), Some("32768 60999"));
    }
}
