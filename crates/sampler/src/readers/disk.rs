//! Block device counters of the disks that hold given paths.

use std::collections::BTreeMap;
use std::path::Path;

use crate::kernel_files::parse::{Row, fields, lines, number};
use crate::kernel_files::place::{DeviceNumber, locate, name, whole_disk};
use crate::kernel_files::source::{Missing, below};
use crate::readers::{FileReader, Reader, prefixed};

const SECTOR_BYTES: u64 = 512;
const MILLISECOND_NS: u64 = 1_000_000;

/// Name, place behind the device name in `/proc/diskstats`, and unit.
/// Discards came with 4.18, flushes with 5.5: on older kernels the line is shorter.
const COUNTERS: [(&str, usize, u64); 14] = [
    ("reads", 0, 1),
    ("read_bytes", 2, SECTOR_BYTES),
    ("read_ns", 3, MILLISECOND_NS),
    ("writes", 4, 1),
    ("write_bytes", 6, SECTOR_BYTES),
    ("write_ns", 7, MILLISECOND_NS),
    ("in_flight", 8, 1),
    ("io_ns", 9, MILLISECOND_NS),
    ("queue_ns", 10, MILLISECOND_NS),
    ("discards", 11, 1),
    ("discard_bytes", 13, SECTOR_BYTES),
    ("discard_ns", 14, MILLISECOND_NS),
    ("flushes", FLUSHES, 1),
    ("flush_ns", 16, MILLISECOND_NS),
];
const FLUSHES: usize = 15;

/// A device to follow. Flushes are counted on the whole disk only; its partitions always show 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Followed {
    device: DeviceNumber,
    disk: DeviceNumber,
}

/// One reader for the devices of all paths that have one.
pub(crate) fn open(
    root: &Path,
    disks: &BTreeMap<String, String>,
    missing: &mut Missing,
) -> Box<dyn Reader> {
    let mut followed = Vec::new();
    let mut columns = Vec::new();
    let names: Vec<&str> = COUNTERS.iter().map(|(name, ..)| *name).collect();
    for (label, path) in disks {
        match find(root, Path::new(path)) {
            Ok(device) => {
                followed.push(device);
                columns.extend(prefixed(&format!("disk.{label}"), &names));
            }
            Err(reason) => {
                missing.insert(format!("disk.{label}"), format!("{path}: {reason}"));
            }
        }
    }
    let path = below(root, "/proc/diskstats");
    let parse = move |bytes: &[u8], row: &mut Row| counters(bytes, &followed, row);
    FileReader::open(&path, "disk", columns, parse, missing)
}

fn find(root: &Path, path: &Path) -> Result<Followed, String> {
    let place = locate(root, path).map_err(|error| error.to_string())?;
    let device = place.device?;
    if name(root, device).is_none() {
        let (major, minor) = device;
        return Err(format!("device {major}:{minor} is not in /proc/diskstats"));
    }
    Ok(Followed {
        device,
        disk: whole_disk(root, device),
    })
}

fn counters(bytes: &[u8], followed: &[Followed], row: &mut Row) {
    for line in lines(bytes) {
        let mut parts = fields(line);
        let Some(device) = device_number(&mut parts) else {
            continue;
        };
        let behind_name = parts.skip(1);
        let figures = || behind_name.clone().map(number);
        for (place, wanted) in followed.iter().enumerate() {
            let cells = &mut row[place * COUNTERS.len()..][..COUNTERS.len()];
            if wanted.device == device {
                fill(cells, figures(), |place| place < FLUSHES);
            }
            if wanted.disk == device {
                fill(cells, figures(), |place| place >= FLUSHES);
            }
        }
    }
}

fn device_number<'a>(parts: &mut impl Iterator<Item = &'a [u8]>) -> Option<DeviceNumber> {
    let major = number(parts.next()?)?;
    let minor = number(parts.next()?)?;
    Some((u32::try_from(major).ok()?, u32::try_from(minor).ok()?))
}

fn fill(
    cells: &mut Row,
    figures: impl Iterator<Item = Option<u64>>,
    wanted: impl Fn(usize) -> bool,
) {
    for (place, figure) in figures.enumerate().filter(|(place, _)| wanted(*place)) {
        for (cell, (_, column, unit)) in cells.iter_mut().zip(COUNTERS) {
            if column == place {
                *cell = figure.map(|figure| figure * unit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &[u8] = b"   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n\
        8       1 sda1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 0\n";

    fn read(text: &[u8], device: DeviceNumber, disk: DeviceNumber) -> Vec<Option<u64>> {
        let mut row = vec![None; COUNTERS.len()];
        counters(text, &[Followed { device, disk }], &mut row);
        row
    }

    fn cell(row: &[Option<u64>], name: &str) -> Option<u64> {
        row[COUNTERS
            .iter()
            .position(|(known, ..)| *known == name)
            .unwrap()]
    }

    #[test]
    fn sectors_become_bytes_and_milliseconds_become_nanoseconds() {
        let row = read(NEW, (8, 0), (8, 0));
        assert_eq!(cell(&row, "reads"), Some(1));
        assert_eq!(cell(&row, "read_bytes"), Some(3 * 512));
        assert_eq!(cell(&row, "write_ns"), Some(8_000_000));
        assert_eq!(cell(&row, "io_ns"), Some(10_000_000));
        assert_eq!(cell(&row, "flushes"), Some(16));
        assert_eq!(cell(&row, "flush_ns"), Some(17_000_000));
    }

    #[test]
    fn flushes_of_a_partition_are_those_of_its_disk() {
        let row = read(NEW, (8, 1), (8, 0));
        assert_eq!(cell(&row, "writes"), Some(5));
        assert_eq!(cell(&row, "flushes"), Some(16));
    }

    #[test]
    fn an_old_kernel_has_no_discards_and_no_flushes() {
        let row = read(b"8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n", (8, 0), (8, 0));
        assert_eq!(cell(&row, "queue_ns"), Some(11_000_000));
        assert_eq!(cell(&row, "discards"), None);
        assert_eq!(cell(&row, "flushes"), None);
    }

    #[test]
    fn a_disk_in_memory_is_missing_with_the_reason() {
        let mut missing = Missing::new();
        let disks = BTreeMap::from([("store".to_owned(), "/proc".to_owned())]);
        let reader = open(Path::new("/"), &disks, &mut missing);
        assert!(reader.columns().is_empty());
        assert!(missing["disk.store"].contains("proc"), "{missing:?}");
    }
}
