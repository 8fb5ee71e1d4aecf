//! Facts of a machine: everything that could explain a difference and stays put during a trial.
//!
//! Names are dotted and stable: `docs/reference/facts.md` lists them. What a machine does not tell
//! is `None`; devices it does not have bring no names.

mod cpu;
mod devices;
mod limits;
mod system;

use std::collections::BTreeMap;
use std::path::Path;

use steelyard_wire::facts::Facts;

use crate::kernel_files::source::{below, text};

/// Facts so far, by dotted name.
type Values = BTreeMap<String, Option<String>>;

/// All facts of the machine whose `/` is at `root`.
pub fn collect(root: &Path) -> Facts {
    let mut values = Values::new();
    system::add(root, &mut values);
    cpu::add(root, &mut values);
    limits::add(root, &mut values);
    devices::add(root, &mut values);
    Facts { values }
}

/// Facts that are each the content of one file: name and path.
type Table = [(&'static str, &'static str)];

fn add_files(root: &Path, table: &Table, values: &mut Values) {
    for (name, path) in table {
        values.insert((*name).to_owned(), text(&below(root, path)));
    }
}

/// The choice in brackets of `always [madvise] never`; the whole text without brackets.
fn chosen(choices: &str) -> String {
    choices
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or_else(|| choices.to_owned(), |(choice, _)| choice.to_owned())
}

/// Value behind the first `KEY<separator>` line.
fn keyed_text(content: &str, key: &str, separator: char) -> Option<String> {
    content.lines().find_map(|line| {
        let (name, value) = line.split_once(separator)?;
        let value = value.trim().trim_matches('"');
        (name.trim() == key && !value.is_empty()).then(|| value.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_one_stands_in_brackets() {
        assert_eq!(chosen("always [madvise] never"), "madvise");
        assert_eq!(chosen("none"), "none");
    }

    #[test]
    fn an_empty_machine_tells_nothing_and_nothing_fails() {
        let root = tempfile::tempdir().unwrap();
        let facts = collect(root.path());
        assert_eq!(facts.values["kernel.release"], None);
        assert_eq!(facts.values["cpu.model"], None);
        assert_eq!(facts.values["memory.total_bytes"], None);
    }

    #[test]
    fn this_machine_tells_its_kernel_cpu_and_memory() {
        let facts = collect(Path::new("/"));
        for name in [
            "kernel.release",
            "cpu.count",
            "memory.total_bytes",
            "boot_id",
        ] {
            assert!(facts.values[name].is_some(), "{name}");
        }
    }

    #[test]
    fn two_looks_at_a_quiet_machine_agree() {
        assert_eq!(collect(Path::new("/")), collect(Path::new("/")));
    }

    #[test]
    fn every_name_is_in_the_reference() {
        const PAGE: &str = include_str!("../../../../docs/reference/facts.md");
        let root = tempfile::tempdir().unwrap();
        for name in collect(root.path()).values.keys() {
            assert!(
                PAGE.contains(&format!("`{name}`")),
                "{name} is not in facts.md"
            );
        }
    }
}
