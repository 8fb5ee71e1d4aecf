//! `kernel` on its own: figures, documents, refusals.

use serde_json::Value;

use crate::{engine, stderr, stdout};

fn document(arguments: &[&str]) -> Value {
    let output = engine(arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

#[test]
fn a_linpack_document_has_every_repeat_and_its_residual() {
    let arguments = [
        "kernel", "linpack", "--size", "60", "--size", "100", "--repeat", "2", "--json",
    ];
    let result = document(&arguments);
    assert_eq!(result["schema"], "steelyard.kernel.linpack/1");
    assert_eq!(result["valid"], true);
    let sizes: Vec<&Value> = result["solutions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| &s["size"])
        .collect();
    assert_eq!(sizes, [60, 100]);
    let repeats = result["solutions"][1]["repeats"].as_array().unwrap();
    assert_eq!(repeats.len(), 2);
    assert!(
        repeats
            .iter()
            .all(|r| r["scaled_residual"].as_f64().unwrap() < 16.0)
    );
}

#[test]
fn the_reference_kernel_reports_the_rate_of_each_part_and_leaves_nothing_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let result = document(&[
        "kernel",
        "reference",
        "--time",
        "30ms",
        "--folder",
        place,
        "--json",
    ]);
    for part in ["cpu_per_s", "memory_bytes_per_s"] {
        assert!(result[part].as_f64().unwrap() > 0.0);
    }
    assert!(result["disk_writes_per_s"].is_f64() || result["disk_refused"].is_string());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_ram_document_names_the_counting_and_the_level_of_each_block() {
    let arguments = [
        "kernel",
        "ram",
        "--element",
        "float",
        "--operation",
        "read",
        "--operation",
        "triad",
    ];
    let more = [
        "--largest-block",
        "2KiB",
        "--array",
        "256KiB",
        "--repeat",
        "1",
        "--json",
    ];
    let result = document(&[&arguments[..], &more[..]].concat());
    assert_eq!(result["counting"], "without_write_allocate");
    assert_eq!(result["valid"], true);
    let passes = result["passes"].as_array().unwrap();
    assert_eq!(passes.len(), 3);
    assert!(
        passes
            .iter()
            .all(|p| p["bytes_per_s"]["median"].as_f64().unwrap() > 0.0)
    );
    let caches_known = !result["host"]["caches"].as_array().unwrap().is_empty();
    assert!(
        passes
            .iter()
            .all(|p| p["fits_in"].is_string() == caches_known)
    );
}

#[test]
fn text_for_people_names_the_machine_and_the_figures() {
    let text = stdout(&engine(&[
        "kernel", "linpack", "--size", "50", "--repeat", "1",
    ]));
    assert!(
        text.contains("GFLOP/s") && text.contains("thread"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_computed_is_refused_with_a_hint() {
    let refused = [
        (["kernel", "linpack", "--threads", "0"], 2),
        (["kernel", "linpack", "--size", "0"], 2),
        (["kernel", "linpack", "--size", "1000000"], 3),
        (["kernel", "ram", "--repeat", "0"], 2),
        (["kernel", "ram", "--array", "100000GiB"], 3),
    ];
    for (arguments, code) in refused {
        let output = engine(&arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        let message = stderr(&output);
        assert!(
            message.contains("error: ") && message.contains("hint: "),
            "{message}"
        );
        assert!(output.stdout.is_empty());
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_run_with_what_was_measured_and_its_own_code() {
    use std::process::{Command, Stdio};
    let child = Command::new(env!("CARGO_BIN_EXE_steelyard-engine"))
        .args([
            "kernel",
            "linpack",
            "--size",
            "50",
            "--repeat",
            "4000000000",
            "--json",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    // Until the signal is watched for, it would end the process without a word.
    let watched = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let caught = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))
            .unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << 1) != 0
    };
    while !watched() {
        std::thread::yield_now();
    }
    assert!(
        Command::new("sh")
            .args(["-c", &format!("kill -s INT {pid}")])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["interrupted"], true);
    assert_eq!(result["valid"], false);
}
