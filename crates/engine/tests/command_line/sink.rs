//! The binary as a sink, for tests of what talks to it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

/// A running sink; dropping it ends it.
pub(crate) struct Sink {
    process: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) address: String,
}

impl Sink {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_steelyard-engine"))
            .arg("sink")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let address = ready["listening"].as_str().unwrap().to_owned();
        Self {
            process,
            stdout,
            address,
        }
    }

    /// SIGTERM; the counters it prints.
    pub(crate) fn stop(mut self) -> Value {
        let pid = self.process.id().to_string();
        let kill = format!("kill {pid}");
        Command::new("sh").args(["-c", &kill]).status().unwrap();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        assert!(self.process.wait().unwrap().success());
        serde_json::from_str(&rest).unwrap()
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
