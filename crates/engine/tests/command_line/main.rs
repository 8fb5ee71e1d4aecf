//! The binary on a command line: help, usage errors, schemas, load and sink on their own.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod documents;
mod help;
mod kernel;
mod load;
mod probe;
mod reference;
mod sink;

use std::process::{Command, Output};

/// Runs the engine to its end.
fn engine(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_steelyard-engine"))
        .args(arguments)
        .env("COLUMNS", "100")
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
