//! What the queues in front of network devices hold, and what they held back.
//!
//! A link that is throttled without a loss shows nowhere else. Counters are of the root of each
//! device, which holds what is below it, but for those above a limit: each discipline has its own.

use std::collections::BTreeMap;
use std::path::Path;

use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketType, socket};

use crate::kernel_files::parse::Row;
use crate::kernel_files::source::Missing;
use crate::netlink::{Netlink, attributes, u32_at};
use crate::readers::{Reader, network, prefixed};

const NAMES: [&str; 6] = [
    "packets",
    "drops",
    "requeues",
    "overlimits",
    "backlog_bytes",
    "delayed_packets",
];
/// The first of them only ever grow.
const COUNTERS: usize = 4;

/// `RTM_GETQDISC` and the length of `struct tcmsg`; see rtnetlink(7) and tc(8).
const GET_QUEUES: u16 = 38;
const TCMSG: usize = 20;
const ROOT: u32 = 0xFFFF_FFFF;
const INGRESS: u32 = 0xFFFF_FFF1;
const KIND: u16 = 1;
const STATS: u16 = 7;
const STATS_BASIC: u16 = 1;
const STATS_QUEUE: u16 = 3;
/// These add up what is below them, limits included.
const SUMS: [&[u8]; 2] = [b"mq", b"mqprio"];

/// One queue discipline as the kernel lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Discipline {
    device: u32,
    handle: u32,
    parent: u32,
    kind: Vec<u8>,
    counters: [u64; COUNTERS],
    waiting_packets: u64,
    waiting_bytes: u64,
}

/// Sums of one device since sampling began, and what waits now.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Device {
    grown: [u64; COUNTERS],
    waiting_bytes: u64,
    delayed_packets: u64,
    seen: bool,
}

/// The disciplines of all devices, and what each had counted before.
#[derive(Default)]
struct Tally {
    devices: BTreeMap<u32, Device>,
    before: BTreeMap<(u32, u32, u32), [u64; COUNTERS]>,
    begun: bool,
}

struct Queues {
    columns: Vec<String>,
    /// In the order of the columns.
    order: Vec<u32>,
    netlink: Netlink,
    tally: Tally,
}

/// One reader for the devices there are now; the kernel is asked, so only of the true root.
pub(crate) fn open(root: &Path, missing: &mut Missing) -> Option<Box<dyn Reader>> {
    if root != Path::new("/") {
        return None;
    }
    let opened = Queues::of(&network::devices(root, missing));
    let found = opened.inspect_err(|error| {
        missing.insert("queue".to_owned(), format!("netlink: {error}"));
    });
    found.ok().map(|queues| Box::new(queues) as Box<dyn Reader>)
}

impl Queues {
    fn of(names: &[String]) -> std::io::Result<Self> {
        let any = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
        let numbered = names
            .iter()
            .filter_map(|name| Some((name, name_to_index(&any, name).ok()?)));
        let (names, order): (Vec<&String>, Vec<u32>) = numbered.unzip();
        let mut queues = Self {
            columns: names
                .iter()
                .flat_map(|name| prefixed(&format!("queue.{name}"), &NAMES))
                .collect(),
            netlink: Netlink::open(None)?,
            tally: Tally::of(&order),
            order,
        };
        queues.ask()?;
        Ok(queues)
    }

    fn ask(&mut self) -> std::io::Result<()> {
        self.tally.begin();
        let tally = &mut self.tally;
        self.netlink.list(GET_QUEUES, &[0; TCMSG], |content| {
            if let Some(found) = discipline(content) {
                tally.add(&found);
            }
        })?;
        self.tally.begun = true;
        Ok(())
    }
}

impl Reader for Queues {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn read(&mut self, row: &mut Row) {
        if self.ask().is_err() {
            return;
        }
        let devices = self
            .order
            .iter()
            .map(|device| self.tally.devices.get(device));
        for (cells, device) in row.chunks_exact_mut(NAMES.len()).zip(devices) {
            if let Some(device) = device.filter(|device| device.seen) {
                let gauges = [device.waiting_bytes, device.delayed_packets];
                let figures = device.grown.iter().chain(&gauges);
                for (cell, figure) in cells.iter_mut().zip(figures) {
                    *cell = Some(*figure);
                }
            }
        }
    }
}

impl Tally {
    fn of(devices: &[u32]) -> Self {
        Self {
            devices: devices
                .iter()
                .map(|each| (*each, Device::default()))
                .collect(),
            ..Self::default()
        }
    }

    fn begin(&mut self) {
        for device in self.devices.values_mut() {
            device.seen = false;
            device.waiting_bytes = 0;
            device.delayed_packets = 0;
        }
    }

    /// One that is new has counted all it has since it came.
    fn add(&mut self, found: &Discipline) {
        let Some(device) = self.devices.get_mut(&found.device) else {
            return;
        };
        let key = (found.device, found.handle, found.parent);
        let before = self.before.insert(key, found.counters);
        let before = before.unwrap_or(if self.begun {
            [0; COUNTERS]
        } else {
            found.counters
        });
        let counts = counts_of(found);
        for place in 0..COUNTERS {
            let now = found.counters[place];
            let grown = now.checked_sub(before[place]).unwrap_or(now);
            device.grown[place] += grown * u64::from(counts[place]);
        }
        device.seen = true;
        if found.parent == ROOT {
            device.waiting_bytes += found.waiting_bytes;
        }
        if found.kind == b"netem" {
            device.delayed_packets += found.waiting_packets;
        }
    }
}

/// Which counters of a discipline count for its device.
fn counts_of(found: &Discipline) -> [bool; COUNTERS] {
    let (root, ingress) = (found.parent == ROOT, found.parent == INGRESS);
    let own = !SUMS.contains(&found.kind.as_slice());
    [root, root || ingress, root, own]
}

/// `struct tcmsg` and its attributes; `None` of what is not whole.
fn discipline(content: &[u8]) -> Option<Discipline> {
    let mut kind = Vec::new();
    let (mut packets, mut queue) = (None, None);
    for (number, value) in attributes(content.get(TCMSG..)?) {
        match number {
            KIND => kind = value.split(|byte| *byte == 0).next()?.to_vec(),
            STATS => {
                for (number, value) in attributes(value) {
                    match number {
                        STATS_BASIC => packets = u32_at(value, 8),
                        STATS_QUEUE => queue = queue_counts(value),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    let [waiting_packets, waiting_bytes, drops, requeues, overlimits] = queue?;
    Some(Discipline {
        device: u32_at(content, 4)?,
        handle: u32_at(content, 8)?,
        parent: u32_at(content, 12)?,
        kind,
        counters: [u64::from(packets?), drops, requeues, overlimits],
        waiting_packets,
        waiting_bytes,
    })
}

/// `struct gnet_stats_queue`
fn queue_counts(value: &[u8]) -> Option<[u64; 5]> {
    let mut counts = [0; 5];
    for (place, count) in counts.iter_mut().enumerate() {
        *count = u64::from(u32_at(value, 4 * place)?);
    }
    Some(counts)
}

#[cfg(test)]
#[path = "queues_tests.rs"]
mod tests;
