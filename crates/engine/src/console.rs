//! What people see besides data: complaints, progress, exit codes.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use signal_hook::consts::{SIGINT, SIGTERM};
use steelyard_wire::agent::{Failure, FailureKind};

use crate::failure::{failure, refused};

/// How a mode ends.
pub(crate) type Outcome = Result<ExitCode, Failure>;

/// The figures are not to be used.
pub(crate) const NOT_TO_BE_USED: u8 = 1;
/// The author of the command line can act.
const WRONG_USAGE: u8 = 2;
/// The operator of the machines can act.
const REFUSED: u8 = 3;
/// Ended by Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

/// Prints message and hint on stderr.
pub(crate) fn complain(failure: &Failure) -> ExitCode {
    eprintln!("error: {}", failure.message);
    if let Some(hint) = &failure.hint {
        eprintln!("hint: {hint}");
    }
    ExitCode::from(exit_code(failure.kind))
}

fn exit_code(kind: FailureKind) -> u8 {
    match kind {
        FailureKind::BadRequest => WRONG_USAGE,
        FailureKind::Cancelled => INTERRUPTED,
        _ => REFUSED,
    }
}

/// Writes data on stdout. A reader who has gone (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    put(text).map(|_| ())
}

/// As [`print`]; says whether there still is a reader.
pub(crate) fn put(text: &str) -> Result<bool, Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(refused("write to stdout", &error)),
    }
}

/// One document, on one line.
pub(crate) fn document(of: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(of)
        .map(|text| text + "\n")
        .map_err(|error| failure(FailureKind::System, error.to_string(), None))
}

/// Set by the first Ctrl-C or SIGTERM; a second Ctrl-C ends the process at once.
pub(crate) fn interrupt_flag() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    let register = || -> std::io::Result<()> {
        let (code, seen) = (i32::from(INTERRUPTED), Arc::clone(&flag));
        signal_hook::flag::register_conditional_shutdown(SIGINT, code, seen)?;
        signal_hook::flag::register(SIGINT, Arc::clone(&flag))?;
        signal_hook::flag::register(SIGTERM, Arc::clone(&flag))?;
        Ok(())
    };
    register().map_err(|error| refused("watch for Ctrl-C", &error))?;
    Ok(flag)
}

/// Whether somebody looks at stderr.
pub(crate) fn somebody_looks() -> bool {
    std::io::stderr().is_terminal()
}

/// Replaces the progress line.
pub(crate) fn show_progress(line: &str) {
    eprint!("\r\x1b[2K{line}");
}

/// Removes the progress line.
pub(crate) fn clear_progress() {
    eprint!("\r\x1b[2K");
}
