//! What a machine draws from its batteries, while they discharge.
//!
//! A battery that takes in power tells nothing of what its machine uses, and one that is full
//! draws nothing while the mains feed all: only `Discharging` is a measurement.

use std::io;
use std::path::Path;

use crate::kernel_files::parse::{Row, number};
use crate::kernel_files::source::{Missing, Source, below, names, note, text};
use crate::readers::{Reader, owned};

const COLUMNS: [&str; 3] = [
    "battery.drawn_uw",
    "battery.discharging",
    "battery.energy_uj",
];
const FOLDER: &str = "/sys/class/power_supply";
/// Batteries of mice and headsets, which feed no machine.
const OF_DEVICES: &str = "Device";
/// Of millionths times millionths.
const MICRO: u128 = 1_000_000;
const SECONDS_OF_AN_HOUR: u128 = 3600;

/// All batteries of the machine together.
struct Batteries {
    columns: Vec<String>,
    all: Vec<Battery>,
}

struct Battery {
    status: Source,
    power_uw: Measure,
    energy_uwh: Measure,
}

/// What a driver tells itself, or as electricity and voltage, or not at all.
struct Measure {
    itself: Option<Source>,
    electricity: Option<Source>,
    voltage: Option<Source>,
}

#[derive(Clone, Copy, PartialEq)]
enum Status {
    Discharging,
    Charging,
    Resting,
}

impl Reader for Batteries {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn read(&mut self, row: &mut Row) {
        let states: Option<Vec<Status>> = self.all.iter_mut().map(Battery::status).collect();
        row[2] = self.all.iter_mut().map(Battery::energy_uj).sum();
        let Some(states) = states else {
            return;
        };
        let charging = states.contains(&Status::Charging);
        let feeding = |state: &Status| !charging && *state == Status::Discharging;
        row[1] = Some(states.iter().filter(|state| feeding(state)).count() as u64);
        if row[1] > Some(0) {
            let pairs = self.all.iter_mut().zip(&states);
            row[0] = pairs
                .filter(|(_, state)| feeding(state))
                .map(|(battery, _)| battery.power_uw.read())
                .sum();
        }
    }
}

impl Battery {
    fn open(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            status: Source::open(&folder.join("status"))?,
            power_uw: Measure::open(folder, "power_now", "current_now"),
            energy_uwh: Measure::open(folder, "energy_now", "charge_now"),
        })
    }

    fn status(&mut self) -> Option<Status> {
        Some(match self.status.read().ok()?.trim_ascii() {
            b"Discharging" => Status::Discharging,
            b"Charging" => Status::Charging,
            _ => Status::Resting,
        })
    }

    fn energy_uj(&mut self) -> Option<u64> {
        let energy_uwh = u128::from(self.energy_uwh.read()?);
        u64::try_from(energy_uwh * SECONDS_OF_AN_HOUR).ok()
    }
}

impl Measure {
    fn open(folder: &Path, itself: &str, electricity: &str) -> Self {
        let source = |name: &str| Source::open(&folder.join(name)).ok();
        Self {
            itself: source(itself),
            electricity: source(electricity),
            voltage: source("voltage_now"),
        }
    }

    fn is_there(&self) -> bool {
        self.itself.is_some() || (self.electricity.is_some() && self.voltage.is_some())
    }

    fn read(&mut self) -> Option<u64> {
        if let Some(itself) = &mut self.itself {
            return size(itself);
        }
        let micro_micro = u128::from(size(self.electricity.as_mut()?)?)
            * u128::from(size(self.voltage.as_mut()?)?);
        u64::try_from(micro_micro / MICRO).ok()
    }
}

/// Some drivers tell what flows out below zero.
fn size(source: &mut Source) -> Option<u64> {
    let value = source.read().ok()?.trim_ascii();
    number(value.strip_prefix(b"-").unwrap_or(value))
}

/// The reader, if the machine has a battery that tells what is drawn from it.
pub(crate) fn open(root: &Path, missing: &mut Missing) -> Option<Box<dyn Reader>> {
    let folder = below(root, FOLDER);
    let mut all = Vec::new();
    for name in names(&folder) {
        let folder = folder.join(name);
        if is_battery(&folder) {
            match Battery::open(&folder) {
                Ok(battery) => all.push(battery),
                Err(error) => note(missing, "battery", &folder.join("status"), &error),
            }
        }
    }
    if all.is_empty() {
        let nothing = io::Error::new(io::ErrorKind::NotFound, "no battery there to read");
        note(missing, "battery", &folder, &nothing);
        return None;
    }
    let mut batteries = Batteries {
        columns: owned(&COLUMNS),
        all,
    };
    batteries.name_what_is_not_reported(missing);
    Some(Box::new(batteries))
}

impl Batteries {
    /// At the start; what changes later shows in `battery.discharging`.
    fn name_what_is_not_reported(&mut self, missing: &mut Missing) {
        let mut row = [None; COLUMNS.len()];
        self.read(&mut row);
        if !self.all.iter().any(|battery| battery.power_uw.is_there()) {
            missing.insert(
                COLUMNS[0].to_owned(),
                "no battery tells its power".to_owned(),
            );
        } else if row[1] == Some(0) {
            let reason = "no battery discharges: what one takes in is not what is used";
            missing.insert(COLUMNS[0].to_owned(), reason.to_owned());
        }
        if row[2].is_none() {
            missing.insert(
                COLUMNS[2].to_owned(),
                "no battery tells its energy".to_owned(),
            );
        }
    }
}

fn is_battery(folder: &Path) -> bool {
    let says = |file: &str, what: &str| text(&folder.join(file)).as_deref() == Some(what);
    says("type", "Battery") && !says("scope", OF_DEVICES) && !says("present", "0")
}

#[cfg(test)]
#[path = "battery_tests.rs"]
mod tests;
