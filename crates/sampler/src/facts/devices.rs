//! Block devices and network devices.

use std::path::Path;

use super::{Values, chosen};
use crate::kernel_files::source::{below, names, text};

const QUEUE: [(&str, &str); 8] = [
    ("rotational", "queue/rotational"),
    ("write_cache", "queue/write_cache"),
    ("fua", "queue/fua"),
    ("queue_depth", "queue/nr_requests"),
    ("read_ahead_kib", "queue/read_ahead_kb"),
    ("write_throttle_us", "queue/wbt_lat_usec"),
    ("model", "device/model"),
    ("size_sectors", "size"),
];

const NETWORK: [(&str, &str); 6] = [
    ("mtu", "mtu"),
    ("speed_mbit", "speed"),
    ("duplex", "duplex"),
    ("transmit_queue_length", "tx_queue_len"),
    ("gro_flush_timeout_ns", "gro_flush_timeout"),
    ("napi_defer_hard_irqs", "napi_defer_hard_irqs"),
];

pub(super) fn add(root: &Path, values: &mut Values) {
    let disks = below(root, "/sys/block");
    for disk in names(&disks) {
        if !is_empty(&disks.join(&disk)) {
            add_disk(&disks.join(&disk), &format!("disk.{disk}"), values);
        }
    }
    let cards = below(root, "/sys/class/net");
    for card in names(&cards).iter().filter(|card| *card != "lo") {
        add_network(&cards.join(card), &format!("net.{card}"), values);
    }
}

/// Loop, RAM and zram devices that hold nothing say nothing either.
fn is_empty(folder: &Path) -> bool {
    text(&folder.join("size")).is_none_or(|size| size == "0")
}

fn add_disk(folder: &Path, prefix: &str, values: &mut Values) {
    let scheduler = text(&folder.join("queue/scheduler")).map(|choices| chosen(&choices));
    values.insert(format!("{prefix}.scheduler"), scheduler);
    for (name, file) in QUEUE {
        values.insert(format!("{prefix}.{name}"), text(&folder.join(file)));
    }
}

fn add_network(folder: &Path, prefix: &str, values: &mut Values) {
    let link = |path: &str| {
        let target = std::fs::read_link(folder.join(path)).ok()?;
        Some(target.file_name()?.to_str()?.to_owned())
    };
    values.insert(format!("{prefix}.driver"), link("device/driver"));
    for (name, file) in NETWORK {
        values.insert(format!("{prefix}.{name}"), text(&folder.join(file)));
    }
    for kind in ["rx", "tx"] {
        let queues = names(&folder.join("queues"));
        let count = queues.iter().filter(|name| name.starts_with(kind)).count();
        let count = (count > 0).then(|| count.to_string());
        values.insert(format!("{prefix}.{kind}_queues"), count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, content: &str) {
        let path = below(root, path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    #[test]
    fn a_disk_tells_its_scheduler_and_an_empty_one_nothing() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "/sys/block/sda/size", "4096\n");
        write(
            root.path(),
            "/sys/block/sda/queue/scheduler",
            "none [mq-deadline]\n",
        );
        write(root.path(), "/sys/block/loop0/size", "0\n");
        let mut values = Values::new();
        add(root.path(), &mut values);
        assert_eq!(values["disk.sda.scheduler"].as_deref(), Some("mq-deadline"));
        assert_eq!(values["disk.sda.rotational"], None);
        assert!(!values.keys().any(|name| name.starts_with("disk.loop0")));
    }

    #[test]
    fn a_network_card_tells_its_queues_and_mtu() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "/sys/class/net/eth0/mtu", "1500\n");
        for queue in ["rx-0", "rx-1", "tx-0"] {
            write(
                root.path(),
                &format!("/sys/class/net/eth0/queues/{queue}/x"),
                "",
            );
        }
        let mut values = Values::new();
        add(root.path(), &mut values);
        assert_eq!(values["net.eth0.mtu"].as_deref(), Some("1500"));
        assert_eq!(values["net.eth0.rx_queues"].as_deref(), Some("2"));
        assert_eq!(values["net.eth0.driver"], None);
    }
}
