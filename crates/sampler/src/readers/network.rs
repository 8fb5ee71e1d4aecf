//! Traffic by network device.

use std::path::Path;

use crate::kernel_files::parse::{Row, fields, lines, number};
use crate::kernel_files::source::{Missing, below};
use crate::readers::{FileReader, Reader, prefixed};

const FILE: &str = "/proc/net/dev";
const NAMES: [&str; 6] = [
    "rx_bytes",
    "rx_packets",
    "rx_drops",
    "tx_bytes",
    "tx_packets",
    "tx_drops",
];
/// Where the figures of [`NAMES`] stand behind the colon.
const PLACES: [usize; 6] = [0, 1, 3, 8, 9, 11];

/// A container host can have hundreds of virtual devices; more than these are not sampled.
const MOST_DEVICES: usize = 32;

/// One reader for all devices there are now; later ones are not followed.
pub(crate) fn open(root: &Path, missing: &mut Missing) -> Box<dyn Reader> {
    let devices = devices(root, missing);
    let columns = devices
        .iter()
        .flat_map(|device| prefixed(&format!("net.{device}"), &NAMES))
        .collect();
    let parse = move |bytes: &[u8], row: &mut Row| traffic(bytes, &devices, row);
    FileReader::open(&below(root, FILE), "net", columns, parse, missing)
}

/// Their names, in the order of the kernel, as many as are sampled.
pub(crate) fn devices(root: &Path, missing: &mut Missing) -> Vec<String> {
    let mut devices = device_names(&std::fs::read(below(root, FILE)).unwrap_or_default());
    if devices.len() > MOST_DEVICES {
        let reason = format!("only the first {MOST_DEVICES} devices are sampled");
        missing.insert("net".to_owned(), reason);
        devices.truncate(MOST_DEVICES);
    }
    devices
}

fn device_names(bytes: &[u8]) -> Vec<String> {
    lines(bytes)
        .filter_map(split)
        .map(|(name, _)| String::from_utf8_lossy(name).into_owned())
        .collect()
}

/// Name and figures; the name may touch the first figure (`eth0:861818003`).
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().rposition(|byte| *byte == b':')?;
    Some((line[..colon].trim_ascii(), &line[colon + 1..]))
}

fn traffic(bytes: &[u8], devices: &[String], row: &mut Row) {
    for (name, figures) in lines(bytes).filter_map(split) {
        let Some(device) = devices.iter().position(|known| known.as_bytes() == name) else {
            continue;
        };
        let cells = &mut row[device * NAMES.len()..][..NAMES.len()];
        for (place, field) in fields(figures).enumerate() {
            if let Some(cell) = PLACES.iter().position(|wanted| *wanted == place) {
                cells[cell] = number(field);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"Inter-|   Receive  |  Transmit\n face |bytes    packets errs\n\
        lo:    3621      37    0    1    0     0          0         0     3621      38    0    2    0     0       0          0\n\
        eth0.5:861818003   20321    0    0    0     0          0         0  1147767   12683    0    0    0     0       0          0\n";

    #[test]
    fn figures_are_read_by_device_even_without_a_blank_behind_the_colon() {
        let devices = device_names(TEXT);
        assert_eq!(devices, ["lo", "eth0.5"]);
        let mut row = [None; 12];
        traffic(TEXT, &devices, &mut row);
        assert_eq!(&row[..3], [Some(3621), Some(37), Some(1)]);
        assert_eq!(&row[3..6], [Some(3621), Some(38), Some(2)]);
        assert_eq!(row[6], Some(861_818_003));
        assert_eq!(row[9], Some(1_147_767));
    }

    #[test]
    fn a_device_that_went_away_is_none() {
        let mut row = [None; 12];
        traffic(TEXT, &["gone".to_owned(), "lo".to_owned()], &mut row);
        assert_eq!(row[0], None);
        assert_eq!(row[6], Some(3621));
    }
}
