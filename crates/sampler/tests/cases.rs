//! Real kernel output, read as a whole machine: `tests/cases/sampler/CASE` stands for `/`.
//!
//! `expected.json` of a case holds columns with their value (`null`: the kernel has none) and the
//! columns and parts of reasons that must be missing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use steelyard_sampler::Sampler;
use steelyard_wire::sample::{SampleJob, Samples, ThreadsJob};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/sampler");
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.join("expected.json").exists())
        .collect()
}

fn read_once(root: &Path) -> Samples {
    let job = SampleJob {
        interval_ms: 60_000,
        processes: BTreeMap::from([("service".to_owned(), 42)]),
        disks: BTreeMap::new(),
        cgroups: BTreeMap::from([("instance".to_owned(), "/sys/fs/cgroup/box".to_owned())]),
        threads: BTreeMap::from([("instance.vcpu".to_owned(), threads_of(42))]),
    };
    Sampler::start_at(root, &job).unwrap().stop().unwrap()
}

#[test]
fn every_case_gives_the_columns_it_expects() {
    let cases = cases();
    assert!(cases.len() >= 2, "the cases are gone");
    for case in cases {
        let samples = read_once(&case);
        let expected = std::fs::read_to_string(case.join("expected.json")).unwrap();
        let expected: serde_json::Value = serde_json::from_str(&expected).unwrap();
        for (column, value) in expected["columns"].as_object().unwrap() {
            let seen = &samples.columns[column][0];
            assert_eq!(*seen, value.as_u64(), "{column} of {}", case.display());
        }
        for (key, part) in expected["missing"].as_object().unwrap() {
            let reason = &samples.missing[key];
            assert!(reason.contains(part.as_str().unwrap()), "{key}: {reason}");
        }
    }
}

#[test]
fn every_column_has_a_cell_for_every_row() {
    for case in cases() {
        let samples = read_once(&case);
        assert_eq!(
            samples.monotonic_ns.len(),
            2,
            "one row at the start, one at the end"
        );
        for (name, cells) in &samples.columns {
            assert_eq!(cells.len(), 2, "{name}");
        }
    }
}

#[test]
fn a_column_without_figures_is_always_explained() {
    for case in cases() {
        let samples = read_once(&case);
        for (name, cells) in &samples.columns {
            let explained = samples.missing.keys().any(|key| name.starts_with(key));
            assert!(
                cells[0].is_some() || explained,
                "{name} of {}",
                case.display()
            );
        }
    }
}

#[test]
fn every_column_is_in_the_reference() {
    const PAGE: &str = include_str!("../../../docs/reference/samples.md");
    let job = SampleJob {
        interval_ms: 60_000,
        processes: BTreeMap::from([("service".to_owned(), std::process::id())]),
        disks: BTreeMap::from([("store".to_owned(), env!("CARGO_MANIFEST_DIR").to_owned())]),
        cgroups: BTreeMap::from([("instance".to_owned(), some_cgroup())]),
        threads: BTreeMap::from([("instance.vcpu".to_owned(), threads_of(std::process::id()))]),
    };
    let samples = Sampler::start(&job).unwrap().stop().unwrap();
    for column in samples.columns.keys() {
        let general = general_name(column);
        assert!(
            PAGE.contains(&format!("`{general}`")),
            "{general} is not in samples.md"
        );
    }
}

/// The first thread of a process.
fn threads_of(process: u32) -> ThreadsJob {
    let ids = vec![process];
    ThreadsJob { process, ids }
}

/// The whole machine's group.
fn some_cgroup() -> String {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let mut words = mounts
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>());
    let accounts = |words: &Vec<&str>| words[2] == "cgroup2" || words[3].contains("cpuacct");
    words.find(accounts).unwrap()[1].to_owned()
}

/// The name with a placeholder for what differs between machines and jobs.
fn general_name(column: &str) -> String {
    let places = [
        ("process", "NAME"),
        ("disk", "NAME"),
        ("cgroup", "NAME"),
        ("threads", "NAME"),
        ("net", "DEVICE"),
        ("queue", "DEVICE"),
        ("temperature", "SENSOR"),
        ("power", "ZONE"),
    ];
    let family = column.split('.').next().unwrap();
    let last = column.rsplit('.').next().unwrap();
    let place = places.iter().find(|(name, _)| *name == family);
    place.map_or(column.to_owned(), |(_, place)| {
        format!("{family}.{place}.{last}")
    })
}
