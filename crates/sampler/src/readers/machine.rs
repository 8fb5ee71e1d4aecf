//! Counters of the whole machine: CPU, scheduler, memory, pressure, TCP.

use std::path::Path;

use crate::kernel_files::parse::{Row, fields, keyed, lines, number, paired};
use crate::kernel_files::source::{Missing, below};
use crate::readers::{FileReader, Reader, owned, prefixed};

const STAT: [&str; 11] = [
    "cpu.user_ns",
    "cpu.nice_ns",
    "cpu.system_ns",
    "cpu.idle_ns",
    "cpu.iowait_ns",
    "cpu.irq_ns",
    "cpu.softirq_ns",
    "cpu.steal_ns",
    "switches.context",
    "load.running",
    "load.blocked",
];
const CPU_FIELDS: usize = 8;

const MEMORY: [(&str, &str); 8] = [
    ("MemTotal", "memory.total_bytes"),
    ("MemFree", "memory.free_bytes"),
    ("MemAvailable", "memory.available_bytes"),
    ("Buffers", "memory.buffers_bytes"),
    ("Cached", "memory.cached_bytes"),
    ("Dirty", "memory.dirty_bytes"),
    ("Writeback", "memory.writeback_bytes"),
    ("SwapFree", "memory.swap_free_bytes"),
];

const PAGING: [(&str, &str); 3] = [
    ("pgmajfault", "memory.major_faults"),
    ("pswpin", "memory.swap_in_pages"),
    ("pswpout", "memory.swap_out_pages"),
];

/// Counted in pages.
const REFAULTS: [(&str, &str); 2] = [
    ("workingset_refault_anon", "memory.refault_anon_bytes"),
    ("workingset_refault_file", "memory.refault_file_bytes"),
];

/// All readers of this file.
pub(crate) fn open(root: &Path, missing: &mut Missing) -> Vec<Box<dyn Reader>> {
    let tick_ns = tick_ns();
    let mut readers = vec![FileReader::open(
        &below(root, "/proc/stat"),
        "cpu",
        owned(&STAT),
        move |bytes, row| stat(bytes, tick_ns, row),
        missing,
    )];
    readers.push(table(
        root,
        "/proc/meminfo",
        "memory",
        &MEMORY,
        1024,
        missing,
    ));
    readers.push(table(
        root,
        "/proc/vmstat",
        "memory.paging",
        &PAGING,
        1,
        missing,
    ));
    readers.push(table(
        root,
        "/proc/vmstat",
        "memory.refault",
        &REFAULTS,
        rustix::param::page_size() as u64,
        missing,
    ));
    for resource in ["cpu", "memory", "io"] {
        readers.push(pressure_of(root, resource, missing));
    }
    readers.push(FileReader::open(
        &below(root, "/proc/loadavg"),
        "load.average",
        owned(&["load.average_1m_milli"]),
        load_average,
        missing,
    ));
    readers.extend(tcp(root, missing));
    readers
}

/// Length of the ticks `/proc/stat` and `/proc/PID/stat` count in.
pub(crate) fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

fn table(
    root: &Path,
    file: &str,
    key: &str,
    table: &'static [(&'static str, &'static str)],
    unit: u64,
    missing: &mut Missing,
) -> Box<dyn Reader> {
    let keys: Vec<&str> = table.iter().map(|(key, _)| *key).collect();
    let columns = table.iter().map(|(_, name)| (*name).to_owned()).collect();
    FileReader::open(
        &below(root, file),
        key,
        columns,
        move |bytes, row| keyed(bytes, &keys, unit, row),
        missing,
    )
}

fn pressure_of(root: &Path, resource: &str, missing: &mut Missing) -> Box<dyn Reader> {
    let key = format!("psi.{resource}");
    FileReader::open(
        &below(root, &format!("/proc/pressure/{resource}")),
        &key,
        prefixed(&key, &["some_ns", "full_ns"]),
        pressure,
        missing,
    )
}

fn tcp(root: &Path, missing: &mut Missing) -> [Box<dyn Reader>; 3] {
    let ip = FileReader::open(
        &below(root, "/proc/net/snmp"),
        "ip",
        owned(&["ip.out_requests", "ip.forwarded", "ip.out_transmits"]),
        |bytes, row| paired(bytes, "Ip:", &IP, row),
        missing,
    );
    let retransmits = FileReader::open(
        &below(root, "/proc/net/snmp"),
        "tcp.retransmits",
        owned(&["tcp.retransmits"]),
        |bytes, row| paired(bytes, "Tcp:", &["RetransSegs"], row),
        missing,
    );
    let listening = FileReader::open(
        &below(root, "/proc/net/netstat"),
        "tcp.listen",
        owned(&[
            "tcp.listen_overflows",
            "tcp.listen_drops",
            "tcp.syn_retransmits",
            "tcp.timeouts",
            "tcp.dsacks_received",
        ]),
        |bytes, row| paired(bytes, "TcpExt:", &TCP_EXTRAS, row),
        missing,
    );
    [ip, retransmits, listening]
}

/// Counters of `/proc/net/snmp`, in the order of their columns.
const IP: [&str; 3] = ["OutRequests", "ForwDatagrams", "OutTransmits"];

/// Counters of `/proc/net/netstat`, in the order of their columns.
const TCP_EXTRAS: [&str; 5] = [
    "ListenOverflows",
    "ListenDrops",
    "TCPSynRetrans",
    "TCPTimeouts",
    "TCPDSACKRecv",
];

fn stat(bytes: &[u8], tick_ns: u64, row: &mut Row) {
    for line in lines(bytes) {
        let mut parts = fields(line);
        match parts.next() {
            Some(b"cpu") => {
                for (cell, ticks) in row[..CPU_FIELDS].iter_mut().zip(parts) {
                    *cell = number(ticks).map(|ticks| ticks * tick_ns);
                }
            }
            Some(b"ctxt") => row[CPU_FIELDS] = parts.next().and_then(number),
            Some(b"procs_running") => row[CPU_FIELDS + 1] = parts.next().and_then(number),
            Some(b"procs_blocked") => row[CPU_FIELDS + 2] = parts.next().and_then(number),
            _ => {}
        }
    }
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS`, and `full` the same.
fn pressure(bytes: &[u8], row: &mut Row) {
    for line in lines(bytes) {
        let total_ns = fields(line)
            .find_map(|field| field.strip_prefix(b"total="))
            .and_then(number)
            .map(|microseconds| microseconds * 1000);
        match fields(line).next() {
            Some(b"some") => row[0] = total_ns,
            Some(b"full") => row[1] = total_ns,
            _ => {}
        }
    }
}

/// `0.16 0.14 0.11 2/97 7561`: the first figure, in thousandths.
fn load_average(bytes: &[u8], row: &mut Row) {
    let mut parts = bytes.split(|byte| *byte == b'.' || *byte == b' ');
    let whole = parts.next().and_then(number);
    let hundredths = parts.next().filter(|part| part.len() == 2).and_then(number);
    row[0] = whole
        .zip(hundredths)
        .map(|(whole, hundredths)| whole * 1000 + hundredths * 10);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_steal_leaves_it_none() {
        let mut row = [None; 11];
        stat(b"cpu  1 2 3 4 5 6 7\ncpu0 9 9 9\nctxt 12\n", 10, &mut row);
        assert_eq!(row[0], Some(10));
        assert_eq!(row[6], Some(70));
        assert_eq!(row[7], None);
        assert_eq!(row[8], Some(12));
    }

    #[test]
    fn pressure_of_an_old_kernel_has_no_full_line_for_cpu() {
        let mut row = [None; 2];
        pressure(
            b"some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
            &mut row,
        );
        assert_eq!(row, [Some(7000), None]);
    }

    #[test]
    fn the_load_average_is_in_thousandths() {
        let mut row = [None; 1];
        load_average(b"12.05 0.14 0.11 2/97 7561\n", &mut row);
        assert_eq!(row, [Some(12_050)]);
    }
}
