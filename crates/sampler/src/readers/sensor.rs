//! Frequency, temperature and energy, where the machine reports it.

use std::io;
use std::path::Path;

use crate::kernel_files::parse::{Row, number};
use crate::kernel_files::source::{Missing, Source, below, names, note, text};
use crate::readers::Reader;

/// Reading one frequency can interrupt its CPU: on large machines the first ones stand for all.
const MOST_POLICIES: usize = 16;
/// Sensors on the CPU itself; others (disks, boards on slow buses) can take milliseconds to read.
const CPU_SENSORS: [&str; 4] = ["coretemp", "k10temp", "zenpower", "cpu_thermal"];

/// Another way to the counters of `intel-rapl`, on laptops.
const SECOND_WAY: &str = "intel-rapl-mmio:";

/// Files that each hold one number, and a column for each.
struct Gauges {
    columns: Vec<String>,
    sources: Vec<Source>,
}

impl Reader for Gauges {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn read(&mut self, row: &mut Row) {
        for (cell, source) in row.iter_mut().zip(&mut self.sources) {
            *cell = value(source);
        }
    }
}

/// Mean of the frequencies of several CPUs.
struct Frequency {
    columns: [String; 1],
    sources: Vec<Source>,
}

impl Reader for Frequency {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn read(&mut self, row: &mut Row) {
        let values: Vec<u64> = self.sources.iter_mut().filter_map(value).collect();
        let mean_khz = values.iter().sum::<u64>().checked_div(values.len() as u64);
        row[0] = mean_khz.map(|khz| khz * 1000);
    }
}

/// One energy counter that wraps.
struct Energy {
    columns: Vec<String>,
    source: Source,
    range_uj: u64,
    last_uj: u64,
    wrapped_uj: u64,
}

impl Reader for Energy {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn read(&mut self, row: &mut Row) {
        let Some(now_uj) = value(&mut self.source) else {
            return;
        };
        if now_uj < self.last_uj {
            self.wrapped_uj += self.range_uj;
        }
        self.last_uj = now_uj;
        row[0] = Some(self.wrapped_uj + now_uj);
    }
}

/// All readers of this file.
pub(crate) fn open(root: &Path, missing: &mut Missing) -> Vec<Box<dyn Reader>> {
    let mut readers: Vec<Box<dyn Reader>> = Vec::new();
    if let Some(frequency) = frequency(root, missing) {
        readers.push(Box::new(frequency));
    }
    if let Some(temperature) = temperature(root, missing) {
        readers.push(Box::new(temperature));
    }
    for meter in energy(root, missing) {
        readers.push(Box::new(meter));
    }
    readers
}

fn frequency(root: &Path, missing: &mut Missing) -> Option<Frequency> {
    let folder = below(root, "/sys/devices/system/cpu/cpufreq");
    let sources: Vec<Source> = names(&folder)
        .iter()
        .filter(|name| name.starts_with("policy"))
        .take(MOST_POLICIES)
        .filter_map(|name| Source::open(&folder.join(name).join("scaling_cur_freq")).ok())
        .collect();
    if sources.is_empty() {
        absent(missing, "cpu.frequency_hz", &folder);
        return None;
    }
    Some(Frequency {
        columns: ["cpu.frequency_hz".to_owned()],
        sources,
    })
}

fn temperature(root: &Path, missing: &mut Missing) -> Option<Gauges> {
    let mut gauges = Gauges {
        columns: Vec::new(),
        sources: Vec::new(),
    };
    let zones = below(root, "/sys/class/thermal");
    for zone in names(&zones) {
        if let Some(kind) = text(&zones.join(&zone).join("type")) {
            let number = zone.trim_start_matches("thermal_zone");
            let path = zones.join(&zone).join("temp");
            gauges.add(format!("temperature.{kind}_{number}.millicelsius"), &path);
        }
    }
    let chips = below(root, "/sys/class/hwmon");
    for chip in names(&chips) {
        let folder = chips.join(&chip);
        let Some(kind) = text(&folder.join("name")).filter(|kind| is_cpu_sensor(kind)) else {
            continue;
        };
        for input in names(&folder).iter().filter(|name| is_temperature(name)) {
            let number = input.trim_end_matches("_input");
            let column = format!("temperature.{kind}_{number}.millicelsius");
            gauges.add(column, &folder.join(input));
        }
    }
    if gauges.columns.is_empty() {
        absent(missing, "temperature", &zones);
        return None;
    }
    Some(gauges)
}

impl Gauges {
    fn add(&mut self, column: String, path: &Path) {
        if self.columns.contains(&column) {
            return;
        }
        if let Ok(source) = Source::open(path) {
            self.columns.push(column);
            self.sources.push(source);
        }
    }
}

fn energy(root: &Path, missing: &mut Missing) -> Vec<Energy> {
    let folder = below(root, "/sys/class/powercap");
    let mut meters = Vec::new();
    for (zone, name) in zones(&folder) {
        let zone = folder.join(zone);
        let column = format!("power.{name}.energy_uj");
        let path = zone.join("energy_uj");
        match Source::open(&path) {
            Ok(source) => meters.push(Energy {
                columns: vec![column],
                source,
                range_uj: text(&zone.join("max_energy_range_uj"))
                    .and_then(|range| range.parse().ok())
                    .unwrap_or(0),
                last_uj: 0,
                wrapped_uj: 0,
            }),
            Err(error) => note(missing, &column, &path, &error),
        }
    }
    if meters.is_empty() && !missing.keys().any(|key| key.starts_with("power.")) {
        absent(missing, "power", &folder);
    }
    meters
}

/// Folders of energy zones, each with a name that no other bears.
///
/// Every package calls its parts alike (`dram`, `core`): where several do, the package stands before
/// the part. The same counter by a second way (`intel-rapl-mmio` beside `intel-rapl`) is left out.
fn zones(folder: &Path) -> Vec<(String, String)> {
    let mut zones: Vec<(String, String)> = names(folder)
        .into_iter()
        .filter(|zone| zone.contains(':'))
        .filter_map(|zone| text(&folder.join(&zone).join("name")).map(|name| (zone, name)))
        .collect();
    zones.sort_by_key(|(zone, _)| zone.starts_with(SECOND_WAY));
    let mut kept: Vec<(String, String)> = Vec::new();
    for (zone, name) in &zones {
        let alike = zones
            .iter()
            .filter(|(other, its)| its == name && !other.starts_with(SECOND_WAY));
        let package = parent(zone, &zones).filter(|_| alike.count() > 1);
        let name = package.map_or_else(|| name.clone(), |package| format!("{package}.{name}"));
        if kept.iter().all(|(_, taken)| *taken != name) {
            kept.push((zone.clone(), name));
        }
    }
    kept
}

/// The name of the zone that holds this one: `intel-rapl:1` holds `intel-rapl:1:2`.
fn parent<'a>(zone: &str, zones: &'a [(String, String)]) -> Option<&'a str> {
    let (above, _) = zone.rsplit_once(':')?;
    let found = zones.iter().find(|(other, _)| other == above)?;
    Some(&found.1)
}

fn absent(missing: &mut Missing, key: &str, path: &Path) {
    let nothing = io::Error::new(io::ErrorKind::NotFound, "nothing there to read");
    note(missing, key, path, &nothing);
}

fn is_cpu_sensor(kind: &str) -> bool {
    CPU_SENSORS.contains(&kind)
}

fn is_temperature(name: &str) -> bool {
    name.starts_with("temp") && name.ends_with("_input")
}

fn value(source: &mut Source) -> Option<u64> {
    source.read().ok().map(<[u8]>::trim_ascii).and_then(number)
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
    fn a_machine_without_sensors_says_so_for_each() {
        let root = tempfile::tempdir().unwrap();
        let mut missing = Missing::new();
        assert!(open(root.path(), &mut missing).is_empty());
        let keys: Vec<&str> = missing.keys().map(String::as_str).collect();
        assert_eq!(keys, ["cpu.frequency_hz", "power", "temperature"]);
    }

    #[test]
    fn the_frequency_is_the_mean_of_the_cpus() {
        let root = tempfile::tempdir().unwrap();
        let folder = "/sys/devices/system/cpu/cpufreq";
        write(
            root.path(),
            &format!("{folder}/policy0/scaling_cur_freq"),
            "1000000\n",
        );
        write(
            root.path(),
            &format!("{folder}/policy1/scaling_cur_freq"),
            "3000000\n",
        );
        let mut reader = frequency(root.path(), &mut Missing::new()).unwrap();
        let mut row = [None];
        reader.read(&mut row);
        assert_eq!(row, [Some(2_000_000_000)]);
    }

    #[test]
    fn an_energy_counter_that_wraps_goes_on_rising() {
        let root = tempfile::tempdir().unwrap();
        let zone = "/sys/class/powercap/intel-rapl:0";
        write(root.path(), &format!("{zone}/name"), "package-0\n");
        write(
            root.path(),
            &format!("{zone}/max_energy_range_uj"),
            "1000\n",
        );
        write(root.path(), &format!("{zone}/energy_uj"), "990\n");
        let mut meters = energy(root.path(), &mut Missing::new());
        let mut row = [None];
        meters[0].read(&mut row);
        assert_eq!(row, [Some(990)]);
        write(root.path(), &format!("{zone}/energy_uj"), "15\n");
        meters[0].read(&mut row);
        assert_eq!(row, [Some(1015)]);
        assert_eq!(meters[0].columns, ["power.package-0.energy_uj"]);
    }

    fn zones_named(named: &[(&str, &str)]) -> Vec<(String, String)> {
        let root = tempfile::tempdir().unwrap();
        for (zone, name) in named {
            let file = format!("/sys/class/powercap/{zone}/name");
            write(root.path(), &file, &format!("{name}\n"));
        }
        zones(&below(root.path(), "/sys/class/powercap"))
    }

    #[test]
    fn parts_of_several_packages_bear_the_name_of_theirs() {
        let two = zones_named(&[
            ("intel-rapl:0", "package-0"),
            ("intel-rapl:0:0", "dram"),
            ("intel-rapl:1", "package-1"),
            ("intel-rapl:1:0", "dram"),
        ]);
        let names: Vec<&str> = two.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(
            names,
            ["package-0", "package-0.dram", "package-1", "package-1.dram"]
        );
        let one = zones_named(&[("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "dram")]);
        assert_eq!(one[1].1, "dram");
    }

    #[test]
    fn a_counter_that_is_reached_in_two_ways_is_read_once() {
        let zones = zones_named(&[
            ("intel-rapl-mmio:0", "package-0"),
            ("intel-rapl-mmio:0:0", "dram"),
            ("intel-rapl:0", "package-0"),
            ("intel-rapl:0:0", "core"),
            ("intel-rapl:0:1", "dram"),
        ]);
        let folders: Vec<&str> = zones.iter().map(|(folder, _)| folder.as_str()).collect();
        assert_eq!(
            folders,
            ["intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1"]
        );
    }

    #[test]
    fn sensors_of_disks_are_left_alone() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "/sys/class/hwmon/hwmon0/name", "nvme\n");
        write(
            root.path(),
            "/sys/class/hwmon/hwmon0/temp1_input",
            "30000\n",
        );
        write(root.path(), "/sys/class/hwmon/hwmon1/name", "k10temp\n");
        write(
            root.path(),
            "/sys/class/hwmon/hwmon1/temp1_input",
            "45000\n",
        );
        let gauges = temperature(root.path(), &mut Missing::new()).unwrap();
        assert_eq!(gauges.columns, ["temperature.k10temp_temp1.millicelsius"]);
    }
}
