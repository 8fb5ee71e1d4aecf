use super::*;

/// A machine with these batteries, each with its files.
fn machine(batteries: &[(&str, &[(&str, &str)])]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, files) in batteries {
        for (file, content) in [("type", "Battery")].iter().chain(*files) {
            write(root.path(), name, file, content);
        }
    }
    root
}

fn write(root: &Path, name: &str, file: &str, content: &str) {
    let folder = below(root, FOLDER).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(file), format!("{content}\n")).unwrap();
}

/// The row of this machine now, and what is missing.
fn read(root: &Path) -> ([Option<u64>; 3], Missing) {
    let mut missing = Missing::new();
    let mut row = [None; 3];
    if let Some(mut reader) = open(root, &mut missing) {
        reader.read(&mut row);
    }
    (row, missing)
}

#[test]
fn a_battery_that_discharges_tells_what_is_drawn_and_what_is_left() {
    let files = [
        ("status", "Discharging"),
        ("power_now", "7500000"),
        ("energy_now", "40000000"),
    ];
    let root = machine(&[("BAT0", &files)]);
    let (row, missing) = read(root.path());
    assert_eq!(row, [Some(7_500_000), Some(1), Some(144_000_000_000)]);
    assert!(missing.is_empty());
}

#[test]
fn power_is_current_times_voltage_where_it_is_not_reported_itself() {
    let files = [
        ("status", "Discharging"),
        ("current_now", "-500000"),
        ("voltage_now", "12000000"),
        ("charge_now", "2000000"),
    ];
    let root = machine(&[("BAT1", &files)]);
    let (row, _) = read(root.path());
    assert_eq!(row[0], Some(6_000_000), "0.5 A at 12 V");
    assert_eq!(row[2], Some(86_400_000_000), "2 Ah at 12 V");
}

#[test]
fn a_battery_that_charges_or_is_full_is_no_measurement_of_what_is_used() {
    for status in ["Charging", "Full", "Not charging", "Unknown"] {
        let root = machine(&[("BAT0", &[("status", status), ("power_now", "9000000")])]);
        let (row, missing) = read(root.path());
        assert_eq!(row[..2], [None, Some(0)], "{status}");
        assert!(missing["battery.drawn_uw"].contains("no battery discharges"));
    }
}

#[test]
fn it_is_seen_when_the_mains_come_and_go() {
    let root = machine(&[("BAT0", &[("status", "Discharging"), ("power_now", "5")])]);
    let mut reader = open(root.path(), &mut Missing::new()).unwrap();
    for (status, drawn) in [("Charging", None), ("Discharging", Some(5))] {
        write(root.path(), "BAT0", "status", status);
        let mut row = [None; 3];
        reader.read(&mut row);
        assert_eq!(row[0], drawn);
    }
}

#[test]
fn of_several_batteries_those_that_discharge_are_added_unless_one_charges() {
    let first = [("status", "Discharging"), ("power_now", "3000000")];
    let mut second = [("status", "Discharging"), ("power_now", "4000000")];
    let drawn = |second: &[(&str, &str)]| {
        let root = machine(&[("BAT0", &first), ("BAT1", second)]);
        read(root.path()).0[0]
    };
    assert_eq!(drawn(&second), Some(7_000_000));
    second[0].1 = "Not charging";
    assert_eq!(drawn(&second), Some(3_000_000));
    second[0].1 = "Charging";
    assert_eq!(drawn(&second), None);
}

#[test]
fn a_battery_that_tells_no_power_is_named_and_never_zero() {
    let root = machine(&[("BAT0", &[("status", "Discharging"), ("energy_now", "1")])]);
    let (row, missing) = read(root.path());
    assert_eq!(row, [None, Some(1), Some(3600)]);
    assert_eq!(missing["battery.drawn_uw"], "no battery tells its power");
}

#[test]
fn a_machine_without_a_battery_of_its_own_says_so() {
    let mouse = [
        ("status", "Discharging"),
        ("scope", "Device"),
        ("power_now", "1"),
    ];
    let empty = [
        ("status", "Discharging"),
        ("present", "0"),
        ("power_now", "1"),
    ];
    let mains = [("type", "Mains"), ("online", "1")];
    for files in [&mouse[..], &empty[..], &mains[..]] {
        let root = machine(&[("hidpp_battery_0", files)]);
        let (row, missing) = read(root.path());
        assert_eq!(row, [None; 3]);
        assert!(missing["battery"].contains("no battery there to read"));
    }
}
