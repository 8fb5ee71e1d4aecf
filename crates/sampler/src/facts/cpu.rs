//! The CPUs: model, flags, power policy, mitigations, and whether they are virtual.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Table, Values, add_files, keyed_text};
use crate::kernel_files::source::{below, names, text};

const FILES: &Table = &[
    ("cpu.online", "/sys/devices/system/cpu/online"),
    ("cpu.isolated", "/sys/devices/system/cpu/isolated"),
    ("cpu.smt", "/sys/devices/system/cpu/smt/control"),
    (
        "cpu.idle_driver",
        "/sys/devices/system/cpu/cpuidle/current_driver",
    ),
    ("numa.online", "/sys/devices/system/node/online"),
    ("virtualization.hypervisor", "/sys/hypervisor/type"),
    ("virtualization.product", "/sys/class/dmi/id/product_name"),
    ("virtualization.vendor", "/sys/class/dmi/id/sys_vendor"),
];

pub(super) fn add(root: &Path, values: &mut Values) {
    add_files(root, FILES, values);
    let info = text(&below(root, "/proc/cpuinfo")).unwrap_or_default();
    let mut put = |name: &str, value: Option<String>| values.insert(name.to_owned(), value);
    put("cpu.model", model(&info));
    put("cpu.count", count(&info));
    put("cpu.microcode", keyed_text(&info, "microcode", ':'));
    let flags = keyed_text(&info, "flags", ':').or_else(|| keyed_text(&info, "Features", ':'));
    let guest = flags.as_ref().map(|flags| is_guest(flags).to_string());
    put("virtualization.guest_flag", guest);
    put("cpu.flags", flags);
    put("virtualization.container", container(root));
    put("cpu.governor", policies(root, "scaling_governor"));
    put("cpu.frequency_driver", policies(root, "scaling_driver"));
    put("cpu.frequency_max_khz", policies(root, "scaling_max_freq"));
    put(
        "cpu.energy_preference",
        policies(root, "energy_performance_preference"),
    );
    put("cpu.turbo", turbo(root));
    add_mitigations(root, values);
}

/// `model name` on x86; ARM tells implementer and part instead.
fn model(info: &str) -> Option<String> {
    let keys = ["model name", "Model", "cpu model", "CPU part"];
    keys.iter().find_map(|key| keyed_text(info, key, ':'))
}

fn count(info: &str) -> Option<String> {
    let is_processor = |line: &&str| line.starts_with("processor") && line.contains(':');
    let count = info.lines().filter(is_processor).count();
    (count > 0).then(|| count.to_string())
}

fn is_guest(flags: &str) -> bool {
    flags.split_whitespace().any(|flag| flag == "hypervisor")
}

/// The value of all frequency policies; different ones with commas.
fn policies(root: &Path, file: &str) -> Option<String> {
    let folder = below(root, "/sys/devices/system/cpu/cpufreq");
    let values: BTreeSet<String> = names(&folder)
        .iter()
        .filter(|name| name.starts_with("policy"))
        .filter_map(|name| text(&folder.join(name).join(file)))
        .collect();
    (!values.is_empty()).then(|| values.into_iter().collect::<Vec<_>>().join(","))
}

/// `on` or `off`, from whichever of the two switches this machine has.
fn turbo(root: &Path) -> Option<String> {
    let read = |path: &str| text(&below(root, path));
    let off = read("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|no| no == "1");
    let off =
        off.or_else(|| read("/sys/devices/system/cpu/cpufreq/boost").map(|boost| boost == "0"));
    off.map(|off| if off { "off" } else { "on" }.to_owned())
}

/// What marks a container from inside; `None` outside of any.
fn container(root: &Path) -> Option<String> {
    if let Some(text) = text(&below(root, "/run/systemd/container")) {
        return Some(text);
    }
    let marks = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    marks
        .iter()
        .find(|(path, _)| below(root, path).exists())
        .map(|(_, name)| (*name).to_owned())
        .or_else(|| told_at_start(&text(&below(root, "/proc/1/environ"))?))
}

/// What the manager of a container says in the environment of its first process.
fn told_at_start(environment: &str) -> Option<String> {
    let mut variables = environment.split('\0');
    variables.find_map(|each| each.strip_prefix("container=").map(str::to_owned))
}

fn add_mitigations(root: &Path, values: &mut Values) {
    let folder = below(root, "/sys/devices/system/cpu/vulnerabilities");
    for name in names(&folder) {
        values.insert(format!("mitigation.{name}"), text(&folder.join(&name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted_and_the_first_gives_the_model() {
        let info = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor\n\n\
            processor\t: 1\nmodel name\t: AMD EPYC\n";
        assert_eq!(count(info).as_deref(), Some("2"));
        assert_eq!(model(info).as_deref(), Some("AMD EPYC"));
        assert!(is_guest("fpu hypervisor"));
        assert!(!is_guest("fpu"));
    }

    #[test]
    fn a_container_tells_itself_in_the_environment_of_its_first_process() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(container(root.path()), None);
        let first = root.path().join("proc/1");
        std::fs::create_dir_all(&first).unwrap();
        std::fs::write(first.join("environ"), "TERM=xterm\0container=lxc\0").unwrap();
        assert_eq!(container(root.path()).as_deref(), Some("lxc"));
    }

    #[test]
    fn turbo_is_read_from_either_switch() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(turbo(root.path()), None);
        let folder = root.path().join("sys/devices/system/cpu/cpufreq");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("boost"), "0\n").unwrap();
        assert_eq!(turbo(root.path()).as_deref(), Some("off"));
    }

    #[test]
    fn policies_that_differ_are_all_named() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("sys/devices/system/cpu/cpufreq");
        for (policy, governor) in [("policy0", "powersave"), ("policy1", "performance")] {
            std::fs::create_dir_all(folder.join(policy)).unwrap();
            std::fs::write(folder.join(policy).join("scaling_governor"), governor).unwrap();
        }
        let governor = policies(root.path(), "scaling_governor");
        assert_eq!(governor.as_deref(), Some("performance,powersave"));
    }
}
