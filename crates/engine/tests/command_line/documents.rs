//! What the binary prints for machines.

use std::path::Path;

use steelyard_wire::facts::Facts;
use steelyard_wire::sample::Samples;

use crate::{engine, stdout};

#[test]
fn committed_schemas_are_those_the_engine_writes() {
    let fresh = tempfile::tempdir().unwrap();
    let folder = fresh.path().to_str().unwrap();
    assert!(engine(&["schema", "--out", folder]).status.success());
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let mut count = 0;
    for entry in std::fs::read_dir(fresh.path()).unwrap().flatten() {
        let written = std::fs::read_to_string(entry.path()).unwrap();
        let kept = std::fs::read_to_string(committed.join(entry.file_name())).unwrap_or_default();
        let name = entry.file_name();
        // Not `assert_eq`: it would print both documents whole.
        assert!(
            written == kept,
            "{name:?} is not as committed: run `make schemas`"
        );
        count += 1;
    }
    assert!(count >= 6, "only {count} schemas");
}

#[test]
fn a_folder_that_is_not_there_is_refused_with_exit_code_3() {
    let output = engine(&["schema", "--out", "/nowhere/schemas"]);
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn facts_are_one_document() {
    let facts: Facts = serde_json::from_str(&stdout(&engine(&["facts", "--json"]))).unwrap();
    assert!(facts.values["kernel.release"].is_some());
}

#[test]
fn samples_are_one_document() {
    let arguments = [
        "sample",
        "--interval",
        "100ms",
        "--duration",
        "200ms",
        "--json",
    ];
    let samples: Samples = serde_json::from_str(&stdout(&engine(&arguments))).unwrap();
    assert!(samples.monotonic_ns.len() >= 2);
}
